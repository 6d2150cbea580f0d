#!/bin/bash
# The library for programs under a sanitizer: library.sh address | thread builds target/sanitizers/<sanitizer>/librlcore.a, with
# assertions on, those of overflow too; a failure of one aborts. With `address` it counts the branches that are taken, which
# fuzzers ask for.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=$PWD/target/sanitizers/$1
host=$(rustc -vV | sed -n 's/^host: //p')
flags="-Zsanitizer=$1 -Cunsafe-allow-abi-mismatch=sanitizer"
if [ "$1" = address ]; then
  flags+=" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
  flags+=" -Cllvm-args=-sanitizer-coverage-pc-table"
fi
# One CPU level: ThreadSanitizer is after threads, which do the same at each, and kernels need not be compiled three times.
features=()
if [ "$1" = thread ]; then
  features=(--no-default-features --features all)
fi
# RUSTC_BOOTSTRAP: for -Zsanitizer, which the stable compiler has but does not offer.
RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
  cargo rustc -q -p rlcore-ffi --release --lib --crate-type staticlib "${features[@]}" \
  --target "$host" --target-dir "$out"
cp -p "$out/$host/release/librlcore.a" "$out/"
