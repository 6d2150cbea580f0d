/* Ferries on a river: each has a passenger to fetch on one bank and to bring to the other. All agents of a world share the river's current.
   An episode of a ferry ends when its passenger is across, or after 64 steps, and the next one starts in the same call. */
#include "raylib.h"

#include <stdlib.h>

enum { FERRY_BANK = 8, FERRY_LIMIT = 64 };

typedef struct Log {
  float score;          /* passengers */
  float episode_return; /* sum of rewards */
  float episode_length;
  float n; /* episodes */
} Log;

typedef struct Boat {
  int at, fetch, aboard, age; /* -FERRY_BANK to FERRY_BANK; the bank of the passenger, -1 or 1 */
  float total;
} Boat;

typedef struct Ferry {
  Log log;
  float *observations;      /* [num_agents, 4] */
  int *actions;             /* [num_agents] 0: to the left, 1: stay, 2: to the right */
  float *rewards;           /* [num_agents] */
  unsigned char *terminals; /* [num_agents] */
  int num_agents, current;
  Boat *boats;
} Ferry;

static void init(Ferry *env) { env->boats = calloc((size_t)env->num_agents, sizeof *env->boats); }

static void see(Ferry *env) {
  for (int i = 0; i < env->num_agents; i++) {
    float *const obs = env->observations + 4 * i;
    obs[0] = (float)env->boats[i].at / FERRY_BANK;
    obs[1] = (float)env->boats[i].fetch;
    obs[2] = (float)env->boats[i].aboard;
    obs[3] = (float)env->current;
  }
}

static void board(Boat *boat) { *boat = (Boat){.at = rand() % 5 - 2, .fetch = rand() % 2 ? 1 : -1}; }

void c_reset(Ferry *env) {
  for (int i = 0; i < env->num_agents; i++) board(&env->boats[i]);
  env->current = 0;
  see(env);
}

void c_step(Ferry *env) {
  if (rand() % 16 == 0) env->current = rand() % 3 - 1;
  for (int i = 0; i < env->num_agents; i++) {
    Boat *const boat = &env->boats[i];
    boat->at += 2 * (env->actions[i] - 1) + env->current;
    if (boat->at < -FERRY_BANK) boat->at = -FERRY_BANK;
    if (boat->at > FERRY_BANK) boat->at = FERRY_BANK;
    boat->age++;
    env->rewards[i] = -0.01F;
    const int across = boat->aboard && boat->at == -boat->fetch * FERRY_BANK;
    if (!boat->aboard && boat->at == boat->fetch * FERRY_BANK) boat->aboard = 1, env->rewards[i] += 0.25F;
    if (across) env->rewards[i] += 1;
    boat->total += env->rewards[i];
    env->terminals[i] = across || boat->age == FERRY_LIMIT;
    if (!env->terminals[i]) continue;
    env->log.score += (float)across;
    env->log.episode_return += boat->total;
    env->log.episode_length += (float)boat->age;
    env->log.n++;
    board(boat);
  }
  see(env);
}

void c_render(Ferry *env) {
  InitWindow(40 * (2 * FERRY_BANK + 1), 40 * env->num_agents, "ferries");
  for (int i = 0; i < env->num_agents; i++) DrawCircle(40 * (env->boats[i].at + FERRY_BANK), 40 * i, 16, 0xffffffU);
}

void c_close(Ferry *env) {
  free(env->boats);
  CloseWindow();
}
