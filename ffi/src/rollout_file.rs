//! Rollouts as safetensors files.

use core::ffi::c_void;
use core::mem::offset_of;

use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, Output, Plain, Versioned, apart};
use crate::space;
use crate::status::{Result, call, rlcore_status};
use rlcore::data::rollout_file::{Arrays, ArraysMut, HEADER_SIZE, Reader, RolloutFile};
use rlcore::space::{Element, Elements, MAX_RANK};

/// Bytes before the first array of a file: a page.
pub const RLCORE_ROLLOUT_FILE_HEADER_SIZE: u32 = 4096;

const _: () = assert!(RLCORE_ROLLOUT_FILE_HEADER_SIZE as usize == HEADER_SIZE && MAX_RANK == 4);

/// What is in a file, and what its numbers came from. A file is safetensors with one fixed set of arrays, named as the
/// members of rlcore_rollout_arrays, little-endian on every machine, and meta: counters, versions and a checksum of all.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_file {
    /// sizeof(rlcore_rollout_file)
    pub struct_size: u32,
    /// T, at least 1
    pub num_steps: u32,
    /// N, at least 1
    pub num_envs: u32,
    /// an rlcore_element
    pub obs_kind: u32,
    /// dimensions of one observation, 0 to 4
    pub obs_rank: u32,
    /// their lengths, outermost first, at least 1 each; 0 or 1 beyond obs_rank
    pub obs_dims: [u32; 4],
    /// an rlcore_element
    pub action_kind: u32,
    /// elements of one action, at least 1
    pub action_len: u32,
    /// M, elements of one recurrent state; 0 if there is none
    pub state_len: u32,
    /// K, the number of final observations
    pub num_finals: u32,
    /// zero
    pub reserved: u32,
    /// what the environments were seeded with
    pub seed: u64,
    /// which version of the policy chose the actions
    pub policy_version: u64,
    /// steps of single environments before the first one here
    pub global_step: u64,
    /// episodes that had ended before the first step here
    pub num_episodes: u64,
}

/// The arrays of a rollout: read by rlcore_rollout_file_write, written by rlcore_rollout_file_read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_arrays {
    /// sizeof(rlcore_rollout_arrays)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T + 1, N, obs...] the last row is what was seen after the last step
    pub obs: *mut c_void,
    /// [T, N, action_len]
    pub action: *mut c_void,
    /// [T, N] log-probability of the action under the policy that chose it
    pub log_prob: *mut f32,
    /// [T, N] V(obs[t])
    pub value: *mut f32,
    /// [N] value of the observation after the last step
    pub bootstrap_value: *mut f32,
    /// [T, N]
    pub reward: *mut f32,
    /// [T, N]
    pub terminated: *mut u8,
    /// [T, N]
    pub truncated: *mut u8,
    /// [T, N] nonzero where there was a step at all
    pub valid: *mut u8,
    /// [K] ended valid steps, as t * N + n, ascending; no truncated one is left out
    pub final_index: *mut u64,
    /// [K, obs...] what was seen when those episodes ended
    pub final_obs: *mut c_void,
    /// [K] its value
    pub final_value: *mut f32,
    /// [N, M] recurrent state before the first step
    pub state: *mut f32,
}

// SAFETY: `repr(C)`, `struct_size` first, plain data.
unsafe impl Versioned for rlcore_rollout_file {
    const WHAT: &'static str = "rollout file";
    const MIN_SIZE: usize = offset_of!(Self, num_episodes) + size_of::<u64>();
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_rollout_arrays {
    const WHAT: &'static str = "rollout arrays";
    const MIN_SIZE: usize = offset_of!(Self, state) + size_of::<*mut f32>();
}

impl rlcore_rollout_file {
    /// # Safety
    /// As [`ptr::sized`].
    unsafe fn at(p: *const Self) -> Result<RolloutFile> {
        // SAFETY: by the promise.
        let f = unsafe { ptr::sized(p)? };
        ptr::reserved("rollout file: reserved", f.reserved)?;
        let mut obs_dims = f.obs_dims;
        for d in obs_dims.iter_mut().skip(f.obs_rank as usize).filter(|d| **d == 0) {
            *d = 1;
        }
        Ok(RolloutFile {
            num_steps: f.num_steps,
            num_envs: f.num_envs,
            obs_kind: space::element("rollout file: obs_kind", f.obs_kind)?,
            obs_rank: f.obs_rank,
            obs_dims,
            action_kind: space::element("rollout file: action_kind", f.action_kind)?,
            action_len: f.action_len,
            state_len: f.state_len,
            num_finals: f.num_finals,
            seed: f.seed,
            policy_version: f.policy_version,
            global_step: f.global_step,
            num_episodes: f.num_episodes,
        })
    }

    fn of(f: &RolloutFile) -> Self {
        rlcore_rollout_file {
            num_steps: f.num_steps,
            num_envs: f.num_envs,
            obs_kind: f.obs_kind as u32,
            obs_rank: f.obs_rank,
            obs_dims: f.obs_dims,
            action_kind: f.action_kind as u32,
            action_len: f.action_len,
            state_len: f.state_len,
            num_finals: f.num_finals,
            seed: f.seed,
            policy_version: f.policy_version,
            global_step: f.global_step,
            num_episodes: f.num_episodes,
            ..ptr::zeros()
        }
    }
}

/// How many elements each array has.
struct Lens {
    obs_len: usize,
    rows: usize,
    steps: usize,
    envs: usize,
    finals: usize,
    state: usize,
}

impl Lens {
    fn of(f: &RolloutFile) -> Result<Lens> {
        f.size()?;
        let envs = f.num_envs as usize;
        let steps = ptr::grid("rollout file", f.num_steps as usize, envs)?;
        Ok(Lens {
            obs_len: f.obs_len()?,
            rows: ptr::grid("rollout file", f.num_steps as usize + 1, envs)?,
            steps,
            envs,
            finals: f.num_finals as usize,
            state: ptr::grid("rollout file", envs, f.state_len as usize)?,
        })
    }
}

/// An array that has to be there unless it has no element.
///
/// # Safety
/// As [`Input::at`].
unsafe fn input<'a, T: Plain>(what: &'static str, p: *const T, len: usize) -> Result<&'a [T]> {
    if len == 0 { Ok(&[]) } else { unsafe { Input::at(what, p, len) }.map(Input::slice) }
}

/// As [`input`], of any kind.
///
/// # Safety
/// As [`AnyInput::at`].
unsafe fn any<'a>(
    what: &'static str,
    p: *const c_void,
    kind: Element,
    rows: usize,
    width: usize,
) -> Result<Elements<'a>> {
    if rows == 0 {
        return Ok(match kind {
            Element::F32 => Elements::F32(&[]),
            Element::I32 => Elements::I32(&[]),
            Element::U8 => Elements::U8(&[]),
        });
    }
    unsafe { AnyInput::at(what, p, kind, rows, width) }.map(AnyInput::elements)
}

fn extent<T: Plain>(what: &'static str, array: &[T]) -> Extent {
    Extent::of(what, array.as_ptr().cast(), size_of_val(array))
}

fn extent_of(what: &'static str, array: Elements<'_>) -> Extent {
    extent(what, array.bytes())
}

/// Bytes of the file. Errors: E_NULL; E_ALIGN; E_CONFIG for a length or kind; E_OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_file_size(
    file: *const rlcore_rollout_file,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let file = rlcore_rollout_file::at(file)?;
        ptr::put("rollout file: out_size", out_size, || Ok(file.size()?))
    })
}

/// Writes a whole file. out: [out_size] bytes to write, at least rlcore_rollout_file_size() of them, on any boundary; the
/// arrays are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0.
/// Errors: those of rlcore_rollout_file_size; E_OVERLAP; E_SIZE; E_RANGE for a final_index that is not above the one
/// before it, or of no valid step that ended; E_NOT_READY if a truncated step has none. Then out is untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_file_write(
    file: *const rlcore_rollout_file,
    arrays: *const rlcore_rollout_arrays,
    out: *mut u8,
    out_size: usize,
) -> rlcore_status {
    call(|| unsafe {
        let file = rlcore_rollout_file::at(file)?;
        let a = ptr::sized(arrays)?;
        ptr::reserved("rollout arrays: reserved", a.reserved)?;
        let lens = Lens::of(&file)?;
        let (action_len, steps, finals) = (file.action_len as usize, lens.steps, lens.finals);
        let arrays = Arrays {
            obs: any("rollout arrays: obs", a.obs, file.obs_kind, lens.rows, lens.obs_len)?,
            action: any("rollout arrays: action", a.action, file.action_kind, steps, action_len)?,
            log_prob: input("rollout arrays: log_prob", a.log_prob, steps)?,
            value: input("rollout arrays: value", a.value, steps)?,
            bootstrap_value: input("rollout arrays: bootstrap_value", a.bootstrap_value, lens.envs)?,
            reward: input("rollout arrays: reward", a.reward, steps)?,
            terminated: input("rollout arrays: terminated", a.terminated, steps)?,
            truncated: input("rollout arrays: truncated", a.truncated, steps)?,
            valid: input("rollout arrays: valid", a.valid, steps)?,
            final_index: input("rollout arrays: final_index", a.final_index, finals)?,
            final_obs: any("rollout arrays: final_obs", a.final_obs, file.obs_kind, finals, lens.obs_len)?,
            final_value: input("rollout arrays: final_value", a.final_value, finals)?,
            state: input("rollout arrays: state", a.state, lens.state)?,
        };
        let out = Output::at("rollout file: out", out, out_size)?;
        let inputs = [
            extent_of("rollout arrays: obs", arrays.obs),
            extent_of("rollout arrays: action", arrays.action),
            extent("rollout arrays: log_prob", arrays.log_prob),
            extent("rollout arrays: value", arrays.value),
            extent("rollout arrays: bootstrap_value", arrays.bootstrap_value),
            extent("rollout arrays: reward", arrays.reward),
            extent("rollout arrays: terminated", arrays.terminated),
            extent("rollout arrays: truncated", arrays.truncated),
            extent("rollout arrays: valid", arrays.valid),
            extent("rollout arrays: final_index", arrays.final_index),
            extent_of("rollout arrays: final_obs", arrays.final_obs),
            extent("rollout arrays: final_value", arrays.final_value),
            extent("rollout arrays: state", arrays.state),
        ];
        apart(&[out.extent()], &inputs)?;
        file.write(&arrays, out.slice())?;
        Ok(())
    })
}

/// Checks every byte of a file and says what is in it. bytes: [size], on any boundary; may be longer than the file.
/// Errors: E_NULL; E_ALIGN; E_CONFIG for struct_size; E_OVERFLOW; E_OVERLAP; E_SIZE for a file that was cut short;
/// E_IMAGE for another format or schema, or a byte that was altered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_file_check(
    bytes: *const u8,
    size: usize,
    out: *mut rlcore_rollout_file,
) -> rlcore_status {
    call(|| unsafe {
        let bytes = Input::at("rollout file: bytes", bytes, size)?;
        let room = ptr::OutSized::at(out)?;
        apart(&[room.extent()], &[bytes.extent()])?;
        room.store(rlcore_rollout_file::of(Reader::open(bytes.slice())?.file()));
        Ok(())
    })
}

/// Checks a file as rlcore_rollout_file_check does and copies its arrays out. A NULL skips an array; the others have room
/// for as many elements as the check said. Errors: those of rlcore_rollout_file_check. Then nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_file_read(
    bytes: *const u8,
    size: usize,
    arrays: *const rlcore_rollout_arrays,
) -> rlcore_status {
    call(|| unsafe {
        let bytes = Input::at("rollout file: bytes", bytes, size)?;
        let a = ptr::sized(arrays)?;
        ptr::reserved("rollout arrays: reserved", a.reserved)?;
        let extent = bytes.extent();
        let reader = Reader::open(bytes.slice())?;
        let file = reader.file();
        let lens = Lens::of(file)?;
        let (action_len, steps, finals) = (file.action_len as usize, lens.steps, lens.finals);
        let obs = AnyOutput::optional("rollout arrays: obs", a.obs, file.obs_kind, lens.rows, lens.obs_len)?;
        let action = AnyOutput::optional("rollout arrays: action", a.action, file.action_kind, steps, action_len)?;
        let log_prob = Output::optional("rollout arrays: log_prob", a.log_prob, steps)?;
        let value = Output::optional("rollout arrays: value", a.value, steps)?;
        let bootstrap_value = Output::optional("rollout arrays: bootstrap_value", a.bootstrap_value, lens.envs)?;
        let reward = Output::optional("rollout arrays: reward", a.reward, steps)?;
        let terminated = Output::optional("rollout arrays: terminated", a.terminated, steps)?;
        let truncated = Output::optional("rollout arrays: truncated", a.truncated, steps)?;
        let valid = Output::optional("rollout arrays: valid", a.valid, steps)?;
        let final_index = Output::optional("rollout arrays: final_index", a.final_index, finals)?;
        let final_obs =
            AnyOutput::optional("rollout arrays: final_obs", a.final_obs, file.obs_kind, finals, lens.obs_len)?;
        let final_value = Output::optional("rollout arrays: final_value", a.final_value, finals)?;
        let state = Output::optional("rollout arrays: state", a.state, lens.state)?;
        fn of<T: Plain>(array: &Option<Output<'_, T>>) -> Extent {
            array.as_ref().map_or(Extent::NONE, Output::extent)
        }
        let any = |array: &Option<AnyOutput<'_>>| array.as_ref().map_or(Extent::NONE, AnyOutput::extent);
        let outputs = [
            any(&obs),
            any(&action),
            of(&log_prob),
            of(&value),
            of(&bootstrap_value),
            of(&reward),
            of(&terminated),
            of(&truncated),
            of(&valid),
            of(&final_index),
            any(&final_obs),
            of(&final_value),
            of(&state),
        ];
        apart(&outputs, &[extent])?;
        let room = ArraysMut {
            obs: obs.map(AnyOutput::elements),
            action: action.map(AnyOutput::elements),
            log_prob: log_prob.map(Output::slice),
            value: value.map(Output::slice),
            bootstrap_value: bootstrap_value.map(Output::slice),
            reward: reward.map(Output::slice),
            terminated: terminated.map(Output::slice),
            truncated: truncated.map(Output::slice),
            valid: valid.map(Output::slice),
            final_index: final_index.map(Output::slice),
            final_obs: final_obs.map(AnyOutput::elements),
            final_value: final_value.map(Output::slice),
            state: state.map(Output::slice),
        };
        Ok(reader.read(room)?)
    })
}
