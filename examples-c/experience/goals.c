/* Hindsight goals (Andrychowicz et al. 2017): ten bits have to match the ten bits of a goal, and every step earns -1 until
   they do. Random actions hardly ever succeed, so there is nothing to learn from, unless each step is also judged by goals
   that it or a later step reached. DQN acts and stores no transitions (buffer_size 0). The host keeps the transitions, both
   original and relabeled, in its own replay memory and passes batches to the learner. For comparison: the same without
   hindsight, and with a script that demonstrates the first steps (rlcore_learner_demonstrate). With the same code TD3 learns
   to move a point to a place. */
#include "host.h"

#include <stdio.h>
#include <string.h>

/* Maximum lengths: of a goal, an observation and an action in numbers, of an episode in steps. */
enum { GOAL = 10, OBS = 2 * GOAL, ACTION = 2, LONGEST = 15 };
enum { ENVS = 8, BATCH = 64, GOALS = 4, STEPS = WHOLE_OR_BRIEF(4000, 60), ROWS = 8000, EPISODES = 400, SCRIPTED = 100 };
static const double SOLVED = WHOLE_OR_BRIEF(0.9, -1), LOST = WHOLE_OR_BRIEF(0.1, 2);

/* The current task. An observation is the achieved state followed by the goal. */
static const struct task {
  uint32_t env_id, algorithm;
  int (*is_there)(const float *achieved, const float *goal);
} *task;
static host_env world;
static uint32_t goal_len, action_len;
static rlcore_learner *agent;
static rlcore_replay *memory;
static rlcore_rng rng;

/* An environment's episode so far: the achieved state before each action, and the last one. */
static struct episode {
  float achieved[LONGEST + 1][GOAL];
  uint32_t action[LONGEST][ACTION], len; /* 32-bit words of i32 or f32 */
} episodes[ENVS];

static void start(void) {
  rlcore_learner_config config;
  const rlcore_env_def def = {.struct_size = sizeof def, .env_id = task->env_id};
  world = host_compile(&def);
  goal_len = world.obs.len / 2, action_len = world.action.len;
  CHECK(rlcore_learner_config_init(&config, sizeof config, task->algorithm));
  config.num_envs = ENVS, config.seed = 3;
  config.num_hidden = 1, config.hidden_len[0] = 128, config.hidden_len[1] = 0;
  config.discount = 0.98F, config.learning_rate = config.learning_rate_end = 1e-3F;
  config.target_rate = 0.05F, config.target_interval = 1;
  config.exploration_steps = 8000;
  config.buffer_size = 0, config.batch_size = BATCH;
  size_t size;
  CHECK(rlcore_learner_size(&config, &world.obs, &world.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &world.obs, &world.action, &agent));

  /* One ring per environment, and another for its relabeled transitions. */
  const rlcore_column columns[] = {{"obs", RLCORE_F32, 2 * goal_len, 0, 0}, {"action", world.action.kind, action_len, 0, 0}};
  rlcore_replay_config store;
  CHECK(rlcore_replay_config_init(&store, sizeof store));
  store.num_envs = 2 * ENVS, store.num_rows = ROWS, store.columns = columns, store.num_columns = 2;
  store.discount = config.discount;
  CHECK(rlcore_replay_size(&store, &size));
  CHECK(rlcore_replay_init(host_take(size), size, &store, &memory));
  memset(episodes, 0, sizeof episodes);
  CHECK(rlcore_rng_seed(&rng, 1));
}

static int bits_are(const float *achieved, const float *goal) { return memcmp(achieved, goal, 10 * sizeof *goal) == 0; }

static int point_is_near(const float *achieved, const float *goal) {
  const float dx = achieved[0] - goal[0], dy = achieved[1] - goal[1];
  return dx * dx + dy * dy < 0.1F * 0.1F;
}

/* Reward and termination of the task, for any goal. */
static int32_t judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user;
  *terminated = task->is_there(achieved, goal) != 0;
  *reward = *terminated ? 0 : -1;
  return 0;
}

/* Adds the relabeled steps of an episode to the memory: each with some goals that it or a later step reached. */
static void relabel(uint32_t ring, const struct episode *e) {
  static float achieved[(LONGEST + 1) * GOAL], goal[LONGEST * GOALS * GOAL], reward[LONGEST * GOALS];
  static uint32_t step[LONGEST * GOALS], row[LONGEST * GOALS], len[LONGEST * GOALS], goal_row[LONGEST * GOALS];
  static uint8_t terminated[LONGEST * GOALS];
  const uint32_t count = e->len * GOALS;
  const size_t bytes = goal_len * sizeof *goal;
  for (uint32_t t = 0; t <= e->len; t++) memcpy(achieved + t * goal_len, e->achieved[t], bytes);
  for (uint32_t k = 0; k < count; k++) step[k] = k / GOALS, row[k] = step[k] + 1, len[k] = e->len;
  CHECK(rlcore_relabel_draw(RLCORE_RELABEL_FUTURE, step, len, count, &rng, goal_row));
  const rlcore_relabel steps = {sizeof steps, count, goal_len, e->len + 1, achieved, row, goal_row};
  CHECK(rlcore_relabel_goals(&steps, judge, NULL, goal, reward, terminated));
  for (uint32_t k = 0; k < count; k++) {
    /* With its own goal each step is an episode of its own, which is truncated unless it reaches the goal. */
    float before[OBS], after[OBS];
    memcpy(before, e->achieved[step[k]], bytes), memcpy(before + goal_len, goal + k * goal_len, bytes);
    memcpy(after, e->achieved[row[k]], bytes), memcpy(after + goal_len, goal + k * goal_len, bytes);
    const void *values[] = {before, e->action[step[k]]}, *last[] = {after, NULL};
    const rlcore_replay_step one = {sizeof one, ring, reward[k], terminated[k], !terminated[k]};
    CHECK(rlcore_replay_add(memory, &one, values, last, NULL));
  }
}

/* A gradient step from a batch of the memory; errors become priorities. */
static void learn(void) {
  static rlcore_frame_index index[BATCH];
  static float obs[BATCH * OBS], next[BATCH * OBS], reward[BATCH], discount[BATCH], weight[BATCH], error[BATCH];
  static uint32_t action[BATCH * ACTION];
  static uint8_t terminated[BATCH];
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  const rlcore_replay_draw draw = {.struct_size = sizeof draw, .beta = 0.4F, .normalize = RLCORE_REPLAY_NORMALIZE_BATCH};
  CHECK(rlcore_replay_sample(memory, &rng, &draw, BATCH, index, weight, NULL));
  CHECK(rlcore_replay_gather(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, obs));
  CHECK(rlcore_replay_gather(memory, index, BATCH, 1, RLCORE_LAYOUT_HWC, world.action.kind, action));
  CHECK(rlcore_replay_gather_next(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, next));
  CHECK(rlcore_replay_transitions(memory, index, BATCH, reward, discount, terminated, NULL));
  const rlcore_learner_transitions batch = {
      .struct_size = sizeof batch, .obs = obs, .action = action, .reward = reward, .terminated = terminated,
      .discount = discount, .next_obs = next, .importance = weight, .error = error};
  CHECK(rlcore_learner_learn_transitions(agent, &batch, &stats));
  CHECK(rlcore_replay_update(memory, index, error, BATCH, NULL));
}

/* The script: flips the first bit that is wrong. */
static uint32_t right_bit(const float *obs) {
  for (uint32_t i = 0; i < goal_len; i++)
    if (obs[i] != obs[goal_len + i]) return i;
  return 0;
}

/* Starts new environments. obs: to write, their first observations. */
static rlcore_vecenv *begin(uint64_t seed, float *obs) {
  static _Alignas(64) unsigned char mem[1 << 12];
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = ENVS, many.seed = seed;
  CHECK(rlcore_vecenv_init(mem, sizeof mem, world.env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, world.env, NULL, obs));
  return envs;
}

static void train(int scripted, int hindsight) {
  static float obs[ENVS * OBS], final_obs[ENVS * OBS], before[ENVS * OBS], reward[ENVS];
  static uint8_t terminated[ENVS], truncated[ENVS];
  uint32_t action[ENVS * ACTION];
  const size_t goal_bytes = goal_len * sizeof *obs, action_bytes = action_len * sizeof *action;
  rlcore_vecenv *envs = begin(5, obs);
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  for (int step = 0; step < STEPS; step++) {
    memcpy(before, obs, sizeof before);
    if (step < scripted) {
      for (uint32_t i = 0; i < ENVS; i++) action[i] = right_bit(obs + i * world.obs.len);
      CHECK(rlcore_learner_demonstrate(agent, &rows));
    } else {
      CHECK(rlcore_learner_act(agent, &rows));
    }
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    for (uint32_t i = 0; i < ENVS; i++) {
      struct episode *e = &episodes[i];
      const int over = terminated[i] || truncated[i];
      const float *was = before + i * world.obs.len, *is = final_obs + i * world.obs.len;
      const void *values[] = {was, action + i * action_len}, *last[] = {is, NULL};
      const rlcore_replay_step one = {sizeof one, i, reward[i], terminated[i], truncated[i]};
      CHECK(rlcore_replay_add(memory, &one, values, over ? last : NULL, NULL));
      memcpy(e->achieved[e->len], was, goal_bytes);
      memcpy(e->action[e->len++], values[1], action_bytes);
      if (!over) continue;
      memcpy(e->achieved[e->len], is, goal_bytes);
      if (hindsight) relabel(ENVS + i, e);
      e->len = 0;
    }
    if (step >= 50) learn();
  }
}

/* The share of new episodes that reach their goal with greedy actions. */
static double success(void) {
  static float obs[ENVS * OBS], final_obs[ENVS * OBS], reward[ENVS];
  static uint8_t terminated[ENVS], truncated[ENVS];
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  uint32_t action[ENVS * ACTION];
  int over = 0, there = 0;
  rlcore_vecenv *envs = begin(99, obs);
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  while (over < EPISODES) {
    CHECK(rlcore_learner_predict(agent, &rows, NULL, NULL, &greedy));
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
    for (int i = 0; i < ENVS; i++) over += terminated[i] || truncated[i], there += terminated[i];
  }
  return (double)there / over;
}

int main(void) {
  static const struct task bits = {RLCORE_ENV_BIT_FLIP, RLCORE_ALGORITHM_DQN, bits_are};
  static const struct task point = {RLCORE_ENV_POINT_REACH, RLCORE_ALGORITHM_TD3, point_is_near};
  static const struct { const struct task *task; const char *what; int scripted, hindsight; } runs[] = {
      {&bits, "bits, nothing else", 0, 0},
      {&bits, "bits, a script at first", SCRIPTED, 0},
      {&bits, "bits, hindsight", 0, 1},
      {&point, "a point, hindsight", 0, 1},
  };
  double share[4];
  for (int i = 0; i < 4; i++) {
    const size_t mark = host_mark();
    const double began = host_seconds();
    task = runs[i].task;
    start();
    train(runs[i].scripted, runs[i].hindsight);
    share[i] = success();
    printf("%-23s  %5.1f %% of the goals are reached after %d steps, %.1f seconds\n", runs[i].what, 100 * share[i],
           STEPS * ENVS, host_seconds() - began);
    host_rewind(mark);
  }
  const int solved = share[3] > SOLVED && share[2] > SOLVED && share[0] < LOST;
  puts(solved ? "ok: bits are flipped to goals with hindsight only, and a point is moved to its own"
              : "FAILED: hindsight makes no difference");
  return !solved;
}
