//! Learners: they consume arrays and never step an environment.

#[macro_use]
mod config_table;
#[macro_use]
pub mod algorithm;
pub mod actor;
pub mod actor_config;
mod acts;
pub mod config;
pub mod config_fields;
pub mod learner;
pub mod loss;
mod noise;
pub mod optimizer;
pub mod policy;
#[cfg(feature = "pqn")]
mod q_values;
mod rows;
mod seen;
pub mod shape;
mod spaces;
mod step;
mod store;
mod stored;
mod stream;
mod taken;
pub mod tasks;
pub mod transition_batch;
#[cfg(feature = "off_policy")]
pub mod value_head;
mod words;

pub use actor::{Recurrent, Sampling};
pub use actor_config::ActorConfig;
pub use acts::Acts;
pub use config::{Algorithm, Config};
pub use learner::{Batch, BatchMut, Learner, Phase, Stats, View, merge_moments};
pub use optimizer::Optimizer;
pub use policy::Policy;
pub use shape::Shape;
pub use spaces::Spaces;
pub use transition_batch::TransitionBatch;
