//! Copies of a series, each shifted one step later than the one before: a form for sums over all later steps.

use crate::error::{Error, Kind, Result, check_len};

/// Writes `out[i][j] = x[j - i]` where j >= i, else 0. `x`: `[len, width]`; `out`: `[len, len, width]`.
/// Errors: `Shape`, `Overflow`; then nothing is written.
pub fn shift_rows(x: &[f32], len: usize, width: usize, out: &mut [f32]) -> Result {
    let too_large = Error::new(Kind::Overflow, "shift_rows: [len, len, width] that fits the address space");
    let row = len.checked_mul(width).ok_or(too_large)?;
    check_len("shift_rows: x [len, width] of length", x, row)?;
    check_len("shift_rows: out [len, len, width] of length", out, row.checked_mul(len).ok_or(too_large)?)?;
    let mut rest = out;
    for i in 0..len {
        let Some((to, after)) = rest.split_at_mut_checked(row) else { return Ok(()) };
        let Some((before, shifted)) = to.split_at_mut_checked(i.saturating_mul(width)) else { return Ok(()) };
        before.fill(0.0);
        for (to, x) in shifted.iter_mut().zip(x) {
            *to = *x;
        }
        rest = after;
    }
    Ok(())
}
