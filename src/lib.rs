//! The reinforcement-learning core that an engine links and hosts itself.
//!
//! No heap, no threads of its own, no libc: every stateful object is a *block*, bytes that the caller owns. It holds no
//! pointers, so copying the bytes copies the object and writing them to a file saves it. The same inputs give the same
//! bits on every processor.
//!
//! # The floors
//!
//! A file uses lower floors only; `env` and `learn` never see each other, arrays are their contract.
//!
//! | floor | modules | what is there |
//! |---|---|---|
//! | 5 | [`learn`] | [`Ppo`](learn::Ppo), which is fed arrays and learns in slices; [`Policy`](learn::Policy), what a game ships |
//! | 4 | [`nn`] | [`Mlp`](nn::Mlp), [`Adam`](nn::Adam), [`Schedule`](nn::Schedule), orthogonal weights |
//! | 3 | [`mod@env`] | [`Env`](env::Env), what an environment is; [`VecEnv`](env::VecEnv), N of them; [wrappers](env::wrap); [batches](env::batch); the library's own |
//! | 3 | [`data`] | replay: [`Memory`](data::memory::Memory), [`Replay`](data::replay::Replay), [`LazyFrames`](data::lazy_frames::LazyFrames); on policy: [`RolloutBuffer`](data::rollout_buffer::RolloutBuffer), [`Trajectory`](data::trajectory::Trajectory), [`Queue`](data::queue::Queue); around environments: [`VecNormalize`](data::vec_normalize::VecNormalize), [`Monitor`](data::monitor::Monitor); [goals in hindsight](data::relabel), [rollouts as files](data::rollout_file) |
//! | 2 | [`kernels`] | functions of slices: [advantages](kernels::gae), [V-trace](kernels::vtrace), [returns](kernels::targets), [policies](kernels::categorical), [moments](kernels::moments), [pictures](kernels::image) |
//! | 1 | [`block`] | plans, cuts, headers: how every block is laid out, checked and attached again |
//! | 0 | [`error`], [`num`], [`rng`], [`cpu`], [`space`], [`decimal`] | errors in words, the mathematics, numpy's streams, CPU levels, spaces, numbers as text |
//!
//! # A training
//!
//! ```
//! use rlcore::env::{CartPole, Env, StepOut, VecEnv, VecEnvConfig};
//! use rlcore::learn::{Config, Phase, Ppo};
//! use rlcore::space::{Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! const N: usize = 4;
//! let many = VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() };
//! let config = Config { num_envs: N as u32, num_steps: 32, ..Config::default() };
//! let spec = CartPole.spec();
//!
//! // All the memory: save it and you saved the training.
//! let mut world = vec![0u64; VecEnv::size(&CartPole, &many)? / 8];
//! let mut learner = vec![0u64; Ppo::size(&config, &spec.obs, &spec.action)? / 8];
//! let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut world), &CartPole, &many)?;
//! let mut ppo = Ppo::init(bytemuck::cast_slice_mut(&mut learner), &config, &spec.obs, &spec.action)?;
//!
//! let (mut obs, mut final_obs, mut action) = ([0.0; N * 4], [0.0; N * 4], [0; N]);
//! let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
//! envs.reset(None, ElementsMut::F32(&mut obs))?;
//! for _ in 0..64 {
//!     ppo.act(Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
//!     let out = StepOut {
//!         obs: ElementsMut::F32(&mut obs),
//!         reward: &mut reward,
//!         terminated: &mut terminated,
//!         truncated: &mut truncated,
//!         final_obs: Some(ElementsMut::F32(&mut final_obs)),
//!         valid: None,
//!     };
//!     envs.step(Elements::I32(&action), out)?;
//!     ppo.observe(&reward, &terminated, &truncated, Some(Elements::F32(&final_obs)))?;
//!     if ppo.phase() == Phase::Learn {
//!         ppo.learn(Some(Elements::F32(&obs)), 0)?;
//!     }
//! }
//! assert_eq!(ppo.stats().num_updates, 2);
//! # Ok(())
//! # }
//! ```
#![no_std]

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
