/* A device that learns to remember: PPO and a GRU in one static array, until every episode ends with the right action. */
#include "boot.h"
#include <rlcore.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const rlcore_status status = (call);                                                                               \
    if (status) return failed(#call, status);                                                                          \
  } while (0)

enum { MEMORY_SIZE = 35 << 10, NUM_ENVS = 4, NUM_STEPS = 16, UNITS = 5, EPISODE = 4, MAX_UPDATES = 1000, ALIGN = 64 };

static _Alignas(ALIGN) unsigned char memory[MEMORY_SIZE]; /* everything that training needs */
static size_t used;

static int failed(const char *call, rlcore_status status) {
  print(call);
  print(": ");
  print(rlcore_status_name(status));
  print("\n");
  return 1;
}

/* Returns NULL if there is not enough memory; the library then reports E_NULL. */
static void *take(size_t size) {
  void *const taken = memory + used;
  if (size > sizeof memory - used) return NULL;
  used += (size + ALIGN - 1) / ALIGN * ALIGN;
  return taken;
}

/* A cue, -1 or 1, is seen in the first step alone; the last action of an episode is rewarded if it names the cue. */
typedef struct cue {
  float side;
  uint32_t step;
} cue;

static void show(const cue *c, float *obs) {
  obs[0] = c->step == 0 ? c->side : 0;
  obs[1] = c->step + 1 == EPISODE;
}

static int32_t reset_cue(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  cue *const c = state;
  int64_t side = 0;
  const rlcore_status status = rlcore_rng_integers(rng, 0, 2, &side, 1);
  (void)user, (void)row;
  *c = (cue){.side = side ? 1 : -1};
  show(c, obs);
  return status;
}

static int32_t step_cue(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  cue *const c = state;
  (void)user, (void)row, (void)rng;
  out->terminated = ++c->step == EPISODE;
  if (out->terminated) out->reward = (*(const int32_t *)action == 1) == (c->side > 0) ? 1 : -1;
  show(c, obs);
  return 0;
}

int run(void) {
  static const uint32_t choices[] = {2};
  static const rlcore_layer gru = {.kind = RLCORE_LAYER_GRU, .units = UNITS};
  const rlcore_env_def def = {.struct_size = sizeof def,
                              .env_id = 1000,
                              .state_size = sizeof(cue),
                              .obs = {.kind = RLCORE_F32, .len = 2},
                              .action = {.kind = RLCORE_I32, .len = 1, .n = choices},
                              .reset = reset_cue,
                              .step = step_cue};
  rlcore_env *env;
  rlcore_space seen, taken;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner_config config;
  rlcore_learner *agent;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  size_t env_size = 0, envs_size = 0, learner_size = 0;

  CHECK(rlcore_env_size(&def, &env_size));
  CHECK(rlcore_env_init(take(env_size), env_size, &def, &env));
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = NUM_ENVS;
  CHECK(rlcore_vecenv_size(env, &many, &envs_size));
  CHECK(rlcore_vecenv_init(take(envs_size), envs_size, env, &many, &envs));

  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = NUM_ENVS;
  config.num_steps = NUM_STEPS;
  config.num_minibatches = 2;
  config.num_hidden = 0;
  config.hidden_len[0] = config.hidden_len[1] = 0;
  config.layers = &gru;
  config.num_layers = 1;
  config.sequence_len = 8;
  config.learning_rate = 1e-2F;
  config.entropy_coef = 0;
  CHECK(rlcore_learner_size(&config, &seen, &taken, &learner_size));
  CHECK(rlcore_learner_init(take(learner_size), learner_size, &config, &seen, &taken, &agent));

  float *const obs = take(NUM_ENVS * seen.len * sizeof *obs), *const reward = take(NUM_ENVS * sizeof *reward);
  float *const final_obs = take(NUM_ENVS * seen.len * sizeof *final_obs);
  int32_t *const action = take(NUM_ENVS * taken.len * sizeof *action);
  uint8_t *const terminated = take(NUM_ENVS), *const truncated = take(NUM_ENVS);
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));
  do {
    for (uint32_t step = 0; step < NUM_STEPS; step++) {
      CHECK(rlcore_learner_act(agent, &rows));
      CHECK(rlcore_vecenv_step(envs, env, &rows));
      CHECK(rlcore_learner_observe(agent, &rows));
    }
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
  } while (!(stats.return_mean >= 1) && stats.num_updates < MAX_UPDATES);

  print_number((uint32_t)used);
  print(" bytes of the array used\n");
  print_number((uint32_t)stats.num_steps);
  print(" steps, mean return of the last 100 episodes ");
  print_number((uint32_t)(stats.return_mean * 100));
  print(" %\n");
  if (!(stats.return_mean >= 1)) return 1;
  print("ok: learned to remember on the device\n");
  return 0;
}
