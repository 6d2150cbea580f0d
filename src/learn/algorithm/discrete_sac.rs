//! Soft actor-critic for discrete actions (Christodoulou 2019): critics output Q of every choice, and expectations over the
//! policy's probabilities replace samples. Each element of an action has its own policy and Q; results are means over the
//! elements.
//!
//! In all calls `n` has the number of choices of each of K elements, with sum L: Q, log-probabilities and gradients are `[rows,
//! L]`. Choices that a mask forbids have probability 0.

use super::critic::{learn, lowest};
use super::unroll::{CriticStates, Of, When, unroll};
use super::{cloning, q};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::categorical::{Logits, log_softmax};
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::rows::Rows;
use crate::learn::value_head::ValueHead;
use crate::nn::ALL;
use crate::num;

/// As [`critic::chunk`](super::critic::chunk), and with masks also the target entropy.
pub(super) fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    if b.batch.policy_next { policy(b, w, record) } else { critics(b, w, record, errors) }
}

fn critics(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    let (n, s, net) = (b.head.choices(), &b.batch.store, &b.sizes.critic);
    let (rows, m) = (Rows::new(b.order, 0), b.order.len());
    let (l, k) = (b.sizes.replay.choice_values, n.len());
    let (logits, log_prob) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
    let (q, other) = (block::rows_mut(w.batch.others, 0, m, l)?, block::rows_mut(w.batch.d_others, 0, m, l)?);
    let (choice, target) = (b.choices(&rows, w.choice)?, block::rows_mut(w.batch.target, 0, m, k)?);
    let (reward, discount) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
    let (reward, discount) = (b.rewards(&rows, reward)?, b.discounts(&rows, discount)?);
    let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.next_mask, l, w.mask)?) } else { None };

    let obs = b.see_next(&rows, w.obs)?;
    let (mut unroll, own) = (unroll!(w), b.policy_of(b.params)?);
    let state = unroll.states(b, (Of::Policy, own), When::Next, w.scratch)?;
    q::infer(&b.sizes.net, own, obs, m, state, w.scratch, logits, &mut [])?;
    log_softmax(&Logits { num_rows: m, n, logits, mask }, log_prob)?;
    let critics = b.batch.target.get(b.sizes.net.param_len()..).ok_or(LayoutError)?;
    let mut states = CriticStates { unroll: &mut unroll, b, when: When::Next };
    lowest(net, critics, obs, m, &mut states, w.scratch, other, q)?;
    values(n, log_prob, q, b.batch.temperature, target);
    for (target, (reward, discount)) in target.chunks_exact_mut(k.max(1)).zip(reward.iter().zip(discount)) {
        target.iter_mut().for_each(|x| *x = *reward + *discount * *x);
    }

    let obs = b.see(&rows, w.obs)?;
    let q_loss = |q: &[f32], d_q: &mut [f32]| loss(b, q, (choice, target), errors, d_q);
    learn(b, obs, [q, log_prob], unroll, w.batch.critic_tape, w.scratch, record, q_loss)
}

/// The loss of a critic's Q of the choices taken, `[rows, K]`, whose errors are averaged over the critics and the elements of an
/// action, and the mean Q of these choices, as [`q::loss`] has them.
pub(super) fn loss(
    b: &ChunkContext<'_, '_>,
    q: &[f32],
    (choice, target): (&[i32], &[f32]),
    errors: &mut [f32],
    d_q: &mut [f32],
) -> (f32, f32) {
    let (c, n) = (b.config, b.head.choices());
    let share = 1.0 / b.sizes.replay.num_critics.saturating_mul(n.len()) as f32;
    let weigh = q::weigh(b.batch.importance, errors, share);
    q::loss(ValueHead::Mean, n, q, choice, target, c.batch_size as usize, c.huber != 0, d_q, weigh)
}

fn policy(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let (n, s, net, l) = (b.head.choices(), &b.batch.store, &b.sizes.net, b.sizes.replay.choice_values);
    let (rows, m) = (Rows::new(b.order, 0), b.order.len());
    let (logits, log_prob) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
    let (q, other) = (block::rows_mut(w.batch.others, 0, m, l)?, block::rows_mut(w.batch.d_others, 0, m, l)?);
    let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.mask, l, w.mask)?) } else { None };

    let obs = b.see(&rows, w.obs)?;
    let critics = b.params.get(net.param_len()..).ok_or(LayoutError)?;
    let mut unroll = unroll!(w);
    let mut states = CriticStates { unroll: &mut unroll, b, when: When::Now };
    lowest(&b.sizes.critic, critics, obs, m, &mut states, w.scratch, other, q)?;
    let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
    let own = b.policy_of(b.params)?;
    unroll.start(b, (Of::Policy, own), 0, w.scratch)?;
    let carry = unroll.carry(b, 0)?;
    net.forward(own, obs, m, ALL, &carry, tape, w.scratch, &mut [&mut *logits])?;
    cloning::gradients(b, [logits, &[]], &mut [], w.batch.cloned)?;
    log_softmax(&Logits { num_rows: m, n, logits, mask }, log_prob)?;
    let (loss, entropy) = descend(n, q, b.batch.temperature, b.config.batch_size as usize, log_prob);
    let (grads, losses) = record.split_at_mut_checked(b.sizes.params()).ok_or(LayoutError)?;
    let target = mask.map_or(0.0, |mask| target_entropy(n, Some(mask), b.config.target_entropy));
    block::copy(losses, &[loss, entropy, (target / f64::from(b.config.batch_size)) as f32]);
    let grads = grads.get_mut(..net.param_len()).ok_or(LayoutError)?;
    cloning::add(b, w.batch.cloned, [log_prob, &mut []]);
    net.backward(own, obs, m, ALL, &carry, tape, &[&*log_prob], None, grads, w.scratch)
}

/// The value of each element, `[rows, K]`: the mean of Q, plus `temperature` times the entropy.
pub fn values(n: &[u32], log_prob: &[f32], q: &[f32], temperature: f32, value: &mut [f32]) {
    let mut choices = log_prob.iter().zip(q);
    for (value, &n) in value.iter_mut().zip(n.iter().cycle()) {
        *value = 0.0;
        for (&log_prob, &q) in choices.by_ref().take(n as usize) {
            let p = num::exp(log_prob);
            *value += if p > 0.0 { p * (q - temperature * log_prob) } else { 0.0 };
        }
    }
}

/// The policy's loss of these rows and the sum of the entropies of their elements, each as a contribution to that of `num_rows`
/// rows; and the gradient with respect to logits, which replaces the log-probabilities.
///
/// The loss is the mean over the elements of the expectation of `temperature` times the log-probability, minus Q.
pub fn descend(n: &[u32], q: &[f32], temperature: f32, num_rows: usize, log_prob: &mut [f32]) -> (f32, f32) {
    let share = 1.0 / num_rows.saturating_mul(n.len()) as f32;
    let (mut loss, mut entropy) = (0.0f64, 0.0f64);
    let (mut rest, mut rest_q) = (log_prob, q);
    for &n in n.iter().cycle() {
        let Some((own, after)) = rest.split_at_mut_checked(n as usize).filter(|(own, _)| !own.is_empty()) else {
            break;
        };
        let Some((q, after_q)) = rest_q.split_at_checked(n as usize) else { break };
        (rest, rest_q) = (after, after_q);
        let mut mean = 0.0;
        for (&log_prob, &q) in own.iter().zip(q) {
            let p = num::exp(log_prob);
            if p > 0.0 {
                mean += p * (temperature * log_prob - q);
                entropy -= f64::from(p * log_prob);
            }
        }
        loss += f64::from(mean);
        for (x, &q) in own.iter_mut().zip(q) {
            let p = num::exp(*x);
            *x = if p > 0.0 { num::canonical(share * p * (temperature * *x - q - mean)) } else { 0.0 };
        }
    }
    ((loss * f64::from(share)) as f32, (entropy / num_rows as f64) as f32)
}

/// The target entropy of the temperature, summed over the rows with these masks; without masks that of one row. It is a share
/// of the largest entropy that the allowed choices of each element can have, the logarithm of their number; below 0: half.
pub fn target_entropy(n: &[u32], mask: Option<&[u8]>, share: f32) -> f64 {
    let share = if share < 0.0 { 0.5 } else { share };
    let of = |choices: usize| f64::from(share * num::ln(choices as f32));
    let Some(mut rest) = mask else { return n.iter().map(|&n| of(n as usize)).sum() };
    let mut sum = 0.0;
    for &n in n.iter().cycle() {
        let Some((own, after)) = rest.split_at_checked(n as usize).filter(|(own, _)| !own.is_empty()) else { break };
        sum += of(own.iter().filter(|allowed| **allowed != 0).count());
        rest = after;
    }
    sum
}
