//! Value targets over several steps.

use crate::kernels::{Arrays, rlcore_rollout};
use crate::ptr::{self, Extent, Input, Output, apart};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::targets::{self, OffPolicy};

/// Lambda returns: all n-step returns of a step, weighted with (1 - td_lambda) * td_lambda^(n-1), the last with what
/// remains.
///   value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
/// where value_target[t+1] is next[t] if step t ended an episode or was the last, and next is as in rlcore_gae.
/// value_target: [T, N] to write, apart from all inputs.
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lambda_returns(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        lambda_returns(&r, (0, r.num_envs), discount, td_lambda, value_target)
    })
}

/// As rlcore_lambda_returns for the environments [begin, end), as rlcore_gae_range is of rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lambda_returns_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    td_lambda: f32,
    begin: u32,
    end: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { lambda_returns(&ptr::sized(rollout)?, (begin, end), discount, td_lambda, value_target) })
}

/// TD(lambda): lambda returns, and the errors of the values against them. Both outputs [T, N]; neither may overlap an
/// input or the other.
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
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        td(&r, (0, r.num_envs), discount, td_lambda, td_error, value_target)
    })
}

/// As rlcore_td_lambda for the environments [begin, end), as rlcore_gae_range is of rlcore_gae.
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
    call(|| unsafe { td(&ptr::sized(rollout)?, (begin, end), discount, td_lambda, td_error, value_target) })
}

/// Returns over n steps: discounted rewards of up to n steps, fewer where the episode or the rollout ends before, then the
/// value of what they led to. n = T or more gives whole returns; time grows with n up to there.
///   value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
/// next is as in rlcore_gae. value_target: [T, N] to write, apart from all inputs.
/// Errors: as rlcore_gae; E_RANGE if n is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_n_step_returns(
    rollout: *const rlcore_rollout,
    discount: f32,
    n: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        n_step_returns(&r, (0, r.num_envs), discount, n, value_target)
    })
}

/// As rlcore_n_step_returns for the environments [begin, end), as rlcore_gae_range is of rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_n_step_returns_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    n: u32,
    begin: u32,
    end: u32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { n_step_returns(&ptr::sized(rollout)?, (begin, end), discount, n, value_target) })
}

/// Upgoing policy updates: returns that follow the episode for as long as its actions turn out no worse than expected, and
/// their advantages. Both outputs [T, N]; neither may overlap an input or the other.
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
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        upgo(&r, (0, r.num_envs), discount, advantage, value_target)
    })
}

/// As rlcore_upgo for the environments [begin, end), as rlcore_gae_range is of rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_upgo_range(
    rollout: *const rlcore_rollout,
    discount: f32,
    begin: u32,
    end: u32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe { upgo(&ptr::sized(rollout)?, (begin, end), discount, advantage, value_target) })
}

/// Retrace(lambda): targets for the values of the actions that another policy took, and their errors.
///   q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
///   c           = td_lambda * min(1, exp(log_rho))
///   td_error    = q_target - q
/// where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
/// rollout: its values are what the target policy expects, the sum of its probabilities times the action values.
/// q: [T, N] Q(obs[t], action[t]). log_rho: [T, N] log probability of action[t] under the target policy minus that under
/// the behaviour policy; row 0 is never read. Both outputs [T, N]; neither may overlap an input or the other.
/// Errors: as rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_retrace(
    rollout: *const rlcore_rollout,
    q: *const f32,
    log_rho: *const f32,
    discount: f32,
    td_lambda: f32,
    td_error: *mut f32,
    q_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let r = ptr::sized(rollout)?;
        retrace(&r, (q, log_rho), (0, r.num_envs), discount, td_lambda, td_error, q_target)
    })
}

/// As rlcore_retrace for the environments [begin, end), as rlcore_gae_range is of rlcore_gae.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_retrace_range(
    rollout: *const rlcore_rollout,
    q: *const f32,
    log_rho: *const f32,
    discount: f32,
    td_lambda: f32,
    begin: u32,
    end: u32,
    td_error: *mut f32,
    q_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        retrace(&ptr::sized(rollout)?, (q, log_rho), (begin, end), discount, td_lambda, td_error, q_target)
    })
}

type Range = (u32, u32);

/// # Safety
/// Here and below: as the functions above.
unsafe fn lambda_returns(
    r: &rlcore_rollout,
    (begin, end): Range,
    discount: f32,
    td_lambda: f32,
    value_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let value_target = unsafe { Output::at("value_target", value_target, arrays.len)? };
    apart(&[value_target.extent()], &arrays.extents())?;
    let columns = arrays.columns(begin, end)?;
    Ok(targets::lambda_returns_range(&arrays.rollout(), columns, discount, td_lambda, value_target.cells())?)
}

unsafe fn td(
    r: &rlcore_rollout,
    (begin, end): Range,
    discount: f32,
    td_lambda: f32,
    td_error: *mut f32,
    value_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let td_error = unsafe { Output::at("td_error", td_error, arrays.len)? };
    let value_target = unsafe { Output::at("value_target", value_target, arrays.len)? };
    apart(&[td_error.extent(), value_target.extent()], &arrays.extents())?;
    let columns = arrays.columns(begin, end)?;
    let outputs = (td_error.cells(), value_target.cells());
    Ok(targets::td_lambda_range(&arrays.rollout(), columns, discount, td_lambda, outputs.0, outputs.1)?)
}

unsafe fn n_step_returns(
    r: &rlcore_rollout,
    (begin, end): Range,
    discount: f32,
    n: u32,
    value_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let value_target = unsafe { Output::at("value_target", value_target, arrays.len)? };
    apart(&[value_target.extent()], &arrays.extents())?;
    let columns = arrays.columns(begin, end)?;
    Ok(targets::n_step_returns_range(&arrays.rollout(), columns, discount, n as usize, value_target.cells())?)
}

unsafe fn upgo(
    r: &rlcore_rollout,
    (begin, end): Range,
    discount: f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let advantage = unsafe { Output::at("advantage", advantage, arrays.len)? };
    let value_target = unsafe { Output::at("value_target", value_target, arrays.len)? };
    apart(&[advantage.extent(), value_target.extent()], &arrays.extents())?;
    let columns = arrays.columns(begin, end)?;
    Ok(targets::upgo_range(&arrays.rollout(), columns, discount, advantage.cells(), value_target.cells())?)
}

unsafe fn retrace(
    r: &rlcore_rollout,
    (q, log_rho): (*const f32, *const f32),
    (begin, end): Range,
    discount: f32,
    td_lambda: f32,
    td_error: *mut f32,
    q_target: *mut f32,
) -> Result {
    let arrays = unsafe { Arrays::of(r)? };
    let q = unsafe { Input::at("q", q, arrays.len)? };
    let log_rho = unsafe { Input::at("log_rho", log_rho, arrays.len)? };
    let td_error = unsafe { Output::at("td_error", td_error, arrays.len)? };
    let q_target = unsafe { Output::at("q_target", q_target, arrays.len)? };
    let [a, b, c, d, e, f] = arrays.extents();
    let inputs: [Extent; 8] = [a, b, c, d, e, f, q.extent(), log_rho.extent()];
    apart(&[td_error.extent(), q_target.extent()], &inputs)?;
    let columns = arrays.columns(begin, end)?;
    let actions = OffPolicy { q: q.slice(), log_rho: log_rho.slice() };
    let outputs = (td_error.cells(), q_target.cells());
    Ok(targets::retrace_range(&arrays.rollout(), actions, columns, discount, td_lambda, outputs.0, outputs.1)?)
}
