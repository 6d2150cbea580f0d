/* Calls V-trace wrongly: every pointer NULL, crooked and overlapping, every number out of its range, ranges that are none,
   structures of other versions. And calls that are right, with results known by heart. */

#include "rlcore.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { T = 4, N = 3, A = 2 };

static struct world {
  rlcore_vtrace v;
  rlcore_vtrace_logits l;
  rlcore_vtrace_out o;
  float log_rho[T * N], discounts[T * N], reward[T * N], value[T * N], last[N], finals[T * N];
  uint8_t cuts[T * N];
  float behavior[T * N * A], target[T * N * A];
  int32_t action[T * N];
  float vs[T * N], pg[T * N], ratio[T * N], of_behavior[T * N], of_target[T * N];
  uint32_t tail[8];
} w, before;

#include "attack.h"

_Static_assert(sizeof(rlcore_vtrace) == 96, "");
OFFSET(rlcore_vtrace, struct_size, 0); OFFSET(rlcore_vtrace, num_steps, 4); OFFSET(rlcore_vtrace, num_envs, 8);
OFFSET(rlcore_vtrace, accumulate, 12); OFFSET(rlcore_vtrace, log_rho, 16); OFFSET(rlcore_vtrace, discounts, 24);
OFFSET(rlcore_vtrace, reward, 32); OFFSET(rlcore_vtrace, value, 40); OFFSET(rlcore_vtrace, bootstrap_value, 48);
OFFSET(rlcore_vtrace, truncated, 56); OFFSET(rlcore_vtrace, final_value, 64); OFFSET(rlcore_vtrace, clip_rho, 72);
OFFSET(rlcore_vtrace, clip_c, 76); OFFSET(rlcore_vtrace, clip_pg_rho, 80); OFFSET(rlcore_vtrace, td_lambda, 84);
OFFSET(rlcore_vtrace, leak, 88); OFFSET(rlcore_vtrace, reserved, 92);
_Static_assert(sizeof(rlcore_vtrace_logits) == 32, "");
OFFSET(rlcore_vtrace_logits, num_actions, 4); OFFSET(rlcore_vtrace_logits, behavior_logits, 8);
OFFSET(rlcore_vtrace_logits, target_logits, 16); OFFSET(rlcore_vtrace_logits, action, 24);
_Static_assert(sizeof(rlcore_vtrace_out) == 48, "");
OFFSET(rlcore_vtrace_out, reserved, 4); OFFSET(rlcore_vtrace_out, vs, 8); OFFSET(rlcore_vtrace_out, pg_advantage, 16);
OFFSET(rlcore_vtrace_out, log_rho, 24); OFFSET(rlcore_vtrace_out, behavior_log_prob, 32);
OFFSET(rlcore_vtrace_out, target_log_prob, 40);

static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_vtrace_init(&w.v, sizeof w.v));
  w.v.num_steps = T, w.v.num_envs = N;
  w.v.log_rho = w.log_rho, w.v.discounts = w.discounts, w.v.reward = w.reward, w.v.value = w.value;
  w.v.bootstrap_value = w.last, w.v.truncated = w.cuts, w.v.final_value = w.finals;
  w.l = (rlcore_vtrace_logits){sizeof w.l, A, w.behavior, w.target, w.action};
  w.o = (rlcore_vtrace_out){sizeof w.o, 0, w.vs, w.pg, w.ratio, w.of_behavior, w.of_target};
  for (int i = 0; i < T * N; i++) {
    w.log_rho[i] = 0.25f * (float)(i % 5) - 0.5f;
    w.discounts[i] = 0.9f;
    w.reward[i] = (float)i;
    w.value[i] = 1;
    w.action[i] = i % A;
    for (int a = 0; a < A; a++) w.behavior[i * A + a] = (float)(i - a), w.target[i * A + a] = (float)(2 * a);
  }
  w.cuts[4] = 1;
}

static void attack_init(void) {
  start();
  CHECK(w.v.struct_size == sizeof w.v && w.v.clip_rho == 1 && w.v.clip_c == 1 && w.v.clip_pg_rho == 1 && w.v.td_lambda == 1);
  CHECK(w.v.leak == 0 && w.v.accumulate == RLCORE_ACCUMULATE_F32 && w.v.reserved == 0);
  rlcore_vtrace *v = &w.v;
  size_t size = sizeof w.v;
#define INIT rlcore_vtrace_init(v, size)
  WITH(size, 0, RLCORE_E_SIZE, "at least 96, given 0", INIT);
  WITH(size, sizeof w.v - 1, RLCORE_E_SIZE, "at least 96, given 95", INIT);
  WITH(size, SIZE_MAX, RLCORE_E_SIZE, "at least 96", INIT);
}

/* The four functions under one name each; the ranges are those of all environments. */
#define WEIGHTS rlcore_vtrace_from_importance_weights(v, vs, pg)
#define WEIGHTS_RANGE rlcore_vtrace_from_importance_weights_range(v, begin, end, vs, pg)
#define LOGITS rlcore_vtrace_from_logits(v, l, o)
#define LOGITS_RANGE rlcore_vtrace_from_logits_range(v, l, begin, end, o)
#define FROM_WEIGHTS(field, bad, status, words) \
  WITH(field, bad, status, words, WEIGHTS); WITH(field, bad, status, words, WEIGHTS_RANGE)
#define FROM_LOGITS(field, bad, status, words) \
  WITH(field, bad, status, words, LOGITS); WITH(field, bad, status, words, LOGITS_RANGE)
#define ALL(field, bad, status, words) FROM_WEIGHTS(field, bad, status, words); FROM_LOGITS(field, bad, status, words)
#define RANGES(bad_begin, bad_end, words) \
  begin = bad_begin, end = bad_end; \
  REFUSED(RLCORE_E_RANGE, words, WEIGHTS_RANGE); \
  REFUSED(RLCORE_E_RANGE, words, LOGITS_RANGE); \
  begin = 0, end = N

static void attack_what_both_share(void) {
  start();
  rlcore_vtrace *v = &w.v;
  const rlcore_vtrace_logits *l = &w.l;
  const rlcore_vtrace_out *o = &w.o;
  float *vs = w.vs, *pg = w.pg;
  uint32_t begin = 0, end = N;
  FINE(WEIGHTS);
  FINE(WEIGHTS_RANGE);
  FINE(LOGITS);
  FINE(LOGITS_RANGE);
  ALL(v->struct_size, 88, RLCORE_E_CONFIG, "at least 96, given 88");
  ALL(v->reserved, 1, RLCORE_E_CONFIG, "vtrace: reserved: zero, given 1");
  ALL(v->accumulate, 2, RLCORE_E_CONFIG, "vtrace: accumulate: one of rlcore_accumulate, given 2");
  ALL(v->accumulate, UINT32_MAX, RLCORE_E_CONFIG, "rlcore_accumulate");
  ALL(v->num_steps, 0, RLCORE_E_SHAPE, "num_steps of at least 1");
  FROM_WEIGHTS(v->num_envs, 0, RLCORE_E_SHAPE, "num_envs of at least 1");
  v->num_envs = UINT32_MAX;
  ALL(v->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "vtrace");
  v->num_envs = N;
  RANGES(2, 1, "begin <= end <= num_envs");
  RANGES(0, N + 1, "begin <= end <= num_envs, 3, given 4");
  RANGES(UINT32_MAX, UINT32_MAX, "begin <= end <= num_envs");
  begin = end = 2; /* nobody */
  memset(w.vs, 0x55, sizeof w.vs), memset(w.pg, 0x55, sizeof w.pg), memset(w.ratio, 0x55, sizeof w.ratio);
  look();
  FINE(WEIGHTS_RANGE);
  FINE(LOGITS_RANGE);
  CHECK(memcmp(&w, &before, sizeof w) == 0);
  begin = 0, end = N;
  ALL(v->final_value, NULL, NULLED, "final_value is NULL, but a step is truncated");
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    ALL(w.finals[4], bad[i], RLCORE_E_VALUE, "a finite final_value where truncated");
  }
  ALL(w.discounts[7], 1.1f, RLCORE_E_RANGE, "discounts from 0 to 1, given 1.1");
  ALL(w.discounts[7], -0.5f, RLCORE_E_RANGE, "discounts from 0 to 1, given -0.5");
  ALL(v->td_lambda, 1.25f, RLCORE_E_RANGE, "lambda from 0 to 1, given 1.25");
  ALL(v->td_lambda, -0.25f, RLCORE_E_RANGE, "lambda from 0 to 1, given -0.25");
  ALL(v->leak, 2.0f, RLCORE_E_RANGE, "leak from 0 to 1, given 2");
  ALL(v->leak, -1.0f, RLCORE_E_RANGE, "leak from 0 to 1, given -1");
  ALL(v->clip_rho, 0.0f, RLCORE_E_RANGE, "clip_rho above 0, given 0");
  ALL(v->clip_c, -1.0f, RLCORE_E_RANGE, "clip_c above 0, given -1");
  ALL(v->clip_pg_rho, 0.0f, RLCORE_E_RANGE, "clip_pg_rho above 0");
  v->clip_rho = v->clip_c = v->clip_pg_rho = INFINITY; /* none */
  w.finals[5] = NAN;                                   /* never read */
  FINE(WEIGHTS);
  FINE(LOGITS);
  w.discounts[4] = 0; /* finished as well as cut: nor is that */
  w.finals[4] = NAN;
  FINE(WEIGHTS);
  v->final_value = NULL;
  FINE(WEIGHTS);
  w.cuts[4] = 0, w.discounts[4] = 0.5f;
  FINE(WEIGHTS);
  v->truncated = NULL;
  FINE(LOGITS);
}

static void attack_weights(void) {
  start();
  rlcore_vtrace *v = &w.v;
  float *vs = w.vs, *pg = w.pg;
  uint32_t begin = 0, end = N;
  FROM_WEIGHTS(vs, w.log_rho, RLCORE_E_OVERLAP, "vtrace: vs");
  FROM_WEIGHTS(pg, w.log_rho + 1, RLCORE_E_OVERLAP, "vtrace: pg_advantage");
  /* Other columns of a range are not looked at. */
  w.log_rho[N] = w.reward[0] = NAN;
  begin = 1;
  FINE(WEIGHTS_RANGE);
  begin = 0;
  w.log_rho[N] = w.reward[0] = 0;

  /* In place, in two ranges, with one output or none. */
  float targets[T * N], advantages[T * N];
  FINE(WEIGHTS);
  memcpy(targets, w.vs, sizeof targets), memcpy(advantages, w.pg, sizeof advantages);
  memset(w.vs, 0, sizeof w.vs);
  pg = NULL;
  FINE(WEIGHTS);
  CHECK(memcmp(targets, w.vs, sizeof targets) == 0);
  vs = NULL;
  FINE(WEIGHTS);
  vs = w.vs, pg = w.log_rho;
  memset(w.vs, 0, sizeof w.vs);
  end = 2;
  FINE(WEIGHTS_RANGE);
  begin = 2, end = N;
  FINE(WEIGHTS_RANGE);
  CHECK(memcmp(targets, w.vs, sizeof targets) == 0 && memcmp(advantages, w.log_rho, sizeof advantages) == 0);

  /* On policy, with nothing discounted: reward and bootstrap summed up. */
  start();
  v->num_envs = 1, v->truncated = NULL, v->final_value = NULL, vs = w.vs, pg = w.pg;
  for (int t = 0; t < T; t++) w.log_rho[t] = 0, w.discounts[t] = 1, w.reward[t] = (float)(1 << t);
  w.last[0] = 16;
  for (v->accumulate = 0; v->accumulate < 2; v->accumulate++) {
    FINE(WEIGHTS);
    CHECK(vs[0] == 31 && vs[1] == 30 && vs[2] == 28 && vs[3] == 24 && pg[0] == 30 && pg[3] == 23);
  }
}

static void attack_logits(void) {
  start();
  rlcore_vtrace *v = &w.v;
  const rlcore_vtrace_logits *l = &w.l;
  const rlcore_vtrace_out *o = &w.o;
  uint32_t begin = 0, end = N;
  v->log_rho = NULL; /* not looked at */
  FINE(LOGITS);
  FROM_LOGITS(w.l.struct_size, 24, RLCORE_E_CONFIG, "at least 32, given 24");
  FROM_LOGITS(w.l.num_actions, 0, RLCORE_E_SHAPE, "num_actions from 1");
  FROM_LOGITS(w.action[T * N - 1], A, RLCORE_E_RANGE, "an action from 0 to below 2, given 2");
  FROM_LOGITS(w.action[0], -1, RLCORE_E_RANGE, "given -1");
  FROM_LOGITS(w.action[1], INT32_MIN, RLCORE_E_RANGE, "given -2147483648");
  FROM_LOGITS(w.o.struct_size, 40, RLCORE_E_CONFIG, "at least 48, given 40");
  FROM_LOGITS(w.o.struct_size, 56, RLCORE_E_CONFIG, "zeros from byte 48, given 56");
  FROM_LOGITS(w.o.reserved, 1, RLCORE_E_CONFIG, "vtrace out: reserved: zero, given 1");

  /* Two choices, one of them better by 2: log-probabilities -ln(1 + e^2) and -ln(1 + e^-2). */
  FINE(LOGITS);
  for (int i = 0; i < T * N; i++) {
    CHECK(fabsf(w.of_target[i] - (i % A ? -0.1269280f : -2.1269280f)) < 1e-6f);
    CHECK(fabsf(w.of_behavior[i] - (i % A ? -1.3132617f : -0.3132617f)) < 1e-6f);
    CHECK(w.ratio[i] == w.of_target[i] - w.of_behavior[i]);
  }
  /* The same from its own log-ratios, and when nobody asks for anything. */
  float targets[T * N], advantages[T * N];
  memcpy(targets, w.vs, sizeof targets), memcpy(advantages, w.pg, sizeof advantages);
  v->log_rho = w.ratio;
  float *vs = w.vs, *pg = w.pg;
  FINE(WEIGHTS);
  CHECK(memcmp(targets, w.vs, sizeof targets) == 0 && memcmp(advantages, w.pg, sizeof advantages) == 0);
  w.o.log_rho = w.o.behavior_log_prob = w.o.target_log_prob = NULL;
  memset(w.pg, 0, sizeof w.pg);
  FINE(LOGITS);
  CHECK(memcmp(advantages, w.pg, sizeof advantages) == 0);
  w.o.vs = w.o.pg_advantage = NULL;
  look();
  FINE(LOGITS);
  CHECK(memcmp(&w, &before, sizeof w) == 0);
}

int main(void) {
  attack_init();
  attack_what_both_share();
  attack_weights();
  attack_logits();
  return verdict();
}
