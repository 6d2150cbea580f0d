/* The first of the largest of n logits that the mask, unless it is NULL, allows. */
static inline int32_t @_best_of(const float *logits, const uint8_t *mask, uint32_t n) {
  uint32_t best = n;
  for (uint32_t k = 0; k < n; k++)
    if ((!mask || mask[k]) && (best == n || logits[k] > logits[best])) best = k;
  return (int32_t)best;
}
