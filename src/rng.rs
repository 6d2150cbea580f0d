//! The only source of randomness: PCG64 as in numpy's `Generator`, with its state as plain bytes.
//!
//! A seed gives the same stream as in numpy and Gymnasium (spec: SeedSequence, PCG XSL-RR 128/64, numpy's bounded draws).

use core::mem::{swap, take};

use bytemuck::{Pod, Zeroable};
use rand_pcg::Lcg128Xsl64;
use rand_pcg::rand_core::Rng as _;

use crate::cpu::{self, FEW_WAYS};
use crate::num;

/// A random stream. Plain data: copying it copies the stream.
///
/// ```
/// use rlcore::rng::Rng;
///
/// let mut rng = Rng::seeded(7); // numpy.random.Generator(PCG64(7)), draw for draw
/// let saved = rng;
/// let first = rng.uniform_in(-1.0, 1.0);
/// rng = saved; // copying it copies the stream
/// assert_eq!(rng.uniform_in(-1.0, 1.0), first);
/// assert_ne!(Rng::stream(7, 0), Rng::stream(7, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Rng {
    /// 128-bit position, low word first; the generator's own state is one step ahead of it.
    state: [u64; 2],
    /// 128-bit stream number, low word first; the increment is twice this plus one.
    stream: [u64; 2],
    /// Upper half of the last 64-bit draw, kept for the next 32-bit draw as in numpy; 0 once taken.
    half: u32,
    /// 1 while `half` is pending.
    has_half: u32,
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

impl Rng {
    /// The stream that `numpy.random.Generator(PCG64(seed))` draws from.
    pub fn seeded(seed: u64) -> Self {
        Rng::from_sequence(seed_sequence(seed, None))
    }

    /// Independent stream number `stream` of a seed: numpy's `SeedSequence(seed, spawn_key=(stream,))`, as for the children of
    /// `SeedSequence(seed).spawn`.
    pub fn stream(seed: u64, stream: u64) -> Self {
        Rng::from_sequence(seed_sequence(seed, Some(stream)))
    }

    fn from_sequence(q: [u64; 4]) -> Self {
        let init = u128::from(q[0]) << 64 | u128::from(q[1]);
        let stream = (u128::from(q[2]) << 64 | u128::from(q[3])) & (u128::MAX >> 1);
        // `Lcg128Xsl64::new(p, stream)` lands in (p + inc) * M + inc, which is numpy's seeded state for p = init.
        Rng { state: split(init), stream: split(stream), half: 0, has_half: 0 }
    }

    /// Whether these are bytes of a valid stream; `attach` checks this for an image.
    pub fn is_valid(&self) -> bool {
        self.stream[1] >> 63 == 0 && (self.has_half == 1 || self.has_half == 0 && self.half == 0)
    }

    /// The next 64 random bits.
    #[cfg_attr(feature = "avx2", inline)]
    #[cfg_attr(not(feature = "avx2"), inline(never))]
    pub fn next_u64(&mut self) -> u64 {
        let (p, stream) = (join(self.state), join(self.stream));
        let draw = Lcg128Xsl64::new(p, stream).next_u64();
        self.state = split(p.wrapping_add(stream << 1 | 1).wrapping_mul(MULTIPLIER));
        draw
    }

    /// The next 32 random bits: the lower half of a 64-bit draw, then its upper half.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.has_half != 0 {
            self.has_half = 0;
            return take(&mut self.half);
        }
        let draw = self.next_u64();
        self.half = (draw >> 32) as u32;
        self.has_half = 1;
        draw as u32
    }

    /// Uniform in [0, 1) with 53 random bits: numpy's `random()`.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [0, 1) with 24 random bits: numpy's `random(dtype=float32)`.
    #[inline]
    pub fn uniform_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in [low, high): numpy's `uniform(low, high)`.
    #[inline]
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Log-uniform between `low` and `high`, as btgym draws hyperparameters; 1e-12 is added to both, so that either may be 0.
    /// Equal bounds return that number, and also take a draw.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        const ABOVE: f64 = 1e-12;
        let part = self.uniform();
        if low == high {
            return low;
        }
        num::exp64((1.0 - part) * num::ln64(low + ABOVE) + part * num::ln64(high + ABOVE))
    }

    /// A fair coin: false if `uniform() < 0.5`.
    #[inline]
    pub fn coin(&mut self) -> bool {
        self.uniform() >= 0.5
    }

    /// Uniform in [0, max], both ends included, without bias (Lemire's multiplication): 32-bit draws if `max` fits into
    /// 32 bits, else 64-bit draws. Draws nothing for 0.
    #[cfg_attr(feature = "avx2", inline)]
    #[cfg_attr(not(feature = "avx2"), inline(never))]
    pub fn bounded(&mut self, max: u64) -> u64 {
        match u32::try_from(max) {
            Ok(0) => 0,
            Ok(max) => {
                let Some(count) = max.checked_add(1) else { return u64::from(self.next_u32()) };
                let mut product = u64::from(self.next_u32()) * u64::from(count);
                if (product as u32) < count {
                    let biased = count.wrapping_neg().checked_rem(count).unwrap_or(0);
                    while (product as u32) < biased {
                        product = u64::from(self.next_u32()) * u64::from(count);
                    }
                }
                product >> 32
            }
            Err(_) => {
                let Some(count) = max.checked_add(1) else { return self.next_u64() };
                let mut product = u128::from(self.next_u64()) * u128::from(count);
                if (product as u64) < count {
                    let biased = count.wrapping_neg().checked_rem(count).unwrap_or(0);
                    while (product as u64) < biased {
                        product = u128::from(self.next_u64()) * u128::from(count);
                    }
                }
                (product >> 64) as u64
            }
        }
    }

    /// Uniform in [0, max] as in numpy's shuffle: the low bits of draws until they are at most `max`.
    #[inline]
    fn masked(&mut self, max: u64) -> u64 {
        if max == 0 {
            return 0;
        }
        let mask = u64::MAX.checked_shr(max.leading_zeros()).unwrap_or(0);
        loop {
            let draw = if max > u64::from(u32::MAX) { self.next_u64() } else { self.next_u32().into() } & mask;
            if draw <= max {
                return draw;
            }
        }
    }

    /// Uniform in [low, high): numpy's `integers(low, high)`. An empty range gives `low` and draws nothing.
    #[inline]
    pub fn integers(&mut self, low: i64, high: i64) -> i64 {
        let count = if high > low { high.wrapping_sub(low) as u64 } else { 1 };
        low.wrapping_add(self.bounded(count.wrapping_sub(1)) as i64)
    }

    /// Shuffles the elements: numpy's `shuffle` of a one-dimensional array.
    #[inline]
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        let mut left = elements;
        while let [others @ .., last] = left {
            // One of `others.len() + 1` elements moves to the last place; it may be the one that is there.
            if let Some(other) = others.get_mut(self.masked(others.len() as u64) as usize) {
                swap(other, last);
            }
            left = others;
        }
    }

    /// Shuffles runs of `len` elements; each run stays together. With a length of 1 this is [`Rng::shuffle`].
    pub fn shuffle_runs<T>(&mut self, elements: &mut [T], len: usize) {
        let mut left = elements;
        let mut others = left.len().checked_div(len).unwrap_or(0);
        while let Some(before) = others.checked_sub(1) {
            others = before;
            let Some((rest, last)) = left.split_at_mut_checked(before.saturating_mul(len)) else { break };
            let begin = (self.masked(before as u64) as usize).saturating_mul(len);
            if let Some(other) = rest.get_mut(begin..begin.saturating_add(len)) {
                other.iter_mut().zip(last).for_each(|(a, b)| swap(a, b));
            }
            left = rest;
        }
    }

    /// Fills `out` with 0, 1, 2, ... in random order: numpy's `permutation(out.len())`.
    pub fn permutation(&mut self, out: &mut [u32]) {
        for (x, i) in out.iter_mut().zip(0..) {
            *x = i;
        }
        self.shuffle(out);
    }

    /// A standard normal number: [`Rng::fill_normal`] of one element.
    #[inline]
    pub fn normal_f32(&mut self) -> f32 {
        normal_pair(self.next_u64()).0
    }

    /// Fills `out` with standard normal numbers, by the Box-Muller method, unlike numpy: elements 2i and 2i + 1 come from the
    /// i-th 64-bit draw, and none exceeds 6.67 in absolute value.
    pub fn fill_normal(&mut self, out: &mut [f32]) {
        cpu::dispatch(FillNormal { rng: self, out });
    }

    /// Fills the rows of `out`, one for each of `streams`, as [`Rng::fill_normal`] of that stream does; a row of odd length
    /// drops the second number of its last draw.
    pub fn fill_normal_rows(streams: &mut [Rng], out: &mut [f32]) {
        match streams {
            [stream] => stream.fill_normal(out),
            _ if FEW_WAYS => {
                let width = out.len().checked_div(streams.len()).unwrap_or(0).max(1);
                streams.iter_mut().zip(out.chunks_exact_mut(width)).for_each(|(stream, row)| stream.fill_normal(row));
            }
            _ => cpu::dispatch(FillNormalRows { streams, out }),
        }
    }
}

struct FillNormalRows<'a> {
    streams: &'a mut [Rng],
    out: &'a mut [f32],
}

impl cpu::Kernel for FillNormalRows<'_> {
    type Output = ();

    /// Sixteen pairs at once, across as many rows as needed.
    #[inline(always)]
    fn run(self) {
        let width = self.out.len().checked_div(self.streams.len()).unwrap_or(0).max(1);
        let rows = self.streams.iter_mut().zip(self.out.chunks_exact_mut(width));
        let mut pairs = rows.flat_map(|(rng, row)| row.chunks_mut(2).map(move |pair| (rng.next_u64(), pair)));
        loop {
            let (mut draws, mut places) = ([0; 16], [(); 16].map(|()| Default::default()));
            let mut any = false;
            for ((draw, place), pair) in draws.iter_mut().zip(&mut places).zip(pairs.by_ref()) {
                ((*draw, *place), any) = (pair, true);
            }
            if !any {
                return;
            }
            let (mut even, mut odd) = ([0.0; 16], [0.0; 16]);
            for ((even, odd), &draw) in even.iter_mut().zip(&mut odd).zip(&draws) {
                (*even, *odd) = normal_pair(draw);
            }
            for ((place, even), odd) in places.into_iter().zip(even).zip(odd) {
                for (out, x) in place.iter_mut().zip([even, odd]) {
                    *out = x;
                }
            }
        }
    }
}

struct FillNormal<'a> {
    rng: &'a mut Rng,
    out: &'a mut [f32],
}

impl cpu::Kernel for FillNormal<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (rows, rest) = if FEW_WAYS { (&mut [] as &mut [_], self.out) } else { self.out.as_chunks_mut::<32>() };
        for row in rows {
            let draws = [(); 16].map(|()| self.rng.next_u64());
            let (mut even, mut odd) = ([0.0; 16], [0.0; 16]);
            for ((even, odd), &draw) in even.iter_mut().zip(&mut odd).zip(&draws) {
                (*even, *odd) = normal_pair(draw);
            }
            for ((out, a), b) in row.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
                *out = [a, b];
            }
        }
        for pair in rest.chunks_mut(2) {
            let (a, b) = normal_pair(self.rng.next_u64());
            for (out, x) in pair.iter_mut().zip([a, b]) {
                *out = x;
            }
        }
    }
}

/// Two independent standard normal numbers: 31 bits for the radius, 32 for the angle.
#[inline(always)]
fn normal_pair(draw: u64) -> (f32, f32) {
    let u = ((draw as u32 >> 1) as i32 as f32 + 0.5) * (1.0 / (1u32 << 31) as f32);
    let radius = num::root(-2.0 * num::ln(u));
    let (sin, cos) = num::sin_cos_turn((draw >> 32) as u32);
    (radius * cos, radius * sin)
}

#[inline]
fn join(words: [u64; 2]) -> u128 {
    u128::from(words[1]) << 64 | u128::from(words[0])
}

#[inline]
fn split(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// numpy's `SeedSequence(seed).generate_state(4, uint64)`, with `spawn_key=(key,)` if there is a key.
fn seed_sequence(seed: u64, key: Option<u64>) -> [u64; 4] {
    let mut k = 0x43b0_d7e5_u32;
    let mut hash = |v: u32| {
        let v = v ^ k;
        k = k.wrapping_mul(0x931e_8875);
        let v = v.wrapping_mul(k);
        v ^ v >> 16
    };
    let mix = |x: u32, y: u32| {
        let r = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
        r ^ r >> 16
    };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(&mut hash);
    for i in 0..4 {
        for j in 0..4 {
            if i != j {
                pool[j] = mix(pool[j], hash(pool[i]));
            }
        }
    }
    // A key takes as many words as it needs, at least one.
    let (low, high) = (key.map(|k| k as u32), key.map(|k| (k >> 32) as u32).filter(|&word| word != 0));
    for word in low.into_iter().chain(high) {
        pool = pool.map(|x| mix(x, hash(word)));
    }
    let mut k = 0x8b51_f9dd_u32;
    let mut out = || {
        let mut word = |v: u32| {
            let v = v ^ k;
            k = k.wrapping_mul(0x58f3_8ded);
            let v = v.wrapping_mul(k);
            u64::from(v ^ v >> 16)
        };
        pool.map(&mut word)
    };
    let ([a, b, c, d], [e, f, g, h]) = (out(), out());
    [a | b << 32, c | d << 32, e | f << 32, g | h << 32]
}
