//! Layers of networks as plain structures.

use crate::mirror::alike;
use crate::ptr::{Input, Plain};
use crate::status::Result;
use rlcore::nn::Layer;

/// For source of an rlcore_layer: it reads the observations.
pub const RLCORE_LAYER_INPUT: u32 = 0x4000_0000;

/// Activation function of a layer.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_activation {
    /// tanh
    RLCORE_ACTIVATION_TANH = 0,
    /// max(x, 0)
    RLCORE_ACTIVATION_RELU = 1,
    /// x
    RLCORE_ACTIVATION_IDENTITY = 2,
    /// x above 0, e^x - 1 below
    RLCORE_ACTIVATION_ELU = 3,
    /// x * sigmoid(x)
    RLCORE_ACTIVATION_SILU = 4,
    /// Gaussian error linear unit, with tanh
    RLCORE_ACTIVATION_GELU = 5,
    /// x above 0, x / 100 below
    RLCORE_ACTIVATION_LEAKY_RELU = 6,
}

// The enumeration of all rows of the core's table of layers. tests/common/layer_table.rs makes the header's sentences from the
// table.
macro_rules! kinds {
    ($(
        $(#[doc = $sentence:literal])+
        $name:ident = $number:literal, reads [$($field:ident),*], flags [$($flag:ident),*];
        $(#[cfg($($with:tt)+)])? $kind:ident: $file:ident::$prim:ident, $form:expr;
    )+) => {
        /// Kinds of layers. In parentheses: the fields of rlcore_layer that a kind reads besides source. All others must be zero.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub enum rlcore_layer_kind {
            $($(#[doc = $sentence])+ $name = $number,)+
        }
    };
}

rlcore::layer_table!(kinds);

/// How the weights of a layer are drawn. Biases start at 0; in a noisy layer with RLCORE_INIT_UNIFORM
/// they are drawn like its weights.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_initializer {
    /// orthogonal rows or columns of length gain
    RLCORE_INIT_ORTHOGONAL = 0,
    /// normal, mean 0, standard deviation gain
    RLCORE_INIT_NORMAL = 1,
    /// uniform between -gain / sqrt(n) and gain / sqrt(n), where n is the number of inputs of an output (transposed
    /// convolution: of outputs of an input, as PyTorch counts)
    RLCORE_INIT_UNIFORM = 2,
    /// normal, scaled so that the weights of one output have length gain
    RLCORE_INIT_UNIT_ROWS = 3,
    /// as RLCORE_INIT_UNIFORM, but nine tenths of the weights of each output are 0
    RLCORE_INIT_SPARSE = 4,
    /// uniform between plus and minus gain * sqrt(6 / (n + m)), where n is the number of inputs of an output and m that of
    /// outputs of an input: TensorFlow's default (Glorot). Weights of inputs and of states are apart, of all gates together
    RLCORE_INIT_GLOROT = 5,
}

/// Flags of layers, to be combined with |.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_layer_flag {
    /// an output: told by rlcore_learner_layers and rlcore_policy_layers only
    RLCORE_LAYER_HEAD = 1,
    /// a dense layer, a convolution, its transpose or a normalization adds no bias
    RLCORE_LAYER_NO_BIAS = 2,
    /// normalization multiplies by no scale
    RLCORE_LAYER_NO_SCALE = 4,
    /// normalization divides by the root mean square and subtracts no mean
    RLCORE_LAYER_RMS = 8,
    /// normalization runs over height, width and channels
    RLCORE_LAYER_WHOLE = 16,
    /// pooling takes the mean
    RLCORE_LAYER_MEAN = 32,
    /// an LSTM's forget biases start at 1, which TensorFlow adds in each step
    RLCORE_LAYER_FORGET_ONE = 64,
    /// embeddings of observations that are bytes, which networks see divided by 255
    RLCORE_LAYER_BYTES = 128,
    /// dense layers: each weight and bias has factorized Gaussian noise, whose standard deviation is learned
    /// and starts at 0.4 / sqrt(inputs). rlcore_learner_act and updates use the noise; rlcore_learner_predict
    /// and policies do not. See noisy of rlcore_learner_config
    RLCORE_LAYER_NOISY = 256,
    /// an LSTM normalizes each gate and its cells before they are used (layer normalization), as TensorFlow's
    /// LayerNormBasicLSTMCell does. Its biases are those of i, f, g, o and of the cells, then scales of the same,
    /// which start at 1
    RLCORE_LAYER_NORMALIZED = 512,
}

/// One layer of a network. Fields that its kind does not read are zero. 68 bytes.
/// Example:
///   const rlcore_layer layers[] = {
///     {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU},
///     {.kind = RLCORE_LAYER_DENSE, .units = 64, .activation = RLCORE_ACTIVATION_RELU},
///   };
///   config.layers = layers, config.num_layers = 2;
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_layer {
    /// an rlcore_layer_kind
    pub kind: u32,
    /// outputs, or channels of a picture
    pub units: u32,
    /// its input: 0 for the layer before it, or the observations if it is the first; k for layer k, counted from 1;
    /// RLCORE_LAYER_INPUT for the whole observation; or RLCORE_LAYER_INPUT | k for its field k, counted from 1 in
    /// obs_fields of the learner config, where infos follow the other fields. If a layer names an info, each layer names
    /// the field that it reads. source[1] is read by RLCORE_LAYER_ADD, RLCORE_LAYER_MULTIPLY and RLCORE_LAYER_JOIN only
    pub source: [u32; 2],
    /// height and width of a window, or of the picture that a dense layer makes
    pub size: [u32; 2],
    /// rows and columns from one window to the next (0: 1; pooling: size)
    pub stride: [u32; 2],
    /// 0: windows lie inside the picture (VALID); 1: zeros surround it as in TensorFlow (SAME)
    pub same: u32,
    /// an rlcore_activation
    pub activation: u32,
    /// attention heads, which divide units
    pub heads: u32,
    /// steps that attention sees, this one included
    pub window: u32,
    /// symbols of each channel
    pub symbols: u32,
    /// rlcore_layer_flag
    pub flags: u32,
    /// an rlcore_initializer
    pub initializer: u32,
    /// scale of the initial weights (0: 1; orthogonal before an activation: the square root of 2)
    pub gain: f32,
    /// zero
    pub reserved: u32,
}

// SAFETY: laid out as in C; numbers only.
unsafe impl Plain for rlcore_layer {}
alike!(
    rlcore_layer,
    Layer { kind, units, source, size, stride, same, activation, heads, window, symbols, flags, initializer, gain },
    reserved = role
);

/// The list of layers at `p`.
///
/// # Safety
/// As [`Input::at`].
pub unsafe fn layers<'a>(p: *const rlcore_layer, len: u32) -> Result<Option<Input<'a, Layer>>> {
    unsafe { Input::unless_empty("learner config: layers", p.cast(), len as usize) }
}
