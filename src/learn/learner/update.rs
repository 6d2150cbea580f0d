//! An update: what a rollout is worth, chunks of minibatches in any order, and the steps of the optimiser.

use super::bench::Bench;
use super::layout::{LOSSES, Work, log_std_mut, plan_scratch};
use super::rollout::{list_by_env, owner};
use super::{Learner, PARAM_LIMIT, Stats, View, With};
use crate::block::{self, Cutter, Misfit};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::gae::Chain;
use crate::kernels::moments;
use crate::learn::actor::check_obs;
use crate::learn::actor_config::VALUE;
use crate::learn::config::{Algorithm, Config};
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::learn::objective;
use crate::learn::rows::{Rows, list};
use crate::learn::step::Moving;
use crate::learn::stored::Stored;
use crate::learn::tasks;
use crate::num;
use crate::space::Elements;
use bytemuck::Zeroable;
use core::mem;

impl Learner<'_> {
    /// Does at most `max_slices` chunks of the update that is due, of which a minibatch has `num_chunks` (0: all that are
    /// left), and returns its statistics so far. Results do not depend on how an update is sliced.
    ///
    /// `obs`: `[N, obs_len]`, what the next `act` will see; required in the first call of an update, ignored in the others.
    /// `mask`: `[N, mask_len]` flags of what is allowed there; `None`: everything. Both are read where an environment has
    /// observed and not acted since, and its episode goes on.
    /// Errors: `NotReady`; `Null`, `Shape`, `Value` for these two, then nothing changes; `Value` if numbers of the update
    /// overflow. Then the update is over and counted in `num_dropped`, parameters are those of the last minibatch whose
    /// numbers did not, and `act` is due.
    pub fn learn(&mut self, obs: Option<Elements<'_>>, mask: Option<&[u8]>, max_slices: u32) -> Result<Stats> {
        let _changing = self.mark.begin();
        if self.state.updating == 0 {
            self.check_due()?;
            let obs =
                obs.ok_or(Error::new(Kind::Null, "learner learn: obs is NULL in the first call of an update."))?;
            self.learn_begin(obs, mask)?;
        }
        let done = self.learn_slices(max_slices);
        self.tidy();
        self.finish(done)
    }

    /// Begins the update that is due: values, advantages, and the first minibatch. [`Learner::learn`] does it by itself;
    /// hosts that share the chunks of a minibatch among threads or machines call this, then [`View::learn_range`] and
    /// [`Learner::learn_apply`] until no minibatch is left. Arrays and errors as there.
    pub fn learn_begin(&mut self, obs: Elements<'_>, mask: Option<&[u8]>) -> Result<Stats> {
        let _changing = self.mark.begin();
        self.check_due()?;
        check_obs("learner learn: obs", &self.actor.shape, self.config.num_envs as usize, &obs)?;
        self.check_mask_fits(mask)?;
        if let Err(error) = self.bootstrap(obs, mask) {
            self.tidy();
            return Err(error);
        }
        let done = self.begin_update();
        self.tidy();
        self.finish(done)
    }

    /// Adds the chunks of the minibatch, all of which have to be done, and takes its optimiser step. Without an update that
    /// runs, this is a step of gradients that came from elsewhere: see [`Learner::add_grads`].
    ///
    /// Errors: `NotReady` if a chunk is missing; `Value` as [`Learner::learn`].
    pub fn learn_apply(&mut self) -> Result<Stats> {
        let _changing = self.mark.begin();
        if self.done.contains(&0) {
            return Err(Error::new(Kind::NotReady, "learner apply: the gradients of some chunks are missing."));
        }
        let done = self.apply();
        self.finish(done)
    }

    /// Ends the update that runs or is due, without learning any more of it: `act` is due. Errors: `NotReady` if none is.
    pub fn learn_drop(&mut self) -> Result {
        let _changing = self.mark.begin();
        if self.state.updating == 0 {
            self.check_due()?;
            let s = &*self.state;
            (self.state.learn_begin, self.state.learn_end) = (s.begin, s.end);
            self.keep()?;
            self.hand_over()?;
        }
        self.cut_traces();
        self.end_update();
        Ok(())
    }

    /// What steps before did is not to blame for what comes.
    pub(super) fn cut_traces(&mut self) {
        if self.config.streams() {
            self.adam_m.fill(0.0);
        }
    }

    /// Errors: `NotReady` if no rollout is complete, or an update runs.
    fn check_due(&self) -> Result {
        let due = self.state.updating == 0 && self.state.waits(self.config);
        if due { Ok(()) } else { Err(Error::new(Kind::NotReady, "learner learn: the rollout is not complete.")) }
    }

    /// Drops an update that has failed.
    pub(super) fn finish(&mut self, done: Result) -> Result<Stats> {
        match done {
            Ok(()) => Ok(self.stats()),
            Err(e) => {
                self.state.num_dropped = self.state.num_dropped.saturating_add(1);
                self.cut_traces();
                self.end_update();
                let what = "learner learn: numbers overflowed; the update was dropped, act is due.";
                Err(e.reworded(Kind::Value, what))
            }
        }
    }

    /// Values of the observations after the rollout: of environments that go on and have not acted yet.
    fn bootstrap(&mut self, obs: Elements<'_>, mask: Option<&[u8]>) -> Result {
        let (begin, end) = (self.state.begin as usize, self.state.end as usize);
        let n = self.config.num_envs as usize;
        let seen = self.work.ends.get_mut(..n).ok_or(Misfit)?;
        for at in (begin..end).rev() {
            let (env, complete) = owner(self.rollout.env, self.slot, at)?;
            let seen = seen.get_mut(env).ok_or(Misfit)?;
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

    /// Advantages and targets; then the rollout is taken over, and the first minibatch made ready.
    fn begin_update(&mut self) -> Result {
        let (begin, end) = (self.state.begin as usize, self.state.end as usize);
        self.state.updating = 1;
        let c = self.config;
        // V-trace needs the policy that learns: until then rewards stand for advantages, and targets look one step ahead.
        let later = c.algorithm() == Algorithm::Impala;
        let chain = Chain::new(c.accumulation(), c.discount, if later { 0.0 } else { c.gae_lambda });
        let w = &mut self.work;
        let r = &mut self.rollout;
        for at in (begin..end).rev() {
            let (env, complete) = owner(r.env, self.slot, at)?;
            let (Some(next), Some(carry)) = (w.next.get_mut(env), w.running.get_mut(env)) else {
                return Err(Misfit.into());
            };
            let value = *r.value.get(at).ok_or(Misfit)?;
            if complete {
                let (Some(reward), Some(last)) = (r.reward.get(at), r.final_value.get(at)) else {
                    return Err(Misfit.into());
                };
                let (Some(terminated), Some(truncated)) = (r.terminated.get(at), r.truncated.get(at)) else {
                    return Err(Misfit.into());
                };
                let ends = (*terminated != 0, *truncated != 0);
                let (advantage, target) = chain.step(*reward, value, *last, ends, *next, carry);
                let (Some(to), Some(other)) = (r.advantage.get_mut(at), r.value_target.get_mut(at)) else {
                    return Err(Misfit.into());
                };
                (*to, *other) = (if later { *reward } else { advantage }, target);
            }
            *next = value;
        }
        let rows = self.take_over(begin, end)?;
        let r = &mut self.rollout;
        let learnt = |array| block::rows(array, begin, rows, 1);
        let finite = check_finite("", learnt(r.advantage)?).and(check_finite("", learnt(r.value_target)?));
        if finite.is_err() {
            // Their bytes are those of no processor.
            block::rows_mut(r.advantage, begin, rows, 1)?.fill(0.0);
            block::rows_mut(r.value_target, begin, rows, 1)?.fill(0.0);
        }
        finite?;
        self.begin_learning()
    }

    /// Makes one stretch of what is complete, which the update learns from. Returns how much it is.
    fn take_over(&mut self, begin: usize, end: usize) -> Result<usize> {
        self.keep()?;
        let spare = begin.saturating_add(self.sizes.room).saturating_sub(1);
        let complete = self.rollout.gather_complete(begin, end, spare, self.slot)?;
        (self.state.learn_begin, self.state.learn_end) = (begin as u32, complete as u32);
        self.hand_over()?;
        Ok(complete.saturating_sub(begin))
    }

    /// What is complete goes to the past steps, which stay as they are while an update runs.
    fn keep(&mut self) -> Result {
        if !tasks::BUILT {
            return Ok(());
        }
        let recorded = (self.state.begin as usize, self.state.end as usize);
        self.rollout.keep(recorded, self.slot, &self.sizes.frames, &mut self.history)
    }

    /// With `overlap`, recording goes on in the other rollout.
    pub(super) fn hand_over(&mut self) -> Result {
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

    /// What is known of the rollout before the first minibatch, and that.
    pub(super) fn begin_learning(&mut self) -> Result {
        let (c, s, r) = (self.config, &mut *self.state, &self.rollout);
        let (begin, rows) = (s.learn_begin as usize, s.learn_end.saturating_sub(s.learn_begin) as usize);
        let (value, target) = (block::rows(r.value, begin, rows, 1)?, block::rows(r.value_target, begin, rows, 1)?);
        s.sums = Sums::zeroed();
        s.explained_variance = moments::explained_variance(value, target)? as f32;
        s.value_mean = moments::mean_std(value)?.0 as f32;
        let before = s.num_steps.saturating_sub(c.batch_len() as u64);
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, before)?;
        s.clip = c.scheduled(c.clip, c.clip_end, before)?;
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

    /// The order and the advantages of the minibatch that comes next.
    fn begin_minibatch(&mut self) -> Result {
        let (c, s) = (self.config, &mut *self.state);
        let part = s.minibatch.checked_rem(c.num_minibatches).unwrap_or(0);
        if part == 0 {
            let rows = s.learn_end.saturating_sub(s.learn_begin) as usize;
            let order = self.order.get_mut(..rows).ok_or(Misfit)?;
            if c.has_sequences() {
                list_by_env(self.rollout.env, s.learn_begin as usize, self.work.row, order)?;
                s.shuffle_rng.shuffle_runs(order, c.num_together());
            } else {
                order.iter_mut().zip(s.learn_begin..).for_each(|(at, slot)| *at = slot);
                s.shuffle_rng.shuffle(order);
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
        Ok(())
    }

    fn learn_slices(&mut self, max_slices: u32) -> Result {
        let mut budget = if max_slices == 0 { u64::MAX } else { max_slices.into() };
        while budget > 0 && self.state.updating != 0 {
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

    fn learn_chunk(&mut self, chunk: usize) -> Result {
        let (mut work, grads) = (mem::take(&mut self.work), mem::take(&mut self.grads));
        let done = self.view().bench().and_then(|bench| {
            let record = block::rows_mut(grads, chunk, 1, self.sizes.record_len)?;
            record.fill(0.0);
            objective::chunk(&bench, chunk as u32, &mut work, record)
        });
        (self.work, self.grads) = (work, grads);
        done?;
        *self.done.get_mut(chunk).ok_or(Misfit)? = 1;
        Ok(())
    }

    /// Adds the chunks of a minibatch, takes its optimiser step, and makes the next one ready.
    fn apply(&mut self) -> Result {
        let (c, sizes, s) = (self.config, &self.sizes, &mut *self.state);
        add_as_tree(self.grads, sizes.record_len);
        self.done.fill(0);
        let (grads, losses) = self.grads.split_at_checked(self.params.len()).ok_or(Misfit)?;
        let losses = losses.first_chunk::<LOSSES>().ok_or(Misfit)?;
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
            let to = Moving { params: self.params, m, v, steps };
            let norm = match c.streams() {
                #[cfg(feature = "stream")]
                true => {
                    let policy =
                        if c.learns_q() { 0 } else { sizes.net.params_of(self.actor.num_layers as usize)?.start };
                    let norm = c.follow(to, policy, grads, losses, s.learning_rate, PARAM_LIMIT)?;
                    // The agent may have gone since the losses were told so.
                    if self.rollout.truncated.get(s.learn_begin as usize).is_some_and(|&x| x != 0) {
                        self.adam_m.fill(0.0);
                    }
                    norm
                }
                _ => c.descend(to, grads, s.learning_rate, PARAM_LIMIT)?,
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
        self.end_update();
        Ok(())
    }

    /// The update is over: the new parameters act, and what it learnt from makes room.
    fn end_update(&mut self) {
        block::copy(self.acting, self.params);
        self.done.fill(0);
        self.wipe();
        let s = &mut *self.state;
        if s.updating != 0 || s.learn_end != 0 {
            if self.config.overlap == 0 {
                // Transitions that wait move to the front. They are where they were if one is not there at all.
                let moved = self.rollout.carry(&self.sizes.frames, (0, s.end as usize), 0, self.slot, self.open);
                (s.end, s.complete) = (moved.unwrap_or(0) as u32, 0);
            }
            (s.learn_begin, s.learn_end) = (0, 0);
            // Lengths fit: nothing fails.
            noise::draw(&self.sizes.net, &mut s.shuffle_rng, self.noise).unwrap_or_default();
            noise::add(&self.sizes.net, self.noise, self.params, self.noisy).unwrap_or_default();
        }
        (s.updating, s.minibatch) = (0, 0);
    }
}

impl<'a> View<'a> {
    /// Bytes of scratch that [`View::learn_range`] needs. Errors: `Overflow`.
    pub fn scratch_size(&self) -> Result<usize> {
        Ok(plan_scratch(&self.stored(), &self.sizes)?.1)
    }

    /// Gradients of chunks `[begin, end)` of the minibatch that is due, `grads`: `[end - begin, grads_len]`. Threads may do
    /// different chunks at once, each with a `scratch` of its own, which is aligned as a block is: nothing of the learner
    /// changes until [`Learner::write_grads`] takes them all.
    ///
    /// Errors: `NotReady` if no update runs; `Range`; `Shape`; `Size` and `Align` of `scratch`; `Value` if numbers overflow.
    pub fn learn_range(&self, begin: usize, end: usize, scratch: &mut [u8], grads: &mut [f32]) -> Result {
        let len = self.sizes.record_len;
        if self.state.updating == 0 {
            return Err(Error::new(Kind::NotReady, "learner learn_range: no update is running."));
        }
        let count = self.check_chunks(begin, end)?;
        let (spans, size) = plan_scratch(&self.stored(), &self.sizes)?;
        check_len("learner learn_range: gradients", grads, count.saturating_mul(len))?;
        if scratch.len() < size {
            let what = "learner learn_range: scratch bytes, at least";
            return Err(Error::new(Kind::Size, what).needed(size).given(scratch.len()));
        }
        if !scratch.as_ptr().addr().is_multiple_of(block::BLOCK_ALIGN) {
            return Err(Error::new(Kind::Align, "learner learn_range: scratch aligned to 8 bytes"));
        }
        let mut work = Work::cut(&mut Cutter::new(scratch), &spans)?;
        let bench = self.bench()?;
        grads.fill(0.0);
        for (k, chunk) in (begin..end).enumerate() {
            objective::chunk(&bench, chunk as u32, &mut work, block::rows_mut(grads, k, 1, len)?)?;
        }
        Ok(())
    }

    /// What the chunks of the minibatch are made from.
    fn bench(&self) -> Result<Bench<'_, 'a>> {
        let c = self.config;
        Ok(Bench {
            config: c,
            shape: self.shape(),
            sizes: &self.sizes,
            head: self.head()?,
            params: noise::of(self.params, self.noisy),
            noise: self.noise,
            prime: self.prime,
            rollout: self.rollout,
            history: self.history,
            begin: self.state.learn_begin,
            order: minibatch(c, self.state.minibatch, self.order)?,
            advantage: self.advantage,
            clip: self.state.clip,
            entropy_coef: self.state.entropy_coef,
        })
    }

    /// What the layout of the block follows from.
    fn stored(&self) -> Stored {
        Stored { config: *self.config, shape: self.actor.shape }
    }
}

/// The part of the order that a minibatch learns from; minibatches are numbered from 0 over all epochs.
fn minibatch<'o>(c: &Config, minibatch: u32, order: &'o [u32]) -> Result<&'o [u32]> {
    let part = minibatch.checked_rem(c.num_minibatches).unwrap_or(0) as usize;
    Ok(block::rows(order, part.saturating_mul(c.minibatch_len()), c.minibatch_len(), 1)?)
}

/// Orders the rows of each chunk of a minibatch, which are sequences, step by step. `copy` is as long as `order`.
fn order_by_step(c: &Config, order: &mut [u32], copy: &mut [u32]) -> Result {
    block::copy(copy, order);
    let together = c.num_together().max(1);
    for chunk in 0..c.num_chunks {
        let (begin, end) = c.chunk(chunk);
        let (to, from) = (order.get_mut(begin..end).ok_or(Misfit)?, copy.get(begin..end).ok_or(Misfit)?);
        let mut to = to.iter_mut();
        for step in 0..together {
            for (slot, to) in from.iter().skip(step).step_by(together).zip(to.by_ref()) {
                *to = *slot;
            }
        }
    }
    Ok(())
}

/// Adds all parts of `width` numbers to the first one, as a binary tree over their numbers: parts 1 apart, then the sums
/// that are 2 apart, then 4, and so on. So a tree of n parts is that of the largest power of two below n and the rest.
pub(in crate::learn) fn add_as_tree(parts: &mut [f32], width: usize) {
    let mut apart = width.max(1);
    while apart < parts.len() {
        let pair = apart.saturating_mul(2);
        for pair in parts.chunks_mut(pair.max(1)) {
            let Some((first, second)) = pair.split_at_mut_checked(apart) else { continue };
            first.iter_mut().zip(second).take(width).for_each(|(a, b)| *a = num::canonical(*a + *b));
        }
        apart = pair;
    }
}

/// Added to the deviation that advantages are divided by (spec: agents, section 2.3).
const ADVANTAGE_EPSILON: f64 = 1e-7;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::learn::actor::Raw;
    use crate::learn::learner::Phase;
    use crate::learn::loss::{self, Batch, Coefficients};
    use crate::nn::{ALL, Adam, Carry};
    use crate::rng::Rng;
    use crate::space::{ElementsMut, Space};

    /// The tree that is documented, written down as it is said: the largest power of two below the number of parts, and the
    /// rest.
    fn tree(parts: &[Vec<f32>]) -> Vec<f32> {
        if let [part] = parts {
            return part.clone();
        }
        let (left, right) = parts.split_at(parts.len().next_power_of_two() / 2);
        tree(left).iter().zip(tree(right)).map(|(a, b)| a + b).collect()
    }

    /// Rows `order` of an array, one by one.
    fn rows<T: Copy>(order: &[u32], from: &[T], width: usize) -> Vec<T> {
        order.iter().flat_map(|&i| &from[i as usize * width..][..width]).copied().collect()
    }

    /// Gradients of rows `[begin, end)` of the first minibatch, with arrays of their own.
    fn gradient(learner: &Learner<'_>, begin: usize, end: usize) -> Vec<f32> {
        let (c, r, sizes, m) = (learner.config, &learner.rollout, &learner.sizes, end - begin);
        let num_rows = c.minibatch_len();
        let mut advantage = rows(&learner.order[..num_rows], r.advantage, 1);
        moments::standardise(&mut advantage, ADVANTAGE_EPSILON).unwrap();
        let order = &learner.order[begin..end];
        let obs = rows(order, r.obs, learner.shape().obs_len as usize);
        let (choice, vector) = (rows(order, r.choice, learner.taken.n.len()), rows(order, r.vector, sizes.std_len));
        let raw = Raw { choice: &choice, vector: &vector };
        let column = || vec![0.0; m];
        let (mut log_prob, mut entropy, mut value) = (column(), column(), column());
        let (mut d_log_prob, mut d_value) = (column(), column());
        let mut outputs = vec![0.0; m * sizes.net.head_len(0)];
        let (net, params, mut tape) = (&sizes.net, &*learner.params, vec![0.0; sizes.net.tape_len(m)]);
        let carry = &Carry::NONE;
        net.forward(params, &obs, m, ALL, carry, &mut tape, &mut [], &mut [&mut outputs, &mut value]).unwrap();
        let view = learner.view();
        let head = view.head().unwrap();
        head.evaluate(&outputs, None, raw, &mut log_prob, &mut entropy).unwrap();
        let batch = Batch {
            num_rows,
            log_prob: &log_prob,
            old_log_prob: &rows(order, r.log_prob, 1),
            advantage: &advantage[begin..end],
            value: &value,
            old_value: &rows(order, r.value, 1),
            value_target: &rows(order, r.value_target, 1),
        };
        let weights = Coefficients { clip: learner.state.clip, value_clip: c.value_clip, value_coef: c.value_coef };
        loss::policy_and_value(&batch, &weights, &mut d_log_prob, &mut d_value).unwrap();
        let mut grads = vec![0.0; learner.params.len()];
        let d_log_std = log_std_mut(&mut grads, sizes).unwrap();
        let (d_entropy, mut d_outputs) = (vec![-c.entropy_coef / num_rows as f32; m], outputs.clone());
        head.gradient(&outputs, None, raw, &d_log_prob, &d_entropy, &mut d_outputs, d_log_std).unwrap();
        let mut scratch = vec![0.0; net.scratch_len(false, 0)];
        let d_outs = [&*d_outputs, &d_value];
        net.backward(params, &obs, m, ALL, carry, &tape, &d_outs, None, &mut grads, &mut scratch).unwrap();
        grads
    }

    #[test]
    fn gradients_of_chunks_are_added_as_the_documented_tree() {
        for action in [Space::discrete(&[3, 2]), Space::unbounded(2)] {
            let mut plain: Vec<f32> = Vec::new();
            for num_chunks in [1, 2, 3, 7, 40] {
                let config = Config {
                    num_steps: 20,
                    num_minibatches: 2,
                    num_epochs: 1,
                    num_chunks,
                    hidden_len: [20, 7, 0, 0],
                    max_grad_norm: 0.0,
                    ..Config::default()
                };
                let obs_space = Space::unbounded(3);
                let mut block = vec![0u64; Learner::size(&config, &[], &obs_space, &action).unwrap() / 8];
                let mut learner =
                    Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs_space, &action).unwrap();
                let mut rng = Rng::seeded(8);
                let mut obs = [0.0; 12];
                while learner.phase() != Phase::Learn {
                    obs.fill_with(|| rng.uniform_f32() - 0.5);
                    let (mut choice, mut vector) = ([0; 8], [0.0; 8]);
                    let to = if learner.shape().discrete() {
                        ElementsMut::I32(&mut choice)
                    } else {
                        ElementsMut::F32(&mut vector)
                    };
                    learner.act(None, Elements::F32(&obs), None, to).unwrap();
                    learner.observe(None, &obs[..4], &[0, 0, 1, 0], &[0; 4], None, None).unwrap();
                }
                // The first call has made advantages and the order, and no step unless there is one chunk alone.
                let before = learner.params.to_vec();
                learner.learn(Some(Elements::F32(&obs)), None, 1).unwrap();
                let after = learner.params.to_vec();
                assert!((after != before) == (num_chunks == 1));
                learner.params.copy_from_slice(&before);
                let chunks: Vec<Vec<f32>> =
                    (0..num_chunks).map(|i| config.chunk(i)).map(|(a, b)| gradient(&learner, a, b)).collect();
                let sum = tree(&chunks);
                learner.params.copy_from_slice(&after);
                if num_chunks > 1 {
                    let stats = learner.learn(None, None, num_chunks - 1).unwrap();
                    assert_eq!((stats.minibatches_left, learner.done.iter().sum::<u8>()), (1, 0));
                }
                assert!(learner.grads[..sum.len()].iter().zip(&sum).all(|(a, b)| a.to_bits() == b.to_bits()));
                let (mut params, mut m, mut v) = (before.clone(), vec![0.0; sum.len()], vec![0.0; sum.len()]);
                let rate = config.learning_rate;
                Adam::default().step(&mut params, &sum, &mut m, &mut v, &mut 0, rate, 0.0).unwrap();
                assert!(*learner.params == *params, "{num_chunks} chunks");
                // Whatever the chunks, the same gradient but for rounding.
                if plain.is_empty() {
                    plain = sum.clone();
                }
                assert!(plain.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-6), "{num_chunks} chunks");
                assert!(plain.iter().any(|x| x.abs() > 1e-3));
            }
        }
    }
}
