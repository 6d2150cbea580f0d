//! Learners that are opened for acting and observing only.

use super::shape::Shape;
use crate::error::Result;
use crate::space::{Elements, ElementsMut};

/// Flags of environments or choices, optional.
type Flags<'a> = Option<&'a [u8]>;

/// A learner that acts and observes.
pub trait ActObserve {
    /// The learner's shapes, and N.
    fn shape(&self) -> (&Shape, usize);
    /// [`Learner::act`](super::Learner::act).
    fn act(&mut self, active: Flags<'_>, obs: Elements<'_>, mask: Flags<'_>, action: ElementsMut<'_>) -> Result;
    /// Whether decisions last for different times.
    fn uses_duration(&self) -> bool;
    /// [`Learner::observe_after`](super::Learner::observe_after); `ends` are terminated and truncated.
    fn observe(
        &mut self,
        duration: Option<&[f32]>,
        active: Flags<'_>,
        reward: &[f32],
        ends: [&[u8]; 2],
        last: Option<Elements<'_>>,
        last_mask: Flags<'_>,
    ) -> Result;
}

/// Implements [`ActObserve`] by the methods of the same names.
macro_rules! acts {
    ($learner:ident) => {
        impl $crate::learn::ActObserve for $learner<'_> {
            fn shape(&self) -> (&$crate::learn::Shape, usize) {
                (self.shape(), self.config().num_envs as usize)
            }

            fn act(
                &mut self,
                active: Option<&[u8]>,
                obs: $crate::space::Elements<'_>,
                mask: Option<&[u8]>,
                action: $crate::space::ElementsMut<'_>,
            ) -> $crate::error::Result {
                self.act(active, obs, mask, action)
            }

            fn uses_duration(&self) -> bool {
                self.config().use_duration != 0
            }

            fn observe(
                &mut self,
                duration: Option<&[f32]>,
                active: Option<&[u8]>,
                reward: &[f32],
                ends: [&[u8]; 2],
                last: Option<$crate::space::Elements<'_>>,
                last_mask: Option<&[u8]>,
            ) -> $crate::error::Result {
                self.observe_after(duration, active, reward, ends, last, last_mask)
            }
        }
    };
}
pub(super) use acts;
