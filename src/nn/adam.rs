//! Adam over flat arrays, with the gradient clipped to a global norm on the way, and the clip alone.

use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::num;

/// Where epsilon is added. With v̂ = v / (1 - beta2^t):
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Epsilon {
    /// To √v̂, as the paper's algorithm and PyTorch do.
    Corrected = 0,
    /// To √v, before its correction, as the paper's faster form and TensorFlow do.
    Raw = 1,
}

/// What an update does with a gradient. Plain data; parameters, moments and the count of updates are the caller's.
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
    /// Keeps the quotient finite; at least 0.
    pub epsilon: f32,
    /// Where epsilon is added.
    pub placement: Epsilon,
    /// Ascends the gradient instead of descending it.
    pub maximise: bool,
    /// A step that would take a parameter beyond ± this is refused; finite.
    pub limit: f32,
}

impl Default for Adam {
    /// The customary decays, epsilon 1e-5 on the corrected root, descending, to any finite parameter.
    fn default() -> Self {
        Adam {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-5,
            placement: Epsilon::Corrected,
            maximise: false,
            limit: f32::MAX,
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

    /// Takes one step. The gradient is clipped to `max_norm` as [`clip_global_norm`] does it, without writing `grads`;
    /// then `params` and both moments `m` and `v` move, all of one length. Moments and `steps`, which counts the steps
    /// taken, start at 0. Returns the norm before clipping.
    ///
    /// Errors: [`Adam::check`]'s; `Shape`; [`clip_global_norm`]'s; `Value` for a learning rate that is not finite,
    /// gradients whose squares overflow, or parameters beyond the limit or not finite. Nothing is written then.
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
        self.check()?;
        check_len("adam: gradients of length", grads, params.len())?;
        check_len("adam: first moments of length", m, params.len())?;
        check_len("adam: second moments of length", v, params.len())?;
        if !learning_rate.is_finite() {
            return Err(Error::new(Kind::Value, "adam: a finite learning rate").given_f32(learning_rate));
        }
        let (norm, scale) = norm_and_scale(grads, max_norm)?;
        if norm * f64::from(scale) > 1e19 {
            return Err(Error::new(Kind::Value, "adam: gradients whose squares are finite").given_f32(norm as f32));
        }
        let taken = steps.saturating_add(1);
        let left = |beta: f32| 1.0 - num::pow64(f64::from(beta), taken as f64);
        let (left1, left2) = (left(self.beta1), left(self.beta2));
        let (rate, root_scale) = match self.placement {
            Epsilon::Corrected => (1.0 / left1, 1.0 / num::sqrt64(left2)),
            Epsilon::Raw => (num::sqrt64(left2) / left1, 1.0),
        };
        let rule = Rule {
            scale: if self.maximise { -scale } else { scale },
            keep: [self.beta1, self.beta2],
            take: [1.0 - self.beta1, 1.0 - self.beta2],
            rate: (f64::from(learning_rate) * rate) as f32,
            root_scale: root_scale as f32,
            epsilon: self.epsilon,
        };
        let [p_most, m_most, v_most] = cpu::dispatch(Most { params, m, v });
        // More than a step can come to, for it divides by epsilon at least; NaN if a number is.
        let m_most = f64::from(m_most) + norm * f64::from(scale) + f64::from(f32::MIN_POSITIVE);
        let most = f64::from(p_most) + m_most * f64::from(rule.rate.abs() / num::min(rule.epsilon, 1.0));
        let surely_within = v_most.is_finite() && v_most.is_sign_positive() && 1.001 * most < f64::from(self.limit);
        if !surely_within && !cpu::dispatch(Within { params, grads, m, v, rule, limit: self.limit }) {
            return Err(Error::new(Kind::Value, "adam: a step that keeps parameters finite and within their limit"));
        }
        *steps = taken;
        cpu::dispatch(Step { params, grads, m, v, rule });
        Ok(norm as f32)
    }
}

/// Scales `grads` by `min(1, max_norm / (norm + 1e-6))` and returns the Euclidean norm they had. A `max_norm` of 0
/// leaves them as they are.
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

fn norm_and_scale(grads: &[f32], max_norm: f32) -> Result<(f64, f32)> {
    if max_norm.is_nan() || max_norm < 0.0 {
        return Err(Error::new(Kind::Config, "gradient: a norm to clip to of at least 0").given_f32(max_norm));
    }
    // No sum of squares of f32 overflows an f64, so it is finite exactly if every gradient is.
    let squares = cpu::dispatch(SumOfSquares { values: grads });
    if !squares.is_finite() {
        check_finite("gradient: finite numbers", grads)?;
    }
    let norm = num::sqrt64(squares);
    let scale = (f64::from(max_norm) / (norm + 1e-6)) as f32;
    Ok((norm, if max_norm > 0.0 && scale < 1.0 { scale } else { 1.0 }))
}

/// Element i is added in lane i mod 16, then the lanes upwards.
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

/// How one number of each array moves.
#[derive(Clone, Copy)]
struct Rule {
    scale: f32,
    keep: [f32; 2],
    take: [f32; 2],
    rate: f32,
    root_scale: f32,
    epsilon: f32,
}

impl Rule {
    /// Parameter, first and second moment after a step.
    #[inline(always)]
    fn moved(&self, p: f32, g: f32, m: f32, v: f32) -> (f32, f32, f32) {
        let ([keep1, keep2], [take1, take2]) = (self.keep, self.take);
        let g = g * self.scale;
        let m = keep1 * m + take1 * g;
        let v = keep2 * v + take2 * (g * g);
        (p - self.rate * m / (num::root(v) * self.root_scale + self.epsilon), m, v)
    }
}

/// The largest sizes of parameters and first moments, and the largest second moment, or one that is negative.
struct Most<'a> {
    params: &'a [f32],
    m: &'a [f32],
    v: &'a [f32],
}

impl Kernel for Most<'_> {
    type Output = [f32; 3];

    /// The bits of numbers that are not negative are in their order, with NaN behind them all.
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

/// Whether a step leaves every parameter within the limit.
struct Within<'a> {
    params: &'a [f32],
    grads: &'a [f32],
    m: &'a [f32],
    v: &'a [f32],
    rule: Rule,
    limit: f32,
}

impl Kernel for Within<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Within { params, grads, m, v, rule, limit } = self;
        let mut within = true;
        for ((p, g), (m, v)) in params.iter().zip(grads).zip(m.iter().zip(v)) {
            let (p, ..) = rule.moved(*p, *g, *m, *v);
            // False of a parameter that is no number, too.
            within &= p.abs() <= limit;
        }
        within
    }
}

struct Step<'a> {
    params: &'a mut [f32],
    grads: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    rule: Rule,
}

impl Kernel for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let moments = self.m.iter_mut().zip(self.v);
        for ((p, g), (m, v)) in self.params.iter_mut().zip(self.grads).zip(moments) {
            (*p, *m, *v) = self.rule.moved(*p, *g, *m, *v);
        }
    }
}
