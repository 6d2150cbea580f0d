#!/bin/bash
# Mutation testing of what the learning data goes through, src/block, src/data and src/kernels: does some test notice when an
# operator is another one, a function returns something else, an arm or a field is gone? tests/system/mutants/run.sh [file...]
#
# cargo-mutants says what the mutants are; all of them are woven into one build of a copy of the tree, and each is run against
# the tests that reach it, so that thousands take minutes. Fails on a survivor that explained.txt does not explain, and on an
# explanation that is no longer true. What lives is in target/mutants/alive.txt, each verdict in target/mutants/verdicts.txt.
#   run.sh const [file...]  the mutants of constants, which no program can choose while it runs: a build for each
#   run.sh check            this program itself: lints, and a crate whose mutants are known
# Needs: cargo git
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=$PWD/tests/system/mutants out=$PWD/target/mutants version=27.1.0
export CARGO_MUTANTS=$out/tools/bin/cargo-mutants
fail() { echo "tests/system/mutants: $*"; exit 1; }

[ "$("$CARGO_MUTANTS" mutants --version 2> /dev/null)" = "cargo-mutants $version" ] ||
  cargo install -q --debug cargo-mutants --version $version --locked --root "$out/tools"
cargo build -q --locked --manifest-path "$here/Cargo.toml" --target-dir "$out/tool"

copy() {  # copy <from> <to>: the working state of what git knows or would know, with its times
  rm -rf "$2" && mkdir -p "$2"
  (cd "$1" && git ls-files -coz --exclude-standard . | tar -c --null --ignore-failed-read -T - 2> /dev/null) | tar -x -C "$2"
}

runs() {  # runs <process>: one that has ended may stay in the table until somebody asks for its status
  local state
  state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null) || return 1
  [[ -n $state && $state != [ZX]* ]]
}

check() {
  cargo fmt --check --manifest-path "$here/Cargo.toml"
  cargo clippy -q --locked --manifest-path "$here/Cargo.toml" --target-dir "$out/tool" -- -D warnings
  local at=$out/planted how status
  for how in woven const; do
    copy "$here/planted" "$at/tree"
    rm -f "$at"/*/tmp/started "$at"/*.txt
    status=0
    "$out/tool/debug/mutants" "$at/tree" "$at" "$here/planted/explained.txt" $how src > "$at/$how.log" || status=$?
    [ $status = 1 ] || { cat "$at/$how.log"; fail "$how: planted survivors end with 1, not with $status"; }
    cat "$at/verdicts.txt" "$at/alive.txt" > "$at/$how.txt"
    diff -u "$here/planted/$how.txt" "$at/$how.txt" || fail "$how: other verdicts than planted/$how.txt says"
    while read -r process; do
      ! runs "$process" || { sleep 2 && ! runs "$process"; } || fail "$how: process $process was left by a test"
    done < "$(echo "$at"/*/tmp/started)"
  done
  copy "$here/planted" "$at/tree"
  status=0
  PLANTED_RED=1 "$out/tool/debug/mutants" "$at/tree" "$at" "$here/planted/explained.txt" woven src > "$at/red.log" 2>&1 || status=$?
  [ $status = 2 ] && grep -q 'planted: green fails without a mutant' "$at/red.log" ||
    { cat "$at/red.log"; fail "tests that fail without a mutant end with 2 and a name, not with $status"; }
  echo 'planted mutants have the verdicts that they should have'
}

case ${1:-} in
  check) check; exit ;;
  const) how=const; shift ;;
  *) how=woven ;;
esac
exec 9> "$out/lock"
flock -n 9 || fail "another run is at work in $out"
copy . "$out/tree"
exec nice -n 5 "$out/tool/debug/mutants" "$out/tree" "$out" "$here/explained.txt" $how src/block,src/data,src/kernels "$@"
