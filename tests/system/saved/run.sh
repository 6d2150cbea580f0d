#!/bin/bash
# Blocks of every kind that this library and earlier ones have saved, in a folder for each image version: `images` in the format of
# tests/system/bits/blocks.c, and what goes on from them in expected.txt.
#
#   tests/system/saved/run.sh          goes on from all of them. Results are those of the library that saved them; or a block of a
#                                      kind that has changed is refused, and the refusal names both versions of the kind
#   tests/system/saved/run.sh bless    keeps the blocks of this library, in the folder of its image version: before a release, and
#                                      after a change of blocks that no release has
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
out=$root/target/saved
mkdir -p "$out"
cargo build -q --release -p rlcore-ffi
(cd ../bits && cc -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off -I "$root/include" bits.c kernels.c envs.c data.c learn.c overflow.c \
  blocks.c host.c "$root/target/release/librlcore.a" -o "$out/host")
version=$(awk '$1 == "#define" && $2 == "RLCORE_IMAGE_VERSION" { print $3 }' "$root/include/rlcore.h")
if [ "${1:-}" = bless ]; then
  mkdir -p "$version"
  "$out/host" 2 "$version/images" > /dev/null
  "$out/host" go-on < "$version/images" > "$version/expected.txt"
fi
[ -e "$version/images" ] || { echo "no blocks of image version $version: tests/system/saved/run.sh bless"; exit 1; }
for folder in */; do
  kept=${folder%/} got=$out/${folder%/}.txt
  "$out/host" go-on < "$kept/images" > "$got" || [ "$kept" != "$version" ] || { cat "$got"; exit 1; }
  awk -v kept="$kept" -v version="$version" -f compare.awk "$kept/expected.txt" "$got"
done
