/* Rows of environments as bytes: of callbacks and of the library, through wrappers, into blocks of other N; and every other row
   is refused by name. */
#include "rlcore.h"
#include "../../tests/system/env.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 4, FEW = 2, OBS = 4, BLOCK = 4096, ROW = 512 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK], other[BLOCK];
  rlcore_vecenv_config config;
  rlcore_vecenv *from, *to;
  uint64_t row[ROW / 8 + 1];
  float obs[N][OBS], seen[N][OBS], final_obs[N][OBS], reward[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N];
} w, before;

#include "attack.h"

/* Counts its steps in its state and draws in each; ends after six. */
static int32_t begin(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)rng;
  memset(state, 0, 8);
  memset(obs, 0, OBS * sizeof(float));
  return 0;
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row;
  double drawn;
  const int32_t status = rlcore_rng_uniform(rng, 0, 1, &drawn, 1);
  const uint64_t steps = ++*(uint64_t *)state;
  ((float *)obs)[0] = (float)steps, ((float *)obs)[1] = (float)drawn, ((float *)obs)[2] = (float)*(const int32_t *)action;
  out->reward = (float)drawn, out->terminated = steps == 6;
  return status;
}

static const uint32_t choices[1] = {2};
static const rlcore_wrapper wrapped[] = {{.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 5}};

static rlcore_env_def counter(uint32_t num_wrappers) {
  rlcore_env_def def = {.struct_size = sizeof def, .env_id = 1300, .state_size = 8, .reset = begin, .step = step};
  def.obs.kind = RLCORE_F32, def.obs.len = OBS;
  def.action.kind = RLCORE_I32, def.action.len = 1, def.action.n = choices;
  def.wrappers = wrapped, def.num_wrappers = num_wrappers;
  return def;
}

static const rlcore_env *env;

static rlcore_rows arrays(void *obs) {
  return (rlcore_rows){.struct_size = sizeof(rlcore_rows), .obs = obs, .action = w.action, .reward = w.reward,
                       .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs};
}

/* N environments that were stepped `steps` times, and FEW that were never reset. */
static void start(const rlcore_env_def *def, int steps) {
  memset(&w, 0, sizeof w);
  env = env_of(def);
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env, &w.config, &w.from));
  w.config.num_envs = FEW;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env, &w.config, &w.to));
  FINE(rlcore_vecenv_reset(w.from, env, NULL, w.obs));
  const rlcore_rows rows = arrays(w.obs);
  for (int t = 0; t < steps; t++) FINE(rlcore_vecenv_step(w.from, env, &rows));
}

#define READ(i) rlcore_vecenv_row_read(w.from, env, i, w.obs, w.row, ROW)
#define WRITE(i) rlcore_vecenv_row_write(w.to, env, i, w.row, ROW, w.seen)

/* The row steps on alike, with its wrapper and its stream, in a block of another N. */
static void check_copies(const rlcore_env_def *def) {
  size_t size;
  start(def, 3);
  FINE(rlcore_vecenv_row_size(env, &size));
  CHECK(size % 8 == 0 && size <= ROW);
  FINE(READ(2));
  for (uint32_t i = 0; i < FEW; i++) FINE(WRITE(i));
  CHECK(memcmp(w.seen[1], w.obs[2], sizeof w.obs[2]) == 0);
  const rlcore_rows rows = arrays(w.obs);
  int32_t same[FEW];
  float reward[FEW], final_obs[FEW][OBS];
  uint8_t terminated[FEW], truncated[FEW];
  const rlcore_rows few = {.struct_size = sizeof few, .obs = w.seen, .action = same, .reward = reward,
                           .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  for (int t = 0; t < 20; t++) {
    for (int i = 0; i < N; i++) w.action[i] = (int32_t)chance(2);
    same[0] = same[1] = w.action[2];
    FINE(rlcore_vecenv_step(w.from, env, &rows));
    FINE(rlcore_vecenv_step(w.to, env, &few));
    for (int i = 0; i < FEW; i++)
      CHECK(memcmp(w.seen[i], w.obs[2], sizeof w.obs[2]) == 0 && memcmp(&reward[i], &w.reward[2], sizeof(float)) == 0 &&
            terminated[i] == w.terminated[2] && truncated[i] == w.truncated[2]);
  }
  /* Within one block, into a row that is there. */
  FINE(READ(0));
  FINE(rlcore_vecenv_row_write(w.from, env, 3, w.row, size, w.obs));
  CHECK(memcmp(w.obs[0], w.obs[3], sizeof w.obs[0]) == 0);
}

static void attack_rows(void) {
  const rlcore_env_def def = counter(1), plain = counter(0), cart = *BUILTIN(RLCORE_ENV_CARTPOLE);
  size_t size;
  start(&def, 3);
  FINE(rlcore_vecenv_row_size(env, &size));
  REFUSED(RLCORE_E_NULL, "env", rlcore_vecenv_row_size(NULL, &size));
  REFUSED(RLCORE_E_RANGE, "below 4", READ(N));
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_vecenv_row_read(w.from, env, 0, w.obs, w.row, size - 1));
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_vecenv_row_read(w.from, env, 0, w.obs, w.row, 0));
  REFUSED(RLCORE_E_ALIGN, "row", rlcore_vecenv_row_read(w.from, env, 0, w.obs, off(w.row, 4), ROW));
  REFUSED(RLCORE_E_OVERLAP, "", rlcore_vecenv_row_read(w.from, env, 0, w.obs, w.obs, size));
  REFUSED(RLCORE_E_OVERLAP, "", rlcore_vecenv_row_read(w.from, env, 0, w.obs, w.mem + 128, ROW));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 was never reset", rlcore_vecenv_row_read(w.to, env, 1, w.obs, w.row, ROW));
  WITH(w.obs[1][2], NAN, RLCORE_E_VALUE, "the observation of environment 1 is not finite", READ(1));
  FINE(READ(1));
  REFUSED(RLCORE_E_RANGE, "below 2", WRITE(FEW));
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_vecenv_row_write(w.to, env, 0, w.row, size - 1, w.seen));
  REFUSED(RLCORE_E_ALIGN, "row", rlcore_vecenv_row_write(w.to, env, 0, off(w.row, 4), ROW, w.seen));
  REFUSED(RLCORE_E_OVERLAP, "", rlcore_vecenv_row_write(w.to, env, 0, w.seen, sizeof w.seen, w.seen));
  REFUSED(RLCORE_E_IMAGE, "no row", rlcore_vecenv_row_write(w.to, env, 0, w.mem, ROW, w.seen));

  /* Of the same environment without its wrapper, of another environment, of another limit, and after an end. */
  const rlcore_env *const other = env_of(&plain);
  rlcore_vecenv *v;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, other, &w.config, &v));
  REFUSED(RLCORE_E_CONFIG, "wrappers", rlcore_vecenv_row_write(v, other, 0, w.row, ROW, w.seen));
  REFUSED(RLCORE_E_CONFIG, "wrappers", rlcore_vecenv_row_write(v, env, 0, w.row, ROW, w.seen));
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env_of(&cart), &w.config, &v));
  REFUSED(RLCORE_E_CONFIG, "env_id 1, given 1300", rlcore_vecenv_row_write(v, env_of(&cart), 0, w.row, ROW, w.seen));
  start(&plain, 3);
  FINE(READ(1));
  w.config.max_episode_steps = 3;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env, &w.config, &w.to));
  REFUSED(RLCORE_E_CONFIG, "max_episode_steps of this batch", WRITE(0));
  w.config.max_episode_steps = 4;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env, &w.config, &w.to));
  FINE(WRITE(0));
  w.config.autoreset = RLCORE_AUTORESET_DISABLED;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env, &w.config, &w.from));
  FINE(rlcore_vecenv_reset(w.from, env, NULL, w.obs));
  const rlcore_rows rows = arrays(w.obs);
  for (int t = 0; t < 4; t++) FINE(rlcore_vecenv_step(w.from, env, &rows));
  FINE(READ(1));
  REFUSED(RLCORE_E_CONFIG, "same step", WRITE(0));
  FINE(rlcore_vecenv_row_write(w.from, env, 0, w.row, ROW, w.obs));

  /* With a wrapper, either both blocks replace the environment's own limit or none does. */
  start(&def, 1);
  FINE(READ(0));
  w.config.max_episode_steps = 9;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env, &w.config, &w.to));
  REFUSED(RLCORE_E_CONFIG, "max_episode_steps replaces", WRITE(0));
}

/* Every flipped bit is refused, or makes a row that steps on; the block stays one that attach takes. */
static void attack_bits(const rlcore_env_def *def) {
  static unsigned char kept[BLOCK];
  uint64_t whole[ROW / 8];
  size_t size, block_size;
  int refused = 0;
  start(def, 3);
  FINE(rlcore_vecenv_row_size(env, &size));
  FINE(rlcore_vecenv_size(env, &w.config, &block_size));
  FINE(READ(1));
  FINE(WRITE(0));
  FINE(WRITE(1));
  memcpy(whole, w.row, sizeof whole);
  memcpy(kept, w.other, sizeof kept);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    memcpy(w.row, whole, sizeof whole);
    ((unsigned char *)w.row)[bit / 8] ^= (unsigned char)(1 << bit % 8);
    const rlcore_status status = WRITE(1);
    refused += status != RLCORE_OK;
    if (status != RLCORE_OK) {
      CHECK(memcmp(kept, w.other, sizeof kept) == 0);
      CHECK(status == RLCORE_E_IMAGE || status == RLCORE_E_CONFIG || status == RLCORE_E_VALUE);
      continue;
    }
    FINE(rlcore_vecenv_attach(w.other, block_size, env, &w.to));
    const rlcore_rows rows = arrays(w.seen);
    for (int t = 0; t < 8; t++)
      if (rlcore_vecenv_step(w.to, env, &rows) != RLCORE_OK) break;
    memcpy(w.other, kept, sizeof kept);
  }
  CHECK(refused > 500);
}

int main(void) {
  const rlcore_env_def defs[] = {counter(0), counter(1), *BUILTIN(RLCORE_ENV_CARTPOLE)};
  for (int k = 0; k < 3; k++) check_copies(&defs[k]);
  attack_rows();
  for (int k = 0; k < 3; k++) attack_bits(&defs[k]);
  return verdict();
}
