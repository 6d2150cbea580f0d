//! Arrays of one type of element.

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

use super::check::{Plain, check, fault_of, fits};
use super::overlap::{Extent, Part};
use crate::status::Result;
use rlcore::data::step::Rewrite;

/// An array to read, checked but not touched yet.
pub struct Input<'a, T> {
    what: &'static str,
    pub(super) p: *const T,
    len: usize,
    lives: PhantomData<&'a [T]>,
}

/// An array to write, checked but not touched yet.
pub struct Output<'a, T> {
    what: &'static str,
    p: *mut T,
    len: usize,
    lives: PhantomData<&'a mut [T]>,
}

impl<'a, T: Plain> Input<'a, T> {
    /// The `len` values that the caller says are at `p`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// If `p` is not NULL, as many values are there for the life of `'a`, and nobody writes to them.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *const T, len: usize) -> Result<Self> {
        check(what, p, len)?;
        Ok(Input { what, p, len, lives: PhantomData })
    }

    /// As [`Input::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *const T, len: usize) -> Result<Option<Self>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// As [`Input::at`], or nothing if it has no elements.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn unless_empty(what: &'static str, p: *const T, len: usize) -> Result<Option<Self>> {
        if len == 0 { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p.addr(), self.len, size_of::<T>())
    }

    /// Elements `[begin, end)` of it, or as many of them as there are.
    pub fn part(self, begin: usize, end: usize) -> Part<Self> {
        let (whole, begin) = (self.extent(), begin.min(self.len));
        let len = end.min(self.len).saturating_sub(begin);
        Part { whole, part: Input { p: self.p.wrapping_add(begin), len, ..self } }
    }

    /// `rows` rows of `width` elements from row `begin` on.
    ///
    /// # Safety
    /// So many rows are there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        Input { p: self.p.wrapping_add(begin.wrapping_mul(width)), len: rows.wrapping_mul(width), ..self }
    }

    /// The values.
    pub fn slice(self) -> &'a [T] {
        // SAFETY: present and aligned by `check`, readable by the promise to `at`.
        unsafe { slice::from_raw_parts(self.p, self.len) }
    }
}

impl<'a, T: Plain> Output<'a, T> {
    /// Room for `len` values that the caller says is at `p`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// If `p` is not NULL, as much room is there for the life of `'a`, it is initialized, and nobody else uses it; and
    /// [`apart`](super::apart) is asked about it before it becomes a slice.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T, len: usize) -> Result<Self> {
        check(what, p, len)?;
        Ok(Output { what, p, len, lives: PhantomData })
    }

    /// Room for `len` values if [`Output::at`] would accept it at once.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline(always)]
    pub unsafe fn if_there(p: *mut T, len: usize) -> Option<Self> {
        let fits = fits(p.addr(), len, size_of::<T>(), align_of::<T>());
        fits.then_some(Output { what: "", p, len, lives: PhantomData })
    }

    /// As [`Output::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *mut T, len: usize) -> Result<Option<Self>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// As [`Output::at`], or nothing if it has no elements.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn unless_empty(what: &'static str, p: *mut T, len: usize) -> Result<Option<Self>> {
        if len == 0 { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// As [`Output::at`], with a failure that [`rlcore_last_error`](crate::status::rlcore_last_error) never tells.
    ///
    /// # Safety
    /// As [`Output::at`].
    pub unsafe fn unkept(p: *mut T, len: usize) -> rlcore::error::Result<Self> {
        fault_of(p.addr(), len, size_of::<T>(), align_of::<T>()).map_or(Ok(()), Err)?;
        Ok(Output { what: "", p, len, lives: PhantomData })
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p.addr(), self.len, size_of::<T>())
    }

    /// Elements `[begin, end)` of it, or as many of them as there are; nothing else of it is touched.
    pub fn part(self, begin: usize, end: usize) -> Part<Self> {
        let (whole, begin) = (self.extent(), begin.min(self.len));
        let len = end.min(self.len).saturating_sub(begin);
        Part { whole, part: Output { p: self.p.wrapping_add(begin), len, ..self } }
    }

    /// `rows` rows of `width` elements from row `begin` on; nothing else of it is touched.
    ///
    /// # Safety
    /// So many rows are there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        Output { p: self.p.wrapping_add(begin.wrapping_mul(width)), len: rows.wrapping_mul(width), ..self }
    }

    /// The only value.
    pub fn one(self) -> &'a mut T {
        // SAFETY: as in `slice`; every caller asked for one.
        unsafe { &mut *self.p }
    }

    /// The only value.
    pub fn only(self) -> One<'a, T> {
        One(self)
    }

    /// What becomes of [`Cells`].
    pub(super) fn shared(self) -> &'a [Cell<T>] {
        // SAFETY: present and aligned by `check`; a reference to cells claims none of them for itself, and what is ours
        // alone by the promise to `at` are the elements that the caller of this writes.
        unsafe { slice::from_raw_parts(self.p.cast(), self.len) }
    }

    /// The room.
    pub fn slice(self) -> &'a mut [T] {
        // SAFETY: present and aligned by `check`, ours alone by the promise to `at`.
        unsafe { slice::from_raw_parts_mut(self.p, self.len) }
    }
}

/// Room for one value.
pub struct One<'a, T>(pub(super) Output<'a, T>);

impl<T: Plain> One<'_, T> {
    /// As [`Output::at`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T) -> Result<Self> {
        unsafe { Output::at(what, p, 1) }.map(One)
    }

    /// As [`One::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *mut T) -> Result<Option<Self>> {
        Ok(unsafe { Output::optional(what, p, 1)? }.map(One))
    }
}

/// Room that several threads write to at once, each to elements of its own.
pub struct Cells<'a, T>(pub(super) Output<'a, T>);

impl<T: Plain> Cells<'_, T> {
    /// As [`Output::at`].
    ///
    /// # Safety
    /// As there; of what is written through them, nobody else uses anything.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T, len: usize) -> Result<Self> {
        unsafe { Output::at(what, p, len) }.map(Cells)
    }

    /// As [`Cells::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *mut T, len: usize) -> Result<Option<Self>> {
        Ok(unsafe { Output::optional(what, p, len)? }.map(Cells))
    }
}

/// An array to rewrite: what is read, unless it is what is written, and what is written.
pub type Through<'a> = (Option<Input<'a, f32>>, Output<'a, f32>);

/// In place where both pointers are the same, else from one into the other. Errors: as [`Input::at`] and [`Output::at`].
///
/// # Safety
/// As theirs.
pub unsafe fn through<'a>(
    what: &'static str,
    from: *const f32,
    out_what: &'static str,
    to: *mut f32,
    len: usize,
) -> Result<Through<'a>> {
    let (from, to) = unsafe { (Input::at(what, from, len)?, Output::at(out_what, to, len)?) };
    let same = from.p.addr() == to.p.addr();
    Ok((if same { None } else { Some(from) }, to))
}

/// What becomes of [`Through`].
pub fn rewrite<'a>(arrays: (Option<&'a [f32]>, &'a mut [f32])) -> Rewrite<'a> {
    match arrays {
        (Some(from), to) => Rewrite::apart(from, to),
        (None, to) => Rewrite::in_place(to),
    }
}

/// The `len` values at `p` if [`Input::at`] would accept them at once.
///
/// # Safety
/// As [`Input::at`].
#[inline(always)]
pub unsafe fn present<'a, T: Plain>(p: *const T, len: usize) -> Option<&'a [T]> {
    let fits = fits(p.addr(), len, size_of::<T>(), align_of::<T>());
    // SAFETY: present and aligned, readable by the promise.
    fits.then(|| unsafe { slice::from_raw_parts(p, len) })
}

/// The `len` values at `p`.
///
/// # Safety
/// As [`Input::at`], which accepts them.
#[inline(always)]
pub unsafe fn known<'a, T: Plain>(p: *const T, len: usize) -> &'a [T] {
    // SAFETY: by the promise.
    unsafe { slice::from_raw_parts(p, len) }
}

/// As [`present`], or no values for NULL.
///
/// # Safety
/// As [`Input::at`].
#[inline(always)]
pub unsafe fn absent_or_present<'a, T: Plain>(p: *const T, len: usize) -> Option<&'a [T]> {
    if p.is_null() { Some(&[]) } else { unsafe { present(p, len) } }
}

/// Stores a result.
///
/// # Safety
/// As [`Output::at`].
pub unsafe fn put<T: Plain>(what: &'static str, p: *mut T, value: impl FnOnce() -> Result<T>) -> Result {
    check(what, p, 1)?;
    let value = value()?;
    // SAFETY: present and aligned, ours alone by the promise.
    unsafe { p.write(value) };
    Ok(())
}

/// The first `len` places, or as many as there are.
///
/// # Safety
/// They were written.
#[inline(always)]
pub unsafe fn filled<T>(places: &[MaybeUninit<T>], len: usize) -> &[T] {
    // SAFETY: places of the slice, initialized by the promise.
    unsafe { slice::from_raw_parts(places.as_ptr().cast(), len.min(places.len())) }
}
