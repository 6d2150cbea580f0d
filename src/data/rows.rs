//! Steps of a rollout or frames of a trajectory, copied out from a number on: what a process reads beside the one that
//! appends.

use super::monitor::Read;
use super::table::{Column, MAX_COLUMNS};
use crate::block::{self, Misfit};
use crate::error::{Error, Kind, Result, check_len};
use crate::space::ElementsMut;

/// Room for rows, steps of N environments or frames, of which N is 1; what is `None`, or missing from the end of `columns`,
/// is left out.
#[derive(Debug, Default)]
pub struct RowsOut<'a> {
    /// Most rows to copy.
    pub num_rows: usize,
    /// One entry a column, `[num_rows, N, len]` of its kind.
    pub columns: &'a mut [Option<ElementsMut<'a>>],
    /// `[num_rows, N]` what the action earned.
    pub reward: Option<&'a mut [f32]>,
    /// `[num_rows, N]` V of the state that was acted on.
    pub value: Option<&'a mut [f32]>,
    /// `[num_rows, N]` of the action; not of trajectories.
    pub log_prob: Option<&'a mut [f32]>,
    /// `[num_rows, N]` V(final_obs) where it counts, else 0; not of trajectories.
    pub final_value: Option<&'a mut [f32]>,
    /// `[num_rows, N]`
    pub terminated: Option<&'a mut [u8]>,
    /// `[num_rows, N]`
    pub truncated: Option<&'a mut [u8]>,
    /// `[num_rows, N, M]` the policy's memory before the row.
    pub memory: Option<&'a mut [f32]>,
}

/// Arrays that rows may be appended without, as bits of what their block remembers: values, with those of `final_obs`, ...
pub(super) const VALUE: u32 = 1;
/// ... and log-probabilities.
pub(super) const LOG_PROB: u32 = 2;

/// Refuses a call that needs an array which rows were appended without. Errors: `NotReady`.
pub(super) fn check_given(left_out: u32, array: u32) -> Result {
    let what = match left_out & array {
        0 => return Ok(()),
        VALUE => "rows: value of every row; some were added without",
        _ => "rows: log_prob of every row; some were added without",
    };
    Err(Error::new(Kind::NotReady, what))
}

/// What is held.
pub(super) struct Held<'a> {
    /// Number of the first row.
    pub first: u64,
    /// Rows.
    pub len: usize,
    /// N.
    pub num_envs: usize,
    /// M.
    pub memory_len: usize,
    /// Bits of the arrays that are not known of every row.
    pub left_out: u32,
    pub described: &'a [Column],
    pub columns: &'a [&'a [u8]; MAX_COLUMNS],
    pub reward: &'a [f32],
    pub value: &'a [f32],
    pub log_prob: Option<&'a [f32]>,
    pub final_value: Option<&'a [f32]>,
    pub terminated: &'a [u8],
    pub truncated: &'a [u8],
    pub memory: &'a [f32],
}

impl Held<'_> {
    /// Copies rows from number `next` on, as many as are held and as there is room for; rows that are no longer held are
    /// skipped and counted as lost. Errors: `Shape`; `NotReady` for an array that rows were appended without; `Range` if fewer
    /// than `next` rows have come. Nothing is written then.
    pub fn read(&self, next: u64, out: RowsOut<'_>) -> Result<Read> {
        let (n, width) = (self.num_envs, self.num_envs.saturating_mul(self.memory_len));
        out.check(self, out.num_rows.saturating_mul(n), out.num_rows.saturating_mul(width))?;
        let end = self.first.saturating_add(self.len as u64);
        let start = next.max(self.first);
        let Some(left) = end.checked_sub(start) else {
            let what = "rows: a number of at most the rows that have come,";
            return Err(Error::new(Kind::Range, what).needed(end as usize).given(next as usize));
        };
        let count = left.min(out.num_rows as u64) as usize;
        let at = start.wrapping_sub(self.first) as usize;
        for (i, (to, column)) in out.columns.iter_mut().zip(self.described).enumerate() {
            let Some(to) = to else { continue };
            let from = *self.columns.get(i).ok_or(Misfit)?;
            copy(Some(to.reborrow().into_bytes()), from, at, count, n.saturating_mul(column.row_size()))?;
        }
        copy(out.reward, self.reward, at, count, n)?;
        copy(out.value, self.value, at, count, n)?;
        copy(out.log_prob, self.log_prob.unwrap_or(&[]), at, count, n)?;
        copy(out.final_value, self.final_value.unwrap_or(&[]), at, count, n)?;
        copy(out.terminated, self.terminated, at, count, n)?;
        copy(out.truncated, self.truncated, at, count, n)?;
        copy(out.memory, self.memory, at, count, width)?;
        Ok(Read { count, lost: start.wrapping_sub(next), next: start.wrapping_add(count as u64) })
    }
}

/// Rows `at..at + count` of one array, if it is asked for.
fn copy<T: Copy>(to: Option<&mut [T]>, from: &[T], at: usize, count: usize, width: usize) -> Result {
    if let Some(to) = to {
        block::copy(block::rows_mut(to, 0, count, width)?, block::rows(from, at, count, width)?);
    }
    Ok(())
}

impl RowsOut<'_> {
    fn check(&self, held: &Held<'_>, numbers: usize, memory: usize) -> Result {
        if self.columns.len() > held.described.len() {
            let what = "rows: columns, at most";
            return Err(Error::new(Kind::Shape, what).needed(held.described.len()).given(self.columns.len()));
        }
        for (column, to) in held.described.iter().zip(self.columns.iter()) {
            let Some(to) = to else { continue };
            if to.kind() != column.element()? {
                return Err(Error::new(Kind::Shape, "rows: columns of their own kind"));
            }
            let wanted = numbers.saturating_mul(column.len as usize);
            if to.len() != wanted {
                let what = "rows: a column [num_rows, N, len] of length";
                return Err(Error::new(Kind::Shape, what).needed(wanted).given(to.len()));
            }
        }
        let missing = |is_asked: bool, is_held: bool| is_asked && !is_held;
        if missing(self.log_prob.is_some(), held.log_prob.is_some())
            || missing(self.final_value.is_some(), held.final_value.is_some())
        {
            return Err(Error::new(Kind::Shape, "rows: no log_prob and no final_value, which rollouts have"));
        }
        if self.value.is_some() || self.final_value.is_some() {
            check_given(held.left_out, VALUE)?;
        }
        if self.log_prob.is_some() {
            check_given(held.left_out, LOG_PROB)?;
        }
        for (what, array) in [
            ("rows: reward of length", &self.reward),
            ("rows: value of length", &self.value),
            ("rows: log_prob of length", &self.log_prob),
            ("rows: final_value of length", &self.final_value),
        ] {
            array.as_deref().map_or(Ok(()), |array| check_len(what, array, numbers))?;
        }
        self.terminated.as_deref().map_or(Ok(()), |x| check_len("rows: terminated of length", x, numbers))?;
        self.truncated.as_deref().map_or(Ok(()), |x| check_len("rows: truncated of length", x, numbers))?;
        self.memory.as_deref().map_or(Ok(()), |x| check_len("rows: memory [num_rows, N, M] of length", x, memory))
    }
}
