//! A dense layer. Its parameters are weights, then bias `[units]`. Weights lie input-major, `[input, units]`; with fewer
//! than 16 units, output-major, `[units, input]`, so that vectors run along the inputs.

use crate::cpu::At;
use crate::error::Result;
use crate::nn::matmul::{self, AddOuter, Affine, Dots, LANES};
use crate::nn::orthogonal::{orthogonal, orthogonal_scratch_len};
use crate::rng::Rng;

/// The shape of a layer.
#[derive(Clone, Copy)]
pub(super) struct Dense {
    pub input: usize,
    pub units: usize,
}

impl Dense {
    #[inline(always)]
    pub fn weight_len(self) -> usize {
        self.input * self.units
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

    /// `y[m, units]` of `x[m, input]`.
    #[inline(always)]
    pub fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32]) -> Option<()> {
        let (w, bias) = params.split_at_checked(self.weight_len())?;
        let (k, n) = (self.input, self.units);
        if self.is_narrow() {
            at.call(Dots { x, w, bias, y, k, n })
        } else {
            at.call(Affine { x, w, bias: Some(bias), y, k, n })
        }
    }

    /// Adds the gradients of the parameters, rows upwards.
    #[inline(always)]
    pub fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32]) -> Option<()> {
        let (dw, db) = grads.split_at_mut_checked(self.weight_len())?;
        let ((k, n), (x, by)) = (self.lies(), if self.is_narrow() { (dy, x) } else { (x, dy) });
        at.call(AddOuter { x, dy: by, dw, k, n })?;
        matmul::add_rows(dy, db)
    }

    /// Numbers of the copy of the weights that [`Dense::input_gradient`] reads; 0 if it reads the parameters.
    pub fn turned_len(self) -> usize {
        if self.is_narrow() { 0 } else { self.weight_len() }
    }

    /// Makes that copy.
    #[inline(always)]
    pub fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
        if self.is_narrow() { Some(()) } else { matmul::transpose(params, turned, self.input, self.units) }
    }

    /// `dx[m, input]` of `dy[m, units]`.
    #[inline(always)]
    pub fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        turned: &[f32],
        dy: &[f32],
        dx: &mut [f32],
    ) -> Option<()> {
        let w = if self.is_narrow() { params.get(..self.weight_len())? } else { turned };
        at.call(Affine { x: dy, w, bias: None, y: dx, k: self.units, n: self.input })
    }

    pub fn init_scratch_len(self) -> usize {
        let (rows, columns) = self.lies();
        orthogonal_scratch_len(rows, columns)
    }

    /// Orthogonal weights and a bias of 0.
    pub fn init(self, params: &mut [f32], gain: f32, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (rows, columns) = self.lies();
        let (w, bias) = params.split_at_mut_checked(self.weight_len()).unwrap_or_default();
        orthogonal(w, rows, columns, gain, rng, scratch)?;
        bias.fill(0.0);
        Ok(())
    }

    /// Copies the weights out, `[units, input]`.
    pub fn read(self, w: &[f32], weights: &mut [f32]) -> Option<()> {
        if self.is_narrow() { copy(w, weights) } else { matmul::transpose(w, weights, self.input, self.units) }
    }

    /// Copies the weights in, from `[units, input]`.
    pub fn write(self, w: &mut [f32], weights: &[f32]) -> Option<()> {
        if self.is_narrow() { copy(weights, w) } else { matmul::transpose(weights, w, self.units, self.input) }
    }
}

#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) -> Option<()> {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    Some(())
}
