/* 1 / (1 + e^-x) within 3 ulp. */
static inline float @_sigmoid(float x) {
  const float e = @_exp(x < 0 ? x : -x), s = 1.0f / (1.0f + e);
  return x < 0 ? e * s : s;
}
