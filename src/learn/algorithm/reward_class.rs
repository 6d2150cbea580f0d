//! Reward prediction (Jaderberg et al. 2016): whether the next reward is negative, zero or positive.

use crate::error::{Error, Kind, Result};
use crate::kernels::categorical::{self, Logits};
use crate::learn::tasks::{CLASS_UNITS, CLASSES};
use crate::num;

/// The class of a reward: 0 below `-threshold`, 2 above `threshold`, else 1.
pub fn class(reward: f32, threshold: f32) -> usize {
    if reward > threshold {
        2
    } else if reward < -threshold {
        0
    } else {
        1
    }
}

/// The cross-entropy of logits `[rows, 3]` with these classes, summed over the rows, and `weight` times its gradient. Errors:
/// `Shape`, `Range`, `Value`.
pub fn cross_entropy(logits: &[f32], class: &[i32], weight: f32, d_logits: &mut [f32]) -> Result<f64> {
    let bad = class.iter().find(|class| !(0..CLASSES as i32).contains(*class));
    let given = bad.map_or(0, |class| i64::from(*class));
    Error::new(Kind::Range, "reward class: a class from 0 to 2").given_i64(given).fail_if(bad.is_some())?;
    let batch = Logits { num_rows: class.len(), n: &[CLASSES as u32], logits, mask: None };
    categorical::log_softmax(&batch, d_logits)?;
    let mut sum = 0.0f64;
    for (row, &class) in d_logits.chunks_exact_mut(CLASSES).zip(class) {
        for (k, x) in (0..).zip(row) {
            let own = class == k;
            sum -= if own { f64::from(*x) } else { 0.0 };
            *x = weight * (num::exp(*x) - if own { 1.0 } else { 0.0 });
        }
    }
    Ok(sum)
}

/// The mean of [`cross_entropy`], and its gradient.
pub fn mean_cross_entropy(logits: &[f32], class: &[i32], d_logits: &mut [f32]) -> Result<f32> {
    let sum = cross_entropy(logits, class, 1.0 / class.len() as f32, d_logits)?;
    Ok((sum / class.len() as f64) as f32)
}

/// Processes one sequence of observations: adds their contributions to the hidden units, the oldest first, from `share`,
/// `[frames, frames, units]`, where that of observation k is at k, and returns the cross-entropy. `free` has the biases of the
/// units, the weights of the classes and their biases; `weight` times the gradients are added to `d_free`, and written to
/// `d_share`, which is initially zero.
pub(super) fn predict(
    frames: usize,
    share: &[f32],
    free: &[f32],
    class: usize,
    weight: f32,
    d_share: &mut [f32],
    d_free: &mut [f32],
) -> Result<f64> {
    let own = |k: usize| k.saturating_mul(frames).saturating_add(k).saturating_mul(CLASS_UNITS);
    let mut hidden = [0.0f32; CLASS_UNITS];
    hidden.iter_mut().zip(free).for_each(|(to, bias)| *to = *bias);
    for k in 0..frames {
        hidden.iter_mut().zip(share.iter().skip(own(k))).for_each(|(to, x)| *to += x);
    }
    hidden.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { num::canonical(num::exp(num::min(0.0, *x)) - 1.0) });
    let weights = free.get(CLASS_UNITS..).unwrap_or_default();
    let biases = weights.get(CLASSES * CLASS_UNITS..).unwrap_or_default();
    let mut logits = [0.0f32; CLASSES];
    for ((to, weights), bias) in logits.iter_mut().zip(weights.chunks_exact(CLASS_UNITS)).zip(biases) {
        *to = weights.iter().zip(&hidden).fold(*bias, |sum, (w, x)| sum + w * x);
    }
    let mut d_logits = [0.0f32; CLASSES];
    let loss = cross_entropy(&logits, &[class as i32], weight, &mut d_logits)?;

    let (d_bias, d_rest) = d_free.split_at_mut_checked(CLASS_UNITS).unwrap_or_default();
    let (d_weights, d_biases) = d_rest.split_at_mut_checked(CLASSES * CLASS_UNITS).unwrap_or_default();
    let mut d_hidden = [0.0f32; CLASS_UNITS];
    let rows = weights.chunks_exact(CLASS_UNITS).zip(d_weights.chunks_exact_mut(CLASS_UNITS));
    for ((d_logit, (weights, d_weights)), d_bias) in d_logits.iter().zip(rows).zip(d_biases) {
        *d_bias += d_logit;
        let units = weights.iter().zip(d_weights).zip(hidden.iter().zip(&mut d_hidden));
        for ((weight, d_weight), (hidden, d_hidden)) in units {
            *d_weight += d_logit * hidden;
            *d_hidden += d_logit * weight;
        }
    }
    for (d_hidden, hidden) in d_hidden.iter_mut().zip(&hidden) {
        *d_hidden *= if *hidden > 0.0 { 1.0 } else { 1.0 + hidden };
    }
    d_bias.iter_mut().zip(&d_hidden).for_each(|(to, x)| *to += x);
    for k in 0..frames {
        d_share.iter_mut().skip(own(k)).zip(&d_hidden).for_each(|(to, x)| *to = *x);
    }
    Ok(loss)
}
