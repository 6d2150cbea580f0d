/* One table of stages, each of them plain C calls into the library and one hash of all that they returned.
   This file does no floating-point arithmetic: what is compared is the library, not the C compiler. */
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
    {"categorical", categorical},
    {"gaussian", gaussian},
    {"probes", probes},
    {"cartpole", cartpole},
    {"mountain_car", mountain_car},
    {"mountain_car_continuous", mountain_car_continuous},
    {"acrobot", acrobot},
    {"pendulum", pendulum},
    {"callbacks", callbacks},
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
