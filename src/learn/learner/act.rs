//! Acting, and recording what came of it.

use bytemuck::Zeroable;

use super::layout::split_params;
use super::stats::EPISODES;
use super::{Learner, Phase};
use crate::block::{self, Misfit};
use crate::data::normalizer::{Limits, RewardScale, scale_rewards};
use crate::data::step::{Ends, Rewrite};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::moments;
use crate::learn::actor::{Head, Raw, Sampling, check_act, check_obs, check_obs_shape, see, to_f32};
use crate::space::{Elements, ElementsMut};

/// Counts of rows in running statistics stay at most this, 2^64, as [`moments::check_moments`] wants them.
const MAX_COUNT: f64 = 18_446_744_073_709_551_616.0;

impl Learner<'_> {
    /// Chooses an action for each environment by sampling the policy, and begins a transition. With `normalize_obs` the
    /// observations are normalised by the statistics of the steps before, which then take them in.
    ///
    /// `obs`: `[N, obs_len]`; `mask`: `[N, num_outputs]` flags, exactly if `use_action_mask`; `action`: `[N, action_len]`.
    /// Errors: `NotReady`; `Shape`; `Value` for a NaN or infinite observation, and if the policy's outputs overflow.
    /// Nothing changes on error, here and in the other calls but [`Learner::learn`].
    pub fn act(&mut self, obs: Elements<'_>, mask: Option<&[u8]>, action: ElementsMut<'_>) -> Result {
        self.act_range(0, self.config.num_envs as usize, obs, mask, action)
    }

    /// [`Learner::act`] for environments `[begin, end)`, whose rows alone the arrays have. Once all environments have acted,
    /// `observe` is due: in whatever parts and order, they leave the bytes of one `act`. An empty range does nothing.
    ///
    /// Errors: as there; `Range`; `NotReady` if one of them has acted already.
    pub fn act_range(
        &mut self,
        begin: usize,
        end: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        let refused = Error::new(Kind::Range, "learner act: environments [begin, end) with end at most");
        let acted = self.acted.get(begin..end).ok_or(refused.needed(self.acted.len()).given(end))?;
        let rows = acted.len();
        if rows == 0 {
            return Ok(());
        }
        self.due(Phase::Act)?;
        if acted.iter().any(|&x| x != 0) {
            return Err(Error::new(Kind::NotReady, "learner act: environments that have not acted in this step"));
        }
        check_act("learner act: obs", &self.actor.shape, rows, &obs, &action)?;
        self.check_mask(mask, rows)?;
        let done = self.act_on(begin, rows, obs, mask, action);
        self.tidy();
        done
    }

    /// [`Learner::act_range`] with what was checked: everything happens in the working arrays until nothing can fail any more.
    fn act_on(
        &mut self,
        begin: usize,
        n: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        let (shape, sizes) = (&self.actor.shape, &self.sizes);
        let (o, l) = (shape.obs_len as usize, shape.num_outputs as usize);
        let at = self.filled_rows().saturating_add(begin);
        let (r, w) = (&mut self.rollout, &mut self.work);
        let (raw, seen) = (block::rows_mut(w.raw, 0, n, o)?, block::rows_mut(w.obs, 0, n, o)?);
        to_f32(obs, raw);
        see(&self.actor, self.obs_mean, self.obs_var, raw, seen)?;
        let (actor, log_std, critic) = split_params(self.params, sizes)?;
        let outputs = block::rows_mut(w.outputs, 0, n, l)?;
        sizes.actor.infer(actor, seen, n, w.scratch, outputs)?;
        let mut columns = w.scalar.chunks_exact_mut(n.max(1));
        let mut column = || columns.next().ok_or(Misfit);
        let (value, log_prob, entropy) = (column()?, column()?, column()?);
        sizes.critic.infer(critic, seen, n, w.scratch, value)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        let choice = block::rows_mut(w.choice, 0, n, self.action_n.len())?;
        let vector = block::rows_mut(w.vector, 0, n, sizes.std_len)?;
        let noise = block::rows_mut(w.noise, 0, n, shape.action_len as usize)?;
        let (streams, drawn) = (block::rows_mut(self.act_rng, begin, n, 1)?, block::rows_mut(w.rng, 0, n, 1)?);
        block::copy(drawn, streams);
        head.noise(drawn, noise);
        head.sample(n, outputs, mask, Sampling::Basic, noise, choice, vector)?;
        let raw_action = if shape.discrete() { Raw::Choice(choice) } else { Raw::Vector(vector) };
        head.evaluate(outputs, mask, raw_action, log_prob, entropy)?;

        head.to_env(raw_action, action);
        block::copy(streams, drawn);
        block::copy(block::rows_mut(r.obs, at, n, o)?, seen);
        block::copy(block::rows_mut(r.choice, at, n, self.action_n.len())?, choice);
        block::copy(block::rows_mut(r.vector, at, n, sizes.std_len)?, vector);
        block::copy(block::rows_mut(r.value, at, n, 1)?, value);
        block::copy(block::rows_mut(r.log_prob, at, n, 1)?, log_prob);
        if let Some(mask) = mask {
            block::copy(block::rows_mut(r.mask, at, n, l)?, mask);
        }
        block::rows_mut(self.acted, begin, n, 1)?.fill(1);
        let width = self.obs_mean.len();
        block::copy(block::rows_mut(self.new_obs, begin, n, width)?, raw);
        if self.acted.contains(&0) {
            return Ok(());
        }
        if width > 0 && self.state.frozen == 0 {
            let count = &mut self.state.obs_count;
            moments::update(self.new_obs, self.acted.len(), self.obs_mean, self.obs_var, count)?;
            *count = bounded(*count);
        }
        self.acted.fill(0);
        self.new_obs.fill(0.0);
        self.state.phase = Phase::Observe as u32;
        Ok(())
    }

    /// Completes the transition that `act` began.
    /// Autoreset has to be same step: a row that next-step autoreset only resets is no transition.
    ///
    /// `reward`: `[N]`, finite; `terminated`, `truncated`: `[N]` flags; `final_obs`: `[N, obs_len]`, required once an
    /// environment is truncated and not terminated, and only those rows of it are read.
    /// Errors: `NotReady`; `Shape`; `Value`; `Null` if `final_obs` is missing. Nothing changes on error.
    pub fn observe(
        &mut self,
        reward: &[f32],
        terminated: &[u8],
        truncated: &[u8],
        final_obs: Option<Elements<'_>>,
    ) -> Result {
        self.due(Phase::Observe)?;
        let n = self.config.num_envs as usize;
        check_len("learner observe: rewards", reward, n)?;
        check_len("learner observe: terminated flags", terminated, n)?;
        check_len("learner observe: truncated flags", truncated, n)?;
        check_finite("learner observe: finite rewards", reward)?;
        let (o, at) = (self.actor.shape.obs_len as usize, self.filled_rows());
        let is_cut = |i: usize| terminated.get(i) == Some(&0) && truncated.get(i).is_some_and(|&x| x != 0);
        let num_cut = (0..n).filter(|&i| is_cut(i)).count();
        if num_cut > 0 {
            let what = "learner observe: final_obs, because environments were truncated and not terminated;";
            let obs = final_obs.ok_or(Error::new(Kind::Null, what).given(num_cut))?;
            check_obs_shape("learner observe: final_obs", &self.actor.shape, n, &obs)?;
            for i in (0..n).filter(|&i| is_cut(i)) {
                if let Elements::F32(x) = obs {
                    check_finite("learner observe: finite final_obs", block::rows(x, i, 1, o)?)?;
                }
            }
            let (sizes, w, r) = (&self.sizes, &mut self.work, &mut self.rollout);
            for (k, i) in (0..n).filter(|&i| is_cut(i)).enumerate() {
                let row = obs.get(i.saturating_mul(o), i.saturating_add(1).saturating_mul(o));
                to_f32(row.ok_or(Misfit)?, block::rows_mut(w.raw, k, 1, o)?);
            }
            let seen = block::rows_mut(w.obs, 0, num_cut, o)?;
            see(&self.actor, self.obs_mean, self.obs_var, block::rows(w.raw, 0, num_cut, o)?, seen)?;
            let values = block::rows_mut(w.scalar, 0, num_cut, 1)?;
            let (_, _, critic) = split_params(self.params, sizes)?;
            sizes.critic.infer(critic, seen, num_cut, w.scratch, values)?;
            let final_value = block::rows_mut(r.final_value, at, n, 1)?;
            for (value, i) in values.iter().zip((0..n).filter(|&i| is_cut(i))) {
                if let Some(to) = final_value.get_mut(i) {
                    *to = *value;
                }
            }
        }
        let r = &mut self.rollout;
        block::copy(block::rows_mut(r.terminated, at, n, 1)?, terminated);
        block::copy(block::rows_mut(r.truncated, at, n, 1)?, truncated);
        let stored = block::rows_mut(r.reward, at, n, 1)?;
        let (c, state) = (&self.config, &mut *self.state);
        let limits = Limits { clip: c.reward_clip, ..Limits::default() };
        match (c.normalize_reward != 0, state.frozen != 0) {
            (false, _) => block::copy(stored, reward),
            (true, true) => scale_rewards(state.return_var, limits, Rewrite::apart(reward, stored))?,
            (true, false) => {
                let mut scale = RewardScale {
                    running: self.running_return,
                    mean: &mut state.return_mean,
                    var: &mut state.return_var,
                    count: &mut state.return_count,
                };
                let ends = Ends { terminated, truncated, valid: None };
                scale.step(Rewrite::apart(reward, stored), ends, f64::from(c.discount), limits)?;
                state.return_count = bounded(state.return_count);
            }
        }
        self.tidy();
        self.count_episodes(reward, terminated, truncated);
        self.state.num_steps = self.state.num_steps.saturating_add(n as u64);
        self.state.filled = self.state.filled.saturating_add(1);
        let full = self.state.filled == self.config.num_steps;
        self.state.phase = if full { Phase::Learn } else { Phase::Act } as u32;
        Ok(())
    }

    /// Acts without recording, in any phase: the training goes on as if this had not been called.
    ///
    /// Shapes and errors as [`Learner::act`].
    pub fn predict(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let n = self.config.num_envs as usize;
        check_act("learner predict: obs", &self.actor.shape, n, &obs, &action)?;
        self.check_mask(mask, n)?;
        self.head()?.check_sampling(sampling)?;
        let done = self.predict_on(obs, mask, sampling, action);
        self.tidy();
        done
    }

    fn predict_on(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let (n, o, l) =
            (self.config.num_envs as usize, self.actor.shape.obs_len as usize, self.actor.shape.num_outputs as usize);
        let (sizes, w) = (&self.sizes, &mut self.work);
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (actor, log_std, _) = split_params(self.params, sizes)?;
        let outputs = block::rows_mut(w.outputs, 0, n, l)?;
        sizes.actor.infer(actor, seen, n, w.scratch, outputs)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        block::copy(w.rng, self.predict_rng);
        let noise = block::rows_mut(w.noise, 0, n, self.actor.shape.action_len as usize)?;
        head.noise(w.rng, noise);
        head.draw(n, outputs, mask, sampling, noise, action)?;
        block::copy(self.predict_rng, w.rng);
        Ok(())
    }

    /// The value of each observation: `obs` `[N, obs_len]`, `value` `[N]`. Nothing is recorded. Errors as [`Learner::act`];
    /// `value` stays as it was then.
    pub fn value(&mut self, obs: Elements<'_>, value: &mut [f32]) -> Result {
        let n = self.config.num_envs as usize;
        check_obs("learner value: observations", &self.actor.shape, n, &obs)?;
        check_len("learner value: values", value, n)?;
        let done = self.value_of(obs, value);
        self.tidy();
        done
    }

    fn value_of(&mut self, obs: Elements<'_>, value: &mut [f32]) -> Result {
        let (n, o, w) = (self.config.num_envs as usize, self.actor.shape.obs_len as usize, &mut self.work);
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (_, _, critic) = split_params(self.params, &self.sizes)?;
        let values = block::rows_mut(w.scalar, 0, n, 1)?;
        self.sizes.critic.infer(critic, seen, n, w.scratch, values)?;
        check_finite("learner value: values that do not overflow", values)?;
        block::copy(value, values);
        Ok(())
    }

    /// Zeroes the working arrays that calls of N rows use.
    pub(super) fn tidy(&mut self) {
        let (n, w) = (self.config.num_envs as usize, &mut self.work);
        let (o, a) = (self.actor.shape.obs_len as usize, self.actor.shape.action_len as usize);
        let scratch = self.sizes.actor.infer_scratch_len(n).max(self.sizes.critic.infer_scratch_len(n));
        let numbers = [
            (&mut *w.raw, o),
            (&mut *w.obs, o),
            (&mut *w.vector, self.sizes.std_len),
            (&mut *w.scalar, 3),
            (&mut *w.outputs, self.actor.shape.num_outputs as usize),
            (&mut *w.noise, a),
        ];
        for (array, width) in numbers {
            zero(array, n.saturating_mul(width));
        }
        zero(w.choice, n.saturating_mul(self.action_n.len()));
        zero(w.scratch, scratch);
        zero(w.rng, n);
    }

    fn count_episodes(&mut self, reward: &[f32], terminated: &[u8], truncated: &[u8]) {
        let flags = terminated.iter().zip(truncated).map(|(a, b)| a | b != 0);
        let episodes = self.episode_return.iter_mut().zip(self.episode_len.iter_mut());
        for (((sum, len), reward), ended) in episodes.zip(reward).zip(flags) {
            *sum += f64::from(*reward);
            *len = len.saturating_add(1);
            if ended {
                let slot = (self.state.num_episodes % EPISODES as u64) as usize;
                if let (Some(r), Some(l)) = (self.recent_return.get_mut(slot), self.recent_len.get_mut(slot)) {
                    (*r, *l) = (*sum as f32, *len);
                }
                self.state.return_last = *sum as f32;
                self.state.num_episodes = self.state.num_episodes.saturating_add(1);
                (*sum, *len) = (0.0, 0);
            }
        }
    }
}

/// A count of rows, no larger than counts may be.
fn bounded(count: f64) -> f64 {
    if count > MAX_COUNT { MAX_COUNT } else { count }
}

/// Zeroes the first elements of an array, at most all of them.
fn zero<T: Zeroable + Copy>(array: &mut [T], len: usize) {
    array.iter_mut().take(len).for_each(|x| *x = T::zeroed());
}
