#!/bin/bash
# How much of the core its own tests reach, line by line and branch by branch, and fails below 95 % of the lines.
#
#   run.sh test     the README's test command, with a core that counts: what runs anyhow need not run again to be counted
#   run.sh report   what was counted; branches that never went one of their ways are listed in target/coverage/gaps.txt
#   run.sh          both
#
# Debian's llvm-22 reads what rustc's LLVM 22 writes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=$PWD/target/coverage
export RUSTC_WORKSPACE_WRAPPER=$PWD/tests/system/coverage/rustc.sh LLVM_PROFILE_FILE=$out/raw/%m-%p.profraw

counted() {
  rustc -vV | grep -q '^LLVM version: 22' || { echo 'this compiler has another LLVM than 22'; rustc -vV; exit 2; }
  rm -rf "$out"
  cargo test --workspace
}

report() {
  for tool in llvm-profdata-22 llvm-cov-22; do
    command -v $tool > /dev/null || { echo "$tool is not there: apt-get install llvm-22"; exit 2; }
  done
  local programs
  programs=$(cargo test --workspace --no-run --message-format=json 2> "$out/build.log" | python3 -c 'import json, sys
for line in map(json.loads, sys.stdin):
    if line.get("executable") and "rlcore-ffi" not in line["package_id"]: print(line["executable"])') ||
    { cat "$out/build.log"; exit 1; }
  llvm-profdata-22 merge -sparse -o "$out/core.profdata" "$out"/raw/*.profraw
  mkdir -p "$out/json"
  # shellcheck disable=SC2086 # several programs
  printf '%s\n' $programs | xargs -P 2 -I{} sh -c "name=$out/json/\$(basename {}) && llvm-cov-22 export \
    -instr-profile $out/core.profdata {} -skip-functions -sources $PWD/src > \$name.json 2> \$name.log || { cat \$name.log; exit 255; }"
  python3 tests/system/coverage/report.py "$PWD/src" "$out/gaps.txt" 95 "$out"/json/*.json
}

case ${1:-} in
  test) counted ;;
  report) report ;;
  '') counted && report ;;
  *) echo 'tests/system/coverage/run.sh [test | report]'; exit 2 ;;
esac
