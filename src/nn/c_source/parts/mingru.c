/* The same with gates of the input alone: weights [k, 2 n], biases [2 n]. */
static inline void @_mingru(const float *x, size_t k, size_t n, const float *weight, const float *before, float *after, float *work,
                            float *y) {
  @_wide(x, k, weight, weight + k * 2 * n, 2 * n, work);
  for (size_t i = 0; i < n; i++) {
    const float z = @_sigmoid(work[i]), v = work[n + i], c = v >= 0 ? v + 0.5f : @_sigmoid(v);
    y[i] = after[i] = (1.0f - z) * before[i] + z * c;
  }
}
