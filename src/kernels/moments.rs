//! Means, variances and sums in f64, with an order of summation that depends only on the shape.

use super::finite::{all_finite, check_finite};
use crate::cpu::{self, FEW_WAYS, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// Columns processed at once; in sums over a flat slice, element i goes into lane i mod 16.
pub(crate) const LANES: usize = 16;

/// Parts of 16 columns that are processed side by side.
pub(crate) const PARTS: usize = 4;

/// Columns of a part.
const WIDE: usize = if FEW_WAYS { 1 } else { LANES };

/// Rows of a part that are processed before the next part.
pub(crate) const BLOCK_ROWS: usize = 32;

/// Mean and variance of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Mean.
    pub mean: f64,
    /// Population variance.
    pub var: f64,
}

/// The moments of two groups together: `count` numbers with moments `a` and `n` numbers with moments `b`.
#[inline(always)]
pub fn merge(a: Moment, count: f64, b: Moment, n: f64) -> Moment {
    let d = b.mean - a.mean;
    let total = count + n;
    let mean = a.mean + d * n / total;
    let squares = a.var * count + b.var * n + d * d * count * n / total;
    Moment { mean, var: squares / total }
}

/// Writes the mean and the population variance of each column of `x`, `[n, D]`; `mean` and `var` are `[D]`.
///
/// Errors: `Shape`; `Value` for a number that is not finite. Outputs are untouched on error.
pub fn columns(x: &[f32], n: usize, mean: &mut [f64], var: &mut [f64]) -> Result {
    check_columns(x, n, mean, var)?;
    check_found(Columns { x, n, mean, var, count: None }.set(), x)
}

/// Merges the columns of `x`, `[n, D]`, into running moments: `mean` and `var` are `[D]`, `count` is the number of rows they
/// cover, which may be a fraction. Errors as in [`columns`] and [`check_moments`].
///
/// ```
/// use rlcore::kernels::moments;
///
/// # fn main() -> rlcore::error::Result {
/// let (mut mean, mut var, mut count) = ([0.0], [1.0], 0.0);
/// moments::update(&[1.0, 2.0], 2, &mut mean, &mut var, &mut count)?;
/// moments::update(&[3.0, 6.0], 2, &mut mean, &mut var, &mut count)?;
/// assert_eq!((mean[0], var[0], count), (3.0, 3.5, 4.0));
/// # Ok(())
/// # }
/// ```
pub fn update(x: &[f32], n: usize, mean: &mut [f64], var: &mut [f64], count: &mut f64) -> Result {
    check_columns(x, n, mean, var)?;
    check_moments(mean, var, *count)?;
    check_found(Columns { x, n, mean, var, count: Some(*count) }.set(), x)?;
    *count = count_more(*count, n);
    Ok(())
}

/// Merges the moments of `n` rows, computed elsewhere, into running moments: `with` is their mean and variance. Moments that
/// began with an initial count include it. All four slices are `[D]`.
///
/// Errors: `Shape`; `Value` for a number that is not finite; `Range` for a negative variance, a count outside 0 to 2^64, or a
/// sum of counts that is 0 or above 2^64. Nothing is updated on error.
pub fn merge_columns(with: (&[f64], &[f64]), n: f64, mean: &mut [f64], var: &mut [f64], count: &mut f64) -> Result {
    check_len("moments: var [D] of the length of the mean", var, mean.len())?;
    check_len("moments: merged mean [D] of the length of the mean", with.0, mean.len())?;
    check_len("moments: merged var [D] of the length of the mean", with.1, mean.len())?;
    check_moments(with.0, with.1, n)?;
    check_moments(mean, var, *count)?;
    let total = *count + n;
    let what = "moments: counts whose sum is above 0 and at most 2^64";
    Error::new(Kind::Range, what).given_f32(total as f32).fail_if(!(total > 0.0 && total <= MAX_COUNT))?;
    for ((mean, var), (with_mean, with_var)) in mean.iter_mut().zip(var).zip(with.0.iter().zip(with.1)) {
        let with = Moment { mean: *with_mean, var: *with_var };
        let all = merge(Moment { mean: *mean, var: *var }, *count, with, n);
        (*mean, *var) = (all.mean, all.var);
    }
    *count = total;
    Ok(())
}

/// Adds `n` rows to a count, up to 2^64.
#[inline(always)]
pub(crate) fn count_more(count: f64, n: usize) -> f64 {
    (count + n as f64).min(MAX_COUNT)
}

/// Largest count of rows, out of reach in practice.
pub(crate) const MAX_COUNT: f64 = 18_446_744_073_709_551_616.0;

/// Checks running moments from outside: a variance of at least 0 that is, with the square of the mean, at most 1e120, beyond
/// the reach of sums of f32, and a count from 0 to 2^64. Merges with such moments neither overflow nor leave these bounds.
pub fn check_moments(mean: &[f64], var: &[f64], count: f64) -> Result {
    const MEAN: Error = Error::new(Kind::Value, "moments: a finite mean of at most 1e60");
    const VAR: Error = Error::new(Kind::Value, "moments: a finite variance, with the mean's square at most 1e120");
    for (mean, var) in mean.iter().zip(var) {
        MEAN.given_f32(*mean as f32).fail_if(!(-1e60..=1e60).contains(mean))?;
        Error::new(Kind::Range, "moments: a variance of at least 0").given_f32(*var as f32).fail_if(*var < 0.0)?;
        VAR.given_f32(*var as f32).fail_if(!(0.0..=1e120).contains(&(mean * mean + var)))?;
    }
    Error::new(Kind::Value, "moments: a finite count").given_f32(f32::NAN).fail_if(count.is_nan())?;
    let what = "moments: a count from 0 to 2^64";
    Error::new(Kind::Range, what).given_f32(count as f32).fail_if(!(0.0..=MAX_COUNT).contains(&count))
}

/// The moments of a slice; both 0 for an empty one.
pub fn of(x: &[f64]) -> Moment {
    moment(x, x, |x, _| x)
}

/// The moments of the elements whose flag in `keep` is not 0, and their number. If all are kept, the bits of [`of`].
pub fn of_kept(x: &[f64], keep: &[u8]) -> (Moment, usize) {
    let first = x.iter().zip(keep).find(|(_, keep)| **keep != 0);
    let Some((&origin, _)) = first else { return (Moment { mean: 0.0, var: 0.0 }, 0) };
    let (mut sum, mut squares, mut count) = ([0.0; LANES], [0.0; LANES], 0usize);
    let ((x_blocks, x_rest), (keep_blocks, keep_rest)) = (x.as_chunks::<LANES>(), keep.as_chunks::<LANES>());
    let blocks = x_blocks.iter().zip(keep_blocks).map(|(x, keep)| (x.as_slice(), keep.as_slice()));
    for (x, keep) in blocks.chain([(x_rest, keep_rest)]) {
        for ((x, keep), (sum, squares)) in x.iter().zip(keep).zip(sum.iter_mut().zip(&mut squares)) {
            let d = if *keep != 0 { x - origin } else { 0.0 };
            *sum += d;
            *squares += d * d;
            count = count.wrapping_add(usize::from(*keep != 0));
        }
    }
    (finish(origin, tree(sum), tree(squares), count as f64), count)
}

/// The mean and the unbiased standard deviation (n - 1) of a slice; 0 for a value that needs more numbers.
pub fn mean_std(x: &[f32]) -> Result<(f64, f64)> {
    check_finite("moments: a finite number", x)?;
    Ok(mean_std_of(x))
}

/// Shifts and scales a slice to mean 0 and unbiased standard deviation 1: (x - mean) / (std + epsilon).
/// Fewer than two numbers stay as they are.
pub fn standardise(x: &mut [f32], epsilon: f64) -> Result {
    check_epsilon(epsilon)?;
    check_finite("moments: a finite number", x)?;
    if x.len() < 2 {
        return Ok(());
    }
    let (mean, std) = mean_std_of(x);
    let scale = 1.0 / (std + epsilon);
    let scale = if scale.is_finite() { scale } else { 0.0 };
    for x in x {
        *x = ((f64::from(*x) - mean) * scale) as f32;
    }
    Ok(())
}

/// The share of the variance of `target` that the values explain: 1 - var(target - value) / var(target). 1 for perfect values,
/// 0 for values no better than a constant. 0 where the target does not vary.
pub fn explained_variance(value: &[f32], target: &[f32]) -> Result<f64> {
    check_len("moments: value of the target's length", value, target.len())?;
    check_finite("moments: a finite value", value)?;
    check_finite("moments: a finite target", target)?;
    let all = moment_of(target, target, 0.0).var;
    let rest = moment_of(target, value, 1.0).var;
    Ok(if all > 0.0 { 1.0 - rest / all } else { 0.0 })
}

/// The sum of squares, whose root is the norm.
pub fn sum_of_squares(x: &[f32]) -> Result<f64> {
    check_finite("moments: a finite number", x)?;
    Ok(cpu::dispatch(SumOfSquares(x)))
}

fn check_columns(x: &[f32], n: usize, mean: &[f64], var: &[f64]) -> Result {
    let what = "moments: rows and columns of at least";
    Error::limit(Kind::Shape, what, 1, 0).fail_if(n == 0 || mean.is_empty())?;
    check_len("moments: var [D] of the length of the mean", var, mean.len())?;
    let too_large = Error::new(Kind::Overflow, "moments: [n, D] that fits the address space");
    check_len("moments: x [n, D] of length", x, n.checked_mul(mean.len()).ok_or(too_large)?)
}

/// Names the number that a kernel found not to be finite.
fn check_found(finite: bool, x: &[f32]) -> Result {
    if finite { Ok(()) } else { check_finite("moments: a finite number", x) }
}

/// Checks an epsilon to be added to a standard deviation or a variance.
pub(crate) fn check_epsilon(epsilon: f64) -> Result {
    if epsilon >= 0.0 && epsilon.is_finite() {
        Ok(())
    } else {
        Err(Error::new(Kind::Range, "moments: a finite epsilon of at least 0").given_f32(epsilon as f32))
    }
}

/// The moments of n numbers from the sums of x - origin and of its square. With the first number as origin the squares cannot
/// drown the variance, because (mean - x[0])² is at most n times the variance: one pass is enough.
#[inline(always)]
fn finish(origin: f64, sum: f64, squares: f64, n: f64) -> Moment {
    let mean = sum / n;
    let var = (squares - sum * mean) / n;
    Moment { mean: origin + mean, var: if var > 0.0 { var } else { 0.0 } }
}

/// Sets the moments of the columns, or merges them into the moments of `count` rows. Returns false and writes nothing if a
/// number is not finite.
struct Columns<'a> {
    x: &'a [f32],
    n: usize,
    mean: &'a mut [f64],
    var: &'a mut [f64],
    count: Option<f64>,
}

impl Columns<'_> {
    fn set(self) -> bool {
        if !FEW_WAYS && self.x.len() <= 64 { self.set_few() } else { cpu::dispatch(self) }
    }

    /// One column after another: the same sums, for arrays too small for a sweep over rows.
    fn set_few(self) -> bool {
        let Columns { x, n, mean, var, count } = self;
        let width = mean.len().max(1);
        if !all_finite(x) {
            return false;
        }
        for (i, (mean, var)) in mean.iter_mut().zip(var).enumerate() {
            let (mut column, mut sum, mut squares) = (x.iter().skip(i).step_by(width).map(|x| f64::from(*x)), 0.0, 0.0);
            let origin = column.next().unwrap_or(0.0);
            for x in column {
                let d = x - origin;
                sum += d;
                squares += d * d;
            }
            put(mean, var, count, finish(origin, sum, squares, n as f64), n as f64);
        }
        true
    }
}

/// Sets moments, or merges them into the moments of `count` rows.
#[inline(always)]
fn put(mean: &mut f64, var: &mut f64, count: Option<f64>, batch: Moment, rows: f64) {
    let all = match count {
        Some(count) => merge(Moment { mean: *mean, var: *var }, count, batch, rows),
        None => batch,
    };
    (*mean, *var) = (all.mean, all.var);
}

impl Kernel for Columns<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Columns { x, n, mean, var, count } = self;
        let (width, rows) = (mean.len(), n as f64);
        // The sums of one group reveal a number that is not finite before any write; those of several would be too late.
        if width > PARTS * WIDE && !all_finite(x) {
            return false;
        }
        let mut spare = [0.0; WIDE];
        let groups = mean.chunks_mut(PARTS * WIDE).zip(var.chunks_mut(PARTS * WIDE));
        for (group, (mean, var)) in groups.enumerate() {
            let begin = group.wrapping_mul(PARTS * WIDE);
            let parts = mean.len().div_ceil(WIDE);
            let mut sums = [Sums { origin: [0.0; WIDE], sum: [0.0; WIDE], squares: [0.0; WIDE] }; PARTS];
            // Lanes beyond the last column work on other numbers and are dropped.
            for (part, sums) in sums.iter_mut().take(parts).enumerate() {
                let at = begin.wrapping_add(part.wrapping_mul(WIDE));
                for (origin, x) in sums.origin.iter_mut().zip(window(x, at, &mut spare)) {
                    *origin = f64::from(*x);
                }
            }
            // A few rows at a time, to read memory in order and keep the sums of a part in registers.
            let (mut first, mut left) = (begin, n);
            while left > 0 {
                let rows = left.min(BLOCK_ROWS);
                for (part, sums) in sums.iter_mut().take(parts).enumerate() {
                    let mut at = first.wrapping_add(part.wrapping_mul(WIDE));
                    let Sums { origin, mut sum, mut squares } = *sums;
                    for _ in 0..rows {
                        let x = window(x, at, &mut spare);
                        for i in 0..WIDE {
                            let d = f64::from(x[i]) - origin[i];
                            sum[i] += d;
                            squares[i] += d * d;
                        }
                        at = at.wrapping_add(width);
                    }
                    *sums = Sums { origin, sum, squares };
                }
                first = first.wrapping_add(rows.wrapping_mul(width));
                left = left.wrapping_sub(rows);
            }
            // Sums of finite f32 do not overflow f64; one that is not finite makes its sum NaN or infinite.
            let rest = sums.iter().flat_map(|s| s.sum).fold(0.0, |rest, sum| rest + sum * 0.0);
            if rest != 0.0 {
                return false;
            }
            let parts = mean.chunks_mut(WIDE).zip(var.chunks_mut(WIDE)).zip(&sums);
            for ((mean, var), Sums { origin, sum, squares }) in parts {
                let sums = origin.iter().zip(sum.iter().zip(squares));
                for ((mean, var), (origin, (sum, squares))) in mean.iter_mut().zip(var).zip(sums) {
                    put(mean, var, count, finish(*origin, *sum, *squares, rows), rows);
                }
            }
        }
        true
    }
}

/// Sums of x - origin and of its square over rows, for the columns of a part.
#[derive(Clone, Copy)]
struct Sums {
    origin: [f64; WIDE],
    sum: [f64; WIDE],
    squares: [f64; WIDE],
}

/// The numbers of a part from `at` on, even across the end of a row. If there are too few, `spare` holds them and zeros.
#[inline(always)]
pub(crate) fn window<'a>(x: &'a [f32], at: usize, spare: &'a mut [f32; WIDE]) -> &'a [f32; WIDE] {
    let rest = x.get(at..).unwrap_or(&[]);
    match rest.first_chunk() {
        Some(whole) => whole,
        None => {
            *spare = short_window(rest);
            spare
        }
    }
}

#[inline(never)]
fn short_window(rest: &[f32]) -> [f32; WIDE] {
    let mut lanes = [0.0; WIDE];
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = *x;
    }
    lanes
}

/// The sum of the lanes as a tree: lanes 8 apart, then 4, 2 and 1.
#[inline(always)]
fn tree(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = lanes;
    let [a, b, c, d, e, f, g, h] = [a + i, b + j, c + k, d + l, e + m, f + n, g + o, h + p];
    let [a, b, c, d] = [a + e, b + f, c + g, d + h];
    (a + c) + (b + d)
}

/// The moments of `each(a[i], b[i])` over two slices of one length.
#[inline(always)]
fn moment<T: Copy>(a: &[T], b: &[T], each: impl Fn(T, T) -> f64) -> Moment {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return Moment { mean: 0.0, var: 0.0 } };
    let origin = each(*first_a, *first_b);
    let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let ((a_blocks, a_rest), (b_blocks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for i in 0..LANES {
            let d = each(a[i], b[i]) - origin;
            sum[i] += d;
            squares[i] += d * d;
        }
    }
    for ((a, b), (sum, squares)) in a_rest.iter().zip(b_rest).zip(sum.iter_mut().zip(&mut squares)) {
        let d = each(*a, *b) - origin;
        *sum += d;
        *squares += d * d;
    }
    finish(origin, tree(sum), tree(squares), a.len() as f64)
}

/// The moments of a - scale * b.
#[inline(never)]
fn moment_of(a: &[f32], b: &[f32], scale: f64) -> Moment {
    moment(a, b, |a, b| f64::from(a) - scale * f64::from(b))
}

/// The mean and the unbiased standard deviation of finite numbers.
fn mean_std_of(x: &[f32]) -> (f64, f64) {
    let all = moment_of(x, x, 0.0);
    if x.len() < 2 {
        return (all.mean, 0.0);
    }
    let n = x.len() as f64;
    (all.mean, num::sqrt64(all.var * n / (n - 1.0)))
}

struct SumOfSquares<'a>(&'a [f32]);

impl Kernel for SumOfSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sum = [0.0; LANES];
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        for x in blocks {
            for i in 0..LANES {
                sum[i] += f64::from(x[i]) * f64::from(x[i]);
            }
        }
        for (sum, x) in sum.iter_mut().zip(rest) {
            *sum += f64::from(*x) * f64::from(*x);
        }
        tree(sum)
    }
}
