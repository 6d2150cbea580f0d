/* Element i of a picture of numbers or of bytes, which are divided by 255. */
static inline float @_pixel(const float *x, const uint8_t *bytes, size_t i) {
  return bytes ? (float)bytes[i] / 255.0f : x[i];
}
