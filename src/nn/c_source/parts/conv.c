/* Convolution: weights [size, size, channels, units]. Pixels outside the picture are 0. */
static inline void @_conv(const @_windows *of, const float *x, const uint8_t *bytes, const float *weight, const float *bias,
                          size_t units, float *y) {
  for (size_t i = 0; i < of->windows[0]; i++)
    for (size_t j = 0; j < of->windows[1]; j++, y += units) {
      const float *w = weight;
      for (size_t u = 0; u < units; u++) y[u] = bias ? bias[u] : 0.0f;
      for (size_t k = 0; k < of->size[0]; k++)
        for (size_t l = 0; l < of->size[1]; l++) {
          /* Above and to the left of the picture these wrap around to large numbers. */
          const size_t row = i * of->stride[0] + k - of->pad[0], column = j * of->stride[1] + l - of->pad[1];
          const int inside = row < of->height && column < of->width;
          for (size_t c = 0; c < of->channels; c++, w += units) {
            const float pixel = inside ? @_pixel(x, bytes, (row * of->width + column) * of->channels + c) : 0.0f;
            for (size_t u = 0; u < units; u++) y[u] = $_FMA(pixel, w[u], y[u]);
          }
        }
    }
}
