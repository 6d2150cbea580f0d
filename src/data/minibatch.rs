//! Minibatches drawn from a rollout.
