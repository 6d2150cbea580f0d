//! Learners: they consume arrays and never step an environment.

#[macro_use]
mod config_table;
#[macro_use]
pub mod algorithm;
mod act_observe;
mod action_spec;
pub mod actor;
pub mod actor_config;
pub mod c_source;
pub mod config;
pub mod config_fields;
pub mod distribution;
mod frozen;
pub mod imitation;
pub mod learner;
mod learner_spec;
pub mod loss;
mod named_infos;
pub mod network;
mod noise;
mod obs_encoder;
pub mod onnx;
pub mod optimizer;
pub mod policy;
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
#[macro_use]
mod preset;
#[cfg(feature = "pqn")]
mod q_values;
mod role;
mod rows;
pub mod shape;
mod spaces;
mod step;
mod store;
mod stream;
mod struct_action;
pub mod tasks;
mod tensors;
pub mod transition_batch;
#[cfg(feature = "off_policy")]
pub mod value_head;

pub use act_observe::ActObserve;
pub use actor::{Recurrent, Sampling};
pub use actor_config::ActorConfig;
pub use config::{Algorithm, Config};
pub use distribution::Distribution;
pub use imitation::Imitation;
pub use learner::{Batch, BatchMut, Learner, Phase, Stats, View, adopt, merge_moments};
pub use network::{CompiledNetwork, Network, NetworkLengths, NetworkPass};
pub use onnx::{Onnx, OnnxNames};
pub use optimizer::{Optimizer, OptimizerConfig, ParamState};
pub use policy::Policy;
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
pub use preset::Preset;
pub use shape::Shape;
pub use spaces::Spaces;
pub use tensors::{NamedTensor, TensorsOf};
pub use transition_batch::TransitionBatch;
