/* Transposed convolution: each of the pixels x [windows, units] adds a window to the picture y: weights [size, size, channels, units]. */
static inline void @_deconv(const @_windows *of, const float *x, const float *weight, const float *bias, size_t units, float *y) {
  const size_t len = of->height * of->width * of->channels;
  for (size_t i = 0; i < len; i++) y[i] = 0.0f;
  for (size_t i = 0; i < of->windows[0]; i++)
    for (size_t j = 0; j < of->windows[1]; j++, x += units) {
      const float *w = weight;
      for (size_t k = 0; k < of->size[0]; k++)
        for (size_t l = 0; l < of->size[1]; l++) {
          const size_t row = i * of->stride[0] + k - of->pad[0], column = j * of->stride[1] + l - of->pad[1];
          const int inside = row < of->height && column < of->width;
          for (size_t c = 0; c < of->channels; c++, w += units) {
            float sum = 0.0f;
            for (size_t u = 0; u < units; u++) sum = $_FMA(x[u], w[u], sum);
            if (inside) y[(row * of->width + column) * of->channels + c] += sum;
          }
        }
    }
  if (bias)
    for (size_t i = 0; i < len; i++) y[i] += bias[i % of->channels];
}
