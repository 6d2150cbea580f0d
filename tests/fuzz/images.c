/* Damaged images: a valid block of any kind, altered byte by byte as the input says, sealed again so that what lies behind the
   checksum is looked at too. What attach accepts has to take every call without harm, and whatever they answer, it has to be
   something that attach accepts again. */

#include "drive.h"

enum { HEADER = 40, CONFIG = 64 };

/* The image, at the end of its memory, so that a byte too far is one that nobody may touch. */
static _Alignas(64) unsigned char memory[BLOCK_SIZE + 64];
static unsigned char *block;
static size_t size;

/* Seals header and configuration anew, as src/block/header.rs does. */
static void seal(void) {
  uint32_t config_size;
  uint64_t hash;
  memcpy(&config_size, block + 20, sizeof config_size);
  if (size < CONFIG || config_size > size - CONFIG) return;
  memset(block + 32, 0, sizeof hash);
  unsigned char joined[HEADER + BLOCK_SIZE];
  memcpy(joined, block, HEADER);
  memcpy(joined + HEADER, block + CONFIG, config_size);
  FINE(rlcore_hash(joined, HEADER + config_size, &hash));
  memcpy(block + 32, &hash, sizeof hash);
}

/* Attaches; an image whose configuration asks for another size than the header promises gets that one, if it has it. */
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

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t data_size) {
  static int made;
  if (!made) make_samples(), made = 1;
  input = data, input_size = data_size, cursor = 0;
  const unsigned sample = byte() % SAMPLES;
  const enum kind kind = samples[sample].kind;
  size = samples[sample].size;
  block = memory + BLOCK_SIZE - size;
  FORBID(memory + BLOCK_SIZE, 64);
  memcpy(block, samples[sample].bytes, size);
  /* Edits: where and how, and a byte. */
  for (unsigned edits = byte() % 32; edits > 0; edits--) {
    const unsigned at = half(), how = at >> 13 & 3;
    unsigned char *place = block + (at & 0x1fff) % size;
    const unsigned char value = (unsigned char)byte();
    *place = how == 0 ? value : how == 1 ? *place ^ value : how == 2 ? *place + value : 0xff;
  }
  if (byte() % 8 != 1) seal();
  const int32_t status = open_image(kind);
  KNOWN(status);
  if (status == RLCORE_OK) {
    plan = word() & word();
    drive(kind, block, size, 1);
  }
  return 0;
}
