/* What every attack program is made of: a wrong call has to be answered by one exact status, by words that say what was
   needed, and without changing a byte of what the caller owns.

   Included after `static struct world { ... } w, before;`: everything that calls may touch lies in `w`, and a wrong call is
   surrounded by two looks at all of it. */

#include "../../tests/system/env.h"
#include "../../tests/system/rows.h"

static int failures, attacks;

/* An address k bytes further, whatever its alignment and whatever lies there. */
static inline void *off(const void *p, size_t k) { return (void *)((size_t)p + k); }

static void look(void) { memcpy(&before, &w, sizeof w); }

static void fail(int line, const char *call, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("line %d: %s: %s\n  last error: %s\n", line, call, what, why);
  failures++;
}

/* Which call was refused how, once each: the verdict lists them, and the header has to know them all. */
static struct refusal {
  char call[64];
  int32_t status;
} refusals[1024];
static int num_refusals;

static void note(const char *call, int32_t status) {
  struct refusal r = {{0}, status};
  for (size_t i = 0; i < sizeof r.call - 1 && call[i] && call[i] != '('; i++) r.call[i] = call[i];
  for (int i = 0; i < num_refusals; i++)
    if (refusals[i].status == status && strcmp(refusals[i].call, r.call) == 0) return;
  if (num_refusals < 1024) refusals[num_refusals++] = r;
}

static void judge(int line, const char *call, int32_t wanted, int32_t got, const char *words) {
  char why[256];
  attacks++;
  note(call, got);
  if (got != wanted) {
    printf("wanted %s, got %s\n", rlcore_status_name(wanted), rlcore_status_name(got));
    fail(line, call, "another status");
    return;
  }
  rlcore_last_error(why, sizeof why);
  if (strncmp(why, rlcore_status_name(wanted), strlen(rlcore_status_name(wanted))) != 0) fail(line, call, "the last error has another name");
  char *const expected = strstr(why, "expected ");
  if (expected != NULL) memmove(expected, expected + 9, strlen(expected + 9) + 1);
  if (strstr(why, words) == NULL) {
    printf("wanted the words \"%s\"\n", words);
    fail(line, call, "the last error does not say what was needed");
  }
  if (memcmp(&before, &w, sizeof w) != 0) {
    size_t at = 0;
    while (((unsigned char *)&before)[at] == ((unsigned char *)&w)[at]) at++;
    printf("byte %zu of the world changed\n", at);
    fail(line, call, "something was written");
    memcpy(&w, &before, sizeof w);
  }
}

/* The text of a call, macros replaced. */
#define SPELLED(call) #call
/* The call is refused with this status and these words, and nothing changes. */
#define REFUSED(status, words, call) (look(), judge(__LINE__, SPELLED(call), status, (call), words))
/* The call succeeds. */
#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call, "refused"))
/* The condition holds. */
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition, "does not hold"))
/* One field has a bad value for the length of a call. */
#define WITH(field, bad, status, words, call) \
  do { \
    char keep_[sizeof(field)]; \
    memcpy(keep_, &(field), sizeof(field)); \
    (field) = (bad); \
    REFUSED(status, words, call); \
    memcpy(&(field), keep_, sizeof(field)); \
  } while (0)
/* The same for the one NULL and the misaligned addresses of a pointer to something that wants a boundary. */
#define POINTER(field, step, words, call) \
  do { \
    WITH(field, NULL, RLCORE_E_NULL, words, call); \
    WITH(field, off(field, 1), RLCORE_E_ALIGN, words, call); \
    WITH(field, off(field, step), RLCORE_E_ALIGN, words, call); \
  } while (0)

/* A number below `below`, another one in every call. */
static inline uint32_t chance(uint32_t below) {
  static uint32_t lcg;
  lcg = lcg * 1664525u + 1013904223u;
  return (lcg >> 8) % below;
}

/* A word of a block has another value. */
#define POKE(at, value) memcpy(at, &(uint32_t){value}, sizeof(uint32_t))

/* A reader beside a writer that has just begun a change, and the image of one that has died there: the turn is at `at`, and
   behind it how many rows are being written. */
#define TORN(at, read, attach) \
  do { \
    uint32_t turn_; \
    memcpy(&turn_, at, sizeof turn_); \
    CHECK(turn_ > 0 && turn_ % 2 == 0); \
    POKE(at, turn_ + 1); \
    REFUSED(RLCORE_E_BUSY, "faster than it can be read", read); \
    REFUSED(RLCORE_E_IMAGE, "in the middle of a change", attach); \
    POKE(at, turn_); \
    POKE((at) + sizeof turn_, 1); \
    REFUSED(RLCORE_E_IMAGE, "in the middle of a row", attach); \
    POKE((at) + sizeof turn_, 0); \
    FINE(attach); \
  } while (0)

/* What main returns. */
static int verdict(void) {
  for (int i = 0; i < num_refusals; i++) printf("refused: %s %s\n", refusals[i].call, rlcore_status_name(refusals[i].status));
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
