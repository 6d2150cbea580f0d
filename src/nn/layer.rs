//! What a host writes: a network as a list of layers.

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use super::initializer::Initializer;
use super::prim::LayerKind;
use crate::error::{Error, Kind, Name, Result};

/// The most layers that a list has.
pub const MAX_LAYERS: usize = 32;

/// [`Layer::source`]: the input of the network, whole; with k added to it, part k of the input, counted from 1.
pub const INPUT: u32 = 1 << 30;

/// [`Layer::flags`]: an output of the network. Outputs are numbered from 0 in list order, and no layer reads them.
pub const HEAD: u32 = 1;

/// [`Layer::flags`]: a layer adds no bias.
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

/// [`Layer::flags`]: symbols are bytes divided by 255, as networks see observations of bytes.
pub const BYTES: u32 = 128;

/// [`Layer::flags`]: a dense layer has a deviation beside each weight and each bias, which starts at 0.4 / √n for n inputs and
/// says how much of noise is added (Fortunato et al. 2018, factorised). A network has the means alone, unless noise was added
/// to its parameters: see [`super::Net::add_noise`].
pub const NOISY: u32 = 256;

/// [`Layer::flags`]: an LSTM normalises the sums of each gate and its cells, which then are scaled and moved (Ba et al. 2016).
/// Its biases are those of i, f, g, o and of the cells, then come scales of the same.
pub const NORMALIZED: u32 = 512;

/// Flags that this build does not have.
const ABSENT: u32 =
    if cfg!(feature = "noisy") { 0 } else { NOISY } | if cfg!(feature = "pictures") { 0 } else { NORMALIZED };

/// One layer. Plain data: fields that its kind does not read are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Layer {
    /// A [`LayerKind`].
    pub kind: u32,
    /// Numbers in its output, at least 1; of `Conv` and `Deconv`, channels; of `Embed`, of each pixel.
    pub units: u32,
    /// What it reads. 0: the layer before, or the input for the first; k: layer k of the list, counted from 1; or [`INPUT`], or
    /// that and the number of a part of the input.
    /// `Add`, `Multiply` and `Join` read two.
    pub source: [u32; 2],
    /// `Conv`, `Deconv` and `Pool`: height and width of a window, at least 1. `Dense`: those of the picture that its numbers
    /// are, whose product divides `units`, or 0.
    pub size: [u32; 2],
    /// `Conv`, `Deconv` and `Pool`: how far a window is from the next one, down and to the right; 0: 1, and the size of a
    /// pool's window.
    pub stride: [u32; 2],
    /// `Conv`, `Deconv` and `Pool`. 0: windows lie in the picture (VALID); 1: there are as many as strides fit in the picture,
    /// which lies in the middle of what they show (SAME, as TensorFlow pads). The picture is what a `Deconv` makes: with 1 its
    /// sides are those of what it reads times `stride`.
    pub same: u32,
    /// An [`Activation`].
    pub activation: u32,
    /// `Attention`: heads, at least 1.
    pub heads: u32,
    /// `Attention`: steps that a row sees, at least 1.
    pub window: u32,
    /// `Embed`: symbols of each channel, at least 1.
    pub symbols: u32,
    /// [`HEAD`], but of recurrent layers and `Attention`; [`NO_BIAS`] of `Dense`, `Conv` and `Deconv`; [`NOISY`] of
    /// `Dense`; [`NO_BIAS`], [`NO_SCALE`], [`RMS`] and [`WHOLE`] of `Norm`; [`MEAN`] of `Pool`; [`FORGET_ONE`] and
    /// [`NORMALIZED`] of `Lstm`; [`BYTES`] of `Embed`.
    pub flags: u32,
    /// How weights start: an [`Initializer`]. Biases start at 0, but those of a [`NOISY`] layer with [`Initializer::Uniform`]
    /// as its weights do.
    pub initializer: u32,
    /// Layers with weights: what [`Initializer`] says; 0: √2 with an activation and orthogonal weights, else 1. `Free`: the
    /// value that its numbers start with.
    pub gain: f32,
    /// 0.
    pub reserved: u32,
}

impl Layer {
    /// All fields 0, which is no layer yet.
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
        reserved: 0,
    };

    /// A dense layer that reads the layer before.
    pub const fn dense(units: u32, activation: Activation) -> Layer {
        Layer { kind: LayerKind::Dense as u32, units, activation: activation as u32, ..Layer::ZERO }
    }

    /// A convolution that reads the layer before.
    pub const fn conv(units: u32, size: [u32; 2], stride: [u32; 2], activation: Activation) -> Layer {
        Layer { kind: LayerKind::Conv as u32, size, stride, ..Layer::dense(units, activation) }
    }

    /// A recurrent layer that reads the layer before.
    pub const fn recurrent(kind: LayerKind, units: u32) -> Layer {
        Layer { kind: kind as u32, units, ..Layer::ZERO }
    }

    /// Attention that reads the layer before.
    pub const fn attention(units: u32, heads: u32, window: u32) -> Layer {
        Layer { kind: LayerKind::Attention as u32, units, heads, window, ..Layer::ZERO }
    }

    /// Two layers, counted from 1, made into one; 0: the layer before.
    pub const fn merge(kind: LayerKind, source: [u32; 2], activation: Activation) -> Layer {
        Layer { kind: kind as u32, source, activation: activation as u32, ..Layer::ZERO }
    }

    /// Numbers that depend on no input and start at `value`.
    pub const fn free(units: u32, value: f32) -> Layer {
        Layer { kind: LayerKind::Free as u32, units, gain: value, ..Layer::ZERO }
    }

    /// Checks layer `number`, counted from 1, but for what it reads. Errors: `Config`.
    pub(super) fn check(&self, number: usize) -> Result {
        let refused = |what| Error::new(Kind::Config, what).needed(number);
        let unknown = refused("net: a known kind in layer").given(self.kind as usize);
        let reads = LayerKind::from_number(self.kind).ok_or(unknown)?.reads();
        let flags = reads.flags & !ABSENT;
        let [rows, columns] = self.size;
        let [down, right] = self.stride;
        let fields = [
            (
                Name::new("net: source[0] of 0, which its kind does not read, in layer"),
                self.source[0],
                reads.sources > 0,
            ),
            (
                Name::new("net: source[1] of 0, which its kind does not read, in layer"),
                self.source[1],
                reads.sources > 1,
            ),
            (Name::new("net: units of 0, which its kind does not read, in layer"), self.units, reads.units),
            (
                Name::new("net: activation of 0, which its kind does not read, in layer"),
                self.activation,
                reads.activation,
            ),
            (Name::new("net: flags of 0, which its kind does not read, in layer"), self.flags, reads.sources > 0),
            (
                Name::new("net: size of 0, which its kind does not read, in layer"),
                rows | columns,
                reads.size && cfg!(feature = "pictures"),
            ),
            (Name::new("net: stride of 0, which its kind does not read, in layer"), down | right, reads.stride),
            (Name::new("net: same of 0, which its kind does not read, in layer"), self.same, reads.same),
            (Name::new("net: heads of 0, which its kind does not read, in layer"), self.heads, reads.heads),
            (Name::new("net: window of 0, which its kind does not read, in layer"), self.window, reads.window),
            (
                Name::new("net: initializer of 0, which its kind does not read, in layer"),
                self.initializer,
                reads.initializer,
            ),
            (Name::new("net: symbols of 0, which its kind does not read, in layer"), self.symbols, reads.symbols),
            (Name::new("net: reserved of 0 in layer"), self.reserved, false),
        ];
        for (what, given, is_read) in fields {
            if given != 0 && !is_read {
                return Err(refused(what.words()).given(given as usize));
            }
        }
        if cfg!(feature = "noisy") && self.flags & !flags & NOISY != 0 {
            return Err(
                refused("net: no flag NOISY, which its kind does not have, in layer").given(self.flags as usize)
            );
        }
        let divides = self.heads >= 1 && self.units.is_multiple_of(self.heads);
        let known = [
            (Name::new("net: units of at least 1 in layer"), self.units, !reads.units || self.units >= 1),
            (
                Name::new("net: a known activation in layer"),
                self.activation,
                Activation::from_number(self.activation).is_some(),
            ),
            (Name::new("net: known flags in layer"), self.flags, self.flags & !flags == 0),
            (
                Name::new("net: size of at least 1 in layer"),
                rows.min(columns),
                !reads.stride || rows >= 1 && columns >= 1,
            ),
            (Name::new("net: same of 0 or 1 in layer"), self.same, self.same <= 1),
            (Name::new("net: heads that divide the units in layer"), self.heads, !reads.heads || divides),
            (Name::new("net: window of at least 1 in layer"), self.window, !reads.window || self.window >= 1),
            (Name::new("net: symbols of at least 1 in layer"), self.symbols, !reads.symbols || self.symbols >= 1),
            (
                Name::new("net: a known initializer in layer"),
                self.initializer,
                Initializer::new(self.initializer).is_some(),
            ),
        ];
        for (what, given, good) in known {
            if !good {
                return Err(refused(what.words()).given(given as usize));
            }
        }
        if self.gain.is_finite() { Ok(()) } else { Err(refused("net: a finite gain in layer").given_f32(self.gain)) }
    }
}
