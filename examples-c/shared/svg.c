#include "svg.h"
#include "host.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 420, LEFT = 76, RIGHT = 40, TOP = 52, BOTTOM = 58, MAX_POINTS = 400 };

/* Okabe and Ito's colors, distinguishable with every kind of color vision. */
static const char *const color[SVG_MAX_CURVES] = {"#E69F00", "#56B4E9", "#009E73", "#CC79A7",
                                                   "#D55E00", "#0072B2", "#999999", "#F0E442"};

typedef struct frame {
  double x_max, y_min, y_max;
} frame;

static double at_x(const frame *f, double x) { return LEFT + (WIDTH - LEFT - RIGHT) * x / f->x_max; }
static double at_y(const frame *f, double y) {
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - f->y_min) / (f->y_max - f->y_min);
}

/* 1, 2 or 5 times a power of ten, for about `count` ticks over `range`. */
static double tick_step(double range, int count) {
  const double rough = range / count, power = pow(10, floor(log10(rough))), lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void text(FILE *file, double x, double y, const char *anchor, const char *more, const char *words) {
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, more, words);
}

/* 1234567 as 1,234,567; numbers that are not whole stay unchanged. */
static const char *grouped(double value, char out[32]) {
  char plain[24];
  char *to = out;
  if (value != floor(value) || fabs(value) >= 1e15) return snprintf(out, 32, "%g", value), out;
  const int len = snprintf(plain, sizeof plain, "%.0f", value);
  for (int i = 0; i < len; i++) {
    if (i && plain[i - 1] != '-' && (len - i) % 3 == 0) *to++ = ',';
    *to++ = plain[i];
  }
  *to = 0;
  return out;
}

static void axes(FILE *file, const svg_curves *c, const frame *f) {
  const double x_tick = tick_step(f->x_max, 6), y_tick = tick_step(f->y_max - f->y_min, 6);
  char number[32];
  for (double y = ceil(f->y_min / y_tick) * y_tick; y <= f->y_max + y_tick * 1e-6; y += y_tick) {
    fprintf(file, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n", LEFT, WIDTH - RIGHT,
            at_y(f, y), at_y(f, y));
    text(file, LEFT - 8, at_y(f, y) + 4, "end", "", grouped(fabs(y) < y_tick * 1e-6 ? 0 : y, number));
  }
  for (double x = 0; x <= f->x_max * (1 + 1e-9); x += x_tick) {
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#333\"/>\n", at_x(f, x), at_x(f, x),
            HEIGHT - BOTTOM, HEIGHT - BOTTOM + 5);
    text(file, at_x(f, x), HEIGHT - BOTTOM + 20, "middle", "", grouped(x, number));
  }
  fprintf(file, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
          WIDTH - RIGHT);
  text(file, LEFT, 24, "start", "font-size=\"16\" font-weight=\"bold\"", c->title);
  text(file, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", "", c->x_label);
  fprintf(file, "<text transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
          (TOP + HEIGHT - BOTTOM) / 2.0, c->y_label);
}

/* NAN until most curves have a point. */
static double median(const svg_curves *c, size_t k) {
  double value[SVG_MAX_CURVES];
  for (size_t i = 0; i < c->num_curves; i++) value[i] = (double)c->value[i][k];
  return host_median(value, c->num_curves);
}

/* curve < num_curves, or the median. */
static double point(const svg_curves *c, size_t curve, size_t k) {
  return curve < c->num_curves ? (double)c->value[curve][k] : median(c, k);
}

static void curve(FILE *file, const svg_curves *c, const frame *f, size_t which, const char *stroke, double width) {
  const size_t stride = 1 + c->len / MAX_POINTS;
  fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\" points=\"", stroke,
          width);
  for (size_t k = 0; k < c->len; k++) {
    const double y = point(c, which, k);
    if ((k % stride == 0 || k + 1 == c->len) && !isnan(y))
      fprintf(file, "%.1f,%.1f ", at_x(f, (double)(k + 1) * c->x_step), at_y(f, y));
  }
  fputs("\"/>\n", file);
}

static void legend_line(FILE *file, double x, const char *stroke, double width, const char *more, const char *words) {
  fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"40\" y2=\"40\" stroke=\"%s\" stroke-width=\"%g\" %s/>\n", x, x + 22,
          stroke, width, more);
  text(file, x + 28, 44, "start", "", words);
}

void svg_write(const char *path, const svg_curves *c) {
  frame f = {.x_max = (double)c->len * c->x_step, .y_min = INFINITY, .y_max = -INFINITY};
  char words[32];
  double x = LEFT;
  FILE *file = fopen(path, "w");
  if (!file) host_fail("cannot write %s", path);
  for (size_t i = 0; i < c->num_curves; i++) {
    for (size_t k = 0; k < c->len; k++) {
      f.y_min = fmin(f.y_min, (double)c->value[i][k]); /* fmin and fmax skip NAN */
      f.y_max = fmax(f.y_max, (double)c->value[i][k]);
    }
  }
  f.y_min = fmin(f.y_min, c->bar);
  f.y_max = fmax(f.y_max, c->bar);
  if (!(f.y_max - f.y_min > 1e-9)) f.y_min -= 1, f.y_max += 1;
  if (f.y_min > 0 && f.y_min < f.y_max / 2) f.y_min = 0;
  f.y_max += (f.y_max - f.y_min) * 0.04;

  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  fprintf(file, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", c->title, WIDTH, HEIGHT);
  axes(file, c, &f);
  if (!isnan(c->bar))
    fprintf(file, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#555\" stroke-dasharray=\"6 4\"/>\n",
            LEFT, WIDTH - RIGHT, at_y(&f, c->bar), at_y(&f, c->bar));
  for (size_t i = 0; i < c->num_curves; i++) {
    curve(file, c, &f, i, color[i], 1.3);
    snprintf(words, sizeof words, "seed %zu", i + 1);
    legend_line(file, x, color[i], 2, "", words);
    x += 84;
  }
  if (c->num_curves > 1) {
    curve(file, c, &f, c->num_curves, "#000", 2.6);
    legend_line(file, x, "#000", 2.6, "", "median");
    x += 92;
  }
  if (!isnan(c->bar)) {
    snprintf(words, sizeof words, "bar %g", c->bar);
    legend_line(file, x, "#555", 1, "stroke-dasharray=\"6 4\"", words);
  }
  fputs("</svg>\n", file);
  /* An earlier write may have failed, not only the last one. */
  const bool failed = ferror(file);
  if (fclose(file) || failed) host_fail("cannot write %s", path);
}
