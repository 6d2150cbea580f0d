//! Runtime functions that a library without std has to define.

use core::panic::PanicInfo;

/// Unreachable: tests/symbols.rs looks for panics in the release library, and links a small one with `prove-no-panic`, as
/// tests/system/bits does for other processors.
///
/// cbindgen:ignore
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(feature = "prove-no-panic")]
    {
        unsafe extern "C" {
            fn rlcore_a_panic_is_reachable() -> !;
        }
        // SAFETY: no definition exists, so no program that contains this call can be linked.
        unsafe { rlcore_a_panic_is_reachable() }
    }
    #[cfg(all(debug_assertions, not(feature = "prove-no-panic")))]
    {
        unsafe extern "C" {
            fn abort() -> !;
        }
        // SAFETY: from the C library, with which a library with assertions is always linked.
        unsafe { abort() }
    }
    #[cfg(not(any(debug_assertions, feature = "prove-no-panic")))]
    loop {
        core::hint::spin_loop();
    }
}

/// Without link-time optimization, the precompiled `core` refers to this hook of the unwinder.
///
/// cbindgen:ignore
#[cfg(any(debug_assertions, rlcore_no_lto))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// An index that may be out of bounds: tests/symbols.rs compiles it in to see the proof fail.
///
/// cbindgen:ignore
#[cfg(rlcore_plant_panic)]
#[unsafe(no_mangle)]
extern "C" fn rlcore_planted_panic(i: usize) -> u8 {
    b"planted"[i]
}
