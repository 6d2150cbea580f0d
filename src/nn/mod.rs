//! Networks and what trains them: small matrix products, layers, initialisation, Adam, schedules.

mod activation;
mod adam;
mod dense;
mod layer;
mod matmul;
mod mlp;
mod net;
mod orthogonal;
mod run;
mod schedule;

pub use activation::Activation;
pub use adam::{Adam, Epsilon, clip_global_norm};
pub use layer::{HEAD, INPUT, Layer, LayerKind, MAX_LAYERS};
pub use mlp::{MAX_HIDDEN, Mlp};
pub use net::{ALL, Net, Node};
pub use orthogonal::{orthogonal, orthogonal_scratch_len};
pub use schedule::Schedule;
