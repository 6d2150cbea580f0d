//! Inputs of an algorithm for beginning an update, and for computing gradients of a chunk of a minibatch.

use core::ops::Range;

#[cfg(feature = "off_policy")]
use bytemuck::cast_slice_mut;

use super::layout::{Scratch, Sizes};
use crate::block::{self, Fit, LayoutError};
#[cfg(feature = "off_policy")]
use crate::data::normalizer::{Limits, normalise, scale_rewards};
#[cfg(feature = "off_policy")]
use crate::data::step::Rewrite;
use crate::error::Result;
use crate::kernels::gae::Chain;
use crate::learn::actor::Head;
use crate::learn::actor_config::{POLICY, VALUE};
use crate::learn::config::Config;
#[cfg(feature = "off_policy")]
use crate::learn::obs_encoder::ObsEncoder;
use crate::learn::rows::Rows;
use crate::learn::shape::Shape;
use crate::learn::store::history::HistoryView;
#[cfg(feature = "off_policy")]
use crate::learn::store::replay::TransitionView;
use crate::learn::store::rollout::{Rollout, RolloutView, owner};
#[cfg(feature = "off_policy")]
use crate::learn::store::sequences::Sequences;
#[cfg(feature = "off_policy")]
use crate::learn::struct_action::MAX_EACH;
use crate::learn::transition_batch::TransitionBatch;
use crate::nn::{Carry, Input};
use crate::space::Elements;

/// Inputs of an algorithm at the beginning of an update of a rollout: its transitions, complete and pending.
pub(in crate::learn) struct UpdateContext<'u, 'a> {
    pub(in crate::learn) config: &'u Config,
    #[cfg_attr(not(test), allow(dead_code))]
    pub(in crate::learn) sizes: &'u Sizes<'u>,
    /// The parameters that learn.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(in crate::learn) params: &'u [f32],
    pub(in crate::learn) rollout: &'u mut Rollout<'a>,
    /// `next` holds the values of the observations after the rollout.
    pub(in crate::learn) work: &'u mut Scratch<'a>,
    /// Slots of the transitions, in time order for each environment.
    pub(in crate::learn) slots: Range<usize>,
    /// `[N]` the slots of pending transitions.
    pub(in crate::learn) waiting: &'u [u32],
}

impl UpdateContext<'_, '_> {
    /// The environment of the transition in a slot, and whether the transition is complete.
    pub(in crate::learn) fn owner(&self, slot: usize) -> Fit<(usize, bool)> {
        owner(self.rollout.env, self.waiting, slot)
    }

    /// Computes generalized advantages and the value targets of all complete transitions.
    pub(in crate::learn) fn advantages(&mut self, lambda: f32) -> Result {
        let chain = Chain::new(self.config.accumulation(), self.config.discount, lambda);
        for at in self.slots.clone().rev() {
            let (env, complete) = self.owner(at)?;
            let (r, w) = (&mut *self.rollout, &mut *self.work);
            let chain = match r.duration.get(at) {
                None => chain,
                own => Chain::new(self.config.accumulation(), self.config.discount_over(own), lambda),
            };
            let (Some(next), Some(carry)) = (w.next.get_mut(env), w.running.get_mut(env)) else {
                return Err(LayoutError.into());
            };
            let value = *r.value.get(at).ok_or(LayoutError)?;
            if complete {
                let (Some(reward), Some(last)) = (r.reward.get(at), r.final_value.get(at)) else {
                    return Err(LayoutError.into());
                };
                let (Some(terminated), Some(truncated)) = (r.terminated.get(at), r.truncated.get(at)) else {
                    return Err(LayoutError.into());
                };
                let ends = (*terminated != 0, *truncated != 0);
                let (advantage, target) = chain.step(*reward, value, *last, ends, *next, carry);
                let (Some(to), Some(other)) = (r.advantage.get_mut(at), r.value_target.get_mut(at)) else {
                    return Err(LayoutError.into());
                };
                (*to, *other) = (advantage, target);
            }
            *next = value;
        }
        Ok(())
    }

    /// Copies rewards to the advantages.
    #[cfg(feature = "actor_critic")]
    pub(in crate::learn) fn rewards_for_advantages(&mut self) -> Result {
        for at in self.slots.clone() {
            if self.owner(at)?.1 {
                let reward = *self.rollout.reward.get(at).ok_or(LayoutError)?;
                *self.rollout.advantage.get_mut(at).ok_or(LayoutError)? = reward;
            }
        }
        Ok(())
    }
}

/// Inputs of a chunk. Constant while the chunks of a minibatch are computed, in any order and by any number of threads.
pub(in crate::learn) struct ChunkContext<'b, 'r> {
    pub(in crate::learn) config: &'b Config,
    pub(in crate::learn) shape: &'b Shape,
    pub(in crate::learn) sizes: &'b Sizes<'b>,
    pub(in crate::learn) head: Head<'b>,
    /// Statistics that normalize the host's observations: mean and variance.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(in crate::learn) moments: [&'b [f64]; 2],
    /// Transitions supplied by the host, already checked: in place of a batch from the replay store, or besides a rollout.
    #[cfg_attr(not(feature = "off_policy"), allow(dead_code))]
    pub(in crate::learn) given: Option<&'b TransitionBatch<'r>>,
    /// The number of the chunk.
    pub(in crate::learn) chunk: u32,
    pub(in crate::learn) params: &'b [f32],
    /// The noise added to the parameters.
    pub(in crate::learn) noise: &'b [f32],
    /// Older parameters, whose log-probabilities replace the recorded ones; empty: not used.
    pub(in crate::learn) prime: &'b [f32],
    pub(in crate::learn) rollout: RolloutView<'r>,
    /// The history of past steps.
    #[cfg_attr(not(feature = "unreal"), allow(dead_code))]
    pub(in crate::learn) history: HistoryView<'r>,
    /// Kept demonstrations that were drawn beside this minibatch, on policy.
    pub(in crate::learn) shown: Option<ShownDraw<'b>>,
    /// The rollout's first slot.
    pub(in crate::learn) begin: u32,
    /// Slots of the transitions of this minibatch; of a batch from the replay store, those of the chunk.
    pub(in crate::learn) order: &'b [u32],
    /// Their advantages, normalized with `normalize_advantage`.
    pub(in crate::learn) advantage: &'b [f32],
    /// The clip range of this update.
    pub(in crate::learn) clip: f32,
    /// The weight of the entropy bonus in this update.
    pub(in crate::learn) entropy_coef: f32,
    /// The data of a chunk of a batch from the replay store.
    #[cfg(feature = "off_policy")]
    pub(in crate::learn) batch: BatchContext<'b, 'r>,
}

/// Rows of kept demonstrations, of which the listed ones were drawn, and the weight of their loss.
pub(in crate::learn) struct ShownDraw<'b> {
    pub(in crate::learn) drawn: &'b [u32],
    pub(in crate::learn) obs: Elements<'b>,
    pub(in crate::learn) action: Elements<'b>,
    pub(in crate::learn) mask: Option<&'b [u8]>,
    pub(in crate::learn) coef: f32,
}

/// Data of a chunk of a batch, besides the order of its transitions.
#[cfg(feature = "off_policy")]
#[derive(Default)]
pub(in crate::learn) struct BatchContext<'b, 'r> {
    /// The parameters that compute targets.
    pub(in crate::learn) target: &'b [f32],
    pub(in crate::learn) store: TransitionView<'r>,
    /// Frames of the stored observations, if these are stacks.
    pub(in crate::learn) frames: &'b [u8],
    /// Importance weights of the transitions; empty: 1.
    pub(in crate::learn) importance: &'b [f32],
    /// Normal draws for the next actions and for those of the policy, a row for each transition.
    pub(in crate::learn) draws: [&'b [f32]; 2],
    pub(in crate::learn) temperature: f32,
    /// The order of the store's transitions, and the slots that end the sequences of the chunk.
    pub(in crate::learn) sequences: Sequences<'b>,
    pub(in crate::learn) ends: &'b [u32],
    /// The variance of the discounted sums of rewards.
    pub(in crate::learn) return_var: f64,
    /// Rows of the whole batch that are kept demonstrations, and the weight of their imitation.
    pub(in crate::learn) demonstrated: usize,
    pub(in crate::learn) imitation_coef: f32,
    /// The mean size of the values of the batch, of TD3.
    pub(in crate::learn) value_size: f32,
    /// This gradient step updates the policy, not the critics.
    pub(in crate::learn) policy_next: bool,
}

impl<'r> ChunkContext<'_, 'r> {
    /// The network inputs of the observations in these slots.
    pub(in crate::learn) fn obs<'w>(&self, slots: Rows<'_>, to: &'w mut [f32]) -> Result<Input<'w>>
    where
        'r: 'w,
    {
        let (stack, r) = (&self.sizes.frames.stack, &self.rollout);
        let stacked = stack.is_kept().then_some((stack, r.frame));
        self.sizes.input((r.obs, r.pixels), stacked, &slots, to)
    }

    /// The discount over the step in a slot of the rollout.
    #[cfg(feature = "actor_critic")]
    pub(in crate::learn) fn discount(&self, slot: u32) -> f32 {
        self.config.discount_over(self.rollout.duration.get(slot as usize))
    }

    /// Whether the transition in `slot` continues the episode of the one in `before`, its predecessor in a sequence.
    pub(in crate::learn) fn follows(&self, before: u32, slot: u32) -> bool {
        let (r, slot) = (&self.rollout, slot as usize);
        let env = r.env.get(slot);
        env.is_some() && env == r.env.get(before as usize) && r.begin.get(slot) == Some(&0)
    }

    /// Writes the initial recurrent states of the rows of a chunk, whose slots are `order`: the recorded state where an episode
    /// or a sequence begins, and where the previous row belongs to another environment. With `burn_in` sequences begin with
    /// recomputed states.
    pub(in crate::learn) fn start(&self, order: &[u32], w: &mut Scratch<'_>) -> Result {
        let (width, r) = (self.sizes.state_len(), &self.rollout);
        if width == 0 {
            return Ok(());
        }
        let sequences = order.len().checked_div(self.config.sequence_rows()).ok_or(LayoutError)?;
        for (row, (&slot, cut)) in order.iter().zip(block::rows_mut(w.cut, 0, order.len(), 1)?).enumerate() {
            let before = row.checked_sub(sequences).and_then(|row| order.get(row));
            let follows = before.is_some_and(|&before| self.follows(before, slot));
            *cut = u8::from(!follows);
            if !follows {
                block::copy(block::rows_mut(w.state, row, 1, width)?, block::rows(r.state, slot as usize, 1, width)?);
            }
        }
        self.burn_in(order.get(..sequences).ok_or(LayoutError)?, w)
    }

    /// Runs up to `burn_in` steps before each of these slots, the first ones of sequences, from the state recorded there. The
    /// resulting states are the initial states of the sequences. Steps of other episodes and of earlier rollouts are excluded.
    fn burn_in(&self, first: &[u32], w: &mut Scratch<'_>) -> Result {
        if !cfg!(feature = "recurrent") || self.config.burn_in == 0 {
            return Ok(());
        }
        let (m, width, r) = (first.len(), self.sizes.state_len(), &self.rollout);
        let (at, rest) = w.before.split_at_mut_checked(m).ok_or(LayoutError)?;
        let ahead = block::rows_mut(rest, 0, m, 1)?;
        block::copy(at, first);
        ahead.fill(0);
        let mut longest = 0;
        for (at, ahead) in at.iter_mut().zip(&mut *ahead) {
            while *ahead < self.config.burn_in
                && let Some(before) = self.step_before(*at)
            {
                (*at, *ahead) = (before, ahead.saturating_add(1));
            }
            longest = longest.max(*ahead);
        }
        let states = block::rows_mut(w.state, 0, m, width)?;
        let recorded = |slot: u32| block::rows(r.state, slot as usize, 1, width);
        for left in (1..=longest).rev() {
            for ((state, ahead), at) in states.chunks_exact_mut(width.max(1)).zip(&*ahead).zip(&*at) {
                if *ahead == left {
                    block::copy(state, recorded(*at)?);
                }
            }
            // Rows whose steps are not due yet are computed as well, and ignored.
            let (obs, net) = (self.obs(Rows::new(at, 0), w.obs)?, &self.sizes.net);
            let outputs = block::rows_mut(w.d_outputs, 0, m, self.shape.num_outputs as usize)?;
            let unused = &mut [outputs, block::rows_mut(w.scalar, 0, m, 1)?];
            let unused = unused.get_mut(..net.num_heads().min(2)).ok_or(LayoutError)?;
            net.infer(self.params, obs, m, POLICY | VALUE, states, w.scratch, unused)?;
            for ((at, ahead), first) in at.iter_mut().zip(&*ahead).zip(first) {
                if *ahead >= left {
                    *at = self.step_after(*at, *first);
                }
            }
        }
        for ((state, ahead), first) in states.chunks_exact_mut(width.max(1)).zip(&*ahead).zip(first) {
            if *ahead == 0 {
                block::copy(state, recorded(*first)?);
            }
        }
        Ok(())
    }

    /// The slot of the previous step in the episode, if the rollout has it.
    fn step_before(&self, slot: u32) -> Option<u32> {
        let (r, begin) = (&self.rollout, self.begin);
        let env = r.env.get(slot as usize).filter(|_| r.begin.get(slot as usize) == Some(&0))?;
        let at = r.env.get(begin as usize..slot as usize)?.iter().rposition(|other| other == env)?;
        Some(begin.saturating_add(at as u32))
    }

    /// The slot of the next step of the environment, at most `last`.
    fn step_after(&self, slot: u32, last: u32) -> u32 {
        let (env, next) = (self.rollout.env.get(slot as usize), slot.saturating_add(1));
        let ours = self.rollout.env.get(next as usize..last as usize).unwrap_or_default();
        ours.iter().position(|other| Some(other) == env).map_or(last, |at| next.saturating_add(at as u32))
    }

    /// The recurrent states and cut flags of `rows` rows, sequences of `steps`, once [`ChunkContext::start`] has written them.
    pub(in crate::learn) fn carry<'w>(
        &self,
        rows: usize,
        steps: usize,
        state: &'w [f32],
        cut: &'w [u8],
    ) -> Fit<Carry<'w>> {
        let width = self.sizes.state_len();
        if width == 0 {
            return Ok(Carry::NONE);
        }
        let (state, cut) = (block::rows(state, 0, rows, width)?, block::rows(cut, 0, rows, 1)?);
        Ok(Carry { steps, cut, state })
    }
}

#[cfg(feature = "off_policy")]
impl<'b, 'r> ChunkContext<'b, 'r> {
    /// The policy's parameters within `params`.
    pub(in crate::learn) fn policy_of(&self, params: &'b [f32]) -> Fit<&'b [f32]> {
        params.get(..self.sizes.net.param_len()).ok_or(LayoutError)
    }

    pub(in crate::learn) fn critic_of(&self, params: &'b [f32], i: usize) -> Fit<&'b [f32]> {
        let critics = params.get(self.sizes.net.param_len()..).ok_or(LayoutError)?;
        block::rows(critics, i, 1, self.sizes.critic.param_len())
    }

    /// The choices of actions in these rows of the store.
    pub(in crate::learn) fn choices<'t>(&self, rows: &Rows<'_>, to: &'t mut [i32]) -> Result<&'t mut [i32]> {
        let width = self.head.choices().len();
        let Some(action) = self.structures() else { return Ok(rows.get(self.batch.store.choice, width, to)?) };
        let to = block::rows_mut(to, 0, rows.len(), width)?;
        for (k, row) in rows.iter().enumerate() {
            let (mut vector, action) = ([0.0; MAX_EACH], block::rows(action, row, 1, self.shape.action_len as usize)?);
            self.head.part(action, block::rows_mut(to, k, 1, width)?, &mut vector)?;
        }
        Ok(to)
    }

    /// The bytes of the host's actions, if they are structures.
    fn structures(&self) -> Option<&'r [u8]> {
        match self.given.map(|given| given.action) {
            Some(Elements::U8(action)) => Some(action),
            _ => None,
        }
    }

    /// The numbers of actions in these rows of the store, scaled to -1 to 1, as those of the host are in the environment's range.
    pub(in crate::learn) fn actions<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        let width = self.sizes.std_len;
        let to = match self.structures() {
            None => rows.get(self.batch.store.vector, width, to)?,
            Some(action) => {
                let to = block::rows_mut(to, 0, rows.len(), width)?;
                for (k, row) in rows.iter().enumerate() {
                    let action = block::rows(action, row, 1, self.shape.action_len as usize)?;
                    self.head.part(action, &mut [0; MAX_EACH], block::rows_mut(to, k, 1, width)?)?;
                }
                to
            }
        };
        if self.given.is_some() {
            for action in to.chunks_exact_mut(self.sizes.std_len.max(1)) {
                self.head.shrink(action);
            }
        }
        Ok(to)
    }

    /// Discounts of the values of the next observations of these rows: of the host's transitions 0 at terminations, else the
    /// configuration's if none are given.
    pub(in crate::learn) fn discounts<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Fit<&'t mut [f32]> {
        let Some(given) = self.given else { return rows.get(self.batch.store.discount, 1, to) };
        let to = if self.batch.store.discount.is_empty() {
            let to = block::rows_mut(to, 0, rows.len(), 1)?;
            to.fill(self.config.discount);
            to
        } else {
            rows.get(self.batch.store.discount, 1, to)?
        };
        for (to, row) in to.iter_mut().zip(rows.iter()) {
            if given.terminated.get(row) != Some(&0) {
                *to = 0.0;
            }
        }
        Ok(to)
    }

    /// Rewards of these rows, as they are learned from. Those of the store were limited when they were recorded, and of the
    /// host's transitions those that come without discounts are limited here: with discounts they may be sums of several rewards.
    pub(in crate::learn) fn rewards<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        let to = rows.get(self.batch.store.reward, 1, to)?;
        if self.given.is_some_and(|given| given.discount.is_none()) {
            to.iter_mut().for_each(|x| *x = self.config.limited(*x));
        }
        if self.config.normalize_reward != 0 {
            let limits = Limits { clip: self.config.reward_clip, ..Limits::default() };
            scale_rewards(self.batch.return_var, limits, Rewrite::in_place(to))?;
        }
        Ok(to)
    }

    /// Network inputs of the observations of these rows of the store.
    pub(in crate::learn) fn see<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<Input<'t>>
    where
        'r: 't,
    {
        let s = &self.batch.store;
        self.see_either((s.obs, s.pixels, s.frame), rows, to)
    }

    /// Network inputs of the next observations of these rows.
    pub(in crate::learn) fn see_next<'t>(&self, rows: &Rows<'_>, to: &'t mut [f32]) -> Result<Input<'t>>
    where
        'r: 't,
    {
        let s = &self.batch.store;
        self.see_either((s.next_obs, s.next_pixels, s.next_frame), rows, to)
    }

    fn see_either<'t>(
        &self,
        (obs, pixels, frames): (&'t [f32], &'t [u8], &[u32]),
        rows: &Rows<'_>,
        to: &'t mut [f32],
    ) -> Result<Input<'t>> {
        let (sizes, stack) = (self.sizes, self.sizes.replay.ring.stack);
        if self.config.normalize_obs != 0 {
            let (from, elements) = match sizes.pixels_len {
                0 => (Elements::F32(obs), sizes.seen.elements),
                bytes => (Elements::U8(pixels), bytes),
            };
            let to = rows.see(&ObsEncoder { elements, ..sizes.seen }, from, to)?;
            let ([mean, var], limits) = (self.moments, Limits { clip: self.config.obs_clip, ..Limits::default() });
            normalise(mean, var, limits, Rewrite::in_place(to))?;
            return Ok(Input::F32(to));
        }
        match sizes.pixels_len {
            0 => rows.input(0, &sizes.seen, Elements::F32(obs), to),
            _ if stack.is_kept() && self.given.is_none() => self.see_stacks((pixels, frames), rows, to),
            bytes => {
                rows.input(sizes.reads_front, &ObsEncoder { elements: bytes, ..sizes.seen }, Elements::U8(pixels), to)
            }
        }
    }

    /// Network inputs of the observations of these rows of the store, whose pictures are stored as frames.
    fn see_stacks<'t>(
        &self,
        (pixels, frames): (&[u8], &[u32]),
        rows: &Rows<'_>,
        to: &'t mut [f32],
    ) -> Result<Input<'t>> {
        let (sizes, stack, kept) = (self.sizes, self.sizes.replay.ring.stack, (frames, self.batch.frames));
        if sizes.reads_front > 0 {
            return Ok(Input::of_bytes(stack.see(kept, rows.iter(), cast_slice_mut(to))?));
        }
        let to = block::rows_mut(to, 0, rows.len(), sizes.seen.len)?;
        for (k, row) in rows.iter().enumerate() {
            let to = block::rows_mut(to, k, 1, sizes.seen.len)?;
            let (front, rest) = to.split_at_mut_checked(stack.width()).ok_or(LayoutError)?;
            stack.join(kept, row, front)?;
            let own = Elements::U8(block::rows(pixels, row, 1, sizes.rest_len())?);
            sizes.seen.row_behind(own, [stack.width(); 2], rest)?;
        }
        Ok(Input::F32(to))
    }
}
