/* Statistics as event files, which TensorBoard shows, and as rows of a CSV file. One file of C without other dependencies: copy it
   into your host. */
#ifndef EVENTS_H
#define EVENTS_H

#include <rlcore.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct events {
  FILE *file; /* NULL: nothing is written */
} events;

/* Makes FOLDER/events.out.tfevents.SECONDS.rlcore, of the Unix time now. Ends the program with a sentence if it cannot. */
void events_open(events *e, const char *folder);

/* One number at a number of steps; NaN is left out. tag: at most 100 characters, with a / between group and name. */
void events_scalar(events *e, const char *tag, uint64_t step, float value);

/* All numbers of an update, by the names of Stable-Baselines3 where it has one, that the learner's algorithm has. */
void events_learner(events *e, const rlcore_learner_stats *stats);

void events_close(events *e);

/* The same numbers as a line of a CSV file, behind the steps, or NULL: the line of their names. A number that the algorithm does not
   have is empty. Returns whether it could be written. */
bool events_csv(FILE *file, const rlcore_learner_stats *stats);

#endif
