/* A policy in a static program without libc: `tiny < policy.bin` acts greedily on one observation of zeros and exits
   with the action, or with 100 on failure. x86-64 Linux; `make sizes` builds it to show the size of a policy. */
#include "rlcore.h"

enum { READ = 0, EXIT = 60, FAILED = 100 };

static _Alignas(64) unsigned char brain[1 << 16];
static float obs[64], scratch[1 << 14];
static int32_t action[8];

static long call(long number, long a, void *b, unsigned long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

static int play(void) {
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  const rlcore_policy *policy;
  rlcore_space seen, taken;
  size_t size = 0;
  for (long n; (n = call(READ, 0, brain + size, sizeof brain - size)) > 0;) size += (size_t)n;
  if (rlcore_policy_attach(brain, size, NULL, NULL, &policy) || rlcore_policy_spaces(policy, &seen, &taken)) return FAILED;
  if (seen.kind != RLCORE_F32 || seen.len > sizeof obs / sizeof *obs) return FAILED;
  if (taken.kind != RLCORE_I32 || taken.len > sizeof action / sizeof *action) return FAILED;
  const rlcore_rows row = {.struct_size = sizeof row, .obs = obs, .action = action};
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = sizeof scratch / sizeof *scratch};
  return rlcore_policy_act(policy, 1, &row, &buffers, &greedy, NULL) ? FAILED : action[0];
}

/* The entry point is not called, so the stack alignment differs from that of a function. */
__attribute__((force_align_arg_pointer)) void _start(void) {
  for (;;) call(EXIT, play(), NULL, 0);
}

/* The only functions that the library imports. */
void *memset(void *to, int byte, size_t n) {
  for (unsigned char *p = to; n--;) *p++ = (unsigned char)byte;
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  unsigned char *a = to;
  const unsigned char *b = from;
  if (a < b) for (size_t i = 0; i < n; i++) a[i] = b[i];
  else while (n--) a[n] = b[n];
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  return memmove(to, from, n);
}

int memcmp(const void *x, const void *y, size_t n) {
  const unsigned char *a = x, *b = y;
  for (; n--; a++, b++) if (*a != *b) return *a - *b;
  return 0;
}
