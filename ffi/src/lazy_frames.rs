//! Rings of frames that stacks are made from.

use core::ffi::c_void;

use crate::lifecycle::{self, Block, Place, open, view};
use crate::mirror::{alike, mirror, versioned};
use crate::ptr::{self, Extent, Input, One, Output, args};
use crate::status::{About, Result, call, rlcore_status};
use crate::table;
use rlcore::block::Kind as BlockKind;
use rlcore::data::lazy_frames::{Frames, LazyFrames, LazyFramesConfig, lay};
use rlcore::data::table::{FrameIndex, Run, TableConfig};
use rlcore::error::{Error, Kind};
use rlcore::kernels::stack::{self, Layout};

/// Rings of frames, one per environment. A frame is stored once, however many stacks contain it. Frames are numbered from 0
/// in each environment; numbers are never reused. A full ring drops its oldest frame. Stacks that reach before the first
/// frame of an episode repeat that frame.
/// Example:
///   rlcore_lazy_frames_config_init(&config, sizeof config);
///   rlcore_lazy_frames_size(&config, &size);
///   rlcore_lazy_frames_init(mem, size, &config, &l);
///   rlcore_lazy_frames_push(l, env, frame, first, &number);
///   rlcore_lazy_frames_stack(l, env, number, RLCORE_LAYOUT_HWC, RLCORE_U8, stack);
///   rlcore_lazy_frames_gather_transitions(l, index, num_rows, RLCORE_LAYOUT_CHW, RLCORE_F32, obs, next_obs);
pub struct rlcore_lazy_frames;

/// Memory layout of a stack, oldest frame first.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_layout {
    /// [height, width, channels * num_stack]: stacked on the last axis, as environments do
    RLCORE_LAYOUT_HWC = 0,
    /// [channels * num_stack, height, width]: channel planes, as convolutions expect
    RLCORE_LAYOUT_CHW = 1,
}

/// Configuration of rings of frames. Frames are bytes, [height, width, channels]. For frames in [channels, height, width]
/// set channels to 1 and height to channels * height.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_lazy_frames_config {
    /// bytes; set by rlcore_lazy_frames_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// frames kept per environment, at least num_stack, + 1 for transitions; default 10000
    pub num_frames: u32,
    /// default 84
    pub height: u32,
    /// default 84
    pub width: u32,
    /// bytes per pixel; default 1
    pub channels: u32,
    /// frames per stack, 1 to 16; default 4
    pub num_stack: u32,
}

/// Identifies a frame, or a transition by the newest frame of its observation.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_frame_index {
    /// frame number, as returned when it was pushed
    pub number: u64,
    /// environment index
    pub env: u32,
    /// zero
    pub reserved: u32,
}

versioned!(rlcore_lazy_frames_config, "lazy_frames config", num_stack, LazyFramesConfig::default().into());
mirror!(rlcore_lazy_frames_config, LazyFramesConfig { num_envs, num_frames, height, width, channels, num_stack });
alike!(rlcore_frame_index, FrameIndex { number, env, reserved });

unsafe fn config(p: *const rlcore_lazy_frames_config) -> Result<LazyFramesConfig> {
    Ok(unsafe { ptr::sized(p)? }.into())
}

/// The layout of this number. Errors: `Range`.
pub fn layout(number: u32) -> Result<Layout> {
    let unknown = Error::new(Kind::Range, "0 (HWC) or 1 (CHW)").given(number as usize);
    Layout::from_number(number).ok_or(unknown).about("layout")
}

impl Block for rlcore_lazy_frames {
    const WHAT: &'static str = "lazy_frames";
    const KIND: BlockKind = BlockKind::LazyFrames;
}

fn frame_len(config: &TableConfig) -> Result<usize> {
    Ok(config.column(0)?.row_size())
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_config_init(
    config: *mut rlcore_lazy_frames_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_size(
    config: *const rlcore_lazy_frames_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(LazyFrames::size(&self::config(config)?)?)) })
}

/// Bytes of the block per transition that it can hold, rounded up: one frame and its metadata. An episode of L transitions
/// takes L + 1 frames. Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_bytes_per_transition(
    config: *const rlcore_lazy_frames_config,
    out_bytes: *mut u64,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_bytes", out_bytes, || Ok(self::config(config)?.bytes_per_transition()?)) })
}

/// Creates empty rings in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_lazy_frames_config,
    out: *mut *mut rlcore_lazy_frames,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), LazyFrames::init) })
}

/// Opens saved or copied rings in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_lazy_frames,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], LazyFrames::attach) })
}

/// Opens rings that another process writes: see Sharing.
///
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_attach_reader(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const rlcore_lazy_frames,
) -> rlcore_status {
    unsafe { lifecycle::attach_reader(mem, mem_size, out, LazyFrames::attach_reader) }
}

/// Appends a frame to the ring of environment `env`.
/// frame:      [height, width, channels], copied.
/// first:      1 if it starts an episode, else 0.
/// out_number: its number; may be NULL.
/// Errors: E_RANGE; E_NOT_READY if the ring is empty and first is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_push(
    l: *mut rlcore_lazy_frames,
    env: u32,
    frame: *const u8,
    first: u32,
    out_number: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let mut frames = open(l, LazyFrames::open)?;
        let frame = Input::at("frame", frame, frames.frame_len()?)?;
        let out = One::optional("out_number", out_number)?;
        let (frame, out) = frames.extent.writing((frame, out))?;
        let number = frames.push(env as usize, frame, ptr::flag("first", first)?)?;
        ptr::tell(out, number);
        Ok(())
    })
}

/// Appends one step of environments [begin, end). The arrays are those of all N; only rows of the range are used.
/// frame:       [N, height, width, channels] the frame to act on next.
/// first:       [N] 1 where that frame starts an episode.
/// final_frame: [N, height, width, channels] last frame of the episode that ended in this step, read where first is 1 and
///              pushed before frame; NULL: no episode ended, or its last frame was pushed already.
/// number:      [N] to write, the numbers of the frames to act on next; may be NULL. The transition of this step has the
///              number written one step earlier, whether or not an episode ended.
/// Threads: calls on disjoint ranges may run concurrently; results do not depend on the split.
/// Errors: E_RANGE; E_NOT_READY if a ring is empty, unless first is 1 and final_frame is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_push_range(
    l: *mut rlcore_lazy_frames,
    begin: u32,
    end: u32,
    frame: *const u8,
    first: *const u8,
    final_frame: *const u8,
    number: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let base: *mut u8 = l.cast();
        let head = Input::at("lazy_frames", base.cast_const(), LazyFrames::END)?;
        let config = LazyFrames::config(head.slice())?;
        let (spans, size) = lay(config).map_err(Error::from)?;
        let (n, width) = (config.num_rings as usize, frame_len(config)?);
        let len = ptr::grid("frame", n, width)?;
        let (begin, end) = (begin as usize, end as usize);
        let (low, high) = (begin.saturating_mul(width), end.saturating_mul(width));
        let frame = Input::at("frame", frame, len)?.part(low, high);
        let first = Input::at("first", first, n)?.part(begin, end);
        let final_frame = Input::optional("final_frame", final_frame, len)?.map(|x| x.part(low, high));
        let number = Output::optional("number", number, n)?.map(|x| x.part(begin, end));
        let extent = Extent::of("lazy_frames", base, size);
        let (frame, first, final_frame, number) = extent.writing((frame, first, final_frame, number))?;
        if begin > end || end > n {
            let what = "lazy_frames: environments [begin, end) with begin <= end <= num_envs,";
            return Err(Error::limit(Kind::Range, what, n, if begin > end { begin } else { end }).into());
        }
        let rings = LazyFrames::of(table::rings(base, config, &spans, begin, end));
        Ok(rings?.push_all(Frames { frame, first, final_frame }, number)?)
    })
}

/// Numbers of the frames that environment `env` holds: [*out_begin, *out_end). Every frame from *out_begin + num_stack - 1
/// on has a complete stack, and so do earlier ones whose episode starts within the range.
/// Errors: E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_held(
    l: *const rlcore_lazy_frames,
    env: u32,
    out_begin: *mut u64,
    out_end: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let (begin, end) = view.extent.reading((One::at("out_begin", out_begin)?, One::at("out_end", out_end)?))?;
        let held = view.held(env as usize)?;
        (*begin, *end) = (held.start, held.end);
        Ok(())
    })
}

/// Copies frames as they were pushed, starting at `number`.
/// frames: [num_frames, height, width, channels] to write.
/// first:  [num_frames] to write, 1 where a frame starts an episode.
/// Errors: E_RANGE if one of them is not held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_read(
    l: *const rlcore_lazy_frames,
    env: u32,
    number: u64,
    num_frames: u32,
    frames: *mut u8,
    first: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let len = num_frames as usize;
        let frames = Output::at("frames", frames, ptr::grid("frames", len, frame_len(view.config)?)?)?;
        let (frames, first) = view.extent.reading((frames, Output::at("first", first, len)?))?;
        Ok(view.read_run(0, &Run::new(env, number, num_frames), frames, first)?)
    })
}

/// Returns a pointer to a frame in the block, [height, width, channels]. Valid until num_frames newer frames are pushed.
/// Errors: E_RANGE if it is not held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_frame(
    l: *const rlcore_lazy_frames,
    env: u32,
    number: u64,
    out_frame: *mut *const u8,
) -> rlcore_status {
    call(|| unsafe {
        view(l, LazyFrames::read)?
            .tell("out_frame", out_frame, |view| Ok(view.row(0, env as usize, number)?.bytes().as_ptr()))
    })
}

/// Numbers of the frames of stack `number`, oldest first. numbers: [num_stack] to write.
/// Errors: E_RANGE if one of them is not held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_indices(
    l: *const rlcore_lazy_frames,
    env: u32,
    number: u64,
    numbers: *mut u64,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let numbers = Output::at("numbers", numbers, view.config.max_stack())?;
        Ok(view.stack_numbers(0, env as usize, number, view.extent.reading(numbers)?)?)
    })
}

/// Writes the stack whose newest frame is `number`. Errors: as rlcore_lazy_frames_gather.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_stack(
    l: *const rlcore_lazy_frames,
    env: u32,
    number: u64,
    layout: u32,
    kind: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let layout = self::layout(layout)?;
        let out = view.extent.reading(table::room("out", view.config, 0, kind, 1, out)?)?;
        Ok(view.gather(0, &[FrameIndex::new(env, number)], layout, out)?)
    })
}

/// Writes the stacks of num_rows frames.
/// index:  [num_rows] the newest frame of each stack.
/// layout: an rlcore_layout.
/// kind:   RLCORE_U8: bytes as they were pushed; RLCORE_F32: byte / 255.
/// out:    [num_rows, num_stack * frame_len] of that kind, to write.
/// Errors: E_RANGE for layout, kind, an environment, or a frame that is not held or not pushed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_gather(
    l: *const rlcore_lazy_frames,
    index: *const rlcore_frame_index,
    num_rows: u32,
    layout: u32,
    kind: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let (layout, rows) = (self::layout(layout)?, num_rows as usize);
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let out = table::room("out", view.config, 0, kind, rows, out)?;
        let (index, out) = view.extent.reading((index, out))?;
        Ok(view.gather(0, index, layout, out)?)
    })
}

/// Writes the observations and next observations of num_rows transitions: index[i] is the newest frame of observation i;
/// the frame after it is the newest of next observation i. Shared frames are read once.
/// obs, next_obs: [num_rows, num_stack * frame_len] of that kind, to write.
/// Errors: as rlcore_lazy_frames_gather; E_RANGE for a frame that is the last of its episode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_gather_transitions(
    l: *const rlcore_lazy_frames,
    index: *const rlcore_frame_index,
    num_rows: u32,
    layout: u32,
    kind: u32,
    obs: *mut c_void,
    next_obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let view = view(l, LazyFrames::read)?;
        let (layout, rows) = (self::layout(layout)?, num_rows as usize);
        let index = Input::at("index", index.cast::<FrameIndex>(), rows)?;
        let obs = table::room("obs", view.config, 0, kind, rows, obs)?;
        let next_obs = table::room("next_obs", view.config, 0, kind, rows, next_obs)?;
        let (index, obs, next_obs) = view.extent.reading((index, obs, next_obs))?;
        Ok(view.gather_transitions(0, index, layout, obs, next_obs)?)
    })
}

/// Extracts the newest frame of a stack of bytes, to push where an environment stacks its frames itself.
/// stack: [num_stack * frame_len] in `layout`, an rlcore_layout; num_stack is 1 to 16.
/// frame: [frame_len] to write, channels last; frame_len must be a multiple of channels.
/// Errors: E_RANGE; E_SHAPE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_lazy_frames_newest(
    stack: *const u8,
    num_stack: u32,
    channels: u32,
    layout: u32,
    frame: *mut u8,
    frame_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let layout = self::layout(layout)?;
        let stack = Input::at("stack", stack, ptr::grid("stack", num_stack as usize, frame_len)?)?;
        let frame = Output::at("frame", frame, frame_len)?;
        let (stack, frame) = args((stack, frame))?;
        Ok(stack::newest(stack, num_stack as usize, channels as usize, layout, frame)?)
    })
}
