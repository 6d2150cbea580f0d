//! Transitions supplied by the host, for one gradient step of a learner off policy.

use crate::space::Elements;

/// B transitions, where B is the learner's `batch_size`, drawn by the host from its own store.
#[derive(Clone, Copy, Debug)]
pub struct TransitionBatch<'a> {
    /// `[B, obs_len]` observations, in the environment's form.
    pub obs: Elements<'a>,
    /// `[B, action_len]` actions, in the environment's form: choices, or numbers within their bounds.
    pub action: Elements<'a>,
    /// `[B, mask_len]` flags of the choices that were allowed in `obs`, including the action; given for SAC with
    /// `use_action_mask`, optional and only checked for DQN.
    pub mask: Option<&'a [u8]>,
    /// `[B]` rewards, clipped to `reward_min` and `reward_max`; or with `discount` sums of the discounted rewards of several steps, which are
    /// not clipped.
    pub reward: &'a [f32],
    /// `[B]` not 0: the episode terminated, and the value of the next observation is 0.
    pub terminated: &'a [u8],
    /// `[B]` discounts of the value of `next_obs`, from 0 to 1, for rewards of several steps; `None`: that of the
    /// configuration.
    pub discount: Option<&'a [f32]>,
    /// `[B, obs_len]` next observations. They must be finite where the episode terminated too, but have no effect there.
    pub next_obs: Elements<'a>,
    /// `[B, mask_len]` flags of the choices that are allowed in `next_obs`, at least one of each element; given exactly with
    /// `use_action_mask`.
    pub next_mask: Option<&'a [u8]>,
    /// `[B]` importance weights, at least 0, as of a prioritized store; `None`: 1 for all.
    pub importance: Option<&'a [f32]>,
}
