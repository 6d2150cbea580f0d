//! Frames of stacks that the replay store holds once, in a ring.
//!
//! Frames are numbered in the order of arrival. Begun transitions keep whole observations outside of the ring. When a
//! transition is stored, its stacks refer to frames that are in the ring already, if these are recent; all other frames are
//! added. Thus no transition needs a frame that is much older than itself, and overwritten frames belong to removed
//! transitions.

use super::stack::{Older, REFUSED, Stack};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::obs_encoder::{ObsEncoder, Part};
use crate::space::Elements;

/// The number of the zero frame.
pub(in crate::learn) const ZEROS: u64 = u64::MAX;

/// Transitions per spare frame: for the last observations of truncated episodes, and the same number again for older frames
/// that transitions of slow environments refer to.
const SPARE: u64 = 256;

/// Layout of the ring.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Ring {
    pub(in crate::learn) stack: Stack,
    /// Frames that there is room for, without the zero frame.
    pub(in crate::learn) room: u64,
    /// The largest age of a transition's frames before its own frames are added, in frames.
    recent: u64,
    /// The most frames that are added after a transition that is still held when no update runs.
    pub(in crate::learn) held: u64,
}

impl Ring {
    pub(in crate::learn) fn new(stored: &LearnerSpec, parts: &[Part]) -> Ring {
        let (c, mut stack) = (&stored.config, Stack::new(stored, parts));
        if c.buffer_size == 0 {
            stack.num = 0;
        }
        let (slots, num, steps) = (u64::from(c.buffer_size), u64::from(c.num_stacked), u64::from(c.n_step));
        // Frames that an environment adds at once: a stack, the steps after it, and another stack.
        let most = num.saturating_add(num).saturating_add(steps);
        let reach = most.saturating_mul(4).saturating_mul(c.num_envs.into()).saturating_add(slots.div_euclid(SPARE));
        let held = slots.saturating_add(reach);
        // With `overlap` nothing is removed while an update runs, and frames are added with each transition that arrives.
        let arriving = most.saturating_mul(c.arrivals() as u64);
        let room = held.saturating_add(reach).saturating_add(arriving);
        Ring { stack, room, recent: reach.saturating_sub(most), held }
    }

    /// The number of frames that there is room for, the last of which is always zeros.
    pub(in crate::learn) fn count(&self) -> usize {
        if self.stack.is_kept() { self.room.saturating_add(1) as usize } else { 0 }
    }

    /// Writes the ring positions of the frames with these numbers.
    pub(in crate::learn) fn tell(&self, numbers: &[u64], to: &mut [u32]) {
        for (to, &number) in to.iter_mut().zip(numbers) {
            let own = if number == ZEROS { None } else { number.checked_rem(self.room) };
            *to = own.unwrap_or(self.room) as u32;
        }
    }

    /// Whether every entry is the position of a frame.
    pub(in crate::learn) fn are_there(&self, frames: &[u32]) -> bool {
        frames.iter().all(|&frame| u64::from(frame) <= self.room)
    }

    /// Whether the frames of a stack are recent.
    pub(in crate::learn) fn is_recent(&self, numbers: &[u64], num_frames: u64) -> bool {
        let age = |number| num_frames.checked_sub(number);
        let recent = |&number: &u64| number == ZEROS || age(number).is_some_and(|age| age <= self.recent);
        numbers.last() != Some(&ZEROS) && numbers.iter().all(recent)
    }

    /// Checks that an observation in the middle of an episode continues the stack of the previous one, which is in `pixels` of
    /// the begun transitions. Errors: `Value`.
    pub(in crate::learn) fn check(
        &self,
        seen: &ObsEncoder<'_>,
        pixels: &[u8],
        num_begun: &[u64],
        env: usize,
        (obs, row): (Elements<'_>, usize),
    ) -> Result {
        let count = *num_begun.get(env).ok_or(LayoutError)?;
        if !self.stack.is_kept() || count == 0 {
            return Ok(());
        }
        let of_env = block::rows(pixels, env, 1, pixels.len().checked_div(num_begun.len()).unwrap_or(0))?;
        let steps = of_env.len().checked_div(seen.elements).unwrap_or(0) as u64;
        let before = count.saturating_sub(1).checked_rem(steps).unwrap_or(0);
        let before = seen.front(Elements::U8(of_env), before as usize, self.stack.width())?;
        let obs = seen.front(obs, row, self.stack.width())?;
        let same = |i: usize, k: usize| self.stack.are_same((obs, i), (before, k));
        let refused = self.stack.older(obs, 0, Some(same)).any(|older| older == Older::Own);
        if refused { Err(REFUSED) } else { Ok(()) }
    }

    /// Adds frame `i` of a stack and returns its number.
    fn put(&self, (frames, num_frames): (&mut [u8], &mut u64), obs: &[u8], i: usize) -> Result<u64> {
        let number = *num_frames;
        let at = number.checked_rem(self.room).unwrap_or(0) as usize;
        self.stack.copy(obs, i, |x| x, block::rows_mut(frames, at, 1, self.stack.len)?);
        *num_frames = number.saturating_add(1);
        Ok(number)
    }

    /// The frame numbers of a stack, after adding missing frames. `before`: the previous stack, by numbers and as a whole.
    pub(in crate::learn) fn place(
        &self,
        (frames, num_frames): (&mut [u8], &mut u64),
        obs: &[u8],
        before: Option<(&[u64], &[u8])>,
    ) -> Result<[u64; MAX_STACK]> {
        let (mut numbers, newest) = ([ZEROS; MAX_STACK], self.stack.num.saturating_sub(1));
        let last = self.put((frames, num_frames), obs, newest)?;
        let same = before.map(|(_, other)| move |i: usize, k: usize| self.stack.are_same((obs, i), (other, k)));
        for (i, (to, older)) in numbers.iter_mut().zip(self.stack.older(obs, 0, same)).enumerate() {
            *to = match older {
                Older::Before(k) => *before.and_then(|(numbers, _)| numbers.get(k)).ok_or(LayoutError)?,
                Older::Newest => last,
                Older::Zeros => ZEROS,
                Older::Own => self.put((frames, num_frames), obs, i)?,
            };
        }
        *numbers.get_mut(newest).ok_or(LayoutError)? = last;
        Ok(numbers)
    }
}
