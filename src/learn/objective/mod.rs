//! What learners optimise: an algorithm makes gradients and losses of a chunk of a minibatch.

pub(super) mod ppo;
