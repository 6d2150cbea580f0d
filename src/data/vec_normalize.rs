//! Observations and rewards of N environments normalised by running moments, in the caller's block.
//!
//! The order of a step is fixed: merge the observations into their moments and normalise them with the result; add the
//! rewards to the discounted sums, merge the sums into theirs, and scale the rewards; then start the sums of ended
//! episodes again. The last observations of ended episodes are normalised with the same moments and not merged.
//! Statistics need the whole batch, so a step is one call.

use bytemuck::{Pod, Zeroable};

use super::normalizer::{INITIAL_COUNT, Limits, Moments, RewardScale, normalise_finite, scale};
use super::step::{Ends, Rewrite};
use crate::block::{self, Cutter, Kind as BlockKind, One, Plan, fields};
use crate::error::{Error, Kind, Result};
use crate::kernels::finite::check_finite;
use crate::kernels::moments::check_moments;

/// What a normaliser of N environments is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VecNormalizeConfig {
    /// Number of environments, at least 1.
    pub num_envs: u32,
    /// Elements of one observation, at least 1.
    pub obs_len: u32,
    /// Whether observations are normalised; else they pass as they are.
    pub normalize_obs: bool,
    /// Whether rewards are scaled; else they pass as they are.
    pub normalize_reward: bool,
    /// Normalised observations lie from -clip to clip; above 0.
    pub clip_obs: f32,
    /// Scaled rewards lie from -clip to clip; above 0.
    pub clip_reward: f32,
    /// Discount of the sums that scale the rewards, from 0 to 1.
    pub discount: f64,
    /// Added to variances; at least 1e-30.
    pub epsilon: f64,
}

impl Default for VecNormalizeConfig {
    fn default() -> Self {
        VecNormalizeConfig {
            num_envs: 1,
            obs_len: 1,
            normalize_obs: true,
            normalize_reward: true,
            clip_obs: 10.0,
            clip_reward: 10.0,
            discount: 0.99,
            epsilon: 1e-8,
        }
    }
}

/// What is agreed when the block is made.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Setup {
    discount: f64,
    epsilon: f64,
    num_envs: u32,
    obs_len: u32,
    normalize_obs: u32,
    normalize_reward: u32,
    clip_obs: f32,
    clip_reward: f32,
}

impl Setup {
    fn new(c: &VecNormalizeConfig) -> Result<Setup> {
        let setup = Setup {
            discount: c.discount,
            epsilon: c.epsilon,
            num_envs: c.num_envs,
            obs_len: c.obs_len,
            normalize_obs: c.normalize_obs.into(),
            normalize_reward: c.normalize_reward.into(),
            clip_obs: c.clip_obs,
            clip_reward: c.clip_reward,
        };
        setup.check()?;
        Ok(setup)
    }

    fn check(&self) -> Result {
        let refuse = |what| Err(Error::new(Kind::Config, what));
        if self.num_envs == 0 {
            return refuse("vec_normalize config: num_envs of at least 1");
        }
        if self.obs_len == 0 {
            return refuse("vec_normalize config: obs_len of at least 1");
        }
        if self.normalize_obs > 1 || self.normalize_reward > 1 {
            return refuse("vec_normalize config: normalize_obs and normalize_reward of 0 or 1");
        }
        if !(self.clip_obs > 0.0 && self.clip_obs < f32::INFINITY) {
            return refuse("vec_normalize config: a finite clip_obs above 0");
        }
        if !(self.clip_reward > 0.0 && self.clip_reward < f32::INFINITY) {
            return refuse("vec_normalize config: a finite clip_reward above 0");
        }
        if !(0.0..=1.0).contains(&self.discount) {
            return refuse("vec_normalize config: discount from 0 to 1");
        }
        if !(1e-30..=1e30).contains(&self.epsilon) {
            return refuse("vec_normalize config: epsilon from 1e-30 to 1e30");
        }
        Ok(())
    }

    fn config(&self) -> VecNormalizeConfig {
        VecNormalizeConfig {
            num_envs: self.num_envs,
            obs_len: self.obs_len,
            normalize_obs: self.normalize_obs != 0,
            normalize_reward: self.normalize_reward != 0,
            clip_obs: self.clip_obs,
            clip_reward: self.clip_reward,
            discount: self.discount,
            epsilon: self.epsilon,
        }
    }
}

/// Everything small that changes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    obs_count: f64,
    return_mean: f64,
    return_var: f64,
    return_count: f64,
    frozen: u64,
}

fields! {
    /// The one place where the layout is written down.
    spans Spans(n: usize, d: usize) {
        state: One<State> = (),
        mean: [f64] = d,
        var: [f64] = d,
        running: [f64] = n,
    }
    /// A normaliser of N environments, cut from its block.
    ///
    /// ```
    /// use rlcore::data::step::{Ends, Rewrite};
    /// use rlcore::data::vec_normalize::{StepArrays, VecNormalize, VecNormalizeConfig};
    ///
    /// # fn main() -> rlcore::error::Result {
    /// let config = VecNormalizeConfig { num_envs: 2, obs_len: 1, ..VecNormalizeConfig::default() };
    /// let mut block = vec![0u64; VecNormalize::size(&config)? / 8];
    /// let mut venv = VecNormalize::init(bytemuck::cast_slice_mut(&mut block), &config)?;
    ///
    /// let mut obs = [10.0, 30.0];
    /// venv.reset(Rewrite::in_place(&mut obs))?;
    /// assert!((obs[0] + 1.0).abs() < 0.01 && (obs[1] - 1.0).abs() < 0.01);
    ///
    /// let (mut obs, mut reward) = ([20.0, 40.0], [1.0, 2.0]);
    /// venv.step(StepArrays {
    ///     obs: Rewrite::in_place(&mut obs),
    ///     reward: Rewrite::in_place(&mut reward),
    ///     final_obs: None,
    ///     ends: Ends { terminated: &[0, 0], truncated: &[0, 0], valid: None },
    /// })?;
    /// assert!((venv.statistics().obs_mean[0] - 25.0).abs() < 0.01);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub write VecNormalize { setup: Setup }
    /// A normaliser to read: any number of threads may look at the same one.
    #[derive(Clone, Copy, Debug)]
    pub read View { setup: Setup }
}

fn spans(setup: &Setup) -> Result<(Spans, usize)> {
    setup.check()?;
    let mut plan = Plan::default();
    block::spans::<Setup>(&mut plan)?;
    Ok((Spans::plan(&mut plan, setup.num_envs as usize, setup.obs_len as usize)?, plan.size()?))
}

/// The running moments, to look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics<'a> {
    /// `[obs_len]` mean of the observations.
    pub obs_mean: &'a [f64],
    /// `[obs_len]` their population variance.
    pub obs_var: &'a [f64],
    /// Observations seen, and [`INITIAL_COUNT`].
    pub obs_count: f64,
    /// Mean of the discounted sums of rewards.
    pub return_mean: f64,
    /// Their population variance: rewards are divided by its root.
    pub return_var: f64,
    /// Sums seen, and [`INITIAL_COUNT`].
    pub return_count: f64,
    /// `[N]` the discounted sum of each episode so far.
    pub running: &'a [f64],
    /// Whether the moments stay as they are.
    pub frozen: bool,
}

/// What a step of N environments returned, to be normalised: each array in place, or from one into another.
#[derive(Debug)]
pub struct StepArrays<'a> {
    /// `[N, obs_len]`
    pub obs: Rewrite<'a>,
    /// `[N]`
    pub reward: Rewrite<'a>,
    /// `[N, obs_len]` read and written only in rows that ended.
    pub final_obs: Option<Rewrite<'a>>,
    /// How the step left each environment.
    pub ends: Ends<'a>,
}

impl<'a> VecNormalize<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &VecNormalizeConfig) -> Result<usize> {
        Ok(spans(&Setup::new(config)?)?.1)
    }

    /// Lays a normaliser out: means of 0, variances of 1, counts of [`INITIAL_COUNT`].
    /// Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &VecNormalizeConfig) -> Result<Self> {
        let setup = Setup::new(config)?;
        let (spans, size) = spans(&setup)?;
        let block = block::create(mem, BlockKind::VecNormalize, size, &setup)?;
        let v = Self::cut(&mut Cutter::new(block), &spans, setup)?;
        *v.state = State { obs_count: INITIAL_COUNT, return_var: 1.0, return_count: INITIAL_COUNT, ..State::zeroed() };
        v.var.fill(1.0);
        Ok(v)
    }

    /// Accepts bytes that a block was copied to. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let setup: Setup = block::attach(mem, BlockKind::VecNormalize, |setup| Ok(spans(setup)?.1))?;
        let v = Self::cut(&mut Cutter::new(mem), &spans(&setup)?.0, setup)?;
        let s = &*v.state;
        let returns = check_moments(&[s.return_mean], &[s.return_var], s.return_count);
        let right = check_moments(v.mean, v.var, s.obs_count).and(returns).is_ok()
            && s.obs_count > 0.0
            && s.return_count > 0.0
            && s.frozen <= 1
            && v.running.iter().all(|sum| (-1e59..=1e59).contains(sum));
        if right { Ok(v) } else { Err(Error::new(Kind::Image, "vec_normalize: statistics that a step can leave")) }
    }

    /// Cuts a block that `init` or `attach` has accepted, without looking at it again. Errors: `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let setup = block::config(mem, BlockKind::VecNormalize)?;
        Ok(Self::cut(&mut Cutter::new(mem), &spans(&setup)?.0, setup)?)
    }

    /// What the block was made with.
    pub fn config(&self) -> VecNormalizeConfig {
        self.setup.config()
    }

    /// The moments as they are now.
    pub fn statistics(&self) -> Statistics<'_> {
        self.view().statistics()
    }

    /// The same block, to read.
    pub fn view(&self) -> View<'_> {
        self.read(self.setup)
    }

    /// While frozen, `reset` and `step` normalise and change nothing in the block: not the moments, and not the sums, so
    /// that an evaluation can run between two steps of a training.
    pub fn freeze(&mut self, frozen: bool) {
        self.state.frozen = frozen.into();
    }

    /// Takes the first observations of all environments, `[N, obs_len]`: merges and normalises them, and starts every
    /// discounted sum at 0. Errors: `Shape`; `Value` for a number that is not finite; nothing changes then.
    pub fn reset(&mut self, obs: Rewrite<'_>) -> Result {
        obs.check("vec_normalize: obs [N, obs_len] of length", self.batch_len()?)?;
        self.observe(obs)?;
        if self.state.frozen == 0 {
            self.running.fill(0.0);
        }
        Ok(())
    }

    /// Takes the first observation of environment `i` alone; `obs` is `[N, obs_len]`, of which only that row is used.
    /// Errors: as [`VecNormalize::reset`]; `Range`.
    pub fn reset_one(&mut self, i: usize, mut obs: Rewrite<'_>) -> Result {
        obs.check("vec_normalize: obs [N, obs_len] of length", self.batch_len()?)?;
        let n = self.running.len();
        let outside = Error::new(Kind::Range, "vec_normalize: an environment below").needed(n).given(i);
        self.observe(self.row(i, &mut obs).ok_or(outside)?)?;
        if let (0, Some(running)) = (self.state.frozen, self.running.get_mut(i)) {
            *running = 0.0;
        }
        Ok(())
    }

    /// Takes what a step returned, in the order that stands at the top of this file. A row that was only reset counts as
    /// an observation; its reward, which is none, stays out of the statistics.
    /// Errors: `Shape`; `Value` for a number that is not finite in any row that is read; nothing changes then.
    pub fn step(&mut self, arrays: StepArrays<'_>) -> Result {
        let StepArrays { obs, reward, mut final_obs, ends } = arrays;
        let len = self.batch_len()?;
        obs.check("vec_normalize: obs [N, obs_len] of length", len)?;
        reward.check("vec_normalize: reward [N] of length", self.running.len())?;
        ends.check(self.running.len())?;
        check_finite("vec_normalize: a finite reward", reward.input())?;
        if let Some(x) = &mut final_obs {
            x.check("vec_normalize: final_obs [N, obs_len] of length", len)?;
            for (i, _) in ends.rows().enumerate().filter(|(_, (_, ended))| *ended) {
                let row = self.row(i, x).ok_or(SHAPE)?;
                check_finite("vec_normalize: a finite final_obs", row.input())?;
            }
        }
        self.observe(obs)?;
        if let Some(x) = &mut final_obs {
            for (i, _) in ends.rows().enumerate().filter(|(_, (_, ended))| *ended) {
                self.view().apply(self.row(i, x).ok_or(SHAPE)?);
            }
        }
        self.scale_rewards(reward, ends);
        Ok(())
    }

    /// As [`View::normalize_obs`].
    pub fn normalize_obs(&self, obs: Rewrite<'_>) -> Result {
        self.view().normalize_obs(obs)
    }

    /// Merges the statistics of another normaliser into these, as if this one had seen its observations and sums too.
    /// Each brings its initial count along. Its sums of unfinished episodes stay with it.
    /// Errors: `Config` for another obs_len; `Range` for more than 2^64 counts; then nothing changes.
    pub fn merge(&mut self, other: &Statistics<'_>) -> Result {
        let needed = self.mean.len();
        if other.obs_mean.len() != needed {
            let what = "vec_normalize: merged statistics with an obs_len of";
            return Err(Error::new(Kind::Config, what).needed(needed).given(other.obs_mean.len()));
        }
        let s = &mut *self.state;
        let (mut mean, mut var, mut count) = ([s.return_mean], [s.return_var], s.return_count);
        Moments { mean: &mut mean, var: &mut var, count: &mut count }.merge(
            &[other.return_mean],
            &[other.return_var],
            other.return_count,
        )?;
        Moments { mean: self.mean, var: self.var, count: &mut s.obs_count }.merge(
            other.obs_mean,
            other.obs_var,
            other.obs_count,
        )?;
        ([s.return_mean], [s.return_var], s.return_count) = (mean, var, count);
        Ok(())
    }

    fn batch_len(&self) -> Result<usize> {
        self.running.len().checked_mul(self.mean.len()).ok_or(SHAPE)
    }

    fn row<'x>(&self, i: usize, x: &'x mut Rewrite<'_>) -> Option<Rewrite<'x>> {
        let width = self.mean.len();
        let begin = i.checked_mul(width)?;
        x.range(begin, begin.checked_add(width)?)
    }

    /// Merges observations, unless frozen, and normalises them, unless they pass as they are.
    fn observe(&mut self, obs: Rewrite<'_>) -> Result {
        if self.setup.normalize_obs != 0 && self.state.frozen == 0 {
            let (mean, var) = (&mut *self.mean, &mut *self.var);
            let mut moments = Moments { mean, var, count: &mut self.state.obs_count };
            moments.update(obs.input()).map_err(|e| Error { what: "vec_normalize: a finite obs", ..e })?;
        } else {
            check_finite("vec_normalize: a finite obs", obs.input())?;
        }
        self.view().apply(obs);
        Ok(())
    }

    fn scale_rewards(&mut self, reward: Rewrite<'_>, ends: Ends<'_>) {
        let limits = Limits { clip: self.setup.clip_reward, epsilon: self.setup.epsilon };
        let s = &mut *self.state;
        match (self.setup.normalize_reward, s.frozen) {
            (0, _) => reward.map(|x| x),
            (_, 0) => {
                let (mean, var, count) = (&mut s.return_mean, &mut s.return_var, &mut s.return_count);
                let mut rewards = RewardScale { running: self.running, mean, var, count };
                rewards.step_finite(reward, ends, self.setup.discount, limits);
            }
            _ => scale(s.return_var, limits, reward),
        }
    }
}

impl<'a> View<'a> {
    /// Cuts a block that `init` or `attach` has accepted, without looking at it again. Errors: `Image`.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let setup = block::config(mem, BlockKind::VecNormalize)?;
        Ok(Self::of(mem, &spans(&setup)?.0, setup)?)
    }

    /// What the block was made with.
    pub fn config(&self) -> VecNormalizeConfig {
        self.setup.config()
    }

    /// The moments as they are now.
    pub fn statistics(&self) -> Statistics<'a> {
        let State { obs_count, return_mean, return_var, return_count, frozen } = *self.state;
        Statistics {
            obs_mean: self.mean,
            obs_var: self.var,
            obs_count,
            return_mean,
            return_var,
            return_count,
            running: self.running,
            frozen: frozen != 0,
        }
    }

    /// Normalises any number of observations, `[n, obs_len]`, with the moments as they are: for a policy that acts
    /// elsewhere. Errors: `Shape`; `Value` for a number that is not finite; nothing is written then.
    pub fn normalize_obs(&self, obs: Rewrite<'_>) -> Result {
        let len = obs.input().len();
        if len.checked_rem(self.mean.len()) != Some(0) {
            let what = "vec_normalize: obs [n, obs_len] of whole rows, obs_len";
            return Err(Error::new(Kind::Shape, what).needed(self.mean.len()).given(len));
        }
        obs.check("vec_normalize: out [n, obs_len] of length", len)?;
        check_finite("vec_normalize: a finite obs", obs.input())?;
        self.apply(obs);
        Ok(())
    }

    fn apply(&self, x: Rewrite<'_>) {
        let limits = Limits { clip: self.setup.clip_obs, epsilon: self.setup.epsilon };
        match self.setup.normalize_obs {
            0 => x.map(|x| x),
            _ => normalise_finite(self.mean, self.var, limits, x),
        }
    }
}

const SHAPE: Error = Error::new(Kind::Shape, "vec_normalize: arrays with one entry a row");
