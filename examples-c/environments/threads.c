/* The host's own threads step disjoint ranges of one block of environments. 1, 2, 3 and 7 threads give the same bytes. */
#include "host.h"
#include "lander.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NUM_ENVS = 512, NUM_STEPS = 100, MAX_THREADS = 7 };

static struct {
  host_env world;
  rlcore_vecenv *envs;
  float obs[NUM_ENVS][LANDER_OBS_LEN], final_obs[NUM_ENVS][LANDER_OBS_LEN], reward[NUM_ENVS];
  uint8_t terminated[NUM_ENVS], truncated[NUM_ENVS];
  int32_t action[NUM_ENVS];
} game;

static const rlcore_rows ROWS = {
    .struct_size = sizeof ROWS,
    .obs = game.obs,
    .action = game.action,
    .reward = game.reward,
    .terminated = game.terminated,
    .truncated = game.truncated,
    .final_obs = game.final_obs,
};

typedef struct worker {
  pthread_t thread;
  uint32_t begin, end;
} worker;

/* A job: steps environments [begin, end) once. */
static void *job(void *argument) {
  const worker *const w = argument;
  CHECK(rlcore_vecenv_step_range(game.envs, game.world.env, w->begin, w->end, &ROWS));
  return NULL;
}

/* Runs the game with this many threads. Returns a hash of the block, its outputs and the rewards. */
static uint64_t run(void *mem, size_t size, uint32_t num_threads) {
  worker workers[MAX_THREADS];
  rlcore_vecenv_config config;
  rlcore_rng rng;
  uint64_t hash[3] = {0};
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = NUM_ENVS;
  config.seed = 1;
  memset(game.final_obs, 0, sizeof game.final_obs);
  CHECK(rlcore_vecenv_init(mem, size, game.world.env, &config, &game.envs));
  CHECK(rlcore_vecenv_reset(game.envs, game.world.env, NULL, game.obs));
  CHECK(rlcore_rng_seed(&rng, 1));
  for (int step = 0; step < NUM_STEPS; step++) {
    double draw[NUM_ENVS];
    CHECK(rlcore_rng_uniform(&rng, 0.0, 4.0, draw, NUM_ENVS));
    for (int i = 0; i < NUM_ENVS; i++) game.action[i] = (int32_t)draw[i];
    for (uint32_t k = 0; k < num_threads; k++) {
      workers[k].begin = NUM_ENVS * k / num_threads;
      workers[k].end = NUM_ENVS * (k + 1) / num_threads;
      if (pthread_create(&workers[k].thread, NULL, job, &workers[k])) host_fail("cannot start a thread");
    }
    for (uint32_t k = 0; k < num_threads; k++) pthread_join(workers[k].thread, NULL);
    hash[2] ^= host_hash(game.reward, sizeof game.reward) + (uint64_t)step;
  }
  hash[0] = host_hash(mem, size);
  hash[1] = host_hash(game.obs, sizeof game.obs) ^ host_hash(game.final_obs, sizeof game.final_obs);
  return host_hash(hash, sizeof hash);
}

int main(void) {
  static const uint32_t num_threads[] = {1, 2, 3, 7};
  rlcore_vecenv_config config;
  uint64_t first = 0;
  size_t size = 0;
  const rlcore_env_def def = lander_def();
  game.world = host_compile(&def);
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = NUM_ENVS;
  CHECK(rlcore_vecenv_size(game.world.env, &config, &size));
  void *const mem = host_take(size);
  for (int i = 0; i < 4; i++) {
    const uint64_t hash = run(mem, size, num_threads[i]);
    if (i == 0) first = hash;
    printf("%u thread(s): %016llx\n", (unsigned)num_threads[i], (unsigned long long)hash);
    if (hash != first) host_fail("FAILED: the number of threads changed the result");
  }
  printf("ok: %u landers, %u steps, the same bytes for 1, 2, 3 and 7 threads\n", (unsigned)NUM_ENVS,
         (unsigned)NUM_STEPS);
}
