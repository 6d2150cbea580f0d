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
use rlcore::data::table::{MAX_COLUMNS, TableConfig};
use rlcore::data::trajectory::{Frames, Process, Processed, RewardClass, Trajectory, TrajectoryConfig, View};
use rlcore::error::{self, Error, Kind};
use rlcore::space::Elements;

/// One trajectory, an episode or a part of it, frame by frame: the caller's own block.
pub struct rlcore_trajectory;

/// What a trajectory is made from.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_config {
    /// bytes; set by rlcore_trajectory_config_init
    pub struct_size: u32,
    /// most frames, at least 1; default 20
    pub capacity: u32,
    /// M: numbers of a recurrent policy's memory; default 0: none
    pub memory_len: u32,
    /// bit i: column i is one-hot and padded with element 0, not with zeros; default 0
    pub one_hot: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// what returns and advantages are summed in: an rlcore_accumulate; 0 (default) is f32
    pub accumulate: u32,
    /// [num_columns] what is kept of a frame beside reward, value and flags, without stacks
    pub columns: *const rlcore_column,
}

/// Frames in a row, to append: one that was just seen, or a sequence that a replay memory gathered.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_frames {
    /// sizeof(rlcore_trajectory_frames)
    pub struct_size: u32,
    /// at least 1
    pub num_frames: u32,
    /// [num_columns] arrays, [num_frames, len] of each column's kind
    pub columns: *const *const c_void,
    /// [num_frames] what the action earned
    pub reward: *const f32,
    /// [num_frames] V of the state that was acted on; NULL: left out
    pub value: *const f32,
    /// [num_frames] the last one at most
    pub terminated: *const u8,
    /// [num_frames] the last one at most
    pub truncated: *const u8,
    /// [num_frames, M] the policy's memory before the frame; NULL if M is 0
    pub memory: *const f32,
}

/// Room for a processed trajectory; NULL leaves an array out, but for returns and advantage.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_rows {
    /// sizeof(rlcore_trajectory_rows)
    pub struct_size: u32,
    /// at least the frames: the others are padding; with time_flat exactly the frames
    pub num_rows: u32,
    /// 1: each frame is a sample of its own; 0: the trajectory is one
    pub time_flat: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [num_rows, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [num_rows] discounted sums of rewards to the end, and the value of what comes after it
    pub returns: *mut f32,
    /// [num_rows] generalised advantages
    pub advantage: *mut f32,
    /// [1, M] the memory before the first frame; with time_flat [num_rows, M], before each
    pub memory: *mut f32,
    /// [1] frames; with time_flat [num_rows] ones
    pub time_steps: *mut u32,
    /// [num_rows] 1 where a row is a frame, 0 where it is padding: means are of rows with 1
    pub valid: *mut u8,
}

/// The frames of a trajectory beside their columns, in the block: good until it is changed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_trajectory_view {
    /// sizeof(rlcore_trajectory_view)
    pub struct_size: u32,
    /// frames that are held
    pub num_frames: u32,
    /// [num_frames]
    pub reward: *const f32,
    /// [num_frames]; NULL if a frame was added without
    pub value: *const f32,
    /// [num_frames]
    pub terminated: *const u8,
    /// [num_frames]
    pub truncated: *const u8,
    /// [num_frames, M]; NULL if M is 0
    pub memory: *const f32,
}

/// What a reward is to reward prediction: the place of its 1 in a one-hot row of 3.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_reward_class {
    /// between the thresholds, or on one
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

versioned!(rlcore_trajectory_config, "trajectory config", columns, {
    let TrajectoryConfig { capacity, memory_len, one_hot, accumulate, columns: _ } = Default::default();
    rlcore_trajectory_config { capacity, memory_len, one_hot, accumulate: accumulate as u32, ..ptr::zeros() }
});

versioned!(rlcore_trajectory_frames, "trajectory frames", memory);
versioned!(rlcore_trajectory_rows, "trajectory rows", valid);
versioned!(rlcore_trajectory_view, "trajectory view", memory);

/// The configuration but for its columns, and those.
unsafe fn config(p: *const rlcore_trajectory_config) -> Result<(TrajectoryConfig<'static>, TableConfig)> {
    let c = unsafe { ptr::sized(p)? };
    let accumulate = accumulate("trajectory config: accumulate", c.accumulate)?;
    let table = unsafe { table::config(c.columns, c.num_columns, 1, c.capacity)? };
    let rlcore_trajectory_config { capacity, memory_len, one_hot, .. } = c;
    Ok((TrajectoryConfig { capacity, memory_len, one_hot, accumulate, columns: &[] }, table))
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
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let (config, table) = self::config(config)?;
            Ok(Trajectory::size(&TrajectoryConfig { columns: table.columns(), ..config })?)
        })
    })
}

/// Creates an empty trajectory in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_trajectory_config,
    out: *mut *mut rlcore_trajectory,
) -> rlcore_status {
    call(|| unsafe {
        Place::at(mem, mem_size, out)?.init(
            || self::config(config),
            |mem, (config, table)| Trajectory::init(mem, &TrajectoryConfig { columns: table.columns(), ..*config }),
        )
    })
}

/// Accepts bytes that a trajectory was copied to, in this process or another. mem is only read, and not its columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_trajectory,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Trajectory::attach) })
}

/// Accepts bytes that another process adds frames to meanwhile, for calls with a const trajectory: see Sharing. What those
/// only point at may change at any time: rlcore_trajectory_read copies it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_trajectory,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Appends frames. frames->value may be left out, as NULL, by a writer that has none: until no frame is held, what needs
/// values is refused, E_NOT_READY, and rlcore_trajectory_held gives NULL for them.
/// Errors: E_CONFIG; E_NOT_READY without room for all of them, or after a frame that ended its episode; E_SHAPE for no
/// frame; E_RANGE if a frame but the last ends it, and after 2^63 frames; E_VALUE for a number that is not finite.
/// Nothing changes then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_add(
    t: *mut rlcore_trajectory,
    frames: *const rlcore_trajectory_frames,
) -> rlcore_status {
    call(|| unsafe {
        let mut trajectory = open(t, Trajectory::open)?;
        let f = ptr::sized(frames)?;
        let config = trajectory.config();
        let (n, num_columns) = (f.num_frames as usize, config.columns.len());
        let memory_len = ptr::grid("memory", n, config.memory_len as usize)?;
        let columns = table::inputs(config.columns, f.columns, n)?;
        let reward = Input::at("reward", f.reward, n)?;
        let value = Input::optional("value", f.value, n)?;
        let terminated = Input::at("terminated", f.terminated, n)?;
        let truncated = Input::at("truncated", f.truncated, n)?;
        let memory = Input::unless_empty("memory", f.memory, memory_len)?;
        let (columns, reward, value, terminated, truncated, memory) =
            trajectory.extent.writing((columns, reward, value, terminated, truncated, memory))?;
        let mut elements = [Elements::U8(&[]); MAX_COLUMNS];
        for (to, given) in elements.iter_mut().zip(columns).take(num_columns) {
            *to = given.ok_or(Error::new(Kind::Null, "trajectory frames: an array for every column, given NULL"))?;
        }
        let columns = elements.get(..num_columns).unwrap_or(&elements);
        let (value, memory) = (value.unwrap_or_default(), memory.unwrap_or_default());
        Ok(trajectory.add(&Frames { columns, reward, value, terminated, truncated, memory })?)
    })
}

/// Forgets the last frame; those that stay count as new ones.
/// Errors: E_NOT_READY if there is none; E_RANGE after 2^63 frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_pop(t: *mut rlcore_trajectory) -> rlcore_status {
    call(|| unsafe { Ok(open(t, Trajectory::open)?.pop()?) })
}

/// Forgets all frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_reset(t: *mut rlcore_trajectory) -> rlcore_status {
    call(|| unsafe { Ok(open(t, Trajectory::open)?.reset()?) })
}

/// The frames that are held. out->struct_size is set by the caller.
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

/// Where a column lies in the block: [num_frames, len]. Good until the block is changed.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_trajectory_column(
    t: *const rlcore_trajectory,
    column: u32,
    out_column: *mut *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(t, View::open)?;
        let out = view.extent.reading(One::at("out_column", out_column)?)?;
        *out = ptr::start(view.column(column as usize)?);
        Ok(())
    })
}

/// Copies frames out, in the order in which they came. They are numbered for the life of the block; pop and reset give the
/// numbers of all of them up, and those that a pop leaves count as new. A reader keeps `next`, 0 at first; with 0 each time
/// it copies all that is held.
/// next:      [1] number of the frame to begin with; becomes that of the first one not read.
/// out_count: [1] frames copied, to the front of each array: at most out->num_rows.
/// out_lost:  [1] frames that were forgotten before they were read, NULL to ignore.
/// Errors: E_CONFIG; E_SHAPE for a log_prob or a final_value; E_NOT_READY for a value that was left out; E_RANGE for a
/// next that is larger than the numbers given so far; E_BUSY only beside a writer that leaves no moment to look.
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

/// Hands the caller's room for rows out, and `more` that is written; apart from one another and the block.
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

/// Writes what a learner reads. Padded rows are zeros, or element 0 of one-hot columns.
///   returns[t]   = reward[t] + discount * returns[t+1]
///   delta[t]     = reward[t] + discount * value[t+1] - value[t]
///   advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
/// where returns and value after the last frame are bootstrap_value, or 0 if that frame terminated.
/// Trajectories that are processed into consecutive parts of larger arrays are a batch as they stand.
/// Threads: any number may process at once, as long as nobody changes the block.
/// Errors: E_CONFIG; E_NOT_READY without a frame, or its value; E_RANGE for a discount or gae_lambda outside [0, 1], or
/// num_rows; E_VALUE for a bootstrap_value that is used and not finite.
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

/// For reward prediction: rlcore_trajectory_process of all frames but the last, with neither discount nor gae_lambda, and
/// the class of the last frame's reward. What comes after those frames is worth the value of the last. The trajectory
/// stays as it is.
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

/// The class of a reward: an rlcore_reward_class. A reward on a threshold is zero.
/// Errors: E_VALUE for a reward that is not finite; E_RANGE for a threshold that is negative or not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_reward_class_of(reward: f32, threshold: f32, out_class: *mut u32) -> rlcore_status {
    call(|| unsafe { ptr::put("out_class", out_class, || Ok(RewardClass::of(reward, threshold)? as u32)) })
}
