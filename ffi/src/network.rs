//! Networks of a host's own, for losses of its own: forward, backward and parameters over the host's arrays.

use core::ffi::c_void;

use crate::layer::rlcore_layer;
use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, Args, Extent, Input, OutSized, Output, args_beside, exact};
use crate::rng::{rlcore_rng, stream};
use crate::space::element;
use crate::status::{Fault, Result, call, rlcore_status};
use crate::tensors::{list, rlcore_tensor};
use rlcore::error::{Error, Kind};
use rlcore::learn::{CompiledNetwork, NamedTensor, Network, NetworkLengths, NetworkPass};
use rlcore::nn::{Carry, Layer};
use rlcore::space::{Element, Elements};

/// A network of your own: layers as of a learner, run over your arrays, so that any loss can train them. Parameters,
/// gradients and activations are plain arrays, nothing else is kept, and the optimizers of rlcore_optimizer_step work
/// over them. Each call reads the list anew. M rows of the input go in, and the outputs of M rows come out.
/// Layers with RLCORE_LAYER_HEAD are outputs, at most 32, which no layer reads; without any, the last layer is the
/// output. RLCORE_LAYER_INPUT is the input, and RLCORE_LAYER_INPUT | k its part k. The layers that
/// rlcore_learner_layers lists are such a list too, except numbers that depend on no input and noisy layers, which
/// are refused.
/// Example:
///   const rlcore_network net = {.struct_size = sizeof net, .num_layers = 2, .layers = layers, .input = {1, 1, 8}};
///   rlcore_network_lengths len = {.struct_size = sizeof len};
///   rlcore_network_lengths_read(&net, num_rows, 1, &len);
///   rlcore_network_init(&net, &rng, scratch, len.scratch_len, params, len.params_len);
///   rlcore_network_forward(&net, &pass, out, num_rows * len.output_len);
///   rlcore_network_backward(&net, &pass, d_out, num_rows * len.output_len, d_params, NULL);
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_network {
    /// sizeof(rlcore_network)
    pub struct_size: u32,
    /// 1 to 64
    pub num_layers: u32,
    /// [num_layers]
    pub layers: *const rlcore_layer,
    /// height, width and channels of a row of the input; 1, 1 and its length if no picture
    pub input: [u32; 3],
    /// parts of a row that layers read by themselves; 0: none
    pub num_parts: u32,
    /// [num_parts, 3] height, width and channels of each; together they make up a row
    pub parts: *const u32,
}

versioned!(rlcore_network, "network", parts);

/// Lengths of the arrays of a network, in elements.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_network_lengths {
    /// sizeof(rlcore_network_lengths)
    pub struct_size: u32,
    /// 1: the input may be RLCORE_U8, since convolutions over all of it read it; else 0
    pub reads_bytes: u32,
    /// parameters; also of their gradients
    pub params_len: usize,
    /// a row of the input
    pub input_len: usize,
    /// a row of all outputs
    pub output_len: usize,
    /// the state that a row leaves to the next step; 0 without recurrent layers and attention
    pub state_len: usize,
    /// activations of all rows, which rlcore_network_backward needs
    pub tape_len: usize,
    /// working memory, enough for every call with as many rows or fewer
    pub scratch_len: usize,
}

versioned!(rlcore_network_lengths, "network lengths", scratch_len);

/// The rows of a pass, M = num_rows. Recurrent layers and attention take them as T = num_steps steps of M / T
/// sequences: all rows of a step, then those of the next. They start from states of yours, such as
/// rlcore_network_forward without a tape leaves, and gradients go back through the steps to where a row starts so.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_network_pass {
    /// sizeof(rlcore_network_pass)
    pub struct_size: u32,
    /// M, at least 1
    pub num_rows: u32,
    /// T, which divides M; 1 without recurrent layers and attention
    pub num_steps: u32,
    /// RLCORE_F32, or RLCORE_U8: bytes, which convolutions read divided by 255
    pub input_type: u32,
    /// [params_len]
    pub params: *const f32,
    /// params_len of rlcore_network_lengths
    pub params_len: usize,
    /// [M, input_len] of rlcore_network_lengths
    pub input: *const c_void,
    /// [M, state_len] of rlcore_network_lengths, to change: states to start from; NULL if that is 0. With a tape those of
    /// the first step, and where starts is 1, are read; without one all are read, and written with the states after
    /// the step
    pub state: *mut f32,
    /// [M] 1: the row starts from its own row of state, as when an episode begins; else it goes on from the step
    /// before. NULL if state is, or without a tape, when all rows start so
    pub starts: *const u8,
    /// [tape_len] activations: rlcore_network_forward writes them, rlcore_network_backward reads them. NULL with a
    /// tape_len of 0: no gradient is wanted
    pub tape: *mut f32,
    /// tape_len of rlcore_network_lengths, or 0
    pub tape_len: usize,
    /// [scratch_len] to write
    pub scratch: *mut f32,
    /// at least scratch_len of rlcore_network_lengths
    pub scratch_len: usize,
}

versioned!(rlcore_network_pass, "network pass", scratch_len);

/// Compiles the network at `p` and calls `body` with it, and with the extents of its lists, which no output may
/// overlap.
unsafe fn compiled<R>(
    p: *const rlcore_network,
    body: &mut dyn FnMut(CompiledNetwork<'_>, [Extent; 2]) -> Result<R>,
) -> Result<R> {
    let c = unsafe { ptr::sized(p)? };
    let lists = unsafe {
        (
            Input::unless_empty("network: layers", c.layers.cast::<Layer>(), c.num_layers as usize)?,
            Input::unless_empty("network: parts", c.parts, ptr::grid("network: parts", c.num_parts as usize, 3)?)?,
        )
    };
    let extents = [
        lists.0.as_ref().map_or(Extent::NONE, |list| list.extent()),
        lists.1.as_ref().map_or(Extent::NONE, |list| list.extent()),
    ];
    let (layers, parts) = lists.slices();
    let (parts, _) = parts.unwrap_or_default().as_chunks::<3>();
    let network = Network { layers: layers.unwrap_or_default(), input: c.input.map(|len| len as usize), parts };
    network.compiled(&mut |net| body(net, extents))?
}

/// The lengths of the arrays of passes with so many rows.
/// num_steps: 1 without recurrent layers and attention.
/// out:       written.
/// Errors, here and below: E_CONFIG for a list, a part or a structure that is not valid, whose message gives the
/// layer, counted from 1; E_SHAPE for no rows, and num_steps that does not divide them; E_OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_lengths_read(
    network: *const rlcore_network,
    num_rows: u32,
    num_steps: u32,
    out: *mut rlcore_network_lengths,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let out = args_beside(OutSized::at(out)?, &lists)?;
            let NetworkLengths { params, input, output, state, tape, scratch } =
                net.lengths(num_rows as usize, num_steps as usize)?;
            out.store(rlcore_network_lengths {
                reads_bytes: u32::from(net.reads_bytes()),
                params_len: params,
                input_len: input,
                output_len: output,
                state_len: state,
                tape_len: tape,
                scratch_len: scratch,
                ..ptr::zeros()
            });
            Ok(())
        })
    })
}

/// Draws the initial parameters in the order of the list, as learners do: by initializer and gain of each layer;
/// biases are 0.
/// scratch: [scratch_len] to write, at least scratch_len of rlcore_network_lengths for one row.
/// params:  [params_len] to write.
/// Errors: E_SHAPE for another params_len; E_SIZE of scratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_init(
    network: *const rlcore_network,
    rng: *mut rlcore_rng,
    scratch: *mut f32,
    scratch_len: usize,
    params: *mut f32,
    params_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let needed = net.lengths(1, 1)?;
            at_least(needed.scratch, scratch_len)?;
            let params = Output::at("params", params, exact("params", needed.params, params_len)?)?;
            let arrays = (stream(rng)?.only(), Output::at("scratch", scratch, scratch_len)?, params);
            let (rng, scratch, params) = args_beside(arrays, &lists)?;
            Ok(net.init(params, rng, scratch)?)
        })
    })
}

/// Errors: `Size` for a scratch that is too small.
fn at_least(needed: usize, given: usize) -> Result {
    let short = Error::limit(Kind::Size, "elements, at least", needed, given);
    short.fail_if(given < needed).map_err(|error| Fault::at("scratch", error))
}

/// The arrays of a pass that calls read, and its scratch.
type Arrays<'a> = ((Input<'a, f32>, AnyInput<'a>, Option<Input<'a, u8>>), Output<'a, f32>);

/// A pass, its lengths and its arrays.
struct Pass<'a> {
    c: rlcore_network_pass,
    len: NetworkLengths,
    rows: usize,
    arrays: Arrays<'a>,
}

impl Pass<'_> {
    unsafe fn at(net: &CompiledNetwork<'_>, p: *const rlcore_network_pass) -> Result<Self> {
        let c = unsafe { ptr::sized(p)? };
        let rows = c.num_rows as usize;
        let len = net.lengths(rows, c.num_steps as usize)?;
        let kind = element("network pass: input_type", c.input_type)?;
        let unknown =
            Error::new(Kind::Config, "RLCORE_F32, or RLCORE_U8 if convolutions read it,").given(c.input_type as usize);
        let is_known = kind == Element::F32 || kind == Element::U8 && net.reads_bytes();
        unknown.fail_if(!is_known).map_err(|error| Fault::at("network pass: input_type", error))?;
        at_least(len.scratch, c.scratch_len)?;
        let params = exact("network pass: params", len.params, c.params_len)?;
        let starts = if len.state > 0 && c.tape_len > 0 { rows } else { 0 };
        let arrays = unsafe {
            let read = (
                Input::at("network pass: params", c.params, params)?,
                AnyInput::at("network pass: input", c.input, kind, rows, len.input)?,
                Input::unless_empty("network pass: starts", c.starts, starts)?,
            );
            (read, Output::at("scratch", c.scratch, c.scratch_len)?)
        };
        Ok(Pass { c, len, rows, arrays })
    }
}

/// The rows of a pass, for the core.
fn rows<'a>(
    (params, input, starts): (&'a [f32], Elements<'a>, Option<&'a [u8]>),
    (rows, steps): (usize, u32),
    state: &'a [f32],
) -> NetworkPass<'a> {
    let carry = Carry { steps: steps as usize, cut: starts.unwrap_or_default(), state };
    NetworkPass::of(params, input, rows, carry)
}

/// Computes the outputs of all rows. A row gives the same bits alone as among others, and with a tape as without.
/// batch: reads params, input, state and starts; writes tape and scratch. Without a tape num_steps is 1, and state is
///        written too.
/// out:   [out_len] to write: [M, length] of the first output, then of the next; out_len is M times output_len of
///        rlcore_network_lengths.
/// Errors: E_SHAPE for a length; E_SIZE of scratch; E_VALUE for parameters, inputs and states that are not finite,
/// and an input that its embedding has no symbol for. Nothing is written then. Sums that overflow give infinities or
/// NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_forward(
    network: *const rlcore_network,
    batch: *const rlcore_network_pass,
    out: *mut f32,
    out_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let Pass { c, len, rows: num_rows, arrays } = Pass::at(&net, batch)?;
            let out_len = exact("out", len.output.saturating_mul(num_rows), out_len)?;
            let out = Output::at("out", out, out_len)?;
            let states = ptr::grid("network pass: state", num_rows, len.state)?;
            if c.tape_len == 0 {
                let several = Error::new(Kind::Shape, "1 without a tape").given(c.num_steps as usize);
                several.fail_if(c.num_steps != 1).map_err(|error| Fault::at("network pass: num_steps", error))?;
                let state = Output::unless_empty("network pass: state", c.state, states)?;
                let ((read, scratch), state, out) = args_beside((arrays, state, out), &lists)?;
                return Ok(net.infer(&rows(read, (num_rows, 1), &[]), state.unwrap_or_default(), scratch, out)?);
            }
            let state = Input::unless_empty("network pass: state", c.state.cast_const(), states)?;
            let tape = Output::at("network pass: tape", c.tape, exact("network pass: tape", len.tape, c.tape_len)?)?;
            let ((read, scratch), state, tape, out) = args_beside((arrays, state, tape, out), &lists)?;
            let pass = rows(read, (num_rows, c.num_steps), state.unwrap_or_default());
            Ok(net.forward(&pass, tape, scratch, out)?)
        })
    })
}

/// Takes the gradient of the outputs back: adds that of the parameters to d_params, and writes that of the input.
/// Sums run over rows in ascending order. Parts of the rows in passes of their own, each but the last of a multiple
/// of 64 rows, add up to the same bits, except with recurrent layers and attention.
/// batch:    as it was for rlcore_network_forward, with its tape; writes scratch.
/// d_out:    [d_out_len] gradients of the outputs, as out there.
/// d_params: [params_len] to change: sums, zeros before the first pass; NULL: not wanted.
/// d_input:  [M, input_len] of rlcore_network_lengths, to write; NULL: not wanted. Bytes have none.
/// Errors: as there; E_SHAPE for d_input of bytes; E_DISABLED without d_params if the network has recurrent layers or
/// attention.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_backward(
    network: *const rlcore_network,
    batch: *const rlcore_network_pass,
    d_out: *const f32,
    d_out_len: usize,
    d_params: *mut f32,
    d_input: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let Pass { c, len, rows: num_rows, arrays } = Pass::at(&net, batch)?;
            let d_out_len = exact("d_out", len.output.saturating_mul(num_rows), d_out_len)?;
            let states = ptr::grid("network pass: state", num_rows, len.state)?;
            let tape_len = exact("network pass: tape", len.tape, c.tape_len)?;
            let read = (
                Input::at("d_out", d_out, d_out_len)?,
                Input::unless_empty("network pass: state", c.state.cast_const(), states)?,
                Input::unless_empty("network pass: tape", c.tape.cast_const(), tape_len)?,
            );
            let written = (
                Output::optional("d_params", d_params, len.params)?,
                Output::optional("d_input", d_input, ptr::grid("d_input", num_rows, len.input)?)?,
            );
            let ((own, scratch), (d_out, state, tape), (d_params, d_input)) =
                args_beside((arrays, read, written), &lists)?;
            let pass = rows(own, (num_rows, c.num_steps), state.unwrap_or_default());
            Ok(net.backward(&pass, tape.unwrap_or_default(), d_out, d_input, d_params, scratch)?)
        })
    })
}

/// Lists the tensors of a network: all its parameters, once each, named as those of a learner whose listed layers
/// these are, so that rlcore_learner_tensors_write takes them.
/// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_tensors(
    network: *const rlcore_network,
    out: *mut rlcore_tensor,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            list::<NamedTensor, _>(&lists, (out, capacity), out_len, |to| net.tensors(to))
        })
    })
}

/// Copies the numbers of all tensors out of the parameters, each from its offset on.
/// params: [params_len], or gradients of them, or moments of their optimizer.
/// values: [values_len] to write, as many as parameters.
/// Errors: E_SHAPE for a length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_tensors_read(
    network: *const rlcore_network,
    params: *const f32,
    params_len: usize,
    values: *mut f32,
    values_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let len = net.lengths(1, 1)?.params;
            let params = Input::unless_empty("params", params, exact("params", len, params_len)?)?;
            let values = Output::unless_empty("values", values, exact("values", len, values_len)?)?;
            let (params, values) = args_beside((params, values), &lists)?;
            Ok(net.read_tensors(params.unwrap_or_default(), values.unwrap_or_default())?)
        })
    })
}

/// Writes tensors into the parameters, from whatever source; others stay as they are. Names and dimensions are
/// compared as in rlcore_learner_tensors_write.
/// tensors: [num_tensors] of which name, offset, rank and dims are read.
/// values:  [values_len] numbers; those of a tensor from its offset on.
/// params:  [params_len] to write.
/// Errors: E_SHAPE for params_len and other dimensions; E_CONFIG for a name that the network has not; E_RANGE for
/// numbers beyond values_len; E_VALUE for one that is not finite. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_network_tensors_write(
    network: *const rlcore_network,
    tensors: *const rlcore_tensor,
    num_tensors: u32,
    values: *const f32,
    values_len: usize,
    params: *mut f32,
    params_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        compiled(network, &mut |net, lists| {
            let len = exact("params", net.lengths(1, 1)?.params, params_len)?;
            let arrays = (
                Input::at("tensors", tensors.cast::<NamedTensor>(), num_tensors as usize)?,
                Input::at("values", values, values_len)?,
                Output::unless_empty("params", params, len)?,
            );
            let (tensors, values, params) = args_beside(arrays, &lists)?;
            Ok(net.write_tensors(params.unwrap_or_default(), tensors, values)?)
        })
    })
}
