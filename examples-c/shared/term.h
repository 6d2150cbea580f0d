/* The terminal: sparklines, a progress line that rewrites itself, and line drawings made of Braille dots. */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>
#include <stddef.h>

/* True if stdout is a terminal; else output is kept short and free of control codes. */
bool term_is_tty(void);

/* Gives stdout its own static buffer, so that printing never allocates. Call first. */
void term_init(void);

/* Writes the shape of value[0..len) in `width` bars; text needs 3 * width + 1 bytes. */
void term_sparkline(char *text, const float *value, size_t len, size_t width);

/* printf for a line that the next one overwrites. */
void term_progress(const char *format, ...);

enum { CANVAS_COLUMNS = 60, CANVAS_ROWS = 14 };

/* Dots [CANVAS_ROWS * 4][CANVAS_COLUMNS * 2] over the world rectangle from `left, bottom` to `right, top`. */
typedef struct canvas {
  double left, bottom, right, top;
  unsigned char cell[CANVAS_ROWS][CANVAS_COLUMNS];
} canvas;

void canvas_clear(canvas *c, double left, double bottom, double right, double top);
void canvas_line(canvas *c, double x0, double y0, double x1, double y1);

/* Prints the picture under a caption; on a terminal, over the last one if `again`. */
void canvas_show(const canvas *c, const char *caption, bool again);

#endif
