//! Compiled layers: shape of each, and offsets of its data.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use super::layer::{BYTES, HEAD, INPUT, NOISY};
#[cfg(feature = "recurrent")]
use super::prim::StepWise;
use super::prim::{Dense, LayerKind, Op, Prim, Sort};

/// [`Node::flags`]: a later layer reads the same value, or both sources are one value, so that the gradients of that value are
/// added.
pub(super) const ADDS: u32 = 1 << 31;

/// [`Node::flags`]: the value is stored in working memory and on the tape. A head's value is written to the output only, unless
/// its activation needs it in the backward pass.
pub(super) const KEPT: u32 = 1 << 30;

/// [`Node::flags`] of the first layer: some layer reads symbols from the input.
pub(super) const SYMBOLS: u32 = 1 << 29;

/// [`Node::from`]: no source.
pub(super) const NOTHING: u32 = u32::MAX;

/// Rows per strip of the forward pass; a strip passes through the whole network before the next one.
pub(super) const ROWS: usize = 32;

/// Rows per strip of the backward pass: more, because the accumulators of every weight's gradient go to memory between strips.
pub(super) const BACKWARD_ROWS: usize = 64;

/// A compiled layer. Plain data with one layout on every machine, stored in a block: a reader of a block compiles the layers
/// again and compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Offset of its parameters.
    pub(super) params: u64,
    /// Values per row that the layers before it have on the tape for [`Net::backward`].
    pub(super) tape: u64,
    /// Offset of its value in a row of working memory, and of the value's gradient in the backward pass.
    pub(super) place: u64,
    /// Length of a row of working memory for it and the nodes before it.
    pub(super) width: u64,
    /// Offset of its weight copy: among those that only the input gradient needs, or among the others.
    pub(super) turned: u64,
    /// Offset of its state in that of the network.
    pub(super) state: u64,
    /// Offset of the gradients that it carries back from step to step, for one sequence.
    pub(super) back: u64,
    pub(super) kind: u32,
    pub(super) activation: u32,
    pub(super) flags: u32,
    /// Mask of the heads that depend on it.
    pub(super) heads: u32,
    /// Source layers, counted from 1; 0: the input; [`INPUT`] plus k: part k of the input; [`NOTHING`].
    pub(super) from: [u32; 2],
    /// Height, width and channels of its sources and of its output; 1, 1 and the length for values that are no picture.
    pub(super) input: [[u32; 3]; 2],
    pub(super) output: [u32; 3],
    /// Windows of a picture: size, stride, and padding above and to the left.
    pub(super) size: [u32; 2],
    pub(super) stride: [u32; 2],
    pub(super) pad: [u32; 2],
    pub(super) same: u32,
    /// Attention: heads, and steps that a row attends to.
    pub(super) num_heads: u32,
    pub(super) window: u32,
    /// Embedding: symbols per channel.
    pub(super) symbols: u32,
    pub(super) initializer: u32,
    pub(super) gain: f32,
    /// Length of a row of the network's input, and offsets in it of the parts that the layer reads.
    pub(super) row: u32,
    pub(super) begin: [u32; 2],
    /// [`Layer::role`](super::Layer::role), and 0.
    pub(super) role: u32,
    pub(super) reserved: u32,
}

/// Values per row in the copies of input parts, for the layer that reads the most.
#[inline(always)]
pub(super) fn parts_len(nodes: &[Node]) -> usize {
    if !cfg!(feature = "residual") {
        return 0;
    }
    nodes.iter().map(Node::parts_len).fold(0, usize::max)
}

/// Whether a source is a part of the input.
#[inline(always)]
const fn is_part(from: u32) -> bool {
    cfg!(feature = "residual") && from != NOTHING && from & INPUT != 0
}

/// Values in a picture; compilation has checked that the product fits.
#[inline(always)]
fn len(picture: [u32; 3]) -> usize {
    let [height, width, channels] = picture;
    height as usize * width as usize * channels as usize
}

/// Length of the state that the recurrent layers of a network carry from row to row.
pub(super) fn state_len(nodes: &[Node]) -> usize {
    if cfg!(feature = "recurrent") { nodes.last().map_or(0, |n| n.state as usize + n.remembers()[0]) } else { 0 }
}

impl Node {
    /// Kind of the layer. An unknown number, possible in untrusted bytes until they are compared, acts as `Free`.
    #[inline(always)]
    pub(super) fn kind(&self) -> LayerKind {
        LayerKind::from_number(self.kind).unwrap_or(LayerKind::Free)
    }

    #[inline(always)]
    pub(super) fn op(&self) -> Op {
        self.kind().op(self)
    }

    #[inline(always)]
    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it has deviations of weights and biases.
    #[inline(always)]
    pub(super) fn is_noisy(&self) -> bool {
        cfg!(feature = "noisy") && self.has(NOISY)
    }

    /// The dense layer, if it is noisy.
    pub(super) fn noisy(&self) -> Option<Dense> {
        self.is_noisy().then(|| Dense::new(self))
    }

    /// Lengths of its state; of its tape data per row, besides its value; and of the gradients per sequence that it carries
    /// back from step to step.
    #[inline(always)]
    pub(super) fn remembers(&self) -> [usize; 3] {
        #[cfg(feature = "recurrent")]
        if let Op::Sequential(layer) = self.op() {
            return [layer.state_len(), layer.memo_len(), layer.back_len()];
        }
        [0, if self.keeps_sum() { self.units() } else { 0 }, 0]
    }

    #[inline(always)]
    pub(super) fn is_sequential(&self) -> bool {
        cfg!(feature = "recurrent") && self.kind().sort() == Sort::Sequential
    }

    /// Whether the tape holds the sums before the activation, behind the value.
    #[inline(always)]
    pub(super) fn keeps_sum(&self) -> bool {
        #[cfg(feature = "residual")]
        return self.activation().needs_sum();
        #[cfg(not(feature = "residual"))]
        false
    }

    /// Offset of these sums among `rows` rows of the tape.
    #[inline(always)]
    pub(super) fn sum_on_tape(&self, rows: usize) -> usize {
        self.on_tape(rows) + self.kept() * rows
    }

    /// Offset of its state in that of the network.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn state(&self) -> usize {
        self.state as usize
    }

    /// Range of the gradients that it carries back from step to step, for this many sequences.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn back(&self, sequences: usize) -> Range<usize> {
        let [.., len] = self.remembers();
        let begin = self.back as usize * sequences;
        begin..begin + len * sequences
    }

    #[inline(always)]
    pub(super) fn activation(&self) -> Activation {
        match Activation::from_number(self.activation) {
            Some(activation) if !self.is_sequential() => activation,
            _ => Activation::Identity,
        }
    }

    /// Values per row of source `k`; 0 if there is no second source.
    #[inline(always)]
    pub(super) fn input(&self, k: usize) -> usize {
        self.input.get(k).map_or(0, |input| len(*input))
    }

    /// Height, width and channels of the network's input, if the layer reads all of it.
    pub(super) fn picture(&self) -> Option<[usize; 3]> {
        let k = self.from.iter().position(|from| *from == 0)?;
        Some(self.input.get(k)?.map(|len| len as usize))
    }

    /// Range of source `k` in a row of the network's input, if it is a part of that.
    #[inline(always)]
    pub(super) fn part(&self, k: usize) -> Option<Range<usize>> {
        let from = self.from.get(k).filter(|from| is_part(**from));
        let begin = *self.begin.get(k)? as usize;
        from.map(|_| begin..begin + self.input(k))
    }

    /// Whether source `k` begins among the first `front` elements of the network's input.
    #[inline(always)]
    pub(super) fn reads_front(&self, k: usize, front: usize) -> bool {
        front > 0 && self.is_input(k) && self.part(k).is_none_or(|part| part.start < front)
    }

    /// Values per row of the input parts that it reads.
    #[inline(always)]
    pub(super) fn parts_len(&self) -> usize {
        let part = |k| self.part(k).map_or(0, |part| part.len());
        part(0) + part(1)
    }

    /// Whether it reads symbols from the input.
    #[inline(always)]
    pub(super) fn reads_symbols(&self) -> bool {
        cfg!(feature = "residual") && self.kind().reads().symbols && self.is_input(0)
    }

    /// Whether all values that it reads from this row of the input are symbols of its table.
    pub(super) fn knows(&self, row: &[f32]) -> bool {
        let read = row.get(self.part(0).unwrap_or(0..self.row as usize)).unwrap_or_default();
        let is_symbol = |x: f32| match self.has(BYTES) {
            true => (x * 255.0 + 0.5) as u32,
            false if x == x as u32 as f32 => x as u32,
            false => u32::MAX,
        };
        read.iter().all(|x| *x >= 0.0 && is_symbol(*x) < self.symbols)
    }

    /// Whether source `k` is the network's input or a part of it.
    #[inline(always)]
    pub(super) fn is_input(&self, k: usize) -> bool {
        self.from.get(k).is_some_and(|from| *from == 0 || is_part(*from))
    }

    #[inline(always)]
    pub(super) fn units(&self) -> usize {
        len(self.output)
    }

    #[inline(always)]
    pub(super) fn is_free(&self) -> bool {
        self.kind().sort() == Sort::Free
    }

    #[inline(always)]
    pub(super) fn is_head(&self) -> bool {
        self.flags & HEAD != 0
    }

    /// Whether it has a value and one of these heads depends on it.
    #[inline(always)]
    pub(super) fn runs(&self, heads: u32) -> bool {
        self.heads & heads != 0 && !self.is_free()
    }

    #[inline(always)]
    pub(super) fn is_kept(&self) -> bool {
        self.flags & KEPT != 0
    }

    /// Values per row on the tape, and in working memory.
    #[inline(always)]
    pub(super) fn kept(&self) -> usize {
        if self.is_kept() { self.units() } else { 0 }
    }

    /// Offset of its value among `rows` rows of the tape.
    #[inline(always)]
    pub(super) fn on_tape(&self, rows: usize) -> usize {
        self.tape as usize * rows
    }

    /// Whether it has tape data besides its value.
    #[inline(always)]
    pub(super) fn is_more_on_tape(&self) -> bool {
        self.is_sequential() || self.keeps_sum()
    }

    /// Range of all its tape data.
    #[inline(always)]
    pub(super) fn all_on_tape(&self, rows: usize) -> Range<usize> {
        self.on_tape(rows)..(self.tape as usize + self.kept() + self.remembers()[1]) * rows
    }

    /// Offset of its value or gradient among `rows` rows of working memory.
    #[inline(always)]
    pub(super) fn in_place(&self, rows: usize) -> usize {
        self.place as usize * rows
    }

    /// Range of its weight copy, where the copies of its group begin at `start`.
    #[inline(always)]
    pub(super) fn turned(&self, start: usize) -> Range<usize> {
        let start = start + self.turned as usize;
        start..start + self.turned_len()
    }

    pub(super) fn turned_len(&self) -> usize {
        self.op().turned_len()
    }

    #[inline(always)]
    pub(super) fn reads_input(&self) -> bool {
        self.is_input(0) || self.is_input(1)
    }

    /// Whether only the input gradient needs its weight copy.
    #[inline(always)]
    pub(super) fn turns_late(&self) -> bool {
        self.reads_input() && !self.is_sequential()
    }

    /// Number of sources.
    #[inline(always)]
    pub(super) fn num_sources(&self) -> usize {
        if cfg!(feature = "residual") && self.from[1] != NOTHING { 2 } else { 1 }
    }

    /// Source layer `k`; none for the input.
    #[inline(always)]
    pub(super) fn source<'n>(&self, nodes: &'n [Node], k: usize) -> Option<&'n Node> {
        nodes.get((*self.from.get(k)? as usize).wrapping_sub(1))
    }

    /// Word and bit of source `k` in a mask of gradients.
    #[inline(always)]
    pub(super) fn source_bit(&self, k: usize) -> (usize, u64) {
        let from = if self.is_input(k) { 0 } else { *self.from.get(k).unwrap_or(&0) };
        ((from / u64::BITS) as usize, 1 << (from % u64::BITS))
    }

    /// Range of its parameters.
    #[inline(always)]
    pub(super) fn params(&self) -> Range<usize> {
        self.params as usize..self.params as usize + self.op().param_len()
    }

    /// Range of its parameters without deviations.
    pub(super) fn means(&self) -> Range<usize> {
        let Range { start, end } = self.params();
        start..if self.is_noisy() { start + (end - start) / 2 } else { end }
    }
}
