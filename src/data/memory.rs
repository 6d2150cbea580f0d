//! The last frames of a stream of episodes, drawn in sequences that lie within one episode and that rewards balance.
//!
//! Frames are numbered from 0 and numbers are never reused; a full memory forgets its oldest frame. Beside the columns of
//! its [`table`] each frame has a reward, two flags and its *reach*: how many frames of its episode came before it. A
//! window lies within one episode if its last frame reaches back to its first, so a draw asks one number.
//!
//! # The pools
//!
//! Two queues hold the numbers of all frames that have `max_sample_size - 1` predecessors (and the frames that the oldest
//! stack of an image column reads), in order: priority frames, whose |reward| exceeds `reward_threshold`, and the
//! ordinary ones. Together they are a range of numbers without gaps, so forgetting a frame takes one number from the
//! front of one of them. NaN makes a priority frame.
//!
//! # What follows what
//!
//! A frame continues the one before it if that has not ended, in the same episode, one step later. If the frame before
//! has neither ended nor is continued, its episode was cut there: it is marked truncated, and [`Added`] says so. Once an
//! episode has ended, a further frame of it is refused. (The reference implementation drops every second end in a row,
//! and with it episodes of one frame; here they are kept.)
//!
//! # Draws
//!
//! [`Rule::Fixed`] draws sequences without gaps within one episode. [`Rule::Original`] draws what the reference
//! implementation does, for comparison: windows with a gap or across episodes among them. Both draw a coin and then one
//! index an attempt, or one index an attempt where there is no coin to toss.
//!
//! | | `Fixed` | `Original` |
//! |---|---|---|
//! | uniform, first frame | each of the `held - size + 1` alike | never one of the newest; `held` must be `history_size` |
//! | ... that has ended | a sequence of this one frame | the frame after it, which so is drawn twice as often |
//! | priority, another episode in the window | the frames after its end | the frames up to its end, and the last one |
//! | `exact_size`, no attempt hit | [`Kind::Inexact`], and what the last attempt found | the last window as it is |
//!
//! ```
//! use rlcore::data::memory::{Draw, Frame, Memory, MemoryConfig, Sample};
//! use rlcore::data::table::Column;
//! use rlcore::rng::Rng;
//! use rlcore::space::{Element, Elements};
//!
//! # fn main() -> rlcore::error::Result {
//! let config = MemoryConfig { max_sample_size: 2, ..MemoryConfig::new(100, &[Column::new("obs", Element::F32, 1)]) };
//! let mut block = vec![0u64; Memory::size(&config)? / 8];
//! let mut memory = Memory::init(bytemuck::cast_slice_mut(&mut block), &config)?;
//! for step in 0..3 {
//!     let frame = Frame { step, reward: 1.0, ..Frame::default() };
//!     memory.add(&frame, &[Elements::F32(&[step as f32])])?;
//! }
//! let mut sample = [Sample::default()];
//! memory.view().sample_priority(&Draw::default(), &mut Rng::seeded(1), &mut sample)?;
//! assert_eq!((sample[0].len, sample[0].priority), (2, 1));
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};
use core::hint::spin_loop;
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use super::table::{self, Column, Run, Table, TableConfig};
use crate::block::{self, Cutter, Header, One, Plan, fields, shared};
use crate::cpu::{Word, snapshot};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::stack::Layout;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// What a memory is made from; stored in the block beside the header, never written again.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MemoryConfig {
    /// Longest sequence that a priority draw may ask for, at least 1 and at most the frames that are kept.
    pub max_sample_size: u32,
    /// Length of a priority draw that names none, at most `max_sample_size`; 0 is `max_sample_size`.
    pub priority_sample_size: u32,
    /// A frame is a priority frame if |reward| is above this; finite, at least 0.
    pub reward_threshold: f32,
    /// 1 keeps the two pools that priority draws need, 0 saves their 8 bytes a frame.
    pub use_priority: u32,
    /// The columns, and as `num_rows` the frames that are kept; one ring.
    pub table: TableConfig,
}

impl MemoryConfig {
    /// Bytes from the base of a block to the end of its configuration: all that has to be read to know the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<MemoryConfig>();

    /// The last `history_size` frames with these columns; all else as is usual.
    pub fn new(history_size: u32, columns: &[Column]) -> Self {
        MemoryConfig {
            max_sample_size: 20,
            priority_sample_size: 0,
            reward_threshold: 0.1,
            use_priority: 1,
            table: TableConfig::new(1, history_size, columns),
        }
    }

    /// The configuration and the bytes of a block that `init` or `attach` accepted, of which [`MemoryConfig::END`] suffice.
    /// Errors: `Align`, `Size`, `Image`.
    pub fn of(mem: &[u8]) -> Result<(&MemoryConfig, usize)> {
        let size = Header::read(mem, block::Kind::Memory)?.size() as usize;
        let (_, config) = block::spans(&mut Plan::default())?;
        Ok((block::view(mem, config)?.first().ok_or(SHAPE)?, size))
    }

    /// Frames that are kept.
    #[inline]
    pub fn history_size(&self) -> u32 {
        self.table.num_rows
    }

    /// Whether a frame with this reward is a priority frame.
    #[inline]
    pub fn is_priority(&self, reward: f32) -> bool {
        reward.abs() > self.reward_threshold || reward.is_nan()
    }

    /// Predecessors that a frame has before it is in a pool: those of the longest sequence and of its oldest stack.
    #[inline]
    pub fn margin(&self) -> u32 {
        let stacks = self.table.max_stack() as u32;
        self.max_sample_size.saturating_sub(1).saturating_add(stacks.saturating_sub(1))
    }

    fn check(&self) -> Result {
        let refuse = |what, needed: u32, given: u32| {
            Err(Error::new(Kind::Config, what).needed(needed as usize).given(given as usize))
        };
        if self.table.num_rings != 1 {
            return refuse("memory config: num_rings of", 1, self.table.num_rings);
        }
        if self.max_sample_size == 0 {
            return refuse("memory config: max_sample_size of at least", 1, 0);
        }
        if self.margin() >= self.history_size() {
            let what = "memory config: history_size of at least max_sample_size and the other frames of a stack,";
            return refuse(what, self.margin().saturating_add(1), self.history_size());
        }
        if self.priority_sample_size > self.max_sample_size {
            let what = "memory config: priority_sample_size up to max_sample_size,";
            return refuse(what, self.max_sample_size, self.priority_sample_size);
        }
        if !(self.reward_threshold >= 0.0 && self.reward_threshold < f32::INFINITY) {
            let what = "memory config: a reward_threshold that is finite and at least 0";
            return Err(Error::new(Kind::Config, what).given_f32(self.reward_threshold));
        }
        if self.use_priority > 1 {
            return refuse("memory config: use_priority of 0 or", 1, self.use_priority);
        }
        Ok(())
    }
}

/// A queue of numbers: elements `[begin, begin + len)` of its ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Queue {
    /// Place of the oldest.
    pub begin: u32,
    /// Numbers in the queue.
    pub len: u32,
}

/// What the memory knows beside its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Episode of the newest frame.
    pub episode: u64,
    /// Step of the newest frame.
    pub step: u32,
    /// Slot of the next frame.
    pub head: u32,
    /// The pools: ordinary frames, priority frames.
    pub pools: [Queue; 2],
    /// A random stream that the caller has put here.
    pub rng: Rng,
    /// Changes of the stream.
    pub rng_changes: shared::Changes,
    /// Zero.
    pub reserved: u32,
}

fields! {
    /// Where everything but the columns lies in a block.
    pub spans IndexSpans(config: &MemoryConfig, frames: usize) {
        /// What changes and is no array.
        pub state: One<State> = (),
        /// `[history_size]`
        pub reward: [f32] = frames,
        /// `[history_size]` 0 or 1
        pub terminated: [u8] = frames,
        /// `[history_size]` 0 or 1
        pub truncated: [u8] = frames,
        /// `[history_size]` frames of the same episode before this one, counted up to `history_size`.
        pub reach: [u32] = frames,
        /// `[2, history_size]` the lower halves of the numbers in the pools, and zeros; nothing without `use_priority`.
        pub pools: [u32] = frames.saturating_mul(if config.use_priority == 1 { 2 } else { 0 }),
    }
    /// Everything but the columns, to change. The fields are public for callers that cut them from a raw block along [`spans`].
    #[derive(Debug)]
    pub write Index {
        /// What the block was made from.
        pub config: &'a MemoryConfig,
        /// [`MemoryConfig::margin`] of it.
        pub margin: u32,
    }
    /// Frames to read: any number of threads may look at the same ones. The fields are public as those of [`Index`].
    ///
    /// A process that shares the bytes with the writer may draw and gather beside it: see [`shared`]. What it draws are frames
    /// that were there when it looked; gathering refuses those that are gone when they have been copied.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        /// What the block was made from.
        pub config: &'a MemoryConfig,
        /// [`MemoryConfig::margin`] of it.
        pub margin: u32,
        /// The columns.
        pub table: table::View<'a>,
    }
}

/// Where the fields of a block lie, behind its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// Everything but the columns.
    pub index: IndexSpans,
    /// The columns.
    pub table: table::Spans,
}

/// The one place where the layout is written down: the fields and the bytes of the whole block.
pub fn spans(config: &MemoryConfig) -> Result<(Spans, usize)> {
    config.table.check()?;
    config.check()?;
    lay(config)
}

/// As [`spans`], of a configuration that was checked when its block was accepted.
#[inline(always)]
pub fn lay(config: &MemoryConfig) -> Result<(Spans, usize)> {
    let mut plan = Plan::default();
    block::spans::<MemoryConfig>(&mut plan)?;
    let index = IndexSpans::plan(&mut plan, config, config.history_size() as usize)?;
    let spans = Spans { index, table: table::lay(&mut plan, &config.table)? };
    Ok((spans, plan.size()?))
}

const SHAPE: Error = Error::new(Kind::Shape, "memory: fields with history_size elements");
const DISABLED: Error = Error::new(Kind::Disabled, "memory: a configuration with use_priority");
const EMPTY: Error = Error::new(Kind::Empty, "memory: a frame with max_sample_size - 1 predecessors; frames held");
const NOT_READY: Error = Error::new(Kind::NotReady, "memory: frames held, at least");
const INEXACT: Error = Error::new(Kind::Inexact, "memory: sequences of the size that was asked for; shorter ones");
const GONE: Error = Error::new(Kind::Range, "memory: frames that no writer has overwritten meanwhile, from number");
const LAPPED: Error = Error::new(Kind::Busy, "memory: a writer that does not overwrite all that is drawn");

/// One step of an episode, without what its columns hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number of the episode, any that differs from the one before.
    pub episode: u64,
    /// Number of the step within it.
    pub step: u32,
    /// Reward of the step.
    pub reward: f32,
    /// The step ended the episode in a terminal state.
    pub terminated: bool,
    /// The episode was cut after the step.
    pub truncated: bool,
}

/// Where frames went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Number of the first of them.
    pub number: u64,
    /// Frames that were marked truncated because the one after them does not continue them.
    pub cuts: u32,
}

/// How a frame follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It is the next step of the same episode.
    Continues,
    /// It is the first frame, or the frame before it has ended.
    Starts,
    /// The frame before had not ended and this is no continuation of it: that one is marked truncated.
    Cuts,
}

/// The frame that another has to follow.
#[derive(Clone, Copy, Debug)]
struct Last {
    episode: u64,
    step: u32,
    ended: bool,
}

/// How `frame` follows. Errors: `Range` for a further frame of an episode that has ended.
#[inline(always)]
fn link(last: Option<Last>, frame: &Frame) -> Result<Link> {
    let Some(last) = last else { return Ok(Link::Starts) };
    let same = last.episode == frame.episode;
    match last.ended {
        true if same => {
            let what = "memory: a frame of an episode that has not ended, not of episode";
            Err(Error::new(Kind::Range, what).given(frame.episode as usize))
        }
        true => Ok(Link::Starts),
        false if same && last.step.checked_add(1) == Some(frame.step) => Ok(Link::Continues),
        false => Ok(Link::Cuts),
    }
}

impl Index<'_> {
    /// Adds a frame of which nothing is kept beside the index; `end` frames came before it.
    /// Errors: `Range` for a further frame of an episode that has ended; nothing is written then.
    #[inline]
    pub fn add(&mut self, end: u64, frame: &Frame) -> Result<Link> {
        let link = self.link(end, frame)?;
        self.write(frame, link)?;
        self.enlist(end, frame.reward)?;
        Ok(link)
    }

    #[inline(always)]
    fn link(&self, end: u64, frame: &Frame) -> Result<Link> {
        link(self.last(end)?, frame)
    }

    #[inline(always)]
    fn last(&self, end: u64) -> Result<Option<Last>> {
        if end == 0 {
            return Ok(None);
        }
        let slot = behind(self.state.head, 1, self.config.history_size());
        let terminated = *self.terminated.get(slot).ok_or(SHAPE)?;
        let truncated = *self.truncated.get(slot).ok_or(SHAPE)?;
        let ended = terminated | truncated != 0;
        Ok(Some(Last { episode: self.state.episode, step: self.state.step, ended }))
    }

    /// Writes a frame; [`Index::enlist`] is next, once readers may see it.
    #[inline(always)]
    fn write(&mut self, frame: &Frame, link: Link) -> Result {
        let frames = self.config.history_size();
        let (slot, last) = (self.state.head as usize, behind(self.state.head, 1, frames));
        let reach = match link {
            Link::Continues => self.reach.get(last).ok_or(SHAPE)?.saturating_add(1).min(frames),
            Link::Starts => 0,
            Link::Cuts => {
                *self.truncated.get_mut(last).ok_or(SHAPE)? = 1;
                0
            }
        };
        *self.reach.get_mut(slot).ok_or(SHAPE)? = reach;
        *self.reward.get_mut(slot).ok_or(SHAPE)? = frame.reward;
        *self.terminated.get_mut(slot).ok_or(SHAPE)? = frame.terminated.into();
        *self.truncated.get_mut(slot).ok_or(SHAPE)? = frame.truncated.into();
        self.state.episode = frame.episode;
        self.state.step = frame.step;
        self.state.head = ahead(self.state.head, 1, frames) as u32;
        Ok(())
    }

    /// Moves the pools on: frame `end` was written.
    #[inline(always)]
    fn enlist(&mut self, end: u64, reward: f32) -> Result {
        let (frames, margin) = (self.config.history_size(), u64::from(self.margin));
        if self.pools.is_empty() || end < margin {
            return Ok(());
        }
        let rings = self.pools.split_at_mut_checked(frames as usize).ok_or(SHAPE)?;
        let [low, high] = &mut self.state.pools;
        // A frame goes before one comes: a pool that holds all of them has room for no more.
        if let Some(oldest) = end.checked_sub(frames.into()) {
            let gone = oldest.wrapping_add(margin) as u32;
            forget(low, rings.0, gone, frames);
            forget(high, rings.1, gone, frames);
        }
        let (queue, ring) = if self.config.is_priority(reward) { (high, rings.1) } else { (low, rings.0) };
        *ring.get_mut(ahead(queue.begin, queue.len, frames)).ok_or(SHAPE)? = end as u32;
        // A reader beside the writer finds a number before it is counted.
        let len = queue.len.saturating_add(1);
        queue.len.store(len, Ordering::Release);
        Ok(())
    }
}

/// Takes a number from the front of a queue if it is there.
#[inline(always)]
fn forget(queue: &mut Queue, ring: &mut [u32], gone: u32, frames: u32) {
    if let Some(front) = ring.get_mut(queue.begin as usize).filter(|front| queue.len != 0 && **front == gone) {
        *front = 0;
        *queue = Queue { begin: ahead(queue.begin, 1, frames) as u32, len: queue.len.wrapping_sub(1) };
    }
}

/// Place `by` after `at` in a ring of `frames`; both are at most `frames`.
#[inline(always)]
fn ahead(at: u32, by: u32, frames: u32) -> usize {
    let (at, by, frames) = (at as usize, by as usize, frames as usize);
    let left = frames.wrapping_sub(at);
    if by < left { at.wrapping_add(by) } else { by.wrapping_sub(left) }
}

/// Place `by` before `at` in a ring of `frames`; both are at most `frames`.
#[inline(always)]
fn behind(at: u32, by: u32, frames: u32) -> usize {
    let (at, by, frames) = (at as usize, by as usize, frames as usize);
    if by <= at { at.wrapping_sub(by) } else { frames.wrapping_sub(by.wrapping_sub(at)) }
}

/// What draws are made of.
pub trait Chance {
    /// Uniform in [0, max], both ends included.
    fn bounded(&mut self, max: u64) -> u64;
}

impl Chance for Rng {
    #[inline]
    fn bounded(&mut self, max: u64) -> u64 {
        Rng::bounded(self, max)
    }
}

/// Whose draws are reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Rule {
    /// Sequences within one episode, without gaps.
    #[default]
    Fixed = 0,
    /// What the reference implementation draws. It knows of no stacks: it may draw frames whose stacks are forgotten, which
    /// [`View::gather`] refuses.
    Original = 1,
}

impl Rule {
    /// The rule with this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Rule::Fixed),
            1 => Some(Rule::Original),
            _ => None,
        }
    }
}

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Frames of a sequence, burn-in not counted; 0 is `priority_sample_size`, or `max_sample_size` in uniform draws.
    pub size: u32,
    /// Frames of the same episode to put before each sequence, fewer where it begins or is held no longer.
    pub burn_in: u32,
    /// Draws again where an episode ends within the sequence.
    pub exact_size: bool,
    /// One in `skewness` priority draws ends on a priority frame, at least 1.
    pub skewness: u32,
    /// Draws until one with `exact_size` fails, at least 1.
    pub attempts: u32,
    /// Whose draws.
    pub rule: Rule,
}

impl Default for Draw {
    fn default() -> Self {
        Draw { size: 0, burn_in: 0, exact_size: false, skewness: 2, attempts: 100, rule: Rule::Fixed }
    }
}

impl Draw {
    fn check(&self) -> Result {
        let refuse = |what, given: u32| Err(Error::new(Kind::Range, what).given(given as usize));
        if self.skewness == 0 {
            return refuse("memory: skewness of at least 1", 0);
        }
        if self.attempts == 0 {
            return refuse("memory: attempts of at least 1", 0);
        }
        if self.rule == Rule::Original && self.burn_in != 0 {
            return refuse("memory: burn_in of 0 in the original's draws", self.burn_in);
        }
        Ok(())
    }
}

/// A sequence that was drawn. It names frames, and [`View::gather`] copies them if they are still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Sample {
    /// Number of the first frame.
    pub first: u64,
    /// Frames, those of the burn-in among them.
    pub len: u32,
    /// Frames of the burn-in, the first ones.
    pub burn_in: u32,
    /// Frames left out before the last one; 0 but in the original's draws.
    pub gap: u32,
    /// 1 if it was drawn for its last frame as a priority frame, else 0.
    pub priority: u32,
}

impl Sample {
    /// Number of the last frame; what overflows is never held.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.len.saturating_sub(1).into()).saturating_add(self.gap.into())
    }

    /// Numbers of all frames.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let tail = (self.gap != 0).then_some(self.last());
        (self.first..).take((self.len as usize).saturating_sub(usize::from(tail.is_some()))).chain(tail)
    }

    /// The frames as one run, and the last one if there is a gap before it.
    fn runs(&self) -> (Run, Option<Run>) {
        match self.gap {
            0 => (Run::new(0, self.first, self.len), None),
            _ => (Run::new(0, self.first, self.len.saturating_sub(1)), Some(Run::new(0, self.last(), 1))),
        }
    }
}

/// What is known of the frames of sequences, `[B, len]` each, zeros after a sequence that is shorter; `None` is left out.
#[derive(Debug, Default)]
pub struct FramesOut<'a> {
    /// Rewards.
    pub reward: Option<&'a mut [f32]>,
    /// 1 where the task ended.
    pub terminated: Option<&'a mut [u8]>,
    /// 1 where the episode was cut.
    pub truncated: Option<&'a mut [u8]>,
    /// 1 where there is a frame.
    pub valid: Option<&'a mut [u8]>,
}

/// What draws need to know of a moment.
#[derive(Clone, Copy)]
struct Moment {
    pools: [Queue; 2],
    /// Frames added.
    end: u64,
    /// Number of the oldest frame that can be read, stacks included.
    start: u64,
    /// Slot of frame `end`.
    head: u32,
    /// Numbers that the pools hold together.
    listed: u32,
}

/// Draws whose reads of memory are under way together.
const AT_ONCE: usize = 16;

impl<'a> View<'a> {
    /// Looks at a block that `init` or `attach` accepted, laid out by these spans of its configuration. Errors: `Size`.
    pub fn over(block: &'a [u8], config: &'a MemoryConfig, spans: &Spans) -> Result<Self> {
        let table = table::View::of(block, &spans.table, &config.table)?;
        Ok(Self::of(block, &spans.index, config, config.margin(), table)?)
    }

    /// Accepts bytes that another process writes to meanwhile: looks only at what never changes.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        block::attach(mem, block::Kind::Memory, |config: &MemoryConfig| Ok(spans(config)?.1))?;
        let (config, _) = MemoryConfig::of(mem)?;
        Self::over(mem, config, &lay(config)?.0)
    }

    /// Numbers of the frames that are held.
    pub fn held(&self) -> Range<u64> {
        self.table.held(0).unwrap_or(0..0)
    }

    /// The random stream that was stored last, that of seed 0 before. Errors: `Busy` only beside a writer that stores streams
    /// faster than this looks.
    pub fn rng(&self) -> Result<Rng> {
        self.state.rng_changes.look(|| snapshot(&self.state.rng))
    }

    /// Numbers in a pool: `priority` frames or ordinary ones.
    pub fn pool_len(&self, priority: bool) -> u32 {
        let [low, high] = self.state.pools;
        if priority { high.len } else { low.len }
    }

    /// Number `i` of a pool, counted from its oldest. Errors: `Range`.
    pub fn pool_number(&self, priority: bool, i: u32) -> Result<u64> {
        let now = self.look()?;
        let [low, high] = now.pools;
        let queue = if priority { high } else { low };
        let outside = Error::new(Kind::Range, "memory: an entry of the pool below");
        let outside = outside.needed(queue.len as usize).given(i as usize);
        if i >= queue.len {
            return Err(outside);
        }
        self.entry(&now, usize::from(priority), queue, i).map(|(number, _)| number).ok_or(outside)
    }

    /// Draws sequences by their first frame, each that can be read alike: the newest frames come last. `size` is cut to
    /// what is held, and a sequence stops after a frame that has ended; with `exact_size` it is drawn again then.
    ///
    /// Errors: `Range` for what `draw` says; `NotReady` if no frame is held, or by [`Rule::Original`] fewer than
    /// `history_size`. Nothing is written then. `Inexact` with `exact_size` if a sequence is still shorter than `size`
    /// after the last attempt: it is written as it is, and so are all others.
    #[inline(never)]
    pub fn sample_uniform<R: Chance>(&self, draw: &Draw, rng: &mut R, samples: &mut [Sample]) -> Result {
        draw.check()?;
        let now = self.look()?;
        let size = if draw.size == 0 { self.config.max_sample_size } else { draw.size };
        match draw.rule {
            Rule::Fixed => self.uniform(&now, draw, size, rng, samples),
            Rule::Original => self.uniform_original(&now, size, rng, samples),
        }
    }

    /// Draws sequences by their last frame: one in `skewness` is a priority frame, the others are ordinary ones, each of
    /// its pool alike; where one pool is empty the other serves. A sequence does not reach back into another episode;
    /// with `exact_size` it is drawn again, from the same pool, if its episode is shorter.
    ///
    /// Errors: `Disabled` without `use_priority`; `Range` for what `draw` says, a `size` above `max_sample_size` among it,
    /// which [`Rule::Original`] cuts instead; `Empty` if no frame has enough predecessors. Nothing is written then.
    /// `Inexact` as in [`View::sample_uniform`]. `Busy` only beside a writer that overwrites faster than this reads.
    #[inline(never)]
    pub fn sample_priority<R: Chance>(&self, draw: &Draw, rng: &mut R, samples: &mut [Sample]) -> Result {
        draw.check()?;
        if self.config.use_priority == 0 {
            return Err(DISABLED);
        }
        let most = self.config.max_sample_size;
        let usual = if self.config.priority_sample_size == 0 { most } else { self.config.priority_sample_size };
        let size = if draw.size == 0 { usual } else { draw.size };
        if size > most && draw.rule == Rule::Fixed {
            let what = "memory: size up to max_sample_size,";
            return Err(Error::new(Kind::Range, what).needed(most as usize).given(size as usize));
        }
        let mut now = self.look()?;
        if now.pools.iter().all(|queue| queue.len == 0) {
            now = self.look_again()?;
        }
        if draw.rule == Rule::Fixed && !draw.exact_size {
            return self.priority_at_once(now, draw, size, rng, samples);
        }
        let mut short = 0usize;
        for sample in samples {
            *sample = self.priority_one(&mut now, draw, size.min(most), rng)?;
            short = short.wrapping_add((sample.len.wrapping_sub(sample.burn_in) < size).into());
        }
        exact(draw, short)
    }

    /// Draws of one attempt each, of which none waits for another: the random numbers of several, then the places that
    /// they name, then the reaches of the frames that are there.
    #[inline(always)]
    fn priority_at_once<R: Chance>(
        &self,
        now: Moment,
        draw: &Draw,
        size: u32,
        rng: &mut R,
        samples: &mut [Sample],
    ) -> Result {
        let (mut now, frames, more) = (now, self.config.history_size(), size.saturating_sub(1));
        for chunk in samples.chunks_mut(AT_ONCE) {
            let (mut places, mut pools) = ([0; AT_ONCE], [0; AT_ONCE]);
            // What was read belongs to `now`, whatever has to be drawn again.
            let mut later = None;
            let (mut backs, mut reaches) = ([0; AT_ONCE], [0; AT_ONCE]);
            for ((place, from), _) in places.iter_mut().zip(&mut pools).zip(&*chunk) {
                *from = pool(&now, draw, rng);
                let [low, high] = now.pools;
                let queue = if *from == 0 { low } else { high };
                let i = rng.bounded(u64::from(queue.len).saturating_sub(1));
                *place = self.place(*from, queue, i as u32);
            }
            for (back, &place) in backs.iter_mut().zip(&places).take(chunk.len()) {
                *back = (now.end as u32).wrapping_sub(self.pools.get(place).copied().unwrap_or(0));
            }
            for (reach, &back) in reaches.iter_mut().zip(&backs).take(chunk.len()) {
                *reach = self.reach.get(behind(now.head, back, frames)).copied().unwrap_or(0);
            }
            for (((sample, from), back), reach) in chunk.iter_mut().zip(pools).zip(backs).zip(reaches) {
                *sample = if back.wrapping_sub(1) < now.listed {
                    let last = now.end.wrapping_sub(back.into());
                    sequence(&now, draw, last.wrapping_sub(reach.min(more).into()), last, reach.into(), from)
                } else {
                    self.priority_one(later.get_or_insert(now), draw, size, rng)?
                };
            }
            now = later.unwrap_or(now);
        }
        Ok(())
    }

    /// One draw, from a later moment if a writer has changed what was to be drawn from. Errors: `Busy`.
    #[inline(never)]
    fn priority_one<R: Chance>(&self, now: &mut Moment, draw: &Draw, size: u32, rng: &mut R) -> Result<Sample> {
        for _ in 0..shared::LOOKS {
            let drawn = match draw.rule {
                Rule::Fixed => self.priority(now, draw, size, rng),
                Rule::Original => self.priority_original(now, draw, size, rng),
            };
            match drawn {
                Some(drawn) => return Ok(drawn),
                None => *now = self.look()?,
            }
        }
        Err(LAPPED)
    }

    #[inline(always)]
    fn uniform<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R, samples: &mut [Sample]) -> Result {
        let frames = now.end.saturating_sub(now.start);
        let len = frames.min(size.into());
        let Some(more) = len.checked_sub(1) else { return Err(NOT_READY.needed(1).given(0)) };
        let starts = frames.wrapping_sub(len);
        if draw.exact_size {
            return self.uniform_exact(now, draw, size, more, starts, rng, samples);
        }
        for chunk in samples.chunks_mut(AT_ONCE) {
            let (mut firsts, mut reaches) = ([0; AT_ONCE], [0; AT_ONCE]);
            for (first, _) in firsts.iter_mut().zip(&*chunk) {
                *first = now.start.wrapping_add(rng.bounded(starts));
            }
            for (reach, &first) in reaches.iter_mut().zip(&firsts).take(chunk.len()) {
                *reach = self.reach_of(now, first.wrapping_add(more));
            }
            for ((sample, first), reach) in chunk.iter_mut().zip(firsts).zip(reaches) {
                let whole = first.wrapping_add(more);
                let (last, reach) = if reach >= more { (whole, reach) } else { self.until_end(now, first, whole) };
                *sample = sequence(now, draw, first, last, reach, 0);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "what its only caller has worked out")]
    fn uniform_exact<R: Chance>(
        &self,
        now: &Moment,
        draw: &Draw,
        size: u32,
        more: u64,
        starts: u64,
        rng: &mut R,
        samples: &mut [Sample],
    ) -> Result {
        let mut short = 0usize;
        for sample in samples {
            for _ in 0..draw.attempts {
                let first = now.start.wrapping_add(rng.bounded(starts));
                let (last, reach) = self.until_end(now, first, first.wrapping_add(more));
                *sample = sequence(now, draw, first, last, reach, 0);
                if last.wrapping_sub(first) == more {
                    break;
                }
            }
            short = short.wrapping_add((sample.len.wrapping_sub(sample.burn_in) < size).into());
        }
        exact(draw, short)
    }

    fn uniform_original<R: Chance>(&self, now: &Moment, size: u32, rng: &mut R, samples: &mut [Sample]) -> Result {
        let frames = u64::from(self.config.history_size());
        if now.end < frames {
            return Err(NOT_READY.needed(frames as usize).given(now.end as usize));
        }
        let Some(starts) = frames.checked_sub(u64::from(size).saturating_add(2)) else {
            let what = "memory: size, in the original's uniform draws, up to";
            return Err(Error::new(Kind::Range, what).needed(frames.saturating_sub(2) as usize).given(size as usize));
        };
        for sample in samples {
            let drawn = now.end.wrapping_sub(frames).wrapping_add(rng.bounded(starts));
            // The frame after one that has ended reaches back to nothing.
            let has_ended = self.reach_of(now, drawn.wrapping_add(1)) == 0;
            let first = drawn.wrapping_add(has_ended.into());
            let (last, _) = self.until_end(now, first, first.wrapping_add(u64::from(size).saturating_sub(1)));
            *sample = sequence(now, &Draw::default(), first, last, 0, 0);
        }
        Ok(())
    }

    /// One draw; nothing where a writer has changed what was to be drawn from.
    #[inline(always)]
    fn priority<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R) -> Option<Sample> {
        let from = pool(now, draw, rng);
        let queue = *now.pools.get(from)?;
        let attempts = if draw.exact_size { draw.attempts } else { 1 };
        let mut found = None;
        for _ in 0..attempts {
            let (last, back) = self.draw_entry(now, from, queue, rng)?;
            let reach = u64::from(*self.reach.get(behind(now.head, back, self.config.history_size()))?);
            let first = last.wrapping_sub(reach.min(u64::from(size).wrapping_sub(1)));
            found = Some(sequence(now, draw, first, last, reach, from));
            if reach >= u64::from(size).wrapping_sub(1) {
                break;
            }
        }
        found
    }

    fn priority_original<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R) -> Option<Sample> {
        let from = pool(now, draw, rng);
        let queue = *now.pools.get(from)?;
        let more = u64::from(size).saturating_sub(1);
        let mut left = draw.attempts;
        loop {
            left = left.saturating_sub(1);
            let (end, _) = self.draw_entry(now, from, queue, rng)?;
            let first = end.wrapping_sub(more);
            let (last, _) = self.until_end(now, first, end);
            let whole = Sample { first, len: size, burn_in: 0, gap: 0, priority: from as u32 };
            if last == end || left == 0 {
                return Some(whole);
            }
            if !draw.exact_size {
                let (len, gap) = (last.wrapping_sub(first).wrapping_add(2), end.wrapping_sub(last).wrapping_sub(1));
                return Some(Sample { len: len as u32, gap: gap as u32, ..whole });
            }
        }
    }

    /// What there is to draw from. Errors: `Shape`.
    #[inline(always)]
    fn look(&self) -> Result<Moment> {
        let pools = snapshot(&self.state.pools);
        // Numbers were written to the pools after the frames that they name were counted. Halves of two moments name places
        // where there is a 0 or a later number, neither of which is drawn.
        fence(Ordering::Acquire);
        let held = if self.config.table.max_stack() > 1 { self.table.whole(0)? } else { self.held() };
        let (end, frames) = (held.end, u64::from(self.config.history_size()));
        Ok(Moment {
            pools,
            end,
            start: held.start,
            head: end.checked_rem(frames).ok_or(SHAPE)? as u32,
            listed: end.min(frames).saturating_sub(self.margin.into()) as u32,
        })
    }

    /// As [`View::look`], where the pools were empty: beside a writer they may be so for a moment. Errors: `Empty`, `Busy`.
    #[cold]
    fn look_again(&self) -> Result<Moment> {
        for _ in 0..shared::LOOKS {
            let now = self.look()?;
            if now.listed == 0 {
                return Err(EMPTY.given(now.end.min(self.config.history_size().into()) as usize));
            }
            if now.pools.iter().any(|queue| queue.len != 0) {
                return Ok(now);
            }
            spin_loop();
        }
        Err(LAPPED)
    }

    /// Number and distance from the end of entry `i` of a queue; nothing if it cannot be there.
    #[inline(always)]
    fn entry(&self, now: &Moment, from: usize, queue: Queue, i: u32) -> Option<(u64, u32)> {
        let back = (now.end as u32).wrapping_sub(*self.pools.get(self.place(from, queue, i))?);
        (back.wrapping_sub(1) < now.listed).then(|| (now.end.wrapping_sub(back.into()), back))
    }

    /// Where entry `i` of a queue is in [`View::pools`].
    #[inline(always)]
    fn place(&self, from: usize, queue: Queue, i: u32) -> usize {
        let frames = self.config.history_size();
        let place = ahead(queue.begin, i, frames);
        if from == 0 { place } else { place.wrapping_add(frames as usize) }
    }

    #[inline(always)]
    fn draw_entry<R: Chance>(&self, now: &Moment, from: usize, queue: Queue, rng: &mut R) -> Option<(u64, u32)> {
        let i = rng.bounded(u64::from(queue.len.checked_sub(1)?));
        self.entry(now, from, queue, i as u32)
    }

    /// Number and reach of the first frame of `first..=last` that has ended, or of the last of them.
    #[inline(always)]
    fn until_end(&self, now: &Moment, first: u64, last: u64) -> (u64, u64) {
        let mut found = last;
        loop {
            let reach = self.reach_of(now, found);
            if reach >= found.saturating_sub(first) {
                return (found, reach);
            }
            // The frame before the ones that it reaches back to has ended.
            found = found.wrapping_sub(reach).wrapping_sub(1);
        }
    }

    #[inline(always)]
    fn reach_of(&self, now: &Moment, number: u64) -> u64 {
        let back = now.end.wrapping_sub(number) as u32;
        let slot = behind(now.head, back, self.config.history_size());
        self.reach.get(slot).copied().unwrap_or(0).into()
    }

    /// Copies one column of sequences, `[B, len, stack, ...]` in this layout as [`table::View::gather_runs`] does: the
    /// frames of each sequence, then zeros.
    ///
    /// Errors: `Range` if a frame is not held, has been forgotten since the draw, or is one of a sequence longer than
    /// `len`; `Range` for the column; `Shape`. Nothing is written then. `Range` too if a writer beside has overwritten a
    /// frame meanwhile; then what was written means nothing.
    pub fn gather(
        &self,
        column: usize,
        samples: &[Sample],
        len: usize,
        layout: Layout,
        out: ElementsMut<'_>,
    ) -> Result {
        let description = self.config.table.column(column)?;
        let width = description.read_len();
        let needed = samples.len().saturating_mul(len).saturating_mul(width);
        if out.len() != needed {
            let what = "memory: out [B, len] with elements for every frame as it is read,";
            return Err(Error::new(Kind::Shape, what).needed(needed).given(out.len()));
        }
        let mut rest = out;
        // Of no sequence: whether these are elements that the column can be read as.
        self.table.gather_runs(column, &[], len, layout, rest.get(0, 0).ok_or(SHAPE)?)?;
        self.check(samples, len, description.stack() > 1)?;
        for sample in samples {
            let (run, tail) = sample.runs();
            let head_len = if tail.is_some() { run.len as usize } else { len };
            let (head, others) = rest.split_at(head_len.saturating_mul(width)).ok_or(SHAPE)?;
            self.table.gather_runs(column, &[run], head_len, layout, head)?;
            rest = others;
            if let Some(tail) = tail {
                let tail_len = len.saturating_sub(head_len);
                let (last, others) = rest.split_at(tail_len.saturating_mul(width)).ok_or(SHAPE)?;
                self.table.gather_runs(column, &[tail], tail_len, layout, last)?;
                rest = others;
            }
        }
        Ok(())
    }

    /// Copies what is known of the frames of sequences, `[B, len]`.
    /// Errors: `Range` as [`View::gather`]; `Shape`. Nothing is written then.
    pub fn gather_frames(&self, samples: &[Sample], len: usize, out: FramesOut<'_>) -> Result {
        let cells = samples.len().saturating_mul(len);
        let check = |what, out: &Option<&mut [u8]>| out.as_ref().map_or(Ok(()), |out| check_len(what, out, cells));
        if let Some(out) = &out.reward {
            check_len("memory: reward [B, len],", out, cells)?;
        }
        check("memory: terminated [B, len],", &out.terminated)?;
        check("memory: truncated [B, len],", &out.truncated)?;
        check("memory: valid [B, len],", &out.valid)?;
        self.check(samples, len, false)?;
        let head = self.look()?;
        if let Some(out) = out.reward {
            self.copy(&head, samples, len, self.reward, out)?;
        }
        if let Some(out) = out.terminated {
            self.copy(&head, samples, len, self.terminated, out)?;
        }
        if let Some(out) = out.truncated {
            self.copy(&head, samples, len, self.truncated, out)?;
        }
        if let Some(out) = out.valid {
            let mut rest = out;
            for sample in samples {
                let (to, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
                let (ones, zeros) = to.split_at_mut_checked(sample.len as usize).ok_or(SHAPE)?;
                ones.fill(1);
                zeros.fill(0);
                rest = others;
            }
        }
        self.table.rings().check_held(samples.iter().map(|sample| (0, sample.first)))
    }

    /// These are sequences of at most `len` frames, all of which are held, and with `stacks` what their stacks read.
    /// Errors: `Range`.
    pub fn check(&self, samples: &[Sample], len: usize, stacks: bool) -> Result {
        for sample in samples {
            let needs_two = sample.gap != 0 && sample.len < 2;
            if sample.len == 0 || sample.burn_in >= sample.len || sample.priority > 1 || needs_two {
                return Err(
                    Error::new(Kind::Range, "memory: a sample that was drawn, of frames").given(sample.len as usize)
                );
            }
            if sample.len as usize > len {
                let what = "memory: samples of at most len frames,";
                return Err(Error::new(Kind::Range, what).needed(len).given(sample.len as usize));
            }
            let (run, tail) = sample.runs();
            self.table.check_run(&run, len, stacks)?;
            if let Some(tail) = tail {
                self.table.check_run(&tail, len, stacks)?;
            }
        }
        Ok(())
    }

    fn copy<T: Pod>(&self, now: &Moment, samples: &[Sample], len: usize, ring: &[T], out: &mut [T]) -> Result {
        let frames = self.config.history_size();
        let mut rest = out;
        for sample in samples {
            let (mut to, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            rest = others;
            let (run, tail) = sample.runs();
            for run in [Some(run), tail].into_iter().flatten() {
                let back = now.end.wrapping_sub(run.number);
                if back > frames.into() {
                    return Err(GONE.needed(now.start as usize).given(run.number as usize));
                }
                let slot = behind(now.head, back as u32, frames);
                let (early, late) = ring.split_at_checked(slot).ok_or(SHAPE)?;
                let (run_to, after) = to.split_at_mut_checked(run.len as usize).ok_or(SHAPE)?;
                let (first, wrapped) = run_to.split_at_mut(late.len().min(run.len as usize));
                block::copy(first, late);
                block::copy(wrapped, early);
                to = after;
            }
            to.fill(T::zeroed());
        }
        Ok(())
    }
}

/// Which pool a draw is made from: a coin, and the other one if that is empty.
#[inline(always)]
fn pool<R: Chance>(now: &Moment, draw: &Draw, rng: &mut R) -> usize {
    let [low, high] = now.pools;
    let heads = rng.bounded(u64::from(draw.skewness).wrapping_sub(1)) == 0;
    usize::from((heads | (low.len == 0)) & (high.len != 0))
}

/// Frames `first..=last` of one episode and the burn-in before them; `reach` is that of the last.
#[inline(always)]
fn sequence(now: &Moment, draw: &Draw, first: u64, last: u64, reach: u64, pool: usize) -> Sample {
    let more = last.wrapping_sub(first);
    let before = reach.saturating_sub(more).min(first.saturating_sub(now.start)).min(draw.burn_in.into());
    Sample {
        first: first.wrapping_sub(before),
        len: more.wrapping_add(before).wrapping_add(1) as u32,
        burn_in: before as u32,
        gap: 0,
        priority: pool as u32,
    }
}

fn exact(draw: &Draw, short: usize) -> Result {
    if draw.exact_size && draw.rule == Rule::Fixed && short != 0 { Err(INEXACT.needed(0).given(short)) } else { Ok(()) }
}

/// A replay memory in the caller's block.
#[derive(Debug)]
pub struct Memory<'a> {
    /// Everything but the columns.
    pub index: Index<'a>,
    /// The columns.
    pub table: Table<'a>,
}

impl<'a> Memory<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &MemoryConfig) -> Result<usize> {
        Ok(spans(config)?.1)
    }

    /// Lays an empty memory out. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &MemoryConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        let block = block::create_with(mem, block::Kind::Memory, size, config, |block| {
            Cutter::new(block).take(spans.index.state)?.first_mut().ok_or(SHAPE)?.rng = Rng::seeded(0);
            Ok(())
        })?;
        let (config, mut cut) = block::cut_config::<MemoryConfig>(block)?;
        let index = Index::cut(&mut cut, &spans.index, config, config.margin())?;
        let table = Table::cut(&mut cut, &spans.table, &config.table, 0)?;
        Ok(Memory { index, table })
    }

    /// Accepts bytes that a block was copied to. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config: MemoryConfig = block::attach(mem, block::Kind::Memory, |config| Ok(spans(config)?.1))?;
        let (spans, _) = spans(&config)?;
        let (config, mut cut) = block::cut_config::<MemoryConfig>(mem)?;
        let index = Index::cut(&mut cut, &spans.index, config, config.margin())?;
        let table = Table::attach(&mut cut, &config.table, &spans.table)?;
        let memory = Memory { index, table };
        memory.check_image()?;
        Ok(memory)
    }

    /// What the block was made from.
    pub fn config(&self) -> &MemoryConfig {
        self.index.config
    }

    /// The frames, to read.
    pub fn view(&self) -> View<'_> {
        self.index.read(self.index.config, self.index.margin, self.table.view())
    }

    /// Appends a frame with the elements of its columns; the oldest is forgotten when the memory is full.
    ///
    /// Errors: `Range` for a further frame of an episode that has ended; `Shape` for elements that do not match the
    /// columns. Nothing is written then.
    pub fn add(&mut self, frame: &Frame, row: &[Elements<'_>]) -> Result<Added> {
        let link = self.link(frame)?;
        self.table.check(0, row, link != Link::Continues, 1)?;
        self.table.begin(0, 1, 1);
        let number = self.append(frame, row, link)?;
        self.table.end(0, 1);
        Ok(Added { number, cuts: (link == Link::Cuts).into() })
    }

    /// Appends frames one after another, `rows` being `[n, len]` elements of each column: what [`Memory::add`] would do,
    /// but that an error comes before anything is written.
    ///
    /// Errors: as [`Memory::add`]; `Range` for no frame.
    pub fn add_rollout<F>(&mut self, frames: F, rows: &[Elements<'_>]) -> Result<Added>
    where
        F: ExactSizeIterator<Item = Frame> + Clone,
    {
        let cuts = self.check_rollout(frames.clone(), rows)?;
        let number = self.end();
        let mut row = [Elements::U8(&[]); table::MAX_COLUMNS];
        let row = row.get_mut(..rows.len()).ok_or(SHAPE)?;
        self.table.begin(0, 1, u32::try_from(frames.len()).unwrap_or(u32::MAX));
        for (i, frame) in frames.enumerate() {
            let link = self.link(&frame)?;
            self.row(rows, i, row)?;
            self.append(&frame, row, link)?;
        }
        self.table.end(0, 1);
        Ok(Added { number, cuts })
    }

    /// How many frames [`Memory::add_rollout`] would cut. Errors: as it.
    fn check_rollout<F>(&self, frames: F, rows: &[Elements<'_>]) -> Result<u32>
    where
        F: ExactSizeIterator<Item = Frame>,
    {
        let count = frames.len();
        let columns = self.index.config.table.columns();
        if rows.len() != columns.len() {
            let what = "memory: rows with elements for each column,";
            return Err(Error::new(Kind::Shape, what).needed(columns.len()).given(rows.len()));
        }
        for (column, elements) in columns.iter().zip(rows) {
            let needed = (column.len as usize).saturating_mul(count);
            if elements.len() != needed {
                let what = "memory: elements of all rows in each column,";
                return Err(Error::new(Kind::Shape, what).needed(needed).given(elements.len()));
            }
        }
        let mut last = self.index.last(self.end())?;
        let (mut cuts, mut first) = (0u32, None);
        for frame in frames {
            let link = link(last, &frame)?;
            first = first.or(Some(link));
            cuts = cuts.saturating_add((link == Link::Cuts).into());
            let ended = frame.terminated | frame.truncated;
            last = Some(Last { episode: frame.episode, step: frame.step, ended });
        }
        let none = Error::new(Kind::Range, "memory: frames to add, at least").needed(1).given(0);
        let first = first.ok_or(none)?;
        let mut row = [Elements::U8(&[]); table::MAX_COLUMNS];
        let row = row.get_mut(..rows.len()).ok_or(SHAPE)?;
        self.row(rows, 0, row)?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.table.check(0, row, first != Link::Continues, count)?;
        Ok(cuts)
    }

    /// Row `i` of arrays `[n, len]`.
    fn row<'b>(&self, rows: &[Elements<'b>], i: usize, row: &mut [Elements<'b>]) -> Result {
        for ((to, from), column) in row.iter_mut().zip(rows).zip(self.index.config.table.columns()) {
            let begin = i.saturating_mul(column.len as usize);
            *to = from.get(begin, begin.saturating_add(column.len as usize)).ok_or(SHAPE)?;
        }
        Ok(())
    }

    /// Between [`Table::begin`] and [`Table::end`], once [`Table::check`] has accepted the row.
    #[inline]
    fn append(&mut self, frame: &Frame, row: &[Elements<'_>], link: Link) -> Result<u64> {
        self.index.write(frame, link)?;
        let number = self.table.put(0, row, link != Link::Continues)?;
        self.index.enlist(number, frame.reward)?;
        Ok(number)
    }

    fn link(&self, frame: &Frame) -> Result<Link> {
        self.index.link(self.end(), frame)
    }

    /// Frames added so far: the number of the next one.
    fn end(&self) -> u64 {
        self.table.pushed.first().copied().unwrap_or(0)
    }

    /// Keeps a random stream in the block, so that one image holds all that a run goes on from.
    pub fn store_rng(&mut self, rng: &Rng) {
        let state = &mut *self.index.state;
        state.rng_changes.begin();
        state.rng = *rng;
        state.rng_changes.end();
    }

    /// The stream that was stored last, that of seed 0 before.
    pub fn rng(&self) -> Rng {
        self.index.state.rng
    }

    /// What no sequence of calls can produce is no image.
    fn check_image(&self) -> Result {
        let damaged = |what| Err(Error::new(Kind::Image, what));
        let Index { config, state, .. } = &self.index;
        state.rng_changes.check_image()?;
        let (frames, end) = (config.history_size(), self.end());
        if u64::from(state.head) != end.checked_rem(frames.into()).unwrap_or(0) {
            return damaged("memory: the slot of the next frame where its number says");
        }
        if !state.rng.is_valid() || state.reserved != 0 {
            return damaged("memory: a random stream");
        }
        let held = end.min(frames.into()) as u32;
        let oldest = end.saturating_sub(frames.into());
        let mut queues = [Queue::default(); 2];
        // Reach and end of the frame before.
        let mut before: Option<(u32, bool)> = None;
        for i in 0..frames {
            let slot = behind(state.head, frames.wrapping_sub(i), frames);
            let (reward, flags, reach, age) = self.frame_at(slot)?;
            // Until the memory is full the slots from the next frame on come first, and nothing is there.
            let Some(i) = i.checked_sub(frames.wrapping_sub(held)) else {
                if reward.to_bits() != 0 || flags != [0, 0] || reach != 0 {
                    return damaged("memory: zeros where no frame is");
                }
                continue;
            };
            let right = match before {
                None => u64::from(reach) <= oldest.min(frames.into()),
                Some((_, true)) => reach == 0,
                Some((before, false)) => reach == before.saturating_add(1).min(frames),
            };
            if !right
                || flags.iter().any(|&flag| flag > 1)
                || u32::from(age) != reach.min(config.table.max_stack() as u32)
            {
                return damaged("memory: frames that reach back to the start of their episode");
            }
            before = Some((reach, flags != [0, 0]));
            let number = oldest.wrapping_add(i.into());
            if config.use_priority == 1 && number >= oldest.wrapping_add(self.index.margin.into()) {
                let from = usize::from(config.is_priority(reward));
                let seen = queues.get_mut(from).ok_or(SHAPE)?;
                let begin = state.pools.get(from).ok_or(SHAPE)?.begin;
                if begin >= frames || self.entry(from, ahead(begin, seen.len, frames))? != number as u32 {
                    return damaged("memory: pools with the numbers of the frames that may be drawn");
                }
                seen.len = seen.len.saturating_add(1);
            }
        }
        self.check_newest(before)?;
        self.check_pools(queues)
    }

    /// The newest frame is at a step that it can have reached.
    fn check_newest(&self, newest: Option<(u32, bool)>) -> Result {
        let State { episode, step, .. } = *self.index.state;
        let right = match newest {
            Some((reach, _)) => step >= reach,
            None => (episode, step) == (0, 0),
        };
        if right { Ok(()) } else { Err(Error::new(Kind::Image, "memory: a step that the newest frame can be at")) }
    }

    /// The pools have no more than was `seen` in them, at places that as many numbers have led to as are gone.
    fn check_pools(&self, seen: [Queue; 2]) -> Result {
        let damaged = Err(Error::new(Kind::Image, "memory: pools with the numbers of the frames that may be drawn"));
        let (config, pools) = (self.index.config, self.index.state.pools);
        let frames = config.history_size();
        if config.use_priority == 0 {
            return if pools == [Queue::default(); 2] { Ok(()) } else { damaged };
        }
        let is_right = pools.iter().zip(&seen).all(|(queue, seen)| queue.len == seen.len);
        let [low, high] = pools;
        let gone = self.end().saturating_sub(frames.into());
        let begins = u64::from(low.begin).wrapping_add(high.begin.into());
        let Some(laps) = gone.checked_sub(begins) else { return damaged };
        if !is_right || laps.checked_rem(frames.into()) != Some(0) {
            return damaged;
        }
        for (from, queue) in pools.iter().enumerate() {
            for i in queue.len..frames {
                if self.entry(from, ahead(queue.begin, i, frames))? != 0 {
                    return damaged;
                }
            }
        }
        Ok(())
    }

    fn frame_at(&self, slot: usize) -> Result<(f32, [u8; 2], u32, u8)> {
        let Index { reward, terminated, truncated, reach, .. } = &self.index;
        let flags = [*terminated.get(slot).ok_or(SHAPE)?, *truncated.get(slot).ok_or(SHAPE)?];
        let age = *self.table.age.get(slot).ok_or(SHAPE)?;
        Ok((*reward.get(slot).ok_or(SHAPE)?, flags, *reach.get(slot).ok_or(SHAPE)?, age))
    }

    fn entry(&self, from: usize, place: usize) -> Result<u32> {
        let frames = self.index.config.history_size() as usize;
        Ok(*self.index.pools.get(from.saturating_mul(frames).saturating_add(place)).ok_or(SHAPE)?)
    }
}
