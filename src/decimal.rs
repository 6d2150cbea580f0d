//! Numbers as text: the shortest decimal that reads back as the same bits, formatted like Python's `repr`, and Python's
//! rounding to six places. Exact: integers of up to 1152 bits, no table, no float arithmetic.

/// Decimal number: `digits` times ten to the `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// At most 17 digits; the last is not 0, except for 0 itself.
    pub digits: u64,
    /// Power of ten of the last digit.
    pub exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as `x`, and of those the nearest to `x`. The sign is dropped; 0 for a value
    /// that is not finite.
    pub fn of(x: f64) -> Decimal {
        let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7ff) as i32, x.to_bits() & ((1 << 52) - 1));
        match exponent {
            0x7ff => Decimal { digits: 0, exponent: 0 },
            0 => shortest(fraction, -1074, false),
            _ => shortest(fraction | 1 << 52, exponent.wrapping_sub(1075), fraction == 0 && exponent > 1),
        }
    }

    /// [`Decimal::of`] for f32: usually far fewer digits than the same number needs as f64.
    pub fn of_f32(x: f32) -> Decimal {
        let (exponent, fraction) = ((x.to_bits() >> 23 & 0xff) as i32, x.to_bits() & ((1 << 23) - 1));
        match exponent {
            0xff => Decimal { digits: 0, exponent: 0 },
            0 => shortest(fraction.into(), -149, false),
            _ => shortest((fraction | 1 << 23).into(), exponent.wrapping_sub(150), fraction == 0 && exponent > 1),
        }
    }
}

/// Limbs of 32 bits: 2^1074 times 10, and room for four more bits.
const LIMBS: usize = 36;

/// Big integer, lowest limb first. Calls pass the number of limbs in use; the others are 0.
#[derive(Clone, Copy)]
struct Whole([u32; LIMBS]);

impl Whole {
    /// `x` times 2^`shift`.
    fn shifted(x: u64, shift: u32) -> Whole {
        let mut limbs = [0; LIMBS];
        let parts = u128::from(x) << (shift % 32);
        for (i, limb) in limbs.iter_mut().skip((shift / 32) as usize).take(3).enumerate() {
            *limb = (parts >> (32 * i)) as u32;
        }
        Whole(limbs)
    }

    fn times_ten(&mut self, used: usize) {
        let mut carry = 0u64;
        for limb in self.0.iter_mut().take(used) {
            carry = carry.wrapping_add(u64::from(*limb).wrapping_mul(10));
            *limb = carry as u32;
            carry >>= 32;
        }
    }

    fn add(&mut self, other: &Whole, used: usize) {
        let mut carry = 0u64;
        for (limb, other) in self.0.iter_mut().zip(other.0).take(used) {
            carry = carry.wrapping_add(u64::from(*limb)).wrapping_add(other.into());
            *limb = carry as u32;
            carry >>= 32;
        }
    }

    /// Subtracts a number that is not larger.
    fn subtract(&mut self, other: &Whole, used: usize) {
        let mut borrow = 0i64;
        for (limb, other) in self.0.iter_mut().zip(other.0).take(used) {
            borrow = borrow.wrapping_add(i64::from(*limb)).wrapping_sub(other.into());
            *limb = borrow as u32;
            borrow >>= 32;
        }
    }

    /// -1, 0 or 1 if this is smaller, equal or larger.
    fn against(&self, other: &Whole, used: usize) -> i32 {
        let mut order = 0;
        for (a, b) in self.0.iter().zip(&other.0).take(used) {
            order = if a < b {
                -1
            } else if a > b {
                1
            } else {
                order
            };
        }
        order
    }
}

/// Digits of `mantissa` * 2^`exponent` until they identify the float (Steele and White 1990, Burger and Dybvig 1996). `narrow`:
/// the float below is half as far away as the one above.
fn shortest(mantissa: u64, exponent: i32, narrow: bool) -> Decimal {
    if mantissa == 0 {
        return Decimal { digits: 0, exponent: 0 };
    }
    let (up, down) = (exponent.max(0).unsigned_abs(), exponent.min(0).unsigned_abs());
    let extra = 1 + u32::from(narrow);
    let mut float = Remainder {
        rest: Whole::shifted(mantissa, up + extra),
        unit: Whole::shifted(1, down + extra),
        below: Whole::shifted(1, up),
        above: Whole::shifted(1, up + u32::from(narrow)),
        used: ((exponent.unsigned_abs().saturating_add(64)) / 32 + 1) as usize,
        // Readers round ties to the even mantissa: then the middle between two floats still reads as this one.
        even: i32::from(mantissa & 1 == 0),
    };
    let mut power = float.scale();
    let mut digits = 0u64;
    for _ in 0..17 {
        let digit = float.digit();
        digits = digits.wrapping_mul(10).wrapping_add(digit);
        power = power.wrapping_sub(1);
        let (stop_down, stop_up) = (float.reaches_down(), float.reaches_up());
        if stop_down || stop_up {
            let half = float.against_half();
            let nearer_up = half > 0 || (half == 0 && digit & 1 == 1);
            if stop_up && (nearer_up || !stop_down) {
                digits = digits.wrapping_add(1);
            }
            break;
        }
    }
    while digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
        power = power.wrapping_add(1);
    }
    Decimal { digits, exponent: power }
}

/// A float without the digits found so far: it is rest / unit; half the distances to its neighbors are below / unit and above /
/// unit.
struct Remainder {
    rest: Whole,
    unit: Whole,
    below: Whole,
    above: Whole,
    used: usize,
    /// 1 if the middle between two floats reads as this one.
    even: i32,
}

impl Remainder {
    /// Scales the number so that its first digit counts tenths of 10^power, and returns this power.
    fn scale(&mut self) -> i32 {
        let (mut power, mut end) = (0i32, self.rest);
        end.add(&self.above, self.used);
        while end.against(&self.unit, self.used) + self.even > 0 {
            self.unit.times_ten(self.used);
            power = power.wrapping_add(1);
        }
        loop {
            end.times_ten(self.used);
            if end.against(&self.unit, self.used) + self.even > 0 {
                return power;
            }
            self.times_ten();
            power = power.wrapping_sub(1);
        }
    }

    fn times_ten(&mut self) {
        for number in [&mut self.rest, &mut self.below, &mut self.above] {
            number.times_ten(self.used);
        }
    }

    /// Takes the next digit out.
    fn digit(&mut self) -> u64 {
        self.times_ten();
        let mut digit = 0u64;
        while self.rest.against(&self.unit, self.used) >= 0 {
            self.rest.subtract(&self.unit, self.used);
            digit = digit.wrapping_add(1);
        }
        digit
    }

    /// Whether the digits found so far read as the float.
    fn reaches_down(&self) -> bool {
        self.rest.against(&self.below, self.used) < self.even
    }

    /// Whether they would with 1 added to the last one.
    fn reaches_up(&self) -> bool {
        let mut end = self.rest;
        end.add(&self.above, self.used);
        end.against(&self.unit, self.used) + self.even > 0
    }

    /// -1, 0 or 1 if the rest is smaller than half a unit, equal or larger.
    fn against_half(&self) -> i32 {
        let mut twice = self.rest;
        twice.add(&self.rest, self.used);
        twice.against(&self.unit, self.used)
    }
}

/// Text of a number, in ASCII.
#[derive(Clone, Copy, Debug)]
pub struct Repr {
    bytes: [u8; Repr::MAX_LEN],
    len: usize,
}

impl Repr {
    /// Maximum length: "-2.2250738585072014e-308".
    pub const MAX_LEN: usize = 24;

    /// As Python formats a float: `1.0`, `-3.5`, `1e-05`, `1e+16`, `nan`, `inf`.
    pub fn of(x: f64) -> Repr {
        Self::new(x.is_sign_negative(), x.is_nan(), x.is_infinite(), Decimal::of(x))
    }

    /// The same format with the digits of an f32, as NumPy up to version 2.3 prints a float32.
    pub fn of_f32(x: f32) -> Repr {
        Self::new(x.is_sign_negative(), x.is_nan(), x.is_infinite(), Decimal::of_f32(x))
    }

    /// A whole number.
    pub fn of_u64(x: u64) -> Repr {
        let mut text = Repr { bytes: [0; Repr::MAX_LEN], len: 0 };
        text.whole(x, 1);
        text
    }

    /// A whole number, zero-padded to `width` digits, 20 at most.
    pub fn padded(x: u64, width: u32) -> Repr {
        let mut text = Repr { bytes: [0; Repr::MAX_LEN], len: 0 };
        text.whole(x, width);
        text
    }

    /// Two decimal places, zero-padded to `width` characters: Python's `"%0{width}.2f"`. From 2^46 on, and for values that are
    /// not finite, [`Repr::of`].
    pub fn fixed2(x: f64, width: u32) -> Repr {
        if x.is_nan() || x.abs() >= 70_368_744_177_664.0 {
            return Self::of(x);
        }
        let mut text = Repr { bytes: [0; Repr::MAX_LEN], len: 0 };
        if x.is_sign_negative() {
            text.push(b"-");
        }
        let hundredths = parts(x, 100);
        text.whole(hundredths / 100, width.saturating_sub(3).saturating_sub(text.len as u32).max(1));
        text.push(b".");
        text.whole(hundredths % 100, 2);
        text
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    fn new(negative: bool, nan: bool, infinite: bool, x: Decimal) -> Repr {
        let mut text = Repr { bytes: [0; Repr::MAX_LEN], len: 0 };
        if nan {
            text.push(b"nan");
            return text;
        }
        if negative {
            text.push(b"-");
        }
        if infinite {
            text.push(b"inf");
        } else {
            text.decimal(x);
        }
        text
    }

    fn decimal(&mut self, x: Decimal) {
        let mut len = 1i32;
        let mut unit = 1u64;
        while len < 17 && x.digits / 10 >= unit {
            unit = unit.wrapping_mul(10);
            len = len.wrapping_add(1);
        }
        // Digits before the point; fixed-point format from 0.0001 to below 1e16.
        let point = x.exponent.wrapping_add(len);
        if (1..=16).contains(&point) && x.exponent >= 0 {
            self.whole(x.digits, 1);
            for _ in 0..x.exponent {
                self.push(b"0");
            }
            self.push(b".0");
        } else if (-3..=16).contains(&point) {
            let mut unit = 1u64;
            for _ in 0..x.exponent.unsigned_abs().min(19) {
                unit = unit.wrapping_mul(10);
            }
            // A fraction of up to 20 places: 0.000 and 17 digits.
            let (whole, part) =
                if point > 0 { (x.digits.checked_div(unit), x.digits.checked_rem(unit)) } else { (None, None) };
            self.whole(whole.unwrap_or(0), 1);
            self.push(b".");
            self.whole(part.unwrap_or(x.digits), x.exponent.unsigned_abs());
        } else {
            self.whole(x.digits / unit.max(1), 1);
            if len > 1 {
                self.push(b".");
                self.whole(x.digits % unit.max(1), len.wrapping_sub(1).unsigned_abs());
            }
            let exponent = point.wrapping_sub(1);
            self.push(if exponent < 0 { b"e-" } else { b"e+" });
            self.whole(exponent.unsigned_abs().into(), 2);
        }
    }

    /// A whole number with at least `width` digits.
    fn whole(&mut self, mut x: u64, width: u32) {
        let mut digits = [0u8; 20];
        let mut count = 0u32;
        for digit in digits.iter_mut().rev() {
            if x == 0 && count >= width {
                break;
            }
            *digit = b'0'.wrapping_add((x % 10) as u8);
            x /= 10;
            count = count.wrapping_add(1);
        }
        self.push(digits.get(20usize.saturating_sub(count as usize)..).unwrap_or(&[]));
    }

    fn push(&mut self, bytes: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(self.len).zip(bytes) {
            *to = *from;
        }
        self.len = self.len.saturating_add(bytes.len()).min(Repr::MAX_LEN);
    }
}

/// The float nearest to `x` rounded to six decimal places, ties to even: Python's `round(x, 6)`.
pub fn round6(x: f64) -> f64 {
    // From 2^33 on, floats are more than 1e-6 apart and rounding returns the float itself.
    if x.abs() >= 8_589_934_592.0 || x.is_nan() {
        return x;
    }
    // Below 2^53, so that both are exact and the quotient is the nearest float.
    (parts(x, 1_000_000) as f64 / 1e6).copysign(x)
}

/// |x| * `unit` rounded to an integer, ties to even. For |x| below 2^52 and a unit of up to 20 bits.
fn parts(x: f64, unit: u32) -> u64 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as u32;
    let mantissa = x.to_bits() & ((1 << 52) - 1) | 1 << 52;
    // x = mantissa / 2^shift, shift at least 1.
    let shift = 1075u32.saturating_sub(exponent);
    if exponent == 0 || shift == 0 || shift > 127 {
        return 0;
    }
    let product = u128::from(mantissa) * u128::from(unit);
    let (whole, half) = (product >> shift, 1u128 << (shift - 1));
    let rest = product & (half | (half - 1));
    let up = rest > half || (rest == half && whole & 1 == 1);
    (whole as u64).wrapping_add(up.into())
}
