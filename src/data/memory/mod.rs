//! The last frames of a stream of episodes, drawn in sequences within one episode and balanced by reward.
//!
//! Frames are numbered from 0 and numbers are never reused; a full memory drops its oldest frame. Beside the columns of its
//! [`table`] each frame has a reward, two flags and its *reach*: the number of frames of its episode before it. A window lies
//! within one episode if its last frame reaches back to its first, so a draw reads one number.
//!
//! # The pools
//!
//! Two queues hold the numbers of all frames that have `max_sample_size - 1` predecessors (and the other frames of the oldest
//! stack of an image column), in order: priority frames, whose |reward| exceeds `reward_threshold`, and ordinary frames. Together
//! they are a range of numbers without gaps, so dropping a frame removes one number from the front of one of them. A reward of
//! NaN makes a priority frame.
//!
//! # Continuation of episodes
//!
//! A frame continues the one before it if that one has not ended and this one is the next step of the same episode. A frame that
//! has neither ended nor is continued was cut: it is marked truncated and counted in [`Added`]. Once an episode has ended,
//! further frames of it are refused. (The reference implementation drops every second end in a row, and with it episodes of one
//! frame; here they are kept.)
//!
//! # Draws
//!
//! [`Rule::Fixed`] draws sequences without gaps within one episode. [`Rule::Original`] reproduces the draws of the reference
//! implementation, for comparison, including windows with a gap or across episodes. Both draw a coin and then one index per
//! attempt, or only the index where there is no coin to toss.
//!
//! | | `Fixed` | `Original` |
//! |---|---|---|
//! | uniform, first frame | any of `held - size + 1`, equally likely | never one of the newest; `held` must be `history_size` |
//! | ... that has ended | a sequence of this one frame | the frame after it, which is thus drawn twice as often |
//! | priority, another episode in the window | the frames after its end | the frames up to its end, and the last one |
//! | `exact_size`, no attempt hit | [`Kind::Inexact`], and the result of the last attempt | the last window, unchanged |
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
use core::ops::Range;
use core::slice::from_mut;

pub use super::part::pools::Queue;
use super::part::pools::{ahead, behind};
use super::table::{self, Column, Table, TableConfig};
use crate::block::{self, Cutter, Header, One, Plan, Span, TooLong, fields, shared};
use crate::cpu::snapshot;
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::Elements;

mod draw;
mod gather;
mod index;

pub use draw::{Chance, Draw, Rule, Sample};
pub use gather::FramesOut;
pub use index::{Added, Frame, Link};
use index::{Last, link};

/// Configuration of a memory, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MemoryConfig {
    /// Longest sequence of a priority draw, at least 1 and at most the frames kept.
    pub max_sample_size: u32,
    /// Default length of a priority draw, at most `max_sample_size`; 0 means `max_sample_size`.
    pub priority_sample_size: u32,
    /// A frame is a priority frame if |reward| is above this; finite, at least 0.
    pub reward_threshold: f32,
    /// 1 keeps the two pools that priority draws need, 0 saves their 8 bytes per frame.
    pub use_priority: u32,
    /// The columns, and as `num_rows` the number of frames kept; one ring.
    pub table: TableConfig,
}

impl MemoryConfig {
    /// The last `history_size` frames with these columns; defaults otherwise.
    pub fn new(history_size: u32, columns: &[Column]) -> Self {
        MemoryConfig {
            max_sample_size: 20,
            priority_sample_size: 0,
            reward_threshold: 0.1,
            use_priority: 1,
            table: TableConfig::new(1, history_size, columns),
        }
    }

    /// Number of frames kept.
    #[inline]
    pub fn history_size(&self) -> u32 {
        self.table.num_rows
    }

    /// Whether a frame with this reward is a priority frame.
    #[inline]
    pub fn is_priority(&self, reward: f32) -> bool {
        reward.abs() > self.reward_threshold || reward.is_nan()
    }

    /// Predecessors that a frame needs to enter a pool: those of the longest sequence and of its oldest stack.
    #[inline]
    pub fn margin(&self) -> u32 {
        let stacks = self.table.max_stack() as u32;
        self.max_sample_size.saturating_sub(1).saturating_add(stacks.saturating_sub(1))
    }

    fn check(&self) -> Result {
        Error::config("memory config: num_rings of", 1, self.table.num_rings).fail_if(self.table.num_rings != 1)?;
        Error::config("memory config: max_sample_size of at least", 1, 0).fail_if(self.max_sample_size == 0)?;
        let what = "memory config: history_size of at least max_sample_size and the other frames of a stack,";
        Error::config(what, self.margin().saturating_add(1), self.history_size())
            .fail_if(self.margin() >= self.history_size())?;
        let what = "memory config: priority_sample_size up to max_sample_size,";
        Error::config(what, self.max_sample_size, self.priority_sample_size)
            .fail_if(self.priority_sample_size > self.max_sample_size)?;
        let what = "memory config: a reward_threshold that is finite and at least 0";
        Error::new(Kind::Config, what)
            .given_f32(self.reward_threshold)
            .fail_if(!(self.reward_threshold >= 0.0 && self.reward_threshold < f32::INFINITY))?;
        Error::config("memory config: use_priority of 0 or", 1, self.use_priority).fail_if(self.use_priority > 1)
    }
}

/// The scalars of the memory.
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
    /// A random stream stored by the caller.
    pub rng: Rng,
    /// Changes of the stream.
    pub rng_changes: shared::SeqLock,
    /// Zero.
    pub reserved: u32,
}

fields! {
    /// Places of all fields but the columns.
    pub spans IndexSpans(config: &MemoryConfig, frames: usize) {
        /// The scalars that change.
        pub state: One<State> = (),
        /// `[history_size]`
        pub reward: [f32] = frames,
        /// `[history_size]` 0 or 1
        pub terminated: [u8] = frames,
        /// `[history_size]` 0 or 1
        pub truncated: [u8] = frames,
        /// `[history_size]` frames of the same episode before this one, counted up to `history_size`.
        pub reach: [u32] = frames,
        /// `[2, history_size]` lower halves of the numbers in the pools, zeros elsewhere; empty without `use_priority`.
        pub pools: [u32] = frames.saturating_mul(if config.use_priority == 1 { 2 } else { 0 }),
    }
    /// All fields but the columns, for writing. The fields are public for callers that cut them from a raw block along [`spans`].
    #[derive(Debug)]
    pub write Index {
        /// The configuration of the block.
        pub config: &'a MemoryConfig,
        /// Its [`MemoryConfig::margin`].
        pub margin: u32,
    }
    /// The frames, for reading by any number of threads. The fields are public for the same reason as those of [`Index`].
    ///
    /// A process that shares the bytes with the writer may draw and gather concurrently: see [`shared`]. Draws name frames that
    /// were held at that time; gathering refuses frames that are overwritten before the end of the copy.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        /// The configuration of the block.
        pub config: &'a MemoryConfig,
        /// Its [`MemoryConfig::margin`].
        pub margin: u32,
        /// The columns.
        pub table: table::View<'a>,
    }
}

/// Places of the fields of a block, stored in the block itself: calls need not plan it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Spans {
    /// All fields but the columns.
    pub index: IndexSpans,
    /// The columns.
    pub table: table::Spans,
    /// [`MemoryConfig::margin`].
    pub margin: u64,
}

/// The layout, defined only here: the fields and the bytes of the whole block.
pub fn spans(config: &MemoryConfig) -> Result<(Spans, usize)> {
    config.table.check()?;
    config.check()?;
    let (_, _, mut plan) = front()?;
    let index = IndexSpans::plan(&mut plan, config, config.history_size() as usize)?;
    let table = table::spans(&mut plan, &config.table)?;
    Ok((Spans { index, table, margin: config.margin().into() }, plan.size()?))
}

/// Places of the configuration and of the stored plan, and the plan of the fields behind them.
fn front() -> core::result::Result<(Span<MemoryConfig>, Span<Spans>, Plan), TooLong> {
    let mut plan = Plan::default();
    let (_, config) = block::spans(&mut plan)?;
    Ok((config, plan.span(1)?, plan))
}

/// The front of a block that `init` or `attach` accepted, which determines the layout.
#[derive(Clone, Copy, Debug)]
pub struct Front<'a> {
    /// The configuration of the block.
    pub config: &'a MemoryConfig,
    /// Places of the fields.
    pub spans: &'a Spans,
    /// Bytes of the block.
    pub size: usize,
}

impl<'a> Front<'a> {
    /// Bytes from the base of a block that hold the front.
    pub const END: usize =
        block::FIELD_ALIGN + size_of::<MemoryConfig>().next_multiple_of(block::FIELD_ALIGN) + size_of::<Spans>();

    /// Reads the front from the first [`Front::END`] bytes of a block. Errors: `Align`, `Size`, `Image`.
    #[inline(always)]
    pub fn of(mem: &'a [u8]) -> Result<Self> {
        let size = Header::size_of(mem, block::Kind::Memory)? as usize;
        let (config, spans, _) = front()?;
        let config = block::view(mem, config)?.first().ok_or(SHAPE)?;
        Ok(Front { config, spans: block::view(mem, spans)?.first().ok_or(SHAPE)?, size })
    }
}

/// Accepts a block with a valid configuration and the plan that belongs to it. Errors: `Align`, `Size`, `Image`.
fn accept(mem: &[u8]) -> Result {
    let (_, kept, _) = front()?;
    block::attach(mem, block::Kind::Memory, |config: &MemoryConfig| block::check_plan(mem, kept, spans(config)?))?;
    Ok(())
}

const SHAPE: Error = Error::new(Kind::Shape, "memory: fields with history_size elements");

impl<'a> View<'a> {
    /// Opens a block that [`Memory::init`] or [`Memory::attach`] has accepted, for drawing and reading.
    /// Errors: `Align`, `Size`, `Image` for any other block.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let Front { config, spans, .. } = Front::of(mem)?;
        let table = table::View::of(mem, &spans.table, &config.table)?;
        Ok(Self::of(mem, &spans.index, config, spans.margin as u32, table)?)
    }

    /// Accepts a block that another process is writing: checks only the constant parts.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        accept(mem)?;
        Self::open(mem)
    }

    /// Numbers of the frames held.
    pub fn held(&self) -> Range<u64> {
        self.table.held(0).unwrap_or(0..0)
    }

    /// The random stream stored last, or the stream of seed 0. Errors: `Busy` only with a concurrent writer that stores streams
    /// faster than they can be read.
    pub fn rng(&self) -> Result<Rng> {
        self.state.rng_changes.read(|| snapshot(&self.state.rng))
    }

    /// Length of a pool, of `priority` frames or ordinary ones.
    pub fn pool_len(&self, priority: bool) -> u32 {
        let [low, high] = self.state.pools;
        if priority { high.len } else { low.len }
    }
}

/// A replay memory in the caller's block.
#[derive(Debug)]
pub struct Memory<'a> {
    /// All fields but the columns.
    pub index: Index<'a>,
    /// The columns.
    pub table: Table<'a>,
}

impl<'a> Memory<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &MemoryConfig) -> Result<usize> {
        Ok(spans(config)?.1)
    }

    /// Initializes an empty memory. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &MemoryConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        let block = block::create_with(mem, block::Kind::Memory, size, config, |block| {
            let (mut cut, (_, kept, _)) = (Cutter::new(block), front()?);
            cut.take(kept)?.fill(spans);
            cut.take(spans.index.state)?.first_mut().ok_or(SHAPE)?.rng = Rng::seeded(0);
            Ok(())
        })?;
        Self::open(block)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        accept(mem)?;
        let memory = Self::open(mem)?;
        memory.table.check_image()?;
        memory.check_image()?;
        Ok(memory)
    }

    /// Opens a block that [`Memory::init`] or [`Memory::attach`] has accepted. Errors: `Align`, `Size`, `Image` for any other
    /// block.
    #[inline(always)]
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        Front::of(mem)?;
        let (config, mut cut) = block::cut_config::<MemoryConfig>(mem)?;
        let spans: &Spans = cut.take(front()?.1)?.first().ok_or(SHAPE)?;
        let index = Index::cut(&mut cut, &spans.index, config, spans.margin as u32)?;
        Ok(Memory { index, table: Table::cut(&mut cut, &spans.table, &config.table, 0)? })
    }

    /// The configuration of the block.
    pub fn config(&self) -> &'a MemoryConfig {
        self.index.config
    }

    /// The frames, for reading.
    pub fn view(&self) -> View<'_> {
        self.index.read(self.index.config, self.index.margin, self.table.view())
    }

    /// Appends a frame with the elements of its columns; a full memory drops its oldest frame.
    ///
    /// Errors: `Range` for a further frame of an episode that has ended; `Shape` for elements that do not match the
    /// columns. Nothing is written then.
    pub fn add(&mut self, frame: &Frame, row: &[Elements<'_>]) -> Result<Added> {
        let link = self.link(frame)?;
        self.table.check(0, row, link != Link::Continues, 1)?;
        self.add_linked(frame, row, link)
    }

    /// [`Memory::add`] of a row that was cut along the columns. Errors: `Range`.
    #[inline(always)]
    pub fn add_cut(&mut self, frame: &Frame, row: &[Elements<'_>]) -> Result<Added> {
        let link = self.link(frame)?;
        self.table.check_ring(0, link != Link::Continues, 1)?;
        self.add_linked(frame, row, link)
    }

    #[inline(always)]
    fn add_linked(&mut self, frame: &Frame, row: &[Elements<'_>], link: Link) -> Result<Added> {
        shared::begin(from_mut(self.table.writing.first_mut().ok_or(SHAPE)?), 1);
        let number = self.append(frame, row, link)?;
        shared::end(from_mut(self.table.writing.first_mut().ok_or(SHAPE)?));
        Ok(Added { number, cuts: (link == Link::Cuts).into() })
    }

    /// Appends frames in order, with `[n, len]` elements for each column in `rows`: as repeated [`Memory::add`], but an error
    /// comes before anything is written.
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

    /// Number of frames that [`Memory::add_rollout`] would mark truncated. Errors: the same.
    fn check_rollout<F>(&self, frames: F, rows: &[Elements<'_>]) -> Result<u32>
    where
        F: ExactSizeIterator<Item = Frame>,
    {
        let count = frames.len();
        let columns = self.index.config.table.columns();
        let what = "memory: rows with elements for each column,";
        Error::limit(Kind::Shape, what, columns.len(), rows.len()).fail_if(rows.len() != columns.len())?;
        for (column, elements) in columns.iter().zip(rows) {
            let needed = (column.len as usize).saturating_mul(count);
            let what = "memory: elements of all rows in each column,";
            Error::limit(Kind::Shape, what, needed, elements.len()).fail_if(elements.len() != needed)?;
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
        let none = Error::limit(Kind::Range, "memory: frames to add, at least", 1, 0);
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

    /// Appends a frame between [`Table::begin`] and [`Table::end`], once [`Table::check`] has accepted its row.
    #[inline(always)]
    fn append(&mut self, frame: &Frame, row: &[Elements<'_>], link: Link) -> Result<u64> {
        let reach = self.index.write(frame, link)?;
        let number = self.table.put_aged(0, row, reach.min(self.index.max_stack()) as u8)?;
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

    /// Stores a random stream in the block, so that one image holds everything that a run needs to resume.
    pub fn store_rng(&mut self, rng: &Rng) {
        let state = &mut *self.index.state;
        state.rng_changes.begin();
        state.rng = *rng;
        state.rng_changes.end();
    }

    /// The random stream stored last, or the stream of seed 0.
    pub fn rng(&self) -> Rng {
        self.index.state.rng
    }

    /// Refuses contents that no sequence of calls can produce. Errors: `Image`.
    fn check_image(&self) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        let Index { config, state, .. } = &self.index;
        state.rng_changes.check_image()?;
        let (frames, end) = (config.history_size(), self.end());
        let what = "memory: the slot of the next frame where its number says";
        damaged(what).fail_if(u64::from(state.head) != end.checked_rem(frames.into()).unwrap_or(0))?;
        damaged("memory: a random stream").fail_if(!state.rng.is_valid() || state.reserved != 0)?;
        let held = end.min(frames.into()) as u32;
        let oldest = end.saturating_sub(frames.into());
        let mut queues = [Queue::default(); 2];
        // Reach and end of the frame before.
        let mut before: Option<(u32, bool)> = None;
        for i in 0..frames {
            let slot = behind(state.head, frames.wrapping_sub(i), frames);
            let (reward, flags, reach, age) = self.frame_at(slot)?;
            // Until the memory is full, the slots from the next frame on come first and are empty.
            let Some(i) = i.checked_sub(frames.wrapping_sub(held)) else {
                let what = "memory: zeros where no frame is";
                damaged(what).fail_if(reward.to_bits() != 0 || flags != [0, 0] || reach != 0)?;
                continue;
            };
            let right = match before {
                None => u64::from(reach) <= oldest.min(frames.into()),
                Some((_, true)) => reach == 0,
                Some((before, false)) => reach == before.saturating_add(1).min(frames),
            };
            damaged("memory: frames that reach back to the start of their episode").fail_if(
                !right
                    || flags.iter().any(|&flag| flag > 1)
                    || u32::from(age) != reach.min(config.table.max_stack() as u32),
            )?;
            before = Some((reach, flags != [0, 0]));
            let number = oldest.wrapping_add(i.into());
            if config.use_priority == 1 && number >= oldest.wrapping_add(self.index.margin.into()) {
                let from = usize::from(config.is_priority(reward));
                let seen = queues.get_mut(from).ok_or(SHAPE)?;
                let begin = state.pools.get(from).ok_or(SHAPE)?.begin;
                damaged("memory: pools with the numbers of the frames that may be drawn")
                    .fail_if(begin >= frames || self.entry(from, ahead(begin, seen.len, frames))? != number as u32)?;
                seen.len = seen.len.saturating_add(1);
            }
        }
        self.check_newest(before)?;
        self.check_pools(queues)
    }

    /// Checks that the newest frame is at a step that it can have reached.
    fn check_newest(&self, newest: Option<(u32, bool)>) -> Result {
        let State { episode, step, .. } = *self.index.state;
        let right = match newest {
            Some((reach, _)) => step >= reach,
            None => (episode, step) == (0, 0),
        };
        if right { Ok(()) } else { Err(Error::new(Kind::Image, "memory: a step that the newest frame can be at")) }
    }

    /// Checks that the pools hold no other numbers than `seen`, and begin at places that match the count of numbers removed.
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
