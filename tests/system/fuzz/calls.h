/* Every exported function and its arguments: the good ones, and the range of the others. generate.rs writes the calls, of
   include/rlcore_bindings.h and calls.rules; here are the macros that make their arguments. */
#ifndef RLCORE_FUZZ_CALLS_H
#define RLCORE_FUZZ_CALLS_H

#include <float.h>

#include "draws.h"

/* Defines the caller of rlcore_<noun>_<verb> and enters it in the list between __start_ops and __stop_ops. */
#define OP(noun) \
  static int32_t op_##noun(void); \
  __attribute__((used, section("ops"))) static const struct op *const entry_##noun = &(const struct op){"rlcore_" #noun, op_##noun}; \
  static int32_t op_##noun(void)

/* ---- Arguments ---- */

#define LAST arguments[num_arguments - 1]

/* An array of numbers, to read or to write. */
#define ARRAY(T, name, len, use, first_value, step) T *name = array(#name, TYPE_OF(T), len, use, first_value, step)
/* An array of structures with the given value, in which i is the index. */
#define RECORDS(T, name, len, use, first_value, step, ...) \
  T *name = array(#name, _Alignof(T) == 8 ? 'q' : 'w', (len) * sizeof(T) / _Alignof(T), use, first_value, step); \
  for (uint32_t i = 0; name != NULL && !(LAST.flags & ANY) && LAST.chosen < SHARED && i < LAST.size / sizeof(T); i++) \
    memcpy((char *)(size_t)name + i * sizeof(T), &(T)__VA_ARGS__, sizeof(T))

/* The last array may have this content: its number is not read, or has another status. */
#define NOT_READ(content) LAST.flags |= LAST.chosen == content ? ANY : 0

/* Wrong numbers of the last array are no greater: another array is as long as they say. */
#define NO_MORE(name, most) \
  for (uint32_t i = 0; LAST.size > 0 && LAST.chosen >= SHARED && i < LAST.size / sizeof *name; i++) \
    memcpy((char *)(size_t)name + i * sizeof *name, &(uint32_t){LAST.chosen % ((most) + 1)}, sizeof *name)

/* The bits of a length: arrays are shorter than a length that is out of range. */
#define MASK(most) mask_of(most)
static size_t mask_of(size_t most) {
  size_t mask = 1;
  while (mask <= most) mask = 2 * mask + 1;
  return mask;
}

/* Arrays of columns, and the table of their addresses: pictures of 4 bytes and choices, two floats and choices, two floats. */
#define TABLE(name, len, use, ...) \
  void *const name##_each[len] = {__VA_ARGS__}; \
  void *const *name = structure(#name, name##_each, sizeof name##_each, _Alignof(void *), FIXED | ((use) & OPTIONAL))
#define STACKED_COLUMNS(name, rows, use) \
  ARRAY(uint8_t, name##_frames, (rows) * 4, use, 1, 1); \
  ARRAY(int32_t, name##_actions, rows, use, 1, 0); \
  TABLE(name, 2, use, name##_frames, name##_actions)
#define PLAIN_COLUMNS(name, rows, use) \
  ARRAY(float, name##_obs, (rows) * 2, (use) | ANY, 1, 1); \
  ARRAY(int32_t, name##_actions, rows, use, 1, 0); \
  TABLE(name, 2, use, name##_obs, name##_actions)
#define LAST_COLUMN(name, rows, use) \
  ARRAY(float, name##_obs, (rows) * 2, ANY, 1, 1); \
  TABLE(name, 2, use, name##_obs, NULL)

/* The one field of an observation. */
#define PARTS_IN(name, use) \
  ARRAY(float, name##_part, num_rows * OBS, ANY | OPTIONAL, 1, 1); \
  TABLE(name, 8, 0, name##_part)
#define PARTS_OUT(name, use) \
  TO(float, name##_part, num_rows * OBS, OPTIONAL); \
  TABLE(name, 8, 0, name##_part)
/* Two parts of rows, the second with one more. */
#define PARTS(name, use) \
  ARRAY(float, name##_one, 2 * width, ANY, 1, 1); \
  ARRAY(float, name##_other, 3 * width, ANY, 1, 1); \
  TABLE(name, 2, 0, name##_one, name##_other)

/* A text of three letters, and a table with one. */
#define TEXT_OF(name, use) \
  ARRAY(char, name, 4, use, 'a', 1); \
  if (name != NULL) name[3] = 0
#define ONE_TEXT(name, use) \
  TEXT_OF(name##_one, use); \
  TABLE(name, 1, 0, name##_one)

/* A name that all tensors fit. */
#define NAMES_OF(name, use) \
  ARRAY(char, name, 2, use, '*', 1); \
  if (name != NULL) name[1] = 0

/* A whole file with its header, or one whose end is missing, and its size. */
#define FILE_OF(name, use) \
  U32(cut, 0, 255, RLCORE_E_SIZE); \
  const size_t size = whole_size() - (cut < whole_size() ? cut : whole_size()); \
  ARRAY(uint8_t, name, size, use, 0, 0); \
  if (name != NULL && LAST.chosen < SHARED) memcpy(name, whole_file, size)

/* A whole row of environments, or one whose end is missing, and its size. */
#define ROW_OF(name, use) \
  U32(cut, 0, 255, RLCORE_E_SIZE); \
  const size_t row_size = whole_row_size - (cut < whole_row_size ? cut : whole_row_size); \
  ARRAY(uint64_t, name, row_size / sizeof(uint64_t), use, 0, 0); \
  /* By its number: a pointer to words promises their alignment. */ \
  if (name != NULL && LAST.chosen < SHARED) memcpy((void *)(size_t)name, whole_row, LAST.size)

/* Memory for a picture of pictures, and for the text of a picture. */
#define TILES_OF(name, use) \
  uint32_t rows = 0, columns = 0; \
  if (num_images > 0) FINE(rlcore_image_tile_shape(num_images, &rows, &columns)); \
  TO(uint8_t, name, rows * columns * height * width * channels, use)
#define TEXT_OF_PICTURE(name, use) \
  size_t picture_size = 0; \
  if (rlcore_image_text_size(&size_value, &picture_size) != RLCORE_OK) picture_size = 0; \
  TO(uint8_t, name, picture_size, use)

/* A seeded stream. */
#define RNG(name, use) \
  rlcore_rng *name = array(#name, 'q', 5, use, 3, 2); \
  if (name != NULL && LAST.size > 0 && (LAST.chosen < SHARED || shared_with >= 0)) memcpy((char *)(size_t)name, seeded(), sizeof(rlcore_rng))
static const rlcore_rng *seeded(void) {
  static rlcore_rng rng;
  FINE(rlcore_rng_seed(&rng, 1));
  return &rng;
}

/* A structure to fill with defaults, and the size that the caller knows. */
#define DEFAULTS(T, name) \
  const T none = {0}; \
  STRUCT(T, name, none, OUT | FIXED); \
  SIZE(name##_size, sizeof none, sizeof none, RLCORE_E_SIZE)

/* A structure of arrays. */
#define STRUCT_OF(T, name, flags, ...) \
  U32(name##_reserved, 0, 0, RLCORE_E_CONFIG); \
  const T name##_value = {.struct_size = sizeof name##_value, .reserved = name##_reserved, __VA_ARGS__}; \
  STRUCT(T, name, name##_value, flags)
#define ROWS_OF(...) STRUCT_OF(rlcore_rows, rows, 0, __VA_ARGS__)

/* How to choose actions, at times wrongly. */
#define SAMPLING_OF(name, use) \
  rlcore_sampling how = {RLCORE_SAMPLING_BASIC, 0, 0, 0}; \
  switch (field("sampling fields", 8, REFUSED)) { \
    case 1: how.method = 5; break; \
    case 2: how.method = UINT32_MAX; break; \
    case 3: how.method = RLCORE_SAMPLING_TOPK; break; \
    case 4: how.method = RLCORE_SAMPLING_BOTTOMK; break; \
    case 5: how.method = RLCORE_SAMPLING_TEMPERATURE; break; \
    case 6: how.method = RLCORE_SAMPLING_TEMPERATURE, how.temperature = NAN; break; \
    case 7: how.method = RLCORE_SAMPLING_TEMPERATURE, how.temperature = -1; break; \
    case 8: how.reserved = 1; break; \
    default: break; \
  } \
  STRUCT(rlcore_sampling, name, how, FIXED | (use))

/* ---- Blocks ---- */

/* The size of a block's memory: more than there is, too little for the block or for any header, or any size up to the block's
   own. */
static size_t memory_size(size_t whole) {
  static const int32_t statuses[] = {RLCORE_E_OVERFLOW, RLCORE_E_SIZE, RLCORE_E_SIZE, RLCORE_E_SIZE};
  struct argument *a = next_argument("mem_size", NUMBER, 0);
  const size_t sizes[] = {SIZE_MAX, whole - 1, 39, 0};
  a->element = 4, a->bad = RLCORE_E_OVERFLOW;
  if (a->chosen == GOOD) return whole;
  if (a->chosen > 4) return a->chosen % (whole + 1);
  a->bad = statuses[a->chosen - 1];
  return sizes[a->chosen - 1];
}

/* Memory for a new block, in the place of the block of its kind. */
#define MEMORY_FOR(sample) \
  void *mem = object("mem", sample, OUT | FIXED); \
  const size_t mem_size = memory_size(samples[sample].size)
/* Memory that has to hold an image. */
#define IMAGE_OF(sample) \
  void *mem = object("mem", sample, OUT); \
  const size_t mem_size = memory_size(samples[sample].size)
/* Memory for an environment: the size of a slot, less the bytes that a misaligned pointer needs before it. */
enum { ENV_WORDS = SMALL / 8 - 1 };
#define ENV_MEMORY(words) \
  uint64_t *mem = array("mem", 'q', words, OUT | ANY | SCRATCH, 0, 0); \
  SIZE(mem_size, 8 * (words), 8 * (words), RLCORE_E_OVERFLOW)

/* ---- Structures that calls.rules cannot spoil, or not alone ---- */

/* Columns for a new block; a copy of `of` with errors. */
static const struct flaw column_flaws[] = {
    FLAW(rlcore_column, kind, 3), FLAW(rlcore_column, kind, UINT32_MAX), FLAW(rlcore_column, len, 0),
    FLAW(rlcore_column, num_stack, 17), FLAW(rlcore_column, name[0], 0), FLAW(rlcore_column, name[0], 200),
    {"equal names", 0, 'q', 0x6e6f69746361, RLCORE_E_CONFIG}};
static rlcore_column *columns_of(const rlcore_column *of) {
  struct both { rlcore_column at[2]; } both;
  memcpy(&both, of, sizeof both);
  SPOIL(both, column_flaws);
  STRUCT(struct both, columns, both, FIXED);
  return (rlcore_column *)columns;
}

static const rlcore_rollout_file rollout_file = {sizeof rollout_file, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, M, 0, 0, 1, 2, 3, 4, 0, 0};
static uint8_t whole_file[SMALL];

static size_t whole_size(void) {
  static size_t size;
  if (size > 0) return size;
  float zeros[(T + 1) * N * 2] = {0};
  rlcore_rollout_arrays a = {.struct_size = sizeof a, .obs = zeros, .action = zeros, .log_prob = zeros, .value = zeros,
                             .bootstrap_value = zeros, .reward = zeros, .terminated = (uint8_t *)zeros,
                             .truncated = (uint8_t *)zeros, .valid = (uint8_t *)zeros, .state = zeros};
  FINE(rlcore_rollout_file_size(&rollout_file, &size));
  FINE(rlcore_rollout_file_write(&rollout_file, &a, whole_file, size));
  return size;
}

/* Values of a learner's fields, as learner_fields.h lists them; a byte chooses one, so each field has few. */
#define BAD(field, value) FLAW(rlcore_learner_config, field, value)
#define WHOLE(field, low, high) BAD(field, (high) == UINT32_MAX ? (uint32_t)(low) - 1 : (uint32_t)(high) + 1),
/* Numbers outside [low, high], in double, since no float is beyond the largest. */
#define BELOW(low) ((float)((low) <= -(double)FLT_MAX ? (double)-INFINITY : (low) - 1e-9 - 1e-5 * ((low) < 0 ? -(low) : (low))))
#define BEYOND(high) ((float)((high) >= (double)FLT_MAX ? (double)INFINITY : (high) * 1.00001))
#define REAL(field, low, high) BAD(field, NAN), BAD(field, BELOW(low)), BAD(field, BEYOND(high)),
#define FREE_WHOLE(field)
#define FREE_REAL(field) BAD(field, NAN), BAD(field, INFINITY), BAD(field, -INFINITY),

/* ---- Environments ---- */

/* The definition of the caller's own environment. */
static int32_t env_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)state, (void)rng;
  memset(obs, 0, 2 * sizeof(float));
  return 0;
}
static int32_t env_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)action, (void)out;
  return env_reset(user, row, state, rng, obs);
}

static const float bounds[2] = {-1, -1}, others[2] = {1, 1};
static const rlcore_env_def host_def = {.struct_size = sizeof host_def, .env_id = 1000, .state_size = 8,
                                        .action = {.kind = RLCORE_I32, .len = 1, .n = CHOICES},
                                        .obs = {.kind = RLCORE_F32, .len = 2, .low = bounds, .high = others},
                                        .reset = env_reset, .step = env_step, .wrappers = &recorder, .num_wrappers = 1};

/* The environment, compiled in the world: at times another one than the blocks were made for, or none. */
static const struct flaw other_env_flaws[] = {
    FLAW(rlcore_env_def, env_id, RLCORE_ENV_MOUNTAIN_CAR), FLAW(rlcore_env_def, max_episode_steps, 4)};
struct environment { uint64_t words[ENV_WORDS]; };

static const rlcore_env *environment(int wrapped, int kept) {
  static const struct environment none;
  rlcore_env_def def = env_def;
  rlcore_env *made;
  if (wrapped) def.wrappers = &recorder, def.num_wrappers = 1;
  if (kept) SPOIL(def, other_env_flaws);
  const unsigned moved = field("compiled elsewhere", 1, RLCORE_E_IMAGE);
  STRUCT(struct environment, env, none, FIXED);
  if (env != NULL && LAST.chosen == GOOD && !moved) FINE(rlcore_env_init(env, sizeof *env, &def, &made));
  return (const rlcore_env *)env;
}
enum { UNKEPT, KEPT };

/* ---- Callbacks ---- */

static double good_clock(void *user) { return user == NULL ? 12 : NAN; }

static int32_t good_judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  *reward = achieved[0] - goal[0];
  *terminated = user != NULL;
  return 0;
}

/* ---- Calls without a status, and one with a status as an argument ---- */

OP(status_name) { return rlcore_status_name((int32_t)word()) == NULL ? RLCORE_E_NULL : RLCORE_OK; }
OP(status_text) { return rlcore_status_text((int32_t)word()) == NULL ? RLCORE_E_NULL : RLCORE_OK; }
OP(version) { return rlcore_version() == 0; }
OP(abi_version) { return (int32_t)(rlcore_abi_version() - RLCORE_ABI_VERSION); }
OP(image_version) { return (int32_t)(rlcore_image_version() - RLCORE_IMAGE_VERSION); }

OP(last_error_write) {
  U32(status, 5, 17, RLCORE_E_RANGE);
  SIZE(text_size, 40, 64, RLCORE_E_OVERFLOW);
  IN(char, text, text_size & 127, 0, 1, 0);
  return CALL(rlcore_last_error_write(-(int32_t)status, text, text_size));
}

#include "calls_generated.h"

#endif
