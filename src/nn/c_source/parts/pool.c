/* The largest number of each channel in each window, or with a mean their mean. Pixels outside the picture do not count. */
static inline void @_pool(const @_windows *of, const float *x, int mean, float *y) {
  for (size_t i = 0; i < of->windows[0]; i++)
    for (size_t j = 0; j < of->windows[1]; j++, y += of->channels)
      for (size_t c = 0; c < of->channels; c++) {
        size_t count = 0;
        for (size_t k = 0; k < of->size[0]; k++)
          for (size_t l = 0; l < of->size[1]; l++) {
            const size_t row = i * of->stride[0] + k - of->pad[0], column = j * of->stride[1] + l - of->pad[1];
            if (row < of->height && column < of->width) {
              const float pixel = x[(row * of->width + column) * of->channels + c];
              if (count++ == 0) y[c] = mean ? 0.0f + pixel : pixel;
              else if (mean) y[c] += pixel;
              else y[c] = y[c] > pixel ? y[c] : pixel;
            }
          }
        if (mean) y[c] *= 1.0f / (float)count;
      }
}
