//! The optimiser that a configuration chooses.

use super::config::Config;
use crate::error::Result;
use crate::nn::{Adam, Epsilon};

/// How parameters move along gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Optimizer {
    /// Adam, epsilon where PyTorch adds it.
    #[default]
    Adam = 0,
    /// Adam, epsilon where TensorFlow adds it.
    AdamTensorflow = 1,
    /// RMSProp, epsilon where PyTorch adds it.
    RmsProp = 2,
    /// RMSProp, epsilon where TensorFlow adds it, and mean squares that begin with 1.
    RmsPropTensorflow = 3,
    /// RMSProp that divides by the deviation of gradients, as PyTorch does.
    RmsPropCentred = 4,
    /// Adam that warms up until its second moment knows enough gradients.
    AdamRectified = 5,
}

impl Optimizer {
    /// The optimiser of this number; `None` if this build has none.
    pub fn from_number(number: u32) -> Option<Optimizer> {
        match number {
            0 => Some(Optimizer::Adam),
            1 => Some(Optimizer::AdamTensorflow),
            2 if cfg!(feature = "actor_critic") => Some(Optimizer::RmsProp),
            3 if cfg!(feature = "actor_critic") => Some(Optimizer::RmsPropTensorflow),
            4 if cfg!(feature = "actor_critic") => Some(Optimizer::RmsPropCentred),
            5 if cfg!(feature = "pqn") => Some(Optimizer::AdamRectified),
            _ => None,
        }
    }

    /// What second moments begin with.
    pub(super) fn first_square(self) -> f32 {
        if self == Optimizer::RmsPropTensorflow { 1.0 } else { 0.0 }
    }
}

/// What an optimiser moves, of the length of the parameters, and the steps that it has taken.
pub(super) struct Moving<'a> {
    pub params: &'a mut [f32],
    pub m: &'a mut [f32],
    pub v: &'a mut [f32],
    pub steps: &'a mut u64,
}

impl Config {
    /// Takes a step that leaves parameters within ± `limit`, and returns the norm of the gradient before clipping. Errors:
    /// as [`Adam::step`]; then nothing is written.
    pub(super) fn descend(&self, to: Moving<'_>, grads: &[f32], learning_rate: f32, limit: f32) -> Result<f32> {
        let Moving { params, m, v, steps } = to;
        let optimizer = Optimizer::from_number(self.optimizer).unwrap_or_default();
        let placement = match optimizer {
            Optimizer::Adam | Optimizer::AdamRectified => Epsilon::Corrected,
            Optimizer::AdamTensorflow => Epsilon::Raw,
            #[cfg(feature = "actor_critic")]
            _ => {
                let rms_prop = crate::nn::RmsProp {
                    decay: self.rms_decay,
                    momentum: self.rms_momentum,
                    epsilon: self.adam_epsilon,
                    inside: optimizer == Optimizer::RmsPropTensorflow,
                    centred: optimizer == Optimizer::RmsPropCentred,
                    limit,
                };
                return rms_prop.step(params, grads, m, v, learning_rate, self.max_grad_norm);
            }
            #[cfg(not(feature = "actor_critic"))]
            _ => Epsilon::Corrected,
        };
        let adam = Adam {
            beta1: self.adam_beta1,
            beta2: self.adam_beta2,
            epsilon: self.adam_epsilon,
            placement,
            limit,
            #[cfg(feature = "pqn")]
            rectify: optimizer == Optimizer::AdamRectified,
            ..Adam::default()
        };
        adam.step(params, grads, m, v, steps, learning_rate, self.max_grad_norm)
    }
}
