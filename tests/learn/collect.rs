//! Steps collected in one call, against the same calls made one by one.

#![cfg(all(feature = "off_policy", feature = "recurrent", feature = "stream", feature = "actor_critic"))]

use crate::host::{Array, Tune, attach, made};
use bytemuck::cast_slice_mut;
use rlcore::collect::collect;
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Autoreset, Env, Spec, Step, StepOut, VecEnv, VecEnvConfig, put, view, view_mut};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::nn::{Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const N: usize = 3;

/// A walk whose episodes end in every way, and whose choices are not always allowed. Rows with a bit in `fails` fail.
struct Walk {
    action: Space<'static>,
    fails: AtomicU32,
}

const DISCRETE: Space<'static> = Space::discrete(&[3, 2]);
const CONTINUOUS: Space<'static> = Space::between(&[-1.0, -2.0], &[1.0, 2.0]);

impl Walk {
    fn new(action: Space<'static>) -> Walk {
        Walk { action, fails: AtomicU32::new(0) }
    }

    fn show(steps: u64, rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        put(obs, [steps as f32 / 8.0, rng.uniform_f32(), rng.uniform_f32() - 0.5])
    }
}

impl Env for Walk {
    fn spec(&self) -> Spec<'_> {
        let obs = Space::unbounded(3);
        Spec { env_id: 9400, state_size: 8, max_episode_steps: 9, obs, action: self.action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        *view_mut(state)? = 0u64;
        Walk::show(0, rng, obs)
    }

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let failed = Error::new(Kind::Callback, "walk: environment {given} failed.");
        failed.fail_if(self.fails.load(Relaxed) >> row & 1 == 1)?;
        let steps: &mut u64 = view_mut(state)?;
        *steps += 1;
        Walk::show(*steps, rng, obs)?;
        let taken: f32 = match action {
            Elements::I32(x) => x.iter().sum::<i32>() as f32,
            Elements::F32(x) => x.iter().sum(),
            Elements::U8(_) => 0.0,
        };
        let (terminated, truncated) = (rng.bounded(8) == 0, rng.bounded(8) == 0);
        Ok(Step { reward: taken - rng.uniform_f32(), terminated, truncated })
    }

    fn action_mask(&self, _: usize, state: &[u8], mask: &mut [u8]) -> Result {
        let steps: &u64 = view(state)?;
        mask.iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = u8::from(i == 0 || i == 4 || !(*steps + i as u64).is_multiple_of(3)));
        Ok(())
    }
}

/// A learner, its environments and the arrays between them.
#[derive(Clone, PartialEq)]
struct Training {
    learner: Vec<u64>,
    world: Vec<u64>,
    obs: Vec<f32>,
    last: Vec<f32>,
    action: Array,
    reward: Vec<f32>,
    ends: [Vec<u8>; 3],
    masks: [Vec<u8>; 2],
    masked: bool,
}

fn many(n: usize, autoreset: Autoreset) -> VecEnvConfig {
    VecEnvConfig { num_envs: n as u32, seed: 5, autoreset, ..VecEnvConfig::default() }
}

impl Training {
    fn new(config: &Config, layers: &[Layer], env: &dyn Env) -> Training {
        let (n, spec) = (config.num_envs as usize, env.spec());
        let config = Config { num_layers: layers.len() as u32, ..*config };
        let many = many(n, Autoreset::SameStep);
        let mut t = Training {
            learner: made(&config, layers, &spec.obs, &spec.action),
            world: vec![0; VecEnv::size(env, &many).unwrap() / 8],
            obs: vec![0.0; n * spec.obs.len as usize],
            last: vec![0.0; n * spec.obs.len as usize],
            action: Array::zeros(spec.action.kind, n * spec.action.len as usize),
            reward: vec![0.0; n],
            ends: [vec![0; n], vec![0; n], vec![0; n]],
            masks: [vec![0; n * 5], vec![0; n * 5]],
            masked: config.use_action_mask != 0,
        };
        let mut envs = VecEnv::init(cast_slice_mut(&mut t.world), env, &many).unwrap();
        envs.reset(None, ElementsMut::F32(&mut t.obs)).unwrap();
        if t.masked {
            t.masks[0].chunks_exact_mut(5).enumerate().for_each(|(i, mask)| envs.action_mask(i, mask).unwrap());
        }
        t
    }

    /// The learner, the environments, actions and the arrays of a step.
    fn parts<'a>(
        &'a mut self,
        env: &'a dyn Env,
    ) -> (Learner<'a>, VecEnv<'a, dyn Env + 'a>, ElementsMut<'a>, StepOut<'a>) {
        let [terminated, truncated, valid] = &mut self.ends;
        let [mask, last_mask] = &mut self.masks;
        let out = StepOut {
            obs: ElementsMut::F32(&mut self.obs),
            reward: &mut self.reward,
            terminated,
            truncated,
            final_obs: Some(ElementsMut::F32(&mut self.last)),
            valid: Some(valid),
            action_mask: self.masked.then_some(mask),
            final_action_mask: self.masked.then_some(last_mask),
        };
        let envs = VecEnv::attach(cast_slice_mut(&mut self.world), env).unwrap();
        (attach(&mut self.learner), envs, self.action.get_mut(), out)
    }

    fn collect(&mut self, env: &dyn Env, max_steps: u32) -> (u32, Result) {
        let (mut learner, mut envs, action, out) = self.parts(env);
        collect(&mut learner, env, &mut envs.rows(), action, out, max_steps)
    }

    /// One step by separate calls, row by row, which cuts the rows that fail.
    fn by_hand(&mut self, env: &dyn Env) -> Result {
        let (mut learner, mut envs, mut action, mut out) = self.parts(env);
        let n = learner.num_envs();
        learner.act(None, out.obs.as_ref(), out.action_mask.as_deref(), action.reborrow())?;
        let done: Vec<Result> = (0..n).map(|i| envs.step_range(i, i + 1, action.as_ref(), out.reborrow())).collect();
        let active: Vec<u8> = done.iter().map(|done| done.is_ok().into()).collect();
        let (last, mask) = (out.final_obs.as_ref().map(|x| x.as_ref()), out.final_action_mask.as_deref());
        learner.observe(Some(&active), out.reward, out.terminated, out.truncated, last, mask)?;
        if active.contains(&0) {
            let gone: Vec<u8> = active.iter().map(|active| 1 - active).collect();
            learner.cut_rows(&gone)?;
            gone.iter().zip(out.valid.unwrap()).for_each(|(gone, valid)| *valid &= 1 - gone);
        }
        done.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }

    fn many_by_hand(&mut self, env: &dyn Env, max_steps: u32) -> (u32, Result) {
        let mut steps = 0;
        while attach(&mut self.learner).phase() != Phase::Learn && (max_steps == 0 || steps < max_steps) {
            if let Err(e) = self.by_hand(env) {
                return (steps, Err(e));
            }
            steps += 1;
        }
        (steps, Ok(()))
    }

    /// Learns if an update is due or running.
    fn learn(&mut self, env: &dyn Env) {
        let (mut learner, _, _, out) = self.parts(env);
        if learner.phase() == Phase::Learn || learner.stats().minibatches_left > 0 {
            learner.learn(Some(out.obs.as_ref()), out.action_mask.as_deref(), 1).unwrap();
        }
    }

    /// Resets the rows that failed.
    fn repair(&mut self, env: &dyn Env) {
        let masked = self.masked;
        let (_, mut envs, _, mut out) = self.parts(env);
        for i in 0..envs.num_envs() {
            if envs.rows().phase[i] == 0 {
                envs.reset_one(i, None, out.obs.reborrow()).unwrap();
                if masked {
                    envs.action_mask(i, &mut out.action_mask.as_mut().unwrap()[i * 5..][..5]).unwrap();
                }
            }
        }
    }
}

/// Learners of every kind of store, with and without masks, memories, overlap.
fn learners() -> Vec<(&'static str, Config, Vec<Layer>, Space<'static>)> {
    let of = |algorithm| Config { num_envs: N as u32, ..Config::of(algorithm).hidden(&[5]).rate(0.02) };
    let ppo = of(Algorithm::Ppo).rollout(8, 2, 2).normalized(1, 1);
    let stored = |algorithm| Config { n_step: 2, ..of(algorithm).store(64, 8, 10) };
    let memory = vec![Layer { kind: LayerKind::Gru as u32, units: 4, ..Layer::default() }];
    let none = Vec::new;
    vec![
        ("ppo", ppo, none(), DISCRETE),
        ("ppo, masks", Config { use_action_mask: 1, ..ppo }, none(), DISCRETE),
        ("ppo, numbers", ppo, none(), CONTINUOUS),
        ("ppo, memory", Config { sequence_len: 4, use_action_mask: 1, ..ppo }, memory, DISCRETE),
        ("ppo, overlap", Config { overlap: 1, use_action_mask: 1, num_chunks: 2, ..ppo }, none(), DISCRETE),
        ("impala, overlap", Config { overlap: 1, ..of(Algorithm::Impala).rollout(8, 1, 1) }, none(), CONTINUOUS),
        ("dqn, masks", Config { use_action_mask: 1, ..stored(Algorithm::Dqn) }, none(), DISCRETE),
        ("td3", stored(Algorithm::Td3), none(), CONTINUOUS),
        ("sac", Config { n_step: 1, ..stored(Algorithm::Sac) }, none(), CONTINUOUS),
        ("stream", Config { num_envs: 1, ..Config::of(Algorithm::StreamAc).hidden(&[5]) }, none(), DISCRETE),
    ]
}

/// For every budget the bytes and arrays are those of the calls one by one, across updates in slices, and with wrappers.
#[test]
fn the_loop_leaves_the_bytes_of_the_calls_one_by_one() {
    let stack = [Wrapper::ActionRepeat { count: 2 }, Wrapper::FrameStack { count: 2 }, Wrapper::TimeLimit { steps: 3 }];
    for (name, config, layers, action) in learners() {
        let walk = Walk::new(action);
        for wrappers in [&[][..], &stack] {
            let env = Pipeline::new(&walk, wrappers).unwrap();
            for budget in [0, 1, 5] {
                let mut one = Training::new(&config, &layers, &env);
                let mut other = one.clone();
                let mut taken = 0;
                for call in 0..60 {
                    let (got, wanted) = (one.collect(&env, budget), other.many_by_hand(&env, budget));
                    assert_eq!(got, wanted, "{name}, call {call}");
                    assert!(one == other, "{name}, {} wrappers, budget {budget}, call {call}", wrappers.len());
                    taken += got.0;
                    one.learn(&env);
                    other.learn(&env);
                }
                assert!(taken >= 10 && one.ends[2].iter().all(|valid| *valid == 1), "{name}: {taken} steps");
                assert!(attach(&mut one.learner).stats().num_updates > 0 || budget == 1, "{name}");
            }
        }
    }
}

/// Rows that fail are cut, all others are stepped and observed, and the training goes on once the failed ones are reset.
#[test]
fn rows_that_fail_are_cut_and_the_others_go_on() {
    for (name, config, layers, action) in learners() {
        let walk = Walk::new(action);
        let mut one = Training::new(&config, &layers, &walk);
        let mut other = one.clone();
        for (round, fails) in [0b010, 0b101, 0b111, 0b001, 0b100, 0b110].into_iter().cycle().take(18).enumerate() {
            let fails = fails & ((1u32 << config.num_envs) - 1);
            assert_eq!(one.collect(&walk, 2), other.many_by_hand(&walk, 2), "{name}, round {round}");
            walk.fails.store(fails, Relaxed);
            let due = attach(&mut one.learner).phase() == Phase::Learn;
            let (got, wanted) = (one.collect(&walk, 3), other.many_by_hand(&walk, 3));
            walk.fails.store(0, Relaxed);
            assert_eq!(got, wanted, "{name}, round {round}");
            if fails != 0 && !due {
                let e = got.1.unwrap_err();
                assert_eq!(format!("{e}"), format!("walk: environment {} failed", fails.trailing_zeros()), "{name}");
                assert_eq!((e.kind, got.0), (Kind::Callback, 0));
                let again = one.clone().collect(&walk, 1).1.map_err(|e| e.kind);
                let due = attach(&mut one.learner).phase() == Phase::Learn;
                assert_eq!(again, Err(Kind::NotReady), "{name}, due: {due}: a failed row must be reset");
                assert_eq!(attach(&mut one.learner).acted(), vec![0; config.num_envs as usize], "{name}");
                for i in 0..config.num_envs as usize {
                    assert_eq!(one.ends[2][i] == 0, fails >> i & 1 == 1, "{name}: valid");
                }
            }
            // Observations of rows that failed are not specified.
            one.repair(&walk);
            other.repair(&walk);
            assert!(one == other, "{name}, round {round}");
            one.learn(&walk);
            other.learn(&walk);
        }
    }
}

/// Everything is refused before anything changes.
#[test]
fn what_does_not_fit_is_refused_before_anything_changes() {
    let config = Config { num_envs: N as u32, use_action_mask: 1, ..Config::default().hidden(&[4]).rollout(4, 1, 1) };
    let walk = Walk::new(DISCRETE);
    let fresh = Training::new(&config, &[], &walk);
    let refused = |kind, words: &str, change: &dyn Fn(&mut Training), env: &dyn Env| {
        let mut t = fresh.clone();
        change(&mut t);
        let before = t.clone();
        let (steps, done) = t.collect(env, 0);
        let e = done.unwrap_err();
        assert!(steps == 0 && e.kind == kind && format!("{e}").contains(words), "{words}: {e}");
        assert!(t == before, "{words} changed something");
    };
    let world = |n, autoreset| {
        let many = many(n, autoreset);
        let mut world = vec![0; VecEnv::size(&walk, &many).unwrap() / 8];
        let mut envs = VecEnv::init(cast_slice_mut(&mut world), &walk, &many).unwrap();
        envs.reset(None, ElementsMut::F32(&mut vec![0.0; n * 3])).unwrap();
        world
    };
    refused(
        Kind::Shape,
        "environments, as many as the learner has, 3",
        &|t| t.world = world(2, Autoreset::SameStep),
        &walk,
    );
    for mode in [Autoreset::NextStep, Autoreset::Disabled, Autoreset::Legacy] {
        refused(Kind::Config, "autoreset of 0 (same step)", &|t| t.world = world(N, mode), &walk);
    }
    let learner =
        |config: &Config, obs: u32, action: Space<'static>| made(config, &[], &Space::unbounded(obs), &action);
    let lasting = Config { use_duration: 1, ..config };
    refused(Kind::Config, "use_duration of 0", &|t| t.learner = learner(&lasting, 3, DISCRETE), &walk);
    refused(Kind::Shape, "elements of an observation", &|t| t.learner = learner(&config, 4, DISCRETE), &walk);
    refused(
        Kind::Shape,
        "choices of an element",
        &|t| t.learner = learner(&config, 3, Space::discrete(&[2, 3])),
        &walk,
    );
    refused(Kind::Shape, "elements of an action", &|t| t.learner = learner(&config, 3, Space::discrete(&[5])), &walk);
    let bare = Config { use_action_mask: 0, ..config };
    refused(Kind::Shape, "of the kinds", &|t| t.learner = learner(&bare, 3, CONTINUOUS), &walk);
    refused(Kind::Shape, "only with use_action_mask", &|t| t.learner = learner(&bare, 3, DISCRETE), &walk);
    refused(Kind::Shape, "", &|t| t.masked = false, &walk);
    refused(Kind::Shape, "elements of action", &|t| t.action = Array::zeros(Element::I32, 5), &walk);
    refused(Kind::Shape, "of the kinds", &|t| t.action = Array::zeros(Element::F32, 6), &walk);
    refused(Kind::Shape, "reward", &|t| t.reward = vec![0.0; 2], &walk);
    refused(Kind::Value, "finite", &|t| t.obs[4] = f32::INFINITY, &walk);
    refused(
        Kind::NotReady,
        "environment 1 has acted",
        &|t| {
            let (mut learner, _, action, out) = t.parts(&walk);
            learner.act(Some(&[0, 1, 0]), out.obs.as_ref(), out.action_mask.as_deref(), action).unwrap();
        },
        &walk,
    );
    refused(
        Kind::NotReady,
        "environment 0 must be reset",
        &|t| {
            VecEnv::init(cast_slice_mut(&mut t.world), &walk, &many(N, Autoreset::SameStep)).unwrap();
        },
        &walk,
    );
    // An update that is due stops the call before its first step.
    let mut t = fresh.clone();
    assert_eq!(t.collect(&walk, 0), (4, Ok(())));
    let before = t.clone();
    assert_eq!(t.collect(&walk, 9), (0, Ok(())));
    assert!(t == before);
}
