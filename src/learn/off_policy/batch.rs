//! Learning from transitions of the host's own.

use super::OffPolicy;
use super::bench::Given;
use super::layout::TransitionView;
use crate::block;
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::learn::actor::{Head, check_action, check_obs};
use crate::learn::learner::Stats;
use crate::learn::transition_batch::TransitionBatch;
use crate::space::Elements;

impl OffPolicy<'_> {
    /// Takes one gradient step, of Q or of the critics and, when it is due, of the policy and the targets, from transitions of
    /// the host's own: its store may be shared, prioritised, or relabelled with other goals. It counts as an update of one
    /// gradient step, and no environment step. The learner's own store and its priorities stay as they are.
    ///
    /// `error`: `[B]` to write: how far the value of each is from its target, for priorities. Of several elements of an action,
    /// or two critics, it is the mean.
    ///
    /// Errors: `NotReady` while gradient steps from the own store are due; `Shape`; `Value` for numbers that are not finite,
    /// actions outside of their space, and masks that allow nothing: then nothing has changed. `Value` if numbers of the update
    /// overflow, as [`OffPolicy::learn`].
    pub fn learn_transitions(&mut self, batch: &TransitionBatch<'_>, error: Option<&mut [f32]>) -> Result<Stats> {
        self.check_not_due("learner learn_transitions: an update is due; call learn first.")?;
        if let Some(error) = &error {
            check_len("learner learn_transitions: errors", error, self.config.batch_size as usize)?;
        }
        let checked = self.check_transitions(batch);
        self.tidy();
        checked?;
        self.state.due = 1;
        let what = "learner learn_transitions: numbers overflowed; the gradient step was dropped.";
        let done = self.learn_slices(u64::MAX, Some(batch));
        let done = self.end_or_drop(done, what);
        if let (Ok(()), Some(error)) = (&done, error) {
            block::copy(error, self.error);
        }
        self.error.fill(0.0);
        done.map(|()| self.stats())
    }

    fn check_transitions(&mut self, batch: &TransitionBatch<'_>) -> Result {
        let &TransitionBatch { obs, action, reward, terminated, discount, next_obs, next_mask, importance } = batch;
        let (rows, shape) = (self.config.batch_size as usize, self.actor.shape);
        check_obs("learner learn_transitions: obs", &shape, rows, &obs)?;
        check_obs("learner learn_transitions: next_obs", &shape, rows, &next_obs)?;
        check_action(&shape, rows, action.kind(), action.len())?;
        check_len("learner learn_transitions: rewards", reward, rows)?;
        check_len("learner learn_transitions: terminated flags", terminated, rows)?;
        if let Some(discount) = discount {
            check_len("learner learn_transitions: discounts", discount, rows)?;
            let what = "learner learn_transitions: discounts from 0 to 1";
            check_all(what, discount, |x| (0.0..=1.0).contains(&x))?;
        }
        if let Some(importance) = importance {
            check_len("learner learn_transitions: importance weights", importance, rows)?;
            let what = "learner learn_transitions: finite importance weights of at least 0";
            check_all(what, importance, |x| (0.0..=f32::MAX).contains(&x))?;
        }
        self.view().check_mask(next_mask, rows)?;
        check_finite("learner learn_transitions: finite rewards", reward)?;
        for row in 0..rows {
            self.sizes.seen.check_row("learner learn_transitions: finite obs", obs, row, self.work.seen)?;
            self.sizes.seen.check_row("learner learn_transitions: finite next_obs", next_obs, row, self.work.seen)?;
        }
        let (head, a) = (Head::new(&self.actor, self.taken.read(), &[]), shape.action_len as usize);
        let room = block::rows_mut(self.work.done, 0, 1, self.sizes.vector)?;
        for row in 0..rows {
            let fits = match action {
                Elements::I32(choice) => head.could_take(block::rows(choice, row, 1, a)?, None),
                Elements::F32(vector) => {
                    block::copy(room, block::rows(vector, row, 1, a)?);
                    head.shrink(room)
                }
                Elements::U8(_) => false,
            };
            let what = "learner learn_transitions: the action of transition {given} is outside of the action space.";
            Error::new(Kind::Value, what).given(row).when(!fits)?;
        }
        Ok(())
    }
}

/// Errors: `Value` for a number that is not right.
fn check_all(what: &'static str, numbers: &[f32], is_right: impl Fn(f32) -> bool) -> Result {
    match numbers.iter().find(|x| !is_right(**x)) {
        Some(&x) => Err(Error::new(Kind::Value, what).given_f32(x)),
        None => Ok(()),
    }
}

impl<'a> TransitionBatch<'a> {
    /// The same as the rows of a store; what is stored otherwise than it is given is told beside.
    pub(super) fn rows<'b>(&self, as_numbers: bool, head: Head<'b>) -> (TransitionView<'b>, Option<Given<'b>>)
    where
        'a: 'b,
    {
        let split = |obs: Elements<'a>| match obs {
            Elements::F32(x) if as_numbers => (x, &[][..]),
            _ => (&[][..], obs.bytes()),
        };
        let ((obs, pixels), (next_obs, next_pixels)) = (split(self.obs), split(self.next_obs));
        let (choice, vector) = match self.action {
            Elements::I32(choice) => (choice, &[][..]),
            Elements::F32(vector) => (&[][..], vector),
            Elements::U8(_) => (&[][..], &[][..]),
        };
        let (next_mask, reward) = (self.next_mask.unwrap_or_default(), self.reward);
        let discount = self.discount.unwrap_or_default();
        let view = TransitionView { obs, pixels, next_obs, next_pixels, next_mask, choice, vector, reward, discount };
        (view, Some(Given { head, terminated: self.terminated }))
    }
}
