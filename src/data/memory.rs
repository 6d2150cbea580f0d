//! Replay memory whose samples are balanced by reward.
