static inline void @_apply_silu(float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] *= @_sigmoid(y[i]);
}
