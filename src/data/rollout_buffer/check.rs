//! Checks of a step before it is added, and of an image.

use super::{ALL_ENVS, FIRST_METRIC, METRICS, MOST, MetricRow, STEPS, Step, View, is_cut};
use crate::block::{LayoutError, shared};
use crate::data::part::rollout::{self, check_elements};
use crate::data::table::Column;
use crate::error::{Error, Kind, Result, check_len, check_rows};
use crate::space::{Element, Elements};

impl View<'_> {
    pub(super) fn check_step(&self, step: &Step<'_>) -> Result {
        let (n, held) = (self.num_envs(), self.num_steps());
        let what = "rollout_buffer: a rollout that is not finished yet; reset it";
        Error::new(Kind::NotReady, what).fail_if(self.held.finished != 0)?;
        if held >= self.config.num_steps() {
            let what = "rollout_buffer: room for another step; finish and reset after";
            return Err(Error::limit(Kind::NotReady, what, self.config.num_steps(), held));
        }
        let columns = self.columns();
        check_len("rollout_buffer: columns of the step", step.columns, columns.len())?;
        check_len("rollout_buffer: reward [N] of length", step.reward, n)?;
        for (what, given) in [
            ("rollout_buffer: value [N], or none, of length", step.value),
            ("rollout_buffer: log_prob [N], or none, of length", step.log_prob),
        ] {
            check_len(what, given, if given.is_empty() { 0 } else { n })?;
        }
        check_len("rollout_buffer: terminated [N] of length", step.terminated, n)?;
        check_len("rollout_buffer: truncated [N] of length", step.truncated, n)?;
        check_len("rollout_buffer: memory [N, M] of length", step.memory, n.saturating_mul(self.memory_len()))?;
        shared::check_room(STEPS, self.held.global_step, n as u64)?;
        shared::check_room(METRICS, self.held.logged, (n as u64).saturating_mul(2))?;
        check_rows("rollout_buffer: a finite reward", step.reward, 1, 0..)?;
        check_rows("rollout_buffer: a finite value", step.value, 1, 0..)?;
        check_rows("rollout_buffer: a finite log_prob", step.log_prob, 1, 0..)?;
        check_rows("rollout_buffer: a finite memory", step.memory, self.memory_len(), 0..)?;
        if let Some(raw_reward) = step.raw_reward {
            check_len("rollout_buffer: raw_reward [N] of length", raw_reward, n)?;
            check_rows("rollout_buffer: a finite raw_reward", raw_reward, 1, 0..)?;
        }
        let cuts = step.terminated.iter().zip(step.truncated).filter(|&ends| is_cut(ends)).count();
        if let Some(final_value) = step.final_value {
            check_len("rollout_buffer: final_value [N] of length", final_value, n)?;
            let ends = step.terminated.iter().zip(step.truncated);
            let read = final_value.iter().zip(ends).enumerate().filter(|(_, (_, ends))| is_cut(*ends));
            if let Some((row, (bad, _))) = read.into_iter().find(|(_, (x, _))| !x.is_finite()) {
                return Err(Error::new(Kind::Value, "rollout_buffer: a finite final_value")
                    .given_f32(*bad)
                    .in_row(row));
            }
        } else if cuts > 0 && !step.value.is_empty() {
            let what = "rollout_buffer: final_value is NULL; environments truncated and not terminated: {given}.";
            return Err(Error::new(Kind::Null, what).given(cuts));
        }
        for (i, (column, given)) in columns.iter().zip(step.columns).enumerate() {
            match given {
                Some(given) => check_column(column, n, given)?,
                None => check_row(column, self.rows.column(&self.config.shape(), i, held, 1)?.bytes())?,
            }
        }
        Ok(())
    }

    /// Refuses contents that no sequence of calls can produce. Columns are not checked: they may be large and are only copied.
    pub(super) fn check_image(&self) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        let s = self.held;
        let right =
            s.filled as usize <= self.config.num_steps() && s.finished <= 1 && (s.finished == 0 || s.filled > 0);
        let steps = self.begin.checked_add(s.filled.into());
        let numbered = steps.and_then(|steps| steps.checked_mul(self.num_envs() as u64)) == Some(s.global_step);
        let counted = s.global_step <= shared::LAST && s.logged <= shared::LAST;
        let known = s.left_out <= rollout::VALUE | rollout::LOG_PROB && (s.left_out == 0 || s.filled > 0);
        let known = known && (s.finished == 0 || self.rows_held().has(rollout::VALUE));
        let what = "rollout_buffer: a state that calls can lead to";
        damaged(what).fail_if(!right || !numbered || !counted || !known || !s.rng.is_valid())?;
        let rollout = self.rollout()?;
        let ends = rollout.terminated.iter().zip(rollout.truncated);
        let counted =
            |(terminated, truncated): &(&u8, &u8)| **terminated != 0 || ![0, rollout::CUT].contains(truncated);
        let num_ended = ends.filter(counted).count() as u64;
        let lens = num_ended..=num_ended.saturating_mul(u32::MAX.into());
        let what = "rollout_buffer: as many episodes as have ended, each with a length";
        damaged(what).fail_if(s.num_ended != num_ended || !lens.contains(&s.ended_len))?;
        // Twice the bound, so that rounding cannot push a sum out of it.
        let sum = num_ended as f64 * (2.0 * MOST);
        let what = "rollout_buffer: returns that rewards can sum to";
        damaged(what).fail_if(!(s.ended_return.abs() <= sum && self.running_return.iter().all(|x| x.abs() <= MOST)))?;
        let what = "rollout_buffer: returns of 0 before the first step";
        damaged(what)
            .fail_if(!self.running_return.iter().zip(self.running_len).all(|(x, &len)| len > 0 || *x == 0.0))?;
        let written = |(slot, row): (u64, &MetricRow)| {
            if slot < s.logged {
                let env = row.env == ALL_ENVS && row.metric >= FIRST_METRIC
                    || (row.env as usize) < self.num_envs() && row.metric < FIRST_METRIC;
                env && row.value.is_finite() && row.global_step <= s.global_step
            } else {
                *row == MetricRow::default()
            }
        };
        damaged("rollout_buffer: metrics as they were written").fail_if(!(0u64..).zip(self.log).all(written))?;
        self.rows.check_image("rollout_buffer: finite numbers", &self.config.shape(), &self.rows_held())?;
        if s.num_trajectories == 0 {
            return Ok(());
        }
        let t = self.num_steps();
        let starts = (0..self.num_samples()).filter(|&i| i.checked_rem(t) == Some(0) || self.starts_episode(i));
        let held = self.rows.starts.iter().take(s.num_trajectories as usize).map(|&i| i as usize);
        damaged("rollout_buffer: starts of its trajectories").fail_if(s.finished == 0 || !starts.eq(held))
    }
}

/// Checks `[N, len]` elements of a column. Errors: `Shape`, `Value`.
pub(super) fn check_column(column: &Column, n: usize, given: &Elements<'_>) -> Result {
    const SENTENCES: [&str; 2] =
        ["rollout_buffer: columns of their own kind", "rollout_buffer: a column [N, len] of length"];
    check_elements(SENTENCES, column, n, (given.kind() as u32, given.len()))?;
    match given {
        Elements::F32(x) => check_rows("rollout_buffer: a finite column", x, column.len as usize, 0..),
        _ => Ok(()),
    }
}

/// Checks a row that was filled in place. Errors: `Value`.
pub(super) fn check_row(column: &Column, row: &[u8]) -> Result {
    match column.element()? {
        Element::F32 => {
            let row = bytemuck::try_cast_slice(row).map_err(|_| LayoutError)?;
            check_rows("rollout_buffer: a finite column", row, column.len as usize, 0..)
        }
        _ => Ok(()),
    }
}
