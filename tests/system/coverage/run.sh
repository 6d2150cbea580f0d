#!/bin/bash
# How much of the core its own tests reach, line by line and branch by branch, and fails below 95 % of the lines.
# Branches that never went one of their ways are listed in target/coverage/gaps.txt. Debian's llvm-22 reads what
# rustc's LLVM 22 writes; branches still need RUSTC_BOOTSTRAP.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=target/coverage
for tool in llvm-profdata-22 llvm-cov-22; do
  command -v $tool > /dev/null || { echo "$tool is not there: apt-get install llvm-22"; exit 2; }
done
rustc -vV | grep -q '^LLVM version: 22' || { echo 'this compiler has another LLVM than 22'; rustc -vV; exit 2; }
rm -rf "$out/raw" && mkdir -p "$out/raw"

export RUSTC_BOOTSTRAP=1 RUSTC_WORKSPACE_WRAPPER=$PWD/tests/system/coverage/rustc.sh CARGO_TARGET_DIR=$PWD/$out/build
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 LLVM_PROFILE_FILE=$PWD/$out/raw/%m-%p.profraw
programs=$(cargo test -p rlcore --lib --tests --no-run --message-format=json 2> "$out/build.log" |
  python3 -c 'import json, sys
for line in sys.stdin:
    line = json.loads(line)
    if line.get("executable"): print(line["executable"])') || { cat "$out/build.log"; exit 1; }
# One test counts for minutes when it is counted itself.
skip='--skip remainders_in_lanes_are_exact'
# shellcheck disable=SC2086 # several programs and arguments
printf '%s\n' $programs | xargs -P 2 -I{} sh -c "{} -q $skip > {}.log 2>&1 || { cat {}.log; exit 255; }"
llvm-profdata-22 merge -sparse -o "$out/core.profdata" "$out"/raw/*.profraw
rm -r "$out/raw"
# shellcheck disable=SC2086
printf '%s\n' $programs | xargs -P 2 -I{} sh -c "llvm-cov-22 export -instr-profile $out/core.profdata {} \
  -skip-functions -sources $PWD/src > {}.json 2> {}.log || { cat {}.log; exit 255; }"
# shellcheck disable=SC2046,SC2086
python3 tests/system/coverage/report.py "$PWD/src" "$out/gaps.txt" 95 $(printf '%s.json ' $programs)
