/* Long short-term memory: weights of the input [k, 4 n] and of the output before [n, 4 n], biases [4 n]; states are outputs, then
   cells. */
static inline void @_lstm(const float *x, size_t k, size_t n, const float *weight, const float *before, float *after, float *work,
                          float *y) {
  const float *own = weight + k * 4 * n, *bias = own + n * 4 * n;
  float *gates = work, *other = work + 4 * n;
  @_wide(x, k, weight, bias, 4 * n, gates);
  @_wide(before, n, own, NULL, 4 * n, other);
  for (size_t i = 0; i < n; i++) {
    const float in = @_sigmoid(gates[i] + other[i]), forget = @_sigmoid(gates[n + i] + other[n + i]);
    const float cell = forget * before[n + i] + in * @_tanh(gates[2 * n + i] + other[2 * n + i]);
    after[n + i] = cell;
    y[i] = after[i] = @_sigmoid(gates[3 * n + i] + other[3 * n + i]) * @_tanh(cell);
  }
}
