/* Wrong calls that need a state, of every function of rollouts and of rows. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, T = 4, M = 2, OBS = 3, COLUMNS = 3, BLOCK = 32768, TEXT = 512 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  rlcore_rollout_buffer_config config;
  rlcore_column columns[COLUMNS];
  rlcore_rollout_buffer *buffer;
  rlcore_rollout_step step;
  rlcore_minibatch batch;
  rlcore_rollout view;
  rlcore_rollout_extras extras;
  rlcore_rollout_progress progress;
  rlcore_window windows[2];
  rlcore_metric_row rows[8];
  const void *given[COLUMNS], *column;
  void *got[COLUMNS], *row;
  size_t size, len;
  uint64_t next, lost;
  uint32_t index[T * N], count, chosen;
  float obs[N][OBS], next_obs[N][OBS], reward[N], value[N], log_prob[N], final_value[N], memory[N][M], bootstrap_value[N];
  int32_t action[N];
  uint8_t pixel[N], terminated[N], truncated[N], valid[8];
  float got_obs[4][OBS], number[5][4], mask[4], got_memory[2][M];
  int32_t got_action[4], timestep[4];
  uint8_t got_pixel[4];
  const void *parts[2];
  uint32_t num_rows[2];
  int64_t picks[3];
  float stacked[5], x[4], shifted[8];
  _Alignas(8) char text[TEXT];
  const rlcore_rollout_buffer *reader;
  rlcore_rows_out out;
  float read_obs[T][N][OBS], read[4][T][N], read_memory[T][N][M];
  int32_t read_action[T][N];
  uint8_t read_pixel[T][N], ended[2][T][N];
} w, before;

#include "attack.h"

/* A rollout without steps, and the arguments of all calls. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.columns[0] = (rlcore_column){.name = "obs", .kind = RLCORE_F32, .len = OBS};
  w.columns[1] = (rlcore_column){.name = "action", .kind = RLCORE_I32, .len = 1};
  w.columns[2] = (rlcore_column){.name = "pixel", .kind = RLCORE_U8, .len = 1};
  FINE(rlcore_rollout_buffer_config_init(&w.config, sizeof w.config));
  CHECK(w.config.num_steps == 128 && w.config.num_envs == 1 && w.config.num_columns == 0 && w.config.columns == NULL);
  w.config = (rlcore_rollout_buffer_config){sizeof w.config, T, N, M, 8, COLUMNS, 5, w.columns, 0, 0};
  FINE(rlcore_rollout_buffer_init(w.mem, sizeof w.mem, &w.config, &w.buffer));
  for (int i = 0; i < N; i++) {
    w.reward[i] = (float)i + 0.5f, w.value[i] = 0.25f, w.log_prob[i] = -1, w.action[i] = i + 1, w.pixel[i] = 7;
    w.obs[i][0] = (float)i;
  }
  w.given[0] = w.obs, w.given[1] = w.action, w.given[2] = w.pixel;
  w.step = (rlcore_rollout_step){sizeof w.step, 0, w.given, w.reward, w.value, w.log_prob, w.terminated, w.truncated, w.final_value, w.memory[0], NULL};
  w.got[0] = w.got_obs, w.got[1] = w.got_action, w.got[2] = w.got_pixel;
  w.batch = (rlcore_minibatch){sizeof w.batch, 0, w.got, w.number[0], w.number[1], w.number[2], w.number[3], w.number[4], w.mask, w.got_memory[0], NULL};
  w.view.struct_size = sizeof w.view;
  w.extras.struct_size = sizeof w.extras;
  w.progress.struct_size = sizeof w.progress;
}

/* A finished rollout of T steps; environment 1 ended with step 1. */
static void fill(void) {
  start();
  for (int t = 0; t < T; t++) {
    w.terminated[1] = t == 1;
    FINE(rlcore_rollout_buffer_add(w.buffer, &w.step));
  }
  w.terminated[1] = 0;
  FINE(rlcore_rollout_buffer_finish(w.buffer, w.bootstrap_value, w.next_obs, 0.9f, 0.8f));
}

static void attack_config(void) {
  start();
  WITH(w.columns[1].num_stack, 2, RLCORE_E_CONFIG, "num_stack", rlcore_rollout_buffer_size(&w.config, &w.size));
  WITH(w.columns[2].num_stack, 2, RLCORE_E_CONFIG, "num_stack of at most 1, given 2",
       rlcore_rollout_buffer_size(&w.config, &w.size));
}

static void attack_steps(void) {
  start();
#define ADD rlcore_rollout_buffer_add(w.buffer, &w.step)
#define FINISH rlcore_rollout_buffer_finish(w.buffer, bootstrap, next_obs, 0.9f, 0.8f)
  const float *bootstrap = w.bootstrap_value;
  const void *next_obs = w.next_obs;
  w.truncated[0] = 1;
  w.final_value[1] = NAN; /* environment 1 was not truncated */
  w.step.raw_reward = w.log_prob;
  FINE(ADD);
  w.truncated[0] = 0;
  w.step.raw_reward = NULL;

#define ROW(column, step) rlcore_rollout_buffer_row(w.buffer, column, step, &w.row)
  FINE(ROW(0, 1));
  CHECK((unsigned char *)w.row > w.mem && (unsigned char *)w.row < w.mem + BLOCK);
  memcpy(w.row, w.obs, sizeof w.obs);
  w.given[0] = NULL;
  FINE(ADD);
  ((float *)w.row)[N * OBS] = NAN;
  REFUSED(RLCORE_E_VALUE, "finite column", ADD);
  w.step.columns = NULL;
  REFUSED(RLCORE_E_VALUE, "finite column", ADD);
  REFUSED(RLCORE_E_VALUE, "finite column", rlcore_rollout_buffer_finish(w.buffer, bootstrap, NULL, 0.9f, 0.8f));
  w.given[0] = w.obs;
  w.step.columns = w.given;

  REFUSED(RLCORE_E_NOT_READY, "a rollout that is finished", rlcore_rollout_buffer_draw(w.buffer, 1, 1, w.index, T * N));
  for (int t = 2; t < T; t++) FINE(ADD);
  REFUSED(RLCORE_E_NOT_READY, "room for another step", ADD);
  FINE(FINISH);
  REFUSED(RLCORE_E_NOT_READY, "not finished yet", ADD);
  REFUSED(RLCORE_E_NOT_READY, "not finished yet", FINISH);
  FINE(rlcore_rollout_buffer_reset(w.buffer));
  REFUSED(RLCORE_E_NOT_READY, "steps to finish", FINISH);
  FINE(ADD);
}

/* A writer without values and log-probabilities. */
static void attack_left_out(void) {
  start();
  w.step.value = w.step.log_prob = w.step.final_value = NULL;
  w.truncated[0] = 1; /* it has no final value either */
  FINE(ADD);
  w.step.value = w.value, w.step.log_prob = w.log_prob, w.step.final_value = w.final_value;
  for (int t = 1; t < T; t++) FINE(ADD);
  FINE(rlcore_rollout_buffer_view(w.buffer, &w.view));
  FINE(rlcore_rollout_buffer_extras(w.buffer, &w.extras));
  CHECK(w.view.value == NULL && w.view.final_value == NULL && w.view.reward != NULL && w.extras.log_prob == NULL);
  REFUSED(RLCORE_E_NOT_READY, "value of every row; some were added without",
          rlcore_rollout_buffer_finish(w.buffer, w.bootstrap_value, w.next_obs, 0.9f, 0.8f));
  w.out = (rlcore_rows_out){.struct_size = sizeof w.out, .num_rows = 1, .value = w.number[0]};
  REFUSED(RLCORE_E_NOT_READY, "value of every row", rlcore_rollout_buffer_read(w.buffer, &w.next, &w.out, &w.count, NULL));
  w.out.value = NULL, w.out.log_prob = w.number[0];
  REFUSED(RLCORE_E_NOT_READY, "log_prob of every row", rlcore_rollout_buffer_read(w.buffer, &w.next, &w.out, &w.count, NULL));
  w.out.log_prob = NULL, w.out.reward = w.number[0];
  FINE(rlcore_rollout_buffer_read(w.buffer, &w.next, &w.out, &w.count, NULL));
  FINE(rlcore_rollout_buffer_attach(w.mem, BLOCK, &w.buffer));
  FINE(rlcore_rollout_buffer_reset(w.buffer));

  w.step.log_prob = NULL;
  for (int t = 0; t < T; t++) FINE(ADD);
  FINE(rlcore_rollout_buffer_finish(w.buffer, w.bootstrap_value, w.next_obs, 0.9f, 0.8f));
  w.index[0] = 0;
  REFUSED(RLCORE_E_NOT_READY, "log_prob of every row", rlcore_rollout_buffer_gather(w.buffer, w.index, 1, 1, &w.batch));
  w.windows[0] = (rlcore_window){.len = 1};
  REFUSED(RLCORE_E_NOT_READY, "log_prob of every row",
          rlcore_rollout_buffer_gather_windows(w.buffer, w.windows, 1, 1, -1, &w.batch));
  w.batch.log_prob = NULL;
  FINE(rlcore_rollout_buffer_gather(w.buffer, w.index, 1, 1, &w.batch));
}

static void attack_views(void) {
  fill();
  FINE(rlcore_rollout_buffer_view(w.buffer, &w.view));
  FINE(rlcore_rollout_buffer_extras(w.buffer, &w.extras));
  FINE(rlcore_rollout_buffer_progress(w.buffer, &w.progress));
  CHECK(w.view.num_steps == T && w.view.num_envs == N && w.view.reward[1] == 1.5f && w.view.terminated[N + 1] == 1);
  static float advantage[T * N], value_target[T * N];
  FINE(rlcore_gae(&w.view, 0.9f, 0.8f, advantage, value_target));
  CHECK(memcmp(advantage, w.extras.advantage, sizeof advantage) == 0);
  CHECK(memcmp(value_target, w.extras.value_target, sizeof value_target) == 0);
  CHECK(w.extras.first[0] == 1 && w.extras.log_prob[7] == -1 && w.extras.memory != NULL);
  CHECK(w.progress.global_step == T * N && w.progress.num_ended == 1 && w.progress.len_mean == 2 && w.progress.return_mean == 3);
  CHECK(w.progress.finished == 1 && w.progress.num_steps == T);

#define COLUMN(i) rlcore_rollout_buffer_column(w.buffer, i, &w.column)
  FINE(COLUMN(1));
  CHECK(((const int32_t *)w.column)[T * N - 1] == 2);
}

static void attack_draws(void) {
  fill();
  uint32_t *index = w.index, *chosen = &w.chosen;
  rlcore_window *windows = w.windows;
#define DRAW rlcore_rollout_buffer_draw(w.buffer, 4, 2, index, 4)
#define WINDOWS rlcore_rollout_buffer_draw_windows(w.buffer, 3, 0.1, windows, 2)
#define SAMPLE rlcore_rollout_buffer_sample(w.buffer, chosen)
  REFUSED(RLCORE_E_SHAPE, "length 8, given 4", rlcore_rollout_buffer_draw(w.buffer, 4, 1, index, 4));
  REFUSED(RLCORE_E_RANGE, "T * N = 8, given 3", rlcore_rollout_buffer_draw(w.buffer, 3, 1, index, 8));
  REFUSED(RLCORE_E_RANGE, "divides num_steps, 4, given 3", rlcore_rollout_buffer_draw(w.buffer, 8, 3, index, 8));
  REFUSED(RLCORE_E_RANGE, "divides minibatch_size, 2, given 4", rlcore_rollout_buffer_draw(w.buffer, 2, 4, index, 2));
  FINE(DRAW);
  for (int i = 0; i < 4; i++) CHECK(w.index[i] < T * N && w.index[i] % 2 == 0);
  FINE(WINDOWS);
  for (int i = 0; i < 2; i++) CHECK(w.windows[i].len + w.windows[i].pad == 3);
  FINE(SAMPLE);
  CHECK(w.chosen < T);
  FINE(rlcore_rollout_buffer_attach(w.mem, BLOCK, &w.buffer));
  start();
  REFUSED(RLCORE_E_NOT_READY, "steps to choose from", SAMPLE);
  REFUSED(RLCORE_E_NOT_READY, "a rollout that is finished", DRAW);
  REFUSED(RLCORE_E_NOT_READY, "a rollout that is finished", WINDOWS);
  REFUSED(RLCORE_E_NOT_READY, "a rollout that is finished", rlcore_rollout_buffer_gather(w.buffer, index, 1, 1, &w.batch));
}

static void attack_gathers(void) {
  fill();
  w.index[0] = 2, w.index[1] = 4;
  w.windows[0] = (rlcore_window){6, 2, 0, 0};
  w.windows[1] = (rlcore_window){5, 1, 1, 1};
  const uint32_t *index = w.index;
  const rlcore_window *windows = w.windows;
#define GATHER rlcore_rollout_buffer_gather(w.buffer, index, 2, 2, &w.batch)
#define TAKE rlcore_rollout_buffer_gather_windows(w.buffer, windows, 2, 2, -1, &w.batch)
  WITH(w.batch.timestep, w.timestep, RLCORE_E_SHAPE, "no timesteps", GATHER);
  WITH(w.index[0], 3, RLCORE_E_RANGE, "inside one environment, of at most 1, given 2", GATHER);
  WITH(w.windows[0].first, 5, RLCORE_E_RANGE, "violated by that from sample 5", TAKE);
  FINE(GATHER);
  CHECK(w.got_action[0] == 1 && w.got_action[2] == 2 && w.mask[0] == 1 && w.mask[2] == 0 && w.number[4][3] == 1.5f);
  w.batch.timestep = w.timestep;
  FINE(TAKE);
  CHECK(w.got_action[2] == -1 && w.got_action[3] == 2 && w.timestep[1] == 1 && w.timestep[3] == 1 && w.mask[2] == 0);
  w.batch = (rlcore_minibatch){.struct_size = sizeof w.batch};
  FINE(GATHER);
  FINE(TAKE);
  FINE(rlcore_rollout_buffer_gather(w.buffer, index, 0, 1, &w.batch));
}

static void attack_log(void) {
  fill();
  uint64_t *next = &w.next, *lost = &w.lost;
  rlcore_metric_row *rows = w.rows;
  uint32_t *count = &w.count;
#define LOG(metric, value) rlcore_rollout_buffer_log(w.buffer, metric, value)
#define READ rlcore_rollout_buffer_read_log(w.buffer, next, rows, 8, count, lost)
  FINE(LOG(RLCORE_METRIC_OWN + 5, 0.5));
  FINE(READ);
  CHECK(w.count == 3 && w.lost == 0 && w.next == 3 && w.rows[0].global_step == 2 && w.rows[0].env == 1 && w.rows[0].value == 2);
  CHECK(w.rows[1].metric == RLCORE_METRIC_EPISODE_RETURN && w.rows[1].value == 3 && w.rows[2].env == UINT32_MAX);
  lost = NULL;
  FINE(READ);
  CHECK(w.count == 0);

  char *text = w.text;
  size_t *len = &w.len;
#define PROGRESS rlcore_rollout_buffer_format_progress(w.buffer, text, TEXT, len)
#define STEP rlcore_rollout_buffer_format_step(w.buffer, 3, text, TEXT, len)
  FINE(PROGRESS);
  static const char wanted[] = "global_step=000008\navg_episode_length=002.00\navg_episode_return=003.00\n";
  CHECK(w.len == sizeof wanted - 1 && memcmp(w.text, wanted, w.len) == 0);
  FINE(STEP);
  CHECK(memcmp(w.text, "Sample 4/4:\nobs       : 0.0 0.0 0.0 1.0", 39) == 0);
  FINE(rlcore_rollout_buffer_format_step(w.buffer, 3, NULL, 0, len));
  FINE(rlcore_rollout_buffer_reset(w.buffer));
  FINE(PROGRESS);
  CHECK(w.len == 0);
}

static void attack_rows(void) {
  start();
  for (int i = 0; i < 4; i++) w.x[i] = (float)(i + 1);
  w.parts[0] = w.x, w.parts[1] = w.reward;
  w.num_rows[0] = 3, w.num_rows[1] = 2;
  w.picks[0] = -1, w.picks[1] = 0, w.picks[2] = 1;
  REFUSED(RLCORE_E_RANGE, "num_parts: at most 64, given 65",
          rlcore_rows_stack(w.parts, w.num_rows, 65, 1, RLCORE_F32, w.stacked, 5));
  FINE(rlcore_rows_stack(w.parts, w.num_rows, 2, 1, RLCORE_F32, w.stacked, 5));
  CHECK(w.stacked[2] == 3 && w.stacked[3] == 0.5f && w.stacked[4] == 1.5f);
  FINE(rlcore_rows_gather(w.x, 4, 1, RLCORE_F32, w.picks, 3, w.stacked));
  CHECK(w.stacked[0] == 4 && w.stacked[1] == 1 && w.stacked[2] == 2);
  FINE(rlcore_rows_valid(w.num_rows, 2, 4, w.valid));
  CHECK(memcmp(w.valid, "\1\1\1\0\1\1\0\0", 8) == 0);
  FINE(rlcore_shift_rows(w.x, 2, 2, w.shifted));
  CHECK(w.shifted[3] == 4 && w.shifted[4] == 0 && w.shifted[6] == 1);
}

/* ---- Reading beside a writer ---- */

static void attack_read(void) {
  fill();
  w.got[0] = w.read_obs, w.got[1] = w.read_action, w.got[2] = w.read_pixel;
  w.out = (rlcore_rows_out){sizeof w.out, T, w.got, w.read[0][0], w.read[1][0], w.read[2][0], w.read[3][0], w.ended[0][0], w.ended[1][0], w.read_memory[0][0]};
  const rlcore_rollout_buffer *reader = NULL;
  size_t size;
  FINE(rlcore_rollout_buffer_size(&w.config, &size));
  FINE(rlcore_rollout_buffer_attach_reader(w.mem, size, &w.reader));
  reader = w.reader;
  CHECK((const void *)reader == (const void *)w.mem);
  uint64_t *next = &w.next, *lost = &w.lost;
  uint32_t *count = &w.count;
#undef READ
#define READ rlcore_rollout_buffer_read(reader, next, &w.out, count, lost)
  w.next = 1;
  FINE(READ);
  CHECK(w.count == 3 && w.lost == 0 && w.next == T && w.read[0][0][1] == 1.5f && w.read[1][2][0] == 0.25f && w.read[2][0][0] == -1);
  CHECK(w.ended[0][0][1] == 1 && w.ended[0][1][1] == 0 && w.read_action[2][1] == 2 && w.read_obs[1][1][0] == 1 && w.read_pixel[2][1] == 7);
  FINE(READ);
  CHECK(w.count == 0 && w.lost == 0 && w.next == T);
  FINE(rlcore_rollout_buffer_reset(w.buffer));
  FINE(rlcore_rollout_buffer_add(w.buffer, &w.step));
  w.next = 2;
  FINE(READ);
  CHECK(w.count == 1 && w.lost == 2 && w.next == T + 1);
  w.out = (rlcore_rows_out){.struct_size = sizeof w.out, .num_rows = 0};
  w.next = 0;
  FINE(rlcore_rollout_buffer_read(reader, next, &w.out, count, NULL));
  CHECK(w.count == 0 && w.next == T);
  w.out.num_rows = T;

  /* A writer that has just begun a change, and one that died there. */
  TORN(w.mem + 776, READ, rlcore_rollout_buffer_attach(w.mem, BLOCK, &w.buffer));
}

int main(void) {
  attack_read();
  attack_config();
  attack_steps();
  attack_left_out();
  attack_views();
  attack_draws();
  attack_gathers();
  attack_log();
  attack_rows();
  return verdict();
}
