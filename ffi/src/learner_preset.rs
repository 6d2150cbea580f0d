//! Configurations of learners known by name.

use crate::learner_config::rlcore_learner_config;
use crate::ptr::{self, Extent, One};
use crate::status::{Fault, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::learn::Preset;

// The enumeration of all rows of the core's table of presets; tests/common/preset_table.rs hands it to cbindgen.
macro_rules! presets {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $name:ident: $algorithm:ident, $net:ident { $($field:ident = $value:expr,)* }
    )+) => {
        /// Learners of other packages, with the numbers that they have there. Where theirs weigh the whole squared error of
        /// values, value_coef is twice as large. In parentheses: the algorithm, and the rlcore_net whose layers it has beside
        /// heads alone; without one, hidden layers. The seed and use_action_mask are those of rlcore_learner_config_init.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub enum rlcore_preset {
            $($(#[doc = $sentence])+ $id = $number,)+
        }
    };
}

rlcore::preset_table!(presets);

/// Fills in the numbers of another package; change them as those of rlcore_learner_config_init.
/// Example:
///   rlcore_layer layers[16];
///   uint32_t net;
///   rlcore_learner_config_preset(&config, sizeof config, RLCORE_PRESET_BTGYM_A3C, &net);
///   rlcore_net_preset(net, layers, 16, &config.num_layers);
///   config.layers = layers;
/// preset:  an rlcore_preset.
/// out_net: the rlcore_net whose layers it has; 0: none. NULL if that is known.
/// Errors: E_SIZE for a structure that is too small; E_RANGE for another preset, or one whose algorithm the build lacks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_config_preset(
    config: *mut rlcore_learner_config,
    config_size: usize,
    preset: u32,
    out_net: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        ptr::init_sized(config, config_size, || {
            let unknown = Error::new(Kind::Range, "an rlcore_preset that this build has").given(preset as usize);
            let preset = Preset::new(preset).ok_or(Fault::at("preset", unknown))?;
            let written = Extent::of("learner config", config.cast_const().cast(), config_size);
            // Nothing fails from here on.
            if let Some(out_net) = written.writing(One::optional("out_net", out_net)?)? {
                *out_net = preset.net().map_or(0, |net| net as u32);
            }
            Ok(preset.config().into())
        })
    })
}
