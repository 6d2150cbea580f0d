/* Runs the stages on the machine at hand: ./host [CPU level not to be exceeded]. */
#include "bits.h"
#include <stdio.h>
#include <stdlib.h>

static void print(const char *text) { fputs(text, stdout); }

int main(int argc, char **argv) {
  if (argc > 1 && rlcore_cpu_set_limit((uint32_t)atoi(argv[1])) != RLCORE_OK) return 2;
  return bits(print) == 0 ? 0 : 1;
}
