//! Soft actor-critic for actions of choices and numbers (Delalleau et al. 2019): the policy has a distribution of each choice
//! and one of the numbers, independent of each other; critics read the numbers and output Q of every choice. Expectations over
//! the choices are exact, those over the numbers are of samples that gradients pass through.
//!
//! As in [`discrete_sac`], each choice of an action has its own Q, and results are means over the choices: the value of a choice
//! is the mean of its Q, plus the weighted entropies of itself and of the numbers. The policy's entropy, which the temperature
//! keeps at its target, is the sum of those of all choices and of the numbers; so is the target.
//!
//! Layouts as in [`discrete_sac`] and [`critic`](super::critic).

use super::critic::{Ascent, join, learn, lowest, share};
use super::unroll::{CriticStates, Of, When, unroll};
use super::{cloning, discrete_sac, q, sac};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::{COLUMNS, Scratch};
use crate::learn::rows::Rows;
use crate::nn::ALL;
use crate::num;

/// As [`critic::chunk`](super::critic::chunk), and with masks also the target entropy of the choices.
pub(super) fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    if b.batch.policy_next { policy(b, w, record) } else { critics(b, w, record, errors) }
}

fn critics(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    let (c, n, s, net) = (b.config, b.head.choices(), &b.batch.store, &b.sizes.critic);
    let (rows, m, a) = (Rows::new(b.order, 0), b.order.len(), b.sizes.std_len);
    let (l, k) = (b.sizes.replay.choice_values, n.len());
    let outputs = block::rows_mut(w.outputs, 0, m, l.saturating_add(a))?;
    let (log_prob, mean) = block::rows_mut(w.d_outputs, 0, m, l.saturating_add(a))?
        .split_at_mut_checked(m.saturating_mul(l))
        .ok_or(LayoutError)?;
    let (log_std, rest) = w.batch.others.split_at_mut_checked(m.saturating_mul(a)).ok_or(LayoutError)?;
    let (q, other) = (block::rows_mut(rest, 0, m, l)?, block::rows_mut(w.batch.d_others, 0, m, l)?);
    let (choice, target) = (b.choices(&rows, w.choice)?, block::rows_mut(w.batch.target, 0, m, k)?);
    let (action, pair) = (block::rows_mut(w.vector, 0, m, a)?, block::rows_mut(w.batch.pairs, 0, m, b.sizes.pair())?);
    let mut columns = block::rows_mut(w.scalar, 0, m, COLUMNS)?.chunks_exact_mut(m.max(1));
    let mut column = || columns.next().ok_or(LayoutError);
    let (reward, discount) = (b.rewards(&rows, column()?)?, b.discounts(&rows, column()?)?);
    let density = column()?;
    let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.next_mask, l, w.mask)?) } else { None };

    let obs = b.see_next(&rows, w.obs)?;
    let (mut unroll, own) = (unroll!(w), b.policy_of(b.params)?);
    let state = unroll.states(b, (Of::Policy, own), When::Next, w.scratch)?;
    q::infer(&b.sizes.net, own, obs, m, state, w.scratch, outputs, log_std)?;
    b.head.log_softmax(outputs, mask, log_prob)?;
    means(b, outputs, mean)?;
    sac::act((c.log_std_min, c.log_std_max), mean, log_std, b.batch.draws[0], action, density);
    let input = join((obs, b.sizes.seen.len), (action, a), pair);
    let critics = b.batch.target.get(b.sizes.net.param_len()..).ok_or(LayoutError)?;
    let mut states = CriticStates { unroll: &mut unroll, b, when: When::Next };
    lowest(net, critics, input, m, &mut states, w.scratch, other, q)?;
    discrete_sac::values(n, log_prob, q, b.batch.temperature, target);
    let of_rows = target.chunks_exact_mut(k.max(1)).zip(&*density).zip(reward.iter().zip(discount));
    for ((target, density), (reward, discount)) in of_rows {
        target.iter_mut().for_each(|x| *x = *reward + *discount * (*x - b.batch.temperature * density));
    }

    let obs = b.see(&rows, w.obs)?;
    let input = join((obs, b.sizes.seen.len), (b.actions(&rows, action)?, a), pair);
    let q_loss = |q: &[f32], d_q: &mut [f32]| discrete_sac::loss(b, q, (choice, target), errors, d_q);
    learn(b, input, [q, log_prob], unroll, w.batch.critic_tape, w.scratch, record, q_loss)
}

fn policy(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let (c, n, s, net) = (b.config, b.head.choices(), &b.batch.store, &b.sizes.net);
    let (rows, m, a) = (Rows::new(b.order, 0), b.order.len(), b.sizes.std_len);
    let (l, limits, noise) = (b.sizes.replay.choice_values, (c.log_std_min, c.log_std_max), b.batch.draws[1]);
    let outputs = block::rows_mut(w.outputs, 0, m, l.saturating_add(a))?;
    let (log_prob, mean) = block::rows_mut(w.d_outputs, 0, m, l.saturating_add(a))?
        .split_at_mut_checked(m.saturating_mul(l))
        .ok_or(LayoutError)?;
    let (log_std, rest) = w.batch.others.split_at_mut_checked(m.saturating_mul(a)).ok_or(LayoutError)?;
    let value = block::rows_mut(rest, 0, m, l)?;
    let (d_log_std, rest) = w.batch.d_others.split_at_mut_checked(m.saturating_mul(a)).ok_or(LayoutError)?;
    let other = block::rows_mut(rest, 0, m, l)?;
    let (action, d_action) = (block::rows_mut(w.vector, 0, m, a)?, block::rows_mut(w.batch.d_vector, 0, m, a)?);
    let density = block::rows_mut(w.scalar, 0, m, 1)?;
    let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.mask, l, w.mask)?) } else { None };

    let obs = b.see(&rows, w.obs)?;
    let own = b.policy_of(b.params)?;
    let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
    let mut unroll = unroll!(w);
    unroll.start(b, (Of::Policy, own), 0, w.scratch)?;
    let outs = &mut [&mut *outputs, &mut *log_std];
    net.forward(own, obs, m, ALL, &unroll.carry(b, 0)?, tape, w.scratch, outs)?;
    cloning::gradients(b, [outputs, log_std], &mut [], w.batch.cloned)?;
    b.head.log_softmax(outputs, mask, log_prob)?;
    means(b, outputs, mean)?;
    sac::act(limits, mean, log_std, noise, action, density);
    let mut critics = Ascent {
        count: b.sizes.replay.num_critics,
        input: join((obs, b.sizes.seen.len), (action, a), block::rows_mut(w.batch.pairs, 0, m, b.sizes.pair())?),
        value,
        other,
        // The outputs have been read.
        d_value: block::rows_mut(outputs, 0, m, l)?,
        quantiles: &mut [],
        d_quantiles: &mut [],
        d_pair: block::rows_mut(w.batch.d_pairs, 0, m, b.sizes.pair())?,
        tapes: w.batch.critic_tape,
        unroll: &mut unroll,
        scratch: w.scratch,
    };
    critics.forward(b)?;
    // Q counts by the probability of its choice.
    let of_choice = share(b) / n.len() as f32;
    let chances = log_prob.iter().map(|log_prob| -of_choice * num::exp(*log_prob));
    critics.backward(b, chances, d_action)?;
    value.iter_mut().zip(&*other).for_each(|(to, x)| *to = if x.is_nan() || *x < *to { *x } else { *to });
    let (loss, entropy) = discrete_sac::descend(n, value, b.batch.temperature, c.batch_size as usize, log_prob);
    let density: f64 = density.iter().map(|x| f64::from(*x)).sum::<f64>() * f64::from(share(b));
    let loss = f64::from(loss) + f64::from(b.batch.temperature) * density;
    let target = mask.map_or(0.0, |mask| discrete_sac::target_entropy(n, Some(mask), c.target_entropy));
    let target = target * f64::from(share(b));
    let (grads, losses) = record.split_at_mut_checked(b.sizes.params()).ok_or(LayoutError)?;
    let spread = super::critic::spread(b, log_std);
    block::copy(losses, &[loss as f32, (f64::from(entropy) - density) as f32, spread, target as f32]);
    let weight = b.batch.temperature * share(b);
    sac::gradient(limits, weight, action, log_std, noise, d_action, mean, d_log_std);
    for (i, row) in outputs.chunks_exact_mut(l.saturating_add(a).max(1)).enumerate() {
        let (logits, means) = row.split_at_mut_checked(l).ok_or(LayoutError)?;
        block::copy(logits, block::rows(log_prob, i, 1, l)?);
        block::copy(means, block::rows(mean, i, 1, a)?);
    }
    let grads = grads.get_mut(..net.param_len()).ok_or(LayoutError)?;
    cloning::add(b, w.batch.cloned, [outputs, d_log_std]);
    let d_outs = &[&*outputs, d_log_std];
    net.backward(own, obs, m, ALL, &unroll.carry(b, 0)?, tape, d_outs, None, grads, w.scratch)
}

/// The means of all rows, which follow the logits of each.
fn means(b: &ChunkContext<'_, '_>, outputs: &[f32], to: &mut [f32]) -> Result {
    for (i, to) in to.chunks_exact_mut(b.sizes.std_len.max(1)).enumerate() {
        block::copy(to, b.head.said(outputs, None, i)?.mean);
    }
    Ok(())
}
