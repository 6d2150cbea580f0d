//! What N environments did in T steps, for learners on policy: filled step by step, judged once, read in minibatches.
//!
//! Everything lies time-major, `[T, N, ...]`. What a policy saw and did lies in columns that the host names; column 0 is the
//! observation, and has one row more, the observation after the last step. A rollout goes through three states: `add` fills
//! it, `finish` computes advantages and value targets, once, and closes it; `reset` begins the next one, in which episodes
//! go on.
//!
//! Steps are numbered for the life of the block, and another process may read them beside the one that appends: see
//! [`shared`]. `reset` gives the numbers up.
//!
//! Samples are numbered as in [`minibatch`](mod@super::minibatch): step t of environment e is sample e * T + t, where T is the
//! number of steps that the rollout was finished with.
//!
//! ```
//! use rlcore::data::rollout_buffer::{Minibatch, RolloutBuffer, RolloutBufferConfig, Step};
//! use rlcore::data::table::Column;
//! use rlcore::space::{Element, Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! let columns = [Column::new("obs", Element::F32, 2), Column::new("action", Element::I32, 1)];
//! let config = RolloutBufferConfig { num_steps: 2, columns: &columns, ..Default::default() };
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
use core::iter::once;
use core::slice::{from_mut, from_ref};

use super::minibatch::{self, Cut, Window};
use super::monitor::Read;
use super::rows::{self, RowsOut};
use super::table::{Column, Columns, TableConfig};
use crate::block::shared::{self, Turn};
use crate::block::{self, Cutter, Kind as BlockKind, Misfit, One, Plan, fields};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::kernels::gae::{Accumulate, Rollout, gae};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut};

/// Rows of metrics that are held if the configuration does not say.
pub const LOG_CAPACITY: u32 = 1024;

/// What a rollout is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloutBufferConfig<'a> {
    /// T: most steps of a rollout, at least 1.
    pub num_steps: u32,
    /// N, at least 1.
    pub num_envs: u32,
    /// M: numbers of a recurrent policy's memory, as it was before the step; 0 for none.
    pub memory_len: u32,
    /// Rows of metrics held, at least 2 N, as many as one step can write; 0: 1024, or 2 N if that is more.
    pub log_capacity: u32,
    /// What draws are seeded with.
    pub seed: u64,
    /// What advantages are summed in.
    pub accumulate: Accumulate,
    /// What is kept of a step beside rewards, values and flags, without stacks; column 0 is the observation.
    pub columns: &'a [Column],
}

impl Default for RolloutBufferConfig<'_> {
    fn default() -> Self {
        RolloutBufferConfig {
            num_steps: 128,
            num_envs: 1,
            memory_len: 0,
            log_capacity: 0,
            seed: 0,
            accumulate: Accumulate::F32,
            columns: &[],
        }
    }
}

/// One step of all environments. Where an episode ended, its observation is the last one that a policy acted on, as
/// same-step autoreset shows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step<'a> {
    /// One entry a column, `[N, len]` of its kind: what the policy saw, did, and so on. `None` leaves what
    /// [`RolloutBuffer::row`] has been filled with.
    pub columns: &'a [Option<Elements<'a>>],
    /// `[N]` what the action earned.
    pub reward: &'a [f32],
    /// `[N]` V(obs); empty: left out, and what needs values is refused until the next reset.
    pub value: &'a [f32],
    /// `[N]` of the action; empty: left out, likewise.
    pub log_prob: &'a [f32],
    /// `[N]` nonzero where the step reached a terminal state.
    pub terminated: &'a [u8],
    /// `[N]` nonzero where the step was the last of an episode that was cut.
    pub truncated: &'a [u8],
    /// `[N]` V(final_obs), read only where truncated and not terminated; `None` only if nothing is, or without `value`.
    pub final_value: Option<&'a [f32]>,
    /// `[N, M]` the policy's memory before the step.
    pub memory: &'a [f32],
    /// `[N]` what returns of episodes are summed from, if not from `reward`.
    pub raw_reward: Option<&'a [f32]>,
}

/// Room for a minibatch; what is `None`, or missing from the end of `columns`, is left out. Shapes are those of
/// [`View::gather`] and [`View::gather_windows`].
#[derive(Debug, Default)]
pub struct Minibatch<'a> {
    /// One entry a column.
    pub columns: &'a mut [Option<ElementsMut<'a>>],
    /// Of the action when it was chosen.
    pub log_prob: Option<&'a mut [f32]>,
    /// V(obs) when the action was chosen.
    pub value: Option<&'a mut [f32]>,
    /// Generalised advantage.
    pub advantage: Option<&'a mut [f32]>,
    /// Advantage + value.
    pub value_target: Option<&'a mut [f32]>,
    /// What the action earned.
    pub reward: Option<&'a mut [f32]>,
    /// `gather`: 0 where the observation starts an episode, else 1. `gather_windows`: 0 where a row is padding, else 1.
    pub mask: Option<&'a mut [f32]>,
    /// `[rows, M]`: the policy's memory before the first sample of each row.
    pub memory: Option<&'a mut [f32]>,
    /// Steps of the trajectory before each sample, for `gather_windows`.
    pub timestep: Option<&'a mut [i32]>,
}

/// A number worth logging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MetricRow {
    /// Steps of all environments before the step that it is about.
    pub global_step: u64,
    /// The number.
    pub value: f64,
    /// Its environment; [`ALL_ENVS`] if it is of none.
    pub env: u32,
    /// What it is: [`EPISODE_LENGTH`], [`EPISODE_RETURN`], or the host's own from [`FIRST_METRIC`] on.
    pub metric: u32,
}

/// Metric: steps of an episode that ended.
pub const EPISODE_LENGTH: u32 = 0;
/// Metric: sum of the rewards of an episode that ended.
pub const EPISODE_RETURN: u32 = 1;
/// The first metric that the host may give a meaning.
pub const FIRST_METRIC: u32 = 2;
/// The environment of a metric that is of none in particular.
pub const ALL_ENVS: u32 = u32::MAX;

/// How far a rollout and the training around it have come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps of all environments since the block was made: N for each step added.
    pub global_step: u64,
    /// Steps that are held.
    pub num_steps: u32,
    /// Whether advantages are there.
    pub finished: bool,
    /// Episodes that ended since the last reset.
    pub num_ended: u64,
    /// Their mean length; NaN of none.
    pub len_mean: f64,
    /// Their mean return; NaN of none.
    pub return_mean: f64,
}

/// What is agreed when the block is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Setup {
    seed: u64,
    memory_len: u32,
    log_capacity: u32,
    /// An [`Accumulate`].
    accumulate: u32,
    reserved: u32,
    /// A ring for each environment, with a row for each step.
    table: TableConfig,
}

impl Setup {
    fn new(c: &RolloutBufferConfig<'_>) -> Result<Setup> {
        let least = c.num_envs.saturating_mul(2);
        let setup = Setup {
            seed: c.seed,
            memory_len: c.memory_len,
            log_capacity: if c.log_capacity == 0 { LOG_CAPACITY.max(least) } else { c.log_capacity },
            accumulate: c.accumulate as u32,
            reserved: 0,
            table: TableConfig::new(c.num_envs, c.num_steps, c.columns),
        };
        setup.check()?;
        Ok(setup)
    }

    fn check(&self) -> Result {
        let refuse =
            |what, needed: usize, given: u32| Err(Error::new(Kind::Config, what).needed(needed).given(given as usize));
        let (num_steps, num_envs) = (self.table.num_rows, self.table.num_rings);
        if num_steps == 0 {
            return refuse("rollout_buffer config: num_steps of at least", 1, 0);
        }
        if num_envs == 0 {
            return refuse("rollout_buffer config: num_envs of at least", 1, 0);
        }
        if num_steps.checked_mul(num_envs).is_none() {
            let what =
                "rollout_buffer config: samples that 32 bits can number, num_steps with these num_envs of at most";
            return refuse(what, u32::MAX.checked_div(num_envs).unwrap_or(0) as usize, num_steps);
        }
        if self.log_capacity < num_envs.saturating_mul(2) {
            let what = "rollout_buffer config: log_capacity of at least twice num_envs,";
            return refuse(what, num_envs.saturating_mul(2) as usize, self.log_capacity);
        }
        if Accumulate::from_number(self.accumulate).is_none() {
            return refuse("rollout_buffer setup: accumulate of at most", 1, self.accumulate);
        }
        if self.reserved != 0 {
            return refuse("rollout_buffer setup: reserved of", 0, self.reserved);
        }
        self.table.check()?;
        match self.table.columns().iter().find(|column| column.num_stack > 1) {
            Some(column) => refuse("rollout_buffer config: columns with num_stack of at most", 1, column.num_stack),
            None => Ok(()),
        }
    }

    fn num_envs(&self) -> usize {
        self.table.num_rings as usize
    }

    fn num_steps(&self) -> usize {
        self.table.num_rows as usize
    }

    fn memory_len(&self) -> usize {
        self.memory_len as usize
    }

    fn accumulate(&self) -> Accumulate {
        Accumulate::from_number(self.accumulate).unwrap_or_default()
    }
}

/// What changes and is no array.
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
    /// Trajectories in `starts`; 0 until they are asked for.
    num_trajectories: u32,
    /// Arrays that a step was added without: bits [`rows::VALUE`] and [`rows::LOG_PROB`].
    left_out: u32,
}

fields! {
    /// The one place where the layout is written down.
    spans Spans(setup: &Setup, n: usize, len: usize) {
        /// Its ring is that of the metrics.
        turn: One<Turn> = (),
        state: One<State> = (),
        /// `[N]` 1 where step 0 starts an episode.
        first: [u8] = n,
        /// `[N]` of the episode that is going on.
        running_return: [f64] = n,
        running_len: [u32] = n,
        log: [MetricRow] = setup.log_capacity as usize,
        /// `[T, N]`, as all of these.
        reward: [f32] = len,
        value: [f32] = len,
        log_prob: [f32] = len,
        terminated: [u8] = len,
        truncated: [u8] = len,
        /// 0 where it is not needed.
        final_value: [f32] = len,
        /// `[N]`
        bootstrap_value: [f32] = n,
        advantage: [f32] = len,
        value_target: [f32] = len,
        starts: [u32] = len,
        /// `[T, N, M]`
        memory: [f32] = len.saturating_mul(setup.memory_len()),
        /// `[T, N, row_size]` bytes; column 0 `[T + 1, N, row_size]`.
        columns: Columns = (&setup.table, len, len.saturating_add(n)),
    }
    /// The arrays, to write.
    write Fields {}
    /// All of a rollout as it was when this was made, to read; several threads may.
    ///
    /// Beside a writer, calls that copy steps or metrics out refuse with `Range` what it has forgotten meanwhile; then what was
    /// copied means nothing. Arrays that are only pointed at may change at any time.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        setup: Setup,
        /// Number of the first step.
        begin: u64,
        /// What [`State`] was when this was made.
        held: State,
    }
}

fn spans(setup: &Setup) -> Result<(Spans, usize)> {
    let (t, n) = (setup.num_steps(), setup.num_envs());
    let mut plan = Plan::default();
    block::spans::<Setup>(&mut plan)?;
    // What overflows is too long for any element.
    Ok((Spans::plan(&mut plan, setup, n, t.saturating_mul(n))?, plan.size()?))
}

fn attach_setup(mem: &[u8]) -> Result<Setup> {
    block::attach(mem, BlockKind::RolloutBuffer, |setup: &Setup| {
        setup.check()?;
        Ok(spans(setup)?.1)
    })
}

const STEPS: &str = "rollout_buffer: fewer than 2^63 steps of all environments";
const METRICS: &str = "rollout_buffer: fewer than 2^63 metrics";
/// No return of an episode is larger in size, whatever its rewards are.
const MOST: f64 = 1e60;
const UNFINISHED: Error = Error::new(Kind::NotReady, "rollout_buffer: a rollout that is finished");

impl Fields<'_> {
    /// Writes one row of metrics; between `begin` and `end`.
    fn log(&mut self, row: MetricRow) {
        shared::begin(from_mut(&mut self.turn.writing), 1);
        let slot = self.state.logged.checked_rem(self.log.len() as u64).unwrap_or(0) as usize;
        if let Some(to) = self.log.get_mut(slot) {
            *to = row;
        }
        shared::count(&mut self.state.logged);
    }

    /// Ends a draw.
    fn keep_rng(self, rng: Rng) {
        self.turn.begin();
        self.state.rng = rng;
        self.turn.end();
    }

    /// Ends a change that rows of metrics may have been written in.
    fn end(&mut self) {
        self.turn.end();
        shared::end(from_mut(&mut self.turn.writing));
    }
}

/// A rollout in the caller's block.
#[derive(Debug)]
pub struct RolloutBuffer<'a> {
    setup: Setup,
    spans: Spans,
    mem: &'a mut [u8],
}

impl<'a> RolloutBuffer<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &RolloutBufferConfig<'_>) -> Result<usize> {
        Ok(spans(&Setup::new(config)?)?.1)
    }

    /// Lays an empty rollout out. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &RolloutBufferConfig<'_>) -> Result<Self> {
        let setup = Setup::new(config)?;
        let (spans, size) = spans(&setup)?;
        let mut buffer =
            RolloutBuffer { setup, spans, mem: block::create(mem, BlockKind::RolloutBuffer, size, &setup)? };
        let f = buffer.fields()?;
        f.state.rng = Rng::seeded(config.seed);
        f.first.fill(1);
        Ok(buffer)
    }

    /// Accepts bytes that a block was copied to. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let setup = attach_setup(mem)?;
        let buffer = RolloutBuffer { setup, spans: spans(&setup)?.0, mem };
        block::view(buffer.mem, buffer.spans.turn)?.first().ok_or(Misfit)?.check_image()?;
        buffer.view()?.check_image()?;
        Ok(buffer)
    }

    /// A block that `init` or `attach` has accepted, without looking at it again. Errors: `Align`, `Size`, `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let setup = block::config(mem, BlockKind::RolloutBuffer)?;
        Ok(RolloutBuffer { setup, spans: spans(&setup)?.0, mem })
    }

    /// What the block was made with; `log_capacity` is that which is held.
    pub fn config(&self) -> RolloutBufferConfig<'_> {
        let Setup { seed, memory_len, log_capacity, table, .. } = &self.setup;
        RolloutBufferConfig {
            num_steps: table.num_rows,
            num_envs: table.num_rings,
            memory_len: *memory_len,
            log_capacity: *log_capacity,
            seed: *seed,
            accumulate: self.setup.accumulate(),
            columns: table.columns(),
        }
    }

    /// Everything, to read.
    pub fn view(&self) -> Result<View<'_>> {
        View::cut(self.mem, self.setup, &self.spans)
    }

    fn fields(&mut self) -> Result<Fields<'_>> {
        Ok(Fields::cut(&mut Cutter::new(self.mem), &self.spans)?)
    }

    /// Row `step` of a column, `[N, len]`, to fill in place: that of the step to be added next, or, of column 0, also the
    /// one after it. Errors: `Range`.
    pub fn row(&mut self, column: usize, step: usize) -> Result<ElementsMut<'_>> {
        let (n, held) = (self.setup.num_envs(), self.view()?.held.filled as usize);
        let described = *self.setup.table.column(column)?;
        let room = self.setup.num_steps().saturating_add(usize::from(column == 0));
        let last = held.saturating_add(usize::from(column == 0)).min(room.saturating_sub(1));
        if step < held || step > last {
            let what = "rollout_buffer: a row that is to be filled next; of column 0 also the one after it:";
            return Err(Error::new(Kind::Range, what).needed(held).given(step));
        }
        let size = n.saturating_mul(described.row_size());
        let fields = self.fields()?;
        let columns = fields.columns;
        let bytes = columns.into_iter().nth(column).ok_or(Misfit)?;
        ElementsMut::of_bytes(described.element()?, block::rows_mut(bytes, step, 1, size)?)
    }

    /// Appends a step, and logs the length and the return of every episode that it ended.
    ///
    /// Errors: `NotReady` if the rollout is full or finished; `Shape`; `Null` for a missing `final_value`; `Value` for a number
    /// that is not finite; `Range` after 2^63 steps or metrics. Nothing changes then.
    pub fn add(&mut self, step: &Step<'_>) -> Result {
        self.view()?.check_step(step)?;
        let (n, m, table) = (self.setup.num_envs(), self.setup.memory_len(), self.setup.table);
        let mut f = self.fields()?;
        let at = f.state.filled as usize;
        for ((to, from), column) in f.columns.iter_mut().zip(step.columns).zip(table.columns()) {
            if let Some(from) = from {
                block::copy(block::rows_mut(to, at, 1, n.saturating_mul(column.row_size()))?, from.bytes());
            }
        }
        block::copy(block::rows_mut(f.reward, at, 1, n)?, step.reward);
        let mut left_out = f.state.left_out;
        for (to, from, bit) in
            [(&mut *f.value, step.value, rows::VALUE), (&mut *f.log_prob, step.log_prob, rows::LOG_PROB)]
        {
            let to = block::rows_mut(to, at, 1, n)?;
            if from.is_empty() {
                to.fill(0.0);
                left_out |= bit;
            }
            block::copy(to, from);
        }
        block::copy(block::rows_mut(f.terminated, at, 1, n)?, step.terminated);
        block::copy(block::rows_mut(f.truncated, at, 1, n)?, step.truncated);
        block::copy(block::rows_mut(f.memory, at, 1, n.saturating_mul(m))?, step.memory);
        let ends = step.terminated.iter().zip(step.truncated);
        let mut final_value = step.final_value.unwrap_or_default().iter();
        for (to, ends) in block::rows_mut(f.final_value, at, 1, n)?.iter_mut().zip(ends.clone()) {
            let from = final_value.next().copied();
            *to = from.filter(|_| is_cut(ends)).unwrap_or(0.0);
        }
        f.turn.begin();
        for (env, (reward, (terminated, truncated))) in
            step.raw_reward.unwrap_or(step.reward).iter().zip(ends).enumerate()
        {
            let (Some(sum), Some(len)) = (f.running_return.get_mut(env), f.running_len.get_mut(env)) else { break };
            (*sum, *len) = (*sum + f64::from(*reward), len.saturating_add(1));
            if terminated | truncated == 0 {
                continue;
            }
            let (episode_return, episode_len) = (*sum, *len);
            (*sum, *len) = (0.0, 0);
            f.state.num_ended = f.state.num_ended.wrapping_add(1);
            f.state.ended_len = f.state.ended_len.wrapping_add(episode_len.into());
            f.state.ended_return += episode_return;
            for (metric, value) in [(EPISODE_LENGTH, episode_len.into()), (EPISODE_RETURN, episode_return)] {
                f.log(MetricRow { global_step: f.state.global_step, value, env: env as u32, metric });
            }
        }
        f.state.filled = f.state.filled.wrapping_add(1);
        f.state.left_out = left_out;
        f.state.global_step = f.state.global_step.wrapping_add(n as u64);
        f.end();
        Ok(())
    }

    /// Closes the rollout: computes advantages and value targets of the steps that are held, as [`gae`] does.
    ///
    /// `bootstrap_value`: `[N]`, V of the observation after the last step. `next_obs`: that observation, `[N, len]` of column
    /// 0, which a reset carries over; `None` leaves what [`RolloutBuffer::row`] has been filled with.
    /// Errors: `NotReady` if no step is held, it is finished, or values were left out; `Shape`; `Range` for a rate outside
    /// [0, 1]; `Value`. Nothing changes then.
    pub fn finish(
        &mut self,
        bootstrap_value: &[f32],
        next_obs: Option<Elements<'_>>,
        discount: f32,
        gae_lambda: f32,
    ) -> Result {
        let (n, table, accumulate) = (self.setup.num_envs(), self.setup.table, self.setup.accumulate());
        let obs = table.column(0)?;
        let f = self.fields()?;
        let t = f.state.filled as usize;
        if f.state.finished != 0 {
            return Err(Error::new(Kind::NotReady, "rollout_buffer: a rollout that is not finished yet; reset it"));
        }
        if t == 0 {
            let what = "rollout_buffer: steps to finish, at least";
            return Err(Error::new(Kind::NotReady, what).needed(1).given(0));
        }
        rows::check_given(f.state.left_out, rows::VALUE)?;
        let [to, ..] = f.columns;
        let next_row = block::rows_mut(to, t, 1, n.saturating_mul(obs.row_size()))?;
        if let Some(next_obs) = next_obs {
            check_column(obs, n, &next_obs)?;
        } else {
            check_row(obs, next_row)?;
        }
        let len = t.saturating_mul(n);
        let rollout = Rollout {
            num_steps: t,
            num_envs: n,
            reward: block::rows(f.reward, 0, len, 1)?,
            value: block::rows(f.value, 0, len, 1)?,
            bootstrap_value,
            terminated: block::rows(f.terminated, 0, len, 1)?,
            truncated: block::rows(f.truncated, 0, len, 1)?,
            final_value: Some(block::rows(f.final_value, 0, len, 1)?),
            accumulate,
        };
        let advantage = block::rows_mut(f.advantage, 0, len, 1)?;
        rollout.check_all()?;
        gae(&rollout, discount, gae_lambda, advantage, block::rows_mut(f.value_target, 0, len, 1)?)?;
        if let Some(next_obs) = next_obs {
            block::copy(next_row, next_obs.bytes());
        }
        f.turn.begin();
        block::copy(f.bootstrap_value, bootstrap_value);
        f.state.finished = 1;
        f.state.num_trajectories = 0;
        f.turn.end();
        Ok(())
    }

    /// Begins the next rollout where this one stopped: steps, advantages and means of episodes are forgotten; the observation
    /// after the last step becomes row 0 of column 0, and episodes, metrics and `global_step` go on.
    pub fn reset(&mut self) -> Result {
        let (n, table) = (self.setup.num_envs(), self.setup.table);
        let f = self.fields()?;
        let t = f.state.filled as usize;
        f.turn.begin();
        f.turn.forget(f.state.filled);
        if let Some(last) = t.checked_sub(1) {
            let (terminated, truncated) =
                (block::rows(f.terminated, last, 1, n)?, block::rows(f.truncated, last, 1, n)?);
            for (first, (terminated, truncated)) in f.first.iter_mut().zip(terminated.iter().zip(truncated)) {
                *first = u8::from(terminated | truncated != 0);
            }
            let [obs, ..] = f.columns;
            let size = n.saturating_mul(table.column(0)?.row_size());
            let (head, rest) = obs.split_at_mut_checked(size).ok_or(Misfit)?;
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
        f.turn.end();
        Ok(())
    }
}

/// Random draws, which come from the block's own stream.
impl RolloutBuffer<'_> {
    /// Writes the first sample of every window of `recurrence` samples, in random order, as [`Cut::draw`] does. `index`:
    /// `[T * N / recurrence]`.
    /// Errors: `NotReady` unless finished; `Shape`; `Range` for sizes that do not divide. Nothing is written or drawn then.
    pub fn draw(&mut self, minibatch_size: usize, recurrence: usize, index: &mut [u32]) -> Result {
        let num_envs = self.setup.num_envs();
        let f = self.fields()?;
        if f.state.finished == 0 {
            return Err(UNFINISHED);
        }
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
        let n = self.setup.num_envs();
        let f = self.fields()?;
        if f.state.finished == 0 {
            return Err(UNFINISHED);
        }
        if timesteps == 0 {
            return Err(Error::new(Kind::Range, "rollout_buffer: timesteps of at least").needed(1).given(0));
        }
        if !(0.0..=1.0).contains(&end_chance) {
            let what = "rollout_buffer: end_chance from 0 to 1";
            return Err(Error::new(Kind::Range, what).given_f32(end_chance as f32));
        }
        let (t, len) = (f.state.filled as usize, (f.state.filled as usize).saturating_mul(n));
        let starts = block::rows_mut(f.starts, 0, len, 1)?;
        let mut num_trajectories = f.state.num_trajectories;
        if num_trajectories == 0 {
            let (terminated, truncated) = (block::rows(f.terminated, 0, len, 1)?, block::rows(f.truncated, 0, len, 1)?);
            num_trajectories = minibatch::find_trajectories(terminated, truncated, t, n, starts)? as u32;
        }
        let starts = block::rows(starts, 0, num_trajectories as usize, 1)?;
        let mut rng = f.state.rng;
        for window in windows {
            *window = minibatch::draw_window(starts, len as u32, timesteps, end_chance, &mut rng).ok_or(Misfit)?;
        }
        f.turn.begin();
        (f.state.rng, f.state.num_trajectories) = (rng, num_trajectories);
        f.turn.end();
        Ok(())
    }

    /// One of the steps that are held, each as likely. Errors: `NotReady` if there is none.
    pub fn sample(&mut self) -> Result<u32> {
        let f = self.fields()?;
        let none = Error::new(Kind::NotReady, "rollout_buffer: steps to choose from, at least").needed(1).given(0);
        let last = f.state.filled.checked_sub(1).ok_or(none)?;
        let mut rng = f.state.rng;
        let step = rng.bounded(last.into()) as u32;
        f.keep_rng(rng);
        Ok(step)
    }
}

/// Metrics.
impl RolloutBuffer<'_> {
    /// Logs a number of the host's own, of all environments. Of several of one metric in one step the last one counts.
    /// Errors: `Range` for a metric below [`FIRST_METRIC`], and after 2^63 of them; `Value`. Nothing changes then.
    pub fn log(&mut self, metric: u32, value: f64) -> Result {
        if metric < FIRST_METRIC {
            let what = "rollout_buffer: a metric of the host's own, at least";
            return Err(Error::new(Kind::Range, what).needed(FIRST_METRIC as usize).given(metric as usize));
        }
        if !value.is_finite() {
            return Err(Error::new(Kind::Value, "rollout_buffer: a finite metric").given_f32(value as f32));
        }
        let mut f = self.fields()?;
        shared::check_room(METRICS, f.state.logged, 1)?;
        let row = MetricRow { global_step: f.state.global_step, value, env: ALL_ENVS, metric };
        f.turn.begin();
        f.log(row);
        f.end();
        Ok(())
    }
}

impl<'a> View<'a> {
    /// Accepts bytes that another process writes to meanwhile: looks only at what never changes, and at how far the rollout
    /// is at this moment. Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header; `Busy`.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        let setup = attach_setup(mem)?;
        Self::cut(mem, setup, &spans(&setup)?.0)
    }

    /// A block that `init` or `attach` has accepted. Errors: `Align`, `Size`, `Image`; `Busy` only beside a writer.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let setup = block::config(mem, BlockKind::RolloutBuffer)?;
        Self::cut(mem, setup, &spans(&setup)?.0)
    }

    fn cut(mem: &'a [u8], setup: Setup, spans: &Spans) -> Result<Self> {
        let mut view = Self::of(mem, spans, setup, 0, State::zeroed())?;
        (view.begin, view.held) = view.turn.look(view.state)?;
        Ok(view)
    }

    /// How far the rollout and the training around it have come.
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

    /// The columns that the block was made with.
    pub fn columns(&self) -> &[Column] {
        self.setup.table.columns()
    }

    /// N.
    pub fn num_envs(&self) -> usize {
        self.setup.num_envs()
    }

    /// M.
    pub fn memory_len(&self) -> usize {
        self.setup.memory_len()
    }

    /// Steps that are held.
    fn num_steps(&self) -> usize {
        self.held.filled as usize
    }

    fn num_samples(&self) -> usize {
        self.num_steps().saturating_mul(self.num_envs())
    }

    /// What advantages are computed from, of the steps that are held; `bootstrap_value` is 0 until the rollout is finished.
    /// Without values where a step left them out: `value` is empty, and what needs it refuses.
    pub fn rollout(&self) -> Result<Rollout<'a>> {
        let len = self.num_samples();
        Ok(Rollout {
            num_steps: self.num_steps(),
            num_envs: self.num_envs(),
            reward: block::rows(self.reward, 0, len, 1)?,
            value: if self.is_given(rows::VALUE) { block::rows(self.value, 0, len, 1)? } else { &[] },
            bootstrap_value: self.bootstrap_value,
            terminated: block::rows(self.terminated, 0, len, 1)?,
            truncated: block::rows(self.truncated, 0, len, 1)?,
            final_value: if self.is_given(rows::VALUE) {
                Some(block::rows(self.final_value, 0, len, 1)?)
            } else {
                None
            },
            accumulate: self.setup.accumulate(),
        })
    }

    /// Log-probabilities of the steps that are held, `[T, N]`; empty where a step left them out.
    pub fn log_prob(&self) -> Result<&'a [f32]> {
        Ok(if self.is_given(rows::LOG_PROB) { block::rows(self.log_prob, 0, self.num_samples(), 1)? } else { &[] })
    }

    fn is_given(&self, array: u32) -> bool {
        self.held.left_out & array == 0
    }

    /// The policy's memory before each of the steps that are held, `[T, N, M]`.
    pub fn memory(&self) -> Result<&'a [f32]> {
        Ok(block::rows(self.memory, 0, self.num_samples(), self.memory_len())?)
    }

    /// Advantages and value targets, `[T, N]` each. Errors: `NotReady` unless finished.
    pub fn advantages(&self) -> Result<(&'a [f32], &'a [f32])> {
        self.check_finished()?;
        let len = self.num_samples();
        Ok((block::rows(self.advantage, 0, len, 1)?, block::rows(self.value_target, 0, len, 1)?))
    }

    /// Whether step 0 of each environment starts an episode, `[N]`.
    pub fn first(&self) -> &'a [u8] {
        self.first
    }

    /// A column of the steps that are held, `[T, N, len]`; of column 0 `[T + 1, N, len]`, the last row being the observation to
    /// act on next, once it is known. Errors: `Range`.
    pub fn column(&self, column: usize) -> Result<Elements<'a>> {
        let described = self.setup.table.column(column)?;
        let rows = self.num_steps().saturating_add(usize::from(column == 0));
        self.elements(column, described, 0, rows)
    }

    fn elements(&self, column: usize, described: &Column, first: usize, rows: usize) -> Result<Elements<'a>> {
        let size = self.num_envs().saturating_mul(described.row_size());
        let bytes = block::rows(self.columns.get(column).ok_or(Misfit)?, first, rows, size)?;
        Elements::of_bytes(described.element()?, bytes)
    }

    /// Copies rows of metrics out from number `next` on, counted for the life of the block, the oldest first. Rows that are no
    /// longer held are skipped and counted as lost. Errors: `Range` if fewer than `next` have been written.
    pub fn read_log(&self, next: u64, rows: &mut [MetricRow]) -> Result<Read> {
        let written = self.held.logged;
        if next > written {
            let what = "rollout_buffer: a number of at most the metrics written,";
            return Err(Error::new(Kind::Range, what).needed(written as usize).given(next as usize));
        }
        let capacity = self.log.len() as u64;
        let first = next.max(written.saturating_sub(capacity));
        let count = written.saturating_sub(first).min(rows.len() as u64) as usize;
        for (number, to) in (first..).zip(rows.iter_mut()).take(count) {
            *to = self.log.get(number.checked_rem(capacity).unwrap_or(0) as usize).copied().unwrap_or_default();
        }
        if count > 0 {
            let (pushed, writing) = (from_ref(&self.state.logged), from_ref(&self.turn.writing));
            shared::Rings { pushed, writing, num_rows: self.setup.log_capacity }.check_held(once((0, first)))?;
        }
        Ok(Read { count, lost: first.wrapping_sub(next), next: first.wrapping_add(count as u64) })
    }

    /// Copies steps out from number `next` on, counted for the life of the block, as many as are held and as there is room
    /// for. Steps that are no longer held are skipped and counted as lost.
    /// Errors: `Shape`; `NotReady` for an array that a step left out; `Range` if fewer than `next` have been added. Nothing is
    /// written then.
    pub fn read(&self, next: u64, out: RowsOut<'_>) -> Result<Read> {
        let held = rows::Held {
            first: self.begin,
            len: self.num_steps(),
            num_envs: self.num_envs(),
            memory_len: self.memory_len(),
            left_out: self.held.left_out,
            described: self.columns(),
            columns: &self.columns,
            reward: self.reward,
            value: self.value,
            log_prob: Some(self.log_prob),
            final_value: Some(self.final_value),
            terminated: self.terminated,
            truncated: self.truncated,
            memory: self.memory,
        };
        let read = held.read(next, out)?;
        self.check_held()?;
        Ok(read)
    }

    /// After steps were copied: a writer beside has not forgotten them meanwhile. Errors: `Range`.
    pub fn check_held(&self) -> Result {
        self.turn.check_held(self.begin)
    }

    /// Copies windows of `window_len` samples after one another. Shapes: columns `[rows, window_len, len]`; numbers and `mask`
    /// `[rows, window_len]`; `memory` `[rows, M]`; no `timestep`.
    ///
    /// `index`: `[rows]` the first sample of each window; a window lies in one environment.
    /// Errors: `NotReady` unless finished, or for log-probabilities that a step left out; `Shape`; `Range` for a sample that is
    /// not there, or a window that leaves its environment. Nothing is written then.
    pub fn gather(&self, index: &[u32], window_len: usize, out: Minibatch<'_>) -> Result {
        self.check_finished()?;
        if window_len == 0 {
            return Err(Error::new(Kind::Range, "rollout_buffer: a window_len of at least").needed(1).given(0));
        }
        let (t, count) = (self.num_steps(), self.num_samples());
        for &i in index {
            let left = t.saturating_sub((i as usize).checked_rem(t).unwrap_or(0));
            if i as usize >= count {
                return Err(Error::new(Kind::Range, "rollout_buffer: samples below").needed(count).given(i as usize));
            }
            if left < window_len {
                let what = "rollout_buffer: windows inside one environment, of at most";
                return Err(Error::new(Kind::Range, what).needed(left).given(window_len));
            }
        }
        let rows = index.len();
        let len = rows.saturating_mul(window_len);
        out.check(self, rows, len, len)?;
        if out.timestep.is_some() {
            return Err(Error::new(Kind::Shape, "minibatch: no timesteps, which windows of trajectories have"));
        }
        let samples = || index.iter().flat_map(move |&i| (0..window_len).map(move |k| (i as usize).wrapping_add(k)));
        for (i, to) in out.columns.iter_mut().enumerate() {
            if let Some(to) = to {
                self.gather_column(i, window_len, index.iter().map(|&i| (i as usize, 0)), 0, to.reborrow())?;
            }
        }
        self.gather_memory(index.iter().map(|&i| i as usize), out.memory)?;
        let all = [
            (out.log_prob, self.log_prob),
            (out.value, self.value),
            (out.advantage, self.advantage),
            (out.value_target, self.value_target),
            (out.reward, self.reward),
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
    /// should be no action, others with zeros. Shapes: columns `[rows, timesteps, len]`; `mask` and `timestep` `[rows,
    /// timesteps]`; numbers `[rows]`, of the last sample; `memory` `[rows, M]`, of the first.
    ///
    /// Errors: `NotReady` unless finished, or for log-probabilities that a step left out; `Shape`; `Range` for a window that is
    /// not one of a single trajectory, or not as long as it says. Nothing is written then.
    pub fn gather_windows(&self, windows: &[Window], timesteps: usize, pad_token: i32, out: Minibatch<'_>) -> Result {
        self.check_finished()?;
        let (t, count) = (self.num_steps(), self.num_samples());
        for w in windows {
            let (first, len) = (w.first as usize, w.len as usize);
            let left = t.saturating_sub(first.checked_rem(t).unwrap_or(0));
            if first >= count || len == 0 || len > left {
                let what = "rollout_buffer: windows inside one trajectory, of at most";
                return Err(Error::new(Kind::Range, what).needed(if first < count { left } else { 0 }).given(len));
            }
            if (1..len).any(|k| self.starts_episode(first.wrapping_add(k))) {
                let what = "rollout_buffer: windows inside one trajectory; not so that from sample";
                return Err(Error::new(Kind::Range, what).given(first));
            }
            if len.checked_add(w.pad as usize) != Some(timesteps) {
                let what = "rollout_buffer: windows whose len and pad together are timesteps,";
                return Err(Error::new(Kind::Range, what).needed(timesteps).given(len.saturating_add(w.pad as usize)));
            }
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
            (out.log_prob, self.log_prob),
            (out.value, self.value),
            (out.advantage, self.advantage),
            (out.value_target, self.value_target),
            (out.reward, self.reward),
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

    /// Where a sample lies in arrays of `[T, N]`.
    #[inline(always)]
    fn row(&self, sample: usize) -> usize {
        let t = self.num_steps();
        let (env, step) = (sample.checked_div(t).unwrap_or(0), sample.checked_rem(t).unwrap_or(0));
        step.wrapping_mul(self.num_envs()).wrapping_add(env)
    }

    /// Whether the observation of a sample is the first of an episode.
    #[inline(always)]
    fn starts_episode(&self, sample: usize) -> bool {
        let row = self.row(sample);
        let flag = |flags: &[u8], i: usize| flags.get(i).is_some_and(|&x| x != 0);
        match row.checked_sub(self.num_envs()) {
            Some(before) => flag(self.terminated, before) | flag(self.truncated, before),
            None => flag(self.first, row),
        }
    }

    /// Rows of a column, `[windows, window_len, len]`: from each first sample on, behind so many rows of padding.
    fn gather_column(
        &self,
        column: usize,
        window_len: usize,
        windows: impl Iterator<Item = (usize, usize)>,
        pad_token: i32,
        mut out: ElementsMut<'_>,
    ) -> Result {
        let described = self.setup.table.column(column)?;
        let (size, n) = (described.row_size(), self.num_envs());
        let token = if described.element()? == Element::I32 { pad_token.to_ne_bytes() } else { [0; 4] };
        let from = self.columns.get(column).ok_or(Misfit)?;
        let mut rest = out.reborrow().into_bytes();
        for (first, pad) in windows {
            let (padding, after) = rest.split_at_mut_checked(pad.saturating_mul(size)).ok_or(Misfit)?;
            for (i, x) in padding.iter_mut().enumerate() {
                *x = token.get(i & 3).copied().unwrap_or(0);
            }
            rest = after;
            let mut row = self.row(first);
            for _ in pad..window_len {
                let (to, after) = rest.split_at_mut_checked(size).ok_or(Misfit)?;
                block::copy(to, block::rows(from, row, 1, size)?);
                rest = after;
                row = row.wrapping_add(n);
            }
        }
        Ok(())
    }

    fn gather_memory(&self, samples: impl Iterator<Item = usize>, out: Option<&mut [f32]>) -> Result {
        let (width, Some(mut rest)) = (self.memory_len(), out) else { return Ok(()) };
        for sample in samples {
            let (to, after) = rest.split_at_mut_checked(width).ok_or(Misfit)?;
            block::copy(to, block::rows(self.memory, self.row(sample), 1, width)?);
            rest = after;
        }
        Ok(())
    }

    fn check_finished(&self) -> Result {
        if self.held.finished != 0 { Ok(()) } else { Err(UNFINISHED) }
    }

    fn check_step(&self, step: &Step<'_>) -> Result {
        let (n, held) = (self.num_envs(), self.num_steps());
        if self.held.finished != 0 {
            return Err(Error::new(Kind::NotReady, "rollout_buffer: a rollout that is not finished yet; reset it"));
        }
        if held >= self.setup.num_steps() {
            let what = "rollout_buffer: room for another step; finish and reset after";
            return Err(Error::new(Kind::NotReady, what).needed(self.setup.num_steps()).given(held));
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
        check_finite("rollout_buffer: a finite reward", step.reward)?;
        check_finite("rollout_buffer: a finite value", step.value)?;
        check_finite("rollout_buffer: a finite log_prob", step.log_prob)?;
        check_finite("rollout_buffer: a finite memory", step.memory)?;
        if let Some(raw_reward) = step.raw_reward {
            check_len("rollout_buffer: raw_reward [N] of length", raw_reward, n)?;
            check_finite("rollout_buffer: a finite raw_reward", raw_reward)?;
        }
        let cuts = step.terminated.iter().zip(step.truncated).filter(|&ends| is_cut(ends)).count();
        if let Some(final_value) = step.final_value {
            check_len("rollout_buffer: final_value [N] of length", final_value, n)?;
            let read =
                final_value.iter().zip(step.terminated.iter().zip(step.truncated)).filter(|(_, ends)| is_cut(*ends));
            if let Some((bad, _)) = read.into_iter().find(|(x, _)| !x.is_finite()) {
                return Err(Error::new(Kind::Value, "rollout_buffer: a finite final_value").given_f32(*bad));
            }
        } else if cuts > 0 && !step.value.is_empty() {
            let what = "rollout_buffer: final_value, because environments were truncated and not terminated;";
            return Err(Error::new(Kind::Null, what).given(cuts));
        }
        for (i, (column, given)) in columns.iter().zip(step.columns).enumerate() {
            match given {
                Some(given) => check_column(column, n, given)?,
                None => check_row(column, self.elements(i, column, held, 1)?.bytes())?,
            }
        }
        Ok(())
    }

    /// What no sequence of calls can produce is no image. Columns are not looked at: they may be large and are only copied.
    fn check_image(&self) -> Result {
        let damaged = |what| Err(Error::new(Kind::Image, what));
        let s = self.held;
        let right = s.filled as usize <= self.setup.num_steps() && s.finished <= 1 && (s.finished == 0 || s.filled > 0);
        let steps = self.begin.checked_add(s.filled.into());
        let numbered = steps.and_then(|steps| steps.checked_mul(self.num_envs() as u64)) == Some(s.global_step);
        let counted = s.global_step <= shared::LAST && s.logged <= shared::LAST;
        let known = s.left_out <= rows::VALUE | rows::LOG_PROB && (s.left_out == 0 || s.filled > 0);
        let known = known && (s.finished == 0 || self.is_given(rows::VALUE));
        if !right || !numbered || !counted || !known || !s.rng.is_valid() {
            return damaged("rollout_buffer: a state that calls can lead to");
        }
        let rollout = self.rollout()?;
        let ends = rollout.terminated.iter().zip(rollout.truncated);
        let num_ended = ends.filter(|(terminated, truncated)| **terminated | **truncated != 0).count() as u64;
        let lens = num_ended..=num_ended.saturating_mul(u32::MAX.into());
        if s.num_ended != num_ended || !lens.contains(&s.ended_len) {
            return damaged("rollout_buffer: as many episodes as have ended, each with a length");
        }
        // Twice the most, so that rounding cannot lead a sum out of its bounds.
        let sum = num_ended as f64 * (2.0 * MOST);
        if !(s.ended_return.abs() <= sum && self.running_return.iter().all(|x| x.abs() <= MOST)) {
            return damaged("rollout_buffer: returns that rewards can sum to");
        }
        if !self.running_return.iter().zip(self.running_len).all(|(x, &len)| len > 0 || *x == 0.0) {
            return damaged("rollout_buffer: returns of 0 before the first step");
        }
        let written = |(slot, row): (u64, &MetricRow)| {
            if slot < s.logged {
                let env = row.env == ALL_ENVS && row.metric >= FIRST_METRIC
                    || (row.env as usize) < self.num_envs() && row.metric < FIRST_METRIC;
                env && row.value.is_finite() && row.global_step <= s.global_step
            } else {
                *row == MetricRow::default()
            }
        };
        if !(0u64..).zip(self.log).all(written) {
            return damaged("rollout_buffer: metrics as they were written");
        }
        let len = self.num_samples();
        let held = |x: &'a [f32]| block::rows(x, 0, len, 1);
        let numbers =
            [held(self.reward)?, held(self.value)?, held(self.log_prob)?, self.bootstrap_value, self.final_value];
        for numbers in numbers {
            check_finite("rollout_buffer: finite numbers", numbers).map_err(|e| Error { kind: Kind::Image, ..e })?;
        }
        if s.num_trajectories == 0 {
            return Ok(());
        }
        let t = self.num_steps();
        let starts = (0..self.num_samples()).filter(|&i| i.checked_rem(t) == Some(0) || self.starts_episode(i));
        let held = self.starts.iter().take(s.num_trajectories as usize).map(|&i| i as usize);
        if s.finished == 0 || !starts.eq(held) {
            return damaged("rollout_buffer: starts of its trajectories");
        }
        Ok(())
    }
}

impl Minibatch<'_> {
    /// `rows` windows with `len` samples in all, numbers for `numbers` of them.
    fn check(&self, view: &View<'_>, rows: usize, len: usize, numbers: usize) -> Result {
        if self.log_prob.is_some() {
            rows::check_given(view.held.left_out, rows::LOG_PROB)?;
        }
        let columns = view.columns();
        if self.columns.len() > columns.len() {
            let what = "minibatch: columns, at most";
            return Err(Error::new(Kind::Shape, what).needed(columns.len()).given(self.columns.len()));
        }
        for (column, to) in columns.iter().zip(self.columns.iter()) {
            if let Some(to) = to {
                if to.kind() != column.element()? {
                    return Err(Error::new(Kind::Shape, "minibatch: columns of their own kind"));
                }
                let wanted = len.saturating_mul(column.len as usize);
                if to.len() != wanted {
                    let what = "minibatch: a column [rows, window, len] of length";
                    return Err(Error::new(Kind::Shape, what).needed(wanted).given(to.len()));
                }
            }
        }
        for (what, array) in [
            ("minibatch: log_prob of length", &self.log_prob),
            ("minibatch: value of length", &self.value),
            ("minibatch: advantage of length", &self.advantage),
            ("minibatch: value_target of length", &self.value_target),
            ("minibatch: reward of length", &self.reward),
        ] {
            array.as_deref().map_or(Ok(()), |array| check_len(what, array, numbers))?;
        }
        self.mask.as_deref().map_or(Ok(()), |mask| check_len("minibatch: mask of length", mask, len))?;
        self.timestep.as_deref().map_or(Ok(()), |x| check_len("minibatch: timestep of length", x, len))?;
        let memory_len = rows.saturating_mul(view.memory_len());
        self.memory.as_deref().map_or(Ok(()), |x| check_len("minibatch: memory [rows, M] of length", x, memory_len))
    }
}

/// The episode was cut and its task did not end: the value of what came next counts.
fn is_cut((terminated, truncated): (&u8, &u8)) -> bool {
    *terminated == 0 && *truncated != 0
}

/// Checks `[N, len]` elements of a column. Errors: `Shape`, `Value`.
fn check_column(column: &Column, n: usize, given: &Elements<'_>) -> Result {
    if given.kind() != column.element()? {
        return Err(Error::new(Kind::Shape, "rollout_buffer: columns of their own kind"));
    }
    let len = n.saturating_mul(column.len as usize);
    if given.len() != len {
        return Err(Error::new(Kind::Shape, "rollout_buffer: a column [N, len] of length")
            .needed(len)
            .given(given.len()));
    }
    match given {
        Elements::F32(x) => check_finite("rollout_buffer: a finite column", x),
        _ => Ok(()),
    }
}

/// Checks a row that was filled in place. Errors: `Value`.
fn check_row(column: &Column, row: &[u8]) -> Result {
    match column.element()? {
        Element::F32 => {
            check_finite("rollout_buffer: a finite column", bytemuck::try_cast_slice(row).map_err(|_| Misfit)?)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a view has seen is not believed once a writer beside has emptied the rollout, whoever copied it.
    #[test]
    fn a_rollout_that_was_emptied_beside_is_refused() {
        let columns = [Column::new("obs", Element::U8, 1)];
        let config = RolloutBufferConfig { num_steps: 1, log_capacity: 2, columns: &columns, ..Default::default() };
        let mut mem = [0u64; 512];
        let mut buffer = RolloutBuffer::init(bytemuck::cast_slice_mut(&mut mem), &config).unwrap();
        let ends: (&[u8], &[u8]) = (&[0], &[0]);
        let columns: [Option<Elements<'_>>; 1] = [Some(Elements::U8(&[3]))];
        let step = Step { columns: &columns, reward: &[1.0], value: &[0.5], log_prob: &[0.0], ..Default::default() };
        buffer.add(&Step { terminated: ends.0, truncated: ends.1, ..step }).unwrap();
        buffer.finish(&[0.5], None, 0.9, 0.9).unwrap();
        let held = buffer.view().unwrap();
        let emptied = View { turn: &Turn { first: 1, ..*held.turn }, ..held };
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
