/* Learners of all algorithms over networks whose numbers grow: squares, products, sums and joins of layers, pictures, recurrent
   layers; with observations and rewards from the ends of their ranges. */
#ifndef RLCORE_FUZZ_NETWORKS_H
#define RLCORE_FUZZ_NETWORKS_H

#include "ends.h"

enum { WIDE = 4, MOST_PARAMS = 4096, MOST_GRADS = 2 * MOST_PARAMS };

static struct {
  rlcore_learner *p;
  rlcore_learner_config c;
  rlcore_space obs, action;
  uint32_t obs_n[2], action_n[2], num_choices;
  rlcore_layer layers[6];
  size_t params_len, grads_len, state_len, scratch_size;
  int is_off_policy;
} net;

static const rlcore_field NET_FIELDS[2] = {{.name = "what", .kind = RLCORE_I32, .rank = 1, .dims = {1}},
                                           {.name = "where", .kind = RLCORE_F32, .rank = 1, .dims = {2}, .offset = 4}};

/* The inputs of calls. */
static struct {
  _Alignas(8) unsigned char obs[N * 16], action[N * 16];
  float reward[N];
  uint8_t mask[N * 8], terminated[N], truncated[N], active[N];
} world;

static void net_obs(unsigned char *to) {
  for (uint32_t row = 0; row < N; row++) {
    unsigned char *own = to + row * 16;
    float numbers[WIDE];
    reals(numbers, WIDE);
    const int32_t what[2] = {(int32_t)(byte() % 3), (int32_t)(byte() % 2)};
    if (net.obs.kind == RLCORE_U8) for (int i = 0; i < WIDE; i++) own[i] = (unsigned char)byte();
    else if (net.obs.kind == RLCORE_I32) memcpy(own, what, sizeof what);
    else if (net.obs.kind == RLCORE_STRUCT) memcpy(own, what, 4), memcpy(own + 4, numbers, 8);
    else memcpy(own, numbers, sizeof numbers);
  }
  /* Moves the rows together, without gaps. */
  const size_t size = net.obs.len * (net.obs.kind == RLCORE_F32 || net.obs.kind == RLCORE_I32 ? 4 : 1);
  for (uint32_t row = 1; row < N; row++) memmove(to + row * size, to + row * 16, size);
}

static void net_step(void) {
  net_obs(world.obs);
  reals(world.reward, N);
  flags(world.terminated, N), flags(world.truncated, N), flags(world.mask, sizeof world.mask), flags(world.active, N);
  for (uint32_t row = 0; row < N; row++) world.mask[row * net.num_choices] = world.mask[(row + 1) * net.num_choices - 1] = 1;
  for (uint32_t i = 0; i < N * net.action.len; i++) {
    const int32_t choice = (int32_t)(byte() & 1);
    float number = real();
    if (byte() & 1) number = number < -1 ? -1 : number > 1 ? 1 : number;
    memcpy(world.action + 4 * i, net.action.kind == RLCORE_I32 ? (void *)&choice : (void *)&number, 4);
  }
}

static const uint8_t *net_mask(void) { return net.c.use_action_mask ? world.mask : NULL; }
static const uint8_t *net_active(unsigned how) { return how & 1 ? world.active : NULL; }

/* A list of layers, in most cases one that the learner accepts. */
static void net_layers(void) {
  static const uint32_t CELLS[] = {RLCORE_LAYER_LSTM, RLCORE_LAYER_GRU, RLCORE_LAYER_MINGRU, RLCORE_LAYER_ATTENTION};
  const unsigned how = byte();
  const uint32_t most = how % 5;
  int remembers = 0;
  uint32_t n = 0;
  memset(net.layers, 0, sizeof net.layers);
  while (n < most) {
    rlcore_layer l = {.activation = byte() % 3};
    const unsigned which = byte(), other = byte();
    switch (which % 12) {
      case 0: case 1: case 2: case 3:
        l.kind = RLCORE_LAYER_MULTIPLY;
        l.source[0] = l.source[1] = n == 0 ? RLCORE_LAYER_INPUT : n;
        if (other > 200) l.source[1] = RLCORE_LAYER_INPUT;
        if (other < 200) l.activation = RLCORE_ACTIVATION_IDENTITY;
        break;
      case 4: l.kind = RLCORE_LAYER_ADD, l.source[1] = n > 1 ? n - 1 : RLCORE_LAYER_INPUT; break;
      case 5: l.kind = RLCORE_LAYER_JOIN, l.source[1] = RLCORE_LAYER_INPUT; break;
      case 6:
        l.kind = other & 2 ? RLCORE_LAYER_DEPTHWISE : RLCORE_LAYER_CONV;
        l.units = 2, l.size[0] = l.size[1] = 1 + other % 2;
        break;
      case 7: l.kind = RLCORE_LAYER_NORM; break;
      case 8:
        l.kind = CELLS[other % 4], l.units = 2, l.activation = 0, remembers = 1;
        if (l.kind == RLCORE_LAYER_ATTENTION) l.heads = 1, l.window = 2;
        break;
      case 9: l.kind = RLCORE_LAYER_POOL, l.size[0] = l.size[1] = 1, l.activation = RLCORE_ACTIVATION_IDENTITY; break;
      default: l.kind = RLCORE_LAYER_DENSE, l.units = 1 + other % 4, l.gain = other & 64 ? 1000 : 0, l.flags = other & 128 ? RLCORE_LAYER_NO_BIAS : 0;
    }
    net.layers[n++] = l;
  }
  net.c.num_layers = n, net.c.layers = net.layers;
  if (remembers) net.c.sequence_len = net.is_off_policy ? net.c.batch_size / net.c.num_chunks : net.c.num_steps;
  if (remembers && net.is_off_policy) net.c.burn_in = how >> 6;
}

static void net_config(void) {
  rlcore_learner_config *c = &net.c;
  const unsigned algorithm = byte() % 10, how = byte(), more_of_it = byte(), last = byte();
  const int streams = algorithm >= RLCORE_ALGORITHM_STREAM_AC;
  memset(&net, 0, sizeof net);
  FINE(rlcore_learner_config_init(c, sizeof *c, algorithm));
  net.is_off_policy = algorithm == RLCORE_ALGORITHM_DQN || algorithm == RLCORE_ALGORITHM_TD3 || algorithm == RLCORE_ALGORITHM_SAC;
  c->num_envs = streams ? 1 : N, c->num_hidden = how & 1, c->hidden_len[0] = 2 * c->num_hidden;
  c->hidden_len[1] = c->hidden_len[2] = c->hidden_len[3] = 0;
  c->hidden_norm = (how >> 1 & 3) == 3, c->seed = how;
  if (!net.is_off_policy && !streams) c->num_steps = 1 + (how >> 3 & 3), c->num_minibatches = c->num_epochs = 1;
  c->max_grad_norm = how & 32 ? 0 : c->max_grad_norm;
  if (how & 64) c->reward_min = -1, c->reward_max = 1;
  c->learning_rate = between(c->learning_rate, 0, 1), c->discount = between(c->discount, 0, 1), c->clip = between(c->clip, FLT_MIN, 10);
  static const uint32_t KINDS_SEEN[8] = {RLCORE_F32, RLCORE_F32, RLCORE_F32, RLCORE_F32, RLCORE_U8, RLCORE_U8, RLCORE_I32, RLCORE_STRUCT};
  net.obs_n[0] = 3, net.obs_n[1] = 2, net.action_n[0] = 2, net.action_n[1] = 2;
  net.obs = (rlcore_space){.kind = KINDS_SEEN[more_of_it & 7], .len = WIDE};
  if (net.obs.kind == RLCORE_I32) net.obs.len = 2, net.obs.n = net.obs_n;
  if (net.obs.kind == RLCORE_STRUCT) net.obs.len = 12, net.obs.n = net.obs_n, c->obs_fields = NET_FIELDS, c->num_obs_fields = 2;
  const int pictures = (net.obs.kind == RLCORE_F32 || net.obs.kind == RLCORE_U8) && more_of_it & 8;
  if (pictures) c->obs_dims[0] = c->obs_dims[1] = 2, c->obs_dims[2] = 1;
  const int choose = algorithm == RLCORE_ALGORITHM_DQN || algorithm == RLCORE_ALGORITHM_PQN || algorithm == RLCORE_ALGORITHM_STREAM_Q ||
                     (algorithm != RLCORE_ALGORITHM_TD3 && more_of_it & 16);
  net.action = (rlcore_space){.kind = choose ? RLCORE_I32 : RLCORE_F32, .len = 1 + (more_of_it >> 5 & 1), .n = choose ? net.action_n : NULL};
  static const float LOW[2] = {-1, -FLT_MAX}, HIGH[2] = {1, FLT_MAX};
  if (!choose && (more_of_it & 64 || algorithm == RLCORE_ALGORITHM_TD3 || algorithm == RLCORE_ALGORITHM_SAC)) net.action.low = LOW, net.action.high = HIGH;
  net.num_choices = choose ? 2 * net.action.len : 1;
  c->use_action_mask = choose && more_of_it & 128;
  if (!net.is_off_policy) c->normalize_obs = last & 1, c->normalize_reward = last >> 1 & 1;
  c->obs_clip = between(10, FLT_MIN, FLT_MAX), c->reward_clip = between(10, FLT_MIN, FLT_MAX);
  if (net.is_off_policy) {
    c->buffer_size = 6, c->batch_size = 2, c->learning_starts = 2, c->n_step = 1 + (last & 1), c->num_chunks = 1 + (last >> 1 & 1);
    c->huber = last >> 2 & 1, c->exploration_steps = 4, c->train_interval = 1;
    c->normalize_obs = how >> 7, c->normalize_reward = how >> 4 & 1;
    if (algorithm == RLCORE_ALGORITHM_DQN) {
      c->priority_exponent = last & 8 ? 1 : 0, c->dueling = last >> 4 & 1;
      if ((last >> 5) == 7) c->num_quantiles = 2;
      if ((last >> 5) == 6) c->num_atoms = 3;
    } else if (!choose && last & 64) {
      c->num_quantiles = algorithm == RLCORE_ALGORITHM_SAC ? 2 : 0;
    }
  } else if (!streams) {
    c->overlap = last >> 2 & 1, c->num_chunks = 1 + (last >> 3 & 1);
    if (algorithm == RLCORE_ALGORITHM_PPO) c->prime_interval = last >> 4 & 1;
  }
  if (algorithm == RLCORE_ALGORITHM_IMPALA) c->normalize_advantage = 0;
  const int has_tasks = last & 128 && (algorithm == RLCORE_ALGORITHM_PPO || algorithm == RLCORE_ALGORITHM_IMPALA);
  if (has_tasks) c->pixel_control_coef = c->reward_class_coef = c->value_replay_coef = 1;
  if (has_tasks || algorithm == RLCORE_ALGORITHM_UNREAL) {
    c->history_len = 2 * c->num_steps + 2;
    if (!(pictures && choose && net.action.len == 1)) c->pixel_control_coef = 0;
    if (last & 32) c->value_replay_coef = 0, c->policy_replay_coef = 1;
    if (last & 64) c->reward_class_coef = 0;
    if (c->pixel_control_coef > 0) c->pixel_cell = 1;
    if (c->reward_class_coef > 0) c->reward_sequence_len = 1 + (last >> 4 & 1);
  }
  net_layers();
}

/* Other parameters: those that the learner returns, with numbers from the ends of their range. */
static void net_params(void) {
  static float params[MOST_PARAMS];
  FINE(rlcore_learner_params_read(net.p, params, net.params_len));
  const float by = real();
  for (size_t i = 0; i < net.params_len; i++) {
    const float x = byte() & 1 ? params[i] : by;
    params[i] = x < -1e6f ? -1e6f : x > 1e6f ? 1e6f : x;
  }
  double moments[256];
  size_t moments_len, i = 0;
  FINE(rlcore_learner_moments_len(net.p, &moments_len));
  if (moments_len > sizeof moments / sizeof *moments) return;
  FINE(rlcore_learner_moments_read(net.p, moments, moments_len));
  for (; moments_len > 0 && byte() & 1; i = (i + 7) % moments_len) moments[i] = (double)by;
  TRY(rlcore_learner_params_write(net.p, params, net.params_len, moments, moments_len));
}

static void net_policy(void) {
  rlcore_policy *policy;
  size_t size, len;
  FINE(TRY(rlcore_policy_size(net.p, &size)));
  if (size > BLOCK_SIZE) return;
  num_blocks = 1;
  FINE(TRY(rlcore_policy_export(net.p, now.block[1], size, &policy)));
  blocks[1].kind = POLICY, blocks[1].size = size, num_blocks = 2;
  FINE(TRY(rlcore_policy_scratch_len(policy, N, &len)));
  if (len > ROOM || net.state_len > 0) return;
  TRY(rlcore_policy_act_greedy(policy, N, ACTED(NULL, world.obs, NULL, OUT(2)), BUFFERS(NULL, NULL, scratch, len)));
  num_blocks = 1;
}

static void net_learn(unsigned how) {
  static float grads[MOST_GRADS];
  static _Alignas(64) unsigned char own[1 << 16];
  rlcore_learner_stats *stats = OUT(1);
  stats->struct_size = sizeof *stats;
  if (how & 1 || net.scratch_size > sizeof own) {
    TRY_WRITING(ON_VALUE, rlcore_learner_learn(net.p, OBSERVED(world.obs, NULL), how >> 2 & 3, stats));
    return;
  }
  if (TRY_WRITING(ON_VALUE, rlcore_learner_learn_begin(net.p, OBSERVED(world.obs, NULL), stats)) != RLCORE_OK) return;
  for (uint32_t left = 1; left > 0; left = stats->minibatches_left) {
    for (uint32_t chunk = 0; chunk < net.c.num_chunks; chunk++) {
      if (rlcore_learner_learn_range(net.p, chunk, chunk + 1, own, sizeof own, grads, net.grads_len) != RLCORE_OK) memset(grads, 0, sizeof grads);
      if (how & 2) grads[0] = real();
      TRY(rlcore_learner_grads_write(net.p, chunk, chunk + 1, grads, net.grads_len));
      if (how & 4) TRY(rlcore_learner_grads_add(net.p, chunk, chunk + 1, grads, net.grads_len));
    }
    if (TRY_WRITING(ON_VALUE, rlcore_learner_learn_apply(net.p, stats)) != RLCORE_OK) return;
  }
}

static void net_advance(unsigned how) {
  uint32_t due;
  FINE(rlcore_learner_phase(net.p, &due));
  if (due == RLCORE_LEARNER_LEARN) net_learn(how);
  else if (due == RLCORE_LEARNER_OBSERVE)
    TRY(rlcore_learner_observe(net.p, STEPPED(NULL, world.reward, world.terminated, world.truncated, world.obs, NULL)));
  else if (how & 64 && net.is_off_policy) TRY(rlcore_learner_demonstrate(net.p, ACTED(NULL, world.obs, net_mask(), world.action)));
  else TRY(rlcore_learner_act(net.p, ACTED(NULL, world.obs, net_mask(), OUT(0))));
}

static void learner_of_any_network(void) {
  size_t size;
  net_config();
  const int32_t status = rlcore_learner_size(&net.c, &net.obs, &net.action, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return;
  FINE(rlcore_learner_init(now.block[0], size, &net.c, &net.obs, &net.action, &net.p));
  blocks[0].kind = LEARNER, blocks[0].size = size, num_blocks = 1;
  FINE(rlcore_learner_params_len(net.p, &net.params_len));
  FINE(rlcore_learner_state_len(net.p, &net.state_len));
  FINE(rlcore_learner_grads_len(net.p, &net.grads_len));
  FINE(rlcore_learner_scratch_size(net.p, &net.scratch_size));
  if (net.params_len > MOST_PARAMS || net.grads_len > MOST_GRADS || net.state_len > 64) return;
  float *const value = OUT(3);
  for (int calls = 0; more(calls); calls++) {
    const unsigned how = byte();
    if (how & 128 || calls == 0) net_step();
    switch (how % 16) {
      case 0: FINE(TRY(rlcore_learner_freeze(net.p, how >> 5 & 1))); break;
      case 1: TRY(rlcore_learner_cut(net.p, world.active)); break;
      case 2:
        if (TRY(rlcore_learner_value(net.p, OBSERVED(world.obs, NULL), value)) == RLCORE_OK) within(value, net.c.num_envs, -FLT_MAX, FLT_MAX);
        break;
      case 3: TRY(rlcore_learner_log_prob(net.p, ACTED(NULL, world.obs, net_mask(), world.action), value, value + N)); break;
      case 4: net_params(); break;
      case 5: net_policy(); break;
      case 6: TRY(rlcore_learner_learn_drop(net.p)); break;
      case 7: TRY(rlcore_learner_act(net.p, ACTED(net_active(how >> 4), world.obs, net_mask(), OUT(0)))); break;
      case 8: TRY(rlcore_learner_observe(net.p, STEPPED(net_active(how >> 4), world.reward, world.terminated, world.truncated, world.obs, NULL))); break;
      case 9: /* many steps with the same data */
        for (unsigned n = byte() & 31; n > 0; n--) net_advance(how >> 4);
        break;
      default:
        for (unsigned n = 1 + (how >> 5 & 3); n > 0; n--) {
          net_step();
          net_advance(how >> 3);
        }
    }
  }
}

#endif
