//! Rings of frames that stacks are made from when they are read: every frame is kept once, a stack is k numbers.
//!
//! Each environment has a ring. A frame's number counts from the first frame that its environment ever pushed and is
//! never reused; beside the frame lies one byte, its age: how many frames of its episode came before it, counted up to
//! k. That is all a stack has to know: the slots before an episode's first frame repeat that frame, so no frame of an
//! earlier episode, and none from before the start, is ever needed.
//!
//! A writer announces the frames that it is about to push, and whatever copies frames out asks afterwards whether they are
//! still held: see [`shared`].
//!
//! ```
//! use rlcore::data::lazy_frames::{FrameIndex, LazyFrames, LazyFramesConfig};
//! use rlcore::kernels::stack::Layout;
//! use rlcore::space::ElementsMut;
//!
//! # fn main() -> rlcore::error::Result {
//! let config = LazyFramesConfig { num_frames: 8, height: 1, width: 2, num_stack: 2, ..Default::default() };
//! let mut block = vec![0u64; LazyFrames::size(&config)? / 8];
//! let mut frames = LazyFrames::init(bytemuck::cast_slice_mut(&mut block), &config)?;
//!
//! let number = frames.push(0, &[1, 2], true)?;
//! frames.push(0, &[3, 4], false)?;
//! let (mut obs, mut next_obs) = ([0; 4], [0; 4]);
//! let (to, next) = (ElementsMut::U8(&mut obs), ElementsMut::U8(&mut next_obs));
//! frames.view().gather_transitions(&[FrameIndex::new(0, number)], Layout::Hwc, to, next)?;
//! assert_eq!((obs, next_obs), ([1, 1, 2, 2], [1, 3, 2, 4]));
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};
use core::iter::once;
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use crate::block::{self, Cutter, Plan, fields, shared};
use crate::cpu::Word;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::stack::{self, Convert, Layout, MAX_STACK, Window};
use crate::space::ElementsMut;

/// What rings of frames are made from; stored in the block beside the header, never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LazyFramesConfig {
    /// Number of environments, at least 1: each has a ring of its own.
    pub num_envs: u32,
    /// Frames kept of each environment, at least `num_stack`; a transition with full stacks takes one more.
    pub num_frames: u32,
    /// Rows of pixels in a frame, at least 1.
    pub height: u32,
    /// Pixels in a row, at least 1.
    pub width: u32,
    /// Bytes of a pixel, at least 1.
    pub channels: u32,
    /// Frames of a stack, k, from 1 to [`MAX_STACK`].
    pub num_stack: u32,
}

impl Default for LazyFramesConfig {
    fn default() -> Self {
        LazyFramesConfig { num_envs: 1, num_frames: 10_000, height: 84, width: 84, channels: 1, num_stack: 4 }
    }
}

impl LazyFramesConfig {
    /// Bytes from the base of a block to the end of its configuration: all that has to be read to know the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<LazyFramesConfig>();

    /// Reads the configuration from the first [`LazyFramesConfig::END`] bytes of a block that `init` or `attach`
    /// accepted. Errors: `Align`, `Size`, `Image`.
    pub fn read(mem: &[u8]) -> Result<LazyFramesConfig> {
        block::config(mem, block::Kind::LazyFrames)
    }

    /// Bytes of a frame, `[height, width, channels]`. Errors: `Overflow`.
    pub fn frame_len(&self) -> Result<usize> {
        let pixels = (self.height as usize).checked_mul(self.width as usize);
        pixels.and_then(|n| n.checked_mul(self.channels as usize)).ok_or(OVERFLOW)
    }

    /// Elements of a stack. Errors: `Overflow`.
    pub fn stack_len(&self) -> Result<usize> {
        self.frame_len()?.checked_mul(self.num_stack as usize).ok_or(OVERFLOW)
    }

    /// Bytes of the block for each transition it can keep, rounded up: those of one frame and what is known about it.
    /// An episode of L transitions keeps L + 1 frames. Errors: `Config`, `Overflow`.
    pub fn bytes_per_transition(&self) -> Result<u64> {
        let (_, size) = spans(self)?;
        let frames = u64::from(self.num_envs).saturating_mul(self.num_frames.into());
        Ok((size as u64).div_ceil(frames.max(1)))
    }

    fn check(&self) -> Result {
        let refuse = |what, needed: u32, given: u32| {
            Err(Error::new(Kind::Config, what).needed(needed as usize).given(given as usize))
        };
        if self.num_envs == 0 {
            return refuse("lazy_frames config: num_envs of at least", 1, 0);
        }
        if self.height == 0 || self.width == 0 || self.channels == 0 {
            return refuse("lazy_frames config: height, width and channels of at least", 1, 0);
        }
        if self.num_stack == 0 || self.num_stack as usize > MAX_STACK {
            return refuse("lazy_frames config: num_stack from 1 to", MAX_STACK as u32, self.num_stack);
        }
        if self.num_frames < self.num_stack {
            return refuse("lazy_frames config: num_frames of at least num_stack,", self.num_stack, self.num_frames);
        }
        Ok(())
    }
}

fields! {
    /// Where the fields of a block lie, behind its configuration.
    pub spans Spans(n: usize, slots: usize, frame_len: usize) {
        /// `[N]` frames pushed so far: the number of the next one. Frame n is in slot `n % num_frames`.
        pub pushed: [u64] = n,
        /// `[N]` frames that a writer is about to push, for readers beside it; else 0.
        pub writing: [u32] = n,
        /// `[N, num_frames]` frames of the same episode before this one, counted up to `num_stack`; 0 starts an episode.
        pub age: [u8] = slots,
        /// `[N, num_frames, frame_len]` bytes.
        pub frames: [u8] = slots.saturating_mul(frame_len),
    }
    /// Rings `[first, first + len)` of the environments: everything that pushing to them changes. Two disjoint `Rings` share
    /// no byte, so they may go to different threads; the fields are public for callers that cut them from a raw block along
    /// [`spans`].
    #[derive(Debug)]
    pub write Rings {
        /// A copy of what the block was made from.
        pub config: LazyFramesConfig,
        /// Number of the first environment.
        pub first: usize,
    }
    /// Frames to read, of all environments: any number of threads may look at the same ones.
    ///
    /// Beside a writer, calls that copy frames out refuse with `Range` what it has overwritten meanwhile; then what was copied
    /// means nothing. A frame that is only pointed at, [`View::frame`], may change at any time.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        /// A copy of what the block was made from.
        pub config: LazyFramesConfig,
    }
}

/// The one place where the layout is written down: the fields and the bytes of the whole block.
pub fn spans(config: &LazyFramesConfig) -> Result<(Spans, usize)> {
    config.check()?;
    config.stack_len()?;
    let n = config.num_envs as usize;
    let mut plan = Plan::default();
    block::spans::<LazyFramesConfig>(&mut plan)?;
    let spans = Spans::plan(&mut plan, n, n.saturating_mul(config.num_frames as usize), config.frame_len()?)?;
    Ok((spans, plan.size()?))
}

const OVERFLOW: Error = Error::new(Kind::Overflow, "lazy_frames: frames that fit the address space");
const SHAPE: Error = Error::new(Kind::Shape, "lazy_frames: arrays with one entry an environment");
const RANGE: Error = Error::new(Kind::Range, "lazy_frames: environments [begin, end) with begin <= end <= num_envs,");
const ENV: Error = Error::new(Kind::Range, "lazy_frames: an environment below");

/// The slot of a frame in its ring.
fn slot_of(number: u64, num_frames: usize) -> usize {
    number.checked_rem(num_frames as u64).unwrap_or(0) as usize
}

/// Frame `number` of environment `env`; with a transition, the newest frame of its observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FrameIndex {
    /// Number of the frame, as `push` returned it.
    pub number: u64,
    /// Number of the environment.
    pub env: u32,
    /// Zero.
    pub reserved: u32,
}

impl FrameIndex {
    /// Frame `number` of environment `env`.
    pub const fn new(env: u32, number: u64) -> Self {
        FrameIndex { number, env, reserved: 0 }
    }
}

/// One step of several environments, to push.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    /// `[rows, frame_len]` the frame to act on next.
    pub frame: &'a [u8],
    /// `[rows]` nonzero where that frame starts an episode.
    pub first: &'a [u8],
    /// `[rows, frame_len]` where `first`, the last frame of the episode that ended in the same step, which is pushed
    /// before; `None` if no episode ended, or if its last frame has been pushed.
    pub final_frame: Option<&'a [u8]>,
}

impl<'a> Rings<'a> {
    /// Number of environments.
    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.pushed.is_empty()
    }

    /// The same rings for a shorter time.
    pub fn reborrow(&mut self) -> Rings<'_> {
        Rings {
            config: self.config,
            first: self.first,
            pushed: &mut *self.pushed,
            writing: &mut *self.writing,
            age: &mut *self.age,
            frames: &mut *self.frames,
        }
    }

    /// The first `k` rings and the others, for two threads; `None` if there are fewer than `k`.
    pub fn split_at(self, k: usize) -> Option<(Rings<'a>, Rings<'a>)> {
        let slots = k.checked_mul(self.config.num_frames as usize)?;
        let bytes = slots.checked_mul(self.config.frame_len().ok()?)?;
        let (pushed, pushed_rest) = self.pushed.split_at_mut_checked(k)?;
        let (writing, writing_rest) = self.writing.split_at_mut_checked(k)?;
        let (age, age_rest) = self.age.split_at_mut_checked(slots)?;
        let (frames, frames_rest) = self.frames.split_at_mut_checked(bytes)?;
        let (config, first) = (self.config, self.first);
        let rest = first.checked_add(k)?;
        Some((
            Rings { config, first, pushed, writing, age, frames },
            Rings {
                config,
                first: rest,
                pushed: pushed_rest,
                writing: writing_rest,
                age: age_rest,
                frames: frames_rest,
            },
        ))
    }

    /// Rings `begin..end`, counted from the first of these. Errors: `Range`.
    pub fn range(self, begin: usize, end: usize) -> Result<Rings<'a>> {
        let len = self.len();
        let refused = RANGE.needed(len).given(end);
        let (_, rest) = self.split_at(begin).ok_or(refused)?;
        let (rings, _) = rest.split_at(end.checked_sub(begin).ok_or(refused)?).ok_or(refused)?;
        Ok(rings)
    }

    /// Appends a frame to ring `i`, counted from the first of these, and returns its number; `first` starts an episode. The
    /// oldest frame is forgotten when the ring is full.
    ///
    /// Errors: `Range`; `Shape`; `NotReady` for a ring without frames unless `first`. Nothing is written then.
    pub fn push(&mut self, i: usize, frame: &[u8], first: bool) -> Result<u64> {
        self.check_fields()?;
        check_len("lazy_frames: bytes of a frame,", frame, self.config.frame_len()?)?;
        self.check(i, first, 1)?;
        let writing = i..i.saturating_add(1);
        shared::begin(self.writing.get_mut(writing.clone()).ok_or(SHAPE)?, 1);
        let number = self.append(i, frame, first)?;
        shared::end(self.writing.get_mut(writing).ok_or(SHAPE)?);
        Ok(number)
    }

    /// Appends one step: a frame to each ring, after the final frame where an episode ended. `number`, `[rows]`, gets the
    /// numbers of the frames to act on next; each of them but the first of its ring then has a transition that leads
    /// from the number given in the call before.
    ///
    /// Errors: `Shape`; `NotReady` for a ring without frames whose `first` is 0 or whose `final_frame` would come first.
    /// Nothing is written then.
    pub fn push_all(&mut self, step: Frames<'_>, number: Option<&mut [u64]>) -> Result {
        self.check_fields()?;
        let (rows, width) = (self.len(), self.config.frame_len()?);
        let bytes = rows.checked_mul(width).ok_or(OVERFLOW)?;
        check_len("lazy_frames: frame [N, frame_len] of bytes,", step.frame, bytes)?;
        check_len("lazy_frames: first [N],", step.first, rows)?;
        if let Some(frames) = step.final_frame {
            check_len("lazy_frames: final_frame [N, frame_len] of bytes,", frames, bytes)?;
        }
        if let Some(number) = &number {
            check_len("lazy_frames: number [N],", number, rows)?;
        }
        for (i, &first) in step.first.iter().enumerate() {
            self.check(i, first != 0 && step.final_frame.is_none(), 2)?;
        }
        let mut number = number;
        shared::begin(self.writing, if step.final_frame.is_some() { 2 } else { 1 });
        for (i, &first) in step.first.iter().enumerate() {
            if let Some(frames) = step.final_frame.filter(|_| first != 0) {
                self.append(i, block::rows(frames, i, 1, width)?, false)?;
            }
            let pushed = self.append(i, block::rows(step.frame, i, 1, width)?, first != 0)?;
            if let Some(number) = number.as_deref_mut().and_then(|number| number.get_mut(i)) {
                *number = pushed;
            }
        }
        shared::end(self.writing);
        Ok(())
    }

    /// The same rings, to read.
    pub fn view(&self) -> View<'_> {
        self.read(self.config)
    }

    /// The fields have equally many rings.
    fn check_fields(&self) -> Result {
        let slots = self.len().checked_mul(self.config.num_frames as usize).ok_or(OVERFLOW)?;
        let bytes = slots.checked_mul(self.config.frame_len()?).ok_or(OVERFLOW)?;
        let right = self.writing.len() == self.len() && self.age.len() == slots && self.frames.len() == bytes;
        if right { Ok(()) } else { Err(SHAPE) }
    }

    /// Ring `i` can take `count` frames more, the first of which starts an episode or not.
    fn check(&self, i: usize, first: bool, count: u64) -> Result {
        let pushed = *self.pushed.get(i).ok_or(ENV.needed(self.len()).given(i))?;
        let env = self.first.saturating_add(i);
        if pushed == 0 && !first {
            let what = "lazy_frames: the first frame of an episode before others; not so environment";
            return Err(Error::new(Kind::NotReady, what).given(env));
        }
        if pushed > shared::LAST.saturating_sub(count) {
            return Err(Error::new(Kind::Range, "lazy_frames: fewer than 2^63 frames; not so environment").given(env));
        }
        Ok(())
    }

    fn append(&mut self, i: usize, frame: &[u8], first: bool) -> Result<u64> {
        let num_frames = self.config.num_frames as usize;
        let pushed = self.pushed.get_mut(i).ok_or(SHAPE)?;
        let number = *pushed;
        let ages = block::rows_mut(self.age, i, 1, num_frames)?;
        let age = if first {
            0
        } else {
            let before = ages.get(slot_of(number.saturating_sub(1), num_frames)).ok_or(SHAPE)?;
            before.saturating_add(1).min(self.config.num_stack as u8)
        };
        let slot = slot_of(number, num_frames);
        let at = i.saturating_mul(num_frames).saturating_add(slot);
        block::copy(block::rows_mut(self.frames, at, 1, frame.len())?, frame);
        *ages.get_mut(slot).ok_or(SHAPE)? = age;
        shared::count(pushed);
        Ok(number)
    }

    /// What no sequence of calls can produce is no image.
    fn check_image(&self) -> Result {
        let num_frames = self.config.num_frames as usize;
        let damaged = |what, env| Err(Error::new(Kind::Image, what).given(env));
        shared::check_image(self.writing)?;
        for (env, &pushed) in self.pushed.iter().enumerate() {
            if pushed > shared::LAST {
                return damaged("lazy_frames: fewer than 2^63 frames; not so environment", env);
            }
            let ages = block::rows(self.age, env, 1, num_frames)?;
            if !ages_are_right(ages, pushed, self.config.num_stack as u8) {
                return damaged("lazy_frames: ages that count the frames of an episode; not so environment", env);
            }
        }
        Ok(())
    }
}

/// Whether the ages of a ring are those of some sequence of frames, `pushed` of them so far, counted up to `most`.
pub(super) fn ages_are_right(ages: &[u8], pushed: u64, most: u8) -> bool {
    let held = pushed.min(ages.len() as u64);
    let oldest = pushed.saturating_sub(held);
    // In the order of numbers: from the oldest to the end of the ring, then from its beginning.
    let (early, late) = ages.split_at_checked(slot_of(oldest, ages.len())).unwrap_or_default();
    let mut before = None;
    let mut right = !late.is_empty();
    for (i, &age) in (0u64..).zip(late.iter().chain(early)) {
        right &= match before {
            _ if i >= held => age == 0,
            None => age <= most && u64::from(age) <= oldest,
            Some(before) => age == 0 || age == u8::saturating_add(before, 1).min(most),
        };
        before = Some(age);
    }
    right
}

/// The newest frame of a window: where it is, and how many different frames come before it.
struct Place {
    env: usize,
    slot: usize,
    reach: usize,
}

impl<'a> View<'a> {
    /// Accepts bytes that another process writes to meanwhile: looks only at what never changes.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        let config = block::attach(mem, block::Kind::LazyFrames, |config| Ok(spans(config)?.1))?;
        let (s, _) = spans(&config)?;
        Ok(Self::of(mem, &s, config)?)
    }

    /// Numbers of the frames that an environment still holds. Every frame from `start + num_stack - 1` on has its stack, and
    /// those before it if their episode starts within the range. Errors: `Range`.
    pub fn held(&self, env: usize) -> Result<Range<u64>> {
        let pushed = self.pushed.get(env).ok_or(ENV.needed(self.pushed.len()).given(env))?.load(Ordering::Acquire);
        Ok(pushed.saturating_sub(self.config.num_frames.into())..pushed)
    }

    /// One frame, `[height, width, channels]`, where it lies. Errors: `Range` if it is not held.
    pub fn frame(&self, env: usize, number: u64) -> Result<&'a [u8]> {
        let place = self.place(env, number, 1)?;
        self.at(&place, place.slot)
    }

    /// Whether a frame starts an episode. Errors: `Range` if it is not held.
    pub fn is_first(&self, env: usize, number: u64) -> Result<bool> {
        Ok(self.age_of(env, number)? == 0)
    }

    /// Copies frames as they were pushed, from `number` on: `frames` is `[len, frame_len]`, and `first`, `[len]`, gets 1 where
    /// one starts an episode. Errors: `Shape`; `Range` if one of them is not held. Nothing is written then.
    pub fn read(&self, env: usize, number: u64, frames: &mut [u8], first: &mut [u8]) -> Result {
        let len = self.config.frame_len()?;
        check_len("lazy_frames: frames [len, frame_len] of bytes,", frames, first.len().saturating_mul(len))?;
        let Some(more) = first.len().checked_sub(1) else { return Ok(()) };
        self.age_of(env, number)?;
        self.age_of(env, number.saturating_add(more as u64))?;
        fence(Ordering::Acquire);
        let mut rest = frames;
        for (number, first) in (number..).zip(first) {
            let (to, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            rest = others;
            block::copy(to, self.frame(env, number)?);
            *first = self.is_first(env, number)?.into();
        }
        self.rings().check_held(once((env, number)))
    }

    /// What readers beside a writer ask.
    fn rings(&self) -> shared::Rings<'a> {
        shared::Rings { pushed: self.pushed, writing: self.writing, num_rows: self.config.num_frames }
    }

    /// After the windows of `len` frames were copied that end `after` frames behind these: they are still held.
    fn check_held(&self, index: &[FrameIndex], after: u64, len: usize) -> Result {
        let rings = self.rings();
        for index in index {
            let (env, newest) = (index.env as usize, index.number.saturating_add(after));
            // If the frame is gone its age is that of another one, and the frame is refused.
            let reach = self.age_of(env, newest).unwrap_or(0).min(len.saturating_sub(1));
            rings.check_held(once((env, newest.saturating_sub(reach as u64))))?;
        }
        Ok(())
    }

    /// Writes the numbers of the frames that stack `number` is made of, oldest first; `numbers` is `[num_stack]`.
    /// Errors: `Shape`; `Range` if one of them is not held. Nothing is written then.
    pub fn indices(&self, env: usize, number: u64, numbers: &mut [u64]) -> Result {
        let num_stack = self.config.num_stack as usize;
        check_len("lazy_frames: numbers [num_stack],", numbers, num_stack)?;
        let reach = self.place(env, number, num_stack)?.reach;
        for (back, to) in numbers.iter_mut().rev().enumerate() {
            *to = number.saturating_sub(back.min(reach) as u64);
        }
        self.rings().check_held(once((env, number.saturating_sub(reach as u64))))
    }

    /// Writes the stack whose newest frame is `number`: bytes as they are, or f32 from 0 to 1, x / 255.
    /// Errors: `Shape` for `out`; `Range` if a frame is not held. Nothing is written then.
    pub fn stack(&self, env: usize, number: u64, layout: Layout, out: ElementsMut<'_>) -> Result {
        let env = u32::try_from(env).map_err(|_| ENV.needed(self.pushed.len()).given(env))?;
        self.gather(&[FrameIndex::new(env, number)], layout, out)
    }

    /// Writes the stacks of B frames, `[B, stack]`. Errors: as [`View::stack`]; nothing is written then.
    pub fn gather(&self, index: &[FrameIndex], layout: Layout, out: ElementsMut<'_>) -> Result {
        let num_stack = self.config.num_stack as usize;
        self.check_out("lazy_frames: stacks [B, stack_len] of elements,", index, out.len())?;
        for index in index {
            self.place_of(index, 0, num_stack)?;
        }
        fence(Ordering::Acquire);
        match out {
            ElementsMut::U8(out) => self.fill(index, layout, out)?,
            ElementsMut::F32(out) => self.fill(index, layout, out)?,
            ElementsMut::I32(_) => return Err(KIND),
        }
        self.check_held(index, 0, num_stack)
    }

    /// Writes observations and next observations of B transitions, both `[B, stack]` and of one kind: `index` names the
    /// newest frame of the observation, and the frame after it is the newest of the next one. Frames that both have are
    /// read once.
    ///
    /// Errors: `Shape`; `Range` if a frame is not held, or is the last of its episode. Nothing is written then.
    pub fn gather_transitions(
        &self,
        index: &[FrameIndex],
        layout: Layout,
        obs: ElementsMut<'_>,
        next_obs: ElementsMut<'_>,
    ) -> Result {
        let len = (self.config.num_stack as usize).saturating_add(1);
        self.check_out("lazy_frames: obs [B, stack_len] of elements,", index, obs.len())?;
        self.check_out("lazy_frames: next_obs [B, stack_len] of elements,", index, next_obs.len())?;
        for index in index {
            self.place_of(index, 1, len)?;
            if self.age_of(index.env as usize, index.number.saturating_add(1))? == 0 {
                let what = "lazy_frames: a frame that is followed by another of its episode; not so number";
                return Err(Error::new(Kind::Range, what).given(index.number as usize));
            }
        }
        fence(Ordering::Acquire);
        match (obs, next_obs) {
            (ElementsMut::U8(obs), ElementsMut::U8(next_obs)) => self.fill_pairs(index, layout, obs, next_obs)?,
            (ElementsMut::F32(obs), ElementsMut::F32(next_obs)) => self.fill_pairs(index, layout, obs, next_obs)?,
            _ => return Err(KIND),
        }
        self.check_held(index, 1, len)
    }

    fn fill<U: Convert<u8>>(&self, index: &[FrameIndex], layout: Layout, out: &mut [U]) -> Result {
        let (channels, len) = (self.config.channels as usize, self.config.stack_len()?);
        let mut rest = out;
        for index in index {
            let place = self.place_of(index, 0, self.config.num_stack as usize)?;
            let (out, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            stack::stack(&self.window(&place, self.config.num_stack as usize)?, channels, layout, out)?;
            rest = others;
        }
        Ok(())
    }

    fn fill_pairs<U: Convert<u8>>(
        &self,
        index: &[FrameIndex],
        layout: Layout,
        obs: &mut [U],
        next_obs: &mut [U],
    ) -> Result {
        let (channels, len) = (self.config.channels as usize, self.config.stack_len()?);
        let (mut rest, mut next_rest) = (obs, next_obs);
        let num_stack = (self.config.num_stack as usize).saturating_add(1);
        for index in index {
            let place = self.place_of(index, 1, num_stack)?;
            let (obs, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            let (next_obs, next_others) = next_rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            stack::pair(&self.window(&place, num_stack)?, channels, layout, obs, next_obs)?;
            (rest, next_rest) = (others, next_others);
        }
        Ok(())
    }

    fn check_out(&self, what: &'static str, index: &[FrameIndex], len: usize) -> Result {
        let needed = index.len().checked_mul(self.config.stack_len()?).ok_or(OVERFLOW)?;
        if len == needed { Ok(()) } else { Err(Error::new(Kind::Shape, what).needed(needed).given(len)) }
    }

    fn age_of(&self, env: usize, number: u64) -> Result<usize> {
        let held = self.held(env)?;
        if number >= held.end {
            let what = "lazy_frames: a frame that was pushed, of a number below";
            return Err(Error::new(Kind::Range, what).needed(held.end as usize).given(number as usize));
        }
        if number < held.start {
            return Err(FORGOTTEN.needed(held.start as usize).given(number as usize));
        }
        let num_frames = self.config.num_frames as usize;
        let ages = block::rows(self.age, env, 1, num_frames)?;
        Ok(ages.get(slot_of(number, num_frames)).copied().ok_or(SHAPE)?.into())
    }

    fn place_of(&self, index: &FrameIndex, after: u64, len: usize) -> Result<Place> {
        if index.reserved != 0 {
            let what = "lazy_frames: an index whose reserved is 0";
            return Err(Error::new(Kind::Range, what).given(index.reserved as usize));
        }
        self.place(index.env as usize, index.number.saturating_add(after), len)
    }

    /// The window of `len` frames that ends with `newest`. Errors: `Range` if one of them is not held.
    fn place(&self, env: usize, newest: u64, len: usize) -> Result<Place> {
        let reach = self.age_of(env, newest)?.min(len.saturating_sub(1));
        let start = self.held(env)?.start;
        let oldest = newest.saturating_sub(reach as u64);
        if oldest < start {
            return Err(FORGOTTEN.needed(start as usize).given(oldest as usize));
        }
        Ok(Place { env, slot: slot_of(newest, self.config.num_frames as usize), reach })
    }

    /// The frames themselves; slots before the start of the episode repeat its first frame.
    fn window(&self, place: &Place, len: usize) -> Result<Window<'a, u8>> {
        let num_frames = self.config.num_frames as usize;
        let mut window = Window::new();
        let back = num_frames.saturating_sub(place.reach);
        let mut slot = place.slot.saturating_add(back);
        slot = if slot >= num_frames { slot.wrapping_sub(num_frames) } else { slot };
        for left in (0..len).rev() {
            window.push(self.at(place, slot)?)?;
            if left <= place.reach {
                slot = slot.wrapping_add(1);
                slot = if slot < num_frames { slot } else { 0 };
            }
        }
        Ok(window)
    }

    fn at(&self, place: &Place, slot: usize) -> Result<&'a [u8]> {
        let row = place.env.saturating_mul(self.config.num_frames as usize).saturating_add(slot);
        Ok(block::rows(self.frames, row, 1, self.config.frame_len()?)?)
    }
}

const KIND: Error = Error::new(Kind::Shape, "lazy_frames: stacks of one kind, u8 or f32");
const FORGOTTEN: Error = Error::new(Kind::Range, "lazy_frames: frames that are still held, from number");

/// Rings of frames in the caller's block.
#[derive(Debug)]
pub struct LazyFrames<'a> {
    rings: Rings<'a>,
}

impl<'a> LazyFrames<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &LazyFramesConfig) -> Result<usize> {
        Ok(spans(config)?.1)
    }

    /// Lays empty rings out. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &LazyFramesConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        Self::cut(block::create(mem, block::Kind::LazyFrames, size, config)?, *config, spans)
    }

    /// Accepts bytes that a block was copied to. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, block::Kind::LazyFrames, |config| Ok(spans(config)?.1))?;
        let (spans, _) = spans(&config)?;
        let frames = Self::cut(mem, config, spans)?;
        frames.rings.check_image()?;
        Ok(frames)
    }

    fn cut(block: &'a mut [u8], config: LazyFramesConfig, spans: Spans) -> Result<Self> {
        Ok(LazyFrames { rings: Rings::cut(&mut Cutter::new(block), &spans, config, 0)? })
    }

    /// What the block was made from.
    pub fn config(&self) -> &LazyFramesConfig {
        &self.rings.config
    }

    /// All rings, to push to or to split for threads.
    pub fn rings(&mut self) -> Rings<'_> {
        self.rings.reborrow()
    }

    /// All frames, to read.
    pub fn view(&self) -> View<'_> {
        self.rings.view()
    }

    /// [`Rings::push`] to one environment.
    pub fn push(&mut self, env: usize, frame: &[u8], first: bool) -> Result<u64> {
        self.rings.push(env, frame, first)
    }

    /// [`Rings::push_all`] to all environments.
    pub fn push_all(&mut self, step: Frames<'_>, number: Option<&mut [u64]>) -> Result {
        self.rings.push_all(step, number)
    }
}
