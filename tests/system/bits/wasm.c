/* Runs the stages in a WebAssembly module without imports: printed text stays in its memory, for the host to read. */
#include "bits.h"

#define EXPORT(name) __attribute__((export_name(name)))

static uint64_t room[BITS_IMAGES_SIZE / 8];
static char text[1 << 16];
static size_t text_len;

static void print(const char *more) {
  while (*more != 0 && text_len < sizeof text) text[text_len++] = *more++;
}

EXPORT("images") uint8_t *images(void) { return (uint8_t *)room; }
EXPORT("text") char *text_begin(void) { return text; }
EXPORT("text_len") size_t text_size(void) { return text_len; }
EXPORT("run") int run(void) { return bits(print); }
EXPORT("save") size_t save(void) { return bits_save((uint8_t *)room, print); }
EXPORT("go_on") int go_on(size_t size) { return bits_go_on((uint8_t *)room, size, print); }
