//! The C interface: each function converts its arguments, makes one call into the core and stores the result.
//!
//! Names are spelled as in C, so that one search finds both sides. [`ptr`] is the only folder that turns pointers into
//! slices. Callers of all these functions promise that a pointer is NULL or points to as many elements as the header
//! says, and that nobody else writes to them during the call. Everything else is checked. Unsafe functions without a
//! safety section require the same.
#![no_std]
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
// Builds without some features have unused helpers.
#![cfg_attr(
    not(all(
        feature = "batch",
        feature = "estimators",
        feature = "evaluate",
        feature = "frames",
        feature = "kernels",
        feature = "off_policy",
        feature = "records",
        feature = "replay",
        feature = "rollouts",
        feature = "scale",
        feature = "unreal",
        feature = "wrappers"
    )),
    allow(dead_code, unused_imports, unused_macros)
)]

mod cursor;
mod lifecycle;
mod mirror;
mod ptr;
#[cfg(not(test))] // `clippy --all-targets` checks this crate beside std, which has its own
mod rt;
pub mod status;

pub mod block;
pub mod cpu;
pub mod rng;
pub mod space;

pub mod builtin;
pub mod env;
pub mod layout;
pub mod step_rows;
pub mod vecenv;
pub mod wrap;

#[cfg(feature = "batch")]
pub mod batch;
#[cfg(feature = "records")]
pub mod monitor;
#[cfg(feature = "records")]
pub mod vec_normalize;

pub mod categorical;
pub mod gaussian;
pub mod kernels;
pub mod moments;
pub mod optimizer;

#[cfg(feature = "estimators")]
pub mod shifted;
#[cfg(feature = "estimators")]
pub mod targets;
#[cfg(feature = "estimators")]
pub mod transpose;
#[cfg(feature = "estimators")]
pub mod vtrace;

#[cfg(feature = "unreal")]
pub mod loss;

#[cfg(feature = "replay")]
pub mod memory;
#[cfg(feature = "replay")]
pub mod relabel;
#[cfg(feature = "replay")]
pub mod replay;
#[cfg(any(feature = "replay", feature = "rollouts"))]
pub mod table;

#[cfg(feature = "rollouts")]
pub mod queue;
#[cfg(feature = "rollouts")]
pub mod rollout_buffer;
#[cfg(feature = "rollouts")]
pub mod rollout_file;
#[cfg(feature = "rollouts")]
pub mod rows;
#[cfg(feature = "rollouts")]
pub mod trajectory;

pub mod sampling;

#[cfg(feature = "frames")]
pub mod image;
#[cfg(feature = "frames")]
pub mod lazy_frames;

#[cfg(feature = "networks")]
pub mod autoencoder;
#[cfg(feature = "ship")]
pub mod c_source;
#[cfg(feature = "tensors")]
pub mod carry;
pub mod collect;
pub mod distribution;
#[cfg(feature = "teach")]
pub mod imitation;
pub mod layer;
pub mod learner;
pub mod learner_config;
mod learner_open;
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
pub mod learner_preset;
#[cfg(feature = "scale")]
pub mod learner_scale;
#[cfg(feature = "networks")]
pub mod network;
#[cfg(feature = "ship")]
pub mod onnx;
pub mod policy;
#[cfg(all(feature = "attention", feature = "pictures", feature = "residual"))]
pub mod preset;
pub mod spaces;
#[cfg(feature = "tensors")]
pub mod tensors;
