//! Vectorized environment: N environments of one kind in one block.

use super::out::{StepOut, check_obs};
use super::row::{ROW, SHAPE};
use super::setup::{Rows, Setup, Spans, VecEnvConfig};
use super::{Env, Level, Reset, Spec};
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// N environments in a block provided by the caller: see the example of the [module](super).
#[derive(Debug)]
pub struct VecEnv<'a, E: ?Sized> {
    env: &'a E,
    rows: Rows<'a>,
}

impl<'a, E: Env + ?Sized> VecEnv<'a, E> {
    /// Size of the block in bytes. Errors: `Config`, `Overflow`.
    pub fn size(env: &E, config: &VecEnvConfig) -> Result<usize> {
        Ok(Setup::new(&env.spec(), config)?.spans()?.1)
    }

    /// Creates N environments in `mem`. Each must be reset before it is stepped. Errors: `Config`, `Overflow`, `Align`,
    /// `Size`; on error `mem` is unchanged.
    pub fn init(mem: &'a mut [u8], env: &'a E, config: &VecEnvConfig) -> Result<Self> {
        let setup = Setup::new(&env.spec(), config)?;
        let (spans, size) = setup.spans()?;
        let block = block::create(mem, block::Kind::VecEnv, size, &setup)?;
        let venv = Self::cut(block, env, spans)?;
        for (i, rng) in (0u64..).zip(venv.rows.rng.iter_mut()) {
            *rng = Rng::seeded(setup.seed.wrapping_add(i));
        }
        Ok(venv)
    }

    /// Opens a block that was created by `init`, or a copy of one. Writes nothing. Errors: `Align`; `Size`; `Image` for
    /// damaged bytes or another kind of block; `Config` for another environment.
    pub fn attach(mem: &'a mut [u8], env: &'a E) -> Result<Self> {
        let setup: Setup = block::attach(mem, block::Kind::VecEnv, |setup: &Setup| Ok(setup.spans()?.1))?;
        setup.check_env(env)?;
        let (spans, _) = setup.spans()?;
        let venv = Self::cut(mem, env, spans)?;
        venv.rows.check_image()?;
        Ok(venv)
    }

    fn cut(block: &'a mut [u8], env: &'a E, spans: Spans) -> Result<Self> {
        let (setup, mut cut) = block::cut_config(block)?;
        Ok(VecEnv { env, rows: Rows::cut(&mut cut, &spans, setup, 0)? })
    }

    /// Specification of the environment: its spaces, identifier and own time limit.
    pub fn spec(&self) -> Spec<'_> {
        self.env.spec()
    }

    /// Setup of the block.
    pub fn setup(&self) -> &Setup {
        self.rows.setup
    }

    /// Number of environments.
    pub fn num_envs(&self) -> usize {
        self.rows.len()
    }

    /// All rows, which can be split among threads.
    pub fn rows(&mut self) -> Rows<'_> {
        self.rows.reborrow()
    }

    /// [`Rows::reset`] of all rows.
    pub fn reset(&mut self, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        self.rows.reset(self.env, seed, obs)
    }

    /// [`Rows::reset_with`] of all rows.
    pub fn reset_with(&mut self, how: Reset<'_>, obs: ElementsMut<'_>) -> Result {
        self.rows.reset_with(self.env, how, obs)
    }

    /// [`Rows::reset`] of rows `begin..end`. `obs` is `[N, obs_len]`; only these rows of it are written.
    pub fn reset_range(&mut self, begin: usize, end: usize, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        self.reset_range_with(begin, end, Reset::seeded(seed), obs)
    }

    /// [`Rows::reset_with`] of rows `begin..end`, as [`VecEnv::reset_range`].
    pub fn reset_range_with(&mut self, begin: usize, end: usize, how: Reset<'_>, mut obs: ElementsMut<'_>) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", obs.as_ref(), self.num_envs(), self.setup())?;
        let width = self.setup().obs_len as usize;
        let mut rows = self.rows.reborrow().range(begin, end)?;
        let part = obs.get(begin.saturating_mul(width), end.saturating_mul(width)).ok_or(SHAPE)?;
        rows.reset_with(self.env, how, part)
    }

    /// Starts an episode in row `i` only. `obs` is `[N, obs_len]`; only row `i` of it is written. With a seed, the row
    /// gets the random stream of exactly that seed, as a single Gymnasium environment does. Errors: as [`Rows::reset`],
    /// and `Range`.
    pub fn reset_one(&mut self, i: usize, seed: Option<u64>, obs: ElementsMut<'_>) -> Result {
        let n = self.num_envs();
        if i >= n {
            return Err(ROW.needed(n).given(i));
        }
        let seed = seed.map(|seed| seed.wrapping_sub(i as u64));
        self.reset_range(i, i.saturating_add(1), seed, obs)
    }

    /// [`Rows::step_env`] of all rows.
    pub fn step_env(&mut self, level: Level, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.rows.step_env(self.env, level, action, out)
    }

    /// [`Rows::step`] of all rows.
    pub fn step(&mut self, action: Elements<'_>, out: StepOut<'_>) -> Result {
        self.rows.step(self.env, action, out)
    }

    /// [`Rows::step`] of rows `begin..end`. All arrays are those of the whole batch; only these rows are used.
    pub fn step_range(&mut self, begin: usize, end: usize, action: Elements<'_>, out: StepOut<'_>) -> Result {
        let (n, setup) = (self.num_envs(), self.rows.setup);
        out.check(n, setup)?;
        let width = setup.action_len as usize;
        let needed = n.checked_mul(width).ok_or(SHAPE)?;
        if action.len() != needed {
            return Err(Error::new(Kind::Shape, "vecenv action: elements,").needed(needed).given(action.len()));
        }
        let mut rows = self.rows.reborrow().range(begin, end)?;
        let action = action.get(begin.saturating_mul(width), end.saturating_mul(width)).ok_or(SHAPE)?;
        rows.step(self.env, action, out.range(begin, end, setup.obs_len as usize).ok_or(SHAPE)?)
    }

    /// [`View::read_row`](super::View::read_row). `obs` is `[N, obs_len]`, of which row `i` is read.
    pub fn read_row(&self, i: usize, obs: Elements<'_>, words: &mut [u64]) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", obs, self.num_envs(), self.setup())?;
        let begin = i.saturating_mul(self.setup().obs_len as usize);
        let obs = obs.get(begin, begin.saturating_add(self.setup().obs_len as usize));
        self.rows.view().read_row(self.env, i, obs.ok_or(ROW.needed(self.num_envs()).given(i))?, words)
    }

    /// [`Rows::write_row`]. `obs` is `[N, obs_len]`, of which row `i` is written.
    pub fn write_row(&mut self, i: usize, words: &[u64], mut obs: ElementsMut<'_>) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", obs.as_ref(), self.num_envs(), self.setup())?;
        let begin = i.saturating_mul(self.setup().obs_len as usize);
        let obs = obs.get(begin, begin.saturating_add(self.setup().obs_len as usize));
        self.rows.write_row(self.env, i, words, obs.ok_or(ROW.needed(self.rows.len()).given(i))?)
    }

    /// [`View::lives`](super::View::lives).
    pub fn lives(&self, i: usize) -> Result<u32> {
        self.rows.view().lives(self.env, i)
    }

    /// [`View::action_mask`](super::View::action_mask).
    pub fn action_mask(&self, i: usize, mask: &mut [u8]) -> Result {
        self.rows.view().action_mask(self.env, i, mask)
    }

    /// [`View::images`](super::View::images).
    pub fn images(&self, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.rows.view().images(self.env, width, height, rgb)
    }

    /// [`View::render`](super::View::render).
    pub fn render(&self, i: usize, width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.rows.view().render(self.env, i, width, height, rgb)
    }
}
