/* A damaged block with its checksum recomputed, so that the checks behind the checksum run: the checksum is no secret. */
#ifndef RLCORE_FUZZ_IMAGE_H
#define RLCORE_FUZZ_IMAGE_H

#include "drive.h"

enum { HEADER = 40, CONFIG = 64 };

/* New values of words: ends of the integers of 4 and of 8 bytes, and of floats of both lengths. */
static const uint64_t WORDS[16] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7f7fffff, 0xff7fffff, 0x7f800000,
                                   0x7fc00000, 0x7e967699, 0x42000000, 0xc2000000, 0x60000000, 0x3f800000};
static const uint64_t LONG_WORDS[16] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63, (1ull << 63) - 1, 1ull << 32, (1ull << 32) - 1,
                                        0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 5,
                                        0x3ff0000000000000, 0xbff0000000000000, 0x4340000000000000};

/* The image, at the end of its memory, so that access beyond it hits forbidden memory. */
static _Alignas(64) unsigned char memory[BLOCK_SIZE + 64];
static unsigned char *block;
static size_t size;

/* Recomputes the checksum of header and configuration, as src/block/header.rs does, and removes the seal of the whole block. */
static void seal(void) {
  uint32_t config_size;
  uint64_t hash;
  memcpy(&config_size, block + 20, sizeof config_size);
  if (size >= CONFIG) memset(block + HEADER, 0, sizeof hash);
  if (size < CONFIG || config_size > size - CONFIG) return;
  memset(block + 32, 0, sizeof hash);
  unsigned char joined[HEADER + BLOCK_SIZE];
  memcpy(joined, block, HEADER);
  memcpy(joined + HEADER, block + CONFIG, config_size);
  FINE(rlcore_hash(joined, HEADER + config_size, &hash));
  memcpy(block + 32, &hash, sizeof hash);
}

/* Attaches; an image whose configuration needs another size than its header has gets that size, if it is long enough. */
static int32_t open_image(enum kind kind) {
  char why[256];
  unsigned long long needed;
  int32_t status = attach(kind, block, size);
  if (status != RLCORE_E_IMAGE) return status;
  FINE(rlcore_last_error(why, sizeof why));
  const char *at = strstr(why, "configuration asks for, ");
  if (at == NULL || sscanf(at, "configuration asks for, %llu", &needed) != 1 || needed > size) return status;
  memcpy(block + 24, &needed, 8);
  seal();
  return attach(kind, block, size);
}

/* Copies a sample that is to be damaged. */
static enum kind take_sample(unsigned sample) {
  size = samples[sample].size;
  block = memory + BLOCK_SIZE - size;
  FORBID(memory + BLOCK_SIZE, 64);
  memcpy(block, samples[sample].bytes, size);
  return samples[sample].kind;
}

#endif
