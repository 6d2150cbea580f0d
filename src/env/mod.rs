//! Environments: what one is, the built-in ones, and N of them stepped in one block.
//!
//! ```
//! use rlcore::env::{CartPole, StepOut, VecEnv, VecEnvConfig};
//! use rlcore::space::{Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! let config = VecEnvConfig { num_envs: 2, ..VecEnvConfig::default() };
//! let mut block = vec![0u64; VecEnv::size(&CartPole, &config)? / 8];
//! let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &CartPole, &config)?;
//!
//! let (mut obs, mut final_obs) = ([0.0; 2 * 4], [0.0; 2 * 4]);
//! let (mut reward, mut terminated, mut truncated) = ([0.0; 2], [0; 2], [0; 2]);
//! envs.reset(Some(7), ElementsMut::F32(&mut obs))?;
//! let out = StepOut {
//!     obs: ElementsMut::F32(&mut obs),
//!     reward: &mut reward,
//!     terminated: &mut terminated,
//!     truncated: &mut truncated,
//!     final_obs: Some(ElementsMut::F32(&mut final_obs)),
//!     valid: None,
//!     action_mask: None,
//!     final_action_mask: None,
//! };
//! envs.step(Elements::I32(&[0, 1]), out)?;
//! assert_eq!(reward, [1.0, 1.0]);
//! # Ok(())
//! # }
//! ```

use bytemuck::Pod;

use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

mod acrobot;
mod asterix;
pub mod batch;
mod bit_flip;
mod breakout;
mod builtin;
mod cartpole;
mod catch;
mod columns;
mod draw;
mod freeway;
mod grid_game;
pub mod layout;
mod maze;
mod mountain_car;
mod no_vel;
mod out;
mod pendulum;
mod point_reach;
mod probe;
mod repeat_previous;
mod row;
mod rows;
mod setup;
mod space_invaders;
mod vecenv;
mod view;
pub mod wrap;

pub use acrobot::Acrobot;
pub use asterix::Asterix;
pub use bit_flip::BitFlip;
pub use breakout::Breakout;
pub use builtin::{BUILTINS, Builtin, FIRST_FREE_ID};
pub use cartpole::CartPole;
pub use catch::Catch;
pub use freeway::Freeway;
pub use maze::Maze;
pub use mountain_car::{MountainCar, MountainCarContinuous};
pub use no_vel::NoVel;
pub use out::StepOut;
pub use pendulum::Pendulum;
pub use point_reach::PointReach;
pub use probe::Probe;
pub use repeat_previous::RepeatPrevious;
pub use setup::{Autoreset, NO_LIMIT, Rows, Setup, Spans, VecEnvConfig};
pub use space_invaders::SpaceInvaders;
pub use vecenv::VecEnv;
pub use view::View;

/// What an environment is, as data that a learner can query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec<'a> {
    /// Number of this kind; stored in the block and compared on every call. Numbers from 1 to 999 are the library's own.
    pub env_id: u32,
    /// Bytes of one environment's state, a multiple of 8; zeroed when the block is made.
    pub state_size: u32,
    /// Episodes are truncated after this many steps, which wrappers count inside; 0 means never. Blocks remember it.
    pub max_episode_steps: u32,
    /// What `reset` and `step` write.
    pub obs: Space<'a>,
    /// What `step` reads.
    pub action: Space<'a>,
    /// Names the wrappers around the environment; 0 if there is none. Blocks remember it too.
    pub wrappers: u64,
}

impl Spec<'_> {
    /// The limit of a batch's own steps: wrappers count the environment's inside.
    fn outer_limit(&self) -> u32 {
        if self.wrappers == 0 { self.max_episode_steps } else { 0 }
    }
}

/// Which level an environment that has levels starts again in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Level {
    /// One that it chooses anew.
    #[default]
    New = 0,
    /// The one that just ended.
    Same = 1,
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

/// One kind of environment. `self` holds what all environments of the kind share; what environment number `row` of a batch
/// remembers lives in `state`, bytes without pointers, so that copying bytes copies the environment. The bytes may come from a
/// damaged image: no value of them may make a method crash or hang. All randomness comes from `rng`, so that the same
/// state, stream and action give the same step.
pub trait Env {
    /// What this environment is. Constant for the life of the value.
    fn spec(&self) -> Spec<'_>;

    /// Told of the batch that a state belongs to, before each `reset`: wrappers keep there what depends on it.
    fn configure(&self, _state: &mut [u8], _setup: &Setup) -> Result {
        Ok(())
    }

    /// Starts afresh and writes the first observation: what a new seed begins with.
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result;

    /// Starts the next episode after one that ended, or in the midst of one: environments with levels obey `level`,
    /// wrappers that cut one game into several episodes go on with the game. The rest starts as `reset` does.
    fn restart(&self, row: usize, _level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        self.reset(row, state, rng, obs)
    }

    /// Takes one step and writes the observation after it.
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step>;

    /// Steps the first rows of a batch together, for environments that can: `state` is `[rows, state_size]`, `action`
    /// `[rows, action_len]`, and of `out` `obs`, `reward`, `terminated` and `truncated` are written. Returns how many rows
    /// were stepped: with the bytes of `step` one by one, every number finite. The other rows are untouched and are
    /// stepped one by one. The default steps none.
    ///
    /// Rows that ended may be among them, to be restarted next. So an environment that steps rows together has a `reset`
    /// and a `restart` that never fail, observe finite numbers and take nothing from the state that they find.
    fn step_rows(&self, _state: &mut [u8], _action: Elements<'_>, _out: &mut StepOut<'_>) -> usize {
        0
    }

    /// Lives left, for environments that count them.
    fn lives(&self, _row: usize, _state: &[u8]) -> Result<u32> {
        Ok(0)
    }

    /// False: every choice is always allowed, and [`Env::action_mask`] need not be asked.
    fn has_mask(&self) -> bool {
        true
    }

    /// Writes 1 for each discrete action that is allowed now, else 0: as many flags as the action space has choices.
    fn action_mask(&self, _row: usize, _state: &[u8], mask: &mut [u8]) -> Result {
        mask.fill(1);
        Ok(())
    }

    /// Draws the environment: `[height, width, 3]` bytes, rows from the top. Environments without a picture leave zeros.
    fn render(&self, _row: usize, _state: &[u8], _width: usize, _height: usize, rgb: &mut [u8]) -> Result {
        rgb.fill(0);
        Ok(())
    }
}

const STATE: Error = Error::new(Kind::Shape, "environment: state_size bytes of state on an 8-byte boundary");

/// The state's bytes as the environment's own type. Errors: `Shape` for another size.
#[inline]
pub fn view<T: Pod>(state: &[u8]) -> Result<&T> {
    bytemuck::try_from_bytes(state).map_err(|_| STATE)
}

/// The state's bytes as the environment's own type, to change. Errors: as [`view`].
#[inline]
pub fn view_mut<T: Pod>(state: &mut [u8]) -> Result<&mut T> {
    bytemuck::try_from_bytes_mut(state).map_err(|_| STATE)
}

/// Writes one observation of numbers. Errors: `Shape` for another kind or length.
#[inline]
pub fn put<const N: usize>(obs: ElementsMut<'_>, values: [f32; N]) -> Result {
    let row: &mut [f32; N] =
        obs.f32()?.try_into().map_err(|_| Error::new(Kind::Shape, "environment obs: elements").needed(N))?;
    *row = values;
    Ok(())
}

/// The one discrete choice of an action. Errors: `Shape` for another kind, or none.
#[inline]
pub fn choice(action: Elements<'_>) -> Result<i32> {
    action.i32()?.first().copied().ok_or(Error::new(Kind::Shape, "environment action: 1 element"))
}
