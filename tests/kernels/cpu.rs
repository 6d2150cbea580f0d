//! Fused multiply-adds of every CPU level against `f32::mul_add`, above all where a sum in f64 would be rounded wrongly.

use rlcore::cpu::{self, At, Kernel, LEVELS};
use rlcore::num::canonical;
use rlcore::rng::Rng;

/// Computes `sum + x * w` for every `[sum, x, w]`.
struct Fused<'a, const N: usize>(&'a [[f32; 3]]);

impl<const N: usize> Kernel for Fused<'_, N> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run(self) -> Vec<u32> {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Vec<u32> {
        let mut all = Vec::new();
        for triples in self.0.chunks(N) {
            let [mut sums, x, w] = [0, 1, 2].map(|which| {
                let mut lanes = [0.0; N];
                lanes.iter_mut().zip(triples).for_each(|(lane, triple)| *lane = triple[which]);
                lanes
            });
            at.fused(&mut sums, &x, &w);
            all.extend(sums.iter().take(triples.len()).map(|sum| canonical(*sum).to_bits()));
        }
        all
    }
}

/// Checks arrays of one lane, of whole vectors, and of vectors and a remainder.
fn check(triples: &[[f32; 3]]) {
    let want: Vec<u32> = triples.iter().map(|[sum, x, w]| canonical(x.mul_add(*w, *sum)).to_bits()).collect();
    for level in LEVELS {
        cpu::set_limit(level);
        let (one, whole) = (cpu::dispatch(Fused::<1>(triples)), cpu::dispatch(Fused::<16>(triples)));
        for got in [one, whole, cpu::dispatch(Fused::<39>(triples))] {
            for ((triple, got), want) in triples.iter().zip(got).zip(&want) {
                let [got, want] = [got, *want].map(f32::from_bits);
                assert!(got.to_bits() == want.to_bits(), "{triple:?} at {:?}: {got:e}, not {want:e}", cpu::level());
            }
        }
    }
    cpu::set_limit(LEVELS[2]);
}

/// Every triple with every choice of signs.
fn signed(triples: impl IntoIterator<Item = [f32; 3]>) -> Vec<[f32; 3]> {
    let signs = |[sum, x, w]: [f32; 3]| [[sum, x, w], [-sum, x, w], [sum, -x, w], [sum, x, -w]];
    triples.into_iter().flat_map(signs).collect()
}

#[test]
fn random_triples() {
    let mut rng = Rng::seeded(1);
    // Arbitrary bits, and sums near the product, where both cancel.
    let any: Vec<_> = (0..300_000).map(|_| [(); 3].map(|()| f32::from_bits(rng.next_u64() as u32))).collect();
    check(&any);
    let near = (0..300_000).map(|_| {
        let [x, w] = [(); 2].map(|()| rng.uniform_in(-2.0, 2.0) as f32);
        let scale = 2f32.powi((rng.next_u64() % 60) as i32 - 30);
        [f32::from_bits((x * w * scale).to_bits() ^ (rng.next_u64() as u32 & 0x8000_0007)), x * scale, w]
    });
    check(&near.collect::<Vec<_>>());
}

#[test]
fn sums_half_way_between_two_numbers() {
    let (up, down) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    // 1 - 2^-46 beside 2^24: too long for f64, whose sum lies half-way. Sums that are exactly half-way, too.
    let sums = [16_777_216.0, 16_777_218.0, 16_777_220.0, f32::MAX / 2f32.powi(103)];
    let all =
        sums.into_iter().flat_map(|sum| [[up, down], [up, up], [down, down], [1.0, 1.0]].map(|[x, w]| [sum, x, w]));
    let scaled = all.flat_map(|[sum, x, w]| [-100, -30, 0, 30, 103].map(|e| [sum * 2f32.powi(e), x * 2f32.powi(e), w]));
    check(&signed(scaled));
}

#[test]
fn sums_below_the_normal_numbers() {
    let (scale_x, scale_w) = (2f32.powi(-100), 2f32.powi(-50));
    let (up, down) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    let bits =
        [0, 1, 2, 3, 0x7_ffff, 0x8_0000, 0x8_0001, 0x8_0002, 0x8_0003, 0x7f_fffe, 0x7f_ffff, 0x80_0000, 0x80_0001];
    let sums = bits.map(f32::from_bits);
    // 1 + 2^-32 - 118 / 2^46: the sum in f64 is one unit off half-way, and its error points there.
    let beside = [1.0 + 2894.0 * f32::EPSILON, 1.0 - 2893.0 * f32::EPSILON];
    let products = [[up, up], [up, down], [down, up], [down, down], [1.0, 1.0], [0.5, 0.5], [3.0, 1.0], beside];
    let all = sums.into_iter().flat_map(|sum| products.map(|[x, w]| [sum, x / 2.0 * scale_x, w * scale_w]));
    let larger = all.flat_map(|[sum, x, w]| [1.0, 2.0, 4.0, 8.0].map(|by| [sum, x, w * by]));
    check(&signed(larger));
}

#[test]
fn special_numbers() {
    let one = [0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1.0, 3.0, f32::MAX, f32::INFINITY, f32::NAN];
    let all = one.into_iter().flat_map(|a| one.into_iter().flat_map(move |b| one.map(|c| [a, b, c])));
    let all = signed(all.collect::<Vec<_>>());
    let flip = |[sum, x, w]: [f32; 3]| [-sum, -x, -w];
    let both: Vec<_> = all.iter().copied().chain(all.iter().copied().map(flip)).collect();
    check(&both);
}
