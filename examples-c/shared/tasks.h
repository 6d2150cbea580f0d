/* Trainable tasks: environment, settings, and criterion for solved. */
#ifndef TASKS_H
#define TASKS_H

#include "draw.h"
#include "training.h"

typedef struct task {
  const char *name, *title;
  uint32_t builtin;     /* RLCORE_ENV_..., or 0 for the lander of this folder */
  uint64_t total_steps; /* environment steps of one training run */
  uint32_t num_seeds;
  double bar;                             /* mean return of 100 greedy episodes to reach with every seed */
  double max_value_loss;                  /* at the end of training; 0 = no limit */
  void (*configure)(rlcore_learner_config *); /* settings that differ from the library's defaults */
  draw_fn draw;                           /* NULL: none */
} task;

/* NULL if there is no task of that name; task_name(0), (1), ... list the names until NULL. */
const task *task_find(const char *name);
const char *task_name(size_t index);

/* Upper bound of the mean length of greedy episodes with every seed: the maze has a shortest path. */
double task_max_len(const task *t);

host_env task_world(const task *t);
rlcore_learner_config task_config(const task *t);

/* The published hash of the parameters after training with seed 1; 0 if there is none. */
uint64_t task_hash(const task *t, bool quick);

#endif
