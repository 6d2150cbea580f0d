/* If the host flushes subnormal numbers to zero, only subnormal results differ; checks of arguments do not.
   `subnormal kept|flushed` */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rlcore_status advantage(float reward, float *out) {
  const float value = 0, bootstrap_value = 0;
  const uint8_t no = 0;
  float target;
  const rlcore_rollout rollout = {.struct_size = sizeof rollout, .num_steps = 1, .num_envs = 1, .reward = &reward, .value = &value,
                                  .bootstrap_value = &bootstrap_value, .terminated = &no, .truncated = &no};
  return rlcore_gae(&rollout, 0.5F, 0.5F, out, &target);
}

int main(int argc, char **argv) {
  const int kept = argc > 1 && strcmp(argv[1], "kept") == 0;
  const float tiny = 0x1p-140F, zero = 0;
  float result = 7;
  int failures = 0;
  /* Compared as bits, since a comparison of numbers would flush too. */
  failures += advantage(tiny, &result) != RLCORE_OK || memcmp(&result, kept ? &tiny : &zero, sizeof result) != 0;
  failures += advantage(0x1p-100F, &result) != RLCORE_OK || result != 0x1p-100F;
  failures += advantage(NAN, &result) != RLCORE_E_VALUE;
  failures += advantage(INFINITY, &result) != RLCORE_E_VALUE;
  failures += advantage(-INFINITY, &result) != RLCORE_E_VALUE;
  printf("subnormal results are %s: %d failures\n", kept ? "kept" : "flushed", failures);
  return failures;
}
