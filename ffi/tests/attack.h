/* The base of every attack program: a wrong call has to return one exact status and set an error text that names the violated
   condition, without changing a byte of the caller's memory.

   Included after `static struct world { ... } w, before;`: all memory that calls may touch lies in `w`, and all of it is compared
   before and after each wrong call. */

#include "../../tests/system/env.h"
#include "../../tests/system/rows.h"

static int failures, attacks;

/* The address k bytes further, whatever its alignment and contents. */
static inline void *off(const void *p, size_t k) { return (void *)((size_t)p + k); }

static void look(void) { memcpy(&before, &w, sizeof w); }

static void fail(int line, const char *call, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("line %d: %s: %s\n  last error: %s\n", line, call, what, why);
  failures++;
}

/* Each refused call and its status, once: the verdict lists them, and the header has to document them all. */
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

/* The text of a call, with macros expanded. */
#define SPELLED(call) #call
/* The call is refused with this status and this error text, and changes nothing. */
#define REFUSED(status, words, call) (look(), judge(__LINE__, SPELLED(call), status, (call), words))
/* The call succeeds. */
#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call, "refused"))
/* The condition holds. */
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition, "does not hold"))
/* One field has a bad value for the duration of one call. */
#define WITH(field, bad, status, words, call) \
  do { \
    char keep_[sizeof(field)]; \
    memcpy(keep_, &(field), sizeof(field)); \
    (field) = (bad); \
    REFUSED(status, words, call); \
    memcpy(&(field), keep_, sizeof(field)); \
  } while (0)
/* The same with NULL and two misaligned addresses, for a pointer that needs an alignment. */
#define POINTER(field, step, words, call) \
  do { \
    WITH(field, NULL, RLCORE_E_NULL, words, call); \
    WITH(field, off(field, 1), RLCORE_E_ALIGN, words, call); \
    WITH(field, off(field, step), RLCORE_E_ALIGN, words, call); \
  } while (0)

/* A number below `below`, different in each call. */
static inline uint32_t chance(uint32_t below) {
  static uint32_t lcg;
  lcg = lcg * 1664525u + 1013904223u;
  return (lcg >> 8) % below;
}

/* Sets a word of a block. */
#define POKE(at, value) memcpy(at, &(uint32_t){value}, sizeof(uint32_t))

/* A reader beside a writer that has just begun a change, and the image of a writer that died there: the sequence number is at
   `at`, followed by the number of rows being written. */
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

/* The result of main. */
static int verdict(void) {
  for (int i = 0; i < num_refusals; i++) printf("refused: %s %s\n", refusals[i].call, rlcore_status_name(refusals[i].status));
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
