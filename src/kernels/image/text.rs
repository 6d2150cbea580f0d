//! A picture as text, for terminals: Braille characters, two by four pixels each.

use core::mem::take;

use super::Size;
use crate::error::{Error, Kind, Result, check_len};

/// A pixel is a dot if its luma differs from the luma of the top left pixel by more than this.
const CONTRAST: u32 = 24;

/// Dots of a Braille character by row and column, as bits of its code from U+2800 on.
const DOTS: [[u8; 2]; 4] = [[1, 8], [2, 16], [4, 32], [64, 128]];

/// Bytes of the text of a picture: a character of three bytes per two columns of four rows, and a line feed per line. Errors:
/// `Config` for a picture that is neither gray nor RGB; `Overflow`.
pub fn text_size(size: Size) -> Result<usize> {
    size.len()?;
    let what = "image text: a picture of 1 or 3 channels";
    Error::new(Kind::Config, what).given(size.channels).fail_if(size.channels != 1 && size.channels != 3)?;
    let line = size.width.div_ceil(2).checked_mul(3).and_then(|line| line.checked_add(1));
    line.and_then(|line| line.checked_mul(size.height.div_ceil(4)))
        .ok_or(Error::new(Kind::Overflow, "image text: a text that fits the address space"))
}

/// Writes a gray or RGB picture as lines of Braille in UTF-8; dots are pixels unlike the top left one.
/// `out`: [`text_size`] bytes. Errors: `Config`; `Shape`; `Overflow`.
pub fn text(size: Size, picture: &[u8], out: &mut [u8]) -> Result {
    check_len("image text: bytes,", out, text_size(size)?)?;
    size.check("image text: picture [H, W, C] of length", picture)?;
    let luma = |y: usize, x: usize| {
        let at = y.saturating_mul(size.width).saturating_add(x).saturating_mul(size.channels);
        let pixel = picture.get(at..).filter(|_| x < size.width)?;
        match (size.channels, pixel) {
            (1, [gray, ..]) => Some(u32::from(*gray)),
            (3, [r, g, b, ..]) => Some((2 * u32::from(*r) + 5 * u32::from(*g) + u32::from(*b)) / 8),
            _ => None,
        }
    };
    let paper = luma(0, 0).unwrap_or(0);
    let mut rest = out;
    for row in 0..size.height.div_ceil(4) {
        for column in 0..size.width.div_ceil(2) {
            let mut code = 0;
            for (y, dots) in DOTS.iter().enumerate() {
                for (x, dot) in dots.iter().enumerate() {
                    let pixel = luma(row.wrapping_mul(4).wrapping_add(y), column.wrapping_mul(2).wrapping_add(x));
                    if pixel.is_some_and(|pixel| pixel.abs_diff(paper) > CONTRAST) {
                        code |= dot;
                    }
                }
            }
            put(&mut rest, [0xe2, 0xa0 | (code >> 6), 0x80 | (code & 0x3f)]);
        }
        put(&mut rest, *b"\n");
    }
    Ok(())
}

fn put<const N: usize>(rest: &mut &mut [u8], bytes: [u8; N]) {
    if let Some((to, after)) = take(rest).split_first_chunk_mut() {
        *to = bytes;
        *rest = after;
    }
}
