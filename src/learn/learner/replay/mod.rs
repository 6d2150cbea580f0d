//! How a learner puts transitions in a store and learns from batches of them.
//!
//! A transition goes to the store once what its `n_step` steps led to is known: where the episode goes on, with the `act` that
//! follows them; where it ends, with whatever steps it has (as in Rainbow, Hessel et al. 2018).

mod act;
mod config;
mod frames;
mod image;
mod observe;
mod transitions;
mod update;

use super::{Learner, View};
use crate::block;
use crate::learn::store::ring::ZEROS;
use crate::num;

impl Learner<'_> {
    /// What a new store begins with.
    pub(super) fn init_replay(&mut self) {
        if !self.config.needs().replay {
            return;
        }
        let r = &mut self.replay;
        r.weights.clear();
        r.begun.mask.fill(1);
        r.begun_frames.fill(ZEROS);
        block::copy(r.target, self.params);
    }
}

impl View<'_> {
    /// What SAC says that a nat of entropy is worth; 1 of other algorithms, but for their configuration.
    pub fn temperature(&self) -> f32 {
        num::exp(self.state.log_temperature)
    }

    /// Transitions that the store holds.
    pub fn stored(&self) -> usize {
        self.state.num_stored.saturating_sub(self.state.num_gone) as usize
    }

    /// Slots of the store that ever held a transition.
    pub(super) fn used(&self) -> usize {
        self.state.num_stored.min(self.config.buffer_size.into()) as usize
    }

    /// Transitions had to go because there was no room for frames.
    pub(super) fn is_thinned(&self) -> bool {
        self.stored() < self.used()
    }

    /// This slot of the store holds a transition.
    pub(super) fn holds(&self, slot: usize) -> bool {
        let slots = u64::from(self.config.buffer_size);
        let newest = self.state.num_stored.checked_rem(slots).unwrap_or(0).saturating_add(slots).saturating_sub(1);
        newest
            .saturating_sub(slot as u64)
            .checked_rem(slots)
            .is_some_and(|age| age < self.stored() as u64 && slots > slot as u64)
    }
}
