//! Advantages of rollouts with one flag per observation, as in older code.

use crate::kernels::accumulate;
use crate::mirror::versioned;
use crate::ptr::{self, Input, Output, args};
use crate::status::{call, rlcore_status};
use rlcore::kernels::gae::{self, ShiftedRollout};

/// A rollout with one flag per observation, as in older code: done[t] means that obs[t] starts a new episode; done[0] is
/// never read. This form cannot distinguish truncated from terminated episodes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_shifted_rollout {
    /// sizeof(rlcore_shifted_rollout)
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
    /// [T, N] 0 or 1; values in between mask partially
    pub done: *const f32,
    /// [N] value of the observation after the last step
    pub next_value: *const f32,
    /// [N] whether that observation starts a new episode
    pub next_done: *const f32,
}

versioned!(rlcore_shifted_rollout, "shifted rollout", next_done);

/// As rlcore_gae, for a rollout in the older form. Use rlcore_gae if episodes are truncated. Both outputs [T, N]; they must
/// not overlap an input or each other.
///   live[t]      = 1 - done[t+1] (next_done at T-1)
///   delta[t]     = reward[t] + discount * live[t] * value[t+1] (next_value at T-1) - value[t]
///   advantage[t] = delta[t] + discount * gae_lambda * live[t] * (0 if t = T-1, else advantage[t+1])
///   value_target = advantage + value
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gae_shifted(
    rollout: *const rlcore_shifted_rollout,
    discount: f32,
    gae_lambda: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        let (num_steps, num_envs) = (r.num_steps as usize, r.num_envs as usize);
        let len = ptr::grid("shifted rollout", num_steps, num_envs)?;
        let inputs = [
            Input::at("shifted rollout: reward", r.reward, len)?,
            Input::at("shifted rollout: value", r.value, len)?,
            Input::at("shifted rollout: done", r.done, len)?,
            Input::at("shifted rollout: next_value", r.next_value, num_envs)?,
            Input::at("shifted rollout: next_done", r.next_done, num_envs)?,
        ];
        let outputs = [Output::at("advantage", advantage, len)?, Output::at("value_target", value_target, len)?];
        let ([reward, value, done, next_value, next_done], [advantage, value_target]) = args((inputs, outputs))?;
        let accumulate = accumulate("rollout: accumulate", r.accumulate)?;
        let rollout = ShiftedRollout { num_steps, num_envs, reward, value, done, next_value, next_done, accumulate };
        Ok(gae::gae_shifted(&rollout, discount, gae_lambda, advantage, value_target)?)
    })
}
