//! Atari screens at 42 by 42, as in the A3C family: cropped, halved, resized, and averaged over the three colors.

use super::Size;
use crate::error::Result;

/// Input size of [`rescale42`].
const SCREEN: Size = Size::new(210, 160, 3);

/// Output size of [`rescale42`].
pub const RESCALED: Size = Size::new(42, 42, 1);

/// First of the rows that show the game, 34 to 193.
const TOP: usize = 34;

/// A line of the screen in bytes.
const LINE: usize = SCREEN.width * 3;

/// A line of half as many pixels.
type Half = [[u8; 3]; 80];

/// A half line resized horizontally, in 2048ths.
type Wide = [[i32; 3]; 42];

/// The place of an output between two source pixels of 80: the first pixel, and both weights in 2048ths.
#[derive(Clone, Copy)]
struct Tap {
    at: usize,
    weights: [i32; 2],
}

const TAPS: [Tap; 42] = {
    let mut taps = [Tap { at: 0, weights: [0; 2] }; 42];
    let mut d = 0;
    while d < 42 {
        let exact = ((d as f64 + 0.5) * (80.0 / 42.0) - 0.5) as f32;
        let at = exact as usize;
        let part = exact - at as f32;
        taps[d] = Tap { at, weights: [nearest((1.0 - part) * 2048.0), nearest(part * 2048.0)] };
        d += 1;
    }
    taps
};

/// The integer nearest to a small positive number; ties go to even.
const fn nearest(x: f32) -> i32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
    (x + ROUND - ROUND) as i32
}

/// Writes the 42 by 42 picture of an Atari screen, `rgb` `[210, 160, 3]`, as numbers from 0 to 1: `out` `[42, 42, 1]`. Rows 34
/// to 193 are halved, resized by OpenCV's fixed-point bilinear rule, averaged over the colors (a plain mean, not their
/// brightness) and multiplied by the f32 nearest 1 / 255. Errors: `Shape`.
pub fn rescale42(rgb: &[u8], out: &mut [f32]) -> Result {
    SCREEN.check("rescale42: rgb [210, 160, 3] of length", rgb)?;
    RESCALED.check("rescale42: out [42, 42, 1] of length", out)?;
    let lines = rgb.as_chunks::<LINE>().0;
    let (mut held, mut below) = (usize::MAX, [[0; 3]; 42]);
    for (tap, out) in TAPS.iter().zip(out.as_chunks_mut::<42>().0) {
        // A half line is reused where the lower one of a pair is the upper one of the next.
        let above = if held == tap.at { below } else { across(lines, tap.at) };
        held = tap.at.wrapping_add(1);
        below = across(lines, held);
        for (out, (above, below)) in out.iter_mut().zip(above.iter().zip(&below)) {
            let mut sum = 0;
            for (above, below) in above.iter().zip(below) {
                let [above, below] = [(tap.weights[0] * (above >> 4)) >> 16, (tap.weights[1] * (below >> 4)) >> 16];
                sum += (above + below + 2) >> 2;
            }
            *out = (f64::from(sum) / 3.0) as f32 * (1.0 / 255.0);
        }
    }
    Ok(())
}

/// Half line `y` of the game, resized horizontally.
fn across(lines: &[[u8; LINE]], y: usize) -> Wide {
    let half = halved(lines, y);
    let mut wide = [[0; 3]; 42];
    for (wide, tap) in wide.iter_mut().zip(&TAPS) {
        if let Some([left, right]) = half.get(tap.at..).and_then(|half| half.first_chunk()) {
            for (wide, (left, right)) in wide.iter_mut().zip(left.iter().zip(right)) {
                *wide = i32::from(*left) * tap.weights[0] + i32::from(*right) * tap.weights[1];
            }
        }
    }
    wide
}

/// Half line `y` of the game: means of two by two pixels, rounded up at a half.
fn halved(lines: &[[u8; LINE]], y: usize) -> Half {
    let mut half = [[0; 3]; 80];
    if let Some([upper, lower]) = lines.get(TOP.wrapping_add(2 * y)..).and_then(|lines| lines.first_chunk()) {
        let pairs = upper.as_chunks::<6>().0.iter().zip(lower.as_chunks::<6>().0);
        for (half, (upper, lower)) in half.iter_mut().zip(pairs) {
            for c in 0..3 {
                let sum = [upper[c], upper[c + 3], lower[c], lower[c + 3]].map(u16::from).iter().sum::<u16>();
                half[c] = ((sum + 2) >> 2) as u8;
            }
        }
    }
    half
}
