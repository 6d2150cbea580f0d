//! Rows that are steps of sequences: origin of their states, and their place on the tape.

use core::ops::Range;

use super::Most;
use crate::error::Result;
use crate::nn::compile::product;
use crate::nn::node::Node;

/// [`Layered::most`](super::Layered::most) of a sequential layer: a row has gates or attention weights of a window, and states,
/// besides its output.
pub(super) fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
    let window = u64::from(node.window);
    let weights = product(&[read.saturating_add(made).saturating_add(window), made.saturating_mul(4)])?;
    let row = product(&[read.saturating_add(made).saturating_mul(4), window + 1])?;
    Ok(Most { weights, padded: 0, row })
}

/// Sequences, and the origin of each row's state.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Flow<'a> {
    pub sequences: usize,
    /// 1: the row starts from its own state; else it continues from the previous row of its sequence.
    pub cut: &'a [u8],
    /// `[rows, width]` states.
    pub state: &'a [f32],
    /// Length of a state over all layers, and offset of this layer's part.
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

    /// Rows of the last step in `rows`.
    #[inline(always)]
    pub fn last_step(&self, rows: &Range<usize>) -> Range<usize> {
        let sequences = self.sequences.max(1);
        let begin = rows.end.saturating_sub(1) / sequences * sequences;
        begin.max(rows.start)..rows.end
    }

    /// Rows of the first step in `rows`.
    #[inline(always)]
    pub fn first_step(&self, rows: &Range<usize>) -> Range<usize> {
        let sequences = self.sequences.max(1);
        rows.start..((rows.start / sequences + 1) * sequences).min(rows.end)
    }
}

/// Rows `range` of an array with `width` elements per row.
#[inline(always)]
pub(super) fn part<'a>(a: &'a [f32], range: &Range<usize>, width: usize) -> Option<&'a [f32]> {
    a.get(range.start * width..range.end * width)
}

#[inline(always)]
pub(super) fn part_mut<'a>(a: &'a mut [f32], range: &Range<usize>, width: usize) -> Option<&'a mut [f32]> {
    a.get_mut(range.start * width..range.end * width)
}

/// Takes the next `len` elements of working memory.
#[inline(always)]
pub(super) fn take<'w>(work: &mut &'w mut [f32], len: usize) -> Option<&'w mut [f32]> {
    work.split_off_mut(..len)
}

/// Tape rows for the backward pass of a layer.
pub(in crate::nn) struct Taped<'a> {
    pub params: &'a [f32],
    /// Copy of parameters from [`super::Prim::turn`].
    pub turned: &'a [f32],
    /// Inputs of these rows, and gradients of their outputs.
    pub x: &'a [f32],
    pub dy: &'a [f32],
    /// Number of rows of the whole tape, and range of these rows.
    pub all: usize,
    pub range: Range<usize>,
    pub tape: &'a [f32],
    pub flow: Flow<'a>,
}
