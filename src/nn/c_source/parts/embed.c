/* The sum of the rows that the channels of each pixel select from their tables [channels, symbols, units]. */
static inline void @_embed(const float *x, size_t pixels, size_t channels, float scale, uint32_t symbols, const float *table,
                           size_t units, float *y) {
  for (size_t i = 0; i < pixels; i++, x += channels, y += units) {
    for (size_t u = 0; u < units; u++) y[u] = 0.0f;
    for (size_t c = 0; c < channels; c++) {
      const float above = (x[c] > 0 ? x[c] : 0.0f) * scale + 0.5f;
      const uint32_t symbol = above < 4294967040.0f ? (uint32_t)above : UINT32_MAX;
      const float *row = table + (c * symbols + (symbol < symbols ? symbol : symbols - 1)) * units;
      for (size_t u = 0; u < units; u++) y[u] += row[u];
    }
  }
}
