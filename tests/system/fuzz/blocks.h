/* A small valid block of every kind, in every phase that a call may need: calls are made on them, and damaged images are made
   from them. Sizes are those of the arrays of calls.c. */
#ifndef RLCORE_FUZZ_BLOCKS_H
#define RLCORE_FUZZ_BLOCKS_H

#include "fuzz.h"

enum { N = 2, T = 3, M = 1, OBS = 4, BLOCK_SIZE = 1 << 16 };

enum kind { VECENV, BATCH, MONITOR, NORMALIZER, LEARNER, POLICY, LAZY, MEMORY, REPLAY, ROLLOUT, TRAJECTORY, QUEUE, KINDS };

/* The phases. */
enum sample {
  VECENV_NEW, VECENV_RUNNING, BATCH_IDLE, BATCH_PENDING, BATCH_DONE, MONITOR_USED, NORMALIZER_USED, LEARNER_ACTS, LEARNER_OBSERVES,
  LEARNER_LEARNS, POLICY_MADE, LAZY_EMPTY, LAZY_USED, MEMORY_USED, REPLAY_USED, ROLLOUT_OPEN, ROLLOUT_FINISHED, TRAJECTORY_EMPTY,
  TRAJECTORY_USED, QUEUE_EMPTY, QUEUE_USED, LEARNER_OF_VECTORS_ACTS, LEARNER_OF_VECTORS_LEARNS, POLICY_OF_VECTORS, LEARNER_UPDATES,
  LEARNER_GRADED, LEARNER_STORES, LEARNER_OF_CHOICES, LEARNER_OF_PARTS, POLICY_OF_PARTS, STORE_OF_PARTS, STORE_OF_BOTH, SAMPLES
};

static struct {
  enum kind kind;
  size_t size;
  _Alignas(64) unsigned char bytes[BLOCK_SIZE];
} samples[SAMPLES];

/* The configurations of the blocks. */
static rlcore_env_def env_def;
static compiled_env env;
static rlcore_wrapper recorder = {.kind = RLCORE_WRAP_RECORD};
static rlcore_vecenv_config vecenv_config;
static rlcore_batch_config batch_config;
static rlcore_monitor_config monitor_config;
static rlcore_vec_normalize_config vec_normalize_config;
static rlcore_learner_config learner_config;
static rlcore_lazy_frames_config lazy_frames_config;
static rlcore_memory_config memory_config;
static rlcore_replay_config replay_config;
static rlcore_rollout_buffer_config rollout_buffer_config;
static rlcore_trajectory_config trajectory_config;
static rlcore_queue_config queue_config;

static const uint32_t CHOICES[1] = {2};
static const rlcore_space SEEN = {.kind = RLCORE_F32, .len = OBS}, DONE = {.kind = RLCORE_I32, .len = 1, .n = CHOICES};
static const rlcore_column STACKED[2] = {{"obs", RLCORE_U8, 4, 2, 1}, {"action", RLCORE_I32, 1, 0, 0}};
static const rlcore_column PLAIN[2] = {{"obs", RLCORE_F32, 2, 0, 0}, {"action", RLCORE_I32, 1, 0, 0}};

static int32_t attach(enum kind kind, void *mem, size_t size) {
  void *out;
  const void *read;
  switch (kind) {
    case VECENV: return rlcore_vecenv_attach(mem, size, env.env, (rlcore_vecenv **)&out);
    case BATCH: return rlcore_batch_attach(mem, size, (rlcore_batch **)&out);
    case MONITOR: return rlcore_monitor_attach(mem, size, (rlcore_monitor **)&out);
    case NORMALIZER: return rlcore_vec_normalize_attach(mem, size, (rlcore_vec_normalize **)&out);
    case LEARNER: return rlcore_learner_attach(mem, size, 0, NULL, NULL, (rlcore_learner **)&out);
    case POLICY: return rlcore_policy_attach(mem, size, NULL, NULL, (const rlcore_policy **)&read);
    case LAZY: return rlcore_lazy_frames_attach(mem, size, (rlcore_lazy_frames **)&out);
    case MEMORY: return rlcore_memory_attach(mem, size, (rlcore_memory **)&out);
    case REPLAY: return rlcore_replay_attach(mem, size, (rlcore_replay **)&out);
    case ROLLOUT: return rlcore_rollout_buffer_attach(mem, size, (rlcore_rollout_buffer **)&out);
    case TRAJECTORY: return rlcore_trajectory_attach(mem, size, (rlcore_trajectory **)&out);
    default: return rlcore_queue_attach(mem, size, (rlcore_queue **)&out);
  }
}

/* The same for readers beside a writer, for kinds that have such a call. */
static int32_t attach_reader(enum kind kind, const void *mem, size_t size) {
  const void *out;
  switch (kind) {
    case MONITOR: return rlcore_monitor_attach_reader(mem, size, (const rlcore_monitor **)&out);
    case LAZY: return rlcore_lazy_frames_attach_reader(mem, size, (const rlcore_lazy_frames **)&out);
    case MEMORY: return rlcore_memory_attach_reader(mem, size, (const rlcore_memory **)&out);
    case REPLAY: return rlcore_replay_attach_reader(mem, size, (const rlcore_replay **)&out);
    case ROLLOUT: return rlcore_rollout_buffer_attach_reader(mem, size, (const rlcore_rollout_buffer **)&out);
    case TRAJECTORY: return rlcore_trajectory_attach_reader(mem, size, (const rlcore_trajectory **)&out);
    default: return attach(kind, (void *)(size_t)mem, size);
  }
}

/* Reverses the bytes of a header's words, as on a machine of the other byte order: order, version, kind, bytes of configuration;
   then two of eight bytes, size and checksum. */
static void turn(unsigned char *header) {
  for (size_t at = 8; at < 40; at += at < 24 ? 4 : 8)
    for (size_t i = 0, last = at < 24 ? 3 : 7; i < last - i; i++) {
      const unsigned char low = header[at + i];
      header[at + i] = header[at + last - i], header[at + last - i] = low;
    }
}

/* Keeps a copy of a block as the sample of that phase. */
static void keep(enum sample sample, enum kind kind, const void *block, size_t size) {
  ALWAYS(size <= BLOCK_SIZE);
  samples[sample].kind = kind;
  samples[sample].size = size;
  memcpy(samples[sample].bytes, block, size);
  FINE(attach(kind, samples[sample].bytes, size));
}

/* Makes a block of a noun that needs its configuration alone. */
#define MAKE(noun, config, block) \
  FINE(rlcore_##noun##_size(&config, &size)); \
  ALWAYS(size <= BLOCK_SIZE); \
  FINE(rlcore_##noun##_init(mem, size, &config, &block))

/* Room for a row of the environments, the row, and its size. */
enum { ROW_ROOM = 512 };
static uint64_t whole_row[ROW_ROOM / sizeof(uint64_t)];
static size_t whole_row_size;

static void make_environments(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE], batch_mem[BLOCK_SIZE];
  rlcore_vecenv *v;
  rlcore_batch *b;
  size_t size, batch_size;
  float obs[N * OBS], reward[N];
  uint8_t flags[3][N];
  uint32_t groups;
  const int32_t action[N] = {0, 1};
  const rlcore_rows out = {.struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = flags[0], .truncated = flags[1], .final_obs = obs, .valid = flags[2]};
  env_def = *BUILTIN(RLCORE_ENV_CARTPOLE);
  env_def.max_episode_steps = 3;
  FINE(compile_env(&env_def, &env));
  FINE(rlcore_vecenv_config_init(&vecenv_config, sizeof vecenv_config));
  vecenv_config.num_envs = N;
  FINE(rlcore_batch_config_init(&batch_config, sizeof batch_config));
  FINE(rlcore_vecenv_size(env.env, &vecenv_config, &size));
  FINE(rlcore_vecenv_init(mem, size, env.env, &vecenv_config, &v));
  FINE(rlcore_batch_size(env.env, &vecenv_config, &batch_config, &batch_size));
  FINE(rlcore_batch_init(batch_mem, batch_size, env.env, &vecenv_config, &batch_config, &b));
  keep(VECENV_NEW, VECENV, mem, size);
  FINE(rlcore_vecenv_reset(v, env.env, NULL, obs));
  keep(BATCH_IDLE, BATCH, batch_mem, batch_size);
  keep(VECENV_RUNNING, VECENV, mem, size);
  FINE(rlcore_vecenv_row_size(env.env, &whole_row_size));
  FINE(rlcore_vecenv_row_read(v, env.env, 0, obs, whole_row, sizeof whole_row));
  FINE(rlcore_batch_step_async(b, v, env.env, CHOSEN(action)));
  keep(BATCH_PENDING, BATCH, batch_mem, batch_size);
  FINE(rlcore_batch_run(b, v, env.env, 0, UINT32_MAX, &groups));
  keep(BATCH_DONE, BATCH, batch_mem, batch_size);
  (void)out;
}

static void make_records(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE];
  rlcore_monitor *m;
  rlcore_vec_normalize *v;
  size_t size;
  float obs[N * OBS] = {1, 2, 3, 4, 5, 6, 7, 8}, reward[N] = {1, -1};
  uint8_t terminated[N] = {0, 1}, truncated[N] = {1, 0};
  const double info[N] = {1, 2};
  const rlcore_rows step = {.struct_size = sizeof step, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated, .final_obs = obs};
  FINE(rlcore_monitor_config_init(&monitor_config, sizeof monitor_config));
  monitor_config.num_envs = N, monitor_config.keep = 4, monitor_config.capacity = 4, monitor_config.num_info = 1;
  MAKE(monitor, monitor_config, m);
  FINE(rlcore_monitor_step(m, &step, 1, info));
  keep(MONITOR_USED, MONITOR, mem, size);
  FINE(rlcore_vec_normalize_config_init(&vec_normalize_config, sizeof vec_normalize_config));
  vec_normalize_config.num_envs = N, vec_normalize_config.obs_len = OBS;
  MAKE(vec_normalize, vec_normalize_config, v);
  FINE(rlcore_vec_normalize_reset(v, obs, obs));
  keep(NORMALIZER_USED, NORMALIZER, mem, size);
}

/* Sizes of the calls' learner: its parameters, the gradients of a chunk, and the moments that normalize, in numbers; its scratch
   in bytes; and its policy as a file of ONNX. */
enum { PARAMS = 29, POLICY_PARAMS = 16, GRADS = PARAMS + 8, NUM_MOMENTS = 4 + 2 * OBS, LEARNER_SCRATCH = 4096, ONNX_SIZE = 939 };

/* Bytes of that policy as a file of C whose names begin with "abc". */
static size_t c_source_size;

/* A tensor of that learner. */
#define A_TENSOR {.name = "policy.head.bias", .rank = 1, .dims = {2, 1, 1, 1}}

/* The only layer of the calls' network, which reads two numbers of each of two rows; lengths of its arrays, and a tensor. */
enum { NETWORK_PARAMS = 9, NETWORK_TAPE = 6, NETWORK_OUT = 6 };
static const rlcore_layer ONE_LAYER = {.kind = RLCORE_LAYER_DENSE, .units = 3, .activation = RLCORE_ACTIVATION_TANH};
#define A_NETWORK_TENSOR {.name = "layers.0.bias", .rank = 1, .dims = {3, 1, 1, 1}}

static void make_learners(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE], policy_mem[BLOCK_SIZE];
  rlcore_learner *p;
  rlcore_policy *policy;
  size_t size;
  const float obs[N * OBS] = {1, 2, 3, 4, 5, 6, 7, 8}, reward[N] = {1, -1};
  const uint8_t mask[N * 2] = {1, 1, 1, 1}, no[N] = {0};
  int32_t action[N];
  FINE(rlcore_learner_config_init(&learner_config, sizeof learner_config, RLCORE_ALGORITHM_PPO));
  learner_config.num_envs = N, learner_config.num_steps = 1, learner_config.num_minibatches = 1, learner_config.num_epochs = 1;
  learner_config.num_hidden = 1, learner_config.hidden_len[0] = 2, learner_config.hidden_len[1] = 0;
  learner_config.use_action_mask = learner_config.normalize_obs = learner_config.normalize_reward = 1;
  FINE(rlcore_learner_size(&learner_config, &SEEN, &DONE, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &learner_config, &SEEN, &DONE, &p));
  keep(LEARNER_ACTS, LEARNER, mem, size);
  FINE(rlcore_learner_act(p, ACTED(NULL, obs, mask, action)));
  keep(LEARNER_OBSERVES, LEARNER, mem, size);
  FINE(rlcore_learner_observe(p, STEPPED(NULL, reward, no, no, NULL, NULL)));
  keep(LEARNER_LEARNS, LEARNER, mem, size);
  static _Alignas(64) unsigned char scratch[LEARNER_SCRATCH];
  float grads[GRADS];
  size_t params_len, grads_len, scratch_size;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  FINE(rlcore_learner_params_len(p, &params_len));
  FINE(rlcore_learner_grads_len(p, &grads_len));
  FINE(rlcore_learner_scratch_size(p, &scratch_size));
  ALWAYS(params_len == PARAMS && grads_len == GRADS && scratch_size <= LEARNER_SCRATCH);
  FINE(rlcore_learner_learn_begin(p, OBSERVED(obs, NULL), &stats));
  keep(LEARNER_UPDATES, LEARNER, mem, size);
  FINE(rlcore_learner_learn_range(p, 0, 1, scratch, sizeof scratch, grads, GRADS));
  FINE(rlcore_learner_grads_write(p, 0, 1, grads, GRADS));
  keep(LEARNER_GRADED, LEARNER, mem, size);
  FINE(rlcore_policy_size(p, &size));
  FINE(rlcore_policy_export(p, policy_mem, size, &policy));
  keep(POLICY_MADE, POLICY, policy_mem, size);
  FINE(rlcore_policy_onnx_size(policy, NULL, &size));
  ALWAYS(size == ONNX_SIZE);
  FINE(rlcore_policy_c_size(policy, "abc", &c_source_size));
}

/* A learner with unbounded continuous actions, which have standard deviations, and its policy. */
static void make_learners_of_vectors(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE], policy_mem[BLOCK_SIZE];
  rlcore_learner *p;
  rlcore_policy *policy;
  rlcore_learner_config c = learner_config;
  size_t size;
  const rlcore_space taken = {.kind = RLCORE_F32, .len = 2};
  const float obs[N * OBS] = {1, 2, 3, 4, 5, 6, 7, 8}, reward[N] = {1, -1};
  const uint8_t no[N] = {0};
  float action[N * 2];
  c.use_action_mask = c.num_hidden = c.hidden_len[0] = c.normalize_obs = c.normalize_reward = 0, c.num_epochs = 2;
  FINE(rlcore_learner_size(&c, &SEEN, &taken, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &SEEN, &taken, &p));
  keep(LEARNER_OF_VECTORS_ACTS, LEARNER, mem, size);
  FINE(rlcore_learner_act(p, ACTED(NULL, obs, NULL, action)));
  FINE(rlcore_learner_observe(p, STEPPED(NULL, reward, no, no, NULL, NULL)));
  keep(LEARNER_OF_VECTORS_LEARNS, LEARNER, mem, size);
  FINE(rlcore_policy_size(p, &size));
  FINE(rlcore_policy_export(p, policy_mem, size, &policy));
  keep(POLICY_OF_VECTORS, POLICY, policy_mem, size);
}

/* A learner that stores transitions. */
static void make_learner_off_policy(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE];
  rlcore_learner *p;
  rlcore_learner_config c;
  size_t size;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_DQN));
  c.num_envs = N, c.num_hidden = 1, c.hidden_len[0] = 2, c.hidden_len[1] = 0, c.use_action_mask = 1;
  c.buffer_size = 4, c.batch_size = c.learning_starts = 2, c.n_step = 2;
  FINE(rlcore_learner_size(&c, &SEEN, &DONE, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &SEEN, &DONE, &p));
  keep(LEARNER_STORES, LEARNER, mem, size);
}

/* Learners with observations that are choices or structures, and with structured actions. */
static void make_learners_of_parts(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE], policy_mem[BLOCK_SIZE];
  static const rlcore_field seen[2] = {{.name = "what", .kind = RLCORE_I32, .rank = 1, .dims = {2}},
                                       {.name = "where", .kind = RLCORE_F32, .rank = 1, .dims = {3}, .offset = 8}};
  static const rlcore_field taken[2] = {{.name = "which", .kind = RLCORE_I32}, {.name = "how", .kind = RLCORE_F32, .offset = 4}};
  static const uint32_t three[2] = {3, 2};
  const rlcore_space choices = {.kind = RLCORE_I32, .len = 2, .n = three}, parts = {.kind = RLCORE_STRUCT, .len = 20, .n = three},
                     both = {.kind = RLCORE_STRUCT, .len = 8, .n = three};
  rlcore_learner *p;
  rlcore_policy *policy;
  rlcore_learner_config c = learner_config;
  size_t size;
  c.use_action_mask = c.normalize_obs = c.normalize_reward = 0;
  FINE(rlcore_learner_size(&c, &choices, &DONE, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &choices, &DONE, &p));
  keep(LEARNER_OF_CHOICES, LEARNER, mem, size);
  c.obs_fields = seen, c.num_obs_fields = 2, c.action_fields = taken, c.num_action_fields = 2;
  FINE(rlcore_learner_size(&c, &parts, &both, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &parts, &both, &p));
  keep(LEARNER_OF_PARTS, LEARNER, mem, size);
  FINE(rlcore_policy_size(p, &size));
  FINE(rlcore_policy_export(p, policy_mem, size, &policy));
  keep(POLICY_OF_PARTS, POLICY, policy_mem, size);
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_DQN));
  c.num_envs = N, c.num_hidden = 1, c.hidden_len[0] = 2, c.hidden_len[1] = 0;
  c.buffer_size = 4, c.batch_size = c.learning_starts = 2, c.obs_fields = seen, c.num_obs_fields = 2;
  FINE(rlcore_learner_size(&c, &parts, &DONE, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &parts, &DONE, &p));
  keep(STORE_OF_PARTS, LEARNER, mem, size);
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_SAC));
  c.num_envs = N, c.num_hidden = 1, c.hidden_len[0] = 2, c.hidden_len[1] = 0, c.use_action_mask = 1;
  c.buffer_size = 4, c.batch_size = c.learning_starts = 2, c.action_fields = taken, c.num_action_fields = 2;
  FINE(rlcore_learner_size(&c, &SEEN, &both, &size));
  ALWAYS(size <= BLOCK_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &SEEN, &both, &p));
  const float obs[N * OBS] = {1, 2, 3, 4, 5, 6, 7, 8}, reward[N] = {1, -1};
  const uint8_t mask[N * 3] = {1, 1, 1, 1, 0, 1}, yes[N] = {1, 1}, no[N] = {0};
  _Alignas(4) uint8_t action[N * 8];
  FINE(rlcore_learner_act(p, ACTED(NULL, obs, mask, action)));
  FINE(rlcore_learner_observe(p, STEPPED(NULL, reward, yes, no, NULL, NULL)));
  keep(STORE_OF_BOTH, LEARNER, mem, size);
}

static void make_memories(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE];
  rlcore_lazy_frames *l;
  rlcore_memory *m;
  rlcore_replay *r;
  size_t size;
  uint8_t picture[4] = {1, 2, 3, 4};
  float obs[2] = {1, 2};
  int32_t action = 1;
  FINE(rlcore_lazy_frames_config_init(&lazy_frames_config, sizeof lazy_frames_config));
  lazy_frames_config.num_envs = N, lazy_frames_config.num_frames = 6, lazy_frames_config.height = lazy_frames_config.width = lazy_frames_config.num_stack = 2;
  MAKE(lazy_frames, lazy_frames_config, l);
  keep(LAZY_EMPTY, LAZY, mem, size);
  for (uint32_t i = 0; i < 10; i++) FINE(rlcore_lazy_frames_push(l, i % N, picture, i < N, NULL));
  keep(LAZY_USED, LAZY, mem, size);
  FINE(rlcore_memory_config_init(&memory_config, sizeof memory_config));
  memory_config.history_size = 8, memory_config.max_sample_size = 3;
  memory_config.num_columns = 2, memory_config.columns = STACKED;
  MAKE(memory, memory_config, m);
  for (uint32_t i = 0; i < 11; i++) {
    const rlcore_frame frame = {.episode = 1, .step = i, .reward = (float)(i % 2)};
    FINE(rlcore_memory_add(m, &frame, (const void *[]){picture, &action}, NULL, NULL));
  }
  keep(MEMORY_USED, MEMORY, mem, size);
  FINE(rlcore_replay_config_init(&replay_config, sizeof replay_config));
  replay_config.num_envs = N, replay_config.num_rows = 8, replay_config.num_columns = 2, replay_config.columns = PLAIN;
  MAKE(replay, replay_config, r);
  for (uint32_t i = 0; i < 10; i++) {
    const void *values[2] = {obs, &action};
    FINE(rlcore_replay_add(r, REPLAY_STEP(i % N, 1, i == 5, 0), values, i == 5 ? values : NULL, NULL));
  }
  keep(REPLAY_USED, REPLAY, mem, size);
}

static void make_rollouts(void) {
  static _Alignas(64) unsigned char mem[BLOCK_SIZE];
  rlcore_rollout_buffer *b;
  rlcore_trajectory *t;
  rlcore_queue *q;
  size_t size;
  const float obs[N * 2] = {1, 2, 3, 4}, reward[N] = {1, 2}, memory[N] = {0};
  const int32_t action[N] = {0, 1};
  const uint8_t no[N] = {0}, ended[N] = {0, 1};
  const void *columns[2] = {obs, action};
  FINE(rlcore_rollout_buffer_config_init(&rollout_buffer_config, sizeof rollout_buffer_config));
  rollout_buffer_config.num_steps = T, rollout_buffer_config.num_envs = N, rollout_buffer_config.memory_len = M, rollout_buffer_config.log_capacity = 2 * N;
  rollout_buffer_config.num_columns = 2, rollout_buffer_config.columns = PLAIN;
  MAKE(rollout_buffer, rollout_buffer_config, b);
  for (int i = 0; i < T; i++) {
    const rlcore_rollout_step step = {sizeof step, 0, columns, reward, reward, reward, i == 1 ? ended : no, no, NULL, memory, NULL};
    FINE(rlcore_rollout_buffer_add(b, &step));
    if (i == 1) keep(ROLLOUT_OPEN, ROLLOUT, mem, size);
  }
  FINE(rlcore_rollout_buffer_finish(b, reward, obs, 0.5f, 0.5f));
  keep(ROLLOUT_FINISHED, ROLLOUT, mem, size);
  FINE(rlcore_trajectory_config_init(&trajectory_config, sizeof trajectory_config));
  trajectory_config.capacity = 4, trajectory_config.memory_len = M, trajectory_config.num_columns = 2;
  trajectory_config.one_hot = 1, trajectory_config.columns = PLAIN;
  MAKE(trajectory, trajectory_config, t);
  keep(TRAJECTORY_EMPTY, TRAJECTORY, mem, size);
  const rlcore_trajectory_frames frames = {sizeof frames, N, columns, reward, reward, no, no, memory};
  FINE(rlcore_trajectory_add(t, &frames));
  keep(TRAJECTORY_USED, TRAJECTORY, mem, size);
  FINE(rlcore_queue_config_init(&queue_config, sizeof queue_config));
  queue_config.capacity = 2, queue_config.item_size = 16;
  MAKE(queue, queue_config, q);
  keep(QUEUE_EMPTY, QUEUE, mem, size);
  FINE(rlcore_queue_push(q, obs, 12));
  keep(QUEUE_USED, QUEUE, mem, size);
}

/* Makes all samples. */
static void make_samples(void) {
  make_environments();
  make_records();
  make_learners();
  make_learners_of_vectors();
  make_learner_off_policy();
  make_learners_of_parts();
  make_memories();
  make_rollouts();
}

#endif
