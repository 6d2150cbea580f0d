//! State kept between steps: statistics, records, and the arrays that learners read.

pub mod cycle;
pub mod lazy_frames;
pub mod memory;
pub mod minibatch;
pub mod monitor;
pub mod monitor_csv;
pub(crate) mod part;
pub mod queue;
pub mod relabel;
pub mod replay;
pub mod rollout_buffer;
pub mod rollout_file;
pub mod rollout_text;
pub mod step;
mod text;
pub mod trajectory;
pub mod vec_normalize;

pub use part::{episodes, scale as normalizer, table, tree as sum_tree};

/// Output for rows copied from rollouts and trajectories.
pub mod rows {
    pub use super::part::rollout::RowsOut;
}
