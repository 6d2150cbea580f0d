//! Networks and their training: small matrix products, layers, initialization, optimizers, schedules.

mod activation;
mod adam;
pub(crate) mod c_source;
mod carry;
mod compile;
mod descent;
mod initializer;
mod input;
mod layer;
mod matmul;
mod net;
mod node;
mod noise;
#[cfg(feature = "stream")]
mod obgd;
pub(crate) mod onnx;
mod orthogonal;
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
mod preset;
mod prim;
#[cfg(feature = "actor_critic")]
mod rmsprop;
mod room;
mod run;
mod schedule;
mod tensor;
mod weights;

pub use activation::Activation;
pub use adam::{Adam, Epsilon};
pub use carry::Carry;
pub(crate) use descent::Parts;
pub use descent::clip_global_norm;
#[cfg(feature = "stream")]
pub(crate) use descent::norm;
pub use initializer::Initializer;
pub use input::Input;
pub use layer::{
    BYTES, FORGET_ONE, HEAD, INPUT, Layer, MAX_LAYERS, MEAN, NO_BIAS, NO_SCALE, NOISY, NORMALIZED, RMS, WHOLE,
};
pub use net::{ALL, Net};
pub use node::Node;
#[cfg(feature = "stream")]
pub use obgd::Obgd;
pub use orthogonal::{orthogonal, orthogonal_scratch_len};
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
pub use preset::Preset;
pub use prim::LayerKind;
pub(crate) use prim::Scope;
#[cfg(feature = "actor_critic")]
pub use rmsprop::RmsProp;
pub(crate) use room::{with_layers, with_room, with_rooms};
pub use schedule::Schedule;
pub use tensor::{MAX_RANK, Tensor, Tensors};
pub use weights::Weights;
