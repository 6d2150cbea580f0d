/* A planner that learns nothing: before each step it copies the row that is played into the rows of a second block, tries every
   action there with random ones after it, and takes the one that went best. It plays far better than random actions do. */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OBS = 1024, MAX_ROWS = 64, MAX_ROW = 4096, EPISODES = WHOLE_OR_BRIEF(5, 1) };

/* One block of environments and its arrays; autoreset is "same step". */
typedef struct game {
  rlcore_vecenv *envs;
  rlcore_rows rows;
  uint32_t num_envs;
  float obs[MAX_ROWS * MAX_OBS / 4], final_obs[MAX_ROWS * MAX_OBS / 4], reward[MAX_ROWS];
  uint8_t terminated[MAX_ROWS], truncated[MAX_ROWS];
  int32_t action[MAX_ROWS];
} game;

static game played, tried;
static rlcore_rng rng;

static void begin(game *g, const rlcore_env *env, uint32_t num_envs) {
  rlcore_vecenv_config config;
  size_t size;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = g->num_envs = num_envs;
  CHECK(rlcore_vecenv_size(env, &config, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, env, &config, &g->envs));
  CHECK(rlcore_vecenv_reset(g->envs, env, NULL, g->obs));
  g->rows = (rlcore_rows){.struct_size = sizeof g->rows, .obs = g->obs, .final_obs = g->final_obs, .action = g->action,
                          .reward = g->reward, .terminated = g->terminated, .truncated = g->truncated};
}

static void draw(int32_t *action, uint32_t len, uint32_t num_actions) {
  int64_t drawn[MAX_ROWS];
  CHECK(rlcore_rng_integers(&rng, 0, num_actions, drawn, len));
  for (uint32_t i = 0; i < len; i++) action[i] = (int32_t)drawn[i];
}

/* The action of the played row whose random continuations of `depth` steps earn most on average. */
static int32_t plan(const host_env *world, uint32_t depth) {
  static uint64_t row[MAX_ROW / sizeof(uint64_t)];
  const uint32_t num_actions = world->action.n[0];
  float earned[MAX_ROWS] = {0};
  uint8_t over[MAX_ROWS] = {0};
  CHECK(rlcore_vecenv_row_read(played.envs, world->env, 0, played.obs, row, sizeof row));
  for (uint32_t i = 0; i < tried.num_envs; i++) {
    CHECK(rlcore_vecenv_row_write(tried.envs, world->env, i, row, sizeof row, tried.obs));
    tried.action[i] = (int32_t)(i % num_actions);
  }
  for (uint32_t t = 0; t < depth; t++) {
    if (t > 0) draw(tried.action, tried.num_envs, num_actions);
    CHECK(rlcore_vecenv_step(tried.envs, world->env, &tried.rows));
    for (uint32_t i = 0; i < tried.num_envs; i++) {
      if (!over[i]) earned[i] += tried.reward[i]; /* what follows belongs to another episode */
      over[i] |= tried.terminated[i] | tried.truncated[i];
    }
  }
  float sum[MAX_ROWS] = {0};
  int32_t best = 0;
  for (uint32_t i = 0; i < tried.num_envs; i++) sum[i % num_actions] += earned[i];
  for (uint32_t a = 1; a < num_actions; a++)
    if (sum[a] > sum[best]) best = (int32_t)a;
  return best;
}

/* The mean return of the next episodes; depth 0: of random actions. */
static double play(const host_env *world, uint32_t depth) {
  double total = 0;
  for (int episodes = 0; episodes < EPISODES;) {
    if (depth > 0) played.action[0] = plan(world, depth);
    else draw(played.action, 1, world->action.n[0]);
    CHECK(rlcore_vecenv_step(played.envs, world->env, &played.rows));
    total += (double)played.reward[0];
    episodes += played.terminated[0] | played.truncated[0];
  }
  return total / EPISODES;
}

static const struct task { uint32_t env_id; const char *name; uint32_t tries, depth; double needed; } tasks[] = {
    {RLCORE_ENV_CARTPOLE, "CartPole-v1", 16, 40, 400},
    {RLCORE_ENV_CATCH, "Catch-bsuite", 16, 10, 1},
    {RLCORE_ENV_BREAKOUT, "Breakout-MinAtar", 20, 25, 8},
};

int main(void) {
  for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
    const struct task *const task = &tasks[k];
    const rlcore_env_def def = {.struct_size = sizeof def, .env_id = task->env_id, .max_episode_steps = k == 2 ? 1000 : 0};
    const size_t mark = host_mark();
    const host_env world = host_compile(&def);
    size_t size = 0;
    CHECK(rlcore_vecenv_row_size(world.env, &size));
    const uint32_t num_rows = task->tries * world.action.n[0];
    const bool fits = world.obs.len * host_element_size(world.obs.kind) <= MAX_OBS;
    if (!fits || size > MAX_ROW || num_rows > MAX_ROWS) host_fail("too large");
    CHECK(rlcore_rng_seed(&rng, 1));
    begin(&played, world.env, 1);
    begin(&tried, world.env, num_rows);
    const double by_chance = play(&world, 0), planned = play(&world, task->depth);
    printf("%-17s random %7.2f, planned %7.2f: a row is %zu bytes\n", task->name, by_chance, planned, size);
    if (EPISODES > 1 && planned < task->needed) host_fail("the planner must reach %g", task->needed);
    host_rewind(mark);
  }
  printf("ok: planned with copied rows\n");
  return 0;
}
