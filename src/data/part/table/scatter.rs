//! Copies of scattered rows of a column.

use core::sync::atomic::Ordering;

use super::RESERVED;
use super::{FrameIndex, SHAPE, View};
use crate::block;
use crate::cpu::{self, Kernel, Word};
use crate::error::Result;

impl View<'_> {
    /// Checks that every row is held, and returns the conversion to places. Errors: `Range`.
    pub(super) fn slots(&self, index: &[FrameIndex]) -> Result<Slots> {
        if let Some(slots) = Slots::of_one_ring(self, index) {
            return Ok(slots);
        }
        // A first pass without early exits decides; a second one only finds the row to report.
        let num_rows = self.config.num_rows.into();
        let wrong = index.iter().fold(0, |wrong, index| {
            let pushed = self.pushed.get(index.env as usize).map_or(0, |word| word.load(Ordering::Relaxed));
            let newer = pushed.wrapping_sub(1).wrapping_sub(index.number);
            wrong | index.reserved | u32::from(newer >= pushed.min(num_rows))
        });
        if wrong != 0 {
            for index in index {
                RESERVED.given(index.reserved as usize).fail_if(index.reserved != 0)?;
                self.at(index.env as usize, index.number)?;
            }
        }
        Ok(Slots::Any { reciprocal: u64::MAX.checked_div(num_rows).unwrap_or(0), num_rows })
    }

    pub(super) fn copy_rows(&self, column: usize, index: &[FrameIndex], slots: &Slots, out: &mut [u8]) -> Result {
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
            // The processor overlaps the loads of shorter rows by itself.
            if size > 16 {
                for place in places.iter().take(index.len()) {
                    let begin = place.wrapping_mul(size);
                    cpu::prefetch(bytes, begin);
                    cpu::prefetch(bytes, begin.wrapping_add(size).wrapping_sub(1));
                }
            }
            let to = rest.split_off_mut(..index.len().saturating_mul(size)).ok_or(SHAPE)?;
            copy(bytes, size, &places, to);
        }
        Ok(())
    }
}

/// Rows whose places are found before the first of them is copied, so that their cache misses overlap.
const TILE: usize = 128;

/// Conversion of the numbers of held rows to places in arrays `[R, num_rows]`, without a division per row.
pub(super) enum Slots {
    /// All rows are of one ring: `base` is its first place, `lap` the row number at that place in the current lap, `oldest` the
    /// lowest number wanted.
    One { ring: usize, base: usize, lap: u64, num_rows: u64, oldest: u64 },
    /// Rows of any rings: `reciprocal` is 2^64 - 1 divided by `num_rows`.
    Any { reciprocal: u64, num_rows: u64 },
}

impl Slots {
    /// The conversion, if all rows are of one ring and held.
    fn of_one_ring(view: &View<'_>, index: &[FrameIndex]) -> Option<Self> {
        let ring = index.first()?.env as usize;
        let held = view.held(ring).ok()?;
        let last = held.end.checked_sub(1)?;
        // Numbers are below 2^63, so one outside the range is itself negative or leaves a negative difference.
        let (outside, other, oldest) =
            cpu::dispatch(Strays { words: bytemuck::cast_slice(index), start: held.start, last });
        let other = other | u64::from(index.first()?.reserved);
        let (num_rows, base) = (view.config.num_rows.into(), ring.saturating_mul(view.config.num_rows as usize));
        let lap = held.end.wrapping_sub(held.end.checked_rem(num_rows)?);
        (outside >> 63 == 0 && other == 0).then_some(Slots::One { ring, base, lap, num_rows, oldest })
    }

    /// Writes the places of up to [`TILE`] rows.
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

/// Check of rows, as pairs of number and ring: none should be before `start`, after `last` or of another ring than the first.
struct Strays<'a> {
    words: &'a [[u64; 2]],
    start: u64,
    last: u64,
}

impl Kernel for Strays<'_> {
    /// Negative as a signed number if a row is outside; nonzero if one is of another ring; the lowest number.
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

/// Copies rows of `W` bytes, a size known at compile time.
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
        let Some(to) = rest.split_off_mut(..size) else { return };
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
        let Some(to) = rest.split_off_mut(..size) else { return };
        if let Ok(row) = block::rows(rows, *place, 1, size) {
            copy_row(row, to);
        }
    }
}

/// Copies a row in few pieces, the last of which overlaps the one before it.
#[inline(always)]
pub(super) fn copy_row(row: &[u8], to: &mut [u8]) {
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
