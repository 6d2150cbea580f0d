//! The results of steps: transitions are completed or discarded.

use super::Learner;
use crate::block::{self, LayoutError};
use crate::data::normalizer::{Limits, RewardScale, scale_rewards};
use crate::data::step::{Ends, Rewrite};
use crate::error::{Error, Kind, Result, check_len, check_rows};
use crate::kernels::moments;
use crate::learn::actor::{Head, check_obs};
use crate::learn::rows::{Rows, copy_row, select};
use crate::space::Elements;

impl Learner<'_> {
    /// Completes the transitions that `act` began.
    /// Autoreset has to be same step: a row of next-step autoreset that only resets is not a transition.
    ///
    /// `active`: `[N]` 0: this environment has no result; its rows are not read. `None`: all have one.
    /// `reward`: `[N]`, finite; `terminated`, `truncated`: `[N]` flags; `final_obs`: `[N, obs_len]`, required if an environment
    /// is truncated and not terminated; only such rows are read, also of `final_mask`, `[N, mask_len]` flags of the allowed
    /// choices there; `None`: all are allowed.
    /// Errors: `NotReady` if an active environment has not acted; `Shape`; `Value`; `Null` if `final_obs` is missing. Nothing
    /// changes on error.
    pub fn observe(
        &mut self,
        active: Option<&[u8]>,
        reward: &[f32],
        terminated: &[u8],
        truncated: &[u8],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        self.observe_after(None, active, reward, [terminated, truncated], final_obs, final_mask)
    }

    /// [`Learner::observe`] of decisions that lasted so long: `duration` `[N]`, finite and at least 0, given exactly with
    /// `use_duration`. A reward is that of the whole decision. Errors: as there; `Null` without durations; `Shape` with some that
    /// are not used; `Value`.
    pub fn observe_after(
        &mut self,
        duration: Option<&[f32]>,
        active: Option<&[u8]>,
        reward: &[f32],
        [terminated, truncated]: [&[u8]; 2],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        let _changing = self.mark.begin();
        self.state.check_recording(self.config, "learner observe: an update is due; call learn first.")?;
        let n = self.config.num_envs as usize;
        check_len("learner observe: rewards", reward, n)?;
        check_len("learner observe: terminated flags", terminated, n)?;
        check_len("learner observe: truncated flags", truncated, n)?;
        self.check_mask_fits(final_mask)?;
        let used = self.config.use_duration != 0;
        let what = "learner observe: durations must be given with use_duration.";
        Error::new(Kind::Null, what).fail_if(used && duration.is_none())?;
        let duration = duration.unwrap_or_default();
        check_len("learner observe: durations", duration, if used { n } else { 0 })?;
        let listed = select("learner observe: active flags", 0..n, active, (self.open, 1), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            _ => self.observe_some(m, [reward, duration], [terminated, truncated], final_obs, final_mask),
        });
        self.tidy_rows(n);
        done
    }

    /// [`Learner::observe`] of the first `m` environments of the list.
    fn observe_some(
        &mut self,
        m: usize,
        [reward, duration]: [&[f32]; 2],
        flags: [&[u8]; 2],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        let w = &mut self.work;
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        for env in envs.iter() {
            let what = "learner observe: finite durations of at least 0";
            let wrong = duration.get(env).filter(|x| !(0.0..=f32::MAX).contains(*x));
            Error::new(Kind::Value, what)
                .given_f32(wrong.copied().unwrap_or(0.0))
                .in_row(env)
                .fail_if(wrong.is_some())?;
        }
        check_rows("learner observe: finite rewards", envs.get(reward, 1, w.scalar)?, 1, envs.iter())?;
        let cut = || envs.iter().filter(|&env| is_cut(flags, env));
        let num_cut = cut().count();
        let final_obs = final_obs.filter(|_| num_cut > 0);
        if num_cut > 0 {
            let what = "learner observe: final_obs is NULL; environments truncated and not terminated: {given}.";
            let obs = final_obs.ok_or(Error::new(Kind::Null, what).given(num_cut))?;
            check_obs("learner observe: final_obs", &self.actor.shape, self.sizes.n, &obs)?;
            Head::new(&self.actor, self.taken.read(), &[]).check_mask_rows(final_mask, cut())?;
            for env in cut() {
                let front = self.sizes.reads_front;
                self.sizes.seen.check_row("learner observe: finite final_obs", (obs, env), front, w.raw)?;
            }
        }
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.observe_for_store(m, [reward, duration], flags, final_obs, final_mask);
        }
        self.observe_for_rollout(m, [reward, duration], flags, final_obs, final_mask)
    }

    /// Ends the episodes of agents that are removed before the results of their last actions are known, without counting these
    /// episodes. In a rollout their last transitions are discarded, observed or not; the preceding ones are truncated, with the
    /// values of the last actions' observations as bootstrap values. A rollout that was complete may be incomplete afterwards.
    /// An update that has begun keeps its transitions: the observations after the last ones were known. Transitions that are
    /// not in a store yet are dropped.
    ///
    /// `gone`: `[N]` flags. Errors: `Shape`.
    pub fn cut_rows(&mut self, gone: &[u8]) -> Result {
        let _changing = self.mark.begin();
        check_len("learner cut: flags", gone, self.config.num_envs as usize)?;
        self.cut_these(Some(gone))
    }

    /// [`Learner::cut_rows`] of all environments that have acted and were not observed since, so that none waits for a result.
    pub fn cut_acted(&mut self) -> Result {
        let _changing = self.mark.begin();
        self.cut_these(None)
    }

    /// [`Learner::cut_rows`] of these environments, or [`Learner::cut_acted`].
    fn cut_these(&mut self, gone: Option<&[u8]>) -> Result {
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.cut_in_store(gone);
        }
        self.cut_in_rollout(gone)
    }

    /// Gathers the rewards and ends of the first `m` environments of the list, and adds the rewards to the statistics. The first
    /// columns of the working arrays then have the rewards within their limits, and the rewards as they are learned from.
    pub(super) fn scale_rewards(
        &mut self,
        m: usize,
        [reward, duration]: [&[f32]; 2],
        [terminated, truncated]: [&[u8]; 2],
    ) -> Result {
        let (w, c, state) = (&mut self.work, self.config, &mut *self.state);
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        let (raw, scaled) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
        let (raw, scaled) = (envs.get(reward, 1, raw)?, block::rows_mut(scaled, 0, m, 1)?);
        if c.limits_rewards() {
            raw.iter_mut().for_each(|x| *x = c.limited(*x));
        }
        let (ends, others) = w.ends.split_at_mut_checked(m).ok_or(LayoutError)?;
        let (terminated, truncated) = (envs.get(terminated, 1, ends)?, envs.get(truncated, 1, others)?);
        let limits = Limits { clip: c.reward_clip, ..Limits::default() };
        match (c.normalize_reward != 0, state.frozen != 0) {
            (false, _) => block::copy(scaled, raw),
            (true, true) => scale_rewards(state.return_var, limits, Rewrite::apart(raw, scaled))?,
            (true, false) => {
                let running = envs.get(self.running_return, 1, w.running)?;
                let mut discount = f64::from(c.discount);
                if c.use_duration != 0 {
                    for (running, env) in running.iter_mut().zip(envs.iter()) {
                        *running *= f64::from(c.discount_over(duration.get(env)));
                    }
                    discount = 1.0;
                }
                let (mean, var) = (&mut state.return_mean, &mut state.return_var);
                let mut scale = RewardScale { running, mean, var, count: &mut state.return_count };
                let ends = Ends { terminated, truncated, valid: None };
                scale.step(Rewrite::apart(raw, scaled), ends, discount, limits)?;
                envs.put(running, 1, self.running_return)?;
            }
        }
        Ok(())
    }

    /// Adds the observations that environments have acted on to the statistics.
    pub(super) fn update_obs_stats(&mut self) -> Result {
        let (width, w) = (self.obs_mean.len(), &mut self.work);
        if width == 0 || !self.staged.contains(&1) {
            return Ok(());
        }
        let mut count = 0usize;
        for (env, _) in self.staged.iter().enumerate().filter(|(_, staged)| **staged != 0) {
            copy_row(self.new_obs, w.raw, (env, count, width))?;
            count = count.saturating_add(1);
        }
        if self.state.frozen == 0 {
            let rows = block::rows(w.raw, 0, count, width)?;
            moments::update(rows, count, self.obs_mean, self.obs_var, &mut self.state.obs_count)?;
        }
        self.staged.fill(0);
        self.new_obs.fill(0.0);
        Ok(())
    }
}

/// Whether an environment was truncated and not terminated.
pub(super) fn is_cut([terminated, truncated]: [&[u8]; 2], env: usize) -> bool {
    terminated.get(env) == Some(&0) && truncated.get(env).is_some_and(|&x| x != 0)
}
