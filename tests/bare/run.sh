#!/bin/bash
# The same bits everywhere: one C program, on this machine at each CPU level and on a bare Cortex-M4F under QEMU,
# prints one hash a stage; all must equal expected.txt. RLCORE_BLESS=1 rewrites that file from this machine's result.
# Needs: gcc; rustc-web cargo-web rust-web-src clang-22 lld-22 qemu-system-arm
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
out=$root/target/bare
mkdir -p "$out"
warn=(-std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off -I "$root/include")

same() {  # same <where> <file>: the file is the committed table
  diff -u expected.txt "$2" || { echo "$1: other bits than expected.txt"; exit 1; }
  echo "$1: $(wc -l < "$2") stages, all as in expected.txt"
}

cargo build -q --release --manifest-path "$root/ffi/Cargo.toml"
"${CC:-cc}" "${warn[@]}" bits.c host.c "$root/target/release/librlcore.a" -o "$out/host"
for level in 0 1 2; do
  "$out/host" $level > "$out/host$level.txt" || { cat "$out/host$level.txt"; exit 1; }
  [ -z "${RLCORE_BLESS:-}" ] || [ $level != 0 ] || cp "$out/host$level.txt" expected.txt
  same "$(uname -m), CPU level $level" "$out/host$level.txt"
done

# The library for the M4F: core is built from source, by the only compiler here whose source is here too.
target=thumbv7em-none-eabihf
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo rustc -q --manifest-path "$root/ffi/Cargo.toml" --release --lib \
  --crate-type staticlib -Zbuild-std=core --target $target --target-dir "$root/target/cross"
clang-22 --target=$target -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -fuse-ld=lld \
  "${warn[@]}" -Wl,--gc-sections -T m4f.ld bits.c m4f.c "$root/target/cross/$target/release/librlcore.a" -o "$out/m4f.elf"
size "$out/m4f.elf"
timeout 300 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none \
  -semihosting-config enable=on,target=native -kernel "$out/m4f.elf" > "$out/m4f.txt" 2>&1 < /dev/null \
  || { cat "$out/m4f.txt"; echo "Cortex-M4F: failed"; exit 1; }
same "Cortex-M4F, bare metal" "$out/m4f.txt"
