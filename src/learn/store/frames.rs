//! Frames of a rollout that are stored once, for observations that are stacks of an environment's last frames.
//!
//! A stack is represented by the numbers of its frames. Each slot has room for the newest frame of its transition, each
//! environment for a stack without a recorded predecessor, and each rollout for some older frames that no observation had as
//! its newest one: a wrapper has taken a step by itself, as after a lost life.

use crate::block::{self, Fit, LayoutError};
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::obs_encoder::Part;
use crate::learn::store::stack::{Older, REFUSED, Stack};

/// Transitions per spare frame of a rollout, which has one for each environment besides.
const SPARE: usize = 16;

/// Layout of the frames of rollouts.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Frames {
    pub(in crate::learn) stack: Stack,
    num_envs: usize,
    /// Slots of one rollout, and of all rollouts.
    room: usize,
    pub(in crate::learn) slots: usize,
}

/// The environment and the slot of an observation.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Place {
    pub(in crate::learn) env: usize,
    pub(in crate::learn) slot: usize,
    /// Slots of the recorded transitions.
    pub(in crate::learn) recorded: (usize, usize),
}

impl Place {
    /// The slot of the environment's previous transition.
    fn before(&self, env_of: &[u32]) -> Option<usize> {
        let (begin, end) = (self.recorded.0, self.recorded.1.min(self.slot));
        let owners = block::rows(env_of, begin, end.saturating_sub(begin), 1).unwrap_or(&[]);
        owners.iter().rposition(|&owner| owner as usize == self.env).map(|at| at.saturating_add(begin))
    }
}

impl Frames {
    pub(in crate::learn) fn new(stored: &LearnerSpec, parts: &[Part], room: usize, slots: usize) -> Frames {
        Frames { stack: Stack::new(stored, parts), num_envs: stored.config.num_envs as usize, room, slots }
    }

    /// The frames of observations in the order of their encoding.
    pub(in crate::learn) fn encoded(self) -> Frames {
        Frames { stack: self.stack.encoded(), ..self }
    }

    /// The number of frames that there is room for, the last of which is always zeros.
    pub(in crate::learn) fn count(&self) -> usize {
        let rollouts = self.slots.checked_div(self.room).unwrap_or(0);
        let others =
            self.num_envs.saturating_mul(self.stack.num).saturating_add(self.spares()).saturating_mul(rollouts);
        self.slots.saturating_add(others).saturating_add(1)
    }

    /// Spare frames of a rollout.
    fn spares(&self) -> usize {
        self.room.div_euclid(SPARE).saturating_add(self.num_envs)
    }

    /// The first spare frame of a slot's rollout.
    fn first_spare(&self, slot: usize) -> usize {
        let rollouts = self.slots.checked_div(self.room).unwrap_or(0);
        let of_envs = self.num_envs.saturating_mul(self.stack.num).saturating_mul(rollouts);
        let before = slot.checked_div(self.room).unwrap_or(0).saturating_mul(self.spares());
        self.slots.saturating_add(of_envs).saturating_add(before)
    }

    /// The number of a frame among the spare frames of a slot's rollout.
    fn spare(&self, slot: usize, frame: u32) -> Option<usize> {
        (frame as usize).checked_sub(self.first_spare(slot)).filter(|spare| *spare < self.spares())
    }

    /// How many spare frames are taken by the transitions recorded with this one.
    fn taken(&self, frames: &[u32], place: &Place) -> usize {
        let (begin, end) = place.recorded;
        let numbers = block::rows(frames, begin, end.saturating_sub(begin), self.stack.num).unwrap_or(&[]);
        let spares = numbers.iter().filter_map(|frame| self.spare(place.slot, *frame));
        spares.max().map_or(0, |last| last.saturating_add(1))
    }

    fn zeros(&self) -> u32 {
        self.count().saturating_sub(1) as u32
    }

    /// Frame `i` of an environment's stack without predecessor, in the rollout of a slot.
    fn of_env(&self, slot: usize, env: usize, i: usize) -> u32 {
        let rollout = slot.checked_div(self.room).unwrap_or(0);
        let stack = rollout.saturating_mul(self.num_envs).saturating_add(env).saturating_mul(self.stack.num);
        self.slots.saturating_add(stack).saturating_add(i) as u32
    }

    /// The bytes of a frame.
    fn bytes<'r>(&self, pixels: &'r [u8], frame: u32) -> Fit<&'r [u8]> {
        block::rows(pixels, frame as usize, 1, self.stack.len)
    }

    /// The frame numbers of a stack. `before`: the frame numbers of the previous transition, and whether frame i of this stack
    /// equals its frame k. `next`: the next spare frame. Errors: `Value` if there is no room for a frame.
    fn numbers<T: Copy + PartialEq>(
        &self,
        obs: &[T],
        zero: T,
        place: &Place,
        before: Option<(&[u32], impl Fn(usize, usize) -> bool)>,
        mut next: impl FnMut() -> usize,
    ) -> Result<[u32; MAX_STACK]> {
        let mut numbers = [0; MAX_STACK];
        let newest = self.stack.num.saturating_sub(1);
        let older = numbers.get_mut(..newest).ok_or(LayoutError)?;
        match before {
            None => older.iter_mut().zip(0..).for_each(|(to, i)| *to = self.of_env(place.slot, place.env, i)),
            Some((frames, same)) => {
                for (to, found) in older.iter_mut().zip(self.stack.older(obs, zero, Some(same))) {
                    *to = match found {
                        Older::Before(k) => *frames.get(k).ok_or(LayoutError)?,
                        Older::Newest => place.slot as u32,
                        Older::Zeros => self.zeros(),
                        Older::Own => {
                            let spare = next();
                            REFUSED.fail_if(spare >= self.spares())?;
                            self.first_spare(place.slot).saturating_add(spare) as u32
                        }
                    };
                }
            }
        }
        *numbers.get_mut(newest).ok_or(LayoutError)? = place.slot as u32;
        Ok(numbers)
    }

    /// The frame numbers of an observation that is to be recorded in a rollout of these transitions. `spare`: the spare frames
    /// that are taken, once they have been counted. Errors: `Value`.
    pub(in crate::learn) fn find(
        &self,
        (env, frames, pixels): (&[u32], &[u32], &[u8]),
        place: &Place,
        obs: &[u8],
        spare: &mut Option<usize>,
    ) -> Result<[u32; MAX_STACK]> {
        let before = match place.before(env) {
            Some(slot) => Some(self.stack.of(frames, slot)?),
            None => None,
        };
        let same = |numbers: &[u32], i: usize, k: usize| {
            let frame = numbers.get(k).and_then(|frame| self.bytes(pixels, *frame).ok());
            frame.is_some_and(|frame| self.stack.is(obs, i, frame))
        };
        let before = before.map(|numbers| (numbers, move |i, k| same(numbers, i, k)));
        self.numbers(obs, 0, place, before, || take(spare, || self.taken(frames, place)))
    }

    /// `Frames::find` for row `row` of observations that were recorded elsewhere, of environments `env`. The rows go to slots
    /// from `first` on, and `frames` has the frame numbers of the rows before this one. Errors: `Value`.
    pub(in crate::learn) fn find_in_batch(
        &self,
        frames: &[u32],
        (obs, env): (&[f32], &[u32]),
        first: usize,
        row: usize,
        spare: &mut Option<usize>,
    ) -> Result<(Place, [u32; MAX_STACK])> {
        let width = obs.len().checked_div(env.len()).unwrap_or(0);
        let own = block::rows(obs, row, 1, width)?;
        let owner = *env.get(row).ok_or(LayoutError)? as usize;
        let before = Place { env: owner, slot: row, recorded: (0, row) }.before(env);
        let place = Place { env: owner, slot: first.saturating_add(row), recorded: (first, first) };
        let before = match before {
            Some(row) => Some((self.stack.of(frames, first.saturating_add(row))?, block::rows(obs, row, 1, width)?)),
            None => None,
        };
        let same = |other, i: usize, k: usize| self.stack.are_same((own, i), (other, k));
        let before = before.map(|(numbers, other)| (numbers, move |i, k| same(other, i, k)));
        Ok((place, self.numbers(own, 0.0, &place, before, || take(spare, || 0))?))
    }

    /// Records the stack of an observation under its frame numbers.
    pub(in crate::learn) fn keep<T: Copy>(
        &self,
        (frames, pixels): (&mut [u32], &mut [u8]),
        place: &Place,
        numbers: &[u32],
        obs: &[T],
        byte: fn(T) -> u8,
    ) -> Fit<()> {
        let numbers = numbers.get(..self.stack.num).ok_or(LayoutError)?;
        for (i, &frame) in numbers.iter().enumerate() {
            // The newest frame is written, the frames of a stack without predecessor, and spare frames.
            let is_own = frame == self.of_env(place.slot, place.env, i) || self.spare(place.slot, frame).is_some();
            let is_new = i.saturating_add(1) == self.stack.num || is_own;
            if is_new {
                self.stack.copy(obs, i, byte, block::rows_mut(pixels, frame as usize, 1, self.stack.len)?);
            }
        }
        block::copy(block::rows_mut(frames, place.slot, 1, self.stack.num)?, numbers);
        Ok(())
    }

    /// Copies the stack of a pending transition to its environment's own frames, because the slots are reused from the first
    /// on.
    pub(in crate::learn) fn set_apart(
        &self,
        (frames, pixels): (&mut [u32], &mut [u8]),
        env: usize,
        slot: usize,
    ) -> Fit<()> {
        for i in 0..self.stack.num {
            let (at, to) = (slot.saturating_mul(self.stack.num).saturating_add(i), self.of_env(slot, env, i));
            let frame = frames.get_mut(at).ok_or(LayoutError)?;
            block::copy_row_within(pixels, self.count(), *frame as usize, to as usize)?;
            *frame = to;
        }
        Ok(())
    }

    /// Whether every number in these slots is that of a frame.
    pub(in crate::learn) fn are_there(&self, frames: &[u32], first: usize, slots: usize) -> Fit<bool> {
        let count = self.count();
        Ok(block::rows(frames, first, slots, self.stack.num)?.iter().all(|&frame| (frame as usize) < count))
    }
}

/// The next spare frame; `count` says how many are taken already.
fn take(spare: &mut Option<usize>, count: impl FnOnce() -> usize) -> usize {
    let next = spare.unwrap_or_else(count);
    *spare = Some(next.saturating_add(1));
    next
}
