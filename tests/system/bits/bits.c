/* Runs the stages, file by file, and hashes their results. */
#include "stages.h"

static void mix_byte(uint64_t *hash, uint8_t byte) { *hash = (*hash ^ byte) * 0x100000001b3u; }  /* 64-bit FNV-1a */

static int big_endian(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 0;
}

void mix_numbers(hashes *h, const void *numbers, size_t count, size_t width) {
  const size_t turn = big_endian() ? width - 1 : 0;
  for (const uint8_t *p = numbers; count--; p += width)
    for (size_t i = 0; i < width; i++) mix_byte(&h->values, p[i ^ turn]);
}

void mix_block(hashes *h, const void *block, size_t size) {
  h->has_blocks = 1;
  for (const uint8_t *p = block; size--; p++) mix_byte(&h->blocks, *p);
}

void mix_u64(hashes *h, uint64_t number) { MIX_ONE(h, number); }

void mix_rng(hashes *h, const rlcore_rng *rng) {
  MIX(h, rng->state);
  MIX(h, rng->stream);
  MIX_ONE(h, rng->half);
  MIX_ONE(h, rng->has_half);
}

void mix_index(hashes *h, const rlcore_frame_index *index, size_t count) {
  for (; count--; index++) {
    mix_u64(h, index->number);
    MIX_ONE(h, index->env);
  }
}

void mix_samples(hashes *h, const rlcore_sample *samples, size_t count) {
  for (const rlcore_sample *s = samples; count--; s++) {
    mix_u64(h, s->first);
    MIX_ONE(h, s->len);
    MIX_ONE(h, s->burn_in);
    MIX_ONE(h, s->gap);
    MIX_ONE(h, s->priority);
  }
}

rlcore_status draw(rlcore_rng *rng, double low, double high, float *out, size_t len) {
  for (double x; len--; *out++ = (float)x) TRY(rlcore_rng_uniform(rng, low, high, &x, 1));
  return RLCORE_OK;
}

rlcore_status draw_bytes(rlcore_rng *rng, int64_t high, uint8_t *out, size_t len) {
  int64_t x[64];
  while (len > 0) {
    const size_t some = len < LEN(x) ? len : LEN(x);
    TRY(rlcore_rng_integers(rng, 0, high, x, some));
    for (size_t i = 0; i < some; i++) *out++ = (uint8_t)x[i];
    len -= some;
  }
  return RLCORE_OK;
}

void print_line(bits_print print, rlcore_status status, uint64_t hash, const char *name, const char *more) {
  char hex[17] = {0}, text[256] = {0};
  for (int digit = 0; digit < 16; digit++) hex[digit] = "0123456789abcdef"[hash >> (60 - 4 * digit) & 15];
  print(status == RLCORE_OK ? hex : rlcore_status_name(status));
  print("  ");
  print(name);
  print(more);
  print("\n");
  if (status != RLCORE_OK && rlcore_last_error(text, sizeof text) == RLCORE_OK) print(text), print("\n");
}

int run_stage(const stage *s, bits_print print) {
  hashes h = {HASH_START, HASH_START, 0};
  const rlcore_status status = s->run(&h);
  print_line(print, status, h.values, s->name, "");
  if (status != RLCORE_OK) return 1;
  if (h.has_blocks && !big_endian()) print_line(print, status, h.blocks, s->name, ", blocks (little-endian)");
  return 0;
}

int bits(bits_print print) {
  static const stage *const files[] = {KERNEL_STAGES, ENV_STAGES, DATA_STAGES, LEARN_STAGES, OVERFLOW_STAGES};
  static uint64_t images[BITS_IMAGES_SIZE / 8];
  int failed = 0;
  for (size_t i = 0; i < LEN(files); i++)
    for (const stage *s = files[i]; s->name != NULL; s++) failed += run_stage(s, print);
  const size_t size = bits_save((uint8_t *)images, print);
  return failed + (size == 0 ? 1 : bits_go_on((uint8_t *)images, size, print));
}
