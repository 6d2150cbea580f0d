/* a + b, where the k numbers of b are added to every k of a. */
static inline void @_add(const float *a, size_t n, const float *b, size_t k, float *y) {
  for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i % k];
}
