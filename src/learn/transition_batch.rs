//! Transitions of the host's own, for one gradient step of a learner off policy.

use crate::space::Elements;

/// B transitions, where B is the learner's `batch_size`: those of a host's own store, drawn as it likes.
#[derive(Clone, Copy, Debug)]
pub struct TransitionBatch<'a> {
    /// `[B, obs_len]` observations, as environments make them.
    pub obs: Elements<'a>,
    /// `[B, action_len]` what was done, as environments take it: choices, or numbers between their bounds.
    pub action: Elements<'a>,
    /// `[B, mask_len]` flags of the choices that were allowed in `obs`, the action among them; given for SAC with
    /// `use_action_mask`, and only checked for DQN, which may have none.
    pub mask: Option<&'a [u8]>,
    /// `[B]` rewards; or sums of the discounted rewards of several steps.
    pub reward: &'a [f32],
    /// `[B]` not 0: the episode terminated, and what follows is worth nothing.
    pub terminated: &'a [u8],
    /// `[B]` discounts of the value of `next_obs`, from 0 to 1, for rewards of several steps; nothing: that of the configuration.
    pub discount: Option<&'a [f32]>,
    /// `[B, obs_len]` what they led to. It is finite where the episode terminated too, but counts for nothing there.
    pub next_obs: Elements<'a>,
    /// `[B, mask_len]` flags of the choices that are allowed in `next_obs`, at least one of each element; given exactly with
    /// `use_action_mask`.
    pub next_mask: Option<&'a [u8]>,
    /// `[B]` how much each counts, at least 0: the importance weights of a prioritised store; nothing: 1 for all.
    pub importance: Option<&'a [f32]>,
}
