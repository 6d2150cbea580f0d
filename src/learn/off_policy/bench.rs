//! What an algorithm reads to make gradients of a chunk of a batch.

use super::layout::{Sizes, TransitionView};
use crate::block::{self, Fit, Misfit};
use crate::error::Result;
use crate::learn::config::Config;
use crate::learn::rows::Rows;
use crate::learn::seen::Seen;
use crate::space::Elements;

/// Nothing of it changes while the chunks of a batch are done.
pub(in crate::learn) struct Bench<'b> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) action_n: &'b [u32],
    pub(in crate::learn) params: &'b [f32],
    pub(in crate::learn) target: &'b [f32],
    pub(in crate::learn) store: TransitionView<'b>,
    /// Slots of the transitions of the chunk.
    pub(in crate::learn) order: &'b [u32],
    /// How much each of them counts.
    pub(in crate::learn) importance: &'b [f32],
    /// Normal draws for the next actions and for those of the policy, a row for each transition.
    pub(in crate::learn) noise: [&'b [f32]; 2],
    pub(in crate::learn) temperature: f32,
    /// The policy is to learn, not its critics.
    pub(in crate::learn) policy_next: bool,
}

impl<'b> Bench<'b> {
    /// The parameters of the policy and of critic `i`, among these.
    pub(in crate::learn) fn policy_of(&self, params: &'b [f32]) -> Fit<&'b [f32]> {
        params.get(..self.sizes.policy.param_len()).ok_or(Misfit)
    }

    pub(in crate::learn) fn critic_of(&self, params: &'b [f32], i: usize) -> Fit<&'b [f32]> {
        let critics = params.get(self.sizes.policy.param_len()..).ok_or(Misfit)?;
        block::rows(critics, i, 1, self.sizes.critic.param_len())
    }

    /// Observations of these rows of the store, as the network sees them.
    pub(in crate::learn) fn see<'t>(
        &self,
        rows: &Rows<'_>,
        obs: &[f32],
        pixels: &[u8],
        to: &'t mut [f32],
    ) -> Result<&'t mut [f32]> {
        let &Sizes { seen, pixels: bytes, .. } = self.sizes;
        match bytes {
            0 => rows.see(&seen, Elements::F32(obs), to),
            _ => rows.see(&Seen { elements: bytes, ..seen }, Elements::U8(pixels), to),
        }
    }
}
