//! V-trace.

use crate::kernels::{Range, accumulate, columns};
use crate::lifecycle;
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, Cells, Extent, Input, args_beside};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::vtrace::{self, Outputs, Policies, Rates, VTrace};

/// T steps of N environments under the behavior policy, time-major, and the correction for the target policy. The arrays
/// are not owned and only read.
/// Example:
///   rlcore_vtrace_init(&v, sizeof v);
///   v.num_steps = T, v.num_envs = N, v.log_rho = log_rho;           // and the other arrays
///   rlcore_vtrace_from_importance_weights(&v, vs, pg_advantage);
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace {
    /// bytes; set by rlcore_vtrace_init
    pub struct_size: u32,
    /// T, at least 1
    pub num_steps: u32,
    /// N, at least 1
    pub num_envs: u32,
    /// precision: an rlcore_accumulate; 0 (default): f32
    pub accumulate: u32,
    /// [T, N] log pi(a) - log mu(a), finite; ignored by rlcore_vtrace_from_logits
    pub log_rho: *const f32,
    /// [T, N] each from 0 to 1, 0 where step t reached a terminal state
    pub discounts: *const f32,
    /// [T, N]
    pub reward: *const f32,
    /// [T, N] V(obs[t])
    pub value: *const f32,
    /// [N] value of the observation after the last step
    pub bootstrap_value: *const f32,
    /// [T, N] nonzero where step t was the last of a truncated episode; NULL: nowhere
    pub truncated: *const u8,
    /// [T, N] V(final_obs), read only where truncated and discounts > 0; NULL if nowhere
    pub final_value: *const f32,
    /// upper limit of the ratio that scales d, above 0; INFINITY: none; default 1
    pub clip_rho: f32,
    /// upper limit of the ratio that scales k, above 0; INFINITY: none; default 1
    pub clip_c: f32,
    /// upper limit of the ratio that scales pg_advantage, above 0; INFINITY: none; default 1
    pub clip_pg_rho: f32,
    /// decay of later differences, from 0 to 1; default 1
    pub td_lambda: f32,
    /// fraction of the excess over a limit that is kept, 0 (default) to 1: leaky V-trace
    pub leak: f32,
    /// zero
    pub reserved: u32,
}

/// The logits of both policies over A actions, and the actions taken.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace_logits {
    /// sizeof(rlcore_vtrace_logits)
    pub struct_size: u32,
    /// A, at least 1
    pub num_actions: u32,
    /// [T, N, A] mu, the behavior policy; finite
    pub behavior_logits: *const f32,
    /// [T, N, A] pi, the target policy; finite
    pub target_logits: *const f32,
    /// [T, N] each from 0 to A - 1
    pub action: *const i32,
}

/// Output arrays of rlcore_vtrace_from_logits; NULL skips an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace_out {
    /// sizeof(rlcore_vtrace_out)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T, N] targets of the value function
    pub vs: *mut f32,
    /// [T, N] weights of log pi(a) in the policy gradient
    pub pg_advantage: *mut f32,
    /// [T, N] log pi(a) - log mu(a)
    pub log_rho: *mut f32,
    /// [T, N] log mu(a)
    pub behavior_log_prob: *mut f32,
    /// [T, N] log pi(a)
    pub target_log_prob: *mut f32,
}

versioned!(rlcore_vtrace, "vtrace", reserved, Rates::default().into());
versioned!(rlcore_vtrace_logits, "vtrace logits", action);
versioned!(rlcore_vtrace_out, "vtrace out", target_log_prob);
mirror!(rlcore_vtrace, Rates { clip_rho, clip_c, clip_pg_rho, td_lambda, leak });

/// The caller's arrays without log-ratios, T * N, and their extents, which no output may overlap.
unsafe fn steps<'a>(c: &rlcore_vtrace) -> Result<(VTrace<'a>, usize, [Extent; 6])> {
    ptr::reserved("vtrace: reserved", c.reserved)?;
    let (accumulate, rates) = (accumulate("vtrace: accumulate", c.accumulate)?, (*c).into());
    let (num_steps, num_envs) = (c.num_steps as usize, c.num_envs as usize);
    let len = ptr::grid("vtrace", num_steps, num_envs)?;
    let inputs = unsafe {
        (
            Input::at("vtrace: discounts", c.discounts, len)?,
            Input::at("vtrace: reward", c.reward, len)?,
            Input::at("vtrace: value", c.value, len)?,
            Input::at("vtrace: bootstrap_value", c.bootstrap_value, num_envs)?,
            Input::optional("vtrace: truncated", c.truncated, len)?,
            Input::optional("vtrace: final_value", c.final_value, len)?,
        )
    };
    let (extents, (discounts, reward, value, bootstrap_value, truncated, final_value)) = ptr::inputs(inputs);
    let v = VTrace {
        num_steps,
        num_envs,
        discounts,
        reward,
        value,
        bootstrap_value,
        truncated,
        final_value,
        rates,
        accumulate,
    };
    Ok((v, len, extents))
}

/// Fills in the defaults: limits 1, td_lambda 1, leak 0, all pointers NULL. Writes v_size bytes, so that callers with an
/// older, smaller struct are safe. Errors: E_SIZE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_init(v: *mut rlcore_vtrace, v_size: usize) -> rlcore_status {
    unsafe { lifecycle::config_init(v, v_size) }
}

/// V-trace from log-ratios. vs, pg_advantage: [T, N] to write; NULL skips one. pg_advantage may be the array of log_rho.
///   rho[t]  = exp(log_rho[t]), at most e^88
///   next[t] = final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
///   d[t]    = reward[t] + discounts[t] * next[t] - value[t]
///   k[t]    = 0 where truncated and at T-1, else discounts[t] * td_lambda * acc[t+1]
///   acc[t]  = min(rho[t], clip_rho) * d[t] + min(rho[t], clip_c) * k[t]
///   vs      = value + acc
///   pg_advantage[t] = min(rho[t], clip_pg_rho) * (d[t] + k[t])
/// With lambda 1, d + k is reward[t] + discounts[t] * vs[t+1] - value[t]. With a leak, each min is min + leak * (rho - min).
/// Errors: E_NULL, also if a step is truncated and final_value is NULL; E_CONFIG for struct_size, accumulate or reserved;
/// E_SHAPE if T or N is 0; E_RANGE for a discount, td_lambda or leak outside [0, 1] or a limit that is not above 0;
/// E_VALUE for a parameter that is NaN or infinite, and for an input that is read and not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_importance_weights(
    v: *const rlcore_vtrace,
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> rlcore_status {
    call(|| unsafe { from_importance_weights(v, None, vs, pg_advantage) })
}

/// As rlcore_vtrace_from_importance_weights for environments [begin, end). The arrays are those of the whole batch; only
/// these columns are read and written. Results do not depend on the split.
/// Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
/// cache-aligned arrays.
/// Errors: as there; E_RANGE unless begin <= end <= num_envs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_importance_weights_range(
    v: *const rlcore_vtrace,
    begin: u32,
    end: u32,
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> rlcore_status {
    call(|| unsafe { from_importance_weights(v, Some([begin, end]), vs, pg_advantage) })
}

/// # Safety
/// As the functions above.
unsafe fn from_importance_weights(
    v: *const rlcore_vtrace,
    range: Range,
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> Result {
    unsafe {
        let c = ptr::sized(v)?;
        let (v, len, read) = steps(&c)?;
        let log_rho = Input::at("vtrace: log_rho", c.log_rho, len)?;
        let given = if pg_advantage.addr() == c.log_rho.addr() { None } else { Some(log_rho) };
        let vs = Cells::optional("vtrace: vs", vs, len)?;
        let pg_advantage = Cells::optional("vtrace: pg_advantage", pg_advantage, len)?;
        let (given, vs, pg_advantage) = args_beside((given, vs, pg_advantage), &read)?;
        let log_rho = if given.is_none() { pg_advantage } else { None };
        let out = Outputs { vs, pg_advantage, log_rho, ..Outputs::default() };
        Ok(vtrace::from_importance_weights_range(&v, given, columns(v.num_steps, v.num_envs, range)?, &out)?)
    }
}

/// V-trace from the logits of both policies. Log-probabilities are log-softmax, at least -1.7e38; log_rho is their
/// difference; everything else is as rlcore_vtrace_from_importance_weights.
/// Errors: as there; E_SHAPE if A is 0; E_RANGE for an action out of range; E_VALUE for a logit that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_logits(
    v: *const rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    out: *const rlcore_vtrace_out,
) -> rlcore_status {
    call(|| unsafe { from_logits(v, logits, None, out) })
}

/// As rlcore_vtrace_from_logits for environments [begin, end); threads and errors as
/// rlcore_vtrace_from_importance_weights_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_logits_range(
    v: *const rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    begin: u32,
    end: u32,
    out: *const rlcore_vtrace_out,
) -> rlcore_status {
    call(|| unsafe { from_logits(v, logits, Some([begin, end]), out) })
}

/// # Safety
/// As the functions above.
unsafe fn from_logits(
    v: *const rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    range: Range,
    out: *const rlcore_vtrace_out,
) -> Result {
    unsafe {
        let (v, len, read) = steps(&ptr::sized(v)?)?;
        let (logits, out) = (ptr::sized(logits)?, ptr::sized(out)?);
        ptr::reserved("vtrace out: reserved", out.reserved)?;
        let num_actions = logits.num_actions as usize;
        let num_logits = ptr::grid("vtrace: logits", len, num_actions)?;
        let inputs = (
            Input::at("vtrace: behavior_logits", logits.behavior_logits, num_logits)?,
            Input::at("vtrace: target_logits", logits.target_logits, num_logits)?,
            Input::at("vtrace: action", logits.action, len)?,
        );
        let outputs = [
            Cells::optional("vtrace: vs", out.vs, len)?,
            Cells::optional("vtrace: pg_advantage", out.pg_advantage, len)?,
            Cells::optional("vtrace: log_rho", out.log_rho, len)?,
            Cells::optional("vtrace: behavior_log_prob", out.behavior_log_prob, len)?,
            Cells::optional("vtrace: target_log_prob", out.target_log_prob, len)?,
        ];
        let ((behavior_logits, target_logits, action), outputs) = args_beside((inputs, outputs), &read)?;
        let policies = Policies { num_actions, behavior_logits, target_logits, action };
        let [vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob] = outputs;
        let out = Outputs { vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob };
        Ok(vtrace::from_logits(&v, &policies, columns(v.num_steps, v.num_envs, range)?, &out)?)
    }
}
