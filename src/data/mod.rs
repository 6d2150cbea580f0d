//! What is kept between steps: statistics, and the arrays that learners read.

pub mod normalizer;
