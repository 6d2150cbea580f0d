//! What a library without std has to bring along itself.

use core::panic::PanicInfo;

/// Nothing reaches it: tests/symbols.rs looks for it in the release library, and links a small one with `prove-no-panic`, as
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
        // SAFETY: no definition exists, so no program that holds this call was ever linked.
        unsafe { rlcore_a_panic_is_reachable() }
    }
    #[cfg(all(debug_assertions, not(feature = "prove-no-panic")))]
    {
        unsafe extern "C" {
            fn abort() -> !;
        }
        // SAFETY: the C library's own; a library with assertions is only ever linked with one.
        unsafe { abort() }
    }
    #[cfg(not(any(debug_assertions, feature = "prove-no-panic")))]
    loop {
        core::hint::spin_loop();
    }
}

/// Without link-time optimization, `core` as it was compiled asks for the unwinder's hook.
///
/// cbindgen:ignore
#[cfg(debug_assertions)]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// An index that may be out of bounds: tests/symbols.rs plants it to see the proof fail.
///
/// cbindgen:ignore
#[cfg(rlcore_plant_panic)]
#[unsafe(no_mangle)]
extern "C" fn rlcore_planted_panic(i: usize) -> u8 {
    b"planted"[i]
}
