//! The results of steps: transitions are completed or discarded.

use super::Learner;
use crate::block;
use crate::error::{Error, Kind, Result, check_len, check_rows};
use crate::learn::actor::{Head, check_obs};
use crate::learn::rows::{Rows, select};
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
        let _changing = self.mark.begin();
        self.state.check_recording(self.config, "learner observe: an update is due; call learn first.")?;
        let n = self.config.num_envs as usize;
        check_len("learner observe: rewards", reward, n)?;
        check_len("learner observe: terminated flags", terminated, n)?;
        check_len("learner observe: truncated flags", truncated, n)?;
        self.check_mask_fits(final_mask)?;
        let listed = select("learner observe: active flags", 0..n, active, (self.open, 1), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            _ => self.observe_some(m, reward, [terminated, truncated], final_obs, final_mask),
        });
        self.tidy_rows(n);
        done
    }

    /// [`Learner::observe`] of the first `m` environments of the list.
    fn observe_some(
        &mut self,
        m: usize,
        reward: &[f32],
        flags: [&[u8]; 2],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        let w = &mut self.work;
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
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
                self.sizes.seen.check_row("learner observe: finite final_obs", obs, env, w.raw)?;
            }
        }
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.observe_for_store(m, reward, flags, final_obs, final_mask);
        }
        self.observe_for_rollout(m, reward, flags, final_obs, final_mask)
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
            self.cut_in_store(gone);
            return Ok(());
        }
        self.cut_in_rollout(gone)
    }
}

/// Whether an environment was truncated and not terminated.
pub(super) fn is_cut([terminated, truncated]: [&[u8]; 2], env: usize) -> bool {
    terminated.get(env) == Some(&0) && truncated.get(env).is_some_and(|&x| x != 0)
}
