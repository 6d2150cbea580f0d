static inline void @_apply_leaky_relu(float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0.01f * y[i];
}
