/* Whether a mask, unless it is NULL, allows a choice of each element. */
static inline int @_allows(const uint8_t *mask, const uint32_t *counts, size_t n) {
  for (size_t i = 0; mask && i < n; mask += counts[i], i++) {
    uint8_t any = 0;
    for (uint32_t k = 0; k < counts[i]; k++) any |= mask[k];
    if (!any) return 0;
  }
  return 1;
}
