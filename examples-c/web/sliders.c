#include "sliders.h"

enum { F32, U32, U64 };
#define A(name) (1U << RLCORE_ALGORITHM_##name)
#define POLICY (A(PPO) | A(A2C) | A(IMPALA) | A(UNREAL))
#define ROLLOUTS (POLICY | A(PQN))
#define STREAMS (A(STREAM_AC) | A(STREAM_Q))
#define REPLAYS (A(DQN) | A(TD3) | A(SAC))
#define ALL (ROLLOUTS | STREAMS | REPLAYS)
#define ROW(field, label, type, run, low, high, readers, fresh)                                                        \
  {#field, label, offsetof(rlcore_learner_config, field), type, SLIDER_##run, low, high, readers, fresh}

const slider sliders[NUM_SLIDERS] = {
    ROW(learning_rate, "Learning rate", F32, LOG, 1e-6, 1, ALL, false),
    ROW(learning_rate_end, "Learning rate at the end", F32, LOG_OR_ZERO, 1e-6, 1, ALL, false),
    ROW(discount, "Discount (gamma)", F32, BELOW_ONE, 0.5, 0.99999, ALL, false),
    ROW(gae_lambda, "Lambda", F32, LINEAR, 0, 1, ROLLOUTS | STREAMS, false),
    ROW(entropy_coef, "Weight of the entropy", F32, LOG_OR_ZERO, 1e-5, 1, POLICY | A(STREAM_AC), false),
    ROW(clip, "Clip range", F32, LOG, 0.01, 1, A(PPO), false),
    ROW(clip_end, "Clip range at the end", F32, LOG, 0.01, 1, A(PPO), false),
    ROW(value_coef, "Weight of the value loss", F32, LOG_OR_ZERO, 1e-3, 10, POLICY, false),
    ROW(clip_rho, "V-trace: clip of rho", F32, LOG, 0.1, 10, A(IMPALA), false),
    ROW(value_replay_coef, "Weight of value replay", F32, LOG_OR_ZERO, 1e-4, 10, A(UNREAL), false),
    ROW(reward_class_coef, "Weight of reward prediction", F32, LOG_OR_ZERO, 1e-4, 10, A(UNREAL), false),
    ROW(pixel_control_coef, "Weight of pixel control", F32, LOG_OR_ZERO, 1e-6, 1, A(UNREAL), false),
    ROW(max_grad_norm, "Largest norm of gradients", F32, LOG_OR_ZERO, 0.01, 100, ROLLOUTS | REPLAYS, false),
    ROW(exploration_start, "Random actions at the start", F32, LINEAR, 0, 1, A(PQN) | A(STREAM_Q) | REPLAYS, false),
    ROW(exploration_end, "Random actions at the end", F32, LINEAR, 0, 1, A(PQN) | A(STREAM_Q) | REPLAYS, false),
    ROW(exploration_steps, "Steps until then", U32, LOG, 10, 1e7, A(PQN) | A(STREAM_Q) | REPLAYS, false),
    ROW(exploration_noise, "Noise on actions", F32, LINEAR, 0, 1, A(TD3), false),
    ROW(target_noise, "Noise in targets", F32, LINEAR, 0, 1, A(TD3), false),
    ROW(temperature_rate, "Learning rate of the temperature", F32, LOG_OR_ZERO, 1e-6, 0.1, A(SAC), false),
    ROW(target_rate, "Move of the target networks", F32, LOG, 1e-4, 1, REPLAYS, false),
    ROW(target_interval, "Gradient steps between moves", U32, LOG, 1, 10000, REPLAYS, false),
    ROW(train_interval, "Steps between updates", U32, DOUBLING, 1, 1024, REPLAYS, false),
    ROW(gradient_steps, "Gradient steps of an update", U32, DOUBLING, 1, 64, REPLAYS, false),
    ROW(kappa_policy, "Bound of policy steps (kappa)", F32, LOG_OR_ZERO, 0.1, 100, A(STREAM_AC), false),
    ROW(kappa_value, "Bound of value steps (kappa)", F32, LOG_OR_ZERO, 0.1, 100, STREAMS, false),
    ROW(num_epochs, "Passes over a rollout", U32, LINEAR, 1, 20, A(PPO) | A(PQN), false),
    ROW(num_minibatches, "Minibatches of a rollout", U32, DOUBLING, 1, 64, ROLLOUTS, false),
    ROW(num_envs, "Environments", U32, DOUBLING, 1, 256, ROLLOUTS | REPLAYS, false),
    ROW(num_steps, "Steps of a rollout", U32, LINEAR, 1, 2048, ROLLOUTS, false),
    ROW(batch_size, "Transitions of a batch", U32, DOUBLING, 8, 1024, REPLAYS, false),
    ROW(hidden_len[0], "Units of the first hidden layer (starts over)", U32, DOUBLING, 1, 512, ALL, true),
    ROW(total_steps, "Steps of the training", U64, LOG, 1000, 1e8, ALL, false),
};

bool slider_used(const slider *s, const rlcore_learner_config *c) {
  if (s->offset == offsetof(rlcore_learner_config, hidden_len[0]) && c->num_hidden == 0) return false;
  return (s->readers >> c->algorithm & 1) != 0;
}

double slider_read(const slider *s, const rlcore_learner_config *c) {
  const void *const at = (const unsigned char *)c + s->offset;
  if (s->type == F32) return (double)*(const float *)at;
  return s->type == U32 ? (double)*(const uint32_t *)at : (double)*(const uint64_t *)at;
}

void slider_write(const slider *s, rlcore_learner_config *c, double value) {
  void *const at = (unsigned char *)c + s->offset;
  const bool zero = s->run == SLIDER_LOG_OR_ZERO && !(value >= s->low);
  const double within = zero ? 0 : !(value >= s->low) ? s->low : value > s->high ? s->high : value;
  if (s->type == F32) *(float *)at = (float)within;
  else if (s->type == U32) *(uint32_t *)at = (uint32_t)(within + 0.5);
  else *(uint64_t *)at = (uint64_t)(within + 0.5);
}
