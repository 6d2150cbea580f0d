//! A network of a host's own: a list of layers, run over the host's arrays.

use super::role::{Tower, role};
use super::tensors::{NamedTensor, Networks};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::check_finite;
use crate::nn::{ALL, Activation, Carry, HEAD, Input, Layer, LayerKind, NOISY, Net, with_room};
use crate::rng::Rng;
use crate::space::Elements;

/// Maximum number of layers in a host's list.
const MAX_LISTED: usize = 64;

/// Maximum number of outputs in a list.
const MAX_OUTPUTS: usize = u32::BITS as usize;

/// Elements of an array of numbers that fits the address space.
const MOST: usize = isize::MAX as usize / size_of::<f32>();

/// The layers of a network, and the shape of a row of its input.
///
/// ```
/// use rlcore::learn::{Network, NetworkPass};
/// use rlcore::nn::{Activation, Layer};
/// use rlcore::rng::Rng;
///
/// # fn main() -> rlcore::error::Result {
/// let layers = [Layer::dense(3, Activation::Tanh), Layer::dense(1, Activation::Identity)];
/// let network = Network { layers: &layers, input: [1, 1, 2], parts: &[] };
/// network.compiled(&mut |net| {
///     let len = net.lengths(4, 1)?;
///     let (mut params, mut grads) = (vec![0.0; len.params], vec![0.0; len.params]);
///     let (mut tape, mut scratch, mut out) = (vec![0.0; len.tape], vec![0.0; len.scratch], vec![0.0; 4 * len.output]);
///     net.init(&mut params, &mut Rng::seeded(1), &mut scratch)?;
///     let pass = NetworkPass::new(&params, &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 4);
///     net.forward(&pass, &mut tape, &mut scratch, &mut out)?;
///     net.backward(&pass, &tape, &out, None, Some(&mut grads), &mut scratch) // of half the sum of squared outputs
/// })?
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    /// The layers, at most 64. Those with [`HEAD`] are outputs; without any, the last one is.
    pub layers: &'a [Layer],
    /// Height, width and channels of a row of the input, or 1, 1 and its length.
    pub input: [usize; 3],
    /// The same of each part of a row; empty for an input without parts.
    pub parts: &'a [[u32; 3]],
}

/// Lengths of the arrays of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkLengths {
    /// Parameters, and their gradients.
    pub params: usize,
    /// A row of the input.
    pub input: usize,
    /// A row of all outputs.
    pub output: usize,
    /// The state that recurrent layers carry from a row to the next one of its sequence; 0 without them.
    pub state: usize,
    /// The activations of all rows of a pass.
    pub tape: usize,
    /// Working memory that is enough for every call with as many rows.
    pub scratch: usize,
}

/// The rows of a pass.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPass<'a> {
    /// `[params]`
    pub params: &'a [f32],
    /// `[rows, input]`
    pub x: Input<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Steps of recurrent layers, and where their sequences begin.
    pub carry: Carry<'a>,
}

impl<'a> NetworkPass<'a> {
    /// Rows of a network without recurrent layers.
    pub fn new(params: &'a [f32], x: impl Into<Input<'a>>, rows: usize) -> NetworkPass<'a> {
        NetworkPass { params, x: x.into(), rows, carry: Carry::NONE }
    }

    /// Rows of numbers, or of bytes for networks that [read bytes](CompiledNetwork::reads_bytes); no network reads integers.
    pub fn of(params: &'a [f32], x: Elements<'a>, rows: usize, carry: Carry<'a>) -> NetworkPass<'a> {
        let x = match x {
            Elements::F32(x) => Input::F32(x),
            Elements::U8(x) => Input::of_bytes(x),
            Elements::I32(_) => Input::F32(&[]),
        };
        NetworkPass { params, x, rows, carry }
    }
}

impl Network<'_> {
    /// Checks the list and calls `body` with the compiled network.
    ///
    /// Errors: `Config`, naming the layer, counted from 1; `Overflow`.
    pub fn compiled<R>(&self, body: &mut dyn FnMut(CompiledNetwork<'_>) -> R) -> Result<R> {
        let count = self.layers.len();
        let what = "network: layers, at least 1 and at most";
        Error::limit(Kind::Config, what, MAX_LISTED, count).fail_if(count == 0 || count > MAX_LISTED)?;
        for (number, layer) in (1..).zip(self.layers) {
            let is_free = layer.kind == LayerKind::Free as u32;
            let what = "network: no numbers that depend on no input, which a host keeps by itself, in layer";
            Error::new(Kind::Config, what).needed(number).fail_if(is_free)?;
            let what = "network: no flag NOISY, since a pass draws no noise, in layer";
            Error::new(Kind::Config, what).needed(number).fail_if(layer.flags & NOISY != 0)?;
            let what = "net: reserved of 0 in layer";
            Error::limit(Kind::Config, what, number, layer.role as usize).fail_if(layer.role != 0)?;
        }
        with_room(count.saturating_add(1), &mut |nodes, room| {
            let layers = self.with_output(room)?;
            Ok(body(CompiledNetwork { net: Net::compile_parts(layers, self.input, self.parts, nodes)? }))
        })
    }

    /// The layers with their places as roles, and with an output. A layer that carries a state is none by itself, so a copy of
    /// its value follows it.
    fn with_output<'r>(&self, room: &'r mut [Layer]) -> Result<&'r [Layer]> {
        for (place, (to, layer)) in (0..).zip(room.iter_mut().zip(self.layers)) {
            *to = Layer { role: role(Tower::Listed, place), ..*layer };
        }
        let count = self.layers.len();
        let listed = room.get_mut(..count).unwrap_or_default();
        let is_marked = listed.iter().any(|layer| layer.flags & HEAD != 0);
        let carries = match listed.last_mut().filter(|_| !is_marked) {
            Some(last) if last.may_be_head() => {
                last.flags |= HEAD;
                false
            }
            Some(_) => true,
            None => false,
        };
        if !cfg!(feature = "pictures") {
            let what = "network: a dense layer behind the last one, which carries a state, in this build; layers";
            Error::new(Kind::Config, what).given(count).fail_if(carries)?;
        }
        if let Some(copy) = room.get_mut(count).filter(|_| carries) {
            *copy = Layer {
                kind: LayerKind::Pool as u32,
                flags: HEAD,
                ..Layer::conv(0, [1; 2], [1; 2], Activation::Identity)
            };
        }
        Ok(room.get(..count.saturating_add(usize::from(carries))).unwrap_or_default())
    }
}

/// A network that is ready to run.
#[derive(Clone, Copy, Debug)]
pub struct CompiledNetwork<'n> {
    net: Net<'n>,
}

impl CompiledNetwork<'_> {
    /// The lengths for passes of so many rows, `steps` steps of several sequences; 1 without recurrent layers.
    ///
    /// Errors: `Shape` for no rows, and steps that do not divide them; `Overflow`.
    pub fn lengths(&self, rows: usize, steps: usize) -> Result<NetworkLengths> {
        Error::limit(Kind::Shape, "network: num_rows of at least", 1, rows).fail_if(rows == 0)?;
        let divides = steps > 0 && rows.is_multiple_of(steps);
        Error::limit(Kind::Shape, "network: num_steps that divides the rows,", rows, steps).fail_if(!divides)?;
        let net = &self.net;
        let sequences = rows.checked_div(steps).unwrap_or(0);
        let scratch = net.scratch_len(true, sequences).max(net.infer_scratch_len(rows)).max(net.work_len());
        let lengths = NetworkLengths {
            params: net.param_len(),
            input: net.input(),
            output: (0..net.num_heads()).map(|k| net.head_len(k)).fold(0, usize::saturating_add),
            state: net.state_len(),
            tape: net.tape_len(rows),
            scratch,
        };
        let width = lengths.input.max(lengths.output).max(lengths.state);
        let most = lengths.tape.max(lengths.scratch).max(width.saturating_mul(rows));
        Error::new(Kind::Overflow, "network: rows whose arrays fit the address space; given")
            .given(rows)
            .fail_if(most > MOST)?;
        Ok(lengths)
    }

    /// Whether the network reads bytes: all layers that read its input are convolutions over all of it.
    pub fn reads_bytes(&self) -> bool {
        self.net.reads_bytes()
    }

    /// Draws the initial parameters, in list order. Errors: `Shape`; `Size` for a scratch that is too small.
    pub fn init(&self, params: &mut [f32], rng: &mut Rng, scratch: &mut [f32]) -> Result {
        self.net.init(params, rng, scratch)
    }

    /// The outputs of all rows: `[rows, length]` of the first output, then of the next. `tape` receives the activations.
    ///
    /// The result of a row depends on no other row, except in recurrent networks on earlier rows of its sequence. Errors:
    /// `Shape`; `Size` for a scratch that is too small; `Value` for a number that is not finite, and an input that is no symbol
    /// of its embedding; nothing is written then.
    pub fn forward(&self, pass: &NetworkPass<'_>, tape: &mut [f32], scratch: &mut [f32], out: &mut [f32]) -> Result {
        self.check(pass, out.len())?;
        self.check_states(pass)?;
        let NetworkPass { params, x, rows, carry } = *pass;
        self.with_outputs(rows, out, &mut |outs| self.net.forward(params, x, rows, ALL, &carry, tape, scratch, outs))
    }

    /// [`CompiledNetwork::forward`] of one step of each row, without a tape; the same bits. `state[rows, state]` holds the state of
    /// each row, and receives that after the step. The steps of the pass are not read.
    pub fn infer(&self, pass: &NetworkPass<'_>, state: &mut [f32], scratch: &mut [f32], out: &mut [f32]) -> Result {
        self.check(pass, out.len())?;
        check_finite("network pass: finite state", state)?;
        let NetworkPass { params, x, rows, .. } = *pass;
        self.with_outputs(rows, out, &mut |outs| self.net.infer(params, x, rows, ALL, state, scratch, outs))
    }

    /// Adds the gradients of the parameters to `d_params`, and writes that of the input to `d_x`, from the gradient of the outputs
    /// and the tape of [`CompiledNetwork::forward`] of the same pass. Either may be absent.
    ///
    /// Sums run over rows in ascending order, so that passes of parts of the rows add up to the same bits if each part but the
    /// last has a multiple of 64 rows; of recurrent networks they do not. Errors: as there; `Disabled` for recurrent networks
    /// without `d_params`; `Shape` for the gradient of bytes.
    pub fn backward(
        &self,
        pass: &NetworkPass<'_>,
        tape: &[f32],
        d_out: &[f32],
        d_x: Option<&mut [f32]>,
        d_params: Option<&mut [f32]>,
        scratch: &mut [f32],
    ) -> Result {
        self.check(pass, d_out.len())?;
        self.check_states(pass)?;
        check_finite("network: finite d_out", d_out)?;
        let NetworkPass { params, x, rows, carry } = *pass;
        let what = "network: d_x of an input of numbers, not of bytes";
        Error::new(Kind::Shape, what).fail_if(d_x.is_some() && !x.bytes().is_empty())?;
        let what = "network: d_params, which layers that carry a state always compute";
        Error::new(Kind::Disabled, what).fail_if(d_params.is_none() && self.net.state_len() > 0)?;
        let Some(d_x) = d_x else {
            let Some(d_params) = d_params else { return Ok(()) };
            return self.go_back((params, x, rows, &carry), tape, d_out, None, d_params, scratch);
        };
        self.go_back((params, x, rows, &carry), tape, d_out, Some(d_x), d_params.unwrap_or_default(), scratch)
    }

    fn go_back(
        &self,
        (params, x, rows, carry): (&[f32], Input<'_>, usize, &Carry<'_>),
        tape: &[f32],
        mut d_out: &[f32],
        d_x: Option<&mut [f32]>,
        d_params: &mut [f32],
        scratch: &mut [f32],
    ) -> Result {
        let mut next = |k| d_out.split_off(..rows.saturating_mul(self.net.head_len(k))).unwrap_or_default();
        let outs: [&[f32]; MAX_OUTPUTS] = core::array::from_fn(&mut next);
        let outs = outs.get(..self.net.num_heads()).unwrap_or_default();
        self.net.backward(params, x, rows, ALL, carry, tape, outs, d_x, d_params, scratch)
    }

    fn with_outputs(
        &self,
        rows: usize,
        mut out: &mut [f32],
        run: &mut dyn FnMut(&mut [&mut [f32]]) -> Result,
    ) -> Result {
        let mut next = |k| out.split_off_mut(..rows.saturating_mul(self.net.head_len(k))).unwrap_or_default();
        let mut outs: [&mut [f32]; MAX_OUTPUTS] = core::array::from_fn(&mut next);
        run(outs.get_mut(..self.net.num_heads()).unwrap_or_default())
    }

    fn check(&self, pass: &NetworkPass<'_>, out: usize) -> Result {
        let width = self.lengths(pass.rows.max(1), 1)?.output;
        let (needed, what) = (pass.rows.saturating_mul(width), "network: outputs of all rows, of length");
        Error::limit(Kind::Shape, what, needed, out).fail_if(out != needed)?;
        check_finite("network pass: finite params", pass.params)?;
        check_finite("network pass: finite x", pass.x.numbers())?;
        check_len(
            "network pass: x of length",
            pass.x.numbers(),
            match pass.x.bytes().len() {
                0 => pass.rows.saturating_mul(self.net.input()),
                _ => 0,
            },
        )?;
        self.net.check_symbols(pass.x.numbers(), |row| row)
    }

    /// Checks the states that sequences begin with; others are not read.
    fn check_states(&self, pass: &NetworkPass<'_>) -> Result {
        let (width, carry) = (self.net.state_len(), &pass.carry);
        let sequences = pass.rows.checked_div(carry.steps).unwrap_or(0);
        for (row, state) in carry.state.chunks_exact(width.max(1)).enumerate() {
            if row < sequences || carry.cut.get(row).is_some_and(|cut| *cut != 0) {
                check_finite("network pass: finite state", state)?;
            }
        }
        Ok(())
    }

    fn tensors_of(&self) -> Networks<'_> {
        Networks { net: self.net, critic: Net::new(&[]), num_critics: 0, frozen: &[] }
    }

    /// Describes the tensors of all layers, as learners do. Returns their number; those beyond the length of `to` are not written.
    pub fn tensors(&self, to: &mut [NamedTensor]) -> Result<usize> {
        self.tensors_of().list(to)
    }

    /// Copies all tensors out of the parameters. Errors: `Shape`.
    pub fn read_tensors(&self, params: &[f32], to: &mut [f32]) -> Result {
        check_len("network: params of length", params, self.net.param_len())?;
        self.tensors_of().read(params, 1.0, to)
    }

    /// Writes tensors into the parameters. Errors: `Config` for a name that no tensor has; `Shape` for other dimensions; `Range`
    /// for numbers beyond `values`; `Value` for one that is not finite; nothing is written then.
    pub fn write_tensors(&self, params: &mut [f32], list: &[NamedTensor], values: &[f32]) -> Result {
        check_len("network: params of length", params, self.net.param_len())?;
        let all = self.tensors_of();
        all.each_of(list, values, &mut |_, own| check_finite("tensors: finite numbers", own))?;
        all.each_of(list, values, &mut |found, own| {
            self.net.write_tensor(params, found.told.layer as usize, &found.tensor, own)
        })
    }
}
