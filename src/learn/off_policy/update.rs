//! An update: batches that are drawn from the store, chunks of them, and the steps of optimiser and targets.

use bytemuck::Zeroable;
use core::mem;
use core::slice::from_mut;

use super::bench::Bench;
use super::layout::LOSSES;
use super::{OffPolicy, PARAM_LIMIT, TEMPERATURE_LIMIT};
use crate::block::{self, Fit, Misfit};
use crate::error::{Error, Kind, Result, check_finite};
use crate::learn::config::Algorithm;
use crate::learn::learner::{Stats, add_as_tree};
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::learn::objective::{critic, q, sac};
use crate::learn::step::Moving;
use crate::num;

impl OffPolicy<'_> {
    /// Does at most `max_slices` chunks of the gradient steps that are due, of which a batch has `num_chunks` (0: all that
    /// are left), and returns statistics so far. Results do not depend on how an update is sliced.
    ///
    /// Errors: `NotReady`; `Value` if numbers of the update overflow. Then the update is over and counted in `num_dropped`,
    /// and parameters are those of the last step whose numbers did not.
    pub fn learn(&mut self, max_slices: u32) -> Result<Stats> {
        Error::new(Kind::NotReady, "learner learn: no gradient step is due.").when(self.state.due == 0)?;
        let done = self.learn_slices(if max_slices == 0 { u64::MAX } else { max_slices.into() });
        if let Err(e) = done {
            let s = &mut *self.state;
            (s.due, s.begun) = (0, 0);
            s.num_dropped = s.num_dropped.saturating_add(1);
            self.done.fill(0);
            let what = "learner learn: numbers overflowed; the update was dropped, act is due.";
            return Err(if e.kind == Kind::Value { Error { what: Error::new(e.kind, what).what, ..e } } else { e });
        }
        Ok(self.stats())
    }

    /// Ends the update that is due or runs, without learning any more of it. Errors: `NotReady` if none is.
    pub fn learn_drop(&mut self) -> Result {
        Error::new(Kind::NotReady, "learner learn: no gradient step is due.").when(self.state.due == 0)?;
        (self.state.due, self.state.begun) = (0, 0);
        self.done.fill(0);
        Ok(())
    }

    fn learn_slices(&mut self, mut budget: u64) -> Result {
        while budget > 0 && self.state.due > 0 {
            if self.state.begun == 0 {
                self.begin_step()?;
            }
            if let Some(chunk) = self.done.iter().position(|&done| done == 0) {
                budget -= 1;
                self.learn_chunk(chunk)?;
            }
            if !self.done.contains(&0) {
                self.apply()?;
            }
        }
        Ok(())
    }

    /// Draws a batch.
    fn begin_step(&mut self) -> Result {
        let last = self.view().stored().saturating_sub(1) as u64;
        let (c, s) = (&self.config, &mut *self.state);
        if s.due.is_multiple_of(c.gradient_steps) {
            (s.sums, s.value_sum) = (Sums::zeroed(), 0.0);
        }
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, s.num_steps)?;
        self.order.fill_with(|| s.rng.bounded(last) as u32);
        s.rng.fill_normal(self.noise);
        s.begun = 1;
        noise::draw(&self.sizes.policy, &mut s.rng, self.layer_noise)?;
        self.add_noise()
    }

    fn learn_chunk(&mut self, chunk: usize) -> Result {
        let (begin, end) = self.config.part(chunk as u32, self.config.batch_size as usize);
        let (mut work, grads) = (mem::take(&mut self.work), mem::take(&mut self.grads));
        let record = block::rows_mut(grads, chunk, 1, self.sizes.record);
        let done = record.map_err(Error::from).and_then(|record| {
            let bench = Bench {
                config: &self.config,
                sizes: &self.sizes,
                action_n: self.taken.n,
                params: noise::of(self.params, self.noisy),
                target: noise::of(self.target, self.noisy_target),
                store: self.store.read(),
                order: self.order.get(begin..end).ok_or(Misfit)?,
                noise: [self.noise_of(0, begin, end)?, self.noise_of(1, begin, end)?],
                temperature: num::exp(self.state.log_temperature),
                policy_next: self.state.begun > 1,
            };
            record.fill(0.0);
            if self.config.has_critics() {
                critic::chunk(&bench, &mut work, record)
            } else {
                q::chunk(&bench, &mut work, record)?;
                noise::gradients(&self.sizes.policy, self.layer_noise, record)
            }
        });
        (self.work, self.grads) = (work, grads);
        done?;
        *self.done.get_mut(chunk).ok_or(Misfit)? = 1;
        Ok(())
    }

    /// Rows `[begin, end)` of one half of the noise.
    fn noise_of(&self, half: usize, begin: usize, end: usize) -> Fit<&[f32]> {
        let first = half.saturating_mul(self.config.batch_size as usize).saturating_add(begin);
        block::rows(self.noise, first, end.saturating_sub(begin), self.sizes.vector)
    }

    /// Adds the chunks of a batch, and takes the step of the optimiser that they are for; after the last one of a gradient
    /// step that of the targets.
    fn apply(&mut self) -> Result {
        add_as_tree(self.grads, self.sizes.record);
        self.done.fill(0);
        let c = self.config;
        let grads = mem::take(&mut self.grads);
        let stepped = if self.state.begun > 1 { self.step_policy(grads) } else { self.step_values(grads) };
        self.grads = grads;
        stepped?;
        let s = &mut *self.state;
        let taken = s.num_gradient_steps.saturating_add(1);
        if c.has_critics() && s.begun == 1 && taken.is_multiple_of(c.policy_interval.into()) {
            s.begun = 2;
            return Ok(());
        }
        s.sums.count += 1.0;
        s.sums.policy_loss += f64::from(s.policy_loss);
        s.sums.entropy += f64::from(s.entropy);
        s.num_gradient_steps = taken;
        if taken.is_multiple_of(c.target_interval.into()) {
            move_target(c.target_rate, self.params, self.target);
        }
        (s.begun, s.due) = (0, s.due.saturating_sub(1));
        s.num_updates = s.num_updates.saturating_add(u64::from(s.due.is_multiple_of(c.gradient_steps)));
        self.add_noise()
    }

    /// The step of Q, or of all critics.
    fn step_values(&mut self, record: &[f32]) -> Result {
        let (c, s) = (&self.config, &mut *self.state);
        let (grads, losses) = record.split_at_checked(self.params.len()).ok_or(Misfit)?;
        let [value_loss, value_mean, ..] = *losses.first_chunk::<LOSSES>().ok_or(Misfit)?;
        check_finite("learner losses", &[value_loss, value_mean])?;
        let critics = c.has_critics();
        let first = if critics { self.sizes.policy.param_len() } else { 0 };
        let (steps, rate) = match critics {
            true => (&mut s.critic_steps, c.critic_rate * s.learning_rate),
            false => (&mut s.adam_steps, s.learning_rate),
        };
        let params = self.params.get_mut(first..).ok_or(Misfit)?;
        let (m, v) = (self.adam_m.get_mut(first..).ok_or(Misfit)?, self.adam_v.get_mut(first..).ok_or(Misfit)?);
        let grads = grads.get(first..).ok_or(Misfit)?;
        let norm = c.descend(Moving { params, m, v, steps }, grads, rate, PARAM_LIMIT)?;
        s.sums.value_loss += f64::from(value_loss);
        s.sums.grad_norm += f64::from(num::min(norm, f32::MAX));
        s.value_sum += f64::from(value_mean);
        Ok(())
    }

    /// The step of the policy, and of the temperature.
    fn step_policy(&mut self, record: &[f32]) -> Result {
        let (c, s, len) = (&self.config, &mut *self.state, self.sizes.policy.param_len());
        let losses = record.get(self.params.len()..).and_then(|losses| losses.first_chunk::<LOSSES>());
        let [policy_loss, entropy, ..] = *losses.ok_or(Misfit)?;
        check_finite("learner losses", &[policy_loss, entropy])?;
        let params = self.params.get_mut(..len).ok_or(Misfit)?;
        let (m, v) = (self.adam_m.get_mut(..len).ok_or(Misfit)?, self.adam_v.get_mut(..len).ok_or(Misfit)?);
        let moving = Moving { params, m, v, steps: &mut s.adam_steps };
        c.descend(moving, record.get(..len).ok_or(Misfit)?, s.learning_rate, PARAM_LIMIT)?;
        (s.policy_loss, s.entropy) = (policy_loss, entropy);
        if c.algorithm() == Algorithm::Sac && c.temperature_rate > 0.0 {
            let (params, m, v) = (&mut s.log_temperature, &mut s.temperature_m, &mut s.temperature_v);
            let target = c.target_entropy * self.sizes.vector as f32;
            let grads = [sac::temperature_gradient(num::exp(*params), entropy, target)];
            let moving =
                Moving { params: from_mut(params), m: from_mut(m), v: from_mut(v), steps: &mut s.temperature_steps };
            c.descend(moving, &grads, c.temperature_rate, PARAM_LIMIT)?;
            s.log_temperature = num::clamp(s.log_temperature, -TEMPERATURE_LIMIT, TEMPERATURE_LIMIT);
        }
        Ok(())
    }
}

/// Moves target parameters towards the others, by this part of the way.
fn move_target(rate: f32, params: &[f32], target: &mut [f32]) {
    if rate >= 1.0 {
        return block::copy(target, params);
    }
    target.iter_mut().zip(params).for_each(|(to, from)| *to = (1.0 - rate) * *to + rate * *from);
}
