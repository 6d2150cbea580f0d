//! Configurations of learners.

use crate::kernels::accumulate;
use crate::layer::{layers, rlcore_layer};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, Extent, Input};
use crate::space::rlcore_field;
use crate::status::{About, Fault, Result, call, rlcore_status};
use rlcore::env::wrap::MAX_FIELDS;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Algorithm, Config};
use rlcore::nn::Layer;

// The enumeration of all rows of the core's table of algorithms; tests/common/learner_config.rs hands it to cbindgen.
macro_rules! algorithms {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $(#[cfg(feature = $feature:literal)])? $name:ident: $file:ident::$algorithm:ident;
    )+) => {
        /// Algorithm of a learner.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub enum rlcore_algorithm {
            $($(#[doc = $sentence])+ $id = $number,)+
        }
    };
}

rlcore::algorithm_table!(algorithms);

/// How parameters move along gradients.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_optimizer {
    /// Adam; epsilon is added as PyTorch adds it
    RLCORE_OPTIMIZER_ADAM = 0,
    /// Adam; epsilon is added as TensorFlow adds it
    RLCORE_OPTIMIZER_ADAM_TENSORFLOW = 1,
    /// RMSProp; epsilon is added as PyTorch adds it
    RLCORE_OPTIMIZER_RMSPROP = 2,
    /// RMSProp; epsilon as TensorFlow adds it, and mean squares that begin with 1
    RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW = 3,
    /// RMSProp that divides by the deviation of gradients, as PyTorch does
    RLCORE_OPTIMIZER_RMSPROP_CENTERED = 4,
    /// Adam that warms up until its second moment knows enough gradients (RAdam)
    RLCORE_OPTIMIZER_ADAM_RECTIFIED = 5,
}

// The structure of all rows of the core's table of fields. tests/common/learner_config.rs makes the header's text from both.
macro_rules! config {
    ($($group:literal $of:ident {$(
        $(#[doc = $sentence:literal])+
        $name:ident: $type:tt [$($values:tt)+] = $default:expr $(, $($own:ident)|+ => $value:expr)*;
        $readers:ident $(, $with:literal => $holds:expr)*;
    )*})*) => {
        /// Hyperparameters, grouped by the algorithms that read them. In parentheses: the default, those of algorithms where they
        /// differ, and the values that a field may have; flags are 0 or 1. A field that the algorithm, with the other fields, does
        /// not read must have the default of rlcore_learner_config_init: rlcore_learner_size and rlcore_learner_init refuse others
        /// by name.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct rlcore_learner_config {
            /// bytes; set by rlcore_learner_config_init
            pub struct_size: u32,
            /// 0
            pub reserved: u32,
            $($($(#[doc = $sentence])+ pub $name: $type,)*)*
            /// -- lists --
            /// [num_layers] layers that come first; the policy and the value network share them, and their hidden layers read
            /// the last one. Critics of TD3 and SAC have copies of their own, where RLCORE_LAYER_INPUT is the observation
            /// followed by the numbers of an action, and the last layer must depend on it; without numbers it is the
            /// observation. With obs_dims and with recurrent layers, which read fields one by one if there are several, the
            /// numbers follow them instead. This list and the others are read by rlcore_learner_size and rlcore_learner_init
            /// only. NULL if num_layers is 0
            pub layers: *const rlcore_layer,
            /// [num_obs_fields] fields of an observation, as rlcore_env_fields lists them. Networks read all but infos; fields
            /// that are not listed are not read either. A layer can read one of them alone: see its source. Required for
            /// RLCORE_STRUCT. NULL if num_obs_fields is 0
            pub obs_fields: *const rlcore_field,
            /// [num_action_fields] fields of an action of RLCORE_STRUCT, of kinds RLCORE_F32 and RLCORE_I32, in the order of their
            /// offsets, with up to 64 elements of each kind. NULL for other actions
            pub action_fields: *const rlcore_field,
            /// entries of obs_fields, up to 8
            pub num_obs_fields: u32,
            /// entries of action_fields, up to 8
            pub num_action_fields: u32,
        }

        mirror!(rlcore_learner_config, Config { $($($name,)*)* });
    };
}

rlcore::learner_config_table!(config);

versioned!(rlcore_learner_config, "learner config", num_action_fields, Config::default().into());

/// A configuration with its lists.
pub(crate) struct Setup<'a> {
    pub(crate) config: Config,
    pub(crate) layers: &'a [Layer],
    pub(crate) obs_fields: &'a [rlcore_field],
    pub(crate) action_fields: &'a [rlcore_field],
    /// Extents of the layers and of both lists of fields.
    pub(crate) extents: [Extent; 3],
}

/// Reads a configuration without its lists.
#[cfg(feature = "tensors")]
pub(crate) unsafe fn numbers(p: *const rlcore_learner_config) -> Result<Config> {
    let mut other = None;
    let c = unsafe { ptr::sized_ref(p, &mut other)? };
    check_numbers(c)?;
    Ok((*c).into())
}

fn check_numbers(c: &rlcore_learner_config) -> Result {
    ptr::reserved("learner config: reserved", c.reserved)?;
    accumulate("learner config: accumulate", c.accumulate).map(drop)
}

/// Reads a configuration with its lists.
pub(crate) unsafe fn setup<'a>(p: *const rlcore_learner_config) -> Result<Setup<'a>> {
    let mut other = None;
    let c = unsafe { ptr::sized_ref(p, &mut other)? };
    check_numbers(c)?;
    let layers = unsafe { layers(c.layers, c.num_layers)? };
    for (text, stray) in [
        ("learner config: layers is set, but num_layers is 0.", !c.layers.is_null() && c.num_layers == 0),
        (
            "learner config: obs_fields is set, but num_obs_fields is 0.",
            !c.obs_fields.is_null() && c.num_obs_fields == 0,
        ),
        (
            "learner config: action_fields is set, but num_action_fields is 0.",
            !c.action_fields.is_null() && c.num_action_fields == 0,
        ),
    ] {
        Error::new(Kind::Config, text).fail_if(stray)?;
    }
    let most = |what, given: u32| {
        Error::limit(Kind::Config, "at most", MAX_FIELDS, given as usize)
            .fail_if(given as usize > MAX_FIELDS)
            .about(what)
    };
    most("learner config: num_obs_fields", c.num_obs_fields)?;
    most("learner config: num_action_fields", c.num_action_fields)?;
    let (seen, taken) = (c.num_obs_fields as usize, c.num_action_fields as usize);
    let obs = unsafe { Input::unless_empty("learner config: obs_fields", c.obs_fields, seen)? };
    let action = unsafe { Input::unless_empty("learner config: action_fields", c.action_fields, taken)? };
    let extent = |fields: &Option<Input<'_, rlcore_field>>| fields.as_ref().map_or(Extent::NONE, Input::extent);
    let extents = [layers.as_ref().map_or(Extent::NONE, Input::extent), extent(&obs), extent(&action)];
    let (obs_fields, action_fields) = (obs.map_or(&[][..], Input::slice), action.map_or(&[][..], Input::slice));
    Ok(Setup { config: (*c).into(), layers: layers.map_or(&[][..], Input::slice), obs_fields, action_fields, extents })
}

/// Fills in the defaults of an algorithm.
/// algorithm: an rlcore_algorithm.
/// Errors: E_RANGE for another algorithm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_config_init(
    config: *mut rlcore_learner_config,
    config_size: usize,
    algorithm: u32,
) -> rlcore_status {
    call(|| unsafe {
        ptr::init_sized(config, config_size, || match Algorithm::from_number(algorithm) {
            Some(algorithm) => Ok(Config::of(algorithm).into()),
            None => {
                Err(Fault::at("algorithm", Error::new(Kind::Range, "an rlcore_algorithm").given(algorithm as usize)))
            }
        })
    })
}
