//! Diagonal Gaussian policies with a standard deviation that does not depend on the state, plain or squashed by tanh.
//!
//! Sixteen rows are processed at once; sums along a row run from the first action element to the last, so a row gives the same
//! bits alone as in a batch.

use super::finite::check_finite;
use super::tile::{COLUMNS, ROWS, Tile, load_lanes, parts, store_lanes};
use crate::cpu::{self, FEW_WAYS, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// Largest magnitude of the logarithm of a standard deviation, so that squared distances stay finite.
pub const LOG_STD_LIMIT: f32 = 40.0;

const HALF_LN_2_PI: f32 = 0.918_938_5;

/// A batch of Gaussians that share their standard deviations.
///
/// ```
/// use rlcore::kernels::gaussian::{self, Gaussian};
///
/// # fn main() -> rlcore::error::Result {
/// let batch = Gaussian { num_rows: 2, mean: &[0.0, 1.0], log_std: &[0.0] };
/// let (mut action, mut log_prob) = ([0.0; 2], [0.0; 2]);
/// gaussian::sample(&batch, &[0.5, -0.5], &mut action)?; // standard normal draws of the caller's
/// assert_eq!(action, [0.5, 0.5]);
/// gaussian::log_prob(&batch, &action, &mut log_prob)?;
/// assert_eq!(log_prob[0], log_prob[1]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Gaussian<'a> {
    /// B, at least 1.
    pub num_rows: usize,
    /// `[B, A]`
    pub mean: &'a [f32],
    /// `[A]` from -40 to 40.
    pub log_std: &'a [f32],
}

/// Writes the log-density of each row's action, `[B]`. `action` is `[B, A]`: before the squash, if there is one.
///
/// Errors, here and below: `Shape`; `Range` for a `log_std`; `Value` for a number that is not finite. Outputs are
/// untouched on error.
pub fn log_prob(batch: &Gaussian<'_>, action: &[f32], log_prob: &mut [f32]) -> Result {
    check(batch)?;
    check_len("gaussian: action [B, A] of length", action, batch.mean.len())?;
    check_len("gaussian: log_prob [B] of length", log_prob, batch.num_rows)?;
    check_finite("gaussian: a finite action", action)?;
    cpu::dispatch(LogProb { batch, action, log_prob });
    Ok(())
}

/// The entropy in nats, equal for all rows; the entropy of the Gaussian, even where its draws are squashed.
pub fn entropy(log_std: &[f32]) -> Result<f32> {
    check_log_std(log_std)?;
    Ok(log_std.iter().fold(0.0, |sum, log_std| sum + (log_std + (HALF_LN_2_PI + 0.5))))
}

/// Writes mean + exp(log_std) * normal, `[B, A]`, from standard normal draws, `[B, A]`.
pub fn sample(batch: &Gaussian<'_>, normal: &[f32], action: &mut [f32]) -> Result {
    check(batch)?;
    check_len("gaussian: normal [B, A] of length", normal, batch.mean.len())?;
    check_len("gaussian: action [B, A] of length", action, batch.mean.len())?;
    check_finite("gaussian: a finite normal draw", normal)?;
    Sample { batch, normal, action }.run();
    Ok(())
}

/// Copies the means, `[B, A]`: the most probable actions.
pub fn greedy(batch: &Gaussian<'_>, action: &mut [f32]) -> Result {
    check(batch)?;
    check_len("gaussian: action [B, A] of length", action, batch.mean.len())?;
    for (action, mean) in action.iter_mut().zip(batch.mean) {
        *action = *mean;
    }
    Ok(())
}

/// Writes the gradients of a loss with respect to the means, `[B, A]`, and to the logarithms of the standard deviations, `[A]`,
/// from its gradients with respect to each row's log-density and entropy, `[B]` each.
///
/// The gradients also hold for squashed actions, because the squash does not depend on the parameters.
pub fn gradient(
    batch: &Gaussian<'_>,
    action: &[f32],
    log_prob_grad: &[f32],
    entropy_grad: &[f32],
    mean_grad: &mut [f32],
    log_std_grad: &mut [f32],
) -> Result {
    check(batch)?;
    check_len("gaussian: action [B, A] of length", action, batch.mean.len())?;
    check_len("gaussian: log_prob_grad [B] of length", log_prob_grad, batch.num_rows)?;
    check_len("gaussian: entropy_grad [B] of length", entropy_grad, batch.num_rows)?;
    check_len("gaussian: mean_grad [B, A] of length", mean_grad, batch.mean.len())?;
    check_len("gaussian: log_std_grad [A] of length", log_std_grad, batch.log_std.len())?;
    check_finite("gaussian: a finite action", action)?;
    check_finite("gaussian: a finite log_prob_grad", log_prob_grad)?;
    check_finite("gaussian: a finite entropy_grad", entropy_grad)?;
    cpu::dispatch(Gradient { batch, action, log_prob_grad, entropy_grad, mean_grad, log_std_grad });
    Ok(())
}

/// Writes tanh(action), element by element: the action for the environment.
pub fn squash(action: &[f32], squashed: &mut [f32]) -> Result {
    check_len("gaussian: squashed action of length", squashed, action.len())?;
    check_finite("gaussian: a finite action", action)?;
    cpu::dispatch(Squash { action, squashed });
    Ok(())
}

/// Turns the log-densities of actions, `[B]`, into the log-densities of the squashed actions: subtracts the sum over the row of
/// ln(1 - tanh²(action)) = 2 (ln 2 - |action| - softplus(-2 |action|)). `action` is `[B, A]`, before the squash.
pub fn squash_log_prob(action: &[f32], log_prob: &mut [f32]) -> Result {
    let num_rows = log_prob.len();
    match action.len().checked_rem(num_rows) {
        Some(0) if !action.is_empty() => {}
        _ => {
            let what = "gaussian: action [B, A] of whole rows, B";
            return Err(Error::limit(Kind::Shape, what, num_rows, action.len()));
        }
    }
    check_finite("gaussian: a finite action", action)?;
    check_finite("gaussian: a finite log_prob", log_prob)?;
    SquashLogProb { action, width: action.len() / num_rows.max(1), log_prob }.run();
    Ok(())
}

fn check(batch: &Gaussian<'_>) -> Result {
    Error::limit(Kind::Shape, "gaussian: rows of at least", 1, 0).fail_if(batch.num_rows == 0)?;
    check_log_std(batch.log_std)?;
    let len = batch
        .num_rows
        .checked_mul(batch.log_std.len())
        .ok_or(Error::new(Kind::Overflow, "gaussian: [B, A] that fits the address space"))?;
    check_len("gaussian: mean [B, A] of length", batch.mean, len)?;
    check_finite("gaussian: a finite mean", batch.mean)
}

fn check_log_std(log_std: &[f32]) -> Result {
    Error::limit(Kind::Shape, "gaussian: action elements of at least", 1, 0).fail_if(log_std.is_empty())?;
    check_finite("gaussian: a finite log_std", log_std)?;
    match log_std.iter().find(|x| x.abs() > LOG_STD_LIMIT) {
        Some(x) => Err(Error::new(Kind::Range, "gaussian: log_std from -40 to 40").given_f32(*x)),
        None => Ok(()),
    }
}

/// exp(sign * log_std) of up to [`COLUMNS`] columns from `begin`.
#[inline(never)]
fn scales(log_std: &[f32], begin: usize, sign: f32) -> [f32; COLUMNS] {
    let mut scales = [0.0; COLUMNS];
    for (scale, x) in scales.iter_mut().zip(log_std.iter().skip(begin)) {
        *scale = num::exp(sign * x);
    }
    scales
}

struct LogProb<'a> {
    batch: &'a Gaussian<'a>,
    action: &'a [f32],
    log_prob: &'a mut [f32],
}

impl Kernel for LogProb<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let log_std = self.batch.log_std;
        let width = log_std.len();
        let size = width.saturating_mul(ROWS);
        if size == 0 {
            return;
        }
        if !FEW_WAYS && self.log_prob.len() < ROWS {
            // Fewer rows than in a tile, one by one: the same sums.
            for (begin, columns) in parts(width) {
                let inverse = scales(log_std, begin, -1.0);
                let rows = self.batch.mean.chunks_exact(width).zip(self.action.chunks_exact(width));
                for ((mean, action), sum) in rows.zip(&mut *self.log_prob) {
                    *sum = if begin == 0 { 0.0 } else { *sum };
                    let row = mean.iter().zip(action).zip(log_std).skip(begin).take(columns).zip(&inverse);
                    for (((mean, action), log_std), inverse) in row {
                        let z = (action - mean) * inverse;
                        *sum -= 0.5 * (z * z) + (log_std + HALF_LN_2_PI);
                    }
                }
            }
            return;
        }
        let (mut mean, mut action) = (Tile::new(), Tile::new());
        for (begin, columns) in parts(width) {
            let inverse = scales(log_std, begin, -1.0);
            let blocks = self.batch.mean.chunks(size).zip(self.action.chunks(size)).zip(self.log_prob.chunks_mut(ROWS));
            for ((mean_rows, action_rows), log_prob) in blocks {
                mean.load(mean_rows, width, begin, columns);
                action.load(action_rows, width, begin, columns);
                let mut sum = if begin == 0 { [0.0; ROWS] } else { load_lanes(log_prob) };
                let scale = inverse.iter().zip(log_std.iter().skip(begin));
                for ((mean, action), (inverse, log_std)) in mean.0.iter().zip(&action.0).zip(scale) {
                    for i in 0..ROWS {
                        let z = (action[i] - mean[i]) * inverse;
                        sum[i] -= 0.5 * (z * z) + (log_std + HALF_LN_2_PI);
                    }
                }
                store_lanes(log_prob, &sum);
            }
        }
    }
}

struct Sample<'a> {
    batch: &'a Gaussian<'a>,
    normal: &'a [f32],
    action: &'a mut [f32],
}

impl Sample<'_> {
    fn run(self) {
        let width = self.batch.log_std.len();
        if width == 0 {
            return;
        }
        for (begin, _) in parts(width) {
            let std = scales(self.batch.log_std, begin, 1.0);
            let inputs = self.batch.mean.chunks_exact(width).zip(self.normal.chunks_exact(width));
            for ((mean, normal), action) in inputs.zip(self.action.chunks_exact_mut(width)) {
                let row = mean.iter().zip(normal).zip(action).skip(begin);
                for (((mean, normal), action), std) in row.zip(&std) {
                    *action = mean + std * normal;
                }
            }
        }
    }
}

struct Gradient<'a> {
    batch: &'a Gaussian<'a>,
    action: &'a [f32],
    log_prob_grad: &'a [f32],
    entropy_grad: &'a [f32],
    mean_grad: &'a mut [f32],
    log_std_grad: &'a mut [f32],
}

impl Kernel for Gradient<'_> {
    type Output = ();

    /// With z = (action - mean) / std: d log p / d mean = z / std; d log p / d log_std = z² - 1; d H / d log_std = 1.
    #[inline(always)]
    fn run(self) {
        let width = self.batch.log_std.len();
        let size = width.saturating_mul(ROWS);
        if size == 0 {
            return;
        }
        let (mut mean, mut action) = (Tile::new(), Tile::new());
        for (begin, columns) in parts(width) {
            let inverse = scales(self.batch.log_std, begin, -1.0);
            // Row r into lane r mod 16.
            let mut sums = [[0.0; 16]; COLUMNS];
            let rows = self.batch.mean.chunks(size).zip(self.action.chunks(size)).zip(self.mean_grad.chunks_mut(size));
            let grads = self.log_prob_grad.chunks(ROWS).zip(self.entropy_grad.chunks(ROWS));
            let parts = (0..16 / ROWS).cycle();
            for ((((mean_rows, action_rows), mean_grad), (log_prob_grad, entropy_grad)), part) in
                rows.zip(grads).zip(parts)
            {
                mean.load(mean_rows, width, begin, columns);
                action.load(action_rows, width, begin, columns);
                // Lanes without a row have no gradient and add nothing.
                let (log_prob_grad, entropy_grad) = (load_lanes(log_prob_grad), load_lanes(entropy_grad));
                let tiles = mean.0.iter_mut().zip(&action.0).zip(&mut sums);
                for (((mean, action), sum), inverse) in tiles.zip(&inverse).take(columns) {
                    let Some(sum) = sum.as_chunks_mut::<ROWS>().0.get_mut(part) else { continue };
                    for i in 0..ROWS {
                        let z = (action[i] - mean[i]) * inverse;
                        mean[i] = num::canonical(log_prob_grad[i] * (z * inverse));
                        sum[i] += log_prob_grad[i] * (z * z - 1.0) + entropy_grad[i];
                    }
                }
                mean.store(mean_grad, width, begin, columns);
            }
            for (grad, sum) in self.log_std_grad.iter_mut().skip(begin).zip(sums) {
                *grad = num::canonical(num::tree(sum));
            }
        }
    }
}

struct Squash<'a> {
    action: &'a [f32],
    squashed: &'a mut [f32],
}

impl Kernel for Squash<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (squashed, action) in self.squashed.iter_mut().zip(self.action) {
            *squashed = num::tanh(*action);
        }
    }
}

struct SquashLogProb<'a> {
    action: &'a [f32],
    width: usize,
    log_prob: &'a mut [f32],
}

impl SquashLogProb<'_> {
    fn run(self) {
        let size = self.width.saturating_mul(ROWS);
        if size == 0 {
            return;
        }
        let mut action = Tile::new();
        for (begin, columns) in parts(self.width) {
            for (rows, log_prob) in self.action.chunks(size).zip(self.log_prob.chunks_mut(ROWS)) {
                action.load(rows, self.width, begin, columns);
                let mut sum = load_lanes(log_prob);
                for action in action.0.iter().take(columns) {
                    for i in 0..ROWS {
                        let u = action[i].abs();
                        sum[i] -= 2.0 * (core::f32::consts::LN_2 - u - num::softplus(-2.0 * u));
                    }
                }
                store_lanes(log_prob, &sum);
            }
        }
    }
}
