//! Proximal policy optimisation with two towers, in one block: the host pushes experience in and learns in slices.
//!
//! The order of calls is `act`, `observe`, T times over, then `learn` until no minibatch is left; [`Learner::phase`] tells
//! which is due. Source: Schulman et al. 2017. Truncated episodes bootstrap from the value of `final_obs`.

mod act;
mod image;
mod layout;
mod learn;
mod stats;

use bytemuck::{Pod, Zeroable};

use super::actor::Head;
use super::actor_config::ActorConfig;
use super::config::{Config, Stored};
use super::loss::Sums;
use super::policy::Policy;
use super::shape::Shape;
use crate::block::{self, Kind as BlockKind, One, fields};
use crate::data::normalizer::INITIAL_COUNT;
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::Space;
use layout::{Lens, Rollout, Sizes, Work, block_size, plan, sizes, split_params, split_params_mut};
use learn::Chunk;

pub use stats::{EPISODES, Stats};

/// Parameters stay within ± this, so that towers go on giving finite numbers for observations of any usual size.
const PARAM_LIMIT: f32 = 1e6;

/// Which call is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// `act` with the current observation.
    Act = 0,
    /// `observe` with what the step returned.
    Observe = 1,
    /// `learn` until no minibatch is left.
    Learn = 2,
}

/// Streams of random numbers of a learner's seed. Environment i draws its actions from stream i, and those of `predict`,
/// which leaves the training as it is, from stream `PREDICT + i`: what it draws depends on no other environment.
const PARAMS: u64 = 1 << 32;
const SHUFFLE: u64 = 2 << 32;
const PREDICT: u64 = 3 << 32;

/// Everything small that changes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    num_steps: u64,
    num_updates: u64,
    num_dropped: u64,
    num_episodes: u64,
    adam_steps: u64,
    /// Shuffles rollouts.
    shuffle_rng: Rng,
    phase: u32,
    /// Steps of the rollout that are complete.
    filled: u32,
    /// Minibatches of this update that are done.
    minibatch: u32,
    frozen: u32,
    obs_count: f64,
    return_mean: f64,
    return_var: f64,
    return_count: f64,
    sums: Sums,
    learning_rate: f32,
    clip: f32,
    explained_variance: f32,
    value_mean: f32,
    return_last: f32,
    /// Chunks of this minibatch that are done.
    chunk: u32,
}

fields! {
    /// Where the fields of a learner lie, but its rollout and its working arrays.
    spans FieldSpans(c: &Config, lens: &Lens) {
        action_n: [u32] = lens.choices,
        action_low: [f32] = lens.bounds,
        action_high: [f32] = lens.bounds,
        state: One<State> = (),
        /// `[N]` streams that draw actions while training.
        act_rng: [Rng] = lens.n,
        /// `[N]` streams that draw the actions of `predict`.
        predict_rng: [Rng] = lens.n,
        /// `[N]` 1: this environment has acted in the step that is due; all 0 once all of them have.
        acted: [u8] = lens.n,
        /// `[N, obs_len]` observations of those, which statistics take in once all have acted; else 0.
        new_obs: [f32] = lens.n.saturating_mul(lens.moments),
        params: [f32] = lens.params,
        adam_m: [f32] = lens.params,
        adam_v: [f32] = lens.params,
        obs_mean: [f64] = lens.moments,
        obs_var: [f64] = lens.moments,
        running_return: [f64] = if c.normalize_reward != 0 { lens.n } else { 0 },
        episode_return: [f64] = lens.n,
        episode_len: [u32] = lens.n,
        recent_return: [f32] = EPISODES,
        recent_len: [u32] = EPISODES,
        order: [u32] = lens.batch,
        /// `[num_chunks, parameters]` gradients of the chunks of this minibatch.
        grads: [f32] = (c.num_chunks as usize).saturating_mul(lens.params),
        /// `[num_chunks]` losses of the same.
        chunks: [Chunk] = c.num_chunks as usize,
    }
    /// A learner, cut from its block.
    ///
    /// ```
    /// use rlcore::learn::{Config, Phase, Learner};
    /// use rlcore::space::{Elements, ElementsMut, Space};
    ///
    /// # fn main() -> rlcore::error::Result {
    /// // Two environments that pay 1 for choice 1 and nothing for choice 0; every step is an episode.
    /// let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
    /// let config = Config { num_envs: 2, num_steps: 32, learning_rate: 0.01, ..Config::default() };
    /// let mut block = vec![0u64; Learner::size(&config, &obs_space, &action_space)? / 8];
    /// let mut learner = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &obs_space, &action_space)?;
    ///
    /// let (obs, mut action) = ([1.0; 2], [0; 2]);
    /// while learner.stats().num_updates < 20 {
    ///     learner.act(Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
    ///     let reward = action.map(|choice| choice as f32);
    ///     learner.observe(&reward, &[1; 2], &[0; 2], None)?;
    ///     if learner.phase() == Phase::Learn {
    ///         learner.learn(Some(Elements::F32(&obs)), 0)?; // or a slice a frame
    ///     }
    /// }
    /// assert!(learner.stats().return_mean > 0.9);
    /// # Ok(())
    /// # }
    /// ```
    pub write Learner {
        config: Config,
        actor: ActorConfig,
        sizes: Sizes,
        rollout: Rollout<'a>,
        work: Work<'a>,
    }
}

impl<'a> Learner<'a> {
    /// Bytes that a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
        block_size(&Stored::new(config, obs, action)?)
    }

    /// Lays a learner out in the caller's bytes and draws its first parameters: orthogonal, gain √2 in hidden layers,
    /// 0.01 at the policy's outputs, 1 at the value's. Errors: `Align`, `Size`, `Config`, `Overflow`; then nothing is written.
    pub fn init(mem: &'a mut [u8], config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Result<Learner<'a>> {
        let stored = Stored::new(config, obs, action)?;
        let sizes = sizes(&stored)?;
        let (_, size) = plan(&stored, &sizes)?;
        let learner = Self::of(block::create(mem, BlockKind::Learner, size, &stored)?, &stored)?;
        block::copy(learner.action_n, action.n);
        for (i, (low, high)) in learner.action_low.iter_mut().zip(&mut *learner.action_high).enumerate() {
            (*low, *high) = action.bounds(i);
        }
        *learner.state = State {
            shuffle_rng: Rng::stream(config.seed, SHUFFLE),
            learning_rate: config.learning_rate,
            explained_variance: f32::NAN,
            value_mean: f32::NAN,
            return_last: f32::NAN,
            obs_count: INITIAL_COUNT,
            return_var: 1.0,
            return_count: INITIAL_COUNT,
            ..State::zeroed()
        };
        for ((act, predict), i) in learner.act_rng.iter_mut().zip(&mut *learner.predict_rng).zip(0..) {
            (*act, *predict) = (Rng::stream(config.seed, i), Rng::stream(config.seed, PREDICT | i));
        }
        let mut rng = Rng::stream(config.seed, PARAMS);
        let (actor, log_std, critic) = split_params_mut(learner.params, &sizes)?;
        sizes.actor.init(actor, 0.01, &mut rng, learner.work.scratch)?;
        sizes.critic.init(critic, 1.0, &mut rng, learner.work.scratch)?;
        learner.work.scratch.fill(0.0);
        log_std.fill(config.log_std_init);
        learner.obs_var.fill(1.0);
        Ok(learner)
    }

    /// Accepts bytes that a learner was copied to and checks everything in them that a later call relies on. A seal is
    /// taken off, since the learner may change now. Errors: `Align`, `Size`, `Image`; then nothing is written.
    pub fn attach(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        Self::check(mem)?;
        Self::open(mem)
    }

    /// Cuts a block that `init` or `attach` has accepted, without looking at it again; a seal is taken off.
    pub fn open(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        let stored = *block::cut_config::<Stored>(mem)?.0;
        block::unseal(mem);
        Self::of(mem, &stored)
    }

    /// Which call is due.
    pub fn phase(&self) -> Phase {
        match self.state.phase {
            0 => Phase::Act,
            1 => Phase::Observe,
            _ => Phase::Learn,
        }
    }

    /// The configuration that the block was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The shapes that the block was made for.
    pub fn shape(&self) -> &Shape {
        &self.actor.shape
    }

    /// Numbers of choices of discrete actions; empty if they are continuous.
    pub fn action_n(&self) -> &[u32] {
        self.action_n
    }

    /// Stops or resumes updating the statistics that observations and rewards are normalised by.
    pub fn freeze(&mut self, frozen: bool) {
        self.state.frozen = u32::from(frozen);
    }

    /// Bytes that `export` needs.
    pub fn policy_size(&self) -> Result<usize> {
        self.policy()?.size()
    }

    /// Writes the policy alone, as it is now, to the caller's bytes. Errors: `Align`, `Size`; then nothing is written.
    pub fn export(&self, mem: &mut [u8]) -> Result {
        self.policy()?.write(mem)
    }

    fn policy(&self) -> Result<Policy<'_>> {
        let (params, log_std, _) = split_params(self.params, &self.sizes)?;
        Ok(Policy {
            config: self.actor,
            actor: self.sizes.actor,
            action_n: self.action_n,
            action_low: self.action_low,
            action_high: self.action_high,
            obs_mean: self.obs_mean,
            obs_var: self.obs_var,
            params,
            log_std,
        })
    }

    /// Rows of the rollout that are complete: the next step goes behind them.
    fn filled_rows(&self) -> usize {
        (self.state.filled as usize).saturating_mul(self.config.num_envs as usize)
    }

    fn due(&self, phase: Phase) -> Result {
        let what = match self.phase() {
            Phase::Act => "learner: act, which is due now",
            Phase::Observe => "learner: observe, which is due now",
            Phase::Learn => "learner: learn, which is due now",
        };
        if self.phase() == phase { Ok(()) } else { Err(Error::new(Kind::NotReady, what)) }
    }

    fn head(&self) -> Result<Head<'_>> {
        let (_, log_std, _) = split_params(self.params, &self.sizes)?;
        Ok(Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std))
    }

    /// A mask is given exactly if the configuration says so, and leaves a choice in every row.
    fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        if mask.is_some() != (self.config.use_action_mask != 0) {
            let what = "learner: an action mask exactly if use_action_mask is 1; it is";
            return Err(Error::new(Kind::Shape, what).needed(self.config.use_action_mask as usize));
        }
        self.head()?.check_mask(mask, rows)
    }
}
