//! Advantages and returns.

use core::mem::offset_of;

use crate::ptr::{self, Extent, Input, Output, Versioned, apart};
use crate::status::{call, rlcore_status};
use rlcore::kernels::gae::{self, Rollout};
use rlcore::kernels::returns;

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
    /// zero
    pub reserved: u32,
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
    const MIN_SIZE: usize = offset_of!(rlcore_rollout, final_value) + size_of::<*const f32>();
    fn defaults() -> Self {
        use core::ptr::null;
        rlcore_rollout {
            struct_size: size_of::<Self>() as u32,
            num_steps: 0,
            num_envs: 0,
            reserved: 0,
            reward: null(),
            value: null(),
            bootstrap_value: null(),
            terminated: null(),
            truncated: null(),
            final_value: null(),
        }
    }
}

/// Generalised advantage estimation. Both outputs [T, N]; neither may overlap an input or the other.
///   next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
///   delta[t]     = reward[t] + discount * next[t] - value[t]
///   advantage[t] = delta[t] + discount * lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
///   value_target = advantage + value
/// Errors: E_NULL; E_ALIGN; E_CONFIG; E_SHAPE if T or N is 0; E_OVERFLOW; E_OVERLAP; E_RANGE for a discount or lambda
/// outside [0, 1]; E_VALUE for a number that is read and not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gae(
    rollout: *const rlcore_rollout,
    discount: f32,
    lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        ptr::reserved("rollout: reserved", r.reserved)?;
        let (num_steps, num_envs) = (r.num_steps as usize, r.num_envs as usize);
        let len = ptr::grid("rollout", num_steps, num_envs)?;
        let reward = Input::at("rollout: reward", r.reward, len)?;
        let value = Input::at("rollout: value", r.value, len)?;
        let bootstrap_value = Input::at("rollout: bootstrap_value", r.bootstrap_value, num_envs)?;
        let terminated = Input::at("rollout: terminated", r.terminated, len)?;
        let truncated = Input::at("rollout: truncated", r.truncated, len)?;
        let final_value = Input::optional("rollout: final_value", r.final_value, len)?;
        let advantage = Output::at("advantage", advantage, len)?;
        let value_target = Output::at("value_target", value_target, len)?;
        let inputs = [
            reward.extent(),
            value.extent(),
            bootstrap_value.extent(),
            terminated.extent(),
            truncated.extent(),
            final_value.as_ref().map_or(Extent::NONE, Input::extent),
        ];
        apart(&[advantage.extent(), value_target.extent()], &inputs)?;
        let rollout = Rollout {
            num_steps,
            num_envs,
            reward: reward.slice(),
            value: value.slice(),
            bootstrap_value: bootstrap_value.slice(),
            terminated: terminated.slice(),
            truncated: truncated.slice(),
            final_value: final_value.map(Input::slice),
        };
        Ok(gae::gae(&rollout, discount, lambda, advantage.slice(), value_target.slice())?)
    })
}

/// Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x: [T, N]; out: [T, N] to write.
/// Errors: E_NULL; E_ALIGN; E_SHAPE if T or N is 0; E_OVERFLOW; E_OVERLAP; E_RANGE for a discount outside [0, 1]; E_VALUE
/// for a number that is not finite.
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
        let x = Input::at("discounted_sum: x", x, len)?;
        let out = Output::at("discounted_sum: out", out, len)?;
        apart(&[out.extent()], &[x.extent()])?;
        Ok(returns::discounted_sum(x.slice(), discount, num_steps, num_envs, out.slice())?)
    })
}
