
/// Which mutant lives: appended to the root of a woven crate, below the number of mutants, `COUNT`.
///
/// `MUTANT=n` chooses one, and the first panic then ends the process: nothing unwinds, shrinks or waits for other threads.
/// `MUTANT_SEEN=file` chooses none and appends to the file, at the end of the process, which of them were asked about.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, warnings)]
pub mod mutant {
    extern crate std;
    use std::prelude::v1::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    const UNKNOWN: u32 = u32::MAX;
    const SEEING: u32 = u32::MAX - 1;
    const NONE: u32 = u32::MAX - 2;
    static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
    static SEEN: [AtomicBool; super::COUNT] = [const { AtomicBool::new(false) }; super::COUNT];

    unsafe extern "C" {
        fn atexit(f: extern "C" fn()) -> i32;
        fn _exit(code: i32) -> !;
    }

    #[inline(always)]
    pub fn is(n: u32) -> bool {
        let chosen = CHOSEN.load(Relaxed);
        if chosen >= SEEING { ask(n, chosen) } else { chosen == n }
    }

    #[cold]
    #[inline(never)]
    fn ask(n: u32, chosen: u32) -> bool {
        static ONCE: std::sync::Once = std::sync::Once::new();
        if chosen == UNKNOWN {
            ONCE.call_once(choose);
        }
        let chosen = CHOSEN.load(Relaxed);
        if chosen == SEEING {
            SEEN[n as usize].store(true, Relaxed);
        }
        chosen == n
    }

    fn choose() {
        if std::env::var_os("MUTANT_SEEN").is_some() {
            unsafe { atexit(write_seen) };
            CHOSEN.store(SEEING, Relaxed);
            return;
        }
        let chosen = std::env::var("MUTANT").ok().and_then(|n| n.parse().ok());
        if chosen.is_some() {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                report(info);
                unsafe { _exit(101) }
            }));
        }
        CHOSEN.store(chosen.unwrap_or(NONE), Relaxed);
    }

    /// One write at the end of a file, since a test may start processes that do the same.
    extern "C" fn write_seen() {
        use std::io::Write;
        let Some(path) = std::env::var_os("MUTANT_SEEN") else { return };
        let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) else { return };
        let seen: String = SEEN.iter().enumerate().filter(|(_, s)| s.load(Relaxed)).map(|(n, _)| std::format!("{n}\n")).collect();
        let _ = file.write_all(seen.as_bytes());
    }
}
