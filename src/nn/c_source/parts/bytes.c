/* Bytes as numbers, divided by 255. */
static inline void @_bytes(const uint8_t *bytes, size_t n, float *y) {
  for (size_t i = 0; i < n; i++) y[i] = (float)bytes[i] / 255.0f;
}
