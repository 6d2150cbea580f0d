/* A program of calls: the input chooses functions and the errors in their arguments, on blocks that earlier calls have changed.
   No call may do harm, a failing call may change nothing, a block has to stay valid, and a copy of it has to give the same
   results elsewhere. */

#include "calls.h"

extern const struct op *const __start_ops[], *const __stop_ops[];

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  prepare();
  input = data, input_size = size, cursor = 0;
  const size_t num_ops = (size_t)(__stop_ops - __start_ops);
  for (int calls = 0; cursor < input_size && calls < 16; calls++) {
    const struct op *op = __start_ops[half() % num_ops];
    KNOWN(make_call(op));
  }
  FINE(rlcore_cpu_set_limit(RLCORE_CPU_AVX512));
  return 0;
}
