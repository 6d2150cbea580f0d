//! The fields of a configuration as data: what values each may have, and who reads it. A field that is not read must have its
//! default.

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
    limits: Option<Limits>,
    /// A bit for the number of each algorithm that reads it.
    readers: u32,
    unread: Name,
    fixed: Name,
    conditions: &'static [Condition],
}

/// The least and the greatest value of a field, as words, and what is said of others.
struct Limits {
    low: u32,
    high: u32,
    what: Name,
}

/// What a field is read with, besides an algorithm that reads it.
struct Condition {
    missing: Name,
    holds: fn(&Config, &Shape) -> bool,
}

impl Field {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name.text()
    }

    /// It consists of floating-point numbers.
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Its 32-bit words in a configuration.
    pub fn word_range(&self) -> Range<usize> {
        self.word..self.word.saturating_add(self.len)
    }

    /// Whether an algorithm reads it.
    pub fn is_read_by(&self, algorithm: Algorithm) -> bool {
        self.readers & (1 << algorithm as u32) != 0
    }

    /// Errors: `Config` if its first word is no value that it may have.
    fn check_value(&self, word: u32) -> Result {
        let Some(Limits { low, high, what }) = self.limits else { return Ok(()) };
        let error = Error::new(Kind::Config, what.text());
        if self.real {
            let [x, low, high] = [word, low, high].map(f32::from_bits);
            error.given_f32(x).fail_if(!(low..=high).contains(&x))
        } else {
            error.given(word as usize).fail_if(!(low..=high).contains(&word))
        }
    }

    /// Whether this configuration's algorithm reads it. If not: why.
    fn check_read(&self, config: &Config, shape: &Shape) -> core::result::Result<(), Name> {
        if !self.is_read_by(config.algorithm()) {
            return Err(self.unread);
        }
        let missing = self.conditions.iter().find(|condition| !(condition.holds)(config, shape));
        missing.map_or(Ok(()), |condition| Err(condition.missing))
    }
}

impl Config {
    /// Checks each field on its own: its value is one that it may have. Errors: `Config`.
    pub(super) fn check_values(&self) -> Result {
        let words = bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of::<Config>(self));
        FIELDS.iter().try_for_each(|field| field.check_value(words.get(field.word).copied().unwrap_or(0)))
    }

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
            let Some(i) = field.word_range().find(|i| !same(i)) else { continue };
            if let Err(why) = field.check_read(self, shape) {
                let error = Error::new(Kind::Config, why.text());
                return Err(match field.real {
                    true => error.given_f32(number(given.get(i))),
                    false => error.given(given.get(i).copied().unwrap_or(0) as usize),
                });
            }
        }
        Ok(())
    }
}

impl Config {
    /// Refuses by name the first field, in the order of the table, with which `from` does not fit any more once it has the values
    /// of this configuration in this field and in those before it. Errors: `Config`.
    pub(super) fn first_misfit(&self, from: &Config, fits: &mut dyn FnMut(&Config) -> bool) -> Result {
        let given = bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of::<Config>(self));
        let mut mixed = *from;
        for field in &FIELDS {
            let words = bytemuck::cast_slice_mut::<u8, u32>(bytemuck::bytes_of_mut(&mut mixed));
            let mut other = None;
            for (to, word) in words.iter_mut().zip(given).skip(field.word).take(field.len) {
                other = other.or((*to != *word).then_some(*word));
                *to = *word;
            }
            let Some(word) = other else { continue };
            if !fits(&mixed) {
                let error = Error::new(Kind::Config, field.fixed.text());
                return Err(match field.real {
                    true => error.given_f32(f32::from_bits(word)),
                    false => error.given(word as usize),
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

#[cfg(not(test))]
const SKETCHES: u32 = 0;
#[cfg(test)]
const SKETCHES: u32 = of(&[Algorithm::Curious, Algorithm::Imitator]);

const ALL: u32 = u32::MAX;
const PPO: u32 = of(&[Algorithm::Ppo]) | SKETCHES;
const IMPALA: u32 = of(&[Algorithm::Impala]);
const TASKS: u32 = of(&[Algorithm::Ppo, Algorithm::Impala, Algorithm::Unreal]);
const DQN: u32 = of(&[Algorithm::Dqn]);
const TD3: u32 = of(&[Algorithm::Td3]);
const SAC: u32 = of(&[Algorithm::Sac]);
const STREAM_AC: u32 = of(&[Algorithm::StreamAc]);
const STREAM: u32 = STREAM_AC | of(&[Algorithm::StreamQ]);
const ACTOR_CRITIC: u32 = PPO | TASKS | of(&[Algorithm::A2c]);
const ADVANTAGE: u32 = ACTOR_CRITIC & !IMPALA;
const ENTROPY: u32 = ACTOR_CRITIC | STREAM_AC;
const ROLLOUT: u32 = ACTOR_CRITIC | of(&[Algorithm::Pqn]);
const ON_POLICY: u32 = ROLLOUT | STREAM;
const CRITICS: u32 = TD3 | SAC;
const OFF_POLICY: u32 = DQN | CRITICS;
const EXPLORES: u32 = OFF_POLICY | of(&[Algorithm::Pqn, Algorithm::StreamQ]);
const NOISE: u32 = ROLLOUT | DQN;
const OPTIMIZER: u32 = ROLLOUT | OFF_POLICY;
/// They can keep demonstrations and draw them beside what they learn from.
const KEEPS: u32 = OPTIMIZER;
/// Those of them that learn Q, and those whose policies have standard deviations.
const MARGINS: u32 = DQN | of(&[Algorithm::Pqn]);
const SPREADS: u32 = ACTOR_CRITIC | SAC;
/// They learn from more than the step before the next.
const OVERLAPS: u32 = OPTIMIZER;
const QUANTILES: u32 = DQN | SAC;
const SHARED: u32 = ACTOR_CRITIC | DQN;
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
    (TASKS) => {
        "PPO, IMPALA and UNREAL, which is A2C with these tasks: tasks learn beside a policy, from past steps of its rollouts"
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
        "PPO, A2C, IMPALA, UNREAL, PQN and DQN: TD3 and SAC explore by the noise of their actions, and eligibility traces would \
         add gradients of different noise"
    };
    (OPTIMIZER) => {
        "algorithms that are no stream algorithms"
    };
    (KEEPS) => {
        "algorithms other than stream ones, which learn from one transition at a time and have no batches"
    };
    (MARGINS) => {
        "DQN and PQN"
    };
    (SPREADS) => {
        "PPO, A2C, IMPALA, UNREAL and SAC"
    };
    (OVERLAPS) => {
        "algorithms other than stream ones, which learn from each step before the next is taken"
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

/// Values that a field may have: limits as its words are, and what is said of others.
macro_rules! limits {
    ($type:tt $name:ident any) => {
        None
    };
    ($type:tt $name:ident $of:ident of) => {
        None
    };
    ($type:tt $name:ident flag) => {
        limits!(@ $name, 0, 1, " of 0 or 1")
    };
    (u32 $name:ident at least $low:literal) => {
        limits!(@ $name, $low, u32::MAX, concat!(" of at least ", stringify!($low)))
    };
    (u32 $name:ident $low:literal to $high:literal) => {
        limits!(@ $name, $low, $high, concat!(" of ", stringify!($low), " to ", stringify!($high)))
    };
    (f32 $name:ident at least $low:literal) => {
        limits!(@ $name, real($low as f32), real(f32::MAX), concat!(" of at least ", stringify!($low), ", finite"))
    };
    (f32 $name:ident $low:literal to $high:literal) => {
        limits!(@ $name, real($low as f32), real($high as f32), concat!(" of ", stringify!($low), " to ", stringify!($high)))
    };
    (f32 $name:ident above 0) => {
        limits!(@ $name, real(f32::MIN_POSITIVE), real(f32::MAX), " above 0, finite")
    };
    (f32 $name:ident above 0 to $high:literal) => {
        limits!(@ $name, real(f32::MIN_POSITIVE), real($high as f32), concat!(" above 0, to ", stringify!($high)))
    };
    (f32 $name:ident below 1) => {
        limits!(@ $name, real(0.0), real(0.999_999_9), " of 0 to below 1")
    };
    (f32 $name:ident finite) => {
        limits!(@ $name, real(f32::MIN), real(f32::MAX), ", finite")
    };
    (@ $name:ident, $low:expr, $high:expr, $what:expr) => {
        Some(Limits { low: $low, high: $high, what: Name::new(concat!("learner config: ", stringify!($name), $what)) })
    };
}

const fn real(x: f32) -> u32 {
    x.to_bits()
}

macro_rules! config_fields {
    ($($group:literal $of:ident {$(
        $(#[doc = $sentence:literal])+
        $name:ident: $type:tt [$($values:tt)+] = $default:expr $(, $($own:ident)|+ => $value:expr)*;
        $readers:ident $(, $with:literal => $holds:expr)*;
    )*})*) => {
        /// All fields of a [`Config`].
        pub const FIELDS: [Field; [$($(stringify!($name)),*),*].len()] = [$($(Field {
            name: Name::new(stringify!($name)),
            word: offset_of!(Config, $name) / size_of::<u32>(),
            len: sort(|c| &c.$name).1,
            real: sort(|c| &c.$name).0,
            limits: limits!($type $name $($values)+),
            readers: $readers,
            unread: Name::new(concat!(
                "learner config: ", stringify!($name), " is set to {given}, which is read only by ", readers!($readers), "."
            )),
            fixed: Name::new(concat!(
                "learner configure: ", stringify!($name), " is set to {given}, and it stays as the learner was made with: make \
                 another one, which can adopt what this one has learned."
            )),
            conditions: &[$(Condition {
                missing: Name::new(concat!(
                    "learner config: ", stringify!($name), " is set to {given}, which is read only with ", $with, "."
                )),
                holds: $holds,
            }),*],
        }),*),*];
    };
}

learner_config_table!(config_fields);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_and_the_greatest_value_of_a_field_are_accepted_and_those_beyond_them_refused() {
        let mut seen = 0;
        for (field, limits) in FIELDS.iter().filter_map(|field| Some((field, field.limits.as_ref()?))) {
            let [low, high] = [limits.low, limits.high];
            let beyond = if field.real {
                let [low, high] = [low, high].map(f32::from_bits);
                let [below, above] = [low.next_down(), high.next_up()];
                [below, above, f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(f32::to_bits).to_vec()
            } else {
                [low.checked_sub(1), high.checked_add(1)].into_iter().flatten().collect()
            };
            for word in [low, high] {
                assert_eq!(field.check_value(word), Ok(()), "{}", field.name());
            }
            for word in beyond {
                assert_eq!(field.check_value(word).unwrap_err().kind, Kind::Config, "{}: {word:#x}", field.name());
                let mut config = Config::default();
                bytemuck::cast_slice_mut::<u8, u32>(bytemuck::bytes_of_mut(&mut config))[field.word] = word;
                assert_eq!(config.check().unwrap_err().kind, Kind::Config, "{}: {word:#x}", field.name());
                seen += 1;
            }
        }
        assert!(seen > 200, "{seen} values");
    }
}
