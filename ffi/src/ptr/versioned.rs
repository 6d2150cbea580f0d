//! Structures that grow from version to version.

use core::mem::MaybeUninit;
use core::slice;

use super::check::check_bytes;
use super::overlap::Extent;
use crate::status::{About, Result};
use rlcore::error::{Error, Kind, Name};

/// A structure that begins with `struct_size` and only ever grows at its end.
///
/// # Safety
/// `#[repr(C)]`; the first field is `struct_size: u32`; every bit pattern is a value.
pub unsafe trait Versioned: Copy {
    /// Name in error messages.
    const WHAT: &'static str;
    /// Bytes up to the end of the fields that a caller has to give; never changes.
    const MIN_SIZE: usize;
    /// Values of the fields that a shorter structure does not have.
    fn defaults() -> Self {
        zeros()
    }
}

/// A structure of this version with zeros in all other fields.
pub fn zeros<T: Versioned>() -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: every bit pattern is a value, and the first field is `struct_size`.
    unsafe {
        value.as_mut_ptr().cast::<u32>().write(size_of::<T>() as u32);
        value.assume_init()
    }
}

/// No structure will ever be longer: a larger `struct_size` shows that the caller did not set it.
const MAX_STRUCT_SIZE: usize = 4096;

/// The properties of a [`Versioned`] structure that its checks need.
#[derive(Clone, Copy)]
struct Form {
    what: Name,
    min_size: usize,
    size: usize,
    align: usize,
}

impl Form {
    const fn of<T: Versioned>() -> Form {
        Form { what: Name::new(T::WHAT), min_size: T::MIN_SIZE, size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Errors: `Null`, `Align`.
    fn check_pointer(&self, start: usize) -> Result {
        check_bytes(self.what.text(), start, 1, self.size, self.align)
    }

    fn check_size(&self, what: &'static str, kind: Kind, size: usize) -> Result {
        let wrong = size < self.min_size || size > MAX_STRUCT_SIZE || size & self.align.wrapping_sub(1) != 0;
        Error::limit(kind, what, self.min_size, size).fail_if(wrong).about(self.what.text())
    }

    /// The `struct_size` of the structure at `p`. Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`sized`].
    unsafe fn size_at(&self, p: *const u8) -> Result<usize> {
        self.check_pointer(p.addr())?;
        // SAFETY: the first field of every `Versioned` is its `struct_size`, present and aligned.
        let size = unsafe { p.cast::<u32>().read() } as usize;
        self.check_size("struct_size as sizeof gives it, at least", Kind::Config, size)?;
        Ok(size)
    }

    /// # Safety
    /// As [`sized`]; `value` is a structure of this form with its defaults.
    unsafe fn read(&self, p: *const u8, value: *mut u8) -> Result {
        let size = unsafe { self.size_at(p)? };
        let known = size.min(self.size);
        // SAFETY: `known` bytes are there by the promise and fit `value`; every bit pattern is a value.
        let tail = unsafe {
            core::ptr::copy_nonoverlapping(p, value, known);
            slice::from_raw_parts(p.add(known), size.wrapping_sub(known))
        };
        let what = "a structure of this version, or a longer one with zeros from byte";
        Error::limit(Kind::Config, what, self.size, size).fail_if(tail.iter().any(|&b| b != 0)).about(self.what.text())
    }

    /// Writes a structure into `size` bytes: cut short for an older caller, followed by zeros for a newer one.
    ///
    /// # Safety
    /// `p` and `size` passed the checks, the room is ours alone; `value` is a structure of this form.
    unsafe fn write(&self, p: *mut u8, size: usize, value: *const u8) {
        let known = size.min(self.size);
        // SAFETY: `size` bytes are there by the promise, the first four are `struct_size`.
        unsafe {
            core::ptr::copy_nonoverlapping(value, p, known);
            p.add(known).write_bytes(0, size.wrapping_sub(known));
            p.cast::<u32>().write(size as u32);
        }
    }
}

/// A structure in the caller's version of the header: missing fields of a shorter one get defaults, further bytes of a
/// longer one must be zero. Errors: `Null`, `Align`, `Config`.
///
/// # Safety
/// If `p` is not NULL, as many bytes are there as `struct_size` says.
#[inline]
pub unsafe fn sized<T: Versioned>(p: *const T) -> Result<T> {
    let mut other = None;
    unsafe { sized_ref(p, &mut other) }.copied()
}

/// As [`sized`], but only a structure of another version is copied, to `other`.
///
/// # Safety
/// As [`sized`], and nobody writes to the structure while the reference lives.
#[inline]
pub unsafe fn sized_ref<T: Versioned>(p: *const T, other: &mut Option<T>) -> Result<&T> {
    match unsafe { current(p) } {
        Some(value) => Ok(value),
        None => unsafe { sized_other(p, other) },
    }
}

/// The structure at `p` if it is of our own version.
///
/// # Safety
/// As [`sized_ref`].
#[inline(always)]
pub unsafe fn current<'a, T: Versioned>(p: *const T) -> Option<&'a T> {
    // SAFETY: present and aligned, and the first field of every `Versioned` is its `struct_size`.
    let current = !p.is_null() && p.is_aligned() && unsafe { p.cast::<u32>().read() } as usize == size_of::<T>();
    // SAFETY: as many bytes are there by the promise; every bit pattern is a value.
    current.then(|| unsafe { &*p })
}

/// # Safety
/// As [`sized`].
#[cold]
#[inline(never)]
unsafe fn sized_other<T: Versioned>(p: *const T, other: &mut Option<T>) -> Result<&T> {
    let value = other.insert(T::defaults());
    // SAFETY: by the promise; `value` is a `T`.
    unsafe { Form::of::<T>().read(p.cast(), core::ptr::from_mut(value).cast())? };
    Ok(value)
}

/// Fills in a structure of `size` bytes, as many as the caller's version of the header has.
/// Errors: `Null`, `Align`, `Size`.
///
/// # Safety
/// If `p` is not NULL, `size` bytes of room are there, for us alone.
pub unsafe fn init_sized<T: Versioned>(p: *mut T, size: usize, value: impl FnOnce() -> Result<T>) -> Result {
    let form = Form::of::<T>();
    form.check_pointer(p.addr())?;
    form.check_size("its size as sizeof gives it, at least", Kind::Size, size)?;
    let value = value()?;
    // SAFETY: checked, and ours by the promise.
    unsafe { form.write(p.cast(), size, (&raw const value).cast()) };
    Ok(())
}

/// Room for a structure whose `struct_size` the caller has set.
pub struct OutSized<T> {
    p: *mut T,
    size: usize,
}

impl<T: Versioned> OutSized<T> {
    /// Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`sized`], and the room is ours alone until `store`.
    pub unsafe fn at(p: *mut T) -> Result<Self> {
        // SAFETY: by the promise.
        let size = unsafe { Form::of::<T>().size_at(p.cast_const().cast())? };
        Ok(OutSized { p, size })
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        Extent::of(T::WHAT, self.p.cast_const().cast(), self.size)
    }

    /// Writes the structure.
    pub fn store(self, value: T) {
        // SAFETY: checked by `at`, ours by the promise to it.
        unsafe { Form::of::<T>().write(self.p.cast(), self.size, (&raw const value).cast()) }
    }
}

/// Checks that a field reserved for later versions is 0. Errors: `Config`.
pub fn reserved(what: &'static str, value: u32) -> Result {
    Error::new(Kind::Config, "zero").given(value as usize).fail_if(value != 0).about(what)
}

/// A flag of a configuration. Errors: `Config`.
pub fn switch(what: &'static str, value: u32) -> Result<bool> {
    Error::new(Kind::Config, "0 or 1").given(value as usize).fail_if(value > 1).about(what)?;
    Ok(value == 1)
}

/// A flag. Errors: `Range`.
pub fn flag(what: &'static str, value: u32) -> Result<bool> {
    Error::new(Kind::Range, "0 or 1").given(value as usize).fail_if(value > 1).about(what)?;
    Ok(value == 1)
}
