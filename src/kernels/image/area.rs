//! Shrinking of pictures: each output pixel is the mean of the area it covers, bit for bit as OpenCV's `INTER_AREA`.

use super::cell::{Cell, Window, cell, nearest, scale};
use super::gray::{gray, luma};
use super::{Size, maximum, screen};
use crate::error::{Error, Kind, Result};

/// Source pixels of one output pixel beyond which a sum of bytes leaves OpenCV's 32 bits.
const LARGEST_BLOCK: usize = 8_421_504;

/// Numbers of scratch that a [`Cell`] and a [`Window`] take.
const CELL_LEN: usize = size_of::<Cell>() / size_of::<f32>();
const WINDOW_LEN: usize = size_of::<Window>() / size_of::<f32>();

/// Resizes `src` to `out`, whose size `to` is at most as large on each axis and has as many channels, 1 to 4. Channels are
/// independent. `scratch` holds at least [`area_scratch`] numbers of any value. Errors: `Config`; `Shape`; `Size`; `Overflow`.
pub fn area(from: Size, src: &[u8], to: Size, out: &mut [u8], scratch: &mut [f32]) -> Result {
    same_channels(from, to)?;
    warp(from, src, None, to, out, scratch)
}

/// Numbers of scratch that [`area`] needs. Errors: `Config`; `Overflow`.
pub fn area_scratch(from: Size, to: Size) -> Result<usize> {
    same_channels(from, to)?;
    warp_scratch(from, to)
}

/// Resizes the element-wise maximum of two pictures, or a single one; color becomes gray first where `to` has one channel and
/// `from` three. The bytes are those of [`maximum`](super::maximum), [`gray`](super::gray) and [`area`], but no picture is read
/// twice. `scratch` holds at least [`warp_scratch`] numbers of any value: none for an Atari screen of 210 by 160 that becomes
/// 84 by 84 in gray. Errors: as [`area`].
///
/// ```
/// use rlcore::kernels::image::{Size, warp, warp_scratch};
///
/// # fn main() -> rlcore::error::Result {
/// // The larger of two gray pictures of 2 by 4, shrunk to 1 by 2.
/// let (from, to) = (Size::new(2, 4, 1), Size::new(1, 2, 1));
/// let (a, b) = ([0, 0, 8, 8, 4, 4, 8, 8], [4, 4, 0, 0, 0, 0, 0, 0]);
/// let (mut out, mut scratch) = ([0; 2], vec![0.0; warp_scratch(from, to)?]);
/// warp(from, &a, Some(&b), to, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 8]);
/// # Ok(())
/// # }
/// ```
pub fn warp(from: Size, a: &[u8], b: Option<&[u8]>, to: Size, out: &mut [u8], scratch: &mut [f32]) -> Result {
    let way = Resampling::of(from, to)?;
    from.check("image: source [H, W, C] of length", a)?;
    if let Some(b) = b {
        from.check("image: second source [H, W, C] of length", b)?;
    }
    to.check("image: out [h, w, c] of length", out)?;
    let needed = way.scratch(from, to)?;
    let Some((scratch, _)) = scratch.split_at_mut_checked(needed) else {
        return Err(Error::limit(Kind::Size, "image: scratch numbers, at least", needed, scratch.len()));
    };
    let to_gray = from.channels != to.channels;
    let source = Source { a, b, to_gray, line: from.width.wrapping_mul(from.channels) };
    match way {
        Resampling::Same => same(&source, out)?,
        Resampling::Screen => screen::warp(a, b, to_gray, out),
        Resampling::Blocks(down, across) => blocks(&source, from, to, [down, across], out, scratch),
        Resampling::Cells => cells(&source, from, to, out, scratch),
    }
    Ok(())
}

/// Numbers of scratch that [`warp`] needs. Errors: `Config`; `Overflow`.
pub fn warp_scratch(from: Size, to: Size) -> Result<usize> {
    Resampling::of(from, to)?.scratch(from, to)
}

fn same_channels(from: Size, to: Size) -> Result {
    if from.channels == to.channels {
        return Ok(());
    }
    let what = "area: as many channels in the output as in the source,";
    Err(Error::limit(Kind::Config, what, from.channels, to.channels))
}

/// The method for a pair of sizes.
#[derive(Clone, Copy)]
enum Resampling {
    /// The sizes are equal.
    Same,
    /// An Atari screen: the same bytes as `Cells`, faster.
    Screen,
    /// Blocks of this many whole rows and columns become one pixel.
    Blocks(usize, usize),
    /// Pixels of the source are shared between outputs.
    Cells,
}

impl Resampling {
    /// Checks two sizes. Errors: `Config`; `Overflow`.
    fn of(from: Size, to: Size) -> Result<Resampling> {
        from.len()?;
        to.len()?;
        Error::limit(Kind::Config, "image: channels of 1 to", 4, from.channels).fail_if(from.channels > 4)?;
        let what = "image: as many channels in the output as in the source, or three that become gray,";
        Error::limit(Kind::Config, what, from.channels, to.channels)
            .fail_if(from.channels != to.channels && (from.channels, to.channels) != (3, 1))?;
        for (source, output) in [(from.height, to.height), (from.width, to.width)] {
            let what = "image: an output at most as large as the source; area means cannot enlarge,";
            Error::limit(Kind::Config, what, source, output).fail_if(output > source)?;
            let what = "image: height and width of 32 bits";
            Error::new(Kind::Config, what).given(source).fail_if(u32::try_from(source).is_err())?;
        }
        if from.height == to.height && from.width == to.width {
            return Ok(Resampling::Same);
        }
        if (from.height, from.width) == screen::FROM && (to.height, to.width) == screen::TO && to.channels == 1 {
            return Ok(Resampling::Screen);
        }
        match (whole(scale(from.height, to.height)), whole(scale(from.width, to.width))) {
            (Some(down), Some(across)) => {
                let block = down.saturating_mul(across);
                let what = "image: source pixels of one output pixel, at most";
                Error::limit(Kind::Config, what, LARGEST_BLOCK, block).fail_if(block > LARGEST_BLOCK)?;
                Ok(Resampling::Blocks(down, across))
            }
            _ => Ok(Resampling::Cells),
        }
    }

    /// A line of the source and a line of the output for `Blocks` and `Cells`; for `Cells` also another line of the output and
    /// the cells of a line.
    fn scratch(self, from: Size, to: Size) -> Result<usize> {
        let [lines, cell_len] = match self {
            Resampling::Same | Resampling::Screen => return Ok(0),
            Resampling::Blocks(..) => [1, 0],
            Resampling::Cells => [2, CELL_LEN],
        };
        let source = from.width.checked_mul(to.channels);
        let outputs = to.channels.checked_mul(lines).and_then(|len| to.width.checked_mul(len.checked_add(cell_len)?));
        let all = source.and_then(|source| source.checked_add(outputs?));
        all.ok_or(Error::new(Kind::Overflow, "image: scratch that fits the address space"))
    }
}

fn same(source: &Source, out: &mut [u8]) -> Result {
    match (source.b, source.to_gray) {
        (None, false) => maximum(source.a, source.a, out)?,
        (None, true) => gray(source.a, out)?,
        (Some(b), false) => maximum(source.a, b, out)?,
        (Some(b), true) => {
            let pairs = source.a.as_chunks::<3>().0.iter().zip(b.as_chunks::<3>().0);
            for (out, (a, b)) in out.iter_mut().zip(pairs) {
                *out = luma_of_larger(a, b);
            }
        }
    }
    Ok(())
}

fn whole(scale: f64) -> Option<usize> {
    let whole = scale as usize;
    if whole as f64 == scale { Some(whole) } else { None }
}

/// The source pictures.
struct Source<'a> {
    a: &'a [u8],
    b: Option<&'a [u8]>,
    to_gray: bool,
    /// Values of a line.
    line: usize,
}

impl Source<'_> {
    /// Writes line `y` as numbers.
    #[inline(never)]
    fn load<T: From<u8>>(&self, y: usize, out: &mut [T]) {
        let begin = y.wrapping_mul(self.line);
        let line = |x| <[u8]>::get(x, begin..begin.wrapping_add(self.line)).unwrap_or(&[]);
        let a = line(self.a);
        match (self.b.map(line), self.to_gray) {
            (None, false) => fill(out, a.iter().copied()),
            (None, true) => fill(out, a.as_chunks().0.iter().map(|a| luma(*a))),
            (Some(b), false) => fill(out, a.iter().zip(b).map(|(a, b)| (*a).max(*b))),
            (Some(b), true) => {
                let pairs = a.as_chunks().0.iter().zip(b.as_chunks().0);
                fill(out, pairs.map(|(a, b)| luma_of_larger(a, b)));
            }
        }
    }
}

#[inline(always)]
fn fill<T: From<u8>>(out: &mut [T], bytes: impl Iterator<Item = u8>) {
    for (out, x) in out.iter_mut().zip(bytes) {
        *out = T::from(x);
    }
}

#[inline(always)]
fn luma_of_larger(a: &[u8; 3], b: &[u8; 3]) -> u8 {
    luma([a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])])
}

/// Whole blocks of `down` rows and `across` columns become one pixel.
fn blocks(source: &Source, from: Size, to: Size, [down, across]: [usize; 2], out: &mut [u8], scratch: &mut [f32]) {
    let channels = to.channels;
    let Ok(scratch) = bytemuck::try_cast_slice_mut::<f32, u32>(scratch) else { return };
    let Some((line, sums)) = scratch.split_at_mut_checked(from.width.wrapping_mul(channels)) else { return };
    let weight = 1.0 / down.wrapping_mul(across) as f32;
    let halves_up = down == 2 && across == 2 && channels != 2;
    let mut rest = out;
    for y in 0..to.height {
        let Some((out, after)) = rest.split_at_mut_checked(sums.len()) else { return };
        sums.fill(0);
        for k in 0..down {
            source.load(y.wrapping_mul(down).wrapping_add(k), line);
            match channels {
                1 => add_blocks::<1>(line, across, sums),
                2 => add_blocks::<2>(line, across, sums),
                3 => add_blocks::<3>(line, across, sums),
                _ => add_blocks::<4>(line, across, sums),
            }
        }
        for (out, sum) in out.iter_mut().zip(&*sums) {
            *out = if halves_up { (sum.wrapping_add(2) >> 2) as u8 } else { nearest(*sum as f32 * weight) };
        }
        rest = after;
    }
}

/// Adds `across` pixels of a line to each sum.
fn add_blocks<const C: usize>(line: &[u32], across: usize, sums: &mut [u32]) {
    let mut pixels = line.as_chunks::<C>().0;
    for sum in sums.as_chunks_mut::<C>().0 {
        let Some((block, others)) = pixels.split_at_checked(across) else { return };
        for pixel in block {
            for (sum, x) in sum.iter_mut().zip(pixel) {
                *sum = sum.wrapping_add(*x);
            }
        }
        pixels = others;
    }
}

/// Pixels of the source are shared between outputs.
fn cells(source: &Source, from: Size, to: Size, out: &mut [u8], scratch: &mut [f32]) {
    let len = to.width.wrapping_mul(to.channels);
    let Some((line, rest)) = scratch.split_at_mut_checked(from.width.wrapping_mul(to.channels)) else { return };
    let Some((narrow, rest)) = rest.split_at_mut_checked(len) else { return };
    let Some((sums, rest)) = rest.split_at_mut_checked(len) else { return };
    let Some(columns) = Columns::new(from.width, to.width, rest) else { return };

    // The source line in `narrow`: the last line of an output is often the first of the next.
    let mut held = usize::MAX;
    let mut rest = out;
    for d in 0..to.height {
        let Some((out, after)) = rest.split_at_mut_checked(len) else { return };
        let Cell { begin, end, first, middle, last } = cell(from.height, to.height, d);
        sums.fill(0.0);
        for y in begin.saturating_sub(1)..=end {
            let weight = if y < begin {
                first
            } else if y < end {
                middle
            } else {
                last
            };
            if weight == 0.0 {
                continue;
            }
            if held != y as usize {
                held = y as usize;
                source.load(held, line);
                match to.channels {
                    1 => columns.narrow::<1>(line, narrow),
                    2 => columns.narrow::<2>(line, narrow),
                    3 => columns.narrow::<3>(line, narrow),
                    _ => columns.narrow::<4>(line, narrow),
                }
            }
            for (sum, x) in sums.iter_mut().zip(&*narrow) {
                *sum += x * weight;
            }
        }
        for (out, sum) in out.iter_mut().zip(&*sums) {
            *out = nearest(*sum);
        }
        rest = after;
    }
}

/// The source pixels of each output of a line.
enum Columns<'a> {
    /// Each output covers three pixels at most.
    Windows(&'a [Window]),
    /// Each output covers any number of pixels.
    Cells(&'a [Cell]),
}

impl<'a> Columns<'a> {
    /// Computes the columns in `scratch`, which is as long as `to` cells.
    fn new(from: usize, to: usize, scratch: &'a mut [f32]) -> Option<Columns<'a>> {
        if from >= 3 && (0..to).all(|d| cell(from, to, d).fits_a_window()) {
            let (scratch, _) = scratch.split_at_mut_checked(to.wrapping_mul(WINDOW_LEN))?;
            let windows = bytemuck::try_cast_slice_mut::<f32, Window>(scratch).ok()?;
            for (d, window) in windows.iter_mut().enumerate() {
                *window = cell(from, to, d).window(from);
            }
            Some(Columns::Windows(windows))
        } else {
            let cells = bytemuck::try_cast_slice_mut::<f32, Cell>(scratch).ok()?;
            for (d, place) in cells.iter_mut().enumerate() {
                *place = cell(from, to, d);
            }
            Some(Columns::Cells(cells))
        }
    }

    /// Sums a line into its outputs, from left to right.
    fn narrow<const C: usize>(&self, line: &[f32], out: &mut [f32]) {
        let (pixels, out) = (line.as_chunks::<C>().0, out.as_chunks_mut::<C>().0);
        match self {
            Columns::Windows(windows) => {
                for (out, Window { at, weights }) in out.iter_mut().zip(*windows) {
                    let Some(pixels) = pixels.get(*at as usize..).and_then(|x| x.first_chunk::<3>()) else { return };
                    for (c, out) in out.iter_mut().enumerate() {
                        *out = pixels[0][c] * weights[0] + pixels[1][c] * weights[1] + pixels[2][c] * weights[2];
                    }
                }
            }
            Columns::Cells(cells) => {
                for (out, cell) in out.iter_mut().zip(*cells) {
                    let mut sum = [0.0; C];
                    let mut add = |pixels: Option<&[[f32; C]]>, weight: f32| {
                        for pixel in pixels.unwrap_or(&[]) {
                            for (sum, x) in sum.iter_mut().zip(pixel) {
                                *sum += x * weight;
                            }
                        }
                    };
                    let (begin, end) = (cell.begin as usize, cell.end as usize);
                    add(pixels.get(begin.wrapping_sub(1)..begin), cell.first);
                    add(pixels.get(begin..end), cell.middle);
                    add(pixels.get(end..end.wrapping_add(1)), cell.last);
                    *out = sum;
                }
            }
        }
    }
}
