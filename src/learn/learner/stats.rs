//! Statistics of a learner's updates and episodes.

use super::View;
use super::layout::log_std;
use crate::data::episodes::EpisodesRef;

/// The number of last episodes in the running means of the statistics.
pub const EPISODES: usize = 100;

/// Statistics of the last update and of episodes. Means are over the gradient steps of the update. A real number is NaN if the
/// algorithm does not have it, and before its first value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Minibatches that `learn` still has to process before the update is complete; off policy gradient steps.
    pub minibatches_left: u32,
    /// Environment steps observed, and those added by `count_steps`.
    pub num_steps: u64,
    /// Complete updates.
    pub num_updates: u64,
    /// Updates that ended early because numbers overflowed.
    pub num_dropped: u64,
    /// Episodes ended, except those with a demonstrated action.
    pub num_episodes: u64,
    /// Step size of this update.
    pub learning_rate: f32,
    /// PPO: mean clipped surrogate loss; A2C, IMPALA, UNREAL and stream AC: mean of minus log-probabilities times advantages; TD3:
    /// mean of minus the value of the policy's actions; SAC: that and temperature times log-probability.
    pub policy_loss: f32,
    /// Mean of half the squared error of the values, also of Q, without `value_coef`. With `huber` the Huber loss, with
    /// quantiles the quantile regression loss, with atoms the cross-entropy. Off policy it is weighted by importance, and is
    /// the mean over the critics. With `sum_losses`, as [`Stats::policy_loss`], the sum over a minibatch.
    pub value_loss: f32,
    /// Mean entropy of the policy, in nats: PPO, A2C, IMPALA, UNREAL, stream AC, SAC.
    pub entropy: f32,
    /// Mean of r - 1 - ln r, r the probability ratio: PPO, A2C, IMPALA, UNREAL.
    pub approx_kl: f32,
    /// Fraction of the ratios outside the clip range: PPO.
    pub clip_fraction: f32,
    /// 1 - Var(target - value) / Var(target) of the rollout; 0 if the targets are constant: PPO, A2C, IMPALA, UNREAL, PQN.
    pub explained_variance: f32,
    /// Mean global norm of the gradients before clipping; of TD3 and SAC that of the critics.
    pub grad_norm: f32,
    /// Mean value of the rollout's observations, or off policy of the batches' actions according to the first critic.
    pub value_mean: f32,
    /// Mean return of the last 100 episodes.
    pub return_mean: f32,
    /// Mean length of the last 100 episodes.
    pub length_mean: f32,
    /// Return of the episode that ended last.
    pub return_last: f32,
    /// PPO, IMPALA and UNREAL, as the next three, before weights are applied; NaN for a disabled task, 0 if no samples were
    /// drawn. Mean squared error of the values of the chosen actions' pixel changes, summed over cells.
    pub pixel_control_loss: f32,
    /// Mean cross-entropy of the sign of the next reward, in nats.
    pub reward_class_loss: f32,
    /// Mean squared error of values on past steps.
    pub value_replay_loss: f32,
    /// Mean of the algorithm's loss on past steps: policy, values and entropy with their weights.
    pub policy_replay_loss: f32,
    /// Standard deviation of the returns of the last 100 episodes.
    pub return_std: f32,
    /// The minimum of these returns.
    pub return_min: f32,
    /// The maximum of these returns.
    pub return_max: f32,
    /// SAC: the current temperature, the weight of a nat of entropy.
    pub temperature: f32,
    /// The current probability of a random action: DQN, TD3, SAC, PQN, stream Q.
    pub exploration_rate: f32,
    /// Mean logarithm of the standard deviations of continuous actions: of the current policy for PPO, A2C, IMPALA, UNREAL and
    /// stream AC; for SAC over the last batch that the policy learned from.
    pub log_std_mean: f32,
    /// Transitions in the replay store, and kept demonstrations; 0 on policy.
    pub num_stored: u64,
}

impl Stats {
    /// Statistics of episodes, with all other real numbers NaN.
    fn of(episodes: &EpisodesRef<'_>) -> Stats {
        let (ended, means) = (episodes.ended, episodes.means());
        let [return_std, return_min, return_max] = episodes.spread().map(|x| x as f32);
        Stats {
            num_episodes: means.num_episodes,
            return_mean: means.return_mean as f32,
            length_mean: means.len_mean as f32,
            return_last: if ended.num_episodes > 0 { ended.return_last as f32 } else { f32::NAN },
            return_std,
            return_min,
            return_max,
            policy_loss: f32::NAN,
            value_loss: f32::NAN,
            entropy: f32::NAN,
            approx_kl: f32::NAN,
            clip_fraction: f32::NAN,
            explained_variance: f32::NAN,
            grad_norm: f32::NAN,
            value_mean: f32::NAN,
            pixel_control_loss: f32::NAN,
            reward_class_loss: f32::NAN,
            value_replay_loss: f32::NAN,
            policy_replay_loss: f32::NAN,
            temperature: f32::NAN,
            exploration_rate: f32::NAN,
            log_std_mean: f32::NAN,
            ..Stats::default()
        }
    }
}

/// `number`, or NaN if it does not exist.
fn told(is_there: bool, number: impl FnOnce() -> f32) -> f32 {
    if is_there { number() } else { f32::NAN }
}

impl View<'_> {
    /// Statistics of the last update, or of the running one so far.
    pub fn stats(&self) -> Stats {
        let (s, c) = (&self.state, self.config);
        let mean = |there: bool, sum: f64| told(there && s.sums.count > 0.0, || (sum / s.sums.count) as f32);
        #[cfg(feature = "off_policy")]
        if c.needs().replay {
            let is_sac = c.needs().temperature;
            return Stats {
                minibatches_left: if s.updating != 0 { s.num_left as u32 } else { s.due },
                num_steps: s.num_steps,
                num_updates: s.num_updates,
                num_dropped: s.num_dropped,
                learning_rate: s.learning_rate,
                policy_loss: mean(c.needs().critics, s.sums.policy_loss),
                value_loss: mean(true, s.sums.value_loss),
                entropy: mean(is_sac, s.sums.entropy),
                grad_norm: mean(true, s.sums.grad_norm),
                value_mean: mean(true, s.value_sum),
                temperature: told(is_sac, || self.temperature()),
                exploration_rate: c.exploration(s.num_steps),
                log_std_mean: told(is_sac && self.sizes.std_len > 0 && s.adam_steps > 0, || s.log_std),
                num_stored: self.stored().saturating_add(self.kept()) as u64,
                ..Stats::of(&self.episodes)
            };
        }
        let learns = s.updating != 0 || s.waits(c);
        let [cells, classes, replay] = s.sums.tasks;
        let [has_cells, has_classes, values, policy] = c.tasks();
        let (acts, clips) = (!c.needs().q, c.needs().ratios);
        let batches = !c.needs().traces;
        let log_std = log_std(self.params, &self.sizes).unwrap_or_default();
        let sum: f64 = log_std.iter().map(|x| f64::from(*x)).sum();
        Stats {
            minibatches_left: if learns { c.update_len().saturating_sub(s.minibatch) } else { 0 },
            num_steps: s.num_steps,
            num_updates: s.num_updates,
            num_dropped: s.num_dropped,
            learning_rate: s.learning_rate,
            policy_loss: mean(acts, s.sums.policy_loss),
            value_loss: mean(true, s.sums.value_loss),
            entropy: mean(acts, s.sums.entropy),
            approx_kl: mean(acts && batches, s.sums.approx_kl),
            clip_fraction: mean(clips, s.sums.clip_fraction),
            grad_norm: mean(true, s.sums.grad_norm),
            explained_variance: told(batches, || s.explained_variance),
            value_mean: s.value_mean,
            pixel_control_loss: mean(has_cells, cells),
            reward_class_loss: mean(has_classes, classes),
            value_replay_loss: mean(values, replay),
            policy_replay_loss: mean(policy, replay),
            #[cfg(feature = "pqn")]
            exploration_rate: told(c.needs().q, || c.exploration(s.num_steps)),
            log_std_mean: told(!log_std.is_empty(), || (sum / log_std.len() as f64) as f32),
            ..Stats::of(&self.episodes)
        }
    }
}
