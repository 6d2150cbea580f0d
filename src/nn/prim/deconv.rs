//! Transposed convolution: each pixel adds a patch to a larger picture, the adjoint of a convolution over that picture.
//!
//! Parameters: weights `[kernel height, kernel width, units, channels]`, then bias `[units]` if there is one.

use super::conv::{Conv, Frame, Windows};
use super::{Layered, Local, Most, Op, Prim, RowWise, Scope, Sort, rows, rows_mut};
use crate::cpu::At;
use crate::error::Result;
use crate::nn::initializer::Start;
use crate::nn::layer::{Layer, NO_BIAS};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::rng::Rng;

/// Shape of a layer: that of the convolution from its output to its input.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Deconv {
    pub conv: Conv,
    pub has_bias: bool,
}

impl Layered for Deconv {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Spread;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let ([[.., read], _], frame) = (node.input, Frame::of(node, node.output, node.input[0]));
        let conv = Conv { frame, units: read as usize, has_bias: false };
        Op::Local(Local::Deconv(Deconv { conv, has_bias: !node.has(NO_BIAS) }))
    }

    fn set_shape(node: &mut Node, layer: &Layer, number: usize, (): ()) -> Result {
        Frame::set_shape(node, layer, number, Windows::Made, layer.units)
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        Frame::most(node, read, made)
    }
}

impl Deconv {
    #[inline(always)]
    fn units(self) -> usize {
        let [.., units] = self.conv.frame.input;
        units
    }
}

impl Prim for Deconv {
    fn param_len(self) -> usize {
        self.conv.weight_len() + if self.has_bias { self.units() } else { 0 }
    }

    fn work_len(self, rows: usize) -> usize {
        self.conv.weight_len() + self.conv.work_len(rows)
    }

    fn init_scratch_len(self) -> usize {
        self.conv.init_scratch_len()
    }

    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (w, bias) = params.split_at_mut_checked(self.conv.weight_len()).unwrap_or_default();
        bias.fill(0.0);
        self.conv.init(w, start, rng, scratch)
    }

    /// Weights are `[channels, units, height, width]`.
    fn tensors(self) -> Tensors {
        let mut all = self.conv.tensors();
        all.push(Tensor::vector("bias", self.conv.weight_len(), if self.has_bias { self.units() } else { 0 }));
        all
    }
}

impl RowWise for Deconv {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        let (w, bias) = params.split_at_checked(self.conv.weight_len())?;
        let (turned, work) = work.split_at_mut_checked(w.len())?;
        self.conv.turn(w, turned)?;
        self.conv.input_gradient(at, w, turned, &[], x, &mut *y, work)?;
        for y in rows_mut(y, self.units()) {
            y.iter_mut().zip(bias).for_each(|(y, bias)| *y += bias);
        }
        Some(())
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32], work: &mut [f32]) -> Option<()> {
        let (dw, db) = grads.split_at_mut_checked(self.conv.weight_len())?;
        self.conv.add_gradients(at, dy, x, dw, work)?;
        for dy in rows(dy, self.units()) {
            db.iter_mut().zip(dy).for_each(|(db, dy)| *db += dy);
        }
        Some(())
    }

    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        _: &[f32],
        _: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        self.conv.forward(at, params.get(..self.conv.weight_len())?, dy, dx, work)
    }
}
