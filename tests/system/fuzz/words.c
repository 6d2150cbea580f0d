/* For a block of every kind: each bit of its header and configuration flipped alone, and a header of the other byte order, are
   refused. Each word of the block, of 4 or 8 bytes, is damaged alone, set to each end of its range or changed by one, and the
   checksum is recomputed. A block that attach then accepts takes every call without harm, in bounded time, and attach accepts it
   again afterwards. Two program arguments, the sample and the byte offset of the word, select one word alone. */

#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static jmp_buf next_case;
static int failures;
#define STOP() (failures++, longjmp(next_case, 1))

#include "image.h"

/* The current case. */
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

/* 1 if attach accepted the damaged block. */
static int try_word(void) {
  uint64_t old = 0, fresh;
  const enum kind kind = take_sample(sample);
  memcpy(&old, block + at, align);
  fresh = value >= CHANGED ? old + (value == CHANGED ? 1 : -1ull) : align == 4 ? WORDS[value] : LONG_WORDS[value];
  memcpy(block + at, &fresh, align);
  seal();
  const int32_t status = open_image(kind);
  KNOWN(status);
  if (status != RLCORE_OK) remember_words();
  else drive(kind, block, size, 1);
  return status == RLCORE_OK;
}

/* Refused by attach and to readers; a size that is too large may be refused with E_SIZE. */
static void is_refused(enum kind kind, int of_size) {
  const int32_t status = attach(kind, block, size), to_reader = attach_reader(kind, block, size);
  remember_words();
  ALWAYS(status == RLCORE_E_IMAGE || (of_size && status == RLCORE_E_SIZE));
  ALWAYS(to_reader == RLCORE_E_IMAGE || (of_size && to_reader == RLCORE_E_SIZE));
}

/* Flips bits that the checksum covers, or the seal: all bits of the header and the configuration, and every 61st byte after them.
   */
static void flip(void) {
  const enum kind kind = take_sample(sample);
  uint32_t config_size;
  memcpy(&config_size, block + 20, sizeof config_size);
  turn(block);
  is_refused(kind, 0);
  turn(block);
  for (int sealed = 0; sealed < 1 + (kind == LEARNER || kind == POLICY); sealed++) {
    if (sealed) FINE(rlcore_block_seal(block, size));
    for (at = 0; at < (sealed ? size : CONFIG + config_size); at += at < CONFIG + config_size ? 1 : 61) {
      if (!sealed && at >= HEADER && at < CONFIG) continue;
      for (value = 1; value < 512; value <<= 1) {
        const unsigned char change = (unsigned char)(value == 256 ? 255 : value);
        block[at] ^= change;
        is_refused(kind, at >= 24 && at < 32);
        block[at] ^= change;
      }
    }
    FINE(attach(kind, block, size));
  }
}

int main(int argc, char **argv) {
  static unsigned long tried, accepted;
  make_samples();
  signal(SIGALRM, too_long);
  for (sample = 0; sample < SAMPLES && argc <= 2; sample++)
    if (setjmp(next_case) == 0) flip();
    else say_case();
  for (sample = 0; sample < SAMPLES; sample++) {
    if (argc > 2 && sample != strtoul(argv[1], NULL, 10)) continue;
    for (at = 8; at + 4 <= samples[sample].size; at += 4) {
      if (argc > 2 && at != strtoul(argv[2], NULL, 10)) continue;
      for (align = 4; align <= 8; align += 4) {
        if (at % align != 0 || (align == 8 && at >= 1024)) continue; /* states and data made from them lie before that */
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
  printf("%s", said);
  printf("words      %lu of %lu damaged blocks accepted, %d findings\n", accepted, tried, failures);
  return failures != 0;
}
