//! An update: chunks of minibatches in any order, and the optimizer steps after them.

use core::mem;

#[cfg(feature = "off_policy")]
use super::context::BatchContext;
use super::context::{ChunkContext, ShownDraw};
use super::layout::{Scratch, plan_scratch};
use super::rollout::minibatch;
use super::{Learner, Stats, View, tensors};
use crate::block::{self, Cutter, LayoutError};
use crate::error::{Error, Kind, Result, check_len};
use crate::learn::actor::check_obs;
use crate::learn::algorithm;
use crate::learn::frozen::Frozen;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::noise;
use crate::learn::transition_batch::TransitionBatch;
use crate::num;
use crate::space::Elements;

/// The error message if numbers of an update overflow.
pub(super) const OVERFLOWED: &str = "learner learn: numbers overflowed; the update was dropped, act is due.";

impl Learner<'_> {
    /// Computes at most `max_slices` chunks of the update that is due, of which a minibatch has `num_chunks` (0: all that
    /// remain), and returns its statistics so far. Results do not depend on how an update is sliced.
    ///
    /// `obs`: `[N, obs_len]`, the observations of the next `act`; required in the first call of an update of a rollout, else
    /// ignored. `mask`: `[N, mask_len]` flags of the allowed choices there; `None`: all are allowed. Both are read only for
    /// environments that have observed and not acted since, and whose episode continues.
    /// Errors: `NotReady`; `Null`, `Shape`, `Value` for these two, then nothing changes; `Value` if numbers of the update
    /// overflow. Then the update ends and is counted in `num_dropped`, the parameters are those after the last minibatch
    /// without overflow, and `act` is due.
    pub fn learn(&mut self, obs: Option<Elements<'_>>, mask: Option<&[u8]>, max_slices: u32) -> Result<Stats> {
        let _changing = self.mark.begin();
        if !self.is_learning() {
            self.check_due()?;
            self.learn_begin(obs, mask)?;
        }
        let done = self.learn_slices(if max_slices == 0 { u64::MAX } else { max_slices.into() }, None);
        self.clear_scratch();
        self.finish(done, OVERFLOWED)
    }

    /// Begins the update that is due: values, advantages, and the first minibatch; or draws the first batch from the store.
    /// [`Learner::learn`] does this itself; hosts that distribute the chunks of a minibatch among threads or machines call this,
    /// then [`View::learn_range`] and [`Learner::learn_apply`] until no minibatch is left. Arrays and errors as there.
    pub fn learn_begin<'o>(&mut self, obs: impl Into<Option<Elements<'o>>>, mask: Option<&[u8]>) -> Result<Stats> {
        let _changing = self.mark.begin();
        self.check_due()?;
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            let done = self.begin_batches();
            self.clear_scratch();
            return self.finish(done, OVERFLOWED);
        }
        let what = "learner learn: obs is NULL in the first call of an update.";
        let obs = obs.into().ok_or(Error::new(Kind::Null, what))?;
        check_obs("learner learn: obs", &self.actor.shape, self.config.num_envs as usize, &obs)?;
        self.check_mask_fits(mask)?;
        if let Err(error) = self.bootstrap(obs, mask) {
            self.clear_scratch();
            return Err(error);
        }
        let done = self.begin_update();
        self.clear_scratch();
        self.finish(done, OVERFLOWED)
    }

    /// Sums the gradients of all chunks of the minibatch, which must be present, takes its optimizer step, and prepares the next
    /// minibatch. If no update is running, this is a step of gradients from elsewhere, on policy: see [`Learner::add_grads`].
    ///
    /// Errors: `NotReady` if a chunk is missing; `Value` as [`Learner::learn`].
    pub fn learn_apply(&mut self) -> Result<Stats> {
        let _changing = self.mark.begin();
        if self.done.contains(&0) {
            return Err(Error::new(Kind::NotReady, "learner apply: the gradients of some chunks are missing."));
        }
        let done = self.apply(false);
        self.clear_scratch();
        self.finish(done, OVERFLOWED)
    }

    /// Ends the update that is running or due, without further learning: `act` is due. Errors: `NotReady` if there is none.
    pub fn learn_drop(&mut self) -> Result {
        let _changing = self.mark.begin();
        if !self.is_learning() {
            self.check_due()?;
            if self.config.needs().replay {
                self.state.due = 0;
            } else {
                self.drop_rollout()?;
            }
        }
        self.drop_update();
        Ok(())
    }

    /// Whether an update is running.
    pub(super) fn is_learning(&self) -> bool {
        self.state.updating != 0
    }

    /// Errors: `NotReady` if no update is due, or one runs.
    pub(super) fn check_due(&self) -> Result {
        if self.config.needs().replay {
            let none = self.state.due == 0 || self.is_learning();
            return Error::new(Kind::NotReady, "learner learn: no gradient step is due.").fail_if(none);
        }
        let due = self.state.updating == 0 && self.state.waits(self.config);
        if due { Ok(()) } else { Err(Error::new(Kind::NotReady, "learner learn: the rollout is not complete.")) }
    }

    /// Drops an update that has failed. An overflow is reported with the given message.
    pub(super) fn finish(&mut self, done: Result, what: &'static str) -> Result<Stats> {
        match done {
            Ok(()) => Ok(self.stats()),
            Err(e) => {
                self.state.num_dropped = self.state.num_dropped.saturating_add(1);
                self.drop_update();
                Err(e.with_message(Kind::Value, what))
            }
        }
    }

    /// Computes chunks of the running update: of its rollout, of batches from the replay store, or of the `given` transitions.
    pub(in crate::learn) fn learn_slices(&mut self, mut budget: u64, given: Option<&TransitionBatch<'_>>) -> Result {
        while budget > 0 && self.is_learning() {
            if let Some(chunk) = self.done.iter().position(|&done| done == 0) {
                budget -= 1;
                self.learn_chunk(chunk, given)?;
            }
            if !self.done.contains(&0) {
                self.apply(given.is_some())?;
            }
        }
        Ok(())
    }

    fn learn_chunk(&mut self, chunk: usize, given: Option<&TransitionBatch<'_>>) -> Result {
        let (mut work, grads) = (mem::take(&mut self.work), mem::take(&mut self.grads));
        let done = self.view().context(chunk as u32, given).and_then(|context| {
            let record = block::rows_mut(grads, chunk, 1, self.sizes.record_len)?;
            algorithm::chunk(&context, &mut work, record)?;
            self.frozen().clear(record);
            Ok(())
        });
        (self.work, self.grads) = (work, grads);
        done?;
        *self.done.get_mut(chunk).ok_or(LayoutError)? = 1;
        Ok(())
    }

    /// Sums the chunks of a minibatch and takes its optimizer step.
    fn apply(&mut self, is_given: bool) -> Result {
        self.done.fill(0);
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            self.take_errors()?;
            add_as_tree(self.grads, self.sizes.record_len);
            return self.apply_batch(is_given);
        }
        add_as_tree(self.grads, self.sizes.record_len);
        let _ = is_given;
        self.apply_minibatch()
    }

    /// The frozen tensors of all parameters.
    fn frozen(&self) -> Frozen<'_> {
        tensors::frozen(&self.sizes, self.frozen_tensors, 0, self.params.len())
    }

    /// Ends the update early.
    fn drop_update(&mut self) {
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.end_batches();
        }
        self.cut_traces();
        self.end_rollout();
    }
}

impl<'a> View<'a> {
    /// The bytes of scratch memory that [`View::learn_range`] needs. Errors: `Overflow`.
    pub fn scratch_size(&self) -> Result<usize> {
        Ok(plan_scratch(&self.spec(), &self.sizes)?.1)
    }

    /// Computes gradients of chunks `[begin, end)` of the minibatch that is due, `grads`: `[end - begin, grads_len]`. Threads
    /// may compute different chunks at the same time, each with its own `scratch`, aligned as a block is: the learner does not
    /// change until [`Learner::write_grads`] receives the gradients.
    ///
    /// Errors: `NotReady` if no update runs; `Range`; `Shape`; `Size` and `Align` of `scratch`; `Value` if numbers overflow.
    pub fn learn_range(&self, begin: usize, end: usize, scratch: &mut [u8], grads: &mut [f32]) -> Result {
        let len = self.sizes.record_len;
        if self.state.updating == 0 {
            return Err(Error::new(Kind::NotReady, "learner learn_range: no update is running."));
        }
        let count = self.check_chunks(begin, end)?;
        let (spans, size) = plan_scratch(&self.spec(), &self.sizes)?;
        check_len("learner learn_range: gradients", grads, count.saturating_mul(len))?;
        if scratch.len() < size {
            let what = "learner learn_range: scratch bytes, at least";
            return Err(Error::new(Kind::Size, what).needed(size).given(scratch.len()));
        }
        if !scratch.as_ptr().addr().is_multiple_of(block::BLOCK_ALIGN) {
            return Err(Error::new(Kind::Align, "learner learn_range: scratch aligned to 8 bytes"));
        }
        let mut work = Scratch::cut(&mut Cutter::new(scratch), &spans)?;
        for (k, chunk) in (begin..end).enumerate() {
            let context = self.context(chunk as u32, None)?;
            let record = block::rows_mut(grads, k, 1, len)?;
            algorithm::chunk(&context, &mut work, record)?;
            self.frozen().clear(record);
        }
        Ok(())
    }

    /// The frozen tensors of all parameters.
    fn frozen(&self) -> Frozen<'_> {
        tensors::frozen(&self.sizes, self.frozen_tensors, 0, self.params.len())
    }

    /// The inputs of a chunk of the minibatch: of the rollout, of a batch from the replay store, or of `given` transitions.
    /// Over a rollout, `given` is used besides it.
    pub(in crate::learn) fn context<'c>(
        &'c self,
        chunk: u32,
        given: Option<&'c TransitionBatch<'a>>,
    ) -> Result<ChunkContext<'c, 'a>> {
        let c = self.config;
        Ok(ChunkContext {
            config: c,
            shape: self.shape(),
            sizes: &self.sizes,
            head: self.head()?,
            moments: self.moments_of_update(),
            given,
            chunk,
            params: noise::of(self.params, self.noisy),
            noise: self.noise,
            prime: self.prime,
            rollout: self.rollout,
            history: self.history,
            shown: self.shown_draw(),
            begin: self.state.learn_begin,
            order: self.chunk_order(chunk)?,
            advantage: self.advantage,
            clip: self.state.clip,
            entropy_coef: self.state.entropy_coef,
            #[cfg(feature = "off_policy")]
            batch: if c.needs().replay { self.batch_context(chunk, given)? } else { BatchContext::default() },
        })
    }

    /// The kept demonstrations that were drawn beside the minibatch.
    fn shown_draw(&self) -> Option<ShownDraw<'_>> {
        let (shown, (of_obs, of_action)) = (&self.shown, self.shape().kinds());
        let (drawn, coef) = (shown.rows(), self.state.imitation_coef);
        (!drawn.is_empty() && coef > 0.0).then(|| ShownDraw {
            drawn,
            obs: shown.obs(of_obs),
            action: shown.action(of_action),
            mask: (self.sizes.masks > 0).then_some(shown.mask),
            coef,
        })
    }

    /// The statistics that normalize the observations of the update.
    fn moments_of_update(&self) -> [&[f64]; 2] {
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay && self.config.overlap != 0 {
            return [self.replay.obs_mean, self.replay.obs_var];
        }
        [self.obs_mean, self.obs_var]
    }

    /// Slots of the transitions of the minibatch; of a batch from the replay store, those of the chunk.
    fn chunk_order(&self, chunk: u32) -> Result<&[u32]> {
        let c = self.config;
        if c.needs().replay {
            let (begin, end) = c.batch_part(chunk);
            return Ok(self.order.get(begin..end).ok_or(LayoutError)?);
        }
        minibatch(c, self.state.minibatch, self.order)
    }

    /// The configuration and shape that determine the layout of the block.
    fn spec(&self) -> LearnerSpec {
        LearnerSpec { config: *self.config, shape: self.actor.shape }
    }
}

/// Adds all parts of `width` elements to the first one, in a binary tree over their indices: parts at distance 1, then the sums
/// at distance 2, then 4, and so on. Thus the tree of n parts consists of that of the largest power of two below n and that of
/// the rest.
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

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::kernels::moments;
    use crate::learn::actor::Raw;
    use crate::learn::config::Config;
    use crate::learn::learner::Phase;
    use crate::learn::learner::layout::log_std_mut;
    use crate::learn::learner::rollout::ADVANTAGE_EPSILON;
    use crate::learn::loss::{self, Batch, Coefficients};
    use crate::nn::{ALL, Adam, Carry};
    use crate::rng::Rng;
    use crate::space::{ElementsMut, Space};

    /// The documented tree, written as defined: the largest power of two below the number of parts, and the rest.
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
                // The first call has computed advantages and the order, and takes an optimizer step only if there is a single
                // chunk.
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
                // The gradient is the same for any number of chunks, up to rounding.
                if plain.is_empty() {
                    plain = sum.clone();
                }
                assert!(plain.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-6), "{num_chunks} chunks");
                assert!(plain.iter().any(|x| x.abs() > 1e-3));
            }
        }
    }
}
