//! What learners on several threads, processes and machines hand to each other: gradients, rollouts and parameters.

use core::ffi::c_void;

use crate::learner::{copy_out, learning, mask, num_envs, obs, rlcore_learner, rlcore_learner_stats};
use crate::learner_kind::{self, Any, AnyView, on_policy, view_on_policy};
use crate::lifecycle::{open, view};
use crate::ptr::{self, AnyInput, AnyOutput, Input, One, Output};
use crate::status::{Result, call, rlcore_status};
use rlcore::learn::{Batch, BatchMut, Learner, TransitionBatch, View};

/// A call that tells a number of a learner.
fn look(
    p: *const rlcore_learner,
    what: &'static str,
    out: *mut usize,
    get: impl FnOnce(&View<'_>) -> Result<usize>,
) -> rlcore_status {
    call(|| unsafe {
        let (out, learner) = (One::at(what, out)?, view(p, view_on_policy)?);
        *learner.extent.reading(out)? = get(&learner)?;
        Ok(())
    })
}

/// Begins the update that is due, for hosts that share its chunks among threads or machines. Until minibatches_left is
/// 0, compute the gradients of all chunks with rlcore_learner_learn_range, store them with rlcore_learner_grads_write,
/// and take the step with rlcore_learner_learn_apply. The results are those of rlcore_learner_learn, bit for bit.
/// obs: [N, obs.len] after the last step, as in rlcore_learner_learn; stats: to write.
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
        on_policy,
        |learner| unsafe { self::obs("obs", learner.shape(), num_envs(learner), obs) },
        |l, obs| l.learn_begin(obs),
    )
}

/// Bytes of scratch that rlcore_learner_learn_range needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_scratch_size(p: *const rlcore_learner, out_size: *mut usize) -> rlcore_status {
    look(p, "out_size", out_size, |learner| Ok(learner.scratch_size()?))
}

/// Floats of the gradients of a chunk: one for each parameter, then 8 for its losses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    look(p, "out_len", out_len, |learner| Ok(learner.grads_len()))
}

/// Computes the gradients of chunks [begin, end) of the current minibatch. Threads: the learner is only read, so
/// several threads may compute different chunks at once, each with its own scratch.
/// scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
/// grads:   [end - begin, grads_len] to write, with the grads_len of rlcore_learner_grads_len.
/// Errors: E_NOT_READY if no update runs; E_RANGE; E_SIZE of scratch; E_VALUE if numbers overflow. After an error
/// scratch and grads may have been written.
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
        let learner = view(p, view_on_policy)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = ptr::grid("grads", learner.check_chunks(begin, end)?, learner.grads_len())?;
        let scratch = Output::at("scratch", scratch.cast::<u8>(), scratch_size)?;
        let (scratch, grads) = learner.extent.reading((scratch, Output::at("grads", grads, len)?))?;
        Ok(learner.learn_range(begin, end, scratch, grads)?)
    })
}

/// Adds the gradients of all chunks of the minibatch as a tree and takes the optimizer step. If no update runs, it
/// takes a step along gradients that were computed elsewhere, as a server of asynchronous workers does.
/// stats: to write.
/// Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_apply(
    p: *mut rlcore_learner,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(p, stats, on_policy, |_| Ok(None::<Input<'_, u8>>), |learner, _| learner.learn_apply())
}

/// Discards the rest of the current update, or all of the update that is due; rlcore_learner_act is due.
/// Errors: E_NOT_READY if there is no such update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_drop(p: *mut rlcore_learner) -> rlcore_status {
    call(|| unsafe { Ok(open(p, Any::open)?.learn_drop()?) })
}

/// Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has copied out.
/// Continue with rlcore_learner_learn, where obs may be NULL, or with rlcore_learner_learn_range.
/// Arrays as rlcore_learner_batch_read. stats: to write.
/// Errors: E_CONFIG for noisy layers, unless with IMPALA; E_NOT_READY if this learner has recorded steps, or an
/// update runs; E_SHAPE for a mask that is missing or not expected; E_VALUE for numbers that are not finite, observations
/// that are no bytes divided by 255 where obs.kind says bytes, choices that are not allowed, a begin above 1 and an env of
/// N or more.
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
    state: *const f32,
    begin: *const u8,
    env: *const u32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        on_policy,
        |learner| unsafe {
            let (shape, m) = (learner.shape(), learner.config().batch_len());
            let column = |what, p| Input::at(what, p, m);
            Ok((
                Input::at("obs", obs, ptr::grid("obs", m, shape.seen_len as usize)?)?,
                AnyInput::at("action", action, shape.kinds().1, m, shape.action_len as usize)?,
                mask(shape, m, action_mask)?,
                column("log_prob", log_prob)?,
                column("value", value)?,
                column("advantage", advantage)?,
                column("value_target", value_target)?,
                {
                    let (states, flags, owners) = recurrent_lens(&learner.view())?;
                    (
                        Input::unless_empty("state", state, states)?,
                        Input::unless_empty("begin", begin, flags)?,
                        Input::unless_empty("env", env, owners)?,
                    )
                },
            ))
        },
        |learner, (obs, action, mask, log_prob, value, advantage, value_target, (state, begin, env))| {
            let (mask, state) = (mask.unwrap_or_default(), state.unwrap_or_default());
            let (begin, env) = (begin.unwrap_or_default(), env.unwrap_or_default());
            let batch = Batch { obs, action, mask, log_prob, value, advantage, value_target, state, begin, env };
            learner.learn_batch(&batch)
        },
    )
}

/// Takes one gradient step from transitions of the host's own, off policy (DQN, TD3, SAC): some that its rlcore_replay or
/// rlcore_memory holds, that were recorded elsewhere, or that rlcore_relabel_goals has given other goals. It counts as an
/// update and as no environment steps, and leaves the transitions that the learner keeps as they are. With buffer_size 0 it
/// keeps none: act and observe, which explore and count steps, then never make an update due.
/// B = batch_size.
/// obs, next_obs:    [B, obs.len] before the action, and after the step or after the last of several; also finite where the
///                   episode terminated.
/// action:           [B, action.len] between its bounds, or a choice.
/// action_mask:      [B, sum of action.n] choices allowed in obs, as next_action_mask, action among them. Required by SAC
///                   with use_action_mask; DQN checks it, or takes NULL.
/// reward:           [B] of the step; or sums of the discounted rewards of several.
/// terminated:       [B] 1: the value of next_obs does not count.
/// discount:         [B] of that value, 0 to 1, as rlcore_replay_transitions writes them; NULL: config.discount.
/// next_action_mask: [B, sum of action.n] choices allowed in next_obs, at least one of each element. Required with
///                   use_action_mask, NULL without.
/// importance:       [B] weights of each transition, finite and at least 0, as rlcore_replay_sample writes them; NULL: 1.
/// error:            [B] absolute temporal-difference errors to write, as rlcore_replay_update takes them: the mean of two
///                   critics, or of the elements of an action; may be NULL.
/// stats:            to write.
/// Errors: E_CONFIG; E_DISABLED for a learner on policy; E_NOT_READY if rlcore_learner_learn is due; E_SHAPE for a mask
/// that is missing or not expected; E_VALUE for numbers, actions and masks other than those, before anything changes, or
/// because numbers overflow. In that case the step is dropped and counted in num_dropped, and error is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_transitions(
    p: *mut rlcore_learner,
    obs: *const c_void,
    action: *const c_void,
    action_mask: *const u8,
    reward: *const f32,
    terminated: *const u8,
    discount: *const f32,
    next_obs: *const c_void,
    next_action_mask: *const u8,
    importance: *const f32,
    error: *mut f32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        learner_kind::off_policy,
        |learner| unsafe {
            let (shape, (rows, _)) = (learner.shape(), learner.batch_len());
            let masks = ptr::grid("next_action_mask", rows, shape.mask_len())?;
            Ok((
                (self::obs("obs", shape, rows, obs)?, self::obs("next_obs", shape, rows, next_obs)?),
                AnyInput::at("action", action, shape.kinds().1, rows, shape.action_len as usize)?,
                (mask(shape, rows, action_mask)?, Input::optional("next_action_mask", next_action_mask, masks)?),
                Input::at("reward", reward, rows)?,
                Input::at("terminated", terminated, rows)?,
                Input::optional("discount", discount, rows)?,
                Input::optional("importance", importance, rows)?,
                Output::optional("error", error, rows)?,
            ))
        },
        |learner, ((obs, next_obs), action, (mask, next_mask), reward, terminated, discount, importance, error)| {
            let batch =
                TransitionBatch { obs, action, mask, reward, terminated, discount, next_obs, next_mask, importance };
            learner.learn_transitions(&batch, error)
        },
    )
}

/// Copies out the T * N transitions of the current update, so that another learner can learn from them. A learner that
/// only records calls rlcore_learner_learn_begin, this function, and rlcore_learner_learn_drop.
/// obs:         [T * N, rlcore_learner_seen_len()] as the networks read them: bytes divided by 255, choices one-hot,
///              all of it normalized with normalize_obs.
/// action:      [T * N, action.len]; continuous actions as they were drawn, before they were squashed or clipped.
/// action_mask: [T * N, sum of action.n] with use_action_mask, else NULL.
/// log_prob, value, advantage, value_target: [T * N]. IMPALA computes advantages when it learns: with it, advantage has
///              the rewards, and value_target the reward and the discounted value of what follows.
/// state:       [T * N, rlcore_learner_state_len()] what recurrent layers carried before it; NULL without them.
/// begin:       [T * N] 1 where an episode begins.
/// env:         [T * N] environments; the transitions of each are in their order. begin and env are required with
///              recurrent layers and with IMPALA, env with num_stacked too, else NULL. All to write.
/// Errors: E_NOT_READY if no update runs; E_SHAPE for a mask that is missing or not expected.
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
    state: *mut f32,
    begin: *mut u8,
    env: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, view_on_policy)?;
        let (shape, m) = (learner.shape(), learner.config().batch_len());
        let column = |what, p| Output::at(what, p, m);
        let (states, flags, owners) = recurrent_lens(&learner)?;
        let all = learner.extent.reading((
            Output::at("obs", obs, ptr::grid("obs", m, shape.seen_len as usize)?)?,
            AnyOutput::at("action", action, shape.kinds().1, m, shape.action_len as usize)?,
            Output::optional("action_mask", action_mask, ptr::grid("action_mask", m, shape.mask_len())?)?,
            column("log_prob", log_prob)?,
            column("value", value)?,
            column("advantage", advantage)?,
            column("value_target", value_target)?,
            (
                Output::unless_empty("state", state, states)?,
                Output::unless_empty("begin", begin, flags)?,
                Output::unless_empty("env", env, owners)?,
            ),
        ))?;
        let (obs, action, mask, log_prob, value, advantage, value_target, (state, begin, env)) = all;
        let (mask, state) = (mask.unwrap_or_default(), state.unwrap_or_default());
        let (begin, env) = (begin.unwrap_or_default(), env.unwrap_or_default());
        let batch = BatchMut { obs, action, mask, log_prob, value, advantage, value_target, state, begin, env };
        Ok(learner.read_batch(batch)?)
    })
}

/// Numbers in the states of a batch, flags of its episodes, and environments; 0 where the learner asks for none.
fn recurrent_lens(learner: &View<'_>) -> Result<(usize, usize, usize)> {
    let (begin, env) = learner.order_len();
    Ok((ptr::grid("state", learner.config().batch_len(), learner.state_len())?, begin, env))
}

/// Number of parameters. TD3 and SAC with continuous actions have one for each element of an action that they neither read
/// nor change: the logarithm of a deviation, log_std_init.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe { view(p, AnyView::open)?.tell("out_len", out_len, |learner| Ok(learner.params().len())) })
}

/// Copies the parameters out. Their order is the same in all learners with the same networks.
/// params: [rlcore_learner_params_len()] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_read(p: *const rlcore_learner, params: *mut f32) -> rlcore_status {
    copy_out(p, "params", params, |learner| learner.params())
}

/// Sets the parameters, for example to those of another learner. With overlap, a current update ends before they act.
/// params: [rlcore_learner_params_len()].
/// Errors: E_VALUE for a parameter beyond plus or minus 1e6, or the logarithm of a standard deviation outside its
/// limits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_write(p: *mut rlcore_learner, params: *const f32) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let params = learner.extent.writing(Input::at("params", params, learner.num_params())?)?;
        Ok(learner.write_params(params)?)
    })
}

/// Copies the gradients of chunks [begin, end) out.
/// grads: [end - begin, grads_len] to write.
/// Errors: E_RANGE; E_NOT_READY if the gradients of a chunk are missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_read(
    p: *const rlcore_learner,
    begin: u32,
    end: u32,
    grads: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, view_on_policy)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = ptr::grid("grads", learner.check_chunks(begin, end)?, learner.grads_len())?;
        let grads = learner.extent.reading(Output::at("grads", grads, len)?)?;
        Ok(learner.read_grads(begin, end, grads)?)
    })
}

/// Stores the gradients of chunks [begin, end), replacing earlier ones.
/// grads: [end - begin, grads_len].
/// Errors: E_RANGE; E_VALUE for a gradient that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_write(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
) -> rlcore_status {
    take_grads(p, begin, end, grads, Learner::write_grads)
}

/// Adds to the gradients of those chunks of [begin, end) that have some, and stores those of the others. The last bits
/// of the sums depend on the order of these calls.
/// grads: [end - begin, grads_len].
/// Errors: E_RANGE; E_VALUE for a gradient or a sum that is not finite.
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
        let mut learner = open(p, on_policy)?;
        let (begin, end) = (begin as usize, end as usize);
        let view = learner.view();
        let len = ptr::grid("grads", view.check_chunks(begin, end)?, view.grads_len())?;
        let grads = learner.extent.writing(Input::at("grads", grads, len)?)?;
        Ok(take(&mut learner, begin, end, grads)?)
    })
}
