#include "training.h"

#include <math.h>
#include <string.h>

enum { EVAL_SEED = 1000000 };

static rlcore_vecenv_config envs_config(uint32_t num_envs, uint64_t seed) {
  rlcore_vecenv_config config;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = num_envs;
  config.seed = seed;
  return config;
}

void training_plan(training *t, const host_env *world, const rlcore_learner_config *config) {
  const rlcore_vecenv_config envs = envs_config(config->num_envs, 0);
  const size_t obs_size = config->num_envs * world->obs.len * host_element_size(world->obs.kind);
  memset(t, 0, sizeof *t);
  t->world = *world;
  t->config = *config;
  CHECK(rlcore_learner_size(config, &world->obs, &world->action, &t->learner_size));
  CHECK(rlcore_vecenv_size(world->env, &envs, &t->envs_size));
  t->image_size = host_aligned(t->learner_size) + host_aligned(t->envs_size) + host_aligned(obs_size);
  t->image = host_take(t->image_size);
  t->rows = (rlcore_rows){
      .struct_size = sizeof t->rows,
      .obs = t->image + host_aligned(t->learner_size) + host_aligned(t->envs_size),
      .action = host_take(config->num_envs * world->action.len * host_element_size(world->action.kind)),
      .reward = host_take(config->num_envs * sizeof *t->rows.reward),
      .terminated = host_take(config->num_envs),
      .truncated = host_take(config->num_envs),
      .final_obs = host_take(obs_size),
  };
  t->stats.struct_size = sizeof t->stats;
}

void training_start(training *t, uint64_t seed) {
  /* Environment i draws from stream `seed + i`: leave room between seeds. */
  const rlcore_vecenv_config envs = envs_config(t->config.num_envs, seed << 16);
  t->config.seed = seed;
  memset(t->image, 0, t->image_size);
  t->stats = (rlcore_learner_stats){.struct_size = sizeof t->stats};
  CHECK(rlcore_learner_init(t->image, t->learner_size, &t->config, &t->world.obs, &t->world.action, &t->agent));
  CHECK(rlcore_vecenv_init(t->image + host_aligned(t->learner_size), t->envs_size, t->world.env, &envs, &t->envs));
  CHECK(rlcore_vecenv_reset(t->envs, t->world.env, NULL, t->rows.obs));
}

void training_attach(training *t) {
  CHECK(rlcore_learner_attach(t->image, t->learner_size, t->config.num_envs, &t->world.obs, &t->world.action, &t->agent));
  CHECK(rlcore_vecenv_attach(t->image + host_aligned(t->learner_size), t->envs_size, t->world.env, &t->envs));
}

void training_step(training *t) {
  CHECK(rlcore_learner_act(t->agent, &t->rows));
  CHECK(rlcore_vecenv_step(t->envs, t->world.env, &t->rows));
  CHECK(rlcore_learner_observe(t->agent, &t->rows));
}

void training_collect(training *t) { CHECK(rlcore_collect(t->agent, t->envs, t->world.env, &t->rows, 0, NULL)); }

bool training_learn(training *t, uint32_t max_slices) {
  uint32_t phase = 0;
  CHECK(rlcore_learner_phase(t->agent, &phase));
  if (phase != RLCORE_LEARNER_LEARN) return false;
  CHECK(rlcore_learner_learn(t->agent, &t->rows, max_slices, &t->stats));
  return t->stats.minibatches_left != 0;
}

uint64_t training_hash(const training *t) { return host_hash(t->image, t->image_size); }

uint64_t training_params_hash(training *t) {
  size_t len;
  CHECK(rlcore_learner_params_len(t->agent, &len));
  if (!t->params) t->params = host_take(len * sizeof *t->params);
  CHECK(rlcore_learner_params_read(t->agent, t->params, len));
  return host_hash(t->params, len * sizeof *t->params);
}

const rlcore_policy *training_export(const training *t, size_t *out_size) {
  rlcore_policy *policy;
  void *mem;
  CHECK(rlcore_policy_size(t->agent, out_size));
  mem = host_take(*out_size);
  CHECK(rlcore_policy_export(t->agent, mem, *out_size, &policy));
  return policy;
}

const rlcore_sampling GREEDY = {.method = RLCORE_SAMPLING_GREEDY};

evaluation evaluate(const rlcore_policy *policy, const host_env *world, uint32_t num_episodes, const rlcore_sampling *sampling) {
  const size_t mark = host_mark(), n = num_episodes;
  const rlcore_vecenv_config config = envs_config(num_episodes, EVAL_SEED);
  rlcore_rng rng; /* greedy choices do not depend on it */
  evaluation e = {.min = INFINITY, .max = -INFINITY};
  size_t envs_size = 0, scratch_len = 0, state_len = 0, left = n;
  rlcore_vecenv *envs;
  CHECK(rlcore_rng_seed(&rng, EVAL_SEED));
  CHECK(rlcore_vecenv_size(world->env, &config, &envs_size));
  CHECK(rlcore_policy_scratch_len(policy, num_episodes, &scratch_len));
  CHECK(rlcore_policy_state_len(policy, &state_len));

  void *const mem = host_take(envs_size);
  float *const scratch = host_take(scratch_len * sizeof *scratch);
  float *const state = host_take(n * state_len * sizeof *state); /* each episode begins with zeros */
  void *const obs = host_take(n * world->obs.len * host_element_size(world->obs.kind));
  void *const final_obs = host_take(n * world->obs.len * host_element_size(world->obs.kind));
  void *const action = host_take(n * world->action.len * host_element_size(world->action.kind));
  float *const reward = host_take(n * sizeof *reward);
  uint8_t *const terminated = host_take(n), *const truncated = host_take(n), *const over = host_take(n);
  double *const sum = host_take(n * sizeof *sum);
  const rlcore_rows rows = {.struct_size = sizeof rows,
                            .obs = obs,
                            .action = action,
                            .reward = reward,
                            .terminated = terminated,
                            .truncated = truncated,
                            .final_obs = final_obs};
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = scratch_len, .state = state};

  CHECK(rlcore_vecenv_init(mem, envs_size, world->env, &config, &envs));
  CHECK(rlcore_vecenv_reset(envs, world->env, NULL, obs));
  for (uint32_t step = 0; left && step < 100000; step++) {
    CHECK(rlcore_policy_act(policy, num_episodes, &rows, &buffers, sampling, &rng));
    CHECK(rlcore_vecenv_step(envs, world->env, &rows));
    for (size_t i = 0; i < n; i++) {
      if (over[i]) continue; /* only the first episode of each environment counts, to avoid a bias toward short ones */
      sum[i] += (double)reward[i];
      e.mean_len += 1.0 / (double)n;
      over[i] = terminated[i] || truncated[i];
      left -= over[i];
    }
  }
  if (left) host_fail("evaluation: %zu of %zu episodes did not end", left, n);
  for (size_t i = 0; i < n; i++) e.mean += sum[i] / (double)n;
  for (size_t i = 0; i < n; i++) {
    e.std += (sum[i] - e.mean) * (sum[i] - e.mean) / (double)n;
    e.min = sum[i] < e.min ? sum[i] : e.min;
    e.max = sum[i] > e.max ? sum[i] : e.max;
  }
  e.std = sqrt(e.std);
  host_rewind(mark);
  return e;
}
