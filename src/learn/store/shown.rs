//! Demonstrations that a learner on policy keeps: observations and actions in the environment's form, and the rows that were drawn
//! beside a minibatch. The first ones are kept for good.

use crate::block::{self, Fit, LayoutError, fields};
use crate::learn::rows::copy_row;
use crate::learn::shape::Shape;
use crate::rng::Rng;
use crate::space::{Element, Elements};

/// Marks a row that was not drawn.
pub(in crate::learn) const NOT_DRAWN: u32 = u32::MAX;

/// Lengths from which the lengths of arrays are computed.
#[derive(Clone, Copy)]
pub(in crate::learn) struct ShownLens {
    /// Demonstrations; 0: none are kept.
    pub(in crate::learn) rows: usize,
    pub(in crate::learn) shape: Shape,
    pub(in crate::learn) masks: usize,
    /// The most rows that are drawn.
    pub(in crate::learn) draws: usize,
}

impl ShownLens {
    /// Elements of all observations, if they are of this kind.
    fn obs_of(&self, kind: Element) -> usize {
        if self.shape.kinds().0 == kind { self.rows.saturating_mul(self.shape.obs_len as usize) } else { 0 }
    }

    /// Elements of all actions, if they are of this kind.
    fn action_of(&self, kind: Element) -> usize {
        if self.shape.kinds().1 == kind { self.rows.saturating_mul(self.shape.action_len as usize) } else { 0 }
    }
}

fields! {
    pub(in crate::learn) spans ShownSpans(lens: ShownLens) {
        /// `[demonstration_size, obs_len]`, in one of these by their kind.
        pub(in crate::learn) obs_numbers: [f32] = lens.obs_of(Element::F32),
        pub(in crate::learn) obs_choices: [i32] = lens.obs_of(Element::I32),
        pub(in crate::learn) obs_bytes: [u8] = lens.obs_of(Element::U8),
        /// `[demonstration_size, action_len]`, likewise.
        pub(in crate::learn) numbers: [f32] = lens.action_of(Element::F32),
        pub(in crate::learn) choices: [i32] = lens.action_of(Element::I32),
        pub(in crate::learn) bytes: [u8] = lens.action_of(Element::U8),
        /// `[demonstration_size, mask_len]` masks of the observations.
        pub(in crate::learn) mask: [u8] = lens.rows.saturating_mul(lens.masks),
        /// The random stream of the draws, one.
        pub(in crate::learn) rng: [Rng] = lens.rows.min(1),
        /// The rows that were drawn beside this minibatch, in front.
        pub(in crate::learn) drawn: [u32] = if lens.rows > 0 { lens.draws } else { 0 },
    }
    #[derive(Default)]
    pub(in crate::learn) write ShownMut {}
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read ShownView {}
    /// Demonstrations that a learner on policy keeps.
    pub(in crate::learn) part Shown(ShownLens)
}

impl ShownMut<'_> {
    /// Keeps row `from` of these arrays as row `to`.
    pub(in crate::learn) fn keep(
        &mut self,
        [from, to]: [usize; 2],
        [obs, action]: [(Elements<'_>, usize); 2],
        mask: Option<(&[u8], usize)>,
    ) -> crate::error::Result {
        let ((obs, obs_len), (action, action_len)) = (obs, action);
        match obs {
            Elements::F32(x) => copy_row(x, self.obs_numbers, (from, to, obs_len))?,
            Elements::I32(x) => copy_row(x, self.obs_choices, (from, to, obs_len))?,
            Elements::U8(x) => copy_row(x, self.obs_bytes, (from, to, obs_len))?,
        }
        match action {
            Elements::F32(x) => copy_row(x, self.numbers, (from, to, action_len))?,
            Elements::I32(x) => copy_row(x, self.choices, (from, to, action_len))?,
            Elements::U8(x) => copy_row(x, self.bytes, (from, to, action_len))?,
        }
        match mask {
            Some((mask, width)) => copy_row(mask, self.mask, (from, to, width)),
            None => Ok(()),
        }
    }

    /// Draws `count` of the first `kept` rows, with replacement.
    pub(in crate::learn) fn draw(&mut self, count: usize, kept: u64) -> Fit<()> {
        self.drawn.fill(NOT_DRAWN);
        let Some(rng) = self.rng.first_mut().filter(|_| kept > 0) else { return Ok(()) };
        let drawn = self.drawn.get_mut(..count).ok_or(LayoutError)?;
        drawn.iter_mut().for_each(|row| *row = rng.bounded(kept.saturating_sub(1)) as u32);
        Ok(())
    }
}

impl<'a> ShownView<'a> {
    /// The observations of all rows.
    pub(in crate::learn) fn obs(&self, kind: Element) -> Elements<'a> {
        match kind {
            Element::F32 => Elements::F32(self.obs_numbers),
            Element::I32 => Elements::I32(self.obs_choices),
            Element::U8 => Elements::U8(self.obs_bytes),
        }
    }

    /// The actions of all rows.
    pub(in crate::learn) fn action(&self, kind: Element) -> Elements<'a> {
        match kind {
            Element::F32 => Elements::F32(self.numbers),
            Element::I32 => Elements::I32(self.choices),
            Element::U8 => Elements::U8(self.bytes),
        }
    }

    /// The rows that were drawn.
    pub(in crate::learn) fn rows(&self) -> &'a [u32] {
        let count = self.drawn.iter().take_while(|row| **row != NOT_DRAWN).count();
        block::rows(self.drawn, 0, count, 1).unwrap_or_default()
    }
}
