//! Overshooting-bounded gradient descent along eligibility traces (ObGD; Elsayed et al. 2024, algorithm 3).

use super::descent::{self, Parts, each, of, of_mut};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// Overshooting-bounded gradient descent: parameters move by α δ z, with eligibility trace z, error δ and step size α, which is
/// the learning rate, reduced if necessary so that α κ max(|δ|, 1) |z|₁ is at most 1.
///
/// ```
/// use rlcore::nn::Obgd;
///
/// let (mut params, mut trace) = ([1.0, 1.0], [2.0, 0.0]);
/// let obgd = Obgd { decay: 0.5, kappa: 2.0, ..Obgd::default() };
/// obgd.step(&mut params, &mut trace, &[1.0, 2.0], -3.0, 1.0)?;
/// assert_eq!(trace, [2.0, 2.0]);
/// // 1 / (2 * 3 * 4) of -3 times the trace.
/// assert_eq!(params, [0.75, 0.75]);
/// # Ok::<(), rlcore::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obgd {
    /// Decay of the trace per step: discount times lambda.
    pub decay: f32,
    /// κ of the step-size bound; 0 disables the bound.
    pub kappa: f32,
    /// Limit of the absolute value of a parameter.
    pub limit: f32,
}

impl Default for Obgd {
    fn default() -> Self {
        Obgd { decay: 0.0, kappa: 2.0, limit: f32::MAX }
    }
}

impl Obgd {
    /// Decays the trace, adds `grads` to it and takes a step along it; a positive error moves parameters in the direction of
    /// `grads`. Returns the norm of `grads`. All arrays have the same length.
    ///
    /// Errors: `Shape`; `Value` for an error, a learning rate or gradients that are not finite, and for a step that would move
    /// a parameter beyond the limit or make the trace not finite. Nothing is written then.
    pub fn step(
        &self,
        params: &mut [f32],
        trace: &mut [f32],
        grads: &[f32],
        error: f32,
        learning_rate: f32,
    ) -> Result<f32> {
        let norm = descent::norm(grads)?;
        let by = self.reach(params, trace, grads, (error, learning_rate), None)?;
        self.trace_step(params, trace, grads, by, None);
        Ok(norm)
    }

    /// Factor of the trace in [`Obgd::step`], α δ, for a step of some parts of the arrays, or of all. Errors: as there.
    pub(crate) fn reach(
        &self,
        params: &[f32],
        trace: &[f32],
        grads: &[f32],
        (error, learning_rate): (f32, f32),
        parts: Option<&dyn Parts>,
    ) -> Result<f32> {
        check_len("optimizer: gradients of length", grads, params.len())?;
        check_len("optimizer: traces of length", trace, params.len())?;
        if !(error.is_finite() && learning_rate.is_finite()) {
            return Err(Error::new(Kind::Value, "optimizer: a finite error and learning rate").given_f32(error));
        }
        let mut lanes = [0.0f64; LANES];
        each(parts, params.len(), |part| {
            let (first, trace, grads) = (part.start, of(trace, &part), of(grads, &part));
            cpu::dispatch(Length { decay: self.decay, first, trace, grads, lanes: &mut lanes });
        });
        let length = lanes.iter().sum::<f64>();
        let rate = f64::from(learning_rate);
        let overshoot = rate * f64::from(self.kappa) * f64::from(num::max(error.abs(), 1.0)) * length;
        // A NaN length fails below.
        let rate = if overshoot > 1.0 { rate / overshoot } else { rate };
        let by = (rate * f64::from(error)) as f32;
        let mut within = length.is_finite();
        each(parts, params.len(), |part| {
            let (params, trace, grads) = (of(params, &part), of(trace, &part), of(grads, &part));
            within &= cpu::dispatch(Within { decay: self.decay, params, trace, grads, by, limit: self.limit });
        });
        if !within {
            let what = "optimizer: a step that keeps parameters finite and within their limit";
            return Err(Error::new(Kind::Value, what));
        }
        Ok(by)
    }

    /// Takes the step that [`Obgd::reach`] has checked.
    pub(crate) fn trace_step(
        &self,
        params: &mut [f32],
        trace: &mut [f32],
        grads: &[f32],
        by: f32,
        parts: Option<&dyn Parts>,
    ) {
        each(parts, params.len(), |part| {
            let (params, trace, grads) = (of_mut(params, &part), of_mut(trace, &part), of(grads, &part));
            cpu::dispatch(Follow { decay: self.decay, params, trace, grads, by });
        });
    }
}

/// Lanes of the sum of a trace.
const LANES: usize = 16;

/// Trace element after a step.
#[inline(always)]
fn traced(decay: f32, z: f32, g: f32) -> f32 {
    decay * z + g
}

/// Adds the absolute values of a part of the trace after a step to lanes: element i of the whole trace to lane i mod 16.
struct Length<'a> {
    decay: f32,
    /// The element that the part begins with.
    first: usize,
    trace: &'a [f32],
    grads: &'a [f32],
    lanes: &'a mut [f64; LANES],
}

impl Kernel for Length<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Length { decay, first, trace, grads, lanes } = self;
        let add = |lanes: &mut [f64], trace: &[f32], grads: &[f32]| {
            for ((lane, z), g) in lanes.iter_mut().zip(trace).zip(grads) {
                *lane += f64::from(traced(decay, *z, *g).abs());
            }
        };
        // Up to the next element of lane 0.
        let before = (first.wrapping_neg() % LANES).min(trace.len()).min(grads.len());
        let (Some((trace_before, trace)), Some((grads_before, grads))) =
            (trace.split_at_checked(before), grads.split_at_checked(before))
        else {
            return;
        };
        add(lanes.get_mut(first % LANES..).unwrap_or_default(), trace_before, grads_before);
        let ((traces, rest), (grads, last)) = (trace.as_chunks::<LANES>(), grads.as_chunks::<LANES>());
        for (trace, grad) in traces.iter().zip(grads) {
            add(lanes, trace, grad);
        }
        add(lanes, rest, last);
    }
}

/// Whether a step keeps every parameter within the limit.
struct Within<'a> {
    decay: f32,
    params: &'a [f32],
    trace: &'a [f32],
    grads: &'a [f32],
    by: f32,
    limit: f32,
}

impl Kernel for Within<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut within = true;
        for ((p, z), g) in self.params.iter().zip(self.trace).zip(self.grads) {
            // False for a NaN parameter too.
            within &= (p + self.by * traced(self.decay, *z, *g)).abs() <= self.limit;
        }
        within
    }
}

struct Follow<'a> {
    decay: f32,
    params: &'a mut [f32],
    trace: &'a mut [f32],
    grads: &'a [f32],
    by: f32,
}

impl Kernel for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((p, z), g) in self.params.iter_mut().zip(self.trace).zip(self.grads) {
            *z = traced(self.decay, *z, *g);
            *p += self.by * *z;
        }
    }
}
