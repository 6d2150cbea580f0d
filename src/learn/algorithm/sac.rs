//! Soft actor-critic (Haarnoja et al. 2018): Gaussian samples that pass through tanh, and a temperature that adjusts to a
//! target entropy.
//!
//! In all calls arrays are `[rows, action_len]`, except `log_prob`, which is `[rows]`; `limits` are those of the logarithms of
//! standard deviations.

use core::f32::consts::LN_2;

#[cfg(feature = "residual")]
use super::hybrid_sac;
use super::{Algorithm, Needs, critic, discrete_sac};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::num;

/// Soft actor-critic, for continuous and discrete actions, and structures of both.
pub(super) struct Sac;

impl Algorithm for Sac {
    const NEEDS: Needs = Needs { replay: true, critics: true, temperature: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        match (b.sizes.replay.choice_values, b.sizes.std_len) {
            (0, _) => critic::chunk(b, w, record, errors),
            #[cfg(feature = "residual")]
            (_, 1..) => hybrid_sac::chunk(b, w, record, errors),
            _ => discrete_sac::chunk(b, w, record, errors),
        }
    }
}

const HALF_LN_2_PI: f32 = 0.918_938_5;

/// Computes actions from normal draws, and their log-densities.
pub fn act(
    (low, high): (f32, f32),
    mean: &[f32],
    log_std: &[f32],
    normal: &[f32],
    action: &mut [f32],
    log_prob: &mut [f32],
) {
    let width = action.len().checked_div(log_prob.len()).unwrap_or(0);
    let mut all = action.iter_mut().zip(mean.iter().zip(log_std)).zip(normal);
    for log_prob in log_prob {
        let mut sum = 0.0;
        for ((action, (mean, log_std)), normal) in all.by_ref().take(width) {
            let log_std = num::clamp(*log_std, low, high);
            let raw = mean + num::exp(log_std) * normal;
            *action = num::tanh(raw);
            // Squashing subtracts ln(1 - tanh²) from the log-density.
            let size = raw.abs();
            let squash = 2.0 * (LN_2 - size - num::softplus(-2.0 * size));
            sum -= 0.5 * (normal * normal) + (log_std + HALF_LN_2_PI) + squash;
        }
        *log_prob = sum;
    }
}

/// Gradients with respect to means and logarithms of standard deviations, of a loss with gradients `d_action` with respect to
/// the actions, plus `weight` times the log-densities. A logarithm beyond its limits has gradient 0.
#[allow(clippy::too_many_arguments)]
pub fn gradient(
    (low, high): (f32, f32),
    weight: f32,
    action: &[f32],
    log_std: &[f32],
    normal: &[f32],
    d_action: &[f32],
    d_mean: &mut [f32],
    d_log_std: &mut [f32],
) {
    let rows = action.iter().zip(log_std).zip(normal.iter().zip(d_action));
    for (((action, log_std), (normal, d_action)), (d_mean, d_log_std)) in rows.zip(d_mean.iter_mut().zip(d_log_std)) {
        let by_raw = d_action * (1.0 - action * action) + weight * 2.0 * action;
        *d_mean = num::canonical(by_raw);
        let free = *log_std >= low && *log_std <= high;
        let deviation = num::exp(num::clamp(*log_std, low, high));
        *d_log_std = if free { num::canonical(by_raw * deviation * normal - weight) } else { 0.0 };
    }
}

/// The gradient of temperature times (entropy - target) with respect to the logarithm of the temperature: with less entropy
/// than the target the temperature rises.
pub fn temperature_gradient(temperature: f32, entropy: f32, target: f32) -> f32 {
    temperature * (entropy - target)
}
