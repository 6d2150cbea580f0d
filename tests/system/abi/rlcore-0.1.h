/* The interface of 0.1 as its oldest clients may know it: each structure that begins with struct_size ends after the last
   member that such a client has to give. A program that was compiled with it works with every library of this ABI number:
   oldest.c, growth.c and client.c hold us to that. So nothing here changes; a structure that is new joins as it begins. */
#ifndef RLCORE_H
#define RLCORE_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t rlcore_status;
enum {
  RLCORE_OK = 0,
  RLCORE_E_NULL = -1,
  RLCORE_E_SIZE = -2,
  RLCORE_E_ALIGN = -3,
  RLCORE_E_CONFIG = -4,
  RLCORE_E_SHAPE = -5,
  RLCORE_E_IMAGE = -6,
  RLCORE_E_RANGE = -7,
  RLCORE_E_CALLBACK = -8,
  RLCORE_E_OVERFLOW = -9,
  RLCORE_E_NOT_READY = -10,
  RLCORE_E_VALUE = -11,
  RLCORE_E_OVERLAP = -12,
  RLCORE_E_BUSY = -13,
  RLCORE_E_NOT_PENDING = -14,
  RLCORE_E_INEXACT = -15,
  RLCORE_E_EMPTY = -16,
  RLCORE_E_DISABLED = -17,
};
rlcore_status rlcore_last_error(char *text, size_t text_size);
typedef enum rlcore_cpu_level {
  RLCORE_CPU_BASE = 0,
  RLCORE_CPU_AVX2 = 1,
  RLCORE_CPU_AVX512 = 2,
} rlcore_cpu_level;
rlcore_status rlcore_hash(const void *bytes, size_t size, uint64_t *out);
typedef struct rlcore_rng {
  uint64_t state[2];
  uint64_t stream[2];
  uint32_t half;
  uint32_t has_half;
} rlcore_rng;
rlcore_status rlcore_rng_integers(rlcore_rng *rng, int64_t low, int64_t high, int64_t *out, size_t len);
typedef enum rlcore_element {
  RLCORE_F32 = 0,
  RLCORE_I32 = 1,
  RLCORE_U8 = 2,
} rlcore_element;
typedef struct rlcore_space {
  uint32_t kind;
  uint32_t len;
  const float *low;
  const float *high;
  const uint32_t *n;
} rlcore_space;
typedef struct rlcore_field {
  char name[24];
  uint32_t kind;
  uint32_t rank;
  uint32_t dims[4];
  uint32_t offset;
  uint32_t reserved;
} rlcore_field;
typedef enum rlcore_wrap {
  RLCORE_WRAP_TIME_LIMIT = 1,
  RLCORE_WRAP_NOOP_RESET = 2,
  RLCORE_WRAP_FIRE_RESET = 3,
  RLCORE_WRAP_EPISODIC_LIFE = 4,
  RLCORE_WRAP_MAX_AND_SKIP = 5,
  RLCORE_WRAP_ACTION_REPEAT = 6,
  RLCORE_WRAP_STICKY_ACTIONS = 7,
  RLCORE_WRAP_RESCALE_ACTION = 8,
  RLCORE_WRAP_CLIP_ACTION = 9,
  RLCORE_WRAP_CLIP_REWARD = 10,
  RLCORE_WRAP_SCALE_REWARD = 11,
  RLCORE_WRAP_WARP_FRAME = 12,
  RLCORE_WRAP_ATARI_RESCALE = 13,
  RLCORE_WRAP_SCALED_FLOAT = 14,
  RLCORE_WRAP_FRAME_STACK = 15,
  RLCORE_WRAP_CHANNELS_FIRST = 16,
  RLCORE_WRAP_FLATTEN = 17,
  RLCORE_WRAP_EXTRACT = 18,
  RLCORE_WRAP_RECORD = 19,
  RLCORE_WRAP_OBSERVE = 20,
} rlcore_wrap;
typedef enum rlcore_atari_screen {
  RLCORE_ATARI_WHOLE = 0,
  RLCORE_ATARI_GRAY84 = 1,
  RLCORE_ATARI_MEAN42 = 2,
} rlcore_atari_screen;
typedef enum rlcore_atari_order {
  RLCORE_ATARI_SEED = 0,
  RLCORE_ATARI_CLASSIC = 1,
} rlcore_atari_order;
typedef struct rlcore_atari_config {
  uint32_t struct_size;
  uint32_t noop_max;
  uint32_t skip;
  uint32_t fire_reset;
  uint32_t episodic_life;
  uint32_t order;
  uint32_t screen;
  uint32_t scale;
  uint32_t clip_reward;
  uint32_t stack;
  uint32_t channels_first;
  uint32_t record;
} rlcore_atari_config;
typedef int32_t (*rlcore_observe_fn)(void *user, uint32_t row, const void *obs, float *out);
typedef struct rlcore_wrapper {
  uint32_t kind;
  uint32_t count;
  uint32_t steps;
  uint32_t noop_max;
  uint32_t noop_count;
  uint32_t noop;
  uint32_t fire;
  uint32_t second;
  float probability;
  float low;
  float high;
  float factor;
  uint32_t height;
  uint32_t width;
  uint32_t gray;
  uint32_t len;
  char field[24];
  uint32_t reserved[4];
  rlcore_observe_fn observe;
  void *user;
} rlcore_wrapper;
typedef enum rlcore_env_id {
  RLCORE_ENV_CARTPOLE = 1,
  RLCORE_ENV_MOUNTAIN_CAR = 2,
  RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS = 3,
  RLCORE_ENV_ACROBOT = 4,
  RLCORE_ENV_PENDULUM = 5,
  RLCORE_ENV_PROBE1 = 101,
  RLCORE_ENV_PROBE2 = 102,
  RLCORE_ENV_PROBE3 = 103,
  RLCORE_ENV_PROBE4 = 104,
  RLCORE_ENV_PROBE5 = 105,
  RLCORE_ENV_PROBE6 = 106,
  RLCORE_ENV_PROBE7 = 107,
  RLCORE_ENV_PROBE6_ODD_EVEN = 108,
  RLCORE_ENV_PROBE_TRUNCATION = 109,
  RLCORE_ENV_PROBE_MEMORY = 110,
} rlcore_env_id;
typedef enum rlcore_level {
  RLCORE_LEVEL_NEW = 0,
  RLCORE_LEVEL_SAME = 1,
} rlcore_level;
typedef int32_t (*rlcore_env_reset_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs);
typedef struct rlcore_step {
  float reward;
  uint8_t terminated;
  uint8_t truncated;
  uint8_t reserved[2];
} rlcore_step;
typedef int32_t (*rlcore_env_step_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs,
                                      rlcore_step *out);
typedef int32_t (*rlcore_env_render_fn)(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height, uint8_t *rgb);
typedef int32_t (*rlcore_env_lives_fn)(void *user, uint32_t row, const void *state, uint32_t *out_lives);
typedef int32_t (*rlcore_env_action_mask_fn)(void *user, uint32_t row, const void *state, uint8_t *mask);
typedef int32_t (*rlcore_env_restart_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, uint32_t level, void *obs);
typedef struct rlcore_env_def {
  uint32_t struct_size;
  uint32_t env_id;
  uint32_t state_size;
  uint32_t max_episode_steps;
  rlcore_space obs;
  rlcore_space action;
  void *user;
  rlcore_env_reset_fn reset;
  rlcore_env_step_fn step;
} rlcore_env_def;
typedef struct rlcore_env rlcore_env;
typedef enum rlcore_autoreset {
  RLCORE_AUTORESET_SAME_STEP = 0,
  RLCORE_AUTORESET_NEXT_STEP = 1,
  RLCORE_AUTORESET_DISABLED = 2,
  RLCORE_AUTORESET_LEGACY = 3,
} rlcore_autoreset;
typedef struct rlcore_vecenv rlcore_vecenv;
typedef struct rlcore_vecenv_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint64_t seed;
} rlcore_vecenv_config;
typedef struct rlcore_rows {
  uint32_t struct_size;
  uint32_t reserved;
  const uint8_t *active;
  void *obs;
  uint8_t *action_mask;
  void *action;
  float *reward;
  uint8_t *terminated;
  uint8_t *truncated;
  uint8_t *valid;
  void *final_obs;
  uint8_t *final_action_mask;
} rlcore_rows;
rlcore_status rlcore_env_init(void *mem, size_t mem_size, const rlcore_env_def *definition, rlcore_env **out);
rlcore_status rlcore_env_spaces(const rlcore_env *env, rlcore_space *out_obs, rlcore_space *out_action);
rlcore_status rlcore_vecenv_config_init(rlcore_vecenv_config *config, size_t config_size);
rlcore_status rlcore_vecenv_init(void *mem, size_t mem_size, const rlcore_env *env,
                                 const rlcore_vecenv_config *config, rlcore_vecenv **out);
rlcore_status rlcore_vecenv_reset(rlcore_vecenv *v, const rlcore_env *env, const uint64_t *seed, void *obs);
rlcore_status rlcore_vecenv_step(rlcore_vecenv *v, const rlcore_env *env, const rlcore_rows *rows);
typedef struct rlcore_batch rlcore_batch;
typedef struct rlcore_batch_config {
  uint32_t struct_size;
  uint32_t in_series;
} rlcore_batch_config;
typedef struct rlcore_batch_counts {
  uint32_t struct_size;
  uint32_t closed;
  uint32_t num_pending;
  uint32_t num_running;
  uint32_t num_done;
} rlcore_batch_counts;
typedef struct rlcore_monitor rlcore_monitor;
typedef struct rlcore_monitor_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t keep;
  uint32_t capacity;
  uint32_t num_info;
  uint32_t reserved;
  double start;
} rlcore_monitor_config;
typedef double (*rlcore_clock_fn)(void *user);
typedef struct rlcore_episode {
  uint64_t number;
  double seconds;
  uint32_t env;
  uint32_t len;
  float episode_return;
  uint32_t reserved;
} rlcore_episode;
typedef struct rlcore_monitor_stats {
  uint32_t struct_size;
  uint32_t num_kept;
  uint64_t num_episodes;
  double return_mean;
  double len_mean;
} rlcore_monitor_stats;
typedef struct rlcore_vec_normalize rlcore_vec_normalize;
typedef struct rlcore_vec_normalize_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t obs_len;
  uint32_t normalize_obs;
  uint32_t normalize_reward;
  float clip_obs;
  float clip_reward;
  uint32_t reserved;
  double discount;
  double epsilon;
} rlcore_vec_normalize_config;
typedef struct rlcore_vec_normalize_stats {
  uint32_t struct_size;
  uint32_t frozen;
  double obs_count;
  double return_mean;
  double return_var;
  double return_count;
} rlcore_vec_normalize_stats;
typedef enum rlcore_sampling_method {
  RLCORE_SAMPLING_BASIC = 0,
  RLCORE_SAMPLING_GREEDY = 1,
  RLCORE_SAMPLING_TEMPERATURE = 2,
  RLCORE_SAMPLING_TOPK = 3,
  RLCORE_SAMPLING_BOTTOMK = 4,
} rlcore_sampling_method;
typedef struct rlcore_sampling {
  uint32_t method;
  uint32_t k;
  float temperature;
  uint32_t reserved;
} rlcore_sampling;
typedef enum rlcore_algorithm {
  RLCORE_ALGORITHM_PPO = 0
} rlcore_algorithm;
typedef enum rlcore_learner_due {
  RLCORE_LEARNER_ACT = 0,
  RLCORE_LEARNER_OBSERVE = 1,
  RLCORE_LEARNER_LEARN = 2,
} rlcore_learner_due;
typedef enum rlcore_activation {
  RLCORE_ACTIVATION_TANH = 0,
  RLCORE_ACTIVATION_RELU = 1,
} rlcore_activation;
typedef struct rlcore_learner rlcore_learner;
#include "learner_config.h" /* as it is today: no shorter one is accepted yet, so run.sh takes it from the bindings */
typedef struct rlcore_learner_stats {
  uint32_t struct_size;
  uint32_t minibatches_left;
  uint64_t num_steps;
  uint64_t num_updates;
  uint64_t num_episodes;
} rlcore_learner_stats;
rlcore_status rlcore_learner_config_init(rlcore_learner_config *config, size_t config_size, uint32_t algorithm);
rlcore_status rlcore_learner_init(void *mem, size_t mem_size, const rlcore_learner_config *config, const rlcore_space *obs,
                              const rlcore_space *action, rlcore_learner **out);
rlcore_status rlcore_learner_phase(rlcore_learner *p, uint32_t *out);
rlcore_status rlcore_learner_act(rlcore_learner *p, const rlcore_rows *rows);
rlcore_status rlcore_learner_observe(rlcore_learner *p, const rlcore_rows *rows);
rlcore_status rlcore_learner_learn(rlcore_learner *p, const rlcore_rows *rows, uint32_t max_slices, rlcore_learner_stats *stats);
typedef struct rlcore_learner_batch {
  uint32_t struct_size;
  uint32_t reserved;
  float *obs;
  void *action;
  uint8_t *action_mask;
  float *log_prob;
  float *value;
  float *advantage;
  float *value_target;
  float *state;
  uint8_t *begin;
  uint32_t *env;
  double *moments;
} rlcore_learner_batch;
typedef struct rlcore_learner_transitions {
  uint32_t struct_size;
  uint32_t reserved;
  const void *obs;
  const void *action;
  const uint8_t *action_mask;
  const float *reward;
  const uint8_t *terminated;
  const float *discount;
  const void *next_obs;
  const uint8_t *next_action_mask;
  const float *importance;
  float *error;
} rlcore_learner_transitions;
typedef struct rlcore_policy rlcore_policy;
typedef struct rlcore_policy_buffers {
  uint32_t struct_size;
  uint32_t reserved;
  float *scratch;
  size_t scratch_len;
  float *state;
  const uint8_t *reset;
} rlcore_policy_buffers;
typedef enum rlcore_layout {
  RLCORE_LAYOUT_HWC = 0,
  RLCORE_LAYOUT_CHW = 1,
} rlcore_layout;
typedef struct rlcore_lazy_frames rlcore_lazy_frames;
typedef struct rlcore_lazy_frames_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t num_frames;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t num_stack;
} rlcore_lazy_frames_config;
typedef struct rlcore_frame_index {
  uint64_t number;
  uint32_t env;
  uint32_t reserved;
} rlcore_frame_index;
typedef struct rlcore_column {
  char name[24];
  uint32_t kind;
  uint32_t len;
  uint32_t num_stack;
  uint32_t channels;
} rlcore_column;
typedef enum rlcore_draw_rule {
  RLCORE_DRAW_FIXED = 0,
  RLCORE_DRAW_ORIGINAL = 1,
} rlcore_draw_rule;
typedef struct rlcore_memory rlcore_memory;
typedef struct rlcore_memory_config {
  uint32_t struct_size;
  uint32_t history_size;
  uint32_t max_sample_size;
  uint32_t priority_sample_size;
  float reward_threshold;
  uint32_t use_priority;
  uint32_t num_columns;
  uint32_t reserved;
  const rlcore_column *columns;
} rlcore_memory_config;
typedef struct rlcore_frame {
  uint64_t episode;
  uint32_t step;
  float reward;
  uint8_t terminated;
  uint8_t truncated;
  uint8_t reserved[6];
} rlcore_frame;
typedef struct rlcore_draw {
  uint32_t struct_size;
  uint32_t size;
  uint32_t burn_in;
  uint32_t exact_size;
  uint32_t skewness;
  uint32_t attempts;
  uint32_t rule;
} rlcore_draw;
typedef struct rlcore_sample {
  uint64_t first;
  uint32_t len;
  uint32_t burn_in;
  uint32_t gap;
  uint32_t priority;
} rlcore_sample;
typedef struct rlcore_sequences {
  uint32_t struct_size;
  uint32_t num_samples;
  uint32_t len;
  uint32_t reserved;
  const struct rlcore_sample *samples;
} rlcore_sequences;
typedef enum rlcore_replay_normalize {
  RLCORE_REPLAY_NORMALIZE_MEMORY = 0,
  RLCORE_REPLAY_NORMALIZE_BATCH = 1,
  RLCORE_REPLAY_NORMALIZE_NONE = 2,
} rlcore_replay_normalize;
typedef struct rlcore_replay rlcore_replay;
typedef struct rlcore_replay_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t num_rows;
  uint32_t num_columns;
  const rlcore_column *columns;
  uint32_t observations;
  uint32_t num_steps;
  float discount;
  float alpha;
  float epsilon;
  uint32_t reserved;
} rlcore_replay_config;
typedef struct rlcore_replay_stats {
  uint32_t struct_size;
  float alpha;
  uint64_t num_transitions;
  double total;
  float min_weight;
  float max_priority;
} rlcore_replay_stats;
typedef struct rlcore_replay_step {
  uint32_t struct_size;
  uint32_t env;
  float reward;
  uint32_t terminated;
  uint32_t truncated;
} rlcore_replay_step;
typedef struct rlcore_replay_draw {
  uint32_t struct_size;
  float beta;
  uint32_t normalize;
  uint32_t independent;
} rlcore_replay_draw;
typedef enum rlcore_relabel_strategy {
  RLCORE_RELABEL_FUTURE = 0,
  RLCORE_RELABEL_FINAL = 1,
  RLCORE_RELABEL_EPISODE = 2,
} rlcore_relabel_strategy;
typedef struct rlcore_relabel {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t goal_len;
  uint32_t num_rows;
  const float *achieved;
  const uint32_t *row;
  const uint32_t *goal_row;
} rlcore_relabel;
typedef int32_t (*rlcore_goal_fn)(void *user, uint32_t row, const float *achieved, const float *goal, float *reward,
                                  uint8_t *terminated);
typedef enum rlcore_accumulate {
  RLCORE_ACCUMULATE_F32 = 0,
  RLCORE_ACCUMULATE_F64 = 1,
} rlcore_accumulate;
typedef struct rlcore_rollout {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  const float *reward;
  const float *value;
  const float *bootstrap_value;
  const uint8_t *terminated;
  const uint8_t *truncated;
  const float *final_value;
} rlcore_rollout;
typedef enum rlcore_metric {
  RLCORE_METRIC_EPISODE_LENGTH = 0,
  RLCORE_METRIC_EPISODE_RETURN = 1,
  RLCORE_METRIC_OWN = 2,
} rlcore_metric;
typedef struct rlcore_rollout_buffer rlcore_rollout_buffer;
typedef struct rlcore_rollout_buffer_config {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t memory_len;
  uint32_t log_capacity;
  uint32_t num_columns;
  uint64_t seed;
  const rlcore_column *columns;
} rlcore_rollout_buffer_config;
typedef struct rlcore_rollout_step {
  uint32_t struct_size;
  uint32_t reserved;
  const void *const *columns;
  const float *reward;
  const float *value;
  const float *log_prob;
  const uint8_t *terminated;
  const uint8_t *truncated;
  const float *final_value;
  const float *memory;
  const float *raw_reward;
} rlcore_rollout_step;
typedef struct rlcore_rollout_extras {
  uint32_t struct_size;
  uint32_t reserved;
  const float *log_prob;
  const float *advantage;
  const float *value_target;
  const uint8_t *first;
  const float *memory;
} rlcore_rollout_extras;
typedef struct rlcore_rollout_progress {
  uint32_t struct_size;
  uint32_t num_steps;
  uint64_t global_step;
  uint64_t num_ended;
  double len_mean;
  double return_mean;
  uint32_t finished;
  uint32_t reserved;
} rlcore_rollout_progress;
typedef struct rlcore_window {
  uint32_t first;
  uint32_t len;
  uint32_t pad;
  uint32_t timestep;
} rlcore_window;
typedef struct rlcore_minibatch {
  uint32_t struct_size;
  uint32_t reserved;
  void *const *columns;
  float *log_prob;
  float *value;
  float *advantage;
  float *value_target;
  float *reward;
  float *mask;
  float *memory;
  int32_t *timestep;
} rlcore_minibatch;
typedef struct rlcore_metric_row {
  uint64_t global_step;
  double value;
  uint32_t env;
  uint32_t metric;
} rlcore_metric_row;
typedef enum rlcore_reward_class {
  RLCORE_REWARD_ZERO = 0,
  RLCORE_REWARD_POSITIVE = 1,
  RLCORE_REWARD_NEGATIVE = 2,
} rlcore_reward_class;
typedef struct rlcore_rows_out {
  uint32_t struct_size;
  uint32_t num_rows;
  void *const *columns;
  float *reward;
  float *value;
  float *log_prob;
  float *final_value;
  uint8_t *terminated;
  uint8_t *truncated;
  float *memory;
} rlcore_rows_out;
typedef struct rlcore_trajectory rlcore_trajectory;
typedef struct rlcore_trajectory_config {
  uint32_t struct_size;
  uint32_t capacity;
  uint32_t memory_len;
  uint32_t one_hot;
  uint32_t num_columns;
  uint32_t reserved;
  const rlcore_column *columns;
} rlcore_trajectory_config;
typedef struct rlcore_trajectory_frames {
  uint32_t struct_size;
  uint32_t num_frames;
  const void *const *columns;
  const float *reward;
  const float *value;
  const uint8_t *terminated;
  const uint8_t *truncated;
  const float *memory;
} rlcore_trajectory_frames;
typedef struct rlcore_trajectory_view {
  uint32_t struct_size;
  uint32_t num_frames;
  const float *reward;
  const float *value;
  const uint8_t *terminated;
  const uint8_t *truncated;
  const float *memory;
} rlcore_trajectory_view;
typedef struct rlcore_trajectory_rows {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t time_flat;
  uint32_t reserved;
  void *const *columns;
  float *returns;
  float *advantage;
  float *memory;
  uint32_t *time_steps;
  uint8_t *valid;
} rlcore_trajectory_rows;
typedef struct rlcore_queue rlcore_queue;
typedef struct rlcore_queue_config {
  uint32_t struct_size;
  uint32_t capacity;
  uint32_t item_size;
  uint32_t reserved;
} rlcore_queue_config;
typedef struct rlcore_rollout_file {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t obs_kind;
  uint32_t obs_rank;
  uint32_t obs_dims[4];
  uint32_t action_kind;
  uint32_t action_len;
  uint32_t state_len;
  uint32_t num_finals;
  uint32_t reserved;
  uint64_t seed;
  uint64_t policy_version;
  uint64_t global_step;
  uint64_t num_episodes;
} rlcore_rollout_file;
typedef struct rlcore_rollout_arrays {
  uint32_t struct_size;
  uint32_t reserved;
  void *obs;
  void *action;
  float *log_prob;
  float *value;
  float *bootstrap_value;
  float *reward;
  uint8_t *terminated;
  uint8_t *truncated;
  uint8_t *valid;
  uint64_t *final_index;
  void *final_obs;
  float *final_value;
  float *state;
} rlcore_rollout_arrays;
typedef struct rlcore_shifted_rollout {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  const float *reward;
  const float *value;
  const float *done;
  const float *next_value;
  const float *next_done;
} rlcore_shifted_rollout;
typedef struct rlcore_vtrace {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  const float *log_rho;
  const float *discounts;
  const float *reward;
  const float *value;
  const float *bootstrap_value;
  const uint8_t *truncated;
  const float *final_value;
  float clip_rho;
  float clip_c;
  float clip_pg_rho;
  float lambda;
  float leak;
  uint32_t reserved;
} rlcore_vtrace;
typedef struct rlcore_vtrace_logits {
  uint32_t struct_size;
  uint32_t num_actions;
  const float *behaviour_logits;
  const float *target_logits;
  const int32_t *action;
} rlcore_vtrace_logits;
typedef struct rlcore_vtrace_out {
  uint32_t struct_size;
  uint32_t reserved;
  float *vs;
  float *pg_advantage;
  float *log_rho;
  float *behaviour_log_prob;
  float *target_log_prob;
} rlcore_vtrace_out;
typedef struct rlcore_off_policy {
  uint32_t struct_size;
  float discount;
  float td_lambda;
  uint32_t reserved;
  const float *q;
  const float *log_rho;
} rlcore_off_policy;
typedef struct rlcore_logits {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t num_choices;
  uint32_t reserved;
  const uint32_t *n;
  const float *logits;
} rlcore_logits;
rlcore_status rlcore_categorical_log_softmax(const rlcore_logits *batch, float *out);
typedef struct rlcore_gaussian {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t action_len;
  uint32_t reserved;
  const float *mean;
  const float *log_std;
} rlcore_gaussian;
typedef struct rlcore_loss_batch {
  uint32_t struct_size;
  uint32_t num_rows;
  float clip;
  float value_clip;
  float value_coef;
  uint32_t reserved;
  const float *log_prob;
  const float *old_log_prob;
  const float *advantage;
  const float *value;
  const float *old_value;
  const float *value_target;
} rlcore_loss_batch;
typedef struct rlcore_pixel_control {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t num_cells;
  uint32_t num_choices;
  const float *advantage;
  const float *value;
  const float *target;
  const int32_t *action;
} rlcore_pixel_control;
typedef struct rlcore_normalizer {
  uint32_t struct_size;
  uint32_t num_columns;
  const double *mean;
  const double *variance;
  double epsilon;
  float clip;
  uint32_t reserved;
} rlcore_normalizer;
typedef struct rlcore_image_size {
  uint32_t height;
  uint32_t width;
  uint32_t channels;
} rlcore_image_size;

#endif
