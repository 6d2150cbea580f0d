//! The results of steps in a rollout.

use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::learn::actor_config::VALUE;
use crate::learn::learner::observe::is_cut;
use crate::learn::learner::{Learner, With};
use crate::learn::rows::{Rows, copy_row, list};
use crate::learn::store::rollout::{NONE, Rollout};
use crate::space::Elements;

impl Learner<'_> {
    /// [`Learner::observe`] of the first `m` environments of the list, with checked arguments; `final_obs` if one of these was
    /// truncated.
    pub(in crate::learn::learner) fn observe_for_rollout(
        &mut self,
        m: usize,
        results: [&[f32]; 2],
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
        self.record_results(m, results, flags)
    }

    /// Completes the transitions of the first `m` environments of the list, besides final values.
    fn record_results(&mut self, m: usize, results: [&[f32]; 2], flags: [&[u8]; 2]) -> Result {
        self.scale_rewards(m, results, flags)?;
        let (w, r, state) = (&mut self.work, &mut self.rollout, &mut *self.state);
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        let slots = Rows::new(envs.get(self.slot, 1, w.slot)?, 0);
        let scaled = block::rows(w.scalar, 1, 1, m)?;
        let (terminated, truncated) = (block::rows(w.ends, 0, 1, m)?, block::rows(w.ends, 1, 1, m)?);
        slots.put(terminated, 1, r.terminated)?;
        slots.put(truncated, 1, r.truncated)?;
        slots.put(scaled, 1, r.reward)?;
        let [reward, duration] = results;
        if self.config.use_duration != 0 {
            for (env, slot) in envs.iter().zip(slots.iter()) {
                copy_row(duration, r.duration, (env, slot, 1))?;
            }
        }
        for ((env, terminated), truncated) in envs.iter().zip(terminated).zip(truncated) {
            let ends = *terminated | *truncated != 0;
            self.episodes.step(env, *reward.get(env).ok_or(LayoutError)?, ends);
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
}
