//! Off-policy learners as a host runs them: slices and chunks, saves in the middle, refusals, and training to success.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, attach, export, forge_learners, learn_all, made, open, outcome, policy};
use rlcore::env::{Builtin, Env, VecEnv, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Optimizer, Phase, Recurrent, Sampling, Stats};
use rlcore::nn::{Activation, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

/// Environments and a learner, each in its block.
#[derive(Clone)]
struct Training {
    env: Builtin,
    envs: Vec<u64>,
    learner: Vec<u64>,
    obs: Vec<f32>,
    final_obs: Vec<f32>,
    choice: Vec<i32>,
    vector: Vec<f32>,
    max_slices: u32,
}

impl Training {
    fn new(name: &str, config: &Config) -> Training {
        let env = Builtin::from_name(name).unwrap();
        let (spec, n) = (env.spec(), config.num_envs as usize);
        let vec_config = VecEnvConfig { num_envs: config.num_envs, seed: config.seed, ..VecEnvConfig::default() };
        let mut t = Training {
            envs: vec![0; VecEnv::size(&env, &vec_config).unwrap().div_ceil(8)],
            learner: vec![0; Learner::size(config, &[], &spec.obs, &spec.action).unwrap().div_ceil(8)],
            obs: vec![0.0; n * spec.obs.len as usize],
            final_obs: vec![0.0; n * spec.obs.len as usize],
            choice: vec![0; n * spec.action.len as usize],
            vector: vec![0.0; n * spec.action.len as usize],
            max_slices: 0,
            env,
        };
        VecEnv::init(bytemuck::cast_slice_mut(&mut t.envs), &env, &vec_config)
            .unwrap()
            .reset(None, ElementsMut::F32(&mut t.obs))
            .unwrap();
        Learner::init(bytemuck::cast_slice_mut(&mut t.learner), config, &[], &spec.obs, &spec.action).unwrap();
        t
    }

    fn learner(&mut self) -> Learner<'_> {
        open(&mut self.learner)
    }

    /// Runs until `num_steps` environment steps are observed and no learning is due.
    fn run(&mut self, num_steps: u64) -> Stats {
        loop {
            let max_slices = self.max_slices;
            let mut learner = self.learner();
            if learner.phase() == Phase::Learn {
                learner.learn(None, None, max_slices).unwrap();
            } else if learner.stats().num_steps >= num_steps {
                return learner.stats();
            } else {
                self.step().unwrap();
            }
        }
    }

    /// Acts, steps and observes.
    fn step(&mut self) -> Result {
        let n = self.learner().config().num_envs as usize;
        let discrete = self.env.spec().action.kind == Element::I32;
        let (mut reward, mut ends) = (vec![0.0; n], [vec![0; n], vec![0; n]]);
        let mut envs = VecEnv::attach(bytemuck::cast_slice_mut(&mut self.envs), &self.env).unwrap();
        let mut learner = open(&mut self.learner);
        let to = if discrete { ElementsMut::I32(&mut self.choice) } else { ElementsMut::F32(&mut self.vector) };
        learner.act(None, Elements::F32(&self.obs), None, to)?;
        let action = if discrete { Elements::I32(&self.choice) } else { Elements::F32(&self.vector) };
        let [terminated, truncated] = &mut ends;
        envs.step(action, outcome(&mut self.obs, &mut self.final_obs, &mut reward, terminated, truncated))?;
        learner.observe(None, &reward, &ends[0], &ends[1], Some(Elements::F32(&self.final_obs)), None)
    }

    /// The mean return of `episodes` episodes of the exported policy.
    fn evaluate(&mut self, episodes: u32) -> f32 {
        let env = self.env;
        let brain = export(&self.learner().view());
        let policy = policy(&brain);
        let n = episodes as usize;
        let config = VecEnvConfig { num_envs: episodes, seed: 1000, ..VecEnvConfig::default() };
        let mut block = vec![0u64; VecEnv::size(&env, &config).unwrap().div_ceil(8)];
        let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &env, &config).unwrap();
        let (spec, mut rng) = (env.spec(), Rng::seeded(1));
        let mut obs = vec![0.0; n * spec.obs.len as usize];
        let mut final_obs = obs.clone();
        let (mut choice, mut vector) = (vec![0; n], vec![0.0; n * spec.action.len as usize]);
        let (mut reward, mut ends) = (vec![0.0; n], [vec![0; n], vec![0; n]]);
        let (mut total, mut running) = (vec![0.0; n], vec![true; n]);
        let mut scratch = vec![0.0; policy.scratch_len(n).unwrap()];
        envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
        while running.contains(&true) {
            let discrete = spec.action.kind == Element::I32;
            let to = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
            let (seen, state) = (Elements::F32(&obs), Recurrent::default());
            policy.act(n, seen, None, state, Sampling::Basic, &mut rng, &mut scratch, to).unwrap();
            let action = if discrete { Elements::I32(&choice) } else { Elements::F32(&vector) };
            let [terminated, truncated] = &mut ends;
            envs.step(action, outcome(&mut obs, &mut final_obs, &mut reward, terminated, truncated)).unwrap();
            for i in 0..n {
                total[i] += if running[i] { reward[i] } else { 0.0 };
                running[i] &= ends[0][i] | ends[1][i] == 0;
            }
        }
        total.iter().sum::<f32>() / episodes as f32
    }
}

/// Small networks that start to learn early.
fn small() -> Config {
    Config {
        train_interval: 2,
        target_interval: 10,
        exploration_steps: 200,
        ..Config::of(Algorithm::Dqn).hidden(&[16]).rate(5e-3).store(300, 14, 30)
    }
}

#[test]
fn the_right_action_is_learnt_with_every_option() {
    for (double_q, dueling, huber, target_rate, n_step, priority_exponent) in
        [(0, 0, 0, 1.0, 1, 0.0), (1, 1, 1, 0.1, 1, 0.0), (1, 0, 0, 0.2, 1, 1.0), (1, 0, 1, 1.0, 3, 0.6)]
    {
        let config = Config { double_q, dueling, huber, target_rate, n_step, priority_exponent, seed: 3, ..small() };
        let mut t = Training::new("Probe5", &config);
        assert!(t.evaluate(40) < 0.99, "it is to be learnt");
        let stats = t.run(1200);
        assert!(t.evaluate(40) > 0.99 && stats.num_updates == (1200 - 30) / 2 + 1, "{stats:?}");
        assert!(stats.value_loss < 0.1 && stats.num_dropped == 0, "{stats:?}");
    }
    // A reward at the end of ten steps.
    for n_step in [1, 3] {
        let mut t = Training::new("Probe6", &Config { num_envs: 2, gradient_steps: 2, n_step, ..small() });
        t.run(1500);
        assert!(t.evaluate(10) > 0.99, "{n_step} steps");
    }
}

#[test]
fn slices_and_pauses_change_no_bit_and_chunks_the_last_ones() {
    let mut plain: Vec<f32> = Vec::new();
    for (n_step, num_chunks) in [1, 3].into_iter().flat_map(|n| [1, 2, 3, 7].map(|chunks| (n, chunks))) {
        let own = small();
        let config =
            Config { num_envs: 3, gradient_steps: 2, dueling: 1, num_chunks, max_grad_norm: 0.0, n_step, ..own };
        let (priority_exponent, importance_steps) = if n_step > 1 { (0.6, 100) } else { (0.0, 0) };
        let config = Config { priority_exponent, importance_steps, ..config };
        let mut whole = Training::new("CartPole-v1", &config);
        let mut sliced = Training { max_slices: 1, ..whole.clone() };
        whole.run(150);
        sliced.run(150);
        assert!(whole.learner == sliced.learner, "{num_chunks} chunks");
        if num_chunks == 1 {
            plain = whole.learner().params().to_vec();
        }
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
        assert!(whole.learner().params().iter().zip(&plain).all(near), "{num_chunks} chunks");
        // Saved and queried in the middle of a gradient step.
        let mut saved = Training { max_slices: 1, ..Training::new("CartPole-v1", &config) };
        saved.run(149);
        while saved.learner().phase() != Phase::Learn {
            saved.step().unwrap();
        }
        saved.learner().learn(None, None, 1).unwrap();
        let mut other = saved.clone();
        let obs = vec![0.25; 12];
        for sampling in [Sampling::Basic, Sampling::Greedy] {
            let (state, to) = (Recurrent::default(), ElementsMut::I32(&mut [0; 3]));
            other.learner().predict(Elements::F32(&obs), None, state, sampling, to).unwrap();
        }
        other.learner().value(Elements::F32(&obs), None, &mut [0.0; 3]).unwrap();
        attach(&mut other.learner);
        saved.run(200);
        other.run(200);
        assert!(saved.learner().params() == other.learner().params());
    }
}

#[test]
fn parts_of_environments_act_as_all_of_them_do() {
    let (obs, action, n) = (Space::unbounded(2), Space::discrete(&[3, 2]), 5);
    let config = Config { num_envs: n as u32, use_action_mask: 1, batch_size: 5, ..small() };
    let mut block = made(&config, &[], &obs, &action);
    let mut other = block.clone();
    let mut rng = Rng::seeded(5);
    for _ in 0..60 {
        let mut whole = open(&mut block);
        let mut parts = open(&mut other);
        let x: Vec<f32> = (0..2 * n).map(|_| rng.uniform_f32()).collect();
        let mask: Vec<u8> = (0..n).flat_map(|_| [1, u8::from(rng.coin()), 0, u8::from(rng.coin()), 1]).collect();
        let (mut a, mut b) = ([0; 10], [0; 10]);
        whole.act(None, Elements::F32(&x), Some(&mask), ElementsMut::I32(&mut a)).unwrap();
        for (begin, end) in [(0, 2), (2, 3), (3, 5)] {
            let (x, to) = (Elements::F32(&x[2 * begin..2 * end]), ElementsMut::I32(&mut b[2 * begin..2 * end]));
            parts.act_range(begin, end, None, x, Some(&mask[5 * begin..5 * end]), to).unwrap();
        }
        assert_eq!(a, b);
        for (action, mask) in a.chunks(2).zip(mask.chunks(5)) {
            assert!(mask[action[0] as usize] == 1 && mask[3 + action[1] as usize] == 1);
        }
        let truncated = [0, 0, 1, 0, 1].map(|x| x * u8::from(rng.coin()));
        for learner in [&mut whole, &mut parts] {
            learner.observe(None, &[1.0; 5], &[0, 1, 0, 0, 1], &truncated, Some(Elements::F32(&x)), None).unwrap();
            learn_all(learner, 0);
        }
        assert!(block == other);
    }
}

/// Agents that act and observe at their own times, leave, and are truncated: in ranges, in slices and saved before every call
/// they leave the same bytes, however small the store, which holds exactly the complete transitions.
#[test]
fn rows_that_come_and_go_are_saved_at_any_time() {
    let (obs, n) = (Space::unbounded(2), 5);
    let (discrete, real) = (Space::discrete(&[3, 2]), Space::between(&[-1.0, 0.0], &[1.0, 4.0]));
    let stores = [(5, 5, 1), (3, 3, 1), (3, 3, 3), (40, 5, 1), (40, 5, 3)];
    let algorithms = [Algorithm::Dqn, Algorithm::Td3, Algorithm::Sac];
    let all = stores.into_iter().flat_map(|s| algorithms.map(|a| (s, a)));
    let all = all.flat_map(|(s, a)| [false, true].map(|remembers| (s, a, remembers)));
    for ((buffer_size, batch_size, n_step), algorithm, remembers) in all {
        let own = if algorithm == Algorithm::Dqn { small() } else { small_critics(algorithm) };
        let masks = u32::from(algorithm == Algorithm::Dqn);
        let config = Config {
            num_envs: n as u32,
            use_action_mask: masks,
            num_chunks: batch_size,
            policy_interval: if masks == 1 { own.policy_interval } else { 2 },
            n_step,
            ..own.store(buffer_size, batch_size, 8)
        };
        let action = if masks == 1 { &discrete } else { &real };
        let cell = [Layer::recurrent(LayerKind::Gru, 3)];
        let (layers, memory) = if remembers { (&cell[..], 1) } else { (&[][..], 0) };
        let config = Config {
            num_layers: memory,
            sequence_len: memory * batch_size,
            burn_in: memory * 2,
            num_chunks: if remembers { 1 } else { batch_size },
            ..config
        };
        let mut block = made(&config, layers, &obs, action);
        let mut other = block.clone();
        let (mut rng, mut open, mut begun, mut stored, mut updates) = (Rng::seeded(5), [0u8; 5], [0; 5], 0, 0);
        for _ in 0..150 {
            let x: Vec<f32> = (0..2 * n).map(|_| rng.uniform_f32()).collect();
            let mask: Vec<u8> = (0..n).flat_map(|_| [1, u8::from(rng.coin()), 0, u8::from(rng.coin()), 1]).collect();
            let acts = open.map(|open| u8::from(open == 0 && rng.bounded(3) > 0));
            let sees = [0, 1, 2, 3, 4].map(|i| u8::from(open[i] | acts[i] != 0 && rng.bounded(3) > 0));
            let [terminated, truncated, gone] = [6, 6, 12].map(|p| [(); 5].map(|()| u8::from(rng.bounded(p) == 0)));
            let (mut choices, mut vectors) = ([[0; 10]; 2], [[0.0f32; 10]; 2]);
            for (i, block) in [&mut block, &mut other].into_iter().enumerate() {
                let attached = Learner::attach(bytemuck::cast_slice_mut(block));
                let mut l = attached.unwrap_or_else(|e| panic!("{algorithm:?}, store of {buffer_size}: {e}"));
                for (begin, end) in if i == 0 { vec![(0, 5)] } else { vec![(0, 2), (2, 3), (3, 5)] } {
                    let to = match masks {
                        1 => ElementsMut::I32(&mut choices[i][2 * begin..2 * end]),
                        _ => ElementsMut::F32(&mut vectors[i][2 * begin..2 * end]),
                    };
                    let mask = (masks == 1).then_some(&mask[5 * begin..5 * end]);
                    l.act_range(begin, end, Some(&acts[begin..end]), Elements::F32(&x[2 * begin..2 * end]), mask, to)
                        .unwrap();
                }
                let last = Some(Elements::F32(&x));
                l.observe(Some(&sees), &[0.5; 5], &terminated, &truncated, last, None).unwrap();
                while l.phase() == Phase::Learn {
                    l.learn(None, None, i as u32).unwrap();
                    if i == 1 {
                        let mut copy = block.clone();
                        let mut l = attach(&mut copy);
                        let told = l.value(Elements::F32(&x), None, &mut [0.0; 5]).map_err(|error| error.kind);
                        let forgets = remembers && algorithm != Algorithm::Dqn;
                        assert_eq!(told, if forgets { Err(Kind::Disabled) } else { Ok(()) });
                        *block = copy;
                    }
                    l = Learner::open(bytemuck::cast_slice_mut(block)).unwrap();
                }
                l.cut_rows(&gone).unwrap();
                updates = l.stats().num_updates;
                assert_eq!(l.stats().num_dropped, 0);
            }
            assert!(block == other && choices[0] == choices[1] && vectors[0] == vectors[1], "{algorithm:?}");
            for i in 0..5 {
                if acts[i] == 1 {
                    stored += u32::from(begun[i] == n_step);
                    (open[i], begun[i]) = (1, n_step.min(begun[i] + 1));
                }
                if sees[i] == 1 {
                    open[i] = 0;
                    if terminated[i] | truncated[i] == 1 {
                        (stored, begun[i]) = (stored + begun[i], 0);
                    }
                }
                if gone[i] == 1 {
                    (open[i], begun[i]) = (0, 0);
                }
            }
            let l = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
            assert_eq!((l.view().acted(), l.view().stored() as u32), (&open[..], stored.min(buffer_size)));
        }
        assert!(updates > 50, "{updates}");
    }
}

/// The first gradient step on a store of one transition, against its target of reward and next value in f64.
#[test]
fn one_gradient_step_is_that_of_the_formula() {
    let (o, a) = (Space::unbounded(1), Space::discrete(&[2]));
    for (terminated, truncated, huber, optimizer, masked) in [
        (0, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (1, 0, 0, 0, 1),
        (0, 1, 0, 0, 1),
        (0, 1, 1, 0, 0),
        (0, 0, 1, 0, 0),
        (1, 0, 0, Optimizer::RmsProp as u32, 0),
    ] {
        // The mask of the next observation forbids the better choice.
        let mask = |next: bool| (masked == 1).then_some(if next { &[0u8, 1] } else { &[1u8, 1] }.as_slice());
        if Optimizer::from_number(optimizer).is_none() {
            continue;
        }
        let config = Config {
            optimizer,
            use_action_mask: masked,
            train_interval: 1,
            discount: 0.5,
            double_q: 0,
            huber,
            exploration_end: 1.0,
            max_grad_norm: 0.0,
            ..small().hidden(&[]).store(1, 1, 1)
        };
        let mut block = made(&config, &[], &o, &a);
        let mut learner = open(&mut block);
        // Q(x) = [x, 2x + 1]: weights [input, output], then the biases.
        learner.write_params(&[1.0, 2.0, 0.0, 1.0]).unwrap();
        let mut action = [0];
        learner.act(None, Elements::F32(&[3.0]), mask(false), ElementsMut::I32(&mut action)).unwrap();
        let chosen = action[0] as usize;
        learner.observe(None, &[2.0], &[terminated], &[truncated], Some(Elements::F32(&[5.0])), None).unwrap();
        if terminated + truncated == 0 {
            // The next observation completes the transition; the second transition replaces it only once it is complete itself.
            assert_eq!(learner.phase(), Phase::Act);
            learner.act(None, Elements::F32(&[-4.0]), mask(true), ElementsMut::I32(&mut action)).unwrap();
            learner.observe(None, &[9.0], &[0], &[0], None, None).unwrap();
        }
        assert_eq!(learner.phase(), Phase::Learn);
        let best = [1.0, 1.0, 11.0, -4.0][if terminated == 1 {
            0
        } else if truncated == 1 {
            2
        } else {
            3
        }] + if masked == 1 && terminated + truncated == 0 { -3.0 } else { 0.0 };
        let target = 2.0 + if terminated == 1 { 0.0 } else { 0.5 * best };
        let q = [3.0, 7.0][chosen];
        let stats = learner.learn(None, None, 0).unwrap();
        let error: f64 = q - target;
        let want = if huber == 0 {
            0.5 * error * error
        } else {
            f64::max(error.abs() - 0.5, 0.5 * f64::min(error * error, 1.0))
        };
        assert!((f64::from(stats.value_loss) - want).abs() < 1e-5, "{stats:?}, {want}");
        assert!((f64::from(stats.value_mean) - q).abs() < 1e-6);
        // Adam's first step is the rate, against the sign of the gradient, for the weight and the bias that were used. RMSProp
        // does not correct the mean square for its start, so the root of 1 - 0.99 divides the step.
        let rate = if optimizer == 0 { 5e-3 } else { 5e-2 };
        let moved: Vec<f32> = learner.params().iter().zip([1.0, 2.0, 0.0, 1.0]).map(|(a, b)| a - b).collect();
        for (k, moved) in moved.iter().enumerate() {
            let used = k % 2 == chosen;
            let want = if used { -error.signum() * rate } else { 0.0 };
            assert!((f64::from(*moved) - want).abs() < 2e-4 * rate, "{moved} {want}");
        }
        assert_eq!(learner.learn(None, None, 0).unwrap_err().kind, Kind::NotReady);
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (obs, discrete, real) = (Space::unbounded(2), Space::discrete(&[2]), Space::between(&[-1.0], &[1.0]));
    let size = |c: &Config, a: &Space<'_>| Learner::size(c, &[], &obs, a);
    type Spoil = fn(&mut Config);
    let bad: [(&str, Spoil); 29] = [
        ("algorithm that this build has", |c| c.algorithm = 99),
        ("batch_size of at least", |c| c.batch_size = 0),
        ("batch_size of at most", |c| c.batch_size = 301),
        ("num_chunks of at most", |c| c.num_chunks = 15),
        ("train_interval", |c| c.train_interval = 0),
        ("gradient_steps", |c| c.gradient_steps = 0),
        ("gradient_steps of 1 to 10000", |c| c.gradient_steps = 10_001),
        ("target_interval", |c| c.target_interval = 0),
        ("policy_interval", |c| c.policy_interval = 0),
        ("n_step of at least", |c| c.n_step = 0),
        ("n_step of at most", |c| c.n_step = 301),
        ("priority_exponent", |c| c.priority_exponent = 1.5),
        ("importance_exponent of 0 to 1", |c| (c.priority_exponent, c.importance_exponent) = (0.5, f32::NAN)),
        ("importance_exponent is set", |c| c.importance_exponent = 0.5),
        ("target_rate", |c| c.target_rate = 0.0),
        ("exploration_start", |c| c.exploration_start = 1.5),
        ("exploration_end", |c| c.exploration_end = f32::NAN),
        ("double_q", |c| c.double_q = 2),
        ("dueling", |c| c.dueling = 2),
        ("huber", |c| c.huber = 2),
        ("obs_clip", |c| c.obs_clip = 1.0),
        ("reward_clip", |c| c.reward_clip = 1.0),
        ("overlap", |c| c.overlap = 1),
        ("sequence_len of at least 1 with recurrent layers", |c| c.sequence_len = 2),
        ("sequence_len that divides batch_size", |c| c.sequence_len = 3),
        ("burn_in of at most buffer_size, or 0 without", |c| c.burn_in = 1),
        ("optimizer", |c| c.optimizer = 9),
        ("sum_losses", |c| c.sum_losses = 1),
        ("num_stacked of 0, or observations of bytes", |c| c.num_stacked = 2),
    ];
    for (word, spoil) in bad {
        let mut config = small();
        spoil(&mut config);
        let error = size(&config, &discrete).unwrap_err();
        assert!(error.kind == Kind::Config && error.what.contains(word), "{word}: {error}");
    }
    assert_eq!(size(&small(), &real).unwrap_err().kind, Kind::Config);
}

#[test]
fn calls_that_cannot_be_are_refused_by_kind() {
    let mut block = made(&Config { huber: 0, ..small() }, &[], &Space::unbounded(2), &Space::discrete(&[2]));
    let mut learner = open(&mut block);
    let kind = |r: Result| r.unwrap_err().kind;
    let (x, mut action) = ([0.5, 0.5], [0]);
    assert_eq!(kind(learner.observe(None, &[1.0], &[0], &[0], None, None)), Kind::NotReady);
    let nan = Elements::F32(&[f32::NAN, 0.0]);
    assert_eq!(kind(learner.act(None, nan, None, ElementsMut::I32(&mut action))), Kind::Value);
    assert_eq!(kind(learner.act(None, Elements::F32(&x), Some(&[1, 1]), ElementsMut::I32(&mut action))), Kind::Shape);
    let both = learner.act_range(0, 2, None, Elements::F32(&x), None, ElementsMut::I32(&mut action));
    assert_eq!(kind(both), Kind::Range);
    learner.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut action)).unwrap();
    assert_eq!(kind(learner.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut action))), Kind::NotReady);
    assert_eq!(kind(learner.observe(None, &[f32::INFINITY], &[0], &[0], None, None)), Kind::Value);
    assert_eq!(kind(learner.observe(None, &[1.0], &[0], &[1], None, None)), Kind::Null);
    assert_eq!(kind(learner.observe(None, &[1.0], &[0], &[1], Some(Elements::F32(&[f32::NAN; 2])), None)), Kind::Value);
    assert_eq!(kind(learner.write_params(&vec![1e7; 2 * 16 + 16 + 16 * 2 + 2])), Kind::Value);
    assert_eq!(learner.learn(None, None, 0).unwrap_err().kind, Kind::NotReady);
    // An overflow ends an update, not the learner.
    while learner.phase() != Phase::Learn {
        if learner.phase() == Phase::Act {
            learner.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut action)).unwrap();
        }
        learner.observe(None, &[3e38], &[1], &[0], None, None).unwrap();
    }
    assert_eq!(kind(learner.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut action))), Kind::NotReady);
    assert_eq!(learner.learn(None, None, 0).unwrap_err().kind, Kind::Value);
    assert_eq!((learner.phase(), learner.stats().num_dropped), (Phase::Act, 1));
}

/// A block with any one word forged is refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_harmless() {
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[3, 2]));
    let config = Config { num_envs: 2, num_chunks: 2, ..small().hidden(&[2]).store(4, 3, 4) };
    let config = Config { dueling: 1, use_action_mask: 1, n_step: 2, priority_exponent: 0.6, ..config };
    let mut block = made(&config, &[], &obs, &action);
    let call = |learner: &mut Learner<'_>| -> Result {
        let (x, mask, mut choice) = (Elements::F32(&[0.5, -1.0]), Some(&[1u8; 10][..]), [0; 4]);
        learner.predict(x, mask, Recurrent::default(), Sampling::Basic, ElementsMut::I32(&mut choice))?;
        match learner.phase() {
            Phase::Act => learner.act(None, x, mask, ElementsMut::I32(&mut choice)),
            Phase::Observe => learner.observe(Some(&[1, 0]), &[1.0; 2], &[0; 2], &[1; 2], Some(x), None),
            Phase::Learn => learner.learn(None, None, 1).map(drop),
        }
    };
    let mut blocks = vec![block.clone()];
    for _ in 0..6 {
        let mut learner = open(&mut block);
        learner.act(None, Elements::F32(&[0.5, 0.0]), Some(&[1; 10]), ElementsMut::I32(&mut [0; 4])).unwrap();
        learner.observe(None, &[1.0; 2], &[0, 1], &[0; 2], None, None).unwrap();
        if learner.phase() == Phase::Learn {
            learner.learn(None, None, 1).unwrap();
            blocks.push(block.clone());
            open(&mut block).learn(None, None, 0).unwrap();
        }
    }
    assert!(blocks.len() >= 2);
    forge_learners(&blocks, &[1, 3, 5, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 4, call);
}

/// TD3 and SAC learners that start to learn early.
fn small_critics(algorithm: Algorithm) -> Config {
    let preset = Config::of(algorithm);
    Config {
        squash: 1,
        double_q: 0,
        batch_size: 14,
        num_critics: 2,
        policy_interval: preset.policy_interval,
        algorithm: algorithm as u32,
        ..small()
    }
}

#[test]
fn pendulum_is_learnt_with_continuous_actions() {
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let mut config = Config {
            hidden_len: [32, 32, 0, 0],
            batch_size: 64,
            learning_starts: 100,
            exploration_steps: 100,
            ..Config::of(algorithm).rate(1e-3)
        };
        if algorithm == Algorithm::Sac {
            (config.temperature, config.temperature_rate) = (0.5, 1e-3);
        }
        let mut t = Training::new("Pendulum-v1", &config);
        assert!(t.evaluate(20) < -700.0, "it is to be learnt");
        let stats = t.run(8000);
        let mean = t.evaluate(20);
        assert!(mean > -500.0 && stats.num_dropped == 0, "{algorithm:?}: {mean} {stats:?}");
        let obs = [1.0, 0.0, 0.0];
        let mut value = [0.0];
        t.learner().value(Elements::F32(&obs), None, &mut value).unwrap();
        assert!(value[0] < 30.0 && value[0] > -300.0, "{value:?}");
    }
}

#[test]
fn slices_copies_and_chunks_of_critics_change_no_bit() {
    for (algorithm, num_critics) in [(Algorithm::Td3, 2), (Algorithm::Td3, 1), (Algorithm::Sac, 2), (Algorithm::Sac, 1)]
    {
        for num_chunks in [1, 2, 3, 7] {
            let own = small_critics(algorithm);
            let config = Config { num_envs: 3, gradient_steps: 2, num_chunks, num_critics, ..own };
            let mut whole = Training::new("Pendulum-v1", &config);
            let mut sliced = Training { max_slices: 1, ..whole.clone() };
            let stats = whole.run(120);
            sliced.run(120);
            assert!(whole.learner == sliced.learner, "{algorithm:?}, {num_chunks} chunks");
            assert!(stats.num_dropped == 0 && (algorithm == Algorithm::Td3 || stats.entropy != 0.0));
            // Saved in the middle of a gradient step, before and after the step of the critics.
            for slices in [1, num_chunks + 1] {
                let mut saved = Training { max_slices: 1, ..Training::new("Pendulum-v1", &config) };
                saved.run(119);
                while saved.learner().phase() != Phase::Learn {
                    saved.step().unwrap();
                }
                saved.learner().learn(None, None, slices).unwrap();
                let mut other = saved.clone();
                let obs = vec![0.25; 9];
                for sampling in [Sampling::Basic, Sampling::Greedy, Sampling::Temperature(0.5)] {
                    let to = ElementsMut::F32(&mut [0.0; 3]);
                    other.learner().predict(Elements::F32(&obs), None, Recurrent::default(), sampling, to).unwrap();
                }
                other.learner().value(Elements::F32(&obs), None, &mut [0.0; 3]).unwrap();
                attach(&mut other.learner);
                saved.run(180);
                other.run(180);
                assert!(saved.learner().params() == other.learner().params());
            }
        }
    }
}

/// The steps of an episode and its transitions by the definition: over n steps, or over the steps up to the end.
struct Episode {
    n: usize,
    discount: f64,
    /// Observation, action and reward.
    steps: Vec<[f64; 3]>,
}

impl Episode {
    fn new(config: &Config) -> Episode {
        Episode { n: config.n_step as usize, discount: config.discount.into(), steps: vec![] }
    }

    /// Observation, action, discounted rewards, discount and next observation; the last two are 0 without `next`.
    fn transition(&self, t: usize, next: Option<f64>) -> [f64; 5] {
        let rewards = self.steps[t..].iter().take(self.n).enumerate();
        let sum = rewards.clone().map(|(k, step)| self.discount.powi(k as i32) * step[2]).sum();
        let discount = if next.is_some() { self.discount.powi(rewards.len() as i32) } else { 0.0 };
        [self.steps[t][0], self.steps[t][1], sum, discount, next.unwrap_or(0.0)]
    }

    /// The transition of n steps that leads to the observation `next`.
    fn sees(&self, next: f64) -> Option<[f64; 5]> {
        self.steps.len().checked_sub(self.n).map(|t| self.transition(t, Some(next)))
    }

    /// The transitions that the end cuts short; `next` is `None` for a termination.
    fn ends(&mut self, next: Option<f64>) -> Vec<[f64; 5]> {
        let len = self.steps.len();
        let last = (len.saturating_sub(self.n)..len).map(|t| self.transition(t, next)).collect();
        self.steps.clear();
        last
    }
}

/// Agents that come and go, with masks: gradient steps of a linear Q equal those on transitions by the definition, in f64.
#[test]
fn n_steps_are_those_of_the_definition() {
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    for n_step in 1..=5 {
        let config = Config { num_envs: 3, use_action_mask: 1, ..small().hidden(&[]).plain_adam().store(11, 4, 20) };
        let config = Config { num_chunks: 2, train_interval: 1, target_interval: 1, discount: 0.8, ..config };
        let config = Config { double_q: 0, huber: 0, exploration_end: 0.5, n_step, seed: 9, ..config };
        let mut block = made(&config, &[], &obs, &action);
        let mut l = open(&mut block);
        // Q(o) = [w0 o + b0, w1 o + b1].
        let mut params = [0.5f32, -0.75, 0.25, 0.0];
        l.write_params(&params).unwrap();
        let mut twin = params.map(f64::from);
        let (mut rng, mut draws) = (Rng::seeded(n_step.into()), Rng::stream(9, 2 << 32));
        let mut stored: Vec<([f64; 5], [u8; 2])> = vec![];
        let (mut episodes, mut open) = ([(); 3].map(|()| Episode::new(&config)), [0u8; 3]);
        let mut begun = [[0.0; 2]; 3];
        let mut learnt = 0;
        for _ in 0..150 {
            let [x, last, reward] = [(); 3].map(|()| [(); 3].map(|()| 2.0 * rng.uniform_f32() - 1.0));
            let mask = [(); 3].map(|()| [[1, 1], [1, 0], [0, 1]][rng.bounded(2) as usize]);
            let acts = open.map(|open| u8::from(open == 0 && rng.bounded(3) > 0));
            let mut a = [0; 3];
            l.act(Some(&acts), Elements::F32(&x), Some(&mask.concat()), ElementsMut::I32(&mut a)).unwrap();
            for i in (0..3).filter(|&i| acts[i] == 1) {
                stored.extend(episodes[i].sees(x[i].into()).map(|t| (t, mask[i])));
                (open[i], begun[i]) = (1, [x[i].into(), a[i].into()]);
            }
            let sees = open.map(|open| u8::from(open == 1 && rng.bounded(3) > 0));
            let [terminated, truncated, gone] = [9, 9, 20].map(|p| [(); 3].map(|()| u8::from(rng.bounded(p) == 0)));
            l.observe(Some(&sees), &reward, &terminated, &truncated, Some(Elements::F32(&last)), None).unwrap();
            for i in (0..3).filter(|&i| sees[i] == 1) {
                episodes[i].steps.push([begun[i][0], begun[i][1], reward[i].into()]);
                open[i] = 0;
                if terminated[i] | truncated[i] == 1 {
                    let next = (terminated[i] == 0).then_some(last[i].into());
                    stored.extend(episodes[i].ends(next).into_iter().map(|t| (t, [1, 1])));
                }
            }
            assert_eq!(l.view().stored(), stored.len().min(11));
            while l.phase() == Phase::Learn {
                let at = |slot: usize| stored[(stored.len() - 1 - slot) / 11 * 11 + slot];
                let (mut grads, mut loss) = ([0.0; 4], 0.0);
                for _ in 0..4 {
                    let ([o, a, sum, discount, next], mask) =
                        at(draws.bounded(stored.len().min(11) as u64 - 1) as usize);
                    let (q, a) = (|o: f64, a: usize| twin[a] * o + twin[2 + a], a as usize);
                    let best = (0..2).filter(|&a| mask[a] == 1).map(|a| q(next, a)).fold(f64::MIN, f64::max);
                    let error = q(o, a) - (sum + discount * best);
                    loss += 0.5 * error * error / 4.0;
                    grads[a] += 2.0 * error * o / 4.0;
                    grads[2 + a] += 2.0 * error / 4.0;
                }
                Twin::descend(config.learning_rate.into(), &mut twin, &grads);
                l.learn(None, None, 2).unwrap();
                params.copy_from_slice(l.params());
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-5 * (1.0 + b.abs());
                assert!(params.iter().zip(&twin).all(|(a, b)| near(*a, *b)), "{n_step} steps: {params:?} {twin:?}");
                if l.phase() != Phase::Learn {
                    // The statistic is a mean over the gradient steps of an update: with one observed row there is one step.
                    assert!(sees != [1, 0, 0] || near(l.stats().value_loss, loss), "{n_step} steps: {loss}");
                }
                learnt += 1;
            }
            l.cut_rows(&gone).unwrap();
            for i in (0..3).filter(|&i| gone[i] == 1) {
                (open[i], episodes[i].steps) = (0, vec![]);
            }
        }
        assert!(learnt > 100, "{learnt}");
    }
}

/// Sums of rewards stay finite, so that the block attaches.
#[test]
fn sums_of_large_rewards_are_finite() {
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    let config = Config { n_step: 3, discount: 1.0, ..small() };
    let mut block = made(&config, &[], &obs, &action);
    for step in 0..6 {
        let mut l = attach(&mut block);
        l.act(None, Elements::F32(&[0.5]), None, ElementsMut::I32(&mut [0])).unwrap();
        l.observe(None, &[f32::MAX * if step < 3 { 1.0 } else { -1.0 }], &[0], &[0], None, None).unwrap();
    }
    attach(&mut block);
}

/// A linear policy and linear critics, of values or of quantiles, with the updates of TD3, SAC and TQC: in f64, from the
/// papers.
struct Twin {
    config: Config,
    params: Vec<f64>,
    target: Vec<f64>,
    temperature: f64,
    taken: u64,
    /// Critic loss, mean value of the first critic, and the policy's loss and entropy at its last update.
    losses: [f64; 4],
}

impl Twin {
    fn is_sac(&self) -> bool {
        self.config.algorithm() == Algorithm::Sac
    }

    /// A weight, a bias and a free number; for SAC also weight and bias of the log deviation.
    fn policy_len(&self) -> usize {
        if self.is_sac() { 5 } else { 3 }
    }

    /// The mean and the logarithm of the deviation.
    fn policy(&self, params: &[f64], o: f64) -> (f64, f64) {
        (params[0] * o + params[1], if self.is_sac() { params[3] * o + params[4] } else { 0.0 })
    }

    /// SAC's action of a normal draw, and the logarithm of its density.
    fn draw(&self, params: &[f64], o: f64, n: f64) -> (f64, f64) {
        let (mean, log_std) = self.policy(params, o);
        let log_std = log_std.clamp(self.config.log_std_min.into(), self.config.log_std_max.into());
        let action = (mean + log_std.exp() * n).tanh();
        let density = -0.5 * n * n - log_std - 0.5 * std::f64::consts::TAU.ln();
        (action, density - (1.0 - action * action).ln())
    }

    /// Outputs per critic.
    fn width(&self) -> usize {
        self.config.num_quantiles.max(1) as usize
    }

    /// Offset of the parameters of a critic: two weights of each output, then biases.
    fn critic_at(&self, i: usize) -> usize {
        self.policy_len() + 3 * self.width() * i
    }

    fn critic(&self, params: &[f64], i: usize, o: f64, a: f64) -> Vec<f64> {
        let (own, z) = (&params[self.critic_at(i)..], self.width());
        (0..z).map(|k| own[2 * k] * o + own[2 * k + 1] * a + own[2 * z + k]).collect()
    }

    /// The joint value of an action by the first `count` critics, and its slope by the action: the lowest value, or the mean of
    /// all their quantiles.
    fn worth(&self, params: &[f64], count: u32, o: f64, a: f64) -> (f64, f64) {
        let z = self.width();
        let mean = |x: &mut dyn Iterator<Item = f64>| x.sum::<f64>() / z as f64;
        let each = (0..count as usize).map(|i| {
            let by = (0..z).map(|k| params[self.critic_at(i) + 2 * k + 1]);
            (mean(&mut self.critic(params, i, o, a).into_iter()), mean(&mut { by }))
        });
        if self.config.num_quantiles == 0 {
            return each.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        }
        let (value, slope) = each.fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        (value / f64::from(count), slope / f64::from(count))
    }

    /// Outputs of the target critics for the next observation, without the highest: the lowest value, or all quantiles but
    /// `dropped_quantiles` for each critic.
    fn follows(&self, o: f64, a: f64) -> Vec<f64> {
        let c = &self.config;
        let mut pool: Vec<f64> = (0..c.num_critics as usize).flat_map(|i| self.critic(&self.target, i, o, a)).collect();
        let dropped = if c.num_quantiles == 0 { c.num_critics - 1 } else { c.dropped_quantiles * c.num_critics };
        pool.sort_by(f64::total_cmp);
        pool.truncate(pool.len() - dropped as usize);
        pool
    }

    /// The loss of output `k` of a critic, and its slope by the output.
    fn cost(&self, k: usize, own: f64, target: f64) -> (f64, f64) {
        let (error, z) = (own - target, self.width() as f64);
        let huber = if error.abs() < 1.0 { 0.5 * error * error } else { error.abs() - 0.5 };
        // The weight of quantile k for errors of this sign.
        let side = ((k as f64 + 0.5) / z - f64::from(u8::from(error > 0.0))).abs();
        match (self.config.num_quantiles, self.config.huber) {
            (0, 0) => (error * error, 2.0 * error),
            (0, _) => (huber, error.clamp(-1.0, 1.0)),
            (_, 0) => (side * error.abs() / z, side * error.signum() / z),
            _ => (side * huber / z, side * error.clamp(-1.0, 1.0) / z),
        }
    }

    /// Adam with betas of 0 and an epsilon of 1.
    fn descend(rate: f64, params: &mut [f64], grads: &[f64]) {
        params.iter_mut().zip(grads).for_each(|(x, g)| *x -= rate * g / (g.abs() + 1.0));
    }

    /// A gradient step of the policy, and of the temperature, on observations with a normal draw each.
    fn step_policy(&mut self, batch: &[([f64; 5], [f64; 2])]) {
        let (c, len, share) = (self.config, self.policy_len(), 1.0 / batch.len() as f64);
        let wide = |x: f32| f64::from(x);
        let (mut grads, mut entropy) = (vec![0.0; len], 0.0);
        self.losses[2] = 0.0;
        for ([o, ..], [_, n]) in batch {
            let (mean, log_std) = self.policy(&self.params, *o);
            let (action, log_prob) = if self.is_sac() { self.draw(&self.params, *o, *n) } else { (mean.tanh(), 0.0) };
            let count = if self.is_sac() { c.num_critics } else { 1 };
            let (value, slope) = self.worth(&self.params, count, *o, action);
            self.losses[2] += share * (if self.is_sac() { self.temperature * log_prob } else { 0.0 } - value);
            let by_action = -share * slope;
            let weight = if self.is_sac() { share * self.temperature } else { 0.0 };
            let by_raw = by_action * (1.0 - action * action) + 2.0 * weight * action;
            grads[0] += by_raw * o;
            grads[1] += by_raw;
            if self.is_sac() {
                let by_log_std = by_raw * log_std.exp() * n - weight;
                grads[3] += by_log_std * o;
                grads[4] += by_log_std;
            }
            entropy -= share * log_prob;
        }
        self.losses[3] = entropy;
        Self::descend(wide(c.learning_rate), &mut self.params[..len], &grads);
        if self.is_sac() {
            let mut log_temperature = [self.temperature.ln()];
            let slope = self.temperature * (entropy - wide(c.target_entropy));
            Self::descend(wide(c.temperature_rate), &mut log_temperature, &[slope]);
            self.temperature = log_temperature[0].exp();
        }
    }

    /// A gradient step on transitions (observation, action, reward, discount, next observation) with two normal draws each.
    fn step(&mut self, batch: &[([f64; 5], [f64; 2])]) {
        let (c, len, share) = (self.config, self.policy_len(), 1.0 / batch.len() as f64);
        let wide = |x: f32| f64::from(x);
        let mut grads = vec![0.0; self.params.len()];
        self.losses[..2].fill(0.0);
        for ([o, a, reward, discount, next], [n, _]) in batch {
            let (action, log_prob) = if self.is_sac() {
                self.draw(&self.params, *next, *n)
            } else {
                let clip = wide(c.target_noise_clip);
                let noise = (wide(c.target_noise) * n).clamp(-clip, clip);
                ((self.policy(&self.target, *next).0.tanh() + noise).clamp(-1.0, 1.0), 0.0)
            };
            let (follows, z) = (self.follows(*next, action), self.width());
            for i in 0..c.num_critics as usize {
                for (k, own) in self.critic(&self.params, i, *o, *a).into_iter().enumerate() {
                    for value in &follows {
                        let target = reward + discount * (value - self.temperature * log_prob);
                        let (cost, slope) = self.cost(k, own, target);
                        let share = share / follows.len() as f64;
                        self.losses[0] += share * cost;
                        let at = self.critic_at(i);
                        for (at, by) in [(at + 2 * k, *o), (at + 2 * k + 1, *a), (at + 2 * z + k, 1.0)] {
                            grads[at] += share * slope * by;
                        }
                    }
                    self.losses[1] += if i == 0 { share * own / z as f64 } else { 0.0 };
                }
            }
        }
        Self::descend(wide(c.learning_rate) * wide(c.critic_rate), &mut self.params[len..], &grads[len..]);
        self.taken += 1;
        if self.taken.is_multiple_of(c.policy_interval.into()) {
            self.step_policy(batch);
        }
        if self.taken.is_multiple_of(c.target_interval.into()) {
            let part = wide(c.target_rate);
            self.target.iter_mut().zip(&self.params).for_each(|(to, x)| *to += part * (x - *to));
        }
    }
}

/// Consecutive steps of TD3, SAC and TQC against the twin: explored actions, batches and noise come from the documented random
/// streams.
#[test]
fn steps_of_critics_are_those_of_the_formulas() {
    let (obs, action) = (Space::unbounded(1), Space::between(&[-1.0], &[1.0]));
    let values =
        [Algorithm::Td3, Algorithm::Sac].into_iter().flat_map(|own| [(own, 1, 1, 2), (own, 2, 0, 1), (own, 2, 1, 3)]);
    let values = values.map(|case| (case, [0, 0]));
    let quantiles = [((Algorithm::Sac, 2, 1, 1), [3, 1]), ((Algorithm::Sac, 3, 0, 2), [4, 2])];
    for ((algorithm, num_critics, huber, n_step), [num_quantiles, dropped_quantiles]) in values.chain(quantiles) {
        let own = small_critics(algorithm);
        let mut config = Config {
            num_chunks: 2,
            train_interval: 1,
            gradient_steps: 1,
            policy_interval: 2,
            target_interval: 3,
            target_rate: 0.25,
            exploration_start: 0.5,
            exploration_end: 0.5,
            critic_rate: 3.0,
            discount: 0.8,
            num_critics,
            num_quantiles,
            dropped_quantiles,
            huber,
            n_step,
            seed: 9,
            ..own.hidden(&[]).rate(0.05).plain_adam().store(8, 5, 12)
        };
        if algorithm == Algorithm::Sac {
            (config.temperature, config.temperature_rate, config.target_entropy) = (0.4, 0.1, -0.5);
        } else {
            (config.exploration_noise, config.target_noise, config.target_noise_clip) = (0.3, 0.4, 0.3);
        }
        let mut block = made(&config, &[], &obs, &action);
        let mut l = open(&mut block);
        let policy = if algorithm == Algorithm::Sac { vec![0.4, -0.1, 0.0, 0.3, -0.6] } else { vec![0.4, -0.1, 0.0] };
        let critics = [0.5, 0.7, 0.1, -0.2, -0.4, 0.3].into_iter().cycle();
        let len = 3 * num_critics * num_quantiles.max(1);
        // All quantiles differ.
        let critics = critics.zip(0..len).map(|(x, i)| x + 0.01 * (i / 6) as f32);
        let params: Vec<f32> = policy.into_iter().chain(critics).collect();
        l.write_params(&params).unwrap();
        let wide = |x: &[f32]| x.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let mut twin =
            Twin { config, params: wide(&params), target: wide(&params), temperature: 0.4, taken: 0, losses: [0.0; 4] };
        let (mut rng, mut explores, mut draws) = (Rng::seeded(2), Rng::stream(9, 0), Rng::stream(9, 2 << 32));
        let (mut stored, mut episode): (Vec<[f64; 5]>, _) = (vec![], Episode::new(&config));
        for step in 0..60 {
            let (o, reward) = (2.0 * rng.uniform_f32() - 1.0, rng.uniform_f32());
            let (mut a, mut value) = ([0.0], [0.0]);
            l.act(None, Elements::F32(&[o]), None, ElementsMut::F32(&mut a)).unwrap();
            l.value(Elements::F32(&[o]), None, &mut value).unwrap();
            let o = f64::from(o);
            stored.extend(episode.sees(o));
            let (mean, log_std) = twin.policy(&twin.params, o);
            let worth = twin.worth(&twin.params, num_critics, o, mean.tanh()).0;
            let mut normal = [0.0];
            let want = if explores.uniform_f32() < 0.5 {
                f64::from(2.0 * explores.uniform_f32() - 1.0)
            } else {
                explores.fill_normal(&mut normal);
                let n = f64::from(normal[0]);
                match algorithm {
                    Algorithm::Td3 => (mean.tanh() + f64::from(config.exploration_noise) * n).clamp(-1.0, 1.0),
                    _ => (mean + log_std.exp() * n).tanh(),
                }
            };
            let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * (1.0 + b.abs());
            assert!(near(a[0], want) && near(value[0], worth), "{algorithm:?}, step {step}: {a:?} {want}");
            let (terminated, truncated) = (u8::from(step % 5 == 4), u8::from(step % 7 == 6));
            let last = 2.0 * rng.uniform_f32() - 1.0;
            l.observe(None, &[reward], &[terminated], &[truncated], Some(Elements::F32(&[last])), None).unwrap();
            episode.steps.push([o, a[0].into(), reward.into()]);
            if terminated + truncated > 0 {
                stored.extend(episode.ends((terminated == 0).then_some(last.into())));
            }
            assert_eq!(l.phase() == Phase::Learn, step >= 11);
            if l.phase() != Phase::Learn {
                continue;
            }
            // The store is a ring of eight.
            let held = stored.len().min(8);
            let at = |slot: usize| stored[(stored.len() - 1 - slot) / 8 * 8 + slot];
            let slots: Vec<usize> = (0..5).map(|_| draws.bounded(held as u64 - 1) as usize).collect();
            let mut noise = [0.0; 10];
            draws.fill_normal(&mut noise);
            let noise = noise.map(f64::from);
            let batch: Vec<_> = (0..5).map(|i| (at(slots[i]), [noise[i], noise[5 + i]])).collect();
            twin.step(&batch);
            let said = l.learn(None, None, 0).unwrap();
            // TD3's policy has no entropy.
            assert_eq!(said.entropy.is_nan(), algorithm == Algorithm::Td3);
            let entropy = if algorithm == Algorithm::Td3 { 0.0 } else { said.entropy };
            let said = [said.value_loss, said.value_mean, said.policy_loss, entropy];
            // The learner reports the mean over critics, and half of squared errors.
            let halves = if num_quantiles == 0 && huber == 0 { 0.5 } else { 1.0 };
            twin.losses[0] *= halves / num_critics as f64;
            let all_said = said.iter().zip(&twin.losses).all(|(a, b)| near(*a, *b));
            assert!(all_said, "{algorithm:?}, {num_critics}, {num_quantiles}, step {step}: {said:?} {:?}", twin.losses);
            let all_near = l.params().iter().zip(&twin.params).all(|(a, b)| near(*a, *b));
            let what = format!("{algorithm:?}, {num_critics}, {num_quantiles}, step {step}");
            assert!(all_near, "{what}: {:?} {:?}", l.params(), twin.params);
            assert!(near(l.view().temperature(), twin.temperature) || algorithm == Algorithm::Td3);
        }
        assert_eq!(twin.taken, 49);
    }
}

/// The policy learns every `policy_interval` steps, and the exported policy acts with the mean.
#[test]
fn policies_are_delayed_and_ship_their_mean() {
    let config = Config { policy_interval: 3, train_interval: 1, learning_starts: 20, ..small_critics(Algorithm::Td3) };
    let mut t = Training::new("Pendulum-v1", &config);
    t.run(19);
    let len = 3 * 16 + 16 + 16 + 1 + 1; // layers of 3 to 16 to 1 numbers, and a deviation
    let mut moved = 0;
    for step in 1..=9 {
        let before = t.learner().params().to_vec();
        t.run(19 + step);
        let after = t.learner().params().to_vec();
        assert!(before[len..] != after[len..]);
        assert_eq!(before[..len] != after[..len], step % 3 == 0, "step {step}");
        moved += u32::from(before[..len] != after[..len]);
    }
    assert_eq!(moved, 3);
    let brain = export(&t.learner().view());
    let policy = policy(&brain);
    let obs = [0.6, 0.8, -2.0];
    let (mut a, mut b, mut scratch) = ([0.0], [0.0], vec![0.0; policy.scratch_len(1).unwrap()]);
    let (seen, to) = (Elements::F32(&obs), ElementsMut::F32(&mut a));
    policy.act(1, seen, None, Recurrent::default(), Sampling::Greedy, &mut Rng::seeded(1), &mut scratch, to).unwrap();
    t.learner().predict(seen, None, Recurrent::default(), Sampling::Greedy, ElementsMut::F32(&mut b)).unwrap();
    assert!(a == b && a[0].abs() <= 2.0, "{a:?} {b:?}");
    let to = ElementsMut::F32(&mut a);
    policy.act(1, seen, None, Recurrent::default(), Sampling::Basic, &mut Rng::seeded(1), &mut scratch, to).unwrap();
    assert!((a[0] - b[0]).abs() < 1e-5, "a deviation as small as the configuration allows: {a:?} {b:?}");
}

#[test]
fn critics_are_refused_by_name_too() {
    let (obs, discrete, real) = (Space::unbounded(2), Space::discrete(&[2]), Space::between(&[-1.0], &[1.0]));
    type Spoil = fn(&mut Config);
    let bad: [(&str, Spoil); 11] = [
        ("squash of 1", |c| c.squash = 0),
        ("num_critics", |c| c.num_critics = 3),
        ("critic_rate", |c| c.critic_rate = f32::NAN),
        ("exploration_noise", |c| c.exploration_noise = -1.0),
        ("target_noise ", |c| c.target_noise = f32::INFINITY),
        ("target_noise_clip", |c| c.target_noise_clip = -0.5),
        ("temperature ", |c| c.temperature = 0.0),
        ("temperature_rate", |c| c.temperature_rate = 2.0),
        ("target_entropy", |c| c.target_entropy = f32::NAN),
        ("dueling is set", |c| c.dueling = 1),
        ("obs_dims is set", |c| c.obs_dims = [1, 1, 2]),
    ];
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        Learner::size(&small_critics(algorithm), &[], &obs, &real).unwrap();
        for (word, spoil) in bad {
            let mut config = small_critics(algorithm);
            spoil(&mut config);
            let error = Learner::size(&config, &[], &obs, &real).unwrap_err();
            assert!(error.kind == Kind::Config && error.what.contains(word), "{word}: {error}");
        }
        let refused = Learner::size(&small_critics(algorithm), &[], &obs, &discrete).is_err();
        assert_eq!(refused, algorithm == Algorithm::Td3, "SAC takes choices too");
        let fields = [0, 4].map(|offset| Field::new("part", Element::F32, &[1], offset));
        let (layers, parts) = ([Layer::dense(3, Activation::Relu)], Space::unbounded(2).with_fields(&fields));
        let config = Config { obs_dims: [1, 1, 2], num_layers: 1, ..small_critics(algorithm) };
        Learner::size(&config, &layers, &Space::unbounded(2), &real).unwrap();
        let error = Learner::size(&config, &layers, &parts, &real).unwrap_err();
        assert!(error.what.contains("layers that read one of the fields each"), "{error}");
    }
}

#[test]
fn forged_images_of_critics_are_refused_or_harmless() {
    let (obs, action) = (Space::unbounded(1), Space::between(&[-2.0, 0.0], &[2.0, 1.0]));
    let own = small_critics(Algorithm::Sac);
    let config = Config {
        num_chunks: 2,
        train_interval: 1,
        n_step: 2,
        priority_exponent: 1.0,
        ..own.hidden(&[2]).store(4, 3, 3)
    };
    let mut block = made(&config, &[], &obs, &action);
    let mut learner = open(&mut block);
    let call = |learner: &mut Learner<'_>| -> Result {
        let (x, mut action) = (Elements::F32(&[0.5]), [0.0; 2]);
        learner.predict(x, None, Recurrent::default(), Sampling::Basic, ElementsMut::F32(&mut action))?;
        learner.value(x, None, &mut [0.0])?;
        match learner.phase() {
            Phase::Act => learner.act(None, x, None, ElementsMut::F32(&mut action)),
            Phase::Observe => learner.observe(None, &[1.0], &[0], &[1], Some(x), None),
            Phase::Learn => learner.learn(None, None, 1).map(drop),
        }
    };
    while learner.phase() != Phase::Learn {
        call(&mut learner).unwrap();
    }
    learner.learn(None, None, 1).unwrap();
    let first = block.clone();
    open(&mut block).learn(None, None, 2).unwrap();
    forge_learners(&[first, block], &[1, 3, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 6, call);
}
