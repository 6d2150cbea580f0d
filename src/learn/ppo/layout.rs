//! Where everything lies in a learner's block.

use super::learn::Chunk;
use super::{EPISODES, Ppo, State};
use crate::block::{self, Cutter, Fit, Misfit, Plan, Span, TooLong};
use crate::error::Result;
use crate::learn::config::Stored;
use crate::nn::Mlp;
use crate::rng::Rng;

/// Working columns of a chunk.
const COLUMNS: usize = 8;

/// The one place where the layout of a learner's block is written down.
#[derive(Clone, Copy)]
pub(super) struct Spans {
    pub(super) action_n: Span<u32>,
    pub(super) action_low: Span<f32>,
    pub(super) action_high: Span<f32>,
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
pub(super) struct Sizes {
    pub(super) actor: Mlp,
    pub(super) critic: Mlp,
    /// Rows of the working arrays: a chunk, or one observation of each environment.
    pub(super) rows: usize,
    pub(super) actor_len: usize,
    pub(super) std_len: usize,
}

pub(super) fn sizes(stored: &Stored) -> Result<Sizes> {
    let Stored { config: c, shape: s } = stored;
    let actor = stored.actor().tower(s.num_outputs)?;
    let critic = stored.actor().tower(1)?;
    let rows = c.chunk_len().max(c.num_envs as usize);
    Ok(Sizes { actor, critic, rows, actor_len: actor.param_len(), std_len: s.std_len() })
}

/// Bytes of a learner's block.
pub(super) fn block_size(stored: &Stored) -> Result<usize> {
    Ok(plan(stored, &sizes(stored)?)?.1)
}

/// Where everything lies, and the bytes of the whole block.
pub(super) fn plan(stored: &Stored, sizes: &Sizes) -> core::result::Result<(Spans, usize), TooLong> {
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

/// The experience of one update, `[T, N, …]`.
pub(super) struct Rollout<'a> {
    /// As the networks saw them: converted and normalised.
    pub(super) obs: &'a mut [f32],
    pub(super) choice: &'a mut [i32],
    /// Before squashing or clipping.
    pub(super) vector: &'a mut [f32],
    pub(super) mask: &'a mut [u8],
    pub(super) log_prob: &'a mut [f32],
    pub(super) value: &'a mut [f32],
    pub(super) reward: &'a mut [f32],
    pub(super) terminated: &'a mut [u8],
    pub(super) truncated: &'a mut [u8],
    pub(super) final_value: &'a mut [f32],
    pub(super) bootstrap_value: &'a mut [f32],
    pub(super) advantage: &'a mut [f32],
    pub(super) value_target: &'a mut [f32],
}

/// Working arrays, meaningful within one call only. What calls of N rows use is zero between calls, so that one that
/// fails leaves every byte of the block as it was.
pub(super) struct Work<'a> {
    /// Streams with the draws of this call, `[N]`.
    pub(super) rng: &'a mut [Rng],
    /// Observations before they are normalised, `[N, obs_len]`.
    pub(super) raw: &'a mut [f32],
    pub(super) obs: &'a mut [f32],
    pub(super) choice: &'a mut [i32],
    pub(super) vector: &'a mut [f32],
    pub(super) mask: &'a mut [u8],
    pub(super) scalar: &'a mut [f32],
    /// Of the whole minibatch.
    pub(super) advantage: &'a mut [f32],
    pub(super) outputs: &'a mut [f32],
    pub(super) d_outputs: &'a mut [f32],
    pub(super) noise: &'a mut [f32],
    pub(super) tape: &'a mut [f32],
    pub(super) critic_tape: &'a mut [f32],
    pub(super) scratch: &'a mut [f32],
}

impl<'a> Ppo<'a> {
    pub(super) fn cut(mem: &'a mut [u8], stored: &Stored) -> Result<Ppo<'a>> {
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
}

/// Actor, logarithms of standard deviations, critic.
pub(super) fn split_params<'p>(params: &'p [f32], sizes: &Sizes) -> Fit<(&'p [f32], &'p [f32], &'p [f32])> {
    let (actor, rest) = params.split_at_checked(sizes.actor_len).ok_or(Misfit)?;
    let (log_std, critic) = rest.split_at_checked(sizes.std_len).ok_or(Misfit)?;
    Ok((actor, log_std, critic))
}

/// The same, for writing.
pub(super) fn split_params_mut<'p>(
    params: &'p mut [f32],
    sizes: &Sizes,
) -> Fit<(&'p mut [f32], &'p mut [f32], &'p mut [f32])> {
    let (actor, rest) = params.split_at_mut_checked(sizes.actor_len).ok_or(Misfit)?;
    let (log_std, critic) = rest.split_at_mut_checked(sizes.std_len).ok_or(Misfit)?;
    Ok((actor, log_std, critic))
}
