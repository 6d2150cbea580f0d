//! Observations that are stacks of an environment's last frames.
//!
//! Whoever keeps each frame once tells a stack by the numbers of its frames, of which it finds most in the stack before.

use crate::block::{self, Fit};
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::{self, Convert, Layout, Window};
use crate::learn::seen::Part;
use crate::learn::stored::Stored;
use crate::nn::Input;

/// A stack that does not follow the one before it.
pub(in crate::learn) const REFUSED: Error = Error::new(
    Kind::Value,
    "learner, num_stacked: older frames that are those of the previous observation shifted by one, or copies of the newest \
     one, or zeros",
);

/// How frames lie in an observation, along its last axis and the newest one last.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Stack {
    /// Frames of a stack; 0: observations are kept whole.
    pub(in crate::learn) num: usize,
    /// Bytes of a frame.
    pub(in crate::learn) len: usize,
    /// Bytes of one of its pixels.
    channels: usize,
}

/// Where an older frame of a stack is found again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Older {
    /// In the stack before, one place on, as all of them are.
    Before,
    /// It is the newest one.
    Newest,
    /// It is all zeros.
    Zeros,
    /// Nowhere.
    Own,
}

impl Stack {
    pub(in crate::learn) fn new(stored: &Stored, parts: &[Part]) -> Stack {
        let num = if cfg!(feature = "pictures") { stored.config.num_stacked as usize } else { 0 };
        let part = |len: u32| (len as usize).checked_div(num).unwrap_or(0);
        Stack { num, len: part(stored.shape.obs_len), channels: part(stored.last_axis(parts)) }
    }

    /// Frames are kept once.
    pub(in crate::learn) fn is_kept(&self) -> bool {
        cfg!(feature = "pictures") && self.num > 0
    }

    /// Bytes of a stack.
    pub(in crate::learn) fn width(&self) -> usize {
        self.num.saturating_mul(self.len)
    }

    /// Elements of channel `channel` of frame `i` of a stack.
    fn elements<'o, T: Copy>(&self, obs: &'o [T], i: usize, channel: usize) -> impl Iterator<Item = T> + use<'o, T> {
        let first = i.saturating_mul(self.channels).saturating_add(channel);
        let stride = self.num.saturating_mul(self.channels).max(1);
        obs.get(first..).unwrap_or(&[]).iter().step_by(stride).copied()
    }

    /// Frame `i` of one stack is frame `k` of another.
    pub(in crate::learn) fn are_same<T: Copy + PartialEq>(
        &self,
        (obs, i): (&[T], usize),
        (other, k): (&[T], usize),
    ) -> bool {
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(self.elements(other, k, channel)))
    }

    /// Frame `i` of a stack is this one.
    pub(in crate::learn) fn is(&self, obs: &[u8], i: usize, frame: &[u8]) -> bool {
        let of = |channel| frame.get(channel..).unwrap_or(&[]).iter().step_by(self.channels.max(1)).copied();
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(of(channel)))
    }

    /// Copies frame `i` of a stack of elements that `byte` makes bytes of.
    pub(in crate::learn) fn copy<T: Copy>(&self, obs: &[T], i: usize, byte: fn(T) -> u8, to: &mut [u8]) {
        for channel in 0..self.channels {
            let to = to.get_mut(channel..).unwrap_or_default().iter_mut().step_by(self.channels.max(1));
            to.zip(self.elements(obs, i, channel)).for_each(|(to, x)| *to = byte(x));
        }
    }

    /// Where the older frames of a stack are found. `follows`: whether frame i is frame i + 1 of the stack before; nothing: there
    /// is none.
    pub(in crate::learn) fn older<T: Copy + PartialEq>(
        &self,
        obs: &[T],
        zero: T,
        follows: Option<impl Fn(usize) -> bool>,
    ) -> impl Iterator<Item = Older> {
        let newest = self.num.saturating_sub(1);
        let all = follows.is_some_and(|follows| (0..newest).all(follows));
        (0..newest).map(move |i| {
            let is_zeros = |channel| self.elements(obs, i, channel).all(|x| x == zero);
            match all {
                true => Older::Before,
                false if self.are_same((obs, i), (obs, newest)) => Older::Newest,
                false if (0..self.channels).all(is_zeros) => Older::Zeros,
                false => Older::Own,
            }
        })
    }

    /// The frames of a slot's stack.
    pub(in crate::learn) fn of<'r>(&self, frames: &'r [u32], slot: usize) -> Fit<&'r [u32]> {
        block::rows(frames, slot, 1, self.num)
    }

    /// The frames of a slot's stack, of those that lie in `pixels`.
    fn window<'r>(&self, (frames, pixels): (&[u32], &'r [u8]), slot: usize) -> Result<Window<'r, u8>> {
        let mut window = Window::new();
        for &frame in self.of(frames, slot)? {
            window.push(block::rows(pixels, frame as usize, 1, self.len)?)?;
        }
        Ok(window)
    }

    /// Writes the stack of a slot whole, to row `at` of others.
    pub(in crate::learn) fn join(&self, kept: (&[u32], &[u8]), slot: usize, to: &mut [u8], at: usize) -> Result {
        stack::stack(&self.window(kept, slot)?, self.channels, Layout::Hwc, block::rows_mut(to, at, 1, self.width())?)
    }

    /// What a network that `reads_bytes`, or numbers, reads of the stacks of these slots, of frames that lie in `pixels`.
    pub(in crate::learn) fn input<'t>(
        &self,
        reads_bytes: bool,
        kept: (&[u32], &[u8]),
        slots: impl Iterator<Item = usize>,
        to: &'t mut [f32],
    ) -> Result<Input<'t>> {
        Ok(match reads_bytes {
            true => Input::U8(self.see(kept, slots, bytemuck::cast_slice_mut(to))?),
            false => Input::F32(self.see(kept, slots, to)?),
        })
    }

    /// The stacks of these slots as bytes, or as networks see them, of frames that lie in `pixels`.
    pub(in crate::learn) fn see<'t, T: Convert<u8>>(
        &self,
        kept: (&[u32], &[u8]),
        slots: impl Iterator<Item = usize>,
        to: &'t mut [T],
    ) -> Result<&'t mut [T]> {
        let mut count = 0usize;
        for (slot, to) in slots.zip(to.chunks_exact_mut(self.width().max(1))) {
            stack::stack(&self.window(kept, slot)?, self.channels, Layout::Hwc, to)?;
            count = count.saturating_add(1);
        }
        Ok(block::rows_mut(to, 0, count, self.width())?)
    }
}
