//! What an algorithm reads to make gradients of a chunk of a minibatch.

use super::layout::{RolloutView, Sizes};
use crate::learn::actor::Head;
use crate::learn::config::Config;
use crate::learn::shape::Shape;

/// Nothing of it changes while the chunks of a minibatch are done, in whatever order and by however many threads.
pub(in crate::learn) struct Bench<'b, 'r> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) shape: &'b Shape,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) head: Head<'b>,
    pub(in crate::learn) params: &'b [f32],
    pub(in crate::learn) rollout: RolloutView<'r>,
    /// Slots of the transitions of this minibatch.
    pub(in crate::learn) order: &'b [u32],
    /// Their advantages, normalised if they are to be.
    pub(in crate::learn) advantage: &'b [f32],
    /// The clip range of this update.
    pub(in crate::learn) clip: f32,
}
