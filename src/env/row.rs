//! One row (environment) of a batch: its phases, reset, and one step with autoreset.

use super::{Autoreset, Env, Level, Step};
use crate::block::{self, Fit};
use crate::error::{Error, Kind, Result, check_finite};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field};

/// Phase of a row that must be reset before it is stepped: new, or its last callback failed.
pub(super) const UNSET: u8 = 0;
/// Phase of a row within an episode.
pub(super) const RUNNING: u8 = 1;
/// Phase of a row whose episode ended and that has not been reset; `ENDED + 1` if the next episode starts in the same
/// level.
pub(super) const ENDED: u8 = 2;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "vecenv: arrays with one entry a row");
pub(super) const ROW: Error = Error::new(Kind::Range, "vecenv: an index below");

/// The data of one row of [`Rows`](super::Rows).
pub(super) struct Row<'a> {
    /// Index of the row within the batch.
    pub index: usize,
    pub state: &'a mut [u8],
    pub rng: &'a mut Rng,
    pub steps: &'a mut u32,
    pub phase: &'a mut u8,
}

/// Outputs of one row's step, apart from the observation.
pub(super) struct Flags<'a> {
    pub reward: &'a mut f32,
    pub terminated: &'a mut u8,
    pub truncated: &'a mut u8,
    pub valid: Option<&'a mut u8>,
    pub masks: Option<Masks<'a>>,
}

/// Action masks of one row, where requested.
pub(super) struct Masks<'a> {
    /// Mask of the observation to act on next.
    pub next: Option<&'a mut [u8]>,
    /// Mask of the final observation of an episode.
    pub last: Option<&'a mut [u8]>,
}

impl<'a> Masks<'a> {
    /// Masks of row `k`, of `choices` flags each. Errors: `Shape`.
    pub fn of(out: [&'a mut Option<&mut [u8]>; 2], k: usize, choices: usize) -> Fit<Self> {
        let row = |all: &'a mut Option<&mut [u8]>| {
            all.as_deref_mut().map(|all| block::rows_mut(all, k, 1, choices)).transpose()
        };
        let [next, last] = out;
        Ok(Masks { next: row(next)?, last: row(last)? })
    }
}

/// Parameters of a step that are the same for all rows of a batch.
pub(super) struct StepContext<'a, E: ?Sized> {
    pub env: &'a E,
    pub level: Level,
    pub mode: Autoreset,
    /// Time limit minus 1: the episode is truncated when its step count exceeds this. A limit of 0 wraps to the largest
    /// count.
    pub last: u32,
}

// Autoreset is implemented only here: for rows stepped one by one, and for rows of a lane whose episode ended. Errors
// are converted to the caller's type at once, because they are large and should not be stored on the success path.
impl<E: Env + ?Sized> StepContext<'_, E> {
    /// Steps one row, passes the final observation of an ended episode to `keep`, and resets the row according to the
    /// autoreset mode.
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
        if let Err(e) = check_row(env, obs.as_ref()).and_then(|()| check_reward(step.reward)) {
            return Err(row.failed(e).into());
        }
        step.truncated |= count_step(row.steps, self.last);
        self.finish(row, step, obs, flags, keep)
    }

    /// Restarts a row whose episode ended in an earlier step. Returns true if this step is complete (next-step
    /// autoreset).
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

    /// Completes a step after it was counted: final observation, masks, autoreset and flags.
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

/// Counts a step. Returns true if the episode must be truncated after it.
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

    /// Marks a row whose callback failed as unset and adds the row's index to the error.
    #[inline(always)]
    pub fn failed(&mut self, e: Error) -> Error {
        unset(self.steps, self.phase);
        e.given(self.index)
    }

    /// Reborrows the row. Rarely called functions take the row by value, so that its fields can stay in registers.
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
    /// The step result held in these outputs.
    pub fn step(&self) -> Step {
        Step { reward: *self.reward, terminated: *self.terminated != 0, truncated: *self.truncated != 0 }
    }

    /// Writes the action mask of the current state, if requested.
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

/// Copies the final observation of an episode to `final_obs`, starting at element `at`.
#[inline(never)]
pub(super) fn keep(obs: Elements<'_>, mut final_obs: ElementsMut<'_>, at: usize) -> Result {
    final_obs.get(at, at.wrapping_add(obs.len())).ok_or(SHAPE)?.copy_from(obs)
}

/// True if a row in this phase can be stepped.
#[inline(always)]
pub(super) fn is_ready(phase: u8, mode: Autoreset) -> bool {
    (phase == RUNNING) | ((phase | 1 == ENDED | 1) & (mode != Autoreset::Disabled))
}

/// True if a row of a batch with this time limit and mode can be in this phase after so many steps.
pub(super) fn is_possible(phase: u8, steps: u32, limit: u32, mode: Autoreset) -> bool {
    match phase {
        UNSET => steps == 0,
        RUNNING => limit == 0 || steps < limit,
        _ if phase == end_in(next_level(phase)) => {
            mode != Autoreset::SameStep && steps > 0 && (limit == 0 || steps <= limit)
        }
        _ => false,
    }
}

/// Phase of a row whose episode ended in a step with this `level`.
#[inline(always)]
pub(super) fn end_in(level: Level) -> u8 {
    ENDED | level as u8
}

/// Level in which a row in this phase starts its next episode.
#[inline(always)]
pub(super) fn next_level(phase: u8) -> Level {
    if phase == end_in(Level::Same) { Level::Same } else { Level::New }
}

/// How a row starts an episode: with `Env::reset`, `Env::reset_with` or `Env::restart`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Start<'o> {
    Afresh,
    With(&'o [u8]),
    Again(Level),
}

#[inline(always)]
pub(super) fn reset_row<E: Env + ?Sized>(
    env: &E,
    start: Start<'_>,
    row: &mut Row<'_>,
    mut obs: ElementsMut<'_>,
) -> Result {
    match start {
        Start::Afresh => env.reset(row.index, row.state, row.rng, obs.reborrow())?,
        Start::With(options) => env.reset_with(row.index, row.state, row.rng, options, obs.reborrow())?,
        Start::Again(level) => env.restart(row.index, level, row.state, row.rng, obs.reborrow())?,
    }
    check_row(env, obs.as_ref())
}

/// Not inlined: episodes end rarely, and one copy serves all callers.
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
pub(super) fn check_row<E: Env + ?Sized>(env: &E, obs: Elements<'_>) -> Result {
    let finite = match obs {
        Elements::F32(x) => all_finite(x),
        Elements::U8(x) => env.spec().obs.fields.iter().all(|field| is_finite(field, x)),
        Elements::I32(x) => {
            let what = "environment: the observation of environment {given} has a choice that its space does not have.";
            let stranger = x.iter().zip(env.spec().obs.n).any(|(x, n)| *x as u32 >= *n);
            return Error::new(Kind::Value, what).fail_if(stranger);
        }
    };
    if finite {
        Ok(())
    } else {
        Err(Error::new(Kind::Value, "environment: the observation of environment {given} is not finite."))
    }
}

/// True if every number is finite. Short observations, the common case, are checked directly.
#[inline(always)]
fn all_finite(x: &[f32]) -> bool {
    if x.len() > 8 {
        return check_finite("environment obs", x).is_ok();
    }
    // Four at a time, without a branch per number.
    let (fours, rest) = x.as_chunks::<4>();
    fours.iter().all(|four| four.iter().fold(true, |all, x| all & x.is_finite())) && rest.iter().all(|x| x.is_finite())
}

/// True if all numbers of the field are finite; `obs` is one observation of bytes.
fn is_finite(field: &Field<'_>, obs: &[u8]) -> bool {
    let part = obs.get(field.offset as usize..).zip(field.size()).and_then(|(obs, size)| obs.get(..size));
    let (numbers, _) = part.unwrap_or(&[]).as_chunks();
    field.kind != Element::F32 || numbers.iter().all(|&x| f32::from_ne_bytes(x).is_finite())
}

/// Cuts the first `len` bytes off `rest`.
#[inline(always)]
pub(super) fn cut<'s>(rest: &mut &'s mut [u8], len: usize) -> Result<&'s mut [u8]> {
    let (head, tail) = core::mem::take(rest).split_at_mut_checked(len).ok_or(SHAPE)?;
    *rest = tail;
    Ok(head)
}
