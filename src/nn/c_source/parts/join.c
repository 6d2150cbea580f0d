/* n numbers of a, then k of b, for each of the pixels. */
static inline void @_join(const float *a, size_t n, const float *b, size_t k, size_t pixels, float *y) {
  for (size_t i = 0; i < pixels; i++, a += n, b += k, y += n + k) {
    memcpy(y, a, n * sizeof *y);
    memcpy(y + n, b, k * sizeof *y);
  }
}
