//! Imitation: a learner takes a step towards actions, or probabilities of choices, that the host gives.

use crate::learner::{chosen, rlcore_learner, seen};
use crate::lifecycle::open;
use crate::mirror::versioned;
use crate::ptr::{self, Input, One};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::learn::{Imitation, Learner};

/// How rows are imitated. All zero but struct_size: each row by itself, and all alike.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_imitation {
    /// sizeof(rlcore_imitation)
    pub struct_size: u32,
    /// with recurrent layers, rows are [num_steps, num_rows / num_steps]: sequences that each start from a state of zeros;
    /// at most the rows of a chunk, T * N / (num_minibatches * num_chunks), off policy batch_size / num_chunks. 0: 1
    pub num_steps: u32,
    /// [num_rows] 1: an episode begins with the row; NULL: none begins within a sequence
    pub reset: *const u8,
    /// [num_rows, sum of action.n] probabilities of the choices of each element, in place of those in action, 0 where
    /// action_mask forbids: distillation. rlcore_learner_distribution and rlcore_policy_distribution tell those of a
    /// teacher. NULL: action has the choices
    pub prob: *const f32,
    /// [num_rows] weights of the rows, at least 0; NULL: 1
    pub weight: *const f32,
    /// learners of Q: how far Q of the given choice is to be above that of every other one; 0: 0.8
    pub margin: f32,
    /// 1: standard deviations learn too, down to log_std_min if the actions are those of a function; 0: they stay, as
    /// learning that goes on afterwards needs. 0 of actions without numbers, and of TD3
    pub fit_std: u32,
}

versioned!(rlcore_imitation, "imitation", fit_std);

/// Takes one optimizer step that makes the network that acts imitate num_rows rows, any number from 1: of a script, a
/// person, a search, or another policy. The loss is a mean over the rows of weight times: for the choices of a policy, the
/// cross-entropy less the entropy of prob, summed over the elements of an action; for numbers, minus the logarithm of the
/// density, of actions before they are squashed or clipped, TD3 the squared distance of actions scaled to -1 to 1; for Q
/// (DQN, PQN, stream Q; distributions count by their mean), max over a of (Q(a) + margin unless a is the choice) -
/// Q(choice), the mean over the elements, and with prob the mean of that.
/// Critics, values and statistics stay; observations are normalized as in rlcore_learner_act, so moments come first
/// (rlcore_learner_moments_write). Noisy layers have no noise. The step is the optimizer's, with the moments, the limit of
/// the norm and the learning rate that learning has now; of stream algorithms that of an error of 1, and traces begin
/// anew. Before the first gradient step off policy, target networks become copies of the network; afterwards they follow
/// as ever. Rows are read a chunk at a time, the gradients of chunks are added in order. Nothing is recorded or counted;
/// in any phase.
/// rows:     reads obs, action_mask (NULL: all choices are allowed) and action, as the environment takes it: choices that
///           the mask allows; numbers that squash, TD3 or SAC would reach, within their bounds, else any that are finite.
///           action may be NULL with prob, if it has no numbers. active is not read.
/// how:      read; NULL: all zero.
/// out_loss: the loss before the step; NULL: not wanted.
/// Errors: E_NOT_READY while an update runs, with overlap too, or gradients wait for rlcore_learner_learn_apply; E_CONFIG
/// for a margin or a fit_std that the learner does not read; E_SHAPE for no rows, num_steps that do not divide num_rows or
/// are more than a chunk has, prob without choices, and a mask without use_action_mask; E_VALUE for an observation or a
/// weight that is not finite, another action, probabilities whose sum is not 1, a mask that allows nothing, and numbers
/// that overflow. The parameters stay then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_imitate(
    p: *mut rlcore_learner,
    num_rows: u32,
    rows: *const rlcore_rows,
    how: *const rlcore_imitation,
    out_loss: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (mut learner, n) = (open(p, Learner::open)?, num_rows as usize);
        let rows = *rlcore_rows::at(rows, &mut None)?;
        let how = if how.is_null() { None } else { Some(ptr::sized(how)?) };
        let (steps, margin, fit_std) =
            how.map_or((1, 0.0, 0), |how| (how.num_steps.max(1) as usize, how.margin, how.fit_std));
        let fit_std = ptr::switch("fit_std", fit_std)?;
        let shape = learner.shape();
        let arrays = extra(how, n, shape.choices_len(), learner.view().state_len() > 0)?;
        let optional = how.is_some_and(|how| !how.prob.is_null()) && shape.std_len() == 0 && rows.action.is_null();
        let action = if optional { None } else { Some(chosen(shape, n, &rows)?) };
        let told = One::optional("out_loss", out_loss)?;
        let ((obs, mask), action, (reset, prob, weight), told) =
            learner.extent.writing((seen(shape, n, &rows)?, action, arrays, told))?;
        let loss = learner.imitate(&Imitation {
            num_rows: n,
            num_steps: steps,
            obs,
            mask,
            action,
            prob,
            weight,
            reset: reset.unwrap_or_default(),
            margin,
            fit_std,
        })?;
        ptr::tell(told, loss);
        Ok(())
    })
}

/// Flags, probabilities and weights.
type Extra<'a> = (Option<Input<'a, u8>>, Option<Input<'a, f32>>, Option<Input<'a, f32>>);

/// The arrays of `how`; flags with recurrent layers only. Errors: `Align`, `Overflow`.
unsafe fn extra<'a>(how: Option<rlcore_imitation>, n: usize, choices: usize, recurs: bool) -> Result<Extra<'a>> {
    let Some(how) = how else { return Ok((None, None, None)) };
    unsafe {
        Ok((
            if recurs { Input::optional("reset", how.reset, n)? } else { None },
            Input::optional("prob", how.prob, ptr::grid("prob", n, choices)?)?,
            Input::optional("weight", how.weight, n)?,
        ))
    }
}
