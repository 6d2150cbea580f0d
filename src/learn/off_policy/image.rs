//! What `attach` asks of the block of a learner off policy.

use super::layout::{TransitionView, block_plan, front};
use super::{PARAM_LIMIT, TEMPERATURE_LIMIT, View};
use crate::block::{self, Kind as BlockKind, Plan};
use crate::error::{Error, Kind, Result, check_finite};
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::learn::stored::Stored;
use crate::rng::Rng;

impl<'a> View<'a> {
    /// Reads bytes that a learner was copied to, once everything in them is checked that a later call relies on. Errors:
    /// `Align`, `Size`, `Image`.
    pub fn attach(mem: &'a [u8]) -> Result<View<'a>> {
        let image = |what| Error::new(Kind::Image, what);
        block::attach(mem, BlockKind::OffPolicy, |s: &Stored| {
            s.check_off_policy()?;
            let (front, critic, spans) = front(&mut Plan::default(), s)?;
            let (policy, parts, n) = front.read(mem)?;
            let (policy, critic) = (
                s.actor().network(policy, parts, n, s.outputs() as usize)?,
                s.accept_critic(block::view(mem, critic)?, parts)?,
            );
            if [policy.num_heads(), policy.head_len(1), policy.state_len()] != s.heads() {
                return Err(image("learner image: the network of its algorithm"));
            }
            s.config.check_noise(policy.noise_len())?;
            block::check_plan(mem, spans, block_plan(s, [policy, critic])?)
        })?;
        let view = View::open(mem)?;
        let (s, c) = (&view.state, view.config);
        view.actor.check_actions(&view.taken, &[], 0.0..=0.0)?;
        let last = if c.has_critics() { 2 } else { 1 };
        if !(s.rng.is_valid() && view.act_rng.iter().chain(view.predict_rng).all(Rng::is_valid)) {
            return Err(image("learner image: valid random streams"));
        }
        if [view.open, view.shown, view.done].into_iter().flatten().any(|&x| x > 1)
            || s.frozen > 1
            || s.reserved != 0
            || s.begun > last
        {
            return Err(image("learner image: flags of 0 or 1"));
        }
        if view.open.iter().zip(view.num_begun).any(|(open, count)| (*open, *count) == (1, 0)) {
            return Err(image("learner image: a transition of each environment that has acted"));
        }
        let small = view.params.iter().chain(view.target).all(|x| x.abs() <= PARAM_LIMIT);
        let [noise, noisy] = noise::limits(PARAM_LIMIT);
        let noisy = view.noisy.iter().chain(view.noisy_target).all(|x| x.abs() <= noisy);
        let small = small && noisy && view.layer_noise.iter().all(|x| x.abs() <= noise);
        let more = [s.policy_loss, s.entropy, s.log_std, s.temperature_m, s.temperature_v];
        let finite = [view.adam_m, view.adam_v, view.noise, &more].iter().all(|x| check_finite("", x).is_ok());
        let small = small && s.log_temperature.abs() <= TEMPERATURE_LIMIT && s.temperature_v >= 0.0;
        let own: [f64; size_of::<Sums>() / size_of::<f64>()] = bytemuck::cast(s.sums);
        let sums = view.adam_v.iter().all(|x| *x >= 0.0) && own.iter().all(|x| x.is_finite());
        if !(small && finite && sums && s.value_sum.is_finite() && view.episodes.are_right()) {
            return Err(image("learner image: finite parameters within their limit, and finite statistics"));
        }
        if !(0.0..=1.0).contains(&s.learning_rate) {
            return Err(image("learner image: a learning rate that a configuration can have"));
        }
        let stored = view.stored();
        let used = view.used();
        let thinned = !view.is_thinned() || view.sizes.ring.stack.is_kept();
        if s.num_gone > s.num_stored || stored > used || !thinned {
            return Err(image("learner image: transitions that are stored"));
        }
        let drawn = s.begun == 0 || view.order.iter().all(|&slot| view.holds(slot as usize));
        let most = c.num_envs.saturating_mul(c.gradient_steps);
        if !drawn || s.due > most || (s.due > 0 && stored < c.batch_size as usize) || (s.begun > 0 && s.due == 0) {
            return Err(image("learner image: gradient steps that can be due, with batches of what is stored"));
        }
        let (weights, weighs) = (&view.weights, c.priority_exponent > 0.0);
        weights.check_image(weights.len())?;
        let right = |slot| (weights.weight(slot) > 0.0) == (weighs && view.holds(slot));
        let shares = view.importance.iter().all(|x| (0.0..=1.0).contains(x))
            && view.error.iter().all(|x| *x >= 0.0 && *x <= f32::MAX);
        if !((0..weights.len()).all(right) && shares && s.largest > 0.0 && s.largest <= f32::MAX) {
            return Err(image("learner image: a weight of each transition that is stored"));
        }
        // What environments have begun leads to nothing yet.
        view.check_rows(&view.store, used, true)?;
        view.check_rows(&view.begun, view.begun.reward.len(), false)?;
        Ok(view)
    }

    /// What is known of transitions: finite numbers, choices that are there, and if they are over something allowed after them.
    fn check_rows(&self, rows: &TransitionView<'_>, count: usize, over: bool) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        let choice = block::rows(rows.choice, 0, count, self.taken.n.len())?;
        let mask = block::rows(rows.next_mask, 0, count, self.sizes.masks)?;
        let own = block::rows(rows.mask, 0, count, self.sizes.own_masks)?;
        let own = (self.sizes.own_masks > 0).then_some(own);
        let allowed = self.sizes.masks == 0 || !over || self.head().check_mask(Some(mask), count).is_ok();
        if !(self.head().could_take(choice, own) && self.head().check_mask(own, count).is_ok() && allowed) {
            return Err(image("learner image: choices that are there, and something allowed after them"));
        }
        let numbers = [
            block::rows(rows.obs, 0, count, self.sizes.obs)?,
            block::rows(rows.next_obs, 0, count, self.sizes.obs)?,
            block::rows(rows.reward, 0, count, 1)?,
            block::rows(rows.discount, 0, count, 1)?,
        ];
        let vector = block::rows(rows.vector, 0, count, self.sizes.vector)?;
        if vector.iter().any(|x| !(-1.0..=1.0).contains(x)) {
            return Err(image("learner image: actions from -1 to 1"));
        }
        let coded = |all: &[u8]| {
            all.chunks_exact(self.sizes.pixels.max(1)).take(count).all(|bytes| self.sizes.seen.can_be(bytes))
        };
        let seen = !self.sizes.seen.coded || coded(rows.pixels) && coded(rows.next_pixels);
        if !seen || numbers.iter().any(|numbers| check_finite("", numbers).is_err()) {
            return Err(image("learner image: finite observations, rewards and discounts"));
        }
        if ![rows.frame, rows.next_frame].into_iter().all(|frames| self.sizes.ring.are_there(frames)) {
            return Err(image("learner image: numbers of frames that exist"));
        }
        Ok(())
    }
}
