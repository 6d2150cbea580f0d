#!/bin/bash
# Fuzzes the C interface: tests/system/fuzz/run.sh [target|all] [seconds, or runs as in 10000000x], 60 seconds a target if none is
# named. The library is that of tests/system/sanitizers, with clang's address sanitizer and its assertions, the targets also
# have the sanitizer for undefined behavior; what they find is left in target/fuzz/found. Three targets run at a time. `words`
# draws nothing: it damages every word of every kind of block in turn.
# SEED=n draws the same inputs again, as CI does, so that a run there says something about the change and not about chance;
# KEEP=1 replaces the corpus by few inputs that reach as much as all that were found.
# Needs: rustc clang-22 llvm-22 libclang-rt-22-dev lld-22
set -euo pipefail
cd "$(dirname "$0")/../../.."
targets="words calls images configs callbacks files extremes"
[ "${1:-all}" = all ] || targets=$1
limit=${2:-60}
out=$PWD/target/fuzz
mkdir -p "$out/found"

tests/system/fuzz/generate.sh "$out"
tests/system/sanitizers/library.sh address
builds=()
for target in $targets; do
  rm -f "$out/$target"
  fuzzer=fuzzer,
  [ "$target" = words ] && fuzzer=
  clang-22 -std=c11 -O1 -g -Wall -Wextra -Werror -Wno-unused-function -fsanitize="${fuzzer}address,undefined" \
    -fno-sanitize-recover=undefined -fuse-ld=lld-22 -Iinclude "-I$out" "tests/system/fuzz/$target.c" target/sanitizers/address/librlcore.a -lm -o "$out/$target" &
  builds+=($!)
done
for build in "${builds[@]}"; do wait "$build"; done

fuzz() {  # fuzz <target>: one line at its end, all that was said where there is a finding
  local target=$1 log=$out/$1.log how=(-max_total_time="$limit")
  [[ $limit == *x ]] && how=(-runs="${limit%x}")
  if [ "$target" = words ]; then  # no chance in it
    ASAN_OPTIONS=detect_leaks=0 nice -n 10 "$out/words" 2>&1 | tail -60
    return
  fi
  mkdir -p "$out/corpus/$target"
  if ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 nice -n 10 "$out/$target" -max_len=256 -entropic=0 -use_counters=0 \
      -reduce_inputs=0 -timeout=20 -rss_limit_mb=2048 "${how[@]}" -print_final_stats=1 \
      -seed="${SEED:-0}" -artifact_prefix="$out/found/$target-" "$out/corpus/$target" "tests/system/fuzz/corpus/$target" > "$log" 2>&1; then
    awk -v target="$target" '/ valid calls$/ { calls = ", " $0 }
      /stat::number_of_executed_units/ { runs = $2 } /stat::average_exec_per_sec/ { rate = $2 }
      / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
      END { printf "%-10s %d executions, %d a second, %d branches seen%s, no finding\n", target, runs, rate, cov, calls }' "$log"
  else
    tail -60 "$log"
    echo "$target: a finding, in $out/found"
    return 1
  fi
}
export -f fuzz
export out limit
echo "$targets" | tr ' ' '\n' | xargs -P 3 -I{} bash -euo pipefail -c 'fuzz {}'
if [ -n "${KEEP:-}" ]; then
  for target in $targets; do
    [ "$target" = words ] && continue
    rm -rf "$out/small" && mkdir "$out/small"
    "$out/$target" -set_cover_merge=1 -max_len=256 -use_counters=0 "$out/small" "$out/corpus/$target" > /dev/null 2>&1
    # Those that reach the most, 30 of them, beside those that were written by hand and have names.
    mkdir -p "tests/system/fuzz/corpus/$target"
    find "tests/system/fuzz/corpus/$target" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
    ls -S "$out/small" | head -30 | xargs -I{} cp "$out/small/{}" "tests/system/fuzz/corpus/$target/"
  done
fi
