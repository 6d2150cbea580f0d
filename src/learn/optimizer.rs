//! The optimizers that a configuration can choose, and their steps.

use crate::error::{Error, Kind, Name, Result};
#[cfg(feature = "actor_critic")]
use crate::nn::RmsProp;
use crate::nn::{Adam, Epsilon, Parts};

/// The optimizer of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Optimizer {
    /// Adam, with epsilon added as in PyTorch.
    #[default]
    Adam = 0,
    /// Adam, with epsilon added as in TensorFlow.
    AdamTensorflow = 1,
    /// RMSProp, with epsilon added as in PyTorch.
    RmsProp = 2,
    /// RMSProp, with epsilon added as in TensorFlow, and mean squares initialized to 1.
    RmsPropTensorflow = 3,
    /// RMSProp that divides by the standard deviation of gradients, as in PyTorch.
    RmsPropCentred = 4,
    /// Rectified Adam, which warms up until its second moments average enough gradients.
    AdamRectified = 5,
}

impl Optimizer {
    /// The optimizer with this number; `None` if this build does not have it.
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

    /// Whether it is a variant of RMSProp.
    pub(super) fn is_rms_prop(self) -> bool {
        matches!(self, Optimizer::RmsProp | Optimizer::RmsPropTensorflow | Optimizer::RmsPropCentred)
    }

    /// The initial value of second moments.
    pub fn first_square(self) -> f32 {
        if self == Optimizer::RmsPropTensorflow { 1.0 } else { 0.0 }
    }
}

/// The parameters and moments that an optimizer updates, of equal length, and the number of its steps.
pub struct ParamState<'a> {
    /// Parameters.
    pub params: &'a mut [f32],
    /// First moments, which start at 0: Adam's means of gradients; RMSProp's last steps, or means of gradients if centered.
    pub m: &'a mut [f32],
    /// Means of squared gradients, which start at [`Optimizer::first_square`].
    pub v: &'a mut [f32],
    /// Steps taken, from 0; RMSProp does not count them.
    pub steps: &'a mut u64,
}

/// Settings of an optimizer, without the step size. Plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimizerConfig {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// Ascends the gradient instead of descending it.
    pub maximise: bool,
    /// Gradients are scaled down to this norm; 0: off.
    pub max_grad_norm: f32,
    /// Decay of Adam's first moment, in [0, 1).
    pub beta1: f32,
    /// Decay of Adam's second moment, in [0, 1).
    pub beta2: f32,
    /// Epsilon; above 0, at most 1.
    pub epsilon: f32,
    /// Decay of RMSProp's mean squares, in [0, 1).
    pub decay: f32,
    /// Part of its last step that RMSProp takes again, in [0, 1); 0 if centered.
    pub momentum: f32,
    /// Limit of the absolute value of a parameter, beyond which a step is refused; finite.
    pub limit: f32,
}

impl OptimizerConfig {
    /// The customary decays, epsilon 1e-5, no limit of the norm.
    pub fn of(optimizer: Optimizer) -> OptimizerConfig {
        OptimizerConfig {
            optimizer,
            maximise: false,
            max_grad_norm: 0.0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-5,
            decay: 0.99,
            momentum: 0.0,
            limit: f32::MAX,
        }
    }

    /// Checks every setting; refuses by name one that the optimizer does not read and that is not the usual one. Errors:
    /// `Config`.
    pub fn check(&self) -> Result {
        let (norm, fine) = (self.max_grad_norm, self.max_grad_norm >= 0.0);
        Error::new(Kind::Config, "optimizer: max_grad_norm of at least 0").given_f32(norm).fail_if(!fine)?;
        self.check_unread()?;
        #[cfg(feature = "actor_critic")]
        if self.optimizer.is_rms_prop() {
            return self.rms_prop().check();
        }
        self.adam().check()
    }

    fn check_unread(&self) -> Result {
        let usual = OptimizerConfig::of(self.optimizer);
        let [adam, rms_prop] = [self.optimizer.is_rms_prop(), !self.optimizer.is_rms_prop()];
        for (what, unread, given, usual) in [
            (
                Name::new("optimizer: beta1 is set to {given}, which is read only by Adam."),
                adam,
                self.beta1,
                usual.beta1,
            ),
            (
                Name::new("optimizer: beta2 is set to {given}, which is read only by Adam."),
                adam,
                self.beta2,
                usual.beta2,
            ),
            (
                Name::new("optimizer: rms_decay is set to {given}, which is read only by RMSProp."),
                rms_prop,
                self.decay,
                usual.decay,
            ),
            (
                Name::new("optimizer: rms_momentum is set to {given}, which is read only by RMSProp."),
                rms_prop,
                self.momentum,
                usual.momentum,
            ),
        ] {
            Error::new(Kind::Config, what.text()).given_f32(given).fail_if(unread && given != usual)?;
        }
        Ok(())
    }

    #[cfg(feature = "actor_critic")]
    fn rms_prop(&self) -> RmsProp {
        RmsProp {
            decay: self.decay,
            momentum: self.momentum,
            epsilon: self.epsilon,
            inside: self.optimizer == Optimizer::RmsPropTensorflow,
            centred: self.optimizer == Optimizer::RmsPropCentred,
            maximise: self.maximise,
            limit: self.limit,
        }
    }

    fn adam(&self) -> Adam {
        let raw = self.optimizer == Optimizer::AdamTensorflow;
        Adam {
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: self.epsilon,
            placement: if raw { Epsilon::Raw } else { Epsilon::Corrected },
            maximise: self.maximise,
            limit: self.limit,
            #[cfg(feature = "pqn")]
            rectify: self.optimizer == Optimizer::AdamRectified,
        }
    }

    /// Takes a step, and returns the norm of the gradient before clipping. Errors: as [`Adam::step`]; then nothing is written.
    pub fn step(&self, to: ParamState<'_>, grads: &[f32], learning_rate: f32) -> Result<f32> {
        self.step_parts(to, grads, learning_rate, None)
    }

    /// [`OptimizerConfig::step`] that leaves all but some parts of the arrays as they are.
    pub(super) fn step_parts(
        &self,
        to: ParamState<'_>,
        grads: &[f32],
        learning_rate: f32,
        parts: Option<&dyn Parts>,
    ) -> Result<f32> {
        let ParamState { params, m, v, steps } = to;
        let rates = (learning_rate, self.max_grad_norm);
        #[cfg(feature = "actor_critic")]
        if self.optimizer.is_rms_prop() {
            return self.rms_prop().step_parts(params, grads, m, v, rates, parts);
        }
        self.adam().step_parts(params, grads, m, v, steps, rates, parts)
    }
}
