/* The same device without the library: the policy is a file of C, which brain.c has written. */
#include "boot.h"
#include "cart.h"
#include "cart_policy.h"

enum { EPISODES = 10 };

static cart_scratch scratch;

int run(void) {
  uint32_t total = 0;
  for (uint32_t episode = 0; episode < EPISODES; episode++) {
    const float tilt = 0.045F - 0.01F * (float)episode;
    float s[OBS_LEN] = {-tilt, 0, tilt, 0};
    int up = 1;
    for (uint32_t step = 0; up && step < MAX_STEPS; step++, total++) {
      int32_t action = 0;
      if (cart_act(&scratch, s, NULL, &action)) return 1;
      up = physics(s, action);
    }
  }
  print_number(EPISODES);
  print(" episodes: mean return ");
  print_number(total / EPISODES);
  print("\n");
  if (total != EPISODES * MAX_STEPS) return 1;
  print("ok: the policy balances the pole\n");
  return 0;
}
