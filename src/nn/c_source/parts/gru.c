/* Gated recurrent unit: weights of the input [k, 3 n] and of the output before [n, 3 n], biases [3 n], and those inside the product
   [n]. */
static inline void @_gru(const float *x, size_t k, size_t n, const float *weight, const float *before, float *after, float *work,
                         float *y) {
  const float *own = weight + k * 3 * n, *bias = own + n * 3 * n, *inner = bias + 3 * n;
  float *gates = work, *other = work + 3 * n;
  @_wide(x, k, weight, bias, 3 * n, gates);
  @_wide(before, n, own, NULL, 3 * n, other);
  for (size_t i = 0; i < n; i++) {
    const float r = @_sigmoid(gates[i] + other[i]), z = @_sigmoid(gates[n + i] + other[n + i]);
    const float c = @_tanh(gates[2 * n + i] + r * (other[2 * n + i] + inner[i]));
    y[i] = after[i] = (1.0f - z) * c + z * before[i];
  }
}
