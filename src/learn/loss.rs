//! The objective of a policy and its values as a loss to minimize, and its derivatives with respect to log-probability and
//! value (spec: agents, sections 2.3 and 8).

use bytemuck::{Pod, Zeroable};

use crate::block;
use crate::cpu::{self, FEW_WAYS, Kernel};
#[cfg(feature = "unreal")]
use crate::error::{Error, Kind};
use crate::error::{Result, check_len};
#[cfg(feature = "unreal")]
use crate::kernels::finite::{check_one, check_rows};
use crate::num;

/// Weights and ranges of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// Ratios are clipped to 1 ± this value.
    pub clip: f32,
    /// New values are clipped to old values ± this value; 0 disables clipping.
    pub value_clip: f32,
    /// Weight of half the mean squared value error.
    pub value_coef: f32,
}

/// B rows of a minibatch: recorded data, and current network outputs. All `[B]`.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Rows of the whole minibatch, the divisor of means: B, or more if these rows are a chunk of it.
    pub num_rows: usize,
    /// Current log-probabilities of the actions.
    pub log_prob: &'a [f32],
    /// Log-probabilities of the actions when they were taken.
    pub old_log_prob: &'a [f32],
    /// Advantages, normalized with `normalize_advantage`.
    pub advantage: &'a [f32],
    /// Current values.
    pub value: &'a [f32],
    /// Values when the actions were taken.
    pub old_value: &'a [f32],
    /// Value targets.
    pub value_target: &'a [f32],
}

/// Sums over minibatches of their mean losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Sums {
    /// Minibatches summed.
    pub count: f64,
    /// Minus the clipped surrogate, or minus log-probabilities times advantages.
    pub policy_loss: f64,
    /// Half the squared value error.
    pub value_loss: f64,
    /// Entropy in nats.
    pub entropy: f64,
    /// r - 1 - ln r.
    pub approx_kl: f64,
    /// Ratios outside the clip range, as a fraction.
    pub clip_fraction: f64,
    /// Global gradient norm before clipping.
    pub grad_norm: f64,
    /// Losses of auxiliary tasks: of pixel control, reward prediction, and value or policy replay.
    pub tasks: [f64; 3],
}

/// Mean losses of one minibatch, or the contribution of a chunk to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Losses {
    /// Minus the clipped surrogate, or minus log-probabilities times advantages.
    pub policy_loss: f32,
    /// Half the squared value error.
    pub value_loss: f32,
    /// r - 1 - ln r.
    pub approx_kl: f32,
    /// Ratios outside the clip range, as a fraction.
    pub clip_fraction: f32,
}

/// Writes d loss / d log_prob to `d_log_prob` and d loss / d value to `d_value`, both `[B]`.
///
/// loss = -mean(min(r A, clip(r) A)) + value_coef * mean(half squared value error), with r = exp(log_prob - old_log_prob). With
/// value clipping, the larger of the clipped and the plain squared error is used. Errors: `Shape`.
pub fn policy_and_value(
    batch: &Batch<'_>,
    c: &Coefficients,
    d_log_prob: &mut [f32],
    d_value: &mut [f32],
) -> Result<Losses> {
    losses::<true>(batch, c, d_log_prob, d_value)
}

/// `policy_and_value` with -mean(log_prob A) in place of the clipped surrogate: the policy gradient, for any ratios. No ratio
/// is clipped. Errors: `Shape`.
#[cfg(feature = "actor_critic")]
pub fn actor_and_critic(
    batch: &Batch<'_>,
    c: &Coefficients,
    d_log_prob: &mut [f32],
    d_value: &mut [f32],
) -> Result<Losses> {
    losses::<false>(batch, c, d_log_prob, d_value)
}

fn losses<const SURROGATE: bool>(
    batch: &Batch<'_>,
    c: &Coefficients,
    d_log_prob: &mut [f32],
    d_value: &mut [f32],
) -> Result<Losses> {
    let len = batch.log_prob.len();
    check_len("learner loss: old_log_prob", batch.old_log_prob, len)?;
    check_len("learner loss: advantage", batch.advantage, len)?;
    check_len("learner loss: value", batch.value, len)?;
    check_len("learner loss: old_value", batch.old_value, len)?;
    check_len("learner loss: value_target", batch.value_target, len)?;
    check_len("learner loss: d_log_prob", d_log_prob, len)?;
    check_len("learner loss: d_value", d_value, len)?;
    Ok(cpu::dispatch(Loss::<SURROGATE> { b: batch, c, d_log_prob, d_value }))
}

/// Checks the preconditions of [`policy_and_value`] and [`actor_and_critic`]. Errors: `Shape` if there are no rows; `Range`;
/// `Value`.
#[cfg(feature = "unreal")]
pub fn check(batch: &Batch<'_>, c: &Coefficients) -> Result {
    Error::limit(Kind::Shape, "loss: rows of at least", 1, 0).fail_if(batch.log_prob.is_empty())?;
    for (what, given) in [
        ("loss: clip of at least 0, finite", c.clip),
        ("loss: value_clip of at least 0, finite", c.value_clip),
        ("loss: value_coef of at least 0, finite", c.value_coef),
    ] {
        check_one(what, given)?;
        Error::new(Kind::Range, what).given_f32(given).fail_if(given < 0.0)?;
    }
    check_rows("loss: a finite log_prob", batch.log_prob, 1)?;
    check_rows("loss: a finite old_log_prob", batch.old_log_prob, 1)?;
    check_rows("loss: a finite advantage", batch.advantage, 1)?;
    check_rows("loss: a finite value", batch.value, 1)?;
    check_rows("loss: a finite old_value", batch.old_value, 1)?;
    check_rows("loss: a finite value_target", batch.value_target, 1)
}

/// The squared error of values, summed. Writes `weight` times its gradient, `[B]`, to `d_value`.
#[cfg(feature = "unreal")]
pub fn squared_error(value: &[f32], target: &[f32], weight: f32, d_value: &mut [f32]) -> f64 {
    let mut sum = 0.0;
    for ((value, target), d_value) in value.iter().zip(target).zip(d_value) {
        let error = value - target;
        sum += f64::from(error) * f64::from(error);
        *d_value = 2.0 * weight * error;
    }
    sum
}

/// The mean of [`squared_error`], and its gradient. Errors: `Shape`, `Value`.
#[cfg(feature = "unreal")]
pub fn mean_squared_error(value: &[f32], target: &[f32], d_value: &mut [f32]) -> Result<f32> {
    let len = value.len();
    Error::limit(Kind::Shape, "loss: rows of at least", 1, 0).fail_if(len == 0)?;
    check_len("loss: value_target", target, len)?;
    check_len("loss: d_value", d_value, len)?;
    check_rows("loss: a finite value", value, 1)?;
    check_rows("loss: a finite value_target", target, 1)?;
    Ok((squared_error(value, target, 1.0 / len as f32, d_value) / len as f64) as f32)
}

const LANES: usize = 16;

/// The loss, with the clipped surrogate or with log-probabilities.
struct Loss<'a, const SURROGATE: bool> {
    b: &'a Batch<'a>,
    c: &'a Coefficients,
    d_log_prob: &'a mut [f32],
    d_value: &'a mut [f32],
}

/// Per-lane sums of a minibatch, added in a fixed order at the end.
#[derive(Clone, Copy, Default)]
struct Lanes {
    policy: [f32; LANES],
    value: [f32; LANES],
    kl: [f32; LANES],
    clipped: [f32; LANES],
}

impl<const SURROGATE: bool> Kernel for Loss<'_, SURROGATE> {
    type Output = Losses;

    #[inline(always)]
    fn run(self) -> Losses {
        let Loss { b, c, d_log_prob, d_value } = self;
        let scale = 1.0 / b.num_rows as f32;
        let mut sums = Lanes::default();
        let columns = [b.log_prob, b.old_log_prob, b.advantage, b.value, b.old_value, b.value_target];
        if !FEW_WAYS {
            let [lp, old_lp, adv, v, old_v, target] = columns.map(|column| column.as_chunks::<LANES>().0);
            let outputs = d_log_prob.as_chunks_mut().0.iter_mut().zip(d_value.as_chunks_mut().0);
            let inputs = lp.iter().zip(old_lp).zip(adv).zip(v).zip(old_v).zip(target);
            for ((((((lp, old_lp), adv), v), old_v), target), (d_lp, d_v)) in inputs.zip(outputs) {
                (*d_lp, *d_v) = sums.add::<SURROGATE>(c, scale, [*lp, *old_lp, *adv, *v, *old_v, *target]);
            }
        }
        // A chunk has fewer rows than the minibatch.
        let rows = b.log_prob.len();
        let begin = if FEW_WAYS { 0 } else { rows - rows % LANES };
        for at in (begin..rows).step_by(LANES) {
            let rest = columns.map(|column| pad(column.get(at..).unwrap_or(&[])));
            let (g_lp, g_v) = sums.add::<SURROGATE>(c, scale, rest);
            block::copy(d_log_prob.get_mut(at..).unwrap_or_default(), &g_lp);
            block::copy(d_value.get_mut(at..).unwrap_or_default(), &g_v);
        }
        Losses {
            policy_loss: num::canonical(num::tree(sums.policy) * scale),
            value_loss: num::canonical(num::tree(sums.value) * scale),
            approx_kl: num::canonical(num::tree(sums.kl) * scale),
            clip_fraction: num::tree(sums.clipped) * scale,
        }
    }
}

impl Lanes {
    /// Adds 16 rows and returns their derivatives with respect to log-probability and value.
    #[inline(always)]
    fn add<const SURROGATE: bool>(
        &mut self,
        c: &Coefficients,
        scale: f32,
        rows: [[f32; LANES]; 6],
    ) -> ([f32; LANES], [f32; LANES]) {
        let [lp, old_lp, adv, v, old_v, target] = rows;
        let (mut g_lp, mut g_v) = ([0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let log_r = lp[i] - old_lp[i];
            let r = num::exp(log_r);
            if SURROGATE {
                let clipped = num::clamp(r, 1.0 - c.clip, 1.0 + c.clip);
                let (plain, bound) = (r * adv[i], clipped * adv[i]);
                self.policy[i] -= num::min(plain, bound);
                g_lp[i] = if plain <= bound { num::canonical(-plain * scale) } else { 0.0 };
                self.clipped[i] += if r == clipped { 0.0 } else { 1.0 };
            } else {
                self.policy[i] -= lp[i] * adv[i];
                g_lp[i] = num::canonical(-adv[i] * scale);
            }
            self.kl[i] += r - 1.0 - log_r;

            let error = v[i] - target[i];
            let moved = num::clamp(v[i] - old_v[i], -c.value_clip, c.value_clip);
            let error_clipped = old_v[i] + moved - target[i];
            let plain = c.value_clip == 0.0 || error * error >= error_clipped * error_clipped;
            let slope = if moved == v[i] - old_v[i] { error_clipped } else { 0.0 };
            let (e, slope) = if plain { (error, error) } else { (error_clipped, slope) };
            self.value[i] += 0.5 * e * e;
            g_v[i] = num::canonical(c.value_coef * slope * scale);
        }
        (g_lp, g_v)
    }
}

/// Pads an incomplete last block: rows of zeros have ratio 1, advantage 0 and no error, and add nothing.
#[inline(always)]
fn pad(rows: &[f32]) -> [f32; LANES] {
    let mut block = [0.0; LANES];
    block::copy(&mut block, rows);
    block
}
