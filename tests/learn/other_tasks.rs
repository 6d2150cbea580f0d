//! The auxiliary tasks beside PPO and IMPALA: their formulas, older copies, epochs, recurrent layers, and refusals.

use crate::host::{Host, Tune, chunks, config, export, policy, record, same_in_parts, train};
use crate::unreal_twin::{Twin, agrees, by, host, layers, only, spaces, stacked_lstms, unreal, with_state};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner};
use rlcore::nn::{Activation, Layer};
use rlcore::rng::Rng;
use rlcore::space::Space;

const BOTH: [Algorithm; 2] = [Algorithm::Ppo, Algorithm::Impala];

/// Value replay, pixel control and the classes of rewards are as with UNREAL.
#[test]
fn tasks_are_those_of_the_formula() {
    for (algorithm, base) in BOTH.into_iter().flat_map(|algorithm| [(algorithm, unreal()), (algorithm, with_state())]) {
        let config = only(7, by(algorithm, base));
        agrees(&Config { num_replayed: 4, use_action_mask: 1, ..config }, 7);
    }
    agrees(&only(4, by(Algorithm::Ppo, with_state())), 4);
}

/// Ratios are to the recorded policy, or to the older copy; IMPALA corrects for them.
#[test]
fn past_steps_are_learnt_by_the_algorithm_s_own_loss() {
    for prime_interval in [0, 1, 3] {
        let config =
            Config { prime_interval, clip: 0.5, value_coef: 1.5, ..only(11, by(Algorithm::Ppo, with_state())) };
        agrees(&config, 11);
        agrees(&Config { log_std_init: -0.5, entropy_coef: 0.1, ..only(8, config) }, 8);
    }
    let v_trace = Config { gae_lambda: 0.9, clip_rho: 0.9, clip_c: 1.1, ..by(Algorithm::Impala, unreal()) };
    agrees(&Config { use_action_mask: 1, ..only(9, v_trace) }, 9);
    agrees(&Config { sequence_len: 3, num_layers: 3, accumulate: 1, ..only(11, v_trace) }, 11);
    agrees(&Config { log_std_init: -0.5, entropy_coef: 0.1, num_replayed: 5, ..only(8, v_trace) }, 8);
}

/// Each minibatch of each epoch draws its own past samples.
#[test]
fn minibatches_of_all_epochs_draw_anew() {
    for prime_interval in [0, 2] {
        let config = Config { num_epochs: 2, num_minibatches: 3, prime_interval, clip: 0.5, ..unreal() };
        agrees(&only(11, by(Algorithm::Ppo, config)), 11);
        let config = Config { num_minibatches: 3, sequence_len: 3, num_layers: 3, burn_in: 2, ..config };
        agrees(&only(7, by(Algorithm::Ppo, config)), 7);
    }
}

/// All of it at once: a copy, LSTM, tasks, epochs, minibatches, chunks, threads, copies of blocks, and overlap.
#[test]
fn parts_threads_and_copies_leave_the_same_bits() {
    for (algorithm, overlap) in BOTH.into_iter().flat_map(|algorithm| [(algorithm, 0), (algorithm, 1)]) {
        let ppo = algorithm == Algorithm::Ppo;
        let config = Config {
            num_chunks: 7,
            num_envs: 7,
            num_steps: 12,
            num_minibatches: if ppo { 2 } else { 1 },
            num_epochs: if ppo { 2 } else { 1 },
            prime_interval: if ppo { 2 } else { 0 },
            use_action_mask: 1,
            overlap,
            ..with_state()
        };
        same_in_parts(host(&only(11, by(algorithm, config))), 4, "tasks");
        same_in_parts(host(&only(7, by(algorithm, Config { num_replayed: 9, ..config }))), 3, "tasks");
    }
}

/// Up to seven chunks have the gradient of one chunk, but for rounding.
#[test]
fn chunks_add_up_to_the_same_gradient() {
    for algorithm in BOTH {
        let sums = [1u32, 2, 3, 7].map(|num_chunks| {
            let config = Config { num_envs: 7, num_chunks, num_replayed: 9, ..with_state() };
            let mut twin = Twin::new(&only(11, by(algorithm, config)));
            twin.begin();
            twin.h.learner().learn(None, None, 0).unwrap();
            let params = Twin::new(&twin.h.config).h.view().params().to_vec();
            twin.h.learner().write_params(&params).unwrap();
            twin.begin();
            let all = chunks(&twin.h, 0, num_chunks as usize);
            let width = all.len() / num_chunks as usize;
            let sum = |i: usize| all.iter().skip(i).step_by(width).map(|&x| f64::from(x)).sum::<f64>();
            (0..width).map(sum).collect::<Vec<_>>()
        });
        for sum in &sums[1..] {
            for (a, b) in sums[0].iter().zip(sum) {
                assert!((a - b).abs() < 1e-5 + 1e-4 * a.abs(), "{a}, {b}");
            }
        }
    }
}

/// Learners without tasks have no history, and noisy layers, target_kl and normalized rewards go with tasks.
#[test]
fn tasks_cost_memory_only_where_they_are() {
    for algorithm in BOTH {
        let base = by(algorithm, unreal());
        let [off, on] = [0, 4].map(|mask| {
            let config = only(mask, base);
            let (obs, action) = spaces(&config);
            Learner::size(&config, &layers(&config), &obs, &action).unwrap()
        });
        // Observations of 100 bytes, with rewards and final values.
        assert!(on > off + 20 * 3 * 108 && on < off + 20 * 3 * 150 + 4096, "{on}, {off}");
        let noisy = Config { noisy: 1, num_hidden: 1, hidden_len: [8, 0, 0, 0], normalize_reward: 1, ..only(11, base) };
        let mut h = host(&Config { target_kl: 0.5, ..noisy });
        train(&mut h, &mut Rng::seeded(5), 5);
        let stats = h.learner().stats();
        assert!(stats.policy_replay_loss != 0.0 && stats.pixel_control_loss > 0.0 && stats.num_dropped == 0);
    }
}

/// The defaults need weights and a picture alone.
#[test]
fn weights_are_all_that_tasks_need() {
    for algorithm in BOTH {
        let base = Config { num_layers: 1, obs_dims: [4, 4, 1], ..Config::of(algorithm).rollout(8, 1, 1) };
        let config = Config { pixel_control_coef: 0.1, reward_class_coef: 1.0, value_replay_coef: 0.5, ..base };
        let layer = Layer::conv(3, [2, 2], [1, 1], Activation::Relu);
        let mut h = Host::with(&config, &[layer], &Space::bytes(16), &Space::discrete(&[3]));
        train(&mut h, &mut Rng::seeded(3), 3);
        let stats = h.learner().stats();
        assert!(stats.pixel_control_loss > 0.0 && stats.reward_class_loss > 0.0 && stats.value_replay_loss > 0.0);
        assert!(stats.policy_replay_loss.is_nan());
    }
}

#[test]
fn what_is_not_read_is_refused() {
    type Spoil = fn(&mut Config);
    let bad: [(&str, Spoil); 9] = [
        ("pixel_cell is set to {given}, which is read only with pixel_control_coef above 0", |c| c.pixel_cell = 3),
        ("pixel_mean is set to {given}, which is read only with pixel_control_coef above 0", |c| c.pixel_mean = 1),
        ("reward_threshold is set to {given}, which is read only with reward_class_coef above 0", |c| {
            c.reward_threshold = 0.5
        }),
        ("history_len is set to {given}, which is read only with auxiliary tasks", |c| c.history_len = 100),
        ("num_replayed is set to {given}, which is read only with auxiliary tasks", |c| c.num_replayed = 1),
        ("value_replay_coef of 0 with policy_replay_coef", |c| {
            (c.value_replay_coef, c.policy_replay_coef) = (1.0, 1.0)
        }),
        ("history_len of at least a sequence", |c| (c.value_replay_coef, c.history_len) = (1.0, 5)),
        ("obs_dims with pixel_control_coef", |c| c.pixel_control_coef = 1.0),
        ("policy_replay_coef is set to {given}, which is read only by PPO, IMPALA and UNREAL", |c| {
            *c = Config { policy_replay_coef: 1.0, ..Config::of(Algorithm::A2c) }
        }),
    ];
    for (word, spoil) in bad {
        for algorithm in BOTH {
            let mut config = Config { algorithm: algorithm as u32, ..Config::of(algorithm).rollout(9, 1, 1) };
            spoil(&mut config);
            let error = Learner::size(&config, &[], &Space::unbounded(3), &Space::discrete(&[2])).unwrap_err();
            assert!(error.kind == Kind::Config && error.what.contains(word), "{error}");
        }
    }
}

/// A rollout from elsewhere has no steps to keep: it is learned from, and the tasks go on with the steps of the learner's own.
#[test]
fn rollouts_from_elsewhere_are_not_kept() {
    let base = Config { value_replay_coef: 0.5, history_len: 40, ..config().rollout(8, 1, 1) };
    let mut from = Host::new(&base, &Space::unbounded(3), &Space::discrete(&[2]));
    let mut to = from.clone();
    for update in 0..4 {
        let obs = record(&mut from, &mut Rng::seeded(update));
        from.learner().learn_begin(obs.get(), None).unwrap();
        let columns = crate::host::Columns::read(&mut from);
        to.learner().learn_batch(&columns.batch()).unwrap();
        let losses = [&mut from, &mut to].map(|h| h.learner().learn(None, None, 0).unwrap().value_replay_loss);
        assert!((losses[0] > 0.0) == (update > 0) && losses[1] == 0.0, "{losses:?}");
    }
}

/// The policy reads the first LSTM, the values and the cells the second one: with every algorithm that has tasks.
#[test]
fn tasks_go_with_a_layer_of_the_policy_s_own() {
    for algorithm in [Algorithm::Unreal, Algorithm::Ppo, Algorithm::Impala] {
        let config = match algorithm {
            Algorithm::Unreal => stacked_lstms(),
            _ => by(algorithm, stacked_lstms()),
        };
        let (prime_interval, clip) = if algorithm == Algorithm::Ppo { (2, 0.5) } else { (0, 0.2) };
        agrees(&Config { num_replayed: 4, ..only(7, config) }, 7);
        agrees(&Config { prime_interval, clip, use_action_mask: 1, ..only(11, config) }, 11);
        agrees(&Config { log_std_init: -0.5, entropy_coef: 0.1, ..only(8, config) }, 8);
        let config = Config { num_envs: 7, num_steps: 12, num_chunks: 7, overlap: 1, prime_interval, ..config };
        same_in_parts(host(&only(11, config)), 3, "stacked layers");
        // The exported policy has the policy's own layers alone.
        let policies = [11, 0].map(|mask| export(&host(&only(mask, config)).view()));
        assert!(policies[0] == policies[1] && policy(&policies[0]).state_len() == 10);
    }
}
