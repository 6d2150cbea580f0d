//! Proximal policy optimization (Schulman et al. 2017): the clipped surrogate, half the squared value error, and entropy.

use super::{Algorithm, Needs, gradient};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::{loss, tasks};

/// Proximal policy optimization.
pub(super) struct Ppo;

impl Algorithm for Ppo {
    const NEEDS: Needs = Needs { ratios: true, tasks: tasks::BUILT, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        gradient::chunk(b, w, record, |batch, c, _, [d_log_prob, d_value, _]| {
            loss::policy_and_value(batch, c, d_log_prob, d_value)
        })
    }
}
