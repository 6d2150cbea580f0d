/* Policies as files of C against those that they were made of: `check <folder of cases> exact|near [observations]`. Greedy
   actions, means, states, and log-probabilities of actions by the outputs are the same bits; near: within 1e-3, for compilers
   without a fused multiply-add, whose actions may differ where two are as good. */
#include <rlcore.h>

#include "compiled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE(name, ...) extern const compiled name##_compiled;
#include "cases.txt"
#undef CASE
#define CASE(name, ...) &name##_compiled,
static const compiled *const ALL[] = {
#include "cases.txt"
};

enum { MOST_NUMBERS = 64, MOST_OUTPUTS = 4096, MOST_STATE = 1 << 16, ASKED = 3 };

static rlcore_rng rng;

static void check(rlcore_status status, const char *call) {
  char text[400];
  if (status == RLCORE_OK) return;
  rlcore_last_error(text, sizeof text);
  fprintf(stderr, "%s: %s\n", call, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

static int64_t draw(int64_t low, int64_t high) {
  int64_t x;
  CHECK(rlcore_rng_integers(&rng, low, high, &x, 1));
  return x;
}

static void *load(const char *folder, const char *name, size_t *size) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s.policy", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) perror(path), exit(1);
  *size = (size_t)ftell(file);
  rewind(file);
  void *block = aligned_alloc(64, (*size + 63) / 64 * 64);
  if (fread(block, 1, *size, file) != *size) perror(path), exit(1);
  fclose(file);
  return block;
}

/* Elements of one kind, with the next counts of choices. */
static void fill(void *to, uint32_t kind, uint32_t len, int symbols, const uint32_t **n) {
  if (kind == RLCORE_F32) {
    CHECK(rlcore_rng_normal(&rng, to, len));
    for (uint32_t i = 0; i < len; i++) ((float *)to)[i] *= 1.5F;
  }
  for (uint32_t i = 0; kind == RLCORE_I32 && i < len; i++) ((int32_t *)to)[i] = (int32_t)draw(0, *(*n)++);
  for (uint32_t i = 0; kind == RLCORE_U8 && i < len; i++) ((uint8_t *)to)[i] = (uint8_t)draw(0, symbols ? symbols : 256);
}

static uint32_t bits(float x) {
  uint32_t own;
  memcpy(&own, &x, sizeof own);
  return own;
}

static double worst;
static int exact;

static int same(const char *name, const char *what, const float *ours, const float *theirs, size_t len) {
  for (size_t i = 0; i < len; i++) {
    const double apart = fabs((double)ours[i] - (double)theirs[i]) / fmax(1, fabs((double)theirs[i]));
    if (apart > worst) worst = apart;
    if (exact ? bits(ours[i]) != bits(theirs[i]) : !(apart <= 1e-3)) {
      fprintf(stderr, "%s: %s %zu is %.9g, not %.9g\n", name, what, i, (double)ours[i], (double)theirs[i]);
      return 0;
    }
  }
  return 1;
}

/* The log-probability of an action by outputs: of choices, then of numbers. */
static float log_prob(const float *outputs, const rlcore_space *space, const uint8_t *mask, const int32_t *choice, uint32_t count) {
  float sum = 0;
  const rlcore_logits batch = {.struct_size = sizeof batch, .num_rows = 1, .num_choices = count, .n = space->n, .logits = outputs, .mask = mask};
  CHECK(rlcore_categorical_log_prob(&batch, choice, &sum));
  return sum;
}

static int try_policy(const char *folder, const compiled *c, uint32_t count) {
  size_t size, need, state_len;
  const rlcore_policy *policy;
  rlcore_space obs, action;
  void *block = load(folder, c->name, &size);
  CHECK(rlcore_policy_attach(block, size, NULL, NULL, &policy));
  CHECK(rlcore_policy_spaces(policy, &obs, &action));
  CHECK(rlcore_policy_scratch_len(policy, 1, &need));
  CHECK(rlcore_policy_state_len(policy, &state_len));
  if (c->obs_len != obs.len || c->action_len != action.len || c->state_len != state_len) return 0;
  const size_t unit = obs.kind >= RLCORE_U8 ? 1 : 4, made = action.kind >= RLCORE_U8 ? 1 : 4;
  uint64_t *seen = calloc(obs.len * unit / 8 + 1, 8);
  float *scratch = malloc(need * sizeof *scratch), *state = calloc(state_len + 1, sizeof *state), *own = calloc(state_len + 1, sizeof *own);
  float *kept = calloc(state_len + 1, sizeof *kept);
  float outputs[MOST_OUTPUTS], mean[MOST_NUMBERS];
  uint8_t mask[MOST_OUTPUTS];
  uint32_t picks = 0;
  for (uint32_t all = 0; all < c->num_choices; picks++) all += action.n[picks];
  int fine = 1;
  for (uint32_t step = 0; fine && step < count; step++) {
    const uint8_t begins = step > 0 && draw(0, 24) == 0;
    if (begins) memset(own, 0, state_len * sizeof *own);
    const uint32_t *n = obs.n;
    for (uint32_t i = 0; i < c->num_fields; i++)
      fill((uint8_t *)seen + c->fields[i].offset, c->fields[i].kind, c->fields[i].len, c->symbols, &n);
    if (c->num_fields == 0) fill(seen, obs.kind == RLCORE_STRUCT ? RLCORE_U8 : obs.kind, obs.len, c->symbols, &n);
    const int masked = c->num_choices > 0 && step % 2 == 1;
    for (uint32_t i = 0, first = 0; masked && i < picks; first += action.n[i], i++) {
      for (uint32_t k = 0; k < action.n[i]; k++) mask[first + k] = (uint8_t)draw(0, 2);
      mask[first + draw(0, action.n[i])] = 1;
    }
    uint32_t ours[MOST_NUMBERS] = {0}, theirs[MOST_NUMBERS] = {0};
    const int failed = c->act(own, seen, masked ? mask : NULL, ours, outputs);
    if (failed) return fprintf(stderr, "%s: act returns %d\n", c->name, failed), 0;

    /* A choice that the mask allows of each element, whose probabilities both tell; then numbers. */
    int32_t choice[MOST_NUMBERS];
    for (uint32_t i = 0, first = 0; i < picks; first += action.n[i], i++)
      do choice[i] = (int32_t)draw(0, action.n[i]);
      while (masked && !mask[first + (uint32_t)choice[i]]);
    float told = 0;
    rlcore_rows rows = {.struct_size = sizeof rows, .obs = seen, .action_mask = masked ? mask : NULL, .action = choice};
    const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = need,
                                           .state = state_len ? state : NULL, .reset = &begins};
    rlcore_distribution asked = {.struct_size = sizeof asked, .mean = c->num_means ? mean : NULL, .best = theirs};
    if (action.kind == RLCORE_I32) asked.log_prob = &told;
    if (action.kind != RLCORE_I32) rows.action = NULL;
    CHECK(rlcore_policy_distribution(policy, 1, &rows, &buffers, &asked));
    fine = same(c->name, "state", own, state, state_len);
    fine = fine && same(c->name, "mean", outputs + c->num_choices, mean, c->num_means);
    if (exact && memcmp(ours, theirs, action.len * made) != 0) fine = 0, fprintf(stderr, "%s: the best actions differ\n", c->name);
    if (fine && action.kind == RLCORE_I32) {
      const float by_outputs = log_prob(outputs, &action, masked ? mask : NULL, choice, picks);
      fine = same(c->name, "log-probability", &by_outputs, &told, 1);
    }
    /* Refused: nothing changes. */
    if (fine && step == 0 && unit == 4 && obs.kind == RLCORE_F32) {
      ((uint32_t *)seen)[obs.len - 1] = 0x7f800000;
      memcpy(theirs, ours, sizeof ours), memcpy(kept, own, state_len * sizeof *own);
      const int told_so = c->act(own, seen, NULL, ours, outputs);
      if (told_so != 1 || memcmp(theirs, ours, sizeof ours) || memcmp(own, kept, state_len * sizeof *own))
        fine = 0, fprintf(stderr, "%s: an infinite observation\n", c->name);
    }
    if (fine && step == 1 && masked) {
      memset(mask, 0, sizeof mask);
      memcpy(theirs, ours, sizeof ours), memcpy(kept, own, state_len * sizeof *own);
      const int told_so = c->act(own, seen, mask, ours, outputs);
      if (told_so != 2 || memcmp(theirs, ours, sizeof ours) || memcmp(own, kept, state_len * sizeof *own))
        fine = 0, fprintf(stderr, "%s: a mask that forbids everything\n", c->name);
    }
  }
  free(block), free(seen), free(scratch), free(state), free(own), free(kept);
  return fine;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const uint32_t most = argc > 3 ? (uint32_t)atoi(argv[3]) : 1000;
  size_t failed = 0;
  exact = strcmp(argv[2], "exact") == 0;
  CHECK(rlcore_rng_seed(&rng, 5));
  for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
    /* Large pictures take a large part of a second. */
    const uint32_t count = ALL[i]->obs_len > 10000 ? most / 50 + 2 : most;
    if (!try_policy(argv[1], ALL[i], count)) failed++, fprintf(stderr, "FAILED: %s\n", ALL[i]->name);
  }
  printf("%zu policies as files of C, %u observations: ", sizeof ALL / sizeof *ALL, most);
  if (exact) printf("the same bits\n");
  else printf("within %.1e\n", worst);
  return failed > 0;
}
