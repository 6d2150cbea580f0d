//! The results of steps in a rollout.

use crate::block::{self, LayoutError};
use crate::data::normalizer::{Limits, RewardScale, scale_rewards};
use crate::data::step::{Ends, Rewrite};
use crate::error::Result;
use crate::kernels::moments;
use crate::learn::actor_config::VALUE;
use crate::learn::learner::observe::is_cut;
use crate::learn::learner::{Learner, With};
use crate::learn::rows::{Rows, list};
use crate::learn::store::rollout::{NONE, Rollout};
use crate::space::Elements;

impl Learner<'_> {
    /// [`Learner::observe`] of the first `m` environments of the list, with checked arguments; `final_obs` if one of these was
    /// truncated.
    pub(in crate::learn::learner) fn observe_for_rollout(
        &mut self,
        m: usize,
        reward: &[f32],
        flags: [&[u8]; 2],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        let envs = Rows::new(block::rows(self.work.row, 0, m, 1)?, 0);
        let num_cut = list(envs.iter().filter(|&env| is_cut(flags, env)), self.work.some)?;
        self.update_obs_stats()?;
        if let Some(obs) = final_obs {
            self.look_at_some("learner observe: finite final_obs", obs, final_mask, num_cut, VALUE, With::Acting)?;
            let w = &self.work;
            for (&value, &env) in w.scalar.iter().zip(w.some.iter().take(num_cut)) {
                let slot = *self.slot.get(env as usize).ok_or(LayoutError)? as usize;
                *self.rollout.final_value.get_mut(slot).ok_or(LayoutError)? = value;
            }
        }
        self.record_results(m, reward, flags)
    }

    /// Completes the transitions of the first `m` environments of the list, besides final values.
    fn record_results(&mut self, m: usize, reward: &[f32], [terminated, truncated]: [&[u8]; 2]) -> Result {
        let (w, r) = (&mut self.work, &mut self.rollout);
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        let slots = Rows::new(envs.get(self.slot, 1, w.slot)?, 0);
        let (raw, scaled) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
        let (raw, scaled) = (envs.get(reward, 1, raw)?, block::rows_mut(scaled, 0, m, 1)?);
        let (ends, others) = w.ends.split_at_mut_checked(m).ok_or(LayoutError)?;
        let (terminated, truncated) = (envs.get(terminated, 1, ends)?, envs.get(truncated, 1, others)?);
        let (c, state) = (self.config, &mut *self.state);
        let limits = Limits { clip: c.reward_clip, ..Limits::default() };
        match (c.normalize_reward != 0, state.frozen != 0) {
            (false, _) => block::copy(scaled, raw),
            (true, true) => scale_rewards(state.return_var, limits, Rewrite::apart(raw, scaled))?,
            (true, false) => {
                let running = envs.get(self.running_return, 1, w.running)?;
                let (mean, var) = (&mut state.return_mean, &mut state.return_var);
                let mut scale = RewardScale { running, mean, var, count: &mut state.return_count };
                let ends = Ends { terminated, truncated, valid: None };
                scale.step(Rewrite::apart(raw, scaled), ends, f64::from(c.discount), limits)?;
                envs.put(running, 1, self.running_return)?;
            }
        }
        slots.put(terminated, 1, r.terminated)?;
        slots.put(truncated, 1, r.truncated)?;
        slots.put(scaled, 1, r.reward)?;
        for (((env, reward), terminated), truncated) in envs.iter().zip(raw).zip(terminated).zip(truncated) {
            let ends = *terminated | *truncated != 0;
            self.episodes.step(env, *reward, ends);
            if let Some(begins) = self.begins.get_mut(env) {
                *begins = ends.into();
            }
            if let (Some(slot), Some(open)) = (self.slot.get_mut(env), self.open.get_mut(env)) {
                (*slot, *open) = (NONE, 0);
            }
        }
        state.num_steps = state.num_steps.saturating_add(m as u64);
        state.complete = state.complete.saturating_add(m as u32);
        Ok(())
    }

    /// [`Learner::cut_rows`], with checked flags; `None`: [`Learner::cut_acted`].
    pub(in crate::learn::learner) fn cut_in_rollout(&mut self, gone: Option<&[u8]>) -> Result {
        self.update_obs_stats()?;
        self.clear_scratch();
        for env in 0..self.sizes.n {
            if gone.unwrap_or(&*self.open).get(env).is_none_or(|&gone| gone == 0) {
                continue;
            }
            if self.learns_in_place() {
                self.leave(env)?;
            } else {
                self.cut_episode(env)?;
                self.cut_traces();
            }
            self.episodes.forget(env);
            if let Some(begins) = self.begins.get_mut(env) {
                *begins = 1;
            }
            if let Some(running) = self.running_return.get_mut(env) {
                *running = 0.0;
            }
        }
        Ok(())
    }

    /// Whether an update is running on the rollout being recorded.
    fn learns_in_place(&self) -> bool {
        self.state.updating != 0 && self.config.overlap == 0
    }

    /// Discards the begun transition of an environment, which is not among those being learned from.
    fn leave(&mut self, env: usize) -> Result {
        if let Some(open) = self.open.get_mut(env) {
            *open = 0;
        }
        if self.config.needs().traces {
            // The traces include the step being learned, and end with it.
            let learnt = self.state.learn_begin as usize;
            *self.rollout.truncated.get_mut(learnt).ok_or(LayoutError)? = 1;
        }
        Ok(())
    }

    /// Discards the last transition of an environment, unless an episode ended with it.
    fn cut_episode(&mut self, env: usize) -> Result {
        let (r, state) = (&mut self.rollout, &mut *self.state);
        let (Some(slot), Some(open)) = (self.slot.get_mut(env), self.open.get_mut(env)) else { return Ok(()) };
        let begin = state.begin as usize;
        let last = |end: u32, env_of: &[u32]| {
            let owners = block::rows(env_of, begin, (end as usize).saturating_sub(begin), 1).unwrap_or(&[]);
            owners.iter().rposition(|&owner| owner as usize == env).map(|at| at.saturating_add(begin))
        };
        let ended = |r: &Rollout<'_>, at: usize| {
            let flag = |flags: &[u8]| flags.get(at).is_none_or(|&x| x != 0);
            flag(r.terminated) || flag(r.truncated)
        };
        if *open == 0 {
            // Its result is not known, unless an episode ended with it: the slot is reused for the next transition.
            let at = if *slot == NONE { last(state.end, r.env) } else { None };
            let Some(at) = at.filter(|&at| !ended(r, at)) else { return Ok(()) };
            *slot = at as u32;
            state.complete = state.complete.saturating_sub(1);
        }
        *open = 0;
        if let Some(before) = last(*slot, r.env).filter(|&at| !ended(r, at)) {
            let value = *r.value.get(*slot as usize).ok_or(LayoutError)?;
            *r.truncated.get_mut(before).ok_or(LayoutError)? = 1;
            *r.final_value.get_mut(before).ok_or(LayoutError)? = value;
        }
        Ok(())
    }

    /// Adds the observations that environments have acted on to the statistics.
    fn update_obs_stats(&mut self) -> Result {
        let width = self.obs_mean.len();
        if width == 0 || !self.staged.contains(&1) {
            return Ok(());
        }
        let staged = self.staged.iter().enumerate().filter(|(_, staged)| **staged != 0).map(|(env, _)| env);
        let w = &mut self.work;
        let count = list(staged, w.slot)?;
        if self.state.frozen == 0 {
            let rows = Rows::new(block::rows(w.slot, 0, count, 1)?, 0).get(self.new_obs, width, w.raw)?;
            moments::update(rows, count, self.obs_mean, self.obs_var, &mut self.state.obs_count)?;
        }
        self.staged.fill(0);
        self.new_obs.fill(0.0);
        Ok(())
    }
}
