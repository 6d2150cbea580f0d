//! Configurations of learners.

use crate::kernels::accumulate;
use crate::layer::{layers, rlcore_layer};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, Extent, Input};
use crate::space::rlcore_field;
use crate::status::{About, Fault, Result, call, rlcore_status};
use rlcore::env::wrap::MAX_FIELDS;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Algorithm, Config};
use rlcore::nn::Layer;

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
    /// A2C with auxiliary tasks on past steps: pixel control, rewards, values
    RLCORE_ALGORITHM_UNREAL = 3,
    /// deep Q-networks, off policy: discrete actions
    RLCORE_ALGORITHM_DQN = 4,
    /// twin delayed deterministic policy gradients, off policy: continuous actions. DDPG if num_critics and policy_interval
    /// are 1 and target_noise is 0
    RLCORE_ALGORITHM_TD3 = 5,
    /// soft actor-critic, off policy: continuous actions, or discrete ones
    RLCORE_ALGORITHM_SAC = 6,
    /// Q(lambda) over rollouts: parallelized Q-networks
    RLCORE_ALGORITHM_PQN = 7,
    /// stream AC(lambda): an actor-critic that learns from each step alone, by eligibility traces. One environment, num_steps
    /// 1: learn is due after every observe
    RLCORE_ALGORITHM_STREAM_AC = 8,
    /// stream Q(lambda), as RLCORE_ALGORITHM_STREAM_AC: discrete actions
    RLCORE_ALGORITHM_STREAM_Q = 9,
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

/// Hyperparameters. Defaults of PPO in parentheses, and those of other algorithms where they differ; flags are 0 or 1.
/// A field that the algorithm, with the other fields, does not read must have the default of rlcore_learner_config_init:
/// rlcore_learner_size and rlcore_learner_init refuse others by name.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_learner_config {
    /// bytes; set by rlcore_learner_config_init
    pub struct_size: u32,
    /// N, environments that share the learner (4; DQN, TD3, SAC 1)
    pub num_envs: u32,
    /// T, steps of every environment in one rollout (128; A2C 5; UNREAL 20; IMPALA 80; PQN 32)
    pub num_steps: u32,
    /// parts of a rollout; T * N must be a multiple of it (4; A2C, UNREAL and IMPALA 1)
    pub num_minibatches: u32,
    /// passes over each rollout, 1 to 1000 (4; A2C, UNREAL and IMPALA 1)
    pub num_epochs: u32,
    /// hidden layers of the policy and of the value network, 0 to 4 (2)
    pub num_hidden: u32,
    /// units of each hidden layer; ignored beyond num_hidden (64, 64)
    pub hidden_len: [u32; 4],
    /// an rlcore_activation (tanh; ReLU with DQN, TD3, SAC and PQN; leaky ReLU with stream algorithms).
    /// One of these three
    pub activation: u32,
    /// advantages get mean 0 and deviation 1 in each minibatch, divided by the sample deviation, of n - 1 (1; A2C, IMPALA,
    /// PQN 0; stream algorithms, which take no other, 0)
    pub normalize_advantage: u32,
    /// observations are scaled to mean 0 and deviation 1 by running statistics (0)
    pub normalize_obs: u32,
    /// rewards are divided by the running deviation of the discounted return (0)
    pub normalize_reward: u32,
    /// continuous actions are mapped to their bounds by tanh (0: clipped; TD3, SAC 1)
    pub squash: u32,
    /// calls that act, observe, learn or tell values take masks of allowed choices (0)
    pub use_action_mask: u32,
    /// seed of all random numbers; each environment has a stream of its own (1)
    pub seed: u64,
    /// environment steps until the _end values are reached (0: never)
    pub total_steps: u64,
    /// step size at the start (2.5e-4; A2C, UNREAL 7e-4; IMPALA 4.8e-4; TD3 1e-3; SAC 3e-4)
    pub learning_rate: f32,
    /// step size at total_steps (0; DQN, TD3, SAC as learning_rate)
    pub learning_rate_end: f32,
    /// probability ratios are clipped to 1 plus or minus this at the start (0.2)
    pub clip: f32,
    /// the same at total_steps (0.2)
    pub clip_end: f32,
    /// discount factor, from 0 to 1 (0.99)
    pub discount: f32,
    /// lambda of GAE, V-trace, Q(lambda) and eligibility traces, from 0 to 1 (0.95; A2C, UNREAL, IMPALA 1; PQN 0.65; stream
    /// algorithms 0.8)
    pub gae_lambda: f32,
    /// weight of the value loss, half the mean squared error (0.5; A2C 1)
    pub value_coef: f32,
    /// weight of the entropy bonus at the start (0.01; UNREAL 1e-3; IMPALA 6e-4; not read by PQN)
    pub entropy_coef: f32,
    /// values are clipped to those of the rollout plus or minus this (0: off)
    pub value_clip: f32,
    /// gradients are scaled down to this norm (0.5; UNREAL, IMPALA 40; DQN, PQN 10; TD3, SAC 0: off)
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
    /// height, width and channels of an observation that is a picture, in this order in memory; their product is obs.len.
    /// Where obs_fields lists fields with axes, as rlcore_env_fields does of wrappers, others are refused: a picture of
    /// RLCORE_WRAP_CHANNELS_FIRST has its channels first. Read by layers, num_stacked and pixel_control_coef
    /// (0: the observation is no picture)
    pub obs_dims: [u32; 3],
    /// steps of the sequences that recurrent layers learn from, which num_steps and the rows of a minibatch are multiples
    /// of; at least 1 exactly if there are such layers (0). Without them IMPALA learns from whole rollouts of each
    /// environment
    pub sequence_len: u32,
    /// [num_layers] layers that come first; the policy and the value network share them, and their hidden layers read the
    /// last one. Critics of TD3 and SAC have copies of their own, where RLCORE_LAYER_INPUT is the observation followed by
    /// the action, and the last layer must depend on it; with discrete actions it is the observation. The list is read by
    /// rlcore_learner_size and rlcore_learner_init only. NULL if num_layers is 0 (NULL)
    pub layers: *const rlcore_layer,
    /// off policy, as all to policy_interval: transitions kept, at least batch_size; or 0: none, it learns by
    /// rlcore_learner_learn_transitions alone (100,000)
    pub buffer_size: u32,
    /// transitions of a gradient step, divided into num_chunks chunks (128; TD3, SAC 256)
    pub batch_size: u32,
    /// environment steps before the first update (1000)
    pub learning_starts: u32,
    /// environment steps from one update to the next (1)
    pub train_interval: u32,
    /// gradient steps of an update, up to 10,000 (1)
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
    /// errors count linearly beyond 1, and half their squares within; 0: whole squares everywhere, whose gradients are
    /// twice as large within 1 (0; DQN 1)
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
    /// hidden layers are normalized before their activation, each row on its own (0; PQN 1; stream algorithms 1, without
    /// scales and biases)
    pub hidden_norm: u32,
    /// frames in an observation of RLCORE_U8, up to 16, stacked along its last axis, the newest last. A rollout then stores
    /// each frame once: 7 KB instead of 28 KB for 84 x 84 x 4. The older frames must be those of the environment's previous
    /// observation, shifted by one, or, as at the start of an episode, each a copy of the newest frame or zeros.
    /// RLCORE_WRAP_FRAME_STACK makes such stacks, except around RLCORE_WRAP_EPISODIC_LIFE, which takes a step that no
    /// observation shows. An environment's first observation in a rollout may have any frames. Off policy the store keeps each
    /// frame once, for 7.2 KB instead of 56 KB a transition; the first observation of an episode may have any frames, and
    /// final_obs follows the one before it. There is room for buffer_size frames, 1 / 128 of that more and some for each
    /// environment: where most episodes are truncated within 256 steps, fewer transitions than buffer_size may be kept, the
    /// newest ones. Not with normalize_obs (0: observations are stored whole)
    pub num_stacked: u32,
    /// [num_obs_fields] fields of an observation, as rlcore_env_fields lists them. A layer can read one of them alone: see
    /// its source. Required for RLCORE_STRUCT. Read by the same two calls as layers; NULL if num_obs_fields is 0 (NULL)
    pub obs_fields: *const rlcore_field,
    /// [num_action_fields] fields of an action of RLCORE_STRUCT, of kinds RLCORE_F32 and RLCORE_I32, in the order of their
    /// offsets, with up to 64 elements of each kind. Read by the same two calls. NULL for other actions (NULL)
    pub action_fields: *const rlcore_field,
    /// entries of obs_fields, up to 8 (0)
    pub num_obs_fields: u32,
    /// entries of action_fields, up to 8 (0)
    pub num_action_fields: u32,
    /// TD3 and SAC: critics, 1 or 2, the lower of which counts; with num_quantiles to 8 (2)
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
    /// SAC: entropy that the temperature aims at. With continuous actions in nats for each number of an action, at most ln 2.
    /// With discrete ones a share, from 0 to 1, of the most that each element's allowed choices can have, ln of their number,
    /// averaged over the batch; a number below 0 means half. A row that allows one choice has entropy and target 0 (-1)
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
    /// off policy: steps n whose discounted rewards are summed before the value of the next observation counts, from 1 to
    /// buffer_size; fewer where an episode ends. What older policies did is not corrected for. num_envs * n_step
    /// transitions lie beside the buffer until they are complete (1)
    pub n_step: u32,
    /// off policy: how far the distances of values from their targets decide which transitions are drawn, from 0, all alike,
    /// to 1, in proportion (0)
    pub priority_exponent: f32,
    /// how far what is drawn more often counts less, from 0 to 1, at the start (0.4)
    pub importance_exponent: f32,
    /// environment steps after which that is 1 (0: it stays as it is)
    pub importance_steps: u32,
    /// PPO: updates from one refresh to the next of a copy of the parameters. An update that refreshes it does so when it
    /// begins; the copy's log-probabilities then stand in for the recorded ones in ratios, approx_kl and clip_fraction. A copy
    /// has the noise that the parameters had (0: there is none)
    pub prime_interval: u32,
    /// quantiles of the distribution of returns that DQN learns for each choice (QR-DQN), or that each of SAC's critics learns
    /// (TQC), 2 to 256. Values are their means. With huber errors count linearly only beyond 1 (0: values alone)
    pub num_quantiles: u32,
    /// SAC with num_quantiles: targets are the quantiles of all critics without the highest, this many for each critic; below
    /// num_quantiles. The critics, up to 8 then, are averaged, not the lowest taken (0)
    pub dropped_quantiles: u32,
    /// DQN: atoms of the distribution of returns that it learns for each choice (C51), 2 to 256; 51 in the paper. Priorities
    /// are Kullback-Leibler divergences then, huber is not read. Not with num_quantiles (0: off)
    pub num_atoms: u32,
    /// the lowest atom, from -1e6; returns below it count as this (-10)
    pub value_min: f32,
    /// the highest atom, to 1e6; returns above it count as this (10)
    pub value_max: f32,
    /// stream AC: bounds the steps of the policy's parameters: they are at most the error times the trace over kappa_policy *
    /// max(|error|, 1) * the sum of absolute values of the trace; 0: no bound (3)
    pub kappa_policy: f32,
    /// stream algorithms: the same for the parameters of the value, or of Q (2)
    pub kappa_value: f32,
    /// UNREAL: weight of pixel control, the squared error of how much cells of the picture change, summed over cells; it needs
    /// actions of one choice, and a picture (0: off, without such a head; UNREAL 0.05)
    pub pixel_control_coef: f32,
    /// UNREAL: weight of the prediction of the next reward's sign (0: off; UNREAL 1)
    pub reward_class_coef: f32,
    /// UNREAL: weight of the error of values on past steps (0: off; UNREAL 0.5)
    pub value_replay_coef: f32,
    /// discount of pixel changes; 0: only the next change counts. With num_stacked only the newest frame's changes do
    /// (0; UNREAL 0.9)
    pub pixel_control_discount: f32,
    /// last steps of each environment that are kept for these tasks, more than a sequence has. Bytes stay bytes, states of
    /// recurrent layers are kept too, and with num_stacked whole stacks. An update begins by keeping its steps (0;
    /// UNREAL 2000)
    pub history_len: u32,
    /// sequences of past steps, of sequence_len or else num_steps each, and rewards to predict, per minibatch (0: as many
    /// steps as the minibatch has)
    pub num_replayed: u32,
    /// side of a cell, at least 1; half of it is cropped on each side (0; UNREAL 2)
    pub pixel_cell: u32,
    /// change of a cell: 0: the largest of its pixels, 1: their mean (0)
    pub pixel_mean: u32,
    /// observations that a reward is predicted from, 1 to 16 (0; UNREAL 3)
    pub reward_sequence_len: u32,
    /// rewards are positive above this, and negative below its negative (0; UNREAL 0.1)
    pub reward_threshold: f32,
    /// UNREAL: weight of A2C's loss on past steps, whose advantages come from the values recorded with them. As in btgym,
    /// nothing corrects for the older policies that chose the actions. value_replay_coef must be 0 then (0: off)
    pub policy_replay_coef: f32,
    /// steps of an environment that must be kept before these tasks draw from them, up to history_len, which is what btgym
    /// waits for; A2C learns from the start (0: one more than a sequence has)
    pub history_starts: u32,
    /// on policy: part of entropy_coef that is left at total_steps, from 0 to 1, on a straight line. Not read by PQN and
    /// stream Q (1: entropy_coef stays as it is)
    pub entropy_share_end: f32,
    /// on policy: the listed layer that the policy reads, counted from 1, while the values read the last one. Not with
    /// num_shared, auxiliary tasks, PQN or stream algorithms (0: both read the last one)
    pub policy_layer: u32,
}

versioned!(rlcore_learner_config, "learner config", use_action_mask, Config::default().into());
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
        burn_in,
        n_step,
        priority_exponent,
        importance_exponent,
        importance_steps,
        prime_interval,
        num_quantiles,
        dropped_quantiles,
        num_atoms,
        value_min,
        value_max,
        kappa_policy,
        kappa_value,
        pixel_control_coef,
        reward_class_coef,
        value_replay_coef,
        pixel_control_discount,
        history_len,
        num_replayed,
        pixel_cell,
        pixel_mean,
        reward_sequence_len,
        reward_threshold,
        policy_replay_coef,
        history_starts,
        entropy_share_end,
        policy_layer
    }
);

/// A configuration and what it lists.
pub(crate) struct Setup<'a> {
    pub(crate) config: Config,
    pub(crate) layers: &'a [Layer],
    pub(crate) obs_fields: &'a [rlcore_field],
    pub(crate) action_fields: &'a [rlcore_field],
    /// Where the layers lie, and both lists of fields.
    pub(crate) extents: [Extent; 3],
}

/// Reads a configuration with its lists.
pub(crate) unsafe fn setup<'a>(p: *const rlcore_learner_config) -> Result<Setup<'a>> {
    let mut other = None;
    let c = unsafe { ptr::sized_ref(p, &mut other)? };
    accumulate("learner config: accumulate", c.accumulate)?;
    let layers = unsafe { layers(c.layers, c.num_layers)? };
    for (text, stray) in [
        ("learner config: layers is set, but num_layers is 0.", !c.layers.is_null() && c.num_layers == 0),
        (
            "learner config: obs_fields is set, but num_obs_fields is 0.",
            !c.obs_fields.is_null() && c.num_obs_fields == 0,
        ),
        (
            "learner config: action_fields is set, but num_action_fields is 0.",
            !c.action_fields.is_null() && c.num_action_fields == 0,
        ),
    ] {
        Error::new(Kind::Config, text).when(stray)?;
    }
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
    Ok(Setup { config: (*c).into(), layers: layers.map_or(&[][..], Input::slice), obs_fields, action_fields, extents })
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
