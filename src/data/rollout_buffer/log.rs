//! Metrics, logged beside the steps that they belong to.

use bytemuck::{Pod, Zeroable};
use core::iter::once;
use core::slice::from_ref;

use super::{METRICS, RolloutBuffer, View};
use crate::block::shared;
use crate::data::monitor::Read;
use crate::error::{Error, Kind, Result};

/// One value of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MetricRow {
    /// Steps of all environments before the step that the metric belongs to.
    pub global_step: u64,
    /// The value.
    pub value: f64,
    /// Its environment; [`ALL_ENVS`] if it belongs to none in particular.
    pub env: u32,
    /// The metric: [`EPISODE_LENGTH`], [`EPISODE_RETURN`], or the host's own from [`FIRST_METRIC`] on.
    pub metric: u32,
}

/// Metric: steps of an episode that ended.
pub const EPISODE_LENGTH: u32 = 0;
/// Metric: sum of the rewards of an episode that ended.
pub const EPISODE_RETURN: u32 = 1;
/// The first metric that the host may define.
pub const FIRST_METRIC: u32 = 2;
/// The environment of a metric that belongs to none in particular.
pub const ALL_ENVS: u32 = u32::MAX;

impl RolloutBuffer<'_> {
    /// Logs a metric of the host's own, for all environments. Of several values of one metric in one step the last one counts.
    /// Errors: `Range` for a metric below [`FIRST_METRIC`], and after 2^63 rows; `Value`. Nothing changes then.
    pub fn log(&mut self, metric: u32, value: f64) -> Result {
        let what = "rollout_buffer: a metric of the host's own, at least";
        Error::limit(Kind::Range, what, FIRST_METRIC as usize, metric as usize).fail_if(metric < FIRST_METRIC)?;
        Error::new(Kind::Value, "rollout_buffer: a finite metric")
            .given_f32(value as f32)
            .fail_if(!value.is_finite())?;
        let mut f = self.fields()?;
        shared::check_room(METRICS, f.state.logged, 1)?;
        let row = MetricRow { global_step: f.state.global_step, value, env: ALL_ENVS, metric };
        f.seq.begin();
        f.log(row);
        f.end();
        Ok(())
    }
}

impl View<'_> {
    /// Copies rows of metrics out from number `next` on, counted for the life of the block, the oldest first. Rows no longer held
    /// are skipped and counted as lost. Errors: `Range` if fewer than `next` have been written.
    pub fn read_log(&self, next: u64, rows: &mut [MetricRow]) -> Result<Read> {
        let written = self.held.logged;
        let capacity = self.log.len() as u64;
        let what = "rollout_buffer: a number of at most the metrics written,";
        let (first, read) = Read::of(what, next, written.saturating_sub(capacity)..written, rows.len())?;
        for (number, to) in (first..read.next).zip(rows.iter_mut()) {
            *to = self.log.get(number.checked_rem(capacity).unwrap_or(0) as usize).copied().unwrap_or_default();
        }
        if read.count > 0 {
            let (pushed, writing) = (from_ref(&self.state.logged), from_ref(&self.seq.writing));
            shared::Rings { pushed, writing, num_rows: self.config.log_capacity }.check_held(once((0, first)))?;
        }
        Ok(read)
    }
}
