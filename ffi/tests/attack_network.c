/* Networks of a host's own, whose losses are its own: they train, refuse what does not fit, and give learners their layers. */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 12, ROWS = 6, STEPS = 3, BLOCK = 1 << 17, TENSORS = 32 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK];
  rlcore_layer layers[8];
  uint32_t parts[6];
  rlcore_network net;
  rlcore_network_lengths len;
  rlcore_network_pass pass;
  float params[MOST], tape[MOST], scratch[1 << 15], x[MOST], out[MOST], d_out[MOST], d_params[MOST], d_input[MOST], state[MOST];
  float values[MOST];
  uint8_t bytes[MOST], starts[ROWS];
  size_t out_len, params_len, values_len;
  rlcore_rng rng;
  rlcore_tensor tensors[TENSORS];
  uint32_t count;
  rlcore_reconstruction made;
  rlcore_latent codes;
  float loss;
} w, before;

#include "attack.h"

#define LEN(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define LENGTHS rlcore_network_lengths_read(&w.net, ROWS, steps, &w.len)
#define INIT rlcore_network_init(&w.net, &w.rng, w.scratch, scratch_len, w.params, w.params_len)
#define FORWARD rlcore_network_forward(&w.net, &w.pass, w.out, w.out_len)
#define BACKWARD rlcore_network_backward(&w.net, &w.pass, w.d_out, w.out_len, d_params, d_input)

static const rlcore_layer PICTURES[] = {
    {.kind = RLCORE_LAYER_CONV, .units = 3, .size = {2, 2}, .stride = {2, 2}, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_DENSE, .units = 4, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_DENSE, .units = 12, .size = {2, 2}, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_DECONV, .units = 1, .size = {2, 2}, .stride = {2, 2}, .activation = RLCORE_ACTIVATION_IDENTITY},
};
static const rlcore_layer SEQUENCES[] = {
    {.kind = RLCORE_LAYER_DENSE, .units = 4, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_GRU, .units = 3},
};
static const rlcore_layer HEADS[] = {
    {.kind = RLCORE_LAYER_DENSE, .units = 4, .source = {RLCORE_LAYER_INPUT | 1}, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_DENSE, .units = 4, .source = {RLCORE_LAYER_INPUT | 2}, .activation = RLCORE_ACTIVATION_TANH},
    {.kind = RLCORE_LAYER_ADD, .source = {1, 2}, .activation = RLCORE_ACTIVATION_IDENTITY},
    {.kind = RLCORE_LAYER_DENSE, .units = 2, .activation = RLCORE_ACTIVATION_IDENTITY, .flags = RLCORE_LAYER_HEAD},
    {.kind = RLCORE_LAYER_DENSE, .units = 1, .source = {3}, .activation = RLCORE_ACTIVATION_IDENTITY, .flags = RLCORE_LAYER_HEAD},
};

/* A network with initial parameters, and a pass of ROWS rows. */
static void start(const rlcore_layer *layers, uint32_t num_layers, uint32_t height, uint32_t width, uint32_t channels, uint32_t steps) {
  const size_t scratch_len = LEN(w.scratch);
  memset(&w, 0, sizeof w);
  memcpy(w.layers, layers, num_layers * sizeof *layers);
  w.net = (rlcore_network){.struct_size = sizeof w.net, .num_layers = num_layers, .layers = w.layers, .input = {height, width, channels}};
  w.len.struct_size = sizeof w.len;
  FINE(rlcore_rng_seed(&w.rng, 5));
  FINE(LENGTHS);
  CHECK(w.len.params_len <= MOST && w.len.tape_len <= MOST && w.len.scratch_len <= scratch_len && ROWS * w.len.state_len <= MOST);
  CHECK(w.len.input_len == (size_t)height * width * channels);
  w.params_len = w.values_len = w.len.params_len, w.out_len = ROWS * w.len.output_len;
  FINE(INIT);
  for (int i = 0; i < MOST; i++) w.x[i] = sinf((float)i), w.bytes[i] = (uint8_t)(i * 37), w.d_out[i] = cosf((float)i);
  w.starts[3] = 1;
  w.pass = (rlcore_network_pass){.struct_size = sizeof w.pass, .num_rows = ROWS, .num_steps = steps, .input_type = RLCORE_F32,
                                 .params = w.params, .params_len = w.len.params_len, .input = w.x, .state = w.state,
                                 .starts = w.starts, .tape = w.tape, .tape_len = w.len.tape_len, .scratch = w.scratch,
                                 .scratch_len = LEN(w.scratch)};
}

static void lists(void) {
  uint32_t steps = 1;
  const size_t scratch_len = LEN(w.scratch);
  start(PICTURES, LEN(PICTURES), 4, 4, 1, 1);
  CHECK(w.len.reads_bytes == 1 && w.len.output_len == 16 && w.len.state_len == 0);
  WITH(w.net.struct_size, 4, RLCORE_E_CONFIG, "network: struct_size", LENGTHS);
  WITH(w.net.num_layers, 0, RLCORE_E_CONFIG, "network: layers, at least 1 and at most 64", LENGTHS);
  POINTER(w.net.layers, 2, "network: layers", LENGTHS);
  WITH(w.net.num_parts, 1, RLCORE_E_NULL, "network: parts", LENGTHS);
  w.net.parts = w.parts;
  WITH(w.net.num_parts, 2, RLCORE_E_CONFIG, "parts of the input with as many numbers as it has", LENGTHS);
  WITH(w.net.input[1], 0, RLCORE_E_CONFIG, "an input of at least 1", LENGTHS);
  WITH(w.layers[1].kind, 2, RLCORE_E_CONFIG, "no numbers that depend on no input", LENGTHS);
  WITH(w.layers[1].kind, 99, RLCORE_E_CONFIG, "a known kind in layer 2", LENGTHS);
  WITH(w.layers[1].flags, RLCORE_LAYER_NOISY, RLCORE_E_CONFIG, "no flag NOISY, since a pass draws no noise, in layer 2", LENGTHS);
  WITH(w.layers[1].reserved, 7, RLCORE_E_CONFIG, "reserved of 0 in layer 2", LENGTHS);
  WITH(w.layers[2].units, 13, RLCORE_E_CONFIG, "in layer 3", LENGTHS);
  WITH(w.layers[1].flags, RLCORE_LAYER_HEAD, RLCORE_E_CONFIG, "a source without a head", LENGTHS);
  WITH(steps, 4, RLCORE_E_SHAPE, "num_steps that divides the rows", LENGTHS);
  WITH(steps, 0, RLCORE_E_SHAPE, "num_steps that divides the rows", LENGTHS);
  REFUSED(RLCORE_E_SHAPE, "num_rows of at least 1", rlcore_network_lengths_read(&w.net, 0, 1, &w.len));
  WITH(w.len.struct_size, 4, RLCORE_E_CONFIG, "network lengths: struct_size", LENGTHS);
  WITH(w.params_len, w.params_len + 1, RLCORE_E_SHAPE, "params: elements, exactly", INIT);
  REFUSED(RLCORE_E_SIZE, "scratch: elements, at least", rlcore_network_init(&w.net, &w.rng, w.scratch, 3, w.params, w.params_len));
  REFUSED(RLCORE_E_NULL, "params", rlcore_network_init(&w.net, &w.rng, w.scratch, scratch_len, NULL, w.params_len));
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_network_init(&w.net, &w.rng, w.scratch, scratch_len, w.scratch, w.params_len));
}

static void passes(void) {
  float *d_params = w.d_params, *d_input = w.d_input;
  start(PICTURES, LEN(PICTURES), 4, 4, 1, 1);
  FINE(FORWARD);
  FINE(BACKWARD);
  CHECK(w.d_input[3] != 0 && w.d_params[0] != 0);
  const float once = w.d_params[1];
  FINE(BACKWARD);
  CHECK(fabsf(w.d_params[1] - 2 * once) < 1e-5F);
  WITH(w.out_len, w.out_len - 1, RLCORE_E_SHAPE, "out: elements, exactly", FORWARD);
  WITH(w.out_len, w.out_len - 1, RLCORE_E_SHAPE, "d_out: elements, exactly", BACKWARD);
  WITH(w.pass.struct_size, 4, RLCORE_E_CONFIG, "network pass: struct_size", FORWARD);
  WITH(w.pass.num_rows, 0, RLCORE_E_SHAPE, "num_rows of at least 1", FORWARD);
  WITH(w.pass.num_steps, 4, RLCORE_E_SHAPE, "num_steps that divides", BACKWARD);
  WITH(w.pass.input_type, RLCORE_I32, RLCORE_E_CONFIG, "network pass: input_type", FORWARD);
  WITH(w.pass.input_type, 9, RLCORE_E_CONFIG, "network pass: input_type", BACKWARD);
  WITH(w.pass.params_len, 1, RLCORE_E_SHAPE, "network pass: params: elements, exactly", FORWARD);
  WITH(w.pass.tape_len, 1, RLCORE_E_SHAPE, "network pass: tape: elements, exactly", FORWARD);
  WITH(w.pass.tape_len, 0, RLCORE_E_SHAPE, "network pass: tape: elements, exactly", BACKWARD);
  WITH(w.pass.scratch_len, w.len.scratch_len - 1, RLCORE_E_SIZE, "scratch: elements, at least", FORWARD);
  POINTER(w.pass.params, 2, "network pass: params", FORWARD);
  POINTER(w.pass.input, 2, "network pass: input", FORWARD);
  POINTER(w.pass.tape, 2, "network pass: tape", FORWARD);
  POINTER(w.pass.scratch, 2, "scratch", BACKWARD);
  WITH(w.pass.input, w.out, RLCORE_E_OVERLAP, "overlaps another array", FORWARD);
  WITH(w.pass.scratch, w.tape, RLCORE_E_OVERLAP, "overlaps another array", BACKWARD);
  WITH(w.params[1], NAN, RLCORE_E_VALUE, "network pass: finite params", FORWARD);
  WITH(w.x[1], INFINITY, RLCORE_E_VALUE, "network pass: finite x", FORWARD);
  WITH(w.d_out[1], NAN, RLCORE_E_VALUE, "network: finite d_out", BACKWARD);
  d_params = w.params;
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", BACKWARD);
  d_params = NULL;
  FINE(BACKWARD);
  d_params = w.d_params;
  w.pass.input = w.bytes, w.pass.input_type = RLCORE_U8;
  FINE(FORWARD);
  REFUSED(RLCORE_E_SHAPE, "d_x of an input of numbers, not of bytes", BACKWARD);
  d_input = NULL;
  FINE(BACKWARD);
  /* Without a tape the same outputs, and no way back. */
  memcpy(w.values, w.out, sizeof w.out);
  w.pass.tape = NULL, w.pass.tape_len = 0;
  FINE(FORWARD);
  CHECK(memcmp(w.values, w.out, w.out_len * sizeof(float)) == 0);
  REFUSED(RLCORE_E_SHAPE, "network pass: tape", BACKWARD);
}

static void steps(void) {
  float *d_params = w.d_params, *d_input = w.d_input;
  start(SEQUENCES, LEN(SEQUENCES), 1, 1, 3, STEPS);
  CHECK(w.len.state_len == 3 && w.len.output_len == 3);
  FINE(FORWARD);
  FINE(BACKWARD);
  WITH(w.pass.starts, NULL, RLCORE_E_NULL, "network pass: starts", FORWARD);
  WITH(w.pass.state, NULL, RLCORE_E_NULL, "network pass: state", BACKWARD);
  WITH(w.state[9], NAN, RLCORE_E_VALUE, "network pass: finite state", FORWARD);
  d_params = NULL;
  REFUSED(RLCORE_E_DISABLED, "d_params, which layers that carry a state always compute", BACKWARD);
  w.pass.tape = NULL, w.pass.tape_len = 0;
  REFUSED(RLCORE_E_SHAPE, "network pass: num_steps: 1 without a tape", FORWARD);
  w.pass.num_steps = 1;
  WITH(w.state[15], NAN, RLCORE_E_VALUE, "network pass: finite state", FORWARD);
  FINE(FORWARD);
  CHECK(w.state[0] == w.out[0] && w.state[17] == w.out[17]);
}

static void parts(void) {
  const rlcore_layer table = {.kind = RLCORE_LAYER_EMBED, .units = 4, .symbols = 3, .source = {RLCORE_LAYER_INPUT | 1}, .initializer = RLCORE_INIT_NORMAL,
                              .activation = RLCORE_ACTIVATION_IDENTITY};
  float *d_params = w.d_params, *d_input = w.d_input;
  const uint32_t steps = 1;
  start(SEQUENCES, 1, 1, 1, 5, 1);
  memcpy(w.layers, HEADS, sizeof HEADS);
  w.net.num_layers = LEN(HEADS), w.net.num_parts = 2, w.net.parts = w.parts;
  memcpy(w.parts, (const uint32_t[]){1, 1, 2, 1, 1, 3}, sizeof w.parts);
  w.layers[0] = table;
  w.parts[2] = 1, w.parts[5] = 4;
  FINE(LENGTHS);
  CHECK(w.len.output_len == 3 && w.len.input_len == 5 && w.len.reads_bytes == 0);
  w.params_len = w.pass.params_len = w.len.params_len, w.pass.tape_len = w.len.tape_len, w.out_len = ROWS * 3;
  const size_t scratch_len = LEN(w.scratch);
  FINE(INIT);
  for (int row = 0; row < ROWS; row++) w.x[row * 5] = (float)(row % 3);
  FINE(FORWARD);
  FINE(BACKWARD);
  WITH(w.x[10], 3, RLCORE_E_VALUE, "row 2 has a number that its embedding has no symbol for", FORWARD);
  WITH(w.pass.input_type, RLCORE_U8, RLCORE_E_CONFIG, "network pass: input_type", FORWARD);
}

static void tensors(void) {
  uint32_t capacity = TENSORS;
  start(PICTURES, LEN(PICTURES), 4, 4, 1, 1);
#define LIST rlcore_network_tensors(&w.net, w.tensors, capacity, &w.count)
  FINE(LIST);
  CHECK(w.count == 8 && strcmp(w.tensors[7].name, "layers.3.bias") == 0 && w.tensors[7].offset + 1 == w.len.params_len);
  WITH(capacity, 7, RLCORE_E_SIZE, "out: at least 8 entries, given 7", LIST);
  REFUSED(RLCORE_E_NULL, "out_len", rlcore_network_tensors(&w.net, w.tensors, capacity, NULL));
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_network_tensors(&w.net, w.tensors, capacity, &w.tensors[1].rank));
#define COPY rlcore_network_tensors_read(&w.net, w.params, w.params_len, w.values, w.values_len)
  FINE(COPY);
  WITH(w.params_len, 1, RLCORE_E_SHAPE, "params: elements, exactly", COPY);
  WITH(w.values_len, 1, RLCORE_E_SHAPE, "values: elements, exactly", COPY);
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_network_tensors_read(&w.net, w.params, w.params_len, w.params, w.values_len));
#define WRITE rlcore_network_tensors_write(&w.net, w.tensors, w.count, w.values, w.values_len, w.params, w.params_len)
  FINE(WRITE);
  WITH(w.params_len, 1, RLCORE_E_SHAPE, "params: elements, exactly", WRITE);
  WITH(w.values_len, w.values_len - 1, RLCORE_E_RANGE, "the numbers of entry 7 end beyond", WRITE);
  WITH(w.tensors[1].name[0], 'L', RLCORE_E_CONFIG, "entry 1 has the name of no tensor here", WRITE);
  WITH(w.tensors[2].rank, 3, RLCORE_E_SHAPE, "entry 2 has other dimensions", WRITE);
  WITH(w.values[3], NAN, RLCORE_E_VALUE, "tensors: finite numbers", WRITE);
  REFUSED(RLCORE_E_OVERLAP, "overlaps",
          rlcore_network_tensors_write(&w.net, w.tensors, w.count, w.params, w.values_len, w.params, w.params_len));

  /* A learner takes the layers that it lists too, by name. */
  static const uint32_t choices[] = {3};
  const rlcore_space obs = {.kind = RLCORE_U8, .len = 16}, action = {.kind = RLCORE_I32, .len = 1, .n = choices};
  rlcore_learner_config c;
  rlcore_learner *agent;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = 2, c.num_steps = 4, c.num_minibatches = 1, c.layers = PICTURES, c.num_layers = 2;
  c.num_hidden = 0, c.hidden_len[0] = c.hidden_len[1] = 0;
  c.obs_dims[0] = c.obs_dims[1] = 4, c.obs_dims[2] = 1;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs, &action, &agent));
  FINE(rlcore_learner_tensors_write(agent, RLCORE_TENSORS_PARAMS, w.tensors, 4, w.values, w.values_len));
  REFUSED(RLCORE_E_CONFIG, "entry 4 has the name of no tensor here",
          rlcore_learner_tensors_write(agent, RLCORE_TENSORS_PARAMS, w.tensors, 5, w.values, w.values_len));
}

static void losses(void) {
  enum { B = 2, L = 3 };
  float *const z = w.out, *const d_z = w.d_out, *const d_mean = w.d_params, *const d_log_std = w.d_input;
  memset(&w, 0, sizeof w);
  for (int i = 0; i < B * L; i++) w.x[i] = (float)i / 8, w.params[i] = -w.x[i], w.values[i] = 0.5F, w.bytes[i] = (uint8_t)(40 * i), d_z[i] = 1;
  w.made = (rlcore_reconstruction){.struct_size = sizeof w.made, .kind = RLCORE_RECONSTRUCTION_SQUARED, .num_rows = B, .row_len = L,
                                   .target_type = RLCORE_F32, .out = w.x, .target = w.params};
#define RECONSTRUCT rlcore_reconstruction_loss(&w.made, w.d_input, &w.loss)
  FINE(RECONSTRUCT);
  CHECK(fabsf(w.loss - 55.0F / 64) < 1e-6F && w.d_input[4] == 0.5F);
  WITH(w.made.struct_size, 4, RLCORE_E_CONFIG, "reconstruction: struct_size", RECONSTRUCT);
  WITH(w.made.kind, 2, RLCORE_E_CONFIG, "reconstruction: kind", RECONSTRUCT);
  WITH(w.made.kind, RLCORE_RECONSTRUCTION_BINARY, RLCORE_E_RANGE, "a target from 0 to 1", RECONSTRUCT);
  WITH(w.made.num_rows, 0, RLCORE_E_SHAPE, "num_rows of at least 1", RECONSTRUCT);
  WITH(w.made.row_len, 0, RLCORE_E_SHAPE, "row_len of at least 1", RECONSTRUCT);
  WITH(w.made.target_type, RLCORE_I32, RLCORE_E_CONFIG, "reconstruction: target_type", RECONSTRUCT);
  WITH(w.made.target_type, 9, RLCORE_E_CONFIG, "reconstruction: target_type", RECONSTRUCT);
  WITH(w.made.reserved, 1, RLCORE_E_CONFIG, "reconstruction: reserved", RECONSTRUCT);
  POINTER(w.made.out, 2, "reconstruction: out", RECONSTRUCT);
  POINTER(w.made.target, 2, "reconstruction: target", RECONSTRUCT);
  WITH(w.made.out, w.d_input, RLCORE_E_OVERLAP, "overlaps", RECONSTRUCT);
  WITH(w.x[2], NAN, RLCORE_E_VALUE, "a finite out", RECONSTRUCT);
  WITH(w.params[2], NAN, RLCORE_E_VALUE, "a finite target", RECONSTRUCT);
  REFUSED(RLCORE_E_NULL, "loss", rlcore_reconstruction_loss(&w.made, w.d_input, NULL));
  w.made.kind = RLCORE_RECONSTRUCTION_BINARY, w.made.target_type = RLCORE_U8, w.made.target = w.bytes;
  FINE(RECONSTRUCT);
  CHECK(w.loss > 0 && w.d_input[0] == 0.25F);

  w.codes = (rlcore_latent){.struct_size = sizeof w.codes, .num_rows = B, .len = L, .kl_coef = 1, .mean = w.x, .log_std = w.params, .normal = w.values};
#define SAMPLE rlcore_latent_sample(&w.codes, z)
#define LATENT rlcore_latent_loss(&w.codes, d_z, d_mean, d_log_std, &w.loss)
  FINE(SAMPLE);
  FINE(LATENT);
  CHECK(z[0] == 0.5F && d_mean[0] == 1 && d_log_std[0] == 0.5F && w.loss > 0);
  WITH(w.codes.struct_size, 4, RLCORE_E_CONFIG, "latent: struct_size", SAMPLE);
  WITH(w.codes.num_rows, 0, RLCORE_E_SHAPE, "num_rows of at least 1", SAMPLE);
  WITH(w.codes.len, 0, RLCORE_E_SHAPE, "len of at least 1", LATENT);
  WITH(w.codes.kl_coef, -1, RLCORE_E_RANGE, "kl_coef of at least 0", LATENT);
  WITH(w.codes.kl_coef, NAN, RLCORE_E_VALUE, "a finite kl_coef", SAMPLE);
  POINTER(w.codes.mean, 2, "latent: mean", SAMPLE);
  POINTER(w.codes.log_std, 2, "latent: log_std", LATENT);
  POINTER(w.codes.normal, 2, "latent: normal", SAMPLE);
  WITH(w.params[1], 41, RLCORE_E_RANGE, "a log_std from -40 to 40", SAMPLE);
  WITH(w.params[1], NAN, RLCORE_E_VALUE, "a finite log_std", LATENT);
  WITH(w.x[1], NAN, RLCORE_E_VALUE, "a finite mean", SAMPLE);
  WITH(w.values[1], NAN, RLCORE_E_VALUE, "a finite normal draw", LATENT);
  WITH(d_z[1], NAN, RLCORE_E_VALUE, "a finite d_z", LATENT);
  WITH(w.codes.mean, z, RLCORE_E_OVERLAP, "overlaps", SAMPLE);
  REFUSED(RLCORE_E_NULL, "kl", rlcore_latent_loss(&w.codes, d_z, d_mean, d_log_std, NULL));
  REFUSED(RLCORE_E_OVERLAP, "overlaps", rlcore_latent_loss(&w.codes, d_z, d_mean, d_mean, &w.loss));
}

int main(void) {
  lists();
  passes();
  steps();
  parts();
  tensors();
  losses();
  return verdict();
}
