/* Callbacks that call the library. Calls with other objects work as usual. Calls with the block that runs the callback are not
   allowed: they may spoil the contents of that block and nothing else. No byte beyond the block and the call's arrays is written,
   every call returns a valid status, and the block works again after a new init. */
#include "../../tests/system/env.h"
#include "../../tests/system/rows.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 24, OBS = 2, BLOCK = 8192, GUARD = 256, STEPS = 5 };

static struct world {
  unsigned char guard[GUARD];
  _Alignas(64) unsigned char mem[BLOCK];
  unsigned char guard_of_mem[GUARD];
  float obs[N][OBS], final_obs[N][OBS], reward[N];
  uint8_t terminated[N], truncated[N], valid[N];
  unsigned char guard_of_arrays[GUARD];
} w;

static int failures, attacks;

#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call))
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *text) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  if (failures++ < 10) printf("line %d: %s\n  last error: %s\n", line, text, why);
}

/* The call that the environment's callbacks make in addition to their work. */
typedef enum mischief { NOTHING, OTHER_OBJECTS, STEP_ALL, STEP_ITSELF, STEP_OTHERS, RESET_ALL, RESET_ONE, LOOK_AT, ATTACH,
                        INIT, INIT_SMALLER, INIT_LARGER, OVERWRITE, NUM_MISCHIEFS } mischief;

static mischief what;
static int inside; /* a callback has made its call: one for each outer call, or the calls would recurse without end */
static int calls;  /* made by callbacks */
static rlcore_env_def def;
static compiled_env env;
static rlcore_vecenv *envs;
static int32_t action[N];
static const uint32_t choices[1] = {2};

static rlcore_vecenv_config config_of(uint32_t num_envs) {
  rlcore_vecenv_config config;
  FINE(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = num_envs;
  return config;
}

static rlcore_rows outputs(void) {
  return (rlcore_rows){.struct_size = sizeof(rlcore_rows), .obs = w.obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .valid = w.valid};
}

/* Any valid status is right. */
static void answered(rlcore_status status) {
  calls++;
  CHECK(status <= RLCORE_OK && strcmp(rlcore_status_name(status), "unknown") != 0);
}

/* Kernels, and another environment in another block: they work inside a callback as anywhere. */
static void use_other_objects(rlcore_rng *rng) {
  static _Alignas(64) unsigned char mem[BLOCK];
  static float obs[2][4], final_obs[2][4], reward[2];
  static uint8_t terminated[2], truncated[2];
  const int32_t push[2] = {1, 0};
  const rlcore_vecenv_config config = config_of(2);
  const rlcore_rows out = {.struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  static uint64_t cart_mem[128];
  rlcore_env *cart;
  rlcore_vecenv *carts;
  uint64_t hash;
  double x;
  FINE(rlcore_env_builtin(cart_mem, sizeof cart_mem, RLCORE_ENV_CARTPOLE, &cart));
  FINE(rlcore_vecenv_init(mem, sizeof mem, cart, &config, &carts));
  FINE(rlcore_vecenv_reset(carts, cart, NULL, obs));
  FINE(rlcore_vecenv_step(carts, cart, TAKING(push, &out)));
  FINE(rlcore_rng_uniform(rng, 0, 1, &x, 1));
  FINE(rlcore_hash(obs, sizeof obs, &hash));
  CHECK(reward[0] == 1 && reward[1] == 1 && x >= 0 && x < 1);
  calls++;
}

static void misbehave(rlcore_rng *rng, uint64_t row) {
  if (what == NOTHING || inside) return;
  inside = 1;
  const rlcore_rows out = outputs();
  const uint64_t seed = 9;
  const uint32_t i = (uint32_t)(row % N), next = (i + 1) % N;
  rlcore_vecenv_config config = config_of(N);
  rlcore_vecenv *again;
  uint8_t rgb[12], mask[2 * N];
  uint32_t lives[N];
  switch (what) {
  case OTHER_OBJECTS: use_other_objects(rng); break;
  case STEP_ALL: answered(rlcore_vecenv_step(envs, env.env, TAKING(action, &out))); break;
  case STEP_ITSELF: answered(rlcore_vecenv_step_range(envs, env.env, i, i + 1, TAKING(action, &out))); break;
  case STEP_OTHERS: answered(rlcore_vecenv_step_range(envs, env.env, next, next + 1, TAKING(action, &out))); break;
  case RESET_ALL: answered(rlcore_vecenv_reset(envs, env.env, &seed, w.obs)); break;
  case RESET_ONE: answered(rlcore_vecenv_reset_one(envs, env.env, i, NULL, w.obs)); break;
  case LOOK_AT:
    answered(rlcore_vecenv_render(envs, env.env, i, 2, 2, rgb));
    answered(rlcore_vecenv_lives(envs, env.env, lives));
    answered(rlcore_vecenv_action_mask(envs, env.env, mask));
    break;
  case ATTACH: answered(rlcore_vecenv_attach(w.mem, sizeof w.mem, env.env, &again)); break;
  case INIT_SMALLER:
  case INIT_LARGER: config.num_envs = what == INIT_LARGER ? 2 * N : 1; /* fall through */
  case INIT: answered(rlcore_vecenv_init(w.mem, sizeof w.mem, env.env, &config, &again)); break;
  case OVERWRITE: memset(w.mem, 0xA5, sizeof w.mem), calls++; break;
  default: break;
  }
}

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  double x;
  (void)user, (void)row;
  misbehave(rng, *(uint64_t *)state);
  if (rlcore_rng_uniform(rng, 0, 1, &x, 1) != RLCORE_OK) x = 0; /* the stream may be destroyed */
  ((float *)obs)[0] = (float)x;
  ((float *)obs)[1] = 0;
  return 0;
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *choice, void *obs, rlcore_step *out) {
  (void)user, (void)row;
  misbehave(rng, ++*(uint64_t *)state);
  ((float *)obs)[0] = (float)*(const int32_t *)choice;
  ((float *)obs)[1] = 1;
  out->reward = 1;
  out->terminated = *(uint64_t *)state % 3 == 0;
  return 0;
}

static int32_t render(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height, uint8_t *rgb) {
  (void)user, (void)row;
  rlcore_rng rng;
  FINE(rlcore_rng_seed(&rng, 1));
  misbehave(&rng, *(const uint64_t *)state);
  memset(rgb, 7, (size_t)width * height * 3);
  return 0;
}

/* A run without extra calls: returns the hash of the whole world after some steps. */
static uint64_t plain_run(void) {
  const mischief kept = what;
  const rlcore_vecenv_config config = config_of(N);
  const rlcore_rows out = outputs();
  uint64_t hash = 0;
  what = NOTHING;
  memset(w.mem, 0, sizeof w.mem);
  memset(w.obs, 0, (size_t)(w.guard_of_arrays - (unsigned char *)w.obs));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env.env, &config, &envs));
  FINE(rlcore_vecenv_reset(envs, env.env, NULL, w.obs));
  for (int i = 0; i < STEPS; i++) FINE(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
  FINE(rlcore_hash(&w, sizeof w, &hash));
  what = kept;
  return hash;
}

static void guarded(void) {
  for (int i = 0; i < GUARD; i++)
    if (w.guard[i] != 0x5A || w.guard_of_mem[i] != 0x5A || w.guard_of_arrays[i] != 0x5A) {
      fail(__LINE__, "something beyond was written");
      return;
    }
}

static void attack_each(uint64_t plain, uint32_t autoreset) {
  for (what = OTHER_OBJECTS; what < NUM_MISCHIEFS; what++) {
    rlcore_vecenv_config config = config_of(N);
    const rlcore_rows out = outputs();
    uint8_t rgb[12];
    config.autoreset = autoreset;
    const int before_calls = calls;
    for (int place = 0; place < 4; place++) {
      /* In a reset of all rows, in a step, in a step of a range, in a render. */
      inside = 1;
      FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env.env, &config, &envs));
      if (place) FINE(rlcore_vecenv_reset(envs, env.env, NULL, w.obs));
      inside = 0;
      rlcore_status status = RLCORE_OK;
      if (place == 0) status = rlcore_vecenv_reset(envs, env.env, NULL, w.obs);
      if (place == 1) status = rlcore_vecenv_step(envs, env.env, TAKING(action, &out));
      if (place == 2) status = rlcore_vecenv_step_range(envs, env.env, 3, 20, TAKING(action, &out));
      if (place == 3) status = rlcore_vecenv_render(envs, env.env, 2, 2, 2, rgb);
      answered(status);
      if (what == OTHER_OBJECTS || what == LOOK_AT) CHECK(status == RLCORE_OK);
      CHECK(inside == 1);
      guarded();
      /* The environments go on with the bytes that are left. */
      for (int i = 0; i < STEPS; i++) {
        inside = 0;
        answered(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
        answered(rlcore_vecenv_reset(envs, env.env, NULL, w.obs));
        guarded();
      }
    }
    CHECK(calls >= before_calls + 4);
    attacks++;
    CHECK(plain_run() == plain);
  }
}

/* ---- A batch, called from within a step that it gave to a worker ---- */

static rlcore_batch *batch;

static int32_t step_in_batch(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *choice, void *obs, rlcore_step *out) {
  const rlcore_rows all = outputs();
  uint32_t count = 0;
  if (!inside) {
    inside = 1;
    /* The step is running: it can be neither collected nor started again. Other rows may be stepped from here. */
    CHECK(rlcore_batch_step_wait(batch, &all) == RLCORE_E_NOT_READY);
    CHECK(rlcore_batch_step_async(batch, envs, env.env, CHOSEN(action)) == RLCORE_E_BUSY);
    CHECK(rlcore_batch_run(batch, envs, env.env, 0, 1, &count) == RLCORE_OK && count == 1);
    CHECK(rlcore_batch_run(batch, envs, env.env, 1, N, &count) == RLCORE_OK);
    attacks += 4;
  }
  return step(user, row, state, rng, choice, obs, out);
}

static void attack_batch(void) {
  static _Alignas(64) unsigned char mem[BLOCK];
  const rlcore_vecenv_config config = config_of(N);
  const rlcore_rows out = outputs();
  rlcore_batch_config settings;
  uint32_t count = 0;
  what = NOTHING;
  def.step = step_in_batch;
  FINE(compile_env(&def, &env));
  inside = 1;
  FINE(rlcore_batch_config_init(&settings, sizeof settings));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, env.env, &config, &envs));
  FINE(rlcore_batch_init(mem, sizeof mem, env.env, &config, &settings, &batch));
  FINE(rlcore_vecenv_reset(envs, env.env, NULL, w.obs));
  FINE(rlcore_batch_step_async(batch, envs, env.env, CHOSEN(action)));
  inside = 0;
  while (rlcore_batch_run(batch, envs, env.env, 0, 1, &count) == RLCORE_OK && count > 0) {}
  FINE(rlcore_batch_step_wait(batch, &out));
  for (int i = 0; i < N; i++) CHECK(w.reward[i] == 1);
  guarded();
  def.step = step;
  FINE(compile_env(&def, &env));
}

int main(void) {
  memset(&w, 0x5A, sizeof w);
  def = (rlcore_env_def){.struct_size = sizeof def, .env_id = 1000, .state_size = 8, .reset = reset, .step = step,
                         .render = render, .obs = {.kind = RLCORE_F32, .len = OBS},
                         .action = {.kind = RLCORE_I32, .len = 1, .n = choices}};
  FINE(compile_env(&def, &env));
  const uint64_t plain = plain_run();
  for (uint32_t autoreset = RLCORE_AUTORESET_SAME_STEP; autoreset <= RLCORE_AUTORESET_LEGACY; autoreset++)
    attack_each(plain, autoreset);
  attack_batch();
  CHECK(plain_run() == plain);
  printf("%d attacks, %d calls from callbacks, %d failures\n", attacks, calls, failures);
  return failures != 0;
}
