//! The reinforcement-learning core that an engine links and hosts itself.
//!
//! No heap, no threads of its own, no libc: every stateful object is a *block* of bytes that the caller owns. A block holds no
//! pointers, so copying the bytes copies the object and writing them to a file saves it. The same inputs give the same bits on
//! every processor.
//!
//! # The floors
//!
//! A file uses lower floors only; `env` and `learn` do not use each other and exchange arrays only.
//!
//! | floor | modules | contents |
//! |---|---|---|
//! | 7 | `owned` (feature `alloc`) | blocks in vectors of their own: `Owned<Learner>`, `Owned<Policy>`, `OwnedEnvs` |
//! | 6 | [`collect`](mod@collect) | steps of environments for a learner until it learns: the loop around both |
//! | 5 | [`learn`] | [`Learner`](learn::Learner), which takes arrays and learns in slices; [`Policy`](learn::Policy), for a game to ship |
//! | 4 | [`nn`] | [`Net`](nn::Net), a network of [layers](nn::Layer); [`Adam`](nn::Adam), [`Schedule`](nn::Schedule), orthogonal weights |
//! | 3 | [`mod@env`] | [`Env`](env::Env), the interface of an environment; [`VecEnv`](env::VecEnv), N of them; [wrappers](env::wrap); [batches](env::batch); the library's own |
//! | 3 | [`data`] | replay: [`Memory`](data::memory::Memory), [`Replay`](data::replay::Replay), [`LazyFrames`](data::lazy_frames::LazyFrames); on policy: [`RolloutBuffer`](data::rollout_buffer::RolloutBuffer), [`Trajectory`](data::trajectory::Trajectory), [`Queue`](data::queue::Queue); around environments: [`VecNormalize`](data::vec_normalize::VecNormalize), [`Monitor`](data::monitor::Monitor); [goals in hindsight](data::relabel), [rollouts as files](data::rollout_file) |
//! | 2 | [`kernels`] | functions of slices: [advantages](kernels::gae), [V-trace](kernels::vtrace), [returns](kernels::targets), [policies](kernels::categorical), [moments](kernels::moments), [pictures](kernels::image) |
//! | 1 | [`block`] | plans, cuts, headers: layout, checks and reattachment of every block |
//! | 0 | [`error`], [`num`], [`rng`], [`cpu`], [`space`], [`decimal`] | errors with messages, mathematics, numpy's random streams, CPU levels, spaces, numbers as text |
//!
//! # Your own environment
//!
//! An environment is a state without pointers and three functions; `N` states lie in one block, and [`Learner`](learn::Learner)
//! learns from any environment.
//!
//! ```
//! use rlcore::bytemuck::{Pod, Zeroable, cast_slice_mut};
//! use rlcore::env::{Env, Spec, Step, VecEnv, VecEnvConfig, choice, put, view_mut};
//! use rlcore::error::Result;
//! use rlcore::rng::Rng;
//! use rlcore::space::{Elements, ElementsMut, Space};
//!
//! /// A corridor with a treasure at its right end: 0 goes left, 1 goes right.
//! struct Corridor {
//!     len: u32,
//! }
//!
//! #[derive(Clone, Copy, Pod, Zeroable)]
//! #[bytemuck(crate = "rlcore::bytemuck")]
//! #[repr(C)]
//! struct Place {
//!     at: u64,
//! }
//!
//! impl Env for Corridor {
//!     fn spec(&self) -> Spec<'_> {
//!         Spec {
//!             env_id: 1000, // a number that you choose
//!             state_size: size_of::<Place>() as u32,
//!             max_episode_steps: 4 * self.len,
//!             obs: Space::between(&[0.0], &[1.0]),
//!             action: Space::discrete(&[2]),
//!             wrappers: 0,
//!         }
//!     }
//!
//!     fn reset(&self, _row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
//!         let place: &mut Place = view_mut(state)?;
//!         place.at = rng.bounded(u64::from(self.len) / 2);
//!         put(obs, [place.at as f32 / self.len as f32])
//!     }
//!
//!     fn step(
//!         &self, _row: usize, state: &mut [u8], _: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>,
//!     ) -> Result<Step> {
//!         let place: &mut Place = view_mut(state)?;
//!         place.at = if choice(action)? == 1 { place.at.saturating_add(1) } else { place.at.saturating_sub(1) };
//!         let found = place.at >= u64::from(self.len);
//!         put(obs, [place.at as f32 / self.len as f32])?;
//!         Ok(Step { reward: if found { 1.0 } else { -0.01 }, terminated: found, truncated: false })
//!     }
//! }
//!
//! fn main() -> Result {
//!     let (corridor, many) = (Corridor { len: 10 }, VecEnvConfig { num_envs: 8, ..VecEnvConfig::default() });
//!     let mut world = vec![0u64; VecEnv::size(&corridor, &many)? / 8];
//!     let mut envs = VecEnv::init(cast_slice_mut(&mut world), &corridor, &many)?;
//!     envs.reset(None, ElementsMut::F32(&mut [0.0; 8]))
//! }
//! ```
//!
//! # Training
//!
//! ```
//! use rlcore::bytemuck::cast_slice_mut;
//! use rlcore::env::{CartPole, Env, StepOut, VecEnv, VecEnvConfig};
//! use rlcore::learn::{Config, Learner, Phase};
//! use rlcore::space::{Elements, ElementsMut};
//!
//! fn main() -> rlcore::error::Result {
//!     const N: usize = 4;
//!     let many = VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() };
//!     let config = Config { num_envs: N as u32, num_steps: 32, ..Config::default() };
//!     let spec = CartPole.spec();
//!
//!     // All the memory: save it and you saved the training.
//!     let mut world = vec![0u64; VecEnv::size(&CartPole, &many)? / 8];
//!     let mut learner = vec![0u64; Learner::size(&config, &[], &spec.obs, &spec.action)? / 8];
//!     let mut envs = VecEnv::init(cast_slice_mut(&mut world), &CartPole, &many)?;
//!     let mut learner = Learner::init(cast_slice_mut(&mut learner), &config, &[], &spec.obs, &spec.action)?;
//!
//!     let (mut obs, mut final_obs, mut action) = ([0.0; N * 4], [0.0; N * 4], [0; N]);
//!     let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
//!     envs.reset(None, ElementsMut::F32(&mut obs))?;
//!     for _ in 0..64 {
//!         learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
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
//!         envs.step(Elements::I32(&action), out)?;
//!         learner.observe(None, &reward, &terminated, &truncated, Some(Elements::F32(&final_obs)), None)?;
//!         if learner.phase() == Phase::Learn {
//!             learner.learn(Some(Elements::F32(&obs)), None, 0)?;
//!         }
//!     }
//!     assert_eq!(learner.stats().num_updates, 2);
//!     Ok(())
//! }
//! ```
//!
//! # A policy that remembers, and files
//!
//! The bytes of a block are the object: a copy of them is a clone, a file of them goes on in another process. A policy keeps no
//! state of its own, so the caller has the states of recurrent layers, one for each character that it moves.
//!
//! ```
//! use rlcore::bytemuck::{cast_slice, cast_slice_mut};
//! use rlcore::learn::{Config, Learner, Policy, Recurrent, View};
//! use rlcore::nn::{Layer, LayerKind};
//! use rlcore::space::{Elements, ElementsMut, Space};
//!
//! fn main() -> rlcore::error::Result {
//!     let config = Config { num_layers: 1, sequence_len: 16, ..Config::default() };
//!     let layers = [Layer::recurrent(LayerKind::Gru, 12)];
//!     let (obs, action) = (Space::unbounded(2), Space::discrete(&[3]));
//!     let mut block = vec![0u64; Learner::size(&config, &layers, &obs, &action)? / 8];
//!     Learner::init(cast_slice_mut(&mut block), &config, &layers, &obs, &action)?;
//!
//!     let file: &[u8] = cast_slice(&block); // std::fs::write("training.rlcore", file)
//!     let mut read = vec![0u64; file.len() / 8];
//!     cast_slice_mut(&mut read).copy_from_slice(file);
//!     Learner::attach(cast_slice_mut(&mut read))?; // checks every byte that could do harm
//!
//!     let view = View::open(cast_slice(&read))?;
//!     let mut shipped = vec![0u64; view.policy_size()? / 8];
//!     view.export(cast_slice_mut(&mut shipped))?;
//!     let policy = Policy::attach(cast_slice(&shipped))?;
//!     let (mut state, mut scratch) = (vec![0.0; policy.state_len()], vec![0.0; policy.scratch_len(1)?]);
//!     for step in 0..5 {
//!         let (seen, mut choice) = ([0.5, step as f32], [0]);
//!         let begins = [u8::from(step == 0)];
//!         let recurrent = Recurrent { state: &mut state, reset: &begins };
//!         policy.act_greedy(1, Elements::F32(&seen), None, recurrent, &mut scratch, ElementsMut::I32(&mut choice))?;
//!     }
//!     assert!(state.iter().any(|x| *x != 0.0));
//!     Ok(())
//! }
//! ```
//!
//! # Features
//!
//! Each leaves code out of a program that does not use it; blocks and bits are the same.
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `simd` | yes | kernels for AVX2 and AVX-512, chosen at run time (`avx2`: without AVX-512) |
//! | `words` | yes | sentences in errors |
//! | `actor_critic`, `off_policy`, `pqn`, `stream`, `unreal` | yes | A2C and IMPALA; DQN, TD3 and SAC; PQN; stream learners; auxiliary tasks. PPO is always there |
//! | `pictures`, `recurrent`, `attention`, `residual`, `noisy` | yes | layers |
//! | `fma` | no | fused multiply-add of a Cortex-M or RISC-V that has it |
//! | `alloc` | no | `rlcore::owned`: blocks in vectors of their own |
#![no_std]

/// Casts between words and bytes, as needed for blocks, and the traits of states without pointers: the version that this
/// crate's own functions use.
pub use bytemuck;

pub mod error;

pub mod cpu;
pub mod decimal;
pub mod num;
pub mod rng;
pub mod space;

pub mod block;

pub mod kernels;

pub mod data;
pub mod env;

pub mod nn;

pub mod learn;

pub mod collect;

#[cfg(feature = "alloc")]
pub mod owned;
