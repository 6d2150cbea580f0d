//! Discounted sums over time: backward from the end, and forward as reward scaling needs them.

use super::back::back;
use super::finite::check_finite;
use super::gae::{check_rate, grid};
use crate::error::{Result, check_len};

/// Writes `out[t] = x[t] + discount * out[t + 1]`, with 0 after the last step. All arrays are `[T, N]`.
///
/// `discount` lies in [0, 1]. Errors, here and below: `Shape`; `Range`; `Value` for a number that is not finite. Outputs
/// are untouched on error.
pub fn discounted_sum(x: &[f32], discount: f32, num_steps: usize, num_envs: usize, out: &mut [f32]) -> Result {
    backward(x, None, discount, num_steps, num_envs, out)
}

/// Writes n-step returns with a bootstrap: [`discounted_sum`] with `bootstrap_value`, `[N]`, after the last step.
pub fn n_step(
    reward: &[f32],
    bootstrap_value: &[f32],
    discount: f32,
    num_steps: usize,
    num_envs: usize,
    out: &mut [f32],
) -> Result {
    check_len("returns: bootstrap_value [N] of length", bootstrap_value, num_envs)?;
    check_finite("returns: a finite bootstrap_value", bootstrap_value)?;
    backward(reward, Some(bootstrap_value), discount, num_steps, num_envs, out)
}

/// Steps the running return of each environment: `running = discount * running + reward` is written to `out`, then
/// `running` becomes 0 where the episode ended. All arrays are `[N]`; an ended episode has a nonzero flag of either kind.
pub fn forward(
    reward: &[f32],
    terminated: &[u8],
    truncated: &[u8],
    discount: f32,
    running: &mut [f64],
    out: &mut [f32],
) -> Result {
    let len = running.len();
    grid(1, len)?;
    check_len("returns: reward [N] of length", reward, len)?;
    check_len("returns: terminated [N] of length", terminated, len)?;
    check_len("returns: truncated [N] of length", truncated, len)?;
    check_len("returns: out [N] of length", out, len)?;
    check_rate("returns: discount from 0 to 1", discount)?;
    check_finite("returns: a finite reward", reward)?;
    accumulate(reward, f64::from(discount), running);
    for (out, running) in out.iter_mut().zip(running.iter()) {
        *out = *running as f32;
    }
    clear_ended(terminated, truncated, running);
    Ok(())
}

/// `running = running * discount + reward`.
#[inline]
pub(crate) fn accumulate(reward: &[f32], discount: f64, running: &mut [f64]) {
    for (running, reward) in running.iter_mut().zip(reward) {
        *running = *running * discount + f64::from(*reward);
    }
}

/// Running returns start again where an episode ended.
#[inline]
pub(crate) fn clear_ended(terminated: &[u8], truncated: &[u8], running: &mut [f64]) {
    for (running, (terminated, truncated)) in running.iter_mut().zip(terminated.iter().zip(truncated)) {
        *running = if terminated | truncated != 0 { 0.0 } else { *running };
    }
}

fn backward(x: &[f32], after: Option<&[f32]>, discount: f32, t: usize, n: usize, out: &mut [f32]) -> Result {
    let len = grid(t, n)?;
    check_len("returns: rewards [T, N] of length", x, len)?;
    check_len("returns: out [T, N] of length", out, len)?;
    check_rate("returns: discount from 0 to 1", discount)?;
    check_finite("returns: a finite reward", x)?;
    sweep(x, after, discount, n, out);
    Ok(())
}

fn sweep(x: &[f32], after: Option<&[f32]>, discount: f32, n: usize, out: &mut [f32]) {
    if n == 0 {
        return;
    }
    let (mut carry, mut rest) = (after, out);
    for x in back(x, n) {
        let Some((before, row)) = rest.split_at_mut_checked(rest.len().saturating_sub(n)) else { return };
        match carry {
            Some(carry) => {
                for ((out, x), carry) in row.iter_mut().zip(x).zip(carry) {
                    *out = x + discount * carry;
                }
            }
            None => {
                for (out, x) in row.iter_mut().zip(x) {
                    *out = *x;
                }
            }
        }
        (carry, rest) = (Some(&*row), before);
    }
}
