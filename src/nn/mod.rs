//! Networks and what trains them: small matrix products, feed-forward towers, initialisation, Adam, schedules.

mod matmul;
mod mlp;

pub use mlp::{Activation, MAX_HIDDEN, Mlp};
