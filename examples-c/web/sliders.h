/* Settings that the page changes while it trains. */
#ifndef SLIDERS_H
#define SLIDERS_H

#include <rlcore.h>
#include <stdbool.h>

/* How a slider runs from its lower to its upper end. */
enum { SLIDER_LINEAR, SLIDER_LOG, SLIDER_LOG_OR_ZERO, SLIDER_BELOW_ONE, SLIDER_DOUBLING };

typedef struct slider {
  const char *name, *label; /* name: of the field of rlcore_learner_config */
  size_t offset;
  uint32_t type, run;
  double low, high;
  uint32_t readers; /* algorithms that read it: 1 << rlcore_algorithm */
  bool fresh;       /* a learner with another value starts over: its layers have other lengths */
} slider;

enum { NUM_SLIDERS = 32 };
extern const slider sliders[NUM_SLIDERS];

bool slider_used(const slider *s, const rlcore_learner_config *c);
double slider_read(const slider *s, const rlcore_learner_config *c);
/* Values beyond the ends of the slider become the ends. */
void slider_write(const slider *s, rlcore_learner_config *c, double value);

#endif
