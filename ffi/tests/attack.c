/* Wrong calls that need a state, a particular field or particular words. Each has to be answered by one exact status, by
   words that say what was needed, and without changing a byte of what the caller owns. What can be wrong with one argument
   of any function is in the table of tests/system/fuzz/calls.h.

   Everything that calls may touch lies in `w`: a wrong call is surrounded by two looks at all of it. */
#include "rlcore.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, T = 4, OBS = 4, BLOCK = 4096, MANY = 8192, LEARNER = 1 << 16 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  _Alignas(64) unsigned char other[BLOCK];
  rlcore_env_def env;
  rlcore_vecenv_config config;
  rlcore_vecenv *vecenv;
  rlcore_vecenv_out out;
  rlcore_rng rng;
  size_t size;
  uint64_t hash, seed;
  double reals[MANY];
  int64_t whole[MANY];
  uint32_t order[MANY], lives[N], number;
  float normal[MANY];
  float obs[N][OBS], final_obs[N][OBS], reward[N], force[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], valid[N], mask[N][2], rgb[12 * 16 * 3];
  rlcore_rollout rollout;
  float rewards[T * N], values[T * N], last[N], finals[T * N], advantage[T * N], target[T * N];
  uint8_t ends[T * N], cuts[T * N];
  _Alignas(64) unsigned char learner[LEARNER], brain[LEARNER];
  rlcore_learner_config settings;
  rlcore_learner_stats stats;
  rlcore_learner *agent;
  rlcore_policy *policy;
  const rlcore_policy *attached;
  rlcore_sampling sampling;
  float scratch[1024];
  rlcore_logits batch;
  rlcore_gaussian gaussian;
  float logits[5 * 4], log_prob[5], draws[10], mean[10], log_std[2], vectors[10];
  int32_t choices[10];
  uint8_t allowed[5 * 4];
  uint32_t n[2];
  double means[2], vars[2], count;
} w, before;

#include "attack.h"

/* ---- Layout: what compiled callers rely on ---- */

#if SIZE_MAX == UINT64_MAX
_Static_assert(sizeof(rlcore_status) == 4, "");
_Static_assert(sizeof(rlcore_rng) == 40, "");
OFFSET(rlcore_rng, state, 0); OFFSET(rlcore_rng, stream, 16); OFFSET(rlcore_rng, half, 32); OFFSET(rlcore_rng, has_half, 36);
_Static_assert(sizeof(rlcore_space) == 32, "");
OFFSET(rlcore_space, kind, 0); OFFSET(rlcore_space, len, 4); OFFSET(rlcore_space, low, 8); OFFSET(rlcore_space, high, 16);
OFFSET(rlcore_space, n, 24);
_Static_assert(sizeof(rlcore_step) == 8, "");
OFFSET(rlcore_step, reward, 0); OFFSET(rlcore_step, terminated, 4); OFFSET(rlcore_step, truncated, 5);
OFFSET(rlcore_step, reserved, 6);
_Static_assert(sizeof(rlcore_env_def) == 160, "");
OFFSET(rlcore_env_def, env_id, 4); OFFSET(rlcore_env_def, state_size, 8); OFFSET(rlcore_env_def, max_episode_steps, 12);
OFFSET(rlcore_env_def, obs, 16); OFFSET(rlcore_env_def, action, 48); OFFSET(rlcore_env_def, user, 80);
OFFSET(rlcore_env_def, reset, 88); OFFSET(rlcore_env_def, step, 96); OFFSET(rlcore_env_def, render, 104);
OFFSET(rlcore_env_def, lives, 112); OFFSET(rlcore_env_def, action_mask, 120);
_Static_assert(sizeof(rlcore_vecenv_config) == 24, "");
OFFSET(rlcore_vecenv_config, num_envs, 4); OFFSET(rlcore_vecenv_config, seed, 8); OFFSET(rlcore_vecenv_config, autoreset, 16);
OFFSET(rlcore_vecenv_config, max_episode_steps, 20);
_Static_assert(sizeof(rlcore_vecenv_out) == 56, "");
OFFSET(rlcore_vecenv_out, obs, 8); OFFSET(rlcore_vecenv_out, reward, 16); OFFSET(rlcore_vecenv_out, terminated, 24);
OFFSET(rlcore_vecenv_out, truncated, 32); OFFSET(rlcore_vecenv_out, final_obs, 40); OFFSET(rlcore_vecenv_out, valid, 48);
_Static_assert(sizeof(rlcore_rollout) == 64, "");
OFFSET(rlcore_rollout, num_steps, 4); OFFSET(rlcore_rollout, num_envs, 8); OFFSET(rlcore_rollout, accumulate, 12);
OFFSET(rlcore_rollout, reward, 16); OFFSET(rlcore_rollout, value, 24); OFFSET(rlcore_rollout, bootstrap_value, 32);
OFFSET(rlcore_rollout, terminated, 40); OFFSET(rlcore_rollout, truncated, 48); OFFSET(rlcore_rollout, final_value, 56);
_Static_assert(sizeof(rlcore_learner_config) == 176, "");
OFFSET(rlcore_learner_config, num_envs, 4); OFFSET(rlcore_learner_config, num_steps, 8); OFFSET(rlcore_learner_config, num_minibatches, 12);
OFFSET(rlcore_learner_config, num_epochs, 16); OFFSET(rlcore_learner_config, num_hidden, 20); OFFSET(rlcore_learner_config, hidden_len, 24);
OFFSET(rlcore_learner_config, activation, 40); OFFSET(rlcore_learner_config, normalize_advantage, 44);
OFFSET(rlcore_learner_config, normalize_obs, 48); OFFSET(rlcore_learner_config, normalize_reward, 52);
OFFSET(rlcore_learner_config, squash, 56); OFFSET(rlcore_learner_config, use_action_mask, 60); OFFSET(rlcore_learner_config, seed, 64);
OFFSET(rlcore_learner_config, total_steps, 72); OFFSET(rlcore_learner_config, learning_rate, 80);
OFFSET(rlcore_learner_config, learning_rate_end, 84); OFFSET(rlcore_learner_config, clip, 88); OFFSET(rlcore_learner_config, clip_end, 92);
OFFSET(rlcore_learner_config, discount, 96); OFFSET(rlcore_learner_config, gae_lambda, 100); OFFSET(rlcore_learner_config, value_coef, 104);
OFFSET(rlcore_learner_config, entropy_coef, 108); OFFSET(rlcore_learner_config, value_clip, 112);
OFFSET(rlcore_learner_config, max_grad_norm, 116); OFFSET(rlcore_learner_config, target_kl, 120);
OFFSET(rlcore_learner_config, adam_beta1, 124); OFFSET(rlcore_learner_config, adam_beta2, 128);
OFFSET(rlcore_learner_config, adam_epsilon, 132); OFFSET(rlcore_learner_config, log_std_init, 136);
OFFSET(rlcore_learner_config, obs_clip, 140); OFFSET(rlcore_learner_config, reward_clip, 144); OFFSET(rlcore_learner_config, accumulate, 148);
OFFSET(rlcore_learner_config, log_std_min, 152); OFFSET(rlcore_learner_config, log_std_max, 156);
OFFSET(rlcore_learner_config, num_chunks, 160); OFFSET(rlcore_learner_config, algorithm, 164);
OFFSET(rlcore_learner_config, overlap, 168); OFFSET(rlcore_learner_config, num_shared, 172);
_Static_assert(sizeof(rlcore_learner_stats) == 88, "");
OFFSET(rlcore_learner_stats, minibatches_left, 4); OFFSET(rlcore_learner_stats, num_steps, 8); OFFSET(rlcore_learner_stats, num_updates, 16);
OFFSET(rlcore_learner_stats, num_episodes, 24); OFFSET(rlcore_learner_stats, learning_rate, 32); OFFSET(rlcore_learner_stats, policy_loss, 36);
OFFSET(rlcore_learner_stats, value_loss, 40); OFFSET(rlcore_learner_stats, entropy, 44); OFFSET(rlcore_learner_stats, approx_kl, 48);
OFFSET(rlcore_learner_stats, clip_fraction, 52); OFFSET(rlcore_learner_stats, explained_variance, 56);
OFFSET(rlcore_learner_stats, grad_norm, 60); OFFSET(rlcore_learner_stats, value_mean, 64); OFFSET(rlcore_learner_stats, return_mean, 68);
OFFSET(rlcore_learner_stats, length_mean, 72); OFFSET(rlcore_learner_stats, return_last, 76); OFFSET(rlcore_learner_stats, num_dropped, 80);
_Static_assert(sizeof(rlcore_sampling) == 16, "");
OFFSET(rlcore_sampling, method, 0); OFFSET(rlcore_sampling, k, 4); OFFSET(rlcore_sampling, temperature, 8);
OFFSET(rlcore_sampling, reserved, 12);
_Static_assert(sizeof(rlcore_logits) == 40, "");
OFFSET(rlcore_logits, num_rows, 4); OFFSET(rlcore_logits, num_choices, 8); OFFSET(rlcore_logits, reserved, 12);
OFFSET(rlcore_logits, n, 16); OFFSET(rlcore_logits, logits, 24); OFFSET(rlcore_logits, mask, 32);
_Static_assert(sizeof(rlcore_gaussian) == 32, "");
OFFSET(rlcore_gaussian, num_rows, 4); OFFSET(rlcore_gaussian, action_len, 8); OFFSET(rlcore_gaussian, reserved, 12);
OFFSET(rlcore_gaussian, mean, 16); OFFSET(rlcore_gaussian, log_std, 24);
#endif

/* ---- An environment that misbehaves on demand ---- */

enum sin { NONE, FAILS_RESET, FAILS_STEP, NAN_RESET, NAN_STEP, INF_REWARD, NAN_REWARD, FAILS_LIVES, FAILS_MASK, FAILS_RENDER, ENDS };

/* The environment counts its steps; row `row` sins. */
typedef struct sinner { enum sin sin; uint32_t row; } sinner;
typedef struct count { uint32_t row, steps; } count;

static sinner sinful;
static uint32_t next_row;

static int32_t sin_reset(void *user, void *state, rlcore_rng *rng, void *obs) {
  const sinner *s = user;
  count *c = state;
  float *o = obs;
  (void)rng;
  if (c->steps == 0 && c->row == 0) c->row = ++next_row;
  c->steps = 1;
  const int sins = c->row - 1 == s->row;
  for (int i = 0; i < OBS; i++) o[i] = sins && s->sin == NAN_RESET ? NAN : (float)i;
  return sins && s->sin == FAILS_RESET ? 7 : 0;
}

static int32_t sin_step(void *user, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  const sinner *s = user;
  count *c = state;
  float *o = obs;
  (void)rng;
  c->steps++;
  const int sins = c->row - 1 == s->row;
  for (int i = 0; i < OBS; i++) o[i] = sins && s->sin == NAN_STEP ? -INFINITY : (float)(c->steps + (uint32_t)i);
  out->reward = sins && s->sin == INF_REWARD ? INFINITY : sins && s->sin == NAN_REWARD ? NAN : (float)*(const int32_t *)action;
  out->terminated = sins && s->sin == ENDS;
  return sins && s->sin == FAILS_STEP ? -1 : 0;
}

static int32_t sin_render(void *user, const void *state, uint32_t width, uint32_t height, uint8_t *rgb) {
  const sinner *s = user;
  (void)state;
  if (s->sin == FAILS_RENDER) return 1;
  memset(rgb, 9, (size_t)width * height * 3);
  return 0;
}

static int32_t sin_lives(void *user, const void *state, uint32_t *out_lives) {
  const sinner *s = user;
  const count *c = state;
  if (s->sin == FAILS_LIVES && c->row - 1 == s->row) return 1;
  *out_lives = c->row;
  return 0;
}

static int32_t sin_mask(void *user, const void *state, uint8_t *mask) {
  const sinner *s = user;
  const count *c = state;
  if (s->sin == FAILS_MASK && c->row - 1 == s->row) return 1;
  mask[0] = 1;
  mask[1] = (uint8_t)(c->row & 1);
  return 0;
}

static const uint32_t two[1] = {2};

static rlcore_env_def sinning(void) {
  return (rlcore_env_def){.struct_size = sizeof(rlcore_env_def), .env_id = 1000, .state_size = sizeof(count), .max_episode_steps = 0,
                          .obs = {RLCORE_F32, OBS, NULL, NULL, NULL}, .action = {RLCORE_I32, 1, NULL, NULL, two}, .user = &sinful,
                          .reset = sin_reset, .step = sin_step, .render = sin_render, .lives = sin_lives, .action_mask = sin_mask};
}

/* A fresh world: N cart poles that were reset. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.size = 77;
  w.hash = 88;
  w.seed = 5;
  FINE(rlcore_rng_seed(&w.rng, 1));
  FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, &w.env, sizeof w.env));
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, &w.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, &w.env, NULL, w.obs));
  w.out = (rlcore_vecenv_out){sizeof w.out, 0, w.obs, w.reward, w.terminated, w.truncated, w.final_obs, w.valid};
}

static uint32_t lcg;
static uint32_t chance(uint32_t below) {
  lcg = lcg * 1664525u + 1013904223u;
  return (lcg >> 8) % below;
}

/* ---- Results ---- */

static void attack_results(void) {
  static const char *names[] = {"RLCORE_OK", "RLCORE_E_NULL", "RLCORE_E_SIZE", "RLCORE_E_ALIGN", "RLCORE_E_CONFIG", "RLCORE_E_SHAPE",
                                "RLCORE_E_IMAGE", "RLCORE_E_RANGE", "RLCORE_E_CALLBACK", "RLCORE_E_OVERFLOW", "RLCORE_E_NOT_READY",
                                "RLCORE_E_VALUE", "RLCORE_E_OVERLAP", "RLCORE_E_BUSY", "RLCORE_E_NOT_PENDING",
                                "RLCORE_E_INEXACT", "RLCORE_E_EMPTY", "RLCORE_E_DISABLED"};
  for (int32_t i = 0; i < 18; i++) CHECK(strcmp(rlcore_status_name(-i), names[i]) == 0 && strlen(rlcore_status_text(-i)) > 5);
  const int32_t strange[] = {1, -18, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) CHECK(strcmp(rlcore_status_name(strange[i]), "unknown") == 0 && rlcore_status_text(strange[i]) != NULL);
  CHECK(rlcore_version() == (RLCORE_VERSION_MAJOR << 16 | RLCORE_VERSION_MINOR << 8 | RLCORE_VERSION_PATCH));
  CHECK(rlcore_abi_version() == RLCORE_ABI_VERSION && rlcore_image_version() == RLCORE_IMAGE_VERSION);

  start();
  char text[256], small[8];
  CHECK(rlcore_cpu_set_limit(3) == RLCORE_E_RANGE);
  CHECK(rlcore_last_error(NULL, 256) == RLCORE_E_NULL);
  CHECK(rlcore_last_error(text, 0) == RLCORE_E_SIZE);
  memset(small, 'x', sizeof small);
  CHECK(rlcore_last_error(small, 1) == RLCORE_OK && small[0] == 0 && small[1] == 'x');
  CHECK(rlcore_last_error(small, 7) == RLCORE_OK && strcmp(small, "RLCORE") == 0 && small[7] == 'x');
  CHECK(rlcore_last_error(text, sizeof text) == RLCORE_OK);
  CHECK(strcmp(text, "RLCORE_E_RANGE: cpu_set_limit: level: expected an rlcore_cpu_level, given 3") == 0);
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_cpu_set_limit(UINT32_MAX));
  for (uint32_t level = 0; level < 3; level++) FINE(rlcore_cpu_set_limit(level));

  REFUSED(NULLED, "hash: bytes", rlcore_hash(NULL, 1, &w.hash));
  REFUSED(NULLED, "hash: out", rlcore_hash("a", 1, NULL));
  REFUSED(CROOKED, "hash: out: misaligned by 1 bytes; a multiple of 8 is required", rlcore_hash("a", 1, off(&w.hash, 1)));
  REFUSED(CROOKED, "by 4 bytes", rlcore_hash("a", 1, off(&w.hash, 4)));
  REFUSED(RLCORE_E_OVERFLOW, "hash: bytes", rlcore_hash(w.mem, SIZE_MAX, &w.hash));
  FINE(rlcore_hash("foobar", 6, &w.hash));
  CHECK(w.hash == 0x85944171f73967e8u);
  FINE(rlcore_hash(NULL, 0, &w.hash));
  CHECK(w.hash == 0xcbf29ce484222325u);
}

/* Numbers in words: what C's strtof reads back is what was given, and it is short. */
static void attack_words(void) {
  start();
  const struct { float x; const char *text; } fixed[] = {
      {0.1f, "0.1"}, {2.5f, "2.5"}, {-1.5f, "-1.5"}, {1.0e10f, "1e10"}, {123456.0f, "123456"}, {FLT_MAX, "3.4028235e38"},
      {1.0e-45f, "1e-45"}, {FLT_MIN, "1.1754944e-38"}, {0.00025f, "0.00025"}, {1.0e-7f, "1e-7"}, {INFINITY, "inf"},
      {-INFINITY, "-inf"}, {NAN, "NaN"}, {16777216.0f, "16777216"}, {1.1f, "1.1"}, {1024.5f, "1024.5"}, {-0.001f, "-0.001"}};
  char why[256];
  w.rollout = (rlcore_rollout){sizeof w.rollout, T, N, 0, w.rewards, w.values, w.last, w.ends, w.cuts, w.finals};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    const float discount = fixed[i].x;
    if (discount >= 0 && discount <= 1) continue;
    CHECK(rlcore_gae(&w.rollout, discount, 0.5f, w.advantage, w.target) != RLCORE_OK);
    rlcore_last_error(why, sizeof why);
    const char *given = strstr(why, "given ");
    CHECK(given != NULL && strcmp(given + 6, fixed[i].text) == 0);
    if (given == NULL || strcmp(given + 6, fixed[i].text) != 0) printf("wanted %s, got %s\n", fixed[i].text, why);
  }
  for (int i = 0; i < 20000; i++) {
    const uint32_t bits = 0x80000000u | chance(1u << 23) | chance(255) << 23;
    float x, back;
    memcpy(&x, &bits, 4);
    if (x == 0) continue;
    CHECK(rlcore_gae(&w.rollout, x, 0.5f, w.advantage, w.target) == RLCORE_E_RANGE);
    rlcore_last_error(why, sizeof why);
    const char *given = strstr(why, "given ");
    back = given == NULL ? 0 : strtof(given + 6, NULL);
    CHECK(back == x && strlen(given + 6) <= 15);
    if (back != x) printf("%.9g in words: %s\n", (double)x, why);
  }
}

/* Four threads fail in two ways: whoever asks gets the words of one failure, never of both. */
static void *fail_often(void *way) {
  for (int i = 0; i < 20000; i++)
    if (*(const int *)way) rlcore_hash(NULL, 1, NULL);
    else rlcore_cpu_set_limit(77);
  return NULL;
}

static void check_last_error_is_whole(void) {
  pthread_t threads[4];
  static const int ways[4] = {0, 1, 0, 1};
  int whole = 0;
  CHECK(rlcore_cpu_set_limit(77) == RLCORE_E_RANGE);
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, fail_often, (void *)(size_t)&ways[i]) == 0);
  for (int i = 0; i < 20000; i++) {
    char why[256];
    rlcore_last_error(why, sizeof why);
    const int one = strcmp(why, "RLCORE_E_RANGE: cpu_set_limit: level: expected an rlcore_cpu_level, given 77") == 0;
    const int other = strcmp(why, "RLCORE_E_NULL: hash: bytes: the pointer is NULL") == 0;
    whole += one || other;
    if (!one && !other && why[0] != 0) fail(__LINE__, why, "words of two failures");
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(whole > 1000);
}

/* ---- Random streams ---- */

static void attack_rng(void) {
  start();
  rlcore_rng *rng = &w.rng;
  REFUSED(NULLED, "rng", rlcore_rng_stream(NULL, 1, 2));

  REFUSED(RLCORE_E_OVERLAP, "rng", rlcore_rng_normal(rng, off(rng, 32), 4));

  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, NAN, 1, w.reals, 4));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, 0, INFINITY, w.reals, 4));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, -DBL_MAX, DBL_MAX, w.reals, 4));
  REFUSED(RLCORE_E_OVERFLOW, "given", rlcore_rng_uniform(rng, 0, 1, w.reals, SIZE_MAX / 8));
  REFUSED(RLCORE_E_RANGE, "high above low, given 3", rlcore_rng_integers(rng, 3, 3, w.whole, 4));
  REFUSED(RLCORE_E_RANGE, "given -9223372036854775808", rlcore_rng_integers(rng, INT64_MAX, INT64_MIN, w.whole, 4));
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_rng_permutation(rng, w.order, SIZE_MAX / 4));
  FINE(rlcore_rng_integers(rng, INT64_MIN, INT64_MAX, w.whole, MANY));
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 0));
  FINE(rlcore_rng_normal(rng, w.normal, MANY));
  FINE(rlcore_rng_permutation(rng, w.order, MANY));
  WITH(rng->has_half, 2u, RLCORE_E_IMAGE, "the stream was never seeded", rlcore_rng_normal(rng, w.normal, 1));
  WITH(rng->stream[1], UINT64_MAX, RLCORE_E_IMAGE, "the stream was never seeded", rlcore_rng_normal(rng, w.normal, 1));

  rlcore_rng_seed(rng, 42);
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 2));
  CHECK(w.reals[0] == 0.7739560485559633 && w.reals[1] == 0.4388784397520523);
}

/* ---- Environments ---- */

static void attack_env(void) {
  start();
  rlcore_env_def *def = &w.env;
  size_t *size = &w.size;
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, 0));
  REFUSED(RLCORE_E_SIZE, "at least 104, given 96", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, 96));
  REFUSED(RLCORE_E_SIZE, "env_def", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, 127));
  REFUSED(RLCORE_E_SIZE, "env_def", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, SIZE_MAX));
  REFUSED(RLCORE_E_RANGE, "an rlcore_env_id, given 0", rlcore_env_builtin(0, def, sizeof *def));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_env_builtin(UINT32_MAX, def, sizeof *def));

  const uint32_t ids[] = {RLCORE_ENV_CARTPOLE, RLCORE_ENV_MOUNTAIN_CAR, RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, RLCORE_ENV_ACROBOT,
                          RLCORE_ENV_PENDULUM, RLCORE_ENV_PROBE1, RLCORE_ENV_PROBE2, RLCORE_ENV_PROBE3, RLCORE_ENV_PROBE4,
                          RLCORE_ENV_PROBE5, RLCORE_ENV_PROBE6, RLCORE_ENV_PROBE7, RLCORE_ENV_PROBE6_ODD_EVEN,
                          RLCORE_ENV_PROBE_TRUNCATION, RLCORE_ENV_PROBE_MEMORY};
  rlcore_vecenv *v;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    FINE(rlcore_env_builtin(ids[i], def, sizeof *def));
    CHECK(def->env_id == ids[i] && def->struct_size == sizeof *def);
    FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, &w.config, &v));
    FINE(rlcore_vecenv_reset(v, def, &w.seed, w.reals));
    memset(w.whole, 0, sizeof w.whole);
    rlcore_vecenv_out out = {sizeof out, 0, w.reals, w.reward, w.terminated, w.truncated, w.normal, NULL};
    for (int k = 0; k < 600; k++) FINE(rlcore_vecenv_step(v, def, w.whole, &out));
    /* A table is known by its number; what was tampered with is refused by name, also by the functions themselves. */
#define STEP_IT rlcore_vecenv_step(v, def, w.whole, &out)
    WITH(def->state_size, def->state_size + 8, RLCORE_E_CONFIG, "env_def: state_size: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->obs.len, def->obs.len + 1, RLCORE_E_CONFIG, "env_def: obs: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->action.len, 2, RLCORE_E_CONFIG, "env_def: action: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->user, &w, RLCORE_E_CONFIG, "env_def: user: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->reset, sin_reset, RLCORE_E_CONFIG, "env_def: reset: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->step, sin_step, RLCORE_E_CONFIG, "env_def: step: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->restart, (rlcore_env_restart_fn)(void (*)(void))sin_reset, RLCORE_E_CONFIG, "env_def: restart: what rlcore_env_builtin has set", STEP_IT);
    WITH(def->env_id, 7, RLCORE_E_CONFIG, "an rlcore_env_id that this library has, given 7", STEP_IT);
    WITH(def->env_id, 999, RLCORE_E_CONFIG, "an rlcore_env_id that this library has, given 999", STEP_IT);
    WITH(def->env_id, 0, RLCORE_E_CONFIG, "the environment that the block was made for", STEP_IT);
    CHECK(def->reset(&w, w.other, NULL, w.reals) == RLCORE_E_CONFIG);
    FINE(STEP_IT);
    /* With a number of the caller's they are the caller's functions: slower, and the same steps. */
    def->env_id = i == 0 ? 0 : 1000;
    FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, &w.config, &v));
    FINE(rlcore_vecenv_reset(v, def, &w.seed, w.reals));
    for (int k = 0; k < 3; k++) FINE(STEP_IT);
#undef STEP_IT
  }

  *def = sinning();
#define ASK rlcore_vecenv_size(def, &w.config, size)
  FINE(ASK);
  WITH(def->struct_size, 96, RLCORE_E_CONFIG, "at least 104, given 96", ASK);
  WITH(def->struct_size, UINT32_MAX, RLCORE_E_CONFIG, "given 4294967295", ASK);
  WITH(def->reset, NULL, NULLED, "env_def: reset: the function pointer is NULL", ASK);
  WITH(def->step, NULL, NULLED, "env_def: step: the function pointer is NULL", ASK);
  WITH(def->state_size, UINT32_MAX, RLCORE_E_CONFIG, "multiple of 8", ASK);
  WITH(def->state_size, 4, RLCORE_E_CONFIG, "multiple of 8", ASK);
  WITH(def->obs.kind, RLCORE_I32, NULLED, "obs.n", ASK);
  WITH(def->obs.kind, 4, RLCORE_E_CONFIG, "kind of 0 (f32), 1 (i32) or 2 (u8), given 4", ASK);
  WITH(def->obs.kind, RLCORE_STRUCT, RLCORE_E_CONFIG, "exactly if fields are of other kinds than bytes, given 3", ASK);
  WITH(def->obs.kind, UINT32_MAX, RLCORE_E_CONFIG, "kind", ASK);
  WITH(def->obs.len, 0, RLCORE_E_CONFIG, "obs: len of 1 to 16777216, given 0", ASK);
  WITH(def->obs.len, UINT32_MAX, RLCORE_E_CONFIG, "obs: len", ASK);
  WITH(def->obs.low, off(w.rewards, 1), CROOKED, "obs.low", ASK);
  WITH(def->obs.high, off(w.rewards, 2), CROOKED, "obs.high", ASK);
  WITH(def->action.kind, 4, RLCORE_E_CONFIG, "action: kind", ASK);
  WITH(def->action.kind, RLCORE_STRUCT, RLCORE_E_CONFIG, "kind f32 or i32", ASK);
  WITH(def->action.kind, RLCORE_U8, RLCORE_E_CONFIG, "kind f32 or i32", ASK);
  WITH(def->action.len, 0, RLCORE_E_CONFIG, "action: len", ASK);
  WITH(def->action.len, UINT32_MAX, RLCORE_E_CONFIG, "action: len", ASK);
  WITH(def->action.n, NULL, NULLED, "action.n", ASK);
  WITH(def->action.n, off(w.order, 1), CROOKED, "action.n", ASK);
  w.order[0] = 0;
  WITH(def->action.n, w.order, RLCORE_E_CONFIG, "environment actions", ASK);
  w.order[0] = UINT32_MAX;
  WITH(def->action.n, w.order, RLCORE_E_CONFIG, "environment actions", ASK);
  w.values[0] = NAN;
  WITH(def->obs.low, w.values, RLCORE_E_CONFIG, "environment observations", ASK);
  w.values[0] = 1;
  def->obs.low = w.values;
  WITH(def->obs.high, w.rewards, RLCORE_E_CONFIG, "environment observations", ASK);
  def->obs.low = NULL;
#undef ASK

  /* A shorter table has no render, lives or action_mask; a longer one may end in zeros only. */
  def->struct_size = 104;
  def->lives = NULL;
  def->action_mask = NULL;
  def->render = NULL;
  w.config.num_envs = N;
  next_row = 0;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, &w.config, &v));
  FINE(rlcore_vecenv_reset(v, def, NULL, w.obs));
  FINE(rlcore_vecenv_lives(v, def, w.lives));
  FINE(rlcore_vecenv_action_mask(v, def, w.mask[0]));
  FINE(rlcore_vecenv_render(v, def, 0, 2, 2, w.rgb));
  FINE(rlcore_vecenv_images(v, def, 2, 2, w.rgb));
  CHECK(w.lives[0] == 0 && w.mask[0][0] == 1 && w.mask[2][1] == 1 && w.rgb[0] == 0);
  struct { rlcore_env_def def; uint64_t more[2]; } longer = {sinning(), {0, 0}};
  longer.def.struct_size = sizeof longer;
  FINE(rlcore_vecenv_lives(v, &longer.def, w.lives));
  CHECK(w.lives[2] == 3);
  longer.more[1] = 1;
  REFUSED(RLCORE_E_CONFIG, "a longer one with zeros from byte 160, given 176", rlcore_vecenv_lives(v, &longer.def, w.lives));
  memset(&longer, 0xff, sizeof longer);
  FINE(rlcore_env_builtin(RLCORE_ENV_PENDULUM, &longer.def, sizeof longer));
  CHECK(longer.def.struct_size == sizeof longer && longer.more[0] == 0 && longer.more[1] == 0);
  memset(&longer, 0xff, sizeof longer);
  FINE(rlcore_env_builtin(RLCORE_ENV_PENDULUM, &longer.def, 104));
  CHECK(longer.def.struct_size == 104 && longer.more[0] == UINT64_MAX && memcmp(&longer.def.render, &longer.more[1], 8) == 0);
}

/* ---- N environments ---- */

static void attack_vecenv(void) {
  start();
  rlcore_env_def *def = &w.env;
  rlcore_vecenv_config *config = &w.config;
  rlcore_vecenv *v = w.vecenv, **out = &w.vecenv;
  size_t size = 0;
  FINE(rlcore_vecenv_size(def, config, &size));

  REFUSED(RLCORE_E_SIZE, "at least 16, given 8", rlcore_vecenv_config_init(config, 8));
  REFUSED(RLCORE_E_SIZE, "given 23", rlcore_vecenv_config_init(config, 23));
  REFUSED(RLCORE_E_SIZE, "vecenv config", rlcore_vecenv_config_init(config, SIZE_MAX & ~(size_t)7));
  union { rlcore_vecenv_config config; unsigned char bytes[40]; } u;
  memset(&u, 0xee, sizeof u);
  FINE(rlcore_vecenv_config_init(&u.config, 16));
  CHECK(u.config.struct_size == 16 && u.config.num_envs == 1 && u.bytes[16] == 0xee);
  FINE(rlcore_vecenv_size(def, &u.config, &size));
  memset(&u, 0xee, sizeof u);
  FINE(rlcore_vecenv_config_init(&u.config, 32));
  CHECK(u.config.struct_size == 32 && u.bytes[24] == 0 && u.bytes[31] == 0 && u.bytes[32] == 0xee);
  FINE(rlcore_vecenv_size(def, &u.config, &size));
  u.bytes[31] = 1;
  REFUSED(RLCORE_E_CONFIG, "zeros from byte 24, given 32", rlcore_vecenv_size(def, &u.config, &w.size));

  FINE(rlcore_vecenv_size(def, config, &size));
#define ASK rlcore_vecenv_size(def, config, &w.size)
#define MAKE rlcore_vecenv_init(w.other, sizeof w.other, def, config, out)
#define BOTH(field, bad, status, words) WITH(field, bad, status, words, ASK); WITH(field, bad, status, words, MAKE)
  BOTH(config->num_envs, 0, RLCORE_E_CONFIG, "num_envs of at least 1");
  BOTH(config->autoreset, 4, RLCORE_E_CONFIG, "autoreset of 0 (same step), 1 (next step), 2 (disabled) or 3 (legacy), given 4");
  BOTH(config->autoreset, UINT32_MAX, RLCORE_E_CONFIG, "autoreset");
  WITH(config->num_envs, UINT32_MAX, RLCORE_E_SIZE, "at least", MAKE);
  config->max_episode_steps = UINT32_MAX;
  config->seed = UINT64_MAX;
  FINE(ASK);
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, config, out));
  config->max_episode_steps = 0;
  config->seed = 0;

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_vecenv_init(w.other, size - 1, def, config, out));
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_vecenv_init(w.other, 0, def, config, out));

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_vecenv_attach(w.mem, size - 1, def, out));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_vecenv_attach(w.mem, 8, def, out));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_vecenv_attach(w.mem, 0, def, out));
  FINE(rlcore_vecenv_attach(w.mem, size, def, out));

  /* Another environment is not the one the block was made for. */
#define CALLS(status, words) \
  REFUSED(status, words, rlcore_vecenv_attach(w.mem, size, def, out)); \
  REFUSED(status, words, rlcore_vecenv_reset(v, def, NULL, w.obs)); \
  REFUSED(status, words, rlcore_vecenv_reset_one(v, def, 0, NULL, w.obs)); \
  REFUSED(status, words, rlcore_vecenv_step(v, def, w.action, &w.out)); \
  REFUSED(status, words, rlcore_vecenv_step_range(v, def, 0, 1, w.action, &w.out)); \
  REFUSED(status, words, rlcore_vecenv_render(v, def, 0, 2, 2, w.rgb)); \
  REFUSED(status, words, rlcore_vecenv_images(v, def, 2, 2, w.rgb)); \
  REFUSED(status, words, rlcore_vecenv_lives(v, def, w.lives)); \
  REFUSED(status, words, rlcore_vecenv_action_mask(v, def, w.mask[0]))
  def->env_id = 1000;
  CALLS(RLCORE_E_CONFIG, "env_id 1, given 1000");
  def->env_id = 2;
  CALLS(RLCORE_E_CONFIG, "what rlcore_env_builtin has set");
  def->env_id = 7;
  CALLS(RLCORE_E_CONFIG, "an rlcore_env_id that this library has, given 7");
  FINE(rlcore_env_builtin(RLCORE_ENV_MOUNTAIN_CAR, def, sizeof *def));
  CALLS(RLCORE_E_CONFIG, "env_id 1, given 2");
  FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, sizeof *def));
  def->state_size += 8;
  CALLS(RLCORE_E_CONFIG, "state_size");
  def->state_size -= 8;
  def->reset = NULL;
  CALLS(NULLED, "env_def: reset");
  FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, sizeof *def));
  FINE(rlcore_vecenv_num_envs(v, &w.number));
  CHECK(w.number == N);

  /* Arrays: present, aligned, apart from everything else. */
#define STEP rlcore_vecenv_step(v, def, w.action, &w.out)
#define RANGE rlcore_vecenv_step_range(v, def, 1, 2, w.action, &w.out)
#define EACH(field, bad, status, words) WITH(field, bad, status, words, STEP); WITH(field, bad, status, words, RANGE)
  EACH(w.out.struct_size, 40, RLCORE_E_CONFIG, "at least 48, given 40");
  EACH(w.out.reserved, 1, RLCORE_E_CONFIG, "reserved: zero, given 1");
  EACH(w.out.final_obs, NULL, NULLED, "same-step autoreset requires final_obs");
  EACH(w.out.obs, w.final_obs, RLCORE_E_OVERLAP, "obs: the array overlaps another");
  EACH(w.out.obs, off(w.final_obs, 4), RLCORE_E_OVERLAP, "obs: the array overlaps another");
  WITH(w.env.action.n, (uint32_t *)(void *)w.reward, RLCORE_E_CONFIG, "env_def: action: what rlcore_env_builtin has set", STEP);

  /* Rows and actions: in range. */
  REFUSED(RLCORE_E_RANGE, "an index below 3, given 3", rlcore_vecenv_reset_one(v, def, N, NULL, w.obs));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_vecenv_reset_one(v, def, UINT32_MAX, NULL, w.obs));
  REFUSED(RLCORE_E_RANGE, "an index below 3, given 3", rlcore_vecenv_render(v, def, N, 2, 2, w.rgb));
  REFUSED(RLCORE_E_RANGE, "num_envs = 3, given 4", rlcore_vecenv_step_range(v, def, 0, N + 1, w.action, &w.out));
  REFUSED(RLCORE_E_RANGE, "begin <= end", rlcore_vecenv_step_range(v, def, 2, 1, w.action, &w.out));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_vecenv_step_range(v, def, UINT32_MAX, UINT32_MAX, w.action, &w.out));
#if SIZE_MAX == UINT64_MAX
  REFUSED(RLCORE_E_OVERFLOW, "rgb", rlcore_vecenv_render(v, def, 0, UINT32_MAX, UINT32_MAX, w.rgb));
  REFUSED(RLCORE_E_OVERFLOW, "rgb", rlcore_vecenv_images(v, def, UINT32_MAX, UINT32_MAX, w.rgb));
#endif
  FINE(rlcore_vecenv_render(v, def, 0, 0, 0, w.rgb));
  FINE(rlcore_vecenv_step_range(v, def, 1, 1, w.action, &w.out));
  const int32_t wild[] = {2, -1, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    WITH(w.action[2], wild[i], RLCORE_E_RANGE, "a choice from 0 to below 2", STEP);
    WITH(w.action[1], wild[i], RLCORE_E_RANGE, "a choice from 0 to below 2", RANGE);
  }

  /* Continuous actions: finite. */
  FINE(rlcore_env_builtin(RLCORE_ENV_PENDULUM, def, sizeof *def));
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, config, out));
  v = w.vecenv;
  REFUSED(RLCORE_E_NOT_READY, "environment 0 must be reset", rlcore_vecenv_step(v, def, w.force, &w.out));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 must be reset", rlcore_vecenv_step_range(v, def, 1, 2, w.force, &w.out));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 was never reset", rlcore_vecenv_render(v, def, 1, 2, 2, w.rgb));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 was never reset", rlcore_vecenv_images(v, def, 2, 2, w.rgb));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 was never reset", rlcore_vecenv_lives(v, def, w.lives));
  REFUSED(RLCORE_E_CONFIG, "actions that are discrete", rlcore_vecenv_action_mask(v, def, w.mask[0]));
  FINE(rlcore_vecenv_reset_one(v, def, 0, NULL, w.obs));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 was never reset", rlcore_vecenv_lives(v, def, w.lives));
  FINE(rlcore_vecenv_reset(v, def, NULL, w.obs));
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) WITH(w.force[2], bad[i], RLCORE_E_VALUE, "finite", rlcore_vecenv_step(v, def, w.force, &w.out));
  for (int i = 0; i < 3; i++) WITH(w.force[2], bad[i], RLCORE_E_VALUE, "finite", rlcore_vecenv_step_range(v, def, 2, 3, w.force, &w.out));
  WITH(w.force[0], NAN, RLCORE_E_VALUE, "finite", rlcore_vecenv_step(v, def, w.force, &w.out));
}

/* ---- Callbacks that fail: the row is named, those before it are done, those after it untouched ---- */

static void attack_callbacks(void) {
  char why[256];
  for (uint32_t row = 0; row < N; row++) {
    for (int sin = FAILS_RESET; sin <= ENDS; sin++) {
      start();
      rlcore_env_def *def = &w.env;
      *def = sinning();
      next_row = 0;
      sinful = (sinner){NONE, row};
      w.config.autoreset = sin == ENDS ? RLCORE_AUTORESET_DISABLED : RLCORE_AUTORESET_SAME_STEP;
      FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, def, &w.config, &w.vecenv));
      rlcore_vecenv *v = w.vecenv;
      FINE(rlcore_vecenv_reset(v, def, NULL, w.obs));
      for (int i = 0; i < N; i++) w.action[i] = 1;
      memset(w.reward, 0xaa, sizeof w.reward);
      memset(w.terminated, 0xaa, sizeof w.terminated);
      memset(w.lives, 0xaa, sizeof w.lives);
      memset(w.mask, 0xaa, sizeof w.mask);
      sinful.sin = (enum sin)sin;
      int32_t got = RLCORE_OK, wanted = RLCORE_E_CALLBACK;
      int stepped = 0;
      if (sin == FAILS_RESET || sin == NAN_RESET) {
        memset(w.obs, 0xaa, sizeof w.obs);
        got = rlcore_vecenv_reset(v, def, NULL, w.obs);
        wanted = sin == NAN_RESET ? RLCORE_E_VALUE : wanted;
        for (uint32_t i = row + 1; i < N; i++) CHECK(memcmp(w.obs[i], "\xaa\xaa\xaa\xaa", 4) == 0);
        for (uint32_t i = 0; i < row; i++) CHECK(w.obs[i][1] == 1);
        stepped = 1;
      } else if (sin == FAILS_LIVES) {
        got = rlcore_vecenv_lives(v, def, w.lives);
        for (uint32_t i = 0; i < N; i++) CHECK(w.lives[i] == (i < row ? i + 1 : 0xaaaaaaaau));
      } else if (sin == FAILS_MASK) {
        got = rlcore_vecenv_action_mask(v, def, w.mask[0]);
        for (uint32_t i = row; i < N; i++) CHECK(w.mask[i][0] == 0xaa && w.mask[i][1] == 0xaa);
      } else if (sin == FAILS_RENDER) {
        REFUSED(RLCORE_E_CALLBACK, "env_def: render failed in environment", rlcore_vecenv_render(v, def, row, 2, 2, w.rgb));
        got = wanted;
      } else {
        got = rlcore_vecenv_step(v, def, w.action, &w.out);
        wanted = sin == ENDS ? RLCORE_OK : sin == FAILS_STEP ? RLCORE_E_CALLBACK : RLCORE_E_VALUE;
        if (sin != ENDS) {
          for (uint32_t i = row; i < N; i++) CHECK(memcmp(&w.reward[i], "\xaa\xaa\xaa\xaa", 4) == 0 && w.terminated[i] == 0xaa);
          for (uint32_t i = 0; i < row; i++) CHECK(w.reward[i] == 1 && w.terminated[i] == 0);
        }
        stepped = 1;
      }
      if (got != wanted) printf("sin %d of row %u: wanted %d, got %d\n", sin, row, wanted, got);
      CHECK(got == wanted);
      sinful.sin = NONE;
      if (!stepped) continue;
      char words[32];
      snprintf(words, sizeof words, "environment %u", row);
      rlcore_last_error(why, sizeof why);
      if (sin != ENDS) CHECK(strstr(why, words) != NULL);
      /* That row has to be reset, and nothing but that row. */
      REFUSED(RLCORE_E_NOT_READY, words, rlcore_vecenv_step(v, def, w.action, &w.out));
      FINE(rlcore_vecenv_reset_one(v, def, row, NULL, w.obs));
      FINE(rlcore_vecenv_step(v, def, w.action, &w.out));
    }
  }
}

/* ---- Images: damaged ones are refused or harmless ---- */

static int known(int32_t status) { return status <= RLCORE_OK && status >= RLCORE_E_OVERLAP; }

static void attack_vecenv_image(void) {
  size_t size = 0;
  start();
  FINE(rlcore_vecenv_size(&w.env, &w.config, &size));
  for (size_t at = 0; at < 112; at++) { /* 40 bytes of header, zeros up to 64, 48 bytes of setup */
    if (at >= 40 && at < 64) continue;
    for (int bit = 0; bit < 9; bit++) {
      const unsigned char keep = w.mem[at];
      w.mem[at] ^= (unsigned char)(bit == 8 ? 0xff : 1 << bit);
      look();
      const int32_t got = rlcore_vecenv_attach(w.mem, sizeof w.mem, &w.env, &w.vecenv);
      /* A larger size is first of all not there. */
      judge(__LINE__, "a flipped image", got == RLCORE_E_SIZE && at >= 24 && at < 32 ? RLCORE_E_SIZE : RLCORE_E_IMAGE, got, "block: ");
      w.mem[at] = keep;
    }
  }
  FINE(rlcore_vecenv_attach(w.mem, size, &w.env, &w.vecenv));
  int accepted = 0;
  for (int round = 0; round < 3000; round++) {
    start();
    for (uint32_t k = 1 + chance(8); k > 0; k--) w.mem[112 + chance((uint32_t)size - 112)] = (unsigned char)chance(256);
    if (rlcore_vecenv_attach(w.mem, size, &w.env, &w.vecenv) != RLCORE_OK) continue;
    accepted++;
    for (int i = 0; i < N; i++) w.action[i] = (int32_t)chance(2);
    CHECK(known(rlcore_vecenv_step(w.vecenv, &w.env, w.action, &w.out)));
    CHECK(known(rlcore_vecenv_render(w.vecenv, &w.env, 0, 16, 12, w.rgb)));
    CHECK(known(rlcore_vecenv_lives(w.vecenv, &w.env, w.lives)));
    CHECK(known(rlcore_vecenv_action_mask(w.vecenv, &w.env, w.mask[0])));
    CHECK(known(rlcore_vecenv_reset(w.vecenv, &w.env, &w.seed, w.obs)));
  }
  CHECK(accepted > 100);
}

/* Two threads on two ranges do what one thread does on the whole, and a copy of the block is a copy of the environments. */
static void *step_often(void *range) {
  const uint32_t *r = range;
  for (int k = 0; k < 2000; k++) FINE(rlcore_vecenv_step_range(w.vecenv, &w.env, r[0], r[1], w.action, &w.out));
  return NULL;
}

static void check_ranges(void) {
  start();
  static unsigned char copy[BLOCK];
  static uint32_t low[2] = {0, 2}, high[2] = {2, 3};
  float obs[N][OBS];
  pthread_t thread;
  memcpy(copy, w.mem, sizeof copy);
  for (int k = 0; k < 2000; k++) FINE(rlcore_vecenv_step(w.vecenv, &w.env, w.action, &w.out));
  memcpy(obs, w.obs, sizeof obs);
  memcpy(w.other, copy, sizeof copy);
  FINE(rlcore_vecenv_attach(w.other, sizeof w.other, &w.env, &w.vecenv));
  CHECK(pthread_create(&thread, NULL, step_often, high) == 0);
  step_often(low);
  pthread_join(thread, NULL);
  CHECK(memcmp(w.mem, w.other, sizeof w.mem) == 0 && memcmp(obs, w.obs, sizeof obs) == 0);
}

/* ---- Kernels ---- */

static void attack_gae(void) {
  start();
  rlcore_rollout *r = &w.rollout;
  *r = (rlcore_rollout){sizeof *r, T, N, 0, w.rewards, w.values, w.last, w.ends, w.cuts, w.finals};
  for (int i = 0; i < T * N; i++) w.rewards[i] = (float)i, w.values[i] = 1;
  w.cuts[4] = 1;
  float discount = 0.99f, lambda = 0.95f, *advantage = w.advantage, *target = w.target;
#define GAE rlcore_gae(r, discount, lambda, advantage, target)
  FINE(GAE);
  WITH(r->struct_size, 56, RLCORE_E_CONFIG, "at least 64, given 56", GAE);
  WITH(r->accumulate, 2, RLCORE_E_CONFIG, "rollout: accumulate: one of rlcore_accumulate, given 2", GAE);
  WITH(r->accumulate, UINT32_MAX, RLCORE_E_CONFIG, "accumulate", GAE);
  WITH(r->num_steps, 0, RLCORE_E_SHAPE, "num_steps of at least 1", GAE);
  WITH(r->num_envs, 0, RLCORE_E_SHAPE, "num_envs of at least 1", GAE);
  r->num_envs = UINT32_MAX;
  WITH(r->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "rollout", GAE);
  r->num_envs = N;
  WITH(r->final_value, NULL, NULLED, "final_value is NULL, but a step is truncated", GAE);
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    COMPUTED(w.rewards[T * N - 1], bad[i], "a finite reward", GAE);
    COMPUTED(w.values[0], bad[i], "a finite value", GAE);
    COMPUTED(w.last[N - 1], bad[i], "a finite bootstrap_value", GAE);
    COMPUTED(w.finals[4], bad[i], "a finite final_value", GAE);
  }
  WITH(discount, 1.1f, RLCORE_E_RANGE, "discount from 0 to 1, given 1.1", GAE);
  WITH(lambda, -0.25f, RLCORE_E_RANGE, "lambda from 0 to 1, given -0.25", GAE);
  w.finals[5] = NAN; /* never read */
  FINE(GAE);
  r->accumulate = RLCORE_ACCUMULATE_F64;
  FINE(GAE);
  r->accumulate = RLCORE_ACCUMULATE_F32;

  /* Two ranges are the whole, whichever comes first, and each reads and writes its columns only. */
  float whole[2][T * N];
  FINE(GAE);
  memcpy(whole[0], advantage, sizeof whole[0]), memcpy(whole[1], target, sizeof whole[1]);
  memset(advantage, 0, sizeof whole[0]), memset(target, 0, sizeof whole[1]);
  uint32_t begin = 1, end = N;
#define GAE_RANGE rlcore_gae_range(r, discount, lambda, begin, end, advantage, target)
  FINE(GAE_RANGE);
  for (int i = 0; i < T * N; i++) CHECK(advantage[i] == (i % N == 0 ? 0 : whole[0][i]) && target[i] == (i % N == 0 ? 0 : whole[1][i]));
  begin = 0, end = 1;
  w.rewards[1] = NAN;
  FINE(GAE_RANGE);
  w.rewards[1] = 1;
  CHECK(memcmp(whole[0], advantage, sizeof whole[0]) == 0 && memcmp(whole[1], target, sizeof whole[1]) == 0);
  begin = end = N;
  FINE(GAE_RANGE);
  begin = 0;
  WITH(end, N + 1, RLCORE_E_RANGE, "begin <= end <= num_envs", GAE_RANGE);
  WITH(end, UINT32_MAX, RLCORE_E_RANGE, "begin <= end <= num_envs", GAE_RANGE);
  end = 1;
  WITH(begin, 2, RLCORE_E_RANGE, "begin <= end <= num_envs", GAE_RANGE);
  WITH(begin, UINT32_MAX, RLCORE_E_RANGE, "begin <= end <= num_envs", GAE_RANGE);
  COMPUTED(w.rewards[N], NAN, "a finite reward", GAE_RANGE);
  WITH(discount, 2.0f, RLCORE_E_RANGE, "discount", GAE_RANGE);
}

/* ---- Learners ---- */

/* A learner for N environments of this kind, before its first act. */
static void start_learner(uint32_t env_id) {
  start();
  FINE(rlcore_env_builtin(env_id, &w.env, sizeof w.env));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, &w.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, &w.env, NULL, w.obs));
  FINE(rlcore_learner_config_init(&w.settings, sizeof w.settings, RLCORE_ALGORITHM_PPO));
  w.settings.num_envs = N;
  w.settings.num_steps = T;
  w.settings.num_minibatches = 2;
  w.settings.num_epochs = 2;
  w.settings.hidden_len[0] = w.settings.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  w.stats.struct_size = sizeof w.stats;
}

static void *actions(void) { return w.env.action.kind == RLCORE_I32 ? (void *)w.action : (void *)w.force; }

/* Acts, steps and observes until `learn` is due. */
static void roll(void) {
  for (int t = 0; t < T; t++) {
    FINE(rlcore_learner_act(w.agent, NULL, w.obs, NULL, actions()));
    FINE(rlcore_vecenv_step(w.vecenv, &w.env, actions(), &w.out));
    FINE(rlcore_learner_observe(w.agent, NULL, w.reward, w.terminated, w.truncated, w.final_obs));
  }
}

static uint32_t due(void) {
  uint32_t phase = 9;
  FINE(rlcore_learner_phase(w.agent, &phase));
  return phase;
}

static void attack_learner_config(void) {
  start_learner(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config *c = &w.settings;
  const rlcore_space *obs = &w.env.obs, *action = &w.env.action;
  rlcore_learner **out = &w.agent;
  size_t size = 0;
  FINE(rlcore_learner_size(c, obs, action, &size));

  REFUSED(RLCORE_E_SIZE, "at least 64, given 56", rlcore_learner_config_init(c, 56, RLCORE_ALGORITHM_PPO));
  REFUSED(RLCORE_E_SIZE, "given 175", rlcore_learner_config_init(c, 175, RLCORE_ALGORITHM_PPO));
  REFUSED(RLCORE_E_SIZE, "learner config", rlcore_learner_config_init(c, SIZE_MAX, RLCORE_ALGORITHM_PPO));
  union { rlcore_learner_config config; unsigned char bytes[192]; } u;
  memset(&u, 0xee, sizeof u);
  FINE(rlcore_learner_config_init(&u.config, 64, RLCORE_ALGORITHM_PPO));
  CHECK(u.config.struct_size == 64 && u.config.num_epochs == 4 && u.bytes[64] == 0xee);
  FINE(rlcore_learner_size(&u.config, obs, action, &size));
  memset(&u, 0xee, sizeof u);
  FINE(rlcore_learner_config_init(&u.config, 184, RLCORE_ALGORITHM_PPO));
  CHECK(u.config.struct_size == 184 && u.bytes[176] == 0 && u.bytes[183] == 0 && u.bytes[184] == 0xee);
  FINE(rlcore_learner_size(&u.config, obs, action, &size));
  u.bytes[176] = 1;
  REFUSED(RLCORE_E_CONFIG, "zeros from byte 176, given 184", rlcore_learner_size(&u.config, obs, action, &w.size));

  FINE(rlcore_learner_size(c, obs, action, &size));
#undef ASK
#undef MAKE
#undef BOTH
#define ASK rlcore_learner_size(c, obs, action, &w.size)
#define MAKE rlcore_learner_init(w.learner, sizeof w.learner, c, obs, action, out)
#define BOTH(field, bad, status, words) WITH(field, bad, status, words, ASK); WITH(field, bad, status, words, MAKE)
  BOTH(w.env.obs.kind, 4, RLCORE_E_CONFIG, "obs: kind");
  BOTH(w.env.obs.kind, RLCORE_STRUCT, RLCORE_E_CONFIG, "Flatten makes numbers of a structure's parts");
  BOTH(w.env.obs.len, 0, RLCORE_E_CONFIG, "obs: len");
  BOTH(w.env.obs.len, UINT32_MAX, RLCORE_E_CONFIG, "obs: len");
  BOTH(w.env.action.kind, RLCORE_U8, RLCORE_E_CONFIG, "action space");
  BOTH(w.env.action.n, NULL, NULLED, "action.n");
  w.n[0] = 0;
  BOTH(w.env.action.n, w.n, RLCORE_E_CONFIG, "action space: choices of at least 1, given 0");
  w.n[0] = UINT32_MAX;
  BOTH(w.env.action.n, w.n, RLCORE_E_OVERFLOW, "action space: choices that fit 31 bits");
  w.n[0] = INT32_MAX;
  WITH(w.env.action.n, w.n, RLCORE_E_SIZE, "block: at least", MAKE);
  BOTH(c->accumulate, 2, RLCORE_E_CONFIG, "learner config: accumulate: one of rlcore_accumulate, given 2");

  BOTH(c->num_envs, 0, RLCORE_E_CONFIG, "num_envs of at least 1, given 0");
  BOTH(c->num_steps, 0, RLCORE_E_CONFIG, "num_steps of at least 1, given 0");
  BOTH(c->num_minibatches, 0, RLCORE_E_CONFIG, "num_minibatches of at least 1, given 0");
  BOTH(c->num_epochs, 0, RLCORE_E_CONFIG, "num_epochs of at least 1, given 0");
  BOTH(c->num_envs, UINT32_MAX, RLCORE_E_OVERFLOW, "num_envs * num_steps");
  BOTH(c->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "num_envs * num_steps");
  BOTH(c->num_minibatches, UINT32_MAX, RLCORE_E_OVERFLOW, "num_epochs * num_minibatches");
  BOTH(c->num_epochs, UINT32_MAX, RLCORE_E_CONFIG, "num_epochs of at most 1000");
  BOTH(c->num_chunks, 0, RLCORE_E_CONFIG, "num_chunks of at least 1, given 0");
  BOTH(c->num_chunks, UINT32_MAX, RLCORE_E_CONFIG, "num_chunks of at most the rows of a minibatch");
  BOTH(c->num_shared, 3, RLCORE_E_CONFIG, "learner config: num_shared of at most num_hidden, 2, given 3");
  BOTH(c->num_minibatches, 5, RLCORE_E_CONFIG, "divides num_envs * num_steps = 12, given 5");
  BOTH(c->num_hidden, 5, RLCORE_E_CONFIG, "num_hidden of at most 4, given 5");
  BOTH(c->num_hidden, UINT32_MAX, RLCORE_E_CONFIG, "num_hidden");
  BOTH(c->num_hidden, 0, RLCORE_E_CONFIG, "hidden_len");
  for (int i = 0; i < 2; i++) { BOTH(c->hidden_len[i], 0, RLCORE_E_CONFIG, "hidden_len above 0 for num_hidden layers"); }
  for (int i = 2; i < 4; i++) { BOTH(c->hidden_len[i], 1, RLCORE_E_CONFIG, "hidden_len above 0 for num_hidden layers"); }
  WITH(c->hidden_len[0], UINT32_MAX, RLCORE_E_SIZE, "block: at least", MAKE);
#define FLAG(of, field) BOTH(c->field, 2, RLCORE_E_CONFIG, of ": " #field); BOTH(c->field, UINT32_MAX, RLCORE_E_CONFIG, of ": " #field)
  FLAG("policy", activation);
  FLAG("learner config", normalize_advantage);
  FLAG("policy", normalize_obs);
  FLAG("learner config", normalize_reward);
  FLAG("policy", squash);
  FLAG("learner config", use_action_mask);
  BOTH(c->squash, 1, RLCORE_E_CONFIG, "squash of 0 with discrete actions");
#define REAL(field, low, high) \
  BOTH(c->field, NAN, RLCORE_E_CONFIG, "learner config: " #field); \
  BOTH(c->field, INFINITY, RLCORE_E_CONFIG, "learner config: " #field); \
  BOTH(c->field, -INFINITY, RLCORE_E_CONFIG, "learner config: " #field); \
  if (low > -FLT_MAX) { BOTH(c->field, low, RLCORE_E_CONFIG, "learner config: " #field); } \
  if (high < FLT_MAX) { BOTH(c->field, high, RLCORE_E_CONFIG, "learner config: " #field); }
  REAL(learning_rate, -1e-9f, 1.1f);
  REAL(learning_rate_end, -1e-9f, 1.1f);
  REAL(clip, 0.0f, 11.0f);
  REAL(clip_end, -1e-9f, 11.0f);
  REAL(discount, -1e-9f, 1.1f);
  REAL(gae_lambda, -1e-9f, 1.1f);
  REAL(value_coef, -1e-9f, FLT_MAX);
  REAL(entropy_coef, -FLT_MAX, FLT_MAX);
  REAL(value_clip, -1e-9f, FLT_MAX);
  REAL(max_grad_norm, -1e-9f, FLT_MAX);
  REAL(target_kl, -1e-9f, FLT_MAX);
  REAL(adam_beta1, -1e-9f, 1.0f);
  REAL(adam_beta2, 0.8f, 1.0f);
  REAL(adam_epsilon, 0.9e-12f, 1.1f);
  REAL(log_std_init, -20.1f, 2.1f);
  REAL(log_std_min, -40.1f, 40.1f);
  REAL(log_std_max, -20.1f, 40.1f);
  REAL(obs_clip, 0.0f, FLT_MAX);
  REAL(reward_clip, 0.0f, FLT_MAX);

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_learner_init(w.learner, size - 1, c, obs, action, out));
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_learner_init(w.learner, 0, c, obs, action, out));
  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_learner_attach(w.learner, size - 1, out));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_learner_attach(w.learner, 39, out));
  REFUSED(RLCORE_E_IMAGE, "an image of kind 2, given 1", rlcore_learner_attach(w.mem, sizeof w.mem, out));
  FINE(rlcore_learner_attach(w.learner, size, out));

  c->use_action_mask = 1;
  const rlcore_space real = {RLCORE_F32, 1, w.values, w.rewards, NULL};
  action = &real;
  REFUSED(RLCORE_E_CONFIG, "use_action_mask of 0 with continuous actions", ASK);
  c->use_action_mask = 0;
  WITH(w.rewards[0], -1.0f, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
  WITH(w.rewards[0], INFINITY, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
  WITH(w.values[0], NAN, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
}

static void attack_learner(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  start_learner(RLCORE_ENV_CARTPOLE);
  rlcore_learner *p = w.agent;

  rlcore_space obs, action;
  FINE(rlcore_learner_spaces(p, &w.number, &obs, &action));
  CHECK(w.number == N && obs.kind == RLCORE_F32 && obs.len == OBS && obs.low == NULL && obs.high == NULL && obs.n == NULL);
  CHECK(action.kind == RLCORE_I32 && action.len == 1 && action.n[0] == 2 && action.low == NULL && action.high == NULL);
  start_learner(RLCORE_ENV_PENDULUM);
  FINE(rlcore_learner_spaces(w.agent, &w.number, &obs, &action));
  CHECK(obs.len == 3 && action.kind == RLCORE_F32 && action.len == 1 && action.n == NULL);
  start_learner(RLCORE_ENV_CARTPOLE);
  p = w.agent;
  REFUSED(RLCORE_E_RANGE, "0 or 1, given 2", rlcore_learner_freeze(p, 2));
  REFUSED(RLCORE_E_RANGE, "0 or 1", rlcore_learner_freeze(p, UINT32_MAX));

#define ACTS(name, args) \
  REFUSED(RLCORE_E_SHAPE, "use_action_mask", name args(p, w.obs, w.mask[0], w.action)); \
  for (int i = 0; i < 3; i++) WITH(w.obs[N - 1][OBS - 1], bad[i], RLCORE_E_VALUE, "obs", name args(p, w.obs, NULL, w.action))
#define ACT(p, o, m, a) (p, NULL, o, m, a)
#define PREDICT(p, o, m, a) (p, o, m, NULL, a)
  ACTS(rlcore_learner_act, ACT);
  ACTS(rlcore_learner_predict, PREDICT);

#define SAMPLES(status, words) REFUSED(status, words, rlcore_learner_predict(p, w.obs, NULL, &w.sampling, w.action))
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, 1, 1, 0};
  FINE(rlcore_learner_predict(p, w.obs, NULL, &w.sampling, w.action));
  w.sampling.reserved = 1;
  SAMPLES(RLCORE_E_CONFIG, "sampling: reserved: zero, given 1");
  w.sampling = (rlcore_sampling){5, 1, 1, 0};
  SAMPLES(RLCORE_E_CONFIG, "an rlcore_sampling_method, given 5");
  w.sampling.method = UINT32_MAX;
  SAMPLES(RLCORE_E_CONFIG, "an rlcore_sampling_method");
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, 0, 1, 0};
  SAMPLES(RLCORE_E_CONFIG, "k of at least 1, given 0");
  w.sampling.method = RLCORE_SAMPLING_BOTTOMK;
  SAMPLES(RLCORE_E_CONFIG, "k of at least 1, given 0");
  w.sampling.k = UINT32_MAX;
  FINE(rlcore_learner_predict(p, w.obs, NULL, &w.sampling, w.action));
  const float cold[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TEMPERATURE, 1, cold[i], 0};
    SAMPLES(RLCORE_E_CONFIG, "a finite temperature above 0");
  }

  /* Calls that are not due. */
#define UNDUE_OBSERVE(words) REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_observe(p, NULL, w.reward, w.terminated, w.truncated, w.final_obs))
#define UNDUE_ACT(words) REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_act(p, NULL, w.obs, NULL, w.action))
#define UNDUE_LEARN(words) REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_learn(p, w.obs, 0, &w.stats))
  CHECK(due() == RLCORE_LEARNER_ACT);
  UNDUE_OBSERVE("environment 0 has not acted");
  UNDUE_LEARN("the rollout is not complete");
  FINE(rlcore_learner_act(p, NULL, w.obs, NULL, w.action));
  CHECK(due() == RLCORE_LEARNER_OBSERVE);
  UNDUE_ACT("environment 0 has acted and was not observed");
  UNDUE_LEARN("the rollout is not complete");

#define OBSERVE rlcore_learner_observe(p, NULL, w.reward, w.terminated, w.truncated, w.final_obs)
  w.truncated[1] = 1;
  REFUSED(NULLED, "final_obs is NULL; environments truncated and not terminated: ", rlcore_learner_observe(p, NULL, w.reward, w.terminated, w.truncated, NULL));
  for (int i = 0; i < 3; i++) WITH(w.final_obs[1][2], bad[i], RLCORE_E_VALUE, "final_obs", OBSERVE);
  w.final_obs[0][0] = NAN; /* never read */
  FINE(OBSERVE);
  w.final_obs[0][0] = 0;
  start_learner(RLCORE_ENV_CARTPOLE);
  p = w.agent;
  roll();

  CHECK(due() == RLCORE_LEARNER_LEARN);
  UNDUE_ACT("an update is due; call learn first");
  UNDUE_OBSERVE("an update is due; call learn first");
#define LEARN rlcore_learner_learn(p, w.obs, 1, &w.stats)
  WITH(w.stats.struct_size, 24, RLCORE_E_CONFIG, "at least 32, given 24", LEARN);
  REFUSED(NULLED, "obs is NULL in the first call of an update", rlcore_learner_learn(p, NULL, 1, &w.stats));
  for (int i = 0; i < 3; i++) WITH(w.obs[0][1], bad[i], RLCORE_E_VALUE, "obs", LEARN);
  struct { rlcore_learner_stats stats; uint64_t more; } longer = {.stats.struct_size = sizeof longer, .more = 7};
  FINE(rlcore_learner_learn(p, w.obs, 1, &longer.stats));
  CHECK(longer.stats.struct_size == sizeof longer && longer.more == 0 && longer.stats.minibatches_left == 3 && longer.stats.num_steps == T * N);
  longer.stats.struct_size = 32;
  longer.stats.learning_rate = 5;
  FINE(rlcore_learner_learn(p, NULL, 1, &longer.stats));
  CHECK(longer.stats.struct_size == 32 && longer.stats.minibatches_left == 2 && longer.stats.learning_rate == 5);
  FINE(rlcore_learner_learn(p, NULL, UINT32_MAX, &w.stats));
  CHECK(w.stats.minibatches_left == 0 && due() == RLCORE_LEARNER_ACT && w.stats.num_updates == 1);

  /* With a mask: wanted, and something allowed. */
  start_learner(RLCORE_ENV_CARTPOLE);
  w.settings.use_action_mask = 1;
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  p = w.agent;
  memset(w.mask, 1, sizeof w.mask);
  REFUSED(RLCORE_E_SHAPE, "use_action_mask is 1", rlcore_learner_act(p, NULL, w.obs, NULL, w.action));
  REFUSED(RLCORE_E_SHAPE, "use_action_mask is 1", rlcore_learner_predict(p, w.obs, NULL, NULL, w.action));
  w.mask[2][0] = w.mask[2][1] = 0;
  REFUSED(RLCORE_E_VALUE, "an allowed action", rlcore_learner_act(p, NULL, w.obs, w.mask[0], w.action));
  w.mask[2][1] = 1;
  FINE(rlcore_learner_act(p, NULL, w.obs, w.mask[0], w.action));
  CHECK(w.action[2] == 1);

  /* Continuous actions have no k most probable. */
  start_learner(RLCORE_ENV_PENDULUM);
  p = w.agent;
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, 1, 1, 0};
  REFUSED(RLCORE_E_CONFIG, "for continuous actions", rlcore_learner_predict(p, w.obs, NULL, &w.sampling, w.force));
  roll();
  FINE(rlcore_learner_learn(p, w.obs, 0, &w.stats));
}

/* Agents that come and go, and an update whose chunks are made by the caller: the same as one that is made at home. */
static void attack_learner_parts(void) {
  static _Alignas(64) unsigned char other[LEARNER], scratch[LEARNER];
  static float grads[2 * LEARNER / 4], params[LEARNER / 4];
  uint8_t active[N] = {1, 0, 1}, acted[N];
  start_learner(RLCORE_ENV_CARTPOLE);
  rlcore_learner *p = w.agent, *q;
  size_t size, len, mask_len, grads_len, scratch_size;
  w.stats.struct_size = sizeof w.stats;

  /* Absent rows are neither read nor written. */
  w.obs[1][0] = NAN;
  w.action[1] = 77;
  FINE(rlcore_learner_act_range(p, 0, N, active, w.obs, NULL, w.action));
  CHECK(w.action[1] == 77);
  REFUSED(RLCORE_E_NOT_READY, "environment 0 has acted", rlcore_learner_act(p, active, w.obs, NULL, w.action));
  REFUSED(RLCORE_E_RANGE, "with end at most 3, given 4", rlcore_learner_act_range(p, 1, N + 1, NULL, w.obs, NULL, w.action));
  REFUSED(RLCORE_E_RANGE, "environments [begin, end)", rlcore_learner_act_range(p, 2, 1, NULL, w.obs, NULL, w.action));
  FINE(rlcore_learner_acted(p, acted));
  CHECK(memcmp(acted, active, N) == 0);
  REFUSED(RLCORE_E_NOT_READY, "environment 1 has not acted", rlcore_learner_observe(p, NULL, w.reward, w.terminated, w.truncated, NULL));
  w.reward[1] = NAN;
  FINE(rlcore_learner_observe(p, active, w.reward, w.terminated, w.truncated, NULL));
  w.reward[1] = w.obs[1][0] = 0;
  FINE(rlcore_learner_act(p, NULL, w.obs, NULL, w.action));
  active[0] = 0, active[1] = 1;
  FINE(rlcore_learner_cut(p, active));
  FINE(rlcore_learner_acted(p, acted));
  CHECK(acted[0] == 1 && acted[1] == 0 && acted[2] == 0);

  /* Looking. */
  float value[N], log_prob[N], entropy[N];
  FINE(rlcore_learner_value(p, w.obs, value));
  FINE(rlcore_learner_log_prob(p, w.obs, NULL, w.action, log_prob, entropy));
  for (int i = 0; i < N; i++) CHECK(isfinite(value[i]) && log_prob[i] < 0 && entropy[i] > 0);
  WITH(w.action[1], 2, RLCORE_E_VALUE, "choices that are there", rlcore_learner_log_prob(p, w.obs, NULL, w.action, log_prob, entropy));
  WITH(w.obs[2][1], NAN, RLCORE_E_VALUE, "a finite obs", rlcore_learner_value(p, w.obs, value));
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_begin(p, w.obs, &w.stats));
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_drop(p));

  /* One update at home, one in chunks; the second rollout of the copy comes from the first learner. */
  start();
  FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, &w.env, sizeof w.env));
  FINE(rlcore_learner_config_init(&w.settings, sizeof w.settings, RLCORE_ALGORITHM_PPO));
  w.settings.num_envs = N, w.settings.num_steps = T, w.settings.num_minibatches = 2, w.settings.num_chunks = 2;
  w.settings.num_hidden = 1, w.settings.hidden_len[0] = 8, w.settings.hidden_len[1] = 0;
  w.stats.struct_size = sizeof w.stats;
  FINE(rlcore_learner_size(&w.settings, &w.env.obs, &w.env.action, &size));
  CHECK(size <= LEARNER);
  FINE(rlcore_learner_init(w.learner, size, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  p = w.agent;
  roll();
  memcpy(other, w.learner, size);
  FINE(rlcore_learner_attach(other, size, &q));
  FINE(rlcore_learner_params_len(p, &len));
  FINE(rlcore_learner_grads_len(p, &grads_len));
  FINE(rlcore_learner_scratch_size(p, &scratch_size));
  CHECK(len < LEARNER / 4 && grads_len == len + 8 && scratch_size <= sizeof scratch);
#define RANGE_OF(begin, end) rlcore_learner_learn_range(q, begin, end, scratch, scratch_size, grads)
  REFUSED(RLCORE_E_NOT_READY, "no update is running", RANGE_OF(0, 1));
  FINE(rlcore_learner_learn_begin(q, w.obs, &w.stats));
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_begin(q, w.obs, &w.stats));
  REFUSED(RLCORE_E_RANGE, "end <= num_chunks = 2, given 3", RANGE_OF(0, 3));
  REFUSED(RLCORE_E_SIZE, "scratch bytes, at least", rlcore_learner_learn_range(q, 0, 1, scratch, scratch_size - 1, grads));
  while (w.stats.minibatches_left) {
    REFUSED(RLCORE_E_NOT_READY, "the gradients of some chunks are missing", rlcore_learner_learn_apply(q, &w.stats));
    FINE(rlcore_learner_learn_range(q, 1, 2, scratch, scratch_size, grads + grads_len));
    FINE(rlcore_learner_grads_add(q, 1, 2, grads + grads_len));
    REFUSED(RLCORE_E_NOT_READY, "the gradients of some chunks are missing", rlcore_learner_grads_read(q, 0, 2, grads));
    FINE(RANGE_OF(0, 1));
    WITH(grads[3], NAN, RLCORE_E_VALUE, "finite gradients", rlcore_learner_grads_write(q, 0, 1, grads));
    FINE(rlcore_learner_grads_write(q, 0, 1, grads));
    FINE(rlcore_learner_grads_read(q, 1, 2, params));
    CHECK(memcmp(params, grads + grads_len, grads_len * sizeof *grads) == 0);
    FINE(rlcore_learner_learn_apply(q, &w.stats));
  }
  FINE(rlcore_learner_learn(p, w.obs, 0, &w.stats));
  FINE(rlcore_learner_params_read(p, params));
  FINE(rlcore_learner_params_read(q, grads));
  CHECK(memcmp(params, grads, len * sizeof *params) == 0);
  WITH(params[0], 2e6f, RLCORE_E_VALUE, "parameters from -1e6 to 1e6", rlcore_learner_params_write(q, params));
  FINE(rlcore_learner_params_write(q, params));

  /* Handed out and in. */
  float obs[T * N * OBS], probs[T * N], values[T * N], advantage[T * N], target[T * N];
  int32_t actions[T * N];
#define READ_BATCH(p, mask) rlcore_learner_batch_read(p, obs, actions, mask, probs, values, advantage, target)
#define LEARN_BATCH(p, mask) rlcore_learner_learn_batch(p, obs, actions, mask, probs, values, advantage, target, &w.stats)
  FINE(rlcore_learner_batch_len(q, &len, &mask_len));
  CHECK(len == T * N && mask_len == 0);
  REFUSED(RLCORE_E_OVERLAP, "out_len", rlcore_learner_batch_len(q, &len, &len));
  FINE(rlcore_learner_params_len(p, &len));
  REFUSED(RLCORE_E_NOT_READY, "no update is running", READ_BATCH(p, NULL));
  roll();
  FINE(rlcore_learner_learn_begin(p, w.obs, &w.stats));
  REFUSED(RLCORE_E_SHAPE, "mask flags", READ_BATCH(p, w.mask[0]));
  FINE(READ_BATCH(p, NULL));
  REFUSED(RLCORE_E_NOT_READY, "has already recorded steps", LEARN_BATCH(p, NULL));
  WITH(actions[5], 2, RLCORE_E_VALUE, "choices that are there", LEARN_BATCH(q, NULL));
  WITH(target[5], NAN, RLCORE_E_VALUE, "finite numbers", LEARN_BATCH(q, NULL));
  FINE(LEARN_BATCH(q, NULL));
  FINE(rlcore_learner_learn(q, NULL, 0, &w.stats));
  FINE(rlcore_learner_learn(p, NULL, 0, &w.stats));
  FINE(rlcore_learner_params_read(p, params));
  FINE(rlcore_learner_params_read(q, grads));
  CHECK(memcmp(params, grads, len * sizeof *params) == 0);
  roll();
  FINE(rlcore_learner_learn_drop(p));
  CHECK(due() == RLCORE_LEARNER_ACT);
}

/* ---- Policies ---- */

/* Rewards whose squares overflow: the updates are over and counted, and the learner goes on. */
static void overflow_learner(void) {
  start_learner(RLCORE_ENV_CARTPOLE);
  for (int k = 0; k < 3; k++) {
    for (int t = 0; t < T; t++) {
      FINE(rlcore_learner_act(w.agent, NULL, w.obs, NULL, w.action));
      for (int i = 0; i < N; i++) w.reward[i] = 1e38f;
      FINE(rlcore_learner_observe(w.agent, NULL, w.reward, w.terminated, w.truncated, NULL));
    }
    char why[256];
    CHECK(rlcore_learner_learn(w.agent, w.obs, 0, &w.stats) == RLCORE_E_VALUE);
    rlcore_last_error(why, sizeof why);
    CHECK(strstr(why, "the update was dropped, act is due") != NULL && due() == RLCORE_LEARNER_ACT);
    FINE(rlcore_learner_attach(w.learner, sizeof w.learner, &w.agent));
  }
  roll();
  FINE(rlcore_learner_learn(w.agent, w.obs, 0, &w.stats));
  CHECK(w.stats.num_dropped == 3 && w.stats.num_updates == 1 && isfinite(w.stats.policy_loss));
}

static void attack_policy(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  start_learner(RLCORE_ENV_CARTPOLE);
  rlcore_learner *p = w.agent;
  size_t size = 0, len = 0;
  FINE(rlcore_policy_size(p, &size));
  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_policy_export(p, w.brain, size - 1, &w.policy));
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_policy_export(p, w.brain, 0, &w.policy));
  FINE(rlcore_policy_export(p, w.brain, size, &w.policy));

  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_policy_attach(w.brain, size - 1, &w.attached));
  REFUSED(RLCORE_E_IMAGE, "an image of kind 3, given 2", rlcore_policy_attach(w.learner, sizeof w.learner, &w.attached));
  FINE(rlcore_policy_attach(w.brain, size, &w.attached));

  const rlcore_policy *b = w.attached;
  FINE(rlcore_policy_scratch_len(b, N, &len));
  CHECK(len <= sizeof w.scratch / sizeof *w.scratch);
  uint32_t rows = N;
  const uint8_t *mask = NULL;
  const void *obs = w.obs;
  const rlcore_sampling *sampling = &w.sampling;
  rlcore_rng *rng = &w.rng;
  float *scratch = w.scratch;
  void *action = w.action;
#define USE rlcore_policy_act(b, rows, obs, mask, sampling, rng, scratch, len, action)
  FINE(USE);
  WITH(w.sampling.method, 5, RLCORE_E_CONFIG, "an rlcore_sampling_method", USE);
  WITH(w.sampling.reserved, 5, RLCORE_E_CONFIG, "reserved", USE);
  WITH(w.rng.has_half, 7, RLCORE_E_IMAGE, "rng", USE);
  WITH(len, len - 1, RLCORE_E_SIZE, "scratch numbers, at least", USE);
  WITH(len, 0, RLCORE_E_SIZE, "scratch", USE);
  for (int i = 0; i < 3; i++) WITH(w.obs[2][3], bad[i], RLCORE_E_VALUE, "obs", USE);
  w.mask[0][0] = w.mask[0][1] = w.mask[1][0] = 1;
  WITH(mask, w.mask[0], RLCORE_E_VALUE, "an allowed action", USE);
  w.mask[2][1] = 1;
  mask = w.mask[0];
  FINE(USE);
  CHECK(w.action[1] == 0 && w.action[2] == 1);
  mask = NULL;
  sampling = NULL;
  FINE(USE);
  w.sampling.method = RLCORE_SAMPLING_GREEDY;
  sampling = &w.sampling;
  rng = NULL;
  FINE(USE);

  int32_t drawn[N];
  memcpy(drawn, w.action, sizeof drawn);
  memset(w.action, 0, sizeof drawn);
#undef USE
#define USE rlcore_policy_act_greedy(b, rows, obs, mask, scratch, len, action)
  FINE(USE);
  CHECK(memcmp(drawn, w.action, sizeof drawn) == 0);
  WITH(len, len - 1, RLCORE_E_SIZE, "scratch numbers, at least", USE);
  WITH(len, 0, RLCORE_E_SIZE, "scratch", USE);
  for (int i = 0; i < 3; i++) WITH(w.obs[2][3], bad[i], RLCORE_E_VALUE, "obs", USE);
  memset(w.mask, 0, sizeof w.mask);
  w.mask[0][0] = w.mask[0][1] = w.mask[1][0] = 1;
  WITH(mask, w.mask[0], RLCORE_E_VALUE, "an allowed action", USE);
  w.mask[2][1] = 1;
  mask = w.mask[0];
  FINE(USE);
  CHECK(w.action[1] == 0 && w.action[2] == 1);
}

/* ---- Images of learners and policies ---- */

/* A sealed block has no byte that may differ; of others the seal is zeros and what lies behind it is nobody's. */
static void flip(unsigned char *mem, size_t size, int policy, int sealed) {
  uint32_t config_size;
  memcpy(&config_size, mem + 20, 4);
  const size_t head = 64 + config_size;
  for (size_t at = 0; at < (sealed ? size : head); at += at < head ? 1 : 61) {
    if (!sealed && at >= 40 && at < 64) continue;
    for (int bit = 0; bit < 9; bit++) {
      const unsigned char keep = mem[at];
      mem[at] ^= (unsigned char)(bit == 8 ? 0xff : 1 << bit);
      look();
      const int32_t got = policy ? rlcore_policy_attach(mem, size, &w.attached) : rlcore_learner_attach(mem, size, &w.agent);
      judge(__LINE__, "a flipped image", got == RLCORE_E_SIZE && at >= 24 && at < 32 ? RLCORE_E_SIZE : RLCORE_E_IMAGE, got, "block: ");
      mem[at] = keep;
    }
  }
}

static void attack_learner_image(uint32_t env_id) {
  size_t size = 0, brain_size = 0, len = 0;
  start_learner(env_id);
  FINE(rlcore_learner_size(&w.settings, &w.env.obs, &w.env.action, &size));
  FINE(rlcore_policy_size(w.agent, &brain_size));
  FINE(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy));
  flip(w.learner, size, 0, 0);
  FINE(rlcore_block_seal(w.learner, sizeof w.learner));
  FINE(rlcore_learner_attach(w.learner, size, &w.agent));
  flip(w.learner, size, 0, 1);
  FINE(rlcore_learner_attach(w.learner, size, &w.agent));
  flip(w.brain, brain_size, 1, 1);
  static struct world fresh;
  uint32_t head;
  memcpy(&head, w.learner + 20, 4);
  head += 64;
  roll();
  memcpy(&fresh, &w, sizeof w);
  int accepted = 0;
  for (int round = 0; round < 1500; round++) {
    memcpy(&w, &fresh, sizeof w);
    for (uint32_t k = 1 + chance(8); k > 0; k--) {
      w.learner[head + chance((uint32_t)size - head)] = (unsigned char)chance(256);
      w.brain[head + chance((uint32_t)brain_size - head)] = (unsigned char)chance(256);
    }
    memset(w.brain + 40, 0, 8); /* what is damaged without a seal */
    if (rlcore_policy_attach(w.brain, brain_size, &w.attached) == RLCORE_OK) {
      FINE(rlcore_policy_scratch_len(w.attached, N, &len));
      CHECK(known(rlcore_policy_act(w.attached, N, w.obs, NULL, NULL, &w.rng, w.scratch, len, actions())));
    }
    if (rlcore_learner_attach(w.learner, size, &w.agent) != RLCORE_OK) continue;
    accepted++;
    for (int k = 0; k < 10; k++) {
      uint32_t phase = 9;
      CHECK(known(rlcore_learner_phase(w.agent, &phase)) && phase < 3);
      CHECK(known(rlcore_learner_predict(w.agent, w.obs, NULL, NULL, actions())));
      CHECK(known(rlcore_learner_act(w.agent, NULL, w.obs, NULL, actions())));
      CHECK(known(rlcore_learner_observe(w.agent, NULL, w.reward, w.terminated, w.truncated, w.final_obs)));
      CHECK(known(rlcore_learner_learn(w.agent, w.obs, 2, &w.stats)));
    }
    CHECK(known(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy)));
  }
  CHECK(accepted > 100);
}

static void attack_seal(void) {
  size_t size = 0, brain_size = 0;
  uint32_t phase;
  start_learner(RLCORE_ENV_CARTPOLE);
  FINE(rlcore_learner_size(&w.settings, &w.env.obs, &w.env.action, &size));
  FINE(rlcore_policy_size(w.agent, &brain_size));
  FINE(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy));
  REFUSED(RLCORE_E_SIZE, "block: at least 40 bytes for its header", rlcore_block_seal(w.learner, 0));
  REFUSED(RLCORE_E_SIZE, "block: at least", rlcore_block_seal(w.learner, size - 1));
  REFUSED(RLCORE_E_IMAGE, "image of an rlcore block", rlcore_block_seal(off(w.learner, 8), size));
  REFUSED(RLCORE_E_IMAGE, "a learner or a policy to seal, kind 2 or 3, given 1", rlcore_block_seal(w.mem, sizeof w.mem));
  w.brain[brain_size / 2] ^= 1;
  REFUSED(RLCORE_E_IMAGE, "agree with their seal", rlcore_block_seal(w.brain, brain_size));
  w.brain[brain_size / 2] ^= 1;

  /* A call that may write takes the seal off, whatever it answers: no copy is ever refused for a seal that is old. */
  static unsigned char unsealed[LEARNER];
  memcpy(unsealed, w.learner, size);
  FINE(rlcore_block_seal(w.learner, size));
  CHECK(memcmp(unsealed, w.learner, size) != 0);
  look();
  FINE(rlcore_learner_attach(w.learner, size, &w.agent));
  CHECK(memcmp(before.learner, w.learner, size) == 0);
  FINE(rlcore_learner_phase(w.agent, &phase));
  CHECK(memcmp(before.learner, w.learner, size) == 0);
  FINE(rlcore_block_seal(w.learner, size));
  CHECK(rlcore_learner_learn(w.agent, w.obs, 0, &w.stats) == RLCORE_E_NOT_READY);
  CHECK(memcmp(unsealed, w.learner, size) == 0);
  FINE(rlcore_block_seal(w.learner, size));
  FINE(rlcore_learner_act(w.agent, NULL, w.obs, NULL, w.action));
  FINE(rlcore_learner_attach(w.learner, size, &w.agent));
}

/* Stop, copy the bytes, go on: byte-equal to never having stopped, whatever the slices and the processor's level. */
static void check_resume(void) {
  static unsigned char learner[LEARNER], world[BLOCK];
  start_learner(RLCORE_ENV_CARTPOLE);
  for (int k = 0; k < 3; k++) {
    roll();
    FINE(rlcore_learner_learn(w.agent, w.obs, 0, &w.stats));
  }
  memcpy(learner, w.learner, sizeof learner);
  memcpy(world, w.mem, sizeof world);
  start_learner(RLCORE_ENV_CARTPOLE);
  roll();
  FINE(rlcore_learner_learn(w.agent, w.obs, 1, &w.stats));
  static struct world kept;
  memcpy(&kept, &w, sizeof w);
  memset(w.learner, 0, sizeof w.learner);
  memcpy(&w, &kept, sizeof w);
  FINE(rlcore_learner_attach(w.learner, sizeof w.learner, &w.agent));
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_BASE));
  while (w.stats.minibatches_left > 0) FINE(rlcore_learner_learn(w.agent, NULL, 1, &w.stats));
  for (int k = 0; k < 2; k++) {
    roll();
    do FINE(rlcore_learner_learn(w.agent, w.obs, 3, &w.stats));
    while (w.stats.minibatches_left > 0);
    FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX2));
  }
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX512));
  CHECK(memcmp(learner, w.learner, sizeof learner) == 0);
  CHECK(memcmp(world, w.mem, sizeof world) == 0);
}

/* ---- Bytes and several choices: an image environment of the host, trained ---- */

static int32_t image_reset(void *user, void *state, rlcore_rng *rng, void *obs) {
  uint64_t *steps = state;
  double x;
  (void)user;
  if (rlcore_rng_uniform(rng, 0, 255, &x, 1) != RLCORE_OK) return 1;
  *steps = 0;
  memset(obs, (int)x, 6);
  return 0;
}

static int32_t image_step(void *user, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  uint64_t *steps = state;
  const int32_t *a = action;
  (void)user;
  (void)rng;
  memset(obs, (int)(10 * a[0] + a[1]), 6);
  out->reward = (float)a[1];
  out->terminated = ++*steps == 5;
  out->truncated = *steps == 3 && a[0] == 1;
  return 0;
}

static void check_images(void) {
  start_learner(RLCORE_ENV_CARTPOLE);
  static const uint32_t choices[2] = {2, 3};
  static uint8_t obs[N][6], final_obs[N][6], mask[N][5];
  static int32_t action[N][2];
  w.env = (rlcore_env_def){.struct_size = sizeof w.env, .env_id = 1001, .state_size = 8, .max_episode_steps = 4,
                           .obs = {RLCORE_U8, 6, NULL, NULL, NULL}, .action = {RLCORE_I32, 2, NULL, NULL, choices},
                           .reset = image_reset, .step = image_step};
  const rlcore_vecenv_out out = {sizeof out, 0, obs, w.reward, w.terminated, w.truncated, final_obs, NULL};
  w.settings.use_action_mask = 1;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, &w.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, &w.env, NULL, obs));
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  FINE(rlcore_vecenv_action_mask(w.vecenv, &w.env, mask[0]));
  action[1][1] = 3;
  REFUSED(RLCORE_E_RANGE, "a choice from 0 to below 3, given 3", rlcore_vecenv_step(w.vecenv, &w.env, action, &out));
  action[1][1] = 0;
  action[2][0] = 2;
  REFUSED(RLCORE_E_RANGE, "a choice from 0 to below 2, given 2", rlcore_vecenv_step_range(w.vecenv, &w.env, 1, 3, action, &out));
  mask[1][3] = 0;
  for (int update = 0; update < 20; update++) {
    for (int t = 0; t < T; t++) {
      FINE(rlcore_learner_act(w.agent, NULL, obs, mask[0], action));
      CHECK(action[1][1] != 1);
      FINE(rlcore_vecenv_step(w.vecenv, &w.env, action, &out));
      for (int i = 0; i < N; i++) CHECK(w.reward[i] == (float)action[i][1]);
      FINE(rlcore_learner_observe(w.agent, NULL, w.reward, w.terminated, w.truncated, final_obs));
    }
    FINE(rlcore_learner_learn(w.agent, obs, 0, &w.stats));
  }
  CHECK(w.stats.num_updates == 20 && w.stats.num_episodes > 50 && w.stats.length_mean > 2 && w.stats.length_mean <= 4);
  size_t len = 0;
  FINE(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy));
  FINE(rlcore_policy_scratch_len(w.policy, N, &len));
  FINE(rlcore_policy_act(w.policy, N, obs, NULL, NULL, &w.rng, w.scratch, len, action));
}

/* ---- More kernels ---- */

static void attack_sums(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  start();
  const float *x = w.rewards, *value = w.values, *target = w.rewards;
  float *out = w.advantage, discount = 0.5f, *whole = w.rewards;
  uint32_t steps = T, envs = N;
#define SUM rlcore_discounted_sum(x, steps, envs, discount, out)
  FINE(SUM);
  memcpy(w.target, w.rewards, sizeof w.target); /* in place it is the same */
  FINE(rlcore_discounted_sum(w.target, steps, envs, discount, w.target));
  CHECK(memcmp(w.target, w.advantage, sizeof w.target) == 0);
  WITH(steps, 0, RLCORE_E_SHAPE, "num_steps", SUM);
  WITH(envs, 0, RLCORE_E_SHAPE, "num_envs", SUM);
  WITH(out, w.rewards + 1, RLCORE_E_OVERLAP, "out", SUM);
  WITH(out, w.rewards + T * N - 1, RLCORE_E_OVERLAP, "out", SUM);
  WITH(discount, 1.5f, RLCORE_E_RANGE, "discount from 0 to 1, given 1.5", SUM);
  steps = UINT32_MAX;
  WITH(envs, UINT32_MAX, RLCORE_E_OVERFLOW, "discounted_sum", SUM);
  steps = T;
  for (int i = 0; i < 3; i++) {
    COMPUTED(w.rewards[T * N - 1], bad[i], "finite", SUM);
  }

  double *mean = w.means, *var = w.vars, *count = &w.count, *explained = &w.count;
  uint32_t rows = 6, columns = 2;
#define MERGE rlcore_moments_update(x, rows, columns, mean, var, count)
  FINE(MERGE);
  CHECK(w.count == 6);
  WITH(rows, 0, RLCORE_E_SHAPE, "rows and columns of at least 1", MERGE);
  WITH(columns, 0, RLCORE_E_SHAPE, "rows and columns of at least 1", MERGE);
  rows = UINT32_MAX;
  WITH(columns, UINT32_MAX, RLCORE_E_OVERFLOW, "moments", MERGE);
  rows = 6;

  size_t len = T * N;
  double epsilon = 1e-8;
#define SCALE rlcore_standardize(whole, len, epsilon)
  FINE(SCALE);
  WITH(epsilon, -1.0, RLCORE_E_RANGE, "epsilon of at least 0, given -1", SCALE);
  WITH(epsilon, (double)NAN, RLCORE_E_RANGE, "epsilon", SCALE);
#define EXPLAIN rlcore_explained_variance(value, target, len, explained)
  FINE(EXPLAIN);
  WITH(len, SIZE_MAX / 4, RLCORE_E_OVERFLOW, "explained_variance", EXPLAIN);
}

static void attack_categorical(void) {
  start();
  rlcore_logits *b = &w.batch;
  float *out = w.normal;
  int32_t *action = w.choices;
  const int32_t *taken = w.choices;
  const float *uniform = w.draws;
  const rlcore_sampling *sampling = &w.sampling;
  w.n[0] = 3;
  w.n[1] = 1;
  memset(w.allowed, 1, sizeof w.allowed);
  *b = (rlcore_logits){sizeof *b, 5, 2, 0, w.n, w.logits, w.allowed};
#define SOFT rlcore_categorical_log_softmax(b, out)
#define PROB rlcore_categorical_log_prob(b, taken, out)
#define ENTROPY rlcore_categorical_entropy(b, out)
#define DRAW rlcore_categorical_sample(b, sampling, uniform, action)
#undef EACH
#define EACH(field, wrong, status, words) \
  WITH(field, wrong, status, words, SOFT); WITH(field, wrong, status, words, PROB); \
  WITH(field, wrong, status, words, ENTROPY); WITH(field, wrong, status, words, DRAW)
  FINE(SOFT);
  FINE(PROB);
  FINE(ENTROPY);
  FINE(DRAW);
  EACH(b->reserved, 1, RLCORE_E_CONFIG, "reserved");
  EACH(b->num_rows, 0, RLCORE_E_SHAPE, "at least 1");
  EACH(b->num_choices, 0, RLCORE_E_SHAPE, "at least 1");
  EACH(w.n[1], 0, RLCORE_E_RANGE, "n from 1 to 2147483647, given 0");
  EACH(w.allowed[19], 0, RLCORE_E_VALUE, "allow");
  const int32_t wild[] = {3, -1, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) WITH(w.choices[8], wild[i], RLCORE_E_RANGE, "", PROB);
  w.choices[0] = 2;
  WITH(w.allowed[2], 0, RLCORE_E_RANGE, "", PROB);
  const float outside[] = {-0.1f, 1.1f, NAN};
  for (int i = 0; i < 3; i++) WITH(w.draws[9], outside[i], RLCORE_E_VALUE, "uniform from 0 to 1", DRAW);
  WITH(w.sampling.method, 9, RLCORE_E_CONFIG, "an rlcore_sampling_method, given 9", DRAW);
  WITH(w.sampling.method, RLCORE_SAMPLING_TOPK, RLCORE_E_RANGE, "k of at least 1", DRAW);
  WITH(w.sampling.method, RLCORE_SAMPLING_TEMPERATURE, RLCORE_E_RANGE, "temperature above 0", DRAW);
  w.sampling.temperature = NAN;
  WITH(w.sampling.method, RLCORE_SAMPLING_TEMPERATURE, RLCORE_E_VALUE, "finite temperature", DRAW);
  w.sampling.method = RLCORE_SAMPLING_GREEDY;
  uniform = NULL;
  FINE(DRAW);
  b->mask = NULL;
  FINE(DRAW);
}

static void attack_gaussian(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  start();
  rlcore_gaussian *g = &w.gaussian;
  const float *action = w.vectors, *normal = w.draws, *log_std = w.log_std;
  float *out = w.normal;
  *g = (rlcore_gaussian){sizeof *g, 5, 2, 0, w.mean, w.log_std};
#undef PROB
#undef DRAW
#define PROB rlcore_gaussian_log_prob(g, action, out)
#define DRAW rlcore_gaussian_sample(g, normal, out)
#define SPREAD rlcore_gaussian_entropy(log_std, 2, out)
#define SQUASH rlcore_gaussian_squash(action, 10, out)
#define SQUASHED rlcore_gaussian_squash_log_prob(action, 5, 2, out)
  FINE(PROB);
  FINE(DRAW);
  FINE(SPREAD);
  FINE(SQUASH);
  FINE(SQUASHED);
#undef BOTH
#define BOTH(field, wrong, status, words) WITH(field, wrong, status, words, PROB); WITH(field, wrong, status, words, DRAW)
  BOTH(g->reserved, 1, RLCORE_E_CONFIG, "reserved");
  BOTH(g->num_rows, 0, RLCORE_E_SHAPE, "at least 1");
  BOTH(g->action_len, 0, RLCORE_E_SHAPE, "at least 1");
  BOTH(w.log_std[1], 41.0f, RLCORE_E_RANGE, "log_std");
  REFUSED(RLCORE_E_SHAPE, "at least 1", rlcore_gaussian_entropy(w.log_std, 0, out));
  REFUSED(RLCORE_E_OVERFLOW, "action", rlcore_gaussian_squash(w.vectors, SIZE_MAX / 4, out));
  REFUSED(RLCORE_E_SHAPE, "whole rows", rlcore_gaussian_squash_log_prob(w.vectors, 0, 2, out));
  REFUSED(RLCORE_E_SHAPE, "whole rows", rlcore_gaussian_squash_log_prob(w.vectors, 5, 0, out));
  for (int i = 0; i < 3; i++) {
    BOTH(w.log_std[1], bad[i], RLCORE_E_VALUE, "a finite log_std");
    WITH(w.log_std[0], bad[i], RLCORE_E_VALUE, "a finite log_std", SPREAD);
    WITH(w.normal[0], bad[i], RLCORE_E_VALUE, "a finite log_prob", SQUASHED);
    WITH(w.draws[9], bad[i], RLCORE_E_VALUE, "a finite normal draw", DRAW);
  }
}

int main(void) {
  attack_results();
  attack_words();
  check_last_error_is_whole();
  attack_rng();
  attack_env();
  attack_vecenv();
  attack_callbacks();
  attack_vecenv_image();
  check_ranges();
  attack_gae();
  attack_learner_config();
  attack_learner();
  overflow_learner();
  attack_learner_parts();
  attack_policy();
  attack_learner_image(RLCORE_ENV_CARTPOLE);
  attack_learner_image(RLCORE_ENV_PENDULUM);
  attack_seal();
  check_resume();
  check_images();
  attack_sums();
  attack_categorical();
  attack_gaussian();
  return verdict();
}
