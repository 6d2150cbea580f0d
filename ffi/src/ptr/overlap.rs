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

    /// Shares a byte with one of these.
    #[inline(always)]
    pub fn meets_any(&self, others: &[Extent]) -> bool {
        others.iter().any(|other| self.start < other.end && other.start < self.end)
    }
}

/// The least that covers some arrays, to which others are added. Mostly each lies below or above all before it, which takes
/// two comparisons; only one that lies between some of them is compared with every one.
pub struct Cover {
    start: usize,
    end: usize,
}

impl Cover {
    /// Covers this array.
    #[inline(always)]
    pub fn of(first: Extent) -> Cover {
        Cover { start: first.start, end: first.end }
    }

    /// Adds an array, if it was given and shares no byte with those before it, which these are.
    #[inline(always)]
    pub fn add(&mut self, x: Extent, before: &[Extent]) -> bool {
        if x.start == x.end {
            return true;
        }
        if x.start >= self.end {
            self.end = x.end;
        } else if x.end <= self.start {
            self.start = x.start;
        } else {
            return !x.meets_any(before);
        }
        true
    }

    /// `size` bytes at `p`, which are there unless it is NULL, lie below or above all.
    #[inline(always)]
    pub fn is_clear_of<T>(&self, p: *const T, size: usize) -> bool {
        p.is_null() || p.addr() >= self.end || p.addr().wrapping_add(size) <= self.start
    }

    /// An array shares no byte with those, which these are.
    #[inline(always)]
    pub fn clears(&self, x: Extent, all: &[Extent]) -> bool {
        x.start >= self.end || x.end <= self.start || !x.meets_any(all)
    }
}

/// Checks that no output shares a byte with any other array. Errors: `Overlap`.
pub fn apart(outputs: &[Extent], inputs: &[Extent]) -> Result {
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
