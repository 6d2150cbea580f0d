/* Every structure with struct_size at every size that it may have: the oldest client's (oldest.py), each between that and
   today's, and larger ones of future headers.

   Read: members that a shorter structure lacks have their defaults; bytes of a longer one beyond today's must be zero, else
   E_CONFIG.
   Written: struct_size bytes and no others; bytes of a longer structure beyond today's become zero.
   A size that no version has (too short, not a multiple of the alignment, beyond 4096) is E_CONFIG, or E_SIZE where it is an
   argument. */
#include <rlcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../env.h"
#include "../rows.h"

/* A structure and its bytes for the oldest client: run.sh takes them from that client's header. */
struct form {
  const char *type;
  size_t size;
};
#define SIZE(type, on64, on32, on_x86) {#type, on64}
static const struct form oldest[] = {
#include "oldest_sizes.h"
};

enum { N = 2, T = 2, LONGEST = 4096 };

/* The inputs of calls, and everything that calls write. */
static const float x[64], log_std[4];
static const double zeros[4];
static const uint8_t none[64];
static const uint32_t index_of[4], choices[1] = {2};
static const rlcore_column column = {"obs", RLCORE_F32, 2, 0, 0};
static struct {
  _Alignas(64) unsigned char block[1 << 18], envs[1 << 14];
  float f[7][64];
  double d[2][8];
  uint8_t flags[2][64], bytes[1 << 13];
  uint32_t count;
  size_t size;
  rlcore_rng rng;
  rlcore_sample samples[2];
  rlcore_wrapper wrappers[16];
  void *made, *venv;
} w, wanted;
static const void *const columns[1] = {x};
static void *const out_columns[1] = {NULL};

static void die(const char *type, const char *what, size_t size) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  printf("%s, %zu bytes: %s\n  last error: %s\n", type, size, what, why);
  exit(1);
}

/* A call that only prepares the one under test. */
static void fine(int line, int32_t status) {
  if (status != RLCORE_OK) printf("line %d: ", line), die("preparation", rlcore_status_name(status), 0);
}
#define FINE(call) fine(__LINE__, (call))
#define BLOCK w.block, sizeof w.block
#define OUT(type) (type **)&w.made

/* An environment with as few members as possible. */
static int32_t env_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)row, (void)state, (void)rng;
  memset(obs, 0, 2 * sizeof(float));
  return 0;
}
static int32_t env_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)row, (void)state, (void)rng, (void)action;
  out->reward = 1;
  memset(obs, 0, 2 * sizeof(float));
  return 0;
}
static const rlcore_env_def env = {.struct_size = sizeof env, .env_id = 1000, .state_size = 8, .obs = {RLCORE_F32, 2, NULL, NULL, NULL},
                                   .action = {RLCORE_I32, 1, NULL, NULL, choices}, .reset = env_reset, .step = env_step};

/* ---- For each structure: a valid one, with defaults in the members that may be missing, and a call with it ---- */

#define MAKE(type) \
  static void make_typed_##type(type *s); \
  static void make_##type(void *s) { make_typed_##type(s); } \
  static void make_typed_##type(type *s)
#define ANOTHER_CALL(name, type) \
  static int32_t name##_typed(type *s); \
  static int32_t name(void *s) { return name##_typed(s); } \
  static int32_t name##_typed(type *s)
#define CALL(type) ANOTHER_CALL(call_##type, type)

MAKE(rlcore_atari_config) { FINE(rlcore_atari_config_init(s, sizeof *s)); }
CALL(rlcore_atari_config) { return rlcore_wrappers_atari(s, w.wrappers, 16, &w.count); }

MAKE(rlcore_env_def) { *s = env; }
MAKE(rlcore_vecenv_config) { FINE(rlcore_vecenv_config_init(s, sizeof *s)), s->num_envs = N; }
CALL(rlcore_vecenv_config) { return rlcore_vecenv_init(w.envs, sizeof w.envs, env_of(&env), s, (rlcore_vecenv **)&w.venv); }
static void envs(void) {
  rlcore_vecenv_config config;
  make_rlcore_vecenv_config(&config);
  FINE(call_rlcore_vecenv_config(&config));
  FINE(rlcore_vecenv_reset(w.venv, env_of(&env), NULL, w.f[0]));
}
CALL(rlcore_env_def) {
  rlcore_vecenv_config config;
  rlcore_env *made;
  static uint64_t mem[128];
  make_rlcore_vecenv_config(&config);
  int32_t status = rlcore_env_init(mem, sizeof mem, s, &made);
  if (status == RLCORE_OK) status = rlcore_vecenv_init(w.envs, sizeof w.envs, made, &config, (rlcore_vecenv **)&w.venv);
  return status != RLCORE_OK ? status : rlcore_vecenv_reset(w.venv, made, NULL, w.f[0]);
}
MAKE(rlcore_rows) {
  memset(w.f[6], 0, sizeof w.f[6]);
  *s = (rlcore_rows){.struct_size = sizeof *s, .obs = w.f[0], .action = w.f[6], .reward = w.f[1],
                     .terminated = w.flags[0], .truncated = w.flags[1], .final_obs = w.f[2]};
}
CALL(rlcore_rows) {
  envs();
  return rlcore_vecenv_step(w.venv, env_of(&env), s);
}

MAKE(rlcore_reset) { s->struct_size = sizeof *s; }
CALL(rlcore_reset) {
  envs();
  return rlcore_vecenv_reset_with(w.venv, env_of(&env), s, w.f[0]);
}

MAKE(rlcore_batch_config) { FINE(rlcore_batch_config_init(s, sizeof *s)); }
CALL(rlcore_batch_config) {
  rlcore_vecenv_config config;
  make_rlcore_vecenv_config(&config);
  return rlcore_batch_init(BLOCK, env_of(&env), &config, s, OUT(rlcore_batch));
}
MAKE(rlcore_batch_counts) { s->struct_size = sizeof *s; }
CALL(rlcore_batch_counts) {
  rlcore_batch_config config;
  make_rlcore_batch_config(&config);
  FINE(call_rlcore_batch_config(&config));
  return rlcore_batch_count(w.made, s);
}

MAKE(rlcore_monitor_config) { FINE(rlcore_monitor_config_init(s, sizeof *s)), s->num_envs = N, s->capacity = N, s->keep = 2; }
CALL(rlcore_monitor_config) { return rlcore_monitor_init(BLOCK, s, OUT(rlcore_monitor)); }
static void monitor(void) {
  rlcore_monitor_config config;
  make_rlcore_monitor_config(&config);
  FINE(call_rlcore_monitor_config(&config));
}
MAKE(rlcore_monitor_stats) { s->struct_size = sizeof *s; }
CALL(rlcore_monitor_stats) { return monitor(), rlcore_monitor_means(w.made, s); }
ANOTHER_CALL(monitored, rlcore_rows) { return monitor(), rlcore_monitor_step(w.made, s, 1, NULL); }

MAKE(rlcore_vec_normalize_config) { FINE(rlcore_vec_normalize_config_init(s, sizeof *s)), s->num_envs = N, s->obs_len = 2; }
CALL(rlcore_vec_normalize_config) { return rlcore_vec_normalize_init(BLOCK, s, OUT(rlcore_vec_normalize)); }
static void normalize(void) {
  rlcore_vec_normalize_config config;
  make_rlcore_vec_normalize_config(&config);
  FINE(call_rlcore_vec_normalize_config(&config));
}
MAKE(rlcore_vec_normalize_stats) { s->struct_size = sizeof *s; }
CALL(rlcore_vec_normalize_stats) { return normalize(), rlcore_vec_normalize_statistics(w.made, w.d[0], w.d[1], s); }
ANOTHER_CALL(normalized, rlcore_rows) { return normalize(), rlcore_vec_normalize_step(w.made, s, NULL); }

MAKE(rlcore_learner_config) {
  FINE(rlcore_learner_config_init(s, sizeof *s, RLCORE_ALGORITHM_PPO));
  s->num_envs = N, s->num_steps = T, s->num_minibatches = 1, s->num_epochs = 1, s->num_hidden = 1;
  s->hidden_len[0] = 4, s->hidden_len[1] = 0;
}
CALL(rlcore_learner_config) { return rlcore_learner_init(BLOCK, s, &env.obs, &env.action, OUT(rlcore_learner)); }
MAKE(rlcore_learner_stats) { s->struct_size = sizeof *s; }
static void learner(void) {
  rlcore_learner_config config;
  make_rlcore_learner_config(&config);
  FINE(call_rlcore_learner_config(&config));
}
static void rolled(void) {
  learner();
  for (int t = 0; t < T; t++) {
    FINE(rlcore_learner_act(w.made, ACTED(NULL, x, NULL, w.f[0])));
    FINE(rlcore_learner_observe(w.made, STEPPED(NULL, x, none, none, NULL, NULL)));
  }
}
CALL(rlcore_learner_stats) { return rolled(), rlcore_learner_learn(w.made, OBSERVED(x, NULL), 0, s); }
ANOTHER_CALL(acted, rlcore_rows) { return learner(), rlcore_learner_act(w.made, s); }
MAKE(rlcore_learner_batch) {
  *s = (rlcore_learner_batch){.struct_size = sizeof *s, .obs = w.f[0], .action = w.f[1], .log_prob = w.f[2], .value = w.f[3],
                              .advantage = w.f[4], .value_target = w.f[5]};
}
CALL(rlcore_learner_batch) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rolled();
  FINE(rlcore_learner_learn_begin(w.made, OBSERVED(x, NULL), &stats));
  return rlcore_learner_batch_read(w.made, s);
}
MAKE(rlcore_learner_transitions) {
  *s = (rlcore_learner_transitions){.struct_size = sizeof *s, .obs = x, .action = x, .reward = x, .terminated = none, .next_obs = x};
}
CALL(rlcore_learner_transitions) {
  rlcore_learner_config config;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  FINE(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_DQN));
  config.buffer_size = 0, config.batch_size = 2, config.num_hidden = 1, config.hidden_len[0] = 4, config.hidden_len[1] = 0;
  FINE(call_rlcore_learner_config(&config));
  return rlcore_learner_learn_transitions(w.made, s, &stats);
}
MAKE(rlcore_policy_info) { s->struct_size = sizeof *s; }
CALL(rlcore_policy_info) {
  rlcore_policy *policy;
  learner();
  FINE(rlcore_policy_export(w.made, w.bytes, sizeof w.bytes, &policy));
  return rlcore_policy_info_read(policy, s);
}
MAKE(rlcore_onnx_options) { *s = (rlcore_onnx_options){.struct_size = sizeof *s, .names = RLCORE_ONNX_ML_AGENTS}; }
CALL(rlcore_onnx_options) {
  rlcore_policy *policy;
  size_t size;
  learner();
  FINE(rlcore_policy_export(w.made, w.bytes, sizeof w.bytes, &policy));
  return rlcore_policy_onnx_size(policy, s, &size);
}
MAKE(rlcore_policy_buffers) { *s = (rlcore_policy_buffers){.struct_size = sizeof *s, .scratch = w.f[1], .scratch_len = sizeof w.f[1] / 4}; }
CALL(rlcore_policy_buffers) {
  rlcore_policy *policy;
  learner();
  FINE(rlcore_policy_export(w.made, w.bytes, sizeof w.bytes, &policy));
  return rlcore_policy_act_greedy(policy, 1, ACTED(NULL, x, NULL, w.f[0]), s);
}

MAKE(rlcore_distribution) { *s = (rlcore_distribution){.struct_size = sizeof *s, .prob = w.f[0]}; }
CALL(rlcore_distribution) {
  learner();
  return rlcore_learner_distribution(w.made, 1, OBSERVED(x, NULL), NULL, NULL, s);
}

MAKE(rlcore_imitation) { *s = (rlcore_imitation){.struct_size = sizeof *s, .weight = w.f[1]}; }
CALL(rlcore_imitation) {
  learner();
  w.f[1][0] = 1;
  return rlcore_learner_imitate(w.made, 1, ACTED(NULL, x, NULL, w.f[0]), s, NULL);
}

MAKE(rlcore_lazy_frames_config) {
  FINE(rlcore_lazy_frames_config_init(s, sizeof *s)), s->num_frames = 8, s->height = 2, s->width = 2;
}
CALL(rlcore_lazy_frames_config) { return rlcore_lazy_frames_init(BLOCK, s, OUT(rlcore_lazy_frames)); }

MAKE(rlcore_memory_config) {
  FINE(rlcore_memory_config_init(s, sizeof *s)), s->history_size = 32, s->num_columns = 1, s->columns = &column;
}
CALL(rlcore_memory_config) { return rlcore_memory_init(BLOCK, s, OUT(rlcore_memory)); }
MAKE(rlcore_draw) { s->struct_size = sizeof *s; }
CALL(rlcore_draw) {
  const rlcore_frame frame = {.episode = 1};
  rlcore_memory_config config;
  make_rlcore_memory_config(&config);
  FINE(call_rlcore_memory_config(&config));
  FINE(rlcore_memory_add(w.made, &frame, columns, NULL, NULL));
  FINE(rlcore_rng_seed(&w.rng, 1));
  return rlcore_memory_sample_uniform(w.made, &w.rng, s, w.samples, 2);
}

MAKE(rlcore_sequences) { *s = (rlcore_sequences){.struct_size = sizeof *s, .num_samples = 2, .len = 1, .samples = w.samples}; }
CALL(rlcore_sequences) {
  rlcore_draw draw = {0};
  make_rlcore_draw(&draw);
  FINE(call_rlcore_draw(&draw));
  return rlcore_memory_gather_frames(w.made, s, w.f[0], NULL, NULL, NULL);
}

MAKE(rlcore_replay_config) {
  FINE(rlcore_replay_config_init(s, sizeof *s)), s->num_rows = 16, s->num_columns = 1, s->columns = &column;
}
CALL(rlcore_replay_config) { return rlcore_replay_init(BLOCK, s, OUT(rlcore_replay)); }
MAKE(rlcore_replay_stats) { s->struct_size = sizeof *s; }
CALL(rlcore_replay_stats) {
  rlcore_replay_config config;
  make_rlcore_replay_config(&config);
  FINE(call_rlcore_replay_config(&config));
  return rlcore_replay_get_stats(w.made, s);
}

MAKE(rlcore_replay_step) { *s = (rlcore_replay_step){.struct_size = sizeof *s, .reward = 1}; }
CALL(rlcore_replay_step) {
  rlcore_replay_config config;
  make_rlcore_replay_config(&config);
  FINE(call_rlcore_replay_config(&config));
  return rlcore_replay_add(w.made, s, columns, NULL, NULL);
}
MAKE(rlcore_replay_draw) { *s = (rlcore_replay_draw){.struct_size = sizeof *s, .beta = 1}; }
CALL(rlcore_replay_draw) {
  rlcore_replay_step step = {.struct_size = sizeof step, .terminated = 1};
  rlcore_replay_config config;
  make_rlcore_replay_config(&config);
  FINE(call_rlcore_replay_config(&config));
  FINE(rlcore_replay_add(w.made, &step, columns, columns, NULL));
  FINE(rlcore_rng_seed(&w.rng, 1));
  return rlcore_replay_sample(w.made, &w.rng, s, 1, (rlcore_frame_index *)w.d[0], w.f[0], NULL);
}

static int32_t judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user;
  *reward = *achieved - *goal;
  *terminated = 1;
  return 0;
}
MAKE(rlcore_relabel) { *s = (rlcore_relabel){sizeof *s, 2, 1, 1, x, index_of, index_of}; }
CALL(rlcore_relabel) { return rlcore_relabel_goals(s, judge, NULL, w.f[0], w.f[1], w.flags[0]); }

MAKE(rlcore_rollout) { *s = (rlcore_rollout){sizeof *s, T, N, 0, x, x, x, none, none, NULL}; }
CALL(rlcore_rollout) { return rlcore_gae(s, 0.9F, 0.9F, w.f[0], w.f[1]); }
MAKE(rlcore_off_policy) { *s = (rlcore_off_policy){.struct_size = sizeof *s, .discount = 0.9F, .td_lambda = 0.9F, .q = x, .log_rho = x}; }
CALL(rlcore_off_policy) {
  rlcore_rollout rollout;
  make_rlcore_rollout(&rollout);
  return rlcore_retrace(&rollout, s, w.f[0], w.f[1]);
}
ANOTHER_CALL(retraced, rlcore_rollout) { return rlcore_retrace_range(s, OFF_POLICY_OF(x, x, 0.9F, 0.9F), 0, N, w.f[0], w.f[1]); }

MAKE(rlcore_rollout_buffer_config) {
  FINE(rlcore_rollout_buffer_config_init(s, sizeof *s));
  s->num_steps = T, s->num_envs = N, s->num_columns = 1, s->columns = &column, s->log_capacity = 2 * N;
}
CALL(rlcore_rollout_buffer_config) { return rlcore_rollout_buffer_init(BLOCK, s, OUT(rlcore_rollout_buffer)); }
MAKE(rlcore_rollout_step) { *s = (rlcore_rollout_step){sizeof *s, 0, columns, x, x, x, none, none, NULL, NULL, NULL}; }
CALL(rlcore_rollout_step) {
  rlcore_rollout_buffer_config config;
  make_rlcore_rollout_buffer_config(&config);
  FINE(call_rlcore_rollout_buffer_config(&config));
  return rlcore_rollout_buffer_add(w.made, s);
}
static void rollout(void) {
  rlcore_rollout_step step;
  make_rlcore_rollout_step(&step);
  FINE(call_rlcore_rollout_step(&step));
  FINE(rlcore_rollout_buffer_finish(w.made, x, x, 0.9F, 0.9F));
}
MAKE(rlcore_rollout_extras) { s->struct_size = sizeof *s; }
CALL(rlcore_rollout_extras) { return rollout(), rlcore_rollout_buffer_extras(w.made, s); }
MAKE(rlcore_rollout_progress) { s->struct_size = sizeof *s; }
CALL(rlcore_rollout_progress) { return rollout(), rlcore_rollout_buffer_progress(w.made, s); }
ANOTHER_CALL(viewed, rlcore_rollout) { return rollout(), rlcore_rollout_buffer_view(w.made, s); }
MAKE(rlcore_minibatch) { *s = (rlcore_minibatch){.struct_size = sizeof *s, .columns = out_columns, .value = w.f[0], .mask = w.f[1]}; }
CALL(rlcore_minibatch) { return rollout(), rlcore_rollout_buffer_gather(w.made, index_of, 2, 1, s); }
MAKE(rlcore_rows_out) { *s = (rlcore_rows_out){.struct_size = sizeof *s, .num_rows = T, .columns = out_columns, .reward = w.f[0]}; }
CALL(rlcore_rows_out) {
  uint64_t next = 0;
  return rollout(), rlcore_rollout_buffer_read(w.made, &next, s, &w.count, NULL);
}

MAKE(rlcore_trajectory_config) { FINE(rlcore_trajectory_config_init(s, sizeof *s)), s->num_columns = 1, s->columns = &column; }
CALL(rlcore_trajectory_config) { return rlcore_trajectory_init(BLOCK, s, OUT(rlcore_trajectory)); }
MAKE(rlcore_trajectory_frames) { *s = (rlcore_trajectory_frames){sizeof *s, 2, columns, x, x, none, none, NULL}; }
CALL(rlcore_trajectory_frames) {
  rlcore_trajectory_config config;
  make_rlcore_trajectory_config(&config);
  FINE(call_rlcore_trajectory_config(&config));
  return rlcore_trajectory_add(w.made, s);
}
static void trajectory(void) {
  rlcore_trajectory_frames frames;
  make_rlcore_trajectory_frames(&frames);
  FINE(call_rlcore_trajectory_frames(&frames));
}
MAKE(rlcore_trajectory_view) { s->struct_size = sizeof *s; }
CALL(rlcore_trajectory_view) { return trajectory(), rlcore_trajectory_held(w.made, s); }
MAKE(rlcore_trajectory_rows) {
  *s = (rlcore_trajectory_rows){.struct_size = sizeof *s, .num_rows = 2, .columns = out_columns, .returns = w.f[0], .advantage = w.f[1]};
}
ANOTHER_CALL(read_rows, rlcore_rows_out) {
  uint64_t next = 0;
  return trajectory(), rlcore_trajectory_read(w.made, &next, s, &w.count, NULL);
}
CALL(rlcore_trajectory_rows) { return trajectory(), rlcore_trajectory_process(w.made, 0.9F, 0.9F, 0, s); }

MAKE(rlcore_queue_config) { FINE(rlcore_queue_config_init(s, sizeof *s)), s->item_size = 64; }
CALL(rlcore_queue_config) { return rlcore_queue_init(BLOCK, s, OUT(rlcore_queue)); }

MAKE(rlcore_rollout_file) {
  *s = (rlcore_rollout_file){sizeof *s, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, 0, 0, 0, 1, 2, 3, 4, 0, 0};
}
CALL(rlcore_rollout_file) { return rlcore_rollout_file_size(s, &w.size); }
MAKE(rlcore_rollout_arrays) {
  *s = (rlcore_rollout_arrays){sizeof *s, 0, w.f[0], w.f[1], w.f[1], w.f[1], w.f[1], w.f[1], w.flags[0], w.flags[0], w.flags[0],
                               NULL, NULL, NULL, NULL, NULL};
}
CALL(rlcore_rollout_arrays) {
  rlcore_rollout_file file;
  make_rlcore_rollout_file(&file);
  return rlcore_rollout_file_write(&file, s, w.bytes, sizeof w.bytes);
}
ANOTHER_CALL(checked, rlcore_rollout_file) {
  rlcore_rollout_arrays arrays;
  make_rlcore_rollout_arrays(&arrays);
  FINE(call_rlcore_rollout_arrays(&arrays));
  return rlcore_rollout_file_check(w.bytes, sizeof w.bytes, s);
}

MAKE(rlcore_shifted_rollout) { *s = (rlcore_shifted_rollout){sizeof *s, T, N, 0, x, x, x, x, x}; }
CALL(rlcore_shifted_rollout) { return rlcore_gae_shifted(s, 0.9F, 0.9F, w.f[0], w.f[1]); }

MAKE(rlcore_vtrace) {
  FINE(rlcore_vtrace_init(s, sizeof *s)), s->num_steps = T, s->num_envs = N;
  s->log_rho = s->discounts = s->reward = s->value = s->bootstrap_value = x;
}
CALL(rlcore_vtrace) { return rlcore_vtrace_from_importance_weights(s, w.f[0], w.f[1]); }
MAKE(rlcore_vtrace_logits) { *s = (rlcore_vtrace_logits){sizeof *s, 2, x, x, (const int32_t *)x}; }
MAKE(rlcore_vtrace_out) { *s = (rlcore_vtrace_out){sizeof *s, 0, w.f[0], w.f[1], NULL, NULL, NULL}; }
static int32_t from_logits(const rlcore_vtrace_logits *logits, const rlcore_vtrace_out *out) {
  rlcore_vtrace v;
  make_rlcore_vtrace(&v);
  return rlcore_vtrace_from_logits(&v, logits, out);
}
CALL(rlcore_vtrace_logits) {
  rlcore_vtrace_out out;
  make_rlcore_vtrace_out(&out);
  return from_logits(s, &out);
}
CALL(rlcore_vtrace_out) {
  rlcore_vtrace_logits logits;
  make_rlcore_vtrace_logits(&logits);
  return from_logits(&logits, s);
}

MAKE(rlcore_logits) { *s = (rlcore_logits){sizeof *s, N, 1, 0, choices, x, NULL}; }
CALL(rlcore_logits) { return rlcore_categorical_log_softmax(s, w.f[0]); }
MAKE(rlcore_gaussian) { *s = (rlcore_gaussian){sizeof *s, N, 1, 0, x, log_std}; }
CALL(rlcore_gaussian) { return rlcore_gaussian_log_prob(s, x, w.f[0]); }
MAKE(rlcore_loss_batch) { *s = (rlcore_loss_batch){sizeof *s, N, 0.2F, 0, 0.5F, 0, x, x, x, x, x, x}; }
CALL(rlcore_loss_batch) { return rlcore_ppo_loss(s, w.f[0], w.f[1], (rlcore_losses *)w.f[2]); }

MAKE(rlcore_pixel_control) { *s = (rlcore_pixel_control){sizeof *s, 1, 2, 2, x, NULL, x, (const int32_t *)index_of}; }
CALL(rlcore_pixel_control) { return rlcore_pixel_control_loss(s, w.f[0], NULL, w.f[1]); }
MAKE(rlcore_normalizer) {
  *s = (rlcore_normalizer){.struct_size = sizeof *s, .num_columns = 1, .mean = zeros, .variance = zeros, .epsilon = 1, .clip = 1};
}
CALL(rlcore_normalizer) { return rlcore_normalize(s, x, 2, w.f[0]); }

MAKE(rlcore_weights) { *s = (rlcore_weights){sizeof *s, RLCORE_INIT_NORMAL, 1, 2, 3, 0}; }
CALL(rlcore_weights) {
  FINE(rlcore_rng_seed(&w.rng, 1));
  return rlcore_weights_draw(s, &w.rng, NULL, 0, w.f[0]);
}
static const rlcore_layer one_layer = {.kind = RLCORE_LAYER_DENSE, .units = 1};
static const rlcore_network one_network = {.struct_size = sizeof one_network, .num_layers = 1, .layers = &one_layer, .input = {1, 1, 1}};
MAKE(rlcore_network) { *s = one_network; }
CALL(rlcore_network) {
  rlcore_network_lengths len = {.struct_size = sizeof len};
  return rlcore_network_lengths_read(s, 1, 1, &len);
}
MAKE(rlcore_network_lengths) { *s = (rlcore_network_lengths){.struct_size = sizeof *s}; }
CALL(rlcore_network_lengths) { return rlcore_network_lengths_read(&one_network, 1, 1, s); }
MAKE(rlcore_network_pass) {
  static float scratch[4096];
  *s = (rlcore_network_pass){.struct_size = sizeof *s, .num_rows = 1, .num_steps = 1, .input_type = RLCORE_F32, .params = x,
                             .params_len = 2, .input = x, .scratch = scratch, .scratch_len = 4096};
}
CALL(rlcore_network_pass) { return rlcore_network_forward(&one_network, s, w.f[0], 1); }
MAKE(rlcore_reconstruction) {
  *s = (rlcore_reconstruction){.struct_size = sizeof *s, .num_rows = 1, .row_len = 2, .target_type = RLCORE_F32, .out = x, .target = x};
}
CALL(rlcore_reconstruction) { return rlcore_reconstruction_loss(s, w.f[0], w.f[1]); }
MAKE(rlcore_latent) { *s = (rlcore_latent){sizeof *s, 1, 2, 1, x, log_std, x}; }
CALL(rlcore_latent) { return rlcore_latent_sample(s, w.f[0]); }

MAKE(rlcore_optimizer_config) { FINE(rlcore_optimizer_config_init(s, sizeof *s, RLCORE_OPTIMIZER_ADAM)); }
MAKE(rlcore_optimizer_state) { *s = (rlcore_optimizer_state){sizeof *s, 2, w.f[0], w.f[1], (uint64_t *)(void *)w.d[0]}; }
CALL(rlcore_optimizer_config) {
  rlcore_optimizer_state state;
  make_rlcore_optimizer_state(&state);
  return rlcore_optimizer_start(s, &state);
}
CALL(rlcore_optimizer_state) {
  rlcore_optimizer_config config;
  make_rlcore_optimizer_config(&config);
  return rlcore_optimizer_step(&config, 0.1F, s, w.f[2], x, NULL);
}

/* ---- The trials ---- */

struct trial {
  const char *type;
  size_t size, align;
  int written; /* written by the call, not read */
  void (*make)(void *);
  int32_t (*call)(void *);
};

#define TRIAL(type, make, call, written) {#type, sizeof(type), _Alignof(type), written, make, call}
#define READ(type) TRIAL(type, make_##type, call_##type, 0)
#define WRITTEN(type) TRIAL(type, make_##type, call_##type, 1)

static const struct trial trials[] = {
    READ(rlcore_atari_config), READ(rlcore_env_def), READ(rlcore_vecenv_config), READ(rlcore_rows), READ(rlcore_reset),
    READ(rlcore_batch_config), WRITTEN(rlcore_batch_counts), READ(rlcore_monitor_config), WRITTEN(rlcore_monitor_stats),
    TRIAL(rlcore_rows, make_rlcore_rows, monitored, 0), READ(rlcore_vec_normalize_config),
    WRITTEN(rlcore_vec_normalize_stats), TRIAL(rlcore_rows, make_rlcore_rows, normalized, 0),
    READ(rlcore_learner_config), WRITTEN(rlcore_learner_stats),
    TRIAL(rlcore_rows, make_rlcore_rows, acted, 0), READ(rlcore_learner_batch), READ(rlcore_learner_transitions),
    READ(rlcore_policy_buffers), WRITTEN(rlcore_policy_info), READ(rlcore_distribution), READ(rlcore_imitation), READ(rlcore_onnx_options),
    READ(rlcore_sequences), READ(rlcore_replay_step), READ(rlcore_replay_draw), READ(rlcore_off_policy),
    READ(rlcore_pixel_control), READ(rlcore_normalizer), READ(rlcore_lazy_frames_config), READ(rlcore_memory_config),
    READ(rlcore_draw), READ(rlcore_replay_config), WRITTEN(rlcore_replay_stats), READ(rlcore_relabel), READ(rlcore_rollout),
    TRIAL(rlcore_rollout, make_rlcore_rollout, retraced, 0), READ(rlcore_rollout_buffer_config), READ(rlcore_rollout_step),
    WRITTEN(rlcore_rollout_extras), WRITTEN(rlcore_rollout_progress), TRIAL(rlcore_rollout, make_rlcore_rollout, viewed, 1),
    READ(rlcore_minibatch), READ(rlcore_rows_out), READ(rlcore_trajectory_config), READ(rlcore_trajectory_frames),
    WRITTEN(rlcore_trajectory_view), READ(rlcore_trajectory_rows),
    TRIAL(rlcore_rows_out, make_rlcore_rows_out, read_rows, 0), READ(rlcore_queue_config), READ(rlcore_rollout_file),
    TRIAL(rlcore_rollout_file, make_rlcore_rollout_file, checked, 1), READ(rlcore_rollout_arrays), READ(rlcore_shifted_rollout),
    READ(rlcore_vtrace), READ(rlcore_vtrace_logits), READ(rlcore_vtrace_out), READ(rlcore_logits), READ(rlcore_gaussian),
    READ(rlcore_network), WRITTEN(rlcore_network_lengths), READ(rlcore_network_pass), READ(rlcore_reconstruction),
    READ(rlcore_latent), READ(rlcore_loss_batch), READ(rlcore_weights), READ(rlcore_optimizer_config), READ(rlcore_optimizer_state),
};

/* A structure that is new has one size only. */
static size_t oldest_size(const char *type, size_t now) {
  for (size_t i = 0; i < sizeof oldest / sizeof *oldest; i++)
    if (strcmp(oldest[i].type, type) == 0) return oldest[i].size;
  return now;
}

/* The structure of a client whose header says `size` bytes, followed by bytes that do not belong to it. */
static _Alignas(64) unsigned char room[2 * LONGEST];
enum { STRANGE = 0xEE };

static int32_t attempt(const struct trial *t, size_t size, int tail) {
  const uint32_t said = (uint32_t)size;
  _Alignas(64) unsigned char made[LONGEST] = {0};
  t->make(made);
  memset(room, STRANGE, sizeof room);
  if (size > t->size) memset(room, tail, size < sizeof room ? size : sizeof room);
  memcpy(room, made, size < t->size ? size : t->size);
  memcpy(room, &said, sizeof said);
  memset(&w, 0, sizeof w);
  return t->call(room);
}

static void try(const struct trial *t) {
  static unsigned char whole[LONGEST];
  const size_t least = oldest_size(t->type, t->size);
  if (least > t->size) die(t->type, "has become shorter", least);
  if (attempt(t, t->size, 0) != RLCORE_OK) die(t->type, "refused as it is today", t->size);
  memcpy(whole, room, t->size);
  memcpy(&wanted, &w, sizeof w);
  for (size_t size = 0; size <= t->size + 64; size++) {
    const int32_t status = attempt(t, size, 0);
    if (size < least || size % t->align != 0) {
      if (status != RLCORE_E_CONFIG) die(t->type, "a size that no version has is not E_CONFIG", size);
      continue;
    }
    if (status != RLCORE_OK) die(t->type, size < t->size ? "an older client is refused" : "a newer client is refused", size);
    if (memcmp(&w, &wanted, sizeof w) != 0) die(t->type, "another client gets other results", size);
    const size_t known = size < t->size ? size : t->size;
    if (t->written && memcmp(room + 4, whole + 4, known - 4) != 0) die(t->type, "another client is told something else", size);
    for (size_t i = known; i < size; i++)
      if (room[i] != 0) die(t->type, "members that are not known did not become or stay 0", size);
    for (size_t i = size; i < sizeof room; i++)
      if (room[i] != STRANGE) die(t->type, "bytes after the structure were written", size);
  }
  const size_t longer = t->size + 2 * t->align;
  for (size_t at = t->size; at < longer; at++) {
    attempt(t, longer, 0);
    const int32_t status = (room[at] = 1, memset(&w, 0, sizeof w), t->call(room));
    if (!t->written && status != RLCORE_E_CONFIG) die(t->type, "a member that is not known and not 0 is ignored", longer);
    if (t->written && (status != RLCORE_OK || room[at] != 0)) die(t->type, "a member that is not known is not set to 0", longer);
  }
  if (attempt(t, LONGEST, 0) != RLCORE_OK) die(t->type, "the longest is refused", LONGEST);
  if (attempt(t, LONGEST + 64, 0) != RLCORE_E_CONFIG) die(t->type, "longer than any is accepted", LONGEST + 64);
  if (attempt(t, UINT32_MAX, 0) != RLCORE_E_CONFIG) die(t->type, "a size that was never set is accepted", UINT32_MAX);
}

/* ---- Calls with the size as an argument ---- */

struct filler {
  const char *type;
  size_t size, align;
  int32_t (*fill)(void *, size_t);
};

#define FILLERS(X) \
  X(rlcore_atari_config, rlcore_atari_config_init(s, size)) \
  X(rlcore_vecenv_config, rlcore_vecenv_config_init(s, size)) \
  X(rlcore_batch_config, rlcore_batch_config_init(s, size)) \
  X(rlcore_monitor_config, rlcore_monitor_config_init(s, size)) \
  X(rlcore_vec_normalize_config, rlcore_vec_normalize_config_init(s, size)) \
  X(rlcore_learner_config, rlcore_learner_config_init(s, size, RLCORE_ALGORITHM_PPO)) \
  X(rlcore_lazy_frames_config, rlcore_lazy_frames_config_init(s, size)) \
  X(rlcore_memory_config, rlcore_memory_config_init(s, size)) \
  X(rlcore_replay_config, rlcore_replay_config_init(s, size)) \
  X(rlcore_rollout_buffer_config, rlcore_rollout_buffer_config_init(s, size)) \
  X(rlcore_trajectory_config, rlcore_trajectory_config_init(s, size)) \
  X(rlcore_queue_config, rlcore_queue_config_init(s, size)) \
  X(rlcore_vtrace, rlcore_vtrace_init(s, size))
#define FILL(type, call) static int32_t fill_##type(void *s, size_t size) { return call; }
#define FILLER(type, call) {#type, sizeof(type), _Alignof(type), fill_##type},
FILLERS(FILL)

static const struct filler fillers[] = {FILLERS(FILLER)};

static void try_filler(const struct filler *f) {
  static unsigned char whole[LONGEST];
  const size_t least = oldest_size(f->type, f->size);
  memset(room, STRANGE, sizeof room);
  fine(__LINE__, f->fill(room, f->size));
  memcpy(whole, room, f->size);
  for (size_t size = 0; size <= f->size + 64; size++) {
    const uint32_t said = (uint32_t)size;
    memset(room, STRANGE, sizeof room);
    const int32_t status = f->fill(room, size);
    const int refused = size < least || size % f->align != 0;
    if (status != (refused ? RLCORE_E_SIZE : RLCORE_OK)) die(f->type, "init: another status", size);
    const size_t known = refused ? 0 : size < f->size ? size : f->size, end = refused ? 0 : size;
    if (!refused && memcmp(room, &said, sizeof said) != 0) die(f->type, "init: struct_size is another", size);
    if (!refused && memcmp(room + 4, whole + 4, known - 4) != 0) die(f->type, "init: other defaults", size);
    for (size_t i = known; i < sizeof room; i++)
      if (room[i] != (i < end ? 0 : STRANGE)) die(f->type, i < end ? "init: an unknown member is not 0" : "init: too much is written", size);
  }
}

int main(void) {
  const size_t count = sizeof trials / sizeof *trials;
#define TRIED(name) \
  do { \
    size_t i = 0; \
    while (i < count && strcmp(trials[i].type, #name) != 0) i++; \
    if (i == count) die(#name, "is not tried", 0); \
  } while (0);
#include "structures.h" /* TRIED(name) for each of the header's */
  for (size_t i = 0; i < count; i++) try(&trials[i]);
  for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++) try_filler(&fillers[i]);
  printf("%zu calls with structures, %zu that fill them in: every size that a client may have\n", count,
         sizeof fillers / sizeof *fillers);
  return 0;
}
