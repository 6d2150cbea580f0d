/* a * b, in the same way. */
static inline void @_multiply(const float *a, size_t n, const float *b, size_t k, float *y) {
  for (size_t i = 0; i < n; i++) y[i] = a[i] * b[i % k];
}
