//! What rows of a recurrent network carry from one to the next.

#[cfg(feature = "recurrent")]
use super::node::{Node, state_len};
#[cfg(feature = "recurrent")]
use super::prim::Flow;

/// Where the rows of a recurrent network come from: `steps` steps of some sequences, all of one step before those of the next.
/// Networks without recurrent layers do not read it.
#[derive(Clone, Copy, Debug)]
pub struct Carry<'a> {
    /// Steps of each sequence; rows are a multiple of it.
    pub steps: usize,
    /// `[rows]` 1: a row starts from its own state, as those of the first step do; 0: from what the row before it of its
    /// sequence left.
    pub cut: &'a [u8],
    /// `[rows, state_len]` states, of which those are read that a row starts from.
    pub state: &'a [f32],
}

impl Carry<'_> {
    /// For networks that do not read it.
    pub const NONE: Carry<'static> = Carry { steps: 1, cut: &[], state: &[] };

    /// How many sequences so many rows are.
    #[inline(always)]
    pub(super) fn sequences(&self, rows: usize) -> usize {
        rows.checked_div(self.steps).unwrap_or(0)
    }
    /// What a recurrent layer of so many rows is handed.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn flow(&self, rows: usize, net: &[Node], node: &Node) -> Flow<'_> {
        let width = state_len(net);
        Flow { sequences: self.sequences(rows), cut: self.cut, state: self.state, width, offset: node.state() }
    }
}
