//! Action masks of a step: for the next observation and for the last one of an episode, in every autoreset mode, through
//! wrappers, in ranges, and in asynchronous steps.

use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Autoreset, CartPole, Env, Level, Spec, Step, StepOut, VecEnvConfig};
use rlcore::error::{Error, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

use super::host::{Arrays, FLAG, MARK, MODES, attach, begin, config, with};

/// Choices of each element of an action, and their sum.
const CHOICES: [u32; 2] = [3, 4];
const L: usize = 7;

/// An environment whose mask, and whose failure to give one, follow from the number it observes, unique to each state.
struct Counter;

fn allowed(number: u64) -> [u8; L] {
    core::array::from_fn(|k| u8::from(number.wrapping_mul(0x9e37_79b9).rotate_right(k as u32 * 5) & 8 != 0))
}

/// The state whose mask cannot be computed.
const FAILS: u64 = 13;

impl Env for Counter {
    fn spec(&self) -> Spec<'_> {
        let action = Space::discrete(&CHOICES);
        Spec { env_id: 9002, state_size: 8, max_episode_steps: 4, obs: Space::unbounded(1), action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let number = 100 * (1 + rng.bounded(999));
        state.copy_from_slice(&number.to_ne_bytes());
        obs.f32()?[0] = number as f32;
        Ok(())
    }

    /// Choice 2 ends the episode; choices 1 and 3 lead to the state that fails.
    fn step(&self, _: usize, state: &mut [u8], _: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let action = action.i32()?;
        let number = if action == [1, 3] { FAILS } else { 1 + u64::from_ne_bytes(state.try_into().unwrap()) };
        state.copy_from_slice(&number.to_ne_bytes());
        obs.f32()?[0] = number as f32;
        Ok(Step { reward: 1.0, terminated: action[0] == 2, truncated: false })
    }

    fn action_mask(&self, _: usize, state: &[u8], mask: &mut [u8]) -> Result {
        let number = u64::from_ne_bytes(state.try_into().unwrap());
        mask.copy_from_slice(&allowed(number));
        Error::new(Kind::Callback, "counter: a mask of environment {given}").fail_if(number == FAILS)
    }
}

/// Checks both masks against the observed states. Returns the number of ended episodes.
fn check(arrays: &Arrays, what: &str) -> usize {
    let n = arrays.reward.len();
    for k in 0..n {
        let row = k * L..(k + 1) * L;
        assert_eq!(arrays.mask[row.clone()], allowed(arrays.obs[k] as u64), "{what}, row {k}");
        let last = if arrays.ended(k) { allowed(arrays.final_obs[k] as u64) } else { [FLAG; L] };
        assert_eq!(arrays.final_mask[row], last, "{what}, last of row {k}");
    }
    (0..n).filter(|&k| arrays.ended(k)).count()
}

fn room(n: usize) -> Arrays {
    Arrays::with_masks(n, 1, L)
}

fn draw_actions(n: usize, rng: &mut Rng) -> Vec<i32> {
    // Choice 2 of the first element seldom, the last choice of the second one never.
    (0..n).flat_map(|_| [[0, 1, 0, 1, 2][rng.bounded(4) as usize], rng.bounded(2) as i32]).collect()
}

fn made<E: Env>(env: &E, n: usize, mode: Autoreset) -> Vec<u64> {
    begin(env, &VecEnvConfig { seed: 5, ..config(n as u32, mode) }).0
}

/// Steps in ranges or all at once, and resets ended rows in the mode without autoreset.
fn run<E: Env>(env: &E, n: usize, mode: Autoreset, ranges: &[usize], level: Level, what: &str) {
    let (mut mem, mut rng, mut ends) = (made(env, n, mode), Rng::seeded(8), 0);
    let mut venv = attach(&mut mem, env);
    for step in 0..40 {
        let (actions, mut arrays) = (draw_actions(n, &mut rng), room(n));
        let action = Elements::I32(&actions);
        match ranges {
            [] => venv.step_env(level, action, arrays.out()).unwrap(),
            _ => ranges.windows(2).for_each(|r| venv.step_range(r[0], r[1], action, arrays.out()).unwrap()),
        }
        ends += check(&arrays, &format!("{what}, {mode:?}, {n} rows, step {step}"));
        for i in arrays.to_reset(mode) {
            venv.reset_one(i, None, ElementsMut::F32(&mut arrays.obs)).unwrap();
        }
        let mut now = [0; L];
        for i in 0..n {
            venv.action_mask(i, &mut now).unwrap();
            assert_eq!(now, allowed(arrays.obs[i] as u64), "the state and what was shown of it");
        }
    }
    assert!(ends > n * 5);
}

#[test]
fn masks_are_those_of_what_is_seen() {
    let stack = [Wrapper::TimeLimit { steps: 3 }, Wrapper::ScaleReward { factor: 2.0 }];
    let wrapped = Pipeline::new(&Counter, &stack).unwrap();
    for mode in MODES {
        for (n, ranges) in [(1, &[][..]), (1, &[0, 1]), (5, &[]), (5, &[0, 2, 5]), (70, &[]), (70, &[0, 64, 70])] {
            for level in [Level::New, Level::Same] {
                run(&Counter, n, mode, ranges, level, "bare");
                run(&wrapped, n, mode, ranges, level, "wrapped");
            }
        }
    }
}

/// An environment without masks allows everything, in lanes and alone; steps are the same with masks and without.
#[test]
fn everything_is_allowed_without_masks() {
    for n in [1, 7, 70] {
        for mode in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Legacy] {
            let (mut mem, mut other) = (made(&CartPole, n, mode), made(&CartPole, n, mode));
            let (mut rng, mut ends) = (Rng::seeded(3), 0);
            for _ in 0..300 {
                let actions: Vec<i32> = (0..n).map(|_| rng.bounded(1) as i32).collect();
                let action = Elements::I32(&actions);
                let (mut a, mut b) = (Arrays::with_masks(n, 4, 2), Arrays::new(n, 4));
                attach(&mut mem, &CartPole).step(action, a.out()).unwrap();
                attach(&mut other, &CartPole).step(action, b.out()).unwrap();
                assert!(a.bytes()[..6] == b.bytes()[..6] && mem == other);
                assert!(a.mask.iter().all(|&flag| flag == 1));
                for (i, last) in a.final_mask.chunks_exact(2).enumerate() {
                    assert_eq!(last, if a.ended(i) { [1; 2] } else { [FLAG; 2] });
                    ends += u32::from(a.ended(i));
                }
            }
            assert!(ends > 2);
        }
    }
}

/// A failing mask stops the step like a failing step: rows before it are complete, its row has to be reset, and the flags of it
/// and of later rows are untouched. The mask of a last state fails only if it is requested.
#[test]
fn a_mask_that_fails_stops_the_step_at_its_row() {
    for (actions, asked) in [([0, 0, 1, 3, 0, 0], [true, false]), ([0, 0, 1, 3, 0, 0], [true, true])] {
        let mut mem = made(&Counter, 3, Autoreset::SameStep);
        let mut venv = attach(&mut mem, &Counter);
        let mut arrays = room(3);
        let mut out = arrays.out();
        out.final_action_mask = out.final_action_mask.filter(|_| asked[1]);
        let error = venv.step(Elements::I32(&actions), out).unwrap_err();
        assert_eq!((error.kind, error.to_string().contains("environment 1")), (Kind::Callback, true), "{error}");
        assert_eq!((&arrays.reward[..], &arrays.terminated[..]), (&[1.0, MARK, MARK][..], &[0, FLAG, FLAG][..]));
        let again = venv.step(Elements::I32(&[0; 6]), arrays.out()).unwrap_err();
        assert_eq!(again.kind, Kind::NotReady);
        venv.reset_one(1, None, ElementsMut::F32(&mut arrays.obs)).unwrap();
        let mut arrays = room(3);
        venv.step(Elements::I32(&[0; 6]), arrays.out()).unwrap();
        check(&arrays, "after the reset");
    }
    // The last state fails: choice 2 ends the episode in it, and only the mask of the last observation fails.
    let mut mem = made(&Ending, 3, Autoreset::SameStep);
    let mut venv = attach(&mut mem, &Ending);
    let mut arrays = room(3);
    venv.step(Elements::I32(&[0, 0, 2, 3, 0, 0]), StepOut { final_action_mask: None, ..arrays.out() }).unwrap();
    assert_eq!(arrays.terminated, [0, 1, 0]);
    let error = venv.step(Elements::I32(&[0, 0, 2, 3, 0, 0]), arrays.out()).unwrap_err();
    assert_eq!(error.kind, Kind::Callback);
    assert_eq!(venv.step(Elements::I32(&[0; 6]), arrays.out()).unwrap_err().kind, Kind::NotReady);
}

/// [`Counter`], whose episodes end in the state that fails.
struct Ending;

impl Env for Ending {
    fn spec(&self) -> Spec<'_> {
        Counter.spec()
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        Counter.reset(row, state, rng, obs)
    }

    fn step(&self, row: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let ends = action == Elements::I32(&[2, 3]);
        let action = if ends { Elements::I32(&[1, 3]) } else { action };
        Ok(Step { terminated: ends, ..Counter.step(row, state, rng, action, obs)? })
    }

    fn action_mask(&self, row: usize, state: &[u8], mask: &mut [u8]) -> Result {
        Counter.action_mask(row, state, mask)
    }
}

#[test]
fn masks_of_another_length_and_of_continuous_actions_are_refused() {
    let mut mem = made(&Counter, 3, Autoreset::SameStep);
    let mut venv = attach(&mut mem, &Counter);
    for len in [0, 3 * L - 1, 3 * L + 1] {
        let (mut arrays, mut mask) = (room(3), vec![FLAG; len]);
        let out = StepOut { action_mask: Some(&mut mask), ..arrays.out() };
        assert_eq!(venv.step(Elements::I32(&[0; 6]), out).unwrap_err().kind, Kind::Shape);
        let mut mask = vec![FLAG; len];
        let out = StepOut { final_action_mask: Some(&mut mask), ..arrays.out() };
        assert_eq!(venv.step(Elements::I32(&[0; 6]), out).unwrap_err().kind, Kind::Shape);
    }
    let pendulum = rlcore::env::Pendulum;
    let (mut mem, mut arrays) = begin(&pendulum, &VecEnvConfig::default());
    let mut venv = attach(&mut mem, &pendulum);
    let out = StepOut { action_mask: Some(&mut []), ..arrays.out() };
    assert_eq!(venv.step(Elements::F32(&[0.0]), out).unwrap_err().kind, Kind::Config);
}

#[test]
fn a_batch_hands_out_the_masks_of_what_it_collects() {
    const ROWS: usize = 12;
    for (in_series, mode) in [1, 3, 12].into_iter().flat_map(|k| MODES.map(|mode| (k, mode))) {
        let vecenv = VecEnvConfig { seed: 5, ..config(ROWS as u32, mode) };
        with(&Counter, vecenv, in_series as u32, |batch, groups, _| {
            let (mut rng, mut ends) = (Rng::seeded(8), 0);
            for step in 0..30 {
                let actions = draw_actions(ROWS, &mut rng);
                batch.step_async(groups, groups, &Counter, Elements::I32(&actions)).unwrap();
                batch.run(groups, groups, &Counter, 0, u32::MAX).unwrap();
                let what = format!("groups of {in_series}, {mode:?}, step {step}");
                let mut arrays = room(ROWS);
                if step % 2 == 0 {
                    batch.step_wait(groups, arrays.out()).unwrap();
                    ends += check(&arrays, &what);
                } else {
                    for _ in 0..ROWS / in_series {
                        let (mut some, mut numbers) = (room(in_series), vec![0; in_series]);
                        batch.recv(groups, &mut numbers, some.out()).unwrap();
                        ends += check(&some, &what);
                        for (k, &row) in numbers.iter().enumerate() {
                            let row = row as usize;
                            (arrays.terminated[row], arrays.truncated[row]) = (some.terminated[k], some.truncated[k]);
                        }
                    }
                }
                for i in arrays.to_reset(mode) {
                    batch.reset_one(groups, groups, &Counter, i, None, arrays.first()).unwrap();
                }
            }
            assert!(ends > ROWS);
            // A row with a failing mask is a failed row.
            let mut actions = vec![0; 2 * ROWS];
            actions[8..10].copy_from_slice(&[1, 3]);
            batch.reset(groups, groups, &Counter, None, ElementsMut::F32(&mut [0.0; ROWS])).unwrap();
            batch.step_async(groups, groups, &Counter, Elements::I32(&actions)).unwrap();
            batch.run(groups, groups, &Counter, 0, u32::MAX).unwrap();
            let (mut arrays, mut failed) = (room(ROWS), [9; ROWS]);
            assert_eq!(batch.step_wait(groups, arrays.out()).unwrap_err().kind, Kind::Callback);
            batch.failed(groups, &mut failed).unwrap();
            assert_eq!(failed, core::array::from_fn(|i| u8::from(i == 4)));
        });
    }
}
