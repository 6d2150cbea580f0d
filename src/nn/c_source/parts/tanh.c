/* The hyperbolic tangent within 6 ulp. */
static inline float @_tanh(float x) {
  const float y = @_clamp(x, -8.905f, 8.905f), z = y * y;
  float p = 1.331887e-8f, q = 7.761951e-7f;
  p = p * z + 2.0583351e-5f;
  p = p * z + 3.4940261e-3f;
  p = p * z + 1.3379708e-1f;
  p = p * z + 1.0f;
  q = q * z + 3.2830785e-4f;
  q = q * z + 2.587104e-2f;
  q = q * z + 4.6713018e-1f;
  q = q * z + 1.0f;
  return x != x ? x : @_clamp(y * p / q, -1.0f, 1.0f);
}
