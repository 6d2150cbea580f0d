//! Losses of imitation: a network's outputs against actions, or probabilities of choices, that the host gives.

use crate::block;
use crate::error::{Error, Kind, Result, check_len};
use crate::learn::shape::Shape;
use crate::num;
use crate::space::Elements;

/// M rows to imitate. With recurrent layers they are the steps of sequences, all rows of one step before those of the next;
/// each sequence starts from a state of zeros.
#[derive(Clone, Copy, Debug)]
pub struct Imitation<'a> {
    /// M, at least 1.
    pub num_rows: usize,
    /// Steps of each sequence, which divide M. Networks without recurrent layers do not depend on them.
    pub num_steps: usize,
    /// `[M, obs_len]` observations, in the environment's form.
    pub obs: Elements<'a>,
    /// `[M, mask_len]` flags of the allowed choices; `None`: all are allowed.
    pub mask: Option<&'a [u8]>,
    /// `[M, action_len]` actions, in the environment's form; `None` only if actions have no continuous elements and `prob` is
    /// given.
    pub action: Option<Elements<'a>>,
    /// `[M, L]` probabilities of the choices of each element, in place of the choices in `action`.
    pub prob: Option<&'a [f32]>,
    /// `[M]` weights of the rows, at least 0; `None`: 1 for all.
    pub weight: Option<&'a [f32]>,
    /// `[M]` not 0: an episode begins with this row; empty: none begins within a sequence.
    pub reset: &'a [u8],
    /// The distance that Q of the given choice keeps from that of every other one; 0: 0.8. Of Q only.
    pub margin: f32,
    /// Standard deviations are learned too, not the means alone. Of policies with standard deviations only.
    pub fit_std: bool,
}

/// The margin of Q if none is given (DQfD, Hester et al. 2018).
pub const MARGIN: f32 = 0.8;

/// Numbers at their bounds count as this far from the middle to them, because tanh reaches 1 nowhere.
pub const EDGE: f32 = 0.999;

/// How far the sum of probabilities may be from 1.
const SLACK: f32 = 1e-3;

const HALF_LN_2_PI: f32 = 0.918_938_5;

/// The choices to imitate in one row.
#[derive(Clone, Copy)]
pub enum Target<'t> {
    /// `[K]` one of each element.
    Choice(&'t [i32]),
    /// `[L]` the probabilities of all.
    Prob(&'t [f32]),
}

impl Target<'_> {
    /// The probability of choice `k` of element `element`, whose choices begin at `begin`.
    fn prob(self, element: usize, begin: usize, k: usize) -> f32 {
        match self {
            Target::Choice(choice) => {
                let own = choice.get(element).is_some_and(|x| usize::try_from(*x) == Ok(k));
                f32::from(u8::from(own))
            }
            Target::Prob(prob) => prob.get(begin.saturating_add(k)).copied().unwrap_or(0.0),
        }
    }
}

impl Imitation<'_> {
    /// Checks the lengths of the arrays, and the numbers that do not depend on the policy. Errors: `Shape`; `Config`; `Value`.
    pub(super) fn check(&self, shape: &Shape) -> Result {
        let rows = self.num_rows;
        let refuse = |kind, what, if_so| Error::new(kind, what).fail_if(if_so);
        let steps = self.num_steps;
        Error::limit(Kind::Shape, "learner imitate: num_rows of at least", 1, 0).fail_if(rows == 0)?;
        let what = "learner imitate: num_steps that divide num_rows";
        Error::limit(Kind::Shape, what, rows, steps)
            .fail_if(steps == 0 || rows.checked_rem(steps).is_none_or(|rest| rest != 0))?;
        let choices = shape.choices_len();
        refuse(Kind::Shape, "learner imitate: prob of actions that have choices", choices == 0 && self.prob.is_some())?;
        let needs = self.prob.is_none() || shape.std_len() > 0;
        refuse(Kind::Null, "learner imitate: action", needs && self.action.is_none())?;
        if let Some(prob) = self.prob {
            check_len("learner imitate: prob [M, L] of length", prob, rows.saturating_mul(choices))?;
        }
        if let Some(weight) = self.weight {
            check_len("learner imitate: weight [M] of length", weight, rows)?;
            let wrong = weight.iter().enumerate().find(|(_, x)| !(0.0..=f32::MAX).contains(*x));
            if let Some((row, &x)) = wrong {
                let what = "learner imitate: finite weights of at least 0";
                return Err(Error::new(Kind::Value, what).given_f32(x).in_row(row));
            }
        }
        if !self.reset.is_empty() {
            check_len("learner imitate: reset [M] of length", self.reset, rows)?;
        }
        let fits = (0.0..=f32::MAX).contains(&self.margin);
        let what = "learner imitate: a finite margin of at least 0";
        Error::new(Kind::Config, what).given_f32(self.margin).fail_if(!fits)
    }

    /// Checks the probabilities of one row, `n` choices of each element. Errors: `Value`.
    pub(super) fn check_prob(&self, n: &[u32], row: usize, mask: Option<&[u8]>) -> Result {
        let Some(prob) = self.prob else { return Ok(()) };
        let len = n.iter().fold(0usize, |sum, n| sum.saturating_add(*n as usize));
        let own = block::rows(prob, row, 1, len)?;
        let what =
            "learner imitate: probabilities from 0 to 1, with sum 1 for each element, and 0 where action_mask forbids";
        let refused = |x: f32| Error::new(Kind::Value, what).given_f32(x).in_row(row);
        let allowed = |at: usize| mask.is_none_or(|mask| mask.get(at) != Some(&0));
        for (at, x) in own.iter().enumerate() {
            refused(*x).fail_if(!(0.0..=1.0).contains(x) || *x > 0.0 && !allowed(at))?;
        }
        let mut rest = own.iter();
        for n in n {
            let sum: f32 = rest.by_ref().take(*n as usize).sum();
            refused(sum).fail_if((sum - 1.0).abs() > SLACK)?;
        }
        Ok(())
    }

    /// The weight of a row's loss in the mean over all rows.
    pub(super) fn share(&self, row: usize) -> f32 {
        let weight = self.weight.and_then(|all| all.get(row)).copied().unwrap_or(1.0);
        weight / self.num_rows as f32
    }

    /// The choices to imitate in a row; `choice` has those of its action.
    pub(super) fn target<'t>(&'t self, row: usize, len: usize, choice: &'t [i32]) -> Target<'t> {
        match self.prob.map(|prob| block::rows(prob, row, 1, len)) {
            Some(Ok(prob)) => Target::Prob(prob),
            _ => Target::Choice(choice),
        }
    }
}

/// The divergence of a policy from the target in one row, summed over the elements of an action: the cross-entropy, less the
/// target's entropy. `own` has the log-probabilities of the choices, and is replaced by the gradient of `weight` times the
/// loss with respect to logits.
pub fn cross_entropy(n: &[u32], target: Target<'_>, weight: f32, own: &mut [f32]) -> f64 {
    let (mut cost, mut begin) = (0.0f64, 0usize);
    let mut rest = own;
    for (element, &n) in n.iter().enumerate() {
        let Some((own, after)) = rest.split_at_mut_checked(n as usize) else { break };
        rest = after;
        let mut sum = 0.0;
        for (k, log_prob) in own.iter().enumerate() {
            let p = target.prob(element, begin, k);
            if p > 0.0 {
                cost += f64::from(p * (num::ln(p) - *log_prob));
            }
            sum += p;
        }
        for (k, x) in own.iter_mut().enumerate() {
            *x = num::canonical(weight * (num::exp(*x) * sum - target.prob(element, begin, k)));
        }
        begin = begin.saturating_add(n as usize);
    }
    cost
}

/// Minus the logarithm of a normal density at `raw`, summed over the elements. Writes the gradients of `weight` times it with
/// respect to the mean, and those with respect to the logarithm of the deviation, which is clamped to `limits`, beyond which
/// its gradient is 0.
pub fn normal(
    (low, high): (f32, f32),
    mean: &[f32],
    log_std: &[f32],
    raw: &[f32],
    weight: f32,
    d_mean: &mut [f32],
    d_log_std: &mut [f32],
) -> f64 {
    let mut cost = 0.0f64;
    let own = mean.iter().zip(log_std).zip(raw);
    for (((mean, log_std), raw), (d_mean, d_log_std)) in own.zip(d_mean.iter_mut().zip(d_log_std)) {
        let clamped = num::clamp(*log_std, low, high);
        let precision = num::exp(-clamped);
        let z = (raw - mean) * precision;
        cost += f64::from(0.5 * z * z + (clamped + HALF_LN_2_PI));
        *d_mean = num::canonical(-weight * z * precision);
        let free = *log_std >= low && *log_std <= high;
        *d_log_std = if free { num::canonical(weight * (1.0 - z * z)) } else { 0.0 };
    }
    cost
}

/// The squared distance of tanh of the outputs from an action, summed over the elements, and the gradient of `weight` times it.
pub fn squared(mean: &[f32], action: &[f32], weight: f32, d_mean: &mut [f32]) -> f64 {
    let mut cost = 0.0f64;
    for ((mean, action), d_mean) in mean.iter().zip(action).zip(d_mean) {
        let own = num::tanh(*mean);
        let error = own - action;
        cost += f64::from(error * error);
        *d_mean = num::canonical(2.0 * weight * error * (1.0 - own * own));
    }
    cost
}

/// The large-margin loss of Q in one row, the mean over the elements: by how much the best other choice that the mask allows,
/// plus the margin, exceeds the target's choice; with probabilities their mean of it. Writes the gradient of `weight` times it
/// with respect to Q; of equal choices the first one counts as the best.
pub fn margin(
    n: &[u32],
    q: &[f32],
    mask: Option<&[u8]>,
    target: Target<'_>,
    (margin, weight): (f32, f32),
    d_q: &mut [f32],
) -> f64 {
    let share = weight / n.len() as f32;
    let (mut cost, mut begin) = (0.0f64, 0usize);
    d_q.fill(0.0);
    for (element, &n) in n.iter().enumerate() {
        let count = n as usize;
        let allowed = |k: usize| mask.is_none_or(|mask| mask.get(begin.saturating_add(k)) != Some(&0));
        let own = |k: usize| q.get(begin.saturating_add(k)).copied().unwrap_or(0.0);
        // The two best choices: one of them is the best other one of any choice.
        let (mut best, mut second) = (None, None);
        for k in (0..count).filter(|k| allowed(*k)) {
            if best.is_none_or(|best| own(k) > own(best)) {
                (best, second) = (Some(k), best);
            } else if second.is_none_or(|second| own(k) > own(second)) {
                second = Some(k);
            }
        }
        for k in 0..count {
            let p = target.prob(element, begin, k);
            let other = if best == Some(k) { second } else { best };
            let Some(other) = other.filter(|_| p > 0.0) else { continue };
            let excess = own(other) + margin - own(k);
            if excess > 0.0 {
                cost += f64::from(p * excess);
                for (at, by) in [(other, p * share), (k, -p * share)] {
                    if let Some(d_q) = d_q.get_mut(begin.saturating_add(at)) {
                        *d_q = num::canonical(*d_q + by);
                    }
                }
            }
        }
        begin = begin.saturating_add(count);
    }
    cost / n.len() as f64
}

/// Numbers of a squashed action, from -1 to 1, before tanh.
pub fn unsquash(action: &mut [f32]) {
    for x in action {
        let near = num::clamp(*x, -EDGE, EDGE);
        *x = 0.5 * (num::ln(1.0 + near) - num::ln(1.0 - near));
    }
}
