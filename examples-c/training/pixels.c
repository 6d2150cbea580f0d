/* Learning from pictures that the game's own camera takes: an operator pans the camera after a drone and sees nothing
   else. The camera's motor has inertia. One picture shows where the drone is, but only several show how fast it drifts
   (with STACK = 1 the reward stays below 40), so an observation is the last four. The learner stores each picture once. */
#include "host.h"
#include "term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 84, STACK = 4, N = 8, STEPS = WHOLE_OR_BRIEF(64, 4), ROLLOUTS = WHOLE_OR_BRIEF(40, 2), REPORT = WHOLE_OR_BRIEF(8, 1) };
enum { LIFE = WHOLE_OR_BRIEF(64, 2), GAMES = WHOLE_OR_BRIEF(400, 4) };
enum { LEFT, STAY, RIGHT, NUM_CHOICES };
static const float MOTOR = 0.02F;                          /* change of the turn by an action */
static const float NEAR_IDEAL = WHOLE_OR_BRIEF(0.9F, -1); /* share of the ideal return to reach */

/* Angles, in half widths of the picture, and their changes per frame. */
typedef struct scene {
  float drone, speed, camera, turn;
} scene;

static float uniform(rlcore_rng *rng, double low, double high) {
  double draw;
  CHECK(rlcore_rng_uniform(rng, low, high, &draw, 1));
  return (float)draw;
}

/* Sky above a fence, and the drone: a body under its rotors. */
static void photograph(const scene *s, uint8_t *picture) {
  const int drone = (int)floorf((s->drone - s->camera + 1) * SIDE / 2);
  for (int x = 0; x < SIDE; x++) {
    const int post = (int)floorf((s->camera + 2.0F * (float)x / SIDE) * 4), away = abs(x - drone);
    for (int y = 0; y < SIDE; y++) {
      const bool is_drone = (y == 32 && away <= 7) || (y >= 34 && y < 40 && away <= 3);
      picture[y * SIDE + x] = is_drone ? 255 : y < 64 ? (uint8_t)(30 + y / 2) : post % 2 ? 70 : 110;
    }
  }
}

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs) {
  scene *const s = state;
  (void)user, (void)row;
  *s = (scene){.drone = uniform(rng, -0.6, 0.6), .speed = uniform(rng, -0.08, 0.08)};
  photograph(s, obs);
  return 0;
}

/* The reward is 1 for a drone in the middle and falls to 0 at the edges. The drone changes its speed now and then. */
static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  scene *const s = state;
  (void)user, (void)row;
  s->turn += MOTOR * (float)(*(const int32_t *)action - STAY);
  s->camera += s->turn, s->drone += s->speed;
  if (uniform(rng, 0, 1) < 0.05F) s->speed = uniform(rng, -0.08, 0.08);
  const float away = fabsf(s->drone - s->camera);
  out->reward = fmaxf(0, 1 - away);
  out->terminated = away > 1; /* out of sight */
  photograph(s, obs);
  return 0;
}

/* A policy that knows all speeds: it turns toward the drone until only braking keeps the camera from swinging past it. */
static int32_t ideal(const scene *s) {
  const float drift = s->speed - s->turn, ahead = s->drone - s->camera + drift * fabsf(drift) / (2 * MOTOR);
  return ahead > MOTOR / 2 ? RIGHT : ahead < -MOTOR / 2 ? LEFT : STAY;
}

static float play_ideally(void) {
  static uint8_t picture[SIDE * SIDE];
  rlcore_rng rng;
  float sum = 0;
  CHECK(rlcore_rng_seed(&rng, 2));
  for (int game = 0; game < GAMES; game++) {
    scene s;
    rlcore_step out = {0};
    reset(NULL, 0, &s, &rng, picture);
    for (int frame = 0; frame < LIFE && !out.terminated; frame++) {
      const int32_t action = ideal(&s);
      step(NULL, 0, &s, &rng, &action, picture, &out);
      sum += out.reward;
    }
  }
  return sum / GAMES;
}

/* Draws the bright pixels of the newest picture of a stack. */
static void show(const uint8_t *obs, const char *caption) {
  canvas c;
  canvas_clear(&c, 0, SIDE, SIDE, 0);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      if (obs[(y * SIDE + x) * STACK + STACK - 1] > 100) canvas_line(&c, x, y, x + 0.5, y);
  canvas_show(&c, caption, false);
}

/* Bytes per transition of a rollout. */
static size_t bytes_each(rlcore_learner_config config, const rlcore_space *obs, const rlcore_space *action) {
  size_t once, twice;
  CHECK(rlcore_learner_size(&config, obs, action, &once));
  config.num_steps *= 2, config.num_minibatches *= 2; /* minibatches keep their size: only the rollout grows */
  CHECK(rlcore_learner_size(&config, obs, action, &twice));
  return (twice - once) / (N * STEPS);
}

int main(void) {
  static const uint32_t choices[] = {NUM_CHOICES};
  static const rlcore_field picture = {.kind = RLCORE_U8, .rank = 3, .dims = {SIDE, SIDE, 1}};
  static const rlcore_wrapper stack = {.kind = RLCORE_WRAP_FRAME_STACK, .count = STACK};
  const rlcore_env_def game = {
      .struct_size = sizeof game, .env_id = 1001, .state_size = sizeof(scene), .max_episode_steps = LIFE,
      .obs = {.kind = RLCORE_U8, .len = SIDE * SIDE}, .action = {.kind = RLCORE_I32, .len = 1, .n = choices},
      .reset = reset, .step = step, .fields = &picture, .num_fields = 1, .wrappers = &stack, .num_wrappers = 1,
  };
  const host_env world = host_compile(&game);

  /* Two convolutions and 64 units, shared by the policy and the value. */
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 8, .size = {8, 8}, .stride = {8, 8}, .activation = RLCORE_ACTIVATION_RELU},
      {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {4, 4}, .stride = {2, 2}, .activation = RLCORE_ACTIVATION_RELU},
  };
  rlcore_learner_config config;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.layers = layers, config.num_layers = 2;
  config.obs_dims[0] = config.obs_dims[1] = SIDE, config.obs_dims[2] = STACK;
  config.num_hidden = config.num_shared = 1, config.hidden_len[0] = 64, config.hidden_len[1] = 0;
  config.activation = RLCORE_ACTIVATION_RELU;
  config.num_envs = N, config.num_steps = STEPS, config.num_epochs = 3, config.learning_rate = 2e-3F;
  config.discount = config.gae_lambda = 0.9F, config.normalize_reward = 1; /* only the next few frames matter */
  const size_t whole = bytes_each(config, &world.obs, &world.action);
  config.num_stacked = STACK;
  printf("a transition takes %zu bytes with each picture kept once, %zu with whole stacks\n",
         bytes_each(config, &world.obs, &world.action), whole);

  size_t size;
  rlcore_learner *agent;
  CHECK(rlcore_learner_size(&config, &world.obs, &world.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &world.obs, &world.action, &agent));
  rlcore_vecenv_config many;
  rlcore_vecenv *games;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_size(world.env, &many, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, world.env, &many, &games));

  static uint8_t obs[N][SIDE * SIDE * STACK], final_obs[N][SIDE * SIDE * STACK], terminated[N], truncated[N];
  static float reward[N];
  int32_t action[N];
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_vecenv_reset(games, world.env, NULL, obs));
  show(obs[0], "what the camera sees:");
  for (int rollout = 1; rollout <= ROLLOUTS; rollout++) {
    CHECK(rlcore_collect(agent, games, world.env, &rows, 0, NULL));
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
    if (rollout % REPORT == 0)
      printf("%6d pictures: %4.1f of %d frames in sight, reward %4.1f\n", rollout * STEPS * N,
             (double)stats.length_mean, LIFE, (double)stats.return_mean);
  }
  const float best = play_ideally();
  printf("a policy that knows the speeds gets %.1f\n", (double)best);
  if (!(stats.return_mean > NEAR_IDEAL * best)) host_fail("FAILED: not learned");
  puts("ok: a camera learned from its pictures to follow a drone");
}
