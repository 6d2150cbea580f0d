//! What a learner is made of: numbers that the host chooses.

use bytemuck::{Pod, Zeroable};

use super::actor_config::{ActorConfig, MAX_HIDDEN, MAX_LAYERS};
use super::optimizer::Optimizer;
use super::policy::SHARPNESS;
use super::shape::Shape;
#[cfg(feature = "off_policy")]
use super::value_head::{Atoms, ValueHead};
use crate::error::{Error, Kind, Name, Result};
use crate::kernels::gae::Accumulate;
use crate::kernels::gaussian::LOG_STD_LIMIT;
use crate::nn::Schedule;

/// What a learner optimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Algorithm {
    /// Proximal policy optimisation.
    #[default]
    Ppo = 0,
    /// Advantage actor-critic, whose workers A3C runs apart.
    A2c = 1,
    /// IMPALA: an actor-critic that corrects by V-trace for what older policies did.
    Impala = 2,
    /// A2C with auxiliary tasks on past steps: pixel control, reward prediction and value replay (UNREAL).
    Unreal = 3,
    /// Deep Q-networks, off policy: discrete actions.
    Dqn = 4,
    /// Twin delayed deterministic policy gradients, off policy: continuous actions. DDPG with one critic, a
    /// `policy_interval` of 1 and no target noise.
    Td3 = 5,
    /// Soft actor-critic, off policy: continuous actions, or discrete ones.
    Sac = 6,
    /// Q(λ) over rollouts, with neither a store nor target parameters (parallelised Q-networks): discrete actions.
    Pqn = 7,
    /// Stream AC(λ): an actor-critic that learns from each step alone, by eligibility traces.
    StreamAc = 8,
    /// Stream Q(λ), which does the same with Q: discrete actions.
    StreamQ = 9,
}

impl Algorithm {
    /// The algorithm of this number; `None` if this build has none.
    pub fn from_number(number: u32) -> Option<Algorithm> {
        match number {
            0 => Some(Algorithm::Ppo),
            1 if cfg!(feature = "actor_critic") => Some(Algorithm::A2c),
            2 if cfg!(feature = "actor_critic") => Some(Algorithm::Impala),
            3 if cfg!(feature = "unreal") => Some(Algorithm::Unreal),
            4 if cfg!(feature = "off_policy") => Some(Algorithm::Dqn),
            5 if cfg!(feature = "off_policy") => Some(Algorithm::Td3),
            6 if cfg!(feature = "off_policy") => Some(Algorithm::Sac),
            7 if cfg!(feature = "pqn") => Some(Algorithm::Pqn),
            8 if cfg!(feature = "stream") => Some(Algorithm::StreamAc),
            9 if cfg!(feature = "stream") => Some(Algorithm::StreamQ),
            _ => None,
        }
    }

    /// Learns from a store of transitions, not from rollouts.
    pub fn is_off_policy(self) -> bool {
        matches!(self as u32, 4..=6)
    }
}

/// This build has layers or algorithms that learn from sequences.
const SEQUENCES: bool = cfg!(any(feature = "recurrent", feature = "actor_critic"));

/// The most layers that a host lists.
const MAX_LISTED: usize = MAX_LAYERS - 2 * MAX_HIDDEN - 3;

/// The most passes over a rollout: whatever a configuration says, an update comes to its end.
const MAX_EPOCHS: u32 = 1000;

/// Hyperparameters of a learner. Plain data, stored in the block.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Config {
    /// All randomness of the learner comes from this.
    pub seed: u64,
    /// Environment steps over which learning rate, clip and entropy bonus go to their end values; 0 keeps them constant.
    pub total_steps: u64,
    /// N, environments that act side by side.
    pub num_envs: u32,
    /// T, steps of every environment in one rollout.
    pub num_steps: u32,
    /// Parts that a rollout of T * N transitions is cut into; T * N must be a multiple of it.
    pub num_minibatches: u32,
    /// Passes over each rollout, 1 to 1000.
    pub num_epochs: u32,
    /// Hidden layers of the policy and of the value network, 0 to 4.
    pub num_hidden: u32,
    /// Units of each hidden layer; entries past `num_hidden` are ignored, and stored as 0.
    pub hidden_len: [u32; MAX_HIDDEN],
    /// Of the hidden layers: 0 tanh, 1 ReLU, 2 leaky ReLU.
    pub activation: u32,
    /// 1: advantages are brought to mean 0 and deviation 1 in each minibatch.
    pub normalize_advantage: u32,
    /// 1: observations are brought to running mean 0 and deviation 1.
    pub normalize_obs: u32,
    /// 1: rewards are divided by the running deviation of the discounted return.
    pub normalize_reward: u32,
    /// 1: continuous actions pass through tanh onto their bounds; 0: they are clipped to them.
    pub squash: u32,
    /// 1: `act` takes a mask of allowed discrete choices, kept with its transition; `observe`, `learn` and `value` take those of
    /// what they look at.
    pub use_action_mask: u32,
    /// Step size at the start.
    pub learning_rate: f32,
    /// Step size at `total_steps`.
    pub learning_rate_end: f32,
    /// Policy ratios are clipped to 1 ± this, at the start.
    pub clip: f32,
    /// The same at `total_steps`.
    pub clip_end: f32,
    /// Discount in [0, 1].
    pub discount: f32,
    /// Lambda of GAE, and of traces and targets of other algorithms that have one, in [0, 1].
    pub gae_lambda: f32,
    /// Weight of the value loss, half the mean squared error.
    pub value_coef: f32,
    /// Weight of the entropy bonus.
    pub entropy_coef: f32,
    /// New values are clipped to old ones ± this inside the value loss; 0 turns it off.
    pub value_clip: f32,
    /// Gradients are scaled down to this global norm; 0 turns it off.
    pub max_grad_norm: f32,
    /// An update ends early once its approximate KL divergence passes 1.5 times this; 0 turns it off.
    pub target_kl: f32,
    /// Decay of Adam's first moment.
    pub adam_beta1: f32,
    /// Decay of Adam's second moment, at least the square of `adam_beta1`: with less a step has no bound.
    pub adam_beta2: f32,
    /// Epsilon of the optimiser, which says where it is added; at least 1e-12.
    pub adam_epsilon: f32,
    /// Logarithm of the standard deviation of continuous actions at the start.
    pub log_std_init: f32,
    /// Normalised observations are clipped to ± this.
    pub obs_clip: f32,
    /// Normalised rewards are clipped to ± this.
    pub reward_clip: f32,
    /// Every step leaves the logarithms of standard deviations at this or above; from -40.
    pub log_std_min: f32,
    /// Every step leaves the logarithms of standard deviations at this or below; to 40.
    pub log_std_max: f32,
    /// What advantages are summed in: an [`Accumulate`], 0 for f32, 1 for f64.
    pub accumulate: u32,
    /// Chunks that the rows of a minibatch are cut into, at most as many as it has rows. A chunk is the smallest slice of
    /// learning. Its gradients are summed over its rows, and those of all chunks as a binary tree over their numbers; so
    /// this changes the last bits of a result.
    pub num_chunks: u32,
    /// The [`Algorithm`].
    pub algorithm: u32,
    /// 1: acting and recording go on while an update runs, with the policy of before; this takes memory for a second
    /// rollout and a second set of parameters.
    pub overlap: u32,
    /// Hidden layers that the policy and the value network share, from the first, 0 to `num_hidden`.
    pub num_shared: u32,
    /// Layers of the host's that come first, read observations and belong to the policy and the value network alike: what
    /// hidden layers read then is the last of them. Those of TD3 and SAC are their critics' too, which find actions behind
    /// observations: one of them has to read all of the input.
    pub num_layers: u32,
    /// Height, width and channels of an observation that is a picture; 0: it is numbers.
    pub obs_dims: [u32; 3],
    /// Steps of the sequences that recurrent layers learn from, at least 1, of which T and the rows of a minibatch are
    /// multiples: a minibatch is made of whole sequences, and gradients go back to the begin of theirs. 0 without such layers.
    pub sequence_len: u32,
    /// What follows is of learners off policy: the transitions that their store keeps, at least `batch_size`;
    /// or 0, if the learner keeps none and learns from those of the host's alone.
    pub buffer_size: u32,
    /// Transitions of one gradient step, at least 1.
    pub batch_size: u32,
    /// Environment steps before the first gradient step.
    pub learning_starts: u32,
    /// Environment steps from one update to the next, at least 1.
    pub train_interval: u32,
    /// Gradient steps of one update, at least 1.
    pub gradient_steps: u32,
    /// Gradient steps from one move of the target parameters to the next, at least 1.
    pub target_interval: u32,
    /// How far the target parameters move, in (0, 1]; 1 copies.
    pub target_rate: f32,
    /// Environment steps over which exploration goes from its start to its end; 0: it is at its end.
    pub exploration_steps: u32,
    /// Probability of a random action at the start, in [0, 1].
    pub exploration_start: f32,
    /// The same at the end.
    pub exploration_end: f32,
    /// 1: the network chooses the best next action, and the target network says what it is worth.
    pub double_q: u32,
    /// 1: a value of the observation and advantages of the actions make Q.
    pub dueling: u32,
    /// 1: errors of Q count linearly beyond 1; 0: their squares count.
    pub huber: u32,
    /// Gradient steps of the critics from one of the policy to the next, where there is one; at least 1.
    pub policy_interval: u32,
    /// An [`Optimizer`]: 0 for Adam.
    pub optimizer: u32,
    /// Decay of RMSProp's mean squares.
    pub rms_decay: f32,
    /// Part of its last step that RMSProp takes again; 0 where it is centred.
    pub rms_momentum: f32,
    /// 1: losses are sums over the rows of a minibatch, in place of means.
    pub sum_losses: u32,
    /// V-trace: ratios that scale temporal differences are clipped to this.
    pub clip_rho: f32,
    /// V-trace: ratios that carry later differences back are clipped to this.
    pub clip_c: f32,
    /// V-trace: ratios that scale advantages are clipped to this.
    pub clip_pg_rho: f32,
    /// V-trace: how much of what the clips cut off comes through all the same.
    pub leak: f32,
    /// 1: what hidden layers sum up is normalised before the activation, each row on its own.
    pub hidden_norm: u32,
    /// Frames that an observation of bytes is a stack of, along its last axis and the newest one last, 0 to 16: a rollout
    /// keeps each once. The frames of an environment's first observation in a rollout are its own; the older frames of each
    /// other one have to be those of its observation before, moved by one, or each of them the newest one, or zeros. (A stack
    /// under episodic life goes on with a frame that no observation has newest.) So does the store of a learner off policy,
    /// where the first observation of each episode may have frames of its own. It has room for `buffer_size` frames, 1 / 128
    /// of that more and some for each environment: where most episodes are truncated within 256 steps, it may hold fewer
    /// transitions, the newest ones. 0: observations are kept whole.
    pub num_stacked: u32,
    /// What follows is of learners off policy with critics, whose actions are numbers from -1 to 1 before they are brought to
    /// their bounds: 1 or 2 critics, of which the lower counts.
    pub num_critics: u32,
    /// Step size of the critics, in parts of that of the policy.
    pub critic_rate: f32,
    /// TD3: deviation of the noise that is added to actions.
    pub exploration_noise: f32,
    /// TD3: deviation of the noise that is added to the next actions, whose value the critics learn.
    pub target_noise: f32,
    /// TD3: that noise is clipped to ± this.
    pub target_noise_clip: f32,
    /// SAC: what a nat of entropy is worth at the start, above 0.
    pub temperature: f32,
    /// SAC: step size of the logarithm of the temperature; 0 keeps it.
    pub temperature_rate: f32,
    /// SAC: the entropy that the temperature goes after: in nats for each number of an action, at most ln 2; or with choices a
    /// share of the most that those which are allowed can have, the logarithm of how many they are; below 0: half.
    pub target_entropy: f32,
    /// 1: hidden layers and heads are [`NOISY`](crate::nn::NOISY), and start uniform. One draw of noise is for a rollout and the
    /// update that learns from it, or for a gradient step of DQN and what acts until the next one; Q and target share it. Of no
    /// use to TD3 and SAC. What ships and what [`Learner::predict`](super::Learner::predict) asks has no noise.
    pub noisy: u32,
    /// Steps before each sequence that recurrent layers run through with the parameters that learn, without a loss, to begin it
    /// with a state that no older parameters made; at most T less `sequence_len`. Those of the same episode that the rollout
    /// has are taken, from the state that was recorded at the first of them. 0: sequences begin with their recorded states.
    pub burn_in: u32,
    /// What follows is of learners off policy: steps n whose discounted rewards a transition adds up before the value of what
    /// they led to counts, at least 1 and at most `buffer_size`. Where an episode ends, its last transitions have fewer.
    pub n_step: u32,
    /// How far errors decide which transitions are drawn, from 0, all alike, to 1, in proportion to the distances of their
    /// values from their targets (Schaul et al. 2016). New transitions have the largest weight so far.
    pub priority_exponent: f32,
    /// How far what is drawn more often counts less, from 0 to 1, at the start.
    pub importance_exponent: f32,
    /// Environment steps after which that is 1; 0: it stays as it is.
    pub importance_steps: u32,
    /// PPO: updates from one refresh to the next of a copy of the parameters, taken when an update begins, whose
    /// log-probabilities stand in for the recorded ones in ratios. 0: there is none. A copy has the noise that the parameters
    /// had.
    pub prime_interval: u32,
    /// Quantiles that stand for the value of a choice (DQN: Dabney et al. 2018) or for what a critic says (SAC: Kuznetsov et al.
    /// 2020), 2 to 256. Errors count linearly, or with `huber` as half their squares up to 1. 0: there is one value.
    pub num_quantiles: u32,
    /// SAC: the highest quantiles, so many for each critic, that targets leave out of all of those of the critics; fewer than
    /// `num_quantiles`.
    pub dropped_quantiles: u32,
    /// DQN: returns, evenly spaced, whose probabilities stand for the value of a choice (Bellemare et al. 2017), 2 to 256. Their
    /// cross-entropy is learnt, and priorities go by the Kullback-Leibler divergence. 0: there are none.
    pub num_atoms: u32,
    /// The lowest of these returns, from -1e6.
    pub value_min: f32,
    /// The highest of them, to 1e6.
    pub value_max: f32,
    /// Stream AC: steps of the policy's parameters go at most so far that their trace would be followed by 1 / this; 0: there
    /// is no bound. See [`Obgd`](crate::nn::Obgd).
    pub kappa_policy: f32,
    /// The same of those that values or Q come from.
    pub kappa_value: f32,
    /// What follows is of UNREAL, whose gradients are those of A2C and of auxiliary tasks on past steps. Weight of pixel
    /// control: the squared error of how much cells of the picture change, summed over cells; 0: there is no such head.
    pub pixel_control_coef: f32,
    /// Weight of reward prediction, the cross-entropy of the sign of the next reward; 0: there is no such head.
    pub reward_class_coef: f32,
    /// Weight of the squared error of values on past steps; 0: there is none.
    pub value_replay_coef: f32,
    /// Discount of changes of pixels, in [0, 1]; 0: the next change alone is learnt. Of stacks the newest frame's count.
    pub pixel_control_discount: f32,
    /// Last steps of each environment that are kept, more than a sequence has, with their stacks of frames whole.
    pub history_len: u32,
    /// Sequences of past steps, each as long as those of recurrent layers or else as a rollout, and rewards to predict, of each
    /// minibatch; 0: sequences of as many steps as it has rows, at least one.
    pub num_replayed: u32,
    /// Height and width of the cells of a picture, at least 1 with pixel control. Half of it is cut off on each side.
    pub pixel_cell: u32,
    /// 1: a cell's change is the mean of its pixels' changes; 0: the largest of them.
    pub pixel_mean: u32,
    /// Observations that a reward is predicted from, 1 to 16 with reward prediction, the last of which it follows.
    pub reward_sequence_len: u32,
    /// Rewards count as positive above this, as negative below its negative.
    pub reward_threshold: f32,
    /// Weight of A2C's loss on past steps, whose advantages come from the values that were recorded and are not normalised.
    /// That older policies chose the actions is not corrected for. `value_replay_coef` has to be 0 with it; 0: there is none.
    pub policy_replay_coef: f32,
    /// Steps of an environment that have to be kept before the tasks draw from them, up to `history_len`; A2C itself learns all
    /// along. 0: those of a sequence, and the one after it.
    pub history_starts: u32,
    /// On policy: part of `entropy_coef` that is left at `total_steps`, in [0, 1]; 1 keeps it.
    pub entropy_share_end: f32,
    /// On policy: the listed layer that the policy reads, counted from 1, while the values read the last one. 0: both read the
    /// last one, which has to be with `num_shared`, auxiliary tasks, PQN and stream algorithms.
    pub policy_layer: u32,
}

/// Errors: `Config` for a field of 0.
pub(super) fn check_at_least_one(fields: &[(Name, u32)]) -> Result {
    for &(what, given) in fields {
        Error::limit(Kind::Config, what.words(), 1, 0).when(given == 0)?;
    }
    Ok(())
}

/// Errors: `Config` for a field that is not 0 or 1.
pub(super) fn check_flags(fields: &[(Name, u32)]) -> Result {
    for &(what, given) in fields {
        Error::new(Kind::Config, what.words()).given(given as usize).when(given > 1)?;
    }
    Ok(())
}

/// Errors: `Config` for a field, given before its least and its greatest value, that is not within them.
pub(super) fn check_reals(fields: &[(Name, f32, f32, f32)]) -> Result {
    for &(what, given, low, high) in fields {
        if !(given >= low && given <= high) {
            return Err(Error::new(Kind::Config, what.words()).given_f32(given));
        }
    }
    Ok(())
}

impl Config {
    /// What is optimised.
    pub fn algorithm(&self) -> Algorithm {
        Algorithm::from_number(self.algorithm).unwrap_or_default()
    }

    /// The network says Q, what each choice is worth, and there is no network of values.
    pub(super) fn learns_q(&self) -> bool {
        cfg!(feature = "pqn") && matches!(self.algorithm(), Algorithm::Pqn | Algorithm::StreamQ)
    }

    /// There are critics of observations and actions, and a policy that goes after what they say.
    #[cfg(feature = "off_policy")]
    pub(super) fn has_critics(&self) -> bool {
        matches!(self.algorithm(), Algorithm::Td3 | Algorithm::Sac)
    }

    /// What a network says of the value of a choice.
    #[cfg(feature = "off_policy")]
    pub(super) fn value_head(&self) -> ValueHead {
        let atoms = Atoms { num: self.num_atoms, low: self.value_min, high: self.value_max };
        match (self.algorithm(), self.num_quantiles, self.num_atoms) {
            (Algorithm::Dqn, 0, 1..) => ValueHead::Atoms(atoms),
            (Algorithm::Dqn, num @ 1.., _) => ValueHead::Quantiles(num),
            _ => ValueHead::Mean,
        }
    }

    /// Numbers that a critic says: its quantiles, or one.
    #[cfg(feature = "off_policy")]
    pub(super) fn critic_len(&self) -> u32 {
        if self.has_critics() { self.num_quantiles.max(1) } else { 1 }
    }

    /// Numbers that a policy's network says of the value of a choice, and those that are still there in what ships.
    pub(super) fn value_lens(&self) -> [u32; 2] {
        #[cfg(feature = "off_policy")]
        return match self.value_head() {
            ValueHead::Atoms(atoms) => [atoms.num, atoms.num],
            own => [own.width() as u32, 1],
        };
        #[cfg(not(feature = "off_policy"))]
        [1, 1]
    }

    /// The optimiser is one of RMSProp.
    pub(super) fn has_rms_prop(&self) -> bool {
        matches!(
            Optimizer::from_number(self.optimizer),
            Some(Optimizer::RmsProp | Optimizer::RmsPropTensorflow | Optimizer::RmsPropCentred)
        )
    }

    /// The same with zeros for what it does not say: lengths of hidden layers that are not there.
    pub(super) fn trimmed(&self) -> Config {
        let mut config = *self;
        config.hidden_len.iter_mut().skip(self.num_hidden as usize).for_each(|len| *len = 0);
        config
    }

    /// Layers of so many hidden ones.
    pub(super) fn layers_of(&self, hidden: u32) -> u32 {
        hidden.saturating_mul(if self.hidden_norm != 0 { 2 } else { 1 })
    }

    /// How much is explored after so many environment steps.
    #[cfg(any(feature = "off_policy", feature = "pqn"))]
    pub(super) fn exploration(&self, steps: u64) -> f32 {
        if steps >= u64::from(self.exploration_steps) {
            return self.exploration_end;
        }
        let part = steps as f64 / f64::from(self.exploration_steps);
        let (start, end) = (f64::from(self.exploration_start), f64::from(self.exploration_end));
        (start + (end - start) * part) as f32
    }

    /// How far importance makes up for priorities after so many environment steps.
    #[cfg(feature = "off_policy")]
    pub(super) fn importance(&self, steps: u64) -> f64 {
        let start = f64::from(self.importance_exponent);
        match self.importance_steps {
            0 => start,
            all => start + (1.0 - start) * (steps as f64 / f64::from(all)).min(1.0),
        }
    }

    /// Checks every field but those of [`ActorConfig`]; the failure names the field, what it may be and
    /// what it is.
    pub fn check(&self) -> Result {
        self.check_common()?;
        check_at_least_one(&[
            (Name::new("learner config: num_steps of at least"), self.num_steps),
            (Name::new("learner config: num_minibatches of at least"), self.num_minibatches),
            (Name::new("learner config: num_epochs of at least"), self.num_epochs),
        ])?;
        let batch = u64::from(self.num_envs) * u64::from(self.num_steps);
        if batch + u64::from(self.num_envs) > u64::from(u32::MAX >> 1) {
            return Err(Error::new(Kind::Overflow, "learner config: num_envs * num_steps + num_envs below 2^31"));
        }
        if self.num_epochs > MAX_EPOCHS {
            let what = "learner config: num_epochs of at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_EPOCHS as usize).given(self.num_epochs as usize));
        }
        if self.num_epochs.checked_mul(self.num_minibatches).is_none() {
            return Err(Error::new(Kind::Overflow, "learner config: num_epochs * num_minibatches that fits 32 bits"));
        }
        if batch.checked_rem(u64::from(self.num_minibatches)) != Some(0) {
            let what = "learner config: num_minibatches that divides num_envs * num_steps =";
            return Err(Error::new(Kind::Config, what).needed(batch as usize).given(self.num_minibatches as usize));
        }
        let len = self.num_together();
        if !((self.num_steps as usize).is_multiple_of(len) && self.minibatch_len().is_multiple_of(len)) {
            let what = "learner config: sequence_len that divides num_steps and the rows of a minibatch,";
            return Err(Error::new(Kind::Config, what).needed(self.minibatch_len()).given(len));
        }
        let (most, given) = (
            if self.sequence_len > 0 { (self.num_steps as usize).saturating_sub(len) } else { 0 },
            self.burn_in as usize,
        );
        let what = "learner config: burn_in of at most num_steps - sequence_len, or 0 without recurrent layers,";
        Error::limit(Kind::Config, what, most, given).when(given > most)?;
        if self.num_chunks as usize > self.num_sequences() {
            let what = "learner config: num_chunks of at most the rows, or sequences, of a minibatch,";
            return Err(Error::new(Kind::Config, what).needed(self.num_sequences()).given(self.num_chunks as usize));
        }
        self.check_algorithm(false)?;
        self.check_stream()?;
        self.check_tasks()
    }

    /// Checks that this build has the algorithm, and that it is one off policy or not. Errors: `Config`.
    pub(super) fn check_algorithm(&self, off_policy: bool) -> Result {
        let known = Algorithm::from_number(self.algorithm).is_some_and(|own| own.is_off_policy() == off_policy);
        let what = "learner config: an algorithm that this build has";
        Error::new(Kind::Config, what).given(self.algorithm as usize).when(!known)
    }

    /// Checks the fields that learners on policy and off policy have in common.
    pub(super) fn check_common(&self) -> Result {
        self.check_recurrent(0)?;
        check_at_least_one(&[
            (Name::new("learner config: num_envs of at least"), self.num_envs),
            (Name::new("learner config: num_chunks of at least"), self.num_chunks),
        ])?;
        check_flags(&[
            (Name::new("learner config: normalize_advantage of 0 or 1"), self.normalize_advantage),
            (Name::new("learner config: normalize_reward of 0 or 1"), self.normalize_reward),
            (Name::new("learner config: use_action_mask of 0 or 1"), self.use_action_mask),
            (Name::new("learner config: accumulate of 0 (f32) or 1 (f64)"), self.accumulate),
            (Name::new("learner config: overlap of 0 or 1"), self.overlap),
            (Name::new("learner config: hidden_norm of 0 or 1"), self.hidden_norm),
            (Name::new("learner config: sum_losses of 0 or 1"), self.sum_losses),
            (Name::new("learner config: noisy of 0 or 1"), self.noisy),
        ])?;
        let what =
            "learner config: policy_layer of 0, or up to num_layers on policy, without num_shared and auxiliary tasks";
        let other = self.learns_q() || self.streams() || self.algorithm().is_off_policy();
        let apart = self.num_shared == 0 && !self.has_tasks() && !other;
        let reads = self.policy_layer == 0 || apart && self.policy_layer <= self.num_layers;
        Error::new(Kind::Config, what).given(self.policy_layer as usize).when(!reads)?;
        let most = if cfg!(feature = "stream") { 2 } else { 1 };
        let what =
            "learner config: activation of 0 (tanh), 1 (relu) or, where there are stream algorithms, 2 (leaky relu)";
        Error::new(Kind::Config, what).given(self.activation as usize).when(self.activation > most)?;
        let optimizer = Optimizer::from_number(self.optimizer);
        let what = "learner config: an optimizer that this build has";
        Error::new(Kind::Config, what).given(self.optimizer as usize).when(optimizer.is_none())?;
        if self.num_hidden as usize > MAX_HIDDEN {
            let what = "learner config: num_hidden of at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_HIDDEN).given(self.num_hidden as usize));
        }
        if self.hidden_len.iter().take(self.num_hidden as usize).any(|len| *len == 0) {
            let what = "learner config: hidden_len above 0 for all of num_hidden layers, which are";
            return Err(Error::new(Kind::Config, what).needed(self.num_hidden as usize).given(0));
        }
        if self.num_layers as usize > MAX_LISTED {
            let what = "learner config: num_layers of at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_LISTED).given(self.num_layers as usize));
        }
        if self.num_shared > self.num_hidden {
            let what = "learner config: num_shared of at most num_hidden,";
            return Err(Error::new(Kind::Config, what)
                .needed(self.num_hidden as usize)
                .given(self.num_shared as usize));
        }
        let positive = f32::MIN_POSITIVE;
        let (log_std_min, log_std_max) = (self.log_std_min, self.log_std_max);
        check_reals(&[
            (Name::new("learner config: learning_rate in [0, 1]"), self.learning_rate, 0.0, 1.0),
            (Name::new("learner config: learning_rate_end in [0, 1]"), self.learning_rate_end, 0.0, 1.0),
            (Name::new("learner config: clip above 0, at most 10"), self.clip, positive, 10.0),
            (Name::new("learner config: clip_end in [0, 10]"), self.clip_end, 0.0, 10.0),
            (Name::new("learner config: discount in [0, 1]"), self.discount, 0.0, 1.0),
            (Name::new("learner config: gae_lambda in [0, 1]"), self.gae_lambda, 0.0, 1.0),
            (Name::new("learner config: value_coef of at least 0, finite"), self.value_coef, 0.0, f32::MAX),
            (Name::new("learner config: entropy_coef, finite"), self.entropy_coef, f32::MIN, f32::MAX),
            (Name::new("learner config: value_clip of at least 0, finite"), self.value_clip, 0.0, f32::MAX),
            (Name::new("learner config: max_grad_norm of at least 0, finite"), self.max_grad_norm, 0.0, f32::MAX),
            (Name::new("learner config: target_kl of at least 0, finite"), self.target_kl, 0.0, f32::MAX),
            (Name::new("learner config: adam_beta1 in [0, 1)"), self.adam_beta1, 0.0, 0.999_999_9),
            (Name::new("learner config: adam_beta2 in [0, 1)"), self.adam_beta2, 0.0, 0.999_999_9),
            (
                Name::new("learner config: adam_beta2 of at least the square of adam_beta1"),
                self.adam_beta2,
                self.adam_beta1 * self.adam_beta1,
                1.0,
            ),
            (Name::new("learner config: adam_epsilon in [1e-12, 1]"), self.adam_epsilon, 1e-12, 1.0),
            (Name::new("learner config: log_std_min in [-40, 40]"), log_std_min, -LOG_STD_LIMIT, LOG_STD_LIMIT),
            (Name::new("learner config: log_std_max in [log_std_min, 40]"), log_std_max, log_std_min, LOG_STD_LIMIT),
            (
                Name::new("learner config: log_std_init in [log_std_min, log_std_max]"),
                self.log_std_init,
                log_std_min,
                log_std_max,
            ),
            (Name::new("learner config: obs_clip above 0, finite"), self.obs_clip, positive, f32::MAX),
            (Name::new("learner config: reward_clip above 0, finite"), self.reward_clip, positive, f32::MAX),
            (Name::new("learner config: rms_decay in [0, 1)"), self.rms_decay, 0.0, 0.999_999_9),
            (
                Name::new("learner config: rms_momentum in [0, 1), and 0 with a centered optimizer"),
                self.rms_momentum,
                0.0,
                if optimizer == Some(Optimizer::RmsPropCentred) { 0.0 } else { 0.999_999_9 },
            ),
            (Name::new("learner config: clip_rho above 0, finite"), self.clip_rho, positive, f32::MAX),
            (Name::new("learner config: clip_c above 0, finite"), self.clip_c, positive, f32::MAX),
            (Name::new("learner config: clip_pg_rho above 0, finite"), self.clip_pg_rho, positive, f32::MAX),
            (Name::new("learner config: leak in [0, 1]"), self.leak, 0.0, 1.0),
            (Name::new("learner config: exploration_start in [0, 1]"), self.exploration_start, 0.0, 1.0),
            (Name::new("learner config: exploration_end in [0, 1]"), self.exploration_end, 0.0, 1.0),
            (Name::new("learner config: kappa_policy of at least 0, finite"), self.kappa_policy, 0.0, f32::MAX),
            (Name::new("learner config: kappa_value of at least 0, finite"), self.kappa_value, 0.0, f32::MAX),
            (Name::new("learner config: entropy_share_end in [0, 1]"), self.entropy_share_end, 0.0, 1.0),
        ])
    }

    /// Sequences have a length exactly if layers carry a state of so many numbers. Errors: `Config`.
    pub fn check_state(&self, state_len: usize) -> Result {
        self.check_recurrent(state_len)?;
        if (self.sequence_len > 0) == (state_len > 0) {
            return Ok(());
        }
        let what = "learner config: sequence_len of at least 1 with recurrent layers, and 0 without";
        Err(Error::new(Kind::Config, what).given(self.sequence_len as usize))
    }

    /// Whether layers may carry a state of so many numbers. Errors: `Config`.
    fn check_recurrent(&self, state_len: usize) -> Result {
        let alone = self.algorithm().is_off_policy() || self.streams();
        let what =
            "learner config: recurrent layers and sequence_len are not supported off policy and by stream algorithms.";
        Error::new(Kind::Config, what).when(alone && (self.sequence_len > 0 || state_len > 0))
    }

    /// Whether a network may have noise, so many numbers of it. Errors: `Config`.
    pub(super) fn check_noise(&self, len: usize) -> Result {
        let critics = self.algorithm().is_off_policy() && self.algorithm() != Algorithm::Dqn;
        let algorithm = critics || self.streams();
        let what = "learner config: an algorithm other than TD3, SAC and stream algorithms with noisy layers";
        Error::new(Kind::Config, what).given(self.algorithm as usize).when(len > 0 && algorithm)?;
        let what = "learner config: overlap of 0 with noisy layers";
        Error::new(Kind::Config, what).given(self.overlap as usize).when(len > 0 && self.overlap != 0)
    }

    /// What acting reads of this.
    pub fn actor(&self, shape: Shape) -> ActorConfig {
        let has_atoms = self.value_lens()[1] > 1;
        ActorConfig {
            shape,
            num_layers: self
                .num_layers
                .saturating_add(self.layers_of(self.num_hidden))
                .saturating_add(if shape.std_len() == 0 { 1 } else { 2 }),
            squash: if self.algorithm == Algorithm::Sac as u32 && shape.discrete() { 0 } else { self.squash },
            normalize_obs: self.normalize_obs,
            obs_clip: if self.normalize_obs != 0 { self.obs_clip } else { 0.0 },
            num_atoms: if has_atoms { self.num_atoms } else { 0 },
            value_min: if has_atoms { SHARPNESS * self.value_min } else { 0.0 },
            value_max: if has_atoms { SHARPNESS * self.value_max } else { 0.0 },
            reserved: 0,
        }
    }

    /// What advantages are summed in.
    pub fn accumulation(&self) -> Accumulate {
        Accumulate::from_number(self.accumulate).unwrap_or_default()
    }

    /// Transitions of one rollout, T * N.
    pub fn batch_len(&self) -> usize {
        (self.num_envs as usize).saturating_mul(self.num_steps as usize)
    }

    /// What the sums of a minibatch's losses are divided by.
    pub(super) fn loss_rows(&self) -> usize {
        if self.sum_losses != 0 { 1 } else { self.minibatch_len() }
    }

    /// Transitions of one minibatch.
    pub fn minibatch_len(&self) -> usize {
        self.batch_len().checked_div(self.num_minibatches as usize).unwrap_or(0)
    }

    /// Steps that stay together in a minibatch: those of a sequence, or of the whole rollout for V-trace without recurrent
    /// layers; else 1.
    pub fn num_together(&self) -> usize {
        if !SEQUENCES {
            return 1;
        }
        let whole = self.sequence_len == 0 && self.algorithm() == Algorithm::Impala;
        if whole { self.num_steps as usize } else { self.sequence_len.max(1) as usize }
    }

    /// Minibatches are made of sequences, each of one environment's steps in their order.
    pub fn has_sequences(&self) -> bool {
        SEQUENCES && (self.sequence_len > 0 || self.algorithm() == Algorithm::Impala)
    }

    /// It is recorded where episodes begin: for sequences of the rollout, and of past steps.
    pub(super) fn marks_begins(&self) -> bool {
        self.has_sequences() || self.has_tasks()
    }

    /// Sequences of one minibatch; its rows without recurrent layers.
    fn num_sequences(&self) -> usize {
        self.minibatch_len().checked_div(self.num_together()).unwrap_or(0)
    }

    /// Chunk `index` of a minibatch: its rows `[begin, end)`.
    pub fn chunk(&self, index: u32) -> (usize, usize) {
        self.part(index, self.num_sequences())
    }

    /// Part `index` of so many sequences, of as many parts as there are chunks: its rows `[begin, end)`.
    pub(super) fn part(&self, index: u32, sequences: usize) -> (usize, usize) {
        let bound = |i: u64| i.saturating_mul(sequences as u64).checked_div(self.num_chunks.into());
        let rows = |i: u64| (bound(i).unwrap_or(0) as usize).saturating_mul(self.num_together());
        (rows(index.into()), rows(u64::from(index) + 1))
    }

    /// Rows of the longest chunk.
    pub fn chunk_len(&self) -> usize {
        self.num_sequences().div_ceil((self.num_chunks as usize).max(1)).saturating_mul(self.num_together())
    }

    /// Minibatches of one update, over all epochs.
    pub fn update_len(&self) -> u32 {
        self.num_epochs.saturating_mul(self.num_minibatches)
    }

    /// The value at `steps` environment steps of a quantity that goes from `initial` to `end`.
    pub fn scheduled(&self, initial: f32, end: f32, steps: u64) -> Result<f32> {
        let schedule = match self.total_steps {
            0 => Schedule::Constant(initial),
            num_updates => Schedule::Linear { initial, end, num_updates },
        };
        schedule.at(steps.min(self.total_steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid_and_every_field_is_checked() {
        let good = Config::default();
        good.check().unwrap();
        let bad: [fn(&mut Config); 47] = [
            |c| c.num_envs = 0,
            |c| c.num_steps = 0,
            |c| c.num_chunks = 0,
            |c| c.num_chunks = 129,
            |c| c.num_minibatches = 0,
            |c| c.num_minibatches = 3,
            |c| c.num_epochs = 0,
            |c| c.learning_rate = f32::NAN,
            |c| c.learning_rate = -1e-3,
            |c| c.clip = 0.0,
            |c| c.discount = 1.01,
            |c| c.gae_lambda = -0.1,
            |c| c.value_coef = f32::INFINITY,
            |c| c.entropy_coef = f32::NAN,
            |c| c.entropy_share_end = -0.1,
            |c| c.entropy_share_end = f32::NAN,
            |c| c.policy_layer = 1,
            |c| c.max_grad_norm = -1.0,
            |c| c.adam_beta2 = 1.0,
            |c| c.adam_beta2 = 0.8,
            |c| c.adam_epsilon = 0.0,
            |c| c.adam_epsilon = 1e-13,
            |c| c.log_std_init = 3.0,
            |c| c.log_std_init = -21.0,
            |c| c.log_std_min = 2.5,
            |c| c.log_std_max = 41.0,
            |c| c.accumulate = 2,
            |c| c.num_epochs = 1001,
            |c| c.obs_clip = 0.0,
            |c| c.reward_clip = f32::NAN,
            |c| c.num_shared = 3,
            |c| c.num_hidden = 5,
            |c| c.num_hidden = 3,
            |c| c.activation = 3,
            |c| c.kappa_policy = -1.0,
            |c| c.kappa_value = f32::INFINITY,
            |c| c.num_layers = 22,
            |c| c.sequence_len = 3,
            |c| c.optimizer = 6,
            |c| c.rms_decay = 1.0,
            |c| c.rms_momentum = 1.0,
            |c| (c.optimizer, c.rms_momentum) = (Optimizer::RmsPropCentred as u32, 0.5),
            |c| c.sum_losses = 2,
            |c| (c.clip_rho, c.leak) = (0.0, 0.5),
            |c| c.clip_c = f32::NAN,
            |c| c.clip_pg_rho = f32::INFINITY,
            |c| c.leak = 1.1,
        ];
        for (i, spoil) in bad.iter().enumerate() {
            let mut config = good;
            spoil(&mut config);
            assert_eq!(config.check().unwrap_err().kind, Kind::Config, "case {i}");
        }
        let huge = Config { num_envs: u32::MAX, num_steps: 2, ..good };
        assert_eq!(huge.check().unwrap_err().kind, Kind::Overflow);
    }

    #[test]
    fn chunks_are_all_rows_of_a_minibatch_once() {
        for (num_steps, num_chunks) in [(7, 1), (7, 2), (7, 3), (7, 7), (128, 7), (i32::MAX as u32 - 1, 1 << 20)] {
            let c = Config { num_envs: 1, num_steps, num_minibatches: 1, num_chunks, ..Config::default() };
            c.check().unwrap();
            let (mut rows, mut longest) = (0, 0);
            for i in 0..num_chunks {
                let (begin, end) = c.chunk(i);
                assert!(begin == rows && end > begin, "chunk {i} of {num_chunks}");
                (rows, longest) = (end, longest.max(end - begin));
            }
            assert_eq!((rows, longest), (num_steps as usize, c.chunk_len()));
        }
    }

    #[test]
    fn schedules_are_linear_and_hold_at_the_end() {
        let c = Config { total_steps: 4, ..Config::default() };
        let at = |steps| c.scheduled(1e-3, 0.0, steps).unwrap();
        assert_eq!([at(0), at(1), at(2), at(3), at(4), at(9)], [1e-3, 7.5e-4, 5e-4, 2.5e-4, 0.0, 0.0]);
        assert_eq!(Config::default().scheduled(0.5, 0.0, 1 << 40), Ok(0.5));
    }
}
