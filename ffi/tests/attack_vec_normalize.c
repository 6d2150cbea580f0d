/* Wrong calls that need a state, of every function of the normalizer and of running moments. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, OBS = 4, BLOCK = 1024 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK], other[BLOCK], third[BLOCK];
  rlcore_vec_normalize_config config;
  rlcore_vec_normalize *normal, *peer, *wide;
  rlcore_vec_normalize_stats stats;
  rlcore_rows in, out;
  size_t size;
  float obs[N][OBS], reward[N], final_obs[N][OBS];
  float out_obs[N][OBS], out_reward[N], out_final[N][OBS];
  uint8_t terminated[N], truncated[N], valid[N];
  double mean[OBS], var[OBS], count, with_mean[OBS], with_var[OBS];
} w, before;

#include "attack.h"

static rlcore_rows step_of(void *obs, float *reward, void *final_obs) {
  return (rlcore_rows){.struct_size = sizeof(rlcore_rows), .obs = obs, .reward = reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = final_obs, .valid = w.valid};
}

/* A normalizer after one step, and the results of the next step. */
static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_vec_normalize_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  w.config.obs_len = OBS;
  FINE(rlcore_vec_normalize_init(w.mem, sizeof w.mem, &w.config, &w.normal));
  w.config.num_envs = 2 * N;
  FINE(rlcore_vec_normalize_init(w.other, sizeof w.other, &w.config, &w.peer));
  w.config.num_envs = N;
  w.config.obs_len = OBS + 1;
  FINE(rlcore_vec_normalize_init(w.third, sizeof w.third, &w.config, &w.wide));
  w.config.obs_len = OBS;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < OBS; j++) w.obs[i][j] = (float)(i * j + j), w.final_obs[i][j] = (float)(i - j);
    w.reward[i] = (float)i - 0.5f;
    w.valid[i] = 1;
  }
  w.terminated[1] = 1;
  w.truncated[2] = 1;
  w.in = step_of(w.obs, w.reward, w.final_obs);
  w.out = (rlcore_rows){.struct_size = sizeof w.out, .obs = w.out_obs, .reward = w.out_reward, .final_obs = w.out_final};
  FINE(rlcore_vec_normalize_step(w.normal, &w.in, &w.out));
  w.stats.struct_size = sizeof w.stats;
  w.size = 77;
}

static void attack_block(void) {
  start();
  memset(w.mem + 128, 0xff, 8);
  REFUSED(RLCORE_E_IMAGE, "statistics that a step can leave", rlcore_vec_normalize_attach(w.mem, BLOCK, &w.normal));
}

static void attack_calls(void) {
  start();
  float (*const in)[OBS] = w.obs, (*const out)[OBS] = w.out_obs;

  /* Observations may be normalized in place, but not into another overlapping array. */
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vec_normalize_reset(w.normal, in[0], in[0] + 1));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array",
          rlcore_vec_normalize_reset_one(w.normal, N - 1, in[0], in[0] + 1));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_vec_normalize_obs(w.normal, N, in[0], in[0] + 1));
  FINE(rlcore_vec_normalize_obs(w.normal, 0, in[0], out[0]));

#define STEP rlcore_vec_normalize_step(w.normal, &w.in, NULL)
#define APART rlcore_vec_normalize_step(w.normal, &w.in, &w.out)
  WITH(w.in.reserved, 1, RLCORE_E_CONFIG, "reserved", STEP);
  WITH(w.out.reserved, 1, RLCORE_E_CONFIG, "reserved", APART);
  w.final_obs[0][0] = NAN; /* environment 0 did not end */
  FINE(APART);
  w.in.final_obs = NULL;
  w.in.valid = NULL;
  FINE(STEP);

  FINE(rlcore_vec_normalize_freeze(w.normal, 1));
  look();
  FINE(rlcore_vec_normalize_reset(w.normal, in[0], out[0]));
  CHECK(memcmp(before.mem, w.mem, sizeof w.mem) == 0);
  FINE(rlcore_vec_normalize_freeze(w.normal, 0));
  FINE(rlcore_vec_normalize_reset(w.normal, in[0], in[0]));

  REFUSED(RLCORE_E_OVERLAP, "the two objects must differ", rlcore_vec_normalize_merge(w.normal, w.normal));
  REFUSED(RLCORE_E_CONFIG, "obs_len of 4, given 5", rlcore_vec_normalize_merge(w.normal, w.wide));
  FINE(rlcore_vec_normalize_merge(w.normal, w.peer));

#define STATS rlcore_vec_normalize_statistics(w.normal, w.mean, w.var, &w.stats)
  FINE(rlcore_vec_normalize_statistics(w.normal, NULL, NULL, &w.stats));
  CHECK(w.stats.obs_count > 12 && w.stats.frozen == 0 && w.stats.struct_size == sizeof w.stats && w.mean[0] == 0);
  FINE(STATS);
  CHECK(w.var[3] > 0 && w.mean[3] > 0);
}

/* ---- Running moments on the caller's arrays ---- */

static void attack_moments(void) {
  start();
  for (int i = 0; i < OBS; i++) w.with_mean[i] = 5;
#define MERGE(rows) rlcore_moments_merge(OBS, w.with_mean, w.with_var, rows, w.mean, w.var, &w.count)
  FINE(rlcore_moments_reset(OBS, 0, w.mean, w.var, &w.count));
  REFUSED(RLCORE_E_RANGE, "above 0", MERGE(0));
  FINE(rlcore_moments_reset(OBS, 1e-4, w.mean, w.var, &w.count));
  CHECK(w.mean[3] == 0 && w.var[3] == 1 && w.count == 1e-4);
  WITH(w.with_mean[0], 1e61, RLCORE_E_VALUE, "finite mean", MERGE(1));
  FINE(MERGE(1));
  CHECK(w.mean[0] == 4.999500049995 && w.var[0] == 0.0025994900759899013 && w.count == 1.0001);
  FINE(rlcore_normalize(NORMALIZER(OBS, w.mean, w.var, 1e-8, 10), w.obs[0], N, w.out_obs[0]));
  FINE(rlcore_normalize(NORMALIZER(OBS, w.mean, w.var, 1e-8, 10), w.obs[0], N, w.obs[0]));
  CHECK(memcmp(w.obs, w.out_obs, sizeof w.obs) == 0);
}

int main(void) {
  attack_block();
  attack_calls();
  attack_moments();
  return verdict();
}
