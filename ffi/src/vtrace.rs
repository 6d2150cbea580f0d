//! V-trace.

use core::mem::offset_of;

use crate::kernels::accumulate;
use crate::mirror::mirror;
use crate::ptr::{self, Extent, Input, Output, Versioned, apart};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::grid::Columns;
use rlcore::kernels::vtrace::{self, Outputs, Policies, Rates, VTrace};

/// What N environments did in T steps under the policy that acted, time-major, and how to correct for the policy that
/// learns. Arrays are read only and the caller's own.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace {
    /// bytes; set by rlcore_vtrace_init
    pub struct_size: u32,
    /// T, at least 1
    pub num_steps: u32,
    /// N, at least 1
    pub num_envs: u32,
    /// what the recursion is summed in: an rlcore_accumulate; 0 (default) is f32
    pub accumulate: u32,
    /// [T, N] log pi(a) - log mu(a), finite; not looked at by rlcore_vtrace_from_logits
    pub log_rho: *const f32,
    /// [T, N] each from 0 to 1, 0 where step t reached a terminal state
    pub discounts: *const f32,
    /// [T, N]
    pub reward: *const f32,
    /// [T, N] V(obs[t])
    pub value: *const f32,
    /// [N] value of the observation after the last step
    pub bootstrap_value: *const f32,
    /// [T, N] nonzero where step t was the last of an episode that was cut; NULL: none is
    pub truncated: *const u8,
    /// [T, N] V(final_obs), read only where truncated and discounts is above 0, else NULL
    pub final_value: *const f32,
    /// ceiling of the ratio that scales d, above 0, INFINITY for none; default 1
    pub clip_rho: f32,
    /// ceiling of the ratio that carries k back, above 0, INFINITY for none; default 1
    pub clip_c: f32,
    /// ceiling of the ratio that scales pg_advantage, above 0, INFINITY for none; default 1
    pub clip_pg_rho: f32,
    /// decay of later differences, from 0 to 1; default 1
    pub td_lambda: f32,
    /// share of what ceilings cut off that comes through, 0 (default) to 1: leaky V-trace
    pub leak: f32,
    /// zero
    pub reserved: u32,
}

/// The logits of both policies over A actions, and what was done.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace_logits {
    /// sizeof(rlcore_vtrace_logits)
    pub struct_size: u32,
    /// A, at least 1
    pub num_actions: u32,
    /// [T, N, A] mu, the policy that acted; finite
    pub behaviour_logits: *const f32,
    /// [T, N, A] pi, the policy that learns; finite
    pub target_logits: *const f32,
    /// [T, N] each from 0 to A - 1
    pub action: *const i32,
}

/// Where rlcore_vtrace_from_logits writes; NULL skips an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vtrace_out {
    /// sizeof(rlcore_vtrace_out)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T, N] targets of the value function
    pub vs: *mut f32,
    /// [T, N] what log pi(a) is to be weighted with
    pub pg_advantage: *mut f32,
    /// [T, N] log pi(a) - log mu(a)
    pub log_rho: *mut f32,
    /// [T, N] log mu(a)
    pub behaviour_log_prob: *mut f32,
    /// [T, N] log pi(a)
    pub target_log_prob: *mut f32,
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_vtrace {
    const WHAT: &'static str = "vtrace";
    const MIN_SIZE: usize = offset_of!(Self, reserved) + size_of::<u32>();
    fn defaults() -> Self {
        Rates::default().into()
    }
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_vtrace_logits {
    const WHAT: &'static str = "vtrace logits";
    const MIN_SIZE: usize = offset_of!(Self, action) + size_of::<*const i32>();
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_vtrace_out {
    const WHAT: &'static str = "vtrace out";
    const MIN_SIZE: usize = offset_of!(Self, target_log_prob) + size_of::<*mut f32>();
}

mirror!(rlcore_vtrace, Rates { clip_rho, clip_c, clip_pg_rho, td_lambda, leak });

/// The caller's arrays without log-ratios, and where they lie.
struct Steps<'a> {
    v: VTrace<'a>,
    len: usize,
    inputs: [Extent; 6],
}

unsafe fn steps<'a>(c: &rlcore_vtrace) -> Result<Steps<'a>> {
    ptr::reserved("vtrace: reserved", c.reserved)?;
    let accumulate = accumulate("vtrace: accumulate", c.accumulate)?;
    let (num_steps, num_envs) = (c.num_steps as usize, c.num_envs as usize);
    let len = ptr::grid("vtrace", num_steps, num_envs)?;
    let discounts = unsafe { Input::at("vtrace: discounts", c.discounts, len)? };
    let reward = unsafe { Input::at("vtrace: reward", c.reward, len)? };
    let value = unsafe { Input::at("vtrace: value", c.value, len)? };
    let bootstrap_value = unsafe { Input::at("vtrace: bootstrap_value", c.bootstrap_value, num_envs)? };
    let truncated = unsafe { Input::optional("vtrace: truncated", c.truncated, len)? };
    let final_value = unsafe { Input::optional("vtrace: final_value", c.final_value, len)? };
    let inputs = [
        discounts.extent(),
        reward.extent(),
        value.extent(),
        bootstrap_value.extent(),
        truncated.as_ref().map_or(Extent::NONE, Input::extent),
        final_value.as_ref().map_or(Extent::NONE, Input::extent),
    ];
    let v = VTrace {
        num_steps,
        num_envs,
        discounts: discounts.slice(),
        reward: reward.slice(),
        value: value.slice(),
        bootstrap_value: bootstrap_value.slice(),
        truncated: truncated.map(Input::slice),
        final_value: final_value.map(Input::slice),
        rates: (*c).into(),
        accumulate,
    };
    Ok(Steps { v, len, inputs })
}

/// Fills in defaults: ceilings of 1, lambda 1, no leak, nothing truncated. Writes v_size bytes, so an older caller
/// keeps its smaller struct. Errors: E_NULL; E_ALIGN; E_SIZE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_init(v: *mut rlcore_vtrace, v_size: usize) -> rlcore_status {
    call(|| unsafe { ptr::init_sized(v, v_size, || Ok(rlcore_vtrace::defaults())) })
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
/// Errors: E_NULL, also if a step is truncated without final_value; E_ALIGN; E_CONFIG for another struct_size, accumulate
/// or reserved; E_SHAPE if T or N is 0; E_OVERFLOW; E_OVERLAP; E_RANGE for a discount, td_lambda or leak outside [0, 1] or a
/// ceiling not above 0; E_VALUE for a rate that is NaN or infinite, and for a number that is read and not finite.
/// Nothing is written on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_importance_weights(
    v: *const rlcore_vtrace,
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let v = ptr::sized(v)?;
        from_importance_weights(&v, (0, v.num_envs), vs, pg_advantage)
    })
}

/// As rlcore_vtrace_from_importance_weights for the environments [begin, end): all arrays are those of the whole batch, only
/// these columns are read and written, and results do not depend on the split.
/// Threads: calls on disjoint ranges may run at once. Ranges that begin at multiples of 16 share no cache line of arrays
/// that begin on one.
/// Errors: as there; E_RANGE unless begin <= end <= num_envs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_importance_weights_range(
    v: *const rlcore_vtrace,
    begin: u32,
    end: u32,
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> rlcore_status {
    call(|| unsafe { from_importance_weights(&ptr::sized(v)?, (begin, end), vs, pg_advantage) })
}

/// # Safety
/// As the functions above.
unsafe fn from_importance_weights(
    c: &rlcore_vtrace,
    (begin, end): (u32, u32),
    vs: *mut f32,
    pg_advantage: *mut f32,
) -> Result {
    let Steps { v, len, inputs: [a, b, c1, d, e, f] } = unsafe { steps(c)? };
    let log_rho = unsafe { Input::at("vtrace: log_rho", c.log_rho, len)? };
    let vs = unsafe { Output::optional("vtrace: vs", vs, len)? };
    let in_place = pg_advantage.addr() == c.log_rho.addr();
    let pg_advantage = unsafe { Output::optional("vtrace: pg_advantage", pg_advantage, len)? };
    let outputs = [extent(&vs), extent(&pg_advantage)];
    apart(&outputs, &[a, b, c1, d, e, f, if in_place { Extent::NONE } else { log_rho.extent() }])?;
    let pg_advantage = pg_advantage.map(Output::cells);
    let (given, place) = if in_place { (None, pg_advantage) } else { (Some(log_rho.slice()), None) };
    let out = Outputs { vs: vs.map(Output::cells), pg_advantage, log_rho: place, ..Outputs::default() };
    let columns = Columns::new(v.num_steps, v.num_envs, begin as usize, end as usize)?;
    Ok(vtrace::from_importance_weights_range(&v, given, columns, &out)?)
}

/// V-trace from the logits of both policies: writes what `out` asks for. Log-probabilities are those of log-softmax, at
/// least -1.7e38; log_rho is their difference, and the rest is as rlcore_vtrace_from_importance_weights says.
/// Errors: as there; E_SHAPE if A is 0; E_RANGE for an action that is not there; E_VALUE for a logit that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_logits(
    v: *const rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    out: *const rlcore_vtrace_out,
) -> rlcore_status {
    call(|| unsafe {
        let v = ptr::sized(v)?;
        from_logits(&v, logits, (0, v.num_envs), out)
    })
}

/// As rlcore_vtrace_from_logits for the environments [begin, end); threads and errors as
/// rlcore_vtrace_from_importance_weights_range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vtrace_from_logits_range(
    v: *const rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    begin: u32,
    end: u32,
    out: *const rlcore_vtrace_out,
) -> rlcore_status {
    call(|| unsafe { from_logits(&ptr::sized(v)?, logits, (begin, end), out) })
}

/// # Safety
/// As the functions above.
unsafe fn from_logits(
    c: &rlcore_vtrace,
    logits: *const rlcore_vtrace_logits,
    (begin, end): (u32, u32),
    out: *const rlcore_vtrace_out,
) -> Result {
    let Steps { v, len, inputs } = unsafe { steps(c)? };
    let (logits, out) = unsafe { (ptr::sized(logits)?, ptr::sized(out)?) };
    ptr::reserved("vtrace out: reserved", out.reserved)?;
    let num_actions = logits.num_actions as usize;
    let num_logits = ptr::grid("vtrace: logits", len, num_actions)?;
    let behaviour_logits = unsafe { Input::at("vtrace: behaviour_logits", logits.behaviour_logits, num_logits)? };
    let target_logits = unsafe { Input::at("vtrace: target_logits", logits.target_logits, num_logits)? };
    let action = unsafe { Input::at("vtrace: action", logits.action, len)? };
    let vs = unsafe { Output::optional("vtrace: vs", out.vs, len)? };
    let pg_advantage = unsafe { Output::optional("vtrace: pg_advantage", out.pg_advantage, len)? };
    let log_rho = unsafe { Output::optional("vtrace: log_rho", out.log_rho, len)? };
    let behaviour = unsafe { Output::optional("vtrace: behaviour_log_prob", out.behaviour_log_prob, len)? };
    let target = unsafe { Output::optional("vtrace: target_log_prob", out.target_log_prob, len)? };
    let outputs = [extent(&vs), extent(&pg_advantage), extent(&log_rho), extent(&behaviour), extent(&target)];
    apart(&outputs, &inputs)?;
    apart(&outputs, &[behaviour_logits.extent(), target_logits.extent(), action.extent()])?;
    let policies = Policies {
        num_actions,
        behaviour_logits: behaviour_logits.slice(),
        target_logits: target_logits.slice(),
        action: action.slice(),
    };
    let out = Outputs {
        vs: vs.map(Output::cells),
        pg_advantage: pg_advantage.map(Output::cells),
        log_rho: log_rho.map(Output::cells),
        behaviour_log_prob: behaviour.map(Output::cells),
        target_log_prob: target.map(Output::cells),
    };
    let columns = Columns::new(v.num_steps, v.num_envs, begin as usize, end as usize)?;
    Ok(vtrace::from_logits(&v, &policies, columns, &out)?)
}

fn extent(output: &Option<Output<'_, f32>>) -> Extent {
    output.as_ref().map_or(Extent::NONE, Output::extent)
}
