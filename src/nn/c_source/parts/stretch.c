/* Element i of an action from -1 to 1, scaled to its bounds. */
static inline float @_stretch(float x, float low, float high) {
  const float part = 0.5f * x + 0.5f, width = high - low;
  return @_clamp(@_finite(&width, 1) ? low + part * width : (1.0f - part) * low + part * high, low, high);
}
