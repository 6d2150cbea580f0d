//! The hyperparameters of a learner, set by the host.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::actor_config::{ActorConfig, MAX_HIDDEN, MAX_LAYERS};
use super::algorithm::Needs;
use super::optimizer::Optimizer;
use super::policy::Q_LOGIT_SCALE;
use super::shape::Shape;
#[cfg(feature = "off_policy")]
use super::value_head::{Atoms, ValueHead};
use crate::error::{Error, Kind, Name, Result};
use crate::kernels::gae::Accumulate;
use crate::nn::{Activation, Schedule};
use crate::num;

macro_rules! algorithms {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $(#[cfg(feature = $feature:literal)])? $name:ident: $file:ident::$algorithm:ident;
    )+) => {
        /// The algorithm of a learner: the rows of [`algorithm_table`](crate::algorithm_table).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Algorithm {
            #[default]
            $($(#[doc = $sentence])+ $name = $number,)+
        }

        impl Algorithm {
            /// The algorithm with this number; `None` if this build does not have it.
            pub fn from_number(number: u32) -> Option<Algorithm> {
                match number {
                    $($number $(if cfg!(feature = $feature))? => Some(Algorithm::$name),)+
                    _ => None,
                }
            }
        }
    };
}

every_algorithm!(algorithms);

impl Algorithm {
    /// Whether the algorithm learns from a replay store of transitions, not from rollouts.
    pub fn is_off_policy(self) -> bool {
        self.needs().replay
    }
}

/// Whether this build has layers or algorithms that learn from sequences.
const SEQUENCES: bool = cfg!(any(feature = "recurrent", feature = "actor_critic"));

/// The largest number of layers that a host can list.
pub(super) const MAX_LISTED: usize = MAX_LAYERS - 2 * MAX_HIDDEN - 3;

macro_rules! config {
    ($($group:literal $of:ident {$(
        $(#[doc = $sentence:literal])+
        $name:ident: $type:tt [$($values:tt)+] = $default:expr $(, $($own:ident)|+ => $value:expr)*;
        $readers:ident $(, $with:literal => $holds:expr)*;
    )*})*) => {
        /// Hyperparameters of a learner, one for each row of [`learner_config_table`](crate::learner_config_table). Plain data,
        /// stored in the block.
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub struct Config {
            $($($(#[doc = $sentence])+ pub $name: $type,)*)*
        }

        impl Config {
            /// The defaults of an algorithm. Those of A2C are Stable-Baselines3's, except for the number of environments and an
            /// entropy bonus of 0.01, as in A3C (Mnih et al. 2016); those of IMPALA are TorchBeast's; those of UNREAL are
            /// miyosuda/unreal's with the optimizer of A2C and mean losses; those of TD3 and SAC are Stable-Baselines3's,
            /// except for smaller networks, a smaller store and a later end of random actions; those of stream algorithms are
            /// the paper's, except for smaller networks.
            #[allow(clippy::match_single_binding)]
            pub fn of(algorithm: Algorithm) -> Config {
                let rows = Config {$($(
                    $name: match algorithm { $($(Algorithm::$own)|+ => $value,)* _ => $default },
                )*)*};
                Config { algorithm: algorithm as u32, ..rows }
            }
        }
    };
}

learner_config_table!(config);

impl Default for Config {
    fn default() -> Self {
        Config::of(Algorithm::Ppo)
    }
}

impl Config {
    /// The algorithm; the default one if its number is unknown.
    pub fn algorithm(&self) -> Algorithm {
        Algorithm::from_number(self.algorithm).unwrap_or_default()
    }

    /// The requirements of the algorithm.
    #[inline]
    pub(super) fn needs(&self) -> Needs {
        self.algorithm().needs()
    }

    /// Checks that a call about rollouts applies to this learner. Errors: `Disabled` off policy.
    pub fn check_rollouts(&self) -> Result {
        let what = "learner: this call is about rollouts, which learners off policy do not have.";
        Error::new(Kind::Disabled, what).fail_if(self.needs().replay)
    }

    /// Checks that a call about transitions supplied by the host applies to this learner. Errors: `Disabled` on policy.
    pub fn check_transitions(&self) -> Result {
        let what =
            "learner: this call is about transitions of the host's own, which learners on policy do not learn from.";
        Error::new(Kind::Disabled, what).fail_if(!self.needs().replay)
    }

    /// The form of a choice's value in the network outputs.
    #[cfg(feature = "off_policy")]
    pub(super) fn value_head(&self) -> ValueHead {
        let atoms = Atoms { num: self.num_atoms, low: self.value_min, high: self.value_max };
        match (self.needs().q, self.num_quantiles, self.num_atoms) {
            (true, 0, 1..) => ValueHead::Atoms(atoms),
            (true, num @ 1.., _) => ValueHead::Quantiles(num),
            _ => ValueHead::Mean,
        }
    }

    /// Elements of a critic's output: its quantiles, or one value.
    #[cfg(feature = "off_policy")]
    pub(super) fn critic_len(&self) -> u32 {
        if self.needs().critics { self.num_quantiles.max(1) } else { 1 }
    }

    /// Elements of a choice's value in the outputs of a policy's network, during training and in an exported policy.
    pub(super) fn value_lens(&self) -> [u32; 2] {
        #[cfg(feature = "off_policy")]
        return match self.value_head() {
            ValueHead::Atoms(atoms) => [atoms.num, atoms.num],
            own => [own.width() as u32, 1],
        };
        #[cfg(not(feature = "off_policy"))]
        [1, 1]
    }

    /// Whether the optimizer is a variant of RMSProp.
    pub(super) fn has_rms_prop(&self) -> bool {
        Optimizer::from_number(self.optimizer).is_some_and(Optimizer::is_rms_prop)
    }

    /// Whether rewards have limits.
    pub(super) fn limits_rewards(&self) -> bool {
        self.reward_min < self.reward_max
    }

    /// A reward as it is learned from: within `reward_min` and `reward_max`.
    pub(super) fn limited(&self, reward: f32) -> f32 {
        if self.limits_rewards() { num::clamp(reward, self.reward_min, self.reward_max) } else { reward }
    }

    /// Whether the settings of one of these tasks are read: those of enabled tasks, and all of an algorithm that has tasks unless
    /// told otherwise.
    pub(super) fn reads_tasks(&self, tasks: Range<usize>) -> bool {
        let enabled = self.tasks();
        self.algorithm() == Algorithm::Unreal || enabled.get(tasks).is_some_and(|tasks| tasks.contains(&true))
    }

    /// This configuration with zeros for the lengths of unused hidden layers.
    pub(super) fn trimmed(&self) -> Config {
        let mut config = *self;
        config.hidden_len.iter_mut().skip(self.num_hidden as usize).for_each(|len| *len = 0);
        config
    }

    /// Compiled layers of `hidden` hidden layers.
    pub(super) fn layers_of(&self, hidden: u32) -> u32 {
        hidden.saturating_mul(if self.hidden_norm != 0 { 2 } else { 1 })
    }

    /// The exploration rate after `steps` environment steps.
    #[cfg(any(feature = "off_policy", feature = "pqn"))]
    pub(super) fn exploration(&self, steps: u64) -> f32 {
        if steps >= u64::from(self.exploration_steps) {
            return self.exploration_end;
        }
        let part = steps as f64 / f64::from(self.exploration_steps);
        let (start, end) = (f64::from(self.exploration_start), f64::from(self.exploration_end));
        (start + (end - start) * part) as f32
    }

    /// The discount over a decision that lasted so long, if the configuration uses durations.
    pub(super) fn discount_over(&self, duration: Option<&f32>) -> f32 {
        match duration {
            Some(0.0) => 1.0,
            Some(&duration) if duration != 1.0 && self.discount > 0.0 => num::exp(duration * num::ln(self.discount)),
            _ => self.discount,
        }
    }

    /// The importance exponent after `steps` environment steps.
    #[cfg(feature = "off_policy")]
    pub(super) fn importance(&self, steps: u64) -> f64 {
        let start = f64::from(self.importance_exponent);
        match self.importance_steps {
            0 => start,
            all => start + (1.0 - start) * (steps as f64 / f64::from(all)).min(1.0),
        }
    }

    /// The part of so many rows, or sequences, that kept demonstrations have: rounded to the nearest number.
    pub(super) fn demonstrated(&self, all: usize) -> usize {
        ((f64::from(self.demonstration_share) * all as f64 + 0.5) as usize).min(all)
    }

    /// Checks every field except those of [`ActorConfig`]; the error names the field, its allowed values and its value.
    pub fn check(&self) -> Result {
        let what = "learner config: an algorithm that this build has";
        let known = Algorithm::from_number(self.algorithm).is_some();
        Error::new(Kind::Config, what).given(self.algorithm as usize).fail_if(!known)?;
        self.check_common()?;
        self.check_tasks()?;
        #[cfg(feature = "off_policy")]
        if self.needs().replay {
            return self.check_replay();
        }
        let what = "learner config: demonstration_size of 0 on policy with sequence_len of recurrent layers, whose rows are \
                    sequences, as those of imitate are,";
        let refused = self.demonstration_size > 0 && self.sequence_len > 0;
        Error::new(Kind::Config, what).given(self.demonstration_size as usize).fail_if(refused)?;
        let batch = u64::from(self.num_envs) * u64::from(self.num_steps);
        if batch + u64::from(self.num_envs) > u64::from(u32::MAX >> 1) {
            return Err(Error::new(Kind::Overflow, "learner config: num_envs * num_steps + num_envs below 2^31"));
        }
        if self.num_epochs.checked_mul(self.num_minibatches).is_none() {
            return Err(Error::new(Kind::Overflow, "learner config: num_epochs * num_minibatches that fits 32 bits"));
        }
        if batch.checked_rem(u64::from(self.num_minibatches)) != Some(0) {
            let what = "learner config: num_minibatches that divides num_envs * num_steps =";
            return Err(Error::new(Kind::Config, what).needed(batch as usize).given(self.num_minibatches as usize));
        }
        let len = self.sequence_rows();
        if !((self.num_steps as usize).is_multiple_of(len) && self.minibatch_len().is_multiple_of(len)) {
            let what = "learner config: sequence_len that divides num_steps and the rows of a minibatch,";
            return Err(Error::new(Kind::Config, what).needed(self.minibatch_len()).given(len));
        }
        let (most, given) = (
            if self.sequence_len > 0 { (self.num_steps as usize).saturating_sub(len) } else { 0 },
            self.burn_in as usize,
        );
        let what = "learner config: burn_in of at most num_steps - sequence_len, or 0 without recurrent layers,";
        Error::limit(Kind::Config, what, most, given).fail_if(given > most)?;
        if self.num_chunks as usize > self.num_sequences() {
            let what = "learner config: num_chunks of at most the rows, or sequences, of a minibatch,";
            return Err(Error::new(Kind::Config, what).needed(self.num_sequences()).given(self.num_chunks as usize));
        }
        self.check_stream()
    }

    /// Checks the fields that learners on policy and off policy have in common.
    pub(super) fn check_common(&self) -> Result {
        self.check_recurrent(0)?;
        self.check_values()?;
        self.check_parts()?;
        self.check_layers()?;
        self.check_ranges()
    }

    /// Checks that this build has the parts that fields name.
    fn check_parts(&self) -> Result {
        let what = "learner config: accumulate of 0 (f32) or 1 (f64)";
        Error::new(Kind::Config, what)
            .given(self.accumulate as usize)
            .fail_if(Accumulate::from_number(self.accumulate).is_none())?;
        let what = "learner config: an activation that this build has";
        let known = Activation::from_number(self.activation).is_some();
        Error::new(Kind::Config, what).given(self.activation as usize).fail_if(!known)?;
        let what = "learner config: an optimizer that this build has";
        let known = Optimizer::from_number(self.optimizer).is_some();
        Error::new(Kind::Config, what).given(self.optimizer as usize).fail_if(!known)
    }

    /// Checks the numbers of layers.
    fn check_layers(&self) -> Result {
        let what = "learner config: policy_layer of 0, or up to num_layers on policy, without num_shared";
        let needs = self.needs();
        let other = needs.q || needs.traces || needs.replay;
        let apart = self.num_shared == 0 && !other;
        let reads = self.policy_layer == 0 || apart && self.policy_layer <= self.num_layers;
        Error::new(Kind::Config, what).given(self.policy_layer as usize).fail_if(!reads)?;
        let what = "learner config: hidden_len above 0 for all of num_hidden layers, which are";
        let empty = self.hidden_len.iter().take(self.num_hidden as usize).any(|len| *len == 0);
        Error::config(what, self.num_hidden, 0).fail_if(empty)?;
        let what = "learner config: num_layers of at most";
        Error::config(what, MAX_LISTED as u32, self.num_layers).fail_if(self.num_layers as usize > MAX_LISTED)?;
        let what = "learner config: num_shared of at most num_hidden,";
        Error::config(what, self.num_hidden, self.num_shared).fail_if(self.num_shared > self.num_hidden)
    }

    /// Checks the numbers whose ranges depend on other fields.
    fn check_ranges(&self) -> Result {
        let centered = self.optimizer == Optimizer::RmsPropCentred as u32;
        let (log_std_min, log_std_max) = (self.log_std_min, self.log_std_max);
        for (what, given, low, high) in [
            (
                Name::new("learner config: adam_beta2 of at least the square of adam_beta1"),
                self.adam_beta2,
                self.adam_beta1 * self.adam_beta1,
                1.0,
            ),
            (
                Name::new("learner config: reward_max above reward_min, or both 0"),
                self.reward_max,
                if [self.reward_min, self.reward_max] == [0.0; 2] { 0.0 } else { self.reward_min.next_up() },
                f32::MAX,
            ),
            (Name::new("learner config: log_std_max of at least log_std_min"), log_std_max, log_std_min, f32::MAX),
            (
                Name::new("learner config: log_std_init of log_std_min to log_std_max"),
                self.log_std_init,
                log_std_min,
                log_std_max,
            ),
            (
                Name::new("learner config: rms_momentum of 0 with a centered optimizer"),
                self.rms_momentum,
                0.0,
                if centered { 0.0 } else { 1.0 },
            ),
        ] {
            let within = given >= low && given <= high;
            Error::new(Kind::Config, what.text()).given_f32(given).fail_if(!within)?;
        }
        Ok(())
    }

    /// Checks that sequences have a length exactly if layers have a recurrent state, of `state_len` elements. Errors: `Config`.
    pub fn check_state(&self, state_len: usize) -> Result {
        self.check_recurrent(state_len)?;
        if (self.sequence_len > 0) == (state_len > 0) {
            return Ok(());
        }
        let what = "learner config: sequence_len of at least 1 with recurrent layers, and 0 without";
        Err(Error::new(Kind::Config, what).given(self.sequence_len as usize))
    }

    /// Checks that layers may have a recurrent state of `state_len` elements. Errors: `Config`.
    fn check_recurrent(&self, state_len: usize) -> Result {
        let what = "learner config: recurrent layers and sequence_len are not supported by stream algorithms, whose traces go back \
                    through single steps.";
        Error::new(Kind::Config, what).fail_if(self.needs().traces && (self.sequence_len > 0 || state_len > 0))
    }

    /// Checks that a network may have noise, of `len` elements. Errors: `Config`.
    pub(super) fn check_noise(&self, len: usize) -> Result {
        let algorithm = self.needs().critics || self.needs().traces;
        let what = "learner config: an algorithm other than TD3, SAC and stream algorithms with noisy layers";
        Error::new(Kind::Config, what).given(self.algorithm as usize).fail_if(len > 0 && algorithm)?;
        let what = "learner config: overlap of 0 with noisy layers";
        Error::new(Kind::Config, what).given(self.overlap as usize).fail_if(len > 0 && self.overlap != 0)
    }

    /// The part of the configuration that acting reads.
    pub fn actor(&self, shape: Shape) -> ActorConfig {
        let has_atoms = self.value_lens()[1] > 1;
        ActorConfig {
            shape,
            num_layers: self
                .num_layers
                .saturating_add(self.layers_of(self.num_hidden))
                .saturating_add(if shape.std_len() == 0 { 1 } else { 2 }),
            squash: if self.needs().temperature && shape.chooses() { 0 } else { self.squash },
            normalize_obs: self.normalize_obs,
            obs_clip: if self.normalize_obs != 0 { self.obs_clip } else { 0.0 },
            num_atoms: if has_atoms { self.num_atoms } else { 0 },
            value_min: if has_atoms { Q_LOGIT_SCALE * self.value_min } else { 0.0 },
            value_max: if has_atoms { Q_LOGIT_SCALE * self.value_max } else { 0.0 },
            reserved: 0,
        }
    }

    /// The number type in which advantages are summed.
    pub fn accumulation(&self) -> Accumulate {
        Accumulate::from_number(self.accumulate).unwrap_or_default()
    }

    /// Transitions of one rollout, T * N.
    pub fn batch_len(&self) -> usize {
        (self.num_envs as usize).saturating_mul(self.num_steps as usize)
    }

    /// The divisor of the sums of a minibatch's losses.
    pub(super) fn loss_rows(&self) -> usize {
        if self.sum_losses != 0 { 1 } else { self.minibatch_len() }
    }

    /// Transitions of one minibatch.
    pub fn minibatch_len(&self) -> usize {
        self.batch_len().checked_div(self.num_minibatches as usize).unwrap_or(0)
    }

    /// Steps that stay together in a minibatch: those of a sequence, or for V-trace without recurrent layers those of the whole
    /// rollout; else 1.
    pub fn sequence_rows(&self) -> usize {
        if !SEQUENCES {
            return 1;
        }
        let whole = self.sequence_len == 0 && self.needs().corrections;
        if whole { self.num_steps as usize } else { self.sequence_len.max(1) as usize }
    }

    /// Whether minibatches consist of sequences, each of one environment's steps in time order.
    pub fn has_sequences(&self) -> bool {
        SEQUENCES && (self.sequence_len > 0 || self.needs().corrections)
    }

    /// Whether episode begins are recorded, for sequences of the rollout and of past steps.
    pub(super) fn records_episode_starts(&self) -> bool {
        self.has_sequences() || self.has_tasks()
    }

    /// Sequences of one minibatch; without recurrent layers its rows.
    fn num_sequences(&self) -> usize {
        self.minibatch_len().checked_div(self.sequence_rows()).unwrap_or(0)
    }

    /// Chunk `index` of a minibatch: its rows `[begin, end)`.
    pub fn chunk(&self, index: u32) -> (usize, usize) {
        self.part(index, self.num_sequences())
    }

    /// Part `index` of `sequences` sequences, which are divided into as many parts as there are chunks: its rows `[begin,
    /// end)`.
    pub(super) fn part(&self, index: u32, sequences: usize) -> (usize, usize) {
        let bound = |i: u64| i.saturating_mul(sequences as u64).checked_div(self.num_chunks.into());
        let rows = |i: u64| (bound(i).unwrap_or(0) as usize).saturating_mul(self.sequence_rows());
        (rows(index.into()), rows(u64::from(index) + 1))
    }

    /// [`Config::chunk`] of a batch from the replay store.
    pub(super) fn batch_part(&self, index: u32) -> (usize, usize) {
        self.part(index, self.batch_sequences())
    }

    /// Sequences of a batch from the replay store; without recurrent layers its rows.
    pub(super) fn batch_sequences(&self) -> usize {
        (self.batch_size as usize).checked_div(self.sequence_rows()).unwrap_or(0)
    }

    /// Steps of a sequence from the replay store, with those after it that its last next observations depend on.
    #[cfg(feature = "off_policy")]
    pub(super) fn sequence_steps(&self) -> usize {
        self.sequence_rows().saturating_add(self.n_step as usize).saturating_sub(1)
    }

    /// Rows of the longest chunk.
    pub fn chunk_len(&self) -> usize {
        self.num_sequences().div_ceil((self.num_chunks as usize).max(1)).saturating_mul(self.sequence_rows())
    }

    /// Minibatches of one update, over all epochs.
    pub fn update_len(&self) -> u32 {
        self.num_epochs.saturating_mul(self.num_minibatches)
    }

    /// The value after `steps` environment steps of a quantity that changes from `initial` to `end`.
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
    fn the_default_is_valid_and_fields_go_together() {
        let good = Config::default();
        good.check().unwrap();
        let bad: [fn(&mut Config); 18] = [
            |c| c.num_chunks = 129,
            |c| c.num_minibatches = 3,
            |c| c.policy_layer = 1,
            |c| c.adam_beta2 = 0.8,
            |c| c.log_std_init = 3.0,
            |c| c.log_std_init = -21.0,
            |c| c.log_std_init = f32::NAN,
            |c| c.log_std_min = 2.5,
            |c| c.log_std_max = -20.5,
            |c| c.accumulate = 2,
            |c| c.num_shared = 3,
            |c| c.num_hidden = 3,
            |c| c.activation = 7,
            |c| c.num_layers = 65,
            |c| c.sequence_len = 3,
            |c| c.burn_in = 1,
            |c| c.optimizer = 6,
            |c| (c.optimizer, c.rms_momentum) = (Optimizer::RmsPropCentred as u32, 0.5),
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
    fn weights_of_tasks_that_a_build_does_not_have_are_refused() {
        let config = Config { value_replay_coef: 0.5, ..Config::default() };
        assert_eq!(config.check().is_ok(), cfg!(feature = "unreal"));
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
