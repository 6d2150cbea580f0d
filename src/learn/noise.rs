//! Noise of networks with noisy layers. Without such layers nothing happens here.
//!
//! One draw is for a rollout and for the update that learns from it; off policy it is for a gradient step and for what acts until
//! the next one.

use crate::block::{self, Misfit};
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

/// Makes parameters with noise of those without.
pub(super) fn add(net: &Net<'_>, noise: &[f32], params: &[f32], noisy: &mut [f32]) -> Result {
    if !is_noisy(noise) {
        return Ok(());
    }
    block::copy(noisy, params);
    net.add_noise(noise, noisy)
}

/// Those with noise, if there are any.
pub(super) fn of<'p>(params: &'p [f32], noisy: &'p [f32]) -> &'p [f32] {
    if noisy.is_empty() { params } else { noisy }
}

/// Makes the gradients of deviations, in the record of a chunk.
pub(super) fn gradients(net: &Net<'_>, noise: &[f32], record: &mut [f32]) -> Result {
    if !is_noisy(noise) {
        return Ok(());
    }
    net.noise_gradients(noise, record.get_mut(..net.param_len()).ok_or(Misfit)?)
}

/// The largest size of noise, and of parameters with noise, where those without are at most `most` in size.
pub(super) fn limits(most: f32) -> [f32; 2] {
    [NOISE_LIMIT, most + most * NOISE_LIMIT * NOISE_LIMIT]
}

/// More than the root of any normal number that is drawn.
const NOISE_LIMIT: f32 = 16.0;
