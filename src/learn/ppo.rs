//! Proximal policy optimisation with two towers, in one block: the host pushes experience in and learns in slices.
//!
//! The order of calls is `act`, `observe`, T times over, then `learn` until no minibatch is left; [`Ppo::phase`] tells
//! which is due. Source: Schulman et al. 2017. Truncated episodes bootstrap from the
//! value of `final_obs`.

use bytemuck::{Pod, Zeroable};

use super::actor::{Head, Raw, Sampling, check_act, check_obs, check_obs_shape, see, to_f32};
use super::actor_config::ActorConfig;
use super::config::{Config, Stored};
use super::loss::{self, Batch, Coefficients, Losses, Sums};
use super::policy;
use super::shape::Shape;
use crate::block::{self, Cutter, Fit, Kind as BlockKind, Misfit, Plan, Span, TooLong};
use crate::data::normalizer::{INITIAL_COUNT, Limits, RewardScale, scale_rewards};
use crate::data::step::{Ends, Rewrite};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::{gae, moments};
use crate::nn::{Adam, Mlp};
use crate::num;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// Episodes that the running means of the statistics look back on.
pub const EPISODES: usize = 100;

/// Working columns of a chunk.
const COLUMNS: usize = 8;

/// Parameters stay within ± this, so that towers go on giving finite numbers for observations of any usual size.
const PARAM_LIMIT: f32 = 1e6;

/// Counts of rows in running statistics stay at most this, 2^64, as [`moments::check_moments`] wants them.
const MAX_COUNT: f64 = 18_446_744_073_709_551_616.0;

/// Running sums of rewards are at most this in size: more than f32 rewards come to, and their squares are finite.
const MAX_RETURN: f64 = 1e60;

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

/// What the last update did, and how the episodes go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Minibatches that `learn` still has to do before the update is complete.
    pub minibatches_left: u32,
    /// Environment steps observed.
    pub num_steps: u64,
    /// Complete updates.
    pub num_updates: u64,
    /// Updates that ended early because numbers overflowed.
    pub num_dropped: u64,
    /// Episodes ended.
    pub num_episodes: u64,
    /// Step size of this update.
    pub learning_rate: f32,
    /// Mean over the update's minibatches of the clipped surrogate loss.
    pub policy_loss: f32,
    /// Mean of half the squared error of the values.
    pub value_loss: f32,
    /// Mean entropy of the policy, in nats.
    pub entropy: f32,
    /// Mean of r - 1 - ln r over the last epoch, r the probability ratio.
    pub approx_kl: f32,
    /// Part of the ratios outside the clip range.
    pub clip_fraction: f32,
    /// 1 - Var(target - value) / Var(target) of the rollout; 0 if the targets do not vary.
    pub explained_variance: f32,
    /// Mean global norm of the gradients before clipping.
    pub grad_norm: f32,
    /// Mean value of the rollout's observations.
    pub value_mean: f32,
    /// Mean return of the last 100 episodes, NaN before the first ends.
    pub return_mean: f32,
    /// Mean length of the last 100 episodes, NaN before the first ends.
    pub length_mean: f32,
    /// Return of the episode that ended last, NaN before the first ends.
    pub return_last: f32,
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

/// The one place where the layout of a learner's block is written down.
#[derive(Clone, Copy)]
struct Spans {
    action_n: Span<u32>,
    action_low: Span<f32>,
    action_high: Span<f32>,
    state: Span<State>,
    act_rng: Span<Rng>,
    predict_rng: Span<Rng>,
    acted: Span<u8>,
    new_obs: Span<f32>,
    params: Span<f32>,
    adam_m: Span<f32>,
    adam_v: Span<f32>,
    obs_mean: Span<f64>,
    obs_var: Span<f64>,
    running_return: Span<f64>,
    episode_return: Span<f64>,
    episode_len: Span<u32>,
    recent_return: Span<f32>,
    recent_len: Span<u32>,
    obs: Span<f32>,
    choice: Span<i32>,
    vector: Span<f32>,
    mask: Span<u8>,
    log_prob: Span<f32>,
    value: Span<f32>,
    reward: Span<f32>,
    terminated: Span<u8>,
    truncated: Span<u8>,
    final_value: Span<f32>,
    bootstrap_value: Span<f32>,
    advantage: Span<f32>,
    value_target: Span<f32>,
    order: Span<u32>,
    grads: Span<f32>,
    chunks: Span<Chunk>,
    rows_rng: Span<Rng>,
    rows_raw: Span<f32>,
    rows_obs: Span<f32>,
    rows_choice: Span<i32>,
    rows_vector: Span<f32>,
    rows_mask: Span<u8>,
    rows_scalar: Span<f32>,
    rows_advantage: Span<f32>,
    outputs: Span<f32>,
    d_outputs: Span<f32>,
    noise: Span<f32>,
    tape: Span<f32>,
    critic_tape: Span<f32>,
    scratch: Span<f32>,
}

/// What follows from the stored configuration.
#[derive(Clone, Copy)]
struct Sizes {
    actor: Mlp,
    critic: Mlp,
    /// Rows of the working arrays: a chunk, or one observation of each environment.
    rows: usize,
    actor_len: usize,
    std_len: usize,
}

fn sizes(stored: &Stored) -> Result<Sizes> {
    let Stored { config: c, shape: s } = stored;
    let actor = stored.actor().tower(s.num_outputs)?;
    let critic = stored.actor().tower(1)?;
    let rows = c.chunk_len().max(c.num_envs as usize);
    Ok(Sizes { actor, critic, rows, actor_len: actor.param_len(), std_len: s.std_len() })
}

/// Bytes of a learner's block.
fn block_size(stored: &Stored) -> Result<usize> {
    Ok(plan(stored, &sizes(stored)?)?.1)
}

/// Where everything lies, and the bytes of the whole block.
fn plan(stored: &Stored, sizes: &Sizes) -> core::result::Result<(Spans, usize), TooLong> {
    let (Stored { config: c, shape: s }, &Sizes { actor, critic, rows, std_len, .. }) = (stored, sizes);
    let (n, t, batch) = (c.num_envs as usize, c.num_steps as usize, c.batch_len());
    let (obs, outputs) = (s.obs_len as usize, s.num_outputs as usize);
    let (choices, bounds) = s.action_lens();
    let moments = stored.actor().moments_len();
    let masks = if c.use_action_mask != 0 { outputs } else { 0 };
    let params = actor.param_len().saturating_add(std_len).saturating_add(critic.param_len());
    let infer = |tower: &Mlp| tower.infer_scratch_len(usize::MAX);
    let scratch = [actor.scratch_len(), critic.scratch_len(), infer(&actor), infer(&critic)];
    let scratch = scratch.into_iter().fold(0, usize::max);
    let mut p = Plan::default();
    block::spans::<Stored>(&mut p)?;
    let spans = Spans {
        action_n: p.span(choices)?,
        action_low: p.span(bounds)?,
        action_high: p.span(bounds)?,
        state: p.span(1)?,
        act_rng: p.span(n)?,
        predict_rng: p.span(n)?,
        acted: p.span(n)?,
        new_obs: p.grid(n, moments)?,
        params: p.span(params)?,
        adam_m: p.span(params)?,
        adam_v: p.span(params)?,
        obs_mean: p.span(moments)?,
        obs_var: p.span(moments)?,
        running_return: p.span(if c.normalize_reward != 0 { n } else { 0 })?,
        episode_return: p.span(n)?,
        episode_len: p.span(n)?,
        recent_return: p.span(EPISODES)?,
        recent_len: p.span(EPISODES)?,
        obs: p.grid(batch, obs)?,
        choice: p.grid(batch, choices)?,
        vector: p.grid(batch, std_len)?,
        mask: p.grid(batch, masks)?,
        log_prob: p.grid(t, n)?,
        value: p.grid(t, n)?,
        reward: p.grid(t, n)?,
        terminated: p.grid(t, n)?,
        truncated: p.grid(t, n)?,
        final_value: p.grid(t, n)?,
        bootstrap_value: p.span(n)?,
        advantage: p.grid(t, n)?,
        value_target: p.grid(t, n)?,
        order: p.span(batch)?,
        grads: p.grid(c.num_chunks as usize, params)?,
        chunks: p.span(c.num_chunks as usize)?,
        rows_rng: p.span(n)?,
        rows_raw: p.grid(n, obs)?,
        rows_obs: p.grid(rows, obs)?,
        rows_choice: p.grid(rows, choices)?,
        rows_vector: p.grid(rows, std_len)?,
        rows_mask: p.grid(rows, masks)?,
        rows_scalar: p.grid(rows, COLUMNS)?,
        rows_advantage: p.span(c.minibatch_len())?,
        outputs: p.grid(rows, outputs)?,
        d_outputs: p.grid(rows, outputs)?,
        noise: p.grid(n, s.action_len as usize)?,
        tape: p.span(actor.tape_len(rows))?,
        critic_tape: p.span(critic.tape_len(rows))?,
        scratch: p.span(scratch)?,
    };
    Ok((spans, p.size()?))
}

/// A learner, cut from its block.
///
/// ```
/// use rlcore::learn::{Config, Phase, Ppo};
/// use rlcore::space::{Elements, ElementsMut, Space};
///
/// # fn main() -> rlcore::error::Result {
/// // Two environments that pay 1 for choice 1 and nothing for choice 0; every step is an episode.
/// let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
/// let config = Config { num_envs: 2, num_steps: 32, learning_rate: 0.01, ..Config::default() };
/// let mut block = vec![0u64; Ppo::size(&config, &obs_space, &action_space)? / 8];
/// let mut ppo = Ppo::init(bytemuck::cast_slice_mut(&mut block), &config, &obs_space, &action_space)?;
///
/// let (obs, mut action) = ([1.0; 2], [0; 2]);
/// while ppo.stats().num_updates < 20 {
///     ppo.act(Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
///     let reward = action.map(|choice| choice as f32);
///     ppo.observe(&reward, &[1; 2], &[0; 2], None)?;
///     if ppo.phase() == Phase::Learn {
///         ppo.learn(Some(Elements::F32(&obs)), 0)?; // or a minibatch a frame
///     }
/// }
/// assert!(ppo.stats().return_mean > 0.9);
/// # Ok(())
/// # }
/// ```
pub struct Ppo<'a> {
    config: Config,
    actor: ActorConfig,
    sizes: Sizes,
    action_n: &'a [u32],
    action_low: &'a [f32],
    action_high: &'a [f32],
    state: &'a mut State,
    /// `[N]` streams that draw actions while training.
    act_rng: &'a mut [Rng],
    /// `[N]` streams that draw the actions of `predict`.
    predict_rng: &'a mut [Rng],
    /// `[N]` 1: this environment has acted in the step that is due; all 0 once all of them have.
    acted: &'a mut [u8],
    /// `[N, obs_len]` observations of those, which statistics take in once all have acted; else 0.
    new_obs: &'a mut [f32],
    params: &'a mut [f32],
    adam_m: &'a mut [f32],
    adam_v: &'a mut [f32],
    obs_mean: &'a mut [f64],
    obs_var: &'a mut [f64],
    running_return: &'a mut [f64],
    episode_return: &'a mut [f64],
    episode_len: &'a mut [u32],
    recent_return: &'a mut [f32],
    recent_len: &'a mut [u32],
    rollout: Rollout<'a>,
    order: &'a mut [u32],
    /// `[num_chunks, parameters]` gradients of the chunks of this minibatch.
    grads: &'a mut [f32],
    /// `[num_chunks]` losses of the same.
    chunks: &'a mut [Chunk],
    work: Work<'a>,
}

/// The experience of one update, `[T, N, …]`.
struct Rollout<'a> {
    /// As the networks saw them: converted and normalised.
    obs: &'a mut [f32],
    choice: &'a mut [i32],
    /// Before squashing or clipping.
    vector: &'a mut [f32],
    mask: &'a mut [u8],
    log_prob: &'a mut [f32],
    value: &'a mut [f32],
    reward: &'a mut [f32],
    terminated: &'a mut [u8],
    truncated: &'a mut [u8],
    final_value: &'a mut [f32],
    bootstrap_value: &'a mut [f32],
    advantage: &'a mut [f32],
    value_target: &'a mut [f32],
}

/// Working arrays, meaningful within one call only. What calls of N rows use is zero between calls, so that one that
/// fails leaves every byte of the block as it was.
struct Work<'a> {
    /// Streams with the draws of this call, `[N]`.
    rng: &'a mut [Rng],
    /// Observations before they are normalised, `[N, obs_len]`.
    raw: &'a mut [f32],
    obs: &'a mut [f32],
    choice: &'a mut [i32],
    vector: &'a mut [f32],
    mask: &'a mut [u8],
    scalar: &'a mut [f32],
    /// Of the whole minibatch.
    advantage: &'a mut [f32],
    outputs: &'a mut [f32],
    d_outputs: &'a mut [f32],
    noise: &'a mut [f32],
    tape: &'a mut [f32],
    critic_tape: &'a mut [f32],
    scratch: &'a mut [f32],
}

impl<'a> Ppo<'a> {
    /// Bytes that a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
        block_size(&Stored::new(config, obs, action)?)
    }

    /// Lays a learner out in the caller's bytes and draws its first parameters: orthogonal, gain √2 in hidden layers,
    /// 0.01 at the policy's outputs, 1 at the value's. Errors: `Align`, `Size`, `Config`, `Overflow`; then nothing is written.
    pub fn init(mem: &'a mut [u8], config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Result<Ppo<'a>> {
        let stored = Stored::new(config, obs, action)?;
        let sizes = sizes(&stored)?;
        let (s, size) = plan(&stored, &sizes)?;
        let block = block::create(mem, BlockKind::Ppo, size, &stored)?;
        let mut cut = Cutter::new(block);
        block::copy(cut.take(s.action_n)?, action.n);
        for (i, (low, high)) in cut.take(s.action_low)?.iter_mut().zip(cut.take(s.action_high)?).enumerate() {
            (*low, *high) = action.bounds(i);
        }
        let ppo = Self::cut(block, &stored)?;
        *ppo.state = State {
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
        for ((act, predict), i) in ppo.act_rng.iter_mut().zip(&mut *ppo.predict_rng).zip(0..) {
            (*act, *predict) = (Rng::stream(config.seed, i), Rng::stream(config.seed, PREDICT | i));
        }
        let mut rng = Rng::stream(config.seed, PARAMS);
        let (actor, log_std, critic) = split_params_mut(ppo.params, &sizes)?;
        sizes.actor.init(actor, 0.01, &mut rng, ppo.work.scratch)?;
        sizes.critic.init(critic, 1.0, &mut rng, ppo.work.scratch)?;
        ppo.work.scratch.fill(0.0);
        log_std.fill(config.log_std_init);
        ppo.obs_var.fill(1.0);
        Ok(ppo)
    }

    /// Accepts bytes that a learner was copied to and checks everything in them that a later call relies on. A seal is
    /// taken off, since the learner may change now. Errors: `Align`, `Size`, `Image`; then nothing is written.
    pub fn attach(mem: &'a mut [u8]) -> Result<Ppo<'a>> {
        Self::check(mem)?;
        Self::open(mem)
    }

    /// Whether [`Ppo::attach`] accepts these bytes. Errors: as there; nothing is ever written.
    pub fn check(mem: &mut [u8]) -> Result {
        let stored = block::attach(mem, BlockKind::Ppo, |s: &Stored| {
            s.check()?;
            block_size(s)
        })?;
        let ppo = Ppo::cut(mem, &stored)?;
        let image = |what| Error::new(Kind::Image, what);
        let (s, c) = (&ppo.state, &ppo.config);
        let (_, log_std, _) = split_params(ppo.params, &ppo.sizes)?;
        let log_stds = c.log_std_min..=c.log_std_max;
        ppo.actor.check_actions(ppo.action_n, ppo.action_low, ppo.action_high, log_std, log_stds)?;
        if !(s.shuffle_rng.is_valid() && ppo.act_rng.iter().chain(&*ppo.predict_rng).all(Rng::is_valid)) {
            return Err(image("ppo image: valid random streams"));
        }
        let num_acted = ppo.acted.iter().filter(|&&x| x == 1).count();
        let whole = num_acted == 0 || (s.phase == Phase::Act as u32 && num_acted < ppo.acted.len());
        if !whole || ppo.acted.iter().any(|&x| x > 1) || check_finite("", ppo.new_obs).is_err() {
            return Err(image("ppo image: a step in which some environments have acted, with finite observations"));
        }
        let full = s.filled == c.num_steps;
        let due = if full { s.phase == Phase::Learn as u32 } else { s.phase <= Phase::Observe as u32 };
        if !due || s.filled > c.num_steps || s.frozen > 1 {
            return Err(image("ppo image: a phase that agrees with its rollout"));
        }
        let small = ppo.params.iter().all(|x| x.abs() <= PARAM_LIMIT);
        let finite = [&ppo.adam_m, &ppo.adam_v].iter().all(|x| check_finite("", x).is_ok());
        let sums = ppo.running_return.iter().all(|x| x.abs() <= MAX_RETURN) && ppo.adam_v.iter().all(|x| *x >= 0.0);
        let own: [f64; size_of::<Sums>() / size_of::<f64>()] = bytemuck::cast(s.sums);
        let sums = sums && ppo.episode_return.iter().chain(&own).all(|x| x.is_finite());
        let obs = moments::check_moments(ppo.obs_mean, ppo.obs_var, s.obs_count);
        let returns = moments::check_moments(&[s.return_mean], &[s.return_var], s.return_count);
        if !(small && finite && sums && obs.is_ok() && returns.is_ok()) {
            return Err(image("ppo image: finite parameters within their limit, and finite statistics"));
        }
        if !((0.0..=1.0).contains(&s.learning_rate) && (0.0..=10.0).contains(&s.clip)) {
            return Err(image("ppo image: a learning rate and a clip range that a configuration can have"));
        }
        let inside = s.minibatch < c.update_len() && s.chunk < c.num_chunks;
        if !inside || (!full && (s.minibatch, s.chunk) != (0, 0)) {
            return Err(image("ppo image: a minibatch and a chunk inside the update"));
        }
        ppo.check_rollout()
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
            return Err(image("ppo image: finite rewards"));
        }
        if (s.minibatch, s.chunk) == (0, 0) {
            return Ok(());
        }
        let learnt = [&*r.advantage, r.value_target].iter().all(|x| check_finite("", x).is_ok());
        if !learnt || self.order.iter().any(|&row| row as usize >= self.config.batch_len()) {
            return Err(image("ppo image: finite advantages, and an order of rows that are there"));
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
            return Err(Error::new(Kind::Image, "ppo image: choices that were there and allowed"));
        }
        let obs = block::rows(r.obs, first, count, shape.obs_len as usize)?;
        let vector = block::rows(r.vector, first, count, self.sizes.std_len)?;
        if check_finite("", obs).is_err() || check_finite("", vector).is_err() {
            return Err(Error::new(Kind::Image, "ppo image: finite observations and actions"));
        }
        Ok(())
    }

    /// Cuts a block that `init` or `attach` has accepted, without looking at it again; a seal is taken off.
    pub fn open(mem: &'a mut [u8]) -> Result<Ppo<'a>> {
        let (_, body) = block::spans::<Stored>(&mut Plan::default())?;
        let stored = *block::view(mem, body)?.first().ok_or(Error::new(Kind::Image, "ppo block: a configuration"))?;
        block::unseal(mem);
        Self::cut(mem, &stored)
    }

    fn cut(mem: &'a mut [u8], stored: &Stored) -> Result<Ppo<'a>> {
        let sizes = sizes(stored)?;
        let (spans, _) = plan(stored, &sizes)?;
        Ok(Self::fields(mem, stored, sizes, &spans)?)
    }

    #[inline(never)]
    fn fields(mem: &'a mut [u8], stored: &Stored, sizes: Sizes, s: &Spans) -> Fit<Ppo<'a>> {
        let mut cut = Cutter::new(mem);
        Ok(Ppo {
            config: stored.config,
            actor: stored.actor(),
            sizes,
            action_n: cut.take(s.action_n)?,
            action_low: cut.take(s.action_low)?,
            action_high: cut.take(s.action_high)?,
            state: cut.take(s.state)?.first_mut().ok_or(Misfit)?,
            act_rng: cut.take(s.act_rng)?,
            predict_rng: cut.take(s.predict_rng)?,
            acted: cut.take(s.acted)?,
            new_obs: cut.take(s.new_obs)?,
            params: cut.take(s.params)?,
            adam_m: cut.take(s.adam_m)?,
            adam_v: cut.take(s.adam_v)?,
            obs_mean: cut.take(s.obs_mean)?,
            obs_var: cut.take(s.obs_var)?,
            running_return: cut.take(s.running_return)?,
            episode_return: cut.take(s.episode_return)?,
            episode_len: cut.take(s.episode_len)?,
            recent_return: cut.take(s.recent_return)?,
            recent_len: cut.take(s.recent_len)?,
            rollout: Rollout {
                obs: cut.take(s.obs)?,
                choice: cut.take(s.choice)?,
                vector: cut.take(s.vector)?,
                mask: cut.take(s.mask)?,
                log_prob: cut.take(s.log_prob)?,
                value: cut.take(s.value)?,
                reward: cut.take(s.reward)?,
                terminated: cut.take(s.terminated)?,
                truncated: cut.take(s.truncated)?,
                final_value: cut.take(s.final_value)?,
                bootstrap_value: cut.take(s.bootstrap_value)?,
                advantage: cut.take(s.advantage)?,
                value_target: cut.take(s.value_target)?,
            },
            order: cut.take(s.order)?,
            grads: cut.take(s.grads)?,
            chunks: cut.take(s.chunks)?,
            work: Work {
                rng: cut.take(s.rows_rng)?,
                raw: cut.take(s.rows_raw)?,
                obs: cut.take(s.rows_obs)?,
                choice: cut.take(s.rows_choice)?,
                vector: cut.take(s.rows_vector)?,
                mask: cut.take(s.rows_mask)?,
                scalar: cut.take(s.rows_scalar)?,
                advantage: cut.take(s.rows_advantage)?,
                outputs: cut.take(s.outputs)?,
                d_outputs: cut.take(s.d_outputs)?,
                noise: cut.take(s.noise)?,
                tape: cut.take(s.tape)?,
                critic_tape: cut.take(s.critic_tape)?,
                scratch: cut.take(s.scratch)?,
            },
        })
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
}

/// Acting and observing.
impl Ppo<'_> {
    /// Chooses an action for each environment by sampling the policy, and begins a transition. With `normalize_obs` the
    /// observations are normalised by the statistics of the steps before, which then take them in.
    ///
    /// `obs`: `[N, obs_len]`; `mask`: `[N, num_outputs]` flags, exactly if `use_action_mask`; `action`: `[N, action_len]`.
    /// Errors: `NotReady`; `Shape`; `Value` for a NaN or infinite observation, and if the policy's outputs overflow.
    /// Nothing changes on error, here and in the other calls but [`Ppo::learn`].
    pub fn act(&mut self, obs: Elements<'_>, mask: Option<&[u8]>, action: ElementsMut<'_>) -> Result {
        self.act_range(0, self.config.num_envs as usize, obs, mask, action)
    }

    /// [`Ppo::act`] for environments `[begin, end)`, whose rows alone the arrays have. Once all environments have acted,
    /// `observe` is due: in whatever parts and order, they leave the bytes of one `act`. An empty range does nothing.
    ///
    /// Errors: as there; `Range`; `NotReady` if one of them has acted already.
    pub fn act_range(
        &mut self,
        begin: usize,
        end: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        let refused = Error::new(Kind::Range, "ppo act: environments [begin, end) with end at most");
        let acted = self.acted.get(begin..end).ok_or(refused.needed(self.acted.len()).given(end))?;
        let rows = acted.len();
        if rows == 0 {
            return Ok(());
        }
        self.due(Phase::Act)?;
        if acted.iter().any(|&x| x != 0) {
            return Err(Error::new(Kind::NotReady, "ppo act: environments that have not acted in this step"));
        }
        check_act("ppo act: obs", &self.actor.shape, rows, &obs, &action)?;
        self.check_mask(mask, rows)?;
        let done = self.act_on(begin, rows, obs, mask, action);
        self.tidy();
        done
    }

    /// [`Ppo::act_range`] with what was checked: everything happens in the working arrays until nothing can fail any more.
    fn act_on(
        &mut self,
        begin: usize,
        n: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        let (shape, sizes) = (&self.actor.shape, &self.sizes);
        let (o, l) = (shape.obs_len as usize, shape.num_outputs as usize);
        let at = self.filled_rows().saturating_add(begin);
        let (r, w) = (&mut self.rollout, &mut self.work);
        let (raw, seen) = (block::rows_mut(w.raw, 0, n, o)?, block::rows_mut(w.obs, 0, n, o)?);
        to_f32(obs, raw);
        see(&self.actor, self.obs_mean, self.obs_var, raw, seen)?;
        let (actor, log_std, critic) = split_params(self.params, sizes)?;
        let outputs = block::rows_mut(w.outputs, 0, n, l)?;
        sizes.actor.infer(actor, seen, n, w.scratch, outputs)?;
        let mut columns = w.scalar.chunks_exact_mut(n.max(1));
        let mut column = || columns.next().ok_or(Misfit);
        let (value, log_prob, entropy) = (column()?, column()?, column()?);
        sizes.critic.infer(critic, seen, n, w.scratch, value)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        let choice = block::rows_mut(w.choice, 0, n, self.action_n.len())?;
        let vector = block::rows_mut(w.vector, 0, n, sizes.std_len)?;
        let noise = block::rows_mut(w.noise, 0, n, shape.action_len as usize)?;
        let (streams, drawn) = (block::rows_mut(self.act_rng, begin, n, 1)?, block::rows_mut(w.rng, 0, n, 1)?);
        block::copy(drawn, streams);
        head.noise(drawn, noise);
        head.sample(n, outputs, mask, Sampling::Basic, noise, choice, vector)?;
        let raw_action = if shape.discrete() { Raw::Choice(choice) } else { Raw::Vector(vector) };
        head.evaluate(outputs, mask, raw_action, log_prob, entropy)?;

        head.to_env(raw_action, action);
        block::copy(streams, drawn);
        block::copy(block::rows_mut(r.obs, at, n, o)?, seen);
        block::copy(block::rows_mut(r.choice, at, n, self.action_n.len())?, choice);
        block::copy(block::rows_mut(r.vector, at, n, sizes.std_len)?, vector);
        block::copy(block::rows_mut(r.value, at, n, 1)?, value);
        block::copy(block::rows_mut(r.log_prob, at, n, 1)?, log_prob);
        if let Some(mask) = mask {
            block::copy(block::rows_mut(r.mask, at, n, l)?, mask);
        }
        block::rows_mut(self.acted, begin, n, 1)?.fill(1);
        let width = self.obs_mean.len();
        block::copy(block::rows_mut(self.new_obs, begin, n, width)?, raw);
        if self.acted.contains(&0) {
            return Ok(());
        }
        if width > 0 && self.state.frozen == 0 {
            let count = &mut self.state.obs_count;
            moments::update(self.new_obs, self.acted.len(), self.obs_mean, self.obs_var, count)?;
            *count = bounded(*count);
        }
        self.acted.fill(0);
        self.new_obs.fill(0.0);
        self.state.phase = Phase::Observe as u32;
        Ok(())
    }

    /// Completes the transition that `act` began.
    /// Autoreset has to be same step: a row that next-step autoreset only resets is no transition.
    ///
    /// `reward`: `[N]`, finite; `terminated`, `truncated`: `[N]` flags; `final_obs`: `[N, obs_len]`, required once an
    /// environment is truncated and not terminated, and only those rows of it are read.
    /// Errors: `NotReady`; `Shape`; `Value`; `Null` if `final_obs` is missing. Nothing changes on error.
    pub fn observe(
        &mut self,
        reward: &[f32],
        terminated: &[u8],
        truncated: &[u8],
        final_obs: Option<Elements<'_>>,
    ) -> Result {
        self.due(Phase::Observe)?;
        let n = self.config.num_envs as usize;
        check_len("ppo observe: rewards", reward, n)?;
        check_len("ppo observe: terminated flags", terminated, n)?;
        check_len("ppo observe: truncated flags", truncated, n)?;
        check_finite("ppo observe: finite rewards", reward)?;
        let (o, at) = (self.actor.shape.obs_len as usize, self.filled_rows());
        let is_cut = |i: usize| terminated.get(i) == Some(&0) && truncated.get(i).is_some_and(|&x| x != 0);
        let num_cut = (0..n).filter(|&i| is_cut(i)).count();
        if num_cut > 0 {
            let what = "ppo observe: final_obs, because environments were truncated and not terminated;";
            let obs = final_obs.ok_or(Error::new(Kind::Null, what).given(num_cut))?;
            check_obs_shape("ppo observe: final_obs", &self.actor.shape, n, &obs)?;
            for i in (0..n).filter(|&i| is_cut(i)) {
                if let Elements::F32(x) = obs {
                    check_finite("ppo observe: finite final_obs", block::rows(x, i, 1, o)?)?;
                }
            }
            let (sizes, w, r) = (&self.sizes, &mut self.work, &mut self.rollout);
            for (k, i) in (0..n).filter(|&i| is_cut(i)).enumerate() {
                let row = obs.get(i.saturating_mul(o), i.saturating_add(1).saturating_mul(o));
                to_f32(row.ok_or(Misfit)?, block::rows_mut(w.raw, k, 1, o)?);
            }
            let seen = block::rows_mut(w.obs, 0, num_cut, o)?;
            see(&self.actor, self.obs_mean, self.obs_var, block::rows(w.raw, 0, num_cut, o)?, seen)?;
            let values = block::rows_mut(w.scalar, 0, num_cut, 1)?;
            let (_, _, critic) = split_params(self.params, sizes)?;
            sizes.critic.infer(critic, seen, num_cut, w.scratch, values)?;
            let final_value = block::rows_mut(r.final_value, at, n, 1)?;
            for (value, i) in values.iter().zip((0..n).filter(|&i| is_cut(i))) {
                if let Some(to) = final_value.get_mut(i) {
                    *to = *value;
                }
            }
        }
        let r = &mut self.rollout;
        block::copy(block::rows_mut(r.terminated, at, n, 1)?, terminated);
        block::copy(block::rows_mut(r.truncated, at, n, 1)?, truncated);
        let stored = block::rows_mut(r.reward, at, n, 1)?;
        let (c, state) = (&self.config, &mut *self.state);
        let limits = Limits { clip: c.reward_clip, ..Limits::default() };
        match (c.normalize_reward != 0, state.frozen != 0) {
            (false, _) => block::copy(stored, reward),
            (true, true) => scale_rewards(state.return_var, limits, Rewrite::apart(reward, stored))?,
            (true, false) => {
                let mut scale = RewardScale {
                    running: self.running_return,
                    mean: &mut state.return_mean,
                    var: &mut state.return_var,
                    count: &mut state.return_count,
                };
                let ends = Ends { terminated, truncated, valid: None };
                scale.step(Rewrite::apart(reward, stored), ends, f64::from(c.discount), limits)?;
                state.return_count = bounded(state.return_count);
            }
        }
        self.tidy();
        self.count_episodes(reward, terminated, truncated);
        self.state.num_steps = self.state.num_steps.saturating_add(n as u64);
        self.state.filled = self.state.filled.saturating_add(1);
        let full = self.state.filled == self.config.num_steps;
        self.state.phase = if full { Phase::Learn } else { Phase::Act } as u32;
        Ok(())
    }

    /// Acts without recording, in any phase: the training goes on as if this had not been called.
    ///
    /// Shapes and errors as [`Ppo::act`].
    pub fn predict(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let n = self.config.num_envs as usize;
        check_act("ppo predict: obs", &self.actor.shape, n, &obs, &action)?;
        self.check_mask(mask, n)?;
        self.head()?.check_sampling(sampling)?;
        let done = self.predict_on(obs, mask, sampling, action);
        self.tidy();
        done
    }

    fn predict_on(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        let (n, o, l) =
            (self.config.num_envs as usize, self.actor.shape.obs_len as usize, self.actor.shape.num_outputs as usize);
        let (sizes, w) = (&self.sizes, &mut self.work);
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (actor, log_std, _) = split_params(self.params, sizes)?;
        let outputs = block::rows_mut(w.outputs, 0, n, l)?;
        sizes.actor.infer(actor, seen, n, w.scratch, outputs)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        block::copy(w.rng, self.predict_rng);
        let noise = block::rows_mut(w.noise, 0, n, self.actor.shape.action_len as usize)?;
        head.noise(w.rng, noise);
        head.draw(n, outputs, mask, sampling, noise, action)?;
        block::copy(self.predict_rng, w.rng);
        Ok(())
    }

    /// The value of each observation: `obs` `[N, obs_len]`, `value` `[N]`. Nothing is recorded. Errors as [`Ppo::act`];
    /// `value` stays as it was then.
    pub fn value(&mut self, obs: Elements<'_>, value: &mut [f32]) -> Result {
        let n = self.config.num_envs as usize;
        check_obs("ppo value: observations", &self.actor.shape, n, &obs)?;
        check_len("ppo value: values", value, n)?;
        let done = self.value_of(obs, value);
        self.tidy();
        done
    }

    fn value_of(&mut self, obs: Elements<'_>, value: &mut [f32]) -> Result {
        let (n, o, w) = (self.config.num_envs as usize, self.actor.shape.obs_len as usize, &mut self.work);
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (_, _, critic) = split_params(self.params, &self.sizes)?;
        let values = block::rows_mut(w.scalar, 0, n, 1)?;
        self.sizes.critic.infer(critic, seen, n, w.scratch, values)?;
        check_finite("ppo value: values that do not overflow", values)?;
        block::copy(value, values);
        Ok(())
    }

    /// Zeroes the working arrays that calls of N rows use.
    fn tidy(&mut self) {
        let (n, w) = (self.config.num_envs as usize, &mut self.work);
        let (o, a) = (self.actor.shape.obs_len as usize, self.actor.shape.action_len as usize);
        let scratch = self.sizes.actor.infer_scratch_len(n).max(self.sizes.critic.infer_scratch_len(n));
        let numbers = [
            (&mut *w.raw, o),
            (&mut *w.obs, o),
            (&mut *w.vector, self.sizes.std_len),
            (&mut *w.scalar, 3),
            (&mut *w.outputs, self.actor.shape.num_outputs as usize),
            (&mut *w.noise, a),
        ];
        for (array, width) in numbers {
            zero(array, n.saturating_mul(width));
        }
        zero(w.choice, n.saturating_mul(self.action_n.len()));
        zero(w.scratch, scratch);
        zero(w.rng, n);
    }

    /// Bytes that `export` needs.
    pub fn policy_size(&self) -> Result<usize> {
        self.policy_source()?.size()
    }

    /// Writes the policy alone, as it is now, to the caller's bytes. Errors: `Align`, `Size`; then nothing is written.
    pub fn export(&self, mem: &mut [u8]) -> Result {
        self.policy_source()?.write(mem)
    }

    fn policy_source(&self) -> Result<policy::Source<'_>> {
        let (params, log_std, _) = split_params(self.params, &self.sizes)?;
        Ok(policy::Source {
            config: self.actor,
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
            Phase::Act => "ppo: act, which is due now",
            Phase::Observe => "ppo: observe, which is due now",
            Phase::Learn => "ppo: learn, which is due now",
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
            let what = "ppo: an action mask exactly if use_action_mask is 1; it is";
            return Err(Error::new(Kind::Shape, what).needed(self.config.use_action_mask as usize));
        }
        self.head()?.check_mask(mask, rows)
    }

    fn count_episodes(&mut self, reward: &[f32], terminated: &[u8], truncated: &[u8]) {
        let flags = terminated.iter().zip(truncated).map(|(a, b)| a | b != 0);
        let episodes = self.episode_return.iter_mut().zip(self.episode_len.iter_mut());
        for (((sum, len), reward), ended) in episodes.zip(reward).zip(flags) {
            *sum += f64::from(*reward);
            *len = len.saturating_add(1);
            if ended {
                let slot = (self.state.num_episodes % EPISODES as u64) as usize;
                if let (Some(r), Some(l)) = (self.recent_return.get_mut(slot), self.recent_len.get_mut(slot)) {
                    (*r, *l) = (*sum as f32, *len);
                }
                self.state.return_last = *sum as f32;
                self.state.num_episodes = self.state.num_episodes.saturating_add(1);
                (*sum, *len) = (0.0, 0);
            }
        }
    }
}

/// Learning.
impl Ppo<'_> {
    /// Does at most `max_slices` chunks of the update that is due, of which a minibatch has `num_chunks` (0: all that are
    /// left), and returns its statistics so far. Results do not depend on how an update is sliced.
    ///
    /// `obs`: `[N, obs_len]`, what the next `act` will see; required in the first call of an update, ignored in the others.
    /// Errors: `NotReady`; `Null`, `Shape`, `Value` for `obs`, then nothing changes; `Value` if numbers of the update
    /// overflow. Then the update is over and counted in `num_dropped`, parameters are those of the last minibatch whose
    /// numbers did not, and `act` is due.
    pub fn learn(&mut self, obs: Option<Elements<'_>>, max_slices: u32) -> Result<Stats> {
        self.due(Phase::Learn)?;
        if (self.state.minibatch, self.state.chunk) == (0, 0) {
            let obs = obs.as_ref().ok_or(Error::new(Kind::Null, "ppo learn: obs, in the first call of an update"))?;
            check_obs("ppo learn: obs", &self.actor.shape, self.config.num_envs as usize, obs)?;
        }
        let done = self.learn_slices(obs, max_slices);
        self.tidy();
        done.map_err(|e| {
            self.state.num_dropped = self.state.num_dropped.saturating_add(1);
            self.begin_rollout();
            let what = "ppo learn: numbers that do not overflow; the update was dropped, act is due";
            if e.kind == Kind::Value { Error { what: Error::new(e.kind, what).what, ..e } } else { e }
        })?;
        Ok(self.stats())
    }

    fn learn_slices(&mut self, obs: Option<Elements<'_>>, max_slices: u32) -> Result {
        if let (0, 0, Some(obs)) = (self.state.minibatch, self.state.chunk, obs) {
            self.begin_update(obs)?;
        }
        let total = self.config.update_len();
        let mut budget = if max_slices == 0 { u64::MAX } else { max_slices.into() };
        while budget > 0 && self.state.minibatch < total {
            budget -= 1;
            self.learn_chunk(self.state.minibatch, self.state.chunk)?;
            self.state.chunk = self.state.chunk.saturating_add(1);
            if self.state.chunk >= self.config.num_chunks {
                self.state.chunk = 0;
                self.state.minibatch = match self.apply()? {
                    Done::Stepped => self.state.minibatch.saturating_add(1),
                    Done::TooFar => total,
                };
            }
        }
        if self.state.minibatch >= total {
            self.state.num_updates = self.state.num_updates.saturating_add(1);
            self.begin_rollout();
        }
        Ok(())
    }

    /// What the last update did, or the running one has done so far.
    pub fn stats(&self) -> Stats {
        let s = &self.state;
        let mean = |sum: f64| (sum / s.sums.count) as f32;
        let kept = s.num_episodes.min(EPISODES as u64) as usize;
        let returns: f64 = self.recent_return.iter().take(kept).map(|&x| f64::from(x)).sum();
        let lengths: f64 = self.recent_len.iter().take(kept).map(|&x| f64::from(x)).sum();
        let left = if self.phase() == Phase::Learn { self.config.update_len().saturating_sub(s.minibatch) } else { 0 };
        Stats {
            minibatches_left: left,
            num_steps: s.num_steps,
            num_updates: s.num_updates,
            num_dropped: s.num_dropped,
            num_episodes: s.num_episodes,
            learning_rate: s.learning_rate,
            policy_loss: mean(s.sums.policy_loss),
            value_loss: mean(s.sums.value_loss),
            entropy: mean(s.sums.entropy),
            approx_kl: mean(s.sums.approx_kl),
            clip_fraction: mean(s.sums.clip_fraction),
            grad_norm: mean(s.sums.grad_norm),
            explained_variance: s.explained_variance,
            value_mean: s.value_mean,
            return_mean: (returns / kept as f64) as f32,
            length_mean: (lengths / kept as f64) as f32,
            return_last: s.return_last,
        }
    }

    /// Values of the observations after the rollout, then advantages and targets.
    fn begin_update(&mut self, obs: Elements<'_>) -> Result {
        let (n, t) = (self.config.num_envs as usize, self.config.num_steps as usize);
        let (sizes, w, r) = (&self.sizes, &mut self.work, &mut self.rollout);
        let o = self.actor.shape.obs_len as usize;
        to_f32(obs, w.raw);
        let seen = block::rows_mut(w.obs, 0, n, o)?;
        see(&self.actor, self.obs_mean, self.obs_var, w.raw, seen)?;
        let (_, _, critic) = split_params(self.params, sizes)?;
        sizes.critic.infer(critic, seen, n, w.scratch, r.bootstrap_value)?;
        let rollout = gae::Rollout {
            num_steps: t,
            num_envs: n,
            reward: r.reward,
            value: r.value,
            bootstrap_value: r.bootstrap_value,
            terminated: r.terminated,
            truncated: r.truncated,
            final_value: Some(r.final_value),
            accumulate: self.config.accumulation(),
        };
        gae::gae_checked(&rollout, self.config.discount, self.config.gae_lambda, r.advantage, r.value_target)?;
        let (c, s) = (&self.config, &mut self.state);
        s.sums = Sums::zeroed();
        s.explained_variance = moments::explained_variance(r.value, r.value_target)? as f32;
        s.value_mean = moments::mean_std(r.value)?.0 as f32;
        let before = s.num_steps.saturating_sub(c.batch_len() as u64);
        s.learning_rate = c.scheduled(c.learning_rate, c.learning_rate_end, before)?;
        s.clip = c.scheduled(c.clip, c.clip_end, before)?;
        Ok(())
    }

    fn begin_rollout(&mut self) {
        let s = &mut self.state;
        (s.minibatch, s.chunk) = (0, 0);
        s.filled = 0;
        s.phase = Phase::Act as u32;
    }

    /// Losses and gradients of a chunk of a minibatch; these are numbered from 0 over all epochs.
    fn learn_chunk(&mut self, minibatch: u32, chunk: u32) -> Result {
        let (c, sizes, state) = (&self.config, &self.sizes, &mut *self.state);
        let (shape, r, w) = (&self.actor.shape, &self.rollout, &mut self.work);
        let num_rows = c.minibatch_len();
        let (o, l) = (shape.obs_len as usize, shape.num_outputs as usize);
        let part = minibatch.checked_rem(c.num_minibatches).unwrap_or(0);
        if (part, chunk) == (0, 0) {
            state.shuffle_rng.permutation(self.order);
        }
        let order = block::rows(self.order, (part as usize).saturating_mul(num_rows), num_rows, 1)?;
        gather(order, r.advantage, 1, w.advantage)?;
        if c.normalize_advantage != 0 {
            moments::standardise(w.advantage, ADVANTAGE_EPSILON)?;
        }
        let (begin, end) = c.chunk(chunk);
        let (order, advantage) = (order.get(begin..end).ok_or(Misfit)?, w.advantage.get(begin..end).ok_or(Misfit)?);
        let m = order.len();

        let obs = gather(order, r.obs, o, w.obs)?;
        let choice = gather(order, r.choice, self.action_n.len(), w.choice)?;
        let vector = gather(order, r.vector, sizes.std_len, w.vector)?;
        let mask = if c.use_action_mask != 0 { Some(gather(order, r.mask, l, w.mask)?) } else { None };
        let mut columns = w.scalar.chunks_exact_mut(sizes.rows.max(1)).filter_map(|column| column.get_mut(..m));
        let mut column = || columns.next().ok_or(Misfit);
        let old_log_prob = gather(order, r.log_prob, 1, column()?)?;
        let old_value = gather(order, r.value, 1, column()?)?;
        let value_target = gather(order, r.value_target, 1, column()?)?;
        let (log_prob, value, d_log_prob, d_value) = (column()?, column()?, column()?, column()?);
        let entropy = column()?;

        let (actor, log_std, critic) = split_params(self.params, sizes)?;
        let (outputs, d_outputs) = (block::rows_mut(w.outputs, 0, m, l)?, block::rows_mut(w.d_outputs, 0, m, l)?);
        let actor_tape = block::rows_mut(w.tape, 0, sizes.actor.tape_len(m), 1)?;
        sizes.actor.forward(actor, obs, m, actor_tape, outputs)?;
        let head = Head::new(&self.actor, self.action_n, self.action_low, self.action_high, log_std);
        let raw = if shape.discrete() { Raw::Choice(choice) } else { Raw::Vector(vector) };
        head.evaluate(outputs, mask, raw, log_prob, entropy)?;

        let critic_tape = block::rows_mut(w.critic_tape, 0, sizes.critic.tape_len(m), 1)?;
        sizes.critic.forward(critic, obs, m, critic_tape, value)?;

        let batch = Batch { num_rows, log_prob, old_log_prob, advantage, value, old_value, value_target };
        let coefficients = Coefficients { clip: state.clip, value_clip: c.value_clip, value_coef: c.value_coef };
        let losses = loss::policy_and_value(&batch, &coefficients, d_log_prob, d_value)?;
        let share = m as f64 / num_rows as f64;
        *self.chunks.get_mut(chunk as usize).ok_or(Misfit)? =
            Chunk { losses, entropy: moments::mean_std(entropy)?.0 * share };

        let grads = block::rows_mut(self.grads, chunk as usize, 1, self.params.len())?;
        let (d_actor, d_log_std, d_critic) = split_params_mut(grads, sizes)?;
        let d_entropy = entropy;
        d_entropy.fill(-c.entropy_coef / num_rows as f32);
        head.gradient(outputs, mask, raw, d_log_prob, d_entropy, d_outputs, d_log_std)?;
        sizes.actor.backward(actor, obs, m, actor_tape, d_outputs, d_actor, w.scratch)?;
        sizes.critic.backward(critic, obs, m, critic_tape, d_value, d_critic, w.scratch)
    }

    /// Adds the chunks of a minibatch and takes its optimiser step.
    fn apply(&mut self) -> Result<Done> {
        let (c, sizes, state) = (&self.config, &self.sizes, &mut *self.state);
        add_as_tree(self.chunks, 1, Chunk::plus);
        let Chunk { losses, entropy } = *self.chunks.first().ok_or(Misfit)?;
        let all = [losses.policy_loss, losses.value_loss, losses.approx_kl, losses.clip_fraction, entropy as f32];
        check_finite("ppo losses", &all)?;
        let sums = &mut state.sums;
        sums.count += 1.0;
        sums.policy_loss += f64::from(losses.policy_loss);
        sums.value_loss += f64::from(losses.value_loss);
        sums.approx_kl += f64::from(losses.approx_kl);
        sums.clip_fraction += f64::from(losses.clip_fraction);
        sums.entropy += entropy;
        if c.target_kl > 0.0 && losses.approx_kl > 1.5 * c.target_kl {
            return Ok(Done::TooFar);
        }
        add_as_tree(self.grads, self.params.len(), |a: f32, b| num::canonical(a + b));
        let grads = block::rows(self.grads, 0, 1, self.params.len())?;
        let adam = Adam {
            beta1: c.adam_beta1,
            beta2: c.adam_beta2,
            epsilon: c.adam_epsilon,
            limit: PARAM_LIMIT,
            ..Adam::default()
        };
        let (m, v, steps) = (&mut *self.adam_m, &mut *self.adam_v, &mut state.adam_steps);
        let norm = adam.step(self.params, grads, m, v, steps, state.learning_rate, c.max_grad_norm)?;
        sums.grad_norm += f64::from(num::min(norm, f32::MAX));
        let (_, log_std, _) = split_params_mut(self.params, sizes)?;
        log_std.iter_mut().for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
        Ok(Done::Stepped)
    }
}

/// What a chunk adds to the losses of its minibatch.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    losses: Losses,
    entropy: f64,
}

impl Chunk {
    fn plus(self, other: Chunk) -> Chunk {
        let (a, b) = (self.losses, other.losses);
        let losses = Losses {
            policy_loss: num::canonical(a.policy_loss + b.policy_loss),
            value_loss: num::canonical(a.value_loss + b.value_loss),
            approx_kl: num::canonical(a.approx_kl + b.approx_kl),
            clip_fraction: num::canonical(a.clip_fraction + b.clip_fraction),
        };
        Chunk { losses, entropy: self.entropy + other.entropy }
    }
}

/// Adds all parts of `width` elements to the first one, as a binary tree over their numbers: parts 1 apart, then the sums
/// that are 2 apart, then 4, and so on. So a tree of n parts is that of the largest power of two below n and the rest.
fn add_as_tree<T: Copy>(parts: &mut [T], width: usize, add: impl Fn(T, T) -> T) {
    let mut apart = width.max(1);
    while apart < parts.len() {
        let pair = apart.saturating_mul(2);
        for pair in parts.chunks_mut(pair.max(1)) {
            let Some((first, second)) = pair.split_at_mut_checked(apart) else { continue };
            first.iter_mut().zip(second).take(width).for_each(|(a, b)| *a = add(*a, *b));
        }
        apart = pair;
    }
}

/// What became of a minibatch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Done {
    /// The parameters moved.
    Stepped,
    /// The policy has moved too far from the one that acted; the update is over.
    TooFar,
}

/// Added to the deviation that advantages are divided by (spec: agents, section 2.3).
const ADVANTAGE_EPSILON: f64 = 1e-7;

/// Actor, logarithms of standard deviations, critic.
fn split_params<'p>(params: &'p [f32], sizes: &Sizes) -> Fit<(&'p [f32], &'p [f32], &'p [f32])> {
    let (actor, rest) = params.split_at_checked(sizes.actor_len).ok_or(Misfit)?;
    let (log_std, critic) = rest.split_at_checked(sizes.std_len).ok_or(Misfit)?;
    Ok((actor, log_std, critic))
}

/// The same, for writing.
fn split_params_mut<'p>(params: &'p mut [f32], sizes: &Sizes) -> Fit<(&'p mut [f32], &'p mut [f32], &'p mut [f32])> {
    let (actor, rest) = params.split_at_mut_checked(sizes.actor_len).ok_or(Misfit)?;
    let (log_std, critic) = rest.split_at_mut_checked(sizes.std_len).ok_or(Misfit)?;
    Ok((actor, log_std, critic))
}

/// A count of rows, no larger than counts may be.
fn bounded(count: f64) -> f64 {
    if count > MAX_COUNT { MAX_COUNT } else { count }
}

/// Zeroes the first elements of an array, at most all of them.
fn zero<T: Zeroable + Copy>(array: &mut [T], len: usize) {
    array.iter_mut().take(len).for_each(|x| *x = T::zeroed());
}

/// Copies the rows that `order` names to the front of `to`, and returns them.
fn gather<'t, T: Copy>(order: &[u32], from: &[T], width: usize, to: &'t mut [T]) -> Fit<&'t [T]> {
    let to = block::rows_mut(to, 0, order.len(), width)?;
    let mut rest = &mut *to;
    for &i in order {
        let (row, after) = rest.split_at_mut_checked(width).ok_or(Misfit)?;
        block::copy(row, block::rows(from, i as usize, 1, width)?);
        rest = after;
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    /// The tree that is documented, written down as it is said: the largest power of two below the number of parts, and the
    /// rest.
    fn tree(parts: &[Vec<f32>]) -> Vec<f32> {
        if let [part] = parts {
            return part.clone();
        }
        let (left, right) = parts.split_at(parts.len().next_power_of_two() / 2);
        tree(left).iter().zip(tree(right)).map(|(a, b)| a + b).collect()
    }

    /// Rows `order` of an array, one by one.
    fn rows<T: Copy>(order: &[u32], from: &[T], width: usize) -> Vec<T> {
        order.iter().flat_map(|&i| &from[i as usize * width..][..width]).copied().collect()
    }

    /// Gradients of rows `[begin, end)` of the first minibatch, with arrays of their own.
    fn gradient(ppo: &Ppo<'_>, begin: usize, end: usize) -> Vec<f32> {
        let (c, r, sizes, m) = (&ppo.config, &ppo.rollout, &ppo.sizes, end - begin);
        let num_rows = c.minibatch_len();
        let mut advantage = rows(&ppo.order[..num_rows], r.advantage, 1);
        moments::standardise(&mut advantage, ADVANTAGE_EPSILON).unwrap();
        let order = &ppo.order[begin..end];
        let obs = rows(order, r.obs, ppo.shape().obs_len as usize);
        let (choice, vector) = (rows(order, r.choice, ppo.action_n.len()), rows(order, r.vector, sizes.std_len));
        let raw = if ppo.shape().discrete() { Raw::Choice(&choice) } else { Raw::Vector(&vector) };
        let (actor, _, critic) = split_params(ppo.params, sizes).unwrap();
        let column = || vec![0.0; m];
        let (mut log_prob, mut entropy, mut value) = (column(), column(), column());
        let (mut d_log_prob, mut d_value) = (column(), column());
        let mut outputs = vec![0.0; m * sizes.actor.output()];
        let (mut tape, mut critic_tape) = (vec![0.0; sizes.actor.tape_len(m)], vec![0.0; sizes.critic.tape_len(m)]);
        sizes.actor.forward(actor, &obs, m, &mut tape, &mut outputs).unwrap();
        sizes.critic.forward(critic, &obs, m, &mut critic_tape, &mut value).unwrap();
        ppo.head().unwrap().evaluate(&outputs, None, raw, &mut log_prob, &mut entropy).unwrap();
        let batch = Batch {
            num_rows,
            log_prob: &log_prob,
            old_log_prob: &rows(order, r.log_prob, 1),
            advantage: &advantage[begin..end],
            value: &value,
            old_value: &rows(order, r.value, 1),
            value_target: &rows(order, r.value_target, 1),
        };
        let weights = Coefficients { clip: ppo.state.clip, value_clip: c.value_clip, value_coef: c.value_coef };
        loss::policy_and_value(&batch, &weights, &mut d_log_prob, &mut d_value).unwrap();
        let mut grads = vec![0.0; ppo.params.len()];
        let (d_actor, d_log_std, d_critic) = split_params_mut(&mut grads, sizes).unwrap();
        let (d_entropy, mut d_outputs) = (vec![-c.entropy_coef / num_rows as f32; m], outputs.clone());
        let head = ppo.head().unwrap();
        head.gradient(&outputs, None, raw, &d_log_prob, &d_entropy, &mut d_outputs, d_log_std).unwrap();
        let mut scratch = vec![0.0; sizes.actor.scratch_len().max(sizes.critic.scratch_len())];
        sizes.actor.backward(actor, &obs, m, &tape, &d_outputs, d_actor, &mut scratch).unwrap();
        sizes.critic.backward(critic, &obs, m, &critic_tape, &d_value, d_critic, &mut scratch).unwrap();
        grads
    }

    #[test]
    fn gradients_of_chunks_are_added_as_the_documented_tree() {
        for action in [Space::discrete(&[3, 2]), Space::unbounded(2)] {
            let mut plain: Vec<f32> = Vec::new();
            for num_chunks in [1, 2, 3, 7, 40] {
                let config = Config {
                    num_steps: 20,
                    num_minibatches: 2,
                    num_epochs: 1,
                    num_chunks,
                    hidden_len: [20, 7, 0, 0],
                    max_grad_norm: 0.0,
                    ..Config::default()
                };
                let obs_space = Space::unbounded(3);
                let mut block = vec![0u64; Ppo::size(&config, &obs_space, &action).unwrap() / 8];
                let mut ppo = Ppo::init(bytemuck::cast_slice_mut(&mut block), &config, &obs_space, &action).unwrap();
                let mut rng = Rng::seeded(8);
                let mut obs = [0.0; 12];
                while ppo.phase() != Phase::Learn {
                    obs.fill_with(|| rng.uniform_f32() - 0.5);
                    let (mut choice, mut vector) = ([0; 8], [0.0; 8]);
                    let to = if ppo.shape().discrete() {
                        ElementsMut::I32(&mut choice)
                    } else {
                        ElementsMut::F32(&mut vector)
                    };
                    ppo.act(Elements::F32(&obs), None, to).unwrap();
                    ppo.observe(&obs[..4], &[0, 0, 1, 0], &[0; 4], None).unwrap();
                }
                // The first call has made advantages and the order, and no step unless there is one chunk alone.
                let before = ppo.params.to_vec();
                ppo.learn(Some(Elements::F32(&obs)), 1).unwrap();
                let after = ppo.params.to_vec();
                assert!((after != before) == (num_chunks == 1));
                ppo.params.copy_from_slice(&before);
                let chunks: Vec<Vec<f32>> =
                    (0..num_chunks).map(|i| config.chunk(i)).map(|(a, b)| gradient(&ppo, a, b)).collect();
                let sum = tree(&chunks);
                ppo.params.copy_from_slice(&after);
                if num_chunks > 1 {
                    let stats = ppo.learn(None, num_chunks - 1).unwrap();
                    assert_eq!((stats.minibatches_left, ppo.state.chunk), (1, 0));
                }
                assert!(ppo.grads[..sum.len()].iter().zip(&sum).all(|(a, b)| a.to_bits() == b.to_bits()));
                let (mut params, mut m, mut v) = (before.clone(), vec![0.0; sum.len()], vec![0.0; sum.len()]);
                let rate = config.learning_rate;
                Adam::default().step(&mut params, &sum, &mut m, &mut v, &mut 0, rate, 0.0).unwrap();
                assert!(*ppo.params == *params, "{num_chunks} chunks");
                // Whatever the chunks, the same gradient but for rounding.
                if plain.is_empty() {
                    plain = sum.clone();
                }
                assert!(plain.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-6), "{num_chunks} chunks");
                assert!(plain.iter().any(|x| x.abs() > 1e-3));
            }
        }
    }
}
