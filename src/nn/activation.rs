//! Activation functions of layers.

use crate::cpu::Kernel;
use crate::num;

/// Activation function of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh = 0,
    /// max(0, x); NaN stays NaN.
    Relu = 1,
    /// x.
    Identity = 2,
    /// x above 0, e^x - 1 below.
    #[cfg(feature = "pictures")]
    Elu = 3,
    /// x · sigmoid(x).
    #[cfg(feature = "residual")]
    Silu = 4,
    /// x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) (Hendrycks and Gimpel 2016).
    #[cfg(feature = "residual")]
    Gelu = 5,
    /// x above 0, x / 100 below.
    #[cfg(feature = "stream")]
    LeakyRelu = 6,
}

/// √(2/π), and the weight of the cube in [`Activation::Gelu`].
#[cfg(feature = "residual")]
pub(super) const GELU: [f32; 2] = [0.797_884_6, 0.044_715];

/// Slope of [`Activation::LeakyRelu`] below 0.
#[cfg(feature = "stream")]
pub(super) const LEAK: f32 = 0.01;

impl Activation {
    /// The activation with this number, if this build has it.
    pub const fn from_number(number: u32) -> Option<Activation> {
        match number {
            0 => Some(Activation::Tanh),
            1 => Some(Activation::Relu),
            2 => Some(Activation::Identity),
            #[cfg(feature = "pictures")]
            3 => Some(Activation::Elu),
            #[cfg(feature = "residual")]
            4 => Some(Activation::Silu),
            #[cfg(feature = "residual")]
            5 => Some(Activation::Gelu),
            #[cfg(feature = "stream")]
            6 => Some(Activation::LeakyRelu),
            _ => None,
        }
    }

    /// Whether the slope depends on the sum before the activation, not on the value alone.
    #[cfg(feature = "residual")]
    pub(super) const fn needs_sum(self) -> bool {
        matches!(self, Activation::Silu | Activation::Gelu)
    }

    #[inline(always)]
    pub(super) fn apply(self, values: &mut [f32]) {
        match self {
            Activation::Tanh => {
                for x in values {
                    *x = num::tanh(*x);
                }
            }
            Activation::Relu => {
                for x in values {
                    *x = num::canonical(num::max(0.0, *x));
                }
            }
            Activation::Identity => {}
            #[cfg(feature = "pictures")]
            Activation::Elu => {
                for x in values {
                    let below = num::exp(num::min(0.0, *x)) - 1.0;
                    *x = if *x > 0.0 { *x } else { num::canonical(below) };
                }
            }
            #[cfg(feature = "residual")]
            Activation::Silu => {
                for x in values {
                    *x *= num::sigmoid(*x);
                }
            }
            #[cfg(feature = "residual")]
            Activation::Gelu => {
                for x in values {
                    let [root, cube] = GELU;
                    *x *= 0.5 + 0.5 * num::tanh(root * (*x + cube * *x * *x * *x));
                }
            }
            #[cfg(feature = "stream")]
            Activation::LeakyRelu => {
                for x in values {
                    *x = num::canonical(if *x > 0.0 { *x } else { LEAK * *x });
                }
            }
        }
    }

    /// Multiplies gradients by the slope, computed from the activation's value a: 1 - a²; 1 where a > 0, else 0, 0.01 or 1 + a;
    /// or 1. If [`Activation::needs_sum`], `activations` are the sums before the activation instead.
    #[inline(always)]
    pub(super) fn apply_slope(self, gradients: &mut [f32], activations: &[f32]) {
        match self {
            Activation::Tanh => {
                for (g, a) in gradients.iter_mut().zip(activations) {
                    *g *= 1.0 - a * a;
                }
            }
            Activation::Relu => {
                for (g, a) in gradients.iter_mut().zip(activations) {
                    *g = num::canonical(if *a > 0.0 { *g } else { 0.0 });
                }
            }
            Activation::Identity => {}
            #[cfg(feature = "pictures")]
            Activation::Elu => {
                for (g, a) in gradients.iter_mut().zip(activations) {
                    *g *= if *a > 0.0 { 1.0 } else { 1.0 + a };
                }
            }
            #[cfg(feature = "residual")]
            Activation::Silu => {
                for (g, x) in gradients.iter_mut().zip(activations) {
                    let s = num::sigmoid(*x);
                    *g *= s + x * s * (1.0 - s);
                }
            }
            #[cfg(feature = "residual")]
            Activation::Gelu => {
                for (g, x) in gradients.iter_mut().zip(activations) {
                    // Beyond this range the slope is 0 or 1, and squares would overflow.
                    let ([root, cube], x) = (GELU, num::clamp(*x, -10.0, 10.0));
                    let t = num::tanh(root * (x + cube * x * x * x));
                    *g *= 0.5 + 0.5 * t + 0.5 * x * (1.0 - t * t) * root * (1.0 + 3.0 * cube * x * x);
                }
            }
            #[cfg(feature = "stream")]
            Activation::LeakyRelu => {
                for (g, a) in gradients.iter_mut().zip(activations) {
                    *g *= if *a > 0.0 { 1.0 } else { LEAK };
                }
            }
        }
    }
}

/// [`Activation::apply`], as part of a kernel.
pub(super) struct Apply<'a> {
    pub activation: Activation,
    pub values: &'a mut [f32],
}

impl Kernel for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.activation.apply(self.values);
    }
}
