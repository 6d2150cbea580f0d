//! What `attach` asks of a learner's block.

use super::layout::{block_size, split_params};
use super::{Learner, PARAM_LIMIT, Phase};
use crate::block::{self, Kind as BlockKind};
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::moments;
use crate::learn::config::Stored;
use crate::learn::loss::Sums;
use crate::rng::Rng;

/// Running sums of rewards are at most this in size: more than f32 rewards come to, and their squares are finite.
const MAX_RETURN: f64 = 1e60;

impl Learner<'_> {
    /// Whether [`Learner::attach`] accepts these bytes. Errors: as there; nothing is ever written.
    pub fn check(mem: &mut [u8]) -> Result {
        let stored = block::attach(mem, BlockKind::Learner, |s: &Stored| {
            s.check()?;
            block_size(s)
        })?;
        let learner = Learner::of(mem, &stored)?;
        let image = |what| Error::new(Kind::Image, what);
        let (s, c) = (&learner.state, &learner.config);
        let (_, log_std, _) = split_params(learner.params, &learner.sizes)?;
        let log_stds = c.log_std_min..=c.log_std_max;
        learner.actor.check_actions(learner.action_n, learner.action_low, learner.action_high, log_std, log_stds)?;
        if !(s.shuffle_rng.is_valid() && learner.act_rng.iter().chain(&*learner.predict_rng).all(Rng::is_valid)) {
            return Err(image("learner image: valid random streams"));
        }
        let num_acted = learner.acted.iter().filter(|&&x| x == 1).count();
        let whole = num_acted == 0 || (s.phase == Phase::Act as u32 && num_acted < learner.acted.len());
        if !whole || learner.acted.iter().any(|&x| x > 1) || check_finite("", learner.new_obs).is_err() {
            return Err(image("learner image: a step in which some environments have acted, with finite observations"));
        }
        let full = s.filled == c.num_steps;
        let due = if full { s.phase == Phase::Learn as u32 } else { s.phase <= Phase::Observe as u32 };
        if !due || s.filled > c.num_steps || s.frozen > 1 {
            return Err(image("learner image: a phase that agrees with its rollout"));
        }
        let small = learner.params.iter().all(|x| x.abs() <= PARAM_LIMIT);
        let finite = [&learner.adam_m, &learner.adam_v].iter().all(|x| check_finite("", x).is_ok());
        let sums =
            learner.running_return.iter().all(|x| x.abs() <= MAX_RETURN) && learner.adam_v.iter().all(|x| *x >= 0.0);
        let own: [f64; size_of::<Sums>() / size_of::<f64>()] = bytemuck::cast(s.sums);
        let sums = sums && learner.episode_return.iter().chain(&own).all(|x| x.is_finite());
        let obs = moments::check_moments(learner.obs_mean, learner.obs_var, s.obs_count);
        let returns = moments::check_moments(&[s.return_mean], &[s.return_var], s.return_count);
        if !(small && finite && sums && obs.is_ok() && returns.is_ok()) {
            return Err(image("learner image: finite parameters within their limit, and finite statistics"));
        }
        if !((0.0..=1.0).contains(&s.learning_rate) && (0.0..=10.0).contains(&s.clip)) {
            return Err(image("learner image: a learning rate and a clip range that a configuration can have"));
        }
        let inside = s.minibatch < c.update_len() && s.chunk < c.num_chunks;
        if !inside || (!full && (s.minibatch, s.chunk) != (0, 0)) {
            return Err(image("learner image: a minibatch and a chunk inside the update"));
        }
        learner.check_rollout()
    }

    /// What an update reads: actions that the policy can have taken, finite numbers, and rows that are there.
    fn check_rollout(&self) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        let (n, r, s) = (self.config.num_envs as usize, &self.rollout, &self.state);
        let finished = self.filled_rows();
        let acted = if self.phase() == Phase::Observe { finished.saturating_add(n) } else { finished };
        self.check_rows(0, acted)?;
        for (i, _) in self.acted.iter().enumerate().filter(|(_, acted)| **acted != 0) {
            self.check_rows(finished.saturating_add(i), 1)?;
        }
        if check_finite("", block::rows(r.reward, 0, finished, 1)?).is_err() {
            return Err(image("learner image: finite rewards"));
        }
        if (s.minibatch, s.chunk) == (0, 0) {
            return Ok(());
        }
        let learnt = [&*r.advantage, r.value_target].iter().all(|x| check_finite("", x).is_ok());
        if !learnt || self.order.iter().any(|&row| row as usize >= self.config.batch_len()) {
            return Err(image("learner image: finite advantages, and an order of rows that are there"));
        }
        Ok(())
    }

    /// What an update reads of rows whose environments have acted.
    fn check_rows(&self, first: usize, count: usize) -> Result {
        let (r, shape) = (&self.rollout, &self.actor.shape);
        let mask = match self.config.use_action_mask {
            0 => None,
            _ => Some(block::rows(r.mask, first, count, shape.num_outputs as usize)?),
        };
        let allowed = self.head()?.check_mask(mask, count).is_ok();
        if !allowed || !self.head()?.could_take(block::rows(r.choice, first, count, self.action_n.len())?, mask) {
            return Err(Error::new(Kind::Image, "learner image: choices that were there and allowed"));
        }
        let obs = block::rows(r.obs, first, count, shape.obs_len as usize)?;
        let vector = block::rows(r.vector, first, count, self.sizes.std_len)?;
        if check_finite("", obs).is_err() || check_finite("", vector).is_err() {
            return Err(Error::new(Kind::Image, "learner image: finite observations and actions"));
        }
        Ok(())
    }
}
