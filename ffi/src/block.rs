//! Blocks as bytes.

use core::ffi::c_void;

use crate::ptr::{Input, One, Output, args};
use crate::status::{call, rlcore_status};
use rlcore::block::{self, HASH_START, hash};

/// FNV-1a, 64 bits: names a state in a log or compares two; no protection against attackers.
/// bytes: [size], of anything; may be NULL if size is 0.
/// out:   [1] the hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_hash(bytes: *const c_void, size: usize, out: *mut u64) -> rlcore_status {
    call(|| unsafe {
        let bytes = if size == 0 { None } else { Some(Input::<u8>::at("hash: bytes", bytes.cast(), size)?) };
        let (out, bytes) = args((One::at("hash: out", out)?, bytes))?;
        *out = hash(HASH_START, bytes.unwrap_or(&[]));
        Ok(())
    })
}

/// Seals a learner or a policy before it is saved: writes a checksum over all its bytes into it, which its attach compares
/// from then on. Whatever is damaged later is refused: a flipped bit of a weight, a page that was lost. It is no protection
/// against attackers, who can seal what they wrote. The next call with a learner, even one that is refused, takes its seal
/// off, so that it is never stale; an attached policy keeps its own. Policies are exported with a seal.
///
/// Without a seal, attach of any block finds a damaged header or configuration, a block that was cut short, and values that
/// no call leaves, such as a NaN among parameters; it does not find a number that became another usable one, nor looks into
/// columns of frames and steps.
/// mem: 8-byte aligned, mem_size bytes, the size of the block at least.
/// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, or damaged bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_block_seal(mem: *mut c_void, mem_size: usize) -> rlcore_status {
    call(|| unsafe { Ok(block::seal(args(Output::at("mem", mem.cast(), mem_size)?)?)?) })
}
