/* Policies as files of C on a device, and the same program on the host: both print the same hash of each policy's outputs, actions
   and states after some steps. Networks whose arithmetic is all of f32, as neither has a library. */
#include "boot.h"
#include "compiled.h"

#define CASE(name, is_bytes) extern const compiled name##_compiled;
#include "cases.txt"
#undef CASE
#define CASE(name, is_bytes) {&name##_compiled, is_bytes},
static const struct {
  const compiled *policy;
  int is_bytes;
} ALL[] = {
#include "cases.txt"
};

enum { STEPS = 20, MOST = 1024 };

static uint32_t next = 1, hash;

static uint32_t draw(void) { return next = next * 1664525u + 1013904223u; }

static void mix(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
}

int run(void) {
  static float numbers[MOST], outputs[MOST], state[MOST];
  static uint8_t bytes[MOST];
  static uint32_t action[64];
  for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
    const compiled *const c = ALL[i].policy;
    if (c->obs_len > MOST || c->num_outputs > MOST || c->state_len > MOST || c->action_len > 64) return 1;
    hash = 2166136261u;
    for (size_t k = 0; k < c->state_len; k++) state[k] = 0;
    for (int step = 0; step < STEPS; step++) {
      for (size_t k = 0; k < c->obs_len; k++) {
        numbers[k] = (float)(int32_t)draw() * (1.5F / 1073741824.0F);
        bytes[k] = (uint8_t)(draw() >> 24);
      }
      if (c->act(state, ALL[i].is_bytes ? (const void *)bytes : numbers, NULL, action, outputs) != 0) return 1;
      mix(outputs, c->num_outputs * sizeof *outputs), mix(action, c->action_len * sizeof *action);
    }
    mix(state, c->state_len * sizeof *state);
    print(c->name), print(" "), print_number(hash), print("\n");
  }
  return 0;
}

#ifdef HOST
#include <stdio.h>

void print(const char *text) { fputs(text, stdout); }
void print_number(uint32_t number) { printf("%u", number); }
int main(void) { return run(); }
#endif
