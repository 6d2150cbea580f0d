//! Resets with options of the host's, through wrappers and ranges of rows.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{CartPole, Env, Level, Reset, Spec, Step, StepOut, VecEnv, VecEnvConfig, put, view, view_mut};
use rlcore::error::{Error, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 3;
const WIDTH: usize = 5;

/// How the current episode began: its level, a byte of the options for each row.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Told {
    level: f32,
    /// 0: reset, 1: restart, 2: with options.
    by: u32,
    steps: u32,
    lives: u32,
}

/// An environment that tells how its episode began. Levels from 100 end in their second step. Without `always` it begins by
/// options only where it is given some; `always` are those of a plain reset.
struct Levels {
    always: Option<&'static [u8]>,
}

const OPTIONS: [u8; N] = [7, 8, 9];
const DEADLY: [u8; N] = [7, 108, 9];

impl Levels {
    fn begin(
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        level: Option<&[u8]>,
        by: u32,
        obs: ElementsMut<'_>,
    ) -> Result {
        let failed = Error::new(Kind::Callback, "levels: environment {given} has no level.");
        let level = level.map_or(Ok(-1.0), |levels| levels.get(row).map(|&x| f32::from(x)).ok_or(failed))?;
        *view_mut(state)? = Told { level, by, steps: 0, lives: 2 };
        Levels::show(row, state, rng.uniform_f32(), obs)
    }

    fn show(row: usize, state: &[u8], drawn: f32, obs: ElementsMut<'_>) -> Result {
        let told: &Told = view(state)?;
        put(obs, [told.level, told.by as f32, row as f32, told.steps as f32, drawn])
    }
}

impl Env for Levels {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(WIDTH as u32), Space::discrete(&[4]));
        Spec { env_id: 9500, state_size: 16, max_episode_steps: 0, obs, action, wrappers: 0 }
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        Levels::begin(row, state, rng, self.always, if self.always.is_some() { 2 } else { 0 }, obs)
    }

    fn takes_options(&self) -> bool {
        true
    }

    fn reset_with(&self, row: usize, state: &mut [u8], rng: &mut Rng, options: &[u8], obs: ElementsMut<'_>) -> Result {
        Levels::begin(row, state, rng, Some(options), 2, obs)
    }

    fn restart(&self, row: usize, _: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        Levels::begin(row, state, rng, None, 1, obs)
    }

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let told: &mut Told = view_mut(state)?;
        told.steps += 1;
        told.lives -= u32::from(action.i32()? == [3]);
        let terminated = told.lives == 0 || (told.level >= 100.0 && told.steps == 2);
        Levels::show(row, state, rng.uniform_f32(), obs)?;
        Ok(Step { reward: 1.0, terminated, truncated: false })
    }

    fn lives(&self, _: usize, state: &[u8]) -> Result<u32> {
        Ok(view::<Told>(state)?.lives)
    }
}

/// A block of environments and their observations.
#[derive(Clone, Debug, PartialEq)]
struct World {
    block: Vec<u64>,
    obs: Vec<f32>,
    width: usize,
}

impl World {
    fn new(env: &dyn Env) -> World {
        let config = VecEnvConfig { num_envs: N as u32, seed: 3, ..VecEnvConfig::default() };
        let width = env.spec().obs.len as usize;
        let mut block = vec![0; VecEnv::size(env, &config).unwrap() / 8];
        VecEnv::init(cast_slice_mut(&mut block), env, &config).unwrap();
        World { block, obs: vec![0.0; N * width], width }
    }

    fn with<T>(&mut self, env: &dyn Env, call: impl FnOnce(&mut VecEnv<'_, dyn Env + '_>, ElementsMut<'_>) -> T) -> T {
        let mut envs = VecEnv::attach(cast_slice_mut(&mut self.block), env).unwrap();
        call(&mut envs, ElementsMut::F32(&mut self.obs))
    }

    fn reset(&mut self, env: &dyn Env, seed: Option<u64>, options: Option<&[u8]>) -> Result {
        self.with(env, |envs, obs| envs.reset_with(Reset { seed, options }, obs))
    }

    fn step(&mut self, env: &dyn Env, action: i32) {
        let (mut last, mut reward) = (vec![0.0; self.obs.len()], [0.0; N]);
        self.with(env, |envs, obs| {
            let out = StepOut {
                obs,
                reward: &mut reward,
                terminated: &mut [0; N],
                truncated: &mut [0; N],
                final_obs: Some(ElementsMut::F32(&mut last)),
                valid: None,
                action_mask: None,
                final_action_mask: None,
            };
            envs.step(Elements::I32(&[action; N]), out).unwrap();
        });
    }

    /// Level, and how the episode began, of each row, as the newest frame tells.
    fn told(&self) -> Vec<[f32; 2]> {
        self.obs.chunks_exact(self.width).map(|obs| obs[self.width - WIDTH..][..2].try_into().unwrap()).collect()
    }
}

fn by_options(options: [u8; N]) -> Vec<[f32; 2]> {
    options.iter().map(|&level| [f32::from(level), 2.0]).collect()
}

/// The options reach every row with a seed and without, in the middle of an episode and after one; autoreset has none.
#[test]
fn options_reach_every_row_with_a_seed_and_without() {
    let env = Levels { always: None };
    let mut world = World::new(&env);
    world.reset(&env, None, None).unwrap();
    assert_eq!(world.told(), [[-1.0, 0.0]; N]);
    for seed in [None, Some(11), None] {
        let mut plain = world.clone();
        plain.reset(&Levels { always: Some(&OPTIONS) }, seed.or(Some(0)), None).unwrap();
        world.step(&env, 1);
        let streams = world.with(&env, |envs, _| envs.rows().rng.to_vec());
        world.reset(&env, seed, Some(&OPTIONS)).unwrap();
        assert_eq!(world.told(), by_options(OPTIONS), "seed {seed:?}");
        match seed {
            Some(_) => assert_eq!(world, plain),
            None => {
                // The streams went on by the one number that a reset draws.
                let drawn: Vec<f32> = streams.into_iter().map(|mut rng| rng.uniform_f32()).collect();
                assert_eq!(drawn, world.obs.chunks_exact(WIDTH).map(|obs| obs[4]).collect::<Vec<_>>());
            }
        }
    }
    world.step(&env, 3);
    world.step(&env, 3);
    assert_eq!(world.told(), [[-1.0, 1.0]; N], "episodes that autoreset starts");
    world.reset(&env, None, None).unwrap();
    assert_eq!(world.told(), [[-1.0, 1.0]; N], "without options");
    world.reset(&env, None, Some(&OPTIONS)).unwrap();
    world
        .with(&env, |envs, obs| envs.reset_range_with(1, 3, Reset { seed: Some(5), options: Some(&[0, 1, 2]) }, obs))
        .unwrap();
    assert_eq!(world.told(), [[7.0, 2.0], [1.0, 2.0], [2.0, 2.0]]);

    // A row whose reset fails must be reset, those before it are complete.
    let e = world.reset(&env, None, Some(&[4])).unwrap_err();
    assert_eq!((e.kind, format!("{e}").as_str()), (Kind::Callback, "levels: environment 1 has no level"));
    assert_eq!(world.told()[0], [4.0, 2.0]);
    assert_eq!(world.with(&env, |envs, _| envs.rows().phase.to_vec()), [1, 0, 1]);
    world.reset(&env, None, Some(&[1, 2, 3])).unwrap();
    assert_eq!(world.told(), by_options([1, 2, 3]));
}

/// Behind wrappers a reset with options and a seed leaves the bytes of a seeded reset of an environment that always begins like
/// that, however the last episode stands; without a seed the options arrive too.
#[test]
fn wrappers_pass_options_on() {
    let lists: [&[Wrapper<'_>]; 7] = [
        &[Wrapper::TimeLimit { steps: 3 }, Wrapper::FrameStack { count: 2 }],
        &[Wrapper::NoopReset { max: 3, exactly: 0, noop: 0 }],
        &[Wrapper::NoopReset { max: 9, exactly: 5, noop: 0 }, Wrapper::ClipReward],
        &[Wrapper::FireReset { fire: 1, second: 2 }, Wrapper::StickyActions { probability: 0.5 }],
        &[Wrapper::EpisodicLife { noop: 0 }, Wrapper::FrameStack { count: 3 }],
        &[
            Wrapper::NoopReset { max: 3, exactly: 3, noop: 0 },
            Wrapper::EpisodicLife { noop: 0 },
            Wrapper::FireReset { fire: 1, second: 2 },
        ],
        &[Wrapper::MaxAndSkip { count: 2 }, Wrapper::Flatten, Wrapper::ActionRepeat { count: 2 }],
    ];
    for (k, list) in lists.into_iter().enumerate() {
        for options in [&OPTIONS, &DEADLY] {
            let (told, always) = (Levels { always: None }, Levels { always: Some(options) });
            let env = Pipeline::new(&told, list).unwrap();
            let plain = Pipeline::new(&always, list).unwrap();
            let mut world = World::new(&env);
            world.reset(&env, None, None).unwrap();
            // In a game, after a lost life, after a game.
            for actions in [&[][..], &[1, 1], &[1, 3], &[3, 3, 1]] {
                actions.iter().for_each(|action| world.step(&env, *action));
                let mut other = world.clone();
                world.reset(&env, Some(6), Some(options)).unwrap();
                // Plain resets restart a game that ends during no-ops without options: only others are compared in full.
                if options == &OPTIONS {
                    other.reset(&plain, Some(6), None).unwrap();
                    assert_eq!(world, other, "list {k}, after {actions:?}");
                }
                assert_eq!(world.told(), by_options(*options), "list {k}, after {actions:?}");
                actions.iter().for_each(|action| world.step(&env, *action));
                world.reset(&env, None, Some(options)).unwrap();
                assert_eq!(world.told(), by_options(*options), "list {k}, after {actions:?}, without a seed");
            }
        }
    }
}

/// The library's own environments take no options, with wrappers and without: refused before anything changes.
#[test]
fn environments_without_options_refuse_them() {
    let stack = [Wrapper::FrameStack { count: 2 }];
    let (wrapped, none) = (Pipeline::new(&CartPole, &stack).unwrap(), [].as_slice());
    for env in [&CartPole as &dyn Env, &wrapped] {
        let mut world = World::new(env);
        world.reset(env, None, None).unwrap();
        let before = world.clone();
        for (seed, options) in [(None, none), (Some(1), &OPTIONS)] {
            let e = world.reset(env, seed, Some(options)).unwrap_err();
            assert_eq!(
                (e.kind, format!("{e}").as_str()),
                (Kind::Config, "environment: resets take no options, as this environment has no reset_with",)
            );
            let how = Reset { seed, options: Some(options) };
            let e = world.with(env, |envs, obs| envs.reset_range_with(1, 2, how, obs)).unwrap_err();
            assert_eq!(e.kind, Kind::Config);
            assert_eq!(world, before);
        }
        let mut state = vec![0u64; env.spec().state_size as usize / 8];
        let e =
            env.reset_with(0, cast_slice_mut(&mut state), &mut Rng::seeded(1), &[], ElementsMut::F32(&mut [0.0; 8]));
        assert_eq!(e.unwrap_err().kind, Kind::Config);
        assert_eq!(cast_slice::<u64, u8>(&world.block), cast_slice::<u64, u8>(&before.block));
    }
}
