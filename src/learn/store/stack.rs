//! Observations that are stacks of an environment's last frames.
//!
//! Stores that hold each frame once represent a stack by its frame numbers; most frames are those of the previous stack.

use crate::block::{self, Fit};
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::{self, Convert, Layout, Window};
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::obs_encoder::Part;

/// The error for a stack with more new frames than there is room for.
pub(in crate::learn) const REFUSED: Error = Error::new(
    Kind::Value,
    "learner, num_stacked: older frames that are those of the previous observation, shifted, or copies of the newest one, or \
     zeros, or room for them",
);

/// Layout of frames in an observation: along the channels of its picture, the newest one last.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Stack {
    /// Frames of a stack; 0: observations are stored whole.
    pub(in crate::learn) num: usize,
    /// Bytes of a frame.
    pub(in crate::learn) len: usize,
    /// Bytes of a pixel of a frame.
    channels: usize,
    /// The channels come first in observations; in frames they are last.
    turned: bool,
}

/// Where an older frame of a stack is already stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Older {
    /// In the previous stack, under this position.
    Before(usize),
    /// It equals the newest frame.
    Newest,
    /// It is all zeros.
    Zeros,
    /// Not stored.
    Own,
}

impl Stack {
    pub(in crate::learn) fn new(stored: &LearnerSpec, parts: &[Part]) -> Stack {
        let num = if cfg!(feature = "pictures") { stored.config.num_stacked as usize } else { 0 };
        let part = |len: u32| (len as usize).checked_div(num).unwrap_or(0);
        let turned = parts.first().is_some_and(Part::is_turned);
        Stack { num, len: part(stored.front(parts)), channels: part(stored.last_axis(parts)), turned }
    }

    /// The layout in the encoding of observations.
    pub(in crate::learn) fn encoded(self) -> Stack {
        Stack { turned: false, ..self }
    }

    /// Whether frames are stored once.
    pub(in crate::learn) fn is_kept(&self) -> bool {
        cfg!(feature = "pictures") && self.num > 0
    }

    /// Bytes of a stack.
    pub(in crate::learn) fn width(&self) -> usize {
        self.num.saturating_mul(self.len)
    }

    /// Elements of channel `channel` of frame `i` of a stack.
    fn elements<'o, T: Copy>(&self, obs: &'o [T], i: usize, channel: usize) -> impl Iterator<Item = T> + use<'o, T> {
        let (number, pixels) =
            (i.saturating_mul(self.channels).saturating_add(channel), self.len.checked_div(self.channels));
        let pixels = pixels.unwrap_or(0);
        let (first, stride) = match self.turned {
            true => (number.saturating_mul(pixels), 1),
            false => (number, self.num.saturating_mul(self.channels).max(1)),
        };
        obs.get(first..).unwrap_or(&[]).iter().step_by(stride).take(pixels).copied()
    }

    /// Whether frame `i` of one stack equals frame `k` of another.
    pub(in crate::learn) fn are_same<T: Copy + PartialEq>(
        &self,
        (obs, i): (&[T], usize),
        (other, k): (&[T], usize),
    ) -> bool {
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(self.elements(other, k, channel)))
    }

    /// Whether frame `i` of a stack equals `frame`.
    pub(in crate::learn) fn is(&self, obs: &[u8], i: usize, frame: &[u8]) -> bool {
        let of = |channel| frame.get(channel..).unwrap_or(&[]).iter().step_by(self.channels.max(1)).copied();
        (0..self.channels).all(|channel| self.elements(obs, i, channel).eq(of(channel)))
    }

    /// Copies frame `i` of a stack, converting its elements to bytes with `byte`.
    pub(in crate::learn) fn copy<T: Copy>(&self, obs: &[T], i: usize, byte: fn(T) -> u8, to: &mut [u8]) {
        for channel in 0..self.channels {
            let to = to.get_mut(channel..).unwrap_or_default().iter_mut().step_by(self.channels.max(1));
            to.zip(self.elements(obs, i, channel)).for_each(|(to, x)| *to = byte(x));
        }
    }

    /// Where the older frames of a stack are stored. `same`: whether frame i equals frame k of the previous stack; `None`: there
    /// is no previous stack.
    pub(in crate::learn) fn older<T: Copy + PartialEq>(
        &self,
        obs: &[T],
        zero: T,
        same: Option<impl Fn(usize, usize) -> bool>,
    ) -> impl Iterator<Item = Older> {
        let newest = self.num.saturating_sub(1);
        // One frame, or more if an environment has taken steps that no observation showed.
        let shift = same.and_then(|same| {
            let fits = |by: usize| (by..self.num).all(|k| same(k.saturating_sub(by), k));
            (1..self.num).find(|by| fits(*by))
        });
        (0..newest).map(move |i| {
            let is_zeros = |channel| self.elements(obs, i, channel).all(|x| x == zero);
            let before = shift.map(|by| i.saturating_add(by)).filter(|before| *before < self.num);
            match before {
                Some(before) => Older::Before(before),
                None if self.are_same((obs, i), (obs, newest)) => Older::Newest,
                None if (0..self.channels).all(is_zeros) => Older::Zeros,
                None => Older::Own,
            }
        })
    }

    /// The frame numbers of a slot's stack.
    pub(in crate::learn) fn of<'r>(&self, frames: &'r [u32], slot: usize) -> Fit<&'r [u32]> {
        block::rows(frames, slot, 1, self.num)
    }

    /// The frames of a slot's stack; `pixels` holds all frames.
    fn window<'r>(&self, (frames, pixels): (&[u32], &'r [u8]), slot: usize) -> Result<Window<'r, u8>> {
        let mut window = Window::new();
        for &frame in self.of(frames, slot)? {
            window.push(block::rows(pixels, frame as usize, 1, self.len)?)?;
        }
        Ok(window)
    }

    /// Writes the whole stack of a slot, as bytes or divided by 255.
    pub(in crate::learn) fn join<T: Convert<u8>>(&self, kept: (&[u32], &[u8]), slot: usize, to: &mut [T]) -> Result {
        stack::stack(&self.window(kept, slot)?, self.channels, Layout::Hwc, to)
    }

    /// The stacks of these slots, as bytes or divided by 255.
    pub(in crate::learn) fn see<'t, T: Convert<u8>>(
        &self,
        kept: (&[u32], &[u8]),
        slots: impl Iterator<Item = usize>,
        to: &'t mut [T],
    ) -> Result<&'t mut [T]> {
        let mut count = 0usize;
        for (slot, to) in slots.zip(to.chunks_exact_mut(self.width().max(1))) {
            self.join(kept, slot, to)?;
            count = count.saturating_add(1);
        }
        Ok(block::rows_mut(to, 0, count, self.width())?)
    }
}
