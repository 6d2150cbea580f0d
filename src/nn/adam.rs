//! Adam over flat arrays, with the gradient clipped to a global norm.

use super::descent::{Arrays, Parts, Rule};
use crate::error::{Error, Kind, Result};
use crate::num;

/// Placement of epsilon. With v̂ = v / (1 - beta2^t):
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Epsilon {
    /// Added to √v̂, as in the paper's algorithm and PyTorch.
    Corrected = 0,
    /// Added to √v, before bias correction, as in the paper's faster form and TensorFlow.
    Raw = 1,
}

/// Settings of Adam. Plain data; parameters, moments and the number of updates are the caller's.
///
/// ```
/// use rlcore::nn::Adam;
///
/// # fn main() -> rlcore::error::Result {
/// let (mut x, mut m, mut v, mut steps) = ([3.0], [0.0], [0.0], 0);
/// for _ in 0..500 {
///     let gradient = [2.0 * x[0]]; // of x squared
///     Adam::default().step(&mut x, &gradient, &mut m, &mut v, &mut steps, 0.05, f32::INFINITY)?;
/// }
/// assert!(x[0].abs() < 0.1 && steps == 500);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Decay of the first moment, in [0, 1).
    pub beta1: f32,
    /// Decay of the second moment, in [0, 1).
    pub beta2: f32,
    /// Added to the denominator to keep the quotient finite; at least 0.
    pub epsilon: f32,
    /// Placement of epsilon.
    pub placement: Epsilon,
    /// Ascends the gradient instead of descending it.
    pub maximise: bool,
    /// Limit of the absolute value of a parameter, beyond which a step is refused; finite.
    pub limit: f32,
    /// Rectified steps (RAdam, Liu et al. 2020): the first steps use the first moment alone, until the second moment covers
    /// enough gradients; later steps grow to Adam's. Epsilon is added to √v then.
    #[cfg(feature = "pqn")]
    pub rectify: bool,
}

impl Default for Adam {
    /// The customary decays, epsilon 1e-5 at the corrected root, descent, any finite parameter allowed.
    fn default() -> Self {
        Adam {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-5,
            placement: Epsilon::Corrected,
            maximise: false,
            limit: f32::MAX,
            #[cfg(feature = "pqn")]
            rectify: false,
        }
    }
}

impl Adam {
    /// Errors: `Config` for a decay outside [0, 1), or an epsilon or a limit that is negative or not finite.
    pub fn check(&self) -> Result {
        for beta in [self.beta1, self.beta2] {
            if !(0.0..1.0).contains(&beta) {
                return Err(Error::new(Kind::Config, "adam: decays in [0, 1)").given_f32(beta));
            }
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(Error::new(Kind::Config, "adam: epsilon of at least 0").given_f32(self.epsilon));
        }
        if !(self.limit >= 0.0 && self.limit.is_finite()) {
            return Err(Error::new(Kind::Config, "adam: a finite limit of at least 0").given_f32(self.limit));
        }
        Ok(())
    }

    /// Takes one step. The gradient is clipped to `max_norm` as by [`clip_global_norm`](super::clip_global_norm), without
    /// writing `grads`; then `params` and the moments `m` and `v` are updated, all of the same length. The moments and `steps`,
    /// the number of steps taken, start at 0. Returns the norm before clipping.
    ///
    /// Errors: those of [`Adam::check`]; `Shape`; those of [`clip_global_norm`](super::clip_global_norm); `Value` for a
    /// learning rate that is not finite, gradients whose squares overflow, or parameters beyond the limit or not finite.
    /// Nothing is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn step(
        &self,
        params: &mut [f32],
        grads: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        steps: &mut u64,
        learning_rate: f32,
        max_norm: f32,
    ) -> Result<f32> {
        self.step_parts(params, grads, m, v, steps, (learning_rate, max_norm), None)
    }

    /// [`Adam::step`] that leaves all but some parts of the arrays as they are. The gradients there are in the norm too, unless
    /// they are 0.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn step_parts(
        &self,
        params: &mut [f32],
        grads: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        steps: &mut u64,
        (learning_rate, max_norm): (f32, f32),
        parts: Option<&dyn Parts>,
    ) -> Result<f32> {
        self.check()?;
        let arrays = Arrays { params, grads, m, v };
        let (norm, scale) = arrays.check(learning_rate, max_norm)?;
        let taken = steps.saturating_add(1);
        let left = |beta: f32| 1.0 - num::pow64(f64::from(beta), taken as f64);
        let (left1, left2) = (left(self.beta1), left(self.beta2));
        let (rate, root_scale, epsilon) = match self.placement {
            Epsilon::Corrected => (1.0 / left1, 1.0 / num::sqrt64(left2), self.epsilon),
            Epsilon::Raw => (num::sqrt64(left2) / left1, 1.0, self.epsilon),
        };
        #[cfg(feature = "pqn")]
        let (rate, root_scale, epsilon) = match rectification(f64::from(self.beta2), left2, taken) {
            _ if !self.rectify => (rate, root_scale, epsilon),
            Some(share) => (share * num::sqrt64(left2) / left1, 1.0, epsilon),
            None => (1.0 / left1, 0.0, 1.0),
        };
        let rule = Moments {
            scale: if self.maximise { -scale } else { scale },
            keep: [self.beta1, self.beta2],
            take: [1.0 - self.beta1, 1.0 - self.beta2],
            rate: (f64::from(learning_rate) * rate) as f32,
            root_scale: root_scale as f32,
            epsilon,
        };
        // The denominator is at least epsilon.
        let reach = rule.rate.abs() / num::min(rule.epsilon, 1.0);
        arrays.step(rule, norm * f64::from(scale), reach, self.limit, parts)?;
        *steps = taken;
        Ok(norm as f32)
    }
}

/// Ratio of a rectified step to Adam's after `taken` steps, with `left2` = 1 - beta2^taken; `None` if the second moment covers
/// too few gradients.
#[cfg(feature = "pqn")]
fn rectification(beta2: f64, left2: f64, taken: u64) -> Option<f64> {
    let most = 2.0 / (1.0 - beta2) - 1.0;
    let known = most - 2.0 * taken as f64 * (1.0 - left2) / left2;
    let root = |len: f64| (len - 4.0) * (len - 2.0) / len;
    (known > 5.0).then(|| num::sqrt64(root(known) / root(most)))
}

/// Update rule for one element of each array.
#[derive(Clone, Copy)]
struct Moments {
    scale: f32,
    keep: [f32; 2],
    take: [f32; 2],
    rate: f32,
    root_scale: f32,
    epsilon: f32,
}

impl Rule for Moments {
    #[inline(always)]
    fn moved(&self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32) {
        let ([keep1, keep2], [take1, take2]) = (self.keep, self.take);
        let g = g * self.scale;
        let m = keep1 * m + take1 * g;
        let v = keep2 * v + take2 * (g * g);
        (p - self.rate * m / (num::root(v) * self.root_scale + self.epsilon), m, v)
    }
}
