/* A game whose agents come and go: 3 to 40 rabbits, each with 21 frames to reach its burrow before the fox comes. Half of
   them decide in every frame, the others in every seventh. A rabbit has a row of the learner while it lives; if it leaves the
   scene between a decision and its outcome, the row is cut. The learner learns one minibatch per frame, and the game never
   waits for it. Rows without a rabbit do not enter its statistics: return_mean is the mean return of the rabbits. */
#include "host.h"

#include <math.h>
#include <stdio.h>

enum { N = 40, FEWEST = 3, LIFE = 21, SLOW = 7, LAST = 100 };
enum { FRAMES = WHOLE_OR_BRIEF(12000, 200), REPORT = WHOLE_OR_BRIEF(2000, 200) };
enum { LEFT, STAY, RIGHT, NUM_CHOICES };
enum { OBS_LEN = 4 };
static const float SPEED = 0.1F, REACH = 0.35F;

typedef struct rabbit {
  float x, burrow;     /* -1 to 1 */
  uint32_t left;       /* frames until the fox comes; 0: no rabbit in this row */
  uint32_t every, age; /* decides in frames 0, every, 2 * every, ... of its life */
  int32_t move;        /* its last action */
} rabbit;

typedef struct game {
  rabbit rabbits[N];
  rlcore_rng rng;
  uint32_t alive, wanted;           /* rabbits in the scene; their target number */
  uint32_t came, fled, ended, home; /* spawned; left the scene; lived until the fox came; were at home then */
  float last[LAST];                 /* returns of the last episodes */
} game;

static uint32_t roll(game *g, uint32_t count) {
  double draw;
  CHECK(rlcore_rng_uniform(&g->rng, 0, count, &draw, 1));
  return (uint32_t)draw;
}

static float place(game *g) {
  double draw;
  CHECK(rlcore_rng_uniform(&g->rng, -1, 1, &draw, 1));
  return (float)draw;
}

static bool decides(const rabbit *r) { return r->left && r->age % r->every == 0; }

static void see(const rabbit *r, float *obs) {
  obs[0] = r->x;
  obs[1] = r->burrow;
  obs[2] = (float)r->left / LIFE;
  obs[3] = r->every == SLOW;
}

/* Rabbits leave the scene: those above the target number, and a few others at random. Then new ones come, up to the target
   number. gone: flags of the rows whose rabbits left. */
static void come_and_go(game *g, uint8_t *gone) {
  if (roll(g, 200) == 0) g->wanted = FEWEST + roll(g, N - FEWEST + 1);
  for (uint32_t i = 0; i < N; i++) {
    rabbit *const r = &g->rabbits[i];
    gone[i] = r->left && (g->alive > g->wanted || roll(g, 400) == 0);
    if (!gone[i]) continue;
    *r = (rabbit){0};
    g->alive--, g->fled++;
  }
  for (uint32_t i = 0; i < N && g->alive < g->wanted; i++) {
    rabbit *const r = &g->rabbits[i];
    if (r->left) continue;
    *r = (rabbit){.x = place(g), .burrow = place(g), .left = LIFE, .every = i % 2 ? SLOW : 1, .move = STAY};
    g->alive++, g->came++;
  }
}

/* Moves a rabbit by one frame. Returns its reward. */
static float hop(game *g, rabbit *r) {
  r->x = fminf(fmaxf(r->x + SPEED * (float)(r->move - STAY), -1), 1);
  r->left--, r->age++;
  if (r->left) return 0;
  const float got = fabsf(r->x - r->burrow) <= REACH ? 1 : 0;
  g->last[g->ended++ % LAST] = got;
  g->home += got > 0;
  g->alive--;
  return got;
}

/* The optimal action. */
static int32_t ideal(const rabbit *r) {
  const float way = r->burrow - r->x;
  return way > REACH ? RIGHT : way < -REACH ? LEFT : STAY;
}

static double mean_of_last(const game *g) {
  const uint32_t count = g->ended < LAST ? g->ended : LAST;
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += (double)g->last[i];
  return sum / count;
}

static double play_ideally(void) {
  static game g;
  uint8_t gone[N];
  CHECK(rlcore_rng_seed(&g.rng, 2));
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    come_and_go(&g, gone);
    for (uint32_t i = 0; i < N; i++) {
      rabbit *const r = &g.rabbits[i];
      if (decides(r)) r->move = ideal(r);
      if (r->left) hop(&g, r);
    }
  }
  return (double)g.home / g.ended;
}

static rlcore_learner *start(size_t *size) {
  static const uint32_t choices[] = {NUM_CHOICES};
  const rlcore_space obs = {.kind = RLCORE_F32, .len = OBS_LEN}, action = {.kind = RLCORE_I32, .len = 1, .n = choices};
  rlcore_learner_config config;
  rlcore_learner *agent;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;   /* rows, including those without a rabbit */
  config.num_steps = 32; /* an update per N * 32 decisions of all rabbits together */
  config.overlap = 1;
  config.learning_rate = 3e-3F;
  config.total_steps = 100000;
  CHECK(rlcore_learner_size(&config, &obs, &action, size));
  void *const mem = host_take(*size);
  CHECK(rlcore_learner_init(mem, *size, &config, &obs, &action, &agent));
  return agent;
}

int main(void) {
  static game g;
  static float obs[N][OBS_LEN], reward[N];
  static int32_t action[N];
  static uint8_t terminated[N], truncated[N];
  rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                      .terminated = terminated, .truncated = truncated};
  size_t size = 0;
  rlcore_learner *const agent = start(&size);
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  uint32_t ended = 0, home = 0;
  double share = 0;
  CHECK(rlcore_rng_seed(&g.rng, 1));
  g.wanted = N;

  for (uint32_t frame = 1; frame <= FRAMES; frame++) {
    /* Rabbits whose turn it is decide. */
    uint8_t active[N] = {0}, gone[N], known[N] = {0};
    for (uint32_t i = 0; i < N; i++)
      if (decides(&g.rabbits[i])) active[i] = 1, reward[i] = 0;
    rows.active = active;
    CHECK(rlcore_learner_act(agent, &rows));
    for (uint32_t i = 0; i < N; i++)
      if (active[i]) g.rabbits[i].move = action[i];

    /* The world moves. */
    for (uint32_t i = 0; i < N; i++) {
      rabbit *const r = &g.rabbits[i];
      if (!r->left) continue;
      reward[i] += hop(&g, r);
      terminated[i] = r->left == 0;
      known[i] = terminated[i] || decides(r); /* the outcome of its last decision */
    }
    come_and_go(&g, gone);
    for (uint32_t i = 0; i < N; i++)
      if (gone[i]) known[i] = 0; /* the outcome is unknown: the row is free again */
    CHECK(rlcore_learner_cut(agent, gone));
    rows.active = known;
    CHECK(rlcore_learner_observe(agent, &rows));
    for (uint32_t i = 0; i < N; i++)
      if (g.rabbits[i].left) see(&g.rabbits[i], obs[i]);

    /* One minibatch of learning, if an update is due or unfinished. */
    uint32_t due;
    CHECK(rlcore_learner_phase(agent, &due));
    if (due == RLCORE_LEARNER_LEARN && stats.minibatches_left) host_fail("FAILED: the game would have to wait");
    if (due == RLCORE_LEARNER_LEARN || stats.minibatches_left) {
      CHECK(rlcore_learner_learn(agent, &rows, 1, &stats));
      if (fabs((double)stats.return_mean - mean_of_last(&g)) > 1e-6)
        host_fail("FAILED: return_mean is %f, the rabbits got %f", (double)stats.return_mean, mean_of_last(&g));
    }
    if (frame % REPORT == 0) {
      share = (double)(g.home - home) / (g.ended - ended);
      printf("frame %5u: %2u rabbits, %4u updates, %5.1f %% came home; return_mean %.2f\n", (unsigned)frame,
             (unsigned)g.alive, (unsigned)stats.num_updates, 100 * share, (double)stats.return_mean);
      home = g.home, ended = g.ended;
    }
  }
  const double best = play_ideally();
  printf("%u rabbits came, %u left the scene; the ideal policy brings %.1f %% home\n", (unsigned)g.came,
         (unsigned)g.fled, 100 * best);
  if (!(share > WHOLE_OR_BRIEF(0.95, 0.0) * best)) host_fail("FAILED: the policy was not learnt");
  printf("final hash: %016llx\n", (unsigned long long)host_hash(agent, size));
  printf("ok: rabbits that come and go caught up with the ideal policy: %.0f %% come home\n", 100 * share);
  return 0;
}
