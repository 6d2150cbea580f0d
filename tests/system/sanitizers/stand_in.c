/* What a host that is built with sanitizers has in place of something else. */
#include "heap.h"

#include <stdio.h>
#include <stdlib.h>

/* The sanitizer brings its own heap: nothing is counted. */
unsigned long heap_calls(void) { return 0; }

/* Where a panic of the library ends, which is built with its assertions and those of the language: the proof that no panic
   is reachable speaks of builds without them. */
_Noreturn void rlcore_a_panic_is_reachable(void);
_Noreturn void rlcore_a_panic_is_reachable(void) {
  fputs("an assertion of the library does not hold\n", stderr);
  abort();
}
