//! Resetting and stepping the rows of a batch, all of them or disjoint ranges.
//!
//! A row is one environment: its state, random stream, step counter and phase. All other data is fixed when the block
//! is created and read-only afterwards, so that threads may step disjoint ranges concurrently and the results do not
//! depend on the split.

use super::columns::LANES;
use super::out::{StepOut, check_actions, check_obs};
use super::row::{
    ENDED, Flags, Masks, RUNNING, Row, SHAPE, Start, StepContext, UNSET, count_step, cut, is_possible, is_ready, keep,
    reset_row,
};
use super::setup::{Autoreset, Rows, Setup};
use super::view::View;
use super::{Env, Level, Reset};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// Most rows that an environment steps together, so that their state and outputs fit in the first-level cache.
const BLOCK: usize = 64;

const RANGE: Error = Error::new(Kind::Range, "vecenv: a range with begin <= end <= num_envs = {needed}");
const UNSET_ROW: Error = Error::new(Kind::NotReady, "vecenv: environment {given} must be reset before it is stepped.");

impl<'a> Rows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.phase.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.phase.is_empty()
    }

    /// Reborrows the rows.
    #[inline(always)]
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

    /// Splits into the first `k` rows and the others, e.g. for two threads; `None` if there are fewer than `k` rows.
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

    /// Rows `begin..end`, relative to the first row of `self`. Errors: `Range`.
    pub fn range(self, begin: usize, end: usize) -> Result<Rows<'a>> {
        let len = self.len();
        let refused = RANGE.needed(len).given(end);
        let (_, rest) = self.split_at(begin).ok_or(refused)?;
        let (rows, _) = rest.split_at(end.checked_sub(begin).ok_or(refused)?).ok_or(refused)?;
        Ok(rows)
    }

    /// Starts an episode in every row and writes `obs` `[rows, obs_len]`. With a seed, row i of the batch gets the
    /// random stream of `seed + i` and is reset with `Env::reset`, as in Gymnasium. Without a seed, the random
    /// streams continue, and environments that have been reset before start again with [`Env::restart`], in a new
    /// level.
    ///
    /// Errors: `Config`, `Shape`, before anything changes. If a callback fails or an observation is not finite, the
    /// reset stops at that row, whose index the error gives: rows before it are complete; it must be reset again and
    /// its observation is unspecified; rows after it are unchanged.
    pub fn reset<E: Env + ?Sized>(&mut self, env: &E, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        self.reset_with(env, Reset::seeded(seed), obs)
    }

    /// [`Rows::reset`] with options, which reach [`Env::reset_with`] of every row in place of `Env::reset` and `Env::restart`,
    /// with a seed and without. Wrappers pass them on and start like after a reset with a seed. Episodes that autoreset starts
    /// later have no options. Errors: `Config`, before anything changes, if the environment takes none; as [`Rows::reset`].
    pub fn reset_with<E: Env + ?Sized>(&mut self, env: &E, how: Reset<'_>, mut obs: ElementsMut<'_>) -> Result {
        self.check(env)?;
        how.check(env)?;
        check_obs("vecenv obs: elements of the agreed kind,", obs.as_ref(), self.len(), self.setup)?;
        let (first, width, size) = (self.first, self.setup.obs_len as usize, self.setup.state_size as usize);
        let mut states = &mut *self.state;
        let rows = self.rng.iter_mut().zip(self.steps.iter_mut()).zip(self.phase.iter_mut());
        for (k, ((rng, steps), phase)) in rows.enumerate() {
            let state = cut(&mut states, size)?;
            let at = k.saturating_mul(width);
            let obs_row = obs.get(at, at.saturating_add(width)).ok_or(SHAPE)?;
            let index = first.saturating_add(k);
            if let Some(seed) = how.seed {
                *rng = Rng::seeded(seed.wrapping_add(index as u64));
            }
            let start = match how.options {
                Some(options) => Start::With(options),
                None if how.seed.is_some() || *phase == UNSET => Start::Afresh,
                None => Start::Again(Level::New),
            };
            (*steps, *phase) = (0, UNSET);
            if !matches!(start, Start::Again(_)) {
                env.configure(state, self.setup)?;
            }
            let mut row = Row { index, state, rng, steps, phase };
            reset_row(env, start, &mut row, obs_row).map_err(|e| e.given(index))?;
            *row.phase = RUNNING;
        }
        Ok(())
    }

    /// Steps every row. `action` is `[rows, action_len]`; the arrays of `out` have as many rows.
    ///
    /// Errors: `Config`, `Shape`, `Null`, `NotReady` (a row must be reset first), `Range` and `Value` (actions), all
    /// before anything changes. If a callback fails, or a reward or observation is not finite, the step stops at that
    /// row, whose index the error gives: rows before it are complete; it must be reset, its `obs` and `final_obs` are
    /// unspecified and its other outputs unchanged; rows after it are unchanged.
    pub fn step<E: Env + ?Sized>(&mut self, env: &E, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.step_env(env, Level::New, action, out)
    }

    /// [`Rows::step`] with a level: environments whose episode ends in this step start the next episode in `level`, in
    /// this step or in their next one. A reset selects a new level.
    pub fn step_env<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        mut out: StepOut<'_>,
    ) -> Result {
        self.check(env)?;
        out.check(self.len(), self.setup)?;
        if cfg!(feature = "avx2") && self.len() == 1 {
            return self.reborrow().step_only(env, level, action, out);
        }
        self.step_several(env, level, action, &mut out)
    }

    /// Checks all but the actions of a step with these arrays, for callers that draw actions next. Errors: as [`Rows::step`].
    pub fn check_step<E: Env + ?Sized>(&self, env: &E, out: &StepOut<'_>) -> Result {
        self.check(env)?;
        out.check(self.len(), self.setup)?;
        self.check_ready()
    }

    /// [`Rows::step`], except that a row that fails keeps no other row from being stepped. Rows that failed must be reset, as
    /// their [phase](Rows::phase) of 0 tells; `valid`, if given, is 0 there. The inner result is the failure of the first one.
    ///
    /// Errors: as [`Rows::step`] before anything changes.
    pub fn step_around<E: Env + ?Sized>(
        &mut self,
        env: &E,
        action: Elements<'_>,
        mut out: StepOut<'_>,
    ) -> Result<Result> {
        let (n, obs_len, action_len) = (self.len(), self.setup.obs_len as usize, self.setup.action_len as usize);
        let (mut first, mut begin) = (Ok(()), 0usize);
        while begin < n {
            let action = action.get(begin.saturating_mul(action_len), action.len()).ok_or(SHAPE)?;
            let rest = out.reborrow().range(begin, n, obs_len).ok_or(SHAPE)?;
            let Err(e) = self.reborrow().range(begin, n)?.step(env, action, rest) else { break };
            // Nothing has changed if no row has failed. All rows could be stepped before.
            let failed = self.phase.iter().skip(begin).position(|&phase| phase == UNSET).ok_or(e)?;
            begin = begin.saturating_add(failed);
            if let Some(valid) = out.valid.as_deref_mut().and_then(|valid| valid.get_mut(begin)) {
                *valid = 0;
            }
            first = first.and(Err(e));
            begin = begin.saturating_add(1);
        }
        Ok(first)
    }

    /// [`Rows::step_env`] for callers that cut rows and arrays along the setup of this environment: the environment and
    /// the lengths are not checked again. If an array is shorter, fewer rows are stepped, or the rows before its end
    /// followed by a `Shape` error.
    pub fn step_cut<E: Env + ?Sized>(
        mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        mut out: StepOut<'_>,
    ) -> Result {
        out.check_given(self.len(), self.setup)?;
        self.step_several(env, level, action, &mut out)
    }

    /// [`Rows::step_cut`] of a single row, inlined into the caller: each array belongs entirely to this row.
    #[inline(always)]
    pub fn step_only<E: Env + ?Sized, F: From<Error>>(
        self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        mut out: StepOut<'_>,
    ) -> core::result::Result<(), F> {
        out.check_given(1, self.setup)?;
        let ([rng], [steps], [phase]) = (&mut *self.rng, &mut *self.steps, &mut *self.phase) else {
            return Err(SHAPE.into());
        };
        let ([reward], [terminated], [truncated]) = (&mut *out.reward, &mut *out.terminated, &mut *out.truncated)
        else {
            return Err(SHAPE.into());
        };
        let (mode, first) = (self.setup.mode(), self.first);
        if let Err(e) = check_actions(env, action, 1) {
            return Err(e.into());
        }
        if *phase != RUNNING && !is_ready(*phase, mode) {
            return Err(UNSET_ROW.given(first).into());
        }
        let context = StepContext { env, level, mode, last: self.setup.max_episode_steps.wrapping_sub(1) };
        let row = Row { index: first, state: &mut *self.state, rng, steps, phase };
        let valid = out.valid.as_deref_mut().and_then(<[u8]>::first_mut);
        let keep = |obs: Elements<'_>| out.final_obs.as_mut().map_or(Ok(()), |all| keep(obs, all.reborrow(), 0));
        let masks = match (&mut out.action_mask, &mut out.final_action_mask) {
            (None, None) => None,
            (next, last) => Some(Masks { next: next.as_deref_mut(), last: last.as_deref_mut() }),
        };
        let flags = Flags { reward, terminated, truncated, valid, masks };
        context.step(row, action, out.obs.reborrow(), flags, keep)
    }

    /// Steps any number of rows, whose arrays have already been checked.
    #[inline(never)]
    fn step_several<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        check_actions(env, action, self.len())?;
        self.check_ready()?;
        let n = self.len();
        if n < LANES || !cfg!(feature = "avx2") {
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

    /// Steps rows `begin..end`: first the rows that the environment steps together, then the others one by one.
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
        // Step all rows one by one if a legacy reset must precede a step, or if a requested mask may fail halfway.
        let resets = rows.setup.mode() == Autoreset::Legacy && rows.phase.iter().any(|&phase| phase >= ENDED);
        let n = rows.len();
        let alone = resets || (out.asks_masks() && env.has_mask());
        let done = if alone { 0 } else { env.step_rows(&mut *rows.state, actions(begin, end)?, &mut out).min(n) };
        if done > 0 {
            rows.finish_together(env, level, done, &mut out)?;
            if done == n {
                return Ok(());
            }
            (rows, out) = (rows.range(done, n)?, out.range(done, n, obs_len).ok_or(SHAPE)?);
        }
        rows.step_each(env, level, actions(begin.saturating_add(done), end)?, &mut out)
    }

    /// Completes the step of the first `done` rows, which the environment stepped together.
    #[inline(never)]
    fn finish_together<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        done: usize,
        out: &mut StepOut<'_>,
    ) -> Result {
        let Setup { max_episode_steps: limit, obs_len, mask_len, .. } = *self.setup;
        let (obs_len, choices) = (obs_len as usize, mask_len as usize);
        let context = StepContext { env, level, mode: self.setup.mode(), last: limit.wrapping_sub(1) };
        // Rows that need further work (1): their episode ended, or they must be reset.
        let mut ended = [0u8; BLOCK];
        let counters = self.steps.iter_mut().zip(self.phase.iter_mut());
        let flags = out.terminated.iter().zip(out.truncated.iter_mut());
        for (((steps, phase), (terminated, truncated)), ended) in counters.zip(flags).zip(&mut ended).take(done) {
            *truncated |= u8::from(count_step(steps, context.last));
            *ended = u8::from((*terminated | *truncated != 0) | (*phase >= ENDED));
        }
        if let Some(valid) = out.valid.as_deref_mut().and_then(|v| v.get_mut(..done)) {
            valid.fill(1);
        }
        // Every action is allowed: environments with masks are stepped one by one when masks are requested.
        if let Some(mask) = out.action_mask.as_deref_mut().and_then(|m| m.get_mut(..done.saturating_mul(choices))) {
            mask.fill(1);
        }
        for (word, bytes) in ended.as_chunks::<8>().0.iter().enumerate() {
            let mut left = u64::from_le_bytes(*bytes);
            while left != 0 {
                let k = word.wrapping_mul(8).wrapping_add(left.trailing_zeros() as usize / 8);
                left &= left.wrapping_sub(1);
                let at = k.wrapping_mul(obs_len);
                let (obs, mut flags, mut final_obs) = out.row(k, obs_len, choices)?;
                let mut row = self.row(k)?;
                if *row.phase >= ENDED {
                    context.start_next::<Error>(&mut row, obs, &mut flags)?;
                } else {
                    let step = flags.step();
                    let keep =
                        |obs: Elements<'_>| final_obs.as_mut().map_or(Ok(()), |all| keep(obs, all.reborrow(), at));
                    context.finish::<Error>(row, step, obs, flags, keep)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn row(&mut self, k: usize) -> Result<Row<'_>> {
        let size = self.setup.state_size as usize;
        let (index, begin) = (self.first.saturating_add(k), k.wrapping_mul(size));
        let state = self.state.get_mut(begin..begin.wrapping_add(size));
        match (state, self.rng.get_mut(k), self.steps.get_mut(k), self.phase.get_mut(k)) {
            (Some(state), Some(rng), Some(steps), Some(phase)) => Ok(Row { index, state, rng, steps, phase }),
            _ => Err(SHAPE),
        }
    }

    /// Steps the rows one by one. `out` is passed by reference: copying it would read in pairs words that were just
    /// written singly, which stalls the processor.
    #[inline(never)]
    fn step_each<E: Env + ?Sized>(
        &mut self,
        env: &E,
        level: Level,
        action: Elements<'_>,
        out: &mut StepOut<'_>,
    ) -> Result {
        let Setup { max_episode_steps: limit, obs_len, action_len, state_size, mask_len, .. } = *self.setup;
        let (obs_len, action_len, size) = (obs_len as usize, action_len as usize, state_size as usize);
        let (asks, choices) = (out.asks_masks(), mask_len as usize);
        let context = StepContext { env, level, mode: self.setup.mode(), last: limit.wrapping_sub(1) };
        // Each row takes its part off the front of these.
        let (mut states, mut actions, mut all_obs) = (&mut *self.state, action, out.obs.reborrow());
        let mut valids = out.valid.as_deref_mut().unwrap_or_default().iter_mut();
        let rows = self.rng.iter_mut().zip(&mut *self.steps).zip(&mut *self.phase);
        let outs = out.reward.iter_mut().zip(&mut *out.terminated).zip(&mut *out.truncated);
        for (k, (((rng, steps), phase), ((reward, terminated), truncated))) in rows.zip(outs).enumerate() {
            let (action, obs);
            (action, actions) = actions.split_at(action_len).ok_or(SHAPE)?;
            (obs, all_obs) = all_obs.split_at(obs_len).ok_or(SHAPE)?;
            let index = self.first.saturating_add(k);
            let row = Row { index, state: cut(&mut states, size)?, rng, steps, phase };
            let masks = match asks {
                true => Some(Masks::of([&mut out.action_mask, &mut out.final_action_mask], k, choices)?),
                false => None,
            };
            let flags = Flags { reward, terminated, truncated, valid: valids.next(), masks };
            let at = k.wrapping_mul(obs_len);
            let keep = |obs: Elements<'_>| out.final_obs.as_mut().map_or(Ok(()), |all| keep(obs, all.reborrow(), at));
            context.step::<Error>(row, action, obs, flags, keep)?;
        }
        Ok(())
    }

    /// Checks that every row can be stepped. Errors: `NotReady`.
    #[inline(always)]
    fn check_ready(&self) -> Result {
        let mode = self.setup.mode();
        if !self.phase.iter().fold(true, |all, &phase| all & is_ready(phase, mode)) {
            let row = self.phase.iter().position(|&phase| !is_ready(phase, mode)).unwrap_or(0);
            return Err(UNSET_ROW.given(self.first.saturating_add(row)));
        }
        Ok(())
    }

    /// A read-only view of the rows.
    pub fn view(&self) -> View<'_> {
        let (setup, first) = (self.setup, self.first);
        View { setup, first, state: &*self.state, rng: &*self.rng, steps: &*self.steps, phase: &*self.phase }
    }

    /// Checks that the environment is the one of the setup and that all fields have equally many rows.
    #[inline]
    pub(super) fn check<E: Env + ?Sized>(&self, env: &E) -> Result {
        self.setup.check_env(env)?;
        let n = self.phase.len();
        let bytes = n.checked_mul(self.setup.state_size as usize).ok_or(SHAPE)?;
        if self.rng.len() == n && self.steps.len() == n && self.state.len() == bytes { Ok(()) } else { Err(SHAPE) }
    }

    /// Rejects images that no sequence of calls can produce.
    pub(super) fn check_image(&self) -> Result {
        let (limit, mode) = (self.setup.max_episode_steps, self.setup.mode());
        let damaged = |what, row| Err(Error::new(Kind::Image, what).given(row));
        for (row, ((rng, &steps), &phase)) in self.rng.iter().zip(&*self.steps).zip(&*self.phase).enumerate() {
            if !is_possible(phase, steps, limit, mode) {
                return damaged("vecenv: the phase and step count of environment {given} are damaged.", row);
            }
            if !rng.is_valid() {
                return damaged("vecenv: the random stream of environment {given} is damaged.", row);
            }
        }
        Ok(())
    }
}
