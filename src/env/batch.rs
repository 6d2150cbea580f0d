//! Steps that the host does not wait for: it submits actions, any threads or processes do the work, it collects.
//!
//! The rows of a vectorised environment are cut into groups of `in_series`. Every group has one atomic word that says who
//! may touch its rows and its share of the columns: the host while it is idle or done, one worker while it runs. The
//! library starts no thread and waits for nobody: whoever calls [`Batch::run`] is a worker, and which worker steps
//! which group changes no byte.
//!
//! ```text
//!        step_async, send          run claims            run finishes, abandon
//!  IDLE ------------------> PENDING ---------> RUNNING by w ------------------> DONE
//!    ^----- reset, close ------'                                                  |
//!    '------------------------------ step_wait, recv, reset ----------------------'
//! ```
//!
//! Safe Rust lends a group by [`Shares`] and [`Lanes`], for which two vectors of mutexes will do; the C interface lends it
//! from the raw block, words included.

use bytemuck::{Pod, Zeroable};
use core::sync::atomic::{AtomicU32, Ordering};

use super::row::{UNSET, is_ready};
use super::vecenv::{check_actions, check_obs};
use super::{Env, Level, Rows, StepOut};
use crate::block::{self, Cutter, Plan, fields};
use crate::cpu;
use crate::error::{Error, Kind, Result, check_len};
use crate::space::{Element, Elements, ElementsMut};

/// How a batch is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Rows of a group: one worker steps them one after another. Divides the number of environments.
    pub in_series: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { in_series: 1 }
    }
}

/// What is agreed when the block is made: stored in it beside the header, never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Setup {
    /// What the vectorised environment was made with.
    pub vecenv: super::Setup,
    /// Rows of a group.
    pub in_series: u32,
    reserved: u32,
}

impl Setup {
    /// Bytes from the base of a block to the end of its setup.
    pub const END: usize = block::FIELD_ALIGN + size_of::<Setup>();

    /// Agrees on a vectorised environment and a configuration. Errors: `Config`.
    pub fn new(vecenv: &super::Setup, config: &Config) -> Result<Setup> {
        let setup = Setup { vecenv: *vecenv, in_series: config.in_series, reserved: 0 };
        setup.check()?;
        Ok(setup)
    }

    /// Reads the setup from the first [`Setup::END`] bytes of a block that `init` or `attach` accepted.
    /// Errors: `Align`, `Size`, `Image`.
    pub fn read(mem: &[u8]) -> Result<Setup> {
        block::config(mem, block::Kind::Batch)
    }

    /// Refuses a vectorised environment that the batch was not made for. Errors: `Config`.
    pub fn check_vecenv(&self, vecenv: &super::Setup) -> Result {
        if *vecenv == self.vecenv {
            return Ok(());
        }
        let what = "batch: the vecenv, configuration and environment that it was made for, with num_envs";
        Err(Error::new(Kind::Config, what).needed(self.vecenv.num_envs as usize).given(vecenv.num_envs as usize))
    }

    /// Number of groups.
    pub fn num_groups(&self) -> usize {
        self.vecenv.num_envs.checked_div(self.in_series).unwrap_or(0) as usize
    }

    /// Atomic words that a batch needs.
    pub fn num_words(&self) -> usize {
        self.num_groups().saturating_add(FIRST_GROUP)
    }

    fn check(&self) -> Result {
        self.vecenv.check()?;
        let (n, k) = (self.vecenv.num_envs, self.in_series);
        if k == 0 || !n.is_multiple_of(k) {
            let what = "batch config: in_series of at least 1 that divides num_envs = {needed}";
            return Err(Error::new(Kind::Config, what).needed(n as usize).given(k as usize));
        }
        if self.reserved != 0 {
            return Err(Error::new(Kind::Config, "batch setup: reserved of 0").given(self.reserved as usize));
        }
        Ok(())
    }

    fn rows(&self) -> usize {
        self.vecenv.num_envs as usize
    }

    fn obs_len(&self) -> usize {
        self.vecenv.obs_len as usize
    }

    /// First row of a group.
    fn first(&self, group: usize) -> usize {
        group.saturating_mul(self.in_series as usize)
    }

    /// Kinds of observations and actions. Errors: `Shape`, for none that is known.
    pub fn kinds(&self) -> Result<(Element, Element)> {
        let known = |kind| Element::from_number(kind).ok_or(SHAPE);
        Ok((known(self.vecenv.obs_kind)?, known(self.vecenv.action_kind)?))
    }
}

fields! {
    /// Where the fields of a block lie, behind what was agreed.
    pub spans Spans(setup: &Setup, action_size: usize, obs_size: usize, n: usize) {
        /// `[num_words]` see [`Batch::over`].
        pub words: [u32] = setup.num_words(),
        /// `[N, action_len]` elements, as bytes.
        pub action: [u8] = n.saturating_mul(action_size),
        /// `[N, obs_len]` elements, as bytes.
        pub obs: [u8] = n.saturating_mul(obs_size),
        /// `[N, obs_len]` elements, as bytes.
        pub final_obs: [u8] = n.saturating_mul(obs_size),
        /// `[N]`
        pub reward: [f32] = n,
        /// `[N]`
        pub terminated: [u8] = n,
        /// `[N]`
        pub truncated: [u8] = n,
        /// `[N]`
        pub valid: [u8] = n,
        /// `[N]` see [`Share::outcome`].
        pub outcome: [u8] = n,
    }
    /// All of them.
    write Fields {}
}

/// The one place where the layout is written down: the fields and the bytes of the whole block.
pub fn spans(setup: &Setup) -> Result<(Spans, usize)> {
    setup.check()?;
    let (obs_kind, action_kind) = setup.kinds()?;
    let bytes = |len: u32, kind: Element| (len as usize).saturating_mul(kind.size());
    let (action_size, obs_size) = (bytes(setup.vecenv.action_len, action_kind), bytes(setup.vecenv.obs_len, obs_kind));
    let mut plan = Plan::default();
    block::spans::<Setup>(&mut plan)?;
    Ok((Spans::plan(&mut plan, setup, action_size, obs_size, setup.rows())?, plan.size()?))
}

/// Bytes a block must have. Errors: `Config`, `Overflow`.
pub fn size(vecenv: &super::Setup, config: &Config) -> Result<usize> {
    Ok(spans(&Setup::new(vecenv, config)?)?.1)
}

/// Lays an idle batch out and returns the columns of all rows, to be split into groups.
/// Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
pub fn init<'a>(mem: &'a mut [u8], vecenv: &super::Setup, config: &Config) -> Result<(Setup, Share<'a>)> {
    let setup = Setup::new(vecenv, config)?;
    let (spans, size) = spans(&setup)?;
    let block = block::create(mem, block::Kind::Batch, size, &setup)?;
    Ok((setup, cut(block, &setup, spans)?.1))
}

/// Accepts bytes that a block was copied to. A copy made while workers ran names them: they have to be abandoned.
/// Nothing is written. Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
pub fn attach(mem: &mut [u8]) -> Result<(Setup, Share<'_>)> {
    let setup: Setup = block::attach(mem, block::Kind::Batch, |setup| Ok(spans(setup)?.1))?;
    let (words, share) = cut(mem, &setup, spans(&setup)?.0)?;
    let damaged = |what, given| Err(Error::new(Kind::Image, what).given(given));
    let (n, in_series) = (setup.num_groups() as u32, setup.in_series as usize);
    let (mode, hint, cursor, groups) = match words {
        [mode, hint, cursor, groups @ ..] => (*mode, *hint, *cursor, groups),
        _ => return Err(WORDS),
    };
    if mode > CLOSED || hint > n || cursor > n {
        return damaged("batch: the mode {given} or its turns are damaged.", mode as usize);
    }
    let mut outcomes = &*share.outcome;
    for (group, &word) in groups.iter().enumerate() {
        let (own, rest) = outcomes.split_at_checked(in_series).ok_or(SHAPE)?;
        outcomes = rest;
        let mine = word == IDLE || word == DONE;
        if !(mine || level_of(word).is_some() || word & STATE == RUNNING) {
            return damaged("batch: the state of group {given} is damaged.", group);
        }
        if mine && own.iter().any(|&outcome| outcome > GIVEN_UP) {
            return damaged("batch: the outcomes of group {given} are damaged.", group);
        }
    }
    Ok((setup, share))
}

fn cut<'a>(block: &'a mut [u8], setup: &Setup, spans: Spans) -> Result<(&'a mut [u32], Share<'a>)> {
    let (obs_kind, action_kind) = setup.kinds()?;
    let fields = Fields::cut(&mut Cutter::new(block), &spans)?;
    let out = StepOut {
        obs: ElementsMut::of_bytes(obs_kind, fields.obs)?,
        reward: fields.reward,
        terminated: fields.terminated,
        truncated: fields.truncated,
        final_obs: Some(ElementsMut::of_bytes(obs_kind, fields.final_obs)?),
        valid: Some(fields.valid),
    };
    let action = ElementsMut::of_bytes(action_kind, fields.action)?;
    Ok((fields.words, Share { action, out, outcome: fields.outcome }))
}

/// Columns of some rows: what was submitted for them and what their last step returned.
#[derive(Debug)]
pub struct Share<'a> {
    /// `[rows, action_len]`
    pub action: ElementsMut<'a>,
    /// Every array is there.
    pub out: StepOut<'a>,
    /// `[rows]` of the last step: 0 done, 1 a callback failed, 2 a reward or observation was not finite, 3 its worker was
    /// given up.
    pub outcome: &'a mut [u8],
}

const DELIVERED: u8 = 0;
const FAILED: u8 = 1;
const NOT_FINITE: u8 = 2;
const GIVEN_UP: u8 = 3;

impl<'a> Share<'a> {
    /// The same columns for a shorter time.
    pub fn reborrow(&mut self) -> Share<'_> {
        Share { action: self.action.reborrow(), out: self.out.reborrow(), outcome: &mut *self.outcome }
    }

    /// The first `k` rows and the others; `None` if there are fewer than `k`.
    pub fn split_at(self, k: usize, setup: &Setup) -> Option<(Share<'a>, Share<'a>)> {
        let (action, action_rest) = self.action.split_at(k.checked_mul(setup.vecenv.action_len as usize)?)?;
        let (out, out_rest) = self.out.split_at(k, setup.obs_len())?;
        let (outcome, outcome_rest) = self.outcome.split_at_mut_checked(k)?;
        Some((Share { action, out, outcome }, Share { action: action_rest, out: out_rest, outcome: outcome_rest }))
    }
}

/// Lends the columns of a group. Asked only by the one who may have them, so that a lock is never waited for.
pub trait Shares {
    /// Hands the columns of a group to `work`; `None` if there is no such group.
    fn share<T>(&self, group: usize, work: impl FnOnce(Share<'_>) -> T) -> Option<T>;
}

/// Lends the environments of a group. Asked only by the one who may have them, so that a lock is never waited for.
pub trait Lanes {
    /// Hands the rows of a group to `work`; `None` if there is no such group.
    fn lane<T>(&self, group: usize, work: impl FnOnce(Rows<'_>) -> T) -> Option<T>;
}

/// Numbers of groups, as they were one after another: workers go on meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nothing can be submitted or collected any more.
    pub closed: bool,
    /// Groups that no worker has begun.
    pub num_pending: u32,
    /// Groups that a worker is inside.
    pub num_running: u32,
    /// Groups that can be collected.
    pub num_done: u32,
}

/// The words of a batch.
const FIRST_GROUP: usize = 3;

/// States of a group: the lowest two bits of its word. The others are an [`Level`] while it is pending and the worker's
/// number while it runs.
const IDLE: u32 = 0;
const PENDING: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 3;
const STATE: u32 = 3;

/// Modes of the whole batch.
const OPEN: u32 = 0;
const DRAINING: u32 = 1;
const CLOSED: u32 = 2;

/// Workers have numbers up to this.
pub const MAX_WORKER: u32 = u32::MAX >> 2;

const SHAPE: Error = Error::new(Kind::Shape, "batch: a share and a lane for each group");
const WORDS: Error = Error::new(Kind::Shape, "batch: atomic words, as many as Setup::num_words says");
const CLOSED_ERROR: Error = Error::new(Kind::Config, "batch: the batch is closed.");
const BUSY: Error = Error::new(Kind::Busy, "batch: the last step of group {given} has not been collected.");
const DRAINING_ERROR: Error =
    Error::new(Kind::Busy, "batch: a reset is unfinished; call rlcore_batch_reset again until it succeeds.");
const NOT_PENDING: Error = Error::new(Kind::NotPending, "batch: cannot collect {needed} rows: {given} are pending.");
const INSIDE: Error = Error::new(Kind::NotReady, "batch: {given} groups are not finished yet.");
const GROUPS: Error =
    Error::new(Kind::Range, "batch: rows must be whole groups in ascending order; entry {given} is not.");
const UNREADY: Error = Error::new(Kind::NotReady, "vecenv: environment {given} must be reset before it is stepped.");

/// The state machine: who may touch which group. Any number of threads or processes may hold one over the same words.
/// [`Batch::run`] is for workers and may be called by all at once; everything else is the host's, one call at a time.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    setup: Setup,
    mode: &'a AtomicU32,
    /// Where workers begin to look, so that they do not all meet at group 0; wrong values only cost time.
    hint: &'a AtomicU32,
    /// Where `recv` begins to look, so that no group waits for ever.
    cursor: &'a AtomicU32,
    groups: &'a [AtomicU32],
}

impl<'a> Batch<'a> {
    /// A batch over [`Setup::num_words`] words: zeros, or as another `Batch` left them. Errors: `Config`, `Shape`.
    pub fn over(setup: Setup, words: &'a [AtomicU32]) -> Result<Self> {
        setup.check()?;
        let [mode, hint, cursor, groups @ ..] = words else {
            return Err(WORDS.needed(setup.num_words()).given(words.len()));
        };
        check_len("batch: atomic words for groups,", groups, setup.num_groups())?;
        Ok(Batch { setup, mode, hint, cursor, groups })
    }

    /// What was agreed when the batch was made.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Submits a step of every row. `action`: `[N, action_len]`, copied.
    ///
    /// Errors, before anything changes: `Config` (closed, another environment), `Busy` (a row was submitted and not
    /// collected), `NotReady` (a row has to be reset first), `Shape`, `Range` and `Value` (actions).
    pub fn step_async<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        action: Elements<'_>,
    ) -> Result {
        self.step_env_async(shares, lanes, env, Level::New, action)
    }

    /// [`Batch::step_async`], in which environments that end start again in this level.
    pub fn step_env_async<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        level: Level,
        action: Elements<'_>,
    ) -> Result {
        self.open()?;
        self.submit(shares, lanes, env, 0..self.groups.len(), level, action)
    }

    /// Submits a step of some rows while others may still be under way. `rows`: whole groups, ascending; `action`:
    /// `[rows, action_len]`, copied.
    ///
    /// Errors: as [`Batch::step_async`]; `Range`.
    pub fn send<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        rows: &[u32],
        action: Elements<'_>,
    ) -> Result {
        self.open()?;
        self.check_rows(rows)?;
        let k = self.setup.in_series;
        let groups = rows.iter().step_by(k as usize).map(|&row| row.checked_div(k).unwrap_or(0) as usize);
        self.submit(shares, lanes, env, groups, Level::New, action)
    }

    fn submit<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        groups: impl Iterator<Item = usize> + Clone,
        level: Level,
        action: Elements<'_>,
    ) -> Result {
        if let Some(g) = groups.clone().find(|&g| self.state(g) != IDLE) {
            return Err(BUSY.given(g));
        }
        self.setup.vecenv.check_env(env)?;
        check_actions(env, action, self.setup.first(groups.clone().count()))?;
        for g in groups.clone() {
            lanes.lane(g, |rows| self.check_lane(g, &rows)).ok_or(SHAPE)??;
        }
        let width = (self.setup.in_series as usize).saturating_mul(self.setup.vecenv.action_len as usize);
        let mut at = 0usize;
        if let Some(first) = groups.clone().next() {
            self.hint.store(first as u32, Ordering::Relaxed);
        }
        for g in groups {
            let end = at.saturating_add(width);
            let own = action.get(at, end).ok_or(SHAPE)?;
            shares.share(g, |mut share| share.action.copy_from(own)).ok_or(SHAPE)??;
            // Release: the worker that claims the group sees its actions, and its rows as the host last saw them.
            self.set(g, (level as u32) << 2 | PENDING, Ordering::Release);
            at = end;
        }
        Ok(())
    }

    /// Steps pending groups, one after another, until there is none left or `max_groups` are done; returns how many it
    /// did. Never waits. A failing environment is told to the host by [`Batch::step_wait`] or [`Batch::recv`].
    /// `worker`: the caller's number, up to [`MAX_WORKER`]; only [`Batch::abandon`] needs it to be its own.
    ///
    /// Errors: `Config` (closed, another environment); `Range`.
    pub fn run<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        worker: u32,
        max_groups: u32,
    ) -> Result<u32> {
        self.not_closed()?;
        self.setup.vecenv.check_env(env)?;
        let running = running(worker)?;
        let mut group = self.hint.load(Ordering::Relaxed) as usize;
        let mut done = 0u32;
        for _ in 0..self.groups.len() {
            if done == max_groups {
                break;
            }
            if group >= self.groups.len() {
                group = 0;
            }
            let word = self.groups.get(group).ok_or(SHAPE)?;
            let pending = word.load(Ordering::Relaxed);
            // Acquire: pairs with the host's Release in `submit`.
            if let Some(level) = level_of(pending)
                && cpu::exchange(word, pending, running, Ordering::Acquire)
            {
                self.hint.store(group.wrapping_add(1) as u32, Ordering::Relaxed);
                shares.share(group, |share| lanes.lane(group, |rows| step(share, rows, env, level)));
                // Release: the host that collects the group sees its columns and rows. Fails if it was given up.
                if cpu::exchange(word, running, DONE, Ordering::Release) {
                    done = done.wrapping_add(1);
                }
            }
            group = group.wrapping_add(1);
        }
        Ok(done)
    }

    /// Collects all that was submitted, once all of it is done: writes those rows of `out` (arrays of the whole batch), as
    /// [`Rows::step`] would have, and is idle again. Never waits.
    ///
    /// Errors, before anything changes: `Config` (closed), `Shape`, `Null`; `NotPending` (nothing was submitted);
    /// `NotReady` (workers are not through). `Callback` and `Value` give the first row whose step failed, see
    /// [`Batch::failed`]: everything is collected, failed rows of `out` are untouched and have to be reset.
    pub fn step_wait<S: Shares>(&self, shares: &S, mut out: StepOut<'_>) -> Result {
        self.not_closed()?;
        out.check(self.setup.rows(), &self.setup.vecenv)?;
        let (submitted, done) = self.submitted();
        if submitted == 0 || self.mode() == DRAINING {
            return Err(NOT_PENDING.needed(1).given(0));
        }
        if done < submitted {
            return Err(INSIDE.given(submitted.wrapping_sub(done)));
        }
        let mut failure = Ok(());
        for g in 0..self.groups.len() {
            if self.state(g) == DONE {
                failure = failure.and(self.deliver(shares, g, &mut out, self.setup.first(g))?);
            }
        }
        self.restart_turns();
        failure
    }

    /// Collects the rows of whole groups that are done, as many as `rows` has room for, while others are under way.
    /// `rows` gets their numbers, ascending; row k of every array of `out` is that of row `rows[k]`. Which groups are
    /// first depends on the workers' speed; none is collected twice while another one waits, and a row's own results
    /// never depend on the others.
    ///
    /// Errors: as [`Batch::step_wait`]; `Range` if `rows` has no room for a whole number of groups.
    pub fn recv<S: Shares>(&self, shares: &S, rows: &mut [u32], mut out: StepOut<'_>) -> Result {
        self.not_closed()?;
        let in_series = self.setup.in_series as usize;
        let wanted = rows.len().checked_div(in_series).unwrap_or(0);
        if wanted == 0 || wanted.saturating_mul(in_series) != rows.len() {
            let what = "batch: room for a whole number of groups; rows of a group";
            return Err(Error::new(Kind::Range, what).needed(in_series).given(rows.len()));
        }
        out.check(rows.len(), &self.setup.vecenv)?;
        let (submitted, done) = self.submitted();
        if submitted < wanted || self.mode() == DRAINING {
            return Err(NOT_PENDING.needed(rows.len()).given(submitted.saturating_mul(in_series)));
        }
        if done < wanted {
            return Err(INSIDE.given(submitted.wrapping_sub(done)));
        }
        // Done groups are taken from the cursor on and, past the last group, from the first on; they are handed over in
        // ascending order, so those before the cursor come first.
        let cursor = self.cursor.load(Ordering::Relaxed) as usize;
        let is_done = |&g: &usize| self.state(g) == DONE;
        let behind = (cursor..self.groups.len()).filter(is_done).count().min(wanted);
        let before = wanted.wrapping_sub(behind);
        let groups = (0..cursor).filter(is_done).take(before);
        let groups = groups.chain((cursor..self.groups.len()).filter(is_done).take(behind));
        let mut failure = Ok(());
        let mut places = rows.iter_mut();
        let mut next = cursor;
        for (k, g) in groups.enumerate() {
            let first = self.setup.first(g);
            for (row, place) in (first..first.saturating_add(in_series)).zip(places.by_ref()) {
                *place = row as u32;
            }
            failure = failure.and(self.deliver(shares, g, &mut out, k.saturating_mul(in_series))?);
            // The next turn begins behind the last group of this one, which lies before the cursor if any does.
            if before == 0 || k < before {
                next = g.wrapping_add(1);
            }
        }
        self.cursor.store(next as u32, Ordering::Relaxed);
        if done == wanted && submitted == wanted {
            self.restart_turns();
        }
        failure
    }

    /// Starts an episode in every row, as [`Rows::reset`]. What was submitted is discarded and never delivered: groups that
    /// no worker has begun are taken back, groups that are done are forgotten.
    ///
    /// Errors: `Config` (closed, another environment) and `Shape`, before anything changes. `NotReady` while a worker is inside
    /// a group: the step is discarded all the same, and until this call succeeds nothing can be submitted. Then those
    /// of the callbacks, as [`Rows::reset`].
    pub fn reset<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        seed: Option<u64>,
        mut obs: ElementsMut<'_>,
    ) -> Result {
        self.not_closed()?;
        self.setup.vecenv.check_env(env)?;
        check_obs("batch obs: elements of the agreed kind,", &obs, self.setup.rows(), &self.setup.vecenv)?;
        self.drain()?;
        let width = (self.setup.in_series as usize).saturating_mul(self.setup.obs_len());
        for g in 0..self.groups.len() {
            let begin = g.saturating_mul(width);
            let own = obs.get(begin, begin.saturating_add(width)).ok_or(SHAPE)?;
            lanes.lane(g, |mut rows| rows.reset(env, seed, own)).ok_or(SHAPE)??;
            shares.share(g, |share| share.outcome.fill(DELIVERED)).ok_or(SHAPE)?;
        }
        Ok(())
    }

    /// Starts an episode in row `i` alone, as [`VecEnv::reset_one`](super::VecEnv::reset_one); rows of other groups may be
    /// under way. `obs` is `[N, obs_len]` and only row `i` of it is written.
    ///
    /// Errors: `Config`, `Shape`, `Range`; `Busy` if its group was submitted and not collected; the callback's.
    pub fn reset_one<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        i: usize,
        seed: Option<u64>,
        mut obs: ElementsMut<'_>,
    ) -> Result {
        self.open()?;
        self.setup.vecenv.check_env(env)?;
        check_obs("batch obs: elements of the agreed kind,", &obs, self.setup.rows(), &self.setup.vecenv)?;
        if i >= self.setup.rows() {
            return Err(Error::new(Kind::Range, "batch: an index below").needed(self.setup.rows()).given(i));
        }
        let g = i.checked_div(self.setup.in_series as usize).unwrap_or(0);
        if self.state(g) != IDLE {
            return Err(BUSY.given(g));
        }
        let k = i.wrapping_sub(self.setup.first(g));
        let begin = i.saturating_mul(self.setup.obs_len());
        let own = obs.get(begin, begin.saturating_add(self.setup.obs_len())).ok_or(SHAPE)?;
        let seed = seed.map(|seed| seed.wrapping_sub(i as u64));
        let reset = |rows: Rows<'_>| rows.range(k, k.saturating_add(1))?.reset(env, seed, own);
        lanes.lane(g, reset).ok_or(SHAPE)??;
        let clear = |share: Share<'_>| share.outcome.get_mut(k).map(|outcome| *outcome = DELIVERED);
        shares.share(g, clear).flatten().ok_or(SHAPE)
    }

    /// Gives up a worker that died: the rows of the group it was in count as failed and have to be reset, all others are as
    /// if nothing had happened. Returns how many rows that are. The worker must not run any more: nothing can stop it
    /// from writing to them.
    ///
    /// Errors: `Config` (closed); `Range`.
    pub fn abandon<S: Shares, L: Lanes>(&self, shares: &S, lanes: &L, worker: u32) -> Result<usize> {
        self.not_closed()?;
        let running = running(worker)?;
        let mut rows = 0usize;
        for (g, word) in self.groups.iter().enumerate() {
            if word.load(Ordering::Acquire) == running {
                lanes.lane(g, |rows| (rows.phase.fill(UNSET), rows.steps.fill(0))).ok_or(SHAPE)?;
                shares.share(g, |share| share.outcome.fill(GIVEN_UP)).ok_or(SHAPE)?;
                word.store(DONE, Ordering::Relaxed);
                rows = rows.saturating_add(self.setup.in_series as usize);
            }
        }
        Ok(rows)
    }

    /// Writes 1 for each row whose last step failed and that this batch has not reset since, else 0; `[N]`. Rows that are
    /// under way get 0. Errors: `Config` (closed); `Shape`.
    pub fn failed<S: Shares>(&self, shares: &S, failed: &mut [u8]) -> Result {
        self.not_closed()?;
        check_len("batch failed: one flag a row,", failed, self.setup.rows())?;
        let mut rest = failed;
        for g in 0..self.groups.len() {
            let (own, tail) = rest.split_at_mut_checked(self.setup.in_series as usize).ok_or(SHAPE)?;
            rest = tail;
            own.fill(0);
            if matches!(self.state(g), IDLE | DONE) {
                let write = |share: Share<'_>| {
                    own.iter_mut()
                        .zip(&*share.outcome)
                        .for_each(|(flag, &outcome)| *flag = (outcome != DELIVERED).into());
                };
                shares.share(g, write).ok_or(SHAPE)?;
            }
        }
        Ok(())
    }

    /// Ends it: what no worker has begun is taken back, what was submitted is never delivered, and every later call but
    /// this one is refused. Workers that are inside a group finish it.
    pub fn close(&self) {
        self.mode.store(CLOSED, Ordering::Relaxed);
        self.groups.iter().for_each(take_back);
    }

    /// How far it is; the only call but `close` that a closed batch answers.
    pub fn count(&self) -> Counts {
        let mut counts = Counts { closed: self.mode() == CLOSED, ..Counts::default() };
        for g in 0..self.groups.len() {
            let count = match self.state(g) {
                PENDING => &mut counts.num_pending,
                RUNNING => &mut counts.num_running,
                DONE => &mut counts.num_done,
                _ => continue,
            };
            *count = count.wrapping_add(1);
        }
        counts
    }

    /// Takes back, forgets, and tells whether a worker is still inside.
    fn drain(&self) -> Result {
        self.mode.store(DRAINING, Ordering::Relaxed);
        let mut inside = 0usize;
        for (g, word) in self.groups.iter().enumerate() {
            take_back(word);
            match self.state(g) {
                RUNNING => inside = inside.saturating_add(1),
                _ => word.store(IDLE, Ordering::Relaxed),
            }
        }
        if inside > 0 {
            return Err(INSIDE.given(inside));
        }
        self.restart_turns();
        self.mode.store(OPEN, Ordering::Relaxed);
        Ok(())
    }

    /// Copies the share of a group that is done to rows `[at, at + in_series)` of `out` and makes it idle. The inner result is
    /// the first failed row's.
    fn deliver<S: Shares>(&self, shares: &S, g: usize, out: &mut StepOut<'_>, at: usize) -> Result<Result> {
        let (width, end) = (self.setup.obs_len(), at.saturating_add(self.setup.in_series as usize));
        let own = out.reborrow().range(at, end, width).ok_or(SHAPE)?;
        let failure = shares.share(g, |share| hand_over(share, own, width, self.setup.first(g))).ok_or(SHAPE)?;
        // Relaxed: only the host looks at idle groups, and submitting it again is a Release.
        self.set(g, IDLE, Ordering::Relaxed);
        failure
    }

    fn check_rows(&self, rows: &[u32]) -> Result {
        let k = self.setup.in_series;
        let groups = self.groups.len() as u32;
        let mut next = 0u32; // the lowest group that may follow
        for (i, &row) in rows.iter().enumerate() {
            let place = (i as u32).checked_rem(k).unwrap_or(0);
            let group = row.checked_div(k).unwrap_or(0);
            let right = if place == 0 { group >= next && group < groups } else { group.wrapping_add(1) == next };
            if !right || row.wrapping_sub(group.wrapping_mul(k)) != place {
                return Err(GROUPS.given(i));
            }
            next = group.wrapping_add(1);
        }
        if rows.is_empty() || (rows.len() as u32).checked_rem(k) != Some(0) {
            return Err(GROUPS.given(rows.len()));
        }
        Ok(())
    }

    /// The host's look at a lane that it is about to submit.
    fn check_lane(&self, g: usize, rows: &Rows<'_>) -> Result {
        self.setup.check_vecenv(rows.setup)?;
        if rows.first != self.setup.first(g) || rows.len() != self.setup.in_series as usize {
            return Err(SHAPE);
        }
        let mode = self.setup.vecenv.mode();
        match rows.phase.iter().position(|&phase| !is_ready(phase, mode)) {
            Some(k) => Err(UNREADY.given(rows.first.saturating_add(k))),
            None => Ok(()),
        }
    }

    /// Groups that were submitted and not collected, and those of them that are done.
    fn submitted(&self) -> (usize, usize) {
        (0..self.groups.len()).fold((0, 0), |(submitted, done), g| match self.state(g) {
            IDLE => (submitted, done),
            DONE => (submitted.wrapping_add(1), done.wrapping_add(1)),
            _ => (submitted.wrapping_add(1), done),
        })
    }

    fn restart_turns(&self) {
        self.hint.store(0, Ordering::Relaxed);
        self.cursor.store(0, Ordering::Relaxed);
    }

    fn mode(&self) -> u32 {
        self.mode.load(Ordering::Relaxed)
    }

    fn not_closed(&self) -> Result {
        if self.mode() == CLOSED { Err(CLOSED_ERROR) } else { Ok(()) }
    }

    fn open(&self) -> Result {
        self.not_closed()?;
        if self.mode() == DRAINING { Err(DRAINING_ERROR) } else { Ok(()) }
    }

    /// Acquire: who sees DONE sees the columns and rows that the worker wrote before it said so.
    fn state(&self, g: usize) -> u32 {
        self.groups.get(g).map_or(IDLE, |word| word.load(Ordering::Acquire) & STATE)
    }

    fn set(&self, g: usize, state: u32, order: Ordering) {
        if let Some(word) = self.groups.get(g) {
            word.store(state, order);
        }
    }
}

/// The word of a group that this worker is in.
fn running(worker: u32) -> Result<u32> {
    if worker > MAX_WORKER {
        let what = "batch: a worker number of at most";
        return Err(Error::new(Kind::Range, what).needed(MAX_WORKER as usize).given(worker as usize));
    }
    Ok(worker << 2 | RUNNING)
}

/// Where rows that end start again, if this is the word of a pending group.
fn level_of(word: u32) -> Option<Level> {
    match word >> 2 {
        0 if word & STATE == PENDING => Some(Level::New),
        1 if word & STATE == PENDING => Some(Level::Same),
        _ => None,
    }
}

/// Makes a pending group idle, unless a worker was faster.
fn take_back(word: &AtomicU32) {
    let pending = word.load(Ordering::Relaxed);
    if pending & STATE == PENDING {
        cpu::exchange(word, pending, IDLE, Ordering::Relaxed);
    }
}

/// Steps the rows of a group. A row that fails is noted and the rows behind it are stepped all the same.
fn step<E: Env + ?Sized>(share: Share<'_>, mut rows: Rows<'_>, env: &E, level: Level) {
    let Share { action, mut out, outcome } = share;
    let n = outcome.len();
    outcome.fill(DELIVERED);
    // A step leaves the rewards of the rows that it did not complete alone, and completed ones are finite.
    out.reward.fill(f32::NAN);
    let mut at = 0;
    while at < n {
        let error = match step_from(&mut rows, &mut out, action.as_ref(), env, level, at) {
            Ok(()) => break,
            Err(error) => error,
        };
        let undone =
            |k: &usize| out.reward.get(*k).is_some_and(|reward| reward.is_nan()) || rows.phase.get(*k) == Some(&UNSET);
        // An environment that fails and leaves no trace of where: none of its rows can be trusted.
        let (k, end) = (at..n).find(undone).map_or((at, n), |k| (k, k.saturating_add(1)));
        let marks = out.reward.iter_mut().zip(rows.phase.iter_mut()).zip(rows.steps.iter_mut()).zip(outcome.iter_mut());
        for (((reward, phase), steps), outcome) in marks.take(end).skip(k) {
            (*reward, *phase, *steps) = (0.0, UNSET, 0);
            *outcome = if error.kind == Kind::Value { NOT_FINITE } else { FAILED };
        }
        at = end;
    }
}

/// Steps the rows from `begin` on.
fn step_from<E: Env + ?Sized>(
    rows: &mut Rows<'_>,
    out: &mut StepOut<'_>,
    action: Elements<'_>,
    env: &E,
    level: Level,
    begin: usize,
) -> Result {
    let (obs_len, action_len) = (rows.setup.obs_len as usize, rows.setup.action_len as usize);
    let end = rows.len();
    let action = action.get(begin.saturating_mul(action_len), end.saturating_mul(action_len)).ok_or(SHAPE)?;
    let out = out.reborrow().range(begin, end, obs_len).ok_or(SHAPE)?;
    rows.reborrow().range(begin, end)?.step_env(env, level, action, out)
}

/// Copies what the rows of a group returned; the inner result is the first failed row's.
fn hand_over(share: Share<'_>, mut to: StepOut<'_>, width: usize, first: usize) -> Result<Result> {
    let mut from = share.out;
    let n = share.outcome.len();
    let Some(k) = share.outcome.iter().position(|&outcome| outcome != DELIVERED) else {
        copy_rows(&mut from, &mut to, 0, n, width)?;
        return Ok(Ok(()));
    };
    for (i, _) in share.outcome.iter().enumerate().filter(|&(_, &outcome)| outcome == DELIVERED) {
        copy_rows(&mut from, &mut to, i, i.saturating_add(1), width)?;
    }
    let error = match share.outcome.get(k) {
        Some(&NOT_FINITE) => {
            Error::new(Kind::Value, "batch: the reward or observation of environment {given} is not finite.")
        }
        Some(&GIVEN_UP) => Error::new(Kind::Callback, "batch: the worker of environment {given} was abandoned."),
        _ => Error::new(Kind::Callback, "batch: a callback failed in environment {given}."),
    };
    Ok(Err(error.given(first.saturating_add(k))))
}

fn copy_rows(from: &mut StepOut<'_>, to: &mut StepOut<'_>, begin: usize, end: usize, width: usize) -> Result {
    let from = from.reborrow().range(begin, end, width).ok_or(SHAPE)?;
    let mut to = to.reborrow().range(begin, end, width).ok_or(SHAPE)?;
    to.obs.copy_from(from.obs.as_ref())?;
    block::copy(to.reward, from.reward);
    block::copy(to.terminated, from.terminated);
    block::copy(to.truncated, from.truncated);
    if let (Some(to), Some(from)) = (&mut to.valid, &from.valid) {
        block::copy(to, from);
    }
    let ended = from.terminated.iter().zip(&*from.truncated).map(|(a, b)| (a | b) != 0);
    if let (Some(to), Some(from)) = (&mut to.final_obs, &from.final_obs) {
        for (i, _) in ended.enumerate().filter(|&(_, ended)| ended) {
            let (begin, end) = (i.saturating_mul(width), i.saturating_add(1).saturating_mul(width));
            let row = from.as_ref().get(begin, end).ok_or(SHAPE)?;
            to.get(begin, end).ok_or(SHAPE)?.copy_from(row)?;
        }
    }
    Ok(())
}
