//! An update of a rollout: its values and advantages, its minibatches, and the optimizer steps.

use bytemuck::Zeroable;

use crate::block::{self, LayoutError};
use crate::error::{Result, check_finite};
use crate::kernels::moments;
use crate::learn::actor_config::VALUE;
use crate::learn::algorithm;
use crate::learn::config::Config;
use crate::learn::learner::context::UpdateContext;
use crate::learn::learner::layout::{LOSSES, log_std_mut};
use crate::learn::learner::tensors;
use crate::learn::learner::{Learner, PARAM_LIMIT, With};
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::learn::optimizer::ParamState;
use crate::learn::rows::{Rows, list};
use crate::learn::store::rollout::{list_by_env, owner};
use crate::learn::store::shown::NOT_DRAWN;
use crate::learn::tasks;
use crate::num;
use crate::space::Elements;

impl Learner<'_> {
    /// Computes the values of the observations after the rollout, for environments whose episode continues and that have not
    /// acted yet.
    pub(in crate::learn::learner) fn bootstrap(&mut self, obs: Elements<'_>, mask: Option<&[u8]>) -> Result {
        let (begin, end) = (self.state.begin as usize, self.state.end as usize);
        let n = self.config.num_envs as usize;
        let seen = self.work.ends.get_mut(..n).ok_or(LayoutError)?;
        for at in (begin..end).rev() {
            let (env, complete) = owner(self.rollout.env, self.slot, at)?;
            let seen = seen.get_mut(env).ok_or(LayoutError)?;
            if *seen == 0 {
                let flag = |flags: &[u8]| flags.get(at).is_none_or(|&x| x != 0);
                let goes_on = complete && !flag(self.rollout.terminated) && !flag(self.rollout.truncated);
                *seen = if goes_on { 2 } else { 1 };
            }
        }
        let rows = seen.iter().enumerate().filter(|(_, seen)| **seen == 2).map(|(env, _)| env);
        let count = list(rows, self.work.some)?;
        if count == 0 {
            return Ok(());
        }
        self.look_at_some("learner learn: finite obs", obs, mask, count, VALUE, With::Learning)?;
        let w = &mut self.work;
        Rows::new(block::rows(w.some, 0, count, 1)?, 0).put(w.scalar, 1, w.next)?;
        Ok(())
    }

    /// Computes advantages and targets, then takes the rollout for the update and prepares the first minibatch.
    pub(in crate::learn::learner) fn begin_update(&mut self) -> Result {
        let (begin, end) = (self.state.begin as usize, self.state.end as usize);
        self.state.updating = 1;
        algorithm::begin(&mut UpdateContext {
            config: self.config,
            sizes: &self.sizes,
            params: noise::of(self.params, self.noisy),
            rollout: &mut self.rollout,
            work: &mut self.work,
            slots: begin..end,
            waiting: self.slot,
        })?;
        let rows = self.take_over(begin, end)?;
        let (r, numbers) = (&mut self.rollout, self.config.needs().numbers);
        let columns = [(&mut *r.advantage, 1), (&mut *r.value_target, 1), (&mut *r.numbers, numbers)]
            .map(|(column, width)| block::rows_mut(column, begin, rows, width));
        let [advantage, target, numbers] = columns;
        let columns = [advantage?, target?, numbers?];
        let finite = columns.iter().try_for_each(|column| check_finite("", column));
        if finite.is_err() {
            // NaN payloads differ between processors, so the columns are zeroed.
            columns.into_iter().for_each(|column| column.fill(0.0));
        }
        finite?;
        self.begin_learning()
    }

    /// Makes the complete transitions, which the update learns from, contiguous. Returns their number.
    fn take_over(&mut self, begin: usize, end: usize) -> Result<usize> {
        self.keep()?;
        let spare = begin.saturating_add(self.sizes.room).saturating_sub(1);
        let complete = self.rollout.gather_complete(begin, end, spare, self.slot)?;
        (self.state.learn_begin, self.state.learn_end) = (begin as u32, complete as u32);
        self.hand_over()?;
        Ok(complete.saturating_sub(begin))
    }

    /// Copies the complete transitions to the past steps, which do not change while an update is running.
    fn keep(&mut self) -> Result {
        if !tasks::BUILT {
            return Ok(());
        }
        let recorded = (self.state.begin as usize, self.state.end as usize);
        self.rollout.keep(recorded, self.slot, &self.sizes.frames, &mut self.history)
    }

    /// With `overlap`, recording goes on in the other rollout.
    pub(in crate::learn::learner) fn hand_over(&mut self) -> Result {
        if self.config.overlap == 0 {
            return Ok(());
        }
        let s = &mut *self.state;
        let to = if s.begin == 0 { self.sizes.room } else { 0 };
        let (from, end) = (s.begin as usize, s.end as usize);
        let next = self.rollout.carry(&self.sizes.frames, (from, end), to, self.slot, self.open)?;
        (s.begin, s.end, s.complete) = (to as u32, next as u32, 0);
        Ok(())
    }

    /// Computes the statistics and schedules of the update, and prepares the first minibatch.
    pub(in crate::learn::learner) fn begin_learning(&mut self) -> Result {
        let (c, s, r) = (self.config, &mut *self.state, &self.rollout);
        let (begin, rows) = (s.learn_begin as usize, s.learn_end.saturating_sub(s.learn_begin) as usize);
        let (value, target) = (block::rows(r.value, begin, rows, 1)?, block::rows(r.value_target, begin, rows, 1)?);
        s.sums = Sums::zeroed();
        s.explained_variance = moments::explained_variance(value, target)? as f32;
        s.value_mean = moments::mean_std(value)?.0 as f32;
        let before = s.num_steps.saturating_sub(c.batch_len() as u64);
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, before)?;
        s.clip = c.scheduled(c.clip, c.clip_end, before)?;
        s.imitation_coef = c.scheduled(c.imitation_coef, c.imitation_coef_end, before)?;
        s.begun_kept = s.num_kept;
        s.entropy_coef = c.scheduled(c.entropy_coef, c.entropy_coef * c.entropy_share_end, before)?;
        if let Some(age) = self.prime_age.first_mut() {
            if *age == 0 {
                block::copy(self.prime, noise::of(self.params, self.noisy));
            }
            *age = age.saturating_add(1).checked_rem(c.prime_interval).unwrap_or(0);
        }
        (s.updating, s.minibatch) = (1, 0);
        self.begin_minibatch()
    }

    /// Prepares the order and the advantages of the next minibatch.
    fn begin_minibatch(&mut self) -> Result {
        let (c, s) = (self.config, &mut *self.state);
        let part = s.minibatch.checked_rem(c.num_minibatches).unwrap_or(0);
        if part == 0 {
            let rows = s.learn_end.saturating_sub(s.learn_begin) as usize;
            let order = self.order.get_mut(..rows).ok_or(LayoutError)?;
            if c.has_sequences() {
                list_by_env(self.rollout.env, s.learn_begin as usize, self.work.row, order)?;
                s.rng.shuffle_runs(order, c.sequence_rows());
            } else {
                order.iter_mut().zip(s.learn_begin..).for_each(|(at, slot)| *at = slot);
                s.rng.shuffle(order);
            }
        }
        self.done.fill(0);
        if c.has_sequences() {
            let order = block::rows_mut(self.order, part as usize, 1, c.minibatch_len())?;
            order_by_step(c, order, bytemuck::cast_slice_mut(self.advantage))?;
        }
        let order = minibatch(c, s.minibatch, self.order)?;
        Rows::new(order, 0).get(self.rollout.advantage, 1, self.advantage)?;
        if c.normalize_advantage != 0 {
            moments::standardise(self.advantage, ADVANTAGE_EPSILON)?;
        }
        if tasks::BUILT {
            self.history.draw(c);
        }
        if c.demonstration_size > 0 && s.imitation_coef > 0.0 {
            self.shown.draw(c.demonstrated(c.minibatch_len()), s.begun_kept)?;
        }
        Ok(())
    }

    /// Takes the optimizer step of a minibatch, whose chunks are summed, and prepares the next one.
    pub(in crate::learn::learner) fn apply_minibatch(&mut self) -> Result {
        let (c, sizes, s) = (self.config, &self.sizes, &mut *self.state);
        let (grads, losses) = self.grads.split_at_checked(self.params.len()).ok_or(LayoutError)?;
        let losses = losses.first_chunk::<LOSSES>().ok_or(LayoutError)?;
        check_finite("learner losses", losses)?;
        let [policy_loss, value_loss, approx_kl, clip_fraction, entropy, tasks @ ..] = *losses;
        if s.updating == 0 {
            s.sums = Sums::zeroed();
            s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, s.num_steps)?;
        }
        let sums = &mut s.sums;
        sums.count += 1.0;
        sums.policy_loss += f64::from(policy_loss);
        sums.value_loss += f64::from(value_loss);
        sums.approx_kl += f64::from(approx_kl);
        sums.clip_fraction += f64::from(clip_fraction);
        sums.entropy += f64::from(entropy);
        if c.has_tasks() {
            sums.tasks.iter_mut().zip(tasks).for_each(|(sum, loss)| *sum += f64::from(loss));
        }
        let too_far = c.target_kl > 0.0 && approx_kl > 1.5 * c.target_kl;
        if !too_far {
            let (m, v, steps) = (&mut *self.adam_m, &mut *self.adam_v, &mut s.adam_steps);
            let to = ParamState { params: self.params, m, v, steps };
            let frozen = |begin, len| tensors::frozen(sizes, self.frozen_tensors, begin, len);
            let norm = match c.needs().traces {
                #[cfg(feature = "stream")]
                true => {
                    let policy =
                        if c.needs().q { 0 } else { sizes.net.params_of(self.actor.num_layers as usize)?.start };
                    let learnt = self.rollout.duration.get(s.learn_begin as usize);
                    let before = c.discount_over(learnt.map(|_| &s.last_duration));
                    let rates = (s.learning_rate, before);
                    let frozen = [frozen(0, policy), frozen(policy, grads.len().saturating_sub(policy))];
                    let parts = frozen.each_ref().map(|frozen| frozen.parts());
                    let norm = c.trace_step(to, (policy, parts), grads, losses, rates, PARAM_LIMIT)?;
                    s.last_duration = learnt.copied().unwrap_or(0.0);
                    // The agent may have been removed after the losses were computed; the traces end then too.
                    if self.rollout.truncated.get(s.learn_begin as usize).is_some_and(|&x| x != 0) {
                        self.adam_m.fill(0.0);
                    }
                    norm
                }
                _ => c.optimizer_step(to, grads, s.learning_rate, PARAM_LIMIT, frozen(0, grads.len()).parts())?,
            };
            sums.grad_norm += f64::from(num::min(norm, f32::MAX));
            let log_std = log_std_mut(self.params, sizes)?;
            log_std.iter_mut().for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
            noise::add(&sizes.net, self.noise, self.params, self.noisy)?;
        }
        s.minibatch = s.minibatch.saturating_add(1);
        if s.updating != 0 && !too_far && s.minibatch < c.update_len() {
            return self.begin_minibatch();
        }
        s.num_updates = s.num_updates.saturating_add(1);
        self.end_rollout();
        Ok(())
    }

    /// Ends an update that is due before it has begun.
    pub(in crate::learn::learner) fn drop_rollout(&mut self) -> Result {
        (self.state.learn_begin, self.state.learn_end) = (self.state.begin, self.state.end);
        self.keep()?;
        self.hand_over()
    }

    /// Zeroes the traces, so that earlier steps do not contribute to later errors.
    pub(in crate::learn::learner) fn cut_traces(&mut self) {
        if self.config.needs().traces {
            self.adam_m.fill(0.0);
        }
    }

    /// Ends the update: the new parameters act, and the slots of its transitions are freed.
    pub(in crate::learn::learner) fn end_rollout(&mut self) {
        block::copy(self.acting, self.params);
        self.done.fill(0);
        self.wipe();
        self.shown.drawn.fill(NOT_DRAWN);
        let s = &mut *self.state;
        if s.updating != 0 || s.learn_end != 0 {
            if self.config.overlap == 0 {
                // Pending transitions move to the front; if one is missing, all stay in place.
                let moved = self.rollout.carry(&self.sizes.frames, (0, s.end as usize), 0, self.slot, self.open);
                (s.end, s.complete) = (moved.unwrap_or(0) as u32, 0);
            }
            (s.learn_begin, s.learn_end) = (0, 0);
            // Lengths fit, so these calls cannot fail.
            noise::draw(&self.sizes.net, &mut s.rng, self.noise).unwrap_or_default();
            noise::add(&self.sizes.net, self.noise, self.params, self.noisy).unwrap_or_default();
        }
        (s.updating, s.minibatch) = (0, 0);
    }
}

/// The part of the order that a minibatch learns from; minibatches are numbered from 0 over all epochs.
pub(in crate::learn::learner) fn minibatch<'o>(c: &Config, minibatch: u32, order: &'o [u32]) -> Result<&'o [u32]> {
    let part = minibatch.checked_rem(c.num_minibatches).unwrap_or(0) as usize;
    Ok(block::rows(order, part.saturating_mul(c.minibatch_len()), c.minibatch_len(), 1)?)
}

/// Orders the rows of each chunk of a minibatch of sequences step by step. `copy` is as long as `order`.
fn order_by_step(c: &Config, order: &mut [u32], copy: &mut [u32]) -> Result {
    block::copy(copy, order);
    let together = c.sequence_rows().max(1);
    for chunk in 0..c.num_chunks {
        let (begin, end) = c.chunk(chunk);
        let (to, from) = (order.get_mut(begin..end).ok_or(LayoutError)?, copy.get(begin..end).ok_or(LayoutError)?);
        let mut to = to.iter_mut();
        for step in 0..together {
            for (slot, to) in from.iter().skip(step).step_by(together).zip(to.by_ref()) {
                *to = *slot;
            }
        }
    }
    Ok(())
}

/// Added to the standard deviation that advantages are divided by (spec: agents, section 2.3).
pub(in crate::learn::learner) const ADVANTAGE_EPSILON: f64 = 1e-7;
