//! What an algorithm reads to make gradients of a chunk of a batch.

use super::layout::{Sizes, TransitionView};
use crate::block::Fit;
use crate::learn::config::Config;
use crate::learn::rows::Rows;
use crate::space::Elements;

/// Nothing of it changes while the chunks of a batch are done.
pub(in crate::learn) struct Bench<'b> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) obs_len: usize,
    pub(in crate::learn) action_n: &'b [u32],
    pub(in crate::learn) params: &'b [f32],
    pub(in crate::learn) target: &'b [f32],
    pub(in crate::learn) store: TransitionView<'b>,
    /// Slots of the transitions of the chunk.
    pub(in crate::learn) order: &'b [u32],
}

impl Bench<'_> {
    /// Observations of these rows of the store, as the network sees them.
    pub(in crate::learn) fn see<'t>(
        &self,
        rows: &Rows<'_>,
        obs: &[f32],
        pixels: &[u8],
        to: &'t mut [f32],
    ) -> Fit<&'t mut [f32]> {
        if self.sizes.pixels > 0 {
            rows.see(Elements::U8(pixels), self.obs_len, to)
        } else {
            rows.get(obs, self.obs_len, to)
        }
    }
}
