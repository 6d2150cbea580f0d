//! One trajectory.
