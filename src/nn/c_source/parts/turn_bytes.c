/* A picture of bytes whose channels come first as numbers whose channels come last. */
static inline void @_turn_bytes(const uint8_t *bytes, size_t pixels, size_t channels, float *y) {
  for (size_t i = 0; i < pixels * channels; i++) y[i] = (float)bytes[i % channels * pixels + i / channels] / 255.0f;
}
