/* A loss of your own over networks of your own: an autoencoder learns the pictures of a game by itself, without rewards.
   A convolution and a dense layer make a code of a picture, and a dense layer and a transposed convolution make the
   picture of the code; in the variational form the code is drawn from a Gaussian. The trained layers then become the
   first layers of a learner that plays the game. autoencoder [file.pgm] writes the pictures and what is made of them. */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 10, CHANNELS = 4, PIXELS = SIDE * SIDE * CHANNELS, CODE = 16, FEATURES = 64 };
enum { N = WHOLE_OR_BRIEF(32, 4), PICTURES = WHOLE_OR_BRIEF(4096, 128), TESTS = WHOLE_OR_BRIEF(256, 32), BATCH = WHOLE_OR_BRIEF(64, 16), STEPS = WHOLE_OR_BRIEF(400, 3), SHOWN = 8 };
enum { ROLLOUTS = WHOLE_OR_BRIEF(25, 1), MAX_PARAMS = 200000, MAX_TAPE = 400000, MAX_SCRATCH = 1 << 20 };

/* The encoder's outputs are the means of a code and the logarithms of its deviations; the decoder's are logits. */
static const rlcore_layer encoding[] = {
    {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU},
    {.kind = RLCORE_LAYER_DENSE, .units = FEATURES, .activation = RLCORE_ACTIVATION_RELU},
    {.kind = RLCORE_LAYER_DENSE, .units = CODE, .activation = RLCORE_ACTIVATION_IDENTITY, .flags = RLCORE_LAYER_HEAD},
    {.kind = RLCORE_LAYER_DENSE, .units = CODE, .source = {2}, .activation = RLCORE_ACTIVATION_IDENTITY,
     .flags = RLCORE_LAYER_HEAD, .gain = 0.1F},
};
static const rlcore_layer decoding[] = {
    {.kind = RLCORE_LAYER_DENSE, .units = 8 * 8 * 16, .size = {8, 8}, .activation = RLCORE_ACTIVATION_RELU},
    {.kind = RLCORE_LAYER_DECONV, .units = CHANNELS, .size = {3, 3}, .activation = RLCORE_ACTIVATION_IDENTITY},
};
enum { LISTED = 2 }; /* the encoder's layers that a learner lists too */
static const rlcore_network encoder = {
    .struct_size = sizeof encoder, .num_layers = 4, .layers = encoding, .input = {SIDE, SIDE, CHANNELS}};
static const rlcore_network decoder = {.struct_size = sizeof decoder, .num_layers = 2, .layers = decoding, .input = {1, 1, CODE}};

static uint8_t pictures[PICTURES + TESTS][PIXELS];
static float params[MAX_PARAMS], grads[MAX_PARAMS], first[MAX_PARAMS], second[MAX_PARAMS];
static float scratch[MAX_SCRATCH];

/* A network's place among all parameters, and its activations of a batch. */
typedef struct half {
  const rlcore_network *net;
  rlcore_network_lengths len;
  size_t begin;
  float tape[MAX_TAPE];
} half;
static half encodes = {.net = &encoder}, decodes = {.net = &decoder};

static size_t place(half *h, size_t begin, rlcore_rng *rng) {
  h->len.struct_size = sizeof h->len;
  h->begin = begin;
  CHECK(rlcore_network_lengths_read(h->net, BATCH, 1, &h->len));
  if (begin + h->len.params_len > MAX_PARAMS || h->len.tape_len > MAX_TAPE || h->len.scratch_len > MAX_SCRATCH) host_fail("too large");
  CHECK(rlcore_network_init(h->net, rng, scratch, MAX_SCRATCH, params + begin, h->len.params_len));
  return begin + h->len.params_len;
}

static rlcore_network_pass pass_of(half *h, const void *input, uint32_t type) {
  return (rlcore_network_pass){.struct_size = sizeof(rlcore_network_pass), .num_rows = BATCH, .num_steps = 1,
                               .input_type = type, .params = params + h->begin, .params_len = h->len.params_len,
                               .input = input, .tape = h->tape, .tape_len = h->len.tape_len,
                               .scratch = scratch, .scratch_len = MAX_SCRATCH};
}

/* The loss of a batch and, if wanted, its gradients: codes, their pictures, and all the way back. */
static float losses(const uint8_t batch[BATCH][PIXELS], bool variational, rlcore_rng *rng, float out[BATCH][PIXELS]) {
  static float code[2][BATCH][CODE], d_code[2][BATCH][CODE], z[BATCH][CODE], d_z[BATCH][CODE], d_out[BATCH][PIXELS];
  static float draws[BATCH][CODE];
  float loss, kl;
  const rlcore_network_pass in = pass_of(&encodes, batch, RLCORE_U8);
  CHECK(rlcore_network_forward(&encoder, &in, &code[0][0][0], 2 * BATCH * CODE));
  rlcore_latent latent = {.struct_size = sizeof latent, .num_rows = BATCH, .len = CODE, .kl_coef = 0.1F,
                          .mean = code[0][0], .log_std = code[1][0], .normal = draws[0]};
  const bool draw = variational && rng;
  if (draw) {
    CHECK(rlcore_rng_normal(rng, draws[0], BATCH * CODE));
    CHECK(rlcore_latent_sample(&latent, z[0]));
  } else {
    memcpy(z, code[0], sizeof z);
  }
  const rlcore_network_pass back = pass_of(&decodes, z, RLCORE_F32);
  CHECK(rlcore_network_forward(&decoder, &back, out[0], BATCH * PIXELS));
  const rlcore_reconstruction made = {.struct_size = sizeof made, .kind = RLCORE_RECONSTRUCTION_BINARY, .num_rows = BATCH,
                                      .row_len = PIXELS, .target_type = RLCORE_U8, .out = out[0], .target = batch};
  CHECK(rlcore_reconstruction_loss(&made, d_out[0], &loss));
  if (!rng) return loss;

  memset(grads, 0, sizeof grads);
  CHECK(rlcore_network_backward(&decoder, &back, d_out[0], BATCH * PIXELS, grads + decodes.begin, d_z[0]));
  if (draw) {
    CHECK(rlcore_latent_loss(&latent, d_z[0], d_code[0][0], d_code[1][0], &kl));
  } else {
    memcpy(d_code[0], d_z, sizeof d_z);
    memset(d_code[1], 0, sizeof d_code[1]);
  }
  CHECK(rlcore_network_backward(&encoder, &in, d_code[0][0], 2 * BATCH * CODE, grads + encodes.begin, NULL));
  return loss;
}

/* Pictures that were not trained on. */
static float test(float out[BATCH][PIXELS]) {
  float sum = 0;
  for (int at = TESTS - BATCH; at >= 0; at -= BATCH)
    sum += losses((const uint8_t(*)[PIXELS])(pictures + PICTURES + at), false, NULL, out);
  return sum / (TESTS / BATCH);
}

static float train(bool variational, float out[BATCH][PIXELS]) {
  static uint8_t batch[BATCH][PIXELS];
  rlcore_rng rng;
  rlcore_optimizer_config adam;
  uint64_t steps;
  CHECK(rlcore_rng_seed(&rng, 1));
  const size_t all = place(&decodes, place(&encodes, 0, &rng), &rng);
  CHECK(rlcore_optimizer_config_init(&adam, sizeof adam, RLCORE_OPTIMIZER_ADAM));
  const rlcore_optimizer_state state = {.struct_size = sizeof state, .num_params = (uint32_t)all, .first = first,
                                        .second = second, .num_steps = &steps};
  CHECK(rlcore_optimizer_start(&adam, &state));
  const float before = test(out);
  for (int step = 0; step < STEPS; step++) {
    int64_t drawn[BATCH];
    CHECK(rlcore_rng_integers(&rng, 0, PICTURES, drawn, BATCH));
    for (int i = 0; i < BATCH; i++) memcpy(batch[i], pictures[drawn[i]], PIXELS);
    losses((const uint8_t(*)[PIXELS])batch, variational, &rng, out);
    CHECK(rlcore_optimizer_step(&adam, 2e-3F, &state, params, grads, NULL));
  }
  const float after = test(out);
  printf("%-11s %zu parameters, loss of a new picture: %6.2f before, %5.2f after %d steps\n", variational ? "variational" : "plain",
         all, (double)before, (double)after, STEPS);
  return after / before;
}

/* Row by row: pictures, and under each the one that was made of its code; channels are shades. */
static void draw(const char *path, float out[BATCH][PIXELS]) {
  enum { WIDE = SHOWN * (SIDE + 1), HIGH = 2 * (SIDE + 1) };
  static uint8_t image[32 + WIDE * HIGH];
  static const int shade[CHANNELS] = {255, 200, 90, 140};
  const int head = sprintf((char *)image, "P5\n%d %d\n255\n", WIDE, HIGH);
  for (int k = 0; k < SHOWN; k++)
    for (int at = 0; at < SIDE * SIDE; at++)
      for (int c = 0; c < CHANNELS; c++) {
        uint8_t *const pixel = image + head + at / SIDE * WIDE + k * (SIDE + 1) + at % SIDE;
        if (pictures[PICTURES + k][at * CHANNELS + c]) pixel[0] = (uint8_t)shade[c];
        if (out[k][at * CHANNELS + c] > 0) pixel[(SIDE + 1) * WIDE] = (uint8_t)shade[c];
      }
  host_write(path, image, (size_t)head + WIDE * HIGH);
}

/* Plays with a learner whose first layers are those of the encoder, by their names, and returns its return at the end. */
static float play(const host_env *game) {
  enum { MAX_TENSORS = 32 };
  static uint8_t obs[N][PIXELS], final_obs[N][PIXELS], terminated[N], truncated[N];
  static float reward[N], values[MAX_PARAMS], held[MAX_PARAMS];
  static int32_t action[N];
  static rlcore_tensor tensors[MAX_TENSORS], own[MAX_TENSORS];
  rlcore_learner_config config;
  rlcore_learner *agent;
  rlcore_vecenv_config many;
  rlcore_vecenv *games;
  size_t size, params_len;
  uint32_t count, num_own, written = 0, due;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.layers = encoding, config.num_layers = LISTED;
  config.obs_dims[0] = config.obs_dims[1] = SIDE, config.obs_dims[2] = CHANNELS;
  config.num_envs = N, config.num_steps = 64, config.num_hidden = 1, config.hidden_len[0] = 64, config.hidden_len[1] = 0;
  config.learning_rate = 1e-3F;
  CHECK(rlcore_learner_size(&config, &game->obs, &game->action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &game->obs, &game->action, &agent));

  CHECK(rlcore_network_tensors(&encoder, tensors, MAX_TENSORS, &count));
  CHECK(rlcore_network_tensors_read(&encoder, params, encodes.len.params_len, values, encodes.len.params_len));
  while (written < count && tensors[written].layer < LISTED) written++;
  CHECK(rlcore_learner_tensors_write(agent, RLCORE_TENSORS_PARAMS, tensors, written, values, encodes.len.params_len));
  CHECK(rlcore_learner_params_len(agent, &params_len));
  CHECK(rlcore_learner_tensors(agent, own, MAX_TENSORS, &num_own));
  CHECK(rlcore_learner_tensors_read(agent, RLCORE_TENSORS_PARAMS, held, params_len));
  for (uint32_t i = 0; i < written; i++) {
    size_t len = 1;
    for (uint32_t d = 0; d < 4; d++) len *= tensors[i].dims[d];
    if (strcmp(own[i].name, tensors[i].name) != 0 || memcmp(held + own[i].offset, values + tensors[i].offset, len * 4) != 0)
      host_fail("%s is not the encoder's", own[i].name);
  }
  printf("the learner took %u tensors of the encoder, from %s to %s\n", (unsigned)written, tensors[0].name,
         tensors[written - 1].name);

  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_size(game->env, &many, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, game->env, &many, &games));
  CHECK(rlcore_vecenv_reset(games, game->env, NULL, obs));
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  for (int rollout = 0; rollout < ROLLOUTS;) {
    CHECK(rlcore_learner_act(agent, &rows));
    CHECK(rlcore_vecenv_step(games, game->env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    CHECK(rlcore_learner_phase(agent, &due));
    if (due == RLCORE_LEARNER_LEARN) {
      CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
      rollout++;
    }
  }
  return stats.return_mean;
}

/* Pictures of games that are played at random. */
static void watch(const host_env *game) {
  static uint8_t obs[N][PIXELS], final_obs[N][PIXELS], terminated[N], truncated[N];
  float reward[N];
  int32_t action[N];
  int64_t drawn[N];
  rlcore_vecenv_config many;
  rlcore_vecenv *games;
  rlcore_rng rng;
  size_t size;
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  CHECK(rlcore_rng_seed(&rng, 3));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_size(game->env, &many, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, game->env, &many, &games));
  CHECK(rlcore_vecenv_reset(games, game->env, NULL, obs));
  for (int at = 0; at < PICTURES + TESTS; at += N) {
    memcpy(pictures + at, obs, sizeof obs);
    CHECK(rlcore_rng_integers(&rng, 0, game->action.n[0], drawn, N));
    for (int i = 0; i < N; i++) action[i] = (int32_t)drawn[i];
    CHECK(rlcore_vecenv_step(games, game->env, &rows));
  }
}

int main(int argc, char **argv) {
  static float out[BATCH][PIXELS];
  const rlcore_env_def def = {.struct_size = sizeof def, .env_id = RLCORE_ENV_BREAKOUT};
  const host_env game = host_compile(&def);
  watch(&game);
  const float variational = train(true, out), plain = train(false, out);
  if (argc > 1) draw(argv[1], out);
  printf("return after %d rollouts: %.2f\n", ROLLOUTS, (double)play(&game));
  if (WHOLE_OR_BRIEF(1, 0) && (plain > 0.02F || variational > 0.05F)) host_fail("it has not learned the pictures");
  puts("ok: learned pictures by a loss of its own, and took the layers into a learner");
}
