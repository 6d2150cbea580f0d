//! Off-policy actor-critic, as in btgym: A2C's loss on past steps, treated as if the policy had just taken them.

use crate::block::{self, Fit, LayoutError};
use crate::error::{Result, check_finite};
use crate::kernels::gae::Chain;
use crate::learn::actor::Raw;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::log_std_mut;
use crate::learn::loss::{self, Batch, Coefficients};
use crate::learn::rows::Rows;
use crate::learn::store::history::{GIVEN_UP, TERMINATED, TRUNCATED};

/// A pass over past steps, `[steps + 1, sequences]`; the last step of each sequence is not learned from.
pub(super) struct Pass<'p> {
    /// Slots of the steps, network outputs, and their gradients, which are initially zero.
    pub past: &'p [u32],
    pub outputs: &'p [f32],
    pub value: &'p [f32],
    pub d_outputs: &'p mut [f32],
    pub d_value: &'p mut [f32],
    /// Working space for six columns, and for actions and masks of all steps.
    pub columns: &'p mut [f32],
    pub choice: &'p mut [i32],
    pub vector: &'p mut [f32],
    pub mask: &'p mut [u8],
}

/// Returns the loss of the steps, and writes its weighted gradients with respect to outputs and values; those with respect to
/// logarithms of standard deviations are added to `grads`.
pub(super) fn learn(b: &ChunkContext<'_, '_>, p: Pass<'_>, grads: &mut [f32]) -> Result<f32> {
    let (c, h, shape, m) = (b.config, &b.history, b.shape, p.past.len());
    let sequences = m.checked_div(c.replay_len().saturating_add(1)).ok_or(LayoutError)?;
    let rows = m.saturating_sub(sequences);
    let num_rows = if c.sum_losses != 0 { 1 } else { c.replay_len().saturating_mul(c.num_replays()) };
    let slots = Rows::new(block::rows(p.past, 0, rows, 1)?, 0);
    let choice = slots.get(h.choice, shape.action_lens().0, p.choice)?;
    let std_len = b.sizes.std_len;
    let (vector, d_log_std) = p.vector.split_at_mut_checked(rows.saturating_mul(std_len)).ok_or(LayoutError)?;
    let raw = Raw { choice, vector: slots.get(h.vector, std_len, vector)? };
    let mask = if c.use_action_mask != 0 { Some(&*slots.get(h.mask, shape.mask_len(), p.mask)?) } else { None };

    let mut columns = p.columns.chunks_exact_mut(m.max(1));
    let mut column = || columns.next().ok_or(LayoutError);
    let old_value = Rows::new(p.past, 0).get(h.value, 1, column()?)?;
    let mut column = || block::rows_mut(column()?, 0, rows, 1);
    let (advantage, value_target, log_prob) = (column()?, column()?, column()?);
    let (entropy, d_log_prob) = (column()?, column()?);
    let value = block::rows(p.value, 0, rows, 1)?;
    let outputs = block::rows(p.outputs, 0, rows, shape.num_outputs as usize)?;
    b.head.evaluate(outputs, mask, raw, log_prob, entropy)?;

    let d_entropy = -b.entropy_coef / num_rows as f32;
    let mut estimates = Estimates { old_value, advantage, value_target, entropy };
    let sum_entropy = estimates.compute(b, p.past, sequences, value, d_entropy)?;
    let Estimates { old_value, advantage, value_target, entropy } = estimates;
    check_finite("learner replay", advantage).and(check_finite("learner replay", value_target))?;

    let batch = Batch {
        num_rows,
        log_prob,
        old_log_prob: log_prob,
        advantage,
        value,
        old_value: block::rows(old_value, 0, rows, 1)?,
        value_target,
    };
    let coefficients = Coefficients { clip: b.clip, value_clip: c.value_clip, value_coef: c.value_coef };
    let d_value = block::rows_mut(p.d_value, 0, rows, 1)?;
    let losses = loss::actor_and_critic(&batch, &coefficients, d_log_prob, d_value)?;
    for x in d_log_prob.iter_mut().chain(&mut *d_value).chain(&mut *entropy) {
        *x *= c.policy_replay_coef;
    }
    let d_outputs = block::rows_mut(p.d_outputs, 0, rows, shape.num_outputs as usize)?;
    let d_log_std = block::rows_mut(d_log_std, 0, 1, std_len)?;
    b.head.gradient(outputs, mask, raw, d_log_prob, entropy, d_outputs, d_log_std)?;
    log_std_mut(grads, b.sizes)?.iter_mut().zip(d_log_std).for_each(|(to, x)| *to += *x);
    let entropy = (sum_entropy / num_rows as f64) as f32;
    Ok(losses.policy_loss + c.value_coef * losses.value_loss - b.entropy_coef * entropy)
}

/// Estimates for the steps.
struct Estimates<'p> {
    /// Values when the steps were taken, also of the last step of each sequence; after an unknown result the values of now.
    old_value: &'p mut [f32],
    advantage: &'p mut [f32],
    value_target: &'p mut [f32],
    /// The entropies, then the gradients with respect to them.
    entropy: &'p mut [f32],
}

impl Estimates<'_> {
    /// Computes them, and returns the sum of the entropies.
    fn compute(
        &mut self,
        b: &ChunkContext<'_, '_>,
        past: &[u32],
        sequences: usize,
        value: &[f32],
        d_entropy: f32,
    ) -> Fit<f64> {
        let (c, h, rows) = (b.config, &b.history, past.len().saturating_sub(sequences));
        let mut sum_entropy = 0.0f64;
        for k in 0..sequences {
            let (mut next, mut carry) = (*self.old_value.get(rows.saturating_add(k)).ok_or(LayoutError)?, 0.0);
            for row in (0..rows).skip(k).step_by(sequences).rev() {
                let slot = *past.get(row).ok_or(LayoutError)? as usize;
                let discount = c.discount_over(h.duration.get(slot));
                let chain = Chain::new(c.accumulation(), discount, c.gae_lambda);
                let (Some(&ends), Some(&reward), Some(&last)) =
                    (h.ends.get(slot), h.reward.get(slot), h.final_value.get(slot))
                else {
                    return Err(LayoutError);
                };
                let (now, entropy) =
                    (*value.get(row).ok_or(LayoutError)?, self.entropy.get_mut(row).ok_or(LayoutError)?);
                let own = self.old_value.get_mut(row).ok_or(LayoutError)?;
                let before = *own;
                let (to, target) = if ends == GIVEN_UP {
                    // The result of this step is unknown, so it is not learned from.
                    (*own, carry, *entropy) = (now, 0.0, 0.0);
                    (0.0, now)
                } else {
                    sum_entropy += f64::from(*entropy);
                    *entropy = d_entropy;
                    chain.step(reward, before, last, (ends == TERMINATED, ends == TRUNCATED), next, &mut carry)
                };
                next = before;
                *self.advantage.get_mut(row).ok_or(LayoutError)? = to;
                *self.value_target.get_mut(row).ok_or(LayoutError)? = target;
            }
        }
        Ok(sum_entropy)
    }
}
