//! The only door to transcendental maths: the same bits on every processor and at every optimisation level.

/// Square root, correctly rounded.
#[inline]
pub fn sqrt64(x: f64) -> f64 {
    libm::sqrt(x)
}
