//! The optimizers that a configuration can choose.

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

    /// The initial value of second moments.
    pub(super) fn first_square(self) -> f32 {
        if self == Optimizer::RmsPropTensorflow { 1.0 } else { 0.0 }
    }
}
