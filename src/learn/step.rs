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
use crate::nn::Parts;

impl Config {
    /// The same step along eligibility traces, which are stored as first moments; the parameters after the first `policy` ones
    /// have a separate trace. `losses` hold the error, and whether the traces end; `discount` is that over the previous step.
    /// `parts` are those of both, if the step does not change all.
    #[cfg(feature = "stream")]
    pub(super) fn trace_step(
        &self,
        to: ParamState<'_>,
        (policy, parts): (usize, [Option<&dyn Parts>; 2]),
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
        let by = first.reach(params, trace, grads, (error, learning_rate), parts[0])?;
        let values_by = second.reach(values_params, values_trace, values_grads, (error, learning_rate), parts[1])?;
        first.trace_step(params, trace, grads, by, parts[0]);
        second.trace_step(values_params, values_trace, values_grads, values_by, parts[1]);
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
        parts: Option<&dyn Parts>,
    ) -> Result<f32> {
        let kappa = if self.needs().q { self.kappa_value } else { self.kappa_policy };
        let norm = crate::nn::norm(grads)?;
        let obgd = Obgd { decay: 0.0, kappa, limit };
        let by = obgd.reach(params, trace, grads, (-1.0, learning_rate), parts)?;
        obgd.trace_step(params, trace, grads, by, parts);
        trace.fill(0.0);
        Ok(norm)
    }

    /// Takes a step that leaves parameters within ± `limit`, and returns the norm of the gradient before clipping. It changes
    /// `parts` alone, if there are any. Errors: as [`Adam::step`](crate::nn::Adam::step); then nothing is written.
    pub(super) fn optimizer_step(
        &self,
        to: ParamState<'_>,
        grads: &[f32],
        learning_rate: f32,
        limit: f32,
        parts: Option<&dyn Parts>,
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
        settings.step_parts(to, grads, learning_rate, parts)
    }
}
