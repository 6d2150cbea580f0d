//! Layer normalization to mean 0 and deviation 1, over the channels of each pixel or over a whole picture.
//!
//! Parameters: a scale for each channel, then a bias for each channel, if present.

#[cfg(feature = "pictures")]
use super::{Layered, Local, Op, Scope, Sort};
use super::{Prim, RowWise, copy, rows, rows_mut};
use crate::cpu::At;
use crate::error::Result;
use crate::nn::initializer::Start;
#[cfg(feature = "pictures")]
use crate::nn::layer::{Layer, NO_BIAS, NO_SCALE, RMS, WHOLE};
#[cfg(feature = "pictures")]
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::num;
use crate::rng::Rng;

/// Epsilon that a normalization layer adds to a variance, as in PyTorch.
#[cfg(feature = "pictures")]
const EPSILON: f32 = 1e-5;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Norm {
    /// Number of values that are normalized together.
    pub len: usize,
    pub channels: usize,
    pub has_scale: bool,
    pub has_bias: bool,
    /// Whether the mean is subtracted; else values are only divided by their root mean square.
    pub centres: bool,
    /// Added to a variance, so that its root has an inverse.
    pub epsilon: f32,
}

#[cfg(feature = "pictures")]
impl Layered for Norm {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Pixel;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let channels = node.output[2] as usize;
        Op::Local(Local::Norm(Norm {
            len: if node.has(WHOLE) { node.input(0) } else { channels },
            channels,
            has_scale: !node.has(NO_SCALE),
            has_bias: !node.has(NO_BIAS),
            centres: !node.has(RMS),
            epsilon: EPSILON,
        }))
    }

    fn set_shape(node: &mut Node, _: &Layer, _: usize, (): ()) -> Result {
        node.output = node.input[0];
        Ok(())
    }
}

impl Norm {
    #[inline(always)]
    fn scale_len(self) -> usize {
        if self.has_scale { self.channels } else { 0 }
    }

    /// Scale and bias; each empty if there is none.
    #[inline(always)]
    fn split(self, params: &[f32]) -> Option<(&[f32], &[f32])> {
        params.split_at_checked(self.scale_len())
    }

    /// Mean to subtract, and factor of the difference.
    #[inline(always)]
    fn moments(self, x: &[f32]) -> (f32, f32) {
        let share = 1.0 / self.len as f32;
        let mean = if self.centres { num::sum(x) * share } else { 0.0 };
        let mut squares = [0.0; 16];
        let (chunks, rest) = x.as_chunks::<16>();
        for chunk in chunks {
            for (square, x) in squares.iter_mut().zip(chunk) {
                *square += (x - mean) * (x - mean);
            }
        }
        for (square, x) in squares.iter_mut().zip(rest) {
            *square += (x - mean) * (x - mean);
        }
        (mean, 1.0 / num::sqrt(num::tree(squares) * share + self.epsilon))
    }

    /// Normalizes a row of `x` into `y`, with this scale and this bias.
    #[inline(always)]
    pub(super) fn apply(self, scale: &[f32], bias: &[f32], x: &[f32], y: &mut [f32]) {
        let (mean, factor) = self.moments(x);
        for (x, y) in x.iter().zip(&mut *y) {
            *y = (x - mean) * factor;
        }
        for y in rows_mut(y, self.channels) {
            y.iter_mut().zip(scale).for_each(|(y, scale)| *y *= scale);
            y.iter_mut().zip(bias).for_each(|(y, bias)| *y += bias);
        }
    }

    /// Adds the gradients of scale and bias from a row.
    #[inline(always)]
    pub(super) fn learn(self, x: &[f32], dy: &[f32], d_scale: &mut [f32], d_bias: &mut [f32]) {
        let (mean, factor) = self.moments(x);
        for (x, dy) in rows(x, self.channels).zip(rows(dy, self.channels)) {
            for ((d_scale, x), dy) in d_scale.iter_mut().zip(x).zip(dy) {
                *d_scale += (x - mean) * factor * dy;
            }
            d_bias.iter_mut().zip(dy).for_each(|(d_bias, dy)| *d_bias += dy);
        }
    }

    /// Replaces the gradients of a row of outputs by those of the inputs `x`.
    #[inline(always)]
    pub(super) fn retreat(self, scale: &[f32], x: &[f32], d: &mut [f32], work: &mut [f32]) -> Option<()> {
        let share = 1.0 / self.len as f32;
        let (normal, products) = work.split_at_mut_checked(self.len)?;
        let (mean, factor) = self.moments(x);
        normal.iter_mut().zip(x).for_each(|(normal, x)| *normal = (x - mean) * factor);
        for d in rows_mut(d, self.channels) {
            d.iter_mut().zip(scale).for_each(|(d, scale)| *d *= scale);
        }
        let products = products.get_mut(..self.len)?;
        for ((product, d), normal) in products.iter_mut().zip(&*d).zip(&*normal) {
            *product = d * normal;
        }
        let along = num::sum(products) * share;
        let mean = if self.centres { num::sum(d) * share } else { 0.0 };
        for (d, normal) in d.iter_mut().zip(&*normal) {
            *d = (*d - mean - normal * along) * factor;
        }
        Some(())
    }
}

impl Prim for Norm {
    fn param_len(self) -> usize {
        self.scale_len() + if self.has_bias { self.channels } else { 0 }
    }

    fn work_len(self, _: usize) -> usize {
        2 * self.len
    }

    /// Scales start at 1 and biases at 0.
    fn init(self, params: &mut [f32], _: Start, _: &mut Rng, _: &mut [f32]) -> Result {
        let (scale, bias) = params.split_at_mut_checked(self.scale_len()).unwrap_or_default();
        scale.fill(1.0);
        bias.fill(0.0);
        Ok(())
    }

    fn tensors(self) -> Tensors {
        let scale = self.scale_len();
        let bias = Tensor::vector("bias", scale, self.param_len().saturating_sub(scale));
        Tensors::of([Tensor::weights("weight", 0, [(scale, 1)]), bias])
    }
}

impl RowWise for Norm {
    #[inline(always)]
    fn forward<A: At>(self, _: A, params: &[f32], x: &[f32], y: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (scale, bias) = self.split(params)?;
        for (x, y) in rows(x, self.len).zip(rows_mut(y, self.len)) {
            self.apply(scale, bias, x, y);
        }
        Some(())
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, _: A, x: &[f32], dy: &[f32], grads: &mut [f32], _: &mut [f32]) -> Option<()> {
        let (d_scale, d_bias) = grads.split_at_mut_checked(self.scale_len())?;
        for (x, dy) in rows(x, self.len).zip(rows(dy, self.len)) {
            self.learn(x, dy, d_scale, d_bias);
        }
        Some(())
    }

    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        _: A,
        params: &[f32],
        _: &[f32],
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        let (scale, _) = self.split(params)?;
        for ((x, dy), dx) in rows(x, self.len).zip(rows(dy, self.len)).zip(rows_mut(dx, self.len)) {
            copy(dy, dx)?;
            self.retreat(scale, x, dx, work)?;
        }
        Some(())
    }
}
