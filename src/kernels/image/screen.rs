//! Atari screens, 210 by 160, as gray pictures of 84 by 84: the area mean in integers.
//!
//! 210 / 84 = 5 / 2 and 160 / 84 = 40 / 21. So a band of five rows becomes two, the first counting its rows 2, 2, 1, the
//! second 1, 2, 2; 40 columns become 21, each counting 40 in 21sts of a column; and the mean is a whole number over 200
//! that fits 16 bits. OpenCV sums in f32, whose error is far below 1 / 200: only where the mean lies exactly between
//! two bytes can it decide either way, and there its sum is repeated.

use super::area::{Cell, cell, nearest};
use super::gray::luma;
use crate::cpu::{self, Kernel};
use crate::error::Result;

/// Height and width of the screen.
pub(super) const FROM: (usize, usize) = (210, 160);

/// Height and width of the output.
pub(super) const TO: (usize, usize) = (84, 84);

/// Two lines of output.
const PAIR: usize = 2 * TO.1;

/// Five lines of the screen.
type Band = [[u8; FROM.1]; 5];

/// Values of a band.
const BAND: usize = 5 * FROM.1;

/// [`warp`](super::warp) for these sizes, which the caller has checked.
pub(super) fn warp(a: &[u8], b: Option<&[u8]>, to_gray: bool, out: &mut [u8]) -> Result {
    cpu::dispatch(Warp { a, b, to_gray, out });
    Ok(())
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
        match (self.b, self.to_gray) {
            (None, false) => each(self.out, self.a.as_chunks::<BAND>().0, |a, band| band.copy_from_slice(a)),
            (Some(b), false) => {
                let bands = self.a.as_chunks::<BAND>().0.iter().zip(b.as_chunks::<BAND>().0);
                each(self.out, bands, |(a, b), band| larger(a, b, band));
            }
            (None, true) => each(self.out, self.a.as_chunks::<{ 3 * BAND }>().0, |a, band| brightness(a, band)),
            (Some(b), true) => {
                let bands = self.a.as_chunks::<{ 3 * BAND }>().0.iter().zip(b.as_chunks::<{ 3 * BAND }>().0);
                each(self.out, bands, |(a, b), band| {
                    let mut both = [0; 3 * BAND];
                    larger(a, b, &mut both);
                    brightness(&both, band);
                });
            }
        }
    }
}

/// Loads band after band and shrinks it.
#[inline(always)]
fn each<B>(out: &mut [u8], bands: impl IntoIterator<Item = B>, load: impl Fn(B, &mut [u8])) {
    let mut band = [[0; FROM.1]; 5];
    for (source, out) in bands.into_iter().zip(out.as_chunks_mut::<PAIR>().0) {
        load(source, band.as_flattened_mut());
        shrink(&band, out);
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

/// Columns before the first in [`Sums`].
const PAD: usize = 32;

/// Sums of a line's even and odd columns, with room around them that is read and never counts.
struct Sums {
    even: [u16; PAD + 80 + 16],
    odd: [u16; PAD + 80 + 16],
}

/// Lanes of a period: 21 outputs and room.
const LANES: usize = 32;

/// Outputs of a period of 40 columns, and those of its first part, which begin on an odd column.
const PERIOD: usize = 21;
const PART: usize = 11;

/// What an output counts of its three columns.
const WEIGHTS: [[u16; LANES]; 3] = {
    let mut weights = [[0; LANES]; 3];
    let mut d = 0;
    while d < PERIOD {
        // In 21sts of a column: the output begins at 40 d, and the middle one of its three columns is this one.
        let middle = if d < PART { 2 * d } else { 2 * d - 1 };
        let (start, stop) = (40 * d, 40 * d + 40);
        weights[0][d] = (21 * middle - start) as u16;
        weights[1][d] = if 21 * middle + 21 < stop { 21 } else { (stop - 21 * middle) as u16 };
        weights[2][d] = 40 - weights[0][d] - weights[1][d];
        d += 1;
    }
    weights
};

/// A band becomes two lines of output.
#[inline(always)]
fn shrink(band: &Band, out: &mut [u8; PAIR]) {
    let mut pair = [const { Sums { even: [0; PAD + 80 + 16], odd: [0; PAD + 80 + 16] } }; 2];
    let lines = band.each_ref().map(|line| line.as_chunks::<2>().0);
    for i in 0..80 {
        let [a, b, c, d, e] = lines.map(|line| u16::from_le_bytes(line[i]));
        let upper = |part: fn(u16) -> u16| 2 * (part(a) + part(b)) + part(c);
        let lower = |part: fn(u16) -> u16| part(c) + 2 * (part(d) + part(e));
        let (even, odd) = (|x| x & 255, |x| x >> 8);
        pair[0].even[PAD + i] = upper(even);
        pair[0].odd[PAD + i] = upper(odd);
        pair[1].even[PAD + i] = lower(even);
        pair[1].odd[PAD + i] = lower(odd);
    }
    let lines = out.as_chunks_mut::<{ TO.1 }>().0;
    for (y, (sums, line)) in pair.iter().zip(lines).enumerate() {
        let ties = narrow(sums, line);
        settle(&ties, band, y == 1, line);
    }
}

/// Room for a line: the last period is written with all its lanes.
const ROOM: usize = 96;

/// Writes a line of output, and 1 where the mean lies between two bytes.
#[inline(always)]
fn narrow(Sums { even, odd }: &Sums, line: &mut [u8; TO.1]) -> [u8; ROOM] {
    let (mut means, mut ties) = ([0; ROOM], [0; ROOM]);
    for period in 0..4 {
        for d in 0..LANES {
            let i = PAD + 20 * period + d;
            let columns = if d < PART { [odd[i - 1], even[i], odd[i]] } else { [even[i - 1], odd[i - 1], even[i]] };
            let mut sum = 100u16;
            for k in 0..3 {
                sum = sum.wrapping_add(columns[k].wrapping_mul(WEIGHTS[k][d]));
            }
            let mean = over_200(sum);
            means[PERIOD * period + d] = mean as u8;
            ties[PERIOD * period + d] = u8::from(mean.wrapping_mul(200) == sum);
        }
    }
    for (out, mean) in line.iter_mut().zip(means) {
        *out = mean;
    }
    ties
}

/// x / 200 for x up to 51100.
#[inline(always)]
const fn over_200(x: u16) -> u16 {
    (((x >> 3) as u32 * 20972) >> 16) as u16 >> 3
}

const _: () = {
    let mut x = 0;
    while x <= 51100 {
        assert!(over_200(x) == x / 200);
        x += 1;
    }
};

const COLUMNS: [Cell; TO.1] = {
    let mut cells = [cell(FROM.1, TO.1, 0); TO.1];
    let mut d = 0;
    while d < TO.1 {
        cells[d] = cell(FROM.1, TO.1, d);
        d += 1;
    }
    cells
};

/// The rows of the first output: two whole ones and half of the one that it shares with the second.
const ROWS: Cell = cell(FROM.0, TO.0, 0);

/// Repeats the sums of f32 where there is a tie.
#[inline(always)]
fn settle(ties: &[u8; ROOM], band: &Band, lower: bool, line: &mut [u8; TO.1]) {
    for (tie, (cell, out)) in ties.iter().zip(COLUMNS.iter().zip(line)) {
        if *tie != 0 {
            *out = mean(band, lower, cell);
        }
    }
}

/// One output in f32, in the order of the general rule.
#[inline(never)]
fn mean(band: &Band, lower: bool, cell: &Cell) -> u8 {
    let (whole, shared) = (ROWS.middle, ROWS.last);
    let weights = if lower { [0.0, 0.0, shared, whole, whole] } else { [whole, whole, shared, 0.0, 0.0] };
    let mut sum = 0.0;
    for (line, weight) in band.iter().zip(weights) {
        let at = |x: u32| line.get(x as usize).map_or(0.0, |x| f32::from(*x));
        let first = at(cell.begin.wrapping_sub(1)) * cell.first;
        let middle = if cell.begin < cell.end { at(cell.begin) * cell.middle } else { 0.0 };
        sum += (first + middle + at(cell.end) * cell.last) * weight;
    }
    nearest(sum)
}
