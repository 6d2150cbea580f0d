//! State that the rows of a recurrent network carry from step to step.

#[cfg(feature = "recurrent")]
use super::node::{Node, state_len};
#[cfg(feature = "recurrent")]
use super::prim::Flow;

/// Order and initial states of the rows of a recurrent network: `steps` steps of several sequences, all rows of one step before
/// those of the next. Networks without recurrent layers do not read it.
#[derive(Clone, Copy, Debug)]
pub struct Carry<'a> {
    /// Steps of each sequence; divides the number of rows.
    pub steps: usize,
    /// `[rows]` 1: the row starts from its own state, as rows of the first step always do; 0: it continues from the state after
    /// the previous row of its sequence.
    pub cut: &'a [u8],
    /// `[rows, state_len]` states; only those of rows that start from their own state are read.
    pub state: &'a [f32],
}

impl Carry<'_> {
    /// For networks without recurrent layers.
    pub const NONE: Carry<'static> = Carry { steps: 1, cut: &[], state: &[] };

    /// Number of sequences in this many rows.
    #[inline(always)]
    pub(super) fn sequences(&self, rows: usize) -> usize {
        rows.checked_div(self.steps).unwrap_or(0)
    }
    /// Sequences and states of a recurrent layer, for this many rows.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn flow(&self, rows: usize, net: &[Node], node: &Node) -> Flow<'_> {
        let width = state_len(net);
        Flow { sequences: self.sequences(rows), cut: self.cut, state: self.state, width, offset: node.state() }
    }
}
