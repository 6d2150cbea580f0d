//! Storing transitions and learning from batches of them.
//!
//! A transition is stored once the observation after its `n_step` steps is known: if the episode continues, at the `act` that
//! follows them; if it ends, with the steps it has (as in Rainbow, Hessel et al. 2018).

mod act;
mod config;
mod distribution;
mod frames;
mod image;
mod observe;
#[cfg(test)]
mod sequence_tests;
mod transitions;
mod update;

use super::{Learner, View};
use crate::block;
use crate::learn::store::ring::ZEROS;
use crate::num;

impl Learner<'_> {
    /// Initializes a new replay store.
    pub(super) fn init_replay(&mut self) {
        if !self.config.needs().replay {
            return;
        }
        let r = &mut self.replay;
        r.weights.clear();
        r.kept_weights.clear();
        r.begun.mask.fill(1);
        r.begun_frames.fill(ZEROS);
        r.obs_var.fill(1.0);
        block::copy(r.target, self.params);
    }
}

impl View<'_> {
    /// The temperature: SAC's current weight of a nat of entropy; for other algorithms the configured one, by default 1.
    pub fn temperature(&self) -> f32 {
        num::exp(self.state.log_temperature)
    }

    /// The number of transitions in the replay store, besides kept demonstrations.
    pub fn stored(&self) -> usize {
        self.state.num_stored.saturating_sub(self.state.num_gone) as usize
    }

    /// The number of demonstrations that are kept.
    pub fn kept(&self) -> usize {
        self.state.num_kept as usize
    }

    /// Kept demonstrations that gradient steps may draw: none that has arrived since a running update began.
    pub(super) fn drawable_kept(&self) -> u64 {
        let s = &self.state;
        if s.runs_besides(self.config) { s.begun_kept } else { s.num_kept }
    }

    /// Sequences of a batch, or transitions without recurrent layers, that are drawn from kept demonstrations.
    pub(super) fn shown_sequences(&self) -> usize {
        let (c, all, [end, gone]) = (self.config, self.config.batch_sequences(), self.drawable());
        match (self.drawable_kept(), end.saturating_sub(gone)) {
            (0, _) => 0,
            (_, 0) => all,
            _ => c.demonstrated(all),
        }
    }

    /// Transitions ever stored that gradient steps may draw, and those removed since: none that has arrived since a running
    /// update began.
    pub(super) fn drawable(&self) -> [u64; 2] {
        let s = &self.state;
        [if s.runs_besides(self.config) { s.begun_stored } else { s.num_stored }, s.num_gone]
    }

    /// The number of slots that have ever held a transition.
    pub(super) fn used(&self) -> usize {
        self.state.num_stored.min(self.config.buffer_size.into()) as usize
    }

    /// Whether transitions were removed because there was no room for frames.
    pub(super) fn is_thinned(&self) -> bool {
        self.stored() < self.used()
    }

    /// Whether this slot holds a transition that gradient steps may draw.
    pub(super) fn holds(&self, slot: usize) -> bool {
        if let Some(kept) = slot.checked_sub(self.config.buffer_size as usize) {
            return (kept as u64) < self.drawable_kept();
        }
        let (slots, [end, gone]) = (u64::from(self.config.buffer_size), self.drawable());
        let newest = end.checked_rem(slots).unwrap_or(0).saturating_add(slots).saturating_sub(1);
        newest
            .saturating_sub(slot as u64)
            .checked_rem(slots)
            .is_some_and(|age| age < end.saturating_sub(gone) && slots > slot as u64)
    }
}
