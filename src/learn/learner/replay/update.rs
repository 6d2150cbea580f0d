//! Batches drawn from the replay store, and the optimizer and target steps.

use bytemuck::Zeroable;
use core::mem;
use core::slice::from_mut;

use crate::block::{self, LayoutError};
use crate::data::sum_tree;
use crate::error::{Result, check_finite};
use crate::learn::algorithm::{discrete_sac, sac};
use crate::learn::learner::context::BatchContext;
use crate::learn::learner::image::TEMPERATURE_LIMIT;
use crate::learn::learner::layout::LOSSES;
use crate::learn::learner::tensors;
use crate::learn::learner::{Learner, PARAM_LIMIT, View};
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::learn::optimizer::ParamState;
use crate::learn::store::sequences::Sequences;
use crate::learn::transition_batch::TransitionBatch;
use crate::num;
use crate::rng::Rng;

/// The number of transitions that are drawn together.
const DRAWS: usize = 32;

/// Added to the error of a transition, so that every transition has a chance to be drawn.
pub(super) const LEAST_PRIORITY: f64 = 1e-6;

impl Learner<'_> {
    /// Ends the running update.
    pub(in crate::learn::learner) fn end_batches(&mut self) {
        self.done.fill(0);
        self.replay.error.fill(0.0);
        self.close();
    }

    /// Begins the update that is due, with the batch of its first gradient step.
    pub(in crate::learn::learner) fn begin_batches(&mut self) -> Result {
        let s = &mut *self.state;
        (s.num_left, s.due) = (s.due.into(), 0);
        let most = (self.config.buffer_size as usize).saturating_sub(self.config.arrivals());
        while self.config.overlap != 0 && self.view().stored() > most {
            self.remove_oldest();
        }
        self.keep_for_update();
        self.begin_step(false)
    }

    /// With `overlap`, keeps the data that an update reads and environments change while it runs, so that it does not depend on
    /// when its parts are computed: the parameters that act, the counts of steps and transitions, and the statistics.
    pub(super) fn keep_for_update(&mut self) {
        if self.config.overlap == 0 {
            return;
        }
        let s = &mut *self.state;
        (s.begun_steps, s.begun_stored, s.begun_return_var) = (s.num_steps, s.num_stored, s.return_var);
        s.begun_kept = s.num_kept;
        block::copy(self.acting, self.params);
        block::copy(self.replay.obs_mean, self.obs_mean);
        block::copy(self.replay.obs_var, self.obs_var);
    }

    /// After the last gradient step of an update: transitions that have arrived meanwhile can be drawn from here on.
    fn close(&mut self) {
        let (c, [begun, gone], begun_kept) = (self.config, self.view().drawable(), self.view().drawable_kept());
        let besides = self.state.runs_besides(c);
        (self.state.num_left, self.state.updating) = (0, 0);
        self.wipe();
        if !besides {
            return;
        }
        for number in begun.max(gone)..self.state.num_stored {
            let slot = number.checked_rem(c.buffer_size.into()).unwrap_or(0) as u32;
            if c.priority_exponent > 0.0 {
                self.replay.weights.set_checked(&[slot], &[self.state.largest]);
            }
        }
        for at in begun_kept..self.state.num_kept {
            if c.priority_exponent > 0.0 {
                self.replay.kept_weights.set_checked(&[at as u32], &[self.state.largest]);
            }
        }
        self.forget();
        if !self.has_batch() {
            self.state.due = 0;
        }
    }

    /// The environment steps that schedules of the running update go by.
    fn steps_of_update(&self) -> u64 {
        if self.config.overlap != 0 { self.state.begun_steps } else { self.state.num_steps }
    }

    /// Draws a batch, unless it is given, and its noise.
    pub(super) fn begin_step(&mut self, is_given: bool) -> Result {
        let (c, steps, s) = (self.config, self.steps_of_update(), &mut *self.state);
        s.updating = 1;
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, steps)?;
        s.imitation_coef = c.scheduled(c.imitation_coef, c.imitation_coef_end, steps)?;
        if is_given {
            self.order.iter_mut().zip(0..).for_each(|(slot, row)| *slot = row);
        } else {
            self.draw()?;
        }
        let s = &mut *self.state;
        self.replay.error.fill(0.0);
        s.rng.fill_normal(self.replay.draws);
        noise::draw(&self.sizes.net, &mut s.rng, self.noise)?;
        self.add_noise()
    }

    /// Draws transitions of the store, or the last ones of sequences, uniformly or by priority: first those of kept
    /// demonstrations, then the others.
    pub(in crate::learn::learner) fn draw(&mut self) -> Result {
        if self.config.priority_exponent > 0.0 {
            self.draw_by_priority()?;
        } else {
            self.draw_any();
        }
        if self.config.sequence_len > 0 { self.list_sequences() } else { Ok(()) }
    }

    /// Lists the steps of the sequences whose last transitions were drawn, step by step in each chunk. A step whose next
    /// observation depends on steps that are not in the store has importance 0.
    fn list_sequences(&mut self) -> Result {
        let (c, count) = (self.config, self.config.batch_sequences());
        let (kept, store) = (self.view().drawable(), &self.replay.store);
        let links = Sequences::new(kept, c.buffer_size, store.before, store.begin);
        let (order, w) = (&mut *self.order, &mut self.work.batch.unroll);
        block::copy(self.replay.sequence, order.get(..count).ok_or(LayoutError)?);
        block::copy(
            block::rows_mut(self.replay.error, 0, count, 1)?,
            self.replay.importance.get(..count).ok_or(LayoutError)?,
        );
        for chunk in 0..c.num_chunks {
            let (begin, end) = c.batch_part(chunk);
            let (first, rows) = (begin.checked_div(c.sequence_rows()).ok_or(LayoutError)?, end.saturating_sub(begin));
            let sequences = rows.checked_div(c.sequence_rows()).ok_or(LayoutError)?;
            let slots = block::rows_mut(w.slot, 0, c.sequence_steps(), sequences)?;
            for (k, end) in self.replay.sequence.iter().skip(first).take(sequences).enumerate() {
                links.list(*end, slots, k, sequences);
            }
            let order = order.get_mut(begin..end).ok_or(LayoutError)?;
            block::copy(order, slots.get(..rows).ok_or(LayoutError)?);
            let drawn = block::rows(self.replay.error, first, sequences, 1)?;
            let importance = self.replay.importance.get_mut(begin..end).ok_or(LayoutError)?;
            for (row, (to, own)) in importance.iter_mut().zip(drawn.iter().cycle()).enumerate() {
                *to = if links.span(c.n_step as usize, slots, row, sequences).is_some() { *own } else { 0.0 };
            }
        }
        Ok(())
    }

    /// Draws any transitions of the store.
    fn draw_any(&mut self) {
        let (slots, [end, gone]) = (u64::from(self.config.buffer_size), self.view().drawable());
        let (held, shown, kept) =
            (end.saturating_sub(gone), self.view().shown_sequences(), self.view().drawable_kept());
        // Any used slot, unless the oldest ones are empty: then slots from the oldest transition on.
        let (last, from) = (held.saturating_sub(1), if held < end.min(slots) { gone } else { 0 });
        for (i, slot) in self.order.iter_mut().take(self.config.batch_sequences()).enumerate() {
            if i < shown {
                *slot = self.state.rng.bounded(kept.saturating_sub(1)).saturating_add(slots) as u32;
                continue;
            }
            let number = from.wrapping_add(self.state.rng.bounded(last));
            *slot = number.checked_rem(slots).unwrap_or(0) as u32;
        }
        self.replay.importance.fill(1.0);
    }

    /// Draws transitions in proportion to their weights, one from each of as many equal parts of the sum of weights. The
    /// importance of a transition corrects for its weight with the exponent `importance_exponent`, relative to the smallest
    /// weight. Kept demonstrations are drawn so by their own weights (as in R2D3, Paine et al. 2019).
    fn draw_by_priority(&mut self) -> Result {
        let (shown, all) = (self.view().shown_sequences(), self.config.batch_sequences());
        let exponent = self.config.importance(self.steps_of_update());
        let (rng, r) = (&mut self.state.rng, &mut self.replay);
        let (order, importance) = (self.order.get_mut(..all), r.importance.get_mut(..all));
        let (first, others) = order.ok_or(LayoutError)?.split_at_mut_checked(shown).ok_or(LayoutError)?;
        let (own, rest) = importance.ok_or(LayoutError)?.split_at_mut_checked(shown).ok_or(LayoutError)?;
        draw_by_weight(&r.kept_weights.view(), exponent, rng, first, own)?;
        first.iter_mut().for_each(|slot| *slot = slot.saturating_add(self.config.buffer_size));
        draw_by_weight(&r.weights.view(), exponent, rng, others, rest)
    }

    /// Sets the weights of the batch's transitions from their errors.
    fn set_priorities(&mut self) {
        let (c, exponent) = (self.config, f64::from(self.config.priority_exponent));
        if exponent > 0.0 {
            if c.sequence_len > 0 {
                self.join_errors();
            }
            for error in &mut *self.replay.error {
                *error = num::pow64(f64::from(*error) + LEAST_PRIORITY, exponent) as f32;
                self.state.largest = num::max(self.state.largest, *error);
            }
            let drawn = if c.sequence_len > 0 { &*self.replay.sequence } else { &*self.order };
            let error = self.replay.error.get(..drawn.len()).unwrap_or_default();
            let shown = drawn.iter().take_while(|slot| **slot >= c.buffer_size).count();
            let (first, rest) = drawn.split_at_checked(shown).unwrap_or_default();
            let (own, others) = error.split_at_checked(shown).unwrap_or_default();
            for (slot, error) in first.iter().zip(own) {
                self.replay.kept_weights.set_checked(&[slot.saturating_sub(c.buffer_size)], &[*error]);
            }
            self.replay.weights.set_checked(rest, others);
        }
    }

    /// Replaces the errors of steps by those of their sequences.
    fn join_errors(&mut self) {
        let (c, errors) = (self.config, &mut *self.replay.error);
        let mut sequence = 0usize;
        for chunk in 0..c.num_chunks {
            // Steps are in the order of the chunk, so what a sequence's error replaces has been read.
            let (begin, end) = c.batch_part(chunk);
            let sequences = end.saturating_sub(begin).checked_div(c.sequence_rows()).unwrap_or(0);
            for k in 0..sequences {
                let own = errors.get(begin..end).unwrap_or_default().iter().skip(k).step_by(sequences);
                let (most, sum) = own.fold((0.0f32, 0.0f32), |(most, sum), x| (num::max(most, *x), sum + x));
                let mean = num::min(sum / c.sequence_rows() as f32, most);
                if let Some(to) = errors.get_mut(sequence) {
                    *to = c.priority_max_share * most + (1.0 - c.priority_max_share) * mean;
                }
                sequence = sequence.saturating_add(1);
            }
        }
        errors.iter_mut().skip(sequence).for_each(|error| *error = 0.0);
    }

    /// Copies the errors of the batch from the records of its chunks, before these are summed.
    pub(in crate::learn::learner) fn take_errors(&mut self) -> Result {
        if self.state.updating != 1 {
            return Ok(());
        }
        for (record, chunk) in self.grads.chunks_exact_mut(self.sizes.record_len.max(1)).zip(0..) {
            let (begin, end) = self.config.batch_part(chunk);
            let (own, errors) =
                (self.replay.error.get_mut(begin..end).ok_or(LayoutError)?, self.sizes.split(record)?.1);
            own.iter_mut().zip(errors).for_each(|(to, error)| *to = num::max(0.0, *error));
            check_finite("learner errors", own)?;
        }
        Ok(())
    }

    /// Takes the optimizer step of a batch, whose chunks are summed; at the end of a gradient step also the target step. Then
    /// draws the batch of the next gradient step.
    pub(in crate::learn::learner) fn apply_batch(&mut self, is_given: bool) -> Result {
        let (c, s) = (self.config, &mut *self.state);
        if s.updating == 1 && (is_given || s.num_left.is_multiple_of(c.gradient_steps.into())) {
            (s.sums, s.value_sum) = (Sums::zeroed(), 0.0);
        }
        let grads = mem::take(&mut self.grads);
        let stepped = if self.state.updating > 1 { self.step_policy(grads) } else { self.step_values(grads) };
        self.grads = grads;
        stepped?;
        if self.state.updating == 1 && !is_given {
            self.set_priorities();
        }
        let s = &mut *self.state;
        let taken = s.num_gradient_steps.saturating_add(1);
        if c.needs().critics && s.updating == 1 && taken.is_multiple_of(c.policy_interval.into()) {
            s.updating = 2;
            return Ok(());
        }
        s.sums.count += 1.0;
        s.sums.policy_loss += f64::from(s.policy_loss);
        s.sums.entropy += f64::from(s.entropy);
        s.num_gradient_steps = taken;
        if taken.is_multiple_of(c.target_interval.into()) {
            move_target(c.target_rate, self.params, self.replay.target);
        }
        s.num_left = s.num_left.saturating_sub(1);
        s.num_updates = s.num_updates.saturating_add(u64::from(s.num_left.is_multiple_of(c.gradient_steps.into())));
        if s.num_left > 0 {
            return self.begin_step(is_given);
        }
        self.close();
        self.add_noise()
    }

    /// The optimizer step of Q, or of all critics.
    fn step_values(&mut self, record: &[f32]) -> Result {
        let (c, s) = (self.config, &mut *self.state);
        let (grads, losses) = record.split_at_checked(self.params.len()).ok_or(LayoutError)?;
        let [value_loss, value_mean, value_size, ..] = *losses.first_chunk::<LOSSES>().ok_or(LayoutError)?;
        check_finite("learner losses", &[value_loss, value_mean, value_size])?;
        s.value_size = value_size;
        let critics = c.needs().critics;
        let first = if critics { self.sizes.net.param_len() } else { 0 };
        let (steps, rate) = match critics {
            true => (&mut s.critic_steps, c.critic_rate * s.learning_rate),
            false => (&mut s.adam_steps, s.learning_rate),
        };
        let params = self.params.get_mut(first..).ok_or(LayoutError)?;
        let (m, v) =
            (self.adam_m.get_mut(first..).ok_or(LayoutError)?, self.adam_v.get_mut(first..).ok_or(LayoutError)?);
        let grads = grads.get(first..).ok_or(LayoutError)?;
        let frozen = tensors::frozen(&self.sizes, self.frozen_tensors, first, grads.len());
        let norm = c.optimizer_step(ParamState { params, m, v, steps }, grads, rate, PARAM_LIMIT, frozen.parts())?;
        // The reported loss is the mean over critics, and half of squared errors.
        let halves = if c.huber == 0 && c.num_quantiles == 0 && c.num_atoms == 0 { 0.5 } else { 1.0 };
        s.sums.value_loss += f64::from(value_loss) * halves / self.sizes.replay.num_critics.max(1) as f64;
        s.sums.grad_norm += f64::from(num::min(norm, f32::MAX));
        s.value_sum += f64::from(value_mean);
        Ok(())
    }

    /// The optimizer step of the policy, and of the temperature.
    fn step_policy(&mut self, record: &[f32]) -> Result {
        let (c, s, len) = (self.config, &mut *self.state, self.sizes.net.param_len());
        let losses = record.get(self.params.len()..).and_then(|losses| losses.first_chunk::<LOSSES>());
        let [policy_loss, entropy, third, fourth, ..] = *losses.ok_or(LayoutError)?;
        check_finite("learner losses", &[policy_loss, entropy, third, fourth])?;
        let params = self.params.get_mut(..len).ok_or(LayoutError)?;
        let (m, v) = (self.adam_m.get_mut(..len).ok_or(LayoutError)?, self.adam_v.get_mut(..len).ok_or(LayoutError)?);
        let moving = ParamState { params, m, v, steps: &mut s.adam_steps };
        let frozen = tensors::frozen(&self.sizes, self.frozen_tensors, 0, len);
        let grads = record.get(..len).ok_or(LayoutError)?;
        c.optimizer_step(moving, grads, s.learning_rate, PARAM_LIMIT, frozen.parts())?;
        (s.policy_loss, s.entropy, s.log_std) = (policy_loss, entropy, third);
        if c.needs().temperature && c.temperature_rate > 0.0 {
            let (params, m, v) = (&mut s.log_temperature, &mut s.temperature_m, &mut s.temperature_v);
            // That of the choices, which masks limit, and that of the numbers.
            let of_choices = match (self.sizes.std_len, self.sizes.masks) {
                (_, 0) => discrete_sac::target_entropy(self.taken.n, None, c.target_entropy) as f32,
                (0, _) => third,
                _ => fourth,
            };
            let target = of_choices + c.target_entropy * self.sizes.std_len as f32;
            let grads = [sac::temperature_gradient(num::exp(*params), entropy, target)];
            let moving = ParamState {
                params: from_mut(params),
                m: from_mut(m),
                v: from_mut(v),
                steps: &mut s.temperature_steps,
            };
            c.optimizer_step(moving, &grads, c.temperature_rate, PARAM_LIMIT, None)?;
            s.log_temperature = num::clamp(s.log_temperature, -TEMPERATURE_LIMIT, TEMPERATURE_LIMIT);
        }
        Ok(())
    }
}

impl<'a> View<'a> {
    /// The data of a chunk of a batch, from the replay store or from given transitions.
    pub(in crate::learn::learner) fn batch_context(
        &self,
        chunk: u32,
        given: Option<&TransitionBatch<'a>>,
    ) -> Result<BatchContext<'_, 'a>> {
        let (r, c) = (&self.replay, self.config);
        let (begin, end) = c.batch_part(chunk);
        let ends = match c.sequence_len {
            0 => &[],
            len => r.sequence.get(begin / len as usize..end / len as usize).ok_or(LayoutError)?,
        };
        let store = given.map_or(r.store, |batch| batch.rows(self.sizes.pixels_len == 0));
        let importance = match given {
            None => r.importance.get(begin..end).ok_or(LayoutError)?,
            Some(batch) => batch.importance.and_then(|all| all.get(begin..end)).unwrap_or_default(),
        };
        let draws = |half: usize| {
            let first = half.saturating_mul(c.batch_size as usize).saturating_add(begin);
            block::rows(r.draws, first, end.saturating_sub(begin), self.sizes.std_len)
        };
        let demonstrated = given.is_none().then(|| self.order.iter().filter(|slot| **slot >= c.buffer_size).count());
        Ok(BatchContext {
            demonstrated: demonstrated.unwrap_or(0),
            imitation_coef: self.state.imitation_coef,
            value_size: self.state.value_size,
            target: noise::of(r.target, r.noisy_target),
            store,
            frames: r.frames,
            importance,
            draws: [draws(0)?, draws(1)?],
            temperature: self.temperature(),
            sequences: Sequences::new(self.drawable(), c.buffer_size, r.store.before, r.store.begin),
            ends,
            return_var: if c.overlap != 0 { self.state.begun_return_var } else { self.state.return_var },
            policy_next: self.state.updating > 1,
        })
    }
}

/// Draws items in proportion to their weights, one from each of as many equal parts of the sum of weights, and writes their
/// importance.
fn draw_by_weight(
    weights: &sum_tree::View<'_>,
    exponent: f64,
    rng: &mut Rng,
    order: &mut [u32],
    importance: &mut [f32],
) -> Result {
    let (part, mut begin) = (weights.total() / order.len() as f64, 0.0);
    for (order, importance) in order.chunks_mut(DRAWS).zip(importance.chunks_mut(DRAWS)) {
        let mut mass = [0.0; DRAWS];
        let mass = mass.get_mut(..order.len()).ok_or(LayoutError)?;
        for mass in &mut *mass {
            *mass = (begin + rng.uniform()) * part;
            begin += 1.0;
        }
        weights.find(mass, order)?;
        for (importance, slot) in importance.iter_mut().zip(order) {
            let ratio = f64::from(weights.min()) / f64::from(weights.weight(*slot as usize));
            *importance = num::pow64(ratio, exponent) as f32;
        }
    }
    Ok(())
}

/// Moves target parameters towards `params` by the fraction `rate`.
fn move_target(rate: f32, params: &[f32], target: &mut [f32]) {
    if rate >= 1.0 {
        return block::copy(target, params);
    }
    target.iter_mut().zip(params).for_each(|(to, from)| *to = (1.0 - rate) * *to + rate * *from);
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::learn::algorithm::q;
    use crate::learn::config::{Algorithm, Config};
    use crate::learn::learner::Phase;
    use crate::nn::Input;
    use crate::space::{Elements, ElementsMut, Space};
    use std::vec;
    use std::vec::Vec;

    const ROWS: usize = 40;

    fn config(priority_exponent: f32) -> Config {
        Config {
            num_hidden: 1,
            hidden_len: [8, 0, 0, 0],
            buffer_size: ROWS as u32,
            batch_size: 64,
            learning_starts: ROWS as u32,
            train_interval: 1,
            priority_exponent,
            importance_exponent: 0.5,
            importance_steps: 80,
            ..Config::of(Algorithm::Dqn)
        }
    }

    /// A learner with a full replay store and an update that is due.
    fn filled(config: &Config) -> Vec<u64> {
        let config = Config { batch_size: config.batch_size.min(ROWS as u32), ..*config };
        let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
        let mut block = vec![0u64; Learner::size(&config, &[], &obs, &action).unwrap() / 8];
        let mut learner = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs, &action).unwrap();
        for t in 0..ROWS {
            let (x, mut choice) = ([(t as f32) / 8.0 - 2.0], [0]);
            learner.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut choice)).unwrap();
            learner.observe(None, &[x[0] * choice[0] as f32], &[u8::from(t % 3 == 0)], &[0], None, None).unwrap();
        }
        let mut choice = [0];
        if learner.phase() == Phase::Act {
            learner.act(None, Elements::F32(&[0.0]), None, ElementsMut::I32(&mut choice)).unwrap();
            learner.observe(None, &[1.0], &[1], &[0], None, None).unwrap();
        }
        assert!(learner.phase() == Phase::Learn);
        block
    }

    /// Transitions are drawn in proportion to their weights, and importance follows the paper.
    #[test]
    fn draws_are_in_proportion_to_weights() {
        let mut block = filled(&config(0.6));
        let mut l = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
        let stored = l.view().stored();
        let weights: Vec<f32> = (0..stored).map(|i| 0.25 + (i % 7) as f32).collect();
        let slots: Vec<u32> = (0..stored as u32).collect();
        l.replay.weights.set(&slots, &weights).unwrap();
        let (sum, batches) = (weights.iter().map(|x| f64::from(*x)).sum::<f64>(), 2000);
        let mut counts = vec![0u32; stored];
        let beta = 0.5 + 0.5 * (l.state.num_steps as f64 / 80.0).min(1.0);
        for _ in 0..batches {
            l.draw_by_priority().unwrap();
            for (slot, importance) in l.order.iter().zip(&*l.replay.importance) {
                counts[*slot as usize] += 1;
                let p = f64::from(weights[*slot as usize]) / sum;
                let (own, most) = ((1.0 / (stored as f64 * p)).powf(beta), (sum / (stored as f64 * 0.25)).powf(beta));
                assert!((f64::from(*importance) - own / most).abs() < 1e-6);
            }
        }
        let draws = f64::from(l.config.batch_size * batches);
        for (count, weight) in counts.iter().zip(&weights) {
            let wanted = f64::from(*weight) / sum;
            let (part, spread) = (f64::from(*count) / draws, (wanted / draws).sqrt());
            assert!((part - wanted).abs() < 5.0 * spread, "{part} {wanted}");
        }
    }

    /// After a gradient step the weights of the batch's transitions follow from their errors; all others are unchanged.
    #[test]
    fn weights_are_those_of_errors() {
        for exponent in [0.5, 1.0] {
            let config = Config { double_q: 0, huber: 0, gradient_steps: 1, batch_size: 5, ..config(exponent) };
            let mut block = filled(&config);
            let mut l = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
            let stored = l.view().stored();
            assert!((0..stored).all(|i| l.replay.weights.view().weight(i) == 1.0), "new ones are alike");
            let (params, target) = (l.params.to_vec(), l.replay.target.to_vec());
            l.learn(None, None, 1).unwrap();
            let say = |params: &[f32], x: f32, which: usize| -> f64 {
                // A hidden layer of 8 units, evaluated by the network's own inference.
                let (mut q, mut scratch) = ([0.0; 2], vec![0.0; 4096]);
                q::infer(&l.sizes.net, params, Input::F32(&[x]), 1, &mut [], &mut scratch, &mut q, &mut []).unwrap();
                if which < 2 { f64::from(q[which]) } else { f64::from(q[0].max(q[1])) }
            };
            let store = l.replay.store.read();
            let mut largest = 1.0f64;
            for slot in 0..stored {
                let weight = f64::from(l.replay.weights.view().weight(slot));
                let next = f64::from(store.discount[slot]) * say(&target, store.next_obs[slot], 2);
                let own = say(&params, store.obs[slot], store.choice[slot] as usize);
                let error = (own - f64::from(store.reward[slot]) - next).abs();
                let wanted =
                    if l.order.contains(&(slot as u32)) { (error + 1e-6).powf(f64::from(exponent)) } else { 1.0 };
                assert!((weight - wanted).abs() < 1e-4 * (1.0 + wanted), "{weight} {wanted}");
                largest = largest.max(wanted);
            }
            assert!((f64::from(l.state.largest) - largest).abs() < 1e-4 * largest);
        }
    }
}
