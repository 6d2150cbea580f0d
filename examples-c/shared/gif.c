#include "gif.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A file is a head, and for each picture its time, its table of colors, and its pixels in the words of LZW, which grow from 9 bits to
   12 and begin anew when all are taken, cut into blocks of up to 255 bytes. */
enum { COLORS = 256, CLEAR = COLORS, END, FIRST, SLOTS = 1024 };

typedef struct colors {
  uint32_t key[SLOTS]; /* 1 + the color in this slot; 0: it is free */
  uint8_t index[SLOTS];
  uint8_t table[COLORS][3];
  unsigned len;
} colors;

typedef struct words {
  FILE *file;
  uint8_t block[255];
  unsigned len, bits, width;
  uint32_t pending;
} words;

static _Noreturn void fail(const char *path) {
  fprintf(stderr, "cannot write %s\n", path);
  exit(1);
}

static void put(FILE *file, const void *from, size_t len) {
  if (fwrite(from, 1, len, file) != len) fail("the moving picture");
}

static void put16(uint8_t *to, unsigned x) {
  to[0] = (uint8_t)x;
  to[1] = (uint8_t)(x >> 8);
}

/* ---- Colors ---- */

/* The color's index in the table, which takes it in; COLORS if it is full. */
static unsigned find(colors *c, const uint8_t *rgb) {
  const uint32_t key = 1 + ((uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2]);
  unsigned slot = key * 2654435761u >> 22;
  for (; c->key[slot]; slot = (slot + 1) % SLOTS)
    if (c->key[slot] == key) return c->index[slot];
  if (c->len == COLORS) return COLORS;
  c->key[slot] = key;
  c->index[slot] = (uint8_t)c->len;
  memcpy(c->table[c->len], rgb, 3);
  return c->len++;
}

static unsigned rounded(const uint8_t *rgb) {
  unsigned index = 0;
  for (int k = 0; k < 3; k++) index = 6 * index + (rgb[k] + 25u) / 51u;
  return index;
}

/* ---- Words ---- */

static void flush_block(words *w) {
  const uint8_t len = (uint8_t)w->len;
  if (len == 0) return;
  put(w->file, &len, 1);
  put(w->file, w->block, w->len);
  w->len = 0;
}

static void put_word(words *w, unsigned code) {
  w->pending |= (uint32_t)code << w->bits;
  for (w->bits += w->width; w->bits >= 8; w->bits -= 8, w->pending >>= 8) {
    w->block[w->len++] = (uint8_t)w->pending;
    if (w->len == sizeof w->block) flush_block(w);
  }
}

/* ---- Files ---- */

void gif_open(gif *g, const char *path, unsigned width, unsigned height, unsigned hundredths) {
  uint8_t head[13] = "GIF89a", again[] = {0x21, 0xff, 11, 'N', 'E', 'T', 'S', 'C', 'A', 'P', 'E', '2', '.', '0', 3, 1, 0, 0, 0};
  g->file = fopen(path, "wb");
  if (!g->file || width - 1 >= 4096 || height - 1 >= 4096) fail(path);
  g->width = width, g->height = height, g->hundredths = hundredths;
  put16(head + 6, width);
  put16(head + 8, height);
  put(g->file, head, sizeof head);
  put(g->file, again, sizeof again);
}

void gif_frame(gif *g, const uint8_t *rgb) {
  static colors c;
  const size_t num_pixels = (size_t)g->width * g->height;
  uint8_t time[] = {0x21, 0xf9, 4, 0, 0, 0, 0, 0}, place[10] = {0x2c}, bits = 8;
  words w = {.file = g->file, .width = 9};
  bool exact = true;
  if (!g->file) return;
  c.len = 0;
  memset(c.key, 0, sizeof c.key);
  for (size_t i = 0; i < num_pixels && exact; i++) exact = find(&c, rgb + 3 * i) < COLORS;
  for (unsigned i = 0; i < 216 && !exact; i++)
    c.table[i][0] = (uint8_t)(i / 36 * 51), c.table[i][1] = (uint8_t)(i / 6 % 6 * 51), c.table[i][2] = (uint8_t)(i % 6 * 51);
  put16(time + 4, g->hundredths);
  put16(place + 5, g->width);
  put16(place + 7, g->height);
  place[9] = 0x87; /* a table of 256 colors follows */
  put(g->file, time, sizeof time);
  put(g->file, place, sizeof place);
  put(g->file, c.table, sizeof c.table);
  put(g->file, &bits, 1);

  unsigned taken = FIRST, code = exact ? find(&c, rgb) : rounded(rgb);
  memset(g->next, 0, sizeof g->next);
  put_word(&w, CLEAR);
  for (size_t i = 1; i < num_pixels; i++) {
    const unsigned color = exact ? find(&c, rgb + 3 * i) : rounded(rgb + 3 * i), longer = g->next[code][color];
    if (longer) {
      code = longer;
      continue;
    }
    put_word(&w, code);
    if (taken == GIF_CODES) {
      put_word(&w, CLEAR);
      memset(g->next, 0, sizeof g->next);
      taken = FIRST;
      w.width = 9;
    } else {
      g->next[code][color] = (uint16_t)taken++;
      if (taken > 1u << w.width && w.width < 12) w.width++;
    }
    code = color;
  }
  put_word(&w, code);
  put_word(&w, END);
  if (w.bits) w.width = 8 - w.bits, put_word(&w, 0);
  flush_block(&w);
  put(g->file, "", 1);
}

void gif_close(gif *g) {
  if (!g->file) return;
  put(g->file, ";", 1);
  if (fclose(g->file)) fail("the moving picture");
  g->file = NULL;
}
