//! Whether numbers are finite, at the speed of reading them.

use crate::cpu::{self, Kernel};
use crate::error::{self, Error, Kind, Result};

/// [`error::check_finite`] for large arrays: the same answer from the best instructions there are.
#[inline(never)]
pub fn check_finite(what: &'static str, values: &[f32]) -> Result {
    if cpu::dispatch(AllFinite(values)) { Ok(()) } else { error::check_finite(what, values) }
}

/// Checks one number.
#[inline]
pub fn check_one(what: &'static str, value: f32) -> Result {
    if value.is_finite() { Ok(()) } else { Err(Error::new(Kind::Value, what).given_f32(value)) }
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
    values.iter().fold(0, |flags, x| flags | overflowing(*x)) >> 31 == 0
}

/// Has the top bit if `x` is NaN or infinite: adding one to an exponent that is all ones carries into the sign.
#[inline(always)]
pub(crate) fn overflowing(x: f32) -> u32 {
    (x.to_bits() & 0x7fff_ffff).wrapping_add(0x0080_0000)
}
