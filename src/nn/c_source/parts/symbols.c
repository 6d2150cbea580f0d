/* Whether all n numbers are symbols: whole, from 0 to below their count; bytes: divided by 255. */
static inline int @_symbols(const float *x, size_t n, int bytes, uint32_t symbols) {
  for (size_t i = 0; i < n; i++) {
    const float number = bytes ? x[i] * 255.0f + 0.5f : x[i];
    if (!(x[i] >= 0 && number < 4294967040.0f)) return 0;
    if ((uint32_t)number >= symbols || (!bytes && (float)(uint32_t)number != number)) return 0;
  }
  return 1;
}
