static inline void @_apply_elu(float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : @_exp(y[i] > 0 ? 0.0f : y[i]) - 1.0f;
}
