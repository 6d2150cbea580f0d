//! The results of steps: transitions are stored once their next observation is known.

use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::learner::Learner;
use crate::learn::learner::observe::is_cut;
use crate::learn::rows::copy_row;
use crate::learn::store::replay::TransitionsMut;
use crate::learn::store::ring::ZEROS;
use crate::learn::store::sequences::{BEGINS, BEGINS_AFTER_CUT};
use crate::num;
use crate::space::Elements;

impl Learner<'_> {
    /// [`Learner::observe`] of the first `m` environments of the list, with checked arguments; `final_obs` if one of these was
    /// truncated.
    pub(in crate::learn::learner) fn observe_for_store(
        &mut self,
        m: usize,
        [reward, duration]: [&[f32]; 2],
        flags: [&[u8]; 2],
        final_obs: Option<Elements<'_>>,
        final_mask: Option<&[u8]>,
    ) -> Result {
        if let Some(obs) = &final_obs {
            let envs = block::rows(self.work.row, 0, m, 1)?.iter().map(|&env| env as usize);
            for env in envs.filter(|&env| is_cut(flags, env)) {
                let (r, sizes) = (&self.replay, &self.sizes);
                sizes.replay.ring.check(&sizes.seen, r.begun.pixels, r.num_begun, env, (*obs, env))?;
            }
        }
        self.update_obs_stats()?;
        if self.config.normalize_reward != 0 {
            self.scale_rewards(m, [reward, duration], flags)?;
        }
        for k in 0..m {
            let env = *self.work.row.get(k).ok_or(LayoutError)? as usize;
            let (is_cut, terminated) = (is_cut(flags, env), flags[0].get(env) != Some(&0));
            let (next, mask) = (final_obs.as_ref().filter(|_| is_cut), final_mask.filter(|_| is_cut));
            let reward = *reward.get(env).ok_or(LayoutError)?;
            let discount = if terminated { 0.0 } else { self.config.discount_over(duration.get(env)) };
            self.complete(env, [reward, discount], terminated, next, mask)?;
        }
        self.count(m as u64);
        Ok(())
    }

    /// Adds a reward to the pending transitions of an environment, and stores these if the episode ends. `next` and `mask` are
    /// given if it was truncated; the environment's row there is that of the last observation.
    fn complete(
        &mut self,
        env: usize,
        [reward, next_discount]: [f32; 2],
        terminated: bool,
        next: Option<&Elements<'_>>,
        mask: Option<&[u8]>,
    ) -> Result {
        let (masks, next, over) = (self.sizes.masks, next.map(|obs| (obs, env)), terminated || next.is_some());
        let allowed = block::rows_mut(self.work.mask, 0, 1, masks)?;
        match mask {
            Some(mask) => block::copy(allowed, block::rows(mask, env, 1, masks)?),
            None => allowed.fill(1),
        }
        let count = *self.replay.num_begun.get(env).ok_or(LayoutError)?;
        let frames = if over { self.place(env, count, next)? } else { [ZEROS; MAX_STACK] };
        for number in count.saturating_sub(self.config.n_step.into())..count {
            let begun = self.begun_row(env, number);
            let sum = self.replay.begun.reward.get_mut(begun).ok_or(LayoutError)?;
            let discount = self.replay.begun.discount.get_mut(begun).ok_or(LayoutError)?;
            *sum = num::clamp(*sum + *discount * self.config.limited(reward), f32::MIN, f32::MAX);
            *discount *= next_discount;
            if over {
                self.store_begun(begun, next, &frames, 0)?;
            }
        }
        *self.replay.num_begun.get_mut(env).ok_or(LayoutError)? = if over { 0 } else { count };
        *self.open.get_mut(env).ok_or(LayoutError)? = 0;
        if let Some(begins) = self.begins.get_mut(env).filter(|_| over) {
            *begins = BEGINS;
        }
        let shown = self.replay.shown.get_mut(env).ok_or(LayoutError)?;
        if *shown == 0 {
            self.episodes.step(env, reward, over);
        } else if over {
            *shown = 0;
        }
        Ok(())
    }

    /// Counts environment steps, and the gradient steps that become due. Whether the store has a batch for them is known once no
    /// update runs.
    fn count(&mut self, steps: u64) {
        let enough = self.state.runs_besides(self.config) || self.has_batch();
        let (c, s) = (self.config, &mut *self.state);
        let passed = |steps: u64| steps.checked_div(c.train_interval.into()).unwrap_or(0);
        let before = s.num_steps;
        s.num_steps = before.saturating_add(steps);
        if s.num_steps >= c.learning_starts.into() && enough {
            let updates = passed(s.num_steps).saturating_sub(passed(before)).min(c.num_envs.into());
            s.due = (updates as u32).saturating_mul(c.gradient_steps);
        }
    }

    /// Whether the store holds as many transitions as a batch, with kept demonstrations.
    pub(super) fn has_batch(&self) -> bool {
        self.view().stored().saturating_add(self.view().kept()) >= self.config.batch_size as usize
    }

    /// The row of an environment's transition with this number in its episode. Only the last `n_step` numbers have rows.
    pub(super) fn begun_row(&self, env: usize, number: u64) -> usize {
        let n = self.config.n_step;
        let own = number.checked_rem(n.into()).unwrap_or(0) as usize;
        env.saturating_mul(n as usize).saturating_add(own)
    }

    /// Stores a begun transition. `next` is the next observation, a row of these observations with the frame numbers `frames`;
    /// `None`: the episode terminated. The next observation's mask is row `mask` of the working array.
    pub(super) fn store_begun(
        &mut self,
        begun: usize,
        next: Option<(&Elements<'_>, usize)>,
        frames: &[u64],
        mask: usize,
    ) -> Result {
        if self.config.buffer_size == 0 {
            return Ok(());
        }
        let (sizes, choices) = (&self.sizes, self.taken.n.len());
        // All columns are named, so that a new one does not compile until it is stored here.
        #[rustfmt::skip]
        let TransitionsMut {
            obs, pixels, frame, next_obs, next_pixels, next_frame, stamp, next_mask,
            mask: own_mask, choice, vector, reward, discount, state, begin, before,
        } = &mut self.replay.store;
        let from = &self.replay.begun;
        let slots = self.config.buffer_size as usize;
        // The first demonstrations are kept behind the ring.
        let keeps = self.replay.begun_shown.get(begun).is_some_and(|shown| *shown != 0)
            && self.state.num_kept < self.config.demonstration_size.into();
        let slot = match keeps {
            true => slots.saturating_add(self.state.num_kept as usize),
            false => self.state.num_stored.checked_rem(slots as u64).unwrap_or(0) as usize,
        };
        let row = |width| (begun, slot, width);
        copy_row(from.obs, obs, row(sizes.obs_len))?;
        let (whole, rest) = (sizes.pixels_len, sizes.rest_len());
        sizes.keep_rest(block::rows(from.pixels, begun, 1, whole)?, block::rows_mut(pixels, slot, 1, rest)?)?;
        copy_row(from.mask, own_mask, row(sizes.replay.own_masks))?;
        copy_row(from.choice, choice, row(choices))?;
        copy_row(from.vector, vector, row(sizes.std_len))?;
        copy_row(from.reward, reward, row(1))?;
        copy_row(from.discount, discount, row(1))?;
        copy_row(from.state, state, row(sizes.state_len()))?;
        copy_row(from.begin, begin, row(from.begin.len().min(1)))?;
        if let Some(before) = before.get_mut(slot) {
            let env = begun.checked_div(self.config.n_step as usize).unwrap_or(0);
            let (number, last) = match keeps {
                true => (self.state.num_kept, self.replay.last_kept.get_mut(env)),
                false => (self.state.num_stored, self.replay.last.get_mut(env)),
            };
            let last = last.ok_or(LayoutError)?;
            let ago = number.saturating_add(1).saturating_sub(*last);
            *before = if *last == 0 { 0 } else { u32::try_from(ago).unwrap_or(0) };
            *last = number.saturating_add(1);
            // After a transition in the other part, the one that is linked to is not the previous one.
            if let Some(was_kept) = self.replay.was_kept.get_mut(env) {
                if *was_kept != u8::from(keeps)
                    && let Some(begin) = begin.get_mut(slot)
                {
                    *begin = BEGINS_AFTER_CUT;
                }
                *was_kept = u8::from(keeps);
            }
        }
        copy_row(self.work.mask, next_mask, (mask, slot, sizes.masks))?;
        match next {
            Some((Elements::F32(x), row)) if sizes.pixels_len == 0 => {
                copy_row(x, next_obs, (row, slot, sizes.obs_len))?
            }
            Some((x, row)) => {
                sizes.keep_rest(block::rows(x.bytes(), row, 1, whole)?, block::rows_mut(next_pixels, slot, 1, rest)?)?
            }
            None => {
                block::rows_mut(next_obs, slot, 1, sizes.obs_len)?.fill(0.0);
                block::rows_mut(next_pixels, slot, 1, rest)?.fill(0);
            }
        }
        let (ring, num) = (&sizes.replay.ring, sizes.replay.ring.stack.num);
        ring.tell(block::rows(self.replay.begun_frames, begun, 1, num)?, block::rows_mut(frame, slot, 1, num)?);
        ring.tell(frames, block::rows_mut(next_frame, slot, 1, num)?);
        block::rows_mut(stamp, slot, 1, num.min(1))?.fill(self.state.num_frames as u32);
        // An update does not draw transitions that arrive while it runs.
        let weight = if self.state.runs_besides(self.config) { 0.0 } else { self.state.largest };
        let weighs = self.config.priority_exponent > 0.0;
        if keeps {
            if weighs {
                self.replay.kept_weights.set_checked(&[self.state.num_kept as u32], &[weight]);
            }
            self.state.num_kept = self.state.num_kept.saturating_add(1);
            return Ok(());
        }
        if self.view().stored() == self.config.buffer_size as usize {
            self.state.num_gone = self.state.num_gone.saturating_add(1);
        }
        self.state.num_stored = self.state.num_stored.saturating_add(1);
        if weighs {
            self.replay.weights.set_checked(&[slot as u32], &[weight]);
        }
        Ok(())
    }

    /// Removes the oldest transition of the store.
    pub(super) fn remove_oldest(&mut self) {
        let slot = self.state.num_gone.checked_rem(self.config.buffer_size.into()).unwrap_or(0) as u32;
        self.state.num_gone = self.state.num_gone.saturating_add(1);
        if self.config.priority_exponent > 0.0 {
            self.replay.weights.set_checked(&[slot], &[0.0]);
        }
    }

    /// [`Learner::cut_rows`], with checked flags; `None`: [`Learner::cut_acted`].
    pub(in crate::learn::learner) fn cut_in_store(&mut self, gone: Option<&[u8]>) -> Result {
        self.update_obs_stats()?;
        self.clear_scratch();
        let r = &mut self.replay;
        let rows = self.open.iter_mut().zip(&mut *r.num_begun).zip(&mut *r.shown);
        for (env, ((open, count), shown)) in rows.enumerate() {
            if gone.map_or(Some(&*open), |gone| gone.get(env)) != Some(&0) {
                if let Some(begins) = self.begins.get_mut(env).filter(|_| *count > 0) {
                    *begins = BEGINS_AFTER_CUT;
                }
                (*open, *count, *shown) = (0, 0, 0);
                self.episodes.forget(env);
                if let Some(running) = self.running_return.get_mut(env) {
                    *running = 0.0;
                }
            }
        }
        Ok(())
    }
}
