#include "draw.h"

#include <math.h>

static void box(canvas *c, double x, double y, double half_width, double half_height) {
  canvas_line(c, x - half_width, y - half_height, x + half_width, y - half_height);
  canvas_line(c, x - half_width, y + half_height, x + half_width, y + half_height);
  canvas_line(c, x - half_width, y - half_height, x - half_width, y + half_height);
  canvas_line(c, x + half_width, y - half_height, x + half_width, y + half_height);
}

/* A bar from (x, y) of this length and half thickness, at this angle from upright. */
static void bar(canvas *c, double x, double y, double length, double angle, double thickness) {
  for (int i = -1; i <= 1; i++) {
    const double dx = i * thickness * cos(angle), dy = -i * thickness * sin(angle);
    canvas_line(c, x + dx, y + dy, x + dx + length * sin(angle), y + dy + length * cos(angle));
  }
}

static void cart(canvas *c, double x, double angle) {
  canvas_clear(c, -2.4, -0.3, 2.4, 1.3);
  canvas_line(c, -2.4, -0.2, 2.4, -0.2);
  canvas_line(c, 0, -0.3, 0, -0.2);
  box(c, x, -0.06, 0.25, 0.11);
  bar(c, x, 0.05, 1.0, angle, 0.02);
}

/* obs: cart position, cart velocity, pole angle, pole angular velocity. */
void draw_cartpole(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  (void)action;
  cart(c, (double)obs[0], (double)obs[2]);
}

/* obs: cart position, pole angle. */
void draw_cartpole_no_vel(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  (void)action;
  cart(c, (double)obs[0], (double)obs[1]);
}

/* obs: [4] 1 for the suit of the dealt card, drawn in the upper row; the lower row is the suit that the action names. */
void draw_suits(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  const int32_t *const named = action;
  canvas_clear(c, -0.5, -0.5, 3.5, 1.7);
  for (int i = 0; i < 4; i++) {
    if (obs[i] > 0.5F) box(c, i, 1.2, 0.3, 0.3);
    if (named && *named == i) box(c, i, 0, 0.3, 0.3);
  }
}

/* obs: position, velocity. */
void draw_mountain_car(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  const double x = (double)obs[0], y = sin(3 * x);
  (void)action;
  canvas_clear(c, -1.2, -1.2, 0.6, 1.4);
  for (int i = 0; i < 60; i++) {
    const double a = -1.2 + 0.03 * i;
    canvas_line(c, a, sin(3 * a) - 0.05, a + 0.03, sin(3 * (a + 0.03)) - 0.05);
  }
  canvas_line(c, 0.5, 1.0, 0.5, 1.35);
  box(c, x, y + 0.1, 0.04, 0.08);
}

/* obs: cosine and sine of both joints, both velocities. Angles are measured from hanging down. */
void draw_acrobot(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  const double a = atan2((double)obs[1], (double)obs[0]), b = a + atan2((double)obs[3], (double)obs[2]);
  (void)action;
  canvas_clear(c, -4.6, -2.2, 4.6, 2.2);
  canvas_line(c, -4.6, 1, 4.6, 1);
  bar(c, 0, 0, 1, acos(-1) - a, 0.03);
  bar(c, sin(a), -cos(a), 1, acos(-1) - b, 0.03);
}

/* obs: cosine and sine of the angle from upright, counterclockwise; angular velocity. */
void draw_pendulum(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  (void)action;
  canvas_clear(c, -2.4, -1.2, 2.4, 1.2);
  box(c, 0, 0, 0.05, 0.05);
  bar(c, 0, 0, 1, -atan2((double)obs[1], (double)obs[0]), 0.03);
}

/* pixel: bytes [10, columns, channels]; half: half the width and height of each channel's boxes, {0} to draw none. */
static void grid(canvas *c, const uint8_t *pixel, int columns, int channels, const double half[][2]) {
  canvas_clear(c, columns / 2.0 - 10, -0.5, columns / 2.0 + 10, 10.5);
  canvas_line(c, 0, 0, 0, 10);
  canvas_line(c, columns, 0, columns, 10);
  for (int row = 0; row < 10; row++)
    for (int column = 0; column < columns; column++, pixel += channels)
      for (int k = 0; k < channels; k++)
        if (pixel[k] && half[k][0] > 0) box(c, column + 0.5, 9.5 - row, half[k][0], half[k][1]);
}

/* Paddle, ball, trail and bricks. */
void draw_breakout(canvas *c, const void *obs, const void *action) {
  (void)action;
  grid(c, obs, 10, 4, (const double[][2]){{0.5, 0.2}, {0.2, 0.2}, {0}, {0.4, 0.3}});
}

void draw_catch(canvas *c, const void *obs, const void *action) {
  (void)action;
  grid(c, obs, 5, 1, (const double[][2]){{0.4, 0.3}});
}

/* Player, enemies, trails and gold. */
void draw_asterix(canvas *c, const void *obs, const void *action) {
  (void)action;
  grid(c, obs, 10, 4, (const double[][2]){{0.5, 0.5}, {0.5, 0.2}, {0}, {0.2, 0.2}});
}

/* Chicken, cars and trails. */
void draw_freeway(canvas *c, const void *obs, const void *action) {
  (void)action;
  grid(c, obs, 10, 7, (const double[][2]){{0.2, 0.4}, {0.5, 0.3}, {0}, {0}, {0}, {0}, {0}});
}

/* Cannon, aliens, aliens by direction, the cannon's bullets and the aliens'. */
void draw_space_invaders(canvas *c, const void *obs, const void *action) {
  (void)action;
  grid(c, obs, 10, 6, (const double[][2]){{0.5, 0.2}, {0.4, 0.3}, {0}, {0}, {0.1, 0.3}, {0.1, 0.1}});
}

/* obs: bytes [42, 42], cells of 6 x 6: walls, and the agent brightest. */
void draw_maze(canvas *c, const void *seen, const void *action) {
  const uint8_t *const obs = seen;
  (void)action;
  canvas_clear(c, -4, -0.5, 11, 7.5);
  box(c, 3.5, 3.5, 3.5, 3.5);
  for (int row = 0; row < 7; row++)
    for (int column = 0; column < 7; column++) {
      const uint8_t shown = obs[42 * 6 * row + 6 * column];
      if (shown) box(c, column + 0.5, 6.5 - row, shown == 255 ? 0.2 : 0.45, shown == 255 ? 0.2 : 0.45);
    }
}

/* obs: lander.c's observe(). */
void draw_lander(canvas *c, const void *seen, const void *action) {
  const float *const obs = seen;
  const double x = 10 * (double)obs[0], y = 10 * (double)obs[1], ux = (double)obs[4], uy = (double)obs[5];
  canvas_clear(c, -26, -1, 26, 23);
  canvas_line(c, -26, -0.2, 26, -0.2);
  for (int i = 1; i < 3; i++) canvas_line(c, -4, -0.2 - 0.3 * i, 4, -0.2 - 0.3 * i);
  const double up[2] = {1.6 * ux, 1.6 * uy}, left[2] = {-1.6 * uy, 1.6 * ux}; /* drawn larger than it is */
  canvas_line(c, x + left[0], y + left[1], x + up[0], y + up[1]);
  canvas_line(c, x - left[0], y - left[1], x + up[0], y + up[1]);
  box(c, x + 1.5 * up[0], y + 1.5 * up[1], 0.8, 0.8);
  if (action && *(const int32_t *)action == 2)
    canvas_line(c, x + 0.5 * up[0], y + 0.5 * up[1], x - 0.8 * up[0], y - 0.8 * up[1]);
}
