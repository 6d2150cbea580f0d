/* One policy as a structure `compiled`; included once for each, with PREFIX, CAPITALS, and CASE_ROW, its row in the list. */
#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE extern
#endif
#ifndef GLUE
#include "compiled.h"
#define GLUE(a, b) GLUE_OF(a, b)
#define GLUE_OF(a, b) a##b
#define TEXT(a) TEXT_OF(a)
#define TEXT_OF(a) #a
#ifdef __cplusplus
/* A pointer that becomes one to any type, as in C. */
struct any {
  void *p;
  template <class T> operator T *() const { return static_cast<T *>(p); }
};
#define ANY(p) any{const_cast<void *>(static_cast<const void *>(p))}
#else
#define ANY(p) p
#endif
#endif

static int GLUE(PREFIX, _adapted)(float *state, const void *obs, const uint8_t *mask, void *action, float *outputs) {
  static GLUE(PREFIX, _scratch) scratch;
  memset(&scratch, 0xff, sizeof scratch);
#if GLUE(CAPITALS, _STATE_LEN) > 0
  GLUE(PREFIX, _state) own;
  memcpy(own.values, state, sizeof own.values);
#if GLUE(CAPITALS, _NUM_CHOICES) > 0
  const int failed = GLUE(PREFIX, _act)(&own, &scratch, ANY(obs), mask, ANY(action));
#else
  const int failed = GLUE(PREFIX, _act)(&own, &scratch, ANY(obs), ANY(action));
#endif
  memcpy(state, own.values, sizeof own.values);
#elif GLUE(CAPITALS, _NUM_CHOICES) > 0
  const int failed = GLUE(PREFIX, _act)(&scratch, ANY(obs), mask, ANY(action));
#else
  const int failed = GLUE(PREFIX, _act)(&scratch, ANY(obs), ANY(action));
#endif
  (void)state, (void)mask;
  memcpy(outputs, scratch.outputs, sizeof scratch.outputs);
  return failed;
}

#ifdef __cplusplus
extern "C"
#endif
    const compiled GLUE(PREFIX, _compiled);
const compiled GLUE(PREFIX, _compiled) = {
    TEXT(PREFIX),
    GLUE(CAPITALS, _OBS_LEN),
    GLUE(CAPITALS, _ACTION_LEN),
    GLUE(CAPITALS, _NUM_OUTPUTS),
    GLUE(CAPITALS, _NUM_CHOICES),
    GLUE(CAPITALS, _NUM_MEANS),
    GLUE(CAPITALS, _STATE_LEN),
    sizeof(GLUE(PREFIX, _scratch)),
    GLUE(PREFIX, _adapted),
    CASE_ROW,
};
