/* Attention of n numbers in heads to the last steps of an episode, at most window: weights of queries [k, n], of keys and values
   [k, 2 n], biases [3 n], positions [window, n], weights [n, n] and biases [n] of the output. A state is the number of steps that it
   holds, and their inputs, the newest last. */
static inline void @_attention(const float *x, size_t k, size_t n, size_t heads, size_t window, float scale, const float *weight,
                               const float *before, float *after, float *work, float *y) {
  const float *pair = weight + k * n, *bias = pair + k * 2 * n, *positions = bias + 3 * n, *out = positions + window * n;
  const size_t most = window - 1, len = n / heads;
  const size_t held = !(before[0] > 0) ? 0 : before[0] < (float)most ? (size_t)before[0] : most;
  float *query = work, *pairs = query + n, *mixed = pairs + window * 2 * n, *products = mixed + n, *shares = products + n;
  @_wide(x, k, weight, bias, n, query);
  /* Keys and values, the newest first. */
  for (size_t age = 0; age <= held; age++) {
    const float *step = age == 0 ? x : before + 1 + (most - age) * k;
    @_wide(step, k, pair, bias + n, 2 * n, pairs + age * 2 * n);
    for (size_t i = 0; i < n; i++) products[i] = query[i] * (pairs[age * 2 * n + i] + positions[age * n + i]);
    for (size_t h = 0; h < heads; h++) shares[h * window + age] = scale * @_sum(products + h * len, len);
  }
  for (size_t h = 0; h < heads; h++) {
    float *own = shares + h * window, largest = own[0], total = 0.0f, share;
    for (size_t age = 0; age <= held; age++) largest = largest > own[age] ? largest : own[age];
    for (size_t age = 0; age <= held; age++) total += own[age] = @_exp(own[age] - largest);
    share = 1.0f / total;
    for (size_t i = h * len; i < (h + 1) * len; i++) mixed[i] = 0.0f;
    for (size_t age = 0; age <= held; age++) {
      own[age] *= share;
      for (size_t i = h * len; i < (h + 1) * len; i++) mixed[i] += own[age] * pairs[age * 2 * n + n + i];
    }
  }
  @_wide(mixed, n, out, out + n * n, n, y);
  after[0] = (float)(held + 1 < most ? held + 1 : most);
  for (size_t i = 0; i < most * k; i++) after[1 + i] = i < (most - 1) * k ? before[1 + i + k] : x[i - (most - 1) * k];
}
