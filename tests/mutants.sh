#!/bin/bash
# Mutates one file of the core and says which mutants its tests let live: `tests/mutants.sh src/block/plan.rs`. Needs
# cargo-mutants (`cargo install cargo-mutants --locked`).
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?a file below src}
case $file in  # which test programs speak about a file
  src/block/shared.rs)                           tests='--test data_memory --test data_replay --test data_rollout_buffer' ;;
  src/block/*)                                   tests='--test block --test block_plan' ;;
  src/kernels/gae.rs)                            tests='--test kernels_gae' ;;
  src/kernels/returns.rs)                        tests='--test kernels_gae --test kernels_targets' ;;
  src/kernels/targets.rs)                        tests='--test kernels_targets' ;;
  src/kernels/vtrace.rs)                         tests='--test kernels_vtrace' ;;
  src/kernels/grid.rs)                           tests='--test kernels_gae --test kernels_targets --test kernels_vtrace' ;;
  src/kernels/shift_rows.rs)                     tests='--test data_rollout_buffer' ;;
  src/kernels/transpose.rs)                      tests='--test kernels_transpose' ;;
  src/kernels/finite.rs | src/kernels/moments.rs) tests='--test kernels_moments --test kernels_gae' ;;
  src/kernels/tile.rs)                           tests='--test kernels_categorical --test kernels_gaussian' ;;
  src/kernels/categorical.rs)                    tests='--test kernels_categorical' ;;
  src/kernels/gaussian.rs)                       tests='--test kernels_gaussian' ;;
  src/kernels/image/*)                           tests='--test kernels_image' ;;
  src/kernels/stack.rs)                          tests='--test data_lazy_frames --test data_table' ;;
  src/data/normalizer.rs)                        tests='--test kernels_moments --test data_vec_normalize' ;;
  src/data/monitor_csv.rs)                       tests='--test data_monitor' ;;
  src/data/minibatch.rs | src/data/rollout_text.rs) tests='--test data_rollout_buffer' ;;
  src/data/text.rs)                              tests='--test data_monitor --test data_rollout_buffer' ;;
  src/data/step.rs)                              tests='--test data_vec_normalize --test data_monitor' ;;
  src/data/*)                                    tests="--test data_$(basename "$file" .rs)" ;;
  *) echo "say in $0 which tests speak about $file"; exit 2 ;;
esac
# No optimisation: compiling is what takes the time.
export CARGO_PROFILE_DEV_OPT_LEVEL=${OPT_LEVEL:-0} CARGO_PROFILE_DEV_DEBUG=0
mkdir -p target
# shellcheck disable=SC2086 # several arguments
exec nice -n 10 cargo mutants --package rlcore --file "$file" --jobs 1 --output target/mutants.out --no-shuffle \
  --minimum-test-timeout 60 "${@:2}" -- $tests
