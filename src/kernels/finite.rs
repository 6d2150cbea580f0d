//! Whether numbers are finite, at the speed of reading them.

use crate::cpu::{self, FEW_WAYS, Kernel};
use crate::error::{self, Error, Kind, Result, overflowing};
use crate::space::Elements;

/// [`error::check_finite`] for large arrays: the same result with the best instructions of the CPU.
#[inline(never)]
pub fn check_finite(what: &'static str, values: &[f32]) -> Result {
    if values.len() >= 64 && cpu::dispatch(AllFinite(values)) { Ok(()) } else { error::check_finite(what, values) }
}

/// [`error::check_rows`] with rows numbered from 0, for large arrays.
#[inline]
pub fn check_rows(what: &'static str, values: &[f32], width: usize) -> Result {
    check_finite(what, values).or_else(|_| error::check_rows(what, values, width, 0..))
}

/// Checks one number.
#[inline]
pub fn check_one(what: &'static str, value: f32) -> Result {
    if value.is_finite() { Ok(()) } else { Err(Error::new(Kind::Value, what).given_f32(value)) }
}

/// Writes 1 to `ok`, `[rows]`, where all numbers of a row of `x`, `[rows, width]`, are finite, else 0; integers always are.
/// Returns the number of rows that are not. Errors: `Shape`.
pub fn finite_rows(x: Elements<'_>, width: usize, ok: &mut [u8]) -> Result<usize> {
    let len = ok.len().saturating_mul(width);
    Error::limit(Kind::Shape, "finite rows: numbers [rows, width],", len, x.len()).fail_if(x.len() != len)?;
    let (Elements::F32(x), 1..) = (x, width) else {
        ok.fill(1);
        return Ok(0);
    };
    let mut num_bad = 0usize;
    for (ok, row) in ok.iter_mut().zip(x.chunks_exact(width)) {
        *ok = check_finite("", row).is_ok().into();
        num_bad = num_bad.saturating_add(usize::from(*ok == 0));
    }
    Ok(num_bad)
}

struct AllFinite<'a>(&'a [f32]);

impl Kernel for AllFinite<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        all_finite(self.0)
    }
}

/// True if every number is finite, for use inside a kernel.
#[inline(always)]
pub(crate) fn all_finite(values: &[f32]) -> bool {
    // 0 times a finite number is 0; any other number leaves NaN for good. One instruction per vector.
    let (blocks, rest) = if FEW_WAYS { (&[] as &[_], values) } else { values.as_chunks::<64>() };
    let [mut a, mut b, mut c, mut d] = [[0.0; 16]; 4];
    for block in blocks {
        for i in 0..16 {
            a[i] *= block[i];
        }
        for i in 0..16 {
            b[i] *= block[i + 16];
        }
        for i in 0..16 {
            c[i] *= block[i + 32];
        }
        for i in 0..16 {
            d[i] *= block[i + 48];
        }
    }
    let mut bits = 0;
    for i in 0..16 {
        bits |= (a[i] * b[i] * (c[i] * d[i])).to_bits();
    }
    bits << 1 == 0 && rest.iter().fold(0, |flags, x| flags | overflowing(*x)) >> 31 == 0
}
