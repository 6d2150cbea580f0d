//! The host's arrays of N rows, which go through acting, stepping, observing and learning.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, Input, Output};
use crate::status::Result;

/// The host's arrays of N rows, one row for each environment or agent. The same structure goes through the loop; each
/// call reads and writes the arrays that its comment names and neither looks at the others nor checks them. An array
/// that no call of the program reads or writes is NULL. Calls on ranges take the arrays of all N rows.
/// Example:
///   rlcore_learner_act(agent, &rows);                 // obs -> action
///   rlcore_vecenv_step(envs, env, &rows);             // action -> obs, reward and ends
///   rlcore_learner_observe(agent, &rows);             // reward and ends
///   rlcore_learner_learn(agent, &rows, 0, &stats);    // obs
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rows {
    /// sizeof(rlcore_rows)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [N] 0: the row is absent, and nothing of it is read or written; NULL: all are there
    pub active: *const u8,
    /// [N, obs.len] the observation to act on next
    pub obs: *mut c_void,
    /// [N, sum of action.n] 1 for each choice allowed in obs, else 0; NULL: all are allowed
    pub action_mask: *mut u8,
    /// [N, action.len]
    pub action: *mut c_void,
    /// [N] of the action
    pub reward: *mut f32,
    /// [N] 1 where the task reached a terminal state
    pub terminated: *mut u8,
    /// [N] 1 where the environment or the time limit cut the episode
    pub truncated: *mut u8,
    /// [N] 0 where the row was only reset, else 1
    pub valid: *mut u8,
    /// [N, obs.len] the last observation of the episode, in rows that ended
    pub final_obs: *mut c_void,
    /// [N, sum of action.n] choices allowed in final_obs, in rows that ended
    pub final_action_mask: *mut u8,
    /// [N] how long the action lasted, at least 0, in any unit; only with use_duration
    pub duration: *const f32,
}

versioned!(rlcore_rows, "rows", duration);

/// Flags of one step: terminated, truncated, and valid where it is given.
pub type Flags<'a> = (Input<'a, u8>, Input<'a, u8>, Option<Input<'a, u8>>);

impl rlcore_rows {
    /// The structure at `p`; one of another version is read into `other`. Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`ptr::sized_ref`].
    #[inline]
    pub unsafe fn at(p: *const rlcore_rows, other: &mut Option<rlcore_rows>) -> Result<&rlcore_rows> {
        let rows = unsafe { ptr::sized_ref(p, other)? };
        ptr::reserved("rows: reserved", rows.reserved)?;
        Ok(rows)
    }

    /// ColumnStorage for both masks of `n` rows with `mask_len` choices each. Errors: `Overflow`.
    pub unsafe fn masks<'a>(&self, n: usize, mask_len: u32) -> Result<[Option<Output<'a, u8>>; 2]> {
        let len = ptr::grid("action_mask", n, mask_len as usize)?;
        unsafe {
            Ok([
                Output::optional("action_mask", self.action_mask, len)?,
                Output::optional("final_action_mask", self.final_action_mask, len)?,
            ])
        }
    }

    /// The flags that a step has written for `n` environments. Errors: `Null`, `Overflow`.
    pub unsafe fn flags<'a>(&self, n: usize) -> Result<Flags<'a>> {
        unsafe {
            Ok((
                Input::at("terminated", self.terminated.cast_const(), n)?,
                Input::at("truncated", self.truncated.cast_const(), n)?,
                Input::optional("valid", self.valid.cast_const(), n)?,
            ))
        }
    }
}
