//! The choices and bounds of actions, as learners and policies store them.

use super::shape::Shape;
use super::struct_action;
use crate::block::{self, fields};
use crate::space::Space;

fields! {
    pub(super) spans TakenSpans(of: Shape) {
        /// Number of choices of each discrete element.
        pub n: [u32] = of.action_lens().0,
        /// The kinds of the words of an action that is a structure; else empty.
        pub each: [u32] = of.action_words(),
        /// Lower bounds of continuous elements, if they have bounds.
        pub low: [f32] = of.action_lens().1,
        /// Upper bounds.
        pub high: [f32] = of.action_lens().1,
    }
    /// Mutable version.
    pub(super) write TakenMut {}
    /// The choices and bounds of actions.
    #[derive(Clone, Copy)]
    pub read ActionSpec {}
    /// A field of a block.
    pub(super) part Actions(Shape)
}

impl TakenMut<'_> {
    /// Initializes the arrays from an action space of this shape.
    pub(super) fn init(&mut self, action: &Space<'_>) {
        block::copy(self.n, action.n);
        if !self.each.is_empty() {
            struct_action::list(action, self.each);
        }
        for (i, (low, high)) in self.low.iter_mut().zip(&mut *self.high).enumerate() {
            (*low, *high) = action.bounds(i);
        }
    }

    /// Copies the arrays from another block of the same shape.
    pub(super) fn copy(&mut self, from: ActionSpec<'_>) {
        block::copy(self.n, from.n);
        block::copy(self.each, from.each);
        block::copy(self.low, from.low);
        block::copy(self.high, from.high);
    }
}
