/* Shared by the stages. No stage does floating-point arithmetic of its own: the tests compare the library, not the C compiler. */
#ifndef STAGES_H
#define STAGES_H

#include "bits.h"

#define LEN(array) (sizeof(array) / sizeof *(array))
#define TRY(call) do { rlcore_status status_ = (call); if (status_ != RLCORE_OK) return status_; } while (0)
#define CHECK(condition) do { if (!(condition)) return RLCORE_E_VALUE; } while (0)

/* Hashes of a stage: of all its values, and of the blocks that it made, whose bytes depend on the byte order. */
typedef struct {
  uint64_t values, blocks;
  int has_blocks;
} hashes;

/* Mixes `count` numbers of `width` bytes each into the values, lowest byte first on every processor. */
void mix_numbers(hashes *h, const void *numbers, size_t count, size_t width);
/* Mixes the bytes of a block. */
void mix_block(hashes *h, const void *block, size_t size);

/* Mixes an array of numbers, its first `count` numbers, or a single number. */
#define MIX(h, array) MIX_SOME(h, array, LEN(array))
#define MIX_SOME(h, array, count) \
  do { \
    _Static_assert(sizeof *(array) <= 8, "numbers, not structures"); \
    mix_numbers(h, array, count, sizeof *(array)); \
  } while (0)
#define MIX_ONE(h, number) MIX_SOME(h, &(number), 1)

/* Mixes a number as 64 bits, so that a size_t gives the same hash everywhere. */
void mix_u64(hashes *h, uint64_t number);
void mix_rng(hashes *h, const rlcore_rng *rng);
void mix_index(hashes *h, const rlcore_frame_index *index, size_t count);
void mix_samples(hashes *h, const rlcore_sample *samples, size_t count);

/* Floats from [low, high), or bytes from [0, high). */
rlcore_status draw(rlcore_rng *rng, double low, double high, float *out, size_t len);
rlcore_status draw_bytes(rlcore_rng *rng, int64_t high, uint8_t *out, size_t len);

typedef struct {
  const char *name;
  rlcore_status (*run)(hashes *h);
} stage;

#define HASH_START 0xcbf29ce484222325u

/* The stages of each file; each list ends with a NULL name. */
extern const stage KERNEL_STAGES[], ENV_STAGES[], DATA_STAGES[], LEARN_STAGES[], OVERFLOW_STAGES[];

/* Runs a stage and prints its lines. Returns 1 if it failed, else 0. */
int run_stage(const stage *s, bits_print print);

/* Prints a hash with its names, or a status with the last error. */
void print_line(bits_print print, rlcore_status status, uint64_t hash, const char *name, const char *more);

#endif
