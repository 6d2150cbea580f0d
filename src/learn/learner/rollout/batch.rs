//! Transfer of rollouts from the learner that recorded them to the one that learns from them.

use crate::block::{self, LayoutError, rows, rows_mut};
use crate::error::{Error, Kind, Result, check_finite, check_len, check_rows};
use crate::learn::actor::{Head, Raw, check_action};
use crate::learn::learner::update::OVERFLOWED;
use crate::learn::learner::{Learner, Stats, View};
use crate::learn::struct_action::MAX_EACH;
use crate::space::{Elements, ElementsMut};

/// The T * N transitions of a rollout, with the data that an update needs.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// `[T * N, seen_len]` network inputs: bytes divided by 255, choices one-hot, and normalized with `normalize_obs`.
    pub obs: &'a [f32],
    /// `[T * N, action_len]`, continuous ones before squashing or clipping.
    pub action: Elements<'a>,
    /// `[T * N, mask_len]` flags of allowed choices; empty without `use_action_mask`.
    pub mask: &'a [u8],
    /// `[T * N]` log-probabilities of the actions.
    pub log_prob: &'a [f32],
    /// `[T * N]` values of the observations.
    pub value: &'a [f32],
    /// `[T * N]` advantages of the actions; with IMPALA the rewards, since it computes advantages when it learns, as the learner
    /// that recorded them has clipped and normalized them.
    pub advantage: &'a [f32],
    /// `[T * N]` value targets; with IMPALA one-step targets.
    pub value_target: &'a [f32],
    /// `[T * N, state_len]` recurrent states before the step; empty without recurrent layers.
    pub state: &'a [f32],
    /// `[T * N]` 1: an episode begins; empty without recurrent layers, except with IMPALA.
    pub begin: &'a [u8],
    /// `[T * N]` indices of the environments, below N; the transitions of each are in time order. Empty without `begin` and
    /// without frames that are stored once.
    pub env: &'a [u32],
    /// `[T * N]` how long the actions lasted; empty without `use_duration`.
    pub duration: &'a [f32],
    /// Statistics of the learner that recorded the rollout, in the layout of [`View::read_moments`]; empty without
    /// normalization.
    pub moments: &'a [f64],
}

/// Mutable version of `Batch`.
#[derive(Debug)]
pub struct BatchMut<'a> {
    /// See [`Batch`].
    pub obs: &'a mut [f32],
    /// See [`Batch`].
    pub action: ElementsMut<'a>,
    /// See [`Batch`].
    pub mask: &'a mut [u8],
    /// See [`Batch`].
    pub log_prob: &'a mut [f32],
    /// See [`Batch`].
    pub value: &'a mut [f32],
    /// See [`Batch`].
    pub advantage: &'a mut [f32],
    /// See [`Batch`].
    pub value_target: &'a mut [f32],
    /// See [`Batch`].
    pub state: &'a mut [f32],
    /// See [`Batch`].
    pub begin: &'a mut [u8],
    /// See [`Batch`].
    pub env: &'a mut [u32],
    /// See [`Batch`].
    pub duration: &'a mut [f32],
    /// See [`Batch`].
    pub moments: &'a mut [f64],
}

impl BatchMut<'_> {
    fn read(&self) -> Batch<'_> {
        Batch {
            obs: self.obs,
            action: self.action.as_ref(),
            mask: self.mask,
            log_prob: self.log_prob,
            value: self.value,
            advantage: self.advantage,
            value_target: self.value_target,
            state: self.state,
            begin: self.begin,
            env: self.env,
            duration: self.duration,
            moments: self.moments,
        }
    }
}

impl Learner<'_> {
    /// Begins an update with a rollout that was recorded elsewhere, in place of one of its own: `learn`, or `learn_range` and
    /// `learn_apply`, continue it. The statistics of the recording learner replace the learner's own, also while they are
    /// frozen, because parameters learned from normalized observations belong to the statistics that normalized them.
    /// Statistics of a rollout that several learners have recorded are merged with
    /// [`merge_moments`](crate::learn::merge_moments).
    ///
    /// Auxiliary tasks do not keep its steps, since it has no rewards.
    ///
    /// Errors: `NotReady` if this learner has recorded steps or an update is running; `Config` with noisy layers, except with
    /// IMPALA, because it would not learn with the noise that acted; `Shape`; `Value` for numbers that are not finite, and for
    /// choices that do not exist or that their mask forbids; those of [`Learner::write_moments`].
    pub fn learn_batch(&mut self, batch: &Batch<'_>) -> Result<Stats> {
        let _changing = self.mark.begin();
        self.config.check_rollouts()?;
        if self.state.updating != 0 || self.state.end != self.state.begin {
            return Err(Error::new(Kind::NotReady, "learner learn_batch: the learner has already recorded steps."));
        }
        let others = !self.noise.is_empty() && !self.config.needs().corrections;
        let what = "learner learn_batch: no noisy layers, unless with IMPALA";
        Error::new(Kind::Config, what).fail_if(others)?;
        let what = "learner learn_batch: an algorithm other than a stream one, which learns from its own steps alone";
        Error::new(Kind::Config, what).fail_if(self.config.needs().traces)?;
        let view = self.view();
        view.check_batch(batch)?;
        view.check_numbers(batch)?;
        view.check_batch_actions(batch)?;
        view.check_frames(batch)?;
        self.write_moments(batch.moments)?;
        self.fill(batch)?;
        let (s, m) = (&mut *self.state, self.config.batch_len() as u32);
        let end = s.begin.saturating_add(m);
        (s.learn_begin, s.learn_end) = (s.begin, end);
        (s.end, s.complete) = (end, m);
        s.num_steps = s.num_steps.saturating_add(m.into());
        self.hand_over()?;
        let done = self.begin_learning();
        self.finish(done, OVERFLOWED)
    }

    /// Copies a checked batch to the rollout.
    fn fill(&mut self, batch: &Batch<'_>) -> Result {
        let (r, at, m) = (&mut self.rollout, self.state.begin as usize, self.config.batch_len());
        let (frames, front, width) = (self.sizes.frames.encoded(), self.sizes.pixels_len, self.sizes.obs_len);
        let mut spare = None;
        for (row, obs) in batch.obs.chunks_exact(self.sizes.seen.len.max(1)).enumerate() {
            let (obs, rest) = obs.split_at_checked(front).ok_or(LayoutError)?;
            block::copy(rows_mut(r.obs, at.saturating_add(row), 1, width)?, rest);
            if frames.stack.is_kept() {
                let (place, numbers) = frames.find_in_batch(r.frame, (batch.obs, batch.env), at, row, &mut spare)?;
                frames.keep((r.frame, r.pixels), &place, &numbers, obs, byte)?;
            } else {
                let pixels = rows_mut(r.pixels, at.saturating_add(row), 1, front)?;
                pixels.iter_mut().zip(obs).for_each(|(to, x)| *to = byte(*x));
            }
        }
        let head = Head::new(&self.actor, self.taken.read(), &[]);
        let [k, a] = head.lens();
        let (choice, vector) = (rows_mut(r.choice, at, m, k)?, rows_mut(r.vector, at, m, a)?);
        match batch.action {
            Elements::I32(from) => block::copy(choice, from),
            Elements::F32(from) => block::copy(vector, from),
            Elements::U8(action) => head.part(action, choice, vector)?,
        }
        block::copy(rows_mut(r.mask, at, m, self.sizes.masks)?, batch.mask);
        block::copy(rows_mut(r.log_prob, at, m, 1)?, batch.log_prob);
        block::copy(rows_mut(r.value, at, m, 1)?, batch.value);
        block::copy(rows_mut(r.advantage, at, m, 1)?, batch.advantage);
        block::copy(rows_mut(r.value_target, at, m, 1)?, batch.value_target);
        block::copy(rows_mut(r.state, at, m, self.sizes.state_len())?, batch.state);
        block::copy(rows_mut(r.begin, at, m, self.config.has_sequences().into())?, batch.begin);
        rows_mut(r.env, at, m, 1)?.fill(0);
        block::copy(rows_mut(r.env, at, m, 1)?, batch.env);
        block::copy(rows_mut(r.duration, at, m, self.config.use_duration as usize)?, batch.duration);
        Ok(())
    }
}

impl View<'_> {
    /// Copies the transitions of the running update: its first T * N transitions, which are all unless environments act
    /// independently. A learner that only records ends its update by [`Learner::learn_drop`]. Errors: `NotReady` if no update
    /// is running; `Shape`.
    pub fn read_batch(&self, to: BatchMut<'_>) -> Result {
        self.config.check_rollouts()?;
        if self.state.updating == 0 {
            return Err(Error::new(Kind::NotReady, "learner read_batch: no update is running."));
        }
        self.check_batch(&to.read())?;
        let (r, m, at) = (&self.rollout, self.config.batch_len(), self.state.learn_begin as usize);
        let stack = &self.sizes.frames.stack;
        let stacked = stack.is_kept().then_some((stack, r.frame));
        for (slot, to) in (at..at.saturating_add(m)).zip(to.obs.chunks_exact_mut(self.sizes.seen.len.max(1))) {
            self.sizes.assemble((r.obs, r.pixels), stacked, slot, to)?;
        }
        let head = self.head()?;
        let [k, a] = head.lens();
        let raw = Raw { choice: rows(r.choice, at, m, k)?, vector: rows(r.vector, at, m, a)? };
        match to.action {
            ElementsMut::I32(choice) => block::copy(choice, raw.choice),
            ElementsMut::F32(vector) => block::copy(vector, raw.vector),
            ElementsMut::U8(action) => head.join(raw, action)?,
        }
        block::copy(to.mask, rows(r.mask, at, m, self.sizes.masks)?);
        block::copy(to.log_prob, rows(r.log_prob, at, m, 1)?);
        block::copy(to.value, rows(r.value, at, m, 1)?);
        block::copy(to.advantage, rows(r.advantage, at, m, 1)?);
        block::copy(to.value_target, rows(r.value_target, at, m, 1)?);
        let (begin, env) = self.order_len();
        block::copy(to.state, rows(r.state, at, m, self.sizes.state_len())?);
        block::copy(to.begin, rows(r.begin, at, m, usize::from(begin > 0))?);
        block::copy(to.env, rows(r.env, at, m, usize::from(env > 0))?);
        block::copy(to.duration, rows(r.duration, at, m, self.config.use_duration as usize)?);
        self.read_moments(to.moments)
    }

    fn check_batch(&self, b: &Batch<'_>) -> Result {
        let (m, shape) = (self.config.batch_len(), &self.actor.shape);
        check_len("learner batch: obs", b.obs, m.saturating_mul(shape.seen_len as usize))?;
        check_action(shape, m, b.action.kind(), b.action.len())?;
        check_len("learner batch: mask flags", b.mask, m.saturating_mul(self.sizes.masks))?;
        check_len("learner batch: log_prob", b.log_prob, m)?;
        check_len("learner batch: value", b.value, m)?;
        check_len("learner batch: advantage", b.advantage, m)?;
        check_len("learner batch: value_target", b.value_target, m)?;
        let (begin, env) = self.order_len();
        check_len("learner batch: state", b.state, m.saturating_mul(self.sizes.state_len()))?;
        check_len("learner batch: begin", b.begin, begin)?;
        check_len("learner batch: env", b.env, env)?;
        check_len("learner batch: duration", b.duration, m.saturating_mul(self.config.use_duration as usize))?;
        self.check_moments(b.moments)
    }

    /// Errors: `Value` for numbers that are not finite, symbols, episode begins and environments that do not exist.
    fn check_numbers(&self, batch: &Batch<'_>) -> Result {
        let m = self.config.batch_len();
        let columns = [batch.obs, batch.log_prob, batch.value, batch.advantage, batch.value_target, batch.state];
        let width = |numbers: &[f32]| numbers.len().checked_div(m).unwrap_or(0);
        let numbers = columns.into_iter().chain(match batch.action {
            Elements::F32(vector) => Some(vector),
            _ => None,
        });
        for numbers in numbers {
            check_rows("learner learn_batch: finite numbers", numbers, width(numbers), 0..)?;
        }
        let what = "learner learn_batch: finite durations of at least 0";
        let wrong = batch.duration.iter().any(|x| !(0.0..=f32::MAX).contains(x));
        Error::new(Kind::Value, what).fail_if(wrong)?;
        self.sizes.net.check_symbols(batch.obs, |row| row)?;
        let what = "learner learn_batch: begin of 0 or 1, and env below num_envs";
        let wrong =
            batch.begin.iter().any(|&begin| begin > 1) || batch.env.iter().any(|&env| env >= self.config.num_envs);
        Error::new(Kind::Value, what).fail_if(wrong)
    }

    /// Errors: `Value` for choices that do not exist or that their mask forbids, for masks that forbid all, and for numbers in
    /// actions of several parts that are not finite.
    fn check_batch_actions(&self, batch: &Batch<'_>) -> Result {
        let (head, flags) = (self.head()?, self.sizes.masks);
        let mask = Some(batch.mask).filter(|_| self.config.use_action_mask != 0);
        head.check_mask(mask, self.config.batch_len())?;
        let action = match batch.action {
            Elements::I32(choice) => return head.check_choices(FORBIDDEN, choice, mask),
            Elements::F32(_) => return Ok(()),
            Elements::U8(action) => action,
        };
        let (mut choice, mut vector) = ([0; MAX_EACH], [0.0; MAX_EACH]);
        let [k, a] = head.lens();
        let (choice, vector) = (rows_mut(&mut choice, 0, 1, k)?, rows_mut(&mut vector, 0, 1, a)?);
        for (i, action) in action.chunks_exact((self.actor.shape.action_len as usize).max(1)).enumerate() {
            head.part(action, choice, vector)?;
            check_finite("learner learn_batch: finite numbers", vector).map_err(|e| e.in_row(i))?;
            let mask = if flags > 0 { Some(rows(batch.mask, i, 1, flags)?) } else { None };
            head.check_choices(FORBIDDEN, choice, mask).map_err(|e| e.in_row(i))?;
        }
        Ok(())
    }

    /// Errors: `Value` for observations that cannot be stored as bytes, or as frames.
    fn check_frames(&self, batch: &Batch<'_>) -> Result {
        let is_byte = |x: &f32| (f32::from(byte(*x)) / 255.0).to_bits() == x.to_bits();
        let what = "learner learn_batch: observations that are bytes divided by 255";
        let front = |row: &[f32]| row.iter().take(self.sizes.pixels_len).all(is_byte);
        let fits = batch.obs.chunks_exact(self.sizes.seen.len.max(1)).all(front);
        Error::new(Kind::Value, what).fail_if(!fits)?;
        if self.sizes.frames.stack.is_kept() {
            let (first, frames, mut spare) = (self.state.begin as usize, self.sizes.frames.encoded(), None);
            for row in 0..self.config.batch_len() {
                frames.find_in_batch(self.rollout.frame, (batch.obs, batch.env), first, row, &mut spare)?;
            }
        }
        Ok(())
    }
}

/// The requirement on the choices of a batch.
const FORBIDDEN: &str = "learner learn_batch: choices that exist and are allowed";

/// The byte of an observation that was divided by 255.
fn byte(x: f32) -> u8 {
    (x * 255.0 + 0.5) as u8
}
