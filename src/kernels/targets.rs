//! Multi-step targets from one reverse scan: TD(λ), UPGO and Retrace; and n-step returns.
//!
//! A target is the one-step target plus a correction from the step after it:
//!
//! ```text
//! target[t]     = reward[t] + discount * (next[t] + (0 if ended[t] or t = T-1, else correction[t+1]))
//! error[t]      = target[t] - baseline[t]
//! correction[t] = trace[t] * error[t]
//! next[t]       = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
//! ```
//!
//! Estimators differ only in the baseline and the trace. With trace lambda and the values as baseline, the error is the
//! advantage of [`gae`](super::gae::gae).

use core::cell::Cell;

use super::finite::check_finite;
use super::gae::{Accumulate, Rollout};
use super::grid::{After, Columns, Estimator, Now, Real, Scan, canonicalize_nan, cells, check_rate};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len, check_some};
use crate::num;

/// Writes lambda returns, `[T, N]`: all n-step returns of a step, weighted with `(1 - td_lambda) * td_lambda^(n - 1)`, the last
/// with the remaining weight. Lambda 0 looks one step ahead, lambda 1 to the end of the episode or the rollout.
///
/// ```text
/// value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
/// ```
///
/// where `value_target[t+1]` is `next[t]` if step t ended an episode or was the last, and `next` is as in
/// [`gae`](super::gae::gae). `discount` and `td_lambda` lie in [0, 1]. Errors, here and below: `Shape`; `Range`; `Value` for
/// a number that is read and not finite; `Null` if something is truncated without `final_value`. Outputs are untouched on
/// error.
pub fn lambda_returns(rollout: &Rollout<'_>, discount: f32, td_lambda: f32, value_target: &mut [f32]) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    lambda_returns_range(rollout, columns, discount, td_lambda, cells(value_target))
}

/// [`lambda_returns`] for some environments: here and below, the arrays cover all environments, and only these columns are read
/// or written. The results do not depend on the split.
pub fn lambda_returns_range(
    rollout: &Rollout<'_>,
    columns: Columns,
    discount: f32,
    td_lambda: f32,
    value_target: &[Cell<f32>],
) -> Result {
    let job = Job { rollout, columns, discount, td_lambda, baseline: rollout.value, log_rho: &[] };
    job.run(Trace::Lambda, value_target, None)
}

/// Writes TD(λ): the errors of the values against their lambda returns, and the [`lambda_returns`] themselves, both
/// `[T, N]`.
///
/// ```text
/// td_error = value_target - value
/// ```
pub fn td_lambda(
    rollout: &Rollout<'_>,
    discount: f32,
    td_lambda: f32,
    td_error: &mut [f32],
    value_target: &mut [f32],
) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    td_lambda_range(rollout, columns, discount, td_lambda, cells(td_error), cells(value_target))
}

/// [`td_lambda`] for some environments.
pub fn td_lambda_range(
    rollout: &Rollout<'_>,
    columns: Columns,
    discount: f32,
    td_lambda: f32,
    td_error: &[Cell<f32>],
    value_target: &[Cell<f32>],
) -> Result {
    let job = Job { rollout, columns, discount, td_lambda, baseline: rollout.value, log_rho: &[] };
    job.run(Trace::Lambda, value_target, Some(td_error))
}

/// Writes upgoing policy updates: returns that follow the episode for as long as its actions turn out no worse than
/// expected, and their advantages over the values, both `[T, N]`.
///
/// ```text
/// value_target[t] = reward[t] + discount * (value_target[t+1] if reward[t+1] + discount * next[t+1] >= value[t+1],
///                                           else value[t+1])
/// advantage       = value_target - value
/// ```
///
/// Where step t ended an episode or was the last, `value_target[t]` is `reward[t] + discount * next[t]`.
pub fn upgo(rollout: &Rollout<'_>, discount: f32, advantage: &mut [f32], value_target: &mut [f32]) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    upgo_range(rollout, columns, discount, cells(advantage), cells(value_target))
}

/// [`upgo`] for some environments.
pub fn upgo_range(
    rollout: &Rollout<'_>,
    columns: Columns,
    discount: f32,
    advantage: &[Cell<f32>],
    value_target: &[Cell<f32>],
) -> Result {
    let job = Job { rollout, columns, discount, td_lambda: 1.0, baseline: rollout.value, log_rho: &[] };
    job.run(Trace::Upgoing, value_target, Some(advantage))
}

/// Inputs of Retrace beside a rollout whose values are expectations under the target policy: the sum of its probabilities times
/// the action values.
#[derive(Clone, Copy, Debug)]
pub struct OffPolicy<'a> {
    /// `[T, N]` Q(obs\[t\], action\[t\]) of the action that was taken.
    pub q: &'a [f32],
    /// `[T, N]` log-probability of that action under the target policy minus that under the behavior policy; row 0 is never
    /// read.
    pub log_rho: &'a [f32],
}

/// Writes Retrace(λ): targets for the values of the actions that another policy took, and their errors, both `[T, N]`.
///
/// ```text
/// q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
/// c           = td_lambda * min(1, exp(log_rho))
/// td_error    = q_target - q
/// ```
///
/// Where step t ended an episode or was the last, `q_target[t]` is `reward[t] + discount * next[t]`.
pub fn retrace(
    rollout: &Rollout<'_>,
    actions: OffPolicy<'_>,
    discount: f32,
    td_lambda: f32,
    td_error: &mut [f32],
    q_target: &mut [f32],
) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    retrace_range(rollout, actions, columns, discount, td_lambda, cells(td_error), cells(q_target))
}

/// [`retrace`] for some environments.
pub fn retrace_range(
    rollout: &Rollout<'_>,
    actions: OffPolicy<'_>,
    columns: Columns,
    discount: f32,
    td_lambda: f32,
    td_error: &[Cell<f32>],
    q_target: &[Cell<f32>],
) -> Result {
    let OffPolicy { q, log_rho } = actions;
    check_len("retrace: q [T, N] of length", q, columns.len())?;
    check_len("retrace: log_rho [T, N] of length", log_rho, columns.len())?;
    columns.check_finite("retrace: a finite q", q)?;
    for t in 1..rollout.num_steps {
        check_finite("retrace: a finite log_rho", columns.row(log_rho, t).unwrap_or(&[]))?;
    }
    let job = Job { rollout, columns, discount, td_lambda, baseline: q, log_rho };
    job.run(Trace::Retrace, q_target, Some(td_error))
}

/// Writes n-step returns, `[T, N]`: discounted rewards of up to `n` steps, then the value of the observation after them.
///
/// ```text
/// value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
/// ```
///
/// with `k = n`, or less where the episode or the rollout ends earlier. With n = T or more it is the full return; the time of a
/// call grows with n up to T. Errors: also `Range` if n is 0.
pub fn n_step_returns(rollout: &Rollout<'_>, discount: f32, n: usize, value_target: &mut [f32]) -> Result {
    let columns = Columns::all(rollout.num_steps, rollout.num_envs)?;
    n_step_returns_range(rollout, columns, discount, n, cells(value_target))
}

/// [`n_step_returns`] for some environments.
pub fn n_step_returns_range(
    rollout: &Rollout<'_>,
    columns: Columns,
    discount: f32,
    n: usize,
    value_target: &[Cell<f32>],
) -> Result {
    Error::limit(Kind::Range, "n_step_returns: n of at least", 1, 0).fail_if(n == 0)?;
    check_rate("returns: discount from 0 to 1", discount)?;
    check_len("returns: value_target [T, N] of length", value_target, columns.len())?;
    rollout.check(columns)?;
    let final_value = rollout.final_value.unwrap_or(rollout.value);
    match rollout.accumulate {
        Accumulate::F32 => cpu::dispatch(NStep { rollout, columns, final_value, discount, n, value_target }),
        Accumulate::F64 => {
            NStep { rollout, columns, final_value, discount: f64::from(discount), n, value_target }.run();
        }
    }
    Ok(())
}

/// The share of a step's error that corrects the step before it.
#[derive(Clone, Copy)]
enum Trace {
    /// lambda
    Lambda,
    /// 1 where the step went no worse than expected, else 0.
    Upgoing,
    /// lambda times the smaller of 1 and rho.
    Retrace,
}

/// A call that uses the scan.
struct Job<'a> {
    rollout: &'a Rollout<'a>,
    columns: Columns,
    discount: f32,
    td_lambda: f32,
    baseline: &'a [f32],
    log_rho: &'a [f32],
}

impl<'a> Job<'a> {
    fn run(self, trace: Trace, target: &[Cell<f32>], error: Option<&[Cell<f32>]>) -> Result {
        let len = self.columns.len();
        check_len("targets: targets [T, N] of length", target, len)?;
        check_some("targets: errors [T, N] of length", &error, len)?;
        check_rate("targets: discount from 0 to 1", self.discount)?;
        check_rate("targets: td_lambda from 0 to 1", self.td_lambda)?;
        self.rollout.check(self.columns)?;
        let y = [target, error.unwrap_or(&[]), &[]];
        let (discount, td_lambda) = (self.discount, self.td_lambda);
        let finite = match self.rollout.accumulate {
            Accumulate::F32 => cpu::dispatch(self.scan(Multistep { trace, discount, td_lambda }, y)),
            Accumulate::F64 => {
                let (discount, td_lambda) = (f64::from(discount), f64::from(td_lambda));
                self.scan(Multistep { trace, discount, td_lambda }, y).run()
            }
        };
        if !finite {
            canonicalize_nan(self.columns, &y);
        }
        Ok(())
    }

    fn scan<R: Real>(&self, estimator: Multistep<R>, y: [&'a [Cell<f32>]; 3]) -> Scan<'a, Multistep<R>, 5, 2, 3> {
        let r = self.rollout;
        // Final values are read only where truncated, and log_rho only by Retrace: any array of the shape will do.
        let log_rho = if self.log_rho.is_empty() { r.value } else { self.log_rho };
        Scan {
            estimator,
            columns: self.columns,
            x: [r.reward, r.value, r.final_value.unwrap_or(r.value), self.baseline, log_rho],
            last_x: [&[], r.bootstrap_value, &[], &[], &[]],
            flags: [r.terminated, r.truncated],
            y,
            last_y: [&[], &[], &[]],
        }
    }
}

/// The recursion: targets, errors and corrections.
#[derive(Clone, Copy)]
struct Multistep<R> {
    trace: Trace,
    discount: R,
    td_lambda: R,
}

impl<R: Real> Estimator<5, 2, 3> for Multistep<R> {
    type Real = R;
    const STORED: bool = false;

    #[inline(always)]
    fn step<const W: usize>(&self, now: &Now<'_, 5, 2, 3, W>, after: &After<R, 5, 3, W>) -> [[R; W]; 3] {
        let ([reward, value, final_value, baseline, log_rho], [terminated, truncated]) = (now.x, now.flags);
        let zero = R::from(0.0);
        let mut next = after.x[1];
        if truncated.iter().fold(0, |any, x| any | x) != 0 {
            for i in 0..W {
                next[i] = if truncated[i] != 0 { final_value[i] } else { next[i] };
            }
        }
        let (mut target, mut error, mut correction, mut expected) = ([zero; W], [zero; W], [zero; W], [zero; W]);
        for i in 0..W {
            let next = if terminated[i] != 0 { zero } else { R::from(next[i]) };
            let correction = if terminated[i] | truncated[i] != 0 { zero } else { after.y[2][i] };
            expected[i] = R::from(reward[i]) + self.discount * next;
            target[i] = R::from(reward[i]) + self.discount * (next + correction);
            error[i] = target[i] - R::from(baseline[i]);
        }
        match self.trace {
            Trace::Lambda => {
                for i in 0..W {
                    correction[i] = self.td_lambda * error[i];
                }
            }
            Trace::Upgoing => {
                for i in 0..W {
                    correction[i] = if expected[i] >= R::from(value[i]) { error[i] } else { zero };
                }
            }
            Trace::Retrace => {
                for i in 0..W {
                    let trace = self.td_lambda * R::from(num::min(log_rho[i], 0.0)).exp();
                    correction[i] = trace * error[i];
                }
            }
        }
        [target, error, correction]
    }
}

/// n-step returns.
struct NStep<'a, R> {
    rollout: &'a Rollout<'a>,
    columns: Columns,
    final_value: &'a [f32],
    discount: R,
    n: usize,
    value_target: &'a [Cell<f32>],
}

impl<R: Real> Kernel for NStep<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut at = 0;
        while self.columns::<16, 4>(at).is_some() {
            at += 64;
        }
        while self.columns::<8, 1>(at).is_some() {
            at += 8;
        }
        while self.columns::<1, 1>(at).is_some() {
            at += 1;
        }
    }
}

impl<R: Real> NStep<'_, R> {
    /// All steps of G groups of W environments, one step of all groups after another. None if there are fewer environments.
    #[inline(always)]
    fn columns<const W: usize, const G: usize>(&self, at: usize) -> Option<()> {
        let (r, num_steps) = (self.rollout, self.rollout.num_steps);
        self.columns.part(r.bootstrap_value)?.get(at..)?.get(..W * G)?;
        // The return to the end, used while the end is within n steps.
        let mut whole = [[R::from(0.0); W]; G];
        for (whole, at) in whole.iter_mut().zip((at..).step_by(W)) {
            *whole = lanes::<f32, W>(self.columns.part(r.bootstrap_value)?, at)?.map(R::from);
        }
        for first in (0..num_steps).rev() {
            let reach = first.saturating_add(self.n);
            for (whole, at) in whole.iter_mut().zip((at..).step_by(W)) {
                let mut sum = *whole;
                if reach < num_steps {
                    sum = lanes::<f32, W>(self.columns.row(r.value, reach)?, at)?.map(R::from);
                    for t in (first..reach).rev() {
                        sum = self.extend(sum, t, at)?;
                    }
                } else {
                    sum = self.extend(sum, first, at)?;
                    *whole = sum;
                }
                let to = lanes::<Cell<f32>, W>(self.columns.row(self.value_target, first)?, at)?;
                for i in 0..W {
                    to[i].set(sum[i].narrow());
                }
            }
        }
        Some(())
    }

    /// Extends the sum backwards by step `t`.
    #[inline(always)]
    fn extend<const W: usize>(&self, mut sum: [R; W], t: usize, at: usize) -> Option<[R; W]> {
        let r = self.rollout;
        let reward = lanes::<f32, W>(self.columns.row(r.reward, t)?, at)?;
        let terminated = lanes::<u8, W>(self.columns.row(r.terminated, t)?, at)?;
        let truncated = lanes::<u8, W>(self.columns.row(r.truncated, t)?, at)?;
        if truncated.iter().fold(0, |any, x| any | x) != 0 {
            let final_value = lanes::<f32, W>(self.columns.row(self.final_value, t)?, at)?;
            for i in 0..W {
                sum[i] = if truncated[i] != 0 { R::from(final_value[i]) } else { sum[i] };
            }
        }
        for i in 0..W {
            let next = if terminated[i] != 0 { R::from(0.0) } else { sum[i] };
            sum[i] = R::from(reward[i]) + self.discount * next;
        }
        Some(sum)
    }
}

/// Elements `at..at + W`.
#[inline(always)]
fn lanes<T, const W: usize>(row: &[T], at: usize) -> Option<&[T; W]> {
    row.get(at..)?.first_chunk()
}
