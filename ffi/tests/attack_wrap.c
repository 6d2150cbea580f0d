/* Wrong calls that need a state, of every function that takes wrappers, named parts of observations or restarts. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, H = 4, W = 4, FRAME = H * W * 3, OBS = FRAME + 8, BLOCK = 1 << 14, ROOM = 1 << 12 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK], other[BLOCK];
  rlcore_env_def env;
  rlcore_vecenv_config config;
  rlcore_vecenv *vecenv;
  rlcore_rows out;
  rlcore_wrapper list[17];
  rlcore_field fields[9], told[8];
  rlcore_space obs_space, action_space;
  rlcore_atari_config atari;
  size_t size;
  uint32_t num, lives[N];
  _Alignas(8) unsigned char obs[ROOM], final_obs[ROOM], frame[N * FRAME];
  float reward[N], speed[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], valid[N];
  void *parts[8];
  const void *sources[8];
} w, before;

#include "attack.h"

/* ---- An environment with a picture, a speed and lives, which fails on demand ---- */

enum sin { NONE, FAILS_RESET, FAILS_RESTART, FAILS_STEP, NAN_SPEED, FAILS_LIVES, FAILS_OBSERVE };
typedef struct game { uint32_t steps, lives, level, resets, restarts, pad; } game;

static enum sin fault;
static uint32_t last_level;

static void show(const game *g, void *obs) {
  unsigned char *o = obs;
  const float speed = fault == NAN_SPEED ? NAN : (float)g->steps / 2;
  for (int i = 0; i < FRAME; i++) o[i] = (unsigned char)(g->steps * 7 + (uint32_t)i + g->level * 50);
  memcpy(o + FRAME, &speed, 4);
  memset(o + FRAME + 4, 0, 4);
}

static int32_t game_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  game *g = state;
  (void)user, (void)row, (void)rng;
  *g = (game){0, 3, 1, g->resets + 1, g->restarts, 0};
  show(g, obs);
  return fault == FAILS_RESET;
}

static int32_t game_restart(void *user, uint32_t row, void *state, rlcore_rng *rng, uint32_t level, void *obs) {
  game *g = state;
  (void)user, (void)row, (void)rng;
  last_level = level;
  *g = (game){0, 3, level == RLCORE_LEVEL_SAME ? g->level : g->level + 1, g->resets, g->restarts + 1, 0};
  show(g, obs);
  return fault == FAILS_RESTART;
}

static int32_t game_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  game *g = state;
  (void)user, (void)row, (void)rng;
  g->steps++;
  if (g->steps % 5 == 0) g->lives--;
  out->reward = (float)*(const int32_t *)action;
  out->terminated = g->lives == 0;
  show(g, obs);
  return fault == FAILS_STEP;
}

static int32_t game_lives(void *user, uint32_t row, const void *state, uint32_t *out_lives) {
  (void)user, (void)row;
  *out_lives = ((const game *)state)->lives;
  return fault == FAILS_LIVES;
}

static int32_t mean(void *user, uint32_t row, const void *obs, float *out) {
  const unsigned char *o = obs;
  float sum = 0;
  for (int i = 0; i < FRAME; i++) sum += o[i];
  out[0] = sum / FRAME;
  out[1] = *(const float *)user + (float)row;
  return fault == FAILS_OBSERVE;
}

/* A cart with two force actions, each with bounds of its own. */
static int32_t cart_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)state, (void)rng;
  memset(obs, 0, 8);
  return 0;
}

static int32_t cart_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row, (void)state, (void)rng;
  memcpy(obs, action, 8);
  out->reward = 1;
  return 0;
}

static const uint32_t four[1] = {4};
static const float least[2] = {-2, 10}, most[2] = {2, 30}, obs_low[2] = {-9, -9};
static const uint32_t choices[2] = {3, 5};
static float user_value = 0.25f;

static void start(void) {
  memset(&w, 0, sizeof w);
  fault = NONE;
  w.env = (rlcore_env_def){.struct_size = sizeof w.env, .env_id = 1000, .state_size = sizeof(game),
                           .obs = {.kind = RLCORE_STRUCT, .len = OBS}, .action = {.kind = RLCORE_I32, .len = 1, .n = four},
                           .reset = game_reset, .step = game_step, .lives = game_lives, .restart = game_restart,
                           .fields = w.fields, .num_fields = 2, .wrappers = w.list};
  w.fields[0] = (rlcore_field){.name = "frame", .kind = RLCORE_U8, .rank = 3, .dims = {H, W, 3}};
  w.fields[1] = (rlcore_field){.name = "speed", .kind = RLCORE_F32, .offset = FRAME};
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  w.out = (rlcore_rows){.struct_size = sizeof w.out, .obs = w.obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .valid = w.valid};
  w.size = 77;
  w.num = 55;
}

static void start_cart(void) {
  start();
  w.env.state_size = 0;
  w.env.obs = (rlcore_space){.kind = RLCORE_F32, .len = 2, .low = obs_low};
  w.env.action = (rlcore_space){.kind = RLCORE_F32, .len = 2, .low = least, .high = most};
  w.env.reset = cart_reset;
  w.env.step = cart_step;
  w.env.restart = NULL;
  w.env.num_fields = 0;
}

static const rlcore_env *env(void) { return env_of(&w.env); }
static int32_t make(void) { return rlcore_vecenv_init(w.mem, sizeof w.mem, env(), &w.config, &w.vecenv); }
static int32_t size(void) {
  const int32_t status = rlcore_env_size(&w.env, &w.size);
  return status == RLCORE_OK ? rlcore_vecenv_size(env(), &w.config, &w.size) : status;
}
static void wrapped(rlcore_wrapper a) { w.list[0] = a, w.env.num_wrappers = 1; }

/* ---- Lists ---- */

/* A wrapper of each kind that fits a picture or a cart, and the fields that it reads. */
static const struct wear { rlcore_wrapper wrapper; int cart; const char *reads; } wears[] = {
    {{.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 5}, 0, "steps"},
    {{.kind = RLCORE_WRAP_NOOP_RESET}, 0, "noop_max noop_count noop"},
    {{.kind = RLCORE_WRAP_FIRE_RESET}, 0, "fire second"},
    {{.kind = RLCORE_WRAP_EPISODIC_LIFE}, 0, "noop"},
    {{.kind = RLCORE_WRAP_MAX_AND_SKIP}, 1, "count"},
    {{.kind = RLCORE_WRAP_ACTION_REPEAT}, 0, "count"},
    {{.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25f}, 0, "probability"},
    {{.kind = RLCORE_WRAP_RESCALE_ACTION}, 1, "low high"},
    {{.kind = RLCORE_WRAP_CLIP_ACTION}, 1, ""},
    {{.kind = RLCORE_WRAP_CLIP_REWARD}, 0, ""},
    {{.kind = RLCORE_WRAP_SCALE_REWARD, .factor = 0.5f}, 0, "factor"},
    {{.kind = RLCORE_WRAP_WARP_FRAME, .height = 2, .width = 2, .gray = 1, .field = "frame"}, 0, "height width gray field"},
    {{.kind = RLCORE_WRAP_FRAME_STACK}, 1, "count"},
    {{.kind = RLCORE_WRAP_FLATTEN}, 0, ""},
    {{.kind = RLCORE_WRAP_EXTRACT, .field = "frame"}, 0, "field"},
    {{.kind = RLCORE_WRAP_RECORD}, 1, ""},
    {{.kind = RLCORE_WRAP_OBSERVE, .len = 2, .observe = mean, .user = &user_value}, 0, "len observe user"},
};
enum { WEARS = sizeof wears / sizeof *wears };

static void attack_kinds(void) {
  start();
  const uint32_t strange[] = {0, 21, UINT32_MAX};
  for (int i = 0; i < 3; i++) {
    wrapped((rlcore_wrapper){.kind = strange[i]});
    REFUSED(RLCORE_E_CONFIG, "wrappers[0]: a kind from 1 to 20, given", size());
  }
  for (int i = 0; i < WEARS; i++) {
    const struct wear *wear = &wears[i];
    if (wear->cart) start_cart();
    else start();
    wrapped(wear->wrapper);
    FINE(size());
    w.size = 77;
    rlcore_wrapper *at = &w.list[0];
#define UNREAD(name, value) \
  if (strstr(wear->reads, #name) == NULL) WITH(at->name, value, RLCORE_E_CONFIG, "wrappers[0]: " #name " of 0, as this kind does not read it", size())
    UNREAD(steps, 1);
    UNREAD(noop_max, 1);
    UNREAD(noop_count, 1);
    UNREAD(fire, 1);
    UNREAD(second, UINT32_MAX);
    UNREAD(probability, 0.5f);
    UNREAD(low, -0.0f);
    UNREAD(high, NAN);
    UNREAD(factor, 1);
    UNREAD(height, 1);
    UNREAD(width, 1);
    UNREAD(gray, 1);
    UNREAD(len, 1);
    if (at->kind == RLCORE_WRAP_FLATTEN) {
      WITH(at->one_hot, 2, RLCORE_E_CONFIG, "wrappers[0]: one_hot of 0 or 1, given 2", size());
    } else {
      UNREAD(one_hot, 1);
    }
    if (strstr(wear->reads, "field") == NULL) {
      WITH(at->field[0], 'x', RLCORE_E_CONFIG, "wrappers[0]: field of 0", size());
      WITH(at->field[23], 'x', RLCORE_E_CONFIG, "wrappers[0]: field of 0", size());
    }
    WITH(at->reserved[0], 1, RLCORE_E_CONFIG, "wrappers[0]: reserved of 0", size());
    WITH(at->reserved[2], 1, RLCORE_E_CONFIG, "wrappers[0]: reserved of 0", size());
    UNREAD(observe, mean);
    UNREAD(user, &user_value);
    if (strcmp(wear->reads, "noop") != 0 && strstr(wear->reads, "noop_max") == NULL) WITH(at->noop, 1, RLCORE_E_CONFIG, "wrappers[0]: noop of 0", size());
    if (strcmp(wear->reads, "count") != 0) WITH(at->count, 1, RLCORE_E_CONFIG, "wrappers[0]: count of 0", size());
  }
}

static void attack_lists(void) {
  start();
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_CLIP_REWARD});
  POINTER(w.env.wrappers, 4, "env_def: wrappers: ", size());
  for (int i = 0; i < 17; i++) w.list[i] = w.list[0];
  w.env.num_wrappers = 16;
  FINE(size());
  w.size = 77;
  WITH(w.env.num_wrappers, 17, RLCORE_E_CONFIG, "env_def: wrappers: a list of at most 16, given 17", size());
  WITH(w.env.num_wrappers, UINT32_MAX, RLCORE_E_CONFIG, "given 4294967295", size());
  WITH(w.list[15].kind, 99, RLCORE_E_CONFIG, "wrappers[15]: a kind from 1 to 20, given 99", size());

#define MISFIT(words, ...) (w.list[1] = (rlcore_wrapper)__VA_ARGS__, REFUSED(RLCORE_E_CONFIG, "wrappers[1]: " words, size()))
  w.env.num_wrappers = 2;
  MISFIT("time limit: steps of at least 1, given 0", {.kind = RLCORE_WRAP_TIME_LIMIT});
  MISFIT("no-op reset: one discrete action, and noop below 4, given 4", {.kind = RLCORE_WRAP_NOOP_RESET, .noop = 4});
  MISFIT("fire reset: one discrete action, and fire below 4, given 9", {.kind = RLCORE_WRAP_FIRE_RESET, .fire = 9});
  MISFIT("fire reset: one discrete action, and second below 4", {.kind = RLCORE_WRAP_FIRE_RESET, .second = UINT32_MAX});
  MISFIT("episodic life: one discrete action, and noop below 4", {.kind = RLCORE_WRAP_EPISODIC_LIFE, .noop = 4});
  MISFIT("max and skip: observations of one part", {.kind = RLCORE_WRAP_MAX_AND_SKIP});
  MISFIT("sticky actions: a probability from 0 to 1, given 1.5", {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 1.5f});
  MISFIT("sticky actions: a probability from 0 to 1, given NaN", {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = NAN});
  MISFIT("action rescaling: continuous actions with bounds a finite way apart", {.kind = RLCORE_WRAP_RESCALE_ACTION});
  MISFIT("action clipping: continuous actions", {.kind = RLCORE_WRAP_CLIP_ACTION});
  MISFIT("a factor other than 0", {.kind = RLCORE_WRAP_SCALE_REWARD});
  MISFIT("reward scale: a finite factor, given inf", {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = INFINITY});
  MISFIT("gray of 0 or 1, given 2", {.kind = RLCORE_WRAP_WARP_FRAME, .gray = 2, .field = "frame"});
  MISFIT("", {.kind = RLCORE_WRAP_WARP_FRAME, .field = "picture"});
  MISFIT("", {.kind = RLCORE_WRAP_WARP_FRAME, .field = "speed"});
  MISFIT("", {.kind = RLCORE_WRAP_WARP_FRAME});
  MISFIT("", {.kind = RLCORE_WRAP_WARP_FRAME, .height = 5, .field = "frame"});
  MISFIT("a name of up to 23 bytes of ASCII that ends in 0", {.kind = RLCORE_WRAP_EXTRACT, .field = "aaaaaaaaaaaaaaaaaaaaaaa\xff"});
  MISFIT("a name of up to 23 bytes of ASCII that ends in 0", {.kind = RLCORE_WRAP_EXTRACT, .field = "\xc3\xa9"});
  MISFIT("", {.kind = RLCORE_WRAP_EXTRACT, .field = "nothing"});
  MISFIT("", {.kind = RLCORE_WRAP_ATARI_RESCALE});
  MISFIT("", {.kind = RLCORE_WRAP_CHANNELS_FIRST});
  MISFIT("", {.kind = RLCORE_WRAP_FRAME_STACK, .count = UINT32_MAX});
  MISFIT("observe: a len of at least 1, given 0", {.kind = RLCORE_WRAP_OBSERVE, .observe = mean});
  w.list[1] = (rlcore_wrapper){.kind = RLCORE_WRAP_OBSERVE, .len = 2};
  REFUSED(RLCORE_E_NULL, "wrappers[1]: observe is NULL", size());
  start_cart();
  w.env.num_wrappers = 2;
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_CLIP_ACTION};
  MISFIT("action rescaling: continuous actions with bounds a finite way apart", {.kind = RLCORE_WRAP_RESCALE_ACTION});
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_CLIP_REWARD};
  MISFIT("action rescaling: bounds a finite way apart, low below high", {.kind = RLCORE_WRAP_RESCALE_ACTION, .low = 1, .high = 1});
  MISFIT("action rescaling: bounds a finite way apart, low below high", {.kind = RLCORE_WRAP_RESCALE_ACTION, .low = -INFINITY, .high = 1});
  MISFIT("no-op reset: one discrete action", {.kind = RLCORE_WRAP_NOOP_RESET});
}

/* ---- Parts ---- */

static void attack_fields(void) {
  start();
  POINTER(w.env.fields, 2, "env_def: fields: ", size());
  WITH(w.env.num_fields, 9, RLCORE_E_CONFIG, "env_def: fields: a list of at most 8, given 9", size());
  WITH(w.fields[1].kind, 3, RLCORE_E_CONFIG, "fields[1]: kind of 0 (f32), 1 (i32) or 2 (u8), given 3", size());
  WITH(w.fields[1].rank, 5, RLCORE_E_CONFIG, "fields[1]: rank of 0 to 4, given 5", size());
  WITH(w.fields[0].dims[3], 2, RLCORE_E_CONFIG, "fields[0]: dims of 0 or 1 beyond rank", size());
  WITH(w.fields[1].flags, 4, RLCORE_E_CONFIG, "fields[1]: flags of rlcore_field_flag, given 4", size());
  WITH(w.fields[1].name[0], (char)200, RLCORE_E_CONFIG, "fields[1]: a name", size());
  WITH(w.fields[0].dims[1], 0, RLCORE_E_CONFIG, "field 0 must have", size());
  WITH(w.fields[0].dims[0], 0x40000000, RLCORE_E_CONFIG, "", size());
  WITH(w.fields[1].offset, FRAME - 4, RLCORE_E_CONFIG, "disjoint; field 1 is not", size());
  WITH(w.fields[1].offset, FRAME + 2, RLCORE_E_CONFIG, "field 1 is not", size());
  WITH(w.fields[1].offset, FRAME + 8, RLCORE_E_CONFIG, "a field that ends within", size());
  WITH(w.fields[1].offset, UINT32_MAX - 3, RLCORE_E_CONFIG, "a field that ends within", size());
  WITH(w.env.obs.kind, RLCORE_F32, RLCORE_E_CONFIG, "field 0 must have", size());
  WITH(w.env.obs.kind, RLCORE_U8, RLCORE_E_CONFIG, "obs: kind of 3 (bytes of a structure) exactly", size());
}

static void attack_queries(void) {
  start();
  static const char room[] = "out: at least 2 fields, given 1";
  REFUSED(RLCORE_E_SIZE, room, rlcore_env_fields(env(), w.told, 1, &w.num));
  const rlcore_env *const made = env();
  REFUSED(RLCORE_E_OVERLAP, "out", rlcore_env_fields(made, (rlcore_field *)(size_t)made, 8, &w.num));
  FINE(rlcore_env_fields(env(), NULL, 0, &w.num));
  CHECK(w.num == 2);
  FINE(rlcore_env_fields(env(), w.told, 2, &w.num));
  CHECK(w.num == 2 && strcmp(w.told[0].name, "frame") == 0 && w.told[0].dims[2] == 3 && w.told[0].dims[3] == 1);
  CHECK(strcmp(w.told[1].name, "speed") == 0 && w.told[1].kind == RLCORE_F32 && w.told[1].rank == 0 && w.told[1].offset == FRAME);
  w.env.num_fields = 0, w.env.obs.kind = RLCORE_U8;
  FINE(rlcore_env_fields(env(), w.told, 1, &w.num));
  CHECK(w.num == 1 && w.told[0].name[0] == 0 && w.told[0].rank == 1 && w.told[0].dims[0] == OBS);
  w.env.num_fields = 2, w.env.obs.kind = RLCORE_STRUCT;
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_WARP_FRAME, .height = 2, .width = 3, .gray = 1, .field = "frame"});
  FINE(rlcore_env_fields(env(), w.told, 2, &w.num));
  CHECK(w.told[0].dims[0] == 2 && w.told[0].dims[1] == 3 && w.told[0].dims[2] == 1 && w.told[1].offset == 8);

  start_cart();
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.obs_space.low != obs_low && w.obs_space.low[1] == -9 && w.obs_space.high == NULL && w.obs_space.len == 2);
  CHECK(w.action_space.low[1] == 10 && w.action_space.high[1] == 30 && w.action_space.n == NULL);
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_RESCALE_ACTION});
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.action_space.low[0] == -1 && w.action_space.low[1] == -1 && w.action_space.high[0] == 1 && w.action_space.high[1] == 1);
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_CLIP_ACTION};
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.action_space.low == NULL && w.action_space.high == NULL && w.action_space.kind == RLCORE_F32);
  CHECK(w.obs_space.low[0] == -9 && w.obs_space.len == 2 && w.obs_space.n == NULL);
  /* Choices alone. */
  start_cart();
  w.env.obs = (rlcore_space){.kind = RLCORE_I32, .len = 2, .n = choices};
  POINTER(w.env.obs.n, 2, "obs.n", size());
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.obs_space.kind == RLCORE_I32 && w.obs_space.len == 2 && w.obs_space.low == NULL);
  CHECK(w.obs_space.n != choices && w.obs_space.n[0] == 3 && w.obs_space.n[1] == 5);
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_FLATTEN, .one_hot = 1});
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.obs_space.kind == RLCORE_F32 && w.obs_space.len == 8 && w.obs_space.n == NULL);
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_FRAME_STACK});
  REFUSED(RLCORE_E_CONFIG, "wrappers[0]: frame stack: an observation of one part, of floats or bytes", size());
  start();
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.obs_space.kind == RLCORE_STRUCT && w.obs_space.len == OBS);
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_EXTRACT, .field = "frame"});
  FINE(rlcore_env_spaces(env(), &w.obs_space, &w.action_space));
  CHECK(w.obs_space.kind == RLCORE_U8 && w.obs_space.len == FRAME && w.action_space.n[0] == 4 && w.action_space.low == NULL);
}

static void attack_parts(void) {
  start();
  for (int i = 0; i < N * OBS; i++) w.obs[i] = (unsigned char)i;
  w.parts[0] = w.frame;
  w.parts[1] = w.speed;
  look();
  FINE(rlcore_obs_split(env(), 0, w.obs, w.parts));
  CHECK(memcmp(&before, &w, sizeof w) == 0);
  FINE(rlcore_obs_split(env(), N, w.obs, w.parts));
  for (int i = 0; i < N; i++) CHECK(memcmp(w.frame + i * FRAME, w.obs + i * OBS, FRAME) == 0);
  for (int i = 0; i < N; i++) CHECK(memcmp(w.speed + i, w.obs + i * OBS + FRAME, 4) == 0);

  w.sources[0] = w.frame;
  w.sources[1] = w.speed;
  memset(w.final_obs, 0xab, sizeof w.final_obs);
  FINE(rlcore_obs_join(env(), N, w.sources, w.final_obs));
  for (int i = 0; i < N; i++) CHECK(memcmp(w.final_obs + i * OBS, w.obs + i * OBS, FRAME + 4) == 0);
  for (int i = 0; i < N; i++) CHECK(w.final_obs[i * OBS + FRAME + 4] == 0xab && w.final_obs[i * OBS + OBS - 1] == 0xab);
  CHECK(w.final_obs[N * OBS] == 0xab);
  /* A part that is NULL is skipped by split and by join. */
  w.parts[0] = NULL;
  w.sources[0] = NULL;
  memset(w.frame, 1, sizeof w.frame);
  FINE(rlcore_obs_split(env(), N, w.obs, w.parts));
  CHECK(w.frame[0] == 1 && w.frame[sizeof w.frame - 1] == 1);
  memset(w.final_obs, 0xab, sizeof w.final_obs);
  FINE(rlcore_obs_join(env(), N, w.sources, w.final_obs));
  CHECK(w.final_obs[0] == 0xab && w.final_obs[FRAME] == w.obs[FRAME]);
}

/* ---- Stepping ---- */

static void attack_levels(void) {
  start();
  FINE(make());
  FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
#define STEP(v, e, a, l, o) rlcore_vecenv_step_env(v, e, l, TAKING(a, o))
  for (uint32_t level = 0; level < 2; level++) {
    last_level = 9;
    for (int i = 0; i < 15; i++) FINE(STEP(w.vecenv, env(), w.action, level, &w.out));
    CHECK(last_level == level && w.terminated[0] == 1);
    CHECK(w.obs[0] == 100);
  }
  fault = FAILS_RESTART;
  for (int i = 0; i < 14; i++) FINE(STEP(w.vecenv, env(), w.action, 0, &w.out));
  CHECK(STEP(w.vecenv, env(), w.action, 0, &w.out) == RLCORE_E_CALLBACK);
  fault = NONE;
  CHECK(STEP(w.vecenv, env(), w.action, 0, &w.out) == RLCORE_E_NOT_READY);
  /* Without `restart`, episodes start with `reset`. */
  w.env.restart = NULL;
  FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
  CHECK(w.obs[0] == 50);
  for (int i = 0; i < 15; i++) FINE(STEP(w.vecenv, env(), w.action, 1, &w.out));
  CHECK(w.obs[0] == 50 && w.terminated[2] == 1);
}

static void attack_record(void) {
  start();
  static const char words[] = "initial record: a record as the outermost wrapper of observations";
  REFUSED(RLCORE_E_CONFIG, words, rlcore_record_initial(env(), w.obs));
  w.env.num_wrappers = 2;
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_EXTRACT, .field = "frame"};
  w.list[1] = (rlcore_wrapper){.kind = RLCORE_WRAP_RECORD};
  memset(w.obs, 7, sizeof w.obs);
  FINE(rlcore_env_fields(env(), w.told, 8, &w.num));
  FINE(rlcore_record_initial(env(), w.obs));
  CHECK(w.num == 7 && strcmp(w.told[6].name, "real_done") == 0);
  for (uint32_t i = 0; i < w.told[6].offset; i++) CHECK(w.obs[i] == 0);
  CHECK(w.obs[w.told[6].offset] == 1);
  const rlcore_env *const made = env();
  REFUSED(RLCORE_E_OVERLAP, "record", rlcore_record_initial(made, (uint8_t *)(size_t)made));
  WITH(w.list[1].kind, RLCORE_WRAP_SCALED_FLOAT, RLCORE_E_CONFIG, words, rlcore_record_initial(env(), w.obs));
}

static void attack_wrapped(void) {
  start();
  w.env.num_wrappers = 4;
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_EPISODIC_LIFE};
  w.list[1] = (rlcore_wrapper){.kind = RLCORE_WRAP_EXTRACT, .field = "frame"};
  w.list[2] = (rlcore_wrapper){.kind = RLCORE_WRAP_MAX_AND_SKIP, .count = 2};
  w.list[3] = (rlcore_wrapper){.kind = RLCORE_WRAP_OBSERVE, .len = 2, .observe = mean, .user = &user_value};
  FINE(size());
  FINE(make());
  FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
  float seen[N][2];
  memcpy(seen, w.obs, sizeof seen);
  CHECK(seen[0][0] == 50 + (FRAME - 1) / 2.0f);
  for (int i = 0; i < N; i++) CHECK(seen[i][1] == 0.25f + (float)i);
  FINE(rlcore_vecenv_lives(w.vecenv, env(), w.lives));
  CHECK(w.lives[0] == 3);
  w.action[1] = 3;
  FINE(rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out)));
  CHECK(w.reward[0] == 0 && w.reward[1] == 6 && !w.terminated[1]);
  FINE(rlcore_vecenv_step_range(w.vecenv, env(), 0, N, TAKING(w.action, &w.out)));
  FINE(rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out)));
  CHECK(w.reward[1] == 3 && w.terminated[1] == 1 && w.truncated[1] == 0);
  FINE(rlcore_vecenv_lives(w.vecenv, env(), w.lives));
  CHECK(w.lives[0] == 2);

  /* The same block with another list, order, parameter or environment is refused. */
  static const char words[] = "the wrappers differ";
#define ATTACH() rlcore_vecenv_attach(w.mem, sizeof w.mem, env(), &w.vecenv)
  FINE(ATTACH());
  WITH(w.list[2].count, 3, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.list[3].len, 3, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.list[0].noop, 1, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.list[2].kind, RLCORE_WRAP_ACTION_REPEAT, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.env.num_wrappers, 3, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.env.num_wrappers, 0, RLCORE_E_CONFIG, words, ATTACH());
  WITH(w.env.num_wrappers, 0, RLCORE_E_CONFIG, words, rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out)));
  WITH(w.list[2].count, 3, RLCORE_E_CONFIG, words, rlcore_vecenv_lives(w.vecenv, env(), w.lives));
  WITH(w.env.max_episode_steps, 100, RLCORE_E_CONFIG, "max_episode_steps that the block was made with", ATTACH());
  const rlcore_wrapper first = w.list[0];
  w.list[0] = w.list[1];
  w.list[1] = first;
  REFUSED(RLCORE_E_CONFIG, words, ATTACH());
  w.list[1] = w.list[0];
  w.list[0] = first;

  /* Failures under a wrapper name the row and leave the rows before it. */
  const struct { enum sin fault; int32_t status; const char *words; } sins[] = {
      {FAILS_STEP, RLCORE_E_CALLBACK, "env_def: step failed in environment 1"},
      {FAILS_LIVES, RLCORE_E_CALLBACK, "env_def: lives failed in environment 1"},
      {FAILS_OBSERVE, RLCORE_E_CALLBACK, "wrappers: observe failed in environment 1"}};
  for (int i = 0; i < 3; i++) {
    char why[256];
    FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
    fault = sins[i].fault;
    const int32_t got = rlcore_vecenv_step_range(w.vecenv, env(), 1, N, TAKING(w.action, &w.out));
    rlcore_last_error(why, sizeof why);
    CHECK(got == sins[i].status && strstr(why, sins[i].words) != NULL);
    if (strstr(why, sins[i].words) == NULL) printf("%s\n", why);
    fault = NONE;
    REFUSED(RLCORE_E_NOT_READY, "environment 1 must be reset", rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out)));
  }
  /* A number that is not finite is refused in every observation field. */
  start();
  FINE(make());
  fault = NAN_SPEED;
  CHECK(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs) == RLCORE_E_VALUE);
  wrapped((rlcore_wrapper){.kind = RLCORE_WRAP_FLATTEN});
  FINE(make());
  CHECK(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs) == RLCORE_E_VALUE);
}

/* Batches step wrapped environments as rlcore_vecenv_step does, and check their wrapper list. */
static void attack_batches(void) {
  static _Alignas(64) unsigned char batch_mem[BLOCK], twin_mem[BLOCK];
  static _Alignas(8) unsigned char twin_obs[ROOM];
  rlcore_batch_config config;
  rlcore_batch *batch;
  rlcore_vecenv *twin;
  start();
  w.env.num_wrappers = 3;
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_EPISODIC_LIFE};
  w.list[1] = (rlcore_wrapper){.kind = RLCORE_WRAP_EXTRACT, .field = "frame"};
  w.list[2] = (rlcore_wrapper){.kind = RLCORE_WRAP_FRAME_STACK, .count = 2};
  FINE(rlcore_batch_config_init(&config, sizeof config));
  FINE(make());
  FINE(rlcore_vecenv_init(twin_mem, sizeof twin_mem, env(), &w.config, &twin));
  FINE(rlcore_batch_init(batch_mem, sizeof batch_mem, env(), &w.config, &config, &batch));
  FINE(rlcore_batch_reset(batch, w.vecenv, env(), NULL, w.obs));
  FINE(rlcore_vecenv_reset(twin, env(), NULL, twin_obs));
  for (int t = 0; t < 30; t++) {
    CHECK(memcmp(w.obs, twin_obs, N * FRAME * 2) == 0);
    w.action[t % N] = t % 4;
    FINE(rlcore_batch_step_async(batch, w.vecenv, env(), CHOSEN(w.action)));
    WITH(w.list[2].count, 3, RLCORE_E_CONFIG, "wrappers", rlcore_batch_run(batch, w.vecenv, env(), 0, UINT32_MAX, &w.num));
    FINE(rlcore_batch_run(batch, w.vecenv, env(), 0, UINT32_MAX, &w.num));
    rlcore_rows out = w.out;
    FINE(rlcore_batch_step_wait(batch, &out));
    out.obs = twin_obs;
    FINE(rlcore_vecenv_step(twin, env(), TAKING(w.action, &out)));
  }
  CHECK(memcmp(w.mem, twin_mem, sizeof w.mem) == 0);
}

/* ---- Presets ---- */

static int32_t preset(uint32_t capacity) { return rlcore_wrappers_atari(&w.atari, w.list, capacity, &w.num); }

static int is(const char *kinds) {
  char text[64] = "";
  if (preset(17) != RLCORE_OK) return 0;
  for (uint32_t i = 0; i < w.num; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "%u ", w.list[i].kind);
  if (strcmp(text, kinds) != 0) printf("wanted %s, got %s\n", kinds, text);
  return strcmp(text, kinds) == 0;
}

static void attack_presets(void) {
  start();
  FINE(rlcore_atari_config_init(&w.atari, sizeof w.atari));
  REFUSED(RLCORE_E_SIZE, "out: at least 6 wrappers, given 5", preset(5));
  REFUSED(RLCORE_E_SIZE, "out: at least 6 wrappers, given 0", preset(0));
  WITH(w.atari.struct_size, 4, RLCORE_E_CONFIG, "atari config: struct_size", preset(17));
#define FLAG(field) WITH(w.atari.field, 2, RLCORE_E_CONFIG, "atari config: " #field ": 0 or 1, given 2", preset(17))
  FLAG(fire_reset);
  FLAG(episodic_life);
  FLAG(order);
  FLAG(scale);
  FLAG(clip_reward);
  FLAG(channels_first);
  FLAG(record);
  WITH(w.atari.screen, 3, RLCORE_E_CONFIG, "atari config: screen: an rlcore_atari_screen, given 3", preset(17));
  WITH(w.atari.screen, UINT32_MAX, RLCORE_E_CONFIG, "given 4294967295", preset(17));

  CHECK(is("2 5 3 12 10 4 "));
  CHECK(w.list[0].noop_max == 30 && w.list[1].count == 4 && w.list[3].width == 84 && w.list[3].gray == 1);
  w.atari.order = RLCORE_ATARI_CLASSIC;
  CHECK(is("2 5 4 3 12 10 "));
  w.atari.scale = 1;
  w.atari.stack = 2;
  CHECK(is("2 5 4 3 12 14 10 15 ") && w.list[7].count == 2);
  FINE(rlcore_atari_config_init(&w.atari, sizeof w.atari));
  w.atari.clip_reward = 0;
  w.atari.stack = 4;
  w.atari.channels_first = w.atari.record = 1;
  CHECK(is("2 5 3 12 15 4 16 19 "));
  w.atari = (rlcore_atari_config){.struct_size = sizeof w.atari, .screen = RLCORE_ATARI_MEAN42};
  CHECK(is("13 "));
  w.atari.screen = RLCORE_ATARI_WHOLE;
  CHECK(is(""));
}

/* Steps of the pendulum's first episode, up to 300. */
static uint32_t length_of_episode(uint32_t num_wrappers, uint32_t limit, uint32_t autoreset) {
  static const float push[1] = {0.5f};
  start();
  w.env = *BUILTIN(RLCORE_ENV_PENDULUM);
  w.list[0] = (rlcore_wrapper){.kind = RLCORE_WRAP_FRAME_STACK};
  w.env.wrappers = w.list;
  w.env.num_wrappers = num_wrappers;
  w.config.num_envs = 1;
  w.config.max_episode_steps = limit;
  w.config.autoreset = autoreset;
  FINE(rlcore_vecenv_size(env(), &w.config, &w.size));
  FINE(rlcore_vecenv_init(w.mem, w.size, env(), &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
  for (uint32_t t = 1; t <= 300; t++) {
    FINE(rlcore_vecenv_step(w.vecenv, env(), TAKING(push, &w.out)));
    if (w.truncated[0]) return t;
  }
  return 0;
}

static void check_limits(void) {
  static const uint32_t limits[5][2] = {{0, 200}, {1, 1}, {120, 120}, {250, 250}, {UINT32_MAX, 0}};
  for (uint32_t mode = RLCORE_AUTORESET_SAME_STEP; mode <= RLCORE_AUTORESET_LEGACY; mode++)
    for (int i = 0; i < 5; i++)
      for (uint32_t wrappers = 0; wrappers < 2; wrappers++)
        CHECK(length_of_episode(wrappers, limits[i][0], mode) == limits[i][1]);
}

/* Damaged states of wrappers: any status, but no crash. */
static void attack_images(void) {
  start();
  w.env.num_wrappers = 9;
  const rlcore_wrapper list[9] = {{.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 9}, {.kind = RLCORE_WRAP_NOOP_RESET, .noop_max = 3},
                                  {.kind = RLCORE_WRAP_EPISODIC_LIFE}, {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.5f},
                                  {.kind = RLCORE_WRAP_EXTRACT, .field = "frame"}, {.kind = RLCORE_WRAP_MAX_AND_SKIP},
                                  {.kind = RLCORE_WRAP_WARP_FRAME, .height = 2, .width = 2, .gray = 1},
                                  {.kind = RLCORE_WRAP_FRAME_STACK, .count = 3}, {.kind = RLCORE_WRAP_RECORD}};
  memcpy(w.list, list, sizeof list);
  FINE(size());
  FINE(make());
  FINE(rlcore_vecenv_reset(w.vecenv, env(), NULL, w.obs));
  for (int i = 0; i < 5; i++) FINE(rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out)));
  memcpy(w.other, w.mem, w.size);
  int survived = 0;
  for (int i = 0; i < 4000; i++) {
    memcpy(w.mem, w.other, w.size);
    for (uint32_t k = chance(4) + 1; k > 0; k--) w.mem[chance((uint32_t)w.size)] ^= (unsigned char)(1 + chance(255));
    if (ATTACH() != RLCORE_OK) continue;
    survived++;
    for (int k = 0; k < 6; k++) (void)!rlcore_vecenv_step(w.vecenv, env(), TAKING(w.action, &w.out));
  }
  CHECK(survived > 100);
}

int main(void) {
  attack_kinds();
  attack_lists();
  attack_fields();
  attack_queries();
  attack_parts();
  attack_levels();
  attack_record();
  attack_wrapped();
  attack_batches();
  attack_presets();
  check_limits();
  attack_images();
  return verdict();
}
