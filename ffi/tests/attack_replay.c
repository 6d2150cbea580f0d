/* Replay memories with priorities: wrong calls that need a state, and the results of right calls. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, KEPT = 8, OBS = 2, BLOCK = 8192, ROWS = 4 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  _Alignas(64) unsigned char other[BLOCK];
  rlcore_column columns[2];
  rlcore_replay_config config;
  rlcore_replay *r;
  rlcore_rng rng, saved;
  rlcore_replay_stats stats;
  size_t size;
  uint64_t number, forgotten;
  float obs[N][OBS], final_obs[N][OBS], reward[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N];
  const void *values[2], *final_values[2];
  rlcore_frame_index index[ROWS];
  float weight[ROWS], probability[ROWS], priority[ROWS], out_reward[ROWS], discount[ROWS], out_obs[ROWS][OBS], at;
  uint8_t out_terminated[ROWS], out_truncated[ROWS];
  int32_t out_action[ROWS];
} w, before;

#include "attack.h"

#define ADD(...) rlcore_replay_add(__VA_ARGS__)
#define ADD_ALL(...) rlcore_replay_add_all(__VA_ARGS__)
#define SAMPLE(...) rlcore_replay_sample(__VA_ARGS__)
#define UPDATE(...) rlcore_replay_update(__VA_ARGS__)
#define DRAWN(...) rlcore_replay_transitions(__VA_ARGS__)
#define GATHER(...) rlcore_replay_gather(__VA_ARGS__)
#define NEXT(...) rlcore_replay_gather_next(__VA_ARGS__)

/* A fresh world: every environment has added rows 0 to 3; row 2 ended its episode, so row 3 is a tail; then row 4. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.columns[0] = (rlcore_column){"obs", RLCORE_F32, OBS, 0, 0};
  w.columns[1] = (rlcore_column){"action", RLCORE_I32, 1, 0, 0};
  FINE(rlcore_replay_config_init(&w.config, sizeof w.config));
  CHECK(w.config.struct_size == sizeof w.config && w.config.num_envs == 1 && w.config.num_rows == 100000);
  CHECK(w.config.columns == NULL && w.config.num_columns == 0 && w.config.observations == 1 && w.config.num_steps == 1);
  CHECK(w.config.discount == 0.99f && w.config.alpha == 0.6f && w.config.epsilon == 1e-6f && w.config.reserved == 0);
  w.config.num_envs = N;
  w.config.num_rows = KEPT;
  w.config.columns = w.columns;
  w.config.num_columns = 2;
  w.config.num_steps = 2;
  w.config.discount = 0.5f;
  w.config.alpha = 1;
  w.config.epsilon = 0.25f;
  FINE(rlcore_replay_size(&w.config, &w.size));
  CHECK(w.size <= sizeof w.mem);
  FINE(rlcore_replay_init(w.mem, sizeof w.mem, &w.config, &w.r));
  CHECK((void *)w.r == (void *)w.mem);
  FINE(rlcore_rng_seed(&w.rng, 1));
  w.values[0] = w.obs;
  w.values[1] = w.action;
  w.final_values[0] = w.final_obs;
  for (int step = 0; step < 4; step++) {
    for (int env = 0; env < N; env++) {
      w.obs[env][0] = w.obs[env][1] = (float)(10 * env + step);
      w.final_obs[env][0] = w.final_obs[env][1] = 77;
      w.action[env] = step;
      w.reward[env] = (float)(1 << step);
      w.terminated[env] = step == 2;
    }
    FINE(ADD_ALL(w.r, w.values, w.reward, w.terminated, w.truncated, w.final_values));
  }
  for (int i = 0; i < ROWS; i++) {
    w.index[i] = (rlcore_frame_index){(uint64_t)(i % 3), (uint32_t)i % N, 0};
    w.priority[i] = (float)i;
  }
}

/* ---- Making a block ---- */

static void attack_config(void) {
  start();
  w.config.num_envs = w.config.num_rows = UINT32_MAX;
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_replay_size(&w.config, &w.size));
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_replay_init(w.other, BLOCK, &w.config, &w.r));
}

/* ---- Adding ---- */

static void attack_adding(void) {
  start();
  rlcore_replay *const at = w.r;
  const void *const *v = w.values;
  REFUSED(RLCORE_E_SHAPE, "a last observation where an episode ended", ADD(at, REPLAY_STEP(0, 1, 1, 0), v, NULL, &w.number));
  REFUSED(RLCORE_E_SHAPE, "violated by environment 1", ADD(at, REPLAY_STEP(1, 1, 0, 1), v, NULL, &w.number));
  FINE(ADD(at, REPLAY_STEP(0, 1, 0, 0), v, NULL, NULL));

  const float *reward = w.reward;
  const uint8_t *end = w.terminated, *cut = w.truncated;
  WITH(w.terminated[1], 1, RLCORE_E_SHAPE, "violated by environment 1", ADD_ALL(at, v, reward, end, cut, NULL));
}

/* ---- Drawing and reading ---- */

static void attack_drawing(void) {
  start();
  rlcore_replay *const at = w.r;
  rlcore_rng *const g = &w.rng;
  FINE(SAMPLE(at, g, REPLAY_DRAW(0.5f, 0, 1), ROWS, w.index, w.weight, NULL));
  FINE(SAMPLE(at, g, REPLAY_DRAW(0.5f, 0, 0), 0, w.index, w.weight, NULL));

  start();
  WITH(w.priority[3], -1, RLCORE_E_RANGE, "a priority of at least 0, given -1", UPDATE(at, w.index, w.priority, ROWS, &w.forgotten));
#define INDICES(call) \
  do { \
    WITH(w.index[3].env, N, RLCORE_E_RANGE, "an environment below 2, given 2", call); \
    WITH(w.index[3].number, 3, RLCORE_E_RANGE, "a row that is a transition; violated by number 3", call); \
    WITH(w.index[3].number, 5, RLCORE_E_RANGE, "of a number below 5, given 5", call); \
    WITH(w.index[3].number, UINT64_MAX, RLCORE_E_RANGE, "of a number below 5", call); \
    WITH(w.index[3].reserved, 1, RLCORE_E_RANGE, "reserved is 0, given 1", call); \
  } while (0)
  INDICES(UPDATE(at, w.index, w.priority, ROWS, &w.forgotten));

#define ALL w.out_reward, w.discount, w.out_terminated, w.out_truncated
  INDICES(DRAWN(at, w.index, ROWS, ALL));
  FINE(DRAWN(at, w.index, ROWS, NULL, NULL, NULL, NULL));

  INDICES(GATHER(at, w.index, ROWS, 0, 0, RLCORE_F32, w.out_obs));
  INDICES(NEXT(at, w.index, ROWS, 0, 0, RLCORE_F32, w.out_obs));
  REFUSED(RLCORE_E_RANGE, "a column that is an observation; violated by 1", NEXT(at, w.index, ROWS, 1, 0, RLCORE_I32, w.out_action));

  w.stats.struct_size = sizeof w.stats;

  /* There is nothing to draw yet. */
  FINE(rlcore_replay_init(w.mem, sizeof w.mem, &w.config, &w.r));
  REFUSED(RLCORE_E_NOT_READY, "a transition that may be drawn", SAMPLE(at, g, REPLAY_DRAW(0.5f, 0, 0), ROWS, w.index, w.weight, NULL));
}

/* ---- Right calls ---- */

static void check_answers(void) {
  start();
  w.stats.struct_size = sizeof w.stats;
  FINE(rlcore_replay_get_stats(w.r, &w.stats));
  CHECK(w.stats.num_transitions == 3 * N && w.stats.total == 3 * N && w.stats.min_weight == 1 && w.stats.max_priority == 1);

  /* Rewards 1, 2, 4 over two steps with discount 0.5; the last step terminates. */
  const rlcore_frame_index rows[ROWS] = {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {0, 1, 0}};
  memcpy(w.index, rows, sizeof rows);
  FINE(DRAWN(w.r, w.index, ROWS, ALL));
  CHECK(w.out_reward[0] == 2 && w.out_reward[1] == 4 && w.out_reward[2] == 4 && w.out_reward[3] == 2);
  CHECK(w.discount[0] == 0.25f && w.discount[1] == 0 && w.discount[2] == 0);
  CHECK(w.out_terminated[0] == 0 && w.out_terminated[1] == 1 && w.out_terminated[2] == 1 && w.out_truncated[1] == 0);
  FINE(GATHER(w.r, w.index, ROWS, 0, 0, RLCORE_F32, w.out_obs));
  CHECK(w.out_obs[0][0] == 0 && w.out_obs[1][1] == 1 && w.out_obs[2][0] == 12 && w.out_obs[3][1] == 10);
  FINE(NEXT(w.r, w.index, ROWS, 0, 0, RLCORE_F32, w.out_obs));
  CHECK(w.out_obs[0][0] == 2 && w.out_obs[1][1] == 77 && w.out_obs[2][0] == 77 && w.out_obs[3][1] == 12);
  FINE(GATHER(w.r, w.index, ROWS, 1, 0, RLCORE_I32, w.out_action));
  CHECK(w.out_action[1] == 1 && w.out_action[2] == 2);

  /* Priorities 3.75, 0, 0.75 and 1.75, to which epsilon is added. */
  const float priorities[ROWS] = {3.75f, 0, 0.75f, 1.75f};
  FINE(UPDATE(w.r, w.index, priorities, ROWS, &w.forgotten));
  CHECK(w.forgotten == 0);
  FINE(rlcore_replay_get_stats(w.r, &w.stats));
  CHECK(w.stats.total == 4 + 0.25 + 1 + 2 + 2 && w.stats.min_weight == 0.25f && w.stats.max_priority == 4 && w.stats.alpha == 1);
  FINE(SAMPLE(w.r, &w.rng, REPLAY_DRAW(1, RLCORE_REPLAY_NORMALIZE_MEMORY, 0), ROWS, w.index, w.weight, w.probability));
  for (int i = 0; i < ROWS; i++) CHECK(fabsf(w.weight[i] * w.probability[i] * 9.25f - 0.25f) < 1e-6f);
  FINE(rlcore_replay_linear(0.4f, 1, 0.5f, &w.at));
  CHECK(w.at == 0.7f);

  /* A copy continues as the original does, from the stream saved in it. */
  rlcore_replay *copy;
  FINE(rlcore_replay_store_rng(w.r, &w.rng));
  memcpy(w.other, w.mem, BLOCK);
  FINE(rlcore_replay_attach(w.other, BLOCK, &copy));
  FINE(rlcore_replay_load_rng(copy, &w.saved));
  CHECK(memcmp(&w.saved, &w.rng, sizeof w.rng) == 0);
  for (int i = 0; i < 2; i++) {
    rlcore_replay *const r = i ? copy : w.r;
    rlcore_rng *const g = i ? &w.saved : &w.rng;
    for (int step = 0; step < 20; step++) {
      FINE(SAMPLE(r, g, REPLAY_DRAW(0.5f, 0, 1), ROWS, w.index, w.weight, NULL));
      for (int k = 0; k < ROWS; k++) w.priority[k] = w.weight[k] * (float)(k + step % 3);
      w.terminated[0] = step % 5 == 0;
      FINE(ADD_ALL(r, w.values, w.reward, w.terminated, w.truncated, w.final_values));
      FINE(UPDATE(r, w.index, w.priority, ROWS, &w.forgotten));
    }
  }
  CHECK(memcmp(w.mem, w.other, BLOCK) == 0);

  /* Rows forgotten since the draw are skipped by an update and refused to a reader. */
  const rlcore_frame_index old[2] = {{0, 0, 0}, {1, 1, 0}};
  FINE(UPDATE(w.r, old, priorities, 2, &w.forgotten));
  CHECK(w.forgotten == 2);
  REFUSED(RLCORE_E_RANGE, "transitions that are still held; violated by number 0", GATHER(w.r, old, 2, 0, 0, RLCORE_F32, w.out_obs));
}

int main(void) {
  attack_config();
  attack_adding();
  attack_drawing();
  check_answers();
  return verdict();
}
