//! Arrays of one type of element.

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

use super::check::{Plain, check, fault_of, fits};
use super::overlap::{Extent, Part};
use crate::status::Result;
use rlcore::data::step::Rewrite;

/// Start of an array, with the type of its elements.
pub trait Start: Copy {
    /// The slice that the array becomes.
    type Slice<'a>;
    /// True if the call writes to it.
    const WRITTEN: bool;
    /// Address of the first element.
    fn addr(self) -> usize;
    /// Bytes and alignment of an element.
    fn layout(self) -> (usize, usize);
    /// The start moved by `elements` elements.
    fn later(self, elements: usize) -> Self;
    /// The elements.
    ///
    /// # Safety
    /// `len` elements are present and aligned for the life of `'a`, and nobody else uses them if they are written.
    unsafe fn slice<'a>(self, len: usize) -> Self::Slice<'a>;
}

macro_rules! start {
    ($pointer:ty, $written:literal, $slice:ty, $from_raw_parts:ident) => {
        impl<T: Plain> Start for $pointer {
            type Slice<'a> = $slice;
            const WRITTEN: bool = $written;

            #[inline(always)]
            fn addr(self) -> usize {
                <$pointer>::addr(self)
            }

            #[inline(always)]
            fn layout(self) -> (usize, usize) {
                (size_of::<T>(), align_of::<T>())
            }

            #[inline(always)]
            fn later(self, elements: usize) -> Self {
                self.wrapping_add(elements)
            }

            #[inline(always)]
            unsafe fn slice<'a>(self, len: usize) -> $slice {
                // SAFETY: by the promise.
                unsafe { slice::$from_raw_parts(self, len) }
            }
        }
    };
}

start!(*const T, false, &'a [T], from_raw_parts);
start!(*mut T, true, &'a mut [T], from_raw_parts_mut);

/// An array of the call, checked but not touched yet.
pub struct Checked<'a, P> {
    what: &'static str,
    pub(super) p: P,
    len: usize,
    lives: PhantomData<&'a ()>,
}

/// An array to read.
pub type Input<'a, T> = Checked<'a, *const T>;

/// An array to write.
pub type Output<'a, T> = Checked<'a, *mut T>;

impl<'a, P: Start> Checked<'a, P> {
    /// `len` elements, without a check.
    #[inline(always)]
    pub(super) fn unchecked(what: &'static str, p: P, len: usize) -> Self {
        Checked { what, p, len, lives: PhantomData }
    }

    /// `len` elements, checked. Errors: `Null`, `Align`, `Overflow`.
    #[inline(always)]
    pub(super) fn new(what: &'static str, p: P, len: usize) -> Result<Self> {
        check(what, p.addr(), len, p.layout())?;
        Ok(Self::unchecked(what, p, len))
    }

    /// `len` elements if the fast check of [`Checked::new`] accepts them.
    #[inline(always)]
    pub(super) fn if_fits(p: P, len: usize) -> Option<Self> {
        let (size, align) = p.layout();
        fits(p.addr(), len, size, align).then_some(Self::unchecked("", p, len))
    }

    /// The bytes it covers.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p.addr(), self.len, self.p.layout().0)
    }

    /// Elements `[begin, end)`, cut to the length of the array; no other element is touched.
    #[inline]
    pub fn part(self, begin: usize, end: usize) -> Part<Self> {
        let (whole, begin) = (self.extent(), begin.min(self.len));
        let len = end.min(self.len).saturating_sub(begin);
        Part { whole, part: Checked { p: self.p.later(begin), len, ..self } }
    }

    /// `rows` rows of `width` elements from row `begin` on; no other element is touched.
    ///
    /// # Safety
    /// The array has these rows.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        Checked { p: self.p.later(begin.wrapping_mul(width)), len: rows.wrapping_mul(width), ..self }
    }

    /// The elements.
    #[inline]
    pub fn slice(self) -> P::Slice<'a> {
        // SAFETY: present and aligned by `check`; readable, or ours alone, by the promise to `at`.
        unsafe { self.p.slice(self.len) }
    }
}

/// Arrays whose element type is known at compile time.
impl<P: Start + Plain> Checked<'_, P> {
    /// The `len` values, or the room for them, that the caller says are at `p`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// If `p` is not NULL, `len` initialized values are there for the life of `'a`, and nobody else writes to them. If the
    /// call writes to them, nobody else uses them, and [`args`](super::args) checks them before they become a slice.
    #[inline]
    pub unsafe fn at(what: &'static str, p: P, len: usize) -> Result<Self> {
        Self::new(what, p, len)
    }

    /// As [`Checked::at`], or nothing for NULL.
    #[inline]
    pub unsafe fn optional(what: &'static str, p: P, len: usize) -> Result<Option<Self>> {
        if p.addr() == 0 { Ok(None) } else { Self::new(what, p, len).map(Some) }
    }

    /// As [`Checked::at`], or nothing if it has no elements.
    #[inline]
    pub unsafe fn unless_empty(what: &'static str, p: P, len: usize) -> Result<Option<Self>> {
        if len == 0 { Ok(None) } else { Self::new(what, p, len).map(Some) }
    }

    /// The `len` values if the fast check of [`Checked::at`] accepts them.
    #[inline(always)]
    pub unsafe fn if_there(p: P, len: usize) -> Option<Self> {
        Self::if_fits(p, len)
    }
}

impl<'a, T: Plain> Output<'a, T> {
    /// As [`Output::at`], but [`rlcore_last_error`](crate::status::rlcore_last_error) does not report its failures.
    pub unsafe fn unkept(p: *mut T, len: usize) -> rlcore::error::Result<Self> {
        fault_of(p.addr(), len, size_of::<T>(), align_of::<T>()).map_or(Ok(()), Err)?;
        Ok(Self::unchecked("", p, len))
    }

    /// The only value.
    pub fn one(self) -> &'a mut T {
        // SAFETY: as in `slice`; every caller checked one element.
        unsafe { &mut *self.p }
    }

    /// The only value.
    pub fn only(self) -> One<'a, T> {
        One(self)
    }

    /// The slice of [`Cells`].
    pub(super) fn shared(self) -> &'a [Cell<T>] {
        // SAFETY: present and aligned by `check`; a reference to cells claims no exclusive access. By the promise to `at`,
        // nobody else uses the elements that the call writes.
        unsafe { slice::from_raw_parts(self.p.cast(), self.len) }
    }
}

/// Room for one value.
pub struct One<'a, T>(pub(super) Output<'a, T>);

impl<T: Plain> One<'_, T> {
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T) -> Result<Self> {
        unsafe { Output::at(what, p, 1) }.map(One)
    }

    /// As [`One::at`], or nothing for NULL.
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
    /// As [`Output::at`]; nobody else uses the elements that are written through the cells.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T, len: usize) -> Result<Self> {
        unsafe { Output::at(what, p, len) }.map(Cells)
    }

    /// As [`Cells::at`], or nothing for NULL.
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *mut T, len: usize) -> Result<Option<Self>> {
        Ok(unsafe { Output::optional(what, p, len)? }.map(Cells))
    }
}

/// An array to rewrite: the input, unless the output is rewritten in place, and the output.
pub type Through<'a> = (Option<Input<'a, f32>>, Output<'a, f32>);

/// In place where both pointers are the same, else from one into the other. Errors: as [`Input::at`] and [`Output::at`].
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

/// The core's form of [`Through`].
pub fn rewrite<'a>(arrays: (Option<&'a [f32]>, &'a mut [f32])) -> Rewrite<'a> {
    match arrays {
        (Some(from), to) => Rewrite::apart(from, to),
        (None, to) => Rewrite::in_place(to),
    }
}

/// Room for `len` values at `p`.
///
/// # Safety
/// As [`Output::at`], which accepts it.
#[inline(always)]
pub unsafe fn known_mut<'a, T: Plain>(p: *mut T, len: usize) -> &'a mut [T] {
    // SAFETY: by the promise.
    unsafe { slice::from_raw_parts_mut(p, len) }
}

/// Stores a result.
pub unsafe fn put<T: Plain>(what: &'static str, p: *mut T, value: impl FnOnce() -> Result<T>) -> Result {
    check(what, p.addr(), 1, p.layout())?;
    let value = value()?;
    // SAFETY: present and aligned, ours alone by the promise.
    unsafe { p.write(value) };
    Ok(())
}

/// Stores a result if there is room for it.
#[inline(always)]
pub fn tell<T>(room: Option<&mut T>, value: T) {
    if let Some(room) = room {
        *room = value;
    }
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
