//! Fields of blocks that several threads or processes use at once.

use core::slice;
use core::sync::atomic::AtomicU32;

use rlcore::block::Span;

/// Elements `[begin, begin + len)` of a field of the block at `base`, to change; no other element is touched.
///
/// # Safety
/// `base` is a block that was laid out with this span, and nobody else uses these elements for the life of `'a`.
pub unsafe fn field_mut<'a, T>(base: *mut u8, span: Span<T>, begin: usize, len: usize) -> &'a mut [T] {
    let begin = begin.min(span.len());
    let len = len.min(span.len().wrapping_sub(begin));
    // SAFETY: within the span, which is aligned within the block; ours alone by the promise.
    unsafe { slice::from_raw_parts_mut(base.add(span.start()).cast::<T>().add(begin), len) }
}

/// As [`field_mut`], of elements that are known to be within the field.
///
/// # Safety
/// As [`field_mut`], and `begin + len` elements are there.
#[inline(always)]
pub unsafe fn part_mut<'a, T>(base: *mut u8, span: Span<T>, begin: usize, len: usize) -> &'a mut [T] {
    // SAFETY: by the promise.
    unsafe { slice::from_raw_parts_mut(base.add(span.start()).cast::<T>().add(begin), len) }
}

/// As [`part_mut`], to read.
///
/// # Safety
/// `base` is a block that was laid out with this span, nobody writes to these elements for the life of `'a`, and
/// `begin + len` elements are there.
#[inline(always)]
pub unsafe fn part<'a, T>(base: *const u8, span: Span<T>, begin: usize, len: usize) -> &'a [T] {
    // SAFETY: by the promise.
    unsafe { slice::from_raw_parts(base.add(span.start()).cast::<T>().add(begin), len) }
}

/// A field of the block at `base` that threads and processes change at once.
///
/// # Safety
/// `base` is a block that was laid out with this span, and nobody uses it but through atomics for the life of `'a`.
pub unsafe fn atomics<'a>(base: *const u8, span: Span<u32>) -> &'a [AtomicU32] {
    // SAFETY: the span is aligned within the block, an atomic has the layout of its integer; shared by the promise.
    unsafe { slice::from_raw_parts(base.add(span.start()).cast::<AtomicU32>(), span.len()) }
}
