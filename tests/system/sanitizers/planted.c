/* Faults that the sanitizers have to find, to prove that they are on: `planted race|library|callback|shift`.

   race:     two threads step the same rows; reader and writer are both the library's code.
   library:  an array is shorter than declared; the library writes past its end.
   callback: a callback writes one element more than its observation has, a fault of the host. Inside the array this hits the
             next environment's row, undetected; behind the last row the host's memory ends.
   shift:    a shift by 32. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, STEPS = 1000, OBS = 4 };

static host_env env;
static rlcore_vecenv *envs;
static int32_t action[N];
static float *obs, final_obs[N * OBS], reward[N];
static uint8_t terminated[N], truncated[N];
static int elements = 1; /* elements that the callbacks of the environment write */

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *out) {
  (void)user, (void)row, (void)state, (void)rng;
  for (int i = 0; i < elements; i++) ((float *)out)[i] = 0;
  return 0;
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *choice, void *out, rlcore_step *result) {
  (void)choice;
  result->reward = 1;
  return reset(user, row, state, rng, out);
}

static void walk(void) {
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward, .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  for (int i = 0; i < STEPS; i++) CHECK(rlcore_vecenv_step_range(envs, env.env, 0, N, &rows));
}

/* Both threads start together, so that the sanitizer's history of one still has its accesses when the other makes its own. */
static pthread_barrier_t together;
static void *thread(void *unused) {
  pthread_barrier_wait(&together);
  walk();
  return unused;
}

static void start(size_t obs_len) {
  rlcore_vecenv_config config;
  size_t size;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = N;
  CHECK(rlcore_vecenv_size(env.env, &config, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, env.env, &config, &envs));
  obs = malloc(obs_len * sizeof *obs);
  if (!obs) host_fail("no memory");
  CHECK(rlcore_vecenv_reset(envs, env.env, NULL, obs));
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "";
  rlcore_env_def def = {.struct_size = sizeof def, .env_id = RLCORE_ENV_CARTPOLE};
  env = host_compile(&def);
  if (strcmp(what, "race") == 0) {
    pthread_t other;
    start(N * OBS);
    if (pthread_barrier_init(&together, NULL, 2) || pthread_create(&other, NULL, thread, NULL)) host_fail("no thread");
    thread(NULL);
    pthread_join(other, NULL);
  } else if (strcmp(what, "library") == 0) {
    start(N * OBS - 1);
  } else if (strcmp(what, "callback") == 0) {
    static const uint32_t choices[1] = {2};
    def = (rlcore_env_def){.struct_size = sizeof def, .env_id = 1000, .state_size = 8, .reset = reset, .step = step,
                           .obs = {.kind = RLCORE_F32, .len = 1}, .action = {.kind = RLCORE_I32, .len = 1, .n = choices}};
    env = host_compile(&def);
    start(N);
    walk();
    elements = 2;
    walk();
  } else if (strcmp(what, "shift") == 0) {
    return 1 << (31 + argc / 2);
  } else {
    host_fail("planted race|library|callback|shift");
  }
  return 0;
}
