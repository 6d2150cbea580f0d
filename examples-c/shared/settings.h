/* Trainable tasks as data: environment, algorithm, settings, and criterion for solved. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <rlcore.h>
#include <stdbool.h>

typedef struct task {
  const char *name, *title;
  uint32_t builtin;     /* RLCORE_ENV_..., or 0 for the lander of this folder */
  uint32_t algorithm;   /* RLCORE_ALGORITHM_... */
  uint64_t total_steps; /* environment steps of one training run */
  uint32_t num_seeds;
  double bar;                                 /* mean return of 100 greedy episodes to reach with every seed */
  double max_value_loss;                      /* at the end of training; 0 = no limit */
  void (*configure)(rlcore_learner_config *); /* settings that differ from the library's defaults */
} task;

/* The tasks in order; NULL beyond the last one. */
const task *task_at(size_t index);

/* Fills in the settings of a task. */
rlcore_status task_configure(const task *t, rlcore_learner_config *config);

/* The published hash of the parameters after training with seed 1; 0 if there is none. */
uint64_t task_hash(const task *t, bool quick);

#endif
