//! What stands behind the products of a layer, number by number.

use crate::cpu::Kernel;
use crate::num;

/// What stands behind the products of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh = 0,
    /// max(0, x); NaN stays NaN.
    Relu = 1,
    /// Nothing.
    Identity = 2,
    /// x above 0, e^x - 1 below.
    Elu = 3,
}

impl Activation {
    /// The activation of this number.
    pub(super) const fn new(number: u32) -> Option<Activation> {
        match number {
            0 => Some(Activation::Tanh),
            1 => Some(Activation::Relu),
            2 => Some(Activation::Identity),
            3 => Some(Activation::Elu),
            _ => None,
        }
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
            Activation::Elu => {
                for x in values {
                    let below = num::exp(num::min(0.0, *x)) - 1.0;
                    *x = if *x > 0.0 { *x } else { num::canonical(below) };
                }
            }
        }
    }

    /// Multiplies gradients by the slope, which the activation's own value tells: 1 - a²; 1 where a > 0, else 0 or 1 + a; or 1.
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
            Activation::Elu => {
                for (g, a) in gradients.iter_mut().zip(activations) {
                    *g *= if *a > 0.0 { 1.0 } else { 1.0 + a };
                }
            }
        }
    }
}

/// [`Activation::apply`], as a part of a kernel.
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
