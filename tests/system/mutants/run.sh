#!/bin/bash
# Mutation testing of what the learning data goes through, src/block, src/data and src/kernels: does some test notice when an
# operator is another one, a function returns something else, an arm or a field is gone?
#
#   run.sh                  the mutants of all files that have changed since they were judged
#   run.sh full             those of all files: to be asked for after a change of what many files lean on, or of tests
#   run.sh <file...>        those of these files
#   run.sh const [file...]  the mutants of constants, which no program can choose while it runs: a build for each
#   run.sh check            this program itself, if it has changed: lints, and a crate whose mutants are known
#
# The first two and `check` write judged.txt if they hold, to be committed: for each file a hash of its code and of what
# explained.txt says of its survivors, and one of this program and the compiler. What has the same hash is skipped, so a
# shallow clone will do. What a full run alone sees is a mutant of an unchanged file that is no longer noticed, because a test
# or code that the file leans on has changed.
#
# cargo-mutants says what the mutants are; all of them are woven into one build of a copy of the tree, and each is run against
# the tests that reach it, so that thousands take minutes. Fails on a survivor that explained.txt does not explain, and on an
# explanation that is no longer true. What lives is in target/mutants/alive.txt, each verdict in target/mutants/verdicts.txt.
# Needs: cargo git
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=$PWD/tests/system/mutants out=$PWD/target/mutants version=27.1.0
export CARGO_MUTANTS=$out/tools/bin/cargo-mutants
fail() { echo "tests/system/mutants: $*"; exit 1; }

scope=(src/block src/data src/kernels)

state() {  # a line for each file: the hash of its code, without lines of comments, and of its lines in explained.txt
  local file
  git ls-files -co --exclude-standard -- "${scope[@]/%//*.rs}" | while read -r file; do
    [ ! -e "$file" ] ||
      printf '%s  %s\n' "$({ sed '/^[[:space:]]*\/\//d' "$file" && sed -n "\\|^$file: |p" "$here/explained.txt"; } | sha256sum | cut -d ' ' -f 1)" "$file"
  done
}

self() {  # a line for this program
  local hash
  hash=$({
    rustc -V
    git ls-files -co --exclude-standard -- tests/system/mutants | grep -vx 'tests/system/mutants/\(judged\|explained\)\.txt' |
      xargs cat
  } | sha256sum | cut -d ' ' -f 1)
  echo "$hash  tests/system/mutants"
}

tools() {
  [ "$("$CARGO_MUTANTS" mutants --version 2> /dev/null)" = "cargo-mutants $version" ] ||
    cargo install -q --debug cargo-mutants --version $version --locked --root "$out/tools"
  cargo build -q --locked --manifest-path "$here/Cargo.toml" --target-dir "$out/tool"
}

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
  sed -i "s|^[0-9a-f]*  tests/system/mutants$|$(self)|" "$here/judged.txt"
}

how=woven what=changed
case ${1:-} in
  check)
    if grep -qxF "$(self)" "$here/judged.txt"; then
      echo 'nothing of this program has changed since it was checked'
    else
      tools && check
    fi
    exit ;;
  const) how=const what=named; shift ;;
  full) what=full; shift ;;
  ?*) what=named ;;
esac
mkdir -p "$out"
exec 9> "$out/lock"
flock -n 9 || fail "another run is at work in $out"
now=$(state)
if [ $what = changed ]; then
  gone=$(sed -n 's|^\(src/[^:]*\): .*|\1|p' "$here/explained.txt" | sort -u | while read -r file; do [ -e "$file" ] || echo "$file"; done)
  [ -z "$gone" ] || fail "explained.txt speaks of files that are gone: $gone"
  mapfile -t changed < <(comm -13 <(sort "$here/judged.txt") <(sort <<< "$now") | cut -d ' ' -f 3)
  [ ${#changed[@]} -gt 0 ] || { echo 'no file has changed since it was judged'; exit 0; }
fi
tools
copy . "$out/tree"
if [ $what = changed ]; then
  for file in "${changed[@]}"; do  # one without mutants would be refused as a name that was mistyped
    [ -z "$("$CARGO_MUTANTS" mutants --list --dir "$out/tree" --file "$file" 2> /dev/null)" ] || set -- "$@" "$file"
  done
  echo "changed since they were judged: ${changed[*]}"
  [ $# -gt 0 ] || { echo 'none of them has a mutant'; exit 0; }
fi
nice -n 5 "$out/tool/debug/mutants" "$out/tree" "$out" "$here/explained.txt" $how "$(IFS=,; echo "${scope[*]}")" "$@"
if [ $what != named ]; then
  held=$(sed -n 1p "$here/judged.txt")
  [ $what != full ] || held="# A full run held on $(date +%F)."
  printf '%s\n' "$held" "$(grep '  tests/system/mutants$' "$here/judged.txt")" "$now" > "$here/judged.txt"
  echo "wrote $here/judged.txt"
fi
