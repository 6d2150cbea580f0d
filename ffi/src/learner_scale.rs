//! What learners on several threads, processes and machines hand to each other: gradients, rollouts and parameters.

use core::ffi::c_void;

use crate::learner::{copy_out, kinds, learning, mask, num_envs, obs, rlcore_learner, rlcore_learner_stats};
use crate::lifecycle::{open, view};
use crate::ptr::{self, AnyInput, AnyOutput, Input, One, Output};
use crate::status::{Result, call, rlcore_status};
use rlcore::learn::{Batch, BatchMut, Learner, View};

/// A call that tells a number of a learner.
fn look(
    p: *const rlcore_learner,
    what: &'static str,
    out: *mut usize,
    get: impl FnOnce(&View<'_>) -> Result<usize>,
) -> rlcore_status {
    call(|| unsafe {
        let (out, learner) = (One::at(what, out)?, view(p, View::open)?);
        *learner.extent.reading(out)? = get(&learner)?;
        Ok(())
    })
}

/// Begins the update that is due, for hosts that share its chunks among threads or machines: until minibatches_left is 0,
/// rlcore_learner_learn_range makes the gradients of all chunks, rlcore_learner_grads_write hands them in, and
/// rlcore_learner_learn_apply takes the step. The results are those of rlcore_learner_learn, bit for bit.
/// obs: [N, obs.len] after the last step, as rlcore_learner_learn reads it; stats: to write.
/// Errors: E_CONFIG; E_NOT_READY; E_VALUE as rlcore_learner_learn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_begin(
    p: *mut rlcore_learner,
    obs: *const c_void,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        |learner| unsafe { self::obs("obs", learner.shape(), num_envs(learner), obs) },
        |l, obs| l.learn_begin(obs),
    )
}

/// Bytes of scratch that rlcore_learner_learn_range needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_scratch_size(p: *const rlcore_learner, out_size: *mut usize) -> rlcore_status {
    look(p, "out_size", out_size, |learner| Ok(learner.scratch_size()?))
}

/// Floats of the gradients of a chunk: one for each parameter, then 8 that hold its losses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    look(p, "out_len", out_len, |learner| Ok(learner.grads_len()))
}

/// Makes the gradients of chunks [begin, end) of the minibatch. Threads: the learner is only read, so several may do
/// different chunks at once, each with its own scratch.
/// scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
/// grads:   [end - begin, grads_len] to write; grads_len is that of rlcore_learner_grads_len.
/// Errors: E_NOT_READY if no update runs; E_RANGE; E_SIZE of scratch; E_VALUE if numbers overflow. Then scratch and grads
/// may have been written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_range(
    p: *const rlcore_learner,
    begin: u32,
    end: u32,
    scratch: *mut c_void,
    scratch_size: usize,
    grads: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = ptr::grid("grads", learner.check_chunks(begin, end)?, learner.grads_len())?;
        let scratch = Output::at("scratch", scratch.cast::<u8>(), scratch_size)?;
        let (scratch, grads) = learner.extent.reading((scratch, Output::at("grads", grads, len)?))?;
        Ok(learner.learn_range(begin, end, scratch, grads)?)
    })
}

/// Adds the gradients of all chunks of the minibatch as a tree and takes the step of the optimizer. Without an update that
/// runs, it takes a step along gradients that came from elsewhere, as a server of asynchronous workers does.
/// stats: to write.
/// Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_apply(
    p: *mut rlcore_learner,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(p, stats, |_| Ok(None::<Input<'_, u8>>), |learner, _| learner.learn_apply())
}

/// Ends the update that runs or is due without learning any more of it; rlcore_learner_act is due.
/// Errors: E_NOT_READY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_drop(p: *mut rlcore_learner) -> rlcore_status {
    call(|| unsafe { Ok(open(p, Learner::open)?.learn_drop()?) })
}

/// Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has handed out;
/// rlcore_learner_learn, with obs NULL, goes on with it.
/// Arrays as rlcore_learner_batch_read. stats: to write.
/// Errors: E_CONFIG; E_NOT_READY if this learner has recorded something, or an update runs; E_SHAPE for a mask that is
/// not wanted, or missing; E_VALUE for numbers that are not finite and choices that are not allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_batch(
    p: *mut rlcore_learner,
    obs: *const f32,
    action: *const c_void,
    action_mask: *const u8,
    log_prob: *const f32,
    value: *const f32,
    advantage: *const f32,
    value_target: *const f32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        |learner| unsafe {
            let (shape, m) = (learner.shape(), learner.config().batch_len());
            let column = |what, p| Input::at(what, p, m);
            Ok((
                Input::at("obs", obs, ptr::grid("obs", m, shape.obs_len as usize)?)?,
                AnyInput::at("action", action, kinds(shape).1, m, shape.action_len as usize)?,
                mask(shape, m, action_mask)?,
                column("log_prob", log_prob)?,
                column("value", value)?,
                column("advantage", advantage)?,
                column("value_target", value_target)?,
            ))
        },
        |learner, (obs, action, mask, log_prob, value, advantage, value_target)| {
            let mask = mask.unwrap_or(&[]);
            learner.learn_batch(&Batch { obs, action, mask, log_prob, value, advantage, value_target })
        },
    )
}

/// Hands out the T * N transitions that the update that runs learns from, to learn from them elsewhere. A learner that only
/// records begins its update, hands it out and ends it by rlcore_learner_learn_drop.
/// obs:         [T * N, obs.len] as networks see them: bytes divided by 255, numbers normalized if they are to be.
/// action:      [T * N, action.len], continuous ones as they were drawn, before they were squashed or clipped.
/// action_mask: [T * N, sum of action.n] with use_action_mask, else NULL.
/// log_prob, value, advantage, value_target: [T * N]. All to write.
/// Errors: E_NOT_READY if no update runs; E_SHAPE for a mask that is not wanted, or missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_batch_read(
    p: *const rlcore_learner,
    obs: *mut f32,
    action: *mut c_void,
    action_mask: *mut u8,
    log_prob: *mut f32,
    value: *mut f32,
    advantage: *mut f32,
    value_target: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let (shape, m) = (learner.shape(), learner.config().batch_len());
        let column = |what, p| Output::at(what, p, m);
        let (obs, action, mask, log_prob, value, advantage, value_target) = learner.extent.reading((
            Output::at("obs", obs, ptr::grid("obs", m, shape.obs_len as usize)?)?,
            AnyOutput::at("action", action, kinds(shape).1, m, shape.action_len as usize)?,
            Output::optional("action_mask", action_mask, ptr::grid("action_mask", m, shape.num_outputs as usize)?)?,
            column("log_prob", log_prob)?,
            column("value", value)?,
            column("advantage", advantage)?,
            column("value_target", value_target)?,
        ))?;
        let mask = mask.unwrap_or_default();
        Ok(learner.read_batch(BatchMut { obs, action, mask, log_prob, value, advantage, value_target })?)
    })
}

/// Number of parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    look(p, "out_len", out_len, |learner| Ok(learner.params().len()))
}

/// Copies the parameters out. Learners of the same networks have them in the same order.
/// params: [rlcore_learner_params_len()] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_read(p: *const rlcore_learner, params: *mut f32) -> rlcore_status {
    copy_out(p, "params", params, |learner| learner.params())
}

/// Takes parameters over, as those of a learner elsewhere. With overlap they act once no update runs.
/// params: [rlcore_learner_params_len()].
/// Errors: E_VALUE for one beyond plus or minus 1e6, or a logarithm of a deviation outside its bounds. Then nothing has
/// changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_write(p: *mut rlcore_learner, params: *const f32) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let params = learner.extent.writing(Input::at("params", params, learner.params().len())?)?;
        Ok(learner.write_params(params)?)
    })
}

/// Copies the gradients of chunks [begin, end) out.
/// grads: [end - begin, grads_len] to write.
/// Errors: E_RANGE; E_NOT_READY if one of them has not been made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_read(
    p: *const rlcore_learner,
    begin: u32,
    end: u32,
    grads: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = ptr::grid("grads", learner.check_chunks(begin, end)?, learner.grads_len())?;
        let grads = learner.extent.reading(Output::at("grads", grads, len)?)?;
        Ok(learner.read_grads(begin, end, grads)?)
    })
}

/// Hands gradients of chunks [begin, end) in, in place of those that they have.
/// grads: [end - begin, grads_len].
/// Errors: E_RANGE; E_VALUE for one that is not finite. Then nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_write(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
) -> rlcore_status {
    take_grads(p, begin, end, grads, Learner::write_grads)
}

/// Adds gradients to those of chunks [begin, end) that have some, and hands in the others. The last bits of sums depend on
/// the order of these calls.
/// grads: [end - begin, grads_len].
/// Errors: E_RANGE; E_VALUE for one that is not finite, or a sum. Then nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_add(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
) -> rlcore_status {
    take_grads(p, begin, end, grads, Learner::add_grads)
}

fn take_grads(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
    take: impl FnOnce(&mut Learner<'static>, usize, usize, &[f32]) -> rlcore::error::Result,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let view = learner.view();
        let len = ptr::grid("grads", view.check_chunks(begin, end)?, view.grads_len())?;
        let grads = learner.extent.writing(Input::at("grads", grads, len)?)?;
        Ok(take(&mut learner, begin, end, grads)?)
    })
}
