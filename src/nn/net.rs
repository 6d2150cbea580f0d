//! A network: a list of layers, compiled to nodes with all offsets.
//!
//! Parameters, gradients and optimizer moments are flat f32 arrays of [`Net::param_len`], layer after layer in list order. The
//! order within a layer depends on its kind; [`Net::read_layer`] and [`Net::write_layer`] convert it.

use core::ops::Range;

use super::carry::Carry;
use super::compile::{self, MISFIT};
use super::initializer::{Initializer, Start};
use super::input::Input;
use super::layer::{INPUT, Layer, MAX_LAYERS, NOISY};
use super::node::{ADDS, BACKWARD_ROWS, Node, ROWS, SYMBOLS, parts_len, state_len};
use super::prim::{Local, Op, Prim, Scope};
use super::room::with_room;
use super::run::{Backward, Forward};
use super::tensor::{Tensor, Tensors};
use crate::block;
use crate::cpu;
use crate::error::{Error, Kind, Result, check_len};
use crate::rng::Rng;

#[cfg(feature = "pictures")]
const NO_BYTES: &str = "net: numbers as the input of layers that do not read bytes";

/// Mask of all heads.
pub const ALL: u32 = u32::MAX;

/// A network of compiled layers. It owns no memory: parameters and working memory are the caller's.
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
    /// Checks a list of layers for input rows of shape `input`, the height, width and channels of a picture or 1, 1 and the
    /// length, and computes all offsets. The network uses the first of `nodes`, one per layer; their previous values do not
    /// matter.
    ///
    /// Errors: `Config`, naming the layer, counted from 1; `Size` for too few nodes; `Overflow`.
    pub fn compile(layers: &[Layer], input: [usize; 3], nodes: &'a mut [Node]) -> Result<Net<'a>> {
        Net::compile_parts(layers, input, &[], nodes)
    }

    /// [`Net::compile`] for layers that may also read parts of a row: `parts` are the height, width and channels of each, or 1,
    /// 1 and the length, in order. An empty list is an input without parts. Errors: as there; `Config` if the parts do not make
    /// up the whole row.
    pub fn compile_parts(
        layers: &[Layer],
        input: [usize; 3],
        parts: &[[u32; 3]],
        nodes: &'a mut [Node],
    ) -> Result<Net<'a>> {
        Ok(Net { nodes: compile::compile(layers, input, parts, nodes)? })
    }

    /// A network of nodes from [`Net::compile`].
    pub fn new(nodes: &'a [Node]) -> Net<'a> {
        Net { nodes }
    }

    /// A network of untrusted nodes, at most `N`: they must equal those that [`Net::compile`] makes of the layers they
    /// describe, with these parts of the input. Errors: `Image` if they do not.
    pub fn accept<const N: usize>(nodes: &'a [Node], parts: &[[u32; 3]]) -> Result<Net<'a>> {
        let refused = Error::new(Kind::Image, "image: compiled layers of a network");
        refused.fail_if(nodes.len() > N)?;
        with_room(nodes.len(), &mut |again, list| {
            list.iter_mut().zip(nodes).for_each(|(layer, node)| *layer = node.layer());
            let net = Net::compile_parts(list, Net { nodes }.picture(), parts, again).map_err(|_| refused)?;
            refused.fail_if(!net.is(nodes))
        })?;
        Ok(Net { nodes })
    }

    /// Whether its nodes equal these, bit for bit.
    pub(crate) fn is(&self, nodes: &[Node]) -> bool {
        // Not the comparison of slices, for which compilers call a function that some targets lack.
        let (own, other) = (bytemuck::cast_slice::<Node, u8>(self.nodes), bytemuck::cast_slice::<Node, u8>(nodes));
        own.len() == other.len() && own.iter().zip(other).fold(0, |any, (a, b)| any | (a ^ b)) == 0
    }

    /// The compiled layers, one for each layer of the list.
    pub fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// True if a layer that a head depends on reads the end of an input row, alone or as part of the whole row.
    #[cfg(feature = "off_policy")]
    pub(crate) fn reads_end(&self) -> bool {
        let reads = |n: &Node, k| n.is_input(k) && n.part(k).is_none_or(|part| part.end == n.row as usize);
        self.nodes.iter().any(|n| n.heads != 0 && (reads(n, 0) || reads(n, 1)))
    }

    /// Whether a layer reads whole rows of the input.
    pub(crate) fn reads_all(&self) -> bool {
        let reads = |n: &Node, k| n.is_input(k) && n.part(k).is_none();
        self.nodes.iter().any(|n| reads(n, 0) || reads(n, 1))
    }

    /// Whether a layer reads symbols from the input.
    #[inline(always)]
    pub(crate) fn reads_symbols(&self) -> bool {
        cfg!(feature = "residual") && self.nodes.first().is_some_and(|first| first.flags & SYMBOLS != 0)
    }

    /// Whether all layers that read the input are convolutions over the whole input, which can read bytes.
    pub fn reads_bytes(&self) -> bool {
        self.reads_bytes_in_front(self.input())
    }

    /// Whether all layers that read any of the first `front` elements of the input are convolutions over these, which can read
    /// them as bytes. Other layers read parts behind them.
    pub fn reads_bytes_in_front(&self, front: usize) -> bool {
        #[cfg(feature = "pictures")]
        return self.nodes.iter().all(|n| match n.op() {
            Op::Local(Local::Conv(_) | Local::Depthwise(_)) if n.reads_front(0, front) => {
                n.part(0).unwrap_or(0..n.row as usize) == (0..front)
            }
            _ => !n.reads_front(0, front) && !n.reads_front(1, front),
        });
        #[cfg(not(feature = "pictures"))]
        {
            let _ = front;
            false
        }
    }

    /// Checks that the symbols in input rows are in the tables of their layers; `number` maps a row to the caller's number of
    /// it. Errors: `Value`.
    pub(crate) fn check_symbols(&self, x: &[f32], number: impl Fn(usize) -> usize) -> Result {
        for node in self.nodes.iter().filter(|node| self.reads_symbols() && node.reads_symbols()) {
            let what =
                "obs: row {given} has a number that its embedding has no symbol for: a whole one, below {needed}.";
            let stranger = x.chunks_exact(self.input().max(1)).position(|row| !node.knows(row));
            let given = stranger.map_or(0, &number);
            Error::limit(Kind::Value, what, node.symbols as usize, given).fail_if(stranger.is_some())?;
        }
        Ok(())
    }

    /// Length of an input row.
    pub fn input(&self) -> usize {
        self.nodes.first().map_or(0, |node| node.row as usize)
    }

    /// Height, width and channels of the input; 1, 1 and the length if it is no picture or is read in parts only.
    pub fn picture(&self) -> [usize; 3] {
        self.nodes.iter().find_map(Node::picture).unwrap_or([1, 1, self.input()])
    }

    /// Length of a row of head `k`; 0 if there is none.
    pub fn head_len(&self, k: usize) -> usize {
        self.heads(ALL).nth(k).map_or(0, Node::units)
    }

    /// Number of heads.
    pub fn num_heads(&self) -> usize {
        self.heads(ALL).count()
    }

    /// Range of the first free values of head `k` among the parameters; empty if it has none.
    pub fn free_params(&self, k: usize) -> Range<usize> {
        let head = self.heads(ALL).nth(k).map_or(0, |n| n.heads);
        self.nodes.iter().find(|n| n.is_free() && n.heads == head).map_or(0..0, Node::params)
    }

    #[inline(always)]
    fn heads(&self, heads: u32) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |n| n.is_head() && n.heads & heads != 0)
    }

    /// Length of the parameters, and of their gradients.
    pub fn param_len(&self) -> usize {
        self.nodes.last().map_or(0, |n| n.params().end)
    }

    /// Range of the parameters of layer `index`, counted from 0. Errors: `Range`.
    pub fn params_of(&self, index: usize) -> Result<Range<usize>> {
        Ok(self.node(index)?.params())
    }

    /// Range of the parameters of layer `index` without the deviations of a noisy layer. Errors: `Range`.
    pub fn means_of(&self, index: usize) -> Result<Range<usize>> {
        Ok(self.node(index)?.means())
    }

    fn node(&self, index: usize) -> Result<&'a Node> {
        let missing = Error::new(Kind::Range, "net: a layer below").needed(self.nodes.len()).given(index);
        self.nodes.get(index).ok_or(missing)
    }

    /// Length of the tape, which [`Net::forward`] writes for [`Net::backward`].
    pub fn tape_len(&self, rows: usize) -> usize {
        self.nodes.last().map_or(0, |n| n.tape as usize + n.kept() + n.remembers()[1]).saturating_mul(rows)
    }

    /// Length of the state that recurrent layers carry from row to row; 0 without recurrent layers.
    pub fn state_len(&self) -> usize {
        state_len(self.nodes)
    }

    /// Length of a row of working memory.
    #[inline(always)]
    fn width(&self) -> usize {
        self.nodes.last().map_or(0, |n| n.width as usize)
    }

    /// Scratch length of [`Net::infer`]; grows with the rows up to a maximum.
    pub fn infer_scratch_len(&self, rows: usize) -> usize {
        self.width() * rows.min(ROWS) + self.work(rows.min(ROWS))
    }

    /// Scratch length of [`Net::backward`] for any number of rows, with the gradient of the input or without; `sequences` are
    /// those of a recurrent network's [`Carry`]. It is enough for [`Net::init`] too.
    pub fn scratch_len(&self, d_input: bool, sequences: usize) -> usize {
        let inits = self.nodes.iter().map(|n| n.op().init_scratch_len());
        inits.fold(self.cuts(d_input, sequences)[5], usize::max)
    }

    /// Scratch length of [`Net::forward`] for any number of rows.
    pub fn work_len(&self) -> usize {
        self.work(ROWS)
    }

    /// Working memory of one layer, the largest, in a pass of this many rows.
    fn work(&self, rows: usize) -> usize {
        self.nodes.iter().map(|n| n.op().work_len(rows)).fold(0, usize::max) + parts_len(self.nodes) * rows
    }

    /// Ends of the sections of [`Net::backward`]'s scratch: gradients of values; gradients to be added to others; weight copies
    /// that are always needed; weight copies of layers that read the input; gradients carried back from step to step; working
    /// memory of one layer.
    fn cuts(&self, d_input: bool, sequences: usize) -> [usize; 6] {
        let (mut added, mut turned) = (0, [0; 2]);
        for node in self.nodes {
            for (k, from) in node.from.into_iter().enumerate() {
                let adds = node.flags & ADDS != 0 && (d_input || from != 0);
                if adds || d_input && parts_len(self.nodes) > 0 && node.is_input(k) {
                    added = node.input(k).max(added);
                }
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
        let back = self.nodes.last().map_or(0, |n| n.back as usize + n.remembers()[2]);
        let back = back.saturating_mul(sequences).saturating_add(all);
        [values, added, added + turned[0], all, back, back.saturating_add(self.work(BACKWARD_ROWS))]
    }

    /// Draws the initial parameters of every layer, in list order. `scratch` has at least [`Net::scratch_len`] elements, whose
    /// values do not matter.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small. Nothing is written then.
    pub fn init(&self, params: &mut [f32], rng: &mut Rng, scratch: &mut [f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_scratch(scratch, self.scratch_len(false, 0))?;
        for node in self.nodes {
            let own = params.get_mut(node.params()).ok_or(MISFIT)?;
            let initializer = Initializer::new(node.initializer).unwrap_or_default();
            node.op().init(own, Start { initializer, gain: node.gain, window: 1 }, rng, scratch)?;
        }
        Ok(())
    }

    /// The outputs of `x[rows, input]`: f32, or bytes if the network [reads bytes](Net::reads_bytes). `heads` has a bit for each
    /// wanted head ([`ALL`]: every one); `outs` has the arrays of these alone, `[rows, head_len]`, in order.
    /// `tape[tape_len(rows)]` receives the values that [`Net::backward`] needs; `scratch` has at least [`Net::work_len`]
    /// elements, whose values do not matter.
    ///
    /// The result of a row does not depend on other rows, except, in a recurrent network, on the earlier rows of its sequence,
    /// as `carry` defines. Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn forward<'x>(
        &self,
        params: &[f32],
        x: impl Into<Input<'x>>,
        rows: usize,
        heads: u32,
        carry: &Carry<'_>,
        tape: &mut [f32],
        scratch: &mut [f32],
        outs: &mut [&mut [f32]],
    ) -> Result {
        let x = x.into();
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

    /// [`Net::forward`] of one step of each row, without a tape; the results are the same bits. `scratch` has at least
    /// [`Net::infer_scratch_len`] elements, whose values do not matter. `state[rows, state_len]` holds the state of each row
    /// before the step and receives the state after it; empty without recurrent layers.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn infer<'x>(
        &self,
        params: &[f32],
        x: impl Into<Input<'x>>,
        rows: usize,
        heads: u32,
        state: &mut [f32],
        scratch: &mut [f32],
        outs: &mut [&mut [f32]],
    ) -> Result {
        let x = x.into();
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

    /// Adds the gradients of the parameters to `grads[param_len]`, from those of the outputs and the tape that [`Net::forward`]
    /// wrote for the same `params`, `x`, `carry` and `heads`, or for more heads. `d_outs` has the arrays of the wanted heads
    /// alone. The gradient of the input, which bytes do not have, is written to `d_input[rows, input]`, if given; then `grads`
    /// may be empty, unless the network is recurrent, and the gradients of the parameters are not computed.
    ///
    /// Sums run over the rows in ascending order, in a recurrent network by strips of 64 rows from the last strip to the first;
    /// and over the layers that read one value from the last to the first. Attention sums the gradients of its positions, and
    /// of the steps that a state holds, sequence by sequence from the last step to the first. Gradients go back through the
    /// steps to the row that starts from its own state. `scratch` has at least [`Net::scratch_len`] elements, whose values do
    /// not matter. Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn backward<'x>(
        &self,
        params: &[f32],
        x: impl Into<Input<'x>>,
        rows: usize,
        heads: u32,
        carry: &Carry<'_>,
        tape: &[f32],
        d_outs: &[&[f32]],
        d_input: Option<&mut [f32]>,
        grads: &mut [f32],
        scratch: &mut [f32],
    ) -> Result {
        let x = x.into();
        self.check(params, x, rows, heads, d_outs)?;
        check_len("net: tape of length", tape, self.tape_len(rows))?;
        if d_input.is_none() || !grads.is_empty() || self.state_len() > 0 {
            check_len("net: gradients of length", grads, self.param_len())?;
        }
        if let Some(d_input) = &d_input {
            check_len("net: gradient of the input of length", d_input, x.numbers().len())?;
        }
        self.check_carry(rows, carry)?;
        let sequences = carry.sequences(rows);
        check_scratch(scratch, self.scratch_len(d_input.is_some(), sequences))?;
        let (nodes, cuts) = (self.nodes, self.cuts(d_input.is_some(), sequences));
        cpu::dispatch(Backward {
            nodes,
            cuts,
            params,
            x,
            rows,
            heads,
            #[cfg(feature = "recurrent")]
            carry,
            tape,
            d_outs,
            d_input,
            grads,
            scratch,
        })
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

    fn check<T: AsRef<[f32]>>(&self, params: &[f32], x: Input<'_>, rows: usize, heads: u32, outs: &[T]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        match x {
            Input::F32(x) => check_len("net: input of length", x, rows.saturating_mul(self.input()))?,
            #[cfg(feature = "pictures")]
            Input::U8(x) => {
                check_len("net: bytes of the input, of length", x, rows.saturating_mul(self.input()))?;
                Error::new(Kind::Shape, NO_BYTES).fail_if(!self.reads_bytes())?;
            }
            #[cfg(feature = "pictures")]
            Input::Split { front, rest } => {
                check_len(
                    "net: bytes and numbers of the input, of length",
                    rest,
                    rows.saturating_mul(self.input()).saturating_sub(front.len()),
                )?;
                let whole = front.len().checked_div(rows).filter(|len| len.saturating_mul(rows) == front.len());
                Error::new(Kind::Shape, NO_BYTES)
                    .fail_if(whole.is_none_or(|len| !self.reads_bytes_in_front(len)) && rows > 0)?;
            }
        }
        let mut given = outs.iter();
        for node in self.heads(heads) {
            let out =
                given.next().ok_or(Error::new(Kind::Shape, "net: an array for each wanted head, of which it has"))?;
            check_len("net: output of length", out.as_ref(), rows.saturating_mul(node.units()))?;
        }
        check_len("net: arrays besides those of the wanted heads,", given.as_slice(), 0)
    }

    /// The tensors of layer `index`, counted from 0: `weight` and `bias` in PyTorch's order of dimensions, `[units, input]` of a
    /// dense layer, `[units, channels, height, width]` of a convolution, `[units, 1, height, width]` of a depthwise one,
    /// `[channels, units, height, width]` of a transposed one, `[channels, symbols, units]` of an embedding, and the scale of a
    /// normalization. A dense layer with [`NOISY`](super::NOISY) has `weight_sigma` and `bias_sigma`. Recurrent layers have
    /// `weight_ih` `[gates, input]`, except for a minGRU `weight_hh` `[gates, units]`, and `bias`, the sum of PyTorch's two; gates are i, f, g,
    /// o of an LSTM, r, z, n of a GRU, z and the candidate of a minGRU, with `units` values each. `bias_hn` of a GRU is that of n
    /// inside the product with r; `scale` belongs to a normalized LSTM. Attention has `q_proj_weight`, `k_proj_weight` and `v_proj_weight`
    /// `[units, input]`, `positions` `[window, units]`, the newest step first, `out_proj.weight` `[units, units]`, `in_proj_bias`
    /// `[3 * units]` and `out_proj.bias`. What is read from a picture by a layer that sees all of it has that input's dimension in the order
    /// channels, height, width. Errors: `Range` for a layer that is not there.
    pub fn tensors(&self, index: usize) -> Result<Tensors> {
        let node = self.node(index)?;
        let sees_all = node.kind().scope() == Scope::All && !node.is_free();
        let own = node.op().tensors();
        Ok(if sees_all { own.over_picture(node.input[0]) } else { own })
    }

    /// Calls `with` with the ranges of parameters of layer `index`, in ascending order, and with whether their tensor is one of
    /// `marked`, which has bit k for tensor k of [`Net::tensors`]. Errors: `Range`.
    pub(crate) fn each_run(&self, index: usize, marked: u8, with: &mut dyn FnMut(bool, Range<usize>)) -> Result {
        let (node, all) = (self.node(index)?, self.params_of(index)?);
        if marked == 0 {
            with(false, all);
            return Ok(());
        }
        let tensors = node.op().tensors();
        let mut at = 0usize;
        while at < all.len() {
            let (tensor, end) = tensors.run_at(at).ok_or(MISFIT)?;
            let is_marked = marked.checked_shr(tensor as u32).unwrap_or(0) & 1 != 0;
            with(is_marked, all.start.saturating_add(at)..all.start.saturating_add(end));
            at = end;
        }
        Ok(())
    }

    /// Reads a tensor of layer `index` from the parameters. Errors: `Range`; `Shape`.
    pub fn read_tensor(&self, params: &[f32], index: usize, tensor: &Tensor, to: &mut [f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_len("net: a tensor of length", to, tensor.len())?;
        tensor.read(params.get(self.params_of(index)?).ok_or(MISFIT)?, to).ok_or(MISFIT)
    }

    /// Writes a tensor of layer `index` to the parameters. Errors: `Range`; `Shape`.
    pub fn write_tensor(&self, params: &mut [f32], index: usize, tensor: &Tensor, from: &[f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_len("net: a tensor of length", from, tensor.len())?;
        tensor.write(params.get_mut(self.params_of(index)?).ok_or(MISFIT)?, from).ok_or(MISFIT)
    }

    /// Copies the product of `factor` and a tensor of another network to a tensor with as many elements; each is given with its
    /// layer. Errors: `Range`; `Shape`.
    pub(crate) fn copy_tensor(
        &self,
        params: &mut [f32],
        (index, tensor): (usize, &Tensor),
        factor: f32,
        (net, from): (&Net<'_>, &[f32]),
        other: (usize, &Tensor),
    ) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        check_len("net: parameters of length", from, net.param_len())?;
        let to = params.get_mut(self.params_of(index)?).ok_or(MISFIT)?;
        tensor.copy(to, factor, other.1, from.get(net.params_of(other.0)?).ok_or(MISFIT)?).ok_or(MISFIT)
    }

    /// Reads layer `index`, counted from 0: all its weights, then all its biases, each in the order of [`Net::tensors`], except
    /// that the inputs from a picture stay in its own order. Either is empty if the layer has none.
    ///
    /// Errors: `Range` for a layer that is not there or has no parameters of its own; `Shape`.
    pub fn read_layer<'t>(
        &self,
        params: &[f32],
        index: usize,
        mut weights: &'t mut [f32],
        mut bias: &'t mut [f32],
    ) -> Result {
        let (own, tensors) = self.check_layer(params, index, weights, bias)?;
        let own = params.get(own).ok_or(MISFIT)?;
        for tensor in tensors.as_slice() {
            let room = if tensor.is_bias { &mut bias } else { &mut weights };
            tensor.read(own, room.split_off_mut(..tensor.len()).ok_or(MISFIT)?).ok_or(MISFIT)?;
        }
        Ok(())
    }

    /// Writes layer `index`, counted from 0, in the layout of [`Net::read_layer`].
    ///
    /// Errors: `Range` for a layer that is not there or has no parameters of its own; `Shape`.
    pub fn write_layer<'t>(
        &self,
        params: &mut [f32],
        index: usize,
        mut weights: &'t [f32],
        mut bias: &'t [f32],
    ) -> Result {
        let (own, tensors) = self.check_layer(params, index, weights, bias)?;
        let own = params.get_mut(own).ok_or(MISFIT)?;
        for tensor in tensors.as_slice() {
            let from = if tensor.is_bias { &mut bias } else { &mut weights };
            tensor.write(own, from.split_off(..tensor.len()).ok_or(MISFIT)?).ok_or(MISFIT)?;
        }
        Ok(())
    }

    fn check_layer(
        &self,
        params: &[f32],
        index: usize,
        weights: &[f32],
        bias: &[f32],
    ) -> Result<(Range<usize>, Tensors)> {
        check_len("net: parameters of length", params, self.param_len())?;
        let node = self.node(index)?;
        let all = node.op().tensors();
        let len = |biases: bool| all.as_slice().iter().filter(|x| x.is_bias == biases).map(Tensor::len).sum();
        if node.is_free() || all.as_slice().is_empty() {
            return Err(Error::new(Kind::Range, "net: a layer with weights").given(index));
        }
        check_len("net: layer weights of length", weights, len(false))?;
        check_len("net: layer bias of length", bias, len(true))?;
        Ok((node.params(), all))
    }

    /// Writes to `to` those of `layers`, the list that this network was compiled from, that head `k` depends on or that belong
    /// to it, renumbered and without [`NOISY`](super::NOISY), and returns their number.
    ///
    /// Errors: `Range` for a head that is not there; `Shape` for another number of `layers`; `Size` for a `to` that is too
    /// short.
    pub fn prune(&self, layers: &[Layer], k: usize, to: &mut [Layer]) -> Result<usize> {
        check_len("net: layers, as it was compiled from,", layers, self.nodes.len())?;
        self.prune_of(layers.iter().copied(), k, to)
    }

    /// [`Net::prune`] of [`Net::layers`].
    pub(crate) fn prune_compiled(&self, k: usize, to: &mut [Layer]) -> Result<usize> {
        self.prune_of(self.layers(), k, to)
    }

    fn prune_of(&self, layers: impl Iterator<Item = Layer>, k: usize, to: &mut [Layer]) -> Result<usize> {
        let head = self.head_bit(k)?;
        let kept = |from: usize| self.nodes.iter().take(from).filter(|n| n.heads & head != 0).count();
        let count = kept(MAX_LAYERS);
        let too_short = Error::new(Kind::Size, "net: layers of the head, at least").needed(count).given(to.len());
        let to = to.get_mut(..count).ok_or(too_short)?;
        let of_head = layers.zip(self.nodes).filter(|(_, n)| n.heads & head != 0);
        for (to, (layer, _)) in to.iter_mut().zip(of_head) {
            *to = Layer { flags: layer.flags & !NOISY, ..layer };
            for from in &mut to.source {
                *from = if *from & INPUT != 0 { *from } else { kept(*from as usize) as u32 };
            }
        }
        Ok(count)
    }

    /// Copies the parameters of the layers that [`Net::prune`] keeps, without deviations, to `to`, which has the `param_len` of
    /// those layers. Each `group` adjacent units of the head itself are averaged to one, and so are its outputs.
    ///
    /// Errors: `Range` for a head that is not there; `Shape`; nothing is written then.
    pub fn prune_params(&self, params: &[f32], k: usize, group: usize, to: &mut [f32]) -> Result {
        check_len("net: parameters of length", params, self.param_len())?;
        let head = self.head_bit(k)?;
        let group = |n: &Node| if n.is_head() { group.max(1) } else { 1 };
        let kept = || self.nodes.iter().filter(|n| n.heads & head != 0).map(|n| (n, n.means(), group(n)));
        let len = |range: &Range<usize>, group| range.len().checked_div(group).unwrap_or(0);
        check_len(
            "net: parameters of the head, of length",
            to,
            kept().map(|(_, range, group)| len(&range, group)).sum(),
        )?;
        let mut rest = to;
        for (node, range, group) in kept() {
            let (own, after) = rest.split_at_mut_checked(len(&range, group)).ok_or(MISFIT)?;
            let from = params.get(range).ok_or(MISFIT)?;
            match node.op() {
                Op::Local(Local::Dense(dense)) if group > 1 => dense.average(group, from, own).ok_or(MISFIT)?,
                _ => block::copy(own, from),
            }
            rest = after;
        }
        Ok(())
    }

    /// The layers that the network was compiled from, with every default filled in.
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        self.into_layers()
    }

    /// [`Net::layers`] that outlive this view of the network.
    pub(crate) fn into_layers(self) -> impl Iterator<Item = Layer> + use<'a> {
        self.nodes.iter().map(Node::layer)
    }

    /// The [`Layer::role`] of each layer.
    pub(crate) fn roles(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.nodes.iter().map(|node| node.role)
    }

    fn head_bit(&self, k: usize) -> Result<u32> {
        let missing = Error::new(Kind::Range, "net: a head below").needed(self.heads(ALL).count()).given(k);
        self.heads(ALL).nth(k).map(|n| n.heads).ok_or(missing)
    }
}
fn check_scratch(scratch: &[f32], len: usize) -> Result {
    if scratch.len() >= len {
        Ok(())
    } else {
        Err(Error::new(Kind::Size, "net: scratch of at least").needed(len).given(scratch.len()))
    }
}
