//! Stacks of a column of bytes: every frame is stored once and combined with others when it is read.

use core::iter::once;
use core::sync::atomic::{Ordering, fence};

use super::RESERVED;
use super::read::check_out;
use super::{Column, FrameIndex, SHAPE, View, slot_of};
use crate::block;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::stack::{self, Convert, Layout, Window};
use crate::space::ElementsMut;

const KIND: Error = Error::new(Kind::Shape, "table: stacks of one kind, u8 or f32");

impl<'a> View<'a> {
    /// Writes the numbers of the rows in a stack of this column, oldest first; `numbers` is `[num_stack]`.
    /// Errors: `Range` for the column, or if a row is not held; `Shape`. Nothing is written then.
    pub fn stack_numbers(&self, column: usize, ring: usize, number: u64, numbers: &mut [u64]) -> Result {
        let num_stack = self.config.column(column)?.stack();
        check_len("table: numbers [num_stack],", numbers, num_stack)?;
        let oldest = self.held_start(ring, number, num_stack)?;
        for (back, to) in (0..).zip(numbers.iter_mut().rev()) {
            *to = number.saturating_sub(back).max(oldest);
        }
        self.rings().check_held(once((ring, oldest)))
    }

    /// Writes observations and next observations of B transitions, both `[B, stack, ...]` and of one kind: `index` is the row of
    /// the observation, and the next observation is the row after it. Shared frames are read once.
    ///
    /// Errors: as [`View::gather`], for a column of bytes; `Range` if a row is the last of its episode. Nothing is written then.
    pub fn gather_transitions(
        &self,
        column: usize,
        index: &[FrameIndex],
        layout: Layout,
        obs: ElementsMut<'_>,
        next_obs: ElementsMut<'_>,
    ) -> Result {
        let windows = self.windows(column, 1)?;
        check_out(windows.column, index.len(), obs.len())?;
        check_out(windows.column, index.len(), next_obs.len())?;
        for index in index {
            windows.start(index)?;
            if self.is_first(index.env as usize, index.number.saturating_add(1))? {
                let what = "table: a row that is followed by another of its episode; not so number";
                return Err(Error::new(Kind::Range, what).given(index.number as usize));
            }
        }
        fence(Ordering::Acquire);
        match (obs, next_obs) {
            (ElementsMut::U8(obs), ElementsMut::U8(next_obs)) => windows.fill_pairs(index, layout, obs, next_obs)?,
            (ElementsMut::F32(obs), ElementsMut::F32(next_obs)) => windows.fill_pairs(index, layout, obs, next_obs)?,
            _ => return Err(KIND),
        }
        windows.check_held(index)
    }

    /// Writes the stacks of B rows of a column of bytes; `out` has their length. Errors: `Range`; nothing is written then.
    pub(super) fn gather_stacks(
        &self,
        column: usize,
        index: &[FrameIndex],
        layout: Layout,
        out: ElementsMut<'_>,
    ) -> Result {
        let windows = self.windows(column, 0)?;
        for index in index {
            windows.start(index)?;
        }
        fence(Ordering::Acquire);
        match out {
            ElementsMut::U8(out) => windows.fill(index, layout, out)?,
            ElementsMut::F32(out) => windows.fill(index, layout, out)?,
            ElementsMut::I32(_) => return Err(KIND),
        }
        windows.check_held(index)
    }

    /// The windows of a column: its stacks and `after` more rows.
    fn windows(&self, column: usize, after: usize) -> Result<Windows<'a>> {
        let (column, bytes) = (self.config.column(column)?, self.bytes(column)?);
        Ok(Windows { view: *self, column, bytes, after: after as u64, len: column.stack().saturating_add(after) })
    }
}

/// Windows of `len` frames of a column, read together; the last frame is `after` rows behind the indexed row.
struct Windows<'a> {
    view: View<'a>,
    column: &'a Column,
    bytes: &'a [u8],
    after: u64,
    len: usize,
}

impl<'a> Windows<'a> {
    /// Number of the oldest row of a window. Errors: `Range` if one of its rows is not held.
    fn start(&self, index: &FrameIndex) -> Result<u64> {
        RESERVED.given(index.reserved as usize).fail_if(index.reserved != 0)?;
        self.view.held_start(index.env as usize, index.number.saturating_add(self.after), self.len)
    }

    /// Checks after a copy that the windows are still held.
    fn check_held(&self, index: &[FrameIndex]) -> Result {
        let rings = self.view.rings();
        for index in index {
            let (ring, newest) = (index.env as usize, index.number.saturating_add(self.after));
            // If the row was overwritten, this is the age of another one, and the check refuses the row.
            let oldest = self.view.oldest_of(ring, newest, self.len).unwrap_or(newest);
            rings.check_held(once((ring, oldest)))?;
        }
        Ok(())
    }

    /// The frames of a window; those before the start of the episode repeat its first frame.
    fn frames(&self, index: &FrameIndex) -> Result<Window<'a, u8>> {
        let (num_rows, size) = (self.view.config.num_rows as usize, self.column.row_size());
        let oldest = self.start(index)?;
        let reach = index.number.saturating_add(self.after).saturating_sub(oldest);
        let first = (index.env as usize).saturating_mul(num_rows);
        let (mut window, mut slot) = (Window::new(), slot_of(oldest, num_rows));
        for left in (0..self.len as u64).rev() {
            window.push(block::rows(self.bytes, first.saturating_add(slot), 1, size)?)?;
            if left <= reach {
                slot = slot.wrapping_add(1);
                slot = if slot < num_rows { slot } else { 0 };
            }
        }
        Ok(window)
    }

    fn channels(&self) -> usize {
        self.column.channels.max(1) as usize
    }

    fn fill<U: Convert<u8>>(&self, index: &[FrameIndex], layout: Layout, out: &mut [U]) -> Result {
        let mut rest = out;
        for index in index {
            let out = rest.split_off_mut(..self.column.read_len()).ok_or(SHAPE)?;
            stack::stack(&self.frames(index)?, self.channels(), layout, out)?;
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
        let (len, mut rest, mut next_rest) = (self.column.read_len(), obs, next_obs);
        for index in index {
            let (obs, others) = rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            let (next_obs, next_others) = next_rest.split_at_mut_checked(len).ok_or(SHAPE)?;
            stack::pair(&self.frames(index)?, self.channels(), layout, obs, next_obs)?;
            (rest, next_rest) = (others, next_others);
        }
        Ok(())
    }
}
