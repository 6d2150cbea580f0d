/* Learning curves as one SVG file: each seed thin, their median thick, the threshold dashed. */
#ifndef SVG_H
#define SVG_H

#include <stddef.h>

enum { SVG_MAX_CURVES = 8 };

typedef struct svg_curves {
  const char *title, *x_label, *y_label;
  double x_step;                      /* value[k] stands at x = (k + 1) * x_step */
  double bar;                         /* dashed line; NAN for none */
  size_t num_curves, len;             /* every curve has len points */
  const float *value[SVG_MAX_CURVES]; /* NAN where a curve has no point yet */
} svg_curves;

void svg_write(const char *path, const svg_curves *curves);

#endif
