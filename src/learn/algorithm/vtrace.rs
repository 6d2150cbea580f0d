//! IMPALA (Espeholt et al. 2018): the actor-critic's loss, with targets and advantages of V-trace. They are computed in each
//! minibatch from its current values and log-probabilities, and from the log-probabilities at the time of the actions.

use super::{Algorithm, Needs, gradient};
use crate::block::{self, LayoutError};
use crate::error::Result;
use crate::kernels::vtrace::{self, Rates, VTrace};
use crate::learn::config::Config;
use crate::learn::learner::context::{ChunkContext, UpdateContext};
use crate::learn::learner::layout::Scratch;
use crate::learn::loss::{self, Batch};
use crate::learn::tasks;

/// IMPALA.
pub(super) struct Impala;

impl Algorithm for Impala {
    const NEEDS: Needs = Needs { corrections: true, tasks: tasks::BUILT, ..Needs::NONE };

    /// V-trace needs the policy that learns: until then advantages hold rewards, and targets are one-step targets.
    fn begin(u: &mut UpdateContext<'_, '_>) -> Result {
        u.advantages(0.0)?;
        u.rewards_for_advantages()
    }

    /// The rows of a chunk are sequences, `[steps, sequences]`. Where a sequence or an episode ends, the next value is the
    /// recorded one, which is part of `value_target`; `advantage` holds the rewards.
    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], _: &mut [f32]) -> Result {
        let c = b.config;
        let (begin, end) = c.chunk(b.chunk);
        let order = b.order.get(begin..end).ok_or(LayoutError)?;
        let given = b.advantage.get(begin..end).ok_or(LayoutError)?;
        let num_steps = c.sequence_rows();
        let num_envs = order.len().checked_div(num_steps).ok_or(LayoutError)?;
        gradient::chunk(b, w, record, |batch, coefficients, spare, [d_log_prob, d_value, _]| {
            let mut columns = spare.chunks_exact_mut(order.len().max(1));
            let mut column = || columns.next().ok_or(LayoutError);
            let (reward, discounts, log_rho) = (column()?, column()?, column()?);
            let (vs, pg_advantage, bootstrap_value) =
                (column()?, column()?, block::rows_mut(column()?, 0, num_envs, 1)?);
            let rows = order.iter().zip(given).zip(batch.value_target).enumerate();
            for ((reward, discount), (row, ((&slot, &given), &target))) in
                reward.iter_mut().zip(&mut *discounts).zip(rows)
            {
                let later = order.get(row.saturating_add(num_envs));
                let goes_on = later.is_some_and(|&later| b.follows(slot, later));
                (*reward, *discount) = if goes_on { (given, b.discount(slot)) } else { (target, 0.0) };
            }
            for ((to, now), then) in log_rho.iter_mut().zip(batch.log_prob).zip(batch.old_log_prob) {
                *to = now - then;
            }
            bootstrap_value.fill(0.0);
            let v = v_trace(c, [num_steps, num_envs], [discounts, reward, batch.value, bootstrap_value]);
            vtrace::from_importance_weights(&v, log_rho, vs, pg_advantage)?;
            let batch = Batch { advantage: pg_advantage, value_target: vs, ..*batch };
            loss::actor_and_critic(&batch, coefficients, d_log_prob, d_value)
        })
    }
}

/// V-trace with the rates of a configuration, of steps and environments: discounts, rewards and values, `[steps, environments]`
/// each, and the values after the last step.
pub(super) fn v_trace<'v>(
    c: &Config,
    [num_steps, num_envs]: [usize; 2],
    [discounts, reward, value, bootstrap_value]: [&'v [f32]; 4],
) -> VTrace<'v> {
    let rates = Rates {
        clip_rho: c.clip_rho,
        clip_c: c.clip_c,
        clip_pg_rho: c.clip_pg_rho,
        td_lambda: c.gae_lambda,
        leak: c.leak,
    };
    VTrace {
        num_steps,
        num_envs,
        discounts,
        reward,
        value,
        bootstrap_value,
        truncated: None,
        final_value: None,
        rates,
        accumulate: c.accumulation(),
    }
}
