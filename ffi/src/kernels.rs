//! Advantages and returns.

use crate::mirror::versioned;
use crate::ptr::{self, Cells, Extent, Input, args, args_beside};
use crate::status::{About, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::kernels::gae::{self, Accumulate, Rollout};
use rlcore::kernels::grid::Columns;
use rlcore::kernels::returns;

/// Precision of a recursion over time.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_accumulate {
    /// f32
    RLCORE_ACCUMULATE_F32 = 0,
    /// f64, rounded once to the output
    RLCORE_ACCUMULATE_F64 = 1,
}

use rlcore_accumulate::*;

/// T steps of N environments, time-major. Step t led from obs[t] to obs[t+1].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout {
    /// sizeof(rlcore_rollout)
    pub struct_size: u32,
    /// T, at least 1
    pub num_steps: u32,
    /// N, at least 1
    pub num_envs: u32,
    /// precision: an rlcore_accumulate; 0: f32
    pub accumulate: u32,
    /// [T, N]
    pub reward: *const f32,
    /// [T, N] V(obs[t])
    pub value: *const f32,
    /// [N] value of the observation after the last step
    pub bootstrap_value: *const f32,
    /// [T, N]
    pub terminated: *const u8,
    /// [T, N]
    pub truncated: *const u8,
    /// [T, N] V(final_obs), read only where truncated; may be NULL if no step is
    pub final_value: *const f32,
}

versioned!(rlcore_rollout, "rollout", final_value);

/// Generalized advantage estimation. Both outputs [T, N]; they must not overlap an input or each other.
///   next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
///   delta[t]     = reward[t] + discount * next[t] - value[t]
///   advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
///   value_target = advantage + value
/// Errors: E_CONFIG for struct_size or accumulate; E_SHAPE if T or N is 0; E_RANGE for a discount or gae_lambda outside
/// [0, 1]; E_VALUE for one that is NaN or infinite, and for an input that is not finite, which is detected during
/// computation: the outputs are then undefined. Large finite inputs may overflow to infinities or NaN, with RLCORE_OK.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gae(
    rollout: *const rlcore_rollout,
    discount: f32,
    gae_lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { estimate(rollout, None, discount, gae_lambda, advantage, value_target) })
}

/// As rlcore_gae for environments [begin, end). The arrays are those of the whole rollout; only these columns are read and
/// written. Results do not depend on the split.
/// Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
/// cache-aligned arrays.
/// Errors: as there; E_RANGE unless begin <= end <= num_envs.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gae_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    gae_lambda: f32,
    begin: u32,
    end: u32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { estimate(rollout, Some([begin, end]), discount, gae_lambda, advantage, value_target) })
}

/// # Safety
/// As the functions above.
unsafe fn estimate(
    rollout: *const rlcore_rollout,
    range: Range,
    discount: f32,
    gae_lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> Result {
    let (rollout, len, inputs) = unsafe { self::rollout(rollout)? };
    let outputs = unsafe { (Cells::at("advantage", advantage, len)?, Cells::at("value_target", value_target, len)?) };
    let (advantage, value_target) = args_beside(outputs, &inputs)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    Ok(gae::gae_range(&rollout, columns, discount, gae_lambda, advantage, value_target)?)
}

/// Environments [begin, end), or all.
pub type Range = Option<[u32; 2]>;

/// The columns of a range of `num_envs` environments. Errors: `Shape`, `Range`.
pub fn columns(num_steps: usize, num_envs: usize, range: Range) -> Result<Columns> {
    let [begin, end] = range.map_or([0, num_envs], |range| range.map(|i| i as usize));
    Ok(Columns::new(num_steps, num_envs, begin, end)?)
}

/// A rollout, T * N, and the extents of its arrays, which no output may overlap. Errors: `Null`, `Align`, `Config`, `Overflow`.
///
/// # Safety
/// As [`ptr::sized`], and as [`Input::at`] of every pointer.
pub unsafe fn rollout<'a>(p: *const rlcore_rollout) -> Result<(Rollout<'a>, usize, [Extent; 6])> {
    let r = unsafe { ptr::sized(p)? };
    let accumulate = accumulate("rollout: accumulate", r.accumulate)?;
    let (num_steps, num_envs) = (r.num_steps as usize, r.num_envs as usize);
    let len = ptr::grid("rollout", num_steps, num_envs)?;
    let inputs = unsafe {
        (
            Input::at("rollout: reward", r.reward, len)?,
            Input::at("rollout: value", r.value, len)?,
            Input::at("rollout: bootstrap_value", r.bootstrap_value, num_envs)?,
            Input::at("rollout: terminated", r.terminated, len)?,
            Input::at("rollout: truncated", r.truncated, len)?,
            Input::optional("rollout: final_value", r.final_value, len)?,
        )
    };
    let (extents, (reward, value, bootstrap_value, terminated, truncated, final_value)) = ptr::inputs(inputs);
    let rollout =
        Rollout { num_steps, num_envs, reward, value, bootstrap_value, terminated, truncated, final_value, accumulate };
    Ok((rollout, len, extents))
}

/// Precision of a recursion over time. Errors: `Config`.
pub fn accumulate(what: &'static str, number: u32) -> Result<Accumulate> {
    let unknown = Error::new(Kind::Config, "one of rlcore_accumulate").given(number as usize);
    Accumulate::from_number(number).ok_or(unknown).about(what)
}

const _: () = {
    assert!(RLCORE_ACCUMULATE_F32 as u32 == Accumulate::F32 as u32);
    assert!(RLCORE_ACCUMULATE_F64 as u32 == Accumulate::F64 as u32);
};

/// Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x, out: [T, N]; may be the same array.
/// Errors: E_SHAPE if T or N is 0; E_RANGE for a discount outside [0, 1]; E_VALUE for one that is NaN or infinite, and
/// for an x that is not finite, which is detected during computation: out is then undefined, unless it is x. Sums may
/// overflow to infinity, with RLCORE_OK.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_discounted_sum(
    x: *const f32,
    num_steps: u32,
    num_envs: u32,
    discount: f32,
    out: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (num_steps, num_envs) = (num_steps as usize, num_envs as usize);
        let len = ptr::grid("discounted_sum: x", num_steps, num_envs)?;
        let x = ptr::through("discounted_sum: x", x, "discounted_sum: out", out, len)?;
        match args(x)? {
            (Some(x), out) => returns::discounted_sum(x, discount, num_steps, num_envs, out)?,
            (None, out) => returns::discounted_sum_in_place(out, discount, num_steps, num_envs)?,
        }
        Ok(())
    })
}
