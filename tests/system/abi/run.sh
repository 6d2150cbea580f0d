#!/bin/bash
# What compiled programs rely on: layouts of structures on every kind of machine, numbers behind names, structures that grow
# (older and newer clients against this library), and abidiff against the interface that was blessed last, in rlcore.abi.
# `RLCORE_BLESS=1 tests/system/abi/run.sh` takes the interface as it is now; from ABI 1 on only if no compiled program breaks by it, or
# RLCORE_ABI_VERSION has been raised. ffi/VERSIONING.md says when either is right.
# Needs: cargo gcc g++ libc6-dev binutils python3 clang-22 abigail-tools
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$root/target/abi
header=$root/include/rlcore.h
rm -rf "$work"
mkdir -p "$work/grown"
strict=(-Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers)
fail() { echo "tests/system/abi: $*"; exit 1; }

# ---- The interface in C's words: no compiler's version but C's gets into what is compared

abi=$(sed -n 's/^#define RLCORE_ABI_VERSION \([0-9]*\).*/\1/p' "$header")
python3 stubs.py "$header" > "$work/stubs.c"
(cd "$work" && gcc -std=c11 -g -O0 -ffreestanding -fPIC -shared -Wl,-soname,librlcore.so.$abi -o now.so stubs.c)
nm -D --defined-only "$work/now.so" | sed -n 's/.* T \(rlcore_.*\)/\1/p' | LC_ALL=C sort \
  | diff "$root/ffi/golden/symbols.txt" - || fail 'the header declares other functions than the library exports'
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --drop-undefined-syms --out-file "$work/rlcore.abi" "$work/now.so"
! grep -n "$root\|/home/\|/root/" "$work/rlcore.abi" || fail "a machine's path is in the description of the interface"
python3 layout.py "$header" > "$work/layout.c"

# Functions that are new need no blessing. What is gone, has moved or means something else breaks programs.
changed=0
abidiff --no-added-syms rlcore.abi "$work/now.so" > "$work/abidiff.txt" || changed=$?
[ $((changed & 3)) = 0 ] || { cat "$work/abidiff.txt"; fail "abidiff did not run: $changed"; }
grep -E '^(FIELD|NUMBER)' layout.c | grep -vxF -f <(grep -E '^(FIELD|NUMBER)' "$work/layout.c") > "$work/lost.txt" || true
breaks=$([ $((changed & 8)) = 0 ] && [ ! -s "$work/lost.txt" ] || echo yes)

if [ -n "${RLCORE_BLESS-}" ]; then
  cat "$work/abidiff.txt" "$work/lost.txt"
  if [ "$breaks" ]; then
    echo "Programs that were compiled before break: say so under ABI in CHANGELOG.md."
    [ "$abi" = 0 ] || ! grep -q "soname='librlcore.so.$abi'" rlcore.abi || fail 'raise RLCORE_ABI_VERSION first'
  fi
  cp "$work/rlcore.abi" "$work/layout.c" .
else
  [ ! "$breaks" ] || { cat "$work/abidiff.txt" "$work/lost.txt"; fail 'programs that were compiled before would break: ffi/VERSIONING.md'; }
  [ $changed = 0 ] || { cat "$work/abidiff.txt"; fail 'the interface has changed: RLCORE_BLESS=1 if that is meant'; }
  diff layout.c "$work/layout.c" || fail 'layout.c lacks something of the header, or has too much: RLCORE_BLESS=1 if that is meant'
fi

# ---- Layouts, by compilers

layouts() { "$@" -fsyntax-only "${strict[@]}" -I "$root/include" layout.c || fail "other layouts: $*"; }
layouts gcc -std=c11
layouts g++ -std=c++17 -x c++
for target in x86_64-linux-gnu aarch64-linux-gnu powerpc64-linux-gnu riscv64-unknown-none x86_64-pc-windows-msvc \
  i686-linux-gnu i686-pc-windows-msvc armv7-linux-gnueabihf thumbv7em-none-eabi riscv32-unknown-none wasm32-unknown-unknown; do
  layouts clang-22 --target=$target -std=c11 -ffreestanding
done

# ---- Structures that grow, against the library

cargo build -q --release --manifest-path "$root/ffi/Cargo.toml" --target-dir "$root/target"
diff <(awk '/^typedef struct .* \{/ { name = $3 } /^  uint32_t struct_size;/ { print name }' "$header" | sort) \
  <(grep -o 'X(rlcore_[a-z0-9_]*)' structures.h | sed 's/X(\(.*\))/\1/' | sort) || fail 'structures.h lists other structures than the header has'
sed -n '/^typedef struct rlcore_learner_config {/,/^}/{s|/\*.*\*/ ||;s/const rlcore_[a-z]* \*/const void */;p}' \
  "$root/include/rlcore_bindings.h" > "$work/learner_config.h"
gcc -std=c11 -O1 "${strict[@]}" -I "$root/include" -I "$work" growth.c oldest.c "$root/target/release/librlcore.a" -o "$work/growth"
"$work/growth"

# The same program by the oldest header, today's, and one in which every structure has grown.
awk '/^  uint32_t struct_size;/ { grows = 1 } /^} / && grows { print "  uint64_t later[3];"; grows = 0 } { print }' \
  "$header" > "$work/grown/rlcore.h"
ln -s "$root/target/release/librlcore.so" "$work/librlcore.so.$abi"
for client in oldest:-DOLDEST today:-I"$root/include" newer:-I"$work/grown"; do
  gcc -std=c11 -O1 "${strict[@]}" "${client#*:}" -I "$work" client.c "$work/librlcore.so.$abi" -o "$work/${client%%:*}"
  LD_LIBRARY_PATH=$work "$work/${client%%:*}" > "$work/${client%%:*}.txt" || { cat "$work/${client%%:*}.txt"; fail "the ${client%%:*} client fails"; }
  diff "$work/oldest.txt" "$work/${client%%:*}.txt" || fail "the ${client%%:*} client gets other results"
done
cat "$work/oldest.txt"
echo "the oldest client, today's and a later one get the same results; $(grep -c '^SIZE' layout.c) structures lie alike on 11 kinds of machine"
