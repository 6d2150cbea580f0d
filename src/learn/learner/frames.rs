//! Frames that a rollout keeps once: those of observations that are stacks of an environment's last ones.
//!
//! A stack is told by the numbers of its frames. Each slot has room for the newest frame of its transition, and each
//! environment for a stack that nothing recorded came before.

use crate::block::{self, Fit, Misfit};
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::{self, Layout, MAX_STACK, Window};
use crate::learn::rows::copy_row_within;
use crate::learn::seen::Part;
use crate::learn::stored::Stored;

const REFUSED: Error = Error::new(
    Kind::Value,
    "learner, num_stacked: older frames that are those of the previous observation shifted by one, or copies of the newest \
     one, or zeros",
);

/// Where frames lie, and what they are.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Frames {
    /// Frames of a stack; 0: observations are kept whole.
    pub(in crate::learn) num: usize,
    /// Bytes of a frame.
    pub(super) len: usize,
    /// Bytes of one of its pixels.
    channels: usize,
    num_envs: usize,
    /// Slots of one rollout, and of all.
    room: usize,
    pub(super) slots: usize,
}

/// Whose observation is recorded where.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) env: usize,
    pub(super) slot: usize,
    /// Slots of the transitions that are recorded.
    pub(super) recorded: (usize, usize),
}

impl Place {
    /// The slot of the transition before it.
    fn before(&self, env_of: &[u32]) -> Option<usize> {
        let (begin, end) = (self.recorded.0, self.recorded.1.min(self.slot));
        let owners = block::rows(env_of, begin, end.saturating_sub(begin), 1).unwrap_or(&[]);
        owners.iter().rposition(|&owner| owner as usize == self.env).map(|at| at.saturating_add(begin))
    }
}

impl Frames {
    pub(super) fn new(stored: &Stored, parts: &[Part], room: usize, slots: usize) -> Frames {
        let c = &stored.config;
        let num = if cfg!(feature = "pictures") { c.num_stacked as usize } else { 0 };
        let part = |len: u32| (len as usize).checked_div(num).unwrap_or(0);
        let (len, channels) = (part(stored.shape.obs_len), part(stored.last_axis(parts)));
        Frames { num, len, channels, num_envs: c.num_envs as usize, room, slots }
    }

    /// Frames are kept once.
    pub(in crate::learn) fn are_kept(&self) -> bool {
        cfg!(feature = "pictures") && self.num > 0
    }

    /// Frames that there is room for, the last of which is always zeros.
    pub(super) fn count(&self) -> usize {
        let rollouts = self.slots.checked_div(self.room).unwrap_or(0);
        let of_envs = self.num_envs.saturating_mul(self.num).saturating_mul(rollouts);
        self.slots.saturating_add(of_envs).saturating_add(1)
    }

    fn zeros(&self) -> u32 {
        self.count().saturating_sub(1) as u32
    }

    /// Frame `i` of the stack of an environment that nothing came before, in the rollout of a slot.
    fn of_env(&self, slot: usize, env: usize, i: usize) -> u32 {
        let rollout = slot.checked_div(self.room).unwrap_or(0);
        let stack = rollout.saturating_mul(self.num_envs).saturating_add(env).saturating_mul(self.num);
        self.slots.saturating_add(stack).saturating_add(i) as u32
    }

    /// The frames of a slot's stack.
    fn stack_of<'r>(&self, frames: &'r [u32], slot: usize) -> Fit<&'r [u32]> {
        block::rows(frames, slot, 1, self.num)
    }

    /// The bytes of a frame.
    fn bytes<'r>(&self, pixels: &'r [u8], frame: u32) -> Fit<&'r [u8]> {
        block::rows(pixels, frame as usize, 1, self.len)
    }

    /// Elements of channel `channel` of frame `i` of a stack.
    fn elements<'o, T: Copy>(&self, obs: &'o [T], i: usize, channel: usize) -> impl Iterator<Item = T> + use<'o, T> {
        let first = i.saturating_mul(self.channels).saturating_add(channel);
        let stride = self.num.saturating_mul(self.channels).max(1);
        obs.get(first..).unwrap_or(&[]).iter().step_by(stride).copied()
    }

    /// Frame `i` of one stack is frame `k` of another.
    pub(super) fn are_same<T: Copy + PartialEq>(&self, (obs, i): (&[T], usize), (other, k): (&[T], usize)) -> bool {
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(self.elements(other, k, channel)))
    }

    /// Frame `i` of a stack is this one.
    fn is(&self, obs: &[u8], i: usize, frame: &[u8]) -> bool {
        let of = |channel| frame.get(channel..).unwrap_or(&[]).iter().step_by(self.channels.max(1)).copied();
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(of(channel)))
    }

    /// Copies frame `i` of a stack of elements that `byte` makes bytes of.
    fn copy<T: Copy>(&self, obs: &[T], i: usize, byte: fn(T) -> u8, to: &mut [u8]) {
        for channel in 0..self.channels {
            let to = to.get_mut(channel..).unwrap_or_default().iter_mut().step_by(self.channels.max(1));
            to.zip(self.elements(obs, i, channel)).for_each(|(to, x)| *to = byte(x));
        }
    }

    /// The numbers of the frames of a stack. `before`: those of the transition before it, and whether frame i of this stack is
    /// frame i + 1 of that. Errors: `Value` if it is made of others.
    fn numbers<T: Copy + PartialEq>(
        &self,
        obs: &[T],
        zero: T,
        place: &Place,
        before: Option<(&[u32], impl Fn(usize) -> bool + Copy)>,
    ) -> Result<[u32; MAX_STACK]> {
        let mut numbers = [0; MAX_STACK];
        let newest = self.num.saturating_sub(1);
        let older = numbers.get_mut(..newest).ok_or(Misfit)?;
        match before {
            None => older.iter_mut().zip(0..).for_each(|(to, i)| *to = self.of_env(place.slot, place.env, i)),
            Some((frames, follows)) if (0..newest).all(follows) => {
                older.iter_mut().zip(frames.iter().skip(1)).for_each(|(to, frame)| *to = *frame);
            }
            Some(_) => {
                for (i, to) in older.iter_mut().enumerate() {
                    let is_zeros = |channel| self.elements(obs, i, channel).all(|x| x == zero);
                    *to = match self.are_same((obs, i), (obs, newest)) {
                        true => place.slot as u32,
                        false if (0..self.channels).all(is_zeros) => self.zeros(),
                        false => return Err(REFUSED),
                    };
                }
            }
        }
        *numbers.get_mut(newest).ok_or(Misfit)? = place.slot as u32;
        Ok(numbers)
    }

    /// The numbers of the frames of an observation that is about to be recorded in a rollout of these transitions. Errors:
    /// `Value`.
    pub(super) fn find(
        &self,
        (env, frames, pixels): (&[u32], &[u32], &[u8]),
        place: &Place,
        obs: &[u8],
    ) -> Result<[u32; MAX_STACK]> {
        let before = match place.before(env) {
            Some(slot) => Some(self.stack_of(frames, slot)?),
            None => None,
        };
        let follows = |frames: &[u32], i: usize| {
            let frame = frames.get(i.saturating_add(1)).and_then(|frame| self.bytes(pixels, *frame).ok());
            frame.is_some_and(|frame| self.is(obs, i, frame))
        };
        self.numbers(obs, 0, place, before.map(|frames| (frames, move |i| follows(frames, i))))
    }

    /// The same for row `row` of observations that were recorded elsewhere, of environments `env`: they go to slots from
    /// `first` on, and `frames` has the numbers of the rows before this one. Errors: `Value`.
    pub(super) fn find_in_batch(
        &self,
        frames: &[u32],
        (obs, env): (&[f32], &[u32]),
        first: usize,
        row: usize,
    ) -> Result<(Place, [u32; MAX_STACK])> {
        let width = self.num.saturating_mul(self.len);
        let own = block::rows(obs, row, 1, width)?;
        let owner = *env.get(row).ok_or(Misfit)? as usize;
        let before = Place { env: owner, slot: row, recorded: (0, row) }.before(env);
        let place = Place { env: owner, slot: first.saturating_add(row), recorded: (first, first) };
        let before = match before {
            Some(row) => Some((self.stack_of(frames, first.saturating_add(row))?, block::rows(obs, row, 1, width)?)),
            None => None,
        };
        let before = before
            .map(|(frames, other)| (frames, move |i: usize| self.are_same((own, i), (other, i.saturating_add(1)))));
        Ok((place, self.numbers(own, 0.0, &place, before)?))
    }

    /// Records the stack of an observation by the numbers that it was found to have.
    pub(super) fn keep<T: Copy>(
        &self,
        (frames, pixels): (&mut [u32], &mut [u8]),
        place: &Place,
        numbers: &[u32],
        obs: &[T],
        byte: fn(T) -> u8,
    ) -> Fit<()> {
        let numbers = numbers.get(..self.num).ok_or(Misfit)?;
        for (i, &frame) in numbers.iter().enumerate() {
            // The newest one, and those that nothing recorded came before, are to be written.
            let is_new = i.saturating_add(1) == self.num || frame == self.of_env(place.slot, place.env, i);
            if is_new {
                self.copy(obs, i, byte, block::rows_mut(pixels, frame as usize, 1, self.len)?);
            }
        }
        block::copy(block::rows_mut(frames, place.slot, 1, self.num)?, numbers);
        Ok(())
    }

    /// Keeps the stack of a transition that waits apart, because slots from the first on are filled anew.
    pub(super) fn set_apart(&self, (frames, pixels): (&mut [u32], &mut [u8]), env: usize, slot: usize) -> Fit<()> {
        for i in 0..self.num {
            let (at, to) = (slot.saturating_mul(self.num).saturating_add(i), self.of_env(slot, env, i));
            let frame = frames.get_mut(at).ok_or(Misfit)?;
            copy_row_within(pixels, self.count(), *frame as usize, to as usize)?;
            *frame = to;
        }
        Ok(())
    }

    /// Every number in these slots is that of a frame.
    pub(super) fn are_there(&self, frames: &[u32], first: usize, slots: usize) -> Fit<bool> {
        let count = self.count();
        Ok(block::rows(frames, first, slots, self.num)?.iter().all(|&frame| (frame as usize) < count))
    }

    /// Writes the stack of a slot whole, to row `at` of others.
    pub(super) fn join(&self, (frames, pixels): (&[u32], &[u8]), slot: usize, to: &mut [u8], at: usize) -> Result {
        let window = self.window((frames, pixels), slot)?;
        let to = block::rows_mut(to, at, 1, self.num.saturating_mul(self.len))?;
        stack::stack(&window, self.channels, Layout::Hwc, to)
    }

    /// The frames of the stack of a slot.
    fn window<'r>(&self, (frames, pixels): (&[u32], &'r [u8]), slot: usize) -> Result<Window<'r, u8>> {
        let mut window = Window::new();
        for &frame in self.stack_of(frames, slot)? {
            window.push(self.bytes(pixels, frame)?)?;
        }
        Ok(window)
    }

    /// What networks are given for the stacks of these slots.
    pub(in crate::learn) fn see<'t>(
        &self,
        (frames, pixels): (&[u32], &[u8]),
        slots: impl Iterator<Item = usize>,
        to: &'t mut [f32],
    ) -> Result<&'t mut [f32]> {
        let width = self.num.saturating_mul(self.len);
        let mut count = 0usize;
        for (slot, to) in slots.zip(to.chunks_exact_mut(width.max(1))) {
            stack::stack(&self.window((frames, pixels), slot)?, self.channels, Layout::Hwc, to)?;
            count = count.saturating_add(1);
        }
        Ok(block::rows_mut(to, 0, count, width)?)
    }
}
