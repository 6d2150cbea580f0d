#!/bin/bash
# The same bits on a bare Cortex-M4F, under QEMU: its hash of each stage must be the one of expected.txt, which
# ffi/tests/bits.rs compares with this machine's at each CPU level.
# Needs: rustc-web cargo-web rust-web-src clang-22 lld-22 qemu-system-arm
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
out=$root/target/bare
mkdir -p "$out"

# core is built from source, by the only compiler here whose source is here too.
target=thumbv7em-none-eabihf
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo rustc -q --manifest-path "$root/ffi/Cargo.toml" --release --lib \
  --crate-type staticlib -Zbuild-std=core --target $target --target-dir "$root/target/cross"
clang-22 --target=$target -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -fuse-ld=lld \
  -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off -I "$root/include" -Wl,--gc-sections -T m4f.ld \
  bits.c m4f.c "$root/target/cross/$target/release/librlcore.a" -o "$out/m4f.elf"
size "$out/m4f.elf"
timeout 300 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none \
  -semihosting-config enable=on,target=native -kernel "$out/m4f.elf" > "$out/m4f.txt" 2>&1 < /dev/null \
  || { cat "$out/m4f.txt"; echo "Cortex-M4F: failed"; exit 1; }
cat "$out/m4f.txt"
diff -u expected.txt "$out/m4f.txt" || { echo "Cortex-M4F: other bits than expected.txt"; exit 1; }
echo "Cortex-M4F: $(wc -l < expected.txt) stages, the same bits as on x86-64"
