/* The base of every fuzz target: an input that is read byte by byte, with zeros after its end; and findings, which stop the
   program with a sentence, a stack and the input. */
#ifndef RLCORE_FUZZ_H
#define RLCORE_FUZZ_H

#include "../env.h"
#include "../rows.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define FORBID(p, size) __asan_poison_memory_region(p, size)
#define ALLOW(p, size) __asan_unpoison_memory_region(p, size)
#endif
#endif
/* The action on a finding. */
#ifndef STOP
#define STOP() abort()
#endif
#ifndef FORBID
#define FORBID(p, size) ((void)(p), (void)(size))
#define ALLOW(p, size) ((void)(p), (void)(size))
#endif

/* The input, and the position of its next byte. */
static const unsigned char *input;
static size_t input_size, cursor;

static unsigned byte(void) { return cursor < input_size ? input[cursor++] : (cursor++, 0); }

static unsigned half(void) {
  const unsigned low = byte();
  return low | byte() << 8;
}

static uint32_t word(void) {
  const uint32_t low = half();
  return low | (uint32_t)half() << 16;
}

static void finding(const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  fprintf(stderr, "finding: %s\n  last error: %s\n", what, why);
  STOP();
}

/* Error texts of refused calls, a line each: `said: ` and the text, with each number as #. */
static char said[1 << 17];

static void remember_words(void) {
  char why[256], *to = why;
  if (rlcore_last_error(why, sizeof why) != RLCORE_OK) finding("no last error");
  for (const char *from = why; (*to = *from) != 0; from++) {
    const int digit = *from >= '0' && *from <= '9';
    if (digit) *to = '#';
    if (!digit || to == why || to[-1] != '#') to++;
  }
  char *const given = strstr(why, "given ");
  if (given != NULL) memcpy(given + 6, "#", 2);
  const size_t len = strlen(said);
  if (strstr(said, why) == NULL) snprintf(said + len, sizeof said - len, "said: %s\n", why);
}

/* The condition holds for every input. */
#define ALWAYS(condition) ((condition) ? (void)0 : finding(#condition))
/* The call succeeds for every input. */
#define FINE(call) ((call) == RLCORE_OK ? (void)0 : finding(#call))
/* The status is one of the header's. */
#define KNOWN(status) ((status) <= RLCORE_OK && (status) >= RLCORE_E_DISABLED ? (void)0 : finding("an unknown status"))

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#endif
