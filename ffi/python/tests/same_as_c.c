/* Trains as tests/same_as_c.py does: `same_as_c STEPS`. Prints the hash of the parameters, and the steps a second. */
#include <rlcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if ((call) != RLCORE_OK) {                                                                                         \
      char why[256];                                                                                                   \
      rlcore_last_error(why, sizeof why);                                                                              \
      fprintf(stderr, "%s\n  %s\n", #call, why);                                                                       \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

enum { N = 8 };

static _Alignas(64) unsigned char game[1 << 10], learner[1 << 20], world[1 << 12];
static float params[1 << 16];
static const rlcore_rows rows = {
    .struct_size = sizeof rows, .obs = (float[N][4]){{0}}, .action = (int32_t[N]){0}, .reward = (float[N]){0},
    .terminated = (uint8_t[N]){0}, .truncated = (uint8_t[N]){0}, .valid = (uint8_t[N]){0}, .final_obs = (float[N][4]){{0}}};

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 8192;
  rlcore_env *env;
  rlcore_space seen, taken;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  CHECK(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env));
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, rows.obs));
  rlcore_learner_config config;
  rlcore_learner *agent;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  CHECK(rlcore_learner_init(learner, sizeof learner, &config, &seen, &taken, &agent));
  const double begin = seconds();
  while (stats.num_steps < steps) {
    CHECK(rlcore_collect(agent, envs, env, &rows, 0, NULL));
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
  }
  const double took = seconds() - begin;
  size_t len;
  uint64_t hash;
  CHECK(rlcore_learner_params_len(agent, &len));
  if (len > sizeof params / sizeof *params) return 1;
  CHECK(rlcore_learner_params_read(agent, params, len));
  CHECK(rlcore_hash(params, len * sizeof *params, &hash));
  printf("%016llx %.0f\n", (unsigned long long)hash, (double)stats.num_steps / took);
}
