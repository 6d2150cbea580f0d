/* Hindsight goals (Andrychowicz et al. 2017): ten bits have to become the ten of a goal, and every step earns -1 until they
   do. By chance they hardly ever do, so that there is nothing to learn from: unless each step is also judged by goals that it
   reached itself or a later one did. DQN acts and keeps nothing (buffer_size 0). The host keeps the transitions in a replay
   memory of its own, relabelled ones beside those that were, and hands batches to the learner. Beside it for comparison: the same without hindsight, and with
   a script that shows the way at first (rlcore_learner_demonstrate). */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { BITS = 10, OBS = 2 * BITS, ENVS = 8, BATCH = 64, GOALS = 4, STEPS = 4000, ROWS = 8000, EPISODES = 400, SCRIPTED = 100 };
static const double SOLVED = 0.9, LOST = 0.1;

static rlcore_env_def env;
static rlcore_learner *agent;
static rlcore_replay *memory;
static rlcore_rng rng;

/* An environment's episode so far: the observation before each action, and the last one. */
static struct episode {
  float obs[BITS + 1][OBS];
  int32_t action[BITS];
  uint32_t len;
} episodes[ENVS];

static void start(void) {
  rlcore_learner_config config;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_DQN));
  config.num_envs = ENVS, config.seed = 3;
  config.num_hidden = 1, config.hidden_len[0] = 128, config.hidden_len[1] = 0;
  config.discount = 0.98F, config.learning_rate = config.learning_rate_end = 1e-3F;
  config.target_rate = 0.05F, config.target_interval = 1;
  config.exploration_steps = 8000, config.exploration_end = 0.05F;
  config.buffer_size = 0, config.batch_size = BATCH;
  size_t size;
  CHECK(rlcore_learner_size(&config, &env.obs, &env.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &env.obs, &env.action, &agent));

  /* A ring for each environment, and one for what hindsight makes of it. */
  const rlcore_column columns[] = {{"obs", RLCORE_F32, OBS, 0, 0}, {"action", RLCORE_I32, 1, 0, 0}};
  rlcore_replay_config store;
  CHECK(rlcore_replay_config_init(&store, sizeof store));
  store.num_envs = 2 * ENVS, store.num_rows = ROWS, store.columns = columns, store.num_columns = 2;
  store.discount = config.discount;
  CHECK(rlcore_replay_size(&store, &size));
  CHECK(rlcore_replay_init(host_take(size), size, &store, &memory));
  memset(episodes, 0, sizeof episodes);
  CHECK(rlcore_rng_seed(&rng, 1));
}

/* The rules of the task, for any goal. */
static int32_t judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user;
  *terminated = memcmp(achieved, goal, BITS * sizeof *goal) == 0;
  *reward = *terminated ? 0 : -1;
  return 0;
}

/* Adds the steps of an episode to the memory, each with some goals that were reached by it or after it. */
static void relabel(uint32_t ring, const struct episode *e) {
  static float achieved[BITS + 1][BITS], goal[BITS * GOALS][BITS], reward[BITS * GOALS];
  static uint32_t step[BITS * GOALS], row[BITS * GOALS], len[BITS * GOALS], goal_row[BITS * GOALS];
  static uint8_t terminated[BITS * GOALS];
  const uint32_t count = e->len * GOALS;
  for (uint32_t t = 0; t <= e->len; t++) memcpy(achieved[t], e->obs[t], sizeof achieved[t]);
  for (uint32_t k = 0; k < count; k++) step[k] = k / GOALS, row[k] = step[k] + 1, len[k] = e->len;
  CHECK(rlcore_relabel_draw(RLCORE_RELABEL_FUTURE, step, len, count, &rng, goal_row));
  const rlcore_relabel steps = {sizeof steps, count, BITS, e->len + 1, achieved[0], row, goal_row};
  CHECK(rlcore_relabel_goals(&steps, judge, NULL, goal[0], reward, terminated));
  for (uint32_t k = 0; k < count; k++) {
    /* With a goal of its own each step is an episode of its own, which is cut unless it reaches it. */
    float before[OBS], after[OBS];
    memcpy(before, achieved[step[k]], sizeof achieved[0]), memcpy(before + BITS, goal[k], sizeof goal[0]);
    memcpy(after, achieved[row[k]], sizeof achieved[0]), memcpy(after + BITS, goal[k], sizeof goal[0]);
    const void *values[] = {before, &e->action[step[k]]}, *last[] = {after, NULL};
    CHECK(rlcore_replay_add(memory, ring, values, reward[k], terminated[k], !terminated[k], last, NULL));
  }
}

/* A gradient step from a batch of the memory; errors become priorities. */
static void learn(void) {
  static rlcore_frame_index index[BATCH];
  static float obs[BATCH][OBS], next[BATCH][OBS], reward[BATCH], discount[BATCH], weight[BATCH], error[BATCH];
  static int32_t action[BATCH];
  static uint8_t terminated[BATCH];
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_replay_sample(memory, &rng, BATCH, 0.4F, RLCORE_REPLAY_NORMALIZE_BATCH, 0, index, weight, NULL));
  CHECK(rlcore_replay_gather(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, obs));
  CHECK(rlcore_replay_gather(memory, index, BATCH, 1, RLCORE_LAYOUT_HWC, RLCORE_I32, action));
  CHECK(rlcore_replay_gather_next(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, next));
  CHECK(rlcore_replay_transitions(memory, index, BATCH, reward, discount, terminated, NULL));
  CHECK(rlcore_learner_learn_transitions(agent, obs, action, NULL, reward, terminated, discount, next, NULL, weight, error, &stats));
  CHECK(rlcore_replay_update(memory, index, error, BATCH, NULL));
}

/* The script: flips the first bit that is wrong. */
static int32_t right_bit(const float *obs) {
  for (int32_t i = 0; i < BITS; i++)
    if (obs[i] != obs[BITS + i]) return i;
  return 0;
}

/* Environments that begin anew, and what they show. */
static rlcore_vecenv *begin(uint64_t seed, float obs[ENVS][OBS]) {
  static _Alignas(64) unsigned char world[1 << 12];
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = ENVS, many.seed = seed;
  CHECK(rlcore_vecenv_init(world, sizeof world, &env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, &env, NULL, obs));
  return envs;
}

static void train(int scripted, int hindsight) {
  static float obs[ENVS][OBS], final_obs[ENVS][OBS], before[ENVS][OBS], reward[ENVS];
  static uint8_t terminated[ENVS], truncated[ENVS];
  int32_t action[ENVS];
  rlcore_vecenv *envs = begin(5, obs);
  const rlcore_vecenv_out out = {sizeof out, 0, obs, reward, terminated, truncated, final_obs, NULL};
  for (int step = 0; step < STEPS; step++) {
    memcpy(before, obs, sizeof before);
    if (step < scripted) {
      for (int i = 0; i < ENVS; i++) action[i] = right_bit(obs[i]);
      CHECK(rlcore_learner_demonstrate(agent, NULL, obs, NULL, action));
    } else {
      CHECK(rlcore_learner_act(agent, NULL, obs, NULL, action));
    }
    CHECK(rlcore_vecenv_step(envs, &env, action, &out));
    CHECK(rlcore_learner_observe(agent, NULL, reward, terminated, truncated, final_obs));
    for (uint32_t i = 0; i < ENVS; i++) {
      struct episode *e = &episodes[i];
      const int over = terminated[i] || truncated[i];
      const void *values[] = {before[i], &action[i]}, *last[] = {final_obs[i], NULL};
      CHECK(rlcore_replay_add(memory, i, values, reward[i], terminated[i], truncated[i], over ? last : NULL, NULL));
      memcpy(e->obs[e->len], before[i], sizeof before[i]);
      e->action[e->len++] = action[i];
      if (!over) continue;
      memcpy(e->obs[e->len], final_obs[i], sizeof final_obs[i]);
      if (hindsight) relabel(ENVS + i, e);
      e->len = 0;
    }
    if (step >= 50) learn();
  }
}

/* The share of new episodes that reach their goal when the best actions are taken. */
static double success(void) {
  static float obs[ENVS][OBS], final_obs[ENVS][OBS], reward[ENVS];
  static uint8_t terminated[ENVS], truncated[ENVS];
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  int32_t action[ENVS];
  int over = 0, there = 0;
  rlcore_vecenv *envs = begin(99, obs);
  const rlcore_vecenv_out out = {sizeof out, 0, obs, reward, terminated, truncated, final_obs, NULL};
  while (over < EPISODES) {
    CHECK(rlcore_learner_predict(agent, obs, NULL, NULL, NULL, &greedy, action));
    CHECK(rlcore_vecenv_step(envs, &env, action, &out));
    for (int i = 0; i < ENVS; i++) over += terminated[i] || truncated[i], there += terminated[i];
  }
  return (double)there / over;
}

int main(void) {
  CHECK(rlcore_env_builtin(RLCORE_ENV_BIT_FLIP, &env, sizeof env));
  static const struct { const char *what; int scripted, hindsight; } runs[] = {
      {"nothing else", 0, 0}, {"a script at first", SCRIPTED, 0}, {"hindsight", 0, 1},
  };
  double share[3];
  for (int i = 0; i < 3; i++) {
    const size_t mark = host_mark();
    const double began = host_seconds();
    start();
    train(runs[i].scripted, runs[i].hindsight);
    share[i] = success();
    printf("with %-17s  %5.1f %% of the goals are reached after %d steps, %.1f seconds\n", runs[i].what, 100 * share[i],
           STEPS * ENVS, host_seconds() - began);
    host_rewind(mark);
  }
  const int solved = share[2] > SOLVED && share[0] < LOST;
  puts(solved ? "ok: bits are flipped to goals with hindsight only" : "FAILED: hindsight makes no difference");
  return !solved;
}
