//! Wrappers: an ordered list of plain descriptors over one environment.
//!
//! A [`Pipeline`] walks the list and is an environment itself, so that everything that steps environments steps wrapped
//! ones. What a wrapper remembers lies behind the state of what it wraps, in the same bytes.
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
//! # What a wrapper remembers
//!
//! An environment's row of the block holds all of it: bytes that are copied, saved and compared with the rest.
//!
//! | wrapper | bytes of state |
//! |---|---|
//! | `WarpFrame` | the observation below, and a line of scratch; over `MaxAndSkip`, which then keeps none, two of them |
//! | `FrameStack` | `count` observations and 8 bytes |
//! | `ScaledFloat`, `ChannelsFirst` | the observation below; nothing over `FrameStack`, which writes what they would |
//! | `AtariRescale`, `Observe` | the observation below |
//! | `Flatten`, `Extract` | the observation below; nothing where it stays as it is |
//! | `Record` | 24 bytes and the last action; the frame too if it is no bytes |
//! | `MaxAndSkip` | the observation below |
//! | `TimeLimit`, `EpisodicLife` | 8 bytes |
//! | `StickyActions` | 8 bytes and an action |
//! | `RescaleAction`, `ClipAction` | an action |
//! | the others | nothing |
//!
//! Wrappers between two that share their work do not part them if they leave the observation as it is. An Atari screen of
//! 210 by 160 in colour that becomes four gray frames of 84 by 84 takes 2 * 100,800 + 4 * 7,056 bytes so, and some more.

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
