//! Learning from each step alone, by eligibility traces (Elsayed et al. 2024): stream AC(λ) and stream Q(λ). The gradients
//! computed here are added to the traces: of the quantities that the error raises or lowers.

use super::{Algorithm, Needs, gradient};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::learn::actor_config::POLICY;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::{LOSSES, Scratch};
use crate::learn::loss::Losses;
use crate::learn::q_values;
use crate::learn::rows::Rows;

/// Index of the temporal-difference error among the losses.
pub const ERROR: usize = 5;
/// Index of the flag among the losses that is 1 if traces end with the step.
pub const CUT: usize = 6;

/// Stream AC(λ).
pub(super) struct StreamAc;

impl Algorithm for StreamAc {
    const NEEDS: Needs = Needs { traces: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        let error = actor_and_critic(b, w, record)?;
        write_error(b, record, error, false)
    }
}

/// Stream Q(λ).
pub(super) struct StreamQ;

impl Algorithm for StreamQ {
    const NEEDS: Needs = Needs { q: true, traces: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        let (error, cut) = q(b, w, record)?;
        write_error(b, record, error, cut)
    }
}

/// Writes the error of the update's only transition to the losses, and whether traces end with it.
fn write_error(b: &ChunkContext<'_, '_>, record: &mut [f32], error: f32, cut: bool) -> Result {
    let slot = *b.order.first().ok_or(LayoutError)? as usize;
    let ends = |flags: &[u8]| flags.get(slot).is_none_or(|&x| x != 0);
    let losses = record.get_mut(b.params.len()..).and_then(|to| to.first_chunk_mut::<LOSSES>()).ok_or(LayoutError)?;
    losses[ERROR] = error;
    losses[CUT] = if cut || ends(b.rollout.terminated) || ends(b.rollout.truncated) { 1.0 } else { 0.0 };
    Ok(())
}

/// The gradients of the value, and of the log-probability plus the weighted entropy. Since they are multiplied by the error,
/// the entropy is multiplied by its sign, so that entropy grows for errors of both signs.
fn actor_and_critic(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result<f32> {
    let error = *b.advantage.first().ok_or(LayoutError)?;
    let sign = if error == 0.0 { 0.0 } else { 1f32.copysign(error) };
    gradient::chunk(b, w, record, |batch, _, _, [d_log_prob, d_value, d_entropy]| {
        d_log_prob.fill(1.0);
        d_value.fill(1.0);
        d_entropy.fill(b.entropy_coef * sign);
        let log_prob = *batch.log_prob.first().ok_or(LayoutError)?;
        Ok(Losses { policy_loss: -log_prob * error, value_loss: 0.5 * error * error, ..Losses::default() })
    })?;
    Ok(error)
}

/// The gradient of Q of the chosen action, the mean over its elements. Returns the difference of the target and this Q, and
/// whether there was a better choice.
fn q(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result<(f32, bool)> {
    let (c, net, shape, r) = (b.config, &b.sizes.net, b.shape, &b.rollout);
    let (n, l) = (b.head.choices(), shape.num_outputs as usize);
    let rows = Rows::new(b.order, 0);
    let obs = b.obs(rows, w.obs)?;
    let choice = rows.get(r.choice, n.len(), w.choice)?;
    let mask = if c.use_action_mask != 0 { Some(&*rows.get(r.mask, shape.mask_len(), w.mask)?) } else { None };
    let target = *rows.get(r.value_target, 1, w.scalar)?.first().ok_or(LayoutError)?;
    let (q, d_q) = (block::rows_mut(w.outputs, 0, 1, l)?, block::rows_mut(w.d_outputs, 0, 1, l)?);
    let tape = block::rows_mut(w.tape, 0, net.tape_len(1), 1)?;
    let carry = b.carry(1, w.state, w.cut)?;
    net.forward(b.params, obs, 1, POLICY, &carry, tape, w.scratch, &mut [&mut *q])?;
    let (value, is_best) = q_values::of_choice(n, q, mask, choice, d_q);
    let error = target - value;
    let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
    block::copy(losses, &[0.0, 0.5 * error * error]);
    net.backward(b.params, obs, 1, POLICY, &carry, tape, &[&*d_q], None, grads, w.scratch)?;
    Ok((error, !is_best))
}
