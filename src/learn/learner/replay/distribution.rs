//! Answers of the networks to observations, over a replay store.

use super::act::either;
use crate::block::{self, LayoutError};
use crate::error::{Error, Kind, Result, check_finite};
use crate::learn::actor::{Head, OVERFLOW, Recurrent};
use crate::learn::algorithm::unroll::NoStates;
use crate::learn::algorithm::{critic, discrete_sac, q, td3, tqc};
use crate::learn::distribution::{Distribution, Said};
use crate::learn::learner::{Learner, With};
use crate::learn::policy::Q_LOGIT_SCALE;
use crate::learn::rows::list;
use crate::space::Elements;

impl Learner<'_> {
    /// [`Learner::distribution`] of rows `[first, first + m)`, at most N of them, with checked arguments. `recurrent` has their
    /// states. Without `write` the numbers are only checked.
    #[allow(clippy::too_many_arguments)]
    pub(in crate::learn::learner) fn ask_store(
        &mut self,
        [first, m]: [usize; 2],
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Option<Elements<'_>>,
        recurrent: &mut Recurrent<'_>,
        to: &mut Distribution<'_>,
        write: bool,
    ) -> Result {
        list(first..first.saturating_add(m), self.work.row)?;
        recurrent.start(self.sizes.state_len(), block::rows_mut(self.work.state, 0, m, self.sizes.state_len())?);
        let bytes = self.see_rows("distribution: a finite obs", 0, m, obs, mask)?;
        if mask.is_none() {
            block::rows_mut(self.work.mask, 0, m, self.sizes.masks)?.fill(1);
        }
        self.say(m, With::Means, bytes)?;
        let (c, l) = (self.config, self.shape().num_outputs as usize);
        let choosing = self.sizes.std_len == 0;
        let needed = to.value.is_some() || to.q.is_some() || (choosing && !c.needs().critics);
        let at = if needed { self.value_rows(m, bytes)? } else { 0 };
        let (w, sizes) = (&mut self.work, &self.sizes);
        let is_mean = !choosing || c.value_head().is_mean();
        let outputs = block::rows_mut(if is_mean { &mut *w.outputs } else { &mut *w.batch.means }, 0, m, l)?;
        let mask = if sizes.masks > 0 { Some(block::rows(w.mask, 0, m, sizes.masks)?) } else { None };
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let value = block::rows(w.scalar, at, m, 1)?;
        let told = Said { outputs: &[], mask, tanh: !choosing, log_std: None, value, q: (&[], 1.0) };
        let said = if c.needs().critics {
            let limits = (c.log_std_min, c.log_std_max);
            let spread = block::rows(w.batch.others, 0, m, if c.needs().temperature { sizes.std_len } else { 0 })?;
            let q = (w.scalar.get(..at).unwrap_or_default(), 1.0);
            Said { outputs, q, log_std: c.needs().temperature.then_some((spread, limits)), ..told }
        } else {
            outputs.iter_mut().for_each(|q| *q *= Q_LOGIT_SCALE);
            check_finite(OVERFLOW, outputs)?;
            Said { outputs, q: (outputs, 1.0 / Q_LOGIT_SCALE), ..told }
        };
        to.take(&head, first, m, &said, action, write)?;
        if write {
            block::copy(recurrent.state, block::rows(w.state, 0, m, sizes.state_len())?);
        }
        Ok(())
    }

    /// Computes the values of the first `m` rows, whose outputs [`Learner::say`] has computed, and returns where in the columns
    /// of the working arrays they begin. Of critics of choices, the values of all choices are before them. Errors: `Disabled`
    /// for critics with a state; `Value`.
    pub(super) fn value_rows(&mut self, m: usize, bytes: Option<&[u8]>) -> Result<usize> {
        let what = "learner value: recurrent critics have no state between the steps of an episode.";
        let forgets = self.config.needs().critics && self.sizes.state_len() > 0;
        Error::new(Kind::Disabled, what).fail_if(forgets)?;
        let at = m.saturating_mul(self.sizes.replay.choice_values);
        if at > 0 {
            self.value_of_choices(m, bytes)?;
        } else if self.config.needs().critics {
            self.value_by_critics(m, bytes)?;
        } else {
            self.value_of_best(m)?;
        }
        check_finite("learner value: values that do not overflow", block::rows(self.work.scalar, at, m, 1)?)?;
        Ok(at)
    }

    /// The largest Q of the allowed choices, averaged over the elements of an action. Q of dueling networks is combined.
    fn value_of_best(&mut self, m: usize) -> Result {
        let (l, k) = (self.shape().num_outputs as usize, self.taken.n.len());
        let (w, is_mean) = (&mut self.work, self.config.value_head().is_mean());
        let said = block::rows_mut(if is_mean { w.outputs } else { w.batch.means }, 0, m, l)?;
        if is_mean {
            q::combine(self.taken.n, 1, said, block::rows(w.batch.others, 0, m, self.sizes.net.head_len(1))?);
        }
        let mask = if self.sizes.masks > 0 { Some(block::rows(w.mask, 0, m, self.sizes.masks)?) } else { None };
        let choice = block::rows_mut(w.choice, 0, m, k)?;
        q::best(self.taken.n, said, mask, choice)?;
        q::chosen(self.taken.n, said, choice, block::rows_mut(w.scalar, 0, m, 1)?);
        Ok(())
    }

    /// The critics' values of the mean actions.
    fn value_by_critics(&mut self, m: usize, bytes: Option<&[u8]>) -> Result {
        let (sizes, w) = (&self.sizes, &mut self.work);
        let critics = self.state.shown(self.config, self.acting, self.params);
        let critics = critics.get(sizes.net.param_len()..).ok_or(LayoutError)?;
        let (mean, action) =
            (block::rows_mut(w.outputs, 0, m, sizes.std_len)?, block::rows_mut(w.vector, 0, m, sizes.std_len)?);
        let pairs = block::rows_mut(w.batch.pairs, 0, m, sizes.pair())?;
        td3::act(mean, action);
        let encoded = block::rows(w.raw, 0, m, sizes.seen.len)?;
        let pairs = critic::join((either(bytes, encoded), sizes.seen.len), (action, sizes.std_len), pairs);
        let (values, other) = w.scalar.split_at_mut_checked(m).ok_or(LayoutError)?;
        if sizes.replay.quantiles > 0 {
            let other = block::rows_mut(other, 0, m, sizes.replay.quantiles)?;
            tqc::means(&sizes.critic, critics, pairs, w.scratch, other, values)
        } else {
            let other = if sizes.replay.num_critics > 1 { block::rows_mut(other, 0, m, 1)? } else { &mut [] };
            critic::lowest(&sizes.critic, critics, pairs, m, &mut NoStates, w.scratch, other, values)
        }
    }

    /// The critics' values of the choices with the mean numbers of an action, and behind them their means over the allowed choices and the elements of an action.
    fn value_of_choices(&mut self, m: usize, bytes: Option<&[u8]>) -> Result {
        let (n, sizes, w) = (&*self.taken.n, &self.sizes, &mut self.work);
        let critics = self.state.shown(self.config, self.acting, self.params);
        let critics = critics.get(sizes.net.param_len()..).ok_or(LayoutError)?;
        let len = m.saturating_mul(sizes.replay.choice_values);
        let (q, other) = w.scalar.split_at_mut_checked(len).ok_or(LayoutError)?;
        let (other, a) = (block::rows_mut(other, 0, len, 1)?, sizes.std_len);
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let mask = if sizes.masks > 0 { Some(block::rows(w.mask, 0, m, sizes.masks)?) } else { None };
        let mut seen = either(bytes, block::rows(w.raw, 0, m, sizes.seen.len)?);
        if a > 0 {
            let action = block::rows_mut(w.vector, 0, m, a)?;
            for (i, action) in action.chunks_exact_mut(a).enumerate() {
                td3::act(head.said(w.outputs, None, i)?.mean, action);
            }
            let pairs = block::rows_mut(w.batch.pairs, 0, m, sizes.pair())?;
            seen = critic::join((seen, sizes.seen.len), (action, a), pairs);
        }
        critic::lowest(&sizes.critic, critics, seen, m, &mut NoStates, w.scratch, other, q)?;
        check_finite("learner value: outputs that do not overflow", q)?;
        head.log_softmax(w.outputs, mask, other)?;
        let each = block::rows_mut(w.noise, 0, m, n.len())?;
        discrete_sac::values(n, other, q, 0.0, each);
        for (value, each) in block::rows_mut(other, 0, m, 1)?.iter_mut().zip(each.chunks_exact(n.len().max(1))) {
            *value = each.iter().sum::<f32>() / n.len() as f32;
        }
        Ok(())
    }
}
