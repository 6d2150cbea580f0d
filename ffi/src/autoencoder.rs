//! Losses of autoencoders, plain and variational.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, Input, One, Output, args};
use crate::space::element;
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::kernels::autoencoder::{self, Latent, Reconstruction, Target};
use rlcore::space::{Element, Elements};

/// A loss of each element of a reconstruction.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_reconstruction_kind {
    /// (out - target)^2 / 2
    RLCORE_RECONSTRUCTION_SQUARED = 0,
    /// binary cross-entropy of sigmoid(out) and a target from 0 to 1: out is a logit
    RLCORE_RECONSTRUCTION_BINARY = 1,
}

/// Pictures, or other rows, and their reconstructions by a network. B = num_rows.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_reconstruction {
    /// sizeof(rlcore_reconstruction)
    pub struct_size: u32,
    /// an rlcore_reconstruction_kind
    pub kind: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// elements of a row, at least 1
    pub row_len: u32,
    /// RLCORE_F32, or RLCORE_U8: bytes, which count divided by 255
    pub target_type: u32,
    /// zero
    pub reserved: u32,
    /// [B, row_len] outputs of the network
    pub out: *const f32,
    /// [B, row_len]
    pub target: *const c_void,
}

versioned!(rlcore_reconstruction, "reconstruction", target);

/// Loss of a reconstruction, summed over a row and averaged over rows, and its gradient. A mean over the elements of
/// a row is this divided by row_len.
/// d_out: [B, row_len] to write.
/// loss:  [1] to write.
/// Errors: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a target outside [0, 1] with RLCORE_RECONSTRUCTION_BINARY;
/// E_VALUE. Outputs are untouched on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_reconstruction_loss(
    batch: *const rlcore_reconstruction,
    d_out: *mut f32,
    loss: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let c = ptr::sized(batch)?;
        ptr::reserved("reconstruction: reserved", c.reserved)?;
        let config = |what, given: u32| {
            let error = Error::new(Kind::Config, "a known one").given(given as usize);
            Fault::at(what, error)
        };
        let kind = Reconstruction::from_number(c.kind).ok_or_else(|| config("reconstruction: kind", c.kind))?;
        let target_type = element("reconstruction: target_type", c.target_type)?;
        let (rows, width) = (c.num_rows as usize, c.row_len as usize);
        let none = Error::limit(Kind::Shape, "reconstruction: row_len of at least", 1, width);
        none.fail_if(width == 0)?;
        let all = ptr::grid("reconstruction: out", rows, width)?;
        let read = (
            Input::at("reconstruction: out", c.out, all)?,
            AnyInput::at("reconstruction: target", c.target, target_type, rows, width)?,
        );
        let written = (Output::at("d_out", d_out, all)?, One::at("loss", loss)?);
        let ((out, target), (d_out, loss)) = args((read, written))?;
        let target = match target {
            Elements::F32(target) => Target::F32(target),
            Elements::U8(target) => Target::U8(target),
            Elements::I32(_) => return Err(config("reconstruction: target_type", Element::I32 as u32)),
        };
        *loss = autoencoder::reconstruction(kind, rows, out, target, d_out)?;
        Ok(())
    })
}

/// Codes of a variational autoencoder, drawn from a diagonal Gaussian for each row. B = num_rows, L = len.
/// Example:
///   rlcore_latent_sample(&codes, z);                           // what the decoder reads
///   rlcore_latent_loss(&codes, d_z, d_mean, d_log_std, &kl);   // d_z: the d_input of the decoder
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_latent {
    /// sizeof(rlcore_latent)
    pub struct_size: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// L, at least 1
    pub len: u32,
    /// weight of the KL divergence, at least 0; 1: the variational bound, else a beta-VAE
    pub kl_coef: f32,
    /// [B, L]
    pub mean: *const f32,
    /// [B, L] logarithms of the standard deviations, from -40 to 40
    pub log_std: *const f32,
    /// [B, L] standard normal draws, as of rlcore_rng_normal
    pub normal: *const f32,
}

versioned!(rlcore_latent, "latent", normal);

unsafe fn latent<'a>(p: *const rlcore_latent) -> Result<(rlcore_latent, [Input<'a, f32>; 3], usize)> {
    let c = unsafe { ptr::sized(p)? };
    Error::limit(Kind::Shape, "latent: len of at least", 1, c.len as usize).fail_if(c.len == 0)?;
    let all = ptr::grid("latent", c.num_rows as usize, c.len as usize)?;
    let read = unsafe {
        [
            Input::at("latent: mean", c.mean, all)?,
            Input::at("latent: log_std", c.log_std, all)?,
            Input::at("latent: normal", c.normal, all)?,
        ]
    };
    Ok((c, read, all))
}

/// Draws the codes: z = mean + exp(log_std) * normal.
/// z: [B, L] to write.
/// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std, and for kl_coef below 0; E_VALUE
/// for a number that is not finite. Outputs are untouched on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_latent_sample(batch: *const rlcore_latent, z: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let (c, read, all) = latent(batch)?;
        let ([mean, log_std, normal], z) = args((read, Output::at("z", z, all)?))?;
        let codes = Latent { num_rows: c.num_rows as usize, mean, log_std, normal };
        codes.check_coef(c.kl_coef)?;
        Ok(codes.sample(z)?)
    })
}

/// Gradients of the loss of the codes plus kl_coef times their KL divergence from the standard normal distribution,
/// which is summed over a row and averaged over rows.
///   kl        = mean over rows of sum((mean^2 + std^2 - 1) / 2 - log_std)
///   d_mean    = d_z + kl_coef / B * mean
///   d_log_std = d_z * std * normal + kl_coef / B * (std^2 - 1)
/// d_z:               [B, L] gradient of the loss by the codes, as rlcore_network_backward of the decoder gives it.
/// d_mean, d_log_std: [B, L] to write.
/// kl:                [1] to write, without kl_coef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_latent_loss(
    batch: *const rlcore_latent,
    d_z: *const f32,
    d_mean: *mut f32,
    d_log_std: *mut f32,
    kl: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (c, read, all) = latent(batch)?;
        let written =
            (Output::at("d_mean", d_mean, all)?, Output::at("d_log_std", d_log_std, all)?, One::at("kl", kl)?);
        let arrays = args((read, Input::at("d_z", d_z, all)?, written))?;
        let ([mean, log_std, normal], d_z, (d_mean, d_log_std, kl)) = arrays;
        let codes = Latent { num_rows: c.num_rows as usize, mean, log_std, normal };
        *kl = codes.loss(d_z, c.kl_coef, d_mean, d_log_std)?;
        Ok(())
    })
}
