//! Categorical policies over batches of logits: log-probabilities, entropy, sampling and gradients.
//!
//! A row of logits may hold several choices one after another (MultiDiscrete): their log-probabilities and entropies add.
//! Sixteen rows are processed at once; sums along a row run from the first choice to the last, so a row gives the same bits
//! alone as in a batch.

use super::finite::{check_finite, check_one};
use super::tile::{Lanes, ROWS, Tile, load_column, load_lanes, parts, store_column, store_lanes};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// A batch of categorical distributions. L is the sum of `n`.
///
/// ```
/// use rlcore::kernels::categorical::{self, Logits};
///
/// # fn main() -> rlcore::error::Result {
/// // One row of one choice among three, of which the last is forbidden.
/// let batch = Logits { num_rows: 1, n: &[3], logits: &[0.0, 0.0, 5.0], mask: Some(&[1, 1, 0]) };
/// let (mut log_prob, mut entropy) = ([0.0], [0.0]);
/// categorical::evaluate(&batch, &[1], &mut log_prob, &mut entropy)?;
/// assert!((log_prob[0] + 0.6931).abs() < 1e-4 && (entropy[0] - 0.6931).abs() < 1e-4);
/// assert!(categorical::log_prob(&batch, &[2], &mut log_prob).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a> {
    /// B, at least 1.
    pub num_rows: usize,
    /// `[K]` numbers of options per choice, each at least 1: one choice is Discrete, more are MultiDiscrete.
    pub n: &'a [u32],
    /// `[B, L]` finite logits, the first choice first.
    pub logits: &'a [f32],
    /// `[B, L]` 0 forbids an option; each choice needs one that is allowed. `None` allows all.
    pub mask: Option<&'a [u8]>,
}

/// How actions are drawn. All but `Basic` are for demonstrations: training needs draws from the policy itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// From the distribution.
    Basic,
    /// The most probable, the first of equals.
    Greedy,
    /// From the softmax of the log-probabilities divided by this number, which is above 0.
    Temperature(f32),
    /// From the k most probable, at least 1; of equals the first.
    TopK(u32),
    /// From the k least probable of those allowed, at least 1; of equals the first.
    BottomK(u32),
}

/// Writes the log-probability of every option, `[B, L]`: negative infinity where it is forbidden.
///
/// Errors, here and below: `Shape`; `Range` for an action that is out of range or forbidden; `Value` for a number that is not
/// finite, or a choice with nothing allowed. Outputs are untouched on error.
pub fn log_softmax(batch: &Logits<'_>, out: &mut [f32]) -> Result {
    let stride = check(batch)?;
    check_len("categorical: log-probabilities [B, L] of length", out, batch.logits.len())?;
    for_each_choice(batch, stride, &mut |choice, first, _| {
        let softmax = cpu::dispatch(Normalise(choice));
        let Some(rows) = out.get_mut(first.wrapping_mul(stride)..) else { return };
        for (begin, width) in parts(choice.n) {
            let at = choice.begin.wrapping_add(begin);
            let mut tile = Tile::new();
            for (logit, out) in choice.columns(begin, width).iter().zip(&mut tile.0) {
                for i in 0..ROWS {
                    out[i] = logit[i] - softmax.max[i] - softmax.log_sum[i];
                }
            }
            tile.store(rows, stride, at, width);
        }
    });
    Ok(())
}

/// Writes the log-probability of each row's actions, `[B]`. `action` is `[B, K]`.
pub fn log_prob(batch: &Logits<'_>, action: &[i32], log_prob: &mut [f32]) -> Result {
    let stride = check(batch)?;
    check_action(batch, stride, action)?;
    check_len("categorical: log_prob [B] of length", log_prob, batch.num_rows)?;
    run(batch, stride, action, log_prob, &mut []);
    Ok(())
}

/// Writes each row's entropy in nats, `[B]`.
pub fn entropy(batch: &Logits<'_>, entropy: &mut [f32]) -> Result {
    let stride = check(batch)?;
    check_len("categorical: entropy [B] of length", entropy, batch.num_rows)?;
    run(batch, stride, &[], &mut [], entropy);
    Ok(())
}

/// [`log_prob`] and [`entropy`] in one pass.
pub fn evaluate(batch: &Logits<'_>, action: &[i32], log_prob: &mut [f32], entropy: &mut [f32]) -> Result {
    let stride = check(batch)?;
    check_action(batch, stride, action)?;
    check_len("categorical: log_prob [B] of length", log_prob, batch.num_rows)?;
    check_len("categorical: entropy [B] of length", entropy, batch.num_rows)?;
    run(batch, stride, action, log_prob, entropy);
    Ok(())
}

/// Writes the gradient of a loss with respect to the logits, `[B, L]`, from its gradients with respect to each row's
/// log-probability and entropy, `[B]` each.
pub fn gradient(
    batch: &Logits<'_>,
    action: &[i32],
    log_prob_grad: &[f32],
    entropy_grad: &[f32],
    logits_grad: &mut [f32],
) -> Result {
    let stride = check(batch)?;
    check_action(batch, stride, action)?;
    check_len("categorical: log_prob_grad [B] of length", log_prob_grad, batch.num_rows)?;
    check_len("categorical: entropy_grad [B] of length", entropy_grad, batch.num_rows)?;
    check_len("categorical: logits_grad [B, L] of length", logits_grad, batch.logits.len())?;
    check_finite("categorical: a finite log_prob_grad", log_prob_grad)?;
    check_finite("categorical: a finite entropy_grad", entropy_grad)?;
    let num_choices = batch.n.len();
    for_each_choice(batch, stride, &mut |choice, first, k| {
        let softmax = cpu::dispatch(Normalise(choice));
        let actions = action.get(first.wrapping_mul(num_choices)..).unwrap_or(&[]);
        cpu::dispatch(Gradient {
            choice,
            softmax: &softmax,
            action: load_column(actions, num_choices, k),
            log_prob_grad: load_lanes(log_prob_grad.get(first..).unwrap_or(&[])),
            entropy_grad: load_lanes(entropy_grad.get(first..).unwrap_or(&[])),
            rows: logits_grad.get_mut(first.wrapping_mul(stride)..).unwrap_or(&mut []),
        });
    });
    Ok(())
}

/// Draws actions, `[B, K]`: the smallest j whose cumulative probability is above the uniform number, or the last with a nonzero
/// probability. `uniform` is `[B, K]` in [0, 1], where 1 means just below it; for `Greedy` it is not used and may be empty.
pub fn sample(batch: &Logits<'_>, sampling: Sampling, uniform: &[f32], action: &mut [i32]) -> Result {
    let stride = check(batch)?;
    let num_actions = batch.num_rows.saturating_mul(batch.n.len());
    check_len("categorical: action [B, K] of length", action, num_actions)?;
    if sampling != Sampling::Greedy || !uniform.is_empty() {
        check_len("categorical: uniform [B, K] of length", uniform, num_actions)?;
        if let Some(u) = uniform.iter().find(|u| !(0.0..=1.0).contains(*u)) {
            return Err(Error::new(Kind::Value, "categorical: uniform from 0 to 1").given_f32(*u));
        }
    }
    match sampling {
        Sampling::Basic => draw(batch, stride, 1.0, uniform, action),
        Sampling::Temperature(temperature) => {
            check_one("categorical: a finite temperature", temperature)?;
            Error::new(Kind::Range, "categorical: temperature above 0")
                .given_f32(temperature)
                .fail_if(temperature <= 0.0)?;
            draw(batch, stride, temperature, uniform, action);
        }
        Sampling::Greedy => take_best(batch, stride, action),
        Sampling::TopK(0) | Sampling::BottomK(0) => {
            return Err(Error::limit(Kind::Range, "categorical: k of at least", 1, 0));
        }
        Sampling::TopK(k) => sample_ranked(batch, stride, k, 1.0, uniform, action),
        Sampling::BottomK(k) => sample_ranked(batch, stride, k, -1.0, uniform, action),
    }
    Ok(())
}

/// Takes the most probable actions, `[B, K]`, the first of equals: [`sample`] with [`Sampling::Greedy`].
pub fn greedy(batch: &Logits<'_>, action: &mut [i32]) -> Result {
    let stride = check(batch)?;
    check_len("categorical: action [B, K] of length", action, batch.num_rows.saturating_mul(batch.n.len()))?;
    take_best(batch, stride, action);
    Ok(())
}

/// Checks everything but actions; returns L.
fn check(batch: &Logits<'_>) -> Result<usize> {
    Error::limit(Kind::Shape, "categorical: rows of at least", 1, 0).fail_if(batch.num_rows == 0)?;
    Error::limit(Kind::Shape, "categorical: choices of at least", 1, 0).fail_if(batch.n.is_empty())?;
    let mut stride = 0usize;
    for n in batch.n {
        Error::limit(Kind::Range, "categorical: n from 1 to", i32::MAX as usize, *n as usize)
            .fail_if(*n == 0 || *n > i32::MAX as u32)?;
        stride = stride.checked_add(*n as usize).ok_or(TOO_LARGE)?;
    }
    let len = batch.num_rows.checked_mul(stride).ok_or(TOO_LARGE)?;
    check_len("categorical: logits [B, L] of length", batch.logits, len)?;
    check_finite("categorical: a finite logit", batch.logits)?;
    if let Some(mask) = batch.mask {
        check_len("categorical: mask [B, L] of length", mask, len)?;
        let mut rest = mask;
        while !rest.is_empty() {
            for n in batch.n {
                let (choice, after) = rest.split_at_checked(*n as usize).unwrap_or((&[], &[]));
                Error::new(Kind::Value, "categorical: the mask must allow at least one option of each choice.")
                    .fail_if(choice.iter().fold(0, |any, x| any | x) == 0)?;
                rest = after;
            }
        }
    }
    Ok(stride)
}

const TOO_LARGE: Error = Error::new(Kind::Overflow, "categorical: [B, L] that fits the address space");

fn check_action(batch: &Logits<'_>, stride: usize, action: &[i32]) -> Result {
    check_len("categorical: action [B, K] of length", action, batch.num_rows.saturating_mul(batch.n.len()))?;
    let mut rest = action;
    let mut row = 0usize;
    while !rest.is_empty() {
        let mut begin = row.saturating_mul(stride);
        let (actions, after) = rest.split_at_checked(batch.n.len()).unwrap_or((rest, &[]));
        for (a, n) in actions.iter().zip(batch.n) {
            Error::new(Kind::Range, "categorical: an action from 0 to below")
                .needed(*n as usize)
                .given_i64(i64::from(*a))
                .fail_if(*a < 0 || *a as u32 >= *n)?;
            Error::new(Kind::Range, "categorical: an action that the mask allows")
                .given_i64((*a).into())
                .fail_if(batch.mask.is_some_and(|mask| mask.get(begin.saturating_add(*a as usize)) == Some(&0)))?;
            begin = begin.saturating_add(*n as usize);
        }
        rest = after;
        row = row.saturating_add(1);
    }
    Ok(())
}

/// One choice of 16 rows.
struct Choice<'a> {
    /// `[up to 16, stride]`
    rows: &'a [f32],
    mask: Option<&'a [u8]>,
    stride: usize,
    /// Its first column.
    begin: usize,
    /// Its number of columns.
    n: usize,
    tile: Tile,
    /// The whole choice is in the tile.
    loaded: bool,
}

/// Calls `each` for every choice of every 16 rows of the batch, with the indices of the first row and of the choice.
fn for_each_choice<'a>(batch: &Logits<'a>, stride: usize, each: &mut dyn FnMut(&mut Choice<'a>, usize, usize)) {
    let size = stride.saturating_mul(ROWS);
    if size == 0 {
        return;
    }
    let mut choice = Choice { rows: &[], mask: None, stride, begin: 0, n: 0, tile: Tile::new(), loaded: false };
    for (i, rows) in batch.logits.chunks(size).enumerate() {
        choice.rows = rows;
        choice.mask = batch.mask.and_then(|mask| mask.get(i.wrapping_mul(size)..));
        choice.begin = 0;
        for (k, n) in batch.n.iter().enumerate() {
            (choice.n, choice.loaded) = (*n as usize, false);
            each(&mut choice, i.wrapping_mul(ROWS), k);
            choice.begin = choice.begin.wrapping_add(choice.n);
        }
    }
}

impl Choice<'_> {
    /// Columns `begin..begin + width` of this choice, -inf where forbidden.
    #[inline(always)]
    fn columns(&mut self, begin: usize, width: usize) -> &[Lanes] {
        if !self.loaded {
            let at = self.begin.wrapping_add(begin);
            self.tile.load(self.rows, self.stride, at, width);
            if let Some(mask) = self.mask {
                self.tile.forbid(mask, self.stride, at, width);
            }
            self.loaded = width == self.n;
        }
        self.tile.0.get(..width).unwrap_or(&[])
    }

    #[inline(always)]
    fn max(&mut self) -> Lanes {
        let mut max = [f32::NEG_INFINITY; ROWS];
        for (begin, width) in parts(self.n) {
            for logit in self.columns(begin, width) {
                for i in 0..ROWS {
                    max[i] = num::max(logit[i], max[i]);
                }
            }
        }
        max
    }
}

/// Of each row: its largest logit, the sum of exp(logit - max) and its logarithm, and the entropy.
struct Softmax {
    max: Lanes,
    sum: Lanes,
    log_sum: Lanes,
    entropy: Lanes,
}

struct Normalise<'c, 'a>(&'c mut Choice<'a>);

impl Kernel for Normalise<'_, '_> {
    type Output = Softmax;

    /// H = -sum p log p = log sum - sum p (logit - max).
    #[inline(always)]
    fn run(self) -> Softmax {
        let choice = self.0;
        let max = choice.max();
        let (mut sum, mut weighted) = ([0.0; ROWS], [0.0; ROWS]);
        for (begin, width) in parts(choice.n) {
            for logit in choice.columns(begin, width) {
                for i in 0..ROWS {
                    let z = logit[i] - max[i];
                    let e = num::exp(z);
                    sum[i] += e;
                    weighted[i] += if e > 0.0 { e * z } else { 0.0 };
                }
            }
        }
        let log_sum = sum.map(num::ln);
        let mut entropy = [0.0; ROWS];
        for i in 0..ROWS {
            entropy[i] = log_sum[i] - weighted[i] / sum[i];
        }
        Softmax { max, sum, log_sum, entropy }
    }
}

/// Writes log-probabilities and entropies, each `[B]` or empty if not wanted.
fn run(batch: &Logits<'_>, stride: usize, action: &[i32], log_prob: &mut [f32], entropy: &mut [f32]) {
    let num_choices = batch.n.len();
    for_each_choice(batch, stride, &mut |choice, first, k| {
        let softmax = cpu::dispatch(Normalise(choice));
        if let Some(entropy) = entropy.get_mut(first..).filter(|x| !x.is_empty()) {
            add(entropy, k, &softmax.entropy);
        }
        if let Some(log_prob) = log_prob.get_mut(first..).filter(|x| !x.is_empty()) {
            let actions = action.get(first.wrapping_mul(num_choices)..).unwrap_or(&[]);
            let action = load_column(actions, num_choices, k);
            let mut taken = [0.0; ROWS];
            for (begin, width) in parts(choice.n) {
                for (j, logit) in choice.columns(begin, width).iter().enumerate() {
                    let j = begin.wrapping_add(j) as i32;
                    for i in 0..ROWS {
                        taken[i] = if action[i] == j { logit[i] } else { taken[i] };
                    }
                }
            }
            let mut logs = [0.0; ROWS];
            for i in 0..ROWS {
                logs[i] = taken[i] - softmax.max[i] - softmax.log_sum[i];
            }
            add(log_prob, k, &logs);
        }
    });
}

/// Adds choice number `k` of 16 rows to the sums of their choices.
fn add(sums: &mut [f32], k: usize, lanes: &Lanes) {
    let mut sum = if k == 0 { [0.0; ROWS] } else { load_lanes(sums) };
    for i in 0..ROWS {
        sum[i] += lanes[i];
    }
    store_lanes(sums, &sum);
}

/// One choice of 16 rows: d log p(a) / d logit j = (1 if j = a else 0) - p(j);  d H / d logit j = -p(j) (log p(j) + H).
struct Gradient<'c, 'a> {
    choice: &'c mut Choice<'a>,
    softmax: &'c Softmax,
    action: [i32; ROWS],
    log_prob_grad: Lanes,
    entropy_grad: Lanes,
    /// `[up to 16 and more, stride]`
    rows: &'c mut [f32],
}

impl Kernel for Gradient<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Gradient { choice, softmax, action, log_prob_grad, entropy_grad, rows } = self;
        for (begin, width) in parts(choice.n) {
            let (at, stride) = (choice.begin.wrapping_add(begin), choice.stride);
            let mut tile = Tile::new();
            for (j, (logit, out)) in choice.columns(begin, width).iter().zip(&mut tile.0).enumerate() {
                let j = begin.wrapping_add(j) as i32;
                for i in 0..ROWS {
                    let z = logit[i] - softmax.max[i];
                    let p = num::exp(z) / softmax.sum[i];
                    let taken = if action[i] == j { 1.0 } else { 0.0 };
                    let spread = if p > 0.0 { p * (z - softmax.log_sum[i] + softmax.entropy[i]) } else { 0.0 };
                    out[i] = log_prob_grad[i] * (taken - p) - entropy_grad[i] * spread;
                }
            }
            tile.store(rows, stride, at, width);
        }
    }
}

fn draw(batch: &Logits<'_>, stride: usize, temperature: f32, uniform: &[f32], action: &mut [i32]) {
    let num_choices = batch.n.len();
    for_each_choice(batch, stride, &mut |choice, first, k| {
        let at = first.wrapping_mul(num_choices);
        let uniform = load_column(uniform.get(at..).unwrap_or(&[]), num_choices, k);
        let drawn = cpu::dispatch(Draw { choice, temperature, uniform });
        store_column(action.get_mut(at..).unwrap_or(&mut []), num_choices, k, &drawn);
    });
}

/// One choice of 16 rows.
struct Draw<'c, 'a> {
    choice: &'c mut Choice<'a>,
    temperature: f32,
    uniform: Lanes,
}

impl Kernel for Draw<'_, '_> {
    type Output = [i32; ROWS];

    #[inline(always)]
    fn run(self) -> [i32; ROWS] {
        let Draw { choice, temperature, uniform } = self;
        let max = choice.max();
        let mut sum = [0.0; ROWS];
        for (begin, width) in parts(choice.n) {
            for logit in choice.columns(begin, width) {
                for i in 0..ROWS {
                    sum[i] += num::exp((logit[i] - max[i]) / temperature);
                }
            }
        }
        let mut threshold = uniform;
        for i in 0..ROWS {
            threshold[i] *= sum[i];
        }
        let (mut cumulative, mut drawn, mut last) = ([0.0; ROWS], [-1; ROWS], [0; ROWS]);
        for (begin, width) in parts(choice.n) {
            for (j, logit) in choice.columns(begin, width).iter().enumerate() {
                let j = begin.wrapping_add(j) as i32;
                for i in 0..ROWS {
                    let e = num::exp((logit[i] - max[i]) / temperature);
                    cumulative[i] += e;
                    last[i] = if e > 0.0 { j } else { last[i] };
                    drawn[i] = if (drawn[i] < 0) & (cumulative[i] > threshold[i]) { j } else { drawn[i] };
                }
            }
        }
        for i in 0..ROWS {
            drawn[i] = if drawn[i] < 0 { last[i] } else { drawn[i] };
        }
        drawn
    }
}

/// Writes the action that `take` selects for each choice from its logits and its mask, which is empty where all is allowed. Row
/// by row: transposing a batch would take longer than it saves.
fn take_each(batch: &Logits<'_>, stride: usize, action: &mut [i32], mut take: impl FnMut(&[f32], &[u8]) -> i32) {
    let mut actions = action.iter_mut();
    for row in 0..batch.num_rows {
        let mut begin = row.saturating_mul(stride);
        for n in batch.n {
            let range = begin..begin.saturating_add(*n as usize);
            begin = range.end;
            let (Some(logits), Some(action)) = (batch.logits.get(range.clone()), actions.next()) else { return };
            *action = take(logits, batch.mask.and_then(|mask| mask.get(range)).unwrap_or(&[]));
        }
    }
}

/// The largest logit of each choice.
fn take_best(batch: &Logits<'_>, stride: usize, action: &mut [i32]) {
    take_each(batch, stride, action, |logits, mask| {
        let (mut max, mut best) = (f32::NEG_INFINITY, 0);
        for (j, logit) in logits.iter().enumerate() {
            if *logit > max && mask.get(j) != Some(&0) {
                (max, best) = (*logit, j as i32);
            }
        }
        best
    });
}

/// Draws from the k best of each choice, where a larger logit times `sign` is better. Quadratic in the number of options: needs
/// no scratch memory, and training does not use it.
fn sample_ranked(batch: &Logits<'_>, stride: usize, k: u32, sign: f32, uniform: &[f32], action: &mut [i32]) {
    let mut uniform = uniform.iter();
    take_each(batch, stride, action, |logits, mask| {
        draw_ranked(logits, mask, k, sign, uniform.next().copied().unwrap_or(0.0))
    });
}

/// `mask` is empty where all is allowed.
fn draw_ranked(logits: &[f32], mask: &[u8], k: u32, sign: f32, uniform: f32) -> i32 {
    let allowed = |j: usize| mask.get(j) != Some(&0);
    let kept = |j: usize, x: f32| {
        let better = |(i, y): (usize, &f32)| allowed(i) && (sign * y > sign * x || (*y == x && i < j));
        allowed(j) && logits.iter().enumerate().filter(|x| better(*x)).count() < k as usize
    };
    let mut max = f32::NEG_INFINITY;
    for (j, x) in logits.iter().enumerate() {
        max = if kept(j, *x) { num::max(*x, max) } else { max };
    }
    let mut sum = 0.0;
    for (j, x) in logits.iter().enumerate() {
        sum += if kept(j, *x) { num::exp(x - max) } else { 0.0 };
    }
    let threshold = uniform * sum;
    let (mut cumulative, mut last) = (0.0, 0);
    for (j, x) in logits.iter().enumerate() {
        let e = if kept(j, *x) { num::exp(x - max) } else { 0.0 };
        cumulative += e;
        if e > 0.0 {
            last = j as i32;
        }
        if cumulative > threshold {
            return j as i32;
        }
    }
    last
}
