//! Networks known by name.

use crate::layer::rlcore_layer;
use crate::ptr::{One, Output, args};
use crate::status::{Fault, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::nn::{Layer, Preset};

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
    /// numbers: a causal transformer, two blocks over 9 steps each, 128 wide, 4 heads
    RLCORE_NET_TRANSFORMER_GRID = 8,
    /// numbers: RLCORE_NET_TRANSFORMER_GRID with layer normalization before each attention and each pair of dense layers, and
    /// a final one. 16 layers
    RLCORE_NET_TRANSFORMER_NORM = 9,
    /// two obs_fields, numbers and the action before them, an RLCORE_I32 of one choice more than actions for "none": two
    /// transformers like RLCORE_NET_TRANSFORMER_NORM, of which the first is the policy's with a policy_layer of 18. A step is
    /// one token, the sum of both embeddings, where the original has one for each, so 9 steps are its 17 tokens; attention
    /// knows how many steps ago a token was, not the step's number in the episode; at an episode's start the window is empty
    /// and no padding is attended to. 36 layers
    RLCORE_NET_TRANSFORMER_ACTIONS = 10,
    /// two obs_fields of bytes, a 7 x 7 picture of symbols below 11 and an instruction of words below 100, 0 for none:
    /// RLCORE_NET_LSTM_BOW_ENDPOOL_RES with two residual blocks in which the instruction scales and shifts the channels
    /// (FiLM). Each place of the instruction has embeddings of its own, whose sum passes through 128 units, where the original
    /// runs a GRU over the words; layer normalization stands for its batch normalization. 27 layers
    RLCORE_NET_LSTM_FILM = 11,
}

/// Writes the layers of a network that is known by name, for the layers of an rlcore_learner_config: its hidden layers and
/// heads read the last of them.
/// Example:
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
