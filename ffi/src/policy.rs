//! Policies that act and do not learn, to be shipped with a game.

use core::ffi::c_void;

use crate::learner::{self, rlcore_learner};
use crate::lifecycle::{Block, Place, view};
use crate::mirror::versioned;
use crate::ptr::{self, Input, One, Output, args_beside};
use crate::rng::{rlcore_rng, stream};
use crate::sampling::{rlcore_sampling, sampling};
use crate::space::rlcore_space;
use crate::spaces::{Expected, told};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::block::Kind as BlockKind;
use rlcore::learn::{Policy, Sampling, View};
use rlcore::rng::Rng;

/// A policy: the caller's own block, read-only; any number of threads may share it.
pub struct rlcore_policy;

impl Block for rlcore_policy {
    const WHAT: &'static str = "policy";
    const KIND: BlockKind = BlockKind::Policy;
}

/// Arrays that a policy works in, of the calling thread's own.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_policy_buffers {
    /// sizeof(rlcore_policy_buffers)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [scratch_len] to be written
    pub scratch: *mut f32,
    /// at least rlcore_policy_scratch_len()
    pub scratch_len: usize,
    /// [num_rows, rlcore_policy_state_len()] of recurrent layers: read, then written; else NULL
    pub state: *mut f32,
    /// [num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does
    pub reset: *const u8,
}

versioned!(rlcore_policy_buffers, "policy buffers", reset);

/// Bytes that rlcore_policy_export needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_size(p: *const rlcore_learner, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let (out_size, learner) = (One::at("out_size", out_size)?, view(p, View::open)?);
        *learner.extent.reading(out_size)? = learner.policy_size()?;
        Ok(())
    })
}

/// Writes the current policy of a learner: network, bounds and the statistics that normalize observations.
/// mem: 8-byte aligned, mem_size bytes, owned by the caller. Equal policies are equal bytes; the block is sealed.
/// out: the same address as mem, with its type.
/// Errors: E_SIZE if mem_size < rlcore_policy_size().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_export(
    p: *const rlcore_learner,
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_policy,
) -> rlcore_status {
    call(|| unsafe {
        let (place, learner) = (Place::at(mem, mem_size, out)?, view(p, View::open)?);
        place.take(&[learner.extent], |mem| learner.export(mem))
    })
}

/// Opens the bytes of a policy that was copied or saved, in this process or another. mem is only read and may be
/// constant data. The seal of rlcore_policy_export is checked: a policy is refused if any byte has changed, or if its export
/// was interrupted.
/// obs, action: the spaces of the host's arrays, which the policy must have been made for: kind and len are compared, n of
///              discrete elements, and low and high of actions of floats unless they are NULL; of RLCORE_STRUCT kind and
///              len only. NULL: any are accepted, and rlcore_policy_spaces tells which arrays rlcore_policy_act needs.
/// Errors: E_IMAGE; E_SHAPE if the policy was made for other spaces, with its number and the given one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_attach(
    mem: *const c_void,
    mem_size: usize,
    obs: *const rlcore_space,
    action: *const rlcore_space,
    out: *mut *const rlcore_policy,
) -> rlcore_status {
    call(|| unsafe {
        let expected = Expected::at(obs, action)?;
        let arrays = (Input::at("mem", mem.cast::<u8>(), mem_size)?, One::at("out", out)?);
        let (block, out) = args_beside(arrays, &expected.extents)?;
        expected.check(&Policy::attach(block)?.spaces())?;
        *out = mem.cast();
        Ok(())
    })
}

/// Spaces of a policy, e.g. of a loaded one: those of each row that rlcore_policy_act reads and writes.
/// out_obs, out_action: as rlcore_learner_spaces; the arrays point into the policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_spaces(
    p: *const rlcore_policy,
    out_obs: *mut rlcore_space,
    out_action: *mut rlcore_space,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        let outputs = (One::at("out_obs", out_obs)?, One::at("out_action", out_action)?);
        let (obs, action) = policy.extent.reading(outputs)?;
        [*obs, *action] = told(&policy.spaces());
        Ok(())
    })
}

/// Numbers that recurrent layers carry from one step of a row to the next; 0 without such layers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_state_len(p: *const rlcore_policy, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        *policy.extent.reading(One::at("out_len", out_len)?)? = policy.state_len();
        Ok(())
    })
}

/// Floats of scratch that rlcore_policy_act needs for num_rows observations.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_scratch_len(
    p: *const rlcore_policy,
    num_rows: u32,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        *policy.extent.reading(One::at("out_len", out_len)?)? = policy.scratch_len(num_rows as usize)?;
        Ok(())
    })
}

/// Chooses an action for each of num_rows observations.
/// rows:     reads obs and action_mask, writes action, all of num_rows rows. obs: bytes are divided by 255, choices are
///           one-hot. action_mask: 0 forbids a choice; each element of an action needs at least one that is allowed;
///           NULL: everything is allowed. active is not read: all act.
/// buffers:  reads reset; writes scratch; reads and writes state.
/// sampling:    NULL means RLCORE_SAMPLING_BASIC.
/// rng:         a random stream of the calling thread; may be NULL with RLCORE_SAMPLING_GREEDY.
/// Errors: E_SIZE of scratch; E_CONFIG for sampling; E_SHAPE for a mask with continuous actions; E_VALUE for an
/// observation or a state that is not finite or so large that the policy overflows, or a mask that allows nothing. After
/// an error scratch may have been written, action, state and rng not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_act(
    p: *const rlcore_policy,
    num_rows: u32,
    rows: *const rlcore_rows,
    buffers: *const rlcore_policy_buffers,
    sampling: *const rlcore_sampling,
    rng: *mut rlcore_rng,
) -> rlcore_status {
    call(|| unsafe {
        let sampling = self::sampling(sampling)?;
        let rng = if rng.is_null() && sampling == Sampling::Greedy { None } else { Some(stream(rng)?) };
        let (policy, n) = (view(p, Policy::open)?, num_rows as usize);
        let (arrays, buffers) = arrays(&policy, n, rows, buffers)?;
        let ((obs, mask, action), (scratch, carried), rng) =
            policy.extent.reading((arrays, buffers, rng.map(Output::only)))?;
        let unused = &mut Rng::seeded(0); // greedy: nothing is drawn from it
        let recurrent = learner::recurrent(carried);
        Ok(policy.act(n, obs, mask, recurrent, sampling, rng.unwrap_or(unused), scratch, action)?)
    })
}

/// Chooses the same actions as rlcore_policy_act with RLCORE_SAMPLING_GREEDY: the most probable ones, or the means. A
/// program that acts in no other way is a few kilobytes smaller, because no code for random draws is linked.
/// Arrays and errors as rlcore_policy_act.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_act_greedy(
    p: *const rlcore_policy,
    num_rows: u32,
    rows: *const rlcore_rows,
    buffers: *const rlcore_policy_buffers,
) -> rlcore_status {
    call(|| unsafe {
        let (policy, n) = (view(p, Policy::open)?, num_rows as usize);
        let (arrays, buffers) = arrays(&policy, n, rows, buffers)?;
        let ((obs, mask, action), (scratch, carried)) = policy.extent.reading((arrays, buffers))?;
        Ok(policy.act_greedy(n, obs, mask, learner::recurrent(carried), scratch, action)?)
    })
}

/// Scratch of a policy, and its recurrent state between calls.
pub type Buffers<'a> = (Output<'a, f32>, learner::Carried<'a>);

/// The arrays of a policy that acts. Errors: `Null`, `Align`, `Config`, `Overflow`.
unsafe fn arrays<'a>(
    policy: &Policy<'_>,
    n: usize,
    rows: *const rlcore_rows,
    buffers: *const rlcore_policy_buffers,
) -> Result<(learner::Arrays<'a>, Buffers<'a>)> {
    unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        Ok((learner::arrays(policy.shape(), n, &rows)?, self::buffers(policy, n, buffers)?))
    }
}

/// The buffers of a policy for `n` rows. Errors: as [`arrays`].
///
/// # Safety
/// As [`Output::at`].
pub unsafe fn buffers<'a>(policy: &Policy<'_>, n: usize, given: *const rlcore_policy_buffers) -> Result<Buffers<'a>> {
    unsafe {
        let given = ptr::sized(given)?;
        ptr::reserved("policy buffers: reserved", given.reserved)?;
        let carried = learner::carried(n, policy.state_len(), given.state, given.reset)?;
        Ok((Output::at("scratch", given.scratch, given.scratch_len)?, carried))
    }
}
