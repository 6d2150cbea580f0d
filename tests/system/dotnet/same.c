/* The output of Program.cs: PPO on CartPole-v1 and on an environment of the host's own, as numbers and hashes. */
#include <rlcore.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call) do if (call) { char why[256]; rlcore_last_error(why, sizeof why); fprintf(stderr, "%s\n", why); exit(1); } while (0)
enum { N = 8, UPDATES = 12 };

/* A mass on a line that is to stay at 0. Doubles without functions: the same bits in every language. */
typedef struct mass {
  double at, speed;
} mass;

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user;
  (void)row;
  mass *m = state;
  float *o = obs;
  CHECK(rlcore_rng_uniform(rng, -0.5, 0.5, &m->at, 1));
  m->speed = 0;
  o[0] = (float)m->at;
  o[1] = (float)m->speed;
  return 0;
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user;
  (void)row;
  (void)rng;
  mass *m = state;
  float *o = obs;
  m->speed = m->speed + (*(const int32_t *)action - 1) * 0.1;
  m->at = m->at + m->speed * 0.1;
  o[0] = (float)m->at;
  o[1] = (float)m->speed;
  out->reward = (float)(1 - m->at * m->at);
  out->terminated = m->at > 1 || m->at < -1;
  return 0;
}

static void *memory(size_t size) {
  void *mem = aligned_alloc(64, (size + 63) / 64 * 64);
  if (!mem) exit(1);
  for (size_t i = 0; i < size; i++) ((unsigned char *)mem)[i] = 0;
  return mem;
}

static void train(const char *name, const rlcore_env *env, rlcore_learner_config config) {
  rlcore_space seen, taken;
  size_t learner_size, envs_size;
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  rlcore_vecenv_config many;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  many.seed = 7;
  CHECK(rlcore_vecenv_size(env, &many, &envs_size));
  rlcore_vecenv *envs;
  CHECK(rlcore_vecenv_init(memory(envs_size), envs_size, env, &many, &envs));
  CHECK(rlcore_learner_size(&config, &seen, &taken, &learner_size));
  rlcore_learner *agent;
  CHECK(rlcore_learner_init(memory(learner_size), learner_size, &config, &seen, &taken, &agent));
  static float obs[N][4], final_obs[N][4], reward[N];
  static int32_t action[N];
  static uint8_t terminated[N], truncated[N];
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));
  while (stats.num_updates < UPDATES) {
    CHECK(rlcore_collect(agent, envs, env, &rows, 0, NULL));
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
  }
  uint64_t learned, lived;
  CHECK(rlcore_hash(agent, learner_size, &learned));
  CHECK(rlcore_hash(envs, envs_size, &lived));
  printf("%s: %llu steps, learner %016llx, environments %016llx\n", name, (unsigned long long)stats.num_steps,
         (unsigned long long)learned, (unsigned long long)lived);
}

int main(void) {
  rlcore_env *env;
  rlcore_learner_config config;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.learning_rate = 3e-3F;
  config.hidden_len[1] = 32;
  rlcore_env_def cartpole = {.struct_size = sizeof cartpole, .env_id = RLCORE_ENV_CARTPOLE};
  size_t size;
  CHECK(rlcore_env_size(&cartpole, &size));
  CHECK(rlcore_env_init(memory(size), size, &cartpole, &env));
  train("cartpole", env, config);
  const uint32_t three = 3;
  rlcore_env_def line = {.struct_size = sizeof line, .env_id = 1000, .state_size = sizeof(mass), .max_episode_steps = 100,
                         .obs = {.kind = RLCORE_F32, .len = 2}, .action = {.kind = RLCORE_I32, .len = 1, .n = &three},
                         .reset = reset, .step = step};
  CHECK(rlcore_env_size(&line, &size));
  CHECK(rlcore_env_init(memory(size), size, &line, &env));
  train("mass", env, config);
}
