/* A lander with one main engine and two side jets must land softly and upright on a pad. This is all that the library
   needs: a state without pointers, a reset, a step and a definition. The states are stored in the library's block, so
   saving the block saves every lander. Bit-identical on every machine: only + - * / and square roots. The attitude is a
   unit vector turned by a rational rotation, which needs no sine. Compile with -ffp-contract=off. */
#include "lander.h"

#include <math.h>

/* One lander. Meters, seconds; up is +y, the pad is centered on x = 0, the ground is y = 0. */
typedef struct state {
  float x, y;       /* position of the feet */
  float vx, vy;     /* velocity */
  float up_x, up_y; /* unit vector along the body */
  float spin;       /* rad/s, counterclockwise */
  float potential;  /* shaping potential of the state; a step's reward includes its change */
} state;

_Static_assert(sizeof(state) % 8 == 0, "a state is a multiple of 8 bytes");

enum { COAST, JET_LEFT, MAIN_ENGINE, JET_RIGHT, NUM_ACTIONS };

static const float dt = 1.0F / 20;
static const float gravity = 1.6F;     /* m/s^2, the Moon's */
static const float main_thrust = 4.0F; /* m/s^2 along the body */
static const float jet_torque = 3.0F;  /* rad/s^2 */
static const float spin_drag = 2.0F;   /* 1/s, a flywheel's */
static const float jet_thrust = 0.3F;  /* m/s^2 across the body */
static const float width = 20.0F;      /* half the world */
static const float ceiling = 24.0F;
static const float pad = 4.0F;      /* half the pad */
static const float soft = 2.0F;     /* m/s a leg can take */
static const float upright = 0.95F; /* cosine of the steepest landing */

/* Shaping: higher when nearer, slower and more upright. A reward for its change leaves the optimal policy unchanged. */
static float potential(const state *s) {
  const float speed = sqrtf(s->vx * s->vx + s->vy * s->vy);
  return -6.0F * fabsf(s->x) - 2.0F * s->y - 5.0F * speed - 40.0F * (1.0F - s->up_y) - 4.0F * s->spin * s->spin;
}

static void observe(const state *s, float *obs) {
  obs[0] = s->x / 10;
  obs[1] = s->y / 10;
  obs[2] = s->vx / 4;
  obs[3] = s->vy / 4;
  obs[4] = s->up_x;
  obs[5] = s->up_y;
  obs[6] = s->spin;
}

static void turn(state *s, float angle) {
  const float t = angle / 2, c = (1 - t * t) / (1 + t * t), d = 2 * t / (1 + t * t);
  const float x = s->up_x * c - s->up_y * d, y = s->up_x * d + s->up_y * c, length = sqrtf(x * x + y * y);
  s->up_x = x / length;
  s->up_y = y / length;
}

/* 0, or nonzero to stop the library's call with RLCORE_E_CALLBACK. */
static int32_t reset(void *user, uint32_t row, void *memory, rlcore_rng *rng, void *obs) {
  state *const s = memory;
  double u[5];
  (void)user, (void)row;
  if (rlcore_rng_uniform(rng, -1.0, 1.0, u, 5) != RLCORE_OK) return 1;
  *s =
      (state){.x = 8 * (float)u[0], .y = 16 + 2 * (float)u[1], .vx = 2 * (float)u[2], .vy = (float)u[3] - 1, .up_y = 1};
  turn(s, 0.4F * (float)u[4]);
  s->potential = potential(s);
  observe(s, obs);
  return 0;
}

static int32_t step(void *user, uint32_t row, void *memory, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  state *const s = memory;
  const int32_t a = *(const int32_t *)action;
  float ax = 0, ay = -gravity, torque = 0, before = s->potential;
  (void)user, (void)row, (void)rng;
  switch (a) {
  case COAST: break;
  case JET_LEFT: /* pushes to the right and turns left */
    ax += jet_thrust * s->up_y, ay -= jet_thrust * s->up_x, torque = jet_torque;
    break;
  case MAIN_ENGINE: ax += main_thrust * s->up_x, ay += main_thrust * s->up_y; break;
  case JET_RIGHT: ax -= jet_thrust * s->up_y, ay += jet_thrust * s->up_x, torque = -jet_torque; break;
  default: return 1;
  }
  s->vx += ax * dt;
  s->vy += ay * dt;
  s->spin += (torque - spin_drag * s->spin) * dt;
  s->x += s->vx * dt;
  s->y += s->vy * dt;
  turn(s, s->spin * dt);
  s->potential = potential(s);

  *out = (rlcore_step){.reward = s->potential - before};
  out->reward -= a == MAIN_ENGINE ? 0.2F : a == COAST ? 0.1F : 0.13F; /* time and fuel */
  if (s->y <= 0) {
    const int landed = fabsf(s->x) <= pad && sqrtf(s->vx * s->vx + s->vy * s->vy) <= soft && s->up_y >= upright;
    out->reward += landed ? 100 : -50;
    out->terminated = 1;
  } else if (fabsf(s->x) > width || s->y > ceiling) {
    out->reward -= 100;
    out->terminated = 1;
  }
  observe(s, obs);
  return 0;
}

rlcore_env_def lander_def(void) {
  static const uint32_t num_actions[1] = {NUM_ACTIONS};
  return (rlcore_env_def){
      .struct_size = sizeof(rlcore_env_def),
      .env_id = LANDER_ID,
      .state_size = sizeof(state),
      .max_episode_steps = LANDER_MAX_STEPS,
      .obs = {.kind = RLCORE_F32, .len = LANDER_OBS_LEN},
      .action = {.kind = RLCORE_I32, .len = 1, .n = num_actions},
      .reset = reset,
      .step = step,
  };
}
