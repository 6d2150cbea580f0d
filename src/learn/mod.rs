//! Learners: they consume arrays and never step an environment.

pub mod actor;
pub mod actor_config;
pub mod config;
pub mod loss;
pub mod policy;
pub mod ppo;
pub mod shape;

pub use actor::Sampling;
pub use actor_config::ActorConfig;
pub use config::Config;
pub use policy::Policy;
pub use ppo::{Phase, Ppo, Stats};
pub use shape::Shape;
