//! The form of a choice's value in the network outputs: its mean, Q, or the distribution of returns, by quantiles (QR-DQN,
//! Dabney et al. 2018) or by the probabilities of atoms (C51, Bellemare et al. 2017).

use crate::num;

/// The meaning of the outputs for a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueHead {
    /// Q.
    Mean,
    /// This many quantiles, whose mean is Q.
    Quantiles(u32),
    /// Logits of atoms.
    Atoms(Atoms),
}

/// The returns that a distribution supports, evenly spaced, including both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atoms {
    /// Number of atoms, at least 2.
    pub num: u32,
    /// The lowest atom.
    pub low: f32,
    /// The highest atom.
    pub high: f32,
}

/// The loss of a value, and its distance from the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The loss.
    pub cost: f32,
    /// Q.
    pub mean: f32,
    /// The error for priorities: Q minus the target's Q, or with atoms the Kullback-Leibler divergence.
    pub error: f32,
}

impl ValueHead {
    /// Outputs of a choice.
    pub fn width(&self) -> usize {
        match *self {
            ValueHead::Mean => 1,
            ValueHead::Quantiles(num) => num.max(1) as usize,
            ValueHead::Atoms(atoms) => atoms.num.max(1) as usize,
        }
    }

    /// Whether the output is Q itself.
    pub fn is_mean(&self) -> bool {
        *self == ValueHead::Mean
    }

    /// Q from the outputs of a choice.
    pub fn mean(&self, own: &[f32]) -> f32 {
        match self {
            ValueHead::Mean => own.first().copied().unwrap_or(0.0),
            ValueHead::Quantiles(_) => mean(own),
            ValueHead::Atoms(atoms) => atoms.mean(own),
        }
    }

    /// Q of each of these choices.
    pub fn means(&self, numbers: &[f32], q: &mut [f32]) {
        q.iter_mut().zip(numbers.chunks_exact(self.width().max(1))).for_each(|(q, own)| *q = self.mean(own));
    }

    /// The derivatives of `slope` times Q with respect to the outputs of a choice.
    pub fn slope(&self, own: &[f32], slope: f32, to: &mut [f32]) {
        match self {
            ValueHead::Mean => to.fill(slope),
            ValueHead::Quantiles(_) => to.fill(num::canonical(slope / own.len() as f32)),
            ValueHead::Atoms(atoms) => {
                let ((most, sum), mean) = (softmax(own), atoms.mean(own));
                for (i, (x, to)) in own.iter().zip(to).enumerate() {
                    *to = num::canonical(slope * (num::exp(x - most) / sum) * (atoms.at(i) - mean));
                }
            }
        }
    }

    /// The target of a choice's outputs, or with atoms of their probabilities: `next` are the outputs of the next choice.
    pub fn target(&self, next: &[f32], reward: f32, discount: f32, to: &mut [f32]) {
        match self {
            ValueHead::Atoms(atoms) => atoms.project(next, reward, discount, to),
            _ => to.iter_mut().zip(next).for_each(|(to, next)| *to = reward + discount * *next),
        }
    }

    /// Compares a choice's outputs with their target, and writes the derivatives of the loss.
    pub fn compare(&self, own: &[f32], target: &[f32], huber: bool, slope: &mut [f32]) -> Cost {
        match self {
            ValueHead::Mean => {
                let (mean, target) = (self.mean(own), self.mean(target));
                let (cost, by) = cost(mean - target, huber);
                slope.fill(by);
                Cost { cost, mean, error: mean - target }
            }
            ValueHead::Quantiles(_) => quantiles(own, target, huber, slope),
            ValueHead::Atoms(atoms) => atoms.compare(own, target, slope),
        }
    }
}

/// The loss of an error and its derivative: its square, or with `huber` half of that, and linear beyond 1.
pub fn cost(error: f32, huber: bool) -> (f32, f32) {
    match huber {
        false => (error * error, 2.0 * error),
        true if error.abs() <= 1.0 => (0.5 * error * error, error),
        true => (error.abs() - 0.5, num::clamp(error, -1.0, 1.0)),
    }
}

/// Targets that are processed in parallel.
const LANES: usize = 16;

/// The quantile regression loss: for each pair of a quantile and a target their distance, or with `huber` half its square, and
/// linear beyond 1, weighted by the quantile's level; summed over quantiles and averaged over targets.
pub fn quantiles(own: &[f32], target: &[f32], huber: bool, slope: &mut [f32]) -> Cost {
    let (share, count) = (1.0 / target.len() as f32, own.len() as f32);
    let (mut all, mut middle) = (0.0f32, 0.5f32);
    for (own, to) in own.iter().zip(slope) {
        let level = middle / count;
        let (mut costs, mut slopes) = ([0.0; LANES], [0.0; LANES]);
        for targets in target.chunks(LANES) {
            for ((cost, slope), target) in costs.iter_mut().zip(&mut slopes).zip(targets) {
                let error = target - own;
                let weight = if error < 0.0 { 1.0 - level } else { level };
                // Half the square up to 1 and linear beyond; or linear everywhere.
                let short = num::clamp(error, -1.0, 1.0);
                let sign = f32::from(i8::from(error > 0.0) - i8::from(error < 0.0));
                let (own_cost, own_slope) =
                    if huber { (short * (error - 0.5 * short), short) } else { (error.abs(), sign) };
                *cost += weight * own_cost;
                *slope += weight * own_slope;
            }
        }
        *to = num::canonical(-(num::tree(slopes) * share));
        all += num::tree(costs) * share;
        middle += 1.0;
    }
    let mean = mean(own);
    Cost { cost: all, mean, error: mean - self::mean(target) }
}

fn mean(numbers: &[f32]) -> f32 {
    numbers.iter().sum::<f32>() / numbers.len() as f32
}

impl Atoms {
    /// Atom `index`.
    pub fn at(&self, index: usize) -> f32 {
        self.low + (self.high - self.low) * (index as f32 / self.last())
    }

    fn last(&self) -> f32 {
        self.num.saturating_sub(1).max(1) as f32
    }

    /// The mean of the distribution with these logits.
    pub fn mean(&self, logits: &[f32]) -> f32 {
        let (most, sum) = softmax(logits);
        let weighted = |(i, x): (usize, &f32)| num::exp(x - most) * self.at(i);
        logits.iter().enumerate().map(weighted).sum::<f32>() / sum
    }

    /// Probabilities of the atoms after a step: each atom, with its probability in `next`, is discounted, the reward is added,
    /// and its probability is divided between the two neighboring atoms.
    pub fn project(&self, next: &[f32], reward: f32, discount: f32, to: &mut [f32]) {
        let (most, sum) = softmax(next);
        let before_last = to.len().saturating_sub(2);
        to.fill(0.0);
        for (i, x) in next.iter().enumerate() {
            let p = num::exp(x - most) / sum;
            let moved = num::clamp(reward + discount * self.at(i), self.low, self.high);
            let place = (moved - self.low) / (self.high - self.low) * self.last();
            let lower = (place as usize).min(before_last);
            let part = num::clamp(place - lower as f32, 0.0, 1.0);
            for (to, part) in to.iter_mut().skip(lower).zip([1.0 - part, part]) {
                *to += p * part;
            }
        }
    }

    /// The cross-entropy between the target's probabilities and a distribution given by logits.
    fn compare(&self, logits: &[f32], target: &[f32], slope: &mut [f32]) -> Cost {
        let (most, sum) = softmax(logits);
        let log_sum = num::ln(sum);
        let (mut cost, mut mean, mut entropy) = (0.0, 0.0, 0.0);
        for (i, ((x, target), to)) in logits.iter().zip(target).zip(slope).enumerate() {
            let p = num::exp(x - most) / sum;
            mean += p * self.at(i);
            cost -= *target * (x - most - log_sum);
            entropy -= if *target > 0.0 { *target * num::ln(*target) } else { 0.0 };
            *to = num::canonical(p - *target);
        }
        Cost { cost, mean, error: num::max(0.0, cost - entropy) }
    }
}

/// The largest of these logits, and the sum of exponentials relative to it.
fn softmax(logits: &[f32]) -> (f32, f32) {
    let most = logits.iter().fold(f32::MIN, |most, x| num::max(most, *x));
    (most, logits.iter().map(|x| num::exp(x - most)).sum())
}
