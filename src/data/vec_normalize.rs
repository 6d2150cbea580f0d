//! Observations and rewards of N environments normalized by running moments, in the caller's block.
//!
//! The order of a step is fixed: merge the observations into their moments and normalize them with the result; add the rewards to
//! the discounted sums, merge the sums into their moments, and scale the rewards; then reset the sums of ended episodes to 0. The
//! last observations of ended episodes are normalized with the same moments and not merged. Statistics need the whole batch, so a
//! step is one call.

use bytemuck::{Pod, Zeroable};

use super::normalizer::Limits;
pub use super::part::scale::Statistics;
use super::part::scale::{Lens, Rule, Scale};
use super::step::{Ends, Rewrite};
use crate::block::{self, Fit, Kind as BlockKind, Mark, Plan, fields};
use crate::error::{Error, Kind, Result};
use crate::kernels::finite::{check_finite, check_rows};

/// Configuration of a normalizer of N environments, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct VecNormalizeConfig {
    /// Discount of the sums that scale the rewards, from 0 to 1.
    pub discount: f64,
    /// Added to variances; at least 1e-30.
    pub epsilon: f64,
    /// Number of environments, at least 1.
    pub num_envs: u32,
    /// Elements of one observation, at least 1.
    pub obs_len: u32,
    /// 1: observations are normalized; 0: they pass unchanged.
    pub normalize_obs: u32,
    /// 1: rewards are scaled; 0: they pass unchanged.
    pub normalize_reward: u32,
    /// Normalized observations lie from -clip to clip; above 0.
    pub clip_obs: f32,
    /// Scaled rewards lie from -clip to clip; above 0.
    pub clip_reward: f32,
}

impl Default for VecNormalizeConfig {
    fn default() -> Self {
        VecNormalizeConfig {
            num_envs: 1,
            obs_len: 1,
            normalize_obs: 1,
            normalize_reward: 1,
            clip_obs: 10.0,
            clip_reward: 10.0,
            discount: 0.99,
            epsilon: 1e-8,
        }
    }
}

impl VecNormalizeConfig {
    fn check(&self) -> Result {
        let refuse = |what| Error::new(Kind::Config, what);
        refuse("vec_normalize config: num_envs of at least 1").fail_if(self.num_envs == 0)?;
        refuse("vec_normalize config: obs_len of at least 1").fail_if(self.obs_len == 0)?;
        let switch = |what, x: u32| refuse(what).given(x as usize).fail_if(x > 1);
        switch("vec_normalize config: normalize_obs: 0 or 1", self.normalize_obs)?;
        switch("vec_normalize config: normalize_reward: 0 or 1", self.normalize_reward)?;
        let what = "vec_normalize config: a finite clip_obs above 0";
        refuse(what).fail_if(!(self.clip_obs > 0.0 && self.clip_obs < f32::INFINITY))?;
        let what = "vec_normalize config: a finite clip_reward above 0";
        refuse(what).fail_if(!(self.clip_reward > 0.0 && self.clip_reward < f32::INFINITY))?;
        refuse("vec_normalize config: discount from 0 to 1").fail_if(!(0.0..=1.0).contains(&self.discount))?;
        refuse("vec_normalize config: epsilon from 1e-30 to 1e30").fail_if(!(1e-30..=1e30).contains(&self.epsilon))
    }

    fn rule(&self) -> Rule {
        let limits = |wanted: u32, clip| (wanted != 0).then_some(Limits { clip, epsilon: self.epsilon });
        Rule {
            obs: limits(self.normalize_obs, self.clip_obs),
            reward: limits(self.normalize_reward, self.clip_reward),
            discount: self.discount,
        }
    }
}

fields! {
    /// The layout of the block, defined only here.
    spans Spans(lens: Lens) {
        scale: Scale = lens,
    }
    /// A normalizer of N environments, cut from its block.
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
    pub write VecNormalize { mark: Mark<'a>, config: VecNormalizeConfig }
    /// A normalizer, for reading by any number of threads.
    #[derive(Clone, Copy, Debug)]
    pub read View { config: VecNormalizeConfig }
}

fn spans(config: &VecNormalizeConfig) -> Result<(Spans, usize)> {
    config.check()?;
    let mut plan = Plan::default();
    block::spans::<VecNormalizeConfig>(&mut plan)?;
    let lens = Lens { num_envs: config.num_envs as usize, obs_len: config.obs_len as usize };
    Ok((Spans::plan(&mut plan, lens)?, plan.size()?))
}

/// Arrays returned by a step of N environments, to normalize in place or into other arrays.
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
        Ok(spans(config)?.1)
    }

    /// Initializes a normalizer: means of 0, variances of 1, counts of [`INITIAL_COUNT`](super::normalizer::INITIAL_COUNT).
    /// Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &VecNormalizeConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        let mut v = Self::cut_from(block::create_marked(mem, BlockKind::VecNormalize, size, config)?, &spans)?;
        v.scale.reset();
        v.mark.end();
        Ok(v)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::VecNormalize, |config| Ok(spans(config)?.1))?;
        let v = Self::cut_from(mem, &spans(&config)?.0)?;
        let what = "vec_normalize: statistics that a step can leave";
        if v.scale.is_right() { Ok(v) } else { Err(Error::new(Kind::Image, what)) }
    }

    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let spans = spans(block::config(mem, BlockKind::VecNormalize)?)?.0;
        Ok(Self::cut_from(mem, &spans)?)
    }

    fn cut_from(mem: &'a mut [u8], spans: &Spans) -> Fit<Self> {
        let (mark, config, mut cut) = block::cut_marked::<VecNormalizeConfig>(mem)?;
        Self::cut(&mut cut, spans, mark, *config)
    }

    /// The configuration of the block.
    pub fn config(&self) -> VecNormalizeConfig {
        self.config
    }

    /// The current moments.
    pub fn statistics(&self) -> Statistics<'_> {
        self.view().statistics()
    }

    /// The same block, for reading.
    pub fn view(&self) -> View<'_> {
        self.read(self.config)
    }

    /// While frozen, `reset` and `step` normalize and change neither the moments nor the sums, so that an evaluation can run
    /// between two steps of training.
    pub fn freeze(&mut self, frozen: bool) {
        let _changing = self.mark.begin();
        self.scale.state.frozen = frozen.into();
    }

    /// Takes the first observations of all environments, `[N, obs_len]`: merges and normalizes them, and resets every discounted
    /// sum to 0. Errors: `Shape`; `Value` for a number that is not finite; nothing changes then.
    pub fn reset(&mut self, obs: Rewrite<'_>) -> Result {
        let _changing = self.mark.begin();
        obs.check("vec_normalize: obs [N, obs_len] of length", self.batch_len()?)?;
        self.observe(obs)?;
        if self.scale.state.frozen == 0 {
            self.scale.running.fill(0.0);
        }
        Ok(())
    }

    /// Takes the first observation of environment `i` alone; `obs` is `[N, obs_len]`, of which only that row is used.
    /// Errors: as [`VecNormalize::reset`]; `Range`.
    pub fn reset_one(&mut self, i: usize, mut obs: Rewrite<'_>) -> Result {
        let _changing = self.mark.begin();
        obs.check("vec_normalize: obs [N, obs_len] of length", self.batch_len()?)?;
        let n = self.scale.running.len();
        let outside = Error::limit(Kind::Range, "vec_normalize: an environment below", n, i);
        self.observe(self.row(i, &mut obs).ok_or(outside)?).map_err(|e| e.in_row(i))?;
        if let (0, Some(running)) = (self.scale.state.frozen, self.scale.running.get_mut(i)) {
            *running = 0.0;
        }
        Ok(())
    }

    /// Takes the arrays of a step, in the order described at the top of this file. A row that was only reset counts as an
    /// observation; its reward is not one and stays out of the statistics.
    /// Errors: `Shape`; `Value` for a number that is not finite in any row that is read; nothing changes then.
    pub fn step(&mut self, arrays: StepArrays<'_>) -> Result {
        let _changing = self.mark.begin();
        let StepArrays { obs, reward, mut final_obs, ends } = arrays;
        let len = self.batch_len()?;
        obs.check("vec_normalize: obs [N, obs_len] of length", len)?;
        reward.check("vec_normalize: reward [N] of length", self.scale.running.len())?;
        ends.check(self.scale.running.len())?;
        check_rows("vec_normalize: a finite reward", reward.input(), 1)?;
        if let Some(x) = &mut final_obs {
            x.check("vec_normalize: final_obs [N, obs_len] of length", len)?;
            for (i, _) in ends.rows().enumerate().filter(|(_, (_, ended))| *ended) {
                let row = self.row(i, x).ok_or(SHAPE)?;
                check_finite("vec_normalize: a finite final_obs", row.input()).map_err(|e| e.in_row(i))?;
            }
        }
        self.observe(obs)?;
        if let Some(x) = &mut final_obs {
            for (i, _) in ends.rows().enumerate().filter(|(_, (_, ended))| *ended) {
                self.view().apply(self.row(i, x).ok_or(SHAPE)?);
            }
        }
        self.scale.scale_rewards(&self.config.rule(), reward, ends);
        Ok(())
    }

    /// As [`View::normalize_obs`].
    pub fn normalize_obs(&self, obs: Rewrite<'_>) -> Result {
        self.view().normalize_obs(obs)
    }

    /// Merges the statistics of another normalizer into these, as if this one had seen its observations and sums too. Both
    /// initial counts are included. The other's sums of unfinished episodes are not merged.
    /// Errors: `Config` for another obs_len; `Range` for more than 2^64 counts; then nothing changes.
    pub fn merge(&mut self, other: &Statistics<'_>) -> Result {
        let _changing = self.mark.begin();
        let needed = self.scale.mean.len();
        let what = "vec_normalize: merged statistics with an obs_len of";
        Error::limit(Kind::Config, what, needed, other.obs_mean.len()).fail_if(other.obs_mean.len() != needed)?;
        self.scale.merge(other)
    }

    fn batch_len(&self) -> Result<usize> {
        self.scale.running.len().checked_mul(self.scale.mean.len()).ok_or(SHAPE)
    }

    fn row<'x>(&self, i: usize, x: &'x mut Rewrite<'_>) -> Option<Rewrite<'x>> {
        let width = self.scale.mean.len();
        let begin = i.checked_mul(width)?;
        x.range(begin, begin.checked_add(width)?)
    }

    fn observe(&mut self, obs: Rewrite<'_>) -> Result {
        self.scale.observe("vec_normalize: a finite obs", &self.config.rule(), obs)
    }
}

impl<'a> View<'a> {
    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Image`.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::VecNormalize)?;
        Ok(Self::of(mem, &spans(&config)?.0, config)?)
    }

    /// The configuration of the block.
    pub fn config(&self) -> VecNormalizeConfig {
        self.config
    }

    /// The current moments.
    pub fn statistics(&self) -> Statistics<'a> {
        self.scale.statistics()
    }

    /// Normalizes any number of observations, `[n, obs_len]`, with the current moments, for a policy that acts elsewhere. Errors:
    /// `Shape`; `Value` for a number that is not finite; nothing is written then.
    pub fn normalize_obs(&self, obs: Rewrite<'_>) -> Result {
        let len = obs.input().len();
        let what = "vec_normalize: obs [n, obs_len] of whole rows, obs_len";
        Error::limit(Kind::Shape, what, self.scale.mean.len(), len)
            .fail_if(len.checked_rem(self.scale.mean.len()) != Some(0))?;
        obs.check("vec_normalize: out [n, obs_len] of length", len)?;
        check_rows("vec_normalize: a finite obs", obs.input(), self.scale.mean.len())?;
        self.apply(obs);
        Ok(())
    }

    fn apply(&self, obs: Rewrite<'_>) {
        self.scale.apply(&self.config.rule(), obs);
    }
}

const SHAPE: Error = Error::new(Kind::Shape, "vec_normalize: arrays with one entry a row");
