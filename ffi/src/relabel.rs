//! Hindsight goals.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, Output, args};
use crate::rng::{rlcore_rng, stream};
use crate::status::{About, call, rlcore_status};
use rlcore::data::relabel::{Judgement, Steps, Strategy, draw, relabel};
use rlcore::error::{Error, Kind};

/// Which achieved goal of its episode becomes a step's new goal. Row t is the goal achieved at obs[t]: step t leads to row
/// t + 1, and an episode of T steps has T + 1 rows.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_relabel_strategy {
    /// rows t + 1 to T: achieved by this step or a later one
    RLCORE_RELABEL_FUTURE = 0,
    /// row T: achieved by the last step
    RLCORE_RELABEL_FINAL = 1,
    /// rows 1 to T: achieved by any step
    RLCORE_RELABEL_EPISODE = 2,
}

/// Computes the reward of a step for a goal. achieved, goal: [goal_len]; reward: [1] to write; terminated: [1], 0 before
/// the call, 1 to write if the episode ends. Returns 0, or nonzero to stop with E_CALLBACK.
pub type rlcore_goal_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        achieved: *const f32,
        goal: *const f32,
        reward: *mut f32,
        terminated: *mut u8,
    ) -> i32,
>;

/// Steps to relabel with other goals. B = num_steps, G = goal_len, R = num_rows.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_relabel {
    /// sizeof(rlcore_relabel)
    pub struct_size: u32,
    /// B
    pub num_steps: u32,
    /// G, at least 1
    pub goal_len: u32,
    /// R
    pub num_rows: u32,
    /// [R, G] achieved goals of any number of episodes
    pub achieved: *const f32,
    /// [B] row of the goal that each step achieved
    pub row: *const u32,
    /// [B] row of its new goal
    pub goal_row: *const u32,
}

versioned!(rlcore_relabel, "relabel", goal_row);

/// For step[b] of an episode of num_steps[b] steps, draws the row of its new goal, counted from the episode's first and
/// uniform among those that the strategy allows. strategy: an rlcore_relabel_strategy; step, num_steps: [len]; goal_step:
/// [len] to write. Makes at most one draw from rng per step.
/// Errors: E_IMAGE for a stream that was never seeded; E_RANGE for the strategy or a step >= num_steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_relabel_draw(
    strategy: u32,
    step: *const u32,
    num_steps: *const u32,
    len: usize,
    rng: *mut rlcore_rng,
    goal_step: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let unknown = Error::new(Kind::Range, "an rlcore_relabel_strategy").given(strategy as usize);
        let strategy = Strategy::from_number(strategy).ok_or(unknown).about("relabel: strategy")?;
        let step = Input::at("relabel: step", step, len)?;
        let num_steps = Input::at("relabel: num_steps", num_steps, len)?;
        let rng = stream(rng)?.only();
        let goal_step = Output::at("relabel: goal_step", goal_step, len)?;
        let (step, num_steps, goal_step, rng) = args((step, num_steps, goal_step, rng))?;
        Ok(draw(strategy, step, num_steps, rng, goal_step)?)
    })
}

/// Copies the new goals and calls `judge` for the reward and termination of each step. goal: [B, G], reward: [B],
/// terminated: [B], to write.
/// Errors: E_CONFIG; E_SHAPE; E_RANGE for a row >= R; E_VALUE for an achieved goal that is not finite: nothing is written.
/// E_CALLBACK, or E_VALUE for a reward: earlier steps are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_relabel_goals(
    steps: *const rlcore_relabel,
    judge: rlcore_goal_fn,
    user: *mut c_void,
    goal: *mut f32,
    reward: *mut f32,
    terminated: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let s = ptr::sized(steps)?;
        let judge = judge.ok_or(Error::new(Kind::Null, "the function pointer is NULL.")).about("relabel: judge")?;
        let (count, width) = (s.num_steps as usize, s.goal_len as usize);
        let achieved =
            Input::at("relabel: achieved", s.achieved, ptr::grid("relabel: achieved", s.num_rows as usize, width)?)?;
        let row = Input::at("relabel: row", s.row, count)?;
        let goal_row = Input::at("relabel: goal_row", s.goal_row, count)?;
        let goal = Output::at("relabel: goal", goal, ptr::grid("relabel: goal", count, width)?)?;
        let reward = Output::at("relabel: reward", reward, count)?;
        let terminated = Output::at("relabel: terminated", terminated, count)?;
        let own = Extent::of("relabel", steps.cast(), size_of_val(&s));
        let (achieved, row, goal_row, goal, reward, terminated) =
            own.reading((achieved, row, goal_row, goal, reward, terminated))?;
        let steps = Steps { goal_len: width, achieved, row, goal_row };
        let ask = |achieved: &[f32], goal: &[f32]| {
            let (mut reward, mut terminated) = (f32::NAN, 0);
            match judge(user, achieved.as_ptr(), goal.as_ptr(), &mut reward, &mut terminated) {
                0 => Ok(Judgement { reward, terminated: terminated != 0 }),
                code => Err(Error::new(Kind::Callback, "relabel: the goal callback failed with code {given}.")
                    .given_i64(code.into())),
            }
        };
        Ok(relabel(&steps, ask, goal, reward, terminated)?)
    })
}
