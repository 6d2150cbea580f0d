//! Rows of steps of N environments: arrays shared by rollouts and by trajectories, where N is 1.

use super::table::{Column, Columns, TableConfig};
use crate::block::{self, Fit, LayoutError, fields};
use crate::data::monitor::Read;
use crate::error::{Error, Kind, Result, check_finite, check_some};
use crate::kernels::gae::{self, Accumulate, Chain};
use crate::space::{Elements, ElementsMut};

/// Dimensions of the arrays.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The columns; a ring for each environment, with a row for each step.
    pub table: &'a TableConfig,
    /// M: elements of a recurrent policy's memory.
    pub memory_len: usize,
    /// Whether there is room for log-probabilities, final values and advantages, and in column 0 for the observation after
    /// the last step.
    pub judged: bool,
}

impl Shape<'_> {
    fn num_envs(&self) -> usize {
        self.table.num_rings as usize
    }

    fn len_if_judged(&self) -> usize {
        if self.judged { self.table.all_rows() } else { 0 }
    }

    fn envs_if_judged(&self) -> usize {
        if self.judged { self.num_envs() } else { 0 }
    }
}

fields! {
    /// Places of the arrays in their owner's block.
    pub spans Spans(shape: &Shape<'_>) {
        /// `[T, N]`, like all arrays here without another shape.
        pub reward: [f32] = shape.table.all_rows(),
        pub value: [f32] = shape.table.all_rows(),
        pub log_prob: [f32] = shape.len_if_judged(),
        pub terminated: [u8] = shape.table.all_rows(),
        pub truncated: [u8] = shape.table.all_rows(),
        /// 0 where unused.
        pub final_value: [f32] = shape.len_if_judged(),
        /// `[N]`
        pub bootstrap_value: [f32] = shape.envs_if_judged(),
        pub advantage: [f32] = shape.len_if_judged(),
        pub value_target: [f32] = shape.len_if_judged(),
        /// First samples of the trajectories.
        pub starts: [u32] = shape.len_if_judged(),
        /// `[T, N, M]`
        pub memory: [f32] = shape.table.all_rows().saturating_mul(shape.memory_len),
        /// `[T, N, row_size]` bytes; column 0 `[T + 1, N, row_size]` if judged.
        pub columns: Columns =
            (shape.table.columns(), shape.table.all_rows(), shape.table.all_rows().saturating_add(shape.envs_if_judged())),
    }
    /// The arrays, for writing.
    #[derive(Debug)]
    pub write Rows {}
    /// The arrays, for reading.
    #[derive(Clone, Copy, Debug)]
    pub read View {}
    /// The arrays as a field of their owner's block.
    pub part Rollout(&'a Shape<'a>)
}

/// Value of `truncated` where an episode was cut after a step of unknown outcome: nothing is learned from that step.
pub const CUT: u8 = 2;

/// Bit of `left_out`: some rows were appended without values, final values included.
pub const VALUE: u32 = 1;
/// Bit of `left_out`: some rows were appended without log-probabilities.
pub const LOG_PROB: u32 = 2;

/// Refuses a call that needs an array which is missing in some rows. Errors: `NotReady`.
pub fn check_given(left_out: u32, array: u32) -> Result {
    let what = match left_out & array {
        0 => return Ok(()),
        VALUE => "rows: value of every row; some were added without",
        _ => "rows: log_prob of every row; some were added without",
    };
    Err(Error::new(Kind::NotReady, what))
}

/// Rows to append; each array has one entry for each environment of each row.
#[derive(Clone, Copy, Debug)]
pub struct Appended<'a> {
    /// Rewards.
    pub reward: &'a [f32],
    /// Values; empty if left out.
    pub value: &'a [f32],
    /// Log-probabilities; empty if left out, `None` if the block has no room for them.
    pub log_prob: Option<&'a [f32]>,
    /// Nonzero where a terminal state was reached.
    pub terminated: &'a [u8],
    /// Nonzero where an episode was cut.
    pub truncated: &'a [u8],
    /// The policy's memory before each row.
    pub memory: &'a [f32],
}

impl Rows<'_> {
    /// Writes `count` rows from row `at` on; a column of `None` is not written. Returns the bits of the arrays left out.
    pub fn append<'e>(
        &mut self,
        shape: &Shape<'_>,
        at: usize,
        count: usize,
        columns: impl Iterator<Item = Option<Elements<'e>>>,
        rows: &Appended<'_>,
    ) -> Fit<u32> {
        let n = shape.num_envs();
        for ((to, from), column) in self.columns.iter_mut().zip(columns).zip(shape.table.columns()) {
            if let Some(from) = from {
                block::copy(block::rows_mut(to, at, count, n.saturating_mul(column.row_size()))?, from.bytes());
            }
        }
        let mut left_out = 0;
        for (to, from, bit) in [
            (&mut *self.reward, Some(rows.reward), 0),
            (&mut *self.value, Some(rows.value), VALUE),
            (&mut *self.log_prob, rows.log_prob, LOG_PROB),
        ] {
            let Some(from) = from else { continue };
            let to = block::rows_mut(to, at, count, n)?;
            if from.is_empty() {
                to.fill(0.0);
                left_out |= bit;
            }
            block::copy(to, from);
        }
        block::copy(block::rows_mut(self.terminated, at, count, n)?, rows.terminated);
        for (to, from) in block::rows_mut(self.truncated, at, count, n)?.iter_mut().zip(rows.truncated) {
            // Hosts cannot set CUT.
            *to = if *from == CUT { 1 } else { *from };
        }
        block::copy(block::rows_mut(self.memory, at, count, n.saturating_mul(shape.memory_len))?, rows.memory);
        Ok(left_out)
    }

    /// Computes advantages and value targets of the first `num_steps` steps, as [`gae::gae`] does. Errors: the same; nothing is
    /// written then.
    pub fn compute_advantages(
        &mut self,
        shape: &Shape<'_>,
        num_steps: usize,
        bootstrap_value: &[f32],
        accumulate: Accumulate,
        [discount, gae_lambda]: [f32; 2],
    ) -> Result {
        let num_envs = shape.num_envs();
        let part = |x| block::rows(x, 0, num_steps, num_envs);
        let rollout = gae::Rollout {
            num_steps,
            num_envs,
            reward: part(self.reward)?,
            value: part(self.value)?,
            bootstrap_value,
            terminated: block::rows(self.terminated, 0, num_steps, num_envs)?,
            truncated: block::rows(self.truncated, 0, num_steps, num_envs)?,
            final_value: Some(part(self.final_value)?),
            accumulate,
        };
        let advantage = block::rows_mut(self.advantage, 0, num_steps, num_envs)?;
        let value_target = block::rows_mut(self.value_target, 0, num_steps, num_envs)?;
        gae::gae(&rollout, discount, gae_lambda, advantage, value_target)?;
        let cut = rollout.truncated.iter().rposition(|&x| x == CUT);
        let Some(rows) = cut.and_then(|last| last.checked_div(num_envs)) else { return Ok(()) };
        let chain = Chain::new(accumulate, discount, gae_lambda);
        for env in 0..num_envs {
            // Redone up to the last CUT step: the value of that step replaces the outcome of its action and all that followed.
            let steps = (0..=rows).rev().map(|step| step.saturating_mul(num_envs).saturating_add(env));
            let (mut carry, mut next) = (0.0, 0.0);
            for at in steps.skip_while(|&at| rollout.truncated.get(at) != Some(&CUT)) {
                let (Some(&reward), Some(&value)) = (self.reward.get(at), self.value.get(at)) else {
                    return Err(LayoutError.into());
                };
                let ends = (flag(self.terminated, at), flag(self.truncated, at));
                let last = self.final_value.get(at).copied().unwrap_or(0.0);
                let found = match rollout.truncated.get(at) {
                    Some(&CUT) => {
                        carry = 0.0;
                        (0.0, value)
                    }
                    _ => chain.step(reward, value, last, ends, next, &mut carry),
                };
                let (Some(to), Some(target)) = (self.advantage.get_mut(at), self.value_target.get_mut(at)) else {
                    return Err(LayoutError.into());
                };
                (*to, *target) = found;
                next = value;
            }
        }
        Ok(())
    }
}

/// The rows held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Number of the first one.
    pub first: u64,
    /// Their count, from the front of each array.
    pub len: usize,
    /// Bits of the arrays that are missing in some row.
    pub left_out: u32,
}

impl Held {
    /// Whether every row has this array.
    pub fn has(&self, array: u32) -> bool {
        self.left_out & array == 0
    }
}

impl<'a> View<'a> {
    /// Input of the estimators, for the rows held. `value` is empty if some row has none.
    pub fn rollout(&self, shape: &Shape<'_>, held: &Held, accumulate: Accumulate) -> Fit<gae::Rollout<'a>> {
        let (num_steps, num_envs) = (held.len, shape.num_envs());
        let part = |x: &'a [f32]| block::rows(x, 0, num_steps, num_envs);
        let has_value = held.has(VALUE);
        Ok(gae::Rollout {
            num_steps,
            num_envs,
            reward: part(self.reward)?,
            value: if has_value { part(self.value)? } else { &[] },
            bootstrap_value: self.bootstrap_value,
            terminated: block::rows(self.terminated, 0, num_steps, num_envs)?,
            truncated: block::rows(self.truncated, 0, num_steps, num_envs)?,
            final_value: if has_value && shape.judged { Some(part(self.final_value)?) } else { None },
            accumulate,
        })
    }

    /// Rows `first..first + count` of a column, `[count, N, len]`. Errors: `Range` for the column.
    pub fn column(&self, shape: &Shape<'_>, column: usize, first: usize, count: usize) -> Result<Elements<'a>> {
        let described = shape.table.column(column)?;
        let size = shape.num_envs().saturating_mul(described.row_size());
        let bytes = block::rows(self.columns.get(column).ok_or(LayoutError)?, first, count, size)?;
        Elements::of_bytes(described.element()?, bytes)
    }

    /// The policy's memory before each of the first `count` rows.
    pub fn memory(&self, shape: &Shape<'_>, count: usize) -> Fit<&'a [f32]> {
        block::rows(self.memory, 0, count, shape.num_envs().saturating_mul(shape.memory_len))
    }

    /// Copies rows from number `next` on, as many as are held and fit; rows no longer held are skipped and counted as lost.
    /// Errors: `Shape`; `NotReady` for an array that is missing in some row; `Range` if fewer than `next` rows were appended.
    /// Nothing is written then.
    pub fn read(&self, shape: &Shape<'_>, held: &Held, next: u64, out: RowsOut<'_>) -> Result<Read> {
        let n = shape.num_envs();
        let width = n.saturating_mul(shape.memory_len);
        out.check(shape, held, out.num_rows.saturating_mul(n), out.num_rows.saturating_mul(width))?;
        let end = held.first.saturating_add(held.len as u64);
        let what = "rows: a number of at most the rows that have come,";
        let (start, read) = Read::of(what, next, held.first..end, out.num_rows)?;
        let (at, count) = (start.wrapping_sub(held.first) as usize, read.count);
        for (i, (to, column)) in out.columns.iter_mut().zip(shape.table.columns()).enumerate() {
            let Some(to) = to else { continue };
            let from = *self.columns.get(i).ok_or(LayoutError)?;
            copy(Some(to.reborrow().into_bytes()), from, at, count, n.saturating_mul(column.row_size()))?;
        }
        for (to, from) in [
            (out.reward, self.reward),
            (out.value, self.value),
            (out.log_prob, self.log_prob),
            (out.final_value, self.final_value),
        ] {
            copy(to, from, at, count, n)?;
        }
        copy(out.terminated, self.terminated, at, count, n)?;
        copy(out.truncated, self.truncated, at, count, n)?;
        copy(out.memory, self.memory, at, count, width)?;
        Ok(read)
    }

    /// Checks that the numbers of all rows held are finite. Errors: `Image`.
    pub fn check_image(&self, what: &'static str, shape: &Shape<'_>, held: &Held) -> Result {
        let numbers =
            [self.reward, self.value, self.log_prob].map(|x| x.get(..held.len.saturating_mul(shape.num_envs())));
        let memory = if shape.judged { &[] } else { self.memory(shape, held.len)? };
        let others = [self.bootstrap_value, self.final_value, memory];
        for numbers in numbers.into_iter().flatten().chain(others) {
            check_finite(what, numbers).map_err(|e| Error { kind: Kind::Image, ..e })?;
        }
        Ok(())
    }
}

fn flag(flags: &[u8], at: usize) -> bool {
    flags.get(at).is_some_and(|&x| x != 0)
}

/// Copies rows `at..at + count` of one array, if it is wanted.
fn copy<T: Copy>(to: Option<&mut [T]>, from: &[T], at: usize, count: usize, width: usize) -> Result {
    if let Some(to) = to {
        block::copy(block::rows_mut(to, 0, count, width)?, block::rows(from, at, count, width)?);
    }
    Ok(())
}

/// Checks kind and length of `rows` rows of a column, with these two error messages. Errors: `Shape`.
pub fn check_elements([kinds, lens]: [&'static str; 2], column: &Column, rows: usize, given: (u32, usize)) -> Result {
    Error::new(Kind::Shape, kinds).fail_if(given.0 != column.kind)?;
    let wanted = rows.saturating_mul(column.len as usize);
    if given.1 == wanted { Ok(()) } else { Err(Error::limit(Kind::Shape, lens, wanted, given.1)) }
}

/// Checks the output for `rows` rows of columns, with these three error messages. Errors: `Shape`.
pub fn check_room(
    [most, kinds, lens]: [&'static str; 3],
    columns: &[Column],
    rows: usize,
    out: &[Option<ElementsMut<'_>>],
) -> Result {
    Error::limit(Kind::Shape, most, columns.len(), out.len()).fail_if(out.len() > columns.len())?;
    for (column, to) in columns.iter().zip(out) {
        if let Some(to) = to {
            check_elements([kinds, lens], column, rows, (to.kind() as u32, to.len()))?;
        }
    }
    Ok(())
}

/// Output for rows: steps of N environments, or frames, where N is 1. Arrays that are `None`, or missing from the end of
/// `columns`, are left out.
#[derive(Debug, Default)]
pub struct RowsOut<'a> {
    /// Most rows to copy.
    pub num_rows: usize,
    /// One entry per column, `[num_rows, N, len]` of its kind.
    pub columns: &'a mut [Option<ElementsMut<'a>>],
    /// `[num_rows, N]` rewards.
    pub reward: Option<&'a mut [f32]>,
    /// `[num_rows, N]` value of the state before the action.
    pub value: Option<&'a mut [f32]>,
    /// `[num_rows, N]` log-probability of the action; trajectories have none.
    pub log_prob: Option<&'a mut [f32]>,
    /// `[num_rows, N]` V(final_obs) where it counts, else 0; trajectories have none.
    pub final_value: Option<&'a mut [f32]>,
    /// `[num_rows, N]`
    pub terminated: Option<&'a mut [u8]>,
    /// `[num_rows, N]`
    pub truncated: Option<&'a mut [u8]>,
    /// `[num_rows, N, M]` the policy's memory before the row.
    pub memory: Option<&'a mut [f32]>,
}

impl RowsOut<'_> {
    fn check(&self, shape: &Shape<'_>, held: &Held, numbers: usize, memory: usize) -> Result {
        const SENTENCES: [&str; 3] = [
            "rows: columns, at most",
            "rows: columns of their own kind",
            "rows: a column [num_rows, N, len] of length",
        ];
        check_room(SENTENCES, shape.table.columns(), numbers, self.columns)?;
        let what = "rows: no log_prob and no final_value, which rollouts have";
        Error::new(Kind::Shape, what)
            .fail_if(!shape.judged && (self.log_prob.is_some() || self.final_value.is_some()))?;
        if self.value.is_some() || self.final_value.is_some() {
            check_given(held.left_out, VALUE)?;
        }
        if self.log_prob.is_some() {
            check_given(held.left_out, LOG_PROB)?;
        }
        check_some("rows: reward of length", &self.reward, numbers)?;
        check_some("rows: value of length", &self.value, numbers)?;
        check_some("rows: log_prob of length", &self.log_prob, numbers)?;
        check_some("rows: final_value of length", &self.final_value, numbers)?;
        check_some("rows: terminated of length", &self.terminated, numbers)?;
        check_some("rows: truncated of length", &self.truncated, numbers)?;
        check_some("rows: memory [num_rows, N, M] of length", &self.memory, memory)
    }
}
