//! One row of a batch as bytes, for another row, another batch of the same environment or another process.
//!
//! The bytes are a head, the state and the observation. They hold what a step of the row depends on, wrappers included, but no
//! pointer; as with blocks, machines of the other byte order refuse them.

use bytemuck::{Pod, Zeroable};

use super::out::check_obs;
use super::row::{ROW, RUNNING, SHAPE, UNSET, check_row, is_possible};
use super::setup::{Autoreset, Rows, Setup, VecEnvConfig};
use super::view::View;
use super::{Env, view, view_mut};
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// What a row begins with.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    magic: u32,
    /// Image version of the block, which also is that of its rows.
    image: u32,
    /// [`Setup::of_row`] of the batch.
    setup: Setup,
    rng: Rng,
    steps: u32,
    phase: u32,
}

const MAGIC: u32 = 0x726c_726f;

const DAMAGED: Error = Error::new(Kind::Image, "vecenv row: the bytes are damaged, or they are no row.");

const OBS: &str = "vecenv row obs: elements of the agreed kind,";

/// Ends of the parts of a row of bytes; zeros fill up the last word.
struct Ends {
    state: usize,
    obs: usize,
    all: usize,
}

const HEAD: usize = size_of::<Head>();

impl Ends {
    /// Errors: `Overflow`.
    #[inline(always)]
    fn of(setup: &Setup) -> Result<Ends> {
        let obs = (setup.obs_len as usize).saturating_mul(setup.kinds().0.size());
        let state = HEAD.saturating_add(setup.state_size as usize);
        let obs = state.saturating_add(obs);
        match obs.checked_next_multiple_of(size_of::<u64>()) {
            Some(all) if all <= isize::MAX as usize => Ok(Ends { state, obs, all }),
            _ => Err(Error::new(Kind::Overflow, "vecenv row: a size within the address space")),
        }
    }

    /// The ends in so many bytes. Errors: `Size`, `Overflow`.
    #[inline(always)]
    fn within(setup: &Setup, size: usize) -> Result<Ends> {
        let ends = Self::of(setup)?;
        Error::limit(Kind::Size, "vecenv row: at least {needed} bytes", ends.all, size).fail_if(size < ends.all)?;
        Ok(ends)
    }
}

impl Head {
    /// Checks that a row of the batch can be in this condition. Errors: `Image`, `Config`.
    #[inline(always)]
    fn check(&self, setup: &Setup) -> Result {
        let phase = u8::try_from(self.phase).unwrap_or(UNSET);
        let known = (self.magic == MAGIC) & (self.image == block::Kind::VecEnv.image()) & self.rng.is_valid();
        let can_be = phase != UNSET && is_possible(phase, self.steps, setup.max_episode_steps, setup.mode());
        if known && can_be && self.setup == setup.of_row() { Ok(()) } else { self.refuse(setup) }
    }

    /// The error of [`Head::check`].
    #[cold]
    #[inline(never)]
    fn refuse(&self, setup: &Setup) -> Result {
        let what = "vecenv row: bytes of this machine's byte order; these were written on a machine of the other";
        Error::new(Kind::Image, what).fail_if(self.magic == MAGIC.swap_bytes())?;
        DAMAGED.fail_if(self.magic != MAGIC)?;
        let image = block::Kind::VecEnv.image();
        Error::limit(Kind::Image, "vecenv row: image version", image as usize, self.image as usize)
            .fail_if(self.image != image)?;
        let own = setup.of_row();
        own.check_same_env(&self.setup)?;
        let phase = u8::try_from(self.phase).unwrap_or(UNSET);
        let can_be = phase != UNSET && is_possible(phase, self.steps, 0, Autoreset::Disabled);
        DAMAGED.fail_if(self.setup != own || !self.rng.is_valid() || !can_be)?;
        let what = "vecenv row: an episode that goes on, as this batch starts the next one in the same step";
        Error::new(Kind::Config, what).fail_if(phase != RUNNING && setup.mode() == Autoreset::SameStep)?;
        let what = "vecenv row: an episode within the max_episode_steps of this batch,";
        Err(Error::limit(Kind::Config, what, setup.max_episode_steps as usize, self.steps as usize))
    }
}

/// Size in bytes of a row of this environment, in a batch of any size. Errors: `Config`, `Overflow`.
pub fn row_size<E: Env + ?Sized>(env: &E) -> Result<usize> {
    Ok(Ends::of(&Setup::new(&env.spec(), &VecEnvConfig::default())?)?.all)
}

impl View<'_> {
    /// Copies row `i` to `words`, at least [`row_size`] bytes. `obs` is its observation from the last reset or step, which is
    /// kept with it.
    ///
    /// Errors, with `words` unchanged: `Config`; `Range`; `NotReady` before its first reset; `Shape`; `Value` for an observation
    /// that no step returns; `Size`.
    pub fn read_row<E: Env + ?Sized>(&self, env: &E, i: usize, obs: Elements<'_>, words: &mut [u64]) -> Result {
        self.setup.check_env(env)?;
        let state = self.state_of(i)?;
        let (Some(&rng), Some(&steps), Some(&phase)) = (self.rng.get(i), self.steps.get(i), self.phase.get(i)) else {
            return Err(SHAPE);
        };
        check_obs(OBS, obs, 1, self.setup)?;
        check_row(env, obs).map_err(|e| e.given(self.first.saturating_add(i)))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let Ends { state: a, obs: b, all } = Ends::within(self.setup, bytes.len())?;
        let (setup, image, phase) = (self.setup.of_row(), block::Kind::VecEnv.image(), phase.into());
        *view_mut(bytes.get_mut(..HEAD).ok_or(SHAPE)?)? = Head { magic: MAGIC, image, setup, rng, steps, phase };
        block::copy(bytes.get_mut(HEAD..a).ok_or(SHAPE)?, state);
        block::copy(bytes.get_mut(a..b).ok_or(SHAPE)?, obs.bytes());
        bytes.get_mut(b..all).ok_or(SHAPE)?.fill(0);
        Ok(())
    }
}

impl Rows<'_> {
    /// Makes row `i` the one in `words`, which [`View::read_row`] wrote for this environment: it steps as that row would have
    /// stepped. Writes its observation to `obs`. The time limit and the autoreset mode remain those of the batch.
    ///
    /// Errors, with nothing changed: `Config` for a row of another environment, or one that this batch would have ended;
    /// `Range`; `Shape`; `Size`; `Image` for damaged bytes; `Value` for an observation that no step returns.
    pub fn write_row<E: Env + ?Sized>(&mut self, env: &E, i: usize, words: &[u64], mut obs: ElementsMut<'_>) -> Result {
        self.check(env)?;
        let setup = self.setup;
        check_obs(OBS, obs.as_ref(), 1, setup)?;
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let Ends { state: a, obs: b, .. } = Ends::within(setup, bytes.len())?;
        let head: &Head = view(bytes.get(..HEAD).ok_or(SHAPE)?)?;
        head.check(setup)?;
        let seen = Elements::of_bytes(setup.kinds().0, bytes.get(a..b).ok_or(SHAPE)?)?;
        check_row(env, seen).map_err(|e| e.given(self.first.saturating_add(i)))?;
        let n = self.len();
        let mut row = self.row(i).map_err(|_| ROW.needed(n).given(i))?;
        block::copy(row.state, bytes.get(HEAD..a).ok_or(SHAPE)?);
        (*row.rng, *row.steps, *row.phase) = (head.rng, head.steps, head.phase as u8);
        env.configure(row.state, setup).map_err(|e| row.failed(e))?;
        obs.copy_from(seen)
    }
}
