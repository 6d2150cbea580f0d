//! A feed-forward tower: dense layers, one activation behind every hidden layer, none behind the last.
//!
//! Parameters, gradients and optimiser moments are flat f32 arrays of [`Mlp::param_len`], layer after layer: weights,
//! then bias `[output]`. Weights lie input-major, `[input, output]`; a layer with fewer than 16 outputs (a head) lies
//! output-major, `[output, input]`, so that its vectors run along the inputs. [`Mlp::read_layer`] and
//! [`Mlp::write_layer`] translate.

use core::mem::{swap, take};

use crate::cpu::{self, At, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::nn::activation::Activation;
use crate::nn::matmul::{self, AddOuter, Affine, Dots, LANES};
use crate::nn::orthogonal::{orthogonal, orthogonal_scratch_len};
use crate::num;
use crate::rng::Rng;

/// The most hidden layers a tower has.
pub const MAX_HIDDEN: usize = 4;
const MAX_LAYERS: usize = MAX_HIDDEN + 1;

/// Rows that pass forward through the whole tower before the next ones, so that activations stay in the first-level
/// cache.
const ROWS: usize = 32;

/// Rows that pass backward: more, because the sums of every weight's gradient go to memory in between.
const BACKWARD_ROWS: usize = 64;

/// One dense layer and where its parameters lie.
#[derive(Clone, Copy)]
struct Layer {
    input: usize,
    output: usize,
    /// The first weight in the flat parameters.
    start: usize,
}

impl Layer {
    #[inline(always)]
    fn weight_len(&self) -> usize {
        self.input * self.output
    }

    /// Output-major, because there are too few outputs to fill a vector.
    #[inline(always)]
    fn is_narrow(&self) -> bool {
        self.output < LANES
    }

    /// Rows of the weights as they lie.
    #[inline(always)]
    fn rows(&self) -> usize {
        if self.is_narrow() { self.output } else { self.input }
    }

    /// Columns of the weights as they lie.
    #[inline(always)]
    fn columns(&self) -> usize {
        if self.is_narrow() { self.input } else { self.output }
    }

    /// Weights and bias.
    #[inline(always)]
    fn of<'a>(&self, params: &'a [f32]) -> Option<(&'a [f32], &'a [f32])> {
        params.get(self.start..)?.get(..self.weight_len() + self.output)?.split_at_checked(self.weight_len())
    }

    /// Weights and bias.
    #[inline(always)]
    fn of_mut<'a>(&self, params: &'a mut [f32]) -> Option<(&'a mut [f32], &'a mut [f32])> {
        params
            .get_mut(self.start..)?
            .get_mut(..self.weight_len() + self.output)?
            .split_at_mut_checked(self.weight_len())
    }
}

/// The shape of a tower. Plain data; the parameters are the caller's.
///
/// ```
/// use rlcore::nn::{Activation, Mlp};
///
/// # fn main() -> rlcore::error::Result {
/// let mlp = Mlp::new(&[2, 3, 1], Activation::Relu)?;
/// let mut params = vec![0.0; mlp.param_len()]; // the caller's, like all memory
/// mlp.write_layer(&mut params, 0, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[0.0, 0.0, -1.0])?;
/// mlp.write_layer(&mut params, 1, &[1.0, 1.0, -2.0], &[0.0])?;
///
/// let mut scratch = vec![0.0; mlp.infer_scratch_len(4)];
/// let mut xor = [0.0; 4];
/// mlp.infer(&params, &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 4, &mut scratch, &mut xor)?;
/// assert_eq!(xor, [0.0, 1.0, 1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mlp {
    sizes: [usize; MAX_LAYERS + 1],
    num_layers: usize,
    activation: Activation,
}

impl Mlp {
    /// A tower of `sizes`: input, up to [`MAX_HIDDEN`] hidden layers, output.
    ///
    /// Errors: `Config` for fewer than two or too many sizes or a size of 0; `Overflow`.
    pub fn new(sizes: &[usize], activation: Activation) -> Result<Mlp> {
        if sizes.len() < 2 || sizes.len() > MAX_LAYERS + 1 {
            return Err(Error::new(Kind::Config, "mlp: sizes from input to output, 2 to 6 of them").given(sizes.len()));
        }
        let mut mlp = Mlp { sizes: [0; MAX_LAYERS + 1], num_layers: sizes.len() - 1, activation };
        for (own, &size) in mlp.sizes.iter_mut().zip(sizes) {
            if size == 0 {
                return Err(Error::new(Kind::Config, "mlp: sizes of at least").needed(1).given(size));
            }
            *own = size;
        }
        // Every length below is at most this sum, so none overflows.
        let too_large = Error::new(Kind::Overflow, "mlp: sizes whose products fit the address space");
        let mut sum = 0usize;
        for (&input, &output) in sizes.iter().zip(sizes.iter().skip(1)) {
            let weights = input.checked_mul(output).ok_or(too_large)?;
            let rows = input.max(output).checked_mul(2 * BACKWARD_ROWS).ok_or(too_large)?;
            sum = weights.checked_mul(2).and_then(|w| w.checked_add(rows)?.checked_add(sum)).ok_or(too_large)?;
        }
        if sum > isize::MAX as usize / size_of::<f32>() { Err(too_large) } else { Ok(mlp) }
    }

    /// Numbers in one input row.
    pub fn input(&self) -> usize {
        self.sizes[0]
    }

    /// Numbers in one output row.
    pub fn output(&self) -> usize {
        self.sizes.get(self.num_layers).copied().unwrap_or(0)
    }

    /// The activation behind the hidden layers.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Numbers in the parameters, and in their gradients.
    pub fn param_len(&self) -> usize {
        self.layers().map(|l| l.weight_len() + l.output).sum()
    }

    /// Numbers that [`Mlp::forward`] keeps for [`Mlp::backward`]: the hidden activations, `[batch, size]` a layer.
    pub fn tape_len(&self, batch: usize) -> usize {
        self.layers().skip(1).map(|l| l.input).sum::<usize>().saturating_mul(batch)
    }

    /// Numbers of scratch that [`Mlp::backward`] and [`Mlp::init`] need, whatever the batch.
    pub fn scratch_len(&self) -> usize {
        let transposed: usize = self.layers().skip(1).filter(|l| !l.is_narrow()).map(|l| l.weight_len()).sum();
        let backward = transposed + 2 * BACKWARD_ROWS * self.layers().map(|l| l.output).fold(0, usize::max);
        self.layers().map(|l| orthogonal_scratch_len(l.rows(), l.columns())).fold(backward, usize::max)
    }

    /// Numbers of scratch that [`Mlp::infer`] needs: more for a larger batch, but not for ever.
    pub fn infer_scratch_len(&self, batch: usize) -> usize {
        self.tape_len(batch.min(ROWS))
    }

    #[inline(always)]
    fn layers(&self) -> impl Iterator<Item = Layer> {
        let sizes = self.sizes.iter().zip(self.sizes.iter().skip(1)).take(self.num_layers);
        sizes.scan(0, |end, (&input, &output)| {
            let layer = Layer { input, output, start: *end };
            *end += layer.weight_len() + output;
            Some(layer)
        })
    }

    /// Draws orthogonal weights, of gain √2 in hidden layers and `gain_out` in the last; biases are 0. `scratch` has at
    /// least [`Mlp::scratch_len`] numbers, whose values do not matter.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small; `Value` for a gain that is not finite. Nothing is
    /// written then.
    pub fn init(&self, params: &mut [f32], gain_out: f32, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        check_len("mlp: parameters of length", params, self.param_len())?;
        check_scratch(scratch, self.scratch_len())?;
        if !gain_out.is_finite() {
            return Err(Error::new(Kind::Value, "mlp: a finite gain").given_f32(gain_out));
        }
        for (i, layer) in self.layers().enumerate() {
            let (w, b) = layer.of_mut(params).ok_or(MISFIT)?;
            let gain = if i + 1 == self.num_layers { gain_out } else { core::f32::consts::SQRT_2 };
            orthogonal(w, layer.rows(), layer.columns(), gain, rng, scratch)?;
            b.fill(0.0);
        }
        Ok(())
    }

    /// `out[batch, output]` of `x[batch, input]`; `tape[tape_len(batch)]` keeps what [`Mlp::backward`] needs.
    ///
    /// A row's result does not depend on the other rows. Errors: `Shape`; nothing is written then.
    pub fn forward(&self, params: &[f32], x: &[f32], batch: usize, tape: &mut [f32], out: &mut [f32]) -> Result {
        self.check(params, x, batch, out)?;
        check_len("mlp: tape of length", tape, self.tape_len(batch))?;
        cpu::dispatch(Forward { mlp: *self, params, x, out, tape, tape_rows: batch }).ok_or(MISFIT)
    }

    /// [`Mlp::forward`] without a tape, and the same bits. `scratch` has at least [`Mlp::infer_scratch_len`] numbers,
    /// whose values do not matter.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    pub fn infer(&self, params: &[f32], x: &[f32], batch: usize, scratch: &mut [f32], out: &mut [f32]) -> Result {
        self.check(params, x, batch, out)?;
        check_scratch(scratch, self.infer_scratch_len(batch))?;
        cpu::dispatch(Forward { mlp: *self, params, x, out, tape: scratch, tape_rows: batch.min(ROWS) }).ok_or(MISFIT)
    }

    /// The gradients of the parameters, `grads[param_len]`, from `d_out[batch, output]` and the tape that
    /// [`Mlp::forward`] left for the same `params` and `x`. `grads` is overwritten. Sums run over the rows upwards.
    /// `scratch` has at least [`Mlp::scratch_len`] numbers, whose values do not matter.
    ///
    /// Errors: `Shape`; `Size` for a scratch that is too small; nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn backward(
        &self,
        params: &[f32],
        x: &[f32],
        batch: usize,
        tape: &[f32],
        d_out: &[f32],
        grads: &mut [f32],
        scratch: &mut [f32],
    ) -> Result {
        self.check(params, x, batch, d_out)?;
        check_len("mlp: tape of length", tape, self.tape_len(batch))?;
        check_len("mlp: gradients of length", grads, self.param_len())?;
        check_scratch(scratch, self.scratch_len())?;
        cpu::dispatch(Backward { mlp: *self, params, x, batch, tape, d_out, grads, scratch }).ok_or(MISFIT)
    }

    fn check(&self, params: &[f32], x: &[f32], batch: usize, out: &[f32]) -> Result {
        check_len("mlp: parameters of length", params, self.param_len())?;
        check_len("mlp: input of length", x, batch.saturating_mul(self.input()))?;
        check_len("mlp: output of length", out, batch.saturating_mul(self.output()))
    }

    /// Reads layer `index` (0 is next to the input): `weights[output, input]`, `bias[output]`.
    ///
    /// Errors: `Range` for a layer that is not there; `Shape`.
    pub fn read_layer(&self, params: &[f32], index: usize, weights: &mut [f32], bias: &mut [f32]) -> Result {
        let layer = self.check_layer(params, index, weights, bias)?;
        let (w, b) = layer.of(params).ok_or(MISFIT)?;
        if layer.is_narrow() {
            copy(w, weights);
        } else {
            matmul::transpose(w, weights, layer.input, layer.output).ok_or(MISFIT)?;
        }
        copy(b, bias);
        Ok(())
    }

    /// Writes layer `index` (0 is next to the input) from `weights[output, input]` and `bias[output]`.
    ///
    /// Errors: `Range` for a layer that is not there; `Shape`.
    pub fn write_layer(&self, params: &mut [f32], index: usize, weights: &[f32], bias: &[f32]) -> Result {
        let layer = self.check_layer(params, index, weights, bias)?;
        let (w, b) = layer.of_mut(params).ok_or(MISFIT)?;
        if layer.is_narrow() {
            copy(weights, w);
        } else {
            matmul::transpose(weights, w, layer.output, layer.input).ok_or(MISFIT)?;
        }
        copy(bias, b);
        Ok(())
    }

    fn check_layer(&self, params: &[f32], index: usize, weights: &[f32], bias: &[f32]) -> Result<Layer> {
        check_len("mlp: parameters of length", params, self.param_len())?;
        let missing = Error::new(Kind::Range, "mlp: a layer below").needed(self.num_layers).given(index);
        let layer = self.layers().nth(index).ok_or(missing)?;
        check_len("mlp: layer weights of length", weights, layer.weight_len())?;
        check_len("mlp: layer bias of length", bias, layer.output)?;
        Ok(layer)
    }
}

/// What a kernel reports if a length does not fit after all; the checks before it exclude that.
const MISFIT: Error = Error::new(Kind::Shape, "mlp: arrays as the sizes say");

fn check_scratch(scratch: &[f32], len: usize) -> Result {
    if scratch.len() >= len {
        Ok(())
    } else {
        Err(Error::new(Kind::Size, "mlp: scratch of at least").needed(len).given(scratch.len()))
    }
}

#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// [`num::canonical`] of all.
#[inline(always)]
fn canonical(x: &mut [f32]) {
    for x in x {
        *x = num::canonical(*x);
    }
}

/// The rows `[begin, begin + len)` of an array with `width` numbers a row.
#[derive(Clone, Copy)]
struct Rows {
    begin: usize,
    len: usize,
}

impl Rows {
    #[inline(always)]
    fn of<'a>(&self, a: &'a [f32], width: usize) -> Option<&'a [f32]> {
        a.get(self.begin * width..)?.get(..self.len * width)
    }

    #[inline(always)]
    fn of_mut<'a>(&self, a: &'a mut [f32], width: usize) -> Option<&'a mut [f32]> {
        a.get_mut(self.begin * width..)?.get_mut(..self.len * width)
    }
}

#[inline(always)]
fn row_blocks<const N: usize>(batch: usize) -> impl Iterator<Item = Rows> {
    (0..batch).step_by(N).map(move |begin| Rows { begin, len: (batch - begin).min(N) })
}

struct Forward<'a> {
    mlp: Mlp,
    params: &'a [f32],
    x: &'a [f32],
    out: &'a mut [f32],
    /// Activations, `[tape_rows, size]` a layer: of every row, or of [`ROWS`] rows until the next ones replace them.
    tape: &'a mut [f32],
    tape_rows: usize,
}

impl Kernel for Forward<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let batch = self.out.len().checked_div(self.mlp.output())?;
        for rows in row_blocks::<ROWS>(batch) {
            let taped = if self.tape_rows == batch { rows } else { Rows { begin: 0, ..rows } };
            let mut x = rows.of(self.x, self.mlp.input())?;
            let (mut tape, mut out) = (&mut *self.tape, rows.of_mut(self.out, self.mlp.output())?);
            for (i, layer) in self.mlp.layers().enumerate() {
                let is_last = i + 1 == self.mlp.num_layers;
                let y = if is_last {
                    take(&mut out)
                } else {
                    let (y, rest) = take(&mut tape).split_at_mut_checked(self.tape_rows * layer.output)?;
                    tape = rest;
                    taped.of_mut(y, layer.output)?
                };
                let (w, bias) = layer.of(self.params)?;
                let (k, n) = (layer.input, layer.output);
                if layer.is_narrow() {
                    at.call(Dots { x, w, bias, y, k, n })?;
                } else {
                    at.call(Affine { x, w, bias: Some(bias), y, k, n })?;
                }
                if is_last {
                    canonical(y);
                    break;
                }
                self.mlp.activation.apply(y);
                x = y;
            }
        }
        Some(())
    }
}

struct Backward<'a> {
    mlp: Mlp,
    params: &'a [f32],
    x: &'a [f32],
    batch: usize,
    tape: &'a [f32],
    d_out: &'a [f32],
    grads: &'a mut [f32],
    scratch: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let Backward { mlp, params, x, batch, tape, d_out, grads, scratch } = self;
        let half = BACKWARD_ROWS * mlp.layers().map(|l| l.output).fold(0, usize::max);
        let (mut from, rest) = scratch.split_at_mut_checked(half)?;
        let (mut to, transposed) = rest.split_at_mut_checked(half)?;

        // What each layer reads, and its weights output-major.
        let mut layers = [Layer { input: 0, output: 0, start: 0 }; MAX_LAYERS];
        let mut inputs: [&[f32]; MAX_LAYERS] = [x; MAX_LAYERS];
        let mut weights: [&[f32]; MAX_LAYERS] = [&[]; MAX_LAYERS];
        let (mut tape, mut transposed) = (tape, transposed);
        for (i, layer) in mlp.layers().enumerate() {
            *layers.get_mut(i)? = layer;
            if i == 0 {
                continue;
            }
            let (input, rest) = tape.split_at_checked(batch * layer.input)?;
            (*inputs.get_mut(i)?, tape) = (input, rest);
            let (w, _) = layer.of(params)?;
            *weights.get_mut(i)? = if layer.is_narrow() {
                w
            } else {
                let (t, rest) = transposed.split_at_mut_checked(layer.weight_len())?;
                matmul::transpose(w, t, layer.input, layer.output)?;
                transposed = rest;
                t
            };
        }

        grads.fill(0.0);
        for rows in row_blocks::<BACKWARD_ROWS>(batch) {
            let d_out = rows.of(d_out, mlp.output())?;
            copy(d_out, from.get_mut(..d_out.len())?);
            for i in (0..mlp.num_layers).rev() {
                let layer = layers.get(i)?;
                let dy = from.get(..rows.len * layer.output)?;
                let x = rows.of(inputs.get(i)?, layer.input)?;
                let (dw, db) = layer.of_mut(grads)?;
                let (a, b) = if layer.is_narrow() { (dy, x) } else { (x, dy) };
                at.call(AddOuter { x: a, dy: b, dw, k: layer.rows(), n: layer.columns() })?;
                matmul::add_rows(dy, db)?;
                if i > 0 {
                    let dx = to.get_mut(..rows.len * layer.input)?;
                    let (k, n) = (layer.output, layer.input);
                    at.call(Affine { x: dy, w: weights.get(i)?, bias: None, y: dx, k, n })?;
                    mlp.activation.apply_slope(dx, x);
                    swap(&mut from, &mut to);
                }
            }
        }
        canonical(grads);
        Some(())
    }
}
