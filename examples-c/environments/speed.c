/* Measures environment steps through the C interface: one thread, same-step autoreset with final observations, random
   actions; the built-in environments, and a trivial callback to measure the overhead of a step. Best of 41 runs. */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

enum { BATCHES = 64, PARTS = 41, STEPS = 200000 };

static int32_t counter_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)rng;
  *(uint64_t *)state = 0;
  *(float *)obs = 0.0F;
  return 0;
}

static int32_t counter_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row, (void)rng, (void)action;
  *(float *)obs = (float)++*(uint64_t *)state;
  out->reward = 1.0F;
  return 0;
}

static void *room(size_t count, size_t size) {
  void *p = calloc(count, size);
  if (p == NULL) exit(1);
  return p;
}

static void measure(const char *name, const rlcore_env *env, uint32_t n) {
  rlcore_space seen, taken;
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  rlcore_vecenv_config config;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = n;
  size_t size;
  CHECK(rlcore_vecenv_size(env, &config, &size));
  rlcore_vecenv *envs;
  void *mem = room(size, 1);
  CHECK(rlcore_vecenv_init(mem, size, env, &config, &envs));

  float *obs = room((size_t)n * seen.len, sizeof *obs), *final_obs = room((size_t)n * seen.len, sizeof *obs);
  float *reward = room(n, sizeof *reward), *push = room((size_t)BATCHES * n, sizeof *push);
  int32_t *choice = room((size_t)BATCHES * n, sizeof *choice);
  uint8_t *terminated = room(n, 1), *truncated = room(n, 1);
  const int discrete = taken.kind == RLCORE_I32;
  uint32_t x = 1;
  for (size_t i = 0; i < (size_t)BATCHES * n; i++) {
    x = x * 1664525U + 1013904223U;
    choice[i] = discrete ? (int32_t)((x >> 16) % taken.n[0]) : 0;
    push[i] = (float)(x >> 8) / 8388608.0F - 1.0F;
  }
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));

  rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .reward = reward,
                      .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  const int calls = STEPS / (int)n;
  double best = 1e300;
  for (int part = 0; part < PARTS; part++) {
    const double start = host_seconds();
    for (int i = 0; i < calls; i++) {
      const size_t at = (size_t)(i % BATCHES) * n;
      rows.action = discrete ? (void *)(choice + at) : (void *)(push + at);
      CHECK(rlcore_vecenv_step(envs, env, &rows));
    }
    const double each = (host_seconds() - start) * 1e9 / ((double)calls * n);
    if (each < best) best = each;
  }
  printf("%-24s N %-5u %7.1f ns a step %7.1f M steps/s\n", name, n, best, 1e3 / best);
  free(mem), free(obs), free(final_obs), free(reward), free(push), free(choice), free(terminated), free(truncated);
}

int main(void) {
  static const struct {
    const char *name;
    uint32_t env_id;
  } all[] = {{"CartPole-v1", RLCORE_ENV_CARTPOLE},         {"MountainCar-v0", RLCORE_ENV_MOUNTAIN_CAR},
             {"MountainCarContinuous-v0", RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS},
             {"Acrobot-v1", RLCORE_ENV_ACROBOT},           {"Pendulum-v1", RLCORE_ENV_PENDULUM},
             {"a callback that counts", 0}};
  static const uint32_t sizes[] = {1, 64, 4096}, choices = 2;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    static _Alignas(8) unsigned char mem[1 << 10];
    const rlcore_env_def counter = {.struct_size = sizeof counter, .env_id = 1000, .state_size = 8,
                                    .obs = {.kind = RLCORE_F32, .len = 1},
                                    .action = {.kind = RLCORE_I32, .len = 1, .n = &choices},
                                    .reset = counter_reset, .step = counter_step};
    rlcore_env *env;
    if (all[k].env_id != 0) CHECK(rlcore_env_builtin(mem, sizeof mem, all[k].env_id, &env));
    else CHECK(rlcore_env_init(mem, sizeof mem, &counter, &env));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) measure(all[k].name, env, sizes[i]);
  }
  return 0;
}
