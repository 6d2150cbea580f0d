//! Rows stepped together: the bytes equal those of rows stepped one by one, in every mode, at every CPU level, for any number of
//! rows, for any split, and where a row fails.

use bytemuck::{cast_slice, cast_slice_mut};
use rlcore::block;
use rlcore::cpu;
use rlcore::env::{
    Acrobot, Autoreset, BUILTINS, CartPole, Env, MountainCar, MountainCarContinuous, NoVel, Pendulum, PointReach, Spec,
    Step, VecEnvConfig,
};
use rlcore::error::{Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::host::{Arrays, FLAG, MARK, MODES, attach, begin};

/// The same environment without its function that steps rows together.
struct OneByOne<'a>(&'a dyn Env);

impl Env for OneByOne<'_> {
    fn spec(&self) -> Spec<'_> {
        self.0.spec()
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        self.0.reset(row, state, rng, obs)
    }

    fn step(&self, row: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        self.0.step(row, state, rng, action, obs)
    }
}

/// Random actions for `n` environments, some of them out of bounds.
fn actions(spec: &Spec<'_>, rng: &mut Rng, n: usize) -> Vec<u32> {
    let choices = spec.action.n.first().map_or(1, |&n| u64::from(n));
    let float = |rng: &mut Rng| match rng.bounded(9) {
        0 => 1.0,
        1 => -0.0,
        _ => rng.uniform_in(-3.0, 3.0) as f32,
    };
    let one = |_| match spec.action.kind {
        Element::I32 => (rng.next_u64() % choices) as u32,
        _ => float(rng).to_bits(),
    };
    (0..n * spec.action.len as usize).map(one).collect()
}

fn elements<'a>(spec: &Spec<'_>, action: &'a [u32]) -> Elements<'a> {
    match spec.action.kind {
        Element::I32 => Elements::I32(cast_slice(action)),
        _ => Elements::F32(cast_slice(action)),
    }
}

/// Resets `n` environments and steps them with the same actions, whole or in `parts`. Returns one hash per step, of its outputs
/// and the block after it, and the last arrays.
fn run(env: &dyn Env, n: usize, mode: Autoreset, limit: u32, steps: usize, parts: usize) -> (Vec<u64>, Arrays) {
    let spec = env.spec();
    let config = VecEnvConfig { num_envs: n as u32, seed: 5, autoreset: mode, max_episode_steps: limit };
    let (mut mem, mut a) = begin(env, &config);
    let (mut rng, mut hashes) = (Rng::seeded(11), vec![]);
    for _ in 0..steps {
        let action = actions(&spec, &mut rng, n);
        let mut venv = attach(&mut mem, env);
        for i in a.to_reset(mode) {
            venv.reset_one(i, None, a.first()).unwrap();
        }
        for part in 0..parts {
            let (begin, end) = (part * n / parts, (part + 1) * n / parts);
            venv.step_range(begin, end, elements(&spec, &action), a.out()).unwrap();
        }
        let hash = a.bytes().iter().fold(block::HASH_START, |hash, bytes| block::hash(hash, bytes));
        hashes.push(block::hash(hash, cast_slice(&mem)));
    }
    (hashes, a)
}

#[rustfmt::skip]
const ENVS: [&dyn Env; 8] = [
    &CartPole, &MountainCar, &MountainCarContinuous, &Acrobot, &Pendulum, &NoVel(CartPole), &NoVel(Pendulum),
    &PointReach,
];

#[test]
fn rows_together_are_rows_one_by_one() {
    for env in ENVS {
        for mode in MODES {
            for (n, limit) in [(1, 0), (7, 5), (8, 0), (9, 13), (64, 0), (67, 29), (130, 1)] {
                let (expected, arrays) = run(&OneByOne(env), n, mode, limit, 60, 1);
                for level in cpu::LEVELS {
                    cpu::set_limit(level);
                    for parts in [1, 2, 3, 7] {
                        let (given, last) = run(env, n, mode, limit, 60, parts);
                        let case =
                            format!("{:?} {mode:?} n {n} limit {limit} {level:?} parts {parts}", env.spec().env_id);
                        let first = expected.iter().zip(&given).position(|(a, b)| a != b);
                        assert_eq!((first, &last), (None, &arrays), "{case}");
                    }
                }
            }
        }
    }
}

/// Long runs at the environments' own limits: goals are reached, walls are hit, angles wrap around.
#[test]
fn long_runs_are_the_same_bytes() {
    for env in ENVS {
        assert!(
            run(env, 24, Autoreset::SameStep, 0, 1100, 1) == run(&OneByOne(env), 24, Autoreset::SameStep, 0, 1100, 1)
        );
    }
}

/// A state of `env` in which every field of a row is `x`.
fn state_of(env: &dyn Env, x: f64) -> Vec<u8> {
    let fields = env.spec().state_size as usize / 8;
    let mut state = vec![x; fields];
    if env.spec().env_id == MountainCarContinuous.spec().env_id {
        state[2] = 0.0;
    }
    cast_slice(&state).to_vec()
}

/// Steps 20 rows, of which row `bad` holds `x`; returns the result, the block and the arrays.
fn damaged(env: &dyn Env, bad: usize, x: f64, push: f32) -> (Result, Vec<u64>, Arrays) {
    let (spec, n) = (env.spec(), 20);
    let (mut mem, mut a) = begin(env, &VecEnvConfig { num_envs: n, ..VecEnvConfig::default() });
    let mut venv = attach(&mut mem, env);
    let mut action = actions(&spec, &mut Rng::seeded(3), n as usize);
    let mut rows = venv.rows();
    let state = state_of(env, x);
    if x != 0.0 {
        rows.state[bad * state.len()..][..state.len()].copy_from_slice(&state);
    }
    if spec.action.kind == Element::F32 {
        action[bad * spec.action.len as usize] = push.to_bits();
    }
    let result = rows.step(env, elements(&spec, &action), a.out());
    (result, mem, a)
}

#[test]
fn damaged_rows_fail_as_they_do_alone() {
    let (mut failed, mut passed) = (0, 0);
    for level in cpu::LEVELS {
        cpu::set_limit(level);
        for env in ENVS {
            for bad in [0, 7, 8, 13, 19] {
                for x in [f64::NAN, f64::INFINITY, 1e300, -1e300, 1e39, 1e17, -7e6, 60_000.0, 7.0, 2.4, -0.0, 1e-310] {
                    let (given, expected) = (damaged(env, bad, x, 0.5), damaged(&OneByOne(env), bad, x, 0.5));
                    assert_eq!(given, expected, "{:?} row {bad} of {x}", env.spec().env_id);
                    match given.0 {
                        Ok(()) => passed += 1,
                        Err(e) => {
                            assert_eq!((e.kind, e.given), (Kind::Value, rlcore::error::Given::Int(bad as i64)));
                            assert!(given.2.terminated[..bad].iter().all(|&x| x < 2));
                            assert!(given.2.terminated[bad..].iter().all(|&x| x == FLAG));
                            failed += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(failed > 300 && passed > 300, "{failed} failed, {passed} passed");
}

/// A push so hard that the reward overflows.
#[test]
fn a_reward_that_is_not_finite_fails_its_row() {
    for env in [&MountainCarContinuous as &dyn Env, &Pendulum] {
        let (given, expected) = (damaged(env, 11, 0.0, 3e38), damaged(&OneByOne(env), 11, 0.0, 3e38));
        assert_eq!(given, expected);
        assert_eq!(given.0.is_err(), env.spec().env_id == MountainCarContinuous.spec().env_id);
    }
}

/// The faster path is really taken: whole groups of 8 rows.
#[test]
fn rows_are_stepped_together() {
    for (name, env) in BUILTINS {
        let spec = env.spec();
        let mut a = Arrays::new(21, spec.obs.len as usize);
        let mut state = vec![0u64; 21 * spec.state_size as usize / 8];
        let action = vec![0; 21 * spec.action.len as usize];
        let given = env.step_rows(cast_slice_mut(&mut state), elements(&spec, &action), &mut a.out());
        assert_eq!(given, if [1, 2, 3, 4, 5, 7, 8, 17].contains(&spec.env_id) { 16 } else { 0 }, "{name}");
        let untouched = Arrays::new(21, spec.obs.len as usize);
        assert_eq!(a.obs[given * spec.obs.len as usize..], untouched.obs[given * spec.obs.len as usize..]);
        assert!(a.reward[given..].iter().all(|&x| x == MARK) && a.valid == untouched.valid);
        // With too short a state or elements of another kind, no row is stepped and nothing fails.
        let mut out = a.out();
        assert_eq!(env.step_rows(&mut [], elements(&spec, &action), &mut out), 0);
        assert_eq!(env.step_rows(cast_slice_mut(&mut state), Elements::U8(&[0; 21]), &mut out), 0);
    }
}
