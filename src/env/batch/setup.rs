//! What a batch is made from.

use bytemuck::{Pod, Zeroable};

use super::words::FIRST_GROUP;
use crate::block;
use crate::env;
use crate::error::{Error, Kind, Result};
use crate::space::Element;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "batch: a share and a lane for each group");

/// How a batch is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Rows of a group: one worker steps them one after another. Divides the number of environments.
    pub in_series: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { in_series: 1 }
    }
}

/// What is agreed when the block is made: stored in it beside the header, never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Setup {
    /// What the vectorised environment was made with.
    pub vecenv: env::Setup,
    /// Rows of a group.
    pub in_series: u32,
    reserved: u32,
}

impl Setup {
    /// Bytes from the base of a block to the end of its setup.
    pub const END: usize = block::FIELD_ALIGN + size_of::<Setup>();

    /// Agrees on a vectorised environment and a configuration. Errors: `Config`.
    pub fn new(vecenv: &env::Setup, config: &Config) -> Result<Setup> {
        let setup = Setup { vecenv: *vecenv, in_series: config.in_series, reserved: 0 };
        setup.check()?;
        Ok(setup)
    }

    /// Reads the setup from the first [`Setup::END`] bytes of a block that `init` or `attach` accepted.
    /// Errors: `Align`, `Size`, `Image`.
    pub fn read(mem: &[u8]) -> Result<Setup> {
        Ok(*block::config(mem, block::Kind::Batch)?)
    }

    /// Refuses a vectorised environment that the batch was not made for. Errors: `Config`.
    pub fn check_vecenv(&self, vecenv: &env::Setup) -> Result {
        if *vecenv == self.vecenv {
            return Ok(());
        }
        let what = "batch: the vecenv, configuration and environment that it was made for, with num_envs";
        Err(Error::limit(Kind::Config, what, self.vecenv.num_envs as usize, vecenv.num_envs as usize))
    }

    /// Number of groups.
    pub fn num_groups(&self) -> usize {
        self.vecenv.num_envs.checked_div(self.in_series).unwrap_or(0) as usize
    }

    /// Atomic words that a batch needs.
    pub fn num_words(&self) -> usize {
        self.num_groups().saturating_add(FIRST_GROUP)
    }

    pub(super) fn check(&self) -> Result {
        self.vecenv.check()?;
        let (n, k) = (self.vecenv.num_envs, self.in_series);
        let what = "batch config: in_series of at least 1 that divides num_envs = {needed}";
        Error::limit(Kind::Config, what, n as usize, k as usize).when(k == 0 || !n.is_multiple_of(k))?;
        Error::new(Kind::Config, "batch setup: reserved of 0")
            .given(self.reserved as usize)
            .when(self.reserved != 0)?;
        Ok(())
    }

    pub(super) fn rows(&self) -> usize {
        self.vecenv.num_envs as usize
    }

    pub(super) fn obs_len(&self) -> usize {
        self.vecenv.obs_len as usize
    }

    /// First row of a group.
    pub(super) fn first(&self, group: usize) -> usize {
        group.saturating_mul(self.in_series as usize)
    }

    /// Kinds of observations and actions. Errors: `Shape`, for none that is known.
    pub fn kinds(&self) -> Result<(Element, Element)> {
        let known = |kind| Element::from_number(kind).ok_or(SHAPE);
        Ok((known(self.vecenv.obs_kind)?, known(self.vecenv.action_kind)?))
    }
}
