static inline void @_apply_relu(float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = 0.0f > y[i] ? 0.0f : y[i];
}
