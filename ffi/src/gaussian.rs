//! Diagonal Gaussian policies.

use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, One, Output, args, args_beside};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::gaussian::{self, Gaussian};

/// A batch of diagonal Gaussians with shared standard deviations. B = num_rows, A = action_len.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_gaussian {
    /// sizeof(rlcore_gaussian)
    pub struct_size: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// A, at least 1
    pub action_len: u32,
    /// zero
    pub reserved: u32,
    /// [B, A]
    pub mean: *const f32,
    /// [A] logarithms of the standard deviations, from -40 to 40
    pub log_std: *const f32,
}

versioned!(rlcore_gaussian, "gaussian", log_std);

/// A batch, and the extents of its arrays, which no output may overlap.
pub unsafe fn batch<'a>(p: *const rlcore_gaussian) -> Result<(Gaussian<'a>, [Extent; 2])> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("gaussian: reserved", c.reserved)?;
    let (num_rows, width) = (c.num_rows as usize, c.action_len as usize);
    let mean = unsafe { Input::at("gaussian: mean", c.mean, ptr::grid("gaussian", num_rows, width)?)? };
    let log_std = unsafe { Input::at("gaussian: log_std", c.log_std, width)? };
    let (extents, (mean, log_std)) = ptr::inputs((mean, log_std));
    Ok((Gaussian { num_rows, mean, log_std }, extents))
}

/// Log-density of each row's action. action: [B, A], before squashing; log_prob: [B] to write.
/// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std; E_VALUE for a number that is not
/// finite.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_log_prob(
    batch: *const rlcore_gaussian,
    action: *const f32,
    log_prob: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, read) = self::batch(batch)?;
        let action = Input::at("gaussian: action", action, batch.mean.len())?;
        let out = Output::at("gaussian: log_prob", log_prob, batch.num_rows)?;
        let (action, out) = args_beside((action, out), &read)?;
        Ok(gaussian::log_prob(&batch, action, out)?)
    })
}

/// Entropy in nats, the same for all rows. log_std: [action_len]; out: [1] to write.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_entropy(log_std: *const f32, action_len: u32, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let log_std = Input::at("gaussian: log_std", log_std, action_len as usize)?;
        let (log_std, out) = args((log_std, One::at("gaussian: out", out)?))?;
        *out = gaussian::entropy(log_std)?;
        Ok(())
    })
}

/// mean + exp(log_std) * normal. normal: [B, A] standard normal draws; action: [B, A] to write.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_sample(
    batch: *const rlcore_gaussian,
    normal: *const f32,
    action: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, read) = self::batch(batch)?;
        let normal = Input::at("gaussian: normal", normal, batch.mean.len())?;
        let out = Output::at("gaussian: action", action, batch.mean.len())?;
        let (normal, out) = args_beside((normal, out), &read)?;
        Ok(gaussian::sample(&batch, normal, out)?)
    })
}

/// Elementwise tanh, to squash actions. action: [len]; squashed: [len] to write.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_squash(action: *const f32, len: usize, squashed: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let action = Input::at("gaussian: action", action, len)?;
        let out = Output::at("gaussian: squashed", squashed, len)?;
        let (action, out) = args((action, out))?;
        Ok(gaussian::squash(action, out)?)
    })
}

/// Converts log-densities to those of the squashed actions: subtracts the sum over the row of ln(1 - tanh(action)^2).
/// action: [num_rows, action_len], before squashing; log_prob: [num_rows] to change.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_squash_log_prob(
    action: *const f32,
    num_rows: u32,
    action_len: u32,
    log_prob: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (rows, width) = (num_rows as usize, action_len as usize);
        let action = Input::at("gaussian: action", action, ptr::grid("gaussian: action", rows, width)?)?;
        let out = Output::at("gaussian: log_prob", log_prob, rows)?;
        let (action, out) = args((action, out))?;
        Ok(gaussian::squash_log_prob(action, out)?)
    })
}
