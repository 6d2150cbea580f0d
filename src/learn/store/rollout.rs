//! The transitions of a rollout: which are complete, how they become contiguous, and how slots are freed.

use super::frames::Frames;
use super::history::{GOES_ON, HistoryMut, TERMINATED, TRUNCATED};
use crate::block::{self, Cold, Fit, LayoutError, fields};
use crate::error::Result;
use crate::learn::rows::copy_row;

/// Marks an absent slot.
pub(in crate::learn) const NONE: u32 = u32::MAX;

/// Elements of `rows` rows; saturates, and a saturated length exceeds the limit of any element type.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

/// Lengths from which the array lengths of a rollout are computed.
#[derive(Clone, Copy)]
pub(in crate::learn) struct RolloutLens {
    /// Transitions that there is room for; of two rollouts with `overlap`.
    pub(in crate::learn) slots: usize,
    /// f32 elements of an observation; bytes of all pictures; and frames of a stack.
    pub(in crate::learn) kept: usize,
    pub(in crate::learn) pixels: usize,
    pub(in crate::learn) stacked: usize,
    pub(in crate::learn) choices: usize,
    pub(in crate::learn) std: usize,
    pub(in crate::learn) masks: usize,
    /// Elements of a recurrent state.
    pub(in crate::learn) state: usize,
    /// Episode begins are recorded.
    pub(in crate::learn) begins: bool,
    /// Columns of durations, and of the algorithm's own data.
    pub(in crate::learn) durations: usize,
    pub(in crate::learn) numbers: usize,
}

fields! {
    pub(in crate::learn) spans RolloutSpans(lens: &RolloutLens) {
        /// Encoded observations, normalized with `normalize_obs`, without what is stored as bytes.
        pub(in crate::learn) obs: [f32] = grid(lens.slots, lens.kept),
        /// Observations, or pictures in front of them, that are bytes and not normalized. If frames are stored once, the frames.
        pub(in crate::learn) pixels: [u8] = lens.pixels,
        /// Frame numbers of an observation's stack, oldest first.
        pub(in crate::learn) frame: [u32] = grid(lens.slots, lens.stacked),
        pub(in crate::learn) choice: [i32] = grid(lens.slots, lens.choices),
        /// Before squashing or clipping.
        pub(in crate::learn) vector: [f32] = grid(lens.slots, lens.std),
        pub(in crate::learn) mask: [u8] = grid(lens.slots, lens.masks),
        pub(in crate::learn) log_prob: [f32] = lens.slots,
        pub(in crate::learn) value: [f32] = lens.slots,
        pub(in crate::learn) reward: [f32] = lens.slots,
        pub(in crate::learn) terminated: [u8] = lens.slots,
        pub(in crate::learn) truncated: [u8] = lens.slots,
        pub(in crate::learn) final_value: [f32] = lens.slots,
        pub(in crate::learn) advantage: Cold<[f32]> = lens.slots,
        pub(in crate::learn) value_target: Cold<[f32]> = lens.slots,
        /// The environment of the transition.
        pub(in crate::learn) env: [u32] = lens.slots,
        /// Recurrent states before the step; and with sequences or past steps, 1 where an episode begins.
        pub(in crate::learn) state: [f32] = grid(lens.slots, lens.state),
        pub(in crate::learn) begin: [u8] = if lens.begins { lens.slots } else { 0 },
        /// How long the action lasted, with `use_duration`.
        pub(in crate::learn) duration: [f32] = grid(lens.slots, lens.durations),
        /// The algorithm's own data, as [`Needs`](crate::learn::algorithm::Needs) has it.
        pub(in crate::learn) numbers: Cold<[f32]> = grid(lens.slots, lens.numbers),
    }
    /// Transitions, each in a slot: those of one environment are in time order, and if all environments act in every step the
    /// layout is `[T, N]`. With `overlap` two rollouts, one after another.
    #[derive(Default)]
    pub(in crate::learn) write Rollout {}
    /// Read-only version of `Rollout`.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read RolloutView {}
}

impl Rollout<'_> {
    /// Copies the complete steps of slots `[begin, end)` to the past steps of their environments.
    pub(in crate::learn) fn keep(
        &self,
        (begin, end): (usize, usize),
        open: &[u32],
        frames: &Frames,
        past: &mut HistoryMut<'_>,
    ) -> Result {
        for slot in if past.next.is_empty() { 0..0 } else { begin..end } {
            let (env, complete) = owner(self.env, open, slot)?;
            if complete {
                self.keep_one(env, slot, frames, past)?;
            }
        }
        Ok(())
    }

    fn keep_one(&self, env: usize, slot: usize, frames: &Frames, past: &mut HistoryMut<'_>) -> Result {
        if self.begin.get(slot) != Some(&0) {
            past.cut_episode(env);
        }
        let flag = |flags: &[u8]| flags.get(slot).is_some_and(|&x| x != 0);
        let ends = match (flag(self.terminated), flag(self.truncated)) {
            (true, _) => TERMINATED,
            (_, true) => TRUNCATED,
            _ => GOES_ON,
        };
        let number = |numbers: &[f32]| numbers.get(slot).copied().ok_or(LayoutError);
        let last = if ends == TRUNCATED { number(self.final_value)? } else { 0.0 };
        let compares = !past.log_prob.is_empty();
        let known = !compares || number(self.log_prob)?.is_finite();
        if !(number(self.value)?.is_finite() && last.is_finite() && known) {
            // A step whose numbers overflow cannot be learned from, nor can sequences across it.
            past.cut_episode(env);
            return Ok(());
        }
        let Some(at) = past.place(env) else { return Ok(()) };
        // All columns are named, so that a new one does not compile until it is kept or left out here.
        #[rustfmt::skip]
        let RolloutView {
            obs, pixels, frame, choice, vector, mask, value, log_prob, reward, state, duration,
            terminated: _, truncated: _, final_value: _, advantage: _, value_target: _, env: _, begin: _, numbers: _,
        } = self.read();
        let row = (slot, at, past.ends.len());
        keep_row(obs, past.obs, row)?;
        if frames.stack.is_kept() {
            frames.stack.join((frame, pixels), slot, block::rows_mut(past.pixels, at, 1, frames.stack.width())?)?;
        } else {
            keep_row(pixels, past.pixels, row)?;
        }
        keep_row(choice, past.choice, row)?;
        keep_row(vector, past.vector, row)?;
        keep_row(mask, past.mask, row)?;
        keep_row(value, past.value, row)?;
        keep_row(log_prob, past.log_prob, row)?;
        keep_row(reward, past.reward, row)?;
        keep_row(state, past.state, row)?;
        keep_row(duration, past.duration, row)?;
        *past.final_value.get_mut(at).ok_or(LayoutError)? = last;
        *past.ends.get_mut(at).ok_or(LayoutError)? = ends;
        Ok(())
    }

    /// Copies a transition over another one.
    fn copy(&mut self, from: usize, to: usize) -> Fit<()> {
        // Frames that are stored once are no rows of slots.
        let frames = if self.frame.is_empty() { &mut [] } else { core::mem::take(&mut self.pixels) };
        let copied = self.copy_row(self.env.len(), from, to);
        if !self.frame.is_empty() {
            self.pixels = frames;
        }
        copied
    }

    /// Moves the complete transitions of slots `[begin, end)` to the front, in their order, and returns their end. `spare` is a
    /// temporary slot for exchanging two transitions.
    pub(in crate::learn) fn gather_complete(
        &mut self,
        begin: usize,
        end: usize,
        spare: usize,
        slot: &mut [u32],
    ) -> Fit<usize> {
        let mut front = begin;
        for at in begin..end {
            if !owner(self.env, slot, at)?.1 {
                continue;
            }
            if at > front {
                let (env, _) = owner(self.env, slot, front)?;
                self.copy(front, spare)?;
                self.copy(at, front)?;
                self.copy(spare, at)?;
                *slot.get_mut(env).ok_or(LayoutError)? = at as u32;
            }
            front += 1;
        }
        Ok(front)
    }

    /// Moves the pending transitions of slots `[begin, end)` to slots from `to` on, and returns their end. Abandoned
    /// transitions are dropped.
    pub(in crate::learn) fn carry(
        &mut self,
        frames: &Frames,
        (begin, end): (usize, usize),
        to: usize,
        slot: &mut [u32],
        open: &[u8],
    ) -> Fit<usize> {
        let mut next = to;
        for at in begin..end {
            let (env, complete) = owner(self.env, slot, at)?;
            if complete {
                continue;
            }
            let slot = slot.get_mut(env).ok_or(LayoutError)?;
            if open.get(env) != Some(&1) {
                *slot = NONE;
                continue;
            }
            self.copy(at, next)?;
            if frames.stack.is_kept() {
                frames.set_apart((self.frame, self.pixels), env, next)?;
            }
            *slot = next as u32;
            next += 1;
        }
        Ok(next)
    }
}

/// Copies row `row` of an array to row `at` of another one with `count` rows of the same width.
fn keep_row<T: Copy>(from: &[T], to: &mut [T], (row, at, count): (usize, usize, usize)) -> Result {
    let width = to.len().checked_div(count).unwrap_or(0);
    copy_row(from, to, (row, at, width))
}

/// Lists slots from `begin` on, one for each entry of `order`, by environment, and in time order within an environment. `count`
/// `[N]` holds zeros, also afterwards.
pub(in crate::learn) fn list_by_env(env: &[u32], begin: usize, count: &mut [u32], order: &mut [u32]) -> Fit<()> {
    let owners = block::rows(env, begin, order.len(), 1)?;
    for &env in owners {
        let count = count.get_mut(env as usize).ok_or(LayoutError)?;
        *count = count.saturating_add(1);
    }
    let mut next = 0u32;
    for count in &mut *count {
        (*count, next) = (next, next.saturating_add(*count));
    }
    for (&env, at) in owners.iter().zip(begin as u32..) {
        let place = count.get_mut(env as usize).ok_or(LayoutError)?;
        *order.get_mut(*place as usize).ok_or(LayoutError)? = at;
        *place = place.saturating_add(1);
    }
    count.fill(0);
    Ok(())
}

/// The environment of the transition in slot `at`, and whether it is complete: `slot` has each environment's incomplete one.
pub(in crate::learn) fn owner(env: &[u32], slot: &[u32], at: usize) -> Fit<(usize, bool)> {
    let env = *env.get(at).ok_or(LayoutError)? as usize;
    Ok((env, *slot.get(env).ok_or(LayoutError)? as usize != at))
}
