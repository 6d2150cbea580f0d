//! A step of imitation: the optimizer's, of the network that acts, on rows of the host's.

use core::mem;

use bytemuck::{cast_slice, cast_slice_mut};

use super::context::ChunkContext;
use super::layout::{Scratch, log_std_mut};
use super::{Learner, PARAM_LIMIT, View, tensors};
use crate::block::{self, LayoutError};
use crate::error::{Error, Kind, Result, check_finite};
use crate::learn::actor::{Head, check_mask_fits, check_rows_given};
use crate::learn::algorithm::imitate::{self, OVERFLOWED, Part};
use crate::learn::imitation::Imitation;
use crate::learn::optimizer::ParamState;
use crate::learn::rows::Rows;
use crate::num;
use crate::space::Elements;

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
            // Choices are not read beside probabilities.
            let fits = match b.prob {
                None => takes(&head, (action, row), mask, (choice, vector), shrinks),
                Some(_) => {
                    imitate::take_row(&head, action, row, choice, vector).is_ok() && within(&head, vector, shrinks)
                }
            };
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
        let frozen = tensors::frozen(&self.sizes, self.frozen_tensors, 0, len);
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

/// Whether the action of a row exists, and is allowed.
pub(super) fn takes(
    head: &Head<'_>,
    (action, row): (Elements<'_>, usize),
    mask: Option<&[u8]>,
    (choice, vector): (&mut [i32], &mut [f32]),
    shrinks: bool,
) -> bool {
    let exists = imitate::take_row(head, action, row, choice, vector).is_ok();
    exists && head.could_take(choice, mask) && within(head, vector, shrinks)
}

/// Whether numbers of an action are finite, and within their bounds if they pass through tanh.
fn within(head: &Head<'_>, vector: &mut [f32], shrinks: bool) -> bool {
    vector.iter().all(|x| x.is_finite()) && (!shrinks || head.shrink(vector))
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
        let context = ChunkContext { params: self.params, noise: &[], ..self.context(0, None)? };
        while first < sequences {
            let count = most.min(sequences.saturating_sub(first));
            let list: &mut [u32] = block::rows_mut(cast_slice_mut(w.scalar), 0, count.saturating_mul(steps), 1)?;
            for (t, step) in list.chunks_exact_mut(count.max(1)).enumerate() {
                let begin = t.saturating_mul(sequences).saturating_add(first);
                step.iter_mut().zip(begin..).for_each(|(to, row)| *to = row as u32);
            }
            let scalar = mem::take(&mut w.scalar);
            let list: &[u32] = block::rows(cast_slice(scalar), 0, count.saturating_mul(steps), 1)?;
            let part = Part { batch: b, rows: Rows::new(list, 0), steps, weight: 1.0 };
            let own = imitate::learn(&context, &part, w, record);
            w.scalar = scalar;
            cost += own?;
            first = first.saturating_add(count);
        }
        Ok(cost)
    }
}
