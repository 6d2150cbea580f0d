/* Structures of this header's version and of others, and whole steps and ranges, give the same bytes; any two overlapping arrays
   of a step are refused. */
#include "rlcore.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 11, OBS = 3, BLOCK = 4096, STEPS = 40 };

/* The arrays one after another, so that each can be moved onto any other. Actions lie between the block and the arrays that a
   step writes, as in most hosts, among these arrays, or behind them. */
static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  int32_t ahead[N];
  float obs[N][OBS], final_obs[N][OBS], reward[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], valid[N];
  int32_t behind[N];
  rlcore_vecenv *envs;
  size_t size;
} w, before;

#include "attack.h"

/* Structures of a later header: the same fields and more. */
struct later_def { rlcore_env_def def; uint64_t more; };
struct later_out { rlcore_rows out; uint64_t more; };

/* An environment that draws, keeps state, terminates, truncates, and fails where `fails_at` says. */
static int32_t fails_at;
static float low[OBS], high[OBS];
static uint32_t choices;

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row;
  uint64_t *seen = state;
  int64_t draw;
  if (rlcore_rng_integers(rng, 0, 10, &draw, 1) != RLCORE_OK) return 1;
  seen[0] = (uint64_t)draw, seen[1]++;
  for (int i = 0; i < OBS; i++) ((float *)obs)[i] = (float)draw + (float)i;
  return 0;
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row;
  uint64_t *seen = state;
  int64_t draw;
  if (rlcore_rng_integers(rng, 0, 8, &draw, 1) != RLCORE_OK || (fails_at != 0 && --fails_at == 0)) return 1;
  seen[0] += (uint64_t)draw + (uint64_t) * (const int32_t *)action;
  for (int i = 0; i < OBS; i++) ((float *)obs)[i] = (float)seen[0] - (float)i;
  out->reward = (float)draw;
  out->terminated = draw == 0, out->truncated = draw == 7;
  return 0;
}

/* The ways to describe one environment; the first is the shortest. FLOATS is another environment, with continuous actions. */
enum { PLAIN, LATER_DEF, LATER_OUT, BOUNDS, WAYS, FLOATS = WAYS };

static struct later_def later_def;
static struct later_out later_out;
static compiled_env made;

static void describe(int way) {
  choices = 2;
  memset(&later_def, 0, sizeof later_def), memset(&later_out, 0, sizeof later_out);
  rlcore_env_def *def = &later_def.def;
  def->struct_size = way == LATER_DEF ? sizeof later_def : sizeof *def;
  def->env_id = 1000, def->state_size = 16, def->max_episode_steps = 9;
  def->obs.kind = RLCORE_F32, def->obs.len = OBS;
  def->action.kind = RLCORE_I32, def->action.len = 1, def->action.n = &choices;
  def->reset = reset, def->step = step;
  for (int i = 0; i < OBS; i++) low[i] = -1e6F, high[i] = 1e6F;
  if (way == BOUNDS) def->obs.low = low, def->obs.high = high;
  if (way == FLOATS) def->action.kind = RLCORE_F32, def->action.low = low, def->action.high = high, def->action.n = NULL;
  later_out.out = (rlcore_rows){.struct_size = sizeof later_out.out, .obs = w.obs[0], .action = w.action, .reward = w.reward,
                                .terminated = w.terminated, .truncated = w.truncated, .valid = w.valid, .final_obs = w.final_obs[0]};
  if (way == LATER_OUT) later_out.out.struct_size = sizeof later_out;
}

static void start(int way, uint32_t mode, uint32_t n) {
  memset(&w, 0, sizeof w);
  describe(way);
  rlcore_vecenv_config config;
  FINE(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = n, config.seed = 5, config.autoreset = mode;
  FINE(compile_env(&later_def.def, &made));
  FINE(rlcore_vecenv_size(made.env, &config, &w.size));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, made.env, &config, &w.envs));
  fails_at = 0;
  FINE(rlcore_vecenv_reset(w.envs, made.env, NULL, w.obs));
}

/* Fills the world by STEPS steps, one of them failing, each in one call or in three ranges. */
static void run(int way, uint32_t mode, uint32_t n, int split) {
  const rlcore_rows *out = &later_out.out;
  start(way, mode, n);
  for (int t = 0; t < STEPS; t++) {
    for (uint32_t i = 0; i < n; i++) w.action[i] = (t + (int)i) % 2;
    int32_t got = RLCORE_OK;
    fails_at = t == STEPS / 2 ? (int32_t)(n + 1) / 2 : 0;
    const int fails = fails_at != 0;
    if (split) {
      const uint32_t cut[] = {0, n / 3, n / 2, n};
      for (int k = 0; k < 3 && got == RLCORE_OK; k++) got = rlcore_vecenv_step_range(w.envs, made.env, cut[k], cut[k + 1], out);
    } else {
      got = rlcore_vecenv_step(w.envs, made.env, out);
    }
    CHECK(got == RLCORE_OK || (fails && got == RLCORE_E_CALLBACK));
    if (got == RLCORE_E_CALLBACK) FINE(rlcore_vecenv_reset(w.envs, made.env, NULL, w.obs));
    if (mode == RLCORE_AUTORESET_DISABLED) {
      for (uint32_t i = 0; i < n; i++) {
        if (w.terminated[i] | w.truncated[i]) FINE(rlcore_vecenv_reset_one(w.envs, made.env, i, NULL, w.obs));
      }
    }
  }
}

static void all_ways_give_the_same_bytes(void) {
  static struct world first;
  for (uint32_t mode = RLCORE_AUTORESET_SAME_STEP; mode <= RLCORE_AUTORESET_LEGACY; mode++) {
    for (uint32_t n = 1; n <= N; n += 5) {
      run(PLAIN, mode, n, 0);
      CHECK(w.reward[0] >= 0 && ((uint64_t *)(void *)(w.mem + 128))[1] > 1);
      memcpy(&first, &w, sizeof w);
      for (int way = PLAIN; way < WAYS; way++) {
        for (int split = 0; split < 2; split++) {
          run(way, mode, n, split);
          CHECK(memcmp(&first, &w, sizeof w) == 0);
        }
      }
    }
  }
}

/* Moves each output onto the first and the last byte of every other array, and the input onto those of the outputs. */
static void arrays_that_meet_are_refused(int way, uint32_t n, int32_t *action) {
  start(way, RLCORE_AUTORESET_SAME_STEP, n);
  rlcore_rows *out = &later_out.out;
  size_t env_size;
  out->action = action;
  FINE(rlcore_env_size(&later_def.def, &env_size));
  const struct { void *start; size_t size; } arrays[] = {
      {w.obs, n * sizeof w.obs[0]}, {w.reward, n * sizeof(float)}, {w.terminated, n}, {w.truncated, n},
      {w.final_obs, n * sizeof w.obs[0]}, {w.valid, n}, {w.mem, w.size}, {action, n * sizeof(int32_t)}, {made.env, env_size}};
  void **bytes[] = {(void **)&out->terminated, (void **)&out->truncated, (void **)&out->valid};
  void **words[] = {&out->obs, (void **)&out->reward, &out->final_obs};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    void *const end = off(arrays[k].start, (arrays[k].size - 1) / 4 * 4 - ((size_t)arrays[k].start & 3));
    for (size_t i = 0; i < 3; i++) {
      void *const byte = *bytes[i], *const word = *words[i];
      if (byte != arrays[k].start) {
        *bytes[i] = arrays[k].start;
        REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vecenv_step(w.envs, made.env, out));
        *bytes[i] = off(arrays[k].start, arrays[k].size - 1);
        REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vecenv_step(w.envs, made.env, out));
        *bytes[i] = byte;
      }
      if (word != arrays[k].start) {
        *words[i] = end;
        REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vecenv_step(w.envs, made.env, out));
        *words[i] = word;
      }
    }
    if (k < 7) {
      out->action = end;
      REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vecenv_step(w.envs, made.env, out));
      out->action = action;
    }
  }
  FINE(rlcore_vecenv_step(w.envs, made.env, out));
}

/* A step, or a new compilation of the environment: the call that reads the array under test. */
static int32_t ask(int of_env) {
  static uint64_t room[512];
  rlcore_env *env;
  if (of_env) return rlcore_env_init(room, sizeof room, &later_def.def, &env);
  return rlcore_vecenv_step(w.envs, made.env, &later_out.out);
}

/* Makes each required array NULL, misaligns each, and moves each to where it does not fit the address space. */
static void arrays_that_are_not_there_are_refused(int way, uint32_t n) {
  start(way, RLCORE_AUTORESET_SAME_STEP, n);
  rlcore_rows *out = &later_out.out;
  rlcore_env_def *def = &later_def.def;
  const struct { const void **p; int needed, words, of_env; } arrays[] = {
      {(const void **)&out->obs, 1, 1, 0}, {(const void **)&out->reward, 1, 1, 0}, {(const void **)&out->terminated, 1, 0, 0},
      {(const void **)&out->truncated, 1, 0, 0}, {(const void **)&out->final_obs, 1, 1, 0}, {(const void **)&out->valid, 0, 0, 0},
      {(const void **)&out->action, 1, 1, 0}, {(const void **)&def->action.n, way != FLOATS, 1, 1}, {(const void **)&def->obs.low, 0, 1, 1},
      {(const void **)&def->obs.high, 0, 1, 1}, {(const void **)&def->action.low, 0, 1, 1}, {(const void **)&def->action.high, 0, 1, 1}};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    const void *const kept = *arrays[k].p;
    if (kept == NULL) continue;
    if (arrays[k].needed) {
      *arrays[k].p = NULL;
      REFUSED(RLCORE_E_NULL, k == 4 ? "requires final_obs" : "NULL", ask(arrays[k].of_env));
    }
    if (arrays[k].words) {
      *arrays[k].p = off((void *)(uintptr_t)kept, 1);
      REFUSED(RLCORE_E_ALIGN, "misaligned by 1", ask(arrays[k].of_env));
    }
    *arrays[k].p = (const void *)(UINTPTR_MAX - (arrays[k].words ? 3 : 0));
    REFUSED(RLCORE_E_OVERFLOW, "the address space", ask(arrays[k].of_env));
    *arrays[k].p = kept;
  }
  FINE(ask(0));
  FINE(ask(1));
}

static const uint32_t two_and_two[] = {2, 2};

/* Nonzero bytes beyond the known structure are refused, and so is another environment. */
static void the_rest_is_refused(uint32_t n) {
  start(LATER_DEF, RLCORE_AUTORESET_SAME_STEP, n);
  later_def.more = 1;
  REFUSED(RLCORE_E_CONFIG, "zeros from byte", rlcore_env_size(&later_def.def, &w.size));
  start(LATER_OUT, RLCORE_AUTORESET_SAME_STEP, n);
  later_out.more = 1;
  REFUSED(RLCORE_E_CONFIG, "zeros from byte", rlcore_vecenv_step(w.envs, made.env, &later_out.out));
  start(PLAIN, RLCORE_AUTORESET_SAME_STEP, n);
  rlcore_env_def *def = &later_def.def;
  const rlcore_rows *out = &later_out.out;
  static uint32_t level[N];
  static uint8_t rgb[12 * N], flags[2 * N];
  /* Every call that takes the environment finds each field that differs from the block's environment. */
#define DIFFERS(call) \
  do { \
    WITH(def->env_id, 1001, RLCORE_E_CONFIG, "env_id", call); \
    WITH(def->max_episode_steps, 77, RLCORE_E_CONFIG, "max_episode_steps that the block was made with", call); \
    WITH(def->state_size, 24, RLCORE_E_CONFIG, "state_size", call); \
    WITH(def->obs.len, OBS + 1, RLCORE_E_CONFIG, "obs_len", call); \
    WITH(def->obs.kind, RLCORE_U8, RLCORE_E_CONFIG, "obs_kind", call); \
    WITH(def->action.kind, RLCORE_F32, RLCORE_E_CONFIG, "action_kind", call); \
    WITH(def->action.len, 2, RLCORE_E_CONFIG, "action_len", call); \
    WITH(def->num_wrappers, 1, RLCORE_E_CONFIG, "the wrappers differ", call); \
  } while (0)
  static const rlcore_wrapper clip = {.kind = RLCORE_WRAP_CLIP_REWARD};
  const uint32_t *const own_n = def->action.n;
  def->wrappers = &clip, def->action.n = two_and_two;
  rlcore_vecenv *again = NULL;
  DIFFERS(rlcore_vecenv_attach(w.mem, sizeof w.mem, env_of(def), &again));
  DIFFERS(rlcore_vecenv_reset(w.envs, env_of(def), NULL, w.obs));
  DIFFERS(rlcore_vecenv_reset_one(w.envs, env_of(def), 0, NULL, w.obs));
  DIFFERS(rlcore_vecenv_step(w.envs, env_of(def), out));
  DIFFERS(rlcore_vecenv_step_range(w.envs, env_of(def), 0, n, out));
  DIFFERS(rlcore_vecenv_step_env(w.envs, env_of(def), RLCORE_LEVEL_NEW, out));
  DIFFERS(rlcore_vecenv_render(w.envs, env_of(def), 0, 2, 2, rgb));
  DIFFERS(rlcore_vecenv_images(w.envs, env_of(def), 2, 2, rgb));
  DIFFERS(rlcore_vecenv_lives(w.envs, env_of(def), level));
  DIFFERS(rlcore_vecenv_action_mask(w.envs, env_of(def), flags));
  def->wrappers = NULL, def->action.n = own_n;
  for (uint32_t i = 0; i < n; i++) WITH(w.action[i], 2, RLCORE_E_RANGE, "choice", rlcore_vecenv_step(w.envs, made.env, out));
  for (int at = 0; at < 20; at++) WITH(w.mem[at], (unsigned char)(w.mem[at] ^ 1), RLCORE_E_IMAGE, "block", rlcore_vecenv_step(w.envs, made.env, out));
  FINE(rlcore_vecenv_step(w.envs, made.env, out));
}

int main(void) {
  all_ways_give_the_same_bytes();
  for (int way = PLAIN; way <= FLOATS; way++) {
    for (uint32_t n = 1; n <= N; n += N - 1) {
      arrays_that_are_not_there_are_refused(way, n);
      int32_t *const actions[] = {w.ahead, w.action, w.behind};
      for (int k = 0; k < 3; k++) arrays_that_meet_are_refused(way, n, actions[k]);
    }
  }
  the_rest_is_refused(N), the_rest_is_refused(1);
  return verdict();
}
