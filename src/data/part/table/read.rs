//! Reading the rows of a table.

use bytemuck::{Pod, Zeroable};
use core::iter::once;
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use super::scatter::Slots;
use super::{Column, RING, SHAPE, View, slot_of};
use crate::block::{self, shared};
use crate::cpu::Word;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::stack::Layout;
use crate::space::{Element, Elements, ElementsMut};

const FORGOTTEN: Error = Error::new(Kind::Range, "table: rows that are still held, from number");

/// Row `number` of ring `env`; rings are numbered by environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FrameIndex {
    /// Number of the row, as `push` returned it.
    pub number: u64,
    /// Number of the ring.
    pub env: u32,
    /// Zero.
    pub reserved: u32,
}

impl FrameIndex {
    /// Row `number` of ring `env`.
    pub const fn new(env: u32, number: u64) -> Self {
        FrameIndex { number, env, reserved: 0 }
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
    /// The counters of the rings, for readers concurrent with a writer.
    #[inline]
    pub fn rings(&self) -> shared::Rings<'a> {
        shared::Rings { pushed: self.pushed, writing: self.writing, num_rows: self.config.num_rows }
    }

    /// Numbers of the rows held by a ring. Errors: `Range`.
    #[inline]
    pub fn held(&self, ring: usize) -> Result<Range<u64>> {
        let pushed = self.pushed.get(ring).ok_or(RING.needed(self.pushed.len()).given(ring))?.load(Ordering::Acquire);
        Ok(pushed.saturating_sub(self.config.num_rows.into())..pushed)
    }

    /// Numbers of the rows that may be drawn: a ring still holds their stacks in every column. Errors: `Range`.
    pub fn whole(&self, ring: usize) -> Result<Range<u64>> {
        let (held, num_rows) = (self.held(ring)?, self.config.num_rows as usize);
        let ages = block::rows(self.age, ring, 1, num_rows)?;
        // If a row has its stacks, all later rows have theirs. The search takes at most 15 steps, even if it reads ages that a
        // concurrent writer has put into these slots.
        let is_whole = |&number: &u64| {
            let age = ages.get(slot_of(number, num_rows)).copied().unwrap_or(0);
            oldest_at(age.into(), number, self.config.max_stack()) >= held.start
        };
        let start = (held.start..held.end).find(is_whole).unwrap_or(held.end);
        Ok(start..held.end)
    }

    /// Whether a ring still holds all rows in the stacks of row `number`. Errors: `Range` if the row itself is not held.
    pub fn is_whole(&self, ring: usize, number: u64) -> Result<bool> {
        Ok(self.stack_start(ring, number)? >= self.held(ring)?.start)
    }

    /// Number of the oldest row in the stacks of row `number`, held or not; `number` without stacks.
    /// Errors: `Range` if the row itself is not held.
    pub fn stack_start(&self, ring: usize, number: u64) -> Result<u64> {
        self.oldest_of(ring, number, self.config.max_stack())
    }

    /// Whether a row starts an episode. Errors: `Range` if it is not held.
    pub fn is_first(&self, ring: usize, number: u64) -> Result<bool> {
        Ok(self.age_of(ring, number)? == 0)
    }

    /// Index of a row in arrays `[R, num_rows]` that the owner keeps beside the columns.
    /// Errors: `Range` if it is not held.
    #[inline]
    pub fn at(&self, ring: usize, number: u64) -> Result<usize> {
        self.place(ring, &self.held(ring)?, number)
    }

    /// As [`View::at`], for a ring that holds the rows `held`.
    #[inline]
    fn place(&self, ring: usize, held: &Range<u64>, number: u64) -> Result<usize> {
        let what = "table: a row that was pushed, of a number below";
        Error::limit(Kind::Range, what, held.end as usize, number as usize).fail_if(number >= held.end)?;
        check_start(held, number)?;
        let num_rows = self.config.num_rows as usize;
        Ok(ring.saturating_mul(num_rows).saturating_add(slot_of(number, num_rows)))
    }

    /// One row of one column as pushed; with stacks, its newest frame. Errors: `Range` if it is not held.
    pub fn row(&self, column: usize, ring: usize, number: u64) -> Result<Elements<'a>> {
        let (kind, size) = (self.config.column(column)?.element()?, self.config.column(column)?.row_size());
        let bytes = block::rows(self.bytes(column)?, self.at(ring, number)?, 1, size)?;
        Elements::of_bytes(kind, bytes)
    }

    /// Writes B rows of one column, `[B, stack, ...]` in this layout: elements of its kind, or bytes as f32 from 0 to 1, x / 255.
    /// Without stacks and channels all layouts are the same.
    ///
    /// Errors: `Range` for the column, or if a row or a frame of its stack is not held; `Shape`. Nothing is written then. Also
    /// `Range` if a concurrent writer has overwritten a row meanwhile; the output is invalid then.
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
            How::Stacks => self.gather_stacks(column, index, layout, out),
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
                    for i in 0..run.len {
                        let (stack, others) = to.split_at(description.read_len()).ok_or(SHAPE)?;
                        let index = FrameIndex::new(run.env, run.number.saturating_add(i.into()));
                        self.gather_stacks(column, &[index], layout, stack)?;
                        to = others;
                    }
                    to.into_bytes().fill(0);
                }
            }
        }
        Ok(())
    }

    /// Copies the rows of a run as pushed; with stacks, only the newest frames. `out`: `[len, row_size]` bytes; `first`: `[len]`,
    /// set to 1 where a row starts an episode, else 0.
    /// Errors: `Range` for the column, or if a row is not held; `Shape`. Nothing is written then.
    pub fn read_run(&self, column: usize, run: &Run, out: &mut [u8], first: &mut [u8]) -> Result {
        let (size, len) = (self.config.column(column)?.row_size(), run.len as usize);
        check_len("table: first [len],", first, len)?;
        check_len("table: rows [len, row_size] of bytes,", out, len.saturating_mul(size))?;
        self.check_run_stacks(run, len, 1)?;
        fence(Ordering::Acquire);
        if !first.is_empty() {
            self.copy_run(column, run, out)?;
        }
        for (first, number) in first.iter_mut().zip(run.number..) {
            *first = self.is_first(run.env as usize, number)?.into();
        }
        self.rings().check_held((len > 0).then_some((run.env as usize, run.number)).into_iter())
    }

    /// Checks that a run has at most `len` rows, that all are held, and with `stacks` all rows of their stacks. Errors: `Range`.
    pub fn check_run(&self, run: &Run, len: usize, stacks: bool) -> Result {
        self.check_run_stacks(run, len, if stacks { self.config.max_stack() } else { 1 })
    }

    fn check_run_stacks(&self, run: &Run, len: usize, num_stack: usize) -> Result {
        let what = "table: a run of rows up to";
        Error::limit(Kind::Range, what, len, run.len as usize).fail_if(run.len as usize > len)?;
        let Some(more) = run.len.checked_sub(1) else { return Ok(()) };
        let ring = run.env as usize;
        let held = self.held(ring)?;
        let first = self.place(ring, &held, run.number)?;
        self.place(ring, &held, run.number.saturating_add(more.into()))?;
        // The stacks of the first row reach back furthest.
        let age = *self.age.get(first).ok_or(SHAPE)?;
        check_start(&held, oldest_at(age.into(), run.number, num_stack)).map(|_| ())
    }

    /// As [`View::oldest_of`]. Errors: `Range` if that row is not held.
    pub(super) fn held_start(&self, ring: usize, number: u64, num_stack: usize) -> Result<u64> {
        let oldest = self.oldest_of(ring, number, num_stack)?;
        check_start(&self.held(ring)?, oldest)
    }

    /// Number of the oldest row in a stack of `num_stack` rows that ends at row `number`.
    pub(super) fn oldest_of(&self, ring: usize, number: u64, num_stack: usize) -> Result<u64> {
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

    pub(super) fn bytes(&self, column: usize) -> Result<&'a [u8]> {
        self.columns.get(column).copied().ok_or(SHAPE)
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
}

/// Number of the oldest row in a stack of `num_stack` rows that ends at row `number`, which has this age.
fn oldest_at(age: usize, number: u64, num_stack: usize) -> u64 {
    number.saturating_sub(age.min(num_stack.saturating_sub(1)) as u64)
}

/// Returns `oldest`, unless it is before the rows held. Errors: `Range`.
fn check_start(held: &Range<u64>, oldest: u64) -> Result<u64> {
    let forgotten = FORGOTTEN.needed(held.start as usize).given(oldest as usize);
    if oldest >= held.start { Ok(oldest) } else { Err(forgotten) }
}

/// Conversion of rows for output.
#[derive(Clone, Copy)]
enum How {
    /// Copied as pushed.
    Rows,
    /// Stacked, converted to f32, or split into channel planes.
    Stacks,
}

pub(super) fn check_out(column: &Column, rows: usize, len: usize) -> Result {
    let needed = rows.saturating_mul(column.read_len());
    let what = "table: out with elements for every row as it is read,";
    if len == needed { Ok(()) } else { Err(Error::limit(Kind::Shape, what, needed, len)) }
}
