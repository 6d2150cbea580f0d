/* A cart that balances a pole. */
#ifndef CART_H
#define CART_H

#include <stdint.h>

enum { OBS_LEN = 4, MAX_STEPS = 500 };

/* One step of 20 ms. s: position and velocity of the cart, angle and velocity of the pole. False once the pole has fallen or
   the cart has left the track. */
static inline int physics(float s[OBS_LEN], int32_t push_right) {
  /* The pole falls at 0.21 rad: up to there, these terms are enough for 24 bits. */
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

#endif
