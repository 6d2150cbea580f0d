/* One table of stages, each of them plain C calls into the library and one hash of all that they returned.
   This file does no floating-point arithmetic: what is compared is the library, not the C compiler. */
#define RLCORE_EXPERIMENTAL /* rollouts as files */
#include "bits.h"

#define LEN(array) (sizeof(array) / sizeof *(array))
#define TRY(call) do { rlcore_status status_ = (call); if (status_ != RLCORE_OK) return status_; } while (0)

/* 64-bit FNV-1a over everything that a stage computes. */
static void mix(uint64_t *hash, const void *bytes, size_t size) {
  for (const unsigned char *p = bytes; size--; p++) *hash = (*hash ^ *p) * 0x100000001b3u;
}

/* ---- Random streams ---- */
static rlcore_status rng(uint64_t *hash) {
  static double uniform[1000];
  static int64_t integers[1000];
  static uint32_t permutation[1000];
  rlcore_rng rng;
  TRY(rlcore_rng_stream(&rng, 123456789, 3));
  TRY(rlcore_rng_uniform(&rng, -2.0, 3.0, uniform, LEN(uniform)));
  TRY(rlcore_rng_integers(&rng, -7, 1000003, integers, LEN(integers)));
  TRY(rlcore_rng_permutation(&rng, permutation, LEN(permutation)));
  mix(hash, &rng, sizeof rng);
  mix(hash, uniform, sizeof uniform);
  mix(hash, integers, sizeof integers);
  mix(hash, permutation, sizeof permutation);
  return RLCORE_OK;
}

static rlcore_status normal(uint64_t *hash) {
  static float x[1003];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 7));
  TRY(rlcore_rng_normal(&rng, x, LEN(x)));
  mix(hash, x, sizeof x);
  return RLCORE_OK;
}

/* Floats from [low, high) for the stages below. */
static rlcore_status draw(rlcore_rng *rng, double low, double high, float *out, size_t len) {
  for (double x; len--; *out++ = (float)x) TRY(rlcore_rng_uniform(rng, low, high, &x, 1));
  return RLCORE_OK;
}

/* ---- The library's hash is the one of this file ---- */
static rlcore_status fnv(uint64_t *hash) {
  uint64_t theirs;
  const char text[] = "the same bits everywhere";
  mix(hash, text, sizeof text);
  TRY(rlcore_hash(text, sizeof text, &theirs));
  return theirs == *hash ? RLCORE_OK : RLCORE_E_VALUE;
}

/* ---- Failures in words ---- */
static rlcore_status last_error(uint64_t *hash) {
  char text[256] = {0};
  size_t len = 0;
  if (rlcore_rng_seed(NULL, 0) != RLCORE_E_NULL) return RLCORE_E_VALUE;
  TRY(rlcore_last_error(text, sizeof text));
  while (text[len] != 0) len++;
  mix(hash, text, len);
  return RLCORE_OK;
}

/* ---- Advantages: a width that is no multiple of any processor's lanes ---- */
static rlcore_status gae(uint64_t *hash) {
  enum { T = 37, N = 53 };
  static float reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N], advantage[T * N], target[T * N];
  static uint8_t terminated[T * N], truncated[T * N];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 5));
  TRY(draw(&rng, -1.0, 1.0, reward, T * N));
  TRY(draw(&rng, -9.0, 9.0, value, T * N));
  TRY(draw(&rng, -9.0, 9.0, final_value, T * N));
  TRY(draw(&rng, -9.0, 9.0, bootstrap_value, N));
  for (int i = 0; i < T * N; i++) {
    terminated[i] = i % 13 == 0;
    truncated[i] = i % 17 == 0;
  }
  const rlcore_rollout rollout = {
      .struct_size = sizeof rollout, .num_steps = T, .num_envs = N, .reward = reward, .value = value,
      .bootstrap_value = bootstrap_value, .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  TRY(rlcore_gae(&rollout, 0.99f, 0.95f, advantage, target));
  mix(hash, advantage, sizeof advantage);
  mix(hash, target, sizeof target);
  return RLCORE_OK;
}

static rlcore_status returns(uint64_t *hash) {
  enum { T = 33, N = 19 };
  static float x[T * N], sum[T * N];
  static double mean[N], var[N];
  double count = 0, explained;
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 6));
  TRY(draw(&rng, -1.0, 1.0, x, T * N));
  TRY(rlcore_discounted_sum(x, T, N, 0.97f, sum));
  TRY(rlcore_moments_update(sum, T, N, mean, var, &count));
  TRY(rlcore_moments_update(x, T, N, mean, var, &count));
  TRY(rlcore_explained_variance(x, sum, T * N, &explained));
  TRY(rlcore_standardise(x, T * N, 1e-8));
  mix(hash, sum, sizeof sum);
  mix(hash, mean, sizeof mean);
  mix(hash, var, sizeof var);
  mix(hash, &count, sizeof count);
  mix(hash, &explained, sizeof explained);
  mix(hash, x, sizeof x);
  return RLCORE_OK;
}

/* ---- Targets off policy and over several steps ---- */
static rlcore_status vtrace(uint64_t *hash) {
  enum { T = 23, N = 21, A = 7 };
  static float log_rho[T * N], discounts[T * N], reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N];
  static float behaviour[T * N * A], target[T * N * A], vs[T * N], pg_advantage[T * N], ratio[T * N];
  static int32_t action[T * N];
  static uint8_t truncated[T * N];
  const rlcore_vtrace_logits logits = {sizeof logits, A, behaviour, target, action};
  const rlcore_vtrace_out out = {.struct_size = sizeof out, .vs = vs, .pg_advantage = pg_advantage, .log_rho = ratio};
  rlcore_vtrace v;
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 19));
  TRY(draw(&rng, -2.0, 2.0, log_rho, T * N));
  TRY(draw(&rng, 0.0, 1.0, discounts, T * N));
  TRY(draw(&rng, -1.0, 1.0, reward, T * N));
  TRY(draw(&rng, -5.0, 5.0, value, T * N));
  TRY(draw(&rng, -5.0, 5.0, final_value, T * N));
  TRY(draw(&rng, -5.0, 5.0, bootstrap_value, N));
  TRY(draw(&rng, -3.0, 3.0, behaviour, T * N * A));
  TRY(draw(&rng, -3.0, 3.0, target, T * N * A));
  for (int i = 0; i < T * N; i++) action[i] = i % A, truncated[i] = i % 19 == 0;
  TRY(rlcore_vtrace_init(&v, sizeof v));
  v.num_steps = T;
  v.num_envs = N;
  v.log_rho = log_rho;
  v.discounts = discounts;
  v.reward = reward;
  v.value = value;
  v.bootstrap_value = bootstrap_value;
  v.truncated = truncated;
  v.final_value = final_value;
  for (v.accumulate = RLCORE_ACCUMULATE_F32; v.accumulate <= RLCORE_ACCUMULATE_F64; v.accumulate++) {
    v.leak = v.accumulate == RLCORE_ACCUMULATE_F64 ? 0.25f : 0.0f;
    TRY(rlcore_vtrace_from_importance_weights(&v, vs, pg_advantage));
    mix(hash, vs, sizeof vs);
    mix(hash, pg_advantage, sizeof pg_advantage);
    TRY(rlcore_vtrace_from_logits(&v, &logits, &out));
    mix(hash, vs, sizeof vs);
    mix(hash, pg_advantage, sizeof pg_advantage);
    mix(hash, ratio, sizeof ratio);
  }
  return RLCORE_OK;
}

static rlcore_status targets(uint64_t *hash) {
  enum { T = 31, N = 70 };
  static float reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N], q[T * N], log_rho[T * N];
  static float error[T * N], target[T * N];
  static uint8_t terminated[T * N], truncated[T * N];
  rlcore_rollout rollout = {
      .struct_size = sizeof rollout, .num_steps = T, .num_envs = N, .reward = reward, .value = value,
      .bootstrap_value = bootstrap_value, .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 20));
  TRY(draw(&rng, -1.0, 1.0, reward, T * N));
  TRY(draw(&rng, -9.0, 9.0, value, T * N));
  TRY(draw(&rng, -9.0, 9.0, final_value, T * N));
  TRY(draw(&rng, -9.0, 9.0, bootstrap_value, N));
  TRY(draw(&rng, -9.0, 9.0, q, T * N));
  TRY(draw(&rng, -2.0, 2.0, log_rho, T * N));
  for (int i = 0; i < T * N; i++) terminated[i] = i % 13 == 0, truncated[i] = i % 17 == 0;
  for (rollout.accumulate = RLCORE_ACCUMULATE_F32; rollout.accumulate <= RLCORE_ACCUMULATE_F64; rollout.accumulate++) {
    TRY(rlcore_gae(&rollout, 0.99f, 0.95f, error, target));
    mix(hash, error, sizeof error);
    TRY(rlcore_td_lambda(&rollout, 0.99f, 0.9f, error, target));
    mix(hash, error, sizeof error);
    mix(hash, target, sizeof target);
    TRY(rlcore_upgo(&rollout, 0.98f, error, target));
    mix(hash, target, sizeof target);
    TRY(rlcore_retrace(&rollout, q, log_rho, 0.99f, 0.9f, error, target));
    mix(hash, target, sizeof target);
    TRY(rlcore_n_step_returns(&rollout, 0.99f, 5, target));
    mix(hash, target, sizeof target);
  }
  return RLCORE_OK;
}

/* ---- Policies' distributions ---- */
static rlcore_status categorical(uint64_t *hash) {
  enum { B = 35, K = 3, L = 2 + 5 + 3 };
  static const uint32_t n[K] = {2, 5, 3};
  static float logits[B * L], log_softmax[B * L], uniform[B * K], log_prob[B], entropy[B];
  static uint8_t mask[B * L];
  static int32_t action[B * K];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 8));
  TRY(draw(&rng, -8.0, 8.0, logits, B * L));
  for (int i = 0; i < B * L; i++) mask[i] = i % 7 != 3;
  const rlcore_logits batch = {
      .struct_size = sizeof batch, .num_rows = B, .num_choices = K, .n = n, .logits = logits, .mask = mask};
  TRY(rlcore_categorical_log_softmax(&batch, log_softmax));
  TRY(rlcore_categorical_entropy(&batch, entropy));
  mix(hash, log_softmax, sizeof log_softmax);
  mix(hash, entropy, sizeof entropy);
  for (uint32_t method = RLCORE_SAMPLING_BASIC; method <= RLCORE_SAMPLING_BOTTOMK; method++) {
    const rlcore_sampling sampling = {.method = method, .k = 2, .temperature = 0.7f};
    TRY(draw(&rng, 0.0, 1.0, uniform, B * K));
    TRY(rlcore_categorical_sample(&batch, &sampling, uniform, action));
    TRY(rlcore_categorical_log_prob(&batch, action, log_prob));
    mix(hash, action, sizeof action);
    mix(hash, log_prob, sizeof log_prob);
  }
  return RLCORE_OK;
}

static rlcore_status gaussian(uint64_t *hash) {
  enum { B = 35, A = 3 };
  static float mean[B * A], log_std[A], normal[B * A], action[B * A], squashed[B * A], log_prob[B];
  float entropy;
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 9));
  TRY(draw(&rng, -2.0, 2.0, mean, B * A));
  TRY(draw(&rng, -2.0, 1.0, log_std, A));
  TRY(rlcore_rng_normal(&rng, normal, B * A));
  const rlcore_gaussian batch = {
      .struct_size = sizeof batch, .num_rows = B, .action_len = A, .mean = mean, .log_std = log_std};
  TRY(rlcore_gaussian_sample(&batch, normal, action));
  TRY(rlcore_gaussian_log_prob(&batch, action, log_prob));
  TRY(rlcore_gaussian_squash(action, B * A, squashed));
  TRY(rlcore_gaussian_squash_log_prob(action, B, A, log_prob));
  TRY(rlcore_gaussian_entropy(log_std, A, &entropy));
  mix(hash, action, sizeof action);
  mix(hash, squashed, sizeof squashed);
  mix(hash, log_prob, sizeof log_prob);
  mix(hash, &entropy, sizeof entropy);
  return RLCORE_OK;
}

/* ---- Environments: all of a kind's rows for some hundred random steps, with resets; then the block and a picture ---- */
static rlcore_status steps(uint64_t *hash, const rlcore_env_def *env, int num_steps) {
  enum { N = 5, MAX_LEN = 16, WIDTH = 60, HEIGHT = 40 };
  static uint64_t mem[1024];
  static float obs[N * MAX_LEN], final_obs[N * MAX_LEN], reward[N], push[N];
  static uint8_t terminated[N], truncated[N], valid[N], rgb[HEIGHT * WIDTH * 3];
  static int32_t choice[N];
  const void *action = env->action.kind == RLCORE_I32 ? (const void *)choice : push;
  const double low = env->action.kind == RLCORE_I32 ? 0.0 : -2.0;
  const double high = env->action.kind == RLCORE_I32 ? env->action.n[0] : 2.0;
  rlcore_vecenv_out out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs, .valid = valid,
  };
  rlcore_vecenv_config config;
  rlcore_vecenv *v;
  rlcore_rng rng;
  size_t size;
  if (env->obs.len > MAX_LEN || env->action.len != 1) return RLCORE_E_SHAPE;
  TRY(rlcore_rng_seed(&rng, 77));
  TRY(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = N;
  config.seed = 42;
  config.max_episode_steps = 190;
  TRY(rlcore_vecenv_size(env, &config, &size));
  TRY(rlcore_vecenv_init(mem, sizeof mem, env, &config, &v));
  TRY(rlcore_vecenv_reset(v, env, NULL, obs));
  mix(hash, obs, sizeof obs);
  for (int t = 0; t < num_steps; t++) {
    TRY(draw(&rng, low, high, push, N));
    for (int i = 0; i < N; i++) choice[i] = (int32_t)push[i];
    TRY(rlcore_vecenv_step(v, env, action, &out));
    mix(hash, obs, sizeof obs);
    mix(hash, final_obs, sizeof final_obs);
    mix(hash, reward, sizeof reward);
    mix(hash, terminated, sizeof terminated);
    mix(hash, truncated, sizeof truncated);
  }
  mix(hash, mem, size);
  TRY(rlcore_vecenv_render(v, env, N - 1, WIDTH, HEIGHT, rgb));
  mix(hash, rgb, sizeof rgb);
  return RLCORE_OK;
}

static rlcore_status builtin(uint64_t *hash, uint32_t env_id, int num_steps) {
  rlcore_env_def env;
  TRY(rlcore_env_builtin(env_id, &env, sizeof env));
  return steps(hash, &env, num_steps);
}

static rlcore_status probes(uint64_t *hash) {
  static const uint32_t ids[] = {
      RLCORE_ENV_PROBE1, RLCORE_ENV_PROBE2, RLCORE_ENV_PROBE3, RLCORE_ENV_PROBE4, RLCORE_ENV_PROBE5,
      RLCORE_ENV_PROBE6, RLCORE_ENV_PROBE7, RLCORE_ENV_PROBE6_ODD_EVEN, RLCORE_ENV_PROBE_TRUNCATION,
      RLCORE_ENV_PROBE_MEMORY,
  };
  for (size_t i = 0; i < LEN(ids); i++) TRY(builtin(hash, ids[i], 100));
  return RLCORE_OK;
}

static rlcore_status cartpole(uint64_t *hash) { return builtin(hash, RLCORE_ENV_CARTPOLE, 1000); }
static rlcore_status mountain_car(uint64_t *hash) { return builtin(hash, RLCORE_ENV_MOUNTAIN_CAR, 1000); }
static rlcore_status mountain_car_continuous(uint64_t *hash) {
  return builtin(hash, RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, 1000);
}
static rlcore_status acrobot(uint64_t *hash) { return builtin(hash, RLCORE_ENV_ACROBOT, 1000); }
static rlcore_status pendulum(uint64_t *hash) { return builtin(hash, RLCORE_ENV_PENDULUM, 1000); }

/* ---- An environment of the host's own: repeat the bit that was seen ---- */
typedef struct { uint32_t bit, left; } echo_state;

static int32_t echo_look(echo_state *s, rlcore_rng *rng, float *obs) {
  double x;
  if (rlcore_rng_uniform(rng, 0.0, 2.0, &x, 1) != RLCORE_OK) return 1;
  s->bit = (uint32_t)x;
  *obs = (float)s->bit;
  return 0;
}

static int32_t echo_reset(void *user, void *state, rlcore_rng *rng, void *obs) {
  echo_state *s = state;
  s->left = *(const uint32_t *)user;
  return echo_look(s, rng, obs);
}

static int32_t echo_step(void *user, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  echo_state *s = state;
  (void)user;
  out->reward = *(const int32_t *)action == (int32_t)s->bit ? 1.0f : 0.0f;
  out->terminated = --s->left == 0;
  return echo_look(s, rng, obs);
}

static rlcore_status callbacks(uint64_t *hash) {
  static const uint32_t two = 2;
  static uint32_t length = 9;
  const rlcore_env_def env = {
      .struct_size = sizeof env, .env_id = 1000, .state_size = sizeof(echo_state),
      .obs = {.kind = RLCORE_F32, .len = 1}, .action = {.kind = RLCORE_I32, .len = 1, .n = &two},
      .user = &length, .reset = echo_reset, .step = echo_step,
  };
  return steps(hash, &env, 100);
}

/* ---- What stands around environments: wrappers in the block, then a monitor's rows and a normaliser's statistics ---- */
static rlcore_status wrapped(uint64_t *hash) {
  static const rlcore_wrapper list[] = {
      {.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 70},
      {.kind = RLCORE_WRAP_NOOP_RESET, .noop_max = 5},
      {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25f},
      {.kind = RLCORE_WRAP_ACTION_REPEAT, .count = 2},
      {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = 0.3f},
      {.kind = RLCORE_WRAP_FRAME_STACK, .count = 3},
  };
  rlcore_env_def env;
  TRY(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, &env, sizeof env));
  env.wrappers = list;
  env.num_wrappers = LEN(list);
  return steps(hash, &env, 300);
}

static rlcore_status records(uint64_t *hash) {
  enum { N = 6, LEN_ = 3, ROWS = 32 };
  static uint64_t world[1024], normalizer[512], episodes[1024];
  static float obs[N * LEN_], final_obs[N * LEN_], reward[N], push[N];
  static uint8_t terminated[N], truncated[N];
  static rlcore_episode rows[ROWS];
  const rlcore_vecenv_out out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  rlcore_env_def env;
  rlcore_vecenv_config many;
  rlcore_vec_normalize_config scale;
  rlcore_monitor_config keep;
  rlcore_vecenv *v;
  rlcore_vec_normalize *n;
  rlcore_monitor *m;
  rlcore_rng rng;
  uint64_t next = 0, lost;
  uint32_t count;
  size_t size;
  TRY(rlcore_env_builtin(RLCORE_ENV_PENDULUM, &env, sizeof env));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  TRY(rlcore_vec_normalize_config_init(&scale, sizeof scale));
  TRY(rlcore_monitor_config_init(&keep, sizeof keep));
  many.num_envs = scale.num_envs = keep.num_envs = N;
  many.max_episode_steps = 50;
  scale.obs_len = LEN_;
  keep.capacity = ROWS;
  TRY(rlcore_vecenv_init(world, sizeof world, &env, &many, &v));
  TRY(rlcore_vec_normalize_init(normalizer, sizeof normalizer, &scale, &n));
  TRY(rlcore_monitor_init(episodes, sizeof episodes, &keep, &m));
  TRY(rlcore_rng_seed(&rng, 12));
  TRY(rlcore_vecenv_reset(v, &env, NULL, obs));
  TRY(rlcore_vec_normalize_reset(n, obs, obs));
  for (int t = 0; t < 240; t++) {
    TRY(draw(&rng, -2.0, 2.0, push, N));
    TRY(rlcore_vecenv_step(v, &env, push, &out));
    TRY(rlcore_monitor_step(m, &out, t, NULL));
    TRY(rlcore_vec_normalize_step(n, &out, NULL));
    mix(hash, obs, sizeof obs);
    mix(hash, reward, sizeof reward);
  }
  TRY(rlcore_vec_normalize_size(&scale, &size));
  mix(hash, normalizer, size);
  TRY(rlcore_monitor_read(m, &next, rows, NULL, ROWS, &count, &lost));
  for (uint32_t i = 0; i < count; i++) {
    char text[RLCORE_MONITOR_ROW_SIZE];
    TRY(rlcore_monitor_format_row(&rows[i], NULL, 0, text, sizeof text, &size));
    mix(hash, text, size);
  }
  return RLCORE_OK;
}

/* ---- Pictures, and the frames that stacks are made from ---- */
static rlcore_status pictures(uint64_t *hash) {
  static uint8_t screens[2][210 * 160 * 3], small[84 * 84], colour[61 * 47 * 3];
  static float numbers[42 * 42], scratch[8192];
  static const rlcore_image_size screen = {210, 160, 3}, gray = {84, 84, 1}, odd = {61, 47, 3};
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 13));
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < sizeof screens[k]; i += 64) {
      int64_t x[64];
      TRY(rlcore_rng_integers(&rng, 0, 256, x, 64));
      for (size_t j = 0; j < 64 && i + j < sizeof screens[k]; j++) screens[k][i + j] = (uint8_t)x[j];
    }
  TRY(rlcore_image_warp(&screen, screens[0], screens[1], &gray, small, scratch, LEN(scratch)));
  TRY(rlcore_image_area(&screen, screens[0], &odd, colour, scratch, LEN(scratch)));
  TRY(rlcore_image_rescale42(screens[1], numbers));
  mix(hash, small, sizeof small);
  mix(hash, colour, sizeof colour);
  mix(hash, numbers, sizeof numbers);
  return RLCORE_OK;
}

static rlcore_status frames(uint64_t *hash) {
  enum { SIDE = 5, FRAME = SIDE * SIDE, STACK = 3, B = 8 };
  static uint64_t mem[512];
  static uint8_t frame[FRAME];
  static float obs[B * FRAME * STACK], next_obs[B * FRAME * STACK];
  rlcore_lazy_frames_config config;
  rlcore_lazy_frames *l;
  rlcore_frame_index index[B];
  size_t size;
  TRY(rlcore_lazy_frames_config_init(&config, sizeof config));
  config.num_frames = 40;
  config.height = config.width = SIDE;
  config.num_stack = STACK;
  TRY(rlcore_lazy_frames_init(mem, sizeof mem, &config, &l));
  for (uint64_t i = 0, number; i < 100; i++) {
    for (int j = 0; j < FRAME; j++) frame[j] = (uint8_t)(i * 29 + (uint64_t)j * 3);
    TRY(rlcore_lazy_frames_push(l, 0, frame, i % 7 == 0, &number));
  }
  for (uint32_t b = 0; b < B; b++) index[b] = (rlcore_frame_index){.number = 71 + 3 * b - (71 + 3 * b) % 7};
  TRY(rlcore_lazy_frames_gather_transitions(l, index, B, RLCORE_LAYOUT_CHW, RLCORE_F32, obs, next_obs));
  mix(hash, obs, sizeof obs);
  mix(hash, next_obs, sizeof next_obs);
  TRY(rlcore_lazy_frames_size(&config, &size));
  mix(hash, mem, size);
  return RLCORE_OK;
}

/* ---- Replay memories: frames that wrap around, sequences and transitions drawn from them, and the blocks ---- */
static rlcore_status memory(uint64_t *hash) {
  enum { B = 24, L = 6, STACK = 2, FRAME = 4 };
  static const rlcore_column columns[] = {
      {.name = "picture", .kind = RLCORE_U8, .len = FRAME, .num_stack = STACK},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[2048];
  static uint8_t pictures[B * L * FRAME * STACK], terminated[B * L], truncated[B * L], valid[B * L];
  static float reward[B * L];
  rlcore_memory_config config;
  rlcore_memory *m;
  rlcore_sample samples[2 * B];
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = 70;
  config.max_sample_size = L;
  config.columns = columns;
  config.num_columns = LEN(columns);
  TRY(rlcore_memory_init(mem, sizeof mem, &config, &m));
  for (uint32_t i = 0; i < 200; i++) {
    const uint8_t picture[FRAME] = {(uint8_t)i, (uint8_t)(3 * i), (uint8_t)(5 * i), (uint8_t)(7 * i)};
    const int32_t action = (int32_t)i % 4;
    const void *values[] = {picture, &action};
    const rlcore_frame frame = {
        .episode = i / 9, .step = i % 9, .reward = i % 5 ? 0.0f : 1.0f, .terminated = i % 9 == 8, .truncated = i % 27 == 7,
    };
    if (frame.step == 8 && i % 27 == 8) continue;  /* that episode was cut a step earlier */
    TRY(rlcore_memory_add(m, &frame, values, NULL, NULL));
  }
  TRY(rlcore_rng_seed(&rng, 17));
  TRY(rlcore_memory_sample_uniform(m, &rng, NULL, samples, B));
  TRY(rlcore_memory_sample_priority(m, &rng, NULL, samples + B, B));
  TRY(rlcore_memory_gather(m, samples + B, B, L, 0, RLCORE_LAYOUT_HWC, RLCORE_U8, pictures));
  TRY(rlcore_memory_gather_frames(m, samples, B, L, reward, terminated, truncated, valid));
  TRY(rlcore_memory_store_rng(m, &rng));
  TRY(rlcore_memory_size(&config, &size));
  mix(hash, samples, sizeof samples);
  mix(hash, pictures, sizeof pictures);
  mix(hash, reward, sizeof reward);
  mix(hash, valid, sizeof valid);
  mix(hash, mem, size);
  return RLCORE_OK;
}

static rlcore_status replay(uint64_t *hash) {
  enum { N = 3, B = 32, OBS = 5 };
  static const rlcore_column columns[] = {
      {.name = "obs", .kind = RLCORE_F32, .len = OBS},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[4096];
  static float obs[N * OBS], final_obs[N * OBS], reward[N], weight[B], probability[B], got[B], discount[B], next[B * OBS];
  static int32_t action[N];
  static uint8_t terminated[N], truncated[N];
  const void *values[] = {obs, action}, *final_values[] = {final_obs, NULL};
  rlcore_replay_config config;
  rlcore_replay *r;
  rlcore_frame_index index[B];
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = N;
  config.num_rows = 50;
  config.columns = columns;
  config.num_columns = LEN(columns);
  config.num_steps = 3;
  TRY(rlcore_replay_init(mem, sizeof mem, &config, &r));
  TRY(rlcore_rng_seed(&rng, 18));
  for (uint32_t t = 0; t < 120; t++) {
    TRY(draw(&rng, -1.0, 1.0, obs, N * OBS));
    TRY(draw(&rng, -1.0, 1.0, final_obs, N * OBS));
    TRY(draw(&rng, -1.0, 1.0, reward, N));
    for (uint32_t i = 0; i < N; i++) {
      action[i] = (int32_t)(t * N + i);
      terminated[i] = (t + 5 * i) % 11 == 10;
      truncated[i] = (t + i) % 17 == 16;
    }
    TRY(rlcore_replay_add_all(r, values, reward, terminated, truncated, final_values));
    if (t % 10 != 9) continue;
    TRY(rlcore_replay_sample(r, &rng, B, 0.5f, RLCORE_REPLAY_NORMALIZE_BATCH, t % 20 == 9, index, weight, probability));
    TRY(rlcore_replay_transitions(r, index, B, got, discount, NULL, NULL));
    TRY(rlcore_replay_gather_next(r, 0, index, B, RLCORE_LAYOUT_HWC, RLCORE_F32, next));
    TRY(rlcore_replay_update(r, index, probability, B, NULL));
    mix(hash, index, sizeof index);
    mix(hash, weight, sizeof weight);
    mix(hash, got, sizeof got);
    mix(hash, discount, sizeof discount);
    mix(hash, next, sizeof next);
  }
  TRY(rlcore_replay_size(&config, &size));
  mix(hash, mem, size);
  return RLCORE_OK;
}

/* ---- Rollouts: minibatches of one, and a trajectory ---- */
static rlcore_status rollouts(uint64_t *hash) {
  enum { T = 12, N = 3, OBS = 4, R = 4, B = T * N / R };
  static const rlcore_column columns[] = {
      {.name = "obs", .kind = RLCORE_F32, .len = OBS},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[8192], small[512];
  static float obs[N * OBS], reward[N], value[N], log_prob[N], final_value[N], got[B * R * OBS], advantage[B * R], mask[B * R];
  static float returns[T], adv[T];
  static int32_t action[N];
  static uint8_t terminated[N], truncated[N];
  uint32_t index[B];
  const void *values[] = {obs, action};
  void *rows[] = {got, NULL};
  const rlcore_rollout_step step = {
      .struct_size = sizeof step, .columns = values, .reward = reward, .value = value, .log_prob = log_prob,
      .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  const rlcore_minibatch batch = {.struct_size = sizeof batch, .columns = rows, .advantage = advantage, .mask = mask};
  const rlcore_trajectory_rows processed = {.struct_size = sizeof processed, .num_rows = T, .returns = returns, .advantage = adv};
  const rlcore_trajectory_frames frame = {
      .struct_size = sizeof frame, .num_frames = 1, .columns = values, .reward = reward, .value = value,
      .terminated = terminated, .truncated = truncated,
  };
  rlcore_rollout_buffer_config config;
  rlcore_trajectory_config one;
  rlcore_rollout_buffer *b;
  rlcore_trajectory *t;
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = T;
  config.num_envs = N;
  config.log_capacity = 32;
  config.columns = columns;
  config.num_columns = LEN(columns);
  TRY(rlcore_trajectory_config_init(&one, sizeof one));
  one.columns = columns;
  one.num_columns = LEN(columns);
  TRY(rlcore_rollout_buffer_init(mem, sizeof mem, &config, &b));
  TRY(rlcore_trajectory_init(small, sizeof small, &one, &t));
  TRY(rlcore_rng_seed(&rng, 21));
  for (uint32_t k = 0; k < T; k++) {
    TRY(draw(&rng, -1.0, 1.0, obs, N * OBS));
    TRY(draw(&rng, -1.0, 1.0, reward, N));
    TRY(draw(&rng, -1.0, 1.0, value, N));
    TRY(draw(&rng, -2.0, 0.0, log_prob, N));
    TRY(draw(&rng, -1.0, 1.0, final_value, N));
    for (uint32_t i = 0; i < N; i++) terminated[i] = (k + 3 * i) % 7 == 6, truncated[i] = (k + i) % 5 == 4;
    TRY(rlcore_rollout_buffer_add(b, &step));
    terminated[0] = truncated[0] = 0;
    TRY(rlcore_trajectory_add(t, &frame));
  }
  TRY(rlcore_rollout_buffer_finish(b, value, obs, 0.99f, 0.95f));
  TRY(rlcore_rollout_buffer_draw(b, T * N, R, index, B));
  TRY(rlcore_rollout_buffer_gather(b, index, B, R, &batch));
  TRY(rlcore_trajectory_process(t, 0.99f, 0.95f, 0.5f, &processed));
  mix(hash, index, sizeof index);
  mix(hash, got, sizeof got);
  mix(hash, advantage, sizeof advantage);
  mix(hash, mask, sizeof mask);
  mix(hash, returns, sizeof returns);
  mix(hash, adv, sizeof adv);
  TRY(rlcore_rollout_buffer_size(&config, &size));
  mix(hash, mem, size);
  TRY(rlcore_trajectory_size(&one, &size));
  mix(hash, small, size);
  return RLCORE_OK;
}

/* ---- Hindsight, a queue, and a rollout as a file ---- */
static int32_t near(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user;
  *terminated = *achieved == *goal;
  *reward = *terminated ? 0.0f : -1.0f;
  return 0;
}

static rlcore_status hindsight(uint64_t *hash) {
  enum { T = 20 };
  static float achieved[T + 1], goal[T], reward[T];
  static uint32_t step[T], num_steps[T], row[T], goal_row[T];
  static uint8_t terminated[T];
  rlcore_rng rng;
  for (uint32_t t = 0; t <= T; t++) achieved[t] = (float)(t % 6);
  for (uint32_t t = 0; t < T; t++) step[t] = t, num_steps[t] = T, row[t] = t + 1;
  TRY(rlcore_rng_seed(&rng, 15));
  TRY(rlcore_relabel_draw(RLCORE_RELABEL_FUTURE, step, num_steps, T, &rng, goal_row));
  const rlcore_relabel steps = {sizeof steps, T, 1, T + 1, achieved, row, goal_row};
  TRY(rlcore_relabel_goals(&steps, near, NULL, goal, reward, terminated));
  mix(hash, goal_row, sizeof goal_row);
  mix(hash, goal, sizeof goal);
  mix(hash, reward, sizeof reward);
  mix(hash, terminated, sizeof terminated);
  return RLCORE_OK;
}

static rlcore_status file(uint64_t *hash) {
  enum { T = 7, N = 3 };
  static float obs[(T + 1) * N * 2], real[T * N], bootstrap_value[N], final_obs[2], final_value[1];
  static int32_t action[T * N];
  static uint8_t none[T * N], truncated[T * N], valid[T * N], image[RLCORE_ROLLOUT_FILE_HEADER_SIZE + 1024], back[sizeof image];
  static uint64_t final_index[] = {4}, mem[2048];
  const rlcore_rollout_file what = {sizeof what, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, 0, 1, 0, 1, 2, 3, 4};
  const rlcore_rollout_arrays arrays = {
      sizeof arrays, 0, obs, action, real, real, bootstrap_value, real, none, truncated, valid, final_index, final_obs,
      final_value, NULL,
  };
  const rlcore_rollout_arrays into = {.struct_size = sizeof into, .obs = obs, .action = action};
  const rlcore_queue_config config = {sizeof config, 2, sizeof image, 0};
  rlcore_queue *queue;
  rlcore_rng rng;
  size_t size, taken;
  TRY(rlcore_rng_seed(&rng, 16));
  TRY(draw(&rng, -1.0, 1.0, obs, LEN(obs)));
  TRY(draw(&rng, -1.0, 1.0, real, LEN(real)));
  for (int i = 0; i < T * N; i++) action[i] = -i, valid[i] = 1;
  truncated[4] = 1;
  TRY(rlcore_rollout_file_size(&what, &size));
  TRY(rlcore_rollout_file_write(&what, &arrays, image, sizeof image));
  TRY(rlcore_queue_init(mem, sizeof mem, &config, &queue));
  TRY(rlcore_queue_push(queue, image, size));
  TRY(rlcore_queue_pop(queue, back, sizeof back, &taken));
  TRY(rlcore_rollout_file_read(back, taken, &into));
  mix(hash, back, taken);
  mix(hash, obs, sizeof obs);
  return RLCORE_OK;
}

/* ---- Training: a few updates in slices, the whole block, and the policy that comes out of it ---- */
static rlcore_status train(uint64_t *hash, uint32_t env_id, rlcore_ppo_config *config, int num_updates) {
  enum { N = 4, MAX_LEN = 4 };
  static uint64_t world[1024], learner[1 << 15], game[1 << 12];
  static float obs[N * MAX_LEN], final_obs[N * MAX_LEN], reward[N], scratch[1 << 12];
  static uint8_t terminated[N], truncated[N];
  static int32_t action[N];  /* or floats: what the environment takes */
  const rlcore_vecenv_out out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  rlcore_env_def env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_ppo *ppo;
  rlcore_policy *policy;
  rlcore_ppo_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  size_t size, scratch_len;
  uint32_t phase;

  TRY(rlcore_env_builtin(env_id, &env, sizeof env));
  if (env.obs.len > MAX_LEN || env.action.len != 1) return RLCORE_E_SHAPE;
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = config->num_envs = N;
  many.seed = 3;
  TRY(rlcore_vecenv_init(world, sizeof world, &env, &many, &envs));
  TRY(rlcore_vecenv_reset(envs, &env, NULL, obs));
  TRY(rlcore_ppo_init(learner, sizeof learner, config, &env.obs, &env.action, &ppo));
  while (num_updates > 0) {
    TRY(rlcore_ppo_act(ppo, obs, NULL, action));
    TRY(rlcore_vecenv_step(envs, &env, action, &out));
    TRY(rlcore_ppo_observe(ppo, reward, terminated, truncated, final_obs));
    TRY(rlcore_ppo_phase(ppo, &phase));
    if (phase != RLCORE_PPO_LEARN) continue;
    do TRY(rlcore_ppo_learn(ppo, obs, 3, &stats));
    while (stats.minibatches_left > 0);
    num_updates--;
    mix(hash, &stats.policy_loss, sizeof(float));
    mix(hash, &stats.grad_norm, sizeof(float));
  }
  TRY(rlcore_ppo_size(config, &env.obs, &env.action, &size));
  mix(hash, learner, size);

  TRY(rlcore_policy_size(ppo, &size));
  TRY(rlcore_policy_export(ppo, game, sizeof game, &policy));
  mix(hash, game, size);
  TRY(rlcore_policy_scratch_len(policy, N, &scratch_len));
  if (scratch_len > LEN(scratch)) return RLCORE_E_SIZE;
  TRY(rlcore_rng_seed(&rng, 10));
  TRY(rlcore_policy_act(policy, N, obs, NULL, NULL, &rng, scratch, LEN(scratch), action));
  mix(hash, action, sizeof action);
  return RLCORE_OK;
}

static rlcore_status ppo_discrete(uint64_t *hash) {
  rlcore_ppo_config config;
  TRY(rlcore_ppo_config_init(&config, sizeof config));
  config.num_steps = 64;
  config.hidden_len[0] = config.hidden_len[1] = 24;
  config.total_steps = 10000;
  config.learning_rate = 2e-3f;
  return train(hash, RLCORE_ENV_CARTPOLE, &config, 6);
}

static rlcore_status ppo_continuous(uint64_t *hash) {
  rlcore_ppo_config config;
  TRY(rlcore_ppo_config_init(&config, sizeof config));
  config.num_steps = 70;
  config.num_hidden = 1;
  config.hidden_len[0] = 21;
  config.hidden_len[1] = 0;
  config.activation = RLCORE_ACTIVATION_RELU;
  config.normalize_obs = config.normalize_reward = config.squash = 1;
  config.value_clip = 0.2f;
  config.target_kl = 0.05f;
  return train(hash, RLCORE_ENV_PENDULUM, &config, 6);
}

/* ---- The table ---- */
static const struct {
  const char *name;
  rlcore_status (*run)(uint64_t *hash);
} STAGES[] = {
    {"rng", rng},
    {"normal", normal},
    {"hash", fnv},
    {"last_error", last_error},
    {"gae", gae},
    {"returns", returns},
    {"vtrace", vtrace},
    {"targets", targets},
    {"categorical", categorical},
    {"gaussian", gaussian},
    {"probes", probes},
    {"cartpole", cartpole},
    {"mountain_car", mountain_car},
    {"mountain_car_continuous", mountain_car_continuous},
    {"acrobot", acrobot},
    {"pendulum", pendulum},
    {"callbacks", callbacks},
    {"wrapped", wrapped},
    {"records", records},
    {"pictures", pictures},
    {"frames", frames},
    {"memory", memory},
    {"replay", replay},
    {"rollouts", rollouts},
    {"hindsight", hindsight},
    {"file", file},
    {"ppo_discrete", ppo_discrete},
    {"ppo_continuous", ppo_continuous},
};

int bits(void (*print)(const char *text)) {
  int failed = 0;
  for (size_t i = 0; i < LEN(STAGES); i++) {
    uint64_t hash = 0xcbf29ce484222325u;
    char hex[17] = {0}, text[256] = {0};
    rlcore_status status = STAGES[i].run(&hash);
    for (int digit = 0; digit < 16; digit++) hex[digit] = "0123456789abcdef"[hash >> (60 - 4 * digit) & 15];
    print(status == RLCORE_OK ? hex : rlcore_status_name(status));
    print("  ");
    print(STAGES[i].name);
    print("\n");
    if (status != RLCORE_OK) {
      failed++;
      if (rlcore_last_error(text, sizeof text) == RLCORE_OK) print(text);
      print("\n");
    }
  }
  return failed;
}
