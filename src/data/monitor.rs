//! Returns and lengths of the episodes of N environments: running counts, and records of ended episodes.
//!
//! Records are kept in a ring and numbered from 0 for the life of the block. A reader passes the number it wants next, so that
//! several may read, and a late reader is told how many records it has lost. A reader may be another process than the one whose
//! environments step: see [`shared`].

use bytemuck::{Pod, Zeroable};
use core::iter::once;
use core::ops::Range;
use core::slice::{from_mut, from_ref};
use core::sync::atomic::Ordering;

pub use super::part::episodes::Means;
use super::part::episodes::{self, Kept};
use super::step::Ends;
use crate::block::{self, Cutter, Fit, Kind as BlockKind, One, Plan, fields, shared};
use crate::cpu::Word;
use crate::decimal::round6;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::check_rows;

/// Most extra numbers of an episode, beside its return, length and time.
pub const MAX_INFO: usize = 16;

/// Default number of records held.
pub const CAPACITY: u32 = 1024;

const EPISODES: &str = "monitor: fewer than 2^63 episodes";

/// Configuration of a monitor of N environments, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MonitorConfig {
    /// Time of the host's clock at second 0 of the records.
    pub start: f64,
    /// Number of environments, at least 1.
    pub num_envs: u32,
    /// Episodes in [`View::means`]; 0 for none.
    pub keep: u32,
    /// Records held, at least `num_envs`, the most that one step can add; 0: 1024, or `num_envs` if that is more.
    pub capacity: u32,
    /// Numbers that the host adds to each record, at most [`MAX_INFO`].
    pub num_info: u32,
}

impl Default for MonitorConfig {
    fn default() -> Self {
        MonitorConfig { num_envs: 1, keep: 0, capacity: 0, num_info: 0, start: 0.0 }
    }
}

/// An episode that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Episode {
    /// Number of the episode, from 0, among those of all environments, in the order of their ends, lower environments first.
    pub number: u64,
    /// Time of its end: seconds since the start, rounded to 6 decimal places.
    pub seconds: f64,
    /// Sum of its rewards, in f64.
    pub episode_return: f64,
    /// Its environment.
    pub env: u32,
    /// Its steps.
    pub len: u32,
}

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Records written.
    pub count: usize,
    /// Records that were dropped before they were read.
    pub lost: u64,
    /// Number of the record to ask for next.
    pub next: u64,
}

impl Read {
    /// The read of at most `room` of the records `held`, from number `next` on: the number of the first, and the result for the
    /// reader.
    /// Errors: `Range`, with this message, if fewer than `next` records were added.
    pub(super) fn of(what: &'static str, next: u64, held: Range<u64>, room: usize) -> Result<(u64, Read)> {
        let first = next.max(held.start);
        let Some(left) = held.end.checked_sub(first) else {
            return Err(Error::limit(Kind::Range, what, held.end as usize, next as usize));
        };
        let count = left.min(room as u64);
        let read = Read { count: count as usize, lost: first.wrapping_sub(next), next: first.wrapping_add(count) };
        Ok((first, read))
    }
}

impl MonitorConfig {
    /// The configuration with its default capacity resolved.
    fn settled(&self) -> MonitorConfig {
        let capacity = if self.capacity == 0 { CAPACITY.max(self.num_envs) } else { self.capacity };
        MonitorConfig { capacity, ..*self }
    }

    fn check(&self) -> Result {
        Error::config("monitor config: num_envs of at least", 1, 0).fail_if(self.num_envs == 0)?;
        let what = "monitor config: capacity of at least num_envs,";
        Error::config(what, self.num_envs, self.capacity).fail_if(self.capacity < self.num_envs)?;
        let what = "monitor config: num_info of at most";
        Error::config(what, MAX_INFO as u32, self.num_info).fail_if(self.num_info > MAX_INFO as u32)?;
        let what = "monitor config: a finite start";
        Error::new(Kind::Config, what).given_f32(self.start as f32).fail_if(!self.start.is_finite())
    }
}

fields! {
    /// The layout of the block, defined only here.
    spans Spans(config: &MonitorConfig, n: usize, keep: usize, capacity: usize) {
        /// Episodes ended.
        count: One<u64> = (),
        /// Two words: the records that a step is about to add, for concurrent readers, else 0; and 1 while `total` and `len`
        /// change, which readers never read, else 0.
        writing: [u32] = 2,
        total: [f64] = n,
        len: [u32] = n,
        kept: Kept = keep,
        episodes: [Episode] = capacity,
        info: [f64] = capacity.saturating_mul(config.num_info as usize),
    }
    /// A monitor of N environments, cut from its block.
    ///
    /// ```
    /// use rlcore::data::monitor::{Episode, Monitor, MonitorConfig};
    /// use rlcore::data::step::Ends;
    ///
    /// # fn main() -> rlcore::error::Result {
    /// let config = MonitorConfig { num_envs: 2, keep: 100, ..MonitorConfig::default() };
    /// let mut block = vec![0u64; Monitor::size(&config)? / 8];
    /// let mut monitor = Monitor::init(bytemuck::cast_slice_mut(&mut block), &config)?;
    /// monitor.reset();
    /// for terminated in [[0, 0], [1, 0]] {
    ///     let ends = Ends { terminated: &terminated, truncated: &[0, 0], valid: None };
    ///     monitor.step(&[0.5, 1.0], ends, &[], || Ok(12.5))?; // the host's clock, asked if an episode ended
    /// }
    ///
    /// let mut episodes = [Episode::default()];
    /// let read = monitor.view().read(0, &mut episodes, &mut [])?;
    /// assert_eq!((read.count, episodes[0].env, episodes[0].len, episodes[0].episode_return), (1, 0, 2, 1.0));
    /// assert_eq!(monitor.view().means()?.return_mean, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub write Monitor { config: MonitorConfig }
    /// The records of a monitor, for reading by any number of threads.
    ///
    /// With a concurrent writer, [`View::read`] fails with `Range` if records were overwritten meanwhile; the copy is invalid
    /// then.
    #[derive(Clone, Copy, Debug)]
    pub read View { config: MonitorConfig }
}

fn spans(config: &MonitorConfig) -> Result<(Spans, usize)> {
    config.check()?;
    let (n, keep, capacity) = (config.num_envs as usize, config.keep as usize, config.capacity as usize);
    let mut plan = Plan::default();
    block::spans::<MonitorConfig>(&mut plan)?;
    Ok((Spans::plan(&mut plan, config, n, keep, capacity)?, plan.size()?))
}

impl<'a> Monitor<'a> {
    /// Bytes a block must have. Errors: `Config`, `Overflow`.
    pub fn size(config: &MonitorConfig) -> Result<usize> {
        Ok(spans(&config.settled())?.1)
    }

    /// Initializes an empty monitor. Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
    pub fn init(mem: &'a mut [u8], config: &MonitorConfig) -> Result<Self> {
        let config = config.settled();
        let (spans, size) = spans(&config)?;
        let block = block::create(mem, BlockKind::Monitor, size, &config)?;
        Ok(Self::cut(&mut Cutter::new(block), &spans, config)?)
    }

    /// Accepts a copy of a block. Nothing is written.
    /// Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
    pub fn attach(mem: &'a mut [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::Monitor, |config| Ok(spans(config)?.1))?;
        let m = Self::cut(&mut Cutter::new(mem), &spans(&config)?.0, config)?;
        m.check_image()?;
        Ok(m)
    }

    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Image`.
    pub fn open(mem: &'a mut [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::Monitor)?;
        Ok(Self::cut(&mut Cutter::new(mem), &spans(&config)?.0, config)?)
    }

    /// Refuses contents that no sequence of calls can produce. Errors: `Image`.
    fn check_image(&self) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        shared::check_image(self.writing)?;
        damaged(EPISODES).fail_if(*self.count > shared::LAST)?;
        damaged("monitor: finite returns, 0 before the first step").fail_if(
            !self.total.iter().zip(&*self.len).all(|(total, &len)| total.is_finite() && (len > 0 || *total == 0.0)),
        )?;
        let what = "monitor: returns and lengths of as many episodes as were counted";
        damaged(what).fail_if(!self.kept.read().are_right(*self.count))?;
        let capacity = u64::from(self.config.capacity);
        for (slot, e) in (0u64..).zip(&*self.episodes) {
            let right = if slot < *self.count {
                let rounds = self.count.wrapping_sub(1).wrapping_sub(slot).checked_div(capacity).unwrap_or(0);
                e.number == rounds.wrapping_mul(capacity).wrapping_add(slot)
                    && e.env < self.config.num_envs
                    && e.len > 0
                    && e.episode_return.is_finite()
                    && e.seconds.is_finite()
            } else {
                *e == Episode::default()
            };
            damaged("monitor: records of the episodes that were counted").fail_if(!right)?;
        }
        damaged("monitor: finite info").fail_if(!self.info.iter().all(|x| x.is_finite()))
    }

    /// The configuration of the block, with its actual `capacity`.
    pub fn config(&self) -> MonitorConfig {
        self.config
    }

    /// Starts an episode in all environments: their counts so far are dropped. Records and their numbers stay.
    pub fn reset(&mut self) {
        self.begin(0);
        self.total.fill(0.0);
        self.len.fill(0);
        self.end();
    }

    /// Starts an episode in environment `i` alone. Errors: `Range`.
    pub fn reset_one(&mut self, i: usize) -> Result {
        let n = self.total.len();
        Error::limit(Kind::Range, "monitor: an environment below", n, i).fail_if(i >= n)?;
        self.begin(0);
        if let (Some(total), Some(len)) = (self.total.get_mut(i), self.len.get_mut(i)) {
            (*total, *len) = (0.0, 0);
        }
        self.end();
        Ok(())
    }

    /// Announces a change that adds `records` records.
    fn begin(&mut self, records: u32) {
        if let [writing, changing] = &mut *self.writing {
            shared::begin(from_mut(changing), 1);
            shared::begin(from_mut(writing), records);
        }
    }

    /// Ends the change.
    fn end(&mut self) {
        shared::end(self.writing);
    }

    /// Counts one step of all environments. A row that was only reset is no step.
    ///
    /// `reward`: `[N]`. `info`: `[N, num_info]`, read only in rows that ended. `clock` is called once, if an episode ended, for
    /// the time of the host's clock.
    /// Errors: `Shape`; `Value` for a reward, an info or a time that is not finite; `Range` after 2^63 episodes; errors of
    /// `clock`. Nothing changes then.
    pub fn step(
        &mut self,
        reward: &[f32],
        ends: Ends<'_>,
        info: &[f64],
        clock: impl FnOnce() -> Result<f64>,
    ) -> Result {
        let (n, width) = (self.total.len(), self.config.num_info as usize);
        check_len("monitor: reward [N] of length", reward, n)?;
        ends.check(n)?;
        let too_large = Error::new(Kind::Overflow, "monitor: info [N, num_info] that fits the address space");
        check_len("monitor: info [N, num_info] of length", info, n.checked_mul(width).ok_or(too_large)?)?;
        check_rows("monitor: a finite reward", reward, 1)?;
        let mut num_ended = 0u32;
        for (i, _) in ends.rows().enumerate().filter(|(_, (_, ended))| *ended) {
            num_ended = num_ended.saturating_add(1);
            if let Some(bad) = block::rows(info, i, 1, width)?.iter().find(|x| !x.is_finite()) {
                return Err(Error::new(Kind::Value, "monitor: a finite info").given_f32(*bad as f32).in_row(i));
            }
        }
        shared::check_room(EPISODES, *self.count, num_ended.into())?;
        let mut seconds = 0.0;
        if num_ended > 0 {
            let now = clock()?;
            seconds = round6(now - self.config.start);
            Error::new(Kind::Value, "monitor: a finite time").given_f32(now as f32).fail_if(!seconds.is_finite())?;
        }
        self.begin(num_ended);
        episodes::count(self.total, self.len, reward, ends.rows(), |i, episode_return, len| {
            let number = *self.count;
            self.kept.push(number, episode_return, len);
            let at = number.checked_rem(self.episodes.len() as u64).unwrap_or(0) as usize;
            if let Some(e) = self.episodes.get_mut(at) {
                *e = Episode { number, seconds, episode_return, env: i as u32, len };
            }
            block::copy(block::rows_mut(self.info, at, 1, width)?, block::rows(info, i, 1, width)?);
            shared::count(self.count);
            Fit::Ok(())
        })?;
        self.end();
        Ok(())
    }

    /// The records, for reading.
    pub fn view(&self) -> View<'_> {
        self.read(self.config)
    }
}

impl<'a> View<'a> {
    /// Accepts a block that another process is writing: checks only the constant parts.
    /// Errors: `Align`; `Size`; `Image` for another kind of block or a damaged header.
    pub fn attach(mem: &'a [u8]) -> Result<Self> {
        let config = block::attach(mem, BlockKind::Monitor, |config| Ok(spans(config)?.1))?;
        Ok(Self::of(mem, &spans(&config)?.0, config)?)
    }

    /// Opens a block that `init` or `attach` has accepted; only the header is checked again. Errors: `Align`, `Size`, `Image`.
    pub fn open(mem: &'a [u8]) -> Result<Self> {
        let config = *block::config(mem, BlockKind::Monitor)?;
        Ok(Self::of(mem, &spans(&config)?.0, config)?)
    }

    /// The configuration of the block, with its actual `capacity`.
    pub fn config(&self) -> MonitorConfig {
        self.config
    }

    /// Episodes that have ended so far, whose records may be read.
    fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Checks after a copy that records from number `oldest` on are still held in a ring of `num_rows`.
    fn check_held(&self, oldest: u64, num_rows: usize) -> Result {
        let writing = self.writing.get(..1).unwrap_or_default();
        let rings = shared::Rings { pushed: from_ref(self.count), writing, num_rows: num_rows as u32 };
        rings.check_held(once((0, oldest)))
    }

    /// Writes the records from number `next` on, the oldest first, as many as are held and fit `episodes`.
    ///
    /// `info`: `[episodes.len(), num_info]`, or empty to leave it out. Records no longer held are skipped and counted as lost.
    /// Errors: `Shape`; `Range` if fewer than `next` episodes have ended. Nothing is written then.
    pub fn read(&self, next: u64, episodes: &mut [Episode], info: &mut [f64]) -> Result<Read> {
        let width = self.config.num_info as usize;
        if !info.is_empty() {
            let len = episodes.len().saturating_mul(width);
            check_len("monitor: info [len, num_info] of length", info, len)?;
        }
        let (ended, capacity) = (self.count(), self.episodes.len() as u64);
        let what = "monitor: a number of at most the episodes that have ended,";
        let (first, read) = Read::of(what, next, ended.saturating_sub(capacity)..ended, episodes.len())?;
        for (i, (number, to)) in (first..read.next).zip(episodes.iter_mut()).enumerate() {
            let slot = number.checked_rem(capacity).unwrap_or(0) as usize;
            if let Some(e) = self.episodes.get(slot) {
                *to = *e;
            }
            if !info.is_empty() {
                block::copy(block::rows_mut(info, i, 1, width)?, block::rows(self.info, slot, 1, width)?);
            }
        }
        if read.count > 0 {
            self.check_held(first, self.episodes.len())?;
        }
        Ok(read)
    }

    /// Means over the last `keep` episodes, or as many as have ended.
    /// Errors: `Busy` only with a concurrent writer that ends episodes faster than they are summed.
    pub fn means(&self) -> Result<Means> {
        for _ in 0..shared::READ_ATTEMPTS {
            let ended = self.count();
            let means = self.kept.means(ended);
            let oldest = ended.saturating_sub(means.num_kept.into());
            if means.num_kept == 0 || self.check_held(oldest, self.kept.lens.len()).is_ok() {
                return Ok(means);
            }
        }
        Err(shared::BUSY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_announced_before_it_is_made() {
        let config = MonitorConfig::default();
        let mut block = [0u64; 1 << 13];
        let mut m = Monitor::init(bytemuck::cast_slice_mut(&mut block), &config).unwrap();
        m.begin(0);
        assert_eq!(m.writing, [0, 1]);
        m.begin(3);
        assert_eq!((&*m.writing, m.check_image().unwrap_err().kind), (&[3, 1][..], Kind::Image));
        m.end();
        assert_eq!((&*m.writing, m.check_image()), (&[0, 0][..], Ok(())));
    }
}
