//! Generalized advantage estimation over `[T, N]` rollouts, with terminated and truncated steps kept apart.

use core::cell::Cell;

use super::finite::{all_finite, check_finite};
use super::grid::{After, Columns, Estimator, Now, Real, Scan, canonicalize_nan, cells, check_rate};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len, overflowing};

/// Number type of the sums in the recursion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accumulate {
    /// f32: at the speed of memory.
    #[default]
    F32,
    /// f64, rounded once when written: for long rollouts, and for agreement with other implementations.
    F64,
}

impl Accumulate {
    /// The variant with this number, 0 or 1.
    pub fn from_number(number: u32) -> Option<Self> {
        [Accumulate::F32, Accumulate::F64].get(number as usize).copied()
    }
}

/// T steps of N environments, time-major. Step t led from `obs[t]` to `obs[t + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct Rollout<'a> {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub bootstrap_value: &'a [f32],
    /// `[T, N]` nonzero where step t reached a terminal state.
    pub terminated: &'a [u8],
    /// `[T, N]` nonzero where step t was the last of an episode that was cut.
    pub truncated: &'a [u8],
    /// `[T, N]` V(final_obs), read only where truncated and not terminated; `None` only if nothing is truncated.
    pub final_value: Option<&'a [f32]>,
    /// Number type of the sums in the recursion.
    pub accumulate: Accumulate,
}

/// Writes advantages and value targets, both `[T, N]`:
///
/// ```text
/// next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
/// delta[t]     = reward[t] + discount * next[t] - value[t]
/// advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
/// value_target = advantage + value
/// ```
///
/// `discount` and `gae_lambda` lie in [0, 1]. Errors: `Shape`; `Range`; `Null` if something is truncated without `final_value`;
/// `Value` for a number that is read and not finite. `Value` is found during the computation: the outputs are meaningless then.
/// On any other error they are untouched.
pub fn gae(
    rollout: &Rollout<'_>,
    discount: f32,
    gae_lambda: f32,
    advantage: &mut [f32],
    value_target: &mut [f32],
) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    gae_range(rollout, columns, discount, gae_lambda, cells(advantage), cells(value_target))
}

/// [`gae`] for some environments: the arrays cover all environments, and only these columns are read or written. The results do
/// not depend on the split. Errors: as there, `Shape` if the columns do not fit the arrays.
pub fn gae_range(
    rollout: &Rollout<'_>,
    columns: Columns,
    discount: f32,
    gae_lambda: f32,
    advantage: &[Cell<f32>],
    value_target: &[Cell<f32>],
) -> Result {
    check_len("gae: advantage [T, N] of length", advantage, columns.len())?;
    check_len("gae: value_target [T, N] of length", value_target, columns.len())?;
    check_rate("gae: discount from 0 to 1", discount)?;
    check_rate("gae: gae_lambda from 0 to 1", gae_lambda)?;
    rollout.check_arrays(columns)?;
    // Checked even where the last step terminated, although it is not read there.
    check_finite("rollout: a finite bootstrap_value", columns.part(rollout.bootstrap_value).unwrap_or(&[]))?;
    let y = [advantage, value_target];
    let finite = match rollout.accumulate {
        Accumulate::F32 => cpu::dispatch(scan(rollout, columns, Gae::<f32>::new(discount, gae_lambda), y)),
        Accumulate::F64 => scan(rollout, columns, Gae::<f64>::new(discount, gae_lambda), y).run(),
    };
    if !finite {
        rollout.check_values(columns)?;
        canonicalize_nan(columns, &y);
    }
    Ok(())
}

fn scan<'a, R: Real>(
    r: &Rollout<'a>,
    columns: Columns,
    estimator: Gae<R>,
    y: [&'a [Cell<f32>]; 2],
) -> Scan<'a, Gae<R>, 3, 2, 2> {
    Scan {
        estimator,
        columns,
        // Final values are read only where truncated, so any array of the shape will do if nothing is.
        x: [r.reward, r.value, r.final_value.unwrap_or(r.value)],
        last_x: [&[], r.bootstrap_value, &[]],
        flags: [r.terminated, r.truncated],
        y,
        last_y: [&[], &[]],
    }
}

/// A rollout in the older form with one `done` flag that belongs to the observation, not to the step: `done[t]` says
/// that `obs[t]` starts a new episode, so `done[0]` is never read.
#[derive(Clone, Copy, Debug)]
pub struct ShiftedRollout<'a> {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[T, N]` 0 or 1; values between them mask softly.
    pub done: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub next_value: &'a [f32],
    /// `[N]` as `done`: whether that observation starts a new episode.
    pub next_done: &'a [f32],
    /// Number type of the sums in the recursion.
    pub accumulate: Accumulate,
}

/// Writes advantages and value targets, both `[T, N]`, from the shifted form:
///
/// ```text
/// live[t]      = 1 - done[t+1]                                  (next_done at T-1)
/// delta[t]     = reward[t] + discount * value[t+1] * live[t] - value[t]   (next_value at T-1)
/// advantage[t] = delta[t] + discount * gae_lambda * live[t] * (0 if t = T-1, else advantage[t+1])
/// value_target = advantage + value
/// ```
///
/// The shifted form cannot tell a cut episode from a finished one; use [`gae`] for that. Errors as there.
pub fn gae_shifted(
    rollout: &ShiftedRollout<'_>,
    discount: f32,
    gae_lambda: f32,
    advantage: &mut [f32],
    value_target: &mut [f32],
) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    let len = columns.len();
    check_len("gae: reward [T, N] of length", rollout.reward, len)?;
    check_len("gae: value [T, N] of length", rollout.value, len)?;
    check_len("gae: done [T, N] of length", rollout.done, len)?;
    check_len("gae: next_value [N] of length", rollout.next_value, rollout.num_envs)?;
    check_len("gae: next_done [N] of length", rollout.next_done, rollout.num_envs)?;
    check_len("gae: advantage [T, N] of length", advantage, len)?;
    check_len("gae: value_target [T, N] of length", value_target, len)?;
    check_rate("gae: discount from 0 to 1", discount)?;
    check_rate("gae: gae_lambda from 0 to 1", gae_lambda)?;
    let y = [cells(advantage), cells(value_target)];
    let finite = match rollout.accumulate {
        Accumulate::F32 => scan_shifted(rollout, columns, Gae::<f32>::new(discount, gae_lambda), y),
        Accumulate::F64 => scan_shifted(rollout, columns, Gae::<f64>::new(discount, gae_lambda), y),
    };
    if !finite {
        check_finite("gae: a finite reward", rollout.reward)?;
        check_finite("gae: a finite value", rollout.value)?;
        check_finite("gae: a finite done", rollout.done.get(rollout.num_envs..).unwrap_or(&[]))?;
        check_finite("gae: a finite next_value", rollout.next_value)?;
        check_finite("gae: a finite next_done", rollout.next_done)?;
        canonicalize_nan(columns, &y);
    }
    Ok(())
}

fn scan_shifted<R: Real>(r: &ShiftedRollout<'_>, columns: Columns, gae: Gae<R>, y: [&[Cell<f32>]; 2]) -> bool {
    let x = [r.reward, r.value, r.done];
    let last_x = [&[], r.next_value, r.next_done];
    Scan { estimator: Shifted(gae), columns, x, last_x, flags: [], y, last_y: [&[], &[]] }.run()
}

impl Rollout<'_> {
    /// Checks all numbers and arrays of these columns that estimators read. Errors: `Shape`; `Value`; `Null` if something is
    /// truncated without `final_value`.
    pub(crate) fn check(&self, columns: Columns) -> Result {
        self.check_arrays(columns)?;
        self.check_values(columns)
    }

    /// Checks the arrays, but no number in them. Errors: `Shape`; `Null` if something is truncated without `final_value`.
    fn check_arrays(&self, columns: Columns) -> Result {
        columns.check("rollout: columns of [T, N] arrays of length", self.num_steps, self.num_envs)?;
        let len = columns.len();
        check_len("rollout: reward [T, N] of length", self.reward, len)?;
        check_len("rollout: value [T, N] of length", self.value, len)?;
        check_len("rollout: bootstrap_value [N] of length", self.bootstrap_value, self.num_envs)?;
        check_len("rollout: terminated [T, N] of length", self.terminated, len)?;
        check_len("rollout: truncated [T, N] of length", self.truncated, len)?;
        let Some(final_value) = self.final_value else {
            let part = columns.joined();
            let mut rows = (0..part.num_steps()).filter_map(|t| part.row(self.truncated, t));
            return match rows.any(|row| row.iter().fold(0, |any, x| any | x) != 0) {
                true => Err(Error::new(Kind::Null, "rollout: final_value is NULL, but a step is truncated.")),
                false => Ok(()),
            };
        };
        check_len("rollout: final_value [T, N] of length", final_value, len)
    }

    /// Checks the numbers in the arrays. Errors: `Value`.
    fn check_values(&self, columns: Columns) -> Result {
        if cpu::dispatch(Check { rollout: self, columns }) { Ok(()) } else { Err(culprit(self, columns)) }
    }
}

/// True if every number that estimators read is finite.
struct Check<'a> {
    rollout: &'a Rollout<'a>,
    columns: Columns,
}

impl Kernel for Check<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (r, part) = (self.rollout, self.columns.turns());
        let (mut flags, finals) = (0, r.final_value.unwrap_or(&[]));
        for t in 0..part.num_steps() {
            let (Some(reward), Some(value)) = (part.row(r.reward, t), part.row(r.value, t)) else { return false };
            if !all_finite(reward) || !all_finite(value) {
                return false;
            }
            let (Some(terminated), Some(truncated)) = (part.row(r.terminated, t), part.row(r.truncated, t)) else {
                return false;
            };
            let (blocks, rest) = truncated.as_chunks::<BLOCK>();
            let (others, other_rest) = terminated.as_chunks::<BLOCK>();
            let finals = part.row(finals, t).unwrap_or(&[]).as_chunks::<BLOCK>();
            // Blocks of final values that are not read are not touched.
            for (i, (truncated, terminated)) in blocks.iter().zip(others).enumerate() {
                if truncated.as_chunks().0.iter().fold(0, |any, flags| any | u64::from_ne_bytes(*flags)) != 0 {
                    flags |= unfit(finals.0.get(i).map_or(&[], |finals| finals), terminated, truncated);
                }
            }
            flags |= unfit(finals.1, other_rest, rest);
        }
        flags >> 31 == 0 && self.columns.part(r.bootstrap_value).is_some_and(all_finite)
    }
}

/// Flags that are checked together.
const BLOCK: usize = 64;

/// Has the top bit if a final value is read that is not finite.
#[inline(always)]
fn unfit(finals: &[f32], terminated: &[u8], truncated: &[u8]) -> u32 {
    finals.iter().zip(terminated.iter().zip(truncated)).fold(0, |flags, (x, (terminated, truncated))| {
        flags | if *truncated != 0 && *terminated == 0 { overflowing(*x) } else { 0 }
    })
}

const FINAL: &str = "rollout: a finite final_value where truncated";

/// Names the cause of a failed [`Check`].
#[cold]
fn culprit(r: &Rollout<'_>, columns: Columns) -> Error {
    for (what, values) in [("rollout: a finite reward", r.reward), ("rollout: a finite value", r.value)] {
        if let Err(error) = columns.check_finite(what, values) {
            return error;
        }
    }
    let last = columns.part(r.bootstrap_value).unwrap_or(&[]);
    if let Err(error) = check_finite("rollout: a finite bootstrap_value", last) {
        return error;
    }
    let final_value = r.final_value.unwrap_or(&[]);
    for t in 0..columns.num_steps() {
        let row = |flags| columns.row(flags, t).unwrap_or(&[]).iter();
        let values = columns.row(final_value, t).unwrap_or(&[]);
        let mut ends = values.iter().zip(row(r.terminated).zip(row(r.truncated)));
        let bad = ends.find(|(x, (terminated, truncated))| **truncated != 0 && **terminated == 0 && !x.is_finite());
        if let Some((x, _)) = bad {
            return Error::new(Kind::Value, FINAL).given_f32(*x);
        }
    }
    Error::new(Kind::Value, FINAL)
}

/// One step of [`gae`] at a time, backwards: for transitions that are not stored as `[T, N]`.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    single: Gae<f32>,
    double: Gae<f64>,
    accumulate: Accumulate,
}

impl Chain {
    pub(crate) fn new(accumulate: Accumulate, discount: f32, gae_lambda: f32) -> Chain {
        Chain { single: Gae::new(discount, gae_lambda), double: Gae::new(discount, gae_lambda), accumulate }
    }

    /// Advantage and value target of a transition. `next` is the value of the observation after it; `carry` is the advantage of
    /// the transition after it, 0 if there is none, and is replaced by this one's.
    #[inline]
    pub(crate) fn step(
        &self,
        reward: f32,
        value: f32,
        final_value: f32,
        (terminated, truncated): (bool, bool),
        next: f32,
        carry: &mut f64,
    ) -> (f32, f32) {
        let (x, flags) = ([&[reward], &[value], &[final_value]], [&[terminated.into()], &[truncated.into()]]);
        let now = Now { x, flags, y: [[0.0]; 2] };
        let x = [[0.0], [next], [0.0]];
        let (advantage, target) = match self.accumulate {
            Accumulate::F32 => {
                let [[a], [t]] = self.single.step(&now, &After { x, y: [[*carry as f32], [0.0]] });
                (f64::from(a), t)
            }
            Accumulate::F64 => {
                let [[a], [t]] = self.double.step(&now, &After { x, y: [[*carry], [0.0]] });
                (a, t as f32)
            }
        };
        *carry = advantage;
        (advantage as f32, target)
    }
}

/// The recursion; its rates are the discount, and discount times lambda.
#[derive(Clone, Copy)]
struct Gae<R> {
    discount: R,
    decay: R,
}

impl<R: Real> Gae<R> {
    fn new(discount: f32, gae_lambda: f32) -> Self {
        let discount = R::from(discount);
        Gae { discount, decay: discount * R::from(gae_lambda) }
    }
}

impl<R: Real> Estimator<3, 2, 2> for Gae<R> {
    type Real = R;
    const READ: usize = 2;

    #[inline(always)]
    fn step<const W: usize>(&self, now: &Now<'_, 3, 2, 2, W>, after: &After<R, 3, 2, W>) -> [[R; W]; 2] {
        let ([reward, value, final_value], [terminated, truncated]) = (now.x, now.flags);
        let (zero, mut next) = (R::from(0.0), after.x[1]);
        if truncated.iter().fold(0, |any, x| any | x) != 0 {
            let final_value = *final_value; // read as a whole, or the lanes become branches
            for i in 0..W {
                next[i] = if truncated[i] != 0 { final_value[i] } else { next[i] };
            }
        }
        let (mut advantage, mut value_target) = ([zero; W], [zero; W]);
        for i in 0..W {
            let next = if terminated[i] != 0 { zero } else { R::from(next[i]) };
            let carry = self.decay * after.y[0][i];
            let carry = if terminated[i] | truncated[i] != 0 { zero } else { carry };
            advantage[i] = R::from(reward[i]) + self.discount * next - R::from(value[i]) + carry;
        }
        for i in 0..W {
            value_target[i] = advantage[i] + R::from(value[i]);
        }
        [advantage, value_target]
    }
}

/// The recursion of the shifted form.
#[derive(Clone, Copy)]
struct Shifted<R>(Gae<R>);

impl<R: Real> Estimator<3, 0, 2> for Shifted<R> {
    type Real = R;

    #[inline(always)]
    fn step<const W: usize>(&self, now: &Now<'_, 3, 0, 2, W>, after: &After<R, 3, 2, W>) -> [[R; W]; 2] {
        let ([reward, value, _], [_, next, done]) = (now.x, &after.x);
        let Gae { discount, decay } = self.0;
        let (mut advantage, mut value_target) = ([R::from(0.0); W], [R::from(0.0); W]);
        for i in 0..W {
            let live = R::from(1.0) - R::from(done[i]);
            let delta = R::from(reward[i]) + discount * (R::from(next[i]) * live) - R::from(value[i]);
            advantage[i] = delta + decay * (live * after.y[0][i]);
            value_target[i] = advantage[i] + R::from(value[i]);
        }
        [advantage, value_target]
    }
}
