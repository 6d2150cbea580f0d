//! The algorithms: what a learner holds for each, and gradients and losses of a chunk of a minibatch.

#[cfg(feature = "actor_critic")]
mod aac;
#[cfg(feature = "off_policy")]
pub mod critic;
#[cfg(feature = "off_policy")]
pub mod discrete_sac;
mod gradient;
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
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "off_policy")]
pub mod td3;
#[cfg(feature = "off_policy")]
pub mod tqc;
#[cfg(feature = "unreal")]
mod unreal;
#[cfg(feature = "actor_critic")]
mod vtrace;

use super::config;
use super::learner::context::ChunkContext;
use super::learner::layout::Work;
use super::noise;
use crate::block::Misfit;
use crate::error::Result;

/// An algorithm.
pub(super) trait Algorithm {
    /// What the learner must hold for it.
    const NEEDS: Needs;

    /// Fills the record of a chunk, which is zeros: the gradients of the parameters, then the losses. Of a batch from a store, adds
    /// up in `errors` how far values are from their targets.
    fn chunk(x: &ChunkContext<'_, '_>, w: &mut Work<'_>, record: &mut [f32], errors: &mut [f32]) -> Result;
}

/// What a learner must hold beside a policy's network and a network of values: data, from which blocks are laid out, and by
/// which acting, updates and statistics go.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    /// A store of transitions, in place of rollouts.
    pub replay: bool,
    /// A network that says what each choice is worth, in place of a policy and of values.
    pub q: bool,
    /// Critics of observations and actions, from whose values the policy learns.
    pub critics: bool,
    /// A temperature, which holds the policy at an entropy.
    pub temperature: bool,
    /// Eligibility traces, in place of minibatches and of an optimizer's moments.
    pub traces: bool,
    /// Past steps, for auxiliary tasks.
    pub tasks: bool,
    /// Whole sequences, and columns in which each minibatch makes targets of its own.
    pub corrections: bool,
    /// Ratios of probabilities, of which statistics say how many were clipped.
    pub ratios: bool,
}

impl Needs {
    /// Rollouts, a policy and values.
    const NONE: Needs = Needs {
        replay: false,
        q: false,
        critics: false,
        temperature: false,
        traces: false,
        tasks: false,
        corrections: false,
        ratios: false,
    };
}

/// The table: a row for each algorithm that a build has.
macro_rules! algorithms {
    ($($(#[$built:meta])* $name:ident = $algorithm:ty;)*) => {
        impl config::Algorithm {
            /// What a learner must hold for it.
            #[inline]
            #[allow(unreachable_patterns)]
            pub(super) fn needs(self) -> Needs {
                match self {
                    $($(#[$built])* Self::$name => <$algorithm>::NEEDS,)*
                    _ => ppo::Ppo::NEEDS,
                }
            }
        }

        #[allow(unreachable_patterns)]
        fn dispatch(x: &ChunkContext<'_, '_>, w: &mut Work<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
            match x.config.algorithm() {
                $($(#[$built])* config::Algorithm::$name => <$algorithm>::chunk(x, w, record, errors),)*
                _ => ppo::Ppo::chunk(x, w, record, errors),
            }
        }
    };
}

algorithms! {
    Ppo = ppo::Ppo;
    #[cfg(feature = "actor_critic")]
    A2c = aac::A2c;
    #[cfg(feature = "actor_critic")]
    Impala = vtrace::Impala;
    #[cfg(feature = "unreal")]
    Unreal = unreal::Unreal;
    #[cfg(feature = "off_policy")]
    Dqn = q::Dqn;
    #[cfg(feature = "off_policy")]
    Td3 = td3::Td3;
    #[cfg(feature = "off_policy")]
    Sac = sac::Sac;
    #[cfg(feature = "pqn")]
    Pqn = pqn::Pqn;
    #[cfg(feature = "stream")]
    StreamAc = stream::StreamAc;
    #[cfg(feature = "stream")]
    StreamQ = stream::StreamQ;
}

/// Fills the record of a chunk: the gradients of the parameters, then the losses. Of a batch from a store, adds up in `errors` how
/// far values are from their targets.
pub(super) fn chunk(x: &ChunkContext<'_, '_>, w: &mut Work<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    record.fill(0.0);
    let errors = if x.config.needs().replay {
        let (begin, end) = x.config.part(x.chunk, x.config.batch_size as usize);
        errors.get_mut(begin..end).ok_or(Misfit)?
    } else {
        let (begin, end) = x.config.chunk(x.chunk);
        x.start(x.order.get(begin..end).ok_or(Misfit)?, w)?;
        &mut []
    };
    dispatch(x, w, record, errors)?;
    noise::gradients(&x.sizes.net, x.noise, record)
}
