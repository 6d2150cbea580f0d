//! UNREAL: auxiliary tasks against their formulas, A2C where they are off, the same bits in any slices, and forged blocks.

use crate::host::{Array, Host, chunks, export, open, record, seal, threads, train};
use crate::unreal_twin::{Twin, agrees, by, host, layers, only, spaces, unreal, with_state};
use rlcore::error::Kind;
use rlcore::learn::algorithm::pixel_control::{self, Cells};
use rlcore::learn::algorithm::reward_class;
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

#[test]
fn without_tasks_it_is_a2c_to_the_bit() {
    for config in [unreal(), with_state()] {
        let config = only(0, config);
        let plain =
            Config { entropy_coef: config.entropy_coef, value_coef: config.value_coef, ..Config::of(Algorithm::A2c) };
        let plain = Config {
            obs_dims: config.obs_dims,
            num_envs: config.num_envs,
            num_steps: config.num_steps,
            num_hidden: config.num_hidden,
            hidden_len: config.hidden_len,
            num_layers: config.num_layers,
            sequence_len: config.sequence_len,
            max_grad_norm: config.max_grad_norm,
            ..plain
        };
        let params = [config, plain].map(|config| {
            let mut h = host(&config);
            train(&mut h, &mut Rng::seeded(7), 4);
            (h.view().params().iter().map(|x| x.to_bits()).collect::<Vec<_>>(), h.block.len())
        });
        assert!(params[0] == params[1]);
    }
}

/// Before the history holds a sequence, the tasks add nothing to the gradients of A2C.
#[test]
fn the_first_policy_and_gradient_are_those_of_a2c() {
    let config = unreal();
    let grads = [7, 0].map(|mask| {
        let mut h = host(&only(mask, config));
        let obs = record(&mut h, &mut Rng::seeded(7));
        h.learner().learn_begin(obs.get(), None).unwrap();
        chunks(&h, 0, 1)
    });
    // The common layers and the heads of policy and values come first. A sequence needs one step more than a rollout.
    let len = grads[1].len() - 8;
    let class_alone = |at: &f32| *at != 0.0;
    assert!(grads[1][..len].iter().any(class_alone));
    let mut h = host(&only(5, config));
    let obs = record(&mut h, &mut Rng::seeded(7));
    h.learner().learn_begin(obs.get(), None).unwrap();
    assert!(chunks(&h, 0, 1)[..len] == grads[1][..len]);
}

/// spec: agents, section 8.
#[test]
fn losses_are_those_of_the_vectors() {
    let q: Vec<f32> = (0..24).map(|i| 0.1 * i as f32).collect();
    let targets = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8f32]];
    let mut sum = 0.0;
    for (i, choice) in [2, 0].into_iter().enumerate() {
        let own = &q[i * 12..][..12];
        // With the mean of each cell as its value, Q equals the given numbers.
        let value: Vec<f32> = own.chunks(3).map(|q| q.iter().sum::<f32>() / 3.0).collect();
        let (mut d, mut dv) = ([0.0; 12], [0.0; 4]);
        let cells = Cells { choices: 3, advantage: own, value: &value, target: &targets[i] };
        sum += pixel_control::loss(&cells, choice, 1.0, &mut d, &mut dv);
    }
    assert!((sum / 2.0 - 2.52).abs() < 1e-6, "{sum}");
    let cells = Cells { choices: 3, advantage: &q, value: &[], target: &targets.concat() };
    let mean = pixel_control::mean_loss(&cells, &[2, 0], &mut [0.0; 24], &mut []).unwrap();
    assert!((mean - 2.52).abs() < 1e-6, "{mean}");

    let mut d = [0.0; 6];
    let loss = reward_class::cross_entropy(&[0.1, 0.7, -0.3, 1.0, 0.0, 0.0], &[1, 0], 1.0, &mut d).unwrap();
    assert!((loss / 2.0 - 0.6010225079783456).abs() < 1e-6, "{loss}");
    let first = reward_class::cross_entropy(&[0.1, 0.7, -0.3], &[1], 1.0, &mut d[..3]).unwrap();
    assert!((first - 0.650600302).abs() < 1e-6, "{first}");
}

/// spec: agents, section 10.
#[test]
fn changes_are_those_of_the_vector() {
    let s = |factor: usize, base: usize| -> Vec<f32> { (0..42).map(|i| (factor * i % base) as f32 / 10.0).collect() };
    let mut change = [9.0; 6];
    pixel_control::changes([6, 7, 1], 1, 2, false, &s(17, 13), &s(37, 11), &mut change);
    let want = [0.7, 0.6, 0.5, 1.0, 0.8, 0.5];
    assert!(change.iter().zip(want).all(|(a, b)| (a - b as f32).abs() < 1e-6), "{change:?}");
}

#[test]
fn changes_are_those_of_the_formula() {
    let mut rng = Rng::seeded(4);
    for (h, w, channels, cell) in
        [(10, 10, 1, 2), (11, 9, 3, 2), (12, 7, 2, 3), (9, 3, 1, 2), (84, 84, 3, 4), (5, 5, 1, 1)]
    {
        for (mean, newest) in [(false, channels), (true, channels), (false, 1), (true, 1)] {
            let [a, b] = [(); 2].map(|()| (0..h * w * channels).map(|_| rng.uniform_f32()).collect::<Vec<_>>());
            let border = |side: usize| if side > cell / 2 * 2 + 1 { cell / 2 } else { 0 };
            let (top, left) = (border(h), border(w));
            let (rows, columns) = (h - 2 * top, w - 2 * left);
            let (gh, gw) = (rows.div_ceil(cell), columns.div_ceil(cell));
            let mut got = vec![f32::NAN; gh * gw];
            pixel_control::changes([h, w, channels], newest, cell, mean, &a, &b, &mut got);
            let pad = |n: usize, g: usize| ((g * cell - n) / 2) as isize;
            for (i, got) in got.iter().enumerate() {
                let mut own = Vec::new();
                for (y, x) in (0..cell * cell).map(|k| (k / cell, k % cell)) {
                    let y = (i / gw * cell + y) as isize - pad(rows, gh);
                    let x = (i % gw * cell + x) as isize - pad(columns, gw);
                    if (0..rows as isize).contains(&y) && (0..columns as isize).contains(&x) {
                        let at = ((y as usize + top) * w + x as usize + left) * channels;
                        let diff = |c: usize| f64::from((b[at + c] - a[at + c]).abs());
                        own.push((channels - newest..channels).map(diff).sum::<f64>() / newest as f64);
                    }
                }
                let want = if mean {
                    own.iter().sum::<f64>() / own.len() as f64
                } else {
                    own.iter().fold(0.0, |a: f64, b| a.max(*b))
                };
                assert!((f64::from(*got) - want).abs() < 1e-6, "{got}, not {want}");
            }
        }
    }
}

#[test]
fn tasks_are_those_of_the_formula() {
    for (config, mask) in
        [(unreal(), 1), (unreal(), 2), (unreal(), 4), (unreal(), 7), (with_state(), 5), (with_state(), 7)]
    {
        for use_action_mask in [0, 1] {
            let num_replayed = if mask == 7 { 4 } else { 0 };
            agrees(&Config { num_replayed, use_action_mask, ..only(mask, config) }, mask);
        }
    }
}

/// The whole learner, its history and its draws are the same however an update is sliced, and wherever it was saved.
#[test]
fn slices_threads_and_copies_leave_the_same_bits() {
    for base in [unreal(), with_state()] {
        for num_chunks in [1, 2, 3] {
            let config = Config { num_chunks, num_replayed: 5, num_minibatches: 1, ..base };
            let mut whole = Twin::new(&config);
            let mut sliced = Twin::new(&config);
            let mut shared = Twin::new(&config);
            for _ in 0..4 {
                for twin in [&mut whole, &mut sliced, &mut shared] {
                    twin.begin();
                }
                whole.h.learner().learn(None, None, 0).unwrap();
                while sliced.h.learner().stats().minibatches_left > 0 {
                    // As another process that received the bytes.
                    sliced.h = sliced.h.clone();
                    sliced.h.learner().learn(None, None, 1).unwrap();
                }
                let grads = threads(&shared.h, num_chunks.min(2) as usize);
                shared.h.learner().write_grads(0, num_chunks as usize, &grads).unwrap();
                shared.h.learner().learn_apply().unwrap();
            }
            let params = |t: &Twin| t.h.view().params().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(params(&whole) == params(&sliced) && params(&whole) == params(&shared), "{num_chunks} chunks");
            assert!(whole.h.block == sliced.h.block, "{num_chunks} chunks");
        }
    }
}

/// Up to seven chunks, which do not divide the number of sequences, have the gradient of one chunk, but for rounding.
#[test]
fn chunks_add_up_to_the_same_gradient() {
    let sums = [1u32, 2, 3, 7].map(|num_chunks| {
        let config = Config { num_chunks, num_replayed: 5, ..unreal() };
        let mut twin = Twin::new(&config);
        // The first update has no sequence.
        twin.begin();
        twin.h.learner().learn(None, None, 0).unwrap();
        let params = Twin::new(&config).h.view().params().to_vec();
        twin.h.learner().write_params(&params).unwrap();
        twin.begin();
        let all = chunks(&twin.h, 0, num_chunks as usize);
        let width = all.len() / num_chunks as usize;
        (0..width).map(|i| all.iter().skip(i).step_by(width).map(|&x| f64::from(x)).sum::<f64>()).collect::<Vec<_>>()
    });
    for sum in &sums[1..] {
        for (a, b) in sums[0].iter().zip(sum) {
            assert!((a - b).abs() < 1e-5 + 1e-4 * a.abs(), "{a}, {b}");
        }
    }
}

/// Agents come and go: steps that were cut are not learned, only complete ones are.
#[test]
fn what_was_given_up_is_not_learnt() {
    for mask in [5, 9] {
        let mut twin = Twin::new(&only(mask, unreal()));
        for _ in 0..5 {
            let obs = twin.draw_obs();
            twin.h.learner().act(None, obs.get(), None, ElementsMut::I32(&mut [0; 3])).unwrap();
            twin.h.learner().observe(None, &[0.5; 3], &[0; 3], &[0; 3], None, None).unwrap();
            twin.h.learner().cut_rows(&[0, 1, 0]).unwrap();
        }
        train(&mut twin.h, &mut Rng::seeded(2), 5);
        assert!(twin.h.view().params().iter().all(|x| x.is_finite()));
        assert_eq!(twin.h.learner().stats().num_dropped, 0);
    }
}

/// An exported policy contains nothing of the tasks: size and network are those of A2C's policy.
#[test]
fn a_policy_has_no_auxiliary_layers() {
    let policies = [7, 0].map(|mask| {
        let config = only(mask, unreal());
        let h = host(&config);
        export(&h.view())
    });
    assert!(policies[0] == policies[1]);
}

/// Pixel control heads of any number of cells; from 4 × 4 cells on, a dense layer makes a picture.
#[test]
fn cells_of_every_number_have_a_head() {
    for side in [3, 4, 5, 6, 7, 8, 9, 11, 14, 42] {
        for pixel_cell in [1, 2, 3, 4] {
            let config = Config { obs_dims: [side, side + 1, 1], num_layers: 1, pixel_cell, ..unreal() };
            let (obs, action) = (Space::bytes(side * (side + 1)), Space::discrete(&[2]));
            let mut h = Host::with(&config, &[Layer::dense(6, Activation::Tanh)], &obs, &action);
            if side < 9 {
                train(&mut h, &mut Rng::seeded(3), 3);
            }
            assert_eq!(h.learner().stats().num_dropped, 0);
        }
    }
}

#[test]
fn refusals_say_what_is_needed() {
    type Spoil = fn(&mut Config);
    let bad: [(&str, Spoil); 16] = [
        ("pixel_control_coef of at least 0", |c| c.pixel_control_coef = -1.0),
        ("reward_class_coef of at least 0", |c| c.reward_class_coef = f32::NAN),
        ("value_replay_coef of at least 0", |c| c.value_replay_coef = f32::INFINITY),
        ("pixel_control_discount of 0 to 1", |c| c.pixel_control_discount = 1.5),
        ("reward_threshold of at least 0", |c| c.reward_threshold = -0.1),
        ("pixel_mean of 0 or 1", |c| c.pixel_mean = 2),
        ("pixel_control_coef is set", |c| c.algorithm = Algorithm::A2c as u32),
        ("policy_replay_coef of at least 0", |c| c.policy_replay_coef = f32::NAN),
        ("value_replay_coef of 0 with policy_replay_coef", |c| c.policy_replay_coef = 1.0),
        ("history_starts of at most history_len", |c| c.history_starts = 21),
        ("pixel_cell of at least 1", |c| c.pixel_cell = 0),
        ("reward_sequence_len of 1 to 16", |c| c.reward_sequence_len = 0),
        ("reward_sequence_len of 1 to 16", |c| c.reward_sequence_len = 17),
        ("history_len of at least a sequence", |c| c.history_len = 6),
        ("below 2^31", |c| c.history_len = u32::MAX / 2),
        ("obs_dims with pixel_control_coef", |c| c.obs_dims = [0; 3]),
    ];
    let (obs, action) = spaces(&unreal());
    for (i, (word, spoil)) in bad.iter().enumerate() {
        let mut config = unreal();
        spoil(&mut config);
        let layers = [Layer::dense(4, Activation::Tanh), Layer::dense(12, Activation::Tanh)];
        let error = Learner::size(&config, &layers, &obs, &action).unwrap_err();
        assert!(error.what.contains(word), "case {i}: {error}");
    }
    for action in [Space::discrete(&[3, 2]), Space::unbounded(2)] {
        let error = Learner::size(&unreal(), &layers(&unreal()), &obs, &action).unwrap_err();
        assert!(error.kind == Kind::Config && error.what.contains("actions of one choice"), "{error}");
        // The other tasks accept these actions.
        Learner::size(&only(6, unreal()), &layers(&unreal()), &obs, &action).unwrap();
    }
}

/// Blocks with any one word forged and sealed again are refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_work() {
    let policy = Config { use_action_mask: 1, num_stacked: 2, obs_dims: [10, 10, 2], ..only(9, unreal()) };
    let numbers = Config { log_std_init: -0.5, overlap: 1, ..only(8, unreal()) };
    let primed = Config { prime_interval: 2, ..by(Algorithm::Ppo, numbers) };
    for config in [with_state(), policy, numbers, primed, only(11, by(Algorithm::Impala, with_state()))] {
        forge(&Config { history_len: 8, num_chunks: 2, ..config });
    }
}

fn forge(config: &Config) {
    let mut twin = Twin::new(config);
    for _ in 0..2 {
        twin.begin();
        twin.h.learner().learn(None, None, 0).unwrap();
    }
    twin.begin();
    twin.h.learner().learn(None, None, 1).unwrap();
    let good = twin.h.block.clone();
    let words = good.len() * 2;
    let (mut accepted, mut refused) = (0, 0);
    let forged = [0, 1, 2, 7, 8, 0x7fff_ffff, u32::MAX, 0x7fc0_0000, 0x3f80_0000, 0xff7f_ffff];
    let mut rng = Rng::seeded(9);
    // All words of the configuration and the layers, and random ones of the rest.
    let some: Vec<usize> = (0..1000).map(|_| rng.bounded(words as u64 - 11) as usize + 10).collect();
    for at in (10..600).chain(some) {
        let word = forged[rng.bounded(forged.len() as u64 - 1) as usize];
        let mut block = good.clone();
        bytemuck::cast_slice_mut::<u64, u32>(&mut block)[at] = word;
        seal(&mut block);
        let Ok(learner) = Learner::attach(bytemuck::cast_slice_mut(&mut block)) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let (n, shape) = (learner.config().num_envs as usize, *learner.shape());
        let mask = (learner.config().use_action_mask != 0).then(|| vec![1; n * shape.mask_len()]);
        let small = n * shape.obs_len as usize <= 1 << 16 && n * shape.action_len as usize <= 1 << 16;
        if shape.obs_u8() && small {
            let obs = vec![7; n * shape.obs_len as usize];
            let kind = if shape.discrete() { Element::I32 } else { Element::F32 };
            let mut action = Array::zeros(kind, n * shape.action_len as usize);
            for _ in 0..12 {
                let mut learner = open(&mut block);
                let done = match learner.phase() {
                    Phase::Act => learner.act(None, Elements::U8(&obs), mask.as_deref(), action.get_mut()),
                    Phase::Observe => {
                        let acted = learner.acted().to_vec();
                        let (reward, ends) = (vec![1.0; n], vec![0; n]);
                        learner.observe(Some(&acted), &reward, &ends, &ends, None, None)
                    }
                    Phase::Learn => learner.learn(Some(Elements::U8(&obs)), None, 0).map(drop),
                };
                let allowed = [Kind::Value, Kind::Shape];
                assert!(done.is_ok_and(|()| true) || done.is_err_and(|e| allowed.contains(&e.kind)));
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// Overflowing values, of observations or of final observations where episodes were truncated, drop the update that reads them.
/// They do not enter the history, and no call leaves a block that `attach` refuses.
#[test]
fn steps_whose_values_overflow_are_not_kept() {
    let square = Layer::merge(LayerKind::Multiply, [INPUT; 2], Activation::Identity);
    for (mask, huge_obs) in [(4, false), (8, false), (4, true), (8, true)] {
        let config = Config { num_envs: 2, num_layers: 1, obs_dims: [0; 3], history_len: 400, ..only(mask, unreal()) };
        let mut h = Host::with(&config, &[square], &Space::unbounded(8), &Space::discrete(&[2]));
        let (obs, mut last) = ([0.3; 16], [0.1; 16]);
        let mut kept = 0;
        for update in 0..20 {
            for step in 0..config.num_steps {
                let cut = u8::from(update == 3 && step == 1);
                last.fill(if cut == 1 { f32::MAX } else { 0.1 });
                let huge = huge_obs && update == 5 && step < 2;
                if huge {
                    // The value of an observation this large overflows, and the policy's outputs are 0.
                    let mut params = h.view().params().to_vec();
                    let values = params.len() - 9;
                    params[..values].fill(0.0);
                    params[values..].fill(1.0);
                    h.learner().write_params(&params).unwrap();
                }
                let now = if huge { [1.2e19; 16] } else { obs };
                h.learner().act(None, Elements::F32(&now), None, ElementsMut::I32(&mut [0; 2])).unwrap();
                h.learner().observe(None, &[1.0; 2], &[0; 2], &[cut; 2], Some(Elements::F32(&last)), None).unwrap();
            }
            let dropped = h.learner().learn(Some(Elements::F32(&obs)), None, 0).is_err();
            assert_eq!(dropped, update == 3 || huge_obs && update == 5, "update {update}");
            let held = h.view().stats().num_dropped;
            kept += u64::from(dropped);
            assert_eq!(held, kept);
            h.learner();
        }
    }
}
