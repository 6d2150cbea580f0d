/* Finite inputs from the ends of their types: results overflow, and infinities meet each other and 0. Processors give the
   resulting NaN different bits; the library writes a single NaN, or returns an error. */
#include "stages.h"
#include <float.h>

static rlcore_status extremes(rlcore_rng *rng, float *out, size_t len) {
  static const float some[] = {FLT_MAX, -FLT_MAX, 3e38f, -3e38f, FLT_MIN, -FLT_MAX, 0.0f, 1.0f};
  int64_t i;
  for (; len--; *out++ = some[i]) TRY(rlcore_rng_integers(rng, 0, LEN(some), &i, 1));
  return RLCORE_OK;
}

/* Mixes floats and counts the NaN among them; E_VALUE for a NaN other than 7fc00000. */
static rlcore_status mix_floats(hashes *h, const float *x, size_t len, uint32_t *num_nan) {
  for (size_t i = 0; i < len; i++) {
    uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    const int is_nan = (bits & 0x7fffffff) > 0x7f800000;
    CHECK(!is_nan || bits == 0x7fc00000);
    *num_nan += is_nan;
  }
  MIX_SOME(h, x, len);
  return RLCORE_OK;
}

static rlcore_status mix_doubles(hashes *h, const double *x, size_t len) {
  for (size_t i = 0; i < len; i++) {
    uint64_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    CHECK((bits & INT64_MAX) <= 0x7ff0000000000000 || bits == 0x7ff8000000000000);
  }
  MIX_SOME(h, x, len);
  return RLCORE_OK;
}

/* A call that may refuse its inputs: its status is mixed in, too. */
#define SAY(call) do { const rlcore_status said_ = (call); MIX_ONE(h, said_); } while (0)
/* The same for a call that writes to a and b, whose contents afterwards are mixed in. */
#define WRITES(call) \
  do { \
    SAY(call); \
    TRY(mix_floats(h, a, LEN(a), &num_nan)); \
    TRY(mix_floats(h, b, LEN(b), &num_nan)); \
  } while (0)

static rlcore_status estimators(hashes *h) {
  enum { T = 9, N = 83, A = 5 };
  static float reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N], done[T * N], next_done[N];
  static float q[T * N], log_rho[T * N], discounts[T * N], behavior[T * N * A], target[T * N * A];
  static float a[T * N], b[T * N], ratio[T * N], mu[T * N], pi[T * N];
  static uint8_t terminated[T * N], truncated[T * N];
  static int32_t action[T * N];
  rlcore_rollout r = {
      .struct_size = sizeof r, .num_steps = T, .num_envs = N, .reward = reward, .value = value,
      .bootstrap_value = bootstrap_value, .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  rlcore_shifted_rollout older = {
      .struct_size = sizeof older, .num_steps = T, .num_envs = N, .reward = reward, .value = value, .done = done,
      .next_value = bootstrap_value, .next_done = next_done,
  };
  const rlcore_vtrace_logits logits = {sizeof logits, A, behavior, target, action};
  const rlcore_vtrace_out out = {
      .struct_size = sizeof out, .vs = a, .pg_advantage = b, .log_rho = ratio, .behavior_log_prob = mu,
      .target_log_prob = pi,
  };
  rlcore_vtrace v;
  rlcore_rng rng;
  uint32_t num_nan = 0;
  TRY(rlcore_rng_seed(&rng, 31));
  float *const arrays[] = {reward, value, final_value, done, q};
  for (size_t i = 0; i < LEN(arrays); i++) TRY(extremes(&rng, arrays[i], T * N));
  TRY(extremes(&rng, bootstrap_value, N));
  TRY(extremes(&rng, next_done, N));
  TRY(extremes(&rng, behavior, T * N * A));
  TRY(extremes(&rng, target, T * N * A));
  TRY(draw(&rng, -100.0, 100.0, log_rho, T * N));
  for (int i = 0; i < T * N; i++) {
    terminated[i] = i % 13 == 0;
    truncated[i] = i % 17 == 0;
    discounts[i] = terminated[i] ? 0.0f : 1.0f;
    action[i] = i % A;
  }
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
  v.clip_rho = v.clip_c = v.clip_pg_rho = FLT_MAX;
  for (uint32_t sums = RLCORE_ACCUMULATE_F32; sums <= RLCORE_ACCUMULATE_F64; sums++) {
    r.accumulate = older.accumulate = v.accumulate = sums;
    for (int i = 0; i < 2; i++) {
      const float discount = i ? 0.0f : 1.0f;
      WRITES(rlcore_gae(&r, discount, 1.0f, a, b));
      WRITES(rlcore_gae_shifted(&older, discount, 1.0f, a, b));
      WRITES(rlcore_td_lambda(&r, discount, 1.0f, a, b));
      WRITES(rlcore_upgo(&r, discount, a, b));
      WRITES(rlcore_retrace(&r, OFF_POLICY_OF(q, log_rho, discount, 1.0f), a, b));
      WRITES(rlcore_lambda_returns(&r, discount, 0.5f, a));
      WRITES(rlcore_n_step_returns(&r, discount, 4, a));
      WRITES(rlcore_discounted_sum(reward, T, N, discount, a));
    }
    WRITES(rlcore_vtrace_from_importance_weights(&v, a, b));
    WRITES(rlcore_vtrace_from_logits(&v, &logits, &out));
    v.leak = 1.0f;
    TRY(mix_floats(h, ratio, LEN(ratio), &num_nan));
    TRY(mix_floats(h, mu, LEN(mu), &num_nan));
    TRY(mix_floats(h, pi, LEN(pi), &num_nan));
  }
  CHECK(num_nan > 1000);
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

static rlcore_status moments(hashes *h) {
  enum { T = 9, N = 21 };
  static const double means[] = {0.0, 1e60, -1e60, 1e200}, vars[] = {1.0, 0.0, 1e120, 1e300}, counts[] = {0.0, 1e19, -9.0};
  static float x[T * N], a[T * N], b[T * N];
  double mean[N], var[N], with_mean[N], with_var[N], count, explained;
  rlcore_rng rng;
  uint32_t num_nan = 0;
  TRY(rlcore_rng_seed(&rng, 32));
  TRY(extremes(&rng, x, T * N));
  TRY(extremes(&rng, b, T * N));
  for (size_t i = 0; i < LEN(means) * LEN(vars) * LEN(counts); i++) {
    for (int j = 0; j < N; j++) {
      mean[j] = means[i % LEN(means)], var[j] = vars[i / LEN(means) % LEN(vars)];
      with_mean[j] = -mean[j], with_var[j] = var[j];
    }
    count = counts[i / LEN(means) / LEN(vars)];
    SAY(rlcore_moments_update(x, T, N, mean, var, &count));
    SAY(rlcore_moments_merge(N, with_mean, with_var, 3.0, mean, var, &count));
    TRY(mix_doubles(h, mean, N));
    TRY(mix_doubles(h, var, N));
    TRY(mix_doubles(h, &count, 1));
    WRITES(rlcore_normalize(NORMALIZER(N, mean, var, i % 2 ? 1e-30 : 1e30, FLT_MAX), x, T, a));
  }
  SAY(rlcore_explained_variance(x, b, T * N, &explained));
  TRY(mix_doubles(h, &explained, 1));
  for (int i = 0; i < T * N; i++) a[i] = FLT_MIN, b[i] = i == 7 ? 1.0f : FLT_MIN;
  SAY(rlcore_explained_variance(x, b, T * N, &explained));
  TRY(mix_doubles(h, &explained, 1));
  WRITES(rlcore_standardize(x, T * N, 0.0));
  WRITES(rlcore_standardize(a, T * N, 0.0));
  WRITES(rlcore_standardize(b, T * N, 1e-300));
  TRY(mix_floats(h, x, LEN(x), &num_nan));
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

static rlcore_status policies(hashes *h) {
  enum { B = 35, K = 3, L = 2 + 5 + 3, A = 3 };
  static const uint32_t n[K] = {2, 5, 3};
  static float a[B * L], b[B], logits[B * L], uniform[B * K], mean[B * A], normal[B * A], log_std[A] = {-40.0f, 40.0f, 0.0f};
  static int32_t action[B * K];
  const rlcore_logits batch = {.struct_size = sizeof batch, .num_rows = B, .num_choices = K, .n = n, .logits = logits};
  const rlcore_gaussian bell = {
      .struct_size = sizeof bell, .num_rows = B, .action_len = A, .mean = mean, .log_std = log_std};
  rlcore_rng rng;
  uint32_t num_nan = 0;
  float number;
  TRY(rlcore_rng_seed(&rng, 33));
  TRY(extremes(&rng, logits, B * L));
  TRY(extremes(&rng, mean, B * A));
  TRY(extremes(&rng, normal, B * A));
  WRITES(rlcore_categorical_log_softmax(&batch, a));
  WRITES(rlcore_categorical_entropy(&batch, b));
  for (uint32_t method = RLCORE_SAMPLING_BASIC; method <= RLCORE_SAMPLING_BOTTOMK; method++) {
    const rlcore_sampling sampling = {
        .method = method, .k = method >= RLCORE_SAMPLING_TOPK ? 2 : 0, .temperature = method == RLCORE_SAMPLING_TEMPERATURE ? FLT_MAX : 0};
    TRY(draw(&rng, 0.0, 1.0, uniform, B * K));
    SAY(rlcore_categorical_sample(&batch, &sampling, uniform, action));
    MIX(h, action);
    WRITES(rlcore_categorical_log_prob(&batch, action, b));
  }
  WRITES(rlcore_gaussian_sample(&bell, normal, a));
  WRITES(rlcore_gaussian_log_prob(&bell, normal, b));
  WRITES(rlcore_gaussian_squash(normal, B * A, a));
  for (int i = 0; i < B; i++) b[i] = i % 2 ? FLT_MAX : -FLT_MAX;
  WRITES(rlcore_gaussian_squash_log_prob(normal, B, A, b));
  SAY(rlcore_gaussian_entropy(log_std, A, &number));
  TRY(mix_floats(h, &number, 1, &num_nan));
  SAY(rlcore_replay_linear(FLT_MAX, -FLT_MAX, 0.5f, &number));
  TRY(mix_floats(h, &number, 1, &num_nan));
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

static rlcore_status losses(hashes *h) {
  enum { B = 35, C = 5, A = 3 };
  static const uint32_t n[1] = {A};
  static float columns[6][B], a[B * C * A], b[B * C], q[B * C * A], cells[2][B * C], log_std[A] = {-40.0f, 40.0f, 0.0f};
  static int32_t action[B];
  static rlcore_losses all;
  const rlcore_loss_batch batch = {
      .struct_size = sizeof batch, .num_rows = B, .clip = FLT_MAX, .value_clip = 1.0f, .value_coef = FLT_MAX,
      .log_prob = columns[0], .old_log_prob = columns[1], .advantage = columns[2], .value = columns[3],
      .old_value = columns[4], .value_target = columns[5],
  };
  const rlcore_logits choices = {.struct_size = sizeof choices, .num_rows = B, .num_choices = 1, .n = n, .logits = q};
  const rlcore_gaussian bell = {.struct_size = sizeof bell, .num_rows = B, .action_len = A, .mean = q, .log_std = log_std};
  rlcore_rng rng;
  uint32_t num_nan = 0;
  float loss[3];
  TRY(rlcore_rng_seed(&rng, 35));
  for (int i = 0; i < 6; i++) TRY(extremes(&rng, columns[i], B));
  for (int i = 0; i < 2; i++) TRY(extremes(&rng, cells[i], B * C));
  TRY(extremes(&rng, q, B * C * A));
  for (int i = 0; i < B; i++) action[i] = i % A;
  for (int i = 0; i < 2; i++) {
    SAY(i ? rlcore_ppo_loss(&batch, a, b, &all) : rlcore_actor_critic_loss(&batch, a, b, &all));
    TRY(mix_floats(h, a, B, &num_nan));
    TRY(mix_floats(h, b, B, &num_nan));
    const float numbers[] = {all.policy_loss, all.value_loss, all.approx_kl, all.clip_fraction};
    TRY(mix_floats(h, numbers, LEN(numbers), &num_nan));
  }
  WRITES(rlcore_value_loss(columns[3], columns[5], B, b, &loss[0]));
  WRITES(rlcore_reward_class_loss(q, action, B, a, &loss[1]));
  WRITES(rlcore_pixel_control_loss(PIXEL_CONTROL(B, C, A, q, cells[0], cells[1], action), a, b, &loss[2]));
  WRITES(rlcore_pixel_control_loss(PIXEL_CONTROL(B, C, A, q, NULL, cells[1], action), a, NULL, &loss[2]));
  WRITES(rlcore_categorical_gradient(&choices, action, columns[2], columns[3], a));
  WRITES(rlcore_gaussian_gradient(&bell, cells[0], columns[2], columns[3], a, b));
  TRY(mix_floats(h, loss, LEN(loss), &num_nan));
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

/* Actions and rewards at the ends of their ranges, bare and through wrappers that calculate with them. */
static rlcore_status worlds(hashes *h) {
  enum { N = 11 };
  static const rlcore_wrapper lists[][2] = {
      {{.kind = RLCORE_WRAP_RESCALE_ACTION, .low = -FLT_MIN, .high = FLT_MIN}, {.kind = RLCORE_WRAP_CLIP_REWARD}},
      {{.kind = RLCORE_WRAP_RESCALE_ACTION, .low = -FLT_MAX, .high = FLT_MAX}, {.kind = RLCORE_WRAP_CLIP_REWARD}},
      {{.kind = RLCORE_WRAP_CLIP_ACTION}, {.kind = RLCORE_WRAP_SCALE_REWARD, .factor = FLT_MAX}},
      {{.kind = RLCORE_WRAP_SCALE_REWARD, .factor = FLT_MAX}, {.kind = RLCORE_WRAP_CLIP_REWARD}},
  };
  static const uint32_t ids[] = {RLCORE_ENV_PENDULUM, RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS};
  static uint64_t world[1024];
  static float obs[N * 3], final_obs[N * 3], reward[N], push[N];
  static uint8_t terminated[N], truncated[N];
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  rlcore_vecenv_config many;
  rlcore_rng rng;
  uint32_t num_nan = 0;
  TRY(rlcore_rng_seed(&rng, 34));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  for (size_t i = 0; i < LEN(ids) * (LEN(lists) + 1); i++) {
    rlcore_env_def def = *BUILTIN(ids[i % LEN(ids)]);
    compiled_env env;
    rlcore_vecenv *v;
    rlcore_status made;
    if (i / LEN(ids) < LEN(lists)) def.wrappers = lists[i / LEN(ids)], def.num_wrappers = 2;
    made = compile_env(&def, &env);
    if (made == RLCORE_OK) made = rlcore_vecenv_init(world, sizeof world, env.env, &many, &v);
    MIX_ONE(h, made);
    if (made != RLCORE_OK) continue;
    SAY(rlcore_vecenv_reset(v, env.env, NULL, obs));
    for (int t = 0; t < 20; t++) {
      TRY(extremes(&rng, push, N));
      SAY(rlcore_vecenv_step(v, env.env, TAKING(push, &out)));
      TRY(mix_floats(h, obs, LEN(obs), &num_nan));
      TRY(mix_floats(h, reward, N, &num_nan));
    }
  }
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

static rlcore_status stores(hashes *h) {
  enum { T = 12, N = 19 };
  static const rlcore_column columns[] = {{.name = "obs", .kind = RLCORE_F32, .len = 1}};
  static uint64_t rollouts[2048], trajectories[512], normalizer[256];
  static float obs[N], reward[N], value[N], final_value[N], log_prob[N], a[T], b[T];
  static uint8_t terminated[N], truncated[N];
  const void *values[] = {obs};
  const rlcore_rollout_step step = {
      .struct_size = sizeof step, .columns = values, .reward = reward, .value = value, .log_prob = log_prob,
      .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  const rlcore_trajectory_frames frame = {
      .struct_size = sizeof frame, .num_frames = 1, .columns = values, .reward = reward, .value = value,
      .terminated = terminated, .truncated = truncated,
  };
  const rlcore_trajectory_rows rows = {.struct_size = sizeof rows, .num_rows = T, .returns = a, .advantage = b};
  const rlcore_rows seen = {
      .struct_size = sizeof seen, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_value,
  };
  rlcore_rollout_progress progress = {.struct_size = sizeof progress};
  rlcore_rollout_extras extras = {.struct_size = sizeof extras};
  rlcore_rollout_buffer_config rollout;
  rlcore_trajectory_config trajectory;
  rlcore_vec_normalize_config scale;
  rlcore_rollout_buffer *r;
  rlcore_trajectory *t;
  rlcore_vec_normalize *n;
  rlcore_rng rng;
  uint32_t num_nan = 0;
  TRY(rlcore_rng_seed(&rng, 35));
  TRY(rlcore_rollout_buffer_config_init(&rollout, sizeof rollout));
  TRY(rlcore_trajectory_config_init(&trajectory, sizeof trajectory));
  TRY(rlcore_vec_normalize_config_init(&scale, sizeof scale));
  rollout.num_steps = trajectory.capacity = T;
  rollout.num_envs = scale.num_envs = N;
  rollout.log_capacity = 2 * N;
  rollout.columns = trajectory.columns = columns;
  rollout.num_columns = trajectory.num_columns = scale.obs_len = 1;
  TRY(rlcore_rollout_buffer_init(rollouts, sizeof rollouts, &rollout, &r));
  TRY(rlcore_trajectory_init(trajectories, sizeof trajectories, &trajectory, &t));
  TRY(rlcore_vec_normalize_init(normalizer, sizeof normalizer, &scale, &n));
  TRY(rlcore_vec_normalize_reset(n, obs, obs));
  for (int k = 0; k < T; k++) {
    float *const arrays[] = {obs, reward, value, final_value, log_prob};
    for (size_t i = 0; i < LEN(arrays); i++) TRY(extremes(&rng, arrays[i], N));
    for (int i = 0; i < N; i++) terminated[i] = i > 0 && (k + i) % 7 == 0, truncated[i] = i > 0 && (k + i) % 5 == 0;
    TRY(rlcore_rollout_buffer_add(r, &step));
    TRY(rlcore_trajectory_add(t, &frame));
    SAY(rlcore_vec_normalize_step(n, &seen, NULL));
    TRY(mix_floats(h, obs, N, &num_nan));
    TRY(mix_floats(h, reward, N, &num_nan));
  }
  WRITES(rlcore_trajectory_process(t, 1.0f, 1.0f, FLT_MAX, &rows));
  TRY(rlcore_rollout_buffer_finish(r, value, obs, 1.0f, 1.0f));
  TRY(rlcore_rollout_buffer_extras(r, &extras));
  TRY(rlcore_rollout_buffer_progress(r, &progress));
  TRY(mix_floats(h, extras.advantage, T * N, &num_nan));
  TRY(mix_floats(h, extras.value_target, T * N, &num_nan));
  TRY(mix_doubles(h, &progress.return_mean, 1));
  CHECK(num_nan > 10);
  MIX_ONE(h, num_nan);
  return RLCORE_OK;
}

const stage OVERFLOW_STAGES[] = {
    {"overflow of estimators", estimators},
    {"overflow of moments", moments},
    {"overflow of policies", policies},
    {"overflow of losses", losses},
    {"overflow of environments", worlds},
    {"overflow of stores", stores},
    {NULL, NULL},
};
