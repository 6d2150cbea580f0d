//! The common part of TD3 and SAC: critics, which output the value of an observation and an action, the lowest of which is
//! used, and a policy that maximizes this value.
//!
//! Actions are `[rows, action_len]` numbers from -1 to 1.

use super::q::{self, infer};
use super::unroll::{CriticStates, Of, States, Unroll, When, unroll};
use super::{cloning, sac, td3, tqc};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::{COLUMNS, Scratch};
use crate::learn::rows::Rows;
use crate::learn::value_head::cost;
use crate::nn::{ALL, Input, Net};
use crate::num;

/// Fills the record of a chunk, which is initially zero: the gradients of the critics, or of the policy, and after those of all
/// parameters the losses: the critics' loss and mean value, or the policy's loss, the entropy and the mean logarithm of
/// standard deviations.
pub(super) fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    if b.batch.policy_next { policy(b, w, record) } else { critics(b, w, record, errors) }
}

fn critics(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
    let (c, net, a) = (b.config, &b.sizes.critic, b.sizes.std_len);
    let (quantiles, pooled) = (b.sizes.replay.quantiles, b.sizes.pool());
    let (rows, m) = (Rows::new(b.order, 0), b.order.len());
    let mut columns = block::rows_mut(w.scalar, 0, m, COLUMNS)?.chunks_exact_mut(m.max(1));
    let mut column = || columns.next().ok_or(LayoutError);
    let (reward, discount) = (b.rewards(&rows, column()?)?, b.discounts(&rows, column()?)?);
    let log_prob = column()?;
    let (target, value, d_value) = match quantiles {
        0 => (column()?, column()?, column()?),
        _ => (
            block::rows_mut(w.batch.pool, 0, m, pooled)?,
            block::rows_mut(w.batch.quantiles, 0, m, quantiles)?,
            block::rows_mut(w.batch.d_quantiles, 0, m, quantiles)?,
        ),
    };
    let (mean, log_std) =
        (block::rows_mut(w.outputs, 0, m, a)?, block::rows_mut(w.batch.others, 0, m, b.sizes.net.head_len(1))?);
    let (action, pair) = (block::rows_mut(w.vector, 0, m, a)?, block::rows_mut(w.batch.pairs, 0, m, b.sizes.pair())?);

    let obs = b.see_next(&rows, w.obs)?;
    let is_sac = c.needs().temperature;
    let own = b.policy_of(if is_sac { b.params } else { b.batch.target })?;
    let mut unroll = unroll!(w);
    let state = unroll.states(b, (Of::Policy, own), When::Next, w.scratch)?;
    infer(&b.sizes.net, own, obs, m, state, w.scratch, mean, log_std)?;
    log_prob.fill(0.0);
    if is_sac {
        sac::act((c.log_std_min, c.log_std_max), mean, log_std, b.batch.draws[0], action, log_prob);
    } else {
        td3::smooth((c.target_noise, c.target_noise_clip), mean, b.batch.draws[0], action);
    }
    let input = join((obs, b.sizes.seen.len), (action, a), pair);
    let critics = b.batch.target.get(b.sizes.net.param_len()..).ok_or(LayoutError)?;
    let mut states = CriticStates { unroll: &mut unroll, b, when: When::Next };
    match quantiles {
        0 => lowest(net, critics, input, m, &mut states, w.scratch, value, target)?,
        _ => tqc::pool(net, critics, input, &mut states, w.scratch, value, target)?,
    }
    let of_rows = target.chunks_exact_mut(pooled.max(1)).zip(&*log_prob).zip(reward.iter().zip(discount));
    for ((target, log_prob), (reward, discount)) in of_rows {
        target.iter_mut().for_each(|to| *to = *reward + *discount * (*to - b.batch.temperature * log_prob));
    }

    let obs = b.see(&rows, w.obs)?;
    let input = join((obs, b.sizes.seen.len), (b.actions(&rows, action)?, a), pair);
    let kept = pooled.saturating_sub((c.dropped_quantiles as usize).saturating_mul(b.sizes.replay.num_critics));
    let (num_rows, huber) = (c.batch_size as usize, c.huber != 0);
    learn(b, input, [value, d_value], unroll, w.batch.critic_tape, w.scratch, record, |value, d_value| {
        let weigh = q::weigh(b.batch.importance, errors, 1.0 / b.sizes.replay.num_critics as f32);
        match quantiles {
            0 => regress(value, target, num_rows, huber, d_value, weigh),
            _ => tqc::regress(value, target, d_value, [quantiles, kept], num_rows, huber, weigh),
        }
    })
}

/// Fills the record of a chunk for the critics. `loss` returns the loss and the mean value of a critic's outputs, and writes
/// the gradients with respect to these.
#[allow(clippy::too_many_arguments)]
pub(super) fn learn(
    b: &ChunkContext<'_, '_>,
    input: Input<'_>,
    [value, d_value]: [&mut [f32]; 2],
    mut unroll: Unroll<'_, '_>,
    tape: &mut [f32],
    scratch: &mut [f32],
    record: &mut [f32],
    mut loss: impl FnMut(&[f32], &mut [f32]) -> (f32, f32),
) -> Result {
    let (net, m) = (&b.sizes.critic, b.order.len());
    let (grads, losses) = record.split_at_mut_checked(b.sizes.params()).ok_or(LayoutError)?;
    let grads = grads.get_mut(b.sizes.net.param_len()..).ok_or(LayoutError)?;
    let tape = block::rows_mut(tape, 0, net.tape_len(m), 1)?;
    let (mut sum, mut first, mut size) = (0.0, 0.0, 0.0);
    for i in 0..b.sizes.replay.num_critics {
        let params = b.critic_of(b.params, i)?;
        unroll.start(b, (Of::Critic, params), i.saturating_add(1), scratch)?;
        let carry = unroll.carry(b, i.saturating_add(1))?;
        net.forward(params, input, m, ALL, &carry, tape, scratch, &mut [&mut *value])?;
        let (own, mean) = loss(value, d_value);
        sum += own;
        if i == 0 {
            first = mean;
            let sizes: f64 = value.iter().map(|x| f64::from(x.abs())).sum();
            size = (sizes / value.len() as f64 * (m as f64 / f64::from(b.config.batch_size))) as f32;
        }
        let grads = block::rows_mut(grads, i, 1, net.param_len())?;
        net.backward(params, input, m, ALL, &carry, tape, &[&*d_value], None, grads, scratch)?;
    }
    block::copy(losses, &[sum, first, size]);
    Ok(())
}

fn policy(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let (c, a) = (b.config, b.sizes.std_len);
    let (rows, m) = (Rows::new(b.order, 0), b.order.len());
    let mut columns = block::rows_mut(w.scalar, 0, m, COLUMNS)?.chunks_exact_mut(m.max(1));
    let mut column = || columns.next().ok_or(LayoutError);
    let (value, other, d_value, log_prob) = (column()?, column()?, column()?, column()?);
    let second = b.sizes.net.head_len(1);
    let (mean, d_mean) = (block::rows_mut(w.outputs, 0, m, a)?, block::rows_mut(w.d_outputs, 0, m, a)?);
    let (log_std, d_log_std) =
        (block::rows_mut(w.batch.others, 0, m, second)?, block::rows_mut(w.batch.d_others, 0, m, second)?);
    let (action, d_action) = (block::rows_mut(w.vector, 0, m, a)?, block::rows_mut(w.batch.d_vector, 0, m, a)?);
    let pair = block::rows_mut(w.batch.pairs, 0, m, b.sizes.pair())?;

    let obs = b.see(&rows, w.obs)?;
    let (own, heads) = (b.policy_of(b.params)?, b.sizes.net.num_heads());
    let tape = block::rows_mut(w.tape, 0, b.sizes.net.tape_len(m), 1)?;
    let outs = &mut [&mut *mean, &mut *log_std];
    let outs = outs.get_mut(..heads).ok_or(LayoutError)?;
    let mut unroll = unroll!(w);
    unroll.start(b, (Of::Policy, own), 0, w.scratch)?;
    b.sizes.net.forward(own, obs, m, ALL, &unroll.carry(b, 0)?, tape, w.scratch, outs)?;
    cloning::gradients(b, [mean, log_std], &mut [], w.batch.cloned)?;
    log_prob.fill(0.0);
    let (is_sac, limits) = (c.needs().temperature, (c.log_std_min, c.log_std_max));
    if is_sac {
        sac::act(limits, mean, log_std, b.batch.draws[1], action, log_prob);
    } else {
        td3::act(mean, action);
    }
    let mut critics = Ascent {
        count: if is_sac { b.sizes.replay.num_critics } else { 1 },
        input: join((obs, b.sizes.seen.len), (action, a), pair),
        value,
        other,
        d_value,
        quantiles: block::rows_mut(w.batch.quantiles, 0, m, b.sizes.replay.quantiles)?,
        d_quantiles: block::rows_mut(w.batch.d_quantiles, 0, m, b.sizes.replay.quantiles)?,
        d_pair: block::rows_mut(w.batch.d_pairs, 0, m, b.sizes.pair())?,
        tapes: w.batch.critic_tape,
        unroll: &mut unroll,
        scratch: w.scratch,
    };
    critics.forward(b)?;
    critics.backward(b, core::iter::repeat(-share(b) * cloning::value_factor(b)), d_action)?;
    let (grads, losses) = record.split_at_mut_checked(b.sizes.params()).ok_or(LayoutError)?;
    let grads = grads.get_mut(..b.sizes.net.param_len()).ok_or(LayoutError)?;
    block::copy(losses, &policy_losses(b, value, other, log_prob, log_std));
    if is_sac {
        let (weight, noise) = (b.batch.temperature * share(b), b.batch.draws[1]);
        sac::gradient(limits, weight, action, log_std, noise, d_action, d_mean, d_log_std);
    } else {
        td3::gradient(action, d_action, d_mean);
    }
    cloning::add(b, w.batch.cloned, [d_mean, d_log_std]);
    let d_outs = [&*d_mean, d_log_std];
    let d_outs = d_outs.get(..heads).ok_or(LayoutError)?;
    b.sizes.net.backward(own, obs, m, ALL, &unroll.carry(b, 0)?, tape, d_outs, None, grads, w.scratch)
}

/// The share of a row in the mean over a batch.
pub(super) fn share(b: &ChunkContext<'_, '_>) -> f32 {
    1.0 / b.config.batch_size as f32
}

/// The passes of critics that the policy ascends: through each for its outputs, and back through the lowest one; with quantiles
/// back through all of them, whose mean is used. Values are one for each row, or for each choice.
pub(super) struct Ascent<'w, 'u, 'm> {
    pub(super) count: usize,
    pub(super) input: Input<'w>,
    /// Of the first critic, or the mean over all quantiles; of the second critic, or infinite.
    pub(super) value: &'w mut [f32],
    pub(super) other: &'w mut [f32],
    pub(super) d_value: &'w mut [f32],
    pub(super) quantiles: &'w mut [f32],
    pub(super) d_quantiles: &'w mut [f32],
    pub(super) d_pair: &'w mut [f32],
    pub(super) tapes: &'w mut [f32],
    pub(super) unroll: &'w mut Unroll<'u, 'm>,
    pub(super) scratch: &'w mut [f32],
}

impl Ascent<'_, '_, '_> {
    /// Writes the values.
    pub(super) fn forward(&mut self, b: &ChunkContext<'_, '_>) -> Result {
        let (net, m, quantiles) = (&b.sizes.critic, b.order.len(), b.sizes.replay.quantiles);
        self.value.fill(0.0);
        self.other.fill(f32::INFINITY);
        for i in 0..self.count {
            let said = match (quantiles, i) {
                (0, 0) => &mut *self.value,
                (0, _) => &mut *self.other,
                _ => &mut *self.quantiles,
            };
            let (params, tape) = (b.critic_of(b.params, i)?, block::rows_mut(self.tapes, i, 1, net.tape_len(m))?);
            self.unroll.start(b, (Of::Critic, params), i.saturating_add(1), self.scratch)?;
            let carry = self.unroll.carry(b, i.saturating_add(1))?;
            net.forward(params, self.input, m, ALL, &carry, tape, self.scratch, &mut [said])?;
            if quantiles > 0 {
                tqc::add_means(self.quantiles, self.count, self.value);
            }
        }
        Ok(())
    }

    /// Writes the gradients of the policy's loss with respect to actions; `slopes` are those with respect to the lowest values.
    pub(super) fn backward(
        &mut self,
        b: &ChunkContext<'_, '_>,
        slopes: impl Iterator<Item = f32> + Clone,
        d_action: &mut [f32],
    ) -> Result {
        let (net, m, share) = (&b.sizes.critic, b.order.len(), share(b));
        let (quantiles, width, a) = (b.sizes.replay.quantiles, b.sizes.pair(), b.sizes.std_len);
        self.d_quantiles.fill(-share / self.count.saturating_mul(quantiles) as f32);
        d_action.fill(0.0);
        for i in 0..self.count {
            let values = self.value.iter().zip(&*self.other);
            for ((d_value, (value, other)), slope) in self.d_value.iter_mut().zip(values).zip(slopes.clone()) {
                *d_value = if (i == 0) == (value <= other) { slope } else { 0.0 };
            }
            let d_value = if quantiles > 0 { &*self.d_quantiles } else { &*self.d_value };
            let (params, tape) = (b.critic_of(b.params, i)?, block::rows(self.tapes, i, 1, net.tape_len(m))?);
            let d_pair = Some(&mut *self.d_pair);
            // Recurrent networks compute the gradients of their parameters as well, which are not used.
            let grads = core::mem::take(&mut self.unroll.own.grads);
            grads.fill(0.0);
            let carry = self.unroll.carry(b, i.saturating_add(1))?;
            let done = net.backward(params, self.input, m, ALL, &carry, tape, &[d_value], d_pair, grads, self.scratch);
            self.unroll.own.grads = grads;
            done?;
            for (row, to) in d_action.chunks_exact_mut(a.max(1)).enumerate() {
                let by_action = block::rows(self.d_pair, row, 1, width)?.iter().skip(width.saturating_sub(a));
                to.iter_mut().zip(by_action).for_each(|(to, x)| *to += x);
            }
        }
        Ok(())
    }
}

/// The policy's loss, the entropy and the mean logarithm of standard deviations.
fn policy_losses(
    b: &ChunkContext<'_, '_>,
    value: &[f32],
    other: &[f32],
    log_prob: &[f32],
    log_std: &[f32],
) -> [f32; 3] {
    let share = f64::from(share(b));
    let (mut loss, mut entropy) = (0.0f64, 0.0f64);
    for ((value, other), log_prob) in value.iter().zip(other).zip(log_prob) {
        loss += f64::from(b.batch.temperature * log_prob - num::min(*value, *other));
        entropy -= f64::from(*log_prob);
    }
    [(loss * share) as f32, (entropy * share) as f32, spread(b, log_std)]
}

/// The mean logarithm of standard deviations.
pub(super) fn spread(b: &ChunkContext<'_, '_>, log_std: &[f32]) -> f32 {
    let c = b.config;
    let spread: f64 = log_std.iter().map(|x| f64::from(num::clamp(*x, c.log_std_min, c.log_std_max))).sum();
    (spread * f64::from(share(b)) / b.sizes.std_len as f64) as f32
}

/// The inputs of critics: observations of `obs_len` elements, each followed by its action. Numbers are copied to `pair`, behind
/// one another; bytes stay where they are, and `pair` has the actions alone.
pub fn join<'t>(
    (obs, obs_len): (Input<'t>, usize),
    (action, action_len): (&[f32], usize),
    pair: &'t mut [f32],
) -> Input<'t> {
    let bytes = obs.bytes();
    if !bytes.is_empty() {
        block::copy(pair, action);
        return Input::of_bytes_and(bytes, pair);
    }
    let (obs, width) = (obs.numbers(), obs_len.saturating_add(action_len).max(1));
    for (i, pair) in pair.chunks_exact_mut(width).enumerate() {
        let (obs, action) = (block::rows(obs, i, 1, obs_len), block::rows(action, i, 1, action_len));
        let row = obs.unwrap_or_default().iter().chain(action.unwrap_or_default());
        pair.iter_mut().zip(row).for_each(|(to, x)| *to = *x);
    }
    Input::F32(pair)
}

/// The lowest output of critics, whose parameters are contiguous, for `rows` pairs. `spare` is as long as `value`, or empty for
/// one critic.
#[allow(clippy::too_many_arguments)]
pub(in crate::learn) fn lowest(
    net: &Net<'_>,
    critics: &[f32],
    pair: Input<'_>,
    rows: usize,
    states: &mut impl States,
    scratch: &mut [f32],
    spare: &mut [f32],
    value: &mut [f32],
) -> Result {
    let (first, second) = critics.split_at_checked(net.param_len()).ok_or(LayoutError)?;
    infer(net, first, pair, rows, states.of(first, scratch)?, scratch, value, &mut [])?;
    if !second.is_empty() {
        infer(net, second, pair, rows, states.of(second, scratch)?, scratch, spare, &mut [])?;
        value.iter_mut().zip(spare).for_each(|(to, x)| *to = if x.is_nan() || *x < *to { *x } else { *to });
    }
    Ok(())
}

/// The loss of one critic for these rows and the mean of its values, each as a contribution to that of `num_rows` rows, and the
/// gradient with respect to the values. The loss is the squared error, or with `huber` half of it, and linear beyond 1; `weigh`
/// returns its weight for a row and an error.
pub fn regress(
    value: &[f32],
    target: &[f32],
    num_rows: usize,
    huber: bool,
    d_value: &mut [f32],
    mut weigh: impl FnMut(usize, f32) -> f32,
) -> (f32, f32) {
    let share = 1.0 / num_rows as f64;
    let (mut loss, mut sum) = (0.0f64, 0.0f64);
    for (row, ((value, target), d_value)) in value.iter().zip(target).zip(d_value).enumerate() {
        let error = *value - *target;
        let (weight, (cost, slope)) = (weigh(row, error), cost(error, huber));
        *d_value = weight * slope * share as f32;
        (loss, sum) = (loss + f64::from(weight * cost), sum + f64::from(*value));
    }
    ((loss * share) as f32, (sum * share) as f32)
}
