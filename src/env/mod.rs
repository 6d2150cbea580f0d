//! Environments: what one is, the built-in ones, and N of them stepped in one block.

use crate::error::Result;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// What an environment is, as data that a learner can query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec<'a> {
    /// Number of this kind; stored in the block and compared on every call.
    pub env_id: u32,
    /// Bytes of one environment's state, a multiple of 8; zeroed when the block is made.
    pub state_size: u32,
    /// Episodes are truncated after this many steps; 0 means never.
    pub max_episode_steps: u32,
    /// What `reset` and `step` write.
    pub obs: Space<'a>,
    /// What `step` reads.
    pub action: Space<'a>,
}

/// What one step returns beside the observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Finite.
    pub reward: f32,
    /// The task reached a terminal state; the next value is 0.
    pub terminated: bool,
    /// The environment itself cut the episode; the time limit is the vectorised environment's business.
    pub truncated: bool,
}

/// One kind of environment. `self` holds what all environments of the kind share; what one environment remembers
/// lives in `state`, bytes without pointers, so that copying bytes copies the environment.
pub trait Env {
    /// What this environment is. Constant for the life of the value.
    fn spec(&self) -> Spec<'_>;

    /// Starts an episode and writes its first observation.
    fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result;

    /// Takes one step and writes the observation after it.
    fn step(&self, state: &mut [u8], rng: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step>;

    /// Lives left, for environments that count them.
    fn lives(&self, _state: &[u8]) -> Result<u32> {
        Ok(0)
    }

    /// Writes 1 for each discrete action that is allowed now, else 0: as many flags as the action space has choices.
    fn action_mask(&self, _state: &[u8], mask: &mut [u8]) -> Result {
        mask.fill(1);
        Ok(())
    }

    /// Draws the environment: `[height, width, 3]` bytes, rows from the top. Environments without a picture leave zeros.
    fn render(&self, _state: &[u8], _width: usize, _height: usize, rgb: &mut [u8]) -> Result {
        rgb.fill(0);
        Ok(())
    }
}
