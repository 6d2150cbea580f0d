//! Shortest decimals against std's formatting over millions of floats, and text layouts against Python's output.

#![allow(clippy::excessive_precision)] // digits as a person types them

use rlcore::decimal::{Decimal, Repr, round6};
use rlcore::rng::Rng;

/// The digits and exponent of std's `{:e}`.
fn std_decimal(text: &str) -> Decimal {
    let (mantissa, exponent) = text.trim_start_matches('-').split_once('e').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: u64 = format!("{whole}{fraction}").parse().unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    Decimal { digits, exponent: if digits == 0 { 0 } else { exponent - fraction.len() as i32 } }
}

/// Asserts the digits of std, except in ties: of two equally near decimals std takes the larger, Python the even one. `exact`
/// formats the number itself in decimal.
fn compare(ours: Decimal, text: &str, exact: impl Fn() -> String) {
    let theirs = std_decimal(text);
    if ours != theirs {
        let exact = exact();
        let mantissa = exact.split('e').next().unwrap();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let kept = ours.digits.to_string().len();
        let rest = digits[kept..].trim_end_matches('0');
        let tie = rest == "5" && ours.digits.is_multiple_of(2) && ours.digits + 1 == theirs.digits;
        assert!(tie && ours.exponent == theirs.exponent, "{ours:?} is not {text}");
    }
}

fn check(x: f64) {
    compare(Decimal::of(x), &format!("{x:e}"), || format!("{x:.780e}"));
    let text = Repr::of(x);
    let text = std::str::from_utf8(text.bytes()).unwrap();
    assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{text} is not {x:e}");
}

fn check_f32(x: f32) {
    compare(Decimal::of_f32(x), &format!("{x:e}"), || format!("{x:.150e}"));
    let text = Repr::of_f32(x);
    let text = std::str::from_utf8(text.bytes()).unwrap();
    assert_eq!(text.parse::<f32>().unwrap().to_bits(), x.to_bits(), "{text} is not {x:e}");
}

#[test]
fn digits_are_the_shortest_and_nearest() {
    let mut rng = Rng::seeded(1);
    let draws = if cfg!(debug_assertions) { 100_000 } else { 2_000_000 };
    for _ in 0..draws {
        let bits = rng.next_u64();
        let (x, y) = (f64::from_bits(bits), f32::from_bits(bits as u32));
        if x.is_finite() {
            check(x);
        }
        if y.is_finite() {
            check_f32(y);
        }
        // Typical log values: seconds to the microsecond, returns of few digits.
        check(round6(rng.uniform() * 1e4));
        check_f32((rng.uniform() * 1000.0) as f32);
    }
}

#[test]
fn powers_and_their_neighbours_are_right() {
    for exponent in 0..0x7ff_u64 {
        for offset in [u64::MAX, 0, 1] {
            check(f64::from_bits((exponent << 52).wrapping_add(offset) & (u64::MAX >> 1)).min(f64::MAX));
        }
    }
    for exponent in 0..0xff_u32 {
        for offset in [u32::MAX, 0, 1] {
            check_f32(f32::from_bits((exponent << 23).wrapping_add(offset) & (u32::MAX >> 1)).min(f32::MAX));
        }
    }
    for power in -323..309 {
        let x: f64 = format!("1e{power}").parse().unwrap();
        for offset in [-2i64, -1, 0, 1, 2] {
            check(f64::from_bits(x.to_bits().saturating_add_signed(offset)));
        }
    }
}

#[test]
fn the_layout_is_pythons() {
    #[rustfmt::skip]
    let table: [(f64, &str); 31] = [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (-3.5, "-3.5"), (0.1, "0.1"),
        (0.3 - 0.1, "0.19999999999999998"), (100.0, "100.0"), (123456.789, "123456.789"), (0.0001, "0.0001"),
        (0.00012345678901234567, "0.00012345678901234567"), (0.00001, "1e-05"), (0.000015, "1.5e-05"),
        (1e15, "1000000000000000.0"), (9999999999999998.0, "9999999999999998.0"), (1e16, "1e+16"),
        (12345678901234567890.0, "1.2345678901234567e+19"), (1e22, "1e+22"), (1e23, "1e+23"), (1e100, "1e+100"),
        (f64::MAX, "1.7976931348623157e+308"), (f64::MIN_POSITIVE, "2.2250738585072014e-308"), (5e-324, "5e-324"),
        (-2.2250738585072014e-308, "-2.2250738585072014e-308"), (9007199254740993.0, "9007199254740992.0"),
        (5.684341886080802e-14, "5.684341886080802e-14"), (1700000000.123456, "1700000000.123456"),
        (2.5e-10, "2.5e-10"), (4.35, "4.35"), (f64::NAN, "nan"), (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ];
    for (x, want) in table {
        assert_eq!(std::str::from_utf8(Repr::of(x).bytes()).unwrap(), want);
    }
    #[rustfmt::skip]
    let table: [(f32, &str); 14] = [
        (0.1, "0.1"), (1.0, "1.0"), (-200.0, "-200.0"), (16777216.0, "16777216.0"), (123456789.0, "123456790.0"),
        (1e10, "10000000000.0"), (9.9e15, "9900000000000000.0"), (1e16, "1e+16"), (0.0001, "0.0001"),
        (0.00001, "1e-05"), (f32::MAX, "3.4028235e+38"), (1e-45, "1e-45"), (-1.1754944e-38, "-1.1754944e-38"),
        (0.333333343, "0.33333334"),
    ];
    for (x, want) in table {
        assert_eq!(std::str::from_utf8(Repr::of_f32(x).bytes()).unwrap(), want);
    }
    for (x, want) in [(0, "0"), (7, "7"), (1000, "1000"), (u64::MAX, "18446744073709551615")] {
        assert_eq!(std::str::from_utf8(Repr::of_u64(x).bytes()).unwrap(), want);
    }
}

#[test]
fn six_places_are_rounded_as_python_rounds() {
    // The right column is Python's round(x, 6).
    #[rustfmt::skip]
    let table: [(f64, f64); 14] = [
        (0.0078125, 0.007812), (0.0234375, 0.023438), (0.0390625, 0.039062), (-0.0078125, -0.007812),
        (0.0000005, 0.0), (0.00000050000000000000004, 1e-6), (0.0000015, 2e-6), (2.675, 2.675),
        (1.0000005, 1.000001), (1234567.1234565, 1234567.123457), (8589934591.9999995, 8589934591.999999),
        (8589934592.1234567, 8589934592.123457), (1e300, 1e300), (3.0, 3.0),
    ];
    for (x, want) in table {
        assert_eq!(round6(x).to_bits(), want.to_bits(), "{x:e}: {} is not {want}", round6(x));
    }
    for x in [0.0, -0.0, 1e-300, -1e-310] {
        assert_eq!(round6(x).to_bits(), 0.0f64.copysign(x).to_bits());
    }
    assert!(round6(f64::NAN).is_nan() && round6(f64::INFINITY) == f64::INFINITY);
    // std rounds exactly, too, but may break ties the other way; the table covers ties.
    let mut rng = Rng::seeded(2);
    for i in 0..200_000 {
        let x = (rng.uniform() - 0.5) * 10f64.powi(i % 12);
        let want: f64 = format!("{x:.6}").parse().unwrap();
        assert_eq!(round6(x), want, "{x:e}");
    }
}

/// Python: `"%06.2f" % x`.
#[test]
fn two_places_are_padded_as_python_pads() {
    #[rustfmt::skip]
    let table = [
        (0.0, "000.00"), (-0.0, "-00.00"), (12.5, "012.50"), (-1.5, "-01.50"), (0.125, "000.12"), (0.375, "000.38"),
        (2.675, "002.67"), (999.995, "1000.00"), (-12345.678, "-12345.68"), (1e-300, "000.00"), (5e-324, "000.00"),
        (0.005, "000.01"), (70368744177663.98, "70368744177663.98"), (70368744177664.0, "70368744177664.0"),
        (1e300, "1e+300"), (f64::NAN, "nan"), (f64::NEG_INFINITY, "-inf"),
    ];
    for (x, wanted) in table {
        assert_eq!(Repr::fixed2(x, 6).bytes(), wanted.as_bytes(), "{x}");
    }
    assert_eq!((Repr::padded(42, 6).bytes(), Repr::padded(1234567, 6).bytes()), (&b"000042"[..], &b"1234567"[..]));
}
