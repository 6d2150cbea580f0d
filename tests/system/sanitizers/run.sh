#!/bin/bash
# The C and C++ hosts, and with them the library's own code, under sanitizers: tests/system/sanitizers/run.sh [hosts] [threads]
#
#   hosts    AddressSanitizer and UndefinedBehaviorSanitizer: every example and every environment (`make check`), the test of
#            the C++ header, every attack program, and the bits of every stage at each CPU level, against their table.
#   threads  ThreadSanitizer: the hosts that have threads.
#
# Both sides are instrumented: the library is built by rustc with the same sanitizer (library.sh), so an array overrun inside it
# is seen, and with its assertions on: overflow of integers, and what the standard library demands of callers of its unsafe
# functions. First of all, planted faults have to be found.
#
# This stands in for Miri, which has no build for a stable toolchain. What Miri would see and this does not: pointers that
# alias against Rust's rules while every access stays in bounds, reads of uninitialised memory that do no harm (valgrind
# sees those that do), and memory orders weaker than x86's. What this sees and Miri cannot: the C side, and code at AVX2 and
# AVX-512 levels. The core has `unsafe` in src/cpu.rs alone, ffi/ makes slices of pointers in ffi/src/ptr/ alone.
# Needs: clang-22 libclang-rt-22-dev make
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD out=$PWD/target/sanitizers
unset MAKEFLAGS
# An assertion of the library that fails aborts: where is what counts.
export ASAN_OPTIONS=handle_abort=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=handle_abort=1:allocator_may_return_null=1:halt_on_error=1:history_size=7
mkdir -p "$out"
tests/system/fuzz/generate.sh "$out"

sanitizers() {  # sanitizers <flags of clang> <sanitizer of rustc>: sets what `compile` and `examples` use
  flags="-g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -ffp-contract=off -I$root/include -I$root/examples-c/shared -I$out"
  flags+=" $1"
  link="$out/stand_in-$2.o $out/$2/librlcore.a -lm -pthread"
  bin=$out/bin-$2
  mkdir -p "$bin"
  clang-22 -std=c11 $flags -c tests/system/sanitizers/stand_in.c -o "$out/stand_in-$2.o"
}

compile() {  # compile <program> <sources>
  local compiler=(clang-22 -std=c11)
  [[ $2 != *.cpp ]] || compiler=(clang++-22 -std=c++17)
  "${compiler[@]}" $flags "${@:2}" $link -o "$bin/$1"
}

runs() {  # runs <program> <arguments>: it ends well
  "$bin/$1" "${@:2}" > "$bin/$1.txt" 2>&1 || { tail -60 "$bin/$1.txt"; echo "$1: failed"; exit 1; }
  echo "  $1: $(tail -1 "$bin/$1.txt")"
}

found() {  # found <words> <argument>: the planted fault is reported in these words
  if "$bin/planted" "$2" > "$bin/planted.txt" 2>&1 || ! grep -q "$1" "$bin/planted.txt"; then
    cat "$bin/planted.txt"; echo "planted $2: not found"; exit 1
  fi
  echo "  planted $2: $(grep -m 1 -o "$1.*" "$bin/planted.txt")"
}

examples() {  # examples <goals of the Makefile>
  make -s -C examples-c CARGO=true CC=clang-22 CXX=clang++-22 HEAP= TARGET="$out/make" LIB="$out/make" OUT="$bin/examples" \
    CFLAGS="-std=c11 -D_GNU_SOURCE $flags" CXXFLAGS="-std=c++17 $flags" LINK="$link" "$@" | grep '^  ok'
}

header() {  # the test of the C++ header; ffi/tests/cpp.rs has it compiled by g++ too
  compile header ffi/tests/hpp/*.cpp
  runs header
}

hosts() {
  tests/system/sanitizers/library.sh address
  sanitizers -fsanitize=address,undefined address
  compile planted tests/system/sanitizers/planted.c examples-c/shared/host.c
  found 'AddressSanitizer: heap-buffer-overflow' library
  found 'AddressSanitizer: heap-buffer-overflow' callback
  found 'runtime error: shift exponent 32' shift
  for source in ffi/tests/attack*.c; do
    compile "$(basename "$source" .c)" "$source"
    runs "$(basename "$source" .c)"
  done
  header
  compile bits tests/system/bits/{bits,kernels,envs,data,learn,overflow,blocks,host}.c
  for level in 0 1 2; do
    runs bits "$level"
    diff tests/system/bits/expected.txt "$bin/bits.txt"
  done
  mkdir -p "$out/make"
  # Games on a grid train layers that Catch trains, at minutes each here, and `core` plays them; Pendulum without velocities
  # trains those of CartPole without; `bits` trains a transformer, and TD3 beside SAC.
  local env envs
  envs=" $(sed -n 's/^ENVS *= //p' examples-c/Makefile) "
  for env in breakout pqnbreakout dqnbreakout asterix freeway spaceinvaders pendulumnovel attention td3; do envs=${envs/ $env / }; done
  # What trains for minutes here runs in brief, as under valgrind; the classes of C++ have their own test above.
  local program programs brief=()
  programs=" $(sed -n 's/^PROGRAMS *= //p' examples-c/Makefile) "
  for program in $(sed -n 's/^BRIEFS *= //p' examples-c/Makefile); do
    programs=${programs/ $program / } brief+=("$program-brief")
  done
  examples check "${brief[@]/#/$bin/examples/bin/}" ARGS_save="$bin/save.bin 20" \
    "ENVS=$envs" "PROGRAMS=$programs" CLASSES=
  for program in "${brief[@]}"; do runs "examples/bin/$program" "$bin/$program"; done
}

threads() {
  tests/system/sanitizers/library.sh thread
  sanitizers -fsanitize=thread thread
  compile planted tests/system/sanitizers/planted.c examples-c/shared/host.c
  found 'ThreadSanitizer: data race' race
  for source in ffi/tests/attack{,_batch,_kernels,_queue}.c; do
    compile "$(basename "$source" .c)" "$source"
    runs "$(basename "$source" .c)"
  done
  header
  mkdir -p "$out/make"
  examples check-threads check-workers check-subproc
}

for part in "${@:-hosts threads}"; do
  for each in $part; do
    echo "$each:"
    "$each"
  done
done
