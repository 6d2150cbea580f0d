//! A network: a list of layers, compiled to nodes that say where everything lies.
//!
//! Parameters, gradients and optimiser moments are flat f32 arrays of [`Net::param_len`], layer after layer in list order.
//! Their order within a layer depends on its kind; [`Net::read_layer`] and [`Net::write_layer`] translate.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
#[cfg(feature = "recurrent")]
use super::layer::FORGET_ONE;
use super::layer::{HEAD, INPUT, Layer, LayerKind, MAX_LAYERS};
#[cfg(feature = "pictures")]
use super::layer::{MEAN, NO_BIAS, NO_SCALE, RMS, WHOLE};
#[cfg(feature = "recurrent")]
use super::prim::{Cell, Recurrent};
#[cfg(feature = "pictures")]
use super::prim::{Conv, Frame, Norm, Pool};
use super::prim::{Dense, Op, Prim};
use super::run::{BACKWARD_ROWS, Backward, Forward, ROWS};
use crate::cpu;
use crate::error::{Error, Kind, Result, check_len};
use crate::rng::Rng;

/// Every head, in a mask of heads.
pub const ALL: u32 = u32::MAX;

/// [`Node::flags`]: a later layer reads the same, so that gradients of what they read are added.
const ADDS: u32 = 1 << 31;

/// [`Node::flags`]: working memory holds its value, and the tape does. That of a head goes out instead, unless its activation
/// needs it to go backward.
const KEPT: u32 = 1 << 30;

/// A compiled layer. Plain data of one layout on every machine, to be kept in a block: whoever accepts a block compiles its
/// list again and compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Where its parameters start.
    params: u64,
    /// Numbers that the layers before it keep of a row for [`Net::backward`].
    tape: u64,
    /// Where its value lies in a row of working memory, and the value's gradient when it goes backward.
    place: u64,
    /// Numbers of a row of working memory that it and the nodes before it need.
    width: u64,
    /// Numbers that the layers before it have in copies of weights: of those that only the gradient of the input asks for, or
    /// of the others.
    turned: u64,
    /// Where its state lies in that of the network.
    state: u64,
    kind: u32,
    activation: u32,
    flags: u32,
    /// A bit for each head that depends on it.
    heads: u32,
    /// The layer that it reads, counted from 1; 0: the input.
    from: u32,
    /// Height, width and channels of what it reads and of what it makes; 1, 1 and all for numbers that are no picture.
    input: [u32; 3],
    output: [u32; 3],
    /// Windows of a picture: their size, from one to the next, and what they show above and left of it.
    size: [u32; 2],
    stride: [u32; 2],
    pad: [u32; 2],
    same: u32,
    gain: f32,
    zero: u32,
}

/// Numbers of a picture, each of whose lengths [`Node::new`] has checked.
#[inline(always)]
fn len(picture: [u32; 3]) -> usize {
    let [height, width, channels] = picture;
    height as usize * width as usize * channels as usize
}

impl Node {
    #[inline(always)]
    pub(super) fn op(&self) -> Op {
        #[cfg(feature = "recurrent")]
        if let Some(layer) = self.recurrent() {
            return Op::Recurrent(layer);
        }
        #[cfg(feature = "pictures")]
        if self.kind > LayerKind::Free as u32 {
            let all = |lens: [u32; 2]| lens.map(|len| len as usize);
            let [height, width, channels] = self.output;
            let frame = Frame {
                input: self.input.map(|len| len as usize),
                size: all(self.size),
                stride: all(self.stride),
                windows: all([height, width]),
                pad: all(self.pad),
            };
            let has = |flag| self.flags & flag != 0;
            if self.kind == LayerKind::Conv as u32 {
                return Op::Conv(Conv { frame, units: channels as usize });
            } else if self.kind == LayerKind::Pool as u32 {
                return Op::Pool(Pool { frame, mean: has(MEAN) });
            } else if self.kind == LayerKind::Norm as u32 {
                return Op::Norm(Norm {
                    len: if has(WHOLE) { self.input() } else { channels as usize },
                    channels: channels as usize,
                    has_scale: !has(NO_SCALE),
                    has_bias: !has(NO_BIAS),
                    centres: !has(RMS),
                });
            }
        }
        Op::Dense(Dense { input: self.input(), units: self.units() })
    }

    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn recurrent(&self) -> Option<Recurrent> {
        if !self.is_recurrent() {
            return None;
        }
        let cell = match self.kind {
            kind if kind == LayerKind::Lstm as u32 => Cell::Lstm,
            kind if kind == LayerKind::Gru as u32 => Cell::Gru,
            kind if kind == LayerKind::MinGru as u32 => Cell::MinGru,
            _ => return None,
        };
        let forget_one = self.flags & FORGET_ONE != 0;
        Some(Recurrent { cell, input: self.input(), units: self.units(), forget_one })
    }

    /// Numbers of its state; and those of a row that it has on the tape, besides its value.
    #[inline(always)]
    fn remembers(&self) -> [usize; 2] {
        #[cfg(feature = "recurrent")]
        if let Some(layer) = self.recurrent() {
            return [layer.state_len(), layer.memo_len()];
        }
        [0, 0]
    }

    #[inline(always)]
    pub(super) fn is_recurrent(&self) -> bool {
        cfg!(feature = "recurrent") && self.kind > LayerKind::Norm as u32
    }

    /// Where its state lies in that of the network.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    pub(super) fn state(&self) -> usize {
        self.state as usize
    }

    #[inline(always)]
    pub(super) fn activation(&self) -> Activation {
        match self.activation {
            _ if self.is_recurrent() => Activation::Identity,
            0 => Activation::Tanh,
            1 => Activation::Relu,
            #[cfg(feature = "pictures")]
            3 => Activation::Elu,
            _ => Activation::Identity,
        }
    }

    #[inline(always)]
    pub(super) fn input(&self) -> usize {
        len(self.input)
    }

    #[inline(always)]
    pub(super) fn units(&self) -> usize {
        len(self.output)
    }

    #[inline(always)]
    fn is_free(&self) -> bool {
        self.kind == LayerKind::Free as u32
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
    fn kept(&self) -> usize {
        if self.is_kept() { self.units() } else { 0 }
    }

    /// Its value among `rows` rows of the tape starts here.
    #[inline(always)]
    pub(super) fn on_tape(&self, rows: usize) -> usize {
        self.tape as usize * rows
    }

    /// All that it has there.
    #[cfg(feature = "recurrent")]
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

    fn turned_len(&self) -> usize {
        if self.is_free() { 0 } else { self.op().turned_len() }
    }

    #[inline(always)]
    pub(super) fn reads_input(&self) -> bool {
        self.from == 0
    }

    /// Only the gradient of the input asks for its copy of weights.
    #[inline(always)]
    pub(super) fn turns_late(&self) -> bool {
        self.reads_input() && !self.is_recurrent()
    }

    /// The layer that it reads, and none for the input.
    #[inline(always)]
    pub(super) fn source<'n>(&self, nodes: &'n [Node]) -> Option<&'n Node> {
        nodes.get((self.from as usize).wrapping_sub(1))
    }

    /// The bit of what it reads, in a mask of gradients.
    #[inline(always)]
    pub(super) fn source_bit(&self) -> u64 {
        1 << (self.from & 63)
    }

    /// Where its parameters lie.
    #[inline(always)]
    pub(super) fn params(&self) -> Range<usize> {
        let len = if self.is_free() { self.units() } else { self.op().param_len() };
        self.params as usize..self.params as usize + len
    }
}

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
}

/// A network of compiled layers. It holds no numbers: parameters and working memory are the caller's.
///
/// ```
/// use rlcore::nn::{Activation, HEAD, Layer, Net, Node};
///
/// # fn main() -> rlcore::error::Result {
/// let layers = [
///     Layer::dense(3, Activation::Relu),
///     Layer { flags: HEAD, ..Layer::dense(1, Activation::Identity) },
/// ];
/// let mut nodes = [Node::default(); 2];
/// let net = Net::compile(&layers, [1, 1, 2], &mut nodes)?;
/// let mut params = vec![0.0; net.param_len()]; // the caller's, like all memory
/// net.write_layer(&mut params, 0, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[0.0, 0.0, -1.0])?;
/// net.write_layer(&mut params, 1, &[1.0, 1.0, -2.0], &[0.0])?;
///
/// let mut scratch = vec![0.0; net.infer_scratch_len(4)];
/// let mut xor = [0.0; 4];
/// net.infer(&params, &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 4, 1, &mut [], &mut scratch, &mut [&mut xor])?;
/// assert_eq!(xor, [0.0, 1.0, 1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Net<'a> {
    nodes: &'a [Node],
}

impl<'a> Net<'a> {
    /// Checks a list of layers that read rows of `input` numbers, a picture's height, width and channels or 1, 1 and all, and
    /// works out where everything lies. Of `nodes`, the first ones, as many as there are layers, are the network's; their values
    /// before do not matter.
    ///
    /// Errors: `Config`, naming the layer, counted from 1; `Size` for too few nodes; `Overflow`.
    pub fn compile(layers: &[Layer], input: [usize; 3], nodes: &'a mut [Node]) -> Result<Net<'a>> {
        if layers.is_empty() || layers.len() > MAX_LAYERS {
            return Err(Error::new(Kind::Config, "net: layers, 1 to 32 of them").given(layers.len()));
        }
        let too_few = Error::new(Kind::Size, "net: nodes, at least").needed(layers.len()).given(nodes.len());
        let nodes = nodes.get_mut(..layers.len()).ok_or(too_few)?;
        let mut picture = [0; 3];
        for (to, from) in picture.iter_mut().zip(input) {
            *to = u32::try_from(from).map_err(|_| TOO_LARGE)?;
            if *to == 0 {
                return Err(Error::new(Kind::Config, "net: an input of at least").needed(1).given(from));
            }
        }
        fits(&picture)?;
        let mut next = Totals::default();
        // Every length of a network is at most this sum, so none overflows.
        let mut sum = 0u64;
        let mut head = 0;
        for (i, layer) in layers.iter().enumerate() {
            let (done, rest) = nodes.split_at_mut_checked(i).ok_or(MISFIT)?;
            let node = rest.first_mut().ok_or(MISFIT)?;
            *node = Node::new(layer, i, picture, done)?;
            if node.is_head() {
                head = if head == 0 { 1 } else { head << 1 };
                node.heads = head;
            } else if node.is_free() {
                node.heads = head;
            }
            sum = sum.saturating_add(node.most()?);
            if sum > MOST {
                return Err(TOO_LARGE);
            }
            next.put(node);
        }
        link(nodes)?;
        Ok(Net { nodes })
    }

    /// A network of nodes that [`Net::compile`] has made.
    pub fn new(nodes: &'a [Node]) -> Net<'a> {
        Net { nodes }
    }

    /// A network of nodes that may come from anywhere, `N` at most: those that [`Net::compile`] makes of the layers that they say
    /// they are. Errors: `Image` if they are not.
    pub fn accept<const N: usize>(nodes: &'a [Node]) -> Result<Net<'a>> {
        let refused = Error::new(Kind::Image, "image: compiled layers of a network");
        let (mut layers, mut again) = ([Layer::default(); N], [Node::default(); N]);
        let list = layers.get_mut(..nodes.len()).ok_or(refused)?;
        list.iter_mut().zip(nodes).for_each(|(layer, node)| *layer = node.layer());
        let net = Net::compile(list, Net { nodes }.picture(), &mut again).map_err(|_| refused)?;
        if net.is(nodes) { Ok(Net { nodes }) } else { Err(refused) }
    }

    /// Whether it was compiled to these nodes, bit for bit.
    fn is(&self, nodes: &[Node]) -> bool {
        // Not the comparison of slices, for which compilers call a function that is not always there.
        let (own, other) = (bytemuck::cast_slice::<Node, u8>(self.nodes), bytemuck::cast_slice::<Node, u8>(nodes));
        own.len() == other.len() && own.iter().zip(other).fold(0, |any, (a, b)| any | (a ^ b)) == 0
    }

    /// The compiled layers, as many as the list had.
    pub fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// Numbers in one input row.
    pub fn input(&self) -> usize {
        self.nodes.iter().find(|n| n.reads_input()).map_or(0, Node::input)
    }

    /// Height, width and channels of the input; 1, 1 and all if it is no picture.
    pub fn picture(&self) -> [usize; 3] {
        self.nodes.first().map_or([0; 3], |node| node.input.map(|len| len as usize))
    }

    /// Numbers in one row of head `k`; 0 if there is none.
    pub fn head_len(&self, k: usize) -> usize {
        self.heads(ALL).nth(k).map_or(0, Node::units)
    }

    /// How many heads there are.
    pub fn num_heads(&self) -> usize {
        self.heads(ALL).count()
    }

    /// Where the first free numbers of head `k` lie among the parameters; none if it has none.
    pub fn free_params(&self, k: usize) -> Range<usize> {
        let head = self.heads(ALL).nth(k).map_or(0, |n| n.heads);
        self.nodes.iter().find(|n| n.is_free() && n.heads == head).map_or(0..0, Node::params)
    }

    #[inline(always)]
    fn heads(&self, heads: u32) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |n| n.is_head() && n.heads & heads != 0)
    }

    /// Numbers in the parameters, and in their gradients.
    pub fn param_len(&self) -> usize {
        self.nodes.last().map_or(0, |n| n.params().end)
    }

    /// Where the parameters of layer `index` lie, counted from 0. Errors: `Range`.
    pub fn params_of(&self, index: usize) -> Result<Range<usize>> {
        Ok(self.node(index)?.params())
    }

    fn node(&self, index: usize) -> Result<&'a Node> {
        let missing = Error::new(Kind::Range, "net: a layer below").needed(self.nodes.len()).given(index);
        self.nodes.get(index).ok_or(missing)
    }

    /// Numbers that [`Net::forward`] keeps for [`Net::backward`].
    pub fn tape_len(&self, rows: usize) -> usize {
        self.nodes.last().map_or(0, |n| n.tape as usize + n.kept() + n.remembers()[1]).saturating_mul(rows)
    }

    /// Numbers of the state that recurrent layers carry from one row to the next; 0: there are none.
    pub fn state_len(&self) -> usize {
        if !cfg!(feature = "recurrent") {
            return 0;
        }
        self.nodes.last().map_or(0, |n| n.state as usize + n.remembers()[0])
    }

    /// Numbers of a row of working memory.
    #[inline(always)]
    fn width(&self) -> usize {
        self.nodes.last().map_or(0, |n| n.width as usize)
    }

    /// Numbers of scratch that [`Net::infer`] needs: more for more rows, but not for ever.
    pub fn infer_scratch_len(&self, rows: usize) -> usize {
        self.width() * rows.min(ROWS) + self.work(rows.min(ROWS))
    }

    /// Numbers of scratch that [`Net::backward`] needs, whatever the rows, with the gradient of the input or without;
    /// `sequences` are those of a recurrent network's [`Carry`]. It is enough for [`Net::init`] too.
    pub fn scratch_len(&self, d_input: bool, sequences: usize) -> usize {
        let inits = self.nodes.iter().filter(|n| !n.is_free()).map(|n| n.op().init_scratch_len());
        inits.fold(self.cuts(d_input, sequences)[5], usize::max)
    }

    /// Numbers of scratch that [`Net::forward`] needs, whatever the rows.
    pub fn work_len(&self) -> usize {
        self.work(ROWS)
    }

    /// Numbers that one layer works with, in a pass of so many rows.
    fn work(&self, rows: usize) -> usize {
        // Dense layers need none.
        self.nodes.iter().filter(|n| n.kind > LayerKind::Free as u32).map(|n| n.op().work_len(rows)).fold(0, usize::max)
    }

    /// Scratch of [`Net::backward`], in parts that end here: gradients of values; gradients on their way to be added; copies
    /// of weights, those that are always needed and those of layers that read the input; gradients of states; and what one
    /// layer works with.
    pub(super) fn cuts(&self, d_input: bool, sequences: usize) -> [usize; 6] {
        let (mut added, mut turned) = (0, [0; 2]);
        for node in self.nodes {
            if node.flags & ADDS != 0 && (d_input || !node.reads_input()) {
                added = node.input().max(added);
            }
            if let Some(turned) =
                turned.get_mut(usize::from(node.turns_late())).filter(|_| d_input || !node.turns_late())
            {
                *turned = node.turned(0).end;
            }
        }
        let values = BACKWARD_ROWS * self.width();
        let added = values + BACKWARD_ROWS * added;
        let all = added + turned[0] + turned[1];
        let states = self.state_len().saturating_mul(sequences).saturating_add(all);
        [values, added, added + turned[0], all, states, states.saturating_add(self.work(BACKWARD_ROWS))]
    }

    /// Draws what every layer starts with, in list order. `scratch` has at least [`Net::scratch_len`] numbers, whose values do
    /// not matter.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small. Nothing is written then.
    pub fn init(&self, params: &mut [f32], rng: &mut Rng, scratch: &mut [f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_scratch(scratch, self.scratch_len(false, 0))?;
        for node in self.nodes {
            let own = params.get_mut(node.params()).ok_or(MISFIT)?;
            if node.is_free() {
                own.fill(node.gain);
            } else {
                node.op().init(own, node.gain, rng, scratch)?;
            }
        }
        Ok(())
    }

    /// The outputs of `x[rows, input]`. `heads` has a bit for each head that is wanted ([`ALL`]: every one); `outs` has their
    /// arrays alone, `[rows, head_len]`, in order. `tape[tape_len(rows)]` keeps what [`Net::backward`] needs for them; `scratch`
    /// has at least [`Net::work_len`] numbers, whose values do not matter.
    ///
    /// A row's result does not depend on the other rows, but on those before it of its sequence if the network is recurrent,
    /// as `carry` says. Errors: `Shape`; `Size` for a scratch that is too small; nothing is
    /// written then.
    #[allow(clippy::too_many_arguments)]
    pub fn forward(
        &self,
        params: &[f32],
        x: &[f32],
        rows: usize,
        heads: u32,
        carry: &Carry<'_>,
        tape: &mut [f32],
        scratch: &mut [f32],
        outs: &mut [&mut [f32]],
    ) -> Result {
        self.check(params, x, rows, heads, outs)?;
        self.check_carry(rows, carry)?;
        check_len("net: tape of length", tape, self.tape_len(rows))?;
        check_scratch(scratch, self.work_len())?;
        let nodes = self.nodes;
        cpu::dispatch(Forward {
            nodes,
            params,
            x,
            rows,
            heads,
            values: tape,
            carry: Some(carry),
            #[cfg(feature = "recurrent")]
            state: &mut [],
            work: scratch,
            outs,
        })
        .ok_or(MISFIT)
    }

    /// [`Net::forward`] of one step of each row, without a tape, and the same bits. `scratch` has at least
    /// [`Net::infer_scratch_len`] numbers, whose values do not matter. `state[rows, state_len]` is what each row starts from,
    /// and becomes what it leaves; empty without recurrent layers.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn infer(
        &self,
        params: &[f32],
        x: &[f32],
        rows: usize,
        heads: u32,
        state: &mut [f32],
        scratch: &mut [f32],
        outs: &mut [&mut [f32]],
    ) -> Result {
        self.check(params, x, rows, heads, outs)?;
        let width = self.state_len();
        check_len("net: states [rows, state_len] of length", state, rows.saturating_mul(width))?;
        check_scratch(scratch, self.infer_scratch_len(rows))?;
        let nodes = self.nodes;
        let (values, work) = scratch.split_at_mut_checked(self.width() * rows.min(ROWS)).ok_or(MISFIT)?;
        cpu::dispatch(Forward {
            nodes,
            params,
            x,
            rows,
            heads,
            values,
            carry: None,
            #[cfg(feature = "recurrent")]
            state,
            work,
            outs,
        })
        .ok_or(MISFIT)
    }

    /// Adds the gradients of the parameters to `grads[param_len]`, from those of the outputs and the tape that
    /// [`Net::forward`] left for the same `params`, `x`, `carry` and `heads`, or for more heads. `d_outs` has the arrays of the wanted
    /// heads alone. The gradient of the input goes to `d_input[rows, input]`, if it is asked for.
    ///
    /// Sums run over the rows upwards, 64 at a time from the last to the first if the network is recurrent; and over the
    /// layers that read one value from the last to the first. Gradients go back through the steps to where a row starts
    /// from its own state. `scratch` has at least [`Net::scratch_len`] numbers, whose values do not matter. Errors: `Shape`; `Size` for a scratch that is too
    /// small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn backward(
        &self,
        params: &[f32],
        x: &[f32],
        rows: usize,
        heads: u32,
        carry: &Carry<'_>,
        tape: &[f32],
        d_outs: &[&[f32]],
        d_input: Option<&mut [f32]>,
        grads: &mut [f32],
        scratch: &mut [f32],
    ) -> Result {
        self.check(params, x, rows, heads, d_outs)?;
        check_len("net: tape of length", tape, self.tape_len(rows))?;
        check_len("net: gradients of length", grads, self.param_len())?;
        if let Some(d_input) = &d_input {
            check_len("net: gradient of the input of length", d_input, x.len())?;
        }
        self.check_carry(rows, carry)?;
        check_scratch(scratch, self.scratch_len(d_input.is_some(), carry.sequences(rows)))?;
        cpu::dispatch(Backward { net: *self, params, x, rows, heads, carry, tape, d_outs, d_input, grads, scratch })
            .ok_or(MISFIT)
    }

    fn check_carry(&self, rows: usize, carry: &Carry<'_>) -> Result {
        let width = self.state_len();
        if width == 0 {
            return Ok(());
        }
        if carry.steps == 0 || !rows.is_multiple_of(carry.steps) {
            let what = "net: steps of a carry that divide the rows,";
            return Err(Error::new(Kind::Shape, what).needed(rows).given(carry.steps));
        }
        check_len("net: cuts of a carry, one for each row,", carry.cut, rows)?;
        check_len("net: states of a carry [rows, state_len] of length", carry.state, rows.saturating_mul(width))
    }

    fn check<T: AsRef<[f32]>>(&self, params: &[f32], x: &[f32], rows: usize, heads: u32, outs: &[T]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_len("net: input of length", x, rows.saturating_mul(self.input()))?;
        let mut given = outs.iter();
        for node in self.heads(heads) {
            let out =
                given.next().ok_or(Error::new(Kind::Shape, "net: an array for each wanted head, of which it has"))?;
            check_len("net: output of length", out.as_ref(), rows.saturating_mul(node.units()))?;
        }
        check_len("net: arrays besides those of the wanted heads,", given.as_slice(), 0)
    }

    /// Reads layer `index`, counted from 0: the weights of a dense layer `[units, input]`, those of a convolution `[units,
    /// channels, height, width]`, the scale of a normalisation; and its bias. Either is empty if the layer has none. Those of
    /// recurrent layers are `[gates, input]`, then, but of a minGRU, `[gates, units]`; gates are i, f, g, o of an LSTM, r, z, n
    /// of a GRU, z and the candidate of a minGRU, with `units` numbers each; a GRU's biases are followed by n's inside r's
    /// product.
    ///
    /// Errors: `Range` for a layer that is not there or has no parameters of its own; `Shape`.
    pub fn read_layer(&self, params: &[f32], index: usize, weights: &mut [f32], bias: &mut [f32]) -> Result {
        let node = self.check_layer(params, index, weights, bias)?;
        node.op().read(params.get(node.params()).ok_or(MISFIT)?, weights, bias).ok_or(MISFIT)
    }

    /// Writes layer `index`, counted from 0, from what [`Net::read_layer`] reads.
    ///
    /// Errors: `Range` for a layer that is not there or has no parameters of its own; `Shape`.
    pub fn write_layer(&self, params: &mut [f32], index: usize, weights: &[f32], bias: &[f32]) -> Result {
        let node = self.check_layer(params, index, weights, bias)?;
        node.op().write(params.get_mut(node.params()).ok_or(MISFIT)?, weights, bias).ok_or(MISFIT)
    }

    fn check_layer(&self, params: &[f32], index: usize, weights: &[f32], bias: &[f32]) -> Result<&'a Node> {
        check_len("net: parameters of length", params, self.param_len())?;
        let node = self.node(index)?;
        if node.is_free() || node.op().param_len() == 0 {
            return Err(Error::new(Kind::Range, "net: a layer with weights").given(index));
        }
        let (own_weights, own_bias) = node.op().shape();
        check_len("net: layer weights of length", weights, own_weights)?;
        check_len("net: layer bias of length", bias, own_bias)?;
        Ok(node)
    }

    /// Writes the list of only those of `layers`, which this network was compiled from, that head `k` depends on or that
    /// belong to it, numbered anew, and returns their number.
    ///
    /// Errors: `Range` for a head that is not there; `Shape` if there are other `layers`; `Size` for a `to` that is too short.
    pub fn prune(&self, layers: &[Layer], k: usize, to: &mut [Layer]) -> Result<usize> {
        check_len("net: layers, as it was compiled from,", layers, self.nodes.len())?;
        let head = self.head_bit(k)?;
        let kept = |from: usize| self.nodes.iter().take(from).filter(|n| n.heads & head != 0).count();
        let count = kept(MAX_LAYERS);
        let too_short = Error::new(Kind::Size, "net: layers of the head, at least").needed(count).given(to.len());
        let to = to.get_mut(..count).ok_or(too_short)?;
        let of_head = layers.iter().zip(self.nodes).filter(|(_, n)| n.heads & head != 0);
        for (to, (layer, _)) in to.iter_mut().zip(of_head) {
            *to = *layer;
            for from in &mut to.source {
                *from = if *from & INPUT != 0 { *from } else { kept(*from as usize) as u32 };
            }
        }
        Ok(count)
    }

    /// Copies the parameters of the layers that [`Net::prune`] keeps to `to`, which has the `param_len` of those layers.
    ///
    /// Errors: `Range` for a head that is not there; `Shape`; nothing is written then.
    pub fn prune_params(&self, params: &[f32], k: usize, to: &mut [f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        let head = self.head_bit(k)?;
        let kept = || self.nodes.iter().filter(|n| n.heads & head != 0).map(Node::params);
        check_len("net: parameters of the head, of length", to, kept().map(|range| range.len()).sum())?;
        let from = kept().filter_map(|range| params.get(range)).flatten();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// The layers that it was compiled from, with nothing left to guess.
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        self.nodes.iter().map(Node::layer)
    }

    fn head_bit(&self, k: usize) -> Result<u32> {
        let missing = Error::new(Kind::Range, "net: a head below").needed(self.heads(ALL).count()).given(k);
        self.heads(ALL).nth(k).map(|n| n.heads).ok_or(missing)
    }
}

/// What a kernel reports if a length does not fit after all; the checks before it exclude that.
const MISFIT: Error = Error::new(Kind::Shape, "net: arrays as the layers say");

const TOO_LARGE: Error = Error::new(Kind::Overflow, "net: layers whose products fit the address space");

/// The most numbers that an array has.
const MOST: u64 = (isize::MAX as usize / size_of::<f32>()) as u64;

/// The product of these lengths, each at least 1.
fn fits(lens: &[u32]) -> Result<u64> {
    let product = lens.iter().try_fold(1u64, |all, len| all.checked_mul(u64::from(*len)));
    product.filter(|all| *all <= MOST).ok_or(TOO_LARGE)
}

fn check_scratch(scratch: &[f32], len: usize) -> Result {
    if scratch.len() >= len {
        Ok(())
    } else {
        Err(Error::new(Kind::Size, "net: scratch of at least").needed(len).given(scratch.len()))
    }
}

impl Node {
    /// Layer `i` after the layers before it, but for where it lies and what depends on it.
    fn new(layer: &Layer, i: usize, input: [u32; 3], done: &[Node]) -> Result<Node> {
        let number = i + 1;
        layer.check(number)?;
        let node = Node {
            kind: layer.kind,
            activation: layer.activation,
            flags: layer.flags,
            output: [1, 1, layer.units],
            gain: layer.gain,
            ..Node::default()
        };
        if node.is_free() {
            if done.iter().any(Node::is_head) {
                return Ok(Node { from: u32::MAX, ..node });
            }
            return Err(Error::new(Kind::Config, "net: a head before free numbers, which are layer").needed(number));
        }
        let from = match layer.source[0] {
            0 => i as u32,
            INPUT => 0,
            k => k,
        };
        let refused = |what| Error::new(Kind::Config, what).needed(number).given(layer.source[0] as usize);
        let input = match (from as usize).checked_sub(1) {
            None => input,
            Some(k) => {
                let source =
                    done.get(k).ok_or(refused("net: source[0] with the input or a layer before it in layer"))?;
                if source.is_head() || source.is_free() {
                    return Err(refused("net: source[0] without a head or free numbers in layer"));
                }
                source.output
            }
        };
        let node = Node { from, input, ..node }.look(layer, number)?;
        let gain = match (layer.gain, node.activation()) {
            (0.0, _) if node.is_recurrent() => 1.0,
            (0.0, Activation::Identity) => 1.0,
            (0.0, _) => core::f32::consts::SQRT_2,
            (gain, _) => gain,
        };
        let goes_out = node.is_head() && node.activation() == Activation::Identity;
        Ok(Node { gain, flags: node.flags | if goes_out { 0 } else { KEPT }, ..node })
    }

    /// The layer that it was made of, with nothing left to guess.
    fn layer(&self) -> Layer {
        let is = |kind: LayerKind| self.kind == kind as u32;
        let (from, units) = match self.from {
            _ if self.is_free() => (0, self.output[2]),
            0 => (INPUT, self.output[2]),
            from => (from, self.output[2]),
        };
        Layer {
            kind: self.kind,
            source: [from, 0],
            units: if is(LayerKind::Pool) || is(LayerKind::Norm) { 0 } else { units },
            activation: self.activation,
            flags: self.flags & !(ADDS | KEPT),
            size: self.size,
            stride: self.stride,
            same: self.same,
            gain: self.gain,
            ..Layer::default()
        }
    }

    /// The shape of what it makes of pictures, and of the windows it looks at them through.
    fn look(self, layer: &Layer, number: usize) -> Result<Node> {
        let is = |kind: LayerKind| self.kind == kind as u32;
        if !cfg!(feature = "pictures") || is(LayerKind::Dense) || self.is_recurrent() {
            return Ok(self);
        } else if is(LayerKind::Norm) {
            return Ok(Node { output: self.input, ..self });
        }
        let mut node = Node { size: layer.size, ..self };
        node.same = layer.same;
        let [height, width, channels] = self.input;
        node.output[2] = if is(LayerKind::Pool) { channels } else { layer.units };
        let sides = node.output.iter_mut().zip([height, width]).zip(layer.size).zip(layer.stride);
        for ((((output, len), size), stride), (to, pad)) in sides.zip(node.stride.iter_mut().zip(&mut node.pad)) {
            let short = stride == 0;
            *to = if short && is(LayerKind::Pool) { size } else { stride }.max(1);
            if layer.same != 0 {
                *output = len.saturating_sub(1).checked_div(*to).unwrap_or(0) + 1;
                let shown = u64::from(*output - 1) * u64::from(*to) + u64::from(size);
                *pad = u32::try_from(shown.saturating_sub(u64::from(len)) / 2).map_err(|_| TOO_LARGE)?;
            } else if let Some(rest) = len.checked_sub(size) {
                *output = rest.checked_div(*to).unwrap_or(0) + 1;
            } else {
                let what = "net: windows that lie in the picture, or same of 1, in layer";
                return Err(Error::new(Kind::Config, what).needed(number).given(size as usize));
            }
        }
        Ok(node)
    }

    /// More numbers than anything that is kept of it or worked out with it has. Errors: `Overflow`.
    fn most(&self) -> Result<u64> {
        let rows = 4 * BACKWARD_ROWS as u64;
        let ([height, width, channels], [down, right, units]) = (self.input, self.output);
        let ([kh, kw], read, made) = (self.size, fits(&self.input)?, fits(&self.output)?);
        // A recurrent row has gates and states besides its output.
        let rows = if self.is_recurrent() { 4 * rows } else { rows };
        let weights = match self.kind {
            _ if self.is_free() => 0,
            _ if self.is_recurrent() => {
                read.saturating_add(made).checked_mul(made.saturating_mul(4)).ok_or(TOO_LARGE)?
            }
            _ if self.kind == LayerKind::Norm as u32 => made,
            _ if !cfg!(feature = "pictures") || kh == 0 => {
                fits(&[height, width, channels])?.checked_mul(u64::from(units)).ok_or(TOO_LARGE)?
            }
            _ => fits(&[kh, kw, channels, units])?.saturating_add(fits(&[kh, kw, channels, right])?),
        };
        if !cfg!(feature = "pictures") {
            return Ok(weights.saturating_mul(2).saturating_add(read.max(made).saturating_mul(rows)));
        }
        // Where windows reach to: at most this much of a picture and of a window.
        let sides = [(height, down, kh), (width, right, kw)].map(|(len, _, size)| u64::from(len) + u64::from(size));
        let padded = sides[0].checked_mul(sides[1]).and_then(|all| all.checked_mul(u64::from(channels)));
        let all = padded.ok_or(TOO_LARGE)?.saturating_add(weights.saturating_mul(2));
        Ok(all.saturating_add(read.max(made).saturating_mul(rows)))
    }
}

/// Where the next node lies.
#[derive(Default)]
struct Totals {
    params: usize,
    tape: usize,
    turned: [usize; 2],
    state: usize,
}

impl Totals {
    fn put(&mut self, node: &mut Node) {
        (node.params, node.tape, node.state) = (self.params as u64, self.tape as u64, self.state as u64);
        let [state, memo] = node.remembers();
        (self.params, self.tape) = (node.params().end, self.tape + node.kept() + memo);
        self.state += state;
        if let Some(turned) = self.turned.get_mut(usize::from(node.turns_late())) {
            node.turned = *turned as u64;
            *turned = node.turned(0).end;
        }
    }
}

/// Says which heads depend on each node, and finds places for values: no two that are needed at the same time share one.
fn link(nodes: &mut [Node]) -> Result {
    // The last layer that reads a value needs it last going forward, and begins its gradient going backward.
    let mut last = [0; MAX_LAYERS + 1];
    for i in (0..nodes.len()).rev() {
        let Some(&node) = nodes.get(i) else { continue };
        if node.heads == 0 {
            return Err(Error::new(Kind::Config, "net: a head that depends on layer").needed(i + 1));
        }
        let Some(last) = last.get_mut(node.from as usize) else { continue };
        if *last == 0 {
            *last = i;
        } else if let Some(node) = nodes.get_mut(i) {
            node.flags |= ADDS;
        }
        if let Some(source) = nodes.get_mut((node.from as usize).wrapping_sub(1)) {
            source.heads |= node.heads;
        }
    }
    for i in 0..nodes.len() {
        let Some((done, [node, ..])) = nodes.split_at_mut_checked(i) else { continue };
        let width = node.kept() as u64;
        let mut place = 0;
        let mut taken = || {
            let held = done.iter().zip(last.iter().skip(1)).filter(|(_, last)| **last >= i).map(|(n, _)| n);
            let (from, to) = (place, place + width);
            let hit = held.map(|n| (n.place, n.place + n.kept() as u64)).find(|n| n.0 < to && from < n.1);
            hit.map(|n| place = n.1).is_some()
        };
        while taken() {}
        node.place = place;
        node.width = done.last().map_or(0, |n| n.width).max(place + width);
    }
    Ok(())
}
