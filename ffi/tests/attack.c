/* Results, random streams and environments: wrong calls that need a state or a particular error text. Each has to return one
   exact status and set an error text that names the violated condition, without changing a byte of the caller's memory. The table
   of tests/system/fuzz/calls.h has the errors of single arguments of all functions.

   All memory that calls may touch lies in `w`, and all of it is compared before and after each wrong call. */
#include "rlcore.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
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
  rlcore_rows out;
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

#include "attack.h"

/* ---- An environment that misbehaves on demand ---- */

enum sin { NONE, FAILS_RESET, FAILS_STEP, NAN_RESET, NAN_STEP, INF_REWARD, NAN_REWARD, FAILS_LIVES, FAILS_MASK, FAILS_RENDER, ENDS };

/* The environment counts its steps; row `row` misbehaves. */
typedef struct sinner { enum sin sin; uint32_t row; } sinner;
typedef struct count { uint32_t row, steps; } count;

static sinner sinful;
static uint32_t next_row;

static int32_t sin_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  const sinner *s = user;
  count *c = state;
  float *o = obs;
  (void)row, (void)rng;
  if (c->steps == 0 && c->row == 0) c->row = ++next_row;
  c->steps = 1;
  const int sins = c->row - 1 == s->row;
  for (int i = 0; i < OBS; i++) o[i] = sins && s->sin == NAN_RESET ? NAN : (float)i;
  return sins && s->sin == FAILS_RESET ? 7 : 0;
}

static int32_t sin_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  const sinner *s = user;
  count *c = state;
  float *o = obs;
  (void)row, (void)rng;
  c->steps++;
  const int sins = c->row - 1 == s->row;
  for (int i = 0; i < OBS; i++) o[i] = sins && s->sin == NAN_STEP ? -INFINITY : (float)(c->steps + (uint32_t)i);
  out->reward = sins && s->sin == INF_REWARD ? INFINITY : sins && s->sin == NAN_REWARD ? NAN : (float)*(const int32_t *)action;
  out->terminated = sins && s->sin == ENDS;
  return sins && s->sin == FAILS_STEP ? -1 : 0;
}

static int32_t sin_render(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height, uint8_t *rgb) {
  const sinner *s = user;
  (void)row, (void)state;
  if (s->sin == FAILS_RENDER) return 1;
  memset(rgb, 9, (size_t)width * height * 3);
  return 0;
}

static int32_t sin_lives(void *user, uint32_t row, const void *state, uint32_t *out_lives) {
  (void)row;
  const sinner *s = user;
  const count *c = state;
  if (s->sin == FAILS_LIVES && c->row - 1 == s->row) return 1;
  *out_lives = c->row;
  return 0;
}

static int32_t sin_mask(void *user, uint32_t row, const void *state, uint8_t *mask) {
  (void)row;
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

/* A fresh world: N CartPoles after a reset. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.size = 77;
  w.hash = 88;
  w.seed = 5;
  FINE(rlcore_rng_seed(&w.rng, 1));
  w.env = *BUILTIN(RLCORE_ENV_CARTPOLE);
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env_of(&w.env), &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, env_of(&w.env), NULL, w.obs));
  w.out = (rlcore_rows){.struct_size = sizeof w.out, .obs = w.obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .valid = w.valid};
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
  for (uint32_t level = 0; level < 3; level++) FINE(rlcore_cpu_set_limit(level));

  FINE(rlcore_hash("foobar", 6, &w.hash));
  CHECK(w.hash == 0x85944171f73967e8u);
  FINE(rlcore_hash(NULL, 0, &w.hash));
  CHECK(w.hash == 0xcbf29ce484222325u);
}

/* Numbers as text: C's strtof reads back the same number, and the text is short. */
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

/* Four threads fail in two ways: each text read is that of one failure, never a mixture. */
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

  REFUSED(RLCORE_E_RANGE, "high above low, given 3", rlcore_rng_integers(rng, 3, 3, w.whole, 4));
  REFUSED(RLCORE_E_VALUE, "finite bounds", rlcore_rng_uniform(rng, -DBL_MAX, DBL_MAX, w.reals, 4));
  WITH(rng->stream[1], UINT64_MAX, RLCORE_E_IMAGE, "the stream was never seeded", rlcore_rng_normal(rng, w.normal, 1));
  FINE(rlcore_rng_integers(rng, INT64_MIN, INT64_MAX, w.whole, MANY));
  REFUSED(RLCORE_E_VALUE, "finite bounds of at least 0", rlcore_rng_log_uniform(rng, 1, NAN, w.reals, 4));
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 0));
  FINE(rlcore_rng_normal(rng, w.normal, MANY));
  FINE(rlcore_rng_permutation(rng, w.order, MANY));

  rlcore_rng_seed(rng, 42);
  FINE(rlcore_rng_uniform(rng, 0, 1, w.reals, 2));
  CHECK(w.reals[0] == 0.7739560485559633 && w.reals[1] == 0.4388784397520523);
  FINE(rlcore_rng_log_uniform(rng, 0.01, 0.01, w.reals, 2));
  CHECK(w.reals[0] == 0.01 && w.reals[1] == 0.01);
}

/* ---- Environments ---- */

static void attack_env(void) {
  start();
  rlcore_env_def *def = &w.env;
  size_t *size = &w.size;

  const uint32_t ids[] = {RLCORE_ENV_CARTPOLE, RLCORE_ENV_MOUNTAIN_CAR, RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, RLCORE_ENV_ACROBOT,
                          RLCORE_ENV_PENDULUM, RLCORE_ENV_PROBE1, RLCORE_ENV_PROBE2, RLCORE_ENV_PROBE3, RLCORE_ENV_PROBE4,
                          RLCORE_ENV_PROBE5, RLCORE_ENV_PROBE6, RLCORE_ENV_PROBE7, RLCORE_ENV_PROBE6_ODD_EVEN,
                          RLCORE_ENV_PROBE_TRUNCATION, RLCORE_ENV_PROBE_MEMORY, RLCORE_ENV_CARTPOLE_NO_VEL,
                          RLCORE_ENV_PENDULUM_NO_VEL, RLCORE_ENV_REPEAT_PREVIOUS, RLCORE_ENV_BIT_FLIP,
                          RLCORE_ENV_POINT_REACH};
  static uint64_t room[128], moved[128]; /* 1024 bytes are enough for each */
  rlcore_vecenv *v;
  rlcore_env *env = NULL, *same;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    FINE(rlcore_env_builtin(room, sizeof room, ids[i], &env));
    CHECK((void *)env == (void *)room);
    FINE(rlcore_vecenv_init(w.other, sizeof w.other, env, &w.config, &v));
    FINE(rlcore_vecenv_reset(v, env, &w.seed, w.reals));
    memset(w.whole, 0, sizeof w.whole);
    rlcore_rows out = {.struct_size = sizeof out, .obs = w.reals, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.normal};
    for (int k = 0; k < 600; k++) FINE(rlcore_vecenv_step(v, env, TAKING(w.whole, &out)));
    /* Compiled by its id it is the same environment; a field that contradicts it is refused by name. */
    *def = *BUILTIN(ids[i]);
    FINE(rlcore_env_init(moved, sizeof moved, def, &same));
    FINE(rlcore_vecenv_step(v, same, TAKING(w.whole, &out)));
#define SIZE rlcore_env_size(def, size)
    WITH(def->state_size, 8, RLCORE_E_CONFIG, "env_def: state_size: zero, as the library's own environment has it", SIZE);
    WITH(def->obs.len, 1, RLCORE_E_CONFIG, "env_def: obs: zero", SIZE);
    WITH(def->action.n, two, RLCORE_E_CONFIG, "env_def: action: zero", SIZE);
    WITH(def->reset, sin_reset, RLCORE_E_CONFIG, "env_def: reset: zero", SIZE);
    WITH(def->step, sin_step, RLCORE_E_CONFIG, "env_def: step: zero", SIZE);
    /* The limit may be another one, or none. */
    for (uint32_t limit = 7; limit != 6; limit = limit == 7 ? UINT32_MAX : 6) {
      def->max_episode_steps = limit;
      FINE(rlcore_vecenv_init(w.other, sizeof w.other, env_of(def), &w.config, &v));
      FINE(rlcore_vecenv_reset(v, env_of(def), &w.seed, w.reals));
      int ends = 0;
      for (int k = 0; k < 7; k++) {
        FINE(rlcore_vecenv_step(v, env_of(def), TAKING(w.whole, &out)));
        ends |= w.terminated[0] | w.truncated[0];
      }
      CHECK(ends || limit == UINT32_MAX);
      /* An environment without a limit may be given none. */
      if (limit == UINT32_MAX && rlcore_vecenv_step(v, env, TAKING(w.whole, &out)) == RLCORE_OK) continue;
      REFUSED(RLCORE_E_CONFIG, "max_episode_steps that the block was made with", rlcore_vecenv_step(v, env, TAKING(w.whole, &out)));
    }
    /* A moved environment is refused. */
    memcpy(moved, room, sizeof room);
    REFUSED(RLCORE_E_IMAGE, "env: what rlcore_env_init has made in this place",
            rlcore_vecenv_step(v, (const rlcore_env *)(const void *)moved, TAKING(w.whole, &out)));
  }

  *def = sinning();
  FINE(SIZE);
  w.order[0] = 0;
  WITH(def->action.n, w.order, RLCORE_E_CONFIG, "environment actions", SIZE);
  w.order[0] = UINT32_MAX;
  WITH(def->action.n, w.order, RLCORE_E_CONFIG, "environment actions", SIZE);
  w.values[0] = NAN;
  WITH(def->obs.low, w.values, RLCORE_E_CONFIG, "environment observations", SIZE);
  w.values[0] = 1;
  def->obs.low = w.values;
  WITH(def->obs.high, w.rewards, RLCORE_E_CONFIG, "environment observations", SIZE);
  def->obs.low = NULL;
  FINE(SIZE);
#define INIT(mem, size) rlcore_env_init(mem, size, def, &env)
  REFUSED(RLCORE_E_SIZE, "mem: at least", INIT(w.other, w.size - 1));
  REFUSED(RLCORE_E_ALIGN, "mem: misaligned by 4 bytes; a multiple of 8", INIT(w.other + 4, w.size));
  REFUSED(RLCORE_E_OVERLAP, "mem", INIT(def, sizeof *def + 4096));
  FINE(INIT(w.other, w.size));
#undef INIT

  /* A shorter definition has no render, lives or action_mask; a longer one has to end in zeros. */
  def->struct_size = 104;
  w.config.num_envs = N;
  next_row = 0;
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env_of(def), &w.config, &v));
  FINE(rlcore_vecenv_reset(v, env_of(def), NULL, w.obs));
  FINE(rlcore_vecenv_lives(v, env_of(def), w.lives));
  FINE(rlcore_vecenv_action_mask(v, env_of(def), w.mask[0]));
  FINE(rlcore_vecenv_render(v, env_of(def), 0, 2, 2, w.rgb));
  FINE(rlcore_vecenv_images(v, env_of(def), 2, 2, w.rgb));
  CHECK(w.lives[0] == 0 && w.mask[0][0] == 1 && w.mask[2][1] == 1 && w.rgb[0] == 0);
  struct { rlcore_env_def def; uint64_t more[2]; } longer = {sinning(), {0, 0}};
  longer.def.struct_size = sizeof longer;
  FINE(rlcore_vecenv_lives(v, env_of(&longer.def), w.lives));
  CHECK(w.lives[2] == 3);
  longer.more[1] = 1;
  REFUSED(RLCORE_E_CONFIG, "zeros from byte", rlcore_env_size(&longer.def, size));
#undef SIZE
}

/* ---- N environments ---- */

static void attack_vecenv(void) {
  start();
  rlcore_env_def *def = &w.env;
  rlcore_vecenv_config *config = &w.config;
  rlcore_vecenv *v = w.vecenv, **out = &w.vecenv;
  size_t size = 0;
  FINE(rlcore_vecenv_size(env_of(def), config, &size));

  config->max_episode_steps = UINT32_MAX;
  config->seed = UINT64_MAX;
  FINE(rlcore_vecenv_size(env_of(def), config, &size));
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env_of(def), config, out));
  config->max_episode_steps = 0;
  config->seed = 0;
  FINE(rlcore_vecenv_attach(w.mem, size, env_of(def), out));
  FINE(rlcore_vecenv_num_envs(v, &w.number));
  CHECK(w.number == N);
  FINE(rlcore_vecenv_render(v, env_of(def), 0, 0, 0, w.rgb));
  FINE(rlcore_vecenv_step_range(v, env_of(def), 1, 1, TAKING(w.action, &w.out)));
  WITH(w.out.final_obs, NULL, RLCORE_E_NULL, "same-step autoreset requires final_obs",
       rlcore_vecenv_step(v, env_of(def), TAKING(w.action, &w.out)));

  /* Continuous actions have to be finite. */
  *def = *BUILTIN(RLCORE_ENV_PENDULUM);
  FINE(rlcore_vecenv_init(w.other, sizeof w.other, env_of(def), config, out));
  v = w.vecenv;
  REFUSED(RLCORE_E_NOT_READY, "environment 0 must be reset", rlcore_vecenv_step(v, env_of(def), TAKING(w.force, &w.out)));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 must be reset", rlcore_vecenv_step_range(v, env_of(def), 1, 2, TAKING(w.force, &w.out)));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 was never reset", rlcore_vecenv_render(v, env_of(def), 1, 2, 2, w.rgb));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 was never reset", rlcore_vecenv_images(v, env_of(def), 2, 2, w.rgb));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 was never reset", rlcore_vecenv_lives(v, env_of(def), w.lives));
  REFUSED(RLCORE_E_CONFIG, "actions that are discrete", rlcore_vecenv_action_mask(v, env_of(def), w.mask[0]));
  FINE(rlcore_vecenv_reset_one(v, env_of(def), 0, NULL, w.obs));
  REFUSED(RLCORE_E_NOT_READY, "environment 1 was never reset", rlcore_vecenv_lives(v, env_of(def), w.lives));
  FINE(rlcore_vecenv_reset(v, env_of(def), NULL, w.obs));
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) WITH(w.force[2], bad[i], RLCORE_E_VALUE, "finite", rlcore_vecenv_step(v, env_of(def), TAKING(w.force, &w.out)));
  for (int i = 0; i < 3; i++) WITH(w.force[2], bad[i], RLCORE_E_VALUE, "finite", rlcore_vecenv_step_range(v, env_of(def), 2, 3, TAKING(w.force, &w.out)));
  WITH(w.force[0], NAN, RLCORE_E_VALUE, "finite", rlcore_vecenv_step(v, env_of(def), TAKING(w.force, &w.out)));
}

/* ---- Callbacks that fail: the error names the row; rows before it are stepped, rows after it unchanged ---- */

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
      FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env_of(def), &w.config, &w.vecenv));
      rlcore_vecenv *v = w.vecenv;
      FINE(rlcore_vecenv_reset(v, env_of(def), NULL, w.obs));
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
        got = rlcore_vecenv_reset(v, env_of(def), NULL, w.obs);
        wanted = sin == NAN_RESET ? RLCORE_E_VALUE : wanted;
        for (uint32_t i = row + 1; i < N; i++) CHECK(memcmp(w.obs[i], "\xaa\xaa\xaa\xaa", 4) == 0);
        for (uint32_t i = 0; i < row; i++) CHECK(w.obs[i][1] == 1);
        stepped = 1;
      } else if (sin == FAILS_LIVES) {
        got = rlcore_vecenv_lives(v, env_of(def), w.lives);
        for (uint32_t i = 0; i < N; i++) CHECK(w.lives[i] == (i < row ? i + 1 : 0xaaaaaaaau));
      } else if (sin == FAILS_MASK) {
        got = rlcore_vecenv_action_mask(v, env_of(def), w.mask[0]);
        for (uint32_t i = row; i < N; i++) CHECK(w.mask[i][0] == 0xaa && w.mask[i][1] == 0xaa);
      } else if (sin == FAILS_RENDER) {
        REFUSED(RLCORE_E_CALLBACK, "env_def: render failed in environment", rlcore_vecenv_render(v, env_of(def), row, 2, 2, w.rgb));
        got = wanted;
      } else {
        got = rlcore_vecenv_step(v, env_of(def), TAKING(w.action, &w.out));
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
      /* That row has to be reset, and no other. */
      REFUSED(RLCORE_E_NOT_READY, words, rlcore_vecenv_step(v, env_of(def), TAKING(w.action, &w.out)));
      FINE(rlcore_vecenv_reset_one(v, env_of(def), row, NULL, w.obs));
      FINE(rlcore_vecenv_step(v, env_of(def), TAKING(w.action, &w.out)));
    }
  }
}

/* ---- Ranges ---- */

/* Two threads on two ranges do the work of one thread on all rows, and a copy of the block copies the environments. */
static void *step_often(void *range) {
  const uint32_t *r = range;
  for (int k = 0; k < 2000; k++) FINE(rlcore_vecenv_step_range(w.vecenv, env_of(&w.env), r[0], r[1], TAKING(w.action, &w.out)));
  return NULL;
}

static void check_ranges(void) {
  start();
  static unsigned char copy[BLOCK];
  static uint32_t low[2] = {0, 2}, high[2] = {2, 3};
  float obs[N][OBS];
  pthread_t thread;
  memcpy(copy, w.mem, sizeof copy);
  for (int k = 0; k < 2000; k++) FINE(rlcore_vecenv_step(w.vecenv, env_of(&w.env), TAKING(w.action, &w.out)));
  memcpy(obs, w.obs, sizeof obs);
  memcpy(w.other, copy, sizeof copy);
  FINE(rlcore_vecenv_attach(w.other, sizeof w.other, env_of(&w.env), &w.vecenv));
  CHECK(pthread_create(&thread, NULL, step_often, high) == 0);
  step_often(low);
  pthread_join(thread, NULL);
  CHECK(memcmp(w.mem, w.other, sizeof w.mem) == 0 && memcmp(obs, w.obs, sizeof obs) == 0);
}

int main(void) {
  attack_results();
  attack_words();
  check_last_error_is_whole();
  attack_rng();
  attack_env();
  attack_vecenv();
  attack_callbacks();
  check_ranges();
  return verdict();
}
