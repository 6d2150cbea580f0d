//! Blocks that own their memory, for programs with a heap (feature `alloc`).
//!
//! The library itself never allocates: a block is bytes of the caller's. [`Owned`] is a caller that keeps them in a vector, so that
//! a program in Rust has one value with the life, the clone and the file of the whole object.
//!
//! ```
//! use rlcore::env::{CartPole, Env, StepOut, VecEnvConfig};
//! use rlcore::learn::{Config, Learner, Policy};
//! use rlcore::owned::{Owned, OwnedEnvs};
//! use rlcore::space::{Elements, ElementsMut};
//!
//! fn main() -> rlcore::error::Result {
//!     const N: usize = 4;
//!     let config = Config { num_envs: N as u32, num_steps: 32, ..Config::default() };
//!     let mut envs = OwnedEnvs::new(CartPole, &VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() })?;
//!     let mut agent = Owned::<Learner>::new(&config, &[], &CartPole.spec().obs, &CartPole.spec().action)?;
//!
//!     let (mut obs, mut final_obs, mut action) = ([0.0; N * 4], [0.0; N * 4], [0; N]);
//!     let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
//!     envs.open()?.reset(None, ElementsMut::F32(&mut obs))?;
//!     for _ in 0..3 {
//!         let mut learner = agent.open()?;
//!         let out = StepOut {
//!             obs: ElementsMut::F32(&mut obs),
//!             reward: &mut reward,
//!             terminated: &mut terminated,
//!             truncated: &mut truncated,
//!             final_obs: Some(ElementsMut::F32(&mut final_obs)),
//!             valid: None,
//!             action_mask: None,
//!             final_action_mask: None,
//!         };
//!         envs.collect(&mut learner, ElementsMut::I32(&mut action), out, 0).1?;
//!         learner.learn(Some(Elements::F32(&obs)), None, 0)?;
//!     }
//!
//!     let saved = agent.save()?.to_vec(); // a file, a message, a save game
//!     let again = Owned::<Learner>::load(&saved)?;
//!     assert_eq!(again.view()?.stats().num_updates, 3);
//!     let policy: Owned<Policy> = again.policy()?; // to ship
//!     assert!(policy.bytes().len() < saved.len());
//!     Ok(())
//! }
//! ```

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use bytemuck::{cast_slice, cast_slice_mut};

use crate::block;
use crate::collect::collect;
use crate::data::lazy_frames::{LazyFrames, LazyFramesConfig};
use crate::data::memory::{self, Memory, MemoryConfig};
use crate::data::monitor::{self, Monitor, MonitorConfig};
use crate::data::replay::{self, Replay, ReplayConfig};
use crate::data::rollout_buffer::{self, RolloutBuffer, RolloutBufferConfig};
use crate::data::table;
use crate::data::trajectory::{self, Trajectory, TrajectoryConfig};
use crate::data::vec_normalize::{self, VecNormalize, VecNormalizeConfig};
use crate::env::{Env, StepOut, VecEnv, VecEnvConfig};
use crate::error::Result;
use crate::learn::{Config, Learner, Policy, View};
use crate::nn::Layer;
use crate::space::{ElementsMut, Space};

/// An object whose state is a block.
pub trait Block {
    /// The object, to be changed.
    type Open<'a>;
    /// The object, to be read.
    type View<'a>;

    /// Opens a block that holds no more than bytes so far, after checking all of them. Errors: `Align`, `Size`, `Image`.
    fn attach(block: &mut [u8]) -> Result;

    /// Opens a block that [`Block::attach`] has accepted, or that this library has made. Errors: as [`Block::attach`].
    fn open(block: &mut [u8]) -> Result<Self::Open<'_>>;

    /// Reads such a block. Errors: as [`Block::attach`].
    fn view(block: &[u8]) -> Result<Self::View<'_>>;
}

/// A block in a vector of its own: `Owned<Learner>`, `Owned<Policy>`, `Owned<Replay>`. A clone is a snapshot that goes on by
/// itself; sending it to another thread is safe.
#[derive(Debug)]
pub struct Owned<B> {
    words: Vec<u64>,
    block: PhantomData<fn() -> B>,
}

impl<B> Clone for Owned<B> {
    fn clone(&self) -> Self {
        Owned { words: self.words.clone(), block: PhantomData }
    }
}

impl<B: Block> Owned<B> {
    /// An object from the bytes of a block, in this process or another one. Errors: `Size`; `Image` for damaged bytes, another
    /// kind of block or another version.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        let mut owned = Self::zeroed(bytes.len());
        cast_slice_mut(&mut owned.words).get_mut(..bytes.len()).unwrap_or_default().copy_from_slice(bytes);
        B::attach(cast_slice_mut(&mut owned.words))?;
        Ok(owned)
    }

    /// The object, to be changed. Errors: those of [`Owned::load`], if the bytes were changed by other means.
    pub fn open(&mut self) -> Result<B::Open<'_>> {
        B::open(cast_slice_mut(&mut self.words))
    }

    /// The object, to be read. Errors: as [`Owned::open`].
    pub fn view(&self) -> Result<B::View<'_>> {
        B::view(cast_slice(&self.words))
    }

    /// The bytes of the block, to be written anywhere.
    pub fn bytes(&self) -> &[u8] {
        cast_slice(&self.words)
    }

    fn zeroed(size: usize) -> Self {
        Owned { words: vec![0; size.div_ceil(8)], block: PhantomData }
    }

    /// A block of this size that `init` fills.
    fn made(size: usize, init: impl FnOnce(&mut [u8]) -> Result) -> Result<Self> {
        let mut owned = Self::zeroed(size);
        init(cast_slice_mut(&mut owned.words))?;
        Ok(owned)
    }
}

/// Objects, the types that read them, and the configuration that makes one if nothing else does.
macro_rules! blocks {
    ($($block:ident, $($view:ident)::+ $(, $config:ident)?;)*) => {$(
        impl Block for $block<'_> {
            type Open<'a> = $block<'a>;
            type View<'a> = $($view)::+<'a>;

            fn attach(block: &mut [u8]) -> Result {
                $block::attach(block).map(drop)
            }

            fn open(block: &mut [u8]) -> Result<$block<'_>> {
                $block::open(block)
            }

            fn view(block: &[u8]) -> Result<Self::View<'_>> {
                $($view)::+::open(block)
            }
        }

        $(impl Owned<$block<'_>> {
            /// Makes an empty one. Errors: `Config`, `Overflow`.
            pub fn new(config: &$config) -> Result<Self> {
                Self::made($block::size(config)?, |block| $block::init(block, config).map(drop))
            }
        })?
    )*};
}

blocks! {
    Learner, View;
    Replay, replay::View, ReplayConfig;
    Memory, memory::View, MemoryConfig;
    RolloutBuffer, rollout_buffer::View, RolloutBufferConfig;
    Trajectory, trajectory::View, TrajectoryConfig;
    Monitor, monitor::View, MonitorConfig;
    VecNormalize, vec_normalize::View, VecNormalizeConfig;
}

impl Block for Policy<'_> {
    type Open<'a> = Policy<'a>;
    type View<'a> = Policy<'a>;

    fn attach(block: &mut [u8]) -> Result {
        Policy::attach(block).map(drop)
    }

    fn open(block: &mut [u8]) -> Result<Policy<'_>> {
        Policy::open(block)
    }

    fn view(block: &[u8]) -> Result<Policy<'_>> {
        Policy::open(block)
    }
}

impl Block for LazyFrames<'_> {
    type Open<'a> = LazyFrames<'a>;
    type View<'a> = table::View<'a>;

    fn attach(block: &mut [u8]) -> Result {
        LazyFrames::attach(block).map(drop)
    }

    fn open(block: &mut [u8]) -> Result<LazyFrames<'_>> {
        LazyFrames::open(block)
    }

    fn view(block: &[u8]) -> Result<table::View<'_>> {
        LazyFrames::read(block)
    }
}

impl Owned<LazyFrames<'_>> {
    /// Makes an empty one. Errors: `Config`, `Overflow`.
    pub fn new(config: &LazyFramesConfig) -> Result<Self> {
        Self::made(LazyFrames::size(config)?, |block| LazyFrames::init(block, config).map(drop))
    }
}

impl Owned<Learner<'_>> {
    /// Makes a learner whose network begins with these layers. Errors: as [`Learner::init`].
    pub fn new(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result<Self> {
        let size = Learner::size(config, layers, obs, action)?;
        Self::made(size, |block| Learner::init(block, config, layers, obs, action).map(drop))
    }

    /// The bytes of the block, behind a checksum that [`Owned::load`] compares. Errors: `NotReady` if the learner is changing.
    pub fn save(&mut self) -> Result<&[u8]> {
        block::seal(cast_slice_mut(&mut self.words))?;
        Ok(self.bytes())
    }

    /// The policy as it acts now, to ship. Errors: as [`View::export`].
    pub fn policy(&self) -> Result<Owned<Policy<'static>>> {
        let view = self.view()?;
        Owned::made(view.policy_size()?, |block| view.export(block))
    }
}

/// An environment and N rows of it in a vector of their own. States are plain bytes; what an environment keeps on the heap, such
/// as worlds of a physics engine, is in `E`, by row.
#[derive(Clone, Debug)]
pub struct OwnedEnvs<E> {
    env: E,
    words: Vec<u64>,
}

impl<E: Env> OwnedEnvs<E> {
    /// Makes N rows, each to be reset before it is stepped. Errors: as [`VecEnv::init`].
    pub fn new(env: E, config: &VecEnvConfig) -> Result<Self> {
        let mut words = vec![0u64; VecEnv::size(&env, config)?.div_ceil(8)];
        VecEnv::init(cast_slice_mut(&mut words), &env, config)?;
        Ok(OwnedEnvs { env, words })
    }

    /// Rows from the bytes of a block. Errors: as [`VecEnv::attach`].
    pub fn load(env: E, bytes: &[u8]) -> Result<Self> {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        cast_slice_mut(&mut words).get_mut(..bytes.len()).unwrap_or_default().copy_from_slice(bytes);
        VecEnv::attach(cast_slice_mut(&mut words), &env)?;
        Ok(OwnedEnvs { env, words })
    }

    /// The rows, to be stepped. Errors: as [`VecEnv::attach`].
    pub fn open(&mut self) -> Result<VecEnv<'_, E>> {
        VecEnv::attach(cast_slice_mut(&mut self.words), &self.env)
    }

    /// Steps for a learner until it learns, or so many: as [`collect()`], with the rows of this vector.
    pub fn collect(
        &mut self,
        learner: &mut Learner<'_>,
        action: ElementsMut<'_>,
        out: StepOut<'_>,
        max_steps: u32,
    ) -> (u32, Result) {
        match VecEnv::attach(cast_slice_mut(&mut self.words), &self.env) {
            Ok(mut envs) => collect(learner, &self.env, &mut envs.rows(), action, out, max_steps),
            Err(e) => (0, Err(e)),
        }
    }

    /// The environment.
    pub fn env(&self) -> &E {
        &self.env
    }

    /// The bytes of the block, to be written anywhere.
    pub fn bytes(&self) -> &[u8] {
        cast_slice(&self.words)
    }
}
