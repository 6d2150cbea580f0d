/* What every attack program is made of: a wrong call has to be answered by one exact status, by words that say what was
   needed, and without changing a byte of what the caller owns.

   Included after `static struct world { ... } w, before;`: everything that calls may touch lies in `w`, and a wrong call is
   surrounded by two looks at all of it. */

static int failures, attacks;

/* An address k bytes further, whatever its alignment. */
static void *off(const void *p, size_t k) { return (char *)(size_t)p + k; }

static void look(void) { memcpy(&before, &w, sizeof w); }

static void fail(int line, const char *call, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("line %d: %s: %s\n  last error: %s\n", line, call, what, why);
  failures++;
}

static void judge(int line, const char *call, int32_t wanted, int32_t got, const char *words) {
  char why[256];
  attacks++;
  if (got != wanted) {
    printf("wanted %s, got %s\n", rlcore_status_name(wanted), rlcore_status_name(got));
    fail(line, call, "another status");
    return;
  }
  rlcore_last_error(why, sizeof why);
  if (strncmp(why, rlcore_status_name(wanted), strlen(rlcore_status_name(wanted))) != 0) fail(line, call, "the last error has another name");
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

/* The call is refused with this status and these words, and nothing changes. */
#define REFUSED(status, words, call) (look(), judge(__LINE__, #call, status, (call), words))
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

#define NULLED RLCORE_E_NULL
#define CROOKED RLCORE_E_ALIGN

/* Layout that compiled callers rely on. */
#define OFFSET(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field)

/* What main returns. */
static int verdict(void) {
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
