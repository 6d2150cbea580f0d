//! Acting, with recording and without, and recording what the host has chosen.

use super::OffPolicy;
use super::frames::ZEROS;
use crate::block::{self, Misfit};
use crate::error::{Error, Kind, Result, check_finite, check_len, check_rows};
use crate::kernels::categorical::{self, Logits};
use crate::kernels::stack::MAX_STACK;
use crate::learn::actor::{Head, Sampling, check_act, check_action, check_obs};
use crate::learn::config::Algorithm;
use crate::learn::noise;
use crate::learn::objective::{critic, discrete_sac, q, sac, td3, tqc};
use crate::learn::policy::SHARPNESS;
use crate::learn::rows::{Rows, copy_row, select};
use crate::nn::Net;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

impl OffPolicy<'_> {
    /// Chooses an action for each environment, the best one or a random one, and begins a transition. What the steps
    /// before led to is known now: the transition whose `n_step` steps they are goes to the store.
    ///
    /// Shapes and errors as [`Learner::act`](crate::learn::Learner::act).
    pub fn act(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        self.act_range(0, self.sizes.n, active, obs, mask, action)
    }

    /// [`OffPolicy::act`] for environments `[begin, end)`, whose rows alone the arrays have. In whatever parts, from the
    /// first to the last, they leave the bytes of one `act`. Errors: as there; `Range`.
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
        self.check_not_due("learner act: an update is due; call learn first.")?;
        check_act("learner act: obs", self.shape(), rows, &obs, &action)?;
        self.view().check_mask(mask, rows)?;
        let listed = select("learner act: active flags", begin..end, active, (self.open, 0), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            _ => self.act_on(begin, m, obs, mask, action),
        });
        self.tidy();
        done
    }

    /// Errors: `NotReady` while gradient steps are due.
    pub(super) fn check_not_due(&self, what: &'static str) -> Result {
        Error::new(Kind::NotReady, what).when(self.state.due > 0)
    }

    /// [`OffPolicy::act_range`] of the first `m` environments of the list, with what was checked.
    fn act_on(
        &mut self,
        begin: usize,
        m: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        mut action: ElementsMut<'_>,
    ) -> Result {
        let a = self.shape().action_len as usize;
        let w = &mut self.work;
        let rows = Rows::new(block::rows(w.row, 0, m, 1)?, begin as u32);
        let seen = rows.see(&self.sizes.seen, obs, w.seen)?;
        check_rows("learner act: a finite obs", seen, self.sizes.seen.len, rows.iter())?;
        for (row, env) in rows.iter().zip(Rows::new(block::rows(w.row, 0, m, 1)?, 0).iter()) {
            self.sizes.ring.check(self.begun.pixels, self.num_begun, env, (&obs, row))?;
        }
        if let Some(mask) = mask {
            rows.get(mask, self.sizes.masks, w.allowed)?;
        }
        self.say(m, true)?;
        self.choose(m)?;
        // Nothing fails from here on.
        let envs = Rows::new(block::rows(self.work.row, 0, m, 1)?, 0);
        envs.put(block::rows(self.work.rng, 0, m, 1)?, 1, self.act_rng)?;
        self.begin(begin, m, obs)?;
        let rows = Rows::new(block::rows(self.work.row, 0, m, 1)?, begin as u32);
        match &mut action {
            ElementsMut::I32(action) => rows.put(self.work.drawn, a, action)?,
            ElementsMut::F32(action) => {
                let done = block::rows_mut(self.work.done, 0, m, a)?;
                Head::new(&self.actor, self.taken.read(), &[]).stretch(done);
                rows.put(done, a, action)?;
            }
            ElementsMut::U8(_) => {}
        }
        Ok(())
    }

    /// Begins a transition for each of the first `m` environments of the list, with the actions in the working arrays. Those
    /// that are `n_step` steps old go to the store.
    fn begin(&mut self, begin: usize, m: usize, obs: Elements<'_>) -> Result {
        let (choices, numbers) = (self.taken.n.len(), self.sizes.vector);
        for k in 0..m {
            let env = *self.work.row.get(k).ok_or(Misfit)? as usize;
            let row = env.wrapping_sub(begin);
            let count = *self.num_begun.get(env).ok_or(Misfit)?;
            let begun = self.begun_row(env, count);
            let mut frames = [ZEROS; MAX_STACK];
            if count >= self.config.n_step.into() {
                let next = Some((&obs, row));
                frames = self.place(env, count, next)?;
                self.store_begun(begun, next, &frames, k)?;
            }
            copy_row(&frames, self.begun_frames, (0, begun, self.sizes.ring.stack.num))?;
            let b = &mut self.begun;
            match obs {
                Elements::F32(x) if self.sizes.pixels == 0 => copy_row(x, b.obs, (row, begun, self.sizes.obs))?,
                _ => copy_row(obs.bytes(), b.pixels, (row, begun, self.sizes.pixels))?,
            }
            copy_row(self.work.allowed, b.mask, (k, begun, self.sizes.own_masks))?;
            copy_row(self.work.drawn, b.choice, (k, begun, choices))?;
            copy_row(self.work.done, b.vector, (k, begun, numbers))?;
            *b.reward.get_mut(begun).ok_or(Misfit)? = 0.0;
            *b.discount.get_mut(begun).ok_or(Misfit)? = 1.0;
            *self.open.get_mut(env).ok_or(Misfit)? = 1;
            *self.num_begun.get_mut(env).ok_or(Misfit)? = count.saturating_add(1);
        }
        Ok(())
    }

    /// Begins transitions with actions of the host's own in place of `act`. They lie in the action space, and choices are
    /// among those that the mask allows. An episode with such an action counts in no statistics of episodes.
    ///
    /// Shapes and errors as [`OffPolicy::act`]; `Value` for an action that does not.
    pub fn demonstrate(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let n = self.sizes.n;
        self.check_not_due("learner demonstrate: an update is due; call learn first.")?;
        check_obs("learner demonstrate: obs", self.shape(), n, &obs)?;
        check_action(self.shape(), n, action.kind(), action.len())?;
        self.view().check_mask(mask, n)?;
        let listed = select("learner demonstrate: active flags", 0..n, active, (self.open, 0), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            _ => self.demonstrate_on(m, obs, mask, action),
        });
        self.tidy();
        done
    }

    fn demonstrate_on(&mut self, m: usize, obs: Elements<'_>, mask: Option<&[u8]>, action: Elements<'_>) -> Result {
        let (a, masks) = (self.shape().action_len as usize, self.sizes.masks);
        let w = &mut self.work;
        let rows = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        let seen = rows.see(&self.sizes.seen, obs, w.seen)?;
        check_rows("learner demonstrate: a finite obs", seen, self.sizes.seen.len, rows.iter())?;
        for env in rows.iter() {
            self.sizes.ring.check(self.begun.pixels, self.num_begun, env, (&obs, env))?;
        }
        if let Some(mask) = mask {
            rows.get(mask, masks, w.allowed)?;
        }
        match action {
            Elements::I32(action) => drop(rows.get(action, a, w.drawn)?),
            Elements::F32(action) => drop(rows.get(action, a, w.done)?),
            Elements::U8(_) => {}
        }
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        for (k, env) in rows.iter().enumerate() {
            let mask = (masks > 0).then(|| block::rows(w.allowed, k, 1, masks)).transpose()?;
            let fits = match action {
                Elements::F32(_) => head.shrink(block::rows_mut(w.done, k, 1, a)?),
                _ => head.could_take(block::rows(w.drawn, k, 1, a)?, mask),
            };
            let what = "learner demonstrate: the action of environment {given} is outside of the action space, or not allowed.";
            Error::new(Kind::Value, what).given(env).when(!fits)?;
        }
        self.begin(0, m, obs)?;
        // Their episodes are not the agent's.
        for env in Rows::new(block::rows(self.work.row, 0, m, 1)?, 0).iter() {
            *self.shown.get_mut(env).ok_or(Misfit)? = 1;
            self.episodes.forget(env);
        }
        Ok(())
    }

    /// Changes the best choices of the first `m` environments of the list to those that are to be taken, or draws actions
    /// around the means. Their streams go on in the working array alone.
    fn choose(&mut self, m: usize) -> Result {
        let (c, a, masks) = (self.config, self.shape().action_len as usize, self.sizes.masks);
        let (epsilon, w) = (c.exploration(self.state.num_steps), &mut self.work);
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        for (k, rng) in envs.get(self.act_rng, 1, w.rng)?.iter_mut().enumerate() {
            let is_random = rng.uniform_f32() < epsilon;
            if self.sizes.vector == 0 {
                let mask = (masks > 0).then(|| block::rows(w.allowed, k, 1, masks)).transpose()?;
                let (n, drawn) = (&*self.taken.n, block::rows_mut(w.drawn, k, 1, a)?);
                if is_random {
                    draw_any(n, mask, rng, drawn);
                } else if c.has_critics() {
                    let noise = block::rows_mut(w.noise, k, 1, a)?;
                    noise.fill_with(|| rng.uniform_f32());
                    let logits = block::rows(w.said, k, 1, self.sizes.choice_values)?;
                    categorical::sample(&Logits { num_rows: 1, n, logits, mask }, Sampling::Basic, noise, drawn)?;
                }
                continue;
            }
            let (done, noise) = (block::rows_mut(w.done, k, 1, a)?, block::rows_mut(w.noise, k, 1, a)?);
            if is_random {
                done.fill_with(|| 2.0 * rng.uniform_f32() - 1.0);
                continue;
            }
            rng.fill_normal(noise);
            let mean = block::rows(w.said, k, 1, a)?;
            if c.algorithm() == Algorithm::Sac {
                let log_std = block::rows(w.also_said, k, 1, a)?;
                sac::act((c.log_std_min, c.log_std_max), mean, log_std, noise, done, &mut [0.0]);
            } else {
                td3::smooth((c.exploration_noise, f32::MAX), mean, noise, done);
            }
        }
        Ok(())
    }

    /// The outputs of the policy of `m` rows that are seen, with noise or without, and the best choices of them. Errors: `Value`.
    fn say(&mut self, m: usize, noisy: bool) -> Result {
        let (o, l) = (self.sizes.seen.len, self.shape().num_outputs as usize);
        let (w, net, of) = (&mut self.work, &self.sizes.policy, self.config.value_head());
        let seen = block::rows(w.seen, 0, m, o)?;
        let means = block::rows_mut(w.said, 0, m, l)?;
        let spread = block::rows_mut(w.spread, 0, m, if of.is_mean() { 0 } else { net.head_len(0) })?;
        let also = block::rows_mut(w.also_said, 0, m, net.head_len(1))?;
        let params = if noisy { noise::of(self.params, self.noisy) } else { &*self.params };
        let params = params.get(..net.param_len()).ok_or(Misfit)?;
        let numbers = if of.is_mean() { &mut *means } else { &mut *spread };
        q::infer(net, params, seen, m, w.infer, numbers, also)?;
        let what = "learner act: outputs that do not overflow";
        check_finite(what, numbers).and(check_finite(what, also))?;
        if !of.is_mean() {
            q::combine(self.taken.n, of.width(), spread, also);
            of.means(spread, means);
            check_finite(what, means)?;
        }
        if self.config.has_critics() {
            return Ok(());
        }
        let allowed = block::rows(w.allowed, 0, m, self.sizes.masks)?;
        let mask = (self.sizes.masks > 0).then_some(allowed);
        let drawn = block::rows_mut(w.drawn, 0, m, self.taken.n.len())?;
        q::best(self.taken.n, means, mask, drawn)?;
        Ok(())
    }

    /// Acts without recording, in any phase: the training goes on as if this had not been called. Sampling is that of a
    /// policy of 1024 times Q, and so all but greedy unless a temperature says otherwise; SAC's of its Gaussians or of its
    /// choices; and TD3 has nothing to draw from.
    ///
    /// Shapes and errors as [`OffPolicy::act`].
    pub fn predict(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let _changing = self.mark.begin();
        let (n, view) = (self.sizes.n, self.view());
        check_act("learner predict: obs", view.shape(), n, &obs, &action)?;
        view.check_mask(mask, n)?;
        view.head().check_sampling(sampling)?;
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
        let n = self.sizes.n;
        self.look("learner predict: a finite obs", obs, mask, false)?;
        let (c, w) = (self.config, &mut self.work);
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        block::copy(w.rng, self.predict_rng);
        head.noise(w.rng, w.noise);
        if let ElementsMut::F32(action) = action {
            let spread = match sampling {
                Sampling::Greedy => 0.0,
                Sampling::Temperature(temperature) => temperature,
                _ => 1.0,
            };
            w.noise.iter_mut().for_each(|x| *x *= spread);
            if c.algorithm() == Algorithm::Sac {
                let log_prob = block::rows_mut(w.spare, 0, n, 1)?;
                sac::act((c.log_std_min, c.log_std_max), w.said, w.also_said, w.noise, action, log_prob);
            } else {
                td3::act(w.said, action);
            }
            head.stretch(action);
        } else {
            if !c.has_critics() {
                w.said.iter_mut().for_each(|x| *x *= SHARPNESS);
            }
            head.draw(n, w.said, mask, sampling, w.noise, action)?;
        }
        block::copy(self.predict_rng, w.rng);
        Ok(())
    }

    /// The value of each observation, `obs` `[N, obs_len]`, `value` `[N]`: of its best action; the mean over the elements of
    /// an action, if there are several choices; what critics say of the mean action, or on average over the choices of SAC.
    /// Choices are those that `mask` `[N, mask_len]` allows; `None`: all. Nothing is recorded. Errors: `Shape`; `Value`.
    pub fn value(&mut self, obs: Elements<'_>, mask: Option<&[u8]>, value: &mut [f32]) -> Result {
        let _changing = self.mark.begin();
        check_obs("learner value: obs", self.shape(), self.sizes.n, &obs)?;
        check_len("learner value: values", value, self.sizes.n)?;
        self.view().check_mask_fits(mask, 0..self.sizes.n)?;
        let done = self.look("learner value: a finite obs", obs, mask, true).and_then(|()| {
            if self.sizes.choice_values > 0 {
                return self.value_of_choices(mask, value);
            }
            if self.config.has_critics() {
                return self.value_by_critics(value);
            }
            let w = &mut self.work;
            if self.config.value_head().is_mean() {
                q::combine(self.taken.n, 1, w.said, w.also_said);
            }
            q::best(self.taken.n, w.said, mask, w.drawn)?;
            let values = block::rows_mut(w.spare, 0, self.sizes.n, 1)?;
            q::chosen(self.taken.n, w.said, w.drawn, values);
            hand_over(values, value)
        });
        self.tidy();
        done
    }

    /// What the critics say of all observations and their mean actions.
    fn value_by_critics(&mut self, value: &mut [f32]) -> Result {
        let (n, sizes, w) = (self.sizes.n, &self.sizes, &mut self.work);
        let critics = self.params.get(sizes.policy.param_len()..).ok_or(Misfit)?;
        td3::act(w.said, w.done);
        critic::join((w.seen, sizes.seen.len), (w.done, sizes.vector), w.pair);
        let (spare, other) = w.spare.split_at_mut_checked(n).ok_or(Misfit)?;
        if sizes.quantiles > 0 {
            tqc::means(&sizes.critic, critics, w.pair, w.infer, other, spare)?;
        } else {
            critic::lowest(&sizes.critic, critics, w.pair, n, w.infer, other, spare)?;
        }
        hand_over(spare, value)
    }

    /// The mean of what the critics say over the choices, and over the elements of an action.
    fn value_of_choices(&mut self, mask: Option<&[u8]>, value: &mut [f32]) -> Result {
        let (n, sizes, w) = (&*self.taken.n, &self.sizes, &mut self.work);
        let critics = self.params.get(sizes.policy.param_len()..).ok_or(Misfit)?;
        let len = sizes.n.saturating_mul(sizes.choice_values);
        let (q, other) = w.spare.split_at_mut_checked(len).ok_or(Misfit)?;
        critic::lowest(&sizes.critic, critics, w.seen, sizes.n, w.infer, other, q)?;
        check_finite("learner value: outputs that do not overflow", q)?;
        categorical::log_softmax(&Logits { num_rows: sizes.n, n, logits: w.said, mask }, other)?;
        discrete_sac::values(n, other, q, 0.0, w.noise);
        let values = block::rows_mut(q, 0, sizes.n, 1)?;
        for (value, each) in values.iter_mut().zip(w.noise.chunks_exact(n.len().max(1))) {
            *value = each.iter().sum::<f32>() / n.len() as f32;
        }
        hand_over(values, value)
    }

    /// What the policy says to all observations.
    fn look(&mut self, what: &'static str, obs: Elements<'_>, mask: Option<&[u8]>, noisy: bool) -> Result {
        self.sizes.seen.rows(obs, self.sizes.n, self.work.seen)?;
        check_rows(what, self.work.seen, self.sizes.seen.len, 0..)?;
        block::copy(self.work.allowed, mask.unwrap_or(&[]));
        if mask.is_none() {
            self.work.allowed.fill(1);
        }
        self.say(self.sizes.n, noisy)
    }

    /// Zeroes the working arrays that calls of N rows use.
    pub(super) fn tidy(&mut self) {
        let w = &mut self.work;
        let infer = |net: &Net<'_>| net.infer_scratch_len(self.sizes.n);
        let infer = infer(&self.sizes.policy).max(infer(&self.sizes.critic));
        let scratch = w.infer.get_mut(..infer).unwrap_or_default();
        for numbers in [&mut *w.seen, w.said, w.spread, w.also_said, w.noise, w.done, w.pair, w.spare, scratch] {
            numbers.fill(0.0);
        }
        w.row.fill(0);
        w.allowed.fill(0);
        w.drawn.fill(0);
        w.rng.fill(bytemuck::Zeroable::zeroed());
    }
}

/// Hands values over, unless one is infinite. Errors: `Value`; then nothing is written.
fn hand_over(values: &[f32], to: &mut [f32]) -> Result {
    check_finite("learner value: values that do not overflow", values)?;
    block::copy(to, values);
    Ok(())
}

/// Draws each element of an action from what the mask allows, all of it alike.
fn draw_any(n: &[u32], mask: Option<&[u8]>, rng: &mut Rng, choice: &mut [i32]) {
    let mut first = 0usize;
    for (to, &n) in choice.iter_mut().zip(n) {
        let end = first.saturating_add(n as usize);
        let allowed = |k: &u32| mask.is_none_or(|m| m.get(first.saturating_add(*k as usize)).is_some_and(|&x| x != 0));
        let count = (0..n).filter(allowed).count() as u64;
        let index = rng.bounded(count.saturating_sub(1)) as usize;
        *to = (0..n).filter(allowed).nth(index).unwrap_or(0) as i32;
        first = end;
    }
}
