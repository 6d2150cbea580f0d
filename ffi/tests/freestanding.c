/* A program without a C library: the four memory functions below are all that librlcore.a needs. The exit code is 0, or the
   number of the line that failed. */
#include "rlcore.h"

void *memcpy(void *to, const void *from, size_t size) {
  unsigned char *t = to;
  const unsigned char *f = from;
  for (size_t i = 0; i < size; i++) t[i] = f[i];
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t < f) return memcpy(to, from, size);
  while (size--) t[size] = f[size];
  return to;
}

void *memset(void *to, int byte, size_t size) {
  unsigned char *t = to;
  for (size_t i = 0; i < size; i++) t[i] = (unsigned char)byte;
  return to;
}

int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

#define NEED(what) do { if (!(what)) return __LINE__; } while (0)

static int program(void) {
  rlcore_rng rng;
  double draw[4];
  NEED(rlcore_rng_seed(&rng, 7) == RLCORE_OK);
  NEED(rlcore_rng_uniform(&rng, 0.0, 1.0, draw, 4) == RLCORE_OK);
  for (int i = 0; i < 4; i++) NEED(draw[i] >= 0.0 && draw[i] < 1.0);

  char text[200];
  NEED(rlcore_rng_seed(0, 7) == RLCORE_E_NULL);
  NEED(rlcore_last_error(text, sizeof text) == RLCORE_OK);
  NEED(memcmp(text, "RLCORE_E_NULL", 13) == 0);
  return 0;
}

__attribute__((noreturn, used)) void start(void) {
  __asm__ volatile("syscall" : : "a"(231L), "D"((long)program()) : "rcx", "r11", "memory");
  __builtin_unreachable();
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call start\n");
