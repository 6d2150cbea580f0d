/* A policy that was written as a file of C, as check.c calls it. */
#ifndef COMPILED_H
#define COMPILED_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_FIELDS = 8 };

typedef struct field {
  uint32_t kind, len, offset;
} field;

typedef struct compiled {
  const char *name;
  uint32_t obs_len, action_len, num_outputs, num_choices, num_means, state_len;
  size_t scratch_size;
  /* Acts, changes the state, and tells the outputs; another result than 0 is a failure. */
  int (*act)(float *state, const void *obs, const uint8_t *mask, void *action, float *outputs);
  /* Observations: bytes are below symbols, unless that is 0; fields of structures. */
  int symbols;
  uint32_t num_fields;
  field fields[MAX_FIELDS];
} compiled;

#endif
