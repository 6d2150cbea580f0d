//! Rollouts as safetensors files.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, AnyOutput, Input, Output, args};
use crate::space;
use crate::status::{Result, call, rlcore_status};
use rlcore::data::rollout_file::{Arrays, ArraysMut, HEADER_SIZE, Reader, RolloutFile};
use rlcore::space::MAX_RANK;

/// Bytes before the first array of a file: one page.
pub const RLCORE_ROLLOUT_FILE_HEADER_SIZE: u32 = 4096;

const _: () = assert!(RLCORE_ROLLOUT_FILE_HEADER_SIZE as usize == HEADER_SIZE && MAX_RANK == 4);

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
    /// zero
    pub reserved: u32,
    /// seed of the environments
    pub seed: u64,
    /// version of the policy that chose the actions
    pub policy_version: u64,
    /// environment steps before the first one in the file
    pub global_step: u64,
    /// episodes ended before the first step in the file
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
}

versioned!(rlcore_rollout_file, "rollout file", num_episodes);
versioned!(rlcore_rollout_arrays, "rollout arrays", state);

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

/// Lengths of the arrays.
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
/// are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0.
/// Errors: those of rlcore_rollout_file_size; E_SIZE; E_RANGE for a final_index that is not ascending or is not a valid
/// step that ended; E_NOT_READY if a truncated step has none.
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
            Input::at("rollout arrays: log_prob", a.log_prob, steps)?,
            Input::at("rollout arrays: value", a.value, steps)?,
            Input::at("rollout arrays: bootstrap_value", a.bootstrap_value, lens.envs)?,
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
        let final_value = Input::unless_empty("rollout arrays: final_value", a.final_value, finals)?;
        let state = Input::unless_empty("rollout arrays: state", a.state, lens.state)?;
        let (out, rows, final_obs, final_index, final_value, state) =
            args((out, rows, final_obs, final_index, final_value, state))?;
        let (obs, action, log_prob, value, bootstrap_value, reward, terminated, truncated, valid) = rows;
        let arrays = Arrays {
            obs,
            action,
            log_prob,
            value,
            bootstrap_value,
            reward,
            terminated,
            truncated,
            valid,
            final_index: final_index.unwrap_or_default(),
            final_obs: final_obs.or(obs.get(0, 0)).unwrap_or(obs),
            final_value: final_value.unwrap_or_default(),
            state: state.unwrap_or_default(),
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
/// that the check returned. Errors: those of rlcore_rollout_file_check.
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
        let rows = (
            AnyOutput::optional("rollout arrays: obs", a.obs, file.obs_kind, lens.rows, lens.obs_len)?,
            AnyOutput::optional("rollout arrays: action", a.action, file.action_kind, steps, action_len)?,
            Output::optional("rollout arrays: log_prob", a.log_prob, steps)?,
            Output::optional("rollout arrays: value", a.value, steps)?,
            Output::optional("rollout arrays: bootstrap_value", a.bootstrap_value, lens.envs)?,
            Output::optional("rollout arrays: reward", a.reward, steps)?,
            Output::optional("rollout arrays: terminated", a.terminated, steps)?,
            Output::optional("rollout arrays: truncated", a.truncated, steps)?,
            Output::optional("rollout arrays: valid", a.valid, steps)?,
        );
        let ends = (
            Output::optional("rollout arrays: final_index", a.final_index, finals)?,
            AnyOutput::optional("rollout arrays: final_obs", a.final_obs, file.obs_kind, finals, lens.obs_len)?,
            Output::optional("rollout arrays: final_value", a.final_value, finals)?,
            Output::optional("rollout arrays: state", a.state, lens.state)?,
        );
        let (rows, ends) = extent.reading((rows, ends))?;
        let (obs, action, log_prob, value, bootstrap_value, reward, terminated, truncated, valid) = rows;
        let (final_index, final_obs, final_value, state) = ends;
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
        })?)
    })
}
