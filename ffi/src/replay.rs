//! Replay memory whose samples follow priorities.

use core::ffi::c_void;

use crate::lazy_frames::{layout, rlcore_frame_index};
use crate::lifecycle::{self, Block, Place, open, view};
use crate::mirror::versioned;
use crate::ptr::{self, Input, One, OutSized, Output};
use crate::rng::{self, rlcore_rng};
use crate::status::{About, Result, call, rlcore_status};
use crate::table::{self, ColumnStorage, Rows, Tails, rlcore_column};
use rlcore::block::Kind as BlockKind;
use rlcore::data::replay::{Added, Draw, Normalize, Replay, ReplayConfig, Step, Transitions, View, linear};
use rlcore::data::table::{FrameIndex, MAX_COLUMNS};
use rlcore::error::{Error, Kind};
use rlcore::rng::Rng;
use rlcore::space::Elements;

/// Transitions of N environments, drawn in proportion to their priorities. A row is one step of one environment. Rows of an
/// environment are numbered from 0; numbers are never reused. A full memory drops the oldest row. Row t becomes a
/// transition when row t + num_steps is added or its episode ends. The last observation of an episode takes a row of its
/// own: an episode of L steps takes L + 1 rows.
/// Example:
///   rlcore_replay_config_init(&config, sizeof config);
///   config.num_envs = N, config.columns = columns, config.num_columns = 2;
///   rlcore_replay_size(&config, &size);
///   rlcore_replay_init(mem, size, &config, &r);
///   rlcore_replay_add_all(r, values, reward, terminated, truncated, final_values);
///   rlcore_replay_sample(r, &rng, &draw, num_rows, index, weight, NULL);
///   rlcore_replay_gather(r, index, num_rows, column, RLCORE_LAYOUT_HWC, RLCORE_F32, obs);
///   rlcore_replay_update(r, index, priority, num_rows, NULL);
pub struct rlcore_replay;

/// Divisor of the importance weights.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_replay_normalize {
    /// the largest weight in the memory
    RLCORE_REPLAY_NORMALIZE_MEMORY = 0,
    /// the largest weight of the batch
    RLCORE_REPLAY_NORMALIZE_BATCH = 1,
    /// none: (num_transitions * probability)^-beta
    RLCORE_REPLAY_NORMALIZE_NONE = 2,
}

/// Configuration of a replay memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_replay_config {
    /// bytes; set by rlcore_replay_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// rows kept per environment, at least num_steps + any num_stack; default 100000
    pub num_rows: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// [num_columns] data of a row; copied
    pub columns: *const rlcore_column,
    /// bit c: column c is an observation and has a next value; default 1: column 0
    pub observations: u32,
    /// steps per transition, 1 to 255; default 1
    pub num_steps: u32,
    /// discount per step, 0 to 1; default 0.99
    pub discount: f32,
    /// weights are (|priority| + epsilon)^alpha, alpha 0 to 1; default 0.6
    pub alpha: f32,
    /// a normal number above 0, at most 1e30; default 1e-6
    pub epsilon: f32,
    /// zero
    pub reserved: u32,
}

/// One step of one environment, without the values of its columns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_replay_step {
    /// sizeof(rlcore_replay_step)
    pub struct_size: u32,
    /// index of the environment
    pub env: u32,
    /// finite
    pub reward: f32,
    /// 1 if the step ended the episode this way, else 0; as the next
    pub terminated: u32,
    /// see terminated
    pub truncated: u32,
}

/// Parameters of a draw.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_replay_draw {
    /// sizeof(rlcore_replay_draw)
    pub struct_size: u32,
    /// exponent of the importance weights, at least 0; usually rising from 0.4 to 1
    pub beta: f32,
    /// an rlcore_replay_normalize
    pub normalize: u32,
    /// 0: stratified, one of each of num_rows equal parts of the total weight; 1: independent
    pub independent: u32,
}

versioned!(rlcore_replay_step, "replay step", truncated);
versioned!(rlcore_replay_draw, "replay draw", independent);

/// Statistics of a replay memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_replay_stats {
    /// sizeof(rlcore_replay_stats)
    pub struct_size: u32,
    /// exponent of weights assigned from now on
    pub alpha: f32,
    /// transitions that can be drawn
    pub num_transitions: u64,
    /// sum of their weights
    pub total: f64,
    /// smallest weight; infinite if there is none
    pub min_weight: f32,
    /// largest |priority| + epsilon so far, initially 1; given to new transitions
    pub max_priority: f32,
}

versioned!(rlcore_replay_config, "replay config", reserved, {
    let ReplayConfig { num_steps, observations, discount, alpha, epsilon, reserved, table } =
        ReplayConfig::new(1, 100_000, &[]);
    rlcore_replay_config {
        num_envs: table.num_rings,
        num_rows: table.num_rows,
        observations,
        num_steps,
        discount,
        alpha,
        epsilon,
        reserved,
        ..ptr::zeros()
    }
});

versioned!(rlcore_replay_stats, "replay stats", max_priority);

unsafe fn config(p: *const rlcore_replay_config) -> Result<ReplayConfig> {
    let given = unsafe { ptr::sized(p)? };
    ptr::reserved("replay config: reserved", given.reserved)?;
    let table = unsafe { table::config(given.columns, given.num_columns, given.num_envs, given.num_rows)? };
    let rlcore_replay_config { num_steps, observations, discount, alpha, epsilon, reserved, .. } = given;
    Ok(ReplayConfig { num_steps, observations, discount, alpha, epsilon, reserved, table })
}

impl Block for rlcore_replay {
    const WHAT: &'static str = "replay";
    const KIND: BlockKind = BlockKind::Replay;
}

/// Row `i` of the last observations of episodes; columns that are not observations are as in the step.
fn tail<'a>(config: &ReplayConfig, rows: &Rows<'a>, tails: &Tails<'a>, i: usize) -> [Elements<'a>; MAX_COLUMNS] {
    let mut row = rows.padded(i);
    for ((to, tail), column) in row.iter_mut().zip(tails).zip(config.table.columns()) {
        if let Some(tail) = tail {
            let begin = i.saturating_mul(column.len as usize);
            *to = tail.get(begin, begin.saturating_add(column.len as usize)).unwrap_or(*to);
        }
    }
    row
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_config_init(
    config: *mut rlcore_replay_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_size(
    config: *const rlcore_replay_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Replay::size(&self::config(config)?)?)) })
}

/// Creates an empty memory in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_replay_config,
    out: *mut *mut rlcore_replay,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), Replay::init) })
}

/// Opens a saved or copied replay memory in mem, with its transitions, priorities and stored random stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_replay,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Replay::attach) })
}

/// Opens a replay memory that another process writes: see Sharing. A draw uses the weights as they change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_replay,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Appends one step of one environment.
/// values:       [num_columns] pointers to [len] elements each, copied: the observation before the action, and so on.
/// final_values: [num_columns] pointers; for observation columns to [len] elements, the last observation of the episode;
///               the others are ignored. NULL: the episode continues.
/// out_number:   number of the row; may be NULL.
/// Errors: E_CONFIG; E_RANGE; E_VALUE; E_SHAPE if the episode ended and final_values is missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_add(
    r: *mut rlcore_replay,
    step: *const rlcore_replay_step,
    values: *const *const c_void,
    final_values: *const *const c_void,
    out_number: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let rlcore_replay_step { env, reward, terminated, truncated, .. } = ptr::sized(step)?;
        let mut replay = open(r, Replay::open)?;
        let config = replay.config();
        let columns = config.table.columns();
        let values = table::values(columns, values, 1)?;
        let tails = table::final_values(columns, final_values, 1, |i| config.is_observation(i))?;
        let out = One::optional("out_number", out_number)?;
        let (rows, tails, out) = replay.extent.writing((values, tails, out))?;
        let (terminated, truncated) = (ptr::flag("terminated", terminated)?, ptr::flag("truncated", truncated)?);
        let mut room = ColumnStorage::empty();
        let row = rows.row(0, &mut room);
        let end = tails.map(|tails| tail(config, &rows, &tails, 0));
        let end = end.as_ref().and_then(|end| end.get(..columns.len()));
        let step = Step { reward, terminated, truncated };
        let number = replay.add(env as usize, row, &step, end)?;
        ptr::tell(out, number);
        Ok(())
    })
}

/// Appends one step of every environment, as rlcore_replay_add with the arrays of all N.
/// values:       [num_columns] pointers to [N, len] elements.
/// reward, terminated, truncated: [N].
/// final_values: [num_columns] pointers; for observation columns to [N, len] elements, read where an episode ended; NULL:
///               none did.
/// Errors: as rlcore_replay_add, for any environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_add_all(
    r: *mut rlcore_replay,
    values: *const *const c_void,
    reward: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    final_values: *const *const c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut replay = open(r, Replay::open)?;
        let config = replay.config();
        let (columns, n) = (config.table.columns(), config.table.num_rings as usize);
        let values = table::values(columns, values, n)?;
        let reward = Input::at("reward", reward, n)?;
        let flags = [Input::at("terminated", terminated, n)?, Input::at("truncated", truncated, n)?];
        let tails = table::final_values(columns, final_values, n, |i| config.is_observation(i))?;
        let (rows, reward, [terminated, truncated], tails) = replay.extent.writing((values, reward, flags, tails))?;
        let set = |flags: &[u8], env: usize| flags.get(env).is_some_and(|&flag| flag != 0);
        Ok(replay.add_all(|env| Added {
            row: rows.padded(env),
            step: Step {
                reward: reward.get(env).copied().unwrap_or(0.0),
                terminated: set(terminated, env),
                truncated: set(truncated, env),
            },
            tail: tails.as_ref().map(|tails| tail(config, &rows, tails, env)),
        })?)
    })
}

/// Ends the episodes of environments that the caller has reset before the outcome of their last step was known, so that no
/// transition leads across the reset. The last step of each is dropped: its observation becomes the last one of the episode.
/// The step before it is truncated, and transitions of num_steps steps end there. Does nothing where an episode has ended.
/// gone: [N] flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_cut(r: *mut rlcore_replay, gone: *const u8) -> rlcore_status {
    call(|| unsafe {
        let mut replay = open(r, Replay::open)?;
        let n = replay.config().table.num_rings as usize;
        let gone = replay.extent.writing(Input::at("gone", gone, n)?)?;
        Ok(replay.cut_rows(gone)?)
    })
}

/// Returns the statistics. out: struct_size must be set.
/// Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_get_stats(
    r: *const rlcore_replay,
    out: *mut rlcore_replay_stats,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(r, View::open)?;
        let out = view.extent.reading(OutSized::at(out)?)?;
        let (state, tree) = (view.state(), view.tree());
        out.store(rlcore_replay_stats {
            alpha: state.alpha,
            num_transitions: state.num_transitions,
            total: tree.total(),
            min_weight: tree.min(),
            max_priority: state.max_priority,
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Changes the exponent of weights assigned from now on; existing weights stay.
/// Errors: E_RANGE if it is not from 0 to 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_set_alpha(r: *mut rlcore_replay, alpha: f32) -> rlcore_status {
    call(|| unsafe { Ok(open(r, Replay::open)?.set_alpha(alpha)?) })
}

/// Linear schedule for alpha or beta: `initial` at progress 0, `end` at progress 1.
/// out: [1] to write.
/// Errors: E_RANGE for a progress outside [0, 1]; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_linear(initial: f32, end: f32, progress: f32, out: *mut f32) -> rlcore_status {
    call(|| unsafe { ptr::put("out", out, || Ok(linear(initial, end, progress)?)) })
}

/// Draws num_rows transitions in proportion to their weights.
/// index:       [num_rows] to write, the first rows of the transitions.
/// weight:      [num_rows] to write, importance weights (num_transitions * probability)^-beta, normalized.
/// probability: [num_rows] to write, the probability of each; may be NULL.
/// Threads: any number, each with its own rng.
/// Errors: E_CONFIG; E_RANGE; E_VALUE; E_NOT_READY if there is no transition to draw; E_BUSY only for a reader, if the
/// writer
/// overwrites rows faster than they are drawn or was stopped in the only row that can be drawn: some rows may be
///                                                                                              written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_sample(
    r: *const rlcore_replay,
    rng: *mut rlcore_rng,
    draw: *const rlcore_replay_draw,
    num_rows: u32,
    index: *mut rlcore_frame_index,
    weight: *mut f32,
    probability: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let rlcore_replay_draw { beta, normalize, independent, .. } = ptr::sized(draw)?;
        let view = view(r, View::open)?;
        let rows = num_rows as usize;
        let rng = rng::stream(rng)?.only();
        let index = Output::at("index", index.cast::<FrameIndex>(), rows)?;
        let weight = Output::at("weight", weight, rows)?;
        let probability = Output::optional("probability", probability, rows)?;
        let (rng, index, weight, probability) = view.extent.reading((rng, index, weight, probability))?;
        let unknown = Error::new(Kind::Range, "0 (memory), 1 (batch) or 2 (none)").given(normalize as usize);
        let normalize = Normalize::from_number(normalize).ok_or(unknown).about("normalize")?;
        let draw = Draw { beta, normalize, independent: ptr::flag("independent", independent)? };
        Ok(view.sample(&draw, rng, index, weight, probability)?)
    })
}

/// Sets the priorities of transitions, usually absolute temporal-difference errors. If an index occurs twice, the later one
/// counts. Transitions that were dropped since they were drawn are skipped.
/// index:         [num_rows] from rlcore_replay_sample.
/// priority:      [num_rows] finite, at least 0.
/// out_forgotten: number of transitions skipped; may be NULL.
/// Errors: E_VALUE; E_RANGE for a negative priority or a row that never was a transition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_update(
    r: *mut rlcore_replay,
    index: *const rlcore_frame_index,
    priority: *const f32,
    num_rows: u32,
    out_forgotten: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let mut replay = open(r, Replay::open)?;
        let rows = num_rows as usize;
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let priority = Input::at("priority", priority, rows)?;
        let out = One::optional("out_forgotten", out_forgotten)?;
        let (index, priority, out) = replay.extent.writing((index, priority, out))?;
        let forgotten = replay.update(index, priority)?;
        ptr::tell(out, forgotten);
        Ok(())
    })
}

/// Writes rewards, discounts and flags of transitions; NULL skips an array.
/// index:    [num_rows] from rlcore_replay_sample.
/// reward:   [num_rows] sum of discount^i * reward over the steps of the transition.
/// discount: [num_rows] discount^steps, the factor of the next observation's value; 0 where the last step terminated.
/// terminated, truncated: [num_rows] 1 if the last step ended the episode this way.
/// Errors: E_RANGE for a transition that was dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_transitions(
    r: *const rlcore_replay,
    index: *const rlcore_frame_index,
    num_rows: u32,
    reward: *mut f32,
    discount: *mut f32,
    terminated: *mut u8,
    truncated: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(r, View::open)?;
        let rows = num_rows as usize;
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let numbers = [Output::optional("reward", reward, rows)?, Output::optional("discount", discount, rows)?];
        let flags =
            [Output::optional("terminated", terminated, rows)?, Output::optional("truncated", truncated, rows)?];
        let (index, [reward, discount], [terminated, truncated]) = view.extent.reading((index, numbers, flags))?;
        Ok(view.transitions(index, Transitions { reward, discount, terminated, truncated })?)
    })
}

/// Writes a column of the first rows of num_rows transitions.
/// index:  [num_rows] from rlcore_replay_sample.
/// column: index of the column.
/// layout: an rlcore_layout, for stacks and channels.
/// kind:   the column's; or RLCORE_F32 for bytes: byte / 255.
/// out:    [num_rows, row_len] of that kind, to write; row_len is the column's len, or that of a whole stack.
/// Errors: E_RANGE for column, layout, kind, or a transition that was dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_gather(
    r: *const rlcore_replay,
    index: *const rlcore_frame_index,
    num_rows: u32,
    column: u32,
    layout: u32,
    kind: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(r, View::open)?;
        let (layout, rows) = (self::layout(layout)?, num_rows as usize);
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let out = table::room("out", view.table().config, column, kind, rows, out)?;
        let (index, out) = view.extent.reading((index, out))?;
        Ok(view.gather(column as usize, index, layout, out)?)
    })
}

/// Writes an observation column of the rows that num_rows transitions lead to; otherwise as rlcore_replay_gather.
/// Errors: as rlcore_replay_gather; E_RANGE for a column that is not an observation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_gather_next(
    r: *const rlcore_replay,
    index: *const rlcore_frame_index,
    num_rows: u32,
    column: u32,
    layout: u32,
    kind: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(r, View::open)?;
        let (layout, rows) = (self::layout(layout)?, num_rows as usize);
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let out = table::room("out", view.table().config, column, kind, rows, out)?;
        let (index, out) = view.extent.reading((index, out))?;
        Ok(view.gather_next(column as usize, index, layout, out)?)
    })
}

/// Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_store_rng(r: *mut rlcore_replay, rng: *const rlcore_rng) -> rlcore_status {
    call(|| unsafe {
        let mut replay = open(r, Replay::open)?;
        let rng = replay.extent.writing(rng::stream(rng.cast_mut())?.only())?;
        Ok(replay.store_rng(rng)?)
    })
}

/// Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_replay_load_rng(r: *const rlcore_replay, rng: *mut rlcore_rng) -> rlcore_status {
    call(|| unsafe { view(r, View::open)?.tell("rng", rng.cast::<Rng>(), |view| view.rng()) })
}
