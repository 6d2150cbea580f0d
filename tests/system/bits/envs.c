/* Environments with their resets, wrappers around them, and batches that are stepped asynchronously. */
#define COMPILED_WORDS (9 << 10) /* pictures behind wrappers */
#include "stages.h"

enum { N = 5, MAX_ACTION = 2, MAX_OBS = 1 << 17, MAX_FIELDS = 8, WIDTH = 60, HEIGHT = 40 };

static uint64_t world[3 << 16], obs[MAX_OBS / 8], final_obs[MAX_OBS / 8], copy[MAX_OBS / 8];

/* Mixes observations field by field, since byte observations may contain numbers. */
static rlcore_status mix_obs(hashes *h, const rlcore_env *env, uint32_t num_rows, const void *rows) {
  rlcore_field fields[MAX_FIELDS];
  void *parts[MAX_FIELDS];
  uint32_t num_fields;
  size_t at = 0;
  TRY(rlcore_env_fields(env, fields, MAX_FIELDS, &num_fields));
  for (uint32_t i = 0; i < num_fields; i++) {
    size_t len = num_rows;
    for (uint32_t d = 0; d < fields[i].rank; d++) len *= fields[i].dims[d];
    parts[i] = (uint8_t *)copy + at;
    at += (len * (fields[i].kind == RLCORE_U8 ? 1 : 4) + 7) / 8 * 8;
  }
  CHECK(at <= sizeof copy);
  TRY(rlcore_obs_split(env, num_rows, rows, parts));
  for (uint32_t i = 0; i < num_fields; i++) {
    size_t len = num_rows;
    for (uint32_t d = 0; d < fields[i].rank; d++) len *= fields[i].dims[d];
    mix_numbers(h, parts[i], len, fields[i].kind == RLCORE_U8 ? 1 : 4);
  }
  return RLCORE_OK;
}

/* Makes row i row j for a moment, which changes nothing in the end. */
static rlcore_status swap(rlcore_vecenv *v, const rlcore_env *env, uint32_t i, uint32_t j) {
  static uint64_t row[2][1 << 15];
  size_t size;
  TRY(rlcore_vecenv_row_size(env, &size));
  CHECK(size <= sizeof row[0]);
  TRY(rlcore_vecenv_row_read(v, env, i, obs, row[0], size));
  TRY(rlcore_vecenv_row_read(v, env, j, obs, row[1], size));
  TRY(rlcore_vecenv_row_write(v, env, i, row[1], size, obs));
  return rlcore_vecenv_row_write(v, env, i, row[0], size, obs);
}

/* Steps N environments with this autoreset mode, in whole calls, ranges and levels in turn; then mixes the block and a picture.
   Continuous actions are from -reach to reach. */
static rlcore_status steps(hashes *h, const rlcore_env_def *def, uint32_t num_envs, uint32_t autoreset, int num_steps,
                           double reach) {
  static float reward[N], push[N * MAX_ACTION];
  static uint8_t terminated[N], truncated[N], valid[N], mask[N * 10], rgb[N * HEIGHT * WIDTH * 3];
  static uint32_t lives[N];
  static int32_t choice[N];
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs, .valid = valid,
  };
  const uint64_t seed = 99;
  compiled_env made;
  rlcore_vecenv_config config;
  rlcore_vecenv *v;
  rlcore_rng rng;
  size_t size;
  TRY(compile_env(def, &made));
  const rlcore_env *const env = made.env;
  const rlcore_space shown = made.obs, taken = made.action;
  const int discrete = taken.kind == RLCORE_I32;
  const void *action = discrete ? (const void *)choice : push;
  const double low = discrete ? 0.0 : -reach, high = discrete ? taken.n[0] : reach;
  CHECK(num_envs <= N && num_envs * shown.len * (shown.kind == RLCORE_F32 ? 4 : 1) <= MAX_OBS && taken.len <= MAX_ACTION);
  MIX_ONE(h, shown.len);
  if (shown.low != NULL) MIX_SOME(h, shown.low, shown.len);
  if (taken.high != NULL) MIX_SOME(h, taken.high, taken.len);
  for (size_t i = 0; i < LEN(obs); i++) obs[i] = final_obs[i] = 0;
  TRY(rlcore_rng_seed(&rng, 77));
  TRY(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = num_envs;
  config.seed = 42;
  config.autoreset = autoreset;
  config.max_episode_steps = 190;
  TRY(rlcore_vecenv_size(env, &config, &size));
  TRY(rlcore_vecenv_init(world, sizeof world, env, &config, &v));
  const rlcore_reset none = {.struct_size = sizeof none};
  TRY(rlcore_vecenv_reset_with(v, env, &none, obs)); /* as rlcore_vecenv_reset */
  TRY(mix_obs(h, env, num_envs, obs));
  for (int t = 0; t < num_steps; t++) {
    TRY(draw(&rng, low, high, push, num_envs * taken.len));
    if (discrete)
      for (uint32_t i = 0; i < num_envs; i++) choice[i] = (int32_t)push[i];
    if (t % 3 == 0) {
      TRY(rlcore_vecenv_step(v, env, TAKING(action, &out)));
    } else if (t % 3 == 1) {
      TRY(rlcore_vecenv_step_range(v, env, 0, 1, TAKING(action, &out)));
      TRY(rlcore_vecenv_step_range(v, env, 1, num_envs, TAKING(action, &out)));
    } else {
      TRY(rlcore_vecenv_step_env(v, env, t % 2 ? RLCORE_LEVEL_SAME : RLCORE_LEVEL_NEW, TAKING(action, &out)));
    }
    if (autoreset == RLCORE_AUTORESET_DISABLED)
      for (uint32_t i = 0; i < num_envs; i++)
        if (terminated[i] | truncated[i])
          TRY(i % 2 ? rlcore_vecenv_reset_one(v, env, i, &seed, obs) : rlcore_vecenv_reset_one_with(v, env, i, &none, obs));
    TRY(mix_obs(h, env, num_envs, obs));
    if (autoreset == RLCORE_AUTORESET_SAME_STEP) TRY(mix_obs(h, env, num_envs, final_obs));
    if (autoreset == RLCORE_AUTORESET_NEXT_STEP) MIX(h, valid);
    MIX(h, reward);
    MIX(h, terminated);
    MIX(h, truncated);
    if (t % 16 != 0) continue;
    TRY(swap(v, env, (uint32_t)t / 16 % num_envs, num_envs / 2));
    TRY(rlcore_vecenv_lives(v, env, lives));
    MIX(h, lives);
    if (!discrete) continue;
    TRY(rlcore_vecenv_action_mask(v, env, mask));
    MIX_SOME(h, mask, num_envs * taken.n[0]);
  }
  mix_block(h, world, size);
  TRY(rlcore_vecenv_render(v, env, num_envs - 1, WIDTH, HEIGHT, rgb));
  MIX_SOME(h, rgb, HEIGHT * WIDTH * 3);
  TRY(rlcore_vecenv_images(v, env, WIDTH / 4, HEIGHT / 4, rgb));
  MIX_SOME(h, rgb, num_envs * (HEIGHT / 4) * (WIDTH / 4) * 3);
  return RLCORE_OK;
}

/* ---- The library's own environments ---- */
/* An environment made by its id and one made by its definition, in memory of the returned size, have the same spaces. */
static rlcore_status has_the_same_spaces(uint32_t env_id) {
  static uint64_t numbered[128], defined[128];
  rlcore_env *env[2];
  rlcore_space obs[2], action[2];
  size_t size;
  TRY(rlcore_env_builtin(numbered, sizeof numbered, env_id, &env[0]));
  TRY(rlcore_env_size(BUILTIN(env_id), &size));
  CHECK(size <= sizeof defined);
  TRY(rlcore_env_init(defined, size, BUILTIN(env_id), &env[1]));
  for (int i = 0; i < 2; i++) TRY(rlcore_env_spaces(env[i], &obs[i], &action[i]));
  CHECK(obs[0].kind == obs[1].kind && obs[0].len == obs[1].len);
  CHECK(action[0].kind == action[1].kind && action[0].len == action[1].len);
  return RLCORE_OK;
}

static rlcore_status builtin(hashes *h, uint32_t env_id, int num_steps) {
  const rlcore_env_def env = *BUILTIN(env_id);
  TRY(has_the_same_spaces(env_id));
  TRY(steps(h, &env, N, RLCORE_AUTORESET_SAME_STEP, num_steps, 2.0));
  for (uint32_t autoreset = RLCORE_AUTORESET_NEXT_STEP; autoreset <= RLCORE_AUTORESET_LEGACY; autoreset++)
    TRY(steps(h, &env, N, autoreset, num_steps / 3, 2.0));
  return RLCORE_OK;
}

static rlcore_status probes(hashes *h) {
  static const uint32_t ids[] = {
      RLCORE_ENV_PROBE1, RLCORE_ENV_PROBE2, RLCORE_ENV_PROBE3, RLCORE_ENV_PROBE4, RLCORE_ENV_PROBE5,
      RLCORE_ENV_PROBE6, RLCORE_ENV_PROBE7, RLCORE_ENV_PROBE6_ODD_EVEN, RLCORE_ENV_PROBE_TRUNCATION,
      RLCORE_ENV_PROBE_MEMORY,
  };
  for (size_t i = 0; i < LEN(ids); i++) TRY(builtin(h, ids[i], 60));
  return RLCORE_OK;
}

static rlcore_status cartpole(hashes *h) { return builtin(h, RLCORE_ENV_CARTPOLE, 700); }
static rlcore_status mountain_car(hashes *h) { return builtin(h, RLCORE_ENV_MOUNTAIN_CAR, 700); }
static rlcore_status mountain_car_continuous(hashes *h) { return builtin(h, RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, 700); }
static rlcore_status acrobot(hashes *h) { return builtin(h, RLCORE_ENV_ACROBOT, 700); }
static rlcore_status pendulum(hashes *h) { return builtin(h, RLCORE_ENV_PENDULUM, 700); }
static rlcore_status cartpole_no_vel(hashes *h) { return builtin(h, RLCORE_ENV_CARTPOLE_NO_VEL, 700); }
static rlcore_status pendulum_no_vel(hashes *h) { return builtin(h, RLCORE_ENV_PENDULUM_NO_VEL, 700); }
static rlcore_status repeat_previous(hashes *h) { return builtin(h, RLCORE_ENV_REPEAT_PREVIOUS, 200); }
static rlcore_status bit_flip(hashes *h) { return builtin(h, RLCORE_ENV_BIT_FLIP, 200); }
static rlcore_status point_reach(hashes *h) { return builtin(h, RLCORE_ENV_POINT_REACH, 200); }
static rlcore_status maze(hashes *h) {
  TRY(builtin(h, RLCORE_ENV_MAZE, 60));
  return builtin(h, RLCORE_ENV_MAZE_RGB, 30);
}

/* ---- An environment of the host: a game with pictures, and optionally a number beside them ---- */
typedef struct { uint32_t height, width, has_speed; } screen;
typedef struct { uint32_t level, lives, tick, unused; } game;

static void show(const screen *s, const game *g, uint8_t *rows) {
  const uint32_t len = s->height * s->width * 3;
  for (uint32_t i = 0; i < len; i++) rows[i] = (uint8_t)(i * 7 + (i >> 7) * g->level + g->tick * 13);
  const float speed = (float)g->tick;
  if (s->has_speed)
    for (uint32_t i = 0; i < 4; i++) rows[len + i] = ((const uint8_t *)&speed)[i];
}

static int32_t game_restart(void *user, uint32_t row, void *state, rlcore_rng *rng, uint32_t level, void *rows) {
  (void)row;
  game *g = state;
  int64_t x;
  if (level == RLCORE_LEVEL_NEW) {
    if (rlcore_rng_integers(rng, 1, 100, &x, 1) != RLCORE_OK) return 1;
    g->level = (uint32_t)x;
  }
  g->lives = 2;
  g->tick = 0;
  show(user, g, rows);
  return 0;
}

static int32_t game_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *rows) {
  return game_restart(user, row, state, rng, RLCORE_LEVEL_NEW, rows);
}

static int32_t game_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *rows, rlcore_step *out) {
  (void)row;
  game *g = state;
  int64_t x;
  if (rlcore_rng_integers(rng, 0, 6, &x, 1) != RLCORE_OK) return 1;
  g->tick += 1 + (uint32_t)*(const int32_t *)action;
  if (x == 0) g->lives--;
  out->reward = (float)(x * 3 - 7);
  out->terminated = g->lives == 0;
  show(user, g, rows);
  return 0;
}

static int32_t game_render(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height, uint8_t *rgb) {
  const game *g = state;
  (void)user, (void)row;
  for (uint32_t i = 0; i < width * height * 3; i++) rgb[i] = (uint8_t)(i + g->tick);
  return 0;
}

static int32_t game_lives(void *user, uint32_t row, const void *state, uint32_t *out_lives) {
  (void)user, (void)row;
  *out_lives = ((const game *)state)->lives;
  return 0;
}

static int32_t game_mask(void *user, uint32_t row, const void *state, uint8_t *mask) {
  (void)user, (void)row;
  for (uint32_t i = 0; i < 4; i++) mask[i] = i != ((const game *)state)->tick % 4;
  return 0;
}

static int32_t corner(void *user, uint32_t row, const void *rows, float *out) {
  (void)user, (void)row;
  out[0] = ((const uint8_t *)rows)[0];
  out[1] = ((const uint8_t *)rows)[7];
  return 0;
}

static const uint32_t FOUR = 4;

static rlcore_env_def game_of(screen *s, rlcore_field fields[2]) {
  const uint32_t len = s->height * s->width * 3;
  const rlcore_env_def env = {
      .struct_size = sizeof env, .env_id = 1000, .state_size = sizeof(game),
      .obs = {.kind = s->has_speed ? RLCORE_STRUCT : RLCORE_U8, .len = len + 4 * s->has_speed}, .action = {.kind = RLCORE_I32, .len = 1, .n = &FOUR},
      .user = s, .reset = game_reset, .step = game_step, .render = game_render, .lives = game_lives,
      .action_mask = game_mask, .restart = game_restart, .fields = fields, .num_fields = 1 + s->has_speed,
  };
  fields[0] = (rlcore_field){.name = "frame", .kind = RLCORE_U8, .rank = 3, .dims = {s->height, s->width, 3}};
  fields[1] = (rlcore_field){.name = "speed", .kind = RLCORE_F32, .offset = len};
  return env;
}

static rlcore_status callbacks(hashes *h) {
  static screen s = {6, 10, 1};
  rlcore_field fields[2];
  rlcore_env_def env = game_of(&s, fields);
  void *const parts[2] = {(uint8_t *)copy + 1024, copy};
  for (uint32_t autoreset = RLCORE_AUTORESET_SAME_STEP; autoreset <= RLCORE_AUTORESET_LEGACY; autoreset++)
    TRY(steps(h, &env, N, autoreset, 100, 0.0));
  compiled_env made;
  TRY(compile_env(&env, &made));
  TRY(rlcore_obs_split(made.env, N, obs, parts));
  for (size_t i = 0; i < sizeof final_obs / 8; i++) final_obs[i] = 0;
  TRY(rlcore_obs_join(made.env, N, (const void *const *)parts, final_obs));
  for (size_t i = 0; i < N * env.obs.len; i++) CHECK(((uint8_t *)obs)[i] == ((uint8_t *)final_obs)[i]);
  return RLCORE_OK;
}

/* ---- Wrappers in the block, one of every kind ---- */
static rlcore_status wrapped(hashes *h) {
  static const rlcore_wrapper cart[] = {
      {.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 70},
      {.kind = RLCORE_WRAP_NOOP_RESET, .noop_max = 5},
      {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25f},
      {.kind = RLCORE_WRAP_ACTION_REPEAT, .count = 2},
      {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = 0.3f},
      {.kind = RLCORE_WRAP_FRAME_STACK, .count = 3},
  };
  static const rlcore_wrapper rod[] = {{.kind = RLCORE_WRAP_RESCALE_ACTION}, {.kind = RLCORE_WRAP_CLIP_ACTION}};
  static const rlcore_wrapper one[] = {
      {.kind = RLCORE_WRAP_EPISODIC_LIFE},
      {.kind = RLCORE_WRAP_EXTRACT, .field = "frame"},
      {.kind = RLCORE_WRAP_MAX_AND_SKIP, .count = 2},
      {.kind = RLCORE_WRAP_WARP_FRAME, .height = 6, .width = 5, .gray = 1},
      {.kind = RLCORE_WRAP_FRAME_STACK, .count = 3},
      {.kind = RLCORE_WRAP_RECORD},
  };
  static const rlcore_wrapper two[] = {
      {.kind = RLCORE_WRAP_FIRE_RESET},
      {.kind = RLCORE_WRAP_EXTRACT, .field = "frame"},
      {.kind = RLCORE_WRAP_SCALED_FLOAT},
      {.kind = RLCORE_WRAP_CHANNELS_FIRST},
      {.kind = RLCORE_WRAP_CLIP_REWARD},
  };
  static const rlcore_wrapper three[] = {
      {.kind = RLCORE_WRAP_WARP_FRAME, .height = 4, .width = 4, .field = "frame"},
      {.kind = RLCORE_WRAP_FLATTEN},
  };
  static const rlcore_wrapper four[] = {
      {.kind = RLCORE_WRAP_EXTRACT, .field = "frame"}, {.kind = RLCORE_WRAP_OBSERVE, .len = 2, .observe = corner}};
  static const struct { const rlcore_wrapper *list; uint32_t len; } lists[] = {
      {one, LEN(one)}, {two, LEN(two)}, {three, LEN(three)}, {four, LEN(four)}};
  static screen s = {12, 16, 1};
  rlcore_field fields[2];
  rlcore_env_def env = *BUILTIN(RLCORE_ENV_CARTPOLE);
  compiled_env made;
  env.wrappers = cart;
  env.num_wrappers = LEN(cart);
  TRY(steps(h, &env, N, RLCORE_AUTORESET_SAME_STEP, 200, 0.0));
  env = *BUILTIN(RLCORE_ENV_PENDULUM);
  for (uint32_t i = 0; i < LEN(rod); i++) {
    env.wrappers = &rod[i];
    env.num_wrappers = 1;
    TRY(steps(h, &env, N, RLCORE_AUTORESET_SAME_STEP, 50, i == 0 ? 1.0 : 9.0));
  }
  for (size_t i = 0; i < LEN(lists); i++) {
    env = game_of(&s, fields);
    env.wrappers = lists[i].list;
    env.num_wrappers = lists[i].len;
    TRY(steps(h, &env, N, i % 2 ? RLCORE_AUTORESET_NEXT_STEP : RLCORE_AUTORESET_SAME_STEP, 60, 0.0));
    if (i != 0) continue;
    TRY(compile_env(&env, &made));
    TRY(rlcore_record_initial(made.env, (uint8_t *)obs));
    TRY(mix_obs(h, made.env, 1, obs));
  }
  return RLCORE_OK;
}

/* Screens of Atari's size, in the usual wrappers. */
static rlcore_status atari(hashes *h) {
  static screen s = {210, 160, 0};
  for (uint32_t i = 0; i < 3; i++) {
    rlcore_wrapper list[11];
    rlcore_field fields[2];
    rlcore_atari_config config;
    rlcore_env_def env = game_of(&s, fields);
    TRY(rlcore_atari_config_init(&config, sizeof config));
    config.noop_max = 3;
    if (i == 0) config.clip_reward = 0, config.stack = 4, config.channels_first = config.record = 1;
    if (i == 1) config.order = RLCORE_ATARI_CLASSIC, config.scale = 1, config.skip = 2;
    if (i == 2) config = (rlcore_atari_config){.struct_size = sizeof config, .screen = RLCORE_ATARI_MEAN42};
    TRY(rlcore_wrappers_atari(&config, list, LEN(list), &env.num_wrappers));
    env.wrappers = list;
    TRY(steps(h, &env, 2, RLCORE_AUTORESET_SAME_STEP, 8, 0.0));
  }
  return RLCORE_OK;
}

/* ---- Asynchronous steps, with the host as its own worker ---- */
static rlcore_status batches(hashes *h) {
  enum { ROWS = 6, PAIR = 2, OBS = 4 };
  static uint64_t mem[1024];
  static float reward[ROWS];
  static int32_t action[ROWS];
  static uint8_t terminated[ROWS], truncated[ROWS], valid[ROWS], failed[ROWS];
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs, .valid = valid,
  };
  const uint64_t seed = 5;
  rlcore_batch_config config;
  rlcore_batch_counts counts = {.struct_size = sizeof counts};
  rlcore_vecenv_config many;
  compiled_env made;
  rlcore_vecenv *v;
  rlcore_batch *b;
  uint32_t rows[ROWS], num;
  size_t size;
  TRY(compile_env(BUILTIN(RLCORE_ENV_CARTPOLE), &made));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = ROWS;
  TRY(rlcore_vecenv_init(world, sizeof world, made.env, &many, &v));
  TRY(rlcore_batch_config_init(&config, sizeof config));
  config.in_series = PAIR;
  TRY(rlcore_batch_size(made.env, &many, &config, &size));
  TRY(rlcore_batch_init(mem, sizeof mem, made.env, &many, &config, &b));
  const rlcore_reset seeded = {.struct_size = sizeof seeded, .seed = &seed}, none = {.struct_size = sizeof none};
  TRY(rlcore_batch_reset(b, v, made.env, &seed, obs));
  TRY(rlcore_batch_reset_with(b, v, made.env, &seeded, obs)); /* the same again */
  for (size_t i = 0; i < ROWS * OBS / 2; i++) final_obs[i] = 0;
  for (int t = 0; t < 120; t++) {
    for (int i = 0; i < ROWS; i++) action[i] = (t + i) % 3 == 0;
    if (t % 2) TRY(rlcore_batch_step_async(b, v, made.env, CHOSEN(action)));
    else TRY(rlcore_batch_step_env_async(b, v, made.env, RLCORE_LEVEL_NEW, CHOSEN(action)));
    TRY(rlcore_batch_run(b, v, made.env, 0, 1, &num));
    TRY(rlcore_batch_count(b, &counts));
    MIX_ONE(h, counts.num_pending);
    MIX_ONE(h, counts.num_done);
    TRY(rlcore_batch_run(b, v, made.env, 0, UINT32_MAX, &num));
    if (t % 3) {
      TRY(rlcore_batch_step_wait(b, &out));
    } else {
      TRY(rlcore_batch_recv(b, ROWS, rows, &out));
      MIX(h, rows);
      TRY(rlcore_batch_send(b, v, made.env, 2 * PAIR, rows, CHOSEN(action)));
      TRY(rlcore_batch_run(b, v, made.env, 0, UINT32_MAX, &num));
      TRY(rlcore_batch_step_wait(b, &out));
    }
    mix_numbers(h, obs, ROWS * OBS, 4);
    mix_numbers(h, final_obs, ROWS * OBS, 4);
    MIX(h, reward);
    MIX(h, terminated);
    MIX(h, truncated);
    MIX(h, valid);
    if (t == 79) TRY(rlcore_batch_reset_one_with(b, v, made.env, 3, &none, obs));
    else if (t % 40 == 39) TRY(rlcore_batch_reset_one(b, v, made.env, 3, NULL, obs));
  }
  TRY(rlcore_batch_abandon(b, v, made.env, 0, &num));
  MIX_ONE(h, num);
  TRY(rlcore_batch_failed(b, failed));
  MIX(h, failed);
  mix_block(h, mem, size);
  TRY(rlcore_batch_close(b));
  TRY(rlcore_batch_count(b, &counts));
  MIX_ONE(h, counts.closed);
  return RLCORE_OK;
}

const stage ENV_STAGES[] = {
    {"probes", probes},
    {"cartpole", cartpole},
    {"mountain_car", mountain_car},
    {"mountain_car_continuous", mountain_car_continuous},
    {"acrobot", acrobot},
    {"pendulum", pendulum},
    {"cartpole_no_vel", cartpole_no_vel},
    {"pendulum_no_vel", pendulum_no_vel},
    {"repeat_previous", repeat_previous},
    {"bit_flip", bit_flip},
    {"point_reach", point_reach},
    {"maze", maze},
    {"callbacks", callbacks},
    {"wrapped", wrapped},
    {"atari", atari},
    {"batches", batches},
    {NULL, NULL},
};
