/* The sum of n numbers, in 16 partial sums. */
static inline float @_sum(const float *x, size_t n) {
  float sums[16] = {0};
  for (size_t i = 0; i < n; i++) sums[i % 16] += x[i];
  return @_tree(sums);
}
