//! Blocks as bytes.

use core::ffi::c_void;

use crate::ptr::{Extent, Input, Output, apart};
use crate::status::{call, rlcore_status};
use rlcore::block::{HASH_START, hash};

/// FNV-1a, 64 bits: names a state in a log or compares two; no protection against attackers.
/// bytes: [size], of anything; may be NULL if size is 0.
/// out:   [1] the hash.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW; E_OVERLAP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_hash(bytes: *const c_void, size: usize, out: *mut u64) -> rlcore_status {
    call(|| unsafe {
        let bytes = if size == 0 { None } else { Some(Input::<u8>::at("hash: bytes", bytes.cast(), size)?) };
        let out = Output::at("hash: out", out, 1)?;
        apart(&[out.extent()], &[bytes.as_ref().map_or(Extent::NONE, Input::extent)])?;
        *out.one() = hash(HASH_START, bytes.map_or(&[], Input::slice));
        Ok(())
    })
}
