//! Frame stacking: the last k frames of an episode are one observation, oldest first.
//!
//! A frame is `[H, W, C]`, channels last; a vector is one pixel whose channels are its elements. All owners of frames, a replay
//! memory or an environment's own ring, build stacks only with this module.

use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};

/// Most frames of one stack.
pub const MAX_STACK: usize = 16;

/// Memory order of a stack. The numbers are the C values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Layout {
    /// `[H, W, C * k]`: frames on the last axis, as environments stack them.
    #[default]
    Hwc = 0,
    /// `[C * k, H, W]`: each channel a plane, the oldest frame first, as convolutions want them.
    Chw = 1,
}

impl Layout {
    /// The layout with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Layout::Hwc, Layout::Chw].into_iter().find(|&layout| layout as u32 == number)
    }
}

/// Conversion of an element of a frame to an element of a stack.
pub trait Convert<T>: Copy {
    /// Converts one element.
    fn convert(x: T) -> Self;
}

impl Convert<u8> for u8 {
    #[inline(always)]
    fn convert(x: u8) -> u8 {
        x
    }
}

impl Convert<f32> for f32 {
    #[inline(always)]
    fn convert(x: f32) -> f32 {
        x
    }
}

impl Convert<u8> for f32 {
    /// [`unit()`].
    #[inline(always)]
    fn convert(x: u8) -> f32 {
        unit(x)
    }
}

/// `x / 255`, correctly rounded, without a division: the first product is exact and the second only rounds it.
#[inline(always)]
pub fn unit(x: u8) -> f32 {
    const HIGH: f32 = 257.0 / 65536.0;
    const LOW: f32 = 1.0 / (255.0 * 65536.0);
    let x = f32::from(x);
    x * HIGH + x * LOW
}

/// Frames in order, oldest first: of one stack, or of two consecutive ones.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a, T> {
    frames: [&'a [T]; MAX_STACK + 1],
    len: usize,
}

impl<'a, T> Window<'a, T> {
    /// A window without frames.
    pub fn new() -> Self {
        Window { frames: [&[]; MAX_STACK + 1], len: 0 }
    }

    /// The `num_stack` frames of a ring, `[num_stack, frame_len]`, whose newest is in slot `newest`.
    /// Errors: `Range` for the slot or more frames than [`MAX_STACK`]; `Shape`.
    pub fn of_ring(ring: &'a [T], num_stack: usize, newest: usize) -> Result<Self> {
        check_ring(ring.len(), num_stack, newest)?;
        let frame_len = ring.len().checked_div(num_stack).unwrap_or(0);
        let mut window = Window::new();
        let mut slot = newest;
        for _ in 0..num_stack {
            slot = next_slot(slot, num_stack);
            let begin = slot.wrapping_mul(frame_len);
            window.push(ring.get(begin..begin.wrapping_add(frame_len)).unwrap_or_default())?;
        }
        Ok(window)
    }

    /// Appends a newer frame. Errors: `Range` if there are already [`MAX_STACK`] + 1.
    pub fn push(&mut self, frame: &'a [T]) -> Result {
        let full = Error::limit(Kind::Range, "stack: frames up to", MAX_STACK, self.len);
        *self.frames.get_mut(self.len).ok_or(full)? = frame;
        self.len = self.len.wrapping_add(1);
        Ok(())
    }

    /// The frames.
    pub fn frames(&self) -> &[&'a [T]] {
        self.frames.get(..self.len).unwrap_or_default()
    }
}

impl<T> Default for Window<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Starts an episode in a ring, `[num_stack, frame_len]`: every slot gets the first frame. The newest slot is 0.
/// Errors: `Range`, `Shape`; then nothing is written.
pub fn ring_fill<T: Convert<T>>(ring: &mut [T], num_stack: usize, frame: &[T]) -> Result {
    check_ring(ring.len(), num_stack, 0)?;
    let frame_len = ring.len().checked_div(num_stack).unwrap_or(0);
    check_len("stack: elements of a frame,", frame, frame_len)?;
    let mut rest = ring;
    while let Some((slot, others)) = rest.split_at_mut_checked(frame_len.max(1)) {
        copy(frame, slot);
        rest = others;
    }
    Ok(())
}

/// Overwrites the oldest frame of a ring, `[num_stack, frame_len]`, and returns its slot, which is the newest from now on.
/// Errors: `Range`, `Shape`; then nothing is written.
pub fn ring_push<T: Convert<T>>(ring: &mut [T], num_stack: usize, newest: usize, frame: &[T]) -> Result<usize> {
    check_ring(ring.len(), num_stack, newest)?;
    let frame_len = ring.len().checked_div(num_stack).unwrap_or(0);
    check_len("stack: elements of a frame,", frame, frame_len)?;
    let slot = next_slot(newest, num_stack);
    let begin = slot.wrapping_mul(frame_len);
    copy(frame, ring.get_mut(begin..begin.wrapping_add(frame_len)).unwrap_or_default());
    Ok(slot)
}

fn check_ring(len: usize, num_stack: usize, newest: usize) -> Result {
    check_num(num_stack)?;
    let what = "stack: a slot of the ring below";
    Error::limit(Kind::Range, what, num_stack, newest).fail_if(newest >= num_stack)?;
    let what = "stack: a ring of whole frames, of which";
    Error::limit(Kind::Shape, what, num_stack, len).fail_if(len.checked_rem(num_stack) != Some(0))
}

fn check_num(num_stack: usize) -> Result {
    if (1..=MAX_STACK).contains(&num_stack) {
        Ok(())
    } else {
        Err(Error::limit(Kind::Range, "stack: frames from 1 to", MAX_STACK, num_stack))
    }
}

fn next_slot(slot: usize, num_stack: usize) -> usize {
    let next = slot.wrapping_add(1);
    if next < num_stack { next } else { 0 }
}

/// Writes the stack of these frames, each `[H * W, channels]`; `out` is as long as all of them together. Errors: `Range` for
/// the number of frames; `Shape`. `out` is untouched on error.
pub fn stack<T: Copy, U: Convert<T>>(window: &Window<'_, T>, channels: usize, layout: Layout, out: &mut [U]) -> Result {
    let frames = window.frames();
    check(frames, frames.len(), channels, out)?;
    match layout {
        Layout::Hwc => cpu::dispatch(Interleave { frames, channels, out }),
        Layout::Chw => {
            let mut rest = out;
            for frame in frames {
                planes(frame, channels, cut(&mut rest, frame.len()));
            }
        }
    }
    Ok(())
}

/// [`stack`] of the frames of a ring, `[num_stack, frame_len]`, whose newest is in slot `newest`.
/// Errors: as [`Window::of_ring`] and [`stack`].
pub fn stack_ring<T: Copy, U: Convert<T>>(
    ring: &[T],
    (num_stack, newest): (usize, usize),
    channels: usize,
    layout: Layout,
    out: &mut [U],
) -> Result {
    check_ring(ring.len(), num_stack, newest)?;
    // A stack of one-pixel frames is the ring, rotated to begin with the oldest frame.
    if channels.checked_mul(num_stack) == Some(ring.len()) && ring.len() == out.len() {
        let oldest = next_slot(newest, num_stack).wrapping_mul(channels);
        let (new, old) = ring.split_at_checked(oldest).unwrap_or_default();
        let mut rest = out;
        copy(old, cut(&mut rest, old.len()));
        copy(new, rest);
        return Ok(());
    }
    stack(&Window::of_ring(ring, num_stack, newest)?, channels, layout, out)
}

/// Writes the stack of all frames but the last, `obs`, and the stack of all but the first, `next_obs`; every frame is read from
/// memory once. Errors: as [`stack`].
pub fn pair<T: Copy, U: Convert<T>>(
    window: &Window<'_, T>,
    channels: usize,
    layout: Layout,
    obs: &mut [U],
    next_obs: &mut [U],
) -> Result {
    let frames = window.frames();
    let num_stack = frames.len().saturating_sub(1);
    check(frames, num_stack, channels, obs)?;
    check(frames, num_stack, channels, next_obs)?;
    let frame_len = frames.first().map_or(0, |frame| frame.len());
    let (mut obs, mut next_obs) = (obs, next_obs);
    match layout {
        Layout::Hwc => {
            // Tiles that stay in the first-level cache for the second reading.
            let tile = TILE.checked_div(channels).unwrap_or(0).max(1).saturating_mul(channels);
            let mut begin = 0usize;
            while begin < frame_len {
                let end = begin.saturating_add(tile).min(frame_len);
                let mut part = *window;
                for frame in &mut part.frames {
                    *frame = frame.get(begin..end).unwrap_or_default();
                }
                let len = end.wrapping_sub(begin).saturating_mul(num_stack);
                let frames = part.frames();
                let old = frames.get(..num_stack).unwrap_or_default();
                let new = frames.get(1..).unwrap_or_default();
                cpu::dispatch(Interleave { frames: old, channels, out: cut(&mut obs, len) });
                cpu::dispatch(Interleave { frames: new, channels, out: cut(&mut next_obs, len) });
                begin = end;
            }
        }
        Layout::Chw => {
            for (i, frame) in frames.iter().enumerate() {
                if i < num_stack {
                    planes(frame, channels, cut(&mut obs, frame_len));
                }
                if i > 0 {
                    planes(frame, channels, cut(&mut next_obs, frame_len));
                }
            }
        }
    }
    Ok(())
}

/// Elements of one frame that [`pair`] processes at a time.
const TILE: usize = 1024;

/// Writes the newest frame of a stack in `layout`, the only new one in an observation of a stacked environment. Errors: `Range`
/// for the number of frames; `Shape`. `frame` is untouched on error.
pub fn newest<T: Convert<T>>(
    stack: &[T],
    num_stack: usize,
    channels: usize,
    layout: Layout,
    frame: &mut [T],
) -> Result {
    check_num(num_stack)?;
    check_pixels(frame.len(), channels)?;
    check_len("stack: elements,", stack, frame.len().saturating_mul(num_stack))?;
    let pixels = frame.len().checked_div(channels).unwrap_or(0);
    match layout {
        Layout::Hwc => {
            let (mut rest, mut to) = (stack, frame);
            let older = channels.saturating_mul(num_stack.wrapping_sub(1));
            while let Some((pixel, others)) = rest.split_at_checked(older.saturating_add(channels)) {
                if pixel.is_empty() {
                    break;
                }
                copy(pixel.get(older..).unwrap_or_default(), cut(&mut to, channels));
                rest = others;
            }
        }
        Layout::Chw => {
            let last = stack.get(stack.len().saturating_sub(frame.len())..).unwrap_or_default();
            transpose(last, pixels, frame);
        }
    }
    Ok(())
}

fn check<T, U>(frames: &[&[T]], num_stack: usize, channels: usize, out: &[U]) -> Result {
    check_num(num_stack)?;
    let frame_len = frames.first().map_or(0, |frame| frame.len());
    for frame in frames {
        check_len("stack: frames of one length,", frame, frame_len)?;
    }
    check_pixels(frame_len, channels)?;
    check_len("stack: elements,", out, frame_len.saturating_mul(num_stack))
}

fn check_pixels(frame_len: usize, channels: usize) -> Result {
    if frame_len.checked_rem(channels) == Some(0) {
        Ok(())
    } else {
        Err(Error::limit(Kind::Shape, "stack: a frame of whole pixels of channels", channels, frame_len))
    }
}

/// The next `len` elements of `rest`.
#[inline(always)]
fn cut<'s, T>(rest: &mut &'s mut [T], len: usize) -> &'s mut [T] {
    let all = core::mem::take(rest);
    let (head, tail) = all.split_at_mut(len.min(all.len()));
    *rest = tail;
    head
}

#[inline(always)]
fn copy<T: Copy, U: Convert<T>>(from: &[T], to: &mut [U]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = U::convert(*from);
    }
}

/// Writes one frame with each of its channels as a plane.
fn planes<T: Copy, U: Convert<T>>(frame: &[T], channels: usize, out: &mut [U]) {
    if channels == 1 {
        cpu::dispatch(Copy1 { from: frame, to: out });
    } else {
        transpose(frame, channels, out);
    }
}

/// `[n, width]` to `[width, n]`.
fn transpose<T: Copy, U: Convert<T>>(from: &[T], width: usize, out: &mut [U]) {
    let rows = from.len().checked_div(width).unwrap_or(0);
    let mut rest = out;
    for column in 0..width {
        let from = from.iter().skip(column).step_by(width.max(1));
        for (to, from) in cut(&mut rest, rows).iter_mut().zip(from) {
            *to = U::convert(*from);
        }
    }
}

struct Copy1<'a, T, U> {
    from: &'a [T],
    to: &'a mut [U],
}

impl<T: Copy, U: Convert<T>> Kernel for Copy1<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        copy(self.from, self.to);
    }
}

/// Pixel p of `out` is pixel p of each frame, one after another.
struct Interleave<'a, T, U> {
    frames: &'a [&'a [T]],
    channels: usize,
    out: &'a mut [U],
}

impl<T: Copy, U: Convert<T>> Kernel for Interleave<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match (self.frames, self.channels) {
            ([frame], _) => copy(frame, self.out),
            ([a, b, c, d], 1) => {
                let (pixels, _) = self.out.as_chunks_mut::<4>();
                for ((((a, b), c), d), pixel) in a.iter().zip(*b).zip(*c).zip(*d).zip(pixels) {
                    *pixel = [U::convert(*a), U::convert(*b), U::convert(*c), U::convert(*d)];
                }
            }
            _ => interleave(self.frames, self.channels, self.out),
        }
    }
}

/// Any number of frames and channels.
#[inline(never)]
fn interleave<T: Copy, U: Convert<T>>(frames: &[&[T]], channels: usize, out: &mut [U]) {
    let stride = channels.saturating_mul(frames.len());
    for (i, frame) in frames.iter().enumerate() {
        let mut rest = out.get_mut(i.saturating_mul(channels)..).unwrap_or_default();
        match channels {
            1 => {
                for (to, from) in rest.iter_mut().step_by(stride.max(1)).zip(*frame) {
                    *to = U::convert(*from);
                }
            }
            3 => {
                let (pixels, _) = frame.as_chunks::<3>();
                for pixel in pixels {
                    if let Some((to, _)) = rest.split_first_chunk_mut::<3>() {
                        *to = pixel.map(U::convert);
                    }
                    rest = rest.get_mut(stride..).unwrap_or_default();
                }
            }
            _ => {
                let mut pixels = *frame;
                while let Some((pixel, others)) = pixels.split_at_checked(channels) {
                    if pixel.is_empty() {
                        break;
                    }
                    copy(pixel, rest);
                    rest = rest.get_mut(stride..).unwrap_or_default();
                    pixels = others;
                }
            }
        }
    }
}
