/* Learners that are shown what to do. A script that balances a pole is cloned into PPO, which then goes on by itself; SAC
   learns from the script's steps with and without imitating them, and from some that are kept; a teacher of 256 and 256 units is
   distilled into a GRU of 16, which acts while the teacher says what it would have done (DAgger); and a policy from elsewhere
   becomes the beginning of a learner on a device. */
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 8, OBS = 4, LONGEST = 400, ROWS = 8000, BATCH = 256, EPISODES = WHOLE_OR_BRIEF(40, 2), WINDOW = 16 };
enum { CLONES = WHOLE_OR_BRIEF(1500, 3), UPDATES = WHOLE_OR_BRIEF(20, 1), ROUNDS = WHOLE_OR_BRIEF(300, 2) };
enum { SHOWN = WHOLE_OR_BRIEF(8000, 400) / N, FIRST = SHOWN / 4 };

/* ---- A pole on a cart that a force from -1 to 1 pushes. Only + - * /, so that every machine has the same bits. */

typedef struct pole { float x, v, angle, spin; } pole;

static void see(const pole *s, float *obs) { obs[0] = s->x, obs[1] = s->v, obs[2] = s->angle * 5, obs[3] = s->spin; }

static int32_t reset(void *user, uint32_t row, void *memory, rlcore_rng *rng, void *obs) {
  pole *const s = memory;
  double u[4];
  (void)user, (void)row;
  if (rlcore_rng_uniform(rng, -0.1, 0.1, u, 4) != RLCORE_OK) return 1;
  *s = (pole){(float)u[0], (float)u[1], (float)u[2], (float)u[3]};
  see(s, obs);
  return 0;
}

static int32_t step(void *user, uint32_t row, void *memory, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  pole *const s = memory;
  double push;
  (void)user, (void)row;
  if (rlcore_rng_uniform(rng, -2, 2, &push, 1) != RLCORE_OK) return 1;
  const float force = 10 * *(const float *)action + (float)push, square = s->angle * s->angle;
  const float sine = s->angle * (1 - square / 6), cosine = 1 - square / 2;
  const float pressed = (force + 0.05F * s->spin * s->spin * sine) / 1.1F;
  const float turn = (9.8F * sine - cosine * pressed) / (0.5F * (4 / 3.0F - 0.1F * cosine * cosine / 1.1F));
  const float pull = pressed - 0.05F * turn * cosine / 1.1F;
  s->x += 0.02F * s->v, s->v += 0.02F * pull;
  s->angle += 0.02F * s->spin, s->spin += 0.02F * turn;
  *out = (rlcore_step){.reward = 1, .terminated = fabsf(s->angle) > 0.21F || fabsf(s->x) > 2.4F};
  see(s, obs);
  return 0;
}

/* The script: leans the pole back to the middle. */
static float scripted(const float *obs) {
  const float force = 0.6F * obs[0] + 0.7F * obs[1] + 1.2F * obs[2] + 1.2F * obs[3];
  return force < -1 ? -1 : force > 1 ? 1 : force;
}

/* ---- Playing */

static float obs[N * OBS], final_obs[N * OBS], number[N], reward[N];
static int32_t choice[N];
static uint8_t terminated[N], truncated[N];
static rlcore_rng rng;
static host_env world;
static rlcore_vecenv *envs;
static rlcore_rows rows;

/* The environment and its rows, from the start. */
static void enter(const rlcore_env_def *def, uint64_t seed) {
  rlcore_vecenv_config many;
  size_t size;
  world = host_compile(def);
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N, many.seed = seed;
  CHECK(rlcore_vecenv_size(world.env, &many, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, world.env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, world.env, NULL, obs));
  CHECK(rlcore_rng_seed(&rng, seed));
  rows = (rlcore_rows){.struct_size = sizeof rows, .obs = obs, .final_obs = final_obs, .reward = reward, .terminated = terminated,
                       .truncated = truncated, .action = world.action.kind == RLCORE_I32 ? (void *)choice : (void *)number};
}

static void script(void) {
  for (uint32_t i = 0; i < N; i++) number[i] = scripted(obs + i * OBS), choice[i] = number[i] > 0;
}

/* The mean return of the next episodes, of a policy, or NULL of the script. */
static double play(const rlcore_policy *policy) {
  static float scratch[1 << 14], state[N * 256], sum[N];
  static uint8_t begins[N];
  size_t len = 0;
  double total = 0;
  int episodes = 0;
  CHECK(rlcore_vecenv_reset(envs, world.env, NULL, obs));
  memset(sum, 0, sizeof sum), memset(begins, 1, sizeof begins);
  if (policy) CHECK(rlcore_policy_scratch_len(policy, N, &len));
  if (len > sizeof scratch / sizeof *scratch) host_fail("too large");
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = len, .state = state,
                                         .reset = begins};
  while (episodes < EPISODES) {
    if (policy) CHECK(rlcore_policy_act_greedy(policy, N, &rows, &buffers));
    else script();
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
    for (int i = 0; i < N; i++) {
      sum[i] += reward[i], begins[i] = terminated[i] | truncated[i];
      if (begins[i]) total += (double)sum[i], sum[i] = 0, episodes++;
    }
  }
  return total / episodes;
}

static rlcore_learner *make(const rlcore_learner_config *config) {
  rlcore_learner *agent;
  size_t size;
  CHECK(rlcore_learner_size(config, &world.obs, &world.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, config, &world.obs, &world.action, &agent));
  return agent;
}

static const rlcore_policy *shipped(const rlcore_learner *agent) {
  rlcore_policy *brain;
  const rlcore_policy *policy;
  size_t size;
  CHECK(rlcore_policy_size(agent, &size));
  void *const mem = host_take(size);
  CHECK(rlcore_policy_export(agent, mem, size, &brain));
  CHECK(rlcore_policy_attach(mem, size, NULL, NULL, &policy));
  return policy;
}

/* ---- Rows that the script has shown */

static struct shown { float obs[ROWS * OBS], number[ROWS]; int32_t choice[ROWS]; uint32_t len; } shown;

static void show(void) {
  for (uint32_t i = 0; i < N && shown.len < ROWS; i++, shown.len++) {
    memcpy(shown.obs + shown.len * OBS, obs + i * OBS, OBS * sizeof *obs);
    shown.number[shown.len] = number[i], shown.choice[shown.len] = choice[i];
  }
}

/* A step of imitation on rows that are drawn from those shown, which all have this weight: beside other steps of the same optimizer
   it counts, alone it does not. */
static void imitate(rlcore_learner *agent, float each) {
  static float seen[BATCH * OBS], numbers[BATCH], weight[BATCH];
  static int32_t choices[BATCH];
  static int64_t drawn[BATCH];
  const int chooses = world.action.kind == RLCORE_I32;
  CHECK(rlcore_rng_integers(&rng, 0, shown.len, drawn, BATCH));
  for (int i = 0; i < BATCH; i++) {
    memcpy(seen + i * OBS, shown.obs + drawn[i] * OBS, OBS * sizeof *seen);
    numbers[i] = shown.number[drawn[i]], choices[i] = shown.choice[drawn[i]], weight[i] = each;
  }
  const rlcore_rows batch = {.struct_size = sizeof batch, .obs = seen, .action = chooses ? (void *)choices : (void *)numbers};
  const rlcore_imitation how = {.struct_size = sizeof how, .weight = weight};
  CHECK(rlcore_learner_imitate(agent, BATCH, &batch, &how, NULL));
}

static void learn(rlcore_learner *agent) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  uint32_t due;
  CHECK(rlcore_learner_phase(agent, &due));
  if (due == RLCORE_LEARNER_LEARN) CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
}

static void ppo_goes_on(const rlcore_env_def *def) {
  rlcore_learner_config config;
  enter(def, 1);
  shown.len = 0;
  const double by_script = play(NULL);
  while (shown.len < ROWS) {
    script(), show();
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
  }
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = 256, config.num_minibatches = 8, config.log_std_init = -1, config.learning_rate = 1e-3F;
  config.learning_rate_end = 1e-3F;
  rlcore_learner *const agent = make(&config);
  for (int i = 0; i < CLONES; i++) imitate(agent, 1);
  const double clone = play(shipped(agent));
  CHECK(rlcore_vecenv_reset(envs, world.env, NULL, obs));
  for (uint32_t t = 0; t < UPDATES * config.num_steps; t++) {
    CHECK(rlcore_learner_act(agent, &rows));
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    learn(agent);
  }
  const double after = play(shipped(agent));
  printf("PPO: script %.1f, clone %.1f, after learning by itself %.1f\n", by_script, clone, after);
  if (EPISODES > 2 && clone < 0.97 * by_script) host_fail("the clone must reach 0.97 of the script's return");
}

/* The return of SAC after so many steps: of its own; of the script's; of the script's with imitation after each update; or of the
   script's in the beginning, which are kept and cloned ever less beside SAC's own loss, and then of its own. */
enum way { ALONE, DEMONSTRATED, IMITATED, KEPT };
static double sac(const rlcore_env_def *def, enum way way) {
  rlcore_learner_config config;
  enter(def, 2);
  shown.len = 0;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_SAC));
  config.num_envs = N, config.hidden_len[0] = config.hidden_len[1] = 64, config.learning_rate = config.learning_rate_end = 1e-3F;
  config.buffer_size = 20000, config.batch_size = 64, config.learning_starts = 400, config.train_interval = N;
  config.gradient_steps = 4;
  if (way == KEPT) {
    config.demonstration_size = FIRST * N, config.demonstration_share = 0.25F, config.imitation_coef = 100, config.imitation_coef_end = 10;
    config.total_steps = SHOWN * N;
  }
  rlcore_learner *const agent = make(&config);
  for (int t = 0; t < SHOWN; t++) {
    if (way == ALONE || (way == KEPT && t >= FIRST)) {
      CHECK(rlcore_learner_act(agent, &rows));
    } else {
      script(), show();
      CHECK(rlcore_learner_demonstrate(agent, &rows));
    }
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    learn(agent);
    if (way == IMITATED) imitate(agent, 100);
  }
  return play(shipped(agent));
}

/* ---- A teacher's probabilities, where the student goes */

static void distilled(void) {
  static const rlcore_layer gru[] = {{.kind = RLCORE_LAYER_GRU, .units = 16}};
  static float seen[WINDOW * N * OBS], prob[WINDOW * N * 2], state[N * 256];
  static uint8_t begins[WINDOW * N], first[N];
  const rlcore_env_def def = {.struct_size = sizeof def, .env_id = RLCORE_ENV_CARTPOLE};
  rlcore_learner_config config;
  enter(&def, 3);
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.hidden_len[0] = config.hidden_len[1] = 256;
  rlcore_learner *const teacher = make(&config);
  const double by_script = play(NULL);
  shown.len = 0;
  while (shown.len < ROWS) {
    script(), show();
    CHECK(rlcore_vecenv_step(envs, world.env, &rows));
  }
  for (int i = 0; i < CLONES / 3; i++) imitate(teacher, 1);
  const double taught = play(shipped(teacher));

  config.hidden_len[0] = config.hidden_len[1] = 0, config.num_hidden = 0;
  config.layers = gru, config.num_layers = 1, config.num_shared = 0, config.sequence_len = WINDOW, config.num_steps = WINDOW;
  config.num_minibatches = 1, config.learning_rate = config.learning_rate_end = 5e-3F;
  rlcore_learner *const student = make(&config);
  CHECK(rlcore_vecenv_reset(envs, world.env, NULL, obs));
  memset(first, 1, sizeof first);
  for (int round = 0; round < ROUNDS; round++) {
    for (uint32_t t = 0; t < WINDOW; t++) {
      memcpy(seen + t * N * OBS, obs, sizeof obs), memcpy(begins + t * N, first, sizeof first);
      CHECK(rlcore_learner_predict(student, &rows, state, first, NULL));
      CHECK(rlcore_vecenv_step(envs, world.env, &rows));
      for (int i = 0; i < N; i++) first[i] = terminated[i] | truncated[i];
    }
    /* Its states start from zeros in each window, as those of sequences to imitate do. */
    memset(first, 1, sizeof first);
    const rlcore_rows window = {.struct_size = sizeof window, .obs = seen};
    const rlcore_distribution said = {.struct_size = sizeof said, .prob = prob};
    CHECK(rlcore_learner_distribution(teacher, WINDOW * N, &window, NULL, NULL, &said));
    const rlcore_imitation how = {.struct_size = sizeof how, .num_steps = WINDOW, .reset = begins, .prob = prob};
    for (int i = 0; i < 4; i++) CHECK(rlcore_learner_imitate(student, WINDOW * N, &window, &how, NULL));
  }
  const rlcore_policy *const small = shipped(student);
  const double learned = play(small);
  printf("distilled: script %.1f, teacher of 256 and 256 units %.1f, GRU of 16 units %.1f\n", by_script, taught, learned);
  if (EPISODES > 2 && learned < 0.95 * taught) host_fail("the student must reach 0.95 of the teacher's return");

  /* A device begins with the policy that was made at home. */
  static rlcore_tensor tensors[16];
  static float numbers[1 << 12];
  uint32_t count;
  size_t len = 0;
  CHECK(rlcore_policy_tensors(small, tensors, 16, &count));
  for (uint32_t i = 0; i < count; i++) len += (size_t)tensors[i].dims[0] * tensors[i].dims[1];
  if (len > sizeof numbers / sizeof *numbers) host_fail("too large");
  CHECK(rlcore_policy_tensors_read(small, numbers, len));
  config.seed = 99;
  rlcore_learner *const device = make(&config);
  CHECK(rlcore_learner_tensors_write(device, RLCORE_TENSORS_PARAMS, tensors, count, numbers, len));
  enter(&def, 4);
  const double at_home = play(small);
  enter(&def, 4);
  const double on_device = play(shipped(device));
  printf("a device that starts from it: %s\n", on_device == at_home ? "the same" : "another");
  if (on_device != at_home) host_fail("the device's policy must be the same");
}

int main(void) {
  static const float low[] = {-1}, high[] = {1};
  const rlcore_env_def def = {.struct_size = sizeof def, .env_id = 2000, .state_size = sizeof(pole), .max_episode_steps = LONGEST,
                              .obs = {.kind = RLCORE_F32, .len = OBS},
                              .action = {.kind = RLCORE_F32, .len = 1, .low = low, .high = high}, .reset = reset, .step = step};
  ppo_goes_on(&def);
  const double alone = sac(&def, ALONE), demonstrated = sac(&def, DEMONSTRATED), imitated = sac(&def, IMITATED);
  const double kept = sac(&def, KEPT);
  printf("SAC after %d steps: its own %.1f, the script's %.1f, the script's, imitated %.1f\n", SHOWN * N, alone, demonstrated, imitated);
  printf("SAC after %d steps of the script, kept and cloned, and then its own: %.1f\n", FIRST * N, kept);
  if (EPISODES > 2 && (imitated < 250 || kept < 250)) host_fail("SAC must reach 250");
  distilled();
  printf("ok: taught by a script, a teacher and a file\n");
  return 0;
}
