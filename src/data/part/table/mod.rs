//! Rows of named, typed columns in rings: the storage of every replay memory.
//!
//! A table is a part of a block, not a block: its owner plans it among its own fields, and keeps all other data about a row in
//! its own spans. Each of R rings holds its last `num_rows` rows, column after column. The rows of a ring are numbered from 0 and
//! numbers are never reused; row n is in slot `n % num_rows`.
//!
//! An image column stores each frame once and is read as stacks. Each row has one more byte, its age: the number of rows of its
//! episode before it. A stack needs nothing else: slots before the first frame of the episode repeat that frame, so no frame of
//! an earlier episode, and none from before the start, is ever needed.
//!
//! A writer announces the rows that it is about to push, and gathering checks afterwards that the copied rows are still held: see
//! [`shared`].
//!
//! ```
//! use rlcore::block::{Cutter, Plan};
//! use rlcore::data::table::{Column, FrameIndex, Table, TableConfig, spans};
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

use core::iter::{once, repeat};

use crate::block::{self, Cutter, Field, Fit, Plan, Span, TooLong, fields, shared};
use crate::error::{Error, Kind, Result};
use crate::space::Elements;

mod column;
mod read;
mod scatter;
mod stacks;

pub use column::{Column, MAX_COLUMNS, NAME_SIZE, TableConfig};
pub use read::{FrameIndex, Run};
use scatter::copy_row;

const RESERVED: Error = Error::new(Kind::Range, "table: an index whose reserved is 0");

fields! {
    /// Places of the fields of a table in its owner's block.
    pub spans Spans(columns: &[Column], rings: usize, rows: usize) {
        /// `[R]` rows pushed so far: the number of the next one.
        pub pushed: [u64] = rings,
        /// `[R]` rows that a writer is about to push, for concurrent readers; else 0.
        pub writing: [u32] = rings,
        /// `[R, num_rows]` rows of the same episode before this one, counted up to the longest stack, at least 1.
        pub age: [u8] = rows,
        /// `[R, num_rows, row_size]` bytes of each column, of length 0 beyond `num_columns`.
        pub columns: Columns = (columns, rows, rows),
    }
    /// Rings `[first, first + len)`, for writing: disjoint ranges share no byte, so they may go to different threads. The fields
    /// are public for callers that cut them from a raw block along [`spans`].
    #[derive(Debug)]
    pub write Table {
        /// Configuration of the table.
        pub config: &'a TableConfig,
        /// Number of the first ring.
        pub first: usize,
    }
    /// All rings, for reading by any number of threads. The fields are public for the same reason as those of [`Table`].
    #[derive(Clone, Copy, Debug)]
    pub read View {
        /// Configuration of the table.
        pub config: &'a TableConfig,
    }
}

/// Plans a table among the fields of its owner; a new table is all zero. Errors: `Config`, `Overflow`.
pub fn spans(plan: &mut Plan, config: &TableConfig) -> Result<Spans> {
    config.check()?;
    Ok(lay(plan, config)?)
}

/// As [`spans`], for a configuration that was checked when its block was accepted.
#[inline(always)]
pub fn lay(plan: &mut Plan, config: &TableConfig) -> core::result::Result<Spans, TooLong> {
    // A product that overflows is too long for any element.
    Spans::plan(plan, config.columns(), config.num_rings as usize, config.all_rows())
}

/// Places of the columns in a block; of length 0 beyond the last column.
pub type ColumnSpans = [Span<u8>; MAX_COLUMNS];

/// The bytes of every column as a field; its length is the columns, their rows, and the rows of column 0.
pub struct Columns;

impl Field for Columns {
    type Len<'a> = (&'a [Column], usize, usize);
    type Span = ColumnSpans;
    type Mut<'a> = [&'a mut [u8]; MAX_COLUMNS];
    type Ref<'a> = [&'a [u8]; MAX_COLUMNS];

    #[inline(always)]
    fn plan(plan: &mut Plan, (columns, rows, rows_of_0): Self::Len<'_>) -> core::result::Result<ColumnSpans, TooLong> {
        let mut spans = [Plan::default().span(0)?; MAX_COLUMNS];
        let rows = once(rows_of_0).chain(repeat(rows));
        for ((span, column), rows) in spans.iter_mut().zip(columns).zip(rows) {
            *span = plan.grid(rows, column.row_size())?;
        }
        Ok(spans)
    }

    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, spans: &ColumnSpans) -> Fit<Self::Mut<'a>> {
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
const RING: Error = Error::new(Kind::Range, "table: an environment below");

/// The slot of a row in its ring.
#[inline]
fn slot_of(number: u64, num_rows: usize) -> usize {
    number.checked_rem(num_rows as u64).unwrap_or(0) as usize
}

impl<'a> Table<'a> {
    /// As [`Table::cut`], and refuses contents that no sequence of calls can produce, or whose writer was stopped in the middle
    /// of a row. Errors: `Image`.
    pub fn attach(cut: &mut Cutter<'a>, config: &'a TableConfig, spans: &Spans) -> Result<Self> {
        let table = Self::cut(cut, spans, config, 0)?;
        table.check_image()?;
        Ok(table)
    }

    /// Number of rings.
    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.pushed.is_empty()
    }

    /// The same rings, for a shorter lifetime.
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

    /// Rings `begin..end`, counted from the first of these. Errors: `Range`.
    pub fn range(self, begin: usize, end: usize) -> Result<Table<'a>> {
        let what = "table: environments [begin, end) with begin <= end <= their number,";
        let refused = Error::limit(Kind::Range, what, self.len(), end);
        let (_, rest) = self.split_at(begin).ok_or(refused)?;
        let (rings, _) = rest.split_at(end.checked_sub(begin).ok_or(refused)?).ok_or(refused)?;
        Ok(rings)
    }

    /// The rings, for reading; a view of the whole table only if these are all its rings.
    pub fn view(&self) -> View<'_> {
        self.read(self.config)
    }

    /// Announces up to `rows` rows for each of `len` rings from `i` on, before the owner writes its own data of these rows.
    /// [`Table::end`] follows the last row.
    pub fn begin(&mut self, i: usize, len: usize, rows: u32) {
        shared::begin(self.writing.get_mut(i..i.saturating_add(len)).unwrap_or_default(), rows);
    }

    /// Withdraws the announcement: all announced rows are complete.
    pub fn end(&mut self, i: usize, len: usize) {
        shared::end(self.writing.get_mut(i..i.saturating_add(len)).unwrap_or_default());
    }

    /// Checks that [`Table::push`] would accept this row and `count - 1` more, before the owner writes its own data of them.
    /// Errors: as [`Table::push`].
    pub fn check(&self, i: usize, row: &[Elements<'_>], first: bool, count: u32) -> Result {
        self.check_row(row)?;
        self.check_ring(i, first, count)
    }

    /// Checks that the row has elements for each column.
    fn check_row(&self, row: &[Elements<'_>]) -> Result {
        let columns = self.config.columns();
        let what = "table: a row with elements for each column,";
        Error::limit(Kind::Shape, what, columns.len(), row.len()).fail_if(row.len() != columns.len())?;
        for (i, (column, elements)) in columns.iter().zip(row).enumerate() {
            let what = "table: elements of the kind that the column has; not so column";
            Error::new(Kind::Shape, what).given(i).fail_if(elements.kind() as u32 != column.kind)?;
            let what = "table: elements of a row in each column,";
            Error::limit(Kind::Shape, what, column.len as usize, elements.len())
                .fail_if(elements.len() != column.len as usize)?;
        }
        Ok(())
    }

    /// The part of [`Table::check`] for a row that was cut along the columns.
    #[inline]
    pub(in crate::data) fn check_ring(&self, i: usize, first: bool, count: u32) -> Result {
        let pushed = *self.pushed.get(i).ok_or(RING.needed(self.len()).given(i))?;
        let ring = self.first.saturating_add(i);
        let what = "table: the first row of an episode before others; not so environment";
        Error::new(Kind::NotReady, what).given(ring).fail_if(pushed == 0 && !first)?;
        let what = "table: fewer than 2^63 rows; not so environment";
        Error::new(Kind::Range, what).given(ring).fail_if(pushed > shared::LAST.saturating_sub(count.into()))
    }

    /// Index of the next row of ring `i`, counted from the first of these, in arrays `[rings, num_rows]`: the owner writes its
    /// own data of the row there before it pushes. Errors: `Range`.
    pub fn next_row(&self, i: usize) -> Result<usize> {
        let pushed = *self.pushed.get(i).ok_or(RING.needed(self.len()).given(i))?;
        let num_rows = self.config.num_rows as usize;
        Ok(i.saturating_mul(num_rows).saturating_add(slot_of(pushed, num_rows)))
    }

    /// Appends a row to ring `i`, counted from the first of these, and returns its number. `row`: elements for each column, of
    /// its kind and length. `first` starts an episode. A full ring drops its oldest row. With concurrent readers, call this
    /// between [`Table::begin`] and [`Table::end`].
    ///
    /// Errors: `Range`; `Shape`; `NotReady` for a ring without rows unless `first`. Nothing is written then.
    pub fn push(&mut self, i: usize, row: &[Elements<'_>], first: bool) -> Result<u64> {
        self.check(i, row, first, 1)?;
        self.put(i, row, first)
    }

    /// [`Table::push`] of a row that [`Table::check`] has accepted.
    pub(in crate::data) fn put(&mut self, i: usize, row: &[Elements<'_>], first: bool) -> Result<u64> {
        let age = if first {
            0
        } else {
            let number = *self.pushed.get(i).ok_or(SHAPE)?;
            let num_rows = self.config.num_rows as usize;
            let ages = block::rows(self.age, i, 1, num_rows)?;
            let before = ages.get(slot_of(number.saturating_sub(1), num_rows)).ok_or(SHAPE)?;
            before.saturating_add(1).min(self.config.max_stack() as u8)
        };
        self.put_aged(i, row, age)
    }

    /// [`Table::put`] with a known age: the rows of its episode before it, counted up to `max_stack`.
    #[inline(always)]
    pub(in crate::data) fn put_aged(&mut self, i: usize, row: &[Elements<'_>], age: u8) -> Result<u64> {
        let num_rows = self.config.num_rows as usize;
        let pushed = self.pushed.get_mut(i).ok_or(SHAPE)?;
        let number = *pushed;
        let slot = slot_of(number, num_rows);
        let ages = block::rows_mut(self.age, i, 1, num_rows)?;
        *ages.get_mut(slot).ok_or(SHAPE)? = age;
        let at = i.saturating_mul(num_rows).saturating_add(slot);
        for ((to, column), from) in self.columns.iter_mut().zip(self.config.columns()).zip(row) {
            let size = column.row_size();
            copy_row(from.bytes(), block::rows_mut(to, at, 1, size)?);
        }
        shared::count(pushed);
        Ok(number)
    }

    /// Refuses contents that no sequence of calls can produce, or whose writer was stopped in the middle of a row. Errors:
    /// `Image`.
    pub(in crate::data) fn check_image(&self) -> Result {
        shared::check_image(self.writing)?;
        let num_rows = self.config.num_rows as usize;
        let most = self.config.max_stack() as u8;
        let damaged = |what, ring| Error::new(Kind::Image, what).given(ring);
        for (ring, &pushed) in self.pushed.iter().enumerate() {
            damaged("table: fewer than 2^63 rows; not so environment", ring).fail_if(pushed > shared::LAST)?;
            let ages = block::rows(self.age, ring, 1, num_rows)?;
            let what = "table: ages that count the rows of an episode; not so environment";
            damaged(what, ring).fail_if(!ages_are_right(ages, pushed, most))?;
        }
        Ok(())
    }
}

/// Whether a sequence of `pushed` rows can produce these ages of a ring, counted up to `most`.
fn ages_are_right(ages: &[u8], pushed: u64, most: u8) -> bool {
    let held = pushed.min(ages.len() as u64);
    let oldest = pushed.saturating_sub(held);
    // In the order of row numbers: from the oldest to the end of the ring, then from its beginning.
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
