//! Policies as files of C.

use core::ffi::c_char;

use crate::lifecycle::view;
use crate::policy::rlcore_policy;
use crate::ptr::{self, Extent, One, Output, Reads, exact};
use crate::status::{Result, call, rlcore_status};
use rlcore::learn::Policy;

/// The caller's prefix; NULL stands for "policy". Errors: `Null`, `Range`.
unsafe fn prefix<'a>(p: *const c_char) -> Result<&'a str> {
    let given = if p.is_null() { b"policy" } else { unsafe { ptr::text("prefix", p)? } };
    // Other bytes than those of ASCII are no letters: the core refuses them as it does the empty text.
    Ok(core::str::from_utf8(given).unwrap_or_default())
}

fn extent(prefix: &str) -> Extent {
    Extent::of("prefix", prefix.as_ptr(), prefix.len())
}

/// Bytes of a policy as one file of C, for machines where no library fits: C99, which is C++17 as well, with the
/// weights as constants and functions that act. It includes stddef.h, stdint.h and string.h, calls memcpy and memset
/// only, and has no state of its own. All its names begin with prefix, its macros with the same in capitals:
/// <prefix>_act() acts greedily, as rlcore_policy_act_greedy() does for one observation;
/// <prefix>_outputs() computes logits or means alone, for hosts that sample, and <prefix>_best() acts by them;
/// <prefix>_scratch is the working memory of a call, <prefix>_state a recurrent state, begun by <prefix>_reset().
/// Results are the library's bits where the compiler has a fused multiply-add, such as on Cortex-M4F or with -mfma, or
/// with <PREFIX>_EXACT defined as 1; else products and sums are rounded each, which changes the last bits. Every layer
/// can be written, normalize_obs, structures and masks.
/// prefix: NUL-terminated, a letter, then letters, digits and underscores, at most 31; may be NULL: "policy".
/// Errors: E_CONFIG for another prefix; E_RANGE for one of more than 4095 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_c_size(
    p: *const rlcore_policy,
    prefix: *const c_char,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let (prefix, policy) = (self::prefix(prefix)?, view(p, Policy::open)?);
        let (out_size, _) = policy.extent.reading((One::at("out_size", out_size)?, Reads([extent(prefix)])))?;
        *out_size = policy.c_source_size(prefix)?;
        Ok(())
    })
}

/// Writes a policy as one file of C: see rlcore_policy_c_size. Equal policies are equal bytes.
/// Example:
///   rlcore_policy_c_size(policy, "cart", &size);
///   rlcore_policy_c_write(policy, "cart", bytes, size);
/// prefix: NUL-terminated, as there; may be NULL.
/// bytes:  [size] to write, text without a zero at its end.
/// Errors: as there; E_SHAPE if size is not that of rlcore_policy_c_size(). Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_c_write(
    p: *const rlcore_policy,
    prefix: *const c_char,
    bytes: *mut u8,
    size: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (prefix, policy) = (self::prefix(prefix)?, view(p, Policy::open)?);
        let len = exact("bytes", policy.c_source_size(prefix)?, size)?;
        let (bytes, _) = policy.extent.reading((Output::at("bytes", bytes, len)?, Reads([extent(prefix)])))?;
        Ok(policy.write_c_source(prefix, bytes)?)
    })
}
