//! Where everything lies in a learner's block.

use super::{FieldSpans, Learner};
use crate::block::{self, Cutter, Fit, Misfit, Plan, TooLong, fields};
use crate::error::Result;
use crate::learn::config::Stored;
use crate::nn::Mlp;
use crate::rng::Rng;

/// Working columns of a chunk.
const COLUMNS: usize = 8;

/// Where everything lies in a learner's block.
#[derive(Clone, Copy)]
pub(super) struct Spans {
    rollout: RolloutSpans,
    work: WorkSpans,
    pub(super) fields: FieldSpans,
}

/// Numbers that the lengths of fields are made of.
pub(super) struct Lens {
    /// N.
    pub(super) n: usize,
    /// T * N.
    pub(super) batch: usize,
    /// Rows of the working arrays.
    rows: usize,
    obs: usize,
    outputs: usize,
    pub(super) choices: usize,
    pub(super) bounds: usize,
    std: usize,
    pub(super) moments: usize,
    masks: usize,
    pub(super) params: usize,
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
    let (choices, bounds) = s.action_lens();
    let (n, outputs) = (c.num_envs as usize, s.num_outputs as usize);
    let lens = Lens {
        n,
        batch: c.batch_len(),
        rows,
        obs: s.obs_len as usize,
        outputs,
        choices,
        bounds,
        std: std_len,
        moments: stored.actor().moments_len(),
        masks: if c.use_action_mask != 0 { outputs } else { 0 },
        params: actor.param_len().saturating_add(std_len).saturating_add(critic.param_len()),
    };
    let infer = |tower: &Mlp| tower.infer_scratch_len(usize::MAX);
    let scratch = [actor.scratch_len(), critic.scratch_len(), infer(&actor), infer(&critic)];
    let scratch = scratch.into_iter().fold(0, usize::max);
    let tapes = [actor.tape_len(rows), critic.tape_len(rows)];
    let mut p = Plan::default();
    block::spans::<Stored>(&mut p)?;
    let spans = Spans {
        rollout: RolloutSpans::plan(&mut p, &lens)?,
        work: WorkSpans::plan(&mut p, &lens, s.action_len as usize, c.minibatch_len(), tapes, scratch)?,
        fields: FieldSpans::plan(&mut p, c, &lens)?,
    };
    Ok((spans, p.size()?))
}

/// Elements of so many rows. What overflows is too long for any element.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

fields! {
    pub(super) spans RolloutSpans(lens: &Lens) {
        /// As the networks saw them: converted and normalised.
        pub(super) obs: [f32] = grid(lens.batch, lens.obs),
        pub(super) choice: [i32] = grid(lens.batch, lens.choices),
        /// Before squashing or clipping.
        pub(super) vector: [f32] = grid(lens.batch, lens.std),
        pub(super) mask: [u8] = grid(lens.batch, lens.masks),
        pub(super) log_prob: [f32] = lens.batch,
        pub(super) value: [f32] = lens.batch,
        pub(super) reward: [f32] = lens.batch,
        pub(super) terminated: [u8] = lens.batch,
        pub(super) truncated: [u8] = lens.batch,
        pub(super) final_value: [f32] = lens.batch,
        pub(super) bootstrap_value: [f32] = lens.n,
        pub(super) advantage: [f32] = lens.batch,
        pub(super) value_target: [f32] = lens.batch,
    }
    /// The experience of one update, `[T, N, …]`.
    pub(super) write Rollout {}
}

fields! {
    pub(super) spans WorkSpans(lens: &Lens, action_len: usize, minibatch: usize, tapes: [usize; 2], scratch_len: usize) {
        /// Streams with the draws of this call, `[N]`.
        pub(super) rng: [Rng] = lens.n,
        /// Observations before they are normalised, `[N, obs_len]`.
        pub(super) raw: [f32] = grid(lens.n, lens.obs),
        pub(super) obs: [f32] = grid(lens.rows, lens.obs),
        pub(super) choice: [i32] = grid(lens.rows, lens.choices),
        pub(super) vector: [f32] = grid(lens.rows, lens.std),
        pub(super) mask: [u8] = grid(lens.rows, lens.masks),
        pub(super) scalar: [f32] = grid(lens.rows, COLUMNS),
        /// Of the whole minibatch.
        pub(super) advantage: [f32] = minibatch,
        pub(super) outputs: [f32] = grid(lens.rows, lens.outputs),
        pub(super) d_outputs: [f32] = grid(lens.rows, lens.outputs),
        pub(super) noise: [f32] = grid(lens.n, action_len),
        pub(super) tape: [f32] = tapes[0],
        pub(super) critic_tape: [f32] = tapes[1],
        pub(super) scratch: [f32] = scratch_len,
    }
    /// Working arrays, meaningful within one call only. What calls of N rows use is zero between calls, so that one that
    /// fails leaves every byte of the block as it was.
    pub(super) write Work {}
}

impl<'a> Learner<'a> {
    pub(super) fn of(mem: &'a mut [u8], stored: &Stored) -> Result<Learner<'a>> {
        let sizes = sizes(stored)?;
        let (spans, _) = plan(stored, &sizes)?;
        Ok(Self::take(mem, stored, sizes, &spans)?)
    }

    #[inline(never)]
    fn take(mem: &'a mut [u8], stored: &Stored, sizes: Sizes, s: &Spans) -> Fit<Learner<'a>> {
        let mut cut = Cutter::new(mem);
        let (rollout, work) = (Rollout::cut(&mut cut, &s.rollout)?, Work::cut(&mut cut, &s.work)?);
        Learner::cut(&mut cut, &s.fields, stored.config, stored.actor(), sizes, rollout, work)
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
