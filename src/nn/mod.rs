//! Networks and what trains them: small matrix products, feed-forward towers, initialisation, Adam, schedules.

mod adam;
mod matmul;
mod mlp;
mod orthogonal;
mod schedule;

pub use adam::{Adam, Epsilon, clip_global_norm};
pub use mlp::{Activation, MAX_HIDDEN, Mlp};
pub use orthogonal::{orthogonal, orthogonal_scratch_len};
pub use schedule::Schedule;
