//! What an algorithm reads to make gradients of a chunk of a batch.

use super::layout::{Sizes, TransitionView};
use crate::block::{self, Fit, Misfit};
use crate::error::Result;
use crate::learn::actor::Head;
use crate::learn::config::Config;
use crate::learn::rows::Rows;
use crate::learn::seen::Seen;
use crate::space::Elements;

/// What transitions of the host's own have beside or in place of those of a store.
pub(in crate::learn) struct Given<'b> {
    /// Actions are as environments take them.
    pub(in crate::learn) head: Head<'b>,
    /// `[batch_size]` flags; discounts there are 0, and elsewhere that of the configuration if none are given.
    pub(in crate::learn) terminated: &'b [u8],
}

/// Nothing of it changes while the chunks of a batch are done.
pub(in crate::learn) struct Bench<'b> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) action_n: &'b [u32],
    pub(in crate::learn) params: &'b [f32],
    pub(in crate::learn) target: &'b [f32],
    pub(in crate::learn) store: TransitionView<'b>,
    /// Those that its observations are told by, if they are stacks.
    pub(in crate::learn) frames: &'b [u8],
    pub(in crate::learn) given: Option<Given<'b>>,
    /// Slots of the transitions of the chunk.
    pub(in crate::learn) order: &'b [u32],
    /// How much each of them counts; empty: 1.
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

    /// Actions of these rows of the store, from -1 to 1.
    pub(in crate::learn) fn actions<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Fit<&'t mut [f32]> {
        let to = rows.get(self.store.vector, self.sizes.vector, to)?;
        if let Some(given) = &self.given {
            for action in to.chunks_exact_mut(self.sizes.vector.max(1)) {
                given.head.shrink(action);
            }
        }
        Ok(to)
    }

    /// What the values of the next observations of these rows count.
    pub(in crate::learn) fn discounts<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Fit<&'t mut [f32]> {
        let Some(given) = &self.given else { return rows.get(self.store.discount, 1, to) };
        let to = if self.store.discount.is_empty() {
            let to = block::rows_mut(to, 0, rows.len(), 1)?;
            to.fill(self.config.discount);
            to
        } else {
            rows.get(self.store.discount, 1, to)?
        };
        for (to, row) in to.iter_mut().zip(rows.iter()) {
            if given.terminated.get(row) != Some(&0) {
                *to = 0.0;
            }
        }
        Ok(to)
    }

    /// Observations of these rows of the store, as the network sees them.
    pub(in crate::learn) fn see<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        let s = &self.store;
        self.see_either((s.obs, s.pixels, s.frame), rows, to)
    }

    /// What they led to.
    pub(in crate::learn) fn see_next<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        let s = &self.store;
        self.see_either((s.next_obs, s.next_pixels, s.next_frame), rows, to)
    }

    fn see_either<'t>(
        &self,
        (obs, pixels, frames): (&[f32], &[u8], &[u32]),
        rows: &Rows<'_>,
        to: &'t mut [f32],
    ) -> Result<&'t mut [f32]> {
        let &Sizes { seen, pixels: bytes, ring, .. } = self.sizes;
        match bytes {
            0 => rows.see(&seen, Elements::F32(obs), to),
            _ if ring.stack.is_kept() && self.given.is_none() => ring.stack.see((frames, self.frames), rows.iter(), to),
            _ => rows.see(&Seen { elements: bytes, ..seen }, Elements::U8(pixels), to),
        }
    }
}
