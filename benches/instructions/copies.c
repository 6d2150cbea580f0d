/* The four functions that the library imports, in plain C: libc has different versions for different processors. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t wide __attribute__((vector_size(16), aligned(1), may_alias));

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  for (; n >= 16; n -= 16, t += 16, f += 16) *(wide *)t = *(const wide *)f;
  while (n--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if ((uintptr_t)to - (uintptr_t)from >= n) return memcpy(to, from, n);
  while (n--) t[n] = f[n];
  return to;
}

void *memset(void *to, int byte, size_t n) {
  unsigned char *t = to;
  const uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);
  const wide w = {word, word};
  for (; n >= 16; n -= 16, t += 16) *(wide *)t = w;
  while (n--) *t++ = (unsigned char)byte;
  return to;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n--; x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
