//! Arrays whose elements are of a kind that is known at run time.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::slice;

use super::check::{check_bytes, fits, grid};
use super::overlap::{Extent, Part};
use crate::status::Result;
use rlcore::space::{Element, Elements, ElementsMut};

/// Observations or actions to read.
pub struct AnyInput<'a> {
    kind: Element,
    what: &'static str,
    p: *const u8,
    /// Elements.
    len: usize,
    lives: PhantomData<&'a [u8]>,
}

/// Room for observations or actions.
pub struct AnyOutput<'a> {
    kind: Element,
    what: &'static str,
    p: *mut u8,
    /// Elements.
    len: usize,
    lives: PhantomData<&'a mut [u8]>,
}

impl<'a> AnyInput<'a> {
    /// `rows` times `width` elements of this kind. Errors: as [`Input::at`].
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn at(
        what: &'static str,
        p: *const c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<AnyInput<'a>> {
        let len = check_any(what, p, kind, rows, width)?;
        Ok(AnyInput { kind, what, p: p.cast(), len, lives: PhantomData })
    }

    /// `len` elements of this kind if [`AnyInput::at`] would accept them at once.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline(always)]
    pub unsafe fn if_there(p: *const c_void, kind: Element, len: usize) -> Option<AnyInput<'a>> {
        let fits = fits(p.addr(), len, kind.size(), kind.size());
        fits.then_some(AnyInput { kind, what: "", p: p.cast(), len, lives: PhantomData })
    }

    /// `len` elements of this kind that are known to be there.
    ///
    /// # Safety
    /// [`AnyInput::at`] accepted an array that they are in.
    #[inline(always)]
    pub unsafe fn known(p: *const u8, kind: Element, len: usize) -> AnyInput<'a> {
        AnyInput { kind, what: "", p, len, lives: PhantomData }
    }

    /// As [`AnyInput::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn optional(
        what: &'static str,
        p: *const c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<Option<AnyInput<'a>>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, kind, rows, width) }.map(Some) }
    }

    /// The bytes it covers.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p.addr(), self.len, self.kind.size())
    }

    /// As [`Input::rows`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        let offset = begin.wrapping_mul(width).wrapping_mul(self.kind.size());
        AnyInput { p: self.p.wrapping_add(offset), len: rows.wrapping_mul(width), ..self }
    }

    /// The elements.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        let AnyInput { p, len, .. } = self;
        // SAFETY: whole elements of this kind, present and aligned by `check_any`, readable by the promise to `at`.
        unsafe {
            match self.kind {
                Element::F32 => Elements::F32(slice::from_raw_parts(p.cast(), len)),
                Element::I32 => Elements::I32(slice::from_raw_parts(p.cast(), len)),
                Element::U8 => Elements::U8(slice::from_raw_parts(p, len)),
            }
        }
    }
}

impl<'a> AnyOutput<'a> {
    /// Room for `rows` times `width` elements of this kind. Errors: as [`Output::at`].
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn at(
        what: &'static str,
        p: *mut c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<AnyOutput<'a>> {
        let len = check_any(what, p, kind, rows, width)?;
        Ok(AnyOutput { kind, what, p: p.cast(), len, lives: PhantomData })
    }

    /// As [`AnyOutput::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline(always)]
    pub unsafe fn optional(
        what: &'static str,
        p: *mut c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<Option<AnyOutput<'a>>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, kind, rows, width) }.map(Some) }
    }

    /// The bytes it covers.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p.addr(), self.len, self.kind.size())
    }

    /// Elements `[begin, end)` of it; nothing else of it is touched.
    #[inline]
    pub fn part(self, begin: usize, end: usize) -> Part<Self> {
        let (whole, begin) = (self.extent(), begin.min(self.len));
        let (offset, len) = (begin.wrapping_mul(self.kind.size()), end.min(self.len).saturating_sub(begin));
        Part { whole, part: AnyOutput { p: self.p.wrapping_add(offset), len, ..self } }
    }

    /// As [`Output::rows`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        let offset = begin.wrapping_mul(width).wrapping_mul(self.kind.size());
        AnyOutput { p: self.p.wrapping_add(offset), len: rows.wrapping_mul(width), ..self }
    }

    /// The room.
    #[inline]
    pub fn elements(self) -> ElementsMut<'a> {
        let AnyOutput { p, len, .. } = self;
        // SAFETY: whole elements of this kind, present and aligned by `check_any`, ours alone by the promise to `at`.
        unsafe {
            match self.kind {
                Element::F32 => ElementsMut::F32(slice::from_raw_parts_mut(p.cast(), len)),
                Element::I32 => ElementsMut::I32(slice::from_raw_parts_mut(p.cast(), len)),
                Element::U8 => ElementsMut::U8(slice::from_raw_parts_mut(p, len)),
            }
        }
    }
}

/// The number of `rows` times `width` elements of this kind, which are there. Errors: as [`check`]; `Overflow`.
#[inline(always)]
fn check_any(what: &'static str, p: *const c_void, kind: Element, rows: usize, width: usize) -> Result<usize> {
    // Elements are aligned to their size.
    let (len, size) = (grid(what, rows, width)?, kind.size());
    if !fits(p.addr(), len, size, size) {
        check_bytes(what, p.addr(), len, size, size)?;
    }
    Ok(len)
}

/// Where elements start that C is to read.
#[inline]
pub fn start(x: Elements<'_>) -> *const c_void {
    match x {
        Elements::F32(x) => x.as_ptr().cast(),
        Elements::I32(x) => x.as_ptr().cast(),
        Elements::U8(x) => x.as_ptr().cast(),
    }
}

/// Where elements start that C is to write.
#[inline]
pub fn start_mut(mut x: ElementsMut<'_>) -> *mut c_void {
    match &mut x {
        ElementsMut::F32(x) => x.as_mut_ptr().cast(),
        ElementsMut::I32(x) => x.as_mut_ptr().cast(),
        ElementsMut::U8(x) => x.as_mut_ptr().cast(),
    }
}
