//! Normalization by running moments: observations to mean 0 and variance 1, rewards to the scale of their discounted sums.
//!
//! All functions work on the caller's arrays. To freeze the statistics, do not call the functions that update them. A step has
//! the order of the usual vectorized normalizer: update with the new batch first, then normalize with the result.

use bytemuck::{Pod, Zeroable};

use crate::block::{One, fields};
use crate::cpu::{self, Kernel};
use crate::data::step::{Ends, Rewrite};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::{check_one, check_rows};
use crate::kernels::moments::{self, BLOCK_ROWS, LANES, Moment, PARTS};
use crate::kernels::returns::{accumulate, check_running, clear_ended};
use crate::num;

/// Initial value of a count, small so that the first batch outweighs the initial moments.
pub const INITIAL_COUNT: f64 = 1e-4;

/// Running mean and population variance of D columns.
#[derive(Debug)]
pub struct Moments<'a> {
    /// `[D]`
    pub mean: &'a mut [f64],
    /// `[D]`
    pub var: &'a mut [f64],
    /// Rows seen, plus [`INITIAL_COUNT`].
    pub count: &'a mut f64,
}

impl Moments<'_> {
    /// Resets to mean 0 and variance 1.
    pub fn reset(&mut self) {
        self.mean.fill(0.0);
        self.var.fill(1.0);
        *self.count = INITIAL_COUNT;
    }

    /// Merges a batch, `[n, D]`. Errors: as [`moments::update`]; nothing is updated on error.
    pub fn update(&mut self, x: &[f32]) -> Result {
        let rows = x.len().checked_div(self.mean.len()).unwrap_or(0);
        moments::update(x, rows, self.mean, self.var, self.count)
    }

    /// Merges the moments of `count` other rows, such as those of another worker's environments. Errors: as
    /// [`moments::merge_columns`]; nothing is updated on error.
    pub fn merge(&mut self, mean: &[f64], var: &[f64], count: f64) -> Result {
        moments::merge_columns((mean, var), count, self.mean, self.var, self.count)
    }
}

/// Bounds of normalized numbers, and the term that keeps the divisor above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Results lie from -clip to clip; above 0.
    pub clip: f32,
    /// Added to the variance; at least 1e-30.
    pub epsilon: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { clip: 10.0, epsilon: 1e-8 }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result {
        check_one("normalizer: a finite clip", self.clip)?;
        Error::new(Kind::Range, "normalizer: clip above 0").given_f32(self.clip).fail_if(self.clip <= 0.0)?;
        let what = "normalizer: epsilon from 1e-30";
        Error::new(Kind::Range, what).given_f32(self.epsilon as f32).fail_if(!(1e-30..=1e30).contains(&self.epsilon))
    }

    #[inline(always)]
    fn apply(&self, x: f32) -> f32 {
        num::clamp(x, -self.clip, self.clip)
    }
}

/// Turns x into clip((x - mean) / sqrt(var + epsilon)), `[n, D]`; `mean` and `var` are `[D]`.
///
/// Errors: `Shape`; `Range` for the limits or a negative variance; `Value` for a number that is not finite, or moments that f32
/// numbers cannot have. Nothing is written on error.
pub fn normalise(mean: &[f64], var: &[f64], limits: Limits, x: Rewrite<'_>) -> Result {
    limits.check()?;
    check_len("normalizer: var [D] of the length of the mean", var, mean.len())?;
    let len = x.input().len();
    x.check("normalizer: out [n, D] of the length of x", len)?;
    let what = "normalizer: x [n, D] of whole rows, D";
    Error::limit(Kind::Shape, what, mean.len(), len).fail_if(len.checked_rem(mean.len()) != Some(0))?;
    moments::check_moments(mean, var, 0.0)?;
    check_rows("normalizer: a finite number", x.input(), mean.len())?;
    normalise_finite(mean, var, limits, x);
    Ok(())
}

/// [`normalise`] without checks, for finite numbers, `[n, D]`.
pub(crate) fn normalise_finite(mean: &[f64], var: &[f64], limits: Limits, x: Rewrite<'_>) {
    cpu::dispatch(Normalise { mean, var, limits, x });
}

/// Rewards scaled by the deviation of their running discounted sums.
#[derive(Debug)]
pub struct RewardScale<'a> {
    /// `[N]` discounted sum of the rewards of each environment's episode so far; 0 at first.
    pub running: &'a mut [f64],
    /// Mean of the sums.
    pub mean: &'a mut f64,
    /// Population variance of the sums.
    pub var: &'a mut f64,
    /// Sums seen, plus [`INITIAL_COUNT`].
    pub count: &'a mut f64,
}

impl RewardScale<'_> {
    /// Resets the moments and the sums.
    pub fn reset(&mut self) {
        self.running.fill(0.0);
        (*self.mean, *self.var, *self.count) = (0.0, 1.0, INITIAL_COUNT);
    }

    /// Takes the rewards of one step, `[N]`: adds them to the sums discounted by `discount`, from 0 to 1, merges the sums into
    /// the moments, writes the scaled rewards, and resets the sums of ended episodes to 0. The sum of a row that was only reset
    /// is set to 0 and stays out of the moments.
    ///
    /// Errors: `Shape`; `Range`; `Value` for a number that is not finite. Nothing changes on error.
    pub fn step(&mut self, reward: Rewrite<'_>, ends: Ends<'_>, discount: f64, limits: Limits) -> Result {
        let n = self.running.len();
        reward.check("normalizer: reward [N] of length", n)?;
        ends.check(n)?;
        let what = "normalizer: discount from 0 to 1";
        Error::new(Kind::Range, what).given_f32(discount as f32).fail_if(!(0.0..=1.0).contains(&discount))?;
        limits.check()?;
        check_rows("normalizer: a finite reward", reward.input(), 1)?;
        moments::check_moments(&[*self.mean], &[*self.var], *self.count)?;
        check_running(self.running)?;
        self.step_finite(reward, ends, discount, limits);
        Ok(())
    }

    /// [`RewardScale::step`] without checks, for finite rewards and arrays of matching length.
    pub(crate) fn step_finite(&mut self, reward: Rewrite<'_>, ends: Ends<'_>, discount: f64, limits: Limits) {
        accumulate(reward.input(), discount, self.running);
        if let Some(valid) = ends.valid {
            for (running, valid) in self.running.iter_mut().zip(valid) {
                *running = if *valid != 0 { *running } else { 0.0 };
            }
        }
        let (batch, n) = match ends.valid {
            Some(valid) => moments::of_kept(self.running, valid),
            None => (moments::of(self.running), self.running.len()),
        };
        if n > 0 {
            let before = Moment { mean: *self.mean, var: *self.var };
            let after = moments::merge(before, *self.count, batch, n as f64);
            (*self.mean, *self.var) = (after.mean, after.var);
            *self.count = moments::count_more(*self.count, n);
        }
        scale(*self.var, limits, reward);
        clear_ended(ends.terminated, ends.truncated, self.running);
    }
}

/// Writes clip(reward / sqrt(var + epsilon)) for any number of rewards: [`RewardScale`] with a fixed variance.
pub fn scale_rewards(var: f64, limits: Limits, reward: Rewrite<'_>) -> Result {
    reward.check("normalizer: out of the rewards' length", reward.input().len())?;
    limits.check()?;
    check_rows("normalizer: a finite reward", reward.input(), 1)?;
    moments::check_moments(&[0.0], &[var], 0.0)?;
    scale(var, limits, reward);
    Ok(())
}

/// [`scale_rewards`] without checks, for finite rewards.
pub(crate) fn scale(var: f64, limits: Limits, reward: Rewrite<'_>) {
    let scale = num::inverse_sqrt64(var + limits.epsilon);
    reward.map(|reward| limits.apply((f64::from(reward) * scale) as f32));
}

/// Dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// N.
    pub num_envs: usize,
    /// D: elements of an observation.
    pub obs_len: usize,
}

/// The scalars that change.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Observations seen, plus [`INITIAL_COUNT`].
    pub obs_count: f64,
    /// Mean of the discounted sums of rewards.
    pub return_mean: f64,
    /// Their population variance.
    pub return_var: f64,
    /// Sums seen, plus [`INITIAL_COUNT`].
    pub return_count: f64,
    /// 1: moments and sums are frozen.
    pub frozen: u64,
}

fields! {
    /// Places of the moments in their owner's block.
    pub spans Spans(lens: Lens) {
        /// The scalars.
        pub state: One<State> = (),
        /// `[D]` means of the observations.
        pub mean: [f64] = lens.obs_len,
        /// `[D]`
        pub var: [f64] = lens.obs_len,
        /// `[N]` discounted sum of the rewards of each episode so far.
        pub running: [f64] = lens.num_envs,
    }
    /// The moments, for writing.
    #[derive(Debug)]
    pub write ScaleMut {}
    /// The moments, for reading.
    #[derive(Clone, Copy, Debug)]
    pub read ScaleRef {}
    /// Running moments of observations, and of discounted sums of rewards.
    #[derive(Debug)]
    pub part Scale(Lens)
}

/// Transformation of observations and rewards.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `None`: observations pass unchanged.
    pub obs: Option<Limits>,
    /// `None`: rewards pass unchanged.
    pub reward: Option<Limits>,
    /// Discount of the sums that scale the rewards.
    pub discount: f64,
}

/// The running moments, for reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics<'a> {
    /// `[obs_len]` mean of the observations.
    pub obs_mean: &'a [f64],
    /// `[obs_len]` their population variance.
    pub obs_var: &'a [f64],
    /// Observations seen, plus [`INITIAL_COUNT`].
    pub obs_count: f64,
    /// Mean of the discounted sums of rewards.
    pub return_mean: f64,
    /// Their population variance: rewards are divided by its square root.
    pub return_var: f64,
    /// Sums seen, plus [`INITIAL_COUNT`].
    pub return_count: f64,
    /// `[N]` the discounted sum of each episode so far.
    pub running: &'a [f64],
    /// Whether the moments are frozen.
    pub frozen: bool,
}

impl ScaleMut<'_> {
    /// Resets to means of 0, variances of 1, counts of [`INITIAL_COUNT`]; not frozen.
    pub fn reset(&mut self) {
        *self.state = State::zeroed();
        self.observations().reset();
        self.rewards().reset();
    }

    /// Whether a sequence of steps can produce this state.
    pub fn is_right(&self) -> bool {
        let s = &*self.state;
        let returns = moments::check_moments(&[s.return_mean], &[s.return_var], s.return_count);
        moments::check_moments(self.mean, self.var, s.obs_count).and(returns).is_ok()
            && s.obs_count > 0.0
            && s.return_count > 0.0
            && s.frozen <= 1
            && self.running.iter().all(|sum| (-1e59..=1e59).contains(sum))
    }

    fn observations(&mut self) -> Moments<'_> {
        Moments { mean: self.mean, var: self.var, count: &mut self.state.obs_count }
    }

    fn rewards(&mut self) -> RewardScale<'_> {
        let State { return_mean: mean, return_var: var, return_count: count, .. } = &mut *self.state;
        RewardScale { running: self.running, mean, var, count }
    }

    /// Normalizes observations if `rule` says so, after merging them unless frozen. Errors: `Value`, with the given message;
    /// nothing changes then.
    pub fn observe(&mut self, what: &'static str, rule: &Rule, obs: Rewrite<'_>) -> Result {
        if rule.obs.is_some() && self.state.frozen == 0 {
            let update = self.observations().update(obs.input());
            update.map_err(|e| check_rows(what, obs.input(), self.mean.len()).err().unwrap_or(e))?;
        } else {
            check_rows(what, obs.input(), self.mean.len())?;
        }
        self.read().apply(rule, obs);
        Ok(())
    }

    /// Scales the finite rewards of a step, and merges them into the moments unless frozen.
    pub fn scale_rewards(&mut self, rule: &Rule, reward: Rewrite<'_>, ends: Ends<'_>) {
        match (rule.reward, self.state.frozen) {
            (None, _) => reward.map(|x| x),
            (Some(limits), 0) => self.rewards().step_finite(reward, ends, rule.discount, limits),
            (Some(limits), _) => scale(self.state.return_var, limits, reward),
        }
    }

    /// Merges other moments of the same length. Errors: `Range` for more than 2^64 counts; then nothing changes.
    pub fn merge(&mut self, other: &Statistics<'_>) -> Result {
        let s = &mut *self.state;
        let (mut mean, mut var, mut count) = ([s.return_mean], [s.return_var], s.return_count);
        Moments { mean: &mut mean, var: &mut var, count: &mut count }.merge(
            &[other.return_mean],
            &[other.return_var],
            other.return_count,
        )?;
        self.observations().merge(other.obs_mean, other.obs_var, other.obs_count)?;
        let s = &mut *self.state;
        ([s.return_mean], [s.return_var], s.return_count) = (mean, var, count);
        Ok(())
    }
}

impl<'a> ScaleRef<'a> {
    /// The current moments.
    pub fn statistics(&self) -> Statistics<'a> {
        let State { obs_count, return_mean, return_var, return_count, frozen } = *self.state;
        let (obs_mean, obs_var, running, frozen) = (self.mean, self.var, self.running, frozen != 0);
        Statistics { obs_mean, obs_var, obs_count, return_mean, return_var, return_count, running, frozen }
    }

    /// Normalizes finite observations with the current moments.
    pub fn apply(&self, rule: &Rule, obs: Rewrite<'_>) {
        match rule.obs {
            None => obs.map(|x| x),
            Some(limits) => normalise_finite(self.mean, self.var, limits, obs),
        }
    }
}

struct Normalise<'a> {
    mean: &'a [f64],
    var: &'a [f64],
    limits: Limits,
    x: Rewrite<'a>,
}

/// Columns processed together.
const GROUP: usize = PARTS * LANES;

/// Shift and scale of each column.
struct Affine {
    shift: [f64; GROUP],
    scale: [f64; GROUP],
}

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Normalise { mean, var, limits, mut x } = self;
        let width = mean.len();
        let rows = x.input().len().checked_div(width).unwrap_or(0);
        for (group, (mean, var)) in mean.chunks(GROUP).zip(var.chunks(GROUP)).enumerate() {
            let mut affine = Affine { shift: [0.0; GROUP], scale: [1.0; GROUP] };
            for (to, mean) in affine.shift.iter_mut().zip(mean) {
                *to = *mean;
            }
            for (to, var) in affine.scale.iter_mut().zip(var) {
                *to = num::inverse_sqrt64(*var + limits.epsilon);
            }
            let columns = group.wrapping_mul(GROUP);
            let mut row = 0;
            while row < rows {
                let mut block = Block {
                    x: x.reborrow(),
                    limits,
                    affine: &affine,
                    width,
                    rows: BLOCK_ROWS.min(rows.wrapping_sub(row)),
                };
                let (first, mut done) = (row.wrapping_mul(width).wrapping_add(columns), 0);
                if cfg!(feature = "avx2") {
                    while mean.len().wrapping_sub(done) >= 16 {
                        done = block.columns::<16>(first, done);
                    }
                    if (mean.len() & 8) != 0 {
                        done = block.columns::<8>(first, done);
                    }
                    if (mean.len() & 4) != 0 {
                        done = block.columns::<4>(first, done);
                    }
                }
                while done < mean.len() {
                    done = block.columns::<1>(first, done);
                }
                row = row.wrapping_add(BLOCK_ROWS);
            }
        }
    }
}

/// Rows processed together, few enough to stay in the nearest cache until all their columns are done.
struct Block<'a> {
    x: Rewrite<'a>,
    limits: Limits,
    affine: &'a Affine,
    width: usize,
    rows: usize,
}

impl Block<'_> {
    /// Processes W columns of the rows, `done` columns after `first`. Returns the new number of columns done.
    #[inline(always)]
    fn columns<const W: usize>(&mut self, first: usize, done: usize) -> usize {
        let end = done.wrapping_add(W);
        let lanes = |table: &[f64; GROUP]| -> Option<[f64; W]> { table.get(done..end)?.first_chunk::<W>().copied() };
        let (Some(shift), Some(scale)) = (lanes(&self.affine.shift), lanes(&self.affine.scale)) else { return end };
        let limits = self.limits;
        let mut at = first.wrapping_add(done);
        for _ in 0..self.rows {
            let Some(raw) = self.x.input().get(at..).and_then(|x| x.first_chunk::<W>().copied()) else { return end };
            let Some(out) = self.x.output().get_mut(at..).and_then(|out| out.first_chunk_mut::<W>()) else {
                return end;
            };
            let mut y = [0.0; W];
            for i in 0..W {
                y[i] = (f64::from(raw[i]) - shift[i]) * scale[i];
            }
            for (out, y) in out.iter_mut().zip(y) {
                *out = limits.apply(y as f32);
            }
            at = at.wrapping_add(self.width);
        }
        end
    }
}
