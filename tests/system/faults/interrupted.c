/* Learners, policies and normalizers whose process dies within a call. Linux on x86-64.

   interrupted              steps calls by single instructions, with ptrace. After each instruction that changed a byte, attach
                            refuses the block, or the block is as before the call or as after it.
   interrupted all          does so with every call of every algorithm.
   interrupted kills [N]    kills processes of learners of ten algorithms, in shared memory, at N random instants, 100 by default.
                            Blocks that attach accepts equal a state between two calls of an uninterrupted run. */
#define _GNU_SOURCE
#include "../rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures;
static void fail(int line, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  if (failures++ < 10) printf("line %d: %s\n  last error: %s\n", line, what, why);
}
#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call))
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

#include "stepping.h"

enum { N = 2, OBS = 3, ALGORITHMS = 10, MOST = 1 << 12 };

/* ---- Learners, and the k-th call of each ---- */

static struct {
  uint32_t algorithm, n;
  rlcore_learner_config config;
  rlcore_space obs, action;
  size_t size, params_len, grads_len, scratch_size;
} made;

static uint32_t mixed(uint64_t k) {
  k = (k ^ k >> 31) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(k >> 32);
}

static const uint32_t choices[1] = {3};

static void configure(uint32_t algorithm) {
  static const float low = -1, high = 1;
  rlcore_learner_config *c = &made.config;
  made.algorithm = algorithm;
  const int streams = algorithm >= RLCORE_ALGORITHM_STREAM_AC;
  const int numbers = algorithm == RLCORE_ALGORITHM_TD3 || algorithm == RLCORE_ALGORITHM_SAC || algorithm == RLCORE_ALGORITHM_STREAM_AC;
  FINE(rlcore_learner_config_init(c, sizeof *c, algorithm));
  made.n = c->num_envs = streams ? 1 : N;
  c->num_hidden = 1, c->hidden_len[0] = 2, c->hidden_len[1] = 0;
  if (algorithm < RLCORE_ALGORITHM_DQN || algorithm == RLCORE_ALGORITHM_PQN) c->num_steps = 2, c->num_minibatches = c->num_epochs = 1;
  if (algorithm == RLCORE_ALGORITHM_PPO) c->num_minibatches = c->num_chunks = 2, c->overlap = 1;
  if (algorithm > RLCORE_ALGORITHM_PPO && algorithm < RLCORE_ALGORITHM_DQN) c->normalize_obs = c->normalize_reward = 1;
  if (algorithm == RLCORE_ALGORITHM_UNREAL) c->pixel_control_coef = 0, c->history_len = 8;
  if (algorithm >= RLCORE_ALGORITHM_DQN && algorithm <= RLCORE_ALGORITHM_SAC)
    c->batch_size = c->learning_starts = 2, c->buffer_size = 8, c->exploration_steps = 4;
  if (algorithm == RLCORE_ALGORITHM_DQN) c->priority_exponent = 0.6f, c->noisy = 1;
  made.obs = (rlcore_space){.kind = RLCORE_F32, .len = OBS};
  made.action = numbers ? (rlcore_space){.kind = RLCORE_F32, .len = 1, .low = &low, .high = &high}
                        : (rlcore_space){.kind = RLCORE_I32, .len = 1, .n = choices};
  FINE(rlcore_learner_size(c, &made.obs, &made.action, &made.size));
}

static rlcore_learner *create(void *mem) {
  rlcore_learner *p = NULL;
  FINE(rlcore_learner_init(mem, made.size, &made.config, &made.obs, &made.action, &p));
  FINE(rlcore_learner_params_len(p, &made.params_len));
  if (rlcore_learner_grads_len(p, &made.grads_len) != RLCORE_OK) made.grads_len = 0;
  if (rlcore_learner_scratch_size(p, &made.scratch_size) != RLCORE_OK) made.scratch_size = 0;
  return p;
}

/* Arrays of call k. */
static struct {
  float obs[N * OBS], reward[N], value[2 * N];
  union {
    float numbers[N];
    int32_t choices[N];
  } action;
  uint8_t terminated[N], truncated[N], gone[N];
} arrays;

static void fill(uint64_t k) {
  for (uint32_t i = 0; i < N * OBS; i++) arrays.obs[i] = (float)(mixed(64 * k + i) % 2001) / 1000 - 1;
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t drawn = mixed(64 * k + 32 + i);
    arrays.reward[i] = (float)(drawn % 7) - 3;
    arrays.terminated[i] = drawn >> 8 & 3 ? 0 : 1, arrays.truncated[i] = drawn >> 12 & 3 ? 0 : 1, arrays.gone[i] = i == 1;
    if (made.action.kind == RLCORE_I32) arrays.action.choices[i] = (int32_t)(drawn >> 16 & 1);
    else arrays.action.numbers[i] = 0.5f;
  }
}

/* Makes the call that is due. */
static void due_call(rlcore_learner *p, uint64_t k, uint32_t max_slices) {
  uint32_t due;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  fill(k);
  FINE(rlcore_learner_phase(p, &due));
  uint8_t acted[N];
  FINE(rlcore_learner_acted(p, acted));
  if (due == RLCORE_LEARNER_ACT) FINE(rlcore_learner_act(p, ACTED(NULL, arrays.obs, NULL, &arrays.action)));
  else if (due == RLCORE_LEARNER_OBSERVE)
    FINE(rlcore_learner_observe(p, STEPPED(acted, arrays.reward, arrays.terminated, arrays.truncated, arrays.obs, NULL)));
  else FINE(rlcore_learner_learn(p, OBSERVED(arrays.obs, NULL), max_slices, &stats));
}

/* ---- One instruction at a time ---- */

/* Other calls than those that are due, on any object. A refused call changes nothing. */
typedef void step_call(void *p);

static float *numbers_of(const rlcore_learner *p) {
  static float numbers[MOST];
  CHECK(made.params_len <= MOST);
  FINE(rlcore_learner_params_read(p, numbers, made.params_len));
  return numbers;
}
static void any_due(void *p) { due_call(p, 1, 1); }
static void learn_all(void *p) { due_call(p, 2, 0); }
static void act_first(void *p) { fill(3), rlcore_learner_act_range(p, 0, 1, ACTED(NULL, arrays.obs, NULL, &arrays.action)); }
static void cut(void *p) { fill(4), rlcore_learner_cut(p, arrays.gone); }
static void freeze(void *p) { FINE(rlcore_learner_freeze(p, 1)); }
static void melt(void *p) { FINE(rlcore_learner_freeze(p, 0)); }
static void fix(void *p) { rlcore_learner_set_trainable(p, "*.weight", 0, NULL); /* refused while an update runs */ }
static void thaw(void *p) { rlcore_learner_set_trainable(p, "*", 1, NULL); }
static void count_steps(void *p) { rlcore_learner_count_steps(p, 3); }
static void value(void *p) { fill(5), FINE(rlcore_learner_value(p, OBSERVED(arrays.obs, NULL), arrays.value)); }
static void log_prob(void *p) { fill(5), rlcore_learner_log_prob(p, ACTED(NULL, arrays.obs, NULL, &arrays.action), arrays.value, arrays.value + N); }
static void predict(void *p) { fill(6), FINE(rlcore_learner_predict(p, ACTED(NULL, arrays.obs, NULL, &arrays.action), NULL, NULL, NULL)); }
static void ask(void *p) {
  static int32_t best[N];
  fill(6);
  FINE(rlcore_learner_distribution(p, N, OBSERVED(arrays.obs, NULL), NULL, NULL, &(rlcore_distribution){.struct_size = sizeof(rlcore_distribution), .best = made.action.kind == RLCORE_I32 ? (void *)best : (void *)&arrays.action}));
}
static void imitate(void *p) { fill(7), rlcore_learner_imitate(p, N, ACTED(NULL, arrays.obs, NULL, &arrays.action), NULL, NULL); }
static void demonstrate(void *p) { fill(7), rlcore_learner_demonstrate(p, ACTED(NULL, arrays.obs, NULL, &arrays.action)); }
static double *moments_of(const rlcore_learner *p, size_t *len) {
  static double moments[64];
  FINE(rlcore_learner_moments_len(p, len));
  CHECK(*len <= 64);
  FINE(rlcore_learner_moments_read(p, moments, *len));
  return moments;
}
static void write_params(void *p) {
  size_t len;
  const double *const moments = moments_of(p, &len);
  float *const numbers = numbers_of(p);
  numbers[0] += 0.25f, numbers[1] -= 0.25f;
  rlcore_learner_params_write(p, numbers, made.params_len, moments, len);
}
static void write_tensors(void *p) {
  static rlcore_tensor tensors[128];
  uint32_t len;
  float *const numbers = numbers_of(p);
  FINE(rlcore_learner_tensors(p, tensors, 128, &len));
  FINE(rlcore_learner_tensors_read(p, RLCORE_TENSORS_PARAMS, numbers, made.params_len));
  FINE(rlcore_learner_tensors_write(p, RLCORE_TENSORS_PARAMS, tensors, len, numbers, made.params_len));
}
static void reconfigure(void *p) {
  rlcore_learner_config config;
  FINE(rlcore_learner_config_read(p, &config, sizeof config, NULL));
  config.learning_rate /= 2;
  rlcore_learner_configure(p, &config); /* refused while an update is due, as it is for stream algorithms here */
}
static void adopt(void *p) {
  static uint64_t other[1 << 14], brain[1 << 12];
  rlcore_learner *from;
  rlcore_policy *policy;
  CHECK(made.size <= sizeof other);
  FINE(rlcore_learner_init(other, made.size, &made.config, &made.obs, &made.action, &from));
  rlcore_learner_adopt(p, from, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_OPTIMIZER | RLCORE_ADOPT_COUNTERS);
  FINE(rlcore_policy_export(from, brain, sizeof brain, &policy));
  rlcore_learner_adopt_policy(p, policy, RLCORE_ADOPT_PARAMS, 0);
}
static void write_moments(void *p) {
  size_t len;
  double *const moments = moments_of(p, &len);
  for (size_t i = 0; i < len; i++) moments[i] += 0.5;
  FINE(rlcore_learner_moments_write(p, moments, len));
}
static void drop(void *p) { rlcore_learner_learn_drop(p); }
static void begin(void *p) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  fill(8), rlcore_learner_learn_begin(p, OBSERVED(arrays.obs, NULL), &stats);
}
static void write_grads(void *p) {
  static float grads[MOST];
  const size_t len = made.grads_len * made.config.num_chunks;
  CHECK(len <= MOST);
  for (size_t i = 0; i < len; i++) grads[i] = 0.125f;
  rlcore_learner_grads_write(p, 0, made.config.num_chunks, grads, len);
}
static void add_grads(void *p) {
  static float grads[MOST];
  for (size_t i = 0; i < made.grads_len; i++) grads[i] = 0.25f;
  rlcore_learner_grads_add(p, 0, 1, grads, made.grads_len);
}
static void apply(void *p) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_learner_learn_apply(p, &stats);
}
static void transitions(void *p) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  fill(9);
  rlcore_learner_learn_transitions(p, TRANSITIONS(.obs = arrays.obs, .action = &arrays.action, .reward = arrays.reward, .terminated = arrays.terminated, .next_obs = arrays.obs), &stats);
}
static void batch(void *p) {
  static const float numbers[64];
  static const uint8_t begins[64];
  static const uint32_t envs[64];
  const int sequences = made.algorithm == RLCORE_ALGORITHM_IMPALA;
  size_t len;
  const double *const moments = moments_of(p, &len);
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_learner_learn_batch(p, BATCH(.obs = GIVEN(numbers), .action = GIVEN(numbers), .log_prob = GIVEN(numbers), .value = GIVEN(numbers), .advantage = GIVEN(numbers), .value_target = GIVEN(numbers), .begin = GIVEN(sequences ? begins : NULL), .env = GIVEN(sequences ? envs : NULL), .moments = GIVEN(moments)), &stats);
}
static int32_t walk_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)state, (void)rng;
  for (int i = 0; i < OBS; i++) ((float *)obs)[i] = (float)row / 8;
  return 0;
}
static int32_t walk_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)action;
  out->reward = (float)row, out->terminated = row == 1;
  return walk_reset(user, row, state, rng, obs);
}
static void collect(void *p) { /* one step; where it is refused nothing changes */
  static uint64_t game[512], world[512];
  static float last[N * OBS];
  const rlcore_env_def def = {.struct_size = sizeof def, .env_id = 1000, .state_size = 8, .obs = made.obs, .action = made.action,
                              .reset = walk_reset, .step = walk_step};
  rlcore_env *env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  FINE(rlcore_env_init(game, sizeof game, &def, &env));
  FINE(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  FINE(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  FINE(rlcore_vecenv_reset(envs, env, NULL, arrays.obs));
  rlcore_collect(p, envs, env, ROWS_WITH(.obs = arrays.obs, .action = &arrays.action, .reward = arrays.reward, .terminated = arrays.terminated, .truncated = arrays.truncated, .final_obs = last), 1, NULL);
}
static void init(void *p) { create(p); }

/* In this order, so that each call finds the state that it needs. */
static step_call *const calls[] = {batch, drop, any_due, any_due, freeze, melt, fix, thaw, count_steps, value, log_prob, predict, ask, write_params, write_tensors, write_moments, reconfigure, adopt, act_first, cut, demonstrate, imitate,
                                   any_due, any_due, any_due, any_due, begin, write_grads, add_grads, apply, any_due, any_due, any_due,
                                   any_due, any_due, any_due, transitions, any_due, any_due, any_due, any_due, learn_all, drop, collect, any_due, init};
enum { CALLS = sizeof calls / sizeof *calls };

typedef int32_t attach_call(void *mem, size_t size);
static int32_t attach_learner(void *mem, size_t size) {
  rlcore_learner *p;
  return rlcore_learner_attach(mem, size, 0, NULL, NULL, &p);
}
static int32_t attach_policy(void *mem, size_t size) {
  const rlcore_policy *p;
  return rlcore_policy_attach(mem, size, NULL, NULL, &p);
}
static int32_t attach_normalizer(void *mem, size_t size) {
  rlcore_vec_normalize *p;
  return rlcore_vec_normalize_attach(mem, size, &p);
}

static uint64_t changes, refused;

/* Makes the call on shared memory, instruction by instruction. */
static void judge(const char *name, int which, void *mem, size_t size, step_call *call, attach_call *attach) {
  int status;
  uint8_t *before = aligned_alloc(64, size), *after = aligned_alloc(64, size), *last = aligned_alloc(64, size);
  memcpy(before, mem, size), memcpy(after, mem, size), memcpy(last, mem, size);
  call(after);
  const pid_t pid = child();
  if (pid == 0) {
    call(mem);
    atomic_store(inside, 0);
    _exit(failures != 0);
  }
  while (step(pid, &status)) {
    if (!atomic_load(inside) || memcmp(last, mem, size) == 0) continue;
    changes++;
    memcpy(last, mem, size);
    const int32_t answer = attach(last, size);
    if (answer != RLCORE_OK) {
      CHECK(answer == RLCORE_E_IMAGE || answer == RLCORE_E_SIZE);
      refused++;
    } else if (memcmp(last, before, size) != 0 && memcmp(last, after, size) != 0) {
      size_t at = 0;
      while (last[at] == before[at]) at++;
      printf("%s, call %d: accepted, but neither as before nor as after, from byte %zu on\n", name, which, at);
      fail(__LINE__, "attach accepts it");
      break;
    }
  }
  if (failures == 0) CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && memcmp(mem, after, size) == 0);
  free(before), free(after), free(last);
}

static rlcore_learner *source;
static void export(void *mem) {
  rlcore_policy *policy;
  size_t size;
  FINE(rlcore_policy_size(source, &size));
  FINE(rlcore_policy_export(source, mem, size, &policy));
}

static void normalizer_reset(void *v) { fill(1), FINE(rlcore_vec_normalize_reset(v, arrays.obs, arrays.obs)); }
static void normalizer_reset_one(void *v) { fill(2), FINE(rlcore_vec_normalize_reset_one(v, 1, arrays.obs, arrays.obs)); }
static void normalizer_freeze(void *v) { FINE(rlcore_vec_normalize_freeze(v, 1)); }
static void normalizer_melt(void *v) { FINE(rlcore_vec_normalize_freeze(v, 0)); }
static void normalizer_step(void *v) {
  fill(3);
  const rlcore_rows out = {.struct_size = sizeof out, .obs = arrays.obs, .reward = arrays.reward, .terminated = arrays.terminated,
                                 .truncated = arrays.truncated};
  FINE(rlcore_vec_normalize_step(v, &out, NULL));
}
static rlcore_vec_normalize *other;
static void normalizer_merge(void *v) { FINE(rlcore_vec_normalize_merge(v, other)); }

/* Every call of one on-policy and one off-policy learner, and some due calls of the others; or all calls of all. */
static void stepped(int all) {
  for (uint32_t algorithm = 0; algorithm < ALGORITHMS && failures == 0; algorithm++) {
    changes = refused = 0;
    configure(algorithm);
    void *mem = shared(made.size);
    char name[32];
    snprintf(name, sizeof name, "algorithm %u", algorithm);
    source = create(mem);
    for (int i = 0; i < CALLS && failures == 0; i++) {
      const int in_full = algorithm == RLCORE_ALGORITHM_PPO || algorithm == RLCORE_ALGORITHM_DQN;
      const int stepped = calls[i] == any_due ? i % 4 == (int)algorithm % 4 : in_full;
      if (stepped || all) judge(name, i, mem, made.size, calls[i], attach_learner);
      else calls[i](mem);
    }
    if (algorithm == RLCORE_ALGORITHM_PPO && failures == 0) {
      size_t size;
      FINE(rlcore_policy_size(source, &size));
      void *policy = shared(size);
      export(policy);
      for (int i = 0; i < 4; i++) due_call(source, (uint64_t)i, 0);
      write_params(source);
      judge("policy", 0, policy, size, export, attach_policy);
      munmap(policy, size);
    }
    munmap(mem, made.size);
    printf("%s: of %" PRIu64 " changes %" PRIu64 " refused\n", name, changes, refused);
  }
  static step_call *const of_normalizer[] = {normalizer_reset, normalizer_step, normalizer_reset_one, normalizer_freeze, normalizer_melt,
                                             normalizer_merge, normalizer_step};
  rlcore_vec_normalize_config config;
  rlcore_vec_normalize *v;
  size_t size;
  FINE(rlcore_vec_normalize_config_init(&config, sizeof config));
  config.num_envs = N, config.obs_len = OBS;
  FINE(rlcore_vec_normalize_size(&config, &size));
  void *mem = shared(size);
  FINE(rlcore_vec_normalize_init(aligned_alloc(64, size), size, &config, &other));
  normalizer_reset(other);
  FINE(rlcore_vec_normalize_init(mem, size, &config, &v));
  for (size_t i = 0; i < sizeof of_normalizer / sizeof *of_normalizer && failures == 0; i++)
    judge("normalizer", (int)i, mem, size, of_normalizer[i], attach_normalizer);
  munmap(mem, size);
}

/* ---- Killed at random ---- */

static void killed(uint64_t wanted) {
  uint64_t accepted = 0, kills = 0;
  _Atomic uint64_t *const done = shared(sizeof *done);
  for (; kills < wanted && failures == 0; kills++) {
    configure((uint32_t)(kills % ALGORITHMS));
    void *mem = shared(made.size);
    uint8_t *copy = aligned_alloc(64, made.size), *again = aligned_alloc(64, made.size);
    rlcore_learner *const p = create(mem);
    atomic_store(done, 0);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
      for (uint64_t k = 0;; k++) due_call(p, k, 1), atomic_store(done, k + 1);
    const struct timespec nap = {0, 100000 + mixed(kills) % 3000000};
    nanosleep(&nap, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    memcpy(copy, mem, made.size);
    const uint64_t count = atomic_load(done);
    const int32_t status = attach_learner(copy, made.size);
    if (status == RLCORE_OK) {
      accepted++;
      rlcore_learner *const twin = create(again);
      for (uint64_t k = 0; k < count; k++) due_call(twin, k, 1);
      int same = memcmp(again, copy, made.size) == 0;
      if (!same) due_call(twin, count, 1), same = memcmp(again, copy, made.size) == 0;
      CHECK(same);
    } else CHECK(status == RLCORE_E_IMAGE);
    munmap(mem, made.size);
    free(copy), free(again);
  }
  printf("%" PRIu64 " kills, %" PRIu64 " accepted, each as an uninterrupted run passes it\n", kills, accepted);
}

int main(int argc, char **argv) {
  inside = shared(sizeof *inside);
  const int kills = argc > 1 && strcmp(argv[1], "kills") == 0;
  if (!kills) stepped(argc > 1);
  if (failures == 0 && (argc == 1 || kills)) killed(argc > 2 ? strtoull(argv[2], NULL, 10) : 100);
  printf("%d failures\n", failures);
  return failures != 0;
}
