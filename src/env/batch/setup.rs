//! Configuration and setup of a batch.

use bytemuck::{Pod, Zeroable};

use super::words::FIRST_GROUP;
use crate::block;
use crate::env;
use crate::error::{Error, Kind, Result};
use crate::space::Element;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "batch: a share and a lane for each group");

/// Configuration of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Rows per group, which one worker steps one after another. Divides the number of environments.
    pub in_series: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { in_series: 1 }
    }
}

/// Setup of a batch. Stored in the block behind the header when the block is created; constant afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Setup {
    /// Setup of the vectorized environment.
    pub vecenv: env::Setup,
    /// Rows per group.
    pub in_series: u32,
    reserved: u32,
}

impl Setup {
    /// Offset of the end of the setup from the start of the block.
    pub const END: usize = block::FIELD_ALIGN + size_of::<Setup>();

    /// Creates the setup from that of a vectorized environment and a configuration. Errors: `Config`.
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

    /// Checks that the batch was created for this vectorized environment. Errors: `Config` if not.
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

    /// Number of atomic words that a batch needs.
    pub fn num_words(&self) -> usize {
        self.num_groups().saturating_add(FIRST_GROUP)
    }

    pub(super) fn check(&self) -> Result {
        self.vecenv.check()?;
        let (n, k) = (self.vecenv.num_envs, self.in_series);
        let what = "batch config: in_series of at least 1 that divides num_envs = {needed}";
        Error::limit(Kind::Config, what, n as usize, k as usize).fail_if(k == 0 || !n.is_multiple_of(k))?;
        Error::new(Kind::Config, "batch setup: reserved of 0")
            .given(self.reserved as usize)
            .fail_if(self.reserved != 0)?;
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

    /// Element kinds of observations and actions. Errors: `Shape` for an unknown kind.
    pub fn kinds(&self) -> Result<(Element, Element)> {
        let known = |kind| Element::from_number(kind).ok_or(SHAPE);
        Ok((known(self.vecenv.obs_kind)?, known(self.vecenv.action_kind)?))
    }
}
