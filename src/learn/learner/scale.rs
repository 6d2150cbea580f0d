//! Transfer of parameters and gradients between learners on several threads, processes and machines.

use super::layout::log_std;
use super::{Learner, PARAM_LIMIT, View, tensors};
use crate::block;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::check_finite;
use crate::num;

impl Learner<'_> {
    /// [`Learner::write_params_with`] for a learner that normalizes nothing. Errors: as there.
    pub fn write_params(&mut self, params: &[f32]) -> Result {
        self.write_params_with(params, &[])
    }

    /// Replaces the parameters, and the statistics that belong to them: of the learner that they come from, in the layout of
    /// [`View::read_moments`]. With `overlap` the parameters act at once if no update is running, else after it. They replace
    /// the target parameters too: values are learned towards the new parameters, not towards older ones.
    ///
    /// Errors: `Shape`; `Value` if parameters are not within ± 1e6, or a logarithm of a standard deviation is not within its
    /// bounds; those of [`Learner::write_moments`]; `NotReady` with `overlap` and statistics while an update is running, since
    /// the statistics would act before the parameters do.
    pub fn write_params_with(&mut self, params: &[f32], moments: &[f64]) -> Result {
        let _changing = self.mark.begin();
        check_len("learner: parameters of length", params, self.params.len())?;
        self.view().check_moments(moments)?;
        let apart = self.config.overlap != 0 && self.state.updating != 0 && !moments.is_empty();
        let what = "learner: with overlap, parameters and statistics are written together once the update has ended.";
        Error::new(Kind::NotReady, what).fail_if(apart)?;
        if let Some(&x) = params.iter().find(|x| !(-PARAM_LIMIT..=PARAM_LIMIT).contains(*x)) {
            return Err(Error::new(Kind::Value, "learner: parameters from -1e6 to 1e6").given_f32(x));
        }
        let log_std = if self.config.needs().replay { &[][..] } else { log_std(params, &self.sizes)? };
        let within = self.config.log_std_min..=self.config.log_std_max;
        if let Some(&x) = log_std.iter().find(|x| !within.contains(x)) {
            let what = "learner: logarithms of deviations from log_std_min to log_std_max";
            return Err(Error::new(Kind::Value, what).given_f32(x));
        }
        self.write_moments(moments)?;
        block::copy(self.params, params);
        self.follow_params()
    }

    /// Targets become copies of changed parameters, which act unless an update goes on.
    pub(in crate::learn) fn follow_params(&mut self) -> Result {
        #[cfg(feature = "off_policy")]
        block::copy(self.replay.target, self.params);
        if self.state.updating == 0 {
            block::copy(self.acting, self.params);
        }
        self.add_noise()
    }

    /// Adds environment steps of other learners to the count that schedules use. A step of gradients from elsewhere uses the
    /// rates at the steps counted before it; an update, those at T * N fewer steps, the length of its rollout.
    ///
    /// Errors: `NotReady` if learning is due, off policy also while an update is running; `Overflow`.
    pub fn count_steps(&mut self, num_steps: u64) -> Result {
        let _changing = self.mark.begin();
        let what = "learner count_steps: an update is due; call learn first.";
        self.state.check_recording(self.config, what)?;
        // The next update has to be due before more arrives than the store has room for.
        Error::new(Kind::NotReady, what).fail_if(self.config.needs().replay && self.is_learning())?;
        add_steps(&mut self.state.num_steps, num_steps)
    }

    /// Stores gradients of chunks `[begin, end)`, as computed by [`View::learn_range`]; these chunks are complete then. Errors:
    /// `Range`; `Shape`; `Value` for a gradient that is not finite; `NotReady` off policy if no update is running, where each step
    /// is one of a batch of the learner's own.
    pub fn write_grads(&mut self, begin: usize, end: usize, grads: &[f32]) -> Result {
        self.take_grads(begin, end, grads, false)
    }

    /// Adds gradients to those of the complete chunks in `[begin, end)`, as a server of asynchronous workers does; for other
    /// chunks it stores them. Sums depend on the order of additions. Errors: as [`Learner::write_grads`], also for a sum.
    pub fn add_grads(&mut self, begin: usize, end: usize, grads: &[f32]) -> Result {
        self.take_grads(begin, end, grads, true)
    }

    fn take_grads(&mut self, begin: usize, end: usize, grads: &[f32], add: bool) -> Result {
        let _changing = self.mark.begin();
        self.view().check_grads(begin, end, grads)?;
        let what = "learner: an update whose gradients these are; off policy none come from elsewhere.";
        Error::new(Kind::NotReady, what).fail_if(self.config.needs().replay && !self.is_learning())?;
        check_finite("learner: finite gradients", grads)?;
        let (len, count) = (self.sizes.record_len, end.saturating_sub(begin));
        let done = block::rows_mut(self.done, begin, count, 1)?;
        for (k, _) in done.iter().enumerate().filter(|(_, done)| add && **done != 0) {
            let (own, new) =
                (block::rows(self.grads, begin.saturating_add(k), 1, len)?, block::rows(grads, k, 1, len)?);
            if let Some(x) = own.iter().zip(new).map(|(a, b)| *a + *b).find(|x| !x.is_finite()) {
                return Err(Error::new(Kind::Value, "learner: finite sums of gradients").given_f32(num::canonical(x)));
            }
        }
        let frozen = tensors::frozen(&self.sizes, self.frozen_tensors, 0, self.params.len());
        for (k, done) in done.iter_mut().enumerate() {
            let own = block::rows_mut(self.grads, begin.saturating_add(k), 1, len)?;
            let new = block::rows(grads, k, 1, len)?;
            if add && *done != 0 {
                own.iter_mut().zip(new).for_each(|(a, b)| *a += *b);
            } else {
                block::copy(own, new);
            }
            // They may come from a learner of which other tensors are frozen.
            frozen.clear(own);
            *done = 1;
        }
        Ok(())
    }
}

/// Counts more environment steps. Errors: `Overflow`.
fn add_steps(counted: &mut u64, num_steps: u64) -> Result {
    let what = "learner count_steps: numbers of environment steps whose sum fits 64 bits";
    *counted = counted.checked_add(num_steps).ok_or(Error::new(Kind::Overflow, what))?;
    Ok(())
}

impl View<'_> {
    /// Copies gradients and losses of chunks `[begin, end)` of the minibatch, `[end - begin, grads_len]`. Errors: `Range`;
    /// `Shape`; `NotReady` if one of the chunks is not complete.
    pub fn read_grads(&self, begin: usize, end: usize, grads: &mut [f32]) -> Result {
        self.check_grads(begin, end, grads)?;
        if self.done.get(begin..end).is_none_or(|done| done.contains(&0)) {
            return Err(Error::new(Kind::NotReady, "learner: the gradients of some chunks are missing."));
        }
        let (len, count) = (self.sizes.record_len, end.saturating_sub(begin));
        block::copy(grads, block::rows(self.grads, begin, count, len)?);
        Ok(())
    }

    /// The number of chunks in `[begin, end)` of a minibatch. Errors: `Range` if they do not exist.
    pub fn check_chunks(&self, begin: usize, end: usize) -> Result<usize> {
        if begin <= end && end <= self.config.num_chunks as usize {
            return Ok(end.saturating_sub(begin));
        }
        let what = "learner: chunks [begin, end) with begin <= end <= num_chunks = {needed}";
        Err(Error::new(Kind::Range, what).needed(self.config.num_chunks as usize).given(end))
    }

    fn check_grads(&self, begin: usize, end: usize, grads: &[f32]) -> Result {
        let len = self.check_chunks(begin, end)?.saturating_mul(self.grads_len());
        check_len("learner: gradients [end - begin, grads_len] of length", grads, len)
    }

    /// Elements of the gradients of a chunk: one for each parameter, 8 for its losses, and off policy one for each transition of
    /// the longest chunk, the distance of its value from its target.
    pub fn grads_len(&self) -> usize {
        self.sizes.record_len
    }
}
