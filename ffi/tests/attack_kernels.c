/* Calls the kernels on [T, N] arrays wrongly that attack.c does not know: the shifted form of GAE, and transposes. And
   rightly, ranges of GAE on two threads at once. */

#include "rlcore.h"
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T 4
#define N 3

static struct world {
  rlcore_shifted_rollout rollout;
  float reward[T * N], value[T * N], done[T * N], next_value[N], next_done[N], advantage[T * N], target[T * N];
  float x[24], y[24];
  int32_t i[24], j[24];
  uint8_t u[24], v[24];
} w, before;

#include "attack.h"

OFFSET(rlcore_shifted_rollout, num_steps, 4); OFFSET(rlcore_shifted_rollout, num_envs, 8);
OFFSET(rlcore_shifted_rollout, accumulate, 12); OFFSET(rlcore_shifted_rollout, reward, 16);

static void attack_shifted(void) {
  /* G2 of the specification in every column: the third observation starts an episode. */
  const float reward[T] = {1, 0, -1, 2}, value[T] = {0.5f, -0.2f, 0.1f, 0.4f}, wanted[T] = {0.4901f, 0.2f, 1.0801285f, 1.897f};
  for (int k = 0; k < T * N; k++) w.reward[k] = reward[k / N], w.value[k] = value[k / N], w.done[k] = k / N == 2;
  for (int k = 0; k < N; k++) w.next_value[k] = 0.3f;
  rlcore_shifted_rollout *r = &w.rollout;
  *r = (rlcore_shifted_rollout){sizeof *r, T, N, 0, w.reward, w.value, w.done, w.next_value, w.next_done};
  float discount = 0.99f, lambda = 0.95f, *advantage = w.advantage, *target = w.target;
#define SHIFTED rlcore_gae_shifted(r, discount, lambda, advantage, target)
  w.done[0] = NAN; /* never read */
  for (uint32_t sums = 0; sums < 2; sums++) {
    r->accumulate = sums;
    memset(w.advantage, 0, sizeof w.advantage);
    FINE(SHIFTED);
    for (int k = 0; k < T * N; k++) CHECK(fabsf(w.advantage[k] - wanted[k / N]) < 2e-6f && fabsf(w.target[k] - wanted[k / N] - value[k / N]) < 2e-6f);
  }
  r->accumulate = 0;
  WITH(r->accumulate, 2, RLCORE_E_CONFIG, "one of rlcore_accumulate, given 2", SHIFTED);
  WITH(r->accumulate, UINT32_MAX, RLCORE_E_CONFIG, "one of rlcore_accumulate", SHIFTED);
  WITH(r->num_steps, 0, RLCORE_E_SHAPE, "num_steps of at least 1", SHIFTED);
  WITH(r->num_envs, 0, RLCORE_E_SHAPE, "num_envs of at least 1", SHIFTED);
  r->num_envs = UINT32_MAX;
  WITH(r->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "shifted rollout", SHIFTED);
  r->num_envs = N;
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++) {
    COMPUTED(w.reward[T * N - 1], bad[k], "a finite reward", SHIFTED);
    COMPUTED(w.value[0], bad[k], "a finite value", SHIFTED);
    COMPUTED(w.done[N], bad[k], "a finite done", SHIFTED);
    COMPUTED(w.next_value[N - 1], bad[k], "a finite next_value", SHIFTED);
    COMPUTED(w.next_done[0], bad[k], "a finite next_done", SHIFTED);
    WITH(discount, bad[k], RLCORE_E_VALUE, "discount from 0 to 1", SHIFTED);
    WITH(lambda, bad[k], RLCORE_E_VALUE, "lambda from 0 to 1", SHIFTED);
  }
  WITH(discount, 1.5f, RLCORE_E_RANGE, "discount from 0 to 1, given 1.5", SHIFTED);
  WITH(lambda, -1.0f, RLCORE_E_RANGE, "lambda from 0 to 1, given -1", SHIFTED);
}

static void attack_transpose(void) {
  for (int k = 0; k < 24; k++) w.x[k] = (float)k, w.i[k] = -k, w.u[k] = (uint8_t)k;
  uint32_t kind = RLCORE_F32, rows = 4, columns = 3, len = 2;
  void *x = w.x, *out = w.y;
#define TURN rlcore_transpose(kind, rows, columns, len, x, out)
  FINE(TURN);
  for (int k = 0; k < 24; k++) CHECK(w.y[k] == (float)((k / 2 % 4 * 3 + k / 8) * 2 + k % 2));
  FINE(rlcore_transpose(RLCORE_I32, 24, 1, 1, w.i, w.j));
  CHECK(memcmp(w.i, w.j, sizeof w.i) == 0);
  FINE(rlcore_transpose(RLCORE_U8, 2, 12, 1, w.u, w.v));
  for (int k = 0; k < 24; k++) CHECK(w.v[k] == k % 2 * 12 + k / 2);
  WITH(kind, 3, RLCORE_E_CONFIG, "transpose: kind of 0 (f32), 1 (i32) or 2 (u8), given 3", TURN);
  WITH(kind, UINT32_MAX, RLCORE_E_CONFIG, "transpose: kind of", TURN);
  WITH(rows, 0, RLCORE_E_SHAPE, "rows, columns and len of at least 1", TURN);
  WITH(columns, 0, RLCORE_E_SHAPE, "rows, columns and len of at least 1", TURN);
  WITH(len, 0, RLCORE_E_SHAPE, "rows, columns and len of at least 1", TURN);
  rows = columns = UINT32_MAX;
  WITH(len, UINT32_MAX, RLCORE_E_OVERFLOW, "transpose", TURN);
  rows = 4, columns = 3;
  kind = RLCORE_U8, x = w.u + 1, out = w.v, rows = 23, columns = len = 1; /* bytes lie anywhere */
  FINE(TURN);
}

/* ---- Two threads, disjoint columns ---- */

#define STEPS 40
#define MANY 150

static struct big {
  float reward[STEPS * MANY], value[STEPS * MANY], last[MANY], finals[STEPS * MANY];
  uint8_t ends[STEPS * MANY], cuts[STEPS * MANY];
  float whole[2][STEPS * MANY], parts[2][STEPS * MANY];
} b;

static rlcore_rollout rollout = {sizeof rollout, STEPS, MANY, 0, b.reward, b.value, b.last, b.ends, b.cuts, b.finals};

static void *halves(void *first) {
  static const uint32_t bounds[] = {0, 67, MANY}; /* in the middle of a cache line */
  size_t half = first == NULL;
  for (int i = 0; i < 200; i++) {
    if (rlcore_gae_range(&rollout, 0.99f, 0.95f, bounds[half], bounds[half + 1], b.parts[0], b.parts[1]) != RLCORE_OK) return &b;
  }
  return NULL;
}

static void ranges_on_threads(void) {
  for (int i = 0; i < STEPS * MANY; i++) {
    b.reward[i] = (float)(i * 37 % 101) / 50 - 1, b.value[i] = (float)(i * 53 % 97) / 48 - 1, b.finals[i] = (float)(i % 7);
    b.ends[i] = i % 31 == 0, b.cuts[i] = i % 43 == 0;
  }
  FINE(rlcore_gae(&rollout, 0.99f, 0.95f, b.whole[0], b.whole[1]));
  pthread_t thread;
  void *failed = &b;
  CHECK(pthread_create(&thread, NULL, halves, &b) == 0);
  CHECK(halves(NULL) == NULL);
  CHECK(pthread_join(thread, &failed) == 0 && failed == NULL);
  CHECK(memcmp(b.whole, b.parts, sizeof b.whole) == 0);
}

int main(void) {
  ranges_on_threads();
  attack_shifted();
  attack_transpose();
  return verdict();
}
