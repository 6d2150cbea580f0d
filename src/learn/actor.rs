//! What stands on the policy network's outputs: a distribution over actions, discrete, multi-discrete or Gaussian.

use core::iter::repeat;

use super::actor_config::ActorConfig;
use super::shape::Shape;
use crate::block::{self, Fit};
use crate::data::normalizer::{Limits, normalise};
use crate::data::step::Rewrite;
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::categorical::{self, Logits};
use crate::kernels::gaussian::{self, Gaussian};
use crate::num;
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut};

pub use crate::kernels::categorical::Sampling;

/// Actions as the distribution draws them, before bounds and squashing: what a rollout stores.
#[derive(Clone, Copy)]
pub enum Raw<'a> {
    /// `[rows, action_len]` choices.
    Choice(&'a [i32]),
    /// `[rows, action_len]` draws from the Gaussian.
    Vector(&'a [f32]),
}

impl<'a> Raw<'a> {
    /// Row `index` of `width` elements.
    pub fn row(self, index: usize, width: usize) -> Fit<Raw<'a>> {
        Ok(match self {
            Raw::Choice(choice) => Raw::Choice(block::rows(choice, index, 1, width)?),
            Raw::Vector(vector) => Raw::Vector(block::rows(vector, index, 1, width)?),
        })
    }
}

/// What recurrent layers carry in a call that acts without recording: the caller's, as long as an episode goes on.
#[derive(Debug, Default)]
pub struct Recurrent<'a> {
    /// `[rows, state_len]` what the step before left, then what this one leaves; empty without recurrent layers. An episode
    /// begins with zeros.
    pub state: &'a mut [f32],
    /// `[rows]` 1: an episode begins, from a state of zeros; or empty: none does.
    pub reset: &'a [u8],
}

impl Recurrent<'_> {
    /// Checks the lengths, and the numbers of rows that go on. Errors: `Shape`; `Value`.
    pub fn check(&self, rows: usize, state_len: usize) -> Result {
        check_len("recurrent state: numbers [rows, state_len],", self.state, rows.saturating_mul(state_len))?;
        if !self.reset.is_empty() {
            check_len("recurrent state: reset flags,", self.reset, rows)?;
        }
        for (row, &reset) in self.state.chunks_exact(state_len.max(1)).zip(self.reset.iter().chain(repeat(&0))) {
            if reset == 0 {
                check_finite("recurrent state: finite numbers", row)?;
            }
        }
        Ok(())
    }

    /// Copies the states that a step starts from.
    pub fn start(&self, state_len: usize, to: &mut [f32]) {
        block::copy(to, self.state);
        for (row, &reset) in to.chunks_exact_mut(state_len.max(1)).zip(self.reset) {
            if reset != 0 {
                row.fill(0.0);
            }
        }
    }
}

/// The distribution over actions that network outputs stand for.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    shape: &'a Shape,
    squash: bool,
    n: &'a [u32],
    low: &'a [f32],
    high: &'a [f32],
    log_std: &'a [f32],
}

impl<'a> Head<'a> {
    /// The head of a policy with these arrays.
    pub fn new(config: &'a ActorConfig, n: &'a [u32], low: &'a [f32], high: &'a [f32], log_std: &'a [f32]) -> Head<'a> {
        Head { shape: &config.shape, squash: config.squash != 0, n, low, high, log_std }
    }

    /// The choices of each element of a discrete action.
    pub fn choices(&self) -> &'a [u32] {
        self.n
    }

    fn logits<'b>(&'b self, rows: usize, logits: &'b [f32], mask: Option<&'b [u8]>) -> Logits<'b> {
        Logits { num_rows: rows, n: self.n, logits, mask }
    }

    fn gaussian<'b>(&'b self, rows: usize, mean: &'b [f32]) -> Gaussian<'b> {
        Gaussian { num_rows: rows, mean, log_std: self.log_std }
    }

    /// Draws what [`Head::sample`] turns into actions, `[rows, action_len]`: a uniform or a standard normal number for each
    /// element. `streams` is one stream for all rows, or one for each of them: a row then depends on no other.
    pub fn noise(&self, streams: &mut [Rng], noise: &mut [f32]) {
        if !self.shape.discrete() {
            return Rng::fill_normal_rows(streams, noise);
        }
        let width = noise.len().checked_div(streams.len()).unwrap_or(0).max(1);
        for (row, stream) in noise.chunks_exact_mut(width).zip(streams) {
            row.fill_with(|| stream.uniform_f32());
        }
    }

    /// Makes a raw action of each row of `outputs` and of `noise`, whose values mean nothing afterwards, in `choice` or
    /// `vector`, whichever the shape has. On error these stay as they were.
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
        let spread = match sampling {
            Sampling::Greedy => 0.0,
            Sampling::Temperature(temperature) => temperature,
            _ => 1.0,
        };
        noise.iter_mut().for_each(|x| *x *= spread);
        let (mean, deviation) = (widest(outputs), num::exp(self.log_std.iter().copied().fold(f32::MIN, num::max)));
        if f64::from(mean) + f64::from(deviation) * f64::from(widest(noise)) >= f64::from(f32::MAX) {
            return Err(Error::new(Kind::Value, OVERFLOW).given_f32(mean));
        }
        gaussian::sample(&self.gaussian(rows, outputs), noise, vector)
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
        match raw {
            Raw::Choice(choice) => {
                categorical::evaluate(&self.logits(log_prob.len(), outputs, mask), choice, log_prob, entropy)
            }
            Raw::Vector(vector) => {
                gaussian::log_prob(&self.gaussian(log_prob.len(), outputs), vector, log_prob)?;
                entropy.fill(gaussian::entropy(self.log_std)?);
                Ok(())
            }
        }
    }

    /// Gradients by the outputs and by `log_std` of a loss whose gradients by log-probability and entropy are given.
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
        match raw {
            Raw::Choice(choice) => {
                let batch = self.logits(d_log_prob.len(), outputs, mask);
                categorical::gradient(&batch, choice, d_log_prob, d_entropy, d_outputs)
            }
            Raw::Vector(vector) => {
                let batch = self.gaussian(d_log_prob.len(), outputs);
                gaussian::gradient(&batch, vector, d_log_prob, d_entropy, d_outputs, d_log_std)
            }
        }
    }

    /// [`Head::sample`] of the actions that the environment takes, without keeping the raw ones.
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
            ElementsMut::U8(_) => Err(Error::new(Kind::Shape, "actions: elements of kind f32 or i32")),
        }
    }

    /// [`Head::draw`] with [`Sampling::Greedy`], which draws nothing: so nothing that draws is linked to it.
    pub fn best(&self, rows: usize, outputs: &[f32], mask: Option<&[u8]>, action: ElementsMut<'_>) -> Result {
        check_finite(OVERFLOW, outputs)?;
        match action {
            ElementsMut::I32(choice) => categorical::greedy(&self.logits(rows, outputs, mask), choice),
            ElementsMut::F32(vector) => {
                gaussian::greedy(&self.gaussian(rows, outputs), vector)?;
                self.bound(vector);
                Ok(())
            }
            ElementsMut::U8(_) => Err(Error::new(Kind::Shape, "actions: elements of kind f32 or i32")),
        }
    }

    /// Turns raw actions into those that the environment takes.
    pub fn to_env(&self, raw: Raw<'_>, action: ElementsMut<'_>) {
        match (raw, action) {
            (Raw::Choice(choice), ElementsMut::I32(action)) => block::copy(action, choice),
            (Raw::Vector(vector), ElementsMut::F32(action)) => {
                block::copy(action, vector);
                self.bound(action);
            }
            _ => {}
        }
    }

    /// Squashes raw actions onto the bounds of the space, or clips them to these.
    fn bound(&self, action: &mut [f32]) {
        if self.squash {
            action.iter_mut().for_each(|x| *x = num::tanh(*x));
        }
        self.stretch(action);
    }

    /// The same of actions that are squashed already.
    pub fn stretch(&self, action: &mut [f32]) {
        for row in action.chunks_exact_mut((self.shape.action_len as usize).max(1)) {
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

    /// A mask has a flag for each output and leaves something allowed in each choice of each row.
    pub fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        let Some(mask) = mask else { return Ok(()) };
        let len = self.shape.num_outputs as usize;
        check_len("action mask: flags", mask, rows.saturating_mul(len))?;
        let mut rest = mask;
        for _ in 0..rows {
            for &n in self.n {
                let Some((flags, after)) = rest.split_at_checked(n as usize) else { return Ok(()) };
                if flags.iter().all(|&x| x == 0) {
                    return Err(Error::new(Kind::Value, "action mask: an allowed action in each choice of each row"));
                }
                rest = after;
            }
        }
        Ok(())
    }

    /// True if every choice, `[rows, action_len]`, is there and the mask allows it.
    pub fn could_take(&self, choice: &[i32], mask: Option<&[u8]>) -> bool {
        let mut begin = 0usize;
        choice.chunks_exact(self.n.len().max(1)).flat_map(|row| row.iter().zip(self.n)).all(|(&choice, &n)| {
            let at = usize::try_from(choice).map_or(usize::MAX, |choice| begin.saturating_add(choice));
            begin = begin.saturating_add(n as usize);
            at < begin && mask.is_none_or(|mask| mask.get(at).is_some_and(|&x| x != 0))
        })
    }

    /// Continuous actions are drawn, greedy or at a temperature; keeping the k best means nothing for them.
    pub fn check_sampling(&self, sampling: Sampling) -> Result {
        let bad = match sampling {
            Sampling::Temperature(t) if !(t > 0.0 && t.is_finite()) => {
                Some(Error::new(Kind::Config, "sampling: a finite temperature above 0").given_f32(t))
            }
            Sampling::TopK(0) | Sampling::BottomK(0) => {
                Some(Error::new(Kind::Config, "sampling: k of at least").needed(1).given(0))
            }
            Sampling::TopK(_) | Sampling::BottomK(_) if !self.shape.discrete() => {
                Some(Error::new(Kind::Config, "sampling: basic, greedy or temperature for continuous actions"))
            }
            _ => None,
        };
        bad.map_or(Ok(()), Err)
    }
}

/// What a network has to say for a policy to act.
const OVERFLOW: &str = "policy: outputs and actions that do not overflow";

/// The largest size of a number.
fn widest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, x| num::max(most, x.abs()))
}

/// Checks kind and length of observations and of the place for actions of `rows` rows.
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

/// Checks kind and length of the actions of `rows` rows.
pub fn check_action(shape: &Shape, rows: usize, kind: Element, given: usize) -> Result {
    let own = if shape.discrete() { Element::I32 } else { Element::F32 };
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

/// What networks are given for these numbers: normalised if the configuration says so, with the statistics `[obs_len]` as
/// they are.
pub fn see(config: &ActorConfig, mean: &[f64], var: &[f64], raw: &[f32], seen: &mut [f32]) -> Result {
    if config.normalize_obs == 0 {
        block::copy(seen, raw);
        return Ok(());
    }
    let limits = Limits { clip: config.obs_clip, ..Limits::default() };
    normalise(mean, var, limits, Rewrite::apart(raw, seen))
}
