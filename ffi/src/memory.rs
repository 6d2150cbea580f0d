//! Replay memory: the last frames, drawn as sequences within one episode and balanced by reward.

use core::ffi::c_void;

use crate::lazy_frames::layout;
use crate::lifecycle::{self, Block, Place, open, view};
use crate::mirror::{alike, versioned};
use crate::ptr::{self, Args, BoundingRange, Extent, Input, One, Output, Plain, Versioned};
use crate::rng::{self, rlcore_rng};
use crate::status::{About, Result, call, rlcore_status};
use crate::table::{self, ColumnStorage, Rows, rlcore_column};
use rlcore::block::{Kind as BlockKind, Span};
use rlcore::data::memory::{Added, Draw, Frame, FramesOut, Front, Index, Memory, MemoryConfig, Rule, Sample, View};
use rlcore::data::table::Table;
use rlcore::error::{Error, Kind};
use rlcore::rng::Rng;

/// The last frames of a stream of episodes. Frames are numbered from 0; numbers are never reused. A full memory drops its
/// oldest frame. Each frame with max_sample_size - 1 predecessors (plus those that the oldest stack needs) is in one of two
/// pools: priority frames, with |reward| > reward_threshold or NaN, and ordinary frames.
/// Example:
///   rlcore_memory_config_init(&config, sizeof config);
///   config.columns = columns, config.num_columns = 2;
///   rlcore_memory_size(&config, &size);
///   rlcore_memory_init(mem, size, &config, &m);
///   rlcore_memory_add(m, &frame, values, NULL, NULL);
///   rlcore_memory_sample_priority(m, &rng, NULL, samples, num_samples);
///   rlcore_memory_gather(m, &sequences, column, RLCORE_LAYOUT_HWC, RLCORE_F32, out);
pub struct rlcore_memory;

/// Configuration of a memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_memory_config {
    /// bytes; set by rlcore_memory_config_init
    pub struct_size: u32,
    /// frames kept, at least max_sample_size + num_stack - 1 of any column; default 2000
    pub history_size: u32,
    /// maximum length of a priority draw, in frames, at least 1; default 20
    pub max_sample_size: u32,
    /// default length of a priority draw; 0 (default): max_sample_size
    pub priority_sample_size: u32,
    /// |reward| above this makes a frame a priority frame; finite, at least 0; default 0.1
    pub reward_threshold: f32,
    /// 1 (default): enables priority draws, at 8 bytes per frame; 0: they return E_DISABLED
    pub use_priority: u32,
    /// 1 to 16
    pub num_columns: u32,
    /// zero
    pub reserved: u32,
    /// [num_columns] data of a frame besides reward and flags; copied
    pub columns: *const rlcore_column,
}

/// One step of an episode, without the values of its columns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_frame {
    /// episode number; any that differs from the previous episode's
    pub episode: u64,
    /// step number within the episode; the next frame has step + 1
    pub step: u32,
    /// of the step
    pub reward: f32,
    /// nonzero: the task ended
    pub terminated: u8,
    /// nonzero: the episode was cut
    pub truncated: u8,
    /// zero
    pub reserved: [u8; 6],
}

/// Rule by which sequences are drawn.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_draw_rule {
    /// contiguous sequences within one episode; every frame can be drawn
    RLCORE_DRAW_FIXED = 0,
    /// as the reference implementation (btgym): may have a gap or span episodes
    RLCORE_DRAW_ORIGINAL = 1,
}

/// Parameters of a draw. Zero selects the default of every field but struct_size.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_draw {
    /// sizeof(rlcore_draw)
    pub struct_size: u32,
    /// frames without burn-in; 0: priority_sample_size, or max_sample_size for uniform draws
    pub size: u32,
    /// preceding frames of the same episode to include, fewer near its beginning
    pub burn_in: u32,
    /// 1: draw again if the sequence is shorter than size
    pub exact_size: u32,
    /// on average one in `skewness` draws ends on a priority frame; 0: 2
    pub skewness: u32,
    /// maximum number of attempts with exact_size; 0: 100
    pub attempts: u32,
    /// an rlcore_draw_rule
    pub rule: u32,
}

/// A drawn sequence: frames first to first + len - 1, if there is no gap.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_sample {
    /// number of the first frame
    pub first: u64,
    /// frames, including the burn-in
    pub len: u32,
    /// how many of them, at the front, are burn-in
    pub burn_in: u32,
    /// frames skipped before the last one; nonzero only with RLCORE_DRAW_ORIGINAL
    pub gap: u32,
    /// 1 if it was drawn to end on a priority frame
    pub priority: u32,
}

/// Drawn sequences to copy, each into as many rows. The samples are not owned and only read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_sequences {
    /// sizeof(rlcore_sequences)
    pub struct_size: u32,
    /// number of sequences
    pub num_samples: u32,
    /// rows of each in the arrays that are written, at least the longest sequence
    pub len: u32,
    /// zero
    pub reserved: u32,
    /// [num_samples]
    pub samples: *const rlcore_sample,
}

versioned!(rlcore_sequences, "sequences", samples);

/// The sequences, rows per sequence, and rows in all. Errors: `Null`, `Align`, `Config`, `Overflow`.
unsafe fn sequences<'a>(p: *const rlcore_sequences) -> Result<(Input<'a, Sample>, usize, usize)> {
    let given = unsafe { ptr::sized(p)? };
    ptr::reserved("sequences: reserved", given.reserved)?;
    let (count, len) = (given.num_samples as usize, given.len as usize);
    let samples = unsafe { Input::at("samples", given.samples.cast::<Sample>(), count)? };
    Ok((samples, len, ptr::grid("samples", count, len)?))
}

versioned!(rlcore_memory_config, "memory config", columns, {
    let MemoryConfig { max_sample_size, priority_sample_size, reward_threshold, use_priority, table } =
        MemoryConfig::new(2000, &[]);
    rlcore_memory_config {
        history_size: table.num_rows,
        max_sample_size,
        priority_sample_size,
        reward_threshold,
        use_priority,
        ..ptr::zeros()
    }
});

versioned!(rlcore_draw, "draw", rule);

// SAFETY: plain data.
unsafe impl Plain for rlcore_frame {}

alike!(rlcore_sample, Sample { first, len, burn_in, gap, priority });

unsafe fn config(p: *const rlcore_memory_config) -> Result<MemoryConfig> {
    let given = unsafe { ptr::sized(p)? };
    ptr::reserved("memory config: reserved", given.reserved)?;
    let table = unsafe { table::config(given.columns, given.num_columns, 1, given.history_size)? };
    let rlcore_memory_config { max_sample_size, priority_sample_size, reward_threshold, use_priority, .. } = given;
    Ok(MemoryConfig { max_sample_size, priority_sample_size, reward_threshold, use_priority, table })
}

unsafe fn draw(p: *const rlcore_draw) -> Result<Draw> {
    let rlcore_draw { struct_size: _, size, burn_in, exact_size, skewness, attempts, rule } = match p.is_null() {
        true => Versioned::defaults(),
        false => unsafe { ptr::sized(p)? },
    };
    let unknown = Error::new(Kind::Range, "0 (fixed) or 1 (original)").given(rule as usize);
    let usual = Draw::default();
    Ok(Draw {
        size,
        burn_in,
        exact_size: ptr::flag("draw: exact_size", exact_size)?,
        skewness: if skewness == 0 { usual.skewness } else { skewness },
        attempts: if attempts == 0 { usual.attempts } else { attempts },
        rule: Rule::from_number(rule).ok_or(unknown).about("draw: rule")?,
    })
}

fn frame(given: &rlcore_frame) -> Result<Frame> {
    let &rlcore_frame { episode, step, reward, terminated, truncated, reserved } = given;
    Error::new(Kind::Range, "zeros").fail_if(reserved != [0; 6]).about("frame: reserved")?;
    Ok(Frame { episode, step, reward, terminated: terminated != 0, truncated: truncated != 0 })
}

impl Block for rlcore_memory {
    const WHAT: &'static str = "memory";
    const KIND: BlockKind = BlockKind::Memory;
}

/// Runs `work` on the memory in the block at `base`, opened field by field: [`open`] takes twice the instructions of adding a
/// frame.
///
/// # Safety
/// As [`open`]; the front was read from this block.
#[inline(always)]
unsafe fn change<'a, T>(
    base: *mut u8,
    Front { config, spans, .. }: Front<'a>,
    work: impl FnOnce(&mut Memory<'a>) -> Result<T>,
) -> Result<T> {
    unsafe fn all<'a, T>(base: *mut u8, span: Span<T>) -> &'a mut [T] {
        unsafe { ptr::field_mut(base, span, 0, span.len()) }
    }
    let (s, table) = (&spans.index, &spans.table);
    let empty = || Error::new(Kind::Size, "memory: its state");
    unsafe {
        let index = Index {
            config,
            margin: spans.margin as u32,
            state: all(base, s.state).first_mut().ok_or_else(empty)?,
            reward: all(base, s.reward),
            terminated: all(base, s.terminated),
            truncated: all(base, s.truncated),
            reach: all(base, s.reach),
            pools: all(base, s.pools),
        };
        let config = &config.table;
        let mut memory = Memory {
            index,
            table: Table {
                config,
                first: 0,
                pushed: all(base, table.pushed),
                writing: all(base, table.writing),
                age: all(base, table.age),
                columns: Default::default(),
            },
        };
        // Filled in place: an array of all columns is long.
        for ((to, &span), _) in memory.table.columns.iter_mut().zip(&spans.table.columns).zip(config.columns()) {
            *to = all(base, span);
        }
        work(&mut memory)
    }
}

/// Adds the `count` frames at `given` and stores the results. `add` gets a memory, frames and the rows of their columns.
#[inline(always)]
unsafe fn add(
    m: *mut rlcore_memory,
    (what, given, count): (&'static str, *const rlcore_frame, usize),
    values: *const *const c_void,
    (out_number, out_cuts): (*mut u64, *mut u32),
    add: impl FnOnce(&mut Memory<'_>, &[rlcore_frame], Rows<'_>) -> Result<Added>,
) -> Result {
    unsafe {
        let base: *mut u8 = m.cast();
        let front = Front::of(Input::at("memory", base.cast_const(), Front::END)?.slice())?;
        let given = Input::at(what, given, count)?;
        let values = table::values(front.config.table.columns(), values, count)?;
        let out = (One::optional("out_number", out_number)?, One::optional("out_cuts", out_cuts)?);
        let block = Extent::of("memory", base, front.size);
        // Most calls have no outputs, and all their inputs lie below or above the block.
        let apart = matches!(out, (None, None)) && {
            let range = BoundingRange::of(block);
            range.clears(given.extent(), &[block]) && values.are_clear_of(&range)
        };
        let (given, rows, (number, cuts)) = match apart {
            true => (given, values, out).slices(),
            false => block.writing((given, values, out))?,
        };
        let added = change(base, front, |memory| add(memory, given, rows))?;
        ptr::tell(number, added.number);
        ptr::tell(cuts, added.cuts);
        Ok(())
    }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_config_init(
    config: *mut rlcore_memory_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_size(
    config: *const rlcore_memory_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Memory::size(&self::config(config)?)?)) })
}

/// Creates an empty memory in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_memory_config,
    out: *mut *mut rlcore_memory,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), Memory::init) })
}

/// Opens a saved or copied memory in mem, with its frames, pools and stored random stream. mem is only read; no other
/// process may write to it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_memory,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], Memory::attach) })
}

/// Opens a memory that another process writes: see Sharing. Drawn frames may be dropped before they are gathered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_memory,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, View::attach) }
}

/// Appends a frame. It continues the last frame if it has the same episode, the next step, and that frame did not end the
/// episode. If it starts another episode before the last one has ended, the last frame is marked truncated.
/// values:     [num_columns] pointers to [len] elements each, copied; for stacks, the newest frame.
/// out_number: its number; may be NULL.
/// out_cuts:   1 if the last frame was marked truncated, else 0; may be NULL.
/// Errors: E_RANGE for a frame of an episode that has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_add(
    m: *mut rlcore_memory,
    frame: *const rlcore_frame,
    values: *const *const c_void,
    out_number: *mut u64,
    out_cuts: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        add(m, ("frame", frame, 1), values, (out_number, out_cuts), |memory, given, rows| {
            let frame = given.first().map_or(Ok(Frame::default()), self::frame)?;
            Ok(memory.add_cut(&frame, rows.row(0, &mut ColumnStorage::empty()))?)
        })
    })
}

/// Appends num_frames frames, as rlcore_memory_add. Each must follow the one before it.
/// frames:     [num_frames]
/// values:     [num_columns] pointers to [num_frames, len] elements each.
/// out_number: number of the first; may be NULL.
/// out_cuts:   number of frames marked truncated; may be NULL.
/// Errors: as rlcore_memory_add; E_RANGE if num_frames is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_add_rollout(
    m: *mut rlcore_memory,
    frames: *const rlcore_frame,
    num_frames: u32,
    values: *const *const c_void,
    out_number: *mut u64,
    out_cuts: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        add(m, ("frames", frames, num_frames as usize), values, (out_number, out_cuts), |memory, given, rows| {
            given.iter().try_for_each(|given| frame(given).map(drop))?;
            let frames = given.iter().map(|given| frame(given).unwrap_or_default());
            Ok(memory.add_rollout(frames, rows.all(&mut ColumnStorage::empty()))?)
        })
    })
}

/// Numbers of the frames held: [*out_begin, *out_end). The memory is full when it holds history_size frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_held(
    m: *const rlcore_memory,
    out_begin: *mut u64,
    out_end: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let (begin, end) = view.extent.reading((One::at("out_begin", out_begin)?, One::at("out_end", out_end)?))?;
        let held = view.held();
        (*begin, *end) = (held.start, held.end);
        Ok(())
    })
}

/// Number of frames in each pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_pool_len(
    m: *const rlcore_memory,
    out_ordinary: *mut u32,
    out_priority: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let out = (One::at("out_ordinary", out_ordinary)?, One::at("out_priority", out_priority)?);
        let (ordinary, priority) = view.extent.reading(out)?;
        (*ordinary, *priority) = (view.pool_len(false), view.pool_len(true));
        Ok(())
    })
}

/// Frame number of entry i of a pool, oldest first. priority: 1 for priority frames, 0 for ordinary ones.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_pool_number(
    m: *const rlcore_memory,
    priority: u32,
    i: u32,
    out_number: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let out = view.extent.reading(One::at("out_number", out_number)?)?;
        *out = view.pool_number(ptr::flag("priority", priority)?, i)?;
        Ok(())
    })
}

/// Draws num_samples sequences. The first frame is uniform among those followed by at least size - 1 frames. A sequence
/// stops at the end of its episode. size is limited to the number of frames held. In a full memory, frames whose stacks
/// would need dropped frames are not drawn: at most num_stack - 1 of them.
/// RLCORE_DRAW_ORIGINAL requires a full memory and a history_size of at least size + 2. It ignores stacks: it may draw
/// sequences that rlcore_memory_gather then refuses with E_RANGE.
/// draw:    NULL: the defaults.
/// samples: [num_samples] to write.
/// Threads: any number, each with its own rng. Random numbers: one index per draw.
/// Errors: E_CONFIG; E_RANGE for a field of draw; E_NOT_READY if no frame is held, or with RLCORE_DRAW_ORIGINAL fewer than
/// history_size. E_INEXACT with exact_size if a sequence is still shorter than size after the last attempt: all samples
/// are written; compare len - burn_in with size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_sample_uniform(
    m: *const rlcore_memory,
    rng: *mut rlcore_rng,
    draw: *const rlcore_draw,
    samples: *mut rlcore_sample,
    num_samples: u32,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let (draw, rng) = (self::draw(draw)?, rng::stream(rng)?.only());
        let samples = Output::at("samples", samples.cast::<Sample>(), num_samples as usize)?;
        let (rng, samples) = view.extent.reading((rng, samples))?;
        Ok(view.sample_uniform(&draw, rng, samples)?)
    })
}

/// Draws num_samples sequences. The last frame is a priority frame with probability 1 / skewness, otherwise an ordinary
/// one, and uniform in its pool; if one pool is empty, the other is used. A sequence stays within its episode: near the
/// beginning it is shorter, or with exact_size drawn again from the same pool.
/// draw:    NULL: the defaults.
/// samples: [num_samples] to write.
/// Threads: any number, each with its own rng. Random numbers: a coin, then one index per attempt.
/// Errors: as rlcore_memory_sample_uniform; E_DISABLED without use_priority; E_EMPTY if both pools are empty; E_RANGE for a
/// size above max_sample_size, which RLCORE_DRAW_ORIGINAL limits instead. E_BUSY only for a reader, if the writer
/// overwrites frames faster than they are drawn or was stopped in the only frame that can be drawn: some samples may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_sample_priority(
    m: *const rlcore_memory,
    rng: *mut rlcore_rng,
    draw: *const rlcore_draw,
    samples: *mut rlcore_sample,
    num_samples: u32,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let (draw, rng) = (self::draw(draw)?, rng::stream(rng)?.only());
        let samples = Output::at("samples", samples.cast::<Sample>(), num_samples as usize)?;
        let (rng, samples) = view.extent.reading((rng, samples))?;
        Ok(view.sample_priority(&draw, rng, samples)?)
    })
}

/// Copies one column of sequences. Shorter sequences are padded with zeros at the end.
/// column:  index of the column in the configuration.
/// layout:  an rlcore_layout, for stacks.
/// kind:    the column's; or RLCORE_F32 for bytes, scaled to [0, 1].
/// out:     [num_samples, len, row_len] to write; row_len is the number of elements of the column, or of a whole stack.
/// Errors: E_CONFIG; E_RANGE for a column, layout, kind or sample, or a frame that is not held or was dropped since the
/// draw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_gather(
    m: *const rlcore_memory,
    sequences: *const rlcore_sequences,
    column: u32,
    layout: u32,
    kind: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let layout = self::layout(layout)?;
        let (given, len, rows) = self::sequences(sequences)?;
        let out = table::room("out", &view.config.table, column, kind, rows, out)?;
        let (given, out) = view.extent.reading((given, out))?;
        Ok(view.gather(column as usize, given, len, layout, out)?)
    })
}

/// Copies rewards and flags of sequences, padded with zeros at the end.
/// reward, terminated, truncated: [num_samples, len] to write; may be NULL.
/// valid: [num_samples, len] to write, 1 where there is a frame; may be NULL.
/// Errors: as rlcore_memory_gather.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_gather_frames(
    m: *const rlcore_memory,
    sequences: *const rlcore_sequences,
    reward: *mut f32,
    terminated: *mut u8,
    truncated: *mut u8,
    valid: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(m, View::open)?;
        let (given, len, cells) = self::sequences(sequences)?;
        let reward = Output::optional("reward", reward, cells)?;
        let flags = [
            Output::optional("terminated", terminated, cells)?,
            Output::optional("truncated", truncated, cells)?,
            Output::optional("valid", valid, cells)?,
        ];
        let (given, reward, [terminated, truncated, valid]) = view.extent.reading((given, reward, flags))?;
        let out = FramesOut { reward, terminated, truncated, valid };
        Ok(view.gather_frames(given, len, out)?)
    })
}

/// Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_store_rng(m: *mut rlcore_memory, rng: *const rlcore_rng) -> rlcore_status {
    call(|| unsafe {
        let mut memory = open(m, Memory::open)?;
        let rng = memory.extent.writing(rng::stream(rng.cast_mut())?.only())?;
        memory.store_rng(rng);
        Ok(())
    })
}

/// Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_memory_load_rng(m: *const rlcore_memory, rng: *mut rlcore_rng) -> rlcore_status {
    call(|| unsafe { view(m, View::open)?.tell("rng", rng.cast::<Rng>(), |view| view.rng()) })
}
