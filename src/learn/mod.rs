//! Learners: they consume arrays and never step an environment.

pub mod actor;
pub mod config;
pub mod loss;
pub mod policy;
pub mod ppo;

pub use actor::Sampling;
pub use config::{Config, Shape};
pub use policy::Policy;
pub use ppo::{Phase, Ppo, Stats};
