/* Policies of every kind of network, as blocks, and as files of ONNX for ../onnx/check.py or of C for ../policy-c/check.c: `cases
   <folder> onnx|c`. Networks known by name, heads and spaces of every kind, and random graphs, which are drawn until the library
   accepts them. */
#include <rlcore.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPHS = 50, MOST = 64 };

static void check(rlcore_status status, const char *call) {
  char text[400];
  if (status == RLCORE_OK) return;
  rlcore_last_error(text, sizeof text);
  fprintf(stderr, "%s: %s\n", call, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

static const char *folder;
static FILE *list;
static int writes_c;
static rlcore_rng rng;

static int64_t draw(int64_t low, int64_t high) {
  int64_t x;
  CHECK(rlcore_rng_integers(&rng, low, high, &x, 1));
  return x;
}

static void save(const char *name, const char *end, const void *bytes, size_t size) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) perror(path), exit(1);
}

static void save_onnx(const char *name, const char *end, const rlcore_policy *policy, const rlcore_onnx_options *options) {
  size_t size;
  CHECK(rlcore_policy_onnx_size(policy, options, &size));
  uint8_t *bytes = malloc(size);
  CHECK(rlcore_policy_onnx_write(policy, options, bytes, size));
  save(name, end, bytes, size);
  free(bytes);
}

/* The policy as a file of C whose names begin with its own, and its row in the list of such files: fields of observations, if it
   has any. */
static void save_c(const char *prefix, const rlcore_policy *policy, const rlcore_learner_config *config, int symbols) {
  size_t size;
  CHECK(rlcore_policy_c_size(policy, prefix, &size));
  uint8_t *bytes = malloc(size);
  CHECK(rlcore_policy_c_write(policy, prefix, bytes, size));
  save(prefix, "h", bytes, size);
  free(bytes);
  fprintf(list, "CASE(%s, %d, %u", prefix, symbols, config->num_obs_fields);
  for (uint32_t i = 0; i < config->num_obs_fields; i++) {
    const rlcore_field *field = config->obs_fields + i;
    uint32_t len = 1;
    for (uint32_t k = 0; k < field->rank; k++) len *= field->dims[k];
    fprintf(list, ", {%u, %u, %u}", field->kind, len, field->offset);
  }
  fprintf(list, ")\n");
}

/* Parameters and moments that no layer starts with. */
static void disturb(rlcore_learner *agent) {
  size_t params_len, moments_len;
  CHECK(rlcore_learner_params_len(agent, &params_len));
  CHECK(rlcore_learner_moments_len(agent, &moments_len));
  float *params = malloc(params_len * sizeof *params), *noise = malloc(params_len * sizeof *noise);
  double *moments = malloc((moments_len + 1) * sizeof *moments), *spread = malloc((moments_len + 1) * sizeof *spread);
  CHECK(rlcore_learner_params_read(agent, params, params_len));
  CHECK(rlcore_rng_normal(&rng, noise, params_len));
  for (size_t i = 0; i < params_len; i++) params[i] += 0.05F * noise[i];
  if (moments_len > 0) {
    CHECK(rlcore_learner_moments_read(agent, moments, moments_len));
    CHECK(rlcore_rng_uniform(&rng, 0.25, 2, spread, moments_len));
    for (size_t i = 3; i < moments_len; i++) moments[i] = spread[i];
  }
  CHECK(rlcore_learner_params_write(agent, params, params_len, moments_len > 0 ? moments : NULL, moments_len));
  free(params), free(noise), free(moments), free(spread);
}

/* Writes the policy of a learner of these spaces; symbols: bytes of observations are below it, or 0. Returns 0 if refused. */
static int make(const char *name, rlcore_learner_config *config, const rlcore_space *obs, const rlcore_space *action,
                int symbols, int must) {
  size_t size;
  if (rlcore_learner_size(config, obs, action, &size) != RLCORE_OK) {
    config->sequence_len = config->sequence_len > 0 ? 0 : 2;
    const rlcore_status status = rlcore_learner_size(config, obs, action, &size);
    if (must) check(status, name);
    if (status != RLCORE_OK) return 0;
  }
  void *mem = malloc(size);
  rlcore_learner *agent;
  CHECK(rlcore_learner_init(mem, size, config, obs, action, &agent));
  disturb(agent);
  CHECK(rlcore_policy_size(agent, &size));
  void *block = malloc(size);
  rlcore_policy *policy;
  CHECK(rlcore_policy_export(agent, block, size, &policy));
  if (writes_c) {
    char prefix[40];
    snprintf(prefix, sizeof prefix, "%s", name);
    for (char *p = prefix; *p; p++) *p = *p == '-' ? '_' : *p;
    save(prefix, "policy", block, size);
    save_c(prefix, policy, config, symbols);
    free(block), free(mem);
    return 1;
  }
  save(name, "policy", block, size);
  rlcore_onnx_options options = {.struct_size = sizeof options, .names = RLCORE_ONNX_OWN};
  save_onnx(name, "onnx", policy, NULL);
  options.action_mask = action->n != NULL;
  save_onnx(name, "masked.onnx", policy, &options);
  options.names = RLCORE_ONNX_ML_AGENTS;
  save_onnx(name, "agents.onnx", policy, &options);
  fprintf(list, "%s %d\n", name, symbols);
  free(block), free(mem);
  return 1;
}

static rlcore_learner_config plain(uint32_t algorithm) {
  rlcore_learner_config config;
  CHECK(rlcore_learner_config_init(&config, sizeof config, algorithm));
  config.seed = 3, config.num_envs = 2;
  if (algorithm == RLCORE_ALGORITHM_DQN || algorithm == RLCORE_ALGORITHM_TD3 || algorithm == RLCORE_ALGORITHM_SAC)
    config.buffer_size = 256, config.batch_size = 16;
  else if (algorithm == RLCORE_ALGORITHM_STREAM_AC || algorithm == RLCORE_ALGORITHM_STREAM_Q)
    config.num_envs = 1;
  else
    config.num_steps = 4, config.num_minibatches = 1;
  return config;
}

static const uint32_t THREE[] = {3}, BRANCHES[] = {3, 2, 4}, SEEN[] = {4, 3, 5, 5};
static const float LOW[] = {-2, -1, -3e38F}, HIGH[] = {0.5F, 3, 3e38F};

static void nets(void) {
  static const rlcore_field ACTIONS[] = {{.name = "state", .kind = RLCORE_F32, .rank = 1, .dims = {5}},
                                         {.name = "last", .kind = RLCORE_I32, .rank = 1, .dims = {1}, .offset = 20}};
  static const rlcore_field WORDS[] = {{.name = "grid", .kind = RLCORE_U8, .rank = 3, .dims = {7, 7, 3}},
                                       {.name = "words", .kind = RLCORE_U8, .rank = 1, .dims = {4}, .offset = 147}};
  static const uint32_t SIDES[12] = {0, 0, 84, 84, 42, 10, 0, 7, 0, 0, 0, 0}, DEEP[12] = {0, 0, 4, 4, 1, 4, 0, 3, 0, 0, 0, 0};
  for (uint32_t net = RLCORE_NET_FC; net <= RLCORE_NET_LSTM_FILM; net++) {
    rlcore_layer layers[MOST];
    rlcore_learner_config config = plain(RLCORE_ALGORITHM_PPO);
    CHECK(rlcore_net_preset(net, layers, MOST, &config.num_layers));
    config.layers = layers, config.num_hidden = 0;
    memset(config.hidden_len, 0, sizeof config.hidden_len);
    const uint32_t side = SIDES[net], deep = DEEP[net];
    rlcore_space obs = {.kind = RLCORE_F32, .len = 6}, action = {.kind = RLCORE_I32, .len = 1, .n = THREE};
    if (side > 0) {
      obs = (rlcore_space){.kind = RLCORE_U8, .len = side * side * deep};
      config.obs_dims[0] = config.obs_dims[1] = side, config.obs_dims[2] = deep;
    }
    if (net == RLCORE_NET_TRANSFORMER_ACTIONS) {
      obs = (rlcore_space){.kind = RLCORE_STRUCT, .len = 24, .n = SEEN};
      config.obs_fields = ACTIONS, config.num_obs_fields = 2, config.policy_layer = 18;
    }
    if (net == RLCORE_NET_LSTM_FILM) {
      obs = (rlcore_space){.kind = RLCORE_U8, .len = 151};
      config.obs_fields = WORDS, config.num_obs_fields = 2;
    }
    char name[40];
    snprintf(name, sizeof name, "net-%u", net);
    make(name, &config, &obs, &action, side == 7 || net == RLCORE_NET_LSTM_FILM ? 11 : 0, 1);
  }
}

/* Heads and spaces. */
static void heads(void) {
  const rlcore_space obs = {.kind = RLCORE_F32, .len = 5}, choose = {.kind = RLCORE_I32, .len = 3, .n = BRANCHES};
  const rlcore_space move = {.kind = RLCORE_F32, .len = 3, .low = LOW, .high = HIGH}, open = {.kind = RLCORE_F32, .len = 2};
  static const struct {
    const char *name;
    uint32_t algorithm;
  } LEARNERS[] = {{"ppo", RLCORE_ALGORITHM_PPO}, {"dqn", RLCORE_ALGORITHM_DQN},       {"pqn", RLCORE_ALGORITHM_PQN},
                  {"td3", RLCORE_ALGORITHM_TD3}, {"sac", RLCORE_ALGORITHM_SAC},       {"stream-ac", RLCORE_ALGORITHM_STREAM_AC},
                  {"a2c", RLCORE_ALGORITHM_A2C}, {"stream-q", RLCORE_ALGORITHM_STREAM_Q}};
  for (size_t i = 0; i < sizeof LEARNERS / sizeof *LEARNERS; i++) {
    const uint32_t algorithm = LEARNERS[i].algorithm;
    for (int form = 0; form < 8; form++) {
      rlcore_learner_config config = plain(algorithm);
      char name[40];
      snprintf(name, sizeof name, "%s-%d", LEARNERS[i].name, form);
      config.hidden_len[0] = 16 + 3 * (uint32_t)form, config.hidden_len[1] = 12;
      config.normalize_obs = form % 2;
      config.activation = (uint32_t)form % 7;
      config.hidden_norm = form == 3;
      if (algorithm == RLCORE_ALGORITHM_PPO) config.squash = form == 5, config.noisy = form == 2;
      if (algorithm == RLCORE_ALGORITHM_DQN) {
        config.num_quantiles = form == 1 ? 10 : 0, config.num_atoms = form == 2 || form == 3 ? 21 : 0, config.noisy = form == 0;
        if (config.num_atoms > 0) config.value_min = -7, config.value_max = 12;
      }
      make(name, &config, &obs, form < 4 ? &choose : form < 6 ? &move : &open, 0, 0);
    }
  }
  /* Structures: a picture whose channels come first, numbers, choices with different counts, an info that networks do not
     read; an action with both kinds. */
  static const rlcore_field PARTS[] = {
      {.name = "camera", .kind = RLCORE_U8, .rank = 3, .dims = {3, 6, 5}, .flags = RLCORE_FIELD_CHANNELS_FIRST},
      {.name = "map", .kind = RLCORE_U8, .rank = 2, .dims = {5, 6}, .offset = 90},
      {.name = "speed", .kind = RLCORE_F32, .rank = 1, .dims = {3}, .offset = 120},
      {.name = "items", .kind = RLCORE_I32, .rank = 1, .dims = {2}, .offset = 132},
      {.name = "tiles", .kind = RLCORE_I32, .rank = 1, .dims = {2}, .offset = 140},
  };
  static const rlcore_field TAKEN[] = {{.name = "weapon", .kind = RLCORE_I32, .rank = 1, .dims = {3}},
                                       {.name = "aim", .kind = RLCORE_F32, .rank = 1, .dims = {3}, .offset = 12}};
  const rlcore_space seen = {.kind = RLCORE_STRUCT, .len = 148, .n = SEEN};
  const rlcore_space shot = {.kind = RLCORE_STRUCT, .len = 24, .low = LOW, .high = HIGH, .n = BRANCHES};
  for (int form = 0; form < 4; form++) {
    rlcore_learner_config config = plain(RLCORE_ALGORITHM_PPO);
    rlcore_layer layers[] = {
        {.kind = RLCORE_LAYER_CONV, .units = 6, .source = {RLCORE_LAYER_INPUT | 1}, .size = {3, 3}, .same = 1, .activation = 3},
        {.kind = RLCORE_LAYER_DENSE, .units = 9, .source = {RLCORE_LAYER_INPUT | 3}, .activation = 0},
        {.kind = RLCORE_LAYER_JOIN, .source = {1, 2}},
        {.kind = RLCORE_LAYER_JOIN, .source = {3, RLCORE_LAYER_INPUT | 4}},
        {.kind = RLCORE_LAYER_JOIN, .source = {RLCORE_LAYER_INPUT | 2, 4}},
        {.kind = RLCORE_LAYER_GRU, .units = 11},
    };
    config.obs_fields = PARTS, config.num_obs_fields = 5, config.action_fields = TAKEN, config.num_action_fields = 2;
    config.normalize_obs = form % 2, config.squash = form == 3;
    if (form < 2) config.layers = layers, config.num_layers = 6;
    char name[40];
    snprintf(name, sizeof name, "struct-%d", form);
    make(name, &config, &seen, &shot, 0, 1);
  }
}

static uint32_t one_of(const uint32_t *from, size_t len) { return from[draw(0, (int64_t)len)]; }

static rlcore_layer random_layer(uint32_t number, int pictures) {
  static const uint32_t ROWS[] = {1, 1, 5, 6, 7, 8, 10, 12, 13, 14}, PICTURES[] = {3, 3, 4, 5, 9, 12, 13, 14, 15, 1};
  rlcore_layer layer = {.kind = pictures ? one_of(PICTURES, 10) : one_of(ROWS, 10)};
  const uint32_t kind = layer.kind;
  const int windows = kind == RLCORE_LAYER_CONV || kind == RLCORE_LAYER_DEPTHWISE || kind == RLCORE_LAYER_DECONV || kind == RLCORE_LAYER_POOL;
  const int merges = kind == RLCORE_LAYER_ADD || kind == RLCORE_LAYER_MULTIPLY || kind == RLCORE_LAYER_JOIN;
  const int carries = kind == RLCORE_LAYER_LSTM || kind == RLCORE_LAYER_GRU || kind == RLCORE_LAYER_MINGRU || kind == RLCORE_LAYER_ATTENTION;
  if (kind != RLCORE_LAYER_POOL && kind != RLCORE_LAYER_NORM && !merges) layer.units = 4 * (uint32_t)draw(1, 6);
  if (windows) {
    for (int i = 0; i < 2; i++) layer.size[i] = (uint32_t)draw(1, 5), layer.stride[i] = (uint32_t)draw(0, 4);
    layer.same = (uint32_t)draw(0, 2);
  }
  if (kind == RLCORE_LAYER_ATTENTION) layer.heads = (uint32_t)draw(1, 3) * 2, layer.window = (uint32_t)draw(1, 6);
  if (!carries) layer.activation = (uint32_t)draw(0, 7);
  if (kind == RLCORE_LAYER_POOL && draw(0, 2)) layer.flags = RLCORE_LAYER_MEAN;
  if (kind == RLCORE_LAYER_LSTM && draw(0, 2)) layer.flags = RLCORE_LAYER_NORMALIZED;
  if (kind == RLCORE_LAYER_NORM)
    layer.flags = (draw(0, 2) ? RLCORE_LAYER_WHOLE : 0u) | (draw(0, 2) ? RLCORE_LAYER_RMS : 0u) | (draw(0, 3) ? 0u : RLCORE_LAYER_NO_SCALE);
  if (kind == RLCORE_LAYER_DENSE && pictures && draw(0, 2)) layer.size[0] = 2, layer.size[1] = 2;
  if ((kind == RLCORE_LAYER_CONV || kind == RLCORE_LAYER_DENSE) && draw(0, 4) == 0) layer.flags = RLCORE_LAYER_NO_BIAS;
  if (number > 1 && (merges || draw(0, 4) == 0)) layer.source[0] = (uint32_t)draw(1, number);
  if (merges) layer.source[1] = (uint32_t)draw(1, number + 1) - 1;
  return layer;
}

static void graphs(void) {
  int made = 0;
  while (made < GRAPHS) {
    const int pictures = made % 2;
    rlcore_layer layers[10];
    rlcore_learner_config config = plain(RLCORE_ALGORITHM_PPO);
    config.num_layers = (uint32_t)draw(3, 9);
    for (uint32_t i = 0; i < config.num_layers; i++) layers[i] = random_layer(i + 1, pictures && i < 6);
    config.layers = layers, config.num_hidden = 1, config.hidden_len[0] = 16;
    memset(config.hidden_len + 1, 0, sizeof config.hidden_len - sizeof *config.hidden_len);
    rlcore_space obs = {.kind = RLCORE_F32, .len = (uint32_t)draw(2, 13)}, action = {.kind = RLCORE_I32, .len = 3, .n = BRANCHES};
    const rlcore_space move = {.kind = RLCORE_F32, .len = 3, .low = LOW, .high = HIGH};
    if (pictures) {
      for (int i = 0; i < 3; i++) config.obs_dims[i] = (uint32_t)draw(i == 2 ? 1 : 4, i == 2 ? 5 : 13);
      obs = (rlcore_space){.kind = draw(0, 2) ? RLCORE_U8 : RLCORE_F32, .len = config.obs_dims[0] * config.obs_dims[1] * config.obs_dims[2]};
    }
    config.normalize_obs = (uint32_t)draw(0, 2);
    char name[40];
    snprintf(name, sizeof name, "graph-%02d", made);
    made += make(name, &config, &obs, made % 3 ? &action : &move, 0, 0);
  }
}

int main(int argc, char **argv) {
  if (argc != 3 || (strcmp(argv[2], "onnx") && strcmp(argv[2], "c"))) return 2;
  folder = argv[1], writes_c = argv[2][0] == 'c';
  char path[400];
  snprintf(path, sizeof path, "%s/cases.txt", folder);
  list = fopen(path, "w");
  if (!list) return perror(path), 1;
  CHECK(rlcore_rng_seed(&rng, 7));
  nets();
  heads();
  graphs();
  return fclose(list) != 0;
}
