//! T steps of N environments, for on-policy learners: filled step by step, finished once, read in minibatches.
//!
//! All arrays are time-major, `[T, N, ...]`. Observations, actions and other data of the policy are in columns that the host
//! names; column 0 is the observation, and has one more row, the observation after the last step. A rollout goes through three
//! states: `add` fills it; `finish` computes advantages and value targets, once, and closes it; `reset` begins the next one, in
//! which episodes continue.
//!
//! Steps are numbered for the life of the block, and another process may read them while one appends: see [`shared`]. `reset`
//! discards the numbers in use.
//!
//! Samples are numbered as in [`minibatch`](mod@super::minibatch): step t of environment e is sample e * T + t, where T is the
//! number of steps of the finished rollout.
//!
//! ```
//! use rlcore::data::rollout_buffer::{Minibatch, RolloutBuffer, RolloutBufferConfig, Step};
//! use rlcore::data::table::Column;
//! use rlcore::space::{Element, Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! let columns = [Column::new("obs", Element::F32, 2), Column::new("action", Element::I32, 1)];
//! let config = RolloutBufferConfig::new(2, 1, &columns);
//! let mut block = vec![0u64; RolloutBuffer::size(&config)? / 8];
//! let mut buffer = RolloutBuffer::init(bytemuck::cast_slice_mut(&mut block), &config)?;
//! for t in 0..2 {
//!     let (obs, action) = ([t as f32, 0.5], [t]);
//!     buffer.add(&Step {
//!         columns: &[Some(Elements::F32(&obs)), Some(Elements::I32(&action))],
//!         reward: &[1.0],
//!         value: &[0.5],
//!         log_prob: &[-0.7],
//!         terminated: &[0],
//!         truncated: &[0],
//!         ..Default::default()
//!     })?;
//! }
//! buffer.finish(&[0.5], None, 0.99, 0.95)?;
//! let mut index = [0; 2];
//! buffer.draw(1, 1, &mut index)?;
//! let (mut action, mut advantage) = ([0], [0.0]);
//! buffer.view()?.gather(&index[..1], 1, Minibatch {
//!     columns: &mut [None, Some(ElementsMut::I32(&mut action))],
//!     advantage: Some(&mut advantage),
//!     ..Default::default()
//! })?;
//! assert_eq!(action[0] as u32, index[0]);
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};
use core::convert::Infallible;
use core::mem::take;
use core::slice::from_mut;

use super::minibatch::{self, Cut, Window};
use super::monitor::Read;
use super::part::episodes;
use super::part::rollout::{self, Appended, Held, Rollout, RowsOut, Shape};
use super::table::{Column, TableConfig};
use crate::block::shared::{self, StoreSeq};
use crate::block::{self, Cutter, Kind as BlockKind, LayoutError, One, Plan, fields};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::gae::{self, Accumulate};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

mod check;
mod gather;
mod log;

use check::{check_column, check_row};
pub use gather::Minibatch;
pub use log::{ALL_ENVS, EPISODE_LENGTH, EPISODE_RETURN, FIRST_METRIC, MetricRow};

/// Default number of rows of metrics held.
pub const LOG_CAPACITY: u32 = 1024;

/// Configuration of a rollout, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RolloutBufferConfig {
    /// Seed of the draws.
    pub seed: u64,
    /// M: elements of a recurrent policy's memory before the step; 0 for none.
    pub memory_len: u32,
    /// Rows of metrics held, at least 2 N, the most that one step can write; 0: 1024, or 2 N if that is more.
    pub log_capacity: u32,
    /// Number type of the sums of advantages: an [`Accumulate`].
    pub accumulate: u32,
    /// Zero.
    pub reserved: u32,
    /// Columns of a step, beside rewards, values and flags, without stacks; column 0 is the observation. A ring for each of N
    /// environments, with a row for each of at most T steps.
    pub table: TableConfig,
}

/// One step of all environments. Where an episode ended, the observation is the last one that the policy acted on, as with
/// same-step autoreset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step<'a> {
    /// One entry per column, `[N, len]` of its kind: observation, action, and so on. `None` keeps the row as filled through
    /// [`RolloutBuffer::row`].
    pub columns: &'a [Option<Elements<'a>>],
    /// `[N]` rewards.
    pub reward: &'a [f32],
    /// `[N]` V(obs); empty: left out, and calls that need values are refused until the next reset.
    pub value: &'a [f32],
    /// `[N]` log-probability of the action; empty: left out, likewise.
    pub log_prob: &'a [f32],
    /// `[N]` nonzero where the step reached a terminal state.
    pub terminated: &'a [u8],
    /// `[N]` nonzero where the step was the last of an episode that was cut.
    pub truncated: &'a [u8],
    /// `[N]` V(final_obs), read only where truncated and not terminated; `None` only if nothing is, or without `value`.
    pub final_value: Option<&'a [f32]>,
    /// `[N, M]` the policy's memory before the step.
    pub memory: &'a [f32],
    /// `[N]` rewards for the returns of episodes, if not `reward`.
    pub raw_reward: Option<&'a [f32]>,
}

/// Progress of a rollout and of the training around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps of all environments since the block was made: N for each step added.
    pub global_step: u64,
    /// Steps held.
    pub num_steps: u32,
    /// Whether advantages have been computed.
    pub finished: bool,
    /// Episodes that ended since the last reset.
    pub num_ended: u64,
    /// Their mean length; NaN if there are none.
    pub len_mean: f64,
    /// Their mean return; NaN if there are none.
    pub return_mean: f64,
}

impl RolloutBufferConfig {
    /// At most `num_steps` steps of `num_envs` environments with these columns; defaults otherwise.
    pub fn new(num_steps: u32, num_envs: u32, columns: &[Column]) -> Self {
        RolloutBufferConfig { table: TableConfig::new(num_envs, num_steps, columns), ..Zeroable::zeroed() }
    }

    /// The configuration with its default `log_capacity` resolved.
    fn settled(&self) -> Self {
        let usual = LOG_CAPACITY.max(self.table.num_rings.saturating_mul(2));
        RolloutBufferConfig { log_capacity: if self.log_capacity == 0 { usual } else { self.log_capacity }, ..*self }
    }

    fn check(&self) -> Result {
        let (num_steps, num_envs) = (self.table.num_rows, self.table.num_rings);
        Error::config("rollout_buffer config: num_steps of at least", 1, 0).fail_if(num_steps == 0)?;
        Error::config("rollout_buffer config: num_envs of at least", 1, 0).fail_if(num_envs == 0)?;
        let what = "rollout_buffer config: samples that 32 bits can number, num_steps with these num_envs of at most";
        Error::config(what, u32::MAX.checked_div(num_envs).unwrap_or(0), num_steps)
            .fail_if(num_steps.checked_mul(num_envs).is_none())?;
        let what = "rollout_buffer config: log_capacity of at least twice num_envs,";
        Error::config(what, num_envs.saturating_mul(2), self.log_capacity)
            .fail_if(self.log_capacity < num_envs.saturating_mul(2))?;
        let what = "rollout_buffer setup: accumulate of at most";
        Error::config(what, 1, self.accumulate).fail_if(Accumulate::from_number(self.accumulate).is_none())?;
        Error::config("rollout_buffer setup: reserved of", 0, self.reserved).fail_if(self.reserved != 0)?;
        self.table.check()?;
        self.table.check_plain("rollout_buffer config: columns with num_stack of at most")
    }

    fn num_envs(&self) -> usize {
        self.table.num_rings as usize
    }

    fn num_steps(&self) -> usize {
        self.table.num_rows as usize
    }

    fn shape(&self) -> Shape<'_> {
        Shape { table: &self.table, memory_len: self.memory_len as usize, judged: true }
    }

    fn accumulate(&self) -> Accumulate {
        Accumulate::from_number(self.accumulate).unwrap_or_default()
    }
}

/// The scalars that change.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    rng: Rng,
    global_step: u64,
    /// Rows of metrics ever written.
    logged: u64,
    /// Episodes ended since the last reset, and sums over them.
    num_ended: u64,
    ended_len: u64,
    ended_return: f64,
    /// Steps held.
    filled: u32,
    finished: u32,
    /// Trajectories in `starts`; 0 until they are needed.
    num_trajectories: u32,
    /// Arrays missing in some step: bits [`rollout::VALUE`] and [`rollout::LOG_PROB`].
    left_out: u32,
}

fields! {
    /// The layout of the block, defined only here.
    spans Spans(config: &RolloutBufferConfig, n: usize) {
        /// Its ring is the log of metrics.
        seq: One<StoreSeq> = (),
        state: One<State> = (),
        /// `[N]` 1 where step 0 starts an episode.
        first: [u8] = n,
        /// `[N]` return of the current episode.
        running_return: [f64] = n,
        running_len: [u32] = n,
        log: [MetricRow] = config.log_capacity as usize,
        rows: Rollout = &config.shape(),
    }
    /// The arrays, for writing.
    write Fields {}
    /// A rollout as of the creation of the view, for reading by any number of threads.
    ///
    /// With a concurrent writer, calls that copy steps or metrics out fail with `Range` if these were discarded meanwhile; the
    /// copy is invalid then. Arrays that are only borrowed may change at any time.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        config: RolloutBufferConfig,
        /// Number of the first step.
        begin: u64,
        /// The [`State`] when the view was made.
        held: State,
    }
}

fn spans(config: &RolloutBufferConfig) -> Result<(Spans, usize)> {
    config.check()?;
    lay(config)
}

/// As [`spans`], for a configuration that was checked when its block was accepted.
fn lay(config: &RolloutBufferConfig) -> Result<(Spans, usize)> {
    let mut plan = Plan::default();
    block::spans::<RolloutBufferConfig>(&mut plan)?;
    Ok((Spans::plan(&mut plan, config, config.num_envs())?, plan.size()?))
}

const STEPS: &str = "rollout_buffer: fewer than 2^63 steps of all environments";
const METRICS: &str = "rollout_buffer: fewer than 2^63 metrics";
/// Bound of the absolute return of an episode, for any rewards.
const MOST: f64 = 1e60;
const UNFINISHED: Error = Error::new(Kind::NotReady, "rollout_buffer: a rollout that is finished");

impl Fields<'_> {
    /// Writes one row of metrics; between `begin` and `end`.
    fn log(&mut self, row: MetricRow) {
        shared::begin(from_mut(&mut self.seq.writing), 1);
        let slot = self.state.logged.checked_rem(self.log.len() as u64).unwrap_or(0) as usize;
        if let Some(to) = self.log.get_mut(slot) {
            *to = row;
        }
        shared::count(&mut self.state.logged);
    }

    /// Stores the random stream after a draw.
    fn keep_rng(self, rng: Rng) {
        self.seq.begin();
        self.state.rng = rng;
        self.seq.end();
    }

    /// Ends a change that may have written rows of metrics.
    fn end(&mut self) {
        self.seq.end();
        shared::end(from_mut(&mut self.seq.writing));
    }
}

/// A rollout in the caller's block.
#[derive(Debug)]
pub struct RolloutBuffer<'a> {
    config: RolloutBufferConfig,
    spans: Spans,
    mem: &'a mut [u8],
}

impl<'a> RolloutBuffer<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &RolloutBufferConfig) -> Result<usize> {
        Ok(spans(&config.settled())?.1)
    }

    /// Initializes an empty rollout. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &RolloutBufferConfig) -> Result<Self> {
        let config = config.settled();
        let (spans, size) = spans(&config)?;
        let mem = block::create(mem, BlockKind::RolloutBuffer, size, &config)?;
        let mut buffer = RolloutBuffer { config, spans, mem };
        let f = buffer.fields()?;
        f.state.rng = Rng::seeded(config.seed);
        f.first.fill(1);
        Ok(buffer)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::RolloutBuffer, |config| Ok(spans(config)?.1))?;
        let buffer = RolloutBuffer { config, spans: lay(&config)?.0, mem };
        block::view(buffer.mem, buffer.spans.seq)?.first().ok_or(LayoutError)?.check_image()?;
        buffer.view()?.check_image()?;
        Ok(buffer)
    }

    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Align`, `Size`, `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::RolloutBuffer)?;
        Ok(RolloutBuffer { config, spans: lay(&config)?.0, mem })
    }

    /// The configuration of the block, with its actual `log_capacity`.
    pub fn config(&self) -> &RolloutBufferConfig {
        &self.config
    }

    /// The rollout, for reading.
    pub fn view(&self) -> Result<View<'_>> {
        View::cut(self.mem, self.config, &self.spans)
    }

    fn fields(&mut self) -> Result<Fields<'_>> {
        Ok(Fields::cut(&mut Cutter::new(self.mem), &self.spans)?)
    }

    /// Row `step` of a column, `[N, len]`, to fill in place: the row of the step to be added next, or, of column 0, also the one
    /// after it. Errors: `Range`.
    pub fn row(&mut self, column: usize, step: usize) -> Result<ElementsMut<'_>> {
        let (n, held) = (self.config.num_envs(), self.view()?.held.filled as usize);
        let described = *self.config.table.column(column)?;
        let room = self.config.num_steps().saturating_add(usize::from(column == 0));
        let last = held.saturating_add(usize::from(column == 0)).min(room.saturating_sub(1));
        let what = "rollout_buffer: a row that is to be filled next; of column 0 also the one after it:";
        Error::limit(Kind::Range, what, held, step).fail_if(step < held || step > last)?;
        let size = n.saturating_mul(described.row_size());
        let bytes = self.fields()?.rows.columns.into_iter().nth(column).ok_or(LayoutError)?;
        ElementsMut::of_bytes(described.element()?, block::rows_mut(bytes, step, 1, size)?)
    }

    /// Appends a step, and logs the length and the return of every episode that it ended.
    ///
    /// Errors: `NotReady` if the rollout is full or finished; `Shape`; `Null` for a missing `final_value`; `Value` for a number
    /// that is not finite; `Range` after 2^63 steps or metrics. Nothing changes then.
    pub fn add(&mut self, step: &Step<'_>) -> Result {
        self.view()?.check_step(step)?;
        let (config, n) = (self.config, self.config.num_envs());
        let mut f = self.fields()?;
        let at = f.state.filled as usize;
        let &Step { reward, value, log_prob, terminated, truncated, memory, .. } = step;
        let rows = Appended { reward, value, log_prob: Some(log_prob), terminated, truncated, memory };
        let left_out = f.rows.append(&config.shape(), at, 1, step.columns.iter().copied(), &rows)?;
        let ends = terminated.iter().zip(truncated);
        let mut final_value = step.final_value.unwrap_or_default().iter();
        for (to, ends) in block::rows_mut(f.rows.final_value, at, 1, n)?.iter_mut().zip(ends.clone()) {
            let from = final_value.next().copied();
            *to = from.filter(|_| is_cut(ends)).unwrap_or(0.0);
        }
        f.seq.begin();
        let (total, len) = (take(&mut f.running_return), take(&mut f.running_len));
        let (reward, rows) = (step.raw_reward.unwrap_or(reward), episodes::stepped(terminated, truncated));
        let Ok(()) = episodes::count::<Infallible>(total, len, reward, rows, |env, episode_return, episode_len| {
            f.state.num_ended = f.state.num_ended.wrapping_add(1);
            f.state.ended_len = f.state.ended_len.wrapping_add(episode_len.into());
            f.state.ended_return += episode_return;
            for (metric, value) in [(EPISODE_LENGTH, episode_len.into()), (EPISODE_RETURN, episode_return)] {
                f.log(MetricRow { global_step: f.state.global_step, value, env: env as u32, metric });
            }
            Ok(())
        });
        f.state.filled = f.state.filled.wrapping_add(1);
        f.state.left_out |= left_out;
        f.state.global_step = f.state.global_step.wrapping_add(n as u64);
        f.end();
        Ok(())
    }

    /// Ends the episodes of environments that the host reset before the outcome of their last step was known: `gone`, `[N]`
    /// flags. `truncated` of the last step of each becomes `rollout::CUT`: nothing is learned from that step, its advantage is 0
    /// and its value target its value; the step before it bootstraps from that value, as if truncated. The episodes are not
    /// counted. In a finished rollout, advantages do not change.
    ///
    /// Errors: `Shape`. Nothing changes then.
    pub fn cut_rows(&mut self, gone: &[u8]) -> Result {
        let n = self.config.num_envs();
        check_len("rollout_buffer cut: flags [N] of length", gone, n)?;
        let f = self.fields()?;
        let last = (f.state.filled as usize).checked_sub(1);
        f.seq.begin();
        for env in gone.iter().enumerate().filter(|(_, gone)| **gone != 0).map(|(env, _)| env) {
            let (Some(total), Some(len), Some(first)) =
                (f.running_return.get_mut(env), f.running_len.get_mut(env), f.first.get_mut(env))
            else {
                return Err(LayoutError.into());
            };
            (*total, *len) = (0.0, 0);
            let Some(at) = last.map(|last| last.saturating_mul(n).saturating_add(env)) else {
                *first = 1;
                continue;
            };
            if let (Some(&0), Some(&0)) = (f.rows.terminated.get(at), f.rows.truncated.get(at)) {
                *f.rows.truncated.get_mut(at).ok_or(LayoutError)? = rollout::CUT;
                *f.rows.final_value.get_mut(at).ok_or(LayoutError)? = *f.rows.value.get(at).ok_or(LayoutError)?;
            }
        }
        f.seq.end();
        Ok(())
    }

    /// Closes the rollout: computes advantages and value targets of the steps held, as [`gae::gae`] does.
    ///
    /// `bootstrap_value`: `[N]`, V of the observation after the last step. `next_obs`: that observation, `[N, len]` of column 0,
    /// which a reset carries over; `None` keeps the row as filled through [`RolloutBuffer::row`].
    /// Errors: `NotReady` if no step is held, the rollout is finished, or values were left out; `Shape`; `Range` for a rate
    /// outside [0, 1]; `Value`. Nothing changes then.
    pub fn finish(
        &mut self,
        bootstrap_value: &[f32],
        next_obs: Option<Elements<'_>>,
        discount: f32,
        gae_lambda: f32,
    ) -> Result {
        let (config, n) = (self.config, self.config.num_envs());
        let obs = config.table.column(0)?;
        let mut f = self.fields()?;
        let t = f.state.filled as usize;
        let what = "rollout_buffer: a rollout that is not finished yet; reset it";
        Error::new(Kind::NotReady, what).fail_if(f.state.finished != 0)?;
        Error::limit(Kind::NotReady, "rollout_buffer: steps to finish, at least", 1, 0).fail_if(t == 0)?;
        rollout::check_given(f.state.left_out, rollout::VALUE)?;
        let size = n.saturating_mul(obs.row_size());
        if let Some(next_obs) = next_obs {
            check_column(obs, n, &next_obs)?;
        } else {
            check_row(obs, block::rows(&*f.rows.columns[0], t, 1, size)?)?;
        }
        f.rows.compute_advantages(&config.shape(), t, bootstrap_value, config.accumulate(), [discount, gae_lambda])?;
        let [to, ..] = f.rows.columns;
        let next_row = block::rows_mut(to, t, 1, size)?;
        if let Some(next_obs) = next_obs {
            block::copy(next_row, next_obs.bytes());
        }
        f.seq.begin();
        block::copy(f.rows.bootstrap_value, bootstrap_value);
        f.state.finished = 1;
        f.state.num_trajectories = 0;
        f.seq.end();
        Ok(())
    }

    /// Begins the next rollout where this one stopped: steps, advantages and means of episodes are dropped; the observation after
    /// the last step becomes row 0 of column 0, and episodes, metrics and `global_step` continue.
    pub fn reset(&mut self) -> Result {
        let (n, table) = (self.config.num_envs(), self.config.table);
        let f = self.fields()?;
        let t = f.state.filled as usize;
        f.seq.begin();
        f.seq.forget(f.state.filled);
        if let Some(last) = t.checked_sub(1) {
            let (terminated, truncated) =
                (block::rows(f.rows.terminated, last, 1, n)?, block::rows(f.rows.truncated, last, 1, n)?);
            for (first, (terminated, truncated)) in f.first.iter_mut().zip(terminated.iter().zip(truncated)) {
                *first = u8::from(terminated | truncated != 0);
            }
            let [obs, ..] = f.rows.columns;
            let size = n.saturating_mul(table.column(0)?.row_size());
            let (head, rest) = obs.split_at_mut_checked(size).ok_or(LayoutError)?;
            block::copy(head, block::rows(rest, last, 1, size)?);
        }
        *f.state = State {
            num_ended: 0,
            ended_len: 0,
            ended_return: 0.0,
            filled: 0,
            finished: 0,
            num_trajectories: 0,
            left_out: 0,
            ..*f.state
        };
        f.seq.end();
        Ok(())
    }
}

/// Random draws, from the block's own stream.
impl RolloutBuffer<'_> {
    /// Writes the first sample of every window of `recurrence` samples, in random order, as [`Cut::draw`] does. `index`:
    /// `[T * N / recurrence]`.
    /// Errors: `NotReady` unless finished; `Shape`; `Range` for sizes that do not divide. Nothing is written or drawn then.
    pub fn draw(&mut self, minibatch_size: usize, recurrence: usize, index: &mut [u32]) -> Result {
        let num_envs = self.config.num_envs();
        let f = self.fields()?;
        UNFINISHED.fail_if(f.state.finished == 0)?;
        let cut = Cut { num_steps: f.state.filled as usize, num_envs, minibatch_size, recurrence };
        let mut rng = f.state.rng;
        cut.draw(&mut rng, index)?;
        f.keep_rng(rng);
        Ok(())
    }

    /// Draws windows of at most `timesteps` samples, as [`minibatch::draw_window`] does, one after another.
    /// Errors: `NotReady` unless finished; `Range` for no timesteps, or an `end_chance` outside [0, 1]. Nothing is written or
    /// drawn then.
    pub fn draw_windows(&mut self, timesteps: u32, end_chance: f64, windows: &mut [Window]) -> Result {
        let n = self.config.num_envs();
        let f = self.fields()?;
        UNFINISHED.fail_if(f.state.finished == 0)?;
        Error::limit(Kind::Range, "rollout_buffer: timesteps of at least", 1, 0).fail_if(timesteps == 0)?;
        let what = "rollout_buffer: end_chance from 0 to 1";
        Error::new(Kind::Range, what).given_f32(end_chance as f32).fail_if(!(0.0..=1.0).contains(&end_chance))?;
        let (t, len) = (f.state.filled as usize, (f.state.filled as usize).saturating_mul(n));
        let starts = block::rows_mut(f.rows.starts, 0, len, 1)?;
        let mut num_trajectories = f.state.num_trajectories;
        if num_trajectories == 0 {
            let (terminated, truncated) = (f.rows.terminated, f.rows.truncated);
            let (terminated, truncated) = (block::rows(terminated, 0, len, 1)?, block::rows(truncated, 0, len, 1)?);
            num_trajectories = minibatch::find_trajectories(terminated, truncated, t, n, starts)? as u32;
        }
        let starts = block::rows(starts, 0, num_trajectories as usize, 1)?;
        let mut rng = f.state.rng;
        for window in windows {
            *window = minibatch::draw_window(starts, len as u32, timesteps, end_chance, &mut rng).ok_or(LayoutError)?;
        }
        f.seq.begin();
        (f.state.rng, f.state.num_trajectories) = (rng, num_trajectories);
        f.seq.end();
        Ok(())
    }

    /// Draws one of the steps held, all equally likely. Errors: `NotReady` if there is none.
    pub fn sample(&mut self) -> Result<u32> {
        let f = self.fields()?;
        let none = Error::limit(Kind::NotReady, "rollout_buffer: steps to choose from, at least", 1, 0);
        let last = f.state.filled.checked_sub(1).ok_or(none)?;
        let mut rng = f.state.rng;
        let step = rng.bounded(last.into()) as u32;
        f.keep_rng(rng);
        Ok(step)
    }
}

impl<'a> View<'a> {
    /// Accepts a block that another process is writing: checks only the constant parts, and reads the current progress.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header; `Busy`.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::RolloutBuffer, |config| Ok(spans(config)?.1))?;
        Self::cut(mem, config, &lay(&config)?.0)
    }

    /// Opens a block that `init` or `attach` has accepted. Errors: `Align`, `Size`, `Image`; `Busy` only with a concurrent
    /// writer.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::RolloutBuffer)?;
        Self::cut(mem, config, &lay(&config)?.0)
    }

    fn cut(mem: &'a [u8], config: RolloutBufferConfig, spans: &Spans) -> Result<Self> {
        let mut view = Self::of(mem, spans, config, 0, State::zeroed())?;
        (view.begin, view.held) = view.seq.read(view.state)?;
        Ok(view)
    }

    /// Progress of the rollout and of the training around it.
    pub fn progress(&self) -> Progress {
        let State { global_step, num_ended, ended_len, ended_return, filled, finished, .. } = self.held;
        let mean = |sum: f64| if num_ended > 0 { sum / num_ended as f64 } else { f64::NAN };
        Progress {
            global_step,
            num_steps: filled,
            finished: finished != 0,
            num_ended,
            len_mean: mean(ended_len as f64),
            return_mean: mean(ended_return),
        }
    }

    /// The columns of the block.
    pub fn columns(&self) -> &[Column] {
        self.config.table.columns()
    }

    /// N.
    pub fn num_envs(&self) -> usize {
        self.config.num_envs()
    }

    /// M.
    pub fn memory_len(&self) -> usize {
        self.config.memory_len as usize
    }

    /// Steps held.
    fn num_steps(&self) -> usize {
        self.held.filled as usize
    }

    fn num_samples(&self) -> usize {
        self.num_steps().saturating_mul(self.num_envs())
    }

    fn rows_held(&self) -> Held {
        Held { first: self.begin, len: self.num_steps(), left_out: self.held.left_out }
    }

    /// Input of the advantages, for the steps held; `bootstrap_value` is 0 until the rollout is finished. `value` is empty if a
    /// step left it out, and calls that need it are refused.
    pub fn rollout(&self) -> Result<gae::Rollout<'a>> {
        Ok(self.rows.rollout(&self.config.shape(), &self.rows_held(), self.config.accumulate())?)
    }

    /// Log-probabilities of the steps held, `[T, N]`; empty if a step left them out.
    pub fn log_prob(&self) -> Result<&'a [f32]> {
        Ok(if self.rows_held().has(rollout::LOG_PROB) {
            block::rows(self.rows.log_prob, 0, self.num_samples(), 1)?
        } else {
            &[]
        })
    }

    /// The policy's memory before each of the steps held, `[T, N, M]`.
    pub fn memory(&self) -> Result<&'a [f32]> {
        Ok(self.rows.memory(&self.config.shape(), self.num_steps())?)
    }

    /// Advantages and value targets, `[T, N]` each. Errors: `NotReady` unless finished.
    pub fn advantages(&self) -> Result<(&'a [f32], &'a [f32])> {
        self.check_finished()?;
        let len = self.num_samples();
        Ok((block::rows(self.rows.advantage, 0, len, 1)?, block::rows(self.rows.value_target, 0, len, 1)?))
    }

    /// Whether step 0 of each environment starts an episode, `[N]`.
    pub fn first(&self) -> &'a [u8] {
        self.first
    }

    /// A column of the steps held, `[T, N, len]`; of column 0 `[T + 1, N, len]`, the last row being the observation to act on
    /// next, once it is known. Errors: `Range`.
    pub fn column(&self, column: usize) -> Result<Elements<'a>> {
        let rows = self.num_steps().saturating_add(usize::from(column == 0));
        self.rows.column(&self.config.shape(), column, 0, rows)
    }

    /// Copies steps out from number `next` on, counted for the life of the block, as many as are held and fit. Steps no longer
    /// held are skipped and counted as lost.
    /// Errors: `Shape`; `NotReady` for an array that a step left out; `Range` if fewer than `next` have been added. Nothing is
    /// written then.
    pub fn read(&self, next: u64, out: RowsOut<'_>) -> Result<Read> {
        let read = self.rows.read(&self.config.shape(), &self.rows_held(), next, out)?;
        self.check_held()?;
        Ok(read)
    }

    /// Checks after a copy that a concurrent writer has not discarded the steps meanwhile. Errors: `Range`.
    pub fn check_held(&self) -> Result {
        self.seq.check_held(self.begin)
    }

    fn check_finished(&self) -> Result {
        if self.held.finished != 0 { Ok(()) } else { Err(UNFINISHED) }
    }
}

/// Whether the episode was cut without terminating, so that its final value counts.
fn is_cut((terminated, truncated): (&u8, &u8)) -> bool {
    *terminated == 0 && *truncated != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Element;

    /// Every call that copies from a view fails once a concurrent writer has emptied the rollout.
    #[test]
    fn a_rollout_that_was_emptied_beside_is_refused() {
        let columns = [Column::new("obs", Element::U8, 1)];
        let config = RolloutBufferConfig { log_capacity: 2, ..RolloutBufferConfig::new(1, 1, &columns) };
        let mut mem = [0u64; 512];
        let mut buffer = RolloutBuffer::init(bytemuck::cast_slice_mut(&mut mem), &config).unwrap();
        let ends: (&[u8], &[u8]) = (&[0], &[0]);
        let columns: [Option<Elements<'_>>; 1] = [Some(Elements::U8(&[3]))];
        let step = Step { columns: &columns, reward: &[1.0], value: &[0.5], log_prob: &[0.0], ..Default::default() };
        buffer.add(&Step { terminated: ends.0, truncated: ends.1, ..step }).unwrap();
        buffer.finish(&[0.5], None, 0.9, 0.9).unwrap();
        let held = buffer.view().unwrap();
        let emptied = View { seq: &StoreSeq { first: 1, ..*held.seq }, ..held };
        let window = [Window { first: 0, len: 1, pad: 0, timestep: 0 }];
        for (view, kind) in [(held, None), (emptied, Some(Kind::Range))] {
            let calls = [
                view.check_held(),
                view.gather(&[0], 1, Minibatch::default()),
                view.gather_windows(&window, 1, 0, Minibatch::default()),
                view.read(0, RowsOut { num_rows: 1, ..Default::default() }).map(|_| ()),
                crate::data::rollout_text::step(&view, 0, None).map(|_| ()),
            ];
            assert_eq!(calls.map(|call| call.err().map(|e| e.kind)), [kind; 5]);
        }
    }
}
