//! Deep Q-networks (Mnih et al. 2015), double (van Hasselt et al. 2016) and dueling (Wang et al. 2016), also distributional.
//! Each element of an action has its own Q, and the loss is the mean over the elements (Tavakoli et al. 2018).
//!
//! In all calls `n` has the number of choices of each of K elements, with sum L: Q is `[rows, L]`, and choices are `[rows, K]`.
//! Distributions have `width` outputs for each Q: `[rows, L, width]`.

use super::unroll::{Of, When, unroll};
use super::{Algorithm, Needs, cloning};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::categorical::{self, Logits};
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::learn::rows::Rows;
use crate::learn::value_head::{Cost, ValueHead};
use crate::nn::{ALL, Input, Net};

/// Deep Q-networks.
pub(super) struct Dqn;

impl Algorithm for Dqn {
    const NEEDS: Needs = Needs { replay: true, q: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        let (c, n, net, s, of) = (b.config, b.head.choices(), &b.sizes.net, &b.batch.store, b.config.value_head());
        let (rows, m) = (Rows::new(b.order, 0), b.order.len());
        let (l, k) = (net.head_len(0), n.len());
        let (q, value) =
            (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.batch.others, 0, m, net.head_len(1))?);
        let (d_q, d_value) =
            (block::rows_mut(w.d_outputs, 0, m, l)?, block::rows_mut(w.batch.d_others, 0, m, net.head_len(1))?);
        let (choice, next) = (b.choices(&rows, w.choice)?, block::rows_mut(w.batch.best, 0, m, k)?);
        let target = block::rows_mut(w.batch.target, 0, m, k.saturating_mul(of.width()))?;
        let (reward, discount) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
        let (reward, discount) = (b.rewards(&rows, reward)?, b.discounts(&rows, discount)?);
        let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.next_mask, b.sizes.masks, w.mask)?) } else { None };

        let obs = b.see_next(&rows, w.obs)?;
        let mut unroll = unroll!(w);
        for (params, chooses) in
            [(b.params, true), (b.batch.target, false)].into_iter().skip(usize::from(c.double_q == 0))
        {
            let state = unroll.states(b, (Of::Policy, params), When::Next, w.scratch)?;
            infer(net, params, obs, m, state, w.scratch, q, value)?;
            if !of.is_mean() {
                combine(n, of.width(), q, value);
            }
            if chooses || c.double_q == 0 {
                best(n, means(of, q, w.batch.means), mask, next)?;
            }
        }
        if of.is_mean() {
            combine(n, 1, q, value);
        }
        targets(of, n, q, next, reward, discount, target);

        let obs = b.see(&rows, w.obs)?;
        let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
        let (grads, losses) = record.split_at_mut_checked(net.param_len()).ok_or(LayoutError)?;
        let heads = net.num_heads();
        let outs = &mut [&mut *q, &mut *value];
        unroll.start(b, (Of::Policy, b.params), 0, w.scratch)?;
        let carry = unroll.carry(b, 0)?;
        net.forward(b.params, obs, m, ALL, &carry, tape, w.scratch, outs.get_mut(..heads).ok_or(LayoutError)?)?;
        combine(n, of.width(), q, value);
        cloning::gradients(b, [q, &[]], w.batch.means, w.batch.cloned)?;
        let weigh = weigh(b.batch.importance, errors, 1.0 / k as f32);
        let (loss, mean) = loss(of, n, q, choice, target, c.batch_size as usize, c.huber != 0, d_q, weigh);
        block::copy(losses, &[loss, mean]);
        cloning::add(b, w.batch.cloned, [d_q, &mut []]);
        split(n, of.width(), d_q, d_value);
        let d_outs = [&*d_q, d_value];
        let d_outs = d_outs.get(..heads).ok_or(LayoutError)?;
        net.backward(b.params, obs, m, ALL, &carry, tape, d_outs, None, grads, w.scratch)
    }
}

/// Q of all choices: these outputs, or in `to` the means of their distributions.
pub(in crate::learn) fn means<'q>(of: ValueHead, numbers: &'q [f32], to: &'q mut [f32]) -> &'q [f32] {
    if of.is_mean() {
        return numbers;
    }
    let len = numbers.len().checked_div(of.width()).unwrap_or(0);
    let to = to.get_mut(..len).unwrap_or_default();
    of.means(numbers, to);
    to
}

/// Network outputs for `rows` observations: Q, or advantages and a value of each row. `state` holds their recurrent states.
#[allow(clippy::too_many_arguments)]
pub(in crate::learn) fn infer(
    net: &Net<'_>,
    params: &[f32],
    obs: Input<'_>,
    rows: usize,
    state: &mut [f32],
    scratch: &mut [f32],
    q: &mut [f32],
    value: &mut [f32],
) -> Result {
    let outs = &mut [q, value];
    net.infer(params, obs, rows, ALL, state, scratch, outs.get_mut(..net.num_heads()).ok_or(LayoutError)?)
}

/// The best choices that the mask allows, the first one of equals. Errors: as [`categorical::greedy`].
pub fn best(n: &[u32], q: &[f32], mask: Option<&[u8]>, choice: &mut [i32]) -> Result {
    let num_rows = choice.len().checked_div(n.len()).unwrap_or(0);
    categorical::greedy(&Logits { num_rows, n, logits: q, mask }, choice)
}

/// Iterates over the elements of each row: the outputs of their choices, `width` each, and the next item of `of`.
fn elements<'q, T>(
    n: &'q [u32],
    width: usize,
    q: &'q [f32],
    of: impl Iterator<Item = T> + 'q,
) -> impl Iterator<Item = (&'q [f32], T)> {
    let mut rest = q;
    n.iter().cycle().zip(of).map(move |(&n, of)| {
        let (own, after) = rest.split_at_checked((n as usize).saturating_mul(width)).unwrap_or_default();
        rest = after;
        (own, of)
    })
}

/// Calls `change` with the outputs of each element of each row.
fn each(n: &[u32], width: usize, mut q: &mut [f32], mut change: impl FnMut(&mut [f32])) {
    for &n in n.iter().cycle() {
        let len = (n as usize).saturating_mul(width);
        let Some((own, rest)) = q.split_at_mut_checked(len).filter(|(own, _)| !own.is_empty()) else { return };
        change(own);
        q = rest;
    }
}

/// Replaces advantages by Q: adds the value of the row, and subtracts the mean advantage of the element. Without values nothing
/// changes. Each of the `width` outputs of a choice is treated separately.
pub fn combine(n: &[u32], width: usize, q: &mut [f32], value: &[f32]) {
    let rows = value.len().checked_div(width).unwrap_or(0);
    let l = q.len().checked_div(rows).unwrap_or(0).max(1);
    for (q, value) in q.chunks_exact_mut(l).zip(value.chunks_exact(width.max(1))) {
        each(n, width, q, |own| {
            for (k, value) in value.iter().enumerate() {
                let shift = value - mean(own, width, k);
                column(own, width, k).for_each(|x| *x += shift);
            }
        });
    }
}

/// Backward pass of [`combine`]: replaces gradients with respect to Q by those with respect to advantages, and writes those
/// with respect to values.
pub fn split(n: &[u32], width: usize, d_q: &mut [f32], d_value: &mut [f32]) {
    let rows = d_value.len().checked_div(width).unwrap_or(0);
    let l = d_q.len().checked_div(rows).unwrap_or(0).max(1);
    for (d_q, d_value) in d_q.chunks_exact_mut(l).zip(d_value.chunks_exact_mut(width.max(1))) {
        for (k, d_value) in d_value.iter_mut().enumerate() {
            *d_value = column(d_q, width, k).map(|x| *x).sum();
        }
        each(n, width, d_q, |own| {
            for k in 0..width {
                let mean = mean(own, width, k);
                column(own, width, k).for_each(|x| *x -= mean);
            }
        });
    }
}

/// Output `k` of each choice.
fn column(own: &mut [f32], width: usize, k: usize) -> impl Iterator<Item = &mut f32> {
    own.iter_mut().skip(k).step_by(width.max(1))
}

fn mean(own: &mut [f32], width: usize, k: usize) -> f32 {
    let count = own.len().checked_div(width).unwrap_or(0);
    column(own, width, k).map(|x| *x).sum::<f32>() / count as f32
}

/// The outputs of one choice.
fn at(q: &[f32], width: usize, choice: i32) -> &[f32] {
    block::rows(q, choice as usize, 1, width).unwrap_or_default()
}

/// The Q of the chosen action in each row, the mean over the elements; `value` is `[rows]`.
pub fn chosen(n: &[u32], q: &[f32], choice: &[i32], value: &mut [f32]) {
    let mut all = elements(n, 1, q, choice.iter());
    for value in value {
        let each = all.by_ref().take(n.len()).map(|(q, &choice)| ValueHead::Mean.mean(at(q, 1, choice)));
        *value = each.sum::<f32>() / n.len() as f32;
    }
}

/// Targets of the outputs of each element, for `[rows, K]` choices: for Q the reward plus the discounted Q of the next choice.
/// `reward` and `discount` are `[rows]`.
pub fn targets(
    of: ValueHead,
    n: &[u32],
    next_q: &[f32],
    next: &[i32],
    reward: &[f32],
    discount: &[f32],
    target: &mut [f32],
) {
    let width = of.width().max(1);
    let mut all = elements(n, width, next_q, next.iter());
    let row = n.len().saturating_mul(width).max(1);
    for ((target, reward), discount) in target.chunks_exact_mut(row).zip(reward).zip(discount) {
        for (to, (q, &next)) in target.chunks_exact_mut(width).zip(all.by_ref()) {
            of.target(at(q, width, next), *reward, *discount, to);
        }
    }
}

/// The loss of these rows and the mean Q of the chosen actions, each as a contribution to that of `num_rows` rows, and the
/// gradient with respect to Q or to the outputs of its distribution. The loss is the squared error, or with `huber` half of it,
/// and linear beyond 1; `weigh` returns its weight for a row and an error.
#[allow(clippy::too_many_arguments)]
pub fn loss(
    of: ValueHead,
    n: &[u32],
    q: &[f32],
    choice: &[i32],
    target: &[f32],
    num_rows: usize,
    huber: bool,
    d_q: &mut [f32],
    mut weigh: impl FnMut(usize, f32) -> f32,
) -> (f32, f32) {
    let (share, width) = (1.0 / (num_rows.saturating_mul(n.len()) as f64), of.width().max(1));
    let (mut loss, mut sum) = (0.0f64, 0.0f64);
    d_q.fill(0.0);
    let pairs = choice.iter().zip(target.chunks_exact(width));
    let mut begin = 0usize;
    for (i, (own, (&choice, target))) in elements(n, width, q, pairs).enumerate() {
        let to = block::rows_mut(d_q, begin.saturating_add(choice as usize), 1, width).unwrap_or_default();
        let Cost { cost, mean, error } = of.compare(at(own, width, choice), target, huber, to);
        let weight = weigh(i.checked_div(n.len()).unwrap_or(0), error);
        to.iter_mut().for_each(|slope| *slope = weight * *slope * share as f32);
        (loss, sum) = (loss + f64::from(weight * cost), sum + f64::from(mean));
        begin = begin.saturating_add(own.len() / width);
    }
    ((loss * share) as f32, (sum * share) as f32)
}

/// Returns the importance of a row as its weight, and adds `share` times the magnitude of its error to `errors`.
pub(super) fn weigh<'w>(
    importance: &'w [f32],
    errors: &'w mut [f32],
    share: f32,
) -> impl FnMut(usize, f32) -> f32 + use<'w> {
    move |row, error| {
        if let Some(sum) = errors.get_mut(row) {
            // Kept finite, so that a block saved between slices is accepted again, regardless of the outcome of the update.
            let size = *sum + share * error.abs();
            *sum = if size <= f32::MAX { size } else { f32::MAX };
        }
        importance.get(row).copied().unwrap_or(1.0)
    }
}
