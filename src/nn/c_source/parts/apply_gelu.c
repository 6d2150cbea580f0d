static inline void @_apply_gelu(float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] *= 0.5f + 0.5f * @_tanh(0.7978846f * (y[i] + 0.044715f * y[i] * y[i] * y[i]));
}
