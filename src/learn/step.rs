//! A step of the parameters, by the optimiser that the configuration chooses.

use super::config::Config;
use super::optimizer::Optimizer;
use crate::error::Result;
use crate::nn::{Adam, Epsilon};

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
