/* Calls every function on hindsight goals wrongly: NULL, crooked and overlapping arrays, rows that are not there, callbacks
   that fail. */

#include "rlcore.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world {
  rlcore_relabel batch;
  rlcore_rng rng;
  float achieved[6], goal[4], reward[2];
  uint32_t step[2], num_steps[2], row[2], goal_row[2], drawn[2];
  uint8_t terminated[2];
} w, before;

#include "attack.h"

_Static_assert(sizeof(rlcore_relabel) == 16 + 3 * sizeof(void *), "");
OFFSET(rlcore_relabel, num_rows, 12); OFFSET(rlcore_relabel, achieved, 16);
OFFSET(rlcore_relabel, goal_row, 16 + 2 * sizeof(void *));

static int calls;

static int32_t near(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  if (*(int *)user == ++calls) return 7;
  *reward = -fabsf(achieved[0] - goal[0]);
  *terminated = achieved[0] == goal[0];
  return 0;
}

static int32_t silent(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user, (void)achieved, (void)goal, (void)reward, (void)terminated;
  return 0;
}

static void start(void) {
  memset(&w, 0, sizeof w);
  for (int i = 0; i < 6; i++) w.achieved[i] = (float)i;
  w.num_steps[0] = 3, w.step[1] = 4, w.num_steps[1] = 5;
  w.row[1] = 2, w.goal_row[0] = 1, w.goal_row[1] = 2;
  FINE(rlcore_rng_seed(&w.rng, 1));
  w.batch = (rlcore_relabel){sizeof w.batch, 2, 2, 3, w.achieved, w.row, w.goal_row};
}

static void attack_draw(void) {
  start();
  uint32_t strategy = RLCORE_RELABEL_FUTURE, *drawn = w.drawn;
  const uint32_t *step = w.step, *num_steps = w.num_steps;
  rlcore_rng *rng = &w.rng;
  size_t len = 2;
#define DRAW rlcore_relabel_draw(strategy, step, num_steps, len, rng, drawn)
  WITH(strategy, 3, RLCORE_E_RANGE, "relabel: strategy: an rlcore_relabel_strategy, given 3", DRAW);
  WITH(w.step[1], 5, RLCORE_E_RANGE, "a step below num_steps 5, given 5", DRAW);
  WITH(w.num_steps[0], 0, RLCORE_E_RANGE, "a step below num_steps 0, given 0", DRAW);
  WITH(w.rng.has_half, 2u, RLCORE_E_IMAGE, "the stream was never seeded", DRAW);
  FINE(DRAW);
  CHECK(w.drawn[0] >= 1 && w.drawn[0] <= 3 && w.drawn[1] == 5);
  strategy = RLCORE_RELABEL_FINAL;
  FINE(DRAW);
  CHECK(w.drawn[0] == 3 && w.drawn[1] == 5);
  strategy = RLCORE_RELABEL_EPISODE;
  FINE(DRAW);
  CHECK(w.drawn[1] >= 1 && w.drawn[1] <= 5);
}

static void attack_goals(void) {
  start();
  const rlcore_relabel *batch = &w.batch;
  rlcore_goal_fn call = near;
  float *goal = w.goal, *reward = w.reward;
  uint8_t *terminated = w.terminated;
  int fail_at = 0;
#define GOALS rlcore_relabel_goals(batch, call, &fail_at, goal, reward, terminated)
  WITH(w.batch.goal_len, 0, RLCORE_E_SHAPE, "goal_len of at least 1", GOALS);
  WITH(w.batch.num_rows, 2, RLCORE_E_RANGE, "rows below 2, given 2", GOALS);
  WITH(w.batch.num_rows, 0, RLCORE_E_RANGE, "rows below 0", GOALS);
  WITH(w.row[0], 3, RLCORE_E_RANGE, "rows below 3, given 3", GOALS);
  WITH(w.goal_row[1], UINT32_MAX, RLCORE_E_RANGE, "rows below 3", GOALS);
  WITH(terminated, (uint8_t *)w.row, RLCORE_E_OVERLAP, "relabel: terminated", GOALS);
  WITH(terminated, (uint8_t *)&w.batch, RLCORE_E_OVERLAP, "relabel: terminated", GOALS);
  WITH(call, silent, RLCORE_E_VALUE, "a finite reward", GOALS);
  calls = 0, fail_at = 1;
  REFUSED(RLCORE_E_CALLBACK, "the goal callback failed with code 7", GOALS);
  FINE(rlcore_relabel_goals(batch, silent, NULL, goal, reward, terminated) == RLCORE_E_VALUE ? RLCORE_OK : -1);
  calls = 0, fail_at = 2;
  CHECK(GOALS == RLCORE_E_CALLBACK);
  CHECK(w.reward[0] == -2 && w.goal[0] == 2 && w.goal[1] == 3 && w.reward[1] == 0 && w.goal[2] == 0 && w.terminated[1] == 0);
  fail_at = 0;
  FINE(GOALS);
  CHECK(w.reward[1] == 0 && w.goal[2] == 4 && w.terminated[0] == 0 && w.terminated[1] == 1);
}

int main(void) {
  attack_draw();
  attack_goals();
  return verdict();
}
