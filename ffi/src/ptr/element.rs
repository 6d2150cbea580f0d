//! Arrays whose element kind is known only at run time.

use core::ffi::c_void;
use core::slice;

use super::array::{Checked, Start};
use super::check::grid;
use crate::status::Result;
use rlcore::space::{Element, Elements, ElementsMut};

/// A pointer to elements of this kind, which are aligned to their size.
#[derive(Clone, Copy)]
pub struct Kinded<P> {
    kind: Element,
    p: P,
}

/// Observations or actions to read.
pub type AnyInput<'a> = Checked<'a, Kinded<*const c_void>>;

/// Room for observations or actions.
pub type AnyOutput<'a> = Checked<'a, Kinded<*mut c_void>>;

macro_rules! kinded {
    ($pointer:ty, $written:literal, $elements:ident, $from_raw_parts:ident) => {
        impl Start for Kinded<$pointer> {
            type Slice<'a> = $elements<'a>;
            const WRITTEN: bool = $written;

            #[inline(always)]
            fn addr(self) -> usize {
                self.p.addr()
            }

            #[inline(always)]
            fn layout(self) -> (usize, usize) {
                (self.kind.size(), self.kind.size())
            }

            #[inline(always)]
            fn later(self, elements: usize) -> Self {
                Kinded { p: self.p.wrapping_byte_add(elements.wrapping_mul(self.kind.size())), ..self }
            }

            #[inline(always)]
            unsafe fn slice<'a>(self, len: usize) -> $elements<'a> {
                // SAFETY: whole elements of this kind, by the promise.
                unsafe {
                    match self.kind {
                        Element::F32 => $elements::F32(slice::$from_raw_parts(self.p.cast(), len)),
                        Element::I32 => $elements::I32(slice::$from_raw_parts(self.p.cast(), len)),
                        Element::U8 => $elements::U8(slice::$from_raw_parts(self.p.cast(), len)),
                    }
                }
            }
        }
    };
}

kinded!(*const c_void, false, Elements, from_raw_parts);
kinded!(*mut c_void, true, ElementsMut, from_raw_parts_mut);

impl<'a, P> Checked<'a, Kinded<P>>
where
    Kinded<P>: Start,
{
    /// `rows` times `width` elements of this kind, or the room for them. Errors: `Null`, `Align`, `Overflow`.
    #[inline]
    pub unsafe fn at(what: &'static str, p: P, kind: Element, rows: usize, width: usize) -> Result<Self> {
        Self::new(what, Kinded { kind, p }, grid(what, rows, width)?)
    }

    /// As [`AnyInput::at`], or nothing for NULL.
    #[inline]
    pub unsafe fn optional(what: &'static str, p: P, kind: Element, rows: usize, width: usize) -> Result<Option<Self>> {
        let p = Kinded { kind, p };
        if p.addr() == 0 { Ok(None) } else { Self::new(what, p, grid(what, rows, width)?).map(Some) }
    }

    /// `len` elements of this kind if the fast check of [`AnyInput::at`] accepts them.
    #[inline(always)]
    pub unsafe fn if_there(p: P, kind: Element, len: usize) -> Option<Self> {
        Self::if_fits(Kinded { kind, p }, len)
    }

    /// `len` elements of this kind that are known to be there.
    ///
    /// # Safety
    /// [`AnyInput::at`] accepted an array that contains them.
    #[inline(always)]
    pub unsafe fn known(p: P, kind: Element, len: usize) -> Self {
        Self::unchecked("", Kinded { kind, p }, len)
    }

    /// The elements.
    #[inline]
    pub fn elements(self) -> <Kinded<P> as Start>::Slice<'a> {
        self.slice()
    }
}

/// Pointer to elements for C to read.
#[inline]
pub fn start(x: Elements<'_>) -> *const c_void {
    match x {
        Elements::F32(x) => x.as_ptr().cast(),
        Elements::I32(x) => x.as_ptr().cast(),
        Elements::U8(x) => x.as_ptr().cast(),
    }
}

/// Pointer to elements for C to write.
#[inline]
pub fn start_mut(mut x: ElementsMut<'_>) -> *mut c_void {
    match &mut x {
        ElementsMut::F32(x) => x.as_mut_ptr().cast(),
        ElementsMut::I32(x) => x.as_mut_ptr().cast(),
        ElementsMut::U8(x) => x.as_mut_ptr().cast(),
    }
}
