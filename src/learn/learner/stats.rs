//! What a learner tells of its updates and episodes.

use super::View;

/// Episodes that the running means of the statistics look back on.
pub const EPISODES: usize = 100;

/// What the last update did, and how the episodes go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Minibatches that `learn` still has to do before the update is complete.
    pub minibatches_left: u32,
    /// Environment steps observed.
    pub num_steps: u64,
    /// Complete updates.
    pub num_updates: u64,
    /// Updates that ended early because numbers overflowed.
    pub num_dropped: u64,
    /// Episodes ended.
    pub num_episodes: u64,
    /// Step size of this update.
    pub learning_rate: f32,
    /// Mean over the update's minibatches of the clipped surrogate loss.
    pub policy_loss: f32,
    /// Mean of half the squared error of the values.
    pub value_loss: f32,
    /// Mean entropy of the policy, in nats.
    pub entropy: f32,
    /// Mean of r - 1 - ln r over the last epoch, r the probability ratio.
    pub approx_kl: f32,
    /// Part of the ratios outside the clip range.
    pub clip_fraction: f32,
    /// 1 - Var(target - value) / Var(target) of the rollout; 0 if the targets do not vary.
    pub explained_variance: f32,
    /// Mean global norm of the gradients before clipping.
    pub grad_norm: f32,
    /// Mean value of the rollout's observations.
    pub value_mean: f32,
    /// Mean return of the last 100 episodes, NaN before the first ends.
    pub return_mean: f32,
    /// Mean length of the last 100 episodes, NaN before the first ends.
    pub length_mean: f32,
    /// Return of the episode that ended last, NaN before the first ends.
    pub return_last: f32,
    /// What follows is of UNREAL, before weights are applied; 0 for a task that is off, and where nothing was drawn. Mean
    /// squared error of the values of the chosen actions' pixel changes, summed over cells.
    pub pixel_control_loss: f32,
    /// Mean cross-entropy of the sign of the next reward, in nats.
    pub reward_class_loss: f32,
    /// Mean squared error of values on past steps.
    pub value_replay_loss: f32,
    /// Mean of A2C's loss on past steps: policy, values and entropy with their weights.
    pub policy_replay_loss: f32,
}

impl View<'_> {
    /// What the last update did, or the running one has done so far.
    pub fn stats(&self) -> Stats {
        let s = &self.state;
        let mean = |sum: f64| (sum / s.sums.count) as f32;
        let (ended, means) = (self.episodes.ended, self.episodes.means());
        let learns = s.updating != 0 || s.waits(self.config);
        let left = if learns { self.config.update_len().saturating_sub(s.minibatch) } else { 0 };
        let [cells, classes, replay] = s.sums.tasks;
        let [has_cells, has_classes, values, policy] = self.config.tasks();
        let of_task = |on: bool, sum: f64| if on { mean(sum) } else { 0.0 };
        Stats {
            minibatches_left: left,
            num_steps: s.num_steps,
            num_updates: s.num_updates,
            num_dropped: s.num_dropped,
            num_episodes: means.num_episodes,
            learning_rate: s.learning_rate,
            policy_loss: mean(s.sums.policy_loss),
            value_loss: mean(s.sums.value_loss),
            entropy: mean(s.sums.entropy),
            approx_kl: mean(s.sums.approx_kl),
            clip_fraction: mean(s.sums.clip_fraction),
            grad_norm: mean(s.sums.grad_norm),
            explained_variance: s.explained_variance,
            value_mean: s.value_mean,
            return_mean: means.return_mean as f32,
            length_mean: means.len_mean as f32,
            return_last: if ended.num_episodes > 0 { ended.return_last as f32 } else { f32::NAN },
            pixel_control_loss: of_task(has_cells, cells),
            reward_class_loss: of_task(has_classes, classes),
            value_replay_loss: of_task(values, replay),
            policy_replay_loss: of_task(policy, replay),
        }
    }
}
