//! Hashes and seals of blocks.

use core::ffi::c_void;

use crate::ptr::{Input, One, Output, args};
use crate::status::{call, rlcore_status};
use rlcore::block::{self, HASH_START, hash};

/// 64-bit FNV-1a hash, to identify or compare states. Not cryptographic.
/// bytes: [size]; may be NULL if size is 0.
/// out:   [1] the hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_hash(bytes: *const c_void, size: usize, out: *mut u64) -> rlcore_status {
    call(|| unsafe {
        let bytes = Input::<u8>::unless_empty("hash: bytes", bytes.cast(), size)?;
        let (out, bytes) = args((One::at("hash: out", out)?, bytes))?;
        *out = hash(HASH_START, bytes.unwrap_or(&[]));
        Ok(())
    })
}

/// Seals a learner or a policy before it is saved: stores a checksum over all its bytes in the block. attach refuses a
/// sealed block if any byte has changed. A seal detects accidental damage; it is not protection against attackers. The next
/// call with a learner that is not const, even one that fails, removes its seal; an attached policy keeps its seal.
/// Policies are exported sealed.
///
/// Without a seal, attach of any block detects a damaged header or configuration, a truncated block, and values that no
/// call leaves, such as a NaN parameter. It does not detect a number that changed to another valid number, and does not
/// read columns of frames and steps.
/// mem: 8-byte aligned, mem_size bytes, at least the size of the block.
/// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, or damaged bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_block_seal(mem: *mut c_void, mem_size: usize) -> rlcore_status {
    call(|| unsafe { Ok(block::seal(args(Output::at("mem", mem.cast(), mem_size)?)?)?) })
}
