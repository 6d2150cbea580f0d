//! Wrappers: an ordered list of plain descriptors, applied to one environment.
//!
//! A [`Pipeline`] applies the list and is itself an environment, so that wrapped environments can be used wherever
//! environments are. The state of a wrapper is stored behind the state of the layers below it, in the same bytes.
//!
//! ```
//! use rlcore::env::wrap::{Pipeline, Wrapper};
//! use rlcore::env::{CartPole, Env, VecEnv, VecEnvConfig};
//!
//! # fn main() -> rlcore::error::Result {
//! let list = [Wrapper::StickyActions { probability: 0.25 }, Wrapper::FrameStack { count: 4 }];
//! let env = Pipeline::new(&CartPole, &list)?;
//! assert_eq!(env.spec().obs.len, 4 * 4);
//! let size = VecEnv::size(&env, &VecEnvConfig::default())?;
//! # assert!(size > 0);
//! # Ok(())
//! # }
//! ```
//!
//! # State of the wrappers
//!
//! All of it is part of the environment's row in the block, and is copied, saved and compared with it.
//!
//! | wrapper | bytes of state |
//! |---|---|
//! | `WarpFrame` | the observation below and a line of scratch; two observations over `MaxAndSkip`, which then has none |
//! | `FrameStack` | `count` observations and 8 bytes |
//! | `ScaledFloat`, `ChannelsFirst` | the observation below; nothing over `FrameStack`, which does their work |
//! | `AtariRescale`, `Observe` | the observation below |
//! | `Flatten`, `Extract` | the observation below; nothing if it does not change |
//! | `Record` | 24 bytes and the last action; also the frame if it is not bytes |
//! | `MaxAndSkip` | the observation below |
//! | `TimeLimit`, `EpisodicLife` | 8 bytes |
//! | `StickyActions` | 8 bytes and an action |
//! | `RescaleAction`, `ClipAction` | an action |
//! | the others | nothing |
//!
//! Two wrappers can share their work even if there are others between them that do not change the observation. For
//! example, an Atari screen of 210 by 160 in color, reduced to four gray frames of 84 by 84, takes 2 * 100,800 + 4 *
//! 7,056 bytes of state plus a small overhead.

mod actions;
mod change;
mod episodes;
mod fields;
mod frames;
mod layer;
mod observations;
mod pipeline;
mod presets;
mod records;
mod rewards;
mod wrapper;

pub use change::MAX_FIELDS;
pub use pipeline::{MAX_WRAPPERS, Pipeline};
pub use presets::{Atari, LifeOrder, Preset, Screen};
pub use wrapper::{Observe, Wrapper};
