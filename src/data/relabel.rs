//! Hindsight relabeling: a step that missed its goal is a good example for the goal that it did achieve (Andrychowicz et al.
//! 2017).
//!
//! Two calls: [`draw`] chooses, for steps of episodes, the achieved goal that becomes the new goal of each; [`relabel`] copies
//! these goals and asks the environment for the matching rewards. Achieved goals are rows: row t of an episode is the goal
//! achieved at `obs[t]`, so step t leads to row t + 1, and an episode of T steps has T + 1 rows.

use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::rng::Rng;

/// Source of the new goal within the episode. The numbers are the C values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Strategy {
    /// Achieved by this step or a later one.
    Future = 0,
    /// Achieved by the last step.
    Final = 1,
    /// Achieved by any step.
    Episode = 2,
}

impl Strategy {
    /// The strategy with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Strategy::Future, Strategy::Final, Strategy::Episode].get(number as usize).copied()
    }
}

/// Draws, for step `step[b]` of an episode of `num_steps[b]` steps, the row of the achieved goal that becomes its goal: from
/// `step[b] + 1` (future), 1 (episode) or `num_steps[b]` (final) to `num_steps[b]`, all equally likely. One bounded draw per row,
/// in order; none where there is no choice.
///
/// Errors: `Shape`; `Range` for a step that its episode does not have. Then nothing is drawn.
pub fn draw(strategy: Strategy, step: &[u32], num_steps: &[u32], rng: &mut Rng, goal_step: &mut [u32]) -> Result {
    check_len("relabel: num_steps [B] of length", num_steps, step.len())?;
    check_len("relabel: goal_step [B] of length", goal_step, step.len())?;
    if let Some((step, len)) = step.iter().zip(num_steps).find(|(step, len)| step >= len) {
        let what = "relabel: a step below num_steps";
        return Err(Error::limit(Kind::Range, what, *len as usize, *step as usize));
    }
    for ((step, len), goal) in step.iter().zip(num_steps).zip(goal_step) {
        let first = match strategy {
            Strategy::Future => step.wrapping_add(1),
            Strategy::Final => *len,
            Strategy::Episode => 1,
        };
        *goal = first.wrapping_add(rng.bounded(len.wrapping_sub(first).into()) as u32);
    }
    Ok(())
}

/// An environment's judgment of an achieved goal by another goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Reward of the step that led there.
    pub reward: f32,
    /// Whether the step ended the episode in a terminal state.
    pub terminated: bool,
}

/// Steps to be judged by other goals.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// G, elements of a goal, at least 1.
    pub goal_len: usize,
    /// `[R, G]` achieved goals of any number of episodes, R rows.
    pub achieved: &'a [f32],
    /// `[B]` row of the goal that each step achieved.
    pub row: &'a [u32],
    /// `[B]` row of its new goal.
    pub goal_row: &'a [u32],
}

/// Writes the new goals, `[B, G]`, and the rewards and flags, `[B]`, that `judge(achieved, goal)` gives.
///
/// Errors: `Shape`; `Range` for a row that does not exist; `Value` for an achieved goal that is not finite: then nothing is
/// written. `Value` for a reward that is not finite, or an error of `judge`: then the rows before are written.
///
/// ```
/// use rlcore::data::relabel::{Judgement, Steps, relabel};
///
/// # fn main() -> rlcore::error::Result {
/// // Two steps reached rows 1 and 2; both are judged as if row 2 had been their goal.
/// let steps = Steps { goal_len: 1, achieved: &[0.0, 0.5, 1.0], row: &[1, 2], goal_row: &[2, 2] };
/// let (mut goal, mut reward, mut terminated) = ([0.0; 2], [0.0; 2], [0; 2]);
/// let judge = |achieved: &[f32], goal: &[f32]| {
///     let there = achieved == goal;
///     Ok(Judgement { reward: if there { 0.0 } else { -1.0 }, terminated: there })
/// };
/// relabel(&steps, judge, &mut goal, &mut reward, &mut terminated)?;
/// assert_eq!((goal, reward, terminated), ([1.0, 1.0], [-1.0, 0.0], [0, 1]));
/// # Ok(())
/// # }
/// ```
pub fn relabel(
    steps: &Steps<'_>,
    mut judge: impl FnMut(&[f32], &[f32]) -> Result<Judgement>,
    goal: &mut [f32],
    reward: &mut [f32],
    terminated: &mut [u8],
) -> Result {
    let (width, count) = (steps.goal_len, steps.row.len());
    Error::limit(Kind::Shape, "relabel: goal_len of at least", 1, 0).fail_if(width == 0)?;
    let what = "relabel: achieved [R, G] of whole rows of";
    Error::limit(Kind::Shape, what, width, steps.achieved.len())
        .fail_if(!steps.achieved.len().is_multiple_of(width))?;
    let len =
        count.checked_mul(width).ok_or(Error::new(Kind::Overflow, "relabel: [B, G] that fits the address space"))?;
    check_len("relabel: goal_row [B] of length", steps.goal_row, count)?;
    check_len("relabel: goal [B, G] of length", goal, len)?;
    check_len("relabel: reward [B] of length", reward, count)?;
    check_len("relabel: terminated [B] of length", terminated, count)?;
    let rows = steps.achieved.len().checked_div(width).unwrap_or(0);
    if let Some(bad) = steps.row.iter().chain(steps.goal_row).find(|row| **row as usize >= rows) {
        return Err(Error::limit(Kind::Range, "relabel: rows below", rows, *bad as usize));
    }
    check_finite("relabel: a finite achieved goal", steps.achieved)?;
    let at = |row: u32| {
        let begin = (row as usize).saturating_mul(width);
        steps.achieved.get(begin..begin.saturating_add(width)).unwrap_or_default()
    };
    let mut goals = goal;
    let outs = reward.iter_mut().zip(terminated);
    for ((row, goal_row), (reward, terminated)) in steps.row.iter().zip(steps.goal_row).zip(outs) {
        let Some((to, rest)) = core::mem::take(&mut goals).split_at_mut_checked(width) else { return Ok(()) };
        goals = rest;
        let goal = at(*goal_row);
        let judged = judge(at(*row), goal)?;
        Error::new(Kind::Value, "relabel: a finite reward")
            .given_f32(judged.reward)
            .fail_if(!judged.reward.is_finite())?;
        for (to, from) in to.iter_mut().zip(goal) {
            *to = *from;
        }
        (*reward, *terminated) = (judged.reward, judged.terminated.into());
    }
    Ok(())
}
