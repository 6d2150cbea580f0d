//! Layers of a network as a host lists them.

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use super::initializer::Initializer;
use super::prim::{LayerKind, Reads};
use crate::error::{Error, Kind, Name, Result};

/// Maximum number of layers in a list: 64 of a host's, and those of two towers of hidden layers behind them.
pub const MAX_LAYERS: usize = 75;

/// Maximum number of heads in a list, the bits of a mask.
pub(super) const MAX_HEADS: usize = u32::BITS as usize;

/// [`Layer::source`]: the whole input of the network; with k added, part k of the input, counted from 1.
pub const INPUT: u32 = 1 << 30;

/// [`Layer::flags`]: the layer is a head, an output of the network. Heads are numbered from 0 in list order; no layer reads
/// them.
pub const HEAD: u32 = 1;

/// [`Layer::flags`]: a layer without bias.
pub const NO_BIAS: u32 = 2;

/// [`Layer::flags`]: a normalization without scale.
pub const NO_SCALE: u32 = 4;

/// [`Layer::flags`]: a normalization that does not subtract the mean and divides by the root mean square.
pub const RMS: u32 = 8;

/// [`Layer::flags`]: a normalization over the whole picture, not over the channels of each pixel.
pub const WHOLE: u32 = 16;

/// [`Layer::flags`]: mean pooling instead of max pooling.
pub const MEAN: u32 = 32;

/// [`Layer::flags`]: the forget-gate biases of an LSTM start at 1.
pub const FORGET_ONE: u32 = 64;

/// [`Layer::flags`]: symbols are bytes divided by 255, the form in which networks receive byte observations.
pub const BYTES: u32 = 128;

/// [`Layer::flags`]: a noisy dense layer (Fortunato et al. 2018, factorized): each weight and each bias has a deviation, which
/// scales its noise and starts at 0.4 / √n for n inputs. A pass uses the means alone, unless noise was added to the parameters:
/// see [`super::Net::add_noise`].
pub const NOISY: u32 = 256;

/// [`Layer::flags`]: an LSTM that normalizes the sums of each gate and its cells, then scales and shifts them (Ba et al. 2016).
/// Its biases are those of i, f, g, o and of the cells, followed by scales in the same order.
pub const NORMALIZED: u32 = 512;

/// Flags that this build does not support.
const ABSENT: u32 =
    if cfg!(feature = "noisy") { 0 } else { NOISY } | if cfg!(feature = "pictures") { 0 } else { NORMALIZED };

/// One layer. Plain data: fields that its kind does not read are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Layer {
    /// A [`LayerKind`].
    pub kind: u32,
    /// Length of the output, at least 1; for `Conv` and `Deconv`, channels; for `Depthwise`, channels, a multiple of those that it
    /// reads; for `Embed`, channels of each pixel.
    pub units: u32,
    /// Sources of the layer. 0: the previous layer, or the network's input for the first layer; k: layer k of the list, counted
    /// from 1; [`INPUT`]; or [`INPUT`] plus the number of a part of the input. `Add`, `Multiply` and `Join` have two sources.
    pub source: [u32; 2],
    /// `Conv`, `Depthwise`, `Deconv` and `Pool`: height and width of a window, at least 1. `Dense`: height and width of the output as a
    /// picture, whose product divides `units`, or 0.
    pub size: [u32; 2],
    /// `Conv`, `Depthwise`, `Deconv` and `Pool`: distance between neighboring windows, down and to the right; 0: 1, or the window size for
    /// `Pool`.
    pub stride: [u32; 2],
    /// `Conv`, `Depthwise`, `Deconv` and `Pool`. 0: windows lie within the picture (VALID); 1: one window per stride that fits in the
    /// picture, which is centered in its padding (SAME, as in TensorFlow). The picture of a `Deconv` is its output: with 1 its
    /// sides are those of the input times `stride`.
    pub same: u32,
    /// An [`Activation`].
    pub activation: u32,
    /// `Attention`: number of heads, at least 1.
    pub heads: u32,
    /// `Attention`: steps that a row attends to, at least 1.
    pub window: u32,
    /// `Embed`: symbols per channel, at least 1.
    pub symbols: u32,
    /// [`HEAD`], except for recurrent layers and `Attention`; [`NO_BIAS`] for `Dense`, `Conv`, `Depthwise` and `Deconv`; [`NOISY`] for
    /// `Dense`; [`NO_BIAS`], [`NO_SCALE`], [`RMS`] and [`WHOLE`] for `Norm`; [`MEAN`] for `Pool`; [`FORGET_ONE`] and
    /// [`NORMALIZED`] for `Lstm`; [`BYTES`] for `Embed`.
    pub flags: u32,
    /// Initialization of the weights: an [`Initializer`]. Biases start at 0, except those of a [`NOISY`] layer with
    /// [`Initializer::Uniform`], which are drawn like its weights.
    pub initializer: u32,
    /// Layers with weights: gain of the [`Initializer`]; 0: √2 with an activation and orthogonal weights, else 1. `Free`:
    /// initial value.
    pub gain: f32,
    /// What the layer is for, by a number of whoever makes the list: it is carried along and changes nothing. 0 in a host's list for
    /// a learner.
    pub role: u32,
}

impl Layer {
    /// All fields 0; not a valid layer.
    const ZERO: Layer = Layer {
        kind: 0,
        units: 0,
        source: [0; 2],
        size: [0; 2],
        stride: [0; 2],
        same: 0,
        activation: 0,
        heads: 0,
        window: 0,
        symbols: 0,
        flags: 0,
        initializer: 0,
        gain: 0.0,
        role: 0,
    };

    /// A dense layer that reads the previous layer.
    pub const fn dense(units: u32, activation: Activation) -> Layer {
        Layer { kind: LayerKind::Dense as u32, units, activation: activation as u32, ..Layer::ZERO }
    }

    /// A convolution that reads the previous layer.
    pub const fn conv(units: u32, size: [u32; 2], stride: [u32; 2], activation: Activation) -> Layer {
        Layer { kind: LayerKind::Conv as u32, size, stride, ..Layer::dense(units, activation) }
    }

    /// A recurrent layer that reads the previous layer.
    pub const fn recurrent(kind: LayerKind, units: u32) -> Layer {
        Layer { kind: kind as u32, units, ..Layer::ZERO }
    }

    /// Attention that reads the previous layer.
    pub const fn attention(units: u32, heads: u32, window: u32) -> Layer {
        Layer { kind: LayerKind::Attention as u32, units, heads, window, ..Layer::ZERO }
    }

    /// Merge of two layers, counted from 1; 0: the previous layer.
    pub const fn merge(kind: LayerKind, source: [u32; 2], activation: Activation) -> Layer {
        Layer { kind: kind as u32, source, activation: activation as u32, ..Layer::ZERO }
    }

    /// Learned values that depend on no input and start at `value`.
    pub const fn free(units: u32, value: f32) -> Layer {
        Layer { kind: LayerKind::Free as u32, units, gain: value, ..Layer::ZERO }
    }

    /// Whether its kind can be an output.
    pub(crate) fn may_be_head(&self) -> bool {
        LayerKind::from_number(self.kind).is_some_and(|kind| kind.reads().flags & HEAD != 0)
    }

    /// Checks layer `number`, counted from 1, except for its sources. Errors: `Config`.
    pub(super) fn check(&self, number: usize) -> Result {
        let unknown = refused("net: a known kind in layer", number).given(self.kind as usize);
        let reads = LayerKind::from_number(self.kind).ok_or(unknown)?.reads();
        self.check_unread(&reads, number)?;
        self.check_read(&reads, number)?;
        if self.gain.is_finite() {
            return Ok(());
        }
        Err(refused("net: a finite gain in layer", number).given_f32(self.gain))
    }

    /// Checks that fields which the kind does not read are 0.
    fn check_unread(&self, reads: &Reads, number: usize) -> Result {
        /// Sentences, values, and whether the kind reads them.
        macro_rules! fields {
            ($($field:literal: $given:expr, $is_read:expr;)*) => {
                [$((
                    Name::new(concat!("net: ", $field, " of 0, which its kind does not read, in layer")), $given, $is_read,
                )),*]
            };
        }
        let fields = fields! {
            "source[0]": self.source[0], reads.sources > 0;
            "source[1]": self.source[1], reads.sources > 1;
            "units": self.units, reads.units;
            "activation": self.activation, reads.activation;
            "flags": self.flags, reads.sources > 0;
            "size": self.size[0] | self.size[1], reads.size && cfg!(feature = "pictures");
            "stride": self.stride[0] | self.stride[1], reads.stride;
            "same": self.same, reads.same;
            "heads": self.heads, reads.heads;
            "window": self.window, reads.window;
            "initializer": self.initializer, reads.initializer;
            "symbols": self.symbols, reads.symbols;
        };
        for (what, given, is_read) in fields {
            refused(what.text(), number).given(given as usize).fail_if(given != 0 && !is_read)?;
        }
        Ok(())
    }

    /// Checks the values of fields that the kind reads.
    fn check_read(&self, reads: &Reads, number: usize) -> Result {
        let foreign = self.flags & !(reads.flags & !ABSENT);
        if cfg!(feature = "noisy") && foreign & NOISY != 0 {
            let what = "net: no flag NOISY, which its kind does not have, in layer";
            return Err(refused(what, number).given(self.flags as usize));
        }
        let divides = self.heads >= 1 && self.units.is_multiple_of(self.heads);
        let size = self.size[0].min(self.size[1]);
        let activation = Activation::from_number(self.activation);
        let initializer = Initializer::new(self.initializer);
        let known = [
            (Name::new("net: units of at least 1 in layer"), self.units, !reads.units || self.units >= 1),
            (Name::new("net: a known activation in layer"), self.activation, activation.is_some()),
            (Name::new("net: known flags in layer"), self.flags, foreign == 0),
            (Name::new("net: size of at least 1 in layer"), size, !reads.stride || size >= 1),
            (Name::new("net: same of 0 or 1 in layer"), self.same, self.same <= 1),
            (Name::new("net: heads that divide the units in layer"), self.heads, !reads.heads || divides),
            (Name::new("net: window of at least 1 in layer"), self.window, !reads.window || self.window >= 1),
            (Name::new("net: symbols of at least 1 in layer"), self.symbols, !reads.symbols || self.symbols >= 1),
            (Name::new("net: a known initializer in layer"), self.initializer, initializer.is_some()),
        ];
        for (what, given, good) in known {
            refused(what.text(), number).given(given as usize).fail_if(!good)?;
        }
        Ok(())
    }
}

/// An error of layer `number`.
fn refused(what: &'static str, number: usize) -> Error {
    Error::new(Kind::Config, what).needed(number)
}
