//! Where everything lies in the block of a learner off policy.

use bytemuck::{Pod, Zeroable};

use super::frames::Ring;
use super::{FieldSpans, OffPolicy, Phase, State, View};
use crate::block::{self, Kind as BlockKind, Late, Misfit, Plan, Span, TooLong, fields};
use crate::error::Result;
use crate::learn::config::Config;
use crate::learn::seen::{Front, Seen};
use crate::learn::stored::Stored;
use crate::nn::{Net, Node};
use crate::space::Element;

/// Working columns of a chunk.
pub(in crate::learn) const COLUMNS: usize = 7;

/// Numbers behind the gradients of a chunk: its losses, as the algorithm lists them, and zeros.
pub(in crate::learn) const LOSSES: usize = 8;

/// Where everything lies in the block, which keeps it: calls look it up, and only `attach` works it out again.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spans {
    work: WorkSpans,
    pub(super) fields: FieldSpans,
}

/// What follows from the stored configuration.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Sizes<'n> {
    /// Q, or the policy.
    pub(in crate::learn) policy: Net<'n>,
    /// What an action is worth, for TD3 and SAC; else no layers.
    pub(in crate::learn) critic: Net<'n>,
    pub(in crate::learn) num_critics: usize,
    /// Numbers of the distributions that critics say; 0 if they say one value.
    pub(in crate::learn) quantiles: usize,
    /// How networks see observations.
    pub(in crate::learn) seen: Seen<'n>,
    /// Parameters.
    pub(in crate::learn) params: usize,
    /// The gradients of a chunk and its losses.
    pub(in crate::learn) record: usize,
    /// Rows of the longest chunk.
    pub(in crate::learn) rows: usize,
    /// N.
    pub(super) n: usize,
    /// Numbers and bytes of an observation in the store; one of them is 0.
    pub(in crate::learn) obs: usize,
    pub(in crate::learn) pixels: usize,
    /// Where the frames of the store lie, if its observations are stacks.
    pub(in crate::learn) ring: Ring,
    /// Flags of a mask, and of that of what was seen first, which SAC asks for.
    pub(in crate::learn) masks: usize,
    pub(super) own_masks: usize,
    /// What a critic says of all choices; 0 if actions are numbers, and without critics.
    pub(in crate::learn) choice_values: usize,
    /// Elements of an action, of choices or of numbers; one of them is 0.
    choices: usize,
    pub(in crate::learn) vector: usize,
}

impl Sizes<'_> {
    /// Lengths of so many transitions, with whole observations.
    pub(super) fn transitions(&self, rows: usize) -> TransitionLens {
        let &Sizes { obs, pixels, masks, own_masks, choices, vector, .. } = self;
        TransitionLens { rows, obs, pixels, stacked: 0, masks, own_masks, choices, vector }
    }

    /// Bytes of an observation in the store that is not told by frames.
    pub(super) fn whole(&self) -> usize {
        if self.ring.stack.is_kept() { 0 } else { self.pixels }
    }

    /// Lengths of so many transitions as the store keeps them.
    pub(super) fn stored(&self, rows: usize) -> TransitionLens {
        TransitionLens { pixels: self.whole(), stacked: self.ring.stack.num, ..self.transitions(rows) }
    }

    /// Parameters with noise; 0 without noisy layers.
    pub(super) fn noisy(&self) -> usize {
        if self.policy.noise_len() > 0 { self.params } else { 0 }
    }

    /// Numbers that a batch's noise has.
    pub(super) fn noise(&self, rows: usize) -> usize {
        self.vector.saturating_mul(rows).saturating_mul(2)
    }

    /// Numbers of the distributions that Q of all choices are means of; 0 if the network says Q.
    fn spread(&self, c: &Config) -> usize {
        if c.value_head().is_mean() { 0 } else { self.policy.head_len(0) }
    }

    /// Q of all choices, if it is a mean.
    fn means(&self, stored: &Stored) -> usize {
        if stored.config.value_head().is_mean() { 0 } else { stored.shape.num_outputs as usize }
    }

    /// Quantiles of all critics.
    pub(in crate::learn) fn pool(&self) -> usize {
        self.quantiles.saturating_mul(self.num_critics)
    }

    /// Numbers of what critics read, if there are actions among them.
    pub(in crate::learn) fn pair(&self) -> usize {
        if self.choice_values > 0 { 0 } else { self.critic.input() }
    }

    /// Numbers for what two critics say of an environment.
    fn spare(&self) -> usize {
        if self.choice_values > 0 {
            self.choice_values.saturating_mul(2)
        } else {
            self.num_critics.max(self.quantiles.saturating_add(1))
        }
    }

    /// Numbers beside what the policy says first: what it says else, or critics of its choices.
    fn others(&self) -> usize {
        self.policy.head_len(1).max(self.choice_values)
    }
}

pub(super) fn sizes<'n>(stored: &Stored, [policy, critic]: [Net<'n>; 2], seen: Seen<'n>) -> Sizes<'n> {
    let (c, shape) = (&stored.config, &stored.shape);
    let num_critics = if c.has_critics() { c.num_critics as usize } else { 0 };
    let critics = critic.param_len().saturating_mul(num_critics);
    let params = policy.param_len().saturating_add(critics);
    let numbers = shape.kinds().0 == Element::F32 && !seen.coded;
    let masks = if c.use_action_mask != 0 { shape.num_outputs as usize } else { 0 };
    let choice_values = if c.has_critics() && shape.discrete() { shape.num_outputs as usize } else { 0 };
    Sizes {
        policy,
        critic,
        num_critics,
        quantiles: if c.has_critics() { c.num_quantiles as usize } else { 0 },
        seen,
        params,
        record: params.saturating_add(LOSSES),
        rows: (c.batch_size as usize).div_ceil((c.num_chunks as usize).max(1)),
        n: c.num_envs as usize,
        obs: if numbers { seen.len } else { 0 },
        pixels: if numbers { 0 } else { shape.obs_size() },
        ring: Ring::new(stored, seen.parts),
        masks,
        own_masks: masks.min(choice_values),
        choice_values,
        choices: shape.action_lens().0,
        vector: shape.std_len(),
    }
}

/// Where everything lies in a block with these networks, and its bytes.
pub(super) fn block_plan(stored: &Stored, nets: [Net<'_>; 2]) -> Result<(Spans, usize)> {
    Ok(plan(stored, &sizes(stored, nets, stored.shape.seen(nets[0], &[], &[])))?)
}

/// Where compiled layers of the policy and of the critics lie, and what is known of observations, before everything whose
/// length they say; then the plan of the rest.
pub(super) fn front(p: &mut Plan, stored: &Stored) -> core::result::Result<(Front, Span<Node>, Span<Spans>), TooLong> {
    block::spans::<Stored>(p)?;
    let front = Front::plan(p, stored.num_policy_layers(), stored.shape.num_parts, stored.shape.num_choices)?;
    Ok((front, p.span(stored.num_critic_layers())?, p.span(1)?))
}

/// Where everything lies, and the bytes of the whole block.
fn plan(stored: &Stored, sizes: &Sizes<'_>) -> core::result::Result<(Spans, usize), TooLong> {
    let mut p = Plan::default();
    front(&mut p, stored)?;
    let spans =
        Spans { work: WorkSpans::plan(&mut p, stored, sizes)?, fields: FieldSpans::plan(&mut p, stored, sizes)? };
    Ok((spans, p.size()?))
}

/// Elements of so many rows. What overflows is too long for any element.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

/// What the lengths of an array of transitions are made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::learn) struct TransitionLens {
    rows: usize,
    obs: usize,
    pixels: usize,
    stacked: usize,
    masks: usize,
    own_masks: usize,
    choices: usize,
    vector: usize,
}

fields! {
    pub(in crate::learn) spans TransitionSpans(lens: TransitionLens) {
        pub(in crate::learn) obs: [f32] = grid(lens.rows, lens.obs),
        /// Observations of other kinds than numbers, as the bytes that they are; `obs` is empty then.
        pub(in crate::learn) pixels: [u8] = grid(lens.rows, lens.pixels),
        /// Where the frames of stacks lie; `pixels` is empty then.
        pub(in crate::learn) frame: [u32] = grid(lens.rows, lens.stacked),
        pub(in crate::learn) next_obs: [f32] = grid(lens.rows, lens.obs),
        pub(in crate::learn) next_pixels: [u8] = grid(lens.rows, lens.pixels),
        pub(in crate::learn) next_frame: [u32] = grid(lens.rows, lens.stacked),
        /// The lower half of how many frames there had been.
        pub(in crate::learn) stamp: [u32] = grid(lens.rows, lens.stacked.min(1)),
        /// What is allowed in `next_obs`.
        pub(in crate::learn) next_mask: [u8] = grid(lens.rows, lens.masks),
        /// What was allowed in `obs`, for SAC.
        pub(in crate::learn) mask: [u8] = grid(lens.rows, lens.own_masks),
        pub(in crate::learn) choice: [i32] = grid(lens.rows, lens.choices),
        /// From -1 to 1.
        pub(in crate::learn) vector: [f32] = grid(lens.rows, lens.vector),
        pub(in crate::learn) reward: [f32] = lens.rows,
        /// Of the value of `next_obs`: 0 where the episode terminated.
        pub(in crate::learn) discount: [f32] = lens.rows,
    }
    /// To write.
    pub(in crate::learn) write TransitionsMut {}
    /// To read.
    #[derive(Clone, Copy)]
    pub(in crate::learn) read TransitionView {}
    /// Transitions: those of the store, a ring; and of each environment the one that it has begun.
    pub(in crate::learn) part Transitions(TransitionLens)
}

fields! {
    pub(in crate::learn) spans WorkSpans(stored: &Stored, sizes: &Sizes<'_>) {
        /// Environments of a call, `[N]`. This and what follows of N rows is zero between calls.
        pub(super) row: [u32] = sizes.n,
        pub(super) seen: [f32] = grid(sizes.n, sizes.seen.len),
        pub(super) allowed: [u8] = grid(sizes.n, sizes.masks),
        pub(super) said: [f32] = grid(sizes.n, stored.shape.num_outputs as usize),
        /// What they are means of.
        pub(super) spread: [f32] = grid(sizes.n, sizes.spread(&stored.config)),
        pub(super) also_said: [f32] = grid(sizes.n, sizes.policy.head_len(1)),
        pub(super) drawn: [i32] = grid(sizes.n, stored.shape.action_lens().0),
        pub(super) noise: [f32] = grid(sizes.n, stored.shape.action_len as usize),
        pub(super) rng: [crate::rng::Rng] = sizes.n,
        /// What was done, or what is best, from -1 to 1; and beside it what was seen.
        pub(super) done: [f32] = grid(sizes.n, sizes.vector),
        pub(super) pair: [f32] = grid(sizes.n, sizes.pair()),
        pub(super) spare: [f32] = grid(sizes.n, sizes.spare()),
        pub(super) infer: [f32] = sizes.policy.infer_scratch_len(usize::MAX).max(sizes.critic.infer_scratch_len(usize::MAX)),
        /// What a chunk works with.
        pub(in crate::learn) obs: Late<[f32]> = grid(sizes.rows, sizes.seen.len),
        pub(in crate::learn) mask: Late<[u8]> = grid(sizes.rows, sizes.masks),
        pub(in crate::learn) choice: Late<[i32]> = grid(sizes.rows, stored.shape.action_lens().0),
        pub(in crate::learn) best: Late<[i32]> = grid(sizes.rows, stored.shape.action_lens().0),
        pub(in crate::learn) column: Late<[f32]> = grid(sizes.rows, COLUMNS),
        pub(in crate::learn) outputs: Late<[f32]> = grid(sizes.rows, sizes.policy.head_len(0)),
        pub(in crate::learn) d_outputs: Late<[f32]> = grid(sizes.rows, sizes.policy.head_len(0)),
        pub(in crate::learn) others: Late<[f32]> = grid(sizes.rows, sizes.others()),
        pub(in crate::learn) d_others: Late<[f32]> = grid(sizes.rows, sizes.others()),
        pub(in crate::learn) means: Late<[f32]> = grid(sizes.rows, sizes.means(stored)),
        pub(in crate::learn) target: Late<[f32]> =
            grid(sizes.rows, grid(stored.shape.action_lens().0, stored.config.value_lens()[0] as usize)),
        /// Quantiles of a critic, their gradients, and those of all critics' targets.
        pub(in crate::learn) quantiles: Late<[f32]> = grid(sizes.rows, sizes.quantiles),
        pub(in crate::learn) d_quantiles: Late<[f32]> = grid(sizes.rows, sizes.quantiles),
        pub(in crate::learn) pool: Late<[f32]> = grid(sizes.rows, sizes.pool()),
        /// Actions, what they were before tanh, what critics read, and gradients.
        pub(in crate::learn) vector: Late<[f32]> = grid(sizes.rows, sizes.vector),
        pub(in crate::learn) d_vector: Late<[f32]> = grid(sizes.rows, sizes.vector),
        pub(in crate::learn) pairs: Late<[f32]> = grid(sizes.rows, sizes.pair()),
        pub(in crate::learn) d_pairs: Late<[f32]> = grid(sizes.rows, sizes.pair()),
        pub(in crate::learn) tape: Late<[f32]> = sizes.policy.tape_len(sizes.rows),
        pub(in crate::learn) critic_tape: Late<[f32]> = grid(sizes.num_critics, sizes.critic.tape_len(sizes.rows)),
        pub(in crate::learn) scratch: [f32] = sizes
            .policy
            .scratch_len(false, 0)
            .max(sizes.policy.infer_scratch_len(usize::MAX))
            .max(sizes.critic.scratch_len(true, 0))
            .max(sizes.critic.infer_scratch_len(usize::MAX)),
    }
    /// Working arrays, meaningful within one call only.
    #[derive(Default)]
    pub(in crate::learn) write Work {}
}

impl<'a> OffPolicy<'a> {
    /// A block that was accepted; what acting does not need only if it is to be `ALL`. A seal is taken off.
    pub(super) fn of<const ALL: bool>(mem: &'a mut [u8]) -> Result<OffPolicy<'a>> {
        block::unseal(mem);
        let (mark, stored, mut cut) = block::cut_marked::<Stored>(mem)?;
        let (front, critic, spans) = front(&mut Plan::default(), stored)?;
        let (policy, parts, n) = front.take(&mut cut)?;
        let nets = [Net::new(policy), Net::new(cut.take(critic)?)];
        let s = cut.take(spans)?.first().ok_or(Misfit)?;
        let sizes = sizes(stored, nets, stored.shape.seen(nets[0], parts, n));
        let work = Work::cut_some::<ALL>(&mut cut, &s.work)?;
        Ok(OffPolicy::cut_some::<ALL>(&mut cut, &s.fields, mark, &stored.config, stored.actor(), sizes, work)?)
    }
}

impl<'a> View<'a> {
    /// [`View::phase`] of a block that `init` or `attach` has accepted, of which nothing else is read.
    pub fn phase_of(mem: &[u8]) -> Result<Phase> {
        let stored: &Stored = block::config(mem, BlockKind::OffPolicy)?;
        let spans = block::view(mem, front(&mut Plan::default(), stored)?.2)?.first().ok_or(Misfit)?;
        let state: &State = block::view(mem, spans.fields.state)?.first().ok_or(Misfit)?;
        Ok(state.phase(block::view(mem, spans.fields.open)?))
    }

    /// Reads a block that `init` or `attach` has accepted, without looking at all of it again.
    pub fn open(mem: &'a [u8]) -> Result<View<'a>> {
        let stored: &Stored = block::config(mem, BlockKind::OffPolicy)?;
        let (front, critic, spans) = front(&mut Plan::default(), stored)?;
        let (policy, parts, n) = front.read(mem)?;
        let nets = [Net::new(policy), Net::new(block::view(mem, critic)?)];
        let sizes = sizes(stored, nets, stored.shape.seen(nets[0], parts, n));
        let s = block::view(mem, spans)?.first().ok_or(Misfit)?;
        Ok(View::of(mem, &s.fields, &stored.config, stored.actor(), sizes)?)
    }
}
