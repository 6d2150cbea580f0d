//! The order of a picture's values.

use super::Size;
use crate::error::Result;

/// Writes `x`, `[H, W, C]`, as `[C, H, W]`. Errors: `Config`; `Shape`; `Overflow`.
pub fn channels_first<T: Copy>(size: Size, x: &[T], out: &mut [T]) -> Result {
    size.check("channels_first: x [H, W, C] of length", x)?;
    size.check("channels_first: out [C, H, W] of length", out)?;
    match size.channels {
        1 => planes::<T, 1>(x, out),
        2 => planes::<T, 2>(x, out),
        3 => planes::<T, 3>(x, out),
        4 => planes::<T, 4>(x, out),
        channels => {
            let mut rest = out;
            for channel in 0..channels {
                let Some((plane, after)) = rest.split_at_mut_checked(size.height.wrapping_mul(size.width)) else {
                    break;
                };
                for (out, x) in plane.iter_mut().zip(x.iter().skip(channel).step_by(channels.max(1))) {
                    *out = *x;
                }
                rest = after;
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn planes<T: Copy, const C: usize>(x: &[T], out: &mut [T]) {
    let pixels = x.as_chunks::<C>().0;
    let mut rest = out;
    for channel in 0..C {
        let Some((plane, after)) = rest.split_at_mut_checked(pixels.len()) else { return };
        for (out, pixel) in plane.iter_mut().zip(pixels) {
            *out = pixel[channel];
        }
        rest = after;
    }
}
