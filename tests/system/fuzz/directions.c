/* The use of each argument in a good call: it is read if other contents change the results or outputs of the call, and written if
   the call changes it, whatever its contents. Prints the call's source text in calls.h, which maps arguments to parameters, and
   for each argument `argument read written`, 0 or 1; for objects, which are always read, `argument object written`. */

static int failures;
#define STOP() (void)failures++

#include "calls.h"

extern const struct op *const __start_ops[], *const __stop_ops[];

/* ---- Arguments that only learners with recurrent layers take ---- */

enum { STATE = 2 };

/* A learner with a recurrent layer, before its first step or during an update. */
static rlcore_learner *remembers(int updating) {
  static const rlcore_layer memory = {.kind = RLCORE_LAYER_GRU, .units = STATE};
  static _Alignas(64) unsigned char mem[2 * BLOCK_SIZE];
  const float obs[N * OBS] = {1, 2, 3, 4, 5, 6, 7, 8}, reward[N] = {1, -1};
  const uint8_t no[N] = {0};
  int32_t action[N];
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_learner_config config;
  rlcore_learner *p;
  size_t size;
  FINE(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = 1, config.num_minibatches = 1, config.num_epochs = 1, config.sequence_len = 1;
  config.num_hidden = 1, config.hidden_len[0] = 2, config.hidden_len[1] = 0;
  config.layers = &memory, config.num_layers = 1;
  FINE(rlcore_learner_size(&config, &SEEN, &DONE, &size));
  ALWAYS(size <= sizeof mem);
  FINE(rlcore_learner_init(mem, size, &config, &SEEN, &DONE, &p));
  if (updating) {
    FINE(rlcore_learner_act(p, ACTED(NULL, obs, NULL, action)));
    FINE(rlcore_learner_observe(p, STEPPED(NULL, reward, no, no, NULL, NULL)));
    FINE(rlcore_learner_learn_begin(p, OBSERVED(obs, NULL), &stats));
  }
  return p;
}

static const rlcore_policy *its_policy(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE];
  rlcore_policy *policy;
  FINE(rlcore_policy_export(remembers(0), mem, sizeof mem, &policy));
  return policy;
}

#define REMEMBERED \
  IN(float, obs, N * OBS, 1, 1, 0); \
  IN(float, state, N * STATE, 0.5, 0.125, OUT); \
  IN(uint8_t, reset, N, 0, 1, 0); \
  TO(int32_t, action, N, 0); \
  ROWS_OF(.obs = GIVEN(obs), .action = action)
#define WORKING \
  TO(float, scratch, 256, SCRATCH); \
  STRUCT_OF(rlcore_policy_buffers, buffers, 0, .scratch = scratch, .scratch_len = 256, .state = GIVEN(state), .reset = reset)

static int32_t learner_predict(void) {
  rlcore_learner *p = remembers(0);
  REMEMBERED;
  return CALL(rlcore_learner_predict(p, rows, GIVEN(state), reset, NULL));
}
static int32_t learner_distribution(void) {
  rlcore_learner *p = remembers(0);
  REMEMBERED;
  STRUCT_OF(rlcore_distribution, out, 0, .best = action);
  return CALL(rlcore_learner_distribution(p, N, rows, GIVEN(state), reset, out));
}
static int32_t learner_imitate(void) {
  rlcore_learner *p = remembers(0);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(int32_t, action, N, 0, 1, 0);
  IN(uint8_t, reset, N, 0, 1, 0);
  IN(float, weight, N, 1, 1, 0);
  ROWS_OF(.obs = GIVEN(obs), .action = GIVEN(action));
  const rlcore_imitation kept = {.struct_size = sizeof kept, .reset = reset, .weight = weight};
  STRUCT(rlcore_imitation, how, kept, 0);
  return CALL(rlcore_learner_imitate(p, N, rows, how, NULL));
}
static int32_t policy_act(void) {
  const rlcore_policy *p = its_policy();
  REMEMBERED;
  RNG(rng, OUT);
  WORKING;
  return CALL(rlcore_policy_act(p, N, rows, buffers, NULL, rng));
}
static int32_t policy_act_greedy(void) {
  const rlcore_policy *p = its_policy();
  REMEMBERED;
  WORKING;
  return CALL(rlcore_policy_act_greedy(p, N, rows, buffers));
}
static int32_t learner_learn_batch(void) {
  rlcore_learner *p = remembers(0);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(int32_t, action, N, 0, 1, 0);
  IN(float, log_prob, N, -1, 0.25, 0);
  IN(float, value, N, 1, 1, 0);
  IN(float, advantage, N, 1, 1, 0);
  IN(float, value_target, N, 1, 1, 0);
  IN(float, state, N * STATE, 0.5, 0.125, 0);
  IN(uint8_t, begin, N, 0, 1, 0);
  IN(uint32_t, env, N, 0, 1, 0);
  STRUCT_OF(rlcore_learner_batch, batch, 0, .obs = GIVEN(obs), .action = GIVEN(action), .log_prob = GIVEN(log_prob),
            .value = GIVEN(value), .advantage = GIVEN(advantage), .value_target = GIVEN(value_target), .state = GIVEN(state),
            .begin = GIVEN(begin), .env = GIVEN(env));
  const rlcore_learner_stats none = {.struct_size = sizeof none};
  STRUCT(rlcore_learner_stats, stats, none, OUT);
  return CALL(rlcore_learner_learn_batch(p, batch, stats));
}
static int32_t learner_batch_read(void) {
  const rlcore_learner *p = remembers(1);
  TO(float, obs, N * OBS, 0);
  TO(int32_t, action, N, 0);
  TO(float, log_prob, N, 0);
  TO(float, value, N, 0);
  TO(float, advantage, N, 0);
  TO(float, value_target, N, 0);
  TO(float, state, N * STATE, 0);
  TO(uint8_t, begin, N, 0);
  TO(uint32_t, env, N, 0);
  STRUCT_OF(rlcore_learner_batch, batch, 0, .obs = obs, .action = action, .log_prob = log_prob, .value = value,
            .advantage = advantage, .value_target = value_target, .state = state, .begin = begin, .env = env);
  return CALL(rlcore_learner_batch_read(p, batch));
}
static const struct op RECURRENT[] = {
    {"rlcore_learner_predict", learner_predict},         {"rlcore_policy_act", policy_act},
    {"rlcore_policy_act_greedy", policy_act_greedy},     {"rlcore_learner_learn_batch", learner_learn_batch},
    {"rlcore_learner_batch_read", learner_batch_read},   {"rlcore_learner_distribution", learner_distribution},
    {"rlcore_learner_imitate", learner_imitate},
};

static const unsigned char good[96];

/* The argument whose bytes are replaced before the call, and the new value of the bytes; -1: none. */
static int changed = -1;
static unsigned char content;

/* The arguments at the beginning of the call, and after the call that was made without a change. */
static struct world began, left;

/* The last error at the same times: some calls write it. */
static char told[256], left_told[256];

/* Texts keep their last byte. */
static size_t changed_size(const struct argument *a) {
  return a->element == 1 && a->size > 1 && ((unsigned char *)&first + a->at)[a->size - 1] == 0 ? a->size - 1 : a->size;
}

static void change(void) {
  if (changed >= 0) memset((unsigned char *)&first + arguments[changed].at, content, changed_size(&arguments[changed]));
  copy_arguments(&began, &first, 0);
}

static int32_t run(const struct op *op, int at, unsigned char with) {
  prepare();
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX512));
  if (rlcore_cpu_set_limit(99) == RLCORE_OK) finding("the failure that is told of");
  memset(first.slots, 0, sizeof first.slots);
  input = good, input_size = sizeof good, called = op->name, changed = at, content = with;
  begin(&first, 0);
  const int32_t status = op->run();
  FINE(rlcore_last_error(told, sizeof told));
  return status;
}

static int differs(const struct world *x, const struct world *y, const struct argument *a) {
  return a->size > 0 && memcmp((const char *)x + a->at, (const char *)y + a->at, a->size) != 0;
}

static void look_at(const struct op *op) {
  struct argument those[96];
  written_as = NULL;
  const int32_t status = run(op, -1, 0);
  if (status != RLCORE_OK) wrote(&arguments[0], "a good call fails");
  printf("%s\n", written_as == NULL ? "" : written_as);
  const int num = num_arguments;
  memcpy(those, arguments, sizeof those);
  copy_arguments(&kept, &began, 0);
  copy_arguments(&left, &first, 0);
  memcpy(left_told, told, sizeof told);
  for (int i = 0; i < num; i++) {
    const struct argument *a = &those[i];
    if (a->form == NUMBER || a->size == 0) continue;
    int written = differs(&left, &kept, a), read = 0;
    if (a->form == OBJECT) {
      printf("%s object %d\n", a->name, written);
      continue;
    }
    static const unsigned char contents[] = {0xff, 0, 0x3f, 1};
    for (unsigned k = 0; k < sizeof contents && a->flags != SCRATCH; k++) {
      /* Pointers with other bytes would be invalid. */
      if (a->form == STRUCTURE && a->flags & FIXED && a->element == 8 && contents[k] != 0) continue;
      const int32_t now = run(op, i, contents[k]);
      read |= now != status;
      if (now != RLCORE_OK) continue;
      written |= differs(&first, &began, a);
      read |= strcmp(told, left_told) != 0;
      for (int j = 0; j < num; j++)
        if (j != i && those[j].flags & OUT && !(those[j].flags & SCRATCH)) read |= differs(&first, &left, &those[j]);
      for (size_t at = a->at; at < a->at + a->size; at++) {
        const unsigned char *x = (unsigned char *)&first, *y = (unsigned char *)&left;
        const int untouched = x[at] == ((unsigned char *)&began)[at] && y[at] == ((unsigned char *)&kept)[at];
        if (a->flags & OUT && !(a->flags & SCRATCH) && x[at] != y[at] && !untouched) read = 1;
      }
    }
    printf("%s %d %d\n", a->name, read, written);
  }
}

int main(void) {
  before_call = change;
  for (const struct op *const *op = __start_ops; op < __stop_ops; op++) look_at(*op);
  for (size_t i = 0; i < sizeof RECURRENT / sizeof *RECURRENT; i++) look_at(&RECURRENT[i]);
  return failures != 0;
}
