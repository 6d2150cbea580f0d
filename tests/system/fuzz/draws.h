/* Arguments chosen by the input: each takes a byte, of which 0 is the good argument and every other value is a wrong or a
   different one. Everything that calls read and write lies in one of two worlds of equal layout. A call is made in the first
   world; if it succeeds, it is repeated in the second on copies of everything, and has to give the same results. */
#ifndef RLCORE_FUZZ_DRAWS_H
#define RLCORE_FUZZ_DRAWS_H

#include "blocks.h"

/* Arrays lie at the ends of their slots, so that access beyond an array hits forbidden memory. */
enum { SLOTS = 40, LARGE = 210 * 160 * 3 + 32, SMALL = 8192, GUARD = 64 };

struct world {
  _Alignas(64) unsigned char blocks[KINDS + 1][BLOCK_SIZE + GUARD];
  unsigned char large[LARGE + GUARD];
  unsigned char slots[SLOTS][SMALL + GUARD];
};

/* All counts are as large as possible, and no array is filled. */
static int huge;

/* The world of the call, the world of its repetition, the first world before the call, and the current world. */
static struct world first, second, kept, *here;

/* The use of an argument. Its memory is read only, unless the flags say more. COPIED: before anything is written. */
enum { OUT = 1, OPTIONAL = 2, ANY = 4, POINTERS = 8, SCRATCH = 16, IN_PLACE = 32, FIXED = 64, BLOCK = 128, COPIED = 256 };

/* The arguments of the call, for tables, and their bytes in the world. */
enum form { ARRAY, STRUCTURE, OBJECT, NUMBER };
static struct argument {
  const char *name;
  enum form form;
  unsigned flags, element, chosen;
  int32_t bad; /* the status of a number that is out of range; OK: no number is */
  char type;
  size_t at, size;
} arguments[96];
static int num_arguments, num_slots;

/* The argument that SHARED or WITHIN arguments overlap; -1 is the array before them. */
static int shared_with = -1;

/* Bytes of the sample that each kind's block is a copy of, 0: none; calls change the block until the input ends. */
static size_t loaded[KINDS + 1];

/* Kinds of wrong pointers, and of contents. */
enum { GOOD, NIL, CROOKED, HALF_CROOKED, SHARED, IN_BLOCK, NOT_A_NUMBER, INFINITE, HUGE_ONES, NEGATIVE, ZEROS, RANDOM };

static size_t place_of(const void *p) { return (size_t)((const unsigned char *)p - (const unsigned char *)here); }

static struct argument *next_argument(const char *name, enum form form, unsigned flags) {
  ALWAYS(num_arguments < 96);
  struct argument *a = &arguments[num_arguments++];
  *a = (struct argument){.name = name, .form = form, .flags = flags, .chosen = byte()};
  return a;
}

/* The end of the next slot. */
static unsigned char *next_slot(size_t size) {
  if (size > SMALL) {
    ALWAYS(size <= LARGE);
    return here->large + LARGE;
  }
  ALWAYS(num_slots < SLOTS);
  return here->slots[num_slots++] + SMALL;
}

/* Writes elements: first_value + step * i, or the values of the choice. */
static void fill(unsigned char *p, size_t len, char type, double first_value, double step, unsigned choice) {
  for (size_t i = 0; i < len; i++) {
    if (len > SMALL && i == 64) { /* a whole screen */
      memset(p + 64, (int)choice * 37, len - 128);
      i = len - 64;
    }
    const unsigned mixed = choice < RANDOM ? (unsigned)i : (choice * 2654435761u + (unsigned)i * 40503u) >> 13 & 7;
    double x = first_value + step * mixed;
    if (choice == NOT_A_NUMBER && i == 0) x = NAN;
    if (choice == INFINITE && i == len - 1) x = INFINITY;
    if (choice == HUGE_ONES) x = type == 'f' ? 3e38 : type == 'd' ? 1e308 : 2147483647;
    if (choice == NEGATIVE) x = type == 'f' ? -3e38 : type == 'd' ? -1e308 : -1;
    if (choice == ZEROS) x = 0;
    const int64_t whole = type == 'f' || type == 'd' || !isfinite(x) ? 0 : (int64_t)x;
    switch (type) {
      case 'f': memcpy(p + 4 * i, &(float){(float)x}, 4); break;
      case 'd': memcpy(p + 8 * i, &x, 8); break;
      case 'w': memcpy(p + 4 * i, &whole, 4); break;
      case 'q': memcpy(p + 8 * i, &whole, 8); break;
      default: p[i] = (unsigned char)whole;
    }
  }
}

static void *array(const char *name, char type, size_t len, unsigned flags, double first_value, double step) {
  struct argument *a = next_argument(name, ARRAY, flags);
  a->type = type, a->element = type == 'f' || type == 'w' ? 4 : type == 'd' || type == 'q' ? 8 : 1;
  a->size = huge ? 0 : len * a->element;
  if (huge) len = 0;
  const struct argument *before = NULL, *block = NULL, *other = shared_with < 0 ? NULL : &arguments[shared_with];
  for (const struct argument *b = arguments; b < a; b++) {
    if (b->form == ARRAY && b->size > 0 && b->chosen != NIL) before = b;
    if (b->form == OBJECT && b->size > 0) block = b;
  }
  unsigned char *end = next_slot(a->size + 2 * sizeof(double)), *p = end - a->size;
  switch (a->chosen) {
    case NIL: a->size = 0; return NULL;
    case CROOKED: p -= a->element - 1; break;
    case HALF_CROOKED: p -= a->element / 2; break;
    case SHARED:
      /* At the end of the shared argument, or else of the array before it. */
      if (other != NULL) p = (unsigned char *)here + other->at + other->size - a->size;
      if (other != NULL) p -= (size_t)p % a->element;
      else if (before != NULL && a->size <= before->size) p = (unsigned char *)here + before->at + before->size - a->size;
      break;
    case IN_BLOCK:
      if (block != NULL && a->size + 64 <= block->size) p = (unsigned char *)here + block->at + 64;
      break;
    default: break;
  }
  a->at = place_of(p);
  if (p + a->size + a->element > end && p <= end && !(flags & SCRATCH)) fill(p, len, type, first_value, step, a->chosen);
  return p;
}

/* Names the last argument like the variable in the source text of the call. */
#define AS(variable) arguments[num_arguments - 1].name = #variable

#define TYPE_OF(T) _Generic((T){0}, float: 'f', double: 'd', uint32_t: 'w', int32_t: 'w', uint64_t: 'q', int64_t: 'q', default: 'b')

/* An array to read, of first_value, first_value + step and so on. */
#define IN(T, name, len, first_value, step, flags) \
  const T *name = array(#name, TYPE_OF(T), len, flags, first_value, step)
/* An array to write. */
#define TO(T, name, len, flags) T *name = array(#name, TYPE_OF(T), len, (flags) | OUT | ANY, 0, 0)
/* Memory for a pointer or a size. */
#define HANDLE(T, name, flags) \
  T *name = array(#name, sizeof(T) == 8 ? 'q' : 'w', 1, (flags) | OUT | ANY | (sizeof(T) == 8 ? POINTERS : 0), 0, 0)

/* A structure, with struct_size first unless it is FIXED. */
enum { NO_SIZE = 4, LONG_SIZE, SHORT_SIZE, ZERO_TAIL, OTHER_TAIL, ODD_SIZE, WITHIN };

static void *structure(const char *name, const void *value, size_t size, size_t align, unsigned flags) {
  struct argument *a = next_argument(name, STRUCTURE, flags);
  if (flags & FIXED && a->chosen > HALF_CROOKED) a->chosen = GOOD;
  size_t given = size, room = size;
  switch (a->chosen) {
    case NO_SIZE: given = 0; break;
    case LONG_SIZE: given = 1 << 20; break;
    case SHORT_SIZE: given = room = size - align; break;
    case ZERO_TAIL: case OTHER_TAIL: given = room = size + align; break;
    case ODD_SIZE: given = size + 1, room = size + 8; break;
    default: break;
  }
  unsigned char *p = next_slot(room) - room;
  if (a->chosen == NIL) return NULL;
  const struct argument *other = &arguments[shared_with < 0 ? 0 : shared_with];
  if (a->chosen == WITHIN && shared_with >= 0) p = (unsigned char *)here + (other->at + other->size - room) / 8 * 8;
  if (a->chosen == CROOKED) p -= 1;
  if (a->chosen == HALF_CROOKED) p -= 4 - 2 * (align == 4);
  a->at = place_of(p), a->size = room, a->element = (unsigned)align;
  memset(p, a->chosen == OTHER_TAIL, room);
  memcpy(p, value, size < room ? size : room);
  const uint32_t words = (uint32_t)given;
  if (!(flags & FIXED)) memcpy(p, &words, 4);
  return p;
}

#define STRUCT(T, name, value, flags) T *name = structure(#name, &(value), sizeof(T), _Alignof(T), flags)

/* An object: the block of that kind, in that phase if the input has not used a block of the kind before. */
enum { OTHER_KIND = 4, NO_OBJECT, OTHER_ORDER, ANEW };

static void *object(const char *name, enum sample sample, unsigned flags) {
  struct argument *a = next_argument(name, OBJECT, flags | BLOCK);
  enum kind kind = samples[sample].kind;
  if (flags & IN_PLACE) kind = KINDS; /* a second one */
  unsigned char *p = here->blocks[kind];
  if (here == &first && (loaded[kind] < samples[sample].size || a->chosen >= ANEW)) {
    loaded[kind] = samples[sample].size;
    ALLOW(p, BLOCK_SIZE + GUARD);
    memcpy(p, samples[sample].bytes, loaded[kind]);
    FORBID(p + loaded[kind], BLOCK_SIZE + GUARD - loaded[kind]);
  }
  a->at = place_of(p), a->size = loaded[kind], a->element = 8, a->bad = (int32_t)samples[sample].kind;
  if (flags & FIXED && a->chosen > HALF_CROOKED) return p; /* memory that is written to */
  switch (a->chosen) {
    case NIL: return NULL;
    case CROOKED: return p + 1;
    case HALF_CROOKED: return p + 4;
    case OTHER_KIND: return kind == QUEUE ? samples[MONITOR_USED].bytes : samples[QUEUE_USED].bytes;
    case NO_OBJECT: {
      static _Alignas(64) unsigned char zeros[BLOCK_SIZE];
      return zeros;
    }
    case OTHER_ORDER: {
      static _Alignas(64) unsigned char turned[BLOCK_SIZE];
      memcpy(turned, samples[sample].bytes, BLOCK_SIZE);
      turn(turned);
      return turned;
    }
    default: return p;
  }
}

#define ON(T, name, sample) rlcore_##T *name = object(#name, sample, OUT)
#define CONST_ON(T, name, sample) const rlcore_##T *name = object(#name, sample, 0)

/* Any error status. */
enum { REFUSED = 1 };

/* Numbers. `bad` is the status of a number out of range: OK if no number is, or if arrays would be too short for it. */
enum { NONE = 1, ABOVE, FAR_ABOVE };

static uint64_t number_of(const char *name, uint64_t good, uint64_t max, uint64_t far_above, int32_t bad) {
  struct argument *a = next_argument(name, NUMBER, 0);
  a->bad = bad;
  if (a->chosen == GOOD) return good;
  if (a->chosen == NONE) return 0;
  if (bad != RLCORE_OK && a->chosen == ABOVE) return far_above == SIZE_MAX ? far_above : max + 1;
  if (bad != RLCORE_OK && a->chosen == FAR_ABOVE) return far_above;
  return a->chosen % (max + 1);
}

/* From 0 to max. */
#define U32(name, good, max, bad) const uint32_t name = (uint32_t)number_of(#name, good, max, UINT32_MAX, bad)
/* Bytes or elements of an array: more than the address space holds are out of range. */
#define SIZE(name, good, max, bad) const size_t name = (size_t)number_of(#name, good, max, SIZE_MAX, bad)
/* Up to max; 0 is out of range, and arrays would be too short for more. */
#define COUNT(name, good, max, bad) const uint32_t name = count_of(#name, good, max, bad)

static uint32_t count_of(const char *name, uint32_t good, uint32_t max, int32_t bad) {
  struct argument *a = next_argument(name, NUMBER, OPTIONAL);
  a->bad = bad;
  if (huge) return UINT32_MAX;
  return a->chosen == GOOD ? good : a->chosen == NONE ? 0 : a->chosen % (max + 1);
}

static double real(const char *name, double good, double out_of_range, int32_t bad) {
  struct argument *a = next_argument(name, NUMBER, 0);
  a->bad = bad, a->type = 'f';
  static const double OTHERS[] = {0, NAN, 0, 1, -1, 0.5, INFINITY, -INFINITY, 3e38, 1e-40};
  const unsigned chosen = a->chosen;
  return chosen == GOOD ? good : chosen == FAR_ABOVE ? out_of_range : chosen < 11 ? OTHERS[chosen - 1] : (chosen - 128.0) / 64;
}

/* A number with a good value and one that is out of range. */
#define F32(name, good, out_of_range, bad) const float name = (float)real(#name, good, out_of_range, bad)
#define F64(name, good, out_of_range, bad) const double name = real(#name, good, out_of_range, bad)

/* One of several wrong values of a structure's fields, or 0 for none: the caller switches on it. */
static unsigned field(const char *name, unsigned num, int32_t bad) {
  struct argument *a = next_argument(name, NUMBER, 0);
  a->bad = bad, a->element = num;
  return a->chosen = a->chosen <= num ? a->chosen : 0;
}

/* An invalid value of a structure's field, and the status for it. Pointers: NULL, or moved by `value` bytes. */
struct flaw {
  const char *name;
  size_t at;
  char type;
  double value;
  int32_t status;
};
#define REFUSED_AS(status, T, field, value) \
  {#field, offsetof(T, field), _Generic(((T *)0)->field, float: 'f', double: 'd', uint64_t: 'q', uint32_t: 'w', char: 'b', default: 'p'), \
   value, status}
#define FLAW(T, field, value) REFUSED_AS(RLCORE_E_CONFIG, T, field, value)

/* Gives one field of the structure an invalid value, or none. */
static void spoil(const char *name, void *of, const struct flaw *flaws, unsigned num) {
  const unsigned chosen = field(name, num, RLCORE_E_CONFIG);
  if (chosen == 0) return;
  const struct flaw *flaw = &flaws[chosen - 1];
  arguments[num_arguments - 1].name = flaw->name, arguments[num_arguments - 1].bad = flaw->status;
  char *p = (char *)of + flaw->at;
  const uint64_t whole = isfinite(flaw->value) && flaw->value >= 0 ? (uint64_t)flaw->value : 0;
  size_t address = 0;
  memcpy(&address, p, flaw->type == 'p' ? sizeof address : 0);
  address = whole == 0 ? 0 : address + whole;
  switch (flaw->type) {
    case 'f': memcpy(p, &(float){(float)flaw->value}, 4); break;
    case 'd': memcpy(p, &flaw->value, 8); break;
    case 'p': memcpy(p, &address, sizeof address); break;
    default: memcpy(p, &whole, flaw->type == 'b' ? 1 : flaw->type == 'w' ? 4 : 8);
  }
}
#define SPOIL(of, flaws) spoil(#flaws, &(of), flaws, sizeof flaws / sizeof *flaws)

/* Copies the memory of all arguments that are not NULL and have one of the flags `with`, 0: all. */
static void copy_arguments(struct world *to, const struct world *from, unsigned with) {
  for (const struct argument *a = arguments; a < arguments + num_arguments; a++)
    if (a->size > 0 && (with == 0 || a->flags & with))
      memcpy((unsigned char *)to + a->at, (const unsigned char *)from + a->at, a->size);
}

/* Called when all arguments are made. */
static void (*before_call)(void);

/* Called when all arguments are made: keeps the first world, or makes the second equal to it before its call. */
static void ready(void) {
  if (before_call != NULL) {
    before_call();
    return;
  }
  if (here == &first) copy_arguments(&kept, &first, 0);
  else copy_arguments(&second, &kept, OUT | BLOCK);
}

static int32_t documented; /* a status with which the call may write, as its header comment says */

/* The function being called, and the report of a violation by one of its arguments. */
static const char *called;

static void wrote(const struct argument *a, const char *what) {
  fprintf(stderr, "%s: argument %s (chosen %u): ", called, a->name, a->chosen);
  finding(what);
}

static void begin(struct world *world, size_t at) {
  here = world, cursor = at, num_arguments = num_slots = 0;
}

/* Checks the first world after the call against `kept`. */
static void check_first(int32_t status) {
  int shared = 0;
  for (const struct argument *a = arguments; a < arguments + num_arguments; a++)
    shared |= a->form == ARRAY && (a->chosen == SHARED || a->chosen == IN_BLOCK);
  for (const struct argument *a = arguments; a < arguments + num_arguments; a++) {
    if (a->size == 0 || a->flags & SCRATCH) continue;
    if (memcmp((char *)&first + a->at, (char *)&kept + a->at, a->size) == 0) continue;
    if (status != RLCORE_OK && status != documented) wrote(a, "an error has changed something");
    if (!(a->flags & OUT) && !shared) wrote(a, "an input has changed");
  }
  for (const struct argument *a = arguments; a < arguments + num_arguments; a++)
    if (status == RLCORE_OK && a->form == OBJECT && a->flags & OUT && !(a->flags & FIXED) && a->size > 0)
      if (attach((enum kind)a->bad, (char *)&first + a->at, a->size) != RLCORE_OK) wrote(a, "the block is none any more");
}

/* Checks that both worlds are equal after both calls; pointers have to lead to the same places. */
static void check_second(void) {
  const size_t apart = (size_t)&first - (size_t)&second;
  for (const struct argument *a = arguments; a < arguments + num_arguments; a++) {
    const unsigned char *x = (unsigned char *)&first + a->at, *y = (unsigned char *)&second + a->at;
    if (a->size == 0 || !(a->flags & OUT) || a->flags & SCRATCH || memcmp(x, y, a->size) == 0) continue;
    if (!(a->flags & POINTERS)) wrote(a, "a copy does something else");
    for (size_t i = 0; i + 8 <= a->size; i += 8) {
      size_t p, q;
      memcpy(&p, x + i, 8), memcpy(&q, y + i, 8);
      if (p != q && p - q != apart) wrote(a, "a pointer that leads elsewhere");
    }
  }
}

/* A function of the library and its caller. */
struct op {
  const char *name;
  int32_t (*run)(void);
};

/* Makes the call that the input describes, and checks everything that has to hold of it. */
static int32_t make_call(const struct op *op) {
  const size_t at = cursor;
  documented = RLCORE_OK;
  called = op->name;
  begin(&first, at);
  const int32_t status = op->run();
  check_first(status);
  if (status == RLCORE_OK) {
    begin(&second, at);
    if (op->run() != status) wrote(&arguments[0], "a copy answers otherwise");
    check_second();
  }
  return status;
}

/* Runs before the first call of each input. */
static void prepare(void) {
  static int made;
  if (!made) {
    made = 1;
    make_samples();
    struct world *worlds[2] = {&first, &second};
    for (int w = 0; w < 2; w++) {
      FORBID(worlds[w]->large + LARGE, GUARD);
      for (int i = 0; i < SLOTS; i++) FORBID(worlds[w]->slots[i] + SMALL, GUARD);
    }
  }
  for (int kind = 0; kind <= KINDS; kind++) {
    loaded[kind] = 0;
    ALLOW(first.blocks[kind], BLOCK_SIZE + GUARD);
  }
}

/* The source text of the call. */
static const char *written_as;

#define CALL(call) (ready(), written_as = #call, (call))
#define CALL_WRITING_ON(status, call) (ready(), documented = (status), written_as = #call, (call))

#endif
