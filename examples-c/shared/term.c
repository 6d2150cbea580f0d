#define _POSIX_C_SOURCE 200809L
#include "term.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool term_is_tty(void) { return isatty(STDOUT_FILENO) == 1; }

void term_init(void) {
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, term_is_tty() ? _IOFBF : _IOLBF, sizeof buffer);
}

void term_sparkline(char *text, const float *value, size_t len, size_t width) {
  float low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < len; i++) {
    low = value[i] < low ? value[i] : low;
    high = value[i] > high ? value[i] : high;
  }
  for (size_t i = 0; i < width; i++) {
    const size_t at = len < width ? i : i * (len - 1) / (width - 1);
    if (at >= len) {
      *text++ = ' ';
      continue;
    }
    const int bar = high > low ? (int)(7.999F * (value[at] - low) / (high - low)) : 0;
    const unsigned char code[3] = {0xE2, 0x96, (unsigned char)(0x81 + bar)}; /* U+2581 + bar */
    memcpy(text, code, 3);
    text += 3;
  }
  *text = 0;
}

void term_progress(const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (term_is_tty()) fputs("\r\033[K", stdout);
  vprintf(format, args);
  if (!term_is_tty()) putchar('\n');
  fflush(stdout);
  va_end(args);
}

void canvas_clear(canvas *c, double left, double bottom, double right, double top) {
  *c = (canvas){.left = left, .bottom = bottom, .right = right, .top = top};
}

static void dot(canvas *c, double x, double y) {
  static const unsigned char bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  if (!(x >= 0 && x < 2 * CANVAS_COLUMNS && y >= 0 && y < 4 * CANVAS_ROWS)) return;
  const int column = (int)x, row = (int)y;
  c->cell[row / 4][column / 2] |= bit[row % 4][column % 2];
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1) {
  const double sx = 2 * CANVAS_COLUMNS / (c->right - c->left), sy = 4 * CANVAS_ROWS / (c->top - c->bottom);
  const double dx = (x1 - x0) * sx, dy = (y1 - y0) * sy;
  const int dots = 1 + (int)fmin(2 * fmax(fabs(dx), fabs(dy)), 1000.0);
  for (int i = 0; i <= dots; i++) {
    const double along = (double)i / dots;
    dot(c, (x0 - c->left) * sx + along * dx, (c->top - y0) * sy - along * dy);
  }
}

void canvas_show(const canvas *c, const char *caption, bool again) {
  if (again && term_is_tty()) printf("\033[%dA", CANVAS_ROWS + 1);
  printf("%s%s\n", caption, term_is_tty() ? "\033[K" : "");
  for (int row = 0; row < CANVAS_ROWS; row++) {
    for (int column = 0; column < CANVAS_COLUMNS; column++) {
      const unsigned char cell = c->cell[row][column]; /* U+2800 + cell */
      printf("%c%c%c", 0xE2, 0xA0 + (cell >> 6), 0x80 + (cell & 0x3F));
    }
    putchar('\n');
  }
  fflush(stdout);
  if (term_is_tty()) nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}
