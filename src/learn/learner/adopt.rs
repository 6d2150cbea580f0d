//! Taking over the knowledge of another learner, or of a policy.
//!
//! The two may differ in N, T, hyperparameters, algorithm, store and networks: tensors go by their names, all else by its meaning.

use super::layout::log_std_mut;
use super::tensors::networks;
use super::{Learner, PARAM_LIMIT, View};
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::kernels::moments::{MAX_COUNT, check_moments};
use crate::learn::policy::Policy;
use crate::learn::role::{is_log_std, is_q_head};
#[cfg(feature = "off_policy")]
use crate::learn::rows::copy_row;
#[cfg(feature = "off_policy")]
use crate::learn::store::replay::TransitionsMut;
use crate::learn::tensors::Networks;
use crate::num;

/// The parameters, and SAC's temperature while it is learned. Target networks become copies of them.
pub const PARAMS: u32 = 1;
/// The parameters of target networks.
pub const TARGETS: u32 = 2;
/// Moments of the optimizer, or traces, and the counts of its steps.
pub const OPTIMIZER: u32 = 4;
/// Statistics that normalize observations and rewards.
pub const MOMENTS: u32 = 8;
/// Environment steps, updates, gradient steps, and the statistics of episodes.
pub const COUNTERS: u32 = 16;
/// The transitions of the replay store.
pub const STORE: u32 = 32;
/// Tensors that only one side has, or with other dimensions, are left out.
pub const MATCHING: u32 = 64;

const TENSORS: u32 = PARAMS | TARGETS | OPTIMIZER;
const ALL: u32 = TENSORS | MOMENTS | COUNTERS | STORE;

/// Why transitions of one store do not belong into another.
const STORES: &str = "learner adopt: transitions of the same spaces, masks, n_step, discount and use_duration.";

impl Learner<'_> {
    /// Takes over the named parts of another learner, a sum of the constants of this module. The newest transitions
    /// that there is room for are added to the store, as its newest ones; those whose `n_step` steps are not complete are left out.
    /// Frozen tensors are taken over too, and the same ones stay frozen here.
    ///
    /// Errors: `NotReady` while an update is due or runs here; `Config` for a sum of other numbers or of none, without
    /// [`MATCHING`] for a tensor that is not there with its name and dimensions, with it if none is, and for parts that the two do not have
    /// in common. Then nothing is written.
    pub fn adopt(&mut self, from: &View<'_>, parts: u32) -> Result {
        let _changing = self.mark.begin();
        self.check_adopting(parts, ALL)?;
        let (own, other) = (networks(&self.sizes, &[]), networks(&from.sizes, &[]));
        if parts & TENSORS != 0 {
            check_tensors(&own, &other, parts & MATCHING != 0)?;
        }
        let refuse = |text, wrong| Error::new(Kind::Config, text).fail_if(wrong);
        let (c, there) = (self.config, from.config);
        if parts & OPTIMIZER != 0 {
            let kinds = [c, there].map(|c| (c.needs().traces, c.optimizer));
            refuse("learner adopt: an optimizer whose moments mean the same in both.", kinds[0] != kinds[1])?;
        }
        if parts & TARGETS != 0 {
            let replay = c.needs().replay && there.needs().replay;
            refuse("learner adopt: target networks in both, which DQN, TD3 and SAC have.", !replay)?;
        }
        if parts & MOMENTS != 0 {
            let lens = (self.view().moments_len(), from.moments_len());
            let text = "learner adopt: as many statistics in both,";
            Error::limit(Kind::Config, text, lens.0, lens.1).fail_if(lens.0 != lens.1)?;
        }
        if parts & STORE != 0 {
            self.check_store(from)?;
        }
        // No error is possible from here on.
        let all = &|_: u32| Some(1.0);
        if parts & OPTIMIZER != 0 {
            own.carry(self.adam_m, &other, from.adam_m, all)?;
            if !c.needs().traces {
                own.carry(self.adam_v, &other, from.adam_v, all)?;
            }
            let (s, t) = (&mut *self.state, &from.state);
            (s.adam_steps, s.critic_steps) = (t.adam_steps, t.critic_steps);
            s.last_duration = t.last_duration;
            if c.needs().temperature && there.needs().temperature {
                (s.temperature_steps, s.temperature_m) = (t.temperature_steps, t.temperature_m);
                s.temperature_v = t.temperature_v;
            }
        }
        if parts & PARAMS != 0 {
            own.carry(self.params, &other, from.params, all)?;
            if c.needs().temperature && there.needs().temperature && c.temperature_rate > 0.0 {
                self.state.log_temperature = from.state.log_temperature;
            }
            self.settle_params()?;
        }
        #[cfg(feature = "off_policy")]
        if parts & TARGETS != 0 {
            own.carry(self.replay.target, &other, from.replay.target, all)?;
            self.add_noise()?;
        }
        if parts & MOMENTS != 0 {
            let (s, t) = (&mut *self.state, &from.state);
            (s.return_mean, s.return_var, s.return_count) = (t.return_mean, t.return_var, t.return_count);
            s.obs_count = t.obs_count;
            block::copy(self.obs_mean, from.obs_mean);
            block::copy(self.obs_var, from.obs_var);
        }
        if parts & COUNTERS != 0 {
            let (s, t) = (&mut *self.state, &from.state);
            (s.num_steps, s.num_updates, s.num_dropped) = (t.num_steps, t.num_updates, t.num_dropped);
            s.num_gradient_steps = t.num_gradient_steps;
            *self.episodes.ended = *from.episodes.ended;
            block::copy(self.episodes.kept.returns, from.episodes.kept.returns);
            block::copy(self.episodes.kept.lens, from.episodes.kept.lens);
        }
        if parts & STORE != 0 {
            self.copy_store(from)?;
        }
        Ok(())
    }

    /// Takes over the parameters and the statistics of observations of a policy: [`PARAMS`], [`MOMENTS`], [`MATCHING`]. Each tensor
    /// of the policy goes to the one of its name; values and critics stay. A policy does not say how many observations its statistics
    /// are made of: they count as `obs_count` here, which decides how fast new ones move them.
    ///
    /// Errors: as [`Learner::adopt`]; `Value` for an `obs_count` that is not above 0 with [`MOMENTS`], or not 0 without, and for a parameter
    /// beyond ± 1e6.
    pub fn adopt_policy(&mut self, from: &Policy<'_>, parts: u32, obs_count: f64) -> Result {
        let _changing = self.mark.begin();
        self.check_adopting(parts, PARAMS | MOMENTS)?;
        let (own, other, replay) = (networks(&self.sizes, &[]), from.networks(), self.config.needs().replay);
        let (params, factor) = from.params();
        if parts & PARAMS != 0 {
            check_tensors(&other, &own, parts & MATCHING != 0)?;
            let wrong = params.iter().find(|x| !(-PARAM_LIMIT..=PARAM_LIMIT).contains(*x));
            let text = "learner adopt: parameters from -1e6 to 1e6";
            Error::new(Kind::Value, text).given_f32(wrong.copied().unwrap_or(0.0)).fail_if(wrong.is_some())?;
        }
        let (mean, var) = from.moments();
        let counts = parts & MOMENTS != 0;
        let text = "learner adopt: obs_count above 0 with the statistics of a policy, and 0 without; of at most 2^64";
        let right = if counts { obs_count > 0.0 && obs_count <= MAX_COUNT } else { obs_count == 0.0 };
        Error::new(Kind::Value, text).given_f32(obs_count as f32).fail_if(!right)?;
        if counts {
            let lens = (self.obs_mean.len(), mean.len());
            let text = "learner adopt: as many statistics in both,";
            Error::limit(Kind::Config, text, lens.0, lens.1).fail_if(lens.0 != lens.1)?;
            check_moments(mean, var, obs_count)?;
            self.state.obs_count = obs_count;
            block::copy(self.obs_mean, mean);
            block::copy(self.obs_var, var);
        }
        if parts & PARAMS == 0 {
            return Ok(());
        }
        // Off policy the deviations that a policy has are the least ones, not those that were learned.
        let factor = |role: u32| match role {
            role if is_log_std(role) && replay => None,
            role if is_q_head(role) => Some(factor),
            _ => Some(1.0),
        };
        own.carry(self.params, &other, params, &factor)?;
        self.settle_params()
    }

    /// Checks that something is taken over, all of which `known` has, and that nothing is being learned.
    fn check_adopting(&self, parts: u32, known: u32) -> Result {
        let text = "learner adopt: a sum of the parts that can be taken over";
        let wrong = parts & !(known | MATCHING) != 0 || parts & known == 0;
        Error::new(Kind::Config, text).given(parts as usize).fail_if(wrong)?;
        let text = "learner adopt: an update is due or runs; call learn until none is left.";
        self.state.check_recording(self.config, text)?;
        Error::new(Kind::NotReady, text).fail_if(self.state.updating != 0)
    }

    /// Brings deviations into their limits, and everything that is made of the parameters up to date.
    fn settle_params(&mut self) -> Result {
        let c = self.config;
        if !c.needs().replay {
            let log_std = log_std_mut(self.params, &self.sizes)?;
            log_std.iter_mut().for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
        }
        // The older copy is refreshed when the next update begins.
        self.prime_age.fill(0);
        self.follow_params()
    }

    /// Errors: `Config` if the transitions of another learner are not those of this one.
    #[cfg(feature = "off_policy")]
    fn check_store(&self, from: &View<'_>) -> Result {
        let refuse = |text, wrong| Error::new(Kind::Config, text).fail_if(wrong);
        let (c, there) = (self.config, from.config);
        let stores = [c, there].iter().all(|c| c.needs().replay && c.buffer_size > 0);
        refuse("learner adopt: a store in both, which DQN, TD3 and SAC have.", !stores)?;
        let text = "learner adopt: transitions without recurrent layers: their states are those of the old parameters.";
        refuse(text, c.sequence_len | there.sequence_len != 0)?;
        let text =
            "learner adopt: transitions with num_stacked of 0: frames are kept once, and have other places there.";
        refuse(text, c.num_stacked | there.num_stacked != 0)?;
        let (taken, other) = (self.taken.read(), &from.taken);
        let bounds = |low: &[f32], high: &[f32], l: &[f32], h: &[f32]| low.iter().eq(l) && high.iter().eq(h);
        let (seen, parts) = (bytemuck::cast_slice::<_, u8>(self.sizes.seen.parts), from.sizes.seen.parts);
        let alike = self.actor.shape == from.actor.shape
            && (c.n_step, c.discount, c.use_duration, c.use_action_mask)
                == (there.n_step, there.discount, there.use_duration, there.use_action_mask)
            && (self.sizes.obs_len, self.sizes.pixels_len) == (from.sizes.obs_len, from.sizes.pixels_len)
            && self.sizes.replay.own_masks == from.sizes.replay.own_masks
            && seen.iter().eq(bytemuck::cast_slice::<_, u8>(parts))
            && self.sizes.seen.n.iter().eq(from.sizes.seen.n)
            && taken.n.iter().eq(other.n)
            && taken.each.iter().eq(other.each)
            && bounds(taken.low, taken.high, other.low, other.high);
        refuse(STORES, !alike)
    }

    /// Adds the newest transitions of another store.
    #[cfg(feature = "off_policy")]
    fn copy_store(&mut self, from: &View<'_>) -> Result {
        let (slots, others) = (u64::from(self.config.buffer_size), u64::from(from.config.buffer_size));
        let count = (from.stored() as u64).min(slots);
        let end = from.state.num_stored;
        let (choices, numbers) = (self.taken.n.len(), self.sizes.std_len);
        let alike = self.config.priority_exponent == from.config.priority_exponent;
        let (most, shown) = (self.config.demonstration_size as usize, from.kept());
        let ring = end.saturating_sub(count)..end;
        let ring = ring.map(|number| number.checked_rem(others).unwrap_or(0) as usize);
        // Those that there is no room for among the kept ones go to the ring, as demonstrations do when they are shown.
        for at in (0..shown).map(|at| at.saturating_add(others as usize)).chain(ring) {
            let keeps = at as u64 >= others && self.view().kept() < most;
            let to = match keeps {
                true => (slots as usize).saturating_add(self.view().kept()),
                false => self.state.num_stored.checked_rem(slots).unwrap_or(0) as usize,
            };
            let (row, own) = (|width| (at, to, width), &from.replay.store);
            // All columns are named, so that a new one does not compile until it is copied here. Some belong to frames and to
            // sequences.
            #[rustfmt::skip]
            let TransitionsMut {
                obs, pixels, frame: _, next_obs, next_pixels, next_frame: _, stamp: _, next_mask,
                mask, choice, vector, reward, discount, state: _, begin: _, before: _,
            } = &mut self.replay.store;
            let (width, bytes) = (self.sizes.obs_len, self.sizes.pixels_len);
            copy_row(own.obs, obs, row(width))?;
            copy_row(own.next_obs, next_obs, row(width))?;
            copy_row(own.pixels, pixels, row(bytes))?;
            copy_row(own.next_pixels, next_pixels, row(bytes))?;
            copy_row(own.next_mask, next_mask, row(self.sizes.masks))?;
            copy_row(own.mask, mask, row(self.sizes.replay.own_masks))?;
            copy_row(own.choice, choice, row(choices))?;
            copy_row(own.vector, vector, row(numbers))?;
            copy_row(own.reward, reward, row(1))?;
            copy_row(own.discount, discount, row(1))?;
            let there = match (at as u64).checked_sub(others) {
                Some(kept) => from.replay.kept_weights.weight(kept as usize),
                None => from.replay.weights.weight(at),
            };
            let weight = if alike && there > 0.0 { there } else { self.state.largest };
            let weighs = self.config.priority_exponent > 0.0;
            if weighs {
                self.state.largest = self.state.largest.max(weight);
            }
            if keeps {
                if weighs {
                    self.replay.kept_weights.set_checked(&[self.state.num_kept as u32], &[weight]);
                }
                self.state.num_kept = self.state.num_kept.saturating_add(1);
                continue;
            }
            if self.view().stored() as u64 == slots {
                self.state.num_gone = self.state.num_gone.saturating_add(1);
            }
            self.state.num_stored = self.state.num_stored.saturating_add(1);
            if weighs {
                self.replay.weights.set_checked(&[to as u32], &[weight]);
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "off_policy"))]
    fn check_store(&self, _: &View<'_>) -> Result {
        Err(Error::new(Kind::Config, STORES))
    }

    #[cfg(not(feature = "off_policy"))]
    fn copy_store(&mut self, _: &View<'_>) -> Result {
        Ok(())
    }
}

/// Errors: `Config` for the first of these tensors that other networks do not have with its name and dimensions; with `any`, if they have
/// none of them.
fn check_tensors(own: &Networks<'_>, other: &Networks<'_>, any: bool) -> Result {
    let (mut number, mut missing, mut matched) = (0usize, None, false);
    own.pairs(other, &mut |_, twin| {
        if twin.is_none() && missing.is_none() {
            missing = Some(number);
        }
        matched |= twin.is_some();
        number = number.saturating_add(1);
        Ok(())
    })?;
    let text = "learner adopt: a tensor that both have with the same name and dimensions.";
    Error::new(Kind::Config, text).fail_if(!matched)?;
    let text = "learner adopt: tensor {given} of the list has no other of its name and dimensions; only those that match can be taken over.";
    Error::new(Kind::Config, text).given(missing.unwrap_or(0)).fail_if(!any && missing.is_some())
}

#[cfg(all(test, feature = "off_policy"))]
mod tests {
    extern crate std;
    use super::*;
    use crate::learn::config::{Algorithm, Config};
    use crate::learn::learner::Phase;
    use crate::rng::Rng;
    use crate::space::{Elements, ElementsMut, Space};
    use std::vec;
    use std::vec::Vec;

    fn made(buffer_size: u32, num_envs: u32, priority_exponent: f32) -> Vec<u64> {
        let config = Config {
            num_envs,
            num_hidden: 1,
            hidden_len: [4, 0, 0, 0],
            buffer_size,
            batch_size: 4,
            n_step: 2,
            learning_starts: 4,
            train_interval: 1000,
            priority_exponent,
            use_action_mask: 1,
            ..Config::of(Algorithm::Sac)
        };
        let (obs, action) = (Space::unbounded(3), Space::discrete(&[2, 2]));
        let mut block = vec![0; Learner::size(&config, &[], &obs, &action).unwrap() / 8];
        Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs, &action).unwrap();
        block
    }

    fn play(block: &mut [u64], steps: usize, rng: &mut Rng) {
        let mut l = Learner::open(bytemuck::cast_slice_mut(block)).unwrap();
        let n = l.num_envs();
        for _ in 0..steps {
            let mut draw = |len: usize| (0..len).map(|_| rng.uniform_f32()).collect::<Vec<f32>>();
            let (obs, last, reward, ends) = (draw(3 * n), draw(3 * n), draw(n), draw(n));
            let mask: Vec<u8> = draw(4 * n).chunks(2).flat_map(|x| [1, u8::from(x[0] < 0.5)]).collect();
            l.act(None, Elements::F32(&obs), Some(&mask), ElementsMut::I32(&mut vec![0; 2 * n])).unwrap();
            let flags = |at: f32| ends.iter().map(|x| u8::from(*x < at)).collect::<Vec<u8>>();
            l.observe(None, &reward, &flags(0.2), &flags(0.4), Some(Elements::F32(&last)), Some(&mask)).unwrap();
            if l.phase() == Phase::Learn {
                l.learn_drop().unwrap();
            }
        }
    }

    /// The transition with this number, and its weight.
    fn row(l: &Learner<'_>, number: u64) -> (Vec<u32>, Vec<u8>, Vec<i32>, f32) {
        let (r, slot) = (&l.replay.store, number as usize % l.config.buffer_size as usize);
        let numbers =
            [&r.obs[3 * slot..][..3], &r.next_obs[3 * slot..][..3], &r.reward[slot..=slot], &r.discount[slot..=slot]];
        let masks = [&r.mask[4 * slot..][..4], &r.next_mask[4 * slot..][..4]];
        let weight = l.view().replay.weights.weight(slot);
        (
            numbers.concat().iter().map(|x| x.to_bits()).collect(),
            masks.concat(),
            r.choice[2 * slot..][..2].to_vec(),
            weight,
        )
    }

    #[test]
    fn the_newest_transitions_that_fit_go_to_another_store() {
        for (slots, steps, weighted) in [(20, 3, 0.0), (20, 40, 0.0), (200, 40, 0.0), (20, 40, 0.7), (50, 40, 0.7)] {
            for before in [0, 5] {
                let (mut from, mut to) = (made(50, 3, 0.7), made(slots, 1, weighted));
                play(&mut from, steps, &mut Rng::seeded(7));
                play(&mut to, before, &mut Rng::seeded(8));
                let view = View::attach(bytemuck::cast_slice(&from)).unwrap();
                let mut l = Learner::attach(bytemuck::cast_slice_mut(&mut to)).unwrap();
                let (end, kept) = (l.state.num_stored, l.view().stored());
                l.adopt(&view, STORE).unwrap();
                let count = view.stored().min(slots as usize) as u64;
                assert_eq!(l.view().stored(), (kept + count as usize).min(slots as usize));
                assert_eq!(l.state.num_stored, end + count);
                let mut source = from.clone();
                let there = Learner::open(bytemuck::cast_slice_mut(&mut source)).unwrap();
                for k in 1..=count {
                    let (own, other) = (row(&l, l.state.num_stored - k), row(&there, there.state.num_stored - k));
                    assert_eq!((&own.0, &own.1, &own.2), (&other.0, &other.1, &other.2), "{k}");
                    assert_eq!(own.3, if weighted > 0.0 { other.3 } else { 0.0 });
                }
                View::attach(bytemuck::cast_slice(&to)).unwrap();
                play(&mut to, 30, &mut Rng::seeded(9));
            }
        }
    }
}
