//! A dense layer. Its parameters are weights, then bias `[units]` if it has one. Weights lie input-major, `[input, units]`;
//! with fewer than 16 units, output-major, `[units, input]`, so that vectors run along the inputs.

use super::{Prim, RowWise, copy};
use crate::cpu::At;
use crate::error::Result;
use crate::nn::initializer::Start;
use crate::nn::matmul::{self, AddOuter, Affine, Dots, Flat, LANES};
use crate::rng::Rng;

/// The shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Dense {
    pub input: usize,
    pub units: usize,
    pub has_bias: bool,
}

impl Dense {
    #[inline(always)]
    fn weight_len(self) -> usize {
        self.input * self.units
    }

    #[inline(always)]
    fn bias_len(self) -> usize {
        if self.has_bias { self.units } else { 0 }
    }

    /// Output-major, because there are too few outputs to fill a vector.
    #[inline(always)]
    fn is_narrow(self) -> bool {
        self.units < LANES
    }

    /// Rows and columns of the weights as they lie.
    #[inline(always)]
    fn lies(self) -> (usize, usize) {
        if self.is_narrow() { (self.units, self.input) } else { (self.input, self.units) }
    }
}

impl Prim for Dense {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.weight_len() + self.bias_len()
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

    /// The bias starts at 0.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (w, bias) = params.split_at_mut_checked(self.weight_len()).unwrap_or_default();
        bias.fill(0.0);
        if self.is_narrow() {
            start.fill_by_output(w, self.units, self.input, rng, scratch)
        } else {
            start.fill(w, self.input, self.units, rng, scratch)
        }
    }

    fn shape(self) -> (usize, usize) {
        (self.weight_len(), self.bias_len())
    }

    /// Weights are `[units, input]`.
    fn read(self, params: &[f32], weights: &mut [f32], bias: &mut [f32]) -> Option<()> {
        let (w, b) = params.split_at_checked(self.weight_len())?;
        copy(b, bias)?;
        if self.is_narrow() { copy(w, weights) } else { matmul::transpose(w, weights, self.input, self.units) }
    }

    /// Weights are `[units, input]`.
    fn write(self, params: &mut [f32], weights: &[f32], bias: &[f32]) -> Option<()> {
        let (w, b) = params.split_at_mut_checked(self.weight_len())?;
        copy(bias, b)?;
        if self.is_narrow() { copy(weights, w) } else { matmul::transpose(weights, w, self.units, self.input) }
    }
}

impl RowWise for Dense {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (w, bias) = params.split_at_checked(self.weight_len())?;
        let (k, n, bias) = (self.input, self.units, if self.has_bias { Some(bias) } else { None });
        if self.is_narrow() {
            at.call(Dots { x, w, bias, y, k, n })
        } else {
            at.call(Affine { x, rows: Flat(k), w, bias, y, n })
        }
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (dw, db) = grads.split_at_mut_checked(self.weight_len())?;
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
