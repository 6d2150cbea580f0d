//! The common part of objectives of a policy and its values: a forward pass of rows of the rollout, a loss with its derivatives
//! with respect to the actions' log-probabilities and the values, and the backward pass.

use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::moments;
use crate::learn::actor::Raw;
use crate::learn::actor_config::{POLICY, VALUE};
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::{COLUMNS, Scratch, log_std, log_std_mut};
use crate::learn::loss::{Batch, Coefficients, Losses};
use crate::learn::rows::Rows;

/// Fills the record of chunk `chunk`, which is initially zero: the gradients of the parameters, then the losses. `loss` writes
/// its derivatives with respect to log-probability and value, and receives those with respect to entropy; it may use the spare
/// columns.
pub(super) fn chunk(
    b: &ChunkContext<'_, '_>,
    w: &mut Scratch<'_>,
    record: &mut [f32],
    loss: impl FnOnce(&Batch<'_>, &Coefficients, &mut [f32], [&mut [f32]; 3]) -> Result<Losses>,
) -> Result {
    let (c, sizes, shape, r) = (b.config, b.sizes, b.shape, &b.rollout);
    let num_rows = c.loss_rows();
    let l = shape.num_outputs as usize;
    let (begin, end) = c.chunk(b.chunk);
    let (order, advantage) =
        (b.order.get(begin..end).ok_or(LayoutError)?, b.advantage.get(begin..end).ok_or(LayoutError)?);
    let (rows, m) = (Rows::new(order, 0), order.len());

    let obs = b.obs(rows, w.obs)?;
    let choice = rows.get(r.choice, shape.action_lens().0, w.choice)?;
    let vector = rows.get(r.vector, sizes.std_len, w.vector)?;
    let mask = if c.use_action_mask != 0 { Some(&*rows.get(r.mask, shape.mask_len(), w.mask)?) } else { None };
    let (scalar, spare) = w.scalar.split_at_mut_checked(m.saturating_mul(COLUMNS)).ok_or(LayoutError)?;
    let mut columns = scalar.chunks_exact_mut(m.max(1));
    let mut column = || columns.next().ok_or(LayoutError);
    let old_log_prob = rows.get(r.log_prob, 1, column()?)?;
    let old_value = rows.get(r.value, 1, column()?)?;
    let value_target = rows.get(r.value_target, 1, column()?)?;
    let (log_prob, value, d_log_prob, d_value) = (column()?, column()?, column()?, column()?);
    let entropy = column()?;

    let (outputs, d_outputs) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
    let tape = block::rows_mut(w.tape, 0, sizes.net.tape_len(m), 1)?;
    let carry = b.carry(m, w.state, w.cut)?;
    let raw = Raw { choice, vector };
    if !b.prime.is_empty() {
        let to = &mut [&mut *outputs];
        sizes.net.forward(b.prime, obs, m, POLICY, &carry, tape, w.scratch, to)?;
        b.head.with(log_std(b.prime, sizes)?).evaluate(outputs, mask, raw, old_log_prob, entropy)?;
    }
    sizes.net.forward(b.params, obs, m, POLICY | VALUE, &carry, tape, w.scratch, &mut [outputs, value])?;
    b.head.evaluate(outputs, mask, raw, log_prob, entropy)?;

    let batch = Batch { num_rows, log_prob, old_log_prob, advantage, value, old_value, value_target };
    let coefficients = Coefficients { clip: b.clip, value_clip: c.value_clip, value_coef: c.value_coef };
    let entropy_share = moments::mean_std(entropy)?.0 * (m as f64 / num_rows as f64);
    let d_entropy = entropy;
    d_entropy.fill(-b.entropy_coef / num_rows as f32);
    let losses = loss(&batch, &coefficients, spare, [&mut *d_log_prob, &mut *d_value, &mut *d_entropy])?;

    let (grads, to) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
    let Losses { policy_loss, value_loss, approx_kl, clip_fraction } = losses;
    block::copy(to, &[policy_loss, value_loss, approx_kl, clip_fraction, entropy_share as f32]);
    let d_log_std = log_std_mut(grads, sizes)?;
    b.head.gradient(outputs, mask, raw, d_log_prob, d_entropy, d_outputs, d_log_std)?;
    sizes.net.backward(b.params, obs, m, POLICY | VALUE, &carry, tape, &[d_outputs, d_value], None, grads, w.scratch)
}
