//! Rollouts as safetensors files.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, AnyOutput, Input, Output, args};
use crate::space;
use crate::status::{Result, call, rlcore_status};
use rlcore::data::rollout_file::{
    Arrays, ArraysMut, HEADER_SIZE, MAX_METADATA, NO_LOG_PROB, NO_VALUE, Reader, RolloutFile,
};
use rlcore::space::MAX_RANK;

/// Bytes before the first array of a file: one page.
pub const RLCORE_ROLLOUT_FILE_HEADER_SIZE: u32 = 4096;

const _: () = assert!(RLCORE_ROLLOUT_FILE_HEADER_SIZE as usize == HEADER_SIZE && MAX_RANK == 4);

/// Arrays that a file may do without, for absent of an rlcore_rollout_file. They are neither read nor written then, and may
/// be NULL: for hosts that record others than learners of this library, people or scripts.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_rollout_absent {
    /// log_prob
    RLCORE_ROLLOUT_NO_LOG_PROB = 1,
    /// value, bootstrap_value and final_value
    RLCORE_ROLLOUT_NO_VALUE = 2,
}

const _: () = assert!(NO_LOG_PROB == 1 && NO_VALUE == 2 && MAX_METADATA == 65536);

/// Shapes and origin of the data in a file. A file is in safetensors format, with a fixed set of arrays named as the members
/// of rlcore_rollout_arrays, little-endian on every machine, and metadata: counters, versions and a checksum.
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
    /// arrays that the file does not have: an rlcore_rollout_absent, or both; 0: it has all
    pub absent: u32,
    /// seed of the environments
    pub seed: u64,
    /// version of the policy that chose the actions
    pub policy_version: u64,
    /// environment steps before the first one in the file
    pub global_step: u64,
    /// episodes ended before the first step in the file
    pub num_episodes: u64,
    /// bytes of metadata, up to 65536; 0: there is none
    pub metadata_len: u32,
    /// zero
    pub reserved: u32,
}

/// The arrays of a rollout: read by rlcore_rollout_file_write, written by rlcore_rollout_file_read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rollout_arrays {
    /// sizeof(rlcore_rollout_arrays)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [T + 1, N, obs...] the last row is the observation after the last step
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
    /// [T, N] nonzero where a step was taken
    pub valid: *mut u8,
    /// [K] valid steps that ended, as t * N + n, ascending; must include every truncated one
    pub final_index: *mut u64,
    /// [K, obs...] last observations of those episodes
    pub final_obs: *mut c_void,
    /// [K] their values
    pub final_value: *mut f32,
    /// [N, M] recurrent state before the first step
    pub state: *mut f32,
    /// [metadata_len] pairs of a name and a value in UTF-8, each with a 0 behind it, "name\0value\0": the host's notes of the
    /// recording, entries of __metadata__ in the file's header. Names are distinct, not empty and not "format"; of control
    /// characters there are only tabs and ends of lines
    pub metadata: *mut u8,
}

versioned!(rlcore_rollout_file, "rollout file", reserved);
versioned!(rlcore_rollout_arrays, "rollout arrays", metadata);

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
            absent: f.absent,
            metadata_len: f.metadata_len,
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
            absent: f.absent,
            metadata_len: f.metadata_len,
            ..ptr::zeros()
        }
    }
}

/// Lengths of the arrays.
struct Lens {
    obs_len: usize,
    rows: usize,
    steps: usize,
    finals: usize,
    state: usize,
    /// Of `log_prob`; of `value`, `bootstrap_value` and `final_value`.
    log_prob: usize,
    value: [usize; 3],
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
            finals: f.num_finals as usize,
            log_prob: if f.absent & NO_LOG_PROB == 0 { steps } else { 0 },
            value: [steps, envs, f.num_finals as usize].map(|len| if f.absent & NO_VALUE == 0 { len } else { 0 }),
            state: ptr::grid("rollout file", envs, f.state_len as usize)?,
        })
    }
}

/// Size of the file in bytes. Errors: E_CONFIG for a length or kind.
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

/// Writes a whole file. out: [out_size] bytes to write, at least rlcore_rollout_file_size(), of any alignment. The arrays
/// are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0, metadata if metadata_len is
/// 0, and those that are absent.
/// Errors: those of rlcore_rollout_file_size; E_SIZE; E_CONFIG for metadata that is not as it must be; E_RANGE for a
/// final_index that is not ascending or is not a valid step that ended; E_NOT_READY if a truncated step has none.
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
        let out = Output::at("rollout file: out", out, out_size)?;
        let rows = (
            AnyInput::at("rollout arrays: obs", a.obs, file.obs_kind, lens.rows, lens.obs_len)?,
            AnyInput::at("rollout arrays: action", a.action, file.action_kind, steps, action_len)?,
            Input::at("rollout arrays: reward", a.reward, steps)?,
            Input::at("rollout arrays: terminated", a.terminated, steps)?,
            Input::at("rollout arrays: truncated", a.truncated, steps)?,
            Input::at("rollout arrays: valid", a.valid, steps)?,
        );
        // These may be NULL if they have no element.
        let final_obs = match finals {
            0 => None,
            _ => Some(AnyInput::at("rollout arrays: final_obs", a.final_obs, file.obs_kind, finals, lens.obs_len)?),
        };
        let final_index = Input::unless_empty("rollout arrays: final_index", a.final_index, finals)?;
        let [values, bootstraps, final_values] = lens.value;
        let told = (
            Input::unless_empty("rollout arrays: log_prob", a.log_prob, lens.log_prob)?,
            Input::unless_empty("rollout arrays: value", a.value, values)?,
            Input::unless_empty("rollout arrays: bootstrap_value", a.bootstrap_value, bootstraps)?,
            Input::unless_empty("rollout arrays: final_value", a.final_value, final_values)?,
            Input::unless_empty("rollout arrays: state", a.state, lens.state)?,
            Input::unless_empty("rollout arrays: metadata", a.metadata, file.metadata_len as usize)?,
        );
        let (out, rows, final_obs, final_index, told) = args((out, rows, final_obs, final_index, told))?;
        let (obs, action, reward, terminated, truncated, valid) = rows;
        let (log_prob, value, bootstrap_value, final_value, state, metadata) = told;
        let arrays = Arrays {
            obs,
            action,
            log_prob: log_prob.unwrap_or_default(),
            value: value.unwrap_or_default(),
            bootstrap_value: bootstrap_value.unwrap_or_default(),
            reward,
            terminated,
            truncated,
            valid,
            final_index: final_index.unwrap_or_default(),
            final_obs: final_obs.or(obs.get(0, 0)).unwrap_or(obs),
            final_value: final_value.unwrap_or_default(),
            state: state.unwrap_or_default(),
            metadata: metadata.unwrap_or_default(),
        };
        file.write(&arrays, out)?;
        Ok(())
    })
}

/// Checks every byte of a file and returns its shapes. bytes: [size], of any alignment; may be longer than the file.
/// Errors: E_CONFIG for struct_size; E_SIZE for a truncated file; E_IMAGE for another format or schema, or altered bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rollout_file_check(
    bytes: *const u8,
    size: usize,
    out: *mut rlcore_rollout_file,
) -> rlcore_status {
    call(|| unsafe {
        let bytes = Input::at("rollout file: bytes", bytes, size)?;
        let (bytes, out) = args((bytes, ptr::OutSized::at(out)?))?;
        out.store(rlcore_rollout_file::of(Reader::open(bytes)?.file()));
        Ok(())
    })
}

/// Checks a file as rlcore_rollout_file_check and copies its arrays. NULL skips an array; the others must have the shapes
/// that the check returned. Those that are absent stay as they are.
/// Errors: those of rlcore_rollout_file_check.
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
        let [values, bootstraps, final_values] = lens.value;
        let rows = (
            AnyOutput::optional("rollout arrays: obs", a.obs, file.obs_kind, lens.rows, lens.obs_len)?,
            AnyOutput::optional("rollout arrays: action", a.action, file.action_kind, steps, action_len)?,
            Output::optional("rollout arrays: log_prob", a.log_prob, lens.log_prob)?,
            Output::optional("rollout arrays: value", a.value, values)?,
            Output::optional("rollout arrays: bootstrap_value", a.bootstrap_value, bootstraps)?,
            Output::optional("rollout arrays: reward", a.reward, steps)?,
            Output::optional("rollout arrays: terminated", a.terminated, steps)?,
            Output::optional("rollout arrays: truncated", a.truncated, steps)?,
            Output::optional("rollout arrays: valid", a.valid, steps)?,
        );
        let ends = (
            Output::optional("rollout arrays: final_index", a.final_index, finals)?,
            AnyOutput::optional("rollout arrays: final_obs", a.final_obs, file.obs_kind, finals, lens.obs_len)?,
            Output::optional("rollout arrays: final_value", a.final_value, final_values)?,
            Output::optional("rollout arrays: state", a.state, lens.state)?,
            Output::optional("rollout arrays: metadata", a.metadata, file.metadata_len as usize)?,
        );
        let (rows, ends) = extent.reading((rows, ends))?;
        let (obs, action, log_prob, value, bootstrap_value, reward, terminated, truncated, valid) = rows;
        let (final_index, final_obs, final_value, state, metadata) = ends;
        Ok(reader.read(ArraysMut {
            obs,
            action,
            log_prob,
            value,
            bootstrap_value,
            reward,
            terminated,
            truncated,
            valid,
            final_index,
            final_obs,
            final_value,
            state,
            metadata,
        })?)
    })
}
