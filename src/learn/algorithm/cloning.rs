//! Imitation of kept demonstrations beside an algorithm's own loss off policy: large margins of Q (DQfD, Hester et al. 2018), the
//! squared distance of TD3's actions (TD3+BC, Fujimoto & Gu 2021), minus the log-density and the cross-entropy of SAC's.
//!
//! The term is `imitation_coef` times the mean of the losses of [`imitation`] over the demonstrations of the whole batch.

use super::q;
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::categorical;
use crate::learn::imitation::{self, Target};
use crate::learn::learner::context::ChunkContext;
use crate::num;

/// The least mean size of values that the policy's loss of TD3 is divided by.
const LEAST_SIZE: f32 = 1e-6;

/// Whether the batch has demonstrations that are imitated.
pub(super) fn is_on(b: &ChunkContext<'_, '_>) -> bool {
    b.batch.demonstrated > 0 && b.batch.imitation_coef > 0.0
}

/// The factor of values in the policy's loss: of TD3 1 over their mean size in the batch, where it imitates.
pub(super) fn value_factor(b: &ChunkContext<'_, '_>) -> f32 {
    let normalizes = is_on(b) && b.config.needs().critics && !b.config.needs().temperature;
    if normalizes { 1.0 / num::max(b.batch.value_size, LEAST_SIZE) } else { 1.0 }
}

/// Writes the gradients of the term with respect to these outputs of the network of Q or of the policy: of its first head, and
/// behind those of all rows those of its second one, logarithms of deviations. `means`: a row of Q, if outputs are distributions.
/// Nothing is written without demonstrations to imitate.
pub(super) fn gradients(
    b: &ChunkContext<'_, '_>,
    [outputs, others]: [&[f32]; 2],
    means: &mut [f32],
    to: &mut [f32],
) -> Result {
    if !is_on(b) {
        return Ok(());
    }
    let (c, m, width) = (b.config, b.order.len(), b.sizes.net.head_len(0));
    let a = if c.needs().q { 0 } else { b.sizes.std_len };
    let weight = b.batch.imitation_coef / b.batch.demonstrated as f32;
    to.fill(0.0);
    let (first, second) = to.split_at_mut_checked(m.saturating_mul(width)).ok_or(LayoutError)?;
    for (i, slot) in b.order.iter().enumerate().filter(|(_, slot)| **slot >= c.buffer_size) {
        let slot = *slot as usize;
        let (said, d_said) = (block::rows(outputs, i, 1, width)?, block::rows_mut(first, i, 1, width)?);
        if c.needs().q {
            of_q(b, (slot, weight), said, means, d_said)?;
        } else {
            let spread = others.len().checked_div(m).unwrap_or(0);
            let d_log_std = block::rows_mut(second, i, 1, spread)?;
            of_policy(b, (slot, weight), [said, block::rows(others, i, 1, spread)?], a, [d_said, d_log_std])?;
        }
    }
    Ok(())
}

/// Adds the gradients of [`gradients`] to those of the two heads.
pub(super) fn add(b: &ChunkContext<'_, '_>, cloned: &[f32], [first, second]: [&mut [f32]; 2]) {
    if is_on(b) {
        first.iter_mut().chain(second).zip(cloned).for_each(|(to, x)| *to = num::canonical(*to + *x));
    }
}

/// The mask of the observation in a slot, if choices are masked.
fn mask<'b>(b: &ChunkContext<'_, 'b>, slot: usize) -> Result<Option<&'b [u8]>> {
    let flags = b.sizes.replay.own_masks;
    Ok(if flags > 0 { Some(block::rows(b.batch.store.mask, slot, 1, flags)?) } else { None })
}

fn of_q(
    b: &ChunkContext<'_, '_>,
    (slot, weight): (usize, f32),
    said: &[f32],
    means: &mut [f32],
    d_said: &mut [f32],
) -> Result {
    let (n, of) = (b.head.choices(), b.config.value_head());
    let (l, width) = (b.shape.choices_len(), of.width());
    let target = Target::Choice(block::rows(b.batch.store.choice, slot, 1, n.len())?);
    let (values, d_q) = (q::means(of, said, means), d_said.get_mut(..l).ok_or(LayoutError)?);
    imitation::margin(n, values, mask(b, slot)?, target, (b.config.imitation_margin, weight), d_q);
    // The gradients with respect to Q are in front of those that they become, so the last one is read first.
    for k in (0..l).rev().filter(|_| width > 1) {
        let slope = *d_said.get(k).ok_or(LayoutError)?;
        of.slope(block::rows(said, k, 1, width)?, slope, block::rows_mut(d_said, k, 1, width)?);
    }
    Ok(())
}

fn of_policy(
    b: &ChunkContext<'_, '_>,
    (slot, weight): (usize, f32),
    [said, log_std]: [&[f32]; 2],
    a: usize,
    [d_said, d_log_std]: [&mut [f32]; 2],
) -> Result {
    let (c, n, store) = (b.config, b.head.choices(), &b.batch.store);
    let l = said.len().saturating_sub(a);
    let (logits, mean) = said.split_at_checked(l).ok_or(LayoutError)?;
    let (d_logits, d_mean) = d_said.split_at_mut_checked(l).ok_or(LayoutError)?;
    if l > 0 {
        let choice = block::rows(store.choice, slot, 1, n.len())?;
        categorical::log_softmax(&b.head.logits(1, logits, mask(b, slot)?), d_logits)?;
        imitation::cross_entropy(n, Target::Choice(choice), weight, d_logits);
    }
    let action = block::rows(store.vector, slot, 1, a)?;
    if log_std.is_empty() {
        imitation::squared(mean, action, weight, d_mean);
        return Ok(());
    }
    let limits = (c.log_std_min, c.log_std_max);
    for (((mean, log_std), action), (d_mean, d_log_std)) in
        mean.iter().zip(log_std).zip(action).zip(d_mean.iter_mut().zip(d_log_std))
    {
        let (mut raw, mut by_mean, mut by_log_std) = ([*action], [0.0], [0.0]);
        imitation::unsquash(&mut raw);
        imitation::normal(limits, &[*mean], &[*log_std], &raw, weight, &mut by_mean, &mut by_log_std);
        *d_mean = by_mean[0];
        *d_log_std = if c.imitation_fit_std != 0 { by_log_std[0] } else { 0.0 };
    }
    Ok(())
}
