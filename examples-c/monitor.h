/* Episodes as Stable-Baselines3 and Gymnasium tools read them: a JSON line, then a CSV of return, length, time. */
#ifndef MONITOR_H
#define MONITOR_H

#include "training.h"

#include <stdio.h>

enum { MONITOR_MAX_ENVS = 256 };

typedef struct monitor {
  FILE *file;
  double start;
  double sum[MONITOR_MAX_ENVS]; /* return so far */
  uint32_t len[MONITOR_MAX_ENVS];
} monitor;

void monitor_open(monitor *m, const char *path, const char *env_name);

/* Counts what the last step of every environment did; writes a row for each episode that ended. */
void monitor_step(monitor *m, const training *t);

void monitor_close(monitor *m);

#endif
