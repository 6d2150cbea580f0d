//! Action masks of a step: for the next observation and for the last one of an episode, in every autoreset mode, through
//! wrappers, in ranges, and in asynchronous steps.

use core::sync::atomic::AtomicU32;
use std::sync::Mutex;

use rlcore::env::batch::{self, Batch, Config, Lanes, Setup, Share, Shares};
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Autoreset, CartPole, Env, Level, Rows, Spec, Step, StepOut, VecEnv, VecEnvConfig};
use rlcore::error::{Error, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const MODES: [Autoreset; 4] = [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Disabled, Autoreset::Legacy];

/// Choices of each element of an action, and their sum.
const CHOICES: [u32; 2] = [3, 4];
const L: usize = 7;
const MARK: u8 = 9;

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
    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        _: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
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

/// The arrays of a step, filled with marks that no step writes.
#[derive(Clone)]
struct Arrays {
    obs: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_obs: Vec<f32>,
    valid: Vec<u8>,
    mask: Vec<u8>,
    final_mask: Vec<u8>,
}

impl Arrays {
    fn new(n: usize) -> Arrays {
        let (numbers, flags, masks) = (vec![-1.0; n], vec![MARK; n], vec![MARK; n * L]);
        Arrays {
            obs: numbers.clone(),
            reward: numbers.clone(),
            terminated: flags.clone(),
            truncated: flags.clone(),
            final_obs: numbers,
            valid: flags,
            mask: masks.clone(),
            final_mask: masks,
        }
    }

    fn out(&mut self) -> StepOut<'_> {
        StepOut {
            obs: ElementsMut::F32(&mut self.obs),
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_obs: Some(ElementsMut::F32(&mut self.final_obs)),
            valid: Some(&mut self.valid),
            action_mask: Some(&mut self.mask),
            final_action_mask: Some(&mut self.final_mask),
        }
    }

    /// Checks both masks against the observed states. Returns the number of ended episodes.
    fn check(&self, what: &str) -> usize {
        let mut count = 0;
        for k in 0..self.reward.len() {
            let row = k * L..(k + 1) * L;
            assert_eq!(self.mask[row.clone()], allowed(self.obs[k] as u64), "{what}, row {k}");
            let ended = self.terminated[k] | self.truncated[k] != 0;
            let last = if ended { allowed(self.final_obs[k] as u64) } else { [MARK; L] };
            assert_eq!(self.final_mask[row], last, "{what}, last of row {k}");
            count += usize::from(ended);
        }
        count
    }
}

fn draw_actions(n: usize, rng: &mut Rng) -> Vec<i32> {
    // Choice 2 of the first element seldom, the last choice of the second one never.
    (0..n).flat_map(|_| [[0, 1, 0, 1, 2][rng.bounded(4) as usize], rng.bounded(2) as i32]).collect()
}

fn made<E: Env>(env: &E, n: usize, mode: Autoreset) -> Vec<u64> {
    let config = VecEnvConfig { num_envs: n as u32, seed: 5, autoreset: mode, max_episode_steps: 0 };
    let mut mem = vec![0u64; VecEnv::size(env, &config).unwrap() / 8];
    let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut mem), env, &config).unwrap();
    venv.reset(None, ElementsMut::F32(&mut vec![0.0; n])).unwrap();
    mem
}

/// Steps in ranges or all at once, and resets ended rows in the mode without autoreset.
fn run<E: Env>(env: &E, n: usize, mode: Autoreset, ranges: &[usize], level: Level, what: &str) {
    let (mut mem, mut rng, mut ends) = (made(env, n, mode), Rng::seeded(8), 0);
    let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(&mut mem), env).unwrap();
    for step in 0..40 {
        let (actions, mut arrays) = (draw_actions(n, &mut rng), Arrays::new(n));
        let action = Elements::I32(&actions);
        match ranges {
            [] => venv.step_env(level, action, arrays.out()).unwrap(),
            _ => ranges.windows(2).for_each(|r| venv.step_range(r[0], r[1], action, arrays.out()).unwrap()),
        }
        ends += arrays.check(&format!("{what}, {mode:?}, {n} rows, step {step}"));
        for i in (0..n).filter(|&i| mode == Autoreset::Disabled && arrays.terminated[i] | arrays.truncated[i] != 0) {
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
            let (mut mem, mut other) = (made_cartpoles(n, mode), made_cartpoles(n, mode));
            let (mut rng, mut ends) = (Rng::seeded(3), 0);
            for _ in 0..300 {
                let actions: Vec<i32> = (0..n).map(|_| rng.bounded(1) as i32).collect();
                let mut seen = [(); 2].map(|()| (vec![0.0; 4 * n], vec![0.0; n], [(); 3].map(|()| vec![MARK; n])));
                let (mut mask, mut last_mask) = (vec![MARK; 2 * n], vec![MARK; 2 * n]);
                for (k, (mem, seen)) in [&mut mem, &mut other].into_iter().zip(&mut seen).enumerate() {
                    let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(mem), &CartPole).unwrap();
                    let (obs, reward, [terminated, truncated, valid]) = seen;
                    let out = StepOut {
                        obs: ElementsMut::F32(obs),
                        reward,
                        terminated,
                        truncated,
                        final_obs: Some(ElementsMut::F32(&mut vec![0.0; 4 * n])),
                        valid: Some(valid),
                        action_mask: (k == 0).then_some(&mut mask),
                        final_action_mask: (k == 0).then_some(&mut last_mask),
                    };
                    venv.step(Elements::I32(&actions), out).unwrap();
                }
                assert!(seen[0] == seen[1] && mem == other);
                assert!(mask.iter().all(|&flag| flag == 1));
                let [terminated, truncated, _] = &seen[0].2;
                for (last, (terminated, truncated)) in last_mask.chunks_exact(2).zip(terminated.iter().zip(truncated)) {
                    assert_eq!(last, if terminated | truncated != 0 { [1; 2] } else { [MARK; 2] });
                    ends += u32::from(terminated | truncated);
                }
            }
            assert!(ends > 2);
        }
    }
}

fn made_cartpoles(n: usize, mode: Autoreset) -> Vec<u64> {
    let config = VecEnvConfig { num_envs: n as u32, seed: 5, autoreset: mode, max_episode_steps: 0 };
    let mut mem = vec![0u64; VecEnv::size(&CartPole, &config).unwrap() / 8];
    let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut mem), &CartPole, &config).unwrap();
    venv.reset(None, ElementsMut::F32(&mut vec![0.0; 4 * n])).unwrap();
    mem
}

/// A failing mask stops the step like a failing step: rows before it are complete, its row has to be reset, and the flags of it
/// and of later rows are untouched. The mask of a last state fails only if it is requested.
#[test]
fn a_mask_that_fails_stops_the_step_at_its_row() {
    for (actions, asked) in [([0, 0, 1, 3, 0, 0], [true, false]), ([0, 0, 1, 3, 0, 0], [true, true])] {
        let mut mem = made(&Counter, 3, Autoreset::SameStep);
        let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(&mut mem), &Counter).unwrap();
        let mut arrays = Arrays::new(3);
        let mut out = arrays.out();
        out.final_action_mask = out.final_action_mask.filter(|_| asked[1]);
        let error = venv.step(Elements::I32(&actions), out).unwrap_err();
        assert_eq!((error.kind, error.to_string().contains("environment 1")), (Kind::Callback, true), "{error}");
        assert_eq!((&arrays.reward[..], &arrays.terminated[..]), (&[1.0, -1.0, -1.0][..], &[0, MARK, MARK][..]));
        let again = venv.step(Elements::I32(&[0; 6]), arrays.out()).unwrap_err();
        assert_eq!(again.kind, Kind::NotReady);
        venv.reset_one(1, None, ElementsMut::F32(&mut arrays.obs)).unwrap();
        let mut arrays = Arrays::new(3);
        venv.step(Elements::I32(&[0; 6]), arrays.out()).unwrap();
        arrays.check("after the reset");
    }
    // The last state fails: choice 2 ends the episode in it, and only the mask of the last observation fails.
    let mut mem = made(&Ending, 3, Autoreset::SameStep);
    let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(&mut mem), &Ending).unwrap();
    let mut arrays = Arrays::new(3);
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

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
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
    let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(&mut mem), &Counter).unwrap();
    for len in [0, 3 * L - 1, 3 * L + 1] {
        let (mut arrays, mut mask) = (Arrays::new(3), vec![MARK; len]);
        let out = StepOut { action_mask: Some(&mut mask), ..arrays.out() };
        assert_eq!(venv.step(Elements::I32(&[0; 6]), out).unwrap_err().kind, Kind::Shape);
        let mut mask = vec![MARK; len];
        let out = StepOut { final_action_mask: Some(&mut mask), ..arrays.out() };
        assert_eq!(venv.step(Elements::I32(&[0; 6]), out).unwrap_err().kind, Kind::Shape);
    }
    let pendulum = rlcore::env::Pendulum;
    let config = VecEnvConfig::default();
    let mut mem = vec![0u64; VecEnv::size(&pendulum, &config).unwrap() / 8];
    let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut mem), &pendulum, &config).unwrap();
    venv.reset(None, ElementsMut::F32(&mut [0.0; 3])).unwrap();
    let (mut obs, mut last, mut arrays) = ([0.0; 3], [0.0; 3], Arrays::new(1));
    let out = StepOut {
        obs: ElementsMut::F32(&mut obs),
        final_obs: Some(ElementsMut::F32(&mut last)),
        action_mask: Some(&mut []),
        final_action_mask: None,
        ..arrays.out()
    };
    assert_eq!(venv.step(Elements::F32(&[0.0]), out).unwrap_err().kind, Kind::Config);
}

/// The groups of a batch, for a single worker.
struct Groups<'a> {
    shares: Vec<Mutex<Share<'a>>>,
    lanes: Vec<Mutex<Rows<'a>>>,
}

impl Shares for Groups<'_> {
    fn share<T>(&self, group: usize, work: impl FnOnce(Share<'_>) -> T) -> Option<T> {
        Some(work(self.shares.get(group)?.lock().unwrap().reborrow()))
    }
}

impl Lanes for Groups<'_> {
    fn lane<T>(&self, group: usize, work: impl FnOnce(Rows<'_>) -> T) -> Option<T> {
        Some(work(self.lanes.get(group)?.lock().unwrap().reborrow()))
    }
}

#[test]
fn a_batch_hands_out_the_masks_of_what_it_collects() {
    const ROWS: usize = 12;
    for (in_series, mode) in [1, 3, 12].into_iter().flat_map(|k| MODES.map(|mode| (k, mode))) {
        let mut mem = made(&Counter, ROWS, mode);
        let mut venv = VecEnv::attach(bytemuck::cast_slice_mut(&mut mem), &Counter).unwrap();
        let (vecenv, config) = (*venv.setup(), Config { in_series });
        let mut own = vec![0u64; batch::size(&vecenv, &config).unwrap() / 8];
        let (setup, share) = batch::init(bytemuck::cast_slice_mut(&mut own), &vecenv, &config).unwrap();
        let mut groups = Groups { shares: Vec::new(), lanes: Vec::new() };
        let (mut share, mut rows): (_, Rows<'_>) = (share, venv.rows());
        for _ in 0..setup.num_groups() {
            let (k, own_setup): (usize, &Setup) = (in_series as usize, &setup);
            let (first, rest) = share.split_at(k, own_setup).unwrap();
            groups.shares.push(Mutex::new(first));
            share = rest;
            let (first, rest) = rows.split_at(k).unwrap();
            groups.lanes.push(Mutex::new(first));
            rows = rest;
        }
        let words: Vec<AtomicU32> = (0..setup.num_words()).map(|_| AtomicU32::new(0)).collect();
        let batch = Batch::over(setup, &words).unwrap();
        let (mut rng, mut ends) = (Rng::seeded(8), 0);
        for step in 0..30 {
            let actions = draw_actions(ROWS, &mut rng);
            batch.step_async(&groups, &groups, &Counter, Elements::I32(&actions)).unwrap();
            batch.run(&groups, &groups, &Counter, 0, u32::MAX).unwrap();
            let what = format!("groups of {in_series}, {mode:?}, step {step}");
            let mut arrays = Arrays::new(ROWS);
            if step % 2 == 0 {
                batch.step_wait(&groups, arrays.out()).unwrap();
                ends += arrays.check(&what);
            } else {
                for _ in 0..setup.num_groups() {
                    let (mut some, mut numbers) = (Arrays::new(in_series as usize), vec![0; in_series as usize]);
                    batch.recv(&groups, &mut numbers, some.out()).unwrap();
                    ends += some.check(&what);
                    for (k, &row) in numbers.iter().enumerate() {
                        let row = row as usize;
                        (arrays.terminated[row], arrays.truncated[row]) = (some.terminated[k], some.truncated[k]);
                    }
                }
            }
            for i in
                (0..ROWS).filter(|&i| mode == Autoreset::Disabled && arrays.terminated[i] | arrays.truncated[i] != 0)
            {
                let obs = ElementsMut::F32(&mut arrays.obs);
                batch.reset_one(&groups, &groups, &Counter, i, None, obs).unwrap();
            }
        }
        assert!(ends > ROWS);
        // A row with a failing mask is a failed row.
        let mut actions = vec![0; 2 * ROWS];
        actions[8..10].copy_from_slice(&[1, 3]);
        batch.reset(&groups, &groups, &Counter, None, ElementsMut::F32(&mut [0.0; ROWS])).unwrap();
        batch.step_async(&groups, &groups, &Counter, Elements::I32(&actions)).unwrap();
        batch.run(&groups, &groups, &Counter, 0, u32::MAX).unwrap();
        let (mut arrays, mut failed) = (Arrays::new(ROWS), [9; ROWS]);
        assert_eq!(batch.step_wait(&groups, arrays.out()).unwrap_err().kind, Kind::Callback);
        batch.failed(&groups, &mut failed).unwrap();
        assert_eq!(failed, core::array::from_fn(|i| u8::from(i == 4)));
    }
}
