/* The sum of 16 partial sums: those 8 apart, then 4, 2 and 1. */
static inline float @_tree(float *sums) {
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
}
