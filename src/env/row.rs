//! One environment of a batch: what it is between two steps, how it is reset, and what one step of it does.

use super::{Autoreset, Env, Level, Step};
use crate::block::{self, Fit};
use crate::error::{Error, Kind, Result, check_finite};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field};

/// Phase of a row that has to be reset before it can be stepped: new, or a callback failed on it.
pub(super) const UNSET: u8 = 0;
/// Phase of a row within an episode.
pub(super) const RUNNING: u8 = 1;
/// Phase of a row whose episode ended and that was not reset yet; the next one up if it starts again in the same level.
pub(super) const ENDED: u8 = 2;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "vecenv: arrays with one entry a row");
pub(super) const ROW: Error = Error::new(Kind::Range, "vecenv: an index below");

/// One environment, as [`Rows`](super::Rows) has N of them.
pub(super) struct Row<'a> {
    /// Its number within the batch.
    pub index: usize,
    pub state: &'a mut [u8],
    pub rng: &'a mut Rng,
    pub steps: &'a mut u32,
    pub phase: &'a mut u8,
}

/// What a step of one environment writes beside its observation.
pub(super) struct Flags<'a> {
    pub reward: &'a mut f32,
    pub terminated: &'a mut u8,
    pub truncated: &'a mut u8,
    pub valid: Option<&'a mut u8>,
    pub masks: Option<Masks<'a>>,
}

/// Masks of one environment, where some are asked for.
pub(super) struct Masks<'a> {
    /// Of the observation to act on next.
    pub next: Option<&'a mut [u8]>,
    /// Of the last observation of an episode that ended.
    pub last: Option<&'a mut [u8]>,
}

impl<'a> Masks<'a> {
    /// Those of row `k`, of so many choices each. Errors: `Shape`.
    pub fn of(out: [&'a mut Option<&mut [u8]>; 2], k: usize, choices: usize) -> Fit<Self> {
        let row = |all: &'a mut Option<&mut [u8]>| {
            all.as_deref_mut().map(|all| block::rows_mut(all, k, 1, choices)).transpose()
        };
        let [next, last] = out;
        Ok(Masks { next: row(next)?, last: row(last)? })
    }
}

/// What one environment's step has in common with the others of its batch.
pub(super) struct StepContext<'a, E: ?Sized> {
    pub env: &'a E,
    pub level: Level,
    pub mode: Autoreset,
    /// Steps after which an episode goes on for one more at most.
    pub last: u32,
}

// Autoreset is written down here alone: for rows that are stepped one by one, and for those of a lane that have ended.
// Failures become the caller's at once: an error is large, and nobody stores one where none is.
impl<E: Env + ?Sized> StepContext<'_, E> {
    /// Steps one environment, hands the last observation of an episode to `keep`, and resets it as its mode says.
    #[inline(always)]
    pub fn step<F: From<Error>>(
        &self,
        mut row: Row<'_>,
        action: Elements<'_>,
        mut obs: ElementsMut<'_>,
        mut flags: Flags<'_>,
        keep: impl FnOnce(Elements<'_>) -> Result,
    ) -> core::result::Result<(), F> {
        if *row.phase >= ENDED && self.start_next(&mut row, obs.reborrow(), &mut flags)? {
            return Ok(());
        }
        let env = self.env;
        let mut step = match env.step(row.index, row.state, row.rng, action, obs.reborrow()) {
            Ok(step) => step,
            Err(e) => return Err(row.failed(e).into()),
        };
        if let Err(e) = check_row(env, &obs).and_then(|()| check_reward(step.reward)) {
            return Err(row.failed(e).into());
        }
        step.truncated |= count_step(row.steps, self.last);
        self.finish(row, step, obs, flags, keep)
    }

    /// Restarts a row whose episode ended in an earlier step. True if nothing else is to be done in this one.
    #[inline(always)]
    pub fn start_next<F: From<Error>>(
        &self,
        row: &mut Row<'_>,
        obs: ElementsMut<'_>,
        flags: &mut Flags<'_>,
    ) -> core::result::Result<bool, F> {
        let level = next_level(*row.phase);
        if let Err(e) = row.restart(self.env, level, obs) {
            return Err(row.failed(e).into());
        }
        let only_reset = self.mode == Autoreset::NextStep;
        if only_reset {
            if let Err(e) = flags.ask(self.env, row, |masks| &mut masks.next) {
                return Err(row.failed(e).into());
            }
            flags.write(Step::default(), 0);
        }
        Ok(only_reset)
    }

    /// All that follows a step that was counted.
    #[inline(always)]
    pub fn finish<F: From<Error>>(
        &self,
        mut row: Row<'_>,
        step: Step,
        obs: ElementsMut<'_>,
        mut flags: Flags<'_>,
        keep: impl FnOnce(Elements<'_>) -> Result,
    ) -> core::result::Result<(), F> {
        let env = self.env;
        if step.terminated | step.truncated {
            *row.phase = end_in(self.level);
            if let Err(e) = keep(obs.as_ref()).and_then(|()| flags.ask(env, &row, |masks| &mut masks.last)) {
                return Err(row.failed(e).into());
            }
            if self.mode == Autoreset::SameStep
                && let Err(e) = row.restart(env, self.level, obs)
            {
                return Err(row.failed(e).into());
            }
        }
        if let Err(e) = flags.ask(env, &row, |masks| &mut masks.next) {
            return Err(row.failed(e).into());
        }
        flags.write(step, 1);
        Ok(())
    }
}

/// Counts a step; true if the episode is to be cut after it.
#[inline(always)]
pub(super) fn count_step(steps: &mut u32, last: u32) -> bool {
    *steps = steps.saturating_add(1);
    *steps > last
}

#[cold]
#[inline(never)]
fn unset(steps: &mut u32, phase: &mut u8) {
    (*steps, *phase) = (0, UNSET);
}

impl Row<'_> {
    #[inline(always)]
    fn restart<E: Env + ?Sized>(&mut self, env: &E, level: Level, obs: ElementsMut<'_>) -> Result {
        restart_row(env, level, self.reborrow(), obs)?;
        (*self.steps, *self.phase) = (0, RUNNING);
        Ok(())
    }

    /// A row that stopped a step has to be reset.
    #[inline(always)]
    fn failed(&mut self, e: Error) -> Error {
        unset(self.steps, self.phase);
        e.given(self.index)
    }

    /// The same row for a shorter time: whole it goes to functions that are called seldom, so that it need not be stored elsewhere.
    #[inline(always)]
    fn reborrow(&mut self) -> Row<'_> {
        Row {
            index: self.index,
            state: &mut *self.state,
            rng: &mut *self.rng,
            steps: &mut *self.steps,
            phase: &mut *self.phase,
        }
    }
}

impl<'a> Flags<'a> {
    /// The step that they hold.
    pub fn step(&self) -> Step {
        Step { reward: *self.reward, terminated: *self.terminated != 0, truncated: *self.truncated != 0 }
    }

    /// Writes the mask of this state, if it is asked for.
    #[inline(always)]
    fn ask<E: Env + ?Sized>(
        &mut self,
        env: &E,
        row: &Row<'_>,
        which: impl for<'b> FnOnce(&'b mut Masks<'a>) -> &'b mut Option<&'a mut [u8]>,
    ) -> Result {
        match self.masks.as_mut().and_then(|masks| which(masks).as_deref_mut()) {
            Some(mask) => env.action_mask(row.index, row.state, mask),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn write(&mut self, step: Step, valid: u8) {
        (*self.reward, *self.terminated, *self.truncated) =
            (step.reward, step.terminated.into(), step.truncated.into());
        if let Some(to) = self.valid.as_deref_mut() {
            *to = valid;
        }
    }
}

/// The last observation of an episode goes to `final_obs`, from element `at`.
#[inline(never)]
pub(super) fn keep(obs: Elements<'_>, mut final_obs: ElementsMut<'_>, at: usize) -> Result {
    final_obs.get(at, at.wrapping_add(obs.len())).ok_or(SHAPE)?.copy_from(obs)
}

/// A row in this phase can be stepped.
#[inline(always)]
pub(super) fn is_ready(phase: u8, mode: Autoreset) -> bool {
    (phase == RUNNING) | ((phase | 1 == ENDED | 1) & (mode != Autoreset::Disabled))
}

/// Phase of a row that ended in a step that asked for this level.
#[inline(always)]
pub(super) fn end_in(level: Level) -> u8 {
    ENDED | level as u8
}

/// The level that a row in this phase starts again in.
#[inline(always)]
pub(super) fn next_level(phase: u8) -> Level {
    if phase == end_in(Level::Same) { Level::Same } else { Level::New }
}

/// How a row starts an episode.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Start {
    Afresh,
    Again(Level),
}

#[inline(always)]
pub(super) fn reset_row<E: Env + ?Sized>(env: &E, start: Start, row: &mut Row<'_>, mut obs: ElementsMut<'_>) -> Result {
    match start {
        Start::Afresh => env.reset(row.index, row.state, row.rng, obs.reborrow())?,
        Start::Again(level) => env.restart(row.index, level, row.state, row.rng, obs.reborrow())?,
    }
    check_row(env, &obs)
}

/// One copy for all that steps: episodes end rarely.
#[inline(never)]
fn restart_row<E: Env + ?Sized>(env: &E, level: Level, mut row: Row<'_>, obs: ElementsMut<'_>) -> Result {
    reset_row(env, Start::Again(level), &mut row, obs)
}

#[inline(always)]
fn check_reward(reward: f32) -> Result {
    if reward.is_finite() {
        Ok(())
    } else {
        Err(Error::new(Kind::Value, "environment: the reward of environment {given} is not finite."))
    }
}

#[inline(always)]
fn check_row<E: Env + ?Sized>(env: &E, obs: &ElementsMut<'_>) -> Result {
    let finite = match obs {
        ElementsMut::F32(x) => all_finite(x),
        ElementsMut::U8(x) => env.spec().obs.fields.iter().all(|field| is_finite(field, x)),
        ElementsMut::I32(_) => true,
    };
    if finite {
        Ok(())
    } else {
        Err(Error::new(Kind::Value, "environment: the observation of environment {given} is not finite."))
    }
}

/// Every number is finite: one after another where they are few, as they mostly are.
#[inline(always)]
fn all_finite(x: &[f32]) -> bool {
    if x.len() > 8 {
        return check_finite("environment obs", x).is_ok();
    }
    // Four at once, without a branch for each.
    let (fours, rest) = x.as_chunks::<4>();
    fours.iter().all(|four| four.iter().fold(true, |all, x| all & x.is_finite())) && rest.iter().all(|x| x.is_finite())
}

/// The numbers of a field are finite; `obs` is one observation of bytes.
fn is_finite(field: &Field<'_>, obs: &[u8]) -> bool {
    let part = obs.get(field.offset as usize..).zip(field.size()).and_then(|(obs, size)| obs.get(..size));
    let (numbers, _) = part.unwrap_or(&[]).as_chunks();
    field.kind != Element::F32 || numbers.iter().all(|&x| f32::from_ne_bytes(x).is_finite())
}

/// The next `len` bytes of `rest`.
#[inline(always)]
pub(super) fn cut<'s>(rest: &mut &'s mut [u8], len: usize) -> Result<&'s mut [u8]> {
    let (head, tail) = core::mem::take(rest).split_at_mut_checked(len).ok_or(SHAPE)?;
    *rest = tail;
    Ok(head)
}
