//! RMSProp over flat arrays, with the gradient clipped to a global norm.

use super::descent::{Arrays, Parts, Rule};
use crate::error::{Error, Kind, Result};
use crate::num;

/// Settings of RMSProp. Plain data; parameters and optimizer state are the caller's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsProp {
    /// Decay of the mean square, in [0, 1).
    pub decay: f32,
    /// Fraction of the previous step that is added to a step, in [0, 1); 0 with `centred`.
    pub momentum: f32,
    /// Keeps the quotient finite; above 0, at most 1.
    pub epsilon: f32,
    /// Whether epsilon is added to the mean square, as in TensorFlow, instead of to its root, as in PyTorch.
    pub inside: bool,
    /// Whether the variance of gradients replaces their mean square.
    pub centred: bool,
    /// Ascends the gradient instead of descending it.
    pub maximise: bool,
    /// Limit of the absolute value of a parameter, beyond which a step is refused; finite.
    pub limit: f32,
}

impl RmsProp {
    /// Errors: `Config` for a value outside its range, or `momentum` with `centred`.
    pub fn check(&self) -> Result {
        for (what, given, fine) in [
            ("rmsprop: decay in [0, 1)", self.decay, (0.0..1.0).contains(&self.decay)),
            ("rmsprop: momentum in [0, 1)", self.momentum, (0.0..1.0).contains(&self.momentum)),
            ("rmsprop: momentum of 0 with centred", self.momentum, !self.centred || self.momentum == 0.0),
            ("rmsprop: epsilon above 0, at most 1", self.epsilon, self.epsilon > 0.0 && self.epsilon <= 1.0),
            ("rmsprop: a finite limit of at least 0", self.limit, self.limit >= 0.0 && self.limit.is_finite()),
        ] {
            Error::new(Kind::Config, what).given_f32(given).fail_if(!fine)?;
        }
        Ok(())
    }

    /// Takes one step along `grads`, clipped to `max_norm`. `v` holds the mean squares, which start at 0 in PyTorch and
    /// at 1 in TensorFlow; `m` starts at 0 and holds the previous steps, or the means of gradients with `centred`. Returns the
    /// norm before clipping.
    ///
    /// Errors: those of [`RmsProp::check`] and of [`Adam::step`](super::Adam::step). Nothing is written then.
    pub fn step(
        &self,
        params: &mut [f32],
        grads: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        learning_rate: f32,
        max_norm: f32,
    ) -> Result<f32> {
        self.step_parts(params, grads, m, v, (learning_rate, max_norm), None)
    }

    /// [`RmsProp::step`] that leaves all but some parts of the arrays as they are. The gradients there are in the norm too,
    /// unless they are 0.
    pub(crate) fn step_parts(
        &self,
        params: &mut [f32],
        grads: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        (learning_rate, max_norm): (f32, f32),
        parts: Option<&dyn Parts>,
    ) -> Result<f32> {
        self.check()?;
        let arrays = Arrays { params, grads, m, v };
        let (norm, scale) = arrays.check(learning_rate, max_norm)?;
        let (inside, outside) = if self.inside { (self.epsilon, 0.0) } else { (0.0, self.epsilon) };
        let rule = MeanSquare {
            scale: if self.maximise { -scale } else { scale },
            keep: self.decay,
            take: 1.0 - self.decay,
            momentum: self.momentum,
            rate: learning_rate,
            inside,
            outside,
            centred: self.centred,
        };
        // The denominator is at least epsilon, or its root, which is larger.
        let reach = learning_rate.abs() / self.epsilon;
        arrays.step(rule, norm * f64::from(scale), reach, self.limit, parts)?;
        Ok(norm as f32)
    }
}

/// Update rule for one element of each array.
#[derive(Clone, Copy)]
struct MeanSquare {
    scale: f32,
    keep: f32,
    take: f32,
    momentum: f32,
    rate: f32,
    inside: f32,
    outside: f32,
    centred: bool,
}

impl Rule for MeanSquare {
    #[inline(always)]
    fn moved(&self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32) {
        let g = g * self.scale;
        let v = self.keep * v + self.take * (g * g);
        let mean = self.keep * m + self.take * g;
        let spread = if self.centred { num::max(v - mean * mean, 0.0) } else { v };
        let step = g / (num::root(spread + self.inside) + self.outside);
        let step = if self.centred { step } else { self.momentum * m + step };
        (p - self.rate * step, if self.centred { mean } else { step }, v)
    }
}
