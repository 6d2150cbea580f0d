/* A window that shows the agent while it learns, with its curve: CartPole by PPO, drawn by SDL2. A frame gives the learner 12 ms, then
   shows the first environment as the library renders it, and below it the mean return of the last 100 episodes over all frames.
   `window [--check]`: ends when the pole is balanced, or when the window is closed; with --check the window's pixels are looked at
   in the end. */
#include <rlcore.h>

#include <SDL.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, OBS = 4, WIDTH = 480, GAME = 240, CURVE = 160, MOST_FRAMES = 4000, BUDGET_MS = 12 };
static const float SOLVED = 475, HIGHEST = 500;
static const uint8_t GROUND[] = {245, 245, 250}, LINE[] = {30, 90, 160};

static _Noreturn void fail(const char *why) {
  fprintf(stderr, "window: %s\n", why);
  exit(1);
}

static void check(rlcore_status status) {
  char why[256] = "";
  if (status == RLCORE_OK) return;
  rlcore_last_error(why, sizeof why);
  fail(why);
}

static void need(bool works) {
  if (!works) fail(SDL_GetError());
}

/* ---- The training ---- */

static _Alignas(64) unsigned char game[1 << 10], world[1 << 12], brain[1 << 20];
static const rlcore_rows rows = {
    .struct_size = sizeof rows, .obs = (float[N][OBS]){{0}}, .action = (int32_t[N]){0}, .reward = (float[N]){0},
    .terminated = (uint8_t[N]){0}, .truncated = (uint8_t[N]){0}, .final_obs = (float[N][OBS]){{0}}};
static rlcore_env *env;
static rlcore_vecenv *envs;
static rlcore_learner *agent;
static rlcore_learner_stats stats = {.struct_size = sizeof stats};

static void begin(void) {
  rlcore_vecenv_config many;
  rlcore_learner_config config;
  rlcore_space seen, taken;
  check(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env));
  check(rlcore_env_spaces(env, &seen, &taken));
  check(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  check(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  check(rlcore_vecenv_reset(envs, env, NULL, rows.obs));
  check(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.num_chunks = 4;
  config.learning_rate = 3e-3F;
  check(rlcore_learner_init(brain, sizeof brain, &config, &seen, &taken, &agent));
}

/* A step of all environments, or a slice of an update. */
static void work(void) {
  uint32_t due = 0;
  check(rlcore_learner_phase(agent, &due));
  if (due == RLCORE_LEARNER_LEARN) {
    check(rlcore_learner_learn(agent, &rows, 1, &stats));
    return;
  }
  check(rlcore_learner_act(agent, &rows));
  check(rlcore_vecenv_step(envs, env, &rows));
  check(rlcore_learner_observe(agent, &rows));
}

/* ---- The window ---- */

static SDL_Window *window;
static SDL_Renderer *renderer;
static SDL_Texture *picture;
static uint8_t rgb[GAME][WIDTH][3];
static float curve[MOST_FRAMES];

static void open_window(void) {
  need(SDL_Init(SDL_INIT_VIDEO) == 0);
  window = SDL_CreateWindow("rlcore: CartPole", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, WIDTH, GAME + CURVE, 0);
  need(window != NULL);
  renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE);
  need(renderer != NULL);
  picture = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_RGB24, SDL_TEXTUREACCESS_STREAMING, WIDTH, GAME);
  need(picture != NULL);
}

/* The height of a return in the window. */
static int height_of(float mean) { return GAME + CURVE - 8 - (int)(mean / HIGHEST * (CURVE - 16)); }

static void show(unsigned num_frames) {
  const SDL_Rect place = {0, 0, WIDTH, GAME};
  check(rlcore_vecenv_render(envs, env, 0, WIDTH, GAME, &rgb[0][0][0]));
  need(SDL_UpdateTexture(picture, NULL, rgb, WIDTH * 3) == 0);
  need(SDL_SetRenderDrawColor(renderer, GROUND[0], GROUND[1], GROUND[2], 255) == 0);
  need(SDL_RenderClear(renderer) == 0);
  need(SDL_RenderCopy(renderer, picture, NULL, &place) == 0);
  need(SDL_SetRenderDrawColor(renderer, LINE[0], LINE[1], LINE[2], 255) == 0);
  for (int x = 0; x < WIDTH; x++) {
    const unsigned at = (unsigned)x * num_frames / WIDTH, next = (unsigned)(x + 1) * num_frames / WIDTH;
    const unsigned to = next < num_frames ? next : num_frames - 1;
    need(SDL_RenderDrawLine(renderer, x, height_of(curve[at]), x, height_of(curve[to])) == 0);
  }
}

/* Looks at the window's pixels: the game above, exactly as it was rendered, with a cart on its track, and the curve below, which ends
   higher than it begins. */
static void look(void) {
  static uint8_t seen[GAME + CURVE][WIDTH][3];
  unsigned dark = 0;
  int first = 0, last = 0;
  need(SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB24, seen, WIDTH * 3) == 0);
  if (memcmp(seen, rgb, sizeof rgb) != 0) fail("FAILED: the window does not show the game");
  for (int y = 0; y < GAME; y++)
    for (int x = 0; x < WIDTH; x++) dark += seen[y][x][0] + seen[y][x][1] + seen[y][x][2] < 150;
  if (dark < WIDTH / 2) fail("FAILED: there is no cart in the picture");
  for (int y = GAME; y < GAME + CURVE; y++) {
    if (!first && memcmp(seen[y][2], LINE, 3) == 0) first = y;
    if (!last && memcmp(seen[y][WIDTH - 2], LINE, 3) == 0) last = y;
    for (int x = 0; x < WIDTH; x++)
      if (memcmp(seen[y][x], LINE, 3) != 0 && memcmp(seen[y][x], GROUND, 3) != 0) fail("FAILED: another color below the game");
  }
  if (!first || !last || last > first - CURVE / 2) fail("FAILED: the curve does not rise");
  printf("the window's pixels: the game as rendered, %u of them dark, and a curve that rises by %d\n", dark, first - last);
}

int main(int argc, char **argv) {
  const bool looks = argc > 1 && strcmp(argv[1], "--check") == 0;
  bool open = true;
  unsigned num_frames = 0;
  begin();
  open_window();
  while (open && num_frames < MOST_FRAMES && !(stats.return_mean >= SOLVED)) {
    const uint32_t start = SDL_GetTicks();
    do work();
    while (SDL_GetTicks() - start < BUDGET_MS);
    /* Not a number before the first episode ends. */
    curve[num_frames++] = stats.return_mean >= 0 ? stats.return_mean : 0;
    show(num_frames);
    SDL_RenderPresent(renderer);
    for (SDL_Event event; SDL_PollEvent(&event);) open = open && event.type != SDL_QUIT;
  }
  if (looks) show(num_frames), look();
  printf("%s: a return of %.0f after %llu steps and %u frames\n", stats.return_mean >= SOLVED ? "ok" : "closed",
         (double)stats.return_mean, (unsigned long long)stats.num_steps, num_frames);
  SDL_DestroyTexture(picture);
  SDL_DestroyRenderer(renderer);
  SDL_DestroyWindow(window);
  SDL_Quit();
  return looks && !(stats.return_mean >= SOLVED);
}
