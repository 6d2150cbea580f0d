//! The only source of randomness: PCG64 as numpy's `Generator` uses it, with its state as plain bytes.
//!
//! A seed means the same here as in numpy and Gymnasium (spec: SeedSequence, PCG XSL-RR 128/64, numpy's bounded draws).

use bytemuck::{Pod, Zeroable};
use rand_pcg::Lcg128Xsl64;
use rand_pcg::rand_core::Rng as _;

/// A random stream. Plain data: copying it copies the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Rng {
    /// 128-bit position, low word first; the generator's own state is one step ahead of it.
    state: [u64; 2],
    /// 128-bit stream number, low word first; the increment is twice this plus one.
    stream: [u64; 2],
    /// The upper half of the last 64-bit draw, kept for the next 32-bit draw as numpy does.
    half: u32,
    /// 1 while `half` is waiting.
    has_half: u32,
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

impl Rng {
    /// The stream that `numpy.random.Generator(PCG64(seed))` draws from.
    pub fn seeded(seed: u64) -> Self {
        let q = seed_sequence(seed);
        let init = u128::from(q[0]) << 64 | u128::from(q[1]);
        let stream = (u128::from(q[2]) << 64 | u128::from(q[3])) & (u128::MAX >> 1);
        // `Lcg128Xsl64::new(p, stream)` lands in (p + inc) * M + inc, which is numpy's seeded state for p = init.
        Rng { state: split(init), stream: split(stream), half: 0, has_half: 0 }
    }

    /// The next 64 random bits.
    #[inline]
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
            return self.half;
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

    /// Uniform in [low, high): numpy's `uniform(low, high)`.
    #[inline]
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A fair coin: false if `uniform() < 0.5`.
    #[inline]
    pub fn coin(&mut self) -> bool {
        self.uniform() >= 0.5
    }
}

#[inline]
fn join(words: [u64; 2]) -> u128 {
    u128::from(words[1]) << 64 | u128::from(words[0])
}

#[inline]
fn split(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// numpy's `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_sequence(seed: u64) -> [u64; 4] {
    let words = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut k = 0x43b0_d7e5u32;
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
    let mut pool = words.map(&mut hash);
    for i in 0..4 {
        for j in 0..4 {
            if i != j {
                pool[j] = mix(pool[j], hash(pool[i]));
            }
        }
    }
    let mut k = 0x8b51_f9ddu32;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_equal_numpy() {
        assert_eq!(Rng::seeded(0).next_u64(), 0xa30f_ebcf_d9c2_825f);
        for (seed, draws) in [
            (0, [0.6369616873214543, 0.2697867137638703, 0.04097352393619469, 0.016527635528529094]),
            (1, [0.5118216247002567, 0.9504636963259353, 0.14415961271963373, 0.9486494471372439]),
            (42, [0.7739560485559633, 0.4388784397520523, 0.8585979199113825, 0.6973680290593639]),
            ((1 << 32) + 5, [0.7742041803738812, 0.47072268318809307, 0.6958803443421149, 0.8165376458429717]),
        ] {
            let mut rng = Rng::seeded(seed);
            assert_eq!(draws.map(|_| rng.uniform()), draws, "seed {seed}");
        }
    }
}
