//! UNREAL (Jaderberg et al. 2016): the actor-critic, whose auxiliary tasks are enabled by default.

use super::aac::A2c;
use super::{Algorithm, Needs};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;

/// A2C with auxiliary tasks.
pub(super) struct Unreal;

impl Algorithm for Unreal {
    const NEEDS: Needs = Needs { tasks: true, ..A2c::NEEDS };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        A2c::chunk(b, w, record, errors)
    }
}
