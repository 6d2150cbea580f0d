/* The replay memory: wrong calls that need a state, and the results of right calls. */
#include "rlcore.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 8, LONGEST = 3, BLOCK = 4096, B = 4, LEN = 5, PICTURE = 2, STACK = 2 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  rlcore_column columns[2];
  rlcore_memory_config config;
  rlcore_memory *m;
  size_t size;
  rlcore_frame frame[B];
  int32_t x[B];
  uint8_t picture[B][PICTURE];
  const void *values[2];
  uint64_t number, begin, end;
  uint32_t cuts, low, high;
  rlcore_rng rng;
  rlcore_draw draw;
  rlcore_sample samples[B];
  int32_t numbers[B][LEN];
  uint8_t pictures[B][LEN][STACK * PICTURE];
  float pictures_f32[B][LEN][STACK * PICTURE], reward[B][LEN];
  uint8_t terminated[B][LEN], truncated[B][LEN], valid[B][LEN];
} w, before;

#include "attack.h"

/* Frame `number` of the stream: rewards at 5 and 9; the first two episodes end with frames 3 and 6. */
static void make(rlcore_frame *frame, uint64_t number) {
  const uint64_t episode = (number > 3) + (number > 6);
  memset(frame, 0, sizeof *frame);
  frame->episode = episode;
  frame->step = (uint32_t)(number - (episode == 0 ? 0 : episode == 1 ? 4 : 7));
  frame->reward = number == 5 || number == 9 ? -1.0f : 0.0f;
  frame->terminated = (number == 3 || number == 6) * 7;
}

static void configure(rlcore_memory_config *config, rlcore_column *columns) {
  FINE(rlcore_memory_config_init(config, sizeof *config));
  memset(columns, 0, 2 * sizeof *columns);
  strcpy(columns[0].name, "x");
  columns[0].kind = RLCORE_I32;
  columns[0].len = 1;
  strcpy(columns[1].name, "picture");
  columns[1].kind = RLCORE_U8;
  columns[1].len = PICTURE;
  columns[1].num_stack = STACK;
  config->num_columns = 2;
  config->columns = columns;
}

static void add(uint64_t number) {
  make(&w.frame[0], number);
  w.x[0] = (int32_t)number;
  w.picture[0][0] = (uint8_t)number;
  w.picture[0][1] = (uint8_t)(100 + number);
  uint64_t got;
  FINE(rlcore_memory_add(w.m, &w.frame[0], w.values, &got, &w.cuts));
  CHECK(got == number && w.cuts == 0);
}

/* A fresh world: frames 0 to 9 were added, 2 to 9 are held. */
static void start(void) {
  memset(&w, 0, sizeof w);
  configure(&w.config, w.columns);
  CHECK(w.config.struct_size == sizeof w.config && w.config.history_size == 2000 && w.config.max_sample_size == 20);
  CHECK(w.config.priority_sample_size == 0 && w.config.reward_threshold == 0.1f && w.config.use_priority == 1);
  w.config.history_size = KEPT;
  w.config.max_sample_size = LONGEST;
  FINE(rlcore_memory_size(&w.config, &w.size));
  CHECK(w.size <= BLOCK);
  FINE(rlcore_memory_init(w.mem, BLOCK, &w.config, &w.m));
  CHECK((void *)w.m == (void *)w.mem);
  w.values[0] = w.x;
  w.values[1] = w.picture;
  for (uint64_t number = 0; number < 10; number++) add(number);
  FINE(rlcore_rng_seed(&w.rng, 1));
  w.draw.struct_size = sizeof w.draw;
  for (int i = 0; i < B; i++) {
    w.samples[i] = (rlcore_sample){(uint64_t)(7 - i % 2), 2, 0, 0, 0};
    make(&w.frame[i], (uint64_t)(10 + i));
  }
}

/* ---- Making a block ---- */

static void attack_config(void) {
  start();
  WITH(w.columns[0].num_stack, 2, RLCORE_E_CONFIG, "num_stack", rlcore_memory_size(&w.config, &w.size));
}

/* ---- Adding ---- */

static void attack_add(void) {
  start();
  rlcore_memory *m = w.m;
#define ADD(...) rlcore_memory_add(__VA_ARGS__)
  for (int i = 0; i < 6; i++)
    WITH(w.frame[0].reserved[i], 1, RLCORE_E_RANGE, "frame: reserved: zeros", ADD(m, w.frame, w.values, &w.number, &w.cuts));

#define ROLLOUT(...) rlcore_memory_add_rollout(__VA_ARGS__)
  /* The second frame ends the episode, but the third belongs to the same one. */
  WITH(w.frame[1].truncated, 1, RLCORE_E_RANGE, "an episode that has not ended, not of episode, given 2",
       ROLLOUT(m, w.frame, B, w.values, &w.number, &w.cuts));

  w.frame[2].step++;
  FINE(ROLLOUT(m, w.frame, B, w.values, &w.number, &w.cuts));
  CHECK(w.number == 10 && w.cuts == 2);
  w.frame[0].episode = 77;
  w.frame[0].terminated = 255;
  FINE(ADD(m, w.frame, w.values, NULL, &w.cuts));
  CHECK(w.cuts == 1);
  REFUSED(RLCORE_E_RANGE, "not of episode, given 77", ADD(m, w.frame, w.values, &w.number, &w.cuts));
  const rlcore_sample all = {10, 5, 0, 0, 0};
  FINE(rlcore_memory_gather_frames(m, SEQUENCES(&all, 1, LEN), NULL, w.terminated[0], w.truncated[0], NULL));
  const uint8_t ends[] = {0, 0, 0, 0, 1}, cut[] = {0, 1, 1, 1, 0};
  CHECK(memcmp(w.terminated[0], ends, 5) == 0 && memcmp(w.truncated[0], cut, 5) == 0);
}

/* ---- Looking and drawing ---- */

static void attack_looks(void) {
  start();
  const rlcore_memory *m = w.m;
#define HELD(...) rlcore_memory_held(__VA_ARGS__)
  FINE(HELD(m, &w.begin, &w.end));
  CHECK(w.begin == 2 && w.end == 10);

#define POOL_LEN(...) rlcore_memory_pool_len(__VA_ARGS__)
  FINE(POOL_LEN(m, &w.low, &w.high));
  CHECK(w.low == 3 && w.high == 2);

#define POOL(...) rlcore_memory_pool_number(__VA_ARGS__)
  /* Stacks of two read one more frame, so the pools begin with frame 2 + 3. */
  const uint64_t low[] = {6, 7, 8}, high[] = {5, 9};
  for (uint32_t i = 0; i < 3; i++) FINE(POOL(m, 0, i, &w.number)), CHECK(w.number == low[i]);
  for (uint32_t i = 0; i < 2; i++) FINE(POOL(m, 1, i, &w.number)), CHECK(w.number == high[i]);

#define STORE(...) rlcore_memory_store_rng(__VA_ARGS__)
#define LOAD(...) rlcore_memory_load_rng(__VA_ARGS__)
  rlcore_rng kept = w.rng, zero;
  FINE(rlcore_rng_seed(&zero, 0));
  FINE(LOAD(m, &w.rng));
  CHECK(memcmp(&w.rng, &zero, sizeof zero) == 0);
  FINE(STORE(w.m, &kept));
  FINE(LOAD(m, &w.rng));
  CHECK(memcmp(&w.rng, &kept, sizeof kept) == 0);
}

typedef rlcore_status draw_fn(const rlcore_memory *, rlcore_rng *, const rlcore_draw *, rlcore_sample *, uint32_t);

static void attack_draws_of(draw_fn *DRAW) {
  start();
  const rlcore_memory *m = w.m;
  w.draw.burn_in = 1;
  WITH(w.draw.rule, 1, RLCORE_E_RANGE, "burn_in of 0", DRAW(m, &w.rng, &w.draw, w.samples, B));
  w.draw = (rlcore_draw){sizeof w.draw, UINT32_MAX, UINT32_MAX, 0, UINT32_MAX, UINT32_MAX, 0};
  if (DRAW == rlcore_memory_sample_priority) w.draw.size = 3;
  FINE(DRAW(m, &w.rng, &w.draw, w.samples, B));
  FINE(DRAW(m, &w.rng, NULL, w.samples, 0));
  FINE(DRAW(m, &w.rng, NULL, w.samples, B));
  for (int i = 0; i < B; i++) CHECK(w.samples[i].len >= 1 && w.samples[i].len <= 3 && w.samples[i].gap == 0);

  /* Inexact: a single attempt fails sooner or later; the samples are written, and len tells which are too short. */
  w.draw = (rlcore_draw){sizeof w.draw, 3, 0, 1, 2, 1, 0};
  int inexact = 0;
  for (int k = 0; k < 100; k++) {
    const rlcore_status status = DRAW(m, &w.rng, &w.draw, w.samples, B);
    int short_ones = 0;
    for (int i = 0; i < B; i++) short_ones += w.samples[i].len < 3;
    CHECK(status == (short_ones ? RLCORE_E_INEXACT : RLCORE_OK));
    inexact += status == RLCORE_E_INEXACT;
    FINE(rlcore_memory_gather(m, SEQUENCES(w.samples, B, LEN), 0, 0, RLCORE_I32, w.numbers));
    for (int i = 0; i < B; i++)
      for (uint32_t j = 0; j < LEN; j++)
        CHECK(w.numbers[i][j] == (j < w.samples[i].len ? (int32_t)(w.samples[i].first + j) : 0));
  }
  CHECK(inexact > 0);
}

static void attack_draws(void) {
  attack_draws_of(rlcore_memory_sample_uniform);
  attack_draws_of(rlcore_memory_sample_priority);
  start();
  w.draw.rule = RLCORE_DRAW_ORIGINAL;
  WITH(w.draw.size, 7, RLCORE_E_RANGE, "up to 6, given 7", rlcore_memory_sample_uniform(w.m, &w.rng, &w.draw, w.samples, B));
  WITH(w.draw.size, UINT32_MAX, RLCORE_E_RANGE, "up to 6", rlcore_memory_sample_uniform(w.m, &w.rng, &w.draw, w.samples, B));
  w.draw.size = UINT32_MAX;
  FINE(rlcore_memory_sample_priority(w.m, &w.rng, &w.draw, w.samples, B));
  w.draw.size = 0;
  FINE(rlcore_memory_init(w.mem, BLOCK, &w.config, &w.m));
  REFUSED(RLCORE_E_EMPTY, "max_sample_size - 1 predecessors; frames held, given 0",
          rlcore_memory_sample_priority(w.m, &w.rng, NULL, w.samples, B));
  REFUSED(RLCORE_E_NOT_READY, "frames held, at least 1, given 0", rlcore_memory_sample_uniform(w.m, &w.rng, NULL, w.samples, B));
  REFUSED(RLCORE_E_NOT_READY, "at least 8, given 0", rlcore_memory_sample_uniform(w.m, &w.rng, &w.draw, w.samples, B));
  w.config.use_priority = 0;
  FINE(rlcore_memory_init(w.mem, BLOCK, &w.config, &w.m));
  REFUSED(RLCORE_E_DISABLED, "use_priority", rlcore_memory_sample_priority(w.m, &w.rng, NULL, w.samples, B));
}

/* ---- Copying out ---- */

static void attack_gather(void) {
  start();
  const rlcore_memory *m = w.m;
  void *out = w.numbers;
#define GATHER(...) rlcore_memory_gather(__VA_ARGS__)

#define FRAMES(...) rlcore_memory_gather_frames(__VA_ARGS__)
  float *reward = w.reward[0];
  uint8_t *terminated = w.terminated[0], *truncated = w.truncated[0], *valid = w.valid[0];

  const struct { rlcore_sample sample; const char *words; } bad[] = {
      {{1, 2, 0, 0, 0}, "still held, from number 2, given 1"},
      {{9, 2, 0, 0, 0}, "of a number below 10, given 10"},
      {{10, 1, 0, 0, 0}, "of a number below 10, given 10"},
      {{UINT64_MAX, 2, 0, 0, 0}, "of a number below 10"},
      {{5, 0, 0, 0, 0}, "a sample that was drawn"},
      {{5, 2, 2, 0, 0}, "a sample that was drawn"},
      {{5, 2, 0, 0, 2}, "a sample that was drawn"},
      {{5, 1, 0, 1, 0}, "a sample that was drawn"},
      {{5, 2, 0, 4, 0}, "of a number below 10, given 10"},
      {{5, 2, 0, UINT32_MAX, 0}, "of a number below 10"},
      {{5, LEN + 1, 0, 0, 0}, "at most len frames, 5, given 6"},
      {{5, UINT32_MAX, 0, 0, 0}, "at most len frames, 5"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    WITH(w.samples[B - 1], bad[i].sample, RLCORE_E_RANGE, bad[i].words, GATHER(m, SEQUENCES(w.samples, B, LEN), 0, 0, RLCORE_I32, out));
    WITH(w.samples[B - 1], bad[i].sample, RLCORE_E_RANGE, bad[i].words, FRAMES(m, SEQUENCES(w.samples, B, LEN), reward, terminated, truncated, valid));
  }
  /* Frame 2 is held, but the other frame of its stack is not. */
  const rlcore_sample oldest = {2, 2, 0, 0, 0};
  WITH(w.samples[0], oldest, RLCORE_E_RANGE, "still held, from number 2, given 1", GATHER(m, SEQUENCES(w.samples, B, LEN), 1, 0, RLCORE_U8, w.pictures));
  w.samples[0] = oldest;
  FINE(GATHER(m, SEQUENCES(w.samples, 1, LEN), 0, 0, RLCORE_I32, out));
  FINE(FRAMES(m, SEQUENCES(w.samples, 1, LEN), reward, terminated, truncated, valid));
  const int32_t numbers[LEN] = {2, 3, 0, 0, 0};
  const uint8_t ends[LEN] = {0, 1, 0, 0, 0}, there[LEN] = {1, 1, 0, 0, 0}, zeros[LEN] = {0};
  CHECK(memcmp(w.numbers[0], numbers, sizeof numbers) == 0 && memcmp(terminated, ends, LEN) == 0);
  CHECK(memcmp(valid, there, LEN) == 0 && memcmp(truncated, zeros, LEN) == 0);
  FINE(FRAMES(m, SEQUENCES(w.samples, 1, LEN), NULL, NULL, NULL, NULL));

  /* Stacks repeat the first frame of an episode; frame 4 begins one. */
  w.samples[0] = (rlcore_sample){4, 3, 1, 0, 0};
  FINE(GATHER(m, SEQUENCES(w.samples, 1, LEN), 1, RLCORE_LAYOUT_CHW, RLCORE_U8, w.pictures));
  FINE(GATHER(m, SEQUENCES(w.samples, 1, LEN), 1, RLCORE_LAYOUT_CHW, RLCORE_F32, w.pictures_f32));
  const uint8_t stacks[LEN][4] = {{4, 104, 4, 104}, {4, 104, 5, 105}, {5, 105, 6, 106}};
  CHECK(memcmp(w.pictures[0], stacks, sizeof stacks) == 0);
  for (int i = 0; i < LEN; i++)
    for (int j = 0; j < 4; j++) CHECK(w.pictures_f32[0][i][j] == (float)stacks[i][j] / 255.0f);

  /* Forgotten since the draw. */
  w.samples[0] = oldest;
  make(&w.frame[0], 10);
  FINE(rlcore_memory_add(w.m, w.frame, w.values, NULL, NULL));
  REFUSED(RLCORE_E_RANGE, "still held, from number 3, given 2", GATHER(m, SEQUENCES(w.samples, 1, LEN), 0, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "still held, from number 3, given 2", FRAMES(m, SEQUENCES(w.samples, 1, LEN), reward, terminated, truncated, valid));
}

int main(void) {
  attack_config();
  attack_add();
  attack_looks();
  attack_draws();
  attack_gather();
  return verdict();
}
