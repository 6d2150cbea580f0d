//! Value targets over several steps.

use crate::kernels::{self, Range, columns, rlcore_rollout};
use crate::mirror::versioned;
use crate::ptr::{self, Cells, Input, args_beside};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::targets::{self, OffPolicy};

/// Q and the target policy of a rollout whose actions another policy chose. The arrays are not owned and only read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_off_policy {
    /// sizeof(rlcore_off_policy)
    pub struct_size: u32,
    /// 0 to 1
    pub discount: f32,
    /// 0 to 1
    pub td_lambda: f32,
    /// zero
    pub reserved: u32,
    /// [T, N] Q(obs[t], action[t])
    pub q: *const f32,
    /// [T, N] log-probability of action[t], target less behavior policy; row 0 is never read
    pub log_rho: *const f32,
}

versioned!(rlcore_off_policy, "off policy", log_rho);

/// Lambda returns: the n-step returns weighted with (1 - td_lambda) * td_lambda^(n-1), the last with the remaining weight.
///   value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
/// where value_target[t+1] is next[t] if step t ended an episode or was the last, and next is as in rlcore_gae.
/// value_target: [T, N] to write; must not overlap an input.
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lambda_returns(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { lambda_returns(rollout, None, discount, td_lambda, value_target) })
}

/// As rlcore_lambda_returns for environments [begin, end); ranges and threads as rlcore_gae_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lambda_returns_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    begin: u32,
    end: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { lambda_returns(rollout, Some([begin, end]), discount, td_lambda, value_target) })
}

/// TD(lambda): lambda returns and TD errors. Both outputs [T, N]; they must not overlap an input or each other.
///   value_target = as rlcore_lambda_returns
///   td_error     = value_target - value, which is the advantage of rlcore_gae up to rounding
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_td_lambda(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    td_error: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { td(rollout, None, discount, td_lambda, td_error, value_target) })
}

/// As rlcore_td_lambda for environments [begin, end); ranges and threads as rlcore_gae_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_td_lambda_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    begin: u32,
    end: u32,
    td_error: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { td(rollout, Some([begin, end]), discount, td_lambda, td_error, value_target) })
}

/// n-step returns: discounted rewards of up to n steps, fewer if the episode or the rollout ends before, plus the
/// discounted value of the state reached. n >= T gives full returns; run time grows with n up to T.
///   value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
/// next is as in rlcore_gae. value_target: [T, N] to write; must not overlap an input.
/// Errors: as rlcore_gae; E_RANGE if n is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_n_step_returns(
    rollout: *const rlcore_rollout,
    discount: f32,
    n: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { n_step_returns(rollout, None, discount, n, value_target) })
}

/// As rlcore_n_step_returns for environments [begin, end); ranges and threads as rlcore_gae_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_n_step_returns_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    n: u32,
    begin: u32,
    end: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { n_step_returns(rollout, Some([begin, end]), discount, n, value_target) })
}

/// UPGO (upgoing policy update): returns that follow the trajectory while its actions are at least as good as expected, and
/// their advantages. Both outputs [T, N]; they must not overlap an input or each other.
///   value_target[t] = reward[t] + discount * (value_target[t+1] if reward[t+1] + discount * next[t+1] >= value[t+1],
///                                             else value[t+1])
///   advantage       = value_target - value
/// where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_upgo(
    rollout: *const rlcore_rollout,
    discount: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { upgo(rollout, None, discount, advantage, value_target) })
}

/// As rlcore_upgo for environments [begin, end); ranges and threads as rlcore_gae_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_upgo_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    begin: u32,
    end: u32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { upgo(rollout, Some([begin, end]), discount, advantage, value_target) })
}

/// Retrace(lambda): off-policy targets for action values, and their errors.
///   q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
///   c           = td_lambda * min(1, exp(log_rho))
///   td_error    = q_target - q
/// where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
/// rollout: its values are expected action values under the target policy. Both outputs [T, N]; they must not overlap
///          an input or each other.
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_retrace(
    rollout: *const rlcore_rollout,
    off_policy: *const rlcore_off_policy,
    td_error: *mut f32,
    q_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { retrace(rollout, off_policy, None, td_error, q_target) })
}

/// As rlcore_retrace for environments [begin, end); ranges and threads as rlcore_gae_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_retrace_range(
    rollout: *const rlcore_rollout,
    off_policy: *const rlcore_off_policy,
    begin: u32,
    end: u32,
    td_error: *mut f32,
    q_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { retrace(rollout, off_policy, Some([begin, end]), td_error, q_target) })
}

/// # Safety
/// Here and below: as the functions above.
unsafe fn lambda_returns(
    rollout: *const rlcore_rollout,
    range: Range,
    discount: f32,
    td_lambda: f32,
    value_target: *mut f32,
) -> Result {
    let (rollout, len, read) = unsafe { kernels::rollout(rollout)? };
    let value_target = unsafe { Cells::at("value_target", value_target, len)? };
    let value_target = args_beside(value_target, &read)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    Ok(targets::lambda_returns_range(&rollout, columns, discount, td_lambda, value_target)?)
}

unsafe fn td(
    rollout: *const rlcore_rollout,
    range: Range,
    discount: f32,
    td_lambda: f32,
    td_error: *mut f32,
    value_target: *mut f32,
) -> Result {
    let (rollout, len, read) = unsafe { kernels::rollout(rollout)? };
    let outputs = unsafe { (Cells::at("td_error", td_error, len)?, Cells::at("value_target", value_target, len)?) };
    let (td_error, value_target) = args_beside(outputs, &read)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    Ok(targets::td_lambda_range(&rollout, columns, discount, td_lambda, td_error, value_target)?)
}

unsafe fn n_step_returns(
    rollout: *const rlcore_rollout,
    range: Range,
    discount: f32,
    n: u32,
    value_target: *mut f32,
) -> Result {
    let (rollout, len, read) = unsafe { kernels::rollout(rollout)? };
    let value_target = unsafe { Cells::at("value_target", value_target, len)? };
    let value_target = args_beside(value_target, &read)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    Ok(targets::n_step_returns_range(&rollout, columns, discount, n as usize, value_target)?)
}

unsafe fn upgo(
    rollout: *const rlcore_rollout,
    range: Range,
    discount: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> Result {
    let (rollout, len, read) = unsafe { kernels::rollout(rollout)? };
    let outputs = unsafe { (Cells::at("advantage", advantage, len)?, Cells::at("value_target", value_target, len)?) };
    let (advantage, value_target) = args_beside(outputs, &read)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    Ok(targets::upgo_range(&rollout, columns, discount, advantage, value_target)?)
}

unsafe fn retrace(
    rollout: *const rlcore_rollout,
    off_policy: *const rlcore_off_policy,
    range: Range,
    td_error: *mut f32,
    q_target: *mut f32,
) -> Result {
    let (rollout, len, read) = unsafe { kernels::rollout(rollout)? };
    let rlcore_off_policy { q, log_rho, discount, td_lambda, reserved, .. } = unsafe { ptr::sized(off_policy)? };
    ptr::reserved("off policy: reserved", reserved)?;
    let inputs = unsafe { (Input::at("q", q, len)?, Input::at("log_rho", log_rho, len)?) };
    let outputs = unsafe { (Cells::at("td_error", td_error, len)?, Cells::at("q_target", q_target, len)?) };
    let ((q, log_rho), (td_error, q_target)) = args_beside((inputs, outputs), &read)?;
    let columns = columns(rollout.num_steps, rollout.num_envs, range)?;
    let actions = OffPolicy { q, log_rho };
    Ok(targets::retrace_range(&rollout, actions, columns, discount, td_lambda, td_error, q_target)?)
}
