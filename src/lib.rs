//! The reinforcement-learning core that an engine links and hosts itself.
//!
//! No heap, no threads of its own, no libc: every stateful object is a *block*, bytes that the caller owns.
//! The floors, lowest first: [`error`], [`num`], [`rng`], [`cpu`], [`space`], [`decimal`]; [`block`]; [`kernels`]; [`mod@env`] beside
//! [`data`]; [`nn`]; [`learn`]. A file uses lower floors only.
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
