//! Element-wise operations on pictures.

use crate::cpu::{self, Kernel};
use crate::error::{Result, check_len};

/// Writes the larger of `a` and `b`, element by element. All arrays have one length. Errors: `Shape`.
pub fn maximum(a: &[u8], b: &[u8], out: &mut [u8]) -> Result {
    check_len("maximum: a of length", a, out.len())?;
    check_len("maximum: b of length", b, out.len())?;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = (*a).max(*b);
    }
    Ok(())
}

/// Raises each element of `a` to that of `b` where it is smaller. Errors: `Shape`.
pub fn maximum_in_place(a: &mut [u8], b: &[u8]) -> Result {
    check_len("maximum: b of length", b, a.len())?;
    for (a, b) in a.iter_mut().zip(b) {
        *a = (*a).max(*b);
    }
    Ok(())
}

/// Writes x / 255, rounded once, so 255 becomes 1. Both arrays have one length. Errors: `Shape`.
pub fn scale_bytes(x: &[u8], out: &mut [f32]) -> Result {
    check_len("scale_bytes: x of length", x, out.len())?;
    cpu::dispatch(Scale { x, out });
    Ok(())
}

struct Scale<'a> {
    x: &'a [u8],
    out: &'a mut [f32],
}

impl Kernel for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, x) in self.out.iter_mut().zip(self.x) {
            *out = scaled(*x);
        }
    }
}

/// x / 255 without a division: 1 / 255 in two parts; the product with the high one is exact, so that the sum is the only
/// rounding that shows. The result is equal for all 256 bytes.
#[inline(always)]
fn scaled(x: u8) -> f32 {
    const HIGH: f32 = 1.0 / 256.0 + 1.0 / 65536.0;
    const LOW: f32 = (1.0 / 255.0 - HIGH as f64) as f32;
    let x = f32::from(x);
    x * HIGH + x * LOW
}
