//! Learners with noisy layers: one noise for acting and learning, the same bits in any parts, and exported policies.

#![cfg(all(feature = "noisy", feature = "off_policy"))]

use crate::host::{Host, Tune, attach, chunks, config, learn_all, made, open, policy, record, spaces, threads, train};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, Layer, NOISY};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

fn noisy() -> Config {
    Config { noisy: 1, num_chunks: 7, num_steps: 32, num_minibatches: 2, ..config() }
}

/// The first noise of a learner of this seed.
fn first_noise(seed: u64, len: usize) -> Vec<f32> {
    let mut noise = vec![0.0; len];
    Rng::stream(seed, 2 << 32).fill_normal(&mut noise);
    noise.iter_mut().for_each(|x| *x = x.signum() * x.abs().sqrt());
    noise
}

/// Before the first step of an update the networks reproduce their recorded outputs for every transition.
#[test]
fn learning_sees_the_noise_that_acted() {
    for (obs, action) in spaces() {
        for layers in [&[][..], &[Layer { flags: NOISY, ..Layer::dense(20, Activation::Tanh) }]] {
            let config = Config { num_layers: layers.len() as u32, num_minibatches: 1, ..noisy() };
            let (mut h, mut rng) = (Host::with(&config, layers, &obs, &action), Rng::seeded(5));
            for _ in 0..3 {
                let last = record(&mut h, &mut rng);
                let stats = h.learner().learn(Some(last.get()), None, 7).unwrap();
                assert_eq!((stats.approx_kl, stats.clip_fraction, stats.minibatches_left), (0.0, 0.0, 3));
                let stats = h.learner().learn(None, None, 0).unwrap();
                assert!(stats.approx_kl != 0.0);
            }
        }
    }
}

/// One draw of noise lasts for a rollout, the next rollout has another. Predictions use no noise and stay the same.
#[test]
fn noise_is_drawn_for_each_rollout_and_predictions_have_none() {
    let (obs_space, action) = (Space::unbounded(6), Space::discrete(&[4]));
    let config = Config { learning_rate: 0.0, ..noisy() };
    let (mut h, mut rng) = (Host::new(&config, &obs_space, &action), Rng::seeded(5));
    let obs = h.draw_obs(&mut rng);
    let (mut said, mut predicted) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        for _ in 0..4 {
            let (mut log_prob, mut entropy, mut choice) = (vec![0.0; h.n], vec![0.0; h.n], h.actions());
            h.learner().log_prob(obs.get(), None, Elements::I32(&[0; 4]), &mut log_prob, &mut entropy).unwrap();
            said.push(log_prob);
            let to = choice.get_mut();
            h.learner().predict(obs.get(), None, Recurrent::default(), Sampling::Greedy, to).unwrap();
            predicted.push(choice);
            let mut action = h.actions();
            h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
            h.learner().observe(None, &[0.0; 4], &[0; 4], &[0; 4], None, None).unwrap();
        }
        train(&mut h, &mut rng, 1);
    }
    let [first, .., last] = [&said[0], &said[4], &said[8]];
    assert!(said[..4].iter().all(|x| x == first) && said[8..].iter().all(|x| x == last));
    assert!(first != &said[4] && first != last);
    assert!(predicted.iter().all(|x| x == &predicted[0]));
}

/// The gradient of a deviation is the gradient of its mean times the noise.
#[test]
fn means_and_deviations_learn() {
    let (obs, action) = (Space::unbounded(6), Space::discrete(&[4]));
    let config = Config { num_hidden: 0, hidden_len: [0; 4], ..noisy() };
    let (mut h, mut rng) = (Host::new(&config, &obs, &action), Rng::seeded(5));
    let before = h.view().params().to_vec();
    let last = record(&mut h, &mut rng);
    h.learner().learn_begin(last.get(), None).unwrap();
    // Policy and value are one layer each, of 4 units and of 1: weights and biases, then their deviations.
    let noise = first_noise(config.seed, 6 + 4 + 6 + 1);
    let mut factors = Vec::new();
    for (read, made) in [(&noise[..6], &noise[6..10]), (&noise[10..16], &noise[16..])] {
        factors.extend(made.iter().flat_map(|made| read.iter().map(move |read| read * made)));
        factors.extend(made);
    }
    assert_eq!(before.len(), 2 * factors.len());
    let grads = chunks(&h, 2, 3);
    let (policy, rest) = grads.split_at(2 * 28);
    let mut factor = factors.iter();
    let mut nonzero = 0;
    for layer in [policy, &rest[..14]] {
        let (means, deviations) = layer.split_at(layer.len() / 2);
        for ((mean, deviation), factor) in means.iter().zip(deviations).zip(&mut factor) {
            assert!((mean * factor - deviation).abs() <= 1e-6 * mean.abs(), "{mean} {factor} {deviation}");
            nonzero += usize::from(*deviation != 0.0);
        }
    }
    assert!(nonzero > 30);
    h.learner().learn(None, None, 0).unwrap();
    let after = h.view().params().to_vec();
    assert!(before.iter().zip(&after).filter(|(a, b)| a != b).count() > 65, "all but what noise of 0 keeps");
}

/// Slices, threads and copies in the middle change no bit.
#[test]
fn any_parts_leave_the_same_bytes() {
    for algorithm in [Algorithm::Ppo, Algorithm::A2c, Algorithm::Impala, Algorithm::Pqn] {
        let one = Config { num_epochs: 1, num_minibatches: 1, num_chunks: 4, ..noisy() };
        let config = match algorithm {
            Algorithm::Ppo => noisy(),
            _ => Config { algorithm: algorithm as u32, normalize_advantage: 0, ..one },
        };
        let (obs, action) = (Space::unbounded(6), Space::discrete(&[4]));
        let mut whole = Host::new(&config, &obs, &action);
        let mut parts: Vec<Host> = [1, 2, 3, 7].map(|_| whole.clone()).into();
        for update in 0..2 {
            let mut rng = Rng::seeded(update);
            let last = record(&mut whole, &mut rng);
            whole.learner().learn(Some(last.get()), None, 0).unwrap();
            for (part, h) in [1, 2, 3, 7].into_iter().zip(&mut parts) {
                let mut rng = Rng::seeded(update);
                let last = record(h, &mut rng);
                if part == 2 {
                    h.learner().learn_begin(last.get(), None).unwrap();
                    while h.learner().phase() == Phase::Learn {
                        let grads = threads(h, part);
                        h.learner().write_grads(0, config.num_chunks as usize, &grads).unwrap();
                        h.learner().learn_apply().unwrap();
                    }
                } else {
                    h.learner().learn(Some(last.get()), None, part as u32).unwrap();
                    while h.learner().phase() == Phase::Learn {
                        *h = h.clone();
                        h.learner().learn(None, None, part as u32).unwrap();
                    }
                }
                assert!(h.block == whole.block, "{algorithm:?}, parts of {part}, update {update}");
            }
        }
    }
}

/// The exported policy is the network of the means: as many bytes as without noise, and the actions of [`Learner::predict`].
#[test]
fn the_means_ship() {
    for (obs, action) in spaces() {
        let plain = Config { noisy: 0, ..noisy() };
        let (mut h, mut rng) = (Host::new(&noisy(), &obs, &action), Rng::seeded(7));
        let size = h.view().policy_size().unwrap();
        assert_eq!(size, Host::new(&plain, &obs, &action).view().policy_size().unwrap());
        train(&mut h, &mut rng, 2);
        let mut bytes = vec![0u64; size.div_ceil(8)];
        h.view().export(bytemuck::cast_slice_mut(&mut bytes)).unwrap();
        let policy = policy(&bytes);
        let mut scratch = vec![f32::NAN; policy.scratch_len(h.n).unwrap()];
        for _ in 0..5 {
            let (seen, mut own, mut shipped) = (h.draw_obs(&mut rng), h.actions(), h.actions());
            let (state, to) = (Recurrent::default(), own.get_mut());
            h.learner().predict(seen.get(), None, state, Sampling::Greedy, to).unwrap();
            let (state, to) = (Recurrent::default(), shipped.get_mut());
            policy.act_greedy(h.n, seen.get(), None, state, &mut scratch, to).unwrap();
            assert_eq!(own, shipped);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (obs, action, vector) = (Space::unbounded(6), Space::discrete(&[4]), Space::between(&[-1.0], &[1.0]));
    let layers = [Layer { flags: NOISY, ..Layer::dense(4, Activation::Tanh) }];
    let refused = |config: Config, layers: &[Layer], words: &str| {
        let action = if config.squash != 0 { &vector } else { &action };
        let done = match config.algorithm().is_off_policy() {
            true => Learner::size(&config, layers, &obs, action),
            false => Learner::size(&config, layers, &obs, action),
        };
        let error = done.unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{words}: {error}");
    };
    refused(Config { noisy: 2, ..noisy() }, &[], "noisy of 0 or 1");
    refused(Config { overlap: 1, ..noisy() }, &[], "overlap of 0 with noisy layers");
    let listed = Config { noisy: 0, num_layers: 1, overlap: 1, ..noisy() };
    refused(listed, &layers, "overlap of 0 with noisy layers");
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let config = Config::of(algorithm);
        refused(
            Config { noisy: 1, ..config },
            &[],
            "noisy is set to 1, which is read only by PPO, A2C, IMPALA, UNREAL, PQN and DQN",
        );
        refused(
            Config { num_layers: 1, ..config },
            &layers,
            "an algorithm other than TD3, SAC and stream algorithms with noisy layers",
        );
    }

    let mut h = Host::new(&Config { num_epochs: 1, ..noisy() }, &obs, &action);
    let last = record(&mut h, &mut Rng::seeded(1));
    h.learner().learn_begin(last.get(), None).unwrap();
    let columns = crate::host::Columns::read(&mut h);
    h.learner().learn_drop().unwrap();
    let before = h.block.clone();
    let error = h.learner().learn_batch(&columns.batch()).unwrap_err();
    assert!(error.kind == Kind::Config && error.to_string().contains("no noisy layers, unless with IMPALA"), "{error}");
    assert!(h.block == before);

    // V-trace corrects for actions under another noise.
    let impala = Config { algorithm: Algorithm::Impala as u32, normalize_advantage: 0, num_chunks: 4, ..noisy() };
    let mut h = Host::new(&Config { num_minibatches: 1, ..impala }, &obs, &action);
    let last = record(&mut h, &mut Rng::seeded(1));
    h.learner().learn_begin(last.get(), None).unwrap();
    let columns = crate::host::Columns::read(&mut h);
    h.learner().learn_drop().unwrap();
    h.learner().learn_batch(&columns.batch()).unwrap();
    assert!(h.learner().learn(None, None, 0).unwrap().approx_kl != 0.0);
}

/// Noise, and the parameters of a noisy learner, are checked like the rest of a block.
#[test]
fn noise_that_cannot_be_is_refused() {
    let (obs, action) = (Space::unbounded(6), Space::discrete(&[4]));
    let noise = first_noise(1, 3);
    let dqn =
        Config { noisy: 1, num_hidden: 1, hidden_len: [8, 0, 0, 0], buffer_size: 200, ..Config::of(Algorithm::Dqn) };
    for config in [noisy(), dqn] {
        let mut block = made(&config, &[], &obs, &action);
        let words: &mut [f32] = bytemuck::cast_slice_mut(&mut block);
        let at = words.windows(3).position(|x| x.iter().zip(&noise).all(|(x, n)| (x - n).abs() < 1e-6)).unwrap();
        for (bad, good) in [(f32::NAN, false), (17.0, false), (f32::NEG_INFINITY, false), (-1.0, true)] {
            let words: &mut [f32] = bytemuck::cast_slice_mut(&mut block);
            words[at] = bad;
            let error = Learner::attach(bytemuck::cast_slice_mut(&mut block)).err();
            assert_eq!(error.map(|e| e.kind), (!good).then_some(Kind::Image), "{bad}");
        }
    }
}

/// The reward of a choice in each of three situations: 1 for the right one, less for the others.
fn pays(situation: usize, choice: i32) -> f32 {
    [1.0, 0.3, 0.3, 0.0][(choice as usize + situation) % 4]
}

/// The number of situations in which the best choice of a DQN is right; it explores by noise alone, or not at all.
fn right_choices(noisy: u32, seed: u64) -> usize {
    let (obs_space, action_space) = (Space::unbounded(3), Space::discrete(&[4]));
    let config = Config {
        seed,
        noisy,
        num_envs: 3,
        exploration_start: 0.0,
        exploration_end: 0.0,
        learning_rate: 1e-3,
        train_interval: 3,
        ..Config::of(Algorithm::Dqn).hidden(&[16]).store(1000, 16, 30)
    };
    let mut block = made(&config, &[], &obs_space, &action_space);
    let mut learner = open(&mut block);
    let (obs, mut action) = ([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0; 3]);
    while learner.stats().num_steps < 3000 {
        learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
        let reward: Vec<f32> = action.iter().enumerate().map(|(i, choice)| pays(i, *choice)).collect();
        learner.observe(None, &reward, &[1; 3], &[0; 3], None, None).unwrap();
        learn_all(&mut learner, 0);
    }
    let (state, to) = (Recurrent::default(), ElementsMut::I32(&mut action));
    learner.predict(Elements::F32(&obs), None, state, Sampling::Greedy, to).unwrap();
    action.iter().enumerate().filter(|(i, choice)| pays(*i, **choice) == 1.0).count()
}

#[test]
fn noise_alone_explores() {
    let right = |noisy| (1..=6).map(|seed| right_choices(noisy, seed)).sum::<usize>();
    let (with, without) = (right(1), right(0));
    assert!(with >= 16 && without <= 9, "{with} {without} of 18");
}

/// DQN's ranges, slices and copies leave the same bytes; targets use the noise of Q.
#[test]
fn slices_of_q_change_no_bit() {
    let (obs_space, action_space) = (Space::unbounded(3), Space::discrete(&[3]));
    let config = Config { noisy: 1, num_envs: 2, ..Config::of(Algorithm::Dqn).hidden(&[20]).store(1000, 16, 20) };
    let config = Config { num_chunks: 7, gradient_steps: 2, dueling: 1, double_q: 1, ..config };
    let size = Learner::size(&config, &[], &obs_space, &action_space).unwrap();
    let run = |slices: u32| {
        let mut block = vec![0u64; size / 8];
        Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs_space, &action_space).unwrap();
        let mut rng = Rng::seeded(4);
        let mut actions = Vec::new();
        for _ in 0..60 {
            let mut copy = block.clone();
            let mut learner = attach(&mut copy);
            let obs: Vec<f32> = (0..6).map(|_| rng.uniform_f32() - 0.5).collect();
            let mut action = [0; 2];
            if slices == 2 {
                for (i, (obs, action)) in obs.chunks(3).zip(action.chunks_mut(1)).enumerate() {
                    learner.act_range(i, i + 1, None, Elements::F32(obs), None, ElementsMut::I32(action)).unwrap();
                }
            } else {
                learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
            }
            actions.push(action);
            let reward = action.map(|a| a as f32);
            learner
                .observe(None, &reward, &[0, u8::from(obs[0] > 0.3)], &[0; 2], Some(Elements::F32(&obs)), None)
                .unwrap();
            learn_all(&mut learner, slices);
            block = copy;
        }
        (block, actions)
    };
    let whole = run(0);
    for slices in [1, 2, 3, 7] {
        assert!(run(slices) == whole, "{slices}");
    }
}
