//! Limits of kernels: each bench states the bytes that it moves or the operations that it computes, and its share of the peak
//! rate of this machine is measured in the same run.
//!
//! After a program's benches follows one line per bench: bytes read and written, time (criterion's median), and the speed as a
//! share of a copy of as many bytes, or of the peak rate of fused multiply-adds of one core. `--bench table` collects them.
#![allow(dead_code)] // no bench program uses every function

use rlcore::cpu::{self, At, Kernel};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

static BEGAN: OnceLock<SystemTime> = OnceLock::new();
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An allocator that aligns every array to a cache line, as engines do. Otherwise wide loads and stores touch two lines, and
/// kernels that only stream memory take up to a third longer.
struct CacheLines;

#[allow(unsafe_code)]
// SAFETY: the system's allocator, with a larger alignment than requested, the same in `alloc` and `dealloc`.
unsafe impl GlobalAlloc for CacheLines {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        layout.align_to(64).map_or(std::ptr::null_mut(), |layout| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Ok(layout) = layout.align_to(64) {
            unsafe { System.dealloc(memory, layout) }
        }
    }
}

#[global_allocator]
static CACHE_LINES: CacheLines = CacheLines;

/// Runs a program's benches, then prints a line for each bench that stated its bytes or operations.
pub fn run(benches: fn()) {
    BEGAN.get_or_init(SystemTime::now);
    benches();
    criterion::Criterion::default().configure_from_args().final_summary();
    let lines = LINES.lock().unwrap();
    if !lines.is_empty() {
        println!("{:44} {:>12} {:>11} {:>8}  share", "kernel", "bytes", "time", "GB/s");
    }
    for line in lines.iter() {
        println!("{line}");
    }
}

/// Compares `id` of `group`, which has just been measured and reads and writes `bytes` in total, with a copy from one array of
/// half as many bytes to another.
pub fn copy(group: &str, id: [&str; 2], bytes: usize) {
    let Some(time) = measured(group, id) else { return };
    let (from, mut to) = (vec![1u8; bytes / 2], vec![0u8; bytes / 2]);
    let copies = times(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    let copy = copies[copies.len() / 2];
    say(group, id, time, Some(bytes), copy / time, "of a copy");
}

/// As [`copy`], with a bench of the same group as the copy, which copies from the same places as the kernel.
pub fn against(group: &str, id: [&str; 2], copy: [&str; 2], bytes: usize) {
    let (Some(time), Some(copy)) = (measured(group, id), measured(group, copy)) else { return };
    say(group, id, time, Some(bytes), copy / time, "of a copy from the same places");
}

/// Compares `id` of `group`, which has just been measured and computes `operations` multiplications and additions, with the
/// peak rate of one core.
pub fn operations(group: &str, id: [&str; 2], operations: usize) {
    static PEAK: OnceLock<f64> = OnceLock::new();
    let Some(time) = measured(group, id) else { return };
    let peak = PEAK.get_or_init(|| {
        let peaks = [peak::<8>(), peak::<16>(), peak::<32>()];
        peaks.into_iter().fold(0.0, f64::max)
    });
    say(group, id, time, None, operations as f64 / peak / time, "of the multiply-adds");
}

fn say(group: &str, id: [&str; 2], time: f64, bytes: Option<usize>, share: f64, of: &str) {
    let name = [group, id[0], id[1]].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let (size, rate) = match bytes {
        Some(bytes) => (bytes.to_string(), format!("{:.1}", bytes as f64 / time / 1e9)),
        None => ("-".into(), "-".into()),
    };
    let line = format!("{name:44} {size:>12} {:>8.3} us {rate:>8}  {share:.2} {of}", time * 1e6);
    fs::write(folder(group, id).join("limit.txt"), format!("{size} {share:.4} {of}\n")).unwrap();
    LINES.lock().unwrap().push(line);
}

/// Criterion's folder of a bench.
fn folder(group: &str, id: [&str; 2]) -> PathBuf {
    let safe = |part: &str| part.replace(['?', '"', '/', '\\', '*', '<', '>', ':', '|', '^'], "_");
    let mut path = results().join(safe(group));
    path.extend(id.into_iter().filter(|part| !part.is_empty()).map(safe));
    path
}

/// Criterion's folder of results.
pub fn results() -> PathBuf {
    match std::env::var_os("CRITERION_HOME") {
        Some(home) => home.into(),
        None => std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("criterion"),
    }
}

/// Seconds of one call; None unless this run has measured it.
fn measured(group: &str, id: [&str; 2]) -> Option<f64> {
    let path = folder(group, id).join("new/estimates.json");
    let written = fs::metadata(&path).and_then(|data| data.modified()).ok()?;
    let text = fs::read_to_string(path).ok()?;
    if written < *BEGAN.get()? {
        None
    } else {
        Some(number_after(&text, &["\"median\"", "\"point_estimate\":"])? / 1e9)
    }
}

/// The number that follows these words, which occur in `text` in this order.
pub fn number_after(text: &str, words: &[&str]) -> Option<f64> {
    let rest = words.iter().try_fold(text, |rest, word| Some(rest.split_once(word)?.1))?;
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    rest[..end].trim().parse().ok()
}

/// Seconds per call in each of 7 or 31 timed parts, the fastest first. A part has enough calls to take a millisecond.
fn times(mut work: impl FnMut()) -> Vec<f64> {
    let mut time = |calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| work());
        start.elapsed()
    };
    let mut calls = 1;
    while time(calls) < Duration::from_millis(1) {
        calls *= 2;
    }
    let parts = if time(calls) > Duration::from_millis(10) { 7 } else { 31 };
    let mut times: Vec<f64> = (0..parts).map(|_| time(calls).as_secs_f64() / f64::from(calls)).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Peak rate of multiplications and additions per second, fused, over six independent chains of `LANES` lanes. With vectors of
/// half as many lanes, two vectors per chain keep the units busy, and all twelve fit into the registers.
fn peak<const LANES: usize>() -> f64 {
    let chains = || Chains::<LANES> { x: black_box(0.999), w: black_box(0.001) };
    let times = times(|| _ = black_box(cpu::dispatch(chains())));
    (2 * 6 * LANES * STEPS) as f64 / times[0]
}

const STEPS: usize = 1000;

struct Chains<const LANES: usize> {
    x: f32,
    w: f32,
}

impl<const LANES: usize> Kernel for Chains<LANES> {
    type Output = [[f32; LANES]; 6];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Self::Output {
        // Six variables, not an array: for an array the compiler would use gathers and scatters.
        let (mut a, mut b, mut c) = ([1.0; LANES], [1.0; LANES], [1.0; LANES]);
        let (mut d, mut e, mut f) = (a, b, c);
        for _ in 0..STEPS {
            for chain in [&mut a, &mut b, &mut c, &mut d, &mut e, &mut f] {
                at.fused(chain, &[self.x; LANES], &[self.w; LANES]);
            }
        }
        [a, b, c, d, e, f]
    }
}
