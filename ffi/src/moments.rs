//! Means and variances.

use crate::ptr::{self, Input, Output, apart};
use crate::status::{call, rlcore_status};
use rlcore::kernels::moments;

/// Merges the columns of x into running moments: Chan's formula, in a fixed order.
/// x: [num_rows, num_columns]; mean, var: [num_columns] to change; count: [1] rows they have seen, to change.
/// Errors, here and below: E_NULL; E_ALIGN; E_SHAPE if a count is 0; E_OVERFLOW; E_OVERLAP; E_VALUE for a number that is
/// not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_moments_update(
    x: *const f32,
    num_rows: u32,
    num_columns: u32,
    mean: *mut f64,
    var: *mut f64,
    count: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let (rows, columns) = (num_rows as usize, num_columns as usize);
        let x = Input::at("moments: x", x, ptr::grid("moments: x", rows, columns)?)?;
        let mean = Output::at("moments: mean", mean, columns)?;
        let var = Output::at("moments: var", var, columns)?;
        let count = Output::at("moments: count", count, 1)?;
        apart(&[mean.extent(), var.extent(), count.extent()], &[x.extent()])?;
        Ok(moments::update(x.slice(), rows, mean.slice(), var.slice(), count.one())?)
    })
}

/// Shifts and scales x to mean 0 and deviation 1: (x - mean) / (std + epsilon), std with n - 1. x: [len] to change; fewer
/// than two numbers stay as they are. E_RANGE for epsilon.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_standardise(x: *mut f32, len: usize, epsilon: f64) -> rlcore_status {
    call(|| unsafe { Ok(moments::standardise(Output::at("standardise: x", x, len)?.slice(), epsilon)?) })
}

/// 1 - var(target - value) / var(target): 1 is a perfect value, 0 one no better than a constant, and where the target
/// does not vary. value, target: [len].
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
        ptr::put("explained_variance: out", out, || Ok(moments::explained_variance(value.slice(), target.slice())?))
    })
}
