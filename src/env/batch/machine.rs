//! The state machine: who may touch which group.

use core::sync::atomic::{AtomicU32, Ordering};

use super::setup::{SHAPE, Setup};
use super::share::{DELIVERED, GIVEN_UP, Lanes, Share, Shares, hand_over, step};
use super::words::{CLOSED, DONE, DRAINING, IDLE, OPEN, PENDING, RUNNING, STATE, WORDS, level_of, running, take_back};
use crate::cpu;
use crate::env::out::{check_actions, check_obs};
use crate::env::row::{UNSET, is_ready};
use crate::env::{Env, Level, Rows, StepOut};
use crate::error::{Error, Kind, Result, check_len};
use crate::space::{Elements, ElementsMut};

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
    /// `worker`: the caller's number, up to [`MAX_WORKER`](super::MAX_WORKER); only [`Batch::abandon`] needs it to be its own.
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
        NOT_PENDING.needed(1).given(0).when(submitted == 0 || self.mode() == DRAINING)?;
        INSIDE.given(submitted.wrapping_sub(done)).when(done < submitted)?;
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
            return Err(Error::limit(Kind::Range, what, in_series, rows.len()));
        }
        out.check(rows.len(), &self.setup.vecenv)?;
        let (submitted, done) = self.submitted();
        NOT_PENDING
            .needed(rows.len())
            .given(submitted.saturating_mul(in_series))
            .when(submitted < wanted || self.mode() == DRAINING)?;
        INSIDE.given(submitted.wrapping_sub(done)).when(done < wanted)?;
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

    /// Starts an episode in row `i` alone, as [`VecEnv::reset_one`](crate::env::VecEnv::reset_one); rows of other groups may be
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
        Error::limit(Kind::Range, "batch: an index below", self.setup.rows(), i).when(i >= self.setup.rows())?;
        let g = i.checked_div(self.setup.in_series as usize).unwrap_or(0);
        BUSY.given(g).when(self.state(g) != IDLE)?;
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
        INSIDE.given(inside).when(inside > 0)?;
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
            GROUPS.given(i).when(!right || row.wrapping_sub(group.wrapping_mul(k)) != place)?;
            next = group.wrapping_add(1);
        }
        GROUPS.given(rows.len()).when(rows.is_empty() || (rows.len() as u32).checked_rem(k) != Some(0))?;
        Ok(())
    }

    /// The host's look at a lane that it is about to submit.
    fn check_lane(&self, g: usize, rows: &Rows<'_>) -> Result {
        self.setup.check_vecenv(rows.setup)?;
        SHAPE.when(rows.first != self.setup.first(g) || rows.len() != self.setup.in_series as usize)?;
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
