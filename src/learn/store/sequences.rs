//! Sequences of a replay store: the transitions of an environment in the order in which it took them, and the working arrays of
//! recurrent layers that run through them.

use crate::block::{Cold, fields};

/// How a transition begins: within an episode, with one, or after transitions that are not in the store, or not in the same part
/// of it: of an agent that was removed, or kept demonstrations and the others.
pub(in crate::learn) const GOES_ON: u8 = 0;
pub(in crate::learn) const BEGINS: u8 = 1;
pub(in crate::learn) const BEGINS_AFTER_CUT: u8 = 2;

/// The order of the transitions in the slots of a ring, and in those behind it, which keep demonstrations.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct Sequences<'r> {
    /// Transitions ever stored, and those removed since.
    num_stored: u64,
    num_gone: u64,
    slots: u64,
    /// For each slot how many transitions ago the environment stored its previous one, 0 if it has none; and how it begins.
    before: &'r [u32],
    begin: &'r [u8],
}

impl<'r> Sequences<'r> {
    /// Of a ring of so many slots, which has stored and removed so many transitions, with these columns.
    pub(in crate::learn) fn new(
        [num_stored, num_gone]: [u64; 2],
        slots: u32,
        before: &'r [u32],
        begin: &'r [u8],
    ) -> Self {
        Sequences { num_stored, num_gone, slots: slots.into(), before, begin }
    }

    /// The slot of the environment's transition before this one, of any episode, if the store holds it.
    pub(in crate::learn) fn before(&self, slot: u32) -> Option<u32> {
        let (ago, slots) = (u64::from(*self.before.get(slot as usize)?), self.slots);
        if let Some(kept) = u64::from(slot).checked_sub(slots) {
            let before = kept.checked_sub(ago).filter(|_| ago > 0)?;
            return Some(before.saturating_add(slots) as u32);
        }
        let newest = self.num_stored.checked_sub(1)?;
        let age = newest.checked_rem(slots)?.saturating_add(slots).saturating_sub(slot.into()).checked_rem(slots)?;
        let before = newest.checked_sub(age)?.checked_sub(ago).filter(|number| ago > 0 && *number >= self.num_gone)?;
        Some(before.checked_rem(slots)? as u32)
    }

    /// Whether a transition continues the episode of its predecessor `before`.
    pub(in crate::learn) fn follows(&self, before: u32, slot: u32) -> bool {
        self.begin.get(slot as usize) == Some(&GOES_ON) && self.before(slot) == Some(before)
    }

    /// The slot of the previous step of the episode.
    pub(in crate::learn) fn step_before(&self, slot: u32) -> Option<u32> {
        self.before(slot).filter(|before| self.follows(*before, slot))
    }

    /// Lists the last transitions of an environment, the one in `end` and those before it: sequence `k` of `to`, `[steps,
    /// sequences]`. Where there are no more, the first one is repeated.
    pub(in crate::learn) fn list(&self, end: u32, to: &mut [u32], k: usize, sequences: usize) {
        let mut slot = end;
        for to in to.iter_mut().skip(k).step_by(sequences.max(1)).rev() {
            *to = slot;
            slot = self.before(slot).unwrap_or(slot);
        }
    }

    /// Steps whose rewards a transition sums, at most `most`: it is row `row` of `steps`, `[steps, sequences]`. `None`: later
    /// steps that its next observation depends on are not in the store.
    pub(in crate::learn) fn span(&self, most: usize, steps: &[u32], row: usize, sequences: usize) -> Option<usize> {
        let mut own = *steps.get(row)?;
        for count in 1..most {
            let next = *steps.get(row.saturating_add(count.saturating_mul(sequences)))?;
            if !self.follows(own, next) {
                let ended = self.before(next) == Some(own) && self.begin.get(next as usize) == Some(&BEGINS);
                return ended.then_some(count);
            }
            own = next;
        }
        Some(most)
    }
}

/// Lengths of the working arrays of recurrent layers; zeros without such layers.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct UnrollLens {
    /// Sequences of a chunk, their steps, and those with the following ones that next observations depend on.
    pub(in crate::learn) sequences: usize,
    pub(in crate::learn) len: usize,
    pub(in crate::learn) steps: usize,
    /// Elements of a state, of an observation, an action, a critic's input, and of the outputs of a network.
    pub(in crate::learn) state: usize,
    pub(in crate::learn) obs: usize,
    pub(in crate::learn) action: usize,
    pub(in crate::learn) pair: usize,
    pub(in crate::learn) outputs: usize,
    /// Networks whose states are kept during a pass, and the parameters of a critic.
    pub(in crate::learn) networks: usize,
    pub(in crate::learn) params: usize,
}

impl UnrollLens {
    /// Elements of a row for each sequence.
    const fn rows(&self, width: usize) -> usize {
        self.sequences.saturating_mul(width)
    }
}

fields! {
    pub(in crate::learn) spans UnrollSpans(w: UnrollLens) {
        /// `[steps, sequences]` slots.
        pub(in crate::learn) slot: Cold<[u32]> = w.rows(w.steps),
        /// Slots of burn-in steps before sequences, and the number of such steps.
        pub(in crate::learn) at: Cold<[u32]> = w.sequences,
        pub(in crate::learn) ahead: Cold<[u32]> = w.sequences,
        /// Inputs and outputs of one step.
        pub(in crate::learn) obs: Cold<[f32]> = w.rows(w.obs),
        pub(in crate::learn) action: Cold<[f32]> = w.rows(w.action),
        pub(in crate::learn) pair: Cold<[f32]> = w.rows(w.pair),
        pub(in crate::learn) outputs: Cold<[f32]> = w.rows(w.outputs),
        /// `[sequences, state_len]` states before or after a step; `[steps, sequences, state_len]` those after each step.
        pub(in crate::learn) state: Cold<[f32]> = w.rows(w.state),
        pub(in crate::learn) after: Cold<[f32]> = w.rows(w.state).saturating_mul(w.steps),
        /// `[networks, len, sequences, state_len]` states that rows start from.
        pub(in crate::learn) first: Cold<[f32]> = w.rows(w.state).saturating_mul(w.len).saturating_mul(w.networks),
        /// Gradients of a critic that are not used.
        pub(in crate::learn) grads: Cold<[f32]> = w.params,
    }
    /// Mutable working arrays.
    #[derive(Default)]
    pub(in crate::learn) write UnrollMut {}
    /// Read-only working arrays.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read UnrollView {}
    /// Working arrays of recurrent layers over sequences of a replay store.
    pub(in crate::learn) part UnrollWork(UnrollLens)
}

impl UnrollMut<'_> {
    /// Zeroes all arrays.
    pub(in crate::learn) fn wipe(&mut self) {
        // All are named, so that a new one does not compile until it is zeroed here.
        let UnrollMut { slot, at, ahead, obs, action, pair, outputs, state, after, first, grads } = self;
        for array in [slot, at, ahead] {
            array.fill(0);
        }
        for array in [obs, action, pair, outputs, state, after, first, grads] {
            array.fill(0.0);
        }
    }
}
