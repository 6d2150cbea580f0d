//! N environments of one kind in one block, stepped whole or in disjoint ranges of rows.
//!
//! A row is one environment: its state, its random stream, its step counter, its phase. Everything else is fixed when
//! the block is made and read-only afterwards, so threads may step disjoint ranges at once and no split changes a byte.

use super::columns::LANES;
use super::row::{
    ENDED, Flags, RUNNING, Row, SHAPE, Start, Turn, UNSET, end_in, is_ready, keep, next_level, reset_row, restart_row,
};
use super::setup::{Autoreset, Rows, Setup, Spans, VecEnvConfig};
use super::{Env, Level, Spec};
use crate::block;
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Space};

/// Rows that an environment is asked to step together, so many at most that they and what they write stay in the first cache.
const BLOCK: usize = 64;

/// Where a step writes. Each array has exactly the rows that are stepped, or all N for calls that take a range.
#[derive(Debug)]
pub struct StepOut<'a> {
    /// `[rows, obs_len]` the observation to act on next.
    pub obs: ElementsMut<'a>,
    /// `[rows]`
    pub reward: &'a mut [f32],
    /// `[rows]` 1 where the task reached a terminal state.
    pub terminated: &'a mut [u8],
    /// `[rows]` 1 where the episode was cut, by the environment or by the time limit.
    pub truncated: &'a mut [u8],
    /// `[rows, obs_len]` written only in rows that ended; required with [`Autoreset::SameStep`].
    pub final_obs: Option<ElementsMut<'a>>,
    /// `[rows]` 0 where the row was only reset, else 1; required with [`Autoreset::NextStep`].
    pub valid: Option<&'a mut [u8]>,
}

const RANGE: Error = Error::new(Kind::Range, "vecenv: a range with begin <= end <= num_envs = {needed}");
const ROW: Error = Error::new(Kind::Range, "vecenv: an index below");
const UNREADY: Error = Error::new(Kind::NotReady, "vecenv: environment {given} was never reset.");
const UNSET_ROW: Error = Error::new(Kind::NotReady, "vecenv: environment {given} must be reset before it is stepped.");

impl<'a> StepOut<'a> {
    /// The same arrays for a shorter time.
    pub fn reborrow(&mut self) -> StepOut<'_> {
        StepOut {
            obs: self.obs.reborrow(),
            reward: &mut *self.reward,
            terminated: &mut *self.terminated,
            truncated: &mut *self.truncated,
            final_obs: self.final_obs.as_mut().map(ElementsMut::reborrow),
            valid: self.valid.as_deref_mut(),
        }
    }

    /// The first `k` rows and the others, for two threads; `None` if there are fewer than `k`.
    pub fn split_at(self, k: usize, obs_len: usize) -> Option<(StepOut<'a>, StepOut<'a>)> {
        let elements = k.checked_mul(obs_len)?;
        let (obs, obs_rest) = self.obs.split_at(elements)?;
        let (reward, reward_rest) = self.reward.split_at_mut_checked(k)?;
        let (terminated, terminated_rest) = self.terminated.split_at_mut_checked(k)?;
        let (truncated, truncated_rest) = self.truncated.split_at_mut_checked(k)?;
        let (final_obs, final_rest) = match self.final_obs {
            Some(x) => x.split_at(elements).map(|(low, high)| (Some(low), Some(high)))?,
            None => (None, None),
        };
        let (valid, valid_rest) = match self.valid {
            Some(x) => x.split_at_mut_checked(k).map(|(low, high)| (Some(low), Some(high)))?,
            None => (None, None),
        };
        let low = StepOut { obs, reward, terminated, truncated, final_obs, valid };
        let high = StepOut {
            obs: obs_rest,
            reward: reward_rest,
            terminated: terminated_rest,
            truncated: truncated_rest,
            final_obs: final_rest,
            valid: valid_rest,
        };
        Some((low, high))
    }

    /// Rows `begin..end`, or `None` if they are not all there.
    pub fn range(self, begin: usize, end: usize, obs_len: usize) -> Option<StepOut<'a>> {
        let (_, rest) = self.split_at(begin, obs_len)?;
        Some(rest.split_at(end.checked_sub(begin)?, obs_len)?.0)
    }

    pub(super) fn check(&self, rows: usize, setup: &Setup) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", &self.obs, rows, setup)?;
        check_len("vecenv reward: elements,", self.reward, rows)?;
        check_len("vecenv terminated: elements,", self.terminated, rows)?;
        check_len("vecenv truncated: elements,", self.truncated, rows)?;
        if let Some(x) = &self.final_obs {
            check_obs("vecenv final_obs: elements of the agreed kind,", x, rows, setup)?;
        }
        if let Some(x) = &self.valid {
            check_len("vecenv valid: elements,", x, rows)?;
        }
        self.check_given(rows, setup)
    }

    /// What may be left out is there where the mode needs it.
    #[inline(always)]
    fn check_given(&self, rows: usize, setup: &Setup) -> Result {
        let missing = |what, needed| Err(Error::new(Kind::Null, what).needed(needed));
        if self.final_obs.is_none() && setup.mode() == Autoreset::SameStep {
            let needed = rows.saturating_mul(setup.obs_len as usize);
            return missing("vecenv: same-step autoreset requires final_obs, with {needed} elements.", needed);
        }
        if self.valid.is_none() && setup.mode() == Autoreset::NextStep {
            return missing("vecenv: next-step autoreset requires valid, with {needed} elements.", rows);
        }
        Ok(())
    }
}

pub(super) fn check_obs(what: &'static str, obs: &ElementsMut<'_>, rows: usize, setup: &Setup) -> Result {
    let needed = rows.checked_mul(setup.obs_len as usize).ok_or(SHAPE)?;
    if obs.len() == needed && obs.kind() as u32 == setup.obs_kind {
        Ok(())
    } else {
        Err(Error::new(Kind::Shape, what).needed(needed).given(obs.len()))
    }
}

/// Checks every action of `rows` rows: discrete ones in range, continuous ones finite.
#[inline(always)]
pub(super) fn check_actions<E: Env + ?Sized>(env: &E, action: Elements<'_>, rows: usize) -> Result {
    // One choice a row is what most environments ask for.
    let space = env.spec().action;
    if let (Elements::I32(x), Element::I32, 1, &[n]) = (action, space.kind, space.len, space.n)
        && x.len() == rows
        && x.iter().fold(true, |all, &a| all & ((a as u32) < n))
    {
        return Ok(());
    }
    // Asked again: a space whose address nobody needs is not copied above.
    check_any_actions(&env.spec().action, action, rows)
}

/// [`check_actions`] for actions of any kind.
#[inline(never)]
fn check_any_actions(space: &Space<'_>, action: Elements<'_>, rows: usize) -> Result {
    let needed = rows.checked_mul(space.len as usize).ok_or(SHAPE)?;
    if action.kind() != space.kind || action.len() != needed {
        let what = "vecenv action: elements of the agreed kind,";
        return Err(Error::new(Kind::Shape, what).needed(needed).given(action.len()));
    }
    let outside = |&(&a, &n): &(&i32, &u32)| a as u32 >= n;
    match (action, space.n) {
        (Elements::F32(x), _) => check_finite("vecenv action: finite values,", x),
        (Elements::I32(x), n) => match x.iter().zip(n.iter().cycle()).find(outside) {
            Some((&a, &n)) => {
                let what = "vecenv action: a choice from 0 to below";
                Err(Error::new(Kind::Range, what).needed(n as usize).given_i64(a.into()))
            }
            None => Ok(()),
        },
        (Elements::U8(_), _) => Err(Error::new(Kind::Shape, "vecenv action: elements of kind f32 or i32")),
    }
}

impl<'a> Rows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.phase.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.phase.is_empty()
    }

    /// The same rows for a shorter time.
    pub fn reborrow(&mut self) -> Rows<'_> {
        Rows {
            setup: self.setup,
            first: self.first,
            state: &mut *self.state,
            rng: &mut *self.rng,
            steps: &mut *self.steps,
            phase: &mut *self.phase,
        }
    }

    /// The first `k` rows and the others, for two threads; `None` if there are fewer than `k`.
    pub fn split_at(self, k: usize) -> Option<(Rows<'a>, Rows<'a>)> {
        let bytes = k.checked_mul(self.setup.state_size as usize)?;
        let (state, state_rest) = self.state.split_at_mut_checked(bytes)?;
        let (rng, rng_rest) = self.rng.split_at_mut_checked(k)?;
        let (steps, steps_rest) = self.steps.split_at_mut_checked(k)?;
        let (phase, phase_rest) = self.phase.split_at_mut_checked(k)?;
        let (setup, first) = (self.setup, self.first);
        let rest = first.checked_add(k)?;
        Some((
            Rows { setup, first, state, rng, steps, phase },
            Rows { setup, first: rest, state: state_rest, rng: rng_rest, steps: steps_rest, phase: phase_rest },
        ))
    }

    /// Rows `begin..end`, counted from the first of these. Errors: `Range`.
    pub fn range(self, begin: usize, end: usize) -> Result<Rows<'a>> {
        let len = self.len();
        let refused = RANGE.needed(len).given(end);
        let (_, rest) = self.split_at(begin).ok_or(refused)?;
        let (rows, _) = rest.split_at(end.checked_sub(begin).ok_or(refused)?).ok_or(refused)?;
        Ok(rows)
    }

    /// Starts an episode in every row and writes `obs` `[rows, obs_len]`. With a seed, row i of the batch gets the
    /// stream of `seed + i` and starts afresh, as in Gymnasium; without, the streams go on and an environment that was
    /// reset before starts again as [`Env::restart`] says, in a new level.
    ///
    /// Errors: `Config`, `Shape`, before anything changes. A callback that fails, or a non-finite observation, stops at a
    /// row that the error gives: rows before it are done, it has to be reset again and its observation is unspecified,
    /// rows after it are untouched.
    pub fn reset<E: Env + ?Sized>(&mut self, env: &E, seed: Option<u64>, mut obs: ElementsMut<'_>) -> Result {
        self.check(env)?;
        check_obs("vecenv obs: elements of the agreed kind,", &obs, self.len(), self.setup)?;
        let (first, width, size) = (self.first, self.setup.obs_len as usize, self.setup.state_size as usize);
        let mut states = &mut *self.state;
        let rows = self.rng.iter_mut().zip(self.steps.iter_mut()).zip(self.phase.iter_mut());
        for (k, ((rng, steps), phase)) in rows.enumerate() {
            let state = cut(&mut states, size)?;
            let at = k.saturating_mul(width);
            let row = obs.get(at, at.saturating_add(width)).ok_or(SHAPE)?;
            let index = first.saturating_add(k);
            if let Some(seed) = seed {
                *rng = Rng::seeded(seed.wrapping_add(index as u64));
            }
            let start = if seed.is_some() || *phase == UNSET { Start::Afresh } else { Start::Again(Level::New) };
            (*steps, *phase) = (0, UNSET);
            if start == Start::Afresh {
                env.configure(state, self.setup)?;
            }
            reset_row(env, start, state, rng, row).map_err(|e| e.given(index))?;
            *phase = RUNNING;
        }
        Ok(())
    }

    /// Steps every row. `action`: `[rows, action_len]`; the arrays of `out` have as many rows.
    ///
    /// Errors: `Config`, `Shape`, `Null`, `NotReady` (a row has to be reset first), `Range` and `Value` (actions), all before
    /// anything changes. A callback that fails, or a non-finite reward or observation, stops at a row that the error
    /// gives: rows before it are complete; it has to be reset and its `obs` and `final_obs` are unspecified, its other
    /// outputs and all rows after it are untouched.
    pub fn step<E: Env + ?Sized>(&mut self, env: &E, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.step_env(env, Level::New, action, out)
    }

    /// [`Rows::step`], in which environments that end start again in this level, now or in their next step. A reset chooses
    /// a new one.
    pub fn step_env<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        mut out: StepOut<'_>,
    ) -> Result {
        self.check(env)?;
        out.check(self.len(), self.setup)?;
        match self.step_alone(env, level, action, &mut out) {
            Some(done) => done,
            // Moved, so that `out` itself stays in registers where it is not.
            None => self.step_several(env, level, action, &mut { out }),
        }
    }

    /// [`Rows::step_env`] for a caller who has asked [`Setup::is_for`], and has cut rows and arrays along the setup: neither
    /// is looked at again. Of shorter arrays fewer rows are stepped, or as many as there are before a `Shape`.
    #[inline(never)]
    pub fn step_cut<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        out.check_given(self.len(), self.setup)?;
        match self.step_alone(env, level, action, out) {
            Some(done) => done,
            None => self.step_several(env, level, action, out),
        }
    }

    /// What is left of a step of one row once its arrays are known to be right, compiled into the caller: a row alone has all
    /// of every array. `None` if there are more.
    #[inline(always)]
    fn step_alone<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Option<Result> {
        if !cfg!(feature = "simd") {
            return None;
        }
        let ([rng], [steps], [phase]) = (&mut *self.rng, &mut *self.steps, &mut *self.phase) else { return None };
        let ([reward], [terminated], [truncated]) = (&mut *out.reward, &mut *out.terminated, &mut *out.truncated)
        else {
            return None;
        };
        let (mode, first) = (self.setup.mode(), self.first);
        if let Err(e) = check_actions(env, action, 1) {
            return Some(Err(e));
        }
        if !is_ready(*phase, mode) {
            return Some(Err(UNSET_ROW.given(first)));
        }
        let turn = Turn { env, level, mode, last: self.setup.max_episode_steps.wrapping_sub(1) };
        let row = Row { state: &mut *self.state, rng, steps, phase };
        let valid = out.valid.as_deref_mut().and_then(<[u8]>::first_mut);
        let keep = |obs: Elements<'_>| out.final_obs.as_mut().map_or(Ok(()), |all| keep(obs, all, 0));
        let flags = Flags { reward, terminated, truncated, valid };
        Some(turn.take(row, action, out.obs.reborrow(), flags, keep).map_err(|e| e.given(first)))
    }

    /// The same for any number of rows.
    #[inline(never)]
    fn step_several<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        check_actions(env, action, self.len())?;
        let mode = self.setup.mode();
        if !self.phase.iter().fold(true, |all, &phase| all & is_ready(phase, mode)) {
            let row = self.phase.iter().position(|&phase| !is_ready(phase, mode)).unwrap_or(0);
            return Err(UNSET_ROW.given(self.first.saturating_add(row)));
        }
        let n = self.len();
        if n < LANES || !cfg!(feature = "simd") {
            return self.step_each(env, level, action, out);
        }
        let mut begin = 0usize;
        while begin < n {
            let end = n.min(begin.saturating_add(BLOCK));
            self.step_block(env, level, begin, end, action, out)?;
            begin = end;
        }
        Ok(())
    }

    /// Steps the rows `begin..end`: as many as the environment steps together, and then the others.
    fn step_block<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        begin: usize,
        end: usize,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        let (obs_len, action_len) = (self.setup.obs_len as usize, self.setup.action_len as usize);
        let actions = |begin: usize, end: usize| {
            action.get(begin.saturating_mul(action_len), end.saturating_mul(action_len)).ok_or(SHAPE)
        };
        let mut rows = self.reborrow().range(begin, end)?;
        let mut out = out.reborrow().range(begin, end, obs_len).ok_or(SHAPE)?;
        // A legacy reset comes before the step.
        let resets = rows.setup.mode() == Autoreset::Legacy && rows.phase.iter().any(|&phase| phase >= ENDED);
        let n = rows.len();
        let done = if resets { 0 } else { env.step_rows(&mut *rows.state, actions(begin, end)?, &mut out).min(n) };
        if done > 0 {
            rows.settle(env, level, done, &mut out)?;
            if done == n {
                return Ok(());
            }
            (rows, out) = (rows.range(done, n)?, out.range(done, n, obs_len).ok_or(SHAPE)?);
        }
        rows.step_each(env, level, actions(begin.saturating_add(done), end)?, &mut out)
    }

    /// What a step leaves to do in the first `done` rows, which their environment has stepped together.
    #[inline(never)]
    fn settle<E: Env + ?Sized>(&mut self, env: &E, level: Level, done: usize, out: &mut StepOut<'_>) -> Result {
        let rows = self;
        let (first, mode) = (rows.first, rows.setup.mode());
        let Setup { max_episode_steps, obs_len, state_size, .. } = *rows.setup;
        let (obs_len, size) = (obs_len as usize, state_size as usize);
        // The rows where something is left to do: bytes of 1.
        let (mut ended, last) = ([0u8; BLOCK], max_episode_steps.wrapping_sub(1));
        let counters = rows.steps.iter_mut().zip(rows.phase.iter_mut());
        let flags = out.terminated.iter().zip(out.truncated.iter_mut());
        for (((steps, phase), (terminated, truncated)), ended) in counters.zip(flags).zip(&mut ended).take(done) {
            *steps = steps.saturating_add(1);
            *truncated |= u8::from(*steps > last);
            *ended = u8::from((*terminated | *truncated != 0) | (*phase >= ENDED));
        }
        if let Some(valid) = out.valid.as_deref_mut().and_then(|v| v.get_mut(..done)) {
            valid.fill(1);
        }
        for (word, bytes) in ended.as_chunks::<8>().0.iter().enumerate() {
            let mut left = u64::from_le_bytes(*bytes);
            while left != 0 {
                let k = word.wrapping_mul(8).wrapping_add(left.trailing_zeros() as usize / 8);
                left &= left.wrapping_sub(1);
                let (Some(steps), Some(phase)) = (rows.steps.get_mut(k), rows.phase.get_mut(k)) else {
                    return Err(SHAPE);
                };
                let (at, begin) = (k.wrapping_mul(obs_len), k.wrapping_mul(size));
                let obs = out.obs.get(at, at.wrapping_add(obs_len)).ok_or(SHAPE)?;
                let mut level = level;
                if *phase >= ENDED {
                    level = next_level(*phase);
                    let flags = (out.reward.get_mut(k), out.terminated.get_mut(k), out.truncated.get_mut(k));
                    let (Some(reward), Some(terminated), Some(truncated)) = flags else { return Err(SHAPE) };
                    (*reward, *terminated, *truncated) = (0.0, 0, 0);
                    if let Some(valid) = out.valid.as_deref_mut().and_then(|v| v.get_mut(k)) {
                        *valid = 0;
                    }
                } else {
                    if let Some(final_obs) = &mut out.final_obs {
                        let mut row = final_obs.get(at, at.wrapping_add(obs_len)).ok_or(SHAPE)?;
                        row.copy_from(obs.as_ref())?;
                    }
                    if mode != Autoreset::SameStep {
                        *phase = end_in(level);
                        continue;
                    }
                }
                let state = rows.state.get_mut(begin..begin.wrapping_add(size)).ok_or(SHAPE)?;
                let rng = rows.rng.get_mut(k).ok_or(SHAPE)?;
                if let Err(e) = restart_row(env, level, state, rng, obs) {
                    (*steps, *phase) = (0, UNSET);
                    return Err(e.given(first.saturating_add(k)));
                }
                (*steps, *phase) = (0, RUNNING);
            }
        }
        Ok(())
    }

    /// Steps the rows one after another. `out` by reference: copied, what was written word by word is read in pairs at once,
    /// for which the processor waits.
    #[inline(never)]
    fn step_each<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        let Setup { max_episode_steps: limit, obs_len, action_len, state_size, .. } = *self.setup;
        let (obs_len, action_len, size) = (obs_len as usize, action_len as usize, state_size as usize);
        let turn = Turn { env, level, mode: self.setup.mode(), last: limit.wrapping_sub(1) };
        // Each row takes its own off the front of these.
        let (mut states, mut actions, mut all_obs) = (&mut *self.state, action, out.obs.reborrow());
        let mut valids = out.valid.as_deref_mut().unwrap_or_default().iter_mut();
        let rows = self.rng.iter_mut().zip(&mut *self.steps).zip(&mut *self.phase);
        let outs = out.reward.iter_mut().zip(&mut *out.terminated).zip(&mut *out.truncated);
        for (k, (((rng, steps), phase), ((reward, terminated), truncated))) in rows.zip(outs).enumerate() {
            let (action, obs);
            (action, actions) = actions.split_at(action_len).ok_or(SHAPE)?;
            (obs, all_obs) = all_obs.split_at(obs_len).ok_or(SHAPE)?;
            let row = Row { state: cut(&mut states, size)?, rng, steps, phase };
            let flags = Flags { reward, terminated, truncated, valid: valids.next() };
            let at = k.wrapping_mul(obs_len);
            let keep = |obs: Elements<'_>| out.final_obs.as_mut().map_or(Ok(()), |all| keep(obs, all, at));
            turn.take(row, action, obs, flags, keep).map_err(|e| e.given(self.first.saturating_add(k)))?;
        }
        Ok(())
    }

    /// The same rows, to read.
    pub fn view(&self) -> View<'_> {
        View { setup: self.setup, first: self.first, state: &*self.state, phase: &*self.phase }
    }

    /// The environment is the one agreed on and the fields have equally many rows.
    #[inline]
    fn check<E: Env + ?Sized>(&self, env: &E) -> Result {
        self.setup.check_env(env)?;
        let n = self.phase.len();
        let bytes = n.checked_mul(self.setup.state_size as usize).ok_or(SHAPE)?;
        if self.rng.len() == n && self.steps.len() == n && self.state.len() == bytes { Ok(()) } else { Err(SHAPE) }
    }

    /// What no sequence of calls can produce is no image.
    fn check_image(&self) -> Result {
        let (limit, mode) = (self.setup.max_episode_steps, self.setup.mode());
        let damaged = |what, row| Err(Error::new(Kind::Image, what).given(row));
        for (row, ((rng, &steps), &phase)) in self.rng.iter().zip(&*self.steps).zip(&*self.phase).enumerate() {
            let right = match phase {
                UNSET => steps == 0,
                RUNNING => limit == 0 || steps < limit,
                _ if phase == end_in(next_level(phase)) => {
                    mode != Autoreset::SameStep && steps > 0 && (limit == 0 || steps <= limit)
                }
                _ => false,
            };
            if !right {
                return damaged("vecenv: the phase and step count of environment {given} are damaged.", row);
            }
            if !rng.is_valid() {
                return damaged("vecenv: the random stream of environment {given} is damaged.", row);
            }
        }
        Ok(())
    }
}

/// Rows as [`Rows`] has them, to read: any number of threads may look at the same ones.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// What the block was made with.
    pub setup: &'a Setup,
    /// Number of the first row within the batch.
    pub first: usize,
    /// `[rows, state_size]` bytes.
    pub state: &'a [u8],
    /// `[rows]` as in [`Rows::phase`].
    pub phase: &'a [u8],
}

impl View<'_> {
    /// Lives left in row `i`, counted from the first of these. Errors: `Range`, `Config`, `NotReady`, the callback's.
    pub fn lives<E: Env + ?Sized>(&self, env: &E, i: usize) -> Result<u32> {
        self.setup.check_env(env)?;
        env.lives(self.state_of(i)?).map_err(|e| e.given(self.first.saturating_add(i)))
    }

    /// Writes 1 for each discrete action that row `i` allows now, else 0; `mask` has one flag for each choice of each
    /// action element. Errors: `Range`, `Config`, `Shape`, `NotReady`, the callback's.
    pub fn action_mask<E: Env + ?Sized>(&self, env: &E, i: usize, mask: &mut [u8]) -> Result {
        self.setup.check_env(env)?;
        let choices = env.spec().action.n.iter().fold(0usize, |sum, &n| sum.saturating_add(n as usize));
        check_len("vecenv mask: one flag for each choice, elements", mask, choices)?;
        env.action_mask(self.state_of(i)?, mask).map_err(|e| e.given(self.first.saturating_add(i)))
    }

    /// Draws row `i`: `rgb` is `[height, width, 3]`, rows from the top. Errors: `Range`, `Config`, `Shape`, `NotReady`,
    /// the callback's.
    pub fn render<E: Env + ?Sized>(&self, env: &E, i: usize, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.setup.check_env(env)?;
        let len = width.checked_mul(height).and_then(|n| n.checked_mul(3)).ok_or(SHAPE)?;
        check_len("vecenv rgb: height * width * 3 bytes,", rgb, len)?;
        env.render(self.state_of(i)?, width, height, rgb).map_err(|e| e.given(self.first.saturating_add(i)))
    }

    /// Draws every row: `rgb` is `[rows, height, width, 3]`. Errors: as [`View::render`]; rows before the one that failed
    /// are drawn.
    pub fn images<E: Env + ?Sized>(&self, env: &E, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let len = width.checked_mul(height).and_then(|n| n.checked_mul(3)).ok_or(SHAPE)?;
        let all = self.phase.len().checked_mul(len).ok_or(SHAPE)?;
        check_len("vecenv rgb: num_envs * height * width * 3 bytes,", rgb, all)?;
        self.check_ready()?;
        let mut rest = rgb;
        (0..self.phase.len()).try_for_each(|i| self.render(env, i, width, height, cut(&mut rest, len)?))
    }

    /// Refuses a row that was never reset. Errors: `NotReady`.
    pub fn check_ready(&self) -> Result {
        match self.phase.iter().position(|&phase| phase == UNSET) {
            Some(row) => Err(UNREADY.given(self.first.saturating_add(row))),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn state_of(&self, i: usize) -> Result<&[u8]> {
        let size = self.setup.state_size as usize;
        match self.phase.get(i) {
            None => return Err(ROW.needed(self.phase.len()).given(i)),
            Some(&UNSET) => return Err(UNREADY.given(self.first.saturating_add(i))),
            Some(_) => {}
        }
        let begin = i.checked_mul(size).ok_or(SHAPE)?;
        self.state.get(begin..).and_then(|rest| rest.get(..size)).ok_or(SHAPE)
    }
}

/// The next `len` bytes of `rest`.
#[inline(always)]
fn cut<'s>(rest: &mut &'s mut [u8], len: usize) -> Result<&'s mut [u8]> {
    let (head, tail) = core::mem::take(rest).split_at_mut_checked(len).ok_or(SHAPE)?;
    *rest = tail;
    Ok(head)
}

/// N environments in the caller's block: see the example of the [module](super).
#[derive(Debug)]
pub struct VecEnv<'a, E: ?Sized> {
    env: &'a E,
    rows: Rows<'a>,
}

impl<'a, E: Env + ?Sized> VecEnv<'a, E> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(env: &E, config: &VecEnvConfig) -> Result<usize> {
        Ok(Setup::new(&env.spec(), config)?.spans()?.1)
    }

    /// Lays N environments out; each has to be reset before it is stepped.
    /// Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], env: &'a E, config: &VecEnvConfig) -> Result<Self> {
        let setup = Setup::new(&env.spec(), config)?;
        let (spans, size) = setup.spans()?;
        let block = block::create(mem, block::Kind::VecEnv, size, &setup)?;
        let venv = Self::cut(block, env, spans)?;
        for (i, rng) in (0u64..).zip(venv.rows.rng.iter_mut()) {
            *rng = Rng::seeded(setup.seed.wrapping_add(i));
        }
        Ok(venv)
    }

    /// Accepts bytes that a block was copied to. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block; `Config` for another environment.
    pub fn attach(mem: &'a mut [u8], env: &'a E) -> Result<Self> {
        let setup: Setup = block::attach(mem, block::Kind::VecEnv, |setup: &Setup| Ok(setup.spans()?.1))?;
        setup.check_env(env)?;
        let (spans, _) = setup.spans()?;
        let venv = Self::cut(mem, env, spans)?;
        venv.rows.check_image()?;
        Ok(venv)
    }

    fn cut(block: &'a mut [u8], env: &'a E, spans: Spans) -> Result<Self> {
        let (setup, mut cut) = block::cut_config(block)?;
        Ok(VecEnv { env, rows: Rows::cut(&mut cut, &spans, setup, 0)? })
    }

    /// What the environment is: its spaces, its number, its own time limit.
    pub fn spec(&self) -> Spec<'_> {
        self.env.spec()
    }

    /// What was agreed when the block was made.
    pub fn setup(&self) -> &Setup {
        self.rows.setup
    }

    /// Number of environments.
    pub fn num_envs(&self) -> usize {
        self.rows.len()
    }

    /// All rows, to be split for threads.
    pub fn rows(&mut self) -> Rows<'_> {
        self.rows.reborrow()
    }

    /// [`Rows::reset`] of all rows.
    pub fn reset(&mut self, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        self.rows.reset(self.env, seed, obs)
    }

    /// [`Rows::reset`] of rows `begin..end`; `obs` is `[N, obs_len]` and only these rows of it are written.
    pub fn reset_range(&mut self, begin: usize, end: usize, seed: Option<u64>, mut obs: ElementsMut<'_>) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", &obs, self.num_envs(), self.setup())?;
        let width = self.setup().obs_len as usize;
        let mut rows = self.rows.reborrow().range(begin, end)?;
        let part = obs.get(begin.saturating_mul(width), end.saturating_mul(width)).ok_or(SHAPE)?;
        rows.reset(self.env, seed, part)
    }

    /// Starts an episode in row `i` alone; `obs` is `[N, obs_len]` and only row `i` of it is written. With a seed, the row
    /// gets the stream of that very seed, as one Gymnasium environment does. Errors: as [`Rows::reset`], and `Range`.
    pub fn reset_one(&mut self, i: usize, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        let n = self.num_envs();
        if i >= n {
            return Err(ROW.needed(n).given(i));
        }
        let seed = seed.map(|seed| seed.wrapping_sub(i as u64));
        self.reset_range(i, i.saturating_add(1), seed, obs)
    }

    /// [`Rows::step_env`] of all rows.
    pub fn step_env(&mut self, level: Level, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.rows.step_env(self.env, level, action, out)
    }

    /// [`Rows::step`] of all rows.
    pub fn step(&mut self, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.rows.step(self.env, action, out)
    }

    /// [`Rows::step`] of rows `begin..end`; all arrays are those of the whole batch and only these rows are used.
    pub fn step_range(&mut self, begin: usize, end: usize, action: Elements<'_>, out: StepOut<'_>) -> Result {
        let (n, setup) = (self.num_envs(), self.rows.setup);
        out.check(n, setup)?;
        let width = setup.action_len as usize;
        let needed = n.checked_mul(width).ok_or(SHAPE)?;
        if action.len() != needed {
            return Err(Error::new(Kind::Shape, "vecenv action: elements,").needed(needed).given(action.len()));
        }
        let mut rows = self.rows.reborrow().range(begin, end)?;
        let action = action.get(begin.saturating_mul(width), end.saturating_mul(width)).ok_or(SHAPE)?;
        rows.step(self.env, action, out.range(begin, end, setup.obs_len as usize).ok_or(SHAPE)?)
    }

    /// [`View::lives`].
    pub fn lives(&self, i: usize) -> Result<u32> {
        self.rows.view().lives(self.env, i)
    }

    /// [`View::action_mask`].
    pub fn action_mask(&self, i: usize, mask: &mut [u8]) -> Result {
        self.rows.view().action_mask(self.env, i, mask)
    }

    /// [`View::images`].
    pub fn images(&self, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.rows.view().images(self.env, width, height, rgb)
    }

    /// [`View::render`].
    pub fn render(&self, i: usize, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.rows.view().render(self.env, i, width, height, rgb)
    }
}
