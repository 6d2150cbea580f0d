//! Advantage actor-critic (A2C, A3C; Mnih et al. 2016): the policy gradient, half the squared value error, and entropy.

use super::{Algorithm, Needs, gradient};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::loss;

/// Advantage actor-critic.
pub(super) struct A2c;

impl Algorithm for A2c {
    const NEEDS: Needs = Needs::NONE;

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        gradient::chunk(b, w, record, |batch, c, _, [d_log_prob, d_value, _]| {
            loss::actor_and_critic(batch, c, d_log_prob, d_value)
        })
    }
}
