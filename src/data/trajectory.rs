//! One trajectory: an episode or a part of it, frame by frame, for learners that take trajectories one by one.
//!
//! `process` writes the learner's input into the caller's arrays: returns and advantages, padded to one length, with the true
//! length beside them, so that padding never has to enter a mean. Trajectories processed into consecutive parts of larger arrays
//! already form a batch; [`minibatch`](mod@super::minibatch) stacks and gathers other arrays.
//!
//! Frames are numbered for the life of the block, and another process may read them while one appends: see [`block::shared`].
//! `pop` and `reset` discard the numbers in use: remaining frames get new ones.
//!
//! ```
//! use rlcore::data::table::Column;
//! use rlcore::data::trajectory::{Frames, Process, Processed, Trajectory, TrajectoryConfig};
//! use rlcore::space::{Element, Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! let columns = [Column::new("action", Element::F32, 2)];
//! let config = TrajectoryConfig { one_hot: 1, ..TrajectoryConfig::new(20, &columns) };
//! let mut block = vec![0u64; Trajectory::size(&config)? / 8];
//! let mut trajectory = Trajectory::init(bytemuck::cast_slice_mut(&mut block), &config)?;
//! trajectory.add(&Frames {
//!     columns: &[Elements::F32(&[0.0, 1.0])],
//!     reward: &[2.0],
//!     value: &[0.5],
//!     terminated: &[0],
//!     truncated: &[0],
//!     memory: &[],
//! })?;
//! let (mut action, mut returns, mut advantage) = ([0.0; 4], [0.0; 2], [0.0; 2]);
//! let shape = trajectory.view()?.process(&Process { discount: 0.5, rows: 2, ..Process::new(3.0) }, Processed {
//!     columns: &mut [Some(ElementsMut::F32(&mut action))],
//!     returns: &mut returns,
//!     advantage: &mut advantage,
//!     ..Default::default()
//! })?;
//! assert_eq!((returns, advantage, shape.num_steps), ([3.5, 0.0], [3.0, 0.0], 1));
//! assert_eq!(action, [0.0, 1.0, 1.0, 0.0]); // the padded row is action 0
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};

use super::monitor::Read;
use super::part::rollout::{self, Appended, RowsOut, check_elements, check_room};
use super::table::{Column, TableConfig};
use crate::block::shared::{self, StoreSeq};
use crate::block::{self, Cutter, Fit, Kind as BlockKind, LayoutError, One, Plan, fields};
use crate::error::{Error, Kind, Result, check_len, check_rows, check_some};
use crate::kernels::gae::{self, Accumulate};
use crate::kernels::grid::check_rate;
use crate::kernels::returns::bootstrapped_sum;
use crate::space::{Element, Elements, ElementsMut};

/// Configuration of a trajectory, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TrajectoryConfig {
    /// M: elements of a recurrent policy's memory before the frame; 0 for none.
    pub memory_len: u32,
    /// Bit i: rows of column i are one-hot and padded with element 0 as the hot one. Other padding is zeros.
    pub one_hot: u32,
    /// Number type of the sums of returns and advantages: an [`Accumulate`].
    pub accumulate: u32,
    /// Columns of a frame, beside reward, value and flags, without stacks: one ring, with a row for each frame.
    pub table: TableConfig,
}

/// Consecutive frames, to append.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    /// One entry per column, `[frames, len]` of its kind.
    pub columns: &'a [Elements<'a>],
    /// `[frames]` rewards.
    pub reward: &'a [f32],
    /// `[frames]` value of the state before the action; empty: left out, and calls that need values are refused until no frame is
    /// held.
    pub value: &'a [f32],
    /// `[frames]` nonzero where the frame reached a terminal state: the last one at most.
    pub terminated: &'a [u8],
    /// `[frames]` nonzero where the episode was cut after the frame: the last one at most.
    pub truncated: &'a [u8],
    /// `[frames, M]` the policy's memory before the frame.
    pub memory: &'a [f32],
}

/// How a trajectory is processed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Process {
    /// Discount, from 0 to 1.
    pub discount: f32,
    /// Lambda of the advantages, from 0 to 1; returns do not depend on it.
    pub gae_lambda: f32,
    /// Value of the state after the last frame; not used if that frame terminated.
    pub bootstrap_value: f32,
    /// Rows of the output arrays: at least the frames held, and exactly as many with `time_flat`.
    pub rows: usize,
    /// Each frame is a sample of its own, with its memory and 1 time step.
    pub time_flat: bool,
}

impl Process {
    /// No discounting, a `gae_lambda` of 1, and no rows yet.
    pub const fn new(bootstrap_value: f32) -> Self {
        Process { discount: 1.0, gae_lambda: 1.0, bootstrap_value, rows: 0, time_flat: false }
    }
}

/// Output for a processed trajectory of `rows` rows.
#[derive(Debug, Default)]
pub struct Processed<'a> {
    /// One entry per column, `[rows, len]` of its kind; `None`, or missing from the end: left out.
    pub columns: &'a mut [Option<ElementsMut<'a>>],
    /// `[rows]` discounted sums of the rewards up to the end, and of the value after it.
    pub returns: &'a mut [f32],
    /// `[rows]` generalized advantages.
    pub advantage: &'a mut [f32],
    /// `[1, M]` the memory before the first frame; with `time_flat` `[rows, M]`, before each frame.
    pub memory: Option<&'a mut [f32]>,
    /// `[1]` number of frames; with `time_flat` `[rows]` ones.
    pub time_steps: Option<&'a mut [u32]>,
    /// `[rows]` 1 for frames, 0 for padding.
    pub valid: Option<&'a mut [u8]>,
}

/// Size of a processed trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Frames: rows that are not padding.
    pub num_steps: usize,
    /// Samples of a batch: 1, or the frames with `time_flat`.
    pub batch_size: usize,
}

/// Class of a reward for reward prediction: the index of the 1 in its one-hot row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RewardClass {
    /// Between the thresholds, or on one.
    Zero = 0,
    /// Above the threshold.
    Positive = 1,
    /// Below the negative threshold.
    Negative = 2,
}

impl RewardClass {
    /// The class of a reward. Errors: `Value` for a reward that is not finite; `Range` for a threshold that is negative or not
    /// finite.
    pub fn of(reward: f32, threshold: f32) -> Result<Self> {
        Error::new(Kind::Value, "reward class: a finite reward").given_f32(reward).fail_if(!reward.is_finite())?;
        let what = "reward class: a finite reward_threshold of at least 0";
        Error::new(Kind::Range, what).given_f32(threshold).fail_if(!threshold.is_finite() || threshold < 0.0)?;
        Ok(match (reward > threshold, reward < -threshold) {
            (true, _) => RewardClass::Positive,
            (_, true) => RewardClass::Negative,
            _ => RewardClass::Zero,
        })
    }

    /// The one-hot row of the class.
    pub fn one_hot(self) -> [f32; 3] {
        [RewardClass::Zero, RewardClass::Positive, RewardClass::Negative]
            .map(|class| f32::from(u8::from(class == self)))
    }
}

impl TrajectoryConfig {
    /// At most `capacity` frames with these columns; defaults otherwise.
    pub fn new(capacity: u32, columns: &[Column]) -> Self {
        TrajectoryConfig { table: TableConfig::new(1, capacity, columns), ..Zeroable::zeroed() }
    }

    fn check(&self) -> Result {
        Error::config("trajectory config: capacity of at least", 1, 0).fail_if(self.table.num_rows == 0)?;
        let what = "trajectory setup: accumulate of at most";
        Error::config(what, 1, self.accumulate).fail_if(Accumulate::from_number(self.accumulate).is_none())?;
        self.table.check()?;
        let what = "trajectory config: one_hot with bits of the columns alone, of which there are";
        self.table.check_bits(what, self.one_hot)?;
        self.table.check_plain("trajectory config: columns with num_stack of at most")
    }

    fn capacity(&self) -> usize {
        self.table.num_rows as usize
    }

    /// Dimensions of the arrays, for one environment.
    fn shape(&self) -> rollout::Shape<'_> {
        rollout::Shape { table: &self.table, memory_len: self.memory_len as usize, judged: false }
    }

    fn accumulate(&self) -> Accumulate {
        Accumulate::from_number(self.accumulate).unwrap_or_default()
    }
}

/// The scalars that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct State {
    /// Frames held.
    len: u32,
    /// [`rollout::VALUE`] if some frames were added without values.
    left_out: u32,
}

fields! {
    /// The layout of the block, defined only here.
    spans Spans(config: &TrajectoryConfig) {
        seq: One<StoreSeq> = (),
        state: One<State> = (),
        rows: rollout::Rollout = &config.shape(),
    }
    /// The arrays, for writing.
    write Fields {}
    /// A trajectory as of the creation of the view, for reading by any number of threads.
    ///
    /// With a concurrent writer, calls that copy frames out fail with `Range` if these were discarded meanwhile; the copy is
    /// invalid then. Frames that are only borrowed may change at any time.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        config: TrajectoryConfig,
        /// Number of the first frame.
        first: u64,
        /// The [`State`] when the view was made.
        held: State,
    }
}

fn spans(config: &TrajectoryConfig) -> Result<(Spans, usize)> {
    config.check()?;
    lay(config)
}

/// As [`spans`], for a configuration that was checked when its block was accepted.
fn lay(config: &TrajectoryConfig) -> Result<(Spans, usize)> {
    let mut plan = Plan::default();
    block::spans::<TrajectoryConfig>(&mut plan)?;
    Ok((Spans::plan(&mut plan, config)?, plan.size()?))
}

const NUMBERS: &str = "trajectory: fewer than 2^63 frames";

impl Fields<'_> {
    /// Drops all frames but the first `len`, which get new numbers, as their successors may change.
    fn keep(self, len: u32) {
        self.seq.begin();
        self.seq.forget(self.state.len);
        self.state.len = len;
        if len == 0 {
            self.state.left_out = 0;
        }
        self.seq.end();
    }
}

/// A trajectory in the caller's block.
#[derive(Debug)]
pub struct Trajectory<'a> {
    config: TrajectoryConfig,
    spans: Spans,
    mem: &'a mut [u8],
}

impl<'a> Trajectory<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &TrajectoryConfig) -> Result<usize> {
        Ok(spans(config)?.1)
    }

    /// Initializes an empty trajectory. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &TrajectoryConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        let mem = block::create(mem, BlockKind::Trajectory, size, config)?;
        Ok(Trajectory { config: *config, spans, mem })
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::Trajectory, |config| Ok(spans(config)?.1))?;
        let trajectory = Trajectory { config, spans: lay(&config)?.0, mem };
        block::view(trajectory.mem, trajectory.spans.seq)?.first().ok_or(LayoutError)?.check_image()?;
        trajectory.view()?.check_image()?;
        Ok(trajectory)
    }

    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Align`, `Size`, `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::Trajectory)?;
        Ok(Trajectory { config, spans: lay(&config)?.0, mem })
    }

    /// The configuration of the block.
    pub fn config(&self) -> &TrajectoryConfig {
        &self.config
    }

    /// The trajectory, for reading.
    pub fn view(&self) -> Result<View<'_>> {
        View::cut(self.mem, self.config, &self.spans)
    }

    fn fields(&mut self) -> Fit<Fields<'_>> {
        Fields::cut(&mut Cutter::new(self.mem), &self.spans)
    }

    /// Appends frames: one that was just seen, for example, or a sequence gathered from a replay memory.
    ///
    /// Errors: `NotReady` without room for all of them, or after a frame that ended its episode; `Shape`; `Range` if a frame
    /// before the last one ends it, and after 2^63 frames; `Value` for a number that is not finite. Nothing changes then.
    pub fn add(&mut self, frames: &Frames<'_>) -> Result {
        self.view()?.check_frames(frames)?;
        let config = self.config;
        let mut f = self.fields()?;
        let (at, count) = (f.state.len as usize, frames.reward.len());
        let &Frames { columns, reward, value, terminated, truncated, memory } = frames;
        let rows = Appended { reward, value, log_prob: None, terminated, truncated, memory };
        let left_out = f.rows.append(&config.shape(), at, count, columns.iter().copied().map(Some), &rows)?;
        f.seq.begin();
        f.state.len = f.state.len.wrapping_add(count as u32);
        f.state.left_out |= left_out;
        f.seq.end();
        Ok(())
    }

    /// Drops the last frame. Errors: `NotReady` if there is none; `Range` if no numbers are left for the remaining frames.
    pub fn pop(&mut self) -> Result {
        let f = self.fields()?;
        let none = Error::limit(Kind::NotReady, "trajectory: frames, at least", 1, 0);
        let left = f.state.len.checked_sub(1).ok_or(none)?;
        let end = f.seq.first.saturating_add(f.state.len.into());
        shared::check_room(NUMBERS, end, left.into())?;
        f.keep(left);
        Ok(())
    }

    /// Drops all frames.
    pub fn reset(&mut self) -> Result {
        self.fields()?.keep(0);
        Ok(())
    }
}

impl<'a> View<'a> {
    /// Accepts a block that another process is writing: checks only the constant parts, and reads the current frames.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header; `Busy`.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::Trajectory, |config| Ok(spans(config)?.1))?;
        Self::cut(mem, config, &lay(&config)?.0)
    }

    /// Opens a block that `init` or `attach` has accepted. Errors: `Align`, `Size`, `Image`; `Busy` only with a concurrent
    /// writer.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::Trajectory)?;
        Self::cut(mem, config, &lay(&config)?.0)
    }

    fn cut(mem: &'a [u8], config: TrajectoryConfig, spans: &Spans) -> Result<Self> {
        let mut view = Self::of(mem, spans, config, 0, State::zeroed())?;
        (view.first, view.held) = view.seq.read(view.state)?;
        Ok(view)
    }

    /// Frames held.
    pub fn len(&self) -> usize {
        self.held.len as usize
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.held.len == 0
    }

    /// The columns of the block.
    pub fn columns(&self) -> &[Column] {
        self.config.table.columns()
    }

    /// M, the elements of a recurrent policy's memory.
    pub fn memory_len(&self) -> usize {
        self.config.memory_len as usize
    }

    /// The frames held, oldest first; all arrays have `len` entries, or none if left out.
    pub fn frames(&self) -> Result<Held<'a>> {
        let (shape, held) = (self.config.shape(), self.rows_held());
        let rows = self.rows.rollout(&shape, &held, self.config.accumulate())?;
        let gae::Rollout { reward, value, terminated, truncated, .. } = rows;
        Ok(Held { reward, value, terminated, truncated, memory: self.rows.memory(&shape, self.len())? })
    }

    fn rows_held(&self) -> rollout::Held {
        rollout::Held { first: self.first, len: self.len(), left_out: self.held.left_out }
    }

    /// A column of the frames held, `[frames, len]`. Errors: `Range`.
    pub fn column(&self, column: usize) -> Result<Elements<'a>> {
        self.rows.column(&self.config.shape(), column, 0, self.len())
    }

    /// Copies frames out from number `next` on, counted for the life of the block, as many as are held and fit. Frames no longer
    /// held are skipped and counted as lost.
    /// Errors: `Shape`; `NotReady` for values that were left out; `Range` if fewer than `next` have been added. Nothing is
    /// written then.
    pub fn read(&self, next: u64, out: RowsOut<'_>) -> Result<Read> {
        let read = self.rows.read(&self.config.shape(), &self.rows_held(), next, out)?;
        self.seq.check_held(self.first)?;
        Ok(read)
    }

    /// Writes returns, advantages and the other wanted arrays; padding is zeros, or element 0 of one-hot columns.
    ///
    /// ```text
    /// returns[t]   = reward[t] + discount * returns[t+1]              (after the last: the bootstrap, 0 if it terminated)
    /// delta[t]     = reward[t] + discount * value[t+1] - value[t]     (likewise)
    /// advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
    /// ```
    ///
    /// Errors: `NotReady` without a frame, or its value; `Shape`; `Range` for a rate outside [0, 1], or fewer rows than frames;
    /// `Value` for a bootstrap that is not finite. Nothing is written then.
    pub fn process(&self, process: &Process, out: Processed<'_>) -> Result<Shape> {
        self.process_first(self.len(), process, out)
    }

    /// For reward prediction: [`View::process`] of all frames but the last, without a discount, and the class of the last frame's
    /// reward. The value of the last frame is the bootstrap. The trajectory does not change.
    ///
    /// Errors: as [`View::process`], and `NotReady` with fewer than 2 frames; `Range` for the threshold.
    pub fn process_rp(
        &self,
        reward_threshold: f32,
        rows: usize,
        time_flat: bool,
        out: Processed<'_>,
    ) -> Result<(Shape, RewardClass)> {
        let len = self.len().saturating_sub(1);
        let last = (self.rows.reward.get(len), self.rows.value.get(len));
        let (Some(&reward), Some(&value), 1..) = (last.0, last.1, len) else {
            let what = "trajectory: frames for reward prediction, at least";
            return Err(Error::limit(Kind::NotReady, what, 2, self.len()));
        };
        let class = RewardClass::of(reward, reward_threshold)?;
        Ok((self.process_first(len, &Process { rows, time_flat, ..Process::new(value) }, out)?, class))
    }

    /// [`View::process`] as if only the first `len` frames were held.
    fn process_first(&self, len: usize, process: &Process, out: Processed<'_>) -> Result<Shape> {
        let Process { discount, gae_lambda, bootstrap_value, rows, time_flat } = *process;
        let Some(last) = len.checked_sub(1) else {
            return Err(Error::limit(Kind::NotReady, "trajectory: frames to process, at least", 1, 0));
        };
        rollout::check_given(self.held.left_out, rollout::VALUE)?;
        Error::limit(Kind::Range, "trajectory: rows of at least the frames,", len, rows).fail_if(rows < len)?;
        let what = "trajectory: as many rows as frames,";
        Error::limit(Kind::Range, what, len, rows).fail_if(time_flat && rows > len)?;
        out.check(self, rows, if time_flat { rows } else { 1 })?;
        check_rate("trajectory: discount from 0 to 1", discount)?;
        check_rate("trajectory: gae_lambda from 0 to 1", gae_lambda)?;
        let ended = self.rows.terminated.get(last).is_some_and(|&x| x != 0);
        let after = [if ended { 0.0 } else { bootstrap_value }];
        let flags = block::rows(self.rows.terminated, 0, len, 1)?;
        let (reward, value) = (block::rows(self.rows.reward, 0, len, 1)?, block::rows(self.rows.value, 0, len, 1)?);
        // A truncated last frame is bootstrapped like any other last frame; only a terminated one is not.
        let rollout = gae::Rollout {
            num_steps: len,
            num_envs: 1,
            reward,
            value,
            bootstrap_value: &after,
            terminated: flags,
            truncated: flags,
            final_value: Some(value),
            accumulate: self.config.accumulate(),
        };
        let (returns, no_returns) = out.returns.split_at_mut_checked(len).ok_or(LayoutError)?;
        let (advantage, no_advantage) = out.advantage.split_at_mut_checked(len).ok_or(LayoutError)?;
        gae::gae(&rollout, discount, gae_lambda, advantage, returns)?;
        match self.config.accumulate() {
            Accumulate::F32 => bootstrapped_sum(reward, &after, discount, len, 1, returns)?,
            Accumulate::F64 => {
                let mut sum = f64::from(after[0]);
                for (out, reward) in returns.iter_mut().zip(reward).rev() {
                    sum = f64::from(*reward) + f64::from(discount) * sum;
                    *out = sum as f32;
                }
            }
        }
        no_returns.fill(0.0);
        no_advantage.fill(0.0);
        for (i, (to, column)) in out.columns.iter_mut().zip(self.columns()).enumerate() {
            let Some(to) = to else { continue };
            let (size, from) = (column.row_size(), self.rows.columns.get(i).ok_or(LayoutError)?);
            let one = if self.config.one_hot >> (i & 31) & 1 == 1 { one(column.element()?) } else { [0; 4] };
            let (frames, padding) =
                to.reborrow().into_bytes().split_at_mut_checked(len.saturating_mul(size)).ok_or(LayoutError)?;
            block::copy(frames, block::rows(from, 0, len, size)?);
            let mut rest = padding;
            for _ in len..rows {
                let row = rest.split_off_mut(..size).ok_or(LayoutError)?;
                row.fill(0);
                block::copy(row, one.get(..size.min(4)).unwrap_or(&[]));
            }
        }
        if let Some(memory) = out.memory {
            block::copy(memory, self.rows.memory);
        }
        if let Some(time_steps) = out.time_steps {
            time_steps.fill(if time_flat { 1 } else { len as u32 });
        }
        if let Some(valid) = out.valid {
            for (i, x) in valid.iter_mut().enumerate() {
                *x = u8::from(i < len);
            }
        }
        self.seq.check_held(self.first)?;
        Ok(Shape { num_steps: len, batch_size: if time_flat { len } else { 1 } })
    }

    fn check_frames(&self, frames: &Frames<'_>) -> Result {
        let (len, count) = (self.len(), frames.reward.len());
        Error::limit(Kind::Shape, "trajectory: frames to add, at least", 1, 0).fail_if(count == 0)?;
        let columns = self.columns();
        check_len("trajectory: columns of the frames", frames.columns, columns.len())?;
        let values = if frames.value.is_empty() { 0 } else { count };
        check_len("trajectory: value [frames], or none, of length", frames.value, values)?;
        check_len("trajectory: terminated [frames] of length", frames.terminated, count)?;
        check_len("trajectory: truncated [frames] of length", frames.truncated, count)?;
        check_len("trajectory: memory [frames, M] of length", frames.memory, count.saturating_mul(self.memory_len()))?;
        for (column, given) in columns.iter().zip(frames.columns) {
            const SENTENCES: [&str; 2] =
                ["trajectory: columns of their own kind", "trajectory: a column [frames, len] of length"];
            check_elements(SENTENCES, column, count, (given.kind() as u32, given.len()))?;
        }
        let held = self.frames()?;
        if held.terminated.last().into_iter().chain(held.truncated.last()).any(|&x| x != 0) {
            return Err(
                Error::new(Kind::NotReady, "trajectory: an episode that has not ended; reset it, frames").given(len)
            );
        }
        let room = self.config.capacity().saturating_sub(len);
        let what = "trajectory: frames that there is room for, at most";
        Error::limit(Kind::NotReady, what, room, count).fail_if(count > room)?;
        let mut ends = frames.terminated.iter().zip(frames.truncated).take(count.saturating_sub(1));
        if let Some(early) = ends.position(|(terminated, truncated)| terminated | truncated != 0) {
            let what = "trajectory: frames of which only the last may end the episode; not so frame";
            return Err(Error::new(Kind::Range, what).given(early));
        }
        let end = self.first.saturating_add(len as u64);
        shared::check_room(NUMBERS, end, count as u64)?;
        check_rows("trajectory: a finite reward", frames.reward, 1, 0..)?;
        check_rows("trajectory: a finite value", frames.value, 1, 0..)?;
        check_rows("trajectory: a finite memory", frames.memory, self.memory_len(), 0..)?;
        for (column, given) in columns.iter().zip(frames.columns) {
            if let Elements::F32(x) = given {
                check_rows("trajectory: a finite column", x, column.len as usize, 0..)?;
            }
        }
        Ok(())
    }

    /// Refuses contents that no sequence of calls can produce. Columns are not checked: they may be large and are only copied.
    fn check_image(&self) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        damaged("trajectory: no more frames than its capacity").fail_if(self.len() > self.config.capacity())?;
        let what = "trajectory: values that are there or were left out";
        damaged(what).fail_if(self.held.left_out > rollout::VALUE || (self.is_empty() && self.held.left_out != 0))?;
        damaged(NUMBERS).fail_if(self.first > shared::LAST.saturating_sub(self.len() as u64))?;
        let held = self.frames()?;
        let ends = held.terminated.iter().zip(held.truncated).take(self.len().saturating_sub(1));
        let what = "trajectory: no frame after the end of its episode";
        damaged(what).fail_if(ends.into_iter().any(|(terminated, truncated)| terminated | truncated != 0))?;
        self.rows.check_image("trajectory: finite numbers", &self.config.shape(), &self.rows_held())
    }
}

/// The frames held by a trajectory, without their columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held<'a> {
    /// `[frames]`
    pub reward: &'a [f32],
    /// `[frames]`, or empty
    pub value: &'a [f32],
    /// `[frames]`
    pub terminated: &'a [u8],
    /// `[frames]`
    pub truncated: &'a [u8],
    /// `[frames, M]`
    pub memory: &'a [f32],
}

impl Processed<'_> {
    fn check(&self, view: &View<'_>, rows: usize, samples: usize) -> Result {
        const SENTENCES: [&str; 3] = [
            "trajectory: columns to write, at most",
            "trajectory: columns of their own kind",
            "trajectory: a column [rows, len] of length",
        ];
        check_room(SENTENCES, view.columns(), rows, self.columns)?;
        check_len("trajectory: returns [rows] of length", self.returns, rows)?;
        check_len("trajectory: advantage [rows] of length", self.advantage, rows)?;
        let memory_len = samples.saturating_mul(view.memory_len());
        check_some("trajectory: memory of length", &self.memory, memory_len)?;
        check_some("trajectory: time_steps of length", &self.time_steps, samples)?;
        check_some("trajectory: valid [rows] of length", &self.valid, rows)
    }
}

/// The bytes of a 1 of this kind, zeros after them.
fn one(kind: Element) -> [u8; 4] {
    match kind {
        Element::F32 => 1.0f32.to_ne_bytes(),
        Element::I32 => 1i32.to_ne_bytes(),
        Element::U8 => [1, 0, 0, 0],
    }
}
