/* The square root, correctly rounded. */
static inline float @_sqrt(float x) {
  const double d = (double)x;
  uint64_t bits;
  double y, root;
  if (!(x > 0)) return x;
  memcpy(&bits, &d, sizeof bits);
  bits = 0x5fe6eb50c7b537a9u - (bits >> 1);
  memcpy(&y, &bits, sizeof y);
  for (int i = 0; i < 3; i++) y *= 1.5 - 0.5 * d * y * y;
  root = d * y;
  return (float)(root + 0.5 * y * (d - root * root));
}
