/* Whether all n numbers are finite. */
static inline int @_finite(const float *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) return 0;
  }
  return 1;
}
