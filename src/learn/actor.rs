//! The distribution over actions that a policy network's outputs parameterize: discrete, multi-discrete, Gaussian, or of both
//! kinds of parts, which are sampled independently.

use core::iter::repeat;
use core::ops::Range;
use core::slice::from_mut;

use super::action_spec::ActionSpec;
use super::actor_config::ActorConfig;
use super::shape::Shape;
use super::struct_action::{self, MAX_EACH};
use crate::block::{self, Fit, LayoutError};
use crate::data::normalizer::{Limits, normalise};
use crate::data::step::Rewrite;
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::categorical::{self, Logits};
use crate::kernels::gaussian::{self, Gaussian};
use crate::num;
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut};

pub use crate::kernels::categorical::Sampling;

/// Actions as sampled from the distribution, before bounds and squashing; the form that rollouts store.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// `[rows, K]` choices; empty if actions have no discrete part.
    pub choice: &'a [i32],
    /// `[rows, A]` draws from the Gaussian; empty if actions have no continuous part.
    pub vector: &'a [f32],
}

impl<'a> Raw<'a> {
    /// Row `index`, with these lengths of choices and numbers.
    pub fn row(self, index: usize, [choices, numbers]: [usize; 2]) -> Fit<Raw<'a>> {
        Ok(Raw {
            choice: block::rows(self.choice, index, 1, choices)?,
            vector: block::rows(self.vector, index, 1, numbers)?,
        })
    }
}

/// Recurrent states in a call that acts without recording: kept by the caller for the length of an episode.
#[derive(Debug, Default)]
pub struct Recurrent<'a> {
    /// `[rows, state_len]` the states after the previous step, replaced by those after this step; empty without recurrent
    /// layers. An episode begins with zeros.
    pub state: &'a mut [f32],
    /// `[rows]` 1: an episode begins, from a state of zeros; or empty: no episode begins.
    pub reset: &'a [u8],
}

impl Recurrent<'_> {
    /// Checks the lengths, and the states of rows that continue. Errors: `Shape`; `Value`.
    pub fn check(&self, rows: usize, state_len: usize) -> Result {
        check_len("recurrent state: numbers [rows, state_len],", self.state, rows.saturating_mul(state_len))?;
        if !self.reset.is_empty() {
            check_len("recurrent state: reset flags,", self.reset, rows)?;
        }
        let states = self.state.chunks_exact(state_len.max(1)).zip(self.reset.iter().chain(repeat(&0)));
        for (row, (state, &reset)) in states.enumerate() {
            if reset == 0 {
                check_finite("recurrent state: finite numbers", state).map_err(|e| e.in_row(row))?;
            }
        }
        Ok(())
    }

    /// Copies the initial states of a step.
    pub fn start(&self, state_len: usize, to: &mut [f32]) {
        block::copy(to, self.state);
        for (row, &reset) in to.chunks_exact_mut(state_len.max(1)).zip(self.reset) {
            if reset != 0 {
                row.fill(0.0);
            }
        }
    }
}

/// The distribution over actions that network outputs parameterize.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    shape: &'a Shape,
    squash: bool,
    n: &'a [u32],
    each: &'a [u32],
    low: &'a [f32],
    high: &'a [f32],
    log_std: &'a [f32],
}

/// Network outputs for one row of actions of several parts, and the row's mask.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) logits: &'a [f32],
    pub(super) mean: &'a [f32],
    pub(super) mask: Option<&'a [u8]>,
}

impl<'a> Head<'a> {
    /// The head of a policy with these arrays.
    pub fn new<'b: 'a>(config: &'a ActorConfig, of: ActionSpec<'b>, log_std: &'a [f32]) -> Head<'a> {
        let ActionSpec { n, each, low, high } = of;
        Head { shape: &config.shape, squash: config.squash != 0, n, each, low, high, log_std }
    }

    /// This head with other logarithms of standard deviations.
    pub fn with(self, log_std: &'a [f32]) -> Head<'a> {
        Head { log_std, ..self }
    }

    /// The lengths of the discrete and the continuous part of an action.
    pub fn lens(&self) -> [usize; 2] {
        [self.n.len(), self.shape.std_len()]
    }

    /// The length of an action in the environment's form.
    pub fn action_len(&self) -> usize {
        self.shape.action_len as usize
    }

    /// Whether continuous elements pass through tanh, and their bounds.
    pub(super) fn bounds(&self) -> (bool, &'a [f32], &'a [f32]) {
        (self.squash, self.low, self.high)
    }

    /// The number of choices of each discrete element of an action.
    pub fn choices(&self) -> &'a [u32] {
        self.n
    }

    pub(super) fn logits<'b>(&'b self, rows: usize, logits: &'b [f32], mask: Option<&'b [u8]>) -> Logits<'b> {
        Logits { num_rows: rows, n: self.n, logits, mask }
    }

    fn gaussian<'b>(&'b self, rows: usize, mean: &'b [f32]) -> Gaussian<'b> {
        Gaussian { num_rows: rows, mean, log_std: self.log_std }
    }

    /// Row `index` of the network outputs for actions of several parts, or of choices: logits, then means.
    pub(super) fn said<'b>(&self, outputs: &'b [f32], mask: Option<&'b [u8]>, index: usize) -> Fit<Said<'b>> {
        let len = self.shape.mask_len();
        let row = block::rows(outputs, index, 1, self.shape.num_outputs as usize)?;
        let (logits, mean) = row.split_at_checked(len).ok_or(LayoutError)?;
        let mask = match mask {
            Some(mask) => Some(block::rows(mask, index, 1, len)?),
            None => None,
        };
        Ok(Said { logits, mean, mask })
    }

    /// Log-probabilities of the choices, `[rows, L]`.
    #[cfg(feature = "off_policy")]
    pub fn log_softmax(&self, outputs: &[f32], mask: Option<&[u8]>, to: &mut [f32]) -> Result {
        for (i, to) in to.chunks_exact_mut(self.shape.mask_len().max(1)).enumerate() {
            let Said { logits, mask, .. } = self.said(outputs, mask, i)?;
            categorical::log_softmax(&self.logits(1, logits, mask), to)?;
        }
        Ok(())
    }

    /// Splits actions of several parts. Errors: `Value` for a choice that does not exist.
    pub fn part(&self, action: &[u8], choice: &mut [i32], vector: &mut [f32]) -> Result {
        struct_action::part(self.each, action, choice, vector)
    }

    /// Combines the parts of actions, as sampled.
    pub fn join(&self, raw: Raw<'_>, action: &mut [u8]) -> Fit<()> {
        struct_action::join(self.each, raw.choice, raw.vector, action)
    }

    /// Draws the noise that [`Head::sample`] turns into actions, `[rows, K + A]`: a uniform number for each choice, then a
    /// standard normal one for each continuous element. `streams` is one stream for all rows, or one for each row: the rows are
    /// then independent of each other.
    pub fn noise(&self, streams: &mut [Rng], noise: &mut [f32]) {
        if self.shape.structured() {
            let mut streams = streams.iter_mut();
            let mut stream = streams.next();
            for row in noise.chunks_exact_mut(self.shape.draw_len().max(1)) {
                let (Some(own), Some((choices, numbers))) = (&mut stream, row.split_at_mut_checked(self.n.len()))
                else {
                    return;
                };
                choices.fill_with(|| own.uniform_f32());
                own.fill_normal(numbers);
                stream = streams.next().or(stream);
            }
            return;
        }
        if !self.shape.discrete() {
            return Rng::fill_normal_rows(streams, noise);
        }
        let width = noise.len().checked_div(streams.len()).unwrap_or(0).max(1);
        for (row, stream) in noise.chunks_exact_mut(width).zip(streams) {
            row.fill_with(|| stream.uniform_f32());
        }
    }

    /// Samples a raw action for each row of `outputs` from `noise`, which is overwritten, to `choice` and `vector`, depending
    /// on the shape. On error these do not change.
    #[allow(clippy::too_many_arguments)]
    pub fn sample(
        &self,
        rows: usize,
        outputs: &[f32],
        mask: Option<&[u8]>,
        sampling: Sampling,
        noise: &mut [f32],
        choice: &mut [i32],
        vector: &mut [f32],
    ) -> Result {
        check_finite(OVERFLOW, outputs)?;
        if self.shape.discrete() {
            return categorical::sample(&self.logits(rows, outputs, mask), sampling, noise, choice);
        }
        if self.shape.structured() {
            let [k, a] = self.lens();
            self.spread_each(rows, outputs, sampling, noise)?;
            for i in 0..rows {
                let (choice, vector) = (block::rows_mut(choice, i, 1, k)?, block::rows_mut(vector, i, 1, a)?);
                self.sample_row(self.said(outputs, mask, i)?, sampling, self.draws(noise, i)?, choice, vector)?;
            }
            return Ok(());
        }
        self.spread(outputs, sampling, noise)?;
        gaussian::sample(&self.gaussian(rows, outputs), noise, vector)
    }

    /// Scales the noise of continuous elements by the sampling temperature. Errors: `Value` if actions could overflow.
    fn spread(&self, mean: &[f32], sampling: Sampling, noise: &mut [f32]) -> Result {
        let spread = match sampling {
            Sampling::Greedy => 0.0,
            Sampling::Temperature(temperature) => temperature,
            _ => 1.0,
        };
        noise.iter_mut().for_each(|x| *x *= spread);
        let (mean, deviation) = (widest(mean), num::exp(self.log_std.iter().copied().fold(f32::MIN, num::max)));
        if f64::from(mean) + f64::from(deviation) * f64::from(widest(noise)) >= f64::from(f32::MAX) {
            return Err(Error::new(Kind::Value, OVERFLOW).given_f32(mean));
        }
        Ok(())
    }

    /// `Head::spread` for the continuous elements in rows of several parts.
    fn spread_each(&self, rows: usize, outputs: &[f32], sampling: Sampling, noise: &mut [f32]) -> Result {
        for i in 0..rows {
            let row = block::rows_mut(noise, i, 1, self.shape.draw_len())?;
            let numbers = row.get_mut(self.n.len()..).ok_or(LayoutError)?;
            self.spread(self.said(outputs, None, i)?.mean, sampling, numbers)?;
        }
        Ok(())
    }

    /// Row `index` of the noise for actions of several parts.
    fn draws<'b>(&self, noise: &'b [f32], index: usize) -> Fit<&'b [f32]> {
        block::rows(noise, index, 1, self.shape.draw_len())
    }

    /// Samples one action of several parts; cannot fail after [`Head::spread_each`] has succeeded.
    fn sample_row(
        &self,
        said: Said<'_>,
        sampling: Sampling,
        noise: &[f32],
        choice: &mut [i32],
        vector: &mut [f32],
    ) -> Result {
        let (uniform, normal) = noise.split_at_checked(choice.len()).ok_or(LayoutError)?;
        if !choice.is_empty() {
            categorical::sample(&self.logits(1, said.logits, said.mask), sampling, uniform, choice)?;
        }
        if vector.is_empty() { Ok(()) } else { gaussian::sample(&self.gaussian(1, said.mean), normal, vector) }
    }

    /// Writes actions of several parts row by row; the numbers that are made are within their bounds.
    pub fn each_row(
        &self,
        rows: usize,
        action: &mut [u8],
        mut make: impl FnMut(usize, &mut [i32], &mut [f32]) -> Result,
    ) -> Result {
        let [k, a] = self.lens();
        let (mut choice, mut vector) = ([0; MAX_EACH], [0.0; MAX_EACH]);
        let (choice, vector) = (block::rows_mut(&mut choice, 0, 1, k)?, block::rows_mut(&mut vector, 0, 1, a)?);
        for i in 0..rows {
            make(i, choice, vector)?;
            let to = block::rows_mut(action, i, 1, self.shape.action_len as usize)?;
            self.join(Raw { choice, vector }, to)?;
        }
        Ok(())
    }

    /// Log-probability and entropy of each row.
    pub fn evaluate(
        &self,
        outputs: &[f32],
        mask: Option<&[u8]>,
        raw: Raw<'_>,
        log_prob: &mut [f32],
        entropy: &mut [f32],
    ) -> Result {
        let rows = log_prob.len();
        if self.shape.discrete() {
            return categorical::evaluate(&self.logits(rows, outputs, mask), raw.choice, log_prob, entropy);
        }
        if !self.shape.structured() {
            gaussian::log_prob(&self.gaussian(rows, outputs), raw.vector, log_prob)?;
            entropy.fill(gaussian::entropy(self.log_std)?);
            return Ok(());
        }
        let of_numbers = if self.log_std.is_empty() { 0.0 } else { gaussian::entropy(self.log_std)? };
        for (i, (log_prob, entropy)) in log_prob.iter_mut().zip(entropy).enumerate() {
            let (Said { logits, mean, mask }, raw) = (self.said(outputs, mask, i)?, raw.row(i, self.lens())?);
            let (mut of_vector, mut of_choice, mut of_choices) = (0.0, 0.0, 0.0);
            if !raw.choice.is_empty() {
                let batch = self.logits(1, logits, mask);
                categorical::evaluate(&batch, raw.choice, from_mut(&mut of_choice), from_mut(&mut of_choices))?;
            }
            if !raw.vector.is_empty() {
                gaussian::log_prob(&self.gaussian(1, mean), raw.vector, from_mut(&mut of_vector))?;
            }
            (*log_prob, *entropy) = (of_choice + of_vector, of_choices + of_numbers);
        }
        Ok(())
    }

    /// The lengths of a row's choices of all elements, and of its continuous elements.
    pub fn widths(&self) -> [usize; 2] {
        [self.shape.choices_len(), self.shape.std_len()]
    }

    /// Probabilities of the choices of each element, `[rows, L]`; 0 where the mask forbids.
    pub fn probabilities(&self, rows: usize, outputs: &[f32], mask: Option<&[u8]>, to: &mut [f32]) -> Result {
        if self.shape.structured() {
            for i in 0..rows {
                let said = self.said(outputs, mask, i)?;
                let to = block::rows_mut(to, i, 1, said.logits.len())?;
                categorical::log_softmax(&self.logits(1, said.logits, said.mask), to)?;
            }
        } else {
            categorical::log_softmax(&self.logits(rows, outputs, mask), to)?;
        }
        to.iter_mut().for_each(|x| *x = num::exp(*x));
        Ok(())
    }

    /// Means of the continuous elements, `[rows, A]`, before bounds and squashing.
    pub fn means(&self, rows: usize, outputs: &[f32], to: &mut [f32]) -> Fit<()> {
        let [_, a] = self.widths();
        for i in 0..rows {
            let mean = if self.shape.structured() {
                self.said(outputs, None, i)?.mean
            } else {
                block::rows(outputs, i, 1, a)?
            };
            block::copy(block::rows_mut(to, i, 1, a)?, mean);
        }
        Ok(())
    }

    /// Standard deviations of the continuous elements of any number of rows.
    pub fn deviations(&self, to: &mut [f32]) {
        for row in to.chunks_exact_mut(self.log_std.len().max(1)) {
            row.iter_mut().zip(self.log_std).for_each(|(to, x)| *to = num::exp(*x));
        }
    }

    /// Calls `each` with the number of a row, the log-probability of its action, and the entropy. `outputs` and `mask` have the
    /// rows of `range` only, `action` has those of all, as sampled; without actions the log-probabilities are 0.
    /// Errors: those of `each`; `Value` for actions that do not exist, are forbidden, or are not finite.
    pub fn evaluate_rows(
        &self,
        outputs: &[f32],
        mask: Option<&[u8]>,
        action: Option<Elements<'_>>,
        range: Range<usize>,
        mut each: impl FnMut(usize, f32, f32) -> Result,
    ) -> Result {
        let ([k, a], width) = (self.lens(), self.shape.num_outputs as usize);
        let (mut choice, mut vector) = ([0; MAX_EACH], [0.0; MAX_EACH]);
        for (i, row) in range.enumerate() {
            let said = block::rows(outputs, i, 1, width)?;
            let mask = mask.map(|mask| block::rows(mask, i, 1, self.shape.mask_len())).transpose()?;
            let raw = match action {
                Some(Elements::I32(all)) => Raw { choice: block::rows(all, row, 1, k)?, vector: &[] },
                Some(Elements::F32(all)) => Raw { choice: &[], vector: block::rows(all, row, 1, a)? },
                Some(Elements::U8(all)) => {
                    let (choice, vector) =
                        (block::rows_mut(&mut choice, 0, 1, k)?, block::rows_mut(&mut vector, 0, 1, a)?);
                    self.part(block::rows(all, row, 1, self.shape.action_len as usize)?, choice, vector)?;
                    Raw { choice, vector }
                }
                None => {
                    each(row, 0.0, self.entropy(said, mask)?)?;
                    continue;
                }
            };
            let what = "distribution: actions whose choices exist and are allowed";
            Error::new(Kind::Value, what).in_row(row).fail_if(!self.could_take(raw.choice, mask))?;
            check_finite("distribution: finite actions", raw.vector).map_err(|e| e.in_row(row))?;
            let (mut log_prob, mut entropy) = (0.0, 0.0);
            self.evaluate(said, mask, raw, from_mut(&mut log_prob), from_mut(&mut entropy))?;
            each(row, log_prob, entropy)?;
        }
        Ok(())
    }

    /// The entropy of the distribution in one row.
    fn entropy(&self, outputs: &[f32], mask: Option<&[u8]>) -> Result<f32> {
        let logits = outputs.get(..self.shape.choices_len()).ok_or(LayoutError)?;
        let mut of_choices = 0.0;
        if !logits.is_empty() {
            categorical::entropy(&self.logits(1, logits, mask), from_mut(&mut of_choices))?;
        }
        Ok(of_choices + if self.log_std.is_empty() { 0.0 } else { gaussian::entropy(self.log_std)? })
    }

    /// Rows of actions in the environment's form.
    pub fn some_rows<'b>(&self, action: &'b mut ElementsMut<'_>, first: usize, rows: usize) -> Fit<ElementsMut<'b>> {
        let width = self.shape.action_len as usize;
        let begin = first.saturating_mul(width);
        action.get(begin, begin.saturating_add(rows.saturating_mul(width))).ok_or(LayoutError)
    }

    /// Gradients with respect to the outputs and `log_std` of a loss with given gradients with respect to log-probability and
    /// entropy.
    #[allow(clippy::too_many_arguments)]
    pub fn gradient(
        &self,
        outputs: &[f32],
        mask: Option<&[u8]>,
        raw: Raw<'_>,
        d_log_prob: &[f32],
        d_entropy: &[f32],
        d_outputs: &mut [f32],
        d_log_std: &mut [f32],
    ) -> Result {
        let rows = d_log_prob.len();
        if self.shape.discrete() {
            let batch = self.logits(rows, outputs, mask);
            return categorical::gradient(&batch, raw.choice, d_log_prob, d_entropy, d_outputs);
        }
        if !self.shape.structured() {
            let batch = self.gaussian(rows, outputs);
            return gaussian::gradient(&batch, raw.vector, d_log_prob, d_entropy, d_outputs, d_log_std);
        }
        d_log_std.fill(0.0);
        for i in 0..rows {
            let (Said { logits, mean, mask }, raw) = (self.said(outputs, mask, i)?, raw.row(i, self.lens())?);
            let (d_log_prob, d_entropy) = (block::rows(d_log_prob, i, 1, 1)?, block::rows(d_entropy, i, 1, 1)?);
            let d_row = block::rows_mut(d_outputs, i, 1, self.shape.num_outputs as usize)?;
            let (d_logits, d_mean) = d_row.split_at_mut_checked(logits.len()).ok_or(LayoutError)?;
            if !raw.choice.is_empty() {
                categorical::gradient(&self.logits(1, logits, mask), raw.choice, d_log_prob, d_entropy, d_logits)?;
            }
            if !raw.vector.is_empty() {
                let mut own = [0.0; MAX_EACH];
                let own = block::rows_mut(&mut own, 0, 1, d_log_std.len())?;
                gaussian::gradient(&self.gaussian(1, mean), raw.vector, d_log_prob, d_entropy, d_mean, own)?;
                d_log_std.iter_mut().zip(own).for_each(|(sum, own)| *sum += *own);
            }
        }
        Ok(())
    }

    /// [`Head::sample`] of actions in the environment's form, without keeping the raw actions.
    pub fn draw(
        &self,
        rows: usize,
        outputs: &[f32],
        mask: Option<&[u8]>,
        sampling: Sampling,
        noise: &mut [f32],
        action: ElementsMut<'_>,
    ) -> Result {
        match action {
            ElementsMut::I32(choice) => self.sample(rows, outputs, mask, sampling, noise, choice, &mut []),
            ElementsMut::F32(vector) => {
                self.sample(rows, outputs, mask, sampling, noise, &mut [], vector)?;
                self.bound(vector);
                Ok(())
            }
            ElementsMut::U8(action) if self.shape.structured() => {
                check_finite(OVERFLOW, outputs)?;
                self.spread_each(rows, outputs, sampling, noise)?;
                self.each_row(rows, action, |i, choice, vector| {
                    self.sample_row(self.said(outputs, mask, i)?, sampling, self.draws(noise, i)?, choice, vector)?;
                    self.bound(vector);
                    Ok(())
                })
            }
            ElementsMut::U8(_) => Err(Error::new(Kind::Shape, KINDS)),
        }
    }

    /// [`Head::draw`] with [`Sampling::Greedy`], which needs no sampling code: none is linked.
    pub fn best(&self, rows: usize, outputs: &[f32], mask: Option<&[u8]>, action: ElementsMut<'_>) -> Result {
        check_finite(OVERFLOW, outputs)?;
        match action {
            ElementsMut::I32(choice) => categorical::greedy(&self.logits(rows, outputs, mask), choice),
            ElementsMut::F32(vector) => {
                gaussian::greedy(&self.gaussian(rows, outputs), vector)?;
                self.bound(vector);
                Ok(())
            }
            ElementsMut::U8(action) if self.shape.structured() => self.each_row(rows, action, |i, choice, vector| {
                let said = self.said(outputs, mask, i)?;
                if !choice.is_empty() {
                    categorical::greedy(&self.logits(1, said.logits, said.mask), choice)?;
                }
                block::copy(vector, said.mean);
                self.bound(vector);
                Ok(())
            }),
            ElementsMut::U8(_) => Err(Error::new(Kind::Shape, KINDS)),
        }
    }

    /// Converts raw actions to the environment's form.
    pub fn to_env(&self, raw: Raw<'_>, action: ElementsMut<'_>) -> Result {
        match action {
            ElementsMut::I32(action) => block::copy(action, raw.choice),
            ElementsMut::F32(action) => {
                block::copy(action, raw.vector);
                self.bound(action);
            }
            ElementsMut::U8(action) => {
                let rows = action.len().checked_div(self.shape.action_len as usize).unwrap_or(0);
                return self.each_row(rows, action, |i, choice, vector| {
                    let raw = raw.row(i, self.lens())?;
                    block::copy(choice, raw.choice);
                    block::copy(vector, raw.vector);
                    self.bound(vector);
                    Ok(())
                });
            }
        }
        Ok(())
    }

    /// Squashes raw actions onto the bounds of the space, or clips them to these bounds.
    fn bound(&self, action: &mut [f32]) {
        if self.squash {
            action.iter_mut().for_each(|x| *x = num::tanh(*x));
        }
        self.stretch(action);
    }

    /// Scales actions that are already squashed to the bounds, or clips them.
    pub fn stretch(&self, action: &mut [f32]) {
        for row in action.chunks_exact_mut(self.shape.std_len().max(1)) {
            for ((x, &low), &high) in row.iter_mut().zip(self.low).zip(self.high) {
                let (part, width) = (0.5 * *x + 0.5, high - low);
                let spread = match (self.squash, width.is_finite()) {
                    (false, _) => *x,
                    (true, true) => low + part * width,
                    (true, false) => (1.0 - part) * low + part * high,
                };
                *x = num::clamp(spread, low, high);
            }
        }
    }

    /// Inverse of [`Head::stretch`] for a squashed action. Returns false, with undefined contents, if the action is not within
    /// its bounds, or without bounds not from -1 to 1.
    pub fn shrink(&self, action: &mut [f32]) -> bool {
        if self.low.is_empty() {
            return action.iter().all(|x| (-1.0..=1.0).contains(x));
        }
        action.iter_mut().zip(self.low).zip(self.high).all(|((x, &low), &high)| {
            let fits = *x >= low && *x <= high;
            // Computed with halves, because the width may overflow.
            let (part, width) = (0.5 * *x - 0.5 * low, 0.5 * high - 0.5 * low);
            *x = if width > 0.0 { num::clamp(2.0 * (part / width) - 1.0, -1.0, 1.0) } else { 0.0 };
            fits
        })
    }

    /// Checks that a mask has a flag for each choice and allows a choice in each element of each row.
    pub fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        let len = mask.map_or(0, |_| rows.saturating_mul(self.shape.mask_len()));
        check_len("action mask: flags", mask.unwrap_or_default(), len)?;
        self.check_mask_rows(mask, 0..rows)
    }

    /// `Head::check_mask` for these rows only.
    pub fn check_mask_rows(&self, mask: Option<&[u8]>, rows: impl Iterator<Item = usize>) -> Result {
        let Some(mask) = mask else { return Ok(()) };
        let what = "action mask: an allowed action in each choice of each row; not so row";
        for row in rows {
            let mut rest = block::rows(mask, row, 1, self.shape.mask_len())?;
            for &n in self.n {
                let Some((flags, after)) = rest.split_at_checked(n as usize) else { return Ok(()) };
                Error::new(Kind::Value, what).given(row).fail_if(flags.iter().all(|&x| x == 0))?;
                rest = after;
            }
        }
        Ok(())
    }

    /// [`Head::could_take`], with the row in the error. Errors: `Value`, with the given sentence.
    pub fn check_choices(&self, what: &'static str, choice: &[i32], mask: Option<&[u8]>) -> Result {
        if self.could_take(choice, mask) {
            return Ok(());
        }
        let masks = self.shape.mask_len();
        for (row, own) in choice.chunks_exact(self.n.len().max(1)).enumerate() {
            let mask = mask.map(|mask| block::rows(mask, row, 1, masks)).transpose()?;
            Error::new(Kind::Value, what).in_row(row).fail_if(!self.could_take(own, mask))?;
        }
        Err(Error::new(Kind::Value, what))
    }

    /// True if every choice, `[rows, K]`, exists and is allowed by the mask.
    pub fn could_take(&self, choice: &[i32], mask: Option<&[u8]>) -> bool {
        let mut begin = 0usize;
        choice.chunks_exact(self.n.len().max(1)).flat_map(|row| row.iter().zip(self.n)).all(|(&choice, &n)| {
            let at = usize::try_from(choice).map_or(usize::MAX, |choice| begin.saturating_add(choice));
            begin = begin.saturating_add(n as usize);
            at < begin && mask.is_none_or(|mask| mask.get(at).is_some_and(|&x| x != 0))
        })
    }

    /// Checks a sampling. Continuous actions are sampled, greedily or at a temperature; the k best choices are undefined for
    /// them, and for actions of both kinds of parts apply to the choices.
    pub fn check_sampling(&self, sampling: Sampling) -> Result {
        let bad = match sampling {
            Sampling::Temperature(t) if !(t > 0.0 && t.is_finite()) => {
                Some(Error::new(Kind::Config, "sampling: a finite temperature above 0").given_f32(t))
            }
            Sampling::TopK(0) | Sampling::BottomK(0) => {
                Some(Error::new(Kind::Config, "sampling: k of at least").needed(1).given(0))
            }
            Sampling::TopK(_) | Sampling::BottomK(_) if self.n.is_empty() => {
                Some(Error::new(Kind::Config, "sampling: basic, greedy or temperature for continuous actions"))
            }
            _ => None,
        };
        bad.map_or(Ok(()), Err)
    }
}

/// The requirement on network outputs and actions.
pub(super) const OVERFLOW: &str = "policy: outputs and actions that do not overflow";

/// The requirement on actions.
const KINDS: &str = "actions: elements of kind f32 or i32, or structures of them";

/// The largest magnitude.
fn widest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, x| num::max(most, x.abs()))
}

/// Checks kind and length of observations and of the action buffer for `rows` rows.
pub fn check_act(
    what: &'static str,
    shape: &Shape,
    rows: usize,
    obs: &Elements<'_>,
    action: &ElementsMut<'_>,
) -> Result {
    check_obs(what, shape, rows, obs)?;
    check_action(shape, rows, action.kind(), action.len())
}

/// Checks kind and length of observations, and of actions that are given, for `rows` rows, at least 1. Errors: `Shape`.
pub fn check_rows_given(
    what: &'static str,
    shape: &Shape,
    rows: usize,
    obs: &Elements<'_>,
    action: Option<Elements<'_>>,
) -> Result {
    Error::limit(Kind::Shape, "distribution: rows of at least", 1, 0).fail_if(rows == 0)?;
    Error::limit(Kind::Shape, "distribution: rows of at most", u32::MAX as usize, rows)
        .fail_if(rows > u32::MAX as usize)?;
    check_obs(what, shape, rows, obs)?;
    action.map_or(Ok(()), |action| check_action(shape, rows, action.kind(), action.len()))
}

/// The number of environments in `[begin, end)`, each with a flag. Errors: `Range` if they do not exist.
pub fn check_envs(open: &[u8], begin: usize, end: usize) -> Result<usize> {
    let refused = Error::new(Kind::Range, "learner act: environments [begin, end) with end at most");
    Ok(open.get(begin..end).ok_or(refused.needed(open.len()).given(end))?.len())
}

/// Checks that a mask of `flags` for each row is given exactly if the configuration uses masks.
pub fn check_mask_given(use_action_mask: u32, mask: Option<&[u8]>, rows: usize, flags: usize) -> Result {
    if mask.is_some() != (use_action_mask != 0) {
        let what = "learner: action_mask must be given exactly if use_action_mask is 1; it is {needed}.";
        return Err(Error::new(Kind::Shape, what).needed(use_action_mask as usize));
    }
    check_len("action mask: flags", mask.unwrap_or(&[]), rows.saturating_mul(flags))
}

/// Checks the mask of observations without an action, which may be omitted: then all choices are allowed. Errors: `Shape` for a
/// mask that the configuration does not use.
pub fn check_mask_fits(use_action_mask: u32, mask: Option<&[u8]>, rows: usize, flags: usize) -> Result {
    let what = "learner: an action mask may be given only if use_action_mask is 1; it is 0.";
    Error::new(Kind::Shape, what).fail_if(mask.is_some() && use_action_mask == 0)?;
    mask.map_or(Ok(()), |mask| check_len("action mask: flags", mask, rows.saturating_mul(flags)))
}

/// Checks kind and length of the actions of `rows` rows.
pub fn check_action(shape: &Shape, rows: usize, kind: Element, given: usize) -> Result {
    let own = shape.kinds().1;
    if kind != own {
        return Err(Error::new(Kind::Shape, "actions: elements of kind").needed(own as usize).given(kind as usize));
    }
    let len = rows.saturating_mul(shape.action_len as usize);
    if given != len {
        return Err(Error::new(Kind::Shape, "actions: elements").needed(len).given(given));
    }
    Ok(())
}

/// Checks kind and length of the observations of `rows` rows.
pub fn check_obs(what: &'static str, shape: &Shape, rows: usize, obs: &Elements<'_>) -> Result {
    if obs.kind() as u32 != shape.obs_kind {
        return Err(Error::new(Kind::Shape, what).needed(shape.obs_kind as usize).given(obs.kind() as usize));
    }
    let len = rows.saturating_mul(shape.obs_len as usize);
    if obs.len() != len {
        return Err(Error::new(Kind::Shape, what).needed(len).given(obs.len()));
    }
    Ok(())
}

/// Writes network inputs from encoded observations: normalized if the configuration says so, with the current statistics,
/// `[obs_len]`.
pub fn see(config: &ActorConfig, mean: &[f64], var: &[f64], raw: &[f32], seen: &mut [f32]) -> Result {
    if config.normalize_obs == 0 {
        block::copy(seen, raw);
        return Ok(());
    }
    let limits = Limits { clip: config.obs_clip, ..Limits::default() };
    normalise(mean, var, limits, Rewrite::apart(raw, seen))
}
