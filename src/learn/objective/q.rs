//! Deep Q-networks (Mnih et al. 2015), double (van Hasselt et al. 2016) and duelling (Wang et al. 2016). Each element of an
//! action has a Q of its own, and the mean of their losses counts (Tavakoli et al. 2018).
//!
//! In all calls `n` has the choices of each element, K of them and L together: Q is `[rows, L]`, and choices are `[rows, K]`.

use crate::block::{self, Misfit};
use crate::error::Result;
use crate::kernels::categorical::{self, Logits};
use crate::learn::off_policy::bench::Bench;
use crate::learn::off_policy::layout::Work;
use crate::learn::rows::Rows;
use crate::nn::{ALL, Carry, Net};
use crate::num;

/// Fills the record of a chunk, which is zeros: the gradients of the parameters, then the loss and the mean Q. Adds up how far
/// Q of each transition is from its target.
pub(in crate::learn) fn chunk(b: &Bench<'_>, w: &mut Work<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    let (c, n, net, s) = (b.config, b.action_n, &b.sizes.policy, &b.store);
    let (rows, m) = (Rows::new(b.order, 0), b.order.len());
    let (l, k) = (net.head_len(0), n.len());
    let (q, value) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.others, 0, m, net.head_len(1))?);
    let (d_q, d_value) = (block::rows_mut(w.d_outputs, 0, m, l)?, block::rows_mut(w.d_others, 0, m, net.head_len(1))?);
    let (choice, next) = (rows.get(s.choice, k, w.choice)?, block::rows_mut(w.best, 0, m, k)?);
    let target = block::rows_mut(w.target, 0, m, k)?;
    let (reward, discount) = w.column.split_at_mut_checked(m).ok_or(Misfit)?;
    let (reward, discount) = (rows.get(s.reward, 1, reward)?, b.discounts(&rows, discount)?);
    let mask = if b.sizes.masks > 0 { Some(&*rows.get(s.next_mask, l, w.mask)?) } else { None };

    let obs = b.see(&rows, s.next_obs, s.next_pixels, w.obs)?;
    if c.double_q != 0 {
        infer(net, b.params, obs, m, w.scratch, q, value)?;
        best(n, q, mask, next)?;
    }
    infer(net, b.target, obs, m, w.scratch, q, value)?;
    if c.double_q == 0 {
        best(n, q, mask, next)?;
    }
    combine(n, q, value);
    targets(n, q, next, reward, discount, target);

    let obs = b.see(&rows, s.obs, s.pixels, w.obs)?;
    let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
    let (grads, losses) = record.split_at_mut_checked(net.param_len()).ok_or(Misfit)?;
    let heads = net.num_heads();
    let outs = &mut [&mut *q, &mut *value];
    net.forward(b.params, obs, m, ALL, &Carry::NONE, tape, w.scratch, outs.get_mut(..heads).ok_or(Misfit)?)?;
    combine(n, q, value);
    let weigh = weigh(b.importance, errors, 1.0 / k as f32);
    let (loss, mean) = loss(n, q, choice, target, c.batch_size as usize, c.huber != 0, d_q, weigh);
    block::copy(losses, &[loss, mean]);
    split(n, d_q, d_value);
    let d_outs = [&*d_q, d_value];
    let d_outs = d_outs.get(..heads).ok_or(Misfit)?;
    net.backward(b.params, obs, m, ALL, &Carry::NONE, tape, d_outs, None, grads, w.scratch)
}

/// What a network says to `rows` observations: Q, or advantages and a value of each row.
pub(in crate::learn) fn infer(
    net: &Net<'_>,
    params: &[f32],
    obs: &[f32],
    rows: usize,
    scratch: &mut [f32],
    q: &mut [f32],
    value: &mut [f32],
) -> Result {
    let outs = &mut [q, value];
    net.infer(params, obs, rows, ALL, &mut [], scratch, outs.get_mut(..net.num_heads()).ok_or(Misfit)?)
}

/// The best choices that the mask allows, the first of equals. Errors: as [`categorical::greedy`].
pub fn best(n: &[u32], q: &[f32], mask: Option<&[u8]>, choice: &mut [i32]) -> Result {
    let num_rows = choice.len().checked_div(n.len()).unwrap_or(0);
    categorical::greedy(&Logits { num_rows, n, logits: q, mask }, choice)
}

/// Runs through the elements of each row: their numbers, and what else is given for each.
fn elements<'q, T>(
    n: &'q [u32],
    q: &'q [f32],
    of: impl Iterator<Item = T> + 'q,
) -> impl Iterator<Item = (&'q [f32], T)> {
    let mut rest = q;
    n.iter().cycle().zip(of).map(move |(&n, of)| {
        let (own, after) = rest.split_at_checked(n as usize).unwrap_or_default();
        rest = after;
        (own, of)
    })
}

/// The same, to write.
fn each(n: &[u32], mut q: &mut [f32], mut change: impl FnMut(&mut [f32])) {
    for &n in n.iter().cycle() {
        let Some((own, rest)) = q.split_at_mut_checked(n as usize).filter(|(own, _)| !own.is_empty()) else { return };
        change(own);
        q = rest;
    }
}

/// Makes Q of advantages, in their place, and the value of each row: their sum, without the mean advantage of an element.
/// Without values it stays.
pub fn combine(n: &[u32], q: &mut [f32], value: &[f32]) {
    let l = q.len().checked_div(value.len()).unwrap_or(0).max(1);
    for (q, &value) in q.chunks_exact_mut(l).zip(value) {
        each(n, q, |own| {
            let shift = value - mean(own);
            own.iter_mut().for_each(|x| *x += shift);
        });
    }
}

/// Makes gradients by advantages, in their place, and by values of those by Q: the way back of [`combine`].
pub fn split(n: &[u32], d_q: &mut [f32], d_value: &mut [f32]) {
    let l = d_q.len().checked_div(d_value.len()).unwrap_or(0).max(1);
    for (d_q, d_value) in d_q.chunks_exact_mut(l).zip(d_value) {
        *d_value = d_q.iter().sum();
        each(n, d_q, |own| {
            let mean = mean(own);
            own.iter_mut().for_each(|x| *x -= mean);
        });
    }
}

fn mean(x: &[f32]) -> f32 {
    x.iter().sum::<f32>() / x.len() as f32
}

/// Q of one choice.
fn at(q: &[f32], choice: i32) -> f32 {
    q.get(choice as usize).copied().unwrap_or(0.0)
}

/// The mean over the elements of a row of Q of what is chosen; `value` is `[rows]`.
pub fn chosen(n: &[u32], q: &[f32], choice: &[i32], value: &mut [f32]) {
    let mut all = elements(n, q, choice.iter());
    for value in value {
        *value = all.by_ref().take(n.len()).map(|(q, &choice)| at(q, choice)).sum::<f32>() / n.len() as f32;
    }
}

/// What Q of each element should be, `[rows, K]`: the reward, and the discounted Q of the choice that follows. `reward` and
/// `discount` are `[rows]`.
pub fn targets(n: &[u32], next_q: &[f32], next: &[i32], reward: &[f32], discount: &[f32], target: &mut [f32]) {
    let mut all = elements(n, next_q, next.iter());
    for ((target, reward), discount) in target.chunks_exact_mut(n.len().max(1)).zip(reward).zip(discount) {
        for (to, (q, &next)) in target.iter_mut().zip(all.by_ref()) {
            *to = *reward + *discount * at(q, next);
        }
    }
}

/// The loss of these rows and the mean Q of what was chosen, each a share of those of `num_rows` rows, and the gradient by Q.
/// Squared errors count, or with `huber` half of them, and linearly beyond 1; each as often as `weigh` says of a row and an error.
#[allow(clippy::too_many_arguments)]
pub fn loss(
    n: &[u32],
    q: &[f32],
    choice: &[i32],
    target: &[f32],
    num_rows: usize,
    huber: bool,
    d_q: &mut [f32],
    mut weigh: impl FnMut(usize, f32) -> f32,
) -> (f32, f32) {
    let share = 1.0 / (num_rows.saturating_mul(n.len()) as f64);
    let (mut loss, mut sum) = (0.0f64, 0.0f64);
    d_q.fill(0.0);
    let mut pairs = choice.iter().zip(target);
    let mut begin = 0usize;
    for (i, (own, (&choice, target))) in elements(n, q, &mut pairs).enumerate() {
        let q = at(own, choice);
        let error = q - *target;
        let weight = weigh(i.checked_div(n.len()).unwrap_or(0), error);
        let (cost, slope) = cost(error, huber);
        let slope = weight * slope;
        (loss, sum) = (loss + f64::from(weight * cost), sum + f64::from(q));
        if let Some(to) = d_q.get_mut(begin.saturating_add(choice as usize)) {
            *to = slope * share as f32;
        }
        begin = begin.saturating_add(own.len());
    }
    ((loss * share) as f32, (sum * share) as f32)
}

/// Weighs errors of rows by their importance, and adds this share of their sizes up.
pub(super) fn weigh<'w>(
    importance: &'w [f32],
    errors: &'w mut [f32],
    share: f32,
) -> impl FnMut(usize, f32) -> f32 + use<'w> {
    move |row, error| {
        if let Some(sum) = errors.get_mut(row) {
            *sum += share * error.abs();
        }
        importance.get(row).copied().unwrap_or(1.0)
    }
}

/// What an error costs and its slope: its square, or with `huber` half of that, and linearly beyond 1.
pub(super) fn cost(error: f32, huber: bool) -> (f32, f32) {
    match huber {
        false => (error * error, 2.0 * error),
        true if error.abs() <= 1.0 => (0.5 * error * error, error),
        true => (error.abs() - 0.5, num::clamp(error, -1.0, 1.0)),
    }
}
