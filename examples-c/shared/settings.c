/* Compiles for machines without a C library, too: the web page takes its settings from here. */
#include "settings.h"

/* One pass over each rollout in small minibatches at a high rate: least work, robust across seeds. */
static void cartpole(rlcore_learner_config *c) {
  c->num_envs = 4;
  c->num_steps = 64;
  c->num_minibatches = 8;
  c->num_epochs = 1;
  c->learning_rate = 3e-3F;
  c->discount = 0.98F;
  c->gae_lambda = 0.8F;
  c->entropy_coef = 0;
}

static void mountain_car(rlcore_learner_config *c) {
  c->num_envs = 16;
  c->num_steps = 64;
  c->num_minibatches = 4;
  c->num_epochs = 4;
  c->learning_rate = 2e-3F;
  c->gae_lambda = 0.98F;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
}

static void mountain_car_continuous(rlcore_learner_config *c) {
  c->num_envs = 4;
  c->num_steps = 256;
  c->num_minibatches = 4;
  c->num_epochs = 10;
  c->learning_rate = 3e-4F;
  c->discount = 0.9999F;
  c->gae_lambda = 0.9F;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
  c->entropy_coef = 0.00429F;
}

static void acrobot(rlcore_learner_config *c) {
  c->num_envs = 16;
  c->num_steps = 64;
  c->num_minibatches = 4;
  c->num_epochs = 4;
  c->learning_rate = 1e-3F;
  c->gae_lambda = 0.94F;
  c->normalize_obs = 1;
  c->entropy_coef = 0;
}

/* Sizes of RLtools' Pendulum example. */
static void pendulum(rlcore_learner_config *c) {
  c->num_envs = 4;
  c->num_steps = 1024;
  c->num_minibatches = 16;
  c->num_epochs = 2;
  c->activation = RLCORE_ACTIVATION_RELU;
  c->learning_rate = 2e-3F;
  c->discount = 0.9F;
  c->gae_lambda = 0.95F;
  c->log_std_init = 0.6931472F; /* a standard deviation of 2 */
  c->entropy_coef = 0;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
}

static void lander(rlcore_learner_config *c) {
  c->num_envs = 16;
  c->num_steps = 128;
  c->num_minibatches = 8;
  c->num_epochs = 4;
  c->activation = RLCORE_ACTIVATION_RELU;
  c->learning_rate = 1e-3F;
  c->discount = 0.995F;
  c->gae_lambda = 0.97F;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
}

/* A convolution over a picture of 10 rows, then 128 units. */
static void convolution(rlcore_learner_config *c, uint32_t columns, uint32_t channels) {
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU},
  };
  c->layers = layers;
  c->num_layers = 1;
  c->obs_dims[0] = 10;
  c->obs_dims[1] = columns;
  c->obs_dims[2] = channels;
  c->num_hidden = 1;
  c->hidden_len[0] = 128;
  c->hidden_len[1] = 0;
  c->activation = RLCORE_ACTIVATION_RELU;
}

/* The policy and the value share the convolution and the hidden layer. */
static void pictures(rlcore_learner_config *c, uint32_t columns, uint32_t channels) {
  convolution(c, columns, channels);
  c->num_shared = 1;
  c->num_envs = 64;
  c->num_steps = 64;
  c->num_minibatches = 16;
  c->num_epochs = 3;
  c->learning_rate = 2e-3F;
  c->learning_rate_end = 5e-4F;
  c->entropy_coef = 0.03F;
}

static void breakout(rlcore_learner_config *c) { pictures(c, 10, 4); }

static void catch_ball(rlcore_learner_config *c) {
  pictures(c, 5, 1);
  c->num_envs = 32;
  c->num_steps = 32;
}

static void asterix(rlcore_learner_config *c) { pictures(c, 10, 4); }

static void freeway(rlcore_learner_config *c) {
  pictures(c, 10, 7);
  c->num_steps = 128;
}

static void space_invaders(rlcore_learner_config *c) { pictures(c, 10, 6); }

/* A GRU, since observations show only part of the state; then one hidden layer each for the policy and the value. */
static void memory(rlcore_learner_config *c) {
  static const rlcore_layer layers[] = {{.kind = RLCORE_LAYER_GRU, .units = 32}};
  c->layers = layers;
  c->num_layers = 1;
  c->sequence_len = 16;
  c->num_hidden = 1;
  c->hidden_len[1] = 0;
  c->num_envs = 16;
  c->num_steps = 64;
  c->num_minibatches = 16;
  c->num_epochs = 4;
}

static void cartpole_no_vel(rlcore_learner_config *c) {
  memory(c);
  c->sequence_len = 8;
  c->num_minibatches = 32;
  c->learning_rate = 3e-3F;
  c->discount = 0.98F;
  c->gae_lambda = 0.92F;
  c->entropy_coef = 0;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
}

static void pendulum_no_vel(rlcore_learner_config *c) {
  memory(c);
  c->num_steps = 512;
  c->num_minibatches = 32;
  c->num_epochs = 8;
  c->learning_rate = 3e-3F;
  c->discount = 0.95F;
  c->gae_lambda = 0.95F;
  c->log_std_init = 0.6931472F;
  c->entropy_coef = 0;
  c->normalize_reward = 1;
}

static void repeat_previous(rlcore_learner_config *c) {
  memory(c);
  c->learning_rate = 3e-3F;
}

/* RepeatPrevious for a transformer of two blocks; the policy and value heads follow it directly. */
static void attention(rlcore_learner_config *c) {
  static rlcore_layer layers[16];
  memory(c);
  rlcore_net_preset(RLCORE_NET_TRANSFORMER_GRID, layers, 16, &c->num_layers);
  c->layers = layers;
  c->num_hidden = 0;
  c->hidden_len[0] = 0;
  c->learning_rate = 1e-3F;
}

/* Q(lambda) without replay: one normalized layer, and exploration that ends after a third of the training. */
static void pqn(rlcore_learner_config *c) {
  c->num_envs = 8;
  c->num_epochs = 2;
  c->num_hidden = 1;
  c->hidden_len[0] = 128;
  c->hidden_len[1] = 0;
  c->learning_rate = 2e-3F;
  c->learning_rate_end = 1e-4F;
  c->gae_lambda = 0.9F;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
  c->exploration_steps = 50000;
  c->exploration_end = 0.01F;
}

/* PQN from pictures. */
static void pqn_breakout(rlcore_learner_config *c) {
  convolution(c, 10, 4);
  c->num_envs = 64;
  c->num_steps = 32;
  c->num_epochs = 2;
  c->num_minibatches = 16;
  c->learning_rate = 1e-3F;
  c->learning_rate_end = 1e-4F;
  c->exploration_steps = 200000;
  c->exploration_end = 0.01F;
}

/* Settings of RL Baselines3 Zoo; the learning rate is constant. */
static void a2c(rlcore_learner_config *c) {
  c->num_envs = 8;
  c->learning_rate_end = c->learning_rate;
  c->entropy_coef = 0;
}

/* UNREAL in a maze, from pictures, with smaller weights of its auxiliary tasks. Bumping into walls lowers the values of the
   places beyond them long before the goal is found, so the weight of the entropy is high at first and almost 0 at the end. */
static void maze(rlcore_learner_config *c) {
  static const rlcore_layer layers[] = {
      {.kind = RLCORE_LAYER_CONV, .units = 8, .size = {6, 6}, .stride = {6, 6}, .activation = RLCORE_ACTIVATION_RELU},
  };
  c->layers = layers;
  c->num_layers = 1;
  c->obs_dims[0] = c->obs_dims[1] = 42;
  c->obs_dims[2] = 1;
  c->num_hidden = c->num_shared = 1;
  c->hidden_len[1] = 0;
  c->activation = RLCORE_ACTIVATION_RELU;
  c->num_envs = 16;
  c->num_steps = 5;
  c->optimizer = RLCORE_OPTIMIZER_ADAM;
  c->learning_rate = c->learning_rate_end = 3e-3F;
  c->max_grad_norm = 0.5F;
  c->discount = 0.9F;
  c->gae_lambda = 0.9F;
  c->value_coef = 0.2F;
  c->entropy_coef = 0.8F;
  c->entropy_share_end = 0.001F;
  c->normalize_obs = 1;
  c->history_len = 500;
  c->value_replay_coef = 0.2F;
  c->reward_class_coef = 0.01F;
  c->pixel_control_coef = 2e-4F;
  c->pixel_cell = 6;
  c->pixel_mean = 1;
}

/* Deep Q-networks, double and dueling, with squared errors and a learning rate that decays almost to 0. */
static void dqn(rlcore_learner_config *c) {
  c->num_envs = 4;
  c->learning_rate = 3e-3F;
  c->learning_rate_end = 1e-5F;
  c->max_grad_norm = 0;
  c->adam_epsilon = 1e-8F;
  c->dueling = 1;
  c->huber = 0;
  c->train_interval = 4;
  c->target_interval = 50;
  c->exploration_steps = 20000;
}

/* Deep Q-networks from pictures. The replay memory stores each picture once and keeps the last 100,000. */
static void dqn_breakout(rlcore_learner_config *c) {
  convolution(c, 10, 4);
  c->num_envs = 4;
  c->num_stacked = 1;
  c->batch_size = 32;
  c->learning_starts = 5000;
  c->train_interval = 8;
  c->learning_rate = 1e-3F;
  c->learning_rate_end = 1e-4F;
  c->max_grad_norm = 0;
  c->adam_epsilon = 1e-8F;
  c->exploration_steps = 50000;
  c->exploration_end = 0.02F;
}

/* TD3 and SAC, with the settings of RLtools' Pendulum examples. */
static void td3(rlcore_learner_config *c) {
  c->num_envs = 1;
  c->batch_size = 100;
  c->learning_rate = c->learning_rate_end = 1e-3F;
  c->learning_starts = c->exploration_steps = 100;
}

static void sac(rlcore_learner_config *c) {
  td3(c);
  c->temperature = 0.5F;
  c->temperature_rate = 1e-3F;
}

static void probe(rlcore_learner_config *c) {
  c->num_envs = 8;
  c->num_steps = 32;
  c->num_minibatches = 4;
  c->num_epochs = 4;
  c->learning_rate = 3e-3F;
  c->entropy_coef = 0;
}

static const task tasks[] = {
    {"cartpole", "CartPole-v1", RLCORE_ENV_CARTPOLE, RLCORE_ALGORITHM_PPO, 100000, 5, 475, 0, cartpole},
    {"mountaincar", "MountainCar-v0", RLCORE_ENV_MOUNTAIN_CAR, RLCORE_ALGORITHM_PPO, 500000, 3, -120, 0, mountain_car},
    {"mountaincarcontinuous", "MountainCarContinuous-v0", RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, RLCORE_ALGORITHM_PPO, 200000, 3, 90, 0, mountain_car_continuous},
    {"acrobot", "Acrobot-v1", RLCORE_ENV_ACROBOT, RLCORE_ALGORITHM_PPO, 300000, 3, -90, 0, acrobot},
    {"pendulum", "Pendulum-v1", RLCORE_ENV_PENDULUM, RLCORE_ALGORITHM_PPO, 307200, 5, -200, 0, pendulum},
    {"breakout", "Breakout in pictures", RLCORE_ENV_BREAKOUT, RLCORE_ALGORITHM_PPO, 800000, 2, 28, 0, breakout},
    {"catch", "Catch in pictures", RLCORE_ENV_CATCH, RLCORE_ALGORITHM_PPO, 100000, 3, 1, 0, catch_ball},
    {"asterix", "Asterix in pictures", RLCORE_ENV_ASTERIX, RLCORE_ALGORITHM_PPO, 2000000, 3, 40, 0, asterix},
    {"freeway", "Freeway in pictures", RLCORE_ENV_FREEWAY, RLCORE_ALGORITHM_PPO, 2000000, 3, 58, 0, freeway},
    {"spaceinvaders", "Space Invaders in pictures", RLCORE_ENV_SPACE_INVADERS, RLCORE_ALGORITHM_PPO, 2000000, 3, 131, 0, space_invaders},
    {"cartpolenovel", "CartPole-v1 without velocities", RLCORE_ENV_CARTPOLE_NO_VEL, RLCORE_ALGORITHM_PPO, 150000, 5, 475, 0, cartpole_no_vel},
    {"pendulumnovel", "Pendulum-v1 without velocities", RLCORE_ENV_PENDULUM_NO_VEL, RLCORE_ALGORITHM_PPO, 1000000, 5, -200, 0, pendulum_no_vel},
    {"repeat", "RepeatPrevious: name the suit of three cards ago", RLCORE_ENV_REPEAT_PREVIOUS, RLCORE_ALGORITHM_PPO, 500000, 3, 0.95, 0, repeat_previous},
    {"attention", "RepeatPrevious for a transformer", RLCORE_ENV_REPEAT_PREVIOUS, RLCORE_ALGORITHM_PPO, 150000, 3, 0.95, 0, attention},
    {"pqnbreakout", "Breakout in pictures with PQN", RLCORE_ENV_BREAKOUT, RLCORE_ALGORITHM_PQN, 1000000, 2, 20, 0, pqn_breakout},
    {"pqn", "CartPole-v1 with PQN", RLCORE_ENV_CARTPOLE, RLCORE_ALGORITHM_PQN, 150000, 5, 475, 0, pqn},
    {"dqn", "CartPole-v1 with DQN", RLCORE_ENV_CARTPOLE, RLCORE_ALGORITHM_DQN, 60000, 5, 475, 0, dqn},
    {"dqnbreakout", "Breakout in pictures with DQN", RLCORE_ENV_BREAKOUT, RLCORE_ALGORITHM_DQN, 250000, 2, 7, 0, dqn_breakout},
    {"a2c", "CartPole-v1 with A2C", RLCORE_ENV_CARTPOLE, RLCORE_ALGORITHM_A2C, 500000, 5, 475, 0, a2c},
    {"maze", "Maze in pictures with UNREAL", RLCORE_ENV_MAZE, RLCORE_ALGORITHM_UNREAL, 140000, 5, 0.95, 0, maze},
    {"td3", "Pendulum-v1 with TD3", RLCORE_ENV_PENDULUM, RLCORE_ALGORITHM_TD3, 20000, 5, -200, 0, td3},
    {"sac", "Pendulum-v1 with SAC", RLCORE_ENV_PENDULUM, RLCORE_ALGORITHM_SAC, 10000, 5, -200, 0, sac},
    {"lander", "Lander (physics in the C host)", 0, RLCORE_ALGORITHM_PPO, 300000, 3, 100, 0, lander},
    {"probe1", "Probe 1: reward 1", RLCORE_ENV_PROBE1, RLCORE_ALGORITHM_PPO, 20000, 1, 1, 1e-4, probe},
    {"probe2", "Probe 2: reward is the observation", RLCORE_ENV_PROBE2, RLCORE_ALGORITHM_PPO, 20000, 1, -1, 1e-4, probe},
    {"probe3", "Probe 3: reward one step later", RLCORE_ENV_PROBE3, RLCORE_ALGORITHM_PPO, 20000, 1, 1, 1e-4, probe},
    {"probe4", "Probe 4: reward for the action", RLCORE_ENV_PROBE4, RLCORE_ALGORITHM_PPO, 20000, 1, 1, 0, probe},
    {"probe5", "Probe 5: reward for the right action", RLCORE_ENV_PROBE5, RLCORE_ALGORITHM_PPO, 20000, 1, 1, 0, probe},
    {"probe6", "Probe 6: reward after ten steps", RLCORE_ENV_PROBE6, RLCORE_ALGORITHM_PPO, 60000, 1, 1, 1e-3, probe},
    {"probe7", "Probe 7: a memory would be needed for more than half", RLCORE_ENV_PROBE7, RLCORE_ALGORITHM_PPO, 20000, 1, 0.3, 0, probe},
};

enum { NUM_TASKS = sizeof tasks / sizeof tasks[0] };

const task *task_at(size_t index) { return index < NUM_TASKS ? &tasks[index] : NULL; }

rlcore_status task_configure(const task *t, rlcore_learner_config *config) {
  const rlcore_status status = rlcore_learner_config_init(config, sizeof *config, t->algorithm);
  if (status) return status;
  t->configure(config);
  config->total_steps = t->total_steps;
  return RLCORE_OK;
}

static const struct {
  const char *name;
  uint64_t full, quick;
} published[] = {
#include "hashes.h"
};

static bool same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

uint64_t task_hash(const task *t, bool quick) {
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
    if (same(published[i].name, t->name)) return quick ? published[i].quick : published[i].full;
  return 0;
}
