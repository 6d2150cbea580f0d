//! Exchange between learners on several threads, processes and machines: gradients, rollouts and parameters.

use core::ffi::c_void;

use crate::learner::{learning, mask, num_envs, obs, rlcore_learner, rlcore_learner_stats, seen};
use crate::learner_open::{self, on_policy, view_on_policy};
use crate::lifecycle::{open, view};
use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, AnyOutput, Input, One, Output, args, exact};
use crate::status::{About, Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Batch, BatchMut, Learner, TransitionBatch, View, merge_moments};

/// The T * N transitions of an update: rlcore_learner_batch_read writes these arrays, rlcore_learner_learn_batch reads
/// them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_batch {
    /// sizeof(rlcore_learner_batch)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T * N, rlcore_learner_seen_len()] as networks read it: bytes / 255, one-hot, normalized
    pub obs: *mut f32,
    /// [T * N, action.len]; continuous ones as drawn, neither squashed nor clipped
    pub action: *mut c_void,
    /// [T * N, sum of action.n] with use_action_mask, else NULL
    pub action_mask: *mut u8,
    /// [T * N]
    pub log_prob: *mut f32,
    /// [T * N]
    pub value: *mut f32,
    /// [T * N]; IMPALA computes advantages when it learns: with it, the rewards
    pub advantage: *mut f32,
    /// [T * N]; with IMPALA the reward plus the discounted next value
    pub value_target: *mut f32,
    /// [T * N, rlcore_learner_state_len()] of recurrent layers, before it; NULL without them
    pub state: *mut f32,
    /// [T * N] 1 where an episode begins; with recurrent layers and with IMPALA, else NULL
    pub begin: *mut u8,
    /// [T * N] environments, the rows of each in order; as begin, and with num_stacked
    pub env: *mut u32,
    /// [rlcore_learner_moments_len()] as rlcore_learner_moments_read; NULL if that is 0
    pub moments: *mut f64,
    /// [T * N] how long the actions lasted, with use_duration, else NULL
    pub duration: *mut f32,
}

versioned!(rlcore_learner_batch, "learner batch", duration);

/// B transitions of the host's own, with B = batch_size. rlcore_learner_learn_transitions reads all of them but error,
/// which it writes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_transitions {
    /// sizeof(rlcore_learner_transitions)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [B, obs.len] before the action
    pub obs: *const c_void,
    /// [B, action.len] numbers between their bounds, without bounds from -1 to 1; choices
    pub action: *const c_void,
    /// [B, sum of action.n] allowed in obs; of SAC with use_action_mask; DQN: or NULL
    pub action_mask: *const u8,
    /// [B] of the step; or with discount sums of discounted rewards of several
    pub reward: *const f32,
    /// [B] 1: the value of next_obs does not count
    pub terminated: *const u8,
    /// [B] of that value, 0 to 1, as of rlcore_replay_transitions; NULL: config.discount
    pub discount: *const f32,
    /// [B, obs.len] after the last of its steps; also finite where terminated
    pub next_obs: *const c_void,
    /// [B, sum of action.n] allowed in next_obs; with use_action_mask, else NULL
    pub next_action_mask: *const u8,
    /// [B] weights, finite, at least 0, as of rlcore_replay_sample; NULL: 1
    pub importance: *const f32,
    /// [B] absolute temporal-difference errors, for rlcore_replay_update; may be NULL
    pub error: *mut f32,
}

versioned!(rlcore_learner_transitions, "learner transitions", error);

/// The body of a call that returns a number of a learner.
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

/// Begins the update that is due, for hosts that share its chunks among threads or machines. Until minibatches_left is
/// 0, compute the gradients of all chunks with rlcore_learner_learn_range, store them with rlcore_learner_grads_write,
/// and take the step with rlcore_learner_learn_apply. The results are those of rlcore_learner_learn, bit for bit. Off
/// policy a batch of the store takes the place of a minibatch, and minibatches_left counts gradient steps: one takes two
/// rounds of these calls where TD3 and SAC learn the policy after the critics.
/// rows: reads obs and action_mask after the last step, as in rlcore_learner_learn; not read off policy, where it may be
///       NULL. stats: to write.
/// Errors: E_CONFIG; E_NOT_READY; E_SHAPE and E_VALUE as rlcore_learner_learn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_begin(
    p: *mut rlcore_learner,
    rows: *const rlcore_rows,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        Learner::open,
        |learner| unsafe {
            if learner.config().check_transitions().is_ok() {
                return Ok((None, None));
            }
            let rows = *rlcore_rows::at(rows, &mut None)?;
            seen(learner.shape(), num_envs(learner), &rows).map(|(obs, mask)| (Some(obs), mask))
        },
        |l, (obs, mask)| l.learn_begin(obs, mask),
    )
}

/// Bytes of scratch that rlcore_learner_learn_range needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_scratch_size(p: *const rlcore_learner, out_size: *mut usize) -> rlcore_status {
    look(p, "out_size", out_size, |learner| Ok(learner.scratch_size()?))
}

/// Floats of the gradients of a chunk: one for each parameter, then 8 for its losses; off policy then one for each
/// transition of the longest chunk, how far its value is from its target, by which priorities go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    look(p, "out_len", out_len, |learner| Ok(learner.grads_len()))
}

/// Computes the gradients of chunks [begin, end) of the current minibatch or batch. Threads: the learner is only read, so
/// several threads may compute different chunks at once, each with its own scratch.
/// scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
/// grads:   [grads_len] to write: end - begin times rlcore_learner_grads_len().
/// Errors: E_NOT_READY if no update runs; E_RANGE; E_SHAPE for another grads_len; E_SIZE of scratch; E_VALUE if numbers
/// overflow. After an error scratch and grads may have been written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_range(
    p: *const rlcore_learner,
    begin: u32,
    end: u32,
    scratch: *mut c_void,
    scratch_size: usize,
    grads: *mut f32,
    grads_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = grads_of(&learner, begin, end, grads_len)?;
        let scratch = Output::at("scratch", scratch.cast::<u8>(), scratch_size)?;
        let (scratch, grads) = learner.extent.reading((scratch, Output::at("grads", grads, len)?))?;
        Ok(learner.learn_range(begin, end, scratch, grads)?)
    })
}

/// Adds the gradients of all chunks of the minibatch as a tree, takes the optimizer step and prepares the next minibatch.
/// If no update runs, it takes a step along gradients that were computed elsewhere, as a server of asynchronous workers
/// does, on policy. That counts no environment steps, by which schedules go: tell them by rlcore_learner_count_steps.
/// stats: to write.
/// Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_apply(
    p: *mut rlcore_learner,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(p, stats, Learner::open, |_| Ok(None::<Input<'_, u8>>), |learner, _| learner.learn_apply())
}

/// Adds environment steps that others took to num_steps, so that learning_rate, clip, entropy_coef, exploration, importance
/// and learning_starts go by all of them: on a server that takes steps along the gradients of workers, on workers beside
/// others, and on a learner whose transitions come from rlcore_learner_learn_batch or rlcore_learner_learn_transitions.
/// Steps that the learner observes itself are counted already. A step of gradients or transitions takes the rates of the
/// steps counted so far, so count those behind it afterwards; an update of a rollout takes those of T * N steps fewer, so
/// count the steps of a batch before rlcore_learner_learn_batch. Off policy this makes no update due.
/// Errors: E_NOT_READY if rlcore_learner_learn is due or runs without overlap, off policy also if it runs with overlap;
/// E_OVERFLOW if the sum does not fit 64 bits. Nothing changes then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_count_steps(p: *mut rlcore_learner, num_steps: u64) -> rlcore_status {
    call(|| unsafe { Ok(open(p, Learner::open)?.count_steps(num_steps)?) })
}

/// Discards the rest of the current update, or all of the update that is due; rlcore_learner_act is due.
/// Errors: E_NOT_READY if there is no such update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_drop(p: *mut rlcore_learner) -> rlcore_status {
    call(|| unsafe { Ok(open(p, Learner::open)?.learn_drop()?) })
}

/// Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has copied out.
/// Continue with rlcore_learner_learn, where rows may be NULL, or with rlcore_learner_learn_range. Auxiliary tasks do not
/// keep its steps, since it has no rewards.
/// batch: read, as rlcore_learner_batch_read writes it. The moments become this learner's own, also while they are frozen,
///        because the policy that it learns is one of observations that they normalize; those of the rollouts of several
///        learners are merged by rlcore_learner_moments_merge.
/// stats: to write.
/// Errors: E_CONFIG for noisy layers, unless with IMPALA; E_NOT_READY if this learner has recorded steps, or an
/// update runs; E_SHAPE for a mask that is missing or not expected; E_VALUE for numbers that are not finite, observations
/// that are no bytes divided by 255 where obs.kind says bytes, choices that are not allowed, a begin above 1 and an env of
/// N or more; E_VALUE and E_RANGE for moments as rlcore_moments_update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_batch(
    p: *mut rlcore_learner,
    batch: *const rlcore_learner_batch,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        on_policy,
        |learner| unsafe {
            let b = ptr::sized(batch)?;
            ptr::reserved("learner batch: reserved", b.reserved)?;
            let (shape, m) = (learner.shape(), learner.config().batch_len());
            let column = |what, p: *mut f32| Input::at(what, p.cast_const(), m);
            let (states, flags, owners) = recurrent_lens(&learner.view())?;
            let durations = m.saturating_mul(learner.config().use_duration as usize);
            Ok((
                Input::at("obs", b.obs.cast_const(), ptr::grid("obs", m, shape.seen_len as usize)?)?,
                AnyInput::at("action", b.action.cast_const(), shape.kinds().1, m, shape.action_len as usize)?,
                mask(shape, m, b.action_mask)?,
                column("log_prob", b.log_prob)?,
                column("value", b.value)?,
                column("advantage", b.advantage)?,
                column("value_target", b.value_target)?,
                (
                    Input::unless_empty("state", b.state.cast_const(), states)?,
                    Input::unless_empty("begin", b.begin.cast_const(), flags)?,
                    Input::unless_empty("env", b.env.cast_const(), owners)?,
                    (
                        Input::unless_empty("moments", b.moments.cast_const(), learner.view().moments_len())?,
                        Input::unless_empty("duration", b.duration.cast_const(), durations)?,
                    ),
                ),
            ))
        },
        |learner, (obs, action, mask, log_prob, value, advantage, value_target, (state, begin, env, (moments, duration)))| {
            let (mask, state) = (mask.unwrap_or_default(), state.unwrap_or_default());
            let (begin, env) = (begin.unwrap_or_default(), env.unwrap_or_default());
            let (moments, duration) = (moments.unwrap_or_default(), duration.unwrap_or_default());
            learner.learn_batch(&Batch {
                obs,
                action,
                mask,
                log_prob,
                value,
                advantage,
                value_target,
                state,
                begin,
                env,
                duration,
                moments,
            })
        },
    )
}

/// Takes one gradient step from transitions of the host's own, off policy (DQN, TD3, SAC): some that its rlcore_replay or
/// rlcore_memory holds, that were recorded elsewhere, or that rlcore_relabel_goals has given other goals. It counts as an
/// update and as no environment steps, and leaves the transitions that the learner keeps as they are. With buffer_size 0 it
/// keeps none: act and observe, which explore and count steps, then never make an update due.
/// stats:            to write.
/// Errors: E_CONFIG; E_DISABLED for a learner on policy; E_NOT_READY if rlcore_learner_learn is due; E_SHAPE for a mask
/// that is missing or not expected; E_VALUE for numbers, actions and masks other than those, before anything changes, or
/// because numbers overflow. In that case the step is dropped and counted in num_dropped, and error is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn_transitions(
    p: *mut rlcore_learner,
    transitions: *const rlcore_learner_transitions,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        learner_open::off_policy,
        |learner| unsafe {
            let t = ptr::sized(transitions)?;
            ptr::reserved("learner transitions: reserved", t.reserved)?;
            let (shape, (rows, _)) = (learner.shape(), learner.view().batch_len());
            let masks = ptr::grid("next_action_mask", rows, shape.mask_len())?;
            Ok((
                (obs("obs", shape, rows, t.obs)?, obs("next_obs", shape, rows, t.next_obs)?),
                AnyInput::at("action", t.action, shape.kinds().1, rows, shape.action_len as usize)?,
                (mask(shape, rows, t.action_mask)?, Input::optional("next_action_mask", t.next_action_mask, masks)?),
                Input::at("reward", t.reward, rows)?,
                Input::at("terminated", t.terminated, rows)?,
                Input::optional("discount", t.discount, rows)?,
                Input::optional("importance", t.importance, rows)?,
                Output::optional("error", t.error, rows)?,
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
/// batch: its arrays are written.
/// Errors: E_CONFIG; E_NOT_READY if no update runs; E_SHAPE for a mask that is missing or not expected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_batch_read(
    p: *const rlcore_learner,
    batch: *const rlcore_learner_batch,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, view_on_policy)?;
        let b = ptr::sized(batch)?;
        ptr::reserved("learner batch: reserved", b.reserved)?;
        let (shape, m) = (learner.shape(), learner.config().batch_len());
        let column = |what, p| Output::at(what, p, m);
        let (states, flags, owners) = recurrent_lens(&learner)?;
        let durations = m.saturating_mul(learner.config().use_duration as usize);
        let all = learner.extent.reading((
            Output::at("obs", b.obs, ptr::grid("obs", m, shape.seen_len as usize)?)?,
            AnyOutput::at("action", b.action, shape.kinds().1, m, shape.action_len as usize)?,
            Output::optional("action_mask", b.action_mask, ptr::grid("action_mask", m, shape.mask_len())?)?,
            column("log_prob", b.log_prob)?,
            column("value", b.value)?,
            column("advantage", b.advantage)?,
            column("value_target", b.value_target)?,
            (
                Output::unless_empty("state", b.state, states)?,
                Output::unless_empty("begin", b.begin, flags)?,
                Output::unless_empty("env", b.env, owners)?,
                (
                    Output::unless_empty("moments", b.moments, learner.moments_len())?,
                    Output::unless_empty("duration", b.duration, durations)?,
                ),
            ),
        ))?;
        let (obs, action, mask, log_prob, value, advantage, value_target, (state, begin, env, (moments, duration))) =
            all;
        let (mask, state) = (mask.unwrap_or_default(), state.unwrap_or_default());
        let (begin, env) = (begin.unwrap_or_default(), env.unwrap_or_default());
        let (moments, duration) = (moments.unwrap_or_default(), duration.unwrap_or_default());
        Ok(learner.read_batch(BatchMut {
            obs,
            action,
            mask,
            log_prob,
            value,
            advantage,
            value_target,
            state,
            begin,
            env,
            duration,
            moments,
        })?)
    })
}

/// Lengths of the arrays `state`, `begin` and `env` of a batch; 0 where the learner reads none.
fn recurrent_lens(learner: &View<'_>) -> Result<(usize, usize, usize)> {
    let (begin, env) = learner.order_len();
    Ok((ptr::grid("state", learner.config().batch_len(), learner.state_len())?, begin, env))
}

/// Number of parameters. TD3 and SAC with continuous actions have one for each element of an action that they neither read
/// nor change: the logarithm of a deviation, log_std_init.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe { view(p, View::open)?.tell("out_len", out_len, |learner| Ok(learner.params().len())) })
}

/// Copies the parameters out. Their order is the same in all learners with the same networks.
/// params: [params_len] to write.
/// Errors: E_SHAPE if params_len is not rlcore_learner_params_len().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_read(
    p: *const rlcore_learner,
    params: *mut f32,
    params_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let len = exact("params", learner.params().len(), params_len)?;
        rlcore::block::copy(learner.extent.reading(Output::at("params", params, len)?)?, learner.params());
        Ok(())
    })
}

/// Sets the parameters to those of another learner with the same networks, whatever its N, and with them the moments that
/// normalized its training data: with other moments the parameters are another policy. With overlap, a current update ends
/// before they act. Off policy the target networks become copies of them, as a move with target_rate 1 makes them, so that
/// a learner that starts from the parameters of another one does not learn towards the values of those it had. The state of
/// the optimizer stays.
/// params:  [params_len] as rlcore_learner_params_read writes them.
/// moments: [moments_len] of the same learner, as rlcore_learner_moments_read writes them; NULL if moments_len is 0, as
///          without normalize_obs and normalize_reward.
/// Errors: E_SHAPE if params_len is not rlcore_learner_params_len(), or moments_len not rlcore_learner_moments_len();
/// E_VALUE for a parameter beyond plus or minus 1e6, or the logarithm of a standard deviation outside its limits; as
/// rlcore_moments_update for the moments; E_NOT_READY with overlap and moments while an update runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_params_write(
    p: *mut rlcore_learner,
    params: *const f32,
    params_len: usize,
    moments: *const f64,
    moments_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let params = Input::at("params", params, exact("params", learner.params().len(), params_len)?)?;
        let moments = self::moments(&learner, moments, moments_len)?;
        let (params, moments) = learner.extent.writing((params, moments))?;
        Ok(learner.write_params_with(params, moments.unwrap_or_default())?)
    })
}

/// Number of doubles in the moments of a learner: 4, and 2 for each number of rlcore_learner_seen_len with normalize_obs; 0
/// without normalize_obs and normalize_reward.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_moments_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe { view(p, View::open)?.tell("out_len", out_len, |learner| Ok(learner.moments_len())) })
}

/// Copies out the moments that normalize observations and rewards. Observations of environments that have acted and not
/// observed since are not counted yet.
/// moments: [moments_len] to write. First count, mean and variance of the discounted sums of rewards; then the count of
///          observations and, with normalize_obs, the mean of each number that the networks read, and the variance of each.
///          Variances are those of the population; counts begin at 1e-4, with means 0 and variances 1. NULL if it is 0.
/// Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_moments_read(
    p: *const rlcore_learner,
    moments: *mut f64,
    moments_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let len = exact("moments", learner.moments_len(), moments_len)?;
        let moments = learner.extent.reading(Output::unless_empty("moments", moments, len)?)?;
        Ok(learner.read_moments(moments.unwrap_or_default())?)
    })
}

/// Sets the moments, for example to those of several learners, merged by rlcore_learner_moments_merge. Also while they are
/// frozen (rlcore_learner_freeze). Recorded steps stay normalized as they were.
/// moments: [moments_len] as rlcore_learner_moments_read writes them; NULL if it is 0.
/// Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len(); E_VALUE and E_RANGE as rlcore_moments_update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_moments_write(
    p: *mut rlcore_learner,
    moments: *const f64,
    moments_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let moments = self::moments(&learner, moments, moments_len)?;
        let moments = learner.extent.writing(moments)?;
        Ok(learner.write_moments(moments.unwrap_or_default())?)
    })
}

/// Merges the moments of a learner into those of another by their counts, with Chan's formula in double: sums of rewards
/// first, then observations, each number for itself, so that the result depends on the order of these calls only. Workers
/// that begin a round with the moments of a server (base) and count observations of their own are merged one after another
/// into a copy of base, each with that base, which counts base once.
/// base:    [len] moments that with and moments both contain; NULL: they have counted nothing in common.
/// with:    [len] the moments to merge.
/// moments: [len] to change.
/// Errors: E_SHAPE unless len is 4 plus a multiple of 2; E_VALUE and E_RANGE as rlcore_moments_update, for the result too;
/// E_RANGE for a count below that of base, and for counts that are 0 together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_moments_merge(
    base: *const f64,
    with: *const f64,
    len: usize,
    moments: *mut f64,
) -> rlcore_status {
    call(|| unsafe {
        let (base, with) = (Input::optional("base", base, len)?, Input::at("with", with, len)?);
        let (base, with, moments) = args((base, with, Output::at("moments", moments, len)?))?;
        Ok(merge_moments(moments, with, base)?)
    })
}

/// Copies the gradients of chunks [begin, end) out.
/// grads: [grads_len] to write: end - begin times rlcore_learner_grads_len().
/// Errors: E_RANGE; E_SHAPE for another grads_len; E_NOT_READY if the gradients of a chunk are missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_read(
    p: *const rlcore_learner,
    begin: u32,
    end: u32,
    grads: *mut f32,
    grads_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = grads_of(&learner, begin, end, grads_len)?;
        let grads = learner.extent.reading(Output::at("grads", grads, len)?)?;
        Ok(learner.read_grads(begin, end, grads)?)
    })
}

/// Stores the gradients of chunks [begin, end), replacing earlier ones.
/// grads: [grads_len]: end - begin times rlcore_learner_grads_len().
/// Errors: E_RANGE; E_SHAPE for another grads_len; E_VALUE for a gradient that is not finite; E_NOT_READY off policy if no
/// update runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_write(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
    grads_len: usize,
) -> rlcore_status {
    take_grads(p, begin, end, (grads, grads_len), Learner::write_grads)
}

/// Adds to the gradients of those chunks of [begin, end) that have some, and stores those of the others. The last bits
/// of the sums depend on the order of these calls.
/// grads: [grads_len]: end - begin times rlcore_learner_grads_len().
/// Errors: as rlcore_learner_grads_write; E_VALUE also for a sum that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_grads_add(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    grads: *const f32,
    grads_len: usize,
) -> rlcore_status {
    take_grads(p, begin, end, (grads, grads_len), Learner::add_grads)
}

fn take_grads(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    (grads, grads_len): (*const f32, usize),
    take: impl FnOnce(&mut Learner<'static>, usize, usize, &[f32]) -> rlcore::error::Result,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let len = grads_of(&learner.view(), begin, end, grads_len)?;
        let grads = learner.extent.writing(Input::at("grads", grads, len)?)?;
        Ok(take(&mut learner, begin, end, grads)?)
    })
}

/// Floats of the gradients of chunks [begin, end). Errors: `Range`; `Shape` if `given` is another number.
fn grads_of(learner: &View<'_>, begin: usize, end: usize, given: usize) -> Result<usize> {
    exact("grads", ptr::grid("grads", learner.check_chunks(begin, end)?, learner.grads_len())?, given)
}

/// The moments to write to a learner; nothing if it has none. Errors: `Shape`; `Null`, `Align`.
unsafe fn moments<'a>(learner: &Learner<'_>, p: *const f64, given: usize) -> Result<Option<Input<'a, f64>>> {
    let needed = learner.view().moments_len();
    let what = "{needed} numbers must come from the learner whose parameters these are; {given} were given.";
    Error::limit(Kind::Shape, what, needed, given).fail_if(given != needed).about("moments")?;
    unsafe { Input::unless_empty("moments", p, given) }
}
