/* Calls each of the main kernels on fixed numbers under callgrind, which dumps its instruction count after each kernel.
   `kernels LEVEL`: the CPU level. Blocks and arrays are static, and no input contains addresses. */
#include <math.h>
#include <rlcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "../../tests/system/rows.h"

static _Alignas(64) unsigned char pool[64 << 20];
static size_t used;

static void check(rlcore_status status, const char *what) {
  if (status == RLCORE_OK) return;
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("%s: %s\n", what, why);
  exit(1);
}
#define CHECK(call) check(call, #call)

/* Counts the instructions of CALLS times CALL, after one CALL that is not counted. */
#define COUNT(NAME, CALLS, CALL)                                   \
  do {                                                             \
    CHECK(CALL);                                                   \
    rlcore_status bad = RLCORE_OK;                                 \
    CALLGRIND_ZERO_STATS;                                          \
    for (int call = 0; call < (CALLS); call++) bad |= CALL;        \
    CALLGRIND_DUMP_STATS_AT(NAME " " #CALLS);                      \
    check(bad, NAME);                                              \
  } while (0)

static void *room(size_t count, size_t size) {
  const size_t bytes = (count * size + 63) / 64 * 64;
  if (sizeof pool - used < bytes) puts("the pool is too small"), exit(1);
  used += bytes;
  return pool + used - bytes;
}

static uint32_t seed = 1;
static uint32_t draw(void) { return (seed = seed * 1664525U + 1013904223U) >> 8; }

static float *floats(size_t len, float low, float high) {
  float *x = room(len, sizeof *x);
  for (size_t i = 0; i < len; i++) x[i] = low + (high - low) * ((float)draw() / 16777216.0F);
  return x;
}

static void *bytes(size_t len, uint32_t one_in) {  /* one_in 0: random bytes; else flags, one in `one_in` set */
  uint8_t *x = room(len, 1);
  for (size_t i = 0; i < len; i++) x[i] = (uint8_t)(one_in ? draw() % one_in == 0 : draw());
  return x;
}

static int32_t *choices(size_t len, uint32_t n) {
  int32_t *x = room(len, sizeof *x);
  for (size_t i = 0; i < len; i++) x[i] = (int32_t)(draw() % n);
  return x;
}

/* ---- environments */

static int32_t counter_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)rng;
  *(uint64_t *)state = 0, *(float *)obs = 0.0F;
  return 0;
}

static int32_t counter_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row, (void)rng, (void)action;
  *(float *)obs = (float)++*(uint64_t *)state;
  out->reward = 1.0F;
  return 0;
}

/* A screen of which only one line changes in a step, so that the count is that of the wrappers. */
static int32_t screen_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)rng;
  *(uint64_t *)state = 0;
  for (int i = 0; i < 210 * 160 * 3; i++) ((uint8_t *)obs)[i] = (uint8_t)(i / 7);
  return 0;
}

static int32_t screen_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row, (void)rng, (void)action;
  const uint64_t line = ++*(uint64_t *)state % 210;
  for (int i = 0; i < 480; i++) ((uint8_t *)obs)[line * 480 + i] ^= 0x55;
  out->reward = 1.0F;
  return 0;
}

static int32_t screen_lives(void *user, uint32_t row, const void *state, uint32_t *out_lives) {
  (void)user, (void)row, (void)state;
  *out_lives = 3;
  return 0;
}

static const uint32_t two = 2;
static const rlcore_env_def counter = {
    .struct_size = sizeof counter, .env_id = 1000, .state_size = 8,
    .obs = {.kind = RLCORE_F32, .len = 1}, .action = {.kind = RLCORE_I32, .len = 1, .n = &two},
    .reset = counter_reset, .step = counter_step};

/* A vectorized environment and the arrays of its steps; the array of actions changes from call to call. */
enum { ACTIONS = 64 };
static struct stage {
  rlcore_env *env;
  rlcore_vecenv *envs;
  rlcore_rows rows;
  void *action[ACTIONS];
  int at;
} stage;

static void set(const rlcore_env_def *def, uint32_t n) {
  rlcore_vecenv_config config;
  rlcore_space obs, action;
  rlcore_env *env;
  size_t size;
  CHECK(rlcore_env_size(def, &size));
  CHECK(rlcore_env_init(room(size, 1), size, def, &env));
  stage = (struct stage){.env = env};
  CHECK(rlcore_env_spaces(env, &obs, &action));
  const size_t width = obs.kind == RLCORE_U8 ? 1 : sizeof(float);
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = n;
  CHECK(rlcore_vecenv_size(env, &config, &size));
  CHECK(rlcore_vecenv_init(room(size, 1), size, env, &config, &stage.envs));
  /* As in most hosts, actions lie between the block and the outputs of a step. */
  for (int i = 0; i < ACTIONS; i++)
    stage.action[i] = action.kind == RLCORE_I32 ? (void *)choices(n, action.n[0]) : (void *)floats(n, -1, 1);
  stage.rows = (rlcore_rows){.struct_size = sizeof stage.rows, .obs = room((size_t)n * obs.len, width), .reward = room(n, sizeof(float)),
                             .terminated = room(n, 1), .truncated = room(n, 1), .final_obs = room((size_t)n * obs.len, width)};
  CHECK(rlcore_vecenv_reset(stage.envs, env, NULL, stage.rows.obs));
}

static rlcore_status step(void) {
  stage.rows.action = stage.action[stage.at++ % ACTIONS];
  return rlcore_vecenv_step(stage.envs, stage.env, &stage.rows);
}

static void builtin(uint32_t env_id, uint32_t n) {
  const rlcore_env_def env = {.struct_size = sizeof env, .env_id = env_id};
  set(&env, n);
}

static void environments(void) {
  set(&counter, 1);
  COUNT("step/callback/N1", 1000, step());
  set(&counter, 64);
  COUNT("step/callback/N64", 100, step());
  builtin(RLCORE_ENV_CARTPOLE, 1);
  COUNT("step/CartPole-v1/N1", 1000, step());
  static const rlcore_wrapper list[] = {
      {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25F}, {.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 200},
      {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = 0.5F}, {.kind = RLCORE_WRAP_FRAME_STACK, .count = 4}};
  rlcore_env_def cart = {.struct_size = sizeof cart, .env_id = RLCORE_ENV_CARTPOLE, .wrappers = list, .num_wrappers = 1};
  set(&cart, 1);
  COUNT("wrap/CartPole-v1/1/N1", 1000, step());
  cart.num_wrappers = 4;
  set(&cart, 1);
  COUNT("wrap/CartPole-v1/4/N1", 1000, step());
  builtin(RLCORE_ENV_CARTPOLE, 64);
  COUNT("step/CartPole-v1/N64", 100, step());
  builtin(RLCORE_ENV_MOUNTAIN_CAR, 64);
  COUNT("step/MountainCar-v0/N64", 100, step());
  builtin(RLCORE_ENV_ACROBOT, 64);
  COUNT("step/Acrobot-v1/N64", 100, step());
  builtin(RLCORE_ENV_PENDULUM, 64);
  COUNT("step/Pendulum-v1/N64", 100, step());

  static const rlcore_field screen = {.kind = RLCORE_U8, .rank = 3, .dims = {210, 160, 3}};
  static const uint32_t six = 6;
  rlcore_env_def env = {
      .struct_size = sizeof env, .env_id = 1001, .state_size = 8, .obs = {.kind = RLCORE_U8, .len = 210 * 160 * 3},
      .action = {.kind = RLCORE_I32, .len = 1, .n = &six}, .reset = screen_reset, .step = screen_step,
      .lives = screen_lives, .fields = &screen, .num_fields = 1};
  rlcore_wrapper screens[11];
  rlcore_atari_config config;
  CHECK(rlcore_atari_config_init(&config, sizeof config));
  config.stack = 4;
  CHECK(rlcore_wrappers_atari(&config, screens, 11, &env.num_wrappers));
  env.wrappers = screens;
  set(&env, 1);
  COUNT("wrap/atari-84x84x4/N1", 10, step());
  config.screen = RLCORE_ATARI_MEAN42, config.stack = 0;
  CHECK(rlcore_wrappers_atari(&config, screens, 11, &env.num_wrappers));
  set(&env, 1);
  COUNT("wrap/atari-42x42/N1", 10, step());
}

/* ---- estimators, statistics and distributions */

static void estimators(void) {
  enum { T = 128, N = 256 };
  float *a = room(T * N, 4), *b = room(T * N, 4);
  const float *q = floats(T * N, -1, 1), *log_rho = floats(T * N, -1, 1), *discounts = floats(T * N, 0, 1);
  rlcore_rollout r = {sizeof r, T, N, RLCORE_ACCUMULATE_F32, floats(T * N, -1, 1), floats(T * N, -1, 1),
                      floats(N, -1, 1), bytes(T * N, 50), bytes(T * N, 100), floats(T * N, -1, 1)};
  COUNT("gae/T128xN256", 2, rlcore_gae(&r, 0.99F, 0.95F, a, b));
  COUNT("lambda_returns/T128xN256", 2, rlcore_lambda_returns(&r, 0.99F, 0.95F, a));
  COUNT("td_lambda/T128xN256", 2, rlcore_td_lambda(&r, 0.99F, 0.95F, a, b));
  COUNT("n_step_returns/n5/T128xN256", 2, rlcore_n_step_returns(&r, 0.99F, 5, a));
  COUNT("upgo/T128xN256", 2, rlcore_upgo(&r, 0.99F, a, b));
  COUNT("retrace/T128xN256", 2, rlcore_retrace(&r, OFF_POLICY_OF(q, log_rho, 0.99F, 0.95F), a, b));
  COUNT("discounted_sum/T128xN256", 2, rlcore_discounted_sum(r.reward, T, N, 0.99F, a));
  r.accumulate = RLCORE_ACCUMULATE_F64;
  COUNT("gae/f64/T128xN256", 2, rlcore_gae(&r, 0.99F, 0.95F, a, b));
  r.accumulate = RLCORE_ACCUMULATE_F32, r.num_envs = 8;
  COUNT("gae/T128xN8", 10, rlcore_gae(&r, 0.99F, 0.95F, a, b));
  const rlcore_shifted_rollout older = {sizeof older, T, N, 0, r.reward, r.value, discounts, q, q};
  COUNT("gae_shifted/T128xN256", 2, rlcore_gae_shifted(&older, 0.99F, 0.95F, a, b));
  COUNT("transpose/f32/128x256", 2, rlcore_transpose(RLCORE_F32, T, N, 1, q, a));

  rlcore_vtrace v;
  CHECK(rlcore_vtrace_init(&v, sizeof v));
  v.num_steps = 80, v.num_envs = 32, v.log_rho = log_rho, v.discounts = discounts;
  v.reward = r.reward, v.value = r.value, v.bootstrap_value = r.bootstrap_value;
  COUNT("vtrace/T80xN32", 5, rlcore_vtrace_from_importance_weights(&v, a, b));
  enum { A = 18, ROWS = 80 * 32 };
  const rlcore_vtrace_logits logits = {sizeof logits, A, floats(ROWS * A, -2, 2), floats(ROWS * A, -2, 2),
                                       choices(ROWS, A)};
  const rlcore_vtrace_out out = {.struct_size = sizeof out, .vs = a, .pg_advantage = b};
  COUNT("vtrace/logits/T80xN32xA18", 1, rlcore_vtrace_from_logits(&v, &logits, &out));
}

static void statistics(void) {
  enum { ROWS = 512, COLUMNS = 64 };
  double *mean = room(COLUMNS, 8), *var = room(COLUMNS, 8), count, explained;
  float *x = floats(ROWS * COLUMNS, -3, 3), *out = room(ROWS * COLUMNS, 4);
  CHECK(rlcore_moments_reset(COLUMNS, 1e-4, mean, var, &count));
  COUNT("moments_update/512x64", 2, rlcore_moments_update(x, ROWS, COLUMNS, mean, var, &count));
  COUNT("normalize/512x64", 2, rlcore_normalize(NORMALIZER(COLUMNS, mean, var, 1e-8, 10), x, ROWS, out));
  COUNT("standardise/2048", 5, rlcore_standardize(out, 2048, 1e-8));
  COUNT("explained_variance/2048", 5, rlcore_explained_variance(x, out, 2048, &explained));

  enum { N = 64, OBS = 17 };
  rlcore_vec_normalize_config config;
  rlcore_vec_normalize *v;
  size_t size;
  CHECK(rlcore_vec_normalize_config_init(&config, sizeof config));
  config.num_envs = N, config.obs_len = OBS;
  CHECK(rlcore_vec_normalize_size(&config, &size));
  CHECK(rlcore_vec_normalize_init(room(size, 1), size, &config, &v));
  const rlcore_rows in = {.struct_size = sizeof in, .obs = x, .reward = floats(N, 0, 1), .terminated = bytes(N, 30), .truncated = bytes(N, 60), .final_obs = x + N * OBS};
  const rlcore_rows to = {.struct_size = sizeof to, .obs = out, .reward = room(N, 4), .final_obs = out + N * OBS};
  CHECK(rlcore_vec_normalize_reset(v, x, out));
  COUNT("vec_normalize_step/N64x17", 10, rlcore_vec_normalize_step(v, &in, &to));
}

static void distributions(void) {
  enum { B = 256, A = 18, G = 6 };
  const uint32_t n[] = {A};
  float *out = room(B * A, 4), *uniform = floats(B, 0, 1);
  int32_t *action = choices(B, A);
  const rlcore_logits logits = {sizeof logits, B, 1, 0, n, floats(B * A, -2, 2), NULL};
  COUNT("categorical/log_softmax/256x18", 5, rlcore_categorical_log_softmax(&logits, out));
  COUNT("categorical/log_prob/256x18", 5, rlcore_categorical_log_prob(&logits, action, out));
  COUNT("categorical/entropy/256x18", 5, rlcore_categorical_entropy(&logits, out));
  COUNT("categorical/sample/256x18", 5, rlcore_categorical_sample(&logits, NULL, uniform, action));
  const float *normal = floats(B * G, -2, 2);
  const rlcore_gaussian gaussian = {sizeof gaussian, B, G, 0, floats(B * G, -1, 1), floats(G, -1, 0)};
  COUNT("gaussian/log_prob/256x6", 5, rlcore_gaussian_log_prob(&gaussian, normal, out));
  COUNT("gaussian/sample/256x6", 5, rlcore_gaussian_sample(&gaussian, normal, out));
  COUNT("gaussian/squash/1536", 5, rlcore_gaussian_squash(normal, B * G, out));
  COUNT("gaussian/squash_log_prob/256x6", 5, rlcore_gaussian_squash_log_prob(normal, B, G, uniform));
  rlcore_rng rng;
  double *wide = room(1024, 8);
  uint32_t *order = room(1024, 4);
  CHECK(rlcore_rng_seed(&rng, 1));
  COUNT("rng/uniform/1024", 5, rlcore_rng_uniform(&rng, 0, 1, wide, 1024));
  COUNT("rng/normal/1024", 5, rlcore_rng_normal(&rng, out, 1024));
  COUNT("rng/permutation/1024", 5, rlcore_rng_permutation(&rng, order, 1024));
}

/* ---- pictures, memories and rollouts */

static void pictures(void) {
  const rlcore_image_size color = {210, 160, 3}, gray = {210, 160, 1}, small = {84, 84, 1}, square = {96, 96, 1};
  const uint8_t *a = bytes(210 * 160 * 3, 0), *b = bytes(210 * 160 * 3, 0);
  uint8_t *out = room(96 * 96, 1);
  float *numbers = room(84 * 84 * 4, 4);
  size_t len;
  CHECK(rlcore_image_scratch_len(&color, &square, &len));
  float *scratch = room(len, 4);
  COUNT("image/warp/gray/84x84", 2, rlcore_image_warp(&gray, a, b, &small, out, NULL, 0));
  COUNT("image/warp/colour/84x84", 2, rlcore_image_warp(&color, a, b, &small, out, NULL, 0));
  COUNT("image/warp/colour/96x96", 2, rlcore_image_warp(&color, a, b, &square, out, scratch, len));
  COUNT("image/rescale42", 2, rlcore_image_rescale42(a, numbers));
  COUNT("image/scale/28224", 2, rlcore_image_scale(a, 84 * 84 * 4, numbers));

  enum { FRAMES = 256, ROWS = 32, STACK = 84 * 84 * 4 };
  rlcore_lazy_frames_config config;
  rlcore_lazy_frames *frames;
  size_t size;
  CHECK(rlcore_lazy_frames_config_init(&config, sizeof config));
  config.num_frames = FRAMES;
  CHECK(rlcore_lazy_frames_size(&config, &size));
  CHECK(rlcore_lazy_frames_init(room(size, 1), size, &config, &frames));
  for (uint32_t i = 0; i < 2 * FRAMES; i++)
    CHECK(rlcore_lazy_frames_push(frames, 0, a + i * 64, i % 100 == 0, NULL));
  rlcore_frame_index *index = room(ROWS, sizeof *index);
  uint8_t *obs = room(ROWS, STACK), *next = room(ROWS, STACK);
  for (int i = 0; i < ROWS; i++) index[i].number = FRAMES + 50 + (draw() % 40);
  COUNT("lazy_frames/push/84x84", 10, rlcore_lazy_frames_push(frames, 0, a, 0, NULL));
  COUNT("lazy_frames/transitions/32x84x84x4", 1,
        rlcore_lazy_frames_gather_transitions(frames, index, ROWS, RLCORE_LAYOUT_HWC, RLCORE_U8, obs, next));
  COUNT("lazy_frames/gather/planes/32x84x84x4", 1,
        rlcore_lazy_frames_gather(frames, index, ROWS, RLCORE_LAYOUT_CHW, RLCORE_U8, obs));
}

static const rlcore_column columns[] = {{"obs", RLCORE_F32, 17, 0, 0}, {"action", RLCORE_F32, 6, 0, 0}};

static struct {
  rlcore_memory *memory;
  rlcore_frame frame;
  const void *values[2];
} rare;

static rlcore_status remember(void) {
  if (++rare.frame.step == 200) rare.frame.step = 0, rare.frame.episode++;
  rare.frame.terminated = rare.frame.step == 199;
  rare.frame.reward = draw() % 20 == 0;
  return rlcore_memory_add(rare.memory, &rare.frame, rare.values, NULL, NULL);
}

static void memories(void) {
  enum { HELD = 4096, BATCH = 32, LEN = 20, N = 8, ROWS = 256 };
  size_t size;
  rlcore_rng rng;
  CHECK(rlcore_rng_seed(&rng, 1));
  float *out = room(BATCH * LEN * 17 + ROWS * 17, 4), *obs = floats(64 * 17, -1, 1), *action = floats(64 * 6, -1, 1);

  rlcore_memory_config config;
  CHECK(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = HELD, config.columns = columns, config.num_columns = 2;
  CHECK(rlcore_memory_size(&config, &size));
  CHECK(rlcore_memory_init(room(size, 1), size, &config, &rare.memory));
  rare.values[0] = obs, rare.values[1] = action;
  for (int i = 0; i < HELD + 100; i++) CHECK(remember());
  rlcore_sample *samples = room(BATCH, sizeof *samples);
  COUNT("memory/add", 1000, remember());
  COUNT("memory/sample_uniform/32", 10, rlcore_memory_sample_uniform(rare.memory, &rng, NULL, samples, BATCH));
  COUNT("memory/sample_priority/32", 10, rlcore_memory_sample_priority(rare.memory, &rng, NULL, samples, BATCH));
  COUNT("memory/gather/32x20x17", 10,
        rlcore_memory_gather(rare.memory, SEQUENCES(samples, BATCH, LEN), 0, RLCORE_LAYOUT_HWC, RLCORE_F32, out));

  rlcore_replay_config replay_config;
  rlcore_replay *replay;
  CHECK(rlcore_replay_config_init(&replay_config, sizeof replay_config));
  replay_config.num_envs = N, replay_config.num_rows = 2048, replay_config.num_steps = 3;
  replay_config.columns = columns, replay_config.num_columns = 2;
  CHECK(rlcore_replay_size(&replay_config, &size));
  CHECK(rlcore_replay_init(room(size, 1), size, &replay_config, &replay));
  const float *reward = floats(N, 0, 1);
  const uint8_t *none = room(N, 1);
  for (int i = 0; i < 2100; i++) CHECK(rlcore_replay_add_all(replay, rare.values, reward, none, none, NULL));
  rlcore_frame_index *index = room(ROWS, sizeof *index);
  float *weight = room(ROWS, 4), *discount = room(ROWS, 4), *priority = floats(ROWS, 0, 2);
  COUNT("replay/add_all/N8", 20, rlcore_replay_add_all(replay, rare.values, reward, none, none, NULL));
  COUNT("replay/sample/256", 5,
        rlcore_replay_sample(replay, &rng, REPLAY_DRAW(0.4F, RLCORE_REPLAY_NORMALIZE_MEMORY, 0), ROWS, index, weight, NULL));
  COUNT("replay/update/256", 5, rlcore_replay_update(replay, index, priority, ROWS, NULL));
  COUNT("replay/transitions/256", 5, rlcore_replay_transitions(replay, index, ROWS, weight, discount, NULL, NULL));
  COUNT("replay/gather/256x17", 5,
        rlcore_replay_gather(replay, index, ROWS, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, out));

  rlcore_queue_config queue_config;
  rlcore_queue *queue;
  size_t got;
  CHECK(rlcore_queue_config_init(&queue_config, sizeof queue_config));
  queue_config.item_size = 4096;
  CHECK(rlcore_queue_size(&queue_config, &size));
  CHECK(rlcore_queue_init(room(size, 1), size, &queue_config, &queue));
  COUNT("queue/push-pop/1024-bytes", 100,
        (rlcore_queue_push(queue, obs, 1024) | rlcore_queue_pop(queue, out, 4096, &got)));
}

static void rollouts(void) {
  enum { T = 128, N = 64, ROWS = 256 };
  size_t size;
  rlcore_rollout_buffer_config config;
  rlcore_rollout_buffer *buffer;
  CHECK(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = T, config.num_envs = N, config.num_columns = 2, config.columns = columns;
  CHECK(rlcore_rollout_buffer_size(&config, &size));
  CHECK(rlcore_rollout_buffer_init(room(size, 1), size, &config, &buffer));
  float *obs = floats(N * 17, -1, 1), *numbers = floats(N, -1, 1);
  const void *const values[] = {obs, floats(N * 6, -1, 1)};
  const rlcore_rollout_step one = {sizeof one, 0, values, numbers, numbers, numbers, bytes(N, 30), room(N, 1),
                                   NULL, NULL, NULL};
  COUNT("rollout_buffer/add/N64", 127, rlcore_rollout_buffer_add(buffer, &one));
  CHECK(rlcore_rollout_buffer_finish(buffer, numbers, obs, 0.99F, 0.95F));
  uint32_t *index = room(T * N, 4);
  COUNT("rollout_buffer/draw/8192", 2, rlcore_rollout_buffer_draw(buffer, ROWS, 1, index, T * N));
  void *const out_columns[] = {room(ROWS * 17, 4), room(ROWS * 6, 4)};
  const rlcore_minibatch out = {.struct_size = sizeof out, .columns = out_columns, .log_prob = room(ROWS, 4),
                                .advantage = room(ROWS, 4), .value_target = room(ROWS, 4)};
  COUNT("rollout_buffer/gather/256", 5, rlcore_rollout_buffer_gather(buffer, index, ROWS, 1, &out));

  enum { FRAMES = 20 };
  rlcore_trajectory_config trajectory_config;
  rlcore_trajectory *trajectory;
  CHECK(rlcore_trajectory_config_init(&trajectory_config, sizeof trajectory_config));
  trajectory_config.num_columns = 2, trajectory_config.columns = columns;
  CHECK(rlcore_trajectory_size(&trajectory_config, &size));
  CHECK(rlcore_trajectory_init(room(size, 1), size, &trajectory_config, &trajectory));
  const uint8_t *none = room(FRAMES, 1);
  const rlcore_trajectory_frames frames = {sizeof frames, FRAMES, values, numbers, numbers, none, none, NULL};
  CHECK(rlcore_trajectory_add(trajectory, &frames));
  const rlcore_trajectory_rows rows = {.struct_size = sizeof rows, .num_rows = FRAMES, .columns = out_columns,
                                       .returns = room(FRAMES, 4), .advantage = room(FRAMES, 4)};
  COUNT("trajectory/process/20", 20, rlcore_trajectory_process(trajectory, 0.99F, 0.95F, 0.5F, &rows));
}

/* ---- the learner */

static struct {
  rlcore_learner *agent;
  rlcore_rows rows;
} learner;

static rlcore_status act(void) {
  const rlcore_status status = rlcore_learner_act(learner.agent, &learner.rows);
  return status | rlcore_learner_observe(learner.agent, &learner.rows);
}

static void learning(void) {
  enum { T = 32, N = 8, ROWS = 64 };
  rlcore_env *env;
  rlcore_space seen, taken;
  rlcore_learner_config config;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  size_t size, len;
  CHECK(rlcore_env_builtin(room(1024, 1), 1024, RLCORE_ENV_CARTPOLE, &env));
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = T;
  CHECK(rlcore_learner_size(&config, &seen, &taken, &size));
  CHECK(rlcore_learner_init(room(size, 1), size, &config, &seen, &taken, &learner.agent));
  learner.rows = (rlcore_rows){.struct_size = sizeof learner.rows, .obs = floats(ROWS * 4, -1, 1), .action = room(ROWS, 4),
                               .reward = floats(N, 0, 1), .terminated = room(N, 1), .truncated = room(N, 1)};
  COUNT("learner/act-observe/N8", 31, act());
  CALLGRIND_ZERO_STATS;
  const rlcore_status status = rlcore_learner_learn(learner.agent, &learner.rows, 0, &stats);
  CALLGRIND_DUMP_STATS_AT("learner/learn/T32xN8/16-minibatches/64-64 1");
  check(status, "learn");

  const rlcore_policy *policy;
  rlcore_policy *made;
  rlcore_rng rng;
  CHECK(rlcore_rng_seed(&rng, 1));
  CHECK(rlcore_policy_size(learner.agent, &size));
  void *image = room(size, 1);
  CHECK(rlcore_policy_export(learner.agent, image, size, &made));
  CHECK(rlcore_policy_attach(image, size, NULL, NULL, &policy));
  CHECK(rlcore_policy_scratch_len(policy, ROWS, &len));
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = room(len, 4), .scratch_len = len};
  COUNT("policy/act/4-64-64-2/1", 20,
        rlcore_policy_act(policy, 1, &learner.rows, &buffers, NULL, &rng));
  COUNT("policy/act/4-64-64-2/64", 2,
        rlcore_policy_act(policy, ROWS, &learner.rows, &buffers, NULL, &rng));
}

int main(int argc, char **argv) {
  if (argc != 2) return puts("usage: kernels LEVEL"), 2;
  CHECK(rlcore_cpu_set_limit((uint32_t)atoi(argv[1])));
  environments();
  estimators();
  statistics();
  distributions();
  pictures();
  memories();
  rollouts();
  learning();
  return 0;
}
