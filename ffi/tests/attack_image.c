/* Calls every function on pictures wrongly: NULL, crooked and overlapping arrays, sizes that are 0 or too large, scratch one
   short. And a few calls that are right, with results known by heart. */

#include "rlcore.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H 9
#define W 7

static struct world {
  rlcore_image_size from, to;
  uint8_t rgb[H * W * 3], other[H * W * 3], out[H * W * 3];
  float scratch[256], numbers[42 * 42 + 1];
  size_t len;
  uint32_t rows, columns;
} w, before;

static uint8_t screen[210 * 160 * 3];

#include "attack.h"

_Static_assert(sizeof(rlcore_image_size) == 12, "");
OFFSET(rlcore_image_size, height, 0); OFFSET(rlcore_image_size, width, 4); OFFSET(rlcore_image_size, channels, 8);

static void start(void) {
  memset(&w, 0, sizeof w);
  w.from = (rlcore_image_size){H, W, 3};
  w.to = (rlcore_image_size){4, 5, 3};
  for (int i = 0; i < H * W * 3; i++) w.rgb[i] = (uint8_t)(i * 37), w.other[i] = (uint8_t)(i * 91);
}

static void attack_gray(void) {
  start();
  const uint8_t *rgb = w.rgb;
  uint8_t *out = w.out;
#define GRAY rlcore_image_gray(rgb, 21, out)
  FINE(GRAY);
  REFUSED(RLCORE_E_OVERFLOW, "gray: rgb", rlcore_image_gray(rgb, SIZE_MAX / 3, out));
  FINE(rlcore_image_gray(rgb, 0, out));
  const uint8_t known[] = {255, 0, 0, 128, 64, 32};
  FINE(rlcore_image_gray(known, 2, out));
  CHECK(out[0] == 76 && out[1] == 79);
}

/* Both ways to shrink, and the scratch they ask for. */
static void attack_area(void) {
  start();
  const rlcore_image_size *from = &w.from, *to = &w.to;
  const uint8_t *a = w.rgb, *b = w.other;
  uint8_t *out = w.out;
  float *scratch = w.scratch;
  size_t len = 256, *asked = &w.len;
#define ASK rlcore_image_scratch_len(from, to, asked)
#define AREA rlcore_image_area(from, a, to, out, scratch, len)
#define WARP rlcore_image_warp(from, a, b, to, out, scratch, len)
#define ALL(field, wrong, status, words) WITH(field, wrong, status, words, ASK); WITH(field, wrong, status, words, AREA); WITH(field, wrong, status, words, WARP)
#define BOTH(field, wrong, status, words) WITH(field, wrong, status, words, AREA); WITH(field, wrong, status, words, WARP)
  FINE(ASK);
  CHECK(w.len == 7 * 3 + 2 * 5 * 3 + 5 * 5);
  len = w.len;
  FINE(AREA);
  FINE(WARP);
  BOTH(len, w.len - 1, RLCORE_E_SIZE, "image: scratch numbers, at least 76, given 75");
  BOTH(len, 0, RLCORE_E_SIZE, "image: scratch numbers, at least 76, given 0");
  BOTH(len, SIZE_MAX / 2, RLCORE_E_OVERFLOW, "image: scratch");
  ALL(w.from.height, 0, RLCORE_E_CONFIG, "image: height, width and channels of at least 1, given 0");
  ALL(w.from.width, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  ALL(w.from.channels, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  ALL(w.to.height, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  ALL(w.to.width, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  ALL(w.to.channels, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  WITH(w.to.height, 10, RLCORE_E_CONFIG, "area means cannot enlarge, 9, given 10", ASK);
  WITH(w.to.width, 8, RLCORE_E_CONFIG, "area means cannot enlarge, 7, given 8", ASK);
  WITH(w.to.channels, 2, RLCORE_E_CONFIG, "or three that become gray, 3, given 2", ASK);
  WITH(w.from.channels, 5, RLCORE_E_CONFIG, "channels of 1 to 4, given 5", ASK);
  BOTH(w.to.height, 10, RLCORE_E_CONFIG, "area means cannot enlarge, 9, given 10");
  BOTH(w.to.width, 8, RLCORE_E_CONFIG, "area means cannot enlarge, 7, given 8");
  WITH(w.to.channels, 2, RLCORE_E_CONFIG, "as many channels", WARP);
  WITH(w.to.channels, 1, RLCORE_E_CONFIG, "area: as many channels in the output as in the source, 3, given 1", AREA);
  w.from = w.to = (rlcore_image_size){UINT32_MAX, UINT32_MAX, UINT32_MAX};
  REFUSED(RLCORE_E_OVERFLOW, "fits the address space", ASK);
  REFUSED(RLCORE_E_OVERFLOW, "fits the address space", AREA);
  REFUSED(RLCORE_E_OVERFLOW, "fits the address space", WARP);
  w.from = (rlcore_image_size){65536, 65536, 1}, w.to = (rlcore_image_size){1, 1, 1};
  REFUSED(RLCORE_E_CONFIG, "source pixels of one output pixel, at most 8421504, given 4294967296", ASK);
  w.from = (rlcore_image_size){H, W, 3}, w.to = (rlcore_image_size){4, 5, 3};
  BOTH(out, (uint8_t *)(void *)&w.to, RLCORE_E_OVERLAP, "image: out");
  BOTH(scratch, (float *)(void *)&w.from, RLCORE_E_OVERLAP, "image: scratch");
  b = NULL;
  FINE(WARP);
  b = a;
  FINE(WARP);

  /* A screen asks for no scratch; white stays white. */
  uint8_t small[84 * 84];
  const rlcore_image_size whole = {210, 160, 3}, shrunk = {84, 84, 1};
  memset(screen, 255, sizeof screen);
  memset(small, 0, sizeof small);
  FINE(rlcore_image_scratch_len(&whole, &shrunk, &w.len));
  CHECK(w.len == 0);
  FINE(rlcore_image_warp(&whole, screen, NULL, &shrunk, small, NULL, 0));
  for (int i = 0; i < 84 * 84; i++) CHECK(small[i] == 255);
  /* Two by two pixels: a half goes up. */
  const rlcore_image_size four = {2, 2, 1}, one = {1, 1, 1};
  FINE(rlcore_image_area(&four, (const uint8_t[]){1, 0, 0, 1}, &one, out, w.scratch, 256));
  CHECK(out[0] == 1);
}

static void attack_numbers(void) {
  start();
  const uint8_t *x = w.rgb, *rgb = screen;
  float *out = w.numbers;
#define SCALE rlcore_image_scale(x, 30, out)
#define RESCALE rlcore_image_rescale42(rgb, out)
  FINE(SCALE);
  CHECK(w.numbers[1] == 37.0f / 255.0f);
  REFUSED(RLCORE_E_OVERFLOW, "scale: out", rlcore_image_scale(x, SIZE_MAX / 4, out));
  FINE(RESCALE);
  CHECK(w.numbers[0] == 1.0f && w.numbers[42 * 42 - 1] == 1.0f && w.numbers[42 * 42] == 0.0f);
}

static void attack_layout(void) {
  start();
  const rlcore_image_size *size = &w.from;
  const uint8_t *x = w.rgb;
  uint8_t *out = w.out;
  uint32_t *rows = &w.rows, *columns = &w.columns, n = 3;
#define TURN rlcore_image_channels_first(size, x, out)
#define TILE rlcore_image_tile(n, size, x, out)
#define SHAPE rlcore_image_tile_shape(n, rows, columns)
  FINE(TURN);
  CHECK(out[0] == w.rgb[0] && out[1] == w.rgb[3] && out[H * W] == w.rgb[1] && out[H * W * 3 - 1] == w.rgb[H * W * 3 - 1]);
  w.from = (rlcore_image_size){2, 3, 3};
  FINE(TILE);
  CHECK(memcmp(out, x, 9) == 0 && memcmp(out + 9, x + 18, 9) == 0 && memcmp(out + 18, x + 9, 9) == 0);
  CHECK(out[36 + 9] == 0 && memcmp(out + 36, x + 36, 9) == 0);
  FINE(SHAPE);
  CHECK(w.rows == 2 && w.columns == 2);
#undef BOTH
#define BOTH(field, wrong, status, words) WITH(field, wrong, status, words, TURN); WITH(field, wrong, status, words, TILE)
  BOTH(w.from.height, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(w.from.width, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(w.from.channels, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(out, (uint8_t *)(void *)&w.from, RLCORE_E_OVERLAP, ": out");
  w.from = (rlcore_image_size){UINT32_MAX, UINT32_MAX, 1};
  REFUSED(RLCORE_E_OVERFLOW, "channels_first: x", TURN);
  REFUSED(RLCORE_E_OVERFLOW, "tile: images", TILE);
  w.from = (rlcore_image_size){UINT32_MAX, UINT32_MAX, UINT32_MAX};
  REFUSED(RLCORE_E_OVERFLOW, "a picture that fits the address space", TURN);
  REFUSED(RLCORE_E_OVERFLOW, "a picture that fits the address space", TILE);
  w.from = (rlcore_image_size){2, 3, 3};
  WITH(n, 0, RLCORE_E_RANGE, "tile: pictures of at least 1, given 0", TILE);
  WITH(n, 0, RLCORE_E_RANGE, "tile: pictures of at least 1, given 0", SHAPE);
  n = UINT32_MAX;
  FINE(SHAPE);
  CHECK(w.rows == 65536 && w.columns == 65536);
}

static void attack_text(void) {
  start();
  const rlcore_image_size *size = &w.from;
  const uint8_t *picture = w.rgb;
  uint8_t *out = w.out;
  size_t *len = &w.len;
  w.from = (rlcore_image_size){5, 4, 3};
#undef TEXT
#define SIZE rlcore_image_text_size(size, len)
#define TEXT rlcore_image_text(size, picture, out)
  FINE(SIZE);
  CHECK(w.len == 2 * 7);
  memset(w.rgb, 0, sizeof w.rgb);
  w.rgb[3] = w.rgb[4] = w.rgb[5] = 255;
  FINE(TEXT);
  CHECK(memcmp(out, "\xe2\xa0\x88\xe2\xa0\x80\n\xe2\xa0\x80\xe2\xa0\x80\n", 14) == 0);
#undef BOTH
#define BOTH(field, wrong, status, words) WITH(field, wrong, status, words, SIZE); WITH(field, wrong, status, words, TEXT)
  BOTH(w.from.height, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(w.from.width, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(w.from.channels, 0, RLCORE_E_CONFIG, "of at least 1, given 0");
  BOTH(w.from.channels, 2, RLCORE_E_CONFIG, "image text: a picture of 1 or 3 channels, given 2");
  BOTH(w.from.channels, UINT32_MAX, RLCORE_E_CONFIG, "given 4294967295");
  WITH(len, (size_t *)(void *)&w.from, RLCORE_E_OVERLAP, "image text: out_size", SIZE);
}

int main(void) {
  attack_text();
  attack_gray();
  attack_area();
  attack_numbers();
  attack_layout();
  return verdict();
}
