//! The source pixels that an output pixel covers on one axis of a shrunk picture.

use bytemuck::{Pod, Zeroable};

/// The cover of an output on one axis of the source: pixel `begin - 1` has weight `first`, pixels `begin..end` have `middle`,
/// and pixel `end` has `last`. A weight of 0 stands for a pixel that is not covered.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Cell {
    pub begin: u32,
    pub end: u32,
    pub first: f32,
    pub middle: f32,
    pub last: f32,
}

/// A [`Cell`] of three pixels at most: the weights of the pixels `at..at + 3`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Window {
    pub at: u32,
    pub weights: [f32; 3],
}

impl Cell {
    /// Whether the cell covers at most three pixels.
    pub(super) const fn fits_a_window(self) -> bool {
        self.end.saturating_sub(self.begin) <= 1
    }

    /// The cell as three pixels of a line of `width`, at least 3. The first and the last cell of a line cover at most two: a
    /// third pixel of weight 0 is added within the line.
    pub const fn window(self, width: usize) -> Window {
        let Cell { begin, end, first, middle, last } = self;
        let (at, weights) = match (begin, end) {
            (0, _) => (0, [middle, last, 0.0]),
            _ if begin == end => (begin.saturating_sub(1), [first, last, 0.0]),
            _ => (begin.saturating_sub(1), [first, middle, last]),
        };
        if (at as usize).saturating_add(3) > width {
            return Window { at: at.saturating_sub(1), weights: [0.0, weights[0], weights[1]] };
        }
        Window { at, weights }
    }
}

/// Source pixels per output pixel, as OpenCV computes it: not always the correctly rounded quotient.
pub(super) const fn scale(from: usize, to: usize) -> f64 {
    1.0 / (to as f64 / from as f64)
}

/// The cell of output `d` of `to` on an axis of `from` pixels.
pub(super) const fn cell(from: usize, to: usize, d: usize) -> Cell {
    const NOTHING: f64 = 1e-3;
    let scale = scale(from, to);
    let start = d as f64 * scale;
    let stop = start + scale;
    let width = if scale < from as f64 - start { scale } else { from as f64 - start };
    let floor = start as u32;
    let ceil = if floor as f64 == start { floor } else { floor.wrapping_add(1) };
    let last_pixel = from.saturating_sub(1) as u32;
    let end = if (stop as u32) < last_pixel { stop as u32 } else { last_pixel };
    let begin = if ceil < end { ceil } else { end };
    let (before, after) = (begin as f64 - start, stop - end as f64);
    let first = if before > NOTHING { (before / width) as f32 } else { 0.0 };
    let part = if after < 1.0 { after } else { 1.0 };
    let part = if part < width { part } else { width };
    let last = if after > NOTHING { (part / width) as f32 } else { 0.0 };
    Cell { begin, end, first, middle: (1.0 / width) as f32, last }
}

/// The last cell ends with the axis, even where only f64 rounding makes it narrower than the others.
const _: () = assert!(cell(95_479, 56_117, 56_116).first.to_bits() == 0.412_258_2_f32.to_bits());

/// The byte nearest to a nonnegative number; ties go to even.
#[inline(always)]
pub(super) fn nearest(x: f32) -> u8 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
    let x = if x < 255.0 { x } else { 255.0 };
    (x + ROUND).to_bits() as u8
}
