//! How actions are chosen.

use crate::ptr::{self, Input, Plain};
use crate::status::{Fault, Result};
use rlcore::error::{Error, Kind};
use rlcore::kernels::categorical::Sampling;

/// How an action is chosen.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_sampling_method {
    /// draws from the distribution
    RLCORE_SAMPLING_BASIC = 0,
    /// the most probable action, or the mean; draws nothing
    RLCORE_SAMPLING_GREEDY = 1,
    /// draws from a distribution flattened above 1, sharpened below
    RLCORE_SAMPLING_TEMPERATURE = 2,
    /// draws from the k most probable choices; continuous elements as BASIC
    RLCORE_SAMPLING_TOPK = 3,
    /// draws from the k least probable choices, likewise
    RLCORE_SAMPLING_BOTTOMK = 4,
}

/// Parameters of action selection; those that the method does not read are 0. Where this may be NULL, NULL selects
/// RLCORE_SAMPLING_BASIC.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_sampling {
    /// an rlcore_sampling_method
    pub method: u32,
    /// TOPK, BOTTOMK: at least 1
    pub k: u32,
    /// TEMPERATURE: above 0
    pub temperature: f32,
    /// zero
    pub reserved: u32,
}

// SAFETY: plain data.
unsafe impl Plain for rlcore_sampling {}

/// The caller's choice of sampling; NULL stands for basic. Errors: `Align`, `Config`.
pub unsafe fn sampling(p: *const rlcore_sampling) -> Result<Sampling> {
    let Some(given) = (unsafe { Input::optional("sampling", p, 1)? }).and_then(|x| x.slice().first()) else {
        return Ok(Sampling::Basic);
    };
    ptr::reserved("sampling: reserved", given.reserved)?;
    let (reads_temperature, reads_k) = (given.method == 2, matches!(given.method, 3 | 4));
    let what = "sampling: temperature is set to {given}, which is read only by RLCORE_SAMPLING_TEMPERATURE.";
    let stray = given.method <= 4 && !reads_temperature && given.temperature != 0.0;
    Error::new(Kind::Config, what).given_f32(given.temperature).fail_if(stray)?;
    let what = "sampling: k is set to {given}, which is read only by RLCORE_SAMPLING_TOPK and RLCORE_SAMPLING_BOTTOMK.";
    Error::new(Kind::Config, what).given(given.k as usize).fail_if(given.method <= 4 && !reads_k && given.k != 0)?;
    Ok(match given.method {
        0 => Sampling::Basic,
        1 => Sampling::Greedy,
        2 => Sampling::Temperature(given.temperature),
        3 => Sampling::TopK(given.k),
        4 => Sampling::BottomK(given.k),
        other => {
            let what = "method, an rlcore_sampling_method";
            return Err(Fault::at("sampling", Error::new(Kind::Config, what).given(other as usize)));
        }
    })
}
