/* Pictures of an environment, drawn from observations. */
#ifndef DRAW_H
#define DRAW_H

#include "term.h"

#include <stdint.h>

typedef void (*draw_fn)(canvas *c, const void *obs, const void *action);

void draw_cartpole(canvas *c, const void *obs, const void *action);
void draw_mountain_car(canvas *c, const void *obs, const void *action);
void draw_acrobot(canvas *c, const void *obs, const void *action);
void draw_pendulum(canvas *c, const void *obs, const void *action);
void draw_cartpole_no_vel(canvas *c, const void *obs, const void *action);
void draw_suits(canvas *c, const void *obs, const void *action);
void draw_breakout(canvas *c, const void *obs, const void *action);
void draw_catch(canvas *c, const void *obs, const void *action);
void draw_asterix(canvas *c, const void *obs, const void *action);
void draw_freeway(canvas *c, const void *obs, const void *action);
void draw_space_invaders(canvas *c, const void *obs, const void *action);
void draw_maze(canvas *c, const void *obs, const void *action);
void draw_lander(canvas *c, const void *obs, const void *action);

#endif
