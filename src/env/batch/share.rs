//! Columns of a group: the actions submitted for its rows and the results of their last step.

use super::setup::{SHAPE, Setup};
use crate::block;
use crate::env::row::UNSET;
use crate::env::{Env, Level, Rows, StepOut};
use crate::error::{Error, Kind, Result};
use crate::space::{Elements, ElementsMut};

/// Columns of some rows: the actions submitted for them and the results of their last step.
#[derive(Debug)]
pub struct Share<'a> {
    /// `[rows, action_len]` submitted actions.
    pub action: ElementsMut<'a>,
    /// Results of the last step. Every array is present; masks only for discrete actions.
    pub out: StepOut<'a>,
    /// `[rows]` outcome of the last step: 0 done, 1 a callback failed, 2 a reward or observation was not finite, 3 its
    /// worker was abandoned.
    pub outcome: &'a mut [u8],
}

pub(super) const DELIVERED: u8 = 0;
pub(super) const FAILED: u8 = 1;
pub(super) const NOT_FINITE: u8 = 2;
pub(super) const GIVEN_UP: u8 = 3;

impl<'a> Share<'a> {
    /// Reborrows the columns.
    pub fn reborrow(&mut self) -> Share<'_> {
        Share { action: self.action.reborrow(), out: self.out.reborrow(), outcome: &mut *self.outcome }
    }

    /// Splits into the first `k` rows and the others; `None` if there are fewer than `k` rows.
    pub fn split_at(self, k: usize, setup: &Setup) -> Option<(Share<'a>, Share<'a>)> {
        let (action, action_rest) = self.action.split_at(k.checked_mul(setup.vecenv.action_len as usize)?)?;
        let (out, out_rest) = self.out.split_at(k, setup.obs_len())?;
        let (outcome, outcome_rest) = self.outcome.split_at_mut_checked(k)?;
        Some((Share { action, out, outcome }, Share { action: action_rest, out: out_rest, outcome: outcome_rest }))
    }
}

/// Access to the columns of a group. Called only by the current owner of the group, so that a lock is never waited for.
pub trait Shares {
    /// Calls `work` with the columns of a group; `None` if the group does not exist.
    fn share<T>(&self, group: usize, work: impl FnOnce(Share<'_>) -> T) -> Option<T>;
}

/// Access to the environments of a group. Called only by the current owner of the group, so that a lock is never waited
/// for.
pub trait Lanes {
    /// Calls `work` with the rows of a group; `None` if the group does not exist.
    fn lane<T>(&self, group: usize, work: impl FnOnce(Rows<'_>) -> T) -> Option<T>;
}

/// Steps the rows of a group. The failure of a row is recorded in `outcome`, and the rows after it are stepped
/// nevertheless.
pub(super) fn step<E: Env + ?Sized>(share: Share<'_>, mut rows: Rows<'_>, env: &E, level: Level) {
    let Share { action, mut out, outcome } = share;
    let n = outcome.len();
    outcome.fill(DELIVERED);
    // Marks rows that the step does not complete: it writes finite rewards in completed rows and leaves the others
    // unchanged.
    out.reward.fill(f32::NAN);
    let mut at = 0;
    while at < n {
        let error = match step_from(&mut rows, &mut out, action.as_ref(), env, level, at) {
            Ok(()) => break,
            Err(error) => error,
        };
        let undone =
            |k: &usize| out.reward.get(*k).is_some_and(|reward| reward.is_nan()) || rows.phase.get(*k) == Some(&UNSET);
        // If the failed row cannot be determined, none of the remaining rows can be trusted.
        let (k, end) = (at..n).find(undone).map_or((at, n), |k| (k, k.saturating_add(1)));
        let marks = out.reward.iter_mut().zip(rows.phase.iter_mut()).zip(rows.steps.iter_mut()).zip(outcome.iter_mut());
        for (((reward, phase), steps), outcome) in marks.take(end).skip(k) {
            (*reward, *phase, *steps) = (0.0, UNSET, 0);
            *outcome = if error.kind == Kind::Value { NOT_FINITE } else { FAILED };
        }
        at = end;
    }
}

/// Steps the rows from `begin` to the end.
fn step_from<E: Env + ?Sized>(
    rows: &mut Rows<'_>,
    out: &mut StepOut<'_>,
    action: Elements<'_>,
    env: &E,
    level: Level,
    begin: usize,
) -> Result {
    let (obs_len, action_len) = (rows.setup.obs_len as usize, rows.setup.action_len as usize);
    let end = rows.len();
    let action = action.get(begin.saturating_mul(action_len), end.saturating_mul(action_len)).ok_or(SHAPE)?;
    let out = out.reborrow().range(begin, end, obs_len).ok_or(SHAPE)?;
    rows.reborrow().range(begin, end)?.step_env(env, level, action, out)
}

/// Copies the results of a group's rows; the inner result is the error of the first failed row.
pub(super) fn hand_over(share: Share<'_>, mut to: StepOut<'_>, width: usize, first: usize) -> Result<Result> {
    let mut from = share.out;
    let n = share.outcome.len();
    let Some(k) = share.outcome.iter().position(|&outcome| outcome != DELIVERED) else {
        copy_rows(&mut from, &mut to, 0, n, width)?;
        return Ok(Ok(()));
    };
    for (i, _) in share.outcome.iter().enumerate().filter(|&(_, &outcome)| outcome == DELIVERED) {
        copy_rows(&mut from, &mut to, i, i.saturating_add(1), width)?;
    }
    let error = match share.outcome.get(k) {
        Some(&NOT_FINITE) => {
            Error::new(Kind::Value, "batch: the reward or observation of environment {given} is not finite.")
        }
        Some(&GIVEN_UP) => Error::new(Kind::Callback, "batch: the worker of environment {given} was abandoned."),
        _ => Error::new(Kind::Callback, "batch: a callback failed in environment {given}."),
    };
    Ok(Err(error.given(first.saturating_add(k))))
}

fn copy_rows(from: &mut StepOut<'_>, to: &mut StepOut<'_>, begin: usize, end: usize, width: usize) -> Result {
    let from = from.reborrow().range(begin, end, width).ok_or(SHAPE)?;
    let mut to = to.reborrow().range(begin, end, width).ok_or(SHAPE)?;
    to.obs.copy_from(from.obs.as_ref())?;
    block::copy(to.reward, from.reward);
    block::copy(to.terminated, from.terminated);
    block::copy(to.truncated, from.truncated);
    if let (Some(to), Some(from)) = (&mut to.valid, &from.valid) {
        block::copy(to, from);
    }
    if let (Some(to), Some(from)) = (&mut to.action_mask, &from.action_mask) {
        block::copy(to, from);
    }
    let ended = from.terminated.iter().zip(&*from.truncated).map(|(a, b)| (a | b) != 0);
    let masks = |all: &[u8]| all.len().checked_div(from.reward.len()).unwrap_or(0);
    for (i, _) in ended.enumerate().filter(|&(_, ended)| ended) {
        if let (Some(to), Some(from)) = (&mut to.final_obs, &from.final_obs) {
            let (begin, end) = (i.saturating_mul(width), i.saturating_add(1).saturating_mul(width));
            let row = from.as_ref().get(begin, end).ok_or(SHAPE)?;
            to.get(begin, end).ok_or(SHAPE)?.copy_from(row)?;
        }
        if let (Some(to), Some(from)) = (&mut to.final_action_mask, &from.final_action_mask) {
            let flags = masks(from);
            block::copy(block::rows_mut(to, i, 1, flags)?, block::rows(from, i, 1, flags)?);
        }
    }
    Ok(())
}
