//! Consecutive spans: the size of a block and its layout come from the same code.

use bytemuck::{Pod, Zeroable};
use core::marker::PhantomData;

use crate::error::{Error, Kind};

/// Blocks start on a multiple of this.
pub const BLOCK_ALIGN: usize = 8;

/// Fields start on a multiple of this, counted from the base: no two share a cache line.
pub const FIELD_ALIGN: usize = 64;

/// A plan that the address space cannot hold. Carries no details, so that a long plan compiles to little code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl From<TooLong> for Error {
    fn from(_: TooLong) -> Error {
        Error::new(Kind::Overflow, "a block that fits the address space")
    }
}

/// Memory that does not match its plan; impossible in an accepted block. Carries no details, as [`TooLong`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutError;

/// A part of a block, if the block matches its plan.
pub type Fit<T> = Result<T, LayoutError>;

impl From<LayoutError> for Error {
    fn from(_: LayoutError) -> Error {
        Error::new(Kind::Size, "block: an aligned start, and bytes up to the end of every field")
    }
}

/// The place of one array in a block. Plain data, equal on all machines: a block may store its own plan.
#[derive(Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Span<T> {
    /// Byte offset from the base of the block, and number of elements.
    lies: [u64; 2],
    element: PhantomData<T>,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

impl<T> Span<T> {
    /// `len` elements from byte `start` on.
    pub(super) const fn at(start: usize, len: usize) -> Span<T> {
        Span { lies: [start as u64, len as u64], element: PhantomData }
    }

    /// Byte offset from the base of the block.
    pub const fn start(&self) -> usize {
        self.lies[0] as usize
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.lies[1] as usize
    }

    /// True if the array has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Adds spans one after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    end: usize,
}

impl Plan {
    /// The next array, of `len` elements.
    #[inline]
    pub fn span<T: Pod>(&mut self, len: usize) -> Result<Span<T>, TooLong> {
        let span = self.next(len);
        self.check()?;
        Ok(span)
    }

    /// [`Plan::span`] without the check, for a plan that is checked when it is complete.
    #[cfg_attr(feature = "avx2", inline)]
    #[cfg_attr(not(feature = "avx2"), inline(never))]
    pub(super) fn next<T: Pod>(&mut self, len: usize) -> Span<T> {
        let start = self.bytes(len, size_of::<T>());
        Span::at(start, len)
    }

    /// Whether all arrays so far fit the address space.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), TooLong> {
        if self.end <= isize::MAX as usize { Ok(()) } else { Err(TooLong) }
    }

    /// The next array, of `rows` times `width` elements.
    #[inline]
    pub fn grid<T: Pod>(&mut self, rows: usize, width: usize) -> Result<Span<T>, TooLong> {
        // A product that overflows is too long for any element.
        self.span(rows.saturating_mul(width))
    }

    /// Bytes from the base to the end of the last array, rounded up to whole fields.
    pub fn size(&self) -> Result<usize, TooLong> {
        self.check()?;
        self.end.checked_next_multiple_of(FIELD_ALIGN).ok_or(TooLong)
    }

    /// Start of the next array, of `len` elements of `size` bytes. An array that does not fit ends beyond `isize::MAX`, and so
    /// do all arrays behind it.
    #[inline]
    fn bytes(&mut self, len: usize, size: usize) -> usize {
        let start = self.end.saturating_add(FIELD_ALIGN.wrapping_sub(1)) & !FIELD_ALIGN.wrapping_sub(1);
        self.end = start.saturating_add(len.saturating_mul(size));
        start
    }
}

/// Hands out the spans of a plan as disjoint slices, in the order of the plan.
pub struct Cutter<'a> {
    rest: &'a mut [u8],
    at: usize,
}

impl<'a> Cutter<'a> {
    /// Starts at the base of a block.
    pub fn new(block: &'a mut [u8]) -> Self {
        Cutter { rest: block, at: 0 }
    }

    /// The array of this span. Spans are taken in the order of the plan; some may be skipped.
    #[inline]
    pub fn take<T: Pod>(&mut self, span: Span<T>) -> Fit<&'a mut [T]> {
        let array = self.next(span);
        self.check()?;
        Ok(array)
    }

    /// [`Cutter::take`] without the check, for callers that check after the last array: one that does not fit is empty. Where
    /// an empty array lies does not matter.
    #[inline(never)]
    pub(super) fn next<T: Pod>(&mut self, span: Span<T>) -> &'a mut [T] {
        // Most of a learner's arrays, since its algorithm does not use them.
        if span.is_empty() {
            return &mut [];
        }
        let field = self.bytes(span.start(), span.len().saturating_mul(size_of::<T>()));
        match field.and_then(|field| bytemuck::try_cast_slice_mut(field).ok()) {
            Some(array) => array,
            None => {
                // All later spans fail: none starts this far, and no bytes are left.
                (self.rest, self.at) = (&mut [], usize::MAX);
                &mut []
            }
        }
    }

    /// Whether all arrays so far fit.
    #[inline]
    pub(crate) fn check(&self) -> Fit<()> {
        if self.at < usize::MAX { Ok(()) } else { Err(LayoutError) }
    }

    /// `len` bytes from `start`.
    #[inline(always)]
    fn bytes(&mut self, start: usize, len: usize) -> Option<&'a mut [u8]> {
        let rest = core::mem::take(&mut self.rest);
        let (_, rest) = rest.split_at_mut_checked(start.checked_sub(self.at)?)?;
        let (field, rest) = rest.split_at_mut_checked(len)?;
        self.rest = rest;
        self.at = start.saturating_add(len);
        Some(field)
    }
}

/// The array of a span, for reading.
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn view<T: Pod>(block: &[u8], span: Span<T>) -> Fit<&[T]> {
    let end = span.start().saturating_add(span.len().saturating_mul(size_of::<T>()));
    bytemuck::try_cast_slice(block.get(span.start()..end).ok_or(LayoutError)?).map_err(|_| LayoutError)
}

/// Elements `index * width ..` of an array of rows, `count` rows of them.
pub fn rows<T>(array: &[T], index: usize, count: usize, width: usize) -> Fit<&[T]> {
    let begin = index.saturating_mul(width);
    array.get(begin..begin.saturating_add(count.saturating_mul(width))).ok_or(LayoutError)
}

/// The same rows, for writing.
pub fn rows_mut<T>(array: &mut [T], index: usize, count: usize, width: usize) -> Fit<&mut [T]> {
    let begin = index.saturating_mul(width);
    array.get_mut(begin..begin.saturating_add(count.saturating_mul(width))).ok_or(LayoutError)
}

/// Copies as many elements as both arrays have.
pub fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Copies row `from` of an array of `count` rows to row `to`.
pub fn copy_row_within<T: Pod>(array: &mut [T], count: usize, from: usize, to: usize) -> Fit<()> {
    copy_bytes_within(bytemuck::cast_slice_mut(array), count, from, to)
}

/// `copy_row_within` for rows of any element type, as bytes.
#[inline(never)]
fn copy_bytes_within(array: &mut [u8], count: usize, from: usize, to: usize) -> Fit<()> {
    let width = array.len().checked_div(count).unwrap_or(0);
    let (front, back) = array.split_at_mut_checked(from.max(to).saturating_mul(width)).ok_or(LayoutError)?;
    let (front, back) = (rows_mut(front, from.min(to), 1, width), rows_mut(back, 0, 1, width)?);
    match from.cmp(&to) {
        core::cmp::Ordering::Less => copy(back, front?),
        core::cmp::Ordering::Equal => {}
        core::cmp::Ordering::Greater => copy(front?, back),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array that does not fit is noticed at the end, however much is planned or taken behind it.
    #[test]
    fn nothing_fits_behind_what_does_not() {
        for len in [usize::MAX, isize::MAX as usize / 8 + 1, usize::MAX / 8 + 1] {
            let mut plan = Plan::default();
            plan.next::<u64>(1);
            assert_eq!(plan.check(), Ok(()));
            plan.next::<u64>(len);
            for _ in 0..3 {
                plan.next::<u8>(0);
                plan.next::<u64>(1);
                assert_eq!((plan.check(), plan.size(), plan.span::<u8>(0)), (Err(TooLong), Err(TooLong), Err(TooLong)));
            }
        }
        let span = |start, len| Span { lies: [start, len], element: PhantomData };
        let misfits =
            [span(64, 25), span(257, 1), span(68, 1), span(u64::MAX, 1), span(u64::MAX, u64::MAX), span(0, 1)];
        for misfit in misfits {
            let mut block = [0u64; 32];
            let mut cut = Cutter::new(bytemuck::cast_slice_mut(&mut block));
            assert_eq!((cut.next::<u64>(span(0, 8)).len(), cut.check()), (8, Ok(())));
            assert!(cut.next::<u64>(misfit).is_empty());
            for start in [64, 128, u64::MAX] {
                assert!(cut.next::<u8>(Span { lies: [start, 1], element: PhantomData }).is_empty());
                assert!(cut.next::<u8>(Span { lies: [start, 0], element: PhantomData }).is_empty());
                assert_eq!((cut.check(), cut.take::<u64>(span(128, 1))), (Err(LayoutError), Err(LayoutError)));
            }
        }
        let mut block = [0u64; 32];
        let mut cut = Cutter::new(bytemuck::cast_slice_mut(&mut block));
        for start in [0, 7, 257, u64::MAX] {
            assert!(cut.next::<u64>(span(start, 0)).is_empty());
        }
        assert_eq!((cut.check(), cut.next::<u64>(span(0, 32)).len()), (Ok(()), 32), "empty arrays lie anywhere");
    }
    /// Rows of an array go up, down or stay; rows that are not there are refused, and an empty array has nothing to copy.
    #[test]
    fn rows_are_copied_within_their_array() {
        let copied = |from, to| {
            let mut array = [0u16, 1, 10, 11, 20, 21];
            copy_row_within(&mut array, 3, from, to).map(|()| array)
        };
        assert_eq!(copied(0, 2), Ok([0, 1, 10, 11, 0, 1]));
        assert_eq!(copied(2, 1), Ok([0, 1, 20, 21, 20, 21]));
        assert_eq!(copied(1, 1), Ok([0, 1, 10, 11, 20, 21]));
        assert_eq!((copied(0, 3), copied(3, 0), copied(3, 3)), (Err(LayoutError), Err(LayoutError), Err(LayoutError)));
        assert_eq!(
            (copy_row_within::<u16>(&mut [], 3, 0, 2), copy_row_within::<u16>(&mut [], 0, 0, 0)),
            (Ok(()), Ok(()))
        );
    }
}
