/* Random streams, texts and all functions without state. */
#include "stages.h"

/* ---- Random streams ---- */
static rlcore_status rng(hashes *h) {
  static double uniform[1000];
  static int64_t integers[1000];
  static uint32_t permutation[1000];
  rlcore_rng rng;
  TRY(rlcore_rng_stream(&rng, 123456789, 3));
  TRY(rlcore_rng_uniform(&rng, -2.0, 3.0, uniform, LEN(uniform)));
  TRY(rlcore_rng_integers(&rng, -7, 1000003, integers, LEN(integers)));
  TRY(rlcore_rng_permutation(&rng, permutation, LEN(permutation)));
  mix_rng(h, &rng);
  MIX(h, uniform);
  TRY(rlcore_rng_log_uniform(&rng, 1e-5, 10.0, uniform, LEN(uniform)));
  MIX(h, uniform);
  MIX(h, integers);
  MIX(h, permutation);
  return RLCORE_OK;
}

static rlcore_status seeds(hashes *h) {
  static const uint64_t list[] = {0, 1, 42, UINT32_MAX, UINT32_MAX + 1ull, UINT64_MAX};
  for (size_t i = 0; i < LEN(list); i++) {
    uint32_t permutation[33];
    double uniform[5];
    rlcore_rng rng;
    TRY(rlcore_rng_seed(&rng, list[i]));
    TRY(rlcore_rng_permutation(&rng, permutation, LEN(permutation)));
    mix_rng(h, &rng);
    MIX(h, permutation);
    TRY(rlcore_rng_stream(&rng, list[i], list[LEN(list) - 1 - i]));
    TRY(rlcore_rng_uniform(&rng, 0.0, 1.0, uniform, LEN(uniform)));
    mix_rng(h, &rng);
    MIX(h, uniform);
  }
  return RLCORE_OK;
}

static rlcore_status normal(hashes *h) {
  static float x[1003];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 7));
  TRY(rlcore_rng_normal(&rng, x, LEN(x)));
  MIX(h, x);
  return RLCORE_OK;
}

/* ---- The library's hash equals the stages' hash ---- */
static rlcore_status fnv(hashes *h) {
  uint64_t theirs;
  const char text[] = "the same bits everywhere";
  MIX(h, text);
  TRY(rlcore_hash(text, sizeof text, &theirs));
  return theirs == h->values ? RLCORE_OK : RLCORE_E_VALUE;
}

/* ---- Results as text, and versions ---- */
static size_t length(const char *text) {
  size_t len = 0;
  while (text[len] != 0) len++;
  return len;
}

static rlcore_status words(hashes *h) {
  char text[256] = {0};
  for (int32_t status = 1; status >= -20; status--) {
    const char *const both[] = {rlcore_status_name(status), rlcore_status_text(status)};
    for (int i = 0; i < 2; i++) MIX_SOME(h, both[i], length(both[i]));
  }
  CHECK(rlcore_rng_seed(NULL, 0) == RLCORE_E_NULL);
  TRY(rlcore_last_error(text, sizeof text));
  MIX_SOME(h, text, length(text));
  CHECK(rlcore_version() == (RLCORE_VERSION_MAJOR << 16 | RLCORE_VERSION_MINOR << 8 | RLCORE_VERSION_PATCH));
  CHECK(rlcore_abi_version() == RLCORE_ABI_VERSION && rlcore_image_version() == RLCORE_IMAGE_VERSION);
  return RLCORE_OK;
}

/* ---- Advantages: a width that is no multiple of any processor's vector lanes ---- */
static rlcore_status gae(hashes *h) {
  enum { T = 37, N = 53 };
  static float reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N], advantage[T * N], target[T * N];
  static float again[2][T * N], done[T * N], next_done[N];
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
    done[i] = i % 11 == 0 ? 1.0f : 0.0f;
  }
  const rlcore_rollout rollout = {
      .struct_size = sizeof rollout, .num_steps = T, .num_envs = N, .reward = reward, .value = value,
      .bootstrap_value = bootstrap_value, .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  rlcore_shifted_rollout older = {
      .struct_size = sizeof older, .num_steps = T, .num_envs = N, .reward = reward, .value = value, .done = done,
      .next_value = bootstrap_value, .next_done = next_done,
  };
  TRY(rlcore_gae(&rollout, 0.99f, 0.95f, advantage, target));
  MIX(h, advantage);
  MIX(h, target);
  TRY(rlcore_gae_range(&rollout, 0.99f, 0.95f, 0, 19, again[0], again[1]));
  TRY(rlcore_gae_range(&rollout, 0.99f, 0.95f, 19, N, again[0], again[1]));
  for (int i = 0; i < T * N; i++) CHECK(again[0][i] == advantage[i] && again[1][i] == target[i]);
  for (older.accumulate = RLCORE_ACCUMULATE_F32; older.accumulate <= RLCORE_ACCUMULATE_F64; older.accumulate++) {
    TRY(rlcore_gae_shifted(&older, 0.99f, 0.95f, advantage, target));
    MIX(h, advantage);
    MIX(h, target);
  }
  return RLCORE_OK;
}

static rlcore_status returns(hashes *h) {
  enum { T = 33, N = 19 };
  static float x[T * N], sum[T * N], scaled[T * N];
  static double mean[N], var[N], other_mean[N], other_var[N];
  double count, other_count, explained;
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 6));
  TRY(draw(&rng, -1.0, 1.0, x, T * N));
  TRY(rlcore_discounted_sum(x, T, N, 0.97f, sum));
  TRY(rlcore_moments_reset(N, 0.0, mean, var, &count));
  TRY(rlcore_moments_update(sum, T, N, mean, var, &count));
  TRY(rlcore_moments_update(x, T, N, mean, var, &count));
  TRY(rlcore_moments_reset(N, 1e-4, other_mean, other_var, &other_count));
  TRY(rlcore_moments_update(x, 5, N, other_mean, other_var, &other_count));
  TRY(rlcore_moments_merge(N, mean, var, count, other_mean, other_var, &other_count));
  TRY(rlcore_normalize(NORMALIZER(N, other_mean, other_var, 1e-8, 2.0f), x, T, scaled));
  TRY(rlcore_explained_variance(x, sum, T * N, &explained));
  TRY(rlcore_standardize(x, T * N, 1e-8));
  MIX(h, sum);
  MIX(h, mean);
  MIX(h, var);
  MIX_ONE(h, count);
  MIX(h, other_mean);
  MIX(h, other_var);
  MIX_ONE(h, other_count);
  MIX(h, scaled);
  MIX_ONE(h, explained);
  MIX(h, x);
  return RLCORE_OK;
}

/* ---- Off-policy and multi-step targets ---- */
static rlcore_status vtrace(hashes *h) {
  enum { T = 23, N = 21, A = 7 };
  static float log_rho[T * N], discounts[T * N], reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N];
  static float behavior[T * N * A], target[T * N * A], vs[T * N], pg_advantage[T * N], ratio[T * N];
  static float mu[T * N], pi[T * N], again[3][T * N];
  static int32_t action[T * N];
  static uint8_t truncated[T * N];
  const rlcore_vtrace_logits logits = {sizeof logits, A, behavior, target, action};
  const rlcore_vtrace_out out = {
      .struct_size = sizeof out, .vs = vs, .pg_advantage = pg_advantage, .log_rho = ratio, .behavior_log_prob = mu,
      .target_log_prob = pi,
  };
  const rlcore_vtrace_out into = {
      .struct_size = sizeof into, .vs = again[0], .pg_advantage = again[1], .log_rho = again[2]};
  rlcore_vtrace v;
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 19));
  TRY(draw(&rng, -2.0, 2.0, log_rho, T * N));
  TRY(draw(&rng, 0.0, 1.0, discounts, T * N));
  TRY(draw(&rng, -1.0, 1.0, reward, T * N));
  TRY(draw(&rng, -5.0, 5.0, value, T * N));
  TRY(draw(&rng, -5.0, 5.0, final_value, T * N));
  TRY(draw(&rng, -5.0, 5.0, bootstrap_value, N));
  TRY(draw(&rng, -3.0, 3.0, behavior, T * N * A));
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
    MIX(h, vs);
    MIX(h, pg_advantage);
    TRY(rlcore_vtrace_from_importance_weights_range(&v, 0, 6, again[0], again[1]));
    TRY(rlcore_vtrace_from_importance_weights_range(&v, 6, N, again[0], again[1]));
    for (int i = 0; i < T * N; i++) CHECK(again[0][i] == vs[i] && again[1][i] == pg_advantage[i]);
    TRY(rlcore_vtrace_from_logits(&v, &logits, &out));
    MIX(h, vs);
    MIX(h, pg_advantage);
    MIX(h, ratio);
    MIX(h, mu);
    MIX(h, pi);
    TRY(rlcore_vtrace_from_logits_range(&v, &logits, 0, 9, &into));
    TRY(rlcore_vtrace_from_logits_range(&v, &logits, 9, N, &into));
    for (int i = 0; i < T * N; i++) CHECK(again[0][i] == vs[i] && again[1][i] == pg_advantage[i] && again[2][i] == ratio[i]);
  }
  return RLCORE_OK;
}

/* One call, then two ranges, with the same results. */
#define SPLIT(whole, first, second) \
  do { \
    TRY(whole); \
    MIX(h, out[0]); \
    MIX(h, out[1]); \
    for (int i = 0; i < T * N; i++) kept[0][i] = out[0][i], kept[1][i] = out[1][i], out[0][i] = out[1][i] = 0.0f; \
    TRY(first); \
    TRY(second); \
    for (int i = 0; i < T * N; i++) CHECK(kept[0][i] == out[0][i] && kept[1][i] == out[1][i]); \
  } while (0)

static rlcore_status targets(hashes *h) {
  enum { T = 31, N = 70, M = 33 };
  static float reward[T * N], value[T * N], final_value[T * N], bootstrap_value[N], q[T * N], log_rho[T * N];
  static float out[2][T * N], kept[2][T * N];
  static uint8_t terminated[T * N], truncated[T * N];
  rlcore_rollout r = {
      .struct_size = sizeof r, .num_steps = T, .num_envs = N, .reward = reward, .value = value,
      .bootstrap_value = bootstrap_value, .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  float *const a = out[0], *const b = out[1];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 20));
  TRY(draw(&rng, -1.0, 1.0, reward, T * N));
  TRY(draw(&rng, -9.0, 9.0, value, T * N));
  TRY(draw(&rng, -9.0, 9.0, final_value, T * N));
  TRY(draw(&rng, -9.0, 9.0, bootstrap_value, N));
  TRY(draw(&rng, -9.0, 9.0, q, T * N));
  TRY(draw(&rng, -2.0, 2.0, log_rho, T * N));
  for (int i = 0; i < T * N; i++) terminated[i] = i % 13 == 0, truncated[i] = i % 17 == 0;
  for (r.accumulate = RLCORE_ACCUMULATE_F32; r.accumulate <= RLCORE_ACCUMULATE_F64; r.accumulate++) {
    SPLIT(rlcore_gae(&r, 0.99f, 0.95f, a, b), rlcore_gae_range(&r, 0.99f, 0.95f, 0, M, a, b),
          rlcore_gae_range(&r, 0.99f, 0.95f, M, N, a, b));
    SPLIT(rlcore_td_lambda(&r, 0.99f, 0.9f, a, b), rlcore_td_lambda_range(&r, 0.99f, 0.9f, 0, M, a, b),
          rlcore_td_lambda_range(&r, 0.99f, 0.9f, M, N, a, b));
    SPLIT(rlcore_upgo(&r, 0.98f, a, b), rlcore_upgo_range(&r, 0.98f, 0, M, a, b), rlcore_upgo_range(&r, 0.98f, M, N, a, b));
    SPLIT(rlcore_retrace(&r, OFF_POLICY_OF(q, log_rho, 0.99f, 0.9f), a, b), rlcore_retrace_range(&r, OFF_POLICY_OF(q, log_rho, 0.99f, 0.9f), 0, M, a, b),
          rlcore_retrace_range(&r, OFF_POLICY_OF(q, log_rho, 0.99f, 0.9f), M, N, a, b));
    for (int i = 0; i < T * N; i++) a[i] = 0.0f;
    SPLIT(rlcore_lambda_returns(&r, 0.99f, 0.9f, b), rlcore_lambda_returns_range(&r, 0.99f, 0.9f, 0, M, b),
          rlcore_lambda_returns_range(&r, 0.99f, 0.9f, M, N, b));
    SPLIT(rlcore_n_step_returns(&r, 0.99f, 5, b), rlcore_n_step_returns_range(&r, 0.99f, 5, 0, M, b),
          rlcore_n_step_returns_range(&r, 0.99f, 5, M, N, b));
  }
  return RLCORE_OK;
}

/* ---- Arrays transposed, stacked, gathered and shifted ---- */
static rlcore_status arrays(hashes *h) {
  enum { R = 13, C = 9, W = 3 };
  static float x[R * C * W], turned[R * C * W], shifted[R * R * C], stacked[(R + C) * W];
  static uint8_t bytes[R * C], bytes_turned[R * C], valid[2 * 16];
  static const int64_t index[] = {0, -1, 5, 5, -13, 12};
  static float gathered[LEN(index) * C * W];
  static const uint32_t rows[] = {R, C};
  const void *const parts[] = {x, x + R * W};
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 22));
  TRY(draw(&rng, -1.0, 1.0, x, LEN(x)));
  TRY(draw_bytes(&rng, 256, bytes, LEN(bytes)));
  TRY(rlcore_transpose(RLCORE_F32, R, C, W, x, turned));
  TRY(rlcore_transpose(RLCORE_U8, R, C, 1, bytes, bytes_turned));
  TRY(rlcore_shift_rows(x, R, C, shifted));
  TRY(rlcore_rows_stack(parts, rows, 2, W, RLCORE_F32, stacked, R + C));
  TRY(rlcore_rows_gather(x, R, C * W, RLCORE_F32, index, LEN(index), gathered));
  TRY(rlcore_rows_valid(rows, 2, 16, valid));
  MIX(h, turned);
  MIX(h, bytes_turned);
  MIX(h, shifted);
  MIX(h, stacked);
  MIX(h, gathered);
  MIX(h, valid);
  for (int i = 0; i < 20; i++) {
    uint32_t class;
    float between;
    TRY(rlcore_reward_class_of(x[i], 0.25f, &class));
    TRY(rlcore_replay_linear(0.4f, 1.0f, bytes[i] < 128 ? 0.3f : 0.7f, &between));
    MIX_ONE(h, class);
    MIX_ONE(h, between);
  }
  return RLCORE_OK;
}

/* ---- Policies' distributions ---- */
static rlcore_status categorical(hashes *h) {
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
  MIX(h, log_softmax);
  MIX(h, entropy);
  for (uint32_t method = RLCORE_SAMPLING_BASIC; method <= RLCORE_SAMPLING_BOTTOMK; method++) {
    const rlcore_sampling sampling = {
        .method = method, .k = method >= RLCORE_SAMPLING_TOPK ? 2 : 0, .temperature = method == RLCORE_SAMPLING_TEMPERATURE ? 0.7f : 0};
    TRY(draw(&rng, 0.0, 1.0, uniform, B * K));
    TRY(rlcore_categorical_sample(&batch, &sampling, uniform, action));
    TRY(rlcore_categorical_log_prob(&batch, action, log_prob));
    MIX(h, action);
    MIX(h, log_prob);
  }
  return RLCORE_OK;
}

static rlcore_status gaussian(hashes *h) {
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
  MIX(h, log_prob);
  TRY(rlcore_gaussian_squash(action, B * A, squashed));
  TRY(rlcore_gaussian_squash_log_prob(action, B, A, log_prob));
  TRY(rlcore_gaussian_entropy(log_std, A, &entropy));
  MIX(h, action);
  MIX(h, squashed);
  MIX(h, log_prob);
  MIX_ONE(h, entropy);
  return RLCORE_OK;
}

/* ---- Losses of a host's own networks, and their gradients ---- */
static rlcore_status losses(hashes *h) {
  enum { B = 35, K = 2, L = 3 + 4, A = 3, C = 5 };
  static const uint32_t n[K] = {3, 4};
  static float columns[6][B], d[2][B], logits[B * L], d_logits[B * L], mean[B * A], vector[B * A], d_mean[B * A], d_log_std[A];
  static float q[B * C * A], d_q[B * C * A], cells[2][B * C], d_cell[B * C];
  static const float log_std[A] = {-1.0f, 0.0f, 0.5f};
  static int32_t action[B * K], class[B];
  static rlcore_losses all;
  float loss[3];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 41));
  for (int i = 0; i < 6; i++) TRY(draw(&rng, -1.5, 1.5, columns[i], B));
  TRY(draw(&rng, -4.0, 4.0, logits, B * L));
  TRY(draw(&rng, -2.0, 2.0, mean, B * A));
  TRY(draw(&rng, -2.0, 2.0, vector, B * A));
  TRY(draw(&rng, -2.0, 2.0, q, B * C * A));
  for (int i = 0; i < 2; i++) TRY(draw(&rng, -2.0, 2.0, cells[i], B * C));
  for (int i = 0; i < B; i++) action[2 * i] = class[i] = i % 3, action[2 * i + 1] = i % 4;
  rlcore_loss_batch batch = {
      .struct_size = sizeof batch, .num_rows = B, .clip = 0.2f, .value_coef = 0.5f, .log_prob = columns[0],
      .advantage = columns[1], .value = columns[2], .value_target = columns[3],
  };
  const rlcore_logits of_choices = {.struct_size = sizeof of_choices, .num_rows = B, .num_choices = K, .n = n, .logits = logits};
  const rlcore_gaussian bell = {
      .struct_size = sizeof bell, .num_rows = B, .action_len = A, .mean = mean, .log_std = log_std};
  for (int i = 0; i < 3; i++) {
    if (i == 1) batch.old_log_prob = columns[4], batch.old_value = columns[5], batch.value_clip = 0.3f;
    if (i < 2) TRY(rlcore_actor_critic_loss(&batch, d[0], d[1], &all));
    else TRY(rlcore_ppo_loss(&batch, d[0], d[1], &all));
    const float numbers[] = {all.policy_loss, all.value_loss, all.approx_kl, all.clip_fraction};
    MIX(h, numbers);
    MIX(h, d[0]);
    MIX(h, d[1]);
  }
  TRY(rlcore_categorical_gradient(&of_choices, action, d[0], columns[1], d_logits));
  TRY(rlcore_gaussian_gradient(&bell, vector, d[0], columns[1], d_mean, d_log_std));
  MIX(h, d_logits);
  MIX(h, d_mean);
  MIX(h, d_log_std);
  TRY(rlcore_value_loss(columns[2], columns[3], B, d[1], &loss[0]));
  TRY(rlcore_reward_class_loss(logits, class, B, d_logits, &loss[1]));
  TRY(rlcore_pixel_control_loss(PIXEL_CONTROL(B, C, A, q, cells[0], cells[1], class), d_q, d_cell, &loss[2]));
  MIX(h, d[1]);
  MIX_SOME(h, d_logits, B * 3);
  MIX(h, d_q);
  MIX(h, d_cell);
  MIX(h, loss);
  TRY(rlcore_pixel_control_loss(PIXEL_CONTROL(B, C, A, q, NULL, cells[1], class), d_q, NULL, &loss[2]));
  MIX(h, d_q);
  MIX(h, loss);
  return RLCORE_OK;
}

/* ---- Initial weights and optimizers: a length that is no multiple of any processor's vector lanes ---- */
static rlcore_status optimizers(hashes *h) {
  enum { OUTPUTS = 23, INPUTS = 7, P = OUTPUTS * INPUTS };
  static float params[P], grads[P], first[P], second[P], scratch[P], norm, rate;
  static uint64_t num_steps;
  static const rlcore_optimizer_state state = {sizeof state, P, first, second, &num_steps};
  rlcore_optimizer_config config;
  rlcore_rng rng;
  size_t len;
  TRY(rlcore_rng_seed(&rng, 17));
  for (uint32_t k = 0; k < 12; k++) {
    const rlcore_weights weights = {sizeof weights, k / 2, 1.5F, INPUTS, OUTPUTS, k % 2};
    TRY(rlcore_weights_scratch_len(&weights, &len));
    mix_u64(h, len);
    CHECK(len <= LEN(scratch));
    TRY(rlcore_weights_draw(&weights, &rng, scratch, LEN(scratch), params));
    MIX(h, params);
    TRY(rlcore_optimizer_config_init(&config, sizeof config, k / 2));
    config.maximize = k % 2;
    TRY(rlcore_optimizer_start(&config, &state));
    for (uint32_t update = 0; update < 9; update++) {
      TRY(draw(&rng, -1.0, 1.0, grads, LEN(grads)));
      TRY(rlcore_clip_grad_norm(grads, LEN(grads), 2.5F, &norm));
      MIX_ONE(h, norm);
      TRY(rlcore_schedule_linear(1e-2F, 1e-3F, 9, update, &rate));
      TRY(rlcore_optimizer_step(&config, rate, &state, params, grads, &norm));
      MIX_ONE(h, norm);
    }
    MIX(h, params);
    MIX(h, first);
    MIX(h, second);
    MIX_ONE(h, num_steps);
  }
  return RLCORE_OK;
}

/* ---- Networks of a host's own, and the losses of autoencoders ---- */
static rlcore_status networks(hashes *h) {
  enum { ROWS = 66, LONGEST = 1 << 15, CODE = 6 };
  static const rlcore_layer encoding[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 5, .size = {3, 3}, .stride = {2, 2}, .same = 1, .activation = RLCORE_ACTIVATION_ELU},
      {.kind = RLCORE_LAYER_NORM, .activation = RLCORE_ACTIVATION_RELU},
      {.kind = RLCORE_LAYER_DENSE, .units = 9, .activation = RLCORE_ACTIVATION_TANH},
      {.kind = RLCORE_LAYER_DENSE, .units = CODE, .activation = RLCORE_ACTIVATION_IDENTITY, .flags = RLCORE_LAYER_HEAD},
      {.kind = RLCORE_LAYER_DENSE, .units = CODE, .source = {3}, .activation = RLCORE_ACTIVATION_IDENTITY, .flags = RLCORE_LAYER_HEAD},
  };
  static const rlcore_layer decoding[] = {
      {.kind = RLCORE_LAYER_DENSE, .units = 27, .size = {3, 3}, .activation = RLCORE_ACTIVATION_GELU},
      {.kind = RLCORE_LAYER_DECONV, .units = 2, .size = {3, 3}, .stride = {2, 2}, .same = 1, .activation = RLCORE_ACTIVATION_IDENTITY},
  };
  static const rlcore_layer remembering[] = {
      {.kind = RLCORE_LAYER_LSTM, .units = 5},
      {.kind = RLCORE_LAYER_GRU, .units = 4},
  };
  static const rlcore_network nets[] = {
      {sizeof *nets, 5, encoding, {6, 6, 2}, 0, NULL},
      {sizeof *nets, 2, decoding, {1, 1, CODE}, 0, NULL},
      {sizeof *nets, 2, remembering, {1, 1, CODE}, 0, NULL},
  };
  static float params[3][2048], grads[2048], tape[3][LONGEST], scratch[LONGEST], x[ROWS * 72], out[ROWS * 72], d[ROWS * 72];
  static float code[2][ROWS * CODE], d_code[2][ROWS * CODE], normal[ROWS * CODE], z[ROWS * CODE], state[ROWS * 14], loss;
  static uint8_t pictures[ROWS * 72], starts[ROWS];
  rlcore_network_lengths len[3];
  rlcore_network_pass pass[3];
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 23));
  TRY(draw_bytes(&rng, 256, pictures, sizeof pictures));
  TRY(draw(&rng, -1.0, 1.0, state, LEN(state)));
  for (uint32_t row = 0; row < ROWS; row++) starts[row] = row % 7 == 4;
  for (int k = 0; k < 3; k++) {
    const uint32_t steps = k == 2 ? 11 : 1;
    len[k].struct_size = sizeof len[k];
    TRY(rlcore_network_lengths_read(&nets[k], ROWS, steps, &len[k]));
    CHECK(len[k].params_len <= LEN(params[k]) && len[k].tape_len <= LONGEST && len[k].scratch_len <= LONGEST && len[k].state_len * ROWS <= LEN(state));
    mix_u64(h, len[k].params_len);
    mix_u64(h, len[k].tape_len);
    TRY(rlcore_network_init(&nets[k], &rng, scratch, LEN(scratch), params[k], len[k].params_len));
    MIX(h, params[k]);
    pass[k] = (rlcore_network_pass){sizeof *pass, ROWS, steps, k == 0 ? RLCORE_U8 : RLCORE_F32, params[k], len[k].params_len,
                                    k == 0 ? (const void *)pictures : z, k == 2 ? state : NULL, k == 2 ? starts : NULL,
                                    tape[k], len[k].tape_len, scratch, LEN(scratch)};
  }
  TRY(rlcore_network_forward(&nets[0], &pass[0], code[0], 2 * ROWS * CODE));
  TRY(rlcore_rng_normal(&rng, normal, LEN(normal)));
  const rlcore_latent latent = {sizeof latent, ROWS, CODE, 0.5F, code[0], code[1], normal};
  TRY(rlcore_latent_sample(&latent, z));
  TRY(rlcore_network_forward(&nets[1], &pass[1], out, LEN(out)));
  MIX(h, code[0]);
  MIX(h, code[1]);
  MIX(h, z);
  MIX(h, out);
  for (uint32_t kind = 0; kind < 2; kind++) {
    const rlcore_reconstruction made = {sizeof made, kind, ROWS, 72, RLCORE_U8, 0, out, pictures};
    for (size_t i = 0; i < LEN(grads); i++) grads[i] = 0;
    TRY(rlcore_reconstruction_loss(&made, d, &loss));
    MIX_ONE(h, loss);
    TRY(rlcore_network_backward(&nets[1], &pass[1], d, LEN(d), grads, x));
    MIX(h, grads);
    TRY(rlcore_latent_loss(&latent, x, d_code[0], d_code[1], &loss));
    MIX_ONE(h, loss);
    TRY(rlcore_network_backward(&nets[0], &pass[0], d_code[0], 2 * ROWS * CODE, grads, NULL));
    MIX(h, grads);
    MIX(h, d_code[0]);
    MIX(h, d_code[1]);
  }
  TRY(rlcore_network_forward(&nets[2], &pass[2], out, ROWS * 4));
  TRY(rlcore_network_backward(&nets[2], &pass[2], out, ROWS * 4, grads, x));
  MIX_SOME(h, out, ROWS * 4 * sizeof(float));
  MIX(h, grads);
  pass[2].tape = NULL, pass[2].tape_len = 0, pass[2].num_steps = 1;
  TRY(rlcore_network_forward(&nets[2], &pass[2], out, ROWS * 4));
  MIX(h, state);
  TRY(rlcore_network_tensors_read(&nets[0], params[0], len[0].params_len, grads, len[0].params_len));
  MIX(h, grads);
  static rlcore_tensor named[16];
  uint32_t num_named;
  TRY(rlcore_network_tensors(&nets[2], named, LEN(named), &num_named));
  TRY(rlcore_network_tensors_read(&nets[2], params[2], len[2].params_len, grads, len[2].params_len));
  for (size_t i = 0; i < len[2].params_len; i++) grads[i] += 0.125F;
  TRY(rlcore_network_tensors_write(&nets[2], named + 1, num_named - 1, grads, len[2].params_len, params[2], len[2].params_len));
  MIX(h, params[2]);
  return RLCORE_OK;
}

/* ---- Pictures ---- */
static rlcore_status pictures(hashes *h) {
  static uint8_t screens[2][210 * 160 * 3], small[84 * 84], colour[61 * 47 * 3], planes[61 * 47 * 3], gray[61 * 47];
  static uint8_t text[4096], tiles[2 * 3 * 10 * 10 * 3];
  static float numbers[42 * 42], scratch[8192], scaled[61 * 47];
  static const rlcore_image_size screen = {210, 160, 3}, shrunk = {84, 84, 1}, odd = {61, 47, 3}, flat = {61, 47, 1};
  static const rlcore_image_size tile = {10, 10, 3};
  uint32_t rows, columns;
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_rng_seed(&rng, 13));
  for (int k = 0; k < 2; k++) TRY(draw_bytes(&rng, 256, screens[k], sizeof screens[k]));
  TRY(rlcore_image_scratch_len(&screen, &odd, &size));
  CHECK(size <= LEN(scratch));
  mix_u64(h, size);
  TRY(rlcore_image_warp(&screen, screens[0], screens[1], &shrunk, small, scratch, LEN(scratch)));
  TRY(rlcore_image_area(&screen, screens[0], &odd, colour, scratch, LEN(scratch)));
  TRY(rlcore_image_rescale42(screens[1], numbers));
  TRY(rlcore_image_gray(colour, LEN(gray), gray));
  TRY(rlcore_image_scale(gray, LEN(gray), scaled));
  TRY(rlcore_image_channels_first(&odd, colour, planes));
  TRY(rlcore_image_tile_shape(5, &rows, &columns));
  CHECK(rows * columns * tile.height * tile.width * tile.channels <= sizeof tiles);
  TRY(rlcore_image_tile(5, &tile, screens[0], tiles));
  TRY(rlcore_image_text_size(&flat, &size));
  CHECK(size <= sizeof text);
  TRY(rlcore_image_text(&flat, gray, text));
  MIX(h, small);
  MIX(h, colour);
  MIX(h, numbers);
  MIX(h, gray);
  MIX(h, scaled);
  MIX(h, planes);
  MIX_ONE(h, rows);
  MIX_ONE(h, columns);
  MIX(h, tiles);
  MIX_SOME(h, text, size);
  return RLCORE_OK;
}

const stage KERNEL_STAGES[] = {
    {"rng", rng},
    {"seeds", seeds},
    {"normal", normal},
    {"hash", fnv},
    {"words", words},
    {"gae", gae},
    {"returns", returns},
    {"vtrace", vtrace},
    {"targets", targets},
    {"arrays", arrays},
    {"categorical", categorical},
    {"gaussian", gaussian},
    {"losses", losses},
    {"optimizers", optimizers},
    {"networks", networks},
    {"pictures", pictures},
    {NULL, NULL},
};
