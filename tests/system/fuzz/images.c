/* Damaged images: a valid block of any kind, altered as the input says, with its checksum recomputed so that later checks run
   too. An image that attach accepts has to take every call without harm, and attach has to accept it afterwards, whatever the
   calls returned. */

#include "image.h"

/* Damages a byte or a word: position, kind and value. Words are mostly in the configuration and the state. */
static void edit(void) {
  const unsigned at = half(), how = at >> 13 & 3;
  const unsigned value = byte();
  if (at & 0x8000) {
    const size_t align = how & 1 ? 8 : 4, reach = value & 128 || size < 1024 ? size : 1024;
    unsigned char *word = block + (at & 0x1fff) % (reach / align) * align;
    uint64_t old = 0;
    memcpy(&old, word, align);
    const uint64_t fresh = how & 2 ? old + (value & 15) - 8 : how & 1 ? LONG_WORDS[value & 15] : WORDS[value & 15];
    memcpy(word, &fresh, align);
    return;
  }
  unsigned char *place = block + (at & 0x1fff) % size;
  *place = (unsigned char)(how == 0 ? value : how == 1 ? *place ^ value : how == 2 ? *place + value : 0xff);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t data_size) {
  static int made;
  if (!made) make_samples(), made = 1;
  input = data, input_size = data_size, cursor = 0;
  const enum kind kind = take_sample(byte() % SAMPLES);
  for (unsigned edits = byte() % 6; edits > 0; edits--) edit();
  if (byte() % 8 != 1) seal();
  const int32_t status = open_image(kind);
  KNOWN(status);
  if (status == RLCORE_OK) {
    plan = word() & word();
    drive(kind, block, size, 1);
  }
  return 0;
}
