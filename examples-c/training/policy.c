/* A shipped game: the exported policy in a static block, without the learner, and the game's own physics, here a cart
   that balances a pole. `policy [FILE]` */
#include <math.h>
#include <rlcore.h>
#include <stdio.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if ((call) != RLCORE_OK) {                                                                                         \
      char why[256];                                                                                                   \
      rlcore_last_error(why, sizeof why);                                                                              \
      fprintf(stderr, "%s\n  %s\n", #call, why);                                                                       \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

enum { OBS_LEN = 4, MAX_STEPS = 500, EPISODES = 10 };

static _Alignas(64) unsigned char brain[64 << 10]; /* shared by all characters, never written after loading */
static float scratch[8 << 10];                     /* one for each thread */

/* One step of 20 ms. s: position and velocity of the cart, angle and velocity of the pole. False once the pole has fallen or
   the cart has left the track. */
static int physics(double s[OBS_LEN], int32_t push_right) {
  const double force = push_right ? 10 : -10, c = cos(s[2]), d = sin(s[2]);
  const double pull = (force + 0.05 * s[3] * s[3] * d) / 1.1;
  const double turn = (9.8 * d - c * pull) / (0.5 * (4.0 / 3 - 0.1 * c * c / 1.1)),
               speed_up = pull - 0.05 * turn * c / 1.1;
  s[0] += 0.02 * s[1];
  s[1] += 0.02 * speed_up;
  s[2] += 0.02 * s[3];
  s[3] += 0.02 * turn;
  return fabs(s[0]) <= 2.4 && fabs(s[2]) <= 0.2095;
}

int main(int argc, char **argv) {
  const char *const name = argc > 1 ? argv[1] : "out/policy.bin";
  FILE *const file = fopen(name, "rb");
  if (!file) return fprintf(stderr, "no %s: run `make run` first\n", name), 1;
  const size_t size = fread(brain, 1, sizeof brain, file);
  fclose(file);

  /* The spaces of this game: a policy for other spaces is refused. */
  static const uint32_t sides = 2;
  const rlcore_space seen = {.kind = RLCORE_F32, .len = OBS_LEN}, push = {.kind = RLCORE_I32, .len = 1, .n = &sides};
  const rlcore_policy *policy;
  size_t scratch_len = 0;
  CHECK(rlcore_policy_attach(brain, size, &seen, &push, &policy));
  CHECK(rlcore_policy_scratch_len(policy, 1, &scratch_len));
  if (scratch_len > sizeof scratch / sizeof *scratch)
    return fprintf(stderr, "scratch: %zu floats needed\n", scratch_len), 1;
  printf("a policy of %zu bytes, %zu floats of scratch\n", size, scratch_len);

  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = scratch, .scratch_len = scratch_len};
  int total = 0;
  for (int episode = 0; episode < EPISODES; episode++) {
    double s[OBS_LEN] = {0.01 * episode - 0.045, 0, 0.045 - 0.01 * episode, 0};
    int steps = 0, up = 1;
    for (; up && steps < MAX_STEPS; steps++) {
      float obs[OBS_LEN] = {(float)s[0], (float)s[1], (float)s[2], (float)s[3]};
      int32_t action = 0;
      const rlcore_rows row = {.struct_size = sizeof row, .obs = obs, .action = &action};
      CHECK(rlcore_policy_act(policy, 1, &row, &buffers, &greedy, NULL));
      up = physics(s, action);
    }
    total += steps;
  }
  printf("%d episodes: mean return %d\n", EPISODES, total / EPISODES);
  if (total < 475 * EPISODES) return printf("FAILED: at least 475 expected\n"), 1;
  printf("ok: the shipped policy balances the pole\n");
  return 0;
}
