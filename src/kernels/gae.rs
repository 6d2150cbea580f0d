//! Generalised advantage estimation over `[T, N]` rollouts, with terminated and truncated steps kept apart.
//!
//! Time runs backwards and environments lie in lanes. Few environments are walked in columns of 16 with the recursion
//! in registers; many row by row, where the advantage row just written carries the recursion.

use super::back::{back, back_mut};
use super::finite::{all_finite, check_finite, check_one, overflowing};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};

/// From this many environments on, rows are faster than columns.
const ROWS_FROM: usize = 64;

/// What N environments did in T steps, time-major. Step t led from `obs[t]` to `obs[t + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct Rollout<'a> {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub bootstrap_value: &'a [f32],
    /// `[T, N]` nonzero where step t reached a terminal state.
    pub terminated: &'a [u8],
    /// `[T, N]` nonzero where step t was the last of an episode that was cut.
    pub truncated: &'a [u8],
    /// `[T, N]` V(final_obs), read only where truncated and not terminated; `None` only if nothing is truncated.
    pub final_value: Option<&'a [f32]>,
}

/// Writes advantages and value targets, both `[T, N]`:
///
/// ```text
/// next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
/// delta[t]     = reward[t] + discount * next[t] - value[t]
/// advantage[t] = delta[t] + discount * lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
/// value_target = advantage + value
/// ```
///
/// `discount` and `lambda` lie in [0, 1]. Errors: `Shape`; `Range`; `Value` for a number that is read and not finite;
/// `Null` if something is truncated without `final_value`. Outputs are untouched on error.
pub fn gae(
    rollout: &Rollout<'_>,
    discount: f32,
    lambda: f32,
    advantage: &mut [f32],
    value_target: &mut [f32],
) -> Result {
    let len = grid(rollout.num_steps, rollout.num_envs)?;
    check_len("gae: reward [T, N] of length", rollout.reward, len)?;
    check_len("gae: value [T, N] of length", rollout.value, len)?;
    check_len("gae: bootstrap_value [N] of length", rollout.bootstrap_value, rollout.num_envs)?;
    check_len("gae: terminated [T, N] of length", rollout.terminated, len)?;
    check_len("gae: truncated [T, N] of length", rollout.truncated, len)?;
    check_len("gae: advantage [T, N] of length", advantage, len)?;
    check_len("gae: value_target [T, N] of length", value_target, len)?;
    check_rate("gae: discount from 0 to 1", discount)?;
    check_rate("gae: lambda from 0 to 1", lambda)?;
    if let Some(final_value) = rollout.final_value {
        check_len("gae: final_value [T, N] of length", final_value, len)?;
    }
    if !cpu::dispatch(Check(rollout)) {
        return Err(culprit(rollout));
    }
    cpu::dispatch(Sweep {
        num_envs: rollout.num_envs,
        reward: rollout.reward,
        value: rollout.value,
        bootstrap_value: rollout.bootstrap_value,
        terminated: rollout.terminated,
        truncated: rollout.truncated,
        // Where nothing is truncated it is never read, so any array of the shape will do.
        final_value: rollout.final_value.unwrap_or(rollout.value),
        discount,
        decay: discount * lambda,
        advantage,
        value_target,
    });
    Ok(())
}

/// A rollout in the older form with one `done` flag that belongs to the observation, not to the step: `done[t]` says
/// that `obs[t]` starts a new episode, so `done[0]` is never read.
#[derive(Clone, Copy, Debug)]
pub struct ShiftedRollout<'a> {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[T, N]` 0 or 1; values between them mask softly.
    pub done: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub next_value: &'a [f32],
    /// `[N]` whether that observation starts a new episode.
    pub next_done: &'a [f32],
}

/// Writes advantages and value targets, both `[T, N]`, from the shifted form:
///
/// ```text
/// live[t]      = 1 - done[t+1]                                  (next_done at T-1)
/// delta[t]     = reward[t] + discount * value[t+1] * live[t] - value[t]   (next_value at T-1)
/// advantage[t] = delta[t] + discount * lambda * live[t] * advantage[t+1]  (delta[t] at T-1)
/// value_target = advantage + value
/// ```
///
/// It cannot tell a cut episode from a finished one; use [`gae`] for that. Errors as there.
pub fn gae_shifted(
    rollout: &ShiftedRollout<'_>,
    discount: f32,
    lambda: f32,
    advantage: &mut [f32],
    value_target: &mut [f32],
) -> Result {
    let len = grid(rollout.num_steps, rollout.num_envs)?;
    check_len("gae: reward [T, N] of length", rollout.reward, len)?;
    check_len("gae: value [T, N] of length", rollout.value, len)?;
    check_len("gae: done [T, N] of length", rollout.done, len)?;
    check_len("gae: next_value [N] of length", rollout.next_value, rollout.num_envs)?;
    check_len("gae: next_done [N] of length", rollout.next_done, rollout.num_envs)?;
    check_len("gae: advantage [T, N] of length", advantage, len)?;
    check_len("gae: value_target [T, N] of length", value_target, len)?;
    check_rate("gae: discount from 0 to 1", discount)?;
    check_rate("gae: lambda from 0 to 1", lambda)?;
    check_finite("gae: a finite reward", rollout.reward)?;
    check_finite("gae: a finite value", rollout.value)?;
    check_finite("gae: a finite done", rollout.done.get(rollout.num_envs..).unwrap_or(&[]))?;
    check_finite("gae: a finite next_value", rollout.next_value)?;
    check_finite("gae: a finite next_done", rollout.next_done)?;
    ShiftedSweep { rollout, discount, decay: discount * lambda, advantage, value_target }.run();
    Ok(())
}

/// T times N, if both are at least 1.
pub(crate) fn grid(num_steps: usize, num_envs: usize) -> Result<usize> {
    if num_steps == 0 {
        return Err(Error::new(Kind::Shape, "rollout: num_steps of at least").needed(1).given(0));
    }
    if num_envs == 0 {
        return Err(Error::new(Kind::Shape, "rollout: num_envs of at least").needed(1).given(0));
    }
    num_steps.checked_mul(num_envs).ok_or(Error::new(Kind::Overflow, "rollout: [T, N] that fits the address space"))
}

/// Checks a discount or a lambda.
pub(crate) fn check_rate(what: &'static str, rate: f32) -> Result {
    check_one(what, rate)?;
    if (0.0..=1.0).contains(&rate) { Ok(()) } else { Err(Error::new(Kind::Range, what).given_f32(rate)) }
}

/// True if every number that the sweep will read is finite and there is a final value wherever one is needed.
struct Check<'a>(&'a Rollout<'a>);

impl Kernel for Check<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let r = self.0;
        let any = r.truncated.iter().fold(0, |any, x| any | x) != 0;
        // Forward in time, so that the sweep, which runs backwards, finds the end of the arrays in the cache.
        let pairs = r.reward.iter().zip(r.value);
        let flags = pairs.fold(0, |flags, (r, v)| flags | overflowing(*r) | overflowing(*v));
        flags >> 31 == 0 && all_finite(r.bootstrap_value) && (!any || self.finals_are_finite())
    }
}

impl Check<'_> {
    #[inline(always)]
    fn finals_are_finite(&self) -> bool {
        let r = self.0;
        let Some(final_value) = r.final_value else { return false };
        let steps = final_value.iter().zip(r.terminated).zip(r.truncated);
        steps.fold(0, |flags, ((x, terminated), truncated)| {
            let read = *truncated != 0 && *terminated == 0;
            flags | if read { overflowing(*x) } else { 0 }
        }) >> 31
            == 0
    }
}

/// Names what [`Check`] found.
#[cold]
fn culprit(r: &Rollout<'_>) -> Error {
    let arrays = [
        ("gae: a finite reward", r.reward),
        ("gae: a finite value", r.value),
        ("gae: a finite bootstrap_value", r.bootstrap_value),
    ];
    for (what, values) in arrays {
        if let Err(error) = check_finite(what, values) {
            return error;
        }
    }
    let Some(final_value) = r.final_value else {
        return Error::new(Kind::Null, "gae: final_value, because a step is truncated");
    };
    let mut steps = final_value.iter().zip(r.terminated).zip(r.truncated);
    let bad = steps.find(|((x, terminated), truncated)| **truncated != 0 && **terminated == 0 && !x.is_finite());
    let given = bad.map_or(0.0, |((x, _), _)| *x);
    Error::new(Kind::Value, "gae: a finite final_value where truncated").given_f32(given)
}

struct Sweep<'a> {
    num_envs: usize,
    reward: &'a [f32],
    value: &'a [f32],
    bootstrap_value: &'a [f32],
    terminated: &'a [u8],
    truncated: &'a [u8],
    final_value: &'a [f32],
    discount: f32,
    decay: f32,
    advantage: &'a mut [f32],
    value_target: &'a mut [f32],
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut at = 0;
        if self.num_envs >= ROWS_FROM {
            at = self.rows();
        }
        while self.columns::<16>(at).is_some() {
            at += 16;
        }
        if self.columns::<8>(at).is_some() {
            at += 8;
        }
        while self.columns::<1>(at).is_some() {
            at += 1;
        }
    }
}

impl Sweep<'_> {
    /// All steps of environments `at..at + W`, or `None` if there are not so many.
    #[inline(always)]
    fn columns<const W: usize>(&mut self, at: usize) -> Option<()> {
        let n = self.num_envs;
        let mut next = *lanes::<f32, W>(self.bootstrap_value, at)?;
        let mut carry = [0.0; W];
        if n == 0 {
            return None;
        }
        let inputs = back(self.reward, n).zip(back(self.value, n));
        let flags = back(self.terminated, n).zip(back(self.truncated, n));
        let outputs = back_mut(self.advantage, n).zip(back_mut(self.value_target, n));
        let steps = inputs.zip(flags).zip(outputs).zip(back(self.final_value, n));
        for ((((reward, value), (terminated, truncated)), (advantage, value_target)), final_value) in steps {
            let value = lanes(value, at)?;
            carry = step(
                lanes(reward, at)?,
                value,
                next,
                (lanes(terminated, at)?, lanes(truncated, at)?),
                lanes(final_value, at)?,
                carry,
                (self.discount, self.decay),
                lanes_mut(advantage, at)?,
                lanes_mut(value_target, at)?,
            );
            next = *value;
        }
        Some(())
    }

    /// Whole groups of 16 environments: all of the last step, then of the one before it, and so on. Returns how many.
    #[inline(always)]
    fn rows(&mut self) -> usize {
        let n = self.num_envs;
        if n == 0 {
            return 0;
        }
        let rates = (self.discount, self.decay);
        let mut next = self.bootstrap_value;
        let mut after: &[f32] = &[]; // the advantage row after this one; none after the last
        let mut rest = &mut *self.advantage;
        let inputs = back(self.reward, n).zip(back(self.value, n));
        let flags = back(self.terminated, n).zip(back(self.truncated, n));
        let outputs = back_mut(self.value_target, n).zip(back(self.final_value, n));
        for (((reward, value), (terminated, truncated)), (value_target, final_value)) in inputs.zip(flags).zip(outputs)
        {
            let Some((before, advantage)) = rest.split_at_mut_checked(rest.len().saturating_sub(n)) else { return 0 };
            let carries = after.as_chunks::<16>().0;
            let inputs = groups(reward).zip(groups(value)).zip(groups(next)).zip(groups(final_value));
            let flags = groups(terminated).zip(groups(truncated));
            let outputs = advantage.as_chunks_mut::<16>().0.iter_mut().zip(value_target.as_chunks_mut::<16>().0);
            for (i, (((((reward, value), next), final_value), flags), (advantage, value_target))) in
                inputs.zip(flags).zip(outputs).enumerate()
            {
                let carry = carries.get(i).copied().unwrap_or([0.0; 16]);
                step(reward, value, *next, flags, final_value, carry, rates, advantage, value_target);
            }
            (rest, after, next) = (before, advantage, value);
        }
        n - n % 16
    }
}

/// Whole groups of 16.
#[inline(always)]
fn groups<T>(row: &[T]) -> core::slice::Iter<'_, [T; 16]> {
    row.as_chunks().0.iter()
}

/// One step of W environments; returns their advantages.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn step<const W: usize>(
    reward: &[f32; W],
    value: &[f32; W],
    mut next: [f32; W],
    (terminated, truncated): (&[u8; W], &[u8; W]),
    final_value: &[f32; W],
    carry: [f32; W],
    (discount, decay): (f32, f32),
    advantage: &mut [f32; W],
    value_target: &mut [f32; W],
) -> [f32; W] {
    if truncated.iter().fold(0, |any, x| any | x) != 0 {
        for i in 0..W {
            next[i] = if truncated[i] != 0 { final_value[i] } else { next[i] };
        }
    }
    let mut a = [0.0; W];
    for i in 0..W {
        let next = if terminated[i] != 0 { 0.0 } else { next[i] };
        let carry = if terminated[i] | truncated[i] != 0 { 0.0 } else { carry[i] };
        a[i] = reward[i] + discount * next - value[i] + decay * carry;
    }
    for i in 0..W {
        value_target[i] = a[i] + value[i];
    }
    *advantage = a;
    a
}

struct ShiftedSweep<'a> {
    rollout: &'a ShiftedRollout<'a>,
    discount: f32,
    decay: f32,
    advantage: &'a mut [f32],
    value_target: &'a mut [f32],
}

impl ShiftedSweep<'_> {
    fn run(self) {
        let n = self.rollout.num_envs;
        if n == 0 {
            return;
        }
        let (mut next, mut done) = (self.rollout.next_value, self.rollout.next_done);
        let mut carry: &[f32] = &[];
        let mut rest = self.advantage;
        let inputs = back(self.rollout.reward, n).zip(back(self.rollout.value, n));
        let steps = inputs.zip(back(self.rollout.done, n)).zip(back_mut(self.value_target, n));
        for (((reward, value), done_here), value_target) in steps {
            let Some((before, advantage)) = rest.split_at_mut_checked(rest.len().saturating_sub(n)) else { return };
            let row = reward.iter().zip(value).zip(next.iter().zip(done)).zip(advantage.iter_mut().zip(value_target));
            if carry.is_empty() {
                for (((r, v), (next, done)), (a, target)) in row {
                    *a = r + self.discount * (next * (1.0 - done)) - v;
                    *target = *a + v;
                }
            } else {
                for ((((r, v), (next, done)), (a, target)), carry) in row.zip(carry) {
                    *a = r + self.discount * (next * (1.0 - done)) - v + self.decay * ((1.0 - done) * carry);
                    *target = *a + v;
                }
            }
            (rest, carry, next, done) = (before, advantage, value, done_here);
        }
    }
}

/// Elements `at..at + W`.
#[inline(always)]
fn lanes<T, const W: usize>(row: &[T], at: usize) -> Option<&[T; W]> {
    row.get(at..)?.first_chunk()
}

/// Elements `at..at + W`, to write.
#[inline(always)]
fn lanes_mut<T, const W: usize>(row: &mut [T], at: usize) -> Option<&mut [T; W]> {
    row.get_mut(at..)?.first_chunk_mut()
}
