/* Atari wrappers on a small Breakout that this program implements itself, 210 by 160 RGB. The library sees only its
   screen, lives and reward. */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { HEIGHT = 210, WIDTH = 160, SCREEN = HEIGHT * WIDTH * 3, ENVS = 4, STEPS = 400 };
enum { NOOP, FIRE, RIGHT, LEFT, ACTIONS };
enum { ROWS = 6, COLUMNS = 16, BRICK_TOP = 57, BRICK_H = 6, BRICK_W = WIDTH / COLUMNS, PADDLE_Y = 189, PADDLE_W = 24 };

/* ---- The game ---- */

typedef struct breakout {
  int32_t paddle, x, y, dx, dy; /* pixels; dy is 0 while the ball waits to be served */
  uint32_t lives, frame, reserved;
  uint16_t bricks[ROWS]; /* one bit each */
  uint16_t zero[2];
} breakout;

static void box(uint8_t *screen, int32_t x, int32_t y, int32_t w, int32_t h, uint32_t rgb) {
  for (int32_t i = y < 0 ? 0 : y; i < y + h && i < HEIGHT; i++)
    for (int32_t j = x < 0 ? 0 : x; j < x + w && j < WIDTH; j++) {
      uint8_t *p = screen + (i * WIDTH + j) * 3;
      p[0] = (uint8_t)(rgb >> 16), p[1] = (uint8_t)(rgb >> 8), p[2] = (uint8_t)rgb;
    }
}

static void draw(const breakout *b, uint8_t *screen) {
  static const uint32_t colors[ROWS] = {0xc84848, 0xc66c3a, 0xb47a30, 0xa2a22a, 0x48a048, 0x4248c8};
  memset(screen, 0, SCREEN);
  box(screen, 0, 17, WIDTH, 15, 0x8e8e8e);
  box(screen, 0, 17, 8, PADDLE_Y + 6 - 17, 0x8e8e8e);
  box(screen, WIDTH - 8, 17, 8, PADDLE_Y + 6 - 17, 0x8e8e8e);
  for (uint32_t i = 0; i < b->lives; i++) box(screen, 100 + 10 * (int32_t)i, 5, 6, 8, 0x8e8e8e);
  for (int32_t row = 0; row < ROWS; row++)
    for (int32_t column = 0; column < COLUMNS; column++)
      if (b->bricks[row] >> column & 1) box(screen, column * BRICK_W, BRICK_TOP + row * BRICK_H, BRICK_W, BRICK_H, colors[row]);
  box(screen, b->paddle, PADDLE_Y, PADDLE_W, 4, 0xc84848);
  /* The console drew the ball in every other frame, which is why wrappers take the maximum of two frames. */
  if (b->dy != 0 && b->frame % 2 == 0) box(screen, b->x, b->y, 2, 4, 0xc84848);
}

static int32_t game_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  breakout *b = state;
  int64_t column;
  (void)user, (void)row;
  if (rlcore_rng_integers(rng, 8, WIDTH - 8 - PADDLE_W, &column, 1) != RLCORE_OK) return 1;
  *b = (breakout){.paddle = (int32_t)column, .lives = 3};
  for (int i = 0; i < ROWS; i++) b->bricks[i] = 0xffff;
  draw(b, obs);
  return 0;
}

/* Bounces off a brick; returns its reward. */
static float hit(breakout *b) {
  static const float worth[ROWS] = {7, 7, 4, 4, 1, 1};
  const int32_t row = (b->y - BRICK_TOP) / BRICK_H, column = b->x / BRICK_W;
  if (b->y < BRICK_TOP || row >= ROWS || column < 0 || column >= COLUMNS || !(b->bricks[row] >> column & 1)) return 0;
  b->bricks[row] &= (uint16_t)~(1u << column);
  b->dy = -b->dy;
  return worth[row];
}

static int32_t game_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  breakout *b = state;
  const int32_t press = *(const int32_t *)action;
  (void)user, (void)row;
  b->frame++;
  b->paddle += press == RIGHT ? 3 : press == LEFT ? -3 : 0;
  b->paddle = b->paddle < 8 ? 8 : b->paddle > WIDTH - 8 - PADDLE_W ? WIDTH - 8 - PADDLE_W : b->paddle;
  if (press == FIRE && b->dy == 0) {
    int64_t serve;
    if (rlcore_rng_integers(rng, 0, 100, &serve, 1) != RLCORE_OK) return 1;
    b->x = 30 + (int32_t)serve, b->y = 110, b->dx = serve % 2 ? 2 : -2, b->dy = 3;
  } else if (b->dy != 0) {
    b->x += b->dx, b->y += b->dy;
    if (b->x <= 8 || b->x >= WIDTH - 10) b->dx = -b->dx, b->x = b->x <= 8 ? 9 : WIDTH - 11;
    if (b->y <= 32) b->dy = 3;
    out->reward = hit(b);
    if (b->dy > 0 && b->y + 4 >= PADDLE_Y && b->y < PADDLE_Y && b->x + 2 > b->paddle && b->x < b->paddle + PADDLE_W) b->dy = -3;
    if (b->y >= HEIGHT - 8) b->dy = 0, b->lives--;
  }
  uint32_t left = 0;
  for (int i = 0; i < ROWS; i++) left |= b->bricks[i];
  out->terminated = b->lives == 0 || left == 0;
  draw(b, obs);
  return 0;
}

static int32_t game_lives(void *user, uint32_t row, const void *state, uint32_t *out_lives) {
  (void)user, (void)row;
  *out_lives = ((const breakout *)state)->lives;
  return 0;
}

/* ---- The host ---- */

static const uint32_t actions[1] = {ACTIONS};
static const rlcore_field screen = {.kind = RLCORE_U8, .rank = 3, .dims = {HEIGHT, WIDTH, 3}};

/* Plays the same actions through a list of wrappers and prints the results. path: file for the frames of a record, or NULL. */
static void play(const char *name, rlcore_env_def def, const rlcore_wrapper *wrappers, uint32_t num_wrappers, const char *path) {
  def.wrappers = wrappers;
  def.num_wrappers = num_wrappers;
  const size_t mark = host_mark();
  const host_env world = host_compile(&def);
  rlcore_field parts[8];
  rlcore_vecenv_config config;
  rlcore_vecenv *v;
  size_t size;
  uint32_t num_parts;
  CHECK(rlcore_env_fields(world.env, parts, 8, &num_parts));
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  CHECK(rlcore_vecenv_size(world.env, &config, &size));
  const size_t row = world.obs.len * host_element_size(world.obs.kind);
  CHECK(rlcore_vecenv_init(host_take(size), size, world.env, &config, &v));

  uint8_t *obs = host_take(ENVS * row), *final_obs = host_take(ENVS * row);
  float reward[ENVS], total = 0;
  uint8_t terminated[ENVS], truncated[ENVS];
  uint32_t episodes = 0, lives[ENVS];
  int32_t action[ENVS];
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  const uint64_t seed = 1;
  CHECK(rlcore_vecenv_reset(v, world.env, &seed, obs));
  uint64_t hash = host_hash(obs, ENVS * row);
  uint32_t buttons = 7;
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < ENVS; i++) {
      buttons = buttons * 1664525u + 1013904223u;
      /* Mostly left and right; fire now and then, for lists whose wrappers do not press it. */
      action[i] = buttons >> 28 == 0 ? FIRE : buttons >> 30 == 0 ? NOOP : buttons >> 29 & 1 ? LEFT : RIGHT;
    }
    CHECK(rlcore_vecenv_step(v, world.env, &rows));
    const uint64_t step[4] = {hash, host_hash(obs, ENVS * row), host_hash(reward, sizeof reward), host_hash(terminated, ENVS)};
    hash = host_hash(step, sizeof step);
    for (int i = 0; i < ENVS; i++) {
      total += reward[i];
      episodes += terminated[i] | truncated[i];
      if (terminated[i] | truncated[i]) hash ^= host_hash(final_obs + (size_t)i * row, row);
    }
  }
  CHECK(rlcore_vecenv_lives(v, world.env, lives));

  printf("%s: %u wrappers, block %zu bytes\n", name, (unsigned)num_wrappers, size);
  for (uint32_t i = 0; i < num_parts; i++) {
    static const char *const kinds[] = {"f32", "i32", "u8"};
    printf("  %s%s[", parts[i].name, parts[i].name[0] ? " " : "");
    for (uint32_t k = 0; k < parts[i].rank; k++) printf("%s%u", k ? ", " : "", (unsigned)parts[i].dims[k]);
    printf("] %s\n", kinds[parts[i].kind]);
  }
  printf("  %u episodes, reward %g, lives left %u, hash %016llx\n", (unsigned)episodes, (double)total, (unsigned)lives[0],
         (unsigned long long)hash);

  /* The four frames of the first environment's last observation, side by side. */
  if (path != NULL) {
    enum { SIDE = 84, STACK = 4 };
    uint8_t *picture = host_take(32 + SIDE * SIDE * STACK);
    const int head = sprintf((char *)picture, "P5\n%d %d\n255\n", SIDE * STACK, SIDE);
    void *part[8] = {host_take((size_t)ENVS * SIDE * SIDE * STACK)};
    CHECK(rlcore_obs_split(world.env, ENVS, obs, part));
    const uint8_t *planes = part[0]; /* [ENVS, 1, STACK, SIDE, SIDE] */
    for (int f = 0; f < STACK; f++)
      for (int y = 0; y < SIDE; y++)
        memcpy(picture + head + (y * STACK + f) * SIDE, planes + (f * SIDE + y) * SIDE, SIDE);
    host_write(path, picture, (size_t)head + SIDE * SIDE * STACK);
  }
  host_rewind(mark);
}

static void play_preset(const char *name, const rlcore_env_def *def, const rlcore_atari_config *config, const char *path) {
  rlcore_wrapper list[16];
  uint32_t len;
  CHECK(rlcore_wrappers_atari(config, list, 16, &len));
  play(name, *def, list, len, path);
}

int main(int argc, char **argv) {
  const rlcore_env_def game = {.struct_size = sizeof game,
                               .env_id = 1010,
                               .state_size = sizeof(breakout),
                               .obs = {.kind = RLCORE_U8, .len = SCREEN},
                               .action = {.kind = RLCORE_I32, .len = 1, .n = actions},
                               .reset = game_reset,
                               .step = game_step,
                               .lives = game_lives,
                               .fields = &screen,
                               .num_fields = 1};
  rlcore_atari_config config;

  play_preset("bare", &game, &(rlcore_atari_config){.struct_size = sizeof config}, NULL);

  CHECK(rlcore_atari_config_init(&config, sizeof config));
  play_preset("deepmind", &game, &config, NULL);
  config.clip_reward = 0, config.stack = 4, config.channels_first = config.record = 1;
  play_preset("spawner, seed order", &game, &config, argc > 1 ? argv[1] : NULL);
  config.order = RLCORE_ATARI_CLASSIC;
  play_preset("spawner, classic order", &game, &config, NULL);
  config.clip_reward = config.scale = 1, config.record = 0;
  play_preset("everything to numbers", &game, &config, NULL);
  play_preset("42 by 42", &game, &(rlcore_atari_config){.struct_size = sizeof config, .screen = RLCORE_ATARI_MEAN42}, NULL);

  /* A custom list: sticky actions, a time limit, half the reward. */
  const rlcore_wrapper list[] = {{.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 300},
                                 {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25f},
                                 {.kind = RLCORE_WRAP_ACTION_REPEAT, .count = 2},
                                 {.kind = RLCORE_WRAP_WARP_FRAME, .height = 42, .width = 32},
                                 {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = 0.5f}};
  play("by hand", game, list, sizeof list / sizeof *list, NULL);
  printf("ok: one screen, seven ways to see it\n");
}
