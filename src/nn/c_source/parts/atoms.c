/* The means of n distributions over evenly spaced numbers from low to high, given by the logits of each. */
static inline void @_atoms(const float *logits, size_t n, size_t atoms, float low, float high, float *y) {
  for (size_t i = 0; i < n; i++, logits += atoms) {
    float most = -3.40282347e38f, total = -0.0f, mean = -0.0f;
    for (size_t k = 0; k < atoms; k++) most = most > logits[k] ? most : logits[k];
    for (size_t k = 0; k < atoms; k++) total += @_exp(logits[k] - most);
    for (size_t k = 0; k < atoms; k++) mean += @_exp(logits[k] - most) * (low + (high - low) * ((float)k / (float)(atoms - 1)));
    y[i] = mean / total;
  }
}
