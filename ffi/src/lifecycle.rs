//! Code common to all kinds of blocks: creation from a configuration, attaching, and opening in a call.

use core::ffi::c_void;
use core::ops::{Deref, DerefMut};

use crate::ptr::{self, Extent, Input, One, Output, Plain, Versioned, args, args_beside};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::block::{Header, Kind};
use rlcore::error;

/// A kind of block, by the name of its type in C.
pub trait Block {
    /// Name in error messages.
    const WHAT: &'static str;
    /// Kind in the block's header.
    const KIND: Kind;
}

/// The body of `_config_init`.
///
/// # Safety
/// As [`ptr::init_sized`].
pub unsafe fn config_init<T: Versioned>(config: *mut T, config_size: usize) -> rlcore_status {
    call(|| unsafe { ptr::init_sized(config, config_size, || Ok(T::defaults())) })
}

/// The body of `_attach_reader`: hands out a block that `accept` accepts while its writer may go on writing.
///
/// # Safety
/// As [`Input::at`] of the block, except that its writer may go on; as [`Output::at`] of `out`.
pub unsafe fn attach_reader<'a, B: 'static, T>(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const B,
    accept: impl FnOnce(&'a [u8]) -> error::Result<T>,
) -> rlcore_status {
    call(|| unsafe {
        let (block, out) = args((Input::at("mem", mem.cast::<u8>(), mem_size)?, One::at("out", out)?))?;
        accept(block)?;
        *out = mem.cast();
        Ok(())
    })
}

/// The caller's memory for a block, and the place for its pointer.
pub struct Place<'a, B> {
    mem: Output<'a, u8>,
    out: One<'a, *mut B>,
}

impl<'a, B: 'static> Place<'a, B> {
    /// Errors: `Null`, `Align`, `Overflow`.
    #[inline]
    pub unsafe fn at(mem: *mut c_void, mem_size: usize, out: *mut *mut B) -> Result<Self> {
        unsafe { Ok(Place { mem: Output::at("mem", mem.cast(), mem_size)?, out: One::at("out", out)? }) }
    }

    /// Hands the block out once `make` has made it from its configuration. Errors: those of both; `Overlap`.
    pub fn init<C, T>(
        self,
        config: impl FnOnce() -> Result<C>,
        make: impl FnOnce(&'a mut [u8], &C) -> error::Result<T>,
    ) -> Result {
        let config = config()?;
        self.take(&[], |mem| make(mem, &config))
    }

    /// Hands the block out once `accept` has accepted it. Errors: those of `accept`; `Overlap`, also with arrays in `read`.
    pub fn take<T, E>(self, read: &[Extent], accept: impl FnOnce(&'a mut [u8]) -> core::result::Result<T, E>) -> Result
    where
        Fault: From<E>,
    {
        let (mem, out) = args_beside((self.mem, self.out), read)?;
        let object = mem.as_mut_ptr().cast();
        accept(mem)?;
        *out = object;
        Ok(())
    }
}

/// A block that a call has opened.
pub struct Opened<T> {
    object: T,
    /// Its bytes.
    pub extent: Extent,
}

impl<T> Opened<T> {
    /// Stores the result of `find` at `out`. Errors: `Null`, `Align`, `Overlap`; those of `find`.
    #[inline]
    pub unsafe fn tell<V: Plain>(
        mut self,
        what: &'static str,
        out: *mut V,
        find: impl FnOnce(&mut T) -> error::Result<V>,
    ) -> Result {
        let out = self.extent.reading(unsafe { One::at(what, out)? })?;
        *out = find(&mut self.object)?;
        Ok(())
    }
}

impl<T> Deref for Opened<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for Opened<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

/// Size of a block in bytes, as its header says. Errors: `Null`, `Align`, `Image`.
unsafe fn size<B: Block>(p: *const B) -> Result<usize> {
    let head = unsafe { Input::at(B::WHAT, p.cast::<u8>(), size_of::<Header>())? };
    let head = head.slice();
    Ok(Header::size_of(head, B::KIND)? as usize)
}

/// The bytes of a block to change. Errors: `Null`, `Align`, `Image`.
///
/// # Safety
/// As [`open`].
pub unsafe fn bytes<'a, B: Block>(p: *mut B) -> Result<(&'a mut [u8], Extent)> {
    let block = unsafe { Output::at(B::WHAT, p.cast::<u8>(), size(p)?)? };
    let extent = block.extent();
    Ok((block.slice(), extent))
}

/// A block to change, as the core opens it. Errors: `Null`, `Align`, `Image`.
///
/// # Safety
/// If `p` is not NULL, `init` or `attach` has handed it out, and nobody else uses it.
pub unsafe fn open<'a, B: Block, T>(
    p: *mut B,
    open: impl FnOnce(&'a mut [u8]) -> error::Result<T>,
) -> Result<Opened<T>> {
    let (block, extent) = unsafe { bytes(p)? };
    Ok(Opened { extent, object: open(block)? })
}

/// A block to read, as the core opens it. Errors: `Null`, `Align`, `Image`.
///
/// # Safety
/// If `p` is not NULL, `init`, `attach` or `attach_reader` has handed it out, and nobody writes to it but as the header
/// allows.
pub unsafe fn view<'a, B: Block, T>(p: *const B, open: impl FnOnce(&'a [u8]) -> error::Result<T>) -> Result<Opened<T>> {
    let block = unsafe { Input::at(B::WHAT, p.cast::<u8>(), size(p)?)? };
    Ok(Opened { extent: block.extent(), object: open(block.slice())? })
}
