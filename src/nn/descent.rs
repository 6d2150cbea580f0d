//! Shared by the optimizers: clipping to a global norm, and steps that keep parameters finite and within a limit.

use core::ops::Range;

use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::num;

/// Update rule for a parameter and its two optimizer values.
pub(super) trait Rule: Copy {
    /// The parameter and both values after a step.
    fn moved(&self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32);
}

/// Parts of arrays that a step changes; it leaves all else in them as it is.
pub(crate) trait Parts {
    /// Calls `with` with the range of each part, in ascending order.
    fn each(&self, with: &mut dyn FnMut(Range<usize>));
}

/// Calls `with` with the range of each part; without parts, with that of the whole array.
#[inline(always)]
pub(super) fn each(parts: Option<&dyn Parts>, len: usize, mut with: impl FnMut(Range<usize>)) {
    match parts {
        None => with(0..len),
        Some(parts) => parts.each(&mut with),
    }
}

/// Arrays of a step, all of one length.
pub(super) struct Arrays<'a> {
    pub params: &'a mut [f32],
    pub grads: &'a [f32],
    pub m: &'a mut [f32],
    pub v: &'a mut [f32],
}

impl Arrays<'_> {
    /// The norm of the gradient, and the factor that clips it to `max_norm`. Errors: `Shape`; those of [`clip_global_norm`];
    /// `Value` for a learning rate that is not finite, or gradients whose squares overflow.
    pub fn check(&self, learning_rate: f32, max_norm: f32) -> Result<(f64, f32)> {
        let len = self.params.len();
        check_len("optimizer: gradients of length", self.grads, len)?;
        check_len("optimizer: first moments of length", self.m, len)?;
        check_len("optimizer: second moments of length", self.v, len)?;
        if !learning_rate.is_finite() {
            return Err(Error::new(Kind::Value, "optimizer: a finite learning rate").given_f32(learning_rate));
        }
        let (norm, scale) = norm_and_scale(self.grads, max_norm)?;
        if norm * f64::from(scale) > 1e19 {
            return Err(Error::new(Kind::Value, "optimizer: gradients whose squares are finite").given_f32(norm as f32));
        }
        Ok((norm, scale))
    }

    /// Takes a step of the parts, or of all, along a gradient of norm `norm` after clipping. `reach` bounds the change of a
    /// parameter per unit of the sum of `norm` and the largest first moment. Errors: `Value` if a parameter would be beyond
    /// `limit` or not finite; then nothing is written.
    pub fn step<R: Rule>(self, rule: R, norm: f64, reach: f32, limit: f32, parts: Option<&dyn Parts>) -> Result {
        let Arrays { params, grads, m, v } = self;
        let [p_most, m_most, v_most] = cpu::dispatch(Most { params, m, v });
        // NaN if any element is.
        let m_most = f64::from(m_most) + norm + f64::from(f32::MIN_POSITIVE);
        let most = f64::from(p_most) + m_most * f64::from(reach);
        let surely_within = v_most.is_finite() && v_most.is_sign_positive() && 1.001 * most < f64::from(limit);
        if !surely_within {
            let mut within = true;
            each(parts, params.len(), |part| {
                let (params, grads, m, v) = (of(params, &part), of(grads, &part), of(m, &part), of(v, &part));
                within &= cpu::dispatch(Within { params, grads, m, v, rule, limit });
            });
            let what = "optimizer: a step that keeps parameters finite and within their limit";
            Error::new(Kind::Value, what).fail_if(!within)?;
        }
        each(parts, params.len(), |part| {
            let (params, m, v) = (of_mut(params, &part), of_mut(m, &part), of_mut(v, &part));
            cpu::dispatch(Step { params, grads: of(grads, &part), m, v, rule });
        });
        Ok(())
    }
}

/// A part of an array.
#[inline(always)]
pub(super) fn of<'a>(array: &'a [f32], part: &Range<usize>) -> &'a [f32] {
    array.get(part.clone()).unwrap_or_default()
}

/// A part of an array to write.
#[inline(always)]
pub(super) fn of_mut<'a>(array: &'a mut [f32], part: &Range<usize>) -> &'a mut [f32] {
    array.get_mut(part.clone()).unwrap_or_default()
}

/// Scales `grads` by `min(1, max_norm / (norm + 1e-6))` and returns their Euclidean norm before scaling. A `max_norm` of 0
/// disables clipping.
///
/// Errors: `Config` for a `max_norm` that is negative or NaN; `Value` for a gradient that is not finite. Nothing is
/// written then.
pub fn clip_global_norm(grads: &mut [f32], max_norm: f32) -> Result<f32> {
    let (norm, scale) = norm_and_scale(grads, max_norm)?;
    if scale < 1.0 {
        for g in grads {
            *g *= scale;
        }
    }
    Ok(norm as f32)
}

/// Euclidean norm of gradients. Errors: `Value` for one that is not finite.
#[cfg(feature = "stream")]
pub(crate) fn norm(grads: &[f32]) -> Result<f32> {
    Ok(norm_and_scale(grads, 0.0)?.0 as f32)
}

fn norm_and_scale(grads: &[f32], max_norm: f32) -> Result<(f64, f32)> {
    if max_norm.is_nan() || max_norm < 0.0 {
        return Err(Error::new(Kind::Config, "gradient: a norm to clip to of at least 0").given_f32(max_norm));
    }
    // A sum of squares of f32 cannot overflow an f64, so it is finite exactly if every gradient is.
    let squares = cpu::dispatch(SumOfSquares { values: grads });
    if !squares.is_finite() {
        check_finite("gradient: finite numbers", grads)?;
    }
    let norm = num::sqrt64(squares);
    let scale = (f64::from(max_norm) / (norm + 1e-6)) as f32;
    Ok((norm, if max_norm > 0.0 && scale < 1.0 { scale } else { 1.0 }))
}

/// Sum of squares: element i in lane i mod 16, then the lanes in ascending order.
struct SumOfSquares<'a> {
    values: &'a [f32],
}

impl Kernel for SumOfSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (rows, rest) = self.values.as_chunks::<16>();
        let mut lanes = [0.0f64; 16];
        for row in rows {
            for (lane, x) in lanes.iter_mut().zip(row) {
                *lane += f64::from(*x) * f64::from(*x);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(rest) {
            *lane += f64::from(*x) * f64::from(*x);
        }
        lanes.iter().sum()
    }
}

/// Largest absolute values of parameters and first moments, and the largest second moment, or a negative one if there is any.
struct Most<'a> {
    params: &'a [f32],
    m: &'a [f32],
    v: &'a [f32],
}

impl Kernel for Most<'_> {
    type Output = [f32; 3];

    /// The bits of nonnegative floats order like their values, with NaN above all of them.
    #[inline(always)]
    fn run(self) -> [f32; 3] {
        let mut most = [0u32; 3];
        for ((p, m), v) in self.params.iter().zip(self.m).zip(self.v) {
            let bits = [p.abs(), m.abs(), *v].map(f32::to_bits);
            most = [most[0].max(bits[0]), most[1].max(bits[1]), most[2].max(bits[2])];
        }
        most.map(f32::from_bits)
    }
}

/// Whether a step keeps every parameter within the limit.
struct Within<'a, R> {
    params: &'a [f32],
    grads: &'a [f32],
    m: &'a [f32],
    v: &'a [f32],
    rule: R,
    limit: f32,
}

impl<R: Rule> Kernel for Within<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Within { params, grads, m, v, rule, limit } = self;
        let mut within = true;
        for ((p, g), (m, v)) in params.iter().zip(grads).zip(m.iter().zip(v)) {
            let (p, ..) = rule.moved(*p, *g, *m, *v);
            // False for a NaN parameter too.
            within &= p.abs() <= limit;
        }
        within
    }
}

struct Step<'a, R> {
    params: &'a mut [f32],
    grads: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    rule: R,
}

impl<R: Rule> Kernel for Step<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let moments = self.m.iter_mut().zip(self.v);
        for ((p, g), (m, v)) in self.params.iter_mut().zip(self.grads).zip(moments) {
            (*p, *m, *v) = self.rule.moved(*p, *g, *m, *v);
        }
    }
}
