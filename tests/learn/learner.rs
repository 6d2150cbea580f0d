//! The learner as a host uses it: probes with known answers, slices, snapshots, damaged images, bad input.

use crate::host::{Tune, attach, export, made, outcome, policy};
use rlcore::block::seal;
use rlcore::cpu;
use rlcore::env::{Autoreset, Builtin, Env, VecEnv, VecEnvConfig};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Optimizer, Phase, Policy, Recurrent, Sampling, Stats, View};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

fn bytes(block: &mut [u64]) -> &mut [u8] {
    bytemuck::cast_slice_mut(block)
}

/// Chooses actions by the policy, without recurrent layers.
fn choose(learner: &mut Learner<'_>, obs: &[f32], sampling: Sampling, action: ElementsMut<'_>) {
    learner.predict(Elements::F32(obs), None, Recurrent::default(), sampling, action).unwrap();
}

/// A host: environments, a learner, and the arrays between them.
#[derive(Clone)]
struct Host {
    env: Builtin,
    envs: Vec<u64>,
    learner: Vec<u64>,
    obs: Vec<f32>,
    choice: Vec<i32>,
    vector: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_obs: Vec<f32>,
}

impl Host {
    fn new(name: &str, config: &Config) -> Host {
        let env = Builtin::from_name(name).unwrap();
        let (spec, n) = (env.spec(), config.num_envs as usize);
        let vec_config = VecEnvConfig {
            num_envs: config.num_envs,
            seed: config.seed,
            autoreset: Autoreset::SameStep,
            max_episode_steps: 0,
        };
        let mut envs = vec![0; VecEnv::size(&env, &vec_config).unwrap().div_ceil(8)];
        let learner = made(config, &[], &spec.obs, &spec.action);
        let mut obs = vec![0.0; n * spec.obs.len as usize];
        let mut vec_env = VecEnv::init(bytes(&mut envs), &env, &vec_config).unwrap();
        vec_env.reset(None, ElementsMut::F32(&mut obs)).unwrap();
        let actions = n * spec.action.len as usize;
        Host {
            env,
            envs,
            learner,
            final_obs: obs.clone(),
            obs,
            choice: vec![0; actions],
            vector: vec![0.0; actions],
            reward: vec![0.0; n],
            terminated: vec![0; n],
            truncated: vec![0; n],
        }
    }

    /// Acts, steps and observes once.
    fn step(&mut self) {
        let mut learner = attach(&mut self.learner);
        let discrete = self.env.spec().action.kind == Element::I32;
        let action = if discrete { ElementsMut::I32(&mut self.choice) } else { ElementsMut::F32(&mut self.vector) };
        learner.act(None, Elements::F32(&self.obs), None, action).unwrap();
        let action = if discrete { Elements::I32(&self.choice) } else { Elements::F32(&self.vector) };
        let mut envs = VecEnv::attach(bytes(&mut self.envs), &self.env).unwrap();
        envs.step(
            action,
            outcome(&mut self.obs, &mut self.final_obs, &mut self.reward, &mut self.terminated, &mut self.truncated),
        )
        .unwrap();
        let final_obs = Some(Elements::F32(&self.final_obs));
        learner.observe(None, &self.reward, &self.terminated, &self.truncated, final_obs, None).unwrap();
    }

    fn learn(&mut self, max_slices: u32) -> Stats {
        let mut learner = attach(&mut self.learner);
        learner.learn(Some(Elements::F32(&self.obs)), None, max_slices).unwrap()
    }

    fn phase(&mut self) -> Phase {
        attach(&mut self.learner).phase()
    }

    fn train(&mut self, updates: u64) -> Stats {
        let mut stats = Stats::default();
        for _ in 0..updates {
            self.play();
            stats = self.learn(0);
        }
        stats
    }

    /// Steps until an update is due.
    fn play(&mut self) {
        while self.phase() != Phase::Learn {
            self.step();
        }
    }

    fn value(&mut self, obs: f32) -> f32 {
        let n = self.reward.len();
        let mut value = vec![0.0; n];
        attach(&mut self.learner).value(Elements::F32(&vec![obs; n]), None, &mut value).unwrap();
        value[0]
    }

    /// How often the policy chooses `action` at `obs`.
    fn frequency(&mut self, obs: f32, action: i32) -> f64 {
        let n = self.reward.len();
        let mut learner = attach(&mut self.learner);
        let (obs, mut actions, mut hits) = (vec![obs; n], vec![0; n], 0);
        for _ in 0..1000 {
            choose(&mut learner, &obs, Sampling::Basic, ElementsMut::I32(&mut actions));
            hits += actions.iter().filter(|&&a| a == action).count();
        }
        hits as f64 / (1000 * n) as f64
    }
}

impl Host {
    /// The answer to each of two observations, 0 and 1, is that action, and its value 1.
    fn answers_what_it_sees(&mut self, tolerance: f64, frequency: f64) {
        for b in 0..2 {
            close("V(b)", self.value(b as f32), 1.0, tolerance);
            assert!(self.frequency(b as f32, b) >= frequency);
        }
    }
}

/// A small and quick configuration for the probes.
fn probe_config() -> Config {
    Config {
        num_envs: 8,
        num_steps: 32,
        total_steps: 60 * 256,
        learning_rate: 1e-2,
        entropy_coef: 0.0,
        value_coef: 0.5,
        max_grad_norm: 2.0,
        ..Config::default().hidden(&[32])
    }
}

fn trained(name: &str, config: &Config, updates: u64) -> Host {
    let mut host = Host::new(name, config);
    host.train(updates);
    host
}

fn close(name: &str, given: f32, expected: f64, tolerance: f64) {
    assert!((f64::from(given) - expected).abs() <= tolerance, "{name}: {given}, expected {expected} ± {tolerance}");
}

#[test]
fn probe_1_learns_a_constant_value() {
    let mut h = trained("Probe1", &probe_config(), 60);
    close("V(0)", h.value(0.0), 1.0, 5e-4);
}

#[test]
fn probe_2_learns_a_value_that_depends_on_the_observation() {
    let mut h = trained("Probe2", &probe_config(), 60);
    close("V(1)", h.value(1.0), 1.0, 5e-4);
    close("V(-1)", h.value(-1.0), -1.0, 5e-4);
}

#[test]
fn probe_3_discounts() {
    let mut h = trained("Probe3", &probe_config(), 60);
    close("V(0)", h.value(0.0), 0.99, 5e-4);
    close("V(1)", h.value(1.0), 1.0, 5e-4);
}

#[test]
fn probe_4_learns_an_action() {
    let mut h = trained("Probe4", &probe_config(), 60);
    close("V(0)", h.value(0.0), 1.0, 0.05);
    assert!(h.frequency(0.0, 1) >= 0.99);
}

#[test]
fn probe_5_learns_an_action_that_depends_on_the_observation() {
    let mut h = trained("Probe5", &probe_config(), 60);
    h.answers_what_it_sees(0.2, 0.85);
}

/// Shared layers learn for both networks and are part of the exported policy.
#[test]
fn a_shared_trunk_learns_and_is_exported() {
    for num_shared in [1, 2] {
        let config = Config { num_hidden: 2, hidden_len: [32, 16, 0, 0], num_shared, ..probe_config() };
        let mut h = trained("Probe5", &config, 60);
        h.answers_what_it_sees(0.2, 0.85);
        let (params, towers) = (attach(&mut h.learner).params().len(), (2 * 32 + 33 * 16) * 2);
        assert!(params < towers);
        let obs: Vec<f32> = (0..8).map(|i| (i % 2) as f32).collect();
        let (mut own, mut shipped) = ([9; 8], [9; 8]);
        let mut learner = attach(&mut h.learner);
        choose(&mut learner, &obs, Sampling::Greedy, ElementsMut::I32(&mut own));
        let bytes = export(&learner.view());
        let policy = policy(&bytes);
        let mut scratch = vec![0.0; policy.scratch_len(8).unwrap()];
        let (obs, to) = (Elements::F32(&obs), ElementsMut::I32(&mut shipped));
        policy.act_greedy(8, obs, None, Recurrent::default(), &mut scratch, to).unwrap();
        assert_eq!(own, shipped);
    }
}

/// Values and actions, learned from short rollouts in one pass.
#[test]
fn actor_critics_pass_the_probes() {
    for algorithm in [Algorithm::A2c, Algorithm::Impala] {
        let small = Config { num_envs: 8, num_hidden: 1, hidden_len: [32, 0, 0, 0], ..Config::of(algorithm) };
        let config = Config { num_steps: 5, total_steps: 1500 * 40, learning_rate: 1e-2, entropy_coef: 0.0, ..small };
        let mut h = trained("Probe3", &config, 1500);
        close("V(0)", h.value(0.0), 0.99, 5e-3);
        close("V(1)", h.value(1.0), 1.0, 5e-3);
        let mut h = trained("Probe5", &config, 1500);
        h.answers_what_it_sees(0.2, 0.9);
    }
}

/// Values and actions, learned by Q.
#[test]
fn q_networks_pass_the_probes() {
    let config = Config {
        num_envs: 8,
        total_steps: 100 * 256,
        learning_rate: 1e-2,
        exploration_steps: 50 * 256,
        ..Config::of(Algorithm::Pqn).hidden(&[32])
    };
    let mut h = trained("Probe3", &config, 100);
    close("V(0)", h.value(0.0), 0.99, 1e-2);
    close("V(1)", h.value(1.0), 1.0, 1e-2);
    let mut h = trained("Probe5", &config, 100);
    h.answers_what_it_sees(0.05, 0.99);
}

#[test]
fn probe_6_carries_a_reward_back_over_ten_steps() {
    let mut h = trained("Probe6", &Config { total_steps: 200 * 256, ..probe_config() }, 200);
    for k in 0..10 {
        close("V(k)", h.value(k as f32), 0.99f64.powi(9 - k), 0.02);
    }
}

#[test]
fn probe_7_cannot_be_solved_without_memory() {
    let mut h = Host::new("Probe7", &probe_config());
    let stats = h.train(60);
    close("mean return of a memoryless policy among 5 actions", stats.return_mean, 0.5, 0.2);
}

#[test]
fn truncation_goes_on_from_the_value_of_the_final_observation() {
    let config = Config { discount: 0.9, total_steps: 200 * 256, ..probe_config() };
    let mut h = trained("ProbeTruncation", &config, 200);
    close("V(0)", h.value(0.0), 10.0, 0.05);
    close("V(1)", h.value(1.0), 9.0, 0.05);
}

#[test]
fn pendulum_runs_with_every_continuous_option() {
    for (squash, normalize) in [(0, 0), (1, 1)] {
        let config = Config { num_envs: 3, num_steps: 40, ..Config::default().normalized(normalize, normalize) };
        let config = Config { num_minibatches: 3, squash, value_clip: 0.2, target_kl: 0.05, ..config };
        let mut h = Host::new("Pendulum-v1", &config);
        let stats = h.train(12);
        assert!(h.vector.iter().all(|a| a.abs() <= 2.0));
        assert!(stats.policy_loss.is_finite() && stats.entropy.is_finite() && stats.num_episodes == 6, "{stats:?}");
    }
}

#[test]
fn slices_of_an_update_make_the_same_bytes_as_one_call() {
    for (num_chunks, slice_len) in [(1, 5), (2, 1), (3, 4), (7, 5), (128, 300)] {
        let mut whole = Host::new("CartPole-v1", &Config { num_chunks, ..Config::default() });
        let mut sliced = whole.clone();
        for _ in 0..2 {
            while whole.phase() != Phase::Learn {
                whole.step();
                sliced.step();
            }
            let stats = whole.learn(0);
            assert_eq!(stats.minibatches_left, 0);
            let mut left = 16 * num_chunks;
            while left > 0 {
                // Each slice attaches as another process would, in the middle of a minibatch.
                let slice = sliced.learn(slice_len);
                left = left.saturating_sub(slice_len);
                assert_eq!(slice.minibatches_left, left.div_ceil(num_chunks));
            }
            assert!(whole.learner == sliced.learner, "{num_chunks} chunks");
        }
    }
}

#[test]
fn a_copied_block_goes_on_as_the_original_from_every_phase() {
    let config = Config { num_steps: 16, normalize_obs: 1, normalize_reward: 1, ..Config::default() };
    let mut original = Host::new("CartPole-v1", &config);
    let mut copies = Vec::new();
    for _ in 0..2 {
        while original.phase() != Phase::Learn {
            copies.push((original.clone(), original.learner.len()));
            original.step();
        }
        original.learn(3);
        copies.push((original.clone(), 0));
        original.learn(0);
    }
    for (mut copy, _) in copies {
        while attach(&mut copy.learner).stats().num_updates < 2 {
            match copy.phase() {
                Phase::Learn => drop(copy.learn(0)),
                _ => copy.step(),
            }
        }
        assert!(copy.learner == original.learner && copy.envs == original.envs);
    }
}

/// `[0, n)` in `num_parts` parts, some of them empty.
fn parts(n: usize, num_parts: usize) -> Vec<(usize, usize)> {
    (0..num_parts).map(|i| (i * n / num_parts, (i + 1) * n / num_parts)).collect()
}

/// Each environment draws from its own random stream, however many act at once.
#[test]
fn acting_in_parts_makes_the_same_bytes_as_one_call() {
    let choices = Space::discrete(&[3, 2]);
    for (action_space, normalize, masked) in [
        (&choices, 0, 1),
        (&choices, 1, 0),
        (&Space::unbounded(1), 1, 0),
        (&Space::unbounded(3), 0, 0),
        (&Space::between(&[-1.0], &[2.0]), 1, 0),
    ] {
        const N: usize = 5;
        let (obs_space, len) = (Space::unbounded(2), action_space.len as usize);
        let config = Config { num_envs: N as u32, num_steps: 6, num_minibatches: 3, ..Config::default() };
        let config = Config { normalize_obs: normalize, use_action_mask: masked, hidden_len: [5, 3, 0, 0], ..config };
        let run = |num_parts: usize| {
            let mut block = made(&config, &[], &obs_space, action_space);
            let (mut rng, mut taken) = (Rng::seeded(3), Vec::new());
            for _ in 0..13 {
                let obs: Vec<f32> = (0..2 * N).map(|_| rng.uniform_f32() * 8.0 - 2.0).collect();
                let mask: Vec<u8> = (0..N).flat_map(|_| [1, rng.coin().into(), 1, rng.coin().into(), 1]).collect();
                let (mut choice, mut vector) = ([9; 2 * N], [9.0; 3 * N]);
                for (begin, end) in parts(N, num_parts) {
                    // Each part attaches as another process would, in the middle of the step.
                    let mut learner = attach(&mut block);
                    assert!(learner.phase() == if begin == 0 { Phase::Act } else { Phase::Observe });
                    let action = match action_space.kind {
                        Element::I32 => ElementsMut::I32(&mut choice[begin * len..end * len]),
                        _ => ElementsMut::F32(&mut vector[begin * len..end * len]),
                    };
                    let mask = (masked != 0).then_some(&mask[begin * 5..end * 5]);
                    learner.act_range(begin, end, None, Elements::F32(&obs[2 * begin..2 * end]), mask, action).unwrap();
                }
                let mut learner = attach(&mut block);
                let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
                learner.observe(None, &reward, &[0, 0, 1, 0, 0], &[0; N], None, None).unwrap();
                if learner.phase() == Phase::Learn {
                    learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
                }
                taken.push((choice, vector.map(f32::to_bits)));
            }
            (block, taken)
        };
        let whole = run(1);
        for num_parts in [2, 3, 7] {
            assert!(run(num_parts) == whole, "{num_parts} parts");
        }
    }
}

#[test]
fn environments_draw_the_same_whatever_others_are_there() {
    for action_space in [Space::discrete(&[1000]), Space::unbounded(3)] {
        let actions = |num_envs: usize| {
            let config = Config { num_envs: num_envs as u32, ..Config::default() };
            let obs_space = Space::unbounded(1);
            let mut block = made(&config, &[], &obs_space, &action_space);
            let mut learner = attach(&mut block);
            let (mut choice, mut vector) = (vec![0; num_envs], vec![0.0; 3 * num_envs]);
            for looks in [true, false] {
                let action = match action_space.kind {
                    Element::I32 => ElementsMut::I32(&mut choice),
                    _ => ElementsMut::F32(&mut vector),
                };
                let obs = vec![0.5; num_envs];
                match looks {
                    true => choose(&mut learner, &obs, Sampling::Basic, action),
                    false => learner.act(None, Elements::F32(&obs), None, action).unwrap(),
                }
            }
            (choice, vector)
        };
        let (few, many) = (actions(2), actions(9));
        assert!(few.0 == many.0[..2] && few.1 == many.1[..6]);
        assert!(few.0[0] != few.0[1] || few.1[..3] != few.1[3..]);
    }
}

#[test]
fn a_range_that_is_not_there_or_has_acted_is_refused() {
    let mut h = Host::new("CartPole-v1", &Config { normalize_obs: 1, ..Config::default() });
    let obs = h.obs.clone();
    let mut act = |begin: usize, end: usize| {
        let before = h.learner.clone();
        let rows = end.saturating_sub(begin);
        let obs: Vec<f32> = obs.iter().copied().cycle().take(rows * 4).collect();
        let mut learner = attach(&mut h.learner);
        let done = learner.act_range(begin, end, None, Elements::F32(&obs), None, ElementsMut::I32(&mut vec![0; rows]));
        assert!(done.is_ok() || h.learner == before);
        done.map_err(|e| e.kind)
    };
    assert_eq!(act(0, 5), Err(Kind::Range));
    assert_eq!(act(3, 2), Err(Kind::Range));
    assert_eq!(act(usize::MAX, usize::MAX), Err(Kind::Range));
    assert_eq!((act(2, 2), act(1, 3)), (Ok(()), Ok(())));
    for (begin, end) in [(0, 4), (1, 2), (2, 4)] {
        assert_eq!(act(begin, end), Err(Kind::NotReady));
    }
    assert_eq!((act(3, 4), act(0, 1), act(0, 1)), (Ok(()), Ok(()), Err(Kind::NotReady)));
}

#[test]
fn looking_at_the_policy_does_not_change_the_training() {
    let mut plain = Host::new("CartPole-v1", &Config::default());
    let mut watched = plain.clone();
    plain.train(1);
    while watched.phase() != Phase::Learn {
        let mut actions = [0; 4];
        let obs = watched.obs.clone();
        let mut learner = attach(&mut watched.learner);
        choose(&mut learner, &obs, Sampling::Basic, ElementsMut::I32(&mut actions));
        watched.step();
    }
    watched.learn(0);
    assert_eq!(plain.learn_outcome(), watched.learn_outcome());
}

impl Host {
    /// The exported policy and the statistics, without the random streams and working arrays that queries may change.
    fn learn_outcome(&mut self) -> (Vec<u64>, String) {
        let mut learner = attach(&mut self.learner);
        let (policy, stats) = (export(&learner.view()), format!("{:?}", learner.stats()));
        learner.freeze(false);
        (policy, stats)
    }
}

#[test]
fn every_cpu_level_makes_the_same_bytes() {
    for name in ["CartPole-v1", "Pendulum-v1"] {
        let config = Config { normalize_obs: 1, num_minibatches: 8, hidden_len: [40, 24, 0, 0], ..Config::default() };
        let mut blocks = cpu::LEVELS.map(|level| {
            cpu::set_limit(level);
            let h = trained(name, &config, 2);
            h.learner
        });
        cpu::set_limit(cpu::Level::Avx512);
        let [a, b, c] = &mut blocks;
        assert!(a == b && b == c, "{name}");
    }
}

#[test]
fn an_exported_policy_acts_as_its_learner() {
    for name in ["CartPole-v1", "Pendulum-v1"] {
        let mut h = trained(name, &Config { normalize_obs: 1, ..Config::default() }, 2);
        let obs = h.obs.clone();
        let mut learner = attach(&mut h.learner);
        let bytes = export(&learner.view());
        let policy = policy(&bytes);
        let mut scratch = vec![f32::NAN; policy.scratch_len(4).unwrap()];
        let (mut rng, none) = (Rng::seeded(0), Recurrent::default());
        let seen = Elements::F32(&obs);
        let (mut ints, mut floats) = (([0; 4], [1; 4]), ([0.0; 4], [1.0; 4]));
        let (ours, theirs) = match name {
            "CartPole-v1" => (ElementsMut::I32(&mut ints.0), ElementsMut::I32(&mut ints.1)),
            _ => (ElementsMut::F32(&mut floats.0), ElementsMut::F32(&mut floats.1)),
        };
        choose(&mut learner, &obs, Sampling::Greedy, ours);
        policy.act(4, seen, None, none, Sampling::Greedy, &mut rng, &mut scratch, theirs).unwrap();
        match name {
            "CartPole-v1" => assert_eq!(ints.0, ints.1),
            _ => assert_eq!(floats.0, floats.1),
        }
    }
}

/// An exported policy holds nothing about its training.
#[test]
fn policies_of_one_network_are_the_same_bytes_however_they_train() {
    let export = |config: &Config, obs: &Space<'_>, action: &Space<'_>| {
        export(&attach(&mut made(config, &[], obs, action)).view())
    };
    let config = Config { hidden_len: [8, 8, 0, 0], ..Config::default() };
    // Every field that acting does not read is changed.
    let other = Config {
        seed: config.seed,
        total_steps: 1_000_000,
        num_envs: 7,
        num_hidden: config.num_hidden,
        hidden_len: config.hidden_len,
        activation: config.activation,
        normalize_advantage: 0,
        squash: config.squash,
        use_action_mask: 0,
        learning_rate: 1e-3,
        learning_rate_end: 1e-4,
        clip: 0.3,
        clip_end: 0.1,
        discount: 0.9,
        gae_lambda: 0.8,
        value_coef: 1.0,
        entropy_coef: 0.0,
        value_clip: 0.2,
        max_grad_norm: 1.0,
        target_kl: 0.1,
        adam_epsilon: 1e-8,
        log_std_init: config.log_std_init,
        reward_clip: 1.0,
        accumulate: 1,
        num_chunks: 3,
        algorithm: config.algorithm,
        overlap: 1,
        num_shared: 2,
        num_layers: 0,
        obs_dims: config.obs_dims,
        sequence_len: 0,
        optimizer: Optimizer::RmsProp as u32,
        rms_decay: 0.5,
        rms_momentum: 0.25,
        sum_losses: 1,
        ..config.rollout(30, 5, 9).normalized(config.normalize_obs, 1)
    };
    for action in [Space::discrete(&[3, 2]), Space::unbounded(2), Space::between(&[-1.0], &[1.0])] {
        let (obs, mask) = (Space::unbounded(4), u32::from(action.kind == Element::I32));
        let policy = export(&config, &obs, &action);
        let log_std = if mask == 0 { (-3.0, 1.0) } else { (other.log_std_min, other.log_std_max) };
        let other = Config { use_action_mask: mask, log_std_min: log_std.0, log_std_max: log_std.1, ..other };
        assert!(policy == export(&other, &obs, &action));
        for config in [
            Config { activation: 1, ..config },
            Config { normalize_obs: 1, ..config },
            Config { hidden_len: [8, 9, 0, 0], ..config },
            Config { seed: 2, ..config },
        ] {
            assert!(policy != export(&config, &obs, &action), "{config:?}");
        }
        let clipped = Config { normalize_obs: 1, ..config };
        assert!(export(&clipped, &obs, &action) != export(&Config { obs_clip: 5.0, ..clipped }, &obs, &action));
    }
}

/// Any number of rows, with exactly the required scratch, with and without a mask: the actions equal those of [`Policy::act`].
#[test]
fn a_greedy_act_is_the_greedy_one_of_all_ways_to_act() {
    for name in ["CartPole-v1", "Pendulum-v1"] {
        let mut h = trained(name, &Config { normalize_obs: 1, ..Config::default() }, 2);
        let learner = attach(&mut h.learner);
        let bytes = export(&learner.view());
        let policy = policy(&bytes);
        let obs_len = h.obs.len() / 4;
        for rows in [1, 2, 31, 32, 33, 70] {
            let obs: Vec<f32> =
                (0..rows * obs_len).map(|i| h.obs[i % h.obs.len()] + (i % 13) as f32 * 0.1 - 0.6).collect();
            let mask: Vec<u8> = (0..rows).flat_map(|i| [1, (i % 3) as u8]).collect();
            let len = policy.scratch_len(rows).unwrap();
            let (mut scratch, mut rng) = (vec![f32::NAN; len], Rng::seeded(0));
            let (obs, none, how) = (Elements::F32(&obs), Recurrent::default, Sampling::Greedy);
            if name == "CartPole-v1" {
                for mask in [None, Some(&mask[..])] {
                    let (mut ours, mut theirs) = (vec![0; rows], vec![1; rows]);
                    let [own, other] = [&mut ours, &mut theirs].map(|to| ElementsMut::I32(to));
                    policy.act(rows, obs, mask, none(), how, &mut rng, &mut scratch, other).unwrap();
                    scratch.fill(f32::NAN);
                    policy.act_greedy(rows, obs, mask, none(), &mut scratch, own).unwrap();
                    assert_eq!(ours, theirs);
                    assert!(rows < 31 || (ours.contains(&0) && ours.contains(&1)), "{ours:?} says nothing");
                }
            } else {
                let (mut ours, mut theirs) = (vec![0.0; rows], vec![1.0; rows]);
                let [own, other] = [&mut ours, &mut theirs].map(|to| ElementsMut::F32(to));
                policy.act(rows, obs, None, none(), how, &mut rng, &mut scratch, other).unwrap();
                scratch.fill(f32::NAN);
                policy.act_greedy(rows, obs, None, none(), &mut scratch, own).unwrap();
                assert_eq!(ours, theirs);
            }
            let mut action = vec![0; rows];
            let short = policy.act_greedy(rows, obs, None, none(), &mut scratch[1..], ElementsMut::I32(&mut action));
            assert!(short.is_err());
        }
    }
}

#[test]
fn a_damaged_image_is_refused_and_never_breaks_anything() {
    let config =
        Config { num_envs: 2, num_steps: 4, num_minibatches: 2, hidden_len: [3, 3, 0, 0], ..Config::default() };
    let mut h = trained("CartPole-v1", &config, 1);
    h.step();
    let good = h.learner.clone();
    let size = good.len() * 8;
    let header = 64 + size_of::<Config>() + 24;
    for i in 0..size {
        let mut bad = good.clone();
        bytes(&mut bad)[i] ^= 0x41;
        let before = bad.clone();
        let refused = Learner::attach(bytes(&mut bad)).is_err();
        assert!(bad == before, "attach wrote to byte {i}");
        // Padding behind the header is unused, so it may be accepted.
        if i < 40 || (64..header).contains(&i) {
            assert!(refused, "byte {i}");
        }
        if !refused {
            // Every call on an accepted block returns, whatever its numbers are now.
            let mut h = Host { learner: bad, ..h.clone() };
            let mut learner = attach(&mut h.learner);
            for _ in 0..8 {
                let _ = learner.act(None, Elements::F32(&h.obs), None, ElementsMut::I32(&mut h.choice));
                let last = Some(Elements::F32(&h.final_obs));
                let _ = learner.observe(None, &h.reward, &h.terminated, &h.truncated, last, None);
                let _ = learner.learn(Some(Elements::F32(&h.obs)), None, 1);
            }
        }
    }
    for short in [0, 8, 63, 64, header, size - 64] {
        let mut bad = good.clone();
        assert_eq!(Learner::attach(&mut bytes(&mut bad)[..short]).err().unwrap().kind, Kind::Size, "{short} bytes");
    }
    let mut bad = good.clone();
    bytes(&mut bad)[8..12].reverse();
    let error = Learner::attach(bytes(&mut bad)).err().unwrap();
    assert!(error.kind == Kind::Image && error.what.contains("byte order"), "{error}");
    assert_eq!(Policy::attach(bytes(&mut good.clone())).err().unwrap().kind, Kind::Image);
}

/// A policy is sealed from its export on, a learner from `seal` until it is attached or opened next.
#[test]
fn every_flipped_byte_of_what_is_sealed_is_refused() {
    let config =
        Config { num_envs: 2, num_steps: 4, num_minibatches: 2, hidden_len: [3, 3, 0, 0], ..Config::default() };
    let mut h = trained("CartPole-v1", &config, 1);
    h.step();
    let policy = export(&attach(&mut h.learner).view());
    let mut never = h.clone();
    seal(bytes(&mut h.learner)).unwrap();
    assert!(h.learner != never.learner);
    View::attach(bytes(&mut h.learner)).unwrap();
    let sealed = h.learner.clone();
    for (good, is_policy) in [(&policy, true), (&sealed, false)] {
        let accepts =
            |mem: &mut [u8]| if is_policy { Policy::attach(mem).is_ok() } else { Learner::attach(mem).is_ok() };
        let mut bad = good.clone();
        for i in 0..bad.len() * 8 {
            for mask in [0x01, 0xff] {
                bytes(&mut bad)[i] ^= mask;
                let damaged = bad.clone();
                assert!(!accepts(bytes(&mut bad)), "byte {i}");
                assert!(bad == damaged, "attach wrote to byte {i}");
                assert!(seal(bytes(&mut bad)).is_err() && bad == damaged, "damage at byte {i} was sealed");
                bytes(&mut bad)[i] ^= mask;
            }
        }
        assert!(accepts(bytes(&mut bad)));
    }
    let mut again = policy.clone();
    seal(bytes(&mut again)).unwrap();
    assert!(again == policy);
    // The learner continues as if it had never been sealed, whichever call comes first, and can be saved at any time.
    h.step();
    never.step();
    assert!(h.learner == never.learner);
    attach(&mut h.learner.clone());
    for look in [|mem: &mut [u8]| Learner::attach(mem).map(|_| ()), |mem: &mut [u8]| Learner::open(mem).map(|_| ())] {
        let mut copy = never.learner.clone();
        seal(bytes(&mut copy)).unwrap();
        look(bytes(&mut copy)).unwrap();
        assert!(copy == never.learner);
    }
}

#[test]
fn what_an_accepted_image_exports_is_accepted() {
    let config = Config { num_envs: 2, num_steps: 4, num_minibatches: 2, ..Config::default().normalized(1, 1) };
    let mut h = trained("CartPole-v1", &Config { hidden_len: [3, 3, 0, 0], ..config }, 1);
    let (mut refused, words) = (0, h.learner.len());
    for i in 0..words {
        // NaN, as a double or as two floats.
        let good = std::mem::replace(&mut h.learner[i], u64::MAX);
        match Learner::attach(bytes(&mut h.learner)) {
            Ok(learner) => drop(export(&learner.view())),
            Err(_) => refused += 1,
        }
        h.learner[i] = good;
    }
    assert!(refused > 100 && refused < words, "{refused} of {words}");
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let mut h = Host::new("CartPole-v1", &Config::default());
    let refuse = |h: &mut Host, kind: Kind, call: &dyn Fn(&mut Learner<'_>, &mut Host) -> rlcore::error::Result| {
        let before = h.learner.clone();
        let mut scratch = h.clone();
        let error = call(&mut attach(&mut h.learner), &mut scratch).unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(h.learner == before, "{error}");
    };
    let act = |p: &mut Learner<'_>, obs: &[f32]| p.act(None, Elements::F32(obs), None, ElementsMut::I32(&mut [0; 4]));
    refuse(&mut h, Kind::Shape, &|p, h| act(p, &h.obs[1..]));
    refuse(&mut h, Kind::Shape, &|p, h| p.act(None, Elements::U8(&[0; 16]), None, ElementsMut::I32(&mut h.choice)));
    refuse(&mut h, Kind::Shape, &|p, h| p.act(None, Elements::F32(&h.obs), None, ElementsMut::I32(&mut [0; 3])));
    refuse(&mut h, Kind::Shape, &|p, h| p.act(None, Elements::F32(&h.obs), None, ElementsMut::F32(&mut [0.0; 4])));
    refuse(&mut h, Kind::Shape, &|p, h| {
        p.act(None, Elements::F32(&h.obs), Some(&[1; 8]), ElementsMut::I32(&mut h.choice))
    });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        refuse(&mut h, Kind::Value, &|p, h| {
            h.obs[7] = bad;
            act(p, &h.obs)
        });
    }
    refuse(&mut h, Kind::NotReady, &|p, h| p.observe(None, &h.reward, &h.terminated, &h.truncated, None, None));
    refuse(&mut h, Kind::NotReady, &|p, h| p.learn(Some(Elements::F32(&h.obs)), None, 0).map(drop));
    let obs = h.obs.clone();
    act(&mut attach(&mut h.learner), &obs).unwrap();
    refuse(&mut h, Kind::NotReady, &|p, h| act(p, &h.obs));
    refuse(&mut h, Kind::Shape, &|p, h| p.observe(None, &[0.0; 3], &h.terminated, &h.truncated, None, None));
    refuse(&mut h, Kind::Shape, &|p, h| p.observe(None, &h.reward, &[0; 5], &h.truncated, None, None));
    refuse(&mut h, Kind::Value, &|p, h| {
        p.observe(None, &[0.0, f32::NAN, 0.0, 0.0], &h.terminated, &h.truncated, None, None)
    });
    refuse(&mut h, Kind::Null, &|p, h| p.observe(None, &h.reward, &[0; 4], &[0, 0, 7, 0], None, None));
    refuse(&mut h, Kind::Value, &|p, h| {
        h.final_obs[2 * 4 + 1] = f32::NAN;
        p.observe(None, &h.reward, &[0; 4], &[0, 0, 1, 0], Some(Elements::F32(&h.final_obs)), None)
    });
    // A terminated episode needs no final observation, and rows that were not truncated are not read.
    let mut learner = attach(&mut h.learner);
    learner.observe(None, &h.reward, &[0, 0, 1, 0], &[0, 0, 1, 0], None, None).unwrap();
    act(&mut learner, &obs).unwrap();
    let unread = [[f32::NAN; 4], [f32::NAN; 4], [0.0; 4], [f32::NAN; 4]].concat();
    learner.observe(None, &h.reward, &[0; 4], &[0, 0, 1, 0], Some(Elements::F32(&unread)), None).unwrap();
    h.play();
    refuse(&mut h, Kind::Null, &|p, _| p.learn(None, None, 0).map(drop));
    refuse(&mut h, Kind::Value, &|p, _| p.learn(Some(Elements::F32(&[f32::NAN; 16])), None, 0).map(drop));
    refuse(&mut h, Kind::Config, &|p, h| {
        p.predict(Elements::F32(&h.obs), None, Recurrent::default(), Sampling::TopK(0), ElementsMut::I32(&mut h.choice))
    });
}

/// Two action elements, of 3 and 2 choices: the first is right if it equals the lit pixel, the second if it is 1. The last
/// choice of the first element is forbidden whenever pixel 2 is dark, where it would be wrong.
#[test]
fn several_choices_from_bytes_under_a_mask_are_learnt() {
    const N: usize = 16;
    let config = Config { num_envs: N as u32, num_steps: 8, use_action_mask: 1, ..Config::default() };
    let config = Config { learning_rate: 3e-3, entropy_coef: 0.02, max_grad_norm: 0.0, ..config };
    let (obs_space, action_space) = (Space::bytes(3), Space::discrete(&[3, 2]));
    let mut block = made(&config, &[], &obs_space, &action_space);
    let mut learner = attach(&mut block);
    let mut rng = Rng::seeded(3);
    let mut obs = [0u8; N * 3];
    let mut mask = [1u8; N * 5];
    let mut draw = |obs: &mut [u8], mask: &mut [u8], lit: &mut [i32]| {
        for ((row, mask), lit) in obs.chunks_mut(3).zip(mask.chunks_mut(5)).zip(lit) {
            *lit = rng.integers(0, 3) as i32;
            row.fill(0);
            row[*lit as usize] = 255;
            mask[2] = u8::from(*lit == 2);
        }
    };
    let (mut lit, mut action, mut mean) = ([0; N], [0; N * 2], 0.0);
    for _ in 0..60 {
        mean = 0.0;
        for _ in 0..8 {
            draw(&mut obs, &mut mask, &mut lit);
            learner.act(None, Elements::U8(&obs), Some(&mask), ElementsMut::I32(&mut action)).unwrap();
            let right = |(a, lit): (&[i32], &i32)| f32::from(a[0] == *lit) + f32::from(a[1] == 1);
            let reward: Vec<f32> = action.chunks(2).zip(&lit).map(right).collect();
            assert!(action.chunks(2).zip(&lit).all(|(a, &lit)| a[0] != 2 || lit == 2), "a forbidden choice");
            mean += reward.iter().sum::<f32>() / (8 * N) as f32;
            learner.observe(None, &reward, &[1; N], &[0; N], None, None).unwrap();
        }
        learner.learn(Some(Elements::U8(&obs)), None, 0).unwrap();
    }
    assert!(mean > 1.9, "mean reward {mean} of 2");
    let dark = [0u8; N * 5];
    let before = block.clone();
    let mut learner = attach(&mut block);
    let none = learner.act(None, Elements::U8(&obs), Some(&dark), ElementsMut::I32(&mut action));
    assert_eq!(none.unwrap_err().kind, Kind::Value);
    assert_eq!(
        learner.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut action)).unwrap_err().kind,
        Kind::Shape
    );
    assert!(block == before);
}

#[test]
fn an_update_ends_once_the_policy_has_moved_too_far() {
    let config = Config { target_kl: 1e-7, learning_rate: 1e-2, ..Config::default() };
    let mut h = Host::new("CartPole-v1", &config);
    h.play();
    // The first minibatch still sees the policy that acted.
    assert_eq!(h.learn(1).minibatches_left, 15);
    assert_eq!((h.learn(1).minibatches_left, h.phase()), (0, Phase::Act));
}

#[test]
fn frozen_statistics_stay_and_go_on_scaling() {
    let config = Config { num_steps: 32, normalize_obs: 1, normalize_reward: 1, ..Config::default() };
    let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
    let mut block = made(&config, &[], &obs_space, &action_space);
    let mut learner = attach(&mut block);
    let obs = [1000.0, -1000.0, 1000.0, -1000.0];
    let rollout = |learner: &mut Learner<'_>, steps: u32| {
        for _ in 0..steps {
            learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut [0; 4])).unwrap();
            learner.observe(None, &obs, &[1; 4], &[0; 4], None, None).unwrap();
        }
    };
    let policy = |learner: &Learner<'_>| export(&learner.view());
    rollout(&mut learner, 32);
    learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
    learner.freeze(true);
    let frozen = policy(&learner);
    rollout(&mut learner, 32);
    assert!(policy(&learner) == frozen, "statistics moved while frozen");
    let stats = learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
    assert!(stats.value_loss < 1.0, "rewards of a thousand were not scaled: {stats:?}");
    learner.freeze(false);
    let before = policy(&learner);
    rollout(&mut learner, 1);
    assert!(policy(&learner) != before, "statistics stay although they are not frozen");
}

#[test]
fn sampling_methods_choose_as_they_say() {
    let mut h = trained("Probe4", &probe_config(), 4);
    let n = h.reward.len();
    let obs = vec![0.0; n];
    let mut often = |sampling: Sampling| {
        let mut learner = attach(&mut h.learner);
        let (mut action, mut ones) = (vec![0; n], 0);
        for _ in 0..500 {
            choose(&mut learner, &obs, sampling, ElementsMut::I32(&mut action));
            ones += action.iter().filter(|&&a| a == 1).count();
        }
        ones as f64 / (500 * n) as f64
    };
    let basic = often(Sampling::Basic);
    assert!(basic > 0.55 && basic < 0.999, "half-learnt: {basic}");
    assert_eq!(often(Sampling::Greedy), 1.0);
    assert_eq!(often(Sampling::TopK(1)), 1.0);
    assert_eq!(often(Sampling::BottomK(1)), 0.0);
    assert!((often(Sampling::TopK(2)) - basic).abs() < 0.03);
    let hot = often(Sampling::Temperature(10.0));
    assert!(hot < basic && hot > 0.45, "nearly even: {hot}");
    assert!(often(Sampling::Temperature(0.1)) > basic);
}

#[test]
fn spaces_that_do_not_fit_are_refused() {
    let config = Config::default();
    let obs = Space::unbounded(4);
    let refuse = |config: &Config, obs: &Space<'_>, action: &Space<'_>| {
        Learner::size(config, &[], obs, action).unwrap_err().kind
    };
    assert_eq!(refuse(&config, &Space::unbounded(0), &Space::discrete(&[2])), Kind::Config);
    assert_eq!(refuse(&config, &obs, &Space::discrete(&[])), Kind::Config);
    assert_eq!(refuse(&config, &obs, &Space::discrete(&[2, 0])), Kind::Config);
    assert_eq!(refuse(&config, &obs, &Space::discrete(&[u32::MAX, 2])), Kind::Overflow);
    assert_eq!(refuse(&config, &obs, &Space::bytes(3)), Kind::Config);
    let uncounted = Space { n: &[], ..Space::discrete(&[2]) };
    assert_eq!(refuse(&config, &uncounted, &Space::discrete(&[2])), Kind::Config);
    assert_eq!(refuse(&config, &obs, &Space::between(&[1.0], &[0.0])), Kind::Config);
    assert_eq!(refuse(&config, &obs, &Space::between(&[f32::NAN], &[0.0])), Kind::Config);
    assert_eq!(refuse(&Config { use_action_mask: 1, ..config }, &obs, &Space::unbounded(1)), Kind::Config);
    let wide = Config { num_hidden: 4, hidden_len: [u32::MAX; 4], ..config };
    assert_eq!(refuse(&wide, &Space::unbounded(u32::MAX), &Space::unbounded(u32::MAX)), Kind::Overflow);
}
