//! Recording rollouts and learning from them.

mod act;
mod batch;
mod distribution;
mod image;
mod observe;
mod update;

pub use batch::{Batch, BatchMut};
#[cfg(test)]
pub(super) use update::ADVANTAGE_EPSILON;
pub(super) use update::minibatch;
