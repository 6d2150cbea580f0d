/* Calls every exported function wrongly in every way we know. Each wrong call has to be answered by one exact status, by
   words that say what was needed, and without changing a byte of what the caller owns.

   Everything that calls may touch lies in `w`: a wrong call is surrounded by two looks at all of it. */
#include "rlcore.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, T = 4, OBS = 4, BLOCK = 4096, MANY = 8192 };

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
} w, before;

static int failures, attacks;

/* An address k bytes further, whatever its alignment. */
static void *off(const void *p, size_t k) { return (char *)(size_t)p + k; }

static void look(void) { memcpy(&before, &w, sizeof w); }

static void fail(int line, const char *call, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("attack.c:%d: %s: %s\n  last error: %s\n", line, call, what, why);
  failures++;
}

static void judge(int line, const char *call, int32_t wanted, int32_t got, const char *words) {
  char why[256];
  attacks++;
  if (got != wanted) {
    printf("wanted %s, got %s\n", rlcore_status_name(wanted), rlcore_status_name(got));
    fail(line, call, "another status");
    return;
  }
  rlcore_last_error(why, sizeof why);
  if (strncmp(why, rlcore_status_name(wanted), strlen(rlcore_status_name(wanted))) != 0) fail(line, call, "the last error has another name");
  if (strstr(why, words) == NULL) {
    printf("wanted the words \"%s\"\n", words);
    fail(line, call, "the last error does not say what was needed");
  }
  if (memcmp(&before, &w, sizeof w) != 0) {
    size_t at = 0;
    while (((unsigned char *)&before)[at] == ((unsigned char *)&w)[at]) at++;
    printf("byte %zu of the world changed\n", at);
    fail(line, call, "something was written");
    memcpy(&w, &before, sizeof w);
  }
}

/* The call is refused with this status and these words, and nothing changes. */
#define REFUSED(status, words, call) (look(), judge(__LINE__, #call, status, (call), words))
/* The call succeeds. */
#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call, "refused"))
/* The condition holds. */
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition, "does not hold"))
/* One field has a bad value for the length of a call. */
#define WITH(field, bad, status, words, call) \
  do { \
    char keep_[sizeof(field)]; \
    memcpy(keep_, &(field), sizeof(field)); \
    (field) = (bad); \
    REFUSED(status, words, call); \
    memcpy(&(field), keep_, sizeof(field)); \
  } while (0)
/* The same for the one NULL and the misaligned addresses of a pointer to something that wants a boundary. */
#define POINTER(field, step, words, call) \
  do { \
    WITH(field, NULL, RLCORE_E_NULL, words, call); \
    WITH(field, off(field, 1), RLCORE_E_ALIGN, words, call); \
    WITH(field, off(field, step), RLCORE_E_ALIGN, words, call); \
  } while (0)

#define NULLED RLCORE_E_NULL
#define CROOKED RLCORE_E_ALIGN

/* ---- Layout: what compiled callers rely on ---- */

#define OFFSET(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field)
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
_Static_assert(sizeof(rlcore_env_def) == 128, "");
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
OFFSET(rlcore_rollout, num_steps, 4); OFFSET(rlcore_rollout, num_envs, 8); OFFSET(rlcore_rollout, reserved, 12);
OFFSET(rlcore_rollout, reward, 16); OFFSET(rlcore_rollout, value, 24); OFFSET(rlcore_rollout, bootstrap_value, 32);
OFFSET(rlcore_rollout, terminated, 40); OFFSET(rlcore_rollout, truncated, 48); OFFSET(rlcore_rollout, final_value, 56);
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
                                "RLCORE_E_VALUE", "RLCORE_E_OVERLAP"};
  for (int32_t i = 0; i < 13; i++) CHECK(strcmp(rlcore_status_name(-i), names[i]) == 0 && strlen(rlcore_status_text(-i)) > 5);
  const int32_t strange[] = {1, -13, INT32_MAX, INT32_MIN};
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
  CHECK(strcmp(text, "RLCORE_E_RANGE: cpu_set_limit: level: an rlcore_cpu_level, given 3") == 0);
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_cpu_set_limit(UINT32_MAX));
  for (uint32_t level = 0; level < 3; level++) FINE(rlcore_cpu_set_limit(level));

  REFUSED(NULLED, "hash: bytes", rlcore_hash(NULL, 1, &w.hash));
  REFUSED(NULLED, "hash: out", rlcore_hash("a", 1, NULL));
  REFUSED(CROOKED, "hash: out: start on a multiple of 8, given 1", rlcore_hash("a", 1, off(&w.hash, 1)));
  REFUSED(CROOKED, "given 4", rlcore_hash("a", 1, off(&w.hash, 4)));
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

/* ---- Random streams ---- */

static void attack_rng(void) {
  start();
  rlcore_rng *rng = &w.rng;
  REFUSED(NULLED, "rng", rlcore_rng_seed(NULL, 1));
  REFUSED(CROOKED, "rng: start on a multiple of 8", rlcore_rng_seed(off(rng, 4), 1));
  REFUSED(CROOKED, "rng", rlcore_rng_seed(off(rng, 1), 1));
  REFUSED(NULLED, "rng", rlcore_rng_stream(NULL, 1, 2));
  REFUSED(CROOKED, "rng", rlcore_rng_stream(off(rng, 4), 1, 2));
  REFUSED(CROOKED, "rng", rlcore_rng_stream(off(rng, 1), 1, 2));

#define FILLS(name, type, array, args) \
  REFUSED(NULLED, "rng", name args(NULL, array)); \
  REFUSED(NULLED, "rng: out", name args(rng, NULL)); \
  REFUSED(CROOKED, "rng", name args(off(rng, 4), array)); \
  REFUSED(CROOKED, "rng: out", name args(rng, off(array, 1))); \
  REFUSED(RLCORE_E_OVERLAP, "rng", name args(rng, (type *)(void *)rng)); \
  REFUSED(RLCORE_E_OVERLAP, "rng", name args(rng, (type *)off(rng, 32)))
#define UNIFORM(r, o) (r, 0.0, 1.0, o, 4)
#define INTEGERS(r, o) (r, 0, 9, o, 4)
#define PLAIN(r, o) (r, o, 4)
  FILLS(rlcore_rng_uniform, double, w.reals, UNIFORM);
  FILLS(rlcore_rng_integers, int64_t, w.whole, INTEGERS);
  FILLS(rlcore_rng_normal, float, w.normal, PLAIN);
  FILLS(rlcore_rng_permutation, uint32_t, w.order, PLAIN);

  REFUSED(CROOKED, "given 4", rlcore_rng_uniform(rng, 0, 1, off(w.reals, 4), 1));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, NAN, 1, w.reals, 4));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, 0, INFINITY, w.reals, 4));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, -DBL_MAX, DBL_MAX, w.reals, 4));
  REFUSED(RLCORE_E_OVERFLOW, "given", rlcore_rng_uniform(rng, 0, 1, w.reals, SIZE_MAX));
  REFUSED(RLCORE_E_OVERFLOW, "given", rlcore_rng_uniform(rng, 0, 1, w.reals, SIZE_MAX / 8));
  REFUSED(RLCORE_E_RANGE, "high above low, given 3", rlcore_rng_integers(rng, 3, 3, w.whole, 4));
  REFUSED(RLCORE_E_RANGE, "given -9223372036854775808", rlcore_rng_integers(rng, INT64_MAX, INT64_MIN, w.whole, 4));
  REFUSED(RLCORE_E_OVERFLOW, "address space", rlcore_rng_permutation(rng, w.order, SIZE_MAX / 4));
  FINE(rlcore_rng_integers(rng, INT64_MIN, INT64_MAX, w.whole, MANY));
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 0));
  FINE(rlcore_rng_normal(rng, w.normal, MANY));
  FINE(rlcore_rng_permutation(rng, w.order, MANY));
  WITH(rng->has_half, 2u, RLCORE_E_IMAGE, "a stream that rlcore_rng_seed", rlcore_rng_normal(rng, w.normal, 1));
  WITH(rng->stream[1], UINT64_MAX, RLCORE_E_IMAGE, "a stream that rlcore_rng_seed", rlcore_rng_normal(rng, w.normal, 1));

  rlcore_rng_seed(rng, 42);
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 2));
  CHECK(w.reals[0] == 0.7739560485559633 && w.reals[1] == 0.4388784397520523);
}

/* ---- Environments ---- */

static void attack_env(void) {
  start();
  rlcore_env_def *def = &w.env;
  size_t *size = &w.size;
  REFUSED(NULLED, "env_def", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, NULL, sizeof *def));
  REFUSED(CROOKED, "env_def", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, off(def, 1), sizeof *def));
  REFUSED(CROOKED, "env_def", rlcore_env_builtin(RLCORE_ENV_CARTPOLE, off(def, 4), sizeof *def));
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
    /* A table that was tampered with answers, and its state cannot be reached. */
    def->user = &w;
    CHECK(rlcore_vecenv_step(v, def, w.whole, &out) == RLCORE_E_CALLBACK);
  }

  *def = sinning();
#define ASK rlcore_vecenv_size(def, &w.config, size)
  FINE(ASK);
  WITH(def, NULL, NULLED, "env_def", ASK);
  WITH(def, off(def, 4), CROOKED, "env_def", ASK);
  WITH(def, off(def, 1), CROOKED, "env_def", ASK);
  WITH(def->struct_size, 0, RLCORE_E_CONFIG, "struct_size", ASK);
  WITH(def->struct_size, 96, RLCORE_E_CONFIG, "at least 104, given 96", ASK);
  WITH(def->struct_size, 127, RLCORE_E_CONFIG, "struct_size", ASK);
  WITH(def->struct_size, UINT32_MAX, RLCORE_E_CONFIG, "given 4294967295", ASK);
  WITH(def->reset, NULL, NULLED, "env_def: reset: a function", ASK);
  WITH(def->step, NULL, NULLED, "env_def: step: a function", ASK);
  WITH(def->state_size, UINT32_MAX, RLCORE_E_CONFIG, "multiple of 8", ASK);
  WITH(def->state_size, 4, RLCORE_E_CONFIG, "multiple of 8", ASK);
  WITH(def->obs.kind, RLCORE_I32, NULLED, "obs.n", ASK);
  WITH(def->obs.kind, 3, RLCORE_E_CONFIG, "kind of 0 (f32), 1 (i32) or 2 (u8), given 3", ASK);
  WITH(def->obs.kind, UINT32_MAX, RLCORE_E_CONFIG, "kind", ASK);
  WITH(def->obs.len, 0, RLCORE_E_CONFIG, "obs: len of 1 to 16777216, given 0", ASK);
  WITH(def->obs.len, UINT32_MAX, RLCORE_E_CONFIG, "obs: len", ASK);
  WITH(def->obs.low, off(w.rewards, 1), CROOKED, "obs.low", ASK);
  WITH(def->obs.high, off(w.rewards, 2), CROOKED, "obs.high", ASK);
  WITH(def->action.kind, 3, RLCORE_E_CONFIG, "action: kind", ASK);
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
  CHECK(w.lives[0] == 0 && w.mask[0][0] == 1 && w.mask[2][1] == 1 && w.rgb[0] == 0);
  struct { rlcore_env_def def; uint64_t more[2]; } longer = {sinning(), {0, 0}};
  longer.def.struct_size = sizeof longer;
  FINE(rlcore_vecenv_lives(v, &longer.def, w.lives));
  CHECK(w.lives[2] == 3);
  longer.more[1] = 1;
  REFUSED(RLCORE_E_CONFIG, "a longer one with zeros from byte 128, given 144", rlcore_vecenv_lives(v, &longer.def, w.lives));
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

  REFUSED(NULLED, "vecenv config", rlcore_vecenv_config_init(NULL, sizeof *config));
  REFUSED(CROOKED, "vecenv config", rlcore_vecenv_config_init(off(config, 1), sizeof *config));
  REFUSED(CROOKED, "vecenv config", rlcore_vecenv_config_init(off(config, 4), sizeof *config));
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
  REFUSED(NULLED, "out_size", rlcore_vecenv_size(def, config, NULL));
  REFUSED(CROOKED, "out_size", rlcore_vecenv_size(def, config, off(&w.size, 4)));
  REFUSED(CROOKED, "out_size", rlcore_vecenv_size(def, config, off(&w.size, 1)));
#define BOTH(field, bad, status, words) WITH(field, bad, status, words, ASK); WITH(field, bad, status, words, MAKE)
  BOTH(config, NULL, NULLED, "vecenv config");
  BOTH(config, off(config, 1), CROOKED, "vecenv config");
  BOTH(config, off(config, 4), CROOKED, "vecenv config");
  BOTH(def, NULL, NULLED, "env_def");
  BOTH(def, off(def, 4), CROOKED, "env_def");
  BOTH(config->struct_size, 0, RLCORE_E_CONFIG, "struct_size");
  BOTH(config->struct_size, UINT32_MAX, RLCORE_E_CONFIG, "struct_size");
  BOTH(config->num_envs, 0, RLCORE_E_CONFIG, "num_envs of at least 1");
  BOTH(config->autoreset, 3, RLCORE_E_CONFIG, "autoreset of 0 (same step), 1 (next step) or 2 (disabled), given 3");
  BOTH(config->autoreset, UINT32_MAX, RLCORE_E_CONFIG, "autoreset");
  WITH(config->num_envs, UINT32_MAX, RLCORE_E_SIZE, "bytes, at least", MAKE);
  config->max_episode_steps = UINT32_MAX;
  config->seed = UINT64_MAX;
  FINE(ASK);
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, config, out));
  config->max_episode_steps = 0;
  config->seed = 0;

  REFUSED(NULLED, "mem", rlcore_vecenv_init(NULL, sizeof w.other, def, config, out));
  REFUSED(NULLED, "out", rlcore_vecenv_init(w.other, sizeof w.other, def, config, NULL));
  REFUSED(CROOKED, "out", rlcore_vecenv_init(w.other, sizeof w.other, def, config, off(out, 4)));
  REFUSED(CROOKED, "multiple of 8, given 4", rlcore_vecenv_init(off(w.other, 4), size, def, config, out));
  REFUSED(CROOKED, "multiple of 8, given 1", rlcore_vecenv_init(off(w.other, 1), size, def, config, out));
  REFUSED(RLCORE_E_SIZE, "block: bytes, at least", rlcore_vecenv_init(w.other, size - 1, def, config, out));
  REFUSED(RLCORE_E_SIZE, "given 0", rlcore_vecenv_init(w.other, 0, def, config, out));
  REFUSED(RLCORE_E_OVERFLOW, "mem", rlcore_vecenv_init(w.other, SIZE_MAX, def, config, out));
  REFUSED(RLCORE_E_OVERLAP, "mem", rlcore_vecenv_init(w.other, sizeof w.other, def, config, (rlcore_vecenv **)(void *)(w.other + 64)));

  REFUSED(NULLED, "mem", rlcore_vecenv_attach(NULL, size, def, out));
  REFUSED(NULLED, "env_def", rlcore_vecenv_attach(w.mem, size, NULL, out));
  REFUSED(NULLED, "out", rlcore_vecenv_attach(w.mem, size, def, NULL));
  REFUSED(CROOKED, "env_def", rlcore_vecenv_attach(w.mem, size, off(def, 4), out));
  REFUSED(CROOKED, "out", rlcore_vecenv_attach(w.mem, size, def, off(out, 1)));
  REFUSED(CROOKED, "block", rlcore_vecenv_attach(off(w.mem, 4), size, def, out));
  REFUSED(CROOKED, "block", rlcore_vecenv_attach(off(w.mem, 1), size, def, out));
  REFUSED(RLCORE_E_SIZE, "block: bytes, at least", rlcore_vecenv_attach(w.mem, size - 1, def, out));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_vecenv_attach(w.mem, 8, def, out));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_vecenv_attach(w.mem, 0, def, out));
  REFUSED(RLCORE_E_OVERLAP, "mem", rlcore_vecenv_attach(w.mem, size, def, (rlcore_vecenv **)(void *)(w.mem + size - 8)));
  FINE(rlcore_vecenv_attach(w.mem, size, def, out));

  /* Another environment is not the one the block was made for. */
#define CALLS(status, words) \
  REFUSED(status, words, rlcore_vecenv_attach(w.mem, size, def, out)); \
  HANDLES(status, words)
#define HANDLES(status, words) \
  REFUSED(status, words, rlcore_vecenv_reset(v, def, NULL, w.obs)); \
  REFUSED(status, words, rlcore_vecenv_reset_one(v, def, 0, NULL, w.obs)); \
  REFUSED(status, words, rlcore_vecenv_step(v, def, w.action, &w.out)); \
  REFUSED(status, words, rlcore_vecenv_step_range(v, def, 0, 1, w.action, &w.out)); \
  REFUSED(status, words, rlcore_vecenv_render(v, def, 0, 2, 2, w.rgb)); \
  REFUSED(status, words, rlcore_vecenv_lives(v, def, w.lives)); \
  REFUSED(status, words, rlcore_vecenv_action_mask(v, def, w.mask[0]))
  def->env_id++;
  CALLS(RLCORE_E_CONFIG, "env_id 1, given 2");
  def->env_id--;
  def->state_size += 8;
  CALLS(RLCORE_E_CONFIG, "state_size");
  def->state_size -= 8;
  def->reset = NULL;
  CALLS(NULLED, "env_def: reset");
  FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, def, sizeof *def));
  def = NULL;
  HANDLES(NULLED, "env_def");
  def = &w.env;
  v = NULL;
  HANDLES(NULLED, "vecenv");
  v = off(w.vecenv, 4);
  HANDLES(CROOKED, "block");
  v = off(w.vecenv, 1);
  HANDLES(CROOKED, "block");
  v = (rlcore_vecenv *)(void *)&w.reals; /* never initialised */
  HANDLES(RLCORE_E_IMAGE, "begin as an rlcore image does");
  v = w.vecenv;

  /* Arrays: present, aligned, apart from everything else. */
#define STEP rlcore_vecenv_step(v, def, w.action, &w.out)
#define RANGE rlcore_vecenv_step_range(v, def, 1, 2, w.action, &w.out)
#define EACH(field, bad, status, words) WITH(field, bad, status, words, STEP); WITH(field, bad, status, words, RANGE)
  REFUSED(NULLED, "action", rlcore_vecenv_step(v, def, NULL, &w.out));
  REFUSED(CROOKED, "action", rlcore_vecenv_step(v, def, off(w.action, 1), &w.out));
  REFUSED(CROOKED, "action", rlcore_vecenv_step(v, def, off(w.action, 2), &w.out));
  REFUSED(NULLED, "vecenv out", rlcore_vecenv_step(v, def, w.action, NULL));
  REFUSED(CROOKED, "vecenv out", rlcore_vecenv_step(v, def, w.action, off(&w.out, 4)));
  REFUSED(NULLED, "action", rlcore_vecenv_step_range(v, def, 0, 1, NULL, &w.out));
  REFUSED(CROOKED, "action", rlcore_vecenv_step_range(v, def, 0, 1, off(w.action, 2), &w.out));
  REFUSED(NULLED, "vecenv out", rlcore_vecenv_step_range(v, def, 0, 1, w.action, NULL));
  REFUSED(CROOKED, "vecenv out", rlcore_vecenv_step_range(v, def, 0, 1, w.action, off(&w.out, 1)));
  EACH(w.out.struct_size, 0, RLCORE_E_CONFIG, "struct_size");
  EACH(w.out.struct_size, 40, RLCORE_E_CONFIG, "at least 48, given 40");
  EACH(w.out.struct_size, UINT32_MAX, RLCORE_E_CONFIG, "struct_size");
  EACH(w.out.reserved, 1, RLCORE_E_CONFIG, "reserved: zero, given 1");
  EACH(w.out.obs, NULL, NULLED, "obs");
  EACH(w.out.obs, off(w.obs, 1), CROOKED, "obs");
  EACH(w.out.obs, off(w.obs, 2), CROOKED, "obs");
  EACH(w.out.reward, NULL, NULLED, "reward");
  EACH(w.out.reward, off(w.reward, 1), CROOKED, "reward");
  EACH(w.out.terminated, NULL, NULLED, "terminated");
  EACH(w.out.truncated, NULL, NULLED, "truncated");
  EACH(w.out.final_obs, NULL, NULLED, "final_obs: required by same-step autoreset");
  EACH(w.out.final_obs, off(w.final_obs, 1), CROOKED, "final_obs");
  EACH(w.out.obs, w.final_obs, RLCORE_E_OVERLAP, "obs: an array apart");
  EACH(w.out.obs, off(w.final_obs, 4), RLCORE_E_OVERLAP, "obs: an array apart");
  EACH(w.out.reward, (float *)(void *)w.action, RLCORE_E_OVERLAP, "reward");
  EACH(w.out.reward, w.obs[N - 1], RLCORE_E_OVERLAP, "obs");
  EACH(w.out.truncated, w.terminated, RLCORE_E_OVERLAP, "terminated");
  EACH(w.out.valid, w.terminated + N - 1, RLCORE_E_OVERLAP, "terminated");
  EACH(w.out.valid, w.mem + size - 1, RLCORE_E_OVERLAP, "valid");
  EACH(w.out.final_obs, w.mem, RLCORE_E_OVERLAP, "final_obs");
  WITH(w.env.action.n, (uint32_t *)(void *)w.reward, RLCORE_E_OVERLAP, "reward", STEP);
  REFUSED(NULLED, "obs", rlcore_vecenv_reset(v, def, NULL, NULL));
  REFUSED(CROOKED, "obs", rlcore_vecenv_reset(v, def, NULL, off(w.obs, 1)));
  REFUSED(CROOKED, "seed", rlcore_vecenv_reset(v, def, off(&w.seed, 4), w.obs));
  REFUSED(RLCORE_E_OVERLAP, "obs", rlcore_vecenv_reset(v, def, NULL, w.mem + 64));
  REFUSED(NULLED, "obs", rlcore_vecenv_reset_one(v, def, 0, NULL, NULL));
  REFUSED(CROOKED, "obs", rlcore_vecenv_reset_one(v, def, 0, NULL, off(w.obs, 2)));
  REFUSED(CROOKED, "seed", rlcore_vecenv_reset_one(v, def, 0, off(&w.seed, 1), w.obs));
  REFUSED(RLCORE_E_OVERLAP, "obs", rlcore_vecenv_reset_one(v, def, 0, NULL, w.mem + 64));
  REFUSED(NULLED, "rgb", rlcore_vecenv_render(v, def, 0, 2, 2, NULL));
  REFUSED(RLCORE_E_OVERLAP, "rgb", rlcore_vecenv_render(v, def, 0, 2, 2, w.mem));
  REFUSED(NULLED, "lives", rlcore_vecenv_lives(v, def, NULL));
  REFUSED(CROOKED, "lives", rlcore_vecenv_lives(v, def, off(w.lives, 1)));
  REFUSED(RLCORE_E_OVERLAP, "lives", rlcore_vecenv_lives(v, def, (uint32_t *)(void *)w.mem));
  REFUSED(NULLED, "mask", rlcore_vecenv_action_mask(v, def, NULL));
  REFUSED(RLCORE_E_OVERLAP, "mask", rlcore_vecenv_action_mask(v, def, w.mem + size - 1));

  /* Rows and actions: in range. */
  REFUSED(RLCORE_E_RANGE, "a row below 3, given 3", rlcore_vecenv_reset_one(v, def, N, NULL, w.obs));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_vecenv_reset_one(v, def, UINT32_MAX, NULL, w.obs));
  REFUSED(RLCORE_E_RANGE, "a row below 3, given 3", rlcore_vecenv_render(v, def, N, 2, 2, w.rgb));
  REFUSED(RLCORE_E_RANGE, "num_envs, 3, given 4", rlcore_vecenv_step_range(v, def, 0, N + 1, w.action, &w.out));
  REFUSED(RLCORE_E_RANGE, "begin <= end", rlcore_vecenv_step_range(v, def, 2, 1, w.action, &w.out));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_vecenv_step_range(v, def, UINT32_MAX, UINT32_MAX, w.action, &w.out));
#if SIZE_MAX == UINT64_MAX
  REFUSED(RLCORE_E_OVERFLOW, "rgb", rlcore_vecenv_render(v, def, 0, UINT32_MAX, UINT32_MAX, w.rgb));
#endif
  FINE(rlcore_vecenv_render(v, def, 0, 0, 0, w.rgb));
  FINE(rlcore_vecenv_step_range(v, def, 1, 1, w.action, &w.out));
  const int32_t wild[] = {2, -1, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    WITH(w.action[2], wild[i], RLCORE_E_RANGE, "a choice from 0 and below 2", STEP);
    WITH(w.action[1], wild[i], RLCORE_E_RANGE, "a choice from 0 and below 2", RANGE);
  }

  /* Continuous actions: finite. */
  FINE(rlcore_env_builtin(RLCORE_ENV_PENDULUM, def, sizeof *def));
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, def, config, out));
  v = w.vecenv;
  REFUSED(RLCORE_E_NOT_READY, "not so row, given 0", rlcore_vecenv_step(v, def, w.force, &w.out));
  REFUSED(RLCORE_E_NOT_READY, "not so row, given 1", rlcore_vecenv_step_range(v, def, 1, 2, w.force, &w.out));
  REFUSED(RLCORE_E_NOT_READY, "not so row, given 1", rlcore_vecenv_render(v, def, 1, 2, 2, w.rgb));
  REFUSED(RLCORE_E_NOT_READY, "not so row, given 0", rlcore_vecenv_lives(v, def, w.lives));
  REFUSED(RLCORE_E_CONFIG, "actions that are discrete", rlcore_vecenv_action_mask(v, def, w.mask[0]));
  FINE(rlcore_vecenv_reset_one(v, def, 0, NULL, w.obs));
  REFUSED(RLCORE_E_NOT_READY, "not so row, given 1", rlcore_vecenv_lives(v, def, w.lives));
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
        REFUSED(RLCORE_E_CALLBACK, "render that returns 0", rlcore_vecenv_render(v, def, row, 2, 2, w.rgb));
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
      snprintf(words, sizeof words, "given %u", row);
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

/* Two ranges are the whole, and a copy of the block is a copy of the environments. */
static void check_ranges(void) {
  start();
  static unsigned char copy[BLOCK];
  float obs[N][OBS];
  memcpy(copy, w.mem, sizeof copy);
  for (int k = 0; k < 300; k++) FINE(rlcore_vecenv_step(w.vecenv, &w.env, w.action, &w.out));
  memcpy(obs, w.obs, sizeof obs);
  memcpy(w.other, copy, sizeof copy);
  FINE(rlcore_vecenv_attach(w.other, sizeof w.other, &w.env, &w.vecenv));
  for (int k = 0; k < 300; k++) {
    FINE(rlcore_vecenv_step_range(w.vecenv, &w.env, 2, 3, w.action, &w.out));
    FINE(rlcore_vecenv_step_range(w.vecenv, &w.env, 0, 2, w.action, &w.out));
  }
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
  WITH(r, NULL, NULLED, "rollout", GAE);
  WITH(r, off(r, 4), CROOKED, "rollout", GAE);
  WITH(r, off(r, 1), CROOKED, "rollout", GAE);
  WITH(advantage, NULL, NULLED, "advantage", GAE);
  WITH(advantage, off(advantage, 1), CROOKED, "advantage", GAE);
  WITH(target, NULL, NULLED, "value_target", GAE);
  WITH(target, off(target, 2), CROOKED, "value_target", GAE);
  WITH(r->struct_size, 0, RLCORE_E_CONFIG, "struct_size", GAE);
  WITH(r->struct_size, 56, RLCORE_E_CONFIG, "at least 64, given 56", GAE);
  WITH(r->struct_size, UINT32_MAX, RLCORE_E_CONFIG, "struct_size", GAE);
  WITH(r->reserved, 1, RLCORE_E_CONFIG, "reserved", GAE);
  WITH(r->num_steps, 0, RLCORE_E_SHAPE, "num_steps of at least 1", GAE);
  WITH(r->num_envs, 0, RLCORE_E_SHAPE, "num_envs of at least 1", GAE);
  r->num_envs = UINT32_MAX;
  WITH(r->num_steps, UINT32_MAX, RLCORE_E_OVERFLOW, "rollout", GAE);
  r->num_envs = N;
  WITH(r->reward, NULL, NULLED, "rollout: reward", GAE);
  WITH(r->reward, off(r->reward, 1), CROOKED, "rollout: reward", GAE);
  WITH(r->value, NULL, NULLED, "rollout: value", GAE);
  WITH(r->value, off(r->value, 2), CROOKED, "rollout: value", GAE);
  WITH(r->bootstrap_value, NULL, NULLED, "bootstrap_value", GAE);
  WITH(r->bootstrap_value, off(w.last, 1), CROOKED, "bootstrap_value", GAE);
  WITH(r->terminated, NULL, NULLED, "terminated", GAE);
  WITH(r->truncated, NULL, NULLED, "truncated", GAE);
  WITH(r->final_value, NULL, NULLED, "final_value, because a step is truncated", GAE);
  WITH(r->final_value, off(w.finals, 1), CROOKED, "final_value", GAE);
  WITH(advantage, w.target, RLCORE_E_OVERLAP, "advantage", GAE);
  WITH(advantage, w.target + T * N - 1, RLCORE_E_OVERLAP, "advantage", GAE);
  WITH(advantage, w.values + T * N - 1, RLCORE_E_OVERLAP, "advantage", GAE);
  WITH(target, w.rewards, RLCORE_E_OVERLAP, "value_target", GAE);
  WITH(target, (float *)(void *)w.ends, RLCORE_E_OVERLAP, "value_target", GAE);
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    WITH(w.rewards[T * N - 1], bad[i], RLCORE_E_VALUE, "a finite reward", GAE);
    WITH(w.values[0], bad[i], RLCORE_E_VALUE, "a finite value", GAE);
    WITH(w.last[N - 1], bad[i], RLCORE_E_VALUE, "a finite bootstrap_value", GAE);
    WITH(w.finals[4], bad[i], RLCORE_E_VALUE, "a finite final_value", GAE);
    WITH(discount, bad[i], RLCORE_E_VALUE, "discount from 0 to 1", GAE);
    WITH(lambda, bad[i], RLCORE_E_VALUE, "lambda from 0 to 1", GAE);
  }
  WITH(discount, 1.1f, RLCORE_E_RANGE, "discount from 0 to 1, given 1.1", GAE);
  WITH(lambda, -0.25f, RLCORE_E_RANGE, "lambda from 0 to 1, given -0.25", GAE);
  w.finals[5] = NAN; /* never read */
  FINE(GAE);
}

int main(void) {
  attack_results();
  attack_words();
  attack_rng();
  attack_env();
  attack_vecenv();
  attack_callbacks();
  attack_vecenv_image();
  check_ranges();
  attack_gae();
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
