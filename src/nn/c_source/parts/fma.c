/* x * w + sum, rounded once as the library does. Without the instruction, rounded twice, which changes last bits; with $_EXACT
   defined as 1 before this file is included, once again, in double arithmetic, which is slower. */
#ifndef $_EXACT
#define $_EXACT 0
#endif
#ifndef $_FMA
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || defined(__riscv_flen) || defined(__FP_FAST_FMAF)
#if defined(__clang__)
#if __has_builtin(__builtin_elementwise_fma)
/* Clang calls a library for the other builtin on bare machines. */
#define $_FMA(x, w, sum) __builtin_elementwise_fma(x, w, sum)
#endif
#endif
#ifndef $_FMA
#define $_FMA(x, w, sum) __builtin_fmaf(x, w, sum)
#endif
#elif $_EXACT
#define $_FMA(x, w, sum) @_fma(x, w, sum)
/* The product is exact; the sum is rounded to odd, so that the second rounding is right. */
static inline float @_fma(float x, float w, float sum) {
  const double product = (double)x * (double)w, other = (double)sum;
  double whole = product + other;
  const double part = whole - product, error = (product - (whole - part)) + (other - part);
  if (error > 0 || error < 0) {
    uint64_t bits;
    memcpy(&bits, &whole, sizeof bits);
    bits = (bits - ((error > 0) != (whole > 0) ? 1u : 0u)) | 1u;
    memcpy(&whole, &bits, sizeof bits);
  }
  return (float)whole;
}
#else
#define $_FMA(x, w, sum) ((x) * (w) + (sum))
#endif
#endif
