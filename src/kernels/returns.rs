//! Discounted sums over time: backward from the end, and forward for reward scaling.

use super::finite::check_finite;
use super::grid::{After, Columns, Estimator, Now, Scan, cells, check_rate, grid};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};

/// Writes `out[t] = x[t] + discount * out[t + 1]`, with 0 after the last step. All arrays are `[T, N]`.
///
/// `discount` lies in [0, 1]. Errors, here and below: `Shape`; `Range`; `Value` for a number that is not finite. Outputs are
/// untouched on error, except for `Value` here and in [`bootstrapped_sum`]: they are meaningless then.
///
/// ```
/// use rlcore::kernels::returns::discounted_sum;
///
/// # fn main() -> rlcore::error::Result {
/// let mut sums = [0.0; 3];
/// discounted_sum(&[1.0, 1.0, 1.0], 0.5, 3, 1, &mut sums)?;
/// assert_eq!(sums, [1.75, 1.5, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn discounted_sum(x: &[f32], discount: f32, num_steps: usize, num_envs: usize, out: &mut [f32]) -> Result {
    backward(Some(x), &[], discount, num_steps, num_envs, out)
}

/// [`discounted_sum`] in place: the results replace the inputs.
pub fn discounted_sum_in_place(x: &mut [f32], discount: f32, num_steps: usize, num_envs: usize) -> Result {
    backward(None, &[], discount, num_steps, num_envs, x)
}

/// [`discounted_sum`] with `bootstrap_value`, `[N]`, after the last step: full returns of episodes that do not end. For
/// episodes that end, see [`n_step_returns`](super::targets::n_step_returns).
pub fn bootstrapped_sum(
    reward: &[f32],
    bootstrap_value: &[f32],
    discount: f32,
    num_steps: usize,
    num_envs: usize,
    out: &mut [f32],
) -> Result {
    check_len("returns: bootstrap_value [N] of length", bootstrap_value, num_envs)?;
    backward(Some(reward), bootstrap_value, discount, num_steps, num_envs, out)
}

/// Steps the running return of each environment: `running = discount * running + reward` is written to `out`, then `running`
/// becomes 0 where the episode ended. All arrays are `[N]`; an episode ends where either flag is nonzero.
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
    check_running(running)?;
    accumulate(reward, f64::from(discount), running);
    for (out, running) in out.iter_mut().zip(running.iter()) {
        *out = *running as f32;
    }
    clear_ended(terminated, truncated, running);
    Ok(())
}

/// Checks running returns from outside. Errors: `Value`.
pub(crate) fn check_running(running: &[f64]) -> Result {
    match running.iter().find(|x| !x.is_finite()) {
        Some(bad) => Err(Error::new(Kind::Value, "returns: a finite running return").given_f32(*bad as f32)),
        None => Ok(()),
    }
}

/// `running = running * discount + reward`.
#[inline]
pub(crate) fn accumulate(reward: &[f32], discount: f64, running: &mut [f64]) {
    for (running, reward) in running.iter_mut().zip(reward) {
        *running = *running * discount + f64::from(*reward);
    }
}

/// Resets running returns where an episode ended.
#[inline]
pub(crate) fn clear_ended(terminated: &[u8], truncated: &[u8], running: &mut [f64]) {
    for (running, (terminated, truncated)) in running.iter_mut().zip(terminated.iter().zip(truncated)) {
        *running = if terminated | truncated != 0 { 0.0 } else { *running };
    }
}

/// Sums `x`, or `out` in place without `x`; `last` holds the values after the last step, empty for zeros.
fn backward(x: Option<&[f32]>, last: &[f32], discount: f32, t: usize, n: usize, out: &mut [f32]) -> Result {
    let columns = Columns::all(t, n)?;
    check_len("returns: rewards [T, N] of length", x.unwrap_or(out), columns.len())?;
    check_len("returns: out [T, N] of length", out, columns.len())?;
    check_rate("returns: discount from 0 to 1", discount)?;
    let Some(x) = x else {
        check_finite("returns: a finite reward", out)?;
        let y = [cells(out)];
        let estimator = Sum { discount };
        Scan { estimator, columns, x: [], last_x: [], flags: [], y, last_y: [last] }.run();
        return Ok(());
    };
    for (out, x) in out.iter_mut().zip(x) {
        *out = *x;
    }
    let y = [cells(out)];
    let estimator = Sum { discount };
    let finite = cpu::dispatch(Scan { estimator, columns, x: [], last_x: [], flags: [], y, last_y: [last] });
    if finite {
        return Ok(());
    }
    // A number that is not finite was read, or finite numbers overflowed.
    check_finite("returns: a finite reward", x)?;
    check_finite("returns: a finite bootstrap_value", last)
}

/// `y[t] + discount * y[t + 1]`, in place.
#[derive(Clone, Copy)]
struct Sum {
    discount: f32,
}

impl Estimator<0, 0, 1> for Sum {
    type Real = f32;

    #[inline(always)]
    fn step<const W: usize>(&self, now: &Now<'_, 0, 0, 1, W>, after: &After<f32, 0, 1, W>) -> [[f32; W]; 1] {
        let mut out = now.y;
        for (out, after) in out.iter_mut().zip(&after.y) {
            for i in 0..W {
                out[i] += self.discount * after[i];
            }
        }
        out
    }
}
