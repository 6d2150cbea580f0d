//! What is kept between steps: statistics, records, and the arrays that learners read.

pub mod lazy_frames;
pub mod monitor;
pub mod monitor_csv;
pub mod normalizer;
pub mod step;
pub mod vec_normalize;
