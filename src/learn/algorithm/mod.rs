//! The algorithms: an algorithm makes gradients and losses of a chunk of a minibatch.

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

#[cfg(any(feature = "actor_critic", feature = "off_policy", feature = "pqn"))]
use super::config::Algorithm;
use super::learner::context::ChunkContext;
use super::learner::layout::Work;
use super::noise;
use crate::block::Misfit;
use crate::error::Result;

/// Fills the record of a chunk: the gradients of the parameters, then the losses. Of a batch from a store, adds up in `errors` how
/// far values are from their targets.
pub(super) fn chunk(x: &ChunkContext<'_, '_>, w: &mut Work<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    record.fill(0.0);
    #[cfg(feature = "off_policy")]
    if x.config.over_replay() {
        let (begin, end) = x.config.part(x.chunk, x.config.batch_size as usize);
        let errors = errors.get_mut(begin..end).ok_or(Misfit)?;
        return match x.config.algorithm() {
            Algorithm::Dqn => {
                q::chunk(x, w, record, errors)?;
                noise::gradients(&x.sizes.net, x.noise, record)
            }
            _ if x.sizes.replay.choice_values > 0 => discrete_sac::chunk(x, w, record, errors),
            _ => critic::chunk(x, w, record, errors),
        };
    }
    let _ = errors;
    let (begin, end) = x.config.chunk(x.chunk);
    x.start(x.order.get(begin..end).ok_or(Misfit)?, w)?;
    match x.config.algorithm() {
        #[cfg(feature = "actor_critic")]
        Algorithm::A2c => aac::chunk(x, w, record),
        #[cfg(feature = "unreal")]
        Algorithm::Unreal => unreal::chunk(x, w, record),
        #[cfg(feature = "actor_critic")]
        Algorithm::Impala => vtrace::chunk(x, w, record),
        #[cfg(feature = "pqn")]
        Algorithm::Pqn => pqn::chunk(x, w, record),
        #[cfg(feature = "stream")]
        Algorithm::StreamAc | Algorithm::StreamQ => stream::chunk(x, w, record),
        _ => ppo::chunk(x, w, record),
    }?;
    noise::gradients(&x.sizes.net, x.noise, record)
}
