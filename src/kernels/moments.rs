//! Means, variances and sums in f64, with an order of summation that depends on nothing but the shape.

use super::finite::check_finite;
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// Columns worked on at once; in sums over a flat slice element i goes into lane i mod 16.
pub(crate) const LANES: usize = 16;

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
    cpu::dispatch(Columns { x, n, mean, var, count: None });
    Ok(())
}

/// Merges the columns of `x`, `[n, D]`, into running moments: `mean` and `var` are `[D]`, `count` is how many rows they
/// have seen, which may be a fraction. Errors as in [`columns`].
pub fn update(x: &[f32], n: usize, mean: &mut [f64], var: &mut [f64], count: &mut f64) -> Result {
    check_columns(x, n, mean, var)?;
    cpu::dispatch(Columns { x, n, mean, var, count: Some(*count) });
    *count += n as f64;
    Ok(())
}

/// The moments of a slice; 0 and 0 of an empty one.
pub fn of(x: &[f64]) -> Moment {
    moment(x, x, |x, _| x)
}

/// The mean and the unbiased standard deviation (n - 1) of a slice; 0 for what so few numbers do not have.
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

/// How much of the variance of `target` the values explain: 1 - var(target - value) / var(target). 1 is a perfect
/// value, 0 one no better than a constant. 0 where the target does not vary.
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
    if n == 0 || mean.is_empty() {
        return Err(Error::new(Kind::Shape, "moments: rows and columns of at least").needed(1).given(0));
    }
    check_len("moments: var [D] of the length of the mean", var, mean.len())?;
    let too_large = Error::new(Kind::Overflow, "moments: [n, D] that fits the address space");
    check_len("moments: x [n, D] of length", x, n.checked_mul(mean.len()).ok_or(too_large)?)?;
    check_finite("moments: a finite number", x)
}

/// Checks what is added to a standard deviation or a variance.
pub(crate) fn check_epsilon(epsilon: f64) -> Result {
    if epsilon >= 0.0 && epsilon.is_finite() {
        Ok(())
    } else {
        Err(Error::new(Kind::Range, "moments: a finite epsilon of at least 0").given_f32(epsilon as f32))
    }
}

/// Sums of x - origin and of its square over n numbers. With the first number as origin the squares cannot drown the
/// variance, because (mean - x[0])² is at most n times it: one pass is enough.
#[inline(always)]
fn finish(origin: f64, sum: f64, squares: f64, n: f64) -> Moment {
    let mean = sum / n;
    let var = (squares - sum * mean) / n;
    Moment { mean: origin + mean, var: if var > 0.0 { var } else { 0.0 } }
}

/// Sets the moments of the columns, or merges them into those of `count` rows.
struct Columns<'a> {
    x: &'a [f32],
    n: usize,
    mean: &'a mut [f64],
    var: &'a mut [f64],
    count: Option<f64>,
}

impl Kernel for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Columns { x, n, mean, var, count } = self;
        let (width, rows) = (mean.len(), n as f64);
        let mut spare = [0.0; LANES];
        for (part, (mean, var)) in mean.chunks_mut(LANES).zip(var.chunks_mut(LANES)).enumerate() {
            let begin = part.wrapping_mul(LANES);
            // Lanes beyond the last column work on other numbers and are dropped.
            let origin = window(x, begin, &mut spare).map(f64::from);
            let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
            let mut at = begin;
            for _ in 0..n {
                let x = window(x, at, &mut spare);
                for i in 0..LANES {
                    let d = f64::from(x[i]) - origin[i];
                    sum[i] += d;
                    squares[i] += d * d;
                }
                at = at.wrapping_add(width);
            }
            let sums = origin.iter().zip(sum.iter().zip(&squares));
            for ((mean, var), (origin, (sum, squares))) in mean.iter_mut().zip(var).zip(sums) {
                let batch = finish(*origin, *sum, *squares, rows);
                let all = match count {
                    Some(count) => merge(Moment { mean: *mean, var: *var }, count, batch, rows),
                    None => batch,
                };
                (*mean, *var) = (all.mean, all.var);
            }
        }
    }
}

/// The 16 numbers from `at` on, whatever row they belong to. Where there are fewer, `spare` holds them and zeros.
#[inline(always)]
pub(crate) fn window<'a>(x: &'a [f32], at: usize, spare: &'a mut [f32; LANES]) -> &'a [f32; LANES] {
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
fn short_window(rest: &[f32]) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
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

/// The moments of the numbers that `each` makes of the elements of two slices of one length.
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
