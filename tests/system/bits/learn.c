/* Training: a few updates in slices; results are the bytes of the learner and its policy. */
#include "stages.h"

enum { N = 4, MAX_LEN = 4, MAX_CHOICES = 8, MAX_STATE = 64 };

/* The learner of the current stage. */
static uint64_t learner[1 << 16];

/* Actions are integers or floats, both of four bytes. */
static rlcore_status train(hashes *h, uint32_t env_id, rlcore_learner_config *config, int num_updates) {
  static uint64_t world[1024], game[1 << 12];
  static float obs[N * MAX_LEN], final_obs[N * MAX_LEN], reward[N], scratch[1 << 12], state[N * MAX_STATE];
  static uint8_t terminated[N], truncated[N], ends[N], mask[N * MAX_CHOICES];
  static int32_t action[N];
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  compiled_env env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner *agent;
  rlcore_space shown, taken;
  rlcore_policy *policy;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  size_t size, scratch_len, state_len;
  uint32_t phase;

  for (int i = 0; i < N * MAX_STATE; i++) state[i] = 0;
  TRY(compile_env(BUILTIN(env_id), &env));
  CHECK(env.obs.len <= MAX_LEN && env.action.len == 1);
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = config->num_envs = N;
  many.seed = 3;
  TRY(rlcore_vecenv_init(world, sizeof world, env.env, &many, &envs));
  TRY(rlcore_vecenv_reset(envs, env.env, NULL, obs));
  TRY(rlcore_learner_init(learner, sizeof learner, config, &env.obs, &env.action, &agent));
  TRY(rlcore_vecenv_num_envs(envs, &phase));
  CHECK(phase == N);
  TRY(rlcore_learner_spaces(agent, &phase, &shown, &taken));
  CHECK(phase == N && shown.len == env.obs.len && taken.kind == env.action.kind && taken.len == env.action.len);
  TRY(rlcore_learner_state_len(agent, &state_len));
  TRY(rlcore_learner_seen_len(agent, &size));
  CHECK(state_len <= MAX_STATE && size == env.obs.len);
  const int stores = config->algorithm == RLCORE_ALGORITHM_DQN || config->algorithm == RLCORE_ALGORITHM_TD3 ||
                     config->algorithm == RLCORE_ALGORITHM_SAC;
  for (uint32_t t = 0; num_updates > 0; t++) {
    if (t % 5 == 2) { /* the same three calls */
      TRY(rlcore_collect(agent, envs, env.env, TAKING(action, &out), 1, NULL));
    } else {
      if (stores && t % 5 == 4)
        TRY(rlcore_learner_demonstrate(agent, ACTED(NULL, obs, NULL, action))); /* repeats the last action */
      else
        TRY(rlcore_learner_act(agent, ACTED(NULL, obs, NULL, action)));
      TRY(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
      TRY(rlcore_learner_observe(agent, STEPPED(NULL, reward, terminated, truncated, final_obs, NULL)));
    }
    TRY(rlcore_learner_phase(agent, &phase));
    if (phase != RLCORE_LEARNER_LEARN) continue;
    do TRY(rlcore_learner_learn(agent, OBSERVED(obs, NULL), 3, &stats));
    while (stats.minibatches_left > 0);
    num_updates--;
    const float numbers[] = {
        stats.learning_rate, stats.policy_loss, stats.value_loss, stats.entropy, stats.approx_kl, stats.clip_fraction,
        stats.explained_variance, stats.grad_norm, stats.value_mean,
    };
    MIX(h, numbers);
    TRY(rlcore_learner_predict(agent, ACTED(NULL, obs, NULL, action), state, NULL, num_updates % 2 ? &greedy : NULL));
    MIX(h, action);
    TRY(rlcore_learner_freeze(agent, num_updates % 3 == 1));
    TRY(rlcore_learner_stats_read(agent, &stats));
  }
  mix_u64(h, stats.num_episodes);
  TRY(rlcore_learner_size(config, &env.obs, &env.action, &size));
  mix_block(h, learner, size);

  TRY(rlcore_policy_size(agent, &size));
  TRY(rlcore_policy_export(agent, game, sizeof game, &policy));
  mix_block(h, game, size);
  TRY(rlcore_policy_scratch_len(policy, N, &scratch_len));
  TRY(rlcore_policy_spaces(policy, &shown, &taken));
  CHECK(shown.len == env.obs.len && taken.kind == env.action.kind && taken.len == env.action.len);
  TRY(rlcore_policy_state_len(policy, &size));
  /* A policy has only the layers that it reads: the last layers may belong to the values alone. */
  CHECK(scratch_len <= LEN(scratch) && (config->policy_layer > 0 ? size < state_len : size == state_len));
  TRY(rlcore_rng_seed(&rng, 10));
  const uint8_t *allowed = env.action.kind == RLCORE_I32 ? mask : NULL;
  const uint32_t choices = allowed ? env.action.n[0] : 0;
  CHECK(choices <= MAX_CHOICES);
  for (uint32_t t = 0; t < 50; t++) {
    for (uint32_t i = 0; i < N; i++)
      for (uint32_t k = 0; k < choices; k++) mask[choices * i + k] = k == 0 || (t + i) % 9 != 0;
    for (uint32_t i = 0; i < N; i++) ends[i] = terminated[i] || truncated[i];
    TRY(rlcore_policy_act(policy, N, ACTED(NULL, obs, allowed, action), BUFFERS(state, ends, scratch, LEN(scratch)), t % 5 ? NULL : &greedy, &rng));
    MIX(h, action);
    TRY(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
    MIX_SOME(h, obs, N * env.obs.len);
  }
  TRY(rlcore_policy_act_greedy(policy, N, ACTED(NULL, obs, allowed, action), BUFFERS(state, NULL, scratch, LEN(scratch))));
  MIX(h, action);
  MIX_SOME(h, state, N * size);
  return RLCORE_OK;
}

static rlcore_status learner_discrete(hashes *h) {
  rlcore_learner_config config;
  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_steps = 64;
  config.hidden_len[0] = config.hidden_len[1] = 24;
  config.total_steps = 10000;
  config.learning_rate = 2e-3f;
  return train(h, RLCORE_ENV_CARTPOLE, &config, 5);
}

static rlcore_status learner_continuous(hashes *h) {
  rlcore_learner_config config;
  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_steps = 70;
  config.num_hidden = 1;
  config.hidden_len[0] = 21;
  config.hidden_len[1] = 0;
  config.activation = RLCORE_ACTIVATION_RELU;
  config.normalize_obs = config.normalize_reward = config.squash = 1;
  config.value_clip = 0.2f;
  config.target_kl = 0.05f;
  return train(h, RLCORE_ENV_PENDULUM, &config, 5);
}

/* Rows that come and go during updates whose chunks are computed separately, and a rollout that another learner takes over. */
static rlcore_status rows(hashes *h, uint32_t overlap, const rlcore_layer *layer) {
  enum { ROWS = 5, LEN_OF_OBS = 3, CHUNKS = 3, BATCH = ROWS * 8, NUMBERS = 1 << 11 };
  static uint64_t block[1 << 13], other[1 << 13], scratch[1 << 13];
  static float states[BATCH * MAX_STATE], grads[NUMBERS], params[NUMBERS], batch_obs[BATCH * LEN_OF_OBS], columns[4][BATCH];
  const uint32_t n[] = {2, 3};
  const rlcore_space seen = {.kind = RLCORE_F32, .len = LEN_OF_OBS}, taken = {.kind = RLCORE_I32, .len = 2, .n = n};
  rlcore_learner_config config;
  rlcore_learner *agent, *central;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  double draws[ROWS * 8], moments[4 + 2 * LEN_OF_OBS], merged[4 + 2 * LEN_OF_OBS] = {1, 0, 1, 1, 0, 0, 0, 1, 1, 1};
  float obs[ROWS * LEN_OF_OBS] = {0}, reward[ROWS] = {0}, value[ROWS], log_prob[ROWS], entropy[ROWS];
  uint8_t begins[BATCH], finite[BATCH], active[ROWS], acted[ROWS], flags[ROWS] = {0}, ends[ROWS] = {0};
  int32_t action[ROWS * 2] = {0}, batch_action[BATCH * 2];
  uint32_t owners[BATCH];
  size_t size, grads_len, params_len, scratch_size, batch_len, mask_len, begin_len, env_len, state_len;
  uint32_t phase, num_bad;

  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = ROWS, config.num_steps = 8, config.num_minibatches = 2, config.num_chunks = CHUNKS;
  config.hidden_len[0] = config.hidden_len[1] = 12;
  config.normalize_obs = config.normalize_reward = 1;
  config.overlap = overlap;
  config.layers = layer;
  if (layer) config.num_layers = 1, config.sequence_len = 4;
  TRY(rlcore_learner_size(&config, &seen, &taken, &size));
  CHECK(size <= sizeof block);
  TRY(rlcore_learner_init(block, sizeof block, &config, &seen, &taken, &agent));
  TRY(rlcore_learner_init(other, sizeof other, &config, &seen, &taken, &central));
  TRY(rlcore_learner_grads_len(agent, &grads_len));
  TRY(rlcore_learner_params_len(agent, &params_len));
  TRY(rlcore_learner_scratch_size(agent, &scratch_size));
  TRY(rlcore_learner_state_len(agent, &state_len));
  TRY(rlcore_learner_moments_len(agent, &batch_len));
  CHECK(batch_len == LEN(moments));
  CHECK(CHUNKS * grads_len <= NUMBERS && scratch_size <= sizeof scratch && state_len <= MAX_STATE);
  TRY(rlcore_rng_seed(&rng, 21));
  for (uint32_t t = 0; t < 200; t++) {
    TRY(rlcore_rng_uniform(&rng, 0, 1, draws, LEN(draws)));
    for (uint32_t i = 0; i < ROWS; i++) {
      for (uint32_t k = 0; k < LEN_OF_OBS; k++) obs[i * LEN_OF_OBS + k] = (float)draws[i * 8 + k] - 0.5f;
      active[i] = draws[i * 8 + 3] < 0.6;
    }
    TRY(rlcore_learner_acted(agent, acted));
    for (uint32_t i = 0; i < ROWS; i++) {
      flags[i] = acted[i] && active[i];
      reward[i] = (float)action[2 * i] - (float)draws[i * 8 + 4];
      ends[i] = draws[i * 8 + 5] < 0.1;
    }
    TRY(rlcore_learner_phase(agent, &phase));
    if (phase != RLCORE_LEARNER_LEARN) {
      TRY(rlcore_learner_observe(agent, STEPPED(flags, reward, ends, acted, obs, NULL)));
      for (uint32_t i = 0; i < ROWS; i++) flags[i] = draws[i * 8 + 6] < 0.05;
      TRY(rlcore_learner_phase(agent, &phase));
    }
    if (phase != RLCORE_LEARNER_LEARN) {
      TRY(rlcore_learner_cut(agent, flags));
      TRY(rlcore_learner_acted(agent, acted));
      for (uint32_t i = 0; i < ROWS; i++) active[i] = active[i] && !acted[i];
      TRY(rlcore_learner_act_range(agent, 0, 2, ACTED(active, obs, NULL, action)));
      TRY(rlcore_learner_act_range(agent, 2, ROWS, ACTED(active, obs, NULL, action)));
      MIX(h, action);
    } else if (stats.minibatches_left == 0) {
      TRY(rlcore_learner_learn_begin(agent, OBSERVED(obs, NULL), &stats));
      TRY(rlcore_learner_batch_len(agent, &batch_len, &mask_len, &begin_len, &env_len));
      CHECK(batch_len == LEN(columns[0]) && mask_len == 0 && begin_len == env_len && begin_len == (state_len > 0 ? BATCH : 0));
      TRY(rlcore_learner_batch_read(agent, BATCH(.obs = batch_obs, .action = batch_action, .log_prob = columns[0], .value = columns[1], .advantage = columns[2], .value_target = columns[3], .state = states, .begin = begins, .env = owners, .moments = moments)));
      MIX(h, batch_obs);
      MIX_SOME(h, states, BATCH * state_len);
      MIX_SOME(h, begins, state_len > 0 ? BATCH : 0);
      MIX_SOME(h, owners, state_len > 0 ? BATCH : 0);
      for (int k = 0; k < 4; k++) MIX(h, columns[k]);
      TRY(rlcore_learner_moments_merge(NULL, moments, LEN(moments), merged));
      MIX(h, merged);
      TRY(rlcore_finite_rows(RLCORE_F32, batch_obs, BATCH, LEN(batch_obs) / BATCH, finite, &num_bad));
      mix_u64(h, num_bad);
      TRY(rlcore_learner_params_read(agent, params, params_len));
      TRY(rlcore_learner_params_write(central, params, params_len, moments, LEN(moments)));
      TRY(rlcore_learner_moments_read(central, merged, LEN(merged)));
      TRY(rlcore_learner_moments_write(central, merged, LEN(merged)));
      TRY(rlcore_learner_learn_batch(central, BATCH(.obs = GIVEN(batch_obs), .action = GIVEN(batch_action), .log_prob = GIVEN(columns[0]), .value = GIVEN(columns[1]), .advantage = GIVEN(columns[2]), .value_target = GIVEN(columns[3]), .state = GIVEN(states), .begin = GIVEN(begins), .env = GIVEN(owners), .moments = GIVEN(moments)), &stats));
      TRY(rlcore_learner_learn(central, NULL, 1, &stats));
      TRY(rlcore_learner_grads_read(central, 0, 1, grads, grads_len));
      MIX_SOME(h, grads, grads_len);
      TRY(rlcore_learner_learn_drop(central));
      TRY(rlcore_learner_count_steps(central, BATCH));
    }
    if (stats.minibatches_left > 0) {
      for (uint32_t k = CHUNKS; k-- > 0;) {
        TRY(rlcore_learner_learn_range(agent, k, k + 1, scratch, sizeof scratch, grads, grads_len));
        if (k % 2) TRY(rlcore_learner_grads_add(agent, k, k + 1, grads, grads_len));
        else TRY(rlcore_learner_grads_write(agent, k, k + 1, grads, grads_len));
      }
      TRY(rlcore_learner_learn_apply(agent, &stats));
    }
  }
  CHECK(stats.num_updates > 2);
  TRY(rlcore_learner_value(agent, OBSERVED(obs, NULL), value));
  TRY(rlcore_learner_log_prob(agent, ACTED(NULL, obs, NULL, action), log_prob, entropy));
  TRY(rlcore_learner_params_read(agent, params, params_len));
  MIX(h, value);
  MIX(h, log_prob);
  MIX(h, entropy);
  MIX_SOME(h, params, params_len);
  mix_u64(h, stats.num_episodes);
  mix_block(h, block, size);
  return RLCORE_OK;
}

static rlcore_status learner_rows(hashes *h) {
  TRY(rows(h, 0, NULL));
  return rows(h, 1, NULL);
}

/* A configuration of this algorithm with exactly these layers. */
static rlcore_status listed(rlcore_learner_config *config, uint32_t algorithm, const rlcore_layer *layers, size_t num_layers) {
  TRY(rlcore_learner_config_init(config, sizeof *config, algorithm));
  config->num_hidden = 0, config->hidden_len[0] = config->hidden_len[1] = 0;
  config->layers = layers, config->num_layers = (uint32_t)num_layers;
  return RLCORE_OK;
}

/* Recurrent layers side by side, with agents that come and go. */
static rlcore_status learner_recurrent(hashes *h) {
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_LSTM, .units = 9, .flags = RLCORE_LAYER_FORGET_ONE},
      {.kind = RLCORE_LAYER_GRU, .units = 5},
      {.kind = RLCORE_LAYER_MINGRU, .units = 8},
  };
  rlcore_learner_config config;
  TRY(listed(&config, RLCORE_ALGORITHM_PPO, layers, LEN(layers)));
  config.num_steps = 32, config.sequence_len = 16, config.num_chunks = 2;
  config.learning_rate = 2e-3f;
  TRY(train(h, RLCORE_ENV_CARTPOLE, &config, 4));
  TRY(train(h, RLCORE_ENV_PENDULUM, &config, 4));
  TRY(rows(h, 0, &layers[1]));
  return rows(h, 1, &layers[2]);
}

/* Two stacked LSTMs with normalization: the policy reads the first, the values read the second. */
static rlcore_status learner_stacked(hashes *h) {
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_LSTM, .units = 9, .flags = RLCORE_LAYER_NORMALIZED, .initializer = RLCORE_INIT_GLOROT},
      {.kind = RLCORE_LAYER_LSTM, .units = 6, .flags = RLCORE_LAYER_NORMALIZED | RLCORE_LAYER_FORGET_ONE},
  };
  rlcore_learner_config config;
  TRY(listed(&config, RLCORE_ALGORITHM_A2C, layers, LEN(layers)));
  config.num_steps = 20, config.sequence_len = 10, config.num_chunks = 2;
  config.policy_layer = 1;
  TRY(train(h, RLCORE_ENV_CARTPOLE, &config, 4));
  return train(h, RLCORE_ENV_PENDULUM, &config, 4);
}

/* A transformer over numbers, with agents that come and go, and picture layers over four numbers as 2 by 2 pixels. */
static rlcore_status learner_attention(hashes *h) {
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_DENSE, .units = 12, .activation = RLCORE_ACTIVATION_GELU, .flags = RLCORE_LAYER_NO_BIAS,
       .initializer = RLCORE_INIT_UNIFORM},
      {.kind = RLCORE_LAYER_ATTENTION, .units = 12, .heads = 3, .window = 5},
      {.kind = RLCORE_LAYER_ADD, .source = {0, 1}, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_DENSE, .units = 20, .activation = RLCORE_ACTIVATION_SILU,
       .initializer = RLCORE_INIT_UNIT_ROWS},
      {.kind = RLCORE_LAYER_DENSE, .units = 20, .source = {3}, .activation = RLCORE_ACTIVATION_IDENTITY,
       .initializer = RLCORE_INIT_NORMAL, .gain = 0.1f},
      {.kind = RLCORE_LAYER_MULTIPLY, .source = {0, 4}, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_JOIN, .source = {0, 3}},
  };
  rlcore_learner_config config;
  TRY(listed(&config, RLCORE_ALGORITHM_PPO, layers, LEN(layers)));
  config.num_steps = 16, config.sequence_len = 8, config.num_chunks = 2;
  TRY(train(h, RLCORE_ENV_CARTPOLE, &config, 4));
  static const rlcore_layer alone = {.kind = RLCORE_LAYER_ATTENTION, .units = 4, .heads = 2, .window = 3};
  TRY(rows(h, 0, &alone));
  for (uint32_t net = RLCORE_NET_FC; net <= RLCORE_NET_TRANSFORMER_GRID; net++) {
    rlcore_layer known[16];
    TRY(rlcore_net_preset(net, known, LEN(known), &config.num_layers));
    for (uint32_t i = 0; i < config.num_layers; i++) mix_u64(h, known[i].kind << 16 | known[i].units);
  }

  static const rlcore_layer pictures[] = {
      {.kind = RLCORE_LAYER_EMBED, .units = 3, .symbols = 2},
      {.kind = RLCORE_LAYER_DECONV, .units = 3, .size = {2, 3}, .stride = {2, 1}, .activation = RLCORE_ACTIVATION_ELU},
      {.kind = RLCORE_LAYER_CONV, .units = 5, .size = {2, 2}, .stride = {1, 1}, .activation = RLCORE_ACTIVATION_RELU,
       .flags = RLCORE_LAYER_NO_BIAS},
      {.kind = RLCORE_LAYER_NORM, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_POOL, .size = {2, 2}, .stride = {1, 1}, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_DENSE, .units = 5, .source = {RLCORE_LAYER_INPUT}},
      {.kind = RLCORE_LAYER_MULTIPLY, .source = {5, 6}},
  };
  TRY(listed(&config, RLCORE_ALGORITHM_PPO, pictures, LEN(pictures)));
  config.num_steps = 32, config.use_action_mask = 0;
  config.obs_dims[0] = config.obs_dims[1] = 2, config.obs_dims[2] = 1;
  return train(h, RLCORE_ENV_REPEAT_PREVIOUS, &config, 4);
}

/* On-policy and off-policy algorithms: actor-critics, Q-networks, and exploration noise. */
static rlcore_status learner_algorithms(hashes *h) {
  static const uint32_t list[][2] = {
      {RLCORE_ALGORITHM_A2C, RLCORE_ENV_CARTPOLE}, {RLCORE_ALGORITHM_IMPALA, RLCORE_ENV_PENDULUM},
      {RLCORE_ALGORITHM_PQN, RLCORE_ENV_CARTPOLE}, {RLCORE_ALGORITHM_DQN, RLCORE_ENV_CARTPOLE},
      {RLCORE_ALGORITHM_TD3, RLCORE_ENV_PENDULUM}, {RLCORE_ALGORITHM_SAC, RLCORE_ENV_PENDULUM},
      {RLCORE_ALGORITHM_PPO, RLCORE_ENV_PENDULUM},
  };
  for (size_t i = 0; i < LEN(list); i++) {
    rlcore_learner_config config;
    TRY(rlcore_learner_config_init(&config, sizeof config, list[i][0]));
    config.num_chunks = 2;
    config.hidden_len[0] = config.hidden_len[1] = 20;
    if (list[i][0] >= RLCORE_ALGORITHM_DQN && list[i][0] <= RLCORE_ALGORITHM_SAC) {
      config.buffer_size = 100, config.batch_size = 18, config.learning_starts = 40;
      config.exploration_steps = 60, config.target_interval = 3, config.n_step = 3;
    } else {
      config.num_steps = 16, config.num_minibatches = 2;
      if (list[i][0] == RLCORE_ALGORITHM_PQN) config.exploration_steps = 60;
    }
    config.noisy = list[i][0] == RLCORE_ALGORITHM_PPO || list[i][0] == RLCORE_ALGORITHM_DQN;
    TRY(train(h, list[i][1], &config, 6));
  }
  return RLCORE_OK;
}

/* Recurrent layers over sequences of a store, whose observations and rewards are scaled when they are read. */
static rlcore_status learner_memory(hashes *h) {
  static const uint32_t list[][2] = {
      {RLCORE_ALGORITHM_DQN, RLCORE_ENV_CARTPOLE}, {RLCORE_ALGORITHM_SAC, RLCORE_ENV_PENDULUM},
  };
  static const rlcore_layer layers[] = {{.kind = RLCORE_LAYER_DENSE, .units = 8}, {.kind = RLCORE_LAYER_GRU, .units = 9}};
  for (size_t i = 0; i < LEN(list); i++) {
    rlcore_learner_config config;
    TRY(listed(&config, list[i][0], layers, LEN(layers)));
    config.num_chunks = 2, config.sequence_len = 3, config.burn_in = 2, config.n_step = 2;
    config.buffer_size = 100, config.batch_size = 18, config.learning_starts = 40, config.exploration_steps = 60;
    config.priority_exponent = 0.5f, config.normalize_obs = config.normalize_reward = 1;
    TRY(train(h, list[i][1], &config, 6));
  }
  return RLCORE_OK;
}

/* Pictures with the auxiliary tasks on earlier steps: pixel-control cells, reward classes and values, or the policy beside a
   recurrent layer. */
static rlcore_status learner_unreal(hashes *h) {
  enum { PIXELS = 10 * 5, UPDATES = 8 };
  static uint64_t world[1024];
  static uint8_t obs[N * PIXELS], final_obs[N * PIXELS], terminated[N], truncated[N];
  static float reward[N];
  static int32_t action[N];
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 3, .size = {3, 3}, .stride = {2, 2}, .activation = RLCORE_ACTIVATION_RELU},
      {.kind = RLCORE_LAYER_DENSE, .units = 7},
      {.kind = RLCORE_LAYER_LSTM, .units = 5},
  };
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  compiled_env env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner *agent;
  rlcore_learner_config config;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  size_t size;
  uint32_t phase;
  TRY(compile_env(BUILTIN(RLCORE_ENV_CATCH), &env));
  CHECK(env.obs.len == PIXELS);
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N, many.seed = 5;
  for (uint32_t policy = 0; policy < 2; policy++) {
    TRY(listed(&config, RLCORE_ALGORITHM_UNREAL, layers, 2 + policy));
    config.num_envs = N, config.num_steps = 6, config.num_chunks = 2, config.history_len = 30;
    config.obs_dims[0] = 10, config.obs_dims[1] = 5, config.obs_dims[2] = 1;
    config.sequence_len = policy ? 6 : 0;
    if (policy) config.value_replay_coef = 0, config.policy_replay_coef = 0.7f;
    TRY(rlcore_vecenv_init(world, sizeof world, env.env, &many, &envs));
    TRY(rlcore_vecenv_reset(envs, env.env, NULL, obs));
    TRY(rlcore_learner_size(&config, &env.obs, &env.action, &size));
    TRY(rlcore_learner_init(learner, sizeof learner, &config, &env.obs, &env.action, &agent));
    for (uint32_t num_updates = 0; num_updates < UPDATES;) {
      TRY(rlcore_learner_act(agent, ACTED(NULL, obs, NULL, action)));
      TRY(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
      TRY(rlcore_learner_observe(agent, STEPPED(NULL, reward, terminated, truncated, final_obs, NULL)));
      TRY(rlcore_learner_phase(agent, &phase));
      if (phase != RLCORE_LEARNER_LEARN) continue;
      TRY(rlcore_learner_learn(agent, OBSERVED(obs, NULL), 0, &stats));
      num_updates++;
      const float numbers[] = {
          stats.policy_loss, stats.value_loss, stats.entropy, stats.grad_norm, stats.pixel_control_loss,
          stats.reward_class_loss, stats.value_replay_loss, stats.policy_replay_loss,
      };
      MIX(h, numbers);
    }
    CHECK(stats.pixel_control_loss > 0 && stats.reward_class_loss > 0);
    CHECK(policy ? stats.policy_replay_loss != 0 : stats.value_replay_loss > 0);
    mix_block(h, learner, size);
  }
  return RLCORE_OK;
}

/* A learner without a store, which learns from transitions of its host, with and without weights and discounts in turn. */
static rlcore_status from_transitions(hashes *h, uint32_t algorithm, uint32_t env_id) {
  static uint64_t world[1024];
  static float obs[N * MAX_LEN], before[N * MAX_LEN], next[N * MAX_LEN], final_obs[N * MAX_LEN], reward[N], error[N];
  static uint8_t terminated[N], truncated[N];
  static int32_t action[N];
  static const float discount[N] = {0.5F, 0, 1, 0.9F}, weight[N] = {1, 0.25F, 0, 2};
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  compiled_env env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner *agent;
  rlcore_learner_config config;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  size_t size, len, mask_len, begin_len, env_len;
  TRY(compile_env(BUILTIN(env_id), &env));
  CHECK(env.obs.len <= MAX_LEN && env.action.len == 1);
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  TRY(rlcore_learner_config_init(&config, sizeof config, algorithm));
  many.num_envs = config.num_envs = N, many.seed = 4;
  config.buffer_size = 0, config.batch_size = N, config.num_chunks = 2, config.exploration_steps = 60, config.target_interval = 3;
  config.hidden_len[0] = config.hidden_len[1] = 20;
  TRY(rlcore_vecenv_init(world, sizeof world, env.env, &many, &envs));
  TRY(rlcore_vecenv_reset(envs, env.env, NULL, obs));
  TRY(rlcore_learner_size(&config, &env.obs, &env.action, &size));
  TRY(rlcore_learner_init(learner, sizeof learner, &config, &env.obs, &env.action, &agent));
  TRY(rlcore_learner_batch_len(agent, &len, &mask_len, &begin_len, &env_len));
  CHECK(len == N && mask_len == 0 && begin_len == 0 && env_len == 0);
  for (int t = 0; t < 60; t++) {
    for (size_t i = 0; i < LEN(obs); i++) before[i] = obs[i];
    TRY(rlcore_learner_act(agent, ACTED(NULL, obs, NULL, action)));
    TRY(rlcore_vecenv_step(envs, env.env, TAKING(action, &out)));
    TRY(rlcore_learner_observe(agent, STEPPED(NULL, reward, terminated, truncated, final_obs, NULL)));
    for (size_t i = 0; i < N * env.obs.len; i++) {
      const size_t row = i / env.obs.len;
      next[i] = terminated[row] || truncated[row] ? final_obs[i] : obs[i];
    }
    TRY(rlcore_learner_learn_transitions(agent, TRANSITIONS(.obs = before, .action = action, .reward = reward, .terminated = terminated, .discount = t % 2 ? discount : NULL, .next_obs = next, .importance = t % 3 ? weight : NULL, .error = error), &stats));
    MIX(h, error);
    const float numbers[] = {stats.policy_loss, stats.value_loss, stats.entropy, stats.grad_norm, stats.value_mean};
    MIX(h, numbers);
  }
  mix_block(h, learner, size);
  return RLCORE_OK;
}

static rlcore_status learner_transitions(hashes *h) {
  TRY(from_transitions(h, RLCORE_ALGORITHM_DQN, RLCORE_ENV_CARTPOLE));
  TRY(from_transitions(h, RLCORE_ALGORITHM_TD3, RLCORE_ENV_PENDULUM));
  return from_transitions(h, RLCORE_ALGORITHM_SAC, RLCORE_ENV_PENDULUM);
}

/* ---- The numbers of learners and policies by name, and their answers ---- */

static rlcore_status learner_tensors(hashes *h) {
  static uint64_t shipped[1 << 11];
  static float values[1 << 13], scratch[1 << 12];
  static rlcore_tensor tensors[32];
  static rlcore_layer layers[16];
  static const float obs[N * 4] = {0.1F, -0.2F, 0.3F, -0.4F, 1, 2, -1, -2, 0, 0, 0, 0, 3, -3, 0.5F, 0.25F};
  float prob[N * 2], value[N], entropy[N];
  double mean[4], variance[4];
  int32_t best[N] = {0, 1, 1, 0};
  rlcore_learner_config config, told;
  rlcore_learner *agent;
  rlcore_policy *policy;
  rlcore_policy_info info = {.struct_size = sizeof info};
  rlcore_distribution out = {.struct_size = sizeof out, .prob = prob, .value = value, .entropy = entropy, .best = best};
  uint32_t count;
  size_t params_len, len = 0, scratch_len;
  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_steps = 32, config.normalize_obs = 1;
  config.hidden_len[0] = config.hidden_len[1] = 20;
  TRY(train(h, RLCORE_ENV_CARTPOLE, &config, 2));
  TRY(rlcore_learner_attach(learner, sizeof learner, N, NULL, NULL, &agent));
  TRY(rlcore_learner_params_len(agent, &params_len));
  TRY(rlcore_learner_tensors(agent, tensors, LEN(tensors), &count));
  CHECK(count == 12 && params_len <= LEN(values));
  for (uint32_t of = RLCORE_TENSORS_PARAMS; of <= RLCORE_TENSORS_SECOND_MOMENTS; of++) {
    if (of == RLCORE_TENSORS_TARGETS) continue;
    TRY(rlcore_learner_tensors_read(agent, of, values, params_len));
    MIX_SOME(h, values, params_len);
    for (size_t i = 0; i < params_len; i++) values[i] *= 0.5F;
    TRY(rlcore_learner_tensors_write(agent, of, tensors, count, values, params_len));
  }
  TRY(rlcore_learner_set_trainable(agent, "*.0.*", 0, &count));
  MIX_ONE(h, count);
  TRY(rlcore_learner_tensors(agent, tensors, LEN(tensors), &count));
  for (uint32_t i = 0; i < count; i++) MIX_ONE(h, tensors[i].frozen);
  TRY(rlcore_learner_imitate(agent, N, ACTED(NULL, obs, NULL, best), NULL, NULL));
  TRY(rlcore_learner_tensors_read(agent, RLCORE_TENSORS_PARAMS, values, params_len));
  MIX_SOME(h, values, params_len);
  TRY(rlcore_learner_set_trainable(agent, "*", 1, NULL));
  TRY(rlcore_learner_layers(agent, 0, layers, LEN(layers), &count));
  for (uint32_t i = 0; i < count; i++) MIX_ONE(h, layers[i].units);
  TRY(rlcore_learner_config_read(agent, &told, sizeof told, NULL));
  MIX_ONE(h, told.num_steps);
  TRY(rlcore_learner_distribution(agent, N, OBSERVED(obs, NULL), NULL, NULL, &out));
  MIX(h, prob);
  MIX(h, value);
  MIX(h, entropy);
  TRY(rlcore_policy_export(agent, shipped, sizeof shipped, &policy));
  TRY(rlcore_policy_tensors(policy, tensors, LEN(tensors), &count));
  for (uint32_t i = 0; i < count; i++) len += (size_t)tensors[i].dims[0] * tensors[i].dims[1];
  TRY(rlcore_policy_tensors_read(policy, values, len));
  MIX_SOME(h, values, len);
  TRY(rlcore_policy_layers(policy, layers, LEN(layers), &count));
  MIX_ONE(h, count);
  TRY(rlcore_policy_info_read(policy, &info));
  MIX_ONE(h, info.obs_clip);
  TRY(rlcore_policy_moments_read(policy, mean, variance, 4));
  MIX(h, mean);
  MIX(h, variance);
  uint8_t *const file = (uint8_t *)values; /* of ONNX, then of C */
  TRY(rlcore_policy_onnx_size(policy, NULL, &len));
  CHECK(len <= sizeof values);
  TRY(rlcore_policy_onnx_write(policy, NULL, file, len));
  MIX_SOME(h, file, len);
  TRY(rlcore_policy_c_size(policy, NULL, &len));
  CHECK(len <= sizeof values);
  TRY(rlcore_policy_c_write(policy, NULL, file, len));
  MIX_SOME(h, file, len);
  TRY(rlcore_policy_scratch_len(policy, N, &scratch_len));
  CHECK(scratch_len <= LEN(scratch));
  out.value = NULL;
  TRY(rlcore_policy_distribution(policy, N, OBSERVED(obs, NULL), BUFFERS(NULL, NULL, scratch, scratch_len), &out));
  MIX(h, prob);
  MIX(h, best);
  return RLCORE_OK;
}

/* ---- Another configuration, and what others have learned ---- */

static rlcore_status learner_carry(hashes *h) {
  static uint64_t alone[1 << 13], shipped[1 << 11];
  static float values[1 << 12];
  rlcore_learner_config config;
  rlcore_learner *agent, *other;
  rlcore_policy *policy;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  const uint32_t n[] = {2};
  const rlcore_space obs = {.kind = RLCORE_F32, .len = 4}, action = {.kind = RLCORE_I32, .len = 1, .n = n};
  size_t len, size;
  TRY(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_steps = 32, config.normalize_obs = 1;
  config.hidden_len[0] = config.hidden_len[1] = 8;
  TRY(train(h, RLCORE_ENV_CARTPOLE, &config, 2));
  TRY(rlcore_learner_attach(learner, sizeof learner, N, NULL, NULL, &agent));
  TRY(rlcore_learner_config_read(agent, &config, sizeof config, NULL));
  config.learning_rate /= 2, config.clip = 0.1F, config.optimizer = RLCORE_OPTIMIZER_ADAM_TENSORFLOW;
  TRY(rlcore_learner_configure(agent, &config));
  TRY(rlcore_learner_config_read(agent, &config, sizeof config, NULL));
  MIX_ONE(h, config.learning_rate);
  config.num_envs = 1, config.num_minibatches = 1;
  TRY(rlcore_learner_size(&config, &obs, &action, &size));
  CHECK(size <= sizeof alone);
  TRY(rlcore_learner_init(alone, sizeof alone, &config, &obs, &action, &other));
  TRY(rlcore_learner_adopt(other, agent, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS | RLCORE_ADOPT_OPTIMIZER | RLCORE_ADOPT_COUNTERS));
  TRY(rlcore_learner_params_len(other, &len));
  CHECK(len <= LEN(values));
  TRY(rlcore_learner_params_read(other, values, len));
  MIX_SOME(h, values, len);
  TRY(rlcore_learner_stats_read(other, &stats));
  MIX_ONE(h, stats.num_episodes);
  MIX_ONE(h, stats.return_mean);
  TRY(rlcore_policy_export(agent, shipped, sizeof shipped, &policy));
  TRY(rlcore_learner_adopt_policy(other, policy, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS, 100));
  TRY(rlcore_learner_params_read(other, values, len));
  MIX_SOME(h, values, len);
  return RLCORE_OK;
}

/* ---- Imitation: actions and probabilities of the host's own ---- */

static rlcore_status imitated(hashes *h, uint32_t algorithm, uint32_t env) {
  enum { ROWS = 24 };
  static float obs[ROWS * 4], weight[ROWS], prob[ROWS * 2], params[1 << 11];
  static int32_t choice[ROWS];
  static float number[ROWS];
  const int chooses = env == RLCORE_ENV_CARTPOLE, learns_q = algorithm == RLCORE_ALGORITHM_DQN || algorithm == RLCORE_ALGORITHM_PQN;
  rlcore_learner_config config;
  rlcore_learner *agent;
  size_t params_len;
  float loss;
  TRY(rlcore_learner_config_init(&config, sizeof config, algorithm));
  config.hidden_len[0] = config.hidden_len[1] = 20;
  config.normalize_obs = 1;
  if (algorithm >= RLCORE_ALGORITHM_DQN && algorithm <= RLCORE_ALGORITHM_SAC) config.buffer_size = 400, config.learning_starts = 200, config.batch_size = 32, config.train_interval = 32;
  else config.num_steps = 32;
  TRY(train(h, env, &config, 2));
  TRY(rlcore_learner_attach(learner, sizeof learner, N, NULL, NULL, &agent));
  for (int i = 0; i < ROWS * 4; i++) obs[i] = (float)((i * 37) % 41) / 16 - 1;
  for (int i = 0; i < ROWS; i++) {
    choice[i] = i % 3 == 0, number[i] = (float)(i - 12) / 8, weight[i] = (float)(i % 4) / 2;
    prob[2 * i] = (float)(i % 5) / 4, prob[2 * i + 1] = 1 - prob[2 * i];
  }
  for (int i = 0; i < 6; i++) {
    const rlcore_imitation how = {.struct_size = sizeof how, .weight = i % 2 ? weight : NULL, .prob = chooses && i > 3 ? prob : NULL,
                                  .margin = learns_q && i > 2 ? 0.25F : 0, .fit_std = !chooses && algorithm != RLCORE_ALGORITHM_TD3 && i > 2};
    TRY(rlcore_learner_imitate(agent, ROWS, ACTED(NULL, obs, NULL, chooses ? (void *)choice : (void *)number), &how, &loss));
    MIX_ONE(h, loss);
  }
  TRY(rlcore_learner_params_len(agent, &params_len));
  CHECK(params_len <= LEN(params));
  TRY(rlcore_learner_params_read(agent, params, params_len));
  MIX_SOME(h, params, params_len);
  return RLCORE_OK;
}

static rlcore_status learner_imitation(hashes *h) {
  TRY(imitated(h, RLCORE_ALGORITHM_PPO, RLCORE_ENV_CARTPOLE));
  TRY(imitated(h, RLCORE_ALGORITHM_PPO, RLCORE_ENV_PENDULUM));
  TRY(imitated(h, RLCORE_ALGORITHM_PQN, RLCORE_ENV_CARTPOLE));
  TRY(imitated(h, RLCORE_ALGORITHM_DQN, RLCORE_ENV_CARTPOLE));
  TRY(imitated(h, RLCORE_ALGORITHM_TD3, RLCORE_ENV_PENDULUM));
  return imitated(h, RLCORE_ALGORITHM_SAC, RLCORE_ENV_PENDULUM);
}

/* ---- Configurations known by name ---- */
static rlcore_status learner_presets(hashes *h) {
  for (uint32_t preset = RLCORE_PRESET_SRC_PPO; preset <= RLCORE_PRESET_ZOO_SAC_PENDULUM; preset++) {
    rlcore_learner_config c;
    uint32_t net;
    TRY(rlcore_learner_config_preset(&c, sizeof c, preset, &net));
    MIX_ONE(h, net);
    MIX_ONE(h, c.total_steps);
    mix_numbers(h, &c.algorithm, (offsetof(rlcore_learner_config, dropped_quantiles) - offsetof(rlcore_learner_config, algorithm)) / 4, 4);
  }
  return RLCORE_OK;
}

const stage LEARN_STAGES[] = {
    {"learner_rows", learner_rows},
    {"learner_presets", learner_presets},
    {"learner_tensors", learner_tensors},
    {"learner_carry", learner_carry},
    {"learner_imitation", learner_imitation},
    {"learner_discrete", learner_discrete},
    {"learner_continuous", learner_continuous},
    {"learner_recurrent", learner_recurrent},
    {"learner_stacked", learner_stacked},
    {"learner_attention", learner_attention},
    {"learner_algorithms", learner_algorithms},
    {"learner_memory", learner_memory},
    {"learner_transitions", learner_transitions},
    {"learner_unreal", learner_unreal},
    {NULL, NULL},
};
