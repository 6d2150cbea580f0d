#!/bin/bash
# What compiled programs rely on: layouts of structures on every kind of machine, numbers behind names, structures that grow
# (older and newer clients against this library), and abidiff against the interface that programs may have been compiled with:
# the header of the commit, or tag, that `base` names.
# `RLCORE_BLESS=1 tests/system/abi/run.sh` makes the last commit the base; from ABI 1 on only if no compiled program breaks by it,
# or RLCORE_ABI_VERSION has been raised. ffi/VERSIONING.md says when either is right.
# Needs: git cargo gcc g++ libc6-dev binutils python3 clang-22 abigail-tools
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$root/target/abi
header=$root/include/rlcore.h
rm -rf "$work"
mkdir -p "$work"/{base,oldest,grown}-include
strict=(-Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers)
fail() { echo "tests/system/abi: $*"; exit 1; }

base=$(cat base)
known() { git cat-file -e "$base:include/rlcore.h" 2> /dev/null; }
known || [ "$(git rev-parse --is-shallow-repository)" != true ] || git fetch -q --unshallow --tags
known || fail "the base $base is not in this repository, which has to be a clone with its whole history"
git show "$base:include/rlcore.h" > "$work/base-include/rlcore.h"

# ---- The interface in C's words: no compiler's version but C's gets into what is compared

abi_of() { sed -n 's/^#define RLCORE_ABI_VERSION \([0-9]*\).*/\1/p' "$1"; }
abi=$(abi_of "$header")
stubs() {  # stubs <rlcore.h> <library>
  python3 stubs.py "$1" > "$2.c"
  gcc -std=c11 -g -O0 -ffreestanding -fPIC -shared -Wl,-soname,librlcore.so."$(abi_of "$1")" -o "$2" "$2.c"
}
stubs "$work/base-include/rlcore.h" "$work/base.so"
stubs "$header" "$work/now.so"
nm -D --defined-only "$work/now.so" | sed -n 's/.* T \(rlcore_.*\)/\1/p' | LC_ALL=C sort \
  | diff "$root/ffi/golden/symbols.txt" - || fail 'the header declares other functions than the library exports'
python3 layout.py "$header" > "$work/layout.c"
python3 layout.py --relied "$work/base-include/rlcore.h" > "$work/relied.c"

# ---- By compilers: layouts of the header, and in it all that programs rely on which were compiled with the base's

agree() {  # agree <file.c>: for each kind of machine
  local include=(-fsyntax-only "${strict[@]}" -I "$root/include" "$1")
  gcc -std=c11 "${include[@]}" && g++ -std=c++17 -x c++ "${include[@]}" || return
  for target in x86_64-linux-gnu aarch64-linux-gnu powerpc64-linux-gnu riscv64-unknown-none x86_64-pc-windows-msvc \
    i686-linux-gnu i686-pc-windows-msvc armv7-linux-gnueabihf thumbv7em-none-eabi riscv32-unknown-none wasm32-unknown-unknown; do
    clang-22 --target=$target -std=c11 -ffreestanding "${include[@]}" || { echo "on $target"; return 1; }
  done
}
agree "$work/layout.c" || fail 'layouts are others than layout.py reckons'

# Functions that are new need no blessing. What is gone, has moved or means something else breaks programs.
breaks= changed=0
agree "$work/relied.c" || breaks=yes
abidiff --no-added-syms "$work/base.so" "$work/now.so" || changed=$?
[ $((changed & 3)) = 0 ] || fail "abidiff did not run: $changed"
[ $((changed & 8)) = 0 ] || breaks=yes

if [ -n "${RLCORE_BLESS-}" ]; then
  git diff --quiet HEAD -- "$header" || fail 'commit include/rlcore.h first: the base is a commit'
  if [ "$breaks" ]; then
    echo 'Programs that were compiled before break: say so under ABI in CHANGELOG.md.'
    [ "$abi" = 0 ] || [ "$abi" != "$(abi_of "$work/base-include/rlcore.h")" ] || fail 'raise RLCORE_ABI_VERSION first'
  else
    python3 oldest.py "$work/base-include/rlcore.h" "$header" > /dev/null
  fi
  git rev-parse HEAD > base
  RLCORE_BLESS='' exec ./run.sh
fi
[ ! "$breaks" ] || fail "programs that were compiled with the header of ${base:0:10} would break: ffi/VERSIONING.md"
[ $changed = 0 ] || fail "the interface has changed since ${base:0:10}: commit it, then RLCORE_BLESS=1 if that is meant"

# ---- Structures that grow, against the library

cargo build -q --release --manifest-path "$root/ffi/Cargo.toml" --target-dir "$root/target"
python3 oldest.py "$work/base-include/rlcore.h" "$header" > "$work/oldest-include/rlcore.h"
python3 layout.py "$work/oldest-include/rlcore.h" | grep '^SIZE' | tr ';' , > "$work/oldest_sizes.h"
awk '/^typedef struct .* \{/ { name = $3 } /^  uint32_t struct_size;/ { print "TRIED(" name ")" }' "$header" > "$work/structures.h"
gcc -std=c11 -O1 "${strict[@]}" -I "$root/include" -I "$work" growth.c "$root/target/release/librlcore.a" -o "$work/growth"
"$work/growth"

# The same program by the oldest header, today's, and one in which every structure has grown.
awk '/^  uint32_t struct_size;/ { grows = 1 } /^} / && grows { print "  uint64_t later[3];"; grows = 0 } { print }' \
  "$header" > "$work/grown-include/rlcore.h"
ln -s "$root/target/release/librlcore.so" "$work/librlcore.so.$abi"
for client in oldest:"$work/oldest-include" today:"$root/include" newer:"$work/grown-include"; do
  gcc -std=c11 -O1 "${strict[@]}" -I "${client#*:}" client.c "$work/librlcore.so.$abi" -o "$work/${client%%:*}"
  LD_LIBRARY_PATH=$work "$work/${client%%:*}" > "$work/${client%%:*}.txt" || { cat "$work/${client%%:*}.txt"; fail "the ${client%%:*} client fails"; }
  diff "$work/oldest.txt" "$work/${client%%:*}.txt" || fail "the ${client%%:*} client gets other results"
done
cat "$work/oldest.txt"
echo "the oldest client, today's and a later one get the same results; $(grep -c '^SIZE' "$work/layout.c") structures lie alike on 11 kinds of machine"
