/* The same, fewer than 16: weights [n, k]; each sum consists of 16 partial sums. */
static inline void @_narrow(const float *x, size_t k, const float *weight, const float *bias, size_t n, float *y) {
  for (size_t j = 0; j < n; j++, weight += k) {
    float sums[16] = {0};
    for (size_t i = 0; i < (k + 15) / 16 * 16; i++)
      sums[i % 16] = $_FMA(i < k ? x[i] : 0.0f, i < k ? weight[i] : 0.0f, sums[i % 16]);
    y[j] = @_tree(sums) + (bias ? bias[j] : 0.0f);
  }
}
