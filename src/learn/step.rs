//! A step of the parameters, by the configured optimizer.

#[cfg(feature = "stream")]
use super::algorithm::stream::{CUT, ERROR};
use super::config::Config;
use super::optimizer::{Optimizer, OptimizerConfig, ParamState};
#[cfg(feature = "stream")]
use crate::block::LayoutError;
use crate::error::Result;
#[cfg(feature = "stream")]
use crate::nn::Obgd;

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

    /// A step down a gradient, for the parameters of a stream algorithm: its own with an error of 1, bounded by what the policy
    /// or Q has. The traces end. Errors: as [`Obgd::step`]; then nothing is written.
    #[cfg(feature = "stream")]
    pub(super) fn bounded_step(
        &self,
        params: &mut [f32],
        trace: &mut [f32],
        grads: &[f32],
        learning_rate: f32,
        limit: f32,
    ) -> Result<f32> {
        let kappa = if self.needs().q { self.kappa_value } else { self.kappa_policy };
        let norm = Obgd { decay: 0.0, kappa, limit }.step(params, trace, grads, -1.0, learning_rate)?;
        trace.fill(0.0);
        Ok(norm)
    }

    /// Takes a step that leaves parameters within ± `limit`, and returns the norm of the gradient before clipping. Errors: as
    /// [`Adam::step`](crate::nn::Adam::step); then nothing is written.
    pub(super) fn optimizer_step(
        &self,
        to: ParamState<'_>,
        grads: &[f32],
        learning_rate: f32,
        limit: f32,
    ) -> Result<f32> {
        let settings = OptimizerConfig {
            optimizer: Optimizer::from_number(self.optimizer).unwrap_or_default(),
            maximise: false,
            max_grad_norm: self.max_grad_norm,
            beta1: self.adam_beta1,
            beta2: self.adam_beta2,
            epsilon: self.adam_epsilon,
            decay: self.rms_decay,
            momentum: self.rms_momentum,
            limit,
        };
        settings.step(to, grads, learning_rate)
    }
}
