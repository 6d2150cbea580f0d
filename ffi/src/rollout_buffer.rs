//! Rollouts: T steps of N environments, and what minibatches are made with.

use core::ffi::{c_char, c_void};
use core::ptr::null;

use crate::cursor;
use crate::kernels::{accumulate, rlcore_rollout};
use crate::lifecycle::{self, Block, Opened, Place, open, view};
use crate::mirror::{alike, versioned};
use crate::ptr::{self, AnyInput, Args, Extent, Input, One, Output, Reads};
use crate::rows::{self, rlcore_rows_out};
use crate::status::{Result, call, rlcore_status};
use crate::table::{self, rlcore_column};
use rlcore::block::Kind as BlockKind;
use rlcore::data::minibatch::Window;
use rlcore::data::rollout_buffer::{
    EPISODE_LENGTH, EPISODE_RETURN, FIRST_METRIC, MetricRow, Minibatch, RolloutBuffer, RolloutBufferConfig, Step, View,
};
use rlcore::data::rollout_text;
use rlcore::data::table::TableConfig;
use rlcore::error;

/// What N environments did in T steps: the caller's own block. rlcore_rollout_buffer_add fills it,
/// rlcore_rollout_buffer_finish computes advantages and closes it, rlcore_rollout_buffer_reset begins the next rollout.
/// Samples are numbered environment by environment: step t of environment e is sample e * T + t, T being the steps that
/// it was finished with.
pub struct rlcore_rollout_buffer;

/// What a rollout is made from.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_buffer_config {
    /// bytes; set by rlcore_rollout_buffer_config_init
    pub struct_size: u32,
    /// T: most steps of a rollout, at least 1; default 128
    pub num_steps: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// M: numbers of a recurrent policy's memory; default 0: none
    pub memory_len: u32,
    /// rows of metrics held, at least 2 N; 0 (default): the larger of 1024 and 2 N
    pub log_capacity: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// what draws are seeded with; default 0
    pub seed: u64,
    /// [num_columns] what is kept of a step, without stacks; column 0 is the observation
    pub columns: *const rlcore_column,
    /// what advantages are summed in: an rlcore_accumulate; 0 (default) is f32
    pub accumulate: u32,
    /// zero
    pub reserved: u32,
}

/// One step of all environments, with same-step autoreset: where an episode ended, the next step begins another one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_step {
    /// sizeof(rlcore_rollout_step)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [N, len] of each column's kind: what the policy saw, did, and so on. NULL, or a NULL in
    /// it, leaves what rlcore_rollout_buffer_row was filled with
    pub columns: *const *const c_void,
    /// [N] what the action earned
    pub reward: *const f32,
    /// [N] V(obs); NULL: left out
    pub value: *const f32,
    /// [N] of the action; NULL: left out
    pub log_prob: *const f32,
    /// [N]
    pub terminated: *const u8,
    /// [N]
    pub truncated: *const u8,
    /// [N] V(final_obs), read where truncated and not terminated; NULL if nowhere, or no value
    pub final_value: *const f32,
    /// [N, M] the policy's memory before the step; NULL if M is 0
    pub memory: *const f32,
    /// [N] what returns of episodes are summed from; NULL: reward
    pub raw_reward: *const f32,
}

/// Room for a minibatch; NULL leaves an array out. Windows are what rlcore_rollout_buffer_gather copies, trajectories
/// what rlcore_rollout_buffer_gather_windows does; L is window_len, or timesteps.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_minibatch {
    /// sizeof(rlcore_minibatch)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] arrays, [rows, L, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [rows, L]; of trajectories [rows], that of the last sample, here and in the next four
    pub log_prob: *mut f32,
    /// [rows, L] V(obs) when the action was chosen
    pub value: *mut f32,
    /// [rows, L] generalised advantage
    pub advantage: *mut f32,
    /// [rows, L] advantage + value
    pub value_target: *mut f32,
    /// [rows, L] what the action earned
    pub reward: *mut f32,
    /// [rows, L] windows: 0 where an episode starts, else 1; trajectories: 0 where padded, else 1
    pub mask: *mut f32,
    /// [rows, M] the policy's memory before the first sample of each row
    pub memory: *mut f32,
    /// [rows, L] steps of the trajectory before each sample, 0 where padded; NULL for windows
    pub timestep: *mut i32,
}

/// A part of a trajectory, or all of a short one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_window {
    /// number of its first sample
    pub first: u32,
    /// samples, at least 1
    pub len: u32,
    /// rows that are padded before them: timesteps - len
    pub pad: u32,
    /// steps of the trajectory before it
    pub timestep: u32,
}

/// What a row of metrics is about.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_metric {
    /// steps of an episode that ended
    RLCORE_METRIC_EPISODE_LENGTH = 0,
    /// sum of the rewards of an episode that ended
    RLCORE_METRIC_EPISODE_RETURN = 1,
    /// the first number that the caller may give a meaning
    RLCORE_METRIC_OWN = 2,
}

/// A number worth logging.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_metric_row {
    /// steps of all environments before the step that it is about
    pub global_step: u64,
    /// the number
    pub value: f64,
    /// its environment; UINT32_MAX: of none in particular
    pub env: u32,
    /// an rlcore_metric, or the caller's own from RLCORE_METRIC_OWN on
    pub metric: u32,
}

/// How far a rollout and the training around it have come.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_progress {
    /// sizeof(rlcore_rollout_progress)
    pub struct_size: u32,
    /// steps that are held
    pub num_steps: u32,
    /// steps of all environments since the block was made: N for each step added
    pub global_step: u64,
    /// episodes that ended since the last reset
    pub num_ended: u64,
    /// their mean length; NaN of none
    pub len_mean: f64,
    /// their mean return; NaN of none
    pub return_mean: f64,
    /// 1: advantages are there
    pub finished: u32,
    /// zero
    pub reserved: u32,
}

/// Arrays of a rollout beside those of rlcore_rollout, in the block: good until it is changed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_extras {
    /// sizeof(rlcore_rollout_extras)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T, N]; NULL if a step left it out
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

versioned!(rlcore_rollout_buffer_config, "rollout_buffer config", columns, {
    let c = RolloutBufferConfig::default();
    rlcore_rollout_buffer_config {
        num_steps: c.num_steps,
        num_envs: c.num_envs,
        memory_len: c.memory_len,
        log_capacity: c.log_capacity,
        seed: c.seed,
        accumulate: c.accumulate as u32,
        ..ptr::zeros()
    }
});

versioned!(rlcore_rollout_step, "rollout step", raw_reward);
versioned!(rlcore_minibatch, "minibatch", timestep);
versioned!(rlcore_rollout_progress, "rollout progress", reserved);
versioned!(rlcore_rollout_extras, "rollout extras", memory);

/// The configuration but for its columns, and those.
unsafe fn config(p: *const rlcore_rollout_buffer_config) -> Result<(RolloutBufferConfig<'static>, TableConfig)> {
    let c = unsafe { ptr::sized(p)? };
    let table = unsafe { table::config(c.columns, c.num_columns, c.num_envs, c.num_steps)? };
    let rlcore_rollout_buffer_config { num_steps, num_envs, memory_len, log_capacity, seed, .. } = c;
    ptr::reserved("rollout_buffer config: reserved", c.reserved)?;
    let accumulate = accumulate("rollout_buffer config: accumulate", c.accumulate)?;
    let config = RolloutBufferConfig { num_steps, num_envs, memory_len, log_capacity, seed, accumulate, columns: &[] };
    Ok((config, table))
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
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let (config, table) = self::config(config)?;
            Ok(RolloutBuffer::size(&RolloutBufferConfig { columns: table.columns(), ..config })?)
        })
    })
}

/// Creates an empty rollout in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_rollout_buffer_config,
    out: *mut *mut rlcore_rollout_buffer,
) -> rlcore_status {
    call(|| unsafe {
        Place::at(mem, mem_size, out)?.init(
            || self::config(config),
            |mem, (config, table)| {
                RolloutBuffer::init(mem, &RolloutBufferConfig { columns: table.columns(), ..*config })
            },
        )
    })
}

/// Accepts bytes that a rollout was copied to, in this process or another. mem is only read, and not its columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_rollout_buffer,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], RolloutBuffer::attach) })
}

/// Accepts bytes that another process adds steps to meanwhile, for calls with a const rollout: see Sharing. What those only
/// point at may change at any time: rlcore_rollout_buffer_read copies it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_rollout_buffer,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Where row `step` of a column lies in the block, [N, len]: to be filled in place, before the step is added with NULL
/// for the column. step is that of the step to be added next, the steps held so far; of column 0, the observation, also
/// the one after it, so that environments may write the next observation while this one is still needed.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_row(
    b: *mut rlcore_rollout_buffer,
    column: u32,
    step: u32,
    out_row: *mut *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let out = buffer.extent.reading(One::at("out_row", out_row)?)?;
        *out = ptr::start_mut(buffer.row(column as usize, step as usize)?);
        Ok(())
    })
}

/// Appends a step, and logs the length and the return of every episode that it ended under the global_step before it.
/// What a writer does not have may be left out by name, step->value and step->log_prob as NULL. Until the next reset those
/// that the rollout lacks of any step count as not there: rlcore_rollout_buffer_view and _extras give NULL for them, _finish
/// and what comes after it need every value, and _read and _gather refuse to copy them, E_NOT_READY.
/// Errors: E_NULL, also for a final_value that is missing; E_CONFIG; E_NOT_READY if the rollout is full or finished;
/// E_VALUE for a number that is not finite; E_RANGE after 2^63 steps or metrics. Nothing changes then.
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
        let (n, num_columns) = (config.num_envs as usize, config.columns.len());
        let memory_len = ptr::grid("memory", n, config.memory_len as usize)?;
        let columns = table::inputs(config.columns, s.columns, n)?;
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

/// Closes the rollout: computes advantages and value targets of the steps that are held, once, as rlcore_gae does.
/// bootstrap_value: [N] V of the observation after the last step.
/// next_obs:        [N, len] of column 0: that observation, which a reset carries over; NULL leaves what
///                  rlcore_rollout_buffer_row was filled with.
/// Errors: E_NOT_READY if no step is held, it is finished, or a step left its value out; E_RANGE for a discount or
/// gae_lambda outside [0, 1]; E_VALUE. Nothing changes then.
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
        let n = config.num_envs as usize;
        let bootstrap_value = Input::at("bootstrap_value", bootstrap_value, n)?;
        let next_obs = match config.columns.first() {
            Some(obs) => AnyInput::optional("next_obs", next_obs, obs.element()?, n, obs.len as usize)?,
            None => None,
        };
        let (bootstrap_value, next_obs) = buffer.extent.writing((bootstrap_value, next_obs))?;
        Ok(buffer.finish(bootstrap_value, next_obs, discount, gae_lambda)?)
    })
}

/// Begins the next rollout where this one stopped: steps, advantages and means of episodes are forgotten; the
/// observation after the last step becomes row 0 of column 0, and episodes, metrics and global_step go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_reset(b: *mut rlcore_rollout_buffer) -> rlcore_status {
    call(|| unsafe { Ok(open(b, RolloutBuffer::open)?.reset()?) })
}

/// What rlcore_gae reads, of the steps that are held: arrays in the block, good until it is changed. bootstrap_value is
/// 0 before the first rollout is finished; value and final_value are NULL if a step left its value out.
/// out->struct_size is set by the caller.
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

/// The other arrays. out->struct_size is set by the caller. Errors: E_CONFIG.
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

/// Where a column lies in the block: [T, N, len] of the steps that are held; of column 0 [T + 1, N, len], the last row
/// being the observation to act on next, once it is known. Good until the block is changed.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_column(
    b: *const rlcore_rollout_buffer,
    column: u32,
    out_column: *mut *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(b, View::open)?;
        let out = view.extent.reading(One::at("out_column", out_column)?)?;
        *out = ptr::start(view.column(column as usize)?);
        Ok(())
    })
}

/// How far the rollout and the training around it have come. out->struct_size is set by the caller.
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

/// Copies steps out, in the order in which they came. They are numbered over all rollouts: step t of one is number
/// global_step / N - num_steps + t, as rlcore_rollout_buffer_progress tells them. A reader keeps `next`, 0 at first.
/// next:      [1] number of the step to begin with; becomes that of the first one not read.
/// out_count: [1] steps copied, to the front of each array: at most out->num_rows, and those of this rollout.
/// out_lost:  [1] steps that were forgotten before they were read, NULL to ignore.
/// Errors: E_CONFIG; E_NOT_READY for an array that a step left out; E_RANGE for a next that is larger than the steps
/// added so far; E_BUSY only beside a writer that leaves no moment to look.
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

/// Cuts the rollout into windows of `recurrence` samples (1: single samples) and writes the first sample of each, in
/// random order from the block's own stream: numpy's permutation of the windows. Minibatch k of minibatch_size samples
/// is the minibatch_size / recurrence entries from k * minibatch_size / recurrence on.
/// index: [index_len] to write, index_len = T * N / recurrence.
/// Errors: E_NOT_READY unless finished; E_SHAPE for index_len; E_RANGE unless minibatch_size divides T * N, and
/// recurrence divides T and minibatch_size. Nothing is written or drawn then.
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

/// Draws windows of at most `timesteps` samples from the block's own stream. Each is drawn in this order: a trajectory,
/// each as likely as any other; if it is no longer than timesteps, all of it; else a number below 1, and if that is
/// below end_chance the last samples; else the end, from timesteps to the trajectory's length, each as likely.
/// Trajectories begin where episodes do, and with the rollout.
/// windows: [num_windows] to write.
/// Errors: E_NOT_READY unless finished; E_RANGE for 0 timesteps, or an end_chance outside [0, 1]. Nothing is written or
/// drawn then.
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

/// One of the steps that are held, each as likely, from the block's own stream: for a look at what is there.
/// Errors: E_NOT_READY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_sample(
    b: *mut rlcore_rollout_buffer,
    out_step: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let mut buffer = open(b, RolloutBuffer::open)?;
        let out = buffer.extent.reading(One::at("out_step", out_step)?)?;
        *out = buffer.sample()?;
        Ok(())
    })
}

/// Hands `index` out and the caller's room for a minibatch: `rows` rows of `window_len` samples, numbers for `each` samples of
/// a row; apart from one another and the block.
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

/// Copies num_rows windows of window_len samples after one another: with window_len 1, samples.
/// index: [num_rows] the first sample of each window, such as those of a minibatch of rlcore_rollout_buffer_draw.
/// Threads: any number may gather at once, as long as nobody changes the block.
/// Errors: E_CONFIG; E_SHAPE for a timestep that is not NULL; E_NOT_READY unless finished, or for a log_prob that a
/// step left out; E_RANGE for a sample that is not there, or a window that leaves its environment.
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

/// Copies windows of trajectories, padded on the left to `timesteps` rows: columns of kind RLCORE_I32 with pad_token,
/// which should be no action, others with zeros. Advantages are those of the whole rollout.
/// windows: [num_windows], such as those of rlcore_rollout_buffer_draw_windows with the same timesteps.
/// Threads: any number may gather at once, as long as nobody changes the block.
/// Errors: E_CONFIG; E_NOT_READY as above; E_RANGE for a window that is not inside one trajectory, or whose len and pad
/// together are not timesteps.
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

/// Logs a number of the caller's own, of all environments, under the global_step so far. Of several of one metric in
/// one step the last one counts.
/// Errors: E_RANGE for a metric below RLCORE_METRIC_OWN, and after 2^63 of them; E_VALUE for a value that is not
/// finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_buffer_log(
    b: *mut rlcore_rollout_buffer,
    metric: u32,
    value: f64,
) -> rlcore_status {
    call(|| unsafe { Ok(open(b, RolloutBuffer::open)?.log(metric, value)?) })
}

/// Copies rows of metrics out, the oldest first. A reader keeps `next`, 0 at first, and loses nothing if it reads at
/// least once in log_capacity rows; there may be several.
/// next:      [1] number of the row to begin with; becomes that of the first one not read.
/// rows:      [len] to write.
/// out_count: [1] rows written; out_lost: [1] rows that were overwritten before they were read, NULL to ignore.
/// Errors: E_RANGE for a next that is larger than the rows written.
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

/// Writes three lines, `global_step=`, `avg_episode_length=` and `avg_episode_return=`, with zeros before numbers of
/// fewer than six characters and means to two places; nothing if no episode has ended since the last reset.
/// text:    [text_size] to write, without NUL. NULL with 0: nothing is written.
/// out_len: [1] bytes written, or needed.
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

/// Writes `Sample i/T:` and a line for each array of a step: its name in ten columns, a colon, and the numbers of all
/// environments.
/// text, out_len: [text_size] and [1], as rlcore_rollout_buffer_format_progress has them.
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
