/* Every call that takes a block of any kind, on a block of unknown origin: it is only known to be at most BLOCK_SIZE long, so
   that arrays are never too short. */
#ifndef RLCORE_FUZZ_DRIVE_H
#define RLCORE_FUZZ_DRIVE_H

#include "blocks.h"

enum { ROOM = 1 << 20 };

/* The inputs of calls, their outputs, another block for calls that take two, and the size of the driven block. */
static _Alignas(64) unsigned char zeros[ROOM], room[16][ROOM], partner[BLOCK_SIZE];
static size_t block_size;

/* The calls to make: each call takes the lowest bit and rotates; 0: all calls. */
static uint32_t plan;

static int planned(void) {
  if (plan == 0) return 1;
  plan = plan << 31 | plan >> 1;
  return plan >> 31;
}

#define CALL(call) (planned() ? KNOWN(call) : (void)0)
/* A call that, if it succeeds, has written finite floats or choices. */
#define CALL_WRITING(call, array) (planned() ? check_written(call, array) : (void)0)
#define A(i) ((void *)room[i])

/* Choices are small integers, so their bits are finite floats too. */
static void check_written(int32_t status, const void *array) {
  const float *numbers = array;
  KNOWN(status);
  for (int i = 0; status == RLCORE_OK && i < 64; i++) ALWAYS(isfinite(numbers[i]));
}

static void drive_vecenv(void *mem) {
  rlcore_vecenv *v = mem;
  const rlcore_rows out = {.struct_size = sizeof out, .obs = A(0), .reward = A(1), .terminated = A(2), .truncated = A(3), .final_obs = A(4), .valid = A(5)};
  CALL(rlcore_vecenv_num_envs(v, A(6)));
  CALL(rlcore_vecenv_lives(v, env.env, A(6)));
  CALL(rlcore_vecenv_action_mask(v, env.env, A(7)));
  CALL(rlcore_vecenv_render(v, env.env, 1, 4, 4, A(8)));
  CALL(rlcore_vecenv_row_read(v, env.env, 0, zeros, A(9), whole_row_size));
  CALL(rlcore_vecenv_row_write(v, env.env, 1, A(9), whole_row_size, A(0)));
  CALL(rlcore_vecenv_row_write(v, env.env, 0, whole_row, whole_row_size, A(0)));
  CALL(rlcore_vecenv_step(v, env.env, TAKING(zeros, &out)));
  CALL(rlcore_vecenv_step_range(v, env.env, 0, 1, TAKING(zeros, &out)));
  CALL(rlcore_vecenv_reset_one(v, env.env, 1, NULL, A(0)));
  CALL(rlcore_vecenv_reset(v, env.env, NULL, A(0)));
  CALL(rlcore_vecenv_step_env(v, env.env, RLCORE_LEVEL_SAME, TAKING(zeros, &out)));
}

static void drive_batch(void *mem) {
  rlcore_batch *b = mem;
  rlcore_vecenv *v;
  uint32_t n;
  uint32_t *rows = A(7);
  memcpy(partner, samples[VECENV_RUNNING].bytes, samples[VECENV_RUNNING].size);
  FINE(rlcore_vecenv_attach(partner, sizeof partner, env.env, &v));
  const rlcore_rows out = {.struct_size = sizeof out, .obs = A(0), .reward = A(1), .terminated = A(2), .truncated = A(3), .final_obs = A(4), .valid = A(5)};
  rlcore_batch_counts counts = {.struct_size = sizeof counts};
  CALL(rlcore_batch_count(b, &counts));
  CALL(rlcore_batch_failed(b, A(6)));
  CALL(rlcore_batch_run(b, v, env.env, 1, 1, &n));
  memset(rows, 0, sizeof *rows);
  CALL(rlcore_batch_recv(b, 1, rows, &out));
  ALWAYS(rows[0] < N);
  CALL(rlcore_batch_step_wait(b, &out));
  CALL(rlcore_batch_abandon(b, v, env.env, 0, &n));
  CALL(rlcore_batch_send(b, v, env.env, 1, (uint32_t *)zeros, CHOSEN(zeros)));
  CALL(rlcore_batch_reset_one(b, v, env.env, 1, NULL, A(0)));
  CALL(rlcore_batch_reset(b, v, env.env, NULL, A(0)));
  CALL(rlcore_batch_step_async(b, v, env.env, CHOSEN(zeros)));
  CALL(rlcore_batch_run(b, v, env.env, 1, UINT32_MAX, &n));
  CALL(rlcore_batch_step_wait(b, &out));
  CALL(rlcore_batch_close(b));
}

static void drive_monitor(void *mem) {
  rlcore_monitor *m = mem;
  uint64_t next = 0, lost;
  uint32_t count;
  rlcore_monitor_stats stats = {.struct_size = sizeof stats};
  memset(room[2], 1, 2 * N);
  const rlcore_rows step = {.struct_size = sizeof step, .reward = (float *)zeros, .terminated = A(2), .truncated = zeros};
  CALL(rlcore_monitor_means(m, &stats));
  CALL(rlcore_monitor_read(m, &next, A(3), A(4), 2, &count, &lost));
  CALL(rlcore_monitor_step(m, &step, 2, (double *)zeros));
  CALL(rlcore_monitor_reset_one(m, 1));
  CALL(rlcore_monitor_step(m, &step, 1e300, (double *)zeros));
  CALL(rlcore_monitor_read(m, &next, A(3), A(4), 100, &count, &lost));
  CALL(rlcore_monitor_means(m, &stats));
  CALL(rlcore_monitor_reset(m));
}

static void drive_normalizer(void *mem) {
  rlcore_vec_normalize *v = mem, *other = (void *)partner;
  rlcore_vec_normalize_stats stats = {.struct_size = sizeof stats};
  memcpy(partner, samples[NORMALIZER_USED].bytes, samples[NORMALIZER_USED].size);
  memset(room[5], 0, 1 << 12);
  rlcore_rows step = {.struct_size = sizeof step, .obs = A(4), .reward = A(5), .terminated = zeros, .truncated = zeros};
  memset(room[4], 0, 1 << 12);
  memset(room[0], 0, 256);
  CALL_WRITING(rlcore_vec_normalize_obs(v, 2, (float *)zeros, A(0)), A(0));
  CALL(rlcore_vec_normalize_statistics(v, A(1), A(2), &stats));
  CALL_WRITING(rlcore_vec_normalize_step(v, &step, NULL), A(5));
  CALL(rlcore_vec_normalize_reset_one(v, 1, (float *)zeros, A(0)));
  CALL(rlcore_vec_normalize_merge(v, other));
  CALL(rlcore_vec_normalize_merge(other, v));
  CALL(rlcore_vec_normalize_reset(v, (float *)zeros, A(0)));
  CALL(rlcore_vec_normalize_freeze(v, 1));
  CALL(rlcore_vec_normalize_step(v, &step, NULL));
}

/* The spaces that an object reports: the choice counts that a host reads, one per element, lie in the block. */
static void check_space(const void *mem, const rlcore_space *space) {
  ALWAYS(space->kind <= RLCORE_STRUCT && space->len > 0);
  if (space->kind == RLCORE_F32 || space->kind == RLCORE_U8) ALWAYS(space->n == NULL);
  if (space->kind == RLCORE_I32) ALWAYS(space->n != NULL);
  if (space->n == NULL) return;
  const size_t begin = (size_t)((const unsigned char *)space->n - (const unsigned char *)mem);
  const uint32_t known = space->kind == RLCORE_I32 ? space->len : 1;
  ALWAYS(begin < block_size && known <= (block_size - begin) / sizeof *space->n);
  for (uint32_t i = 0; i < known; i++) ALWAYS(space->n[i] >= 1);
}

/* A host asks for the sizes of its arrays: the arrays here have to be large enough for this many rows. */
static int has_room(uint32_t rows, const rlcore_space *obs, const rlcore_space *action) {
  const uint64_t len = obs->len > action->len ? obs->len : action->len;
  return len * rows <= ROOM / sizeof(float);
}

static void drive_policy(void *mem) {
  const rlcore_policy *p = mem;
  size_t scratch_len = 0;
  rlcore_rng rng;
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  rlcore_space obs, action;
  FINE(rlcore_rng_seed(&rng, 1));
  if (rlcore_policy_spaces(p, &obs, &action) == RLCORE_OK && !has_room(2, &obs, &action)) return;
  const int32_t status = rlcore_policy_scratch_len(p, 2, &scratch_len);
  CALL(status);
  if (scratch_len > ROOM / 4) scratch_len = ROOM / 4;
  memset(room[1], 0, 256);
  CALL_WRITING(rlcore_policy_act(p, 2, ACTED(NULL, zeros, NULL, A(1)), BUFFERS(NULL, NULL, A(0), scratch_len), NULL, &rng), A(1));
  CALL_WRITING(rlcore_policy_act(p, 2, ACTED(NULL, zeros, NULL, A(1)), BUFFERS(NULL, NULL, A(0), scratch_len), &greedy, NULL), A(1));
  CALL_WRITING(rlcore_policy_act_greedy(p, 2, ACTED(NULL, zeros, NULL, A(1)), BUFFERS(NULL, NULL, A(0), scratch_len)), A(1));
  CALL(rlcore_policy_act(p, 1, ACTED(NULL, zeros, zeros, A(1)), BUFFERS(NULL, NULL, A(0), scratch_len), NULL, &rng));
}

static void drive_ppo(void *mem) {
  rlcore_learner *p = mem;
  uint32_t due;
  size_t policy_size;
  rlcore_policy *policy;
  rlcore_space obs, action;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  memset(room[1], 0, 256);
  memset(room[7], 1, 1 << 12);
  if (rlcore_learner_spaces(p, &due, &obs, &action) == RLCORE_OK) {
    check_space(mem, &obs), check_space(mem, &action);
    if (!has_room(due, &obs, &action)) return;
  }
  CALL(rlcore_learner_phase(p, &due));
  CALL_WRITING(rlcore_learner_predict(p, ACTED(NULL, zeros, A(7), A(1)), NULL, NULL, NULL), A(1));
  CALL_WRITING(rlcore_learner_predict(p, ACTED(NULL, zeros, NULL, A(1)), NULL, NULL, NULL), A(1));
  for (int i = 0; i < 3; i++) {
    CALL_WRITING(rlcore_learner_act(p, ACTED(NULL, zeros, A(7), A(1))), A(1));
    CALL_WRITING(rlcore_learner_act(p, ACTED(NULL, zeros, NULL, A(1))), A(1));
    CALL(rlcore_learner_observe(p, STEPPED(NULL, (float *)zeros, A(7), zeros, NULL, NULL)));
    CALL(rlcore_learner_observe(p, STEPPED(NULL, (float *)zeros, zeros, A(7), zeros, NULL)));
    CALL(rlcore_learner_learn(p, OBSERVED(zeros, NULL), i != 1, &stats)); /* one minibatch, or all that are left */
  }
  CALL(rlcore_learner_freeze(p, 1));
  CALL(rlcore_policy_size(p, &policy_size));
  if (rlcore_policy_export(p, partner, sizeof partner, &policy) == RLCORE_OK) KNOWN(attach(POLICY, partner, sizeof partner));
}

static void drive_lazy(void *mem) {
  rlcore_lazy_frames *l = mem;
  uint64_t begin, end, number;
  const uint8_t *frame;
  memset(room[7], 1, 64);
  for (uint32_t e = 0; e < 3; e++) {
    if (rlcore_lazy_frames_held(l, e, &begin, &end) != RLCORE_OK) continue;
    const rlcore_frame_index index[2] = {{end - 1, e, 0}, {begin + 1, e, 0}};
    CALL(rlcore_lazy_frames_frame(l, e, begin, &frame));
    CALL(rlcore_lazy_frames_indices(l, e, end - 1, A(0)));
    CALL(rlcore_lazy_frames_stack(l, e, begin, RLCORE_LAYOUT_CHW, RLCORE_F32, A(1)));
    CALL(rlcore_lazy_frames_gather(l, index, 2, RLCORE_LAYOUT_HWC, RLCORE_U8, A(1)));
    CALL(rlcore_lazy_frames_gather_transitions(l, index + 1, 1, RLCORE_LAYOUT_HWC, RLCORE_U8, A(1), A(2)));
    CALL(rlcore_lazy_frames_push(l, e, zeros, e & 1, &number));
  }
  CALL(rlcore_lazy_frames_push_range(l, 0, 2, zeros, A(7), zeros, A(3)));
}

static void drive_columns(const void *values[16]) {
  for (int i = 0; i < 16; i++) values[i] = zeros;
}

static void drive_memory(void *mem) {
  rlcore_memory *m = mem;
  const rlcore_memory *reader;
  const void *values[16];
  uint64_t begin = 0, end = 0, number;
  uint32_t ordinary = 0, priority = 0, cuts;
  rlcore_rng rng;
  rlcore_sample drawn[2] = {{0}};
  drive_columns(values);
  CALL(rlcore_memory_load_rng(m, &rng));
  FINE(rlcore_rng_seed(&rng, 1));
  CALL(rlcore_memory_attach_reader(mem, block_size, &reader));
  CALL(rlcore_memory_held(m, &begin, &end));
  CALL(rlcore_memory_pool_len(m, &ordinary, &priority));
  CALL(rlcore_memory_pool_number(m, 0, ordinary - 1, &number));
  CALL(rlcore_memory_pool_number(m, 1, priority - 1, &number));
  for (uint32_t i = 0; i < 4; i++) {
    const rlcore_draw draw = {.struct_size = sizeof draw, .size = i, .burn_in = i & 1, .attempts = 3, .rule = i / 2, .exact_size = i & 1};
    const int32_t status = i & 1 ? rlcore_memory_sample_uniform(m, &rng, &draw, drawn, 2)
                                 : rlcore_memory_sample_priority(m, &rng, &draw, drawn, 2);
    CALL(status);
    if (status != RLCORE_OK && status != RLCORE_E_INEXACT) continue;
    FINE(rlcore_memory_held(m, &begin, &end));
    for (int j = 0; j < 2; j++) ALWAYS(drawn[j].first >= begin && drawn[j].first < end && drawn[j].len <= end - begin && drawn[j].priority <= 1);
    CALL(rlcore_memory_gather(m, SEQUENCES(drawn, 2, 8), i % 3, RLCORE_LAYOUT_HWC, i % 3, A(0)));
    CALL(rlcore_memory_gather_frames(m, SEQUENCES(drawn, 2, 8), A(1), A(2), A(3), A(4)));
  }
  for (uint32_t i = 0; i < 4; i++) {
    const rlcore_frame frame = {.episode = i / 2, .step = i, .reward = (float)(i & 1)};
    CALL(rlcore_memory_add(m, &frame, values, &number, &cuts));
    CALL(rlcore_memory_add_rollout(m, &frame, 1, values, &number, &cuts));
  }
  CALL(rlcore_memory_sample_uniform(m, &rng, NULL, drawn, 2));
  CALL(rlcore_memory_store_rng(m, &rng));
}

static void drive_replay(void *mem) {
  rlcore_replay *r = mem;
  const rlcore_replay *reader;
  const void *values[16];
  rlcore_rng rng;
  rlcore_replay_stats stats = {.struct_size = sizeof stats};
  rlcore_frame_index index[4];
  float weight[4], probability[4];
  uint64_t forgotten;
  drive_columns(values);
  CALL(rlcore_replay_load_rng(r, &rng));
  FINE(rlcore_rng_seed(&rng, 1));
  CALL(rlcore_replay_attach_reader(mem, block_size, &reader));
  for (uint32_t i = 0; i < 3; i++) {
    CALL(rlcore_replay_get_stats(r, &stats));
    if (rlcore_replay_sample(r, &rng, REPLAY_DRAW(0.5f, i, i & 1), 4, index, weight, probability) == RLCORE_OK) {
      for (int j = 0; j < 4; j++) ALWAYS(isfinite(weight[j]) && weight[j] >= 0 && probability[j] > 0 && probability[j] <= 1);
      CALL(rlcore_replay_transitions(r, index, 4, A(1), A(2), A(3), A(4)));
      CALL(rlcore_replay_gather(r, index, 4, i, RLCORE_LAYOUT_HWC, i % 3, A(0)));
      CALL(rlcore_replay_gather_next(r, index, 4, 0, RLCORE_LAYOUT_CHW, RLCORE_F32, A(0)));
      CALL(rlcore_replay_update(r, index, weight, 4, &forgotten));
    }
    CALL(rlcore_replay_add(r, REPLAY_STEP(i, 1, i == 1, 0), values, i == 1 ? values : NULL, NULL));
    CALL(rlcore_replay_add_all(r, values, (float *)zeros, zeros, zeros, NULL));
    CALL(rlcore_replay_set_alpha(r, 0.5f * (float)i));
  }
  CALL(rlcore_replay_store_rng(r, &rng));
}

static void drive_rollout(void *mem) {
  rlcore_rollout_buffer *b = mem;
  const void *columns[16], *column;
  void *row, *out[16] = {A(8), A(9)};
  size_t len;
  uint64_t next = 0, lost;
  uint32_t index[8], count, step;
  rlcore_window windows[2];
  rlcore_rollout view = {.struct_size = sizeof view};
  rlcore_rollout_extras extras = {.struct_size = sizeof extras};
  rlcore_rollout_progress progress = {.struct_size = sizeof progress};
  rlcore_metric_row rows[4];
  drive_columns(columns);
  const float *reals = (float *)zeros;
  const rlcore_rollout_step taken = {sizeof taken, 0, columns, reals, reals, reals, zeros, zeros, NULL, reals, NULL};
  const rlcore_minibatch batch = {sizeof batch, 0, out, A(1), A(2), A(3), A(4), A(5), A(6), A(7), NULL};
  for (int i = 0; i < 2; i++) {
    CALL(rlcore_rollout_buffer_progress(b, &progress));
    CALL(rlcore_rollout_buffer_view(b, &view));
    CALL(rlcore_rollout_buffer_extras(b, &extras));
    CALL(rlcore_rollout_buffer_column(b, 1, &column));
    CALL(rlcore_rollout_buffer_row(b, 0, progress.num_steps, &row));
    CALL(rlcore_rollout_buffer_sample(b, &step));
    CALL(rlcore_rollout_buffer_draw(b, 2, 1, index, 6));
    if (rlcore_rollout_buffer_draw_windows(b, 2, 0.5, windows, 2) == RLCORE_OK)
      CALL(rlcore_rollout_buffer_gather_windows(b, windows, 2, 2, -1, &batch));
    CALL(rlcore_rollout_buffer_gather(b, (uint32_t *)zeros, 2, 1, &batch));
    CALL(rlcore_rollout_buffer_log(b, RLCORE_METRIC_OWN, 1));
    CALL(rlcore_rollout_buffer_read_log(b, &next, rows, 4, &count, &lost));
    CALL(rlcore_rollout_buffer_format_progress(b, A(10), 4096, &len));
    CALL(rlcore_rollout_buffer_format_step(b, 1, A(10), ROOM, &len));
    CALL(rlcore_rollout_buffer_add(b, &taken));
    CALL(rlcore_rollout_buffer_finish(b, reals, zeros, 0.5f, 0.5f));
    if (i == 0) CALL(rlcore_rollout_buffer_reset(b));
  }
}

static void drive_trajectory(void *mem) {
  rlcore_trajectory *t = mem;
  const void *columns[16], *column;
  void *out[16] = {A(8), A(9)};
  uint32_t class;
  drive_columns(columns);
  const float *reals = (float *)zeros;
  rlcore_trajectory_view view = {.struct_size = sizeof view};
  const rlcore_trajectory_frames frames = {sizeof frames, 1, columns, reals, reals, zeros, zeros, reals};
  CALL(rlcore_trajectory_held(t, &view));
  CALL(rlcore_trajectory_column(t, 1, &column));
  for (uint32_t i = 0; i < 2; i++) {
    const rlcore_trajectory_rows rows = {sizeof rows, i ? view.num_frames & 1023 : 8, i, 0, out, A(1), A(2), A(3), A(4), A(5)};
    CALL(rlcore_trajectory_process(t, 0.5f, 0.5f, 1, &rows));
    CALL(rlcore_trajectory_process_rp(t, 0.5f, &rows, &class));
    CALL(rlcore_trajectory_add(t, &frames));
  }
  CALL(rlcore_trajectory_pop(t));
  CALL(rlcore_trajectory_reset(t));
  CALL(rlcore_trajectory_add(t, &frames));
}

static void drive_queue(void *mem) {
  rlcore_queue *q = mem;
  uint32_t len;
  size_t taken;
  CALL(rlcore_queue_len(q, &len));
  for (int i = 0; i < 3; i++) CALL(rlcore_queue_push(q, zeros, 8));
  for (int i = 0; i < 3; i++) CALL(rlcore_queue_pop(q, A(0), ROOM, &taken));
  CALL(rlcore_queue_len(q, &len));
}

/* Drives an attached block, which has to attach again afterwards. Only a batch may turn out to be damaged later, in a group that
   no worker has begun. */
static void drive(enum kind kind, void *mem, size_t size, int damaged) {
  static void (*const of_kind[KINDS])(void *) = {drive_vecenv, drive_batch,  drive_monitor, drive_normalizer,
                                                 drive_ppo,    drive_policy, drive_lazy,    drive_memory,
                                                 drive_replay, drive_rollout, drive_trajectory, drive_queue};
  block_size = size;
  of_kind[kind](mem);
  const int32_t status = attach(kind, mem, size);
  ALWAYS(status == RLCORE_OK || (damaged && kind == BATCH && status == RLCORE_E_IMAGE));
}

#endif
