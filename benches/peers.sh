#!/bin/bash
# Times other packages at the shapes of `cargo bench`, on one thread, where they are installed: `benches/peers.sh [python]`,
# by default the Python that tests/system/parity/run.sh has made, else python3. `cargo bench --bench table` puts what it finds
# beside rlcore's numbers; run all three on the same machine, with nothing else on it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-target/parity/bin/python}
command -v "$python" > /dev/null || python=python3
mkdir -p target/criterion
export XLA_FLAGS='--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1' JAX_PLATFORMS=cpu
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/system/parity
"$python" benches/peers.py > target/criterion/peers.new
mv target/criterion/peers.new target/criterion/peers.tsv
