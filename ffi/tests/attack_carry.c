/* Learners that go on with another configuration, and with what other learners and policies have learned. */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 17, SEEN = 4, CHOICES = 3, VALUES = 1 << 12 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK], alone[BLOCK], store[BLOCK], brain[BLOCK];
  rlcore_learner *agent, *other, *off;
  rlcore_policy *policy;
  rlcore_learner_config config;
  rlcore_learner_stats stats;
  float values[2][VALUES];
  double moments[2][32];
} w, before;

#include "attack.h"

static const uint32_t choices[] = {CHOICES};
static const rlcore_space obs_space = {.kind = RLCORE_F32, .len = SEEN}, action_space = {.kind = RLCORE_I32, .len = 1, .n = choices};

static void start(void) {
  rlcore_learner_config c;
  size_t size;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = 2, c.num_steps = 4, c.num_minibatches = 1, c.normalize_obs = 1, c.hidden_len[0] = c.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs_space, &action_space, &w.agent));
  c.num_envs = 1, c.seed = 5;
  FINE(rlcore_learner_init(w.alone, BLOCK, &c, &obs_space, &action_space, &w.other));
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_DQN));
  c.num_envs = 1, c.buffer_size = 60, c.batch_size = 4, c.hidden_len[0] = c.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.store, BLOCK, &c, &obs_space, &action_space, &w.off));
  FINE(rlcore_policy_size(w.agent, &size));
  CHECK(size <= BLOCK);
  FINE(rlcore_policy_export(w.agent, w.brain, BLOCK, &w.policy));
  w.stats.struct_size = sizeof w.stats;
}

static void step(rlcore_learner *p, float x) {
  const float obs[2 * SEEN] = {x, 1, -x, 2, 3 * x, 1, 0, x}, reward[2] = {x, -x};
  const uint8_t ends[2] = {1, 0}, no[2] = {0};
  int32_t action[2];
  FINE(rlcore_learner_act(p, ACTED(NULL, obs, NULL, action)));
  FINE(rlcore_learner_observe(p, STEPPED(NULL, reward, ends, no, NULL, NULL)));
}

static void configure(void) {
#define CONFIGURE rlcore_learner_configure(w.agent, &w.config)
  FINE(rlcore_learner_config_read(w.agent, &w.config, sizeof w.config, NULL));
  w.config.learning_rate = 0.001F;
  FINE(CONFIGURE);
  FINE(rlcore_learner_config_read(w.agent, &w.config, sizeof w.config, NULL));
  CHECK(w.config.learning_rate == 0.001F);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_configure(NULL, &w.config));
  REFUSED(RLCORE_E_NULL, "learner config", rlcore_learner_configure(w.agent, NULL));
  REFUSED(RLCORE_E_IMAGE, "block: an image of kind", rlcore_learner_configure((rlcore_learner *)w.policy, &w.config));
  WITH(w.config.struct_size, 8, RLCORE_E_CONFIG, "learner config: struct_size", CONFIGURE);
  WITH(w.config.reserved, 1, RLCORE_E_CONFIG, "reserved", CONFIGURE);
  WITH(w.config.learning_rate, NAN, RLCORE_E_CONFIG, "learning_rate of 0 to 1", CONFIGURE);
  WITH(w.config.accumulate, 2, RLCORE_E_CONFIG, "accumulate", CONFIGURE);
  WITH(w.config.num_envs, 3, RLCORE_E_CONFIG, "num_envs is set to 3, and it stays as the learner was made with", CONFIGURE);
  WITH(w.config.num_envs, UINT32_MAX, RLCORE_E_CONFIG, "num_envs is set to 4294967295", CONFIGURE);
  WITH(w.config.seed, 2, RLCORE_E_CONFIG, "seed is set to 2", CONFIGURE);
  WITH(w.config.algorithm, RLCORE_ALGORITHM_DQN, RLCORE_E_CONFIG, "algorithm is set to", CONFIGURE);
  WITH(w.config.activation, RLCORE_ACTIVATION_RELU, RLCORE_E_CONFIG, "activation is set to", CONFIGURE);
  WITH(w.config.hidden_len[1], 9, RLCORE_E_CONFIG, "hidden_len is set to 9", CONFIGURE);
  WITH(w.config.num_layers, 1, RLCORE_E_CONFIG, "num_layers is set to 1", CONFIGURE);
  WITH(w.config.num_layers, UINT32_MAX, RLCORE_E_CONFIG, "num_layers", CONFIGURE);
  WITH(w.config.normalize_obs, 0, RLCORE_E_CONFIG, "normalize_obs is set to 0", CONFIGURE);
  WITH(w.config.buffer_size, 7, RLCORE_E_CONFIG, "buffer_size is set to 7, which is read only by", CONFIGURE);
  while (rlcore_learner_phase(w.agent, &w.stats.minibatches_left) == RLCORE_OK && w.stats.minibatches_left != RLCORE_LEARNER_LEARN) step(w.agent, 0.5F);
  REFUSED(RLCORE_E_NOT_READY, "an update is due or runs", CONFIGURE);
  REFUSED(RLCORE_E_NOT_READY, "an update is due or runs", rlcore_learner_adopt(w.agent, w.other, RLCORE_ADOPT_PARAMS));
  FINE(rlcore_learner_learn_drop(w.agent));
  FINE(CONFIGURE);
}

static void carry(void) {
  uint32_t parts = RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS | RLCORE_ADOPT_OPTIMIZER | RLCORE_ADOPT_COUNTERS;
  double count = 0;
  size_t len, moments;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
#define ADOPT rlcore_learner_adopt(w.other, w.agent, parts)
  FINE(rlcore_learner_params_len(w.agent, &len));
  FINE(rlcore_learner_moments_len(w.agent, &moments));
  CHECK(len <= VALUES && moments <= 32);
  FINE(ADOPT);
  FINE(rlcore_learner_params_read(w.agent, w.values[0], len));
  FINE(rlcore_learner_params_read(w.other, w.values[1], len));
  FINE(rlcore_learner_moments_read(w.agent, w.moments[0], moments));
  FINE(rlcore_learner_moments_read(w.other, w.moments[1], moments));
  CHECK(memcmp(w.values[0], w.values[1], sizeof w.values[0]) == 0 && memcmp(w.moments[0], w.moments[1], sizeof w.moments[0]) == 0);
  FINE(rlcore_learner_stats_read(w.agent, &w.stats));
  FINE(rlcore_learner_stats_read(w.other, &stats));
  CHECK(stats.num_episodes > 0 && stats.num_episodes == w.stats.num_episodes && stats.num_steps == w.stats.num_steps);
  CHECK(stats.return_mean == w.stats.return_mean);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_adopt(NULL, w.agent, parts));
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_adopt(w.other, NULL, parts));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_learner_adopt(w.agent, w.agent, parts));
  REFUSED(RLCORE_E_IMAGE, "block: an image of kind", rlcore_learner_adopt(w.other, (const rlcore_learner *)w.policy, parts));
  WITH(parts, 0, RLCORE_E_CONFIG, "a sum of the parts that can be taken over", ADOPT);
  WITH(parts, RLCORE_ADOPT_MATCHING, RLCORE_E_CONFIG, "a sum of the parts that can be taken over, given 64", ADOPT);
  WITH(parts, UINT32_MAX, RLCORE_E_CONFIG, "a sum of the parts that can be taken over", ADOPT);
  WITH(parts, RLCORE_ADOPT_TARGETS, RLCORE_E_CONFIG, "target networks in both", ADOPT);
  WITH(parts, RLCORE_ADOPT_STORE, RLCORE_E_CONFIG, "a store in both", ADOPT);
#define TO_STORE rlcore_learner_adopt(w.off, w.agent, parts)
  WITH(parts, RLCORE_ADOPT_PARAMS, RLCORE_E_CONFIG, "a tensor that both have", TO_STORE);
  WITH(parts, RLCORE_ADOPT_MOMENTS, RLCORE_E_CONFIG, "as many statistics in both", TO_STORE);
#define BACK rlcore_learner_adopt_policy(w.other, w.policy, parts, count)
  parts = RLCORE_ADOPT_PARAMS;
  FINE(BACK);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_adopt_policy(NULL, w.policy, parts, count));
  REFUSED(RLCORE_E_NULL, "policy", rlcore_learner_adopt_policy(w.other, NULL, parts, count));
  WITH(count, 1, RLCORE_E_VALUE, "obs_count above 0 with the statistics of a policy, and 0 without", BACK);
  WITH(parts, RLCORE_ADOPT_OPTIMIZER, RLCORE_E_CONFIG, "a sum of the parts that can be taken over", BACK);
  WITH(parts, RLCORE_ADOPT_MOMENTS, RLCORE_E_VALUE, "obs_count above 0", BACK);
  REFUSED(RLCORE_E_CONFIG, "a tensor that both have", rlcore_learner_adopt_policy(w.off, w.policy, parts, count));
  parts = RLCORE_ADOPT_MOMENTS, count = 50;
  FINE(BACK);
  WITH(count, NAN, RLCORE_E_VALUE, "obs_count above 0", BACK);
  WITH(count, 1e30, RLCORE_E_VALUE, "of at most 2^64", BACK);
  REFUSED(RLCORE_E_CONFIG, "as many statistics in both", rlcore_learner_adopt_policy(w.off, w.policy, parts, count));
}

int main(void) {
  start();
  configure();
  carry();
  return verdict();
}
