//! Recordings of training: a learner's image, then the calls that changed it.

use core::ffi::{c_char, c_void};

use crate::imitation::{imitated, imitation_of, rlcore_imitation};
use crate::learner::{active, chosen, mask, obs, optional, rlcore_learner, seen, stepped};
use crate::learner_config::{numbers, rlcore_learner_config};
use crate::learner_scale::{
    batch_arrays, batch_of, grads_of, moments, rlcore_learner_batch, rlcore_learner_transitions, transition_arrays,
    transitions_of,
};
use crate::lifecycle::{self, Block, Opened, view};
use crate::mirror::versioned;
use crate::policy::rlcore_policy;
use crate::ptr::{self, AnyOutput, Args, Extent, Input, One, OutSized, Output, Reads, Writes, args, exact};
use crate::status::{About, Fault, Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use crate::tensors::{kind, rlcore_tensor};
use rlcore::error::{Error, Kind};
use rlcore::learn::recording::{self, Call, Entry, Recording};
use rlcore::learn::{NamedTensor, View};

/// Calls that change a learner, in an rlcore_recorded_call. Its fields that each reads are in brackets, besides status and
/// hash. Calls that only ask, such as rlcore_learner_predict, are not among them. Nor is rlcore_collect: with max_steps 1
/// it is an ACT with a copy of the rows from before it, and an OBSERVE with those from after it.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_recorded {
    /// rlcore_learner_act [rows], and rlcore_learner_act_range [rows, range]
    RLCORE_RECORDED_ACT = 1,
    /// rlcore_learner_demonstrate [rows]
    RLCORE_RECORDED_DEMONSTRATE = 2,
    /// rlcore_learner_observe [rows]
    RLCORE_RECORDED_OBSERVE = 3,
    /// rlcore_learner_cut [gone]
    RLCORE_RECORDED_CUT = 4,
    /// rlcore_learner_learn [rows; number: max_slices]
    RLCORE_RECORDED_LEARN = 5,
    /// rlcore_learner_learn_begin [rows]
    RLCORE_RECORDED_LEARN_BEGIN = 6,
    /// rlcore_learner_grads_write [range, values]
    RLCORE_RECORDED_GRADS_WRITE = 7,
    /// rlcore_learner_grads_add [range, values]
    RLCORE_RECORDED_GRADS_ADD = 8,
    /// rlcore_learner_learn_apply
    RLCORE_RECORDED_LEARN_APPLY = 9,
    /// rlcore_learner_learn_drop
    RLCORE_RECORDED_LEARN_DROP = 10,
    /// rlcore_learner_learn_batch [batch]
    RLCORE_RECORDED_LEARN_BATCH = 11,
    /// rlcore_learner_learn_transitions [transitions]
    RLCORE_RECORDED_LEARN_TRANSITIONS = 12,
    /// rlcore_learner_imitate [rows, how; number: num_rows]
    RLCORE_RECORDED_IMITATE = 13,
    /// rlcore_learner_count_steps [num_steps]
    RLCORE_RECORDED_COUNT_STEPS = 14,
    /// rlcore_learner_freeze [number: frozen]
    RLCORE_RECORDED_FREEZE = 15,
    /// rlcore_learner_set_trainable [names; number: trainable]
    RLCORE_RECORDED_SET_TRAINABLE = 16,
    /// rlcore_learner_configure [config]
    RLCORE_RECORDED_CONFIGURE = 17,
    /// rlcore_learner_params_write [values, moments]
    RLCORE_RECORDED_PARAMS_WRITE = 18,
    /// rlcore_learner_moments_write [moments]
    RLCORE_RECORDED_MOMENTS_WRITE = 19,
    /// rlcore_learner_tensors_write [tensors, values; number: of]
    RLCORE_RECORDED_TENSORS_WRITE = 20,
    /// rlcore_learner_adopt [other; number: parts]
    RLCORE_RECORDED_ADOPT = 21,
    /// rlcore_learner_adopt_policy [policy, obs_count; number: parts]
    RLCORE_RECORDED_ADOPT_POLICY = 22,
}

use rlcore_recorded::*;

/// A call that changed a learner, as rlcore_record_call reads it: the arguments of the call. Fields that it does not have
/// are 0 and NULL.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_recorded_call {
    /// sizeof(rlcore_recorded_call)
    pub struct_size: u32,
    /// an rlcore_recorded
    pub call: u32,
    /// an rlcore_status: that which the call returned
    pub status: i32,
    /// 1: the entry has rlcore_block_hash of the learner after it; 0: no
    pub hash: u32,
    /// environment steps
    pub num_steps: u64,
    /// observations that the moments of the policy count as
    pub obs_count: f64,
    /// the arrays that the call read; of ACT also action, as it wrote it
    pub rows: *const rlcore_rows,
    /// the range of environments or chunks: the first one
    pub range_begin: u32,
    /// the one behind the last; 0 of ACT: all N environments
    pub range_end: u32,
    /// max_slices, num_rows, frozen, trainable, of or parts
    pub number: u32,
    /// number of tensors
    pub num_tensors: u32,
    /// [N] flags
    pub gone: *const u8,
    /// the rollout
    pub batch: *const rlcore_learner_batch,
    /// the transitions
    pub transitions: *const rlcore_learner_transitions,
    /// how rows are imitated; may be NULL
    pub how: *const rlcore_imitation,
    /// the new configuration
    pub config: *const rlcore_learner_config,
    /// the other learner, as it was; all of it goes into the entry
    pub other: *const rlcore_learner,
    /// the policy; all of it goes into the entry
    pub policy: *const rlcore_policy,
    /// [num_tensors]
    pub tensors: *const rlcore_tensor,
    /// NUL-terminated
    pub names: *const c_char,
    /// [values_len] parameters, gradients or numbers of tensors
    pub values: *const f32,
    /// their number
    pub values_len: usize,
    /// [moments_len]
    pub moments: *const f64,
    /// their number
    pub moments_len: usize,
    /// zero
    pub reserved: usize,
}

versioned!(rlcore_recorded_call, "recorded call", reserved);

/// What a recording holds.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_record_info {
    /// sizeof(rlcore_record_info)
    pub struct_size: u32,
    /// rlcore_version() of the library that began it
    pub version: u32,
    /// its rlcore_image_version()
    pub image_version: u32,
    /// an rlcore_cpu_level: that which it computed with
    pub cpu_level: u32,
    /// bytes of memory that rlcore_record_attach needs
    pub learner_size: u64,
    /// bytes up to the end of the last complete entry; more are one that was cut off
    pub size: u64,
    /// complete entries
    pub num_calls: u64,
}

versioned!(rlcore_record_info, "record info", num_calls);

/// An entry that was played back.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_record_entry {
    /// sizeof(rlcore_record_entry)
    pub struct_size: u32,
    /// an rlcore_recorded
    pub call: u32,
    /// an rlcore_status: that which the call returned, both times
    pub status: i32,
    /// zero
    pub reserved: u32,
    /// rlcore_block_hash of the learner after it, both times; 0: not taken
    pub hash: u64,
    /// bytes of the entry
    pub size: u64,
}

versioned!(rlcore_record_entry, "record entry", size);

/// Room for a part of a recording, and for its size. Without room the part is only counted.
struct Room<'a>(Option<Output<'a, u8>>, One<'a, usize>);

impl<'a> Room<'a> {
    /// Errors: `Null`, `Align`, `Overflow`.
    unsafe fn at(bytes: *mut u8, size: usize, out_size: *mut usize) -> Result<Room<'a>> {
        let counts = bytes.is_null() && size == 0;
        let room = if counts { None } else { Some(unsafe { Output::at("bytes", bytes, size)? }) };
        Ok(Room(room, unsafe { One::at("out_size", out_size)? }))
    }
}

/// A learner that is recorded: its bytes, and how the call ended.
struct Subject<'a> {
    learner: Opened<(View<'a>, &'a [u8])>,
    status: i32,
    hashed: bool,
}

impl Subject<'_> {
    /// Writes the entry of a call that read these arrays.
    fn put<'c, A: Args>(&self, room: Room<'_>, arrays: A, make: impl FnOnce(A::Slices) -> Call<'c>) -> Result {
        let (arrays, bytes, told, ()) = args((arrays, room.0, room.1, Reads([self.learner.extent])))?;
        self.write(&make(arrays), bytes, told)
    }

    #[inline(never)]
    fn write(&self, call: &Call<'_>, bytes: Option<&mut [u8]>, told: &mut usize) -> Result {
        *told = match bytes {
            Some(bytes) => call.record_status(self.status, self.hashed.then_some(self.learner.1), bytes)?,
            None => call.size(),
        };
        Ok(())
    }
}

/// Begins a recording of training: writes its header and the image of the learner, in any phase. Entries of
/// rlcore_record_call follow without gaps. A recording is played back by rlcore_record_next, on any machine of the same byte
/// order and with a library that attaches the image; calls must be made one at a time in the order of their entries.
/// Example:
///   rlcore_record_begin(agent, bytes, size, &used);
///   call.call = RLCORE_RECORDED_ACT;
///   call.rows = &rows;
///   call.status = rlcore_learner_act(agent, &rows);
///   rlcore_record_call(agent, &call, bytes + used, size - used, &part);
/// bytes:    [size] to write, of any alignment; NULL with a size of 0 only tells out_size.
/// out_size: bytes that were written, a multiple of 8.
/// Errors: E_SIZE if size is too small; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_begin(
    p: *const rlcore_learner,
    bytes: *mut u8,
    size: usize,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let learner = opened(p)?;
        let Room(bytes, told) = Room::at(bytes, size, out_size)?;
        let (bytes, told, ()) = args((bytes, told, Reads([learner.extent])))?;
        *told = match bytes {
            Some(bytes) => recording::begin(learner.1, bytes)?,
            None => recording::begin_size(learner.1)?,
        };
        Ok(())
    })
}

/// A learner to read, and all its bytes.
unsafe fn opened<'a>(p: *const rlcore_learner) -> Result<Opened<(View<'a>, &'a [u8])>> {
    unsafe { view(p, |mem| Ok((View::open(mem)?, mem))) }
}

/// Writes the entry of a call that was made on a learner, after it and before the next: the learner is only read, and the
/// arrays still hold what the call read. Entries that do not fit disturb nothing: write the bytes so far to a file, and call
/// again with more room.
/// call:     read, with the arrays that it names.
/// bytes:    [size] to write, of any alignment; NULL with a size of 0 only tells out_size.
/// out_size: bytes that were written, a multiple of 8. 0 for a status of E_NULL, E_ALIGN, E_OVERFLOW, E_OVERLAP or E_IMAGE:
///           such a call has changed nothing, nothing is read of it, and it has no entry.
/// Errors: E_CONFIG for another call; E_RANGE for another status or hash; E_SIZE if size is too small; those of the call
/// for lengths, ranges and structures that it refuses. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_call(
    p: *const rlcore_learner,
    call: *const rlcore_recorded_call,
    bytes: *mut u8,
    size: usize,
    out_size: *mut usize,
) -> rlcore_status {
    crate::status::call(|| unsafe {
        let call = ptr::sized(call)?;
        let unknown = Error::new(Kind::Config, "zero").given(call.reserved);
        unknown.fail_if(call.reserved != 0).about("recorded call: reserved")?;
        let unknown = Error::new(Kind::Range, "an rlcore_status").given_i64(call.status.into());
        unknown.fail_if(!(Kind::Disabled as i32..=0).contains(&call.status)).about("recorded call: status")?;
        let hashed = ptr::flag("recorded call: hash", call.hash)?;
        let (learner, room) = (opened(p)?, Room::at(bytes, size, out_size)?);
        const REFUSED: [Kind; 5] = [Kind::Null, Kind::Align, Kind::Overflow, Kind::Overlap, Kind::Image];
        if REFUSED.iter().any(|kind| *kind as i32 == call.status) {
            *learner.extent.reading(room.1)? = 0;
            return Ok(());
        }
        put(&Subject { learner, status: call.status, hashed }, room, &call)
    })
}

/// Rows that are read by an act in a range of environments.
unsafe fn put_act(subject: &Subject<'_>, room: Room<'_>, call: &rlcore_recorded_call) -> Result {
    let learner = &subject.learner.0;
    let (shape, n) = (learner.shape(), learner.num_envs());
    let (begin, end) = if call.range_end == 0 {
        (call.range_begin as usize, n)
    } else {
        (call.range_begin as usize, call.range_end as usize)
    };
    let outside = Error::limit(Kind::Range, "environments [begin, end) with begin <= end <= N =", n, end);
    outside.fail_if(begin > end || end > n).about("recorded call")?;
    let part = |width: usize| (begin.saturating_mul(width), end.saturating_mul(width));
    unsafe {
        let rows = *rlcore_rows::at(call.rows, &mut None)?;
        let (obs, mask) = seen(shape, n, &rows)?;
        let ((low, high), (first, last)) = (part(shape.obs_len as usize), part(shape.action_len as usize));
        let (obs, action) = (obs.part(low, high), chosen(shape, n, &rows)?.part(first, last));
        let (low, high) = part(shape.mask_len());
        let mask = mask.map(|mask| mask.part(low, high));
        let active = active(&rows, n)?.map(|active| active.part(begin, end));
        subject.put(room, (active, obs, mask, action), |(active, obs, mask, action)| Call::Act {
            begin,
            end,
            active,
            obs,
            mask,
            action,
        })
    }
}

/// The current observations, if there are any, and their mask.
unsafe fn put_learn(
    subject: &Subject<'_>,
    room: Room<'_>,
    rows: *const rlcore_rows,
    max_slices: Option<u32>,
) -> Result {
    let learner = &subject.learner.0;
    let (shape, n) = (learner.shape(), learner.num_envs());
    let arrays = unsafe {
        match max_slices {
            // Off policy learn_begin reads none.
            None if learner.config().check_transitions().is_ok() => (None, None),
            Some(_) if rows.is_null() => (None, None),
            Some(_) => {
                let rows = *rlcore_rows::at(rows, &mut None)?;
                (optional("obs", shape, n, rows.obs)?, mask(shape, n, rows.action_mask)?)
            }
            None => {
                let rows = *rlcore_rows::at(rows, &mut None)?;
                (Some(obs("obs", shape, n, rows.obs)?), mask(shape, n, rows.action_mask)?)
            }
        }
    };
    subject.put(room, arrays, |(obs, mask)| match max_slices {
        Some(max_slices) => Call::Learn { obs, mask, max_slices },
        None => Call::LearnBegin { obs, mask },
    })
}

/// Gradients of chunks.
unsafe fn put_grads(subject: &Subject<'_>, room: Room<'_>, call: &rlcore_recorded_call, added: bool) -> Result {
    let (begin, end) = (call.range_begin as usize, call.range_end as usize);
    let len = grads_of(&subject.learner.0, begin, end, call.values_len)?;
    subject.put(room, unsafe { Input::at("values", call.values, len)? }, |grads| match added {
        false => Call::WriteGrads { begin, end, grads },
        true => Call::AddGrads { begin, end, grads },
    })
}

/// All bytes of another block.
unsafe fn other<'a, B: Block>(p: *const B) -> Result<Input<'a, u8>> {
    let other = unsafe { view(p, |mem: &'a [u8]| Ok(mem))? };
    unsafe { Input::at(B::WHAT, other.as_ptr(), other.len()) }
}

unsafe fn put(subject: &Subject<'_>, room: Room<'_>, call: &rlcore_recorded_call) -> Result {
    let (learner, number) = (&subject.learner.0, call.number);
    let (shape, n) = (learner.shape(), learner.num_envs());
    let alone = |made: Call<'_>, room| subject.put(room, None::<Input<'_, u8>>, |_| made);
    unsafe {
        match call.call {
            x if x == RLCORE_RECORDED_ACT as u32 => put_act(subject, room, call),
            x if x == RLCORE_RECORDED_DEMONSTRATE as u32 => {
                let rows = *rlcore_rows::at(call.rows, &mut None)?;
                let arrays = (active(&rows, n)?, seen(shape, n, &rows)?, chosen(shape, n, &rows)?);
                subject.put(room, arrays, |(active, (obs, mask), action)| Call::Demonstrate {
                    active,
                    obs,
                    mask,
                    action,
                })
            }
            x if x == RLCORE_RECORDED_OBSERVE as u32 => {
                let rows = *rlcore_rows::at(call.rows, &mut None)?;
                let arrays = stepped(shape, n, &rows, learner.config().use_duration != 0)?;
                subject.put(
                    room,
                    arrays,
                    |(active, (reward, duration), (terminated, truncated), (final_obs, final_mask))| Call::Observe {
                        duration,
                        active,
                        reward,
                        terminated,
                        truncated,
                        final_obs,
                        final_mask,
                    },
                )
            }
            x if x == RLCORE_RECORDED_CUT as u32 => {
                subject.put(room, Input::at("gone", call.gone, n)?, |gone| Call::Cut { gone })
            }
            x if x == RLCORE_RECORDED_LEARN as u32 => put_learn(subject, room, call.rows, Some(number)),
            x if x == RLCORE_RECORDED_LEARN_BEGIN as u32 => put_learn(subject, room, call.rows, None),
            x if x == RLCORE_RECORDED_GRADS_WRITE as u32 => put_grads(subject, room, call, false),
            x if x == RLCORE_RECORDED_GRADS_ADD as u32 => put_grads(subject, room, call, true),
            x if x == RLCORE_RECORDED_LEARN_APPLY as u32 => alone(Call::LearnApply {}, room),
            x if x == RLCORE_RECORDED_LEARN_DROP as u32 => alone(Call::LearnDrop {}, room),
            x if x == RLCORE_RECORDED_LEARN_BATCH as u32 => {
                learner.config().check_rollouts()?;
                let arrays = batch_arrays(learner, call.batch)?;
                subject.put(room, arrays, |arrays| Call::LearnBatch { batch: batch_of(arrays) })
            }
            x if x == RLCORE_RECORDED_LEARN_TRANSITIONS as u32 => {
                learner.config().check_transitions()?;
                let arrays = transition_arrays(learner, &ptr::sized(call.transitions)?)?;
                subject.put(room, arrays, |arrays| Call::LearnTransitions { transitions: transitions_of(arrays) })
            }
            x if x == RLCORE_RECORDED_IMITATE as u32 => {
                let rows = *rlcore_rows::at(call.rows, &mut None)?;
                let (arrays, numbers) = imitated(learner, number as usize, &rows, call.how)?;
                subject
                    .put(room, arrays, |arrays| Call::Imitate { rows: imitation_of(number as usize, arrays, numbers) })
            }
            x if x == RLCORE_RECORDED_COUNT_STEPS as u32 => alone(Call::CountSteps { num_steps: call.num_steps }, room),
            x if x == RLCORE_RECORDED_FREEZE as u32 => {
                alone(Call::Freeze { frozen: ptr::flag("recorded call: frozen", number)? }, room)
            }
            x if x == RLCORE_RECORDED_SET_TRAINABLE as u32 => {
                let names = ptr::text("names", call.names)?;
                let trainable = ptr::flag("recorded call: trainable", number)?;
                let names = Input::at("names", names.as_ptr(), names.len())?;
                subject.put(room, names, |names| Call::SetTrainable { names, trainable })
            }
            x if x == RLCORE_RECORDED_CONFIGURE as u32 => {
                let config = numbers(call.config)?;
                alone(Call::Configure { config: &config }, room)
            }
            x if x == RLCORE_RECORDED_PARAMS_WRITE as u32 => {
                let params =
                    Input::at("values", call.values, exact("values", learner.params().len(), call.values_len)?)?;
                let moments = moments(learner, call.moments, call.moments_len)?;
                subject.put(room, (params, moments), |(params, moments)| Call::WriteParams {
                    params,
                    moments: moments.unwrap_or_default(),
                })
            }
            x if x == RLCORE_RECORDED_MOMENTS_WRITE as u32 => {
                let moments = moments(learner, call.moments, call.moments_len)?;
                subject.put(room, moments, |moments| Call::WriteMoments { moments: moments.unwrap_or_default() })
            }
            x if x == RLCORE_RECORDED_TENSORS_WRITE as u32 => {
                let (of, len) = (kind(number)?, call.num_tensors as usize);
                let tensors = Input::at("tensors", call.tensors.cast::<NamedTensor>(), len)?;
                let values = Input::at("values", call.values, call.values_len)?;
                subject.put(room, (tensors, values), |(tensors, values)| Call::WriteTensors { of, tensors, values })
            }
            x if x == RLCORE_RECORDED_ADOPT as u32 => {
                subject.put(room, other(call.other)?, |other| Call::Adopt { other, parts: number })
            }
            x if x == RLCORE_RECORDED_ADOPT_POLICY as u32 => {
                let obs_count = call.obs_count;
                subject.put(room, other(call.policy)?, |other| Call::AdoptPolicy { other, parts: number, obs_count })
            }
            other => {
                let unknown = Error::new(Kind::Config, "a known rlcore_recorded").given(other as usize);
                Err(Fault::at("recorded call: call", unknown))
            }
        }
    }
}

/// Checks every byte of a recording, up to an entry that was cut off at its end, and tells its contents.
/// bytes: [size], 8-byte aligned, as all bytes to play back.
/// info:  written.
/// Errors: E_CONFIG for struct_size; E_SIZE if the image is not complete; E_IMAGE for bytes that are no recording, of
/// another byte order, or damaged: rlcore_last_error() names the byte where the damaged entry begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_check(
    bytes: *const u8,
    size: usize,
    info: *mut rlcore_record_info,
) -> rlcore_status {
    call(|| unsafe {
        let (bytes, info) = args((Input::at("bytes", bytes, size)?, OutSized::at(info)?))?;
        let recording = Recording::open(bytes)?;
        let (mut end, mut num_calls) = (recording.start(), 0u64);
        while end < bytes.len() {
            match Entry::open(bytes, end) {
                Ok(entry) => end = end.saturating_add(entry.size),
                Err(error) if error.kind == Kind::Size => break,
                Err(error) => return Err(error.into()),
            }
            num_calls = num_calls.saturating_add(1);
        }
        info.store(rlcore_record_info {
            version: recording.version(),
            image_version: recording.image_version(),
            cpu_level: recording.cpu_level(),
            learner_size: recording.image().len() as u64,
            size: end as u64,
            num_calls,
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// Copies the learner that a recording begins with to mem, and opens it as rlcore_learner_attach does.
/// bytes:      [size], 8-byte aligned.
/// mem:        [mem_size] to write, at least learner_size of rlcore_record_info.
/// out:        the learner.
/// out_offset: where the first entry begins.
/// Errors: E_SIZE of mem, and if the image is not complete; E_IMAGE as rlcore_record_check, and as rlcore_learner_attach.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_attach(
    bytes: *const u8,
    size: usize,
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_learner,
    out_offset: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let arrays = (
            (Input::at("bytes", bytes, size)?, Output::at("mem", mem.cast::<u8>(), mem_size)?),
            (One::at("out", out)?, One::at("out_offset", out_offset)?),
        );
        let ((bytes, mem), (out, offset)) = args(arrays)?;
        let handle = mem.as_mut_ptr().cast();
        let start = Recording::open(bytes)?.attach(mem)?;
        (*out, *offset) = (handle, start);
        Ok(())
    })
}

/// Plays the next entry back: makes its call on the learner and compares how it ended with how it ended when it was
/// recorded: the status, the actions of an ACT and, if it was taken, the hash of all bytes of the learner.
/// Example:
///   rlcore_record_attach(bytes, size, mem, mem_size, &agent, &offset);
///   while (offset < size && !status) status = rlcore_record_next(bytes, size, &offset, agent, action, &entry);
/// bytes:  [size], 8-byte aligned: a recording, or whole entries of one.
/// offset: [1] where the entry begins, to change: then where the next one does.
/// p:      the learner of rlcore_record_attach, on which all entries before this one were played back.
/// action: [N, action.len] to write, the actions of an ACT; NULL if the entry is none.
/// entry:  written.
/// Errors: E_INEXACT at another end than the recorded one: the learner is then as the call has left it, and
/// rlcore_last_error() names the byte where the entry begins, and the difference. E_RANGE behind the last entry; E_SIZE if
/// bytes of the entry are missing; E_IMAGE for a damaged one; E_SHAPE for actions of another learner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_next(
    bytes: *const u8,
    size: usize,
    offset: *mut usize,
    p: *mut rlcore_learner,
    action: *mut c_void,
    entry: *mut rlcore_record_entry,
) -> rlcore_status {
    call(|| unsafe {
        let bytes = Input::at("bytes", bytes, size)?;
        let outputs = (One::at("offset", offset)?, OutSized::at(entry)?);
        let (kind, n, width, extent) = acting(p)?;
        let action = AnyOutput::optional("action", action, kind, n, width)?;
        let (bytes, (offset, told), action, ()) = args((bytes, outputs, action, Writes([extent])))?;
        let entry = Entry::open(bytes, *offset)?;
        let (mem, _) = lifecycle::bytes(p)?;
        entry.replay(mem, action).about(entry.call.name())?;
        *offset = offset.saturating_add(entry.size);
        told.store(rlcore_record_entry {
            call: entry.call.number(),
            status: entry.status,
            hash: entry.hash,
            size: entry.size as u64,
            ..ptr::zeros()
        });
        Ok(())
    })
}

/// The kind of a learner's actions, N, their elements, and the learner's bytes.
unsafe fn acting(p: *const rlcore_learner) -> Result<(rlcore::space::Element, usize, usize, Extent)> {
    let learner = unsafe { view(p, View::open)? };
    let shape = learner.shape();
    Ok((shape.kinds().1, learner.num_envs(), shape.action_len as usize, learner.extent))
}
