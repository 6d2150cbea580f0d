//! Checks of an array before it is touched: it is present, aligned and within the address space.

use crate::status::{About, Result};
use rlcore::error::{Error, Kind};

/// Types that C and Rust lay out alike and whose every bit pattern is a value.
///
/// # Safety
/// The type has both properties.
pub unsafe trait Plain: Copy + 'static {}

unsafe impl Plain for u8 {}
unsafe impl Plain for u32 {}
unsafe impl Plain for u64 {}
unsafe impl Plain for usize {}
unsafe impl Plain for i32 {}
unsafe impl Plain for i64 {}
unsafe impl Plain for f32 {}
unsafe impl Plain for f64 {}
unsafe impl Plain for rlcore::rng::Rng {}
unsafe impl<T: 'static> Plain for *mut T {}
unsafe impl<T: 'static> Plain for *const T {}

/// Elements of `rows` rows of `width`. Errors: `Overflow`.
#[inline]
pub fn grid(what: &'static str, rows: usize, width: usize) -> Result<usize> {
    rows.checked_mul(width).ok_or(Error::new(Kind::Overflow, "an array that fits the address space")).about(what)
}

/// Checks that `len` elements of `size` bytes can be at `start`. Errors: `Null`, `Align`, `Overflow`.
#[inline]
pub(super) fn check(what: &'static str, start: usize, len: usize, (size, align): (usize, usize)) -> Result {
    if fits(start, len, size, align) { Ok(()) } else { check_bytes(what, start, len, size, align) }
}

/// Fast check: true only if [`fault_of`] would find nothing. It accepts nearly every array in a few instructions.
#[inline(always)]
pub(super) fn fits(start: usize, len: usize, size: usize, align: usize) -> bool {
    // Fewer than 2^32 elements of up to 2^12 bytes from the lower half of 64 bits, but not from 0, end within the address space.
    let near = size_of::<usize>() == 8 && (start.cast_signed() > 0) & (len <= u32::MAX as usize) & (size <= 1 << 12);
    near & (start & align.wrapping_sub(1) == 0)
}

/// [`check`] of arrays that [`fits`] does not accept.
#[cold]
#[inline(never)]
pub(super) fn check_bytes(what: &'static str, start: usize, len: usize, size: usize, align: usize) -> Result {
    fault_of(start, len, size, align).map_or(Ok(()), Err).about(what)
}

pub(super) fn fault_of(start: usize, len: usize, size: usize, align: usize) -> Option<Error> {
    if start == 0 {
        return Some(Error::new(Kind::Null, "the pointer is NULL."));
    }
    let off = start & (align.wrapping_sub(1));
    if off != 0 {
        return Some(Error::limit(
            Kind::Align,
            "misaligned by {given} bytes; a multiple of {needed} is required.",
            align,
            off,
        ));
    }
    match len.checked_mul(size).and_then(|bytes| start.checked_add(bytes)) {
        Some(end) if end.wrapping_sub(start) <= isize::MAX as usize => None,
        _ => Some(Error::new(Kind::Overflow, "an array that fits the address space, elements").given(len)),
    }
}

/// `len`, the required length of a caller's array. Errors: `Shape` if the caller has `given` another.
pub fn exact(what: &'static str, len: usize, given: usize) -> Result<usize> {
    Error::limit(Kind::Shape, "elements, exactly", len, given).fail_if(given != len).about(what)?;
    Ok(len)
}
