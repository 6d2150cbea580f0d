//! Returns, lengths and times of episodes, and monitor.csv.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

use crate::mirror::{alike, mirror};
use crate::ptr::{self, Extent, Input, Output, Room, Versioned, apart};
use crate::status::{Result, call, rlcore_status};
use crate::vecenv::rlcore_vecenv_out;
use rlcore::block::{Header, Kind as BlockKind};
use rlcore::data::monitor::{Episode, MAX_INFO, Means, Monitor, MonitorConfig, View};
use rlcore::data::monitor_csv;
use rlcore::data::step::Ends;
use rlcore::error::{Error, Kind};

/// Most numbers that an episode may carry beside its return, length and time.
pub const RLCORE_MONITOR_MAX_INFO: u32 = 16;
/// Bytes that a row of monitor.csv never exceeds.
pub const RLCORE_MONITOR_ROW_SIZE: u32 = 512;

const _: () = assert!(RLCORE_MONITOR_MAX_INFO as usize == MAX_INFO);
const _: () = assert!(RLCORE_MONITOR_ROW_SIZE as usize == monitor_csv::MAX_ROW_LEN);

/// What N environments have counted, and records of the episodes that ended: the caller's own block.
pub struct rlcore_monitor;

/// The caller's clock: seconds since any moment, the same one in every call.
pub type rlcore_clock_fn = Option<unsafe extern "C" fn(user: *mut c_void) -> f64>;

/// What a monitor is made from.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_monitor_config {
    /// bytes; set by rlcore_monitor_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// episodes that rlcore_monitor_means looks back on; default 0: none
    pub keep: u32,
    /// records held, at least N, as many as one step can end; 0 (default): the larger of 1024 and N
    pub capacity: u32,
    /// numbers that the caller adds to each record, at most 16; default 0
    pub num_info: u32,
    /// zero
    pub reserved: u32,
    /// what the caller's clock shows at second 0 of the records; default 0
    pub start: f64,
}

/// An episode that has ended.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_episode {
    /// counts the episodes of all environments from 0, as they end
    pub number: u64,
    /// when it ended: seconds since the start, to 6 decimal places
    pub seconds: f64,
    /// its environment
    pub env: u32,
    /// its steps
    pub len: u32,
    /// the sum of its rewards
    pub episode_return: f32,
    /// zero
    pub reserved: u32,
}

/// Means over the last episodes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_monitor_stats {
    /// sizeof(rlcore_monitor_stats)
    pub struct_size: u32,
    /// episodes that the means are of: at most `keep`
    pub num_kept: u32,
    /// episodes ended since the block was made
    pub num_episodes: u64,
    /// mean return; NaN of none
    pub return_mean: f64,
    /// mean length; NaN of none
    pub len_mean: f64,
}

// SAFETY: `repr(C)`, `struct_size` first, plain data.
unsafe impl Versioned for rlcore_monitor_config {
    const WHAT: &'static str = "monitor config";
    const MIN_SIZE: usize = offset_of!(Self, start) + size_of::<f64>();
    fn defaults() -> Self {
        MonitorConfig::default().into()
    }
}

// SAFETY: `repr(C)`, `struct_size` first, plain data.
unsafe impl Versioned for rlcore_monitor_stats {
    const WHAT: &'static str = "monitor stats";
    const MIN_SIZE: usize = offset_of!(Self, len_mean) + size_of::<f64>();
}

mirror!(rlcore_monitor_config, MonitorConfig { num_envs, keep, capacity, num_info, start });
mirror!(rlcore_monitor_stats, Means { num_kept, num_episodes, return_mean, len_mean });
alike!(rlcore_episode, Episode { number, seconds, env, len, episode_return });

unsafe fn config(p: *const rlcore_monitor_config) -> Result<MonitorConfig> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("monitor config: reserved", c.reserved)?;
    Ok(c.into())
}

/// The bytes of a block, as its header says. Errors: `Null`, `Align`, `Image`.
unsafe fn size_of_block(p: *const rlcore_monitor) -> Result<usize> {
    let head = unsafe { Input::at("monitor", p.cast::<u8>(), size_of::<Header>())? };
    Ok(Header::read(head.slice(), BlockKind::Monitor)?.size() as usize)
}

/// The records of a monitor and the bytes of its block. Errors: `Null`, `Align`, `Image`.
unsafe fn view<'a>(p: *const rlcore_monitor) -> Result<(Extent, View<'a>)> {
    let size = unsafe { size_of_block(p)? };
    let block = unsafe { Input::at("monitor", p.cast::<u8>(), size)? };
    Ok((block.extent(), View::open(block.slice())?))
}

/// A monitor and the bytes of its block.
struct Block<'a> {
    extent: Extent,
    monitor: Monitor<'a>,
}

impl<'a> Block<'a> {
    /// Errors: `Null`, `Align`, `Image`.
    unsafe fn at(p: *mut rlcore_monitor) -> Result<Block<'a>> {
        let size = unsafe { size_of_block(p)? };
        let block = unsafe { Output::at("monitor", p.cast::<u8>(), size)? };
        let extent = block.extent();
        Ok(Block { extent, monitor: Monitor::open(block.slice())? })
    }

    unsafe fn step(
        mut self,
        step: *const rlcore_vecenv_out,
        info: *const f64,
        clock: impl FnOnce() -> rlcore::error::Result<f64>,
    ) -> Result {
        let config = self.monitor.config();
        let (n, width) = (config.num_envs as usize, config.num_info as usize);
        let step = unsafe { rlcore_vecenv_out::at(step)? };
        let reward = unsafe { Input::at("reward", step.reward.cast_const(), n)? };
        let (terminated, truncated, valid) = unsafe { step.flags(n)? };
        let info = match width {
            0 => None,
            _ => Some(unsafe { Input::at("info", info, ptr::grid("info", n, width)?)? }),
        };
        let valid_extent = valid.as_ref().map_or(Extent::NONE, Input::extent);
        let info_extent = info.as_ref().map_or(Extent::NONE, Input::extent);
        let inputs = [reward.extent(), terminated.extent(), truncated.extent(), valid_extent, info_extent];
        apart(&[self.extent], &inputs)?;
        let ends =
            Ends { terminated: terminated.slice(), truncated: truncated.slice(), valid: valid.map(Input::slice) };
        Ok(self.monitor.step(reward.slice(), ends, info.map_or(&[], Input::slice), clock)?)
    }
}

/// Fills in defaults. Writes config_size bytes, so an older caller keeps its smaller struct.
/// Errors: E_NULL; E_ALIGN; E_SIZE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_config_init(
    config: *mut rlcore_monitor_config,
    config_size: usize,
) -> rlcore_status {
    call(|| unsafe { ptr::init_sized(config, config_size, || Ok(Versioned::defaults())) })
}

/// Bytes a block must have for this configuration. Errors: E_NULL; E_ALIGN; E_CONFIG; E_OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_size(
    config: *const rlcore_monitor_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Monitor::size(&self::config(config)?)?)) })
}

/// Lays a monitor out in the caller's block.
/// mem: 8-byte aligned, mem_size bytes, owned by the caller, in use until the caller stops calling.
/// out: the same address as mem, with its type. Nothing has to be freed.
/// Errors: E_NULL; E_ALIGN; E_CONFIG; E_OVERFLOW; E_OVERLAP; E_SIZE if mem_size < rlcore_monitor_size().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_monitor_config,
    out: *mut *mut rlcore_monitor,
) -> rlcore_status {
    call(|| unsafe {
        let (block, out) = (Output::at("mem", mem.cast(), mem_size)?, Output::at("out", out, 1)?);
        let config = self::config(config)?;
        apart(&[block.extent(), out.extent()], &[])?;
        Monitor::init(block.slice(), &config)?;
        *out.one() = mem.cast();
        Ok(())
    })
}

/// Accepts bytes that a monitor was copied to, in this process or another. mem is only read.
/// Errors: E_NULL; E_ALIGN; E_OVERLAP; E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte
/// order, or damaged bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_monitor,
) -> rlcore_status {
    call(|| unsafe {
        let (block, out) = (Output::at("mem", mem.cast(), mem_size)?, Output::at("out", out, 1)?);
        apart(&[block.extent(), out.extent()], &[])?;
        Monitor::attach(block.slice())?;
        *out.one() = mem.cast();
        Ok(())
    })
}

/// Accepts bytes that another process counts steps in meanwhile, for calls with a const monitor: see Sharing.
/// Errors: as rlcore_monitor_attach.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_monitor,
) -> rlcore_status {
    call(|| unsafe { ptr::attach_reader(mem, mem_size, out, |mem| Ok(View::attach(mem).map(|_| ())?)) })
}

/// All environments begin an episode: what they have counted so far is dropped. Records and their numbers stay.
/// Errors: E_NULL; E_ALIGN; E_IMAGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_reset(m: *mut rlcore_monitor) -> rlcore_status {
    call(|| unsafe {
        Block::at(m)?.monitor.reset();
        Ok(())
    })
}

/// Environment `index` alone begins an episode. Errors: E_NULL; E_ALIGN; E_IMAGE; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_reset_one(m: *mut rlcore_monitor, index: u32) -> rlcore_status {
    call(|| unsafe { Ok(Block::at(m)?.monitor.reset_one(index as usize)?) })
}

/// Counts one step of all environments, before its rewards are normalised, and records the episodes that it ended.
/// step:    as rlcore_vecenv_step filled it: reward, terminated, truncated, and valid or NULL; the rest is not used.
/// seconds: what the caller's clock shows.
/// info:    [N, num_info], read only in rows that ended; NULL if num_info is 0.
/// Errors: E_NULL; E_ALIGN; E_CONFIG; E_OVERLAP; E_IMAGE; E_VALUE for a reward, a return, a time or an info that is not
/// finite; E_RANGE after 2^63 episodes. Nothing changes then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_step(
    m: *mut rlcore_monitor,
    step: *const rlcore_vecenv_out,
    seconds: f64,
    info: *const f64,
) -> rlcore_status {
    call(|| unsafe { Block::at(m)?.step(step, info, || Ok(seconds)) })
}

/// rlcore_monitor_step with a clock that is asked only when an episode has ended, once a step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_step_clock(
    m: *mut rlcore_monitor,
    step: *const rlcore_vecenv_out,
    clock: rlcore_clock_fn,
    user: *mut c_void,
    info: *const f64,
) -> rlcore_status {
    call(|| unsafe {
        let clock = clock.ok_or(Error::new(Kind::Null, "monitor: a clock, given NULL"))?;
        Block::at(m)?.step(step, info, || Ok(clock(user)))
    })
}

/// Copies records out, the oldest first. A reader keeps `next`, 0 at first, and loses nothing if it reads at least once in
/// `capacity` episodes; there may be several.
/// next:      [1] number of the record to begin with; becomes that of the first one not read.
/// episodes:  [len] to write; info: [len, num_info] to write, NULL leaves it out.
/// out_count: [1] records written; out_lost: [1] records that were overwritten before they were read, NULL to ignore.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW; E_OVERLAP; E_IMAGE; E_RANGE for a next that is larger than the episodes ended.
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
        let (block, view) = view(m)?;
        let width = view.config().num_info as usize;
        let next = Output::at("next", next, 1)?;
        let episodes = Output::<Episode>::at("episodes", episodes.cast(), len as usize)?;
        let info = Output::optional("info", info, ptr::grid("info", len as usize, width)?)?;
        let count = Output::at("out_count", out_count, 1)?;
        let lost = Output::optional("out_lost", out_lost, 1)?;
        let (next_extent, count_extent) = (next.extent(), count.extent());
        let info_extent = info.as_ref().map_or(Extent::NONE, Output::extent);
        let lost_extent = lost.as_ref().map_or(Extent::NONE, Output::extent);
        apart(&[next_extent, episodes.extent(), info_extent, count_extent, lost_extent], &[block])?;
        let next = next.one();
        let info: &mut [f64] = info.map_or(&mut [], Output::slice);
        let read = view.read(*next, episodes.slice(), info)?;
        *next = read.next;
        *count.one() = read.count as u32;
        if let Some(lost) = lost {
            *lost.one() = read.lost;
        }
        Ok(())
    })
}

/// Means over the last `keep` episodes, or as many as have ended.
/// Errors: E_NULL; E_ALIGN; E_CONFIG; E_OVERLAP; E_IMAGE; E_BUSY only beside a writer that leaves no moment to look.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_monitor_means(
    m: *const rlcore_monitor,
    out: *mut rlcore_monitor_stats,
) -> rlcore_status {
    call(|| unsafe {
        let (block, view) = view(m)?;
        let room = ptr::OutSized::at(out)?;
        apart(&[room.extent()], &[block])?;
        room.store(view.means()?.into());
        Ok(())
    })
}

/// Writes the first two lines of monitor.csv, as Stable-Baselines3 reads it: `# {"t_start": ...} ` and the columns' names.
/// t_start:  Unix time at the start, in seconds.
/// env_id:   what to call the environment, a text that ends in NUL; NULL leaves it out.
/// keywords: [num_keywords] a name for each info; printable ASCII, like env_id.
/// text:     [text_size] to write, without NUL: for fwrite to a file opened as binary. NULL with 0: nothing is written.
/// out_len:  [1] bytes written, or needed.
/// Errors: E_NULL; E_ALIGN; E_OVERLAP; E_SIZE; E_RANGE for more keywords than 16, or more than 4095 characters; E_VALUE.
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
        let room = Room::at(text, text_size, out_len)?;
        let env_id = if env_id.is_null() { None } else { Some(ptr::text("env_id", env_id)?) };
        let names = match num_keywords {
            0 => None,
            _ => Some(Input::at("keywords", keywords, num_keywords as usize)?),
        };
        let mut keywords = [&[][..]; MAX_INFO];
        let mut extents = [Extent::NONE; MAX_INFO + 2];
        let names_extent = names.as_ref().map_or(Extent::NONE, Input::extent);
        let count = num_keywords as usize;
        let Some(used) = keywords.get_mut(..count) else {
            let many = Error::new(Kind::Range, "monitor_format_header: keywords, at most");
            return Err(many.needed(MAX_INFO).given(count).into());
        };
        let names = names.map_or(&[][..], Input::slice);
        let [env_extent, list_extent, name_extents @ ..] = &mut extents;
        *env_extent = env_id.map_or(Extent::NONE, |id| Extent::of("env_id", id.as_ptr(), id.len()));
        *list_extent = names_extent;
        for ((keyword, extent), name) in used.iter_mut().zip(name_extents).zip(names) {
            *keyword = ptr::text("a keyword", *name)?;
            *extent = Extent::of("a keyword", keyword.as_ptr(), keyword.len());
        }
        room.apart(&extents)?;
        room.fill(|text| Ok(monitor_csv::header(t_start, env_id, used, text)?))
    })
}

/// Writes the row of an episode: return, length, time, infos, CR LF. Reals are laid out as Python prints a float, in the
/// shortest text that reads back as the same number: the return as the same float, the others as the same double.
/// info: [num_info] of this episode. text: [text_size], out_len: [1], as for the header; RLCORE_MONITOR_ROW_SIZE bytes
/// always suffice.
/// Errors: E_NULL; E_ALIGN; E_OVERLAP; E_SIZE; E_RANGE for a num_info over 16; E_VALUE for a number that is not finite.
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
        let room = Room::at(text, text_size, out_len)?;
        let episode = Input::<Episode>::at("episode", episode.cast(), 1)?;
        let info = match num_info {
            0 => None,
            _ => Some(Input::at("info", info, num_info as usize)?),
        };
        room.apart(&[episode.extent(), info.as_ref().map_or(Extent::NONE, Input::extent)])?;
        let episode = episode.slice().first().copied().unwrap_or_default();
        let info = info.map_or(&[][..], Input::slice);
        room.fill(|text| Ok(monitor_csv::row(&episode, info, text)?))
    })
}
