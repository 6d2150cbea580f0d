/* (x - mean) * factor, from the pairs of each number, clipped. */
static inline void @_normalize(const float *x, const double *pairs, float clip, size_t n, float *y) {
  for (size_t i = 0; i < n; i++) y[i] = @_clamp((float)(((double)x[i] - pairs[2 * i]) * pairs[2 * i + 1]), -clip, clip);
}
