//! The auxiliary tasks of UNREAL (Jaderberg et al. 2016): losses on past steps, whose gradients are added to those of the
//! algorithm.

use core::slice;

use super::policy_replay::{self, Pass, Taken};
use super::{pixel_control, reward_class};
use crate::block::{self, Fit, LayoutError};
use crate::error::Result;
use crate::learn::actor_config::{POLICY, VALUE};
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::loss;
use crate::learn::rows::Rows;
use crate::learn::store::history::{GIVEN_UP, GOES_ON, TERMINATED, TRUNCATED};
use crate::learn::tasks::{CLASS_UNITS, FIRST};

/// Index of the tasks' losses, after those of the algorithm, before weights are applied: of cells, of classes, and of values
/// or the policy.
const TASK_LOSSES: usize = 5;

/// Adds the gradients of the enabled tasks to the record of a chunk, and their losses after those of the algorithm.
pub(super) fn learn(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    if !b.config.has_tasks() {
        return Ok(());
    }
    let (begin, end) = b.config.replays(b.chunk);
    let drawn =
        |list: &'_ [u32]| list.get(begin..end).is_some_and(|list| !list.is_empty() && !list.contains(&u32::MAX));
    if b.sizes.tasks.replays() && drawn(b.history.sequence) {
        replay(b, b.history.sequence.get(begin..end).ok_or(LayoutError)?, w, record)?;
    }
    if b.sizes.tasks.class_head > 0 && drawn(b.history.last) {
        classify(b, b.history.last.get(begin..end).ok_or(LayoutError)?, w, record)?;
    }
    Ok(())
}

/// The factor of the sums of a task's losses, with `num` samples in a minibatch.
fn share(b: &ChunkContext<'_, '_>, num: usize) -> f32 {
    if b.config.sum_losses != 0 { 1.0 } else { 1.0 / num as f32 }
}

/// Value replay, policy replay and pixel control, on sequences that begin at these steps. Each sequence has one more step,
/// whose values bootstrap the returns.
fn replay(b: &ChunkContext<'_, '_>, begin: &[u32], w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let (c, sizes, tasks, steps) = (b.config, b.sizes, &b.sizes.tasks, b.config.replay_len());
    let m = steps.saturating_add(1).saturating_mul(begin.len());
    let past = list(b, begin, block::rows_mut(w.past, 0, m, 1)?)?;
    let obs = sizes.input((b.history.obs, b.history.pixels), None, &Rows::new(past, 0), w.obs)?;
    recall(b, past, begin.len(), w.state, w.cut)?;
    let carry = b.carry(m, steps.saturating_add(1), w.state, w.cut)?;
    let (value, rest) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
    let (d_value, rest) = rest.split_at_mut_checked(m).ok_or(LayoutError)?;
    let compared = if tasks.policy && policy_replay::compares(c) { m } else { 0 };
    let (old_log_prob, columns) = rest.split_at_mut_checked(compared).ok_or(LayoutError)?;
    let l = if tasks.policy { b.shape.num_outputs as usize } else { 0 };
    let (outputs, d_outputs) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
    let cells = tasks.cells();
    let width = cells.saturating_mul(tasks.choices);
    let (cell, d_cell) = (block::rows_mut(w.cell, 0, m, width)?, block::rows_mut(w.d_cell, 0, m, width)?);
    let (cell_value, d_cell_value) =
        (block::rows_mut(w.cell_value, 0, m, cells)?, block::rows_mut(w.d_cell_value, 0, m, cells)?);
    let tape = block::rows_mut(w.tape, 0, sizes.net.tape_len(m), 1)?;
    let of_cells = if cells > 0 { 3u32 << FIRST } else { 0 };
    let (heads, first) = match (tasks.policy, tasks.values) {
        (true, _) => (POLICY | VALUE | of_cells, 0),
        (_, true) => (VALUE | of_cells, 1),
        _ => (of_cells, 2),
    };
    let wanted = first..if cells > 0 { 4 } else { 2 };
    let learnt = past.get(..m.saturating_sub(begin.len())).ok_or(LayoutError)?;
    let taken = if tasks.policy { Some(Taken::new(b, learnt, w.choice, w.vector, w.mask)?) } else { None };
    if let Some(taken) = taken.as_ref().filter(|_| compared > 0) {
        if !b.prime.is_empty() {
            sizes.net.forward(b.prime, obs, m, POLICY, &carry, tape, w.scratch, &mut [&mut *outputs])?;
        }
        taken.compare(b, learnt, outputs, d_value, old_log_prob)?;
    }
    let outs = &mut [&mut *outputs, &mut *value, &mut *cell, &mut *cell_value];
    let outs = outs.get_mut(wanted.clone()).ok_or(LayoutError)?;
    sizes.net.forward(b.params, obs, m, heads, &carry, tape, w.scratch, outs)?;

    d_outputs.fill(0.0);
    d_value.fill(0.0);
    d_cell.fill(0.0);
    d_cell_value.fill(0.0);
    let share = share(b, steps.saturating_mul(c.num_replays()));
    let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
    if let Some([cell_loss, _, value_loss]) = losses.get_mut(TASK_LOSSES..) {
        if cells > 0 {
            let (d_advantage, d_value) = (&mut *d_cell, &mut *d_cell_value);
            let (advantage, value, change, target) = (&*cell, &*cell_value, &mut *w.change, &mut *w.target);
            let pass = pixel_control::Pass { past, obs, advantage, value, d_advantage, d_value, change, target };
            *cell_loss = (pass.learn(b, begin.len(), share)? * f64::from(share)) as f32;
        }
        if tasks.values {
            *value_loss = (replay_values(b, past, begin.len(), share, value, d_value)? * f64::from(share)) as f32;
        }
        if let Some(taken) = taken {
            let (outputs, value, d_value, d_outputs) = (&*outputs, &*value, &mut *d_value, &mut *d_outputs);
            let pass = Pass { past, taken, old_log_prob, outputs, value, d_outputs, d_value, columns };
            *value_loss = policy_replay::learn(b, pass, grads)?;
        }
    }
    let d_outs = [&*d_outputs, d_value, d_cell, d_cell_value];
    let d_outs = d_outs.get(wanted).ok_or(LayoutError)?;
    sizes.net.backward(b.params, obs, m, heads, &carry, tape, d_outs, None, grads, w.scratch)
}

/// Lists the slots of the steps of sequences that begin at these slots, `[steps, sequences]`.
fn list<'p>(b: &ChunkContext<'_, '_>, begin: &[u32], past: &'p mut [u32]) -> Fit<&'p [u32]> {
    for (row, to) in past.iter_mut().enumerate() {
        let (Some(step), Some(k)) = (row.checked_div(begin.len()), row.checked_rem(begin.len())) else {
            return Err(LayoutError);
        };
        *to = b.history.after(*begin.get(k).ok_or(LayoutError)?, step);
    }
    Ok(past)
}

/// Marks the steps of sequences that begin an episode or a sequence, and copies their recurrent states.
fn recall(b: &ChunkContext<'_, '_>, past: &[u32], sequences: usize, state: &mut [f32], cut: &mut [u8]) -> Fit<()> {
    let (h, width) = (&b.history, b.sizes.state_len());
    if width == 0 {
        return Ok(());
    }
    for (row, (&slot, cut)) in past.iter().zip(block::rows_mut(cut, 0, past.len(), 1)?).enumerate() {
        let before = row.checked_sub(sequences).and_then(|row| past.get(row));
        *cut = u8::from(before.is_none_or(|&before| h.ends.get(before as usize) != Some(&GOES_ON)));
        if *cut != 0 {
            let from = block::rows(h.state, slot as usize, 1, width)?;
            block::copy(block::rows_mut(state, row, 1, width)?, from);
        }
    }
    Ok(())
}

/// The sum of the squared errors of the values of past steps, `[steps + 1, sequences]`. Writes their weighted gradients, which
/// are initially zero.
fn replay_values(
    b: &ChunkContext<'_, '_>,
    past: &[u32],
    sequences: usize,
    share: f32,
    value: &[f32],
    d_value: &mut [f32],
) -> Fit<f64> {
    let (c, h, rows) = (b.config, &b.history, past.len().saturating_sub(sequences));
    let mut sum = 0.0;
    for k in 0..sequences {
        let mut value_return = *value.get(rows.saturating_add(k)).ok_or(LayoutError)?;
        for row in (0..rows).skip(k).step_by(sequences.max(1)).rev() {
            let slot = *past.get(row).ok_or(LayoutError)? as usize;
            let (ends, reward) = (*h.ends.get(slot).ok_or(LayoutError)?, *h.reward.get(slot).ok_or(LayoutError)?);
            let own = *value.get(row).ok_or(LayoutError)?;
            value_return = match ends {
                GOES_ON => reward + c.discount_over(h.duration.get(slot)) * value_return,
                TERMINATED => reward,
                TRUNCATED => {
                    reward + c.discount_over(h.duration.get(slot)) * *h.final_value.get(slot).ok_or(LayoutError)?
                }
                _ => own,
            };
            if ends != GIVEN_UP {
                let d_own = slice::from_mut(d_value.get_mut(row).ok_or(LayoutError)?);
                sum += loss::squared_error(&[own], &[value_return], c.value_replay_coef * share, d_own);
            }
        }
    }
    Ok(sum)
}

/// Predicts the classes of the rewards after these steps.
fn classify(b: &ChunkContext<'_, '_>, last: &[u32], w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let (c, sizes, h, tasks) = (b.config, b.sizes, &b.history, &b.sizes.tasks);
    let (frames, width) = (tasks.frames, tasks.frames.saturating_mul(CLASS_UNITS));
    let (m, all) = (last.len().saturating_mul(frames), width.saturating_mul(frames));
    let past = block::rows_mut(w.past, 0, m, 1)?;
    for (own, &last) in past.chunks_exact_mut(frames.max(1)).zip(last) {
        own.iter_mut().rev().enumerate().for_each(|(k, to)| *to = h.before(last, k));
    }
    let obs = sizes.input((h.obs, h.pixels), None, &Rows::new(past, 0), w.obs)?;
    if sizes.state_len() > 0 {
        // Reward prediction uses no recurrent states.
        block::rows_mut(w.cut, 0, m, 1)?.fill(1);
        block::rows_mut(w.state, 0, m, sizes.state_len())?.fill(0.0);
    }
    let carry = b.carry(m, m, w.state, w.cut)?;
    let (share_of, d_share) = (block::rows_mut(w.class, 0, m, width)?, block::rows_mut(w.d_class, 0, m, width)?);
    let tape = block::rows_mut(w.tape, 0, sizes.net.tape_len(m), 1)?;
    let heads = 1u32.checked_shl(tasks.class_head as u32).unwrap_or(0);
    sizes.net.forward(b.params, obs, m, heads, &carry, tape, w.scratch, &mut [&mut *share_of])?;
    let share = share(b, c.num_replays());
    let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
    let free = sizes.net.free_params(tasks.class_head);
    let own = b.params.get(free.clone()).ok_or(LayoutError)?;
    d_share.fill(0.0);
    let mut loss = 0.0f64;
    for (k, &last) in last.iter().enumerate() {
        let reward = *h.reward.get(last as usize).ok_or(LayoutError)?;
        loss += reward_class::predict(
            frames,
            block::rows(share_of, k, 1, all)?,
            own,
            reward_class::class(reward, c.reward_threshold),
            c.reward_class_coef * share,
            block::rows_mut(d_share, k, 1, all)?,
            grads.get_mut(free.clone()).ok_or(LayoutError)?,
        )?;
    }
    if let Some([_, classes, _]) = losses.get_mut(TASK_LOSSES..) {
        *classes = (loss * f64::from(share)) as f32;
    }
    sizes.net.backward(b.params, obs, m, heads, &carry, tape, &[&*d_share], None, grads, w.scratch)
}
