//! Noise of networks with noisy layers. Without such layers these functions do nothing.
//!
//! A draw is used for a rollout and for the update that learns from it; off policy for a gradient step and for acting until the
//! next one.

use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::nn::Net;
use crate::rng::Rng;

fn is_noisy(noise: &[f32]) -> bool {
    cfg!(feature = "noisy") && !noise.is_empty()
}

/// Draws noise.
pub(super) fn draw(net: &Net<'_>, rng: &mut Rng, noise: &mut [f32]) -> Result {
    if is_noisy(noise) { net.draw_noise(rng, noise) } else { Ok(()) }
}

/// Computes the noisy parameters.
pub(super) fn add(net: &Net<'_>, noise: &[f32], params: &[f32], noisy: &mut [f32]) -> Result {
    if !is_noisy(noise) {
        return Ok(());
    }
    block::copy(noisy, params);
    net.add_noise(noise, noisy)
}

/// The noisy parameters, if there are any, else `params`.
pub(super) fn of<'p>(params: &'p [f32], noisy: &'p [f32]) -> &'p [f32] {
    if noisy.is_empty() { params } else { noisy }
}

/// Computes the gradients of the noise's standard deviations, in the record of a chunk.
pub(super) fn gradients(net: &Net<'_>, noise: &[f32], record: &mut [f32]) -> Result {
    if !is_noisy(noise) {
        return Ok(());
    }
    net.noise_gradients(noise, record.get_mut(..net.param_len()).ok_or(LayoutError)?)
}

/// Limits of the magnitude of noise, and of noisy parameters if parameters have magnitudes up to `most`.
pub(super) fn limits(most: f32) -> [f32; 2] {
    [NOISE_LIMIT, most + most * NOISE_LIMIT * NOISE_LIMIT]
}

/// More than the square root of any normal draw's magnitude.
const NOISE_LIMIT: f32 = 16.0;
