//! Rows that are steps of sequences: where their states come from, and where they lie on the tape.

use core::ops::Range;

use super::Most;
use crate::error::Result;
use crate::nn::compile::product;
use crate::nn::node::Node;

/// [`Layered::most`](super::Layered::most) of a layer that remembers: a row has gates or shares of a window, and states,
/// besides its output.
pub(super) fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
    let window = u64::from(node.window);
    let weights = product(&[read.saturating_add(made).saturating_add(window), made.saturating_mul(4)])?;
    let row = product(&[read.saturating_add(made).saturating_mul(4), window + 1])?;
    Ok(Most { weights, padded: 0, row })
}

/// Sequences, and where each row's state comes from.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Flow<'a> {
    pub sequences: usize,
    /// 1: a row starts from its own state; else from what the row before it of its sequence left.
    pub cut: &'a [u8],
    /// `[rows, width]` states.
    pub state: &'a [f32],
    /// Numbers of all layers in a state, and where this layer's lie.
    pub width: usize,
    pub offset: usize,
}

impl Flow<'_> {
    #[inline(always)]
    pub fn is_cut(&self, row: usize) -> bool {
        row < self.sequences || self.cut.get(row).is_none_or(|&cut| cut != 0)
    }

    /// The state that a row starts from.
    #[inline(always)]
    pub fn state_of(&self, row: usize) -> Option<&[f32]> {
        self.state.get(row * self.width + self.offset..)
    }

    /// The rows of one step that come last in `rows`.
    #[inline(always)]
    pub fn last_step(&self, rows: &Range<usize>) -> Range<usize> {
        let sequences = self.sequences.max(1);
        let begin = rows.end.saturating_sub(1) / sequences * sequences;
        begin.max(rows.start)..rows.end
    }

    /// The rows of one step that come first in `rows`.
    #[inline(always)]
    pub fn first_step(&self, rows: &Range<usize>) -> Range<usize> {
        let sequences = self.sequences.max(1);
        rows.start..((rows.start / sequences + 1) * sequences).min(rows.end)
    }
}

/// Rows `range` of an array of `width` numbers a row.
#[inline(always)]
pub(super) fn part<'a>(a: &'a [f32], range: &Range<usize>, width: usize) -> Option<&'a [f32]> {
    a.get(range.start * width..range.end * width)
}

#[inline(always)]
pub(super) fn part_mut<'a>(a: &'a mut [f32], range: &Range<usize>, width: usize) -> Option<&'a mut [f32]> {
    a.get_mut(range.start * width..range.end * width)
}

/// Arrays of working memory, one after the other.
#[inline(always)]
pub(super) fn take<'w>(work: &mut &'w mut [f32], len: usize) -> Option<&'w mut [f32]> {
    work.split_off_mut(..len)
}

/// Rows of the tape that a layer goes back through.
pub(in crate::nn) struct Taped<'a> {
    pub params: &'a [f32],
    /// The copy of parameters that [`super::Prim::turn`] makes.
    pub turned: &'a [f32],
    /// What these rows read, and the gradients of what they made.
    pub x: &'a [f32],
    pub dy: &'a [f32],
    /// How many rows the whole tape has, and which these are.
    pub all: usize,
    pub range: Range<usize>,
    pub tape: &'a [f32],
    pub flow: Flow<'a>,
}
