//! Answers of the networks to observations, over rollouts.

use super::act::encode;
use crate::block;
use crate::error::{Result, check_finite};
use crate::learn::actor::{Head, Recurrent};
use crate::learn::actor_config::{POLICY, VALUE};
use crate::learn::distribution::{Distribution, Said};
use crate::learn::learner::Learner;
use crate::learn::learner::act::STATES;
use crate::learn::learner::layout::log_std;
#[cfg(feature = "pqn")]
use crate::learn::policy::Q_LOGIT_SCALE;
#[cfg(feature = "pqn")]
use crate::learn::q_values;
use crate::learn::rows::{Rows, list};
use crate::space::Elements;

impl Learner<'_> {
    /// [`Learner::distribution`] of rows `[first, first + m)`, at most N of them, with checked arguments. `recurrent` has their
    /// states. Without `write` the numbers are only checked.
    #[allow(clippy::too_many_arguments)]
    pub(in crate::learn::learner) fn ask_rollout(
        &mut self,
        [first, m]: [usize; 2],
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Option<Elements<'_>>,
        recurrent: &mut Recurrent<'_>,
        to: &mut Distribution<'_>,
        write: bool,
    ) -> Result {
        let (shape, sizes, w) = (&self.actor.shape, &self.sizes, &mut self.work);
        list(first..first.saturating_add(m), w.some)?;
        let rows = Rows::new(block::rows(w.some, 0, m, 1)?, 0);
        let moments = [&*self.obs_mean, self.obs_var];
        let what = "distribution: a finite obs";
        let (_, seen) = encode(&self.actor, sizes, moments, what, rows, obs, [&mut *w.raw, w.obs])?;
        let mask = match mask {
            Some(mask) => Some(&*rows.get(mask, shape.mask_len(), w.mask)?),
            None => None,
        };
        let params = Self::acting(self.config, self.acting, self.params);
        let head = Head::new(&self.actor, self.taken.read(), log_std(params, sizes)?);
        let outputs = block::rows_mut(w.outputs, 0, m, shape.num_outputs as usize)?;
        let value = block::rows_mut(w.scalar, 0, m, 1)?;
        let states = block::rows_mut(w.state, 0, m, sizes.state_len())?;
        recurrent.start(sizes.state_len(), states);
        let own = &mut [&mut *outputs, &mut *value];
        let heads = sizes.net.num_heads().min(2);
        let own = own.get_mut(..heads).unwrap_or_default();
        sizes.net.infer(params, seen, m, POLICY | VALUE, states, w.scratch, own)?;
        check_finite(STATES, states)?;
        #[cfg_attr(not(feature = "pqn"), allow(unused_mut))]
        let mut factor = 1.0;
        #[cfg(feature = "pqn")]
        if self.config.needs().q {
            q_values::values(self.taken.n, outputs, mask, value);
            outputs.iter_mut().for_each(|q| *q *= Q_LOGIT_SCALE);
            factor = 1.0 / Q_LOGIT_SCALE;
        }
        let said = Said { outputs, mask, tanh: false, log_std: None, value, q: (outputs, factor) };
        to.take(&head, first, m, &said, action, write)?;
        if write {
            block::copy(recurrent.state, states);
        }
        Ok(())
    }
}
