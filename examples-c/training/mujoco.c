/* A real engine as the host: MuJoCo steps the world, rlcore learns.
   `mujoco [inverted_pendulum|hopper|hopper_sac] [--out FOLDER]`

   Each environment's state in the library's block is MuJoCo's own flat integration state, so copying the block copies
   the simulations. The mjData that the engine works in hold pointers and stay with the host, one per environment. */
#include "run.h"
#include "svg.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STATE = 64, MAX_OBS = 32, MAX_ACTIONS = 8, MAX_DATA = 256, STATE_SPEC = mjSTATE_INTEGRATION };

/* One environment in the library's block. */
typedef struct state {
  uint64_t slot; /* 1 + index of its mjData; 0 before the first reset */
  mjtNum physics[MAX_STATE];
} state;

/* One task: the robot's model, its observations, its reward and the settings of the training. */
typedef struct robot {
  const char *name, *model, *title; /* model: training/models/MODEL.xml */
  uint32_t env_id, obs_skip; /* obs is qpos without its first obs_skip values, then qvel */
  int frame_skip;            /* physics steps per decision */
  float noise;               /* half width of the uniform noise on the starting pose and velocities */
  uint64_t total_steps;
  double bar;
  bool minutes; /* trains for minutes, so it runs only if named */
  void (*configure)(rlcore_learner_config *);
  void (*judge)(const mjModel *m, const mjData *d, mjtNum x_before, rlcore_step *out);
} robot;

/* Host data of all environments: `user` of the callbacks. */
typedef struct engine {
  const robot *robot;
  mjModel *model;
  mjData *data[MAX_DATA];
  uint64_t num_data;
} engine;

static void observe(const engine *e, const mjData *d, float *obs) {
  for (int i = (int)e->robot->obs_skip; i < e->model->nq; i++) *obs++ = (float)d->qpos[i];
  for (int i = 0; i < e->model->nv; i++) *obs++ = (float)fmax(-10.0, fmin(10.0, d->qvel[i]));
}

static int32_t reset(void *user, uint32_t row, void *memory, rlcore_rng *rng, void *obs) {
  (void)row;
  engine *const e = user;
  state *const s = memory;
  double noise[2 * MAX_OBS];
  if (!s->slot) {
    if (e->num_data == MAX_DATA || !(e->data[e->num_data] = mj_makeData(e->model))) return 1;
    s->slot = ++e->num_data;
  }
  mjData *const d = e->data[s->slot - 1];
  const size_t nq = (size_t)e->model->nq, nv = (size_t)e->model->nv;
  const double width = (double)e->robot->noise;
  if (rlcore_rng_uniform(rng, -width, width, noise, nq + nv) != RLCORE_OK) return 1;
  mj_resetData(e->model, d);
  for (size_t i = 0; i < nq; i++) d->qpos[i] += noise[i];
  for (size_t i = 0; i < nv; i++) d->qvel[i] += noise[nq + i];
  mj_forward(e->model, d);
  mj_getState(e->model, d, s->physics, STATE_SPEC);
  observe(e, d, obs);
  return 0;
}

static int32_t step(void *user, uint32_t row, void *memory, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  engine *const e = user;
  state *const s = memory;
  mjData *const d = e->data[s->slot - 1];
  (void)row, (void)rng;
  mj_setState(e->model, d, s->physics, STATE_SPEC);
  const mjtNum x_before = d->qpos[0];
  for (int i = 0; i < e->model->nu; i++) d->ctrl[i] = (mjtNum)((const float *)action)[i];
  for (int i = 0; i < e->robot->frame_skip; i++) mj_step(e->model, d);
  mj_getState(e->model, d, s->physics, STATE_SPEC);
  e->robot->judge(e->model, d, x_before, out);
  observe(e, d, obs);
  return 0;
}

static rlcore_env_def env_def(engine *e) {
  static float low[MAX_ACTIONS], high[MAX_ACTIONS];
  const mjModel *const m = e->model;
  if (mj_stateSize(m, STATE_SPEC) > MAX_STATE || m->nq + m->nv > MAX_OBS || m->nu > MAX_ACTIONS)
    host_fail("%s: larger than this host is made for", e->robot->name);
  for (int i = 0; i < m->nu; i++)
    low[i] = (float)m->actuator_ctrlrange[2 * i], high[i] = (float)m->actuator_ctrlrange[2 * i + 1];
  return (rlcore_env_def){
      .struct_size = sizeof(rlcore_env_def),
      .env_id = e->robot->env_id,
      .state_size = sizeof(state),
      .max_episode_steps = 1000,
      .obs = {.kind = RLCORE_F32, .len = (uint32_t)(m->nq + m->nv) - e->robot->obs_skip},
      .action = {.kind = RLCORE_F32, .len = (uint32_t)m->nu, .low = low, .high = high},
      .user = e,
      .reset = reset,
      .step = step,
  };
}

/* 1 per step while the pole is near upright. */
static void judge_pendulum(const mjModel *m, const mjData *d, mjtNum x_before, rlcore_step *out) {
  (void)m;
  (void)x_before;
  out->reward = 1;
  out->terminated = !(fabs(d->qpos[1]) <= 0.2);
}

/* Forward speed, plus 1 for not falling, minus a small control cost. */
static void judge_hopper(const mjModel *m, const mjData *d, mjtNum x_before, rlcore_step *out) {
  const double seconds = 4 * m->opt.timestep;
  double effort = 0;
  for (int i = 0; i < m->nu; i++) effort += d->ctrl[i] * d->ctrl[i];
  out->reward = (float)((d->qpos[0] - x_before) / seconds + 1 - 1e-3 * effort);
  out->terminated = !(d->qpos[1] > -0.5 && fabs(d->qpos[2]) < 0.3);
}

static void configure_pendulum(rlcore_learner_config *c) {
  c->num_envs = 8;
  c->num_steps = 64;
  c->num_minibatches = 4;
  c->num_epochs = 8;
  c->learning_rate = 1e-3F;
  c->entropy_coef = 0;
}

static void configure_hopper(rlcore_learner_config *c) {
  c->num_envs = 16;
  c->num_steps = WHOLE_OR_BRIEF(128, 16);
  c->num_minibatches = 16;
  c->num_epochs = 8;
  c->learning_rate = 5e-4F;
  c->normalize_obs = 1;
  c->normalize_reward = 1;
  c->entropy_coef = 0;
}

/* One gradient step of 128 transitions per step. */
static void configure_hopper_sac(rlcore_learner_config *c) {
  CHECK(rlcore_learner_config_init(c, sizeof *c, RLCORE_ALGORITHM_SAC));
  c->hidden_len[0] = c->hidden_len[1] = 128;
  c->batch_size = 128;
  c->learning_rate = c->learning_rate_end = 1e-3F;
  c->buffer_size = 300000;
  c->learning_starts = c->exploration_steps = 5000;
  c->temperature_rate = 1e-3F;
}

static const robot robots[] = {
    {"inverted_pendulum", "inverted_pendulum", "Inverted pendulum in MuJoCo", 2001, 0, 2, 0.02F, WHOLE_OR_BRIEF(60000, 6000), WHOLE_OR_BRIEF(950, 0), false,
     configure_pendulum, judge_pendulum},
    {"hopper", "hopper", "Hopper in MuJoCo", 2002, 1, 4, 0.01F, 400000, 1000, false, configure_hopper, judge_hopper},
    {"hopper_sac", "hopper", "Hopper by SAC in MuJoCo", 2002, 1, 4, 0.01F, WHOLE_OR_BRIEF(300000, 6000),
     WHOLE_OR_BRIEF(2500, 0), true, configure_hopper_sac, judge_hopper},
};

/* The side view of every capsule, around the first body. */
static void draw(canvas *c, const mjModel *m, const mjData *d) {
  const double x = d->xpos[3];
  canvas_clear(c, x - 1.9, -0.2, x + 1.9, 1.6);
  canvas_line(c, x - 1.9, 0, x + 1.9, 0);
  for (int i = -4; i <= 4; i++) canvas_line(c, floor(x) + 0.5 * i, -0.2, floor(x) + 0.5 * i, -0.05);
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != mjGEOM_CAPSULE) continue;
    const double *const at = d->geom_xpos + 3 * g, *const turn = d->geom_xmat + 9 * g, half = m->geom_size[3 * g + 1];
    for (int side = -1; side <= 1; side += 2) { /* both edges of the capsule */
      const double w = side * m->geom_size[3 * g], dx = half * turn[2], dz = half * turn[8];
      const double ex = w * turn[8], ez = -w * turn[2];
      canvas_line(c, at[0] - dx + ex, at[2] - dz + ez, at[0] + dx + ex, at[2] + dz + ez);
    }
  }
}

static void draw_episode(const rlcore_policy *policy, const host_env *world, engine *e) {
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  rlcore_vecenv_config config;
  rlcore_vecenv *envs;
  rlcore_rng rng; /* greedy choices do not depend on it */
  size_t size = 0, scratch_len = 0;
  float obs[MAX_OBS], final_obs[MAX_OBS], action[MAX_ACTIONS], reward = 0;
  uint8_t terminated = 0, truncated = 0;
  const rlcore_rows rows = {.struct_size = sizeof rows,
                            .obs = obs,
                            .action = action,
                            .reward = &reward,
                            .terminated = &terminated,
                            .truncated = &truncated,
                            .final_obs = final_obs};
  const uint32_t stride = term_is_tty() ? 4 : 100, last = term_is_tty() ? 400 : 200;
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = 1;
  CHECK(rlcore_vecenv_size(world->env, &config, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, world->env, &config, &envs));
  CHECK(rlcore_policy_scratch_len(policy, 1, &scratch_len));
  const rlcore_policy_buffers buffers = {
      .struct_size = sizeof buffers, .scratch = host_take(scratch_len * sizeof(float)), .scratch_len = scratch_len};
  CHECK(rlcore_rng_seed(&rng, 1));
  CHECK(rlcore_vecenv_reset(envs, world->env, NULL, obs));
  for (uint32_t k = 0; k <= last && !terminated && !truncated; k++) {
    const mjData *const d = e->data[e->num_data - 1]; /* the newest environment */
    if (k % stride == 0) {
      char caption[64];
      canvas c;
      snprintf(caption, sizeof caption, "step %u, %.2f m along the x axis", (unsigned)k, d->qpos[0]);
      draw(&c, e->model, d);
      canvas_show(&c, caption, k != 0);
    }
    CHECK(rlcore_policy_act(policy, 1, &rows, &buffers, &greedy, &rng));
    CHECK(rlcore_vecenv_step(envs, world->env, &rows));
  }
}

static bool train(const robot *robot, const char *folder) {
  static training t;
  static engine e;
  static monitor closed;
  char path[1024], error[512] = "";
  rlcore_learner_config config;
  size_t policy_size = 0;
  e = (engine){.robot = robot};
  snprintf(path, sizeof path, "training/models/%s.xml", robot->model);
  e.model = mj_loadXML(path, NULL, error, sizeof error);
  if (!e.model) host_fail("%s: %s", path, error);
  const rlcore_env_def env = env_def(&e);
  const host_env world = host_compile(&env);
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.total_steps = robot->total_steps;
  robot->configure(&config);
  training_plan(&t, &world, &config);
  printf("%s %s: %d joints, %d motors, %u environments in a block of %zu bytes, the learner in one of %zu bytes\n",
         robot->title, mj_versionString(), (int)e.model->njnt, (int)e.model->nu, (unsigned)config.num_envs, t.envs_size,
         t.learner_size);

  run r = run_plan(&t, robot->total_steps);
  run_seed(&r, &t, 1, robot->bar, &closed, false);
  const rlcore_policy *const policy = training_export(&t, &policy_size);
  const evaluation greedy = evaluate(policy, &world, 20, &GREEDY);
  draw_episode(policy, &world, &e);
  svg_curves curves = {.title = robot->title,
                       .x_label = "environment steps",
                       .y_label = "return, mean of the last 100 episodes",
                       .x_step = (double)config.num_steps * config.num_envs,
                       .bar = robot->bar,
                       .num_curves = 1,
                       .len = r.num_updates,
                       .value = {r.curve}};
  snprintf(path, sizeof path, "%s/%s.svg", folder, robot->name);
  svg_write(path, &curves);
  printf("wrote %s; %.1f s, 20 greedy episodes: mean %.1f, from %.1f to %.1f\n", path, r.seconds, greedy.mean,
         greedy.min, greedy.max);
  const bool ok = greedy.mean >= robot->bar;
  printf("%s: %s, mean return of at least %g\n", ok ? "ok" : "FAILED", robot->name, robot->bar);
  while (e.num_data) mj_deleteData(e.data[--e.num_data]);
  mj_deleteModel(e.model);
  return ok;
}

int main(int argc, char **argv) {
  const char *only = NULL, *folder = "out";
  bool ok = true;
  term_init();
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
      folder = argv[++i];
    else
      only = argv[i];
  }
  for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++)
    if (only ? strcmp(only, robots[i].name) == 0 : !robots[i].minutes) ok = train(&robots[i], folder) && ok;
  return ok ? 0 : 1;
}
