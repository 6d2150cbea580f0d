//! What learners and policies hold, by name: configuration, layers, parameters, moments of the optimizer.

use core::ffi::c_char;

use crate::layer::rlcore_layer;
use crate::learner::rlcore_learner;
use crate::learner_config::rlcore_learner_config;
use crate::lifecycle::{Opened, open, view};
use crate::mirror::{alike, versioned};
use crate::policy::rlcore_policy;
use crate::ptr::{self, Extent, Input, One, OutSized, Output, Plain, Reads, Writes, args, args_beside, exact};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::learn::{Learner, NamedTensor, Policy, TensorsOf, View};
use rlcore::nn::Layer;

/// What a learner has one number of for each of its parameters.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_tensors {
    /// the parameters
    RLCORE_TENSORS_PARAMS = 0,
    /// the parameters of the target networks: DQN, TD3, SAC
    RLCORE_TENSORS_TARGETS = 1,
    /// first moments of the optimizer; of RMSProp its last steps, or with RLCORE_OPTIMIZER_RMSPROP_CENTERED means of
    /// gradients; of stream algorithms the traces
    RLCORE_TENSORS_FIRST_MOMENTS = 2,
    /// means of squared gradients; not of stream algorithms
    RLCORE_TENSORS_SECOND_MOMENTS = 3,
}

/// A tensor: one array of numbers of a layer. 88 bytes. Names begin with those of layers: layers.0 and so on as
/// listed in the configuration; then hidden layers, counted from 0, and the last layer, head, of policy, of q and of
/// value (with a dueling network q has the advantages and value the rest); hidden layers that both share are those of
/// policy. deviation is what SAC computes logarithms of deviations by, log_std holds those that are free numbers.
/// Critics of TD3 and SAC are critics.0 and so on: critics.0.layers.0, critics.0.0, critics.0.head. Tasks of UNREAL
/// have pixel_control.0 to .2 and reward_class.head and .free. After it comes what PyTorch calls the tensor, in its
/// order of dimensions: weight [units, inputs] and bias [units] of dense layers, weight [units, channels, height,
/// width] of convolutions, [units, 1, height, width] of depthwise ones, [channels, units, height, width] of
/// transposed ones; weight and bias of normalizations; weight [channels, symbols, units] of embeddings; weight_ih
/// [gates, inputs], weight_hh [gates, units] and bias [gates], the sum of PyTorch's two, of LSTM (gates i, f, g, o),
/// GRU (r, z, n, with bias_hn [units] inside the product with r) and minGRU (z and the candidate; no weight_hh), and
/// with RLCORE_LAYER_NORMALIZED bias and scale [i, f, g, o and cells]; q_proj_weight, k_proj_weight, v_proj_weight,
/// in_proj_bias, out_proj.weight, out_proj.bias and positions [window, units], the newest step first, of attention;
/// weight_sigma and bias_sigma of noisy layers. A layer that reads all of a picture has its inputs in the order
/// channels, height, width, in which PyTorch flattens pictures; the pictures themselves stay height, width, channels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_tensor {
    /// its name, with a zero behind it
    pub name: [c_char; 48],
    /// of its first number in the values of a call
    pub offset: u64,
    /// dimensions, 1 to 4
    pub rank: u32,
    /// their lengths; 1 beyond rank
    pub dims: [u32; 4],
    /// 0: the network of the policy, or of Q; k: critic k, counted from 1
    pub network: u32,
    /// its layer, an index of rlcore_learner_layers or rlcore_policy_layers
    pub layer: u32,
    /// 1: of a learner that leaves it as it is, by rlcore_learner_set_trainable; else 0
    pub frozen: u32,
}

// SAFETY: laid out as in C; numbers only.
unsafe impl Plain for rlcore_tensor {}
alike!(rlcore_tensor, NamedTensor { name, offset, rank, dims, network, layer, frozen });

/// How a policy makes actions of what its network computes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_policy_info {
    /// sizeof(rlcore_policy_info)
    pub struct_size: u32,
    /// outputs of the network that are logits, or values, of choices
    pub num_choices: u32,
    /// outputs behind them that are means of numbers
    pub num_means: u32,
    /// 1: numbers pass through tanh onto their bounds; 0: they are clipped
    pub squash: u32,
    /// atoms of the distribution that the value of a choice is the mean of: num_choices outputs have so many logits
    /// each; 0: outputs are plain
    pub num_atoms: u32,
    /// 1: observations are normalized
    pub normalize_obs: u32,
    /// of normalized observations; 0 without
    pub obs_clip: f32,
    /// the lowest atom; 0 without atoms
    pub value_min: f32,
    /// the highest atom; 0 without atoms
    pub value_max: f32,
    /// layers of its network
    pub num_layers: u32,
    /// numbers that the network reads, as rlcore_learner_seen_len
    pub seen_len: u32,
    /// 1: outputs are values of choices, not logits
    pub is_q: u32,
}

versioned!(rlcore_policy_info, "policy info", is_q);

/// Writes a list to `out` [capacity], or only counts it, in a call that reads `held`. Errors: `Null`, `Align`, `Overlap`; `Size`.
pub unsafe fn list<T: Plain, L: Plain>(
    held: &[Extent],
    (out, capacity): (*mut L, u32),
    out_len: *mut u32,
    write: impl Fn(&mut [T]) -> rlcore::error::Result<usize>,
) -> Result {
    let out_len = unsafe { One::at("out_len", out_len)? };
    let out = match capacity {
        0 => None,
        _ => Some(unsafe { Output::at("out", out.cast::<T>(), capacity as usize)? }),
    };
    let (out_len, out) = args_beside((out_len, out), held)?;
    let count = write(&mut [])?;
    if let Some(out) = out {
        let short = Error::new(Kind::Size, "at least {needed} entries").needed(count).given(out.len());
        write(out.get_mut(..count).ok_or(Fault::at("out", short))?)?;
    }
    *out_len = count as u32;
    Ok(())
}

/// Writes layers as hosts list them, without their numbers of roles.
fn write_layers(from: impl Iterator<Item = Layer>, to: &mut [Layer]) -> usize {
    let mut to = to.iter_mut();
    from.map(|layer| to.next().map(|to| *to = Layer { role: 0, ..layer })).count()
}

/// Errors: `Config` for a number that is none of an rlcore_tensors.
fn kind(of: u32) -> Result<TensorsOf> {
    let unknown = Error::new(Kind::Config, "a known rlcore_tensors").given(of as usize);
    TensorsOf::from_number(of).ok_or(Fault::at("of", unknown))
}

/// Copies out the configuration of a learner: the one that it was made with, or the last of rlcore_learner_configure.
/// config: written; layers, obs_fields and action_fields are NULL with their counts 0. rlcore_learner_layers has the
///         layers of the networks, num_listed_layers of which a host lists; rlcore_learner_spaces has the spaces.
/// out_num_listed_layers: the num_layers that it was made with; NULL: not wanted.
/// Errors: E_SIZE for a structure that is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_config_read(
    p: *const rlcore_learner,
    config: *mut rlcore_learner_config,
    config_size: usize,
    out_num_listed_layers: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        ptr::init_sized(config, config_size, || {
            let written = Extent::of("learner config", config.cast_const().cast(), config_size);
            let told = (One::optional("out_num_listed_layers", out_num_listed_layers)?, Reads([learner.extent]));
            let (told, ()) = written.writing(told)?;
            let own = *learner.config();
            ptr::tell(told, own.num_layers);
            Ok(rlcore_learner_config { num_layers: 0, ..own.into() })
        })
    })
}

/// Lists the layers that run in a learner's networks, with every default filled in: those of its configuration, then
/// hidden layers and heads, which have RLCORE_LAYER_HEAD among their flags; kind 2 are numbers that depend on no
/// input, such as log_std.
/// network: 0: that of the policy, or of Q; 1: that of each critic.
/// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_RANGE for another network; E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_layers(
    p: *const rlcore_learner,
    network: u32,
    out: *mut rlcore_layer,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let unknown = Error::new(Kind::Range, "0 or 1").given(network as usize);
        unknown.fail_if(network > 1).map_err(|error| Fault::at("network", error))?;
        list::<Layer, _>(&[learner.extent], (out, capacity), out_len, |to| {
            Ok(write_layers(learner.layers(network == 1), to))
        })
    })
}

/// Lists the tensors of a learner: all its parameters, once each. With their numbers this is all that a file of tensors
/// needs.
/// Example:
///   rlcore_tensor tensors[64];
///   uint32_t num_tensors;
///   rlcore_learner_tensors(agent, tensors, 64, &num_tensors);
///   rlcore_learner_tensors_read(agent, RLCORE_TENSORS_PARAMS, values, params_len);
/// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_tensors(
    p: *const rlcore_learner,
    out: *mut rlcore_tensor,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        list::<NamedTensor, _>(&[learner.extent], (out, capacity), out_len, |to| learner.tensors(to))
    })
}

/// Copies the numbers of all tensors out, each from its offset on.
/// of:     an rlcore_tensors.
/// values: [values_len] to write.
/// Errors: E_CONFIG for another of; E_SHAPE if values_len is not rlcore_learner_params_len(); E_DISABLED if the
/// learner's algorithm has no such numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_tensors_read(
    p: *const rlcore_learner,
    of: u32,
    values: *mut f32,
    values_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (of, learner) = (kind(of)?, view(p, View::open)?);
        let len = exact("values", learner.params().len(), values_len)?;
        let values = learner.extent.reading(Output::at("values", values, len)?)?;
        Ok(learner.read_tensors(of, values)?)
    })
}

/// Writes tensors into a learner, from whatever source: others stay as they are. Each is found by its name and must
/// have the dimensions that it has in rlcore_learner_tensors; network and layer are not read. With parameters, target
/// networks become copies of all of them, as with rlcore_learner_params_write; with overlap, a current update ends
/// before they act. Moments that normalize observations stay: see rlcore_learner_moments_write.
/// of:      an rlcore_tensors.
/// tensors: [num_tensors] of which name, offset, rank and dims are read.
/// values:  [values_len] numbers; those of a tensor from its offset on.
/// Errors: E_CONFIG for another of and a name that the learner has not; E_SHAPE for other dimensions; E_RANGE for
/// numbers beyond values_len; E_VALUE for a parameter beyond plus or minus 1e6, a log_std outside its limits, a moment
/// that is not finite, and a second moment below 0; E_DISABLED as rlcore_learner_tensors_read. Messages give the index
/// of the tensor. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_tensors_write(
    p: *mut rlcore_learner,
    of: u32,
    tensors: *const rlcore_tensor,
    num_tensors: u32,
    values: *const f32,
    values_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (of, mut learner) = (kind(of)?, open(p, Learner::open)?);
        let arrays = (
            Input::at("tensors", tensors.cast::<NamedTensor>(), num_tensors as usize)?,
            Input::at("values", values, values_len)?,
        );
        let (tensors, values) = learner.extent.writing(arrays)?;
        Ok(learner.write_tensors(of, tensors, values)?)
    })
}

/// Freezes tensors of a learner, or lets them learn again, all whose names fit. No learning changes frozen tensors:
/// neither learn, imitate, learn_batch and learn_transitions, nor gradients that others computed. Their gradients are 0,
/// norms that max_grad_norm limits and rlcore_learner_stats tells are those of the others, and moments of the optimizer
/// rest. So do traces of stream algorithms, until all traces end. Target networks follow as ever. The block keeps the
/// flags, through images, rlcore_learner_configure and rlcore_learner_adopt, which take and give none; a configuration
/// with another optimizer starts the moments of all tensors anew, and other limits of log_std move a frozen one into
/// them. Tensors that are written, adopted or followed from another learner change, frozen or not. Not tensors are the
/// temperature of SAC, which temperature_rate 0 leaves, and what normalizes observations: see rlcore_learner_freeze.
/// Example:
///   rlcore_learner_set_trainable(agent, "*", 0, NULL); // the heads alone learn
///   rlcore_learner_set_trainable(agent, "*head*", 1, NULL);
/// names:           NUL-terminated, a name of rlcore_learner_tensors; * stands for any characters, or none:
///                  layers.0.weight is one tensor, layers.0.* a layer, critics.* all critics, * everything.
/// trainable:       0: they are frozen; 1: they learn.
/// out_num_tensors: the number of tensors whose names fit, changed or not; NULL: not wanted.
/// Errors: E_RANGE for another trainable and for names of more than 4095 characters; E_CONFIG if no name fits;
/// E_NOT_READY while an update runs, and while gradients wait for rlcore_learner_learn_apply. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_set_trainable(
    p: *mut rlcore_learner,
    names: *const c_char,
    trainable: u32,
    out_num_tensors: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let mut learner = open(p, Learner::open)?;
        let names = ptr::text("names", names)?;
        let trainable = ptr::flag("learner_set_trainable: trainable", trainable)?;
        let told = One::optional("out_num_tensors", out_num_tensors)?;
        let read = Extent::of("names", names.as_ptr(), names.len());
        let (told, ..) = args((told, Reads([read]), Writes([learner.extent])))?;
        let count = learner.set_trainable(names, trainable)?;
        ptr::tell(told, count as u32);
        Ok(())
    })
}

/// Lists the layers that run in a policy, as rlcore_learner_layers does.
/// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_layers(
    p: *const rlcore_policy,
    out: *mut rlcore_layer,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        list::<Layer, _>(&[policy.extent], (out, capacity), out_len, |to| Ok(write_layers(policy.layers(), to)))
    })
}

/// Lists the tensors of a policy. Their names are those that they have in its learner. Noise is left out, outputs that
/// are quantiles are their means, and log_std of TD3 and SAC, which act without it, is log_std_min.
/// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_tensors(
    p: *const rlcore_policy,
    out: *mut rlcore_tensor,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        list::<NamedTensor, _>(&[policy.extent], (out, capacity), out_len, |to| policy.tensors(to))
    })
}

/// Copies the numbers of all tensors of a policy out, each from its offset on.
/// values: [values_len] to write: as many as the tensors have together.
/// Errors: E_SHAPE for another values_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_tensors_read(
    p: *const rlcore_policy,
    values: *mut f32,
    values_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        let len = exact("values", policy.params_len(), values_len)?;
        let values = policy.extent.reading(Output::at("values", values, len)?)?;
        Ok(policy.read_tensors(values)?)
    })
}

/// Tells how a policy makes actions of what its network computes. Its spaces are told by rlcore_policy_spaces.
/// info: written.
/// Errors: E_CONFIG for struct_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_info_read(
    p: *const rlcore_policy,
    info: *mut rlcore_policy_info,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        policy.extent.reading(OutSized::at(info)?)?.store(told(&policy));
        Ok(())
    })
}

fn told(policy: &Opened<Policy<'_>>) -> rlcore_policy_info {
    let (config, is_q) = (policy.config(), policy.is_q());
    let (choices, means) = (config.shape.mask_len(), config.shape.std_len());
    // Of Q the policy keeps values times a power of 2.
    let atom = |value: f32| if is_q { policy.value_of(value) } else { value };
    rlcore_policy_info {
        struct_size: 0,
        num_choices: if config.shape.discrete() || config.shape.structured() { choices as u32 } else { 0 },
        num_means: means as u32,
        squash: config.squash,
        num_atoms: config.num_atoms,
        normalize_obs: config.normalize_obs,
        obs_clip: config.obs_clip,
        value_min: atom(config.value_min),
        value_max: atom(config.value_max),
        num_layers: config.num_layers,
        seen_len: config.shape.seen_len,
        is_q: u32::from(is_q),
    }
}

/// Copies out the moments that a policy normalizes observations with.
/// mean, variance: [len] to write, of each number that the network reads: seen_len of rlcore_policy_info. A number x
///                 becomes (x - mean) / sqrt(variance + 1e-8), clipped to plus or minus obs_clip.
/// Errors: E_SHAPE for another len, which is 0 without normalize_obs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_moments_read(
    p: *const rlcore_policy,
    mean: *mut f64,
    variance: *mut f64,
    len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let policy = view(p, Policy::open)?;
        let (own_mean, own_variance) = policy.moments();
        exact("mean", own_mean.len(), len)?;
        let arrays = (Output::at("mean", mean, len)?, Output::at("variance", variance, len)?);
        let (mean, variance) = policy.extent.reading(arrays)?;
        rlcore::block::copy(mean, own_mean);
        rlcore::block::copy(variance, own_variance);
        Ok(())
    })
}
