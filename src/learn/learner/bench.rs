//! What an algorithm reads to make gradients of a chunk of a minibatch.

use super::layout::{RolloutView, Sizes};
use crate::learn::actor::Head;
use crate::learn::actor_config::ActorConfig;
use crate::learn::config::Config;

/// Nothing of it changes while the chunks of a minibatch are done, in whatever order and by however many threads.
pub(in crate::learn) struct Bench<'b, 'r> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) actor: &'b ActorConfig,
    pub(in crate::learn) sizes: &'b Sizes,
    pub(in crate::learn) action_n: &'b [u32],
    pub(in crate::learn) action_low: &'b [f32],
    pub(in crate::learn) action_high: &'b [f32],
    pub(in crate::learn) params: &'b [f32],
    pub(in crate::learn) rollout: RolloutView<'r>,
    /// Slots of the transitions of this minibatch.
    pub(in crate::learn) order: &'b [u32],
    /// Their advantages, normalised if they are to be.
    pub(in crate::learn) advantage: &'b [f32],
    /// The clip range of this update.
    pub(in crate::learn) clip: f32,
}

impl<'b> Bench<'b, '_> {
    pub(in crate::learn) fn head(&self, log_std: &'b [f32]) -> Head<'b> {
        Head::new(self.actor, self.action_n, self.action_low, self.action_high, log_std)
    }
}
