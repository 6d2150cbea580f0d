//! Learners that go on: with another configuration, and with what others have learned.

use crate::learner::rlcore_learner;
use crate::learner_config::{numbers, rlcore_learner_config};
use crate::lifecycle::{bytes, view};
use crate::policy::rlcore_policy;
use crate::ptr::{Reads, Writes, args};
use crate::status::{call, rlcore_status};
use rlcore::learn::{Learner, Policy, View, adopt};

/// What one learner takes over from another: a sum of these.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_adopt {
    /// the parameters, and a temperature that is learned; target networks become copies
    RLCORE_ADOPT_PARAMS = 1,
    /// the parameters of target networks: DQN, TD3, SAC
    RLCORE_ADOPT_TARGETS = 2,
    /// moments of the optimizer, or traces, and the counts of its steps
    RLCORE_ADOPT_OPTIMIZER = 4,
    /// moments that normalize observations and rewards
    RLCORE_ADOPT_MOMENTS = 8,
    /// environment steps, which schedules go by, updates, and the statistics of episodes
    RLCORE_ADOPT_COUNTERS = 16,
    /// transitions of the buffer: the newest ones that there is room for
    RLCORE_ADOPT_STORE = 32,
    /// tensors that only one side has, or with other dimensions, are left out, not refused
    RLCORE_ADOPT_MATCHING = 64,
}

const _: () = {
    assert!(rlcore_adopt::RLCORE_ADOPT_PARAMS as u32 == adopt::PARAMS);
    assert!(rlcore_adopt::RLCORE_ADOPT_TARGETS as u32 == adopt::TARGETS);
    assert!(rlcore_adopt::RLCORE_ADOPT_OPTIMIZER as u32 == adopt::OPTIMIZER);
    assert!(rlcore_adopt::RLCORE_ADOPT_MOMENTS as u32 == adopt::MOMENTS);
    assert!(rlcore_adopt::RLCORE_ADOPT_COUNTERS as u32 == adopt::COUNTERS);
    assert!(rlcore_adopt::RLCORE_ADOPT_STORE as u32 == adopt::STORE);
    assert!(rlcore_adopt::RLCORE_ADOPT_MATCHING as u32 == adopt::MATCHING);
};

/// Gives a learner that goes on another configuration, between updates: learning rates and other numbers of the
/// optimizer, discount, entropy, clips, limits, schedules, intervals, exploration, everything that changes neither the
/// length of the block nor the layers. It goes on as if it had been made with these values: parameters, moments,
/// statistics, steps and transitions stay, and schedules are where the steps that were counted put them. Another
/// optimizer starts its moments anew, another temperature becomes the current one, and deviations move into new limits.
/// Example:
///   rlcore_learner_config config;
///   rlcore_learner_config_read(agent, &config, sizeof config, NULL);
///   config.learning_rate /= 10;
///   rlcore_learner_configure(agent, &config);
/// config: layers, obs_fields, action_fields and the numbers of fields are not read; num_layers is 0 or as the learner
///         was made with.
/// Errors: E_NOT_READY while an update is due or runs; E_CONFIG as rlcore_learner_init, and for a field that has to stay
/// as it is. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_configure(
    p: *mut rlcore_learner,
    config: *const rlcore_learner_config,
) -> rlcore_status {
    call(|| unsafe {
        let config = numbers(config)?;
        let (mem, _) = bytes(p)?;
        Ok(Learner::configure(mem, &config)?)
    })
}

/// Takes over what another learner has learned: of other num_envs, num_steps, buffers, hyperparameters, algorithm, or
/// layers that agree in part. Tensors go by the names that rlcore_learner_tensors lists. All else stays as it is, and so
/// do episodes that go on.
/// Example:
///   rlcore_learner_adopt(alone, agent, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS);
/// other: only read, in any state; not p itself.
/// parts: a sum of rlcore_adopt.
/// Errors: E_NOT_READY while an update of p is due or runs; E_CONFIG for another sum, for a tensor of p that other does not
/// have with its dimensions, with its index, unless RLCORE_ADOPT_MATCHING, and then if there is none that it has; for
/// moments of another optimizer, statistics of another length, targets or a buffer that one of them does not have, and
/// buffers of other spaces, masks, n_step, discount or use_duration, with num_stacked or with recurrent layers.
/// E_OVERLAP. Nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_adopt(
    p: *mut rlcore_learner,
    other: *const rlcore_learner,
    parts: u32,
) -> rlcore_status {
    call(|| unsafe {
        let from = view(other, View::open)?;
        let (mem, extent) = bytes(p)?;
        args((Writes([extent]), Reads([from.extent])))?;
        Ok(Learner::open(mem)?.adopt(&from, parts)?)
    })
}

/// Takes over the parameters of a policy, and the moments that normalize its observations: each tensor of the policy goes
/// to the one of its name; values and critics, which a policy does not have, stay.
/// parts:     a sum of RLCORE_ADOPT_PARAMS, RLCORE_ADOPT_MOMENTS and RLCORE_ADOPT_MATCHING.
/// obs_count: observations that the moments count as, which a policy does not tell: the more, the slower others move
///            them. Above 0 with RLCORE_ADOPT_MOMENTS, else 0.
/// Errors: as rlcore_learner_adopt; E_VALUE for obs_count and for a parameter beyond plus or minus 1e6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_adopt_policy(
    p: *mut rlcore_learner,
    other: *const rlcore_policy,
    parts: u32,
    obs_count: f64,
) -> rlcore_status {
    call(|| unsafe {
        let from = view(other, Policy::open)?;
        let (mem, extent) = bytes(p)?;
        args((Writes([extent]), Reads([from.extent])))?;
        Ok(Learner::open(mem)?.adopt_policy(&from, parts, obs_count)?)
    })
}
