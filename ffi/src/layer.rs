//! Layers of networks as plain structures.

use crate::mirror::alike;
use crate::ptr::{Input, One, Output, Plain, args};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::nn::{Layer, Preset};

/// For source of an rlcore_layer: it reads the observations.
pub const RLCORE_LAYER_INPUT: u32 = 0x4000_0000;

/// What stands behind the sums of a layer.
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
}

/// Kinds of layers, each with the fields of rlcore_layer that it reads besides source and activation.
/// All others must be zero.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_layer_kind {
    /// units weighted sums of everything it reads: units, initializer, gain, flags
    RLCORE_LAYER_DENSE = 1,
    /// 2-D convolution, channels last: units (channels), size, stride, same, initializer, gain,
    /// flags
    RLCORE_LAYER_CONV = 3,
    /// maximum or mean of each channel in each window: size, stride, same, flags
    RLCORE_LAYER_POOL = 4,
    /// layer normalization over the channels, with a scale and a bias for each: flags
    RLCORE_LAYER_NORM = 5,
    /// long short-term memory, no activation: units, flags, initializer, gain. Recurrent layers carry a state from step
    /// to step; see sequence_len of rlcore_learner_config
    RLCORE_LAYER_LSTM = 6,
    /// gated recurrent unit, no activation: units, initializer, gain
    RLCORE_LAYER_GRU = 7,
    /// GRU whose gates read the input only, no activation: units, initializer, gain
    RLCORE_LAYER_MINGRU = 8,
    /// transposed 2-D convolution: as RLCORE_LAYER_CONV
    RLCORE_LAYER_DECONV = 9,
    /// causal multi-head attention over the last window steps of an episode, with learned relative positions and an
    /// output projection, no activation: units, heads, window, initializer, gain. Carries a state as recurrent layers do
    RLCORE_LAYER_ATTENTION = 10,
    /// sum of the embeddings of a pixel's channels, whole numbers from 0 to symbols - 1: units, symbols, initializer, gain,
    /// flags
    RLCORE_LAYER_EMBED = 11,
    /// sum of both sources; the second has the first one's shape, or a number for each of its
    /// channels
    RLCORE_LAYER_ADD = 12,
    /// product of both sources, of which the same holds
    RLCORE_LAYER_MULTIPLY = 13,
    /// channels of both sources, pixel by pixel
    RLCORE_LAYER_JOIN = 14,
}

/// How the weights of a layer are drawn. Biases start at 0.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_initializer {
    /// orthogonal rows or columns of length gain
    RLCORE_INIT_ORTHOGONAL = 0,
    /// normal, mean 0, standard deviation gain
    RLCORE_INIT_NORMAL = 1,
    /// uniform between -gain / sqrt(n) and gain / sqrt(n), where n is the number of inputs
    RLCORE_INIT_UNIFORM = 2,
    /// normal, scaled so that the weights of one output have length gain
    RLCORE_INIT_UNIT_ROWS = 3,
}

/// Networks known by name, for rlcore_net_preset.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_net {
    /// numbers: two dense layers of 64 units, tanh
    RLCORE_NET_FC = 1,
    /// 84 x 84 pictures: three convolutions, 512 units (Mnih et al. 2015)
    RLCORE_NET_NATURE = 2,
    /// 84 x 84 pictures: two convolutions, 256 units, LSTM of 256
    RLCORE_NET_IMPALA_SMALL = 3,
    /// 42 x 42 pictures: four convolutions of stride 2, ELU, LSTM of 256
    RLCORE_NET_BTGYM_42 = 4,
    /// 10 x 10 pictures: one convolution, 128 units
    RLCORE_NET_MINATAR = 5,
    /// numbers: 128 units without activation, LSTM of 128
    RLCORE_NET_LSTM_SIMPLE = 6,
    /// 7 x 7 symbols, bytes below 11: embeddings, two convolutions, pool, LSTM of 128
    RLCORE_NET_LSTM_BOW_ENDPOOL_RES = 7,
    /// numbers: a causal transformer of two blocks over 9 steps, 128 wide, 4 heads
    RLCORE_NET_TRANSFORMER_GRID = 8,
}

/// Flags of layers, to be combined with |.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_layer_flag {
    /// a dense layer, a convolution or a normalization adds no bias
    RLCORE_LAYER_NO_BIAS = 2,
    /// normalization multiplies by no scale
    RLCORE_LAYER_NO_SCALE = 4,
    /// normalization divides by the root mean square and subtracts no mean
    RLCORE_LAYER_RMS = 8,
    /// normalization runs over height, width and channels
    RLCORE_LAYER_WHOLE = 16,
    /// pooling takes the mean
    RLCORE_LAYER_MEAN = 32,
    /// the biases of an LSTM's forget gate start at 1
    RLCORE_LAYER_FORGET_ONE = 64,
    /// embeddings of observations that are bytes, which networks see divided by 255
    RLCORE_LAYER_BYTES = 128,
}

/// One layer of a network, for a list such as
///   {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU}.
/// Fields that its kind does not read are zero. 68 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_layer {
    /// an rlcore_layer_kind
    pub kind: u32,
    /// what it reads: 0 for the layer before it, or the observations if it is the first; k for layer k, counted from 1; or
    /// RLCORE_LAYER_INPUT. source[1] is read by RLCORE_LAYER_ADD, RLCORE_LAYER_MULTIPLY and RLCORE_LAYER_JOIN only
    pub source: [u32; 2],
    /// outputs, or channels of a picture
    pub units: u32,
    /// an rlcore_activation
    pub activation: u32,
    /// rlcore_layer_flag
    pub flags: u32,
    /// height and width of a window
    pub size: [u32; 2],
    /// rows and columns from one window to the next (0: 1; pooling: size)
    pub stride: [u32; 2],
    /// 0: windows lie inside the picture (VALID); 1: zeros surround it as in TensorFlow (SAME)
    pub same: u32,
    /// attention heads, which divide units
    pub heads: u32,
    /// steps that attention sees, this one included
    pub window: u32,
    /// an rlcore_initializer
    pub initializer: u32,
    /// scale of the initial weights (0: 1; orthogonal before an activation: the square root of 2)
    pub gain: f32,
    /// symbols of each channel
    pub symbols: u32,
    /// zero
    pub reserved: u32,
}

// SAFETY: laid out as in C; numbers only.
unsafe impl Plain for rlcore_layer {}
alike!(
    rlcore_layer,
    Layer {
        kind,
        source,
        units,
        activation,
        flags,
        size,
        stride,
        same,
        heads,
        window,
        initializer,
        gain,
        symbols,
        reserved
    }
);

/// The list of layers at `p`.
///
/// # Safety
/// As [`Input::at`].
pub unsafe fn layers<'a>(p: *const rlcore_layer, len: u32) -> Result<Option<Input<'a, Layer>>> {
    unsafe { Input::unless_empty("learner config: layers", p.cast(), len as usize) }
}

/// Writes the layers of a network that is known by name, for the layers of an rlcore_learner_config: its hidden layers and
/// heads read the last of them.
///   rlcore_layer layers[16];
///   rlcore_net_preset(RLCORE_NET_NATURE, layers, 16, &config.num_layers);
/// net:     an rlcore_net.
/// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_CONFIG; E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_net_preset(
    net: u32,
    out: *mut rlcore_layer,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let out_len = One::at("out_len", out_len)?;
        let out = if capacity == 0 { None } else { Some(Output::at("out", out.cast::<Layer>(), capacity as usize)?) };
        let (out_len, out) = args((out_len, out))?;
        let unknown = Error::new(Kind::Config, "a known rlcore_net").given(net as usize);
        let layers = Preset::new(net).ok_or(Fault::at("net", unknown))?.layers();
        if let Some(out) = out {
            let short = Error::new(Kind::Size, "at least {needed} layers").needed(layers.len()).given(out.len());
            let to = out.get_mut(..layers.len()).ok_or(Fault::at("out", short))?;
            to.iter_mut().zip(layers).for_each(|(to, from)| *to = *from);
        }
        *out_len = layers.len() as u32;
        Ok(())
    })
}
