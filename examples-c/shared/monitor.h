/* Episodes in the format of Stable-Baselines3 and Gymnasium tools: monitor.csv, a JSON line and one row per episode. */
#ifndef MONITOR_H
#define MONITOR_H

#include "training.h"

#include <stdio.h>

typedef struct monitor {
  FILE *file; /* NULL: nothing is recorded */
  rlcore_monitor *records;
  uint64_t next; /* record to write next */
} monitor;

void monitor_open(monitor *m, const char *path, const char *env_name, uint32_t num_envs);

/* Records the last step of every environment; writes a row for each episode that ended. */
void monitor_step(monitor *m, const training *t);

void monitor_close(monitor *m);

#endif
