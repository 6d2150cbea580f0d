//! A step of imitation: the optimizer's, of the network that acts, on rows of the host's.

use core::mem;

use bytemuck::cast_slice_mut;

use super::layout::{Scratch, log_std, log_std_mut};
use super::tensors::networks;
use super::{Learner, PARAM_LIMIT, View};
use crate::block::{self, LayoutError};
use crate::data::normalizer::{Limits, normalise};
use crate::data::step::Rewrite;
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::categorical;
use crate::learn::actor::{Head, check_mask_fits, check_rows_given};
use crate::learn::actor_config::POLICY;
#[cfg(feature = "off_policy")]
use crate::learn::algorithm::q;
use crate::learn::frozen::Frozen;
use crate::learn::imitation::{self, Imitation, MARGIN};
use crate::learn::optimizer::ParamState;
use crate::learn::rows::Rows;
#[cfg(feature = "off_policy")]
use crate::nn::ALL;
use crate::nn::{Carry, Input};
use crate::num;
use crate::space::Elements;

/// The error message if numbers of the step overflow.
const OVERFLOWED: &str = "learner imitate: numbers overflowed; nothing was learned.";

impl Learner<'_> {
    /// Takes one step of the optimizer that makes the network that acts imitate rows of the host's, and returns the loss before
    /// it: the mean over the rows of weight times
    ///
    /// - of policies with choices, the cross-entropy less the entropy of the target, summed over the elements of an action;
    /// - of policies with numbers, besides it, minus the logarithm of the density before squashing; of TD3 the squared
    ///   distance of actions from -1 to 1;
    /// - of Q, of which distributions count by their mean, the large-margin loss.
    ///
    /// Rows are read in parts of as many as the longest chunk has, whose gradients are added in order. Observations are normalized as in
    /// [`Learner::act`], whose statistics stay; noisy layers have no noise. The step is of the learning rate that the schedule has
    /// now, with the moments that learning has; of stream algorithms one with error 1, after which traces begin anew. Before
    /// the first gradient step off policy, target networks become copies of the network that imitates. In any phase, and nothing
    /// is counted.
    ///
    /// Errors: `NotReady` while an update runs, or gradients wait for [`Learner::learn_apply`]; `Shape`, also for sequences
    /// longer than a chunk; `Null`; `Config` for a setting that this learner does not read; `Value` for numbers that are not
    /// finite, actions outside of their space or not allowed, probabilities that are none, and if numbers overflow. Then
    /// nothing is learned.
    pub fn imitate(&mut self, batch: &Imitation<'_>) -> Result<f32> {
        let _changing = self.mark.begin();
        let what = "learner imitate: an update runs, or gradients wait for learn_apply.";
        Error::new(Kind::NotReady, what).fail_if(self.is_learning() || self.done.contains(&1))?;
        self.view().check_imitation(batch)?;
        let checked = self.check_imitated(batch);
        self.clear_scratch();
        checked?;
        let (mut work, grads) = (mem::take(&mut self.work), mem::take(&mut self.grads));
        let done = grads.get_mut(..self.sizes.record_len).ok_or(LayoutError.into()).and_then(|record| {
            record.fill(0.0);
            let cost = self.view().imitate_all(batch, &mut work, record)? as f32;
            check_finite(OVERFLOWED, &[cost])?;
            self.imitation_step(record)?;
            Ok(cost)
        });
        grads.iter_mut().take(self.sizes.record_len).for_each(|x| *x = 0.0);
        (self.work, self.grads) = (work, grads);
        self.wipe();
        done.map_err(|e: Error| e.with_message(Kind::Value, OVERFLOWED))
    }

    /// Checks observations, actions and probabilities row by row. Errors: `Value`.
    fn check_imitated(&mut self, b: &Imitation<'_>) -> Result {
        let (n, masks) = (&*self.taken.n, self.sizes.masks);
        let choice = block::rows_mut(self.work.choice, 0, 1, n.len())?;
        let vector = block::rows_mut(self.work.vector, 0, 1, self.sizes.std_len)?;
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let shrinks = self.config.needs().replay || self.actor.squash != 0;
        let what = "learner imitate: finite obs";
        for row in 0..b.num_rows {
            self.sizes.seen.check_row(what, (b.obs, row), self.sizes.reads_front, self.work.raw)?;
            let mask = b.mask.map(|mask| block::rows(mask, row, 1, masks)).transpose()?;
            b.check_prob(n, row, mask)?;
            let Some(action) = b.action else { continue };
            let exists = take_row(&head, action, row, choice, vector).is_ok();
            let fits = exists
                && (b.prob.is_some() || head.could_take(choice, mask))
                && vector.iter().all(|x| x.is_finite())
                && (!shrinks || head.shrink(vector));
            let refused = "learner imitate: the action of row {given} is outside of the action space, or not allowed.";
            Error::new(Kind::Value, refused).given(row).fail_if(!fits)?;
        }
        Ok(())
    }

    /// The optimizer's step, of the network that acts.
    fn imitation_step(&mut self, record: &mut [f32]) -> Result {
        let (c, s, len) = (self.config, &mut *self.state, self.sizes.net.param_len());
        let rate = c.scheduled(c.learning_rate, c.learning_rate_end, s.num_steps)?;
        let grads = record.get_mut(..len).ok_or(LayoutError)?;
        let frozen = Frozen::new(networks(&self.sizes, self.frozen_tensors), 0, len);
        frozen.clear(grads);
        let params = self.params.get_mut(..len).ok_or(LayoutError)?;
        let m = self.adam_m.get_mut(..len).ok_or(LayoutError)?;
        match c.needs().traces {
            #[cfg(feature = "stream")]
            true => c.bounded_step(params, m, grads, rate, PARAM_LIMIT, frozen.parts()).map(drop)?,
            _ => {
                let v = self.adam_v.get_mut(..len).ok_or(LayoutError)?;
                let to = ParamState { params, m, v, steps: &mut s.adam_steps };
                c.optimizer_step(to, grads, rate, PARAM_LIMIT, frozen.parts())?;
            }
        }
        if !c.needs().replay {
            let log_std = log_std_mut(self.params, &self.sizes)?;
            log_std.iter_mut().for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
        }
        #[cfg(feature = "off_policy")]
        if c.needs().replay && self.state.num_gradient_steps == 0 {
            let own = self.params.get(..len).ok_or(LayoutError)?;
            block::copy(self.replay.target.get_mut(..len).ok_or(LayoutError)?, own);
        }
        block::copy(self.acting, self.params);
        self.add_noise()
    }
}

/// Copies the action of a row. Errors: `Value` for a choice of a structure that does not exist.
fn take_row(head: &Head<'_>, action: Elements<'_>, row: usize, choice: &mut [i32], vector: &mut [f32]) -> Result {
    match action {
        Elements::I32(all) => block::copy(choice, block::rows(all, row, 1, choice.len())?),
        Elements::F32(all) => block::copy(vector, block::rows(all, row, 1, vector.len())?),
        Elements::U8(all) => head.part(block::rows(all, row, 1, head.action_len())?, choice, vector)?,
    }
    Ok(())
}

impl View<'_> {
    /// Checks everything but the rows. Errors: as [`Learner::imitate`].
    fn check_imitation(&self, b: &Imitation<'_>) -> Result {
        let (c, shape) = (self.config, &self.actor.shape);
        b.check(shape)?;
        check_rows_given("learner imitate: obs", shape, b.num_rows, &b.obs, b.action)?;
        check_mask_fits(c.use_action_mask, b.mask, b.num_rows, self.sizes.masks)?;
        self.head()?.check_mask(b.mask, b.num_rows)?;
        let (needs, a) = (c.needs(), shape.std_len());
        let point = needs.critics && !needs.temperature;
        let what = "learner imitate: fit_std of a policy with standard deviations";
        Error::new(Kind::Config, what).fail_if(b.fit_std && (a == 0 || point))?;
        let what = "learner imitate: a margin of 0 unless the learner is one of Q";
        Error::new(Kind::Config, what).given_f32(b.margin).fail_if(b.margin != 0.0 && !needs.q)?;
        self.imitated_together(b).map(drop)
    }

    /// Sequences that are read together, and the steps of each: those of one part. Errors: `Shape`.
    fn imitated_together(&self, b: &Imitation<'_>) -> Result<(usize, usize)> {
        let rows = self.sizes.chunk_rows;
        if self.sizes.state_len() == 0 {
            return Ok((rows, 1));
        }
        let most = rows.checked_div(self.config.sequence_rows()).unwrap_or(0);
        let count = rows.checked_div(b.num_steps).unwrap_or(0).min(most);
        let what = "learner imitate: num_steps of at most {needed}, the rows of a chunk; they are {given}.";
        Error::limit(Kind::Shape, what, rows, b.num_steps).fail_if(count == 0)?;
        Ok((count, b.num_steps))
    }

    /// Adds the gradients of all rows to the record. Returns the loss.
    fn imitate_all(&self, b: &Imitation<'_>, w: &mut Scratch<'_>, record: &mut [f32]) -> Result<f64> {
        let (most, steps) = self.imitated_together(b)?;
        let sequences = b.num_rows.checked_div(steps).unwrap_or(0);
        let (mut first, mut cost) = (0usize, 0.0);
        while first < sequences {
            let count = most.min(sequences.saturating_sub(first));
            cost += self.imitate_part(b, [first, count, sequences, steps], w, record)?;
            first = first.saturating_add(count);
        }
        Ok(cost)
    }

    /// Adds the gradients of `count` sequences from `first` on to the record. Returns their part of the loss.
    fn imitate_part(
        &self,
        b: &Imitation<'_>,
        [first, count, sequences, steps]: [usize; 4],
        w: &mut Scratch<'_>,
        record: &mut [f32],
    ) -> Result<f64> {
        let (c, sizes, m, net) = (self.config, &self.sizes, count.saturating_mul(steps), &self.sizes.net);
        let list: &mut [u32] = block::rows_mut(cast_slice_mut(w.scalar), 0, m, 1)?;
        for (t, step) in list.chunks_exact_mut(count.max(1)).enumerate() {
            let begin = t.saturating_mul(sequences).saturating_add(first);
            step.iter_mut().zip(begin..).for_each(|(to, row)| *to = row as u32);
        }
        let rows = Rows::new(list, 0);
        let obs = self.see_host(&rows, b.obs, w.obs)?;
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
        let params = self.params.get(..net.param_len()).ok_or(LayoutError)?;
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
                q::combine(self.taken.n, c.value_head().width(), outputs, others);
            }
            let choice = block::rows_mut(w.choice, 0, 1, self.taken.n.len())?;
            #[cfg(feature = "off_policy")]
            let q = &mut *w.batch.means;
            #[cfg(not(feature = "off_policy"))]
            let q: &mut [f32] = &mut [];
            let cost = self.imitate_q(b, &rows, (outputs, mask), (choice, q), d_outputs)?;
            #[cfg(feature = "off_policy")]
            if c.needs().replay {
                q::split(self.taken.n, c.value_head().width(), d_outputs, d_others);
            }
            cost
        } else {
            let raw =
                (block::rows_mut(w.choice, 0, 1, self.taken.n.len())?, block::rows_mut(w.vector, 0, 1, sizes.std_len)?);
            let spread = block::rows_mut(w.noise, 0, 1, sizes.std_len)?;
            let d_log_std = if c.needs().replay { &mut [] } else { log_std_mut(grads, sizes)? };
            self.imitate_policy(b, &rows, ([outputs, others], mask), raw, [d_outputs, d_others], [spread, d_log_std])?
        };
        let d_outs = [&*d_outputs, &*d_others];
        let d_outs = d_outs.get(..num_heads).ok_or(LayoutError)?;
        net.backward(params, obs, m, heads, &carry, tape, d_outs, None, grads, w.scratch)?;
        Ok(cost)
    }

    /// Network inputs of these rows of the host's, normalized as those of acting.
    fn see_host<'t>(&self, rows: &Rows<'_>, obs: Elements<'t>, to: &'t mut [f32]) -> Result<Input<'t>> {
        let (sizes, c) = (&self.sizes, self.config);
        if c.normalize_obs == 0 {
            return rows.input(sizes.reads_front, &sizes.seen, obs, to);
        }
        let to = rows.see(&sizes.seen, obs, to)?;
        let limits = Limits { clip: c.obs_clip, ..Limits::default() };
        normalise(self.obs_mean, self.obs_var, limits, Rewrite::in_place(to))?;
        Ok(Input::F32(to))
    }

    /// Writes the gradients with respect to Q, or to the outputs of its distributions, `[rows, L, width]`. Returns the loss.
    fn imitate_q(
        &self,
        b: &Imitation<'_>,
        rows: &Rows<'_>,
        (outputs, mask): (&[f32], Option<&[u8]>),
        (choice, q): (&mut [i32], &mut [f32]),
        d_outputs: &mut [f32],
    ) -> Result<f64> {
        let (n, l, head) = (self.taken.n, self.actor.shape.choices_len(), self.head()?);
        #[cfg(feature = "off_policy")]
        let (of, width) = (self.config.value_head(), self.config.value_head().width());
        #[cfg(not(feature = "off_policy"))]
        let width = 1;
        let margin = if b.margin > 0.0 { b.margin } else { MARGIN };
        let own = outputs.chunks_exact(l.saturating_mul(width).max(1));
        let d_own = d_outputs.chunks_exact_mut(l.saturating_mul(width).max(1));
        let mut cost = 0.0;
        for (((i, row), said), d_said) in rows.iter().enumerate().zip(own).zip(d_own) {
            if let Some(action) = b.action {
                take_row(&head, action, row, choice, &mut [])?;
            }
            let mask = mask.map(|mask| block::rows(mask, i, 1, l)).transpose()?;
            #[cfg(feature = "off_policy")]
            let values = q::means(of, said, q);
            #[cfg(not(feature = "off_policy"))]
            let (values, _) = (said, &q);
            let (share, target) = (b.share(row), b.target(row, l, choice));
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
    fn imitate_policy(
        &self,
        b: &Imitation<'_>,
        rows: &Rows<'_>,
        ([outputs, others], mask): ([&[f32]; 2], Option<&[u8]>),
        (choice, vector): (&mut [i32], &mut [f32]),
        [d_outputs, d_others]: [&mut [f32]; 2],
        [spread, d_free]: [&mut [f32]; 2],
    ) -> Result<f64> {
        let (c, n, head) = (self.config, self.taken.n, self.head()?);
        let (l, a, needs) = (self.actor.shape.choices_len(), self.actor.shape.std_len(), c.needs());
        let squashes = needs.replay || self.actor.squash != 0;
        let limits = (c.log_std_min, c.log_std_max);
        let (free, mut cost) = (log_std(self.params, &self.sizes)?, 0.0);
        let width = l.saturating_add(a);
        for (i, row) in rows.iter().enumerate() {
            let (said, d_said) = (block::rows(outputs, i, 1, width)?, block::rows_mut(d_outputs, i, 1, width)?);
            if let Some(action) = b.action {
                take_row(&head, action, row, choice, vector)?;
            }
            let share = b.share(row);
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
                    own += imitation::normal(limits, mean, log_std, vector, share, d_mean, spread);
                    if !b.fit_std {
                        spread.fill(0.0);
                    }
                    if needs.replay {
                        block::copy(block::rows_mut(d_others, i, 1, a)?, spread);
                    } else {
                        d_free.iter_mut().zip(&*spread).for_each(|(sum, x)| *sum = num::canonical(*sum + *x));
                    }
                }
            }
            cost += f64::from(share) * own;
        }
        Ok(cost)
    }
}
