//! The algorithms: their requirements on a learner, and the gradients and losses of a chunk of a minibatch. An algorithm
//! consists of a file here, its row in [`algorithm_table`](crate::algorithm_table), and its defaults in
//! [`learner_config_table`].

#[cfg(feature = "actor_critic")]
mod aac;
#[cfg(feature = "unreal")]
mod auxiliary;
#[cfg(feature = "off_policy")]
mod cloning;
#[cfg(feature = "off_policy")]
pub mod critic;
#[cfg(feature = "off_policy")]
pub mod discrete_sac;
mod gradient;
#[cfg(all(feature = "off_policy", feature = "residual"))]
mod hybrid_sac;
pub mod imitate;
#[cfg(feature = "unreal")]
pub mod pixel_control;
#[cfg(feature = "unreal")]
mod policy_replay;
mod ppo;
#[cfg(feature = "pqn")]
mod pqn;
#[cfg(feature = "off_policy")]
pub mod q;
#[cfg(feature = "unreal")]
pub mod reward_class;
#[cfg(feature = "off_policy")]
pub mod sac;
#[cfg(test)]
mod sketches;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "off_policy")]
pub mod td3;
#[cfg(feature = "off_policy")]
pub mod tqc;
#[cfg(feature = "unreal")]
mod unreal;
#[cfg(feature = "off_policy")]
pub mod unroll;
#[cfg(feature = "actor_critic")]
mod vtrace;

use super::config;
use super::learner::context::{ChunkContext, UpdateContext};
use super::learner::layout::Scratch;
use super::noise;
use crate::block::LayoutError;
use crate::error::Result;

/// An algorithm.
pub(super) trait Algorithm {
    /// Requirements on the learner.
    const NEEDS: Needs;

    /// Called once for an update of a rollout, before its first minibatch: computes advantages, targets, and the algorithm's
    /// own data.
    fn begin(u: &mut UpdateContext<'_, '_>) -> Result {
        u.advantages(u.config.gae_lambda)
    }

    /// Fills the record of a chunk, which is initially zero: the gradients of the parameters, then the losses. For a batch from
    /// a replay store, adds the distances of values from their targets to `errors`.
    fn chunk(x: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result;
}

/// Requirements on a learner besides a policy's network and a value network. The layout of blocks is derived from this data,
/// and acting, updates and statistics depend on it.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    /// A replay store of transitions, in place of rollouts.
    pub replay: bool,
    /// A network that outputs the value of each choice, in place of a policy and a value.
    pub q: bool,
    /// Critics of observations and actions, whose values the policy learns from.
    pub critics: bool,
    /// A temperature, which keeps the policy's entropy at a target.
    pub temperature: bool,
    /// Eligibility traces, in place of minibatches and an optimizer's moments.
    pub traces: bool,
    /// Auxiliary tasks on a history of past steps, if they have weights.
    pub tasks: bool,
    /// Whole sequences, and columns for targets that each minibatch computes.
    pub corrections: bool,
    /// Probability ratios, whose clipped fraction is reported in the statistics.
    pub ratios: bool,
    /// Number of additional values of an observation, each a head of the network after all others.
    pub values: u32,
    /// Number of the algorithm's own columns of a rollout.
    pub numbers: usize,
}

impl Needs {
    /// A rollout, a policy and values.
    const NONE: Needs = Needs {
        replay: false,
        q: false,
        critics: false,
        temperature: false,
        traces: false,
        tasks: false,
        corrections: false,
        ratios: false,
        values: 0,
        numbers: 0,
    };
}

/// Passes the table of algorithms to a macro: the core generates [`Algorithm`](crate::learn::Algorithm) and the dispatch to the
/// requirements and functions of each algorithm, the C interface its enumeration.
///
/// A row has a sentence, the name in C and the number, the feature of builds that have it, and the type in this folder that
/// implements it. Numbers are never reused.
#[macro_export]
macro_rules! algorithm_table {
    ($to:ident $($more:tt)*) => {
        $to! {
            /// proximal policy optimization
            RLCORE_ALGORITHM_PPO = 0, Ppo: ppo::Ppo;
            /// advantage actor-critic, whose workers A3C runs apart
            RLCORE_ALGORITHM_A2C = 1, #[cfg(feature = "actor_critic")] A2c: aac::A2c;
            /// IMPALA: an actor-critic that corrects by V-trace for what older policies did
            RLCORE_ALGORITHM_IMPALA = 2, #[cfg(feature = "actor_critic")] Impala: vtrace::Impala;
            /// A2C with auxiliary tasks on past steps: pixel control, rewards, values
            RLCORE_ALGORITHM_UNREAL = 3, #[cfg(feature = "unreal")] Unreal: unreal::Unreal;
            /// deep Q-networks, off policy: discrete actions, also in a structure
            RLCORE_ALGORITHM_DQN = 4, #[cfg(feature = "off_policy")] Dqn: q::Dqn;
            /// twin delayed deterministic policy gradients, off policy: continuous actions, also in a structure. DDPG if num_critics
            /// and policy_interval are 1 and target_noise is 0
            RLCORE_ALGORITHM_TD3 = 5, #[cfg(feature = "off_policy")] Td3: td3::Td3;
            /// soft actor-critic, off policy: continuous actions, discrete ones, or structures of both
            RLCORE_ALGORITHM_SAC = 6, #[cfg(feature = "off_policy")] Sac: sac::Sac;
            /// Q(lambda) over rollouts: parallelized Q-networks
            RLCORE_ALGORITHM_PQN = 7, #[cfg(feature = "pqn")] Pqn: pqn::Pqn;
            /// stream AC(lambda): an actor-critic that learns from each step alone, by eligibility traces. One environment, num_steps
            /// 1: learn is due after every observe
            RLCORE_ALGORITHM_STREAM_AC = 8, #[cfg(feature = "stream")] StreamAc: stream::StreamAc;
            /// stream Q(lambda), which does the same with Q: discrete actions, also in a structure
            RLCORE_ALGORITHM_STREAM_Q = 9, #[cfg(feature = "stream")] StreamQ: stream::StreamQ;
            $($more)*
        }
    };
}

/// The table of algorithms; in unit tests with the sketches.
#[cfg(not(test))]
macro_rules! every_algorithm {
    ($to:ident) => {
        algorithm_table!($to);
    };
}

#[cfg(test)]
macro_rules! every_algorithm {
    ($to:ident) => {
        algorithm_table! { $to
            /// PPO with rewards for novelty, and separate values of them
            SKETCH_CURIOUS = 30, Curious: sketches::Curious;
            /// PPO with a second loss on choices supplied by the host
            SKETCH_IMITATOR = 31, Imitator: sketches::Imitator;
        }
    };
}

macro_rules! algorithms {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $(#[cfg(feature = $feature:literal)])? $name:ident: $file:ident::$algorithm:ident;
    )+) => {
        impl config::Algorithm {
            /// Requirements on the learner.
            #[inline]
            #[allow(unreachable_patterns)]
            pub(super) fn needs(self) -> Needs {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$name => $file::$algorithm::NEEDS,)+
                    _ => ppo::Ppo::NEEDS,
                }
            }
        }

        #[allow(unreachable_patterns)]
        fn dispatch(x: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
            match x.config.algorithm() {
                $(
                    $(#[cfg(feature = $feature)])?
                    config::Algorithm::$name => $file::$algorithm::chunk(x, w, record, errors),
                )+
                _ => ppo::Ppo::chunk(x, w, record, errors),
            }
        }

        /// [`Algorithm::begin`].
        #[allow(unreachable_patterns)]
        pub(super) fn begin(u: &mut UpdateContext<'_, '_>) -> Result {
            match u.config.algorithm() {
                $($(#[cfg(feature = $feature)])? config::Algorithm::$name => $file::$algorithm::begin(u),)+
                _ => ppo::Ppo::begin(u),
            }
        }
    };
}

every_algorithm!(algorithms);

/// Fills the record of a chunk: the gradients of the parameters, then the losses. For a batch from a replay store, the distances
/// of values from their targets follow.
pub(super) fn chunk(x: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    record.fill(0.0);
    let (record, errors) = x.sizes.split(record)?;
    if !x.config.needs().replay {
        let (begin, end) = x.config.chunk(x.chunk);
        x.start(x.order.get(begin..end).ok_or(LayoutError)?, w)?;
    }
    dispatch(x, w, record, errors)?;
    #[cfg(feature = "unreal")]
    auxiliary::learn(x, w, record)?;
    imitate::beside(x, w, record)?;
    noise::gradients(&x.sizes.net, x.noise, record)
}
