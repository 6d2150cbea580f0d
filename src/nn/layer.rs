//! What a host writes: a network as a list of layers.

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use super::initializer::Initializer;
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

/// Flags of a dense layer in this build.
const DENSE_FLAGS: u32 = HEAD | NO_BIAS | if cfg!(feature = "noisy") { NOISY } else { 0 };

/// Flags of an LSTM in this build.
const LSTM_FLAGS: u32 = FORGET_ONE | if cfg!(feature = "pictures") { NORMALIZED } else { 0 };

/// [`Layer::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LayerKind {
    /// `units` numbers, each a weighted sum of all the numbers that it reads, and a bias; then the activation. With a `size` they
    /// are a picture of that height and width, for layers that read it.
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
    /// A transposed convolution: `units` channels of a larger picture, to which each pixel adds a window; then the activation.
    Deconv = 9,
    /// Causal attention of `heads` heads over the last `window` steps of an episode, its own among them, and a dense layer
    /// behind it. `heads` divides `units`. Keys have a learnt position added for each number of steps that they are old.
    Attention = 10,
    /// The sum of learnt rows of `units` numbers, one for the symbol in each channel of a pixel: a whole number from 0 to
    /// `symbols` - 1. What is no symbol counts as the nearest one; learners and policies refuse it in an observation. Then the
    /// activation.
    Embed = 11,
    /// The sum of what it reads from both sources; then the activation. The second is as long as the first, or has a number
    /// for each of its channels.
    Add = 12,
    /// As `Add`, with the product: gates, and the scale of a feature-wise modulation (FiLM).
    Multiply = 13,
    /// What it reads from both sources side by side, pixel by pixel; then the activation.
    Join = 14,
}

/// The sets of kinds that read a field.
const DENSE: u32 = 1 << LayerKind::Dense as u32;
const FREE: u32 = 1 << LayerKind::Free as u32;
const CONV: u32 = 1 << LayerKind::Conv as u32;
const POOL: u32 = 1 << LayerKind::Pool as u32;
const NORM: u32 = 1 << LayerKind::Norm as u32;
const LSTM: u32 = 1 << LayerKind::Lstm as u32;
const CELLS: u32 = LSTM | 1 << LayerKind::Gru as u32 | 1 << LayerKind::MinGru as u32;
const DECONV: u32 = 1 << LayerKind::Deconv as u32;
const ATTENTION: u32 = 1 << LayerKind::Attention as u32;
const EMBED: u32 = 1 << LayerKind::Embed as u32;
const MERGES: u32 = 1 << LayerKind::Add as u32 | 1 << LayerKind::Multiply as u32 | 1 << LayerKind::Join as u32;
const WINDOWS: u32 = CONV | POOL | DECONV;
const SIZED: u32 = WINDOWS | if cfg!(feature = "pictures") { DENSE } else { 0 };
const SEQUENTIAL: u32 = CELLS | ATTENTION;
const WEIGHTS: u32 = DENSE | CONV | DECONV | SEQUENTIAL | EMBED;

/// The kinds that this build has.
const KNOWN: u32 = DENSE
    | FREE
    | if cfg!(feature = "pictures") { WINDOWS | NORM } else { 0 }
    | if cfg!(feature = "recurrent") { CELLS } else { 0 }
    | if cfg!(feature = "attention") { ATTENTION } else { 0 }
    | if cfg!(feature = "residual") { EMBED | MERGES } else { 0 };

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

/// Rows of a layer of this kind, as a number, know those before them.
pub(super) const fn is_sequential(kind: u32) -> bool {
    cfg!(feature = "recurrent") && SEQUENTIAL & (1 << (kind & 31)) != 0
}

/// A layer of this kind, as a number, reads two sources.
pub(super) const fn is_merge(kind: u32) -> bool {
    cfg!(feature = "residual") && MERGES & (1 << (kind & 31)) != 0
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
        let kind = 1u32.checked_shl(self.kind).unwrap_or(0);
        if kind & KNOWN == 0 {
            return Err(refused("net: a known kind in layer").given(self.kind as usize));
        }
        let flags = match kind {
            DENSE => DENSE_FLAGS,
            CONV | DECONV => HEAD | NO_BIAS,
            NORM => HEAD | NO_BIAS | NO_SCALE | RMS | WHOLE,
            POOL => HEAD | MEAN,
            LSTM => LSTM_FLAGS,
            EMBED => HEAD | BYTES,
            _ if kind & SEQUENTIAL != 0 => 0,
            _ => HEAD,
        };
        let [rows, columns] = self.size;
        let [down, right] = self.stride;
        let units = WEIGHTS | FREE;
        let fields = [
            (Name::new("net: source[0] of 0, which its kind does not read, in layer"), self.source[0], !FREE),
            (Name::new("net: source[1] of 0, which its kind does not read, in layer"), self.source[1], MERGES),
            (Name::new("net: units of 0, which its kind does not read, in layer"), self.units, units),
            (
                Name::new("net: activation of 0, which its kind does not read, in layer"),
                self.activation,
                !(FREE | SEQUENTIAL),
            ),
            (Name::new("net: flags of 0, which its kind does not read, in layer"), self.flags, !FREE),
            (Name::new("net: size of 0, which its kind does not read, in layer"), rows | columns, SIZED),
            (Name::new("net: stride of 0, which its kind does not read, in layer"), down | right, WINDOWS),
            (Name::new("net: same of 0, which its kind does not read, in layer"), self.same, WINDOWS),
            (Name::new("net: heads of 0, which its kind does not read, in layer"), self.heads, ATTENTION),
            (Name::new("net: window of 0, which its kind does not read, in layer"), self.window, ATTENTION),
            (Name::new("net: initializer of 0, which its kind does not read, in layer"), self.initializer, WEIGHTS),
            (Name::new("net: symbols of 0, which its kind does not read, in layer"), self.symbols, EMBED),
            (Name::new("net: reserved of 0 in layer"), self.reserved, 0),
        ];
        for (what, given, readers) in fields {
            if given != 0 && readers & kind == 0 {
                return Err(refused(what.words()).given(given as usize));
            }
        }
        let has = |readers: u32, good| readers & kind == 0 || good;
        if cfg!(feature = "noisy") && self.flags & !flags & NOISY != 0 {
            return Err(
                refused("net: no flag NOISY, which its kind does not have, in layer").given(self.flags as usize)
            );
        }
        let divides = self.heads >= 1 && self.units.is_multiple_of(self.heads);
        let known = [
            (Name::new("net: units of at least 1 in layer"), self.units, has(units, self.units >= 1)),
            (
                Name::new("net: a known activation in layer"),
                self.activation,
                Activation::from_number(self.activation).is_some(),
            ),
            (Name::new("net: known flags in layer"), self.flags, self.flags & !flags == 0),
            (Name::new("net: size of at least 1 in layer"), rows.min(columns), has(WINDOWS, rows >= 1 && columns >= 1)),
            (Name::new("net: same of 0 or 1 in layer"), self.same, self.same <= 1),
            (Name::new("net: heads that divide the units in layer"), self.heads, has(ATTENTION, divides)),
            (Name::new("net: window of at least 1 in layer"), self.window, has(ATTENTION, self.window >= 1)),
            (Name::new("net: symbols of at least 1 in layer"), self.symbols, has(EMBED, self.symbols >= 1)),
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
