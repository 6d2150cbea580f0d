#!/bin/bash
# Policies as files of ONNX in onnxruntime, with the actions and numbers of the library: `tests/system/onnx/run.sh [observations]`.
# The packages go into a virtual environment under target/: those that requirements.txt names and no other.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=target/onnx
mkdir -p "$out/cases"
if ! cmp -s tests/system/onnx/requirements.txt "$out/installed.txt"; then
  python3 -m venv --clear "$out/venv"
  "$out/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r tests/system/onnx/requirements.txt
  cp tests/system/onnx/requirements.txt "$out/installed.txt"
fi
cargo build -q --release -p rlcore-ffi
cc -std=c11 -Wall -Wextra -Werror -O1 -Iinclude tests/system/policies/cases.c target/release/librlcore.a -o "$out/make-cases"
"$out/make-cases" "$out/cases" onnx
PYTHONDONTWRITEBYTECODE=1 "$out/venv/bin/python" tests/system/onnx/check.py target/release/librlcore.so "$out/cases" "${1:-1000}"
rm -r "$out/cases"
