/* Resets with options: they reach every row of the environment, through wrappers and in batches, and are refused where they
   mean nothing. */
#include "rlcore.h"
#include "../../tests/system/env.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 4, SERIES = 2, OBS = 4, BLOCK = 4096 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK], own[BLOCK], watched[1 << 16], scaled[BLOCK];
  compiled_env env;
  rlcore_env_def def;
  rlcore_vecenv_config config;
  rlcore_vecenv *vecenv;
  rlcore_batch *batch;
  rlcore_reset how;
  uint64_t seed;
  float levels[N + 1];
  float obs[N][OBS], seen[N][OBS], final_obs[N][OBS], reward[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N];
} w, before;

#include "attack.h"

/* What the last reset of each row was told. */
static struct told {
  size_t size;
  const void *options;
  int by_options;
} told[N];

static int32_t begin(uint32_t row, void *state, rlcore_rng *rng, float level, void *obs) {
  double drawn = 0;
  if (rlcore_rng_uniform(rng, 0, 1, &drawn, 1) != RLCORE_OK) return 1;
  const float first[OBS] = {level, (float)row, (float)drawn, 0};
  memset(state, 0, 8);
  memcpy(obs, first, sizeof first);
  return isnan(level);
}

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  told[row] = (struct told){0};
  return begin(row, state, rng, *(const float *)user, obs);
}

/* options: a level for each row; NAN fails. */
static int32_t reset_with(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *options, size_t options_size, void *obs) {
  (void)user;
  told[row] = (struct told){options_size, options, 1};
  return begin(row, state, rng, options_size > row * sizeof(float) ? ((const float *)options)[row] : -2, obs);
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)rng, (void)row, (void)action;
  ((float *)obs)[3] = (float)++*(uint64_t *)state;
  out->reward = 1;
  return 0;
}

static float none = -1;

/* N environments, and a batch over them. */
static void start(uint32_t env_id) {
  static const uint32_t choices[1] = {2};
  static const rlcore_wrapper limit = {.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 5};
  memset(&w, 0, sizeof w);
  w.def = (rlcore_env_def){.struct_size = sizeof w.def, .env_id = env_id, .num_wrappers = 1, .wrappers = &limit};
  if (env_id >= 1000) {
    w.def.state_size = 8, w.def.obs.kind = RLCORE_F32, w.def.obs.len = OBS;
    w.def.action.kind = RLCORE_I32, w.def.action.len = 1, w.def.action.n = choices;
    w.def.user = &none, w.def.reset = reset, w.def.step = step, w.def.reset_with = reset_with;
  }
  FINE(compile_env(&w.def, &w.env));
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  rlcore_batch_config settings;
  FINE(rlcore_batch_config_init(&settings, sizeof settings));
  settings.in_series = SERIES;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  FINE(rlcore_batch_init(w.own, sizeof w.own, w.env.env, &w.config, &settings, &w.batch));
  FINE(rlcore_vecenv_reset(w.vecenv, w.env.env, NULL, w.obs));
  for (int i = 0; i < N; i++) w.levels[i] = 10 + (float)i;
  w.seed = 7;
  w.how = (rlcore_reset){.struct_size = sizeof w.how, .options = w.levels, .options_size = N * sizeof(float)};
}

#define ALL rlcore_vecenv_reset_with(w.vecenv, w.env.env, &w.how, w.obs)
#define ONE(i) rlcore_vecenv_reset_one_with(w.vecenv, w.env.env, i, &w.how, w.obs)
#define GROUPS rlcore_batch_reset_with(w.batch, w.vecenv, w.env.env, &w.how, w.obs)
#define GROUPS_ONE(i) rlcore_batch_reset_one_with(w.batch, w.vecenv, w.env.env, i, &w.how, w.obs)

/* The options arrive as they were passed, with a seed and without, also where a row was reset before. */
static void check_options(void) {
  start(1000);
  for (int k = 0; k < 8; k++) {
    float drawn[N];
    w.how.seed = k & 1 ? &w.seed : NULL;
    FINE(rlcore_vecenv_reset(w.vecenv, w.env.env, &w.seed, w.obs));
    for (int i = 0; i < N; i++) CHECK(!told[i].by_options && w.obs[i][0] == -1), drawn[i] = w.obs[i][2];
    switch (k / 2) {
      case 0: FINE(ALL); break;
      case 1: FINE(GROUPS); break;
      case 2: for (uint32_t i = 0; i < N; i++) FINE(ONE(i)); break;
      default: for (uint32_t i = 0; i < N; i++) FINE(GROUPS_ONE(i)); break;
    }
    for (int i = 0; i < N; i++) {
      CHECK(told[i].by_options && told[i].options == w.levels && told[i].size == N * sizeof(float));
      CHECK(w.obs[i][0] == w.levels[i] && w.obs[i][1] == (float)i);
      /* A seed is that of the row itself where one row is reset. */
      CHECK((w.obs[i][2] == drawn[i]) == (w.how.seed && (k / 2 < 2 || i == 0)));
    }
  }
  /* Options of no bytes are options; without options both calls are those without them. */
  w.how.options_size = 0;
  FINE(ALL);
  for (int i = 0; i < N; i++) CHECK(told[i].by_options && told[i].options == w.levels && w.obs[i][0] == -2);
  w.how.options = NULL;
  FINE(ALL);
  FINE(GROUPS_ONE(2));
  for (int i = 0; i < N; i++) CHECK(!told[i].by_options && w.obs[i][0] == -1);
  /* The wrapper counts its steps from this reset; the episode that autoreset starts has no options. */
  w.how.options = w.levels, w.how.options_size = N * sizeof(float);
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = w.obs, .action = w.action, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs};
  FINE(rlcore_vecenv_step(w.vecenv, w.env.env, &rows));
  FINE(ALL);
  for (int t = 0; t < 5; t++) {
    FINE(rlcore_vecenv_step(w.vecenv, w.env.env, &rows));
    CHECK(w.truncated[0] == (t == 4) && w.obs[3][0] == (t == 4 ? -1 : w.levels[3]));
  }
}

/* Monitors and normalizers take the observation of a reset with options like any other. */
static void check_watched(void) {
  start(1000);
  rlcore_monitor_config watching;
  rlcore_vec_normalize_config scaling;
  rlcore_monitor *monitor;
  rlcore_vec_normalize *scale;
  FINE(rlcore_monitor_config_init(&watching, sizeof watching));
  FINE(rlcore_vec_normalize_config_init(&scaling, sizeof scaling));
  watching.num_envs = scaling.num_envs = N, scaling.obs_len = OBS;
  FINE(rlcore_monitor_init(w.watched, sizeof w.watched, &watching, &monitor));
  FINE(rlcore_vec_normalize_init(w.scaled, sizeof w.scaled, &scaling, &scale));
  for (int k = 0; k < 2; k++) {
    w.levels[0] = (float)(k * 100);
    FINE(ALL);
    FINE(rlcore_monitor_reset(monitor));
    FINE(rlcore_vec_normalize_reset(scale, w.obs[0], w.seen[0]));
    CHECK(told[3].by_options && w.obs[0][0] == (float)(k * 100) && (w.seen[0][0] > 1) == k);
  }
}

static void attack_options(void) {
  start(1000);
#define EACH(field, bad, status, words) \
  do { \
    WITH(field, bad, status, words, ALL); \
    WITH(field, bad, status, words, ONE(1)); \
    WITH(field, bad, status, words, GROUPS); \
    WITH(field, bad, status, words, GROUPS_ONE(1)); \
  } while (0)
  EACH(w.how.options, NULL, RLCORE_E_NULL, "options");
  EACH(w.how.options, w.obs, RLCORE_E_OVERLAP, "");
  EACH(w.how.options, w.mem, RLCORE_E_OVERLAP, "");
  EACH(w.how.options_size, SIZE_MAX, RLCORE_E_OVERFLOW, "options");
  EACH(w.how.seed, (const uint64_t *)off(&w.seed, 1), RLCORE_E_ALIGN, "seed");
  EACH(w.how.reserved, 1, RLCORE_E_CONFIG, "reset: reserved");
  EACH(w.how.struct_size, 12, RLCORE_E_CONFIG, "reset: struct_size as sizeof gives it");
  REFUSED(RLCORE_E_RANGE, "an index below 4, given 4", ONE(N));
  REFUSED(RLCORE_E_RANGE, "an index below 4, given 4", GROUPS_ONE(N));
  REFUSED(RLCORE_E_NULL, "reset", rlcore_vecenv_reset_with(w.vecenv, w.env.env, NULL, w.obs));

  /* A row that cannot begin with its options must be reset; rows before it are reset, later ones unchanged. */
  w.levels[2] = NAN;
  CHECK(ALL == RLCORE_E_CALLBACK && w.obs[1][0] == 11 && w.obs[3][0] == -1);
  char why[200];
  rlcore_last_error(why, sizeof why);
  CHECK(strstr(why, "env_def: reset_with failed in environment 2") != NULL);
  w.levels[2] = 12;
  FINE(ONE(2));
  CHECK(w.obs[2][0] == 12);

  /* The library's own environments, and others without reset_with, take none. */
  for (int k = 0; k < 2; k++) {
    start(k ? RLCORE_ENV_CARTPOLE : 1000);
    w.def.reset_with = NULL;
    FINE(compile_env(&w.def, &w.env));
    const char *const words = "resets take no options";
    REFUSED(RLCORE_E_CONFIG, words, ALL);
    REFUSED(RLCORE_E_CONFIG, words, ONE(1));
    REFUSED(RLCORE_E_CONFIG, words, GROUPS);
    REFUSED(RLCORE_E_CONFIG, words, GROUPS_ONE(1));
    w.how.options = NULL, w.how.options_size = 0, w.how.seed = &w.seed;
    FINE(ALL);
    FINE(GROUPS_ONE(1));
  }
  size_t size;
  w.def.reset_with = reset_with;
  CHECK(rlcore_env_size(&w.def, &size) == RLCORE_E_CONFIG);
}

int main(void) {
  check_options();
  check_watched();
  attack_options();
  return verdict();
}
