//! One trajectory and what a learner makes of it.
