//! Observations to mean 0 and variance 1, rewards to the scale of their discounted sums, from running moments.
//!
//! Everything works on the caller's arrays. To freeze the statistics, do not call what updates them. The order of a
//! step is that of the usual vectorised normaliser: update with the new batch first, then normalise with the result.

use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::{check_finite, check_one};
use crate::kernels::moments::{self, LANES, Moment};
use crate::kernels::returns::{accumulate, clear_ended};
use crate::num;

/// What a count starts at, so that the first batch outweighs the initial moments.
pub const INITIAL_COUNT: f64 = 1e-4;

/// Running mean and population variance of D columns.
#[derive(Debug)]
pub struct Moments<'a> {
    /// `[D]`
    pub mean: &'a mut [f64],
    /// `[D]`
    pub var: &'a mut [f64],
    /// Rows seen, and [`INITIAL_COUNT`].
    pub count: &'a mut f64,
}

impl Moments<'_> {
    /// Forgets everything: mean 0, variance 1.
    pub fn reset(&mut self) {
        self.mean.fill(0.0);
        self.var.fill(1.0);
        *self.count = INITIAL_COUNT;
    }

    /// Merges a batch, `[n, D]`. Errors: `Shape`; `Value` for a number that is not finite. Nothing is updated on error.
    pub fn update(&mut self, x: &[f32]) -> Result {
        let rows = x.len().checked_div(self.mean.len()).unwrap_or(0);
        moments::update(x, rows, self.mean, self.var, self.count)
    }
}

/// How far normalised numbers may go, and what keeps the divisor from 0.
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
    fn check(&self) -> Result {
        check_one("normalizer: a finite clip", self.clip)?;
        if self.clip <= 0.0 {
            return Err(Error::new(Kind::Range, "normalizer: clip above 0").given_f32(self.clip));
        }
        if !(1e-30..=1e30).contains(&self.epsilon) {
            return Err(Error::new(Kind::Range, "normalizer: epsilon from 1e-30").given_f32(self.epsilon as f32));
        }
        Ok(())
    }

    #[inline(always)]
    fn apply_all(&self, x: &[f32; LANES], shift: &[f64; LANES], scale: &[f64; LANES], out: &mut [f32; LANES]) {
        let mut y = [0.0; LANES];
        for i in 0..LANES {
            y[i] = (f64::from(x[i]) - shift[i]) * scale[i];
        }
        *out = y.map(|y| self.apply(y as f32));
    }

    #[inline(always)]
    fn apply(&self, x: f32) -> f32 {
        num::clamp(x, -self.clip, self.clip)
    }
}

/// Writes clip((x - mean) / sqrt(var + epsilon)), `[n, D]`; `mean` and `var` are `[D]`.
///
/// Errors: `Shape`; `Range` for the limits; `Value` for a number that is not finite. `out` is untouched on error.
pub fn normalise(mean: &[f64], var: &[f64], limits: Limits, x: &[f32], out: &mut [f32]) -> Result {
    limits.check()?;
    check_len("normalizer: var [D] of the length of the mean", var, mean.len())?;
    check_len("normalizer: out [n, D] of the length of x", out, x.len())?;
    if x.len().checked_rem(mean.len()) != Some(0) {
        let what = "normalizer: x [n, D] of whole rows, D";
        return Err(Error::new(Kind::Shape, what).needed(mean.len()).given(x.len()));
    }
    check_finite("normalizer: a finite number", x)?;
    cpu::dispatch(Normalise { mean, var, limits, x, out });
    Ok(())
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
    /// Sums seen, and [`INITIAL_COUNT`].
    pub count: &'a mut f64,
}

impl RewardScale<'_> {
    /// Forgets the moments and the sums.
    pub fn reset(&mut self) {
        self.running.fill(0.0);
        (*self.mean, *self.var, *self.count) = (0.0, 1.0, INITIAL_COUNT);
    }

    /// Takes the rewards of one step, `[N]`: adds them to the sums discounted by `discount`, from 0 to 1, merges the
    /// sums into the moments, writes the scaled rewards, and starts the sums of ended episodes again.
    ///
    /// Errors: `Shape`; `Range`; `Value` for a number that is not finite. Nothing changes on error.
    pub fn step(
        &mut self,
        reward: &[f32],
        terminated: &[u8],
        truncated: &[u8],
        discount: f64,
        limits: Limits,
        out: &mut [f32],
    ) -> Result {
        let n = self.running.len();
        check_len("normalizer: reward [N] of length", reward, n)?;
        check_len("normalizer: terminated [N] of length", terminated, n)?;
        check_len("normalizer: truncated [N] of length", truncated, n)?;
        if !(0.0..=1.0).contains(&discount) {
            return Err(Error::new(Kind::Range, "normalizer: discount from 0 to 1").given_f32(discount as f32));
        }
        check_scale(reward, limits, out)?;
        if n == 0 {
            return Ok(());
        }
        accumulate(reward, discount, self.running);
        let before = Moment { mean: *self.mean, var: *self.var };
        let after = moments::merge(before, *self.count, moments::of(self.running), n as f64);
        (*self.mean, *self.var) = (after.mean, after.var);
        *self.count += n as f64;
        scale(after.var, limits, reward, out);
        clear_ended(terminated, truncated, self.running);
        Ok(())
    }
}

/// Writes clip(reward / sqrt(var + epsilon)) for any number of rewards: [`RewardScale`] with its variance as it is.
pub fn scale_rewards(var: f64, limits: Limits, reward: &[f32], out: &mut [f32]) -> Result {
    check_scale(reward, limits, out)?;
    scale(var, limits, reward, out);
    Ok(())
}

fn check_scale(reward: &[f32], limits: Limits, out: &[f32]) -> Result {
    limits.check()?;
    check_len("normalizer: out of the rewards' length", out, reward.len())?;
    check_finite("normalizer: a finite reward", reward)
}

struct Normalise<'a> {
    mean: &'a [f64],
    var: &'a [f64],
    limits: Limits,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Normalise { mean, var, limits, x, out } = self;
        let width = mean.len();
        if width == 0 {
            return;
        }
        let mut spare = [0.0; LANES];
        for (part, (mean, var)) in mean.chunks(LANES).zip(var.chunks(LANES)).enumerate() {
            let begin = part.wrapping_mul(LANES);
            // Lanes beyond the last column work on other numbers and are dropped.
            let (mut shift, mut scale) = ([0.0; LANES], [1.0; LANES]);
            for ((shift, scale), (mean, var)) in shift.iter_mut().zip(&mut scale).zip(mean.iter().zip(var)) {
                (*shift, *scale) = (*mean, *var);
            }
            for scale in &mut scale {
                *scale = num::inverse_sqrt64(*scale + limits.epsilon);
            }
            let mut at = begin;
            for out in out.chunks_exact_mut(width) {
                let x = moments::window(x, at, &mut spare);
                let out = out.get_mut(begin..).unwrap_or(&mut []);
                match out.first_chunk_mut() {
                    Some(whole) => limits.apply_all(x, &shift, &scale, whole),
                    None => {
                        let mut lanes = [0.0; LANES];
                        limits.apply_all(x, &shift, &scale, &mut lanes);
                        store_short(out, &lanes);
                    }
                }
                at = at.wrapping_add(width);
            }
        }
    }
}

#[inline(never)]
fn store_short(out: &mut [f32], lanes: &[f32; LANES]) {
    for (out, lane) in out.iter_mut().zip(lanes) {
        *out = *lane;
    }
}

fn scale(var: f64, limits: Limits, reward: &[f32], out: &mut [f32]) {
    let scale = num::inverse_sqrt64(var + limits.epsilon);
    for (out, reward) in out.iter_mut().zip(reward) {
        *out = limits.apply((f64::from(*reward) * scale) as f32);
    }
}
