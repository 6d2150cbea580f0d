/* n weighted sums of k numbers: weights [k, n]; bias [n], or NULL. */
static inline void @_wide(const float *x, size_t k, const float *weight, const float *bias, size_t n, float *y) {
  for (size_t j = 0; j < n; j++) y[j] = bias ? bias[j] : 0.0f;
  for (size_t i = 0; i < k; i++, weight += n)
    for (size_t j = 0; j < n; j++) y[j] = $_FMA(x[i], weight[j], y[j]);
}
