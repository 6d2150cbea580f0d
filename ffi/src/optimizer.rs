//! Initial weights and optimizers for networks of the host's own.

use crate::mirror::versioned;
use crate::ptr::{self, One, Output, args};
use crate::rng::{rlcore_rng, stream};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind, check_finite};
use rlcore::learn::{Optimizer, OptimizerConfig, ParamState};
use rlcore::nn::{Initializer, Schedule, Weights, clip_global_norm};

/// A matrix of weights to draw, such as the head of a policy, as layer_init(layer, std=0.01) of src.ppo draws it.
/// Example:
///   const rlcore_weights head = {.struct_size = sizeof head, .gain = 0.01F, .num_inputs = 64, .num_outputs = 2};
///   rlcore_weights_draw(&head, &rng, scratch, scratch_len, weights);
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_weights {
    /// sizeof(rlcore_weights)
    pub struct_size: u32,
    /// an rlcore_initializer
    pub initializer: u32,
    /// scale, as the initializer says: usually the square root of 2 before tanh and ReLU, 0.01 for the head of a policy and 1
    /// for that of values; unlike that of an rlcore_layer, 0 is 0
    pub gain: f32,
    /// inputs of an output, at least 1; of a convolution height * width * channels of its window
    pub num_inputs: u32,
    /// outputs, at least 1
    pub num_outputs: u32,
    /// 0: the matrix is [num_outputs, num_inputs], as in PyTorch; 1: it is [num_inputs, num_outputs], as in
    /// TensorFlow
    pub inputs_first: u32,
}

versioned!(rlcore_weights, "weights", inputs_first);

/// The matrix at `p`, and its length.
unsafe fn weights(p: *const rlcore_weights) -> Result<(Weights, usize)> {
    let c = unsafe { ptr::sized(p)? };
    let unknown = Error::new(Kind::Config, "an rlcore_initializer that this build has").given(c.initializer as usize);
    let weights = Weights {
        initializer: Initializer::new(c.initializer).ok_or(Fault::at("weights: initializer", unknown))?,
        gain: c.gain,
        inputs: c.num_inputs as usize,
        outputs: c.num_outputs as usize,
        inputs_first: ptr::switch("weights: inputs_first", c.inputs_first)?,
    };
    weights.check()?;
    let len = ptr::grid("weights: out", weights.inputs, weights.outputs)?;
    let what = Error::new(Kind::Overflow, "weights: a matrix that fits the address space").given(len);
    what.fail_if(len > isize::MAX as usize / size_of::<f32>())?;
    Ok((weights, len))
}

/// Floats of scratch that rlcore_weights_draw needs: those of a matrix with orthogonal columns, else none.
/// Errors, here and below: E_CONFIG; E_SHAPE without inputs or outputs; E_VALUE for a gain that is not finite.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_weights_scratch_len(
    weights: *const rlcore_weights,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let (weights, _) = self::weights(weights)?;
        *args(One::at("out_len", out_len)?)? = weights.scratch_len();
        Ok(())
    })
}

/// Draws the initial weights of a layer, as learners draw those of theirs. Biases start at 0.
/// scratch: [scratch_len] to write, at least rlcore_weights_scratch_len(); NULL if that is 0.
/// out:     [num_outputs, num_inputs] to write, or [num_inputs, num_outputs] with inputs_first.
/// Errors: E_SIZE of scratch.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_weights_draw(
    weights: *const rlcore_weights,
    rng: *mut rlcore_rng,
    scratch: *mut f32,
    scratch_len: usize,
    out: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (weights, len) = self::weights(weights)?;
        let scratch = Output::unless_empty("scratch", scratch, scratch_len)?;
        let (rng, scratch, out) = args((stream(rng)?.only(), scratch, Output::at("weights: out", out, len)?))?;
        Ok(weights.draw(out, rng, scratch.unwrap_or_default())?)
    })
}

/// Settings of an optimizer. One that the optimizer does not read must have its default.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_optimizer_config {
    /// bytes; set by rlcore_optimizer_config_init
    pub struct_size: u32,
    /// an rlcore_optimizer, as rlcore_optimizer_config_init was told
    pub optimizer: u32,
    /// 1: steps go up the gradients (0)
    pub maximize: u32,
    /// gradients are scaled down to this norm; 0: off (0)
    pub max_grad_norm: f32,
    /// Adam: decay of the first moment (0.9; from 0 to below 1)
    pub beta1: f32,
    /// Adam: decay of the second moment (0.999; from 0 to below 1)
    pub beta2: f32,
    /// added to the denominator (1e-5; Adam: at least 0; RMSProp: above 0, to 1)
    pub epsilon: f32,
    /// RMSProp: decay of mean squares (0.99; from 0 to below 1)
    pub rms_decay: f32,
    /// RMSProp: part of its last step that it takes again (0; from 0 to below 1, and 0 if centered)
    pub rms_momentum: f32,
    /// zero
    pub reserved: u32,
}

versioned!(rlcore_optimizer_config, "optimizer config", reserved);

/// Fills in the defaults of an optimizer.
/// optimizer: an rlcore_optimizer.
/// Errors: E_RANGE for another optimizer.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_optimizer_config_init(
    config: *mut rlcore_optimizer_config,
    config_size: usize,
    optimizer: u32,
) -> rlcore_status {
    call(|| unsafe {
        ptr::init_sized(config, config_size, || {
            let unknown = Error::new(Kind::Range, "an rlcore_optimizer that this build has").given(optimizer as usize);
            let of = OptimizerConfig::of(Optimizer::from_number(optimizer).ok_or(Fault::at("optimizer", unknown))?);
            Ok(rlcore_optimizer_config {
                optimizer,
                beta1: of.beta1,
                beta2: of.beta2,
                epsilon: of.epsilon,
                rms_decay: of.decay,
                ..ptr::zeros()
            })
        })
    })
}

unsafe fn settings(p: *const rlcore_optimizer_config) -> Result<OptimizerConfig> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("optimizer config: reserved", c.reserved)?;
    let unknown = Error::new(Kind::Config, "an rlcore_optimizer that this build has").given(c.optimizer as usize);
    let settings = OptimizerConfig {
        optimizer: Optimizer::from_number(c.optimizer).ok_or(Fault::at("optimizer config: optimizer", unknown))?,
        maximise: ptr::switch("optimizer config: maximize", c.maximize)?,
        max_grad_norm: c.max_grad_norm,
        beta1: c.beta1,
        beta2: c.beta2,
        epsilon: c.epsilon,
        decay: c.rms_decay,
        momentum: c.rms_momentum,
        limit: f32::MAX,
    };
    settings.check()?;
    Ok(settings)
}

/// The arrays of an optimizer, which the host keeps and saves. P = num_params.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_optimizer_state {
    /// sizeof(rlcore_optimizer_state)
    pub struct_size: u32,
    /// P, at least 1
    pub num_params: u32,
    /// [P] first moments, to change; of RMSProp its last steps, or means of gradients if centered
    pub first: *mut f32,
    /// [P] second moments, to change
    pub second: *mut f32,
    /// [1] steps taken, to change; of RMSProp 0
    pub num_steps: *mut u64,
}

versioned!(rlcore_optimizer_state, "optimizer state", num_steps);

/// Moments, and the number of steps.
type Arrays<'a> = (Output<'a, f32>, Output<'a, f32>, One<'a, u64>);

unsafe fn arrays<'a>(p: *const rlcore_optimizer_state) -> Result<(Arrays<'a>, usize)> {
    let c = unsafe { ptr::sized(p)? };
    let len = c.num_params as usize;
    let none = Error::limit(Kind::Shape, "optimizer state: num_params of at least", 1, len);
    none.fail_if(len == 0)?;
    let arrays = unsafe {
        (
            Output::at("optimizer state: first", c.first, len)?,
            Output::at("optimizer state: second", c.second, len)?,
            One::at("optimizer state: num_steps", c.num_steps)?,
        )
    };
    Ok((arrays, len))
}

/// Starts an optimizer: no steps, first moments of 0, second moments of 0, of RMSProp as TensorFlow has it 1.
/// state: its arrays are written.
/// Errors: E_CONFIG; E_SHAPE if P is 0.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_optimizer_start(
    config: *const rlcore_optimizer_config,
    state: *const rlcore_optimizer_state,
) -> rlcore_status {
    call(|| unsafe {
        let (settings, (first, second, num_steps)) = (settings(config)?, args(arrays(state)?.0)?);
        first.fill(0.0);
        second.fill(settings.optimizer.first_square());
        *num_steps = 0;
        Ok(())
    })
}

/// Takes a step: clips the norm of the gradients, then moves parameters and moments, bit for bit as a learner does. With
/// 0.9, 0.999, epsilon 1e-5 and maximize this is the optimizer that make_optimizer of src.ppo makes.
/// learning_rate: step size, as of rlcore_schedule_linear.
/// state:         its arrays change.
/// params, grads: [num_params] to change, and to read.
/// out_norm:      [1] norm of the gradients before they are clipped; may be NULL.
/// Errors: E_CONFIG; E_SHAPE if P is 0; E_VALUE for a learning rate, gradients or second moments that are not finite, and
/// for a step after which a parameter would not be.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_optimizer_step(
    config: *const rlcore_optimizer_config,
    learning_rate: f32,
    state: *const rlcore_optimizer_state,
    params: *mut f32,
    grads: *const f32,
    out_norm: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (settings, (arrays, len)) = (settings(config)?, arrays(state)?);
        let (params, grads) = (Output::at("params", params, len)?, ptr::Input::at("grads", grads, len)?);
        let (m, v, steps) = arrays;
        let (m, v, steps, params, grads, out) =
            args((m, v, steps, params, grads, One::optional("out_norm", out_norm)?))?;
        check_finite("optimizer state: finite second moments", v)?;
        let norm = settings.step(ParamState { params, m, v, steps }, grads, learning_rate)?;
        if let Some(out) = out {
            *out = norm;
        }
        Ok(())
    })
}

/// Scales gradients by max_norm / (norm + 1e-6) if their Euclidean norm is larger, as PyTorch's clip_grad_norm_.
/// grads:    [len] to change.
/// max_norm: at least 0; 0: they stay as they are.
/// out_norm: [1] norm before; may be NULL.
/// Errors: E_CONFIG for max_norm; E_VALUE for gradients that are not finite.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_clip_grad_norm(
    grads: *mut f32,
    len: usize,
    max_norm: f32,
    out_norm: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (grads, out) = args((Output::at("grads", grads, len)?, One::optional("out_norm", out_norm)?))?;
        let norm = clip_global_norm(grads, max_norm)?;
        if let Some(out) = out {
            *out = norm;
        }
        Ok(())
    })
}

/// A rate that changes on a straight line: initial before any update, end after num_updates of them.
/// updates: done so far, at most num_updates.
/// out:     [1] to write.
/// Errors: E_RANGE for more updates; E_VALUE for an initial or an end that is not finite.
#[cfg(feature = "kernels")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_schedule_linear(
    initial: f32,
    end: f32,
    num_updates: u64,
    updates: u64,
    out: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let out = args(One::at("out", out)?)?;
        let what = Error::new(Kind::Value, "schedule: a finite initial and end");
        what.fail_if(!(initial.is_finite() && end.is_finite()))?;
        *out = Schedule::Linear { initial, end, num_updates }.at(updates)?;
        Ok(())
    })
}
