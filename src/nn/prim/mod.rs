//! What nodes do: the forward pass, the gradients and the parameters of each kind of layer.
//!
//! Each primitive is plain shapes. It is inlined into the kernel that calls it, at that kernel's level, and reports `None` if a
//! length does not fit; the network checks lengths first, so it does not happen.

#[cfg(feature = "recurrent")]
mod cell;
#[cfg(feature = "pictures")]
mod conv;
mod dense;
#[cfg(feature = "pictures")]
mod norm;
#[cfg(feature = "pictures")]
mod pool;

#[cfg(feature = "recurrent")]
pub(super) use cell::{Cell, Flow, Recurrent};
#[cfg(feature = "pictures")]
pub(super) use conv::{Conv, Frame};
pub(super) use dense::Dense;
#[cfg(feature = "pictures")]
pub(super) use norm::Norm;
#[cfg(feature = "pictures")]
pub(super) use pool::Pool;

use crate::cpu::At;
use crate::error::Result;
use crate::rng::Rng;

/// Rows of `len`. Pairs of `chunks_exact` alone would divide where optimisers may not
/// see that the length is not zero.
#[cfg(any(feature = "pictures", feature = "recurrent"))]
#[inline(always)]
fn rows<T>(all: &[T], len: usize) -> impl Iterator<Item = &[T]> {
    let mut rows = all.chunks_exact(len.max(1));
    core::iter::from_fn(move || rows.next())
}

/// [`rows`] that are written.
#[cfg(any(feature = "pictures", feature = "recurrent"))]
#[inline(always)]
fn rows_mut<T>(all: &mut [T], len: usize) -> impl Iterator<Item = &mut [T]> {
    let mut rows = all.chunks_exact_mut(len.max(1));
    core::iter::from_fn(move || rows.next())
}

/// The shape of a layer, and what it does with rows of numbers.
pub(super) trait Prim: Copy {
    /// Numbers in its parameters.
    fn param_len(self) -> usize {
        0
    }

    /// `y[m, output]` of `x[m, input]`.
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()>;

    /// Adds the gradients of the parameters, rows upwards.
    fn add_gradients<A: At>(self, _at: A, _x: &[f32], _dy: &[f32], _g: &mut [f32], _work: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// Numbers of the copy of parameters that [`Prim::input_gradient`] reads; 0 if it reads the parameters themselves.
    fn turned_len(self) -> usize {
        0
    }

    /// Makes that copy.
    fn turn(self, _params: &[f32], _turned: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// `dx[m, input]` of `dy[m, output]` and of the `x` that went in.
    #[allow(clippy::too_many_arguments)]
    fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        turned: &[f32],
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()>;

    /// Numbers of working memory of a pass of so many rows.
    fn work_len(self, _rows: usize) -> usize {
        0
    }

    /// Numbers of scratch that [`Prim::init`] needs.
    fn init_scratch_len(self) -> usize {
        0
    }

    /// Draws the parameters that it starts with.
    fn init(self, _params: &mut [f32], _gain: f32, _rng: &mut Rng, _scratch: &mut [f32]) -> Result {
        Ok(())
    }

    /// Numbers in the weights and in the biases that hosts read and write.
    fn shape(self) -> (usize, usize) {
        (0, 0)
    }

    /// Copies the weights out, and the biases.
    fn read(self, _params: &[f32], _weights: &mut [f32], _bias: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// Copies the weights in, and the biases.
    fn write(self, _params: &mut [f32], _weights: &[f32], _bias: &[f32]) -> Option<()> {
        Some(())
    }
}

/// One of them, as a node says.
#[derive(Clone, Copy)]
pub(super) enum Op {
    Dense(Dense),
    #[cfg(feature = "pictures")]
    Conv(Conv),
    #[cfg(feature = "pictures")]
    Pool(Pool),
    #[cfg(feature = "pictures")]
    Norm(Norm),
    #[cfg(feature = "recurrent")]
    Recurrent(Recurrent),
}

macro_rules! each {
    ($op:expr, $prim:ident => $does:expr) => {
        match $op {
            Op::Dense($prim) => $does,
            #[cfg(feature = "pictures")]
            Op::Conv($prim) => $does,
            #[cfg(feature = "pictures")]
            Op::Pool($prim) => $does,
            #[cfg(feature = "pictures")]
            Op::Norm($prim) => $does,
            #[cfg(feature = "recurrent")]
            Op::Recurrent($prim) => $does,
        }
    };
}

impl Prim for Op {
    fn param_len(self) -> usize {
        each!(self, p => p.param_len())
    }

    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        each!(self, p => p.forward(at, params, x, y, work))
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], g: &mut [f32], work: &mut [f32]) -> Option<()> {
        each!(self, p => p.add_gradients(at, x, dy, g, work))
    }

    fn turned_len(self) -> usize {
        each!(self, p => p.turned_len())
    }

    #[inline(always)]
    fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
        each!(self, p => p.turn(params, turned))
    }

    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        turned: &[f32],
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        each!(self, p => p.input_gradient(at, params, turned, x, dy, dx, work))
    }

    fn work_len(self, rows: usize) -> usize {
        each!(self, p => p.work_len(rows))
    }

    fn init_scratch_len(self) -> usize {
        each!(self, p => p.init_scratch_len())
    }

    fn init(self, params: &mut [f32], gain: f32, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        each!(self, p => p.init(params, gain, rng, scratch))
    }

    fn shape(self) -> (usize, usize) {
        each!(self, p => p.shape())
    }

    fn read(self, params: &[f32], weights: &mut [f32], bias: &mut [f32]) -> Option<()> {
        each!(self, p => p.read(params, weights, bias))
    }

    fn write(self, params: &mut [f32], weights: &[f32], bias: &[f32]) -> Option<()> {
        each!(self, p => p.write(params, weights, bias))
    }
}

#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) -> Option<()> {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    Some(())
}
