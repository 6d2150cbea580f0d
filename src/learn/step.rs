//! A step of the parameters, by the configured optimizer.

#[cfg(feature = "stream")]
use super::algorithm::stream::{CUT, ERROR};
use super::config::Config;
use super::optimizer::Optimizer;
#[cfg(feature = "stream")]
use crate::block::LayoutError;
use crate::error::Result;
#[cfg(feature = "stream")]
use crate::nn::Obgd;
use crate::nn::{Adam, Epsilon};

/// The parameters and moments that an optimizer updates, of equal length, and the number of its steps.
pub(super) struct ParamState<'a> {
    pub params: &'a mut [f32],
    pub m: &'a mut [f32],
    pub v: &'a mut [f32],
    pub steps: &'a mut u64,
}

impl Config {
    /// The same step along eligibility traces, which are stored as first moments; the parameters after the first `policy` ones
    /// have a separate trace. `losses` hold the error, and whether the traces end; `discount` is that over the previous step.
    #[cfg(feature = "stream")]
    pub(super) fn trace_step(
        &self,
        to: ParamState<'_>,
        policy: usize,
        grads: &[f32],
        losses: &[f32],
        (learning_rate, discount): (f32, f32),
        limit: f32,
    ) -> Result<f32> {
        let norm = crate::nn::norm(grads)?;
        let (Some(&error), Some(&cut)) = (losses.get(ERROR), losses.get(CUT)) else { return Err(LayoutError.into()) };
        let decay = discount * self.gae_lambda;
        let obgd = |kappa| Obgd { decay, kappa, limit };
        let (first, second) = (obgd(self.kappa_policy), obgd(self.kappa_value));
        let (params, values_params) = to.params.split_at_mut_checked(policy).ok_or(LayoutError)?;
        let (trace, values_trace) = to.m.split_at_mut_checked(policy).ok_or(LayoutError)?;
        let (grads, values_grads) = grads.split_at_checked(policy).ok_or(LayoutError)?;
        // Both steps are checked before either is taken.
        let by = first.reach(params, trace, grads, error, learning_rate)?;
        let values_by = second.reach(values_params, values_trace, values_grads, error, learning_rate)?;
        first.trace_step(params, trace, grads, by);
        second.trace_step(values_params, values_trace, values_grads, values_by);
        if cut != 0.0 {
            to.m.fill(0.0);
        }
        Ok(norm)
    }

    /// Takes a step that leaves parameters within ± `limit`, and returns the norm of the gradient before clipping. Errors: as
    /// [`Adam::step`]; then nothing is written.
    pub(super) fn optimizer_step(
        &self,
        to: ParamState<'_>,
        grads: &[f32],
        learning_rate: f32,
        limit: f32,
    ) -> Result<f32> {
        let ParamState { params, m, v, steps } = to;
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
