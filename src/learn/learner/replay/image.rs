//! Checks of a replay store and of the batch drawn from it by `attach`.

use crate::block;
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::moments;
use crate::learn::learner::{PARAM_LIMIT, View};
use crate::learn::noise;
use crate::learn::store::replay::TransitionView;
use crate::learn::store::sequences::BEGINS_AFTER_CUT;

impl View<'_> {
    /// Checks a learner over a replay store.
    pub(in crate::learn::learner) fn check_replay_image(&self) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        let (s, c, r) = (&self.state, self.config, &self.replay);
        if r.shown.iter().any(|&x| x > 1) {
            return Err(image("learner image: flags of 0 or 1"));
        }
        let flags = r.begun_shown.iter().chain(r.was_kept).any(|&x| x > 1);
        let kept = s.begun_kept <= s.num_kept && s.num_kept <= c.demonstration_size.into();
        let last = r.last_kept.iter().any(|last| *last > s.num_kept);
        let numbers = [s.imitation_coef, s.value_size].iter().any(|x| !(0.0..=f32::MAX).contains(x));
        if flags || !kept || last || numbers {
            return Err(image("learner image: demonstrations that are kept"));
        }
        if self.open.iter().zip(r.num_begun).any(|(open, count)| (*open, *count) == (1, 0)) {
            return Err(image("learner image: a transition of each environment that has acted"));
        }
        let [_, noisy] = noise::limits(PARAM_LIMIT);
        let moments = moments::check_moments(r.obs_mean, r.obs_var, s.obs_count);
        let returns = moments::check_moments(&[s.return_mean], &[s.begun_return_var], s.return_count);
        if moments.is_err() || returns.is_err() {
            return Err(image("learner image: finite statistics of the update"));
        }
        let small = r.target.iter().all(|x| x.abs() <= PARAM_LIMIT) && r.noisy_target.iter().all(|x| x.abs() <= noisy);
        if !small || check_finite("", r.draws).is_err() {
            return Err(image("learner image: finite parameters within their limit, and finite statistics"));
        }
        let stored = self.stored();
        let used = self.used();
        let thinned = !self.is_thinned() || self.sizes.replay.ring.stack.is_kept() || c.overlap != 0;
        let [end, gone] = self.drawable();
        let arrived = s.num_stored.checked_sub(end).is_some_and(|count| count <= c.arrivals() as u64);
        if s.num_gone > s.num_stored || stored > used || !thinned || !arrived {
            return Err(image("learner image: transitions that are stored"));
        }
        let drawn = s.updating == 0 || self.order.iter().all(|&slot| self.holds(slot as usize));
        let (most, learns) = (c.num_envs.saturating_mul(c.gradient_steps), s.updating > 0);
        let counts = s.due <= most && s.num_left <= most.into() && learns == (s.num_left > 0);
        let held = end.saturating_sub(gone).saturating_add(self.drawable_kept());
        let enough = (s.due == 0 && !learns) || held >= c.batch_size.into();
        if !drawn || !counts || !enough || (c.overlap == 0 && s.due > 0 && learns) {
            return Err(image("learner image: gradient steps that can be due, with batches of what is stored"));
        }
        let (weights, weighs) = (&self.replay.weights, c.priority_exponent > 0.0);
        weights.check_image(weights.len())?;
        let (of_kept, slots) = (&self.replay.kept_weights, c.buffer_size as usize);
        of_kept.check_image(of_kept.len())?;
        let right = |slot| (weights.weight(slot) > 0.0) == (weighs && slot < slots && self.holds(slot));
        let right_kept = |at: usize| (of_kept.weight(at) > 0.0) == (weighs && self.holds(slots.saturating_add(at)));
        let shares = self.replay.importance.iter().all(|x| (0.0..=1.0).contains(x))
            && self.replay.error.iter().all(|x| *x >= 0.0 && *x <= f32::MAX);
        if !((0..weights.len()).all(right)
            && (0..of_kept.len()).all(right_kept)
            && shares
            && s.largest > 0.0
            && s.largest <= f32::MAX)
        {
            return Err(image("learner image: a weight of each transition that is stored"));
        }
        let ends = s.updating == 0 || r.sequence.iter().all(|&slot| self.holds(slot as usize));
        if !ends || r.last.iter().any(|last| *last > s.num_stored) {
            return Err(image("learner image: sequences of what is stored"));
        }
        // Begun transitions have no next observation yet.
        let store = &self.replay.store;
        self.check_transitions(store, [0, used], true)?;
        if self.kept() > 0 {
            self.check_transitions(store, [slots, self.kept()], true)?;
        }
        self.check_transitions(&self.replay.begun, [0, self.replay.begun.reward.len()], false)?;
        Ok(())
    }

    /// Checks transitions: finite numbers, existing choices, and with `over` an allowed choice in each next observation.
    fn check_transitions(&self, rows: &TransitionView<'_>, [first, count]: [usize; 2], over: bool) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        let choice = block::rows(rows.choice, first, count, self.taken.n.len())?;
        let mask = block::rows(rows.next_mask, first, count, self.sizes.masks)?;
        let own = block::rows(rows.mask, first, count, self.sizes.replay.own_masks)?;
        let own = (self.sizes.replay.own_masks > 0).then_some(own);
        let allowed = self.sizes.masks == 0 || !over || self.head()?.check_mask(Some(mask), count).is_ok();
        if !(self.head()?.could_take(choice, own) && self.head()?.check_mask(own, count).is_ok() && allowed) {
            return Err(image("learner image: choices that are there, and something allowed after them"));
        }
        let numbers = [
            block::rows(rows.obs, first, count, self.sizes.obs_len)?,
            block::rows(rows.next_obs, first, count, self.sizes.obs_len)?,
            block::rows(rows.reward, first, count, 1)?,
            block::rows(rows.discount, first, count, 1)?,
            block::rows(rows.state, first, count, self.sizes.state_len())?,
        ];
        let vector = block::rows(rows.vector, first, count, self.sizes.std_len)?;
        if vector.iter().any(|x| !(-1.0..=1.0).contains(x)) {
            return Err(image("learner image: actions from -1 to 1"));
        }
        // Begun transitions have whole observations.
        let width = if over { self.sizes.rest_len() } else { self.sizes.pixels_len };
        let removed = self.sizes.pixels_len.saturating_sub(width);
        let coded = |all: &[u8]| {
            all.chunks_exact(width.max(1)).skip(first).take(count).all(|bytes| self.sizes.seen.can_be(bytes, removed))
        };
        let seen = !self.sizes.seen.coded || coded(rows.pixels) && coded(rows.next_pixels);
        if !seen || numbers.iter().any(|numbers| check_finite("", numbers).is_err()) {
            return Err(image("learner image: finite observations, rewards and discounts"));
        }
        let begins = rows.begin.iter().skip(first).take(count).all(|begin| *begin <= BEGINS_AFTER_CUT);
        Error::new(Kind::Image, "learner image: steps that begin an episode, or not").fail_if(!begins)?;
        if ![rows.frame, rows.next_frame].into_iter().all(|frames| self.sizes.replay.ring.are_there(frames)) {
            return Err(image("learner image: numbers of frames that exist"));
        }
        Ok(())
    }
}
