//! The only module with transcendental functions: the same bits on every processor, vector width and optimization level.
//!
//! The f32 functions are branch-free: additions, multiplications, divisions, selects and integer operations on the bits. A loop
//! over lanes that calls them is vectorized, and each lane has the bits of a single call. Errors are in ulp, the distance
//! between neighboring f32 at the exact result, and hold for all inputs (`tests/kernels/num.rs` sweeps them). A NaN result is always
//! [`f32::NAN`], except for [`root`]. The f64 functions are those of `libm` except [`rem64`].

use crate::cpu;

/// Adding and subtracting this rounds a small f32 to an integer, which is in the low bits of the sum.
const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23

/// Same for f64.
const ROUND_64: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

const LN_2_HIGH: f32 = 355.0 / 512.0; // 9 bits: exact when multiplied by an exponent
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// The smaller; `b` if either is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger; `b` if either is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `x` clamped to [low, high]; NaN if `x` is NaN.
#[inline(always)]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    min(high, max(low, x))
}

/// `x`, or [`f32::NAN`] for any NaN. Sign and payload of a NaN from arithmetic depend on the processor, so results that may be
/// NaN pass through here before they are written.
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    if x.is_nan() { f32::NAN } else { x }
}

/// The sum of 16 lanes, added as a tree: lanes 8 apart, then 4, 2 and 1.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn tree(lanes: [f32; 16]) -> f32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = lanes;
    let [a, b, c, d, e, f, g, h] = [a + i, b + j, c + k, d + l, e + m, f + n, g + o, h + p];
    let [a, b, c, d] = [a + e, b + f, c + g, d + h];
    (a + c) + (b + d)
}

/// [`tree`] of four vectors at once.
#[inline(always)]
pub fn trees(all: [[f32; 16]; 4]) -> [f32; 4] {
    let [a, b, c, d] = cpu::turn(all.map(|lanes| {
        let (low, high) = lanes.split_at(8);
        let eight: [f32; 8] = core::array::from_fn(|i| low[i] + high[i]);
        core::array::from_fn(|i| eight[i] + eight[i + 4])
    }));
    core::array::from_fn(|i| (a[i] + c[i]) + (b[i] + d[i]))
}

/// The sum of a slice: element i into lane i mod 16, then [`tree`].
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn sum(x: &[f32]) -> f32 {
    let (rows, rest) = x.as_chunks::<16>();
    let mut lanes = [0.0; 16];
    for row in rows {
        for (lane, x) in lanes.iter_mut().zip(row) {
            *lane += x;
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += x;
    }
    tree(lanes)
}

/// e^x within 1 ulp. 0 for -inf, inf above 88.73; results below 2^-126 are denormal, 0 below -103.98.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn exp(x: f32) -> f32 {
    let y = clamp(x, -104.0, 89.0);
    let shifted = y * core::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = y - n * LN_2_HIGH - n * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    let p = p * (r * r) + r + 1.0;
    // 2^n in two factors, because n runs over [-150, 128].
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    propagate(x, p * power_of_two(half) * power_of_two(n.wrapping_sub(half)))
}

/// e^x within 1 ulp where the result and its neighbors are normal numbers, in two thirds of the instructions of [`exp`]:
/// 0 below -87.7, as for 88 above 88. Not for NaN.
#[inline(always)]
pub fn exp_normal(x: f32) -> f32 {
    let y = clamp(x, -88.0, 88.0);
    let shifted = y * core::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = y - n * LN_2_HIGH - n * LN_2_LOW;
    let mut p = 1.381_454e-3;
    p = p * r + 8.368_745e-3;
    p = p * r + 4.166_839e-2;
    p = p * r + 1.666_652_1e-1;
    p = p * r + 4.999_999_4e-1;
    let p = p * (r * r) + r + 1.0;
    // n runs over [-127, 127]; the lowest makes a factor of 0.
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// 2^x within 2 ulp where the result is a normal number, exact for whole x: 0 below -126.5, as for 127 above 127. Not for NaN.
#[inline(always)]
pub fn exp2_normal(x: f32) -> f32 {
    let y = clamp(x, -127.0, 127.0);
    let shifted = y + ROUND;
    let r = y - (shifted - ROUND);
    let mut p = 1.535_33e-4;
    p = p * r + 1.339_895_2e-3;
    p = p * r + 9.618_438e-3;
    p = p * r + 5.550_332_4e-2;
    p = p * r + 2.402_264_8e-1;
    p = p * r + 6.931_472e-1;
    p = p * r + 1.0;
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// The natural logarithm within 1 ulp. -inf for 0, NaN for negative numbers; denormals are exact inputs like any other.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn ln(x: f32) -> f32 {
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let denormal = x < f32::MIN_POSITIVE;
    let y = if denormal { x * 8_388_608.0 } else { x };
    // y = 2^k * (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
    let bits = y.to_bits().wrapping_sub(SQRT_HALF);
    let k = ((bits as i32) >> 23) as f32 - if denormal { 23.0 } else { 0.0 };
    let f = f32::from_bits((bits & 0x007f_ffff).wrapping_add(SQRT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let series = z * (0.666_666_6 + z * (0.400_009_72 + z * (0.284_987_87 + z * 0.242_790_79)));
    let square = 0.5 * (f * f);
    let l = k * LN_2_LOW + s * (square + series) - square + f + k * LN_2_HIGH;
    let l = if x < f32::INFINITY { l } else { x };
    let l = if x > 0.0 { l } else { f32::NAN };
    if x == 0.0 { f32::NEG_INFINITY } else { l }
}

/// The hyperbolic tangent within 6 ulp. Odd, at most 1 in size, ±1 for ±inf.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn tanh(x: f32) -> f32 {
    // An odd rational function; at the clamp it gives exactly 1.
    let y = clamp(x, -8.905, 8.905);
    let z = y * y;
    let mut p = 1.331_887e-8;
    p = p * z + 2.058_335_1e-5;
    p = p * z + 3.494_026_1e-3;
    p = p * z + 1.337_970_8e-1;
    p = p * z + 1.0;
    let mut q = 7.761_951e-7;
    q = q * z + 3.283_078_5e-4;
    q = q * z + 2.587_104e-2;
    q = q * z + 4.671_301_8e-1;
    q = q * z + 1.0;
    propagate(x, clamp(y * p / q, -1.0, 1.0))
}

/// 1 / (1 + e^-x) within 3 ulp; small results are not lost to overflow.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let s = 1.0 / (1.0 + e);
    if x < 0.0 { e * s } else { s }
}

/// ln(1 + e^x) within 3 ulp: e^x far to the left, x far to the right.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn softplus(x: f32) -> f32 {
    let u = exp(-x.abs());
    let s = u / (2.0 + u);
    let z = s * s;
    // 2 artanh(s) for s in [0, 1/3].
    let mut p = 1.162_689_1e-1;
    p = p * z + 1.085_002_1e-1;
    p = p * z + 1.429_640_5e-1;
    p = p * z + 1.999_984_8e-1;
    p = p * z + 3.333_333_4e-1;
    let l = 2.0 * s;
    propagate(x, max(x, 0.0) + (l + l * z * p))
}

/// Sine and cosine, each within 2 ulp for |x| <= 2^22. Farther out, where neighboring f32 are half a radian or more apart, a
/// finite angle counts as 0; NaN for ±inf.
#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    const HALF_PI_HIGH: f64 = 1.570_796_310_901_641_8; // 25 bits: exact when multiplied by n
    const HALF_PI_LOW: f64 = 1.589_325_477_352_819_7e-8;
    let x = f64::from(if x.abs() <= 4_194_304.0 { x } else { x * 0.0 });
    let shifted = x * core::f64::consts::FRAC_2_PI + ROUND_64;
    let n = shifted - ROUND_64;
    quarter_turns(shifted.to_bits() as u32, (x - n * HALF_PI_HIGH - n * HALF_PI_LOW) as f32)
}

/// Sine and cosine of `turn` / 2^32 of a full turn, each within 3 ulp.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn sin_cos_turn(turn: u32) -> (f32, f32) {
    let n = turn.wrapping_add(1 << 29) >> 30;
    let rest = turn.wrapping_sub(n << 30) as i32;
    quarter_turns(n, rest as f32 * (core::f32::consts::PI / (1u32 << 31) as f32))
}

/// Sine and cosine of n quarter turns plus `r`, |r| <= pi/4 plus a rounding error.
#[inline(always)]
fn quarter_turns(n: u32, r: f32) -> (f32, f32) {
    let z = r * r;
    let s = r + r * z * (-1.666_665_5e-1 + z * (8.332_161e-3 + z * -1.951_529_6e-4));
    let c = 1.0 - 0.5 * z + z * z * (4.166_664_6e-2 + z * (-1.388_731_6e-3 + z * 2.443_315_7e-5));
    let odd = n & 1 != 0;
    let sin = if odd { c } else { s };
    let cos = if odd { s } else { c };
    let sin = f32::from_bits(sin.to_bits() ^ (n & 2) << 30);
    let cos = f32::from_bits(cos.to_bits() ^ (n.wrapping_add(1) & 2) << 30);
    (propagate(r, sin), propagate(r, cos))
}

/// Square root, correctly rounded; -0 for -0, NaN for negative numbers.
#[cfg_attr(feature = "avx2", inline(always))]
#[cfg_attr(not(feature = "avx2"), inline(never))]
pub fn sqrt(x: f32) -> f32 {
    let d = f64::from(x);
    // 1/sqrt(d) within 4%, then three Newton steps for it and one for the root: an error below 2^-52, while the root of an f32
    // is never that close to the middle between two f32.
    let mut y = f64::from_bits(0x5fe6_eb50_c7b5_37a9_u64.wrapping_sub(d.to_bits() >> 1));
    for _ in 0..3 {
        y *= 1.5 - 0.5 * d * y * y;
    }
    let root = d * y;
    let root = (root + 0.5 * y * (d - root * root)) as f32;
    let root = if x < f32::INFINITY { root } else { x };
    if x >= 0.0 { root } else { f32::NAN }
}

/// [`sqrt`] of nonnegative numbers, by the processor's instruction if there is one; an arbitrary NaN for others.
#[inline(always)]
pub fn root(x: f32) -> f32 {
    cpu::sqrt(x).unwrap_or_else(|| sqrt(x))
}

/// 2^n for n in [-126, 127].
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// `y`, or NaN if `x` is NaN.
#[inline(always)]
fn propagate(x: f32, y: f32) -> f32 {
    if x.is_nan() { f32::NAN } else { y }
}

/// Square root, correctly rounded.
#[inline]
pub fn sqrt64(x: f64) -> f64 {
    libm::sqrt(x)
}

/// 1 / sqrt(x) within 3 ulp for x from 1e-290 to 1e290; branch-free.
#[inline(always)]
pub fn inverse_sqrt64(x: f64) -> f64 {
    // Within 4%, then every Newton step squares the error.
    let mut y = f64::from_bits(0x5fe6_eb50_c7b5_37a9_u64.wrapping_sub(x.to_bits() >> 1));
    for _ in 0..4 {
        y *= 1.5 - 0.5 * x * y * y;
    }
    y
}

/// Sine, to within an ulp.
#[inline]
pub fn sin64(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine, to within an ulp.
#[inline]
pub fn cos64(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine together, with the same bits as separate calls.
#[inline]
pub fn sin_cos64(x: f64) -> (f64, f64) {
    if cfg!(feature = "avx2") && x.abs() <= NEAR_0 { sin_cos64_near_0(x) } else { libm::sincos(x) }
}

/// Bound of |x| for [`sin_cos64_near_0`]: a little less than pi/4.
pub const NEAR_0: f64 = 0.785_2;

/// [`sin_cos64`] for |x| <= [`NEAR_0`], branch-free.
#[inline(always)]
pub fn sin_cos64_near_0(x: f64) -> (f64, f64) {
    let z = x * x;
    // The sign matters for -0.
    ((x + z * x * (SIN64[0] + z * sin64_series(z))).copysign(x), cos64_reduced(x, 0.0))
}

/// [`sin_cos64`] of every lane: one branch-free pass, and a second pass if a lane lies within 3e-4 (relative, beyond 9/4 pi) of
/// a multiple of pi/4 other than 0, or beyond 50,000.
#[inline(always)]
pub fn sin_cos64_lanes<const N: usize>(x: &[f64; N]) -> ([f64; N], [f64; N]) {
    if !cfg!(feature = "avx2") {
        return sin_cos64_each(*x);
    }
    const HALF_PI_HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000); // 33 bits: exact when multiplied by n
    const HALF_PI_LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);
    let (mut sin, mut cos, mut left) = ([0.0; N], [0.0; N], 0u64);
    for ((&x, sin), cos) in x.iter().zip(&mut sin).zip(&mut cos) {
        // x = n * pi/2 + y + e.
        let shifted = x * core::f64::consts::FRAC_2_PI + ROUND_64;
        let n = shifted - ROUND_64;
        let (r, w) = (x - n * HALF_PI_HIGH, n * HALF_PI_LOW);
        let y = r - w;
        let e = (r - y) - w;
        let size = y.abs();
        left |= u64::from(!((size <= NEAR_0) & (size >= x.abs() * (1.0 / 65_536.0))));
        let (z, cube) = (y * y, y * y * y);
        let series = sin64_series(z);
        let s = if n == 0.0 {
            (y + cube * (SIN64[0] + z * series)).copysign(x)
        } else {
            y - ((z * (0.5 * e - cube * series) - e) - cube * SIN64[0])
        };
        let c = cos64_reduced(y, e);
        let n = shifted.to_bits();
        let (a, b) = if n & 1 != 0 { (c, s) } else { (s, c) };
        *sin = f64::from_bits(a.to_bits() ^ (n & 2) << 62);
        *cos = f64::from_bits(b.to_bits() ^ (n.wrapping_add(1) & 2) << 62);
    }
    if left == 0 { (sin, cos) } else { sin_cos64_each(*x) }
}

/// [`sin_cos64_lanes`], lane by lane.
#[cold]
#[inline(never)]
fn sin_cos64_each<const N: usize>(x: [f64; N]) -> ([f64; N], [f64; N]) {
    let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
    for ((&x, sin), cos) in x.iter().zip(&mut sin).zip(&mut cos) {
        (*sin, *cos) = libm::sincos(x);
    }
    (sin, cos)
}

/// Coefficients of the sine series after x, as in `libm`.
const SIN64: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

/// Coefficients of the cosine series after 1 - x^2 / 2, as in `libm`.
const COS64: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

#[inline(always)]
fn sin64_series(z: f64) -> f64 {
    let [_, a, b, c, d, e] = SIN64;
    a + z * (b + z * c) + z * (z * z) * (d + z * e)
}

/// The cosine of x + e, with e far smaller than x.
#[inline(always)]
fn cos64_reduced(x: f64, e: f64) -> f64 {
    let [a, b, c, d, f, g] = COS64;
    let z = x * x;
    let fourth = z * z;
    let series = z * (a + z * (b + z * c)) + fourth * fourth * (d + z * (f + z * g));
    let half = 0.5 * z;
    let near = 1.0 - half;
    near + (((1.0 - near) - half) + (z * series - x * e))
}

/// Remainder of `x` after whole multiples of `y`, with the sign of `x`; exact. NaN if `x` is infinite or `y` is 0.
#[inline(never)]
pub fn rem64(x: f64, y: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    if !(a < f64::INFINITY && b > 0.0) {
        return f64::NAN;
    }
    if a < b {
        return x;
    }
    // Exponent and mantissa, so that a = mantissa * 2^(exponent - 1075). (libm::fmod can panic.)
    let parts = |v: f64| match v.to_bits() >> 52 {
        0 => (1, v.to_bits()),
        e => (e, v.to_bits() & ((1 << 52) - 1) | 1 << 52),
    };
    let ((high, a), (low, b)) = (parts(a), parts(b));
    let mut rest = a.checked_rem(b).unwrap_or(0);
    for _ in low..high {
        rest <<= 1;
        if rest >= b {
            rest -= b;
        }
    }
    let unit = f64::from_bits(if low > 52 { (low - 52) << 52 } else { 1 << (low - 1) });
    (rest as f64 * unit).copysign(x)
}

/// [`rem64`] of every lane by a `y` from 1e-290 to 1e290: one branch-free pass, and a second pass if a lane exceeds 1,000 times
/// `y`.
#[inline(always)]
pub fn rem64_lanes<const N: usize>(x: &[f64; N], y: f64) -> [f64; N] {
    // Few bits each, so that the products with the quotient and the differences are exact.
    let high = f64::from_bits(y.to_bits() & !0xfff);
    let (low, inverse) = (y - high, 1.0 / y);
    let (mut rest, mut left) = ([0.0; N], 0u64);
    for (&x, rest) in x.iter().zip(&mut rest) {
        let a = x.abs();
        let n = (a * inverse + ROUND_64) - ROUND_64;
        left |= u64::from((n > 1_000.0) | n.is_nan());
        let r = (a - n * high) - n * low;
        *rest = (if r < 0.0 { r + y } else { r }).copysign(x);
    }
    if left == 0 { rest } else { rem64_each(*x, y) }
}

/// [`rem64_lanes`], lane by lane.
#[cold]
#[inline(never)]
fn rem64_each<const N: usize>(mut x: [f64; N], y: f64) -> [f64; N] {
    x.iter_mut().for_each(|x| *x = rem64(*x, y));
    x
}

/// e^x.
#[inline]
pub fn exp64(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
#[inline]
pub fn ln64(x: f64) -> f64 {
    libm::log(x)
}

/// Hyperbolic tangent.
#[inline]
pub fn tanh64(x: f64) -> f64 {
    libm::tanh(x)
}

/// x^y.
#[inline]
pub fn pow64(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_same_with_the_processors_instruction_and_without() {
        for bits in (0..=f32::INFINITY.to_bits()).step_by(9973).chain([1, 1 << 31, f32::INFINITY.to_bits()]) {
            let x = f32::from_bits(bits);
            assert_eq!(root(x).to_bits(), sqrt(x).to_bits(), "{x:e}");
        }
        assert!(root(-1.0).is_nan() && root(f32::NAN).is_nan());
    }
}
