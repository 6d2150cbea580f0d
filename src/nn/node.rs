//! Compiled layers: what each is, and where everything of it lies.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use super::layer::{BYTES, HEAD, INPUT, NOISY};
#[cfg(feature = "recurrent")]
use super::prim::StepWise;
use super::prim::{Dense, LayerKind, Op, Prim, Sort};

/// [`Node::flags`]: a later layer reads the same, or it reads one value twice, so that gradients of what they read are added.
pub(super) const ADDS: u32 = 1 << 31;

/// [`Node::flags`]: working memory holds its value, and the tape does. That of a head goes out instead, unless its activation
/// needs it to go backward.
pub(super) const KEPT: u32 = 1 << 30;

/// [`Node::flags`] of the first layer: some layer looks for symbols in the input.
pub(super) const SYMBOLS: u32 = 1 << 29;

/// [`Node::from`]: it reads nothing.
pub(super) const NOTHING: u32 = u32::MAX;

/// Rows that pass forward through the whole network before the next ones.
pub(super) const ROWS: usize = 32;

/// Rows that pass backward: more, because the sums of every weight's gradient go to memory in between.
pub(super) const BACKWARD_ROWS: usize = 64;

/// A compiled layer. Plain data of one layout on every machine, to be kept in a block: whoever accepts a block compiles its
/// list again and compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Where its parameters start.
    pub(super) params: u64,
    /// Numbers that the layers before it keep of a row for [`Net::backward`].
    pub(super) tape: u64,
    /// Where its value lies in a row of working memory, and the value's gradient when it goes backward.
    pub(super) place: u64,
    /// Numbers of a row of working memory that it and the nodes before it need.
    pub(super) width: u64,
    /// Numbers that the layers before it have in copies of weights: of those that only the gradient of the input asks for, or
    /// of the others.
    pub(super) turned: u64,
    /// Where its state lies in that of the network.
    pub(super) state: u64,
    /// Where what goes back through its steps lies, for one sequence.
    pub(super) back: u64,
    pub(super) kind: u32,
    pub(super) activation: u32,
    pub(super) flags: u32,
    /// A bit for each head that depends on it.
    pub(super) heads: u32,
    /// The layers that it reads, counted from 1; 0: the input; [`INPUT`] and more: that part of it; [`NOTHING`].
    pub(super) from: [u32; 2],
    /// Height, width and channels of what it reads and of what it makes; 1, 1 and all for numbers that are no picture.
    pub(super) input: [[u32; 3]; 2],
    pub(super) output: [u32; 3],
    /// Windows of a picture: their size, from one to the next, and what they show above and left of it.
    pub(super) size: [u32; 2],
    pub(super) stride: [u32; 2],
    pub(super) pad: [u32; 2],
    pub(super) same: u32,
    /// Of attention.
    pub(super) num_heads: u32,
    pub(super) window: u32,
    /// Of a table.
    pub(super) symbols: u32,
    pub(super) initializer: u32,
    pub(super) gain: f32,
    /// Numbers of a row of the network's input, and of those before the parts that it reads.
    pub(super) row: u32,
    pub(super) begin: [u32; 2],
}

/// Numbers of a row that copies of the parts which one layer reads take.
#[inline(always)]
pub(super) fn parts_len(nodes: &[Node]) -> usize {
    if !cfg!(feature = "residual") {
        return 0;
    }
    nodes.iter().map(Node::parts_len).fold(0, usize::max)
}

/// That is a part of the input.
#[inline(always)]
const fn is_part(from: u32) -> bool {
    cfg!(feature = "residual") && from != NOTHING && from & INPUT != 0
}

/// Numbers of a picture, each of whose lengths [`Node::new`] has checked.
#[inline(always)]
fn len(picture: [u32; 3]) -> usize {
    let [height, width, channels] = picture;
    height as usize * width as usize * channels as usize
}

/// Numbers of the state that the recurrent layers of a network carry from one row to the next.
pub(super) fn state_len(nodes: &[Node]) -> usize {
    if cfg!(feature = "recurrent") { nodes.last().map_or(0, |n| n.state as usize + n.remembers()[0]) } else { 0 }
}

impl Node {
    /// A number that is no kind, as it may be in bytes of a stranger until they are compared, does nothing.
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

    /// It has deviations beside its weights and biases.
    #[inline(always)]
    pub(super) fn is_noisy(&self) -> bool {
        cfg!(feature = "noisy") && self.has(NOISY)
    }

    /// The layer, if noise is added to it.
    pub(super) fn noisy(&self) -> Option<Dense> {
        self.is_noisy().then(|| Dense::new(self))
    }

    /// Numbers of its state; of a row that it has on the tape, besides its value; and of a sequence that go back through
    /// steps.
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

    /// The tape has what its activation was applied to, behind its value.
    #[inline(always)]
    pub(super) fn keeps_sum(&self) -> bool {
        #[cfg(feature = "residual")]
        return self.activation().needs_sum();
        #[cfg(not(feature = "residual"))]
        false
    }

    /// What that is, among `rows` rows of the tape, starts here.
    #[inline(always)]
    pub(super) fn sum_on_tape(&self, rows: usize) -> usize {
        self.on_tape(rows) + self.kept() * rows
    }

    /// Where its state lies in that of the network.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn state(&self) -> usize {
        self.state as usize
    }

    /// What goes back through its steps, for so many sequences.
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

    /// Numbers in a row of what it reads; 0: it reads no second value.
    #[inline(always)]
    pub(super) fn input(&self, k: usize) -> usize {
        self.input.get(k).map_or(0, |input| len(*input))
    }

    /// Height, width and channels of the whole input, if it reads that.
    pub(super) fn picture(&self) -> Option<[usize; 3]> {
        let k = self.from.iter().position(|from| *from == 0)?;
        Some(self.input.get(k)?.map(|len| len as usize))
    }

    /// Where value `k` that it reads lies in a row of the input, if that is a part of it.
    #[inline(always)]
    pub(super) fn part(&self, k: usize) -> Option<Range<usize>> {
        let from = self.from.get(k).filter(|from| is_part(**from));
        let begin = *self.begin.get(k)? as usize;
        from.map(|_| begin..begin + self.input(k))
    }

    /// Numbers of a row of the parts that it reads.
    #[inline(always)]
    pub(super) fn parts_len(&self) -> usize {
        let part = |k| self.part(k).map_or(0, |part| part.len());
        part(0) + part(1)
    }

    /// It looks for symbols in the input.
    #[inline(always)]
    pub(super) fn reads_symbols(&self) -> bool {
        cfg!(feature = "residual") && self.kind().reads().symbols && self.is_input(0)
    }

    /// Whether all numbers that it reads of this row of the input are symbols of its table.
    pub(super) fn knows(&self, row: &[f32]) -> bool {
        let read = row.get(self.part(0).unwrap_or(0..self.row as usize)).unwrap_or_default();
        let is_symbol = |x: f32| match self.has(BYTES) {
            true => (x * 255.0 + 0.5) as u32,
            false if x == x as u32 as f32 => x as u32,
            false => u32::MAX,
        };
        read.iter().all(|x| *x >= 0.0 && is_symbol(*x) < self.symbols)
    }

    /// What it reads first or second is the input or a part of it.
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

    /// It has a value, and one of these heads depends on it.
    #[inline(always)]
    pub(super) fn runs(&self, heads: u32) -> bool {
        self.heads & heads != 0 && !self.is_free()
    }

    #[inline(always)]
    pub(super) fn is_kept(&self) -> bool {
        self.flags & KEPT != 0
    }

    /// Numbers of a row that it has on the tape, and in working memory.
    #[inline(always)]
    pub(super) fn kept(&self) -> usize {
        if self.is_kept() { self.units() } else { 0 }
    }

    /// Its value among `rows` rows of the tape starts here.
    #[inline(always)]
    pub(super) fn on_tape(&self, rows: usize) -> usize {
        self.tape as usize * rows
    }

    /// It has more there than its value.
    #[inline(always)]
    pub(super) fn is_more_on_tape(&self) -> bool {
        self.is_sequential() || self.keeps_sum()
    }

    /// All that it has there.
    #[inline(always)]
    pub(super) fn all_on_tape(&self, rows: usize) -> Range<usize> {
        self.on_tape(rows)..(self.tape as usize + self.kept() + self.remembers()[1]) * rows
    }

    /// Its value or gradient among `rows` rows of working memory starts here.
    #[inline(always)]
    pub(super) fn in_place(&self, rows: usize) -> usize {
        self.place as usize * rows
    }

    /// Its copy of weights, where those of its sort begin at `start`.
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

    /// Only the gradient of the input asks for its copy of weights.
    #[inline(always)]
    pub(super) fn turns_late(&self) -> bool {
        self.reads_input() && !self.is_sequential()
    }

    /// How many values it reads.
    #[inline(always)]
    pub(super) fn num_sources(&self) -> usize {
        if cfg!(feature = "residual") && self.from[1] != NOTHING { 2 } else { 1 }
    }

    /// A layer that it reads, and none for the input.
    #[inline(always)]
    pub(super) fn source<'n>(&self, nodes: &'n [Node], k: usize) -> Option<&'n Node> {
        nodes.get((*self.from.get(k)? as usize).wrapping_sub(1))
    }

    /// The bit of what it reads, in a mask of gradients.
    #[inline(always)]
    pub(super) fn source_bit(&self, k: usize) -> u64 {
        if self.is_input(k) { 1 } else { 1 << (self.from.get(k).unwrap_or(&0) & 63) }
    }

    /// Where its parameters lie.
    #[inline(always)]
    pub(super) fn params(&self) -> Range<usize> {
        self.params as usize..self.params as usize + self.op().param_len()
    }

    /// Where those of them lie that are no deviations.
    pub(super) fn means(&self) -> Range<usize> {
        let Range { start, end } = self.params();
        start..if self.is_noisy() { start + (end - start) / 2 } else { end }
    }
}
