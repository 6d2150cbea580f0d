//! What learners optimise: an algorithm makes gradients and losses of a chunk of a minibatch.

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

#[cfg(any(feature = "actor_critic", feature = "pqn"))]
use super::config::Algorithm;
use super::learner::bench::Bench;
use super::learner::layout::Work;
use super::noise;
use crate::block::Misfit;
use crate::error::Result;

/// Fills the record of chunk `chunk`, which is zeros: the gradients of the parameters, then the losses.
pub(super) fn chunk(b: &Bench<'_, '_>, chunk: u32, w: &mut Work<'_>, record: &mut [f32]) -> Result {
    let (begin, end) = b.config.chunk(chunk);
    b.start(b.order.get(begin..end).ok_or(Misfit)?, w)?;
    match b.config.algorithm() {
        #[cfg(feature = "actor_critic")]
        Algorithm::A2c => aac::chunk(b, chunk, w, record),
        #[cfg(feature = "unreal")]
        Algorithm::Unreal => unreal::chunk(b, chunk, w, record),
        #[cfg(feature = "actor_critic")]
        Algorithm::Impala => vtrace::chunk(b, chunk, w, record),
        #[cfg(feature = "pqn")]
        Algorithm::Pqn => pqn::chunk(b, chunk, w, record),
        #[cfg(feature = "stream")]
        Algorithm::StreamAc | Algorithm::StreamQ => stream::chunk(b, chunk, w, record),
        _ => ppo::chunk(b, chunk, w, record),
    }?;
    noise::gradients(&b.sizes.net, b.noise, record)
}
