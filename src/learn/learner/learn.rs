//! An update, in slices.

use bytemuck::{Pod, Zeroable};

use super::layout::{split_params, split_params_mut};
use super::{Learner, PARAM_LIMIT, Phase, Stats};
use crate::block::{self, Fit, Misfit};
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::{gae, moments};
use crate::learn::actor::{Head, Raw, check_obs, see, to_f32};
use crate::learn::loss::{self, Batch, Coefficients, Losses, Sums};
use crate::nn::Adam;
use crate::num;
use crate::space::Elements;

impl Learner<'_> {
    /// Does at most `max_slices` chunks of the update that is due, of which a minibatch has `num_chunks` (0: all that are
    /// left), and returns its statistics so far. Results do not depend on how an update is sliced.
    ///
    /// `obs`: `[N, obs_len]`, what the next `act` will see; required in the first call of an update, ignored in the others.
    /// Errors: `NotReady`; `Null`, `Shape`, `Value` for `obs`, then nothing changes; `Value` if numbers of the update
    /// overflow. Then the update is over and counted in `num_dropped`, parameters are those of the last minibatch whose
    /// numbers did not, and `act` is due.
    pub fn learn(&mut self, obs: Option<Elements<'_>>, max_slices: u32) -> Result<Stats> {
        self.due(Phase::Learn)?;
        if (self.state.minibatch, self.state.chunk) == (0, 0) {
            let obs =
                obs.as_ref().ok_or(Error::new(Kind::Null, "learner learn: obs, in the first call of an update"))?;
            check_obs("learner learn: obs", &self.actor.shape, self.config.num_envs as usize, obs)?;
        }
        let done = self.learn_slices(obs, max_slices);
        self.tidy();
        done.map_err(|e| {
            self.state.num_dropped = self.state.num_dropped.saturating_add(1);
            self.begin_rollout();
            let what = "learner learn: numbers that do not overflow; the update was dropped, act is due";
            if e.kind == Kind::Value { Error { what: Error::new(e.kind, what).what, ..e } } else { e }
        })?;
        Ok(self.stats())
    }

    fn learn_slices(&mut self, obs: Option<Elements<'_>>, max_slices: u32) -> Result {
        if let (0, 0, Some(obs)) = (self.state.minibatch, self.state.chunk, obs) {
            self.begin_update(obs)?;
        }
        let total = self.config.update_len();
        let mut budget = if max_slices == 0 { u64::MAX } else { max_slices.into() };
        while budget > 0 && self.state.minibatch < total {
            budget -= 1;
            self.learn_chunk(self.state.minibatch, self.state.chunk)?;
            self.state.chunk = self.state.chunk.saturating_add(1);
            if self.state.chunk >= self.config.num_chunks {
                self.state.chunk = 0;
                self.state.minibatch = match self.apply()? {
                    Done::Stepped => self.state.minibatch.saturating_add(1),
                    Done::TooFar => total,
                };
            }
        }
        if self.state.minibatch >= total {
            self.state.num_updates = self.state.num_updates.saturating_add(1);
            self.begin_rollout();
        }
        Ok(())
    }

    /// Values of the observations after the rollout, then advantages and targets.
    fn begin_update(&mut self, obs: Elements<'_>) -> Result {
        let (n, t) = (self.config.num_envs as usize, self.config.num_steps as usize);
        let (sizes, w, r) = (&self.sizes, &mut self.work, &mut self.rollout);
        let o = self.actor.shape.obs_len as usize;
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (_, _, critic) = split_params(self.params, sizes)?;
        sizes.critic.infer(critic, seen, n, w.scratch, r.bootstrap_value)?;
        let rollout = gae::Rollout {
            num_steps: t,
            num_envs: n,
            reward: r.reward,
            value: r.value,
            bootstrap_value: r.bootstrap_value,
            terminated: r.terminated,
            truncated: r.truncated,
            final_value: Some(r.final_value),
            accumulate: self.config.accumulation(),
        };
        rollout.check_all()?;
        gae::gae(&rollout, self.config.discount, self.config.gae_lambda, r.advantage, r.value_target)?;
        let (c, s) = (&self.config, &mut self.state);
        s.sums = Sums::zeroed();
        s.explained_variance = moments::explained_variance(r.value, r.value_target)? as f32;
        s.value_mean = moments::mean_std(r.value)?.0 as f32;
        let before = s.num_steps.saturating_sub(c.batch_len() as u64);
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, before)?;
        s.clip = c.scheduled(c.clip, c.clip_end, before)?;
        Ok(())
    }

    fn begin_rollout(&mut self) {
        let s = &mut self.state;
        (s.minibatch, s.chunk) = (0, 0);
        s.filled = 0;
        s.phase = Phase::Act as u32;
    }

    /// Losses and gradients of a chunk of a minibatch; these are numbered from 0 over all epochs.
    fn learn_chunk(&mut self, minibatch: u32, chunk: u32) -> Result {
        let (c, sizes, state) = (&self.config, &self.sizes, &mut *self.state);
        let (shape, r, w) = (&self.actor.shape, &self.rollout, &mut self.work);
        let num_rows = c.minibatch_len();
        let (o, l) = (shape.obs_len as usize, shape.num_outputs as usize);
        let part = minibatch.checked_rem(c.num_minibatches).unwrap_or(0);
        if (part, chunk) == (0, 0) {
            state.shuffle_rng.permutation(self.order);
        }
        let order = block::rows(self.order, (part as usize).saturating_mul(num_rows), num_rows, 1)?;
        gather(order, r.advantage, 1, w.advantage)?;
        if c.normalize_advantage != 0 {
            moments::standardise(w.advantage, ADVANTAGE_EPSILON)?;
        }
        let (begin, end) = c.chunk(chunk);
        let (order, advantage) = (order.get(begin..end).ok_or(Misfit)?, w.advantage.get(begin..end).ok_or(Misfit)?);
        let m = order.len();

        let obs = gather(order, r.obs, o, w.obs)?;
        let choice = gather(order, r.choice, self.action_n.len(), w.choice)?;
        let vector = gather(order, r.vector, sizes.std_len, w.vector)?;
        let mask = if c.use_action_mask != 0 { Some(gather(order, r.mask, l, w.mask)?) } else { None };
        let mut columns = w.scalar.chunks_exact_mut(sizes.rows.max(1)).filter_map(|column| column.get_mut(..m));
        let mut column = || columns.next().ok_or(Misfit);
        let old_log_prob = gather(order, r.log_prob, 1, column()?)?;
        let old_value = gather(order, r.value, 1, column()?)?;
        let value_target = gather(order, r.value_target, 1, column()?)?;
        let (log_prob, value, d_log_prob, d_value) = (column()?, column()?, column()?, column()?);
        let entropy = column()?;

        let (actor, log_std, critic) = split_params(self.params, sizes)?;
        let (outputs, d_outputs) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
        let actor_tape = block::rows_mut(w.tape, 0, sizes.actor.tape_len(m), 1)?;
        sizes.actor.forward(actor, obs, m, actor_tape, outputs)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        let raw = if shape.discrete() { Raw::Choice(choice) } else { Raw::Vector(vector) };
        head.evaluate(outputs, mask, raw, log_prob, entropy)?;

        let critic_tape = block::rows_mut(w.critic_tape, 0, sizes.critic.tape_len(m), 1)?;
        sizes.critic.forward(critic, obs, m, critic_tape, value)?;

        let batch = Batch { num_rows, log_prob, old_log_prob, advantage, value, old_value, value_target };
        let coefficients = Coefficients { clip: state.clip, value_clip: c.value_clip, value_coef: c.value_coef };
        let losses = loss::policy_and_value(&batch, &coefficients, d_log_prob, d_value)?;
        let share = m as f64 / num_rows as f64;
        *self.chunks.get_mut(chunk as usize).ok_or(Misfit)? =
            Chunk { losses, entropy: moments::mean_std(entropy)?.0 * share };

        let grads = block::rows_mut(self.grads, chunk as usize, 1, self.params.len())?;
        let (d_actor, d_log_std, d_critic) = split_params_mut(grads, sizes)?;
        let d_entropy = entropy;
        d_entropy.fill(-c.entropy_coef / num_rows as f32);
        head.gradient(outputs, mask, raw, d_log_prob, d_entropy, d_outputs, d_log_std)?;
        sizes.actor.backward(actor, obs, m, actor_tape, d_outputs, d_actor, w.scratch)?;
        sizes.critic.backward(critic, obs, m, critic_tape, d_value, d_critic, w.scratch)
    }

    /// Adds the chunks of a minibatch and takes its optimiser step.
    fn apply(&mut self) -> Result<Done> {
        let (c, sizes, state) = (&self.config, &self.sizes, &mut *self.state);
        add_as_tree(self.chunks, 1, Chunk::plus);
        let Chunk { losses, entropy } = *self.chunks.first().ok_or(Misfit)?;
        let all = [losses.policy_loss, losses.value_loss, losses.approx_kl, losses.clip_fraction, entropy as f32];
        check_finite("learner losses", &all)?;
        let sums = &mut state.sums;
        sums.count += 1.0;
        sums.policy_loss += f64::from(losses.policy_loss);
        sums.value_loss += f64::from(losses.value_loss);
        sums.approx_kl += f64::from(losses.approx_kl);
        sums.clip_fraction += f64::from(losses.clip_fraction);
        sums.entropy += entropy;
        if c.target_kl > 0.0 && losses.approx_kl > 1.5 * c.target_kl {
            return Ok(Done::TooFar);
        }
        add_as_tree(self.grads, self.params.len(), |a: f32, b| num::canonical(a + b));
        let grads = block::rows(self.grads, 0, 1, self.params.len())?;
        let adam = Adam {
            beta1: c.adam_beta1,
            beta2: c.adam_beta2,
            epsilon: c.adam_epsilon,
            limit: PARAM_LIMIT,
            ..Adam::default()
        };
        let (m, v, steps) = (&mut *self.adam_m, &mut *self.adam_v, &mut state.adam_steps);
        let norm = adam.step(self.params, grads, m, v, steps, state.learning_rate, c.max_grad_norm)?;
        sums.grad_norm += f64::from(num::min(norm, f32::MAX));
        let (_, log_std, _) = split_params_mut(self.params, sizes)?;
        log_std.iter_mut().for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
        Ok(Done::Stepped)
    }
}

/// What a chunk adds to the losses of its minibatch.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Chunk {
    losses: Losses,
    entropy: f64,
}

impl Chunk {
    fn plus(self, other: Chunk) -> Chunk {
        let (a, b) = (self.losses, other.losses);
        let losses = Losses {
            policy_loss: num::canonical(a.policy_loss + b.policy_loss),
            value_loss: num::canonical(a.value_loss + b.value_loss),
            approx_kl: num::canonical(a.approx_kl + b.approx_kl),
            clip_fraction: num::canonical(a.clip_fraction + b.clip_fraction),
        };
        Chunk { losses, entropy: self.entropy + other.entropy }
    }
}

/// Adds all parts of `width` elements to the first one, as a binary tree over their numbers: parts 1 apart, then the sums
/// that are 2 apart, then 4, and so on. So a tree of n parts is that of the largest power of two below n and the rest.
fn add_as_tree<T: Copy>(parts: &mut [T], width: usize, add: impl Fn(T, T) -> T) {
    let mut apart = width.max(1);
    while apart < parts.len() {
        let pair = apart.saturating_mul(2);
        for pair in parts.chunks_mut(pair.max(1)) {
            let Some((first, second)) = pair.split_at_mut_checked(apart) else { continue };
            first.iter_mut().zip(second).take(width).for_each(|(a, b)| *a = add(*a, *b));
        }
        apart = pair;
    }
}

/// What became of a minibatch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Done {
    /// The parameters moved.
    Stepped,
    /// The policy has moved too far from the one that acted; the update is over.
    TooFar,
}

/// Added to the deviation that advantages are divided by (spec: agents, section 2.3).
const ADVANTAGE_EPSILON: f64 = 1e-7;

/// Copies the rows that `order` names to the front of `to`, and returns them.
fn gather<'t, T: Copy>(order: &[u32], from: &[T], width: usize, to: &'t mut [T]) -> Fit<&'t [T]> {
    let to = block::rows_mut(to, 0, order.len(), width)?;
    let mut rest = &mut *to;
    for &i in order {
        let (row, after) = rest.split_at_mut_checked(width).ok_or(Misfit)?;
        block::copy(row, block::rows(from, i as usize, 1, width)?);
        rest = after;
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::learn::config::Config;
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
        let (c, r, sizes, m) = (&learner.config, &learner.rollout, &learner.sizes, end - begin);
        let num_rows = c.minibatch_len();
        let mut advantage = rows(&learner.order[..num_rows], r.advantage, 1);
        moments::standardise(&mut advantage, ADVANTAGE_EPSILON).unwrap();
        let order = &learner.order[begin..end];
        let obs = rows(order, r.obs, learner.shape().obs_len as usize);
        let (choice, vector) = (rows(order, r.choice, learner.action_n.len()), rows(order, r.vector, sizes.std_len));
        let raw = if learner.shape().discrete() { Raw::Choice(&choice) } else { Raw::Vector(&vector) };
        let (actor, _, critic) = split_params(learner.params, sizes).unwrap();
        let column = || vec![0.0; m];
        let (mut log_prob, mut entropy, mut value) = (column(), column(), column());
        let (mut d_log_prob, mut d_value) = (column(), column());
        let mut outputs = vec![0.0; m * sizes.actor.output()];
        let (mut tape, mut critic_tape) = (vec![0.0; sizes.actor.tape_len(m)], vec![0.0; sizes.critic.tape_len(m)]);
        sizes.actor.forward(actor, &obs, m, &mut tape, &mut outputs).unwrap();
        sizes.critic.forward(critic, &obs, m, &mut critic_tape, &mut value).unwrap();
        learner.head().unwrap().evaluate(&outputs, None, raw, &mut log_prob, &mut entropy).unwrap();
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
        let (d_actor, d_log_std, d_critic) = split_params_mut(&mut grads, sizes).unwrap();
        let (d_entropy, mut d_outputs) = (vec![-c.entropy_coef / num_rows as f32; m], outputs.clone());
        let head = learner.head().unwrap();
        head.gradient(&outputs, None, raw, &d_log_prob, &d_entropy, &mut d_outputs, d_log_std).unwrap();
        let mut scratch = vec![0.0; sizes.actor.scratch_len().max(sizes.critic.scratch_len())];
        sizes.actor.backward(actor, &obs, m, &tape, &d_outputs, d_actor, &mut scratch).unwrap();
        sizes.critic.backward(critic, &obs, m, &critic_tape, &d_value, d_critic, &mut scratch).unwrap();
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
                let mut block = vec![0u64; Learner::size(&config, &obs_space, &action).unwrap() / 8];
                let mut learner =
                    Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &obs_space, &action).unwrap();
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
                    learner.act(Elements::F32(&obs), None, to).unwrap();
                    learner.observe(&obs[..4], &[0, 0, 1, 0], &[0; 4], None).unwrap();
                }
                // The first call has made advantages and the order, and no step unless there is one chunk alone.
                let before = learner.params.to_vec();
                learner.learn(Some(Elements::F32(&obs)), 1).unwrap();
                let after = learner.params.to_vec();
                assert!((after != before) == (num_chunks == 1));
                learner.params.copy_from_slice(&before);
                let chunks: Vec<Vec<f32>> =
                    (0..num_chunks).map(|i| config.chunk(i)).map(|(a, b)| gradient(&learner, a, b)).collect();
                let sum = tree(&chunks);
                learner.params.copy_from_slice(&after);
                if num_chunks > 1 {
                    let stats = learner.learn(None, num_chunks - 1).unwrap();
                    assert_eq!((stats.minibatches_left, learner.state.chunk), (1, 0));
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
