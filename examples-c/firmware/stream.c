/* A device that learns to balance a pole from one step at a time: stream AC, which stores only parameters and their traces. */
#include "boot.h"
#include "cart.h"
#include <rlcore.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const rlcore_status status = (call);                                                                               \
    if (status) return failed(#call, status);                                                                          \
  } while (0)

enum { MEMORY_SIZE = 19 << 10, UNITS = 16, IN_A_ROW = 10, MAX_TRAINING = 40000 };

static _Alignas(64) unsigned char memory[MEMORY_SIZE]; /* the learner; all other training data are on the stack */

static int failed(const char *call, rlcore_status status) {
  print(call);
  print(": ");
  print(rlcore_status_name(status));
  print("\n");
  return 1;
}

int run(void) {
  static const uint32_t choices[] = {2};
  const rlcore_space obs = {.kind = RLCORE_F32, .len = OBS_LEN}, action = {.kind = RLCORE_I32, .len = 1, .n = choices};
  rlcore_learner_config config;
  rlcore_learner *agent;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  size_t size = 0;
  uint32_t balanced = 0;

  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_STREAM_AC));
  config.num_hidden = 1;
  config.hidden_len[0] = UNITS;
  config.hidden_len[1] = 0;
  CHECK(rlcore_learner_size(&config, &obs, &action, &size));
  CHECK(rlcore_learner_init(memory, sizeof memory, &config, &obs, &action, &agent));
  CHECK(rlcore_rng_seed(&rng, 1));
  float seen[OBS_LEN], reward = 1;
  int32_t choice = 0;
  uint8_t terminated = 0, truncated = 0;
  const rlcore_rows row = {.struct_size = sizeof row, .obs = seen, .action = &choice, .reward = &reward,
                           .terminated = &terminated, .truncated = &truncated, .final_obs = seen};
  while (balanced < IN_A_ROW && stats.num_steps < MAX_TRAINING) {
    int up = 1;
    CHECK(rlcore_rng_normal(&rng, seen, OBS_LEN));
    for (int i = 0; i < OBS_LEN; i++) seen[i] *= 0.03F;
    for (uint32_t step = 1; up && step <= MAX_STEPS; step++) {
      CHECK(rlcore_learner_act(agent, &row));
      up = physics(seen, choice);
      terminated = !up, truncated = up && step == MAX_STEPS;
      CHECK(rlcore_learner_observe(agent, &row));
      CHECK(rlcore_learner_learn(agent, &row, 0, &stats));
    }
    balanced = up ? balanced + 1 : 0;
  }

  print_number((uint32_t)size);
  print(" bytes of the array used\n");
  print_number((uint32_t)stats.num_steps);
  print(" steps, ");
  print_number((uint32_t)stats.num_episodes);
  print(" episodes, ");
  print_number(balanced);
  print(" of the last balanced for 500 steps\n");
  if (balanced < IN_A_ROW) return 1;
  print("ok: learned to balance a pole on the device\n");
  return 0;
}
