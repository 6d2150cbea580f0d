//! Hindsight: goals that an episode did reach.
