//! The only door to transcendental maths: the same bits on every processor and at every optimisation level.

/// Square root, correctly rounded.
#[inline]
pub fn sqrt64(x: f64) -> f64 {
    libm::sqrt(x)
}

/// Sine, to within an ulp.
#[inline]
pub fn sin64(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine, to within an ulp.
#[inline]
pub fn cos64(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine together, the same bits as apart.
#[inline]
pub fn sin_cos64(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// What is left of `x` after whole multiples of `y`, with the sign of `x`; exact.
#[inline]
pub fn rem64(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}
