/* Convolution of each channel by itself: weights [size, size, units], as many units in a row for each channel. */
static inline void @_depthwise(const @_windows *of, const float *x, const uint8_t *bytes, const float *weight, const float *bias,
                               size_t units, float *y) {
  const size_t each = units / of->channels;
  for (size_t i = 0; i < of->windows[0]; i++)
    for (size_t j = 0; j < of->windows[1]; j++, y += units) {
      const float *w = weight;
      for (size_t u = 0; u < units; u++) y[u] = bias ? bias[u] : 0.0f;
      for (size_t k = 0; k < of->size[0]; k++)
        for (size_t l = 0; l < of->size[1]; l++, w += units) {
          /* Above and to the left of the picture these wrap around to large numbers. */
          const size_t row = i * of->stride[0] + k - of->pad[0], column = j * of->stride[1] + l - of->pad[1];
          const int inside = row < of->height && column < of->width;
          for (size_t u = 0; u < units; u++) {
            const size_t at = (row * of->width + column) * of->channels + u / each;
            y[u] = $_FMA(inside ? @_pixel(x, bytes, at) : 0.0f, w[u], y[u]);
          }
        }
    }
}
