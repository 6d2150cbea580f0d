/* n choices, one-hot; 0 if there is one that does not exist. */
static inline int @_one_hot(const uint8_t *bytes, const uint32_t *counts, size_t n, float *y) {
  for (size_t i = 0; i < n; y += counts[i], i++) {
    int32_t choice;
    memcpy(&choice, bytes + i * sizeof choice, sizeof choice);
    if (choice < 0 || (uint32_t)choice >= counts[i]) return 0;
    for (uint32_t k = 0; k < counts[i]; k++) y[k] = 0.0f;
    y[choice] = 1.0f;
  }
  return 1;
}
