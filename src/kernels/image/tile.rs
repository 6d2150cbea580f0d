//! Many pictures tiled into one, for viewing.

use core::mem::take;

use super::Size;
use crate::error::{Error, Kind, Result, check_len};

/// Rows and columns of tiles for `n` pictures: the smallest number of rows whose square holds them, then as few columns
/// as are needed. Errors: `Range` if `n` is 0.
pub fn tile_shape(n: usize) -> Result<(usize, usize)> {
    let mut rows = n.isqrt();
    Error::limit(Kind::Range, "tile: pictures of at least", 1, n).fail_if(rows == 0)?;
    if rows.saturating_mul(rows) < n {
        rows = rows.saturating_add(1);
    }
    Ok((rows, n.div_ceil(rows)))
}

/// Writes `n` pictures, `[n, H, W, C]`, as one of `rows * H` by `columns * W`, `rows` and `columns` by [`tile_shape`]: picture
/// i in row i / columns, column i mod columns, and zeros in the tiles left over. Errors: `Range` if `n` is 0; `Config`;
/// `Shape`; `Overflow`.
pub fn tile(n: usize, size: Size, images: &[u8], out: &mut [u8]) -> Result {
    let (rows, columns) = tile_shape(n)?;
    let overflow = Error::new(Kind::Overflow, "tile: a picture that fits the address space");
    let len = size.len()?;
    let all = rows.checked_mul(columns).and_then(|tiles| tiles.checked_mul(len)).ok_or(overflow)?;
    check_len("tile: images [n, H, W, C] of length", images, n.checked_mul(len).ok_or(overflow)?)?;
    check_len("tile: out [rows * H, columns * W, C] of length", out, all)?;

    let width = size.width.wrapping_mul(size.channels);
    let (mut images, mut out) = (images, out);
    for _ in 0..rows {
        // A row of tiles: fewer pictures than columns only at the end.
        let band = images.len().min(columns.wrapping_mul(len));
        let (Some((pictures, others)), Some((tiles, below))) =
            (images.split_at_checked(band), out.split_at_mut_checked(columns.wrapping_mul(len)))
        else {
            break;
        };
        let mut lines = tiles;
        for y in 0..size.height {
            let mut pictures = pictures;
            for _ in 0..columns {
                let Some((line, after)) = take(&mut lines).split_at_mut_checked(width) else { break };
                match pictures.split_at_checked(len) {
                    Some((picture, left)) => {
                        for (to, from) in line.iter_mut().zip(picture.iter().skip(y.wrapping_mul(width))) {
                            *to = *from;
                        }
                        pictures = left;
                    }
                    None => line.fill(0),
                }
                lines = after;
            }
        }
        (images, out) = (others, below);
    }
    Ok(())
}
