/* The page's training on this machine: `native [SEED]` prints its hash. */
#include "web.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int32_t status = web_start(argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1);
  if (status == 0)
    do status = web_work(); while (status > 0);
  if (status) return fprintf(stderr, "%s\n", web_error()), 1;
  printf("%016llx\n", (unsigned long long)web_hash());
  return 0;
}
