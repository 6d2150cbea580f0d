/* A block of every kind, saved in the middle of its work, and its results after it is attached again, on this or another
   processor. */
#include "stages.h"

enum { N = 4, WIDE = 3, STEPS = 40 };

/* Arrays of a block of environments or of their records. */
static float obs[N * 4], final_obs[N * 4], reward[N], push[N];
static uint8_t terminated[N], truncated[N];
static const rlcore_rows OUT = {
    .struct_size = sizeof OUT, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
    .final_obs = final_obs,
};

/* Random data in the form of environment steps. */
static rlcore_status invent(rlcore_rng *rng, uint32_t t) {
  TRY(draw(rng, -1.0, 1.0, obs, LEN(obs)));
  TRY(draw(rng, -1.0, 1.0, final_obs, LEN(final_obs)));
  TRY(draw(rng, -1.0, 1.0, reward, N));
  for (uint32_t i = 0; i < N; i++) terminated[i] = (t + 3 * i) % 7 == 6, truncated[i] = (t + i) % 11 == 4;
  return RLCORE_OK;
}

/* Clears the results of earlier blocks. */
static void clear(void) {
  for (size_t i = 0; i < LEN(obs); i++) obs[i] = final_obs[i] = 0.0f;
  for (size_t i = 0; i < N; i++) reward[i] = push[i] = 0.0f, terminated[i] = truncated[i] = 0;
}

static void mix_out(hashes *h) {
  MIX(h, obs);
  MIX(h, reward);
  MIX(h, terminated);
  MIX(h, truncated);
}

/* ---- Environments: a wrapped pendulum ---- */
static const rlcore_wrapper WRAPPERS[] = {
    {.kind = RLCORE_WRAP_STICKY_ACTIONS, .probability = 0.25f}, {.kind = RLCORE_WRAP_TIME_LIMIT, .steps = 37}};

static rlcore_status pendulum(rlcore_env **env, rlcore_vecenv_config *config) {
  compiled_env made;
  rlcore_env_def def = *BUILTIN(RLCORE_ENV_PENDULUM);
  def.wrappers = WRAPPERS;
  def.num_wrappers = LEN(WRAPPERS);
  TRY(compile_env(&def, &made));
  *env = made.env;
  TRY(rlcore_vecenv_config_init(config, sizeof *config));
  config->num_envs = N;
  config->seed = 8;
  return RLCORE_OK;
}

static rlcore_status swing(hashes *h, rlcore_vecenv *v, const rlcore_env *env) {
  rlcore_rng rng;
  TRY(rlcore_rng_seed(&rng, 30));
  for (int t = 0; t < STEPS; t++) {
    TRY(draw(&rng, -2.0, 2.0, push, N));
    TRY(rlcore_vecenv_step(v, env, TAKING(push, &OUT)));
    if (h != NULL) mix_out(h);
  }
  return RLCORE_OK;
}

static rlcore_status vecenv_save(void *mem, size_t room, size_t *size) {
  rlcore_vecenv_config config;
  rlcore_env *env;
  rlcore_vecenv *v;
  TRY(pendulum(&env, &config));
  TRY(rlcore_vecenv_size(env, &config, size));
  TRY(rlcore_vecenv_init(mem, room, env, &config, &v));
  TRY(rlcore_vecenv_reset(v, env, NULL, obs));
  return swing(NULL, v, env);
}

static rlcore_status vecenv_go_on(hashes *h, void *mem, size_t size) {
  rlcore_vecenv_config config;
  rlcore_env *env;
  rlcore_vecenv *v;
  TRY(pendulum(&env, &config));
  TRY(rlcore_vecenv_attach(mem, size, env, &v));
  return swing(h, v, env);
}

/* ---- A batch with a step that no worker has run yet; its environments restart in the same state ---- */
static rlcore_status batch_world(rlcore_env **env, rlcore_vecenv_config *config, rlcore_vecenv **v) {
  static uint64_t world[512];
  TRY(pendulum(env, config));
  TRY(rlcore_vecenv_init(world, sizeof world, *env, config, v));
  return rlcore_vecenv_reset(*v, *env, NULL, obs);
}

static rlcore_status batch_save(void *mem, size_t room, size_t *size) {
  const rlcore_batch_config halves = {sizeof halves, N / 2};
  rlcore_vecenv_config config;
  rlcore_env *env;
  rlcore_vecenv *v;
  rlcore_batch *b;
  TRY(batch_world(&env, &config, &v));
  TRY(rlcore_batch_size(env, &config, &halves, size));
  TRY(rlcore_batch_init(mem, room, env, &config, &halves, &b));
  for (int i = 0; i < N; i++) push[i] = (float)(i - 2);
  return rlcore_batch_step_async(b, v, env, CHOSEN(push));
}

static rlcore_status batch_go_on(hashes *h, void *mem, size_t size) {
  rlcore_vecenv_config config;
  rlcore_env *env;
  rlcore_vecenv *v;
  rlcore_batch *b;
  uint32_t num;
  TRY(rlcore_batch_attach(mem, size, &b));
  TRY(batch_world(&env, &config, &v));
  for (int i = 0; i < N; i++) push[i] = (float)(1 - i);
  for (int t = 0; t < STEPS; t++) {
    TRY(rlcore_batch_run(b, v, env, 0, UINT32_MAX, &num));
    TRY(rlcore_batch_step_wait(b, &OUT));
    MIX_ONE(h, num);
    mix_out(h);
    TRY(rlcore_batch_step_async(b, v, env, CHOSEN(push)));
  }
  return RLCORE_OK;
}

/* ---- A learner by PPO during an update, and its policy ---- */
static rlcore_status learner_lives(hashes *h, rlcore_learner *p, uint64_t seed, int num_updates) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  uint32_t phase;
  TRY(rlcore_rng_seed(&rng, seed));
  for (uint32_t t = 0;; t++) {
    TRY(rlcore_learner_phase(p, &phase));
    if (phase == RLCORE_LEARNER_LEARN) {
      TRY(rlcore_learner_learn(p, OBSERVED(obs, NULL), 3, &stats));
      if (h == NULL) return RLCORE_OK;  /* saved here, with minibatches left */
      MIX_ONE(h, stats.policy_loss);
      MIX_ONE(h, stats.value_loss);
      MIX_ONE(h, stats.grad_norm);
      if (stats.minibatches_left == 0 && --num_updates == 0) return RLCORE_OK;
      continue;
    }
    TRY(invent(&rng, t));
    TRY(rlcore_learner_act(p, ACTED(NULL, obs, NULL, push)));
    if (h != NULL) MIX(h, push);
    TRY(rlcore_learner_observe(p, STEPPED(NULL, reward, terminated, truncated, final_obs, NULL)));
  }
}

static rlcore_status learner_init(void *mem, size_t room, size_t *size, rlcore_learner **p) {
  static const float low[] = {-2.0f}, high[] = {2.0f};
  const rlcore_space seen = {.kind = RLCORE_F32, .len = 4}, done = {.kind = RLCORE_F32, .len = 1, .low = low, .high = high};
  rlcore_learner_config config;
  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.num_steps = 16;
  config.hidden_len[0] = config.hidden_len[1] = 9;
  config.normalize_obs = config.normalize_reward = config.squash = 1;
  TRY(rlcore_learner_size(&config, &seen, &done, size));
  TRY(rlcore_learner_init(mem, room, &config, &seen, &done, p));
  return learner_lives(NULL, *p, 31, 0);
}

static rlcore_status learner_save(void *mem, size_t room, size_t *size) {
  rlcore_learner *p;
  TRY(learner_init(mem, room, size, &p));
  return rlcore_block_seal(mem, *size);
}

static rlcore_status learner_go_on(hashes *h, void *mem, size_t size) {
  rlcore_learner *p;
  TRY(rlcore_learner_attach(mem, size, 0, NULL, NULL, &p));
  return learner_lives(h, p, 32, 2);
}

static rlcore_status policy_save(void *mem, size_t room, size_t *size) {
  static uint64_t learner[1 << 13];
  rlcore_policy *policy;
  rlcore_learner *p;
  TRY(learner_init(learner, sizeof learner, size, &p));
  TRY(rlcore_policy_size(p, size));
  return rlcore_policy_export(p, mem, room, &policy);
}

static rlcore_status policy_go_on(hashes *h, void *mem, size_t size) {
  static float scratch[4096];
  const rlcore_policy *policy;
  rlcore_rng rng;
  TRY(rlcore_policy_attach(mem, size, NULL, NULL, &policy));
  TRY(rlcore_rng_seed(&rng, 33));
  for (uint32_t t = 0; t < STEPS; t++) {
    TRY(invent(&rng, t));
    TRY(rlcore_policy_act(policy, N, ACTED(NULL, obs, NULL, push), BUFFERS(NULL, NULL, scratch, LEN(scratch)), NULL, &rng));
    MIX(h, push);
  }
  return RLCORE_OK;
}

/* ---- A learner of every algorithm, with rollouts, stores, tasks and traces that are in use ---- */

/* Choices among three, or a number. */
enum { CHOOSES = 1, RECURRENT = 2 };

/* A few updates from invented rewards. A life of 0 updates ends after the first minibatch of one. */
static rlcore_status algorithm_lives(hashes *h, rlcore_learner *p, uint32_t kept, uint64_t seed, int num_updates) {
  static int32_t choice[N];
  void *const action = kept & CHOOSES ? (void *)choice : push;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  uint32_t phase;
  TRY(rlcore_rng_seed(&rng, seed));
  for (uint32_t t = 0;; t++) {
    TRY(rlcore_learner_phase(p, &phase));
    if (phase == RLCORE_LEARNER_LEARN) {
      TRY(rlcore_learner_learn(p, OBSERVED(obs, NULL), 1, &stats));
      if (h == NULL && num_updates == 0) return RLCORE_OK;
      if (h != NULL) MIX_ONE(h, stats.value_loss);
      if (h != NULL) MIX_ONE(h, stats.grad_norm);
      if (stats.minibatches_left == 0 && num_updates-- == 1) return RLCORE_OK;
      continue;
    }
    TRY(invent(&rng, t));
    TRY(rlcore_learner_act(p, ACTED(NULL, obs, NULL, action)));
    if (h != NULL && kept & CHOOSES) MIX(h, choice);
    if (h != NULL && !(kept & CHOOSES)) MIX(h, push);
    TRY(rlcore_learner_observe(p, STEPPED(NULL, reward, terminated, truncated, final_obs, NULL)));
  }
}

static rlcore_status algorithm_save(uint32_t algorithm, uint32_t kept, void *mem, size_t room, size_t *size) {
  static const float low[] = {-2.0f}, high[] = {2.0f};
  static const uint32_t choices[] = {3};
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_DENSE, .units = 6}, {.kind = RLCORE_LAYER_GRU, .units = 4}};
  const rlcore_space seen = {.kind = RLCORE_F32, .len = 4};
  const rlcore_space done = kept & CHOOSES ? (rlcore_space){.kind = RLCORE_I32, .len = 1, .n = choices}
                                           : (rlcore_space){.kind = RLCORE_F32, .len = 1, .low = low, .high = high};
  const int stores = algorithm >= RLCORE_ALGORITHM_DQN && algorithm <= RLCORE_ALGORITHM_SAC;
  const int streams = algorithm == RLCORE_ALGORITHM_STREAM_AC || algorithm == RLCORE_ALGORITHM_STREAM_Q;
  rlcore_learner_config config;
  rlcore_learner *p;
  TRY(rlcore_learner_config_init(&config, sizeof config, algorithm));
  config.num_envs = streams ? 1 : N;
  config.num_hidden = 1;
  config.hidden_len[0] = 6;
  config.hidden_len[1] = 0;
  config.normalize_obs = 1;
  if (kept & RECURRENT) config.layers = layers, config.num_layers = LEN(layers), config.sequence_len = 4;
  if (stores) config.buffer_size = 64, config.batch_size = 8, config.learning_starts = 32, config.exploration_steps = 16;
  if (stores) config.n_step = 2, config.priority_exponent = 0.5f;
  if (!stores && !streams) config.num_steps = 8;
  if (algorithm == RLCORE_ALGORITHM_UNREAL) config.history_len = 20, config.num_replayed = 2, config.pixel_control_coef = 0;
  TRY(rlcore_learner_size(&config, &seen, &done, size));
  TRY(rlcore_learner_init(mem, room, &config, &seen, &done, &p));
  TRY(algorithm_lives(NULL, p, kept, 44, 3));
  TRY(algorithm_lives(NULL, p, kept, 45, 0));
  return rlcore_block_seal(mem, *size);
}

static rlcore_status algorithm_go_on(hashes *h, uint32_t kept, void *mem, size_t size) {
  rlcore_learner *p;
  TRY(rlcore_learner_attach(mem, size, 0, NULL, NULL, &p));
  return algorithm_lives(h, p, kept, 46, 4);
}

/* The two functions of one algorithm. */
#define LEARNER(name, algorithm, kept)                                               \
  static rlcore_status name##_save(void *mem, size_t room, size_t *size) {           \
    return algorithm_save(RLCORE_ALGORITHM_##algorithm, kept, mem, room, size);      \
  }                                                                                  \
  static rlcore_status name##_go_on(hashes *h, void *mem, size_t size) {             \
    return algorithm_go_on(h, kept, mem, size);                                      \
  }
LEARNER(a2c, A2C, 0)
LEARNER(impala, IMPALA, CHOOSES | RECURRENT)
LEARNER(unreal, UNREAL, CHOOSES | RECURRENT)
LEARNER(dqn, DQN, CHOOSES | RECURRENT)
LEARNER(td3, TD3, 0)
LEARNER(sac, SAC, 0)
LEARNER(pqn, PQN, CHOOSES)
LEARNER(stream_ac, STREAM_AC, 0)
LEARNER(stream_q, STREAM_Q, CHOOSES)

/* ---- Frames ---- */
static rlcore_status push_frames(rlcore_lazy_frames *l, uint32_t begin, uint32_t end) {
  uint8_t frame[6];
  for (uint32_t i = begin; i < end; i++) {
    for (uint32_t j = 0; j < sizeof frame; j++) frame[j] = (uint8_t)(i * 29 + j);
    for (uint32_t env = 0; env < 2; env++) TRY(rlcore_lazy_frames_push(l, env, frame, (i + env) % 5 == 0 || i == 0, NULL));
  }
  return RLCORE_OK;
}

static rlcore_status lazy_frames_save(void *mem, size_t room, size_t *size) {
  const rlcore_lazy_frames_config config = {sizeof config, 2, 10, 3, 2, 1, 3};
  rlcore_lazy_frames *l;
  TRY(rlcore_lazy_frames_size(&config, size));
  TRY(rlcore_lazy_frames_init(mem, room, &config, &l));
  return push_frames(l, 0, 23);
}

static rlcore_status lazy_frames_go_on(hashes *h, void *mem, size_t size) {
  float stack[18];
  uint64_t begin, end;
  rlcore_lazy_frames *l;
  TRY(rlcore_lazy_frames_attach(mem, size, &l));
  for (uint32_t i = 23; i < 33; i++) {
    TRY(rlcore_lazy_frames_held(l, 1, &begin, &end));
    TRY(rlcore_lazy_frames_stack(l, 1, end - 1 - i % 5, RLCORE_LAYOUT_CHW, RLCORE_F32, stack));
    mix_u64(h, begin);
    MIX(h, stack);
    TRY(push_frames(l, i, i + 1));
  }
  return RLCORE_OK;
}

/* ---- Records ---- */
static rlcore_status monitor_save(void *mem, size_t room, size_t *size) {
  rlcore_monitor_config config;
  rlcore_monitor *m;
  rlcore_rng rng;
  TRY(rlcore_monitor_config_init(&config, sizeof config));
  config.num_envs = N;
  config.keep = 5;
  config.capacity = 16;
  TRY(rlcore_monitor_size(&config, size));
  TRY(rlcore_monitor_init(mem, room, &config, &m));
  TRY(rlcore_rng_seed(&rng, 34));
  for (uint32_t t = 0; t < STEPS; t++) {
    TRY(invent(&rng, t));
    TRY(rlcore_monitor_step(m, &OUT, t, NULL));
  }
  return RLCORE_OK;
}

static rlcore_status monitor_go_on(hashes *h, void *mem, size_t size) {
  rlcore_monitor_stats means = {.struct_size = sizeof means};
  rlcore_episode rows[16];
  rlcore_monitor *m;
  rlcore_rng rng;
  uint64_t next = 0, lost;
  uint32_t count;
  TRY(rlcore_monitor_attach(mem, size, &m));
  TRY(rlcore_rng_seed(&rng, 35));
  for (uint32_t t = STEPS; t < 2 * STEPS; t++) {
    TRY(invent(&rng, t));
    TRY(rlcore_monitor_step(m, &OUT, t, NULL));
    TRY(rlcore_monitor_means(m, &means));
    MIX_ONE(h, means.return_mean);
    MIX_ONE(h, means.len_mean);
    TRY(rlcore_monitor_read(m, &next, rows, NULL, LEN(rows), &count, &lost));
    for (uint32_t i = 0; i < count; i++) {
      mix_u64(h, rows[i].number);
      MIX_ONE(h, rows[i].seconds);
      MIX_ONE(h, rows[i].len);
      MIX_ONE(h, rows[i].episode_return);
    }
  }
  return RLCORE_OK;
}

static rlcore_status vec_normalize_save(void *mem, size_t room, size_t *size) {
  rlcore_vec_normalize_config config;
  rlcore_vec_normalize *n;
  rlcore_rng rng;
  TRY(rlcore_vec_normalize_config_init(&config, sizeof config));
  config.num_envs = N;
  config.obs_len = 4;
  TRY(rlcore_vec_normalize_size(&config, size));
  TRY(rlcore_vec_normalize_init(mem, room, &config, &n));
  TRY(rlcore_rng_seed(&rng, 36));
  TRY(invent(&rng, 0));
  TRY(rlcore_vec_normalize_reset(n, obs, obs));
  for (uint32_t t = 0; t < STEPS; t++) {
    TRY(invent(&rng, t));
    TRY(rlcore_vec_normalize_step(n, &OUT, NULL));
  }
  return RLCORE_OK;
}

static rlcore_status vec_normalize_go_on(hashes *h, void *mem, size_t size) {
  rlcore_vec_normalize *n;
  rlcore_rng rng;
  TRY(rlcore_vec_normalize_attach(mem, size, &n));
  TRY(rlcore_rng_seed(&rng, 37));
  for (uint32_t t = STEPS; t < 2 * STEPS; t++) {
    TRY(invent(&rng, t));
    TRY(rlcore_vec_normalize_step(n, &OUT, NULL));
    mix_out(h);
  }
  return RLCORE_OK;
}

/* ---- Memories, with the random stream stored in them ---- */
static const rlcore_column COLUMNS[] = {
    {.name = "obs", .kind = RLCORE_F32, .len = WIDE}, {.name = "action", .kind = RLCORE_I32, .len = 1}};

static rlcore_status remember(rlcore_memory *m, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    const float seen[WIDE] = {(float)i, (float)(i % 7), (float)(i % 3)};
    const int32_t action = (int32_t)i % 5;
    const rlcore_frame frame = {
        .episode = i / 9, .step = i % 9, .reward = i % 5 ? 0.0f : 1.0f, .terminated = i % 9 == 8};
    TRY(rlcore_memory_add(m, &frame, (const void *[]){seen, &action}, NULL, NULL));
  }
  return RLCORE_OK;
}

static rlcore_status memory_save(void *mem, size_t room, size_t *size) {
  rlcore_memory_config config;
  rlcore_memory *m;
  rlcore_rng rng;
  TRY(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = 50;
  config.max_sample_size = 6;
  config.columns = COLUMNS;
  config.num_columns = LEN(COLUMNS);
  TRY(rlcore_memory_size(&config, size));
  TRY(rlcore_memory_init(mem, room, &config, &m));
  TRY(remember(m, 0, 131));
  TRY(rlcore_rng_seed(&rng, 38));
  return rlcore_memory_store_rng(m, &rng);
}

static rlcore_status memory_go_on(hashes *h, void *mem, size_t size) {
  enum { B = 8, L = 6 };
  static float seen[B * L * WIDE], rewards[B * L];
  rlcore_sample samples[B];
  rlcore_memory *m;
  rlcore_rng rng;
  TRY(rlcore_memory_attach(mem, size, &m));
  TRY(rlcore_memory_load_rng(m, &rng));
  for (uint32_t i = 131; i < 161; i++) {
    TRY(rlcore_memory_sample_priority(m, &rng, NULL, samples, B));
    TRY(rlcore_memory_gather(m, SEQUENCES(samples, B, L), 0, RLCORE_LAYOUT_HWC, RLCORE_F32, seen));
    TRY(rlcore_memory_gather_frames(m, SEQUENCES(samples, B, L), rewards, NULL, NULL, NULL));
    mix_samples(h, samples, B);
    MIX(h, seen);
    MIX(h, rewards);
    TRY(remember(m, i, i + 1));
  }
  return RLCORE_OK;
}

static rlcore_status add_rows(rlcore_replay *r, rlcore_rng *rng, uint32_t t) {
  const int32_t action[N] = {(int32_t)t, 1, 2, 3};
  TRY(invent(rng, t));
  return rlcore_replay_add_all(r, (const void *[]){obs, action}, reward, terminated, truncated, (const void *[]){final_obs, NULL});
}

static rlcore_status replay_save(void *mem, size_t room, size_t *size) {
  rlcore_replay_config config;
  rlcore_replay *r;
  rlcore_rng rng;
  TRY(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = N;
  config.num_rows = 20;
  config.columns = COLUMNS;
  config.num_columns = LEN(COLUMNS);
  config.num_steps = 2;
  TRY(rlcore_replay_size(&config, size));
  TRY(rlcore_replay_init(mem, room, &config, &r));
  TRY(rlcore_rng_seed(&rng, 39));
  for (uint32_t t = 0; t < STEPS; t++) TRY(add_rows(r, &rng, t));
  return rlcore_replay_store_rng(r, &rng);
}

static rlcore_status replay_go_on(hashes *h, void *mem, size_t size) {
  enum { B = 8 };
  static float weight[B], probability[B], seen[B * WIDE];
  rlcore_frame_index index[B];
  rlcore_replay *r;
  rlcore_rng rng;
  TRY(rlcore_replay_attach(mem, size, &r));
  TRY(rlcore_replay_load_rng(r, &rng));
  for (uint32_t t = STEPS; t < 2 * STEPS; t++) {
    TRY(rlcore_replay_sample(r, &rng, REPLAY_DRAW(0.5f, RLCORE_REPLAY_NORMALIZE_MEMORY, 0), B, index, weight, probability));
    TRY(rlcore_replay_gather_next(r, index, B, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, seen));
    TRY(rlcore_replay_update(r, index, probability, B, NULL));
    mix_index(h, index, B);
    MIX(h, weight);
    MIX(h, probability);
    MIX(h, seen);
    TRY(add_rows(r, &rng, t));
  }
  return RLCORE_OK;
}

/* ---- Rollouts and trajectories, half full ---- */
static rlcore_status add_step(rlcore_rollout_buffer *b, rlcore_rng *rng, uint32_t t) {
  static float value[N], log_prob[N];
  const int32_t action[N] = {(int32_t)t, 1, 2, 3};
  const void *const columns[] = {obs, action};
  const rlcore_rollout_step step = {
      .struct_size = sizeof step, .columns = columns, .reward = reward, .value = value, .log_prob = log_prob,
      .terminated = terminated, .truncated = truncated, .final_value = final_obs,
  };
  TRY(invent(rng, t));
  for (int i = 0; i < N; i++) value[i] = obs[i], log_prob[i] = obs[i + N];
  return rlcore_rollout_buffer_add(b, &step);
}

static rlcore_status rollout_buffer_save(void *mem, size_t room, size_t *size) {
  rlcore_rollout_buffer_config config;
  rlcore_rollout_buffer *b;
  rlcore_rng rng;
  TRY(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = STEPS;
  config.num_envs = N;
  config.log_capacity = 32;
  config.columns = COLUMNS;
  config.num_columns = LEN(COLUMNS);
  TRY(rlcore_rollout_buffer_size(&config, size));
  TRY(rlcore_rollout_buffer_init(mem, room, &config, &b));
  TRY(rlcore_rng_seed(&rng, 40));
  for (uint32_t t = 0; t < STEPS / 2; t++) TRY(add_step(b, &rng, t));
  return RLCORE_OK;
}

static rlcore_status rollout_buffer_go_on(hashes *h, void *mem, size_t size) {
  enum { B = STEPS * N };
  static uint32_t index[B];
  static float advantage[B], seen[B * WIDE];
  void *const columns[] = {seen, NULL};
  const rlcore_minibatch batch = {.struct_size = sizeof batch, .columns = columns, .advantage = advantage};
  rlcore_metric_row rows[32];
  rlcore_rollout_buffer *b;
  rlcore_rng rng;
  uint64_t next = 0, lost;
  uint32_t count;
  TRY(rlcore_rollout_buffer_attach(mem, size, &b));
  TRY(rlcore_rng_seed(&rng, 41));
  for (uint32_t t = STEPS / 2; t < STEPS; t++) TRY(add_step(b, &rng, t));
  TRY(rlcore_rollout_buffer_finish(b, reward, obs, 0.99f, 0.95f));
  TRY(rlcore_rollout_buffer_draw(b, B, 1, index, B));
  TRY(rlcore_rollout_buffer_gather(b, index, B, 1, &batch));
  TRY(rlcore_rollout_buffer_read_log(b, &next, rows, LEN(rows), &count, &lost));
  MIX(h, index);
  MIX(h, advantage);
  MIX(h, seen);
  for (uint32_t i = 0; i < count; i++) {
    mix_u64(h, rows[i].global_step);
    MIX_ONE(h, rows[i].value);
  }
  return RLCORE_OK;
}

static rlcore_status add_frame(rlcore_trajectory *t, rlcore_rng *rng, uint32_t i) {
  const int32_t action = (int32_t)i;
  const uint8_t goes_on = 0;
  const void *const columns[] = {obs, &action};
  const rlcore_trajectory_frames frame = {
      .struct_size = sizeof frame, .num_frames = 1, .columns = columns, .reward = reward, .value = final_obs,
      .terminated = &goes_on, .truncated = &goes_on,
  };
  TRY(invent(rng, i));
  return rlcore_trajectory_add(t, &frame);
}

static rlcore_status trajectory_save(void *mem, size_t room, size_t *size) {
  rlcore_trajectory_config config;
  rlcore_trajectory *t;
  rlcore_rng rng;
  TRY(rlcore_trajectory_config_init(&config, sizeof config));
  config.columns = COLUMNS;
  config.num_columns = LEN(COLUMNS);
  TRY(rlcore_trajectory_size(&config, size));
  TRY(rlcore_trajectory_init(mem, room, &config, &t));
  TRY(rlcore_rng_seed(&rng, 42));
  for (uint32_t i = 0; i < 11; i++) TRY(add_frame(t, &rng, i));
  return RLCORE_OK;
}

static rlcore_status trajectory_go_on(hashes *h, void *mem, size_t size) {
  enum { ROWS = 20 };
  float returns[ROWS], advantage[ROWS], seen[ROWS * WIDE];
  void *const columns[] = {seen, NULL};
  const rlcore_trajectory_rows rows = {
      .struct_size = sizeof rows, .num_rows = ROWS, .columns = columns, .returns = returns, .advantage = advantage};
  rlcore_trajectory *t;
  rlcore_rng rng;
  TRY(rlcore_trajectory_attach(mem, size, &t));
  TRY(rlcore_rng_seed(&rng, 43));
  for (uint32_t i = 11; i < ROWS; i++) TRY(add_frame(t, &rng, i));
  TRY(rlcore_trajectory_process(t, 0.99f, 0.95f, 0.5f, &rows));
  MIX(h, returns);
  MIX(h, advantage);
  MIX(h, seen);
  return RLCORE_OK;
}

/* ---- A queue with items in it ---- */
static rlcore_status queue_save(void *mem, size_t room, size_t *size) {
  const rlcore_queue_config config = {sizeof config, 4, 48, 0};
  uint8_t item[48], popped[48];
  rlcore_queue *q;
  size_t taken;
  TRY(rlcore_queue_size(&config, size));
  TRY(rlcore_queue_init(mem, room, &config, &q));
  for (uint8_t i = 0; i < 6; i++) {
    for (uint8_t j = 0; j < sizeof item; j++) item[j] = (uint8_t)(i * 50 + j);
    if (i > 3) TRY(rlcore_queue_pop(q, popped, sizeof popped, &taken));
    TRY(rlcore_queue_push(q, item, 40u + i));
  }
  return RLCORE_OK;
}

static rlcore_status queue_go_on(hashes *h, void *mem, size_t size) {
  uint8_t item[48];
  uint32_t waiting;
  rlcore_queue *q;
  size_t taken;
  TRY(rlcore_queue_attach(mem, size, &q));
  for (int i = 0; i < 9; i++) {
    TRY(rlcore_queue_pop(q, item, sizeof item, &taken));
    MIX_SOME(h, item, taken);
    TRY(rlcore_queue_push(q, item, taken - 2));
    TRY(rlcore_queue_len(q, &waiting));
    MIX_ONE(h, waiting);
  }
  return RLCORE_OK;
}

/* New kinds come last: blocks that are kept have the order of the kinds of their time. */
static const struct {
  const char *name;
  rlcore_status (*save)(void *mem, size_t room, size_t *size);
  rlcore_status (*go_on)(hashes *h, void *mem, size_t size);
} KINDS[] = {
    {"vecenv", vecenv_save, vecenv_go_on},
    {"batch", batch_save, batch_go_on},
    {"learner", learner_save, learner_go_on},
    {"policy", policy_save, policy_go_on},
    {"lazy_frames", lazy_frames_save, lazy_frames_go_on},
    {"monitor", monitor_save, monitor_go_on},
    {"vec_normalize", vec_normalize_save, vec_normalize_go_on},
    {"memory", memory_save, memory_go_on},
    {"replay", replay_save, replay_go_on},
    {"rollout_buffer", rollout_buffer_save, rollout_buffer_go_on},
    {"trajectory", trajectory_save, trajectory_go_on},
    {"queue", queue_save, queue_go_on},
    {"a2c", a2c_save, a2c_go_on},
    {"impala", impala_save, impala_go_on},
    {"unreal", unreal_save, unreal_go_on},
    {"dqn", dqn_save, dqn_go_on},
    {"td3", td3_save, td3_go_on},
    {"sac", sac_save, sac_go_on},
    {"pqn", pqn_save, pqn_go_on},
    {"stream_ac", stream_ac_save, stream_ac_go_on},
    {"stream_q", stream_q_save, stream_q_go_on},
};

/* Bytes of a block's size before each block, the lowest byte first. */
enum { HEAD = 8 };

size_t bits_save(uint8_t *out, bits_print print) {
  size_t at = 0;
  for (size_t i = 0; i < LEN(KINDS); i++) {
    size_t size = 0;
    clear();
    const rlcore_status status = KINDS[i].save(out + at + HEAD, BITS_IMAGES_SIZE - at - HEAD, &size);
    if (status != RLCORE_OK) {
      print_line(print, status, 0, "saved ", KINDS[i].name);
      return 0;
    }
    for (int byte = 0; byte < HEAD; byte++) out[at + (size_t)byte] = (uint8_t)((uint64_t)size >> 8 * byte);
    at += HEAD + (size + 7) / 8 * 8;
  }
  return at;
}

/* Whether the block was refused because of its byte order, as the last error says. */
static int in_so_many_words(rlcore_status status) {
  static const char words[] = "written on a machine of the other";
  char text[256] = {0};
  if (status != RLCORE_E_IMAGE || rlcore_last_error(text, sizeof text) != RLCORE_OK) return 0;
  for (const char *p = text; *p; p++) {
    size_t i = 0;
    while (words[i] != 0 && p[i] == words[i]) i++;
    if (words[i] == 0) return 1;
  }
  return 0;
}

int bits_go_on(uint8_t *images, size_t size, bits_print print) {
  int failed = 0;
  size_t at = 0;
  for (size_t i = 0; i < LEN(KINDS) && (i == 0 || at < size); i++) {
    hashes h = {HASH_START, HASH_START, 0};
    uint64_t len = 0;
    rlcore_status status = RLCORE_E_SIZE;
    clear();
    for (size_t byte = HEAD; at + HEAD <= size && byte-- > 0;) len = len << 8 | images[at + byte];
    at += HEAD;
    if (at <= size && len <= size - at) status = KINDS[i].go_on(&h, images + at, (size_t)len);
    if (in_so_many_words(status)) print("refused, of the other byte order  "), print(KINDS[i].name), print("\n");
    else print_line(print, status, h.values, "saved ", KINDS[i].name);
    failed += status != RLCORE_OK;
    at += (size_t)(len + 7) / 8 * 8;
  }
  return failed;
}
