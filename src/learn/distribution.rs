//! Answers of a network to observations of the host's own: the distribution over actions, values, and Q.

use super::actor::{Head, OVERFLOW, Recurrent, check_action};
use super::shape::Shape;
use crate::block::{self, Fit};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::num;
use crate::space::{Elements, ElementsMut};

/// Room for the answers of a network to M observations; `None` is not asked for. A structure of actions has both choices, with
/// sum L of their numbers, and A continuous elements.
#[derive(Debug, Default)]
pub struct Distribution<'a> {
    /// `[M, L]` probabilities of the choices of each element of an action; 0 where the mask forbids.
    pub prob: Option<&'a mut [f32]>,
    /// `[M, A]` means of the continuous elements, before squashing and bounds.
    pub mean: Option<&'a mut [f32]>,
    /// `[M, A]` their standard deviations there; 0 for a policy without a distribution.
    pub std: Option<&'a mut [f32]>,
    /// `[M]` values of the observations.
    pub value: Option<&'a mut [f32]>,
    /// `[M, L]` Q of the choices, allowed or not.
    pub q: Option<&'a mut [f32]>,
    /// `[M]` log-probabilities of given actions.
    pub log_prob: Option<&'a mut [f32]>,
    /// `[M]` entropies.
    pub entropy: Option<&'a mut [f32]>,
    /// `[M, action_len]` the choice of [`Sampling::Greedy`](super::actor::Sampling::Greedy).
    pub best: Option<ElementsMut<'a>>,
}

/// Answers that there are besides the outputs of the policy.
#[derive(Clone, Copy)]
pub(super) struct Knows {
    pub value: bool,
    pub q: bool,
    /// Log-probabilities and entropies.
    pub log_prob: bool,
}

/// Outputs of a network for some rows.
pub(super) struct Said<'s> {
    /// Outputs of the policy: logits and means.
    pub outputs: &'s [f32],
    pub mask: Option<&'s [u8]>,
    /// Actions are tanh of the outputs, within bounds, whatever the head says.
    pub tanh: bool,
    /// `[rows, A]` logarithms of standard deviations, and their limits; else with `tanh` deviations are 0, or those of the head.
    pub log_std: Option<(&'s [f32], (f32, f32))>,
    /// `[rows]`, or empty.
    pub value: &'s [f32],
    /// `[rows, L]` Q before its factor, or empty.
    pub q: (&'s [f32], f32),
}

impl Distribution<'_> {
    /// Checks the questions, and the lengths of their arrays. Errors: `Shape`; `Disabled`.
    pub(super) fn check(&self, shape: &Shape, rows: usize, knows: Knows, has_action: bool) -> Result {
        let (choices, numbers) = (shape.choices_len(), shape.std_len());
        let refuse = |kind, what, if_so| Error::new(kind, what).fail_if(if_so);
        refuse(Kind::Shape, "distribution: prob and q of actions that have choices", {
            choices == 0 && (self.prob.is_some() || self.q.is_some())
        })?;
        refuse(Kind::Shape, "distribution: mean and std of actions that have continuous elements", {
            numbers == 0 && (self.mean.is_some() || self.std.is_some())
        })?;
        refuse(Kind::Disabled, "distribution: values, which exported policies and recurrent critics do not have", {
            self.value.is_some() && !knows.value
        })?;
        refuse(Kind::Disabled, "distribution: Q, which only learners of Q and discrete SAC have", {
            self.q.is_some() && !knows.q
        })?;
        refuse(Kind::Disabled, "distribution: log_prob and entropy, which learners off policy do not have", {
            (self.log_prob.is_some() || self.entropy.is_some()) && !knows.log_prob
        })?;
        refuse(Kind::Shape, "distribution: actions to tell the log_prob of", self.log_prob.is_some() && !has_action)?;
        let arrays = [
            ("distribution: prob [M, L] of length", &self.prob, choices),
            ("distribution: mean [M, A] of length", &self.mean, numbers),
            ("distribution: std [M, A] of length", &self.std, numbers),
            ("distribution: value [M] of length", &self.value, 1),
            ("distribution: q [M, L] of length", &self.q, choices),
            ("distribution: log_prob [M] of length", &self.log_prob, 1),
            ("distribution: entropy [M] of length", &self.entropy, 1),
        ];
        for (what, array, width) in arrays {
            if let Some(array) = array {
                check_len(what, array, rows.saturating_mul(width))?;
            }
        }
        self.best.as_ref().map_or(Ok(()), |best| check_action(shape, rows, best.kind(), best.len()))
    }

    /// Checks the outputs for rows from `first` on, and with `write` writes them. `action` `[M, action_len]`:
    /// actions as the policy draws them. Errors: `Value` for numbers that overflow; `Shape`; `Range` for a choice that does not
    /// exist. Nothing is written then.
    pub(super) fn take(
        &mut self,
        head: &Head<'_>,
        first: usize,
        rows: usize,
        said: &Said<'_>,
        action: Option<Elements<'_>>,
        write: bool,
    ) -> Result {
        check_finite(OVERFLOW, said.outputs)?;
        if self.value.is_some() {
            check_finite("distribution: values that do not overflow", said.value)?;
        }
        if self.q.is_some() {
            check_finite("distribution: Q that does not overflow", said.q.0)?;
        }
        if self.log_prob.is_some() || self.entropy.is_some() {
            head.evaluate_rows(
                said.outputs,
                said.mask,
                action,
                first..first.saturating_add(rows),
                |_, log_prob, _| check_finite("distribution: log-probabilities that do not overflow", &[log_prob]),
            )?;
        }
        if write { self.write(head, first, rows, said, action) } else { Ok(()) }
    }

    /// Writes the checked outputs.
    fn write(
        &mut self,
        head: &Head<'_>,
        first: usize,
        rows: usize,
        said: &Said<'_>,
        action: Option<Elements<'_>>,
    ) -> Result {
        let [choices, numbers] = head.widths();
        if let Some(prob) = &mut self.prob {
            head.probabilities(rows, said.outputs, said.mask, block::rows_mut(prob, first, rows, choices)?)?;
        }
        if let Some(mean) = &mut self.mean {
            head.means(rows, said.outputs, block::rows_mut(mean, first, rows, numbers)?)?;
        }
        if let Some(std) = &mut self.std {
            let std = block::rows_mut(std, first, rows, numbers)?;
            match said.log_std {
                Some((log_std, (low, high))) => {
                    std.iter_mut().zip(log_std).for_each(|(to, x)| *to = num::exp(num::clamp(*x, low, high)));
                }
                None if said.tanh => std.fill(0.0),
                None => head.deviations(std),
            }
        }
        if let Some(value) = &mut self.value {
            block::copy(block::rows_mut(value, first, rows, 1)?, said.value);
        }
        if let Some(q) = &mut self.q {
            let (from, factor) = said.q;
            let q = block::rows_mut(q, first, rows, choices)?;
            q.iter_mut().zip(from).for_each(|(to, x)| *to = x * factor);
        }
        if self.log_prob.is_some() || self.entropy.is_some() {
            let (mut log_prob, mut entropy) = (self.log_prob.as_deref_mut(), self.entropy.as_deref_mut());
            let put = |to: &mut Option<&mut [f32]>, row: usize, x| {
                if let Some(to) = to.as_mut().and_then(|to| to.get_mut(row)) {
                    *to = x;
                }
            };
            head.evaluate_rows(said.outputs, said.mask, action, first..first.saturating_add(rows), |row, a, b| {
                put(&mut log_prob, row, a);
                put(&mut entropy, row, b);
                Ok(())
            })?;
        }
        let Some(best) = &mut self.best else { return Ok(()) };
        match head.some_rows(best, first, rows)? {
            ElementsMut::F32(best) if said.tanh => {
                best.iter_mut().zip(said.outputs).for_each(|(to, x)| *to = num::tanh(*x));
                head.stretch(best);
                Ok(())
            }
            best => head.best(rows, said.outputs, said.mask, best),
        }
    }
}

impl Recurrent<'_> {
    /// The states of these rows, of `state_len` numbers.
    pub(super) fn rows(&mut self, first: usize, rows: usize, state_len: usize) -> Fit<Recurrent<'_>> {
        let reset = if self.reset.is_empty() { &[] } else { block::rows(self.reset, first, rows, 1)? };
        Ok(Recurrent { state: block::rows_mut(self.state, first, rows, state_len)?, reset })
    }
}
