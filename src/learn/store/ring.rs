//! Frames of stacks that the store keeps once, in a ring.
//!
//! Frames are numbered as they come. What environments have begun lies apart with whole observations; when a transition goes
//! to the store, its stacks are told by the numbers of frames that are there already, if these came of late, and the others
//! come new. So no transition needs a frame that came long before it did, and those overwritten are of transitions that are gone.

use super::stack::{Older, REFUSED, Stack};
use crate::block::{self, Misfit};
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::seen::Part;
use crate::learn::stored::Stored;
use crate::space::Elements;

/// The number of the frame that is zeros.
pub(in crate::learn) const ZEROS: u64 = u64::MAX;

/// One spare frame for so many transitions: for the last observations of episodes that are truncated, and as many again that
/// transitions of slow environments may reach back.
const SPARE: u64 = 256;

/// How frames are kept.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Ring {
    pub(in crate::learn) stack: Stack,
    /// Frames that there is room for, but the one of zeros.
    pub(in crate::learn) room: u64,
    /// A transition's frames are not older than so many others, counted from when it is stored, and before its own are.
    pub(in crate::learn) reach: u64,
    recent: u64,
}

impl Ring {
    pub(in crate::learn) fn new(stored: &Stored, parts: &[Part]) -> Ring {
        let (c, mut stack) = (&stored.config, Stack::new(stored, parts));
        if c.buffer_size == 0 {
            stack.num = 0;
        }
        let (slots, num, steps) = (u64::from(c.buffer_size), u64::from(c.num_stacked), u64::from(c.n_step));
        // Of an environment at once: a stack, the steps that follow it, and another stack.
        let most = num.saturating_add(num).saturating_add(steps);
        let reach = most.saturating_mul(4).saturating_mul(c.num_envs.into()).saturating_add(slots.div_euclid(SPARE));
        let room = slots.saturating_add(reach.saturating_mul(2));
        Ring { stack, room, reach, recent: reach.saturating_sub(most) }
    }

    /// Frames that there is room for, the last of which is always zeros.
    pub(in crate::learn) fn count(&self) -> usize {
        if self.stack.is_kept() { self.room.saturating_add(1) as usize } else { 0 }
    }

    /// Where frames of these numbers lie.
    pub(in crate::learn) fn tell(&self, numbers: &[u64], to: &mut [u32]) {
        for (to, &number) in to.iter_mut().zip(numbers) {
            let own = if number == ZEROS { None } else { number.checked_rem(self.room) };
            *to = own.unwrap_or(self.room) as u32;
        }
    }

    /// Every one of these is the place of a frame.
    pub(in crate::learn) fn are_there(&self, frames: &[u32]) -> bool {
        frames.iter().all(|&frame| u64::from(frame) <= self.room)
    }

    /// A stack with these numbers came of late.
    pub(in crate::learn) fn is_recent(&self, numbers: &[u64], num_frames: u64) -> bool {
        let age = |number| num_frames.checked_sub(number);
        let recent = |&number: &u64| number == ZEROS || age(number).is_some_and(|age| age <= self.recent);
        numbers.last() != Some(&ZEROS) && numbers.iter().all(recent)
    }

    /// What an environment sees in the middle of an episode follows what it saw before, which is in `pixels` of what it has
    /// begun. Errors: `Value`.
    pub(in crate::learn) fn check(
        &self,
        pixels: &[u8],
        num_begun: &[u64],
        env: usize,
        (obs, row): (&Elements<'_>, usize),
    ) -> Result {
        let count = *num_begun.get(env).ok_or(Misfit)?;
        if !self.stack.is_kept() || count == 0 {
            return Ok(());
        }
        let of_env = block::rows(pixels, env, 1, pixels.len().checked_div(num_begun.len()).unwrap_or(0))?;
        let steps = of_env.len().checked_div(self.stack.width()).unwrap_or(0) as u64;
        let before = count.saturating_sub(1).checked_rem(steps).unwrap_or(0);
        let before = block::rows(of_env, before as usize, 1, self.stack.width())?;
        let obs = block::rows(obs.bytes(), row, 1, self.stack.width())?;
        let follows = |i: usize| self.stack.are_same((obs, i), (before, i.saturating_add(1)));
        let refused = self.stack.older(obs, 0, Some(follows)).any(|older| older == Older::Own);
        if refused { Err(REFUSED) } else { Ok(()) }
    }

    /// The number of frame `i` of a stack that comes new.
    fn put(&self, (frames, num_frames): (&mut [u8], &mut u64), obs: &[u8], i: usize) -> Result<u64> {
        let number = *num_frames;
        let at = number.checked_rem(self.room).unwrap_or(0) as usize;
        self.stack.copy(obs, i, |x| x, block::rows_mut(frames, at, 1, self.stack.len)?);
        *num_frames = number.saturating_add(1);
        Ok(number)
    }

    /// The numbers of a stack's frames, some of which may come new. `before`: the stack before it, with numbers and whole.
    pub(in crate::learn) fn place(
        &self,
        (frames, num_frames): (&mut [u8], &mut u64),
        obs: &[u8],
        before: Option<(&[u64], &[u8])>,
    ) -> Result<[u64; MAX_STACK]> {
        let (mut numbers, newest) = ([ZEROS; MAX_STACK], self.stack.num.saturating_sub(1));
        let last = self.put((frames, num_frames), obs, newest)?;
        let follows =
            before.map(|(_, other)| move |i: usize| self.stack.are_same((obs, i), (other, i.saturating_add(1))));
        for (i, (to, older)) in numbers.iter_mut().zip(self.stack.older(obs, 0, follows)).enumerate() {
            *to = match older {
                Older::Before => *before.and_then(|(numbers, _)| numbers.get(i.saturating_add(1))).ok_or(Misfit)?,
                Older::Newest => last,
                Older::Zeros => ZEROS,
                Older::Own => self.put((frames, num_frames), obs, i)?,
            };
        }
        *numbers.get_mut(newest).ok_or(Misfit)? = last;
        Ok(numbers)
    }
}
