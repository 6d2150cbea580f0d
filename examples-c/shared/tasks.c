#include "tasks.h"
#include "lander.h"

#include <math.h>
#include <string.h>

const task *task_find(const char *name) {
  for (size_t i = 0; task_at(i); i++)
    if (strcmp(task_at(i)->name, name) == 0) return task_at(i);
  return NULL;
}

const char *task_name(size_t index) { return task_at(index) ? task_at(index)->name : NULL; }

double task_max_len(const task *t) { return t->builtin == RLCORE_ENV_MAZE ? 20 : INFINITY; }

host_env task_world(const task *t) {
  const rlcore_env_def def = t->builtin ? (rlcore_env_def){.struct_size = sizeof def, .env_id = t->builtin} : lander_def();
  return host_compile(&def);
}

rlcore_learner_config task_config(const task *t) {
  rlcore_learner_config config;
  CHECK(task_configure(t, &config));
  return config;
}

draw_fn task_draw(const task *t) {
  switch (t->builtin) {
  case RLCORE_ENV_CARTPOLE: return draw_cartpole;
  case RLCORE_ENV_MOUNTAIN_CAR: return draw_mountain_car;
  case RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS: return draw_mountain_car;
  case RLCORE_ENV_ACROBOT: return draw_acrobot;
  case RLCORE_ENV_PENDULUM: return draw_pendulum;
  case RLCORE_ENV_BREAKOUT: return draw_breakout;
  case RLCORE_ENV_CATCH: return draw_catch;
  case RLCORE_ENV_ASTERIX: return draw_asterix;
  case RLCORE_ENV_FREEWAY: return draw_freeway;
  case RLCORE_ENV_SPACE_INVADERS: return draw_space_invaders;
  case RLCORE_ENV_CARTPOLE_NO_VEL: return draw_cartpole_no_vel;
  case RLCORE_ENV_PENDULUM_NO_VEL: return draw_pendulum;
  case RLCORE_ENV_REPEAT_PREVIOUS: return draw_suits;
  case RLCORE_ENV_MAZE: return draw_maze;
  case 0: return draw_lander;
  default: return NULL;
  }
}
