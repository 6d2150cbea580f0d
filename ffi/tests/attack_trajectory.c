/* Wrong calls that need a state, of every trajectory function. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { CAPACITY = 4, M = 2, OBS = 3, COLUMNS = 2, ROWS = 5, BLOCK = 4096 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  rlcore_trajectory_config config;
  rlcore_column columns[COLUMNS];
  rlcore_trajectory *trajectory;
  rlcore_trajectory_frames frames;
  rlcore_trajectory_rows rows;
  rlcore_trajectory_view view;
  const void *given[COLUMNS], *column;
  void *got[COLUMNS];
  size_t size;
  uint32_t chosen;
  float obs[3][OBS], reward[3], value[3], memory[3][M];
  uint8_t action[3][2], terminated[3], truncated[3];
  float got_obs[ROWS][OBS], returns[ROWS], advantage[ROWS], got_memory[ROWS][M];
  uint8_t got_action[ROWS][2], valid[ROWS];
  uint32_t time_steps[ROWS];
  const rlcore_trajectory *reader;
  rlcore_rows_out out;
  uint64_t next, lost;
  uint32_t count;
  uint8_t ended[2][ROWS];
} w, before;

#include "attack.h"

/* A trajectory without frames, and the arguments of all calls. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.columns[0] = (rlcore_column){.name = "obs", .kind = RLCORE_F32, .len = OBS};
  w.columns[1] = (rlcore_column){.name = "action", .kind = RLCORE_U8, .len = 2};
  FINE(rlcore_trajectory_config_init(&w.config, sizeof w.config));
  CHECK(w.config.capacity == 20 && w.config.one_hot == 0 && w.config.num_columns == 0 && w.config.columns == NULL);
  w.config = (rlcore_trajectory_config){sizeof w.config, CAPACITY, M, 2, COLUMNS, 0, w.columns};
  FINE(rlcore_trajectory_init(w.mem, sizeof w.mem, &w.config, &w.trajectory));
  const float reward[3] = {1, 0, -1}, value[3] = {0.5f, -0.2f, 0.1f};
  memcpy(w.reward, reward, sizeof reward);
  memcpy(w.value, value, sizeof value);
  for (int i = 0; i < 3; i++) w.action[i][1] = 1, w.memory[i][0] = (float)i;
  w.given[0] = w.obs, w.given[1] = w.action;
  w.frames = (rlcore_trajectory_frames){sizeof w.frames, 3, w.given, w.reward, w.value, w.terminated, w.truncated, w.memory[0]};
  w.got[0] = w.got_obs, w.got[1] = w.got_action;
  w.rows = (rlcore_trajectory_rows){sizeof w.rows, ROWS, 0, 0, w.got, w.returns, w.advantage, w.got_memory[0], w.time_steps, w.valid};
  w.view.struct_size = sizeof w.view;
}

static void attack_config(void) {
  start();
  WITH(w.columns[1].num_stack, 2, RLCORE_E_CONFIG, "num_stack of at most 1, given 2",
       rlcore_trajectory_size(&w.config, &w.size));
}

static void attack_frames(void) {
  start();
#define ADD rlcore_trajectory_add(w.trajectory, &w.frames)
  REFUSED(RLCORE_E_NOT_READY, "frames, at least 1, given 0", rlcore_trajectory_pop(w.trajectory));
  FINE(ADD);
  w.frames.num_frames = 1;
  w.truncated[0] = 1;
  FINE(ADD);
  REFUSED(RLCORE_E_NOT_READY, "an episode that has not ended", ADD);
  FINE(rlcore_trajectory_pop(w.trajectory));
  FINE(ADD);
  FINE(rlcore_trajectory_reset(w.trajectory));
  FINE(ADD);

  FINE(rlcore_trajectory_held(w.trajectory, &w.view));
  CHECK(w.view.num_frames == 1 && w.view.reward[0] == 1 && w.view.truncated[0] == 1 && w.view.memory[0] == 0);
  FINE(rlcore_trajectory_column(w.trajectory, 1, &w.column));
  CHECK(((const uint8_t *)w.column)[1] == 1);
}

static void attack_process(void) {
  start();
  uint32_t *chosen = &w.chosen;
#define PROCESS rlcore_trajectory_process(w.trajectory, 0.99f, 0.95f, 0.4f, &w.rows)
#define PREDICT rlcore_trajectory_process_rp(w.trajectory, 0.1f, &w.rows, chosen)
  REFUSED(RLCORE_E_NOT_READY, "frames to process, at least 1", PROCESS);
  REFUSED(RLCORE_E_NOT_READY, "reward prediction, at least 2, given 0", PREDICT);
  FINE(rlcore_trajectory_add(w.trajectory, &w.frames));
  FINE(PROCESS);
  CHECK(fabsf(w.returns[0] - 0.4080196f) < 2e-6f && fabsf(w.advantage[0] + 0.039506836f) < 2e-6f && w.returns[3] == 0);
  CHECK(w.got_action[2][1] == 1 && w.got_action[3][0] == 1 && w.got_action[3][1] == 0 && w.time_steps[0] == 3);
  CHECK(memcmp(w.valid, "\1\1\1\0\0", ROWS) == 0);
  FINE(PREDICT);
  CHECK(w.chosen == RLCORE_REWARD_NEGATIVE && w.time_steps[0] == 2 && w.valid[2] == 0);
  w.rows = (rlcore_trajectory_rows){.struct_size = sizeof w.rows, .num_rows = 3, .time_flat = 1, .returns = w.returns, .advantage = w.advantage};
  FINE(PROCESS);

  FINE(rlcore_reward_class_of(1, 0.1f, &w.chosen));
  CHECK(w.chosen == RLCORE_REWARD_POSITIVE);
  FINE(rlcore_reward_class_of(-0.1f, 0.1f, &w.chosen));
  CHECK(w.chosen == RLCORE_REWARD_ZERO);
}

/* A writer without values. */
static void attack_left_out(void) {
  start();
  uint32_t *chosen = &w.chosen;
  w.frames.value = NULL;
  FINE(rlcore_trajectory_add(w.trajectory, &w.frames));
  FINE(rlcore_trajectory_held(w.trajectory, &w.view));
  CHECK(w.view.num_frames == 3 && w.view.value == NULL && w.view.reward[2] == -1);
  REFUSED(RLCORE_E_NOT_READY, "value of every row; some were added without", PROCESS);
  REFUSED(RLCORE_E_NOT_READY, "value of every row; some were added without", PREDICT);
  w.out = (rlcore_rows_out){.struct_size = sizeof w.out, .num_rows = 3, .value = w.returns};
  REFUSED(RLCORE_E_NOT_READY, "value of every row", rlcore_trajectory_read(w.trajectory, &w.next, &w.out, &w.count, NULL));
  FINE(rlcore_trajectory_attach(w.mem, BLOCK, &w.trajectory));
  FINE(rlcore_trajectory_reset(w.trajectory));
  FINE(rlcore_trajectory_held(w.trajectory, &w.view));
  w.frames.value = w.value;
  FINE(rlcore_trajectory_add(w.trajectory, &w.frames));
  FINE(PROCESS);
}

/* ---- Reading beside a writer ---- */

static void attack_read(void) {
  start();
  FINE(rlcore_trajectory_add(w.trajectory, &w.frames));
  w.out = (rlcore_rows_out){sizeof w.out, ROWS, w.got, w.returns, w.advantage, NULL, NULL, w.ended[0], w.ended[1], w.got_memory[0]};
  const rlcore_trajectory *reader = NULL;
  size_t size;
  FINE(rlcore_trajectory_size(&w.config, &size));
  FINE(rlcore_trajectory_attach_reader(w.mem, size, &w.reader));
  reader = w.reader;
  CHECK((const void *)reader == (const void *)w.mem);
  uint64_t *next = &w.next, *lost = &w.lost;
  uint32_t *count = &w.count;
#define READ rlcore_trajectory_read(reader, next, &w.out, count, lost)
  WITH(w.out.log_prob, w.reward, RLCORE_E_SHAPE, "no log_prob and no final_value", READ);
  WITH(w.out.final_value, w.reward, RLCORE_E_SHAPE, "no log_prob and no final_value", READ);
  FINE(READ);
  CHECK(w.count == 3 && w.lost == 0 && w.next == 3 && w.returns[2] == -1 && w.advantage[1] == -0.2f && w.got_memory[2][0] == 2);
  CHECK(w.got_action[2][1] == 1);
  FINE(READ);
  CHECK(w.count == 0 && w.lost == 0 && w.next == 3);
  /* Frames that a pop leaves count as new. */
  FINE(rlcore_trajectory_pop(w.trajectory));
  FINE(READ);
  CHECK(w.count == 2 && w.lost == 0 && w.next == 5);
  FINE(rlcore_trajectory_reset(w.trajectory));
  FINE(rlcore_trajectory_add(w.trajectory, &w.frames));
  w.next = 4;
  w.out.num_rows = 2;
  FINE(rlcore_trajectory_read(reader, next, &w.out, count, NULL));
  CHECK(w.count == 2 && w.next == 7);
  w.out.columns = NULL, w.out.reward = w.out.value = w.out.memory = NULL, w.out.terminated = w.out.truncated = NULL;
  FINE(READ);
  CHECK(w.count == 1 && w.lost == 0 && w.next == 8);

  /* A writer that has just begun a change, and one that died there. */
  TORN(w.mem + 776, READ, rlcore_trajectory_attach(w.mem, BLOCK, &w.trajectory));
}

int main(void) {
  attack_read();
  attack_config();
  attack_frames();
  attack_process();
  attack_left_out();
  return verdict();
}
