//! Returns, lengths and times of episodes, and monitor.csv.

use core::ffi::{c_char, c_void};

use crate::cursor;
use crate::lifecycle::{self, Block, Place, open, view};
use crate::mirror::{alike, mirror, versioned};
use crate::ptr::{self, Extent, Input, Output, Reads, args};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::block::Kind as BlockKind;
use rlcore::data::cycle::Cycle;
use rlcore::data::monitor::{Episode, MAX_INFO, Means, Monitor, MonitorConfig, View};
use rlcore::data::monitor_csv;
use rlcore::data::step::Ends;
use rlcore::error::{self, Error, Kind};

/// Maximum num_info: numbers of an episode besides its return, length and time.
pub const RLCORE_MONITOR_MAX_INFO: u32 = 16;
/// Maximum size of a row of monitor.csv, in bytes.
pub const RLCORE_MONITOR_ROW_SIZE: u32 = 512;

const _: () = assert!(RLCORE_MONITOR_MAX_INFO as usize == MAX_INFO);
const _: () = assert!(RLCORE_MONITOR_ROW_SIZE as usize == monitor_csv::MAX_ROW_LEN);

/// Returns and lengths of the episodes of N environments, and records of those that ended.
/// Example:
///   rlcore_monitor_config_init(&config, sizeof config);
///   config.num_envs = N, config.keep = 100;
///   rlcore_monitor_size(&config, &size);
///   rlcore_monitor_init(mem, size, &config, &m);
///   rlcore_monitor_step(m, &rows, seconds, NULL);        // after each rlcore_vecenv_step
///   rlcore_monitor_means(m, &stats);
pub struct rlcore_monitor;

/// The caller's clock, in seconds from any fixed origin.
pub type rlcore_clock_fn = Option<unsafe extern "C" fn(user: *mut c_void) -> f64>;

/// Configuration of a monitor.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_monitor_config {
    /// bytes; set by rlcore_monitor_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// number of episodes that rlcore_monitor_means averages; default 0: none
    pub keep: u32,
    /// records held, at least N; 0 (default): the larger of 1024 and N
    pub capacity: u32,
    /// numbers that the caller adds to each record, up to RLCORE_MONITOR_MAX_INFO; default 0
    pub num_info: u32,
    /// zero
    pub reserved: u32,
    /// time on the caller's clock that is 0 in the records; default 0
    pub start: f64,
}

/// An episode that has ended.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_episode {
    /// episode number over all environments, from 0, in order of ending
    pub number: u64,
    /// end time in seconds since the start, rounded to 6 decimals
    pub seconds: f64,
    /// sum of its rewards
    pub episode_return: f64,
    /// environment index
    pub env: u32,
    /// number of steps
    pub len: u32,
}

/// Means over the last episodes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_monitor_stats {
    /// sizeof(rlcore_monitor_stats)
    pub struct_size: u32,
    /// number of episodes averaged, at most `keep`
    pub num_kept: u32,
    /// episodes ended since the block was made
    pub num_episodes: u64,
    /// mean return; NaN if there are none
    pub return_mean: f64,
    /// mean length; NaN if there are none
    pub len_mean: f64,
}

versioned!(rlcore_monitor_config, "monitor config", start, MonitorConfig::default().into());
versioned!(rlcore_monitor_stats, "monitor stats", len_mean);
mirror!(rlcore_monitor_config, MonitorConfig { num_envs, keep, capacity, num_info, start });
mirror!(rlcore_monitor_stats, Means { num_kept, num_episodes, return_mean, len_mean });
alike!(rlcore_episode, Episode { number, seconds, episode_return, env, len });

unsafe fn config(p: *const rlcore_monitor_config) -> Result<MonitorConfig> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("monitor config: reserved", c.reserved)?;
    Ok(c.into())
}

impl Block for rlcore_monitor {
    const WHAT: &'static str = "monitor";
    const KIND: BlockKind = BlockKind::Monitor;
}

unsafe fn step(
    m: *mut rlcore_monitor,
    rows: *const rlcore_rows,
    info: *const f64,
    clock: impl FnOnce() -> error::Result<f64>,
) -> Result {
    let mut monitor = unsafe { open(m, Monitor::open)? };
    let config = monitor.config();
    let (n, width) = (config.num_envs as usize, config.num_info as usize);
    let (reward, flags, info) = unsafe {
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let reward = Input::at("reward", rows.reward.cast_const(), n)?;
        (reward, rows.flags(n)?, Input::unless_empty("info", info, ptr::grid("info", n, width)?)?)
    };
    let (reward, (terminated, truncated, valid), info) = monitor.extent.writing((reward, flags, info))?;
    Ok(monitor.step(reward, Ends { terminated, truncated, valid }, info.unwrap_or_default(), clock)?)
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_config_init(
    config: *mut rlcore_monitor_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_size(
    config: *const rlcore_monitor_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Monitor::size(&self::config(config)?)?)) })
}

/// Creates a monitor in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_monitor_config,
    out: *mut *mut rlcore_monitor,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), Monitor::init) })
}

/// Opens a saved or copied monitor in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_monitor,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Monitor::attach) })
}

/// Opens a monitor that another process writes: see Sharing.
///
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_monitor,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Starts new episodes in all environments: current counts are dropped. Records and numbering are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_reset(m: *mut rlcore_monitor) -> rlcore_status {
    call(|| unsafe {
        open(m, Monitor::open)?.reset();
        Ok(())
    })
}

/// Starts a new episode in environment `index` only. Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_reset_one(m: *mut rlcore_monitor, index: u32) -> rlcore_status {
    call(|| unsafe { Ok(open(m, Monitor::open)?.reset_one(index as usize)?) })
}

/// Counts one step of all environments and records the episodes that it ended. Call it before rewards are normalized.
/// rows:    reads reward, terminated, truncated, and valid unless it is NULL, as rlcore_vecenv_step writes them.
/// seconds: current time on the caller's clock.
/// info:    [N, num_info], read only in rows that ended; NULL if num_info is 0.
/// Errors: E_CONFIG; E_VALUE for a reward, time or info that is not finite; E_RANGE after 2^63 episodes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_step(
    m: *mut rlcore_monitor,
    rows: *const rlcore_rows,
    seconds: f64,
    info: *const f64,
) -> rlcore_status {
    call(|| unsafe { step(m, rows, info, || Ok(seconds)) })
}

/// As rlcore_monitor_step, but calls `clock` for the time, once, only if an episode ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_step_clock(
    m: *mut rlcore_monitor,
    rows: *const rlcore_rows,
    clock: rlcore_clock_fn,
    user: *mut c_void,
    info: *const f64,
) -> rlcore_status {
    call(|| unsafe {
        let clock = clock.ok_or(Error::new(Kind::Null, "monitor: clock is NULL."))?;
        step(m, rows, info, || Ok(clock(user)))
    })
}

/// Copies records, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at least once
/// every `capacity` episodes.
/// next:      [1] number of the first record to read; becomes that of the first one not read.
/// episodes:  [len] to write; info: [len, num_info] to write, may be NULL.
/// out_count: [1] records written; out_lost: [1] records that were overwritten before they were read, may be NULL.
/// Errors: E_RANGE if next is larger than the number of episodes ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_read(
    m: *const rlcore_monitor,
    next: *mut u64,
    episodes: *mut rlcore_episode,
    info: *mut f64,
    len: u32,
    out_count: *mut u32,
    out_lost: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let (len, width) = (len as usize, view.config().num_info as usize);
        let cursor = cursor::cursor(next, out_count, out_lost)?;
        let episodes = Output::<Episode>::at("episodes", episodes.cast(), len)?;
        let info = Output::optional("info", info, ptr::grid("info", len, width)?)?;
        let (cursor, episodes, info) = view.extent.reading((cursor, episodes, info))?;
        cursor::advance(cursor, |next| view.read(next, episodes, info.unwrap_or_default()))
    })
}

/// Means over the last `keep` episodes, or as many as have ended.
/// Errors: E_CONFIG; E_BUSY only for a reader, see Sharing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_means(
    m: *const rlcore_monitor,
    out: *mut rlcore_monitor_stats,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        view.extent.reading(ptr::OutSized::at(out)?)?.store(view.means()?.into());
        Ok(())
    })
}

/// Writes the first two lines of monitor.csv as Stable-Baselines3 reads it: `# {"t_start": ...} ` and the column names.
/// t_start:  Unix time at the start, in seconds.
/// env_id:   name of the environment, NUL-terminated; may be NULL.
/// keywords: [num_keywords] a name for each info; printable ASCII, like env_id.
/// text:     [text_size] to write, not NUL-terminated: for fwrite to a binary file. NULL with 0: only sets out_len.
/// out_len:  [1] bytes written, or required.
/// Errors: E_SIZE; E_RANGE for more keywords than 16, or more than 4095 characters; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_format_header(
    t_start: f64,
    env_id: *const c_char,
    keywords: *const *const c_char,
    num_keywords: u32,
    text: *mut c_char,
    text_size: usize,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let room = ptr::room(text, text_size, out_len)?;
        let env_id = if env_id.is_null() { None } else { Some(ptr::text("env_id", env_id)?) };
        let count = num_keywords as usize;
        let names = Input::unless_empty("keywords", keywords, count)?;
        let mut keywords = [&[][..]; MAX_INFO];
        let Some(used) = keywords.get_mut(..count) else {
            let many = Error::new(Kind::Range, "monitor_format_header: keywords, at most");
            return Err(many.needed(MAX_INFO).given(count).into());
        };
        let list = names.as_ref().map_or(Extent::NONE, Input::extent);
        for (keyword, name) in used.iter_mut().zip(names.map_or(&[][..], Input::slice)) {
            *keyword = ptr::text("a keyword", *name)?;
        }
        let extent = |what, text: &[u8]| Extent::of(what, text.as_ptr(), text.len());
        let id = env_id.map_or(Extent::NONE, |id| extent("env_id", id));
        let texts = keywords.map(|keyword| extent("a keyword", keyword));
        let ((text, len), ..) = args((room, Reads([id, list]), Reads(texts)))?;
        let used = keywords.get(..count).unwrap_or(&keywords);
        *len = monitor_csv::header(t_start, env_id, used, text)?;
        Ok(())
    })
}

/// Writes the row of an episode: return, length, time, infos, CR LF. Numbers are formatted as Python prints a float: the
/// shortest text that parses to the same double.
/// info: [num_info] of this episode. text: [text_size], out_len: [1], as for the header; RLCORE_MONITOR_ROW_SIZE bytes
/// always suffice.
/// Errors: E_SIZE; E_RANGE for a num_info over 16; E_VALUE for a number that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_format_row(
    episode: *const rlcore_episode,
    info: *const f64,
    num_info: u32,
    text: *mut c_char,
    text_size: usize,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let room = ptr::room(text, text_size, out_len)?;
        let episode = Input::<Episode>::at("episode", episode.cast(), 1)?;
        let info = Input::unless_empty("info", info, num_info as usize)?;
        let ((text, len), episode, info) = args((room, episode, info))?;
        let episode = episode.first().copied().unwrap_or_default();
        *len = monitor_csv::row(&episode, info.unwrap_or_default(), text)?;
        Ok(())
    })
}

/// Purpose of an episode.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_episode_type {
    /// to learn from
    RLCORE_EPISODE_TRAIN = 0,
    /// to test on: act with rlcore_learner_predict, and neither learn from it nor store it
    RLCORE_EPISODE_TEST = 1,
}

/// Purpose of an episode: num_train episodes to learn from, then num_test to test on, and so on.
/// index:    number of the episode, from 0.
/// out_type: [1] an rlcore_episode_type.
/// Errors: E_CONFIG if num_train and num_test are both 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_episode_type_of(
    index: u64,
    num_train: u32,
    num_test: u32,
    out_type: *mut u32,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_type", out_type, || Ok(Cycle { num_train, num_test }.is_test(index)?.into())) })
}
