//! What nodes do: the forward pass, the gradients and the parameters of each kind of layer.
//!
//! Each primitive is plain shapes. It is inlined into the kernel that calls it, at that kernel's level, and reports `None` if a
//! length does not fit; the network checks lengths first, so it does not happen.

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "recurrent")]
mod cell;
#[cfg(feature = "pictures")]
mod conv;
#[cfg(feature = "pictures")]
mod deconv;
mod dense;
#[cfg(feature = "residual")]
mod embed;
#[cfg(feature = "recurrent")]
mod flow;
#[cfg(feature = "residual")]
mod merge;
#[cfg(any(feature = "pictures", feature = "recurrent"))]
mod norm;
#[cfg(feature = "pictures")]
mod pool;

#[cfg(feature = "attention")]
pub(super) use attention::Attention;
#[cfg(feature = "recurrent")]
pub(super) use cell::{Cell, Recurrent};
#[cfg(feature = "pictures")]
pub(super) use conv::{Conv, Frame};
#[cfg(feature = "pictures")]
pub(super) use deconv::Deconv;
pub(super) use dense::Dense;
#[cfg(feature = "residual")]
pub(super) use embed::Embed;
#[cfg(feature = "recurrent")]
pub(super) use flow::{Flow, Taped};
#[cfg(feature = "residual")]
pub(super) use merge::{Merge, Way};
#[cfg(feature = "pictures")]
pub(super) use norm::{EPSILON, Norm};
#[cfg(feature = "pictures")]
pub(super) use pool::Pool;

#[cfg(feature = "recurrent")]
use core::ops::Range;

use super::initializer::Start;
use crate::cpu::At;
use crate::error::Result;
use crate::rng::Rng;

/// Rows of `len`. Pairs of `chunks_exact` alone would divide where optimisers may not
/// see that the length is not zero.
#[cfg(any(feature = "pictures", feature = "recurrent", feature = "residual"))]
#[inline(always)]
fn rows<T>(all: &[T], len: usize) -> impl Iterator<Item = &[T]> {
    let mut rows = all.chunks_exact(len.max(1));
    core::iter::from_fn(move || rows.next())
}

/// [`rows`] that are written.
#[cfg(any(feature = "pictures", feature = "recurrent", feature = "residual"))]
#[inline(always)]
fn rows_mut<T>(all: &mut [T], len: usize) -> impl Iterator<Item = &mut [T]> {
    let mut rows = all.chunks_exact_mut(len.max(1));
    core::iter::from_fn(move || rows.next())
}

#[inline(always)]
pub(super) fn copy(from: &[f32], to: &mut [f32]) -> Option<()> {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    Some(())
}

/// The shape of a layer, and its parameters. By default it has none.
pub(super) trait Prim: Copy {
    /// Numbers in its parameters.
    fn param_len(self) -> usize {
        0
    }

    /// Numbers of the copy of parameters that gradients of inputs ask for; 0 if they read the parameters themselves.
    fn turned_len(self) -> usize {
        0
    }

    /// Makes that copy.
    fn turn(self, _params: &[f32], _turned: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// Numbers of working memory of a pass of so many rows.
    fn work_len(self, _rows: usize) -> usize {
        0
    }

    /// Numbers of scratch that [`Prim::init`] needs.
    fn init_scratch_len(self) -> usize {
        0
    }

    /// Draws the parameters that it starts with.
    fn init(self, _params: &mut [f32], _start: Start, _rng: &mut Rng, _scratch: &mut [f32]) -> Result {
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

/// A layer whose rows know nothing of each other.
pub(super) trait RowWise: Prim {
    /// `y[m, output]` of `x[m, input]`.
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()>;

    /// Adds the gradients of the parameters, rows upwards.
    fn add_gradients<A: At>(self, _at: A, _x: &[f32], _dy: &[f32], _g: &mut [f32], _work: &mut [f32]) -> Option<()> {
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
}

/// A layer whose rows know those before them. Row `t * S + s` is step t of sequence s.
#[cfg(feature = "recurrent")]
pub(super) trait StepWise: Prim {
    /// [`Prim::turn`] of what is used: for the gradient of the input, and for what goes back from step to step.
    fn turn_used(self, params: &[f32], turned: &mut [f32], _used: [bool; 2]) -> Option<()> {
        self.turn(params, turned)
    }

    /// Numbers of a state, which goes from step to step.
    fn state_len(self) -> usize;

    /// Numbers of a row on the tape, besides its output.
    fn memo_len(self) -> usize;

    /// Numbers of a sequence that go back from step to step, zero after the last.
    fn back_len(self) -> usize;

    /// Rows `range` of all that lie on `tape`: the outputs of all, then what else they have.
    #[allow(clippy::too_many_arguments)]
    fn go_forward<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        all: usize,
        tape: &mut [f32],
        range: Range<usize>,
        flow: &Flow<'_>,
        work: &mut [f32],
    ) -> Option<()>;

    /// One step of each row from its own state, which becomes the one after: `(width, offset)` of `state` as in [`Flow`].
    #[allow(clippy::too_many_arguments)]
    fn step<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        y: &mut [f32],
        state: &mut [f32],
        place: (usize, usize),
        work: &mut [f32],
    ) -> Option<()>;

    /// Goes back through rows of the tape, after all rows behind them. `back` `[S * back_len]` is what they left, and becomes
    /// what these leave to the rows before.
    fn go_back<A: At>(
        self,
        at: A,
        taped: Taped<'_>,
        back: &mut [f32],
        grads: &mut [f32],
        dx: Option<&mut [f32]>,
        work: &mut [f32],
    ) -> Option<()>;
}

/// An enum of primitives, and a macro of its name that does the same with each.
macro_rules! one_of {
    ($(#[$doc:meta])* $one:ident, $each:ident: $($(#[$cfg:meta])? $prim:ident),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) enum $one {
            $($(#[$cfg])? $prim($prim),)+
        }

        macro_rules! $each {
            ($op:expr, $p:ident => $does:expr) => {
                match $op {
                    $($(#[$cfg])? $one::$prim($p) => $does,)+
                }
            };
        }

        impl Prim for $one {
            #[inline(always)]
            fn param_len(self) -> usize {
                $each!(self, p => p.param_len())
            }

            fn turned_len(self) -> usize {
                $each!(self, p => p.turned_len())
            }

            #[inline(always)]
            fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
                $each!(self, p => p.turn(params, turned))
            }

            fn work_len(self, rows: usize) -> usize {
                $each!(self, p => p.work_len(rows))
            }

            fn init_scratch_len(self) -> usize {
                $each!(self, p => p.init_scratch_len())
            }

            fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
                $each!(self, p => p.init(params, start, rng, scratch))
            }

            fn shape(self) -> (usize, usize) {
                $each!(self, p => p.shape())
            }

            fn read(self, params: &[f32], weights: &mut [f32], bias: &mut [f32]) -> Option<()> {
                $each!(self, p => p.read(params, weights, bias))
            }

            fn write(self, params: &mut [f32], weights: &[f32], bias: &[f32]) -> Option<()> {
                $each!(self, p => p.write(params, weights, bias))
            }
        }
    };
}

one_of! {
    /// A layer whose rows know nothing of each other, as a node says.
    Local, each_local:
    Dense,
    #[cfg(feature = "pictures")] Conv,
    #[cfg(feature = "pictures")] Deconv,
    #[cfg(feature = "pictures")] Pool,
    #[cfg(feature = "pictures")] Norm,
    #[cfg(feature = "residual")] Embed
}

impl RowWise for Local {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        each_local!(self, p => p.forward(at, params, x, y, work))
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], g: &mut [f32], work: &mut [f32]) -> Option<()> {
        each_local!(self, p => p.add_gradients(at, x, dy, g, work))
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
        each_local!(self, p => p.input_gradient(at, params, turned, x, dy, dx, work))
    }
}

#[cfg(feature = "recurrent")]
one_of! {
    /// A layer whose rows know those before them, as a node says.
    Sequential, each_sequential:
    Recurrent,
    #[cfg(feature = "attention")] Attention
}

#[cfg(feature = "recurrent")]
impl StepWise for Sequential {
    #[inline(always)]
    fn turn_used(self, params: &[f32], turned: &mut [f32], used: [bool; 2]) -> Option<()> {
        each_sequential!(self, p => p.turn_used(params, turned, used))
    }

    #[inline(always)]
    fn state_len(self) -> usize {
        each_sequential!(self, p => p.state_len())
    }

    #[inline(always)]
    fn memo_len(self) -> usize {
        each_sequential!(self, p => p.memo_len())
    }

    #[inline(always)]
    fn back_len(self) -> usize {
        each_sequential!(self, p => p.back_len())
    }

    #[inline(always)]
    fn go_forward<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        all: usize,
        tape: &mut [f32],
        range: Range<usize>,
        flow: &Flow<'_>,
        work: &mut [f32],
    ) -> Option<()> {
        each_sequential!(self, p => p.go_forward(at, params, x, all, tape, range, flow, work))
    }

    #[inline(always)]
    fn step<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        y: &mut [f32],
        state: &mut [f32],
        place: (usize, usize),
        work: &mut [f32],
    ) -> Option<()> {
        each_sequential!(self, p => p.step(at, params, x, y, state, place, work))
    }

    #[inline(always)]
    fn go_back<A: At>(
        self,
        at: A,
        taped: Taped<'_>,
        back: &mut [f32],
        grads: &mut [f32],
        dx: Option<&mut [f32]>,
        work: &mut [f32],
    ) -> Option<()> {
        each_sequential!(self, p => p.go_back(at, taped, back, grads, dx, work))
    }
}

one_of! {
    /// A layer of either sort, or two values made into one.
    Op, each_op:
    Local,
    #[cfg(feature = "recurrent")] Sequential,
    #[cfg(feature = "residual")] Merge
}
