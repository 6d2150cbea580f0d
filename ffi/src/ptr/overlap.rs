//! Arrays that share bytes.

use crate::status::{About, Result};
use rlcore::error::{Error, Kind, Name};

/// The bytes that an array covers and what failures call it.
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

    /// `len` elements of `size` bytes from `start` on, which are there.
    #[inline(always)]
    pub fn of_elements(what: &'static str, start: usize, len: usize, size: usize) -> Extent {
        Extent { what: Name::new(what), start, end: start.wrapping_add(len.wrapping_mul(size)) }
    }

    /// Covers nothing: stands for an optional array that was not given.
    pub const NONE: Extent = Extent { what: Name::new(""), start: 0, end: 0 };

    /// Shares a byte with another.
    #[inline(always)]
    pub fn meets(&self, other: Extent) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Shares a byte with one of these.
    #[inline(always)]
    pub fn meets_any(&self, others: &[Extent]) -> bool {
        others.iter().any(|other| self.meets(*other))
    }
}

/// The least range that holds some arrays. Mostly each array lies below or above all before it, which takes two comparisons; only
/// where one lies between some of them all are compared with one another.
pub struct BoundingRange {
    start: usize,
    end: usize,
}

impl BoundingRange {
    /// Holds this array.
    #[inline(always)]
    pub fn of(first: Extent) -> BoundingRange {
        BoundingRange { start: first.start, end: first.end }
    }

    /// Takes an array in. False if it lies between those before it, or shares a byte with one.
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

    /// An array lies below or above all.
    #[inline(always)]
    pub fn is_beside(&self, x: Extent) -> bool {
        x.start >= self.end || x.end <= self.start
    }

    /// `size` bytes at `p`, which are there unless it is NULL, lie below or above all.
    #[inline(always)]
    pub fn is_clear_of<T>(&self, p: *const T, size: usize) -> bool {
        p.is_null() || p.addr() >= self.end || p.addr().wrapping_add(size) <= self.start
    }

    /// An array shares no byte with those, which these are.
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

/// Says which output shares a byte with another array, if one does.
#[cold]
#[inline(never)]
fn overlap_of(outputs: &[Extent], inputs: &[Extent]) -> Result {
    let mut rest = outputs;
    while let Some((output, others)) = rest.split_first() {
        let overlap = Error::new(Kind::Overlap, "the array overlaps another array of the call.");
        overlap.when(output.meets_any(others) || output.meets_any(inputs)).about(output.what.words())?;
        rest = others;
    }
    Ok(())
}

/// Checks that two objects are not one, before either is looked at. Errors: `Overlap`.
pub fn distinct<T>(what: &'static str, a: *const T, b: *const T) -> Result {
    let same = Error::new(Kind::Overlap, "the two objects must differ.");
    same.when(a.addr() == b.addr() && !a.is_null()).about(what)
}

/// An array of which only a part is touched: the others may be somebody else's.
pub struct Part<A> {
    pub(super) whole: Extent,
    pub(super) part: A,
}
