//! What actions may be, as learners and policies store it.

use super::shape::Shape;
use super::words;
use crate::block::{self, fields};
use crate::space::Space;

fields! {
    pub(super) spans TakenSpans(of: Shape) {
        /// Choices of each element that is one.
        pub n: [u32] = of.action_lens().0,
        /// Of an action that is a structure, what its words are; else empty.
        pub each: [u32] = of.words(),
        /// Lower bounds of numbers, if they have some.
        pub low: [f32] = of.action_lens().1,
        /// The upper ones.
        pub high: [f32] = of.action_lens().1,
    }
    /// To write.
    pub(super) write TakenMut {}
    /// What an action may be.
    #[derive(Clone, Copy)]
    pub read Taken {}
    /// A part of a block.
    pub(super) part Actions(Shape)
}

impl TakenMut<'_> {
    /// Takes it from an action space of this shape.
    pub(super) fn init(&mut self, action: &Space<'_>) {
        block::copy(self.n, action.n);
        if !self.each.is_empty() {
            words::list(action, self.each);
        }
        for (i, (low, high)) in self.low.iter_mut().zip(&mut *self.high).enumerate() {
            (*low, *high) = action.bounds(i);
        }
    }

    /// Copies it from another block of the same shape.
    pub(super) fn copy(&mut self, from: Taken<'_>) {
        block::copy(self.n, from.n);
        block::copy(self.each, from.each);
        block::copy(self.low, from.low);
        block::copy(self.high, from.high);
    }
}
