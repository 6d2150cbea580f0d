//! Recurrent layers over sequences of a replay store (as in R2D2, Kapturowski et al. 2019): the states of their steps under any
//! parameters.
//!
//! A sequence starts from the state that its policy recorded there, or with `burn_in` from the state that the given parameters
//! compute from the recorded one of an earlier step. Critics record no states: they start from zeros.

use crate::block::{self, Fit, LayoutError};
use crate::error::Result;
use crate::learn::algorithm::critic::join;
use crate::learn::learner::context::ChunkContext;
use crate::learn::rows::Rows;
use crate::learn::store::sequences::UnrollMut;
use crate::nn::{ALL, Carry, Net};

/// A network of a learner: that of the policy or of Q, or a critic.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::learn) enum Of {
    Policy,
    Critic,
}

/// The observations that states are for: of the steps, or those after them.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum When {
    Now,
    Next,
}

/// Working arrays of a pass over the sequences of a chunk. Without recurrent layers all states are empty.
pub(super) struct Unroll<'w, 'm> {
    pub(super) own: &'w mut UnrollMut<'m>,
    /// `[rows, state_len]` states, and 1 where a row starts from its state.
    pub(super) state: &'w mut [f32],
    pub(super) cut: &'w mut [u8],
}

/// An [`Unroll`] of these working arrays.
macro_rules! unroll {
    ($work:ident) => {
        $crate::learn::algorithm::unroll::Unroll {
            own: &mut $work.batch.unroll,
            state: &mut *$work.state,
            cut: &mut *$work.cut,
        }
    };
}
pub(super) use unroll;

/// The recurrent states of critics in the rows that they are run on.
pub(in crate::learn) trait States {
    /// Those of a critic with these parameters.
    fn of(&mut self, params: &[f32], scratch: &mut [f32]) -> Result<&mut [f32]>;
}

/// Critics without recurrent layers.
pub(in crate::learn) struct NoStates;

impl States for NoStates {
    fn of(&mut self, _: &[f32], _: &mut [f32]) -> Result<&mut [f32]> {
        Ok(&mut [])
    }
}

/// The states of critics in these observations of all rows.
pub(super) struct CriticStates<'s, 'w, 'm, 'b, 'r> {
    pub(super) unroll: &'s mut Unroll<'w, 'm>,
    pub(super) b: &'s ChunkContext<'b, 'r>,
    pub(super) when: When,
}

impl States for CriticStates<'_, '_, '_, '_, '_> {
    fn of(&mut self, params: &[f32], scratch: &mut [f32]) -> Result<&mut [f32]> {
        self.unroll.states(self.b, (Of::Critic, params), self.when, scratch)
    }
}

/// The sequences of a chunk, a network and its parameters.
#[derive(Clone, Copy)]
struct Pass<'p, 'b, 'r> {
    b: &'p ChunkContext<'b, 'r>,
    of: Of,
    net: &'p Net<'b>,
    params: &'p [f32],
    sequences: usize,
    width: usize,
}

impl<'p, 'b, 'r> Pass<'p, 'b, 'r> {
    fn new(b: &'p ChunkContext<'b, 'r>, of: Of, params: &'p [f32]) -> Pass<'p, 'b, 'r> {
        let net = if of == Of::Policy { &b.sizes.net } else { &b.sizes.critic };
        let sequences = b.order.len().checked_div(b.config.sequence_rows()).unwrap_or(0);
        Pass { b, of, net, params, sequences, width: b.sizes.state_len() }
    }

    /// Writes the state that was recorded before the step in a slot.
    fn recall(&self, slot: u32, to: &mut [f32]) -> Fit<()> {
        match self.of {
            Of::Policy => block::copy(to, block::rows(self.b.batch.store.state, slot as usize, 1, self.width)?),
            Of::Critic => to.fill(0.0),
        }
        Ok(())
    }

    /// Runs one step of each sequence, in these slots, from the states of `own`, which become those after it.
    fn step(&self, slots: &[u32], own: &mut UnrollMut<'_>, scratch: &mut [f32]) -> Result {
        let (b, m, rows) = (self.b, slots.len(), Rows::new(slots, 0));
        let obs = b.see(&rows, own.obs)?;
        let input = if self.of == Of::Critic && b.sizes.pair() > 0 {
            let (a, pair) = (b.sizes.std_len, block::rows_mut(own.pair, 0, m, b.sizes.pair())?);
            join((obs, b.sizes.seen.len), (b.actions(&rows, own.action)?, a), pair)
        } else {
            obs
        };
        let [first, second] = [0, 1].map(|head| m.saturating_mul(self.net.head_len(head)));
        let (outputs, rest) = own.outputs.split_at_mut_checked(first).ok_or(LayoutError)?;
        let outs = &mut [outputs, block::rows_mut(rest, 0, second, 1)?];
        let outs = outs.get_mut(..self.net.num_heads()).ok_or(LayoutError)?;
        self.net.infer(self.params, input, m, ALL, block::rows_mut(own.state, 0, m, self.width)?, scratch, outs)
    }

    /// Lists the slots of the steps in `own`, and writes the states before the first ones.
    fn begin(&self, own: &mut UnrollMut<'_>, scratch: &mut [f32]) -> Result {
        let (b, s) = (self.b, self.sequences);
        let (links, slots) = (&b.batch.sequences, block::rows_mut(own.slot, 0, b.config.sequence_steps(), s)?);
        for (k, end) in b.batch.ends.iter().enumerate() {
            links.list(*end, slots, k, s);
        }
        let mut longest = 0;
        for ((at, ahead), slot) in own.at.iter_mut().zip(&mut *own.ahead).zip(&*slots).take(s) {
            (*at, *ahead) = (*slot, 0);
            while *ahead < b.config.burn_in
                && let Some(before) = links.step_before(*at)
            {
                (*at, *ahead) = (before, ahead.saturating_add(1));
            }
            longest = longest.max(*ahead);
        }
        own.state.fill(0.0);
        for left in (0..=longest).rev() {
            let states = own.state.chunks_exact_mut(self.width.max(1));
            for ((state, ahead), at) in states.zip(&*own.ahead).zip(&*own.at).take(s) {
                if *ahead == left {
                    self.recall(*at, state)?;
                }
            }
            if left == 0 {
                break;
            }
            // Rows whose steps are not due yet are computed as well, and ignored.
            let at = core::mem::take(&mut own.at);
            let done = self.step(at.get(..s).ok_or(LayoutError)?, own, scratch);
            own.at = at;
            done?;
            for ((at, ahead), first) in own.at.iter_mut().zip(&*own.ahead).zip(&*own.slot).take(s) {
                if *ahead >= left {
                    *at = (1..left).try_fold(*first, |slot, _| links.step_before(slot)).unwrap_or(*first);
                }
            }
        }
        Ok(())
    }

    /// Whether row `row` of the listed steps continues the episode of the previous step.
    fn follows(&self, slots: &[u32], row: usize) -> bool {
        let before = row.checked_sub(self.sequences).and_then(|before| slots.get(before));
        let (Some(before), Some(slot)) = (before, slots.get(row)) else { return false };
        self.b.batch.sequences.follows(*before, *slot)
    }

    /// Runs all steps, and writes the states after each.
    fn run(&self, own: &mut UnrollMut<'_>, scratch: &mut [f32]) -> Result {
        let slots = core::mem::take(&mut own.slot);
        let done = self.run_all(slots, own, scratch);
        own.slot = slots;
        done
    }

    fn run_all(&self, slots: &[u32], own: &mut UnrollMut<'_>, scratch: &mut [f32]) -> Result {
        let (s, width) = (self.sequences, self.width);
        let slots = block::rows(slots, 0, self.b.config.sequence_steps(), s)?;
        for (step, at) in slots.chunks_exact(s.max(1)).enumerate() {
            let first = step.saturating_mul(s);
            for (k, slot) in at.iter().enumerate().filter(|_| step > 0) {
                if !self.follows(slots, first.saturating_add(k)) {
                    self.recall(*slot, block::rows_mut(own.state, k, 1, width)?)?;
                }
            }
            self.step(at, own, scratch)?;
            block::copy(block::rows_mut(own.after, first, s, width)?, block::rows(own.state, 0, s, width)?);
        }
        Ok(())
    }
}

impl Unroll<'_, '_> {
    /// The states that a network has in the observations of all rows, under these parameters.
    pub(super) fn states(
        &mut self,
        b: &ChunkContext<'_, '_>,
        (of, params): (Of, &[f32]),
        when: When,
        scratch: &mut [f32],
    ) -> Result<&mut [f32]> {
        let (pass, m) = (Pass::new(b, of, params), b.order.len());
        let (s, width) = (pass.sequences, pass.width);
        if width == 0 {
            return Ok(&mut []);
        }
        let own = &mut *self.own;
        pass.begin(own, scratch)?;
        let states = block::rows_mut(self.state, 0, m, width)?;
        block::copy(block::rows_mut(states, 0, s, width)?, block::rows(own.state, 0, s, width)?);
        pass.run(own, scratch)?;
        let slots = block::rows(own.slot, 0, b.config.sequence_steps(), s)?;
        for (row, to) in states.chunks_exact_mut(width).enumerate() {
            let from = match when {
                When::Next => {
                    let span = b.batch.sequences.span(b.config.n_step as usize, slots, row, s).unwrap_or(1);
                    Some(row.saturating_add(span.saturating_sub(1).saturating_mul(s)))
                }
                When::Now if pass.follows(slots, row) => row.checked_sub(s),
                When::Now => {
                    if row >= s {
                        pass.recall(*slots.get(row).ok_or(LayoutError)?, to)?;
                    }
                    None
                }
            };
            if let Some(from) = from {
                block::copy(to, block::rows(own.after, from, 1, width)?);
            }
        }
        Ok(states)
    }

    /// Computes the states that the rows of sequences start from, and keeps them as those of network `index`.
    pub(super) fn start(
        &mut self,
        b: &ChunkContext<'_, '_>,
        (of, params): (Of, &[f32]),
        index: usize,
        scratch: &mut [f32],
    ) -> Result {
        let pass = Pass::new(b, of, params);
        let (s, m, width) = (pass.sequences, b.order.len(), pass.width);
        if width == 0 {
            return Ok(());
        }
        let own = &mut *self.own;
        pass.begin(own, scratch)?;
        let states = block::rows_mut(own.first, index, 1, m.saturating_mul(width))?;
        block::copy(block::rows_mut(states, 0, s, width)?, block::rows(own.state, 0, s, width)?);
        for (row, to) in states.chunks_exact_mut(width).enumerate() {
            let follows = pass.follows(own.slot, row);
            *self.cut.get_mut(row).ok_or(LayoutError)? = u8::from(!follows);
            if !follows && row >= s {
                pass.recall(*own.slot.get(row).ok_or(LayoutError)?, to)?;
            }
        }
        Ok(())
    }

    /// The states that [`Unroll::start`] kept for a network.
    pub(super) fn carry(&self, b: &ChunkContext<'_, '_>, index: usize) -> Fit<Carry<'_>> {
        let (m, width) = (b.order.len(), b.sizes.state_len());
        if width == 0 {
            return Ok(Carry::NONE);
        }
        let state = block::rows(self.own.first, index, 1, m.saturating_mul(width))?;
        Ok(Carry { steps: b.config.sequence_rows(), cut: block::rows(self.cut, 0, m, 1)?, state })
    }
}
