/* A device with a trained policy in flash, used in place, and a control loop, here a cart that balances a pole. */
#include "boot.h"
#include <rlcore.h>

enum { OBS_LEN = 4, MAX_STEPS = 500, EPISODES = 10, SCRATCH_LEN = 64 };

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

/* x, its velocity, the pole's angle, its velocity; one step of 20 ms. False once the pole has fallen. */
static int physics(float s[OBS_LEN], int32_t push_right) {
  /* The pole falls at 0.21 rad: so few terms are enough for 24 bits. */
  const float q = s[2] * s[2], sine = s[2] * (1 - q / 6 * (1 - q / 20 * (1 - q / 42))),
              cosine = 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56)));
  const float force = push_right ? 10 : -10, pull = (force + 0.05F * s[3] * s[3] * sine) / 1.1F,
              turn = (9.8F * sine - cosine * pull) / (0.5F * (4.0F / 3 - 0.1F * cosine * cosine / 1.1F)),
              speed_up = pull - 0.05F * turn * cosine / 1.1F;
  s[0] += 0.02F * s[1];
  s[1] += 0.02F * speed_up;
  s[2] += 0.02F * s[3];
  s[3] += 0.02F * turn;
  return s[0] >= -2.4F && s[0] <= 2.4F && s[2] >= -0.2095F && s[2] <= 0.2095F;
}

int run(void) {
  const rlcore_policy *policy;
  uint32_t total = 0;
  rlcore_status status = rlcore_policy_attach(brain, sizeof brain, &policy);
  if (status) return failed("attach", status);
  for (uint32_t episode = 0; episode < EPISODES; episode++) {
    const float tilt = 0.045F - 0.01F * (float)episode;
    float s[OBS_LEN] = {-tilt, 0, tilt, 0};
    int up = 1;
    for (uint32_t step = 0; up && step < MAX_STEPS; step++, total++) {
      int32_t action = 0;
      status = rlcore_policy_act_greedy(policy, 1, s, NULL, NULL, NULL, scratch, SCRATCH_LEN, &action);
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
