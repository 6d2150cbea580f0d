/* CartPole trained in slices, so that a page can draw in between; the module has no imports. Also compiled natively
   (native.c), with the same hash for the same seed. */
#include "web.h"
#include <rlcore.h>

enum { NUM_ENVS = 4, OBS_LEN = 4, TOTAL_STEPS = 100000, ALIGN = 64, WIDTH = 600, HEIGHT = 400, WATCHED_SEED = 1000000 };
#define ALIGNED(size) (((size) + ALIGN - 1) / ALIGN * ALIGN)

/* Everything to save: learner, environments, observations. */
static _Alignas(ALIGN) unsigned char image[1 << 19];
static size_t learner_size, envs_size, image_size;
static rlcore_env *env;
static rlcore_learner *agent;
static rlcore_vecenv *envs;
static float *obs, final_obs[NUM_ENVS * OBS_LEN], reward[NUM_ENVS];
static int32_t action[NUM_ENVS];
static uint8_t terminated[NUM_ENVS], truncated[NUM_ENVS];
static rlcore_learner_stats stats;

/* One more environment, played by the current policy, for display. It does not affect the training. */
static _Alignas(ALIGN) unsigned char brain[1 << 15], stage[1 << 10], game[1 << 10];
static rlcore_policy *policy;
static rlcore_vecenv *watched;
static float watched_obs[OBS_LEN], watched_final[OBS_LEN], scratch[1 << 10];
static uint8_t rgb[WIDTH * HEIGHT * 3], rgba[WIDTH * HEIGHT * 4];
static uint32_t balanced;
static char why[256];

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const rlcore_status status = (call);                                                                               \
    if (status) return rlcore_last_error(why, sizeof why), status;                                                     \
  } while (0)

/* The settings of tasks.c; others would give another hash. */
static rlcore_status configure(rlcore_learner_config *c, uint32_t seed) {
  TRY(rlcore_learner_config_init(c, sizeof *c, RLCORE_ALGORITHM_PPO));
  c->total_steps = TOTAL_STEPS;
  c->num_envs = NUM_ENVS;
  c->num_steps = 64;
  c->num_minibatches = 8;
  c->num_epochs = 1;
  c->learning_rate = 3e-3F;
  c->discount = 0.98F;
  c->gae_lambda = 0.8F;
  c->entropy_coef = 0;
  c->seed = seed;
  return RLCORE_OK;
}

static rlcore_status start_watching(void) {
  rlcore_vecenv_config one;
  TRY(rlcore_policy_export(agent, brain, sizeof brain, &policy));
  TRY(rlcore_vecenv_config_init(&one, sizeof one));
  one.num_envs = 1;
  one.seed = WATCHED_SEED;
  balanced = 0;
  TRY(rlcore_vecenv_init(stage, sizeof stage, env, &one, &watched));
  TRY(rlcore_vecenv_reset(watched, env, NULL, watched_obs));
  return RLCORE_OK;
}

int32_t web_start(uint32_t seed) {
  rlcore_learner_config config;
  rlcore_vecenv_config many;
  rlcore_space seen, taken;
  for (size_t i = 0; i < sizeof image; i++) image[i] = 0;
  stats = (rlcore_learner_stats){.struct_size = sizeof stats};
  TRY(configure(&config, seed));
  TRY(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env));
  TRY(rlcore_env_spaces(env, &seen, &taken));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = NUM_ENVS;
  many.seed = (uint64_t)seed << 16;
  TRY(rlcore_learner_size(&config, &seen, &taken, &learner_size));
  TRY(rlcore_vecenv_size(env, &many, &envs_size));
  image_size = ALIGNED(learner_size) + ALIGNED(envs_size) + ALIGNED(NUM_ENVS * OBS_LEN * sizeof *obs);
  TRY(image_size <= sizeof image ? RLCORE_OK : RLCORE_E_SIZE);
  TRY(rlcore_learner_init(image, learner_size, &config, &seen, &taken, &agent));
  TRY(rlcore_vecenv_init(image + ALIGNED(learner_size), envs_size, env, &many, &envs));
  obs = (float *)(void *)(image + ALIGNED(learner_size) + ALIGNED(envs_size));
  TRY(rlcore_vecenv_reset(envs, env, NULL, obs));
  return start_watching();
}

int32_t web_work(void) {
  const rlcore_rows rows = {.struct_size = sizeof rows,
                            .obs = obs,
                            .action = action,
                            .reward = reward,
                            .terminated = terminated,
                            .truncated = truncated,
                            .final_obs = final_obs};
  uint32_t phase = 0;
  TRY(rlcore_learner_phase(agent, &phase));
  if (phase == RLCORE_LEARNER_LEARN) {
    TRY(rlcore_learner_learn(agent, &rows, 1, &stats));
    if (stats.minibatches_left == 0) TRY(rlcore_policy_export(agent, brain, sizeof brain, &policy));
    return stats.minibatches_left != 0 || stats.num_steps < TOTAL_STEPS;
  }
  TRY(rlcore_learner_act(agent, &rows));
  TRY(rlcore_vecenv_step(envs, env, &rows));
  TRY(rlcore_learner_observe(agent, &rows));
  return 1;
}

int32_t web_watch(void) {
  float gain = 0;
  uint8_t fallen = 0, over = 0;
  int32_t push = 0;
  const rlcore_rows rows = {.struct_size = sizeof rows,
                            .obs = watched_obs,
                            .action = &push,
                            .reward = &gain,
                            .terminated = &fallen,
                            .truncated = &over,
                            .final_obs = watched_final};
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = sizeof scratch / sizeof *scratch};
  TRY(rlcore_policy_act_greedy(policy, 1, &rows, &buffers));
  TRY(rlcore_vecenv_step(watched, env, &rows));
  balanced = fallen || over ? 0 : balanced + 1;
  TRY(rlcore_vecenv_render(watched, env, 0, WIDTH, HEIGHT, rgb));
  for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
    for (size_t c = 0; c < 3; c++) rgba[4 * i + c] = rgb[3 * i + c];
    rgba[4 * i + 3] = 255;
  }
  return RLCORE_OK;
}

const uint8_t *web_picture(void) { return rgba; }
uint32_t web_picture_width(void) { return WIDTH; }
uint32_t web_picture_height(void) { return HEIGHT; }
uint32_t web_balanced(void) { return balanced; }
uint32_t web_total_steps(void) { return TOTAL_STEPS; }
double web_steps(void) { return (double)stats.num_steps; }
double web_episodes(void) { return (double)stats.num_episodes; }
double web_return(void) { return stats.num_episodes ? (double)stats.return_mean : 0; }
const char *web_error(void) { return why; }

uint64_t web_hash(void) {
  static float params[1 << 14];
  uint64_t hash = 0;
  size_t len = 0;
  rlcore_learner_params_len(agent, &len);
  if (len > sizeof params / sizeof *params) return 0;
  rlcore_learner_params_read(agent, params, len);
  rlcore_hash(params, len * sizeof *params, &hash);
  return hash;
}

uint64_t web_published_hash(void) {
  static const struct {
    const char *name;
    uint64_t full, quick;
  } published[] = {
#include "../shared/hashes.h"
  };
  return published[0].full; /* CartPole's is the first */
}
