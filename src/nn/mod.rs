//! Networks and what trains them: small matrix products, feed-forward towers, initialisation, Adam, schedules.

mod adam;
mod matmul;
mod mlp;
mod orthogonal;

pub use adam::{Adam, clip_global_norm};
pub use mlp::{Activation, MAX_HIDDEN, Mlp};
