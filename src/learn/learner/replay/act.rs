//! Acting, with and without recording, and recording of the host's actions.

use crate::block::{self, LayoutError};
use crate::error::{Error, Kind, Result, check_finite, check_rows};
use crate::kernels::categorical::{self, Logits};
use crate::kernels::stack::MAX_STACK;
use crate::learn::actor::{Head, Raw, Recurrent, Said, Sampling, see};
use crate::learn::actor_config::ActorConfig;
use crate::learn::algorithm::{q, sac, td3};
use crate::learn::learner::act::{STATES, recall};
use crate::learn::learner::{Learner, With};
use crate::learn::noise;
use crate::learn::policy::Q_LOGIT_SCALE;
use crate::learn::rows::{Rows, copy_row, list, select};
use crate::learn::store::ring::ZEROS;
use crate::learn::store::sequences::GOES_ON;
use crate::nn::Input;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

impl Learner<'_> {
    /// [`Learner::act_range`] of the first `m` environments of the list, with checked arguments.
    pub(in crate::learn::learner) fn act_for_store(
        &mut self,
        begin: usize,
        m: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        mut action: ElementsMut<'_>,
    ) -> Result {
        let a = self.shape().action_len as usize;
        let bytes = self.see_some("learner act: a finite obs", begin, m, obs, mask)?;
        let envs = Rows::new(block::rows(self.work.row, 0, m, 1)?, 0);
        recall(self.carry, self.begins, envs, self.sizes.state_len(), self.work.state)?;
        self.say(m, With::Acting, bytes)?;
        self.choose(m)?;
        // No error is possible from here on.
        let envs = Rows::new(block::rows(self.work.row, 0, m, 1)?, 0);
        envs.put(block::rows(self.work.rng, 0, m, 1)?, 1, self.act_rng)?;
        self.begin(begin, m, obs, false)?;
        let rows = Rows::new(block::rows(self.work.row, 0, m, 1)?, begin as u32);
        let numbers = block::rows_mut(self.work.vector, 0, m, self.sizes.std_len)?;
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        head.stretch(numbers);
        match &mut action {
            ElementsMut::I32(action) => rows.put(self.work.choice, a, action)?,
            ElementsMut::F32(action) => rows.put(numbers, a, action)?,
            ElementsMut::U8(action) => {
                let all = Raw { choice: self.work.choice, vector: numbers };
                for (k, row) in rows.iter().enumerate() {
                    head.join(all.row(k, head.lens())?, block::rows_mut(action, row, 1, a)?)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the observations and masks of the first `m` environments of the list, and copies them to the working arrays.
    /// Returns the observations instead if the networks read these bytes.
    fn see_some<'o>(
        &mut self,
        what: &'static str,
        begin: usize,
        m: usize,
        obs: Elements<'o>,
        mask: Option<&[u8]>,
    ) -> Result<Option<&'o [u8]>> {
        let bytes = self.see_rows(what, begin, m, obs, mask)?;
        let (begun, num_begun) = (&self.replay.begun, &*self.replay.num_begun);
        let list = block::rows(self.work.row, 0, m, 1)?;
        for (row, env) in Rows::new(list, begin as u32).iter().zip(list) {
            self.sizes.replay.ring.check(&self.sizes.seen, begun.pixels, num_begun, *env as usize, (obs, row))?;
        }
        Ok(bytes)
    }

    /// [`Learner::see_some`] of rows that do not continue those of environments.
    pub(super) fn see_rows<'o>(
        &mut self,
        what: &'static str,
        begin: usize,
        m: usize,
        obs: Elements<'o>,
        mask: Option<&[u8]>,
    ) -> Result<Option<&'o [u8]>> {
        let (w, seen) = (&mut self.work, &self.sizes.seen);
        let rows = Rows::new(block::rows(w.row, 0, m, 1)?, begin as u32);
        let bytes = rows.bytes(self.sizes.reads_front, seen, obs);
        if bytes.is_none() {
            seen.check_finite(what, obs, (rows.see(seen, obs, w.raw)?, 0), rows.iter())?;
        }
        normalize(&self.actor, [&*self.obs_mean, self.obs_var], m, w.raw, w.obs)?;
        Head::new(&self.actor, self.taken.read(), &[]).check_mask_rows(mask, rows.iter())?;
        if let Some(mask) = mask {
            rows.get(mask, self.sizes.masks, w.mask)?;
        }
        Ok(bytes)
    }

    /// Begins a transition for each of the first `m` environments of the list, with the actions in the working arrays.
    /// Transitions that are `n_step` steps old are added to the store.
    fn begin(&mut self, begin: usize, m: usize, obs: Elements<'_>, shown_by_host: bool) -> Result {
        let (choices, numbers) = (self.taken.n.len(), self.sizes.std_len);
        for k in 0..m {
            let env = *self.work.row.get(k).ok_or(LayoutError)? as usize;
            let row = env.wrapping_sub(begin);
            let count = *self.replay.num_begun.get(env).ok_or(LayoutError)?;
            let begun = self.begun_row(env, count);
            let mut frames = [ZEROS; MAX_STACK];
            if count >= self.config.n_step.into() {
                let next = Some((&obs, row));
                frames = self.place(env, count, next)?;
                self.store_begun(begun, next, &frames, k)?;
            }
            copy_row(&frames, self.replay.begun_frames, (0, begun, self.sizes.replay.ring.stack.num))?;
            let b = &mut self.replay.begun;
            match obs {
                Elements::F32(x) if self.sizes.pixels_len == 0 => copy_row(x, b.obs, (row, begun, self.sizes.obs_len))?,
                _ => copy_row(obs.bytes(), b.pixels, (row, begun, self.sizes.pixels_len))?,
            }
            copy_row(self.work.mask, b.mask, (k, begun, self.sizes.replay.own_masks))?;
            copy_row(self.work.choice, b.choice, (k, begun, choices))?;
            copy_row(self.work.vector, b.vector, (k, begun, numbers))?;
            if self.config.sequence_len > 0 {
                // The state before the step goes to the store; that after it is kept for the next step.
                let width = self.sizes.state_len();
                let (own, begins) =
                    (block::rows_mut(self.carry, env, 1, width)?, block::rows_mut(self.begins, env, 1, 1)?);
                if *begins != [GOES_ON] {
                    own.fill(0.0);
                }
                block::copy(block::rows_mut(b.state, begun, 1, width)?, own);
                block::copy(block::rows_mut(b.begin, begun, 1, 1)?, begins);
                block::copy(own, block::rows(self.work.state, k, 1, width)?);
                begins.fill(GOES_ON);
            }
            if let Some(shown) = self.replay.begun_shown.get_mut(begun) {
                *shown = u8::from(shown_by_host);
            }
            *b.reward.get_mut(begun).ok_or(LayoutError)? = 0.0;
            *b.discount.get_mut(begun).ok_or(LayoutError)? = 1.0;
            *self.open.get_mut(env).ok_or(LayoutError)? = 1;
            copy_row(self.work.obs, self.new_obs, (k, env, self.obs_mean.len()))?;
            block::rows_mut(self.staged, env, 1, self.obs_mean.len().min(1))?.fill(1);
            *self.replay.num_begun.get_mut(env).ok_or(LayoutError)? = count.saturating_add(1);
        }
        Ok(())
    }

    /// [`Learner::demonstrate`] with checked shapes.
    pub(in crate::learn::learner) fn demonstrate_to_store(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
    ) -> Result {
        let n = self.sizes.n;
        let listed = select("learner demonstrate: active flags", 0..n, active, (self.open, 0), self.work.row);
        let done = listed.and_then(|m| match m {
            0 => Ok(()),
            _ => self.demonstrate_on(m, obs, mask, action),
        });
        self.clear_scratch();
        done
    }

    fn demonstrate_on(&mut self, m: usize, obs: Elements<'_>, mask: Option<&[u8]>, action: Elements<'_>) -> Result {
        let bytes = self.see_some("learner demonstrate: a finite obs", 0, m, obs, mask)?;
        if self.sizes.state_len() > 0 {
            let envs = Rows::new(block::rows(self.work.row, 0, m, 1)?, 0);
            recall(self.carry, self.begins, envs, self.sizes.state_len(), self.work.state)?;
            self.say(m, With::Acting, bytes)?;
        }
        let (a, masks) = (self.shape().action_len as usize, self.sizes.masks);
        let w = &mut self.work;
        let rows = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        match action {
            Elements::I32(action) => drop(rows.get(action, a, w.choice)?),
            Elements::F32(action) => drop(rows.get(action, a, w.vector)?),
            Elements::U8(_) => {}
        }
        for (k, env) in rows.iter().enumerate() {
            let mask = (masks > 0).then(|| block::rows(w.mask, k, 1, masks)).transpose()?;
            let [picks, numbers] = head.lens();
            let choice = block::rows_mut(w.choice, k, 1, picks)?;
            let vector = block::rows_mut(w.vector, k, 1, numbers)?;
            let exists = match action {
                Elements::U8(bytes) => head.part(block::rows(bytes, env, 1, a)?, choice, vector).is_ok(),
                _ => true,
            };
            let fits = exists && head.could_take(choice, mask) && head.shrink(vector);
            let what = "learner demonstrate: the action of environment {given} is outside of the action space, or not allowed.";
            Error::new(Kind::Value, what).given(env).fail_if(!fits)?;
        }
        self.begin(0, m, obs, true)?;
        // Episodes with demonstrations are excluded from the agent's statistics.
        for env in Rows::new(block::rows(self.work.row, 0, m, 1)?, 0).iter() {
            *self.replay.shown.get_mut(env).ok_or(LayoutError)? = 1;
            self.episodes.forget(env);
        }
        Ok(())
    }

    /// Replaces the best choices of the first `m` environments of the list by the actions to take, or draws actions around the
    /// means. The random streams advance in the working array only.
    fn choose(&mut self, m: usize) -> Result {
        let (c, l, masks) = (self.config, self.shape().num_outputs as usize, self.sizes.masks);
        let (epsilon, w) = (c.exploration(self.state.num_steps), &mut self.work);
        let (n, numbers) = (&*self.taken.n, self.sizes.std_len);
        let envs = Rows::new(block::rows(w.row, 0, m, 1)?, 0);
        for (k, rng) in envs.get(self.act_rng, 1, w.rng)?.iter_mut().enumerate() {
            let is_random = rng.uniform_f32() < epsilon;
            let mask = (masks > 0).then(|| block::rows(w.mask, k, 1, masks)).transpose()?;
            let (drawn, done) = (block::rows_mut(w.choice, k, 1, n.len())?, block::rows_mut(w.vector, k, 1, numbers)?);
            if is_random {
                draw_any(n, mask, rng, drawn);
                done.fill_with(|| 2.0 * rng.uniform_f32() - 1.0);
                continue;
            }
            if !c.needs().critics {
                continue;
            }
            let noise = block::rows_mut(w.noise, k, 1, n.len().saturating_add(numbers))?;
            let (uniform, noise) = noise.split_at_mut_checked(n.len()).ok_or(LayoutError)?;
            let said = block::rows(w.outputs, k, 1, l)?;
            let (logits, mean) = said.split_at_checked(l.saturating_sub(numbers)).ok_or(LayoutError)?;
            if !n.is_empty() {
                uniform.fill_with(|| rng.uniform_f32());
                categorical::sample(&Logits { num_rows: 1, n, logits, mask }, Sampling::Basic, uniform, drawn)?;
            }
            if numbers == 0 {
                continue;
            }
            rng.fill_normal(noise);
            if c.needs().temperature {
                let log_std = block::rows(w.batch.others, k, 1, numbers)?;
                sac::act((c.log_std_min, c.log_std_max), mean, log_std, noise, done, &mut [0.0]);
            } else {
                td3::smooth((c.exploration_noise, f32::MAX), mean, noise, done);
            }
        }
        Ok(())
    }

    /// Computes the outputs of the policy for `m` rows, which are encoded in the working arrays or are these bytes, with or
    /// without noise, and the best choices. Errors: `Value`.
    pub(super) fn say(&mut self, m: usize, with: With, bytes: Option<&[u8]>) -> Result {
        let (o, l) = (self.sizes.seen.len, self.shape().num_outputs as usize);
        let (w, net, of) = (&mut self.work, &self.sizes.net, self.config.value_head());
        let seen = either(bytes, block::rows(w.raw, 0, m, o)?);
        let outputs = block::rows_mut(w.outputs, 0, m, net.head_len(0))?;
        let others = block::rows_mut(w.batch.others, 0, m, net.head_len(1))?;
        let states = block::rows_mut(w.state, 0, m, net.state_len())?;
        let params = match with {
            With::Acting => Self::acting(self.config, self.acting, self.params),
            _ => self.state.shown(self.config, self.acting, self.params),
        };
        let params = if with == With::Means { params } else { noise::of(params, self.noisy) };
        let params = params.get(..net.param_len()).ok_or(LayoutError)?;
        q::infer(net, params, seen, m, states, w.scratch, outputs, others)?;
        check_finite(STATES, states)?;
        let what = "learner act: outputs that do not overflow";
        check_finite(what, outputs).and(check_finite(what, others))?;
        if !of.is_mean() {
            q::combine(self.taken.n, of.width(), outputs, others);
            let means = block::rows_mut(w.batch.means, 0, m, l)?;
            of.means(outputs, means);
            check_finite(what, means)?;
        }
        if self.config.needs().critics {
            return Ok(());
        }
        let allowed = block::rows(w.mask, 0, m, self.sizes.masks)?;
        let mask = (self.sizes.masks > 0).then_some(allowed);
        let best = block::rows_mut(w.choice, 0, m, self.taken.n.len())?;
        q::best(self.taken.n, if of.is_mean() { outputs } else { block::rows(w.batch.means, 0, m, l)? }, mask, best)
    }

    /// [`Learner::predict`] with checked arguments.
    pub(in crate::learn::learner) fn predict_by_store(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let (n, l) = (self.sizes.n, self.shape().num_outputs as usize);
        recurrent.start(self.sizes.state_len(), block::rows_mut(self.work.state, 0, n, self.sizes.state_len())?);
        self.see_all("learner predict: a finite obs", obs, mask, With::Means)?;
        let (c, w) = (self.config, &mut self.work);
        let said = block::rows_mut(if c.value_head().is_mean() { w.outputs } else { w.batch.means }, 0, n, l)?;
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        block::copy(w.rng, self.predict_rng);
        head.noise(w.rng, w.noise);
        if self.sizes.std_len > 0 {
            let spread = match sampling {
                Sampling::Greedy => 0.0,
                Sampling::Temperature(temperature) => temperature,
                _ => 1.0,
            };
            let log_std = block::rows(w.batch.others, 0, n, self.sizes.net.head_len(1))?;
            let act = |mean: &[f32], log_std: &[f32], noise: &mut [f32], to: &mut [f32]| {
                noise.iter_mut().for_each(|x| *x *= spread);
                if c.needs().temperature {
                    sac::act((c.log_std_min, c.log_std_max), mean, log_std, noise, to, &mut [0.0]);
                } else {
                    td3::act(mean, to);
                }
                head.stretch(to);
            };
            if let ElementsMut::U8(action) = action {
                let ([picks, numbers], noise) = (head.lens(), &mut *w.noise);
                let width = self.sizes.net.head_len(1);
                head.each_row(n, action, |i, choice, vector| {
                    let Said { logits, mean, mask } = head.said(said, mask, i)?;
                    let noise = block::rows_mut(noise, i, 1, picks.saturating_add(numbers))?;
                    let (uniform, normal) = noise.split_at_mut_checked(picks).ok_or(LayoutError)?;
                    if picks > 0 {
                        categorical::sample(&head.logits(1, logits, mask), sampling, uniform, choice)?;
                    }
                    act(mean, block::rows(log_std, i, 1, width)?, normal, vector);
                    Ok(())
                })?;
            } else if let ElementsMut::F32(action) = action {
                act(said, log_std, w.noise, action);
            }
        } else {
            if !c.needs().critics {
                said.iter_mut().for_each(|x| *x *= Q_LOGIT_SCALE);
            }
            head.draw(n, said, mask, sampling, w.noise, action)?;
        }
        block::copy(recurrent.state, block::rows(w.state, 0, n, self.sizes.state_len())?);
        block::copy(self.predict_rng, w.rng);
        Ok(())
    }

    /// [`Learner::value`] with checked arguments.
    pub(in crate::learn::learner) fn value_by_store(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        value: &mut [f32],
    ) -> Result {
        let n = self.sizes.n;
        self.view().head()?.check_mask(mask, n)?;
        list(0..n, self.work.row)?;
        let envs = Rows::new(block::rows(self.work.row, 0, n, 1)?, 0);
        recall(self.carry, self.begins, envs, self.sizes.state_len(), self.work.state)?;
        let bytes = self.see_all("learner value: a finite obs", obs, mask, With::Learning)?;
        let at = self.value_rows(n, bytes)?;
        block::copy(value, block::rows(self.work.scalar, at, n, 1)?);
        Ok(())
    }

    /// Computes the outputs of the policy for all observations. Returns these if the networks read them as bytes.
    fn see_all<'o>(
        &mut self,
        what: &'static str,
        obs: Elements<'o>,
        mask: Option<&[u8]>,
        with: With,
    ) -> Result<Option<&'o [u8]>> {
        let bytes = match obs {
            Elements::U8(bytes) if self.sizes.reads_front > 0 => Some(bytes),
            _ => None,
        };
        if bytes.is_none() {
            self.sizes.seen.rows(obs, self.sizes.n, self.work.raw)?;
            check_rows(what, self.work.raw, self.sizes.seen.len, 0..)?;
            let moments = [&*self.obs_mean, self.obs_var];
            normalize(&self.actor, moments, self.sizes.n, self.work.raw, self.work.obs)?;
        }
        let allowed = block::rows_mut(self.work.mask, 0, self.sizes.n, self.sizes.masks)?;
        match mask {
            Some(mask) => block::copy(allowed, mask),
            None => allowed.fill(1),
        }
        self.say(self.sizes.n, with, bytes)?;
        Ok(bytes)
    }
}

/// Normalizes the encoded observations in the first `m` rows of `raw`, which are then in `before` as they were.
fn normalize(actor: &ActorConfig, moments: [&[f64]; 2], m: usize, raw: &mut [f32], before: &mut [f32]) -> Result {
    if actor.normalize_obs == 0 {
        return Ok(());
    }
    let [mean, var] = moments;
    let (raw, before) = (block::rows_mut(raw, 0, m, mean.len())?, block::rows_mut(before, 0, m, mean.len())?);
    block::copy(before, raw);
    see(actor, mean, var, before, raw)
}

/// Observations that networks read: these bytes, or else their encoding.
pub(super) fn either<'o>(bytes: Option<&'o [u8]>, encoded: &'o [f32]) -> Input<'o> {
    bytes.map_or(Input::F32(encoded), Input::of_bytes)
}

/// Draws each element of an action uniformly from its allowed choices.
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
