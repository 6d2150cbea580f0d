//! A learner takes over what another one, of other lengths, hyperparameters, algorithm or layers, or a policy has learned.

#![cfg(all(feature = "noisy", feature = "residual", feature = "unreal"))]

use crate::host::{Host, Tune, export, open, outcome, policy, record, train};
use rlcore::env::{Autoreset, Builtin, VecEnv, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, NamedTensor, Phase, Recurrent, Sampling, TensorsOf, adopt};
use rlcore::nn::{Activation, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

const EVERYTHING: u32 = adopt::PARAMS | adopt::OPTIMIZER | adopt::MOMENTS | adopt::COUNTERS;

fn on(algorithm: Algorithm) -> Config {
    Config { num_envs: 16, num_steps: 8, num_minibatches: 2, ..Config::of(algorithm).hidden(&[6, 5]) }
}

fn off(algorithm: Algorithm) -> Config {
    Config { num_envs: 2, train_interval: 6, ..Config::of(algorithm).hidden(&[6, 5]).store(60, 8, 16) }
}

/// Learners, and those of one environment and other numbers that take over from them.
fn pairs() -> Vec<[Host; 2]> {
    let gru = [Layer::dense(5, Activation::Tanh), Layer::recurrent(LayerKind::Gru, 4)];
    let (obs, choices, numbers) = (Space::unbounded(4), Space::discrete(&[3, 2]), Space::unbounded(2));
    let alone = |c: Config| Config { num_envs: 1, seed: 9, learning_rate: 0.01, ..c };
    let made = |c: Config, layers: &[Layer], action| {
        let other = match c.algorithm() {
            Algorithm::Dqn | Algorithm::Td3 | Algorithm::Sac => alone(c).store(90, 4, 10),
            Algorithm::StreamAc | Algorithm::StreamQ => alone(c),
            _ => Config { num_steps: 4, num_minibatches: 1, ..alone(c) },
        };
        [c, other].map(|c| Host::with(&Config { num_layers: layers.len() as u32, ..c }, layers, &obs, action))
    };
    let remembers = Config { sequence_len: 4, prime_interval: 2, ..on(Algorithm::Ppo).normalized(1, 1) };
    let noisy = Config { noisy: 1, dueling: 1, num_quantiles: 3, ..off(Algorithm::Dqn) };
    vec![
        made(remembers, &gru, &choices),
        made(Config { num_shared: 1, ..on(Algorithm::A2c).normalized(1, 0) }, &[], &numbers),
        made(on(Algorithm::Pqn), &[], &choices),
        made(noisy, &[], &choices),
        made(off(Algorithm::Td3).normalized(1, 1), &[], &numbers),
        made(Config { overlap: 1, ..off(Algorithm::Sac) }, &[], &numbers),
        made(off(Algorithm::Sac), &gru[..1], &choices),
        made(Config { num_envs: 1, ..Config::of(Algorithm::StreamAc).hidden(&[6, 5]) }, &[], &numbers),
    ]
}

fn tensors(h: &Host) -> Vec<NamedTensor> {
    let mut all = vec![bytemuck::Zeroable::zeroed(); h.view().tensors(&mut []).unwrap()];
    h.view().tensors(&mut all).unwrap();
    all
}

/// The numbers of a kind; none if the learner has none.
fn values(h: &Host, of: TensorsOf) -> Vec<f32> {
    let mut values = vec![f32::NAN; h.view().params().len()];
    if h.view().read_tensors(of, &mut values).is_err() { Vec::new() } else { values }
}

/// Errors: those of `adopt`, which then has written nothing.
fn take(to: &mut Host, from: &Host, parts: u32) -> Result {
    let before = to.block.clone();
    let done = to.learner().adopt(&from.view(), parts);
    assert!(done.is_ok() || to.block == before, "{done:?}");
    done
}

#[test]
fn another_learner_goes_on_with_everything_that_one_has_learned() {
    const KINDS: [TensorsOf; 4] =
        [TensorsOf::Params, TensorsOf::Targets, TensorsOf::FirstMoments, TensorsOf::SecondMoments];
    for [mut from, mut to] in pairs() {
        train(&mut from, &mut Rng::seeded(5), 8);
        let targets = if values(&from, TensorsOf::Targets).is_empty() { 0 } else { adopt::TARGETS };
        let moments = if from.view().moments_len() > 0 { adopt::MOMENTS } else { 0 };
        take(&mut to, &from, EVERYTHING & !adopt::MOMENTS | targets | moments).unwrap();
        for of in KINDS {
            assert!(values(&to, of) == values(&from, of), "{of:?} of {:?}", from.config.algorithm());
        }
        assert_eq!(to.moments(), from.moments());
        let (own, other) = (to.view().stats(), from.view().stats());
        assert_eq!(
            (own.num_steps, own.num_updates, own.num_episodes),
            (other.num_steps, other.num_updates, other.num_episodes)
        );
        assert!(own.num_episodes > 0);
        let of =
            |stats: rlcore::learn::Stats| [stats.return_mean, stats.length_mean, stats.return_std].map(f32::to_bits);
        assert_eq!(of(own), of(other));
        let exported = export(&to.view());
        let (params, other) = (policy(&exported), export(&from.view()));
        let (mut a, mut b) = (vec![0.0; params.params_len()], vec![0.0; params.params_len()]);
        params.read_tensors(&mut a).unwrap();
        policy(&other).read_tensors(&mut b).unwrap();
        assert!(a == b);
        train(&mut to, &mut Rng::seeded(6), 2);
        assert_eq!(to.view().stats().num_updates, other_updates(&from) + 2);
    }
}

fn other_updates(h: &Host) -> u64 {
    h.view().stats().num_updates
}

#[test]
fn each_part_alone_leaves_the_others_as_they_are() {
    for [mut from, to] in pairs() {
        train(&mut from, &mut Rng::seeded(5), 3);
        let kinds = [TensorsOf::Params, TensorsOf::FirstMoments];
        for (part, changes) in [
            (adopt::PARAMS, [true, false, false, false]),
            (adopt::OPTIMIZER, [false, true, false, false]),
            (adopt::MOMENTS, [false, false, true, false]),
            (adopt::COUNTERS, [false, false, false, true]),
        ] {
            let mut to = to.clone();
            let before = (kinds.map(|of| values(&to, of)), to.moments(), to.view().stats().num_steps);
            take(&mut to, &from, part).unwrap();
            let after = (kinds.map(|of| values(&to, of)), to.moments(), to.view().stats().num_steps);
            let moments = before.1 != after.1;
            let changed = [before.0[0] != after.0[0], before.0[1] != after.0[1], moments, before.2 != after.2];
            let changes = [changes[0], changes[1], changes[2] && !before.1.is_empty(), changes[3]];
            assert_eq!(changed, changes, "{part} of {:?}", from.config.algorithm());
        }
    }
}

#[test]
fn algorithms_take_over_from_each_other_where_layers_have_the_same_names() {
    let (obs, numbers) = (Space::unbounded(4), Space::unbounded(2));
    let trunk = [Layer::dense(20, Activation::Tanh)];
    let listed = |c: Config| Config { num_layers: 1, ..c };
    let made = |c: &Config| Host::with(c, &trunk, &obs, &numbers);
    let [mut a2c, mut ppo, mut sac] =
        [on(Algorithm::A2c), on(Algorithm::Ppo), off(Algorithm::Sac)].map(|c| made(&listed(c)));
    train(&mut a2c, &mut Rng::seeded(5), 3);
    take(&mut ppo, &a2c, adopt::PARAMS).unwrap();
    assert!(ppo.view().params() == a2c.view().params());
    assert_eq!(take(&mut ppo, &a2c, adopt::OPTIMIZER).unwrap_err().kind, Kind::Config);
    // The policy of SAC has layers of the same names; critics and deviations are its own.
    let before = values(&sac, TensorsOf::Params);
    let error = take(&mut sac, &ppo, adopt::PARAMS).unwrap_err();
    assert!(error.to_string().contains("has no other of its name and dimensions"), "{error}");
    take(&mut sac, &ppo, adopt::PARAMS | adopt::MATCHING).unwrap();
    let (after, there) = (values(&sac, TensorsOf::Params), values(&ppo, TensorsOf::Params));
    let mut taken = 0;
    for tensor in tensors(&sac) {
        let at = tensor.offset as usize..tensor.offset as usize + tensor.len();
        let other = tensors(&ppo).into_iter().find(|other| other.name == tensor.name && other.dims == tensor.dims);
        match other {
            Some(other) => assert!(after[at] == there[other.offset as usize..][..other.len()]),
            None => assert!(after[at.clone()] == before[at]),
        }
        taken += usize::from(other.is_some());
    }
    assert!(taken == 8 || taken == 9, "{taken}");
    // Target networks are copies of the parameters; with another second hidden layer the first one fits.
    assert!(values(&sac, TensorsOf::Targets) == after);
    let mut wide = made(&listed(on(Algorithm::Ppo).hidden(&[6, 7])));
    assert_eq!(take(&mut wide, &ppo, adopt::PARAMS).unwrap_err().kind, Kind::Config);
    take(&mut wide, &ppo, adopt::PARAMS | adopt::MATCHING).unwrap();
    assert!(values(&wide, TensorsOf::Params)[..84 + 126] == there[..84 + 126]);
    assert!(values(&wide, TensorsOf::Params) != there);
    for h in [&mut ppo, &mut sac, &mut wide] {
        train(h, &mut Rng::seeded(7), 2);
    }
}

#[test]
fn a_policy_goes_back_into_a_learner() {
    for [mut from, to] in pairs() {
        train(&mut from, &mut Rng::seeded(5), 3);
        let shipped = export(&from.view());
        let normalizes = from.config.normalize_obs != 0;
        let parts = adopt::PARAMS | if normalizes { adopt::MOMENTS } else { 0 };
        let count = if normalizes { 1000.0 } else { 0.0 };
        let mut to = to.clone();
        let quantiles = from.config.num_quantiles > 0;
        let done = to.learner().adopt_policy(&policy(&shipped), parts, count);
        if quantiles {
            // A policy has the means of quantiles.
            assert_eq!(done.unwrap_err().kind, Kind::Config);
            to.learner().adopt_policy(&policy(&shipped), parts | adopt::MATCHING, count).unwrap();
            continue;
        }
        done.unwrap();
        assert!(export(&to.view()) == shipped, "{:?}", from.config.algorithm());
        let seen = if normalizes { to.moments()[3] } else { 0.0 };
        assert_eq!(seen, count);
        train(&mut to, &mut Rng::seeded(6), 2);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused_and_nothing_is_written() {
    let all = pairs();
    let [recurrent, a2c, pqn, dqn, td3, discrete, stream] = [0, 1, 2, 3, 4, 6, 7].map(|i| all[i][0].clone());
    let (store, params) = (adopt::STORE, adopt::PARAMS);
    for (to, from, parts, text) in [
        (&a2c, &a2c, 0, "a sum of the parts"),
        (&a2c, &a2c, adopt::MATCHING, "a sum of the parts"),
        (&a2c, &a2c, 128 | params, "a sum of the parts"),
        (&a2c, &a2c, store, "a store in both"),
        (&td3, &a2c, store, "a store in both"),
        (&td3, &dqn, store, "of the same spaces"),
        (&a2c, &a2c, adopt::TARGETS, "target networks in both"),
        (&a2c, &pqn, adopt::MOMENTS, "as many statistics"),
        (&pqn, &td3, adopt::MOMENTS, "as many statistics"),
        (&stream, &a2c, adopt::OPTIMIZER | adopt::MATCHING, "whose moments mean the same"),
        (&dqn, &discrete, params, "a tensor that both have"),
        (&recurrent, &dqn, params, "tensor 0 of the list"),
        (&pqn, &td3, params | adopt::MATCHING, "a tensor that both have"),
    ] {
        let said = take(&mut to.clone(), from, parts).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(said.contains(text), "{said}, not {text}");
    }
    let mut busy = a2c.clone();
    let obs = record(&mut busy, &mut Rng::seeded(5));
    assert_eq!(take(&mut busy, &a2c, params).unwrap_err().kind, Kind::NotReady);
    busy.learner().learn_begin(obs.get(), None).unwrap();
    assert_eq!(take(&mut busy, &a2c, params).unwrap_err().kind, Kind::NotReady);
    // What is being learned from may be read.
    take(&mut a2c.clone(), &busy, params).unwrap();
    let frames = Config { obs_dims: [4, 4, 2], num_stacked: 2, ..off(Algorithm::Dqn) };
    let conv = [Layer::conv(3, [2, 2], [1, 1], Activation::Relu)];
    let stacked = Config { num_layers: 1, ..frames };
    let bytes = Space { kind: Element::U8, ..Space::bytes(32) };
    let mut h = Host::with(&stacked, &conv, &bytes, &Space::discrete(&[2]));
    let other = h.clone();
    assert!(take(&mut h, &other, store).unwrap_err().to_string().contains("frames are kept once"));
    let gru = [Layer::recurrent(LayerKind::Gru, 4)];
    let c = Config { sequence_len: 2, num_layers: 1, ..off(Algorithm::Dqn) };
    let mut h = Host::with(&c, &gru, &Space::unbounded(4), &Space::discrete(&[2]));
    let other = h.clone();
    assert!(take(&mut h, &other, store).unwrap_err().to_string().contains("without recurrent layers"));
    let shipped = export(&a2c.view());
    for (parts, count) in [(adopt::OPTIMIZER, 0.0), (params, 1.0), (adopt::MOMENTS, 0.0), (adopt::MOMENTS, f64::NAN)] {
        let mut to = a2c.clone();
        to.learner().adopt_policy(&policy(&shipped), parts, count).unwrap_err();
        assert!(to.block == a2c.block);
    }
}

/// Sixteen poles.
struct Poles {
    block: Vec<u64>,
    obs: Vec<f32>,
    reward: Vec<f32>,
    ends: [Vec<u8>; 2],
    last: Vec<f32>,
}

impl Poles {
    const N: usize = 16;

    fn new(seed: u64) -> Poles {
        let env = Builtin::from_name("CartPole-v1").unwrap();
        let config =
            VecEnvConfig { num_envs: Self::N as u32, seed, autoreset: Autoreset::SameStep, max_episode_steps: 0 };
        let mut block = vec![0; VecEnv::size(&env, &config).unwrap().div_ceil(8)];
        let mut obs = vec![0.0; 4 * Self::N];
        let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &env, &config).unwrap();
        envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
        let ends = [vec![0; Self::N], vec![0; Self::N]];
        Poles { block, last: obs.clone(), obs, reward: vec![0.0; Self::N], ends }
    }

    fn step(&mut self, action: &[i32]) {
        let env = Builtin::from_name("CartPole-v1").unwrap();
        let mut envs = VecEnv::attach(bytemuck::cast_slice_mut(&mut self.block), &env).unwrap();
        let [terminated, truncated] = &mut self.ends;
        let out = outcome(&mut self.obs, &mut self.last, &mut self.reward, terminated, truncated);
        envs.step(Elements::I32(action), out).unwrap();
    }

    /// Mean return of the first episode of each pole, by the best actions of a learner of any number of environments.
    fn mean_return(mut self, h: &mut Host) -> f64 {
        let (mut returns, mut goes_on) = ([0.0; Self::N], [true; Self::N]);
        while goes_on.contains(&true) {
            let mut action = vec![0; Self::N];
            for (obs, action) in self.obs.chunks(4 * h.n).zip(action.chunks_mut(h.n)) {
                let (obs, action) = (Elements::F32(obs), ElementsMut::I32(action));
                open(&mut h.block).predict(obs, None, Recurrent::default(), Sampling::Greedy, action).unwrap();
            }
            self.step(&action);
            for i in (0..Self::N).filter(|i| goes_on[*i]) {
                returns[i] += f64::from(self.reward[i]);
            }
            for (goes_on, over) in goes_on.iter_mut().zip(self.ends[0].iter().zip(&self.ends[1])) {
                *goes_on &= *over.0 | *over.1 == 0;
            }
        }
        returns.iter().sum::<f64>() / Self::N as f64
    }
}

#[test]
fn one_environment_goes_on_with_the_return_of_sixteen() {
    let (obs, action) = (Space::unbounded(4), Space::discrete(&[2]));
    let config = Config { num_envs: 16, num_steps: 64, learning_rate: 1e-3, ..Config::default() }.normalized(1, 0);
    let mut many = Host::new(&Config { learning_rate_end: 0.0, ..config }, &obs, &action);
    let mut poles = Poles::new(3);
    while many.view().stats().num_updates < 60 {
        let mut learner = open(&mut many.block);
        if learner.phase() == Phase::Learn {
            learner.learn(Some(Elements::F32(&poles.obs)), None, 0).unwrap();
            continue;
        }
        let mut action = [0; Poles::N];
        learner.act(None, Elements::F32(&poles.obs), None, ElementsMut::I32(&mut action)).unwrap();
        poles.step(&action);
        let last = Some(Elements::F32(&poles.last));
        learner.observe(None, &poles.reward, &poles.ends[0], &poles.ends[1], last, None).unwrap();
    }
    let alone = Config { num_envs: 1, num_minibatches: 1, seed: 2, ..config };
    let (mut one, mut bare) = (Host::new(&alone, &obs, &action), Host::new(&alone, &obs, &action));
    take(&mut one, &many, EVERYTHING).unwrap();
    take(&mut bare, &many, adopt::PARAMS).unwrap();
    let [all, own, without] = [&mut many, &mut one, &mut bare].map(|h| Poles::new(11).mean_return(h));
    assert!(all > 300.0 && (own - all).abs() <= 0.01 * all, "{all} {own} {without}");
    assert!(without < 0.9 * all, "{all} {own} {without}");
}
