//! V-trace: value targets and policy-gradient advantages for a policy that learns from the steps of another.
//!
//! Sixteen environments share the lanes of a vector, time runs backwards, and stripes of environments are walked row by row:
//! the carried state stays in the nearest cache. From logits, the log-ratios of all steps are computed first; unless the caller
//! wants them, they lie in an output that the recursion overwrites. No scratch memory is needed.

use core::cell::Cell;
use core::marker::PhantomData;

use super::finite::{all_finite, check_finite};
use super::gae::Accumulate;
use super::grid::{Columns, FiniteCheck, Real, canonicalize_nan, cells, check_rate};
use super::tile::{Lanes, ROWS, Tile, load_lanes, parts};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len, check_some, overflowing};
use crate::num;

/// T steps of N environments under a behavior policy, time-major, and the rates of the off-policy correction.
#[derive(Clone, Copy, Debug)]
pub struct VTrace<'a> {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// `[T, N]` each from 0 to 1, 0 where step t reached a terminal state.
    pub discounts: &'a [f32],
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub bootstrap_value: &'a [f32],
    /// `[T, N]` nonzero where step t was the last of an episode that was cut; `None` if no step was.
    pub truncated: Option<&'a [u8]>,
    /// `[T, N]` V(final_obs), read only where truncated with a discount above 0; `None` only if nothing is truncated.
    pub final_value: Option<&'a [f32]>,
    /// Ceilings and rates.
    pub rates: Rates,
    /// Number type of the recursion.
    pub accumulate: Accumulate,
}

/// Ceilings of the ratios pi(a) / mu(a), each above 0, infinite for none, and rates from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Ceiling of the ratio that scales a temporal difference: decides which policy the targets evaluate.
    pub clip_rho: f32,
    /// Ceiling of the ratio that carries later differences back: decides how fast the targets converge.
    pub clip_c: f32,
    /// Ceiling of the ratio that scales `pg_advantage`.
    pub clip_pg_rho: f32,
    /// Decay of later differences, as in TD(lambda).
    pub td_lambda: f32,
    /// Share of the ratio above a ceiling that is kept: 0 is V-trace, 1 plain importance sampling. 1 - alpha of leaky V-trace
    /// (Zahavy et al. 2020).
    pub leak: f32,
}

impl Default for Rates {
    fn default() -> Self {
        Rates { clip_rho: 1.0, clip_c: 1.0, clip_pg_rho: 1.0, td_lambda: 1.0, leak: 0.0 }
    }
}

/// Two policies over A actions, and the actions taken.
#[derive(Clone, Copy, Debug)]
pub struct Policies<'a> {
    /// A, at least 1.
    pub num_actions: usize,
    /// `[T, N, A]` finite logits of the policy that acted.
    pub behavior_logits: &'a [f32],
    /// `[T, N, A]` finite logits of the policy that learns.
    pub target_logits: &'a [f32],
    /// `[T, N]` each from 0 to below A.
    pub action: &'a [i32],
}

/// Output arrays, `[T, N]` each; `None` skips one. See [`cells`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Outputs<'a> {
    /// Targets of the value function.
    pub vs: Option<&'a [Cell<f32>]>,
    /// Weights of log pi(a).
    pub pg_advantage: Option<&'a [Cell<f32>]>,
    /// log pi(a) - log mu(a)
    pub log_rho: Option<&'a [Cell<f32>]>,
    /// log mu(a)
    pub behavior_log_prob: Option<&'a [Cell<f32>]>,
    /// log pi(a)
    pub target_log_prob: Option<&'a [Cell<f32>]>,
}

/// Writes `vs` and `pg_advantage`, both `[T, N]`, from `log_rho[t] = log pi(a) - log mu(a)`, `[T, N]` and finite:
///
/// ```text
/// rho[t]  = exp(log_rho[t])
/// next[t] = final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
/// d[t]    = reward[t] + discounts[t] * next[t] - value[t]
/// k[t]    = 0 where truncated and at T-1, else discounts[t] * td_lambda * acc[t+1]
/// acc[t]  = min(rho[t], clip_rho) * d[t] + min(rho[t], clip_c) * k[t]
/// vs      = value + acc
/// pg_advantage[t] = min(rho[t], clip_pg_rho) * (d[t] + k[t])
/// ```
///
/// With lambda 1, `d + k` is the familiar `reward[t] + discounts[t] * vs[t+1] - value[t]`; on policy, where every ratio is 1,
/// `pg_advantage` is the GAE advantage for any lambda. With a leak, each `min` becomes `min + leak * (rho - min)`. A ratio
/// counts as e^88 at most and as 0 below e^-87.
///
/// Errors: `Shape`; `Range` for a discount, a rate or a ceiling; `Value` for a number that is read and not finite; `Null` if
/// something is truncated without `final_value`. Outputs are untouched on error.
pub fn from_importance_weights(v: &VTrace<'_>, log_rho: &[f32], vs: &mut [f32], pg_advantage: &mut [f32]) -> Result {
    let out = Outputs { vs: Some(cells(vs)), pg_advantage: Some(cells(pg_advantage)), ..Outputs::default() };
    from_importance_weights_range(v, Some(log_rho), Columns::all(v.num_steps, v.num_envs)?, &out)
}

/// [`from_importance_weights`] for some environments: the arrays cover all environments, and only these columns are read or
/// written. The results do not depend on the split.
///
/// Without `log_rho`, the log-ratios are in `out.log_rho`, which may be the array of another output: the recursion then runs in
/// place. Errors: as there; `Shape` if the columns do not fit the arrays; `Null` if there is no log-ratio.
pub fn from_importance_weights_range(
    v: &VTrace<'_>,
    log_rho: Option<&[f32]>,
    columns: Columns,
    out: &Outputs<'_>,
) -> Result {
    check(v, columns, out)?;
    let what = "vtrace: a finite log_rho";
    let mut found = match (log_rho, out.log_rho) {
        (Some(given), _) => check_len("vtrace: log_rho [T, N] of length", given, columns.len()).err(),
        (None, Some(place)) => infinite(columns, place),
        (None, None) => return Err(Error::new(Kind::Null, "vtrace: log_rho is NULL.")),
    };
    if found.is_none() && !cpu::dispatch(Check { v, log_rho, columns }) {
        found = log_rho.and_then(|given| columns.check_finite(what, given).err()).or_else(|| culprit(v, columns));
    }
    if let Some(error) = found {
        return Err(error);
    }
    sweep(v, columns, log_rho, out.log_rho, out);
    Ok(())
}

/// An error for the first number that is not finite.
fn infinite(columns: Columns, place: &[Cell<f32>]) -> Option<Error> {
    let part = columns.joined();
    let mut rows = (0..part.num_steps()).filter_map(|t| part.row(place, t));
    let bad = rows.find_map(|row| row.iter().map(Cell::get).find(|x| !x.is_finite()))?;
    Some(Error::new(Kind::Value, "vtrace: a finite log_rho").given_f32(bad))
}

/// Writes the given [`Outputs`] from logits: log-probabilities of the actions by log-softmax, at least -1.7e38 each, their
/// difference as `log_rho`, and from it `vs` and `pg_advantage` as [`from_importance_weights`] does.
///
/// Errors: as there; `Shape` for A of 0; `Range` for an action; `Value` for a logit that is not finite.
pub fn from_logits(v: &VTrace<'_>, policies: &Policies<'_>, columns: Columns, out: &Outputs<'_>) -> Result {
    check(v, columns, out)?;
    let (len, a) = (columns.len(), policies.num_actions);
    Error::new(Kind::Shape, "vtrace: num_actions from 1 to 2^31 - 1")
        .given(a)
        .fail_if(a == 0 || a > i32::MAX as usize)?;
    let num_logits = len
        .checked_mul(a)
        .ok_or(Error::new(Kind::Overflow, "vtrace: [T, N, A] that fits the address space").given(a))?;
    check_len("vtrace: behavior_logits [T, N, A] of length", policies.behavior_logits, num_logits)?;
    check_len("vtrace: target_logits [T, N, A] of length", policies.target_logits, num_logits)?;
    check_len("vtrace: action [T, N] of length", policies.action, len)?;
    let fine = cpu::dispatch(Check { v, log_rho: None, columns }) && cpu::dispatch(CheckPolicies { policies, columns });
    let found = if fine { None } else { culprit(v, columns).or_else(|| culprit_of_policies(policies, columns)) };
    if let Some(error) = found {
        return Err(error);
    }
    // Log-ratios that are not wanted lie in an output that the recursion overwrites.
    let place = out.log_rho.or(out.pg_advantage).or(out.vs);
    cpu::dispatch(LogProbs { policies, columns, place, out });
    if out.vs.is_some() || out.pg_advantage.is_some() {
        sweep(v, columns, None, place, out);
    }
    Ok(())
}

/// Checks lengths and rates.
fn check(v: &VTrace<'_>, columns: Columns, out: &Outputs<'_>) -> Result {
    columns.check("vtrace: columns of [T, N] arrays of length", v.num_steps, v.num_envs)?;
    let len = columns.len();
    check_len("vtrace: discounts [T, N] of length", v.discounts, len)?;
    check_len("vtrace: reward [T, N] of length", v.reward, len)?;
    check_len("vtrace: value [T, N] of length", v.value, len)?;
    check_len("vtrace: bootstrap_value [N] of length", v.bootstrap_value, v.num_envs)?;
    check_some("vtrace: truncated [T, N] of length", &v.truncated, len)?;
    check_some("vtrace: final_value [T, N] of length", &v.final_value, len)?;
    check_some("vtrace: vs [T, N] of length", &out.vs, len)?;
    check_some("vtrace: pg_advantage [T, N] of length", &out.pg_advantage, len)?;
    check_some("vtrace: log_rho [T, N] of length", &out.log_rho, len)?;
    check_some("vtrace: behavior_log_prob [T, N] of length", &out.behavior_log_prob, len)?;
    check_some("vtrace: target_log_prob [T, N] of length", &out.target_log_prob, len)?;
    let ceilings = [
        ("vtrace: clip_rho above 0", v.rates.clip_rho),
        ("vtrace: clip_c above 0", v.rates.clip_c),
        ("vtrace: clip_pg_rho above 0", v.rates.clip_pg_rho),
    ];
    for (what, ceiling) in ceilings {
        Error::new(Kind::Value, what).given_f32(ceiling).fail_if(ceiling.is_nan())?;
        Error::new(Kind::Range, what).given_f32(ceiling).fail_if(ceiling <= 0.0)?;
    }
    check_rate("vtrace: td_lambda from 0 to 1", v.rates.td_lambda)?;
    check_rate("vtrace: leak from 0 to 1", v.rates.leak)
}

/// True if every number that the sweep will read, except log-ratios in place, is finite and in its range, and every final value
/// that is needed exists.
struct Check<'a> {
    v: &'a VTrace<'a>,
    log_rho: Option<&'a [f32]>,
    columns: Columns,
}

impl Kernel for Check<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (v, part) = (self.v, self.columns.turns());
        let mut flags = 0;
        for t in 0..part.num_steps() {
            let row = |x| part.row(x, t).unwrap_or(&[]);
            for discount in row(v.discounts) {
                flags |= (u32::from((*discount >= 0.0) & (*discount <= 1.0)) ^ 1) << 31;
            }
            if !(all_finite(row(v.reward)) & all_finite(row(v.value)) & all_finite(row(self.log_rho.unwrap_or(&[])))) {
                return false;
            }
        }
        for x in self.columns.part(v.bootstrap_value).unwrap_or(&[]) {
            flags |= overflowing(*x);
        }
        flags >> 31 == 0 && missing_final(v, self.columns).is_none()
    }
}

/// The first final value that is needed and not finite; infinity if there are no final values.
#[inline(never)]
fn missing_final(v: &VTrace<'_>, columns: Columns) -> Option<f32> {
    let (truncated, part) = (v.truncated?, columns.joined());
    for t in 0..part.num_steps() {
        let flags = part.row(truncated, t).unwrap_or(&[]);
        if flags.iter().fold(0, |any, x| any | x) == 0 {
            continue;
        }
        let discounts = part.row(v.discounts, t).unwrap_or(&[]);
        let mut needed = flags.iter().zip(discounts).map(|(flag, discount)| *flag != 0 && *discount != 0.0);
        let Some(finals) = v.final_value.and_then(|x| part.row(x, t)) else {
            match needed.any(|needed| needed) {
                true => return Some(f32::INFINITY),
                false => continue,
            }
        };
        let bad = needed.zip(finals).find(|(needed, x)| *needed && !x.is_finite());
        if let Some((_, x)) = bad {
            return Some(*x);
        }
    }
    None
}

/// Names the cause of a failed [`Check`].
#[cold]
fn culprit(v: &VTrace<'_>, columns: Columns) -> Option<Error> {
    let part = columns.joined();
    for row in (0..part.num_steps()).filter_map(|t| part.row(v.discounts, t)) {
        for discount in row {
            if let Err(error) = check_rate("vtrace: discounts from 0 to 1", *discount) {
                return Some(error);
            }
        }
    }
    let last = columns.part(v.bootstrap_value).unwrap_or(&[]);
    let found = columns
        .check_finite("vtrace: a finite reward", v.reward)
        .and_then(|()| columns.check_finite("vtrace: a finite value", v.value))
        .and_then(|()| crate::error::check_finite("vtrace: a finite bootstrap_value", last));
    if let Err(error) = found {
        return Some(error);
    }
    let x = missing_final(v, columns)?;
    Some(match v.final_value {
        None => Error::new(Kind::Null, "vtrace: final_value is NULL, but a step is truncated."),
        Some(_) => Error::new(Kind::Value, "vtrace: a finite final_value where truncated").given_f32(x),
    })
}

/// Runs the recursion. The log-ratios are in `given`, or else in `place`, which may be an output.
fn sweep(v: &VTrace<'_>, columns: Columns, given: Option<&[f32]>, place: Option<&[Cell<f32>]>, out: &Outputs<'_>) {
    match (v.accumulate, v.rates.leak > 0.0) {
        (Accumulate::F32, false) => {
            cpu::dispatch(Sweep::<f32, false, F32S> { v, columns, given, place, out, real: PhantomData });
        }
        (Accumulate::F32, true) => Sweep::<f32, true, F32S> { v, columns, given, place, out, real: PhantomData }.run(),
        (Accumulate::F64, _) => Sweep::<f64, true, F64S> { v, columns, given, place, out, real: PhantomData }.run(),
    }
}

/// Bytes of carried state per stripe, on the stack, which is small on small machines.
const CARRIED: usize = if cfg!(target_pointer_width = "64") { 8192 } else { 256 };

/// Groups of 16 environments per stripe, with f32 state and with f64 state.
const F32S: usize = CARRIED / size_of::<[f32; ROWS]>();
const F64S: usize = CARRIED / size_of::<[f64; ROWS]>();

/// The recursion in numbers of type `R`, with or without a leak, in stripes of `STRIPE` groups of 16.
struct Sweep<'a, R, const LEAKY: bool, const STRIPE: usize> {
    v: &'a VTrace<'a>,
    columns: Columns,
    given: Option<&'a [f32]>,
    place: Option<&'a [Cell<f32>]>,
    out: &'a Outputs<'a>,
    real: PhantomData<R>,
}

impl<R: Real, const LEAKY: bool, const STRIPE: usize> Kernel for Sweep<'_, R, LEAKY, STRIPE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut zeros = FiniteCheck::new();
        for at in (0..self.columns.width()).step_by(STRIPE * ROWS) {
            self.stripe(self.columns.stripe(at, STRIPE * ROWS), &mut zeros);
        }
        if !zeros.all_finite() {
            canonicalize_nan(self.columns, &[self.out.vs.unwrap_or(&[]), self.out.pg_advantage.unwrap_or(&[])]);
        }
    }
}

impl<R: Real, const LEAKY: bool, const STRIPE: usize> Sweep<'_, R, LEAKY, STRIPE> {
    #[inline(always)]
    fn stripe(&self, part: Columns, zeros: &mut FiniteCheck<ROWS>) -> Option<()> {
        let (v, len) = (self.v, part.len());
        // Equal lengths, so that one comparison checks the bounds of all arrays.
        let (discounts, reward) = (v.discounts.get(..len)?, v.reward.get(..len)?);
        let value = v.value.get(..len)?;
        let (whole, left) = (part.width() / ROWS, part.width() % ROWS);
        let mut carry = [[R::from(0.0); ROWS]; STRIPE];
        let mut next = part.part(v.bootstrap_value)?;
        for t in (0..part.num_steps()).rev() {
            let row = Row {
                discounts: part.row(discounts, t)?,
                reward: part.row(reward, t)?,
                value: part.row(value, t)?,
                next,
                truncated: v.truncated.and_then(|x| part.row(x, t)).unwrap_or(&[]),
                finals: v.final_value.and_then(|x| part.row(x, t)).unwrap_or(&[]),
                log_rho: self.given.and_then(|x| part.row(x, t)).unwrap_or(&[]),
                place: self.place.and_then(|x| part.row(x, t)).unwrap_or(&[]),
                vs: self.out.vs.and_then(|x| part.row(x, t)).unwrap_or(&[]),
                pg_advantage: self.out.pg_advantage.and_then(|x| part.row(x, t)).unwrap_or(&[]),
            };
            row.step::<R, LEAKY>(&v.rates, whole, &mut carry, zeros);
            if left > 0 {
                Padded::step::<R, LEAKY>(&row, &v.rates, whole, carry.get_mut(whole)?, zeros);
            }
            next = row.value;
        }
        Some(())
    }
}

/// One step of some environments.
struct Row<'r> {
    discounts: &'r [f32],
    reward: &'r [f32],
    value: &'r [f32],
    next: &'r [f32],
    /// Empty if nothing is truncated.
    truncated: &'r [u8],
    /// Empty if there are no final values.
    finals: &'r [f32],
    /// Empty if the log-ratios are in `place`.
    log_rho: &'r [f32],
    place: &'r [Cell<f32>],
    /// Empty if not wanted.
    vs: &'r [Cell<f32>],
    /// Empty if not wanted.
    pg_advantage: &'r [Cell<f32>],
}

impl Row<'_> {
    /// Takes the step for the first `count` groups of 16.
    #[inline(always)]
    fn step<R: Real, const LEAKY: bool>(
        &self,
        rates: &Rates,
        count: usize,
        carry: &mut [[R; ROWS]],
        zeros: &mut FiniteCheck<ROWS>,
    ) {
        let Rates { clip_rho, clip_c, clip_pg_rho, td_lambda, leak } = *rates;
        // Equal lengths, so that one comparison checks the bounds of all arrays.
        let (Some(discounts), Some(reward), Some(value), Some(next), Some(carry)) = (
            groups(self.discounts).get(..count),
            groups(self.reward).get(..count),
            groups(self.value).get(..count),
            groups(self.next).get(..count),
            carry.get_mut(..count),
        ) else {
            return;
        };
        let (truncated, finals) = (groups(self.truncated), groups(self.finals));
        let (vs, pg_advantage) = (groups(self.vs), groups(self.pg_advantage));
        let (log_rho, place) = (groups(self.log_rho), groups(self.place));
        let inputs = discounts.iter().zip(reward).zip(value).zip(next);
        for (g, ((((discount, reward), value), next), carry)) in inputs.zip(carry).enumerate() {
            let (discount, reward, value, mut next, mut carried) = (*discount, *reward, *value, *next, *carry);
            if let Some(flags) = truncated.get(g).filter(|flags| flags.iter().fold(0, |any, x| any | x) != 0) {
                // Where an episode was cut, the next value is its final value, and nothing is carried back.
                let finals = finals.get(g).copied().unwrap_or(next);
                for i in 0..ROWS {
                    let cut = flags[i] != 0;
                    next[i] = if cut & (discount[i] != 0.0) { finals[i] } else { next[i] };
                    carried[i] = if cut { R::from(0.0) } else { carried[i] };
                }
            }
            let mut rho = [0.0; ROWS];
            match (log_rho.get(g), place.get(g)) {
                (Some(given), _) => rho = *given,
                (None, Some(place)) => rho.iter_mut().zip(place).for_each(|(rho, x)| *rho = x.get()),
                (None, None) => return,
            }
            let (mut targets, mut advantages) = ([0.0; ROWS], [0.0; ROWS]);
            for i in 0..ROWS {
                let rho = num::exp_normal(rho[i]);
                let clipped = |ceiling: f32| {
                    let low = num::min(rho, ceiling);
                    R::from(if LEAKY { low + leak * (rho - low) } else { low })
                };
                let (discount, value) = (R::from(discount[i]), R::from(value[i]));
                let d = R::from(reward[i]) + discount * R::from(next[i]) - value;
                let decay = discount * R::from(td_lambda);
                advantages[i] = (clipped(clip_pg_rho) * (d + decay * carried[i])).narrow();
                carried[i] = clipped(clip_rho) * d + clipped(clip_c) * decay * carried[i];
                targets[i] = (value + carried[i]).narrow();
            }
            *carry = carried;
            zeros.see(&targets);
            zeros.see(&advantages);
            if let Some(to) = vs.get(g) {
                to.iter().zip(&targets).for_each(|(to, x)| to.set(*x));
            }
            if let Some(to) = pg_advantage.get(g) {
                to.iter().zip(&advantages).for_each(|(to, x)| to.set(*x));
            }
        }
    }
}

/// Whole groups of 16.
#[inline(always)]
fn groups<T>(row: &[T]) -> &[[T; ROWS]] {
    row.as_chunks().0
}

/// Fewer than 16 environments, padded to 16.
#[derive(Default)]
struct Padded {
    discounts: Lanes,
    reward: Lanes,
    value: Lanes,
    next: Lanes,
    truncated: [u8; ROWS],
    finals: Lanes,
    log_rho: Lanes,
    vs: [Cell<f32>; ROWS],
    pg_advantage: [Cell<f32>; ROWS],
}

impl Padded {
    /// Takes the step for the environments behind `whole` groups of 16.
    #[inline(never)]
    fn step<R: Real, const LEAKY: bool>(
        row: &Row<'_>,
        rates: &Rates,
        whole: usize,
        carry: &mut [R; ROWS],
        zeros: &mut FiniteCheck<ROWS>,
    ) {
        let at = whole.wrapping_mul(ROWS);
        let lanes = |x: &[f32]| load_lanes(x.get(at..).unwrap_or(&[]));
        let mut padded = Padded {
            discounts: lanes(row.discounts),
            reward: lanes(row.reward),
            value: lanes(row.value),
            next: lanes(row.next),
            truncated: load_lanes(row.truncated.get(at..).unwrap_or(&[])),
            finals: lanes(row.finals),
            log_rho: lanes(row.log_rho),
            ..Padded::default()
        };
        if let Some(place) = row.place.get(at..) {
            padded.log_rho.iter_mut().zip(place).for_each(|(to, from)| *to = from.get());
        }
        let here = Row {
            discounts: &padded.discounts,
            reward: &padded.reward,
            value: &padded.value,
            next: &padded.next,
            truncated: &padded.truncated,
            finals: &padded.finals,
            log_rho: &padded.log_rho,
            place: &[],
            vs: &padded.vs,
            pg_advantage: &padded.pg_advantage,
        };
        here.step::<R, LEAKY>(rates, 1, core::slice::from_mut(carry), zeros);
        copy(&padded.vs, row.vs.get(at..).unwrap_or(&[]));
        copy(&padded.pg_advantage, row.pg_advantage.get(at..).unwrap_or(&[]));
    }
}

fn copy(from: &[Cell<f32>], to: &[Cell<f32>]) {
    to.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
}

/// Elements `at..at + 16` of a row, with zeros behind its end.
#[inline(always)]
fn lanes<T: Copy + Default>(row: &[T], at: usize) -> [T; ROWS] {
    let rest = row.get(at..).unwrap_or(&[]);
    rest.first_chunk().copied().unwrap_or_else(|| load_lanes(rest))
}

/// Writes elements `at..at + 16` of a row, or as many as it has.
#[inline(always)]
fn write(row: &[Cell<f32>], at: usize, lanes: &Lanes) {
    let Some(rest) = row.get(at..).filter(|rest| !rest.is_empty()) else { return };
    match rest.first_chunk::<ROWS>() {
        Some(whole) => whole.iter().zip(lanes).for_each(|(to, x)| to.set(*x)),
        None => rest.iter().zip(lanes).for_each(|(to, x)| to.set(*x)),
    }
}

/// True if every logit is finite and every action is in range.
struct CheckPolicies<'a> {
    policies: &'a Policies<'a>,
    columns: Columns,
}

/// Logits of one policy that are checked before a turn of the other policy.
const BY_TURNS: usize = 4096;

/// The range of a `[T, N, width]` array, in as few contiguous runs as possible.
fn runs<T>(array: &[T], columns: Columns, width: usize) -> impl Iterator<Item = &[T]> {
    let part = columns.joined().wide(width);
    (0..part.num_steps()).map_while(move |t| part.row(array, t))
}

impl Kernel for CheckPolicies<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let CheckPolicies { policies: p, columns } = self;
        let (part, mut finite) = (columns.joined().wide(p.num_actions), true);
        for t in 0..part.num_steps() {
            let (b, t) = (part.row(p.behavior_logits, t).unwrap_or(&[]), part.row(p.target_logits, t).unwrap_or(&[]));
            // By turns, so that small batches of both are in the cache for the next pass.
            for (b, t) in b.chunks(BY_TURNS).zip(t.chunks(BY_TURNS)) {
                finite &= all_finite(b) & all_finite(t);
            }
        }
        for row in runs(p.action, columns, 1) {
            let mut beyond = 0;
            for a in row {
                beyond |= u32::from(*a as u32 as usize >= p.num_actions);
            }
            finite &= beyond == 0;
        }
        finite
    }
}

/// Names the cause of a failed [`CheckPolicies`].
#[cold]
fn culprit_of_policies(p: &Policies<'_>, columns: Columns) -> Option<Error> {
    let logits =
        [("vtrace: finite behavior_logits", p.behavior_logits), ("vtrace: finite target_logits", p.target_logits)];
    for (what, logits) in logits {
        for run in runs(logits, columns, p.num_actions) {
            if let Err(error) = check_finite(what, run) {
                return Some(error);
            }
        }
    }
    let bad = runs(p.action, columns, 1).flatten().find(|a| (**a as u32 as usize) >= p.num_actions)?;
    let what = "vtrace: an action from 0 to below";
    Some(Error::new(Kind::Range, what).needed(p.num_actions).given_i64((*bad).into()))
}

/// The first pass from logits: log-probabilities, and log-ratios in `place`.
struct LogProbs<'a> {
    policies: &'a Policies<'a>,
    columns: Columns,
    place: Option<&'a [Cell<f32>]>,
    out: &'a Outputs<'a>,
}

impl Kernel for LogProbs<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let LogProbs { policies: p, columns, place, out } = self;
        let part = columns.joined();
        let (a, mut tiles) = (p.num_actions, [Tile::new(), Tile::new()]);
        for t in (0..part.num_steps()).rev() {
            let cells = |x: Option<_>| x.and_then(|x| part.row(x, t)).unwrap_or(&[]);
            let (behavior, target) = (cells(out.behavior_log_prob), cells(out.target_log_prob));
            let (place, action) = (cells(place), part.row(p.action, t).unwrap_or(&[]));
            let wide = part.wide(a);
            let logits = |x| wide.row(x, t).unwrap_or(&[]);
            let (of_behavior, of_target) = (logits(p.behavior_logits), logits(p.target_logits));
            for at in (0..part.width()).step_by(ROWS) {
                let action = lanes(action, at);
                for line in (0..a.saturating_mul(ROWS).min(AHEAD)).step_by(LINE) {
                    let ahead = at.wrapping_add(ROWS).wrapping_mul(a).wrapping_add(line);
                    cpu::prefetch(of_behavior, ahead);
                    cpu::prefetch(of_target, ahead);
                }
                let at_logit = at.wrapping_mul(a);
                let rows = [of_behavior, of_target].map(|logits| logits.get(at_logit..).unwrap_or(&[]));
                let [b, t] = log_probs(rows, a, &action, &mut tiles);
                let mut log_rho = [0.0; ROWS];
                for i in 0..ROWS {
                    log_rho[i] = t[i] - b[i];
                }
                write(behavior, at, &b);
                write(target, at, &t);
                write(place, at, &log_rho);
            }
        }
    }
}

/// f32 numbers in a cache line.
const LINE: usize = 16;

/// Logits of each policy that are prefetched: more would evict each other from the nearest cache.
const AHEAD: usize = 64 * LINE;

/// Log-probabilities of one action in each of up to 16 rows of both policies, `[rows, a]`: -ln sum exp(x - x\[action\]),
/// without a search for the largest logit. `tiles` are scratch; both are filled before the first is read, which hides the store
/// latency.
#[inline(always)]
fn log_probs(rows: [&[f32]; 2], a: usize, action: &[i32; ROWS], tiles: &mut [Tile; 2]) -> [Lanes; 2] {
    let taken = rows.map(|rows| {
        let mut taken = [0.0; ROWS];
        for (i, (taken, action)) in taken.iter_mut().zip(action).enumerate() {
            *taken = rows.get(i.wrapping_mul(a).wrapping_add(*action as usize)).copied().unwrap_or(0.0);
        }
        taken
    });
    let mut sums = [[0.0; ROWS]; 2];
    for (begin, width) in parts(a) {
        for (tile, rows) in tiles.iter_mut().zip(rows) {
            tile.load(rows, a, begin, width);
        }
        for ((tile, taken), sum) in tiles.iter().zip(&taken).zip(&mut sums) {
            for logit in tile.0.iter().take(width) {
                for i in 0..ROWS {
                    sum[i] += num::exp2_normal((logit[i] - taken[i]) * core::f32::consts::LOG2_E);
                }
            }
        }
    }
    let mut log_probs = [[0.0; ROWS]; 2];
    for ((log_prob, sum), rows) in log_probs.iter_mut().zip(&sums).zip(rows) {
        for i in 0..ROWS {
            log_prob[i] = -num::ln(sum[i]);
        }
        if log_prob.iter().any(|x| *x < IMPROBABLE) {
            retake(rows, a, action, log_prob);
        }
    }
    log_probs
}

/// Log-probabilities below this are recomputed with the largest logit subtracted: the sum may have overflowed.
const IMPROBABLE: f32 = -80.0;

/// Recomputes log-probabilities below [`IMPROBABLE`], row by row.
#[cold]
#[inline(never)]
fn retake(rows: &[f32], a: usize, action: &[i32; ROWS], log_prob: &mut Lanes) {
    for (i, (log_prob, action)) in log_prob.iter_mut().zip(action).enumerate() {
        if *log_prob < IMPROBABLE {
            let row = rows.get(i.wrapping_mul(a)..).and_then(|rest| rest.get(..a)).unwrap_or(&[]);
            let max = row.iter().fold(f32::MIN, |max, x| num::max(*x, max));
            let sum = row.iter().fold(0.0, |sum, x| sum + num::exp_normal(x - max));
            let taken = row.get(*action as usize).copied().unwrap_or(max);
            // Finite for all logits, so that log-ratios are finite.
            *log_prob = num::max(taken - max - num::ln(sum), f32::MIN / 2.0);
        }
    }
}
