//! The f32 functions against f64, over a sweep of all bit patterns, and every CPU level against the lowest.

use proptest::prelude::*;
use rlcore::cpu::{self, Kernel, LEVELS, Level};
use rlcore::num;

/// Every how manyth bit pattern is tried; a prime, so that low bits vary.
const STEP: usize = 2053;

/// The distance between neighbouring f32 at `exact`.
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

fn check_all(step: usize) {
    check("exp", step, 1.0, num::exp, f64::exp);
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
    for (got, want) in [
        (num::exp(-inf), 0.0),
        (num::exp(inf), inf),
        (num::exp(0.0), 1.0),
        (num::exp(89.0), inf),
        (num::exp(-103.0), 1.4e-45),
        (num::exp(-104.0), 0.0),
        (num::ln(0.0), -inf),
        (num::ln(-0.0), -inf),
        (num::ln(1.0), 0.0),
        (num::ln(inf), inf),
        (num::ln(-1.0), f32::NAN),
        (num::ln(-inf), f32::NAN),
        (num::tanh(inf), 1.0),
        (num::tanh(-inf), -1.0),
        (num::tanh(-0.0), -0.0),
        (num::sigmoid(-inf), 0.0),
        (num::sigmoid(0.0), 0.5),
        (num::sigmoid(inf), 1.0),
        (num::softplus(-inf), 0.0),
        (num::softplus(inf), inf),
        (num::sin_cos(0.0).1, 1.0),
        (num::sin_cos(1e30).1, 1.0),
        (num::sin_cos(inf).0, f32::NAN),
        (num::sqrt(0.0), 0.0),
        (num::sqrt(-0.0), -0.0),
        (num::sqrt(inf), inf),
        (num::sqrt(-1.0), f32::NAN),
        (num::clamp(-2.0, -1.0, 1.0), -1.0),
        (num::clamp(2.0, -1.0, 1.0), 1.0),
        (num::clamp(f32::NAN, -1.0, 1.0), f32::NAN),
        (num::min(f32::NAN, 1.0), 1.0),
        (num::max(f32::NAN, 1.0), 1.0),
    ] {
        assert_eq!(got.to_bits(), want.to_bits(), "{got} is not {want}");
    }
}

#[test]
fn sin_cos_turn_is_within_3_ulp() {
    for turn in (0..=u32::MAX).step_by(STEP).chain((0..32).map(|k| 1 << k)) {
        // Taken from the nearest quarter, where f64 has no rounding error to speak of.
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
                *out = [
                    num::exp(x),
                    num::ln(x),
                    num::tanh(x),
                    num::sigmoid(x),
                    num::softplus(x),
                    sin,
                    cos,
                    num::sqrt(x),
                    { num::sum(row) },
                ]
                .map(f32::to_bits);
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
