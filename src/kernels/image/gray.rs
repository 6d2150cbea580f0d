//! Brightness of colors.

use crate::cpu::{self, Kernel};
use crate::error::{Result, check_len};

/// Writes the gray picture `[pixels]` of `rgb`, `[pixels, 3]`: 0.299 of red, 0.587 of green and 0.114 of blue in 15 bits,
/// rounded, as in OpenCV's `RGB2GRAY`. Errors: `Shape`.
pub fn gray(rgb: &[u8], out: &mut [u8]) -> Result {
    check_len("gray: rgb [pixels, 3] of length", rgb, out.len().saturating_mul(3))?;
    cpu::dispatch(Gray { rgb, out });
    Ok(())
}

struct Gray<'a> {
    rgb: &'a [u8],
    out: &'a mut [u8],
}

impl Kernel for Gray<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, pixel) in self.out.iter_mut().zip(self.rgb.as_chunks().0) {
            *out = luma(*pixel);
        }
    }
}

/// The brightness of one pixel.
#[inline(always)]
pub(super) fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((9798 * u32::from(r) + 19235 * u32::from(g) + 3735 * u32::from(b) + 16384) >> 15) as u8
}
