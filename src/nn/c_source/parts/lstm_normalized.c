/* The same with normalized gates and cells: biases of the gates and of the cells [5 n], then their scales [5 n]. */
static inline void @_lstm_normalized(const float *x, size_t k, size_t n, const float *weight, const float *before, float *after,
                                     float *work, float *y) {
  const float *own = weight + k * 4 * n, *bias = own + n * 4 * n, *scale = bias + 5 * n;
  float *gates = work, *other = work + 4 * n, *cells = after + n;
  @_wide(x, k, weight, NULL, 4 * n, gates);
  @_wide(before, n, own, NULL, 4 * n, other);
  for (size_t i = 0; i < 4 * n; i++) gates[i] += other[i];
  for (size_t i = 0; i < 4 * n; i += n) @_norm(gates + i, n, n, scale + i, bias + i, 1, 1e-12f, other + i);
  for (size_t i = 0; i < n; i++)
    gates[i] = @_sigmoid(other[n + i]) * before[n + i] + @_sigmoid(other[i]) * @_tanh(other[2 * n + i]);
  @_norm(gates, n, n, scale + 4 * n, bias + 4 * n, 1, 1e-12f, cells);
  for (size_t i = 0; i < n; i++) y[i] = after[i] = @_sigmoid(other[3 * n + i]) * @_tanh(cells[i]);
}
