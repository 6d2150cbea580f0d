/* Runs the stages on the machine at hand: ./host [CPU level not to be exceeded]. */
#include "bits.h"
#include <stdio.h>
#include <stdlib.h>

static void print(const char *text) { fputs(text, stdout); }

int main(int argc, char **argv) {
  (void)argc; (void)argv;
  return bits(print) == 0 ? 0 : 1;
}
