//! The one place that knows which instructions the processor has.
//!
//! A kernel is written once, as plain safe loops over fixed-width lanes, and compiled here for each level. The order
//! of every sum is written in the kernel, and no multiply-add is fused, so all levels give the same bytes.
#![allow(unsafe_code)]

use bytemuck::Pod;
use core::ptr::from_ref;
#[cfg(target_pointer_width = "64")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Instruction sets, each holding the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What the compilation target promises: SSE2 on x86-64, NEON on aarch64, plain scalar code elsewhere.
    Base = 0,
    /// x86-64 with AVX2.
    Avx2 = 1,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512 = 2,
}

/// All levels, lowest first.
pub const LEVELS: [Level; 3] = [Level::Base, Level::Avx2, Level::Avx512];

/// Work that is compiled once a level. `run` must be `#[inline(always)]`, and so must every function it calls in a
/// hot loop, or they stay at the base level.
pub trait Kernel {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;

    /// Does the work with block shapes chosen for `LEVEL`, a [`Level`] as a number. The result must not depend on it.
    #[inline(always)]
    fn run_at<const LEVEL: u8>(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
}

static LIMIT: AtomicU8 = AtomicU8::new(Level::Avx512 as u8);

/// Uses no level above `level` from now on. Results never change, only speed: for tests and measurements.
pub fn set_limit(level: Level) {
    LIMIT.store(level as u8, Ordering::Relaxed);
}

/// The level that [`dispatch`] uses now.
#[inline]
pub fn level() -> Level {
    let limit = LIMIT.load(Ordering::Relaxed);
    let best = detect::best();
    if limit >= best as u8 {
        best
    } else if limit == Level::Avx2 as u8 {
        Level::Avx2
    } else {
        Level::Base
    }
}

/// Runs a kernel with the best instructions that this processor has.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    {
        // SAFETY: `level` never returns a level whose features were not detected on this processor.
        match level() {
            Level::Avx512 => return unsafe { detect::run_avx512(kernel) },
            Level::Avx2 => return unsafe { detect::run_avx2(kernel) },
            Level::Base => {}
        }
    }
    kernel.run_at::<{ Level::Base as u8 }>()
}

/// Asks for the cache line where element `i` begins, for a read that comes later; nothing else depends on it.
#[inline(always)]
pub fn prefetch<T>(x: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: part of x86-64 itself; a hint that reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_add(i).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, i);
}

/// Turns a square of words of 32 bits on its side: `[i][j]` becomes `[j][i]`. Written as a loop it is compiled to single moves.
#[inline(always)]
pub fn turn<T: Pod>(square: [[T; 4]; 4]) -> [[T; 4]; 4] {
    const { assert!(size_of::<T>() == 4, "words of 32 bits") }
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{
            __m128i, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
        };
        let [a, b, c, d] = square.map(bytemuck::cast::<[T; 4], __m128i>);
        // SAFETY: part of x86-64 itself.
        let turned = unsafe {
            let (ab_low, cd_low) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab_low, cd_low),
                _mm_unpackhi_epi64(ab_low, cd_low),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        };
        turned.map(bytemuck::cast::<__m128i, [T; 4]>)
    }
    #[cfg(not(target_arch = "x86_64"))]
    [0, 1, 2, 3].map(|j| square.map(|row| row[j]))
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod detect {
    use super::{Kernel, Level};

    cpufeatures::new!(avx2, "avx2");
    cpufeatures::new!(avx512, "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl");

    #[inline]
    pub fn best() -> Level {
        if avx512::get() {
            Level::Avx512
        } else if avx2::get() {
            Level::Avx2
        } else {
            Level::Base
        }
    }

    #[target_feature(enable = "avx2")]
    pub fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run_at::<{ Level::Avx2 as u8 }>()
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run_at::<{ Level::Avx512 as u8 }>()
    }
}

#[cfg(not(all(target_arch = "x86_64", feature = "simd")))]
mod detect {
    #[inline]
    pub fn best() -> super::Level {
        super::Level::Base
    }
}

/// Replaces `from` by `to`, if that is what the word holds.
#[cfg(target_has_atomic = "32")]
pub fn exchange(word: &AtomicU32, from: u32, to: u32, order: Ordering) -> bool {
    word.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
}

/// As above. Processors without compare-and-swap have one core; there, only one thread at a time may change the word.
#[cfg(not(target_has_atomic = "32"))]
pub fn exchange(word: &AtomicU32, from: u32, to: u32, _: Ordering) -> bool {
    let same = word.load(Ordering::Acquire) == from;
    if same {
        word.store(to, Ordering::Release);
    }
    same
}

/// A word that one process writes while others read it: never in halves, and never kept or read again by the compiler.
pub trait Word: Copy {
    /// What it holds. `order` is `Acquire` or `Relaxed`.
    fn load(&self, order: Ordering) -> Self;

    /// Replaces it. `order` is `Release` or `Relaxed`.
    fn store(&mut self, value: Self, order: Ordering);
}

impl Word for u32 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> Self {
        // SAFETY: present and aligned as a reference is. Loads write nothing: a machine word may be loaded so even from
        // memory that cannot be written, and nobody stores through this.
        unsafe { AtomicU32::from_ptr(from_ref(self).cast_mut()) }.load(order)
    }

    #[inline(always)]
    fn store(&mut self, value: Self, order: Ordering) {
        // SAFETY: present, aligned, and ours alone to write as a unique reference is.
        unsafe { AtomicU32::from_ptr(self) }.store(value, order);
    }
}

#[cfg(target_pointer_width = "64")]
impl Word for u64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> Self {
        // SAFETY: as of 32 bits.
        unsafe { AtomicU64::from_ptr(from_ref(self).cast_mut()) }.load(order)
    }

    #[inline(always)]
    fn store(&mut self, value: Self, order: Ordering) {
        // SAFETY: as of 32 bits.
        unsafe { AtomicU64::from_ptr(self) }.store(value, order);
    }
}

/// In two halves where the machine has no more: readers beside a writer need one of 64 bits.
#[cfg(not(target_pointer_width = "64"))]
impl Word for u64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> Self {
        let value = snapshot(self);
        if order == Ordering::Acquire {
            core::sync::atomic::fence(order);
        }
        value
    }

    #[inline(always)]
    fn store(&mut self, value: Self, order: Ordering) {
        if order == Ordering::Release {
            core::sync::atomic::fence(order);
        }
        // SAFETY: present, aligned, and ours alone to write as a unique reference is.
        unsafe { core::ptr::from_mut(self).write_volatile(value) };
    }
}

/// A copy of something that another process may be writing, read here, once, and not again: whole if it is a word, else
/// perhaps torn.
#[inline(always)]
pub fn snapshot<T: Pod>(x: &T) -> T {
    // SAFETY: present and aligned as a reference is; every pattern of bits is a value.
    unsafe { from_ref(x).read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_loaded_and_stored_whole() {
        let (mut small, mut large) = (7u32, 7u64);
        small.store(u32::MAX - 1, Ordering::Release);
        large.store(u64::MAX - 1, Ordering::Relaxed);
        assert_eq!((small.load(Ordering::Acquire), small), (u32::MAX - 1, u32::MAX - 1));
        assert_eq!((large.load(Ordering::Relaxed), large), (u64::MAX - 1, u64::MAX - 1));
        assert_eq!(snapshot(&[1u64, 2, 3]), [1, 2, 3]);
    }
}
