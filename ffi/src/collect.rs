//! Steps of N environments, collected for a learner.

use crate::env::{CompiledEnv, rlcore_env};
use crate::learner::rlcore_learner;
use crate::lifecycle::open;
use crate::ptr::{AnyOutput, One, Output, Reads, Writes, args, tell};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use crate::vecenv::{Block, rlcore_vecenv};
use rlcore::collect::collect;
use rlcore::env::StepOut;
use rlcore::learn::Learner;

/// Collects steps: rlcore_learner_act, rlcore_vecenv_step and rlcore_learner_observe, in turn, until max_steps steps of all
/// environments are taken or rlcore_learner_learn is due. Blocks and arrays are left as by these calls made one by one.
/// Autoreset must be same step.
/// Example:
///   rlcore_vecenv_reset(envs, env, NULL, rows.obs);    // and rlcore_vecenv_action_mask, with use_action_mask
///   while (training) {
///     rlcore_collect(agent, envs, env, &rows, 0, NULL);
///     rlcore_learner_learn(agent, &rows, 0, &stats);
///   }
/// rows:          obs, and with use_action_mask action_mask, are those to act on first, and are written like all that
///                rlcore_vecenv_step writes; action is written. final_obs is required; action_mask and
///                final_action_mask are NULL without use_action_mask. active is not read: all act. Afterwards they
///                hold the last step: with max_steps of 1 the host sees every step, as rlcore_monitor_step needs it.
/// max_steps:     0: no limit. If learn is due already, no step is taken.
/// out_num_steps: steps taken; NULL: not wanted. Also written if a step fails after others; it is not counted.
/// Threads: one call at a time; nobody else uses learner or environments, and callbacks must not either.
/// Errors: E_CONFIG, also for another autoreset; E_SHAPE if learner and environments differ in N or in their spaces, or
/// for masks; E_NOT_READY for an environment that must be reset first, or that has acted and was not observed; as
/// rlcore_learner_act; all before anything changes. If environments fail with E_CALLBACK, or E_VALUE for a reward or
/// observation that is not finite, all others are stepped and observed, and the failed ones are cut as by
/// rlcore_learner_cut: their last transitions are dropped. valid, if given, is 0 for them, and rlcore_last_error() names
/// the first. If rlcore_learner_observe fails, all are cut. Reset those that failed, and call again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_collect(
    p: *mut rlcore_learner,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    rows: *const rlcore_rows,
    max_steps: u32,
    out_num_steps: *mut u32,
) -> rlcore_status {
    call(|| unsafe { collect_into(p, v, env, rows, max_steps, out_num_steps) })
}

/// [`rlcore_collect`], whose failures are kept by its caller.
unsafe fn collect_into(
    p: *mut rlcore_learner,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    rows: *const rlcore_rows,
    max_steps: u32,
    out_num_steps: *mut u32,
) -> Result {
    let (env, mut other) = (unsafe { CompiledEnv::at(env)? }, None);
    let (block, given) = unsafe { (Block::at(v, env)?, rlcore_rows::at(rows, &mut other)?) };
    let mut learner = unsafe { open(p, Learner::open)? };
    let (n, obs_len, action_len) = block.lens();
    let (obs_kind, action_kind) = block.setup.kinds();
    let [mask, final_mask] = unsafe { given.masks(n, block.setup.mask_len)? };
    let arrays = unsafe {
        (
            block.obs(given.obs)?,
            AnyOutput::at("action", given.action, action_kind, n, action_len)?,
            Output::at("reward", given.reward, n)?,
            [Output::at("terminated", given.terminated, n)?, Output::at("truncated", given.truncated, n)?],
            AnyOutput::optional("final_obs", given.final_obs, obs_kind, n, obs_len)?,
            [Output::optional("valid", given.valid, n)?, mask, final_mask],
            One::optional("out_num_steps", out_num_steps)?,
            (Writes([learner.extent, block.extent]), Reads([env.extent()])),
        )
    };
    let (obs, action, reward, [terminated, truncated], final_obs, [valid, action_mask, final_action_mask], told, _) =
        args(arrays)?;
    let out = StepOut { obs, reward, terminated, truncated, final_obs, valid, action_mask, final_action_mask };
    let mut rows = unsafe { block.rows(0, n)? };
    let (steps, done) = collect(&mut learner, env, &mut rows, action, out, max_steps);
    if steps > 0 || done.is_ok() {
        tell(told, steps);
    }
    Ok(done?)
}
