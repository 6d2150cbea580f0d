//! Answers of a learner or a policy to observations of the host's own.

use core::ffi::c_void;

use crate::learner::{self, Carried, Seen, chosen, rlcore_learner, seen};
use crate::lifecycle::{open, view};
use crate::mirror::versioned;
use crate::policy::{rlcore_policy, rlcore_policy_buffers};
use crate::ptr::{self, AnyInput, AnyOutput, Output, Writes, args};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::learn::{Distribution, Learner, Policy, Shape};
use rlcore::space::ElementsMut;

/// Answers of networks to M observations: arrays to write. NULL: not asked for.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_distribution {
    /// sizeof(rlcore_distribution)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [M, sum of action.n] probabilities of the choices of each element of an action, 0 where action_mask forbids: those of
    /// RLCORE_SAMPLING_BASIC. Of learners of Q their logits are 1024 times Q
    pub prob: *mut f32,
    /// [M, A] means of the A continuous elements of an action: before tanh with squash, TD3 and SAC, else before they
    /// are clipped
    pub mean: *mut f32,
    /// [M, A] standard deviations there; 0 of TD3, whose policy draws nothing; of exported policies of SAC and TD3
    /// exp(log_std_min)
    pub std: *mut f32,
    /// [M] values, as rlcore_learner_value; of learners only, and without recurrent critics
    pub value: *mut f32,
    /// [M, sum of action.n] Q of all choices, allowed or not: of DQN, PQN and stream Q; of discrete SAC the lowest of
    /// the critics
    pub q: *mut f32,
    /// [M] log-probabilities of rows.action, as rlcore_learner_log_prob; not of learners off policy
    pub log_prob: *mut f32,
    /// [M] entropies in nats, with squash before tanh; not of learners off policy
    pub entropy: *mut f32,
    /// [M, action.len] the actions of RLCORE_SAMPLING_GREEDY
    pub best: *mut c_void,
}

versioned!(rlcore_distribution, "distribution", best);

/// Arrays of numbers that are asked for, and the best actions.
type Asked<'a> = ([Option<Output<'a, f32>>; 7], Option<AnyOutput<'a>>);

/// The slices of [`Asked`].
type Numbers<'a> = ([Option<&'a mut [f32]>; 7], Option<ElementsMut<'a>>);

/// Inputs of a call: observations and their mask, and actions.
type Read<'a> = (Seen<'a>, Option<AnyInput<'a>>);

/// The arrays of a call. Errors: `Null`, `Align`, `Config`, `Overflow`.
unsafe fn arrays<'a>(
    shape: &Shape,
    n: usize,
    rows: *const rlcore_rows,
    out: *const rlcore_distribution,
) -> Result<(Read<'a>, Asked<'a>)> {
    unsafe {
        let (rows, out) = (*rlcore_rows::at(rows, &mut None)?, ptr::sized(out)?);
        ptr::reserved("distribution: reserved", out.reserved)?;
        let action = if out.log_prob.is_null() { None } else { Some(chosen(shape, n, &rows)?) };
        let some = |what, p, width| Output::optional(what, p, ptr::grid(what, n, width)?);
        let (choices, numbers) = (shape.choices_len(), shape.std_len());
        let arrays = [
            some("prob", out.prob, choices)?,
            some("mean", out.mean, numbers)?,
            some("std", out.std, numbers)?,
            some("value", out.value, 1)?,
            some("q", out.q, choices)?,
            some("log_prob", out.log_prob, 1)?,
            some("entropy", out.entropy, 1)?,
        ];
        let best = match out.best.is_null() {
            true => None,
            false => Some(AnyOutput::at("best", out.best, shape.kinds().1, n, shape.action_len as usize)?),
        };
        Ok(((seen(shape, n, &rows)?, action), (arrays, best)))
    }
}

/// The core's form.
fn distribution<'a>((arrays, best): Numbers<'a>) -> Distribution<'a> {
    let [prob, mean, std, value, q, log_prob, entropy] = arrays;
    Distribution { prob, mean, std, value, q, log_prob, entropy, best }
}

/// Tells the answers of a learner's networks to num_rows observations of the host's own, any number from 1: probabilities of
/// all choices or means and deviations, values, Q, log-probabilities, and best actions. Nothing is recorded, in any phase,
/// and noisy layers have no noise, as in rlcore_learner_predict. Beyond N rows each is computed twice, so that a refusal
/// writes nothing.
/// rows:  reads obs, action_mask (NULL: all choices are allowed, as without use_action_mask), and with log_prob action,
///        continuous ones as the policy draws them, before they are squashed or clipped; all of num_rows rows. active is not
///        read.
/// state: [num_rows, rlcore_learner_state_len()] of recurrent layers, the caller's own: read, then written with those after
///        this step, as the learner's own go on in rlcore_learner_act. NULL without such layers.
/// reset: [num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
/// out:   reads its pointers, and writes the arrays that they point to.
/// Errors: E_CONFIG; E_SHAPE for no rows, prob or q without choices, mean or std without continuous elements, and a mask
/// without use_action_mask; E_DISABLED for answers that the learner does not have; E_VALUE for an observation, a state or an
/// action that is not finite, a mask that allows nothing, a choice that does not exist or is not allowed, and numbers that
/// overflow.
#[cfg(feature = "evaluate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_distribution(
    p: *mut rlcore_learner,
    num_rows: u32,
    rows: *const rlcore_rows,
    state: *mut f32,
    reset: *const u8,
    out: *const rlcore_distribution,
) -> rlcore_status {
    call(|| unsafe {
        let (mut learner, n) = (open(p, Learner::open)?, num_rows as usize);
        let (read, asked) = arrays(learner.shape(), n, rows, out)?;
        let carried: Carried<'_> = learner::carried(n, learner.view().state_len(), state, reset)?;
        let (((obs, mask), action), asked, carried, ()) = args((read, asked, carried, Writes([learner.extent])))?;
        Ok(learner.distribution(n, obs, mask, action, learner::recurrent(carried), distribution(asked))?)
    })
}

/// Tells the answers of a policy to num_rows observations, as rlcore_learner_distribution: the distribution that
/// rlcore_policy_act draws from. A policy has neither values nor Q.
/// rows:    reads obs, action_mask, and with log_prob action, as there.
/// buffers: reads reset; writes scratch, as long as for rlcore_policy_act; reads and writes state.
/// out:     reads its pointers, and writes the arrays that they point to.
/// Errors: as there; E_DISABLED for value and q; E_SIZE of scratch. After an error scratch may have been written, nothing
/// else.
#[cfg(feature = "evaluate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_policy_distribution(
    p: *const rlcore_policy,
    num_rows: u32,
    rows: *const rlcore_rows,
    buffers: *const rlcore_policy_buffers,
    out: *const rlcore_distribution,
) -> rlcore_status {
    call(|| unsafe {
        let (policy, n) = (view(p, Policy::open)?, num_rows as usize);
        let (read, asked) = arrays(policy.shape(), n, rows, out)?;
        let buffers = crate::policy::buffers(&policy, n, buffers)?;
        let (((obs, mask), action), asked, (scratch, carried)) = policy.extent.reading((read, asked, buffers))?;
        let (recurrent, to) = (learner::recurrent(carried), distribution(asked));
        Ok(policy.distribution(n, obs, mask, action, recurrent, scratch, to)?)
    })
}
