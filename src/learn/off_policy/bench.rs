//! What an algorithm reads to make gradients of a chunk of a batch.

use super::layout::{Sizes, TransitionView};
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
}

impl Bench<'_> {
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
