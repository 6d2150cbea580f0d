#include "worlds.h"

/* Inputs of networks: numbers, numbers that show a part of the state only, pictures of a game, pictures of the maze. */
enum view { NUMBERS, PARTIAL, GAME4, GAME6, GAME7, COLUMNS5, GRAY42, COLOR84 };

#define PPO RLCORE_ALGORITHM_PPO
const world worlds[NUM_WORLDS] = {
    {RLCORE_ENV_CARTPOLE, "cartpole", "CartPole",
     "A cart balances a pole: a point for each step upright, 500 at most.", NUMBERS, PPO, 600, 400, 1},
    {RLCORE_ENV_ACROBOT, "acrobot", "Acrobot",
     "Two links swing up to the line: minus one for each step until then.", NUMBERS, PPO, 400, 400, 1},
    {RLCORE_ENV_MOUNTAIN_CAR, "mountaincar", "Mountain car",
     "A weak engine, a valley, a flag: minus one for each step.", NUMBERS, PPO, 600, 400, 1},
    {RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, "mountaincarcontinuous", "Mountain car with a force",
     "100 for the flag, less the force that it took.", NUMBERS, PPO, 600, 400, 1},
    {RLCORE_ENV_PENDULUM, "pendulum", "Pendulum",
     "A torque swings a pendulum up: minus its distance from standing still.", NUMBERS, PPO, 400, 400, 1},
    {RLCORE_ENV_POINT_REACH, "pointreach", "Reach a point",
     "Move the point to the goal: minus one for each step on the way.", NUMBERS, RLCORE_ALGORITHM_SAC, 400, 400, 8},
    {RLCORE_ENV_CATCH, "catch", "Catch",
     "Be below the ball when it lands: 1 if caught, else -1.", COLUMNS5, PPO, 200, 400, 8},
    {RLCORE_ENV_BREAKOUT, "breakout", "Breakout",
     "A point for each brick that the ball hits.", GAME4, PPO, 400, 400, 5},
    {RLCORE_ENV_ASTERIX, "asterix", "Asterix",
     "A point for each piece of gold; an enemy ends the game.", GAME4, PPO, 400, 400, 5},
    {RLCORE_ENV_FREEWAY, "freeway", "Freeway",
     "A point for each time across the road.", GAME7, PPO, 400, 400, 5},
    {RLCORE_ENV_SPACE_INVADERS, "spaceinvaders", "Space Invaders",
     "A point for each alien; their bullets end the game.", GAME6, PPO, 400, 400, 5},
    {RLCORE_ENV_MAZE, "maze", "Maze in gray",
     "Find the goal of the maze within 20 steps.", GRAY42, RLCORE_ALGORITHM_UNREAL, 420, 420, 10},
    {RLCORE_ENV_MAZE_RGB, "mazergb", "Maze in color",
     "The same maze as a picture of 84 x 84 colors.", COLOR84, RLCORE_ALGORITHM_A2C, 420, 420, 10},
    {RLCORE_ENV_CARTPOLE_NO_VEL, "cartpolenovel", "CartPole without velocities",
     "The same cart, which sees positions only: it needs a memory.", PARTIAL, PPO, 600, 400, 1},
    {RLCORE_ENV_PENDULUM_NO_VEL, "pendulumnovel", "Pendulum without velocity",
     "The same pendulum, which sees its angle only: it needs a memory.", PARTIAL, PPO, 400, 400, 1},
    {RLCORE_ENV_REPEAT_PREVIOUS, "repeat", "Repeat a card",
     "Name the suit that was shown three steps ago.", PARTIAL, PPO, 0, 0, 12},
    {RLCORE_ENV_BIT_FLIP, "bitflip", "Bit flip",
     "Flip ten bits until they are those of the goal beside them.", NUMBERS, RLCORE_ALGORITHM_DQN, 0, 0, 12},
    {RLCORE_ENV_PROBE1, "probe1", "Probe 1: value",
     "One step, reward 1.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE2, "probe2", "Probe 2: observation",
     "One step, and the reward is the observation.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE3, "probe3", "Probe 3: discount",
     "Two steps, and the second has reward 1.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE4, "probe4", "Probe 4: action",
     "One step: 1 for the right action, else -1.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE5, "probe5", "Probe 5: action for an observation",
     "One step: 1 if the action equals the observation, else -1.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE6, "probe6", "Probe 6: ten steps",
     "Ten steps, and the last has reward 1.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE6_ODD_EVEN, "probe6oddeven", "Probe 6: odd and even",
     "Ten steps: 1 for each action that is the step's number modulo 2.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE7, "probe7", "Probe 7: four steps of memory",
     "The last of four actions has to equal the first observation.", PARTIAL, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE_TRUNCATION, "probetruncation", "Probe of truncation",
     "Episodes that are only ever cut, after five steps.", NUMBERS, PPO, 0, 0, 12},
    {RLCORE_ENV_PROBE_MEMORY, "probememory", "Probe of memory",
     "The last of nine actions earns the first observation, or its negative.", PARTIAL, PPO, 0, 0, 12},
};

const char *const algorithms[NUM_ALGORITHMS][2] = {
    {"ppo", "PPO"}, {"a2c", "A2C"}, {"impala", "IMPALA"}, {"unreal", "UNREAL"}, {"dqn", "DQN"},
    {"td3", "TD3"}, {"sac", "SAC"}, {"pqn", "PQN"}, {"stream_ac", "stream AC(λ)"}, {"stream_q", "stream Q(λ)"},
};

const task *world_task(const world *w, uint32_t algorithm) {
  for (size_t i = 0; task_at(i); i++)
    if (task_at(i)->builtin == w->id && task_at(i)->algorithm == algorithm) return task_at(i);
  return NULL;
}

static bool streams(uint32_t a) { return a == RLCORE_ALGORITHM_STREAM_AC || a == RLCORE_ALGORITHM_STREAM_Q; }
static bool replays(uint32_t a) {
  return a == RLCORE_ALGORITHM_DQN || a == RLCORE_ALGORITHM_TD3 || a == RLCORE_ALGORITHM_SAC;
}

/* One convolution and 128 units for a picture. Stream algorithms have dense layers alone. */
static void look(rlcore_learner_config *c, uint32_t rows, uint32_t columns, uint32_t channels) {
  static rlcore_layer convolution;
  const uint32_t size = rows == 10 ? 3 : rows / 7, stride = rows == 10 ? 1 : size;
  convolution = (rlcore_layer){.kind = RLCORE_LAYER_CONV,
                               .units = rows == 10 ? 16 : 8,
                               .size = {size, size},
                               .stride = {stride, stride},
                               .activation = RLCORE_ACTIVATION_RELU};
  c->num_hidden = 1;
  c->hidden_len[0] = 128;
  c->hidden_len[1] = 0;
  if (streams(c->algorithm)) return;
  c->activation = RLCORE_ACTIVATION_RELU;
  c->layers = &convolution;
  c->num_layers = 1;
  c->obs_dims[0] = rows;
  c->obs_dims[1] = columns;
  c->obs_dims[2] = channels;
  if (replays(c->algorithm)) c->num_stacked = 1;
}

/* A GRU, then one hidden layer; not for stream algorithms, which have no layers with a state. */
static void remember(rlcore_learner_config *c) {
  static const rlcore_layer layers[] = {{.kind = RLCORE_LAYER_GRU, .units = 32}};
  if (streams(c->algorithm)) return;
  c->layers = layers;
  c->num_layers = 1;
  c->num_hidden = 1;
  c->hidden_len[1] = 0;
  c->sequence_len = replays(c->algorithm) ? 8 : c->num_steps % 16 == 0 ? 16 : 5;
}

static void network(rlcore_learner_config *c, uint32_t view) {
  switch (view) {
  case PARTIAL: remember(c); break;
  case GAME4: look(c, 10, 10, 4); break;
  case GAME6: look(c, 10, 10, 6); break;
  case GAME7: look(c, 10, 10, 7); break;
  case COLUMNS5: look(c, 10, 5, 1); break;
  case GRAY42: look(c, 42, 42, 1); break;
  case COLOR84: look(c, 84, 84, 3); break;
  default: break;
  }
}

/* Few environments and short rollouts, so that the curve begins soon. Stores are small enough for a page. */
static void loop(rlcore_learner_config *c, uint32_t view) {
  const bool pictures = view >= GAME4, large = view >= GRAY42;
  switch (c->algorithm) {
  case RLCORE_ALGORITHM_PPO:
    c->num_envs = pictures ? 32 : 8;
    c->num_steps = 32;
    c->learning_rate = 1e-3F;
    break;
  case RLCORE_ALGORITHM_A2C: c->num_envs = 16; break;
  case RLCORE_ALGORITHM_IMPALA:
    c->num_envs = pictures ? 16 : 8;
    c->num_steps = 20;
    break;
  case RLCORE_ALGORITHM_UNREAL:
    c->num_envs = 8;
    c->history_len = large ? 200 : 1000;
    c->pixel_control_coef = pictures ? 2e-4F : 0;
    break;
  case RLCORE_ALGORITHM_PQN:
    c->num_envs = pictures ? 32 : 8;
    c->learning_rate = 1e-3F;
    c->exploration_steps = 30000;
    break;
  case RLCORE_ALGORITHM_DQN:
    c->num_envs = 4;
    c->train_interval = pictures ? 8 : 4;
    c->learning_rate = c->learning_rate_end = 1e-3F;
    c->batch_size = pictures ? 32 : 128;
    c->exploration_steps = 30000;
    c->target_interval = 100;
    break;
  case RLCORE_ALGORITHM_TD3:
  case RLCORE_ALGORITHM_SAC:
    c->batch_size = pictures ? 32 : 96;
    c->learning_rate = c->learning_rate_end = 1e-3F;
    c->train_interval = pictures ? 4 : 1;
    break;
  default: break;
  }
  if (replays(c->algorithm)) c->buffer_size = large ? 5000 : 50000;
}

rlcore_status world_configure(const world *w, uint32_t algorithm, rlcore_learner_config *config) {
  const task *const known = world_task(w, algorithm);
  if (known) return task_configure(known, config);
  const rlcore_status status = rlcore_learner_config_init(config, sizeof *config, algorithm);
  if (status) return status;
  const task *const likewise = world_task(w, w->algorithm);
  config->total_steps = likewise ? likewise->total_steps : 200000;
  loop(config, w->view);
  network(config, w->view);
  if (w->view == NUMBERS && w->id < RLCORE_ENV_BIT_FLIP) config->normalize_obs = 1;
  return RLCORE_OK;
}
