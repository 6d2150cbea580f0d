//! Transitions of N environments, drawn in proportion to priorities (Schaul et al. 2016).
//!
//! Each environment has a ring of rows in a [`table`]. A row is one step: its columns, such as the observation before the action
//! and the action, its reward, and its end flags. Where an episode ends, a tail row follows that holds the last observation and
//! no step: an episode of L steps takes L + 1 rows, and every observation is stored once.
//!
//! # Transitions over n steps
//!
//! Row t becomes a transition once row t + n is there, or the tail if that comes first. The transition leads k rows ahead, to row
//! t + n or to the tail; its reward is the sum of discount^i * reward[t + i] over those k steps, summed in f64, and its discount
//! is discount^k, or 0 if its last step terminated. If an episode is cut because the host has reset it, its newest row becomes
//! the tail. Rows that are not yet transitions, tails, and rows whose stacks have lost a frame are never drawn.
//!
//! # Priorities
//!
//! A transition is drawn with probability w / sum of all w, where w = (|priority| + epsilon)^alpha, with the alpha at the time
//! when the priority was set. A new transition has the largest |priority| + epsilon ever set, initially 1. With alpha = 0 draws
//! are uniform. The correction (N * probability)^-beta is divided by the largest correction, see [`Normalize`].
//!
//! ```
//! use rlcore::data::replay::{Draw, Replay, ReplayConfig, Step};
//! use rlcore::data::table::{Column, FrameIndex};
//! use rlcore::rng::Rng;
//! use rlcore::space::{Element, Elements};
//!
//! # fn main() -> rlcore::error::Result {
//! let columns = [Column::new("obs", Element::F32, 1), Column::new("action", Element::I32, 1)];
//! let config = ReplayConfig::new(1, 100, &columns);
//! let mut block = vec![0u64; Replay::size(&config)? / 8];
//! let mut replay = Replay::init(bytemuck::cast_slice_mut(&mut block), &config)?;
//! for i in 0..3 {
//!     let row = [Elements::F32(&[i as f32]), Elements::I32(&[1])];
//!     replay.add(0, &row, &Step { reward: 1.0, ..Step::default() }, None)?;
//! }
//! let (mut index, mut weight) = ([FrameIndex::new(0, 0); 4], [0.0; 4]);
//! replay.view().sample(&Draw::default(), &mut Rng::seeded(1), &mut index, &mut weight, None)?;
//! assert_eq!(weight, [1.0; 4]);
//! assert_eq!(replay.update(&index, &[0.5, 2.0, 0.5, 2.0])?, 0);
//! # Ok(())
//! # }
//! ```

use bytemuck::{Pod, Zeroable};
use core::slice::from_mut;
use core::sync::atomic::{Ordering, fence};

use super::sum_tree::{self, SumTree};
use super::table::{self, Column, FrameIndex, MAX_COLUMNS, Table, TableConfig};
use crate::block::{self, Header, One, Plan, fields, shared};
use crate::cpu::{Word, snapshot};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;
use crate::rng::Rng;
use crate::space::Elements;

mod draw;
mod gather;
mod image;

pub use draw::{Draw, Normalize, linear};
pub use gather::Transitions;

/// Most steps that a transition is folded from.
pub const MAX_STEPS: u32 = 255;

/// Largest epsilon: 10^30 is lost in rounding at the largest priorities, so that no sum with it is infinite.
pub const MAX_EPSILON: f32 = 1e30;

/// Configuration of a replay memory, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ReplayConfig {
    /// Steps of a transition, n, from 1 to [`MAX_STEPS`].
    pub num_steps: u32,
    /// Bit c is set if column c is an observation: transitions also have it for the row that they lead to.
    pub observations: u32,
    /// Discount of a step, from 0 to 1.
    pub discount: f32,
    /// Initial alpha, from 0 to 1.
    pub alpha: f32,
    /// Added to every |priority|, so that every transition can be drawn; a normal number above 0, at most [`MAX_EPSILON`].
    pub epsilon: f32,
    /// Zero.
    pub reserved: u32,
    /// The columns; a ring for each environment, of at least `num_steps` rows plus the longest stack.
    pub table: TableConfig,
}

impl ReplayConfig {
    /// Bytes from the base of a block to the end of its configuration, which determine the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<ReplayConfig>();

    /// The last `num_rows` rows of each environment, with these columns, of which the first is the observation; one step per
    /// transition, and defaults otherwise.
    pub fn new(num_envs: u32, num_rows: u32, columns: &[Column]) -> Self {
        ReplayConfig {
            num_steps: 1,
            observations: 1,
            discount: 0.99,
            alpha: 0.6,
            epsilon: 1e-6,
            reserved: 0,
            table: TableConfig::new(num_envs, num_rows, columns),
        }
    }

    /// The configuration of a block that `init` or `attach` accepted; its first [`ReplayConfig::END`] bytes suffice.
    /// Errors: `Align`, `Size`, `Image`.
    pub fn of(mem: &[u8]) -> Result<&ReplayConfig> {
        Header::read(mem, block::Kind::Replay)?;
        let (_, config) = block::spans(&mut Plan::default())?;
        block::view(mem, config)?.first().ok_or(SHAPE)
    }

    /// Whether column `column` is an observation.
    pub fn is_observation(&self, column: usize) -> bool {
        column < MAX_COLUMNS && self.observations & (1 << (column % MAX_COLUMNS)) != 0
    }

    fn check(&self) -> Result {
        let outside = |what, given: f32| Error::new(Kind::Config, what).given_f32(given);
        let what = "replay config: num_steps from 1 to";
        Error::config(what, MAX_STEPS, self.num_steps).fail_if(self.num_steps == 0 || self.num_steps > MAX_STEPS)?;
        let least = self.num_steps.saturating_add(self.table.max_stack() as u32);
        let what = "replay config: num_rows of at least num_steps and any num_stack,";
        Error::config(what, least, self.table.num_rows).fail_if(self.table.num_rows < least)?;
        self.table.check_bits("replay config: observations with bits below num_columns,", self.observations)?;
        outside("replay config: discount from 0 to 1", self.discount).fail_if(!(0.0..=1.0).contains(&self.discount))?;
        outside("replay config: alpha from 0 to 1", self.alpha).fail_if(!(0.0..=1.0).contains(&self.alpha))?;
        let what = "replay config: epsilon, a normal number above 0 and at most 1e30";
        outside(what, self.epsilon).fail_if(!(f32::MIN_POSITIVE..=MAX_EPSILON).contains(&self.epsilon))?;
        Error::config("replay config: reserved of", 0, self.reserved).fail_if(self.reserved != 0)
    }
}

/// The scalars of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Exponent of weights set from now on.
    pub alpha: f32,
    /// Largest |priority| + epsilon ever set, at least 1.
    pub max_priority: f32,
    /// Transitions that may be drawn.
    pub num_transitions: u64,
    /// A random stream stored by the caller.
    pub rng: Rng,
    /// Changes of the stream.
    pub rng_changes: shared::SeqLock,
    /// 1 while priorities are being set, else 0.
    pub updating: u32,
}

fields! {
    /// Places of all fields but columns and weights.
    pub spans RowSpans(envs: usize, rows: usize) {
        /// The scalars that change.
        pub state: One<State> = (),
        /// `[N]` number of the newest rows that are not yet transitions.
        pub open: [u32] = envs,
        /// `[N, num_rows]` reward of the step.
        pub reward: [f32] = rows,
        /// `[N, num_rows]` sum of the discounted rewards of the transition.
        pub sum: [f32] = rows,
        /// `[N, num_rows]` factor of the value of the row that the transition leads to.
        pub discount: [f32] = rows,
        /// `[N, num_rows]` distance in rows to the row that the transition leads to; 0 where there is no transition.
        pub ahead: [u8] = rows,
        /// `[N, num_rows]` how the step left the episode: 1 terminated, 2 truncated, 3 both; 4 in a tail.
        pub ended: [u8] = rows,
    }
    /// A replay memory in the caller's block.
    #[derive(Debug)]
    pub write Replay {
        config: &'a ReplayConfig,
        table: Table<'a>,
        tree: SumTree<'a>,
    }
    /// A replay memory, for drawing and reading by any number of threads.
    #[derive(Clone, Copy, Debug)]
    pub read View {
        config: &'a ReplayConfig,
        table: table::View<'a>,
        tree: sum_tree::View<'a>,
    }
}

/// Places of the fields of a block, behind its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// The columns.
    pub table: table::Spans,
    /// `[N, num_rows]` weights.
    pub tree: sum_tree::Spans,
    /// All other fields.
    pub rows: RowSpans,
}

/// The layout, defined only here: the fields and the bytes of the whole block.
pub fn spans(config: &ReplayConfig) -> Result<(Spans, usize)> {
    let what = "replay config: num_envs of at least";
    Error::limit(Kind::Config, what, 1, 0).fail_if(config.table.num_rings == 0)?;
    config.table.check()?;
    config.check()?;
    let (envs, rows) = (config.table.num_rings as usize, config.table.all_rows());
    let mut plan = Plan::default();
    block::spans::<ReplayConfig>(&mut plan)?;
    let spans = Spans {
        table: table::lay(&mut plan, &config.table)?,
        tree: sum_tree::spans(&mut plan, rows)?,
        rows: RowSpans::plan(&mut plan, envs, rows)?,
    };
    Ok((spans, plan.size()?))
}

const SHAPE: Error = Error::new(Kind::Shape, "replay: fields with a row for each slot");
const ENV: Error = Error::new(Kind::Range, "replay: an environment below");

const TERMINATED: u8 = 1;
const TRUNCATED: u8 = 2;
const TAIL: u8 = 4;

/// Rows processed together.
const CHUNK: usize = 64;

/// How a step left an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Reward of the step.
    pub reward: f32,
    /// The task reached a terminal state.
    pub terminated: bool,
    /// The episode was cut.
    pub truncated: bool,
}

impl Step {
    fn ended(&self) -> u8 {
        (u8::from(self.terminated) * TERMINATED) | (u8::from(self.truncated) * TRUNCATED)
    }
}

/// The weight of a priority that includes epsilon, clamped to a normal number.
#[inline(always)]
fn weight_of(priority: f32, alpha: f32) -> f32 {
    let weight = if alpha == 1.0 { priority } else { num::exp(alpha * num::ln(priority)) };
    num::clamp(weight, f32::MIN_POSITIVE, f32::MAX)
}

/// Place of row `number` in its ring. Nearly all numbers fit 32 bits, which divide much faster.
#[inline(always)]
fn place_of(number: u64, num_rows: u32) -> u32 {
    match u32::try_from(number) {
        Ok(number) => number.checked_rem(num_rows).unwrap_or(0),
        Err(_) => number.checked_rem(num_rows.into()).unwrap_or(0) as u32,
    }
}

/// Weights to set together.
struct Pending {
    slots: [u32; CHUNK],
    weights: [f32; CHUNK],
    len: usize,
}

impl Pending {
    const NONE: Pending = Pending { slots: [0; CHUNK], weights: [0.0; CHUNK], len: 0 };

    fn push(&mut self, tree: &mut SumTree<'_>, slot: usize, weight: f32) {
        if let (Some(to), Some(to_weight)) = (self.slots.get_mut(self.len), self.weights.get_mut(self.len)) {
            (*to, *to_weight) = (slot as u32, weight);
            self.len = self.len.wrapping_add(1);
        }
        if self.len >= CHUNK {
            self.flush(tree);
        }
    }

    fn flush(&mut self, tree: &mut SumTree<'_>) {
        if let (Some(slots), Some(weights)) = (self.slots.get(..self.len), self.weights.get(..self.len)) {
            // A concurrent reader sees the data of a transition before it can draw the transition.
            fence(Ordering::Release);
            tree.set_checked(slots, weights);
        }
        self.len = 0;
    }
}

impl<'a> Replay<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &ReplayConfig) -> Result<usize> {
        Ok(spans(config)?.1)
    }

    /// Initializes an empty memory. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &ReplayConfig) -> Result<Self> {
        let (spans, size) = spans(config)?;
        let mut replay = Self::take(block::create(mem, block::Kind::Replay, size, config)?, &spans, false)?;
        let rng = Rng::seeded(0);
        *replay.state = State { alpha: config.alpha, max_priority: 1.0, rng, ..State::zeroed() };
        replay.tree.clear();
        Ok(replay)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, block::Kind::Replay, |config| Ok(spans(config)?.1))?;
        let replay = Self::take(mem, &spans(&config)?.0, true)?;
        replay.tree.check_image()?;
        replay.view().check_image()?;
        Ok(replay)
    }

    /// Opens a block that [`Replay::init`] or [`Replay::attach`] has accepted. Errors: `Align`, `Size`, `Image` for any other
    /// block.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let (spans, _) = spans(ReplayConfig::of(mem)?)?;
        Self::take(mem, &spans, false)
    }

    fn take(mem: &'a mut [u8], spans: &Spans, check: bool) -> Result<Self> {
        let (config, mut cut) = block::cut_config::<ReplayConfig>(mem)?;
        let table = match check {
            true => Table::attach(&mut cut, &config.table, &spans.table)?,
            false => Table::cut(&mut cut, &spans.table, &config.table, 0)?,
        };
        let tree = SumTree::take(&mut cut, &spans.tree, config.table.all_rows())?;
        Ok(Self::cut(&mut cut, &spans.rows, config, table, tree)?)
    }

    /// The configuration of the block.
    pub fn config(&self) -> &'a ReplayConfig {
        self.config
    }

    /// The same memory, for drawing and reading.
    pub fn view(&self) -> View<'_> {
        self.read(self.config, self.table.view(), self.tree.view())
    }

    /// Stores a random stream in the block, to be saved with it; nothing draws from it. Errors: `Image` for an invalid stream.
    pub fn store_rng(&mut self, rng: &Rng) -> Result {
        Error::new(Kind::Image, "replay: a random stream").fail_if(!rng.is_valid())?;
        self.state.rng_changes.begin();
        self.state.rng = *rng;
        self.state.rng_changes.end();
        Ok(())
    }

    /// Changes the exponent of weights set from now on. Errors: `Range` if it is not from 0 to 1.
    pub fn set_alpha(&mut self, alpha: f32) -> Result {
        Error::new(Kind::Range, "replay: alpha from 0 to 1").given_f32(alpha).fail_if(!(0.0..=1.0).contains(&alpha))?;
        self.state.alpha = alpha;
        Ok(())
    }

    /// Appends one step of an environment: elements for each column, and its outcome. If the episode ended, `tail` is required:
    /// the last observation, in the columns of observations; its other columns are stored and never read. Returns the number of
    /// the row.
    ///
    /// Errors: `Range` for the environment; `Shape` for the row, or a tail that is missing; `Value` for a reward that is not
    /// finite. Nothing is written then.
    pub fn add(&mut self, env: usize, row: &[Elements<'_>], step: &Step, tail: Option<&[Elements<'_>]>) -> Result<u64> {
        self.check_add(env, row, step, tail)?;
        let mut pending = Pending::NONE;
        self.table.begin(env, 1, 2);
        let number = self.append(env, row, step, tail, &mut pending);
        pending.flush(&mut self.tree);
        self.table.end(env, 1);
        number
    }

    /// Checks that [`Replay::add`] would accept this step.
    pub fn check_add(&self, env: usize, row: &[Elements<'_>], step: &Step, tail: Option<&[Elements<'_>]>) -> Result {
        let open = *self.open.get(env).ok_or(ENV.needed(self.open.len()).given(env))?;
        let bad = Error::new(Kind::Value, "replay: a finite reward").given_f32(step.reward).in_row(env);
        bad.fail_if(!step.reward.is_finite())?;
        self.table.check(env, row, open == 0, 2)?;
        if step.ended() != 0 {
            let missing =
                Error::new(Kind::Shape, "replay: a last observation where an episode ended; not so environment");
            self.table.check(env, tail.ok_or(missing.given(env))?, open == 0, 2)?;
        }
        Ok(())
    }

    /// Appends one step of every environment: `step(env)` returns its row, outcome and tail, the same ones on every call.
    ///
    /// Errors: as [`Replay::add`], of any environment; nothing is written then.
    pub fn add_all<'r>(&mut self, step: impl Fn(usize) -> Added<'r>) -> Result {
        let columns = self.config.table.num_columns as usize;
        let envs = self.open.len();
        for env in 0..envs {
            let added = step(env);
            let (row, tail) = added.parts(columns)?;
            self.check_add(env, row, &added.step, tail)?;
        }
        let mut pending = Pending::NONE;
        self.table.begin(0, envs, 2);
        for env in 0..envs {
            let added = step(env);
            let (row, tail) = added.parts(columns)?;
            self.append(env, row, &added.step, tail, &mut pending)?;
        }
        pending.flush(&mut self.tree);
        self.table.end(0, envs);
        Ok(())
    }

    /// Ends the episodes of environments that the host reset before the outcome of their last step was known: `gone`, `[N]`
    /// flags. The last row of each becomes the tail of its episode: its observation stays, its step is dropped. The step before
    /// it is truncated, and transitions that would reach further end there.
    ///
    /// Errors: `Shape`. Nothing is written then.
    pub fn cut_rows(&mut self, gone: &[u8]) -> Result {
        check_len("replay cut: flags [N] of length", gone, self.open.len())?;
        let mut pending = Pending::NONE;
        for env in gone.iter().enumerate().filter(|(_, gone)| **gone != 0).map(|(env, _)| env) {
            self.end_episode(env, &mut pending)?;
        }
        pending.flush(&mut self.tree);
        Ok(())
    }

    fn end_episode(&mut self, env: usize, pending: &mut Pending) -> Result {
        let mut open = u64::from(*self.open.get(env).ok_or(SHAPE)?);
        let held = self.table.view().held(env)?;
        let Some(last) = held.end.checked_sub(1).filter(|_| open > 0) else { return Ok(()) };
        if let Some(before) = last.checked_sub(1).filter(|before| held.contains(before)) {
            let slot = self.table.view().at(env, before)?;
            if let Some(ended) = self.ended.get_mut(slot).filter(|ended| **ended != TAIL) {
                *ended |= TRUNCATED;
            }
        }
        let slot = self.table.view().at(env, last)?;
        *self.reward.get_mut(slot).ok_or(SHAPE)? = 0.0;
        *self.ended.get_mut(slot).ok_or(SHAPE)? = TAIL;
        while open > 1 {
            open = open.saturating_sub(1);
            self.complete(env, last.saturating_sub(open), open, pending)?;
        }
        *self.open.get_mut(env).ok_or(SHAPE)? = 0;
        Ok(())
    }

    fn append(
        &mut self,
        env: usize,
        row: &[Elements<'_>],
        step: &Step,
        tail: Option<&[Elements<'_>]>,
        pending: &mut Pending,
    ) -> Result<u64> {
        let open = *self.open.get(env).ok_or(SHAPE)?;
        let ended = step.ended();
        let number = self.push(env, row, step.reward, ended, open == 0, pending)?;
        let mut open = u64::from(open);
        if open == u64::from(self.config.num_steps) {
            self.complete(env, number.saturating_sub(open), open, pending)?;
            open = open.saturating_sub(1);
        }
        open = open.saturating_add(1);
        if let Some(tail) = tail.filter(|_| ended != 0) {
            let end = self.push(env, tail, 0.0, TAIL, false, pending)?;
            while open > 0 {
                self.complete(env, end.saturating_sub(open), open, pending)?;
                open = open.saturating_sub(1);
            }
        }
        *self.open.get_mut(env).ok_or(SHAPE)? = open as u32;
        Ok(number)
    }

    /// Writes a row that is not yet a transition over the oldest one; `check_add` has accepted it.
    fn push(
        &mut self,
        env: usize,
        row: &[Elements<'_>],
        reward: f32,
        ended: u8,
        first: bool,
        pending: &mut Pending,
    ) -> Result<u64> {
        let slot = self.table.next_row(env)?;
        self.forget(env, pending)?;
        *self.reward.get_mut(slot).ok_or(SHAPE)? = reward;
        *self.sum.get_mut(slot).ok_or(SHAPE)? = 0.0;
        *self.discount.get_mut(slot).ok_or(SHAPE)? = 0.0;
        *self.ahead.get_mut(slot).ok_or(SHAPE)? = 0;
        *self.ended.get_mut(slot).ok_or(SHAPE)? = ended;
        self.table.put(env, row, first)
    }

    /// Excludes from draws the oldest row, which the next row overwrites, and the rows whose stacks begin there.
    fn forget(&mut self, env: usize, pending: &mut Pending) -> Result {
        let table = self.table.view();
        let held = table.held(env)?;
        let oldest = held.start;
        if held.end.saturating_sub(oldest) < self.config.table.num_rows.into() {
            return Ok(());
        }
        for number in (oldest..held.end).take(self.config.table.max_stack()) {
            let slot = table.at(env, number)?;
            let drawn = self.ahead.get(slot).is_some_and(|ahead| *ahead != 0);
            if drawn && table.stack_start(env, number)? == oldest {
                self.state.num_transitions = self.state.num_transitions.saturating_sub(1);
                pending.push(&mut self.tree, slot, 0.0);
            }
        }
        Ok(())
    }

    /// Makes row `number` a transition of `steps` steps.
    fn complete(&mut self, env: usize, number: u64, steps: u64, pending: &mut Pending) -> Result {
        let num_rows = self.config.table.num_rows;
        let first = env.saturating_mul(num_rows as usize).saturating_add(place_of(number, num_rows) as usize);
        let (sum, discount) = self.view().fold(env, number, steps).ok_or(SHAPE)?;
        *self.sum.get_mut(first).ok_or(SHAPE)? = sum;
        *self.discount.get_mut(first).ok_or(SHAPE)? = discount;
        // Concurrent readers that see the next store rely on the ones above.
        fence(Ordering::Release);
        *self.ahead.get_mut(first).ok_or(SHAPE)? = steps as u8;
        self.state.num_transitions = self.state.num_transitions.saturating_add(1);
        pending.push(&mut self.tree, first, weight_of(self.state.max_priority, self.state.alpha));
        Ok(())
    }

    /// Sets the priorities of transitions, usually their temporal-difference errors; of repeated transitions the last priority
    /// counts. Transitions that were dropped since they were drawn are skipped; returns their number.
    ///
    /// Errors: `Shape`; `Value` for a priority that is not finite; `Range` for a negative one, or for rows that never were
    /// transitions. Nothing is written then.
    pub fn update(&mut self, index: &[FrameIndex], priority: &[f32]) -> Result<u64> {
        check_len("replay: as many priorities as transitions,", priority, index.len())?;
        let view = self.view();
        for priority in priority {
            Error::new(Kind::Value, "replay: a finite priority").given_f32(*priority).fail_if(!priority.is_finite())?;
            Error::new(Kind::Range, "replay: a priority of at least 0")
                .given_f32(*priority)
                .fail_if(*priority < 0.0)?;
        }
        let mut forgotten = 0u64;
        for index in index {
            forgotten = forgotten.saturating_add(view.slot_of(index)?.is_none().into());
        }
        let (alpha, epsilon, mut most) = (self.state.alpha, self.config.epsilon, self.state.max_priority);
        shared::begin(from_mut(&mut self.state.updating), 1);
        let (mut index, mut priority) = (index, priority);
        while !index.is_empty() {
            let some = index.len().min(BATCH);
            let (Some((now, later)), Some((p_now, p_later))) =
                (index.split_at_checked(some), priority.split_at_checked(some))
            else {
                return Err(SHAPE);
            };
            let (mut slots, mut weights, mut len) = ([0u32; BATCH], [0.0f32; BATCH], 0usize);
            let view = self.view();
            for (index, priority) in now.iter().zip(p_now) {
                if let Some(slot) = view.slot_of(index)? {
                    let priority = num::min(priority + epsilon, f32::MAX);
                    most = num::max(priority, most);
                    slots[len % BATCH] = slot;
                    weights[len % BATCH] = priority;
                    len = len.wrapping_add(1);
                }
            }
            for weight in &mut weights {
                *weight = weight_of(*weight, alpha);
            }
            let (Some(slots), Some(weights)) = (slots.get(..len), weights.get(..len)) else { return Err(SHAPE) };
            self.tree.set_checked(slots, weights);
            (index, priority) = (later, p_later);
        }
        self.state.max_priority = most;
        shared::end(from_mut(&mut self.state.updating));
        Ok(forgotten)
    }
}

/// Priorities that are set together.
const BATCH: usize = 256;

/// One step of one environment, to append.
#[derive(Clone, Copy, Debug)]
pub struct Added<'a> {
    /// Elements of each column; the first `num_columns` entries count.
    pub row: [Elements<'a>; MAX_COLUMNS],
    /// Its outcome.
    pub step: Step,
    /// As in [`Replay::add`].
    pub tail: Option<[Elements<'a>; MAX_COLUMNS]>,
}

impl<'a> Added<'a> {
    /// Row and tail, limited to the first `columns` columns.
    fn parts(&self, columns: usize) -> Result<(&[Elements<'a>], Option<&[Elements<'a>]>)> {
        let tail = self.tail.as_ref().and_then(|tail| tail.get(..columns));
        Ok((self.row.get(..columns).ok_or(SHAPE)?, tail))
    }
}

impl<'a> View<'a> {
    /// Opens a block that [`Replay::init`] or [`Replay::attach`] has accepted, for drawing and reading.
    /// Errors: `Align`, `Size`, `Image` for any other block.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let config = ReplayConfig::of(mem)?;
        let (spans, _) = spans(config)?;
        let table = table::View::of(mem, &spans.table, &config.table)?;
        let tree = sum_tree::View::open(mem, &spans.tree, config.table.all_rows())?;
        Ok(Self::of(mem, &spans.rows, config, table, tree)?)
    }

    /// Accepts a block that another process is writing, see [`block::shared`]: checks only the constant parts.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        block::attach(mem, block::Kind::Replay, |config| Ok(spans(config)?.1))?;
        Self::open(mem)
    }

    /// Transitions that may be drawn.
    pub fn len(&self) -> u64 {
        self.state.num_transitions.load(Ordering::Relaxed)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The scalars of the memory.
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The random stream stored last, or the stream of seed 0. Errors: `Busy` only with a concurrent writer that stores streams
    /// faster than they can be read.
    pub fn rng(&self) -> Result<Rng> {
        self.state.rng_changes.read(|| snapshot(&self.state.rng))
    }

    /// The rows; those that may be drawn are transitions.
    pub fn table(&self) -> table::View<'a> {
        self.table
    }

    /// The weights of the transitions; row r of environment e is at `e * num_rows + r % num_rows`.
    pub fn tree(&self) -> sum_tree::View<'a> {
        self.tree
    }

    /// The row in this slot, and its distance back from the next row to be pushed.
    #[inline(always)]
    fn index_of(&self, slot: u32) -> (FrameIndex, u32) {
        let num_rows = self.config.table.num_rows;
        let env = slot.checked_div(num_rows).unwrap_or(0);
        let place = slot.wrapping_sub(env.wrapping_mul(num_rows));
        let pushed = self.table.pushed.get(env as usize).map_or(0, |word| word.load(Ordering::Acquire));
        // Distance of the newest row at this place from the next row.
        let head = place_of(pushed, num_rows);
        let back =
            if place < head { head.wrapping_sub(place) } else { num_rows.wrapping_sub(place).wrapping_add(head) };
        (FrameIndex::new(env, pushed.wrapping_sub(back.into())), back)
    }

    /// Slot of a transition; `None` if it was dropped. Errors: `Range` for a row that never was a transition.
    #[inline(always)]
    fn slot_of(&self, index: &FrameIndex) -> Result<Option<u32>> {
        let num_rows = self.config.table.num_rows;
        let env = index.env as usize;
        let pushed = self.table.pushed.get(env).ok_or(ENV.needed(self.open.len()).given(env))?.load(Ordering::Acquire);
        let what = "replay: an index whose reserved is 0";
        Error::new(Kind::Range, what).given(index.reserved as usize).fail_if(index.reserved != 0)?;
        let what = "replay: a row that was added, of a number below";
        Error::limit(Kind::Range, what, pushed as usize, index.number as usize).fail_if(index.number >= pushed)?;
        if index.number.saturating_add(num_rows.into()) < pushed {
            return Ok(None);
        }
        let slot = index.env.wrapping_mul(num_rows).wrapping_add(place_of(index.number, num_rows));
        // Checked first: a concurrent reader may still find the weight of the row that was in this slot before.
        if self.ahead.get(slot as usize).is_some_and(|ahead| *ahead != 0) {
            return Ok((self.tree.weight(slot as usize) > 0.0).then_some(slot));
        }
        let what = "replay: a row that is a transition; not so number";
        Err(Error::new(Kind::Range, what).given(index.number as usize))
    }

    /// Slot of a transition whose data can still be read. Errors: `Range` if it was dropped, or never was a transition.
    fn held_slot_of(&self, index: &FrameIndex) -> Result<usize> {
        let what = "replay: transitions that are still held; not so number";
        let slot = self.slot_of(index)?.ok_or(Error::new(Kind::Range, what).given(index.number as usize))?;
        fence(Ordering::Acquire);
        Ok(slot as usize)
    }

    /// Checks that every transition is still held. Errors: `Range` if one was dropped, or never was a transition.
    pub fn check(&self, index: &[FrameIndex]) -> Result {
        index.iter().try_for_each(|index| self.held_slot_of(index).map(|_| ()))
    }

    /// Discounted sum of the rewards of `steps` steps from row `number` on, and the factor of the value of the row after them;
    /// `None` for an environment that does not exist.
    fn fold(&self, env: usize, number: u64, steps: u64) -> Option<(f32, f32)> {
        let num_rows = self.config.table.num_rows;
        let base = env.saturating_mul(num_rows as usize);
        let mut place = place_of(number, num_rows) as usize;
        let (mut sum, mut discount, mut ended) = (0.0, 1.0, 0);
        for _ in 0..steps {
            let slot = base.saturating_add(place);
            sum += discount * f64::from(*self.reward.get(slot)?);
            discount *= f64::from(self.config.discount);
            ended = *self.ended.get(slot)?;
            place = place.saturating_add(1);
            place = if place < num_rows as usize { place } else { 0 };
        }
        Some((sum as f32, if ended & TERMINATED != 0 { 0.0 } else { discount as f32 }))
    }
}
