//! The f32 functions against f64, over a sweep of all bit patterns, and every CPU level against the lowest.

use proptest::prelude::*;
use rlcore::cpu::{self, Kernel, LEVELS, Level};
use rlcore::num;

/// Stride of the bit patterns tried; a prime, so that low bits vary.
const STEP: usize = 2053;

/// The distance between neighboring f32 at `exact`.
fn ulp(exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.clamp(-126, 127) - 23)
}

fn inputs(step: usize) -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(step).map(f32::from_bits)
}

/// Asserts that `f` stays within `bound` ulp of `exact`, and that infinities and NaN are where they should be.
fn check(name: &str, step: usize, bound: f64, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) {
    let (mut worst, mut at) = (0.0, 0.0);
    for x in inputs(step) {
        let (got, want) = (f(x), exact(f64::from(x)));
        let nearest = want as f32;
        if nearest.is_nan() {
            assert_eq!(got.to_bits(), f32::NAN.to_bits(), "{name}({x:e})");
        } else if got != nearest {
            let error = (f64::from(got) - want).abs() / ulp(want);
            assert!(error <= bound, "{name}({x:e}) = {got:e}, exactly {want:e}: {error} ulp");
            if error > worst {
                (worst, at) = (error, x);
            }
        }
    }
    println!("{name}: {worst:.3} ulp at {at:e}");
}

fn turn(x: f64, f: fn(f64) -> f64) -> f64 {
    f(if x.abs() <= 4_194_304.0 { x } else { x * 0.0 })
}

/// `f` between bounds, 0 elsewhere.
fn normal<T: From<f32> + PartialOrd>(low: f32, high: f32, f: fn(T) -> T) -> impl Fn(T) -> T {
    move |x| if (T::from(low)..=T::from(high)).contains(&x) { f(x) } else { T::from(0.0) }
}

fn check_all(step: usize) {
    check("exp", step, 1.0, num::exp, f64::exp);
    check("exp_normal", step, 1.0, normal(-87.3, 88.0, num::exp_normal), normal(-87.3, 88.0, f64::exp));
    check("exp2_normal", step, 2.0, normal(-126.0, 127.0, num::exp2_normal), normal(-126.0, 127.0, f64::exp2));
    check("ln", step, 1.0, num::ln, f64::ln);
    check("tanh", step, 6.0, num::tanh, f64::tanh);
    check("sigmoid", step, 3.0, num::sigmoid, |x| 1.0 / (1.0 + (-x).exp()));
    check("softplus", step, 3.0, num::softplus, |x| if x > 40.0 { x } else { x.exp().ln_1p() });
    check("sin", step, 2.0, |x| num::sin_cos(x).0, |x| turn(x, f64::sin));
    check("cos", step, 2.0, |x| num::sin_cos(x).1, |x| turn(x, f64::cos));
    check("sqrt", step, 0.0, num::sqrt, f64::sqrt);
}

#[test]
fn errors_are_within_the_stated_ulp() {
    check_all(STEP);
}

#[test]
#[ignore = "all 2^32 inputs: minutes"]
fn errors_are_within_the_stated_ulp_everywhere() {
    check_all(1);
}

#[test]
fn special_values() {
    let inf = f32::INFINITY;
    #[rustfmt::skip]
    let table = [
        (num::exp(-inf), 0.0), (num::exp(inf), inf), (num::exp(0.0), 1.0), (num::exp(89.0), inf),
        (num::exp(-103.0), 1.4e-45), (num::exp(-104.0), 0.0),
        (num::ln(0.0), -inf), (num::ln(-0.0), -inf), (num::ln(1.0), 0.0), (num::ln(inf), inf),
        (num::ln(-1.0), f32::NAN), (num::ln(-inf), f32::NAN),
        (num::tanh(inf), 1.0), (num::tanh(-inf), -1.0), (num::tanh(-0.0), -0.0),
        (num::sigmoid(-inf), 0.0), (num::sigmoid(0.0), 0.5), (num::sigmoid(inf), 1.0), (num::softplus(-inf), 0.0),
        (num::softplus(inf), inf),
        (num::sin_cos(0.0).1, 1.0), (num::sin_cos(1e30).1, 1.0), (num::sin_cos(inf).0, f32::NAN),
        (num::sqrt(0.0), 0.0), (num::sqrt(-0.0), -0.0), (num::sqrt(inf), inf), (num::sqrt(-1.0), f32::NAN),
        (num::clamp(-2.0, -1.0, 1.0), -1.0), (num::clamp(2.0, -1.0, 1.0), 1.0),
        (num::clamp(f32::NAN, -1.0, 1.0), f32::NAN), (num::min(f32::NAN, 1.0), 1.0), (num::max(f32::NAN, 1.0), 1.0),
    ];
    for (got, want) in table {
        assert_eq!(got.to_bits(), want.to_bits(), "{got} is not {want}");
    }
}

#[test]
fn sin_cos_turn_is_within_3_ulp() {
    for turn in (0..=u32::MAX).step_by(STEP).chain((0..32).map(|k| 1 << k)) {
        // Computed from the nearest quarter turn, where the rounding error of f64 is negligible.
        let quarter = turn.wrapping_add(1 << 29) >> 30;
        let rest = f64::from(turn.wrapping_sub(quarter << 30) as i32) * (std::f64::consts::PI / 2f64.powi(31));
        let (sin, cos) = match quarter {
            0 => (rest.sin(), rest.cos()),
            1 => (rest.cos(), -rest.sin()),
            2 => (-rest.sin(), -rest.cos()),
            _ => (-rest.cos(), rest.sin()),
        };
        let got = num::sin_cos_turn(turn);
        for (got, want) in [(got.0, sin), (got.1, cos)] {
            assert!((f64::from(got) - want).abs() <= 3.0 * ulp(want), "{turn:#x}: {got} is not {want}");
        }
    }
}

#[test]
fn tanh_is_odd_and_bounded() {
    for x in inputs(STEP).filter(|x| !x.is_nan()) {
        assert_eq!(num::tanh(-x), -num::tanh(x));
        assert!(num::tanh(x).abs() <= 1.0);
    }
}

#[test]
fn sum_adds_lanes_in_the_stated_order() {
    let x: Vec<f32> = (0..1000).map(|i| 1.0 / (i as f32 - 300.5)).collect();
    for len in [0, 1, 15, 16, 17, 255, 1000] {
        let mut lanes = [0f32; 16];
        for (i, x) in x[..len].iter().enumerate() {
            lanes[i % 16] += x;
        }
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                lanes[i] += lanes[i + half];
            }
        }
        assert_eq!(num::sum(&x[..len]).to_bits(), lanes[0].to_bits(), "len {len}");
    }
}

#[derive(Clone, Copy)]
struct All<'a> {
    x: &'a [f32],
}

impl Kernel for All<'_> {
    type Output = Vec<[u32; 9]>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let (rows, _) = self.x.as_chunks::<16>();
        let mut out = vec![[0; 9]; rows.len() * 16];
        for (out, row) in out.chunks_exact_mut(16).zip(rows) {
            for (out, &x) in out.iter_mut().zip(row) {
                let (sin, cos) = num::sin_cos(x);
                let [exp, ln, tanh, sigmoid] = [num::exp(x), num::ln(x), num::tanh(x), num::sigmoid(x)];
                let all = [exp, ln, tanh, sigmoid, num::softplus(x), sin, cos, num::sqrt(x), num::sum(row)];
                *out = all.map(f32::to_bits);
            }
        }
        out
    }
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    let x: Vec<f32> = inputs(4099).filter(|x| !x.is_nan()).collect();
    let results = LEVELS.map(|level| {
        cpu::set_limit(level);
        cpu::dispatch(All { x: &x })
    });
    cpu::set_limit(Level::Avx512);
    assert!(results.iter().all(|r| *r == results[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn rem64_is_the_exact_remainder(x: u64, y: u64, near: u64) {
        let [x, y, near] = [x, y, (x & !(7 << 52)) ^ (near & (15 << 52 | 0xffff))].map(f64::from_bits);
        for (x, y) in [(x, y), (x, near), (near, x), (x, f64::from_bits(y.to_bits() >> 12)), (x, x), (x * 1e-300, y * 1e-300)] {
            let (got, want) = (num::rem64(x, y), x % y);
            prop_assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x:e} {y:e} {got:e} {want:e}");
        }
    }
}

/// Angles at the borders of the range reduction: multiples of pi/4 and neighbors at every distance, the bounds between methods of
/// reduction, and numbers of every size.
fn angles() -> Vec<f64> {
    let mut all = vec![0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY, f64::NAN, 1e22, 51_471.0, 1_647_099.5];
    for k in 0..4000 {
        let at = f64::from(k) * core::f64::consts::FRAC_PI_4;
        for ulps in [0u64, 1, 2, 100] {
            all.extend([f64::from_bits(at.to_bits() + ulps), f64::from_bits(at.to_bits().saturating_sub(ulps))]);
        }
        for power in 1..50 {
            let gap = 0.5f64.powi(power);
            all.extend([at + gap, at - gap, at * (1.0 + gap), at * (1.0 - gap)]);
        }
    }
    for high in [0x3e46_a09eu64, 0x3e50_0000, 0x3fe9_21fb, 0x3ff9_21fb, 0x4002_d97c, 0x4009_21fb, 0x400f_6a7a]
        .into_iter()
        .chain([0x4012_d97c, 0x4015_fdbc, 0x4019_21fb, 0x401c_463b, 0x4139_21fb])
    {
        for low in [0, 1, 0x7fff_ffff, 0xffff_ffff] {
            all.extend((0..3).map(|step| f64::from_bits(((high + step - 1) << 32) | low)));
        }
    }
    let mut rng = rlcore::rng::Rng::seeded(17);
    for _ in 0..200_000 {
        all.push(rng.uniform_in(-30.0, 30.0));
        all.push(f64::from_bits(rng.next_u64()));
        all.push(rng.uniform_in(-1.0, 1.0) * 2f64.powi((rng.next_u64() % 60) as i32 - 30));
    }
    let negative: Vec<f64> = all.iter().map(|x| -x).collect();
    all.extend(negative);
    all
}

/// Equal bits, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn sines_in_lanes_are_those_of_libm() {
    let all = angles();
    for x in all.as_chunks::<8>().0 {
        let (sin, cos) = num::sin_cos64_lanes(x);
        for i in 0..8 {
            let (alone, expected) = (num::sin_cos64_lanes(&[x[i]]), libm::sincos(x[i]));
            assert!(same(sin[i], expected.0) && same(cos[i], expected.1), "sin and cos of {:e} in a lane", x[i]);
            assert!(same(alone.0[0], expected.0) && same(alone.1[0], expected.1), "sin and cos of {:e}", x[i]);
            let (s, c) = num::sin_cos64(x[i]);
            assert!(same(s, expected.0) && same(c, expected.1), "sin and cos of {:e} together", x[i]);
            assert!(same(s, num::sin64(x[i])) && same(c, num::cos64(x[i])), "sin or cos of {:e}", x[i]);
            if x[i].abs() <= num::NEAR_0 {
                let (s, c) = num::sin_cos64_near_0(x[i]);
                assert!(same(s, expected.0) && same(c, expected.1), "sin and cos of {:e} near 0", x[i]);
            }
        }
    }
}

#[test]
fn remainders_in_lanes_are_exact() {
    let angles = angles();
    for (k, y) in [2.0 * core::f64::consts::PI, 1.0, 0.1, 3e100, 7.3e-200].into_iter().enumerate() {
        // All near ones; of far ones, whose remainders are computed bit by bit, a fifth for each modulus.
        let near = |(i, x): (usize, &f64)| (x.abs() <= 2e3 * y || i % 5 == k).then_some(*x);
        let mut all: Vec<f64> = angles.iter().enumerate().filter_map(near).collect();
        let mut rng = rlcore::rng::Rng::seeded(23);
        for k in 0..3000 {
            let at = f64::from(k) * y;
            all.extend([at, -at, at * (1.0 + f64::EPSILON), at * (1.0 - f64::EPSILON), at + 0.5 * y, at - 0.5 * y]);
            all.push(rng.uniform_in(-1100.0, 1100.0) * y);
        }
        for x in all.as_chunks::<8>().0 {
            let rest = num::rem64_lanes(x, y);
            for i in 0..8 {
                let expected = x[i] % y;
                assert!(same(rest[i], expected), "{:e} mod {y:e}: {:e}, not {expected:e}", x[i], rest[i]);
                assert!(same(num::rem64(x[i], y), expected), "{:e} mod {y:e} alone", x[i]);
            }
        }
    }
}
