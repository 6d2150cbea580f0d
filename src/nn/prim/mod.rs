//! Primitives: forward pass, gradients and parameters of each kind of layer.
//!
//! A kind of layer is a file here, its row in [`layer_table`](crate::layer_table), and its test: the host's list of layers, its
//! checks, the C interface and the header follow from the row and from [`Layered`]. The compiler reports missing items.
//!
//! Each primitive is a plain shape. It is inlined into the kernel that calls it, at that kernel's level, and returns `None` for
//! mismatched lengths; the network checks lengths first, so it does not happen.

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "recurrent")]
mod cell;
#[cfg(feature = "pictures")]
mod conv;
#[cfg(feature = "pictures")]
mod deconv;
mod dense;
#[cfg(feature = "pictures")]
mod depthwise;
#[cfg(feature = "residual")]
mod embed;
#[cfg(feature = "recurrent")]
mod flow;
mod free;
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
#[cfg(feature = "pictures")]
pub(super) use depthwise::Depthwise;
#[cfg(feature = "residual")]
pub(super) use embed::Embed;
#[cfg(feature = "recurrent")]
pub(super) use flow::{Flow, Taped};
pub(super) use free::Free;
#[cfg(feature = "residual")]
pub(super) use merge::{Merge, MergeOp};
#[cfg(feature = "pictures")]
pub(super) use norm::Norm;
#[cfg(feature = "pictures")]
pub(super) use pool::Pool;

#[cfg(feature = "recurrent")]
use core::ops::Range;

use super::initializer::Start;
use super::layer::{self, Layer};
use super::node::Node;
use super::tensor::Tensors;
use crate::cpu::At;
use crate::error::Result;
use crate::rng::Rng;

/// Passes the table of layer kinds to a macro: the core generates [`LayerKind`] and its dispatch, the C interface its
/// enumeration; tests check the header.
///
/// A row is `sentence, name in C = number, reads [fields], flags [flags]; kind: file::primitive, form;`:
/// - `reads`: fields of a [`Layer`] besides its sources, with the gain if the initializer is among them; all others must be 0.
/// - `kind`: the file of this folder, its primitive, and the form that makes the primitive this kind.
///
/// Numbers are never reused; 2 is [`LayerKind::Free`], which hosts of the C interface do not list.
#[macro_export]
macro_rules! layer_table {
    ($to:ident) => {
        $to! {
            /// units weighted sums of everything it reads; with a size they are a picture of that height and width for the layers
            /// that read it
            RLCORE_LAYER_DENSE = 1, reads [units, size, activation, initializer], flags [NO_BIAS, NOISY];
            Dense: dense::Dense, ();
            /// 2-D convolution, channels last, with so many units as channels
            RLCORE_LAYER_CONV = 3, reads [units, size, stride, same, activation, initializer], flags [NO_BIAS];
            #[cfg(feature = "pictures")] Conv: conv::Conv, ();
            /// maximum or mean of each channel in each window
            RLCORE_LAYER_POOL = 4, reads [size, stride, same, activation], flags [MEAN];
            #[cfg(feature = "pictures")] Pool: pool::Pool, ();
            /// layer normalization over the channels, with a scale and a bias for each
            RLCORE_LAYER_NORM = 5, reads [activation], flags [NO_BIAS, NO_SCALE, RMS, WHOLE];
            #[cfg(feature = "pictures")] Norm: norm::Norm, ();
            /// long short-term memory. Recurrent layers carry a state from step to step; see sequence_len of
            /// rlcore_learner_config
            RLCORE_LAYER_LSTM = 6, reads [units, initializer], flags [FORGET_ONE, NORMALIZED];
            #[cfg(feature = "recurrent")] Lstm: cell::Recurrent, cell::Cell::Lstm;
            /// gated recurrent unit
            RLCORE_LAYER_GRU = 7, reads [units, initializer], flags [];
            #[cfg(feature = "recurrent")] Gru: cell::Recurrent, cell::Cell::Gru;
            /// GRU whose gates read the input only
            RLCORE_LAYER_MINGRU = 8, reads [units, initializer], flags [];
            #[cfg(feature = "recurrent")] MinGru: cell::Recurrent, cell::Cell::MinGru;
            /// transposed 2-D convolution, with so many units as channels
            RLCORE_LAYER_DECONV = 9, reads [units, size, stride, same, activation, initializer], flags [NO_BIAS];
            #[cfg(feature = "pictures")] Deconv: deconv::Deconv, ();
            /// causal multi-head attention over the last window steps of an episode, with learned relative positions and an output
            /// projection. Carries a state as recurrent layers do
            RLCORE_LAYER_ATTENTION = 10, reads [units, heads, window, initializer], flags [];
            #[cfg(feature = "attention")] Attention: attention::Attention, ();
            /// sum of the embeddings of a pixel's channels, whole numbers from 0 to symbols - 1
            RLCORE_LAYER_EMBED = 11, reads [units, symbols, activation, initializer], flags [BYTES];
            #[cfg(feature = "residual")] Embed: embed::Embed, ();
            /// sum of both sources; the second has the first one's shape, or a number for each of its channels
            RLCORE_LAYER_ADD = 12, reads [activation], flags [];
            #[cfg(feature = "residual")] Add: merge::Merge, merge::MergeOp::Add;
            /// product of both sources, of which the same holds
            RLCORE_LAYER_MULTIPLY = 13, reads [activation], flags [];
            #[cfg(feature = "residual")] Multiply: merge::Merge, merge::MergeOp::Multiply;
            /// channels of both sources, pixel by pixel; a picture that a row follows becomes a row
            RLCORE_LAYER_JOIN = 14, reads [activation], flags [];
            #[cfg(feature = "residual")] Join: merge::Merge, merge::MergeOp::Join;
            /// 2-D convolution of each channel by itself (depthwise), channels last: units are a multiple of the channels that it
            /// reads, and each channel has as many in a row
            RLCORE_LAYER_DEPTHWISE = 15, reads [units, size, stride, same, activation, initializer], flags [NO_BIAS];
            #[cfg(feature = "pictures")] Depthwise: depthwise::Depthwise, ();
        }
    };
}

/// Sources and fields of a [`Layer`] that a kind reads, and flags that it allows.
#[derive(Clone, Copy, Default)]
pub(super) struct Reads {
    pub sources: usize,
    pub units: bool,
    pub activation: bool,
    pub size: bool,
    pub stride: bool,
    pub same: bool,
    pub heads: bool,
    pub window: bool,
    pub symbols: bool,
    pub initializer: bool,
    pub flags: u32,
}

/// How a network runs a layer.
#[allow(dead_code, reason = "a build may have no kind of one of them")]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sort {
    /// Free values without a source.
    Free,
    /// Processes each row independently.
    Local,
    /// Carries a state from row to row.
    Sequential,
    /// Reads two sources.
    Merge,
}

/// Part of the input picture that an output value depends on.
#[allow(dead_code, reason = "a build may have no kind of one of them")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of it: the output is no picture, unless the layer gives it a size.
    All,
    /// The pixel at the same position, or that and its normalization.
    Pixel,
    /// A window.
    Window,
    /// One of several pixels whose windows cover the output pixel: the output is a larger picture.
    Spread,
}

/// Upper bounds of the lengths of a layer: weights or their copies, a padded picture, a row.
pub(super) struct Most {
    pub weights: u64,
    pub padded: u64,
    pub row: u64,
}

/// A primitive as built from the list of layers.
pub(super) trait Layered: Prim {
    /// Distinguishes the kinds that share the primitive.
    type Form;

    const SORT: Sort;

    const SCOPE: Scope;

    /// The primitive of a compiled layer.
    fn of(node: &Node, form: Self::Form) -> Op;

    /// Sets the output shape, initially one row of `units`, and the windows. Errors: `Config` for layer `number`; `Overflow`.
    fn set_shape(_node: &mut Node, _layer: &Layer, _number: usize, _form: Self::Form) -> Result {
        Ok(())
    }

    /// The inverse of `set_shape`, in the description of a compiled layer.
    fn describe(_node: &Node, _layer: &mut Layer) {}

    /// Bounds of a layer that reads and makes this many values per row. Errors: `Overflow`.
    fn most(_node: &Node, read: u64, made: u64) -> Result<Most> {
        Ok(Most { weights: made, padded: 0, row: read.max(made) })
    }
}

/// Generates [`LayerKind`] from the table, and a macro that dispatches to the primitive and the form of each kind. A kind that
/// this build lacks, which no number names, acts as `Free`.
macro_rules! kinds {
    ($(
        $(#[doc = $sentence:literal])+
        $name:ident = $number:literal, reads [$($field:ident),*], flags [$($flag:ident),*];
        $(#[cfg($($with:tt)+)])? $kind:ident: $file:ident::$prim:ident, $form:expr;
    )+) => {
        /// Values of [`Layer::kind`], described as in the header.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum LayerKind {
            /// units learned numbers that depend on no input, such as logarithms of standard deviations. They belong to the head
            /// listed before them; no layer reads them
            Free = 2,
            $($(#[doc = $sentence])+ $kind = $number,)+
        }

        impl LayerKind {
            /// The kind with this number, if this build has it.
            #[inline(always)]
            pub(crate) fn from_number(number: u32) -> Option<LayerKind> {
                match number {
                    2 => Some(LayerKind::Free),
                    $($(#[cfg($($with)+)])? $number => Some(LayerKind::$kind),)+
                    _ => None,
                }
            }

            /// Fields that a layer of this kind reads.
            pub(super) fn reads(self) -> Reads {
                let (sources, head) = match self.sort() {
                    Sort::Free => (0, 0),
                    Sort::Local => (1, layer::HEAD),
                    Sort::Sequential => (1, 0),
                    Sort::Merge => (2, layer::HEAD),
                };
                let all = Reads { sources, ..Reads::default() };
                match self {
                    LayerKind::Free => Reads { units: true, ..all },
                    $(LayerKind::$kind => Reads { $($field: true,)* flags: head $(| layer::$flag)*, ..all },)+
                }
            }
        }

        macro_rules! each_kind {
            ($of:expr, $p:ident, $f:ident => $does:expr) => {
                match $of {
                    LayerKind::Free => {
                        type $p = Free;
                        let $f = ();
                        $does
                    }
                    $(
                        $(#[cfg($($with)+)])?
                        LayerKind::$kind => {
                            type $p = $file::$prim;
                            let $f = $form;
                            $does
                        }
                        $(
                            #[cfg(not($($with)+))]
                            LayerKind::$kind => {
                                type $p = Free;
                                let $f = ();
                                $does
                            }
                        )?
                    )+
                }
            };
        }
    };
}

layer_table!(kinds);

impl LayerKind {
    #[inline(always)]
    pub(super) fn sort(self) -> Sort {
        each_kind!(self, P, _form => P::SORT)
    }

    #[inline(always)]
    pub(crate) fn scope(self) -> Scope {
        each_kind!(self, P, _form => P::SCOPE)
    }

    /// [`Layered::of`].
    #[inline(always)]
    pub(super) fn op(self, node: &Node) -> Op {
        each_kind!(self, P, form => P::of(node, form))
    }

    /// [`Layered::set_shape`].
    pub(super) fn set_shape(self, node: &mut Node, layer: &Layer, number: usize) -> Result {
        each_kind!(self, P, form => P::set_shape(node, layer, number, form))
    }

    /// [`Layered::describe`].
    pub(super) fn describe(self, node: &Node, layer: &mut Layer) {
        each_kind!(self, P, _form => P::describe(node, layer))
    }

    /// [`Layered::most`].
    pub(super) fn most(self, node: &Node, read: u64, made: u64) -> Result<Most> {
        each_kind!(self, P, _form => P::most(node, read, made))
    }
}

/// Rows of `len` elements. Pairs of `chunks_exact` alone would divide where optimizers may not see that the length is not zero.
#[cfg(any(feature = "pictures", feature = "recurrent", feature = "residual"))]
#[inline(always)]
fn rows<T>(all: &[T], len: usize) -> impl Iterator<Item = &[T]> {
    let mut rows = all.chunks_exact(len.max(1));
    core::iter::from_fn(move || rows.next())
}

/// Mutable [`rows`].
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

/// Shape of a layer, and its parameters. By default it has none.
pub(super) trait Prim: Copy {
    /// Length of its parameters.
    fn param_len(self) -> usize {
        0
    }

    /// Length of the copy of parameters that input gradients need; 0 if they read the parameters themselves.
    fn turned_len(self) -> usize {
        0
    }

    /// Writes that copy.
    fn turn(self, _params: &[f32], _turned: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// Length of the working memory of a pass of this many rows.
    fn work_len(self, _rows: usize) -> usize {
        0
    }

    /// Scratch length of [`Prim::init`].
    fn init_scratch_len(self) -> usize {
        0
    }

    /// Draws the initial parameters.
    fn init(self, _params: &mut [f32], _start: Start, _rng: &mut Rng, _scratch: &mut [f32]) -> Result {
        Ok(())
    }

    /// Its parameters as hosts read and write them.
    fn tensors(self) -> Tensors {
        Tensors::default()
    }
}

/// A layer that processes rows independently.
pub(super) trait RowWise: Prim {
    /// `y[m, output]` from `x[m, input]`.
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()>;

    /// Adds the gradients of the parameters, rows in ascending order.
    fn add_gradients<A: At>(self, _at: A, _x: &[f32], _dy: &[f32], _g: &mut [f32], _work: &mut [f32]) -> Option<()> {
        Some(())
    }

    /// `dx[m, input]` from `dy[m, output]` and the input `x`.
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

/// A layer whose rows depend on earlier ones. Row `t * S + s` is step t of sequence s.
#[cfg(feature = "recurrent")]
pub(super) trait StepWise: Prim {
    /// [`Prim::turn`] of the copies in use: for the gradient of the input, and for the gradients carried back from step to
    /// step.
    fn turn_used(self, params: &[f32], turned: &mut [f32], _used: [bool; 2]) -> Option<()> {
        self.turn(params, turned)
    }

    /// Length of a state, which is carried from step to step.
    fn state_len(self) -> usize;

    /// Values of a row on the tape, besides its output.
    fn memo_len(self) -> usize;

    /// Length of the gradients that a sequence carries back from step to step, zero after the last.
    fn back_len(self) -> usize;

    /// Rows `range` of all rows on `tape`: the outputs of all rows, then their other data.
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

    /// One step of each row from its own state, which is updated: `(width, offset)` of `state` as in [`Flow`].
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

    /// Backward pass through rows of the tape, after all later rows. `back` `[S * back_len]` holds the gradients carried back
    /// by the later rows, and receives those for earlier rows.
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

/// An enum of primitives, and a macro that dispatches to each.
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

            fn tensors(self) -> Tensors {
                $each!(self, p => p.tensors())
            }
        }
    };
}

one_of! {
    /// A layer that processes rows independently, built from a node.
    Local, each_local:
    Dense,
    #[cfg(feature = "pictures")] Conv,
    #[cfg(feature = "pictures")] Deconv,
    #[cfg(feature = "pictures")] Depthwise,
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
    /// A layer whose rows depend on earlier ones, built from a node.
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
    /// A layer of any sort.
    Op, each_op:
    Free,
    Local,
    #[cfg(feature = "recurrent")] Sequential,
    #[cfg(feature = "residual")] Merge
}
