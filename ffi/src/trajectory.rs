//! Single trajectories.

use core::ffi::c_void;
use core::ptr::null;

use crate::cursor;
use crate::kernels::accumulate;
use crate::lifecycle::{self, Block, Opened, Place, open, view};
use crate::mirror::versioned;
use crate::ptr::{self, Args, Extent, Input, One, Output, Reads};
use crate::rows::{self, rlcore_rows_out};
use crate::status::{Result, call, rlcore_status};
use crate::table::{self, rlcore_column};
use rlcore::block::Kind as BlockKind;
use rlcore::data::table::MAX_COLUMNS;
use rlcore::data::trajectory::{Frames, Process, Processed, RewardClass, Trajectory, TrajectoryConfig, View};
use rlcore::error::{self, Error, Kind};
use rlcore::space::Elements;

/// One trajectory: an episode or a part of it, frame by frame.
/// Example:
///   rlcore_trajectory_config_init(&config, sizeof config);
///   config.columns = columns, config.num_columns = 2;
///   rlcore_trajectory_size(&config, &size);
///   rlcore_trajectory_init(mem, size, &config, &t);
///   rlcore_trajectory_add(t, &frames);
///   rlcore_trajectory_process(t, discount, gae_lambda, bootstrap_value, &rows);
///   rlcore_trajectory_reset(t);
pub struct rlcore_trajectory;

/// Configuration of a trajectory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_config {
    /// bytes; set by rlcore_trajectory_config_init
    pub struct_size: u32,
    /// maximum number of frames, at least 1; default 20
    pub capacity: u32,
    /// M: floats of a recurrent policy's state; default 0: none
    pub memory_len: u32,
    /// bit i: column i is one-hot: padding sets element 0 to 1; default 0
    pub one_hot: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// precision of returns and advantages: an rlcore_accumulate; 0 (default): f32
    pub accumulate: u32,
    /// [num_columns] data of a frame besides reward, value and flags, without stacks
    pub columns: *const rlcore_column,
}

/// Consecutive frames to append: a new one, or a sequence gathered from a replay memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_frames {
    /// sizeof(rlcore_trajectory_frames)
    pub struct_size: u32,
    /// at least 1
    pub num_frames: u32,
    /// [num_columns] arrays, [num_frames, len] of each column's kind
    pub columns: *const *const c_void,
    /// [num_frames] reward of the action
    pub reward: *const f32,
    /// [num_frames] V(obs) when the action was chosen; NULL: none
    pub value: *const f32,
    /// [num_frames] the last one at most
    pub terminated: *const u8,
    /// [num_frames] the last one at most
    pub truncated: *const u8,
    /// [num_frames, M] the policy's recurrent state before the frame; NULL if M is 0
    pub memory: *const f32,
}

/// Output arrays of a processed trajectory; NULL skips an array, except returns and advantage.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_rows {
    /// sizeof(rlcore_trajectory_rows)
    pub struct_size: u32,
    /// at least the number of frames, the rest is padding; with time_flat exactly that number
    pub num_rows: u32,
    /// 1: each frame is a sample; 0: the trajectory is one sample
    pub time_flat: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [num_rows, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [num_rows] discounted returns, including bootstrap_value
    pub returns: *mut f32,
    /// [num_rows] generalized advantages
    pub advantage: *mut f32,
    /// [1, M] recurrent state before the first frame; with time_flat [num_rows, M], before each
    pub memory: *mut f32,
    /// [1] number of frames; with time_flat [num_rows] ones
    pub time_steps: *mut u32,
    /// [num_rows] 1 where a row is a frame, 0 where it is padding
    pub valid: *mut u8,
}

/// Arrays of a trajectory besides its columns: pointers into the block, valid until it changes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_view {
    /// sizeof(rlcore_trajectory_view)
    pub struct_size: u32,
    /// frames held
    pub num_frames: u32,
    /// [num_frames]
    pub reward: *const f32,
    /// [num_frames]; NULL if a frame had none
    pub value: *const f32,
    /// [num_frames]
    pub terminated: *const u8,
    /// [num_frames]
    pub truncated: *const u8,
    /// [num_frames, M]; NULL if M is 0
    pub memory: *const f32,
}

/// Class of a reward for reward prediction: the index of the 1 in a one-hot row of 3.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_reward_class {
    /// between the thresholds, inclusive
    RLCORE_REWARD_ZERO = 0,
    /// above the threshold
    RLCORE_REWARD_POSITIVE = 1,
    /// below its negative
    RLCORE_REWARD_NEGATIVE = 2,
}

const _: () = {
    assert!(rlcore_reward_class::RLCORE_REWARD_ZERO as u32 == RewardClass::Zero as u32);
    assert!(rlcore_reward_class::RLCORE_REWARD_POSITIVE as u32 == RewardClass::Positive as u32);
    assert!(rlcore_reward_class::RLCORE_REWARD_NEGATIVE as u32 == RewardClass::Negative as u32);
};

versioned!(
    rlcore_trajectory_config,
    "trajectory config",
    columns,
    rlcore_trajectory_config { capacity: 20, ..ptr::zeros() }
);

versioned!(rlcore_trajectory_frames, "trajectory frames", memory);
versioned!(rlcore_trajectory_rows, "trajectory rows", valid);
versioned!(rlcore_trajectory_view, "trajectory view", memory);

unsafe fn config(p: *const rlcore_trajectory_config) -> Result<TrajectoryConfig> {
    let c = unsafe { ptr::sized(p)? };
    let accumulate = accumulate("trajectory config: accumulate", c.accumulate)? as u32;
    let table = unsafe { table::config(c.columns, c.num_columns, 1, c.capacity)? };
    Ok(TrajectoryConfig { memory_len: c.memory_len, one_hot: c.one_hot, accumulate, table })
}

impl Block for rlcore_trajectory {
    const WHAT: &'static str = "trajectory";
    const KIND: BlockKind = BlockKind::Trajectory;
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_config_init(
    config: *mut rlcore_trajectory_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_size(
    config: *const rlcore_trajectory_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Trajectory::size(&self::config(config)?)?)) })
}

/// Creates an empty trajectory in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_trajectory_config,
    out: *mut *mut rlcore_trajectory,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), Trajectory::init) })
}

/// Opens a saved or copied trajectory in mem. mem is only read; columns are not checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_trajectory,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Trajectory::attach) })
}

/// Opens a trajectory that another process writes: see Sharing. Memory that calls return pointers to may change at any
/// time; use rlcore_trajectory_read to copy it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_trajectory,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Appends frames. frames->value may be NULL: then, until no frame is held, calls that need values return E_NOT_READY and
/// rlcore_trajectory_held returns NULL for them.
/// Errors: E_CONFIG; E_NOT_READY without room for all of them, or after a frame that ended its episode; E_SHAPE if
/// num_frames is 0; E_RANGE if a frame other than the last ends the episode, and after 2^63 frames; E_VALUE for a number
/// that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_add(
    t: *mut rlcore_trajectory,
    frames: *const rlcore_trajectory_frames,
) -> rlcore_status {
    call(|| unsafe {
        let mut trajectory = open(t, Trajectory::open)?;
        let f = ptr::sized(frames)?;
        let config = trajectory.config();
        let (n, num_columns) = (f.num_frames as usize, config.table.columns().len());
        let memory_len = ptr::grid("memory", n, config.memory_len as usize)?;
        let columns = table::inputs(config.table.columns(), f.columns, n)?;
        let reward = Input::at("reward", f.reward, n)?;
        let value = Input::optional("value", f.value, n)?;
        let terminated = Input::at("terminated", f.terminated, n)?;
        let truncated = Input::at("truncated", f.truncated, n)?;
        let memory = Input::unless_empty("memory", f.memory, memory_len)?;
        let (columns, reward, value, terminated, truncated, memory) =
            trajectory.extent.writing((columns, reward, value, terminated, truncated, memory))?;
        let mut elements = [Elements::U8(&[]); MAX_COLUMNS];
        for (to, given) in elements.iter_mut().zip(columns).take(num_columns) {
            *to = given.ok_or(Error::new(Kind::Null, "trajectory frames: the array of a column is NULL."))?;
        }
        let columns = elements.get(..num_columns).unwrap_or(&elements);
        let (value, memory) = (value.unwrap_or_default(), memory.unwrap_or_default());
        Ok(trajectory.add(&Frames { columns, reward, value, terminated, truncated, memory })?)
    })
}

/// Removes the last frame. The remaining frames are renumbered as new ones.
/// Errors: E_NOT_READY if there is none; E_RANGE after 2^63 frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_pop(t: *mut rlcore_trajectory) -> rlcore_status {
    call(|| unsafe { Ok(open(t, Trajectory::open)?.pop()?) })
}

/// Removes all frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_reset(t: *mut rlcore_trajectory) -> rlcore_status {
    call(|| unsafe { Ok(open(t, Trajectory::open)?.reset()?) })
}

/// Returns the frames held. out->struct_size must be set.
/// Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_held(
    t: *const rlcore_trajectory,
    out: *mut rlcore_trajectory_view,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(t, View::open)?;
        let out = view.extent.reading(ptr::OutSized::at(out)?)?;
        let held = view.frames()?;
        out.store(rlcore_trajectory_view {
            num_frames: view.len() as u32,
            reward: held.reward.as_ptr(),
            value: rows::given(held.value, view.len()),
            terminated: held.terminated.as_ptr(),
            truncated: held.truncated.as_ptr(),
            memory: if view.memory_len() > 0 { held.memory.as_ptr() } else { null() },
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Returns a pointer to a column in the block, [num_frames, len]. Valid until the block changes.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_column(
    t: *const rlcore_trajectory,
    column: u32,
    out_column: *mut *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        view(t, View::open)?.tell("out_column", out_column, |view| Ok(ptr::start(view.column(column as usize)?)))
    })
}

/// Copies frames, in order. Frames are numbered for the life of the block. pop and reset retire all current numbers; frames
/// that remain after a pop get new ones. Each reader keeps its own `next`, initially 0; with 0 every time it copies all
/// frames held.
/// next:      [1] number of the first frame to read; becomes that of the first one not read.
/// out_count: [1] frames copied, to the front of each array: at most out->num_rows.
/// out_lost:  [1] frames that were dropped before they were read, may be NULL.
/// Errors: E_CONFIG; E_SHAPE for a log_prob or a final_value; E_NOT_READY for a missing value; E_RANGE if next is larger
/// than the numbers assigned so far; E_BUSY only for a reader, see Sharing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_read(
    t: *const rlcore_trajectory,
    next: *mut u64,
    out: *const rlcore_rows_out,
    out_count: *mut u32,
    out_lost: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(t, View::open)?;
        let cursor = cursor::cursor(next, out_count, out_lost)?;
        rows::read(view.extent, view.columns(), [1, view.memory_len()], cursor, out, |next, out| view.read(next, out))
    })
}

/// Calls `process` with the caller's arrays for rows, and `more`. No output overlaps another array or the block.
unsafe fn process<A: Args>(
    view: &Opened<View<'_>>,
    out: *const rlcore_trajectory_rows,
    more: A,
    process: impl FnOnce(usize, bool, Processed<'_>, A::Slices) -> error::Result,
) -> Result {
    let r = unsafe { ptr::sized(out)? };
    ptr::reserved("trajectory rows: reserved", r.reserved)?;
    let (rows, time_flat) = (r.num_rows as usize, ptr::switch("trajectory rows: time_flat", r.time_flat)?);
    let samples = if time_flat { rows } else { 1 };
    let memory_len = ptr::grid("trajectory rows: memory", samples, view.memory_len())?;
    let arrays = unsafe {
        (
            table::outputs(view.columns(), r.columns, rows)?,
            Output::at("trajectory rows: returns", r.returns, rows)?,
            Output::at("trajectory rows: advantage", r.advantage, rows)?,
            Output::optional("trajectory rows: memory", r.memory, memory_len)?,
            Output::optional("trajectory rows: time_steps", r.time_steps, samples)?,
            Output::optional("trajectory rows: valid", r.valid, rows)?,
            more,
            Reads([Extent::of("trajectory rows", out.cast(), r.struct_size as usize)]),
        )
    };
    let (mut columns, returns, advantage, memory, time_steps, valid, more, ()) = view.extent.reading(arrays)?;
    let columns = columns.get_mut(..view.columns().len()).unwrap_or_default();
    Ok(process(rows, time_flat, Processed { columns, returns, advantage, memory, time_steps, valid }, more)?)
}

/// Writes the arrays that a learner reads. Padding is zeros, except element 0 of one-hot columns, which is 1.
///   returns[t]   = reward[t] + discount * returns[t+1]
///   delta[t]     = reward[t] + discount * value[t+1] - value[t]
///   advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
/// where returns and value after the last frame are bootstrap_value, or 0 if that frame terminated.
/// To build a batch, process trajectories into consecutive parts of larger arrays.
/// Threads: any number may process concurrently while the block does not change.
/// Errors: E_CONFIG; E_NOT_READY if there are no frames or no values; E_RANGE for a discount or gae_lambda outside [0, 1],
/// or num_rows; E_VALUE for a bootstrap_value that is used and not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_process(
    t: *const rlcore_trajectory,
    discount: f32,
    gae_lambda: f32,
    bootstrap_value: f32,
    out: *const rlcore_trajectory_rows,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(t, View::open)?;
        process(&view, out, Reads([]), |rows, time_flat, out, ()| {
            view.process(&Process { discount, gae_lambda, bootstrap_value, rows, time_flat }, out).map(drop)
        })
    })
}

/// For reward prediction: rlcore_trajectory_process of all frames but the last, with discount and gae_lambda 1, and the
/// class of the last frame's reward. The last frame's value is the bootstrap_value. The trajectory is not changed.
/// out_class: [1] an rlcore_reward_class.
/// Errors: as there; E_NOT_READY with fewer than 2 frames; E_RANGE for a threshold that is negative or not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_process_rp(
    t: *const rlcore_trajectory,
    reward_threshold: f32,
    out: *const rlcore_trajectory_rows,
    out_class: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(t, View::open)?;
        process(&view, out, One::at("out_class", out_class)?, |rows, time_flat, out, class| {
            *class = view.process_rp(reward_threshold, rows, time_flat, out)?.1 as u32;
            Ok(())
        })
    })
}

/// Classifies a reward: an rlcore_reward_class. A reward equal to a threshold is RLCORE_REWARD_ZERO.
/// Errors: E_VALUE for a reward that is not finite; E_RANGE for a threshold that is negative or not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_reward_class_of(reward: f32, threshold: f32, out_class: *mut u32) -> rlcore_status {
    call(|| unsafe { ptr::put("out_class", out_class, || Ok(RewardClass::of(reward, threshold)? as u32)) })
}
