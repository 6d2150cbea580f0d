//! Values created in the caller's memory.

use core::slice;

use super::Plain;

/// An empty slot for one value.
///
/// # Safety
/// The slot at `p` is aligned, and nobody else uses it for the life of `'a`.
pub unsafe fn slot<'a, T>(p: *mut u8) -> &'a mut Option<T> {
    unsafe {
        p.cast::<Option<T>>().write(None);
        &mut *p.cast()
    }
}

/// A copy of a list.
///
/// # Safety
/// As [`slot`], for as many values as the list has.
pub unsafe fn copied<'a, T: Plain>(p: *mut T, list: &[T]) -> &'a [T] {
    unsafe {
        p.copy_from_nonoverlapping(list.as_ptr(), list.len());
        slice::from_raw_parts(p, list.len())
    }
}
