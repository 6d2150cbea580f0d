/* Wrong calls of every batch function, in each state of a batch. */
#include "rlcore.h"
#include "../../tests/system/env.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 4, SERIES = 2, OBS = 4, BLOCK = 4096 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  _Alignas(64) unsigned char own[BLOCK];
  _Alignas(64) unsigned char other[BLOCK];
  compiled_env env;
  rlcore_vecenv_config config;
  rlcore_batch_config settings;
  rlcore_vecenv *vecenv, *foreign;
  rlcore_batch *batch, *attached;
  rlcore_batch_counts counts;
  rlcore_rows out;
  size_t size;
  uint64_t seed;
  uint32_t rows[N], count;
  float obs[N][OBS], final_obs[N][OBS], reward[N];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], valid[N], failed[N];
} w, before;

#include "attack.h"

/* Whether the batch is in this state: closed or not, and its numbers of pending, running and done groups. */
static int state_is(uint32_t closed, uint32_t pending, uint32_t running, uint32_t done) {
  w.counts.struct_size = sizeof w.counts;
  FINE(rlcore_batch_count(w.batch, &w.counts));
  const rlcore_batch_counts c = w.counts;
  return c.closed == closed && c.num_pending == pending && c.num_running == running && c.num_done == done;
}

/* A fresh world: N CartPoles after a reset, and an idle batch over them. */
static void start(void) {
  memset(&w, 0, sizeof w);
  w.size = 77;
  w.count = 99;
  FINE(compile_env(BUILTIN(RLCORE_ENV_CARTPOLE), &w.env));
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  FINE(rlcore_batch_config_init(&w.settings, sizeof w.settings));
  CHECK(w.settings.in_series == 1);
  w.config.num_envs = N;
  w.settings.in_series = SERIES;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, w.env.env, NULL, w.obs));
  FINE(rlcore_batch_init(w.own, sizeof w.own, w.env.env, &w.config, &w.settings, &w.batch));
  w.out = (rlcore_rows){.struct_size = sizeof w.out, .obs = w.obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .valid = w.valid};
  w.rows[1] = 1;
}

/* ---- Checks that all calls on a batch share ---- */

#define OUT(b) rlcore_batch_step_wait(b, &w.out)
#define RECV(b) rlcore_batch_recv(b, SERIES, w.rows, &w.out)
#define ASYNC(b, v, e) rlcore_batch_step_async(b, v, e, CHOSEN(w.action))
#define LEVEL(b, v, e) rlcore_batch_step_env_async(b, v, e, RLCORE_LEVEL_SAME, CHOSEN(w.action))
#define SEND(b, v, e) rlcore_batch_send(b, v, e, SERIES, w.rows, CHOSEN(w.action))
#define RUN(b, v, e) rlcore_batch_run(b, v, e, 0, UINT32_MAX, &w.count)
#define RESET(b, v, e) rlcore_batch_reset(b, v, e, &w.seed, w.obs)
#define RESET_ONE(b, v, e) rlcore_batch_reset_one(b, v, e, 0, &w.seed, w.obs)
#define ABANDON(b, v, e) rlcore_batch_abandon(b, v, e, 0, &w.count)

static void attack_handles(void) {
  start();
  WITH(w.settings.in_series, 3, RLCORE_E_CONFIG, "that divides num_envs = 4, given 3",
       rlcore_batch_size(w.env.env, &w.config, &w.settings, &w.size));
  w.counts.struct_size = sizeof w.counts;
  CHECK(rlcore_batch_count(w.batch, (rlcore_batch_counts *)(void *)w.own) == RLCORE_E_CONFIG); /* "rlcore" read as struct_size */

  /* A foreign vecenv: another num_envs, seed or limit; and the right vecenv with a foreign environment. */
  const rlcore_vecenv_config kept = w.config;
  for (int i = 0; i < 4; i++) {
    rlcore_vecenv_config config = kept;
    if (i == 0) config.num_envs = N + 1;
    if (i == 1) config.seed = 1;
    if (i == 2) config.max_episode_steps = 3;
    if (i == 3) config.autoreset = RLCORE_AUTORESET_DISABLED;
    FINE(rlcore_vecenv_init(w.other, sizeof w.other, w.env.env, &config, &w.foreign));
#define FOREIGN(call) REFUSED(RLCORE_E_CONFIG, "that it was made for", call(w.batch, w.foreign, w.env.env))
    FOREIGN(ASYNC), FOREIGN(LEVEL), FOREIGN(SEND), FOREIGN(RUN), FOREIGN(RESET), FOREIGN(RESET_ONE), FOREIGN(ABANDON);
  }
}

/* ---- Arguments ---- */

static void attack_arguments(void) {
  start();
  rlcore_batch *const b = w.batch;
  rlcore_vecenv *const v = w.vecenv;
  for (uint32_t len = 0; len < N; len += 1 + (len == 1)) /* 0, 1, 3 */
    REFUSED(RLCORE_E_RANGE, "rows", rlcore_batch_send(b, v, w.env.env, len, w.rows, CHOSEN(w.action)));
  const uint32_t wrong[][4] = {{1, 2}, {1, 0}, {0, 0}, {4, 5}, {UINT32_MAX, 0}, {3, 2}, {0, 1, 0, 1}, {2, 3, 0, 1},
        {0, 1, 3, 2}};
  for (int i = 0; i < 9; i++)
    REFUSED(RLCORE_E_RANGE, "in ascending order", rlcore_batch_send(b, v, w.env.env, i < 6 ? 2 : 4, wrong[i], CHOSEN(w.action)));
  FINE(ASYNC(b, v, w.env.env));
  FINE(RUN(b, v, w.env.env));
  CHECK(w.count == N / SERIES);
  for (uint32_t len = 0; len < N; len += 1 + (len == 1))
    REFUSED(RLCORE_E_RANGE, "room for a whole number of groups; rows of a group 2, given",
            rlcore_batch_recv(b, len, w.rows, &w.out));
  REFUSED(RLCORE_E_NOT_PENDING, "cannot collect 6 rows: 4 are pending", rlcore_batch_recv(b, 6, (uint32_t *)(void *)w.other, &(rlcore_rows){.struct_size = sizeof w.out, .obs = w.other + 64, .reward = (float *)(void *)(w.other + 256), .terminated = w.other + 512, .truncated = w.other + 576, .final_obs = w.other + 640}));
  w.out.valid = NULL;
  FINE(OUT(b));
  w.out.valid = w.valid;
  CHECK(w.reward[0] == 1.0f && w.reward[N - 1] == 1.0f && w.valid[0] == 0);
}

/* ---- The state machine ---- */

static void attack_states(void) {
  start();
  rlcore_batch *const b = w.batch;
  rlcore_vecenv *const v = w.vecenv;
  REFUSED(RLCORE_E_NOT_PENDING, "cannot collect 1 rows: 0 are pending", OUT(b));
  CHECK(state_is(0, 0, 0, 0));
  FINE(ASYNC(b, v, w.env.env));
  CHECK(state_is(0, 2, 0, 0));
#define PENDING_IS_BUSY() \
  do { \
    REFUSED(RLCORE_E_BUSY, "of group 0 has not been collected", ASYNC(b, v, w.env.env)); \
    REFUSED(RLCORE_E_BUSY, "of group 0 has not been collected", SEND(b, v, w.env.env)); \
    REFUSED(RLCORE_E_BUSY, "of group 0 has not been collected", RESET_ONE(b, v, w.env.env)); \
  } while (0)
  PENDING_IS_BUSY();
  REFUSED(RLCORE_E_BUSY, "of group 0 has not been collected", LEVEL(b, v, w.env.env));
  REFUSED(RLCORE_E_NOT_READY, "2 groups are not finished", OUT(b));
  REFUSED(RLCORE_E_NOT_READY, "2 groups are not finished", RECV(b));
  FINE(rlcore_batch_run(b, v, w.env.env, 3, 1, &w.count));
  CHECK(w.count == 1);
  CHECK(state_is(0, 1, 0, 1));
  PENDING_IS_BUSY();
  REFUSED(RLCORE_E_NOT_READY, "1 groups are not finished", OUT(b));
  FINE(RECV(b));
  CHECK(w.rows[0] == 0 && w.rows[1] == 1 && w.reward[1] == 1.0f && w.reward[2] == 0.0f);
  FINE(SEND(b, v, w.env.env));
  FINE(RUN(b, v, w.env.env));
  FINE(OUT(b));
  REFUSED(RLCORE_E_NOT_PENDING, "0 are pending", OUT(b));
  FINE(LEVEL(b, v, w.env.env));
  FINE(RUN(b, v, w.env.env));
  CHECK(w.count == 2);
  FINE(OUT(b));

  /* A reset in between: nothing is delivered afterwards. */
  FINE(ASYNC(b, v, w.env.env));
  FINE(rlcore_batch_run(b, v, w.env.env, 3, 1, &w.count));
  FINE(RESET(b, v, w.env.env));
  REFUSED(RLCORE_E_NOT_PENDING, "0 are pending", OUT(b));
  FINE(RUN(b, v, w.env.env));
  CHECK(w.count == 0);
  FINE(rlcore_batch_abandon(b, v, w.env.env, 3, &w.count));
  CHECK(w.count == 0);

  /* The image shows a worker that died inside a group: the rows of that group fail, the others do not. */
  FINE(ASYNC(b, v, w.env.env));
  size_t words = 0;
  for (size_t at = 128; words == 0 && at < sizeof w.own; at += 4)
    if (w.own[at] == 1 && w.own[at + 4] == 1 && w.own[at + 8] == 0) words = at; /* two pending groups */
  CHECK(words != 0);
  w.own[words] = 9 << 2 | 2;
  FINE(rlcore_batch_attach(w.own, sizeof w.own, &w.attached));
  CHECK(state_is(0, 1, 1, 0));
  FINE(RUN(b, v, w.env.env));
  CHECK(w.count == 1);
  REFUSED(RLCORE_E_NOT_READY, "1 groups are not finished", OUT(b));
  FINE(rlcore_batch_failed(b, w.failed));
  CHECK(w.failed[0] == 0 && w.failed[2] == 0);
  FINE(rlcore_batch_abandon(b, v, w.env.env, 8, &w.count));
  CHECK(w.count == 0);
  FINE(rlcore_batch_abandon(b, v, w.env.env, 9, &w.count));
  CHECK(w.count == SERIES);
  memset(w.reward, 0, sizeof w.reward);
  CHECK(OUT(b) == RLCORE_E_CALLBACK && w.reward[0] == 0.0f && w.reward[2] == 1.0f && w.reward[3] == 1.0f);
  char why[256];
  FINE(rlcore_last_error(why, sizeof why));
  CHECK(strcmp(why, "RLCORE_E_CALLBACK: batch: the worker of environment 0 was abandoned") == 0);
  FINE(rlcore_batch_failed(b, w.failed));
  CHECK(w.failed[0] == 1 && w.failed[1] == 1 && w.failed[2] == 0 && w.failed[3] == 0);
  REFUSED(RLCORE_E_NOT_READY, "environment 0 must be reset before it is stepped", ASYNC(b, v, w.env.env));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 must be reset", SEND(b, v, w.env.env));
  for (uint32_t i = 0; i < SERIES; i++) FINE(rlcore_batch_reset_one(b, v, w.env.env, i, &w.seed, w.obs));
  FINE(ASYNC(b, v, w.env.env));
  FINE(RUN(b, v, w.env.env));
  FINE(OUT(b));

  /* While a worker is running, a reset takes back the groups that no worker has begun and returns E_NOT_READY. */
  FINE(ASYNC(b, v, w.env.env));
  w.own[words + 4] = 9 << 2 | 2;
  CHECK(RESET(b, v, w.env.env) == RLCORE_E_NOT_READY);
  REFUSED(RLCORE_E_NOT_READY, "1 groups are not finished", RESET(b, v, w.env.env));
  REFUSED(RLCORE_E_BUSY, "call rlcore_batch_reset again", ASYNC(b, v, w.env.env));
  REFUSED(RLCORE_E_BUSY, "call rlcore_batch_reset again", SEND(b, v, w.env.env));
  REFUSED(RLCORE_E_BUSY, "call rlcore_batch_reset again", RESET_ONE(b, v, w.env.env));
  REFUSED(RLCORE_E_NOT_PENDING, "batch", OUT(b));
  FINE(rlcore_batch_abandon(b, v, w.env.env, 9, &w.count));
  CHECK(w.count == SERIES);
  FINE(RESET(b, v, w.env.env));
  FINE(ASYNC(b, v, w.env.env));

  w.own[words] = 9 << 2 | 2;
  FINE(rlcore_batch_close(b));
  CHECK(state_is(1, 0, 1, 0));
#define CLOSED(call) REFUSED(RLCORE_E_CONFIG, "batch: the batch is closed", call)
  CLOSED(OUT(b)), CLOSED(RECV(b)), CLOSED(rlcore_batch_failed(b, w.failed));
  CLOSED(ASYNC(b, v, w.env.env)), CLOSED(LEVEL(b, v, w.env.env)), CLOSED(SEND(b, v, w.env.env)), CLOSED(RUN(b, v, w.env.env));
  CLOSED(RESET(b, v, w.env.env)), CLOSED(RESET_ONE(b, v, w.env.env)), CLOSED(ABANDON(b, v, w.env.env));
  look();
  FINE(rlcore_batch_close(b));
  CHECK(memcmp(&w, &before, sizeof w) == 0);
  FINE(rlcore_vecenv_step(v, w.env.env, TAKING(w.action, &w.out)));
}

int main(void) {
  attack_handles();
  attack_arguments();
  attack_states();
  return verdict();
}
