//! Learners: an algorithm, its networks and its rollouts in the caller's block.

use core::ffi::c_void;

use crate::kernels::accumulate;
use crate::layer::{layers, rlcore_layer};
use crate::learner_kind::{self, Any, AnyView, on_policy};
use crate::lifecycle::{Block, Place, open, view};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, AnyInput, AnyOutput, Args, Extent, Input, One, OutSized, Output, Plain, Writes, args};
use crate::sampling::{rlcore_sampling, sampling};
use crate::space::{self, rlcore_field, rlcore_space};
use crate::status::{About, Fault, Result, call, rlcore_status};
use rlcore::block::Kind as BlockKind;
use rlcore::env::wrap::MAX_FIELDS;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Algorithm, Config, Learner, Recurrent, Shape, Stats};
use rlcore::nn::Layer;
use rlcore::space::{Field, Space};

/// A learner: the caller's own block.
pub struct rlcore_learner;

/// What a learner optimizes.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_algorithm {
    /// proximal policy optimization
    RLCORE_ALGORITHM_PPO = 0,
    /// advantage actor-critic
    RLCORE_ALGORITHM_A2C = 1,
    /// IMPALA: an actor-critic that corrects by V-trace for what older policies did
    RLCORE_ALGORITHM_IMPALA = 2,
    /// deep Q-networks, off policy: discrete actions
    RLCORE_ALGORITHM_DQN = 4,
    /// twin delayed deterministic policy gradients, off policy: continuous actions. DDPG if num_critics and policy_interval
    /// are 1 and target_noise is 0
    RLCORE_ALGORITHM_TD3 = 5,
    /// soft actor-critic, off policy: continuous actions
    RLCORE_ALGORITHM_SAC = 6,
    /// Q(lambda) over rollouts: parallelized Q-networks
    RLCORE_ALGORITHM_PQN = 7,
}

/// How parameters move along gradients.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_optimizer {
    /// Adam; epsilon is added as PyTorch adds it
    RLCORE_OPTIMIZER_ADAM = 0,
    /// Adam; epsilon is added as TensorFlow adds it
    RLCORE_OPTIMIZER_ADAM_TENSORFLOW = 1,
    /// RMSProp; epsilon is added as PyTorch adds it
    RLCORE_OPTIMIZER_RMSPROP = 2,
    /// RMSProp; epsilon as TensorFlow adds it, and mean squares that begin with 1
    RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW = 3,
    /// RMSProp that divides by the deviation of gradients, as PyTorch does
    RLCORE_OPTIMIZER_RMSPROP_CENTERED = 4,
    /// Adam that warms up until its second moment knows enough gradients (RAdam)
    RLCORE_OPTIMIZER_ADAM_RECTIFIED = 5,
}

/// The call that is due next.
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

/// Hyperparameters. Defaults of PPO in parentheses, and those of other algorithms where they differ; flags are 0 or 1.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_config {
    /// bytes; set by rlcore_learner_config_init
    pub struct_size: u32,
    /// N, environments that share the learner (4; DQN, TD3, SAC 1)
    pub num_envs: u32,
    /// T, steps of every environment in one rollout (128; A2C 5; IMPALA 80; PQN 32)
    pub num_steps: u32,
    /// parts of a rollout; T * N must be a multiple of it (4; A2C and IMPALA 1)
    pub num_minibatches: u32,
    /// passes over each rollout, 1 to 1000 (4; A2C and IMPALA 1)
    pub num_epochs: u32,
    /// hidden layers of the policy and of the value network, 0 to 4 (2)
    pub num_hidden: u32,
    /// units of each hidden layer, 0 beyond num_hidden (64, 64)
    pub hidden_len: [u32; 4],
    /// an rlcore_activation (tanh; ReLU with DQN, TD3, SAC and PQN)
    pub activation: u32,
    /// advantages get mean 0 and deviation 1 in each minibatch (1; A2C, IMPALA, PQN 0)
    pub normalize_advantage: u32,
    /// observations are scaled to mean 0 and deviation 1 by running statistics (0)
    pub normalize_obs: u32,
    /// rewards are divided by the running deviation of the discounted return (0)
    pub normalize_reward: u32,
    /// continuous actions are mapped to their bounds by tanh (0: clipped; TD3, SAC 1)
    pub squash: u32,
    /// rlcore_learner_act takes a mask of allowed choices (0)
    pub use_action_mask: u32,
    /// seed of all random numbers; each environment has a stream of its own (1)
    pub seed: u64,
    /// environment steps until the _end values are reached (0: never)
    pub total_steps: u64,
    /// step size at the start (2.5e-4; A2C 7e-4; IMPALA 4.8e-4; TD3 1e-3; SAC 3e-4)
    pub learning_rate: f32,
    /// step size at total_steps (0; DQN, TD3, SAC as learning_rate)
    pub learning_rate_end: f32,
    /// probability ratios are clipped to 1 plus or minus this at the start (0.2)
    pub clip: f32,
    /// the same at total_steps (0.2)
    pub clip_end: f32,
    /// discount factor, from 0 to 1 (0.99)
    pub discount: f32,
    /// lambda of GAE, V-trace, Q(lambda), from 0 to 1 (0.95; A2C, IMPALA 1; PQN 0.65)
    pub gae_lambda: f32,
    /// weight of the value loss, half the mean squared error (0.5; A2C 1)
    pub value_coef: f32,
    /// weight of the entropy bonus (0.01; IMPALA 6e-4; not read by PQN)
    pub entropy_coef: f32,
    /// values are clipped to those of the rollout plus or minus this (0: off)
    pub value_clip: f32,
    /// gradients are scaled down to this norm (0.5; IMPALA 40; DQN, PQN 10; TD3, SAC 0: off)
    pub max_grad_norm: f32,
    /// an update ends once its approximate KL divergence passes 1.5 times this (0: off)
    pub target_kl: f32,
    /// decay of Adam's first moment (0.9)
    pub adam_beta1: f32,
    /// decay of Adam's second moment, at least the square of adam_beta1 (0.999)
    pub adam_beta2: f32,
    /// epsilon of the optimizer, from 1e-12 to 1 (1e-5; IMPALA 0.01)
    pub adam_epsilon: f32,
    /// initial logarithm of the standard deviation of continuous actions (0)
    pub log_std_init: f32,
    /// normalized observations are clipped to plus or minus this (10)
    pub obs_clip: f32,
    /// normalized rewards are clipped to plus or minus this (10)
    pub reward_clip: f32,
    /// precision that advantages are summed in: an rlcore_accumulate (f32)
    pub accumulate: u32,
    /// lower limit of the logarithms of standard deviations, from -40 (-20)
    pub log_std_min: f32,
    /// upper limit of the logarithms of standard deviations, to 40 (2)
    pub log_std_max: f32,
    /// chunks that each minibatch is divided into, at most one per row: the smallest slices of learning; their
    /// gradients are added as a binary tree in the order of the chunks (1)
    pub num_chunks: u32,
    /// an rlcore_algorithm, set by rlcore_learner_config_init
    pub algorithm: u32,
    /// environments can act and be observed while an update runs; the policy from before the update acts. Needs memory
    /// for a second rollout and a second set of parameters (0)
    pub overlap: u32,
    /// first hidden layers that the policy and the value network share, 0 to num_hidden (0)
    pub num_shared: u32,
    /// entries of layers, up to 21 (0)
    pub num_layers: u32,
    /// height, width and channels of an observation that is a picture, in this order in memory; their product is obs.len
    /// (0: the observation is no picture)
    pub obs_dims: [u32; 3],
    /// steps of the sequences that recurrent layers learn from, which num_steps and the rows of a minibatch are multiples
    /// of; at least 1 exactly if there are such layers (0). Without them IMPALA learns from whole rollouts of each
    /// environment
    pub sequence_len: u32,
    /// [num_layers] layers that come first; the policy and the value network share them, and their hidden layers read the
    /// last one. Critics of TD3 and SAC have copies of their own, where RLCORE_LAYER_INPUT is the observation followed by
    /// the action, and the last layer must depend on it. The list is read by rlcore_learner_size and rlcore_learner_init
    /// only (NULL)
    pub layers: *const rlcore_layer,
    /// off policy, as all to policy_interval: transitions kept, at least batch_size (100,000)
    pub buffer_size: u32,
    /// transitions of a gradient step, divided into num_chunks chunks (128; TD3, SAC 256)
    pub batch_size: u32,
    /// environment steps before the first update (1000)
    pub learning_starts: u32,
    /// environment steps from one update to the next (1)
    pub train_interval: u32,
    /// gradient steps of an update (1)
    pub gradient_steps: u32,
    /// gradient steps from one move of the target networks to the next (1; DQN 500; TD3 2)
    pub target_interval: u32,
    /// how far the target networks move, above 0, to 1: a copy (0.005; DQN 1)
    pub target_rate: f32,
    /// with PQN too: environment steps to exploration_end (10,000; TD3, SAC 1000)
    pub exploration_steps: u32,
    /// with PQN too: probability of a random action at the start (1)
    pub exploration_start: f32,
    /// with PQN too: the same from exploration_steps on (0.05; TD3, SAC 0)
    pub exploration_end: f32,
    /// the network chooses the next action whose value the target network gives (0; DQN 1)
    pub double_q: u32,
    /// DQN: separate outputs for the value of an observation and the advantages of actions (0)
    pub dueling: u32,
    /// errors count linearly beyond 1, not squared (0; DQN 1)
    pub huber: u32,
    /// gradient steps of the critics for each one of the policy; not read by DQN (1; TD3 2)
    pub policy_interval: u32,
    /// an rlcore_optimizer (Adam; A2C and IMPALA RMSProp; PQN rectified Adam)
    pub optimizer: u32,
    /// decay of RMSProp's mean squares, from 0 to below 1 (0.99)
    pub rms_decay: f32,
    /// part of its last step that RMSProp takes again, from 0 to below 1; 0 if centered (0)
    pub rms_momentum: f32,
    /// losses are sums over a minibatch instead of means; 0 off policy (0; IMPALA 1)
    pub sum_losses: u32,
    /// V-trace: probability ratios that scale temporal differences are clipped to this (1)
    pub clip_rho: f32,
    /// V-trace: probability ratios that carry later differences back are clipped to this (1)
    pub clip_c: f32,
    /// V-trace: probability ratios that scale advantages are clipped to this (1)
    pub clip_pg_rho: f32,
    /// V-trace: how much of what the three clips cut off still counts, from 0 to 1 (0)
    pub leak: f32,
    /// hidden layers are normalized before their activation, each row on its own (0; PQN 1)
    pub hidden_norm: u32,
    /// frames in an observation of RLCORE_U8, up to 16, stacked along its last axis, the newest last. A rollout then stores
    /// each frame once: 7 KB instead of 28 KB for 84 x 84 x 4. The older frames must be those of the environment's previous
    /// observation, shifted by one, or, as at the start of an episode, each a copy of the newest frame or zeros.
    /// RLCORE_WRAP_FRAME_STACK makes such stacks. An environment's first observation in a rollout may have any frames. Not
    /// with normalize_obs, not off policy (0: observations are stored whole)
    pub num_stacked: u32,
    /// [num_obs_fields] fields of an observation, as rlcore_env_fields lists them. A layer can read one of them alone: see
    /// its source. Required for RLCORE_STRUCT. Read by the same two calls as layers (NULL)
    pub obs_fields: *const rlcore_field,
    /// [num_action_fields] fields of an action of RLCORE_STRUCT, of kinds RLCORE_F32 and RLCORE_I32, in the order of their
    /// offsets, with up to 64 elements of each kind. Read by the same two calls. NULL for other actions (NULL)
    pub action_fields: *const rlcore_field,
    /// entries of obs_fields, up to 8 (0)
    pub num_obs_fields: u32,
    /// entries of action_fields, up to 8 (0)
    pub num_action_fields: u32,
    /// TD3 and SAC: number of critics, 1 or 2; of two values the lower counts (2)
    pub num_critics: u32,
    /// TD3 and SAC: step size of the critics, relative to learning_rate (1)
    pub critic_rate: f32,
    /// TD3: standard deviation of the noise on actions, which are -1 to 1 here (0.1)
    pub exploration_noise: f32,
    /// TD3: the same for the noise on next actions in the critics' targets (0.2)
    pub target_noise: f32,
    /// TD3: the noise in targets is clipped to plus or minus this (0.5)
    pub target_noise_clip: f32,
    /// SAC: weight of the entropy, in nats, at the start (1)
    pub temperature: f32,
    /// SAC: step size of the logarithm of the temperature; 0: it is constant (3e-4)
    pub temperature_rate: f32,
    /// SAC: entropy that the temperature aims at, in nats per element of an action (-1)
    pub target_entropy: f32,
    /// hidden layers and heads are noisy (RLCORE_LAYER_NOISY, RLCORE_INIT_UNIFORM), and their noise explores. It is drawn
    /// once per rollout, and the update uses the noise that acted. DQN draws it for each gradient step, the same for Q and
    /// its target, and acts with it until the next; exploration_start and exploration_end can then be 0. Not with overlap,
    /// TD3 or SAC; rlcore_learner_learn_batch then works with IMPALA only (0)
    pub noisy: u32,
    /// steps before each sequence that recurrent layers first run through without a loss, so that the sequence starts from a
    /// state computed with the current parameters. Fewer where the episode or the rollout begins. At most num_steps -
    /// sequence_len (0: sequences start from the states that were recorded)
    pub burn_in: u32,
}

/// Statistics of the current update, or of the last one, and of the episodes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_stats {
    /// sizeof(rlcore_learner_stats)
    pub struct_size: u32,
    /// minibatches until the update is complete
    pub minibatches_left: u32,
    /// environment steps observed
    pub num_steps: u64,
    /// complete updates
    pub num_updates: u64,
    /// episodes that ended
    pub num_episodes: u64,
    /// step size of this update
    pub learning_rate: f32,
    /// mean clipped surrogate loss, or mean of minus log-probabilities times advantages
    pub policy_loss: f32,
    /// mean of half the squared error
    pub value_loss: f32,
    /// mean entropy in nats
    pub entropy: f32,
    /// mean of r - 1 - ln r, where r is the probability ratio
    pub approx_kl: f32,
    /// fraction of the ratios that were clipped
    pub clip_fraction: f32,
    /// fraction of the targets' variance that values explain, up to 1; 0 for constant targets
    pub explained_variance: f32,
    /// mean global norm of the gradients before they are clipped
    pub grad_norm: f32,
    /// mean value of the rollout's observations, or of their best choices
    pub value_mean: f32,
    /// mean return of the last 100 episodes; NaN before the first ends
    pub return_mean: f32,
    /// mean length of the last 100 episodes; NaN before the first ends
    pub length_mean: f32,
    /// return of the most recent episode; NaN before the first ends
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
        num_chunks,
        algorithm,
        overlap,
        num_shared,
        num_layers,
        obs_dims,
        sequence_len,
        buffer_size,
        batch_size,
        learning_starts,
        train_interval,
        gradient_steps,
        target_interval,
        target_rate,
        exploration_steps,
        exploration_start,
        exploration_end,
        double_q,
        dueling,
        huber,
        policy_interval,
        optimizer,
        rms_decay,
        rms_momentum,
        sum_losses,
        clip_rho,
        clip_c,
        clip_pg_rho,
        leak,
        hidden_norm,
        num_stacked,
        num_critics,
        critic_rate,
        exploration_noise,
        target_noise,
        target_noise_clip,
        temperature,
        temperature_rate,
        target_entropy,
        noisy,
        burn_in
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

/// A configuration and the layers that it lists.
struct Setup<'a> {
    config: Config,
    layers: &'a [Layer],
    obs_fields: &'a [rlcore_field],
    action_fields: &'a [rlcore_field],
    extents: [Extent; 3],
}

unsafe fn setup<'a>(p: *const rlcore_learner_config) -> Result<Setup<'a>> {
    let c = unsafe { ptr::sized(p)? };
    accumulate("learner config: accumulate", c.accumulate)?;
    let layers = unsafe { layers(c.layers, c.num_layers)? };
    let most = |what, given: u32| {
        Error::limit(Kind::Config, "at most", MAX_FIELDS, given as usize).when(given as usize > MAX_FIELDS).about(what)
    };
    most("learner config: num_obs_fields", c.num_obs_fields)?;
    most("learner config: num_action_fields", c.num_action_fields)?;
    let (seen, taken) = (c.num_obs_fields as usize, c.num_action_fields as usize);
    let obs = unsafe { Input::unless_empty("learner config: obs_fields", c.obs_fields, seen)? };
    let action = unsafe { Input::unless_empty("learner config: action_fields", c.action_fields, taken)? };
    let extent = |fields: &Option<Input<'_, rlcore_field>>| fields.as_ref().map_or(Extent::NONE, Input::extent);
    let extents = [layers.as_ref().map_or(Extent::NONE, Input::extent), extent(&obs), extent(&action)];
    let (obs_fields, action_fields) = (obs.map_or(&[][..], Input::slice), action.map_or(&[][..], Input::slice));
    Ok(Setup { config: c.into(), layers: layers.map_or(&[][..], Input::slice), obs_fields, action_fields, extents })
}

impl Block for rlcore_learner {
    const WHAT: &'static str = "learner";
    const KIND: BlockKind = BlockKind::Learner;
    const OTHER: BlockKind = BlockKind::OffPolicy;
}

struct Spaces<'a> {
    obs: Space<'a>,
    action: Space<'a>,
    extents: [Extent; 6],
}

/// Where the fields of observations and of actions are kept.
type Fields<'a> = [Option<[Field<'a>; MAX_FIELDS]>; 2];

/// The spaces of a learner, with their fields, which are kept in `room`.
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

/// The arrays that acting takes and fills, for a number of rows.
pub type Arrays<'a> = (AnyInput<'a>, Option<Input<'a, u8>>, AnyOutput<'a>);

/// What recurrent layers carry, and where it begins anew.
pub type Carried<'a> = (Option<Output<'a, f32>>, Option<Input<'a, u8>>);

/// What recurrent layers carry in so many rows: nothing without such layers. Errors: `Null`, `Align`, `Overflow`.
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

/// The same, as the core takes it.
pub fn recurrent<'a>((state, reset): (Option<&'a mut [f32]>, Option<&'a [u8]>)) -> Recurrent<'a> {
    Recurrent { state: state.unwrap_or_default(), reset: reset.unwrap_or_default() }
}

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
    let (_, action_kind) = shape.kinds();
    unsafe {
        Ok((
            self::obs("obs", shape, rows, obs)?,
            mask(shape, rows, action_mask)?,
            AnyOutput::at("action", action, action_kind, rows, shape.action_len as usize)?,
        ))
    }
}

/// A mask of allowed choices, or none for NULL. Errors: `Overflow`.
///
/// # Safety
/// As [`Input::at`].
pub unsafe fn mask<'a>(shape: &Shape, rows: usize, p: *const u8) -> Result<Option<Input<'a, u8>>> {
    unsafe { Input::optional("action_mask", p, ptr::grid("action_mask", rows, shape.mask_len())?) }
}

/// Errors: as [`arrays`].
///
/// # Safety
/// As [`AnyInput::at`].
pub unsafe fn obs<'a>(what: &'static str, shape: &Shape, rows: usize, p: *const c_void) -> Result<AnyInput<'a>> {
    unsafe { AnyInput::at(what, p, shape.kinds().0, rows, shape.obs_len as usize) }
}

/// Observations of a learner's environments, or nothing for NULL.
unsafe fn optional<'a>(what: &'static str, learner: &Any<'_>, p: *const c_void) -> Result<Option<AnyInput<'a>>> {
    if p.is_null() { Ok(None) } else { unsafe { obs(what, learner.shape(), learner.num_envs(), p) }.map(Some) }
}

/// N.
pub fn num_envs(learner: &Learner<'_>) -> usize {
    learner.config().num_envs as usize
}

/// A call that learns: `at` checks its arrays, `learn` takes them and tells the statistics.
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
    get: impl FnOnce(&AnyView<'static>) -> &'static [T],
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, AnyView::open)?;
        let from = get(&learner);
        rlcore::block::copy(learner.extent.reading(Output::at(what, to, from.len())?)?, from);
        Ok(())
    })
}

/// Fills in the defaults of an algorithm.
/// algorithm: an rlcore_algorithm.
/// Errors: E_RANGE for another algorithm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_config_init(
    config: *mut rlcore_learner_config,
    config_size: usize,
    algorithm: u32,
) -> rlcore_status {
    call(|| unsafe {
        ptr::init_sized(config, config_size, || match Algorithm::from_number(algorithm) {
            Some(algorithm) => Ok(Config::of(algorithm).into()),
            None => {
                Err(Fault::at("algorithm", Error::new(Kind::Range, "an rlcore_algorithm").given(algorithm as usize)))
            }
        })
    })
}

/// Bytes a block must have for this configuration and these spaces.
/// Observations: networks read bytes divided by 255, floats as they are, a choice of n as n numbers, 1 for the choice
/// and 0 for the others (one-hot). Of RLCORE_STRUCT they read the fields in config.obs_fields in that order; obs.n then has
/// one entry for each element of kind RLCORE_I32. rlcore_learner_seen_len returns how many numbers they read.
/// Actions: one of RLCORE_STRUCT has the fields in config.action_fields. Each element of kind RLCORE_I32 is a choice, with
/// one entry in action.n; each of kind RLCORE_F32 is a number, with one entry in action.low and action.high unless they are
/// NULL. Each element is drawn from its own distribution; the log-probability and the entropy of the action are the sums
/// over its elements. Bytes that no field covers are never written.
/// Errors: E_CONFIG for a structure without fields, and for an action of RLCORE_STRUCT with DQN, PQN, TD3 or SAC.
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
            Ok(learner_kind::size(&setup.config, setup.layers, &spaces.obs, &spaces.action)?)
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
            learner_kind::init(mem, &setup.config, setup.layers, &spaces.obs, &spaces.action)
        })
    })
}

/// Opens the bytes of a learner that was copied or saved, in this process or another. Training continues with exactly
/// the results that it would have had without the interruption. mem is only read. If the learner was sealed by
/// rlcore_block_seal, it is refused if any byte has changed; if not, values that no call leaves are refused, but a
/// parameter that changed to another finite number is not detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_learner,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], |mem| learner_kind::attach(mem)) })
}

/// Returns the call that is due: LEARN if a rollout is complete, or while an update runs without overlap; else OBSERVE if
/// an environment has acted and not been observed since; else ACT.
/// out: [1] an rlcore_learner_due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_phase(p: *const rlcore_learner, out: *mut u32) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, AnyView::open)?;
        *learner.extent.reading(One::at("out", out)?)? = learner.phase() as u32;
        Ok(())
    })
}

/// Returns which environments have acted and not been observed since.
/// acted: [N] flags to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_acted(p: *const rlcore_learner, acted: *mut u8) -> rlcore_status {
    copy_out(p, "acted", acted, |learner| learner.acted())
}

/// Draws an action for each environment and begins a transition.
/// active:      [N] 0: this environment does not act now, its rows are neither read nor written; NULL: all act.
/// obs:         [N, obs.len]; bytes are divided by 255, choices are one-hot.
/// action_mask: [N, sum of action.n] 0 forbids a choice; each element of an action needs at least one that is allowed.
///              Required with use_action_mask, NULL without.
/// action:      [N, action.len] to write.
/// Errors: E_NOT_READY if rlcore_learner_learn is due, or an environment has already acted; E_SHAPE for a mask that is
/// missing or not expected; E_VALUE for a mask that allows nothing, and for an observation that is not finite, is so large
/// that the policy overflows, has a choice that does not exist, or is not a stack as num_stacked requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_act(
    p: *mut rlcore_learner,
    active: *const u8,
    obs: *const c_void,
    action_mask: *const u8,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let n = learner.num_envs();
        let arrays = arrays(learner.shape(), n, obs, action_mask, action)?;
        let active = Input::optional("active", active, n)?;
        let (active, (obs, mask, action), ()) = args((active, arrays, Writes([learner.extent])))?;
        Ok(learner.act(active, obs, mask, action)?)
    })
}

/// rlcore_learner_act for environments [begin, end) only. Calls for consecutive ranges, from the first environment to
/// the last, leave the same bytes as one call for all. Threads: one call at a time.
/// Arrays and errors as rlcore_learner_act, with [end - begin, ...] in place of [N, ...]; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_act_range(
    p: *mut rlcore_learner,
    begin: u32,
    end: u32,
    active: *const u8,
    obs: *const c_void,
    action_mask: *const u8,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let (begin, end) = (begin as usize, end as usize);
        let n = learner.check_envs(begin, end)?;
        let arrays = arrays(learner.shape(), n, obs, action_mask, action)?;
        let active = Input::optional("active", active, n)?;
        let (active, (obs, mask, action), ()) = args((active, arrays, Writes([learner.extent])))?;
        Ok(learner.act_range(begin, end, active, obs, mask, action)?)
    })
}

/// Records the results of the step and completes the transitions. After T * N transitions rlcore_learner_learn is due.
/// Autoreset must be same-step: with next-step autoreset, rows that are only reset would count as transitions.
/// active: [N] 0: this environment was not stepped, its rows are not read; NULL: all were.
/// reward, terminated, truncated: [N]
/// final_obs: [N, obs.len], read only where truncated and not terminated; may be NULL if there is no such environment.
/// Errors: E_NOT_READY if an environment has not acted; E_VALUE for a reward or final_obs that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_observe(
    p: *mut rlcore_learner,
    active: *const u8,
    reward: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    final_obs: *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let n = learner.num_envs();
        let active = Input::optional("active", active, n)?;
        let reward = Input::at("reward", reward, n)?;
        let ends = (Input::at("terminated", terminated, n)?, Input::at("truncated", truncated, n)?);
        let final_obs = optional("final_obs", &learner, final_obs)?;
        let (active, reward, (terminated, truncated), final_obs) =
            learner.extent.writing((active, reward, ends, final_obs))?;
        Ok(learner.observe(active, reward, terminated, truncated, final_obs)?)
    })
}

/// Removes agents that leave before the outcome of their last action is known, whether or not they have been observed
/// since. Their last transition is dropped; the one before it becomes truncated, and bootstraps from the value of the
/// observation that the last action was chosen for. Their episodes are not counted. The rows are free for other agents.
/// gone: [N] flags.
/// Errors: E_NOT_READY if rlcore_learner_learn is due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_cut(p: *mut rlcore_learner, gone: *const u8) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let gone = learner.extent.writing(Input::at("gone", gone, learner.num_envs())?)?;
        Ok(learner.cut_rows(gone)?)
    })
}

/// Does a part of the update that is due, so that a frame need not wait for a whole update.
/// obs:        [N, obs.len] after the last step; required in the first call of an update, else ignored and may be NULL.
///             Rows of environments that have acted since, or whose episode ended, are not read.
/// max_slices: the most chunks to do in this call, of which a minibatch has num_chunks; 0: all that are left.
/// stats:      to write; call again while minibatches_left is not 0. With overlap the next rollout may be complete by
///             the end of an update: then minibatches_left counts the next update, whose first call needs obs.
/// Errors: E_CONFIG; E_NOT_READY; E_VALUE for an observation that is not finite, before anything changes, or because
/// numbers overflow. In that case the update ends and is counted in num_dropped, the parameters are those of the last
/// minibatch whose numbers did not overflow, and rlcore_learner_act is due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_learn(
    p: *mut rlcore_learner,
    obs: *const c_void,
    max_slices: u32,
    stats: *mut rlcore_learner_stats,
) -> rlcore_status {
    learning(
        p,
        stats,
        Any::open,
        |learner| unsafe { optional("obs", learner, obs) },
        |learner, obs| learner.learn(obs, max_slices),
    )
}

/// Computes the value of an observation of each environment. Nothing is recorded.
/// obs: [N, obs.len]; value: [N] to write.
/// Errors: E_VALUE for an observation that is not finite, or values that overflow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_value(
    p: *mut rlcore_learner,
    obs: *const c_void,
    value: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let n = learner.num_envs();
        let arrays = (self::obs("obs", learner.shape(), n, obs)?, Output::at("value", value, n)?);
        let ((obs, value), ()) = args((arrays, Writes([learner.extent])))?;
        Ok(learner.value(obs, value)?)
    })
}

/// Computes the log-probability of each environment's action and the entropy of its distribution. Nothing is recorded.
/// obs:         [N, obs.len]
/// action_mask: [N, sum of action.n] as in rlcore_learner_act.
/// action:      [N, action.len]; continuous actions as the policy draws them, before they are squashed or clipped.
/// log_prob, entropy: [N] to write.
/// Errors: E_SHAPE for a mask that is missing or not expected; E_VALUE for an observation or action that is not finite,
/// a choice that does not exist or is not allowed, and numbers that overflow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_log_prob(
    p: *mut rlcore_learner,
    obs: *const c_void,
    action_mask: *const u8,
    action: *const c_void,
    log_prob: *mut f32,
    entropy: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, on_policy)?;
        let (n, shape) = (num_envs(&learner), *learner.shape());
        let obs = self::obs("obs", &shape, n, obs)?;
        let mask = mask(&shape, n, action_mask)?;
        let action = AnyInput::at("action", action, shape.kinds().1, n, shape.action_len as usize)?;
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
        let learner = view(p, AnyView::open)?;
        *learner.extent.reading(One::at("out_len", out_len)?)? = learner.state_len();
        Ok(())
    })
}

/// How many numbers networks read of one observation: obs.len, unless observations are choices or structures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_seen_len(p: *const rlcore_learner, out_len: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, AnyView::open)?;
        *learner.extent.reading(One::at("out_len", out_len)?)? = learner.shape().seen_len as usize;
        Ok(())
    })
}

/// Acts without recording and without the noise of noisy layers, in any phase. Training is not affected.
/// state:    [N, rlcore_learner_state_len()] what recurrent layers carry from call to call, apart from the episodes that
///           are recorded; read, then written. NULL without such layers.
/// reset:    [N] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
/// sampling: NULL means RLCORE_SAMPLING_BASIC.
/// Arrays and errors as rlcore_learner_act; E_CONFIG for sampling.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_predict(
    p: *mut rlcore_learner,
    obs: *const c_void,
    action_mask: *const u8,
    state: *mut f32,
    reset: *const u8,
    sampling: *const rlcore_sampling,
    action: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Any::open)?;
        let (sampling, n) = (self::sampling(sampling)?, learner.num_envs());
        let arrays = arrays(learner.shape(), n, obs, action_mask, action)?;
        let carried = carried(n, learner.state_len(), state, reset)?;
        let ((obs, mask, action), carried, ()) = args((arrays, carried, Writes([learner.extent])))?;
        Ok(learner.predict(obs, mask, recurrent(carried), sampling, action)?)
    })
}

/// Stops (1) or resumes (0) updating the statistics that normalize observations and rewards.
/// Errors: E_RANGE for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_freeze(p: *mut rlcore_learner, frozen: u32) -> rlcore_status {
    call(|| unsafe {
        open(p, Any::open)?.freeze(ptr::flag("learner_freeze: frozen", frozen)?);
        Ok(())
    })
}
