/* Off-policy learning on a small problem: an actor plays with an old policy while the learner's has changed. V-trace
   corrects for the difference; its limits bound the correction of a single step. */
#include <rlcore.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) ((call) == RLCORE_OK ? (void)0 : failed(#call))

static void failed(const char *call) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  fprintf(stderr, "%s\n  %s\n", call, why);
  exit(1);
}

static void row(const char *name, const float *x, int len) {
  printf("  %-13s", name);
  for (int i = 0; i < len; i++) printf(" %8.4f", (double)x[i] + 0.0);
  printf("\n");
}

/* ---- One episode of four steps ---- */

enum { STEPS = 4 };

static const float log_rho[STEPS] = {0.5f, -0.5f, 1.2f, -2}, reward[STEPS] = {1, 0, -1, 2};
static const float value[STEPS] = {0.5f, -0.2f, 0.1f, 0.4f}, last = 0.3f;

static void textbook(void) {
  static const struct { const char *what; float clip_rho, clip_pg_rho, lambda, leak; int cut; } cases[] = {
      {"ceilings of 1", 1, 1, 1, 0, -1},
      {"no ceilings", INFINITY, INFINITY, 1, 0, -1},
      {"ceilings of 0.5, none for the advantage", 0.5f, INFINITY, 1, 0, -1},
      {"lambda 0.5", 1, 1, 0.5f, 0, -1},
      {"a quarter leaks through", 1, 1, 1, 0.25f, -1},
      {"step 1 cut, final value 0.8", 1, 1, 1, 0, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const float discounts[STEPS] = {0.9f, 0.9f, 0.9f, 0.9f};
    uint8_t truncated[STEPS] = {0};
    float final_value[STEPS] = {0}, vs[STEPS], pg_advantage[STEPS];
    rlcore_vtrace v;
    CHECK(rlcore_vtrace_init(&v, sizeof v));
    v.num_steps = STEPS, v.num_envs = 1;
    v.log_rho = log_rho, v.discounts = discounts, v.reward = reward, v.value = value, v.bootstrap_value = &last;
    v.clip_rho = cases[i].clip_rho, v.clip_pg_rho = cases[i].clip_pg_rho, v.td_lambda = cases[i].lambda, v.leak = cases[i].leak;
    if (cases[i].cut >= 0) {
      truncated[cases[i].cut] = 1, final_value[cases[i].cut] = 0.8f;
      v.truncated = truncated, v.final_value = final_value;
    }
    CHECK(rlcore_vtrace_from_importance_weights(&v, vs, pg_advantage));
    printf("%s\n", cases[i].what);
    row("vs", vs, STEPS);
    row("pg_advantage", pg_advantage, STEPS);
  }
}

/* ---- An actor, a learner, and the lag between them ----
   One state, three levers; each pull is a step, episodes last eight. The learner gets pulls drawn from the policy of up
   to LAG updates ago, and ascends the gradient of the log-probabilities weighted with pg_advantage. */

enum { LEVERS = 3, T = 8, N = 64, LAG = 6, UPDATES = 160 };

static const float pay[LEVERS] = {0.2f, 0.5f, 1.0f};

/* Expected reward of a pull under the learner's policy: at the start, and returned, at the end. */
static float learn(float ceiling, float *start) {
  static float old[LAG + 1][LEVERS];
  static float behavior[T * N * LEVERS], target[T * N * LEVERS], rewards[T * N], values[T * N], ends[T * N], after[N];
  static float vs[T * N], pg_advantage[T * N], target_log_prob[T * N];
  static double draws[T * N];
  static float uniform[T * N];
  static int32_t action[T * N];
  static const uint32_t levers = LEVERS;
  float policy[LEVERS] = {0, 0, 0}, baseline = 0, worth = 0;
  rlcore_rng rng;
  CHECK(rlcore_rng_seed(&rng, 7));
  memset(old, 0, sizeof old);
  for (int t = 0; t < T; t++)
    for (int n = 0; n < N; n++) ends[t * N + n] = t == T - 1 ? 0 : 0.9f; /* the last pull ends the episode */

  for (int update = 0; update <= UPDATES; update++) {
    /* The expected reward of the learner's current policy. */
    float sum = 0;
    worth = 0;
    for (int a = 0; a < LEVERS; a++) sum += expf(policy[a]);
    for (int a = 0; a < LEVERS; a++) worth += expf(policy[a]) / sum * pay[a];
    if (update == 0) *start = worth;
    if (update == UPDATES) break;

    /* The actor plays with the policy of LAG updates ago. */
    memcpy(old[update % (LAG + 1)], policy, sizeof policy);
    const float *acting = old[(update + 1) % (LAG + 1)];
    for (int i = 0; i < T * N; i++) {
      memcpy(behavior + i * LEVERS, acting, sizeof policy);
      memcpy(target + i * LEVERS, policy, sizeof policy);
    }
    CHECK(rlcore_rng_uniform(&rng, 0, 1, draws, T * N));
    for (int i = 0; i < T * N; i++) uniform[i] = (float)draws[i];
    const rlcore_logits batch = {sizeof batch, T * N, 1, 0, &levers, behavior, NULL};
    const rlcore_sampling basic = {RLCORE_SAMPLING_BASIC, 0, 0, 0};
    CHECK(rlcore_categorical_sample(&batch, &basic, uniform, action));
    for (int i = 0; i < T * N; i++) rewards[i] = pay[action[i]], values[i] = baseline;
    for (int n = 0; n < N; n++) after[n] = 0;

    rlcore_vtrace v;
    CHECK(rlcore_vtrace_init(&v, sizeof v));
    v.num_steps = T, v.num_envs = N;
    v.discounts = ends, v.reward = rewards, v.value = values, v.bootstrap_value = after;
    v.clip_rho = v.clip_c = v.clip_pg_rho = ceiling;
    const rlcore_vtrace_logits logits = {sizeof logits, LEVERS, behavior, target, action};
    const rlcore_vtrace_out out = {sizeof out, 0, vs, pg_advantage, NULL, NULL, target_log_prob};
    /* Two halves, as two threads would. */
    CHECK(rlcore_vtrace_from_logits_range(&v, &logits, 0, N / 2, &out));
    CHECK(rlcore_vtrace_from_logits_range(&v, &logits, N / 2, N, &out));

    /* One step up the gradient of log pi(a) * pg_advantage, and the baseline toward the targets. */
    float gradient[LEVERS] = {0}, error = 0;
    for (int i = 0; i < T * N; i++) {
      for (int a = 0; a < LEVERS; a++)
        gradient[a] += ((action[i] == a) - expf(policy[a]) / sum) * pg_advantage[i] / (T * N);
      error += (vs[i] - values[i]) / (T * N);
    }
    for (int a = 0; a < LEVERS; a++) policy[a] += 0.8f * gradient[a];
    baseline += 0.5f * error;
  }
  return worth;
}

static void bar(const char *name, float x) {
  char line[41];
  const int len = (int)(x * 40 + 0.5f);
  memset(line, '#', sizeof line);
  line[len < 40 ? len : 40] = 0;
  printf("  %-28s %.2f |%s\n", name, (double)x, line);
}

int main(void) {
  textbook();
  float start;
  const float clipped = learn(1, &start), loose = learn(8, &start);
  printf("what a pull is worth to the learner, whose data are %d updates old\n", LAG);
  bar("before learning", start);
  bar("after, ceilings of 1", clipped);
  bar("after, ceilings of 8", loose);
  if (clipped < 0.9f) {
    printf("FAILED: the learner did not find the best lever\n");
    return 1;
  }
  printf("ok: learned from what another policy did\n");
}
