//! Learners: an algorithm, its networks and its rollouts in the caller's block.

use core::ffi::c_void;

use crate::learner_config::{Setup, rlcore_learner_config, setup};
use crate::learner_open::{acting, on_policy};
use crate::lifecycle::{Block, Place, open, view};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, AnyInput, AnyOutput, Args, Extent, Input, One, OutSized, Output, Plain, Writes, args};
use crate::sampling::{rlcore_sampling, sampling};
use crate::space::{self, rlcore_space};
use crate::spaces::Expected;
use crate::status::{About, Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::block::Kind as BlockKind;
use rlcore::env::wrap::MAX_FIELDS;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Learner, Recurrent, Shape, Stats, View};
use rlcore::space::{Field, Space};

/// A learner: the caller's own block.
pub struct rlcore_learner;

/// The call that is due next.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_learner_due {
    /// rlcore_learner_act with the current observations
    RLCORE_LEARNER_ACT = 0,
    /// rlcore_learner_observe with the results of the step
    RLCORE_LEARNER_OBSERVE = 1,
    /// rlcore_learner_learn until no minibatch is left
    RLCORE_LEARNER_LEARN = 2,
}

/// Statistics of the current update, or of the last one, and of the episodes. Means are over the gradient steps of the
/// update. A float is NaN where the algorithm has no such number, and before there is one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_stats {
    /// sizeof(rlcore_learner_stats)
    pub struct_size: u32,
    /// minibatches until the update is complete; off policy gradient steps
    pub minibatches_left: u32,
    /// environment steps observed, and those that rlcore_learner_count_steps added
    pub num_steps: u64,
    /// complete updates
    pub num_updates: u64,
    /// episodes that ended; off policy without those in which an action was demonstrated
    pub num_episodes: u64,
    /// step size of this update
    pub learning_rate: f32,
    /// PPO: mean clipped surrogate loss. A2C, IMPALA, UNREAL, stream AC: mean of minus log-probabilities times advantages.
    /// TD3: mean of minus the values of the policy's actions. SAC: that, plus temperature times log-probabilities. With
    /// sum_losses a sum over the minibatch, as value_loss
    pub policy_loss: f32,
    /// all algorithms: mean of half the squared error of the values, or of Q, without value_coef. With huber the mean Huber
    /// loss, half the square within 1; with num_quantiles the loss of quantile regression, with num_atoms the cross-entropy in
    /// nats. Off policy the mean over the critics and the elements of an action, rows weighted by their importance. With
    /// value_clip the larger of the losses of the clipped and the unclipped value
    pub value_loss: f32,
    /// PPO, A2C, IMPALA, UNREAL, stream AC, SAC: mean entropy in nats; with squash that of actions before tanh, of SAC
    /// after it
    pub entropy: f32,
    /// PPO, A2C, IMPALA, UNREAL: mean of r - 1 - ln r, where r is the probability ratio
    pub approx_kl: f32,
    /// PPO: fraction of the ratios that were clipped
    pub clip_fraction: f32,
    /// PPO, A2C, IMPALA, UNREAL, PQN: fraction of the targets' variance that values explain, up to 1; 0 for constant
    /// targets
    pub explained_variance: f32,
    /// all algorithms: mean global norm of the gradients before they are clipped; TD3 and SAC: of those of the critics
    /// together
    pub grad_norm: f32,
    /// all algorithms: mean value of the rollout's observations, or of their best choices; off policy mean Q of the actions of
    /// the batches, by the first critic
    pub value_mean: f32,
    /// mean return of the last 100 episodes; NaN before the first ends
    pub return_mean: f32,
    /// mean length of the last 100 episodes; NaN before the first ends
    pub length_mean: f32,
    /// return of the most recent episode; NaN before the first ends
    pub return_last: f32,
    /// updates that ended early because numbers overflowed
    pub num_dropped: u64,
    /// PPO, IMPALA, UNREAL, as the next three: means before weights, NaN for a task that is off, 0 while no past steps are
    /// drawn. Squared error of the value of the chosen action's pixel changes, summed over cells
    pub pixel_control_loss: f32,
    /// cross-entropy of the next reward's sign, in nats
    pub reward_class_loss: f32,
    /// squared error of values on past steps
    pub value_replay_loss: f32,
    /// loss of the algorithm on past steps: policy, and value and entropy with their weights
    pub policy_replay_loss: f32,
    /// standard deviation of the returns of the last 100 episodes; NaN before the first ends
    pub return_std: f32,
    /// least return of the last 100 episodes; NaN before the first ends
    pub return_min: f32,
    /// largest return of the last 100 episodes; NaN before the first ends
    pub return_max: f32,
    /// SAC: weight of the entropy, in nats, now
    pub temperature: f32,
    /// DQN, TD3, SAC, PQN, stream Q: probability of a random action, now
    pub exploration_rate: f32,
    /// continuous actions of PPO, A2C, IMPALA, UNREAL, stream AC and SAC: mean logarithm of the standard deviations; of SAC
    /// over the batch that the policy learned from last
    pub log_std_mean: f32,
    /// DQN, TD3, SAC: transitions in the buffer, and kept demonstrations; others 0
    pub num_stored: u64,
}

versioned!(rlcore_learner_stats, "learner stats", num_episodes);
mirror!(
    rlcore_learner_stats,
    Stats {
        minibatches_left,
        num_steps,
        num_updates,
        num_episodes,
        learning_rate,
        policy_loss,
        value_loss,
        entropy,
        approx_kl,
        clip_fraction,
        explained_variance,
        grad_norm,
        value_mean,
        return_mean,
        length_mean,
        return_last,
        num_dropped,
        pixel_control_loss,
        reward_class_loss,
        value_replay_loss,
        policy_replay_loss,
        return_std,
        return_min,
        return_max,
        temperature,
        exploration_rate,
        log_std_mean,
        num_stored
    }
);

impl Block for rlcore_learner {
    const WHAT: &'static str = "learner";
    const KIND: BlockKind = BlockKind::Learner;
}

struct Spaces<'a> {
    obs: Space<'a>,
    action: Space<'a>,
    extents: [Extent; 6],
}

/// Storage for the fields of observations and of actions.
type Fields<'a> = [Option<[Field<'a>; MAX_FIELDS]>; 2];

/// The spaces of a learner, with their fields, stored in `seen` and `taken`.
unsafe fn spaces<'a>(
    setup: &Setup<'a>,
    [seen, taken]: &'a mut Fields<'a>,
    obs: *const rlcore_space,
    action: *const rlcore_space,
) -> Result<Spaces<'a>> {
    let (seen, taken) = (crate::env::parts(setup.obs_fields, seen)?, crate::env::parts(setup.action_fields, taken)?);
    let (obs, [a, b, c]) = unsafe { space::in_parts(&space::OBS, obs, seen)? };
    let (action, [d, e, f]) = unsafe { space::action(action, taken)? };
    Ok(Spaces { obs, action, extents: [a, b, c, d, e, f] })
}

/// The arrays of a call that acts: observations, mask, and room for actions.
pub type Arrays<'a> = (AnyInput<'a>, Option<Input<'a, u8>>, AnyOutput<'a>);

/// Observations, and a mask of the choices that they allow.
pub type Seen<'a> = (AnyInput<'a>, Option<Input<'a, u8>>);

/// Recurrent state, and flags of the rows in which it restarts.
pub type Carried<'a> = (Option<Output<'a, f32>>, Option<Input<'a, u8>>);

/// Recurrent state of `rows` rows; nothing without recurrent layers. Errors: `Null`, `Align`, `Overflow`.
///
/// # Safety
/// As [`Output::at`] and [`Input::at`].
pub unsafe fn carried<'a>(rows: usize, state_len: usize, state: *mut f32, reset: *const u8) -> Result<Carried<'a>> {
    if state_len == 0 {
        return Ok((None, None));
    }
    let state = unsafe { Output::at("state", state, ptr::grid("state", rows, state_len)?)? };
    Ok((Some(state), unsafe { Input::optional("reset", reset, rows)? }))
}

/// Recurrent state in the core's form.
pub fn recurrent<'a>((state, reset): (Option<&'a mut [f32]>, Option<&'a [u8]>)) -> Recurrent<'a> {
    Recurrent { state: state.unwrap_or_default(), reset: reset.unwrap_or_default() }
}

/// Errors: `Null`, `Align`, `Overflow`.
///
/// # Safety
/// As [`AnyInput::at`] and [`AnyOutput::at`].
pub unsafe fn arrays<'a>(shape: &Shape, n: usize, rows: &rlcore_rows) -> Result<Arrays<'a>> {
    let (obs, mask) = unsafe { seen(shape, n, rows)? };
    let (action, width) = (rows.action, shape.action_len as usize);
    Ok((obs, mask, unsafe { AnyOutput::at("action", action, shape.kinds().1, n, width)? }))
}

/// Observations of `n` rows and their mask of allowed choices. Errors: as [`arrays`].
///
/// # Safety
/// As [`AnyInput::at`].
pub unsafe fn seen<'a>(shape: &Shape, n: usize, rows: &rlcore_rows) -> Result<Seen<'a>> {
    unsafe { Ok((obs("obs", shape, n, rows.obs)?, mask(shape, n, rows.action_mask)?)) }
}

/// The actions chosen in `n` rows. Errors: as [`arrays`].
///
/// # Safety
/// As [`AnyInput::at`].
pub unsafe fn chosen<'a>(shape: &Shape, n: usize, rows: &rlcore_rows) -> Result<AnyInput<'a>> {
    let action = rows.action.cast_const();
    unsafe { AnyInput::at("action", action, shape.kinds().1, n, shape.action_len as usize) }
}

/// Flags of the active rows; nothing if all are active. Errors: `Align`, `Overflow`.
unsafe fn active<'a>(rows: &rlcore_rows, n: usize) -> Result<Option<Input<'a, u8>>> {
    unsafe { Input::optional("active", rows.active, n) }
}

/// A mask of allowed choices, or none for NULL. Errors: `Overflow`.
///
/// # Safety
/// As [`Input::at`].
pub unsafe fn mask<'a>(shape: &Shape, rows: usize, p: *const u8) -> Result<Option<Input<'a, u8>>> {
    unsafe { named_mask("action_mask", shape, rows, p) }
}

/// [`mask`], with a name for the array.
unsafe fn named_mask<'a>(
    what: &'static str,
    shape: &Shape,
    rows: usize,
    p: *const u8,
) -> Result<Option<Input<'a, u8>>> {
    unsafe { Input::optional(what, p, ptr::grid(what, rows, shape.mask_len())?) }
}

/// Errors: as [`arrays`].
///
/// # Safety
/// As [`AnyInput::at`].
pub unsafe fn obs<'a>(what: &'static str, shape: &Shape, rows: usize, p: *const c_void) -> Result<AnyInput<'a>> {
    unsafe { AnyInput::at(what, p, shape.kinds().0, rows, shape.obs_len as usize) }
}

/// As `obs`, or nothing for NULL.
unsafe fn optional<'a>(
    what: &'static str,
    shape: &Shape,
    rows: usize,
    p: *const c_void,
) -> Result<Option<AnyInput<'a>>> {
    if p.is_null() { Ok(None) } else { unsafe { obs(what, shape, rows, p) }.map(Some) }
}

/// N, the number of environments.
pub fn num_envs(learner: &Learner<'_>) -> usize {
    learner.config().num_envs as usize
}

/// A call that learns: `at` checks its arrays, `learn` uses them and returns the statistics.
pub(crate) fn learning<L, A: Args>(
    p: *mut rlcore_learner,
    stats: *mut rlcore_learner_stats,
    opened: fn(&'static mut [u8]) -> rlcore::error::Result<L>,
    at: impl FnOnce(&L) -> Result<A>,
    learn: impl FnOnce(&mut L, A::Slices) -> rlcore::error::Result<Stats>,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, opened)?;
        let (stats, arrays) = (OutSized::at(stats)?, at(&learner)?);
        let (stats, arrays, ()) = args((stats, arrays, Writes([learner.extent])))?;
        stats.store(learn(&mut learner, arrays)?.into());
        Ok(())
    })
}

/// A call that copies an array of a learner out.
pub(crate) fn copy_out<T: Plain + 'static>(
    p: *const rlcore_learner,
    what: &'static str,
    to: *mut T,
    get: impl FnOnce(&View<'static>) -> &'static [T],
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let from = get(&learner);
        rlcore::block::copy(learner.extent.reading(Output::at(what, to, from.len())?)?, from);
        Ok(())
    })
}

/// Bytes a block must have for this configuration and these spaces.
/// Observations: networks read bytes divided by 255, floats as they are, a choice of n as n numbers, 1 for the choice
/// and 0 for the others (one-hot). Of RLCORE_STRUCT they read the fields in config.obs_fields in that order, without
/// infos; obs.n then has one entry for each element of theirs of kind RLCORE_I32. rlcore_learner_seen_len returns how
/// many numbers they read.
/// Actions: one of RLCORE_STRUCT has the fields in config.action_fields. Each element of kind RLCORE_I32 is a choice, with
/// one entry in action.n; each of kind RLCORE_F32 is a number, with one entry in action.low and action.high unless they are
/// NULL. Each element is drawn from its own distribution; the log-probability and the entropy of the action are the sums
/// over its elements. Bytes that no field covers are never written. Bounds of continuous actions are finite and on both
/// sides, or low and high are NULL.
/// Errors: E_CONFIG for a structure without fields, for numbers in an action of RLCORE_STRUCT with DQN, PQN and stream Q,
/// for choices in one with TD3, and for an action that is bounded on one side only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_size(
    config: *const rlcore_learner_config,
    obs: *const rlcore_space,
    action: *const rlcore_space,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let (setup, mut room) = (setup(config)?, Fields::default());
            let spaces = spaces(&setup, &mut room, obs, action)?;
            Ok(Learner::size(&setup.config, setup.layers, &spaces.obs, &spaces.action)?)
        })
    })
}

/// Creates a learner in mem and draws its first parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_learner_config,
    obs: *const rlcore_space,
    action: *const rlcore_space,
    out: *mut *mut rlcore_learner,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let (setup, mut room) = (setup(config)?, Fields::default());
        let spaces = spaces(&setup, &mut room, obs, action)?;
        let [layers, seen, taken] = setup.extents;
        let [a, b, c, d, e, f] = spaces.extents;
        place.take(&[a, b, c, d, e, f, layers, seen, taken], |mem| {
            Learner::init(mem, &setup.config, setup.layers, &spaces.obs, &spaces.action).map(drop)
        })
    })
}

/// Opens the bytes of a learner that was copied or saved, in this process or another. Training continues with exactly
/// the results that it would have had without the interruption. mem is only read. If the learner was sealed by
/// rlcore_block_seal, it is refused if any byte has changed; if not, values that no call leaves are refused, but a
/// parameter that changed to another finite number is not detected. A learner whose process was killed within a call that
/// changes it is refused with E_IMAGE.
/// num_envs:    N of the host's arrays, which the learner must have; 0: any is accepted.
/// obs, action: the spaces of the host's arrays, compared as by rlcore_policy_attach. NULL: any are accepted, and
///              rlcore_learner_spaces tells them.
/// Errors: E_IMAGE; E_SHAPE if the learner was made for another N or other spaces, with its number and the given one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_attach(
    mem: *mut c_void,
    mem_size: usize,
    num_envs: u32,
    obs: *const rlcore_space,
    action: *const rlcore_space,
    out: *mut *mut rlcore_learner,
) -> rlcore_status {
    call(|| unsafe {
        let expected = Expected::at(obs, action)?;
        Place::at(mem, mem_size, out)?.take(&expected.extents, |mem| {
            let learner = View::attach(mem)?;
            let (own, num_envs) = (learner.num_envs(), num_envs as usize);
            let other = Error::limit(Kind::Shape, "environments,", own, num_envs);
            other.fail_if(num_envs != 0 && num_envs != own).about("num_envs")?;
            expected.check(&learner.spaces())
        })
    })
}

/// Returns the call that is due: LEARN if an update is due, of a complete rollout or of batches of the store, or while one
/// runs without overlap; else OBSERVE if an environment has acted and not been observed since; else ACT.
/// out: [1] an rlcore_learner_due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_phase(p: *const rlcore_learner, out: *mut u32) -> rlcore_status {
    call(|| unsafe { view(p, View::phase_of)?.tell("out", out, |phase| Ok(*phase as u32)) })
}

/// Returns which environments have acted and not been observed since.
/// acted: [N] flags to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_acted(p: *const rlcore_learner, acted: *mut u8) -> rlcore_status {
    copy_out(p, "acted", acted, |learner| learner.acted())
}

/// Draws an action for each environment and begins a transition.
/// rows: reads active, obs and action_mask; writes action. An environment whose active is 0 does not act now. obs:
///       bytes are divided by 255, choices are one-hot. action_mask: 0 forbids a choice; each element of an action
///       needs at least one that is allowed; required with use_action_mask, NULL without.
/// Errors: E_CONFIG; E_NOT_READY if rlcore_learner_learn is due, or an environment has already acted; E_SHAPE for a
/// mask that is missing or not expected; E_VALUE for a mask that allows nothing, and for an observation that is not
/// finite, is so large that the policy overflows, has a choice that does not exist, or is not a stack as num_stacked
/// requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_act(p: *mut rlcore_learner, rows: *const rlcore_rows) -> rlcore_status {
    call(|| unsafe {
        let mut other = None;
        let rows = rlcore_rows::at(rows, &mut other)?;
        acting(p, |learner, extent| {
            let (shape, n) = learner.shape();
            let (arrays, active) = (arrays(shape, n, rows)?, active(rows, n)?);
            let (active, (obs, mask, action), ()) = args((active, arrays, Writes([extent])))?;
            Ok(learner.act(active, obs, mask, action)?)
        })
    })
}

/// rlcore_learner_act for environments [begin, end) only. The arrays are those of all N; only rows of the range are
/// used. Calls for consecutive ranges, from the first environment to the last, leave the same bytes as one call for
/// all.
/// Threads: one call at a time.
/// rows: as rlcore_learner_act.
/// Errors: as rlcore_learner_act; E_RANGE.
#[cfg(feature = "scale")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_act_range(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let mut learner = open(p, Learner::open)?;
        let (begin, end) = (begin as usize, end as usize);
        learner.check_envs(begin, end)?;
        let (shape, n) = (*learner.shape(), learner.num_envs());
        // Used after `arrays` has checked that the whole arrays fit, so the products are exact.
        let part = |width: u32| (begin.saturating_mul(width as usize), end.saturating_mul(width as usize));
        let (obs, mask, action) = arrays(&shape, n, &rows)?;
        let (low, high) = part(shape.obs_len);
        let obs = obs.part(low, high);
        let (low, high) = part(shape.mask_len() as u32);
        let mask = mask.map(|mask| mask.part(low, high));
        let (low, high) = part(shape.action_len);
        let action = action.part(low, high);
        let active = active(&rows, n)?.map(|active| active.part(begin, end));
        let (active, obs, mask, action, ()) = args((active, obs, mask, action, Writes([learner.extent])))?;
        Ok(learner.act_range(begin, end, active, obs, mask, action)?)
    })
}

/// Actions of the host's own in place of those of rlcore_learner_act: of a person, a script or a recorded game.
/// Off policy (DQN, TD3, SAC) each begins a transition of its environment, and rlcore_learner_observe completes it. Its
/// steps count in num_steps; an episode with such an action is not the agent's, and counts in none of the statistics. The
/// first demonstration_size of these transitions are kept for good.
/// On policy the first demonstration_size observations and actions are kept for imitation_coef, later ones are left out.
/// Nothing begins and nothing is counted: rlcore_learner_observe does not follow, and an environment that the learner acts
/// in as well is at the beginning of an episode then, or is cut by rlcore_learner_cut.
/// rows: reads active, obs, action_mask, and action: numbers between their bounds, without bounds from -1 to 1 off policy,
///       and choices that action_mask allows.
/// Errors: as rlcore_learner_act; E_VALUE for another action; E_DISABLED on policy without demonstration_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_demonstrate(p: *mut rlcore_learner, rows: *const rlcore_rows) -> rlcore_status {
    call(|| unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let mut learner = open(p, Learner::open)?;
        let (n, shape) = (learner.num_envs(), learner.shape());
        let arrays = (seen(shape, n, &rows)?, chosen(shape, n, &rows)?, active(&rows, n)?);
        let ((obs, mask), action, active) = learner.extent.writing(arrays)?;
        Ok(learner.demonstrate(active, obs, mask, action)?)
    })
}

/// Records the results of the step and completes the transitions. After T * N transitions rlcore_learner_learn is due.
/// Autoreset must be same-step: with next-step autoreset, rows that are only reset would count as transitions.
/// rows: reads active, reward, terminated, truncated, final_obs and final_action_mask, and with use_duration duration. An
///       environment whose active is 0 was not stepped. final_obs and final_action_mask are read only where truncated and
///       not terminated; final_obs may be NULL if there is no such environment. final_action_mask: 0 forbids a choice;
///       those rows allow at least one choice of each element; NULL: all are allowed, as without use_action_mask. The
///       reward is that of the whole duration.
/// Errors: E_CONFIG; E_NOT_READY if an environment has not acted; E_SHAPE for a mask without use_action_mask; E_VALUE
/// for a reward, a duration or a final_obs that is not finite, a duration below 0, a mask that allows nothing, and off
/// policy for a final_obs that is not a stack as num_stacked requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_observe(p: *mut rlcore_learner, rows: *const rlcore_rows) -> rlcore_status {
    call(|| unsafe {
        let mut other = None;
        let rows = rlcore_rows::at(rows, &mut other)?;
        acting(p, |learner, extent| {
            let (shape, n) = learner.shape();
            let active = active(rows, n)?;
            let reward = Input::at("reward", rows.reward.cast_const(), n)?;
            let duration = match learner.uses_duration() {
                true => Some(Input::at("duration", rows.duration, n)?),
                false => None,
            };
            let ends = (
                Input::at("terminated", rows.terminated.cast_const(), n)?,
                Input::at("truncated", rows.truncated.cast_const(), n)?,
            );
            let last = (
                optional("final_obs", shape, n, rows.final_obs)?,
                named_mask("final_action_mask", shape, n, rows.final_action_mask)?,
            );
            let (active, (reward, duration), (terminated, truncated), (final_obs, final_mask)) =
                extent.writing((active, (reward, duration), ends, last))?;
            Ok(learner.observe(duration, active, reward, [terminated, truncated], final_obs, final_mask)?)
        })
    })
}

/// Removes agents that leave before the outcome of their last action is known, whether or not they have been observed
/// since. Their last transition is dropped; the one before it becomes truncated, and bootstraps from the value of the
/// observation that the last action was chosen for. Off policy, transitions whose n_step steps are not complete are dropped.
/// Their episodes are not counted. The rows are free for other agents.
/// Allowed in every phase. If rlcore_learner_learn is due and has not begun, the rollout may lack transitions afterwards,
/// so that learning is not due any more: ask rlcore_learner_phase. An update that has begun goes on with all of its
/// transitions, and with the bootstrap values of the observations that it was given.
/// gone: [N] flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_cut(p: *mut rlcore_learner, gone: *const u8) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let gone = learner.extent.writing(Input::at("gone", gone, learner.num_envs())?)?;
        Ok(learner.cut_rows(gone)?)
    })
}

/// Does a part of the update that is due, so that a frame need not wait for a whole update.
/// rows:        reads obs and action_mask after the last step, required in the first call of an update of a rollout;
///              rows of environments that have acted since, or whose episode ended, are not read. NULL, or with obs
///              NULL: there is no observation, as off policy and in later calls. The value that follows is one of the
///              choices of action_mask; NULL: all are allowed, as without use_action_mask.
/// max_slices:  the most chunks to do in this call, of which a minibatch has num_chunks; 0: all that are left.
/// stats:       to write; call again while minibatches_left is not 0. With overlap the next update may be due by the end
///              of an update: then minibatches_left counts the next one, whose first call needs obs on policy.
/// With overlap off policy, what an update learns does not depend on when its parts are computed: it draws from what was
/// stored when it began, with the statistics of that time, and the policy from before it acts until the next update begins.
/// Errors: E_CONFIG; E_NOT_READY; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite
/// or a mask that allows nothing, before anything changes, or because numbers overflow. In that case the update ends and is
/// counted in num_dropped, the parameters are those of the last minibatch whose numbers did not overflow, and
/// rlcore_learner_act is due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn(
    p: *mut rlcore_learner,
    rows: *const rlcore_rows,
    max_slices: u32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        Learner::open,
        |learner| unsafe {
            let (shape, n) = (learner.shape(), learner.num_envs());
            if rows.is_null() {
                return Ok((None, None));
            }
            let rows = *rlcore_rows::at(rows, &mut None)?;
            Ok((optional("obs", shape, n, rows.obs)?, mask(shape, n, rows.action_mask)?))
        },
        |learner, (obs, mask)| learner.learn(obs, mask, max_slices),
    )
}

/// Returns the statistics as a call that learns would write them now, in any phase. Of a learner that was saved amid an
/// update, minibatches_left counts the rest of that update.
/// stats: to write.
/// Errors: E_CONFIG for struct_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_stats_read(
    p: *const rlcore_learner,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        learner.extent.reading(OutSized::at(stats)?)?.store(learner.stats().into());
        Ok(())
    })
}

/// Computes the value of an observation of each environment. Nothing is recorded. Recurrent layers read their current
/// state for each environment, zeros where an episode begins, and do not change it.
/// rows:  reads obs and action_mask; NULL: all choices are allowed, as without use_action_mask. The value of a learner
///        of Q is that of the best of these choices, and that of discrete SAC a mean over them.
/// value: [N] to write.
/// Errors: E_CONFIG; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite, a mask
/// that allows nothing, or values that overflow.
#[cfg(feature = "evaluate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_value(
    p: *mut rlcore_learner,
    rows: *const rlcore_rows,
    value: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let mut learner = open(p, Learner::open)?;
        let (shape, n) = (learner.shape(), learner.num_envs());
        let arrays = (seen(shape, n, &rows)?, Output::at("value", value, n)?);
        let (((obs, mask), value), ()) = args((arrays, Writes([learner.extent])))?;
        Ok(learner.value(obs, mask, value)?)
    })
}

/// Computes the log-probability of each environment's action and the entropy of its distribution. Nothing is recorded.
/// Recurrent layers read their current state for each environment, zeros where an episode begins, and do not change it. With
/// squash both are those of the action before tanh, as in updates.
/// rows: reads obs, action_mask as in rlcore_learner_act, and action; continuous actions as the policy draws them,
///       before they are squashed or clipped.
/// log_prob, entropy: [N] to write.
/// Errors: E_CONFIG; E_SHAPE for a mask that is missing or not expected; E_VALUE for an observation or action that is
/// not finite, a choice that does not exist or is not allowed, and numbers that overflow.
#[cfg(feature = "evaluate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_log_prob(
    p: *mut rlcore_learner,
    rows: *const rlcore_rows,
    log_prob: *mut f32,
    entropy: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let mut learner = open(p, on_policy)?;
        let (n, shape) = (num_envs(&learner), *learner.shape());
        let (obs, mask) = seen(&shape, n, &rows)?;
        let action = chosen(&shape, n, &rows)?;
        let outputs = (Output::at("log_prob", log_prob, n)?, Output::at("entropy", entropy, n)?);
        let (obs, mask, action, (log_prob, entropy), ()) =
            args((obs, mask, action, outputs, Writes([learner.extent])))?;
        Ok(learner.log_prob(obs, mask, action, log_prob, entropy)?)
    })
}

/// Numbers that recurrent layers carry from one step of an environment to the next; 0 without such layers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_state_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        *learner.extent.reading(One::at("out_len", out_len)?)? = learner.state_len();
        Ok(())
    })
}

/// How many numbers networks read of one observation: obs.len, unless observations are choices or structures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_seen_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        *learner.extent.reading(One::at("out_len", out_len)?)? = learner.shape().seen_len as usize;
        Ok(())
    })
}

/// Transitions in the arrays of rlcore_learner_batch_read and rlcore_learner_learn_batch: T * N. Off policy, those in the
/// arrays of rlcore_learner_learn_transitions: batch_size.
/// out_mask_len:  flags of action_mask for each of them; 0 without use_action_mask, when action_mask is NULL.
/// out_begin_len: elements of begin, as many as transitions; 0 where begin is NULL.
/// out_env_len:   elements of env, as many as transitions; 0 where env is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_batch_len(
    p: *const rlcore_learner,
    out_len: *mut usize,
    out_mask_len: *mut usize,
    out_begin_len: *mut usize,
    out_env_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let outputs = (
            (One::at("out_len", out_len)?, One::at("out_mask_len", out_mask_len)?),
            (One::at("out_begin_len", out_begin_len)?, One::at("out_env_len", out_env_len)?),
        );
        let ((len, mask_len), (begin_len, env_len)) = learner.extent.reading(outputs)?;
        (*len, *mask_len) = learner.batch_len();
        (*begin_len, *env_len) = learner.order_len();
        Ok(())
    })
}

/// Acts without recording and without the noise of noisy layers, in any phase. Training is not affected.
/// rows:     reads obs and action_mask, writes action, as rlcore_learner_act; active is not read: all act.
/// state:    [N, rlcore_learner_state_len()] of recurrent layers from call to call, apart from the episodes that are
///           recorded; read, then written. Numbers of layers that only the values read (policy_layer) stay as they are,
///           or become 0 with reset. NULL without such layers.
/// reset:    [N] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
/// sampling: NULL means RLCORE_SAMPLING_BASIC.
/// Errors: as rlcore_learner_act; E_CONFIG for sampling.
#[cfg(feature = "evaluate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_predict(
    p: *mut rlcore_learner,
    rows: *const rlcore_rows,
    state: *mut f32,
    reset: *const u8,
    sampling: *const rlcore_sampling,
) -> rlcore_status {
    call(|| unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let mut learner = open(p, Learner::open)?;
        let (sampling, n) = (self::sampling(sampling)?, learner.num_envs());
        let arrays = arrays(learner.shape(), n, &rows)?;
        let carried = carried(n, learner.view().state_len(), state, reset)?;
        let ((obs, mask, action), carried, ()) = args((arrays, carried, Writes([learner.extent])))?;
        Ok(learner.predict(obs, mask, recurrent(carried), sampling, action)?)
    })
}

/// Stops (1) or resumes (0) updating the statistics that normalize observations and rewards.
/// Errors: E_RANGE for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_freeze(p: *mut rlcore_learner, frozen: u32) -> rlcore_status {
    call(|| unsafe {
        open(p, Learner::open)?.freeze(ptr::flag("learner_freeze: frozen", frozen)?);
        Ok(())
    })
}
