//! The environment trait, the built-in environments, and vectorized environments: N environments in one block.
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
mod snapshot;
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
pub use snapshot::row_size;
pub use space_invaders::SpaceInvaders;
pub use vecenv::VecEnv;
pub use view::View;

/// Specification of an environment kind: spaces, state size and time limit, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec<'a> {
    /// Identifier of the environment kind, stored in the block and compared on every call. 1 to 999 are reserved for
    /// the library.
    pub env_id: u32,
    /// Size of one environment's state in bytes, a multiple of 8. The state is zeroed when the block is created.
    pub state_size: u32,
    /// Time limit: episodes are truncated after this many steps; 0 means no limit. Wrappers count it below themselves,
    /// in the environment's own steps. Stored in the block.
    pub max_episode_steps: u32,
    /// Observation space: the output of `reset` and `step`.
    pub obs: Space<'a>,
    /// Action space: the input of `step`.
    pub action: Space<'a>,
    /// Hash of the list of wrappers around the environment; 0 without wrappers. Stored in the block.
    pub wrappers: u64,
}

impl Spec<'_> {
    /// Time limit that the batch counts in its own steps: 0 with wrappers, which count the environment's limit
    /// themselves.
    fn outer_limit(&self) -> u32 {
        if self.wrappers == 0 { self.max_episode_steps } else { 0 }
    }
}

/// Level in which an environment with several levels starts its next episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Level {
    /// A newly chosen level.
    #[default]
    New = 0,
    /// The level of the episode that just ended.
    Same = 1,
}

/// Result of one step, apart from the observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Reward of the step; must be finite.
    pub reward: f32,
    /// The environment reached a terminal state: the value of the next state is 0.
    pub terminated: bool,
    /// The environment itself truncated the episode. The time limit is applied by the vectorized environment.
    pub truncated: bool,
}

/// An environment kind. `self` holds the data shared by all environments of the kind; the state of environment number
/// `row` of a batch is in `state`. State is bytes without pointers, so that copying the bytes copies the environment.
/// The bytes may come from a damaged image: no value of them may make a method crash or hang. All randomness comes from
/// `rng`, so that the same state, random stream and action give the same step.
pub trait Env {
    /// Specification of the environment. Constant for the lifetime of the value.
    fn spec(&self) -> Spec<'_>;

    /// Passes the setup of the batch to a state, before each `reset` and after a row was written that may come from another
    /// batch. Wrappers store settings that depend on it in their state; everything else in it must stay.
    fn configure(&self, _state: &mut [u8], _setup: &Setup) -> Result {
        Ok(())
    }

    /// Resets the environment completely, as after seeding, and writes the first observation.
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result;

    /// True if [`Env::reset_with`] takes options; those of other environments are refused before anything changes.
    fn takes_options(&self) -> bool {
        false
    }

    /// [`Env::reset`] with options of the host's, bytes whose meaning only host and environment know: a level, a goal, a
    /// difficulty. It is called for every reset with options, with a seed or without, also if the environment was reset before.
    /// Errors: `Config` if the environment takes none.
    fn reset_with(
        &self,
        _row: usize,
        _state: &mut [u8],
        _rng: &mut Rng,
        _options: &[u8],
        _obs: ElementsMut<'_>,
    ) -> Result {
        Err(NO_OPTIONS)
    }

    /// Starts the next episode, after the last one ended or while it is still running. Environments with levels start
    /// in the level given by `level`; wrappers that split one game into several episodes continue the game. Everything
    /// else is as in `reset`.
    fn restart(&self, row: usize, _level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        self.reset(row, state, rng, obs)
    }

    /// Takes one step and writes the resulting observation.
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step>;

    /// Steps the first rows of a batch together, for environments that support it: `state` is `[rows, state_size]`,
    /// `action` `[rows, action_len]`; of `out`, the arrays `obs`, `reward`, `terminated` and `truncated` are written.
    /// Returns the number of rows stepped. Their results must be finite and bit-identical to those of `step` row by
    /// row. The remaining rows must stay unchanged; the caller steps them one by one. The default steps none.
    ///
    /// The rows may include ended episodes, which the caller restarts afterwards. An environment that implements this
    /// method must therefore have a `reset` and a `restart` that never fail, produce finite observations and do not
    /// depend on the previous state.
    fn step_rows(&self, _state: &mut [u8], _action: Elements<'_>, _out: &mut StepOut<'_>) -> usize {
        0
    }

    /// Lives left; 0 for environments that do not count lives.
    fn lives(&self, _row: usize, _state: &[u8]) -> Result<u32> {
        Ok(0)
    }

    /// False if every action is always allowed; [`Env::action_mask`] then need not be called.
    fn has_mask(&self) -> bool {
        true
    }

    /// Writes the action mask of the current state: 1 for each allowed discrete action, else 0. `mask` has one flag for
    /// each choice of the action space.
    fn action_mask(&self, _row: usize, _state: &[u8], mask: &mut [u8]) -> Result {
        mask.fill(1);
        Ok(())
    }

    /// Renders the environment into `[height, width, 3]` bytes, rows from the top. Environments without rendering write
    /// zeros.
    fn render(&self, _row: usize, _state: &[u8], _width: usize, _height: usize, rgb: &mut [u8]) -> Result {
        rgb.fill(0);
        Ok(())
    }
}

/// Where a reset takes its randomness from, and what the host tells the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reset<'a> {
    /// Row i of the batch gets the random stream of `seed + i`; `None`: the streams continue.
    pub seed: Option<u64>,
    /// Options for [`Env::reset_with`], the same for every row; `None`: there are none.
    pub options: Option<&'a [u8]>,
}

impl Reset<'_> {
    /// Without options.
    pub fn seeded(seed: Option<u64>) -> Self {
        Reset { seed, options: None }
    }

    /// Errors: `Config` if there are options, and the environment takes none.
    fn check<E: Env + ?Sized>(&self, env: &E) -> Result {
        NO_OPTIONS.fail_if(self.options.is_some() && !env.takes_options())
    }
}

const NO_OPTIONS: Error =
    Error::new(Kind::Config, "environment: resets take no options, as this environment has no reset_with.");

const STATE: Error = Error::new(Kind::Shape, "environment: state_size bytes of state on an 8-byte boundary");

/// The state bytes as the environment's state type. Errors: `Shape` for a wrong size.
#[inline]
pub fn view<T: Pod>(state: &[u8]) -> Result<&T> {
    bytemuck::try_from_bytes(state).map_err(|_| STATE)
}

/// Mutable version of [`view`]. Errors: as [`view`].
#[inline]
pub fn view_mut<T: Pod>(state: &mut [u8]) -> Result<&mut T> {
    bytemuck::try_from_bytes_mut(state).map_err(|_| STATE)
}

/// Writes one f32 observation. Errors: `Shape` for another element kind or length.
#[inline]
pub fn put<const N: usize>(obs: ElementsMut<'_>, values: [f32; N]) -> Result {
    let row: &mut [f32; N] =
        obs.f32()?.try_into().map_err(|_| Error::new(Kind::Shape, "environment obs: elements").needed(N))?;
    *row = values;
    Ok(())
}

/// The single discrete choice of an action. Errors: `Shape` for another element kind or an empty action.
#[inline]
pub fn choice(action: Elements<'_>) -> Result<i32> {
    action.i32()?.first().copied().ok_or(Error::new(Kind::Shape, "environment action: 1 element"))
}
