//! A policy that acts and does not learn: what a game ships.

use core::ffi::c_void;

use crate::ppo::{self, rlcore_ppo};
use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, Output, apart};
use crate::rng::{rlcore_rng, stream};
use crate::sampling::{rlcore_sampling, sampling};
use crate::status::{Result, call, rlcore_status};
use rlcore::block::{Header, Kind as BlockKind};
use rlcore::learn::{Policy, Sampling};
use rlcore::rng::Rng;

/// A policy: the caller's own block, read-only, shared by any number of threads.
pub struct rlcore_policy;

/// A policy and the bytes it lies in.
struct Block<'a> {
    extent: Extent,
    policy: Policy<'a>,
}

impl Block<'_> {
    /// Errors: `Null`, `Align`, `Image`.
    unsafe fn at<'a>(p: *const rlcore_policy) -> Result<Block<'a>> {
        let base: *const u8 = p.cast();
        let head = unsafe { Input::at("policy", base, size_of::<Header>())? };
        let size = Header::read(head.slice(), BlockKind::Policy)?.size() as usize;
        let block = unsafe { Input::at("policy", base, size)? };
        Ok(Block { extent: block.extent(), policy: Policy::open(block.slice())? })
    }
}

/// Bytes that rlcore_policy_export needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_size(p: *mut rlcore_ppo, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let out_size = Output::at("out_size", out_size, 1)?;
        let size = ppo::policy_size(p, out_size.extent())?;
        *out_size.one() = size;
        Ok(())
    })
}

/// Writes the policy of a learner as it is now: networks, bounds and the statistics that normalise observations.
/// mem: 8-byte aligned, mem_size bytes, owned by the caller. The same policy is the same bytes, sealed.
/// out: the same address as mem, with its type.
/// Errors: E_SIZE if mem_size < rlcore_policy_size().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_export(
    p: *mut rlcore_ppo,
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_policy,
) -> rlcore_status {
    call(|| unsafe {
        let (block, out) = (Output::at("mem", mem.cast(), mem_size)?, Output::at("out", out, 1)?);
        ppo::export(p, block, out.extent())?;
        *out.one() = mem.cast();
        Ok(())
    })
}

/// Accepts bytes that a policy was copied to, in this process or another. mem is only read: it may be in a constant.
/// The seal of rlcore_policy_export is compared: a policy of which any byte differs is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_attach(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_policy,
) -> rlcore_status {
    call(|| unsafe {
        let (block, out) = (Input::at("mem", mem.cast(), mem_size)?, Output::at("out", out, 1)?);
        apart(&[out.extent()], &[block.extent()])?;
        Policy::attach(block.slice())?;
        *out.one() = mem.cast();
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
        let (block, out_len) = (Block::at(p)?, Output::at("out_len", out_len, 1)?);
        apart(&[out_len.extent()], &[block.extent])?;
        *out_len.one() = block.policy.scratch_len(num_rows as usize)?;
        Ok(())
    })
}

/// Chooses an action for each of num_rows observations.
/// obs:         [num_rows, obs.len]; networks see bytes divided by 255.
/// action_mask: [num_rows, sum of action.n] 0 forbids, not all of a choice; NULL: everything is allowed.
/// sampling:    NULL: RLCORE_SAMPLING_BASIC.
/// rng:         the caller's stream, one for each thread; may be NULL with RLCORE_SAMPLING_GREEDY.
/// scratch:     [scratch_len] to be written, at least rlcore_policy_scratch_len().
/// action:      [num_rows, action.len] to write.
/// Errors: E_SIZE of scratch; E_CONFIG for sampling; E_SHAPE for a mask with continuous actions; E_VALUE for an
/// observation that is not finite or so large that the policy overflows, or a mask that forbids all of a choice. Then
/// scratch may be written, action and rng not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_act(
    p: *const rlcore_policy,
    num_rows: u32,
    obs: *const c_void,
    action_mask: *const u8,
    sampling: *const rlcore_sampling,
    rng: *mut rlcore_rng,
    scratch: *mut f32,
    scratch_len: usize,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let sampling = self::sampling(sampling)?;
        let rng = if rng.is_null() && sampling == Sampling::Greedy { None } else { Some(stream(rng)?) };
        let drawn = rng.as_ref().map_or(Extent::NONE, Output::extent);
        let a = Arrays::at(p, num_rows, obs, action_mask, scratch, scratch_len, action, drawn)?;
        let rng = match rng {
            Some(rng) => rng.one(),
            None => &mut Rng::seeded(0), // greedy: nothing is drawn from it
        };
        let mask = a.mask.map(Input::slice);
        let (obs, action) = (a.obs.elements(), a.action.elements());
        Ok(a.policy.act(a.rows, obs, mask, sampling, rng, a.scratch.slice(), action)?)
    })
}

/// rlcore_policy_act with RLCORE_SAMPLING_GREEDY: the most probable actions, or the means; the same ones. A program
/// that acts in no other way is a few kilobytes smaller, because nothing that draws at random is linked into it.
/// Arrays and errors as rlcore_policy_act.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_act_greedy(
    p: *const rlcore_policy,
    num_rows: u32,
    obs: *const c_void,
    action_mask: *const u8,
    scratch: *mut f32,
    scratch_len: usize,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let a = Arrays::at(p, num_rows, obs, action_mask, scratch, scratch_len, action, Extent::NONE)?;
        let mask = a.mask.map(Input::slice);
        Ok(a.policy.act_greedy(a.rows, a.obs.elements(), mask, a.scratch.slice(), a.action.elements())?)
    })
}

/// What acting reads and writes.
struct Arrays<'a> {
    policy: Policy<'a>,
    rows: usize,
    obs: AnyInput<'a>,
    mask: Option<Input<'a, u8>>,
    scratch: Output<'a, f32>,
    action: AnyOutput<'a>,
}

impl<'a> Arrays<'a> {
    /// `drawn` is written too. Errors: `Null`, `Align`, `Image`, `Overflow`, `Overlap`.
    #[allow(clippy::too_many_arguments)]
    unsafe fn at(
        p: *const rlcore_policy,
        num_rows: u32,
        obs: *const c_void,
        action_mask: *const u8,
        scratch: *mut f32,
        scratch_len: usize,
        action: *mut c_void,
        drawn: Extent,
    ) -> Result<Arrays<'a>> {
        unsafe {
            let Block { extent, policy } = Block::at(p)?;
            let (rows, shape) = (num_rows as usize, policy.shape());
            let (obs_kind, action_kind) = ppo::kinds(shape);
            let obs = AnyInput::at("obs", obs, obs_kind, rows, shape.obs_len as usize)?;
            let flags = ptr::grid("action_mask", rows, shape.num_outputs as usize)?;
            let mask = Input::optional("action_mask", action_mask, flags)?;
            let scratch = Output::at("scratch", scratch, scratch_len)?;
            let action = AnyOutput::at("action", action, action_kind, rows, shape.action_len as usize)?;
            let read = [obs.extent(), mask.as_ref().map_or(Extent::NONE, Input::extent), extent];
            apart(&[action.extent(), scratch.extent(), drawn], &read)?;
            Ok(Arrays { policy, rows, obs, mask, scratch, action })
        }
    }
}
