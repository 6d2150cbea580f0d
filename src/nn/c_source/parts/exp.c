/* e^x within 1 ulp. */
static inline float @_exp(float x) {
  const float round = 12582912.0f, y = @_clamp(x, -104.0f, 89.0f), shifted = y * 1.44269504f + round, n = shifted - round;
  const float r = y - n * 0.693359375f - n * -2.1219444e-4f;
  uint32_t bits, first;
  float p = 1.9875691e-4f, low, high;
  int32_t power, half;
  p = p * r + 1.3981999e-3f;
  p = p * r + 8.333452e-3f;
  p = p * r + 4.1665796e-2f;
  p = p * r + 1.6666665e-1f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  if (x != x) return x;
  /* 2^n in two factors, because n runs from -150 to 128. */
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&first, &round, sizeof first);
  power = (int32_t)(bits - first + 150u) - 150;
  half = (power + 150) / 2 - 75;
  bits = (uint32_t)(half + 127) << 23;
  memcpy(&low, &bits, sizeof low);
  bits = (uint32_t)(power - half + 127) << 23;
  memcpy(&high, &bits, sizeof high);
  return p * low * high;
}
