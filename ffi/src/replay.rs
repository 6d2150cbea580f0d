//! Replay memory whose samples follow priorities.
