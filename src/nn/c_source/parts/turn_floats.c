/* A picture of numbers whose channels come first as one whose channels come last. */
static inline void @_turn_floats(const uint8_t *bytes, size_t pixels, size_t channels, float *y) {
  for (size_t i = 0; i < pixels * channels; i++) memcpy(y + i, bytes + (i % channels * pixels + i / channels) * sizeof *y, sizeof *y);
}
