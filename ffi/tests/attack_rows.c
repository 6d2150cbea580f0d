/* Calls on rows name the row of a number that is not finite: in the table of tests/system/fuzz/calls.h, the last number of each
   float array is made infinite. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

static int failures, attacks;
#define STOP() (void)failures++

#include "../../tests/system/fuzz/calls.h"

extern const struct op *const __start_ops[], *const __stop_ops[];

/* Calls on rows. */
static const char *const CALLS[] = {
    "rlcore_learner_act",       "rlcore_learner_act_range",   "rlcore_learner_demonstrate",
    "rlcore_learner_observe",   "rlcore_learner_predict",     "rlcore_learner_value",
    "rlcore_learner_log_prob",  "rlcore_learner_learn",       "rlcore_learner_learn_begin",
    "rlcore_learner_learn_batch", "rlcore_learner_learn_transitions", "rlcore_policy_act",
    "rlcore_policy_act_greedy", "rlcore_replay_add_all",      "rlcore_rollout_buffer_add",
    "rlcore_trajectory_add",    "rlcore_monitor_step",        "rlcore_vec_normalize_reset",
    "rlcore_vec_normalize_step", "rlcore_learner_distribution", "rlcore_policy_distribution",
    "rlcore_learner_imitate",
};

static unsigned char bytes[96];

static int32_t call_with(const struct op *op, int at, unsigned chosen) {
  prepare();
  memset(bytes, 0, sizeof bytes);
  if (at >= 0) bytes[at] = (unsigned char)chosen;
  input = bytes, input_size = sizeof bytes, cursor = 0;
  return make_call(op);
}

/* Whether a text has "row", "environment" or "transition" with a number. */
static int is_named(const char *why) {
  static const char *const words[] = {" row ", " environment ", " transition "};
  for (int i = 0; i < 3; i++) {
    const char *at = strstr(why, words[i]);
    if (at != NULL && at[strlen(words[i])] >= '0' && at[strlen(words[i])] <= '9') return 1;
  }
  return 0;
}

static void attack(const struct op *op) {
  struct argument good[96];
  if (call_with(op, -1, 0) != RLCORE_OK) finding("a good call fails");
  const int num = num_arguments;
  memcpy(good, arguments, sizeof good);
  int tried = 0;
  for (int i = 0; i < num; i++) {
    char why[256];
    if (good[i].form != ARRAY || good[i].type != 'f' || good[i].size == 0) continue;
    if (call_with(op, i, INFINITE) != RLCORE_E_VALUE) continue; /* not read in this call, or refused otherwise */
    tried++, attacks++;
    FINE(rlcore_last_error(why, sizeof why));
    if (is_named(why)) continue;
    printf("%s: %s: no row: %s\n", op->name, good[i].name, why);
    failures++;
  }
  if (tried > 0) return;
  printf("%s: no array of numbers\n", op->name);
  failures++;
}

int main(void) {
  unsigned found = 0;
  for (const struct op *const *op = __start_ops; op < __stop_ops; op++)
    for (unsigned i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
      if (strcmp((*op)->name, CALLS[i]) == 0) attack(*op), found++;
  if (found != sizeof CALLS / sizeof *CALLS) finding("a call that the table does not have");
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
