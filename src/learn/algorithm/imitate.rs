//! The loss of imitation on rows of the host's: its gradients with respect to the parameters of the network that acts. They are a
//! step of the optimizer of their own, or on policy stand beside those of the algorithm, on kept demonstrations.

use crate::block::{self, LayoutError};
use crate::data::normalizer::{Limits, normalise};
use crate::data::step::Rewrite;
use crate::error::{Result, check_finite};
use crate::kernels::categorical;
use crate::learn::actor::Head;
use crate::learn::actor_config::POLICY;
#[cfg(feature = "off_policy")]
use crate::learn::algorithm::q;
use crate::learn::imitation::{self, Imitation, MARGIN};
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::{Scratch, log_std, log_std_mut};
use crate::learn::rows::Rows;
#[cfg(feature = "off_policy")]
use crate::nn::ALL;
use crate::nn::{Carry, Input};
use crate::num;
use crate::space::Elements;

/// The error message if numbers of the networks overflow.
pub(in crate::learn) const OVERFLOWED: &str = "learner imitate: numbers overflowed; nothing was learned.";

/// Rows of a batch that are read together: sequences of so many steps, all rows of one step before those of the next.
pub(in crate::learn) struct Part<'p> {
    pub(in crate::learn) batch: &'p Imitation<'p>,
    pub(in crate::learn) rows: Rows<'p>,
    pub(in crate::learn) steps: usize,
    /// The factor of the loss.
    pub(in crate::learn) weight: f32,
}

/// Adds the gradients of kept demonstrations that were drawn beside a minibatch on policy to the record of a chunk.
pub(super) fn beside(x: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result {
    let Some(shown) = &x.shown else { return Ok(()) };
    let (all, c) = (shown.drawn.len() as u64, x.config);
    let bound = |i: u64| i.saturating_mul(all).checked_div(c.num_chunks.into()).unwrap_or(0) as usize;
    let own = shown.drawn.get(bound(x.chunk.into())..bound(u64::from(x.chunk) + 1)).ok_or(LayoutError)?;
    if own.is_empty() {
        return Ok(());
    }
    let batch = Imitation {
        num_rows: shown.drawn.len(),
        num_steps: 1,
        obs: shown.obs,
        mask: shown.mask,
        action: Some(shown.action),
        prob: None,
        weight: None,
        reset: &[],
        margin: c.imitation_margin,
        fit_std: c.imitation_fit_std != 0,
    };
    let part = Part { batch: &batch, rows: Rows::new(own, 0), steps: 1, weight: shown.coef };
    learn(x, &part, w, record).map(drop)
}

/// Adds the gradients of these rows to the record. Returns their part of the loss.
pub(in crate::learn) fn learn(
    x: &ChunkContext<'_, '_>,
    part: &Part<'_>,
    w: &mut Scratch<'_>,
    record: &mut [f32],
) -> Result<f64> {
    let (c, sizes, b, rows, net) = (x.config, x.sizes, part.batch, part.rows, &x.sizes.net);
    let (m, steps) = (rows.len(), part.steps);
    let count = m.checked_div(steps).unwrap_or(0);
    let obs = see_host(x, &rows, b.obs, w.obs)?;
    let mask = match b.mask {
        Some(mask) => Some(&*rows.get(mask, sizes.masks, w.mask)?),
        None => None,
    };
    let width = sizes.state_len();
    let carry = if width == 0 {
        Carry::NONE
    } else {
        let (state, cut) = (block::rows_mut(w.state, 0, m, width)?, block::rows_mut(w.cut, 0, m, 1)?);
        state.fill(0.0);
        for ((k, cut), row) in cut.iter_mut().enumerate().zip(rows.iter()) {
            *cut = u8::from(k < count || b.reset.get(row).is_some_and(|x| *x != 0));
        }
        Carry { steps, cut, state }
    };
    let params = x.params.get(..net.param_len()).ok_or(LayoutError)?;
    let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
    let l = net.head_len(0);
    let (outputs, d_outputs) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
    let (others, d_others): (&mut [f32], &mut [f32]);
    let heads;
    #[cfg(feature = "off_policy")]
    {
        let second = if c.needs().replay { net.head_len(1) } else { 0 };
        (others, d_others) =
            (block::rows_mut(w.batch.others, 0, m, second)?, block::rows_mut(w.batch.d_others, 0, m, second)?);
        heads = if c.needs().replay { ALL } else { POLICY };
    }
    #[cfg(not(feature = "off_policy"))]
    {
        (others, d_others, heads) = (&mut [], &mut [], POLICY);
    }
    let num_heads = if others.is_empty() { 1 } else { 2 };
    let outs = &mut [&mut *outputs, &mut *others];
    net.forward(params, obs, m, heads, &carry, tape, w.scratch, outs.get_mut(..num_heads).ok_or(LayoutError)?)?;
    check_finite(OVERFLOWED, outputs)?;
    let grads = record.get_mut(..net.param_len()).ok_or(LayoutError)?;
    let cost = if c.needs().q {
        #[cfg(feature = "off_policy")]
        if c.needs().replay {
            q::combine(x.head.choices(), c.value_head().width(), outputs, others);
        }
        let choice = block::rows_mut(w.choice, 0, 1, x.head.choices().len())?;
        #[cfg(feature = "off_policy")]
        let q = &mut *w.batch.means;
        #[cfg(not(feature = "off_policy"))]
        let q: &mut [f32] = &mut [];
        let cost = of_q(x, part, (outputs, mask), (choice, q), d_outputs)?;
        #[cfg(feature = "off_policy")]
        if c.needs().replay {
            q::split(x.head.choices(), c.value_head().width(), d_outputs, d_others);
        }
        cost
    } else {
        let raw =
            (block::rows_mut(w.choice, 0, 1, x.head.choices().len())?, block::rows_mut(w.vector, 0, 1, sizes.std_len)?);
        let d_log_std = if c.needs().replay { &mut [] } else { log_std_mut(grads, sizes)? };
        of_policy(x, part, ([outputs, others], mask), raw, [d_outputs, d_others], d_log_std)?
    };
    let d_outs = [&*d_outputs, &*d_others];
    let d_outs = d_outs.get(..num_heads).ok_or(LayoutError)?;
    net.backward(params, obs, m, heads, &carry, tape, d_outs, None, grads, w.scratch)?;
    Ok(cost)
}

/// Network inputs of these rows of the host's, normalized as those of acting.
fn see_host<'t>(x: &ChunkContext<'_, '_>, rows: &Rows<'_>, obs: Elements<'t>, to: &'t mut [f32]) -> Result<Input<'t>> {
    let (sizes, c) = (x.sizes, x.config);
    if c.normalize_obs == 0 {
        return rows.input(sizes.reads_front, &sizes.seen, obs, to);
    }
    let to = rows.see(&sizes.seen, obs, to)?;
    let limits = Limits { clip: c.obs_clip, ..Limits::default() };
    normalise(x.moments[0], x.moments[1], limits, Rewrite::in_place(to))?;
    Ok(Input::F32(to))
}

/// Writes the gradients with respect to Q, or to the outputs of its distributions, `[rows, L, width]`. Returns the loss.
fn of_q(
    x: &ChunkContext<'_, '_>,
    part: &Part<'_>,
    (outputs, mask): (&[f32], Option<&[u8]>),
    (choice, q): (&mut [i32], &mut [f32]),
    d_outputs: &mut [f32],
) -> Result<f64> {
    let (b, n, l, head) = (part.batch, x.head.choices(), x.shape.choices_len(), &x.head);
    #[cfg(feature = "off_policy")]
    let (of, width) = (x.config.value_head(), x.config.value_head().width());
    #[cfg(not(feature = "off_policy"))]
    let width = 1;
    let margin = if b.margin > 0.0 { b.margin } else { MARGIN };
    let own = outputs.chunks_exact(l.saturating_mul(width).max(1));
    let d_own = d_outputs.chunks_exact_mut(l.saturating_mul(width).max(1));
    let mut cost = 0.0;
    for (((i, row), said), d_said) in part.rows.iter().enumerate().zip(own).zip(d_own) {
        if let Some(action) = b.action {
            take_row(head, action, row, choice, &mut [])?;
        }
        let mask = mask.map(|mask| block::rows(mask, i, 1, l)).transpose()?;
        #[cfg(feature = "off_policy")]
        let values = q::means(of, said, q);
        #[cfg(not(feature = "off_policy"))]
        let (values, _) = (said, &q);
        let (share, target) = (part.weight * b.share(row), b.target(row, l, choice));
        let d_q = d_said.get_mut(..l).ok_or(LayoutError)?;
        cost += f64::from(share) * imitation::margin(n, values, mask, target, (margin, share), d_q);
        // The gradients with respect to Q are in front of those that they become, so the last one is read first.
        #[cfg(feature = "off_policy")]
        for k in (0..l).rev().filter(|_| width > 1) {
            let slope = *d_said.get(k).ok_or(LayoutError)?;
            of.slope(block::rows(said, k, 1, width)?, slope, block::rows_mut(d_said, k, 1, width)?);
        }
    }
    Ok(cost)
}

/// Writes the gradients with respect to the outputs of a policy, and adds those with respect to free logarithms of
/// standard deviations. Returns the loss.
fn of_policy(
    x: &ChunkContext<'_, '_>,
    part: &Part<'_>,
    ([outputs, others], mask): ([&[f32]; 2], Option<&[u8]>),
    (choice, vector): (&mut [i32], &mut [f32]),
    [d_outputs, d_others]: [&mut [f32]; 2],
    d_free: &mut [f32],
) -> Result<f64> {
    let (b, c, n, head) = (part.batch, x.config, x.head.choices(), &x.head);
    let (l, a, needs) = (x.shape.choices_len(), x.shape.std_len(), c.needs());
    let squashes = needs.replay || head.bounds().0;
    let limits = (c.log_std_min, c.log_std_max);
    let (free, mut cost) = (log_std(x.params, x.sizes)?, 0.0);
    let width = l.saturating_add(a);
    for (i, row) in part.rows.iter().enumerate() {
        let (said, d_said) = (block::rows(outputs, i, 1, width)?, block::rows_mut(d_outputs, i, 1, width)?);
        if let Some(action) = b.action {
            take_row(head, action, row, choice, vector)?;
        }
        let share = part.weight * b.share(row);
        let (logits, mean) = said.split_at_checked(l).ok_or(LayoutError)?;
        let (d_logits, d_mean) = d_said.split_at_mut_checked(l).ok_or(LayoutError)?;
        let mut own = 0.0;
        if l > 0 {
            let mask = mask.map(|mask| block::rows(mask, i, 1, l)).transpose()?;
            categorical::log_softmax(&head.logits(1, logits, mask), d_logits)?;
            own += imitation::cross_entropy(n, b.target(row, l, choice), share, d_logits);
        }
        if a > 0 {
            if squashes {
                head.shrink(vector);
            }
            if needs.critics && !needs.temperature {
                own += imitation::squared(mean, vector, share, d_mean);
            } else {
                if squashes {
                    imitation::unsquash(vector);
                }
                let by_row = needs.replay.then(|| block::rows(others, i, 1, a)).transpose()?;
                let log_std = by_row.unwrap_or(free);
                let (mut density, mut at) = (0.0, 0usize);
                for (((mean, log_std), raw), d_mean) in mean.iter().zip(log_std).zip(&*vector).zip(d_mean) {
                    let (mut by_mean, mut by_log_std) = ([0.0], [0.0]);
                    density +=
                        imitation::normal(limits, &[*mean], &[*log_std], &[*raw], share, &mut by_mean, &mut by_log_std);
                    let spread = if b.fit_std { by_log_std[0] } else { 0.0 };
                    *d_mean = by_mean[0];
                    if needs.replay {
                        let to = i.saturating_mul(a).saturating_add(at);
                        *d_others.get_mut(to).ok_or(LayoutError)? = spread;
                    } else {
                        let sum = d_free.get_mut(at).ok_or(LayoutError)?;
                        *sum = num::canonical(*sum + spread);
                    }
                    at = at.saturating_add(1);
                }
                own += density;
            }
        }
        cost += f64::from(share) * own;
    }
    Ok(cost)
}

/// Copies the action of a row. Errors: `Value` for a choice of a structure that does not exist.
pub(in crate::learn) fn take_row(
    head: &Head<'_>,
    action: Elements<'_>,
    row: usize,
    choice: &mut [i32],
    vector: &mut [f32],
) -> Result {
    match action {
        Elements::I32(all) => block::copy(choice, block::rows(all, row, 1, choice.len())?),
        Elements::F32(all) => block::copy(vector, block::rows(all, row, 1, vector.len())?),
        Elements::U8(all) => head.part(block::rows(all, row, 1, head.action_len())?, choice, vector)?,
    }
    Ok(())
}
