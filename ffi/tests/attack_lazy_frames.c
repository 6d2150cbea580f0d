/* Frame memories: wrong calls that need a state, and the results of right calls, compared with stacks made in C. */
#include "rlcore.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, KEPT = 6, H = 2, W = 3, C = 2, K = 3, FRAME = H * W * C, STACK = K * FRAME, BLOCK = 2048, ROWS = 4 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  _Alignas(64) unsigned char other[BLOCK];
  rlcore_lazy_frames_config config;
  rlcore_lazy_frames *l;
  size_t size;
  uint64_t number, begin, end, cost, numbers[N], indices[K];
  uint8_t frame[N][FRAME], final_frame[N][FRAME], first[N];
  rlcore_frame_index index[ROWS];
  float obs_f32[ROWS][STACK], next_f32[ROWS][STACK];
  uint8_t obs[ROWS][STACK], next[ROWS][STACK];
  const uint8_t *lies;
  const rlcore_lazy_frames *reader;
  uint8_t frames[KEPT][FRAME], starts[KEPT];
} w, before;

#include "attack.h"

/* Byte i of frame `number` of environment `env`. */
static uint8_t pixel(uint32_t env, uint64_t number, int i) { return (uint8_t)(env * 90 + number * 13 + (uint64_t)i); }

static void draw(uint8_t *frame, uint32_t env, uint64_t number) {
  for (int i = 0; i < FRAME; i++) frame[i] = pixel(env, number, i);
}

/* A fresh world: every environment has pushed frames 0 to 3; frame 3 starts the second episode. */
static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_lazy_frames_config_init(&w.config, sizeof w.config));
  CHECK(w.config.struct_size == sizeof w.config && w.config.num_envs == 1 && w.config.num_frames == 10000);
  CHECK(w.config.height == 84 && w.config.width == 84 && w.config.channels == 1 && w.config.num_stack == 4);
  w.config.num_envs = N;
  w.config.num_frames = KEPT;
  w.config.height = H;
  w.config.width = W;
  w.config.channels = C;
  w.config.num_stack = K;
  FINE(rlcore_lazy_frames_size(&w.config, &w.size));
  CHECK(w.size <= sizeof w.mem);
  FINE(rlcore_lazy_frames_init(w.mem, sizeof w.mem, &w.config, &w.l));
  CHECK((void *)w.l == (void *)w.mem);
  for (uint32_t env = 0; env < N; env++)
    for (uint64_t number = 0; number < 4; number++) {
      draw(w.frame[0], env, number);
      FINE(rlcore_lazy_frames_push(w.l, env, w.frame[0], number % 3 == 0, &w.number));
      CHECK(w.number == number);
    }
  for (int i = 0; i < ROWS; i++) w.index[i] = (rlcore_frame_index){(uint64_t)(i % 2), (uint32_t)i % N, 0};
}

/* ---- Making a block ---- */

static void attack_config(void) {
  start();
  const rlcore_lazy_frames_config kept = w.config;
  w.config.height = w.config.width = w.config.channels = w.config.num_envs = w.config.num_frames = UINT32_MAX;
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_lazy_frames_size(&w.config, &w.size));
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_lazy_frames_init(w.other, BLOCK, &w.config, &w.l));
  w.config = kept;

  FINE(rlcore_lazy_frames_config_init(&w.config, sizeof w.config));
  FINE(rlcore_lazy_frames_bytes_per_transition(&w.config, &w.cost));
  CHECK(w.cost >= 84 * 84 && w.cost <= 84 * 84 * 101 / 100);
}

/* ---- Pushing ---- */

static void attack_push(void) {
  start();
  rlcore_lazy_frames *l = w.l;
#define PUSH(...) rlcore_lazy_frames_push(__VA_ARGS__)
  FINE(PUSH(l, 0, w.frame[0], 0, NULL));

#define RANGE(...) rlcore_lazy_frames_push_range(__VA_ARGS__)
  const uint8_t *frame = w.frame[0], *last = w.final_frame[0];
  FINE(RANGE(l, 1, 1, frame, w.first, last, w.numbers));
  FINE(RANGE(l, 0, N, frame, w.first, NULL, NULL));

  /* Empty rings: the first push has to begin an episode, and no episode can have ended before. */
  FINE(rlcore_lazy_frames_init(w.mem, sizeof w.mem, &w.config, &w.l));
  REFUSED(RLCORE_E_NOT_READY, "violated by environment 1", PUSH(l, 1, frame, 0, &w.number));
  REFUSED(RLCORE_E_NOT_READY, "violated by environment 2", RANGE(l, 2, 3, frame, w.first, NULL, w.numbers));
  w.first[0] = w.first[1] = w.first[2] = 1;
  REFUSED(RLCORE_E_NOT_READY, "violated by environment 0", RANGE(l, 0, N, frame, w.first, last, w.numbers));
  w.first[1] = 0;
  REFUSED(RLCORE_E_NOT_READY, "violated by environment 1", RANGE(l, 0, N, frame, w.first, NULL, w.numbers));
  w.first[1] = 255;
  FINE(RANGE(l, 0, N, frame, w.first, NULL, w.numbers));
  FINE(RANGE(l, 1, 2, frame, w.first, last, w.numbers));
  CHECK(w.numbers[0] == 0 && w.numbers[1] == 2 && w.numbers[2] == 0);
}

/* ---- Reading ---- */

static void attack_reading(void) {
  start();
  const rlcore_lazy_frames *l = w.l;
  FINE(rlcore_lazy_frames_held(l, 0, &w.begin, &w.end));
  CHECK(w.begin == 0 && w.end == 4);

#define FRAME_AT(...) rlcore_lazy_frames_frame(__VA_ARGS__)
#define INDICES(...) rlcore_lazy_frames_indices(__VA_ARGS__)
#define STACK_OF(...) rlcore_lazy_frames_stack(__VA_ARGS__)
#define GATHER(...) rlcore_lazy_frames_gather(__VA_ARGS__)
  WITH(w.index[3].number, 4, RLCORE_E_RANGE, "of a number below 4, given 4", GATHER(l, w.index, ROWS, 0, RLCORE_F32, w.obs_f32));
  WITH(w.index[3].number, UINT64_MAX, RLCORE_E_RANGE, "below 4", GATHER(l, w.index, ROWS, 1, RLCORE_U8, w.obs));

#define PAIRS(...) rlcore_lazy_frames_gather_transitions(__VA_ARGS__)
  WITH(w.index[3].number, 2, RLCORE_E_RANGE, "of its episode; violated by number 2", PAIRS(l, w.index, ROWS, 0, RLCORE_U8, w.obs, w.next));
  WITH(w.index[3].number, 3, RLCORE_E_RANGE, "of a number below 4, given 4", PAIRS(l, w.index, ROWS, 0, RLCORE_U8, w.obs, w.next));
  WITH(w.index[3].number, UINT64_MAX, RLCORE_E_RANGE, "below 4", PAIRS(l, w.index, ROWS, 0, RLCORE_U8, w.obs, w.next));

  /* Forgotten frames: 9 were pushed, 3 to 8 are held, the second episode began with 3. */
  for (uint64_t number = 4; number < 9; number++) {
    draw(w.frame[0], 0, number);
    FINE(rlcore_lazy_frames_push(w.l, 0, w.frame[0], 0, NULL));
  }
  REFUSED(RLCORE_E_RANGE, "still held, from number 3, given 2", STACK_OF(l, 0, 2, 0, RLCORE_U8, w.obs));
  FINE(STACK_OF(l, 0, 3, 0, RLCORE_U8, w.obs));
  FINE(rlcore_lazy_frames_push(w.l, 0, w.frame[0], 0, NULL));
  REFUSED(RLCORE_E_RANGE, "still held, from number 4, given 3", STACK_OF(l, 0, 4, 0, RLCORE_U8, w.obs));
  REFUSED(RLCORE_E_RANGE, "still held, from number 4, given 3", STACK_OF(l, 0, 5, 0, RLCORE_U8, w.obs));
  FINE(STACK_OF(l, 0, 6, 0, RLCORE_U8, w.obs));
  REFUSED(RLCORE_E_RANGE, "still held, from number 4, given 3", INDICES(l, 0, 5, w.indices));
}

#define NEWEST(...) rlcore_lazy_frames_newest(__VA_ARGS__)

/* ---- Results of right calls ---- */

static void check_answers(void) {
  start();
  for (uint32_t env = 0; env < N; env++)
    for (uint64_t number = 0; number < 4; number++) {
      const uint64_t first = number / 3 * 3;
      FINE(INDICES(w.l, env, number, w.indices));
      for (int k = 0; k < K; k++) {
        const uint64_t wanted = number + (uint64_t)k < first + K - 1 ? first : number + (uint64_t)k - (K - 1);
        CHECK(w.indices[k] == wanted);
      }
      FINE(FRAME_AT(w.l, env, number, &w.lies));
      CHECK(w.lies[5] == pixel(env, number, 5));
      for (uint32_t layout = 0; layout < 2; layout++) {
        FINE(STACK_OF(w.l, env, number, layout, RLCORE_U8, w.obs));
        FINE(STACK_OF(w.l, env, number, layout, RLCORE_F32, w.obs_f32));
        for (int k = 0; k < K; k++)
          for (int p = 0; p < H * W; p++)
            for (int c = 0; c < C; c++) {
              const int at = layout == RLCORE_LAYOUT_HWC ? (p * K + k) * C + c : (k * C + c) * H * W + p;
              const uint8_t wanted = pixel(env, w.indices[k], p * C + c);
              CHECK(w.obs[0][at] == wanted && w.obs_f32[0][at] == (float)wanted / 255.0f);
            }
        FINE(NEWEST(w.obs[0], K, C, layout, w.frame[1], FRAME));
        CHECK(memcmp(w.frame[1], w.lies, FRAME) == 0);
      }
    }
  FINE(PAIRS(w.l, w.index, ROWS, RLCORE_LAYOUT_HWC, RLCORE_U8, w.obs, w.next));
  for (int i = 0; i < ROWS; i++) {
    uint8_t one[STACK];
    FINE(STACK_OF(w.l, w.index[i].env, w.index[i].number, RLCORE_LAYOUT_HWC, RLCORE_U8, one));
    CHECK(memcmp(one, w.obs[i], STACK) == 0);
    FINE(STACK_OF(w.l, w.index[i].env, w.index[i].number + 1, RLCORE_LAYOUT_HWC, RLCORE_U8, one));
    CHECK(memcmp(one, w.next[i], STACK) == 0);
  }
  FINE(GATHER(w.l, w.index, ROWS, RLCORE_LAYOUT_HWC, RLCORE_U8, w.next));
  CHECK(memcmp(w.obs, w.next, sizeof w.obs) == 0);
  FINE(PAIRS(w.l, w.index, ROWS, RLCORE_LAYOUT_CHW, RLCORE_F32, w.obs_f32, w.next_f32));

  /* Ranges leave the same bytes as one call, and a copy continues as the original does. */
  for (int i = 0; i < N; i++) {
    draw(w.frame[i], (uint32_t)i, 5);
    draw(w.final_frame[i], (uint32_t)i, 4);
    w.first[i] = i != 1;
  }
  rlcore_lazy_frames *copy;
  memcpy(w.other, w.mem, BLOCK);
  FINE(rlcore_lazy_frames_attach(w.other, BLOCK, &copy));
  FINE(RANGE(w.l, 0, N, w.frame[0], w.first, w.final_frame[0], w.numbers));
  CHECK(w.numbers[0] == 5 && w.numbers[1] == 4 && w.numbers[2] == 5);
  for (uint32_t i = N; i-- > 0;) FINE(RANGE(copy, i, i + 1, w.frame[0], w.first, w.final_frame[0], w.numbers));
  CHECK(memcmp(w.mem, w.other, BLOCK) == 0);
  FINE(INDICES(w.l, 0, 4, w.indices));
  CHECK(w.indices[0] == 3 && w.indices[1] == 3 && w.indices[2] == 4);
  FINE(INDICES(w.l, 0, 5, w.indices));
  CHECK(w.indices[0] == 5 && w.indices[1] == 5 && w.indices[2] == 5);
}

/* ---- Reading beside a writer ---- */

static void attack_reader(void) {
  start();
  FINE(rlcore_lazy_frames_attach_reader(w.mem, w.size, &w.reader));
  const rlcore_lazy_frames *l = w.reader;
#define READ(...) rlcore_lazy_frames_read(__VA_ARGS__)
  FINE(READ(l, 1, 2, 2, w.frames[0], w.starts));
  for (int i = 0; i < FRAME; i++) CHECK(w.frames[0][i] == pixel(1, 2, i) && w.frames[1][i] == pixel(1, 3, i));
  CHECK(w.starts[0] == 0 && w.starts[1] == 1);
  FINE(READ(l, 1, 9, 0, w.frames[0], w.starts));

  /* The ring of environment 1 is full and a writer is about to push a frame: readers no longer trust the oldest. */
  for (uint64_t number = 4; number < 7; number++) {
    draw(w.frame[0], 1, number);
    FINE(rlcore_lazy_frames_push(w.l, 1, w.frame[0], 0, NULL));
  }
  enum { WRITING = 832 };
  POKE(w.mem + WRITING + 4, 1);
  static uint8_t stacks[2][STACK], starts[2];
  static uint64_t numbers[K];
  const rlcore_frame_index index = {3, 1, 0};
  REFUSED(RLCORE_E_RANGE, "row 1 was overwritten meanwhile; the oldest row is 2", READ(l, 1, 1, 2, stacks[0], starts));
  FINE(READ(l, 1, 2, 2, stacks[0], starts));
  /* Frame 3 starts an episode, so its stack needs no other frame. With three frames to come it is refused too. */
  FINE(rlcore_lazy_frames_gather(l, &index, 1, 0, RLCORE_U8, stacks[0]));
  POKE(w.mem + WRITING + 4, 3);
  const char *words = "row 3 was overwritten meanwhile; the oldest row is 4";
  REFUSED(RLCORE_E_RANGE, words, rlcore_lazy_frames_gather(l, &index, 1, 0, RLCORE_U8, stacks[0]));
  REFUSED(RLCORE_E_RANGE, words, rlcore_lazy_frames_stack(l, 1, 3, 0, RLCORE_U8, stacks[0]));
  REFUSED(RLCORE_E_RANGE, words, rlcore_lazy_frames_indices(l, 1, 5, numbers));
  REFUSED(RLCORE_E_RANGE, words, rlcore_lazy_frames_gather_transitions(l, &index, 1, 0, RLCORE_U8, stacks[0], stacks[1]));
  REFUSED(RLCORE_E_IMAGE, "in the middle of a row of ring 1", rlcore_lazy_frames_attach(w.mem, BLOCK, &w.l));
  memset(w.mem + WRITING, 0, 12);
  FINE(rlcore_lazy_frames_attach(w.mem, BLOCK, &w.l));
}

int main(void) {
  attack_config();
  attack_push();
  attack_reading();
  attack_reader();
  check_answers();
  return verdict();
}
