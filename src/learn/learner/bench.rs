//! What an algorithm reads to make gradients of a chunk of a minibatch.

use super::layout::{RolloutView, Sizes};
use crate::block::{self, Fit, Misfit};
use crate::error::Result;
use crate::learn::actor::Head;
use crate::learn::config::Config;
use crate::learn::rows::Rows;
use crate::learn::shape::Shape;
use crate::nn::Carry;
use crate::space::Elements;

/// Nothing of it changes while the chunks of a minibatch are done, in whatever order and by however many threads.
pub(in crate::learn) struct Bench<'b, 'r> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) shape: &'b Shape,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) head: Head<'b>,
    pub(in crate::learn) params: &'b [f32],
    /// What was added to them.
    pub(in crate::learn) noise: &'b [f32],
    pub(in crate::learn) rollout: RolloutView<'r>,
    /// Slots of the transitions of this minibatch.
    pub(in crate::learn) order: &'b [u32],
    /// Their advantages, normalised if they are to be.
    pub(in crate::learn) advantage: &'b [f32],
    /// The clip range of this update.
    pub(in crate::learn) clip: f32,
}

impl Bench<'_, '_> {
    /// What networks see of the observations of these slots.
    pub(in crate::learn) fn obs<'w>(&self, slots: Rows<'_>, to: &'w mut [f32]) -> Result<&'w [f32]> {
        let (sizes, r) = (self.sizes, &self.rollout);
        match r.pixels {
            _ if sizes.frames.are_kept() => Ok(sizes.frames.see(r, slots.iter(), to)?),
            [] => Ok(slots.get(r.obs, self.shape.seen_len as usize, to)?),
            pixels => Ok(slots.see(&sizes.seen, Elements::U8(pixels), to)?),
        }
    }

    /// Whether the transition of a slot goes on with the episode of the one that lies before it in a sequence.
    pub(in crate::learn) fn follows(&self, before: u32, slot: u32) -> bool {
        let (r, slot) = (&self.rollout, slot as usize);
        let env = r.env.get(slot);
        env.is_some() && env == r.env.get(before as usize) && r.begin.get(slot) == Some(&0)
    }

    /// Where the rows of a chunk start from, which are these slots: from the states that they had when an episode or a
    /// sequence begins, and when the row before is another environment's.
    pub(in crate::learn) fn carry<'w>(&self, order: &[u32], state: &'w mut [f32], cut: &'w mut [u8]) -> Fit<Carry<'w>> {
        let (width, r) = (self.sizes.state_len(), &self.rollout);
        if width == 0 {
            return Ok(Carry::NONE);
        }
        let steps = self.config.num_together();
        let sequences = order.len().checked_div(steps).ok_or(Misfit)?;
        let (state, cut) = (block::rows_mut(state, 0, order.len(), width)?, block::rows_mut(cut, 0, order.len(), 1)?);
        for (row, (&slot, cut)) in order.iter().zip(&mut *cut).enumerate() {
            let before = row.checked_sub(sequences).and_then(|row| order.get(row));
            let follows = before.is_some_and(|&before| self.follows(before, slot));
            *cut = u8::from(!follows);
            if !follows {
                block::copy(block::rows_mut(state, row, 1, width)?, block::rows(r.state, slot as usize, 1, width)?);
            }
        }
        Ok(Carry { steps, cut, state })
    }
}
