//! Rollouts of T steps of N environments, drawn in minibatches.

use core::ffi::{c_char, c_void};
use core::ptr::null;

use crate::cursor;
use crate::kernels::{accumulate, rlcore_rollout};
use crate::lifecycle::{self, Block, Opened, Place, open, view};
use crate::mirror::{alike, versioned};
use crate::ptr::{self, AnyInput, Args, Extent, Input, Output, Reads};
use crate::rows::{self, rlcore_rows_out};
use crate::status::{Result, call, rlcore_status};
use crate::table::{self, rlcore_column};
use rlcore::block::Kind as BlockKind;
use rlcore::data::minibatch::Window;
use rlcore::data::rollout_buffer::{
    EPISODE_LENGTH, EPISODE_RETURN, FIRST_METRIC, MetricRow, Minibatch, RolloutBuffer, RolloutBufferConfig, Step, View,
};
use rlcore::data::rollout_text;
use rlcore::error;

/// T steps of N environments, drawn in minibatches. Sample e * T + t is step t of environment e, where T is the number of
/// steps when the rollout was finished.
/// Example:
///   rlcore_rollout_buffer_config_init(&config, sizeof config);
///   config.num_envs = N, config.columns = columns, config.num_columns = 2;
///   rlcore_rollout_buffer_size(&config, &size);
///   rlcore_rollout_buffer_init(mem, size, &config, &b);
///   rlcore_rollout_buffer_add(b, &step);                                         // num_steps times
///   rlcore_rollout_buffer_finish(b, bootstrap_value, next_obs, discount, gae_lambda);
///   rlcore_rollout_buffer_draw(b, minibatch_size, 1, index, index_len);          // once per epoch
///   rlcore_rollout_buffer_gather(b, index + k * minibatch_size, minibatch_size, 1, &minibatch);
///   rlcore_rollout_buffer_reset(b);
pub struct rlcore_rollout_buffer;

/// Configuration of a rollout.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_buffer_config {
    /// bytes; set by rlcore_rollout_buffer_config_init
    pub struct_size: u32,
    /// T: maximum number of steps, at least 1; default 128
    pub num_steps: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// M: floats of a recurrent policy's state; default 0: none
    pub memory_len: u32,
    /// rows of metrics held, at least 2 N; 0 (default): the larger of 1024 and 2 N
    pub log_capacity: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// seed of the draws; default 0
    pub seed: u64,
    /// [num_columns] data of a step, without stacks; column 0 is the observation
    pub columns: *const rlcore_column,
    /// precision of advantages: an rlcore_accumulate; 0 (default): f32
    pub accumulate: u32,
    /// zero
    pub reserved: u32,
}

/// One step of all environments, with same-step autoreset: where an episode ended, the next step begins a new one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_step {
    /// sizeof(rlcore_rollout_step)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [N, len] of each column's kind: observation, action, and so on. NULL, or a NULL element:
    /// the data written through rlcore_rollout_buffer_row is kept
    pub columns: *const *const c_void,
    /// [N] reward of the action
    pub reward: *const f32,
    /// [N] V(obs); NULL: none
    pub value: *const f32,
    /// [N] log-probability of the action; NULL: none
    pub log_prob: *const f32,
    /// [N]
    pub terminated: *const u8,
    /// [N]
    pub truncated: *const u8,
    /// [N] V(final_obs), read where truncated and not terminated; may be NULL if nowhere
    pub final_value: *const f32,
    /// [N, M] the policy's recurrent state before the step; NULL if M is 0
    pub memory: *const f32,
    /// [N] rewards that episode returns are summed from; NULL: reward
    pub raw_reward: *const f32,
}

/// Output arrays of a minibatch; NULL skips an array. rlcore_rollout_buffer_gather copies windows, with L = window_len;
/// rlcore_rollout_buffer_gather_windows copies trajectories, with L = timesteps.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_minibatch {
    /// sizeof(rlcore_minibatch)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [rows, L, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [rows, L]; for trajectories [rows], of the last sample, as for the next four
    pub log_prob: *mut f32,
    /// [rows, L] V(obs) when the action was chosen
    pub value: *mut f32,
    /// [rows, L] generalized advantage
    pub advantage: *mut f32,
    /// [rows, L] advantage + value
    pub value_target: *mut f32,
    /// [rows, L] reward of the action
    pub reward: *mut f32,
    /// [rows, L] windows: 0 where an episode starts, else 1; trajectories: 0 for padding, else 1
    pub mask: *mut f32,
    /// [rows, M] the policy's recurrent state before the first sample of each row
    pub memory: *mut f32,
    /// [rows, L] steps of the trajectory before each sample, 0 for padding; NULL for windows
    pub timestep: *mut i32,
}

/// A window of a trajectory, or all of a short one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_window {
    /// its first sample
    pub first: u32,
    /// samples, at least 1
    pub len: u32,
    /// rows of padding before them: timesteps - len
    pub pad: u32,
    /// steps of the trajectory before the window
    pub timestep: u32,
}

/// Kind of a row of metrics.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_metric {
    /// length of an episode that ended
    RLCORE_METRIC_EPISODE_LENGTH = 0,
    /// return of an episode that ended
    RLCORE_METRIC_EPISODE_RETURN = 1,
    /// first number available to the caller
    RLCORE_METRIC_OWN = 2,
}

/// A logged number.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_metric_row {
    /// environment steps before the step that it describes
    pub global_step: u64,
    /// the number
    pub value: f64,
    /// environment index; UINT32_MAX: all
    pub env: u32,
    /// an rlcore_metric, or the caller's own, at least RLCORE_METRIC_OWN
    pub metric: u32,
}

/// Progress of a rollout and of the training.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_progress {
    /// sizeof(rlcore_rollout_progress)
    pub struct_size: u32,
    /// steps held
    pub num_steps: u32,
    /// environment steps since init: N for each step added
    pub global_step: u64,
    /// episodes that ended since the last reset
    pub num_ended: u64,
    /// their mean length; NaN if there are none
    pub len_mean: f64,
    /// their mean return; NaN if there are none
    pub return_mean: f64,
    /// 1: advantages are computed
    pub finished: u32,
    /// zero
    pub reserved: u32,
}

/// Further arrays of a rollout, not owned: pointers into the block, valid until it changes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_extras {
    /// sizeof(rlcore_rollout_extras)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T, N]; NULL if a step had none
    pub log_prob: *const f32,
    /// [T, N]; NULL unless finished
    pub advantage: *const f32,
    /// [T, N]; NULL unless finished
    pub value_target: *const f32,
    /// [N] 1 where step 0 starts an episode
    pub first: *const u8,
    /// [T, N, M]; NULL if M is 0
    pub memory: *const f32,
}

const _: () = {
    assert!(rlcore_metric::RLCORE_METRIC_EPISODE_LENGTH as u32 == EPISODE_LENGTH);
    assert!(rlcore_metric::RLCORE_METRIC_EPISODE_RETURN as u32 == EPISODE_RETURN);
    assert!(rlcore_metric::RLCORE_METRIC_OWN as u32 == FIRST_METRIC);
};

alike!(rlcore_window, Window { first, len, pad, timestep });
alike!(rlcore_metric_row, MetricRow { global_step, value, env, metric });

versioned!(
    rlcore_rollout_buffer_config,
    "rollout_buffer config",
    columns,
    rlcore_rollout_buffer_config { num_steps: 128, num_envs: 1, ..ptr::zeros() }
);

versioned!(rlcore_rollout_step, "rollout step", raw_reward);
versioned!(rlcore_minibatch, "minibatch", timestep);
versioned!(rlcore_rollout_progress, "rollout progress", reserved);
versioned!(rlcore_rollout_extras, "rollout extras", memory);

unsafe fn config(p: *const rlcore_rollout_buffer_config) -> Result<RolloutBufferConfig> {
    let c = unsafe { ptr::sized(p)? };
    let table = unsafe { table::config(c.columns, c.num_columns, c.num_envs, c.num_steps)? };
    let rlcore_rollout_buffer_config { memory_len, log_capacity, seed, reserved, .. } = c;
    ptr::reserved("rollout_buffer config: reserved", reserved)?;
    let accumulate = accumulate("rollout_buffer config: accumulate", c.accumulate)? as u32;
    Ok(RolloutBufferConfig { seed, memory_len, log_capacity, accumulate, reserved, table })
}

impl Block for rlcore_rollout_buffer {
    const WHAT: &'static str = "rollout_buffer";
    const KIND: BlockKind = BlockKind::RolloutBuffer;
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_config_init(
    config: *mut rlcore_rollout_buffer_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_size(
    config: *const rlcore_rollout_buffer_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(RolloutBuffer::size(&self::config(config)?)?)) })
}

/// Creates an empty rollout in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_rollout_buffer_config,
    out: *mut *mut rlcore_rollout_buffer,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), RolloutBuffer::init) })
}

/// Opens a saved or copied rollout in mem. mem is only read; columns are not checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_rollout_buffer,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], RolloutBuffer::attach) })
}

/// Opens a rollout that another process writes: see Sharing. Memory that calls return pointers to may change at any time;
/// use rlcore_rollout_buffer_read to copy it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_rollout_buffer,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Returns a pointer to row `step` of a column in the block, [N, len], to fill in place before the step is added with NULL
/// for that column. `step` must be the number of steps held so far; for column 0, the observation, it may also be that
/// plus 1, so that environments can write the next observation while the current one is still in use.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_row(
    b: *mut rlcore_rollout_buffer,
    column: u32,
    step: u32,
    out_row: *mut *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        open(b, RolloutBuffer::open)?
            .tell("out_row", out_row, |buffer| Ok(ptr::start_mut(buffer.row(column as usize, step as usize)?)))
    })
}

/// Appends a step, and logs length and return of every episode that it ended under the global_step before it. step->value
/// and step->log_prob may be NULL. If any step of the rollout had none, then until the next reset
/// rlcore_rollout_buffer_view and _extras return NULL for that array and _read and _gather refuse to copy it with
/// E_NOT_READY; _finish requires all values.
/// Errors: E_NULL, also for a missing final_value; E_CONFIG; E_NOT_READY if the rollout is full or finished; E_VALUE for a
/// number that is not finite; E_RANGE after 2^63 steps or metrics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_add(
    b: *mut rlcore_rollout_buffer,
    step: *const rlcore_rollout_step,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let s = ptr::sized(step)?;
        ptr::reserved("rollout step: reserved", s.reserved)?;
        let config = buffer.config();
        let (n, num_columns) = (config.table.num_rings as usize, config.table.columns().len());
        let memory_len = ptr::grid("memory", n, config.memory_len as usize)?;
        let columns = table::inputs(config.table.columns(), s.columns, n)?;
        let reward = Input::at("reward", s.reward, n)?;
        let value = Input::optional("value", s.value, n)?;
        let log_prob = Input::optional("log_prob", s.log_prob, n)?;
        let terminated = Input::at("terminated", s.terminated, n)?;
        let truncated = Input::at("truncated", s.truncated, n)?;
        let final_value = Input::optional("final_value", s.final_value, n)?;
        let memory = Input::unless_empty("memory", s.memory, memory_len)?;
        let raw_reward = Input::optional("raw_reward", s.raw_reward, n)?;
        let numbers = ([value, log_prob, final_value, memory, raw_reward], reward);
        let (columns, ([value, log_prob, final_value, memory, raw_reward], reward), [terminated, truncated]) =
            buffer.extent.writing((columns, numbers, [terminated, truncated]))?;
        Ok(buffer.add(&Step {
            columns: columns.get(..num_columns).unwrap_or(&columns),
            reward,
            value: value.unwrap_or_default(),
            log_prob: log_prob.unwrap_or_default(),
            terminated,
            truncated,
            final_value,
            memory: memory.unwrap_or_default(),
            raw_reward,
        })?)
    })
}

/// Ends the episodes of environments that the caller has reset before the outcome of their last step was known. `truncated`
/// of that step becomes 2 and its final_value V(obs) of its own: nothing is learned from it, as its advantage is 0 and its
/// value target its value. The step before it bootstraps from that value. The episodes are not counted. If the rollout is
/// finished, its advantages stay. Does nothing where an episode has ended.
/// gone: [N] flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_cut(b: *mut rlcore_rollout_buffer, gone: *const u8) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let n = buffer.config().table.num_rings as usize;
        let gone = buffer.extent.writing(Input::at("gone", gone, n)?)?;
        Ok(buffer.cut_rows(gone)?)
    })
}

/// Finishes the rollout: computes advantages and value targets of the steps held, as rlcore_gae.
/// bootstrap_value: [N] V of the observation after the last step.
/// next_obs:        [N, len] of column 0: that observation, which reset carries over; NULL: the data written through
///                  rlcore_rollout_buffer_row is kept.
/// Errors: E_NOT_READY if no step is held, the rollout is finished, or a step had no value; E_RANGE for a discount or
/// gae_lambda outside [0, 1]; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_finish(
    b: *mut rlcore_rollout_buffer,
    bootstrap_value: *const f32,
    next_obs: *const c_void,
    discount: f32,
    gae_lambda: f32,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let config = buffer.config();
        let n = config.table.num_rings as usize;
        let bootstrap_value = Input::at("bootstrap_value", bootstrap_value, n)?;
        let next_obs = match config.table.columns().first() {
            Some(obs) => AnyInput::optional("next_obs", next_obs, obs.element()?, n, obs.len as usize)?,
            None => None,
        };
        let (bootstrap_value, next_obs) = buffer.extent.writing((bootstrap_value, next_obs))?;
        Ok(buffer.finish(bootstrap_value, next_obs, discount, gae_lambda)?)
    })
}

/// Begins the next rollout where this one stopped: drops steps, advantages and episode means. The observation after the
/// last step becomes row 0 of column 0; episodes, metrics and global_step continue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_reset(b: *mut rlcore_rollout_buffer) -> rlcore_status {
    call(|| unsafe { Ok(open(b, RolloutBuffer::open)?.reset()?) })
}

/// Returns the arrays that rlcore_gae reads, for the steps held. Pointers into the block, valid until it changes.
/// bootstrap_value is 0 until the first rollout is finished; value and final_value are NULL if a step had no value.
/// out->struct_size must be set.
/// Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_view(
    b: *const rlcore_rollout_buffer,
    out: *mut rlcore_rollout,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let out = view.extent.reading(ptr::OutSized::at(out)?)?;
        let r = view.rollout()?;
        out.store(rlcore_rollout {
            num_steps: r.num_steps as u32,
            num_envs: r.num_envs as u32,
            reward: r.reward.as_ptr(),
            value: rows::given(r.value, r.num_steps),
            bootstrap_value: r.bootstrap_value.as_ptr(),
            terminated: r.terminated.as_ptr(),
            truncated: r.truncated.as_ptr(),
            final_value: r.final_value.map_or(null(), <[f32]>::as_ptr),
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Returns the other arrays. out->struct_size must be set. Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_extras(
    b: *const rlcore_rollout_buffer,
    out: *mut rlcore_rollout_extras,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let out = view.extent.reading(ptr::OutSized::at(out)?)?;
        let (advantage, value_target) = match view.advantages() {
            Ok((advantage, value_target)) => (advantage.as_ptr(), value_target.as_ptr()),
            Err(_) => (null(), null()),
        };
        let memory = if view.memory_len() > 0 { view.memory()?.as_ptr() } else { null() };
        let log_prob = rows::given(view.log_prob()?, view.progress().num_steps as usize);
        out.store(rlcore_rollout_extras {
            log_prob,
            advantage,
            value_target,
            first: view.first().as_ptr(),
            memory,
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Returns a pointer to a column in the block: [T, N, len] for the steps held; for column 0 [T + 1, N, len], where the last
/// row is the observation to act on next, once it is known. Valid until the block changes.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_column(
    b: *const rlcore_rollout_buffer,
    column: u32,
    out_column: *mut *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        view(b, View::open)?.tell("out_column", out_column, |view| Ok(ptr::start(view.column(column as usize)?)))
    })
}

/// Progress of the rollout and of the training. out->struct_size must be set.
/// Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_progress(
    b: *const rlcore_rollout_buffer,
    out: *mut rlcore_rollout_progress,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let out = view.extent.reading(ptr::OutSized::at(out)?)?;
        let p = view.progress();
        out.store(rlcore_rollout_progress {
            num_steps: p.num_steps,
            global_step: p.global_step,
            num_ended: p.num_ended,
            len_mean: p.len_mean,
            return_mean: p.return_mean,
            finished: u32::from(p.finished),
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Copies steps, in order. Steps are numbered over all rollouts: step t of this one has number
/// global_step / N - num_steps + t, see rlcore_rollout_progress. Each reader keeps its own `next`, initially 0.
/// next:      [1] number of the first step to read; becomes that of the first one not read.
/// out_count: [1] steps copied, to the front of each array: at most out->num_rows, and only of this rollout.
/// out_lost:  [1] steps that were dropped before they were read, may be NULL.
/// Errors: E_CONFIG; E_NOT_READY for an array that a step did not have; E_RANGE if next is larger than the number of steps
/// added; E_BUSY only for a reader, see Sharing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_read(
    b: *const rlcore_rollout_buffer,
    next: *mut u64,
    out: *const rlcore_rows_out,
    out_count: *mut u32,
    out_lost: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let lens = [view.num_envs(), view.memory_len()];
        let cursor = cursor::cursor(next, out_count, out_lost)?;
        rows::read(view.extent, view.columns(), lens, cursor, out, |next, out| view.read(next, out))
    })
}

/// Divides the rollout into windows of `recurrence` samples (1: single samples) and writes the first sample of each, in
/// random order: numpy's permutation of the windows, from the block's own stream. Minibatch k has minibatch_size samples:
/// the minibatch_size / recurrence entries from k * minibatch_size / recurrence on.
/// index: [index_len] to write, index_len = T * N / recurrence.
/// Errors: E_NOT_READY unless finished; E_SHAPE for index_len; E_RANGE unless minibatch_size divides T * N, and
/// recurrence divides T and minibatch_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_draw(
    b: *mut rlcore_rollout_buffer,
    minibatch_size: u32,
    recurrence: u32,
    index: *mut u32,
    index_len: u32,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let index = Output::at("index", index, index_len as usize)?;
        let index = buffer.extent.reading(index)?;
        Ok(buffer.draw(minibatch_size as usize, recurrence as usize, index)?)
    })
}

/// Draws windows of at most `timesteps` samples, with the block's own stream. For each, draws a trajectory uniformly. If it
/// is not longer than timesteps, the window is all of it. Otherwise, with probability end_chance, it is the last timesteps
/// samples; else its end is uniform from timesteps to the trajectory's length. Trajectories begin with an episode or with
/// the rollout.
/// windows: [num_windows] to write.
/// Errors: E_NOT_READY unless finished; E_RANGE for 0 timesteps, or an end_chance outside [0, 1].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_draw_windows(
    b: *mut rlcore_rollout_buffer,
    timesteps: u32,
    end_chance: f64,
    windows: *mut rlcore_window,
    num_windows: u32,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let windows = Output::<Window>::at("windows", windows.cast(), num_windows as usize)?;
        let windows = buffer.extent.reading(windows)?;
        Ok(buffer.draw_windows(timesteps, end_chance, windows)?)
    })
}

/// Draws one of the steps held, uniformly, with the block's own stream: for inspection.
/// Errors: E_NOT_READY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_sample(
    b: *mut rlcore_rollout_buffer,
    out_step: *mut u32,
) -> rlcore_status {
    call(|| unsafe { open(b, RolloutBuffer::open)?.tell("out_step", out_step, |buffer| buffer.sample()) })
}

/// Calls `gather` with `index` and the caller's arrays for a minibatch: `rows` rows of `window_len` samples, with numbers for
/// `each` samples of a row. No output overlaps another array or the block.
unsafe fn gather<A: Args>(
    view: &Opened<View<'_>>,
    index: A,
    out: *const rlcore_minibatch,
    [rows, window_len, each]: [usize; 3],
    gather: impl FnOnce(A::Slices, Minibatch<'_>) -> error::Result,
) -> Result {
    let m = unsafe { ptr::sized(out)? };
    ptr::reserved("minibatch: reserved", m.reserved)?;
    let len = ptr::grid("minibatch", rows, window_len)?;
    let numbers = ptr::grid("minibatch", rows, each)?;
    let memory_len = ptr::grid("minibatch: memory", rows, view.memory_len())?;
    let arrays = unsafe {
        (
            table::outputs(view.columns(), m.columns, len)?,
            [
                Output::optional("minibatch: log_prob", m.log_prob, numbers)?,
                Output::optional("minibatch: value", m.value, numbers)?,
                Output::optional("minibatch: advantage", m.advantage, numbers)?,
                Output::optional("minibatch: value_target", m.value_target, numbers)?,
                Output::optional("minibatch: reward", m.reward, numbers)?,
                Output::optional("minibatch: mask", m.mask, len)?,
                Output::optional("minibatch: memory", m.memory, memory_len)?,
            ],
            Output::optional("minibatch: timestep", m.timestep, len)?,
            index,
            Reads([Extent::of("minibatch", out.cast(), m.struct_size as usize)]),
        )
    };
    let (mut columns, numbers, timestep, index, ()) = view.extent.reading(arrays)?;
    let columns = columns.get_mut(..view.columns().len()).unwrap_or_default();
    let [log_prob, value, advantage, value_target, reward, mask, memory] = numbers;
    let out = Minibatch { columns, log_prob, value, advantage, value_target, reward, mask, memory, timestep };
    Ok(gather(index, out)?)
}

/// Copies num_rows windows of window_len consecutive samples; with window_len 1, single samples.
/// index: [num_rows] the first sample of each window, e.g. of a minibatch from rlcore_rollout_buffer_draw.
/// Threads: any number may gather concurrently while the block does not change.
/// Errors: E_CONFIG; E_SHAPE if timestep is not NULL; E_NOT_READY unless finished, or for a log_prob that a step did not
/// have; E_RANGE for a sample out of range, or a window that leaves its environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_gather(
    b: *const rlcore_rollout_buffer,
    index: *const u32,
    num_rows: u32,
    window_len: u32,
    out: *const rlcore_minibatch,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let (rows, len) = (num_rows as usize, window_len as usize);
        let index = Input::at("index", index, rows)?;
        gather(&view, index, out, [rows, len, len], |index, out| view.gather(index, len, out))
    })
}

/// Copies windows of trajectories, padded at the front to `timesteps` rows: RLCORE_I32 columns with pad_token, which should
/// not be a valid action, others with zeros. Advantages are those of the whole rollout.
/// windows: [num_windows], e.g. from rlcore_rollout_buffer_draw_windows with the same timesteps.
/// Threads: any number may gather concurrently while the block does not change.
/// Errors: E_CONFIG; E_NOT_READY as above; E_RANGE for a window that is not inside one trajectory, or whose len + pad is
/// not timesteps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_gather_windows(
    b: *const rlcore_rollout_buffer,
    windows: *const rlcore_window,
    num_windows: u32,
    timesteps: u32,
    pad_token: i32,
    out: *const rlcore_minibatch,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let (rows, len) = (num_windows as usize, timesteps as usize);
        let windows = Input::<Window>::at("windows", windows.cast(), rows)?;
        gather(&view, windows, out, [rows, len, 1], |windows, out| view.gather_windows(windows, len, pad_token, out))
    })
}

/// Logs a number of the caller's, for all environments, under the current global_step. Of several values of one metric in
/// one step, the last one counts.
/// Errors: E_RANGE for a metric below RLCORE_METRIC_OWN, and after 2^63 rows; E_VALUE for a value that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_log(
    b: *mut rlcore_rollout_buffer,
    metric: u32,
    value: f64,
) -> rlcore_status {
    call(|| unsafe { Ok(open(b, RolloutBuffer::open)?.log(metric, value)?) })
}

/// Copies rows of metrics, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at
/// least once every log_capacity rows.
/// next:      [1] number of the first row to read; becomes that of the first one not read.
/// rows:      [len] to write.
/// out_count: [1] rows written; out_lost: [1] rows that were overwritten before they were read, may be NULL.
/// Errors: E_RANGE if next is larger than the number of rows logged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_read_log(
    b: *const rlcore_rollout_buffer,
    next: *mut u64,
    rows: *mut rlcore_metric_row,
    len: u32,
    out_count: *mut u32,
    out_lost: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let cursor = cursor::cursor(next, out_count, out_lost)?;
        let metrics = Output::<MetricRow>::at("rows", rows.cast(), len as usize)?;
        let (cursor, metrics) = view.extent.reading((cursor, metrics))?;
        cursor::advance(cursor, |next| view.read_log(next, metrics))
    })
}

/// Writes lines `global_step=`, `avg_episode_length=` and `avg_episode_return=`: zero-padded to six characters, means with
/// two decimals. Writes nothing if no episode has ended since the last reset.
/// text:    [text_size] to write, not NUL-terminated. NULL with 0: only sets out_len.
/// out_len: [1] bytes written, or required.
/// Errors: E_SIZE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_format_progress(
    b: *const rlcore_rollout_buffer,
    text: *mut c_char,
    text_size: usize,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let (text, len) = view.extent.reading(ptr::room(text, text_size, out_len)?)?;
        *len = rollout_text::progress(&view.progress(), text)?;
        Ok(())
    })
}

/// Writes `Sample i/T:` and a line for each array of a step: its name padded to ten characters, a colon, and the numbers of
/// all environments.
/// text, out_len: [text_size] and [1], as in rlcore_rollout_buffer_format_progress.
/// Errors: E_SIZE; E_RANGE for a step that is not held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_format_step(
    b: *const rlcore_rollout_buffer,
    step: u32,
    text: *mut c_char,
    text_size: usize,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let (text, len) = view.extent.reading(ptr::room(text, text_size, out_len)?)?;
        *len = rollout_text::step(&view, step, text)?;
        Ok(())
    })
}
