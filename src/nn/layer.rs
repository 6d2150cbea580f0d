//! What a host writes: a network as a list of layers.

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use crate::error::{Error, Kind, Result};

/// The most layers that a list has.
pub const MAX_LAYERS: usize = 32;

/// [`Layer::source`]: the input of the network.
pub const INPUT: u32 = 1 << 30;

/// [`Layer::flags`]: an output of the network. Outputs are numbered from 0 in list order, and no layer reads them.
pub const HEAD: u32 = 1;

/// [`Layer::flags`]: numbers are not moved after a normalisation.
pub const NO_BIAS: u32 = 2;

/// [`Layer::flags`]: numbers are not stretched after a normalisation.
pub const NO_SCALE: u32 = 4;

/// [`Layer::flags`]: a normalisation takes no mean out, and divides by the root of the mean square.
pub const RMS: u32 = 8;

/// [`Layer::flags`]: a normalisation is over the whole picture, not over the channels of each pixel.
pub const WHOLE: u32 = 16;

/// [`Layer::flags`]: a pool takes the mean of a window, not its largest number.
pub const MEAN: u32 = 32;

/// [`Layer::flags`]: the biases of an LSTM's forget gate start at 1.
pub const FORGET_ONE: u32 = 64;

/// [`Layer::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LayerKind {
    /// `units` numbers, each a weighted sum of all the numbers that it reads, and a bias; then the activation.
    Dense = 1,
    /// `units` learnt numbers that depend on no input, such as logarithms of standard deviations. They belong to the head
    /// listed before them; no layer reads them.
    Free = 2,
    /// A convolution over pictures `[height, width, channels]`: `units` channels, each a weighted sum of the numbers in a
    /// window and a bias; then the activation. What a window shows outside of the picture is 0.
    Conv = 3,
    /// The largest number of each channel in each window, or their mean; then the activation.
    Pool = 4,
    /// Numbers brought to mean 0 and deviation 1, then stretched and moved channel by channel; then the activation.
    Norm = 5,
    /// Long short-term memory of `units` cells, whose state, outputs and cells, goes from row to row. Gates are i, f, g, o.
    Lstm = 6,
    /// A gated recurrent unit, whose state is its output. Gates are r, z, n; r multiplies what n reads of the state.
    Gru = 7,
    /// A GRU whose gates read the input alone: z and the candidate, which is positive.
    MinGru = 8,
}

/// The sets of kinds that read a field.
const DENSE: u32 = 1 << LayerKind::Dense as u32;
const FREE: u32 = 1 << LayerKind::Free as u32;
const CONV: u32 = 1 << LayerKind::Conv as u32;
const POOL: u32 = 1 << LayerKind::Pool as u32;
const NORM: u32 = 1 << LayerKind::Norm as u32;
const LSTM: u32 = 1 << LayerKind::Lstm as u32;
const RECURRENT: u32 = LSTM | 1 << LayerKind::Gru as u32 | 1 << LayerKind::MinGru as u32;

/// The kinds that this build has.
const KNOWN: u32 = DENSE
    | FREE
    | if cfg!(feature = "pictures") { CONV | POOL | NORM } else { 0 }
    | if cfg!(feature = "recurrent") { RECURRENT } else { 0 };

/// One layer. Plain data: fields that its kind does not read are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Layer {
    /// A [`LayerKind`].
    pub kind: u32,
    /// What it reads. 0: the layer before, or the input for the first; k: layer k of the list, counted from 1; or [`INPUT`].
    pub source: [u32; 2],
    /// Numbers in its output, at least 1; of `Conv`, channels.
    pub units: u32,
    /// An [`Activation`].
    pub activation: u32,
    /// [`HEAD`], but of recurrent layers; [`NO_BIAS`], [`NO_SCALE`], [`RMS`] and [`WHOLE`] of `Norm`; [`MEAN`] of `Pool`;
    /// [`FORGET_ONE`] of `Lstm`.
    pub flags: u32,
    /// `Conv` and `Pool`: height and width of a window, at least 1.
    pub size: [u32; 2],
    /// `Conv` and `Pool`: how far a window is from the next one, down and to the right; 0: 1, and the size of a pool's window.
    pub stride: [u32; 2],
    /// `Conv` and `Pool`. 0: windows lie in the picture (VALID); 1: there are as many as strides fit in the picture, which lies
    /// in the middle of what they show (SAME, as TensorFlow pads).
    pub same: u32,
    /// 0.
    pub heads: u32,
    /// 0.
    pub window: u32,
    /// How weights start. 0: orthogonal; biases start at 0.
    pub initializer: u32,
    /// `Dense`, `Conv` and recurrent layers: length of the rows or columns that are orthogonal; 0: √2, or 1 without an
    /// activation. `Free`: the value that its numbers start with.
    pub gain: f32,
    /// 0.
    pub reserved: [u32; 2],
}

impl Layer {
    /// A dense layer that reads the layer before.
    pub fn dense(units: u32, activation: Activation) -> Layer {
        Layer { kind: LayerKind::Dense as u32, units, activation: activation as u32, ..Layer::default() }
    }

    /// A convolution that reads the layer before.
    pub fn conv(units: u32, size: [u32; 2], stride: [u32; 2], activation: Activation) -> Layer {
        Layer { kind: LayerKind::Conv as u32, size, stride, ..Layer::dense(units, activation) }
    }

    /// A recurrent layer that reads the layer before.
    pub fn recurrent(kind: LayerKind, units: u32) -> Layer {
        Layer { kind: kind as u32, units, ..Layer::default() }
    }

    /// Numbers that depend on no input and start at `value`.
    pub fn free(units: u32, value: f32) -> Layer {
        Layer { kind: LayerKind::Free as u32, units, gain: value, ..Layer::default() }
    }

    /// Checks layer `number`, counted from 1, but for what it reads. Errors: `Config`.
    pub(super) fn check(&self, number: usize) -> Result {
        let refused = |what| Error::new(Kind::Config, what).needed(number);
        let kind = 1u32.checked_shl(self.kind).unwrap_or(0);
        if kind & KNOWN == 0 {
            return Err(refused("net: a known kind in layer").given(self.kind as usize));
        }
        let windows = CONV | POOL;
        let flags = match kind {
            NORM => HEAD | NO_BIAS | NO_SCALE | RMS | WHOLE,
            POOL => HEAD | MEAN,
            LSTM => FORGET_ONE,
            _ if kind & RECURRENT != 0 => 0,
            _ => HEAD,
        };
        let [rows, columns] = self.size;
        let [down, right] = self.stride;
        let fields = [
            ("net: source[0] of 0, which its kind does not read, in layer", self.source[0], !FREE),
            ("net: source[1] of 0, which its kind does not read, in layer", self.source[1], 0),
            ("net: units of 0, which its kind does not read, in layer", self.units, DENSE | FREE | CONV | RECURRENT),
            ("net: activation of 0, which its kind does not read, in layer", self.activation, !(FREE | RECURRENT)),
            ("net: flags of 0, which its kind does not read, in layer", self.flags, !FREE),
            ("net: size of 0, which its kind does not read, in layer", rows | columns, windows),
            ("net: stride of 0, which its kind does not read, in layer", down | right, windows),
            ("net: same of 0, which its kind does not read, in layer", self.same, windows),
            ("net: heads of 0, which its kind does not read, in layer", self.heads, 0),
            ("net: window of 0, which its kind does not read, in layer", self.window, 0),
            (
                "net: initializer of 0, which its kind does not read, in layer",
                self.initializer,
                DENSE | CONV | RECURRENT,
            ),
            ("net: reserved of 0 in layer", self.reserved[0] | self.reserved[1], 0),
        ];
        for (what, given, readers) in fields {
            if given != 0 && readers & kind == 0 {
                return Err(refused(what).given(given as usize));
            }
        }
        let has = |readers: u32, good| readers & kind == 0 || good;
        let known = [
            ("net: units of at least 1 in layer", self.units, has(DENSE | FREE | CONV | RECURRENT, self.units >= 1)),
            ("net: a known activation in layer", self.activation, Activation::new(self.activation).is_some()),
            ("net: known flags in layer", self.flags, self.flags & !flags == 0),
            ("net: size of at least 1 in layer", rows.min(columns), has(windows, rows >= 1 && columns >= 1)),
            ("net: same of 0 or 1 in layer", self.same, self.same <= 1),
            ("net: a known initializer in layer", self.initializer, self.initializer == 0),
        ];
        for (what, given, good) in known {
            if !good {
                return Err(refused(what).given(given as usize));
            }
        }
        if self.gain.is_finite() { Ok(()) } else { Err(refused("net: a finite gain in layer").given_f32(self.gain)) }
    }
}
