//! Arrays that share bytes.

use crate::status::{About, Result};
use rlcore::error::{Error, Kind, Name};

/// The bytes that an array covers, and its name in error messages.
#[derive(Clone, Copy)]
pub struct Extent {
    what: Name,
    start: usize,
    end: usize,
}

impl Extent {
    /// `size` bytes at `p`, without a check.
    #[inline]
    pub fn of(what: &'static str, p: *const u8, size: usize) -> Extent {
        let start = p.addr();
        Extent { what: Name::new(what), start, end: start.saturating_add(size) }
    }

    /// `len` elements of `size` bytes from `start` on, known to be within the address space.
    #[inline(always)]
    pub fn of_elements(what: &'static str, start: usize, len: usize, size: usize) -> Extent {
        Extent { what: Name::new(what), start, end: start.wrapping_add(len.wrapping_mul(size)) }
    }

    /// Covers nothing: stands for an optional array that was not given.
    pub const NONE: Extent = Extent { what: Name::new(""), start: 0, end: 0 };

    /// True if it shares a byte with another.
    #[inline(always)]
    pub fn meets(&self, other: Extent) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// True if it shares a byte with one of these.
    #[inline(always)]
    pub fn meets_any(&self, others: &[Extent]) -> bool {
        others.iter().any(|other| self.meets(*other))
    }
}

/// The smallest range that holds some arrays. Mostly each array lies below or above all earlier ones, which two comparisons show;
/// only if one lies between them, every pair is compared.
pub struct BoundingRange {
    start: usize,
    end: usize,
}

impl BoundingRange {
    /// The range of one array.
    #[inline(always)]
    pub fn of(first: Extent) -> BoundingRange {
        BoundingRange { start: first.start, end: first.end }
    }

    /// Extends the range to an array. False if the array lies between earlier ones, or shares a byte with one.
    #[inline(always)]
    pub fn takes(&mut self, x: Extent) -> bool {
        if x.start >= self.end {
            self.end = x.end;
        } else if x.end <= self.start {
            self.start = x.start;
        } else {
            return false;
        }
        true
    }

    /// True if an array lies outside the range.
    #[inline(always)]
    pub fn is_beside(&self, x: Extent) -> bool {
        x.start >= self.end || x.end <= self.start
    }

    /// True if `p` is NULL, or if its `size` bytes, which are present, lie outside the range.
    #[inline(always)]
    pub fn is_clear_of<T>(&self, p: *const T, size: usize) -> bool {
        p.is_null() || p.addr() >= self.end || p.addr().wrapping_add(size) <= self.start
    }

    /// True if an array shares no byte with the arrays of the range, which are `all`.
    #[inline(always)]
    pub fn clears(&self, x: Extent, all: &[Extent]) -> bool {
        self.is_beside(x) || !x.meets_any(all)
    }
}

/// Checks that no output shares a byte with any other array. Errors: `Overlap`.
#[inline]
pub fn apart(outputs: &[Extent], inputs: &[Extent]) -> Result {
    let Some((first, others)) = outputs.split_first() else { return Ok(()) };
    let mut range = BoundingRange::of(*first);
    let beside =
        others.iter().all(|x| x.start == x.end || range.takes(*x)) && inputs.iter().all(|x| range.is_beside(*x));
    if beside { Ok(()) } else { overlap_of(outputs, inputs) }
}

/// Names the first output that shares a byte with another array, if one does. Errors: `Overlap`.
#[cold]
#[inline(never)]
fn overlap_of(outputs: &[Extent], inputs: &[Extent]) -> Result {
    let mut rest = outputs;
    while let Some((output, others)) = rest.split_first() {
        let overlap = Error::new(Kind::Overlap, "the array overlaps another array of the call.");
        overlap.fail_if(output.meets_any(others) || output.meets_any(inputs)).about(output.what.text())?;
        rest = others;
    }
    Ok(())
}

/// Checks that two objects are not the same, before either is read. Errors: `Overlap`.
pub fn distinct<T>(what: &'static str, a: *const T, b: *const T) -> Result {
    let same = Error::new(Kind::Overlap, "the two objects must differ.");
    same.fail_if(a.addr() == b.addr() && !a.is_null()).about(what)
}

/// An array of which a call touches only a part: other threads may use the rest.
pub struct Part<A> {
    pub(super) whole: Extent,
    pub(super) part: A,
}
