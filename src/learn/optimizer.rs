//! Which optimiser a configuration chooses.

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
