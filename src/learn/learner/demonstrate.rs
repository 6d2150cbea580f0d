//! Actions of the host in place of drawn ones.

use super::Learner;
use super::imitate::takes;
use crate::block;
use crate::error::{Error, Kind, Result, check_len};
use crate::learn::actor::{Head, check_action, check_obs};
use crate::space::Elements;

impl Learner<'_> {
    /// Actions supplied by the host, in place of `act`. They must be in the action space, and choices allowed by the mask.
    ///
    /// Off policy they begin transitions, which [`Learner::observe`] completes. An episode with such an action is excluded from the
    /// episode statistics. Of these transitions the first `demonstration_size` are kept for good.
    ///
    /// On policy the first `demonstration_size` observations and actions are kept for the loss of `imitation_coef`, and later ones
    /// are left out. No transition begins, so nothing is to be observed, and nothing is counted.
    ///
    /// Shapes and errors as [`Learner::act`]; `Value` for an action outside of the action space or not allowed; `Disabled` on policy
    /// without `demonstration_size`.
    pub fn demonstrate(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let n = self.sizes.n;
        let what = "learner: learners on policy learn from actions that they draw, and keep demonstrations only with demonstration_size.";
        let refused = !self.config.needs().replay && self.config.demonstration_size == 0;
        Error::new(Kind::Disabled, what).fail_if(refused)?;
        self.state.check_recording(self.config, "learner demonstrate: an update is due; call learn first.")?;
        check_obs("learner demonstrate: obs", self.shape(), n, &obs)?;
        check_action(self.shape(), n, action.kind(), action.len())?;
        self.check_mask(mask, n)?;
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.demonstrate_to_store(active, obs, mask, action);
        }
        check_len(
            "learner demonstrate: active flags",
            active.unwrap_or_default(),
            if active.is_some() { n } else { 0 },
        )?;
        let checked = self.check_shown(active, obs, mask, action);
        self.clear_scratch();
        checked?;
        let (s, masks) = (&mut *self.state, self.sizes.masks);
        let lens = [self.actor.shape.obs_len as usize, self.actor.shape.action_len as usize];
        for row in (0..n).filter(|row| is_active(active, *row)) {
            if s.num_kept < self.config.demonstration_size.into() {
                let mask = mask.map(|mask| (mask, masks));
                self.shown.keep([row, s.num_kept as usize], [(obs, lens[0]), (action, lens[1])], mask)?;
                s.num_kept = s.num_kept.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Checks the rows that are active. Errors: `Value`.
    fn check_shown(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
    ) -> Result {
        let (masks, squashes) = (self.sizes.masks, self.actor.squash != 0);
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let choice = block::rows_mut(self.work.choice, 0, 1, self.taken.n.len())?;
        let vector = block::rows_mut(self.work.vector, 0, 1, self.sizes.std_len)?;
        for row in (0..self.sizes.n).filter(|row| is_active(active, *row)) {
            let what = "learner demonstrate: a finite obs";
            self.sizes.seen.check_row(what, (obs, row), self.sizes.reads_front, self.work.raw)?;
            head.check_mask_rows(mask, core::iter::once(row))?;
            let mask = mask.map(|mask| block::rows(mask, row, 1, masks)).transpose()?;
            let what = "learner demonstrate: the action of environment {given} is outside of the action space, or not allowed.";
            let fits = takes(&head, (action, row), mask, (choice, vector), squashes);
            Error::new(Kind::Value, what).given(row).fail_if(!fits)?;
        }
        Ok(())
    }
}

/// Whether an environment is active.
fn is_active(active: Option<&[u8]>, row: usize) -> bool {
    active.is_none_or(|active| active.get(row).is_some_and(|flag| *flag != 0))
}
