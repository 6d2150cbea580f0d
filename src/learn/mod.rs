//! Learners: they consume arrays and never step an environment.

pub mod actor;
pub mod actor_config;
pub mod config;
pub mod learner;
pub mod loss;
pub mod policy;
pub mod shape;

pub use actor::Sampling;
pub use actor_config::ActorConfig;
pub use config::Config;
pub use learner::{Learner, Phase, Stats};
pub use policy::Policy;
pub use shape::Shape;
