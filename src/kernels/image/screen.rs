//! Atari screens, 210 by 160, as gray pictures of 84 by 84: the area mean in integers.
//!
//! 210 / 84 = 5 / 2 and 160 / 84 = 40 / 21. So a band of five rows becomes two, the first with weights 2, 2, 1 of its rows, the
//! second with 1, 2, 2; 40 columns become 21, each with weights that add up to 40 in 21sts of a column; and the mean is a
//! 16-bit integer divided by 200. OpenCV sums in f32, with an error far below 1 / 200: it can decide either way only where the
//! mean lies exactly between two bytes, and there its sum is repeated.

use super::cell::{Cell, Window, cell, nearest};
use super::gray::luma;
use crate::cpu::{self, Kernel};

/// Height and width of the screen.
pub(super) const FROM: (usize, usize) = (210, 160);

/// Height and width of the output.
pub(super) const TO: (usize, usize) = (84, 84);

/// Values of two lines of output.
const PAIR: usize = 2 * TO.1;

/// Five lines of the screen, columns in pairs.
#[repr(align(64))]
struct Band([[[[u8; 2]; LANES]; 5]; 5]);

/// Values of a band.
const BAND: usize = 5 * FROM.1;

/// [`warp`](super::warp) for these sizes, which the caller has checked.
pub(super) fn warp(a: &[u8], b: Option<&[u8]>, to_gray: bool, out: &mut [u8]) {
    cpu::dispatch(Warp { a, b, to_gray, out });
}

struct Warp<'a> {
    a: &'a [u8],
    b: Option<&'a [u8]>,
    to_gray: bool,
    out: &'a mut [u8],
}

impl Kernel for Warp<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut band = Band([[[[0; 2]; LANES]; 5]; 5]);
        let mut sums = [Sums::ZERO, Sums::ZERO];
        let mut both = [0; 3 * BAND];
        let b = self.b.unwrap_or(&[]);
        for (i, out) in self.out.as_chunks_mut::<PAIR>().0.iter_mut().enumerate() {
            let flat = band.0.as_flattened_mut().as_flattened_mut().as_flattened_mut();
            if self.to_gray {
                let Some(mut rgb) = self.a.as_chunks::<{ 3 * BAND }>().0.get(i) else { return };
                if let Some(b) = b.as_chunks::<{ 3 * BAND }>().0.get(i) {
                    larger(rgb, b, &mut both);
                    rgb = &both;
                }
                brightness(rgb, flat);
            } else {
                let Some(a) = self.a.as_chunks::<BAND>().0.get(i) else { return };
                larger(a, b.as_chunks::<BAND>().0.get(i).unwrap_or(a), flat);
            }
            shrink(&band, &mut sums, out);
        }
    }
}

#[inline(always)]
fn larger(a: &[u8], b: &[u8], out: &mut [u8]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = (*a).max(*b);
    }
}

#[inline(always)]
fn brightness(rgb: &[u8], out: &mut [u8]) {
    for (out, pixel) in out.iter_mut().zip(rgb.as_chunks().0) {
        *out = luma(*pixel);
    }
}

/// Lanes of half a period.
const LANES: usize = 16;

/// Blocks of padding before the first column in [`Sums`]. The block behind the last is read too, with weight 0.
const PAD: usize = 2;

/// Column sums of a line, even and odd columns apart.
#[repr(align(64))]
struct Sums {
    even: [[u16; LANES]; PAD + 5 + 1],
    odd: [[u16; LANES]; PAD + 5 + 1],
}

impl Sums {
    const ZERO: Sums = Sums { even: [[0; LANES]; PAD + 5 + 1], odd: [[0; LANES]; PAD + 5 + 1] };
}

/// Outputs of a period of 40 columns.
const PERIOD: usize = 21;

/// Outputs of the first half of a period. Their middle column of three is even; in the second half it is odd.
const FIRST: usize = 11;

/// Weights of the three columns of an output, for both halves of a period.
const WEIGHTS: [[[u16; LANES]; 3]; 2] = {
    let mut weights = [[[0; LANES]; 3]; 2];
    let mut d = 0;
    while d < PERIOD {
        let (half, lane) = if d < FIRST { (0, d) } else { (1, d - FIRST) };
        // In 21sts of a column: begin and end of the output, and of its middle column.
        let (start, stop) = (40 * d, 40 * d + 40);
        let (begin, end) = (21 * (2 * d - half), 21 * (2 * d - half) + 21);
        let right = usize::saturating_sub(stop, end);
        weights[half][0][lane] = (begin - start) as u16;
        weights[half][1][lane] = (40 - (begin - start) - right) as u16;
        weights[half][2][lane] = right as u16;
        d += 1;
    }
    weights
};

/// Shrinks a band to two lines of output.
#[inline(always)]
fn shrink(band: &Band, pair: &mut [Sums; 2], out: &mut [u8; PAIR]) {
    let [a, b, c, d, e] = &band.0;
    for block in 0..5 {
        for lane in 0..LANES {
            let (a, b, c) = (a[block][lane], b[block][lane], c[block][lane]);
            let (d, e) = (d[block][lane], e[block][lane]);
            let (a, b, c) = (u16::from_le_bytes(a), u16::from_le_bytes(b), u16::from_le_bytes(c));
            let (d, e) = (u16::from_le_bytes(d), u16::from_le_bytes(e));
            let upper = |part: fn(u16) -> u16| 2 * (part(a) + part(b)) + part(c);
            let lower = |part: fn(u16) -> u16| part(c) + 2 * (part(d) + part(e));
            let (even, odd) = (|x| x & 255, |x| x >> 8);
            pair[0].even[PAD + block][lane] = upper(even);
            pair[0].odd[PAD + block][lane] = upper(odd);
            pair[1].even[PAD + block][lane] = lower(even);
            pair[1].odd[PAD + block][lane] = lower(odd);
        }
    }
    let lines = out.as_chunks_mut::<{ TO.1 }>().0;
    for (y, (sums, line)) in pair.iter().zip(lines).enumerate() {
        let ties = narrow(sums, line);
        if ties.as_flattened().iter().fold(0, |any, tie| any | tie) != 0 {
            settle(&ties, band, y == 1, line);
        }
    }
}

/// Flags of the outputs of each half period that lie exactly between two bytes.
type Ties = [[u8; LANES]; 8];

/// Writes a line of output and returns its ties.
#[inline(always)]
fn narrow(sums: &Sums, line: &mut [u8; TO.1]) -> Ties {
    let mut ties = [[0; LANES]; 8];
    let periods = line.as_chunks_mut::<PERIOD>().0.iter_mut().zip(ties.as_chunks_mut::<2>().0);
    for (period, (outputs, [first, second])) in periods.enumerate() {
        let (Some(even), Some(odd)) = (columns(&sums.even, period), columns(&sums.odd, period)) else { break };
        // Lanes behind the first half are written too, before the second half overwrites them.
        for lane in 0..LANES {
            (outputs[lane], first[lane]) = mean::<0>(even, odd, lane);
        }
        let mut others = [0; LANES];
        for lane in 0..LANES {
            (others[lane], second[lane]) = mean::<1>(even, odd, lane);
        }
        for (out, other) in outputs.iter_mut().skip(FIRST).zip(others) {
            *out = other;
        }
    }
    ties
}

/// Columns read by the lanes of a period.
const READ: usize = 1 + FIRST + LANES;

/// The columns of a period, from the one before it.
#[inline(always)]
fn columns(sums: &[[u16; LANES]], period: usize) -> Option<&[u16; READ]> {
    sums.as_flattened().get(PAD * LANES - 1 + 20 * period..)?.first_chunk()
}

/// One output of half a period, and 1 for a tie. Lanes behind the half are no ties.
#[inline(always)]
fn mean<const HALF: usize>(even: &[u16; READ], odd: &[u16; READ], lane: usize) -> (u8, u8) {
    let [left, middle, right] = if HALF == 0 {
        [odd[lane], even[lane + 1], odd[lane + 1]]
    } else {
        [even[lane + FIRST], odd[lane + FIRST], even[lane + FIRST + 1]]
    };
    let weights = &WEIGHTS[HALF];
    let sum = left.wrapping_mul(weights[0][lane]).wrapping_add(middle.wrapping_mul(weights[1][lane]));
    over_200(sum.wrapping_add(right.wrapping_mul(weights[2][lane])).wrapping_add(100))
}

/// x / 200 for x up to 51100, and 1 if the remainder is 0.
#[inline(always)]
const fn over_200(x: u16) -> (u8, u8) {
    // Too small by at most one.
    let quotient = ((x as u32 * 327) >> 16) as u16;
    let rest = x.wrapping_sub(quotient.wrapping_mul(200));
    let quotient = if rest >= 200 { quotient.wrapping_add(1) } else { quotient };
    (quotient as u8, (rest == 0 || rest == 200) as u8)
}

const _: () = {
    let mut x = 0;
    while x <= 51100 {
        let (quotient, whole) = over_200(x);
        assert!(quotient as u16 == x / 200 && whole == (x % 200 == 0) as u8);
        x += 1;
    }
};

/// Columns and f32 weights of each output of a line.
const COLUMNS: [Window; TO.1] = {
    let mut columns = [cell(FROM.1, TO.1, 0).window(FROM.1); TO.1];
    let mut d = 0;
    while d < TO.1 {
        columns[d] = cell(FROM.1, TO.1, d).window(FROM.1);
        d += 1;
    }
    columns
};

/// The rows of the first output: two whole ones and half of one that it shares with the second output.
const ROWS: Cell = cell(FROM.0, TO.0, 0);

/// Repeats the sums of ties in f32, in the order of the general rule.
#[inline(never)]
fn settle(ties: &Ties, band: &Band, lower: bool, line: &mut [u8; TO.1]) {
    let (whole, shared) = (ROWS.middle, ROWS.last);
    let weights = if lower { [shared, whole, whole] } else { [whole, whole, shared] };
    let Some(rows) = band.0.get(if lower { 2 } else { 0 }..).and_then(|rows| rows.first_chunk::<3>()) else { return };
    for (half, ties) in ties.iter().enumerate() {
        if u128::from_le_bytes(*ties) == 0 {
            continue;
        }
        let outputs = COLUMNS.iter().zip(line.iter_mut()).skip(half / 2 * PERIOD + half % 2 * FIRST);
        for (tie, (column, out)) in ties.iter().zip(outputs) {
            if *tie != 0 {
                let mut sum = 0.0;
                for (row, weight) in rows.iter().zip(weights) {
                    let Some(pixels) = row
                        .as_flattened()
                        .as_flattened()
                        .get(column.at as usize..)
                        .and_then(|row| row.first_chunk::<3>())
                    else {
                        return;
                    };
                    let [left, middle, right] = pixels.map(f32::from);
                    let [a, b, c] = column.weights;
                    sum += (left * a + middle * b + right * c) * weight;
                }
                *out = nearest(sum);
            }
        }
    }
}
