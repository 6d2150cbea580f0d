//! Read-only view of the rows of a batch.

use super::Env;
use super::row::{ROW, SHAPE, UNSET, cut};
use super::setup::Setup;
use crate::error::{Error, Kind, Result, check_len};
use crate::rng::Rng;

const UNREADY: Error = Error::new(Kind::NotReady, "vecenv: environment {given} was never reset.");

/// Read-only version of [`Rows`](super::Rows), which any number of threads may share.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Setup of the block.
    pub setup: &'a Setup,
    /// Index of the first row within the batch.
    pub first: usize,
    /// `[rows, state_size]` bytes.
    pub state: &'a [u8],
    /// `[rows]` random stream of each environment.
    pub rng: &'a [Rng],
    /// `[rows]` steps taken in the current episode.
    pub steps: &'a [u32],
    /// `[rows]` as in [`Rows::phase`](super::Rows::phase).
    pub phase: &'a [u8],
}

impl View<'_> {
    /// Lives left in row `i`, relative to the first row of `self`. Errors: `Range`, `Config`, `NotReady`, and those of
    /// the callback.
    pub fn lives<E: Env + ?Sized>(&self, env: &E, i: usize) -> Result<u32> {
        self.setup.check_env(env)?;
        let row = self.first.saturating_add(i);
        env.lives(row, self.state_of(i)?).map_err(|e| e.given(row))
    }

    /// Writes the action mask of row `i`: 1 for each allowed discrete action, else 0. `mask` has one flag for each
    /// choice of each action element. Errors: `Range`, `Config`, `Shape`, `NotReady`, and those of the callback.
    pub fn action_mask<E: Env + ?Sized>(&self, env: &E, i: usize, mask: &mut [u8]) -> Result {
        self.setup.check_env(env)?;
        check_len("vecenv mask: one flag for each choice, elements", mask, env.spec().action.num_choices())?;
        let row = self.first.saturating_add(i);
        env.action_mask(row, self.state_of(i)?, mask).map_err(|e| e.given(row))
    }

    /// Renders row `i` into `rgb` `[height, width, 3]`, pixel rows from the top. Errors: `Range`, `Config`, `Shape`,
    /// `NotReady`, and those of the callback.
    pub fn render<E: Env + ?Sized>(&self, env: &E, i: usize, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.setup.check_env(env)?;
        let len = width.checked_mul(height).and_then(|n| n.checked_mul(3)).ok_or(SHAPE)?;
        check_len("vecenv rgb: height * width * 3 bytes,", rgb, len)?;
        let row = self.first.saturating_add(i);
        env.render(row, self.state_of(i)?, width, height, rgb).map_err(|e| e.given(row))
    }

    /// Renders every row into `rgb` `[rows, height, width, 3]`. Errors: as [`View::render`]; rows before the failed one
    /// are rendered.
    pub fn images<E: Env + ?Sized>(&self, env: &E, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let len = width.checked_mul(height).and_then(|n| n.checked_mul(3)).ok_or(SHAPE)?;
        let all = self.phase.len().checked_mul(len).ok_or(SHAPE)?;
        check_len("vecenv rgb: num_envs * height * width * 3 bytes,", rgb, all)?;
        self.check_ready()?;
        let mut rest = rgb;
        (0..self.phase.len()).try_for_each(|i| self.render(env, i, width, height, cut(&mut rest, len)?))
    }

    /// Checks that every row has been reset. Errors: `NotReady`.
    pub fn check_ready(&self) -> Result {
        match self.phase.iter().position(|&phase| phase == UNSET) {
            Some(row) => Err(UNREADY.given(self.first.saturating_add(row))),
            None => Ok(()),
        }
    }

    #[inline(never)]
    pub(super) fn state_of(&self, i: usize) -> Result<&[u8]> {
        let size = self.setup.state_size as usize;
        match self.phase.get(i) {
            None => return Err(ROW.needed(self.phase.len()).given(i)),
            Some(&UNSET) => return Err(UNREADY.given(self.first.saturating_add(i))),
            Some(_) => {}
        }
        let begin = i.checked_mul(size).ok_or(SHAPE)?;
        self.state.get(begin..).and_then(|rest| rest.get(..size)).ok_or(SHAPE)
    }
}
