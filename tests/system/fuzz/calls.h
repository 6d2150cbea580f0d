/* Every exported function and its arguments: the good ones, and the range of the others. */
#ifndef RLCORE_FUZZ_CALLS_H
#define RLCORE_FUZZ_CALLS_H

#include <float.h>

#include "draws.h"

/* Defines the caller of rlcore_<noun>_<verb> and enters it in the list between __start_ops and __stop_ops. */
#define OP(noun) \
  static int32_t op_##noun(void); \
  __attribute__((used, section("ops"))) static const struct op *const entry_##noun = &(const struct op){"rlcore_" #noun, op_##noun}; \
  static int32_t op_##noun(void)

/* ---- Versions and results ---- */

OP(status_name) { return rlcore_status_name((int32_t)word()) == NULL ? RLCORE_E_NULL : RLCORE_OK; }
OP(status_text) { return rlcore_status_text((int32_t)word()) == NULL ? RLCORE_E_NULL : RLCORE_OK; }
OP(version) { return rlcore_version() == 0; }
OP(abi_version) { return (int32_t)(rlcore_abi_version() - RLCORE_ABI_VERSION); }
OP(image_version) { return (int32_t)(rlcore_image_version() - RLCORE_IMAGE_VERSION); }
OP(last_error) {
  SIZE(text_size, 64, 64, RLCORE_OK);
  TO(char, text, text_size, 0);
  return CALL(rlcore_last_error(text, text_size));
}
OP(last_error_write) {
  U32(status, 5, 17, RLCORE_E_RANGE);
  SIZE(text_size, 40, 64, RLCORE_E_OVERFLOW);
  IN(char, text, text_size & 127, 0, 1, 0);
  return CALL(rlcore_last_error_write(-(int32_t)status, text, text_size));
}
OP(cpu_set_limit) {
  U32(level, RLCORE_CPU_AVX512, RLCORE_CPU_AVX512, RLCORE_E_RANGE);
  return CALL(rlcore_cpu_set_limit(level));
}
OP(hash) {
  SIZE(size, 40, 64, RLCORE_E_OVERFLOW);
  IN(uint8_t, bytes, size & 127, 0, 1, 0);
  TO(uint64_t, out, 1, 0);
  return CALL(rlcore_hash(bytes, size, out));
}

/* ---- Random streams ---- */

/* A seeded stream. */
#define RNG(flags) \
  IN(uint64_t, words, 5, 3, 2, flags); \
  AS(rng); \
  if (words != NULL && (arguments[num_arguments - 1].chosen < SHARED || shared_with >= 0)) { \
    FINE(rlcore_rng_seed(seeded(), 1)); \
    memcpy((void *)(size_t)words, seeded(), sizeof(rlcore_rng)); \
  } \
  rlcore_rng *rng = (rlcore_rng *)(size_t)words

static rlcore_rng *seeded(void) {
  static rlcore_rng rng;
  return &rng;
}

OP(rng_seed) {
  TO(uint64_t, rng, 5, 0);
  U32(seed, 1, 255, RLCORE_OK);
  return CALL(rlcore_rng_seed((rlcore_rng *)rng, seed));
}
OP(rng_stream) {
  TO(uint64_t, rng, 5, 0);
  U32(seed, 1, 255, RLCORE_OK);
  U32(stream, 1, 255, RLCORE_OK);
  return CALL(rlcore_rng_stream((rlcore_rng *)rng, seed, stream));
}
OP(rng_uniform) {
  RNG(OUT);
  F64(low, 0, -INFINITY, RLCORE_E_VALUE);
  F64(high, 1, INFINITY, RLCORE_E_VALUE);
  SIZE(len, 5, 64, RLCORE_E_OVERFLOW);
  TO(double, out, len & 127, 0);
  return CALL(rlcore_rng_uniform(rng, low, high, out, len));
}
OP(rng_log_uniform) {
  RNG(OUT);
  F64(low, 1, -1, RLCORE_E_VALUE);
  F64(high, 2, INFINITY, RLCORE_E_VALUE);
  SIZE(len, 5, 64, RLCORE_E_OVERFLOW);
  TO(double, out, len & 127, 0);
  return CALL(rlcore_rng_log_uniform(rng, low, high, out, len));
}
OP(rng_integers) {
  RNG(OUT);
  U32(low, 1, 5, RLCORE_E_RANGE);
  U32(high, 6, 255, RLCORE_OK);
  SIZE(len, 5, 64, RLCORE_E_OVERFLOW);
  TO(int64_t, out, len & 127, 0);
  return CALL(rlcore_rng_integers(rng, low, high, out, len));
}
OP(rng_normal) {
  RNG(OUT);
  SIZE(len, 5, 64, RLCORE_E_OVERFLOW);
  TO(float, out, len & 127, 0);
  return CALL(rlcore_rng_normal(rng, out, len));
}
OP(rng_permutation) {
  RNG(OUT);
  SIZE(len, 5, 64, RLCORE_E_OVERFLOW);
  TO(uint32_t, out, len & 127, 0);
  return CALL(rlcore_rng_permutation(rng, out, len));
}

/* ---- Configurations ---- */

#define CONFIG_INIT(noun, T, init) \
  OP(noun) { \
    const T none = {0}; \
    STRUCT(T, config, none, OUT | FIXED); \
    SIZE(config_size, sizeof(T), sizeof(T), RLCORE_E_SIZE); \
    return CALL(init(config, config_size)); \
  }
CONFIG_INIT(atari_config_init, rlcore_atari_config, rlcore_atari_config_init)
CONFIG_INIT(batch_config_init, rlcore_batch_config, rlcore_batch_config_init)
CONFIG_INIT(lazy_frames_config_init, rlcore_lazy_frames_config, rlcore_lazy_frames_config_init)
CONFIG_INIT(memory_config_init, rlcore_memory_config, rlcore_memory_config_init)
CONFIG_INIT(monitor_config_init, rlcore_monitor_config, rlcore_monitor_config_init)
OP(learner_config_init) {
  const rlcore_learner_config none = {0};
  STRUCT(rlcore_learner_config, config, none, OUT | FIXED);
  SIZE(config_size, sizeof none, sizeof none, RLCORE_E_SIZE);
  U32(algorithm, RLCORE_ALGORITHM_PPO, RLCORE_ALGORITHM_STREAM_Q, RLCORE_E_RANGE);
  return CALL(rlcore_learner_config_init(config, config_size, algorithm));
}
CONFIG_INIT(queue_config_init, rlcore_queue_config, rlcore_queue_config_init)
CONFIG_INIT(replay_config_init, rlcore_replay_config, rlcore_replay_config_init)
CONFIG_INIT(rollout_buffer_config_init, rlcore_rollout_buffer_config, rlcore_rollout_buffer_config_init)
CONFIG_INIT(trajectory_config_init, rlcore_trajectory_config, rlcore_trajectory_config_init)
CONFIG_INIT(vec_normalize_config_init, rlcore_vec_normalize_config, rlcore_vec_normalize_config_init)
CONFIG_INIT(vecenv_config_init, rlcore_vecenv_config, rlcore_vecenv_config_init)
CONFIG_INIT(vtrace_init, rlcore_vtrace, rlcore_vtrace_init)

/* ---- Size, init, attach: of kinds whose blocks are made from their configuration alone ---- */

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

/* Columns for a new block; a copy of `of` with errors. */
static const struct flaw column_flaws[] = {
    FLAW(rlcore_column, kind, 3), FLAW(rlcore_column, kind, UINT32_MAX), FLAW(rlcore_column, len, 0),
    FLAW(rlcore_column, num_stack, 17), FLAW(rlcore_column, name[0], 0), FLAW(rlcore_column, name[0], 200),
    {"equal names", 0, 'q', 0x6e6f69746361, RLCORE_E_CONFIG}};

static const rlcore_column *columns_of(const rlcore_column *of) {
  struct both { rlcore_column at[2]; } both;
  memcpy(&both, of, sizeof both);
  SPOIL(both, column_flaws);
  STRUCT(struct both, columns, both, FIXED);
  return columns == NULL ? NULL : (const rlcore_column *)columns;
}

#define CONFIGURED(noun, T, value, sample, columns_too) \
  static T *noun##_made_from(void) { \
    T c = value; \
    columns_too; \
    SPOIL(c, noun##_flaws); \
    STRUCT(T, config, c, 0); \
    return config; \
  } \
  OP(noun##_size) { \
    const T *config = noun##_made_from(); \
    HANDLE(size_t, out_size, 0); \
    return CALL(rlcore_##noun##_size(config, out_size)); \
  } \
  OP(noun##_init) { \
    MEMORY_FOR(sample); \
    const T *config = noun##_made_from(); \
    HANDLE(rlcore_##noun *, out, 0); \
    return CALL(rlcore_##noun##_init(mem, mem_size, config, out)); \
  } \
  OP(noun##_attach) { \
    IMAGE_OF(sample); \
    HANDLE(rlcore_##noun *, out, 0); \
    return CALL(rlcore_##noun##_attach(mem, mem_size, out)); \
  }

#define BAD(field, value) FLAW(rlcore_monitor_config, field, value)
static const struct flaw monitor_flaws[] = {
    BAD(num_envs, 0), BAD(num_envs, 5), BAD(capacity, 1), BAD(num_info, 17), BAD(num_info, UINT32_MAX),
    BAD(reserved, 1), BAD(start, NAN), BAD(start, INFINITY)};
CONFIGURED(monitor, rlcore_monitor_config, monitor_config, MONITOR_USED, )

#undef BAD
#define BAD(field, value) FLAW(rlcore_vec_normalize_config, field, value)
static const struct flaw vec_normalize_flaws[] = {
    BAD(num_envs, 0), BAD(obs_len, 0), BAD(normalize_obs, 2), BAD(normalize_reward, UINT32_MAX), BAD(clip_obs, 0),
    BAD(clip_obs, NAN), BAD(clip_obs, INFINITY), BAD(clip_reward, -1), BAD(clip_reward, NAN), BAD(reserved, 1),
    BAD(discount, -0.1), BAD(discount, 1.1), BAD(discount, NAN), BAD(epsilon, 0), BAD(epsilon, INFINITY)};
CONFIGURED(vec_normalize, rlcore_vec_normalize_config, normalizer_config, NORMALIZER_USED, )

#undef BAD
#define BAD(field, value) FLAW(rlcore_lazy_frames_config, field, value)
static const struct flaw lazy_frames_flaws[] = {
    BAD(num_envs, 0), BAD(num_frames, 0), BAD(num_frames, 1), BAD(height, 0), BAD(width, 0), BAD(channels, 0),
    BAD(num_stack, 0), BAD(num_stack, 17), BAD(num_stack, UINT32_MAX)};
CONFIGURED(lazy_frames, rlcore_lazy_frames_config, lazy_config, LAZY_USED, )

#undef BAD
#define BAD(field, value) FLAW(rlcore_memory_config, field, value)
static const struct flaw memory_flaws[] = {
    BAD(history_size, 0), BAD(history_size, 3), BAD(max_sample_size, 0), BAD(max_sample_size, 8),
    BAD(max_sample_size, UINT32_MAX), BAD(priority_sample_size, 4), BAD(priority_sample_size, UINT32_MAX),
    BAD(reward_threshold, NAN), BAD(reward_threshold, INFINITY), BAD(reward_threshold, -1), BAD(use_priority, 2),
    BAD(num_columns, 0), BAD(num_columns, 17), BAD(reserved, 1)};
CONFIGURED(memory, rlcore_memory_config, memory_config, MEMORY_USED, c.columns = columns_of(STACKED))

#undef BAD
#define BAD(field, value) FLAW(rlcore_replay_config, field, value)
static const struct flaw replay_flaws[] = {
    BAD(num_envs, 0), BAD(num_rows, 0), BAD(num_columns, 0), BAD(num_columns, 17), BAD(num_columns, UINT32_MAX),
    BAD(observations, 4), BAD(observations, UINT32_MAX), BAD(num_steps, 0), BAD(num_steps, 9), BAD(num_steps, 256),
    BAD(num_steps, UINT32_MAX), BAD(reserved, 1), BAD(discount, -0.5), BAD(discount, 1.5), BAD(discount, NAN),
    BAD(alpha, -0.5), BAD(alpha, 1.5), BAD(alpha, NAN), BAD(epsilon, -0.5), BAD(epsilon, 0), BAD(epsilon, NAN),
    BAD(epsilon, INFINITY)};
CONFIGURED(replay, rlcore_replay_config, replay_config, REPLAY_USED, c.columns = columns_of(PLAIN))

#undef BAD
#define BAD(field, value) FLAW(rlcore_rollout_buffer_config, field, value)
static const struct flaw rollout_buffer_flaws[] = {
    BAD(num_steps, 0), BAD(num_steps, UINT32_MAX), BAD(num_envs, 0), BAD(num_envs, UINT32_MAX), BAD(log_capacity, 3),
    BAD(num_columns, 0), BAD(num_columns, 17), BAD(num_columns, UINT32_MAX), BAD(accumulate, 2), BAD(reserved, 1)};
CONFIGURED(rollout_buffer, rlcore_rollout_buffer_config, rollout_config, ROLLOUT_FINISHED,
      c.columns = columns_of(PLAIN))

#undef BAD
#define BAD(field, value) FLAW(rlcore_trajectory_config, field, value)
static const struct flaw trajectory_flaws[] = {
    BAD(capacity, 0), BAD(one_hot, 4), BAD(one_hot, UINT32_MAX), BAD(num_columns, 0), BAD(num_columns, 17),
    BAD(accumulate, 2)};
CONFIGURED(trajectory, rlcore_trajectory_config, trajectory_config, TRAJECTORY_USED, c.columns = columns_of(PLAIN))

#undef BAD
#define BAD(field, value) FLAW(rlcore_queue_config, field, value)
static const struct flaw queue_flaws[] = {
    BAD(capacity, 0), BAD(capacity, 1), BAD(capacity, 6), BAD(capacity, 1u << 31), BAD(item_size, 0),
    BAD(reserved, 1)};
CONFIGURED(queue, rlcore_queue_config, queue_config, QUEUE_USED, )

/* ---- Environments ---- */

/* The definition of the caller's own or a built-in environment, at times with one wrong field. */
#undef BAD
#define BAD(field, value) FLAW(rlcore_env_def, field, value)
static const struct flaw env_flaws[] = {
    BAD(obs.kind, 4), BAD(obs.kind, RLCORE_STRUCT), BAD(obs.kind, UINT32_MAX), BAD(obs.len, 0),
    BAD(obs.len, (1 << 24) + 1), BAD(obs.len, UINT32_MAX), BAD(action.kind, UINT32_MAX), BAD(action.len, 0),
    BAD(action.len, UINT32_MAX), BAD(num_fields, 9), BAD(num_wrappers, 17), BAD(num_wrappers, UINT32_MAX),
    BAD(state_size, 4), BAD(state_size, 7), REFUSED_AS(RLCORE_E_OVERFLOW, rlcore_env_def, state_size, UINT32_MAX - 7), BAD(action.kind, RLCORE_U8),
    BAD(action.kind, RLCORE_STRUCT), REFUSED_AS(RLCORE_E_NULL, rlcore_env_def, action.n, 0),
    REFUSED_AS(RLCORE_E_NULL, rlcore_env_def, obs.kind, RLCORE_I32),
    REFUSED_AS(RLCORE_E_ALIGN, rlcore_env_def, obs.low, 1), REFUSED_AS(RLCORE_E_ALIGN, rlcore_env_def, obs.high, 2),
    REFUSED_AS(RLCORE_E_ALIGN, rlcore_env_def, action.n, 1), REFUSED_AS(RLCORE_E_NULL, rlcore_env_def, reset, 0),
    REFUSED_AS(RLCORE_E_NULL, rlcore_env_def, step, 0)};
static const struct flaw builtin_env_flaws[] = {
    BAD(state_size, 8), BAD(obs.kind, 1), BAD(obs.len, 4), BAD(action.len, 1), BAD(action.kind, 1), BAD(env_id, 99), BAD(env_id, 999)};

static int32_t env_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)state, (void)rng;
  memset(obs, 0, 2 * sizeof(float));
  return 0;
}
static int32_t env_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)action, (void)out;
  return env_reset(user, row, state, rng, obs);
}
static rlcore_env_def *definition_of(int own) {
  static const float bounds[2] = {-1, -1}, others[2] = {1, 1};
  const rlcore_env_def host = {.struct_size = sizeof host, .env_id = 1000, .state_size = 8, .action = DONE,
                               .obs = {.kind = RLCORE_F32, .len = 2, .low = bounds, .high = others},
                               .reset = env_reset, .step = env_step, .wrappers = &recorder, .num_wrappers = 1};
  rlcore_env_def def_value = own ? env_def : host;
  if (own) SPOIL(def_value, builtin_env_flaws);
  else SPOIL(def_value, env_flaws);
  STRUCT(rlcore_env_def, definition, def_value, 0);
  return definition;
}
OP(env_size) {
  const rlcore_env_def *definition = definition_of(1);
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_env_size(definition, out_size));
}
/* The size of a slot, less the bytes that a misaligned pointer needs before it. */
enum { ENV_WORDS = SMALL / 8 - 1 };
OP(env_init) {
  TO(uint64_t, mem, ENV_WORDS, SCRATCH);
  SIZE(mem_size, 8 * ENV_WORDS, 8 * ENV_WORDS, RLCORE_E_OVERFLOW);
  const rlcore_env_def *definition = definition_of(0);
  HANDLE(rlcore_env *, out, 0);
  return CALL(rlcore_env_init(mem, mem_size, definition, out));
}
OP(env_builtin) {
  TO(uint64_t, mem, 128, SCRATCH);
  SIZE(mem_size, 1024, 1024, RLCORE_E_OVERFLOW);
  U32(env_id, RLCORE_ENV_CARTPOLE, 110, RLCORE_E_RANGE);
  HANDLE(rlcore_env *, out, 0);
  return CALL(rlcore_env_builtin(mem, mem_size, env_id, out));
}

/* The environment, compiled in the world: at times another one than the blocks were made for, or none. */
static const struct flaw other_env_flaws[] = {BAD(env_id, RLCORE_ENV_MOUNTAIN_CAR), BAD(max_episode_steps, 4)};
struct environment { uint64_t words[ENV_WORDS]; };

static const rlcore_env *environment(int wrapped, int kept) {
  static const struct environment none;
  rlcore_env_def def = env_def;
  rlcore_env *made;
  if (wrapped) def.wrappers = &recorder, def.num_wrappers = 1;
  if (kept) SPOIL(def, other_env_flaws);
  const unsigned moved = field("compiled elsewhere", 1, RLCORE_E_IMAGE);
  STRUCT(struct environment, e, none, FIXED);
  if (e != NULL && arguments[num_arguments - 1].chosen == GOOD && !moved) FINE(rlcore_env_init(e, sizeof *e, &def, &made));
  return (const rlcore_env *)e;
}
enum { UNKEPT, KEPT };
#define ENV const rlcore_env *e = environment(0, KEPT)
#define ENV_MADE_FOR const rlcore_env *e = environment(0, UNKEPT)

/* A structure of arrays. */
#define STRUCT_OF(T, name, flags, ...) \
  U32(name##_reserved, 0, 0, RLCORE_E_CONFIG); \
  const T name##_value = {.struct_size = sizeof name##_value, .reserved = name##_reserved, __VA_ARGS__}; \
  STRUCT(T, name, name##_value, flags)
#define ROWS_OF(...) STRUCT_OF(rlcore_rows, rows, 0, __VA_ARGS__)

/* The outputs and the inputs of a step. */
static rlcore_rows *step_of(uint32_t num, const int32_t *action) {
  TO(float, obs, num * OBS, 0);
  TO(float, reward, num, 0);
  TO(uint8_t, terminated, num, 0);
  TO(uint8_t, truncated, num, 0);
  TO(float, final_obs, num * OBS, 0);
  TO(uint8_t, valid, num, OPTIONAL);
  TO(uint8_t, action_mask, num * 2, OPTIONAL);
  TO(uint8_t, final_action_mask, num * 2, OPTIONAL);
  ROWS_OF(.obs = obs, .action_mask = action_mask, .action = GIVEN(action), .reward = reward, .terminated = terminated,
          .truncated = truncated, .valid = valid, .final_obs = final_obs, .final_action_mask = final_action_mask);
  return rows;
}

#undef BAD
#define BAD(field, value) FLAW(rlcore_atari_config, field, value)
static const struct flaw atari_flaws[] = {
    BAD(fire_reset, 2), BAD(episodic_life, 2), BAD(order, 2), BAD(screen, 3), BAD(screen, UINT32_MAX), BAD(scale, 2),
    BAD(clip_reward, 2), BAD(channels_first, 2), BAD(record, 2), BAD(record, UINT32_MAX)};
OP(wrappers_atari) {
  static const rlcore_atari_config good = {sizeof good, 30, 4, 1, 1, 0, 1, 0, 1, 4, 1, 1};
  rlcore_atari_config value = good;
  SPOIL(value, atari_flaws);
  STRUCT(rlcore_atari_config, config, value, 0);
  COUNT(capacity, 11, 11, RLCORE_E_SIZE);
  TO(uint64_t, out, capacity * sizeof(rlcore_wrapper) / 8, 0);
  HANDLE(uint32_t, out_len, 0);
  return CALL(rlcore_wrappers_atari(config, (rlcore_wrapper *)out, capacity, out_len));
}
OP(env_spaces) {
  ENV_MADE_FOR;
  TO(uint64_t, out_obs, sizeof(rlcore_space) / 8, POINTERS);
  TO(uint64_t, out_action, sizeof(rlcore_space) / 8, POINTERS);
  return CALL(rlcore_env_spaces(e, (rlcore_space *)out_obs, (rlcore_space *)out_action));
}
OP(env_fields) {
  ENV_MADE_FOR;
  COUNT(capacity, 8, 8, RLCORE_OK);
  TO(uint32_t, out, capacity * sizeof(rlcore_field) / 4, 0);
  HANDLE(uint32_t, out_len, 0);
  return CALL(rlcore_env_fields(e, (rlcore_field *)out, capacity, out_len));
}
OP(obs_split) {
  ENV_MADE_FOR;
  COUNT(num_rows, 2, 4, RLCORE_OK);
  IN(float, obs, num_rows * OBS, 1, 1, ANY);
  TO(float, part, num_rows * OBS, OPTIONAL);
  void *value[8] = {part};
  STRUCT(void *, parts, value, FIXED);
  return CALL(rlcore_obs_split(e, num_rows, obs, parts));
}
OP(obs_join) {
  ENV_MADE_FOR;
  COUNT(num_rows, 2, 4, RLCORE_OK);
  IN(float, part, num_rows * OBS, 1, 1, ANY | OPTIONAL);
  const void *value[8] = {part};
  STRUCT(const void *, parts, value, FIXED);
  TO(float, obs, num_rows * OBS, 0);
  return CALL(rlcore_obs_join(e, num_rows, parts, obs));
}
OP(record_initial) {
  const rlcore_env *e = environment(1, UNKEPT);
  TO(uint8_t, record, 64, 0);
  return CALL(rlcore_record_initial(e, record));
}

static const struct flaw vecenv_flaws[] = {
    FLAW(rlcore_vecenv_config, num_envs, 0), FLAW(rlcore_vecenv_config, autoreset, 4),
    FLAW(rlcore_vecenv_config, autoreset, UINT32_MAX)};
static rlcore_vecenv_config *vecenv_made_from(void) {
  rlcore_vecenv_config value = vecenv_config;
  SPOIL(value, vecenv_flaws);
  STRUCT(rlcore_vecenv_config, config, value, 0);
  return config;
}

OP(vecenv_size) {
  ENV_MADE_FOR;
  const rlcore_vecenv_config *config = vecenv_made_from();
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_vecenv_size(e, config, out_size));
}
OP(vecenv_init) {
  MEMORY_FOR(VECENV_NEW);
  ENV_MADE_FOR;
  const rlcore_vecenv_config *config = vecenv_made_from();
  HANDLE(rlcore_vecenv *, out, 0);
  return CALL(rlcore_vecenv_init(mem, mem_size, e, config, out));
}
OP(vecenv_attach) {
  IMAGE_OF(VECENV_RUNNING);
  ENV;
  HANDLE(rlcore_vecenv *, out, 0);
  return CALL(rlcore_vecenv_attach(mem, mem_size, e, out));
}
OP(vecenv_reset) {
  ON(vecenv, v, VECENV_NEW);
  ENV;
  IN(uint64_t, seed, 1, 1, 1, OPTIONAL | COPIED);
  TO(float, obs, N * OBS, 0);
  return CALL(rlcore_vecenv_reset(v, e, seed, obs));
}
OP(vecenv_reset_one) {
  ON(vecenv, v, VECENV_NEW);
  ENV;
  U32(index, 1, N - 1, RLCORE_E_RANGE);
  IN(uint64_t, seed, 1, 1, 1, OPTIONAL | COPIED);
  TO(float, obs, N * OBS, 0);
  return CALL(rlcore_vecenv_reset_one(v, e, index, seed, obs));
}
#define ACTION(rows) IN(int32_t, action, rows, 0, 1, 0)
OP(vecenv_step) {
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  ACTION(N);
  const rlcore_rows *rows = step_of(N, action);
  return CALL(rlcore_vecenv_step(v, e, rows));
}
OP(vecenv_step_range) {
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(begin, 0, N, RLCORE_E_RANGE);
  U32(end, N, N, RLCORE_E_RANGE);
  ACTION(N);
  const rlcore_rows *rows = step_of(N, action);
  return CALL(rlcore_vecenv_step_range(v, e, begin, end, rows));
}
OP(vecenv_step_env) {
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  ACTION(N);
  U32(level, 0, 1, RLCORE_E_RANGE);
  const rlcore_rows *rows = step_of(N, action);
  return CALL(rlcore_vecenv_step_env(v, e, level, rows));
}
OP(vecenv_render) {
  CONST_ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(index, 1, N - 1, RLCORE_E_RANGE);
  COUNT(width, 8, 16, RLCORE_OK);
  COUNT(height, 8, 16, RLCORE_OK);
  TO(uint8_t, rgb, width * height * 3, 0);
  return CALL(rlcore_vecenv_render(v, e, index, width, height, rgb));
}
OP(vecenv_images) {
  CONST_ON(vecenv, v, VECENV_RUNNING);
  ENV;
  COUNT(width, 8, 16, RLCORE_OK);
  COUNT(height, 8, 16, RLCORE_OK);
  TO(uint8_t, rgb, N * width * height * 3, 0);
  return CALL(rlcore_vecenv_images(v, e, width, height, rgb));
}
OP(vecenv_num_envs) {
  CONST_ON(vecenv, v, VECENV_RUNNING);
  HANDLE(uint32_t, out, 0);
  return CALL(rlcore_vecenv_num_envs(v, out));
}
OP(vecenv_lives) {
  CONST_ON(vecenv, v, VECENV_RUNNING);
  ENV;
  TO(uint32_t, lives, N, 0);
  return CALL(rlcore_vecenv_lives(v, e, lives));
}
OP(vecenv_action_mask) {
  CONST_ON(vecenv, v, VECENV_RUNNING);
  ENV;
  TO(uint8_t, mask, N * 2, 0);
  return CALL(rlcore_vecenv_action_mask(v, e, mask));
}

/* ---- Batches ---- */

static const struct flaw batch_flaws[] = {
    FLAW(rlcore_batch_config, in_series, 0), FLAW(rlcore_batch_config, in_series, N + 1),
    FLAW(rlcore_batch_config, in_series, UINT32_MAX)};
static rlcore_batch_config *batch_made_from(void) {
  rlcore_batch_config value = batch_config;
  SPOIL(value, batch_flaws);
  STRUCT(rlcore_batch_config, config, value, 0);
  return config;
}

OP(batch_size) {
  ENV_MADE_FOR;
  const rlcore_vecenv_config *vecenv = vecenv_made_from();
  AS(vecenv);
  const rlcore_batch_config *config = batch_made_from();
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_batch_size(e, vecenv, config, out_size));
}
OP(batch_init) {
  MEMORY_FOR(BATCH_IDLE);
  ENV_MADE_FOR;
  const rlcore_vecenv_config *vecenv = vecenv_made_from();
  AS(vecenv);
  const rlcore_batch_config *config = batch_made_from();
  HANDLE(rlcore_batch *, out, 0);
  return CALL(rlcore_batch_init(mem, mem_size, e, vecenv, config, out));
}
OP(batch_attach) {
  IMAGE_OF(BATCH_DONE);
  HANDLE(rlcore_batch *, out, 0);
  return CALL(rlcore_batch_attach(mem, mem_size, out));
}
OP(batch_step_async) {
  ON(batch, b, BATCH_IDLE);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  ACTION(N);
  ROWS_OF(.action = GIVEN(action));
  return CALL(rlcore_batch_step_async(b, v, e, rows));
}
OP(batch_step_env_async) {
  ON(batch, b, BATCH_IDLE);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  ACTION(N);
  U32(level, 0, 1, RLCORE_E_RANGE);
  ROWS_OF(.action = GIVEN(action));
  return CALL(rlcore_batch_step_env_async(b, v, e, level, rows));
}
OP(batch_run) {
  ON(batch, b, BATCH_PENDING);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(worker, 1, (1 << 30) - 1, RLCORE_E_RANGE);
  U32(max_groups, 2, 2, RLCORE_OK);
  HANDLE(uint32_t, out_num_groups, 0);
  return CALL(rlcore_batch_run(b, v, e, worker, max_groups, out_num_groups));
}
OP(batch_step_wait) {
  ON(batch, b, BATCH_DONE);
  const rlcore_rows *rows = step_of(N, NULL);
  return CALL_WRITING_ON(RLCORE_E_CALLBACK, rlcore_batch_step_wait(b, rows));
}
OP(batch_recv) {
  ON(batch, b, BATCH_DONE);
  U32(num_rows, N, N, REFUSED);
  TO(uint32_t, index, num_rows & 7, 0);
  const rlcore_rows *rows = step_of(num_rows & 7, NULL);
  return CALL_WRITING_ON(RLCORE_E_CALLBACK, rlcore_batch_recv(b, num_rows, index, rows));
}
OP(batch_send) {
  ON(batch, b, BATCH_IDLE);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(num_rows, N, N, RLCORE_E_RANGE);
  IN(uint32_t, index, num_rows & 7, 0, 1, 0);
  ACTION(num_rows & 7);
  ROWS_OF(.action = GIVEN(action));
  return CALL(rlcore_batch_send(b, v, e, num_rows, index, rows));
}
OP(batch_reset) {
  ON(batch, b, BATCH_PENDING);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  IN(uint64_t, seed, 1, 1, 1, OPTIONAL | COPIED);
  TO(float, obs, N * OBS, 0);
  return CALL_WRITING_ON(RLCORE_E_NOT_READY, rlcore_batch_reset(b, v, e, seed, obs));
}
OP(batch_reset_one) {
  ON(batch, b, BATCH_IDLE);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(index, 1, N - 1, RLCORE_E_RANGE);
  IN(uint64_t, seed, 1, 1, 1, OPTIONAL | COPIED);
  TO(float, obs, N * OBS, 0);
  return CALL(rlcore_batch_reset_one(b, v, e, index, seed, obs));
}
OP(batch_abandon) {
  ON(batch, b, BATCH_PENDING);
  ON(vecenv, v, VECENV_RUNNING);
  ENV;
  U32(worker, 1, (1 << 30) - 1, RLCORE_E_RANGE);
  HANDLE(uint32_t, out_num_rows, 0);
  return CALL(rlcore_batch_abandon(b, v, e, worker, out_num_rows));
}
OP(batch_failed) {
  CONST_ON(batch, b, BATCH_DONE);
  TO(uint8_t, failed, N, 0);
  return CALL(rlcore_batch_failed(b, failed));
}
OP(batch_count) {
  CONST_ON(batch, b, BATCH_PENDING);
  const rlcore_batch_counts none = {.struct_size = sizeof none};
  STRUCT(rlcore_batch_counts, out, none, OUT);
  return CALL(rlcore_batch_count(b, out));
}
OP(batch_close) {
  ON(batch, b, BATCH_PENDING);
  return CALL(rlcore_batch_close(b));
}

/* ---- Monitors ---- */

OP(monitor_reset) {
  ON(monitor, m, MONITOR_USED);
  return CALL(rlcore_monitor_reset(m));
}
OP(monitor_reset_one) {
  ON(monitor, m, MONITOR_USED);
  U32(index, 1, N - 1, RLCORE_E_RANGE);
  return CALL(rlcore_monitor_reset_one(m, index));
}
static rlcore_rows *step_in(void) {
  IN(float, reward, N, 1, 1, 0);
  IN(uint8_t, terminated, N, 1, 0, 0);
  IN(uint8_t, truncated, N, 0, 1, 0);
  IN(uint8_t, valid, N, 1, 0, OPTIONAL);
  ROWS_OF(.reward = GIVEN(reward), .terminated = GIVEN(terminated), .truncated = GIVEN(truncated), .valid = GIVEN(valid));
  return rows;
}
OP(monitor_step) {
  ON(monitor, m, MONITOR_USED);
  const rlcore_rows *rows = step_in();
  F64(seconds, 2, INFINITY, RLCORE_E_VALUE);
  IN(double, info, N, 1, 1, 0);
  return CALL(rlcore_monitor_step(m, rows, seconds, info));
}
static double noon(void *user) { return user == NULL ? 12 : NAN; }
OP(monitor_step_clock) {
  ON(monitor, m, MONITOR_USED);
  const rlcore_rows *rows = step_in();
  IN(double, info, N, 1, 1, 0);
  const unsigned wrong = field("no clock", 1, RLCORE_E_NULL);
  return CALL(rlcore_monitor_step_clock(m, rows, wrong ? NULL : noon, NULL, info));
}
OP(monitor_read) {
  ON(monitor, m, MONITOR_USED);
  IN(uint64_t, next, 1, 0, 0, OUT);
  COUNT(len, 2, 4, RLCORE_OK);
  TO(uint64_t, episodes, len * sizeof(rlcore_episode) / 8, 0);
  TO(double, info, len, OPTIONAL);
  HANDLE(uint32_t, out_count, 0);
  HANDLE(uint64_t, out_lost, OPTIONAL);
  return CALL(rlcore_monitor_read(m, (uint64_t *)(size_t)next, (rlcore_episode *)episodes, info, len, out_count, out_lost));
}
OP(monitor_means) {
  ON(monitor, m, MONITOR_USED);
  const rlcore_monitor_stats none = {.struct_size = sizeof none};
  STRUCT(rlcore_monitor_stats, out, none, OUT);
  return CALL(rlcore_monitor_means(m, out));
}

/* Memory for a text. */
#define TEXT \
  SIZE(text_size, 500, 512, RLCORE_E_OVERFLOW); \
  TO(char, text, text_size & 1023, 0); \
  HANDLE(size_t, out_len, 0)

static const char *a_text(const char *name, unsigned flags) {
  IN(uint8_t, letters, 4, 'a', 1, flags);
  arguments[num_arguments - 1].name = name;
  if (letters == NULL) return NULL;
  char *text = (char *)(size_t)letters;
  text[3] = 0;
  return text;
}
OP(monitor_format_header) {
  F64(t_start, 1, INFINITY, RLCORE_E_VALUE);
  const char *env_id = a_text("env_id", OPTIONAL);
  const char *value[1] = {a_text("keyword", 0)};
  STRUCT(const char *, keywords, value, FIXED);
  U32(num_keywords, 1, 1, RLCORE_OK);
  TEXT;
  return CALL(rlcore_monitor_format_header(t_start, env_id, keywords, num_keywords, text, text_size, out_len));
}
OP(monitor_format_row) {
  const rlcore_episode one = {1, 2, 4, 0, 3};
  STRUCT(rlcore_episode, episode, one, FIXED);
  U32(num_info, 2, 16, REFUSED);
  IN(double, info, num_info & 31, 1, 1, 0);
  TEXT;
  return CALL(rlcore_monitor_format_row(episode, info, num_info, text, text_size, out_len));
}

/* ---- Normalizers ---- */

OP(vec_normalize_reset) {
  ON(vec_normalize, v, NORMALIZER_USED);
  IN(float, obs, N * OBS, 1, 1, IN_PLACE);
  TO(float, out_obs, N * OBS, IN_PLACE);
  return CALL(rlcore_vec_normalize_reset(v, obs, out_obs));
}
OP(vec_normalize_reset_one) {
  ON(vec_normalize, v, NORMALIZER_USED);
  U32(index, 0, N - 1, RLCORE_E_RANGE);
  IN(float, obs, N * OBS, 1, 1, IN_PLACE | ANY);
  TO(float, out_obs, N * OBS, IN_PLACE);
  return CALL(rlcore_vec_normalize_reset_one(v, index, obs, out_obs));
}
OP(vec_normalize_step) {
  ON(vec_normalize, v, NORMALIZER_USED);
  IN(float, obs, N * OBS, 1, 1, OUT | IN_PLACE);
  IN(float, reward, N, 1, 1, OUT | IN_PLACE);
  IN(uint8_t, terminated, N, 0, 1, 0);
  IN(uint8_t, truncated, N, 0, 0, 0);
  IN(float, final_obs, N * OBS, 1, 1, OUT | IN_PLACE | OPTIONAL | ANY);
  IN(uint8_t, valid, N, 1, 0, OPTIONAL);
  ROWS_OF(.obs = GIVEN(obs), .reward = GIVEN(reward), .terminated = GIVEN(terminated), .truncated = GIVEN(truncated),
          .valid = GIVEN(valid), .final_obs = GIVEN(final_obs));
  TO(float, to_obs, N * OBS, 0);
  TO(float, to_reward, N, 0);
  TO(float, to_final_obs, N * OBS, 0);
  const rlcore_rows out_value = {.struct_size = sizeof out_value, .obs = to_obs, .reward = to_reward, .final_obs = to_final_obs};
  STRUCT(rlcore_rows, out, out_value, OPTIONAL);
  return CALL(rlcore_vec_normalize_step(v, rows, out));
}
OP(vec_normalize_obs) {
  CONST_ON(vec_normalize, v, NORMALIZER_USED);
  COUNT(num_rows, 3, 4, RLCORE_OK);
  IN(float, obs, num_rows * OBS, 1, 1, IN_PLACE);
  TO(float, out_obs, num_rows * OBS, IN_PLACE);
  return CALL(rlcore_vec_normalize_obs(v, num_rows, obs, out_obs));
}
OP(vec_normalize_freeze) {
  ON(vec_normalize, v, NORMALIZER_USED);
  U32(frozen, 1, 1, RLCORE_E_RANGE);
  return CALL(rlcore_vec_normalize_freeze(v, frozen));
}
OP(vec_normalize_merge) {
  ON(vec_normalize, v, NORMALIZER_USED);
  rlcore_vec_normalize *other = object("other", NORMALIZER_USED, IN_PLACE);
  return CALL(rlcore_vec_normalize_merge(v, other));
}
OP(vec_normalize_statistics) {
  CONST_ON(vec_normalize, v, NORMALIZER_USED);
  TO(double, mean, OBS, OPTIONAL);
  TO(double, var, OBS, OPTIONAL);
  const rlcore_vec_normalize_stats none = {.struct_size = sizeof none};
  STRUCT(rlcore_vec_normalize_stats, out, none, OUT);
  return CALL(rlcore_vec_normalize_statistics(v, mean, var, out));
}

/* ---- Learners and policies ---- */

#undef BAD
#define BAD(field, value) FLAW(rlcore_learner_config, field, value)
/* A byte chooses a flaw: each field has few. */
#define WHOLE(field, low, high) BAD(field, (high) == UINT32_MAX ? (uint32_t)(low) - 1 : (uint32_t)(high) + 1),
/* Numbers outside [low, high], in double, since no float is beyond the largest. */
#define BELOW(low) ((float)((low) <= -(double)FLT_MAX ? (double)-INFINITY : (low) - 1e-9 - 1e-5 * ((low) < 0 ? -(low) : (low))))
#define BEYOND(high) ((float)((high) >= (double)FLT_MAX ? (double)INFINITY : (high) * 1.00001))
#define REAL(field, low, high) BAD(field, NAN), BAD(field, BELOW(low)), BAD(field, BEYOND(high)),
#define FREE_WHOLE(field)
#define FREE_REAL(field) BAD(field, NAN), BAD(field, INFINITY), BAD(field, -INFINITY),
static const struct flaw learner_flaws[] = {
#include "learner_fields.h"
    BAD(algorithm, 10), BAD(algorithm, UINT32_MAX), BAD(activation, 7), BAD(activation, UINT32_MAX), BAD(optimizer, UINT32_MAX),
    BAD(accumulate, 2), BAD(num_minibatches, 3), BAD(hidden_len[0], 0), BAD(num_shared, 2), BAD(num_stacked, 1),
    BAD(num_stacked, 17), BAD(num_stacked, UINT32_MAX), BAD(policy_layer, 1), BAD(policy_layer, UINT32_MAX),
    BAD(sequence_len, 1), BAD(sequence_len, UINT32_MAX), BAD(burn_in, UINT32_MAX),
    BAD(obs_dims[0], 1), BAD(obs_dims[2], UINT32_MAX), BAD(squash, 1), BAD(adam_beta2, 0.8), BAD(burn_in, 1), BAD(reserved, 1),
    BAD(log_std_min, 2.1), BAD(log_std_max, -20.1), BAD(log_std_init, -20.1), BAD(log_std_init, 2.1),
    REFUSED_AS(RLCORE_E_NULL, rlcore_learner_config, num_layers, 1),
    REFUSED_AS(RLCORE_E_NULL, rlcore_learner_config, num_action_fields, 1), BAD(num_action_fields, 9),
    REFUSED_AS(RLCORE_E_OVERFLOW, rlcore_learner_config, num_envs, UINT32_MAX),
    REFUSED_AS(RLCORE_E_OVERFLOW, rlcore_learner_config, num_steps, UINT32_MAX)};
_Static_assert(sizeof learner_flaws / sizeof *learner_flaws < 256, "a byte chooses one");
#undef WHOLE
#undef REAL
#undef FREE_WHOLE
#undef FREE_REAL
static rlcore_learner_config *learner_made_from(void) {
  rlcore_learner_config c = learner_config;
  SPOIL(c, learner_flaws);
  STRUCT(rlcore_learner_config, config, c, 0);
  return config;
}
static const struct flaw seen_flaws[] = {
    FLAW(rlcore_space, kind, 4), FLAW(rlcore_space, kind, RLCORE_STRUCT), FLAW(rlcore_space, kind, UINT32_MAX),
    FLAW(rlcore_space, len, 0), FLAW(rlcore_space, len, UINT32_MAX)};
static const struct flaw done_flaws[] = {
    FLAW(rlcore_space, kind, 3), FLAW(rlcore_space, kind, RLCORE_U8), FLAW(rlcore_space, kind, RLCORE_F32),
    FLAW(rlcore_space, len, 0), REFUSED_AS(RLCORE_E_NULL, rlcore_space, n, 0)};
#define SPACES \
  rlcore_space seen = SEEN, done = DONE; \
  SPOIL(seen, seen_flaws); \
  SPOIL(done, done_flaws); \
  STRUCT(rlcore_space, obs, seen, FIXED); \
  STRUCT(rlcore_space, action, done, FIXED)

/* The same for a host that attaches, which may leave the spaces out. */
static const struct flaw other_seen[] = {
    REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, kind, 4), REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, kind, RLCORE_I32),
    REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, len, 0), REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, len, UINT32_MAX)};
static const struct flaw other_done[] = {
    REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, kind, RLCORE_F32), REFUSED_AS(RLCORE_E_SHAPE, rlcore_space, len, 2),
    REFUSED_AS(RLCORE_E_NULL, rlcore_space, n, 0)};
#define EXPECTED \
  rlcore_space seen = SEEN, done = DONE; \
  SPOIL(seen, other_seen); \
  SPOIL(done, other_done); \
  STRUCT(rlcore_space, obs, seen, FIXED | OPTIONAL); \
  STRUCT(rlcore_space, action, done, FIXED | OPTIONAL)

OP(learner_size) {
  const rlcore_learner_config *config = learner_made_from();
  SPACES;
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_learner_size(config, obs, action, out_size));
}
OP(learner_init) {
  MEMORY_FOR(LEARNER_ACTS);
  const rlcore_learner_config *config = learner_made_from();
  SPACES;
  HANDLE(rlcore_learner *, out, 0);
  return CALL(rlcore_learner_init(mem, mem_size, config, obs, action, out));
}
OP(learner_attach) {
  IMAGE_OF(LEARNER_LEARNS);
  U32(num_envs, N, N, RLCORE_E_SHAPE);
  EXPECTED;
  HANDLE(rlcore_learner *, out, 0);
  return CALL(rlcore_learner_attach(mem, mem_size, num_envs, obs, action, out));
}
OP(learner_spaces) {
  CONST_ON(learner, p, LEARNER_LEARNS);
  HANDLE(uint32_t, out_num_envs, 0);
  TO(uint64_t, out_obs, sizeof(rlcore_space) / 8, POINTERS);
  TO(uint64_t, out_action, sizeof(rlcore_space) / 8, POINTERS);
  return CALL(rlcore_learner_spaces(p, out_num_envs, (rlcore_space *)out_obs, (rlcore_space *)out_action));
}
OP(learner_phase) {
  CONST_ON(learner, p, LEARNER_OBSERVES);
  HANDLE(uint32_t, out, 0);
  return CALL(rlcore_learner_phase(p, out));
}
OP(learner_acted) {
  CONST_ON(learner, p, LEARNER_OBSERVES);
  TO(uint8_t, acted, N, 0);
  return CALL(rlcore_learner_acted(p, acted));
}
OP(learner_act) {
  ON(learner, p, LEARNER_ACTS);
  IN(uint8_t, active, N, 1, 0, OPTIONAL | ANY);
  IN(float, obs, N * OBS, 1, 1, ANY);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL | ANY);
  TO(int32_t, action, N, 0);
  ROWS_OF(.active = active, .obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = action);
  return CALL(rlcore_learner_act(p, rows));
}
OP(learner_act_range) {
  ON(learner, p, LEARNER_ACTS);
  U32(begin, 0, N, RLCORE_E_RANGE);
  U32(end, N, N, RLCORE_E_RANGE);
  IN(uint8_t, active, N, 1, 0, OPTIONAL | ANY);
  IN(float, obs, N * OBS, 1, 1, ANY);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL | ANY);
  TO(int32_t, action, N, 0);
  ROWS_OF(.active = active, .obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = action);
  return CALL(rlcore_learner_act_range(p, begin, end, rows));
}
OP(learner_demonstrate) {
  ON(learner, p, LEARNER_STORES);
  IN(uint8_t, active, N, 1, 0, OPTIONAL | ANY);
  IN(float, obs, N * OBS, 1, 1, ANY);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  IN(int32_t, action, N, 0, 1, 0);
  ROWS_OF(.active = active, .obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = GIVEN(action));
  return CALL(rlcore_learner_demonstrate(p, rows));
}
OP(learner_observe) {
  ON(learner, p, LEARNER_OBSERVES);
  IN(uint8_t, active, N, 1, 0, OPTIONAL | ANY);
  IN(float, reward, N, 1, 1, ANY);
  IN(uint8_t, terminated, N, 0, 0, 0);
  IN(uint8_t, truncated, N, 0, 1, 0);
  IN(float, final_obs, N * OBS, 1, 1, OPTIONAL | ANY);
  IN(uint8_t, final_action_mask, N * 2, 1, 0, OPTIONAL | ANY);
  ROWS_OF(.active = active, .reward = GIVEN(reward), .terminated = GIVEN(terminated), .truncated = GIVEN(truncated),
          .final_obs = GIVEN(final_obs), .final_action_mask = GIVEN(final_action_mask));
  return CALL(rlcore_learner_observe(p, rows));
}
OP(learner_cut) {
  ON(learner, p, LEARNER_OBSERVES);
  IN(uint8_t, gone, N, 1, 0, ANY);
  return CALL(rlcore_learner_cut(p, gone));
}
#define LEARNER_STATS \
  const rlcore_learner_stats none = {.struct_size = sizeof none}; \
  STRUCT(rlcore_learner_stats, stats, none, OUT)
OP(learner_learn) {
  ON(learner, p, LEARNER_LEARNS);
  IN(float, obs, N * OBS, 1, 1, OPTIONAL);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  STRUCT_OF(rlcore_rows, rows, OPTIONAL, .obs = GIVEN(obs), .action_mask = GIVEN(action_mask));
  U32(max_slices, 0, 2, RLCORE_OK);
  LEARNER_STATS;
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn(p, rows, max_slices, stats));
}
OP(learner_learn_begin) {
  ON(learner, p, LEARNER_LEARNS);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask));
  LEARNER_STATS;
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn_begin(p, rows, stats));
}
OP(learner_scratch_size) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_learner_scratch_size(p, out_size));
}
OP(learner_grads_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_learner_grads_len(p, out_len));
}
#define CHUNKS \
  U32(begin, 0, 1, RLCORE_E_RANGE); \
  U32(end, 1, 1, RLCORE_E_RANGE)
OP(learner_learn_range) {
  CONST_ON(learner, p, LEARNER_UPDATES);
  CHUNKS;
  SIZE(scratch_size, LEARNER_SCRATCH, LEARNER_SCRATCH, RLCORE_E_OVERFLOW);
  TO(uint64_t, scratch, (scratch_size & 8191) / 8, SCRATCH);
  TO(float, grads, GRADS, 0);
  SIZE(grads_len, GRADS, GRADS, RLCORE_E_SHAPE);
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn_range(p, begin, end, scratch, scratch_size, grads, grads_len));
}
OP(learner_learn_apply) {
  ON(learner, p, LEARNER_GRADED);
  LEARNER_STATS;
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn_apply(p, stats));
}
OP(learner_count_steps) {
  ON(learner, p, LEARNER_ACTS);
  U32(num_steps, 3, 1000, RLCORE_OK);
  return CALL(rlcore_learner_count_steps(p, num_steps));
}
OP(learner_learn_drop) {
  ON(learner, p, LEARNER_UPDATES);
  return CALL(rlcore_learner_learn_drop(p));
}
OP(net_preset) {
  COUNT(capacity, 16, 16, RLCORE_OK);
  TO(uint32_t, out, capacity * sizeof(rlcore_layer) / 4, 0);
  HANDLE(uint32_t, out_len, 0);
  return CALL(rlcore_net_preset(1 + byte() % 8, (rlcore_layer *)out, capacity, out_len));
}
OP(learner_learn_batch) {
  ON(learner, p, LEARNER_ACTS);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(int32_t, action, N, 0, 1, 0);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  IN(float, log_prob, N, 1, 1, 0);
  IN(float, value, N, 1, 1, 0);
  IN(float, advantage, N, 1, 1, 0);
  IN(float, value_target, N, 1, 1, 0);
  IN(double, moments, NUM_MOMENTS, 1, 1, 0);
  STRUCT_OF(rlcore_learner_batch, batch, 0, .obs = GIVEN(obs), .action = GIVEN(action), .action_mask = GIVEN(action_mask),
            .log_prob = GIVEN(log_prob), .value = GIVEN(value), .advantage = GIVEN(advantage),
            .value_target = GIVEN(value_target), .moments = GIVEN(moments));
  LEARNER_STATS;
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn_batch(p, batch, stats));
}
OP(learner_learn_transitions) {
  ON(learner, p, LEARNER_STORES);
  IN(float, obs, 2 * OBS, 1, 1, 0);
  IN(int32_t, action, 2, 0, 1, 0);
  IN(uint8_t, action_mask, 2 * 2, 1, 0, OPTIONAL);
  IN(float, reward, 2, 1, 1, 0);
  IN(uint8_t, terminated, 2, 1, 0, 0);
  IN(float, discount, 2, 1, 0, OPTIONAL);
  IN(float, next_obs, 2 * OBS, 1, 1, 0);
  IN(uint8_t, next_action_mask, 2 * 2, 1, 0, OPTIONAL);
  IN(float, importance, 2, 1, 0, OPTIONAL);
  TO(float, error, 2, OPTIONAL);
  STRUCT_OF(rlcore_learner_transitions, transitions, 0, .obs = obs, .action = action, .action_mask = action_mask,
            .reward = reward, .terminated = terminated, .discount = discount, .next_obs = next_obs,
            .next_action_mask = next_action_mask, .importance = importance, .error = error);
  LEARNER_STATS;
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_learner_learn_transitions(p, transitions, stats));
}
OP(learner_batch_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  HANDLE(size_t, out_mask_len, 0);
  HANDLE(size_t, out_begin_len, 0);
  HANDLE(size_t, out_env_len, 0);
  return CALL(rlcore_learner_batch_len(p, out_len, out_mask_len, out_begin_len, out_env_len));
}
OP(learner_stats_read) {
  CONST_ON(learner, p, LEARNER_UPDATES);
  LEARNER_STATS;
  return CALL(rlcore_learner_stats_read(p, stats));
}
OP(learner_state_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_learner_state_len(p, out_len));
}
OP(learner_seen_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_learner_seen_len(p, out_len));
}
OP(learner_batch_read) {
  CONST_ON(learner, p, LEARNER_UPDATES);
  TO(float, obs, N * OBS, 0);
  TO(int32_t, action, N, 0);
  TO(uint8_t, action_mask, N * 2, OPTIONAL);
  TO(float, log_prob, N, 0);
  TO(float, value, N, 0);
  TO(float, advantage, N, 0);
  TO(float, value_target, N, 0);
  TO(double, moments, NUM_MOMENTS, 0);
  STRUCT_OF(rlcore_learner_batch, batch, 0, .obs = obs, .action = action, .action_mask = action_mask, .log_prob = log_prob,
            .value = value, .advantage = advantage, .value_target = value_target, .moments = moments);
  return CALL(rlcore_learner_batch_read(p, batch));
}
OP(learner_value) {
  ON(learner, p, LEARNER_ACTS);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask));
  TO(float, value, N, 0);
  return CALL(rlcore_learner_value(p, rows, value));
}
OP(learner_log_prob) {
  ON(learner, p, LEARNER_ACTS);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  IN(int32_t, action, N, 0, 1, 0);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = GIVEN(action));
  TO(float, log_prob, N, 0);
  TO(float, entropy, N, 0);
  return CALL(rlcore_learner_log_prob(p, rows, log_prob, entropy));
}
OP(learner_params_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_learner_params_len(p, out_len));
}
OP(learner_params_read) {
  CONST_ON(learner, p, LEARNER_ACTS);
  TO(float, params, PARAMS, 0);
  SIZE(params_len, PARAMS, PARAMS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_params_read(p, params, params_len));
}
OP(learner_params_write) {
  ON(learner, p, LEARNER_ACTS);
  IN(float, params, PARAMS, 0, 0.01f, 0);
  SIZE(params_len, PARAMS, PARAMS, RLCORE_E_SHAPE);
  IN(double, moments, NUM_MOMENTS, 1, 1, 0);
  SIZE(moments_len, NUM_MOMENTS, NUM_MOMENTS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_params_write(p, params, params_len, moments, moments_len));
}
OP(learner_moments_len) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_learner_moments_len(p, out_len));
}
OP(learner_moments_read) {
  CONST_ON(learner, p, LEARNER_ACTS);
  TO(double, moments, NUM_MOMENTS, 0);
  SIZE(moments_len, NUM_MOMENTS, NUM_MOMENTS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_moments_read(p, moments, moments_len));
}
OP(learner_moments_write) {
  ON(learner, p, LEARNER_ACTS);
  IN(double, moments, NUM_MOMENTS, 1, 1, 0);
  SIZE(moments_len, NUM_MOMENTS, NUM_MOMENTS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_moments_write(p, moments, moments_len));
}
OP(learner_moments_merge) {
  IN(double, base, NUM_MOMENTS, 1, 0, OPTIONAL);
  IN(double, with, NUM_MOMENTS, 2, 0, 0);
  SIZE(len, NUM_MOMENTS, NUM_MOMENTS, RLCORE_E_OVERFLOW);
  double *const moments = array("moments", 'd', NUM_MOMENTS, OUT, 2, 0);
  return CALL(rlcore_learner_moments_merge(base, with, len, moments));
}
OP(learner_grads_read) {
  CONST_ON(learner, p, LEARNER_GRADED);
  CHUNKS;
  TO(float, grads, GRADS, 0);
  SIZE(grads_len, GRADS, GRADS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_grads_read(p, begin, end, grads, grads_len));
}
OP(learner_grads_write) {
  ON(learner, p, LEARNER_UPDATES);
  CHUNKS;
  IN(float, grads, GRADS, 0, 0.01f, 0);
  SIZE(grads_len, GRADS, GRADS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_grads_write(p, begin, end, grads, grads_len));
}
OP(learner_grads_add) {
  ON(learner, p, LEARNER_GRADED);
  CHUNKS;
  IN(float, grads, GRADS, 0, 0.01f, 0);
  SIZE(grads_len, GRADS, GRADS, RLCORE_E_SHAPE);
  return CALL(rlcore_learner_grads_add(p, begin, end, grads, grads_len));
}
#define SAMPLING(flags) \
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
  STRUCT(rlcore_sampling, sampling, how, FIXED | OPTIONAL)
OP(learner_predict) {
  ON(learner, p, LEARNER_ACTS);
  IN(float, obs, N * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, N * 2, 1, 0, OPTIONAL);
  SAMPLING(0);
  TO(int32_t, action, N, 0);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = action);
  return CALL(rlcore_learner_predict(p, rows, NULL, NULL, sampling));
}
OP(learner_freeze) {
  ON(learner, p, LEARNER_ACTS);
  U32(frozen, 1, 1, RLCORE_E_RANGE);
  return CALL(rlcore_learner_freeze(p, frozen));
}
OP(policy_size) {
  CONST_ON(learner, p, LEARNER_ACTS);
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_policy_size(p, out_size));
}
OP(policy_export) {
  CONST_ON(learner, p, LEARNER_ACTS);
  MEMORY_FOR(POLICY_MADE);
  HANDLE(rlcore_policy *, out, 0);
  return CALL(rlcore_policy_export(p, mem, mem_size, out));
}
OP(policy_attach) {
  IMAGE_OF(POLICY_MADE);
  EXPECTED;
  HANDLE(const rlcore_policy *, out, 0);
  return CALL(rlcore_policy_attach(mem, mem_size, obs, action, out));
}
OP(policy_spaces) {
  CONST_ON(policy, p, POLICY_MADE);
  TO(uint64_t, out_obs, sizeof(rlcore_space) / 8, POINTERS);
  TO(uint64_t, out_action, sizeof(rlcore_space) / 8, POINTERS);
  return CALL(rlcore_policy_spaces(p, (rlcore_space *)out_obs, (rlcore_space *)out_action));
}
OP(block_seal) {
  IMAGE_OF(POLICY_MADE);
  return CALL(rlcore_block_seal(mem, mem_size));
}
OP(policy_state_len) {
  CONST_ON(policy, p, POLICY_MADE);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_policy_state_len(p, out_len));
}
OP(policy_scratch_len) {
  CONST_ON(policy, p, POLICY_MADE);
  U32(num_rows, 2, 4, RLCORE_OK);
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_policy_scratch_len(p, num_rows, out_len));
}
OP(policy_act) {
  CONST_ON(policy, p, POLICY_MADE);
  U32(num_rows, 2, 4, RLCORE_OK);
  IN(float, obs, num_rows * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, num_rows * 2, 1, 0, OPTIONAL);
  SAMPLING(0);
  RNG(OUT);
  SIZE(scratch_len, 256, 256, RLCORE_E_OVERFLOW);
  TO(float, scratch, scratch_len & 511, SCRATCH);
  TO(int32_t, action, num_rows, 0);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = action);
  STRUCT_OF(rlcore_policy_buffers, buffers, 0, .scratch = scratch, .scratch_len = scratch_len);
  return CALL(rlcore_policy_act(p, num_rows, rows, buffers, sampling, rng));
}

OP(policy_act_greedy) {
  CONST_ON(policy, p, POLICY_MADE);
  U32(num_rows, 2, 4, RLCORE_OK);
  IN(float, obs, num_rows * OBS, 1, 1, 0);
  IN(uint8_t, action_mask, num_rows * 2, 1, 0, OPTIONAL);
  SIZE(scratch_len, 256, 256, RLCORE_E_OVERFLOW);
  TO(float, scratch, scratch_len & 511, SCRATCH);
  TO(int32_t, action, num_rows, 0);
  ROWS_OF(.obs = GIVEN(obs), .action_mask = GIVEN(action_mask), .action = action);
  STRUCT_OF(rlcore_policy_buffers, buffers, 0, .scratch = scratch, .scratch_len = scratch_len);
  return CALL(rlcore_policy_act_greedy(p, num_rows, rows, buffers));
}

/* ---- Frames ---- */

OP(lazy_frames_bytes_per_transition) {
  const rlcore_lazy_frames_config *config = lazy_frames_made_from();
  HANDLE(uint64_t, out_bytes, 0);
  return CALL(rlcore_lazy_frames_bytes_per_transition(config, out_bytes));
}
OP(lazy_frames_push) {
  ON(lazy_frames, l, LAZY_USED);
  U32(env, 1, N - 1, RLCORE_E_RANGE);
  IN(uint8_t, frame, 4, 1, 1, 0);
  U32(is_first, 0, 1, RLCORE_E_RANGE);
  HANDLE(uint64_t, out_number, OPTIONAL);
  return CALL(rlcore_lazy_frames_push(l, env, frame, is_first, out_number));
}
OP(lazy_frames_push_range) {
  ON(lazy_frames, l, LAZY_USED);
  U32(begin, 0, N, RLCORE_E_RANGE);
  U32(end, N, N, RLCORE_E_RANGE);
  IN(uint8_t, frame, N * 4, 1, 1, 0);
  IN(uint8_t, is_first, N, 0, 1, 0);
  IN(uint8_t, final_frame, N * 4, 1, 1, OPTIONAL);
  TO(uint64_t, numbers, N, OPTIONAL);
  return CALL(rlcore_lazy_frames_push_range(l, begin, end, frame, is_first, final_frame, numbers));
}
OP(lazy_frames_held) {
  CONST_ON(lazy_frames, l, LAZY_USED);
  U32(env, 1, N - 1, RLCORE_E_RANGE);
  HANDLE(uint64_t, out_begin, 0);
  HANDLE(uint64_t, out_end, 0);
  return CALL(rlcore_lazy_frames_held(l, env, out_begin, out_end));
}
#define FRAME_OF \
  CONST_ON(lazy_frames, l, LAZY_USED); \
  U32(env, 1, N - 1, RLCORE_E_RANGE); \
  U32(frame, 3, 255, RLCORE_E_RANGE)
OP(lazy_frames_frame) {
  FRAME_OF;
  HANDLE(const uint8_t *, out_frame, 0);
  return CALL(rlcore_lazy_frames_frame(l, env, frame, out_frame));
}
OP(lazy_frames_indices) {
  FRAME_OF;
  TO(uint64_t, numbers, 2, 0);
  return CALL(rlcore_lazy_frames_indices(l, env, frame, numbers));
}
#define FORM \
  U32(layout, 0, 1, RLCORE_E_RANGE); \
  U32(kind, RLCORE_F32, 2, RLCORE_E_RANGE)
OP(lazy_frames_stack) {
  FRAME_OF;
  FORM;
  TO(float, out, 8, 0);
  return CALL(rlcore_lazy_frames_stack(l, env, frame, layout, kind, out));
}
/* Rows with given numbers, alternating between two environments, or with other contents. */
#define ROWS(rows) \
  COUNT(num_rows, 2, 4, RLCORE_OK); \
  IN(uint64_t, numbers, num_rows * 2, rows, 0, 0); \
  AS(index); \
  if (numbers != NULL && arguments[num_arguments - 1].chosen < SHARED) \
    for (uint32_t i = 0; i < num_rows; i++) memcpy((void *)(size_t)((const char *)numbers + 16 * i + 8), &(uint64_t){i & 1}, 8); \
  const rlcore_frame_index *index = (const rlcore_frame_index *)numbers
OP(lazy_frames_gather) {
  CONST_ON(lazy_frames, l, LAZY_USED);
  ROWS(3);
  FORM;
  TO(float, out, num_rows * 8, 0);
  return CALL(rlcore_lazy_frames_gather(l, index, num_rows, layout, kind, out));
}
OP(lazy_frames_gather_transitions) {
  CONST_ON(lazy_frames, l, LAZY_USED);
  ROWS(3);
  FORM;
  TO(float, obs, num_rows * 8, 0);
  TO(float, next_obs, num_rows * 8, 0);
  return CALL(rlcore_lazy_frames_gather_transitions(l, index, num_rows, layout, kind, obs, next_obs));
}
OP(lazy_frames_newest) {
  U32(num_stack, 2, 16, REFUSED);
  U32(channels, 1, 4, RLCORE_OK);
  U32(layout, 0, 1, RLCORE_E_RANGE);
  SIZE(frame_len, 12, 64, RLCORE_E_OVERFLOW);
  IN(uint8_t, stack, (num_stack & 31) * (frame_len & 127), 1, 1, 0);
  TO(uint8_t, frame, frame_len & 127, 0);
  return CALL(rlcore_lazy_frames_newest(stack, num_stack, channels, layout, frame, frame_len));
}

/* ---- Readers beside a writer in another process ---- */

#define READER(noun, sample) \
  OP(noun##_attach_reader) { \
    IMAGE_OF(sample); \
    HANDLE(const rlcore_##noun *, out, 0); \
    return CALL(rlcore_##noun##_attach_reader(mem, mem_size, out)); \
  }
READER(memory, MEMORY_USED)
READER(replay, REPLAY_USED)
READER(lazy_frames, LAZY_USED)
READER(monitor, MONITOR_USED)
READER(rollout_buffer, ROLLOUT_FINISHED)
READER(trajectory, TRAJECTORY_USED)

OP(lazy_frames_read) {
  FRAME_OF;
  COUNT(num_frames, 1, 4, RLCORE_OK);
  TO(uint8_t, frames, num_frames * 4, 0);
  TO(uint8_t, is_first, num_frames, 0);
  return CALL(rlcore_lazy_frames_read(l, env, frame, num_frames, frames, is_first));
}

#define READ_ROWS(noun, sample, width, of_trajectory) \
  OP(noun##_read) { \
    CONST_ON(noun, b, sample); \
    IN(uint64_t, next, 1, 0, 0, OUT); \
    COUNT(num_rows, 2, 4, RLCORE_OK); \
    const uint32_t all = num_rows * (width); \
    TO(float, seen, all * 2, OPTIONAL); \
    TO(int32_t, acted, all, OPTIONAL); \
    struct two { void *at[2]; }; \
    const struct two both = {{seen, acted}}; \
    STRUCT(struct two, columns, both, FIXED | OPTIONAL); \
    TO(float, reward, all, OPTIONAL); \
    TO(float, value, all, OPTIONAL); \
    TO(float, log_prob, of_trajectory ? 0 : all, OPTIONAL); \
    TO(float, final_value, of_trajectory ? 0 : all, OPTIONAL); \
    TO(uint8_t, terminated, all, OPTIONAL); \
    TO(uint8_t, truncated, all, OPTIONAL); \
    TO(float, memory, all * M, OPTIONAL); \
    const rlcore_rows_out rows = {sizeof rows, num_rows, (void *const *)columns, reward, value, of_trajectory ? NULL : log_prob, \
                                  of_trajectory ? NULL : final_value, terminated, truncated, memory}; \
    STRUCT(rlcore_rows_out, out, rows, 0); \
    HANDLE(uint32_t, out_count, 0); \
    HANDLE(uint64_t, out_lost, OPTIONAL); \
    return CALL(rlcore_##noun##_read(b, (uint64_t *)(size_t)next, out, out_count, out_lost)); \
  }
READ_ROWS(rollout_buffer, ROLLOUT_OPEN, N, 0)
READ_ROWS(trajectory, TRAJECTORY_USED, 1, 1)

/* ---- Replay memory of frames ---- */

/* [num_columns] arrays of rows, and the table of their addresses for the call. */
#define STACKED_VALUES(rows) \
  IN(uint8_t, picture, (rows) * 4, 1, 1, 0); \
  IN(int32_t, acted, rows, 1, 0, 0); \
  const void *table[2] = {picture, acted}; \
  struct two { const void *at[2]; }; \
  struct two both = {{table[0], table[1]}}; \
  STRUCT(struct two, columns, both, FIXED); \
  AS(values); \
  const void *const *values = (const void *const *)columns
#define PLAIN_VALUES(rows, flags) \
  IN(float, seen, (rows) * 2, 1, 1, ANY); \
  IN(int32_t, acted, rows, 1, 0, 0); \
  const void *table[2] = {seen, acted}; \
  struct two { const void *at[2]; }; \
  struct two both = {{table[0], table[1]}}; \
  STRUCT(struct two, columns, both, FIXED | (flags)); \
  AS(values); \
  const void *const *values = (const void *const *)columns

OP(memory_add) {
  ON(memory, m, MEMORY_USED);
  U32(episode, 1, 3, RLCORE_OK);
  U32(step, 11, 63, RLCORE_OK);
  F32(reward, 1, NAN, RLCORE_OK);
  U32(terminated, 0, 2, RLCORE_OK);
  U32(truncated, 0, 2, RLCORE_OK);
  const rlcore_frame value = {episode, step, reward, (uint8_t)terminated, (uint8_t)truncated, {0}};
  STRUCT(rlcore_frame, frame, value, FIXED);
  STACKED_VALUES(1);
  HANDLE(uint64_t, out_number, OPTIONAL);
  HANDLE(uint32_t, out_cuts, OPTIONAL);
  return CALL(rlcore_memory_add(m, frame, values, out_number, out_cuts));
}
OP(memory_add_rollout) {
  ON(memory, m, MEMORY_USED);
  COUNT(num_frames, 2, 8, RLCORE_E_RANGE);
  IN(uint64_t, words, num_frames * sizeof(rlcore_frame) / 8, 2, 0, 0);
  if (words != NULL && arguments[num_arguments - 1].chosen < SHARED)
    for (uint32_t i = 0; i < num_frames; i++)
      memcpy((char *)(size_t)words + i * sizeof(rlcore_frame), &(rlcore_frame){.episode = 2, .step = i}, sizeof(rlcore_frame));
  STACKED_VALUES(num_frames);
  HANDLE(uint64_t, out_number, OPTIONAL);
  HANDLE(uint32_t, out_cuts, OPTIONAL);
  return CALL(rlcore_memory_add_rollout(m, (const rlcore_frame *)words, num_frames, values, out_number, out_cuts));
}
OP(memory_held) {
  CONST_ON(memory, m, MEMORY_USED);
  HANDLE(uint64_t, out_begin, 0);
  HANDLE(uint64_t, out_end, 0);
  return CALL(rlcore_memory_held(m, out_begin, out_end));
}
OP(memory_pool_len) {
  CONST_ON(memory, m, MEMORY_USED);
  HANDLE(uint32_t, out_ordinary, 0);
  HANDLE(uint32_t, out_priority, 0);
  return CALL(rlcore_memory_pool_len(m, out_ordinary, out_priority));
}
OP(memory_pool_number) {
  CONST_ON(memory, m, MEMORY_USED);
  U32(priority, 1, 1, RLCORE_E_RANGE);
  U32(i, 0, 15, RLCORE_E_RANGE);
  HANDLE(uint64_t, out_number, 0);
  return CALL(rlcore_memory_pool_number(m, priority, i, out_number));
}
static rlcore_draw *a_draw(int priority) {
  U32(size, 2, 3, priority ? RLCORE_E_RANGE : RLCORE_OK);
  U32(burn_in, 1, 4, RLCORE_OK);
  U32(exact_size, 0, 1, RLCORE_E_RANGE);
  U32(skewness, 2, 4, RLCORE_OK);
  U32(attempts, 3, 8, RLCORE_OK);
  U32(rule, 0, 1, RLCORE_E_RANGE);
  const rlcore_draw value = {sizeof value, size, burn_in, exact_size, skewness, attempts, rule};
  STRUCT(rlcore_draw, draw, value, OPTIONAL);
  return draw;
}
#define SAMPLE(noun, priority) \
  OP(noun) { \
    CONST_ON(memory, m, MEMORY_USED); \
    RNG(OUT); \
    const rlcore_draw *draw = a_draw(priority); \
    U32(num_samples, 2, 4, RLCORE_OK); \
    TO(uint64_t, samples, num_samples * sizeof(rlcore_sample) / 8, 0); \
    return CALL_WRITING_ON(RLCORE_E_INEXACT, rlcore_##noun(m, rng, draw, (rlcore_sample *)samples, num_samples)); \
  }
SAMPLE(memory_sample_uniform, 0)
SAMPLE(memory_sample_priority, 1)
#define SAMPLES_OF \
  CONST_ON(memory, m, MEMORY_USED); \
  COUNT(num_samples, 2, 4, RLCORE_OK); \
  COUNT(len, 2, 4, RLCORE_OK); \
  IN(uint64_t, words, num_samples * sizeof(rlcore_sample) / 8, 4, 0, 0); \
  AS(samples_in); \
  if (words != NULL && arguments[num_arguments - 1].chosen < SHARED) \
    for (uint32_t i = 0; i < num_samples; i++) \
      memcpy((char *)(size_t)words + i * sizeof(rlcore_sample), &(rlcore_sample){.first = 4, .len = len == 0 ? 0 : 1 + i % len}, sizeof(rlcore_sample)); \
  const rlcore_sample *samples_in = (const rlcore_sample *)words; \
  STRUCT_OF(rlcore_sequences, sequences, 0, .num_samples = num_samples, .len = len, .samples = samples_in)
OP(memory_gather) {
  SAMPLES_OF;
  U32(column, 0, 1, RLCORE_E_RANGE);
  FORM;
  TO(float, out, num_samples * len * 8, 0);
  return CALL(rlcore_memory_gather(m, sequences, column, layout, kind, out));
}
OP(memory_gather_frames) {
  SAMPLES_OF;
  TO(float, reward, num_samples * len, OPTIONAL);
  TO(uint8_t, terminated, num_samples * len, OPTIONAL);
  TO(uint8_t, truncated, num_samples * len, OPTIONAL);
  TO(uint8_t, valid, num_samples * len, OPTIONAL);
  return CALL(rlcore_memory_gather_frames(m, sequences, reward, terminated, truncated, valid));
}
OP(memory_store_rng) {
  ON(memory, m, MEMORY_USED);
  RNG(0);
  return CALL(rlcore_memory_store_rng(m, rng));
}
OP(memory_load_rng) {
  CONST_ON(memory, m, MEMORY_USED);
  TO(uint64_t, rng, 5, 0);
  return CALL(rlcore_memory_load_rng(m, (rlcore_rng *)rng));
}

/* ---- Replay memory of transitions ---- */

OP(replay_add) {
  ON(replay, r, REPLAY_USED);
  U32(env, 1, N - 1, RLCORE_E_RANGE);
  PLAIN_VALUES(1, 0);
  F32(reward, 1, INFINITY, RLCORE_E_VALUE);
  U32(terminated, 0, 1, RLCORE_E_RANGE);
  U32(truncated, 1, 1, RLCORE_E_RANGE);
  const rlcore_replay_step one = {sizeof one, env, reward, terminated, truncated};
  STRUCT(rlcore_replay_step, step, one, 0);
  IN(float, last, 2, 1, 1, ANY);
  struct two final_both = {{last, NULL}};
  STRUCT(struct two, finals, final_both, FIXED | OPTIONAL);
  HANDLE(uint64_t, out_number, OPTIONAL);
  return CALL(rlcore_replay_add(r, step, values, (const void *const *)finals, out_number));
}
OP(replay_add_all) {
  ON(replay, r, REPLAY_USED);
  PLAIN_VALUES(N, 0);
  IN(float, reward, N, 1, 1, 0);
  IN(uint8_t, terminated, N, 0, 0, 0);
  IN(uint8_t, truncated, N, 0, 1, 0);
  IN(float, last, N * 2, 1, 1, ANY);
  struct two final_both = {{last, NULL}};
  STRUCT(struct two, finals, final_both, FIXED | OPTIONAL);
  return CALL(rlcore_replay_add_all(r, values, reward, terminated, truncated, (const void *const *)finals));
}
OP(replay_cut) {
  ON(replay, r, REPLAY_USED);
  IN(uint8_t, gone, N, 1, 0, ANY);
  return CALL(rlcore_replay_cut(r, gone));
}
OP(replay_get_stats) {
  CONST_ON(replay, r, REPLAY_USED);
  const rlcore_replay_stats none = {.struct_size = sizeof none};
  STRUCT(rlcore_replay_stats, out, none, OUT);
  return CALL(rlcore_replay_get_stats(r, out));
}
OP(replay_set_alpha) {
  ON(replay, r, REPLAY_USED);
  F32(alpha, 0.5, 1.5, RLCORE_E_RANGE);
  return CALL(rlcore_replay_set_alpha(r, alpha));
}
OP(replay_linear) {
  F32(initial, 0, INFINITY, RLCORE_E_VALUE);
  F32(end, 1, -INFINITY, RLCORE_E_VALUE);
  F32(progress, 0.5, 1.5, RLCORE_E_RANGE);
  TO(float, out, 1, 0);
  return CALL(rlcore_replay_linear(initial, end, progress, out));
}
OP(replay_sample) {
  CONST_ON(replay, r, REPLAY_USED);
  RNG(OUT);
  U32(num_rows, 2, 4, RLCORE_OK);
  F32(beta, 0.5, -1, RLCORE_E_RANGE);
  U32(normalize, 0, 2, RLCORE_E_RANGE);
  U32(independent, 0, 1, RLCORE_E_RANGE);
  const rlcore_replay_draw how = {sizeof how, beta, normalize, independent};
  STRUCT(rlcore_replay_draw, draw, how, 0);
  TO(uint64_t, index, num_rows * 2, 0);
  TO(float, weight, num_rows, 0);
  TO(float, probability, num_rows, OPTIONAL);
  return CALL(rlcore_replay_sample(r, rng, draw, num_rows, (rlcore_frame_index *)index, weight, probability));
}
OP(replay_update) {
  ON(replay, r, REPLAY_USED);
  ROWS(1);
  IN(float, priority, num_rows, 1, 1, 0);
  HANDLE(uint64_t, out_forgotten, OPTIONAL);
  return CALL(rlcore_replay_update(r, index, priority, num_rows, out_forgotten));
}
OP(replay_transitions) {
  CONST_ON(replay, r, REPLAY_USED);
  ROWS(1);
  TO(float, reward, num_rows, OPTIONAL);
  TO(float, discount, num_rows, OPTIONAL);
  TO(uint8_t, terminated, num_rows, OPTIONAL);
  TO(uint8_t, truncated, num_rows, OPTIONAL);
  return CALL(rlcore_replay_transitions(r, index, num_rows, reward, discount, terminated, truncated));
}
#define GATHER(noun, columns) \
  OP(noun) { \
    CONST_ON(replay, r, REPLAY_USED); \
    U32(column, 0, columns - 1, RLCORE_E_RANGE); \
    ROWS(1); \
    U32(layout, 0, 1, RLCORE_E_RANGE); \
    U32(kind, 0, 1, RLCORE_E_RANGE); \
    TO(float, out, num_rows * 2, 0); \
    return CALL(rlcore_##noun(r, index, num_rows, column, layout, kind, out)); \
  }
GATHER(replay_gather, 2)
GATHER(replay_gather_next, 1)
OP(replay_store_rng) {
  ON(replay, r, REPLAY_USED);
  RNG(0);
  return CALL(rlcore_replay_store_rng(r, rng));
}
OP(replay_load_rng) {
  CONST_ON(replay, r, REPLAY_USED);
  TO(uint64_t, rng, 5, 0);
  return CALL(rlcore_replay_load_rng(r, (rlcore_rng *)rng));
}

/* ---- Hindsight ---- */

OP(relabel_draw) {
  U32(strategy, 0, 2, RLCORE_E_RANGE);
  SIZE(len, 3, 8, RLCORE_E_OVERFLOW);
  IN(uint32_t, step, len & 15, 0, 1, 0);
  IN(uint32_t, num_steps, len & 15, 9, 0, 0);
  RNG(OUT);
  TO(uint32_t, goal_step, len & 15, 0);
  return CALL(rlcore_relabel_draw(strategy, step, num_steps, len, rng, goal_step));
}
static int32_t judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  *reward = achieved[0] - goal[0];
  *terminated = user != NULL;
  return 0;
}
OP(relabel_goals) {
  COUNT(num_steps, 3, 8, RLCORE_OK);
  COUNT(goal_len, 2, 4, RLCORE_E_SHAPE);
  COUNT(num_rows, 4, 8, RLCORE_OK);
  IN(float, achieved, num_rows * goal_len, 1, 1, 0);
  IN(uint32_t, row, num_steps, 0, 1, 0);
  IN(uint32_t, goal_row, num_steps, 1, 1, 0);
  const rlcore_relabel value = {sizeof value, num_steps, goal_len, num_rows, achieved, row, goal_row};
  STRUCT(rlcore_relabel, steps, value, 0);
  const unsigned wrong = field("no judge", 1, RLCORE_E_NULL);
  TO(float, goal, num_steps * goal_len, 0);
  TO(float, reward, num_steps, 0);
  TO(uint8_t, terminated, num_steps, 0);
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_relabel_goals(steps, wrong ? NULL : judge, NULL, goal, reward, terminated));
}

/* ---- Rollouts as kernels see them ---- */

static uint32_t steps_of, envs_of; /* dimensions of the current call's arrays */

static rlcore_rollout *rollout(void) {
  COUNT(num_steps, T, 8, RLCORE_E_SHAPE);
  COUNT(num_envs, N, 20, RLCORE_E_SHAPE);
  U32(accumulate, 0, 1, RLCORE_E_CONFIG);
  steps_of = num_steps, envs_of = num_envs;
  IN(float, reward, num_steps * num_envs, 1, 1, 0);
  IN(float, value, num_steps * num_envs, 0.5, 0.25, 0);
  IN(float, bootstrap_value, num_envs, 1, 1, 0);
  IN(uint8_t, terminated, num_steps * num_envs, 0, 0, 0);
  IN(uint8_t, truncated, num_steps * num_envs, 0, 1, 0);
  IN(float, final_value, num_steps * num_envs, 1, 0.5, 0);
  /* The first element is not read. */
  if (arguments[num_arguments - 1].chosen == NOT_A_NUMBER) arguments[num_arguments - 1].flags |= ANY;
  const rlcore_rollout all = {sizeof all, num_steps, num_envs, accumulate, reward, value, bootstrap_value, terminated, truncated, final_value};
  STRUCT(rlcore_rollout, batch, all, 0);
  AS(r);
  return batch;
}
#define DISCOUNT F32(discount, 0.5, 1.5, RLCORE_E_RANGE)
#define LAMBDA F32(lambda, 0.5, -0.5, RLCORE_E_RANGE)
#define RANGE \
  U32(begin, 0, envs_of, RLCORE_E_RANGE); \
  U32(end, envs_of, envs_of, RLCORE_E_RANGE)
#define TARGETS(name) TO(float, name, steps_of * envs_of, 0)

/* One or two output arrays, with or without lambda, of all columns and of a range. */
#define BOTH_OF(noun, numbers, arrays, call, call_range) \
  OP(noun) { \
    const rlcore_rollout *r = rollout(); \
    numbers; \
    arrays; \
    return CALL(call); \
  } \
  OP(noun##_range) { \
    const rlcore_rollout *r = rollout(); \
    numbers; \
    RANGE; \
    arrays; \
    return CALL(call_range); \
  }
/* These numbers are checked while computing. */
BOTH_OF(gae, DISCOUNT; LAMBDA; documented = RLCORE_E_VALUE, TARGETS(advantage); TARGETS(target),
        rlcore_gae(r, discount, lambda, advantage, target),
        rlcore_gae_range(r, discount, lambda, begin, end, advantage, target))
BOTH_OF(lambda_returns, DISCOUNT; LAMBDA, TARGETS(target), rlcore_lambda_returns(r, discount, lambda, target),
        rlcore_lambda_returns_range(r, discount, lambda, begin, end, target))
BOTH_OF(td_lambda, DISCOUNT; LAMBDA, TARGETS(error); TARGETS(target), rlcore_td_lambda(r, discount, lambda, error, target),
        rlcore_td_lambda_range(r, discount, lambda, begin, end, error, target))
BOTH_OF(n_step_returns, DISCOUNT; COUNT(n, 2, 12, RLCORE_E_RANGE), TARGETS(target),
        rlcore_n_step_returns(r, discount, n, target), rlcore_n_step_returns_range(r, discount, n, begin, end, target))
BOTH_OF(upgo, DISCOUNT, TARGETS(advantage); TARGETS(target), rlcore_upgo(r, discount, advantage, target),
        rlcore_upgo_range(r, discount, begin, end, advantage, target))
#define OFF_POLICY \
  IN(float, q, steps_of * envs_of, 1, 1, 0); \
  IN(float, log_rho, steps_of * envs_of, 0.5, 0.25, 0); \
  if (arguments[num_arguments - 1].chosen == NOT_A_NUMBER) arguments[num_arguments - 1].flags |= ANY; \
  DISCOUNT; \
  LAMBDA; \
  STRUCT_OF(rlcore_off_policy, off_policy, 0, .discount = discount, .td_lambda = lambda, .q = q, .log_rho = log_rho)
BOTH_OF(retrace, OFF_POLICY, TARGETS(error); TARGETS(target), rlcore_retrace(r, off_policy, error, target),
        rlcore_retrace_range(r, off_policy, begin, end, error, target))

OP(discounted_sum) {
  COUNT(num_steps, T, 8, RLCORE_E_SHAPE);
  COUNT(num_envs, N, 20, RLCORE_E_SHAPE);
  IN(float, x, num_steps * num_envs, 1, 1, IN_PLACE);
  DISCOUNT;
  TO(float, out, num_steps * num_envs, IN_PLACE);
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_discounted_sum(x, num_steps, num_envs, discount, out));
}
OP(gae_shifted) {
  COUNT(num_steps, T, 8, RLCORE_E_SHAPE);
  COUNT(num_envs, N, 20, RLCORE_E_SHAPE);
  U32(accumulate, 0, 1, RLCORE_E_CONFIG);
  const uint32_t all = num_steps * num_envs;
  IN(float, reward, all, 1, 1, 0);
  IN(float, value, all, 1, 1, 0);
  IN(float, done, all, 0, 0, ANY);
  IN(float, next_value, num_envs, 1, 1, 0);
  IN(float, next_done, num_envs, 0, 1, 0);
  const rlcore_shifted_rollout shifted = {sizeof shifted, num_steps, num_envs, accumulate, reward, value, done, next_value, next_done};
  STRUCT(rlcore_shifted_rollout, r, shifted, 0);
  DISCOUNT;
  LAMBDA;
  TO(float, advantage, all, 0);
  TO(float, target, all, 0);
  return CALL_WRITING_ON(RLCORE_E_VALUE, rlcore_gae_shifted(r, discount, lambda, advantage, target));
}
OP(transpose) {
  U32(kind, 0, 2, RLCORE_E_CONFIG);
  COUNT(rows, 3, 12, RLCORE_E_SHAPE);
  COUNT(columns, 2, 12, RLCORE_E_SHAPE);
  COUNT(len, 2, 4, RLCORE_E_SHAPE);
  IN(float, x, rows * columns * len, 1, 1, ANY);
  TO(float, out, rows * columns * len, 0);
  return CALL(rlcore_transpose(kind, rows, columns, len, x, out));
}

/* ---- V-trace ---- */

static rlcore_vtrace *vtrace(int logits) {
  COUNT(num_steps, T, 8, RLCORE_E_SHAPE);
  COUNT(num_envs, N, 20, RLCORE_E_SHAPE);
  U32(accumulate, 0, 1, RLCORE_E_CONFIG);
  steps_of = num_steps, envs_of = num_envs;
  const uint32_t all = num_steps * num_envs;
  IN(float, log_rho, logits ? 0 : all, 0.5, 0.25, logits ? OPTIONAL | ANY | IN_PLACE : IN_PLACE);
  IN(float, discounts, all, 0.5, 0, 0);
  if (arguments[num_arguments - 1].chosen == INFINITE || arguments[num_arguments - 1].chosen == NOT_A_NUMBER)
    arguments[num_arguments - 1].flags |= ANY; /* NaN and infinity have another status */
  IN(float, reward, all, 1, 1, 0);
  IN(float, value, all, 1, 1, 0);
  IN(float, bootstrap_value, num_envs, 1, 1, 0);
  IN(uint8_t, truncated, all, 0, 1, OPTIONAL);
  IN(float, final_value, all, 1, 1, 0);
  if (arguments[num_arguments - 1].chosen == NOT_A_NUMBER) arguments[num_arguments - 1].flags |= ANY;
  F32(clip_rho, 1, -1, RLCORE_E_RANGE);
  F32(clip_c, 1, 0, RLCORE_E_RANGE);
  F32(clip_pg_rho, 1, -INFINITY, RLCORE_E_RANGE);
  F32(lambda, 0.5, 1.5, RLCORE_E_RANGE);
  F32(leak, 0, -0.5, RLCORE_E_RANGE);
  U32(reserved, 0, 0, RLCORE_E_CONFIG);
  const rlcore_vtrace whole = {sizeof whole, num_steps, num_envs, accumulate, log_rho, discounts, reward, value, bootstrap_value,
                               truncated, final_value, clip_rho, clip_c, clip_pg_rho, lambda, leak, reserved};
  STRUCT(rlcore_vtrace, batch, whole, 0);
  AS(v);
  return batch;
}
#define VTRACE_OUT \
  TO(float, vs, steps_of * envs_of, OPTIONAL); \
  TO(float, pg_advantage, steps_of * envs_of, OPTIONAL)
OP(vtrace_from_importance_weights) {
  const rlcore_vtrace *v = vtrace(0);
  VTRACE_OUT;
  return CALL(rlcore_vtrace_from_importance_weights(v, vs, pg_advantage));
}
OP(vtrace_from_importance_weights_range) {
  const rlcore_vtrace *v = vtrace(0);
  RANGE;
  VTRACE_OUT;
  return CALL(rlcore_vtrace_from_importance_weights_range(v, begin, end, vs, pg_advantage));
}
#define LOGITS_AND_OUT \
  COUNT(num_actions, 3, 6, RLCORE_E_SHAPE); \
  IN(float, behavior_logits, steps_of * envs_of * num_actions, 0, 0.125, 0); \
  IN(float, target_logits, steps_of * envs_of * num_actions, 1, -0.125, 0); \
  IN(int32_t, action, steps_of * envs_of, 1, 0, 0); \
  const rlcore_vtrace_logits of_both = {sizeof of_both, num_actions, behavior_logits, target_logits, action}; \
  STRUCT(rlcore_vtrace_logits, logits, of_both, 0); \
  VTRACE_OUT; \
  TO(float, to_log_rho, steps_of * envs_of, OPTIONAL); \
  TO(float, behavior_log_prob, steps_of * envs_of, OPTIONAL); \
  TO(float, target_log_prob, steps_of * envs_of, OPTIONAL); \
  U32(zero, 0, 0, RLCORE_E_CONFIG); \
  const rlcore_vtrace_out to = {sizeof to, zero, vs, pg_advantage, to_log_rho, behavior_log_prob, target_log_prob}; \
  STRUCT(rlcore_vtrace_out, out, to, 0)
OP(vtrace_from_logits) {
  const rlcore_vtrace *v = vtrace(1);
  LOGITS_AND_OUT;
  return CALL(rlcore_vtrace_from_logits(v, logits, out));
}
OP(vtrace_from_logits_range) {
  const rlcore_vtrace *v = vtrace(1);
  RANGE;
  LOGITS_AND_OUT;
  return CALL(rlcore_vtrace_from_logits_range(v, logits, begin, end, out));
}

/* ---- Rollout buffers ---- */

OP(rollout_buffer_row) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  U32(column, 0, 1, RLCORE_E_RANGE);
  U32(step, 2, T, RLCORE_E_RANGE);
  HANDLE(void *, out_row, 0);
  return CALL(rlcore_rollout_buffer_row(b, column, step, out_row));
}
OP(rollout_buffer_add) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  PLAIN_VALUES(N, OPTIONAL);
  arguments[1].flags |= OPTIONAL, arguments[2].flags |= OPTIONAL;
  IN(float, reward, N, 1, 1, 0);
  IN(float, value, N, 1, 1, OPTIONAL);
  IN(float, log_prob, N, -1, 0, OPTIONAL);
  IN(uint8_t, terminated, N, 0, 0, 0);
  IN(uint8_t, truncated, N, 0, 1, 0);
  IN(float, final_value, N, 1, 1, 0);
  if (arguments[num_arguments - 1].chosen == NOT_A_NUMBER) arguments[num_arguments - 1].flags |= ANY;
  IN(float, memory, N * M, 0, 0, 0);
  IN(float, raw_reward, N, 1, 1, OPTIONAL);
  U32(zero, 0, 0, RLCORE_E_CONFIG);
  const rlcore_rollout_step all = {sizeof all, zero, values, reward, value, log_prob, terminated, truncated, final_value, memory, raw_reward};
  STRUCT(rlcore_rollout_step, step, all, 0);
  return CALL(rlcore_rollout_buffer_add(b, step));
}
OP(rollout_buffer_cut) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  IN(uint8_t, gone, N, 1, 0, ANY);
  return CALL(rlcore_rollout_buffer_cut(b, gone));
}
OP(rollout_buffer_finish) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  IN(float, bootstrap_value, N, 1, 1, 0);
  IN(float, next_obs, N * 2, 1, 1, OPTIONAL | ANY);
  DISCOUNT;
  LAMBDA;
  return CALL(rlcore_rollout_buffer_finish(b, bootstrap_value, next_obs, discount, lambda));
}
OP(rollout_buffer_reset) {
  ON(rollout_buffer, b, ROLLOUT_FINISHED);
  return CALL(rlcore_rollout_buffer_reset(b));
}
#define LOOK(noun, T, T_object, sample, verb, flags) \
  OP(noun) { \
    CONST_ON(T_object, b, sample); \
    const T none = {.struct_size = sizeof none}; \
    STRUCT(T, out, none, OUT | (flags)); \
    return CALL(verb(b, out)); \
  }
LOOK(rollout_buffer_view, rlcore_rollout, rollout_buffer, ROLLOUT_OPEN, rlcore_rollout_buffer_view, POINTERS)
LOOK(rollout_buffer_extras, rlcore_rollout_extras, rollout_buffer, ROLLOUT_FINISHED, rlcore_rollout_buffer_extras, POINTERS)
LOOK(rollout_buffer_progress, rlcore_rollout_progress, rollout_buffer, ROLLOUT_OPEN, rlcore_rollout_buffer_progress, 0)
LOOK(trajectory_held, rlcore_trajectory_view, trajectory, TRAJECTORY_USED, rlcore_trajectory_held, POINTERS)
OP(rollout_buffer_column) {
  CONST_ON(rollout_buffer, b, ROLLOUT_OPEN);
  U32(column, 0, 1, RLCORE_E_RANGE);
  HANDLE(const void *, out_column, 0);
  return CALL(rlcore_rollout_buffer_column(b, column, out_column));
}
OP(rollout_buffer_draw) {
  ON(rollout_buffer, b, ROLLOUT_FINISHED);
  U32(minibatch_size, 2, 6, RLCORE_E_RANGE);
  U32(recurrence, 1, 3, RLCORE_E_RANGE);
  U32(index_len, T * N, T * N, RLCORE_E_SHAPE);
  TO(uint32_t, index, index_len & 7, 0);
  return CALL(rlcore_rollout_buffer_draw(b, minibatch_size, recurrence, index, index_len));
}
OP(rollout_buffer_draw_windows) {
  ON(rollout_buffer, b, ROLLOUT_FINISHED);
  COUNT(timesteps, 2, 4, RLCORE_E_RANGE);
  F64(end_chance, 0.5, 1.5, RLCORE_E_RANGE);
  U32(num_windows, 3, 4, RLCORE_OK);
  TO(uint32_t, windows, num_windows * 4, 0);
  return CALL(rlcore_rollout_buffer_draw_windows(b, timesteps, end_chance, (rlcore_window *)windows, num_windows));
}
OP(rollout_buffer_sample) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  HANDLE(uint32_t, out_step, 0);
  return CALL(rlcore_rollout_buffer_sample(b, out_step));
}
/* Memory for `rows` samples, and for `heads` values that belong to the first or the last row of a window. */
#define MINIBATCH(rows, heads, of_one, time) \
  TO(float, seen, (rows) * 2, OPTIONAL); \
  TO(int32_t, acted, rows, OPTIONAL); \
  struct two { void *at[2]; }; \
  struct two both = {{seen, acted}}; \
  STRUCT(struct two, columns, both, FIXED | OPTIONAL); \
  TO(float, log_prob, of_one, OPTIONAL); \
  TO(float, value, of_one, OPTIONAL); \
  TO(float, advantage, of_one, OPTIONAL); \
  TO(float, value_target, of_one, OPTIONAL); \
  TO(float, reward, of_one, OPTIONAL); \
  TO(float, mask, rows, OPTIONAL); \
  TO(float, memory, (heads) * M, OPTIONAL); \
  time; \
  U32(zero, 0, 0, RLCORE_E_CONFIG); \
  const rlcore_minibatch all = {sizeof all, zero, (void *const *)columns, log_prob, value, advantage, value_target, \
                                reward, mask, memory, timestep}; \
  STRUCT(rlcore_minibatch, out, all, 0)
OP(rollout_buffer_gather) {
  CONST_ON(rollout_buffer, b, ROLLOUT_FINISHED);
  COUNT(num_rows, 2, 4, RLCORE_OK);
  COUNT(window_len, 1, 3, RLCORE_E_RANGE);
  IN(uint32_t, index, num_rows, 0, 3, 0);
  MINIBATCH(num_rows * window_len, num_rows, num_rows * window_len, int32_t *timestep = NULL);
  return CALL(rlcore_rollout_buffer_gather(b, index, num_rows, window_len, out));
}
OP(rollout_buffer_gather_windows) {
  CONST_ON(rollout_buffer, b, ROLLOUT_FINISHED);
  COUNT(num_windows, 2, 4, RLCORE_OK);
  COUNT(timesteps, 2, 4, RLCORE_E_RANGE);
  IN(uint32_t, words, num_windows * 4, 1, 1, 0);
  if (words != NULL && arguments[num_arguments - 1].chosen < SHARED)
    for (uint32_t i = 0; i < num_windows; i++)
      memcpy((char *)(size_t)words + 16 * i, &(rlcore_window){.first = i * T % (N * T), .len = 1, .pad = timesteps - 1}, 16);
  U32(pad_token, UINT32_MAX, 4, RLCORE_OK);
  MINIBATCH(num_windows * timesteps, num_windows, num_windows, TO(int32_t, timestep, num_windows * timesteps, OPTIONAL));
  return CALL(rlcore_rollout_buffer_gather_windows(b, (const rlcore_window *)words, num_windows, timesteps, (int32_t)pad_token, out));
}
OP(rollout_buffer_log) {
  ON(rollout_buffer, b, ROLLOUT_OPEN);
  COUNT(metric, RLCORE_METRIC_OWN, 5, RLCORE_E_RANGE);
  F64(value, 1, INFINITY, RLCORE_E_VALUE);
  return CALL(rlcore_rollout_buffer_log(b, metric, value));
}
OP(rollout_buffer_read_log) {
  CONST_ON(rollout_buffer, b, ROLLOUT_OPEN);
  IN(uint64_t, next, 1, 0, 0, OUT);
  COUNT(len, 2, 4, RLCORE_OK);
  TO(uint64_t, rows, len * sizeof(rlcore_metric_row) / 8, 0);
  HANDLE(uint32_t, out_count, 0);
  HANDLE(uint64_t, out_lost, OPTIONAL);
  return CALL(rlcore_rollout_buffer_read_log(b, (uint64_t *)(size_t)next, (rlcore_metric_row *)rows, len, out_count, out_lost));
}
OP(rollout_buffer_format_progress) {
  CONST_ON(rollout_buffer, b, ROLLOUT_OPEN);
  TEXT;
  return CALL(rlcore_rollout_buffer_format_progress(b, text, text_size, out_len));
}
OP(rollout_buffer_format_step) {
  CONST_ON(rollout_buffer, b, ROLLOUT_OPEN);
  U32(step, 1, T, RLCORE_E_RANGE);
  TEXT;
  return CALL(rlcore_rollout_buffer_format_step(b, step, text, text_size, out_len));
}

/* ---- Rows ---- */

OP(rows_stack) {
  COUNT(width, 2, 4, RLCORE_OK);
  U32(kind, 0, 2, RLCORE_E_CONFIG);
  IN(float, one, 2 * width, 1, 1, ANY);
  IN(float, other, 3 * width, 1, 1, ANY);
  struct two { const void *at[2]; };
  const struct two both = {{one, other}};
  STRUCT(struct two, parts, both, FIXED);
  IN(uint32_t, num_rows, 2, 2, 1, 0);
  if (num_rows != NULL && arguments[num_arguments - 1].chosen >= NOT_A_NUMBER)
    memcpy((void *)(size_t)num_rows, (uint32_t[]){2, 1}, 8);
  U32(num_parts, 2, 2, RLCORE_OK);
  U32(num_out_rows, 5, 5, RLCORE_E_SHAPE);
  TO(float, out, (num_out_rows & 7) * width, 0);
  return CALL(rlcore_rows_stack((const void *const *)parts, num_rows, num_parts, width, kind, out, num_out_rows));
}
OP(rows_gather) {
  COUNT(num_rows, 3, 8, RLCORE_OK);
  COUNT(width, 2, 4, RLCORE_E_SHAPE);
  IN(float, x, num_rows * width, 1, 1, ANY);
  U32(kind, 0, 2, RLCORE_E_CONFIG);
  COUNT(num_index, 3, 4, RLCORE_OK);
  IN(int64_t, index, num_index, -1, 1, 0);
  TO(float, out, num_index * width, 0);
  return CALL(rlcore_rows_gather(x, num_rows, width, kind, index, num_index, out));
}
OP(rows_valid) {
  COUNT(num_parts, 3, 4, RLCORE_OK);
  IN(uint32_t, time_steps, num_parts, 1, 1, 0);
  COUNT(size, 4, 8, RLCORE_E_RANGE);
  TO(uint8_t, valid, num_parts * size, 0);
  return CALL(rlcore_rows_valid(time_steps, num_parts, size, valid));
}
OP(finite_rows) {
  U32(kind, RLCORE_F32, RLCORE_U8, RLCORE_E_CONFIG);
  COUNT(num_rows, 3, 8, RLCORE_OK);
  COUNT(len, 2, 8, RLCORE_OK);
  IN(float, x, num_rows * len, 1, 1, ANY);
  TO(uint8_t, ok, num_rows, 0);
  TO(uint32_t, out_num_bad, 1, 0);
  return CALL(rlcore_finite_rows(kind, x, num_rows, len, ok, out_num_bad));
}
OP(shift_rows) {
  COUNT(len, 3, 8, RLCORE_OK);
  COUNT(width, 2, 4, RLCORE_OK);
  IN(float, x, len * width, 1, 1, ANY);
  TO(float, out, len * len * width, 0);
  return CALL(rlcore_shift_rows(x, len, width, out));
}

/* ---- Trajectories ---- */

OP(trajectory_add) {
  ON(trajectory, t, TRAJECTORY_USED);
  COUNT(num_frames, 2, 5, RLCORE_E_SHAPE);
  PLAIN_VALUES(num_frames, 0);
  IN(float, reward, num_frames, 1, 1, 0);
  IN(float, value, num_frames, 1, 1, OPTIONAL);
  IN(uint8_t, terminated, num_frames, 0, 0, 0);
  IN(uint8_t, truncated, num_frames, 0, 0, 0);
  IN(float, memory, num_frames * M, 0, 1, 0);
  const rlcore_trajectory_frames all = {sizeof all, num_frames, values, reward, value, terminated, truncated, memory};
  STRUCT(rlcore_trajectory_frames, frames, all, 0);
  return CALL(rlcore_trajectory_add(t, frames));
}
OP(trajectory_pop) {
  ON(trajectory, t, TRAJECTORY_USED);
  return CALL(rlcore_trajectory_pop(t));
}
OP(trajectory_reset) {
  ON(trajectory, t, TRAJECTORY_USED);
  return CALL(rlcore_trajectory_reset(t));
}
OP(trajectory_column) {
  CONST_ON(trajectory, t, TRAJECTORY_USED);
  U32(column, 0, 1, RLCORE_E_RANGE);
  HANDLE(const void *, out_column, 0);
  return CALL(rlcore_trajectory_column(t, column, out_column));
}
static rlcore_trajectory_rows *trajectory_rows(void) {
  COUNT(num_rows, 4, 8, RLCORE_E_RANGE);
  U32(time_flat, 0, 1, RLCORE_E_CONFIG);
  TO(float, seen, num_rows * 2, OPTIONAL);
  TO(int32_t, acted, num_rows, OPTIONAL);
  struct two { void *at[2]; };
  const struct two both = {{seen, acted}};
  STRUCT(struct two, columns, both, FIXED | OPTIONAL);
  TO(float, returns, num_rows, 0);
  TO(float, advantage, num_rows, 0);
  TO(float, memory, (time_flat ? num_rows : 1) * M, OPTIONAL);
  TO(uint32_t, time_steps, time_flat ? num_rows : 1, OPTIONAL);
  TO(uint8_t, valid, num_rows, OPTIONAL);
  U32(reserved, 0, 0, RLCORE_E_CONFIG);
  const rlcore_trajectory_rows all = {sizeof all, num_rows, time_flat, reserved, (void *const *)columns, returns,
                                      advantage, memory, time_steps, valid};
  STRUCT(rlcore_trajectory_rows, out, all, 0);
  return out;
}
OP(trajectory_process) {
  CONST_ON(trajectory, t, TRAJECTORY_USED);
  DISCOUNT;
  LAMBDA;
  F32(bootstrap_value, 1, INFINITY, RLCORE_E_VALUE);
  const rlcore_trajectory_rows *out = trajectory_rows();
  return CALL(rlcore_trajectory_process(t, discount, lambda, bootstrap_value, out));
}
OP(trajectory_process_rp) {
  CONST_ON(trajectory, t, TRAJECTORY_USED);
  F32(reward_threshold, 0.5, -1, RLCORE_E_RANGE);
  const rlcore_trajectory_rows *out = trajectory_rows();
  HANDLE(uint32_t, out_class, 0);
  return CALL(rlcore_trajectory_process_rp(t, reward_threshold, out, out_class));
}
OP(reward_class_of) {
  F32(reward, 1, INFINITY, RLCORE_E_VALUE);
  F32(threshold, 0.5, -1, RLCORE_E_RANGE);
  HANDLE(uint32_t, out_class, 0);
  return CALL(rlcore_reward_class_of(reward, threshold, out_class));
}

OP(episode_type_of) {
  U32(index, 4, 255, RLCORE_OK);
  U32(num_train, 2, 255, RLCORE_OK);
  U32(num_test, 1, 255, RLCORE_OK);
  HANDLE(uint32_t, out_type, 0);
  return CALL(rlcore_episode_type_of(index, num_train, num_test, out_type));
}

/* ---- Queues ---- */

OP(queue_push) {
  ON(queue, q, QUEUE_USED);
  SIZE(size, 5, 16, RLCORE_E_OVERFLOW);
  IN(uint8_t, item, size & 31, 1, 1, 0);
  return CALL(rlcore_queue_push(q, item, size));
}
OP(queue_pop) {
  ON(queue, q, QUEUE_USED);
  SIZE(room, 16, 16, RLCORE_E_OVERFLOW);
  TO(uint8_t, item, room & 31, 0);
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_queue_pop(q, item, room, out_size));
}
OP(queue_len) {
  CONST_ON(queue, q, QUEUE_USED);
  HANDLE(uint32_t, out_len, 0);
  return CALL(rlcore_queue_len(q, out_len));
}

/* ---- Rollout files ---- */

static rlcore_rollout_file file_of; /* the description of the current call's file */

#undef BAD
#define BAD(field, value) FLAW(rlcore_rollout_file, field, value)
static const struct flaw file_flaws[] = {
    BAD(num_steps, 0), BAD(num_steps, UINT32_MAX), BAD(num_envs, 0), BAD(obs_kind, 3), BAD(obs_rank, 5),
    BAD(obs_rank, 0), BAD(obs_dims[0], 0), BAD(obs_dims[3], 2), BAD(action_kind, 3), BAD(action_kind, UINT32_MAX),
    BAD(action_len, 0), BAD(num_finals, T * N + 1), BAD(reserved, 1)};
static rlcore_rollout_file *rollout_file(void) {
  rlcore_rollout_file f = {sizeof f, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, M, 0, 0, 1, 2, 3, 4};
  SPOIL(f, file_flaws);
  file_of = f;
  STRUCT(rlcore_rollout_file, file, f, 0);
  return file;
}
#define ARRAYS(A, flags) \
  A(float, obs, (T + 1) * N * 2, flags); \
  A(int32_t, action, T * N, flags); \
  A(float, log_prob, T * N, flags); \
  A(float, value, T * N, flags); \
  A(float, bootstrap_value, N, flags); \
  A(float, reward, T * N, flags); \
  A(uint8_t, terminated, T * N, flags); \
  A(uint8_t, truncated, T * N, flags); \
  A(uint8_t, valid, T * N, flags); \
  A(float, state, N * M, flags); \
  U32(reserved, 0, 0, RLCORE_E_CONFIG); \
  const rlcore_rollout_arrays all = { \
      sizeof all, reserved, (void *)(size_t)obs, (void *)(size_t)action, (float *)(size_t)log_prob, (float *)(size_t)value, \
      (float *)(size_t)bootstrap_value, (float *)(size_t)reward, (uint8_t *)(size_t)terminated, (uint8_t *)(size_t)truncated, \
      (uint8_t *)(size_t)valid, NULL, NULL, NULL, (float *)(size_t)state}; \
  STRUCT(rlcore_rollout_arrays, arrays, all, 0)
#define READ_ONE(T, name, len, flags) IN(T, name, len, 0, 0, flags)
OP(rollout_file_size) {
  const rlcore_rollout_file *file = rollout_file();
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_rollout_file_size(file, out_size));
}
OP(rollout_file_write) {
  const rlcore_rollout_file *file = rollout_file();
  ARRAYS(READ_ONE, ANY);
  SIZE(out_size, 8000, 8000, RLCORE_E_OVERFLOW);
  TO(uint8_t, out, out_size & 8191, 0);
  return CALL(rlcore_rollout_file_write(file, arrays, out, out_size));
}
/* A whole file, with its header. */
static const uint8_t *a_file(size_t *size) {
  static uint8_t whole[SMALL];
  static size_t whole_size;
  if (whole_size == 0) {
    const rlcore_rollout_file f = {sizeof f, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, M, 0, 0, 1, 2, 3, 4};
    float zeros[(T + 1) * N * 2] = {0};
    rlcore_rollout_arrays a = {.struct_size = sizeof a, .obs = zeros, .action = zeros, .log_prob = zeros, .value = zeros,
                               .bootstrap_value = zeros, .reward = zeros, .terminated = (uint8_t *)zeros,
                               .truncated = (uint8_t *)zeros, .valid = (uint8_t *)zeros, .state = zeros};
    FINE(rlcore_rollout_file_size(&f, &whole_size));
    FINE(rlcore_rollout_file_write(&f, &a, whole, whole_size));
  }
  U32(cut, 0, 255, RLCORE_E_SIZE);
  *size = whole_size - (cut < whole_size ? cut : whole_size);
  IN(uint8_t, bytes, *size, 0, 0, 0);
  if (bytes != NULL && arguments[num_arguments - 1].chosen < SHARED) memcpy((void *)(size_t)bytes, whole, *size);
  return bytes;
}
OP(rollout_file_check) {
  size_t size;
  const uint8_t *bytes = a_file(&size);
  const rlcore_rollout_file none = {.struct_size = sizeof none};
  STRUCT(rlcore_rollout_file, out, none, OUT);
  return CALL(rlcore_rollout_file_check(bytes, size, out));
}
OP(rollout_file_read) {
  size_t size;
  const uint8_t *bytes = a_file(&size);
  ARRAYS(TO, OPTIONAL);
  return CALL(rlcore_rollout_file_read(bytes, size, arrays));
}

/* ---- Policies' distributions ---- */

static rlcore_logits *logits_of(void) {
  COUNT(num_rows, 3, 6, RLCORE_E_SHAPE);
  COUNT(num_choices, 2, 4, RLCORE_E_SHAPE);
  IN(uint32_t, n, num_choices, 2, 0, 0);
  if (n != NULL && arguments[num_arguments - 1].chosen >= SHARED) /* arrays are for 2 choices */
    for (uint32_t i = 0; i < num_choices; i++) memcpy((char *)(size_t)n + 4 * i, &(uint32_t){arguments[num_arguments - 1].chosen % 3}, 4);
  IN(float, logits, num_rows * num_choices * 2, 0, 0.5, 0);
  IN(uint8_t, mask, num_rows * num_choices * 2, 1, 0, OPTIONAL);
  U32(reserved, 0, 0, RLCORE_E_CONFIG);
  steps_of = num_rows, envs_of = num_choices;
  const rlcore_logits all = {sizeof all, num_rows, num_choices, reserved, n, logits, mask};
  STRUCT(rlcore_logits, batch, all, 0);
  return batch;
}
OP(categorical_log_softmax) {
  const rlcore_logits *batch = logits_of();
  TO(float, out, steps_of * envs_of * 2, 0);
  return CALL(rlcore_categorical_log_softmax(batch, out));
}
OP(categorical_log_prob) {
  const rlcore_logits *batch = logits_of();
  IN(int32_t, action, steps_of * envs_of, 1, 0, 0);
  TO(float, log_prob, steps_of, 0);
  return CALL(rlcore_categorical_log_prob(batch, action, log_prob));
}
OP(categorical_entropy) {
  const rlcore_logits *batch = logits_of();
  TO(float, entropy, steps_of, 0);
  return CALL(rlcore_categorical_entropy(batch, entropy));
}
OP(categorical_sample) {
  const rlcore_logits *batch = logits_of();
  SAMPLING(0);
  IN(float, uniform, steps_of * envs_of, 0.5, 0, 0);
  TO(int32_t, action, steps_of * envs_of, 0);
  return CALL(rlcore_categorical_sample(batch, sampling, uniform, action));
}
static rlcore_gaussian *gaussian_of(void) {
  COUNT(num_rows, 3, 6, RLCORE_E_SHAPE);
  COUNT(action_len, 2, 4, RLCORE_E_SHAPE);
  IN(float, mean, num_rows * action_len, 0, 0.5, 0);
  IN(float, log_std, action_len, 0, 0.5, 0);
  if (arguments[num_arguments - 1].chosen == INFINITE || arguments[num_arguments - 1].chosen == NOT_A_NUMBER)
    arguments[num_arguments - 1].flags |= ANY; /* NaN and infinity have another status */
  U32(reserved, 0, 0, RLCORE_E_CONFIG);
  steps_of = num_rows, envs_of = action_len;
  const rlcore_gaussian all = {sizeof all, num_rows, action_len, reserved, mean, log_std};
  STRUCT(rlcore_gaussian, batch, all, 0);
  return batch;
}
OP(gaussian_log_prob) {
  const rlcore_gaussian *batch = gaussian_of();
  IN(float, action, steps_of * envs_of, 1, 0.5, 0);
  TO(float, log_prob, steps_of, 0);
  return CALL(rlcore_gaussian_log_prob(batch, action, log_prob));
}
OP(gaussian_entropy) {
  COUNT(action_len, 2, 4, RLCORE_E_SHAPE);
  IN(float, log_std, action_len, 0, 0.5, 0);
  TO(float, out, 1, 0);
  return CALL(rlcore_gaussian_entropy(log_std, action_len, out));
}
OP(gaussian_sample) {
  const rlcore_gaussian *batch = gaussian_of();
  IN(float, normal, steps_of * envs_of, 1, 0.5, 0);
  TO(float, action, steps_of * envs_of, 0);
  return CALL(rlcore_gaussian_sample(batch, normal, action));
}
OP(gaussian_squash) {
  SIZE(len, 5, 40, RLCORE_E_OVERFLOW);
  IN(float, action, len & 63, 1, 0.5, 0);
  TO(float, squashed, len & 63, 0);
  return CALL(rlcore_gaussian_squash(action, len, squashed));
}
OP(gaussian_squash_log_prob) {
  COUNT(num_rows, 3, 6, RLCORE_E_SHAPE);
  COUNT(action_len, 2, 4, RLCORE_E_SHAPE);
  IN(float, action, num_rows * action_len, 1, 0.5, 0);
  IN(float, log_prob, num_rows, -1, 0.5, OUT);
  return CALL(rlcore_gaussian_squash_log_prob(action, num_rows, action_len, (float *)(size_t)log_prob));
}

/* ---- Losses ---- */

#define LOSS(name, ratios) \
  OP(name) { \
    COUNT(num_rows, 3, 20, RLCORE_E_SHAPE); \
    F32(clip, 0.2, -1, RLCORE_E_RANGE); \
    F32(value_clip, 0.5, -1, RLCORE_E_RANGE); \
    F32(value_coef, 0.5, -1, RLCORE_E_RANGE); \
    IN(float, log_prob, num_rows, -1, 0.25, 0); \
    IN(float, old_log_prob, num_rows, -0.5, 0, (ratios) ? 0 : OPTIONAL); \
    IN(float, advantage, num_rows, -1, 1, 0); \
    IN(float, value, num_rows, 1, 1, 0); \
    IN(float, old_value, num_rows, 0, 1, 0); \
    IN(float, value_target, num_rows, 2, 0.5, 0); \
    U32(reserved, 0, 0, RLCORE_E_CONFIG); \
    const rlcore_loss_batch all = {sizeof all, num_rows, clip, value_clip, value_coef, reserved, log_prob, old_log_prob, \
                                   advantage, value, old_value, value_target}; \
    STRUCT(rlcore_loss_batch, batch, all, 0); \
    TO(float, d_log_prob, num_rows, 0); \
    TO(float, d_value, num_rows, 0); \
    TO(float, losses, 4, 0); \
    return CALL(rlcore_##name(batch, d_log_prob, d_value, (rlcore_losses *)(void *)losses)); \
  }
LOSS(actor_critic_loss, 0)
LOSS(ppo_loss, 1)
OP(value_loss) {
  SIZE(len, 5, 40, RLCORE_E_OVERFLOW);
  IN(float, value, len & 63, 1, 1, 0);
  IN(float, value_target, len & 63, 2, 0.5, 0);
  TO(float, d_value, len & 63, 0);
  TO(float, loss, 1, 0);
  return CALL(rlcore_value_loss(value, value_target, len, d_value, loss));
}
OP(reward_class_loss) {
  COUNT(num_rows, 3, 20, RLCORE_E_SHAPE);
  IN(float, logits, num_rows * 3, 0, 0.5, 0);
  IN(int32_t, reward_class, num_rows, 0, 1, 0);
  TO(float, d_logits, num_rows * 3, 0);
  TO(float, loss, 1, 0);
  return CALL(rlcore_reward_class_loss(logits, reward_class, num_rows, d_logits, loss));
}
OP(pixel_control_loss) {
  COUNT(num_rows, 3, 6, RLCORE_E_SHAPE);
  COUNT(num_cells, 4, 8, RLCORE_E_SHAPE);
  COUNT(num_choices, 3, 5, RLCORE_E_SHAPE);
  const uint32_t cells = num_rows * num_cells;
  IN(float, advantage, cells * num_choices, 0, 0.5, 0);
  IN(float, value, cells, 1, 0.25, OPTIONAL);
  IN(float, target, cells, 2, 0.5, 0);
  IN(int32_t, action, num_rows, 0, 1, 0);
  const rlcore_pixel_control all = {sizeof all, num_rows, num_cells, num_choices, advantage, value, target, action};
  STRUCT(rlcore_pixel_control, batch, all, 0);
  TO(float, d_advantage, cells * num_choices, 0);
  TO(float, d_value, cells, value == NULL ? OPTIONAL : 0);
  TO(float, loss, 1, 0);
  return CALL(rlcore_pixel_control_loss(batch, d_advantage, d_value, loss));
}
OP(categorical_gradient) {
  const rlcore_logits *batch = logits_of();
  IN(int32_t, action, steps_of * envs_of, 1, 0, 0);
  IN(float, d_log_prob, steps_of, -1, 0.5, 0);
  IN(float, d_entropy, steps_of, 1, 0.5, 0);
  TO(float, d_logits, steps_of * envs_of * 2, 0);
  return CALL(rlcore_categorical_gradient(batch, action, d_log_prob, d_entropy, d_logits));
}
OP(gaussian_gradient) {
  const rlcore_gaussian *batch = gaussian_of();
  IN(float, action, steps_of * envs_of, 1, 0.5, 0);
  IN(float, d_log_prob, steps_of, -1, 0.5, 0);
  IN(float, d_entropy, steps_of, 1, 0.5, 0);
  TO(float, d_mean, steps_of * envs_of, 0);
  TO(float, d_log_std, envs_of, 0);
  return CALL(rlcore_gaussian_gradient(batch, action, d_log_prob, d_entropy, d_mean, d_log_std));
}

/* ---- Means and variances ---- */

#define MOMENTS(flags) \
  IN(double, mean, num_columns, 0, 1, flags); \
  IN(double, var, num_columns, 1, 1, flags)
#define RUNNING \
  MOMENTS(OUT); \
  arguments[num_arguments - 2].name = "to_mean"; \
  AS(to_var); \
  IN(double, rows_seen, 1, 4, 0, OUT); \
  AS(count); \
  if (arguments[num_arguments - 1].chosen == INFINITE) arguments[num_arguments - 1].flags |= ANY; \
  double *to_mean = (double *)(size_t)mean, *to_var = (double *)(size_t)var, *count = (double *)(size_t)rows_seen
OP(moments_reset) {
  COUNT(num_columns, 3, 8, RLCORE_E_SHAPE);
  F64(initial_count, 1e-4, 2, RLCORE_E_RANGE);
  TO(double, mean, num_columns, 0);
  TO(double, var, num_columns, 0);
  TO(double, count, 1, 0);
  return CALL(rlcore_moments_reset(num_columns, initial_count, mean, var, count));
}
OP(moments_update) {
  COUNT(num_rows, 3, 8, RLCORE_E_SHAPE);
  COUNT(num_columns, 3, 8, RLCORE_E_SHAPE);
  IN(float, x, num_rows * num_columns, 1, 1, 0);
  RUNNING;
  return CALL(rlcore_moments_update(x, num_rows, num_columns, to_mean, to_var, count));
}
OP(moments_merge) {
  COUNT(num_columns, 3, 8, RLCORE_E_SHAPE);
  IN(double, with_mean, num_columns, 1, 1, 0);
  IN(double, with_var, num_columns, 1, 1, 0);
  F64(with_count, 4, -1, RLCORE_E_RANGE);
  RUNNING;
  return CALL(rlcore_moments_merge(num_columns, with_mean, with_var, with_count, to_mean, to_var, count));
}
OP(normalize) {
  COUNT(num_rows, 3, 8, RLCORE_E_SHAPE);
  COUNT(num_columns, 3, 8, RLCORE_E_SHAPE);
  IN(float, x, num_rows * num_columns, 1, 1, IN_PLACE);
  MOMENTS(0);
  F64(epsilon, 1e-8, 0, RLCORE_E_RANGE);
  F32(clip, 10, 0, RLCORE_E_RANGE);
  STRUCT_OF(rlcore_normalizer, normalizer, 0, .num_columns = num_columns, .mean = mean, .variance = var, .epsilon = epsilon,
            .clip = clip);
  TO(float, out, num_rows * num_columns, 0);
  return CALL(rlcore_normalize(normalizer, x, num_rows, out));
}
OP(standardize) {
  SIZE(len, 5, 40, RLCORE_E_OVERFLOW);
  IN(float, x, len & 63, 1, 1, OUT);
  F64(epsilon, 1e-8, -1, RLCORE_E_RANGE);
  return CALL(rlcore_standardize((float *)(size_t)x, len, epsilon));
}
OP(explained_variance) {
  SIZE(len, 5, 40, RLCORE_E_OVERFLOW);
  IN(float, value, len & 63, 1, 1, 0);
  IN(float, target, len & 63, 2, 1, 0);
  TO(double, out, 1, 0);
  return CALL(rlcore_explained_variance(value, target, len, out));
}

/* ---- Pictures ---- */

OP(image_gray) {
  SIZE(num_pixels, 20, 60, RLCORE_E_OVERFLOW);
  IN(uint8_t, rgb, (num_pixels & 63) * 3, 0, 3, 0);
  TO(uint8_t, out, num_pixels & 63, 0);
  return CALL(rlcore_image_gray(rgb, num_pixels, out));
}
#define PICTURE(name, h, w, c) \
  COUNT(name##_height, h, 12, RLCORE_E_CONFIG); \
  COUNT(name##_width, w, 12, RLCORE_E_CONFIG); \
  COUNT(name##_channels, c, 4, RLCORE_E_CONFIG); \
  const rlcore_image_size name##_value = {name##_height, name##_width, name##_channels}; \
  const size_t name##_len = (size_t)name##_height * name##_width * name##_channels; \
  STRUCT(rlcore_image_size, name, name##_value, FIXED)
OP(image_scratch_len) {
  PICTURE(from, 8, 8, 3);
  PICTURE(to, 4, 4, 1);
  (void)from_len, (void)to_len;
  HANDLE(size_t, out_len, 0);
  return CALL(rlcore_image_scratch_len(from, to, out_len));
}
#define SCRATCH_ROOM \
  SIZE(scratch_len, 1000, 1000, RLCORE_E_OVERFLOW); \
  TO(float, scratch, scratch_len & 1023, SCRATCH | OPTIONAL)
OP(image_area) {
  PICTURE(from, 8, 8, 3);
  IN(uint8_t, src, from_len, 0, 1, 0);
  PICTURE(to, 4, 4, 3);
  TO(uint8_t, out, to_len, 0);
  SCRATCH_ROOM;
  return CALL(rlcore_image_area(from, src, to, out, scratch, scratch_len));
}
OP(image_warp) {
  PICTURE(from, 8, 8, 3);
  IN(uint8_t, a, from_len, 0, 1, 0);
  IN(uint8_t, b, from_len, 5, 1, OPTIONAL);
  PICTURE(to, 4, 4, 1);
  TO(uint8_t, out, to_len, 0);
  SCRATCH_ROOM;
  return CALL(rlcore_image_warp(from, a, b, to, out, scratch, scratch_len));
}
OP(image_rescale42) {
  IN(uint8_t, rgb, 210 * 160 * 3, 0, 1, 0);
  TO(float, out, 42 * 42, 0);
  return CALL(rlcore_image_rescale42(rgb, out));
}
OP(image_scale) {
  SIZE(len, 20, 60, RLCORE_E_OVERFLOW);
  IN(uint8_t, x, len & 63, 0, 3, 0);
  TO(float, out, len & 63, 0);
  return CALL(rlcore_image_scale(x, len, out));
}
OP(image_channels_first) {
  PICTURE(size, 4, 5, 3);
  IN(uint8_t, x, size_len, 0, 1, 0);
  TO(uint8_t, out, size_len, 0);
  return CALL(rlcore_image_channels_first(size, x, out));
}
OP(image_tile_shape) {
  COUNT(num_images, 5, 200, RLCORE_E_RANGE);
  HANDLE(uint32_t, out_rows, 0);
  HANDLE(uint32_t, out_columns, 0);
  return CALL(rlcore_image_tile_shape(num_images, out_rows, out_columns));
}
OP(image_tile) {
  COUNT(num_images, 3, 9, RLCORE_E_RANGE);
  PICTURE(size, 4, 5, 3);
  IN(uint8_t, images, num_images * size_len, 0, 1, 0);
  uint32_t rows = 0, columns = 0;
  if (num_images > 0) FINE(rlcore_image_tile_shape(num_images, &rows, &columns));
  TO(uint8_t, out, rows * columns * size_len, 0);
  return CALL(rlcore_image_tile(num_images, size, images, out));
}
OP(image_text_size) {
  PICTURE(size, 8, 8, 3);
  (void)size_len;
  HANDLE(size_t, out_size, 0);
  return CALL(rlcore_image_text_size(size, out_size));
}
OP(image_text) {
  PICTURE(size, 8, 8, 3);
  IN(uint8_t, picture, size_len, 0, 1, 0);
  size_t text_size = 0;
  if (rlcore_image_text_size(&size_value, &text_size) != RLCORE_OK) text_size = 0;
  TO(uint8_t, out, text_size, 0);
  return CALL(rlcore_image_text(size, picture, out));
}

#endif
