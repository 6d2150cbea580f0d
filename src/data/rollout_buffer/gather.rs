//! Minibatches of a finished rollout.

use super::View;
use crate::block::{self, LayoutError};
use crate::data::minibatch::Window;
use crate::data::part::rollout::{self, check_room};
use crate::error::{Error, Kind, Result, check_some};
use crate::space::{Element, ElementsMut};

/// Output for a minibatch; arrays that are `None`, or missing from the end of `columns`, are left out. Shapes are those of
/// [`View::gather`] and [`View::gather_windows`].
#[derive(Debug, Default)]
pub struct Minibatch<'a> {
    /// One entry per column.
    pub columns: &'a mut [Option<ElementsMut<'a>>],
    /// Log-probability of the action when it was chosen.
    pub log_prob: Option<&'a mut [f32]>,
    /// V(obs) when the action was chosen.
    pub value: Option<&'a mut [f32]>,
    /// Generalized advantage.
    pub advantage: Option<&'a mut [f32]>,
    /// Advantage + value.
    pub value_target: Option<&'a mut [f32]>,
    /// Rewards.
    pub reward: Option<&'a mut [f32]>,
    /// `gather`: 0 where the observation starts an episode, else 1. `gather_windows`: 0 where a row is padding, else 1.
    pub mask: Option<&'a mut [f32]>,
    /// `[rows, M]`: the policy's memory before the first sample of each row.
    pub memory: Option<&'a mut [f32]>,
    /// Steps of the trajectory before each sample, for `gather_windows`.
    pub timestep: Option<&'a mut [i32]>,
}

impl View<'_> {
    /// Copies windows of `window_len` consecutive samples. Shapes: columns `[rows, window_len, len]`; numbers and `mask`
    /// `[rows, window_len]`; `memory` `[rows, M]`; no `timestep`.
    ///
    /// `index`: `[rows]` the first sample of each window; a window lies in one environment.
    /// Errors: `NotReady` unless finished, or for log-probabilities that a step left out; `Shape`; `Range` for a sample that does
    /// not exist, or a window that leaves its environment. Nothing is written then.
    pub fn gather(&self, index: &[u32], window_len: usize, out: Minibatch<'_>) -> Result {
        self.check_finished()?;
        Error::limit(Kind::Range, "rollout_buffer: a window_len of at least", 1, 0).fail_if(window_len == 0)?;
        let (t, count) = (self.num_steps(), self.num_samples());
        for &i in index {
            let left = t.saturating_sub((i as usize).checked_rem(t).unwrap_or(0));
            let what = "rollout_buffer: samples below";
            Error::limit(Kind::Range, what, count, i as usize).fail_if(i as usize >= count)?;
            let what = "rollout_buffer: windows inside one environment, of at most";
            Error::limit(Kind::Range, what, left, window_len).fail_if(left < window_len)?;
        }
        let rows = index.len();
        let len = rows.saturating_mul(window_len);
        out.check(self, rows, len, len)?;
        let what = "minibatch: no timesteps, which windows of trajectories have";
        Error::new(Kind::Shape, what).fail_if(out.timestep.is_some())?;
        let samples = || index.iter().flat_map(move |&i| (0..window_len).map(move |k| (i as usize).wrapping_add(k)));
        for (i, to) in out.columns.iter_mut().enumerate() {
            if let Some(to) = to {
                self.gather_column(i, window_len, index.iter().map(|&i| (i as usize, 0)), 0, to.reborrow())?;
            }
        }
        self.gather_memory(index.iter().map(|&i| i as usize), out.memory)?;
        let all = [
            (out.log_prob, self.rows.log_prob),
            (out.value, self.rows.value),
            (out.advantage, self.rows.advantage),
            (out.value_target, self.rows.value_target),
            (out.reward, self.rows.reward),
        ];
        for (to, from) in all {
            for (to, sample) in to.into_iter().flatten().zip(samples()) {
                *to = from.get(self.row(sample)).copied().unwrap_or(0.0);
            }
        }
        for (to, sample) in out.mask.into_iter().flatten().zip(samples()) {
            *to = if self.starts_episode(sample) { 0.0 } else { 1.0 };
        }
        self.check_held()
    }

    /// Copies windows of trajectories, padded on the left to `timesteps` rows: elements of kind i32 with `pad_token`, which
    /// should not be a valid action, others with zeros. Shapes: columns `[rows, timesteps, len]`; `mask` and `timestep`
    /// `[rows, timesteps]`; numbers `[rows]`, of the last sample; `memory` `[rows, M]`, of the first.
    ///
    /// Errors: `NotReady` unless finished, or for log-probabilities that a step left out; `Shape`; `Range` for a window that is
    /// not within a single trajectory, or whose `len` and `pad` do not add up to `timesteps`. Nothing is written then.
    pub fn gather_windows(&self, windows: &[Window], timesteps: usize, pad_token: i32, out: Minibatch<'_>) -> Result {
        self.check_finished()?;
        let (t, count) = (self.num_steps(), self.num_samples());
        for w in windows {
            let (first, len) = (w.first as usize, w.len as usize);
            let left = t.saturating_sub(first.checked_rem(t).unwrap_or(0));
            let what = "rollout_buffer: windows inside one trajectory, of at most";
            Error::limit(Kind::Range, what, if first < count { left } else { 0 }, len)
                .fail_if(first >= count || len == 0 || len > left)?;
            if (1..len).any(|k| self.starts_episode(first.wrapping_add(k))) {
                let what = "rollout_buffer: windows inside one trajectory; not so that from sample";
                return Err(Error::new(Kind::Range, what).given(first));
            }
            let what = "rollout_buffer: windows whose len and pad together are timesteps,";
            Error::limit(Kind::Range, what, timesteps, len.saturating_add(w.pad as usize))
                .fail_if(len.checked_add(w.pad as usize) != Some(timesteps))?;
        }
        let rows = windows.len();
        let len = rows.saturating_mul(timesteps);
        out.check(self, rows, len, rows)?;
        for (i, to) in out.columns.iter_mut().enumerate() {
            if let Some(to) = to {
                let windows = windows.iter().map(|w| (w.first as usize, w.pad as usize));
                self.gather_column(i, timesteps, windows, pad_token, to.reborrow())?;
            }
        }
        self.gather_memory(windows.iter().map(|w| w.first as usize), out.memory)?;
        let all = [
            (out.log_prob, self.rows.log_prob),
            (out.value, self.rows.value),
            (out.advantage, self.rows.advantage),
            (out.value_target, self.rows.value_target),
            (out.reward, self.rows.reward),
        ];
        for (to, from) in all {
            for (to, w) in to.into_iter().flatten().zip(windows) {
                let last = (w.first as usize).wrapping_add(w.len as usize).wrapping_sub(1);
                *to = from.get(self.row(last)).copied().unwrap_or(0.0);
            }
        }
        let places = || windows.iter().flat_map(move |w| (0..timesteps as u32).map(move |k| (w, k)));
        for (to, (w, k)) in out.mask.into_iter().flatten().zip(places()) {
            *to = if k < w.pad { 0.0 } else { 1.0 };
        }
        for (to, (w, k)) in out.timestep.into_iter().flatten().zip(places()) {
            *to = if k < w.pad { 0 } else { w.timestep.wrapping_add(k.wrapping_sub(w.pad)) as i32 };
        }
        self.check_held()
    }

    /// Index of a sample in arrays of `[T, N]`.
    #[inline(always)]
    fn row(&self, sample: usize) -> usize {
        let t = self.num_steps();
        let (env, step) = (sample.checked_div(t).unwrap_or(0), sample.checked_rem(t).unwrap_or(0));
        step.wrapping_mul(self.num_envs()).wrapping_add(env)
    }

    /// Whether the observation of a sample is the first of an episode.
    #[inline(always)]
    pub(super) fn starts_episode(&self, sample: usize) -> bool {
        let row = self.row(sample);
        let flag = |flags: &[u8], i: usize| flags.get(i).is_some_and(|&x| x != 0);
        match row.checked_sub(self.num_envs()) {
            Some(before) => flag(self.rows.terminated, before) | flag(self.rows.truncated, before),
            None => flag(self.first, row),
        }
    }

    /// Copies rows of a column, `[windows, window_len, len]`; each window is its first sample and the rows of padding before it.
    fn gather_column(
        &self,
        column: usize,
        window_len: usize,
        windows: impl Iterator<Item = (usize, usize)>,
        pad_token: i32,
        mut out: ElementsMut<'_>,
    ) -> Result {
        let described = self.config.table.column(column)?;
        let (size, n) = (described.row_size(), self.num_envs());
        let token = if described.element()? == Element::I32 { pad_token.to_ne_bytes() } else { [0; 4] };
        let from = self.rows.columns.get(column).ok_or(LayoutError)?;
        let mut rest = out.reborrow().into_bytes();
        for (first, pad) in windows {
            let padding = rest.split_off_mut(..pad.saturating_mul(size)).ok_or(LayoutError)?;
            for (i, x) in padding.iter_mut().enumerate() {
                *x = token.get(i & 3).copied().unwrap_or(0);
            }
            let mut row = self.row(first);
            for _ in pad..window_len {
                let to = rest.split_off_mut(..size).ok_or(LayoutError)?;
                block::copy(to, block::rows(from, row, 1, size)?);
                row = row.wrapping_add(n);
            }
        }
        Ok(())
    }

    fn gather_memory(&self, samples: impl Iterator<Item = usize>, out: Option<&mut [f32]>) -> Result {
        let (width, Some(mut rest)) = (self.memory_len(), out) else { return Ok(()) };
        for sample in samples {
            let to = rest.split_off_mut(..width).ok_or(LayoutError)?;
            block::copy(to, block::rows(self.rows.memory, self.row(sample), 1, width)?);
        }
        Ok(())
    }
}

impl Minibatch<'_> {
    /// Checks the output for `rows` windows with `len` samples in all, and `numbers` entries in arrays of numbers.
    fn check(&self, view: &View<'_>, rows: usize, len: usize, numbers: usize) -> Result {
        if self.log_prob.is_some() {
            rollout::check_given(view.held.left_out, rollout::LOG_PROB)?;
        }
        const SENTENCES: [&str; 3] = [
            "minibatch: columns, at most",
            "minibatch: columns of their own kind",
            "minibatch: a column [rows, window, len] of length",
        ];
        check_room(SENTENCES, view.columns(), len, self.columns)?;
        check_some("minibatch: log_prob of length", &self.log_prob, numbers)?;
        check_some("minibatch: value of length", &self.value, numbers)?;
        check_some("minibatch: advantage of length", &self.advantage, numbers)?;
        check_some("minibatch: value_target of length", &self.value_target, numbers)?;
        check_some("minibatch: reward of length", &self.reward, numbers)?;
        check_some("minibatch: mask of length", &self.mask, len)?;
        check_some("minibatch: timestep of length", &self.timestep, len)?;
        let memory_len = rows.saturating_mul(view.memory_len());
        check_some("minibatch: memory [rows, M] of length", &self.memory, memory_len)
    }
}
