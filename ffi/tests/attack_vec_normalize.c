/* Calls every function of the normaliser, and those of running moments, wrongly, in ways that need a state. */
#include "rlcore.h"

#include <float.h>
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
  rlcore_vecenv_out in, out;
  size_t size;
  float obs[N][OBS], reward[N], final_obs[N][OBS];
  float out_obs[N][OBS], out_reward[N], out_final[N][OBS];
  uint8_t terminated[N], truncated[N], valid[N];
  double mean[OBS], var[OBS], count, with_mean[OBS], with_var[OBS];
} w, before;

#include "attack.h"

#if SIZE_MAX == UINT64_MAX
_Static_assert(sizeof(rlcore_vec_normalize_config) == 48, "");
OFFSET(rlcore_vec_normalize_config, num_envs, 4); OFFSET(rlcore_vec_normalize_config, obs_len, 8);
OFFSET(rlcore_vec_normalize_config, normalize_obs, 12); OFFSET(rlcore_vec_normalize_config, normalize_reward, 16);
OFFSET(rlcore_vec_normalize_config, clip_obs, 20); OFFSET(rlcore_vec_normalize_config, clip_reward, 24);
OFFSET(rlcore_vec_normalize_config, reserved, 28); OFFSET(rlcore_vec_normalize_config, discount, 32);
OFFSET(rlcore_vec_normalize_config, epsilon, 40);
_Static_assert(sizeof(rlcore_vec_normalize_stats) == 40, "");
OFFSET(rlcore_vec_normalize_stats, frozen, 4); OFFSET(rlcore_vec_normalize_stats, obs_count, 8);
OFFSET(rlcore_vec_normalize_stats, return_mean, 16); OFFSET(rlcore_vec_normalize_stats, return_var, 24);
OFFSET(rlcore_vec_normalize_stats, return_count, 32);
#endif

static rlcore_vecenv_out step_of(void *obs, float *reward, void *final_obs) {
  return (rlcore_vecenv_out){sizeof(rlcore_vecenv_out), 0, obs, reward, w.terminated, w.truncated, final_obs, w.valid};
}

/* A normaliser that has seen a step, and what the next step returned. */
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
  w.out = (rlcore_vecenv_out){sizeof w.out, 0, w.out_obs, w.out_reward, NULL, NULL, w.out_final, NULL};
  FINE(rlcore_vec_normalize_step(w.normal, &w.in, &w.out));
  w.stats.struct_size = sizeof w.stats;
  w.size = 77;
}

static void attack_config(void) {
  start();
  look();
  CHECK(rlcore_vec_normalize_config_init(NULL, sizeof w.config) == NULLED);
  REFUSED(RLCORE_E_SIZE, "at least 48, given 40", rlcore_vec_normalize_config_init(&w.config, 40));
  REFUSED(RLCORE_E_SIZE, "given 5000", rlcore_vec_normalize_config_init(&w.config, 5000));
  FINE(rlcore_vec_normalize_size(&w.config, &w.size));
  CHECK(w.size > 0 && w.size <= BLOCK);
#define CONFIG(field, bad, words) \
  WITH(w.config.field, bad, RLCORE_E_CONFIG, words, rlcore_vec_normalize_size(&w.config, &w.size)); \
  WITH(w.config.field, bad, RLCORE_E_CONFIG, words, rlcore_vec_normalize_init(w.mem, sizeof w.mem, &w.config, &w.normal))
  CONFIG(struct_size, 0, "struct_size");
  CONFIG(struct_size, 40, "at least 48, given 40");
  CONFIG(struct_size, UINT32_MAX, "struct_size");
  CONFIG(num_envs, 0, "num_envs of at least 1");
  CONFIG(obs_len, 0, "obs_len of at least 1");
  CONFIG(normalize_obs, 2, "normalize_obs: 0 or 1, given 2");
  CONFIG(normalize_reward, UINT32_MAX, "normalize_reward: 0 or 1");
  CONFIG(clip_obs, 0, "clip_obs above 0");
  CONFIG(clip_obs, NAN, "clip_obs above 0");
  CONFIG(clip_obs, INFINITY, "clip_obs above 0");
  CONFIG(clip_reward, -1, "clip_reward above 0");
  CONFIG(clip_reward, NAN, "clip_reward above 0");
  CONFIG(reserved, 1, "reserved: zero");
  CONFIG(discount, -0.1, "discount from 0 to 1");
  CONFIG(discount, 1.1, "discount from 0 to 1");
  CONFIG(discount, (double)NAN, "discount from 0 to 1");
  CONFIG(epsilon, 0, "epsilon from 1e-30");
  CONFIG(epsilon, (double)INFINITY, "epsilon from 1e-30");
  w.config.num_envs = w.config.obs_len = UINT32_MAX;
  CHECK(rlcore_vec_normalize_size(&w.config, &w.size) == RLCORE_OK || sizeof(size_t) == 4);
}

static void attack_block(void) {
  start();
  size_t size;
  FINE(rlcore_vec_normalize_size(&w.config, &size));
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_vec_normalize_init(w.mem, size - 1, &w.config, &w.normal));
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_vec_normalize_attach(w.mem, size - 1, &w.normal));
  REFUSED(RLCORE_E_SIZE, "header", rlcore_vec_normalize_attach(w.mem, 8, &w.normal));
  FINE(rlcore_vec_normalize_attach(w.mem, BLOCK, &w.normal));
  for (size_t i = 0; i < 40; i++) {
    w.mem[i] ^= 1;
    CHECK(rlcore_vec_normalize_attach(w.mem, BLOCK, &w.normal) != RLCORE_OK);
    w.mem[i] ^= 1;
  }
  for (size_t i = 64; i < 104; i++) {
    w.mem[i] ^= 0x40;
    REFUSED(RLCORE_E_IMAGE, "checksum", rlcore_vec_normalize_attach(w.mem, BLOCK, &w.normal));
    w.mem[i] ^= 0x40;
  }
  memset(w.mem + 128, 0xff, 8);
  REFUSED(RLCORE_E_IMAGE, "statistics that a step can leave", rlcore_vec_normalize_attach(w.mem, BLOCK, &w.normal));
}

static void attack_calls(void) {
  start();
  float (*const in)[OBS] = w.obs, (*const out)[OBS] = w.out_obs;

#define OBSERVATIONS(call) \
  do { \
    const float *from = in[0]; \
    float *to = out[0]; \
    WITH(to, in[0] + 1, RLCORE_E_OVERLAP, "overlaps another array", call); \
    WITH(in[N - 1][OBS - 1], NAN, RLCORE_E_VALUE, "finite obs, given NaN", call); \
    WITH(in[N - 1][0], -INFINITY, RLCORE_E_VALUE, "finite obs, given -inf", call); \
  } while (0)
  OBSERVATIONS(rlcore_vec_normalize_reset(w.normal, from, to));
  OBSERVATIONS(rlcore_vec_normalize_reset_one(w.normal, N - 1, from, to));
  OBSERVATIONS(rlcore_vec_normalize_obs(w.normal, N, from, to));
  REFUSED(RLCORE_E_RANGE, "below 3, given 3", rlcore_vec_normalize_reset_one(w.normal, N, in[0], out[0]));
  REFUSED(RLCORE_E_RANGE, "given 4294967295", rlcore_vec_normalize_reset_one(w.normal, UINT32_MAX, in[0], out[0]));
  FINE(rlcore_vec_normalize_obs(w.normal, 0, in[0], out[0]));

#define STEP rlcore_vec_normalize_step(w.normal, &w.in, NULL)
#define APART rlcore_vec_normalize_step(w.normal, &w.in, &w.out)
  WITH(w.in.reserved, 1, RLCORE_E_CONFIG, "reserved", STEP);
  WITH(w.out.reserved, 1, RLCORE_E_CONFIG, "reserved", APART);
  WITH(w.in.reward, w.obs[0], RLCORE_E_OVERLAP, "overlaps another array", STEP);
  WITH(w.in.final_obs, w.obs, RLCORE_E_OVERLAP, "overlaps another array", STEP);
  WITH(w.in.valid, (uint8_t *)w.obs, RLCORE_E_OVERLAP, "overlaps another array", STEP);
  WITH(w.in.terminated, w.mem, RLCORE_E_OVERLAP, "overlaps another array", STEP);
  WITH(w.out.obs, w.obs[1], RLCORE_E_OVERLAP, "overlaps another array", APART);
  WITH(w.out.reward, w.reward + 1, RLCORE_E_OVERLAP, "overlaps another array", APART);
  WITH(w.out.reward, w.obs[0], RLCORE_E_OVERLAP, "overlaps another array", APART);
  WITH(w.out.final_obs, w.out_obs, RLCORE_E_OVERLAP, "overlaps another array", APART);
  WITH(w.obs[2][3], NAN, RLCORE_E_VALUE, "finite obs", STEP);
  WITH(w.obs[0][0], INFINITY, RLCORE_E_VALUE, "finite obs", APART);
  WITH(w.final_obs[1][3], NAN, RLCORE_E_VALUE, "finite final_obs", STEP);
  WITH(w.final_obs[2][0], NAN, RLCORE_E_VALUE, "finite final_obs", APART);
  w.final_obs[0][0] = NAN; /* environment 0 did not end */
  FINE(APART);
  w.in.final_obs = NULL;
  w.in.valid = NULL;
  FINE(STEP);

  REFUSED(RLCORE_E_RANGE, "0 or 1, given 2", rlcore_vec_normalize_freeze(w.normal, 2));
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
  double *mean = w.mean, *var = w.var, *count = &w.count;
#define RESET rlcore_moments_reset(OBS, 1e-4, mean, var, count)
  REFUSED(RLCORE_E_SHAPE, "columns of at least 1", rlcore_moments_reset(0, 1e-4, mean, var, count));
  REFUSED(RLCORE_E_RANGE, "initial_count from 0 to 1", rlcore_moments_reset(OBS, -0.5, mean, var, count));
  REFUSED(RLCORE_E_RANGE, "initial_count from 0 to 1", rlcore_moments_reset(OBS, 2, mean, var, count));
  REFUSED(RLCORE_E_VALUE, "initial_count from 0 to 1", rlcore_moments_reset(OBS, (double)NAN, mean, var, count));
  FINE(RESET);
  CHECK(w.mean[3] == 0 && w.var[3] == 1 && w.count == 1e-4);

  const double *with_mean = w.with_mean, *with_var = w.with_var;
  for (int i = 0; i < OBS; i++) w.with_mean[i] = 5, w.with_var[i] = 0;
#define MERGE rlcore_moments_merge(OBS, with_mean, with_var, 1, mean, var, count)
  REFUSED(RLCORE_E_SHAPE, "columns of at least 1", rlcore_moments_merge(0, with_mean, with_var, 1, mean, var, count));
  WITH(w.with_mean[0], 1e61, RLCORE_E_VALUE, "finite mean", MERGE);
  WITH(w.with_var[0], -1, RLCORE_E_RANGE, "variance of at least 0", MERGE);
  WITH(w.var[3], -1, RLCORE_E_RANGE, "variance of at least 0", MERGE);
  WITH(w.count, -1, RLCORE_E_RANGE, "count from 0", MERGE);
  REFUSED(RLCORE_E_RANGE, "count from 0", rlcore_moments_merge(OBS, with_mean, with_var, -1, mean, var, count));
  WITH(w.count, 0, RLCORE_E_RANGE, "above 0", rlcore_moments_merge(OBS, with_mean, with_var, 0, mean, var, count));
  FINE(MERGE);
  CHECK(w.mean[0] == 4.999500049995 && w.var[0] == 0.0025994900759899013 && w.count == 1.0001);

  const float *x = w.obs[0];
  float *out = w.out_obs[0];
  const double *m = w.mean, *v = w.var;
#define NORMALIZE rlcore_normalize(x, N, OBS, m, v, 1e-8, 10, out)
  WITH(out, w.obs[0] + 1, RLCORE_E_OVERLAP, "overlaps another array", NORMALIZE);
  WITH(w.obs[2][3], NAN, RLCORE_E_VALUE, "finite number", NORMALIZE);
  WITH(w.var[0], -1e-9, RLCORE_E_RANGE, "variance of at least 0", NORMALIZE);
  REFUSED(RLCORE_E_SHAPE, "columns of at least 1", rlcore_normalize(x, N, 0, m, v, 1e-8, 10, out));
  REFUSED(RLCORE_E_RANGE, "clip above 0", rlcore_normalize(x, N, OBS, m, v, 1e-8, 0, out));
  REFUSED(RLCORE_E_VALUE, "finite clip", rlcore_normalize(x, N, OBS, m, v, 1e-8, NAN, out));
  REFUSED(RLCORE_E_RANGE, "epsilon from 1e-30", rlcore_normalize(x, N, OBS, m, v, 0, 10, out));
  FINE(NORMALIZE);
  out = w.obs[0];
  FINE(NORMALIZE);
  CHECK(memcmp(w.obs, w.out_obs, sizeof w.obs) == 0);
}

int main(void) {
  attack_config();
  attack_block();
  attack_calls();
  attack_moments();
  return verdict();
}
