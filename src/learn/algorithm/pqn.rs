//! Parallelized Q-networks (Gallici et al. 2024): Q(λ) over rollouts, without a replay store and target parameters.

use super::{Algorithm, Needs};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::learn::actor_config::POLICY;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::q_values::loss;
use crate::learn::rows::Rows;

/// Parallelized Q-networks.
pub(super) struct Pqn;

impl Algorithm for Pqn {
    const NEEDS: Needs = Needs { q: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        let (c, net, shape, r) = (b.config, &b.sizes.net, b.shape, &b.rollout);
        let (n, l) = (b.head.choices(), shape.num_outputs as usize);
        let (begin, end) = c.chunk(b.chunk);
        let order = b.order.get(begin..end).ok_or(LayoutError)?;
        let (rows, m) = (Rows::new(order, 0), order.len());
        let obs = b.obs(rows, w.obs)?;
        let choice = rows.get(r.choice, n.len(), w.choice)?;
        let target = rows.get(r.value_target, 1, w.scalar)?;
        let (q, d_q) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
        let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
        let carry = b.carry(m, w.state, w.cut)?;
        net.forward(b.params, obs, m, POLICY, &carry, tape, w.scratch, &mut [&mut *q])?;
        let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
        block::copy(losses, &[0.0, loss(n, q, choice, target, c.loss_rows(), d_q)]);
        net.backward(b.params, obs, m, POLICY, &carry, tape, &[&*d_q], None, grads, w.scratch)
    }
}
