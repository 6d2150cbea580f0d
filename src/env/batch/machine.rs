//! State machine of a batch: the owner of each group.

use core::sync::atomic::{AtomicU32, Ordering};

use super::setup::{SHAPE, Setup};
use super::share::{DELIVERED, GIVEN_UP, Lanes, Share, Shares, hand_over, step};
use super::words::{CLOSED, DONE, DRAINING, IDLE, OPEN, PENDING, RUNNING, STATE, WORDS, level_of, running, take_back};
use crate::cpu;
use crate::env::out::{check_actions, check_obs};
use crate::env::row::{UNSET, is_ready};
use crate::env::{Env, Level, Reset, Rows, StepOut};
use crate::error::{Error, Kind, Result, check_len};
use crate::space::{Elements, ElementsMut};

/// Number of groups in each state. The counts are not a consistent snapshot, since workers continue during the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The batch is closed: nothing can be submitted or collected.
    pub closed: bool,
    /// Submitted groups that no worker has claimed.
    pub num_pending: u32,
    /// Groups that a worker is stepping.
    pub num_running: u32,
    /// Finished groups, which can be collected.
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

/// State machine of a batch: the owner of each group. Any number of threads or processes may hold a `Batch` over the
/// same words. [`Batch::run`] is for workers and may be called concurrently; all other calls belong to the host, one
/// call at a time.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    setup: Setup,
    mode: &'a AtomicU32,
    /// Group where workers start searching, so that they do not all contend for group 0. Wrong values only cost time.
    hint: &'a AtomicU32,
    /// Group where `recv` starts searching, so that no group waits forever.
    cursor: &'a AtomicU32,
    groups: &'a [AtomicU32],
}

impl<'a> Batch<'a> {
    /// A batch over [`Setup::num_words`] words, which are zero or in use by another `Batch`. Errors: `Config`, `Shape`.
    pub fn over(setup: Setup, words: &'a [AtomicU32]) -> Result<Self> {
        setup.check()?;
        let [mode, hint, cursor, groups @ ..] = words else {
            return Err(WORDS.needed(setup.num_words()).given(words.len()));
        };
        check_len("batch: atomic words for groups,", groups, setup.num_groups())?;
        Ok(Batch { setup, mode, hint, cursor, groups })
    }

    /// Setup of the batch.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Submits a step of every row. `action` is `[N, action_len]` and is copied.
    ///
    /// Errors, before anything changes: `Config` (closed, another environment), `Busy` (a row was submitted and not yet
    /// collected), `NotReady` (a row must be reset first), `Shape`, `Range` and `Value` (actions).
    pub fn step_async<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        action: Elements<'_>,
    ) -> Result {
        self.step_env_async(shares, lanes, env, Level::New, action)
    }

    /// [`Batch::step_async`] with a level: environments whose episode ends start the next episode in `level`.
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

    /// Submits a step of some rows while others may still be running. `rows` are whole groups in ascending order;
    /// `action` is `[rows, action_len]` and is copied.
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
            // Release: the worker that claims the group sees its actions, and its rows as the host left them.
            self.set(g, (level as u32) << 2 | PENDING, Ordering::Release);
            at = end;
        }
        Ok(())
    }

    /// Steps pending groups one after another until none is left or `max_groups` are done; returns the number of groups
    /// stepped. Never blocks. Failures of environments are reported to the host by [`Batch::step_wait`] or
    /// [`Batch::recv`]. `worker` is the caller's number, at most [`MAX_WORKER`](super::MAX_WORKER); it needs to be
    /// unique only for [`Batch::abandon`].
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
                // Release: the host that collects the group sees its columns and rows. Fails if the worker was
                // abandoned.
                if cpu::exchange(word, running, DONE, Ordering::Release) {
                    done = done.wrapping_add(1);
                }
            }
            group = group.wrapping_add(1);
        }
        Ok(done)
    }

    /// Collects all submitted groups once all of them are done: writes their rows of `out` (arrays of the whole batch),
    /// as [`Rows::step`] would, and makes them idle. Never blocks.
    ///
    /// Errors, before anything changes: `Config` (closed), `Shape`, `Null`; `NotPending` (nothing was submitted);
    /// `NotReady` (workers have not finished). `Callback` and `Value` give the first row whose step failed, see
    /// [`Batch::failed`]: everything is collected; failed rows of `out` are unchanged and must be reset.
    pub fn step_wait<S: Shares>(&self, shares: &S, mut out: StepOut<'_>) -> Result {
        self.not_closed()?;
        out.check(self.setup.rows(), &self.setup.vecenv)?;
        let (submitted, done) = self.submitted();
        NOT_PENDING.needed(1).given(0).fail_if(submitted == 0 || self.mode() == DRAINING)?;
        INSIDE.given(submitted.wrapping_sub(done)).fail_if(done < submitted)?;
        let mut failure = Ok(());
        for g in 0..self.groups.len() {
            if self.state(g) == DONE {
                failure = failure.and(self.deliver(shares, g, &mut out, self.setup.first(g))?);
            }
        }
        self.restart_turns();
        failure
    }

    /// Collects the rows of whole groups that are done, as many as `rows` has room for, while others may still be
    /// running. `rows` receives their indices in ascending order; row k of every array of `out` belongs to row
    /// `rows[k]`. The order in which groups finish depends on the speed of the workers; no group is collected twice
    /// while another one waits, and the results of a row never depend on the other rows.
    ///
    /// Errors: as [`Batch::step_wait`]; `Range` if the length of `rows` is not a whole number of groups.
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
            .fail_if(submitted < wanted || self.mode() == DRAINING)?;
        INSIDE.given(submitted.wrapping_sub(done)).fail_if(done < wanted)?;
        // Finished groups are taken from the cursor on, wrapping around after the last group. They are delivered in
        // ascending order, so that those before the cursor come first.
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
            // The next turn starts after the last group taken in this one, which lies before the cursor if any group
            // does.
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

    /// Starts an episode in every row, as [`Rows::reset`]. Submitted steps are discarded and never delivered: pending
    /// groups are withdrawn, and the results of finished groups are dropped.
    ///
    /// Errors: `Config` (closed, another environment) and `Shape`, before anything changes. `NotReady` while a worker
    /// is stepping a group: its step is discarded nevertheless, and nothing can be submitted until this call succeeds.
    /// Then the errors of callbacks, as [`Rows::reset`].
    pub fn reset<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        seed: Option<u64>,
        obs: ElementsMut<'_>,
    ) -> Result {
        self.reset_with(shares, lanes, env, Reset::seeded(seed), obs)
    }

    /// [`Batch::reset`] with options, as [`Rows::reset_with`].
    pub fn reset_with<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        how: Reset<'_>,
        mut obs: ElementsMut<'_>,
    ) -> Result {
        self.not_closed()?;
        self.setup.vecenv.check_env(env)?;
        how.check(env)?;
        check_obs("batch obs: elements of the agreed kind,", obs.as_ref(), self.setup.rows(), &self.setup.vecenv)?;
        self.drain()?;
        let width = (self.setup.in_series as usize).saturating_mul(self.setup.obs_len());
        for g in 0..self.groups.len() {
            let begin = g.saturating_mul(width);
            let own = obs.get(begin, begin.saturating_add(width)).ok_or(SHAPE)?;
            lanes.lane(g, |mut rows| rows.reset_with(env, how, own)).ok_or(SHAPE)??;
            shares.share(g, |share| share.outcome.fill(DELIVERED)).ok_or(SHAPE)?;
        }
        Ok(())
    }

    /// Starts an episode in row `i` only, as [`VecEnv::reset_one`](crate::env::VecEnv::reset_one); rows of other groups
    /// may be running. `obs` is `[N, obs_len]`; only row `i` of it is written.
    ///
    /// Errors: `Config`, `Shape`, `Range`; `Busy` if the row's group was submitted and not yet collected; those of the
    /// callback.
    pub fn reset_one<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        i: usize,
        seed: Option<u64>,
        obs: ElementsMut<'_>,
    ) -> Result {
        self.reset_one_with(shares, lanes, env, i, Reset::seeded(seed), obs)
    }

    /// [`Batch::reset_one`] with options, as [`Rows::reset_with`].
    pub fn reset_one_with<S: Shares, L: Lanes, E: Env + ?Sized>(
        &self,
        shares: &S,
        lanes: &L,
        env: &E,
        i: usize,
        how: Reset<'_>,
        mut obs: ElementsMut<'_>,
    ) -> Result {
        self.open()?;
        self.setup.vecenv.check_env(env)?;
        how.check(env)?;
        check_obs("batch obs: elements of the agreed kind,", obs.as_ref(), self.setup.rows(), &self.setup.vecenv)?;
        Error::limit(Kind::Range, "batch: an index below", self.setup.rows(), i).fail_if(i >= self.setup.rows())?;
        let g = i.checked_div(self.setup.in_series as usize).unwrap_or(0);
        BUSY.given(g).fail_if(self.state(g) != IDLE)?;
        let k = i.wrapping_sub(self.setup.first(g));
        let begin = i.saturating_mul(self.setup.obs_len());
        let own = obs.get(begin, begin.saturating_add(self.setup.obs_len())).ok_or(SHAPE)?;
        let seed = how.seed.map(|seed| seed.wrapping_sub(i as u64));
        let reset = |rows: Rows<'_>| rows.range(k, k.saturating_add(1))?.reset_with(env, Reset { seed, ..how }, own);
        lanes.lane(g, reset).ok_or(SHAPE)??;
        let clear = |share: Share<'_>| share.outcome.get_mut(k).map(|outcome| *outcome = DELIVERED);
        shares.share(g, clear).flatten().ok_or(SHAPE)
    }

    /// Abandons a worker that died: the rows of the group it was stepping count as failed and must be reset; all other
    /// rows are not affected. Returns the number of failed rows. The worker must not run any more, since nothing can
    /// stop it from writing to these rows.
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

    /// Writes 1 for each row whose last step failed and that this batch has not reset since, else 0; `failed` is `[N]`.
    /// Rows that are being stepped get 0. Errors: `Config` (closed); `Shape`.
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

    /// Closes the batch: pending groups are withdrawn, submitted steps are never delivered, and every later call except
    /// `close` and `count` is refused. Workers that are stepping a group finish it.
    pub fn close(&self) {
        self.mode.store(CLOSED, Ordering::Relaxed);
        self.groups.iter().for_each(take_back);
    }

    /// Number of groups in each state. Apart from `close`, the only call that a closed batch accepts.
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

    /// Withdraws pending groups and drops finished ones. Errors: `NotReady` if a worker is still stepping a group.
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
        INSIDE.given(inside).fail_if(inside > 0)?;
        self.restart_turns();
        self.mode.store(OPEN, Ordering::Relaxed);
        Ok(())
    }

    /// Copies the share of a finished group to rows `[at, at + in_series)` of `out` and makes the group idle. The inner
    /// result is the error of the first failed row.
    fn deliver<S: Shares>(&self, shares: &S, g: usize, out: &mut StepOut<'_>, at: usize) -> Result<Result> {
        let (width, end) = (self.setup.obs_len(), at.saturating_add(self.setup.in_series as usize));
        let own = out.reborrow().range(at, end, width).ok_or(SHAPE)?;
        let failure = shares.share(g, |share| hand_over(share, own, width, self.setup.first(g))).ok_or(SHAPE)?;
        // Relaxed: only the host looks at idle groups, and submitting the group again is a Release.
        self.set(g, IDLE, Ordering::Relaxed);
        failure
    }

    fn check_rows(&self, rows: &[u32]) -> Result {
        let k = self.setup.in_series;
        let groups = self.groups.len() as u32;
        let mut next = 0u32; // the lowest group allowed next
        for (i, &row) in rows.iter().enumerate() {
            let place = (i as u32).checked_rem(k).unwrap_or(0);
            let group = row.checked_div(k).unwrap_or(0);
            let right = if place == 0 { group >= next && group < groups } else { group.wrapping_add(1) == next };
            GROUPS.given(i).fail_if(!right || row.wrapping_sub(group.wrapping_mul(k)) != place)?;
            next = group.wrapping_add(1);
        }
        GROUPS.given(rows.len()).fail_if(rows.is_empty() || (rows.len() as u32).checked_rem(k) != Some(0))?;
        Ok(())
    }

    /// Checks a lane before the host submits it.
    fn check_lane(&self, g: usize, rows: &Rows<'_>) -> Result {
        self.setup.check_vecenv(rows.setup)?;
        SHAPE.fail_if(rows.first != self.setup.first(g) || rows.len() != self.setup.in_series as usize)?;
        let mode = self.setup.vecenv.mode();
        match rows.phase.iter().position(|&phase| !is_ready(phase, mode)) {
            Some(k) => Err(UNREADY.given(rows.first.saturating_add(k))),
            None => Ok(()),
        }
    }

    /// Numbers of groups that were submitted and not yet collected, and of those among them that are done.
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

    /// Acquire: a reader of DONE sees the columns and rows that the worker wrote before.
    fn state(&self, g: usize) -> u32 {
        self.groups.get(g).map_or(IDLE, |word| word.load(Ordering::Acquire) & STATE)
    }

    fn set(&self, g: usize, state: u32, order: Ordering) {
        if let Some(word) = self.groups.get(g) {
            word.store(state, order);
        }
    }
}
