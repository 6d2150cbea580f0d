/* Kernels on arrays: calls that are wrong in several arguments or in a way of their own, results known in advance, and ranges on
   two threads at once. */
#include "rlcore.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { T = 4, N = 3, H = 9, W = 7 };

static struct world {
  float reward[T * N], value[T * N], done[T * N], next_value[N], next_done[N], advantage[T * N], target[T * N];
  float log_rho[T * N], discounts[T * N], x[24], y[24];
  rlcore_image_size from, to;
  uint8_t rgb[H * W * 3], out[H * W * 3];
  float scratch[256], numbers[42 * 42 + 1];
  size_t len;
  uint32_t rows, columns;
  rlcore_relabel batch;
  float achieved[6], goal[4], judged[2];
  uint32_t row[2], goal_row[2];
  uint8_t terminated[2];
} w, before;

static uint8_t screen[210 * 160 * 3];

#include "attack.h"

static void start(void) {
  memset(&w, 0, sizeof w);
  w.from = (rlcore_image_size){H, W, 3};
  w.to = (rlcore_image_size){4, 5, 3};
  for (int i = 0; i < H * W * 3; i++) w.rgb[i] = (uint8_t)(i * 37);
}

/* ---- Advantages and returns ---- */

static void check_shifted(void) {
  /* Example G2 of the specification in every column: the third observation starts an episode. */
  const float reward[T] = {1, 0, -1, 2}, value[T] = {0.5f, -0.2f, 0.1f, 0.4f}, wanted[T] = {0.4901f, 0.2f, 1.0801285f, 1.897f};
  start();
  for (int k = 0; k < T * N; k++) w.reward[k] = reward[k / N], w.value[k] = value[k / N], w.done[k] = k / N == 2;
  for (int k = 0; k < N; k++) w.next_value[k] = 0.3f;
  rlcore_shifted_rollout r = {sizeof r, T, N, 0, w.reward, w.value, w.done, w.next_value, w.next_done};
  w.done[0] = NAN; /* never read */
  for (r.accumulate = 0; r.accumulate < 2; r.accumulate++) {
    memset(w.advantage, 0, sizeof w.advantage);
    FINE(rlcore_gae_shifted(&r, 0.99f, 0.95f, w.advantage, w.target));
    for (int k = 0; k < T * N; k++) CHECK(fabsf(w.advantage[k] - wanted[k / N]) < 2e-6f && fabsf(w.target[k] - wanted[k / N] - value[k / N]) < 2e-6f);
  }
  REFUSED(RLCORE_E_OVERLAP, "out", rlcore_discounted_sum(w.reward, T, N - 1, 0.5f, w.reward + 1));
  memcpy(w.target, w.reward, sizeof w.target); /* the same in place */
  FINE(rlcore_discounted_sum(w.target, T, N, 0.5f, w.target));
  FINE(rlcore_discounted_sum(w.reward, T, N, 0.5f, w.advantage));
  CHECK(memcmp(w.target, w.advantage, sizeof w.target) == 0);
}

/* V-trace on policy without discounting: the sum of rewards and bootstrap; also in place. */
static void check_vtrace(void) {
  start();
  rlcore_vtrace v;
  FINE(rlcore_vtrace_init(&v, sizeof v));
  CHECK(v.struct_size == sizeof v && v.clip_rho == 1 && v.clip_c == 1 && v.clip_pg_rho == 1 && v.td_lambda == 1 &&
        v.leak == 0);
  v.num_steps = T, v.num_envs = 1;
  v.log_rho = w.log_rho, v.discounts = w.discounts, v.reward = w.reward, v.value = w.value;
  v.bootstrap_value = w.next_value;
  for (int t = 0; t < T; t++) w.discounts[t] = w.value[t] = 1, w.reward[t] = (float)(1 << t);
  w.next_value[0] = 16;
  for (v.accumulate = 0; v.accumulate < 2; v.accumulate++) {
    float *vs = w.target, *pg = v.accumulate ? w.log_rho : w.advantage;
    FINE(rlcore_vtrace_from_importance_weights(&v, vs, pg));
    CHECK(vs[0] == 31 && vs[1] == 30 && vs[2] == 28 && vs[3] == 24 && pg[0] == 30 && pg[3] == 23);
  }
  /* Two choices, one of them better by 2: log-probabilities -ln(1 + e^2) and -ln(1 + e^-2). The input log_rho is not read. */
  const float same[2 * T] = {0}, better[2 * T] = {0, 2, 0, 2, 0, 2, 0, 2};
  const int32_t action[T] = {0, 1, 0, 1};
  const rlcore_vtrace_logits l = {sizeof l, 2, same, better, action};
  const rlcore_vtrace_out o = {.struct_size = sizeof o, .log_rho = w.log_rho, .behavior_log_prob = w.x,
        .target_log_prob = w.y};
  v.accumulate = 0, v.log_rho = NULL;
  FINE(rlcore_vtrace_from_logits(&v, &l, &o));
  for (int t = 0; t < T; t++) {
    CHECK(fabsf(w.y[t] - (t % 2 ? -0.1269280f : -2.1269280f)) < 1e-6f && fabsf(w.x[t] + 0.6931472f) < 1e-6f);
    CHECK(w.log_rho[t] == w.y[t] - w.x[t]);
  }
}

static void check_transpose(void) {
  start();
  for (int k = 0; k < 24; k++) w.x[k] = (float)k, w.rgb[k] = (uint8_t)k;
  FINE(rlcore_transpose(RLCORE_F32, 4, 3, 2, w.x, w.y));
  for (int k = 0; k < 24; k++) CHECK(w.y[k] == (float)((k / 2 % 4 * 3 + k / 8) * 2 + k % 2));
  FINE(rlcore_transpose(RLCORE_I32, 24, 1, 1, w.x, w.y));
  CHECK(memcmp(w.x, w.y, sizeof w.x) == 0);
  FINE(rlcore_transpose(RLCORE_U8, 2, 11, 1, w.rgb + 1, w.out)); /* bytes need no alignment */
  for (int k = 0; k < 22; k++) CHECK(w.out[k] == k % 2 * 11 + k / 2 + 1);
}

/* btgym's losses on the data of the specification (agents, section 8): from logits, with the entropy that btgym adds. */
static void check_losses(void) {
  enum { B = 4, A = 3 };
  const uint32_t n[] = {A};
  const int32_t action[B] = {2, 0, 1, 1}, class[] = {1, 0}, choice[] = {2, 0};
  const float logits[B * A] = {0.2f, -0.1f, 0.4f, 1, 0, -1, 0, 0, 0, -0.5f, 2, 0.3f};
  const float older[B * A] = {0, 0, 0, 0.5f, 0.5f, 0, 0, 0.2f, -0.2f, 0, 1.5f, 0.3f};
  const float advantage[B] = {1, -0.5f, 2, 0.3f}, value[B] = {0.5f, -0.2f, 0.1f, 0.9f}, r[B] = {1, 0, 0.4f, 0.7f};
  float log_prob[B], old_log_prob[B], entropy[B], d_log_prob[B], d_value[B], d_entropy[B], d_logits[B * A], loss, sum = 0;
  rlcore_logits then = {sizeof then, B, 1, 0, n, older, NULL}, now = then;
  now.logits = logits;
  FINE(rlcore_categorical_log_prob(&then, action, old_log_prob));
  FINE(rlcore_categorical_log_prob(&now, action, log_prob));
  FINE(rlcore_categorical_entropy(&now, entropy));
  for (int i = 0; i < B; i++) sum += entropy[i] / B, d_entropy[i] = -0.01f / B;
  rlcore_loss_batch b = {sizeof b, B, 0.1f, 0, 1, 0, log_prob, NULL, advantage, value, NULL, r};
  rlcore_losses l;
  FINE(rlcore_actor_critic_loss(&b, d_log_prob, d_value, &l));
  CHECK(fabsf(l.policy_loss + l.value_loss - 0.01f * sum - 0.7808264f) < 1e-6f && l.approx_kl == 0 && l.clip_fraction == 0);
  CHECK(fabsf(d_log_prob[1] - 0.125f) < 1e-6f && fabsf(d_value[0] + 0.125f) < 1e-6f);
  FINE(rlcore_categorical_gradient(&now, action, d_log_prob, d_entropy, d_logits));
  for (int i = 0; i < B; i++) CHECK(fabsf(d_logits[3 * i] + d_logits[3 * i + 1] + d_logits[3 * i + 2]) < 1e-6f);
  REFUSED(RLCORE_E_NULL, "old_log_prob", rlcore_ppo_loss(&b, d_log_prob, d_value, &l));
  b.old_log_prob = old_log_prob, b.value_coef = 2;
  FINE(rlcore_ppo_loss(&b, d_log_prob, d_value, &l));
  CHECK(fabsf(l.policy_loss + 2 * l.value_loss - 0.01f * sum + 0.4597259f) < 1e-6f && l.clip_fraction == 1);
  WITH(b.value_clip, 0.5f, RLCORE_E_NULL, "old_value", rlcore_ppo_loss(&b, d_log_prob, d_value, &l));
  FINE(rlcore_value_loss(value, r, B, d_value, &loss));
  CHECK(fabsf(loss - 0.105f) < 1e-6f && fabsf(d_value[0] + 0.25f) < 1e-6f);
  FINE(rlcore_reward_class_loss((const float[]){0.1f, 0.7f, -0.3f, 1, 0, 0}, class, 2, d_logits, &loss));
  CHECK(fabsf(loss - 0.6010225f) < 1e-6f);
  REFUSED(RLCORE_E_RANGE, "a class from 0 to 2, given 3", rlcore_reward_class_loss(logits, (const int32_t[]){3}, 1, d_logits, &loss));
  /* Pixel control, from Q-values and from values with advantages; the first does not write d_value. */
  float q[24], mean[8], d_q[24], d_mean[8];
  for (int i = 0; i < 24; i++) q[i] = 0.1f * (float)i;
  for (int i = 0; i < 8; i++) mean[i] = q[3 * i + 1];
  const float target[8] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f};
  FINE(rlcore_pixel_control_loss(PIXEL_CONTROL(2, 4, 3, q, NULL, target, choice), d_q, NULL, &loss));
  CHECK(fabsf(loss - 2.52f) < 1e-5f && fabsf(d_q[2] - 0.1f) < 1e-6f && d_q[0] == 0 && d_q[1] == 0);
  FINE(rlcore_pixel_control_loss(PIXEL_CONTROL(2, 4, 3, q, mean, target, choice), d_q, d_mean, &loss));
  CHECK(fabsf(loss - 2.52f) < 1e-5f && fabsf(d_mean[0] - 0.1f) < 1e-6f && fabsf(d_q[2] - 0.2f / 3) < 1e-6f);
}

/* ---- Initial weights and optimizers ---- */

/* A host trains a line with initial weights, an optimizer and a rate of the library; the moments are the host's own. */
static void check_optimizers(void) {
  enum { P = 2, UPDATES = 200 };
  static const float x[] = {-1, 0, 1, 2}, y[] = {-1, 1, 3, 5};
  float params[P], grads[P], first[P], second[P], norm, rate;
  uint64_t num_steps;
  rlcore_rng rng;
  size_t len = 9;
  rlcore_optimizer_config c;
  const rlcore_weights head = {.struct_size = sizeof head, .gain = 0.01F, .num_inputs = 2, .num_outputs = 1};
  rlcore_weights tall = head;
  tall.num_outputs = 3;
  FINE(rlcore_rng_seed(&rng, 1));
  FINE(rlcore_weights_scratch_len(&head, &len));
  CHECK(len == 0);
  FINE(rlcore_weights_scratch_len(&tall, &len));
  CHECK(len == 6);
  REFUSED(RLCORE_E_SIZE, "scratch of at least 6, given 5", rlcore_weights_draw(&tall, &rng, w.scratch, 5, w.x));
  REFUSED(RLCORE_E_OVERLAP, "scratch: the array overlaps", rlcore_weights_draw(&tall, &rng, w.x, 6, w.x + 5));
  FINE(rlcore_weights_draw(&tall, &rng, w.scratch, 6, w.x));
  tall.inputs_first = 1;
  FINE(rlcore_weights_scratch_len(&tall, &len));
  CHECK(len == 0);
  for (uint32_t optimizer = RLCORE_OPTIMIZER_ADAM; optimizer <= RLCORE_OPTIMIZER_ADAM_RECTIFIED; optimizer++) {
    for (uint32_t up = 0; up < 2; up++) {
      const rlcore_optimizer_state state = {sizeof state, P, first, second, &num_steps};
      FINE(rlcore_weights_draw(&head, &rng, NULL, 0, params));
      CHECK(fabsf(params[0] * params[0] + params[1] * params[1] - 1e-4F) < 1e-9F);
      FINE(rlcore_optimizer_config_init(&c, sizeof c, optimizer));
      c.maximize = up, c.max_grad_norm = 10;
      FINE(rlcore_optimizer_start(&c, &state));
      CHECK(num_steps == 0 && first[1] == 0 && second[1] == (optimizer == RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW));
      for (uint64_t update = 0; update < UPDATES; update++) {
        grads[0] = grads[1] = 0;
        for (int i = 0; i < 4; i++) {
          const float error = params[0] * x[i] + params[1] - y[i];
          grads[0] += (up ? -1 : 1) * error * x[i], grads[1] += (up ? -1 : 1) * error;
        }
        FINE(rlcore_schedule_linear(0.2F, 0, UPDATES, update, &rate));
        FINE(rlcore_optimizer_step(&c, rate, &state, params, grads, update % 2 ? NULL : &norm));
      }
      CHECK(fabsf(params[0] - 2) < 0.1F && fabsf(params[1] - 1) < 0.1F);
      second[0] = INFINITY;
      REFUSED(RLCORE_E_VALUE, "finite second moments", rlcore_optimizer_step(&c, rate, &state, params, grads, &norm));
      second[0] = 0;
      REFUSED(RLCORE_E_OVERLAP, "first: the array overlaps", rlcore_optimizer_step(&c, rate, &state, first, grads, &norm));
    }
  }
  REFUSED(RLCORE_E_RANGE, "an rlcore_optimizer that this build has, given 6", rlcore_optimizer_config_init(&c, sizeof c, 6));
  REFUSED(RLCORE_E_RANGE, "updates up to", rlcore_schedule_linear(0.2F, 0, UPDATES, UPDATES + 1, &rate));
  float clipped[] = {3, 4};
  FINE(rlcore_clip_grad_norm(clipped, 2, 0.5F, &norm));
  CHECK(norm == 5 && fabsf(clipped[0] - 0.3F) < 1e-6F && fabsf(clipped[1] - 0.4F) < 1e-6F);
}

/* ---- Pictures ---- */

static void check_pictures(void) {
  start();
  uint8_t *out = w.out;
  const uint8_t known[] = {255, 0, 0, 128, 64, 32};
  REFUSED(RLCORE_E_OVERFLOW, "gray: rgb", rlcore_image_gray(w.rgb, SIZE_MAX / 3, out));
  FINE(rlcore_image_gray(known, 2, out));
  CHECK(out[0] == 76 && out[1] == 79);

  FINE(rlcore_image_scratch_len(&w.from, &w.to, &w.len));
  CHECK(w.len == 7 * 3 + 2 * 5 * 3 + 5 * 5);
  REFUSED(RLCORE_E_SIZE, "image: scratch numbers, at least 76, given 75",
          rlcore_image_area(&w.from, w.rgb, &w.to, out, w.scratch, 75));
  WITH(w.from.channels, 5, RLCORE_E_CONFIG, "channels of 1 to 4, given 5",
       rlcore_image_scratch_len(&w.from, &w.to, &w.len));
  const rlcore_image_size huge = {65536, 65536, 1}, one = {1, 1, 1}, four = {2, 2, 1};
  REFUSED(RLCORE_E_CONFIG, "source pixels of one output pixel, at most 8421504, given 4294967296",
          rlcore_image_scratch_len(&huge, &one, &w.len));
  /* A screen needs no scratch, and white stays white. Two by two pixels: a half is rounded up. */
  uint8_t small[84 * 84] = {0};
  const rlcore_image_size whole = {210, 160, 3}, shrunk = {84, 84, 1};
  memset(screen, 255, sizeof screen);
  FINE(rlcore_image_scratch_len(&whole, &shrunk, &w.len));
  FINE(rlcore_image_warp(&whole, screen, NULL, &shrunk, small, NULL, w.len));
  for (int i = 0; i < 84 * 84; i++) CHECK(small[i] == 255 && w.len == 0);
  FINE(rlcore_image_area(&four, (const uint8_t[]){1, 0, 0, 1}, &one, out, w.scratch, 256));
  CHECK(out[0] == 1);

  FINE(rlcore_image_scale(w.rgb, 30, w.numbers));
  CHECK(w.numbers[1] == 37.0f / 255.0f);
  FINE(rlcore_image_rescale42(screen, w.numbers));
  CHECK(w.numbers[0] == 1.0f && w.numbers[42 * 42 - 1] == 1.0f && w.numbers[42 * 42] == 0.0f);

  FINE(rlcore_image_channels_first(&w.from, w.rgb, out));
  CHECK(out[0] == w.rgb[0] && out[1] == w.rgb[3] && out[H * W] == w.rgb[1] &&
        out[H * W * 3 - 1] == w.rgb[H * W * 3 - 1]);
  const rlcore_image_size flat = {UINT32_MAX, UINT32_MAX, 1};
  REFUSED(RLCORE_E_OVERFLOW, "channels_first: x", rlcore_image_channels_first(&flat, w.rgb, out));
  w.from = (rlcore_image_size){2, 3, 3};
  FINE(rlcore_image_tile(3, &w.from, w.rgb, out));
  CHECK(memcmp(out, w.rgb, 9) == 0 && memcmp(out + 9, w.rgb + 18, 9) == 0 && memcmp(out + 18, w.rgb + 9, 9) == 0);
  CHECK(out[36 + 9] == 0 && memcmp(out + 36, w.rgb + 36, 9) == 0);
  FINE(rlcore_image_tile_shape(UINT32_MAX, &w.rows, &w.columns));
  CHECK(w.rows == 65536 && w.columns == 65536);

  w.from = (rlcore_image_size){5, 4, 3};
  FINE(rlcore_image_text_size(&w.from, &w.len));
  CHECK(w.len == 2 * 7);
  REFUSED(RLCORE_E_OVERLAP, "image text: out_size", rlcore_image_text_size(&w.from, (size_t *)(void *)&w.from));
  memset(w.rgb, 0, sizeof w.rgb);
  w.rgb[3] = w.rgb[4] = w.rgb[5] = 255;
  FINE(rlcore_image_text(&w.from, w.rgb, out));
  CHECK(memcmp(out, "\xe2\xa0\x88\xe2\xa0\x80\n\xe2\xa0\x80\xe2\xa0\x80\n", 14) == 0);
}

/* ---- Hindsight, with a callback that fails ---- */

static int calls;

static int32_t near(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  if (*(int *)user == ++calls) return 7;
  *reward = -fabsf(achieved[0] - goal[0]);
  *terminated = achieved[0] == goal[0];
  return 0;
}

static int32_t silent(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user, (void)achieved, (void)goal, (void)reward, (void)terminated;
  return 0;
}

static void attack_goals(void) {
  start();
  for (int i = 0; i < 6; i++) w.achieved[i] = (float)i;
  w.row[1] = 2, w.goal_row[0] = 1, w.goal_row[1] = 2;
  w.batch = (rlcore_relabel){sizeof w.batch, 2, 2, 3, w.achieved, w.row, w.goal_row};
  int fail_at = 1;
#define GOALS(call) rlcore_relabel_goals(&w.batch, call, &fail_at, w.goal, w.judged, w.terminated)
  WITH(w.batch.num_rows, 2, RLCORE_E_RANGE, "rows below 2, given 2", GOALS(near));
  REFUSED(RLCORE_E_CALLBACK, "the goal callback failed with code 7", GOALS(near));
  REFUSED(RLCORE_E_VALUE, "a finite reward", GOALS(silent));
  calls = 0, fail_at = 2;
  CHECK(GOALS(near) == RLCORE_E_CALLBACK);
  CHECK(w.judged[0] == -2 && w.goal[0] == 2 && w.goal[1] == 3 && w.judged[1] == 0 && w.goal[2] == 0 &&
        w.terminated[1] == 0);
  fail_at = 0;
  FINE(GOALS(near));
  CHECK(w.judged[1] == 0 && w.goal[2] == 4 && w.terminated[0] == 0 && w.terminated[1] == 1);
}

/* ---- Two threads, disjoint columns ---- */

#define STEPS 40
#define MANY 150

static struct big {
  float reward[STEPS * MANY], value[STEPS * MANY], last[MANY], finals[STEPS * MANY];
  uint8_t ends[STEPS * MANY], cuts[STEPS * MANY];
  float whole[2][STEPS * MANY], parts[2][STEPS * MANY];
} b;

static rlcore_rollout rollout = {sizeof rollout, STEPS, MANY, 0, b.reward, b.value, b.last, b.ends, b.cuts, b.finals};

static void *halves(void *first) {
  static const uint32_t bounds[] = {0, 67, MANY}; /* in the middle of a cache line */
  size_t half = first == NULL;
  for (int i = 0; i < 200; i++) {
    if (rlcore_gae_range(&rollout, 0.99f, 0.95f, bounds[half], bounds[half + 1], b.parts[0], b.parts[1]) != RLCORE_OK) return &b;
  }
  return NULL;
}

static void ranges_on_threads(void) {
  for (int i = 0; i < STEPS * MANY; i++) {
    b.reward[i] = (float)(i * 37 % 101) / 50 - 1, b.value[i] = (float)(i * 53 % 97) / 48 - 1, b.finals[i] = (float)(i % 7);
    b.ends[i] = i % 31 == 0, b.cuts[i] = i % 43 == 0;
  }
  FINE(rlcore_gae(&rollout, 0.99f, 0.95f, b.whole[0], b.whole[1]));
  pthread_t thread;
  void *failed = &b;
  CHECK(pthread_create(&thread, NULL, halves, &b) == 0);
  CHECK(halves(NULL) == NULL);
  CHECK(pthread_join(thread, &failed) == 0 && failed == NULL);
  CHECK(memcmp(b.whole, b.parts, sizeof b.whole) == 0);
}

int main(void) {
  ranges_on_threads();
  check_shifted();
  check_vtrace();
  check_transpose();
  check_losses();
  check_optimizers();
  check_pictures();
  attack_goals();
  return verdict();
}
