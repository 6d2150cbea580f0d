/* The environments on the page, and settings for each of them with each algorithm. */
#ifndef WORLDS_H
#define WORLDS_H

#include "../shared/settings.h"

typedef struct world {
  uint32_t id;               /* an rlcore_env_id */
  const char *name, *title;  /* in addresses and on the page */
  const char *about;         /* one sentence */
  uint32_t view;             /* input of its networks: an enum view */
  uint32_t algorithm;        /* the one that the page begins with */
  uint32_t width, height;    /* of its drawing; 0: the library draws nothing */
  uint32_t pace;             /* frames of the page for each step on display */
} world;

enum { NUM_WORLDS = 27, NUM_ALGORITHMS = 10 };
extern const world worlds[NUM_WORLDS];
extern const char *const algorithms[NUM_ALGORITHMS][2]; /* name in addresses, title; in the order of rlcore_algorithm */

/* The task of settings.c with this environment and algorithm; NULL if there is none. */
const task *world_task(const world *w, uint32_t algorithm);

/* The settings of that task, or others that fit the observations of the environment. */
rlcore_status world_configure(const world *w, uint32_t algorithm, rlcore_learner_config *config);

#endif
