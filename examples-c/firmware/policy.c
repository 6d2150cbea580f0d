/* A device with a trained policy in flash, used in place, and a control loop, here a cart that balances a pole. */
#include "boot.h"
#include "cart.h"
#include <rlcore.h>

enum { EPISODES = 10, SCRATCH_LEN = 64 };

static _Alignas(64) const unsigned char brain[] = {
#include "brain.inc"
};
static float scratch[SCRATCH_LEN]; /* see rlcore_policy_scratch_len; too few is an error */

static int failed(const char *call, rlcore_status status) {
  print(call);
  print(": error ");
  print_number((uint32_t)-status);
  print("\n");
  return 1;
}

int run(void) {
  static const uint32_t sides = 2;
  static const rlcore_space obs = {.kind = RLCORE_F32, .len = OBS_LEN}, push = {.kind = RLCORE_I32, .len = 1, .n = &sides};
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = SCRATCH_LEN};
  const rlcore_policy *policy;
  uint32_t total = 0;
  rlcore_status status = rlcore_policy_attach(brain, sizeof brain, &obs, &push, &policy);
  if (status) return failed("attach", status);
  for (uint32_t episode = 0; episode < EPISODES; episode++) {
    const float tilt = 0.045F - 0.01F * (float)episode;
    float s[OBS_LEN] = {-tilt, 0, tilt, 0};
    int up = 1;
    for (uint32_t step = 0; up && step < MAX_STEPS; step++, total++) {
      int32_t action = 0;
      const rlcore_rows row = {.struct_size = sizeof row, .obs = s, .action = &action};
      status = rlcore_policy_act_greedy(policy, 1, &row, &buffers);
      if (status) return failed("act", status);
      up = physics(s, action);
    }
  }
  print("a policy of ");
  print_number(sizeof brain);
  print(" bytes, ");
  print_number(EPISODES);
  print(" episodes: mean return ");
  print_number(total / EPISODES);
  print("\n");
  if (total != EPISODES * MAX_STEPS) return 1;
  print("ok: the policy balances the pole\n");
  return 0;
}
