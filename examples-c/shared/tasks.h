/* Trainable tasks for programs: their environments, configurations and pictures. */
#ifndef TASKS_H
#define TASKS_H

#include "draw.h"
#include "settings.h"
#include "training.h"

/* NULL if there is no task of that name; task_name(0), (1), ... list the names until NULL. */
const task *task_find(const char *name);
const char *task_name(size_t index);

/* Upper bound of the mean length of greedy episodes with every seed: the maze has a shortest path. */
double task_max_len(const task *t);

host_env task_world(const task *t);
rlcore_learner_config task_config(const task *t);

/* NULL: none. */
draw_fn task_draw(const task *t);

#endif
