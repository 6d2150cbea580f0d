/* Normalization of a row of n numbers to deviation 1, and to mean 0 if it centers; scale and bias [channels], or NULL. */
static inline void @_norm(const float *x, size_t n, size_t channels, const float *scale, const float *bias, int centers, float epsilon,
                          float *y) {
  const float share = 1.0f / (float)n, mean = centers ? @_sum(x, n) * share : 0.0f;
  float squares[16] = {0}, factor;
  for (size_t i = 0; i < n; i++) squares[i % 16] += (x[i] - mean) * (x[i] - mean);
  factor = 1.0f / @_sqrt(@_tree(squares) * share + epsilon);
  for (size_t i = 0; i < n; i++) {
    y[i] = (x[i] - mean) * factor;
    if (scale) y[i] *= scale[i % channels];
    if (bias) y[i] += bias[i % channels];
  }
}
