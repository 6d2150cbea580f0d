//! How a learner records rollouts and learns from them.

mod act;
mod batch;
mod image;
mod observe;
mod update;

pub use batch::{Batch, BatchMut};
#[cfg(test)]
pub(super) use update::ADVANTAGE_EPSILON;
pub(super) use update::minibatch;
