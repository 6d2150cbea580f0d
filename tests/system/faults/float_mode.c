/* Preloaded into a program, it sets the floating-point mode from the start, in all threads: the bits of MODE are set in the
   control register of SSE and AVX. 0x8040: results and operands too small for a normal number count as 0 (FTZ, DAZ); 0x2000,
   0x4000, 0x6000: rounding down, up, to zero. */
#include <immintrin.h>

__attribute__((constructor)) static void start(void) { _mm_setcsr(_mm_getcsr() | MODE); }
