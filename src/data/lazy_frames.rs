//! Frames that are stacked when they are read: every frame is stored once, and a stack is k frame numbers.
//!
//! A [`table`] of one column in a block of its own, with a ring for each environment: the frames of an environment are numbered
//! from 0 and numbers are never reused. All reading is done through the table, column 0.
//!
//! ```
//! use rlcore::data::lazy_frames::{LazyFrames, LazyFramesConfig};
//! use rlcore::data::table::FrameIndex;
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
//! frames.view().gather_transitions(0, &[FrameIndex::new(0, number)], Layout::Hwc, to, next)?;
//! assert_eq!((obs, next_obs), ([1, 1, 2, 2], [1, 3, 2, 4]));
//! # Ok(())
//! # }
//! ```

use super::table::{self, Column, Spans, Table, TableConfig, View};
use crate::block::{self, Header, Plan, TooLong};
use crate::error::{Error, Kind, Result, check_len, check_some};
use crate::kernels::stack::MAX_STACK;
use crate::space::{Element, Elements};

/// Configuration of rings of frames. The block stores the [`TableConfig`] made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LazyFramesConfig {
    /// Number of environments, at least 1: each has a ring of its own.
    pub num_envs: u32,
    /// Frames kept of each environment, at least `num_stack`; a transition with full stacks needs one more.
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
    /// The table of this configuration. Errors: `Config`; `Overflow`.
    pub fn table(&self) -> Result<TableConfig> {
        self.check()?;
        let pixels = self.height.checked_mul(self.width);
        let len = pixels.and_then(|n| n.checked_mul(self.channels)).ok_or(OVERFLOW)?;
        let frames = Column::frames("frames", len, self.channels, self.num_stack);
        Ok(TableConfig::new(self.num_envs, self.num_frames, &[frames]))
    }

    /// Bytes of the block per transition it can keep, rounded up: one frame and the data about it. An episode of L transitions
    /// keeps L + 1 frames. Errors: `Config`, `Overflow`.
    pub fn bytes_per_transition(&self) -> Result<u64> {
        let frames = u64::from(self.num_envs).saturating_mul(self.num_frames.into());
        Ok((LazyFrames::size(self)? as u64).div_ceil(frames.max(1)))
    }

    fn check(&self) -> Result {
        Error::config("lazy_frames config: num_envs of at least", 1, 0).fail_if(self.num_envs == 0)?;
        let what = "lazy_frames config: height, width and channels of at least";
        Error::config(what, 1, 0).fail_if(self.height == 0 || self.width == 0 || self.channels == 0)?;
        Error::config("lazy_frames config: num_stack from 1 to", MAX_STACK as u32, self.num_stack)
            .fail_if(self.num_stack == 0 || self.num_stack as usize > MAX_STACK)?;
        let what = "lazy_frames config: num_frames of at least num_stack,";
        Error::config(what, self.num_stack, self.num_frames).fail_if(self.num_frames < self.num_stack)
    }
}

const OVERFLOW: Error = Error::new(Kind::Overflow, "lazy_frames: frames that fit the address space");
const SHAPE: Error =
    Error::new(Kind::Shape, "lazy_frames: a table of one column of bytes, with the rows of all its rings");

/// The layout, defined only here: the table and the bytes of the whole block.
pub fn spans(config: &TableConfig) -> Result<(Spans, usize)> {
    SHAPE.fail_if(config.columns().len() != 1 || config.column(0)?.element()? != Element::U8)?;
    config.check()?;
    Ok(lay(config)?)
}

/// As [`spans`], for a configuration that was checked when its block was accepted.
pub fn lay(config: &TableConfig) -> core::result::Result<(Spans, usize), TooLong> {
    let mut plan = Plan::default();
    block::spans::<TableConfig>(&mut plan)?;
    Ok((table::lay(&mut plan, config)?, plan.size()?))
}

/// One step of several environments, to push.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    /// `[rows, frame_len]` the frame to act on next.
    pub frame: &'a [u8],
    /// `[rows]` nonzero where that frame starts an episode.
    pub first: &'a [u8],
    /// `[rows, frame_len]` where `first`, the last frame of the episode that ended in the same step, which is pushed before
    /// `frame`; `None` if no episode ended, or if its last frame has been pushed.
    pub final_frame: Option<&'a [u8]>,
}

/// All or some rings of frames in the caller's block: disjoint sets of rings may go to different threads.
#[derive(Debug)]
pub struct LazyFrames<'a> {
    table: Table<'a>,
}

impl<'a> LazyFrames<'a> {
    /// Bytes from the base of a block to the end of its configuration, which determine the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<TableConfig>();

    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &LazyFramesConfig) -> Result<usize> {
        Ok(spans(&config.table()?)?.1)
    }

    /// Initializes empty rings. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &LazyFramesConfig) -> Result<Self> {
        let config = config.table()?;
        let (_, size) = spans(&config)?;
        Self::open(block::create(mem, block::Kind::LazyFrames, size, &config)?)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        Self::accept(mem)?;
        let frames = Self::open(mem)?;
        frames.table.check_image()?;
        Ok(frames)
    }

    /// Opens a block that was accepted before. Errors: `Align`, `Size`, `Image` for any other block.
    #[inline(always)]
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let (spans, _) = lay(Self::config(mem)?)?;
        let (config, mut cut) = block::cut_config(mem)?;
        Self::of(Table::cut(&mut cut, &spans, config, 0)?)
    }

    /// Accepts a block that another process is writing, see [`block::shared`]: checks only the constant parts.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach_reader(mem: &'a [u8]) -> Result<View<'a>> {
        Self::accept(mem)?;
        Self::read(mem)
    }

    /// Opens a block that was accepted before, for reading. Errors: `Align`, `Size`, `Image` for any other block.
    pub fn read(mem: &'a [u8]) -> Result<View<'a>> {
        let config = Self::config(mem)?;
        Ok(View::of(mem, &lay(config)?.0, config)?)
    }

    /// The configuration of a block that was accepted before; its first [`LazyFrames::END`] bytes suffice.
    /// Errors: `Align`, `Size`, `Image` for any other block.
    pub fn config(mem: &[u8]) -> Result<&TableConfig> {
        Header::read(mem, block::Kind::LazyFrames)?;
        let (_, config) = block::spans(&mut Plan::default())?;
        block::view(mem, config)?.first().ok_or(SHAPE)
    }

    fn accept(mem: &[u8]) -> Result<TableConfig> {
        block::attach(mem, block::Kind::LazyFrames, |config| Ok(spans(config)?.1))
    }

    /// Rings cut from such a block. Errors: `Shape` if the lengths of their fields do not match, or for another kind of table.
    #[inline(always)]
    pub fn of(table: Table<'a>) -> Result<Self> {
        let config = table.config;
        let rows = table.len().checked_mul(config.num_rows as usize).ok_or(OVERFLOW)?;
        let ([column], [bytes, ..]) = (config.columns(), &table.columns) else { return Err(SHAPE) };
        let right = table.writing.len() == table.len()
            && table.age.len() == rows
            && rows.checked_mul(column.row_size()) == Some(bytes.len());
        if right { Ok(LazyFrames { table }) } else { Err(SHAPE) }
    }

    /// Bytes of a frame. No errors for an accepted block.
    pub fn frame_len(&self) -> Result<usize> {
        Ok(self.table.config.column(0)?.row_size())
    }

    /// The rings, to split for threads.
    pub fn rings(&mut self) -> Table<'_> {
        self.table.reborrow()
    }

    /// All frames, for reading.
    pub fn view(&self) -> View<'_> {
        self.table.view()
    }

    /// Appends a frame to ring `i`, counted from the first of these, and returns its number; `first` starts an episode. A full
    /// ring drops its oldest frame.
    ///
    /// Errors: `Range`; `Shape`; `NotReady` for a ring without frames unless `first`. Nothing is written then.
    pub fn push(&mut self, i: usize, frame: &[u8], first: bool) -> Result<u64> {
        let row = [Elements::U8(frame)];
        self.table.check(i, &row, first, 1)?;
        self.table.begin(i, 1, 1);
        let number = self.table.put(i, &row, first);
        self.table.end(i, 1);
        number
    }

    /// Appends one step: a frame to each ring, after the final frame where an episode ended. `number`, `[rows]`, is set to the
    /// numbers of the frames to act on next. The number that the call before gave for a ring then starts a complete transition.
    ///
    /// Errors: `Shape`; `NotReady` for a ring without frames whose `first` is 0 or whose `final_frame` would come first.
    /// Nothing is written then.
    pub fn push_all(&mut self, step: Frames<'_>, number: Option<&mut [u64]>) -> Result {
        let (rows, width) = (self.table.len(), self.frame_len()?);
        let bytes = rows.checked_mul(width).ok_or(OVERFLOW)?;
        check_len("lazy_frames: frame [N, frame_len] of bytes,", step.frame, bytes)?;
        check_len("lazy_frames: first [N],", step.first, rows)?;
        check_some("lazy_frames: final_frame [N, frame_len] of bytes,", &step.final_frame, bytes)?;
        check_some("lazy_frames: number [N],", &number, rows)?;
        let row = |frames, i| Ok::<_, Error>([Elements::U8(block::rows(frames, i, 1, width)?)]);
        for (i, &first) in step.first.iter().enumerate() {
            self.table.check(i, &row(step.frame, i)?, first != 0 && step.final_frame.is_none(), 2)?;
        }
        let mut number = number;
        self.table.begin(0, rows, if step.final_frame.is_some() { 2 } else { 1 });
        for (i, &first) in step.first.iter().enumerate() {
            if let Some(frames) = step.final_frame.filter(|_| first != 0) {
                self.table.put(i, &row(frames, i)?, false)?;
            }
            let pushed = self.table.put(i, &row(step.frame, i)?, first != 0)?;
            if let Some(number) = number.as_deref_mut().and_then(|number| number.get_mut(i)) {
                *number = pushed;
            }
        }
        self.table.end(0, rows);
        Ok(())
    }
}
