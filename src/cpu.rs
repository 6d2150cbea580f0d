//! The only module that knows the processor's instruction set.
//!
//! A kernel is written once, as plain safe loops over fixed-width lanes, and compiled here for each level. The kernel fixes the
//! order of every sum. A multiply-add is rounded twice, unless the kernel calls [`At::fused`], which rounds once with any
//! instructions. So all levels give the same bytes.
#![allow(unsafe_code)]

use bytemuck::Pod;
use core::ptr::from_ref;
#[cfg(target_pointer_width = "64")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Instruction sets, each including the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Baseline of the compilation target: SSE2 on x86-64, NEON on aarch64, plain scalar code elsewhere.
    Base = 0,
    /// x86-64 with AVX2 and FMA.
    Avx2 = 1,
    /// x86-64 with AVX-512 F, BW, DQ and VL, and FMA.
    Avx512 = 2,
}

/// All levels, lowest first.
pub const LEVELS: [Level; 3] = [Level::Base, Level::Avx2, Level::Avx512];

/// Whether kernels omit variants that only save time, to reduce code size; the results are the same bits.
pub(crate) const FEW_WAYS: bool = !cfg!(feature = "avx2");

/// Work that is compiled once per level. `run` must be `#[inline(always)]`, and so must every function that it calls in a hot
/// loop, or they stay at the base level.
pub trait Kernel {
    /// Result of the work.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;

    /// Does the work with the block shapes and multiply-adds of a level. The result must not depend on the level.
    #[inline(always)]
    fn run_at<A: At>(self, _at: A) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
}

/// A level that this processor supports: [`Base`], or the one that [`dispatch`] passes.
pub trait At: Copy {
    /// The level.
    const LEVEL: Level;

    /// `sums + x * w` in every lane, rounded once, as IEEE 754 defines a fused multiply-add. The bits of a NaN may differ.
    fn fused<const N: usize>(self, sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]);

    /// Runs a part of a kernel as a separate function, so that its values in registers do not compete with those of the rest.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;
}

/// [`Level::Base`].
#[derive(Clone, Copy, Debug)]
pub struct Base;

/// [`Level::Avx2`]. It exists only where the processor supports it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// [`Level::Avx512`]. It exists only where the processor supports it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// [`At::fused`]: `$all` handles arrays of `$lanes` lanes, `$one` each remaining lane.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! fused {
    ($all_sums:ident, $all_x:ident, $all_w:ident, $lanes:literal,
     |$sums:ident, $x:ident, $w:ident| $all:expr, |$sum:ident| $one:expr) => {
        let (sums, last_sums) = $all_sums.as_chunks_mut::<$lanes>();
        let ((x, last_x), (w, last_w)) = ($all_x.as_chunks::<$lanes>(), $all_w.as_chunks::<$lanes>());
        // SAFETY: the processor supports the level, and with it the instructions; they access these arrays only.
        unsafe {
            for (($sums, $x), $w) in sums.iter_mut().zip(x).zip(w) {
                $all
            }
            for (($sum, $x), $w) in last_sums.iter_mut().zip(last_x).zip(last_w) {
                $one
            }
        }
    };
}

impl At for Base {
    const LEVEL: Level = Level::Base;

    #[inline(always)]
    fn fused<const N: usize>(self, sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
        base::fused(sums, x, w);
    }

    #[inline(never)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run_at(self)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{At, Avx2, Avx512, Kernel, Level};
    use core::arch::x86_64::*;

    impl At for Avx2 {
        const LEVEL: Level = Level::Avx2;

        #[inline(always)]
        fn fused<const N: usize>(self, sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
            fused!(
                sums,
                x,
                w,
                8,
                |sums, x, w| {
                    let (x, w) = (_mm256_loadu_ps(x.as_ptr()), _mm256_loadu_ps(w.as_ptr()));
                    _mm256_storeu_ps(sums.as_mut_ptr(), _mm256_fmadd_ps(x, w, _mm256_loadu_ps(sums.as_ptr())));
                },
                |sum| *sum = _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(*x), _mm_set_ss(*w), _mm_set_ss(*sum)))
            );
        }

        #[inline(never)]
        fn call<K: Kernel>(self, kernel: K) -> K::Output {
            // SAFETY: `Avx2` exists only where the processor supports it.
            unsafe { run_avx2(kernel) }
        }
    }

    impl At for Avx512 {
        const LEVEL: Level = Level::Avx512;

        #[inline(always)]
        fn fused<const N: usize>(self, sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
            fused!(
                sums,
                x,
                w,
                16,
                |sums, x, w| {
                    let (x, w) = (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(w.as_ptr()));
                    _mm512_storeu_ps(sums.as_mut_ptr(), _mm512_fmadd_ps(x, w, _mm512_loadu_ps(sums.as_ptr())));
                },
                |sum| *sum = _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(*x), _mm_set_ss(*w), _mm_set_ss(*sum)))
            );
        }

        #[inline(never)]
        fn call<K: Kernel>(self, kernel: K) -> K::Output {
            // SAFETY: `Avx512` exists only where the processor supports it.
            unsafe { run_avx512(kernel) }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run_at(Avx2(()))
    }

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    pub fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run_at(Avx512(()))
    }
}

#[cfg(target_arch = "aarch64")]
mod base {
    use core::arch::aarch64::*;

    #[inline(always)]
    pub fn fused<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
        fused!(
            sums,
            x,
            w,
            4,
            |sums, x, w| {
                let (x, w) = (vld1q_f32(x.as_ptr()), vld1q_f32(w.as_ptr()));
                vst1q_f32(sums.as_mut_ptr(), vfmaq_f32(vld1q_f32(sums.as_ptr()), x, w));
            },
            |sum| *sum = vget_lane_f32::<0>(vfma_f32(vdup_n_f32(*sum), vdup_n_f32(*x), vdup_n_f32(*w)))
        );
    }
}

#[cfg(all(any(target_arch = "riscv32", target_arch = "riscv64"), any(target_feature = "f", feature = "fma")))]
mod base {
    #[inline(always)]
    pub fn fused<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            // SAFETY: part of the F extension; all operands are registers.
            unsafe {
                core::arch::asm!("fmadd.s {0}, {1}, {2}, {0}", inout(freg) *sum, in(freg) *x, in(freg) *w,
                    options(pure, nomem, nostack));
            }
        }
    }
}

/// Cortex-M with a floating-point unit. Stable Rust has no operands in its registers, so the loop saves and restores three.
#[cfg(all(target_arch = "arm", feature = "fma"))]
mod base {
    #[inline(always)]
    pub fn fused<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
        const { assert!(N > 0) }
        // SAFETY: the feature guarantees the instruction; accesses N elements of each array and restores the stack.
        unsafe {
            core::arch::asm!(
                "vpush {{s0, s1, s2}}",
                "2:",
                "vldmia {x}!, {{s0}}",
                "vldmia {w}!, {{s1}}",
                "vldr s2, [{sums}]",
                "vfma.f32 s2, s0, s1",
                "vstmia {sums}!, {{s2}}",
                "subs {left}, {left}, #1",
                "bne 2b",
                "vpop {{s0, s1, s2}}",
                x = inout(reg) x.as_ptr() => _,
                w = inout(reg) w.as_ptr() => _,
                sums = inout(reg) sums.as_mut_ptr() => _,
                left = inout(reg) N => _,
            );
        }
    }
}

/// Processors without such an instruction. Cortex-M and RISC-V processors that have one declare it by the feature `fma`, since
/// stable Rust does not.
#[cfg(not(any(
    target_arch = "aarch64",
    all(target_arch = "arm", feature = "fma"),
    all(any(target_arch = "riscv32", target_arch = "riscv64"), any(target_feature = "f", feature = "fma"))
)))]
mod base {
    /// The product is exact in f64. Its sum is rounded to f64 first, which matters only where that lies half-way between two
    /// f32, or between two subnormal ones: there the sum is computed again.
    #[inline(always)]
    pub fn fused<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
        let mut next = [0.0f32; N];
        let mut doubtful = false;
        for (((next, sum), x), w) in next.iter_mut().zip(&*sums).zip(x).zip(w) {
            let q = f64::from(*x) * f64::from(*w) + f64::from(*sum);
            *next = q as f32;
            let half_way = (q.to_bits() as u32) << 3 == 1 << 31;
            // From the smallest number to the first normal one. A result of 0 had enough room in f64 to be exact.
            let tiny = (next.to_bits() & 0x7fff_ffff).wrapping_sub(1) < 1 << 23;
            doubtful |= half_way | tiny;
        }
        if doubtful {
            // Copies, so that the others stay in registers.
            let (x, w) = (*x, *w);
            next = *sums;
            add_exactly(&mut next, &x, &w);
        }
        *sums = next;
    }

    #[cold]
    fn add_exactly(sums: &mut [f32], x: &[f32], w: &[f32]) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            *sum = to_odd(f64::from(*x) * f64::from(*w), f64::from(*sum)) as f32;
        }
    }

    /// `p + c` rounded to odd: toward 0, with the last bit set if that is inexact. So the next rounding, to fewer bits, is
    /// correct.
    fn to_odd(p: f64, c: f64) -> f64 {
        let q = p + c;
        let v = q - p;
        let error = (p - (q - v)) + (c - v);
        if error == 0.0 || error.is_nan() {
            return q;
        }
        let too_far = (error > 0.0) != (q > 0.0);
        f64::from_bits(q.to_bits().wrapping_sub(u64::from(too_far)) | 1)
    }
}

static LIMIT: AtomicU8 = AtomicU8::new(Level::Avx512 as u8);

/// Uses no level above `level` from now on. Results never change, only speed: for tests and measurements.
pub fn set_limit(level: Level) {
    LIMIT.store(level as u8, Ordering::Relaxed);
}

/// Level that [`dispatch`] currently uses.
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

/// Runs a kernel at the best level of this processor within the limit.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    {
        // SAFETY: `level` never returns a level whose features were not detected on this processor.
        match level() {
            #[cfg(feature = "simd")]
            Level::Avx512 => return unsafe { x86::run_avx512(kernel) },
            #[cfg(not(feature = "simd"))]
            Level::Avx512 => {}
            Level::Avx2 => return unsafe { x86::run_avx2(kernel) },
            Level::Base => {}
        }
    }
    kernel.run_at(Base)
}

/// Prefetches the cache line of element `i` for a later read; a hint without other effects.
#[inline(always)]
pub fn prefetch<T>(x: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: part of baseline x86-64; a hint that reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_add(i).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, i);
}

/// Prefetches all cache lines of `len` elements from `i` on into the second-level cache, for a read still later than that of
/// [`prefetch`].
#[inline(always)]
pub fn prefetch_far(x: &[f32], i: usize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for i in (i..i.wrapping_add(len)).step_by(16) {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: as in `prefetch`.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(x.as_ptr().wrapping_add(i).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, i, len);
}

/// Square root by a processor instruction, correctly rounded, if one is known to exist. Loops of it are vectorized.
#[inline(always)]
pub fn sqrt(x: f32) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
        // SAFETY: part of baseline x86-64.
        Some(unsafe { _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))) })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = x;
        None
    }
}

/// Transposes a square of 32-bit words: `[i][j]` becomes `[j][i]`. A loop would be compiled to single moves.
#[inline(always)]
pub fn turn<T: Pod>(square: [[T; 4]; 4]) -> [[T; 4]; 4] {
    const { assert!(size_of::<T>() == 4, "words of 32 bits") }
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{
            __m128i, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
        };
        let [a, b, c, d] = square.map(bytemuck::cast::<[T; 4], __m128i>);
        // SAFETY: part of baseline x86-64.
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

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
mod detect {
    use super::Level;

    cpufeatures::new!(avx2, "avx2", "fma");
    cpufeatures::new!(avx512, "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl");

    #[inline]
    pub fn best() -> Level {
        if cfg!(feature = "simd") && avx512::get() {
            Level::Avx512
        } else if avx2::get() {
            Level::Avx2
        } else {
            Level::Base
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", feature = "avx2")))]
mod detect {
    #[inline]
    pub fn best() -> super::Level {
        super::Level::Base
    }
}

/// Replaces `from` by `to`, if the word holds `from`, and returns whether it did.
#[cfg(target_has_atomic = "32")]
pub fn exchange(word: &AtomicU32, from: u32, to: u32, order: Ordering) -> bool {
    word.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
}

/// Same, for processors without compare-and-swap. They have one core; there, only one thread at a time may change the word.
#[cfg(not(target_has_atomic = "32"))]
pub fn exchange(word: &AtomicU32, from: u32, to: u32, _: Ordering) -> bool {
    let same = word.load(Ordering::Acquire) == from;
    if same {
        word.store(to, Ordering::Release);
    }
    same
}

/// The word as an atomic, to be stored whole through a copy of the reference.
#[inline(always)]
pub fn atomic(word: &mut u32) -> &AtomicU32 {
    // SAFETY: valid, aligned, and exclusively borrowed as long as the reference lives.
    unsafe { AtomicU32::from_ptr(word) }
}

/// A word that one process writes while others read it: accesses are never torn, and never cached or repeated by the compiler.
pub trait Word: Copy {
    /// Loads the word. `order` is `Acquire` or `Relaxed`.
    fn load(&self, order: Ordering) -> Self;

    /// Stores the word. `order` is `Release` or `Relaxed`.
    fn store(&mut self, value: Self, order: Ordering);
}

impl Word for u32 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> Self {
        // SAFETY: valid and aligned as a reference is. Loads write nothing: a machine word may be loaded atomically even
        // from read-only memory, and nothing is stored through this pointer.
        unsafe { AtomicU32::from_ptr(from_ref(self).cast_mut()) }.load(order)
    }

    #[inline(always)]
    fn store(&mut self, value: Self, order: Ordering) {
        // SAFETY: valid, aligned, and exclusively borrowed.
        unsafe { AtomicU32::from_ptr(self) }.store(value, order);
    }
}

#[cfg(target_pointer_width = "64")]
impl Word for u64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> Self {
        // SAFETY: as for `u32`.
        unsafe { AtomicU64::from_ptr(from_ref(self).cast_mut()) }.load(order)
    }

    #[inline(always)]
    fn store(&mut self, value: Self, order: Ordering) {
        // SAFETY: as for `u32`.
        unsafe { AtomicU64::from_ptr(self) }.store(value, order);
    }
}

/// Two halves on machines without 64-bit words: readers beside a writer need a 64-bit machine.
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
        // SAFETY: valid, aligned, and exclusively borrowed.
        unsafe { core::ptr::from_mut(self).write_volatile(value) };
    }
}

/// A copy of a value that another process may be writing, read exactly once: whole if it is a word, else possibly torn.
#[inline(always)]
pub fn snapshot<T: Pod>(x: &T) -> T {
    // SAFETY: valid and aligned as a reference is; every bit pattern is a value.
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
