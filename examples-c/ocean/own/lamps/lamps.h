/* A row of lamps, one of which is lit: press the button below it. An episode has 16 presses; its end is a time limit,
   which only the log tells. Observations are bytes, and actions are choices in floats, as some games of this convention have them. */
#include "raylib.h"

#include <stdlib.h>
#include <string.h>

enum { LAMPS = 6, LAMPS_PRESSES = 16 };

typedef struct Log {
  float score; /* buttons below a lit lamp */
  float n;     /* episodes */
} Log;

typedef struct Lamps {
  Log log;
  unsigned char *observations; /* [LAMPS] 0 or 2 */
  float *actions;              /* [1] 0 to LAMPS - 1 */
  float *rewards;              /* [1] */
  unsigned char *terminals;    /* [1] */
  int pressed, right;
} Lamps;

static void light(Lamps *env) {
  memset(env->observations, 0, LAMPS);
  env->observations[rand() % LAMPS] = 2;
}

void c_reset(Lamps *env) {
  env->pressed = env->right = 0;
  light(env);
}

void c_step(Lamps *env) {
  const int hit = env->observations[(int)env->actions[0]] == 2;
  env->right += hit;
  env->rewards[0] = (float)hit;
  env->terminals[0] = 0;
  if (++env->pressed == LAMPS_PRESSES) {
    env->log.score += (float)env->right;
    env->log.n++;
    env->pressed = env->right = 0;
  }
  light(env);
}

void c_render(Lamps *env) {
  InitWindow(40 * LAMPS, 40, "lamps");
  for (int i = 0; i < LAMPS; i++) DrawCircle(40 * i + 20, 20, 16, env->observations[i] ? 0xffff00U : 0);
}

void c_close(Lamps *env) {
  (void)env;
  CloseWindow();
}
