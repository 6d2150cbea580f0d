//! Acting and other evaluations of the networks, over rollouts.

use crate::block::{self, Fit, LayoutError};
use crate::error::{Result, check_finite, check_len, check_rows};
use crate::learn::actor::{Head, Raw, Recurrent, Sampling, check_action, check_obs, see};
use crate::learn::actor_config::{ActorConfig, POLICY, VALUE};
use crate::learn::learner::act::{STATES, recall};
use crate::learn::learner::layout::{Sizes, log_std};
use crate::learn::learner::{Learner, With};
use crate::learn::noise;
#[cfg(feature = "pqn")]
use crate::learn::policy::Q_LOGIT_SCALE;
#[cfg(feature = "pqn")]
use crate::learn::q_values;
use crate::learn::rows::{Rows, list};
use crate::learn::store::frames::Place;
use crate::learn::store::rollout::NONE;
use crate::nn::Input;
use crate::space::{Elements, ElementsMut};

impl Learner<'_> {
    /// [`Learner::act_range`] of the first `m` environments of the list, with checked arguments: all results stay in the
    /// working arrays until no further error is possible.
    pub(in crate::learn::learner) fn act_for_rollout(
        &mut self,
        begin: usize,
        m: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        self.draw_actions(begin, m, obs, mask)?;
        let end = self.find_slots(m)?;
        self.record_pixels(begin, m, obs)?;
        self.record_actions(m)?;
        self.hand_out(begin, m, action)?;
        self.state.end = end;
        Ok(())
    }

    /// Encodes the observations, runs the networks and draws actions: these, their log-probabilities, values, recurrent states
    /// and advanced random streams are then in the working arrays.
    fn draw_actions(&mut self, begin: usize, m: usize, obs: Elements<'_>, mask: Option<&[u8]>) -> Result {
        let (shape, sizes, w) = (&self.actor.shape, &self.sizes, &mut self.work);
        let list = block::rows(w.row, 0, m, 1)?;
        let (envs, rows) = (Rows::new(list, 0), Rows::new(list, begin as u32));
        let moments = [&*self.obs_mean, self.obs_var];
        let what = "learner act: a finite obs";
        let (_, seen) = encode(&self.actor, sizes, moments, what, rows, obs, [&mut *w.raw, w.obs])?;
        let all = mask;
        let mask = match mask {
            Some(mask) => Some(&*rows.get(mask, shape.mask_len(), w.mask)?),
            None => None,
        };
        let params = noise::of(Self::acting(self.config, self.acting, self.params), self.noisy);
        let head = Head::new(&self.actor, self.taken.read(), log_std(params, sizes)?);
        head.check_mask_rows(all, rows.iter())?;
        let outputs = block::rows_mut(w.outputs, 0, m, shape.num_outputs as usize)?;
        let mut columns = w.scalar.chunks_exact_mut(m.max(1));
        let mut column = || columns.next().ok_or(LayoutError);
        let (value, log_prob, entropy) = (column()?, column()?, column()?);
        let states = recall(self.carry, self.begins, envs, sizes.state_len(), w.state)?;
        let heads = sizes.net.num_heads().min(2);
        let outs = &mut [&mut *outputs, &mut *value];
        let outs = outs.get_mut(..heads).ok_or(LayoutError)?;
        sizes.net.infer(params, seen, m, POLICY | VALUE, states, w.scratch, outs)?;
        check_finite(STATES, states)?;
        let choice = block::rows_mut(w.choice, 0, m, self.taken.n.len())?;
        let vector = block::rows_mut(w.vector, 0, m, sizes.std_len)?;
        let noise = block::rows_mut(w.noise, 0, m, shape.draw_len())?;
        head.noise(envs.get(self.act_rng, 1, w.rng)?, noise);
        #[cfg(feature = "pqn")]
        if self.config.needs().q {
            head.best(m, outputs, mask, ElementsMut::I32(choice))?;
            q_values::explore(self.taken.n, self.config.exploration(self.state.num_steps), mask, noise, choice);
            q_values::values(self.taken.n, outputs, mask, value);
            return Ok(());
        }
        head.sample(m, outputs, mask, Sampling::Basic, noise, choice, vector)?;
        head.evaluate(outputs, mask, Raw { choice, vector }, log_prob, entropy)
    }

    /// Lists the slots of the transitions, and returns the end of the slots in use.
    fn find_slots(&mut self, m: usize) -> Fit<u32> {
        let (mut end, w) = (self.state.end, &mut self.work);
        for (slot, env) in block::rows_mut(w.slot, 0, m, 1)?.iter_mut().zip(&*w.row) {
            *slot = *self.slot.get(*env as usize).ok_or(LayoutError)?;
            if *slot == NONE {
                *slot = end;
                end = end.saturating_add(1);
            }
        }
        Ok(end)
    }

    /// Records pictures that are stored as bytes, or as frames. Errors: `Value`; then nothing is recorded.
    fn record_pixels(&mut self, begin: usize, m: usize, obs: Elements<'_>) -> Result {
        let (r, w, frames, width) = (&mut self.rollout, &mut self.work, &self.sizes.frames, self.sizes.pixels_len);
        if width == 0 {
            return Ok(());
        }
        let recorded = (self.state.begin as usize, self.state.end as usize);
        let place = |(&env, &slot): (&u32, &u32)| Place { env: env as usize, slot: slot as usize, recorded };
        let places = || w.row.iter().zip(&*w.slot).take(m).map(place);
        let (seen, row_of) = (&self.sizes.seen, |place: &Place| place.env.wrapping_sub(begin));
        let row = |place: &Place| seen.front(obs, row_of(place), width);
        if frames.stack.is_kept() {
            let mut spare = None;
            for (place, to) in places().zip(w.frame.chunks_exact_mut(frames.stack.num)) {
                let numbers = frames.find((r.env, r.frame, r.pixels), &place, row(&place)?, &mut spare)?;
                to.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
            }
            for (place, numbers) in places().zip(w.frame.chunks_exact(frames.stack.num)) {
                frames.keep((r.frame, r.pixels), &place, numbers, row(&place)?, |x| x)?;
            }
        } else {
            for place in places() {
                seen.copy_front(obs, row_of(&place), block::rows_mut(r.pixels, place.slot, 1, width)?)?;
            }
        }
        Ok(())
    }

    /// Records the transitions that begin, besides their pixels.
    fn record_actions(&mut self, m: usize) -> Result {
        let (sizes, r, w) = (&self.sizes, &mut self.rollout, &mut self.work);
        let (list, slots) = (block::rows(w.row, 0, m, 1)?, block::rows(w.slot, 0, m, 1)?);
        let (envs, slots) = (Rows::new(list, 0), Rows::new(slots, 0));
        match sizes.pixels_len {
            // The network's input has the picture in front of the numbers that are recorded.
            front if front > 0 && sizes.reads_front == 0 => {
                for (k, slot) in slots.iter().enumerate() {
                    let seen = block::rows(w.obs, k, 1, sizes.seen.len)?.get(front..).ok_or(LayoutError)?;
                    block::copy(block::rows_mut(r.obs, slot, 1, sizes.obs_len)?, seen);
                }
            }
            _ => slots.put(w.obs, sizes.obs_len, r.obs)?,
        }
        slots.put(w.choice, self.taken.n.len(), r.choice)?;
        slots.put(w.vector, sizes.std_len, r.vector)?;
        slots.put(block::rows(w.scalar, 0, 1, m)?, 1, r.value)?;
        slots.put(block::rows(w.scalar, 1, 1, m)?, 1, r.log_prob)?;
        slots.put(list, 1, r.env)?;
        slots.put(w.mask, sizes.masks, r.mask)?;
        if self.config.records_episode_starts() {
            // The states before the step go to the rollout; those after it are kept for the next step.
            for (k, (env, slot)) in envs.iter().zip(slots.iter()).enumerate() {
                let begins = block::rows_mut(self.begins, env, 1, 1)?;
                let own = block::rows_mut(self.carry, env, 1, sizes.state_len())?;
                if *begins != [0] {
                    own.fill(0.0);
                }
                block::copy(block::rows_mut(r.state, slot, 1, sizes.state_len())?, own);
                block::copy(block::rows_mut(r.begin, slot, 1, 1)?, begins);
                block::copy(own, block::rows(w.state, k, 1, sizes.state_len())?);
                begins.fill(0);
            }
        }
        envs.put(w.rng, 1, self.act_rng)?;
        envs.put(w.slot, 1, self.slot)?;
        envs.put(w.raw, self.obs_mean.len(), self.new_obs)?;
        for env in envs.iter() {
            *self.open.get_mut(env).ok_or(LayoutError)? = 1;
            if let Some(staged) = self.staged.get_mut(env) {
                *staged = 1;
            }
        }
        Ok(())
    }

    /// Writes the actions in the working arrays to the caller's rows, in the environment's form.
    fn hand_out(&self, begin: usize, m: usize, mut action: ElementsMut<'_>) -> Result {
        let (w, a) = (&self.work, self.actor.shape.action_len as usize);
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let [choices, numbers] = head.lens();
        let raw = Raw { choice: block::rows(w.choice, 0, m, choices)?, vector: block::rows(w.vector, 0, m, numbers)? };
        if m == action.len().checked_div(a.max(1)).unwrap_or(0) {
            return head.to_env(raw, action);
        }
        for (k, env) in w.row.iter().take(m).enumerate() {
            let row = (*env as usize).wrapping_sub(begin);
            let to = action.get(row.saturating_mul(a), row.saturating_add(1).saturating_mul(a)).ok_or(LayoutError)?;
            head.to_env(raw.row(k, head.lens())?, to)?;
        }
        Ok(())
    }

    pub(in crate::learn::learner) fn predict_by_rollout(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let n = self.config.num_envs as usize;
        recurrent.start(self.sizes.state_len(), block::rows_mut(self.work.state, 0, n, self.sizes.state_len())?);
        list(0..n, self.work.some)?;
        self.infer("learner predict: a finite obs", obs, n, POLICY, With::Means)?;
        let shape = &self.actor.shape;
        let w = &mut self.work;
        let log_std = log_std(Self::acting(self.config, self.acting, self.params), &self.sizes)?;
        let outputs = block::rows(w.outputs, 0, n, shape.num_outputs as usize)?;
        let head = Head::new(&self.actor, self.taken.read(), log_std);
        block::copy(w.rng, self.predict_rng);
        let noise = block::rows_mut(w.noise, 0, n, shape.draw_len())?;
        head.noise(w.rng, noise);
        let states = block::rows(w.state, 0, n, self.sizes.state_len())?;
        check_finite(STATES, states)?;
        head.draw(n, outputs, mask, sampling, noise, action)?;
        block::copy(recurrent.state, states);
        block::copy(self.predict_rng, w.rng);
        Ok(())
    }

    /// [`Learner::value`] with checked arguments.
    pub(in crate::learn::learner) fn value_by_rollout(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        value: &mut [f32],
    ) -> Result {
        self.look("learner value: a finite obs", obs, mask, VALUE)?;
        let values = block::rows(self.work.scalar, 0, self.sizes.n, 1)?;
        check_finite("learner value: values that do not overflow", values)?;
        block::copy(value, values);
        Ok(())
    }

    /// Log-probability and entropy of an action of each environment: `obs` and `mask` as [`Learner::act`]; `action` `[N,
    /// action_len]`, continuous ones as sampled by the policy, before squashing or clipping; `log_prob` and `entropy` `[N]`;
    /// recurrent layers read the current state of each environment. Nothing is recorded.
    ///
    /// Errors: as [`Learner::act`]; `Disabled` over a store; `Value` for an action that does not exist, that the mask forbids,
    /// or that is not finite.
    pub fn log_prob(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
        log_prob: &mut [f32],
        entropy: &mut [f32],
    ) -> Result {
        let _changing = self.mark.begin();
        self.config.check_rollouts()?;
        let n = self.config.num_envs as usize;
        let view = self.view();
        check_obs("learner log_prob: obs", view.shape(), n, &obs)?;
        check_action(view.shape(), n, action.kind(), action.len())?;
        check_len("learner log_prob: log-probabilities", log_prob, n)?;
        check_len("learner log_prob: entropies", entropy, n)?;
        self.check_mask(mask, n)?;
        let head = view.head()?;
        head.check_mask(mask, n)?;
        match action {
            Elements::I32(choice) => head.check_choices(FORBIDDEN, choice, mask)?,
            Elements::F32(vector) => {
                check_rows("learner log_prob: finite actions", vector, view.shape().action_len as usize, 0..)?;
            }
            _ => {}
        }
        let done = self.log_prob_of(obs, mask, action, log_prob, entropy);
        self.clear_scratch();
        done
    }

    fn log_prob_of(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
        log_prob: &mut [f32],
        entropy: &mut [f32],
    ) -> Result {
        self.look("learner log_prob: a finite obs", obs, mask, POLICY)?;
        let (n, w) = (self.config.num_envs as usize, &mut self.work);
        let log_std = log_std(Self::acting(self.config, self.acting, self.params), &self.sizes)?;
        let outputs = block::rows(w.outputs, 0, n, self.actor.shape.num_outputs as usize)?;
        check_finite("learner log_prob: outputs that do not overflow", outputs)?;
        let head = Head::new(&self.actor, self.taken.read(), log_std);
        let raw = match action {
            Elements::I32(choice) => Raw { choice, vector: &[] },
            Elements::U8(action) => {
                let [k, v] = head.lens();
                let (choice, vector) = (block::rows_mut(w.choice, 0, n, k)?, block::rows_mut(w.vector, 0, n, v)?);
                head.part(action, choice, vector)?;
                check_rows("learner log_prob: finite actions", vector, v, 0..)?;
                head.check_choices(FORBIDDEN, choice, mask)?;
                Raw { choice, vector }
            }
            Elements::F32(vector) => Raw { choice: &[], vector },
        };
        let (ours, rest) = w.scalar.split_at_mut_checked(n).ok_or(LayoutError)?;
        let entropies = block::rows_mut(rest, 0, n, 1)?;
        head.evaluate(outputs, mask, raw, ours, entropies)?;
        check_finite("learner log_prob: log-probabilities that do not overflow", ours)?;
        block::copy(log_prob, ours);
        block::copy(entropy, entropies);
        Ok(())
    }

    /// [`Learner::infer`] of all observations, with the acting parameters.
    fn look(&mut self, what: &'static str, obs: Elements<'_>, mask: Option<&[u8]>, head: u32) -> Result {
        let n = list(0..self.config.num_envs as usize, self.work.some)?;
        self.look_at_some(what, obs, mask, n, head, With::Acting)
    }

    /// [`Learner::infer`] of these rows of observations and masks; without masks, all choices are allowed. `some` of the
    /// working arrays lists the `count` rows.
    pub(in crate::learn::learner) fn look_at_some(
        &mut self,
        what: &'static str,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        count: usize,
        head: u32,
        with: With,
    ) -> Result {
        self.view().head()?.check_mask_rows(mask, Rows::new(block::rows(self.work.some, 0, count, 1)?, 0).iter())?;
        let (w, flags) = (&mut self.work, self.sizes.masks);
        let some = Rows::new(block::rows(w.some, 0, count, 1)?, 0);
        match mask {
            Some(mask) => drop(some.get(mask, flags, w.mask)?),
            None => block::rows_mut(w.mask, 0, count, flags)?.fill(1),
        }
        recall(self.carry, self.begins, some, self.sizes.state_len(), w.state)?;
        let done = self.infer(what, obs, count, head, with);
        self.tidy_scratch();
        done
    }

    /// Runs one head of the networks on the `m` rows that `some` of the working arrays lists, and on the first rows of
    /// recurrent states, with these parameters. The outputs are then in the working arrays: `outputs` of the policy, values in
    /// the first column. Values of Q are over the choices that `mask` of the working arrays allows.
    fn infer(&mut self, what: &'static str, obs: Elements<'_>, m: usize, head: u32, with: With) -> Result {
        let (shape, sizes, w) = (&self.actor.shape, &self.sizes, &mut self.work);
        let some = Rows::new(block::rows(w.some, 0, m, 1)?, 0);
        let moments = [&*self.obs_mean, self.obs_var];
        let (_, seen) = encode(&self.actor, sizes, moments, what, some, obs, [&mut *w.raw, w.obs])?;
        let params = match with {
            With::Learning => &*self.params,
            _ => Self::acting(self.config, self.acting, self.params),
        };
        let params = if with == With::Means { params } else { noise::of(params, self.noisy) };
        let states = block::rows_mut(w.state, 0, m, self.sizes.state_len())?;
        #[cfg(feature = "pqn")]
        if self.config.needs().q {
            let q = block::rows_mut(w.outputs, 0, m, shape.num_outputs as usize)?;
            self.sizes.net.infer(params, seen, m, POLICY, states, w.scratch, &mut [&mut *q])?;
            if head == VALUE {
                let flags = self.sizes.masks;
                let mask = if flags > 0 { Some(block::rows(w.mask, 0, m, flags)?) } else { None };
                q_values::values(self.taken.n, q, mask, block::rows_mut(w.scalar, 0, m, 1)?);
            }
            q.iter_mut().for_each(|q| *q *= Q_LOGIT_SCALE);
            return Ok(());
        }
        let to = match head {
            POLICY => block::rows_mut(w.outputs, 0, m, shape.num_outputs as usize)?,
            _ => block::rows_mut(w.scalar, 0, m, 1)?,
        };
        self.sizes.net.infer(params, seen, m, head, states, w.scratch, &mut [to])
    }
}

/// Encodes rows of observations in `raw`, and in `to` if they are normalized or have to be gathered. Returns the encoding before
/// normalization, empty without, and the network input. Errors: `Value` with `what` for values that are not finite.
pub(super) fn encode<'t>(
    actor: &ActorConfig,
    sizes: &Sizes<'_>,
    [mean, var]: [&[f64]; 2],
    what: &'static str,
    rows: Rows<'_>,
    obs: Elements<'t>,
    [raw, to]: [&'t mut [f32]; 2],
) -> Result<(&'t [f32], Input<'t>)> {
    if actor.normalize_obs == 0 {
        let front = sizes.reads_front;
        let seen = rows.input(front, &sizes.seen, obs, to)?;
        sizes.seen.check_finite(what, obs, (seen.numbers(), front), rows.iter())?;
        return Ok((&[], seen));
    }
    let raw = rows.see(&sizes.seen, obs, raw)?;
    sizes.seen.check_finite(what, obs, (raw, 0), rows.iter())?;
    let to = block::rows_mut(to, 0, rows.len(), sizes.seen.len)?;
    see(actor, mean, var, raw, to)?;
    Ok((raw, Input::F32(to)))
}

/// The requirement on the choices whose log-probability is computed.
const FORBIDDEN: &str = "learner log_prob: choices that exist and are allowed";
