/* A training of the page on this machine: `native [SEED [ENV [ALGORITHM [STEPS]]]]` prints its hash. STEPS as web_until. */
#include "web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find(const char *name, uint32_t count, const char *(*named)(uint32_t)) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(named(i), name) == 0) return i;
  fprintf(stderr, "there is no %s\n", name);
  exit(1);
}

int main(int argc, char **argv) {
  const uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
  const uint32_t world = find(argc > 2 ? argv[2] : "cartpole", web_num_worlds(), web_world_name);
  const uint32_t algorithm = argc > 3 ? find(argv[3], web_num_algorithms(), web_algorithm_name) : web_world_algorithm(world);
  int32_t status = web_start(world, algorithm, seed);
  web_until(argc > 4 ? strtod(argv[4], NULL) : 0);
  if (status == 0)
    do status = web_work(); while (status > 0);
  if (status) return fprintf(stderr, "%s\n", web_error()), 1;
  printf("%016llx\n", (unsigned long long)web_hash());
  return 0;
}
