//! Dense layer. Parameters: weights, then bias `[units]` if there is one. Weights are input-major, `[input, units]`; with fewer
//! than 16 units, output-major, `[units, input]`, so that vectors run along the inputs. The deviations of a noisy layer follow
//! in the same layout.

use super::{Layered, Local, Most, Op, Prim, RowWise, Scope, Sort};
use crate::cpu::At;
use crate::error::{Error, Kind, Result};
use crate::nn::compile::product;
use crate::nn::initializer::{Initializer, Start};
use crate::nn::layer::{Layer, NO_BIAS};
use crate::nn::matmul::{self, AddOuter, Affine, Dots, Flat, LANES};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::num;
use crate::rng::Rng;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Dense {
    pub input: usize,
    pub units: usize,
    pub has_bias: bool,
    pub is_noisy: bool,
}

/// Numerator of the initial deviations of a noisy layer, over √n for n inputs.
const DEVIATION: f32 = 0.4;

impl Layered for Dense {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::All;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        Op::Local(Local::Dense(Dense::new(node)))
    }

    /// The output may be a picture.
    fn set_shape(node: &mut Node, layer: &Layer, number: usize, (): ()) -> Result {
        let [height, width] = layer.size;
        if !cfg!(feature = "pictures") || (height, width) == (0, 0) {
            return Ok(());
        }
        let pixels = height.checked_mul(width).filter(|&pixels| pixels > 0 && layer.units.is_multiple_of(pixels));
        let Some(channels) = pixels.and_then(|pixels| layer.units.checked_div(pixels)) else {
            let what = "net: a size whose product divides the units in layer";
            return Err(Error::new(Kind::Config, what).needed(number).given(layer.units as usize));
        };
        node.output = [height, width, channels];
        Ok(())
    }

    fn describe(node: &Node, layer: &mut Layer) {
        let [height, width, _] = node.output;
        if cfg!(feature = "pictures") {
            layer.units = node.output.iter().fold(1, |all: u32, len| all.saturating_mul(*len));
            layer.size = if [height, width] == [1, 1] { [0, 0] } else { [height, width] };
        }
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        let weights = product(&[read, made])?.saturating_mul(if node.is_noisy() { 2 } else { 1 });
        Ok(Most { weights, padded: 0, row: read.max(made) })
    }
}

impl Dense {
    #[inline(always)]
    pub fn new(node: &Node) -> Dense {
        let (input, units) = (node.input(0), node.units());
        Dense { input, units, has_bias: !node.has(NO_BIAS), is_noisy: node.is_noisy() }
    }

    #[inline(always)]
    fn weight_len(self) -> usize {
        self.input * self.units
    }

    #[inline(always)]
    fn bias_len(self) -> usize {
        if self.has_bias { self.units } else { 0 }
    }

    /// Length of weights and biases.
    #[inline(always)]
    fn half(self) -> usize {
        self.weight_len() + self.bias_len()
    }

    /// 2 if there are deviations, else 1.
    #[inline(always)]
    fn halves(self) -> usize {
        1 + usize::from(cfg!(feature = "noisy") && self.is_noisy)
    }

    /// Weights, and bias if there is one, of half `k` of the parameters.
    #[inline(always)]
    fn split(self, params: &[f32], k: usize) -> Option<(&[f32], &[f32])> {
        let own = if cfg!(feature = "noisy") { params.get(k * self.half()..(k + 1) * self.half())? } else { params };
        own.split_at_checked(self.weight_len())
    }

    /// Mutable `split`.
    #[inline(always)]
    fn split_mut(self, params: &mut [f32], k: usize) -> Option<(&mut [f32], &mut [f32])> {
        let own =
            if cfg!(feature = "noisy") { params.get_mut(k * self.half()..(k + 1) * self.half())? } else { params };
        own.split_at_mut_checked(self.weight_len())
    }

    /// Whether weights are output-major: there are too few outputs to fill a vector.
    #[inline(always)]
    fn is_narrow(self) -> bool {
        self.units < LANES
    }

    /// Offset of the weight from an input to a unit.
    fn place(self, unit: usize, input: usize) -> usize {
        if self.is_narrow() { unit * self.input + input } else { input * self.units + unit }
    }

    /// Averages the parameters, without deviations, of each `group` adjacent units to those of a layer with fewer units.
    pub fn average(self, group: usize, params: &[f32], to: &mut [f32]) -> Option<()> {
        let few = Dense { units: self.units.checked_div(group)?, ..self };
        let (w, b) = self.split(params, 0)?;
        let (few_w, few_b) = to.split_at_mut_checked(few.weight_len())?;
        for unit in 0..few.units {
            for input in 0..self.input {
                let mut sum = 0.0;
                for k in 0..group {
                    sum += *w.get(self.place(unit * group + k, input))?;
                }
                *few_w.get_mut(few.place(unit, input))? = sum / group as f32;
            }
        }
        for (few, b) in few_b.iter_mut().zip(b.chunks_exact(group.max(1))) {
            *few = b.iter().sum::<f32>() / group as f32;
        }
        Some(())
    }

    /// Rows and columns of the weights in memory.
    #[inline(always)]
    fn lies(self) -> (usize, usize) {
        if self.is_narrow() { (self.units, self.input) } else { (self.input, self.units) }
    }
}

impl Prim for Dense {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.half() * self.halves()
    }

    fn turned_len(self) -> usize {
        if self.is_narrow() { 0 } else { self.weight_len() }
    }

    #[inline(always)]
    fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
        if self.is_narrow() { Some(()) } else { matmul::transpose(params, turned, self.input, self.units) }
    }

    fn init_scratch_len(self) -> usize {
        let (rows, columns) = self.lies();
        Start::scratch_len(rows, columns)
    }

    /// The bias starts at 0; that of a noisy layer with uniform weights is drawn like them.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (means, deviations) = params.split_at_mut_checked(self.half()).unwrap_or_default();
        if self.halves() > 1 {
            deviations.fill(DEVIATION / num::sqrt(self.input as f32));
        }
        let (w, bias) = means.split_at_mut_checked(self.weight_len()).unwrap_or_default();
        bias.fill(0.0);
        if self.is_narrow() {
            start.fill_by_output(w, self.units, self.input, rng, scratch)?;
        } else {
            start.fill(w, self.input, self.units, rng, scratch)?;
        }
        if self.halves() > 1 && start.initializer == Initializer::Uniform {
            start.fill(bias, self.input, 1, rng, scratch)?;
        }
        Ok(())
    }

    fn tensors(self) -> Tensors {
        let axes = if self.is_narrow() {
            [(self.units, self.input), (self.input, 1)]
        } else {
            [(self.units, 1), (self.input, self.units)]
        };
        let of = |half: usize, weight, bias| {
            let begin = half.saturating_mul(self.half());
            let bias = Tensor::vector(bias, begin.saturating_add(self.weight_len()), self.bias_len());
            [Tensor::weights(weight, begin, axes).of_input(), bias]
        };
        let [weight, bias] = of(0, "weight", "bias");
        if self.halves() == 1 {
            return Tensors::of([weight, bias]);
        }
        let [deviation, bias_deviation] = of(1, "weight_sigma", "bias_sigma");
        Tensors::of([weight, deviation, bias, bias_deviation])
    }
}

impl Dense {
    /// Length of its noise: one value per input, then one per output.
    pub fn noise_len(self) -> usize {
        self.input + self.units
    }

    /// Calls `f` with each mean, its deviation, and the noise of that.
    pub fn each_noisy(self, params: &mut [f32], noise: &[f32], f: impl Fn(&mut f32, &mut f32, f32)) -> Option<()> {
        let (read, made) = noise.split_at_checked(self.input)?;
        let (rows, columns) = if self.is_narrow() { (made, read) } else { (read, made) };
        let (means, deviations) = params.split_at_mut_checked(self.half())?;
        let (w, bias) = means.split_at_mut_checked(self.weight_len())?;
        let (w_deviations, bias_deviations) = deviations.split_at_mut_checked(self.weight_len())?;
        let width = columns.len().max(1);
        for ((w, deviations), row) in w.chunks_exact_mut(width).zip(w_deviations.chunks_exact_mut(width)).zip(rows) {
            for ((w, deviation), column) in w.iter_mut().zip(deviations).zip(columns) {
                f(w, deviation, row * column);
            }
        }
        for ((b, deviation), made) in bias.iter_mut().zip(bias_deviations).zip(made) {
            f(b, deviation, *made);
        }
        Some(())
    }
}

impl RowWise for Dense {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (w, bias) = self.split(params, 0)?;
        let (k, n, bias) = (self.input, self.units, if self.has_bias { Some(bias) } else { None });
        if self.is_narrow() {
            at.call(Dots { x, w, bias, y, k, n })
        } else {
            at.call(Affine { x, rows: Flat(k), w, bias, y, n })
        }
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (dw, db) = self.split_mut(grads, 0)?;
        let ((k, n), (x, by)) = (self.lies(), if self.is_narrow() { (dy, x) } else { (x, dy) });
        at.call(AddOuter { x, rows: Flat(k), dy: by, dw, n })?;
        if self.has_bias { matmul::add_rows(dy, db) } else { Some(()) }
    }

    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        turned: &[f32],
        _: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        _: &mut [f32],
    ) -> Option<()> {
        let w = if self.is_narrow() { params.get(..self.weight_len())? } else { turned };
        at.call(Affine { x: dy, rows: Flat(self.units), w, bias: None, y: dx, n: self.input })
    }
}
