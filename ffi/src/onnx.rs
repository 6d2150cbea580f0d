//! Policies as files of ONNX.

use crate::lifecycle::view;
use crate::mirror::versioned;
use crate::policy::rlcore_policy;
use crate::ptr::{self, One, Output, exact};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::learn::{Onnx, OnnxNames, Policy};

/// Names and forms of the inputs and outputs of a file of ONNX.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_onnx_names {
    /// inputs obs, or obs_0 and so on, one for each field that networks read, with the elements of observations: f32
    /// [N, len], u8 [N, height, width, channels], i32 choices; action_mask u8 [N, choices], 0 forbids; state f32 [N,
    /// rlcore_policy_state_len()]. Output state_out
    RLCORE_ONNX_OWN = 0,
    /// those of Unity ML-Agents: inputs obs_0 and so on, action_masks and recurrent_in [N, 1, state_len], all f32, bytes
    /// divided by 255 and pictures [N, channels, height, width]; outputs recurrent_out, version_number, memory_size,
    /// deterministic_discrete_actions, discrete_action_output_shape, deterministic_continuous_actions and
    /// continuous_action_output_shape
    RLCORE_ONNX_ML_AGENTS = 1,
}

/// How a policy is written as a file of ONNX.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_onnx_options {
    /// sizeof(rlcore_onnx_options)
    pub struct_size: u32,
    /// an rlcore_onnx_names
    pub names: u32,
    /// 1: it has an input for the choices that are allowed
    pub action_mask: u32,
    /// zero
    pub reserved: u32,
}

versioned!(rlcore_onnx_options, "onnx options", reserved);

/// The caller's options; NULL stands for the defaults. Errors: `Align`, `Config`.
unsafe fn options(p: *const rlcore_onnx_options) -> Result<Onnx> {
    if p.is_null() {
        return Ok(Onnx::default());
    }
    let given = unsafe { ptr::sized(p)? };
    ptr::reserved("onnx options: reserved", given.reserved)?;
    let names = match given.names {
        0 => OnnxNames::Own,
        1 => OnnxNames::MlAgents,
        other => {
            let unknown = Error::new(Kind::Config, "names, an rlcore_onnx_names").given(other as usize);
            return Err(Fault::at("onnx options", unknown));
        }
    };
    Ok(Onnx { names, action_mask: ptr::switch("onnx options: action_mask", given.action_mask)? })
}

/// Bytes of a policy as a file of ONNX, which other runtimes run: operator set 13, any number N of observations.
/// Weights have the names of rlcore_policy_tensors. Besides the outputs of options it has, of actions that are
/// choices, logits [N, choices] before action_mask and probabilities [N, choices], or q [N, choices], and
/// discrete_actions i32 [N, elements], the most probable ones; of numbers mean and log_std [N, numbers] before
/// squashing and bounds, and continuous_actions [N, numbers], the means within their bounds. Structures have both.
/// Numbers agree with rlcore_policy_distribution to about 1e-5, as other runtimes sum in another order. Every layer
/// can be written, and normalize_obs. An episode begins with a state of zeros, which the host sets, as there is no
/// input for it.
/// options: NULL: the names of RLCORE_ONNX_OWN, without action_mask.
/// Errors: E_CONFIG for options, among them action_mask of actions without choices; E_OVERFLOW beyond 2 GB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_onnx_size(
    p: *const rlcore_policy,
    options: *const rlcore_onnx_options,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let (how, policy) = (self::options(options)?, view(p, Policy::open)?);
        *policy.extent.reading(One::at("out_size", out_size)?)? = policy.onnx_size(how)?;
        Ok(())
    })
}

/// Writes a policy as a file of ONNX: see rlcore_policy_onnx_size. Equal policies are equal bytes.
/// Example:
///   rlcore_policy_onnx_size(policy, NULL, &size);
///   rlcore_policy_onnx_write(policy, NULL, bytes, size);
/// bytes: [size] to write.
/// Errors: as there; E_SHAPE if size is not that of rlcore_policy_onnx_size(). Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_onnx_write(
    p: *const rlcore_policy,
    options: *const rlcore_onnx_options,
    bytes: *mut u8,
    size: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (how, policy) = (self::options(options)?, view(p, Policy::open)?);
        let len = exact("bytes", policy.onnx_size(how)?, size)?;
        let bytes = policy.extent.reading(Output::at("bytes", bytes, len)?)?;
        Ok(policy.write_onnx(how, bytes)?)
    })
}
