/* Every word of a block of every kind, 4 bytes or 8, damaged alone and sealed again: set to each end of its range, or changed by
   one. What attach accepts then takes every call without harm, in bounded time, and is left as something that attach accepts. With
   arguments of its own: the sample, and how many bytes into it the word lies, to look at that one alone. */

#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static jmp_buf next_case;
static int failures;
#define STOP() (failures++, longjmp(next_case, 1))

#include "image.h"

/* The case that is looked at. */
static unsigned sample, align, value;
static size_t at;

static void say_case(void) {
  char text[96];
  const int len = snprintf(text, sizeof text, "  sample %u, %u bytes at %zu, value %u\n", sample, align, at, value);
  if (write(2, text, (size_t)len) != len) _exit(3);
}

static void too_long(int signal_number) {
  static const char text[] = "finding: a call that does not return\n";
  (void)signal_number;
  if (write(2, text, sizeof text - 1) > 0) say_case();
  _exit(2);
}

enum { CHANGED = 16, VALUES = 18 };

/* 1 if the damaged block was accepted. */
static int try_word(void) {
  uint64_t old = 0, fresh;
  const enum kind kind = take_sample(sample);
  memcpy(&old, block + at, align);
  fresh = value >= CHANGED ? old + (value == CHANGED ? 1 : -1ull) : align == 4 ? WORDS[value] : LONG_WORDS[value];
  memcpy(block + at, &fresh, align);
  seal();
  const int32_t status = open_image(kind);
  KNOWN(status);
  if (status == RLCORE_OK) drive(kind, block, size, 1);
  return status == RLCORE_OK;
}

int main(int argc, char **argv) {
  static unsigned long tried, accepted;
  make_samples();
  signal(SIGALRM, too_long);
  for (sample = 0; sample < SAMPLES; sample++) {
    if (argc > 2 && sample != strtoul(argv[1], NULL, 10)) continue;
    for (at = 8; at + 4 <= samples[sample].size; at += 4) {
      if (argc > 2 && at != strtoul(argv[2], NULL, 10)) continue;
      for (align = 4; align <= 8; align += 4) {
        if (at % align != 0 || (align == 8 && at >= 1024)) continue; /* states and what is made from them lie before that */
        for (value = 0; value < VALUES; value++) {
          alarm(20);
          tried++;
          if (setjmp(next_case) == 0) accepted += (unsigned long)try_word();
          else say_case();
          if (failures == 20) return 1;
        }
      }
    }
  }
  printf("words      %lu of %lu damaged blocks accepted, %d findings\n", accepted, tried, failures);
  return failures != 0;
}
