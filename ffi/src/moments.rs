//! Means and variances.

use crate::mirror::versioned;
use crate::ptr::{self, Input, One, Output, args};
use crate::status::{Result, call, rlcore_status};
use rlcore::data::normalizer::{self, Limits, Moments};
use rlcore::error::{Error, Kind};
use rlcore::kernels;

/// Initializes moments: mean 0, variance 1. mean, variance: [num_columns] to write; count: [1] to write,
/// initial_count, usually 1e-4, so that the first rows outweigh the initial values.
/// Errors: E_SHAPE if num_columns is 0; E_VALUE, E_RANGE unless initial_count is 0 to 1.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_moments_reset(
    num_columns: u32,
    initial_count: f64,
    mean: *mut f64,
    variance: *mut f64,
    count: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let mut moments = moments(args(running(num_columns, mean, variance, count)?)?);
        if !(0.0..=1.0).contains(&initial_count) {
            let kind = if initial_count.is_finite() { Kind::Range } else { Kind::Value };
            return Err(Error::new(kind, "moments: initial_count from 0 to 1").given_f32(initial_count as f32).into());
        }
        moments.reset();
        *moments.count = initial_count;
        Ok(())
    })
}

/// Merges the columns of x into running moments by Chan's formula, in a fixed order.
/// x: [num_rows, num_columns]; mean, variance: [num_columns] to change; count: [1] number of rows merged, to change.
/// Errors, here and below: E_SHAPE if a count is 0; E_VALUE for a number that is not finite, or if the variance plus the
/// square of the mean exceeds 1e120, which no float data does; E_RANGE for a variance below 0, or a count that is not
/// from 0 to 2^64.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_moments_update(
    x: *const f32,
    num_rows: u32,
    num_columns: u32,
    mean: *mut f64,
    variance: *mut f64,
    count: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let (rows, columns) = (num_rows as usize, num_columns as usize);
        let x = Input::at("moments: x", x, ptr::grid("moments: x", rows, columns)?)?;
        let (x, (mean, var, count)) = args((x, running(num_columns, mean, variance, count)?))?;
        Ok(kernels::moments::update(x, rows, mean, var, count)?)
    })
}

/// Merges other moments, e.g. of a batch or another worker, by the same formula, including their initial count.
/// with_mean, with_var: [num_columns] moments of with_count rows; mean, variance: [num_columns] to change;
/// count: [1] to change, as for rlcore_moments_update.
/// Errors: as there; E_RANGE if both counts are 0.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_moments_merge(
    num_columns: u32,
    with_mean: *const f64,
    with_var: *const f64,
    with_count: f64,
    mean: *mut f64,
    variance: *mut f64,
    count: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let with_mean = Input::at("moments: with_mean", with_mean, num_columns as usize)?;
        let with_var = Input::at("moments: with_var", with_var, num_columns as usize)?;
        let running = running(num_columns, mean, variance, count)?;
        let (with_mean, with_var, running) = args((with_mean, with_var, running))?;
        Ok(moments(running).merge(with_mean, with_var, with_count)?)
    })
}

/// Moments that rlcore_normalize takes. The arrays are not owned and only read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_normalizer {
    /// sizeof(rlcore_normalizer)
    pub struct_size: u32,
    /// at least 1
    pub num_columns: u32,
    /// [num_columns]
    pub mean: *const f64,
    /// [num_columns]
    pub variance: *const f64,
    /// added to variances, from 1e-30 to 1e30
    pub epsilon: f64,
    /// above 0
    pub clip: f32,
    /// zero
    pub reserved: u32,
}

versioned!(rlcore_normalizer, "normalizer", reserved);

/// Writes (x - mean) / sqrt(variance + epsilon), clipped to [-clip, clip].
/// x, out: [num_rows, num_columns]; may be the same array.
/// Errors: as above; E_CONFIG; E_RANGE for a clip that is not above 0, a variance below 0, or an epsilon that is not
/// from 1e-30 to 1e30.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_normalize(
    normalizer: *const rlcore_normalizer,
    x: *const f32,
    num_rows: u32,
    out: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let rlcore_normalizer { num_columns, mean, variance, epsilon, clip, reserved, .. } = ptr::sized(normalizer)?;
        ptr::reserved("normalizer: reserved", reserved)?;
        let columns = columns(num_columns)?;
        let len = ptr::grid("normalize: x", self::columns(num_rows)?, columns)?;
        let x = ptr::through("normalize: x", x, "normalize: out", out, len)?;
        let mean = Input::at("normalize: mean", mean, columns)?;
        let variance = Input::at("normalize: variance", variance, columns)?;
        let (x, mean, variance) = args((x, mean, variance))?;
        Ok(normalizer::normalise(mean, variance, Limits { clip, epsilon }, ptr::rewrite(x))?)
    })
}

fn columns(num_columns: u32) -> Result<usize> {
    match num_columns {
        0 => Err(Error::limit(Kind::Shape, "moments: rows and columns of at least", 1, 0).into()),
        n => Ok(n as usize),
    }
}

/// The caller's running moments: mean and variance, and the count.
type Running<'a> = (Output<'a, f64>, Output<'a, f64>, One<'a, f64>);

unsafe fn running<'a>(n: u32, mean: *mut f64, variance: *mut f64, count: *mut f64) -> Result<Running<'a>> {
    let n = columns(n)?;
    unsafe {
        let (mean, var) = (Output::at("moments: mean", mean, n)?, Output::at("moments: variance", variance, n)?);
        Ok((mean, var, One::at("moments: count", count)?))
    }
}

fn moments<'a>((mean, var, count): (&'a mut [f64], &'a mut [f64], &'a mut f64)) -> Moments<'a> {
    Moments { mean, var, count }
}

/// Scales x to mean 0 and standard deviation 1: (x - mean) / (std + epsilon), std with n - 1. x: [len] to change; unchanged
/// if len < 2. E_RANGE for epsilon.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_standardize(x: *mut f32, len: usize, epsilon: f64) -> rlcore_status {
    call(|| unsafe { Ok(kernels::moments::standardise(args(Output::at("standardize: x", x, len)?)?, epsilon)?) })
}

/// Explained variance, 1 - var(target - value) / var(target): 1 for perfect values, 0 if no better than a constant or if
/// the target is constant. value, target: [len]; out: [1] to write.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_explained_variance(
    value: *const f32,
    target: *const f32,
    len: usize,
    out: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let value = Input::at("explained_variance: value", value, len)?;
        let target = Input::at("explained_variance: target", target, len)?;
        let (value, target, out) = args((value, target, One::at("explained_variance: out", out)?))?;
        *out = kernels::moments::explained_variance(value, target)?;
        Ok(())
    })
}
