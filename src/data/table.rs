//! Rows of named, typed columns in rings: what every replay memory keeps.
//!
//! A table is a part of a block, not a block: its owner plans it among its own fields, and keeps whatever else it knows
//! about a row in spans of its own. Each of R rings holds its last `num_rows` rows, column after column. A row's number
//! counts from the first row that its ring ever took and is never reused; row n is in slot `n % num_rows`.
//!
//! An image column keeps each frame once and is read as stacks: beside every row lies one byte, its age, how many rows of
//! its episode came before it, which is all that [`lazy_frames`] has to know.
//!
//! A writer announces the rows that it is about to push, and gathering asks afterwards whether what was copied is still
//! held: see [`shared`].
//!
//! ```
//! use rlcore::block::{Cutter, Plan};
//! use rlcore::data::lazy_frames::FrameIndex;
//! use rlcore::data::table::{Column, Table, TableConfig, spans};
//! use rlcore::kernels::stack::Layout;
//! use rlcore::space::{Element, Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! let columns = [Column::new("obs", Element::F32, 2), Column::new("action", Element::I32, 1)];
//! let config = TableConfig::new(1, 100, &columns);
//! let mut plan = Plan::default();
//! let spans = spans(&mut plan, &config)?;
//! let mut block = vec![0u64; plan.size()? / 8];
//! let mut table = Table::cut(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans, &config, 0)?;
//!
//! let number = table.push(0, &[Elements::F32(&[0.5, -1.0]), Elements::I32(&[3])], true)?;
//! let mut obs = [0.0; 2];
//! table.view().gather(0, &[FrameIndex::new(0, number)], Layout::Hwc, ElementsMut::F32(&mut obs))?;
//! assert_eq!(obs, [0.5, -1.0]);
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};
use core::iter::{once, repeat};
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use super::lazy_frames::{self, FrameIndex, LazyFramesConfig};
use crate::block::{self, Cutter, Field, Fit, Plan, Span, TooLong, fields, shared};
use crate::cpu::{self, Kernel, Word};
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::{Layout, MAX_STACK};
use crate::space::{Element, Elements, ElementsMut};

/// Most columns of a table.
pub const MAX_COLUMNS: usize = 16;

/// Bytes of a column's name, the zeros after it included.
pub const NAME_SIZE: usize = 24;

/// What one column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Column {
    /// What it is called: 1 to 23 ASCII characters, zeros after them.
    pub name: [u8; NAME_SIZE],
    /// A [`Element`], as its number.
    pub kind: u32,
    /// Elements of one row, at least 1; with stacks, those of one frame.
    pub len: u32,
    /// 0 or 1; or k up to [`MAX_STACK`], with bytes: a row keeps the newest frame only and is read as the stack of the k
    /// newest frames of its episode, the first one repeated where there are fewer.
    pub num_stack: u32,
    /// Bytes of a pixel, which divide `len`; 0 is 1, and the only value of other kinds.
    pub channels: u32,
}

impl Column {
    /// `len` elements a row. A name that is too long is cut short.
    pub const fn new(name: &str, kind: Element, len: u32) -> Self {
        let (bytes, mut padded, mut i) = (name.as_bytes(), [0; NAME_SIZE], 0);
        while i < NAME_SIZE - 1 && i < bytes.len() {
            padded[i] = bytes[i];
            i += 1;
        }
        Column { name: padded, kind: kind as u32, len, num_stack: 0, channels: 0 }
    }

    /// Frames of `len` bytes with `channels` bytes a pixel, read as stacks of `num_stack`.
    pub const fn frames(name: &str, len: u32, channels: u32, num_stack: u32) -> Self {
        Column { num_stack, channels, ..Column::new(name, Element::U8, len) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        let len = self.name.iter().position(|&c| c == 0).unwrap_or(NAME_SIZE);
        core::str::from_utf8(self.name.get(..len).unwrap_or_default()).unwrap_or_default()
    }

    /// Element kind. Errors: `Config`.
    #[inline]
    pub fn element(&self) -> Result<Element> {
        Element::from_number(self.kind).ok_or(KIND.given(self.kind as usize))
    }

    /// Frames that a row is read as, at least 1.
    #[inline]
    pub fn stack(&self) -> usize {
        self.num_stack.max(1) as usize
    }

    /// Elements of a row as it is read, a whole stack; what [`TableConfig::check`] accepts fits the address space.
    #[inline]
    pub fn read_len(&self) -> usize {
        (self.len as usize).saturating_mul(self.stack())
    }

    /// Bytes of a row as it is stored.
    #[inline]
    pub fn row_size(&self) -> usize {
        (self.len as usize).saturating_mul(if self.kind == Element::U8 as u32 { 1 } else { 4 })
    }

    fn check(&self) -> Result {
        let refuse = |what, given: u32| Err(Error::new(Kind::Config, what).given(given as usize));
        let len = self.name.iter().position(|&c| c == 0).unwrap_or(0);
        let (name, zeros) = self.name.split_at_checked(len).unwrap_or_default();
        if name.is_empty() || !name.is_ascii() || zeros.iter().any(|&c| c != 0) {
            let what = "column: a name of 1 to 23 ASCII characters and zeros after them";
            return Err(Error::new(Kind::Config, what));
        }
        let kind = self.element()?;
        if self.len == 0 || self.read_len() > isize::MAX as usize / 4 {
            return refuse("column: len of at least 1 that fits the address space", self.len);
        }
        if self.num_stack as usize > MAX_STACK {
            return refuse("column: num_stack up to 16", self.num_stack);
        }
        if kind != Element::U8 && self.stack() > 1 {
            return refuse("column: num_stack of 0 or 1 with elements other than bytes", self.num_stack);
        }
        if kind != Element::U8 && self.channels > 1 {
            return refuse("column: channels of 0 or 1 with elements other than bytes", self.channels);
        }
        if self.len.checked_rem(self.channels.max(1)) != Some(0) {
            return refuse("column: channels that divide len", self.channels);
        }
        Ok(())
    }
}

const KIND: Error = Error::new(Kind::Config, "column: kind of 0 (f32), 1 (i32) or 2 (u8)");

/// What a table is made from: a part of its owner's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TableConfig {
    /// R, at least 1.
    pub num_rings: u32,
    /// Rows that each ring keeps, at least 1, and at least `num_stack` of every column.
    pub num_rows: u32,
    /// Columns, 1 to [`MAX_COLUMNS`].
    pub num_columns: u32,
    /// Zero.
    pub reserved: u32,
    /// The columns, of different names; all zero beyond `num_columns`.
    pub columns: [Column; MAX_COLUMNS],
}

impl TableConfig {
    /// A table of these columns; [`TableConfig::check`] refuses more than [`MAX_COLUMNS`].
    pub fn new(num_rings: u32, num_rows: u32, columns: &[Column]) -> Self {
        let mut all = [Column::zeroed(); MAX_COLUMNS];
        block::copy(&mut all, columns);
        TableConfig { num_rings, num_rows, num_columns: columns.len() as u32, reserved: 0, columns: all }
    }

    /// The columns.
    #[inline]
    pub fn columns(&self) -> &[Column] {
        self.columns.get(..self.num_columns as usize).unwrap_or(&self.columns)
    }

    /// One column. Errors: `Range`.
    #[inline]
    pub fn column(&self, column: usize) -> Result<&Column> {
        let columns = self.columns();
        columns.get(column).ok_or(Error::new(Kind::Range, "table: a column below").needed(columns.len()).given(column))
    }

    /// Number of the column of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name() == name)
    }

    /// Most frames that a row of any column is read as, at least 1.
    pub fn max_stack(&self) -> usize {
        self.columns().iter().fold(1, |most, column| most.max(column.stack()))
    }

    /// Rows of all rings.
    pub fn all_rows(&self) -> usize {
        (self.num_rings as usize).saturating_mul(self.num_rows as usize)
    }

    /// Bytes of a row in all columns, and what is known about it. Errors: `Overflow`.
    pub fn row_size(&self) -> Result<usize> {
        let size = self.columns().iter().try_fold(1usize, |size, column| size.checked_add(column.row_size()));
        size.ok_or(OVERFLOW)
    }

    /// Refuses what no table is made from. Errors: `Config`.
    pub fn check(&self) -> Result {
        let refuse =
            |what, needed: usize, given: u32| Err(Error::new(Kind::Config, what).needed(needed).given(given as usize));
        if self.num_rings == 0 {
            return refuse("table config: num_rings of at least", 1, 0);
        }
        if self.num_columns == 0 || self.num_columns as usize > MAX_COLUMNS {
            return refuse("table config: num_columns from 1 to", MAX_COLUMNS, self.num_columns);
        }
        if self.reserved != 0 {
            return refuse("table config: reserved of", 0, self.reserved);
        }
        let columns = self.columns();
        for (i, column) in columns.iter().enumerate() {
            column.check()?;
            if columns.iter().take(i).any(|other| other.name == column.name) {
                return Err(Error::new(Kind::Config, "table config: names that differ; not so column").given(i));
            }
        }
        if self.columns.iter().skip(columns.len()).any(|column| *column != Column::zeroed()) {
            return Err(Error::new(Kind::Config, "table config: zeros beyond num_columns"));
        }
        if (self.num_rows as usize) < self.max_stack() {
            let what = "table config: num_rows of at least 1 and any num_stack,";
            return refuse(what, self.max_stack(), self.num_rows);
        }
        Ok(())
    }
}

fields! {
    /// Where the fields of a table lie in its owner's block.
    pub spans Spans(config: &TableConfig, rings: usize, rows: usize) {
        /// `[R]` rows pushed so far: the number of the next one.
        pub pushed: [u64] = rings,
        /// `[R]` rows that a writer is about to push, for readers beside it; else 0.
        pub writing: [u32] = rings,
        /// `[R, num_rows]` rows of the same episode before this one, counted up to the most that a stack needs, at least 1.
        pub age: [u8] = rows,
        /// `[R, num_rows, row_size]` bytes of each column, of length 0 beyond `num_columns`.
        pub columns: Columns = (config, rows, rows),
    }
    /// Rings `[first, first + len)`, to push to: two disjoint ones share no byte, so they may go to different threads. The
    /// fields are public for callers that cut them from a raw block along [`spans`].
    #[derive(Debug)]
    pub write Table {
        /// What it was made from.
        pub config: &'a TableConfig,
        /// Number of the first ring.
        pub first: usize,
    }
    /// Rows to read, of all rings: any number of threads may look at the same ones. The fields are public as those of
    /// [`Table`].
    #[derive(Clone, Copy, Debug)]
    pub read View {
        /// What the table was made from.
        pub config: &'a TableConfig,
    }
}

/// Plans a table among the fields of its owner; new ones are all zero. Errors: `Config`, `Overflow`.
pub fn spans(plan: &mut Plan, config: &TableConfig) -> Result<Spans> {
    config.check()?;
    lay(plan, config)
}

/// As [`spans`], of a configuration that was checked when its block was accepted.
#[inline(always)]
pub fn lay(plan: &mut Plan, config: &TableConfig) -> Result<Spans> {
    let rings = config.num_rings as usize;
    let rows = rings.checked_mul(config.num_rows as usize).ok_or(OVERFLOW)?;
    Ok(Spans::plan(plan, config, rings, rows)?)
}

/// Where columns lie in a block: of length 0 beyond those that it has.
pub type ColumnSpans = [Span<u8>; MAX_COLUMNS];

/// The bytes of every column, of so many rows, and of column 0 of so many.
pub struct Columns;

impl Field for Columns {
    type Len<'a> = (&'a TableConfig, usize, usize);
    type Span = ColumnSpans;
    type Mut<'a> = [&'a mut [u8]; MAX_COLUMNS];
    type Ref<'a> = [&'a [u8]; MAX_COLUMNS];

    #[inline(always)]
    fn plan(plan: &mut Plan, (config, rows, rows_of_0): Self::Len<'_>) -> core::result::Result<ColumnSpans, TooLong> {
        let mut spans = [Plan::default().span(0)?; MAX_COLUMNS];
        let rows = once(rows_of_0).chain(repeat(rows));
        for ((span, column), rows) in spans.iter_mut().zip(config.columns()).zip(rows) {
            *span = plan.grid(rows, column.row_size())?;
        }
        Ok(spans)
    }

    fn cut<'a>(cut: &mut Cutter<'a>, spans: &ColumnSpans) -> Fit<Self::Mut<'a>> {
        let mut columns = Self::Mut::<'a>::default();
        for (column, span) in columns.iter_mut().zip(spans).take_while(|(_, span)| !span.is_empty()) {
            *column = cut.take(*span)?;
        }
        Ok(columns)
    }

    fn view<'a>(block: &'a [u8], spans: &ColumnSpans) -> Fit<Self::Ref<'a>> {
        let mut columns = Self::Ref::<'a>::default();
        for (column, span) in columns.iter_mut().zip(spans).take_while(|(_, span)| !span.is_empty()) {
            *column = block::view(block, *span)?;
        }
        Ok(columns)
    }

    fn read<'a>(columns: &'a Self::Mut<'_>) -> Self::Ref<'a> {
        columns.each_ref().map(|column| &**column)
    }
}

const OVERFLOW: Error = Error::new(Kind::Overflow, "table: rows that fit the address space");
const SHAPE: Error = Error::new(Kind::Shape, "table: fields with the rows of all its rings");
const RING: Error = Error::new(Kind::Range, "table: a ring below");
const FORGOTTEN: Error = Error::new(Kind::Range, "table: rows that are still held, from number");

/// The slot of a row in its ring.
#[inline]
fn slot_of(number: u64, num_rows: usize) -> usize {
    number.checked_rem(num_rows as u64).unwrap_or(0) as usize
}

impl<'a> Table<'a> {
    /// As [`Table::cut`], and refuses what no sequence of calls can produce, or one that was stopped amid a row.
    /// Errors: `Image`.
    pub fn attach(cut: &mut Cutter<'a>, config: &'a TableConfig, spans: &Spans) -> Result<Self> {
        let table = Self::cut(cut, spans, config, 0)?;
        shared::check_image(table.writing)?;
        table.check_image()?;
        Ok(table)
    }

    /// Number of rings.
    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.pushed.is_empty()
    }

    /// The same rings for a shorter time.
    pub fn reborrow(&mut self) -> Table<'_> {
        let mut columns: [&mut [u8]; MAX_COLUMNS] = Default::default();
        for (to, from) in columns.iter_mut().zip(&mut self.columns) {
            *to = from;
        }
        let Table { config, first, .. } = *self;
        Table { config, first, pushed: self.pushed, writing: self.writing, age: self.age, columns }
    }

    /// The first `k` rings and the others, for two threads; `None` if there are fewer than `k`.
    pub fn split_at(self, k: usize) -> Option<(Table<'a>, Table<'a>)> {
        let (config, first) = (self.config, self.first);
        let rows = k.checked_mul(config.num_rows as usize)?;
        let (pushed, pushed_rest) = self.pushed.split_at_mut_checked(k)?;
        let (writing, writing_rest) = self.writing.split_at_mut_checked(k)?;
        let (age, age_rest) = self.age.split_at_mut_checked(rows)?;
        let mut columns: [&mut [u8]; MAX_COLUMNS] = Default::default();
        let mut columns_rest: [&mut [u8]; MAX_COLUMNS] = Default::default();
        let halves = columns.iter_mut().zip(&mut columns_rest);
        for (((to, rest), from), column) in halves.zip(self.columns).zip(config.columns()) {
            (*to, *rest) = from.split_at_mut_checked(rows.checked_mul(column.row_size())?)?;
        }
        let second = first.checked_add(k)?;
        Some((
            Table { config, first, pushed, writing, age, columns },
            Table {
                config,
                first: second,
                pushed: pushed_rest,
                writing: writing_rest,
                age: age_rest,
                columns: columns_rest,
            },
        ))
    }

    /// The same rings, to read; of all rings if these are.
    pub fn view(&self) -> View<'_> {
        self.read(self.config)
    }

    /// Says that `len` rings from `i` on are about to take up to `rows` rows each: before an owner writes anything of its
    /// own that belongs to them. [`Table::end`] comes after the last.
    pub fn begin(&mut self, i: usize, len: usize, rows: u32) {
        shared::begin(self.writing.get_mut(i..i.saturating_add(len)).unwrap_or_default(), rows);
    }

    /// Says that what was announced is there.
    pub fn end(&mut self, i: usize, len: usize) {
        shared::end(self.writing.get_mut(i..i.saturating_add(len)).unwrap_or_default());
    }

    /// [`Table::push`] would take this row, and `count - 1` after it: what an owner asks before it writes anything of its
    /// own. Errors: as [`Table::push`].
    pub fn check(&self, i: usize, row: &[Elements<'_>], first: bool, count: u32) -> Result {
        let columns = self.config.columns();
        if row.len() != columns.len() {
            let what = "table: a row with elements for each column,";
            return Err(Error::new(Kind::Shape, what).needed(columns.len()).given(row.len()));
        }
        for (i, (column, elements)) in columns.iter().zip(row).enumerate() {
            if elements.kind() as u32 != column.kind {
                let what = "table: elements of the kind that the column has; not so column";
                return Err(Error::new(Kind::Shape, what).given(i));
            }
            if elements.len() != column.len as usize {
                let what = "table: elements of a row in each column,";
                return Err(Error::new(Kind::Shape, what).needed(column.len as usize).given(elements.len()));
            }
        }
        let pushed = *self.pushed.get(i).ok_or(RING.needed(self.len()).given(i))?;
        let ring = self.first.saturating_add(i);
        if pushed == 0 && !first {
            let what = "table: the first row of an episode before others; not so ring";
            return Err(Error::new(Kind::NotReady, what).given(ring));
        }
        if pushed > shared::LAST.saturating_sub(count.into()) {
            return Err(Error::new(Kind::Range, "table: fewer than 2^63 rows; not so ring").given(ring));
        }
        Ok(())
    }

    /// Slot of the row that ring `i`, counted from the first of these, takes next: where its owner keeps what belongs to
    /// the same row, in arrays `[rings, num_rows]`, before it pushes. Errors: `Range`.
    pub fn next_row(&self, i: usize) -> Result<usize> {
        let pushed = *self.pushed.get(i).ok_or(RING.needed(self.len()).given(i))?;
        let num_rows = self.config.num_rows as usize;
        Ok(i.saturating_mul(num_rows).saturating_add(slot_of(pushed, num_rows)))
    }

    /// Appends a row to ring `i`, counted from the first of these, and returns its number: elements for each column, of its
    /// kind and length. `first` starts an episode. The oldest row is forgotten when the ring is full. With readers beside,
    /// between [`Table::begin`] and [`Table::end`].
    ///
    /// Errors: `Range`; `Shape`; `NotReady` for a ring without rows unless `first`. Nothing is written then.
    pub fn push(&mut self, i: usize, row: &[Elements<'_>], first: bool) -> Result<u64> {
        self.check(i, row, first, 1)?;
        self.put(i, row, first)
    }

    /// [`Table::push`] of a row that [`Table::check`] has accepted.
    pub(super) fn put(&mut self, i: usize, row: &[Elements<'_>], first: bool) -> Result<u64> {
        let num_rows = self.config.num_rows as usize;
        let pushed = self.pushed.get_mut(i).ok_or(SHAPE)?;
        let number = *pushed;
        let slot = slot_of(number, num_rows);
        let ages = block::rows_mut(self.age, i, 1, num_rows)?;
        let age = if first {
            0
        } else {
            let before = ages.get(slot_of(number.saturating_sub(1), num_rows)).ok_or(SHAPE)?;
            before.saturating_add(1).min(self.config.max_stack() as u8)
        };
        *ages.get_mut(slot).ok_or(SHAPE)? = age;
        let at = i.saturating_mul(num_rows).saturating_add(slot);
        for ((to, column), from) in self.columns.iter_mut().zip(self.config.columns()).zip(row) {
            let size = column.row_size();
            block::copy(block::rows_mut(to, at, 1, size)?, from.bytes());
        }
        shared::count(pushed);
        Ok(number)
    }

    /// What no sequence of calls can produce is no image.
    fn check_image(&self) -> Result {
        let num_rows = self.config.num_rows as usize;
        let most = self.config.max_stack() as u8;
        let damaged = |what, ring| Err(Error::new(Kind::Image, what).given(ring));
        for (ring, &pushed) in self.pushed.iter().enumerate() {
            if pushed > shared::LAST {
                return damaged("table: fewer than 2^63 rows; not so ring", ring);
            }
            let ages = block::rows(self.age, ring, 1, num_rows)?;
            if !lazy_frames::ages_are_right(ages, pushed, most) {
                return damaged("table: ages that count the rows of an episode; not so ring", ring);
            }
        }
        Ok(())
    }
}

/// Rows `[number, number + len)` of ring `env`, to read as one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Run {
    /// Number of the first row.
    pub number: u64,
    /// Number of the ring.
    pub env: u32,
    /// Rows.
    pub len: u32,
}

impl Run {
    /// `len` rows of ring `env` from `number` on.
    pub const fn new(env: u32, number: u64, len: u32) -> Self {
        Run { number, env, len }
    }
}

impl<'a> View<'a> {
    /// What readers beside a writer ask.
    #[inline]
    pub fn rings(&self) -> shared::Rings<'a> {
        shared::Rings { pushed: self.pushed, writing: self.writing, num_rows: self.config.num_rows }
    }

    /// Numbers of the rows that a ring still holds. Errors: `Range`.
    #[inline]
    pub fn held(&self, ring: usize) -> Result<Range<u64>> {
        let pushed = self.pushed.get(ring).ok_or(RING.needed(self.pushed.len()).given(ring))?.load(Ordering::Acquire);
        Ok(pushed.saturating_sub(self.config.num_rows.into())..pushed)
    }

    /// Numbers of the rows whose stacks a ring still holds, in every column: those that may be drawn. Errors: `Range`.
    pub fn whole(&self, ring: usize) -> Result<Range<u64>> {
        let (held, num_rows) = (self.held(ring)?, self.config.num_rows as usize);
        let ages = block::rows(self.age, ring, 1, num_rows)?;
        // Once a row has its stacks, all later ones have theirs, after 15 steps at most: also if ages are read that a writer
        // beside has put where rows of these numbers were.
        let is_whole = |&number: &u64| {
            let age = ages.get(slot_of(number, num_rows)).copied().unwrap_or(0);
            oldest_at(age.into(), number, self.config.max_stack()) >= held.start
        };
        let start = (held.start..held.end).find(is_whole).unwrap_or(held.end);
        Ok(start..held.end)
    }

    /// Whether a ring still holds all rows that the stacks of this one read. Errors: `Range` if it is not held itself.
    pub fn is_whole(&self, ring: usize, number: u64) -> Result<bool> {
        Ok(self.stack_start(ring, number)? >= self.held(ring)?.start)
    }

    /// Number of the oldest row that the stacks of this one read, held or not; its own without stacks.
    /// Errors: `Range` if it is not held itself.
    pub fn stack_start(&self, ring: usize, number: u64) -> Result<u64> {
        self.oldest_of(ring, number, self.config.max_stack())
    }

    /// Whether a row starts an episode. Errors: `Range` if it is not held.
    pub fn is_first(&self, ring: usize, number: u64) -> Result<bool> {
        Ok(self.age_of(ring, number)? == 0)
    }

    /// Where a row lies: its place in arrays `[R, num_rows]` that an owner keeps beside the columns.
    /// Errors: `Range` if it is not held.
    #[inline]
    pub fn at(&self, ring: usize, number: u64) -> Result<usize> {
        self.place(ring, &self.held(ring)?, number)
    }

    /// As [`View::at`], of a ring that holds these rows.
    #[inline]
    fn place(&self, ring: usize, held: &Range<u64>, number: u64) -> Result<usize> {
        if number >= held.end {
            let what = "table: a row that was pushed, of a number below";
            return Err(Error::new(Kind::Range, what).needed(held.end as usize).given(number as usize));
        }
        if number < held.start {
            return Err(FORGOTTEN.needed(held.start as usize).given(number as usize));
        }
        let num_rows = self.config.num_rows as usize;
        Ok(ring.saturating_mul(num_rows).saturating_add(slot_of(number, num_rows)))
    }

    /// One row of one column as it was pushed, of an image its newest frame. Errors: `Range` if it is not held.
    pub fn row(&self, column: usize, ring: usize, number: u64) -> Result<Elements<'a>> {
        let (kind, size) = (self.config.column(column)?.element()?, self.config.column(column)?.row_size());
        let bytes = block::rows(self.bytes(column)?, self.at(ring, number)?, 1, size)?;
        Elements::of_bytes(kind, bytes)
    }

    /// Writes B rows of one column, `[B, stack, ...]` in this layout: elements of its kind, or bytes as f32 from 0 to 1,
    /// x / 255. Without stacks and channels every layout is the same.
    ///
    /// Errors: `Range` for the column, or if a row or a frame of its stack is not held; `Shape`. Nothing is written then.
    /// `Range` too if a writer beside has overwritten one meanwhile; then what was written means nothing.
    pub fn gather(&self, column: usize, index: &[FrameIndex], layout: Layout, out: ElementsMut<'_>) -> Result {
        let description = self.config.column(column)?;
        let how = self.how(description, layout, &out)?;
        check_out(description, index.len(), out.len())?;
        match how {
            How::Rows => {
                let slots = self.slots(index)?;
                fence(Ordering::Acquire);
                self.copy_rows(column, index, &slots, out.into_bytes())?;
                match slots {
                    Slots::One { ring, oldest, .. } => self.rings().check_held(once((ring, oldest))),
                    Slots::Any { .. } => {
                        self.rings().check_held(index.iter().map(|index| (index.env as usize, index.number)))
                    }
                }
            }
            How::Stacks => self.frames(column)?.gather(index, layout, out),
        }
    }

    /// Writes B sequences of one column, `[B, len, stack, ...]`: the rows of each run, then zeros up to `len`.
    ///
    /// Errors: as [`View::gather`]; `Range` for a run longer than `len`. Nothing is written then.
    pub fn gather_runs(&self, column: usize, runs: &[Run], len: usize, layout: Layout, out: ElementsMut<'_>) -> Result {
        let description = self.config.column(column)?;
        let how = self.how(description, layout, &out)?;
        check_out(description, runs.len().saturating_mul(len), out.len())?;
        for run in runs {
            self.check_run_stacks(run, len, description.stack())?;
        }
        fence(Ordering::Acquire);
        let mut rest = out;
        for run in runs {
            let (mut to, others) = rest.split_at(len.saturating_mul(description.read_len())).ok_or(SHAPE)?;
            rest = others;
            match how {
                How::Rows => {
                    self.copy_run(column, run, to.into_bytes())?;
                    let first = (run.len > 0).then_some((run.env as usize, run.number));
                    self.rings().check_held(first.into_iter())?;
                }
                How::Stacks => {
                    let frames = self.frames(column)?;
                    for i in 0..run.len {
                        let (stack, others) = to.split_at(description.read_len()).ok_or(SHAPE)?;
                        frames.stack(run.env as usize, run.number.saturating_add(i.into()), layout, stack)?;
                        to = others;
                    }
                    to.into_bytes().fill(0);
                }
            }
        }
        Ok(())
    }

    /// Every row of a run of at most `len` is held, and with `stacks` all rows that their stacks read. Errors: `Range`.
    pub fn check_run(&self, run: &Run, len: usize, stacks: bool) -> Result {
        self.check_run_stacks(run, len, if stacks { self.config.max_stack() } else { 1 })
    }

    fn check_run_stacks(&self, run: &Run, len: usize, num_stack: usize) -> Result {
        if run.len as usize > len {
            return Err(Error::new(Kind::Range, "table: a run of rows up to").needed(len).given(run.len as usize));
        }
        let Some(more) = run.len.checked_sub(1) else { return Ok(()) };
        let ring = run.env as usize;
        let held = self.held(ring)?;
        let first = self.place(ring, &held, run.number)?;
        self.place(ring, &held, run.number.saturating_add(more.into()))?;
        // The stacks of the first row reach back furthest.
        let age = *self.age.get(first).ok_or(SHAPE)?;
        let oldest = oldest_at(age.into(), run.number, num_stack);
        if oldest >= held.start { Ok(()) } else { Err(FORGOTTEN.needed(held.start as usize).given(oldest as usize)) }
    }

    /// Number of the oldest row that a stack of `num_stack` reads.
    fn oldest_of(&self, ring: usize, number: u64, num_stack: usize) -> Result<u64> {
        Ok(oldest_at(self.age_of(ring, number)?, number, num_stack))
    }

    fn how(&self, column: &Column, layout: Layout, out: &ElementsMut<'_>) -> Result<How> {
        let (kind, wanted) = (column.element()?, out.kind());
        let planes = layout == Layout::Chw && column.channels > 1;
        match (kind, wanted) {
            (Element::U8, Element::F32) => Ok(How::Stacks),
            (Element::U8, Element::U8) if column.stack() > 1 || planes => Ok(How::Stacks),
            _ if kind == wanted => Ok(How::Rows),
            _ => Err(Error::new(Kind::Shape, "table: elements of the column's kind, or f32 for bytes")),
        }
    }

    fn age_of(&self, ring: usize, number: u64) -> Result<usize> {
        Ok(self.age.get(self.at(ring, number)?).copied().ok_or(SHAPE)?.into())
    }

    fn bytes(&self, column: usize) -> Result<&'a [u8]> {
        self.columns.get(column).copied().ok_or(SHAPE)
    }

    /// A column of bytes as rings of frames.
    fn frames(&self, column: usize) -> Result<lazy_frames::View<'a>> {
        let description = self.config.column(column)?;
        let channels = description.channels.max(1);
        let config = LazyFramesConfig {
            num_envs: self.config.num_rings,
            num_frames: self.config.num_rows,
            height: description.len.checked_div(channels).unwrap_or(0),
            width: 1,
            channels,
            num_stack: description.num_stack.max(1),
        };
        let (pushed, writing, age) = (self.pushed, self.writing, self.age);
        Ok(lazy_frames::View { config, pushed, writing, age, frames: self.bytes(column)? })
    }

    fn copy_run(&self, column: usize, run: &Run, out: &mut [u8]) -> Result {
        let (size, num_rows) = (self.config.column(column)?.row_size(), self.config.num_rows as usize);
        let ring = block::rows(self.bytes(column)?, (run.env as usize).saturating_mul(num_rows), num_rows, size)?;
        let (early, late) = ring.split_at_checked(slot_of(run.number, num_rows).saturating_mul(size)).ok_or(SHAPE)?;
        let len = (run.len as usize).saturating_mul(size);
        let (to, zeros) = out.split_at_mut_checked(len).ok_or(SHAPE)?;
        let (to, wrapped) = to.split_at_mut(len.min(late.len()));
        block::copy(to, late);
        block::copy(wrapped, early);
        zeros.fill(0);
        Ok(())
    }

    /// Every row is held. Errors: `Range`.
    fn slots(&self, index: &[FrameIndex]) -> Result<Slots> {
        if let Some(slots) = Slots::of_one_ring(self, index) {
            return Ok(slots);
        }
        // One pass without early exits decides, a second one only names the culprit.
        let num_rows = self.config.num_rows.into();
        let wrong = index.iter().fold(0, |wrong, index| {
            let pushed = self.pushed.get(index.env as usize).map_or(0, |word| word.load(Ordering::Relaxed));
            let newer = pushed.wrapping_sub(1).wrapping_sub(index.number);
            wrong | index.reserved | u32::from(newer >= pushed.min(num_rows))
        });
        if wrong != 0 {
            for index in index {
                if index.reserved != 0 {
                    let what = "table: an index whose reserved is 0";
                    return Err(Error::new(Kind::Range, what).given(index.reserved as usize));
                }
                self.at(index.env as usize, index.number)?;
            }
        }
        Ok(Slots::Any { reciprocal: u64::MAX.checked_div(num_rows).unwrap_or(0), num_rows })
    }

    fn copy_rows(&self, column: usize, index: &[FrameIndex], slots: &Slots, out: &mut [u8]) -> Result {
        let (size, bytes) = (self.config.column(column)?.row_size(), self.bytes(column)?);
        let copy = match size {
            1 => scatter::<1>,
            4 => scatter::<4>,
            8 => scatter::<8>,
            16 => scatter::<16>,
            5..8 => scatter_ends::<4>,
            9..16 => scatter_ends::<8>,
            17..=32 => scatter_ends::<16>,
            33..=64 => scatter_ends::<32>,
            _ => scatter_any,
        };
        let (mut rest, mut places) = (out, [0; TILE]);
        for index in index.chunks(TILE) {
            cpu::dispatch(Find { slots, index, places: &mut places });
            // Of shorter rows the processor sees many at once by itself.
            if size > 16 {
                for place in places.iter().take(index.len()) {
                    let begin = place.wrapping_mul(size);
                    cpu::prefetch(bytes, begin);
                    cpu::prefetch(bytes, begin.wrapping_add(size).wrapping_sub(1));
                }
            }
            let (to, others) = rest.split_at_mut_checked(index.len().saturating_mul(size)).ok_or(SHAPE)?;
            rest = others;
            copy(bytes, size, &places, to);
        }
        Ok(())
    }
}

/// Number of the oldest row that a stack of `num_stack` reads at a row of this age.
fn oldest_at(age: usize, number: u64, num_stack: usize) -> u64 {
    number.saturating_sub(age.min(num_stack.saturating_sub(1)) as u64)
}

/// Rows whose places are found before the first of them is copied, so that the processor waits for many at once.
const TILE: usize = 128;

/// How numbers of rows that are held become places in arrays `[R, num_rows]`, without a division for each.
enum Slots {
    /// All rows are of one ring: its first place, the number of the row in it, and of the oldest row that is asked for.
    One { ring: usize, base: usize, lap: u64, num_rows: u64, oldest: u64 },
    /// Of any rings: 2^64 - 1 divided by the rows of each.
    Any { reciprocal: u64, num_rows: u64 },
}

impl Slots {
    /// If all these rows are of one ring, and held.
    fn of_one_ring(view: &View<'_>, index: &[FrameIndex]) -> Option<Self> {
        let ring = index.first()?.env as usize;
        let held = view.held(ring).ok()?;
        let last = held.end.checked_sub(1)?;
        // Numbers are below 2^63, so one outside the range is negative itself or leaves a negative difference.
        let (outside, other, oldest) =
            cpu::dispatch(Strays { words: bytemuck::cast_slice(index), start: held.start, last });
        let other = other | u64::from(index.first()?.reserved);
        let (num_rows, base) = (view.config.num_rows.into(), ring.saturating_mul(view.config.num_rows as usize));
        let lap = held.end.wrapping_sub(held.end.checked_rem(num_rows)?);
        (outside >> 63 == 0 && other == 0).then_some(Slots::One { ring, base, lap, num_rows, oldest })
    }

    /// Places of up to [`TILE`] rows.
    #[inline(always)]
    fn find(&self, index: &[FrameIndex], places: &mut [usize; TILE]) {
        let places = places.iter_mut().zip(index);
        match *self {
            Slots::One { base, lap, num_rows, .. } => {
                for (place, index) in places {
                    let slot = index.number.wrapping_sub(lap);
                    let slot = if index.number < lap { slot.wrapping_add(num_rows) } else { slot };
                    *place = base.wrapping_add(slot as usize);
                }
            }
            Slots::Any { reciprocal, num_rows } => {
                for (place, index) in places {
                    let product = u128::from(index.number).wrapping_mul(reciprocal.into());
                    // The quotient or one less.
                    let quotient = (product >> 64) as u64;
                    let slot = index.number.wrapping_sub(quotient.wrapping_mul(num_rows));
                    let slot = if slot < num_rows { slot } else { slot.wrapping_sub(num_rows) };
                    *place = (index.env as usize).wrapping_mul(num_rows as usize).wrapping_add(slot as usize);
                }
            }
        }
    }
}

/// Rows named by number and ring, of which none should be before `start`, behind `last` or of another ring than the first.
struct Strays<'a> {
    words: &'a [[u64; 2]],
    start: u64,
    last: u64,
}

impl Kernel for Strays<'_> {
    /// Negative as a signed number if one is outside; nonzero if one is of another ring; the lowest number.
    type Output = (u64, u64, u64);

    #[inline(always)]
    fn run(self) -> (u64, u64, u64) {
        let same = self.words.first().map_or(0, |[_, env]| *env);
        let (mut outside, mut other, mut oldest) = (0, 0, u64::MAX);
        for [number, env] in self.words {
            outside |= number | self.last.wrapping_sub(*number) | number.wrapping_sub(self.start);
            other |= env ^ same;
            oldest = oldest.min(*number);
        }
        (outside, other, oldest)
    }
}

/// [`Slots::find`], dispatched.
struct Find<'a> {
    slots: &'a Slots,
    index: &'a [FrameIndex],
    places: &'a mut [usize; TILE],
}

impl Kernel for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.slots.find(self.index, self.places);
    }
}

/// Copies rows of a size that is known here.
#[inline(never)]
fn scatter<const W: usize>(rows: &[u8], _: usize, places: &[usize; TILE], out: &mut [u8]) {
    let (rows, out) = (rows.as_chunks::<W>().0, out.as_chunks_mut::<W>().0);
    for (to, place) in out.iter_mut().zip(places) {
        if let Some(row) = rows.get(*place) {
            *to = *row;
        }
    }
}

/// Copies rows of `W` to `2 * W` bytes.
#[inline(never)]
fn scatter_ends<const W: usize>(rows: &[u8], size: usize, places: &[usize; TILE], out: &mut [u8]) {
    let mut rest = out;
    for place in places {
        let Some((to, others)) = rest.split_at_mut_checked(size) else { return };
        rest = others;
        if let Ok(row) = block::rows(rows, *place, 1, size) {
            ends::<W>(row, to);
        }
    }
}

/// Copies rows of any size.
#[inline(never)]
fn scatter_any(rows: &[u8], size: usize, places: &[usize; TILE], out: &mut [u8]) {
    let mut rest = out;
    for place in places {
        let Some((to, others)) = rest.split_at_mut_checked(size) else { return };
        rest = others;
        if let Ok(row) = block::rows(rows, *place, 1, size) {
            copy_row(row, to);
        }
    }
}

/// Copies a row in few pieces, the last of which overlaps the one before it.
#[inline(always)]
fn copy_row(row: &[u8], to: &mut [u8]) {
    const LONG: usize = 256;
    match row.len() {
        0..4 | LONG.. => block::copy(to, row),
        4..8 => ends::<4>(row, to),
        8..16 => ends::<8>(row, to),
        16..LONG => {
            for (to, from) in to.as_chunks_mut::<16>().0.iter_mut().zip(row.as_chunks::<16>().0) {
                *to = *from;
            }
            ends::<16>(row, to);
        }
    }
}

/// Copies the first and the last `W` bytes of a row.
#[inline(always)]
fn ends<const W: usize>(row: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (row.first_chunk::<W>(), to.first_chunk_mut::<W>()) {
        *to = *from;
    }
    if let (Some(from), Some(to)) = (row.last_chunk::<W>(), to.last_chunk_mut::<W>()) {
        *to = *from;
    }
}

/// How rows become what is asked for.
#[derive(Clone, Copy)]
enum How {
    /// As they were pushed.
    Rows,
    /// Stacked, converted or with their channels apart.
    Stacks,
}

fn check_out(column: &Column, rows: usize, len: usize) -> Result {
    let needed = rows.saturating_mul(column.read_len());
    let what = "table: out with elements for every row as it is read,";
    if len == needed { Ok(()) } else { Err(Error::new(Kind::Shape, what).needed(needed).given(len)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_ring_know_the_oldest_of_them() {
        let words = [[7, 0], [3, 0], [9, 0], [4, 0], [8, 0]];
        let strays = |words, start, last| {
            let (outside, other, oldest) = Strays { words, start, last }.run();
            (outside >> 63, other, oldest)
        };
        assert_eq!(strays(&words, 3, 9), (0, 0, 3));
        assert_eq!((strays(&words, 4, 9).0, strays(&words, 3, 8).0), (1, 1));
        assert_eq!(strays(&words[2..], 4, 9), (0, 0, 4));
    }
}
