//! Categorical policies over batches of logits.

use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, Output, args_beside};
use crate::sampling::rlcore_sampling;
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::categorical::{self, Logits, Sampling};

/// A batch of categorical distributions. B = num_rows, K = num_choices, L = the sum of n.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_logits {
    /// sizeof(rlcore_logits)
    pub struct_size: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// K, at least 1: one is Discrete, more are MultiDiscrete
    pub num_choices: u32,
    /// zero
    pub reserved: u32,
    /// [K] number of options of each choice, at least 1
    pub n: *const u32,
    /// [B, L] finite; those of the first choice come first
    pub logits: *const f32,
    /// [B, L] 0 forbids; each choice must allow an option; NULL: everything is allowed
    pub mask: *const u8,
}

versioned!(rlcore_logits, "logits", logits);

/// A batch, its number of actions, and the extents of its arrays, which no output may overlap.
pub unsafe fn batch<'a>(p: *const rlcore_logits) -> Result<(Logits<'a>, usize, [Extent; 3])> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("logits: reserved", c.reserved)?;
    let num_rows = c.num_rows as usize;
    let n = unsafe { Input::at("logits: n", c.n, c.num_choices as usize)? };
    let ([n_extent], n) = ptr::inputs(n);
    let width = n.iter().fold(0usize, |sum, &n| sum.saturating_add(n as usize));
    let len = ptr::grid("logits", num_rows, width)?;
    let num_actions = ptr::grid("logits", num_rows, n.len())?;
    let logits = unsafe { Input::at("logits: logits", c.logits, len)? };
    let mask = unsafe { Input::optional("logits: mask", c.mask, len)? };
    let ([logits_extent, mask_extent], (logits, mask)) = ptr::inputs((logits, mask));
    Ok((Logits { num_rows, n, logits, mask }, num_actions, [n_extent, logits_extent, mask_extent]))
}

/// Log-probability of every option, -inf where forbidden. out: [B, L] to write.
/// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an n; E_VALUE for a number that is not finite, or
/// a choice without an allowed option.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_categorical_log_softmax(batch: *const rlcore_logits, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let (batch, _, read) = self::batch(batch)?;
        let out = Output::at("categorical: out", out, batch.logits.len())?;
        let out = args_beside(out, &read)?;
        Ok(categorical::log_softmax(&batch, out)?)
    })
}

/// Log-probability of each row's actions. action: [B, K]; log_prob: [B] to write.
/// E_RANGE for an action that is out of range or forbidden.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_categorical_log_prob(
    batch: *const rlcore_logits,
    action: *const i32,
    log_prob: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, num_actions, read) = self::batch(batch)?;
        let action = Input::at("categorical: action", action, num_actions)?;
        let out = Output::at("categorical: log_prob", log_prob, batch.num_rows)?;
        let (action, out) = args_beside((action, out), &read)?;
        Ok(categorical::log_prob(&batch, action, out)?)
    })
}

/// Entropy of each row in nats. entropy: [B] to write.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_categorical_entropy(batch: *const rlcore_logits, entropy: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let (batch, _, read) = self::batch(batch)?;
        let out = Output::at("categorical: entropy", entropy, batch.num_rows)?;
        let out = args_beside(out, &read)?;
        Ok(categorical::entropy(&batch, out)?)
    })
}

/// Draws actions: the first option whose cumulative probability exceeds the uniform number.
/// uniform: [B, K] from 0 to 1; may be NULL with RLCORE_SAMPLING_GREEDY. action: [B, K] to write.
/// E_CONFIG or E_RANGE for sampling.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_categorical_sample(
    batch: *const rlcore_logits,
    sampling: *const rlcore_sampling,
    uniform: *const f32,
    action: *mut i32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, num_actions, read) = self::batch(batch)?;
        let sampling = crate::sampling::sampling(sampling)?;
        let uniform = match uniform.is_null() && sampling == Sampling::Greedy {
            true => None,
            false => Some(Input::at("categorical: uniform", uniform, num_actions)?),
        };
        let out = Output::at("categorical: action", action, num_actions)?;
        let (uniform, out) = args_beside((uniform, out), &read)?;
        Ok(categorical::sample(&batch, sampling, uniform.unwrap_or(&[]), out)?)
    })
}
