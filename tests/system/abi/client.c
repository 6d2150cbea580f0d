/* A training program written against the oldest header. It is compiled with that header (oldest.py), with today's, and with one in
   which every structure has grown, and has to print the same each time. */
#include <rlcore.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call) \
  do { \
    if ((call) != RLCORE_OK) { \
      char why[256]; \
      rlcore_last_error(why, sizeof why); \
      printf("line %d: %s\n", __LINE__, why); \
      return 1; \
    } \
  } while (0)

enum { N = 4 };

/* The environment: guess which of two numbers the observation is; an episode has eight guesses. */
static int32_t start(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row;
  uint32_t *count = state;
  *count = 0;
  *(float *)obs = (float)(rng->state[0] & 1);
  return 0;
}

static int32_t guess(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  uint32_t *count = state, side;
  int64_t draw;
  (void)user, (void)row;
  if (rlcore_rng_integers(rng, 0, 2, &draw, 1) != RLCORE_OK) return 1;
  side = (uint32_t) * (float *)obs;
  out->reward = *(const int32_t *)action == (int32_t)side ? 1.0F : 0.0F;
  out->terminated = ++*count == 8;
  *(float *)obs = (float)draw;
  return 0;
}

int main(void) {
  static _Alignas(64) unsigned char world[1 << 12], learner[1 << 20], game[1 << 10];
  static const uint32_t choices[1] = {2};
  float obs[N], final_obs[N], reward[N];
  uint8_t terminated[N], truncated[N];
  int32_t action[N];

  rlcore_env_def def;
  memset(&def, 0, sizeof def);
  def.struct_size = sizeof def;
  def.env_id = 1000;
  def.state_size = 8;
  def.obs.kind = RLCORE_F32;
  def.obs.len = 1;
  def.action.kind = RLCORE_I32;
  def.action.len = 1;
  def.action.n = choices;
  def.reset = start;
  def.step = guess;

  rlcore_env *env;
  rlcore_space seen, taken;
  CHECK(rlcore_env_init(game, sizeof game, &def, &env));
  CHECK(rlcore_env_spaces(env, &seen, &taken));

  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));

  rlcore_learner_config config;
  rlcore_learner_stats stats;
  rlcore_learner *agent;
  uint32_t due;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.num_steps = 32;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  CHECK(rlcore_learner_init(learner, sizeof learner, &config, &seen, &taken, &agent));

  rlcore_rows rows;
  memset(&rows, 0, sizeof rows);
  rows.struct_size = sizeof rows;
  rows.obs = obs;
  rows.action = action;
  rows.reward = reward;
  rows.terminated = terminated;
  rows.truncated = truncated;
  rows.final_obs = final_obs;
  while (stats.num_updates < 10) {
    CHECK(rlcore_learner_act(agent, &rows));
    CHECK(rlcore_vecenv_step(envs, env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    CHECK(rlcore_learner_phase(agent, &due));
    if (due == RLCORE_LEARNER_LEARN) CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
  }

  rlcore_logits batch;
  const float logits[4] = {0, 1, 2, 3};
  float log_prob[4];
  memset(&batch, 0, sizeof batch);
  batch.struct_size = sizeof batch;
  batch.num_rows = 2;
  batch.num_choices = 1;
  batch.n = choices;
  batch.logits = logits;
  CHECK(rlcore_categorical_log_softmax(&batch, log_prob));

  uint64_t hash;
  CHECK(rlcore_hash(world, sizeof world, &hash));
  printf("world %016llx\n", (unsigned long long)hash);
  CHECK(rlcore_hash(learner, sizeof learner, &hash));
  printf("learner %016llx after %llu steps, %llu episodes\n", (unsigned long long)hash, (unsigned long long)stats.num_steps,
         (unsigned long long)stats.num_episodes);
  CHECK(rlcore_hash(log_prob, sizeof log_prob, &hash));
  printf("log_prob %016llx\n", (unsigned long long)hash);
  return 0;
}
