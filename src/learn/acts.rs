//! Learners that are opened to act and to observe, and for nothing else.

use super::learner::Learner;
#[cfg(feature = "off_policy")]
use super::off_policy::OffPolicy;
use super::shape::Shape;
use crate::error::Result;
use crate::space::{Elements, ElementsMut};

/// Flags of environments or choices, or none.
type Flags<'a> = Option<&'a [u8]>;

/// A learner that acts and observes.
pub trait Acts {
    /// Its shapes, and N.
    fn shape(&self) -> (&Shape, usize);
    /// [`Learner::act`].
    fn act(&mut self, active: Flags<'_>, obs: Elements<'_>, mask: Flags<'_>, action: ElementsMut<'_>) -> Result;
    /// [`Learner::observe`]; `ends` are terminated and truncated.
    fn observe(&mut self, active: Flags<'_>, reward: &[f32], ends: [&[u8]; 2], last: Option<Elements<'_>>) -> Result;
}

macro_rules! acts {
    ($learner:ident) => {
        impl Acts for $learner<'_> {
            fn shape(&self) -> (&Shape, usize) {
                (self.shape(), self.config().num_envs as usize)
            }

            fn act(&mut self, active: Flags<'_>, obs: Elements<'_>, mask: Flags<'_>, to: ElementsMut<'_>) -> Result {
                self.act(active, obs, mask, to)
            }

            fn observe(&mut self, a: Flags<'_>, reward: &[f32], e: [&[u8]; 2], last: Option<Elements<'_>>) -> Result {
                self.observe(a, reward, e[0], e[1], last)
            }
        }
    };
}

acts!(Learner);
#[cfg(feature = "off_policy")]
acts!(OffPolicy);
