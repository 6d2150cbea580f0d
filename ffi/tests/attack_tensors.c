/* What learners and policies hold by name: PyTorch's networks are written into learners, which then compute what PyTorch
   computed; and every call refuses what does not fit. */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 17, MOST = 64, VALUES = 1 << 12 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK], brain[BLOCK];
  rlcore_learner *agent;
  rlcore_policy *policy;
  rlcore_tensor tensors[MOST];
  rlcore_layer layers[MOST];
  float values[VALUES];
  double mean[MOST], variance[MOST];
  uint32_t len;
  rlcore_policy_info info;
  rlcore_learner_config config;
  rlcore_onnx_options options;
  char prefix[5000];
  size_t size;
  unsigned char file[1 << 14];
} w, before;

#include "attack.h"
#include "../golden/torch_networks.h"

#define LEN(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* A learner with these layers and no hidden ones, of one environment. */
static void start(const rlcore_layer *layers, uint32_t num_layers, const uint32_t dims[3], uint32_t obs_len, uint32_t sequence_len) {
  static const uint32_t choices[] = {TORCH_ACTIONS};
  const rlcore_space obs = {.kind = RLCORE_F32, .len = obs_len}, action = {.kind = RLCORE_I32, .len = 1, .n = choices};
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = 1, c.num_steps = 2 * TORCH_STEPS, c.num_minibatches = 1, c.num_hidden = 0;
  c.hidden_len[0] = c.hidden_len[1] = 0;
  c.layers = layers, c.num_layers = num_layers, c.sequence_len = sequence_len;
  if (dims) memcpy(c.obs_dims, dims, sizeof c.obs_dims);
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs, &action, &w.agent));
}

static void same(double got, double wanted, const char *what) {
  if (fabs(got - wanted) < 1e-5) return;
  printf("%s: %.9g, PyTorch has %.9g\n", what, got, wanted);
  failures++;
}

/* Log-probabilities and values of all steps of an episode are PyTorch's. */
static void compare(const char *what, const float *obs, uint32_t obs_len, const float *log_prob, const float *value) {
  static const uint8_t no[1];
  static const float reward[1];
  for (uint32_t step = 0; step < TORCH_STEPS; step++) {
    float own, entropy;
    int32_t action;
    FINE(rlcore_learner_value(w.agent, OBSERVED(obs + step * obs_len, NULL), &own));
    same((double)own, (double)value[step], what);
    for (action = 0; action < TORCH_ACTIONS; action++) {
      FINE(rlcore_learner_log_prob(w.agent, ACTED(NULL, obs + step * obs_len, NULL, &action), &own, &entropy));
      same((double)own, (double)log_prob[step * TORCH_ACTIONS + (uint32_t)action], what);
    }
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, obs + step * obs_len, NULL, &action)));
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, reward, no, no, NULL, NULL)));
  }
}

#define TORCH(name, layers, dims, sequence_len) \
  do { \
    const uint32_t obs_len_ = LEN(name##_obs) / TORCH_STEPS; \
    start(layers, LEN(layers), dims, obs_len_, sequence_len); \
    FINE(rlcore_learner_tensors(w.agent, w.tensors, MOST, &w.len)); \
    CHECK(w.len == LEN(name##_tensors)); \
    FINE(rlcore_learner_tensors_write(w.agent, RLCORE_TENSORS_PARAMS, name##_tensors, LEN(name##_tensors), name##_values, \
                                      LEN(name##_values))); \
    compare(#name, name##_obs, obs_len_, name##_log_prob, name##_value); \
  } while (0)

static void networks_of_torch(void) {
  static const uint32_t large[] = {5, 4, 2}, small[] = {3, 3, 2};
  static const rlcore_layer conv[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 3, .size = {3, 2}, .stride = {1, 2}, .activation = RLCORE_ACTIVATION_RELU},
      {.kind = RLCORE_LAYER_DENSE, .units = 20, .activation = RLCORE_ACTIVATION_TANH},
  };
  static const rlcore_layer depthwise[] = {
      {.kind = RLCORE_LAYER_DEPTHWISE, .units = 4, .size = {2, 2}, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_NORM, .activation = RLCORE_ACTIVATION_IDENTITY},
      {.kind = RLCORE_LAYER_DENSE, .units = 6, .activation = RLCORE_ACTIVATION_RELU},
  };
  static const rlcore_layer lstm[] = {{.kind = RLCORE_LAYER_LSTM, .units = 5}}, gru[] = {{.kind = RLCORE_LAYER_GRU, .units = 5}};
  static const rlcore_layer attention[] = {{.kind = RLCORE_LAYER_ATTENTION, .units = 6, .heads = 2, .window = TORCH_STEPS}};
  TORCH(conv, conv, large, 0);
  TORCH(depthwise, depthwise, small, 0);
  TORCH(lstm, lstm, NULL, 4);
  TORCH(gru, gru, NULL, 4);
  TORCH(attention, attention, NULL, 4);
}

/* More characters than a text may have. */
static const char *long_name(void) {
  static char name[5000];
  memset(name, '*', sizeof name - 1);
  return name;
}

static void attacks_on_learners(void) {
  static const rlcore_layer layers[] = {{.kind = RLCORE_LAYER_GRU, .units = 5}};
  size_t params_len, values_len;
  uint32_t of = RLCORE_TENSORS_PARAMS, capacity = MOST, network = 0, num_listed = 0;
  start(layers, 1, NULL, 6, 4);
  FINE(rlcore_learner_params_len(w.agent, &params_len));
  values_len = params_len;
#define TENSORS rlcore_learner_tensors(w.agent, w.tensors, capacity, &w.len)
  FINE(TENSORS);
  CHECK(w.len == LEN(gru_tensors) && strcmp(w.tensors[0].name, "layers.0.weight_ih") == 0 && w.tensors[0].dims[0] == 15);
  CHECK(w.tensors[w.len - 1].offset + 1 == params_len);
  WITH(capacity, w.len - 1, RLCORE_E_SIZE, "out: at least 8 entries, given 7", TENSORS);
  FINE(rlcore_learner_tensors(w.agent, NULL, 0, &w.len));
  REFUSED(RLCORE_E_NULL, "out_len", rlcore_learner_tensors(w.agent, w.tensors, capacity, NULL));
  REFUSED(RLCORE_E_NULL, "out", rlcore_learner_tensors(w.agent, NULL, capacity, &w.len));
  REFUSED(RLCORE_E_OVERLAP, "out_len", rlcore_learner_tensors(w.agent, w.tensors, capacity, &w.tensors[1].rank));
#define READ rlcore_learner_tensors_read(w.agent, of, w.values, values_len)
  FINE(READ);
  WITH(of, 4, RLCORE_E_CONFIG, "of: a known rlcore_tensors, given 4", READ);
  WITH(of, RLCORE_TENSORS_TARGETS, RLCORE_E_DISABLED, "numbers of this kind", READ);
  WITH(values_len, params_len - 1, RLCORE_E_SHAPE, "values: elements, exactly", READ);
#define WRITE rlcore_learner_tensors_write(w.agent, of, w.tensors, w.len, w.values, values_len)
  FINE(WRITE);
  WITH(of, 4, RLCORE_E_CONFIG, "of: a known rlcore_tensors, given 4", WRITE);
  WITH(of, RLCORE_TENSORS_TARGETS, RLCORE_E_DISABLED, "numbers of this kind", WRITE);
  WITH(values_len, params_len - 1, RLCORE_E_RANGE, "the numbers of entry 7 end beyond those that are there", WRITE);
  WITH(w.tensors[1].name[0], 'L', RLCORE_E_CONFIG, "entry 1 has the name of no tensor here", WRITE);
  WITH(w.tensors[2].dims[0], 14, RLCORE_E_SHAPE, "entry 2 has other dimensions", WRITE);
  WITH(w.tensors[2].rank, 2, RLCORE_E_SHAPE, "entry 2 has other dimensions", WRITE);
  WITH(w.values[3], 1.5e6F, RLCORE_E_VALUE, "parameters from -1e6 to 1e6", WRITE);
  WITH(w.values[3], NAN, RLCORE_E_VALUE, "parameters from -1e6 to 1e6", WRITE);
  of = RLCORE_TENSORS_SECOND_MOMENTS;
  FINE(READ);
  WITH(w.values[3], -1, RLCORE_E_VALUE, "second ones of at least 0", WRITE);
  const char *names = "layers.0.weight_*";
  uint32_t trainable = 0;
#define FREEZE rlcore_learner_set_trainable(w.agent, names, trainable, &w.len)
  FINE(FREEZE);
  CHECK(w.len == 2);
  FINE(TENSORS);
  CHECK(w.tensors[0].frozen == 1 && w.tensors[1].frozen == 1 && w.tensors[2].frozen == 0);
  WITH(names, NULL, RLCORE_E_NULL, "names", FREEZE);
  WITH(names, "layers.0", RLCORE_E_CONFIG, "a pattern that the name of a tensor fits", FREEZE);
  WITH(names, "", RLCORE_E_CONFIG, "a pattern that the name of a tensor fits", FREEZE);
  WITH(names, long_name(), RLCORE_E_RANGE, "names: a text that ends with NUL", FREEZE);
  WITH(trainable, 2, RLCORE_E_RANGE, "trainable: 0 or 1, given 2", FREEZE);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_set_trainable(NULL, names, trainable, NULL));
  REFUSED(RLCORE_E_IMAGE, "block", rlcore_learner_set_trainable((rlcore_learner *)w.brain, names, trainable, NULL));
  REFUSED(RLCORE_E_ALIGN, "out_num_tensors", rlcore_learner_set_trainable(w.agent, names, trainable, (uint32_t *)((char *)&w.len + 1)));
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_learner_set_trainable(w.agent, names, trainable, (uint32_t *)w.agent));
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_learner_set_trainable(w.agent, (const char *)w.agent, trainable, NULL));
  names = "*", trainable = 1;
  FINE(FREEZE);
  CHECK(w.len == LEN(gru_tensors));
#define LAYERS rlcore_learner_layers(w.agent, network, w.layers, capacity, &w.len)
  FINE(LAYERS);
  CHECK(w.len == 3 && w.layers[0].kind == RLCORE_LAYER_GRU && w.layers[1].flags == RLCORE_LAYER_HEAD && w.layers[2].units == 1);
  WITH(network, 2, RLCORE_E_RANGE, "network: 0 or 1, given 2", LAYERS);
  WITH(capacity, 2, RLCORE_E_SIZE, "out: at least 3 entries, given 2", LAYERS);
  network = 1;
  FINE(LAYERS);
  CHECK(w.len == 0);
  FINE(rlcore_learner_config_read(w.agent, &w.config, sizeof w.config, &num_listed));
  CHECK(num_listed == 1 && w.config.num_layers == 0 && w.config.layers == NULL && w.config.num_steps == 2 * TORCH_STEPS);
  FINE(rlcore_learner_config_read(w.agent, &w.config, sizeof w.config, NULL));
  REFUSED(RLCORE_E_SIZE, "learner config: its size", rlcore_learner_config_read(w.agent, &w.config, 8, NULL));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array",
          rlcore_learner_config_read(w.agent, &w.config, sizeof w.config, &w.config.num_envs));
}

static void attacks_on_policies(void) {
  static const uint32_t choices[] = {TORCH_ACTIONS};
  const rlcore_space obs = {.kind = RLCORE_F32, .len = 4}, action = {.kind = RLCORE_I32, .len = 1, .n = choices};
  uint32_t capacity = MOST;
  size_t size, len = 4, values_len = 0;
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PQN));
  c.num_envs = 1, c.num_minibatches = 1, c.normalize_obs = 1, c.hidden_len[0] = c.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs, &action, &w.agent));
  FINE(rlcore_policy_size(w.agent, &size));
  FINE(rlcore_policy_export(w.agent, w.brain, BLOCK, &w.policy));
#define HELD rlcore_policy_tensors(w.policy, w.tensors, capacity, &w.len)
  FINE(HELD);
  for (uint32_t i = 0; i < w.len; i++)
    values_len += (size_t)w.tensors[i].dims[0] * w.tensors[i].dims[1] * w.tensors[i].dims[2] * w.tensors[i].dims[3];
  CHECK(strcmp(w.tensors[w.len - 1].name, "q.head.bias") == 0);
  WITH(capacity, 1, RLCORE_E_SIZE, "out: at least 10 entries, given 1", HELD);
#define COPY rlcore_policy_tensors_read(w.policy, w.values, values_len)
  FINE(COPY);
  WITH(values_len, values_len + 1, RLCORE_E_SHAPE, "values: elements, exactly", COPY);
  FINE(rlcore_policy_layers(w.policy, w.layers, capacity, &w.len));
  REFUSED(RLCORE_E_SIZE, "out: at least", rlcore_policy_layers(w.policy, w.layers, 1, &w.len));
  w.info.struct_size = sizeof w.info;
  FINE(rlcore_policy_info_read(w.policy, &w.info));
  CHECK(w.info.is_q == 1 && w.info.num_choices == TORCH_ACTIONS && w.info.num_means == 0 && w.info.normalize_obs == 1);
  CHECK(w.info.num_layers == w.len && w.info.seen_len == 4 && w.info.obs_clip == c.obs_clip && w.info.num_atoms == 0);
  WITH(w.info.struct_size, 4, RLCORE_E_CONFIG, "policy info: struct_size", rlcore_policy_info_read(w.policy, &w.info));
#define MOMENTS rlcore_policy_moments_read(w.policy, w.mean, w.variance, len)
  FINE(MOMENTS);
  CHECK(w.mean[0] == 0 && w.variance[3] == 1);
  WITH(len, 3, RLCORE_E_SHAPE, "mean: elements, exactly 4, given 3", MOMENTS);
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_moments_read(w.policy, w.mean, w.mean, len));
}

/* The policy of attacks_on_policies as a file of ONNX, and one without choices. */
static void attacks_on_onnx(void) {
  const rlcore_space obs = {.kind = RLCORE_F32, .len = 4}, action = {.kind = RLCORE_F32, .len = 2};
  rlcore_onnx_options *const options = &w.options;
  size_t size = 0, again;
  FINE(rlcore_policy_onnx_size(w.policy, NULL, &w.size));
  *options = (rlcore_onnx_options){.struct_size = sizeof *options};
  FINE(rlcore_policy_onnx_size(w.policy, options, &size));
  CHECK(w.size == size && size < sizeof w.file);
  options->action_mask = 1, options->names = RLCORE_ONNX_ML_AGENTS;
#define ONNX_SIZE rlcore_policy_onnx_size(w.policy, options, &w.size)
  FINE(ONNX_SIZE);
  CHECK(w.size > size && w.size < sizeof w.file);
  size = w.size;
  WITH(options->struct_size, 8, RLCORE_E_CONFIG, "onnx options: struct_size", ONNX_SIZE);
  WITH(options->names, 2, RLCORE_E_CONFIG, "onnx options: names, an rlcore_onnx_names, given 2", ONNX_SIZE);
  WITH(options->action_mask, 2, RLCORE_E_CONFIG, "onnx options: action_mask", ONNX_SIZE);
  WITH(options->reserved, 1, RLCORE_E_CONFIG, "onnx options: reserved", ONNX_SIZE);
  REFUSED(RLCORE_E_NULL, "policy", rlcore_policy_onnx_size(NULL, options, &w.size));
  REFUSED(RLCORE_E_NULL, "out_size", rlcore_policy_onnx_size(w.policy, options, NULL));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_onnx_size(w.policy, options, (size_t *)(void *)w.brain));
#define ONNX rlcore_policy_onnx_write(w.policy, options, w.file, size)
  WITH(size, size - 1, RLCORE_E_SHAPE, "bytes: elements, exactly", ONNX);
  WITH(size, size + 1, RLCORE_E_SHAPE, "bytes: elements, exactly", ONNX);
  WITH(options->names, 2, RLCORE_E_CONFIG, "onnx options: names", ONNX);
  REFUSED(RLCORE_E_NULL, "policy", rlcore_policy_onnx_write(NULL, options, w.file, size));
  REFUSED(RLCORE_E_NULL, "bytes", rlcore_policy_onnx_write(w.policy, options, NULL, size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_onnx_write(w.policy, options, w.brain, size));
  w.file[size] = 0x5a;
  FINE(ONNX);
  CHECK(w.file[0] == 8 && w.file[1] == 7 && w.file[size] == 0x5a);
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = 1, c.num_minibatches = 1, c.hidden_len[0] = c.hidden_len[1] = 8;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs, &action, &w.agent));
  FINE(rlcore_policy_export(w.agent, w.brain, BLOCK, &w.policy));
  REFUSED(RLCORE_E_CONFIG, "onnx: action_mask of 0 for actions without choices", ONNX_SIZE);
  REFUSED(RLCORE_E_CONFIG, "onnx: action_mask of 0 for actions without choices", ONNX);
  options->action_mask = 0;
  FINE(rlcore_policy_onnx_size(w.policy, options, &again));
  FINE(rlcore_policy_onnx_write(w.policy, options, w.file, again));
}

/* The policy of attacks_on_onnx as a file of C. */
static void attacks_on_c(void) {
  const char *const wrong[] = {"", "9", "_a", "a b", "a-b", "\xc3\xa4", "\xff", "a234567890123456789012345678901x"};
  size_t size = 0;
  strcpy(w.prefix, "fly");
#define C_SIZE rlcore_policy_c_size(w.policy, w.prefix, &w.size)
  FINE(C_SIZE);
  size = w.size;
  CHECK(size > 1000 && size < sizeof w.file);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    REFUSED(RLCORE_E_CONFIG, "C source: a prefix", rlcore_policy_c_size(w.policy, wrong[i], &w.size));
    REFUSED(RLCORE_E_CONFIG, "C source: a prefix", rlcore_policy_c_write(w.policy, wrong[i], w.file, size));
  }
  memset(w.prefix, 'a', sizeof w.prefix);
  REFUSED(RLCORE_E_RANGE, "prefix: a text that ends with NUL", C_SIZE);
  strcpy(w.prefix, "fly");
  REFUSED(RLCORE_E_NULL, "policy", rlcore_policy_c_size(NULL, w.prefix, &w.size));
  REFUSED(RLCORE_E_NULL, "out_size", rlcore_policy_c_size(w.policy, w.prefix, NULL));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_c_size(w.policy, w.prefix, (size_t *)(void *)w.brain));
#define C_SOURCE rlcore_policy_c_write(w.policy, w.prefix, w.file, size)
  WITH(size, size - 1, RLCORE_E_SHAPE, "bytes: elements, exactly", C_SOURCE);
  WITH(size, size + 1, RLCORE_E_SHAPE, "bytes: elements, exactly", C_SOURCE);
  REFUSED(RLCORE_E_NULL, "policy", rlcore_policy_c_write(NULL, w.prefix, w.file, size));
  REFUSED(RLCORE_E_NULL, "bytes", rlcore_policy_c_write(w.policy, w.prefix, NULL, size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_c_write(w.policy, w.prefix, w.brain, size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_policy_c_write(w.policy, w.prefix, (uint8_t *)w.prefix, size));
  w.file[size] = 0x5a;
  FINE(C_SOURCE);
  CHECK(memcmp(w.file, "/* ", 3) == 0 && w.file[size - 1] == '\n' && w.file[size] == 0x5a);
  FINE(rlcore_policy_c_size(w.policy, NULL, &w.size));
  CHECK(w.size > size);
}

int main(void) {
  networks_of_torch();
  attacks_on_learners();
  attacks_on_policies();
  attacks_on_onnx();
  attacks_on_c();
  return verdict();
}
