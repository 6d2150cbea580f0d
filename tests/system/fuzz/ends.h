/* Numbers from the ends of their ranges, and a world in which a failing call has to leave everything unchanged and every block
   has to attach after every call. */
#ifndef RLCORE_FUZZ_ENDS_H
#define RLCORE_FUZZ_ENDS_H

#include "blocks.h"
#include <float.h>

/* The blocks, the caller's streams and the outputs of calls; a failing call may change only `scratch`. */
enum { ROOM = 2048, OUTS = 10 };
static struct {
  _Alignas(64) unsigned char out[OUTS][ROOM];
  rlcore_rng rng;
  uint64_t next;
  _Alignas(64) unsigned char block[2][BLOCK_SIZE];
} now, before;
static float scratch[ROOM];

#define OUT(i) ((void *)now.out[i])

/* The blocks in use. */
static struct {
  enum kind kind;
  size_t size;
} blocks[2];
static int num_blocks;

/* Copies everything before a call. */
static void remember(void) {
  memcpy(&before, &now, offsetof(__typeof__(now), block));
  for (int i = 0; i < num_blocks; i++) memcpy(before.block[i], now.block[i], blocks[i].size);
}

static int changed(void) {
  int differs = memcmp(&now, &before, offsetof(__typeof__(now), block)) != 0;
  for (int i = 0; i < num_blocks; i++) differs |= memcmp(now.block[i], before.block[i], blocks[i].size) != 0;
  return differs;
}

/* Statuses with which a call may write, as its header comment says. */
enum { NOTHING = 0, ON_VALUE = 1 << -RLCORE_E_VALUE, ON_NOT_READY = 1 << -RLCORE_E_NOT_READY, ON_INEXACT = 1 << -RLCORE_E_INEXACT };

static void complain(const char *call, const char *what) {
  fprintf(stderr, "%s: ", call);
  finding(what);
}

/* Successful calls for each check of the blocks: more than one for runs of hundreds of similar calls. */
static unsigned look_once_in = 1;
static unsigned long num_calls;

static void say_how_many(void) { fprintf(stderr, "%lu valid calls\n", num_calls); }

static int32_t judge(const char *call, int32_t status, unsigned writing_on) {
  static _Alignas(64) unsigned char copy[BLOCK_SIZE];
  KNOWN(status);
  num_calls++;
  if (status != RLCORE_OK && !(writing_on >> -status & 1) && changed()) complain(call, "an error has changed something");
  if (status == RLCORE_OK && num_calls % look_once_in != 0) return status;
  for (int i = 0; i < num_blocks; i++) {
    memcpy(copy, now.block[i], blocks[i].size);
    if (attach(blocks[i].kind, copy, blocks[i].size) != RLCORE_OK) complain(call, "the block is none any more");
  }
  return status;
}

/* Makes a call on the current world, and checks the world afterwards. */
#define TRY_WRITING(on, call) (remember(), judge(#call, (call), on))
#define TRY(call) TRY_WRITING(NOTHING, call)

enum { MOST_CALLS = 24 };

static int more(int calls) { return calls < MOST_CALLS && cursor < input_size; }

/* Ends of the range of f32, and of numbers whose squares or small multiples are in it. */
static const float ENDS[32] = {0,     -0.0f,  1,     -1,     FLT_MAX, -FLT_MAX, 1e38f,   -1e38f,   FLT_MIN,     -FLT_MIN,    1e-45f,
                               -1e-45f, 1e30f, -1e30f, 3e19f, -3e19f,  1.8e19f,  -1.8e19f, 1e-19f,  -1e-19f,     1e-30f,      1e-38f,
                               16777216, 0.5f,  -0.5f, 10,     -10,     100,      -100,     0.99999994f, 1.0000001f, 2};

/* A number: an ordinary one half of the time. */
static float real(void) {
  const unsigned how = byte();
  return how < 128 ? (float)((int)how - 64) / 16 : ENDS[how & 31];
}

/* A field between two ends: its usual value half of the time. */
static float between(float usual, float low, float high) {
  const unsigned how = byte();
  if (how < 128) return usual;
  const float x = how < 144 ? low : how < 160 ? high : ENDS[how & 31];
  return x < low ? low : x > high ? high : x;
}

static double between_doubles(double usual, double low, double high) {
  static const double FAR[] = {0, DBL_MAX, -DBL_MAX, DBL_MIN, 5e-324, 1e300, -1e300, 1};
  const unsigned how = byte();
  if (how < 192) return usual;
  const double x = FAR[how & 7];
  return x < low ? low : x > high ? high : x;
}

static uint32_t whole(void) {
  static const uint32_t LIMITS[] = {0, 1, 2, 3, UINT32_MAX, UINT32_MAX - 1, 1u << 31, INT32_MAX};
  const unsigned how = byte();
  return how < 128 ? how & 7 : LIMITS[how & 7];
}

static uint64_t long_whole(void) {
  const unsigned how = byte();
  return how < 128 ? how : how < 192 ? UINT64_MAX - (how & 7) : (uint64_t)whole() << 31;
}

/* An array of numbers: all equal, alternating, one different from the others, or each drawn by itself. */
static float *reals(float *to, size_t len) {
  const unsigned how = byte();
  const float a = real(), b = how & 64 ? real() : 0;
  for (size_t i = 0; i < len; i++) {
    switch (how & 3) {
      case 0: to[i] = (float)(int)(i % 5) / 4 - 0.5f; break;
      case 1: to[i] = a; break;
      case 2: to[i] = i % 2 ? b : a; break;
      default: to[i] = i == how >> 4 ? a : real();
    }
  }
  return to;
}

static uint8_t *flags(uint8_t *to, size_t len) {
  const unsigned how = byte();
  for (size_t i = 0; i < len; i++) to[i] = (uint8_t)(how < 128 ? how == 1 : how >> i % 8 & 1);
  return to;
}

/* Checks that all numbers of an array lie between two. */
static void within(const float *x, size_t len, float low, float high) {
  for (size_t i = 0; i < len; i++) ALWAYS(x[i] >= low && x[i] <= high);
}

/* Makes a block, and checks that the handle is its address. */
#define BEGIN(i, noun, block_kind, config, to) \
  do { \
    size_t needed; \
    const int32_t made_status = rlcore_##noun##_size(&config, &needed); \
    KNOWN(made_status); \
    if (made_status != RLCORE_OK || needed > BLOCK_SIZE) return; \
    FINE(rlcore_##noun##_init(now.block[i], needed, &config, &to)); \
    blocks[i].kind = block_kind, blocks[i].size = needed, num_blocks = i + 1; \
    FINE(attach(block_kind, now.block[i], needed)); \
  } while (0)

#endif
