/* Games of PufferLib's "ocean" kind, unchanged, as rows of a learner: one header with a structure that points to observations,
   actions, rewards and terminals of its agents, and c_reset, c_step, c_render and c_close. Their pointers are set to the
   learner's own arrays, so that nothing is copied but bytes to floats and choices to floats, where a game has such.
   Several worlds of a game, each with its agents, learn one policy by PPO. `make run GAME=name` compiles this file with GAME_name. */
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Each game: its header and structure, elements of an observation and of an action with their choices, and its settings, which
   are the defaults of its own Python class. And how to train: worlds, agents of each, hidden layers, steps, the goal. */
#if defined(GAME_ferry)
#include "ferry/ferry.h"
typedef Ferry Game;
enum { OBS = 4, WORLDS = 16, AGENTS = 4, HIDDEN = 64, ACTIVATION = RLCORE_ACTIVATION_RELU };
static const uint32_t CHOICES[] = {3};
static const double STEPS = 150e3, GOAL = 0.97;
static void settings(Game *g) {
  g->num_agents = AGENTS;
  init(g);
}
#elif defined(GAME_lamps)
#include "lamps/lamps.h"
typedef Lamps Game;
enum { OBS = LAMPS, WORLDS = 16, AGENTS = 1, HIDDEN = 64, ACTIVATION = RLCORE_ACTIVATION_RELU };
static const uint32_t CHOICES[] = {LAMPS};
static const double STEPS = 100e3, GOAL = 15.5;
static void settings(Game *g) { (void)g; }
#elif defined(GAME_pong)
#include "pong/pong.h"
typedef Pong Game;
enum { OBS = 8, WORLDS = 64, AGENTS = 1, HIDDEN = 64, ACTIVATION = RLCORE_ACTIVATION_TANH };
static const uint32_t CHOICES[] = {3};
static const double STEPS = 6e6, GOAL = 18;
static void settings(Game *g) {
  g->width = 500, g->height = 640, g->paddle_width = 20, g->paddle_height = 70, g->ball_width = 32, g->ball_height = 32;
  g->paddle_speed = 8, g->ball_initial_speed_x = 10, g->ball_initial_speed_y = 1, g->ball_speed_y_increment = 3;
  g->ball_max_speed_y = 13, g->max_score = 21, g->frameskip = 8;
  init(g);
}
#elif defined(GAME_cartpole)
#include "cartpole/cartpole.h"
typedef Cartpole Game;
enum { OBS = 4, WORLDS = 16, AGENTS = 1, HIDDEN = 64, ACTIVATION = RLCORE_ACTIVATION_RELU };
static const uint32_t CHOICES[] = {2};
static const double STEPS = 400e3, GOAL = 190; /* of 200 */
static void settings(Game *g) { init(g); }
#else
#error "which game? make run GAME=name"
#endif

enum { N = WORLDS * AGENTS, ACTIONS = sizeof CHOICES / sizeof *CHOICES, REPORTS = 8 };
/* Bytes of an element, and whether choices go in as floats. */
enum { OBS_BYTES = sizeof *((Game *)0)->observations };
#define FLOAT_ACTIONS _Generic(((Game *)0)->actions, float *: 1, int *: 0)

static Game games[WORLDS];
static float obs[N * OBS], reward[N], choices[N * ACTIONS];
static int32_t action[N * ACTIONS];
static uint8_t terminated[N], truncated[N], known[N], gone[N];
static unsigned char bytes[N * OBS];

/* What the games show is what the learner reads. */
static void look(void) {
  if (OBS_BYTES == 1)
    for (size_t i = 0; i < N * OBS; i++) obs[i] = bytes[i];
}

static void start(void) {
  for (uint32_t w = 0; w < WORLDS; w++) {
    const size_t first = (size_t)w * AGENTS;
    games[w].observations = OBS_BYTES == 1 ? (void *)(bytes + first * OBS) : (void *)(obs + first * OBS);
    games[w].actions = FLOAT_ACTIONS ? (void *)(choices + first * ACTIONS) : (void *)(action + first * ACTIONS);
    games[w].rewards = reward + first;
    games[w].terminals = terminated + first;
    settings(&games[w]);
    c_reset(&games[w]);
  }
  look();
}

/* Games of this kind set terminals and rewards or leave them as they were, and start the next episode in the same call. Some
   report a time limit in their log alone, and show nothing of the last step: its outcome is unknown, so the row is gone. That is seen
   where a world has one agent. */
static void step(void) {
  for (size_t i = 0; i < N * ACTIONS; i++) choices[i] = (float)action[i];
  for (size_t i = 0; i < N; i++) reward[i] = 0, terminated[i] = 0;
  for (uint32_t w = 0; w < WORLDS; w++) {
    const float episodes = games[w].log.n;
    c_step(&games[w]);
    for (uint32_t i = w * AGENTS; i < (w + 1) * AGENTS; i++) {
      gone[i] = AGENTS == 1 && games[w].log.n > episodes && !terminated[i];
      known[i] = !gone[i];
    }
  }
  look();
}

/* The mean score of the episodes since the last call, from the games' own logs; NAN without one. */
static double score(void) {
  double sum = 0, count = 0;
  for (uint32_t w = 0; w < WORLDS; w++) {
    sum += (double)games[w].log.score, count += (double)games[w].log.n;
    games[w].log = (Log){0};
  }
  return sum / count;
}

int main(int argc, char **argv) {
  const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  const rlcore_space seen = {.kind = RLCORE_F32, .len = OBS}, taken = {.kind = RLCORE_I32, .len = ACTIONS, .n = CHOICES};
  rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                      .terminated = terminated, .truncated = truncated};
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_learner_config config;
  rlcore_learner *agent;
  size_t size;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.num_steps = 64;
  config.num_minibatches = 8;
  config.num_epochs = 4;
  config.learning_rate = 1e-3F;
  config.total_steps = (uint64_t)STEPS;
  config.entropy_coef = 0.005F;
  config.hidden_len[0] = config.hidden_len[1] = HIDDEN;
  config.activation = ACTIVATION;
  config.seed = seed;
  CHECK(rlcore_learner_size(&config, &seen, &taken, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &seen, &taken, &agent));
  srand(seed);
  start();

  const double begin = host_seconds();
  double stepping = 0, mean = 0;
  uint64_t report = 1;
  printf("%u worlds of %u agents, the learner in a block of %zu bytes\n", (unsigned)WORLDS, (unsigned)AGENTS, size);
  while ((double)stats.num_steps < STEPS) {
    rows.active = NULL;
    CHECK(rlcore_learner_act(agent, &rows));
    const double before = host_seconds();
    step();
    stepping += host_seconds() - before;
    CHECK(rlcore_learner_cut(agent, gone));
    rows.active = known;
    CHECK(rlcore_learner_observe(agent, &rows));
    uint32_t due;
    CHECK(rlcore_learner_phase(agent, &due));
    if (due != RLCORE_LEARNER_LEARN) continue;
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
    if ((double)stats.num_steps < STEPS * (double)report / REPORTS) continue;
    report++;
    mean = score();
    printf("%9llu steps: a score of %.2f\n", (unsigned long long)stats.num_steps, mean);
  }
  const double spent = host_seconds() - begin;
  printf("%.0f steps a second, %.0f in the games alone\n", (double)stats.num_steps / spent, (double)stats.num_steps / stepping);
  if (!(mean >= GOAL)) host_fail("FAILED: a score of %.2f, %.2f is asked for", mean, GOAL);
  printf("ok: a mean score of %.2f after %.1f s\n", mean, spent);
  return 0;
}
