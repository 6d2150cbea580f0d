//! Checks of a rollout and of past steps by `attach`.

use crate::block;
use crate::error::{Error, Kind, Result, check_finite};
use crate::learn::learner::View;
use crate::learn::store::history::{GIVEN_UP, NOT_DRAWN};
use crate::learn::store::rollout::{NONE, owner};
use crate::learn::store::shown;
use crate::learn::struct_action::MAX_EACH;
use crate::learn::tasks;
use crate::rng::Rng;

impl View<'_> {
    /// Checks the rollout being recorded, the running update, and past steps.
    pub(in crate::learn::learner) fn check_rollout_image(&self) -> Result {
        let image = |what| Err(Error::new(Kind::Image, what));
        let (s, c) = (&self.state, self.config);
        let entropy = s.entropy_coef.abs() <= c.entropy_coef.abs();
        if !((0.0..=10.0).contains(&s.clip) && entropy) {
            return image("learner image: a clip range and an entropy bonus that a configuration can have");
        }
        if self.prime_age.iter().any(|&age| age >= c.prime_interval) {
            return image("learner image: an older copy of the parameters that is refreshed in time");
        }
        if s.minibatch >= if s.updating != 0 { c.update_len() } else { 1 } {
            return image("learner image: a minibatch inside the update");
        }
        self.check_slots()?;
        self.check_rollout()?;
        self.check_history()?;
        self.check_kept()
    }

    /// Checks kept demonstrations, and those that were drawn.
    fn check_kept(&self) -> Result {
        let image = || Error::new(Kind::Image, "learner image: demonstrations that are kept");
        let (s, c, shown) = (&self.state, self.config, &self.shown);
        let counts = s.begun_kept <= s.num_kept && s.num_kept <= c.demonstration_size.into();
        let coefs = [s.imitation_coef, s.value_size].iter().all(|x| (0.0..=f32::MAX).contains(x));
        let drawn = shown.drawn.iter().all(|row| *row == shown::NOT_DRAWN || u64::from(*row) < s.num_kept);
        image().fail_if(!(counts && coefs && drawn && shown.rng.iter().all(Rng::is_valid)))?;
        let (kept, head, masks) = (s.num_kept as usize, self.head()?, self.sizes.masks);
        let (numbers, bytes) =
            (check_finite("", shown.obs_numbers), shown.obs_bytes.chunks_exact(self.shape().obs_size().max(1)));
        let can_be = !self.sizes.seen.coded || bytes.take(kept).all(|bytes| self.sizes.seen.can_be(bytes, 0));
        let finite = numbers.and(check_finite("", shown.numbers)).is_ok();
        let mask = if masks > 0 { Some(block::rows(shown.mask, 0, kept, masks)?) } else { None };
        let allowed = mask.is_none() || head.check_mask(mask, kept).is_ok();
        image().fail_if(!(finite && can_be && allowed))?;
        let ([k, a], width) = (head.lens(), head.action_len());
        if !shown.choices.is_empty() {
            let choices = block::rows(shown.choices, 0, kept, width)?;
            return image().fail_if(!head.could_take(choices, mask));
        }
        let (mut choice, mut vector) = ([0; MAX_EACH], [0.0; MAX_EACH]);
        for (i, action) in shown.bytes.chunks_exact(width.max(1)).take(kept).enumerate() {
            let (choice, vector) = (block::rows_mut(&mut choice, 0, 1, k)?, block::rows_mut(&mut vector, 0, 1, a)?);
            let mask = mask.map(|mask| block::rows(mask, i, 1, masks)).transpose()?;
            let fits = head.part(action, choice, vector).is_ok() && head.could_take(choice, mask);
            image().fail_if(!(fits && check_finite("", vector).is_ok()))?;
        }
        Ok(())
    }

    /// Checks that every recorded transition has its slot, and that the slot's environment refers to it.
    fn check_slots(&self) -> Result {
        let refuse = Err(Error::new(Kind::Image, "learner image: transitions in their slots"));
        let (s, c, room) = (&self.state, self.config, self.sizes.room as u32);
        let other = if c.overlap != 0 { room } else { 0 };
        let recorded = s.end.wrapping_sub(s.begin);
        if (s.begin != 0 && s.begin != other) || s.end < s.begin || recorded >= room {
            return refuse;
        }
        let mut held = 0u32;
        for (env, (&slot, &open)) in self.slot.iter().zip(self.open).enumerate() {
            if slot == NONE && open == 0 {
                continue;
            }
            if !(s.begin..s.end).contains(&slot) || self.rollout.env.get(slot as usize) != Some(&(env as u32)) {
                return refuse;
            }
            held = held.saturating_add(1);
        }
        let owners = block::rows(self.rollout.env, s.begin as usize, recorded as usize, 1)?;
        if owners.iter().any(|&env| env >= c.num_envs) || s.complete != recorded.wrapping_sub(held) {
            return refuse;
        }
        let most = c.batch_len() as u32;
        if s.updating == 0 {
            return if (s.learn_begin, s.learn_end) == (0, 0) { Ok(()) } else { refuse };
        }
        let learnt = s.learn_end.wrapping_sub(s.learn_begin);
        let apart = if c.overlap != 0 { room.wrapping_sub(s.begin) } else { s.begin };
        let whole = c.overlap != 0 || (s.complete == learnt && self.slot.iter().all(|&slot| slot >= s.learn_end));
        let inside = s.learn_end >= s.learn_begin && learnt >= most && learnt < room;
        if s.learn_begin == apart && inside && whole { Ok(()) } else { refuse }
    }

    /// Checks the data that an update reads: actions that the policy can have taken, finite numbers, and existing rows.
    fn check_rollout(&self) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        let (r, s) = (&self.rollout, &self.state);
        let (begin, recorded) = (s.begin as usize, s.end.saturating_sub(s.begin) as usize);
        self.check_rows(begin, recorded)?;
        for at in begin..begin.saturating_add(recorded) {
            let complete = owner(r.env, self.slot, at)?.1;
            let lasted = r.duration.get(at).is_none_or(|x| (0.0..=f32::MAX).contains(x));
            if complete && (r.reward.get(at).is_none_or(|x| !x.is_finite()) || !lasted) {
                return Err(image("learner image: finite rewards and durations"));
            }
        }
        if s.updating == 0 {
            return Ok(());
        }
        let (begin, learnt) = (s.learn_begin as usize, s.learn_end.saturating_sub(s.learn_begin) as usize);
        self.check_rows(begin, learnt)?;
        let known = |array| block::rows(array, begin, learnt, 1).is_ok_and(|x| check_finite("", x).is_ok());
        let order = self.order.get(..learnt).unwrap_or(&[]);
        let there = order.iter().all(|slot| (s.learn_begin..s.learn_end).contains(slot));
        let numbers = block::rows(r.numbers, begin, learnt, self.config.needs().numbers)?;
        let durations = block::rows(r.duration, begin, learnt, self.config.use_duration as usize)?;
        let lasted = durations.iter().all(|x| (0.0..=f32::MAX).contains(x));
        let known = lasted && known(r.advantage) && known(r.value_target) && check_finite("", numbers).is_ok();
        if !(known && there && check_finite("", self.advantage).is_ok()) {
            return Err(image("learner image: finite advantages, and an order of rows that are there"));
        }
        Ok(())
    }

    /// Checks the data that an update reads of rows whose environments have acted.
    fn check_rows(&self, first: usize, count: usize) -> Result {
        let (r, shape) = (&self.rollout, &self.actor.shape);
        let mask = match self.config.use_action_mask {
            0 => None,
            _ => Some(block::rows(r.mask, first, count, shape.mask_len())?),
        };
        let allowed = self.head()?.check_mask(mask, count).is_ok();
        if !allowed || !self.head()?.could_take(block::rows(r.choice, first, count, self.taken.n.len())?, mask) {
            return Err(Error::new(Kind::Image, "learner image: choices that were there and allowed"));
        }
        let obs = block::rows(r.obs, first, count, self.sizes.obs_len)?;
        let vector = block::rows(r.vector, first, count, self.sizes.std_len)?;
        let state = block::rows(r.state, first, count, self.sizes.state_len())?;
        if [obs, vector, state].iter().any(|numbers| check_finite("", numbers).is_err()) {
            return Err(Error::new(Kind::Image, "learner image: finite observations, actions and states"));
        }
        if !self.sizes.frames.are_there(r.frame, first, count)? {
            return Err(Error::new(Kind::Image, "learner image: numbers of frames that exist"));
        }
        let known = !self.config.records_episode_starts()
            || (block::rows(r.begin, first, count, 1)?.iter().all(|&begin| begin <= 1)
                && block::rows(r.env, first, count, 1)?.iter().all(|&env| env < self.config.num_envs));
        if !known {
            return Err(Error::new(Kind::Image, "learner image: begins of 0 or 1, of environments that are there"));
        }
        Ok(())
    }

    /// Checks past steps.
    fn check_history(&self) -> Result {
        let h = &self.history;
        if !tasks::BUILT || h.next.is_empty() {
            return Ok(());
        }
        let (len, steps) = (self.config.history_len, h.reward.len());
        let numbers = [h.obs, h.vector, h.value, h.log_prob, h.reward, h.final_value, h.state, h.duration];
        let lasted = h.duration.iter().all(|x| *x >= 0.0);
        let numbers = lasted && numbers.iter().all(|x| check_finite("", x).is_ok());
        let (head, mask) = (self.head()?, Some(h.mask).filter(|mask| !mask.is_empty()));
        let choices = head.check_mask(mask, steps).is_ok() && head.could_take(h.choice, mask);
        let there = |x: &u32| *x == NOT_DRAWN || (*x as usize) < steps;
        let places = h.next.iter().all(|&x| x < len)
            && h.held.iter().all(|&x| x <= len)
            && h.sequence.iter().chain(h.last).all(there)
            && h.ends.iter().all(|&x| x <= GIVEN_UP);
        if numbers && choices && places && h.rng.iter().all(Rng::is_valid) {
            return Ok(());
        }
        Err(Error::new(Kind::Image, "learner image: past steps that can have been"))
    }
}
