//! Which algorithms read a field of a configuration, and under which conditions: one row for each field. A field that is not
//! read must have its default.
//!
//! A condition stands where defaults leave the field unread. A field that is idle because a host has turned off what it
//! belongs to, with a weight of 0 say, may keep its value.

use core::mem::offset_of;
use core::ops::Range;

use super::config::{Algorithm, Config};
use super::shape::Shape;
use crate::error::{Error, Kind, Name, Result};

/// A field of a [`Config`].
pub struct Field {
    name: Name,
    /// Its first 32-bit word in a configuration, and how many it has.
    word: usize,
    len: usize,
    real: bool,
    /// A bit for the number of each algorithm that reads it.
    readers: u32,
    unread: Name,
    conditions: &'static [Condition],
}

/// What a field is read with, besides an algorithm that reads it.
struct Condition {
    missing: Name,
    holds: fn(&Config, &Shape) -> bool,
}

impl Field {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name.words()
    }

    /// It consists of floating-point numbers.
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Its 32-bit words in a configuration.
    pub fn words(&self) -> Range<usize> {
        self.word..self.word.saturating_add(self.len)
    }

    /// Whether this configuration's algorithm reads it. If not: why.
    fn check_read(&self, config: &Config, shape: &Shape) -> core::result::Result<(), Name> {
        if self.readers & (1 << config.algorithm() as u32) == 0 {
            return Err(self.unread);
        }
        let missing = self.conditions.iter().find(|condition| !(condition.holds)(config, shape));
        missing.map_or(Ok(()), |condition| Err(condition.missing))
    }
}

impl Config {
    /// Refuses by name a field that is not read and has another value than its default. Errors: `Config`.
    pub(super) fn check_unread(&self, shape: &Shape) -> Result {
        let default = Self::of(self.algorithm());
        let words = |of| bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of::<Config>(of));
        let (given, default) = (words(self), words(&default));
        for field in &FIELDS {
            let number = |x: Option<&u32>| f32::from_bits(x.copied().unwrap_or(0));
            let same = |i: &usize| match field.real {
                true => number(given.get(*i)) == number(default.get(*i)),
                false => given.get(*i) == default.get(*i),
            };
            let Some(i) = field.words().find(|i| !same(i)) else { continue };
            if let Err(why) = field.check_read(self, shape) {
                let error = Error::new(Kind::Config, why.words());
                return Err(match field.real {
                    true => error.given_f32(number(given.get(i))),
                    false => error.given(given.get(i).copied().unwrap_or(0) as usize),
                });
            }
        }
        Ok(())
    }
}

/// The type of a field.
trait Words {
    const REAL: bool = false;
}

impl Words for u32 {}
impl Words for u64 {}
impl<const N: usize> Words for [u32; N] {}
impl Words for f32 {
    const REAL: bool = true;
}

/// Whether a field has real numbers, and how many words.
const fn sort<T: Words>(_: fn(&Config) -> &T) -> (bool, usize) {
    (T::REAL, size_of::<T>() / size_of::<u32>())
}

const fn of(list: &[Algorithm]) -> u32 {
    let (mut bits, mut i) = (0, 0);
    while i < list.len() {
        bits |= 1 << list[i] as u32;
        i += 1;
    }
    bits
}

const ALL: u32 = u32::MAX;
const PPO: u32 = of(&[Algorithm::Ppo]);
const IMPALA: u32 = of(&[Algorithm::Impala]);
const UNREAL: u32 = of(&[Algorithm::Unreal]);
const DQN: u32 = of(&[Algorithm::Dqn]);
const TD3: u32 = of(&[Algorithm::Td3]);
const SAC: u32 = of(&[Algorithm::Sac]);
const STREAM_AC: u32 = of(&[Algorithm::StreamAc]);
const STREAM: u32 = STREAM_AC | of(&[Algorithm::StreamQ]);
const ACTOR_CRITIC: u32 = PPO | IMPALA | UNREAL | of(&[Algorithm::A2c]);
const ADVANTAGE: u32 = ACTOR_CRITIC & !IMPALA;
const ENTROPY: u32 = ACTOR_CRITIC | STREAM_AC;
const ROLLOUT: u32 = ACTOR_CRITIC | of(&[Algorithm::Pqn]);
const ON_POLICY: u32 = ROLLOUT | STREAM;
const CRITICS: u32 = TD3 | SAC;
const OFF_POLICY: u32 = DQN | CRITICS;
const EXPLORES: u32 = OFF_POLICY | of(&[Algorithm::Pqn, Algorithm::StreamQ]);
const NOISE: u32 = ROLLOUT | DQN;
const OPTIMIZER: u32 = ROLLOUT | OFF_POLICY;
const QUANTILES: u32 = DQN | SAC;
/// Stream AC refuses shared layers for a reason of its own.
const SHARED: u32 = ENTROPY | DQN;
const SPREAD: u32 = ENTROPY | SAC;
/// The policy that TD3 exports has the least deviation.
const LEAST_SPREAD: u32 = SPREAD | TD3;

/// Who reads a field, in words.
macro_rules! readers {
    (ALL) => {
        "all"
    };
    (PPO) => {
        "PPO"
    };
    (IMPALA) => {
        "IMPALA"
    };
    (UNREAL) => {
        "UNREAL"
    };
    (DQN) => {
        "DQN"
    };
    (TD3) => {
        "TD3"
    };
    (SAC) => {
        "SAC"
    };
    (STREAM_AC) => {
        "stream AC"
    };
    (STREAM) => {
        "stream algorithms"
    };
    (ACTOR_CRITIC) => {
        "PPO, A2C, IMPALA and UNREAL"
    };
    (ADVANTAGE) => {
        "PPO, A2C and UNREAL"
    };
    (ENTROPY) => {
        "PPO, A2C, IMPALA, UNREAL and stream AC"
    };
    (ROLLOUT) => {
        "PPO, A2C, IMPALA, UNREAL and PQN"
    };
    (ON_POLICY) => {
        "learners on policy"
    };
    (CRITICS) => {
        "TD3 and SAC"
    };
    (OFF_POLICY) => {
        "DQN, TD3 and SAC"
    };
    (EXPLORES) => {
        "DQN, TD3, SAC, PQN and stream Q"
    };
    (NOISE) => {
        "PPO, A2C, IMPALA, UNREAL, PQN and DQN"
    };
    (OPTIMIZER) => {
        "algorithms that are no stream algorithms"
    };
    (QUANTILES) => {
        "DQN and SAC"
    };
    (SHARED) => {
        "PPO, A2C, IMPALA, UNREAL and DQN"
    };
    (SPREAD) => {
        "PPO, A2C, IMPALA, UNREAL, SAC and stream AC"
    };
    (LEAST_SPREAD) => {
        "PPO, A2C, IMPALA, UNREAL, TD3, SAC and stream AC"
    };
}

macro_rules! config_fields {
    ($($name:ident: $readers:ident $(, $with:literal => $holds:expr)*;)*) => {
        /// All fields of a [`Config`].
        pub const FIELDS: [Field; [$(stringify!($name)),*].len()] = [$(Field {
            name: Name::new(stringify!($name)),
            word: offset_of!(Config, $name) / size_of::<u32>(),
            len: sort(|c| &c.$name).1,
            real: sort(|c| &c.$name).0,
            readers: $readers,
            unread: Name::new(concat!(
                "learner config: ", stringify!($name), " is set to {given}, which is read only by ", readers!($readers), "."
            )),
            conditions: &[$(Condition {
                missing: Name::new(concat!(
                    "learner config: ", stringify!($name), " is set to {given}, which is read only with ", $with, "."
                )),
                holds: $holds,
            }),*],
        }),*];

        // A field without a row does not compile.
        const _: fn(Config) = |Config { $($name: _),* }| {};
    };
}

config_fields! {
    seed: ALL;
    total_steps: ALL;
    num_envs: ALL;
    num_steps: ON_POLICY;
    num_minibatches: ON_POLICY;
    num_epochs: ON_POLICY;
    num_hidden: ALL;
    hidden_len: ALL;
    activation: ALL;
    normalize_advantage: ADVANTAGE;
    normalize_obs: ON_POLICY;
    normalize_reward: ON_POLICY;
    squash: ALL, "continuous actions" => |_, s| s.std_len() > 0;
    use_action_mask: ALL;
    learning_rate: ALL;
    learning_rate_end: ALL,
        "total_steps above 0" => |c, _| c.total_steps > 0 || c.learning_rate_end == c.learning_rate;
    clip: PPO;
    clip_end: PPO, "total_steps above 0" => |c, _| c.total_steps > 0 || c.clip_end == c.clip;
    discount: ALL;
    gae_lambda: ON_POLICY;
    value_coef: ACTOR_CRITIC;
    entropy_coef: ENTROPY;
    value_clip: ACTOR_CRITIC;
    max_grad_norm: OPTIMIZER;
    target_kl: ACTOR_CRITIC;
    adam_beta1: OPTIMIZER, "an optimizer that is Adam" => |c, _| !c.has_rms_prop();
    adam_beta2: OPTIMIZER, "an optimizer that is Adam" => |c, _| !c.has_rms_prop();
    adam_epsilon: OPTIMIZER;
    log_std_init: ENTROPY, "continuous actions" => |_, s| s.std_len() > 0;
    obs_clip: ON_POLICY, "normalize_obs" => |c, _| c.normalize_obs != 0;
    reward_clip: ON_POLICY, "normalize_reward" => |c, _| c.normalize_reward != 0;
    log_std_min: LEAST_SPREAD, "continuous actions" => |_, s| s.std_len() > 0;
    log_std_max: SPREAD, "continuous actions" => |_, s| s.std_len() > 0;
    accumulate: ON_POLICY;
    num_chunks: ALL;
    algorithm: ALL;
    overlap: ROLLOUT;
    num_shared: SHARED, "dueling" => |c, _| c.algorithm() != Algorithm::Dqn || c.dueling != 0;
    num_layers: ALL;
    obs_dims: ALL,
        "layers, num_stacked or pixel_control_coef" => |c, _| c.num_layers | c.num_stacked > 0 || c.tasks()[0];
    sequence_len: ALL;
    buffer_size: OFF_POLICY;
    batch_size: OFF_POLICY;
    learning_starts: OFF_POLICY;
    train_interval: OFF_POLICY;
    gradient_steps: OFF_POLICY;
    target_interval: OFF_POLICY;
    target_rate: OFF_POLICY;
    exploration_steps: EXPLORES;
    exploration_start: EXPLORES;
    exploration_end: EXPLORES;
    double_q: DQN;
    dueling: DQN;
    huber: OFF_POLICY;
    policy_interval: CRITICS;
    optimizer: OPTIMIZER;
    rms_decay: OPTIMIZER, "an optimizer that is RMSProp" => |c, _| c.has_rms_prop();
    rms_momentum: OPTIMIZER, "an optimizer that is RMSProp" => |c, _| c.has_rms_prop();
    sum_losses: ROLLOUT;
    clip_rho: IMPALA;
    clip_c: IMPALA;
    clip_pg_rho: IMPALA;
    leak: IMPALA;
    hidden_norm: ALL;
    num_stacked: ALL;
    num_critics: CRITICS;
    critic_rate: CRITICS;
    exploration_noise: TD3;
    target_noise: TD3;
    target_noise_clip: TD3;
    temperature: SAC;
    temperature_rate: SAC;
    target_entropy: SAC;
    noisy: NOISE;
    burn_in: ROLLOUT;
    n_step: OFF_POLICY;
    priority_exponent: OFF_POLICY;
    importance_exponent: OFF_POLICY, "priority_exponent above 0" => |c, _| c.priority_exponent > 0.0;
    importance_steps: OFF_POLICY, "priority_exponent above 0" => |c, _| c.priority_exponent > 0.0;
    prime_interval: PPO;
    num_quantiles: QUANTILES;
    dropped_quantiles: SAC, "num_quantiles above 0" => |c, _| c.num_quantiles > 0;
    num_atoms: DQN;
    value_min: DQN, "num_atoms above 0" => |c, _| c.num_atoms > 0;
    value_max: DQN, "num_atoms above 0" => |c, _| c.num_atoms > 0;
    kappa_policy: STREAM_AC;
    kappa_value: STREAM;
    pixel_control_coef: UNREAL;
    reward_class_coef: UNREAL;
    value_replay_coef: UNREAL;
    pixel_control_discount: UNREAL;
    history_len: UNREAL;
    num_replayed: UNREAL;
    pixel_cell: UNREAL;
    pixel_mean: UNREAL;
    reward_sequence_len: UNREAL;
    reward_threshold: UNREAL;
    policy_replay_coef: UNREAL;
    history_starts: UNREAL;
    entropy_share_end: ENTROPY, "total_steps above 0" => |c, _| c.total_steps > 0;
    policy_layer: ACTOR_CRITIC;
}
