//! Orthogonal initialization: a Gaussian matrix whose shorter side is made orthonormal, then scaled.
//!
//! The result is that of a QR factorization with a positive diagonal; frameworks compute a QR and then fix the signs.
//! Gram-Schmidt gives these signs directly; each vector is orthogonalized against the earlier ones twice, which keeps `W W^T`
//! (or `W^T W`) within 2e-6 gain² of gain² I.

use crate::error::{Error, Kind, Result, check_len};
use crate::nn::matmul;
use crate::num;
use crate::rng::Rng;

/// A vector shorter than this after orthogonalization is drawn again: the remainder is rounding error.
const SHORTEST: f32 = 1e-3;
/// Draws per vector; the probability that all of them fail is below 1e-20.
const ATTEMPTS: usize = 8;

/// Scratch length of [`orthogonal`] for a matrix of this shape.
pub fn orthogonal_scratch_len(rows: usize, columns: usize) -> usize {
    if rows > columns { rows.saturating_mul(columns) } else { 0 }
}

/// Fills `w[rows, columns]`: its rows, or its columns if there are fewer of them, are orthogonal and of length `gain`.
///
/// Errors: `Shape`; `Size` for less scratch than [`orthogonal_scratch_len`]; `Value` for a gain that is not finite. `w` and
/// `rng` are unchanged then.
pub fn orthogonal(w: &mut [f32], rows: usize, columns: usize, gain: f32, rng: &mut Rng, scratch: &mut [f32]) -> Result {
    check_len("orthogonal: matrix of length", w, rows.saturating_mul(columns))?;
    let needed = orthogonal_scratch_len(rows, columns);
    let too_small = Error::new(Kind::Size, "orthogonal: scratch of at least").needed(needed).given(scratch.len());
    let scratch = scratch.get_mut(..needed).ok_or(too_small)?;
    if !gain.is_finite() {
        return Err(Error::new(Kind::Value, "orthogonal: a finite gain").given_f32(gain));
    }
    if rows > columns {
        fill(scratch, rows, gain, rng);
        // Lengths match; a matrix without columns has nothing to transpose.
        let _ = matmul::transpose(scratch, w, columns, rows);
    } else {
        fill(w, columns, gain, rng);
    }
    Ok(())
}

/// Fills `w` with orthogonal rows of `len` elements and length `gain`.
fn fill(w: &mut [f32], len: usize, gain: f32, rng: &mut Rng) {
    let mut done = 0;
    while let Some((earlier, rest)) = w.split_at_mut_checked(done) {
        let Some(row) = rest.get_mut(..len).filter(|row| !row.is_empty()) else { break };
        for _ in 0..ATTEMPTS {
            rng.fill_normal(row);
            if clear(row, earlier) > SHORTEST {
                break;
            }
        }
        done += len;
    }
    for x in w {
        *x *= gain;
    }
}

/// Orthogonalizes `row` against `earlier`, rows of unit length, and scales it to unit length; returns its length before
/// scaling. It runs at initialization only, so it is compiled for one CPU level only.
fn clear(row: &mut [f32], earlier: &[f32]) -> f32 {
    if row.is_empty() {
        return 0.0;
    }
    for _ in 0..2 {
        for unit in earlier.chunks_exact(row.len()) {
            let along = dot(row, unit);
            for (x, u) in row.iter_mut().zip(unit) {
                *x -= along * u;
            }
        }
    }
    let length = num::sqrt(dot(row, row));
    if length > 0.0 {
        for x in row {
            *x /= length;
        }
    }
    length
}

/// Dot product: lane `l` sums the products `l, l + 16, ..`; then [`num::tree`].
#[inline]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut lanes = [0.0; 16];
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += a * b;
    }
    num::tree(lanes)
}
