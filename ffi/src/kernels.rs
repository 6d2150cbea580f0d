//! Advantages and returns, and arrays the other way round.

use core::mem::offset_of;

use crate::ptr::{self, Extent, Input, Output, Through, Versioned, apart};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::kernels::gae::{self, Accumulate, Rollout};
use rlcore::kernels::grid::Columns;
use rlcore::kernels::returns;

/// What a recursion over time is summed in.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_accumulate {
    /// f32: at the speed of memory
    RLCORE_ACCUMULATE_F32 = 0,
    /// f64, rounded once to what is written
    RLCORE_ACCUMULATE_F64 = 1,
}

use rlcore_accumulate::*;

/// What N environments did in T steps, time-major. Step t led from obs[t] to obs[t+1].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout {
    /// sizeof(rlcore_rollout)
    pub struct_size: u32,
    /// T, at least 1
    pub num_steps: u32,
    /// N, at least 1
    pub num_envs: u32,
    /// what the recursion is summed in: an rlcore_accumulate; 0 is f32
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
    /// [T, N] V(final_obs), read only where truncated; NULL only if nothing is
    pub final_value: *const f32,
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_rollout {
    const WHAT: &'static str = "rollout";
    const MIN_SIZE: usize = offset_of!(Self, final_value) + size_of::<*const f32>();
}

/// Generalised advantage estimation. Both outputs [T, N]; neither may overlap an input or the other.
///   next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
///   delta[t]     = reward[t] + discount * next[t] - value[t]
///   advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
///   value_target = advantage + value
/// Errors: E_NULL; E_ALIGN; E_CONFIG for another struct_size or accumulate; E_SHAPE if T or N is 0; E_OVERFLOW;
/// E_OVERLAP; E_RANGE for a discount or gae_lambda outside [0, 1]; E_VALUE for one that is NaN or infinite, and for a
/// number that is read and not finite, which is found while computing: the outputs then hold nothing of meaning. Finite
/// numbers near the end of f32 may overflow, to infinities or NaN in the outputs, with RLCORE_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gae(
    rollout: *const rlcore_rollout,
    discount: f32,
    gae_lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        estimate(&r, (0, r.num_envs), discount, gae_lambda, advantage, value_target)
    })
}

/// As rlcore_gae for the environments [begin, end): all arrays are those of the whole rollout, only these columns are read
/// and written, and results do not depend on the split.
/// Threads: calls on disjoint ranges may run at once. Ranges that begin at multiples of 16 share no cache line of arrays
/// that begin on one.
/// Errors: as there; E_RANGE unless begin <= end <= num_envs.
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
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        estimate(&r, (begin, end), discount, gae_lambda, advantage, value_target)
    })
}

/// # Safety
/// As the functions above.
unsafe fn estimate(
    r: &rlcore_rollout,
    (begin, end): (u32, u32),
    discount: f32,
    gae_lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let advantage = unsafe { Output::at("advantage", advantage, arrays.len)? };
    let value_target = unsafe { Output::at("value_target", value_target, arrays.len)? };
    apart(&[advantage.extent(), value_target.extent()], &arrays.extents())?;
    let columns = arrays.columns(begin, end)?;
    Ok(gae::gae_range(&arrays.rollout(), columns, discount, gae_lambda, advantage.cells(), value_target.cells())?)
}

/// The arrays of a rollout, checked but not touched yet.
pub struct Arrays<'a> {
    num_steps: usize,
    num_envs: usize,
    /// T times N.
    pub len: usize,
    reward: Input<'a, f32>,
    value: Input<'a, f32>,
    bootstrap_value: Input<'a, f32>,
    terminated: Input<'a, u8>,
    truncated: Input<'a, u8>,
    final_value: Option<Input<'a, f32>>,
    accumulate: Accumulate,
}

impl<'a> Arrays<'a> {
    /// Errors: `Config`, `Overflow`, `Null`, `Align`.
    ///
    /// # Safety
    /// As [`Input::at`] of every pointer.
    pub unsafe fn of(r: &rlcore_rollout) -> Result<Self> {
        let accumulate = accumulate("rollout: accumulate", r.accumulate)?;
        let (num_steps, num_envs) = (r.num_steps as usize, r.num_envs as usize);
        let len = ptr::grid("rollout", num_steps, num_envs)?;
        unsafe {
            Ok(Arrays {
                num_steps,
                num_envs,
                len,
                reward: Input::at("rollout: reward", r.reward, len)?,
                value: Input::at("rollout: value", r.value, len)?,
                bootstrap_value: Input::at("rollout: bootstrap_value", r.bootstrap_value, num_envs)?,
                terminated: Input::at("rollout: terminated", r.terminated, len)?,
                truncated: Input::at("rollout: truncated", r.truncated, len)?,
                final_value: Input::optional("rollout: final_value", r.final_value, len)?,
                accumulate,
            })
        }
    }

    /// What no output may touch.
    pub fn extents(&self) -> [Extent; 6] {
        [
            self.reward.extent(),
            self.value.extent(),
            self.bootstrap_value.extent(),
            self.terminated.extent(),
            self.truncated.extent(),
            self.final_value.as_ref().map_or(Extent::NONE, Input::extent),
        ]
    }

    /// Environments [begin, end) of it. Errors: `Shape`, `Range`.
    pub fn columns(&self, begin: u32, end: u32) -> Result<Columns> {
        Ok(Columns::new(self.num_steps, self.num_envs, begin as usize, end as usize)?)
    }

    /// The arrays.
    pub fn rollout(self) -> Rollout<'a> {
        Rollout {
            num_steps: self.num_steps,
            num_envs: self.num_envs,
            reward: self.reward.slice(),
            value: self.value.slice(),
            bootstrap_value: self.bootstrap_value.slice(),
            terminated: self.terminated.slice(),
            truncated: self.truncated.slice(),
            final_value: self.final_value.map(Input::slice),
            accumulate: self.accumulate,
        }
    }
}

/// What sums are made in. Errors: `Config`.
pub fn accumulate(what: &'static str, number: u32) -> Result<Accumulate> {
    let unknown = Error::new(Kind::Config, "one of rlcore_accumulate").given(number as usize);
    Accumulate::from_number(number).ok_or_else(|| Fault::at(what, unknown))
}

const _: () = {
    assert!(RLCORE_ACCUMULATE_F32 as u32 == Accumulate::F32 as u32);
    assert!(RLCORE_ACCUMULATE_F64 as u32 == Accumulate::F64 as u32);
};

/// Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x, out: [T, N]; may be the same array.
/// Errors: E_NULL; E_ALIGN; E_SHAPE if T or N is 0; E_OVERFLOW; E_OVERLAP; E_RANGE for a discount outside [0, 1]; E_VALUE
/// for one that is NaN or infinite, and for a number that is not finite, which is found while computing: out then holds
/// nothing of meaning, unless it is x. Sums may overflow to infinity, with RLCORE_OK.
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
        let x = Through::at("discounted_sum: x", x, "discounted_sum: out", out, len)?;
        apart(&[x.output()], &[x.input()])?;
        match x.arrays() {
            (Some(x), out) => returns::discounted_sum(x, discount, num_steps, num_envs, out)?,
            (None, out) => returns::discounted_sum_in_place(out, discount, num_steps, num_envs)?,
        }
        Ok(())
    })
}
