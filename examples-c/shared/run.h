/* One training run from its first step to its last, with a progress line, and one episode drawn in the terminal. */
#ifndef RUN_H
#define RUN_H

#include "draw.h"
#include "events.h"
#include "monitor.h"

typedef struct run {
  size_t num_updates;
  float *curve; /* [num_updates] mean return of the last 100 episodes; NAN before the first has ended */
  double seconds;
  double solved_seconds; /* until the mean of 100 episodes reached the threshold; NAN if it did not */
  uint64_t solved_steps;
  events *events; /* where the numbers of every point of the curve go too; NULL: nowhere */
  FILE *csv;      /* likewise */
} run;

/* Takes memory for the curve. num_steps is rounded up to whole updates. */
run run_plan(const training *t, uint64_t num_steps);

/* Trains one seed from scratch. Episodes are logged to `m` if it is open. */
void run_seed(run *r, training *t, uint64_t seed, double bar, monitor *m, bool quiet);

/* Prints one greedy episode: an animation on a terminal, three frames in a log. */
void run_draw(const rlcore_policy *policy, const host_env *world, draw_fn draw);

/* Writes one greedy episode of an environment that can be rendered, up to 500 steps, as a moving picture: a GIF file. */
void run_film(const rlcore_policy *policy, const host_env *world, const char *path);

#endif
