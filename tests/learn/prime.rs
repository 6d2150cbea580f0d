//! PPO ratios to an older copy of the parameters, in place of the recorded policy.

use crate::host::{Columns, Host, Tune, chunks, config, record, recurrent, same_in_parts, spaces, train};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner};
use rlcore::rng::Rng;
use rlcore::space::{Element, Space};

fn primed(prime_interval: u32) -> Config {
    Config { num_envs: 5, num_steps: 9, num_minibatches: 1, num_epochs: 1, prime_interval, ..config() }
}

/// Learners of all spaces and recurrent layers, with copies refreshed every `prime_interval` updates.
fn hosts(prime_interval: u32, num_chunks: u32) -> impl Iterator<Item = Host> {
    let plain = spaces().into_iter().map(|spaces| (None, spaces));
    let recurrent = recurrent().into_iter().map(Some).zip(spaces().into_iter().cycle().skip(1));
    plain.chain(recurrent).enumerate().map(move |(k, (layer, (obs, action)))| {
        let config = Config {
            num_chunks,
            num_layers: layer.is_some().into(),
            sequence_len: if layer.is_some() { 3 } else { 0 },
            use_action_mask: u32::from(action.kind == Element::I32),
            value_clip: [0.0, 0.2][k % 2],
            overlap: (k / 2 % 2) as u32,
            ..primed(prime_interval).rollout(if layer.is_some() { 27 } else { 9 }, 3, 2)
        };
        Host::with(&config, layer.as_slice(), &obs, &action)
    })
}

/// Parameters randomly moved by up to 0.15.
fn moved(params: &[f32], seed: u64) -> Vec<f32> {
    let mut rng = Rng::seeded(seed);
    params.iter().map(|x| x + 0.3 * (rng.uniform_f32() - 0.5)).collect()
}

/// Outputs of two networks of one hidden layer of 7 for 6 numbers: the log-probabilities of 4 choices, and a value.
fn says(params: &[f64], obs: &[f32]) -> ([f64; 4], f64) {
    let mut rest = params;
    let mut layer = |x: &[f64], units: usize| -> Vec<f64> {
        let (weights, after) = rest.split_at(x.len() * units);
        let (bias, after) = after.split_at(units);
        rest = after;
        (0..units).map(|i| bias[i] + (0..x.len()).map(|k| weights[i * x.len() + k] * x[k]).sum::<f64>()).collect()
    };
    let x: Vec<f64> = obs.iter().map(|x| f64::from(*x)).collect();
    let tanh = |x: Vec<f64>| -> Vec<f64> { x.iter().map(|x| x.tanh()).collect() };
    let hidden = tanh(layer(&x, 7));
    let logits = layer(&hidden, 4);
    let hidden = tanh(layer(&x, 7));
    let value = layer(&hidden, 1)[0];
    let norm = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
    ([0, 1, 2, 3].map(|i| logits[i] - norm), value)
}

/// The loss in f64 as in the specification: the whole squared value error, and ratios to `prime`.
fn loss(params: &[f64], prime: &[f64], c: &Config, columns: &Columns) -> f64 {
    let m = columns.advantage.len();
    let crate::host::Array::I32(choice) = &columns.action else { panic!("choices") };
    let mut sum = 0.0;
    for i in 0..m {
        let obs = &columns.obs[6 * i..][..6];
        let ((now, value), (then, _)) = (says(params, obs), says(prime, obs));
        let (advantage, target) = (f64::from(columns.advantage[i]), f64::from(columns.value_target[i]));
        let (ratio, clip) = ((now[choice[i] as usize] - then[choice[i] as usize]).exp(), f64::from(c.clip));
        let surrogate = (ratio * advantage).min(ratio.clamp(1.0 - clip, 1.0 + clip) * advantage);
        let entropy: f64 = -now.iter().map(|x| x.exp() * x).sum::<f64>();
        sum += -surrogate + (target - value).powi(2) - f64::from(c.entropy_coef) * entropy;
    }
    sum / m as f64
}

/// Update 3, counted from 0, with the copy made by update 2: the gradient is the slope of the loss in f64.
#[test]
fn gradients_are_the_slopes_of_the_loss_with_an_older_policy() {
    let config = Config { value_coef: 2.0, normalize_advantage: 0, num_chunks: 3, learning_rate: 0.1, ..primed(2) };
    let mut h = Host::new(&config, &Space::unbounded(6), &Space::discrete(&[4]));
    let mut rng = Rng::seeded(5);
    train(&mut h, &mut rng, 2);
    let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|x| f64::from(*x)).collect() };
    let prime = wide(h.view().params());
    train(&mut h, &mut rng, 1);
    let last = record(&mut h, &mut rng);
    h.learner().learn_begin(last.get(), None).unwrap();
    let (columns, params) = (Columns::read(&mut h), wide(h.view().params()));
    let (grads, len) = (chunks(&h, 0, 3), h.view().grads_len());
    let at = |i: usize, by: f64| {
        let mut params = params.clone();
        params[i] += by;
        loss(&params, &prime, &config, &columns)
    };
    let (mut clipped, mut largest) = (0, 0.0f64);
    for i in 0..params.len() {
        let slope = (at(i, 1e-6) - at(i, -1e-6)) / 2e-6;
        let sum: f32 = grads[i..].iter().step_by(len).sum();
        assert!((f64::from(sum) - slope).abs() < 1e-5, "parameter {i}: {sum}, {slope}");
        largest = largest.max(slope.abs());
    }
    assert!(largest > 0.1);
    let crate::host::Array::I32(choice) = &columns.action else { panic!("choices") };
    let (mut kl, m) = (0.0, choice.len());
    for (i, choice) in choice.iter().enumerate() {
        let obs = &columns.obs[6 * i..][..6];
        let log_ratio = says(&params, obs).0[*choice as usize] - says(&prime, obs).0[*choice as usize];
        kl += (log_ratio.exp() - 1.0 - log_ratio) / m as f64;
        clipped += usize::from((log_ratio.exp() - 1.0).abs() > 0.2);
    }
    let stats = h.learner().learn(None, None, 0).unwrap();
    assert!((f64::from(stats.approx_kl) - kl).abs() < 1e-6 && kl > 1e-3, "{kl}");
    assert!((stats.clip_fraction - clipped as f32 / m as f32).abs() < 1e-6 && clipped > 0, "{clipped}");
}

/// The log-probabilities of the copy replace any in the rollout, to the bit, as if they had been recorded.
#[test]
fn the_copy_s_log_probabilities_take_the_place_of_the_recorded_ones() {
    for (with, without) in hosts(1, 7).zip(hosts(0, 7)) {
        let mut recorder = without.clone();
        let last = record(&mut recorder, &mut Rng::seeded(3));
        recorder.learner().learn_begin(last.get(), None).unwrap();
        let columns = Columns::read(&mut recorder);
        let other = Columns { log_prob: vec![-0.5; columns.log_prob.len()], ..columns.clone() };
        let params = moved(without.view().params(), 8);
        let grads = |h: &Host, columns: &Columns| {
            let mut h = h.clone();
            h.learner().learn_batch(&columns.batch()).unwrap();
            h.learner().write_params(&params).unwrap();
            chunks(&h, 0, 7)
        };
        let (own, wanted) = (grads(&with, &other), grads(&without, &columns));
        assert!(own == wanted && own == grads(&with, &columns) && own != grads(&without, &other));
    }
}

/// With one minibatch, ratios are 1 in every update that refreshes the copy, and in no other.
#[test]
fn copies_are_refreshed_in_time() {
    for (interval, noisy) in [(1, 0), (2, 0), (3, 0), (1, 1)] {
        let config = Config { noisy, ..primed(interval) };
        let mut h = Host::new(&config, &Space::unbounded(6), &Space::unbounded(2));
        let mut rng = Rng::seeded(7);
        for update in 0..9 {
            // A dropped update counts as begun.
            if update == 4 {
                let _ = record(&mut h, &mut rng);
                h.learner().learn_drop().unwrap();
            }
            let last = record(&mut h, &mut rng);
            let stats = h.learner().learn(Some(last.get()), None, 0).unwrap();
            let fresh = update % interval == 0;
            let same = (stats.approx_kl, stats.clip_fraction) == (0.0, 0.0);
            assert!(same == fresh && (fresh || stats.approx_kl > 1e-5), "{interval}: update {update}, {stats:?}");
        }
    }
}

#[test]
fn any_parts_and_threads_leave_the_same_bytes() {
    hosts(2, 7).for_each(|whole| same_in_parts(whole, 3, "an older copy"));
}

#[test]
fn copies_that_cannot_be_are_refused() {
    for (config, action) in [(primed(2), Space::discrete(&[3])), (primed(2), Space::unbounded(2))] {
        let mut h = Host::new(&config, &Space::unbounded(3), &action);
        let mut rng = Rng::seeded(2);
        train(&mut h, &mut rng, 1);
        let (words, params): (&[f32], _) = (bytemuck::cast_slice(&h.block), h.view().params().to_vec());
        assert_eq!(words.windows(params.len()).filter(|x| *x == params).count(), 1, "the copy is older");
        let last = record(&mut h, &mut rng);
        h.learner().learn_begin(last.get(), None).unwrap();
        h.learner().learn(None, None, 0).unwrap();
        let last = record(&mut h, &mut rng);
        let params = h.view().params().to_vec();
        h.learner().learn_begin(last.get(), None).unwrap();
        let words: &[f32] = bytemuck::cast_slice(&h.block);
        let places: Vec<usize> =
            (0..words.len() - params.len()).filter(|i| words[*i..][..params.len()] == params).collect();
        let [own, copy] = places[..] else { panic!("{places:?}") };
        assert!(own < copy);
        let len = params.len();
        let spoilt = |at: usize, bits: u32| {
            let mut h = h.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut h.block)[at] = bits;
            let error = Learner::attach(bytemuck::cast_slice_mut(&mut h.block)).err();
            error.map(|e| e.kind)
        };
        for at in [copy, copy + 5, copy + len - 1] {
            for bad in [f32::NAN, f32::INFINITY, 2e6, -2e6] {
                assert_eq!(spoilt(at, bad.to_bits()), Some(Kind::Image), "{bad}");
            }
            assert_eq!(spoilt(at, 0.5f32.to_bits()), None);
        }
        // Log deviations, which are behind the policy's layers.
        if action.kind == Element::F32 {
            assert_eq!(spoilt(copy + 7 * 3 + 7 + 7 * 2 + 2, 2.5f32.to_bits()), Some(Kind::Image));
        }
        assert_eq!(
            [0, 1, 2, u32::MAX].map(|age| spoilt((copy + len).next_multiple_of(16), age)),
            [None, None, Some(Kind::Image), Some(Kind::Image)]
        );
    }
    let size = |config: &Config| Learner::size(config, &[], &Space::unbounded(3), &Space::discrete(&[3]));
    let bad = [(
        Config { algorithm: Algorithm::A2c as u32, ..primed(1) },
        "prime_interval is set to 1, which is read only by PPO",
    )];
    for (config, words) in bad {
        let error = size(&config).unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
    }
    assert!(size(&primed(1)).unwrap() > size(&primed(0)).unwrap());
}
