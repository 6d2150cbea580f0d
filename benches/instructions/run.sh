#!/bin/bash
# Counts the instructions of the main kernels with callgrind, at the base level and with AVX2, and holds them against
# expected.txt. Fails where a count has risen by more than 3 %: a change that means it renews the table with --bless, in
# the same commit, and so declares it. Counts belong to a compiler; valgrind knows no AVX-512.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benches/instructions out=target/instructions table=$here/expected.txt
command -v valgrind > /dev/null || { echo 'valgrind is not there: apt-get install valgrind'; exit 2; }
mkdir -p "$out"

cargo build -q --release -p rlcore-ffi
# Not position-independent, and with copies of its own: the same addresses and the same instructions on every machine.
cc -std=c11 -O2 -Wall -Wextra -pedantic -Werror -fno-builtin -fno-tree-loop-distribute-patterns -fno-pie -no-pie -static \
  -Iinclude "$here/kernels.c" "$here/copies.c" target/release/librlcore.a -o "$out/kernels" -lm

levels='0 1'
if ! grep -qw avx2 /proc/cpuinfo; then
  echo 'this processor has no AVX2: only the base level is counted'
  levels=0
fi
for level in $levels; do
  rm -f "$out/$level.dump"
  valgrind -q --tool=callgrind --combine-dumps=yes --callgrind-out-file="$out/$level.dump" "$out/kernels" "$level"
  # A dump says what it was asked for, NAME and calls, and then how many instructions there were.
  awk '/^desc: Trigger: Client Request:/ { name = $5; calls = $6 }
       /^totals:/ && name { printf "%s %.0f\n", name, $2 / calls; name = "" }' "$out/$level.dump" > "$out/$level.txt"
done

tools="$(rustc -V), $(cc --version | head -1)"
if [ "${1:-}" = --bless ]; then
  [ "$levels" = '0 1' ] || { echo 'the table wants both levels'; exit 2; }
  {
    echo '# Instructions of one call: kernel, base level, AVX2. Written by benches/instructions/run.sh --bless with'
    echo "# $tools"
    paste -d ' ' "$out/0.txt" <(cut -d ' ' -f 2 "$out/1.txt") | awk '{ printf "%-44s %10d %10d\n", $1, $2, $3 }'
  } > "$table"
  echo "wrote $table"
fi

awk -v tools="$tools" '
  FILENAME ~ /expected/ && /^#/ { made_with = substr($0, 3); next }
  FILENAME ~ /expected/ { want[$1, 0] = $2; want[$1, 1] = $3; order[++n] = $1; next }
  { level = FILENAME ~ /1\.txt$/; got[$1, level] = $2; levels[level] = 1
    if (!(($1, level) in want)) { print "not in the table: " $1; bad++; want[$1, level] = $2 } }
  END {
    print "instructions of one call         ", "base level, change     AVX2, change"
    for (i = 1; i <= n; i++) {
      line = sprintf("%-40s", order[i])
      for (level = 0; level < 2; level++) {
        if (!(level in levels)) continue
        if (!((order[i], level) in got)) { print "no longer counted: " order[i]; bad++; continue }
        g = got[order[i], level]; w = want[order[i], level]; change = w > 0 ? 100 * (g - w) / w : 0
        mark = change > 3 ? "!" : change < -3 ? "*" : " "
        rose += change > 3; fell += change < -3
        line = line sprintf(" %10d %+6.1f%%%s", g, change, mark)
      }
      print line
    }
    if (made_with != tools) {
      print "the table was made with " made_with
      print "this is                 " tools
    }
    if (fell) print "*  " fell " counts fell by more than 3 %: renew the table with --bless, or the gain may be lost again unseen"
    if (bad) print "the table does not list what was counted: renew it with --bless"
    if (rose) {
      print "!  " rose " counts rose by more than 3 %: find out why; if the change means it, renew the table with --bless"
      if (made_with != tools) print "   the compiler is another one: if nothing else has changed, renew the table in a commit of its own"
    }
    exit (bad || rose) ? 1 : 0
  }' "$table" $(for level in $levels; do echo "$out/$level.txt"; done)
