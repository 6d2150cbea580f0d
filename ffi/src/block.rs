//! Blocks as bytes.

use core::ffi::c_void;

use crate::ptr::{self, Input};
use crate::status::{call, rlcore_status};
use rlcore::block::{HASH_START, hash};

/// FNV-1a, 64 bits: names a state in a log or compares two; no protection against attackers.
/// bytes: [size], of anything; may be NULL if size is 0.
/// out:   [1] the hash.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_hash(bytes: *const c_void, size: usize, out: *mut u64) -> rlcore_status {
    call(|| unsafe {
        let bytes: &[u8] = if size == 0 { &[] } else { Input::at("hash: bytes", bytes.cast(), size)?.slice() };
        ptr::put("hash: out", out, || Ok(hash(HASH_START, bytes)))
    })
}
