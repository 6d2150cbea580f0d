//! Proximal policy optimisation: a learner in the caller's block.

use core::ffi::c_void;

use crate::kernels::accumulate;
use crate::lifecycle::{self, Block, Place, open};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, One, OutSized, Writes, args};
use crate::sampling::{rlcore_sampling, sampling};
use crate::space::{self, rlcore_space};
use crate::status::{Result, call, rlcore_status};
use rlcore::block::Kind as BlockKind;
use rlcore::learn::{Config, Learner, Shape, Stats};
use rlcore::space::{Element, Space};

/// A PPO learner: the caller's own block.
pub struct rlcore_learner;

/// Of the hidden layers.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_activation {
    /// tanh
    RLCORE_ACTIVATION_TANH = 0,
    /// max(x, 0)
    RLCORE_ACTIVATION_RELU = 1,
}

/// Which call is due.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_learner_due {
    /// rlcore_learner_act with the current observations
    RLCORE_LEARNER_ACT = 0,
    /// rlcore_learner_observe with what the step returned
    RLCORE_LEARNER_OBSERVE = 1,
    /// rlcore_learner_learn until no minibatch is left
    RLCORE_LEARNER_LEARN = 2,
}

/// Hyperparameters. Defaults in parentheses; flags are 0 or 1.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_config {
    /// bytes; set by rlcore_learner_config_init
    pub struct_size: u32,
    /// N, environments that act side by side (4)
    pub num_envs: u32,
    /// T, steps of every environment in one rollout (128)
    pub num_steps: u32,
    /// parts of a rollout; T * N has to be a multiple of it (4)
    pub num_minibatches: u32,
    /// passes over each rollout, 1 to 1000 (4)
    pub num_epochs: u32,
    /// hidden layers of the policy and of the value network, 0 to 4 (2)
    pub num_hidden: u32,
    /// units of each hidden layer, 0 beyond num_hidden (64, 64)
    pub hidden_len: [u32; 4],
    /// an rlcore_activation (tanh)
    pub activation: u32,
    /// advantages get mean 0 and deviation 1 in each minibatch (1)
    pub normalize_advantage: u32,
    /// observations get mean 0 and deviation 1 by running statistics of the steps before (0)
    pub normalize_obs: u32,
    /// rewards are divided by the running deviation of the discounted return (0)
    pub normalize_reward: u32,
    /// continuous actions go through tanh onto their bounds (0: they are clipped)
    pub squash: u32,
    /// rlcore_learner_act takes a mask of allowed choices (0)
    pub use_action_mask: u32,
    /// all randomness of the learner comes from this, a stream for each environment (1)
    pub seed: u64,
    /// environment steps until the _end values are reached (0: never, constant)
    pub total_steps: u64,
    /// step size at the start (2.5e-4)
    pub learning_rate: f32,
    /// step size at total_steps (0)
    pub learning_rate_end: f32,
    /// probability ratios are clipped to 1 plus or minus this at the start (0.2)
    pub clip: f32,
    /// the same at total_steps (0.2)
    pub clip_end: f32,
    /// from 0 to 1 (0.99)
    pub discount: f32,
    /// of GAE, from 0 to 1 (0.95)
    pub gae_lambda: f32,
    /// weight of the value loss, half the mean squared error (0.5)
    pub value_coef: f32,
    /// weight of the entropy bonus (0.01)
    pub entropy_coef: f32,
    /// new values are clipped to old ones plus or minus this (0: off)
    pub value_clip: f32,
    /// gradients are scaled down to this global norm (0.5; 0: off)
    pub max_grad_norm: f32,
    /// an update ends once its approximate KL divergence passes 1.5 times this (0: off)
    pub target_kl: f32,
    /// decay of Adam's first moment (0.9)
    pub adam_beta1: f32,
    /// decay of Adam's second moment, at least the square of adam_beta1 (0.999)
    pub adam_beta2: f32,
    /// outside the root, from 1e-12 (1e-5)
    pub adam_epsilon: f32,
    /// logarithm of the deviation of continuous actions at the start (0)
    pub log_std_init: f32,
    /// normalised observations are clipped to plus or minus this (10)
    pub obs_clip: f32,
    /// normalised rewards are clipped to plus or minus this (10)
    pub reward_clip: f32,
    /// what advantages are summed in: an rlcore_accumulate (f32)
    pub accumulate: u32,
    /// after every step logarithms of deviations are this at least, from -40 (-20)
    pub log_std_min: f32,
    /// and this at most, to 40 (2)
    pub log_std_max: f32,
    /// chunks of each minibatch, up to one a row: the smallest slices of learning; their gradients are added as a binary
    /// tree over their numbers (1)
    pub num_chunks: u32,
    /// 0
    pub reserved: u32,
}

/// What the update that runs, or the last one, did, and how the episodes go.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_stats {
    /// sizeof(rlcore_learner_stats)
    pub struct_size: u32,
    /// 0: the update is complete
    pub minibatches_left: u32,
    /// environment steps observed
    pub num_steps: u64,
    /// complete updates
    pub num_updates: u64,
    /// episodes that ended
    pub num_episodes: u64,
    /// step size of this update
    pub learning_rate: f32,
    /// mean clipped surrogate loss
    pub policy_loss: f32,
    /// mean of half the squared error
    pub value_loss: f32,
    /// mean entropy in nats
    pub entropy: f32,
    /// mean of r - 1 - ln r, r the probability ratio
    pub approx_kl: f32,
    /// part of the ratios that were clipped
    pub clip_fraction: f32,
    /// of the rollout's values: 1 perfect, 0 as a constant or if targets do not vary
    pub explained_variance: f32,
    /// mean global norm of the gradients before they are scaled
    pub grad_norm: f32,
    /// mean value of the rollout's observations
    pub value_mean: f32,
    /// mean return of the last 100 episodes; NaN before the first ends
    pub return_mean: f32,
    /// mean length of the last 100 episodes; NaN before the first ends
    pub length_mean: f32,
    /// return of the episode that ended last; NaN before the first ends
    pub return_last: f32,
    /// updates that ended early because numbers overflowed
    pub num_dropped: u64,
}

versioned!(rlcore_learner_config, "learner config", use_action_mask, Config::default().into());
versioned!(rlcore_learner_stats, "learner stats", num_episodes);
mirror!(
    rlcore_learner_config,
    Config {
        num_envs,
        num_steps,
        num_minibatches,
        num_epochs,
        num_hidden,
        hidden_len,
        activation,
        normalize_advantage,
        normalize_obs,
        normalize_reward,
        squash,
        use_action_mask,
        seed,
        total_steps,
        learning_rate,
        learning_rate_end,
        clip,
        clip_end,
        discount,
        gae_lambda,
        value_coef,
        entropy_coef,
        value_clip,
        max_grad_norm,
        target_kl,
        adam_beta1,
        adam_beta2,
        adam_epsilon,
        log_std_init,
        obs_clip,
        reward_clip,
        accumulate,
        log_std_min,
        log_std_max,
        num_chunks
    }
);
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
        num_dropped
    }
);

unsafe fn config(p: *const rlcore_learner_config) -> Result<Config> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("learner config: reserved", c.reserved)?;
    accumulate("learner config: accumulate", c.accumulate)?;
    Ok(c.into())
}

impl Block for rlcore_learner {
    const WHAT: &'static str = "learner";
    const KIND: BlockKind = BlockKind::Learner;
}

struct Spaces<'a> {
    obs: Space<'a>,
    action: Space<'a>,
    extents: [Extent; 6],
}

unsafe fn spaces<'a>(obs: *const rlcore_space, action: *const rlcore_space) -> Result<Spaces<'a>> {
    let (obs, [a, b, c]) = unsafe { space::at(&space::OBS, obs)? };
    let (action, [d, e, f]) = unsafe { space::at(&space::ACTION, action)? };
    Ok(Spaces { obs, action, extents: [a, b, c, d, e, f] })
}

/// The kinds of observations and actions of a shape.
pub fn kinds(shape: &Shape) -> (Element, Element) {
    let obs = if shape.obs_u8() { Element::U8 } else { Element::F32 };
    (obs, if shape.discrete() { Element::I32 } else { Element::F32 })
}

/// The arrays that acting takes and fills, for a number of rows.
pub type Arrays<'a> = (AnyInput<'a>, Option<Input<'a, u8>>, AnyOutput<'a>);

/// Errors: `Null`, `Align`, `Overflow`.
///
/// # Safety
/// As [`AnyInput::at`] and [`AnyOutput::at`].
pub unsafe fn arrays<'a>(
    shape: &Shape,
    rows: usize,
    obs: *const c_void,
    action_mask: *const u8,
    action: *mut c_void,
) -> Result<Arrays<'a>> {
    let (_, action_kind) = kinds(shape);
    let flags = ptr::grid("action_mask", rows, shape.num_outputs as usize)?;
    unsafe {
        Ok((
            self::obs("obs", shape, rows, obs)?,
            Input::optional("action_mask", action_mask, flags)?,
            AnyOutput::at("action", action, action_kind, rows, shape.action_len as usize)?,
        ))
    }
}

unsafe fn obs<'a>(what: &'static str, shape: &Shape, rows: usize, p: *const c_void) -> Result<AnyInput<'a>> {
    unsafe { AnyInput::at(what, p, kinds(shape).0, rows, shape.obs_len as usize) }
}

/// Observations of a learner's environments, or nothing for NULL.
unsafe fn optional<'a>(what: &'static str, learner: &Learner<'_>, p: *const c_void) -> Result<Option<AnyInput<'a>>> {
    if p.is_null() { Ok(None) } else { unsafe { obs(what, learner.shape(), num_envs(learner), p) }.map(Some) }
}

fn num_envs(learner: &Learner<'_>) -> usize {
    learner.config().num_envs as usize
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_config_init(
    config: *mut rlcore_learner_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Bytes a block must have for this configuration and these spaces. Bytes of pictures are divided by 255; those of an
/// RLCORE_STRUCT are refused, and RLCORE_WRAP_FLATTEN makes numbers of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_size(
    config: *const rlcore_learner_config,
    obs: *const rlcore_space,
    action: *const rlcore_space,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let (config, spaces) = (self::config(config)?, spaces(obs, action)?);
            Ok(Learner::size(&config, &spaces.obs, &spaces.action)?)
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
        let (config, spaces) = (self::config(config)?, spaces(obs, action)?);
        place.take(&spaces.extents, |mem| Learner::init(mem, &config, &spaces.obs, &spaces.action))
    })
}

/// Accepts bytes that a learner was copied to, in this process or another: it goes on as if it had never stopped.
/// mem is only read. A learner that rlcore_block_seal has sealed is refused if any byte differs; one that was not, if it
/// holds what no call could have left: a parameter that was damaged into another finite number is not noticed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_learner,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Learner::check) })
}

/// Which call is due. out: [1] an rlcore_learner_due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_phase(p: *mut rlcore_learner, out: *mut u32) -> rlcore_status {
    call(|| unsafe {
        let learner = open(p, Learner::open)?;
        *learner.extent.reading(One::at("out", out)?)? = learner.phase() as u32;
        Ok(())
    })
}

/// Draws an action for each environment and begins a transition.
/// obs:         [N, obs.len]; networks see bytes divided by 255.
/// action_mask: [N, sum of action.n] 0 forbids, not all of a choice; required exactly if use_action_mask, else NULL.
/// action:      [N, action.len] to write.
/// Errors: E_NOT_READY; E_SHAPE for a mask that is not wanted, or missing; E_VALUE for an observation that is not
/// finite or so large that the policy overflows, or a mask that forbids all of a choice. Then nothing has changed,
/// neither block nor action.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_act(
    p: *mut rlcore_learner,
    obs: *const c_void,
    action_mask: *const u8,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let arrays = arrays(learner.shape(), num_envs(&learner), obs, action_mask, action)?;
        let ((obs, mask, action), ()) = args((arrays, Writes([learner.extent])))?;
        Ok(learner.act(obs, mask, action)?)
    })
}

/// Completes the transition: what the step returned. After T of them rlcore_learner_learn is due.
/// Autoreset has to be same step: a row that next-step autoreset only resets is no transition.
/// reward, terminated, truncated: [N]
/// final_obs: [N, obs.len], read only where truncated and not terminated; NULL only if nothing is.
/// Errors: E_NOT_READY; E_VALUE for a reward or final_obs that is not finite. Then nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_observe(
    p: *mut rlcore_learner,
    reward: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    final_obs: *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let n = num_envs(&learner);
        let reward = Input::at("reward", reward, n)?;
        let ends = (Input::at("terminated", terminated, n)?, Input::at("truncated", truncated, n)?);
        let final_obs = optional("final_obs", &learner, final_obs)?;
        let (reward, (terminated, truncated), final_obs) = learner.extent.writing((reward, ends, final_obs))?;
        Ok(learner.observe(reward, terminated, truncated, final_obs)?)
    })
}

/// Does a part of the update that is due, so that a frame never waits for a whole one.
/// obs:        [N, obs.len] after the last step; may be NULL in all calls of an update but the first.
/// max_slices: at most so many chunks in this call, of which a minibatch has num_chunks; 0: all that are left.
/// stats:      to write; call again while minibatches_left is not 0.
/// Errors: E_CONFIG; E_NOT_READY; E_VALUE for an observation that is not finite, before anything changes, or because
/// numbers overflow. Then this update is over and counted in num_dropped, the parameters are the last ones that were
/// finite, and rlcore_learner_act is due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn(
    p: *mut rlcore_learner,
    obs: *const c_void,
    max_slices: u32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let (stats, obs) = (OutSized::at(stats)?, optional("obs", &learner, obs)?);
        let (stats, obs, ()) = args((stats, obs, Writes([learner.extent])))?;
        stats.store(learner.learn(obs, max_slices)?.into());
        Ok(())
    })
}

/// Acts without recording, in any phase: the training goes on as if this had not been called.
/// sampling: NULL: RLCORE_SAMPLING_BASIC.
/// Arrays and errors as rlcore_learner_act; E_CONFIG for sampling.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_predict(
    p: *mut rlcore_learner,
    obs: *const c_void,
    action_mask: *const u8,
    sampling: *const rlcore_sampling,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let sampling = self::sampling(sampling)?;
        let arrays = arrays(learner.shape(), num_envs(&learner), obs, action_mask, action)?;
        let ((obs, mask, action), ()) = args((arrays, Writes([learner.extent])))?;
        Ok(learner.predict(obs, mask, sampling, action)?)
    })
}

/// 1: the statistics that observations and rewards are normalised by stay as they are; 0: they follow again.
/// Errors: E_RANGE for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_freeze(p: *mut rlcore_learner, frozen: u32) -> rlcore_status {
    call(|| unsafe {
        open(p, Learner::open)?.freeze(ptr::flag("learner_freeze: frozen", frozen)?);
        Ok(())
    })
}
