//! Acting, with and without recording, and other evaluations of the networks.

use bytemuck::Zeroable;

use super::Learner;
#[cfg(not(feature = "off_policy"))]
use super::layout::ACTING_COLUMNS;
use crate::block::Fit;
use crate::error::{Result, check_len};
use crate::learn::actor::{Recurrent, Sampling, check_act, check_mask_fits, check_obs, check_rows_given};
use crate::learn::distribution::{Distribution, Knows};
use crate::learn::rows::{Rows, select};
use crate::space::{Elements, ElementsMut};

impl Learner<'_> {
    /// Chooses an action for each environment, by sampling the policy, or the best one or a random one, and begins a
    /// transition. With `normalize_obs` the observations are normalized by the statistics of the previous steps. Over a replay
    /// store, a transition whose `n_step` steps are complete now is added to the store.
    ///
    /// `active`: `[N]` 0: this environment does not act now; its rows are neither read nor written. `None`: all act.
    /// `obs`: `[N, obs_len]`; `mask`: `[N, mask_len]` flags, exactly if `use_action_mask`; `action`: `[N, action_len]`.
    /// Errors: `NotReady` if learning is due, or if an active environment has acted already; `Shape`; `Value` for a NaN or
    /// infinite observation, and if the policy's outputs overflow. Nothing changes on error, here and in the other calls except
    /// [`Learner::learn`].
    pub fn act(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        self.act_range(0, self.config.num_envs as usize, active, obs, mask, action)
    }

    /// [`Learner::act`] for environments `[begin, end)`; the arrays have only their rows. If all environments act before any of
    /// them observes, calls for consecutive ranges from the first to the last produce the same bytes as one `act`.
    ///
    /// Errors: those of [`Learner::act`]; `Range`.
    pub fn act_range(
        &mut self,
        begin: usize,
        end: usize,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let rows = self.check_envs(begin, end)?;
        self.state.check_recording(self.config, "learner act: an update is due; call learn first.")?;
        check_act("learner act: obs", &self.actor.shape, rows, &obs, &action)?;
        self.check_mask(mask, rows)?;
        let listed = select("learner act: active flags", begin..end, active, (self.open, 0), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            #[cfg(feature = "off_policy")]
            _ if self.config.needs().replay => self.act_for_store(begin, m, obs, mask, action),
            _ => self.act_for_rollout(begin, m, obs, mask, action),
        });
        self.clear_scratch();
        done
    }

    /// Acts without recording and without the noise of noisy layers, in any phase: training continues as if this had not been
    /// called. `recurrent` holds the recurrent states of these episodes, separate from the recorded ones. Sampling of Q is that
    /// of a policy with logits of 1024 times Q, thus almost greedy unless a temperature is given; TD3 has no distribution to
    /// sample from.
    ///
    /// Shapes and errors as [`Learner::act`].
    pub fn predict(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let (n, view) = (self.config.num_envs as usize, self.view());
        check_act("learner predict: obs", view.shape(), n, &obs, &action)?;
        self.check_mask(mask, n)?;
        let head = view.head()?;
        head.check_mask(mask, n)?;
        head.check_sampling(sampling)?;
        recurrent.check(n, self.sizes.state_len())?;
        let done = match () {
            #[cfg(feature = "off_policy")]
            () if self.config.needs().replay => self.predict_by_store(obs, mask, recurrent, sampling, action),
            () => self.predict_by_rollout(obs, mask, recurrent, sampling, action),
        };
        self.clear_scratch();
        done
    }

    /// The value of each observation: `obs` `[N, obs_len]`, `value` `[N]`; recurrent layers read the current state of each
    /// environment. For Q it is the value of the best choice, averaged over the elements of an action; with critics, that of
    /// the mean numbers, averaged over the choices of SAC. `mask` `[N, mask_len]` flags the allowed choices; `None`: all are
    /// allowed. Nothing is recorded. Errors: `Shape`; `Value` for a NaN or infinite observation, and if values overflow;
    /// `value` is unchanged then.
    pub fn value(&mut self, obs: Elements<'_>, mask: Option<&[u8]>, value: &mut [f32]) -> Result {
        let _changing = self.mark.begin();
        let n = self.config.num_envs as usize;
        check_obs("learner value: obs", &self.actor.shape, n, &obs)?;
        check_len("learner value: values", value, n)?;
        self.check_mask_fits(mask)?;
        let done = match () {
            #[cfg(feature = "off_policy")]
            () if self.config.needs().replay => self.value_by_store(obs, mask, value),
            () => self.value_by_rollout(obs, mask, value),
        };
        self.clear_scratch();
        done
    }

    /// Answers of the networks to `rows` observations, any number of them, without the noise of noisy layers, in any phase:
    /// nothing is recorded. Of Q, probabilities are those of logits of 1024 times Q, as [`Learner::predict`] samples. `recurrent`
    /// holds the recurrent states of these rows, which go one step further as those of an episode that is recorded.
    ///
    /// `obs`: `[rows, obs_len]`; `mask`: `[rows, mask_len]` flags of the allowed choices, or `None`: all are; `action`: `[rows,
    /// action_len]` for `log_prob`, continuous ones as sampled, before squashing or clipping.
    /// Errors: `Shape`; `Disabled` for answers that this learner does not have; `Value` for numbers that are not finite, for
    /// choices that do not exist or are forbidden, and if results overflow. Nothing is written then.
    pub fn distribution(
        &mut self,
        rows: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Option<Elements<'_>>,
        mut recurrent: Recurrent<'_>,
        mut to: Distribution<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let (needs, view, state_len) = (self.config.needs(), self.view(), self.sizes.state_len());
        let shape = view.shape();
        check_rows_given("distribution: obs", shape, rows, &obs, action)?;
        check_mask_fits(self.config.use_action_mask, mask, rows, self.sizes.masks)?;
        view.head()?.check_mask(mask, rows)?;
        recurrent.check(rows, state_len)?;
        let critics = !needs.critics || state_len == 0;
        let knows = Knows {
            value: critics,
            q: critics && (needs.q || needs.critics && shape.action_lens().0 > 0),
            log_prob: !needs.replay,
        };
        to.check(shape, rows, knows, action.is_some())?;
        // Numbers of later rows may be refused, so that all are checked before the first ones are written.
        let n = self.sizes.n.max(1);
        let mut done = Ok(());
        for write in [false, true].into_iter().skip(usize::from(rows <= n)) {
            let mut first = 0;
            while first < rows && done.is_ok() {
                let m = n.min(rows.saturating_sub(first));
                done = recurrent.rows(first, m, state_len).map_err(Into::into).and_then(|mut own| match () {
                    #[cfg(feature = "off_policy")]
                    () if needs.replay => self.ask_store([first, m], obs, mask, action, &mut own, &mut to, write),
                    () => self.ask_rollout([first, m], obs, mask, action, &mut own, &mut to, write),
                });
                first = first.saturating_add(m);
            }
        }
        self.clear_scratch();
        done
    }

    /// Zeroes the working arrays that calls of N rows use.
    pub(super) fn clear_scratch(&mut self) {
        self.tidy_rows(self.config.num_envs as usize);
        self.tidy_scratch();
    }

    /// Zeroes the scratch memory of the networks.
    pub(super) fn tidy_scratch(&mut self) {
        let n = self.sizes.n;
        let len = self.sizes.net.infer_scratch_len(n).max(self.sizes.critic.infer_scratch_len(n));
        zero(self.work.scratch, len);
    }

    /// Zeroes all working arrays, so that the bytes after an update do not depend on where its chunks were computed.
    pub(super) fn wipe(&mut self) {
        self.tidy_rows(usize::MAX);
        let w = &mut self.work;
        for array in [&mut *w.d_outputs, w.tape, w.scratch] {
            array.fill(0.0);
        }
        for array in [&mut *w.cell, w.d_cell, w.cell_value, w.d_cell_value, w.target, w.change, w.class, w.d_class] {
            array.fill(0.0);
        }
        w.before.fill(0);
        w.past.fill(0);
        #[cfg(feature = "off_policy")]
        w.batch.wipe();
    }

    /// Zeroes the first `n` rows of the working arrays.
    pub(super) fn tidy_rows(&mut self, n: usize) {
        let w = &mut self.work;
        let (o, a) = (self.actor.shape.seen_len as usize, self.actor.shape.draw_len());
        let (l, front) = (self.sizes.net.head_len(0), self.sizes.reads_front);
        #[cfg(feature = "off_policy")]
        let [others, means, pair, scalars] = self.sizes.acting_lens(self.config.needs().replay);
        #[cfg(not(feature = "off_policy"))]
        let scalars = ACTING_COLUMNS;
        let numbers = [
            (&mut *w.raw, o),
            (&mut *w.obs, o.saturating_sub(front).saturating_add(front.div_ceil(size_of::<f32>()))),
            (&mut *w.vector, self.sizes.std_len),
            (&mut *w.scalar, scalars),
            #[cfg(feature = "off_policy")]
            (&mut *w.batch.others, others),
            #[cfg(feature = "off_policy")]
            (&mut *w.batch.means, means),
            #[cfg(feature = "off_policy")]
            (&mut *w.batch.pairs, pair),
            (&mut *w.outputs, l),
            (&mut *w.noise, a),
            (&mut *w.next, 1),
            (&mut *w.state, self.sizes.state_len()),
        ];
        for (array, width) in numbers {
            zero(array, n.saturating_mul(width));
        }
        for array in [&mut *w.row, &mut *w.slot, &mut *w.some] {
            zero(array, n);
        }
        zero(w.frame, n.saturating_mul(self.sizes.frames.stack.num));
        zero(w.choice, n.saturating_mul(self.taken.n.len()));
        zero(w.mask, n.saturating_mul(l));
        zero(w.ends, n.saturating_mul(2));
        zero(w.cut, n);
        zero(w.running, n);
        zero(w.rng, n);
    }
}

/// The requirement on recurrent states after a step.
pub(super) const STATES: &str = "learner: recurrent states that do not overflow";

/// Copies the recurrent states of these environments to the front of `to`: zeros where an episode begins.
pub(super) fn recall<'t>(
    carry: &[f32],
    begins: &[u8],
    envs: Rows<'_>,
    state_len: usize,
    to: &'t mut [f32],
) -> Fit<&'t mut [f32]> {
    let to = envs.get(carry, state_len, to)?;
    for (row, env) in to.chunks_exact_mut(state_len.max(1)).zip(envs.iter()) {
        if begins.get(env) != Some(&0) {
            row.fill(0.0);
        }
    }
    Ok(to)
}

/// Zeroes the first elements of an array, at most all of them.
fn zero<T: Zeroable + Copy>(array: &mut [T], len: usize) {
    array.iter_mut().take(len).for_each(|x| *x = T::zeroed());
}
