/* Calls every function of the targets over several steps wrongly, in ways that need a state. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { T = 3, N = 5, LEN = T * N };

static struct world {
  float reward[LEN], value[LEN], last[N], finals[LEN], q[LEN], log_rho[LEN];
  uint8_t terminated[LEN], truncated[LEN];
  float a[LEN], b[LEN];
  rlcore_rollout rollout;
} w, before;

#include "attack.h"

static const float bad[] = {NAN, INFINITY, -INFINITY};

/* A rollout in which environment 1 is cut in step 1 and environment 2 ends in step 0. */
static void start(void) {
  memset(&w, 0, sizeof w);
  for (int i = 0; i < LEN; i++) {
    w.reward[i] = (float)i;
    w.value[i] = 0.5f;
    w.finals[i] = 2;
    w.q[i] = 0.25f;
    w.log_rho[i] = -0.125f * (float)i;
    w.a[i] = w.b[i] = -77;
  }
  w.truncated[N + 1] = 1;
  w.terminated[2] = 9;
  w.rollout = (rlcore_rollout){sizeof w.rollout, T, N, 0, w.reward, w.value, w.last, w.terminated, w.truncated, w.finals};
}

/* What all of them refuse alike. */
#define ROLLOUT(call) \
  do { \
    WITH(r->struct_size, 56, RLCORE_E_CONFIG, "at least 64, given 56", call); \
    WITH(r->accumulate, 2, RLCORE_E_CONFIG, "one of rlcore_accumulate, given 2", call); \
    WITH(r->accumulate, UINT32_MAX, RLCORE_E_CONFIG, "one of rlcore_accumulate", call); \
    WITH(r->num_steps, 0, RLCORE_E_SHAPE, "num_steps of at least 1", call); \
    WITH(r->num_envs, 0, RLCORE_E_SHAPE, "num_envs of at least 1", call); \
    r->num_envs = UINT32_MAX; \
    WITH(r->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "rollout", call); \
    r->num_envs = N; \
    WITH(r->final_value, NULL, NULLED, "final_value is NULL, but a step is truncated", call); \
    for (int i = 0; i < 3; i++) { \
      WITH(w.reward[LEN - 1], bad[i], RLCORE_E_VALUE, "rollout: a finite reward", call); \
      WITH(w.value[0], bad[i], RLCORE_E_VALUE, "rollout: a finite value", call); \
      WITH(w.last[N - 1], bad[i], RLCORE_E_VALUE, "rollout: a finite bootstrap_value", call); \
      WITH(w.finals[N + 1], bad[i], RLCORE_E_VALUE, "rollout: a finite final_value", call); \
      WITH(discount, bad[i], RLCORE_E_VALUE, "discount from 0 to 1", call); \
    } \
    WITH(discount, 1.5f, RLCORE_E_RANGE, "discount from 0 to 1, given 1.5", call); \
    WITH(discount, -0.25f, RLCORE_E_RANGE, "discount from 0 to 1, given -0.25", call); \
  } while (0)
#define LAMBDA(call) \
  do { \
    for (int i = 0; i < 3; i++) WITH(lambda, bad[i], RLCORE_E_VALUE, "lambda from 0 to 1", call); \
    WITH(lambda, 1.5f, RLCORE_E_RANGE, "lambda from 0 to 1, given 1.5", call); \
    WITH(lambda, -0.25f, RLCORE_E_RANGE, "lambda from 0 to 1, given -0.25", call); \
  } while (0)
#define RANGE(call) \
  do { \
    WITH(end, N + 1, RLCORE_E_RANGE, "begin <= end <= num_envs", call); \
    WITH(end, UINT32_MAX, RLCORE_E_RANGE, "begin <= end <= num_envs", call); \
    end = 3; \
    WITH(begin, 4, RLCORE_E_RANGE, "begin <= end <= num_envs", call); \
    WITH(begin, UINT32_MAX, RLCORE_E_RANGE, "begin <= end <= num_envs", call); \
  } while (0)
/* The whole, then the same from ranges: equal bytes, and columns beside a range stay. `both` says whether there are two
   outputs. */
#define SPLIT(whole, part, both) \
  do { \
    float keep[2][LEN]; \
    start(); \
    FINE(whole); \
    CHECK(w.a[0] != -77 && (w.b[0] != -77) == (both)); \
    memcpy(keep[0], w.a, sizeof w.a); \
    memcpy(keep[1], w.b, sizeof w.b); \
    start(); \
    begin = 1, end = 3; \
    FINE(part); \
    for (int i = 0; i < LEN; i++) { \
      int in = i % N >= 1 && i % N < 3; \
      CHECK(in ? w.a[i] == keep[0][i] && w.b[i] == keep[1][i] : w.a[i] == -77 && w.b[i] == -77); \
    } \
    begin = 0, end = 1; \
    FINE(part); \
    begin = 3, end = 3; \
    FINE(part); \
    end = N; \
    FINE(part); \
    CHECK(memcmp(w.a, keep[0], sizeof w.a) == 0 && memcmp(w.b, keep[1], sizeof w.b) == 0); \
    w.finals[0] = NAN; /* never read */ \
    FINE(whole); \
    w.rollout.accumulate = RLCORE_ACCUMULATE_F64; \
    FINE(whole); \
    start(); \
  } while (0)

static rlcore_rollout *r = &w.rollout;
static float discount = 0.75f, lambda = 0.5f, *a = w.a, *b = w.b;
static const float *q = w.q, *log_rho = w.log_rho;
static uint32_t begin, end, n = 2;

static void attack_lambda(void) {
#define RETURNS rlcore_lambda_returns(r, discount, lambda, a)
#define RETURNS_RANGE rlcore_lambda_returns_range(r, discount, lambda, begin, end, a)
  SPLIT(RETURNS, RETURNS_RANGE, 0);
  ROLLOUT(RETURNS);
  LAMBDA(RETURNS);
  begin = 0, end = N;
  ROLLOUT(RETURNS_RANGE);
  LAMBDA(RETURNS_RANGE);
  RANGE(RETURNS_RANGE);

#define TD rlcore_td_lambda(r, discount, lambda, a, b)
#define TD_RANGE rlcore_td_lambda_range(r, discount, lambda, begin, end, a, b)
  SPLIT(TD, TD_RANGE, 1);
  ROLLOUT(TD);
  LAMBDA(TD);
  begin = 0, end = N;
  ROLLOUT(TD_RANGE);
  LAMBDA(TD_RANGE);
  RANGE(TD_RANGE);
}

static void attack_n_step(void) {
#define STEPS rlcore_n_step_returns(r, discount, n, a)
#define STEPS_RANGE rlcore_n_step_returns_range(r, discount, n, begin, end, a)
  SPLIT(STEPS, STEPS_RANGE, 0);
  ROLLOUT(STEPS);
  WITH(n, 0, RLCORE_E_RANGE, "n of at least 1, given 0", STEPS);
  begin = 0, end = N;
  ROLLOUT(STEPS_RANGE);
  WITH(n, 0, RLCORE_E_RANGE, "n of at least 1, given 0", STEPS_RANGE);
  RANGE(STEPS_RANGE);

  /* One step ahead is lambda 0; as far as possible is T, whatever n. */
  float keep[LEN];
  start();
  FINE(rlcore_lambda_returns(r, discount, 0, keep));
  FINE(rlcore_n_step_returns(r, discount, 1, a));
  CHECK(memcmp(keep, w.a, sizeof keep) == 0);
  FINE(rlcore_n_step_returns(r, discount, T, keep));
  FINE(rlcore_n_step_returns(r, discount, UINT32_MAX, a));
  CHECK(memcmp(keep, w.a, sizeof keep) == 0);
}

static void attack_upgo(void) {
#define UPGO rlcore_upgo(r, discount, a, b)
#define UPGO_RANGE rlcore_upgo_range(r, discount, begin, end, a, b)
  SPLIT(UPGO, UPGO_RANGE, 1);
  ROLLOUT(UPGO);
  begin = 0, end = N;
  ROLLOUT(UPGO_RANGE);
  RANGE(UPGO_RANGE);
}

#define ACTIONS(call) \
  do { \
    for (int i = 0; i < 3; i++) { \
      WITH(w.q[0], bad[i], RLCORE_E_VALUE, "retrace: a finite q", call); \
      WITH(w.log_rho[N], bad[i], RLCORE_E_VALUE, "retrace: a finite log_rho", call); \
    } \
  } while (0)

static void attack_retrace(void) {
#define RETRACE rlcore_retrace(r, q, log_rho, discount, lambda, a, b)
#define RETRACE_RANGE rlcore_retrace_range(r, q, log_rho, discount, lambda, begin, end, a, b)
  SPLIT(RETRACE, RETRACE_RANGE, 1);
  ROLLOUT(RETRACE);
  LAMBDA(RETRACE);
  ACTIONS(RETRACE);
  begin = 0, end = N;
  ROLLOUT(RETRACE_RANGE);
  LAMBDA(RETRACE_RANGE);
  ACTIONS(RETRACE_RANGE);
  RANGE(RETRACE_RANGE);
  w.log_rho[N - 1] = NAN; /* never read */
  FINE(RETRACE);
}

int main(void) {
  attack_lambda();
  attack_n_step();
  attack_upgo();
  attack_retrace();
  return verdict();
}
