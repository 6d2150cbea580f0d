/* Every exported function, every argument, every error that it can have, one at a time: the call has to return the status that
   the header promises and may change nothing. Prints the errors tried for each argument, and the statuses. With any program
   argument: prints the names of the functions. */

static int failures, attacks;
#define STOP() (void)failures++

#include "calls.h"

extern const struct op *const __start_ops[], *const __stop_ops[];

static unsigned char bytes[96];

/* The statuses that a function returned, as bits: the header has to document them all. */
static uint32_t answered;

/* A hash of all statuses in order: it changes with any of them, even where several are right. */
static uint32_t answers;

/* Calls with good arguments, except for the one that takes the byte at `at`. */
static int32_t call_with(const struct op *op, int at, unsigned chosen) {
  prepare();
  memset(bytes, 0, sizeof bytes);
  if (at >= 0) bytes[at] = (unsigned char)chosen;
  input = bytes, input_size = sizeof bytes, cursor = 0;
  const int32_t status = make_call(op);
  answered |= 1u << -status;
  answers = (answers ^ (uint32_t)-status) * 16777619;
  if (status < RLCORE_OK) remember_words();
  return status;
}

static void expect(const struct op *op, int i, unsigned chosen, int32_t wanted) {
  char why[256];
  const int before = failures;
  const int32_t got = call_with(op, i, chosen);
  attacks++;
  if (failures > before) printf("%s: %s, chosen %u: a finding\n", op->name, i < 0 ? "all good" : arguments[i].name, chosen);
  if (wanted == REFUSED && got < RLCORE_OK) return;
  if (got == wanted) {
    if (wanted == RLCORE_OK || strcmp(op->name, "rlcore_last_error") == 0) return; /* it does not report its own failures */
    FINE(rlcore_last_error(why, sizeof why));
    if (strncmp(why, rlcore_status_name(wanted), strlen(rlcore_status_name(wanted))) == 0) return;
  }
  FINE(rlcore_last_error(why, sizeof why));
  printf("%s: %s, chosen %u: wanted %s, got %s: %s\n", op->name, i < 0 ? "all good" : arguments[i].name, chosen,
         wanted == REFUSED ? "an error" : rlcore_status_name(wanted), rlcore_status_name(got), why);
  failures++;
}

/* Whether an argument must not overlap an argument before it: structures are read first, and arrays of in-place calls may be
   equal. */
static int apart(const struct argument *a, const struct argument *other) {
  const unsigned flags = a->flags | other->flags;
  if (a->size == 0 || other->size == 0 || other->form == STRUCTURE || flags & COPIED || !(flags & OUT)) return 0;
  if (other->form == ARRAY && flags & IN_PLACE) return 0;
  return other->form == OBJECT ? a->size + 64 <= other->size : other->size <= SMALL && a->size <= SMALL;
}

static void attack(const struct op *op) {
  struct argument good[96];
  answered = 0, answers = 2166136261, said[0] = 0;
  expect(op, -1, 0, RLCORE_OK);
  const int num = num_arguments;
  memcpy(good, arguments, sizeof good);
  printf("%s:", op->name);
  for (int i = 0; i < num; i++) {
    const struct argument *a = &good[i];
    const int optional = (a->flags & OPTIONAL) != 0;
    printf(" %s", a->name);
    switch (a->form) {
      case ARRAY:
        if (a->size == 0) { /* only its other errors can be tested */
          printf(" unused,");
          break;
        }
        if (!optional) expect(op, i, NIL, RLCORE_E_NULL);
        if (a->element > 1) expect(op, i, CROOKED, RLCORE_E_ALIGN);
        if (a->element > 1) expect(op, i, HALF_CROOKED, RLCORE_E_ALIGN);
        int shared = 0;
        for (int j = 0; j < i; j++)
          if (apart(a, &good[j])) {
            shared_with = j, shared++;
            expect(op, i, SHARED, RLCORE_E_OVERLAP);
          }
        shared_with = -1;
        if ((a->type == 'f' || a->type == 'd') && !(a->flags & ANY)) {
          call_with(op, i, NOT_A_NUMBER);
          if (!(arguments[i].flags & ANY)) expect(op, i, NOT_A_NUMBER, RLCORE_E_VALUE);
          call_with(op, i, INFINITE);
          if (!(arguments[i].flags & ANY)) expect(op, i, INFINITE, RLCORE_E_VALUE);
        }
        for (unsigned chosen = 0; chosen < 32; chosen++) KNOWN(call_with(op, i, chosen)), attacks++;
        printf(" %s%s", optional ? "" : "NULL,", a->element > 1 ? "crooked," : "");
        if (shared > 0) printf("on %d others,", shared);
        break;
      case STRUCTURE:
        if (!optional) expect(op, i, NIL, RLCORE_E_NULL);
        expect(op, i, CROOKED, RLCORE_E_ALIGN);
        expect(op, i, HALF_CROOKED, RLCORE_E_ALIGN);
        printf(" %scrooked,", optional ? "" : "NULL,");
        if (a->flags & FIXED) break;
        expect(op, i, NO_SIZE, RLCORE_E_CONFIG);
        expect(op, i, LONG_SIZE, RLCORE_E_CONFIG);
        expect(op, i, ODD_SIZE, RLCORE_E_CONFIG);
        expect(op, i, ZERO_TAIL, RLCORE_OK);
        expect(op, i, OTHER_TAIL, a->flags & OUT ? RLCORE_OK : RLCORE_E_CONFIG);
        KNOWN(call_with(op, i, SHORT_SIZE));
        printf("struct_size,");
        for (int j = 0; j < i; j++)
          if (a->flags & OUT && good[j].form == OBJECT && a->size + 64 <= good[j].size) {
            shared_with = j;
            expect(op, i, WITHIN, RLCORE_E_OVERLAP);
            printf("in %s,", good[j].name);
          }
        shared_with = -1;
        break;
      case OBJECT:
        expect(op, i, NIL, RLCORE_E_NULL);
        expect(op, i, CROOKED, RLCORE_E_ALIGN);
        expect(op, i, HALF_CROOKED, RLCORE_E_ALIGN);
        printf(" NULL,crooked,");
        if (a->flags & FIXED) break; /* memory for a block */
        expect(op, i, OTHER_KIND, RLCORE_E_IMAGE);
        expect(op, i, NO_OBJECT, RLCORE_E_IMAGE);
        expect(op, i, OTHER_ORDER, RLCORE_E_IMAGE);
        printf("image,");
        break;
      case NUMBER:
        for (unsigned chosen = 0; chosen < 32; chosen++) KNOWN(call_with(op, i, chosen)), attacks++;
        if (a->bad == RLCORE_OK) { /* or arrays are as long as it says */
          printf(" any,");
          break;
        }
        if (optional) {
          expect(op, i, NONE, a->bad);
          printf(" 0,");
          break;
        }
        if (a->element > 0) {
          for (unsigned chosen = 1; chosen <= a->element; chosen++) {
            call_with(op, i, chosen); /* each may have a status of its own */
            expect(op, i, chosen, arguments[i].bad);
          }
          printf(" %u values,", a->element);
          break;
        }
        expect(op, i, ABOVE, a->type == 'f' && call_with(op, i, ABOVE) == RLCORE_E_VALUE ? RLCORE_E_VALUE : a->bad);
        expect(op, i, FAR_ABOVE, a->bad);
        printf(" out of range,");
        break;
    }
  }
  int counts = 0, sides = 0; /* counts whose product is computed before anything is read */
  for (int i = 0; i < num; i++) {
    if (good[i].form != NUMBER || !(good[i].flags & OPTIONAL)) continue;
    counts += good[i].bad == RLCORE_E_SHAPE || good[i].bad == RLCORE_E_CONFIG;
    sides += strcmp(good[i].name, "width") == 0 || strcmp(good[i].name, "height") == 0 || strcmp(op->name, "rlcore_shift_rows") == 0;
  }
  huge = (counts > 1 || sides > 1) && strstr(op->name, "categorical") == NULL;
  if (huge) expect(op, -1, 0, RLCORE_E_OVERFLOW), printf(" all counts too large,");
  huge = 0;
  printf("\n");
  for (int32_t status = 1; status < 32; status++)
    if (answered >> status & 1)
      printf("refused: %s %s\n", op->name, rlcore_status_name(-status));
  printf("answers: %s %08x\n%s", op->name, (unsigned)answers, said);
}

int main(int argc, char **argv) {
  (void)argv;
  for (const struct op *const *op = __start_ops; op < __stop_ops; op++) {
    if (argc > 1) printf("%s\n", (*op)->name);
    else attack(*op);
  }
  if (argc > 1) return 0;
  printf("%d attacks, %d failures\n", attacks, failures);
  return failures != 0;
}
