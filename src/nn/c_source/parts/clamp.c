static inline float @_clamp(float x, float low, float high) {
  const float y = low > x ? low : x;
  return high < y ? high : y;
}
