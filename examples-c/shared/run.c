#include "run.h"

#include "gif.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 150, FRAMES_IN_A_LOG = 3 };

run run_plan(const training *t, uint64_t num_steps) {
  const uint64_t steps_per_update = (uint64_t)t->config.num_steps * t->config.num_envs;
  run r = {.num_updates = (size_t)((num_steps + steps_per_update - 1) / steps_per_update)};
  r.curve = host_take(r.num_updates * sizeof *r.curve);
  return r;
}

static void progress(const run *r, const training *t, uint64_t seed, size_t updates, double seconds) {
  const rlcore_learner_stats *s = &t->stats;
  char spark[3 * 16 + 1];
  term_sparkline(spark, r->curve, updates, 16);
  term_progress("seed %u %s %7llu steps  %4.0fk/s  return %7.1f  KL %.4f  explained %5.2f  %.1f s left", (unsigned)seed,
                spark, (unsigned long long)s->num_steps, (double)s->num_steps / fmax(seconds, 1e-9) / 1e3,
                (double)s->return_mean, (double)s->approx_kl, (double)s->explained_variance,
                seconds * (double)(r->num_updates - updates) / (double)updates);
}

void run_seed(run *r, training *t, uint64_t seed, double bar, monitor *m, bool quiet) {
  const double start = host_seconds(), interval = term_is_tty() ? 0.1 : 5.0;
  double shown = start;
  r->solved_seconds = (double)NAN;
  r->solved_steps = 0;
  training_start(t, seed);
  for (size_t update = 0; update < r->num_updates; update++) {
    for (uint32_t i = 0; i < t->config.num_steps; i++) {
      training_step(t);
      monitor_step(m, t);
      training_learn(t, 0);
    }
    r->curve[update] = t->stats.num_episodes ? t->stats.return_mean : NAN;
    if (r->events) events_learner(r->events, &t->stats);
    if (r->csv && !events_csv(r->csv, &t->stats)) host_fail("cannot write the statistics");

    const double now = host_seconds();
    if (isnan(r->solved_seconds) && t->stats.num_episodes >= 100 && (double)t->stats.return_mean >= bar) {
      r->solved_seconds = now - start;
      r->solved_steps = t->stats.num_steps;
    }
    if (!quiet && (now - shown > interval || update + 1 == r->num_updates)) {
      progress(r, t, seed, update + 1, now - start);
      shown = now;
    }
  }
  r->seconds = host_seconds() - start;
  if (!quiet && term_is_tty()) putchar('\n');
}

/* A greedy policy in a world of its own. */
typedef struct player {
  const rlcore_policy *policy;
  const host_env *world;
  rlcore_vecenv *envs;
  rlcore_policy_buffers buffers;
  rlcore_rng rng; /* greedy choices do not depend on it */
} player;

/* Takes memory. obs: [obs.len] the first observation, to write. */
static player player_begin(const rlcore_policy *policy, const host_env *world, void *obs) {
  player p = {.policy = policy, .world = world};
  rlcore_vecenv_config config;
  size_t size = 0, scratch_len = 0, state_len = 0;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = 1;
  config.seed = 1;
  CHECK(rlcore_vecenv_size(world->env, &config, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, world->env, &config, &p.envs));
  CHECK(rlcore_policy_scratch_len(policy, 1, &scratch_len));
  CHECK(rlcore_policy_state_len(policy, &state_len));
  p.buffers = (rlcore_policy_buffers){.struct_size = sizeof p.buffers,
                                      .scratch = host_take(scratch_len * sizeof(float)),
                                      .scratch_len = scratch_len,
                                      .state = host_take(state_len * sizeof(float))};
  CHECK(rlcore_rng_seed(&p.rng, 1));
  CHECK(rlcore_vecenv_reset(p.envs, world->env, NULL, obs));
  return p;
}

/* rows: reads obs, writes action. */
static void player_act(player *p, const rlcore_rows *rows) {
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  CHECK(rlcore_policy_act(p->policy, 1, rows, &p->buffers, &greedy, &p->rng));
}

void run_draw(const rlcore_policy *policy, const host_env *world, draw_fn draw) {
  enum { MAX_OBS = 1764, MAX_STEPS = 1000 }; /* bytes of an observation, steps of an episode */
  static _Alignas(float) unsigned char seen[MAX_STEPS + 1][MAX_OBS];
  static int32_t did[MAX_STEPS];
  size_t len = 0;
  _Alignas(float) unsigned char final_obs[MAX_OBS] = {0};
  float reward = 0;
  uint8_t terminated = 0, truncated = 0;
  rlcore_rows rows = {.struct_size = sizeof rows,
                      .reward = &reward,
                      .terminated = &terminated,
                      .truncated = &truncated,
                      .final_obs = final_obs};
  double sum = 0;
  canvas c;
  if (!draw || world->obs.len * host_element_size(world->obs.kind) > MAX_OBS || world->action.len != 1) return;

  player p = player_begin(policy, world, seen[0]);
  while (len < MAX_STEPS && !terminated && !truncated) {
    rows.obs = seen[len], rows.action = &did[len];
    player_act(&p, &rows);
    rows.obs = seen[len + 1];
    CHECK(rlcore_vecenv_step(p.envs, world->env, &rows));
    sum += (double)reward;
    len++;
  }
  if (terminated || truncated) memcpy(seen[len], final_obs, sizeof final_obs);

  const size_t gaps = (term_is_tty() ? FRAMES : FRAMES_IN_A_LOG) - 1, frames = len < gaps ? len : gaps;
  for (size_t i = 0; i <= frames; i++) {
    const size_t k = frames ? i * len / frames : 0;
    char caption[96];
    snprintf(caption, sizeof caption, "step %zu of %zu, return %.1f", k, len, sum);
    draw(&c, seen[k], k < len ? &did[k] : NULL);
    canvas_show(&c, caption, i != 0);
  }
}

void run_film(const rlcore_policy *policy, const host_env *world, const char *path) {
  enum { WIDTH = 256, HEIGHT = 192, MAX_STEPS = 500, HUNDREDTHS = 4 };
  static uint8_t rgb[WIDTH * HEIGHT * 3];
  static gif film;
  const size_t obs_size = world->obs.len * host_element_size(world->obs.kind);
  const size_t action_size = world->action.len * host_element_size(world->action.kind);
  float reward = 0;
  uint8_t terminated = 0, truncated = 0;
  const rlcore_rows rows = {.struct_size = sizeof rows,
                            .obs = host_take(obs_size),
                            .action = host_take(action_size),
                            .reward = &reward,
                            .terminated = &terminated,
                            .truncated = &truncated,
                            .final_obs = host_take(obs_size)};
  player p = player_begin(policy, world, rows.obs);
  gif_open(&film, path, WIDTH, HEIGHT, HUNDREDTHS);
  for (uint32_t k = 0; k < MAX_STEPS && !terminated && !truncated; k++) {
    CHECK(rlcore_vecenv_render(p.envs, world->env, 0, WIDTH, HEIGHT, rgb));
    gif_frame(&film, rgb);
    player_act(&p, &rows);
    CHECK(rlcore_vecenv_step(p.envs, world->env, &rows));
  }
  gif_close(&film);
}
