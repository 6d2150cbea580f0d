#!/bin/sh
# Writes the headers that are made of include/rlcore_bindings.h, calls_generated.h and configs_generated.h: generate.sh <folder>
# Needs: rustc
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")/../../.."
rustc --edition 2024 tests/system/fuzz/generate.rs -o "$out/generate"
"$out/generate" "$PWD" "$out"
