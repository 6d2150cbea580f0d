/* Learners and policies: wrong calls that need a state, and the results of right calls. */
#include "rlcore.h"
#include "../../tests/system/env.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, T = 4, OBS = 4, BLOCK = 4096, LEARNER = 1 << 16 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  compiled_env env;
  rlcore_vecenv_config config;
  rlcore_vecenv *vecenv;
  rlcore_rows out;
  rlcore_rng rng;
  size_t size;
  uint32_t number, n[1];
  float obs[N][OBS], final_obs[N][OBS], reward[N], force[N], low[1], high[1];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], valid[N], mask[N][2];
  _Alignas(64) unsigned char learner[LEARNER], brain[LEARNER];
  rlcore_learner_config settings;
  rlcore_learner_stats stats;
  rlcore_learner *agent;
  rlcore_policy *policy;
  const rlcore_policy *attached;
  rlcore_sampling sampling;
  float scratch[2048], state[N * 6], states[T * N * 6];
  uint8_t flags[N], begin[T * N];
  uint32_t owner[T * N];
} w, before;

#include "attack.h"

/* A learner for N environments of this kind, before its first act. */
static void start(uint32_t env_id) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_rng_seed(&w.rng, 1));
  FINE(rlcore_vecenv_config_init(&w.config, sizeof w.config));
  w.config.num_envs = N;
  w.out = (rlcore_rows){.struct_size = sizeof w.out, .obs = w.obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .valid = w.valid};
  FINE(compile_env(BUILTIN(env_id), &w.env));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, w.env.env, NULL, w.obs));
  FINE(rlcore_learner_config_init(&w.settings, sizeof w.settings, RLCORE_ALGORITHM_PPO));
  w.settings.num_envs = N;
  w.settings.num_steps = T;
  w.settings.num_minibatches = 2;
  w.settings.num_epochs = 2;
  w.settings.hidden_len[0] = w.settings.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  w.stats.struct_size = sizeof w.stats;
}

static void *actions(void) { return w.env.action.kind == RLCORE_I32 ? (void *)w.action : (void *)w.force; }

/* Acts, steps and observes until `learn` is due. */
static void roll(void) {
  for (int t = 0; t < T; t++) {
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, actions())));
    FINE(rlcore_vecenv_step(w.vecenv, w.env.env, TAKING(actions(), &w.out)));
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, w.final_obs, NULL)));
  }
}

static uint32_t due(void) {
  uint32_t phase = 9;
  FINE(rlcore_learner_phase(w.agent, &phase));
  return phase;
}

static void attack_config(void) {
  start(RLCORE_ENV_CARTPOLE);
  rlcore_space action = w.env.action;
#define ASK rlcore_learner_size(&w.settings, &w.env.obs, &action, &w.size)
  WITH(w.settings.num_minibatches, 5, RLCORE_E_CONFIG, "divides num_envs * num_steps = 12, given 5", ASK);
  WITH(w.settings.num_minibatches, UINT32_MAX, RLCORE_E_OVERFLOW, "num_epochs * num_minibatches", ASK);
  action.n = w.n;
  REFUSED(RLCORE_E_CONFIG, "action space: choices of at least 1, given 0", ASK);
  w.n[0] = UINT32_MAX;
  REFUSED(RLCORE_E_OVERFLOW, "action space: choices that fit 31 bits", ASK);
  action = (rlcore_space){RLCORE_F32, 1, w.low, w.high, NULL};
  WITH(w.settings.use_action_mask, 1, RLCORE_E_CONFIG, "use_action_mask of 0 with continuous actions", ASK);
  WITH(w.high[0], -1.0f, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
  WITH(w.high[0], INFINITY, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
  WITH(w.low[0], NAN, RLCORE_E_CONFIG, "action space: finite bounds", ASK);
}

static void attack_calls(void) {
  start(RLCORE_ENV_CARTPOLE);
  rlcore_learner *p = w.agent;

  rlcore_space obs, action;
  FINE(rlcore_learner_spaces(p, &w.number, &obs, &action));
  CHECK(w.number == N && obs.kind == RLCORE_F32 && obs.len == OBS && obs.low == NULL && obs.high == NULL &&
        obs.n == NULL);
  CHECK(action.kind == RLCORE_I32 && action.len == 1 && action.n[0] == 2 && action.low == NULL && action.high == NULL);
  start(RLCORE_ENV_PENDULUM);
  FINE(rlcore_learner_spaces(w.agent, &w.number, &obs, &action));
  CHECK(obs.len == 3 && action.kind == RLCORE_F32 && action.len == 1 && action.n == NULL);
  start(RLCORE_ENV_CARTPOLE);
  p = w.agent;

  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, UINT32_MAX, 1, 0};
  REFUSED(RLCORE_E_CONFIG, "sampling: temperature is set to 1", rlcore_learner_predict(p, ACTED(NULL, w.obs, NULL, w.action), NULL, NULL, &w.sampling));
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_GREEDY, 2, 0, 0};
  REFUSED(RLCORE_E_CONFIG, "sampling: k is set to 2", rlcore_learner_predict(p, ACTED(NULL, w.obs, NULL, w.action), NULL, NULL, &w.sampling));
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, UINT32_MAX, 0, 0};
  FINE(rlcore_learner_predict(p, ACTED(NULL, w.obs, NULL, w.action), NULL, NULL, &w.sampling));

  /* Questions without an answer. */
#define TELL(rows, ...) rlcore_learner_distribution(p, rows, ACTED(NULL, w.obs, NULL, w.action), NULL, NULL, DISTRIBUTION(__VA_ARGS__))
  REFUSED(RLCORE_E_DISABLED, "distribution: Q, which only learners of Q", TELL(N, .q = w.final_obs[0]));
  REFUSED(RLCORE_E_SHAPE, "distribution: mean and std of actions that have continuous", TELL(N, .mean = w.final_obs[0]));
  REFUSED(RLCORE_E_SHAPE, "distribution: rows of at least 1", TELL(0, .value = w.final_obs[0]));
  REFUSED(RLCORE_E_CONFIG, "distribution: reserved", TELL(N, .reserved = 1));
  REFUSED(RLCORE_E_OVERLAP, "value", TELL(N, .value = w.obs[0]));
  FINE(TELL(N, .value = w.final_obs[0]));
  FINE(TELL(1, .prob = w.final_obs[0]));
  CHECK(fabsf(w.final_obs[0][0] + w.final_obs[0][1] - 1) < 1e-6f);
#undef TELL

  /* Calls that are not due. */
#define UNDUE_OBSERVE(words) \
  REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_observe(p, STEPPED(NULL, w.reward, w.terminated, w.truncated, w.final_obs, NULL)))
#define UNDUE_ACT(words) REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_act(p, ACTED(NULL, w.obs, NULL, w.action)))
#define UNDUE_LEARN(words) REFUSED(RLCORE_E_NOT_READY, words, rlcore_learner_learn(p, OBSERVED(w.obs, NULL), 0, &w.stats))
  CHECK(due() == RLCORE_LEARNER_ACT);
  UNDUE_OBSERVE("environment 0 has not acted");
  UNDUE_LEARN("the rollout is not complete");
  FINE(rlcore_learner_act(p, ACTED(NULL, w.obs, NULL, w.action)));
  CHECK(due() == RLCORE_LEARNER_OBSERVE);
  UNDUE_ACT("environment 0 has acted and was not observed");
  UNDUE_LEARN("the rollout is not complete");

  w.truncated[1] = 1;
  w.final_obs[0][0] = NAN; /* never read */
  FINE(rlcore_learner_observe(p, STEPPED(NULL, w.reward, w.terminated, w.truncated, w.final_obs, NULL)));
  w.final_obs[0][0] = 0;
  start(RLCORE_ENV_CARTPOLE);
  p = w.agent;
  roll();

  CHECK(due() == RLCORE_LEARNER_LEARN);
  UNDUE_ACT("an update is due; call learn first");
  UNDUE_OBSERVE("an update is due; call learn first");
  struct { rlcore_learner_stats stats; uint64_t more; } longer = {.stats.struct_size = sizeof longer, .more = 7};
  FINE(rlcore_learner_learn(p, OBSERVED(w.obs, NULL), 1, &longer.stats));
  CHECK(longer.stats.struct_size == sizeof longer && longer.more == 0 && longer.stats.minibatches_left == 3 &&
        longer.stats.num_steps == T * N);
  longer.stats.struct_size = 32;
  longer.stats.learning_rate = 5;
  FINE(rlcore_learner_learn(p, NULL, 1, &longer.stats));
  CHECK(longer.stats.struct_size == 32 && longer.stats.minibatches_left == 2 && longer.stats.learning_rate == 5);
  FINE(rlcore_learner_learn(p, NULL, UINT32_MAX, &w.stats));
  CHECK(w.stats.minibatches_left == 0 && due() == RLCORE_LEARNER_ACT && w.stats.num_updates == 1);

  /* A learner with masks needs one, with at least one allowed choice. */
  start(RLCORE_ENV_CARTPOLE);
  w.settings.use_action_mask = 1;
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  p = w.agent;
  memset(w.mask, 1, sizeof w.mask);
  w.mask[2][0] = 0;
  FINE(rlcore_learner_act(p, ACTED(NULL, w.obs, w.mask[0], w.action)));
  CHECK(w.action[2] == 1);

  /* Continuous actions have no top-k choices. */
  start(RLCORE_ENV_PENDULUM);
  p = w.agent;
  w.sampling = (rlcore_sampling){RLCORE_SAMPLING_TOPK, 1, 0, 0};
  REFUSED(RLCORE_E_CONFIG, "for continuous actions", rlcore_learner_predict(p, ACTED(NULL, w.obs, NULL, w.force), NULL, NULL, &w.sampling));
  roll();
  FINE(rlcore_learner_learn(p, OBSERVED(w.obs, NULL), 0, &w.stats));
}

/* Agents that come and go; and an update whose chunks are computed by the caller, equal to one computed by the learner. */
static void attack_parts(void) {
  static _Alignas(64) unsigned char other[LEARNER], scratch[LEARNER];
  static float grads[2 * LEARNER / 4], params[LEARNER / 4];
  uint8_t active[N] = {1, 0, 1}, acted[N];
  start(RLCORE_ENV_CARTPOLE);
  rlcore_learner *p = w.agent, *q;
  size_t size, len, mask_len, grads_len, scratch_size;
  w.stats.struct_size = sizeof w.stats;

  /* Absent rows are neither read nor written. */
  w.obs[1][0] = NAN;
  w.action[1] = 77;
  FINE(rlcore_learner_act_range(p, 0, N, ACTED(active, w.obs, NULL, w.action)));
  CHECK(w.action[1] == 77);
  REFUSED(RLCORE_E_NOT_READY, "environment 0 has acted", rlcore_learner_act(p, ACTED(active, w.obs, NULL, w.action)));
  FINE(rlcore_learner_acted(p, acted));
  CHECK(memcmp(acted, active, N) == 0);
  REFUSED(RLCORE_E_NOT_READY, "environment 1 has not acted",
          rlcore_learner_observe(p, STEPPED(NULL, w.reward, w.terminated, w.truncated, NULL, NULL)));
  w.reward[1] = NAN;
  FINE(rlcore_learner_observe(p, STEPPED(active, w.reward, w.terminated, w.truncated, NULL, NULL)));
  w.reward[1] = w.obs[1][0] = 0;
  FINE(rlcore_learner_act(p, ACTED(NULL, w.obs, NULL, w.action)));
  active[0] = 0, active[1] = 1;
  FINE(rlcore_learner_cut(p, active));
  FINE(rlcore_learner_acted(p, acted));
  CHECK(acted[0] == 1 && acted[1] == 0 && acted[2] == 0);

  /* Calls that only read the learner. */
  float value[N], log_prob[N], entropy[N];
  FINE(rlcore_learner_value(p, OBSERVED(w.obs, NULL), value));
  FINE(rlcore_learner_log_prob(p, ACTED(NULL, w.obs, NULL, w.action), log_prob, entropy));
  for (int i = 0; i < N; i++) CHECK(isfinite(value[i]) && log_prob[i] < 0 && entropy[i] > 0);
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_begin(p, OBSERVED(w.obs, NULL), &w.stats));
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_drop(p));

  /* One update inside the learner, one in chunks; the copy gets its second rollout from the first learner. */
  start(RLCORE_ENV_CARTPOLE);
  FINE(rlcore_learner_config_init(&w.settings, sizeof w.settings, RLCORE_ALGORITHM_PPO));
  w.settings.num_envs = N, w.settings.num_steps = T, w.settings.num_minibatches = 2, w.settings.num_chunks = 2;
  w.settings.num_hidden = 1, w.settings.hidden_len[0] = 8, w.settings.hidden_len[1] = 0;
  w.stats.struct_size = sizeof w.stats;
  FINE(rlcore_learner_size(&w.settings, &w.env.obs, &w.env.action, &size));
  CHECK(size <= LEARNER);
  FINE(rlcore_learner_init(w.learner, size, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  p = w.agent;
  roll();
  memcpy(other, w.learner, size);
  FINE(rlcore_learner_attach(other, size, 0, NULL, NULL, &q));
  FINE(rlcore_learner_params_len(p, &len));
  FINE(rlcore_learner_grads_len(p, &grads_len));
  FINE(rlcore_learner_scratch_size(p, &scratch_size));
  CHECK(len < LEARNER / 4 && grads_len == len + 8 && scratch_size <= sizeof scratch);
#define RANGE_OF(begin, end) rlcore_learner_learn_range(q, begin, end, scratch, scratch_size, grads, ((end) - (begin)) * grads_len)
  REFUSED(RLCORE_E_NOT_READY, "no update is running", RANGE_OF(0, 1));
  FINE(rlcore_learner_learn_begin(q, OBSERVED(w.obs, NULL), &w.stats));
  REFUSED(RLCORE_E_NOT_READY, "the rollout is not complete", rlcore_learner_learn_begin(q, OBSERVED(w.obs, NULL), &w.stats));
  while (w.stats.minibatches_left) {
    REFUSED(RLCORE_E_NOT_READY, "the gradients of some chunks are missing", rlcore_learner_learn_apply(q, &w.stats));
    FINE(rlcore_learner_learn_range(q, 1, 2, scratch, scratch_size, grads + grads_len, grads_len));
    FINE(rlcore_learner_grads_add(q, 1, 2, grads + grads_len, grads_len));
    REFUSED(RLCORE_E_NOT_READY, "the gradients of some chunks are missing", rlcore_learner_grads_read(q, 0, 2, grads, 2 * grads_len));
    FINE(RANGE_OF(0, 1));
    FINE(rlcore_learner_grads_write(q, 0, 1, grads, grads_len));
    FINE(rlcore_learner_grads_read(q, 1, 2, params, grads_len));
    CHECK(memcmp(params, grads + grads_len, grads_len * sizeof *grads) == 0);
    FINE(rlcore_learner_learn_apply(q, &w.stats));
  }
  FINE(rlcore_learner_learn(p, OBSERVED(w.obs, NULL), 0, &w.stats));
  FINE(rlcore_learner_params_read(p, params, len));
  FINE(rlcore_learner_params_read(q, grads, len));
  CHECK(memcmp(params, grads, len * sizeof *params) == 0);
  WITH(params[0], 2e6f, RLCORE_E_VALUE, "parameters from -1e6 to 1e6", rlcore_learner_params_write(q, params, len, NULL, 0));
  FINE(rlcore_learner_params_write(q, params, len, NULL, 0));

  /* A rollout read from one learner and learned by another. */
  float obs[T * N * OBS], probs[T * N], values[T * N], advantage[T * N], target[T * N];
  int32_t actions[T * N];
#define READ_BATCH(p, mask) rlcore_learner_batch_read(p, BATCH(.obs = obs, .action = actions, .action_mask = mask, .log_prob = probs, .value = values, .advantage = advantage, .value_target = target))
#define LEARN_BATCH(p, mask) \
  rlcore_learner_learn_batch(p, BATCH(.obs = GIVEN(obs), .action = GIVEN(actions), .action_mask = GIVEN(mask), .log_prob = GIVEN(probs), .value = GIVEN(values), .advantage = GIVEN(advantage), .value_target = GIVEN(target)), &w.stats)
  size_t begin_len, env_len;
  FINE(rlcore_learner_batch_len(q, &len, &mask_len, &begin_len, &env_len));
  CHECK(len == T * N && mask_len == 0 && begin_len == 0 && env_len == 0);
  REFUSED(RLCORE_E_DISABLED, "transitions of the host's own",
          rlcore_learner_learn_transitions(p, TRANSITIONS(.obs = obs, .action = actions, .reward = probs, .terminated = w.terminated, .next_obs = obs), &w.stats));
  FINE(rlcore_learner_params_len(p, &len));
  REFUSED(RLCORE_E_NOT_READY, "no update is running", READ_BATCH(p, NULL));
  roll();
  FINE(rlcore_learner_learn_begin(p, OBSERVED(w.obs, NULL), &w.stats));
  FINE(READ_BATCH(p, NULL));
  REFUSED(RLCORE_E_NOT_READY, "has already recorded steps", LEARN_BATCH(p, NULL));
  FINE(LEARN_BATCH(q, NULL));
  FINE(rlcore_learner_learn(q, NULL, 0, &w.stats));
  FINE(rlcore_learner_learn(p, NULL, 0, &w.stats));
  FINE(rlcore_learner_params_read(p, params, len));
  FINE(rlcore_learner_params_read(q, grads, len));
  CHECK(memcmp(params, grads, len * sizeof *params) == 0);
  roll();
  FINE(rlcore_learner_learn_drop(p));
  CHECK(due() == RLCORE_LEARNER_ACT);
}

/* ---- Policies ---- */

/* Rewards whose squares overflow: the updates end and are counted, and the learner goes on. */
static void check_overflow(void) {
  start(RLCORE_ENV_CARTPOLE);
  for (int k = 0; k < 3; k++) {
    for (int t = 0; t < T; t++) {
      FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, w.action)));
      for (int i = 0; i < N; i++) w.reward[i] = 1e38f;
      FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, NULL, NULL)));
    }
    char why[256];
    CHECK(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 0, &w.stats) == RLCORE_E_VALUE);
    rlcore_last_error(why, sizeof why);
    CHECK(strstr(why, "the update was dropped, act is due") != NULL && due() == RLCORE_LEARNER_ACT);
    FINE(rlcore_learner_attach(w.learner, sizeof w.learner, 0, NULL, NULL, &w.agent));
  }
  roll();
  FINE(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 0, &w.stats));
  CHECK(w.stats.num_dropped == 3 && w.stats.num_updates == 1 && isfinite(w.stats.policy_loss));
}

static void attack_policy(void) {
  start(RLCORE_ENV_CARTPOLE);
  size_t size = 0, len = 0;
  FINE(rlcore_policy_size(w.agent, &size));
  FINE(rlcore_policy_export(w.agent, w.brain, size, &w.policy));
  FINE(rlcore_policy_attach(w.brain, size, NULL, NULL, &w.attached));
  const rlcore_policy *b = w.attached;
  FINE(rlcore_policy_scratch_len(b, N, &len));
  CHECK(len <= sizeof w.scratch / sizeof *w.scratch);
  REFUSED(RLCORE_E_SIZE, "scratch numbers, at least",
          rlcore_policy_act_greedy(b, N, ACTED(NULL, w.obs, NULL, w.action), BUFFERS(NULL, NULL, w.scratch, len - 1)));
  const uint8_t *mask = NULL;
  const rlcore_sampling *sampling = &w.sampling;
  rlcore_rng *rng = &w.rng;
#define USE rlcore_policy_act(b, N, ACTED(NULL, w.obs, mask, w.action), BUFFERS(NULL, NULL, w.scratch, len), sampling, rng)
  w.mask[0][0] = w.mask[0][1] = w.mask[1][0] = 1;
  WITH(mask, w.mask[0], RLCORE_E_VALUE, "an allowed action", USE);
  w.mask[2][1] = 1;
  mask = w.mask[0];
  FINE(USE);
  CHECK(w.action[1] == 0 && w.action[2] == 1);
  mask = NULL, sampling = NULL;
  FINE(USE);
  w.sampling.method = RLCORE_SAMPLING_GREEDY;
  sampling = &w.sampling, rng = NULL;
  FINE(USE);
  int32_t drawn[N];
  memcpy(drawn, w.action, sizeof drawn);
  memset(w.action, 0, sizeof drawn);
  FINE(rlcore_policy_act_greedy(b, N, ACTED(NULL, w.obs, NULL, w.action), BUFFERS(NULL, NULL, w.scratch, len)));
  CHECK(memcmp(drawn, w.action, sizeof drawn) == 0);
  FINE(rlcore_policy_act_greedy(b, N, ACTED(NULL, w.obs, w.mask[0], w.action), BUFFERS(NULL, NULL, w.scratch, len)));
  CHECK(w.action[1] == 0 && w.action[2] == 1);
}

/* Preset networks are written whole or not at all, and can be used unchanged. */
static void attack_presets(void) {
  rlcore_layer layers[16];
  rlcore_learner_config c;
  uint32_t len = 7;
  size_t size = 0;
  REFUSED(RLCORE_E_CONFIG, "a known rlcore_net, given 0", rlcore_net_preset(0, layers, 16, &len));
  REFUSED(RLCORE_E_CONFIG, "a known rlcore_net, given 12", rlcore_net_preset(12, NULL, 0, &len));
  REFUSED(RLCORE_E_SIZE, "at least 11 layers", rlcore_net_preset(RLCORE_NET_TRANSFORMER_GRID, layers, 10, &len));
  REFUSED(RLCORE_E_NULL, "out", rlcore_net_preset(RLCORE_NET_FC, NULL, 1, &len));
  REFUSED(RLCORE_E_NULL, "out_len", rlcore_net_preset(RLCORE_NET_FC, layers, 16, NULL));
  REFUSED(RLCORE_E_OVERLAP, "out", rlcore_net_preset(RLCORE_NET_FC, layers, 16, &layers[1].units));
  CHECK(len == 7);
  const rlcore_space action = {.kind = RLCORE_F32, .len = 1};
  for (uint32_t net = RLCORE_NET_FC; net <= RLCORE_NET_TRANSFORMER_GRID; net++) {
    FINE(rlcore_net_preset(net, NULL, 0, &len));
    FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
    FINE(rlcore_net_preset(net, layers, len, &c.num_layers));
    CHECK(len == c.num_layers);
    const int side = net <= RLCORE_NET_IMPALA_SMALL ? 84 : net == RLCORE_NET_BTGYM_42 ? 42 : net == RLCORE_NET_MINATAR ? 10 : 7;
    c.obs_dims[0] = c.obs_dims[1] = (uint32_t)side, c.obs_dims[2] = 3, c.layers = layers;
    c.num_hidden = 0;
    const rlcore_space obs = {.kind = RLCORE_U8, .len = (uint32_t)(side * side) * 3};
    if (rlcore_learner_size(&c, &obs, &action, &size)) c.sequence_len = 1;
    FINE(rlcore_learner_size(&c, &obs, &action, &size));
  }
}

/* Configurations known by name are written whole or not at all, and can be used unchanged with the layers of their networks. */
static void attack_config_presets(void) {
  rlcore_layer layers[16];
  rlcore_learner_config c;
  uint32_t net = 7;
  size_t size = 0;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  REFUSED(RLCORE_E_RANGE, "an rlcore_preset that this build has, given 0", rlcore_learner_config_preset(&c, sizeof c, 0, &net));
  REFUSED(RLCORE_E_RANGE, "given 16", rlcore_learner_config_preset(&c, sizeof c, 16, &net));
  REFUSED(RLCORE_E_SIZE, "its size", rlcore_learner_config_preset(&c, 16, RLCORE_PRESET_SRC_PPO, &net));
  REFUSED(RLCORE_E_OVERLAP, "learner config: the array overlaps", rlcore_learner_config_preset(&c, sizeof c, RLCORE_PRESET_SRC_PPO, &c.num_steps));
  CHECK(net == 7 && c.num_steps == 128 && c.clip < 0.3F);
  for (uint32_t preset = RLCORE_PRESET_SRC_PPO; preset <= RLCORE_PRESET_ZOO_SAC_PENDULUM; preset++) {
    FINE(rlcore_learner_config_preset(&c, sizeof c, preset, NULL));
    FINE(rlcore_learner_config_preset(&c, sizeof c, preset, &net));
    CHECK(c.struct_size == sizeof c && c.layers == NULL && c.num_layers == 0);
    if (net != 0) FINE(rlcore_net_preset(net, layers, 16, &c.num_layers)), c.layers = layers;
    const uint32_t pixels = c.obs_dims[0] * c.obs_dims[1] * c.obs_dims[2], two[] = {2};
    const int continuous = c.algorithm == RLCORE_ALGORITHM_TD3 || c.algorithm == RLCORE_ALGORITHM_SAC;
    const float low[] = {-2}, high[] = {2};
    const rlcore_space obs = {.kind = pixels ? RLCORE_U8 : RLCORE_F32, .len = pixels ? pixels : 4};
    const rlcore_space choice = {.kind = RLCORE_I32, .len = 1, .n = two};
    const rlcore_space torque = {.kind = RLCORE_F32, .len = 1, .low = low, .high = high};
    FINE(rlcore_learner_size(&c, &obs, continuous ? &torque : &choice, &size));
  }
}

/* Observations of choices, and of structures with a picture, a number and a choice. */
static void attack_structures(void) {
  struct seen {
    uint8_t picture[2][3];
    float number;
    int32_t choice;
  } obs[N] = {{.number = 1, .choice = 2}, {.number = -1}, {.choice = 1}};
  static const rlcore_field fields[] = {
      {.name = "picture", .kind = RLCORE_U8, .rank = 2, .dims = {2, 3}, .offset = offsetof(struct seen, picture)},
      {.name = "number", .kind = RLCORE_F32, .offset = offsetof(struct seen, number)},
      {.name = "choice", .kind = RLCORE_I32, .offset = offsetof(struct seen, choice)},
  };
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_CONV, .source = {RLCORE_LAYER_INPUT | 1}, .units = 2, .size = {2, 2}},
      {.kind = RLCORE_LAYER_DENSE, .units = 4},
      {.kind = RLCORE_LAYER_JOIN, .source = {2, RLCORE_LAYER_INPUT | 2}},
      {.kind = RLCORE_LAYER_JOIN, .source = {3, RLCORE_LAYER_INPUT | 3}},
  };
  const uint32_t n[] = {3};
  enum { SEEN = 2 * 3 + 1 + 3 };
  start(RLCORE_ENV_CARTPOLE);
  rlcore_space space = {.kind = RLCORE_STRUCT, .len = sizeof *obs, .n = n};
  w.settings.num_layers = 4, w.settings.layers = layers;
  size_t size = 0, len = 0;
#define MAKE rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &space, &w.env.action, &w.agent)
  REFUSED(RLCORE_E_CONFIG, "fields of the structure, listed in obs_fields of the learner config", MAKE);
  w.settings.num_obs_fields = 3;
  REFUSED(RLCORE_E_NULL, "obs_fields", MAKE);
  w.settings.obs_fields = fields;
  WITH(w.settings.num_obs_fields, 9, RLCORE_E_CONFIG, "at most 8, given 9", MAKE);
  WITH(w.settings.num_obs_fields, 2, RLCORE_E_CONFIG, "a part that the input has, counted from 1, in layer 4", MAKE);
  WITH(space.n, NULL, RLCORE_E_NULL, "obs.n", MAKE);
  WITH(space.len, 8, RLCORE_E_CONFIG, "within the bytes of an observation", MAKE);
  WITH(space.kind, RLCORE_F32, RLCORE_E_CONFIG, "n of NULL, or elements that are choices", MAKE);
  FINE(MAKE);
  FINE(rlcore_learner_seen_len(w.agent, &len));
  CHECK(len == SEEN);
  uint32_t num_envs = 0;
  rlcore_space told, taken;
  FINE(rlcore_learner_spaces(w.agent, &num_envs, &told, &taken));
  CHECK(told.kind == RLCORE_STRUCT && told.len == sizeof *obs && told.n[0] == 3 && told.n != n);
#define SEE rlcore_learner_act(w.agent, ACTED(NULL, obs, NULL, w.action))
  WITH(obs[1].choice, 3, RLCORE_E_VALUE, "choices from 0 to below 3, given 3", SEE);
  WITH(obs[1].choice, -1, RLCORE_E_VALUE, "choices from 0 to below 3, given -1", SEE);
  WITH(obs[2].number, NAN, RLCORE_E_VALUE, "a finite obs", SEE);
  for (int t = 0; t < T; t++) {
    FINE(SEE);
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, obs, NULL)));
  }
  FINE(rlcore_learner_learn_begin(w.agent, OBSERVED(obs, NULL), &w.stats));
  static float seen[N * T][SEEN], columns[4][N * T];
  static int32_t action[N * T];
  FINE(rlcore_learner_batch_read(w.agent, BATCH(.obs = seen[0], .action = action, .log_prob = columns[0], .value = columns[1], .advantage = columns[2], .value_target = columns[3])));
  CHECK(seen[0][6] == 1 && seen[0][9] == 1 && seen[0][7] == 0 && seen[1][6] == -1 && seen[1][7] == 1 && seen[2][8] == 1);
  FINE(rlcore_learner_learn(w.agent, NULL, 0, &w.stats));
  FINE(rlcore_policy_size(w.agent, &size));
  FINE(rlcore_policy_export(w.agent, w.brain, size, &w.policy));
  FINE(rlcore_policy_attach(w.brain, size, NULL, NULL, &w.attached));
  FINE(rlcore_policy_scratch_len(w.attached, N, &len));
  static float scratch[2048]; /* may be written by a failing call */
#define USE_IT rlcore_policy_act_greedy(w.attached, N, ACTED(NULL, obs, NULL, w.action), BUFFERS(NULL, NULL, scratch, len))
  WITH(obs[0].choice, 3, RLCORE_E_VALUE, "choices from 0 to below 3, given 3", USE_IT);
  int32_t shipped[N];
  FINE(USE_IT);
  memcpy(shipped, w.action, sizeof shipped);
  w.sampling.method = RLCORE_SAMPLING_GREEDY;
  FINE(rlcore_learner_predict(w.agent, ACTED(NULL, obs, NULL, w.action), NULL, NULL, &w.sampling));
  CHECK(memcmp(shipped, w.action, sizeof shipped) == 0);

  /* Observations of choices alone need no list of fields. */
  space = (rlcore_space){.kind = RLCORE_I32, .len = 1, .n = n};
  w.settings.num_layers = w.settings.num_obs_fields = 0;
  REFUSED(RLCORE_E_CONFIG, "layers is set, but num_layers is 0", MAKE);
  w.settings.layers = NULL;
  REFUSED(RLCORE_E_CONFIG, "obs_fields is set, but num_obs_fields is 0", MAKE);
  w.settings.obs_fields = NULL;
  FINE(MAKE);
  FINE(rlcore_learner_seen_len(w.agent, &len));
  CHECK(len == 3);
  int32_t choices[N] = {0, 2, 1};
  FINE(rlcore_learner_act(w.agent, ACTED(NULL, choices, NULL, w.action)));
#undef MAKE
}

/* Actions that are structures of a choice and two numbers. */
static void attack_mixed(void) {
  struct taken {
    int32_t weapon;
    float aim[2];
    uint32_t own;
  } action[N], told[N * T];
  static const rlcore_field fields[] = {
      {.name = "weapon", .kind = RLCORE_I32, .offset = offsetof(struct taken, weapon)},
      {.name = "aim", .kind = RLCORE_F32, .rank = 1, .dims = {2}, .offset = offsetof(struct taken, aim)},
  };
  static const float low[] = {-1, -2}, high[] = {1, 2};
  const uint32_t n[] = {3};
  start(RLCORE_ENV_CARTPOLE);
  rlcore_space space = {RLCORE_STRUCT, sizeof *action, low, high, n};
  w.settings.use_action_mask = 1;
  size_t size = 0, len = 0, flags = 0;
#define MAKE rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &space, &w.agent)
  REFUSED(RLCORE_E_CONFIG, "fields of the structure, listed in action_fields of the learner config", MAKE);
  w.settings.num_action_fields = 2;
  REFUSED(RLCORE_E_NULL, "action_fields", MAKE);
  w.settings.action_fields = fields;
  WITH(w.settings.num_action_fields, 9, RLCORE_E_CONFIG, "at most 8, given 9", MAKE);
  WITH(w.settings.action_fields, (const rlcore_field *)((const char *)fields + 1), RLCORE_E_ALIGN, "action_fields", MAKE);
  WITH(space.n, NULL, RLCORE_E_NULL, "action.n", MAKE);
  WITH(space.low, NULL, RLCORE_E_CONFIG, "low and high with one entry for all or one an element", MAKE);
  WITH(space.len, 8, RLCORE_E_CONFIG, "must be a multiple of 4 and not less", MAKE);
  WITH(space.len, 0, RLCORE_E_CONFIG, "len of 1 to", MAKE);
  WITH(space.kind, RLCORE_F32, RLCORE_E_CONFIG, "a structure if the learner config lists action_fields", MAKE);
  WITH(w.settings.algorithm, RLCORE_ALGORITHM_PQN, RLCORE_E_CONFIG, "no f32 in a structure", MAKE);
  rlcore_learner_config stores;
  FINE(rlcore_learner_config_init(&stores, sizeof stores, RLCORE_ALGORITHM_SAC));
  stores.action_fields = fields, stores.num_action_fields = 2;
#define SIZE rlcore_learner_size(&stores, &w.env.obs, &space, &size)
  WITH(stores.algorithm, RLCORE_ALGORITHM_DQN, RLCORE_E_CONFIG, "no f32 in a structure", SIZE);
  WITH(stores.algorithm, RLCORE_ALGORITHM_TD3, RLCORE_E_CONFIG, "no i32 in a structure", SIZE);
  WITH(stores.num_quantiles, 4, RLCORE_E_CONFIG, "num_quantiles of 0 with SAC on choices", SIZE);
  FINE(SIZE);
#undef SIZE
  FINE(MAKE);
  rlcore_space obs, taken;
  FINE(rlcore_learner_spaces(w.agent, &w.number, &obs, &taken));
  CHECK(taken.kind == RLCORE_STRUCT && taken.len == sizeof *action && taken.n[0] == 3 && taken.n != n);
  size_t begin_len, env_len;
  FINE(rlcore_learner_batch_len(w.agent, &len, &flags, &begin_len, &env_len));
  CHECK(len == N * T && flags == 3);
  uint8_t mask[N * T][3];
  for (int i = 0; i < N * T; i++) mask[i][0] = 0, mask[i][1] = mask[i][2] = 1;
  for (int i = 0; i < N; i++) action[i] = (struct taken){-1, {9, 9}, 7};
#define TAKE rlcore_learner_act(w.agent, ACTED(NULL, w.obs, mask[0], action))
  REFUSED(RLCORE_E_NULL, "action", rlcore_learner_act(w.agent, ACTED(NULL, w.obs, mask[0], NULL)));
  WITH(w.obs[2][0], NAN, RLCORE_E_VALUE, "a finite obs", TAKE);
  CHECK(action[0].weapon == -1 && action[0].aim[0] == 9);
  for (int t = 0; t < T; t++) {
    FINE(TAKE);
    for (int i = 0; i < N; i++)
      CHECK((action[i].weapon == 1 || action[i].weapon == 2) && fabsf(action[i].aim[0]) <= 1 && fabsf(action[i].aim[1]) <= 2 &&
            action[i].own == 7);
#define SAY rlcore_learner_log_prob(w.agent, ACTED(NULL, w.obs, mask[0], action), w.reward, w.final_obs[0])
    WITH(action[2].weapon, 0, RLCORE_E_VALUE, "choices that exist and are allowed", SAY);
    WITH(action[2].weapon, 3, RLCORE_E_VALUE, "choices from 0 to below 3, given 3", SAY);
    WITH(action[1].aim[1], INFINITY, RLCORE_E_VALUE, "finite actions", SAY);
    FINE(SAY);
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, NULL, NULL)));
  }
  FINE(rlcore_learner_learn_begin(w.agent, OBSERVED(w.obs, NULL), &w.stats));
  static float seen[N * T][OBS], columns[4][N * T];
  const rlcore_learner_batch batch = {.struct_size = sizeof batch, .obs = seen[0], .action = told, .action_mask = mask[0],
                                      .log_prob = columns[0], .value = columns[1], .advantage = columns[2], .value_target = columns[3]};
#define LEARN_FROM rlcore_learner_learn_batch(w.agent, &batch, &w.stats)
  FINE(rlcore_learner_batch_read(w.agent, &batch));
  FINE(rlcore_learner_learn_drop(w.agent));
  WITH(told[N * T - 1].weapon, 0, RLCORE_E_VALUE, "choices that exist and are allowed", LEARN_FROM);
  WITH(told[0].aim[1], NAN, RLCORE_E_VALUE, "finite numbers", LEARN_FROM);
  FINE(LEARN_FROM);
  FINE(rlcore_learner_learn(w.agent, NULL, 0, &w.stats));
  FINE(rlcore_policy_size(w.agent, &size));
  FINE(rlcore_policy_export(w.agent, w.brain, size, &w.policy));
  FINE(rlcore_policy_attach(w.brain, size, NULL, NULL, &w.attached));
  FINE(rlcore_policy_scratch_len(w.attached, N, &len));
  FINE(rlcore_policy_act_greedy(w.attached, N, ACTED(NULL, w.obs, mask[0], action), BUFFERS(NULL, NULL, w.scratch, len)));
  memcpy(told, action, sizeof action);
  w.sampling.method = RLCORE_SAMPLING_GREEDY;
  FINE(rlcore_learner_predict(w.agent, ACTED(NULL, w.obs, mask[0], action), NULL, NULL, &w.sampling));
  CHECK(memcmp(told, action, sizeof action) == 0 && action[0].own == 7);
#undef MAKE
#undef TAKE
#undef SAY
#undef AND_STATS
}

/* States of recurrent layers: in policies, in predictions, and in rollouts that are read from a learner. */
static void attack_recurrent(void) {
  enum { UNITS = 3, STATE = 2 * UNITS };
  static const rlcore_layer lstm = {.kind = RLCORE_LAYER_LSTM, .units = UNITS};
  start(RLCORE_ENV_CARTPOLE);
  w.settings.num_layers = 1, w.settings.layers = &lstm, w.settings.sequence_len = 2;
#define MAKE rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent)
  WITH(w.settings.sequence_len, 0, RLCORE_E_CONFIG, "sequence_len of at least 1 with recurrent layers", MAKE);
  WITH(w.settings.sequence_len, 3, RLCORE_E_CONFIG, "sequence_len that divides num_steps", MAKE);
  FINE(MAKE);
  size_t size = 0, len = 0, state_len = 0;
  FINE(rlcore_learner_state_len(w.agent, &state_len));
  CHECK(state_len == STATE);
  FINE(rlcore_policy_size(w.agent, &size));
  FINE(rlcore_policy_export(w.agent, w.brain, size, &w.policy));
  FINE(rlcore_policy_attach(w.brain, size, NULL, NULL, &w.attached));
  FINE(rlcore_policy_state_len(w.attached, &state_len));
  CHECK(state_len == STATE);
  FINE(rlcore_policy_scratch_len(w.attached, N, &len));
  CHECK(len <= sizeof w.scratch / sizeof *w.scratch);

  float *state = w.state, *none = NULL;
  const uint8_t *reset = NULL;
#define PREDICT(state) rlcore_learner_predict(w.agent, ACTED(NULL, w.obs, NULL, w.action), state, reset, NULL)
#define TELL(state) rlcore_learner_distribution(w.agent, N, OBSERVED(w.obs, NULL), state, reset, DISTRIBUTION(.value = w.reward))
#define TELL_POLICY(state) \
  rlcore_policy_distribution(w.attached, N, OBSERVED(w.obs, NULL), BUFFERS(state, reset, w.scratch, len), DISTRIBUTION(.entropy = w.reward))
#define ACT(state) rlcore_policy_act(w.attached, N, ACTED(NULL, w.obs, NULL, w.action), BUFFERS(state, reset, w.scratch, len), NULL, &w.rng)
#define GREEDY(state) rlcore_policy_act_greedy(w.attached, N, ACTED(NULL, w.obs, NULL, w.action), BUFFERS(state, reset, w.scratch, len))
#define EACH(status, words, state) \
  (REFUSED(status, words, PREDICT(state)), look(), judge(__LINE__, "rlcore_policy_act(", status, ACT(state), words), \
   judge(__LINE__, "rlcore_policy_act_greedy(", status, GREEDY(state), words), \
   judge(__LINE__, "rlcore_learner_distribution(", status, TELL(state), words), \
   judge(__LINE__, "rlcore_policy_distribution(", status, TELL_POLICY(state), words))
  EACH(RLCORE_E_NULL, "state", none);
  EACH(RLCORE_E_ALIGN, "state", (float *)off(state, 1));
  EACH(RLCORE_E_OVERLAP, "state", (float *)w.obs);
  FINE(PREDICT(state));
  CHECK(state[0] != 0 && state[N * STATE - 1] != 0);
  state[STATE] = NAN;
  EACH(RLCORE_E_VALUE, "recurrent state: finite numbers", state);
  w.flags[1] = 1, reset = w.flags;
  FINE(PREDICT(state));
  CHECK(isfinite(state[STATE]));
  reset = (const uint8_t *)state;
  EACH(RLCORE_E_OVERLAP, "state", state);

  float obs[T * N * OBS], columns[4][T * N];
  int32_t actions[T * N];
  roll();
  FINE(rlcore_learner_learn_begin(w.agent, OBSERVED(w.obs, NULL), &w.stats));
#define READ(kept) \
  rlcore_learner_batch_read(w.agent, BATCH(.obs = obs, .action = actions, .log_prob = columns[0], .value = columns[1], .advantage = columns[2], .value_target = columns[3], .state = kept, .begin = w.begin, .env = w.owner))
#define LEARN \
  rlcore_learner_learn_batch(w.agent, BATCH(.obs = GIVEN(obs), .action = GIVEN(actions), .log_prob = GIVEN(columns[0]), .value = GIVEN(columns[1]), .advantage = GIVEN(columns[2]), .value_target = GIVEN(columns[3]), .state = GIVEN(w.states), .begin = GIVEN(w.begin), .env = GIVEN(w.owner)), &w.stats)
  REFUSED(RLCORE_E_NULL, "state", READ(NULL));
  FINE(READ(w.states));
  CHECK(w.begin[0] == 1 && w.owner[0] == 0 && w.owner[N - 1] == N - 1 && w.states[0] == 0 && w.states[N * STATE] != 0);
  FINE(rlcore_learner_learn_drop(w.agent));
  WITH(w.begin[1], 2, RLCORE_E_VALUE, "begin of 0 or 1", LEARN);
  WITH(w.owner[1], N, RLCORE_E_VALUE, "env below num_envs", LEARN);
  WITH(w.states[1], INFINITY, RLCORE_E_VALUE, "finite numbers", LEARN);
  FINE(LEARN);
  FINE(rlcore_learner_learn(w.agent, NULL, 0, &w.stats));
  CHECK(w.stats.minibatches_left == 0 && w.stats.num_updates == 1);
}

/* Decisions that last for different times. */
static void attack_durations(void) {
  start(RLCORE_ENV_CARTPOLE);
  w.settings.use_duration = 1;
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  float duration[T][N], columns[4][T * N], read[T * N], obs[T * N * OBS];
  int32_t actions[T * N];
  for (int i = 0; i < T * N; i++) duration[i / N][i % N] = (float)(i % 5);
  const float *lasted = duration[0];
#define OBSERVE \
  rlcore_learner_observe(w.agent, ROWS_WITH(.reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = w.final_obs, .duration = lasted))
  for (int t = 0; t < T; t++) {
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, w.action)));
    FINE(rlcore_vecenv_step(w.vecenv, w.env.env, TAKING(w.action, &w.out)));
    lasted = duration[t];
    WITH(lasted, NULL, RLCORE_E_NULL, "duration", OBSERVE);
    WITH(lasted, (const float *)off(duration, 1), RLCORE_E_ALIGN, "duration", OBSERVE);
    WITH(lasted, (const float *)w.learner, RLCORE_E_OVERLAP, "overlaps another array", OBSERVE);
    WITH(duration[t][1], NAN, RLCORE_E_VALUE, "finite durations of at least 0", OBSERVE);
    WITH(duration[t][1], -1, RLCORE_E_VALUE, "finite durations of at least 0", OBSERVE);
    FINE(OBSERVE);
  }
  FINE(rlcore_learner_learn_begin(w.agent, OBSERVED(w.obs, NULL), &w.stats));
#define LASTING(lasted) \
  BATCH(.obs = GIVEN(obs), .action = GIVEN(actions), .log_prob = columns[0], .value = columns[1], .advantage = columns[2], .value_target = columns[3], .duration = lasted)
  REFUSED(RLCORE_E_NULL, "duration", rlcore_learner_batch_read(w.agent, LASTING(NULL)));
  FINE(rlcore_learner_batch_read(w.agent, LASTING(read)));
  CHECK(memcmp(read, duration, sizeof read) == 0);
  FINE(rlcore_learner_learn_drop(w.agent));
  WITH(read[2], -2, RLCORE_E_VALUE, "finite durations of at least 0", rlcore_learner_learn_batch(w.agent, LASTING(read), &w.stats));
  FINE(rlcore_learner_learn_batch(w.agent, LASTING(read), &w.stats));
  FINE(rlcore_learner_learn(w.agent, NULL, 0, &w.stats));
  uint32_t steps = 9;
  w.out.action = w.action;
  REFUSED(RLCORE_E_CONFIG, "use_duration of 0", rlcore_collect(w.agent, w.vecenv, w.env.env, &w.out, 0, &steps));
}

static void attack_seal(void) {
  size_t size = 0, brain_size = 0;
  uint32_t phase;
  start(RLCORE_ENV_CARTPOLE);
  FINE(rlcore_learner_size(&w.settings, &w.env.obs, &w.env.action, &size));
  FINE(rlcore_policy_size(w.agent, &brain_size));
  FINE(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy));
  w.brain[brain_size / 2] ^= 1;
  REFUSED(RLCORE_E_IMAGE, "agree with their seal", rlcore_block_seal(w.brain, brain_size));
  w.brain[brain_size / 2] ^= 1;

  /* A call that may write removes the seal, whatever it returns: no copy is ever refused because of an outdated seal. */
  static unsigned char unsealed[LEARNER];
  memcpy(unsealed, w.learner, size);
  FINE(rlcore_block_seal(w.learner, size));
  CHECK(memcmp(unsealed, w.learner, size) != 0);
  look();
  FINE(rlcore_learner_attach(w.learner, size, 0, NULL, NULL, &w.agent));
  CHECK(memcmp(before.learner, w.learner, size) == 0);
  FINE(rlcore_learner_phase(w.agent, &phase));
  CHECK(memcmp(before.learner, w.learner, size) == 0);
  FINE(rlcore_block_seal(w.learner, size));
  CHECK(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 0, &w.stats) == RLCORE_E_NOT_READY);
  CHECK(memcmp(unsealed, w.learner, size) == 0);
  FINE(rlcore_block_seal(w.learner, size));
  FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, w.action)));
  FINE(rlcore_learner_attach(w.learner, size, 0, NULL, NULL, &w.agent));
}

/* Stopping, copying the bytes and going on gives the bytes of an uninterrupted run, for any slices and CPU level. */
static void check_resume(void) {
  static unsigned char learner[LEARNER], world[BLOCK];
  start(RLCORE_ENV_CARTPOLE);
  for (int k = 0; k < 3; k++) {
    roll();
    FINE(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 0, &w.stats));
  }
  memcpy(learner, w.learner, sizeof learner);
  memcpy(world, w.mem, sizeof world);
  start(RLCORE_ENV_CARTPOLE);
  roll();
  FINE(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 1, &w.stats));
  static struct world kept;
  memcpy(&kept, &w, sizeof w);
  memset(w.learner, 0, sizeof w.learner);
  memcpy(&w, &kept, sizeof w);
  FINE(rlcore_learner_attach(w.learner, sizeof w.learner, 0, NULL, NULL, &w.agent));
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_BASE));
  while (w.stats.minibatches_left > 0) FINE(rlcore_learner_learn(w.agent, NULL, 1, &w.stats));
  for (int k = 0; k < 2; k++) {
    roll();
    do FINE(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 3, &w.stats));
    while (w.stats.minibatches_left > 0);
    FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX2));
  }
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX512));
  CHECK(memcmp(learner, w.learner, sizeof learner) == 0);
  CHECK(memcmp(world, w.mem, sizeof world) == 0);
}

/* ---- Byte observations and several choices: an image environment of the host, trained ---- */

static int32_t image_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  uint64_t *steps = state;
  double x;
  (void)user, (void)row;
  if (rlcore_rng_uniform(rng, 0, 255, &x, 1) != RLCORE_OK) return 1;
  *steps = 0;
  memset(obs, (int)x, 6);
  return 0;
}

static int32_t image_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  uint64_t *steps = state;
  const int32_t *a = action;
  (void)user, (void)row;
  (void)rng;
  memset(obs, (int)(10 * a[0] + a[1]), 6);
  out->reward = (float)a[1];
  out->terminated = ++*steps == 5;
  out->truncated = *steps == 3 && a[0] == 1;
  return 0;
}

static void check_pictures(void) {
  start(RLCORE_ENV_CARTPOLE);
  static const uint32_t choices[2] = {2, 3};
  static uint8_t obs[N][6], final_obs[N][6], mask[N][5];
  static int32_t action[N][2];
  const rlcore_env_def pictures = {.struct_size = sizeof pictures, .env_id = 1001, .state_size = 8, .max_episode_steps = 4,
                                   .obs = {RLCORE_U8, 6, NULL, NULL, NULL}, .action = {RLCORE_I32, 2, NULL, NULL, choices},
                                   .reset = image_reset, .step = image_step};
  FINE(compile_env(&pictures, &w.env));
  const rlcore_rows out = {.struct_size = sizeof out, .obs = obs, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .final_obs = final_obs};
  w.settings.use_action_mask = 1;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, w.env.env, NULL, obs));
  FINE(rlcore_learner_init(w.learner, sizeof w.learner, &w.settings, &w.env.obs, &w.env.action, &w.agent));
  FINE(rlcore_vecenv_action_mask(w.vecenv, w.env.env, mask[0]));
  WITH(action[1][1], 3, RLCORE_E_RANGE, "a choice from 0 to below 3, given 3",
       rlcore_vecenv_step(w.vecenv, w.env.env, TAKING(action, &out)));
  WITH(action[2][0], 2, RLCORE_E_RANGE, "a choice from 0 to below 2, given 2",
       rlcore_vecenv_step_range(w.vecenv, w.env.env, 1, 3, TAKING(action, &out)));
  mask[1][3] = 0;
  for (int update = 0; update < 20; update++) {
    for (int t = 0; t < T; t++) {
      FINE(rlcore_learner_act(w.agent, ACTED(NULL, obs, mask[0], action)));
      CHECK(action[1][1] != 1);
      FINE(rlcore_vecenv_step(w.vecenv, w.env.env, TAKING(action, &out)));
      for (int i = 0; i < N; i++) CHECK(w.reward[i] == (float)action[i][1]);
      FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, final_obs, NULL)));
    }
    FINE(rlcore_learner_learn(w.agent, OBSERVED(obs, NULL), 0, &w.stats));
  }
  CHECK(w.stats.num_updates == 20 && w.stats.num_episodes > 50 && w.stats.length_mean > 2 && w.stats.length_mean <= 4);
  size_t len = 0;
  FINE(rlcore_policy_export(w.agent, w.brain, sizeof w.brain, &w.policy));
  FINE(rlcore_policy_scratch_len(w.policy, N, &len));
  FINE(rlcore_policy_act(w.policy, N, ACTED(NULL, obs, NULL, action), BUFFERS(NULL, NULL, w.scratch, len), NULL, &w.rng));
}

/* Layers of the host before the learner's own, over a picture of 4 by 4 pixels with two channels. */
static void attack_layers(void) {
  start(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config *c = &w.settings;
  rlcore_layer list[] = {
    {.kind = RLCORE_LAYER_CONV, .units = 3, .size = {2, 2}, .activation = RLCORE_ACTIVATION_RELU},
    {.kind = RLCORE_LAYER_NORM, .activation = RLCORE_ACTIVATION_ELU},
    {.kind = RLCORE_LAYER_POOL, .size = {2, 2}, .stride = {1, 1}, .flags = RLCORE_LAYER_MEAN},
    {.kind = RLCORE_LAYER_DENSE, .units = 5},
  };
  const rlcore_space obs = {.kind = RLCORE_U8, .len = 32}, *action = &w.env.action;
  size_t size = 0;
  c->layers = list, c->num_layers = 4;
  c->obs_dims[0] = c->obs_dims[1] = 4, c->obs_dims[2] = 2;
#define SIZE rlcore_learner_size(c, &obs, action, &size)
  FINE(SIZE);
  WITH(c->layers, NULL, RLCORE_E_NULL, "layers", SIZE);
  WITH(c->layers, off(list, 1), RLCORE_E_ALIGN, "layers", SIZE);
  WITH(c->num_layers, 65, RLCORE_E_CONFIG, "num_layers of at most 64, given 65", SIZE);
  WITH(c->obs_dims[2], 3, RLCORE_E_CONFIG, "obs_dims of 0, or with a product of 32", SIZE);
  WITH(list[0].kind, 2, RLCORE_E_CONFIG, "layers that are not heads", SIZE);
  WITH(list[0].kind, 16, RLCORE_E_CONFIG, "a known kind in layer 1, given 16", SIZE);
  WITH(list[3].flags, 1, RLCORE_E_CONFIG, "layers that are not heads", SIZE);
  WITH(list[3].flags, RLCORE_LAYER_NORMALIZED, RLCORE_E_CONFIG, "known flags in layer 4, given 512", SIZE);
  WITH(list[1].source[0], 2, RLCORE_E_CONFIG, "a layer before it in layer 2, given 2", SIZE);
  WITH(list[0].size[0], 5, RLCORE_E_CONFIG, "windows that lie in the picture, or same of 1, in layer 1, given 5", SIZE);
  WITH(list[2].units, 1, RLCORE_E_CONFIG, "units of 0, which its kind does not read, in layer 3, given 1", SIZE);
  WITH(list[3].reserved, 1, RLCORE_E_CONFIG, "reserved of 0 in layer 4, given 1", SIZE);
  WITH(list[0].units, UINT32_MAX, RLCORE_E_OVERFLOW, "layers whose products fit", SIZE);
  CHECK(size <= sizeof w.learner);
  void *const at = w.learner;
  REFUSED(RLCORE_E_SIZE, "at least", rlcore_learner_init(at, size - 1, c, &obs, action, &w.agent));
  c->layers = at;
  memcpy(w.learner, list, sizeof list);
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_learner_init(at, size, c, &obs, action, &w.agent));
  c->layers = list;

  /* The learner learns and is copied, and its policy acts as it does. */
  FINE(rlcore_learner_init(at, size, c, &obs, action, &w.agent));
  static _Alignas(64) unsigned char other[LEARNER];
  uint8_t seen[N * 32];
  int32_t greedy[2][N];
  const rlcore_sampling best = {.method = RLCORE_SAMPLING_GREEDY};
  for (uint32_t t = 0; t < 3 * T; t++) {
    for (int i = 0; i < N * 32; i++) seen[i] = (uint8_t)(t * 37 + (uint32_t)i * 11);
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, seen, NULL, w.action)));
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, w.terminated, w.truncated, NULL, NULL)));
    if (due() == RLCORE_LEARNER_LEARN) FINE(rlcore_learner_learn(w.agent, OBSERVED(seen, NULL), 0, &w.stats));
  }
  CHECK(w.stats.num_updates == 3 && w.stats.num_dropped == 0);
  memcpy(other, at, size);
  FINE(rlcore_learner_attach(other, size, 0, NULL, NULL, &w.agent));
  FINE(rlcore_learner_predict(w.agent, ACTED(NULL, seen, NULL, greedy[0]), NULL, NULL, &best));
  FINE(rlcore_policy_size(w.agent, &size));
  CHECK(size <= sizeof w.brain);
  FINE(rlcore_policy_export(w.agent, w.brain, size, &w.policy));
  static float scratch[1 << 12];
  FINE(rlcore_policy_scratch_len(w.policy, N, &size));
  CHECK(size <= 1 << 12);
  FINE(rlcore_policy_act(w.policy, N, ACTED(NULL, seen, NULL, greedy[1]), BUFFERS(NULL, NULL, scratch, size), &best, &w.rng));
  CHECK(memcmp(greedy[0], greedy[1], sizeof greedy[0]) == 0);
}

/* A walk whose rows with a bit in `failing` fail, and which is otherwise as even as it can be. */
static uint32_t failing;
static int32_t walk_reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  (void)user, (void)rng;
  memset(state, 0, 8);
  memset(obs, 0, OBS * sizeof(float));
  *(float *)obs = (float)row;
  return 0;
}
static int32_t walk_step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  (void)user, (void)rng;
  const int32_t chosen = *(const int32_t *)action;
  *(uint64_t *)state += 1;
  ((float *)obs)[1] = (float)*(uint64_t *)state;
  out->reward = (float)chosen;
  return failing >> row & 1;
}

/* Steps in one call: as single calls, and refused before anything changes; a step that fails. */
static void attack_collect(void) {
  static unsigned char learner[LEARNER], mem[BLOCK];
  float obs[N][OBS];
  start(RLCORE_ENV_CARTPOLE);
  rlcore_rows rows = w.out;
  rows.action = w.action;
#define COLLECT(most) rlcore_collect(w.agent, w.vecenv, w.env.env, &rows, most, &w.number)
  FINE(COLLECT(3));
  CHECK(w.number == 3 && due() == RLCORE_LEARNER_ACT);
  FINE(rlcore_collect(w.agent, w.vecenv, w.env.env, &rows, 0, NULL));
  CHECK(due() == RLCORE_LEARNER_LEARN);
  FINE(COLLECT(5));
  CHECK(w.number == 0 && due() == RLCORE_LEARNER_LEARN);
  memcpy(learner, w.learner, sizeof learner), memcpy(mem, w.mem, sizeof mem), memcpy(obs, w.obs, sizeof obs);
  start(RLCORE_ENV_CARTPOLE);
  roll();
  CHECK(memcmp(learner, w.learner, sizeof learner) == 0 && memcmp(mem, w.mem, sizeof mem) == 0 && memcmp(obs, w.obs, sizeof obs) == 0);

  start(RLCORE_ENV_CARTPOLE);
  WITH(rows.final_obs, NULL, RLCORE_E_NULL, "same-step autoreset requires final_obs", COLLECT(0));
  WITH(rows.action_mask, w.mask[0], RLCORE_E_SHAPE, "only with use_action_mask", COLLECT(0));
  WITH(rows.reward, w.obs[1], RLCORE_E_OVERLAP, "", COLLECT(0));
  WITH(rows.action, w.agent, RLCORE_E_OVERLAP, "", COLLECT(0));
  REFUSED(RLCORE_E_OVERLAP, "", rlcore_collect(w.agent, w.vecenv, w.env.env, &rows, 0, (uint32_t *)(void *)w.reward));
  w.obs[2][1] = NAN;
  REFUSED(RLCORE_E_VALUE, "a finite obs", COLLECT(0));
  w.obs[2][1] = 0;
  FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, w.action)));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 has acted and was not observed", COLLECT(0));
  start(RLCORE_ENV_CARTPOLE);
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  REFUSED(RLCORE_E_NOT_READY, "environment 0 must be reset", COLLECT(0));
  w.config.num_envs = 2;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  REFUSED(RLCORE_E_SHAPE, "environments, as many as the learner has, 3, given 2", COLLECT(0));
  w.config.num_envs = N, w.config.autoreset = RLCORE_AUTORESET_NEXT_STEP;
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, w.env.env, &w.config, &w.vecenv));
  REFUSED(RLCORE_E_CONFIG, "an autoreset of 0 (same step)", COLLECT(0));

  start(RLCORE_ENV_CARTPOLE);
  const rlcore_env_def walk = {.struct_size = sizeof walk, .env_id = 1004, .state_size = 8, .obs = w.env.obs, .action = w.env.action, .reset = walk_reset, .step = walk_step};
  const rlcore_env *const walks = env_of(&walk);
  REFUSED(RLCORE_E_CONFIG, "the environment that the block was made for", rlcore_collect(w.agent, w.vecenv, walks, &rows, 0, NULL));
  FINE(rlcore_vecenv_init(w.mem, sizeof w.mem, walks, &w.config, &w.vecenv));
  FINE(rlcore_vecenv_reset(w.vecenv, walks, NULL, w.obs));
  FINE(rlcore_collect(w.agent, w.vecenv, walks, &rows, 2, &w.number));
  failing = 2, w.number = 7;
  CHECK(rlcore_collect(w.agent, w.vecenv, walks, &rows, 2, &w.number) == RLCORE_E_CALLBACK && w.number == 7);
  failing = 0;
  CHECK(w.valid[0] == 1 && w.valid[1] == 0 && w.valid[2] == 1 && w.obs[0][1] == 3 && w.obs[2][1] == 3);
  FINE(rlcore_learner_stats_read(w.agent, &w.stats));
  CHECK(w.stats.num_steps == 2 * N + 2 && due() == RLCORE_LEARNER_ACT);
  REFUSED(RLCORE_E_NOT_READY, "environment 1 must be reset", rlcore_collect(w.agent, w.vecenv, walks, &rows, 2, &w.number));
  FINE(rlcore_vecenv_reset_one(w.vecenv, walks, 1, NULL, w.obs));
  FINE(rlcore_collect(w.agent, w.vecenv, walks, &rows, 0, &w.number));
  CHECK(w.valid[1] == 1 && due() == RLCORE_LEARNER_LEARN);
}

int main(void) {
  attack_layers();
  attack_presets();
  attack_config_presets();
  attack_config();
  attack_calls();
  check_overflow();
  attack_parts();
  attack_collect();
  attack_policy();
  attack_structures();
  attack_mixed();
  attack_recurrent();
  attack_durations();
  attack_seal();
  check_resume();
  check_pictures();
  return verdict();
}
