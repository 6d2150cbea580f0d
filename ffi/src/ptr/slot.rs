//! Values that are made in memory of the caller's.

use core::slice;

use super::Plain;

/// An empty slot for one value.
///
/// # Safety
/// It is the caller's alone, aligned, for the life of `'a`.
pub unsafe fn slot<'a, T>(p: *mut u8) -> &'a mut Option<T> {
    unsafe {
        p.cast::<Option<T>>().write(None);
        &mut *p.cast()
    }
}

/// A copy of a list.
///
/// # Safety
/// As [`slot`], of as many as the list has.
pub unsafe fn copied<'a, T: Plain>(p: *mut T, list: &[T]) -> &'a [T] {
    unsafe {
        p.copy_from_nonoverlapping(list.as_ptr(), list.len());
        slice::from_raw_parts(p, list.len())
    }
}
