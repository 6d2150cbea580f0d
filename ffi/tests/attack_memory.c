/* The replay memory, called wrongly in ways that need a state; what right calls answer; and a process that reads beside the
   one that writes. */
#define _DEFAULT_SOURCE
#include "rlcore.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 8, LONGEST = 3, BLOCK = 4096, B = 4, LEN = 5, PICTURE = 2, STACK = 2 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  _Alignas(64) unsigned char other[BLOCK];
  rlcore_column columns[2];
  rlcore_memory_config config;
  rlcore_memory *m;
  const rlcore_memory *reader;
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

#if SIZE_MAX == UINT64_MAX
_Static_assert(sizeof(rlcore_memory_config) == 40, "");
OFFSET(rlcore_memory_config, history_size, 4); OFFSET(rlcore_memory_config, max_sample_size, 8);
OFFSET(rlcore_memory_config, priority_sample_size, 12); OFFSET(rlcore_memory_config, reward_threshold, 16);
OFFSET(rlcore_memory_config, use_priority, 20); OFFSET(rlcore_memory_config, num_columns, 24);
OFFSET(rlcore_memory_config, reserved, 28); OFFSET(rlcore_memory_config, columns, 32);
_Static_assert(sizeof(rlcore_frame) == 24, "");
OFFSET(rlcore_frame, episode, 0); OFFSET(rlcore_frame, step, 8); OFFSET(rlcore_frame, reward, 12);
OFFSET(rlcore_frame, terminated, 16); OFFSET(rlcore_frame, truncated, 17); OFFSET(rlcore_frame, reserved, 18);
_Static_assert(sizeof(rlcore_draw) == 28, "");
OFFSET(rlcore_draw, size, 4); OFFSET(rlcore_draw, burn_in, 8); OFFSET(rlcore_draw, exact_size, 12);
OFFSET(rlcore_draw, skewness, 16); OFFSET(rlcore_draw, attempts, 20); OFFSET(rlcore_draw, rule, 24);
_Static_assert(sizeof(rlcore_sample) == 24, "");
OFFSET(rlcore_sample, first, 0); OFFSET(rlcore_sample, len, 8); OFFSET(rlcore_sample, burn_in, 12);
OFFSET(rlcore_sample, gap, 16); OFFSET(rlcore_sample, priority, 20);
#endif

/* Frame `number` of the stream: rewards at 5 and 9, the first two episodes end with 3 and 6. */
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
  REFUSED(RLCORE_E_SIZE, "at least 40", rlcore_memory_config_init(&w.config, sizeof w.config - 8));
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_memory_config_init(&w.config, 0));

  const struct { size_t field; uint32_t bad; const char *words; } bad[] = {
      {offsetof(rlcore_memory_config, struct_size), 32, "at least 40, given 32"},
      {offsetof(rlcore_memory_config, struct_size), 0, "struct_size"},
      {offsetof(rlcore_memory_config, struct_size), 44, "struct_size"},
      {offsetof(rlcore_memory_config, struct_size), UINT32_MAX, "struct_size"},
      {offsetof(rlcore_memory_config, history_size), 0, "num_rows"},
      {offsetof(rlcore_memory_config, history_size), 3, "and the other frames of a stack, 4, given 3"},
      {offsetof(rlcore_memory_config, max_sample_size), 0, "max_sample_size of at least 1"},
      {offsetof(rlcore_memory_config, max_sample_size), 8, "history_size of at least max_sample_size"},
      {offsetof(rlcore_memory_config, max_sample_size), UINT32_MAX, "history_size of at least max_sample_size"},
      {offsetof(rlcore_memory_config, priority_sample_size), 4, "up to max_sample_size, 3, given 4"},
      {offsetof(rlcore_memory_config, priority_sample_size), UINT32_MAX, "up to max_sample_size, 3"},
      {offsetof(rlcore_memory_config, reward_threshold), 0x7fc00000, "finite and at least 0, given NaN"},
      {offsetof(rlcore_memory_config, reward_threshold), 0x7f800000, "finite and at least 0, given inf"},
      {offsetof(rlcore_memory_config, reward_threshold), 0xbf800000, "finite and at least 0, given -1"},
      {offsetof(rlcore_memory_config, use_priority), 2, "use_priority of 0 or 1, given 2"},
      {offsetof(rlcore_memory_config, num_columns), 0, "num_columns: from 1 to 16, given 0"},
      {offsetof(rlcore_memory_config, num_columns), 17, "num_columns: from 1 to 16, given 17"},
      {offsetof(rlcore_memory_config, reserved), 1, "reserved"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint32_t *field = off(&w.config, bad[i].field);
    WITH(*field, bad[i].bad, RLCORE_E_CONFIG, bad[i].words, rlcore_memory_size(&w.config, &w.size));
    WITH(*field, bad[i].bad, RLCORE_E_CONFIG, bad[i].words, rlcore_memory_init(w.other, BLOCK, &w.config, &w.m));
  }
  WITH(w.config.columns, NULL, NULLED, "columns", rlcore_memory_size(&w.config, &w.size));
  WITH(w.config.columns, off(w.columns, 2), CROOKED, "columns", rlcore_memory_size(&w.config, &w.size));
  strcpy(w.columns[0].name, "picture");
  REFUSED(RLCORE_E_CONFIG, "names that differ", rlcore_memory_size(&w.config, &w.size));
  start();
  WITH(w.columns[1].kind, 3, RLCORE_E_CONFIG, "kind", rlcore_memory_size(&w.config, &w.size));
  WITH(w.columns[0].len, 0, RLCORE_E_CONFIG, "len", rlcore_memory_size(&w.config, &w.size));
  WITH(w.columns[0].num_stack, 2, RLCORE_E_CONFIG, "num_stack", rlcore_memory_size(&w.config, &w.size));

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_memory_init(w.other, w.size - 1, &w.config, &w.m));

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_memory_attach(w.mem, w.size - 1, &w.m));
  REFUSED(RLCORE_E_IMAGE, "image of an rlcore block", rlcore_memory_attach(w.other, BLOCK, &w.m));
  FINE(rlcore_memory_attach(w.mem, w.size, &w.m));

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_memory_attach_reader(w.mem, w.size - 1, &w.reader));
  REFUSED(RLCORE_E_IMAGE, "image of an rlcore block", rlcore_memory_attach_reader(w.other, BLOCK, &w.reader));
  FINE(rlcore_memory_attach_reader(w.mem, w.size, &w.reader));
  CHECK((const void *)w.reader == (const void *)w.m);
}

/* Every byte in every state of one bit: refused, or accepted and harmless; and what readers accept is harmless too. */
static void attack_images(void) {
  start();
  int refused = 0, accepted = 0;
  memcpy(w.other, w.mem, BLOCK);
  for (size_t at = 0; at < w.size; at++)
    for (int bit = 0; bit < 8; bit++) {
      w.other[at] ^= (unsigned char)(1 << bit);
      rlcore_memory *m;
      const rlcore_memory *reader;
      const rlcore_status status = rlcore_memory_attach(w.other, BLOCK, &m);
      CHECK(status == RLCORE_OK || status == RLCORE_E_IMAGE || status == RLCORE_E_SIZE);
      if (rlcore_memory_attach_reader(w.other, BLOCK, &reader) == RLCORE_OK) {
        CHECK(at >= 40);
        rlcore_memory_sample_priority(reader, &w.rng, NULL, w.samples, B);
        rlcore_memory_gather(reader, w.samples, B, LEN, 1, RLCORE_LAYOUT_HWC, RLCORE_U8, w.pictures);
        w.draw.exact_size = 1;
        rlcore_memory_sample_uniform(reader, &w.rng, &w.draw, w.samples, B);
        rlcore_memory_gather_frames(reader, w.samples, B, LEN, w.reward[0], NULL, w.truncated[0], NULL);
        w.draw.rule = RLCORE_DRAW_ORIGINAL;
        rlcore_memory_sample_priority(reader, &w.rng, &w.draw, w.samples, B);
        rlcore_memory_sample_uniform(reader, &w.rng, &w.draw, w.samples, B);
        w.draw.rule = RLCORE_DRAW_FIXED;
      } else CHECK(status != RLCORE_OK);
      if (status == RLCORE_OK) {
        accepted++;
        FINE(rlcore_memory_sample_priority(m, &w.rng, NULL, w.samples, B));
        FINE(rlcore_memory_gather(m, w.samples, B, LEN, 0, 0, RLCORE_I32, w.numbers));
        rlcore_memory_add(m, &w.frame[0], w.values, NULL, NULL);
        FINE(rlcore_memory_attach(w.other, BLOCK, &m));
      } else refused++;
      memcpy(w.other, w.mem, BLOCK);
    }
  CHECK(refused > 8 * 800 && accepted > 0);
  attacks += refused + accepted;
}

/* ---- Adding ---- */

static void attack_add(void) {
  start();
  rlcore_memory *m = w.m;
  void *none = w.other;
#define ADD(...) rlcore_memory_add(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image of an rlcore block", ADD(none, w.frame, w.values, &w.number, &w.cuts));
  REFUSED(RLCORE_E_OVERLAP, "out_number", ADD(m, w.frame, w.values, (uint64_t *)(void *)w.frame, &w.cuts));
  for (int i = 0; i < 6; i++)
    WITH(w.frame[0].reserved[i], 1, RLCORE_E_RANGE, "frame: reserved: zeros", ADD(m, w.frame, w.values, &w.number, &w.cuts));

#define ROLLOUT(...) rlcore_memory_add_rollout(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", ROLLOUT(none, w.frame, B, w.values, &w.number, &w.cuts));
  REFUSED(RLCORE_E_RANGE, "frames to add, at least 1, given 0", ROLLOUT(m, w.frame, 0, w.values, &w.number, &w.cuts));
  WITH(w.frame[3].reserved[5], 9, RLCORE_E_RANGE, "reserved", ROLLOUT(m, w.frame, B, w.values, &w.number, &w.cuts));
  /* The second frame ends the episode, the third is of the same one. */
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
  FINE(rlcore_memory_gather_frames(m, &all, 1, LEN, NULL, w.terminated[0], w.truncated[0], NULL));
  const uint8_t ends[] = {0, 0, 0, 0, 1}, cut[] = {0, 1, 1, 1, 0};
  CHECK(memcmp(w.terminated[0], ends, 5) == 0 && memcmp(w.truncated[0], cut, 5) == 0);
}

/* ---- Looking and drawing ---- */

static void attack_looks(void) {
  start();
  const rlcore_memory *m = w.m;
  void *none = w.other;
#define HELD(...) rlcore_memory_held(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", HELD(none, &w.begin, &w.end));
  FINE(HELD(m, &w.begin, &w.end));
  CHECK(w.begin == 2 && w.end == 10);

#define POOL_LEN(...) rlcore_memory_pool_len(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", POOL_LEN(none, &w.low, &w.high));
  FINE(POOL_LEN(m, &w.low, &w.high));
  CHECK(w.low == 3 && w.high == 2);

#define POOL(...) rlcore_memory_pool_number(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", POOL(none, 0, 0, &w.number));
  REFUSED(RLCORE_E_RANGE, "priority: 0 or 1, given 2", POOL(m, 2, 0, &w.number));
  REFUSED(RLCORE_E_RANGE, "an entry of the pool below 3, given 3", POOL(m, 0, 3, &w.number));
  REFUSED(RLCORE_E_RANGE, "below 2, given 4294967295", POOL(m, 1, UINT32_MAX, &w.number));
  /* Stacks of two read one frame more: the pools begin with frame 2 + 3. */
  const uint64_t low[] = {6, 7, 8}, high[] = {5, 9};
  for (uint32_t i = 0; i < 3; i++) FINE(POOL(m, 0, i, &w.number)), CHECK(w.number == low[i]);
  for (uint32_t i = 0; i < 2; i++) FINE(POOL(m, 1, i, &w.number)), CHECK(w.number == high[i]);

#define STORE(...) rlcore_memory_store_rng(__VA_ARGS__)
#define LOAD(...) rlcore_memory_load_rng(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", STORE(none, &w.rng));
  WITH(w.rng.has_half, 2, RLCORE_E_IMAGE, "rng", STORE(w.m, &w.rng));
  REFUSED(RLCORE_E_IMAGE, "image", LOAD(none, &w.rng));
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
  void *none = w.other;
  REFUSED(RLCORE_E_IMAGE, "image", DRAW(none, &w.rng, &w.draw, w.samples, B));
  WITH(w.rng.half, 1, RLCORE_E_IMAGE, "rng", DRAW(m, &w.rng, &w.draw, w.samples, B));
  WITH(w.draw.struct_size, 24, RLCORE_E_CONFIG, "at least 28, given 24", DRAW(m, &w.rng, &w.draw, w.samples, B));
  WITH(w.draw.exact_size, 2, RLCORE_E_RANGE, "exact_size: 0 or 1, given 2", DRAW(m, &w.rng, &w.draw, w.samples, B));
  WITH(w.draw.rule, 2, RLCORE_E_RANGE, "0 (fixed) or 1 (original), given 2", DRAW(m, &w.rng, &w.draw, w.samples, B));
  w.draw.burn_in = 1;
  WITH(w.draw.rule, 1, RLCORE_E_RANGE, "burn_in of 0", DRAW(m, &w.rng, &w.draw, w.samples, B));
  w.draw = (rlcore_draw){sizeof w.draw, UINT32_MAX, UINT32_MAX, 0, UINT32_MAX, UINT32_MAX, 0};
  if (DRAW == rlcore_memory_sample_priority) {
    REFUSED(RLCORE_E_RANGE, "size up to max_sample_size, 3, given 4294967295", DRAW(m, &w.rng, &w.draw, w.samples, B));
    w.draw.size = 3;
  }
  FINE(DRAW(m, &w.rng, &w.draw, w.samples, B));
  FINE(DRAW(m, &w.rng, NULL, w.samples, 0));
  FINE(DRAW(m, &w.rng, NULL, w.samples, B));
  for (int i = 0; i < B; i++) CHECK(w.samples[i].len >= 1 && w.samples[i].len <= 3 && w.samples[i].gap == 0);

  /* Inexact: a single attempt fails sooner or later, the samples are written, and len tells which are short. */
  w.draw = (rlcore_draw){sizeof w.draw, 3, 0, 1, 2, 1, 0};
  int inexact = 0;
  for (int k = 0; k < 100; k++) {
    const rlcore_status status = DRAW(m, &w.rng, &w.draw, w.samples, B);
    int short_ones = 0;
    for (int i = 0; i < B; i++) short_ones += w.samples[i].len < 3;
    CHECK(status == (short_ones ? RLCORE_E_INEXACT : RLCORE_OK));
    inexact += status == RLCORE_E_INEXACT;
    FINE(rlcore_memory_gather(m, w.samples, B, LEN, 0, 0, RLCORE_I32, w.numbers));
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
  void *none = w.other, *out = w.numbers;
#define GATHER(...) rlcore_memory_gather(__VA_ARGS__)
  REFUSED(RLCORE_E_IMAGE, "image", GATHER(none, w.samples, B, LEN, 0, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "column below 2, given 2", GATHER(m, w.samples, B, LEN, 2, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "column below 2", GATHER(m, w.samples, B, LEN, UINT32_MAX, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "layout", GATHER(m, w.samples, B, LEN, 0, 2, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "kind", GATHER(m, w.samples, B, LEN, 0, 0, RLCORE_F32, out));
  REFUSED(RLCORE_E_RANGE, "kind", GATHER(m, w.samples, B, LEN, 1, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "kind", GATHER(m, w.samples, B, LEN, 1, 0, 3, out));
  REFUSED(RLCORE_E_RANGE, "at most len frames, 1, given 2", GATHER(m, w.samples, B, 1, 0, 0, RLCORE_I32, out));

#define FRAMES(...) rlcore_memory_gather_frames(__VA_ARGS__)
  float *reward = w.reward[0];
  uint8_t *terminated = w.terminated[0], *truncated = w.truncated[0], *valid = w.valid[0];
  REFUSED(RLCORE_E_IMAGE, "image", FRAMES(none, w.samples, B, LEN, reward, terminated, truncated, valid));
  REFUSED(RLCORE_E_RANGE, "at most len frames, 0, given 2", FRAMES(m, w.samples, B, 0, reward, terminated, truncated, valid));

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
    WITH(w.samples[B - 1], bad[i].sample, RLCORE_E_RANGE, bad[i].words, GATHER(m, w.samples, B, LEN, 0, 0, RLCORE_I32, out));
    WITH(w.samples[B - 1], bad[i].sample, RLCORE_E_RANGE, bad[i].words, FRAMES(m, w.samples, B, LEN, reward, terminated, truncated, valid));
  }
  /* Frame 2 is held, the one that its stack reads is not. */
  const rlcore_sample oldest = {2, 2, 0, 0, 0};
  WITH(w.samples[0], oldest, RLCORE_E_RANGE, "still held, from number 2, given 1", GATHER(m, w.samples, B, LEN, 1, 0, RLCORE_U8, w.pictures));
  w.samples[0] = oldest;
  FINE(GATHER(m, w.samples, 1, LEN, 0, 0, RLCORE_I32, out));
  FINE(FRAMES(m, w.samples, 1, LEN, reward, terminated, truncated, valid));
  const int32_t numbers[LEN] = {2, 3, 0, 0, 0};
  const uint8_t ends[LEN] = {0, 1, 0, 0, 0}, there[LEN] = {1, 1, 0, 0, 0}, zeros[LEN] = {0};
  CHECK(memcmp(w.numbers[0], numbers, sizeof numbers) == 0 && memcmp(terminated, ends, LEN) == 0);
  CHECK(memcmp(valid, there, LEN) == 0 && memcmp(truncated, zeros, LEN) == 0);
  FINE(FRAMES(m, w.samples, 1, LEN, NULL, NULL, NULL, NULL));

  /* Stacks repeat the first frame of an episode; frame 4 begins one. */
  w.samples[0] = (rlcore_sample){4, 3, 1, 0, 0};
  FINE(GATHER(m, w.samples, 1, LEN, 1, RLCORE_LAYOUT_CHW, RLCORE_U8, w.pictures));
  FINE(GATHER(m, w.samples, 1, LEN, 1, RLCORE_LAYOUT_CHW, RLCORE_F32, w.pictures_f32));
  const uint8_t stacks[LEN][4] = {{4, 104, 4, 104}, {4, 104, 5, 105}, {5, 105, 6, 106}};
  CHECK(memcmp(w.pictures[0], stacks, sizeof stacks) == 0);
  for (int i = 0; i < LEN; i++)
    for (int j = 0; j < 4; j++) CHECK(w.pictures_f32[0][i][j] == (float)stacks[i][j] / 255.0f);

  /* Forgotten since the draw. */
  w.samples[0] = oldest;
  make(&w.frame[0], 10);
  FINE(rlcore_memory_add(w.m, w.frame, w.values, NULL, NULL));
  REFUSED(RLCORE_E_RANGE, "still held, from number 3, given 2", GATHER(m, w.samples, 1, LEN, 0, 0, RLCORE_I32, out));
  REFUSED(RLCORE_E_RANGE, "still held, from number 3, given 2", FRAMES(m, w.samples, 1, LEN, reward, terminated, truncated, valid));
}

/* ---- A second process ---- */

enum { SHARED = 1 << 14, WANTED = 3000 };

static struct shared {
  _Alignas(64) unsigned char mem[SHARED];
  _Atomic uint32_t ready, done;
} *shared;

/* Draws and copies what the other process adds; every sequence that is copied is whole and of one episode. */
static int read_beside(void) {
  const rlcore_memory *m;
  if (rlcore_memory_attach_reader(shared->mem, SHARED, &m) != RLCORE_OK) return 1;
  rlcore_rng rng;
  rlcore_rng_seed(&rng, 5);
  uint32_t good = 0;
  while (good < WANTED && !atomic_load(&shared->done)) {
    rlcore_sample sample;
    int32_t x[8];
    uint8_t ended[8], valid[8];
    float reward[8];
    const int uniform = good % 2;
    const rlcore_status drawn = uniform ? rlcore_memory_sample_uniform(m, &rng, NULL, &sample, 1)
                                        : rlcore_memory_sample_priority(m, &rng, NULL, &sample, 1);
    atomic_store(&shared->ready, 1);
    if (drawn == RLCORE_E_NOT_READY || drawn == RLCORE_E_EMPTY || drawn == RLCORE_E_BUSY) continue;
    if (drawn != RLCORE_OK) return 2;
    const rlcore_status copied = rlcore_memory_gather(m, &sample, 1, 8, 0, 0, RLCORE_I32, x);
    const rlcore_status known = rlcore_memory_gather_frames(m, &sample, 1, 8, reward, ended, NULL, valid);
    if (copied == RLCORE_E_RANGE || known == RLCORE_E_RANGE) continue;
    if (copied != RLCORE_OK || known != RLCORE_OK) return 3;
    for (uint32_t i = 0; i < sample.len; i++) {
      const uint64_t number = sample.first + i;
      if (x[i] != (int32_t)number || reward[i] != (float)(number % 3 == 0) || valid[i] != 1) return 4;
      if (ended[i] != (number % 7 == 6) || (ended[i] && i + 1 < sample.len)) return 5;
    }
    if (sample.len < 4 && !uniform && sample.first % 7 != 0) return 6;
    if (!uniform && sample.priority != ((sample.first + sample.len - 1) % 3 == 0)) return 7;
    good++;
  }
  return good < WANTED ? 8 : 0;
}

static void read_while_writing(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  rlcore_memory_config config;
  rlcore_column columns[2];
  configure(&config, columns);
  config.num_columns = 1;
  config.history_size = 256;
  config.max_sample_size = 4;
  rlcore_memory *m;
  FINE(rlcore_memory_init(shared->mem, SHARED, &config, &m));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(read_beside());
  int status = -1;
  uint64_t number = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    for (int i = 0; i < 100; i++, number++) {
      const int32_t x = (int32_t)number;
      const void *values[] = {&x};
      const rlcore_frame frame = {number / 7, (uint32_t)(number % 7), (float)(number % 3 == 0), number % 7 == 6, 0, {0}};
      FINE(rlcore_memory_add(m, &frame, values, NULL, NULL));
    }
    if (number > 400000000) atomic_store(&shared->done, 1);
  }
  CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) != 0) printf("the reader found %d after %llu frames\n", WEXITSTATUS(status), (unsigned long long)number);
  CHECK(WEXITSTATUS(status) == 0);
  FINE(rlcore_memory_attach(shared->mem, SHARED, &m));
  munmap(shared, sizeof *shared);
}

int main(void) {
  attack_config();
  attack_images();
  attack_add();
  attack_looks();
  attack_draws();
  attack_gather();
  read_while_writing();
  return verdict();
}
