//! The experience that learners learn from: rollouts of the last steps, their past steps, and replay stores of transitions.

pub(super) mod frames;
pub(super) mod history;
#[cfg(not(feature = "off_policy"))]
#[path = "no_replay.rs"]
pub(super) mod replay;
#[cfg(feature = "off_policy")]
pub(super) mod replay;
#[cfg(feature = "off_policy")]
pub(super) mod ring;
pub(super) mod rollout;
#[cfg(feature = "off_policy")]
pub(super) mod sequences;
pub(super) mod shown;
pub(super) mod stack;
