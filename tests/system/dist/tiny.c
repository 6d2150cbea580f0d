/* The least program, in place of the stages of ../bits: does the library link on this target, and does it answer? */
#include "bits.h"

int bits(bits_print print) {
  static const char hex[] = "0123456789abcdef";
  uint64_t hash = 0;
  char line[18];
  if (rlcore_abi_version() != RLCORE_ABI_VERSION) return print("another ABI than the header's\n"), 1;
  if (rlcore_hash("rlcore", 6, &hash) != RLCORE_OK) return print("no hash\n"), 1;
  for (int i = 0; i < 16; i++) line[i] = hex[hash >> (60 - 4 * i) & 15];
  line[16] = '\n';
  line[17] = 0;
  print(line);
  return 0;
}

size_t bits_save(uint8_t *out, bits_print print) {
  (void)print;
  out[0] = 1;
  return 1;
}

int bits_go_on(uint8_t *images, size_t size, bits_print print) {
  (void)print;
  return size != 1 || images[0] != 1;
}
